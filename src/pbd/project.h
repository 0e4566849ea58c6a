// Blocks of tets that share no node, and the loop that projects their constraints: eight at a time,
// in floats.
#ifndef SN_PBD_PROJECT_H
#define SN_PBD_PROJECT_H

#include "base/isa.h"
#include "math/simd.h"
#include "pbd/tet.h"

// Lanes without a tet repeat the nodes of lane 0 with B = 0, and move nothing.
typedef struct sn_pbd_block {
    float B[9][SN_BLOCK];                          // Dm^-1 Q, row by row
    float stiffness[SN_PBD_CONSTRAINTS][SN_BLOCK]; // fractions, or compliances (times mass unit)
    int32_t nodes[4][SN_BLOCK];
} sn_pbd_block;

// How easily the nodes of a block move. It does not change while a body moves; rounds with raised
// masses have inertias of their own.
typedef struct sn_pbd_inertia {
    float w[4][SN_BLOCK]; // inverse masses
    float A[6][SN_BLOCK]; // A_ij of tet.h: 11 22 33 23 31 12
} sn_pbd_inertia;

// The inertia of a block whose nodes have the inverse masses w.
void sn_pbd_compute_inertia(sn_pbd_inertia *inertia, const sn_pbd_block *block,
                            double w[4][SN_BLOCK]);

typedef struct sn_pbd_multipliers {
    float l[SN_PBD_CONSTRAINTS][SN_BLOCK];
} sn_pbd_multipliers;

// The arrays that the loop reads and writes.
typedef struct sn_pbd_projection {
    double *nodes; // [node][4]: x y z, and one that is neither read nor changed
    const sn_pbd_block *blocks;
    const sn_pbd_inertia *inertias;
    sn_pbd_multipliers *multipliers; // NULL: stiffnesses, not compliances
    double compliance_scale;         // 1 / h^2
} sn_pbd_projection;

// Projects blocks [begin, end), one after the other. About 30 ns per tet with AVX2. Agrees with
// sn_pbd_project up to rounding of floats.
SN_ISA_DECLARE(void, sn_pbd_project_blocks,
               (const sn_pbd_projection *projection, int32_t begin, int32_t end));

typedef void sn_pbd_project_fn(const sn_pbd_projection *projection, int32_t begin, int32_t end);

#endif
