// Regions by influencing nodes, and joining the many small ones among them.
//
// Everything a linear least-squares fit needs is a sum over voxels, so the fit of two regions together costs no look at the
// voxels: with the sums of 1, x, x x', and for each node of w, w x, w^2, the squared error of the best plane is
//
//   E = sum_i [ sum w^2 - (sum w)^2 / n - b' C^-1 b ],    b = sum w (x - mean),  C = sum (x - mean)(x - mean)'.
//
// For a wished number of regions the errors of each node count by the volume it moves: a thin tail is as much in need of
// samples as a trunk. For a wished error they count alike. Joining two neighbours costs the growth of E, and a little for
// stretching the region. In rounds, pairs that are each other's cheapest neighbour join, the cheapest pairs first; of pairs
// that cost the same, as mirror images do, all or none, so that the result does not depend on the order of voxels.
#include "frame/region.h"

#include "base/threads.h"
#include "geom/tuples.h"

#include <string.h>

// Weight of compactness against fit.
#define COMPACTNESS 1e-3
#define TIE         1e-9

enum { CHUNK = 4096 };

typedef struct node_sums {
    int32_t node;
    double w, wx[3], ww;
} node_sums;

typedef struct region_sums {
    double n, x[3], xx[6]; // xx, yy, zz, yz, zx, xy
    int32_t label;
    double error;
    int32_t first, nodes; // in the list of node sums, nodes ascending
} region_sums;

typedef struct region_set {
    int32_t count;
    region_sums *regions;
    node_sums *sums;
    int32_t edge_count;
    int32_t *edges;       // two regions each, lower first, ascending
    const double *demand; // factor on the errors of each node's weights
} region_set;

// The set of influencing nodes as a number: sums of scrambled node numbers do not depend on order, and do not collide in
// practice.
static uint64_t scramble(uint64_t x) {
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 29;
}

static uint64_t influence_key(const sn_shape *shape, int32_t voxel, bool by_label) {
    uint64_t key = by_label ? scramble(100000u + shape->voxels->label[voxel]) : 0;
    for (int64_t k = shape->table.start[voxel]; k < shape->table.start[voxel + 1]; k++) {
        if (fabs(shape->table.weight[k]) >= SN_INFLUENCE) key += scramble(shape->table.node[k]);
    }
    return key;
}

typedef struct key_job {
    const sn_shape *shape;
    bool by_label;
    uint64_t *key;
} key_job;

static void find_keys(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const key_job *job = data;
    for (int32_t v = begin; v < end; v++) job->key[v] = influence_key(job->shape, v, job->by_label);
}

static sinew_status flood(const sn_shape *shape, bool by_label, sn_arena *scratch, int32_t *region_of, int32_t *count) {
    const sinew_voxels *voxels = shape->voxels;
    uint64_t *key = SN_RESERVE(scratch, uint64_t, voxels->count);
    int32_t *stack = SN_RESERVE(scratch, int32_t, voxels->count);
    SN_TRY(sn_arena_status(scratch));
    key_job job = {shape, by_label, key};
    sn_parallel_for(shape->context, voxels->count, CHUNK, find_keys, &job);
    memset(region_of, -1, (size_t)voxels->count * sizeof *region_of);
    *count = 0;
    for (int32_t first = 0; first < voxels->count; first++) {
        if (region_of[first] >= 0) continue;
        int32_t depth = 0;
        region_of[first] = *count;
        stack[depth++] = first;
        while (depth > 0) {
            int32_t v = stack[--depth];
            for (int d = 0; d < SN_VOXEL_FACES; d++) {
                int32_t u = voxels->neighbor[v][d];
                if (u < 0 || region_of[u] >= 0 || key[u] != key[v]) continue;
                region_of[u] = *count;
                stack[depth++] = u;
            }
        }
        (*count)++;
    }
    return SINEW_OK;
}

// C^-1 b by Cholesky, with a pinch of a cell's square on the diagonal for flat regions.
static double explained(const double C[6], const double b[3]) {
    double l00 = sqrt(C[0]), l10 = C[5] / l00, l20 = C[4] / l00;
    double l11 = sqrt(C[1] - l10 * l10), l21 = (C[3] - l20 * l10) / l11, l22 = sqrt(C[2] - l20 * l20 - l21 * l21);
    double y0 = b[0] / l00, y1 = (b[1] - l10 * y0) / l11, y2 = (b[2] - l20 * y0 - l21 * y1) / l22;
    return y0 * y0 + y1 * y1 + y2 * y2;
}

// Squared error of the best planes through one region, or through two together (b may be NULL).
static double fit_error(const region_set *set, const region_sums *a, const region_sums *b, double cell2) {
    double n = a->n + (b ? b->n : 0), mean[3], C[6], error = 0;
    for (int k = 0; k < 3; k++) mean[k] = (a->x[k] + (b ? b->x[k] : 0)) / n;
    static const int row[6] = {0, 1, 2, 1, 2, 0}, column[6] = {0, 1, 2, 2, 0, 1};
    for (int k = 0; k < 6; k++) {
        C[k] = a->xx[k] + (b ? b->xx[k] : 0) - n * mean[row[k]] * mean[column[k]];
        if (k < 3) C[k] = fmax(C[k], 0) + 1e-6 * n * cell2;
    }
    const node_sums *p = set->sums + a->first, *p_end = p + a->nodes;
    const node_sums *q = b ? set->sums + b->first : NULL, *q_end = b ? q + b->nodes : NULL;
    while (p < p_end || q < q_end) {
        node_sums s = {0};
        int32_t next = p < p_end && (q == q_end || p->node <= q->node) ? p->node : q->node;
        for (int side = 0; side < 2; side++) {
            const node_sums **at = side ? &q : &p, *end = side ? q_end : p_end;
            if (*at == end || (*at)->node != next) continue;
            s.w += (*at)->w;
            s.ww += (*at)->ww;
            for (int k = 0; k < 3; k++) s.wx[k] += (*at)->wx[k];
            (*at)++;
        }
        double slope[3];
        for (int k = 0; k < 3; k++) slope[k] = s.wx[k] - s.w * mean[k];
        error += set->demand[next] * fmax(s.ww - s.w * s.w / n - explained(C, slope), 0);
    }
    return error;
}

static void sort_sums(node_sums *sums, int32_t count) {
    for (int32_t i = 1; i < count; i++) {
        node_sums s = sums[i];
        int32_t place = i;
        while (place > 0 && sums[place - 1].node > s.node) {
            sums[place] = sums[place - 1];
            place--;
        }
        sums[place] = s;
    }
}

static void add_voxel(region_sums *region, const sinew_voxels *voxels, int32_t v, double x[3]) {
    int32_t c[3];
    sn_cell_coordinates(voxels->cells, voxels->cell[v], c);
    for (int k = 0; k < 3; k++) x[k] = (c[k] - 0.5 * (voxels->cells[k] - 1)) * voxels->spacing[k]; // from the grid's middle
    region->n += 1;
    region->label = voxels->label[v];
    for (int k = 0; k < 3; k++) {
        region->x[k] += x[k];
        region->xx[k] += x[k] * x[k];
        region->xx[3 + k] += x[(k + 1) % 3] * x[(k + 2) % 3];
    }
}

// Voxels listed by region: counting sort.
static sinew_status list_by_region(sn_arena *arena, const int32_t *region_of, int32_t voxel_count, int32_t count,
                                   int32_t **start, int32_t **list) {
    int32_t *first = *start = SN_PUSH(arena, int32_t, (size_t)count + 1);
    *list = SN_PUSH(arena, int32_t, voxel_count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t v = 0; v < voxel_count; v++) first[region_of[v]]++;
    int32_t sum = 0;
    for (int32_t r = 0; r < count; r++) {
        int32_t size = first[r];
        first[r] = sum;
        sum += size;
    }
    for (int32_t v = 0; v < voxel_count; v++) (*list)[first[region_of[v]]++] = v;
    for (int32_t r = count; r > 0; r--) first[r] = first[r - 1];
    first[0] = 0;
    return SINEW_OK;
}

// Sums of every region. `slot` maps a node to its place while one region is read; its entries carry the region's number.
static sinew_status sum_regions(const sn_shape *shape, sn_arena *arena, sn_arena *scratch, const int32_t *region_of,
                                region_set *set) {
    const sinew_voxels *voxels = shape->voxels;
    const sn_weight_table *table = &shape->table;
    int32_t *start, *list, *seen = SN_PUSH(scratch, int32_t, shape->node_count),
                           *slot = SN_PUSH(scratch, int32_t, shape->node_count);
    set->regions = SN_PUSH(arena, region_sums, set->count);
    SN_TRY(list_by_region(scratch, region_of, voxels->count, set->count, &start, &list));
    SN_TRY(sn_arena_status(arena));
    int64_t total = 0;
    for (int pass = 0; pass < 2; pass++) {
        memset(seen, -1, (size_t)shape->node_count * sizeof *seen);
        for (int32_t r = 0; r < set->count; r++) {
            region_sums *region = &set->regions[r];
            if (pass) region->first = (int32_t)total, region->nodes = 0;
            for (int32_t i = start[r]; i < start[r + 1]; i++) {
                double x[3];
                if (pass) add_voxel(region, voxels, list[i], x);
                for (int64_t k = table->start[list[i]]; k < table->start[list[i] + 1]; k++) {
                    int32_t node = table->node[k];
                    if (seen[node] != r) {
                        seen[node] = r;
                        slot[node] = (int32_t)total++;
                        region->nodes++;
                        if (pass) set->sums[slot[node]].node = node;
                    }
                    if (!pass) continue;
                    node_sums *s = &set->sums[slot[node]];
                    double w = table->weight[k];
                    s->w += w;
                    s->ww += w * w;
                    for (int a = 0; a < 3; a++) s->wx[a] += w * x[a];
                }
            }
            if (pass) sort_sums(set->sums + region->first, region->nodes);
        }
        if (pass) break;
        if (total > INT32_MAX) return sn_fail(shape->context, SINEW_OUT_OF_MEMORY, "%d regions are too many", set->count);
        set->sums = SN_PUSH(arena, node_sums, total);
        SN_TRY(sn_arena_status(arena));
        total = 0;
    }
    return SINEW_OK;
}

// Sorts edges and drops repeated ones.
static sinew_status tidy_edges(sn_arena *scratch, region_set *set) {
    int32_t *order, kept = 0, *sorted = SN_PUSH(scratch, int32_t, 2 * (size_t)set->edge_count);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_sort_tuples(scratch, set->edges, 2, set->edge_count, set->count, &order));
    for (int32_t i = 0; i < set->edge_count; i++) {
        const int32_t *edge = set->edges + 2 * (size_t)order[i];
        if (kept && sorted[2 * kept - 2] == edge[0] && sorted[2 * kept - 1] == edge[1]) continue;
        sorted[2 * kept] = edge[0];
        sorted[2 * kept + 1] = edge[1];
        kept++;
    }
    memcpy(set->edges, sorted, 2 * (size_t)kept * sizeof *sorted);
    set->edge_count = kept;
    return SINEW_OK;
}

static sinew_status find_edges(const sn_shape *shape, sn_arena *arena, sn_arena *scratch, const int32_t *region_of,
                               bool by_label, region_set *set) {
    const sinew_voxels *voxels = shape->voxels;
    int64_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        count = 0;
        for (int32_t v = 0; v < voxels->count; v++) {
            for (int d = 1; d < SN_VOXEL_FACES; d += 2) {
                int32_t u = voxels->neighbor[v][d];
                if (u < 0 || region_of[u] == region_of[v] || (by_label && voxels->label[u] != voxels->label[v])) continue;
                if (pass) {
                    set->edges[2 * count] = region_of[u] < region_of[v] ? region_of[u] : region_of[v];
                    set->edges[2 * count + 1] = region_of[u] < region_of[v] ? region_of[v] : region_of[u];
                }
                count++;
            }
        }
        if (count > INT32_MAX / 2) return sn_fail(shape->context, SINEW_OUT_OF_MEMORY, "too many borders between regions");
        if (!pass) set->edges = SN_PUSH(arena, int32_t, 2 * (size_t)count);
        SN_TRY(sn_arena_status(arena));
    }
    set->edge_count = (int32_t)count;
    return tidy_edges(scratch, set);
}

typedef struct merge_plan {
    const sn_shape *shape;
    int32_t wished;
    double fit_error, cell2, inverse_size2; // a cell's square; 1 / the square of a region's wished size
} merge_plan;

static double merge_cost(const merge_plan *plan, const region_set *set, const region_sums *a, const region_sums *b) {
    double joined = fit_error(set, a, b, plan->cell2), distance2 = 0;
    if (plan->fit_error > 0 && joined > plan->fit_error * plan->fit_error * (a->n + b->n)) return INFINITY;
    for (int k = 0; k < 3; k++) {
        double d = a->x[k] / a->n - b->x[k] / b->n;
        distance2 += d * d;
    }
    return joined - a->error - b->error + COMPACTNESS * a->n * b->n / (a->n + b->n) * distance2 * plan->inverse_size2;
}

static bool ties(double a, double b) {
    return fabs(a - b) <= TIE * (1 + fabs(b));
}

// The cost that the `limit`-th cheapest of the costs has (all of them if they are fewer), by quickselect; reorders them.
static double threshold_of(double *costs, int32_t count, int32_t limit) {
    if (count <= limit) return INFINITY;
    int32_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = costs[(low + high) / 2];
        int32_t i = low, j = high;
        while (i <= j) {
            while (costs[i] < pivot) i++;
            while (costs[j] > pivot) j--;
            if (i > j) break;
            double swap = costs[i];
            costs[i++] = costs[j];
            costs[j--] = swap;
        }
        if (limit - 1 <= j) {
            high = j;
        } else if (limit - 1 >= i) {
            low = i;
        } else {
            break;
        }
    }
    return costs[limit - 1];
}

static int32_t root_of(const int32_t *group, int32_t r) {
    while (group[r] != r) r = group[r];
    return r;
}

// Joins the edges that are the cheapest at both their ends, the cheapest `limit` of them and those that cost the same.
// group[r] becomes the lowest region of r's group. Returns by how many regions there are fewer.
static int32_t choose_groups(const region_set *set, const double *edge_cost, double *best, double *costs, int32_t limit,
                             int32_t *group) {
    int32_t mutual = 0, joined = 0;
    for (int32_t r = 0; r < set->count; r++) {
        best[r] = INFINITY;
        group[r] = r;
    }
    for (int32_t e = 0; e < set->edge_count; e++) {
        for (int side = 0; side < 2; side++) {
            int32_t r = set->edges[2 * e + side];
            best[r] = fmin(best[r], edge_cost[e]);
        }
    }
    for (int pass = 0; pass < 2; pass++) {
        double threshold = pass ? threshold_of(costs, mutual, limit) : 0;
        for (int32_t e = 0; e < set->edge_count; e++) {
            int32_t a = set->edges[2 * e], b = set->edges[2 * e + 1];
            if (edge_cost[e] == INFINITY || !ties(edge_cost[e], best[a]) || !ties(edge_cost[e], best[b])) continue;
            if (!pass) {
                costs[mutual++] = edge_cost[e];
            } else if (edge_cost[e] <= threshold || ties(edge_cost[e], threshold)) {
                int32_t p = root_of(group, a), q = root_of(group, b);
                joined += p != q;
                group[p < q ? q : p] = p < q ? p : q;
            }
        }
    }
    for (int32_t r = 0; r < set->count; r++) group[r] = root_of(group, r);
    return joined;
}

static void add_sums(region_set *next, const region_set *set, region_sums *into, const region_sums *from) {
    into->n += from->n;
    into->label = from->label;
    for (int k = 0; k < 3; k++) into->x[k] += from->x[k];
    for (int k = 0; k < 6; k++) into->xx[k] += from->xx[k];
    for (int32_t i = 0; i < from->nodes; i++) {
        const node_sums *s = &set->sums[from->first + i];
        int32_t place = 0;
        while (place < into->nodes && next->sums[into->first + place].node != s->node) place++;
        node_sums *target = &next->sums[into->first + place];
        if (place == into->nodes) into->nodes++;
        target->node = s->node;
        target->w += s->w;
        target->ww += s->ww;
        for (int k = 0; k < 3; k++) target->wx[k] += s->wx[k];
    }
}

// The regions after a round; number[r] is the new number of region r.
static sinew_status apply_groups(const merge_plan *plan, sn_arena *arena, const region_set *set, const int32_t *group,
                                 int32_t *number, int32_t *first_sum, region_set *next) {
    for (int32_t r = 0; r < set->count; r++) {
        number[r] = group[r] == r ? next->count++ : number[group[r]];
        first_sum[number[r]] += set->regions[r].nodes; // an upper bound: the members' nodes may be the same
    }
    int64_t total = 0;
    for (int32_t r = 0; r < next->count; r++) {
        int32_t nodes = first_sum[r];
        first_sum[r] = (int32_t)total;
        total += nodes;
    }
    next->regions = SN_PUSH(arena, region_sums, next->count);
    next->sums = SN_PUSH(arena, node_sums, total);
    next->edges = SN_PUSH(arena, int32_t, 2 * (size_t)set->edge_count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t r = 0; r < next->count; r++) next->regions[r].first = first_sum[r];
    for (int32_t r = 0; r < set->count; r++) add_sums(next, set, &next->regions[number[r]], &set->regions[r]);
    for (int32_t r = 0; r < next->count; r++) {
        region_sums *region = &next->regions[r];
        sort_sums(next->sums + region->first, region->nodes);
        region->error = fit_error(next, region, NULL, plan->cell2);
    }
    for (int32_t e = 0; e < set->edge_count; e++) {
        int32_t a = number[set->edges[2 * e]], b = number[set->edges[2 * e + 1]];
        if (a == b) continue;
        next->edges[2 * next->edge_count] = a < b ? a : b;
        next->edges[2 * next->edge_count + 1] = a < b ? b : a;
        next->edge_count++;
    }
    return SINEW_OK;
}

// One round. `joined` receives by how many regions there are fewer; region_of is renumbered.
static sinew_status merge_round(const merge_plan *plan, sn_arena *arena, sn_arena *scratch, region_set *set,
                                int32_t *region_of, int32_t *joined) {
    double *edge_cost = SN_PUSH(scratch, double, set->edge_count), *costs = SN_PUSH(scratch, double, set->edge_count);
    double *best = SN_PUSH(scratch, double, set->count);
    int32_t *group = SN_PUSH(scratch, int32_t, set->count), *number = SN_PUSH(scratch, int32_t, set->count);
    int32_t *first_sum = SN_PUSH(scratch, int32_t, set->count);
    SN_TRY(sn_arena_status(scratch));
    for (int32_t e = 0; e < set->edge_count; e++) {
        edge_cost[e] = merge_cost(plan, set, &set->regions[set->edges[2 * e]], &set->regions[set->edges[2 * e + 1]]);
    }
    int32_t surplus = plan->wished > 0 ? set->count - plan->wished : set->count;
    // A quarter of the surplus at a time, so that later choices see what earlier ones made.
    *joined = choose_groups(set, edge_cost, best, costs, surplus / 4 + 1, group);
    if (!*joined) return SINEW_OK;
    region_set next = {.demand = set->demand};
    SN_TRY(apply_groups(plan, arena, set, group, number, first_sum, &next));
    SN_TRY(tidy_edges(scratch, &next));
    for (int32_t v = 0; v < plan->shape->voxels->count; v++) region_of[v] = number[region_of[v]];
    *set = next;
    return SINEW_OK;
}

// How much the errors of each node count.
static sinew_status push_demands(sn_arena *arena, const sn_shape *shape, const region_set *set, bool by_volume, double **out) {
    double *demand = SN_PUSH(arena, double, shape->node_count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t r = 0; r < set->count && by_volume; r++) {
        for (int32_t k = 0; k < set->regions[r].nodes; k++) {
            const node_sums *sums = &set->sums[set->regions[r].first + k];
            demand[sums->node] += fabs(sums->w);
        }
    }
    double even = (double)shape->voxels->count / shape->node_count;
    for (int32_t i = 0; i < shape->node_count; i++) demand[i] = by_volume ? even / fmax(demand[i], 1e-3 * even) : 1;
    *out = demand;
    return SINEW_OK;
}

static sinew_status merge(const sn_shape *shape, bool by_label, int32_t wished, double limit, int32_t *region_of,
                          int32_t *count) {
    const sinew_voxels *voxels = shape->voxels;
    const double *h = voxels->spacing;
    merge_plan plan = {.shape = shape, .wished = wished, .fit_error = limit};
    plan.cell2 = fmin(h[0], fmin(h[1], h[2]));
    plan.cell2 *= plan.cell2;
    plan.inverse_size2 = pow(voxels->count * voxels->volume / (wished > 0 ? wished : 100), -2.0 / 3);
    sn_arena arenas[2] = {sn_arena_create(shape->context), sn_arena_create(shape->context)};
    sn_arena scratch = sn_arena_create(shape->context), demands = sn_arena_create(shape->context);
    region_set set = {.count = *count};
    double *demand = NULL;
    sinew_status status = sum_regions(shape, &arenas[0], &scratch, region_of, &set);
    if (status == SINEW_OK) status = push_demands(&demands, shape, &set, wished > 0, &demand);
    set.demand = demand;
    if (status == SINEW_OK) status = find_edges(shape, &arenas[0], &scratch, region_of, by_label, &set);
    sn_arena_destroy(&scratch);
    for (int32_t r = 0; r < set.count && status == SINEW_OK; r++) {
        set.regions[r].error = fit_error(&set, &set.regions[r], NULL, plan.cell2);
    }
    int32_t joined = 1; // the set lives in one arena while the next is made in the other
    for (int side = 1; joined && status == SINEW_OK && (wished == 0 || set.count > wished); side = 1 - side) {
        sn_arena_destroy(&arenas[side]);
        arenas[side] = sn_arena_create(shape->context);
        scratch = sn_arena_create(shape->context);
        status = merge_round(&plan, &arenas[side], &scratch, &set, region_of, &joined);
        sn_arena_destroy(&scratch);
    }
    *count = set.count;
    for (int i = 0; i < 2; i++) sn_arena_destroy(&arenas[i]);
    sn_arena_destroy(&demands);
    return status;
}

sinew_status sn_find_regions(const sn_shape *shape, bool by_label, int32_t wished, double limit, sn_arena *arena,
                             int32_t **region_of, int32_t *count) {
    *region_of = SN_PUSH(arena, int32_t, shape->voxels->count);
    SN_TRY(sn_arena_status(arena));
    sn_arena scratch = sn_arena_create(shape->context);
    sinew_status status = flood(shape, by_label, &scratch, *region_of, count);
    sn_arena_destroy(&scratch);
    SN_TRY(status);
    if (wished > 0 && *count <= wished) return SINEW_OK;
    return merge(shape, by_label, wished, limit, *region_of, count);
}
