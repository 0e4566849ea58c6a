// Setup of the springs: the coupled pairs, and their joints from the stiffness of the samples at
// rest. springs_simd.c evaluates them. Cost: the pairs, and an eigenvalue check of the whole
// matrix.
#include "frame/springs/springs.h"

#include "linalg/dense.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

static bool is_coupled(const sn_nodes *nodes, const sn_bsr *pattern, int32_t i, int32_t j) {
    return sn_bsr_find(pattern, nodes->items[j].row, nodes->items[i].row) >= 0;
}

static void find_slots(const sn_nodes *nodes, const sn_bsr *pattern, sn_spring *spring) {
    int32_t i = nodes->items[spring->i].row;
    int32_t j = nodes->items[spring->j].row;
    const int32_t rows[4] = {i, i + 1, j, j + 1};

    for (int r = 0, k = 0; r < 4; r++) {
        for (int c = 0; c <= r; c++) {
            spring->slot[k] = sn_bsr_find(pattern, rows[r], rows[c]);
            SN_ASSERT(spring->slot[k] >= 0);
            k++;
        }
    }
}

sinew_status sn_springs_create(sn_arena *arena, const sn_nodes *nodes, const sn_bsr *pattern,
                               const double *stiffness, sn_springs **out) {
    // A spring joins each pair of frames that share a sample.
    int32_t count = 0;
    for (int32_t j = 0; j < nodes->count; j++) {
        SN_ASSERT(nodes->items[j].kind == SINEW_NODE_RIGID);
        for (int32_t i = 0; i < j; i++) {
            count += is_coupled(nodes, pattern, i, j);
        }
    }

    sn_springs *springs = SN_PUSH(arena, sn_springs, 1);
    sn_spring *items = SN_PUSH(arena, sn_spring, count);

    SN_TRY(sn_arena_status(arena));
    *springs = (sn_springs){.count = count,
                            .items = items,
                            .evaluate = SN_ISA_PICK(arena->context->isa, sn_springs_evaluate)};

    // The joint is halfway between the two frames.
    for (int32_t j = 0, next = 0; j < nodes->count; j++) {
        for (int32_t i = 0; i < j; i++) {
            if (!is_coupled(nodes, pattern, i, j)) {
                continue;
            }

            sn_spring *spring = &items[next++];
            sn_vec3 Xi = nodes->items[i].origin;
            sn_vec3 Xj = nodes->items[j].origin;
            sn_vec3 m = sn_scale(0.5, sn_add(Xi, Xj));
            *spring = (sn_spring){.i = i, .j = j, .li = sn_sub(m, Xi), .lj = sn_sub(m, Xj)};
            find_slots(nodes, pattern, spring);
        }
    }

    *out = springs;
    return sn_springs_compute(arena->context, nodes, pattern, stiffness, springs);
}

static sn_spring_stiffness split(const double K[36]) {
    sn_spring_stiffness out;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            out.P.m[r][c] = K[6 * r + c];
            out.Q.m[r][c] = K[6 * r + 3 + c];
            out.U.m[r][c] = K[6 * (r + 3) + 3 + c];
        }
    }
    return out;
}

// Splits K into its positive part and the directions in which it is negative. Translations are
// measured in the distance of the frames, so that the result does not depend on the unit of length.
static void split_signs(double K[36], sn_spring *spring) {
    double length = sn_length(sn_sub(spring->li, spring->lj));
    double unit[6] = {1, 1, 1, length, length, length};
    double scaled[36], values[6], vectors[36];
    if (!(length > 0)) {
        unit[3] = unit[4] = unit[5] = 1;
    }
    for (int e = 0; e < 36; e++) {
        scaled[e] = unit[e / 6] * unit[e % 6] * K[e];
    }

    sn_eigen_symmetric(values, vectors, scaled, 6);
    spring->weak_count = 0;
    for (int k = 0; k < 6; k++) {
        // Below the accuracy of the eigenvalues a sign means nothing.
        if (!(values[k] < -1e-12 * values[0])) {
            continue;
        }

        double e[6];
        for (int r = 0; r < 6; r++) {
            e[r] = sqrt(-values[k]) * vectors[6 * k + r] / unit[r];
        }
        for (int m = 0; m < 36; m++) {
            K[m] += e[m / 6] * e[m % 6];
        }
        spring->weak[spring->weak_count++] =
            (sn_spring_weakness){sn_load3(e), sn_load3(e + 3), -1 / values[k]};
    }

    spring->strong = split(K);
}

// D(l): [l]x below a diagonal of ones. It maps the motion of the joint to that of a frame from
// which the joint is seen at l.
static void displacement(sn_vec3 l, double D[6][6]) {
    sn_mat3 cross = sn_cross_matrix(l);
    memset(D, 0, sizeof(double[6][6]));
    for (int r = 0; r < 6; r++) {
        D[r][r] = 1;
    }

    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            D[3 + r][c] = cross.m[r][c];
        }
    }
}

// Computes K of a joint: minus the symmetric part of D(l_j)' B D(l_i), B being the block (j, i) of
// the stiffness, rotations before translations.
static void compute_joint(const double *stiffness, sn_spring *spring) {
    const int32_t at[2][2] = {{spring->slot[3], spring->slot[4]},
                              {spring->slot[6], spring->slot[7]}};
    double Di[6][6], Dj[6][6];
    double M[6][6] = {{0}};
    double K[36];

    // M = D(l_j)' B D(l_i)
    displacement(spring->li, Di);
    displacement(spring->lj, Dj);
    for (int k = 0; k < 6; k++) {
        for (int l = 0; l < 6; l++) {
            double B = stiffness[9 * (size_t)at[k / 3][l / 3] + (size_t)(3 * (k % 3) + l % 3)];
            for (int r = 0; r < 6; r++) {
                for (int c = 0; c < 6; c++) {
                    M[r][c] += Dj[k][r] * B * Di[l][c];
                }
            }
        }
    }

    // K = -sym M
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 6; c++) {
            K[6 * r + c] = -0.5 * (M[r][c] + M[c][r]);
        }
    }

    split_signs(K, spring);
}

// Computes the lower triangle of the springs' stiffness at rest.
static void rest_stiffness(const sn_nodes *nodes, const sn_springs *springs, double *q,
                           double *matrix) {
    sn_nodes_place(nodes, q, sn_quat_identity(), sn_v3(0, 0, 0));
    sn_springs_request request = {.q = q, .matrix = matrix};
    springs->evaluate(nodes, springs, &request);
}

// Returns the Frobenius norm of A, or of A - B if B is not NULL, from the lower triangles.
static double norm_of(const sn_bsr *pattern, const double *A, const double *B) {
    double sum = 0;
    for (int32_t row = 0; row < pattern->rows; row++) {
        for (int32_t k = pattern->starts[row]; k <= pattern->diagonal[row]; k++) {
            double block = 0;
            for (size_t e = 9 * (size_t)k; e < 9 * (size_t)k + 9; e++) {
                double value = A[e] - (B ? B[e] : 0);
                block += value * value;
            }
            sum += k == pattern->diagonal[row] ? block : 2 * block;
        }
    }

    return sqrt(sum);
}

// Whether the whole matrix (lower triangle given) has an eigenvalue that is negative beyond
// rounding.
static bool is_indefinite(sinew_context *context, const sn_bsr *pattern, double *matrix,
                          double *dense) {
    size_t n = 3 * (size_t)pattern->rows;
    double largest = 0;

    sn_bsr_mirror(context, pattern, matrix);
    sn_bsr_to_dense(pattern, dense, matrix);
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, dense[i * n + i]);
    }

    for (size_t i = 0; i < n; i++) {
        dense[i * n + i] += 1e-8 * largest;
    }

    return sn_dense_cholesky(dense, (int32_t)n, (int32_t)n) >= 0;
}

sinew_status sn_springs_compute(sinew_context *context, const sn_nodes *nodes,
                                const sn_bsr *pattern, const double *stiffness,
                                sn_springs *springs) {
    size_t n = 3 * (size_t)pattern->rows;
    sn_arena scratch = sn_arena_create(context);
    double *q = SN_PUSH(&scratch, double, nodes->config_count);
    double *matrix = sn_bsr_push_values(&scratch, pattern);
    double *dense = SN_PUSH(&scratch, double, n *n);
    sinew_status status = sn_arena_status(&scratch);

    if (status == SINEW_OK) {
        // Joints one by one. Their sum may be indefinite although the stiffness they approximate is
        // not.
        for (int32_t k = 0; k < springs->count; k++) {
            compute_joint(stiffness, &springs->items[k]);
        }

        rest_stiffness(nodes, springs, q, matrix);
        springs->clamped = is_indefinite(context, pattern, matrix, dense);
        if (springs->clamped) { // unstable: drop the negative parts that make it so
            for (int32_t k = 0; k < springs->count; k++) {
                springs->items[k].weak_count = 0;
            }
        }

        // How far the springs are from the stiffness of the body at rest.
        sn_bsr_set_zero(context, pattern, matrix);
        rest_stiffness(nodes, springs, q, matrix);

        double size = norm_of(pattern, stiffness, NULL);
        springs->difference = size > 0 ? norm_of(pattern, matrix, stiffness) / size : 0;
    }

    sn_arena_destroy(&scratch);
    return status;
}
