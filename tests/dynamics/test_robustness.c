// Robustness: inverted, flattened, collapsed and random initial states, extreme stiffness, huge
// steps.
#include "support/body.h"
#include "support/test.h"

#include "body/body.h"

#include <math.h>
#include <stdlib.h>

typedef enum start { START_RANDOM, START_MIRRORED, START_FLAT, START_COLLAPSED, START_COUNT } start;

static void place(const sinew_body *body, start kind, uint64_t seed, double *x) {
    sn_random random = sn_random_seed(seed);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        double X = body->rest[i];
        double noise = sn_random_range(&random, -1, 1);
        if (kind == START_RANDOM) {
            x[i] = 0.5 * noise;
        }
        if (kind == START_MIRRORED) {
            x[i] = i % 3 == 0 ? -X : X;
        }
        if (kind == START_FLAT) {
            x[i] = i % 3 == 2 ? 0 : X;
        }
        if (kind == START_COLLAPSED) {
            x[i] = 1e-6 * noise;
        }
    }
}

// Largest relative change of an edge length: zero for every rigid motion of the rest shape.
static double shape_error(const sinew_body *body) {
    double error = 0;
    const double *x = sinew_body_get_positions(body);
    for (int32_t i = 0; i < body->rows; i++) {
        for (int32_t k = body->pattern.starts[i]; k < body->pattern.starts[i + 1]; k++) {
            int32_t j = body->pattern.columns[k];
            if (j == i) {
                continue;
            }

            double rest = sn_distance(sn_load3(body->rest + 3 * i), sn_load3(body->rest + 3 * j));
            error =
                fmax(error, fabs(sn_distance(sn_load3(x + 3 * i), sn_load3(x + 3 * j)) / rest - 1));
        }
    }

    return error;
}

// Runs the bar from an initial state until it is at rest. Under sanitizers only the first steps, in
// which elements are inverted, are run.
static void check_recovery(const test_beam_def *def, start kind, uint64_t seed, const char *law) {
    test_beam bar = test_beam_create(def);
    double *x = malloc((size_t)sn_body_size(bar.body) * sizeof *x);

    place(bar.body, kind, seed, x);
    assert_int_equal(sinew_body_set_positions(bar.body, x), SINEW_OK);
    for (int i = 0; i < (TEST_SANITIZED ? 4 : 300); i++) {
        if (sinew_world_step(bar.world, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(bar.context));
        }
    }

    double error = shape_error(bar.body);
    sinew_measures m;

    sinew_body_get_measures(bar.body, &m);
    if (!TEST_SANITIZED && (!(error < 0.02) || !(m.smallest_J > 0.9))) {
        fail_msg("%s from start %d, seed %d: shape off by %g, smallest J %g", law, (int)kind,
                 (int)seed, error, m.smallest_J);
    }

    free(x);
    test_beam_destroy(&bar);
}

static test_beam_def recovering_bar(void) {
    test_beam_def def = test_default_beam_def();
    def.length = 0.6;
    def.cells_along = 3;
    def.world.gravity[2] = 0;
    def.world.integrator = SINEW_INTEGRATOR_NEWTON_EULER;
    def.world.step = 0.02;
    def.mass_damping = 2;
    def.material.poisson = 0.3;
    def.material.young = 1e5;

    return def;
}

static void test_every_law_recovers(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int32_t law = 1; law < sinew_material_law_count(); law++) {
        const char *name = sinew_material_law_name(law);
        test_beam_def def = recovering_bar();
        assert_int_equal(sinew_material_set_law(context, name, &def.material), SINEW_OK);

        for (start kind = START_RANDOM; kind < START_COUNT; kind++) {
            bool random = kind == START_RANDOM || kind == START_COLLAPSED;
            for (uint64_t seed = 1; seed <= (random && !TEST_SANITIZED ? 4 : 1); seed++) {
                check_recovery(&def, kind, seed, name);
            }
        }
    }

    sinew_context_destroy(context);
}

// Finer bars, other elements, and the linearised step recover as well.
static void test_every_body_recovers(void **state) {
    (void)state;
    for (start kind = START_RANDOM; kind < START_COUNT; kind++) {
        test_beam_def def = recovering_bar();
        def.cells_across = 2;
        def.cells_along = 6;
        check_recovery(&def, kind, 1, "finer bar");
        def = recovering_bar();
        def.element = SINEW_ELEMENT_HEX8;
        check_recovery(&def, kind, 1, "hexahedra");
        def.element = SINEW_ELEMENT_TET10;
        check_recovery(&def, kind, 1, "ten-node tets");
        def = recovering_bar();
        def.world.integrator = SINEW_INTEGRATOR_IMPLICIT_EULER;
        check_recovery(&def, kind, 1, "linearised step");
    }
}

// Triangles recover within their plane: mirrored, flattened onto a line, collapsed, random.
static void test_triangles_recover(void **state) {
    (void)state;
    for (int run = 0; run < 2 * START_COUNT; run++) {
        sinew_context *context = test_context(1);
        sinew_shape_def shape = sinew_default_shape_def();

        shape.shape = SINEW_SHAPE_RECTANGLE;
        shape.element = SINEW_ELEMENT_TRIANGLE;
        shape.cells[0] = 4;
        shape.cells[1] = 3;

        sinew_mesh *mesh;
        assert_int_equal(sinew_mesh_create_shape(context, &shape, &mesh), SINEW_OK);

        // A damped sheet of triangles.
        test_beam_def like = recovering_bar();
        sinew_world *world;

        assert_int_equal(sinew_world_create(context, &like.world, &world), SINEW_OK);
        const char *law = run < START_COUNT ? "corotational" : "neo-hookean";

        assert_int_equal(sinew_material_set_law(context, law, &like.material), SINEW_OK);
        sinew_body_def def = sinew_default_body_def();

        def.mesh = mesh;
        def.materials = &like.material;
        def.material_count = 1;
        def.mass_damping = 2;

        sinew_body *body;
        assert_int_equal(sinew_body_create(world, &def, &body), SINEW_OK);

        // The initial state, within the plane.
        start kind = (start)(run % START_COUNT);
        double *x = calloc((size_t)sn_body_size(body), sizeof *x);

        place(body, kind, 1, x);
        for (int32_t i = 0; i < body->rows; i++) {
            x[3 * i + 2] = 0;
            if (kind == START_FLAT) {
                x[3 * i + 1] = 0;
            }
        }

        // It must return to its rest shape.
        assert_int_equal(sinew_body_set_positions(body, x), SINEW_OK);
        for (int i = 0; i < (TEST_SANITIZED ? 4 : 300); i++) {
            assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
        }

        if (!TEST_SANITIZED && !(shape_error(body) < 0.02)) {
            fail_msg("triangles, %s, from start %d: shape off by %g", law, (int)kind,
                     shape_error(body));
        }

        free(x);
        sinew_world_destroy(world);
        sinew_mesh_destroy(mesh);
        sinew_context_destroy(context);
    }
}

// A snapshot taken during recovery continues bitwise.
static void test_recovery_in_snapshots(void **state) {
    (void)state;
    test_beam_def def = recovering_bar();
    test_beam bar = test_beam_create(&def);
    double *x = calloc((size_t)sn_body_size(bar.body), sizeof *x);

    place(bar.body, START_RANDOM, 2, x);
    assert_int_equal(sinew_body_set_positions(bar.body, x), SINEW_OK);
    assert_int_equal(sinew_world_step(bar.world, NULL), SINEW_OK);
    assert_true(*bar.body->recovery > 0);

    size_t size = sinew_world_get_snapshot_size(bar.world);
    void *bytes = calloc(size, 1);

    assert_int_equal(sinew_world_take_snapshot(bar.world, bytes, size), SINEW_OK);
    uint64_t hash[2];
    for (int run = 0; run < 2; run++) {
        for (int i = 0; i < (TEST_SANITIZED ? 3 : 40); i++) {
            assert_int_equal(sinew_world_step(bar.world, NULL), SINEW_OK);
        }
        hash[run] = sinew_world_get_hash(bar.world);
        assert_int_equal(sinew_world_restore_snapshot(bar.world, bytes, size), SINEW_OK);
    }

    assert_true(hash[0] == hash[1]);
    free(bytes);
    free(x);
    test_beam_destroy(&bar);
}

// A static solve from such a state finds the same equilibrium as from rest.
static void test_static_recovers(void **state) {
    (void)state;
    double tip[START_COUNT + 1][3];
    for (int kind = 0; kind <= START_COUNT; kind++) {
        test_beam_def def = recovering_bar();
        def.world.gravity[2] = -9.81;

        test_beam bar = test_beam_create(&def);
        test_clamp(bar.body);

        double *x = calloc((size_t)sn_body_size(bar.body), sizeof *x);
        place(bar.body, (start)kind, 3, x);
        for (int32_t i = 0; i < sn_body_size(bar.body); i++) {
            x[i] = bar.body->mask[i] ? bar.body->rest[i] : x[i];
        }

        if (kind < START_COUNT) {
            assert_int_equal(sinew_body_set_positions(bar.body, x), SINEW_OK);
        }

        sinew_step_report report;
        sinew_static_def statics = sinew_default_static_def();

        assert_int_equal(sinew_world_solve_static(bar.world, &statics, &report), SINEW_OK);
        assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);
        test_tip_displacement(bar.body, def.length, tip[kind]);
        free(x);
        test_beam_destroy(&bar);
    }

    for (int kind = 0; kind < START_COUNT; kind++) {
        for (int k = 0; k < 3; k++) {
            test_close("tip", tip[kind][k], tip[START_COUNT][k], 1e-6);
        }
    }
}

static void run_bounded(const test_beam_def *def, int steps, double bound) {
    test_beam bar = test_beam_create(def);
    test_clamp(bar.body);
    for (int i = 0; i < steps; i++) {
        assert_int_equal(sinew_world_step(bar.world, NULL), SINEW_OK);
    }

    const double *x = sinew_body_get_positions(bar.body);
    for (int32_t i = 0; i < sn_body_size(bar.body); i++) {
        assert_true(fabs(x[i]) < bound);
    }

    test_beam_destroy(&bar);
}

static void test_nearly_incompressible(void **state) {
    (void)state;
    test_beam_def def = test_default_beam_def();
    def.material.poisson = 0.4999;
    run_bounded(&def, 50, 3);
}

static void test_huge_step(void **state) {
    (void)state;
    for (int newton = 0; newton < 2; newton++) {
        test_beam_def def = test_default_beam_def();
        def.world.step = 1;
        def.world.integrator =
            newton ? SINEW_INTEGRATOR_NEWTON_EULER : SINEW_INTEGRATOR_IMPLICIT_EULER;
        run_bounded(&def, 20, 1e3);
    }
}

// Neighbouring elements a million times stiffer; the iteration limit is low, and the report must
// say when it was not enough.
static void test_stiffness_ratio(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_shape_def shape = sinew_default_shape_def();

    shape.size[0] = 4;
    shape.cells[0] = 8;
    shape.cells[1] = shape.cells[2] = 2;

    sinew_mesh *mesh;
    assert_int_equal(sinew_mesh_create_shape(context, &shape, &mesh), SINEW_OK);

    // Every other element is a million times stiffer.
    int32_t *labels = malloc((size_t)mesh->element_count * sizeof *labels);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        labels[e] = e % 2;
    }

    sinew_mesh labelled = *mesh;
    labelled.labels = labels;

    sinew_world_def world_def = sinew_default_world_def();
    world_def.solver = SINEW_SOLVER_JACOBI;
    world_def.solver_iterations = 3;

    sinew_world *world;
    assert_int_equal(sinew_world_create(context, &world_def, &world), SINEW_OK);

    sinew_material_def materials[2] = {sinew_default_material_def(), sinew_default_material_def()};
    materials[0].young = 1e4;
    materials[1].young = 1e10;

    int32_t order[2] = {0, 1};
    sinew_body_def def = sinew_default_body_def();

    def.mesh = &labelled;
    def.materials = materials;
    def.material_count = 2;
    def.material_labels = order;

    sinew_body *body;
    assert_int_equal(sinew_body_create(world, &def, &body), SINEW_OK);

    int32_t nodes[64];
    int32_t count = test_pick_nodes(body, 0, -2.01, -1.99, nodes, 64);

    assert_int_equal(sinew_body_fix_nodes(body, nodes, count, SINEW_AXIS_ALL), SINEW_OK);

    // Three iterations are not enough, and the report says so.
    sinew_step_report report;

    assert_int_equal(sinew_world_step(world, &report), SINEW_OK);
    assert_false(report.solver_converged);
    assert_true(report.solver_residual > world_def.solver_tolerance);

    // The direct solver stays stable.
    world_def.solver = SINEW_SOLVER_DIRECT;
    world_def.solver_iterations = 1000;
    assert_int_equal(sinew_world_set_def(world, &world_def), SINEW_OK);

    for (int i = 0; i < 20; i++) {
        assert_int_equal(sinew_world_step(world, &report), SINEW_OK);
    }

    for (int32_t i = 0; i < sn_body_size(body); i++) {
        assert_true(fabs(sinew_body_get_positions(body)[i]) < 10);
    }

    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    free(labels);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_law_recovers), cmocka_unit_test(test_every_body_recovers),
        cmocka_unit_test(test_triangles_recover),  cmocka_unit_test(test_recovery_in_snapshots),
        cmocka_unit_test(test_static_recovers),    cmocka_unit_test(test_nearly_incompressible),
        cmocka_unit_test(test_huge_step),          cmocka_unit_test(test_stiffness_ratio),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
