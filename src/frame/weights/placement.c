// Automatic placement of nodes (Gilles et al. 2013, 1.5.4).
//
// In: a voxel grid with materials, the number of nodes, and nodes that the user has fixed. Out:
// node positions. The fixed nodes come first, then one in each rigid part and one in each
// disconnected part. Every further node goes to the point farthest from all nodes in the
// metric. The free nodes then move to the centres of their Voronoi cells (Lloyd's relaxation). The
// centre is the mean position weighted by cost, so soft material counts more.
//
// Large grids are coarsened first, since the best positions of a few nodes need not be known to a
// voxel. Cost: one pass over the grid, then a front over about 20 000 coarse voxels for each node
// and each sweep.
#include "frame/weights/spectral.h"
#include "frame/weights/table.h"

#include <string.h>

enum { COARSE_VOXELS = 20000, VOXELS_PER_NODE = 500 };

sinew_placement_def sinew_default_placement_def(void) {
    return (sinew_placement_def){.count = 1,
                                 .rigid_parts = true,
                                 .metric = SINEW_METRIC_COMPLIANCE,
                                 .relaxations = 20,
                                 .filled = SN_DEF_FILLED};
}

typedef struct placement {
    sinew_context *context;
    const sinew_placement_def *def;
    const sinew_voxels *voxels; // the coarse grid, or the given one
    double *position;           // 3 for each node, def->count of them
    int32_t count, held;        // placed so far; those that do not move
    sn_metric metric;
    sn_front *front;
    double *distance; // from the nearest node
} placement;

// The weighted mean position of some voxels.
typedef struct mean {
    sn_vec3 sum;
    double weight;
    int32_t count;
} mean;

static void add_to_mean(mean *mean, sn_vec3 p, double weight) {
    mean->sum = sn_madd(mean->sum, weight, p);
    mean->weight += weight;
    mean->count++;
}

// Finds for each group the voxel closest to its mean position. `group` is -1 for voxels that belong
// to none.
static void find_middles(const sinew_voxels *voxels, const int32_t *group, const mean *means,
                         int32_t count, double *nearest, int32_t *middle) {
    for (int32_t g = 0; g < count; g++) {
        nearest[g] = INFINITY;
    }

    for (int32_t v = 0; v < voxels->count; v++) {
        int32_t g = group[v];
        if (g < 0 || !(means[g].weight > 0)) {
            continue;
        }

        double d =
            sn_distance(sn_voxel_center(voxels, v), sn_scale(1 / means[g].weight, means[g].sum));
        if (d < nearest[g]) {
            nearest[g] = d;
            middle[g] = v;
        }
    }
}

static void add_node(placement *placement, sn_vec3 p) {
    SN_ASSERT(placement->count < placement->def->count);
    sn_store3(sn_at3(placement->position, placement->count++), p);
}

// Places a node in the centre of every group that has none yet; `name` describes a group.
static sinew_status place_in_groups(placement *placement, sn_arena *scratch, const int32_t *group,
                                    int32_t count, const char *name) {
    const sinew_voxels *voxels = placement->voxels;
    mean *means = SN_PUSH(scratch, mean, count);
    double *nearest = SN_PUSH(scratch, double, count);
    int32_t *middle = SN_PUSH(scratch, int32_t, count);
    bool *taken = SN_PUSH(scratch, bool, count);

    SN_TRY(sn_arena_status(scratch));

    // Groups that a node is in already.
    for (int32_t i = 0; i < placement->count; i++) {
        int32_t near[8];
        int32_t found = sn_nearest_voxels(voxels, sn_load3(sn_at3(placement->position, i)),
                                          INFINITY, near, NULL);

        for (int32_t k = 0; k < found; k++) {
            if (group[near[k]] >= 0) {
                taken[group[near[k]]] = true;
            }
        }
    }

    // The voxel closest to the centre of each group, since the centre may be outside.
    for (int32_t v = 0; v < voxels->count; v++) {
        if (group[v] >= 0) {
            add_to_mean(&means[group[v]], sn_voxel_center(voxels, v), 1);
        }
    }

    find_middles(voxels, group, means, count, nearest, middle);

    // The message states the number that would be enough.
    int32_t needed = placement->count;
    for (int32_t g = 0; g < count; g++) {
        needed += !taken[g];
    }

    for (int32_t g = 0; g < count; g++) {
        if (taken[g]) {
            continue;
        }

        sn_vec3 p = sn_voxel_center(voxels, middle[g]);
        if (needed > placement->def->count) {
            return sn_fail(placement->context, SINEW_INVALID_ARGUMENT,
                           "%d nodes are not enough, at least %d are needed: %s of %d voxels needs "
                           "one at (%g, %g, %g) m",
                           placement->def->count, needed, name, means[g].count, p.x, p.y, p.z);
        }

        add_node(placement, p);
    }

    return SINEW_OK;
}

static sinew_status place_fixed(placement *placement) {
    const sinew_placement_def *def = placement->def;
    for (int32_t i = 0; i < def->fixed_count; i++) {
        sn_vec3 p = sn_load3(sn_at3(def->fixed, i));
        int32_t near[8];
        const double *h = placement->voxels->spacing;
        double reach = 0.5 * sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]) +
                       sn_outside_tolerance(placement->voxels);

        // The message suggests the nearest position inside.
        if (!sn_finite3(p) || !sn_nearest_voxels(placement->voxels, p, reach, near, NULL)) {
            if (!sn_finite3(p)) {
                return sn_fail(placement->context, SINEW_INVALID_ARGUMENT,
                               "fixed node %d is not finite", i);
            }

            sn_nearest_voxels(placement->voxels, p, INFINITY, near, NULL);
            sn_vec3 inside = sn_voxel_center(placement->voxels, near[0]);

            return sn_fail(placement->context, SINEW_INVALID_ARGUMENT,
                           "fixed node %d at (%g, %g, %g) m is outside the solid; (%g, %g, %g) m "
                           "would be inside",
                           i, p.x, p.y, p.z, inside.x, inside.y, inside.z);
        }

        add_node(placement, p);
    }

    return SINEW_OK;
}

// Places the nodes that do not move: the user's, those of rigid parts and those of disconnected
// parts, all on the given grid.
static sinew_status place_held(placement *placement, const bool *rigid, int32_t *part_nodes) {
    sn_arena scratch = sn_arena_create(placement->context);
    sinew_status status = place_fixed(placement);

    // Rigid parts, then parts that are connected to nothing.
    sn_metric clusters = sn_metric_euclidean(placement->voxels);

    if (status == SINEW_OK && placement->def->rigid_parts) {
        status = sn_metric_find_clusters(placement->voxels, &scratch, rigid, &clusters);
        if (status == SINEW_OK && clusters.cluster_count > 0) {
            status = place_in_groups(placement, &scratch, clusters.cluster, clusters.cluster_count,
                                     "the rigid part");
        }
    }

    if (part_nodes) {
        *part_nodes = placement->count - placement->def->fixed_count;
    }

    int32_t *parts = NULL, part_count = 0;
    if (status == SINEW_OK) {
        status = sn_voxel_parts(placement->voxels, &scratch, NULL, &parts, &part_count);
    }

    if (status == SINEW_OK && part_count > 1) {
        status = place_in_groups(placement, &scratch, parts, part_count, "the disconnected part");
    }

    sn_arena_destroy(&scratch);
    placement->held = placement->count;

    return status;
}

static bool improves(void *data, sn_front *front, int32_t voxel, double distance) {
    (void)front;
    return distance < ((placement *)data)->distance[voxel];
}

static void seed(placement *placement, int32_t node) {
    // The coarse grid may not contain a node close to the surface; start from the nearest voxel
    // then.
    sn_front_seed_point(placement->front, sn_load3(sn_at3(placement->position, node)),
                        SN_FRONT_SEED_RADIUS, INFINITY, node);
}

static void spread(placement *placement, int32_t node) {
    sn_front *front = placement->front;
    sn_front_reset(front);
    seed(placement, node);
    sn_front_run(front, INFINITY, improves, placement);

    for (int32_t k = 0; k < front->accepted_count; k++) {
        int32_t v = front->accepted[k];
        placement->distance[v] = fmin(placement->distance[v], front->distance[v]);
    }
}

static sn_vec3 middle_of_solid(const sinew_voxels *voxels) {
    sn_vec3 sum = sn_v3(0, 0, 0);
    for (int32_t v = 0; v < voxels->count; v++) {
        sum = sn_add(sum, sn_voxel_center(voxels, v));
    }

    int32_t near[8];
    sn_nearest_voxels(voxels, sn_scale(1.0 / voxels->count, sum), INFINITY, near, NULL);

    return sn_voxel_center(voxels, near[0]);
}

static sinew_status place_farthest(placement *placement) {
    const sinew_voxels *voxels = placement->voxels;

    // Distances from the nodes that are there.
    for (int32_t v = 0; v < voxels->count; v++) {
        placement->distance[v] = INFINITY;
    }

    for (int32_t i = 0; i < placement->count; i++) {
        spread(placement, i);
    }

    while (placement->count < placement->def->count) {
        // The next node goes where the distance is largest.
        int32_t farthest = 0;
        for (int32_t v = 1; v < voxels->count; v++) {
            if (placement->distance[v] > placement->distance[farthest]) {
                farthest = v;
            }
        }

        if (!(placement->distance[farthest] > 0)) {
            return sn_fail(placement->context, SINEW_INVALID_ARGUMENT,
                           "%d nodes are too many: after %d of them every place has one or moves "
                           "with a rigid part that has",
                           placement->def->count, placement->count);
        }

        sn_vec3 p = placement->count ? sn_voxel_center(voxels, farthest) : middle_of_solid(voxels);
        sn_store3(sn_at3(placement->position, placement->count++), p);
        spread(placement, placement->count - 1);
    }

    return SINEW_OK;
}

// One sweep of Lloyd's relaxation: finds the cells of the current nodes and their centres, and
// returns the sum of squared distances before the move.
static double relax(placement *placement, int32_t *cell, mean *means, double *nearest,
                    int32_t *middle) {
    const sinew_voxels *voxels = placement->voxels;
    sn_front *front = placement->front;

    // One front from all nodes gives each voxel its nearest node.
    sn_front_reset(front);
    for (int32_t i = 0; i < placement->count; i++) {
        seed(placement, i);
    }

    sn_front_run(front, INFINITY, NULL, NULL);

    // Means are weighted by the compliance, so that soft parts get more nodes.
    memset(means, 0, (size_t)placement->count * sizeof *means);

    double energy = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        bool reached = sn_front_is_accepted(front, v);
        cell[v] = reached ? sn_front_source(front, v) : -1;
        if (!reached) {
            continue;
        }

        double weight = placement->metric.cost ? placement->metric.cost[v] : 1;
        energy += weight * front->distance[v] * front->distance[v];
        add_to_mean(&means[cell[v]], sn_voxel_center(voxels, v), weight);
    }

    find_middles(voxels, cell, means, placement->count, nearest, middle);
    return energy;
}

static sinew_status relax_nodes(placement *placement, sn_arena *arena) {
    int32_t count = placement->count;
    int32_t *cell = SN_PUSH(arena, int32_t, placement->voxels->count);
    int32_t *middle = SN_PUSH(arena, int32_t, count);
    mean *means = SN_PUSH(arena, mean, count);
    double *nearest = SN_PUSH(arena, double, count);
    double *best = SN_PUSH(arena, double, 3 * (size_t)count);

    SN_TRY(sn_arena_status(arena));
    if (placement->held >= count) {
        return SINEW_OK;
    }

    // Sweep until the energy no longer falls, and keep the best positions.
    size_t size = 3 * (size_t)count * sizeof *best;
    double lowest = INFINITY;
    memcpy(best, placement->position, size);
    for (int32_t sweep = 0; sweep <= placement->def->relaxations; sweep++) {
        double energy = relax(placement, cell, means, nearest, middle);
        if (energy < lowest) {
            memcpy(best, placement->position, size);
        }
        if (energy > 0.9999 * lowest) {
            break; // the improvement is not worth another sweep
        }
        lowest = fmin(lowest, energy);
        if (sweep == placement->def->relaxations) {
            break;
        }
        for (int32_t i = placement->held; i < count; i++) {
            if (nearest[i] == INFINITY) {
                continue; // the cell is empty
            }
            sn_store3(sn_at3(placement->position, i),
                      sn_voxel_center(placement->voxels, middle[i]));
        }
    }
    memcpy(placement->position, best, size);

    return SINEW_OK;
}

// Places the free nodes on a grid whose resolution suits their number, and moves their positions
// into the given grid.
static sinew_status place_free(placement *placement, const double *young, const bool *rigid) {
    const sinew_voxels *fine = placement->voxels;

    // A few hundred voxels for each node are as good as millions.
    int64_t enough = (int64_t)VOXELS_PER_NODE * placement->def->count;
    if (enough < COARSE_VOXELS) {
        enough = COARSE_VOXELS;
    }

    int32_t factor = (int32_t)ceil(cbrt((double)fine->count / (double)enough) - 1e-9);
    sinew_voxels *coarse = NULL;
    sn_arena arena = sn_arena_create(placement->context);
    sinew_status status = factor > 1 ? sn_coarsen_voxels(fine, factor, young, &coarse) : SINEW_OK;

    if (coarse) {
        placement->voxels = coarse;
    }

    // Distances in the requested metric.
    if (status == SINEW_OK) {
        status =
            placement->def->metric == SINEW_METRIC_COMPLIANCE
                ? sn_metric_compliance(placement->voxels, &arena, young, rigid, &placement->metric)
                : SINEW_OK;

        if (placement->def->metric == SINEW_METRIC_EUCLIDEAN) {
            placement->metric = sn_metric_euclidean(placement->voxels);
        }
    }

    if (status == SINEW_OK) {
        status =
            sn_front_create(&arena, &placement->metric, SN_DISTANCE_MARCHING_2, &placement->front);
    }

    placement->distance = SN_PUSH(&arena, double, placement->voxels->count);
    if (status == SINEW_OK) {
        status = sn_arena_status(&arena);
    }
    if (status == SINEW_OK) {
        status = place_farthest(placement);
    }
    if (status == SINEW_OK) {
        status = relax_nodes(placement, &arena);
    }

    // Back to the given grid.
    if (coarse) {
        for (int32_t i = placement->held; i < placement->count; i++) {
            double *p = sn_at3(placement->position, i);
            int32_t near[8];
            sn_nearest_voxels(fine, sn_load3(p), INFINITY, near, NULL);
            sn_store3(p, sn_voxel_center(fine, near[0]));
        }
    }

    sn_arena_destroy(&arena);
    sinew_voxels_destroy(coarse);
    placement->voxels = fine;

    return status;
}

sinew_status sinew_place_nodes(sinew_context *context, const sinew_voxels *voxels,
                               const sinew_tissue *tissues, int32_t tissue_count,
                               const sinew_placement_def *def, double *positions,
                               int32_t *part_nodes) {
    SN_NEED(NULL, context);
    SN_NEED(context, voxels && positions);

    // What was requested must be possible.
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_placement_def"));
    if (def->count < 1 || def->count > UINT16_MAX || def->fixed_count < 0 ||
        def->fixed_count > def->count || (def->fixed_count > 0 && !def->fixed) ||
        def->relaxations < 0) {
        return sn_fail(
            context, SINEW_INVALID_ARGUMENT,
            "%d nodes (1 to %d) with %d fixed (0 to that) and %d relaxations (at least 0)",
            def->count, UINT16_MAX, def->fixed_count, def->relaxations);
    }

    if ((int)def->kind < 0 || def->kind > SINEW_PLACEMENT_AUTO) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "unknown kind of placement %d",
                       (int)def->kind);
    }

    if (def->count > voxels->count) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%d nodes do not fit into %d voxels",
                       def->count, voxels->count);
    }

    // Nodes that are prescribed, then free ones.
    sn_arena arena = sn_arena_create(context);
    double *young, *density;
    bool *rigid;
    int32_t *bound;
    placement placement = {.context = context, .def = def, .voxels = voxels, .position = positions};
    sinew_status status = sn_read_tissues(context, voxels, tissues, tissue_count, &arena, &young,
                                          &density, &rigid, &bound);

    if (status == SINEW_OK) {
        status = place_held(&placement, rigid, part_nodes);
    }
    if (status == SINEW_OK && placement.count < def->count) {
        status = def->kind == SINEW_PLACEMENT_SPECTRAL
                     ? sn_place_spectral(voxels, young, rigid, def->metric, positions,
                                         placement.count, def->count)
                     : place_free(&placement, young, rigid);
    }

    sn_arena_destroy(&arena);
    return status;
}
