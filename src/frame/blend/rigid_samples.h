// The samples of a body whose nodes are all rigid, packed for SIMD lanes, and the memory in which
// their forces and stiffness are summed.
//
// Samples with the same number of nodes and the same material form a group, packed in blocks of
// eight: [block][node][component][lane]. Most blocks are uniform: their eight samples have the same
// nodes, because samples are first sorted by their lists of nodes. The remaining samples go into
// mixed blocks. A run is a sequence of uniform blocks with the same nodes: its forces and stiffness
// stay in lanes until it ends.
//
// A fixed number of blocks is a chunk, which sums into memory of its own: six numbers for each
// node, 6 x 6 numbers for each pair of nodes that occurs in it. The chunks' sums are added in
// order, so the result is the same for any number of threads.
#ifndef SN_FRAME_BLEND_RIGID_SAMPLES_H
#define SN_FRAME_BLEND_RIGID_SAMPLES_H

#include "body/sample_groups.h"
#include "frame/blend/nodes.h"
#include "frame/sampling/sampling.h"

// A pair of nodes i >= j of a chunk, and the blocks of the matrix that receive it: (w_i, w_j), the
// next one in its row, and the same two one row below.
typedef struct sn_rigid_pair {
    int32_t i, j;
    int32_t upper, lower;
    bool diagonal; // i == j: the block (w, t) is above the diagonal
} sn_rigid_pair;

typedef struct sn_rigid_chunk {
    int32_t pair_count;
    sn_rigid_pair *pairs;
    double *matrix; // [pair][6][6]
    double *force;  // [node of the body][6]
    double *own;    // [node of the body][6][6], lower triangles; NULL until products are prepared
    double energy;
    double *work, *sample_work[2]; // workspaces, for two blocks at a time; see rigid_kernels.h
} sn_rigid_chunk;

typedef struct sn_rigid_group {
    int32_t count, blocks, width;
    int32_t *order;   // [block][lane]: the sample, by its number in the body
    int32_t *node;    // [block][width][lane]
    double *weight;   // [block][width][4][lane]: w, dw/dX [-], [1/m]
    double *position; // [block][3][lane] [m]
    double *volume;   // [block][lane] [m^3]; 0 in padding, which repeats a sample
    bool *uniform;    // [block]
    double **fade;    // [block]: NULL, or D[9][lane], by which F is multiplied from the right
                      // (frame/adapt/fade.h)
    int32_t *slots;   // [block][pair][lane]: pair of the chunk, for (0,0) (1,0) (1,1) (2,0) ...
    int32_t chunk_size, chunk_count;
    sn_rigid_chunk *chunks;
} sn_rigid_group;

// Packs the `count` samples s with group[s] == index, which have `width` nodes each. `rows` is the
// pattern of the body's rows.
typedef struct sn_rigid_input {
    const sn_nodes *nodes;
    const sn_frame_samples *samples;
    const int32_t *group;
    int32_t index, count, width;
    const sn_bsr *rows;
} sn_rigid_input;

sinew_status sn_rigid_group_pack(sn_arena *arena, const sn_rigid_input *input,
                                 sn_rigid_group *packed);

// Finds the blocks of all pairs on the pattern of the body's rows.
void sn_rigid_group_remap(const sn_nodes *nodes, const sn_bsr *rows, sn_rigid_group *packed);

#endif
