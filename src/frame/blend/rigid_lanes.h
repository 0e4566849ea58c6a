// Access to blocks of samples of rigid nodes in lanes, and the layout of the kernels' workspace.
// Included by the kernels only.
#ifndef SN_FRAME_BLEND_RIGID_LANES_H
#define SN_FRAME_BLEND_RIGID_LANES_H

#include "frame/blend/rigid_kernels.h"
#include "math/lanes_quat.h"

// Layout of the workspace, in lanes of SN_BLOCK:
//
//   of each sample  P_k (12), Q_k,s (3), R (9)
//   of each node    p, q, d (11); A (54); the map of A to quaternions (48)
//   sums of a run   force (6 a node), matrix (36 a pair), torque (3), stiffness of the shared
//                   rotation with each node (18) and with itself (9)
enum { NODE_VALUES = 11, SAMPLE_VALUES = 24, A_VALUES = 54, MAP_VALUES = 48 };

typedef struct work_places {
    double *node, *sample, *A, *map, *force, *matrix, *torque, *turn, *turn_own;
} work_places;

// The part of the workspace that compute_F fills.
SN_INLINE work_places find_sample_places(double *sample) {
    return (work_places){.sample = sample, .node = sample + SAMPLE_VALUES * SN_BLOCK};
}

// The part of the workspace that belongs to the chunk.
SN_INLINE work_places find_run_places(double *work, int32_t width) {
    work_places places = {.A = work};
    places.map = places.A + (size_t)width * A_VALUES * SN_BLOCK;
    places.force = places.map + (size_t)width * MAP_VALUES * SN_BLOCK;
    places.matrix = places.force + (size_t)width * 6 * SN_BLOCK;
    places.torque = places.matrix + (size_t)sn_pair_count(width) * 36 * SN_BLOCK;
    places.turn = places.torque + 3 * SN_BLOCK;
    places.turn_own = places.turn + (size_t)width * 18 * SN_BLOCK;

    return places;
}

// A component of the table of nodes for the lanes from `index` on.
SN_INLINE sn_lanes take(const double *table, const int32_t *index, bool uniform, int component) {
    if (uniform) {
        return sn_lanes_all(table[(size_t)index[0] * SN_RIGID_TABLE + (size_t)component]);
    }

    sn_lanes x = {0};
    for (int l = 0; l < SN_LANES; l++) {
        x[l] = table[(size_t)index[l] * SN_RIGID_TABLE + (size_t)component];
    }

    return x;
}

SN_INLINE sn_lanes_quat take_quat(const double *table, const int32_t *index, bool uniform) {
    return (sn_lanes_quat){take(table, index, uniform, 0), take(table, index, uniform, 1),
                           take(table, index, uniform, 2), take(table, index, uniform, 3)};
}

SN_INLINE sn_lanes_vec take_vec(const double *table, const int32_t *index, bool uniform,
                                int first) {
    return (sn_lanes_vec){take(table, index, uniform, first),
                          take(table, index, uniform, first + 1),
                          take(table, index, uniform, first + 2)};
}

// R_i d with d = X - X_i.
SN_INLINE sn_lanes_vec take_arm(const double *table, const int32_t *index, bool uniform,
                                const double *position) {
    sn_lanes_vec d =
        sn_lanes_sub3(sn_lanes_load3(position), take_vec(table, index, uniform, SN_RIGID_ORIGIN));
    return (sn_lanes_vec){sn_lanes_dot3(take_vec(table, index, uniform, SN_RIGID_ROTATION), d),
                          sn_lanes_dot3(take_vec(table, index, uniform, SN_RIGID_ROTATION + 3), d),
                          sn_lanes_dot3(take_vec(table, index, uniform, SN_RIGID_ROTATION + 6), d)};
}

// One group of lanes of a block.
typedef struct lane_view {
    int32_t width;
    bool uniform;
    const int32_t *node;                      // of node c at node + c * SN_BLOCK
    const double *weight, *position, *volume; // weights of node c at weight + 4 * c * SN_BLOCK
    const int32_t *slots;                     // of pair n at slots + n * SN_BLOCK
} lane_view;

SN_INLINE lane_view view_lanes(const sn_rigid_group *group, int32_t block, int lane) {
    size_t width = (size_t)group->width;
    size_t pairs = width * (width + 1) / 2;
    size_t b = (size_t)block;

    return (lane_view){group->width,
                       group->uniform[block],
                       group->node + b * width * SN_BLOCK + lane,
                       group->weight + b * width * 4 * SN_BLOCK + lane,
                       group->position + b * 3 * SN_BLOCK + lane,
                       group->volume + b * SN_BLOCK + lane,
                       group->slots + b * pairs * SN_BLOCK + lane};
}

// Adds to a sum of the run.
SN_INLINE void deposit(double *sum, int component, sn_lanes value) {
    sn_lanes_store(sum + component * SN_LANES, sn_lanes_load(sum + component * SN_LANES) + value);
}

#endif
