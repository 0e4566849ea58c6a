// Regions by influencing nodes, and joining the many small ones among them.
//
// Everything a linear least-squares fit needs is a sum over voxels, so the fit of two regions
// together costs no look at the voxels: with the sums of 1, x, x x', and for each node of w, w x,
// w^2, the squared error of the best plane is
//
//   E = sum_i [ sum w^2 - (sum w)^2 / n - b' C^-1 b ],    b = sum w (x - mean),  C = sum (x -
//   mean)(x - mean)'.
//
// For a wished number of regions the errors of each node count by the volume it moves: a thin tail
// is as much in need of samples as a trunk. For a wished error they count alike. Joining two
// neighbours costs the growth of E, and a little for stretching the region. In rounds, pairs that
// are each other's cheapest neighbour join, the cheapest pairs first; of pairs that cost the same,
// as mirror images do, all or none, so that the result does not depend on the order of voxels.
#include "frame/sampling/region.h"

#include "base/threads.h"
#include "base/tuples.h"

#include <string.h>

// Weight of compactness against fit.
#define COMPACTNESS 1e-3
#define TIE         1e-9

enum {
    CHUNK = 4096,
    FACES_CHUNK = 1 << 15,
    RECENT_BITS = 10,
    REGIONS = 32,
    EDGES_CHUNK = 128,
    SLOTS = 8
};

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

// The set of influencing nodes as a number: sums of scrambled node numbers do not depend on order,
// and do not collide in practice.
static uint64_t scramble(uint64_t x) {
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 29;
}

static uint64_t influence_key(const sn_shape *shape, int32_t voxel, bool by_label) {
    uint64_t key = by_label ? scramble(100000u + shape->voxels->label[voxel]) : 0;
    for (int64_t k = shape->table.start[voxel]; k < shape->table.start[voxel + 1]; k++) {
        if (fabs(shape->table.weight[k]) >= SN_INFLUENCE) {
            key += scramble(shape->table.node[k]);
        }
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
    for (int32_t v = begin; v < end; v++) {
        job->key[v] = influence_key(job->shape, v, job->by_label);
    }
}

// Connected voxels with the same influencing nodes.
static sinew_status find_parts(const sn_shape *shape, bool by_label, sn_arena *arena,
                               int32_t **region_of, int32_t *count) {
    sn_arena scratch = sn_arena_create(shape->context);
    key_job job = {shape, by_label, SN_RESERVE(&scratch, uint64_t, shape->voxels->count)};
    sinew_status status = sn_arena_status(&scratch);

    if (status == SINEW_OK) {
        sn_parallel_for(shape->context, shape->voxels->count, CHUNK, find_keys, &job);
        status = sn_voxel_parts(shape->voxels, arena, job.key, region_of, count);
    }

    sn_arena_destroy(&scratch);
    return status;
}

// The Cholesky factor of a symmetric 3 x 3 matrix.
typedef struct factor {
    double l00, l10, l20, l11, l21, l22;
} factor;

static factor factorize(const double C[6]) {
    factor f;
    f.l00 = sqrt(C[0]);
    f.l10 = C[5] / f.l00;
    f.l20 = C[4] / f.l00;
    f.l11 = sqrt(C[1] - f.l10 * f.l10);
    f.l21 = (C[3] - f.l20 * f.l10) / f.l11;
    f.l22 = sqrt(C[2] - f.l20 * f.l20 - f.l21 * f.l21);

    return f;
}

// b' C^-1 b.
static double explained(const factor *f, const double b[3]) {
    double y0 = b[0] / f->l00;
    double y1 = (b[1] - f->l10 * y0) / f->l11;
    double y2 = (b[2] - f->l20 * y0 - f->l21 * y1) / f->l22;
    return y0 * y0 + y1 * y1 + y2 * y2;
}

// Squared error of the best planes through one region, or through two together (b may be NULL). The
// covariance has a pinch of a cell's square on the diagonal, for flat regions.
static double fit_error(const region_set *set, const region_sums *a, const region_sums *b,
                        double cell2) {
    double n = a->n + (b ? b->n : 0);
    double mean[3], C[6];
    double error = 0;

    for (int k = 0; k < 3; k++) {
        mean[k] = (a->x[k] + (b ? b->x[k] : 0)) / n;
    }

    static const int row[6] = {0, 1, 2, 1, 2, 0};
    static const int column[6] = {0, 1, 2, 2, 0, 1};
    for (int k = 0; k < 6; k++) {
        C[k] = a->xx[k] + (b ? b->xx[k] : 0) - n * mean[row[k]] * mean[column[k]];
        if (k < 3) {
            C[k] = fmax(C[k], 0) + 1e-6 * n * cell2;
        }
    }

    const factor f = factorize(C);
    const node_sums *p = set->sums + a->first;
    const node_sums *p_end = p + a->nodes;
    const node_sums *q = b ? set->sums + b->first : NULL;
    const node_sums *q_end = b ? q + b->nodes : NULL;

    while (p < p_end || q < q_end) {
        node_sums s = {0};
        int32_t next = p < p_end && (q == q_end || p->node <= q->node) ? p->node : q->node;
        for (int side = 0; side < 2; side++) {
            const node_sums **at = side ? &q : &p;
            const node_sums *end = side ? q_end : p_end;
            if (*at == end || (*at)->node != next) {
                continue;
            }

            s.w += (*at)->w;
            s.ww += (*at)->ww;
            for (int k = 0; k < 3; k++) {
                s.wx[k] += (*at)->wx[k];
            }

            (*at)++;
        }

        double slope[3];
        for (int k = 0; k < 3; k++) {
            slope[k] = s.wx[k] - s.w * mean[k];
        }

        error += set->demand[next] * fmax(s.ww - s.w * s.w / n - explained(&f, slope), 0);
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
    for (int k = 0; k < 3; k++) {
        x[k] = (c[k] - 0.5 * (voxels->cells[k] - 1)) * voxels->spacing[k]; // from the grid's middle
    }

    region->n += 1;
    region->label = voxels->label[v];
    for (int k = 0; k < 3; k++) {
        region->x[k] += x[k];
        region->xx[k] += x[k] * x[k];
        region->xx[3 + k] += x[(k + 1) % 3] * x[(k + 2) % 3];
    }
}

// Voxels listed by region: counting sort.
static sinew_status list_by_region(sn_arena *arena, const int32_t *region_of, int32_t voxel_count,
                                   int32_t count, int32_t **start, int32_t **list) {
    int32_t *first = *start = SN_PUSH(arena, int32_t, (size_t)count + 1);
    *list = SN_RESERVE(arena, int32_t, voxel_count);
    SN_TRY(sn_arena_status(arena));

    for (int32_t v = 0; v < voxel_count; v++) {
        first[region_of[v]]++;
    }

    int32_t sum = 0;
    for (int32_t r = 0; r < count; r++) {
        int32_t size = first[r];
        first[r] = sum;
        sum += size;
    }

    for (int32_t v = 0; v < voxel_count; v++) {
        (*list)[first[region_of[v]]++] = v;
    }

    for (int32_t r = count; r > 0; r--) {
        first[r] = first[r - 1];
    }

    first[0] = 0;
    return SINEW_OK;
}

// Sums are made some regions at a time, each region by one hand. `place` maps a node to its sums
// while one region is read.
typedef struct sum_job {
    const sn_shape *shape;
    const region_set *set;
    const int32_t *start, *list; // voxels of each region
    int32_t *seen[SLOTS];        // the region that a node was seen in last
    node_sums **place[SLOTS];    // its sums there
} sum_job;

static bool count_nodes(void *data, int32_t item, int32_t slot) {
    const sum_job *job = data;
    const sn_weight_table *table = &job->shape->table;
    int32_t end = (item + 1) * REGIONS < job->set->count ? (item + 1) * REGIONS : job->set->count;

    for (int32_t r = item * REGIONS; r < end; r++) {
        int32_t nodes = 0;
        int32_t *seen = job->seen[slot];
        for (int32_t i = job->start[r]; i < job->start[r + 1]; i++) {
            for (int64_t k = table->start[job->list[i]]; k < table->start[job->list[i] + 1]; k++) {
                nodes += seen[table->node[k]] != r;
                seen[table->node[k]] = r;
            }
        }

        job->set->regions[r].nodes = nodes;
    }

    return true;
}

static void sum_region(const sum_job *job, int32_t r, int32_t *seen, node_sums **place) {
    const sn_weight_table *table = &job->shape->table;
    region_sums *region = &job->set->regions[r];
    node_sums *next = job->set->sums + region->first;

    for (int32_t i = job->start[r]; i < job->start[r + 1]; i++) {
        double x[3];
        int32_t v = job->list[i];

        add_voxel(region, job->shape->voxels, v, x);
        for (int64_t k = table->start[v]; k < table->start[v + 1]; k++) {
            int32_t node = table->node[k];
            double w = table->weight[k];
            if (seen[node] != r) {
                seen[node] = r;
                place[node] = next++;
                *place[node] = (node_sums){.node = node};
            }

            node_sums *s = place[node];
            s->w += w;
            s->ww += w * w;

            for (int a = 0; a < 3; a++) {
                s->wx[a] += w * x[a];
            }
        }
    }

    SN_ASSERT(next == job->set->sums + region->first + region->nodes);
    sort_sums(job->set->sums + region->first, region->nodes);
}

static bool sum_some(void *data, int32_t item, int32_t slot) {
    const sum_job *job = data;
    int32_t end = (item + 1) * REGIONS < job->set->count ? (item + 1) * REGIONS : job->set->count;
    for (int32_t r = item * REGIONS; r < end; r++) {
        sum_region(job, r, job->seen[slot], job->place[slot]);
    }
    return true;
}

static void forget_seen(const sum_job *job, int32_t slots) {
    for (int32_t i = 0; i < slots; i++) {
        memset(job->seen[i], -1, (size_t)job->shape->node_count * sizeof *job->seen[i]);
    }
}

static sinew_status sum_regions(const sn_shape *shape, sn_arena *arena, sn_arena *scratch,
                                const int32_t *region_of, region_set *set) {
    int32_t *start, *list;
    int32_t items = sn_chunk_count(set->count, REGIONS);
    int32_t slots = sn_thread_count(shape->context);

    set->regions = SN_PUSH(arena, region_sums, set->count);
    SN_TRY(list_by_region(scratch, region_of, shape->voxels->count, set->count, &start, &list));

    sum_job job = {.shape = shape, .set = set, .start = start, .list = list};
    if (slots > SLOTS) {
        slots = SLOTS;
    }

    for (int32_t i = 0; i < slots; i++) {
        job.seen[i] = SN_RESERVE(scratch, int32_t, shape->node_count);
        job.place[i] = SN_RESERVE(scratch, node_sums *, shape->node_count);
    }

    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(arena));
    forget_seen(&job, slots);
    sn_parallel_deal(shape->context, 0, items, slots, count_nodes, &job);

    int64_t total = 0;
    for (int32_t r = 0; r < set->count; r++) {
        set->regions[r].first = (int32_t)total;
        total += set->regions[r].nodes;
        if (total > INT32_MAX) {
            return sn_fail(shape->context, SINEW_OUT_OF_MEMORY, "%d regions are too many",
                           set->count);
        }
    }

    set->sums = SN_RESERVE(arena, node_sums, total);
    SN_TRY(sn_arena_status(arena));
    forget_seen(&job, slots);
    sn_parallel_deal(shape->context, 0, items, slots, sum_some, &job);

    return SINEW_OK;
}

// Sorts edges and drops repeated ones.
static sinew_status tidy_edges(sn_arena *scratch, region_set *set) {
    int32_t *order;
    int32_t kept = 0;
    int32_t *sorted = SN_PUSH(scratch, int32_t, 2 * (size_t)set->edge_count);

    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_sort_tuples(scratch, set->edges, 2, set->edge_count, set->count, &order));
    for (int32_t i = 0; i < set->edge_count; i++) {
        const int32_t *edge = set->edges + 2 * (size_t)order[i];
        if (kept && sorted[2 * kept - 2] == edge[0] && sorted[2 * kept - 1] == edge[1]) {
            continue;
        }

        sorted[2 * kept] = edge[0];
        sorted[2 * kept + 1] = edge[1];
        kept++;
    }

    memcpy(set->edges, sorted, 2 * (size_t)kept * sizeof *sorted);
    set->edge_count = kept;

    return SINEW_OK;
}

typedef struct edge_job {
    const sinew_voxels *voxels;
    const int32_t *region_of;
    bool by_label;
    int64_t *first; // of each chunk's edges; their number while they are counted
    int32_t *edges; // NULL while counting
} edge_job;

// Faces between regions. Neighbouring voxels mostly tell of the same: pairs seen a short while ago
// are passed over.
static void visit_faces(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const edge_job *job = data;
    const sinew_voxels *voxels = job->voxels;
    uint64_t recent[1 << RECENT_BITS] = {0};
    int64_t count = 0;

    for (int32_t v = begin; v < end; v++) {
        for (int d = 1; d < SN_VOXEL_FACES; d += 2) {
            int32_t u = voxels->neighbor[v][d];
            int32_t a = job->region_of[v];
            if (u < 0 || job->region_of[u] == a ||
                (job->by_label && voxels->label[u] != voxels->label[v])) {
                continue;
            }

            int32_t b = job->region_of[u];
            int32_t low = a < b ? a : b;
            int32_t high = a < b ? b : a;
            uint64_t pair = (uint64_t)(uint32_t)low << 32 | (uint32_t)high;
            uint64_t *known = &recent[pair * 0x9e3779b97f4a7c15u >> (64 - RECENT_BITS)];

            if (*known == pair) {
                continue; // no pair is 0: its higher region is not
            }

            *known = pair;
            if (job->edges) {
                job->edges[2 * (job->first[chunk] + count)] = low;
                job->edges[2 * (job->first[chunk] + count) + 1] = high;
            }

            count++;
        }
    }

    if (!job->edges) {
        job->first[chunk] = count;
    }
}

static sinew_status find_edges(const sn_shape *shape, sn_arena *arena, sn_arena *scratch,
                               const int32_t *region_of, bool by_label, region_set *set) {
    int32_t voxels = shape->voxels->count;
    int32_t chunks = sn_chunk_count(voxels, FACES_CHUNK);
    edge_job job = {shape->voxels, region_of, by_label, SN_RESERVE(scratch, int64_t, chunks), NULL};

    SN_TRY(sn_arena_status(scratch));
    sn_parallel_for(shape->context, voxels, FACES_CHUNK, visit_faces, &job);

    int64_t total = 0;
    for (int32_t i = 0; i < chunks; i++) {
        int64_t count = job.first[i];
        job.first[i] = total;
        total += count;
    }

    if (total > INT32_MAX / 2) {
        return sn_fail(shape->context, SINEW_OUT_OF_MEMORY, "too many borders between regions");
    }

    job.edges = set->edges = SN_RESERVE(arena, int32_t, 2 * (size_t)total);
    SN_TRY(sn_arena_status(arena));
    sn_parallel_for(shape->context, voxels, FACES_CHUNK, visit_faces, &job);
    set->edge_count = (int32_t)total;

    return tidy_edges(scratch, set);
}

typedef struct merge_plan {
    const sn_shape *shape;
    int32_t wished, region_count; // of them in the beginning
    double fit_error, cell2,
        inverse_size2; // a cell's square; 1 / the square of a region's wished size
} merge_plan;

static double merge_cost(const merge_plan *plan, const region_set *set, const region_sums *a,
                         const region_sums *b) {
    double joined = fit_error(set, a, b, plan->cell2);
    double distance2 = 0;
    if (plan->fit_error > 0 && joined > plan->fit_error * plan->fit_error * (a->n + b->n)) {
        return INFINITY;
    }

    for (int k = 0; k < 3; k++) {
        double d = a->x[k] / a->n - b->x[k] / b->n;
        distance2 += d * d;
    }

    return joined - a->error - b->error +
           COMPACTNESS * a->n * b->n / (a->n + b->n) * distance2 * plan->inverse_size2;
}

typedef struct cost_job {
    const merge_plan *plan;
    const region_set *set;
    double *cost; // of each edge
} cost_job;

static void find_costs(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const cost_job *job = data;
    for (int32_t e = begin; e < end; e++) {
        const int32_t *edge = job->set->edges + 2 * (size_t)e;
        job->cost[e] = merge_cost(job->plan, job->set, &job->set->regions[edge[0]],
                                  &job->set->regions[edge[1]]);
    }
}

static bool ties(double a, double b) {
    return fabs(a - b) <= TIE * (1 + fabs(b));
}

// The cost that the `limit`-th cheapest of the costs has (all of them if they are fewer), by
// quickselect; reorders them.
static double threshold_of(double *costs, int32_t count, int32_t limit) {
    if (count <= limit) {
        return INFINITY;
    }

    int32_t low = 0;
    int32_t high = count - 1;
    while (low < high) {
        double pivot = costs[(low + high) / 2];
        int32_t i = low;
        int32_t j = high;

        while (i <= j) {
            while (costs[i] < pivot) {
                i++;
            }

            while (costs[j] > pivot) {
                j--;
            }

            if (i > j) {
                break;
            }

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
    while (group[r] != r) {
        r = group[r];
    }
    return r;
}

// Joins the edges that are the cheapest at both their ends, the cheapest `limit` of them and those
// that cost the same. group[r] becomes the lowest region of r's group. Returns by how many regions
// there are fewer.
static int32_t choose_groups(const region_set *set, const double *edge_cost, double *best,
                             double *costs, int32_t limit, int32_t *group) {
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
            int32_t a = set->edges[2 * e];
            int32_t b = set->edges[2 * e + 1];
            if (edge_cost[e] == INFINITY || !ties(edge_cost[e], best[a]) ||
                !ties(edge_cost[e], best[b])) {
                continue;
            }

            if (!pass) {
                costs[mutual++] = edge_cost[e];
            } else if (edge_cost[e] <= threshold || ties(edge_cost[e], threshold)) {
                int32_t p = root_of(group, a);
                int32_t q = root_of(group, b);
                joined += p != q;
                group[p < q ? q : p] = p < q ? p : q;
            }
        }
    }

    for (int32_t r = 0; r < set->count; r++) {
        group[r] = root_of(group, r);
    }

    return joined;
}

static void add_sums(region_set *next, const region_set *set, region_sums *into,
                     const region_sums *from) {
    into->n += from->n;
    into->label = from->label;
    for (int k = 0; k < 3; k++) {
        into->x[k] += from->x[k];
    }

    for (int k = 0; k < 6; k++) {
        into->xx[k] += from->xx[k];
    }

    for (int32_t i = 0; i < from->nodes; i++) {
        const node_sums *s = &set->sums[from->first + i];
        int32_t place = 0;
        while (place < into->nodes && next->sums[into->first + place].node != s->node) {
            place++;
        }

        node_sums *target = &next->sums[into->first + place];
        if (place == into->nodes) {
            into->nodes++;
        }

        target->node = s->node;
        target->w += s->w;
        target->ww += s->ww;

        for (int k = 0; k < 3; k++) {
            target->wx[k] += s->wx[k];
        }
    }
}

// The regions after a round; number[r] is the new number of region r.
static sinew_status apply_groups(const merge_plan *plan, sn_arena *arena, const region_set *set,
                                 const int32_t *group, int32_t *number, int32_t *first_sum,
                                 region_set *next) {
    for (int32_t r = 0; r < set->count; r++) {
        number[r] = group[r] == r ? next->count++ : number[group[r]];
        first_sum[number[r]] +=
            set->regions[r].nodes; // an upper bound: the members' nodes may be the same
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

    for (int32_t r = 0; r < next->count; r++) {
        next->regions[r].first = first_sum[r];
    }

    for (int32_t r = 0; r < set->count; r++) {
        add_sums(next, set, &next->regions[number[r]], &set->regions[r]);
    }

    for (int32_t r = 0; r < set->count; r++) {
        region_sums *region = &next->regions[number[r]];
        if (region->n == set->regions[r].n) { // not joined
            region->error = set->regions[r].error;

        } else if (group[r] == r) {
            sort_sums(next->sums + region->first, region->nodes);
            region->error = fit_error(next, region, NULL, plan->cell2);
        }
    }

    for (int32_t e = 0; e < set->edge_count; e++) {
        int32_t a = number[set->edges[2 * e]];
        int32_t b = number[set->edges[2 * e + 1]];
        if (a == b) {
            continue;
        }

        next->edges[2 * next->edge_count] = a < b ? a : b;
        next->edges[2 * next->edge_count + 1] = a < b ? b : a;
        next->edge_count++;
    }

    return SINEW_OK;
}

// One round. `joined` receives by how many regions there are fewer; `present`, which tells where
// those of the beginning have gone to, is brought up to date.
static sinew_status merge_round(const merge_plan *plan, sn_arena *arena, sn_arena *scratch,
                                region_set *set, int32_t *present, int32_t *joined) {
    double *edge_cost = SN_PUSH(scratch, double, set->edge_count);
    double *costs = SN_PUSH(scratch, double, set->edge_count);
    double *best = SN_PUSH(scratch, double, set->count);
    int32_t *group = SN_PUSH(scratch, int32_t, set->count);
    int32_t *number = SN_PUSH(scratch, int32_t, set->count);
    int32_t *first_sum = SN_PUSH(scratch, int32_t, set->count);

    SN_TRY(sn_arena_status(scratch));
    cost_job job = {plan, set, edge_cost};

    sn_parallel_for(plan->shape->context, set->edge_count, EDGES_CHUNK, find_costs, &job);
    int32_t surplus = plan->wished > 0 ? set->count - plan->wished : set->count;

    // A quarter of the surplus at a time, so that later choices see what earlier ones made.
    *joined = choose_groups(set, edge_cost, best, costs, surplus / 4 + 1, group);
    if (!*joined) {
        return SINEW_OK;
    }

    region_set next = {.demand = set->demand};
    SN_TRY(apply_groups(plan, arena, set, group, number, first_sum, &next));
    SN_TRY(tidy_edges(scratch, &next));

    for (int32_t r = 0; r < plan->region_count; r++) {
        present[r] = number[present[r]];
    }

    *set = next;
    return SINEW_OK;
}

// How much the errors of each node count.
static sinew_status push_demands(sn_arena *arena, const sn_shape *shape, const region_set *set,
                                 bool by_volume, double **out) {
    double *demand = SN_PUSH(arena, double, shape->node_count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t r = 0; r < set->count && by_volume; r++) {
        for (int32_t k = 0; k < set->regions[r].nodes; k++) {
            const node_sums *sums = &set->sums[set->regions[r].first + k];
            demand[sums->node] += fabs(sums->w);
        }
    }

    double even = (double)shape->voxels->count / shape->node_count;
    for (int32_t i = 0; i < shape->node_count; i++) {
        demand[i] = by_volume ? even / fmax(demand[i], 1e-3 * even) : 1;
    }

    *out = demand;
    return SINEW_OK;
}

typedef struct number_job {
    int32_t *region_of;
    const int32_t *present;
} number_job;

static void renumber(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const number_job *job = data;
    for (int32_t v = begin; v < end; v++) {
        job->region_of[v] = job->present[job->region_of[v]];
    }
}

// Rounds until there are few enough, or none can be joined. The set lives in one arena while the
// next is made in the other.
static sinew_status run_rounds(const merge_plan *plan, sn_arena arenas[2], region_set *set,
                               int32_t *present) {
    int32_t joined = 1;
    for (int side = 1; joined && (plan->wished == 0 || set->count > plan->wished);

         side = 1 - side) {
        sn_arena_destroy(&arenas[side]);
        sn_arena scratch = sn_arena_create(plan->shape->context);
        sinew_status status = merge_round(plan, &arenas[side], &scratch, set, present, &joined);
        sn_arena_destroy(&scratch);
        SN_TRY(status);
    }

    return SINEW_OK;
}

// The regions to begin with: sums, neighbours, errors.
static sinew_status describe_regions(const merge_plan *plan, sn_arena *arena, sn_arena *demands,
                                     const int32_t *region_of, bool by_label, region_set *set) {
    const sn_shape *shape = plan->shape;
    double *demand = NULL;
    sn_arena scratch = sn_arena_create(shape->context);
    sinew_status status = sum_regions(shape, arena, &scratch, region_of, set);

    if (status == SINEW_OK) {
        status = push_demands(demands, shape, set, plan->wished > 0, &demand);
    }

    set->demand = demand;
    if (status == SINEW_OK) {
        status = find_edges(shape, arena, &scratch, region_of, by_label, set);
    }

    sn_arena_destroy(&scratch);
    for (int32_t r = 0; r < set->count && status == SINEW_OK; r++) {
        set->regions[r].error = fit_error(set, &set->regions[r], NULL, plan->cell2);
    }

    return status;
}

static sinew_status merge(const sn_shape *shape, bool by_label, int32_t wished, double limit,
                          int32_t *region_of, int32_t *count) {
    const sinew_voxels *voxels = shape->voxels;
    const double *h = voxels->spacing;
    merge_plan plan = {
        .shape = shape, .wished = wished, .region_count = *count, .fit_error = limit};

    plan.cell2 = fmin(h[0], fmin(h[1], h[2]));
    plan.cell2 *= plan.cell2;
    plan.inverse_size2 =
        pow(voxels->count * voxels->volume / (wished > 0 ? wished : 100), -2.0 / 3);

    sn_arena arenas[2] = {sn_arena_create(shape->context), sn_arena_create(shape->context)};
    sn_arena common = sn_arena_create(shape->context); // what all rounds need
    region_set set = {.count = *count};
    int32_t *present = SN_RESERVE(&common, int32_t, *count);
    sinew_status status = sn_arena_status(&common);

    for (int32_t r = 0; r < *count && status == SINEW_OK; r++) {
        present[r] = r;
    }

    if (status == SINEW_OK) {
        status = describe_regions(&plan, &arenas[0], &common, region_of, by_label, &set);
    }
    if (status == SINEW_OK) {
        status = run_rounds(&plan, arenas, &set, present);
    }

    if (status == SINEW_OK) {
        number_job job = {region_of, present};
        sn_parallel_for(shape->context, voxels->count, CHUNK, renumber, &job);
        *count = set.count;
    }

    for (int i = 0; i < 2; i++) {
        sn_arena_destroy(&arenas[i]);
    }

    sn_arena_destroy(&common);
    return status;
}

sinew_status sn_find_regions(const sn_shape *shape, bool by_label, int32_t wished, double limit,
                             sn_arena *arena, int32_t **region_of, int32_t *count) {
    SN_TRY(find_parts(shape, by_label, arena, region_of, count));
    if (wished > 0 && *count <= wished) {
        return SINEW_OK;
    }
    return merge(shape, by_label, wished, limit, *region_of, count);
}
