// Distances inside a solid: fronts that start at seeds and propagate through inside voxels only.
//
// A metric defines the cost of a path: its length, or its compliance, the integral of ds / E.
// Voxels of rigid parts cost nothing; each connected rigid part is one point of the metric (a
// cluster), reached everywhere at once.
//
// Methods: Dijkstra on the graph of 6, 18 or 26 neighbours, and fast marching (Sethian 1996) of
// first and second order, whose stencils weight each axis with the mean cost of the two voxels it
// joins, so that a front along an axis is exact in layered material. Second-order marching is the
// default: with straight-line distances around the starting point, its error is a tenth of the
// others' (measured in tests/geom/test_distance.c).
//
// Cost: each voxel is accepted once; the queue is an array of buckets of which only the lowest is
// sorted, so a run over n voxels takes about n log(n / buckets) comparisons. Voxels are accepted in
// the order of their distance, equal ones by index, and stencils treat all axes alike: rotating the
// grid by 90 degrees or mirroring it rotates or mirrors the result.
#ifndef SN_GEOM_DISTANCE_DISTANCE_H
#define SN_GEOM_DISTANCE_DISTANCE_H

#include "geom/voxel/voxel.h"

typedef enum sn_distance_method {
    SN_DISTANCE_GRAPH_6,
    SN_DISTANCE_GRAPH_18,
    SN_DISTANCE_GRAPH_26,
    SN_DISTANCE_MARCHING_1,
    SN_DISTANCE_MARCHING_2,
} sn_distance_method;

// The cost of paths. `cost` is per unit length in each voxel (relative, > 0; 0 in rigid voxels),
// NULL for 1 everywhere.
typedef struct sn_metric {
    const sinew_voxels *voxels;
    double *cost;
    int32_t cluster_count;
    int32_t *cluster;       // of each voxel, -1 if it is not rigid; NULL without clusters
    int32_t *cluster_start; // cluster_count + 1
    int32_t *cluster_voxel; // voxels of each cluster, ascending
    double largest_step;    // largest cost of a step between neighbours
} sn_metric;

// Euclidean metric.
sn_metric sn_metric_euclidean(const sinew_voxels *voxels);

// Compliance metric: cost 1 / young[label] / stiffness factor, 0 for labels with rigid[label]. The
// tables have 65536 entries and cover every label in use (checked by the caller). Arrays go into
// `arena`. Costs are scaled so that the smallest Young's modulus costs 1.
sinew_status sn_metric_compliance(const sinew_voxels *voxels, sn_arena *arena, const double *young,
                                  const bool *rigid, sn_metric *metric);

// Finds the clusters of a metric: connected voxels of rigid labels, whatever their labels, are one
// point.
sinew_status sn_metric_find_clusters(const sinew_voxels *voxels, sn_arena *arena, const bool *rigid,
                                     sn_metric *metric);

// The same metric on blocks of up to `factor` cells along each axis. A block is inside if a quarter
// of its cells are, rigid if most of its voxels are, and has the mean cost of its other voxels.
// Blocks are counted from both ends of an axis, and those in the middle may be narrower (which is
// ignored: the spacing is that of whole blocks), so that a mirrored grid has mirrored blocks. The
// caller destroys the grid; the arrays go into `arena`. `*voxels` is NULL if no block is inside.
sinew_status sn_metric_coarsen(const sn_metric *fine, int32_t factor, sn_arena *arena,
                               sinew_voxels **voxels, sn_metric *coarse);

// The block of a cell, along one axis.
static inline int32_t sn_block_of(int32_t cells, int32_t factor, int32_t cell) {
    int32_t half = cells / 2;
    int32_t blocks = (half + factor - 1) / factor;
    if (cell < half) {
        return cell / factor;
    }
    if (cells % 2 && cell == half) {
        return blocks;
    }

    return 2 * blocks + cells % 2 - 1 - (cells - 1 - cell) / factor;
}

// The same for all cells along each axis, in the arena, to save a division per voxel.
sinew_status sn_find_blocks(sn_arena *arena, const int32_t cells[3], int32_t factor,
                            int32_t *blocks[3]);

typedef struct sn_front sn_front;
struct sn_front_queue;

// Called for each accepted voxel, in the order of distances: returns whether the front continues
// from there.
typedef bool sn_front_visit(void *data, sn_front *front, int32_t voxel, double distance);

// An array over voxels that is prefetched.
typedef struct sn_companion {
    const void *array;
    size_t size; // of an item
} sn_companion;

// A propagation and its buffers, for repeated use: a reset costs only what was touched.
struct sn_front {
    const sn_metric *metric;
    sn_distance_method method;
    double *distance;  // of accepted voxels, INFINITY elsewhere; distance[-1] is INFINITY
    int32_t *accepted; // in the order of acceptance
    int32_t accepted_count;
    int32_t *state;   // SN_FRONT_FRESH; the item in the queue; SN_FRONT_DONE - source of accepted
                      // voxels; state[-1] is done
    int32_t *touched; // every voxel that is not fresh
    int32_t touched_count;
    struct sn_front_queue *queue;
    sn_companion companion[3]; // what `visit` reads; up to the first without an array
};

enum { SN_FRONT_FRESH = -1, SN_FRONT_DONE = -2 };

static inline bool sn_front_is_accepted(const sn_front *front, int32_t voxel) {
    return front->state[voxel] <= SN_FRONT_DONE;
}

// The number of the seed nearest to an accepted voxel.
static inline int32_t sn_front_source(const sn_front *front, int32_t voxel) {
    return SN_FRONT_DONE - front->state[voxel];
}

// Buffers for a metric; they live in the arena.
sinew_status sn_front_create(sn_arena *arena, const sn_metric *metric, sn_distance_method method,
                             sn_front **front);

// Resets the front to its initial state.
void sn_front_reset(sn_front *front);

// Starts at a voxel with a given distance; if a voxel has several seeds, the smallest distance
// counts.
void sn_front_seed(sn_front *front, int32_t voxel, double distance, int32_t source);

// The same with a distance that is known to be exact, so that marching does not change it.
void sn_front_hold(sn_front *front, int32_t voxel, double distance, int32_t source);

// Makes a voxel a wall until the next reset: the front does not enter it, and stencils do not use
// it. Not for voxels that have a seed.
void sn_front_block(sn_front *front, int32_t voxel);

// Starts at a point: every voxel within `radius` cells that can be reached by a straight line
// inside the solid gets the cost along that line (exact in uniform material). A point in a rigid
// part starts the whole part. Returns false if the point is farther than `limit` from every inside
// voxel's box; a point outside by less starts at the nearest voxels.
bool sn_front_seed_point(sn_front *front, sn_vec3 point, double radius, double limit,
                         int32_t source);

// The radius, in cells, within which a seed point sets straight-line distances.
#define SN_FRONT_SEED_RADIUS 3.0

// Runs until the queue is empty or the distance exceeds `limit`; `visit` may be NULL. Allocates
// nothing.
void sn_front_run(sn_front *front, double limit, sn_front_visit *visit, void *data);

// The cost of the step from a voxel to its face neighbour in direction d.
static inline double sn_metric_step(const sn_metric *metric, int32_t voxel, int32_t neighbor,
                                    int d) {
    double h = metric->voxels->spacing[d / 2];
    return metric->cost ? 0.5 * h * (metric->cost[voxel] + metric->cost[neighbor]) : h;
}

// The neighbours from which a voxel was reached, with weights that sum to 1, to transport a
// quantity along the paths. Up to three; 0 for a seed.
int32_t sn_front_upwind(const sn_front *front, int32_t voxel, int32_t neighbors[3],
                        double weights[3]);

#endif
