// The parts of pcg-ic and pcg-multigrid one by one: the packed matrix, the incomplete factor, the
// coarse level; on one domain and on several, with every instruction set of this machine.
#include "support/bar.h"
#include "support/test.h"

#include "linalg/coarse.h"
#include "linalg/ic.h"
#include "linalg/kernels.h"
#include "linalg/packed.h"
#include "linalg/vector.h"
#include "math/vec.h"

#include <math.h>

// A bar of 18785 nodes, enough for two domains.
enum { DOMAINS = 16 };

typedef struct fixture {
    sinew_context *context;
    sn_arena arena;
    test_bar bar;
    sn_packed packed;
    double *A;
    int32_t count; // doubles of a packed vector
} fixture;

static fixture make_fixture(int32_t n, double h, bool clamp) {
    fixture f = {.context = test_context(1)};
    f.arena = sn_arena_create(f.context);

    test_bar_def def = test_default_bar(n);
    def.shuffle = true;
    assert_int_equal(test_bar_create(&f.arena, &def, &f.bar), SINEW_OK);
    f.A = sn_bsr_push_values(&f.arena, &f.bar.pattern);
    test_bar_matrix(f.context, &f.bar, h, clamp, f.A);
    assert_int_equal(sn_packed_build(&f.arena, &f.bar.pattern, &f.packed), SINEW_OK);
    sn_packed_update(f.context, &f.packed, f.A);
    f.count = 4 * f.bar.nodes;

    return f;
}

static void drop_fixture(fixture *f) {
    sn_arena_destroy(&f->arena);
    sinew_context_destroy(f->context);
}

static double *random_packed(fixture *f, uint64_t seed) {
    double *x = SN_PUSH(&f->arena, double, f->count);
    assert_non_null(x);
    sn_random random = sn_random_seed(seed);

    for (int32_t k = 0; k < f->count; k++) {
        x[k] = k % 4 == 3 ? 0 : sn_random_range(&random, -1, 1);
    }

    return x;
}

static int32_t part_of(const sn_packed *packed, int32_t row) {
    int32_t part = 0;
    while (row >= packed->part_starts[part + 1]) {
        part++;
    }
    return part;
}

// Blocks are stored once within a chunk and twice between chunks; domains couple with separators
// only.
static void test_parts_and_chunks(void **state) {
    (void)state;
    const int32_t sizes[] = {2, 10, DOMAINS};
    for (int s = 0; s < 3; s++) {
        fixture f = make_fixture(sizes[s], 0.01, false);
        const sn_packed *packed = &f.packed;

        assert_int_equal(packed->domains > 1, sizes[s] == DOMAINS);
        assert_int_equal(packed->chunks > 1, sizes[s] > 2);
        for (int32_t part = 0; part < packed->parts; part++) {
            assert_true(packed->part_starts[part + 1] > packed->part_starts[part]);
        }

        int32_t blocks = 0;
        for (int32_t i = 0; i < packed->rows; i++) {
            int32_t chunk = i / packed->chunk_rows;
            int32_t part = part_of(packed, i);
            for (int32_t k = packed->starts[i]; k < packed->starts[i + 1]; k++) {
                int32_t j = packed->columns[k] / 4;
                bool inside = j / packed->chunk_rows == chunk;

                assert_int_equal(inside, k >= packed->lower[i]);
                assert_int_equal(j > i, k < packed->below[i]);
                if (k > packed->below[i]) {
                    assert_true(packed->columns[k] > packed->columns[k - 1]);
                }
                if (part_of(packed, j) != part) {
                    assert_int_equal(part < packed->domains, part_of(packed, j) >= packed->domains);
                }

                blocks += inside && j < i ? 2 : 1;
            }

            assert_int_equal(packed->columns[packed->starts[i + 1] - 1], 4 * i);
        }

        assert_int_equal(blocks, f.bar.pattern.blocks);
        drop_fixture(&f);
    }
}

static void test_products_agree(void **state) {
    (void)state;
    for (int32_t n = 2; n <= 10; n += 8) {
        fixture f = make_fixture(n, 0.01, true);
        int32_t size = 3 * f.bar.nodes;
        double *x = SN_PUSH(&f.arena, double, size);
        double *expected = SN_PUSH(&f.arena, double, size);
        double *y = SN_PUSH(&f.arena, double, size);
        double *packed_x = random_packed(&f, 1);
        double *packed_y = random_packed(&f, 2);

        sn_packed_scatter(x, &f.packed, 1, packed_x);
        sn_bsr_multiply(f.context, &f.bar.pattern, expected, f.A, x);
        for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
            if (!sn_isa_available(isa)) {
                continue;
            }

            double dot = 0;
            for (int32_t chunk = 0; chunk < f.packed.chunks; chunk++) {
                dot += sn_linalg_kernels_for(isa)->packed_multiply(packed_y, &f.packed, packed_x,
                                                                   chunk);
            }

            for (int32_t k = 3; k < f.count; k += 4) {
                assert_true(packed_y[k] == 0);
            }

            sn_packed_scatter(y, &f.packed, 1, packed_y);
            assert_true(test_relative_error(y, expected, (size_t)size) < 1e-14);
            test_close("x'y", dot / sn_vector_dot(f.context, size, x, expected), 1, 1e-12);

            // The plain matrix by rows, too.
            sn_linalg_kernels_for(isa)->bsr_multiply(y, f.bar.pattern.starts, f.bar.pattern.columns,
                                                     f.A, x, 0, f.bar.nodes);
            assert_true(test_relative_error(y, expected, (size_t)size) < 1e-14);
        }

        sn_packed_gather(packed_y, &f.packed, 2, x);
        for (int32_t k = 0; k < f.count; k++) {
            assert_true(packed_y[k] == 2 * packed_x[k]);
        }

        drop_fixture(&f);
    }
}

static void test_vector_kernels_agree(void **state) {
    (void)state;
    enum { N = 37 };

    double x[N], y[N], p[N], q[N];
    for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        const sn_linalg_kernels *kernels = sn_linalg_kernels_for(isa);
        for (int n = 0; n <= N; n++) {
            double dot = 0, rest = 0;
            for (int k = 0; k < N; k++) {
                x[k] = cos(k);
                y[k] = sin(2 * k);
                p[k] = k;
                q[k] = 1.0 / (k + 1);

                if (k < n) {
                    dot += x[k] * y[k];
                }
                if (k < n) {
                    rest += pow(y[k] - 0.5 * q[k], 2);
                }
            }

            test_close("dot", kernels->dot(x, y, n), dot, 1e-13);
            test_close("rest", kernels->cg_advance(x, y, 0.5, p, q, n), rest, 1e-13);
            kernels->add_scaled(p, 2, q, n);

            for (int k = 0; k < N; k++) {
                test_close("x", x[k], cos(k) + (k < n ? 0.5 * k : 0), 1e-13);
                test_close("r", y[k], sin(2 * k) - (k < n ? 0.5 * q[k] : 0), 1e-13);
                test_close("p", p[k], k + (k < n ? 2 * q[k] : 0), 1e-13);
            }

            kernels->scale_add(q, 3, x, n);
            for (int k = 0; k < N; k++) {
                test_close("q", q[k], k < n ? x[k] + 3.0 / (k + 1) : 1.0 / (k + 1), 1e-12);
            }
        }
    }
}

// A chain has no fill, so that its incomplete factor is the complete one, but for single precision.
static void test_incomplete_factor_of_a_chain_is_exact(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);

    enum { N = 50 };

    // A chain of nodes in scrambled order.
    int32_t members[2 * (N - 1)];
    for (int i = 0; i + 1 < N; i++) {
        members[2 * i] = (i * 7) % N;
        members[2 * i + 1] = ((i + 1) * 7) % N;
    }

    sn_bsr_sets sets = {.count = N - 1, .width = 2, .members = members};
    sn_bsr pattern;

    assert_int_equal(sn_bsr_build(&arena, N, &sets, 1, &pattern), SINEW_OK);

    // Random blocks, positive definite by their diagonal.
    double *A = sn_bsr_push_values(&arena, &pattern);
    sn_random random = sn_random_seed(4);

    for (int32_t i = 0; i < N; i++) {
        for (int32_t k = pattern.starts[i]; k <= pattern.diagonal[i]; k++) {
            for (int c = 0; c < 9; c++) {
                A[9 * k + c] = sn_random_range(&random, -1, 1);
            }
        }

        double *D = A + 9 * pattern.diagonal[i];
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < r; c++) {
                D[3 * c + r] = D[3 * r + c];
            }
            D[4 * r] += 6;
        }
    }

    sn_bsr_mirror(context, &pattern, A);
    sn_packed packed;
    sn_ic ic;

    assert_int_equal(sn_packed_build(&arena, &pattern, &packed), SINEW_OK);
    assert_int_equal(sn_ic_build(&arena, &packed, &ic), SINEW_OK);
    sn_packed_update(context, &packed, A);
    _Alignas(64) double x[4 * N], b[4 * N], z[4 * N];

    // A right-hand side with a known solution.
    for (int k = 0; k < 4 * N; k++) {
        x[k] = k % 4 == 3 ? 0 : cos(k);
    }

    sn_packed_multiply(context, b, &packed, x);

    // The factor solves exactly, in every instruction set.
    for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        const sn_linalg_kernels *kernels = sn_linalg_kernels_for(isa);
        assert_int_equal(kernels->ic_factor(&ic, 0, 0), -1);
        kernels->ic_forward(z, &ic, b, 0);

        double dot = kernels->ic_backward(z, &ic, b, 0);
        double expected = 0;

        assert_true(test_relative_error(z, x, 4 * N) < 1e-5);
        for (int k = 0; k < 4 * N; k++) {
            expected += b[k] * z[k];
        }

        test_close("r'z", dot, expected, 1e-12 * fabs(expected));
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

// The preconditioner must be symmetric and positive, across domains as well, and the same with
// every instruction set.
static void test_incomplete_factor_is_symmetric(void **state) {
    (void)state;
    fixture f = make_fixture(DOMAINS, 0.01, true);

    assert_true(f.packed.domains > 1);
    sn_ic ic;

    assert_int_equal(sn_ic_build(&f.arena, &f.packed, &ic), SINEW_OK);
    sn_ic_report report = sn_ic_update(f.context, &ic);

    assert_int_equal(report.row, -1);
    assert_true(report.shift == 0);

    double *x = random_packed(&f, 5);
    double *y = random_packed(&f, 6);
    double *Mx = random_packed(&f, 7);
    double *My = random_packed(&f, 8);
    double xMx = sn_ic_apply(f.context, Mx, &ic, x);
    double yMy = sn_ic_apply(f.context, My, &ic, y);
    double xMy = sn_vector_dot(f.context, f.count, x, My);
    double yMx = sn_vector_dot(f.context, f.count, y, Mx);

    assert_true(xMx > 0 && yMy > 0);
    test_close("symmetry", (xMy - yMx) / sqrt(xMx * yMy), 0, 1e-12);
    test_close("dot", sn_vector_dot(f.context, f.count, x, Mx) / xMx, 1, 1e-12);

    // One application removes most of the error: x'A M A x is close to x'A x for M close to A^-1.
    double *Ax = random_packed(&f, 9);
    double *MAx = random_packed(&f, 10);
    double xAx = sn_packed_multiply(f.context, Ax, &f.packed, x);
    double xAMAx = sn_ic_apply(f.context, MAx, &ic, Ax);

    assert_in_range((int)(10 * xAMAx / xAx), 7, 14);
    drop_fixture(&f);
}

// A matrix on which the plain incomplete factor breaks down although it is positive definite
// (Kershaw 1978), three copies of it.
static void test_breakdown_is_shifted_away(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    const int32_t members[] = {0, 1, 1, 2, 2, 3, 3, 0};
    const double kershaw[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
    sn_bsr_sets sets = {.count = 4, .width = 2, .members = members};
    sn_bsr pattern;

    assert_int_equal(sn_bsr_build(&arena, 4, &sets, 1, &pattern), SINEW_OK);
    double *A = sn_bsr_push_values(&arena, &pattern);
    for (int32_t i = 0; i < 4; i++) {
        for (int32_t k = pattern.starts[i]; k < pattern.starts[i + 1]; k++) {
            for (int c = 0; c < 3; c++) {
                A[9 * k + 4 * c] = kershaw[i][pattern.columns[k]];
            }
        }
    }

    sn_packed packed;
    sn_ic ic;

    assert_int_equal(sn_packed_build(&arena, &pattern, &packed), SINEW_OK);
    assert_int_equal(sn_ic_build(&arena, &packed, &ic), SINEW_OK);
    sn_packed_update(context, &packed, A);

    sn_ic_report report = sn_ic_update(context, &ic);
    assert_int_equal(report.row, -1);
    assert_true(report.shift > 0 && report.shift < 10);
    _Alignas(64) double r[16] = {1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 1, 2, 3, 0};
    _Alignas(64) double z[16];
    assert_true(sn_ic_apply(context, z, &ic, r) > 0);
    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

// P (P'AP)^-1 P'A leaves every motion of the coarse space as it is, and rigid motions of the whole
// belong to it.
static void test_coarse_level_holds_rigid_motions(void **state) {
    (void)state;
    for (int clamp = 0; clamp < 2; clamp++) {
        fixture f = make_fixture(10, 0.01, clamp);
        sn_coarse coarse;

        assert_int_equal(sn_coarse_build(&f.arena, &f.bar.pattern, &f.packed, &coarse), SINEW_OK);
        assert_true(coarse.frames > 8);
        sn_coarse_update(f.context, &coarse, f.bar.positions);
        assert_true(coarse.usable);

        double *u = random_packed(&f, 11);
        double *r = random_packed(&f, 12);
        double *z = random_packed(&f, 13);

        for (int mode = 0; mode < 6; mode++) {
            for (int32_t i = 0; i < f.packed.rows; i++) {
                int32_t row = f.packed.order[i];
                sn_vec3 axis = {mode % 3 == 0, mode % 3 == 1, mode % 3 == 2};
                sn_vec3 X = sn_load3(f.bar.positions + 3 * row);
                sn_vec3 motion = mode < 3 ? axis : sn_cross(axis, X);

                // Clamped rows do not move, and neither does the coarse space there.
                if (clamp && f.bar.clamped[3 * row]) {
                    motion = sn_v3(0, 0, 0);
                }

                sn_store3(u + 4 * i, motion);
                u[4 * i + 3] = 0;
            }

            sn_packed_multiply(f.context, r, &f.packed, u);
            memset(z, 0, (size_t)f.count * sizeof *z);

            double addition = sn_coarse_solve(&coarse, r);
            sn_coarse_move(f.context, z, &coarse);
            // Weights in single precision, diagonal raised by 1e-9.
            assert_true(test_relative_error(z, u, (size_t)f.count) < 1e-5);
            test_close("r'z", addition / sn_vector_dot(f.context, f.count, r, z), 1, 1e-6);
        }

        // Without positions: translations alone.
        sn_coarse_update(f.context, &coarse, NULL);
        assert_true(coarse.usable);
        drop_fixture(&f);
    }
}

static void test_coarse_kernels_agree(void **state) {
    (void)state;
    fixture f = make_fixture(6, 0.01, true);
    sn_coarse coarse;

    assert_int_equal(sn_coarse_build(&f.arena, &f.bar.pattern, &f.packed, &coarse), SINEW_OK);
    sn_coarse_update(f.context, &coarse, f.bar.positions);

    double *r = random_packed(&f, 14);
    double *z[SN_ISA_COUNT], *sums[SN_ISA_COUNT], *partial[SN_ISA_COUNT];
    for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        const sn_linalg_kernels *kernels = sn_linalg_kernels_for(isa);
        size_t motion_count = 8 * (size_t)coarse.frames;
        size_t pair_count = 48 * (size_t)coarse.pairs;

        z[isa] = SN_PUSH(&f.arena, double, f.count);
        sums[isa] = SN_PUSH(&f.arena, double, motion_count);
        partial[isa] = SN_PUSH(&f.arena, double, pair_count);
        assert_int_equal(sn_arena_status(&f.arena), SINEW_OK);
        kernels->coarse_restrict(sums[isa], &coarse, r, 0);
        kernels->coarse_prolong(z[isa], &coarse, sums[isa], 0);
        kernels->coarse_assemble(partial[isa], 0, coarse.products, &coarse, 0, f.bar.nodes);
        assert_true(test_relative_error(sums[isa], sums[0], motion_count) < 1e-13);
        assert_true(test_relative_error(z[isa], z[0], (size_t)f.count) < 1e-13);
        assert_true(test_relative_error(partial[isa], partial[0], pair_count) < 1e-13);
    }

    drop_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_and_chunks),
        cmocka_unit_test(test_products_agree),
        cmocka_unit_test(test_vector_kernels_agree),
        cmocka_unit_test(test_incomplete_factor_of_a_chain_is_exact),
        cmocka_unit_test(test_incomplete_factor_is_symmetric),
        cmocka_unit_test(test_breakdown_is_shifted_away),
        cmocka_unit_test(test_coarse_level_holds_rigid_motions),
        cmocka_unit_test(test_coarse_kernels_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
