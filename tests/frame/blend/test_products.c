// Products with the stiffness of frame bodies equal those with the assembled matrix for every kind
// of node, blend, law and sampling, also while a frame fades in; runs and static solves by products
// equal direct ones; threads, allocations.
#include "support/frames.h"
#include "support/hash.h"
#include "support/points.h"

#include "body/body.h"
#include "dynamics/island.h"
#include "frame/body/frame_body.h"

#include <math.h>
#include <stdlib.h>

typedef struct bar_def {
    sinew_node_kind kinds[4];
    sinew_blend blend;
    const char *law;
    sinew_sampling sampling;
    sinew_integrator integrator;
    sinew_solver solver;
    double stiffness_damping;
    bool axis; // weights along x
} bar_def;

static const sinew_node_kind kinds[][4] = {
    {SINEW_NODE_POINT, SINEW_NODE_POINT, SINEW_NODE_POINT, SINEW_NODE_POINT},
    {SINEW_NODE_RIGID, SINEW_NODE_RIGID, SINEW_NODE_RIGID, SINEW_NODE_RIGID},
    {SINEW_NODE_AFFINE, SINEW_NODE_AFFINE, SINEW_NODE_AFFINE, SINEW_NODE_AFFINE},
    {SINEW_NODE_QUADRATIC, SINEW_NODE_QUADRATIC, SINEW_NODE_QUADRATIC, SINEW_NODE_QUADRATIC},
    {SINEW_NODE_RIGID, SINEW_NODE_QUADRATIC, SINEW_NODE_POINT, SINEW_NODE_AFFINE},
};
enum { KINDS = sizeof kinds / sizeof *kinds, RIGID = 1, AFFINE = 2 };

static bar_def bar_of(int kind, sinew_blend blend, const char *law) {
    bar_def bar = {.blend = blend,
                   .law = law,
                   .sampling = SINEW_SAMPLING_MIDPOINT,
                   .solver = SINEW_SOLVER_MATRIX_FREE};
    memcpy(bar.kinds, kinds[kind], sizeof bar.kinds);
    return bar;
}

// A bar along x whose four frames influence each other.
static test_frames make_in(sinew_context *context, const bar_def *bar) {
    test_frames_def def = test_default_frames_def(SINEW_NODE_POINT, 0);
    def.size[2] = 0.3;
    def.cell = 0.1;
    def.world.integrator = bar->integrator;
    if (bar->integrator == SINEW_INTEGRATOR_SYMPLECTIC_EULER) {
        def.world.step = 1e-3; // below the limit of stability
    }
    def.world.solver = bar->solver;
    def.world.solver_tolerance = 1e-12;
    def.world.newton_tolerance = 1e-9;
    // Iterative solvers use the projected stiffness, with which Newton's method converges linearly.
    def.world.newton_iterations = 500;
    assert_int_equal(sinew_material_set_law(context, bar->law, &def.material), SINEW_OK);
    def.material.poisson = 0.3;
    def.body.node_count = 4;

    for (int i = 0; i < 4; i++) {
        def.nodes[i] =
            (sinew_frame_node){bar->kinds[i], {i / 3.0 - 0.5, 0.04 * (i % 2), -0.05 * i}};
    }

    def.body.blend = bar->blend;
    def.body.weights.kind = bar->axis ? SINEW_WEIGHTS_AXIS_LINEAR : SINEW_WEIGHTS_RADIAL;
    def.body.weights.adopt_outside = true;
    def.body.sampling.kind = bar->sampling;
    def.body.sampling.count = bar->sampling == SINEW_SAMPLING_REGIONS ? 12 : 0;
    def.body.stiffness_damping = bar->stiffness_damping;

    return test_frames_create(context, &def);
}

static test_frames make(const bar_def *bar) {
    return make_in(test_context(1), bar);
}

// The largest sum of |A| |x|, which rounding is relative to.
static double largest_terms(const sn_bsr *pattern, const double *A, const double *x) {
    double largest = 0;
    for (int32_t row = 0; row < 3 * pattern->rows; row++) {
        double sum = 0;
        for (int32_t k = pattern->starts[row / 3]; k < pattern->starts[row / 3 + 1]; k++) {
            for (int c = 0; c < 3; c++) {
                sum += fabs(A[9 * k + 3 * (row % 3) + c] * x[3 * pattern->columns[k] + c]);
            }
        }

        largest = fmax(largest, sum);
    }

    return largest;
}

// Compares the product with x by the assembled matrix with that by the nodes' blocks and the rest,
// and the forces of both evaluations. Returns the size of the terms that were summed.
static double multiply(sinew_body *body, const double *q, bool projected, const double *x,
                       double *assembled, double *free_of) {
    size_t n = (size_t)sn_body_size(body);
    const sn_local_part *local;

    assert_int_equal(body->ops->products->prepare(body, true, &local), SINEW_OK);
    double *A = calloc(sn_bsr_value_count(&body->pattern), sizeof *A);
    double *force = calloc(n, sizeof *force);
    double *D = calloc(sn_bsr_value_count(&local->pattern), sizeof *D);
    double *local_force = calloc(n, sizeof *local_force);
    sn_evaluation whole = {.q = q, .projected = projected, .force = force, .matrix = A};

    body->ops->elasticity.evaluate(body, &whole);
    sn_bsr_mirror(body->context, &body->pattern, A);
    sn_bsr_multiply(body->context, &body->pattern, assembled, A, x);

    sn_evaluation part = {
        .q = q, .projected = projected, .force = local_force, .matrix = D, .local = true};

    body->ops->elasticity.evaluate(body, &part);
    sn_bsr_mirror(body->context, &local->pattern, D);
    sn_bsr_multiply(body->context, &local->pattern, free_of, D, x);

    // The blocks of each set of rows are those of the matrix; between sets there is room for the
    // mass alone.
    for (int32_t set = 0; set < local->set_count; set++) {
        int32_t first = local->set_starts[set];
        int32_t last = local->set_starts[set + 1];
        for (int32_t row = first; row < last; row++) {
            for (int32_t k = local->pattern.starts[row]; k < local->pattern.starts[row + 1]; k++) {
                int32_t column = local->pattern.columns[k];
                if (column < first || column >= last) {
                    continue;
                }
                int32_t slot = sn_bsr_find(&body->pattern, row, column);
                assert_true(test_relative_error(D + 9 * k, A + 9 * slot, 9) < 1e-9);
            }
        }
    }

    body->ops->products->keep_tangent(body);
    body->ops->products->add_remote(body, 0.25, false, free_of, x);
    body->ops->products->add_remote(body, 0.75, true, free_of, x);
    assert_true(test_relative_error(local_force, force, n) < 1e-13);

    double terms = largest_terms(&body->pattern, A, x);
    free(A);
    free(force);
    free(D);
    free(local_force);

    return terms;
}

static void check_product(sinew_body *body, const char *what) {
    size_t n = (size_t)sn_body_size(body);
    double *q = calloc((size_t)body->config_count, sizeof *q);
    double *x = calloc(n, sizeof *x);
    double *assembled = calloc(n, sizeof *assembled);
    double *free_of = calloc(n, sizeof *free_of);
    sn_random random = sn_random_seed(3);

    test_frames_deform(body, q);
    for (size_t i = 0; i < n; i++) {
        x[i] = sn_random_range(&random, -1, 1);
    }

    for (int projected = 0; projected < 2; projected++) {
        double terms = multiply(body, q, projected, x, assembled, free_of);
        double error = 0;

        // Thousands of roundings each.
        for (size_t i = 0; i < n; i++) {
            error = fmax(error, fabs(free_of[i] - assembled[i]) / terms);
        }

        if (!(error < 1e-12)) {
            fail_msg("%s, projected %d: products differ by %g", what, projected, error);
        }
    }

    free(q);
    free(x);
    free(assembled);
    free(free_of);
}

static void test_products(void **state) {
    (void)state;
    for (int32_t law = 0; law < sinew_material_law_count(); law++) {
        for (int kind = 0; kind <= KINDS; kind++) { // the last: dual quaternions
            bool dual = kind == KINDS;

            bar_def bar =
                bar_of(dual ? RIGID : kind, dual ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR,
                       sinew_material_law_name(law));
            bar.sampling = law % 2 ? SINEW_SAMPLING_REGIONS : SINEW_SAMPLING_MIDPOINT;
            test_frames f = make(&bar);
            check_product(f.body, bar.law);
            test_frames_destroy(&f);
        }
    }
}

// Regions with internal modes: the modes follow the motion that is multiplied.
static void test_modes(void **state) {
    (void)state;
    for (int32_t law = 0; law < sinew_material_law_count(); law++) {
        bar_def bar = bar_of(AFFINE, SINEW_BLEND_LINEAR, sinew_material_law_name(law));
        bar.sampling = SINEW_SAMPLING_REGIONS;
        bar.axis = true;

        test_frames f = make(&bar);
        const sn_frame_model *model = f.body->model;
        assert_non_null(model->layers.items[0]->blend.groups.items[0].modes);
        check_product(f.body, bar.law);
        test_frames_destroy(&f);
    }
}

// A frame that has just joined: rest gradients, or those of rigid frames at run time, are
// multiplied by the remainder of a jump.
static void test_fading(void **state) {
    (void)state;
    for (int dual = 0; dual < 2; dual++) {
        bar_def bar =
            bar_of(dual ? RIGID : 2, dual ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR,
                   "corotational");
        test_frames f = make(&bar);
        const double up[3] = {0, 0, 300};
        const double side[3] = {0.45, 0, 0};

        assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
        assert_int_equal(test_add_force(f.body, side, up), SINEW_OK);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        sinew_frame_insert_def def = sinew_default_frame_insert_def();
        def.kind = dual ? SINEW_NODE_RIGID : SINEW_NODE_AFFINE;
        def.position[0] = 0.2;
        def.range = 0.3;
        assert_int_equal(sinew_frame_body_insert(f.body, &def, NULL), SINEW_OK);
        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        check_product(f.body, "fading");
        test_frames_destroy(&f);
    }
}

// Ten steps of a bar that is partly held, partly scripted, and pulled. Returns the final
// configuration.
static void run(const bar_def *bar, double *q) {
    test_frames f = make(bar);
    const double pull[3] = {20, -10, 30};
    const double tip[3] = {0.45, 0, 0};

    assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
    assert_int_equal(sinew_frame_body_hold(f.body, 2, SINEW_HOLD_Y), SINEW_OK);
    assert_int_equal(test_add_force(f.body, tip, pull), SINEW_OK);

    for (int i = 0; i < 10; i++) {
        const double place[3] = {-0.5 - 0.002 * i, 0.01 * i, 0};
        sinew_step_report report;
        assert_int_equal(sinew_frame_body_move(f.body, 0, place, NULL), SINEW_OK);
        assert_int_equal(sinew_world_step(f.world, &report), SINEW_OK);
        assert_true(report.solver_converged && report.outcome == SINEW_OUTCOME_CONVERGED);

        if (bar->solver == SINEW_SOLVER_MATRIX_FREE) {
            assert_true(report.solver_iterations > 0);
        }
    }

    memcpy(q, f.body->q, (size_t)f.body->config_count * sizeof *q);
    test_frames_destroy(&f);
}

static void test_steps(void **state) {
    (void)state;
    static const sinew_integrator integrators[] = {
        SINEW_INTEGRATOR_IMPLICIT_EULER, SINEW_INTEGRATOR_NEWTON_EULER, SINEW_INTEGRATOR_NEWMARK,
        SINEW_INTEGRATOR_SYMPLECTIC_EULER};

    for (int i = 0; i < 4; i++) {
        for (int kind = RIGID; kind <= KINDS; kind++) {
            bool dual = kind == KINDS;
            bar_def bar =
                bar_of(dual ? RIGID : kind, dual ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR,
                       "corotational");

            bar.integrator = integrators[i];
            bar.stiffness_damping = i % 2 ? 0.002 : 0;

            double q[120] = {0}, expected[120] = {0};
            run(&bar, q);
            bar.solver = SINEW_SOLVER_DENSE;
            run(&bar, expected);

            // One solve a step to 1e-12, or Newton to 1e-9 of the largest force.
            double error = test_relative_error(q, expected, 120);
            double limit = i == 0 ? 1e-10 : 1e-7;
            if (!(error < limit)) {
                fail_msg("integrator %d, kind %d: %g off the direct solve", i, kind, error);
            }
        }
    }
}

static sinew_body *add_box(test_frames *f, double x) {
    sinew_shape_def shape = sinew_default_shape_def();
    for (int k = 0; k < 3; k++) {
        shape.size[k] = 0.2;
        shape.cells[k] = 2;
    }

    sinew_mesh *mesh;
    sinew_body *body;

    assert_int_equal(sinew_mesh_create_shape(f->context, &shape, &mesh), SINEW_OK);
    sinew_body_def def = sinew_default_body_def();

    def.mesh = mesh;
    def.position[0] = x;
    assert_int_equal(sinew_body_create(f->world, &def, &body), SINEW_OK);
    sinew_mesh_destroy(mesh);

    return body;
}

// A bar of frames tied to a fixed position and, by springs, to a box of tets; a second box hangs
// from the first by one node.
static void balance(sinew_solver solver, bool is_static, double *q) {
    bar_def bar =
        bar_of(is_static ? 2 : RIGID, is_static ? SINEW_BLEND_LINEAR : SINEW_BLEND_DUAL_QUATERNION,
               "corotational");

    bar.solver = solver;
    test_frames f = make(&bar);
    sinew_body *box = add_box(&f, 0.6);
    sinew_body *second = add_box(&f, 0.8);
    sinew_attachment_def tie = sinew_default_attachment_def();

    tie.body = f.body;
    for (int i = 0; i < 3; i++) {
        tie.rest[0] = -0.45;
        tie.rest[1] = i == 1 ? 0.09 : 0;
        tie.rest[2] = i == 2 ? 0.1 : 0;
        assert_int_equal(sinew_world_attach(f.world, &tie, NULL), SINEW_OK);
    }

    tie.target = box;
    tie.stiffness = 5000;
    for (int i = 0; i < 4; i++) {
        tie.rest[0] = 0.45;
        tie.rest[1] = i % 2 ? 0.09 : -0.09;
        tie.rest[2] = i / 2 ? 0.09 : -0.09;
        assert_int_equal(sinew_world_attach(f.world, &tie, NULL), SINEW_OK);
    }

    tie = sinew_default_attachment_def();
    tie.body = second;
    tie.target = box;

    for (int i = 0; i < 3; i++) {
        static const int32_t nodes[3] = {0, 1, 4};
        tie.node = nodes[i];
        assert_int_equal(sinew_world_attach(f.world, &tie, NULL), SINEW_OK);
    }

    sinew_static_def def = sinew_default_static_def();
    def.newton_tolerance = 1e-6;

    sinew_step_report report;
    for (int i = 0; i < (is_static ? 1 : 8); i++) {
        sinew_status status = is_static ? sinew_world_solve_static(f.world, &def, &report)
                                        : sinew_world_step(f.world, &report);
        if (status != SINEW_OK) {
            fail_msg("%s", sinew_context_message(f.context));
        }
        assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);
    }

    memcpy(q, f.body->q, (size_t)f.body->config_count * sizeof *q);
    memcpy(q + 48, second->q, (size_t)second->config_count * sizeof *q);
    test_frames_destroy(&f);
}

static void test_coupled(void **state) {
    (void)state;
    for (int is_static = 0; is_static < 2; is_static++) {
        double q[48 + 81] = {0}, expected[48 + 81] = {0};
        balance(SINEW_SOLVER_MATRIX_FREE, is_static, q);
        balance(SINEW_SOLVER_DIRECT, is_static, expected);

        // Steps are solved once, to 1e-12, and then until the residual of the ties is 1e-9 of the
        // largest force; statics to 1e-6 of it.
        double error = test_relative_error(q, expected, 48 + 81);
        double limit = is_static ? 1e-4 : 1e-8;

        if (!(error < limit)) {
            fail_msg("%s: %g off the direct solve", is_static ? "statics" : "steps", error);
        }

        assert_true(fabs(expected[48 + 2]) > 1e-3);
    }
}

// Solvers may be changed back and forth between steps.
static void test_change_of_solver(void **state) {
    (void)state;
    bar_def bar = bar_of(2, SINEW_BLEND_LINEAR, "corotational");

    bar.solver = SINEW_SOLVER_AUTO;
    test_frames f = make(&bar);
    test_frames same = make(&bar);
    static const sinew_solver solvers[] = {SINEW_SOLVER_MATRIX_FREE, SINEW_SOLVER_DENSE,
                                           SINEW_SOLVER_MATRIX_FREE};

    for (int i = 0; i < 3; i++) {
        sinew_step_report report;
        assert_int_equal(sinew_body_set_solver(f.body, solvers[i]), SINEW_OK);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(sinew_world_step(f.world, &report), SINEW_OK);
        }

        assert_int_equal(report.solver_iterations > 0, solvers[i] == SINEW_SOLVER_MATRIX_FREE);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(sinew_world_step(same.world, NULL), SINEW_OK);
        }

        assert_true(test_relative_error(f.body->q, same.body->q, (size_t)f.body->config_count) <
                    1e-10);
    }

    test_frames_destroy(&f);
    test_frames_destroy(&same);
}

// Many quadratic frames at each sample: by default a step uses products, and a static solve the
// matrix.
static void test_choice(void **state) {
    (void)state;
    enum { FRAMES = 14 };

    test_frames_def def = test_default_frames_def(SINEW_NODE_QUADRATIC, 0);
    def.size[1] = def.size[2] = 1;
    def.cell = 0.2;
    def.world.solver = SINEW_SOLVER_AUTO;
    def.body.weights.kind = SINEW_WEIGHTS_RADIAL;
    def.body.node_count = FRAMES;

    for (int i = 0; i < FRAMES; i++) {
        def.nodes[i] = (sinew_frame_node){SINEW_NODE_QUADRATIC,
                                          {0.4 * cos(i), 0.4 * sin(i), 0.8 * i / FRAMES - 0.4}};
    }

    test_frames f = test_frames_create(test_context(1), &def);
    assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);

    sinew_static_def balance_def = sinew_default_static_def();
    balance_def.newton_iterations = 1;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        assert_int_equal(sn_solver_get_kind(f.world->islands->solver), SN_SOLVER_PRODUCTS);
        assert_int_equal(sinew_world_solve_static(f.world, &balance_def, NULL), SINEW_OK);
        assert_int_not_equal(sn_solver_get_kind(f.world->islands->solver), SN_SOLVER_PRODUCTS);
    }

    test_frames_destroy(&f);
}

static uint64_t simulate(sinew_context *context, void *user) {
    test_frames f = make_in(context, user);
    assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
    }

    uint64_t hash = sinew_world_get_hash(f.world);
    test_frames_empty(&f);

    return hash;
}

static void test_threads(void **state) {
    (void)state;
    for (int dual = 0; dual < 2; dual++) {
        bar_def bar =
            bar_of(dual ? RIGID : 4, dual ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR,
                   "corotational");
        bar.stiffness_damping = 0.001;
        test_over_threads(dual ? "products, dual quaternions" : "products, all kinds", simulate,
                          &bar);
    }
}

// After the first step nothing allocates.
static void test_allocations(void **state) {
    (void)state;
    for (int dual = 0; dual < 2; dual++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        bar_def bar =
            bar_of(dual ? RIGID : 4, dual ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR,
                   "corotational");

        bar.stiffness_damping = 0.001;
        test_frames f = make_in(test_context_failing(&allocator), &bar);

        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        int64_t calls = allocator.calls;
        for (int i = 0; i < 3; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        assert_int_equal(allocator.calls, calls);
        test_frames_destroy(&f);
        assert_int_equal(allocator.live, 0);
    }
}

// Every allocation of the first step fails once: the failure is reported, and the step works once
// there is enough memory.
static void test_shortage(void **state) {
    (void)state;
    for (int dual = 0; dual < 2; dual++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        bar_def bar =
            bar_of(dual ? RIGID : 4, dual ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR,
                   "corotational");
        test_frames f = make_in(test_context_failing(&allocator), &bar);
        int64_t refused = 0;

        for (sinew_status status = SINEW_OUT_OF_MEMORY; status != SINEW_OK; refused++) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
            allocator.fail_at = allocator.calls + refused;
            status = sinew_world_step(f.world, NULL);
            assert_true(refused < 1000);
        }

        assert_true(refused > 3);
        test_frames_destroy(&f);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void) {
    if (TEST_WATCHES_THREADS) {
        cmocka_set_test_filter("test_threads*");
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),    cmocka_unit_test(test_modes),
        cmocka_unit_test(test_fading),      cmocka_unit_test(test_steps),
        cmocka_unit_test(test_coupled),     cmocka_unit_test(test_change_of_solver),
        cmocka_unit_test(test_choice),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_allocations), cmocka_unit_test(test_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
