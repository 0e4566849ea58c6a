// The loops over unknowns with 4 to 16 functions at once, compared with plain loops, in every
// instruction set.
#include "support/test.h"

#include "field/rows.h"
#include "field/slopes.h"
#include "math/simd.h"

enum { N = 37, MOST = 6, WIDTH = SN_ROW_WIDTH, COUNT = N * SN_ROW_MAX_WIDTH };

typedef struct fixture {
    sn_sparse A;
    int32_t starts[N + 1], indices[N * MOST];
    double values[N * MOST], factors[N];
    double x[COUNT] SN_ALIGNED, b[COUNT] SN_ALIGNED, y[COUNT] SN_ALIGNED, z[COUNT] SN_ALIGNED;
} fixture;

static void fill(double *values, int32_t count, sn_random *random) {
    for (int32_t k = 0; k < count; k++) {
        values[k] = sn_random_range(random, -1, 1);
    }
}

// A random matrix with rows of 0 to MOST entries.
static void make_fixture(fixture *f) {
    sn_random random = sn_random_seed(3);
    for (int32_t i = 0; i < N; i++) {
        f->starts[i + 1] = f->starts[i] + i % (MOST + 1);
        for (int32_t k = f->starts[i]; k < f->starts[i + 1]; k++) {
            f->indices[k] = (int32_t)(sn_random_u32(&random) % N);
            f->values[k] = sn_random_range(&random, -1, 1);
        }
    }

    f->A = (sn_sparse){
        .rows = N, .columns = N, .starts = f->starts, .indices = f->indices, .values = f->values};
    fill(f->factors, N, &random);
    fill(f->x, COUNT, &random);
    fill(f->b, COUNT, &random);
    fill(f->y, COUNT, &random);
    fill(f->z, COUNT, &random);
}

static void multiply_plain(const fixture *f, int32_t width, double *product) {
    for (int32_t i = 0; i < N; i++) {
        for (int32_t c = 0; c < width; c++) {
            double sum = 0;
            for (int32_t k = f->starts[i]; k < f->starts[i + 1]; k++) {
                sum += f->values[k] * f->x[width * f->indices[k] + c];
            }
            product[width * i + c] = sum;
        }
    }
}

static void check_products(const sn_row_kernels *kernels, int32_t quads) {
    int32_t width = WIDTH * quads;
    int32_t count = N * width;
    sn_range_fn *loops[3] = {kernels->multiply, kernels->weigh, kernels->subtract};

    for (int loop = 0; loop < 3; loop++) {
        fixture f = {0};
        make_fixture(&f);

        double product[COUNT], wanted[COUNT];
        multiply_plain(&f, width, product);
        for (int32_t k = 0; k < count; k++) {
            double cases[3] = {product[k], f.factors[k / width] * product[k], f.b[k] - product[k]};
            wanted[k] = cases[loop];
        }

        sn_row_job job = {
            .quads = quads, .A = &f.A, .x = f.x, .b = f.b, .factors = f.factors, .y = f.y};

        loops[loop](&job, 0, N, 0);
        assert_true(test_relative_error(f.y, wanted, (size_t)count) < 1e-14);
    }
}

static void check_vectors(const sn_row_kernels *kernels, int32_t quads) {
    int32_t width = WIDTH * quads;
    int32_t count = N * width;
    fixture f = {0};

    make_fixture(&f);
    double scale[SN_ROW_MAX_WIDTH], advanced[2][COUNT], turned[COUNT], sums[SN_ROW_MAX_WIDTH] = {0};

    for (int32_t c = 0; c < SN_ROW_MAX_WIDTH; c++) {
        scale[c] = 0.5 * (c % 7) - 1;
    }

    for (int32_t k = 0; k < count; k++) {
        advanced[0][k] = f.y[k] + scale[k % width] * f.x[k];
        advanced[1][k] = f.z[k] - scale[k % width] * f.b[k];
        turned[k] = f.x[k] + scale[k % width] * advanced[0][k];
        sums[k % width] += f.x[k] * f.b[k];
    }

    double found[2 * SN_ROW_MAX_WIDTH] SN_ALIGNED = {0};
    sn_row_job job = {.quads = quads, .x = f.x, .b = f.b, .y = f.y, .z = f.z, .sums = found};

    memcpy(job.scale, scale, sizeof scale);
    kernels->dot(&job, 0, N, 1);
    assert_true(test_relative_error(found + width, sums, (size_t)width) < 1e-14);
    kernels->advance(&job, 0, N, 0);
    assert_true(test_relative_error(f.y, advanced[0], (size_t)count) < 1e-14);
    assert_true(test_relative_error(f.z, advanced[1], (size_t)count) < 1e-14);
    kernels->scale_add(&job, 0, N, 0);
    assert_true(test_relative_error(f.y, turned, (size_t)count) < 1e-14);
}

// The loops in single precision compared with plain ones in double, up to a few of the last digits.
static void check_narrow(const sn_narrow_kernels *kernels, int32_t quads) {
    int32_t width = WIDTH * quads;
    int32_t count = N * width;
    static float values[N * MOST], factors[N], x[COUNT] SN_ALIGNED, b[COUNT] SN_ALIGNED,
        y[COUNT] SN_ALIGNED;
    sn_range_fn *loops[7] = {kernels->multiply, kernels->add,    kernels->subtract, kernels->weigh,
                             kernels->relax,    kernels->narrow, kernels->widen};

    for (int loop = 0; loop < 7; loop++) {
        fixture f = {0};
        make_fixture(&f);
        for (int32_t k = 0; k < f.starts[N]; k++) {
            values[k] = (float)f.values[k];
        }

        for (int32_t i = 0; i < N; i++) {
            factors[i] = (float)f.factors[i];
        }

        for (int32_t k = 0; k < count; k++) {
            x[k] = (float)f.x[k];
            b[k] = (float)f.b[k];
            y[k] = (float)f.y[k];
        }

        double product[COUNT], wanted[COUNT], found[COUNT];
        multiply_plain(&f, width, product);
        for (int32_t k = 0; k < count; k++) {
            double factor = 0.7 * f.factors[k / width];
            double cases[7] = {product[k],
                               f.y[k] + product[k],
                               f.b[k] - product[k],
                               factor * f.b[k],
                               f.x[k] + factor * (f.b[k] - product[k]),
                               f.z[k],
                               f.x[k]};
            wanted[k] = cases[loop];
        }

        sn_narrow A = {N, N, f.starts, f.indices, values};
        sn_narrow_job job = {quads, &A, x, b, factors, y, 0.7F, f.z, f.y};

        loops[loop](&job, 0, N, 0);
        for (int32_t k = 0; k < count; k++) {
            found[k] = loop == 6 ? f.y[k] : (double)y[k];
        }

        assert_true(test_relative_error(found, wanted, (size_t)count) < 1e-6);
    }
}

// Edges, slopes, drifts and products of eight functions, each loop applied to the output of the
// previous one.
static void check_slopes(const sn_slope_kernels *kernels) {
    enum { WIDE = 2 * WIDTH };
    fixture f = {0};

    make_fixture(&f);
    static double x[WIDE * N] SN_ALIGNED, edges[3 * WIDE * N] SN_ALIGNED,
        slopes[3 * WIDE * N] SN_ALIGNED;
    static double drift[WIDE * N] SN_ALIGNED, b[WIDE * N] SN_ALIGNED, before[WIDE * N],
        inverse_degrees[N];

    sn_vec3 positions[N], drifts[N];
    sn_mat3 moments[N];
    sn_random random = sn_random_seed(9);

    // Random input, and the five loops one after the other.
    fill(x, WIDE * N, &random);
    fill(b, WIDE * N, &random);
    fill(&positions[0].x, 3 * N, &random);
    fill(&drifts[0].x, 3 * N, &random);
    fill(&moments[0].m[0][0], 9 * N, &random);
    fill(inverse_degrees, N, &random);
    memcpy(before, b, sizeof b);

    sn_slope_job job = {&f.A, &f.A, positions, drifts, moments, inverse_degrees,
                        WIDE, x,    edges,     slopes, drift,   b};
    sn_range_fn *loops[5] = {kernels->sum_edges, kernels->compute_slopes, kernels->weigh_drifts,
                             kernels->add_drifts, kernels->subtract};

    for (int k = 0; k < 5; k++) {
        loops[k](&job, 0, N, 0);
    }

    // Each stage from the computed input of the previous one.
    for (int32_t i = 0; i < N; i++) {
        for (int c = 0; c < WIDE; c++) {
            size_t place =
                3 * ((size_t)(WIDE * i) + (size_t)(c / WIDTH * WIDTH)) + (size_t)(c % WIDTH);
            sn_vec3 sum = {0};
            sn_vec3 own = {edges[place], edges[place + WIDTH], edges[place + 2 * WIDTH]};
            sn_vec3 total = {0};
            double product = before[WIDE * i + c];

            for (int32_t k = f.starts[i]; k < f.starts[i + 1]; k++) {
                int32_t j = f.indices[k];
                size_t there = place + 3 * (size_t)WIDE * (size_t)j - 3 * (size_t)WIDE * (size_t)i;
                sum = sn_madd(sum, -f.values[k] * (x[WIDE * j + c] - x[WIDE * i + c]),
                              sn_sub(positions[j], positions[i]));
                total = sn_add(total,
                               sn_v3(edges[there], edges[there + WIDTH], edges[there + 2 * WIDTH]));
                product += f.values[k] * (drift[WIDE * j + c] - x[WIDE * j + c]);
            }

            sn_vec3 slope = {slopes[place], slopes[place + WIDTH], slopes[place + 2 * WIDTH]};
            assert_true(sn_distance(own, sum) < 1e-13);
            assert_true(sn_distance(slope, sn_mat3_apply(moments[i], total)) < 1e-12);
            test_close("drift", drift[WIDE * i + c], -inverse_degrees[i] * sn_dot(drifts[i], slope),
                       1e-12);
            test_close("product", b[WIDE * i + c], product, 1e-12);
        }
    }
}

static void test_loops(void **state) {
    (void)state;
    for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        const sn_row_kernels *kernels = SN_ISA_PICK(isa, sn_row_get_kernels)();
        for (int32_t quads = 1; quads <= SN_ROW_MAX_QUADS; quads++) {
            check_products(kernels, quads);
            check_vectors(kernels, quads);
            check_narrow(SN_ISA_PICK(isa, sn_narrow_get_kernels)(), quads);
        }

        check_slopes(SN_ISA_PICK(isa, sn_slope_get_kernels)());
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
