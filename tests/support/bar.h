// Matrices for tests of solvers: linear elasticity of a box of tetrahedra, and its lumped mass.
#ifndef SN_TESTS_SUPPORT_BAR_H
#define SN_TESTS_SUPPORT_BAR_H

#include "linalg/bsr.h"

typedef struct test_bar_def {
    int32_t cells[3]; // cubes along each axis, six tetrahedra each
    double size[3];   // [m]
    double young;     // [Pa]
    double poisson;   // [-]
    double density;   // [kg/m^3]
    // Young's modulus of every other cube is this much larger; 1 for a uniform bar.
    double stiff_ratio;
    bool shuffle; // number the nodes at random
} test_bar_def;

typedef struct test_bar {
    int32_t nodes, tets;
    double *positions; // 3 per node
    int32_t *indices;  // 4 per tet
    sn_bsr pattern;
    double *stiffness; // positive semi-definite K, both triangles
    double *mass;      // lumped, one per scalar unknown
    uint8_t *clamped;  // mask that holds the end x = 0
} test_bar;

// 1 m x 0.25 m x 0.25 m of 4 n n n cubes, E = 1 MPa, nu = 0.3, 1000 kg/m^3.
test_bar_def test_default_bar(int32_t n);

// Everything lives in the arena; running out of memory returns a status.
sinew_status test_bar_create(sn_arena *arena, const test_bar_def *def, test_bar *bar);

// A = M + h^2 K; h = 0 gives K. Optionally clamped.
void test_bar_matrix(sinew_context *context, const test_bar *bar, double h, bool clamp, double *A);

#endif
