// The order in which tets are projected, cut into blocks for the lanes and chunks for the threads.
// Built once.
//
// Chunks run in order; two that share no node may run at the same time (base/sweeps.h). The blocks
// of a chunk run one after the other; the tets of a block share no node and run in the lanes. So
// the result does not depend on the number of threads.
#ifndef SN_PBD_SCHEDULE_H
#define SN_PBD_SCHEDULE_H

#include "sinew/pbd.h"

#include "base/sweeps.h"
#include "geom/mesh/mesh.h"
#include "math/simd.h"

typedef struct sn_pbd_schedule {
    int32_t layer_count, chunk_count, block_count;
    int32_t *chunk_blocks;  // chunk_count + 1
    int32_t *lanes;         // [block][lane]: the tet, or -1
    int32_t *tet_layers;    // -1: not projected
    int32_t *node_layers;   // distance from the attached nodes, 0 for these; -1: unreachable
    sn_adjacency neighbors; // the chunks that share a node with each
    sn_sweeps sweeps;       // over the chunks
} sn_pbd_schedule;

// The input of a schedule. Layers begin at nodes with a nonzero `attached`; tets with a nonzero
// `still` are left out.
typedef struct sn_pbd_schedule_def {
    const sinew_mesh *mesh; // TET4
    const uint8_t *attached, *still;
    sinew_pbd_order order;
} sn_pbd_schedule_def;

// Cost: a few microseconds per tet.
sinew_status sn_pbd_build_schedule(sn_arena *arena, const sn_pbd_schedule_def *def,
                                   sn_pbd_schedule *schedule);

#endif
