// Blocks of tets that share no node, and the loop that projects their constraints: eight at a time, in floats.
#ifndef SN_PBD_PROJECT_H
#define SN_PBD_PROJECT_H

#include "base/isa.h"
#include "math/simd.h"
#include "pbd/tet.h"

// Lanes without a tet repeat the nodes of lane 0 with B = 0, and move nothing.
typedef struct sn_pbd_block {
    float B[9][SN_BLOCK];                          // Dm^-1 Q, row by row
    float stiffness[SN_PBD_CONSTRAINTS][SN_BLOCK]; // parts to remove, or compliances alpha (times the mass unit)
    int32_t nodes[4][SN_BLOCK];
    int32_t heavy[SN_BLOCK]; // bit k: node k was moved by the layer before, and is heavy in consolidating rounds
} sn_pbd_block;

typedef struct sn_pbd_multipliers {
    float l[SN_PBD_CONSTRAINTS][SN_BLOCK];
} sn_pbd_multipliers;

// What the loop reads and writes.
typedef struct sn_pbd_projection {
    double *nodes; // [node][4]: x y z and the inverse mass, in units where it is about 1
    const sn_pbd_block *blocks;
    sn_pbd_multipliers *multipliers; // NULL: stiffnesses, not compliances
    double compliance_scale;         // 1 / h^2
    double heavy_part;               // factor on the inverse masses of heavy nodes; 1: none are
} sn_pbd_projection;

// Blocks [begin, end), one after the other. About 30 ns per tet with AVX2. Agrees with sn_pbd_project within rounding of
// floats.
SN_ISA_DECLARE(void, sn_pbd_project_blocks, (const sn_pbd_projection *projection, int32_t begin, int32_t end));

typedef void sn_pbd_project_fn(const sn_pbd_projection *projection, int32_t begin, int32_t end);

#endif
