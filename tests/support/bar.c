// Linear elasticity of a box split into tetrahedra (six to a cube, around its diagonal), assembled
// directly.
#include "support/bar.h"

#include "base/random.h"
#include "math/mat3.h"

#include <string.h>

test_bar_def test_default_bar(int32_t n) {
    return (test_bar_def){.cells = {4 * n, n, n},
                          .size = {1, 0.25, 0.25},
                          .young = 1e6,
                          .poisson = 0.3,
                          .density = 1000,
                          .stiff_ratio = 1};
}

// K_ij = V (lambda g_i g_j' + mu g_j g_i' + mu (g_i . g_j) I) with the gradients g of the shape
// functions.
static void add_tet(test_bar *bar, const int32_t *tet, double young, double poisson,
                    double density) {
    sn_vec3 X[4];
    for (int a = 0; a < 4; a++) {
        X[a] = sn_load3(bar->positions + 3 * tet[a]);
    }

    sn_mat3 Dm = sn_mat3_columns(sn_sub(X[1], X[0]), sn_sub(X[2], X[0]), sn_sub(X[3], X[0]));
    double V = sn_mat3_det(Dm) / 6;

    SN_ASSERT(V > 0);
    sn_mat3 B = sn_mat3_inverse(Dm);
    sn_vec3 g[4] = {{0, 0, 0}, sn_load3(B.m[0]), sn_load3(B.m[1]), sn_load3(B.m[2])};

    g[0] = sn_scale(-1, sn_add(g[1], sn_add(g[2], g[3])));
    double mu = young / (2 * (1 + poisson));
    double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));

    for (int a = 0; a < 4; a++) {
        for (int c = 0; c < 3; c++) {
            bar->mass[3 * tet[a] + c] += density * V / 4;
        }

        for (int b = 0; b < 4; b++) {
            sn_mat3 K = sn_mat3_add(sn_mat3_scale(lambda, sn_outer(g[a], g[b])),
                                    sn_mat3_scale(mu, sn_outer(g[b], g[a])));
            for (int c = 0; c < 3; c++) {
                K.m[c][c] += mu * sn_dot(g[a], g[b]);
            }

            double *block = bar->stiffness + 9 * (size_t)sn_bsr_find(&bar->pattern, tet[a], tet[b]);
            for (int c = 0; c < 9; c++) {
                block[c] += V * K.m[c / 3][c % 3];
            }
        }
    }
}

static void number_nodes(int32_t *number, int32_t count, bool shuffle) {
    sn_random random = sn_random_seed(7);
    for (int32_t i = 0; i < count; i++) {
        number[i] = i;
    }

    if (shuffle) {
        for (int32_t i = count - 1; i > 0; i--) {
            int32_t j = (int32_t)(sn_random_u32(&random) % (uint32_t)(i + 1));
            int32_t swap = number[i];
            number[i] = number[j];
            number[j] = swap;
        }
    }
}

static void fill_mesh(test_bar *bar, const test_bar_def *def, const int32_t *number) {
    const int32_t *n = def->cells;

    // The six paths from corner 000 to corner 111 along the edges of the cube; odd ones are
    // reversed.
    static const int path[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int odd[6] = {0, 1, 1, 0, 0, 1};
    int32_t stride[3] = {(n[1] + 1) * (n[2] + 1), n[2] + 1, 1};
    int32_t *tet = bar->indices;

    for (int32_t i = 0; i <= n[0]; i++) {
        for (int32_t j = 0; j <= n[1]; j++) {
            for (int32_t k = 0; k <= n[2]; k++) {
                int32_t corner = i * stride[0] + j * stride[1] + k;
                int32_t at[3] = {i, j, k};
                for (int c = 0; c < 3; c++) {
                    bar->positions[3 * number[corner] + c] = def->size[c] * at[c] / n[c];
                }

                if (i == 0) {
                    memset(bar->clamped + 3 * number[corner], 1, 3);
                }
                if (i == n[0] || j == n[1] || k == n[2]) {
                    continue;
                }

                for (int p = 0; p < 6; p++, tet += 4) {
                    int32_t walk = corner;
                    tet[0] = number[walk];
                    for (int s = 0; s < 3; s++) {
                        tet[s + 1] = number[walk += stride[path[p][s]]];
                    }

                    if (odd[p]) {
                        int32_t swap = tet[1];
                        tet[1] = tet[2];
                        tet[2] = swap;
                    }
                }
            }
        }
    }
}

sinew_status test_bar_create(sn_arena *arena, const test_bar_def *def, test_bar *bar) {
    const int32_t *n = def->cells;
    *bar =
        (test_bar){.nodes = (n[0] + 1) * (n[1] + 1) * (n[2] + 1), .tets = 6 * n[0] * n[1] * n[2]};
    bar->positions = SN_PUSH(arena, double, 3 * bar->nodes);
    bar->mass = SN_PUSH(arena, double, 3 * bar->nodes);
    bar->clamped = SN_PUSH(arena, uint8_t, 3 * bar->nodes);
    bar->indices = SN_PUSH(arena, int32_t, 4 * bar->tets);

    int32_t *number = SN_PUSH(arena, int32_t, bar->nodes);
    SN_TRY(sn_arena_status(arena));
    number_nodes(number, bar->nodes, def->shuffle);
    fill_mesh(bar, def, number);

    sn_bsr_sets tets = {.count = bar->tets, .width = 4, .members = bar->indices};
    SN_TRY(sn_bsr_build(arena, bar->nodes, &tets, 1, &bar->pattern));
    bar->stiffness = sn_bsr_push_values(arena, &bar->pattern);
    SN_TRY(sn_arena_status(arena));

    for (int32_t t = 0; t < bar->tets; t++) {
        double young = def->young * (t / 6 % 2 ? def->stiff_ratio : 1);
        add_tet(bar, bar->indices + 4 * t, young, def->poisson, def->density);
    }

    return SINEW_OK;
}

void test_bar_matrix(sinew_context *context, const test_bar *bar, double h, bool clamp, double *A) {
    sn_bsr_scale(context, &bar->pattern, A, h > 0 ? h * h : 1, bar->stiffness);
    if (h > 0) {
        sn_bsr_add_diagonal(context, &bar->pattern, A, 1, bar->mass);
    }
    if (clamp) {
        sn_bsr_constrain(context, &bar->pattern, A, bar->clamped);
    }
}
