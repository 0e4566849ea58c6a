// The sparse factor: substitution of four right-hand sides compared with a plain one in every
// instruction set, and partial updates.
#include "support/test.h"

#include "linalg/kernels.h"
#include "linalg/supernodal.h"
#include "math/simd.h"

#include <math.h>
#include <stdlib.h>

// ---- Substitution -------------------------------------------------------------------------------

enum { MOST = 35, SPACE = 3 * MOST };

typedef struct supernode {
    int32_t columns, below, first;
    int32_t rows[MOST];
    float panel[2 * MOST * MOST];
} supernode;

// A random supernode in the middle of other unknowns, its rows ascending with gaps.
static void make_supernode(supernode *s, int32_t columns, int32_t below, sn_random *random) {
    *s = (supernode){.columns = columns, .below = below, .first = 2};
    for (int32_t p = 0; p < below; p++) {
        s->rows[p] = s->first + columns + p + p / 3;
    }

    for (int32_t k = 0; k < columns * (columns + below); k++) {
        s->panel[k] = (float)sn_random_range(random, -1, 1);
    }

    for (int32_t i = 0; i < columns; i++) {
        s->panel[i * columns + i] = (float)(4 + i % 3);
    }
}

static void forward(const supernode *s, double *x, int c) {
    for (int32_t i = 0; i < s->columns + s->below; i++) {
        double *xi = x + 4 * (i < s->columns ? s->first + i : s->rows[i - s->columns]) + c;
        int32_t known = i < s->columns ? i : s->columns;
        for (int32_t j = 0; j < known; j++) {
            *xi -= (double)s->panel[i * s->columns + j] * x[4 * (s->first + j) + c];
        }

        if (i < s->columns) {
            *xi /= (double)s->panel[i * s->columns + i];
        }
    }
}

static void backward(const supernode *s, double *x, int c) {
    for (int32_t j = s->columns; j-- > 0;) {
        double *xj = x + 4 * (s->first + j) + c;
        for (int32_t i = j + 1; i < s->columns + s->below; i++) {
            *xj -= (double)s->panel[i * s->columns + j] *
                   x[4 * (i < s->columns ? s->first + i : s->rows[i - s->columns]) + c];
        }
        *xj /= (double)s->panel[j * s->columns + j];
    }
}

static void test_substitution(void **state) {
    (void)state;
    static supernode s;
    sn_random random = sn_random_seed(5);

    for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        const sn_linalg_kernels *kernels = sn_linalg_kernels_for(isa);
        for (int32_t columns = 1; columns <= MOST; columns++) {
            for (int32_t below = 0; below <= MOST; below += 1 + below / 12) {
                double x[4 * SPACE] SN_ALIGNED, wanted[4 * SPACE];
                make_supernode(&s, columns, below, &random);
                for (int k = 0; k < 4 * SPACE; k++) {
                    wanted[k] = x[k] = sn_random_range(&random, -1, 1);
                }

                kernels->four_forward(x, s.panel, columns, s.first, s.rows, below);
                for (int c = 0; c < 4; c++) {
                    forward(&s, wanted, c);
                }

                assert_true(test_relative_error(x, wanted, 4 * SPACE) < 1e-13);
                kernels->four_backward(x, s.panel, columns, s.first, s.rows, below);
                for (int c = 0; c < 4; c++) {
                    backward(&s, wanted, c);
                }

                assert_true(test_relative_error(x, wanted, 4 * SPACE) < 1e-13);
            }
        }
    }
}

// ---- Updates ------------------------------------------------------------------------------------

enum { SIDE = 7, NODES = SIDE * SIDE * SIDE };

// A Laplacian on a cube of nodes, shifted to be positive definite; `diagonal` receives the index of
// each diagonal entry.
static void make_cube(int32_t *starts, int32_t *columns, double *values, int32_t *diagonal) {
    int32_t entry = 0;
    static const int32_t steps[7] = {-SIDE * SIDE, -SIDE, -1, 0, 1, SIDE, SIDE * SIDE};
    for (int32_t i = 0; i < NODES; i++) {
        int32_t at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        starts[i] = entry;
        for (int k = 0; k < 7; k++) {
            int axis = k == 3 ? 0 : k < 3 ? 2 - k : k - 4;
            int to = at[axis] + (k > 3) - (k < 3);
            if (to < 0 || to >= SIDE) {
                continue;
            }
            if (k == 3) {
                diagonal[i] = entry;
            }

            columns[entry] = i + steps[k];
            values[entry++] = k == 3 ? 6.5 + 0.1 * sin(i) : -1 + 0.01 * cos(2 * i + steps[k]);
        }
    }

    starts[NODES] = entry;
}

// After a change of a few rows, an update of the dependent part gives the same factor, number by
// number, as a complete one.
static void test_update_of_a_part(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    static int32_t starts[NODES + 1], columns[7 * NODES], diagonal[NODES];
    static double values[7 * NODES];
    static bool changed[NODES];

    make_cube(starts, columns, values, diagonal);
    sn_supernodal part, whole;
    bool finite;

    assert_int_equal(sn_supernodal_build(&arena, NODES, 1, starts, columns, NULL, &part), SINEW_OK);
    assert_int_equal(sn_supernodal_build(&arena, NODES, 1, starts, columns, NULL, &whole),
                     SINEW_OK);
    assert_int_equal(sn_supernodal_update(&part, values, NULL, &finite), -1);

    for (int32_t round = 0; round < 5; round++) {
        memset(changed, 0, sizeof changed);
        for (int32_t k = 0; k < round; k++) {
            int32_t row = (37 * k + 101 * round) % NODES;
            values[diagonal[row]] += 0.5;
            changed[row] = true;
        }

        double before = part.values[part.value_count - 1];
        assert_int_equal(sn_supernodal_update(&part, values, changed, &finite), -1);
        assert_int_equal(sn_supernodal_update(&whole, values, NULL, &finite), -1);
        assert_memory_equal(part.values, whole.values, part.value_count * sizeof(double));

        int32_t stale = 0;
        for (int32_t t = 0; t < part.supernodes; t++) {
            stale += part.stale[t];
        }

        assert_true(round == 0 ? stale == 0 : stale > 0 && stale < part.supernodes / 2);
        // The root depends on every row.
        assert_true((part.values[part.value_count - 1] != before) == (round > 0));
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_substitution),
        cmocka_unit_test(test_update_of_a_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
