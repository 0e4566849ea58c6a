// Regions by influencing nodes, and merging of the many small ones among them.
//
// Merging two neighbours costs the increase of their squared fit error E (region_sums.c), plus a
// small term for elongated regions. If a number of regions is requested, the errors of each node
// are weighted by the volume it moves, so that a thin tail gets samples as well as a trunk; if an
// error is requested, all count alike. In each round, pairs that are each other's cheapest
// neighbour merge, the cheapest pairs first. Of pairs with equal cost, such as mirror images, all
// merge or none, so the result does not depend on the order of the voxels.
#include "frame/sampling/region.h"
#include "frame/sampling/region_sums.h"

#include "base/threads.h"

#include <string.h>

// The weight of compactness relative to fit.
#define COMPACTNESS 1e-3
#define TIE         1e-9

enum { CHUNK = 4096, EDGES_CHUNK = 128 };

// Hashes a set of influencing nodes: sums of scrambled node numbers do not depend on the order, and
// do not collide in practice.
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

// Finds connected voxels with the same influencing nodes.
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

typedef struct merge_plan {
    const sn_shape *shape;
    int32_t requested, region_count; // region_count: the number of regions at the start
    double fit_error;
    double cell2;         // the square of a cell's size
    double inverse_size2; // 1 / the square of a region's requested size
} merge_plan;

static double merge_cost(const merge_plan *plan, const sn_region_set *set, const sn_region_sums *a,
                         const sn_region_sums *b) {
    double joined = sn_region_fit_error(set, a, b, plan->cell2);
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
    const sn_region_set *set;
    double *cost; // one for each edge
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

// Returns the `limit`-th smallest cost (the largest if there are fewer), by quickselect; reorders
// the costs.
static double threshold_of(double *costs, int32_t count, int32_t limit) {
    if (count <= limit) {
        return INFINITY;
    }

    int32_t low = 0;
    int32_t high = count - 1;

    // Partition around a pivot, and go on in the part that contains the wanted element.
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

// Merges the edges that are the cheapest at both their ends: the cheapest `limit` of them and those
// of equal cost. group[r] becomes the lowest region of r's group. Returns by how much the number of
// regions falls.
static int32_t choose_groups(const sn_region_set *set, const double *edge_cost, double *best,
                             double *costs, int32_t limit, int32_t *group) {
    int32_t mutual = 0, joined = 0;
    for (int32_t r = 0; r < set->count; r++) {
        best[r] = INFINITY;
        group[r] = r;
    }

    // The cheapest edge at each region.
    for (int32_t e = 0; e < set->edge_count; e++) {
        for (int side = 0; side < 2; side++) {
            int32_t r = set->edges[2 * e + side];
            best[r] = fmin(best[r], edge_cost[e]);
        }
    }

    // List the edges that are cheapest at both ends, then merge those up to the threshold.
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

    // Point every region directly at its group.
    for (int32_t r = 0; r < set->count; r++) {
        group[r] = root_of(group, r);
    }

    return joined;
}

static void add_sums(sn_region_set *next, const sn_region_set *set, sn_region_sums *into,
                     const sn_region_sums *from) {
    into->n += from->n;
    into->label = from->label;
    for (int k = 0; k < 3; k++) {
        into->x[k] += from->x[k];
    }

    for (int k = 0; k < 6; k++) {
        into->xx[k] += from->xx[k];
    }

    // Nodes that both regions share add up; others are appended.
    for (int32_t i = 0; i < from->nodes; i++) {
        const sn_node_sums *s = &set->sums[from->first + i];
        int32_t place = 0;
        while (place < into->nodes && next->sums[into->first + place].node != s->node) {
            place++;
        }

        sn_node_sums *target = &next->sums[into->first + place];
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

// Builds the regions after a round; number[r] is the new number of region r.
static sinew_status apply_groups(const merge_plan *plan, sn_arena *arena, const sn_region_set *set,
                                 const int32_t *group, int32_t *number, int32_t *first_sum,
                                 sn_region_set *next) {
    for (int32_t r = 0; r < set->count; r++) {
        number[r] = group[r] == r ? next->count++ : number[group[r]];
        // An upper bound, since members can share nodes.
        first_sum[number[r]] += set->regions[r].nodes;
    }

    int64_t total = 0;
    for (int32_t r = 0; r < next->count; r++) {
        int32_t nodes = first_sum[r];
        first_sum[r] = (int32_t)total;
        total += nodes;
    }

    next->regions = SN_PUSH(arena, sn_region_sums, next->count);
    next->sums = SN_PUSH(arena, sn_node_sums, total);
    next->edges = SN_PUSH(arena, int32_t, 2 * (size_t)set->edge_count);
    SN_TRY(sn_arena_status(arena));

    for (int32_t r = 0; r < next->count; r++) {
        next->regions[r].first = first_sum[r];
    }

    for (int32_t r = 0; r < set->count; r++) {
        add_sums(next, set, &next->regions[number[r]], &set->regions[r]);
    }

    for (int32_t r = 0; r < set->count; r++) {
        sn_region_sums *region = &next->regions[number[r]];
        if (region->n == set->regions[r].n) { // not merged
            region->error = set->regions[r].error;

        } else if (group[r] == r) {
            sn_node_sums_sort(next->sums + region->first, region->nodes);
            region->error = sn_region_fit_error(next, region, NULL, plan->cell2);
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

// Runs one round. `joined` receives by how much the number of regions falls; `present`, which maps
// the initial regions to the current ones, is updated.
static sinew_status merge_round(const merge_plan *plan, sn_arena *arena, sn_arena *scratch,
                                sn_region_set *set, int32_t *present, int32_t *joined) {
    double *edge_cost = SN_PUSH(scratch, double, set->edge_count);
    double *costs = SN_PUSH(scratch, double, set->edge_count);
    double *best = SN_PUSH(scratch, double, set->count);
    int32_t *group = SN_PUSH(scratch, int32_t, set->count);
    int32_t *number = SN_PUSH(scratch, int32_t, set->count);
    int32_t *first_sum = SN_PUSH(scratch, int32_t, set->count);

    SN_TRY(sn_arena_status(scratch));
    cost_job job = {plan, set, edge_cost};

    sn_parallel_for(plan->shape->context, set->edge_count, EDGES_CHUNK, find_costs, &job);
    int32_t surplus = plan->requested > 0 ? set->count - plan->requested : set->count;

    // Merge a quarter of the surplus at a time, so that later choices see the result of earlier
    // ones.
    *joined = choose_groups(set, edge_cost, best, costs, surplus / 4 + 1, group);
    if (!*joined) {
        return SINEW_OK;
    }

    sn_region_set next = {.demand = set->demand};
    SN_TRY(apply_groups(plan, arena, set, group, number, first_sum, &next));
    SN_TRY(sn_regions_tidy_edges(scratch, &next));

    for (int32_t r = 0; r < plan->region_count; r++) {
        present[r] = number[present[r]];
    }

    *set = next;
    return SINEW_OK;
}

// Computes the factors on the errors of each node.
static sinew_status push_demands(sn_arena *arena, const sn_shape *shape, const sn_region_set *set,
                                 bool by_volume, double **out) {
    double *demand = SN_PUSH(arena, double, shape->node_count);
    SN_TRY(sn_arena_status(arena));
    if (by_volume) {
        for (int32_t r = 0; r < set->count; r++) {
            for (int32_t k = 0; k < set->regions[r].nodes; k++) {
                const sn_node_sums *sums = &set->sums[set->regions[r].first + k];
                demand[sums->node] += fabs(sums->w);
            }
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

// Runs rounds until there are few enough regions or no pair can merge. The set is in one arena
// while the next set is built in the other.
static sinew_status run_rounds(const merge_plan *plan, sn_arena arenas[2], sn_region_set *set,
                               int32_t *present) {
    int32_t joined = 1;
    for (int side = 1; joined && (plan->requested == 0 || set->count > plan->requested);
         side = 1 - side) {
        sn_arena_destroy(&arenas[side]);
        sn_arena scratch = sn_arena_create(plan->shape->context);
        sinew_status status = merge_round(plan, &arenas[side], &scratch, set, present, &joined);
        sn_arena_destroy(&scratch);
        SN_TRY(status);
    }

    return SINEW_OK;
}

// Describes the initial regions: sums, neighbours, errors.
static sinew_status describe_regions(const merge_plan *plan, sn_arena *arena, sn_arena *demands,
                                     const int32_t *region_of, bool by_label, sn_region_set *set) {
    const sn_shape *shape = plan->shape;
    double *demand = NULL;
    sn_arena scratch = sn_arena_create(shape->context);
    sinew_status status = sn_regions_sum(shape, arena, &scratch, region_of, set);

    if (status == SINEW_OK) {
        status = push_demands(demands, shape, set, plan->requested > 0, &demand);
    }

    set->demand = demand;
    if (status == SINEW_OK) {
        status = sn_regions_find_edges(shape, arena, &scratch, region_of, by_label, set);
    }

    sn_arena_destroy(&scratch);
    if (status == SINEW_OK) {
        for (int32_t r = 0; r < set->count; r++) {
            set->regions[r].error = sn_region_fit_error(set, &set->regions[r], NULL, plan->cell2);
        }
    }

    return status;
}

static sinew_status merge(const sn_shape *shape, bool by_label, int32_t requested, double limit,
                          int32_t *region_of, int32_t *count) {
    const sinew_voxels *voxels = shape->voxels;
    const double *h = voxels->spacing;
    merge_plan plan = {
        .shape = shape, .requested = requested, .region_count = *count, .fit_error = limit};

    // Scales of the cost: a cell, and the size that regions are going to have.
    plan.cell2 = fmin(h[0], fmin(h[1], h[2]));
    plan.cell2 *= plan.cell2;
    plan.inverse_size2 =
        pow(voxels->count * voxels->volume / (requested > 0 ? requested : 100), -2.0 / 3);

    // Each round writes to one arena what it computes from the other.
    sn_arena arenas[2] = {sn_arena_create(shape->context), sn_arena_create(shape->context)};
    sn_arena common = sn_arena_create(shape->context); // data that all rounds need
    sn_region_set set = {.count = *count};
    int32_t *present = SN_RESERVE(&common, int32_t, *count);
    sinew_status status = sn_arena_status(&common);

    if (status == SINEW_OK) {
        for (int32_t r = 0; r < *count; r++) {
            present[r] = r;
        }
    }

    if (status == SINEW_OK) {
        status = describe_regions(&plan, &arenas[0], &common, region_of, by_label, &set);
    }
    if (status == SINEW_OK) {
        status = run_rounds(&plan, arenas, &set, present);
    }

    if (status == SINEW_OK) {
        // From original regions to merged ones.
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

sinew_status sn_find_regions(const sn_shape *shape, bool by_label, int32_t requested, double limit,
                             sn_arena *arena, int32_t **region_of, int32_t *count) {
    SN_TRY(find_parts(shape, by_label, arena, region_of, count));
    if (requested > 0 && *count <= requested) {
        return SINEW_OK;
    }
    return merge(shape, by_label, requested, limit, *region_of, count);
}
