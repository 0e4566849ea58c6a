// The public interface of the world: attachments, snapshots, changes while it runs, loads, invalid
// input, memory shortage.
#include "support/body.h"
#include "support/test.h"

#include "body/body.h"

#include <math.h>
#include <stdlib.h>

static sinew_body *add_box(sinew_world *world, sinew_context *context, double x, double size,
                           int32_t cells) {
    sinew_shape_def shape = sinew_default_shape_def();
    shape.center[0] = x;
    for (int k = 0; k < 3; k++) {
        shape.size[k] = size;
        shape.cells[k] = cells;
    }

    sinew_mesh *mesh;
    assert_int_equal(sinew_mesh_create_shape(context, &shape, &mesh), SINEW_OK);

    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;

    sinew_body *body;
    assert_int_equal(sinew_body_create(world, &def, &body), SINEW_OK);
    sinew_mesh_destroy(mesh);

    return body;
}

// Two boxes side by side, the second one finer, tied over the whole interface. They hang from the
// other end of the first.
static double hang_tied(double stiffness, double *gap) {
    sinew_context *context = test_context(1);
    sinew_world_def world_def = sinew_default_world_def();

    world_def.gravity[0] = 9.81;
    world_def.gravity[2] = 0;

    sinew_world *world;
    assert_int_equal(sinew_world_create(context, &world_def, &world), SINEW_OK);

    sinew_body *upper = add_box(world, context, 0.5, 1, 2);
    sinew_body *lower = add_box(world, context, 1.5, 1, 3);
    int32_t nodes[256];
    int32_t count = test_pick_nodes(upper, 0, -1e-9, 1e-9, nodes, 256);

    // Hold the upper box and tie the lower one to it.
    assert_int_equal(sinew_body_fix_nodes(upper, nodes, count, SINEW_AXIS_ALL), SINEW_OK);
    count = test_pick_nodes(lower, 0, 1 - 1e-9, 1 + 1e-9, nodes, 256);
    for (int32_t i = 0; i < count; i++) {
        sinew_attachment_def tie = sinew_default_attachment_def();
        tie.body = lower;
        tie.node = nodes[i];
        tie.target = upper;
        tie.stiffness = stiffness;

        if (sinew_world_attach(world, &tie, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(context));
        }
    }

    // Find the equilibrium; steps must stay there.
    sinew_static_def statics = sinew_default_static_def();
    sinew_step_report report;
    if (sinew_world_solve_static(world, &statics, &report) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }

    assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
    }

    // The lowest point, and the largest gap at the interface.
    double tip = 0;
    const double *x = sinew_body_get_positions(lower);
    const double *xu = sinew_body_get_positions(upper);

    *gap = 0;
    for (int32_t i = 0; i < sinew_body_get_node_count(lower); i++) {
        tip = fmax(tip, x[3 * i]);
    }

    for (int32_t i = 0; i < count; i++) { // corners coincide with corners of the coarser box
        for (int32_t j = 0; j < sinew_body_get_node_count(upper); j++) {
            const double *X = sinew_body_get_rest_positions(lower) + 3 * nodes[i];
            const double *Xu = sinew_body_get_rest_positions(upper) + 3 * j;
            if (sn_distance(sn_load3(X), sn_load3(Xu)) < 1e-12) {
                *gap = fmax(*gap, sn_distance(sn_load3(x + 3 * nodes[i]), sn_load3(xu + 3 * j)));
            }
        }
    }

    sinew_world_destroy(world);
    sinew_context_destroy(context);

    return tip;
}

static void test_attachments(void **state) {
    (void)state;
    double hard_gap, soft_gap;
    double hard = hang_tied(0, &hard_gap);
    double soft = hang_tied(1e5, &soft_gap);
    assert_true(hard > 2.001);
    assert_true(hard_gap < 1e-14);
    assert_true(soft_gap > 1e-4 && soft_gap < 0.05); // 9.8 kN on 16 springs of 100 kN/m
    assert_true(soft > hard && soft < hard + 0.05);
}

static void test_tie_keeps_momentum(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_world_def world_def = sinew_default_world_def();

    world_def.gravity[2] = 0;
    world_def.integrator = SINEW_INTEGRATOR_MIDPOINT;
    world_def.newton_tolerance = 1e-12;
    world_def.step = 1e-3;

    sinew_world *world;
    assert_int_equal(sinew_world_create(context, &world_def, &world), SINEW_OK);

    sinew_body *a = add_box(world, context, 0.5, 1, 1);
    sinew_body *b = add_box(world, context, 1.5, 1, 1);
    int32_t nodes[16];
    int32_t count = test_pick_nodes(b, 0, 0.99, 1.01, nodes, 16);

    // Tie the boxes by hard ties and springs.
    for (int32_t i = 0; i < count; i++) {
        sinew_attachment_def tie = sinew_default_attachment_def();
        tie.body = b;
        tie.node = nodes[i];
        tie.target = a;
        tie.stiffness = i % 2 ? 1e5 : 0;
        assert_int_equal(sinew_world_attach(world, &tie, NULL), SINEW_OK);
    }

    // Only one of them moves at first.
    double v[24];
    for (int i = 0; i < 24; i++) {
        v[i] = i % 3 == 2 ? 1 : 0;
    }

    assert_int_equal(sinew_body_set_velocities(b, v), SINEW_OK);
    sinew_step_report report;

    assert_int_equal(sinew_world_step(world, &report), SINEW_OK); // ties make the velocities agree
    sinew_measures before, after;

    // Momentum is conserved.
    sinew_world_get_measures(world, &before);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
    }

    sinew_world_get_measures(world, &after);
    assert_true(sn_distance(sn_load3(before.momentum), sn_load3(after.momentum)) <
                1e-8 * sn_length(sn_load3(before.momentum)));
    sinew_world_destroy(world);
    sinew_context_destroy(context);
}

// Ties the face of `lower` at x = 1 to `upper`, and returns how many nodes that took.
static int32_t tie_at_one(sinew_world *world, sinew_body *lower, sinew_body *upper,
                          double stiffness) {
    int32_t nodes[64];
    int32_t count = test_pick_nodes(lower, 0, 1 - 1e-9, 1 + 1e-9, nodes, 64);
    for (int32_t i = 0; i < count; i++) {
        sinew_attachment_def tie = sinew_default_attachment_def();
        tie.body = lower;
        tie.node = nodes[i];
        tie.target = upper;
        tie.stiffness = stiffness;
        assert_int_equal(sinew_world_attach(world, &tie, NULL), SINEW_OK);
    }

    return count;
}

// Two boxes that spin as one fly apart without a jump when they are detached; momentum is conserved
// throughout.
static void test_detach(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_world_def def = sinew_default_world_def();

    def.integrator = SINEW_INTEGRATOR_MIDPOINT;
    def.gravity[2] = 0;
    def.newton_tolerance = 1e-10;

    sinew_world *world;
    assert_int_equal(sinew_world_create(context, &def, &world), SINEW_OK);

    sinew_body *upper = add_box(world, context, 0.5, 1, 2);
    sinew_body *lower = add_box(world, context, 1.5, 1, 2);
    int32_t tied = tie_at_one(world, lower, upper, 0);

    // Both spin about their common centre.
    assert_int_equal(tied, 9);
    for (int b = 0; b < 2; b++) {
        double v[81];
        const double *x = sinew_body_get_positions(b ? lower : upper);
        for (int i = 0; i < 27; i++) {
            v[3 * i] = -x[3 * i + 1];
            v[3 * i + 1] = x[3 * i] - 1;
            v[3 * i + 2] = 0;
        }

        assert_int_equal(sinew_body_set_velocities(b ? lower : upper, v), SINEW_OK);
    }

    sinew_measures start, end;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
    }

    // Detaching changes no measure.
    sinew_world_get_measures(world, &start);
    // The attachment is in the other direction.
    assert_int_equal(sinew_world_detach(world, upper, lower), 0);
    assert_int_equal(sinew_world_detach(world, lower, NULL), tied);
    assert_int_equal(sinew_world_detach(world, lower, upper), 0);
    sinew_world_get_measures(world, &end);
    assert_memory_equal(&start, &end, sizeof start);

    // Momentum is conserved while they fly apart.
    for (int i = 0; i < 100; i++) {
        assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
    }

    sinew_world_get_measures(world, &end);
    assert_true(fabs(end.angular_momentum[2] - start.angular_momentum[2]) <
                1e-8 * fabs(start.angular_momentum[2]));

    sinew_measures parts[2];
    sinew_body_get_measures(upper, &parts[0]);
    sinew_body_get_measures(lower, &parts[1]);

    for (int k = 0; k < 2; k++) {
        assert_true(fabs(parts[0].momentum[k] + parts[1].momentum[k]) < 1e-6 * start.mass);
    }

    assert_true(fabs(parts[0].momentum[1]) > 0.1 * parts[0].mass); // straight on, not in a circle
    sinew_world_destroy(world);
    sinew_context_destroy(context);
}

// Destroying a body destroys its attachments; the rest continues as if the body had never existed.
static void test_destroy_body(void **state) {
    (void)state;
    double tips[2];
    for (int with = 0; with < 2; with++) {
        sinew_context *context = test_context(1);
        sinew_world_def def = sinew_default_world_def();
        sinew_world *world;

        assert_int_equal(sinew_world_create(context, &def, &world), SINEW_OK);
        sinew_body *upper = add_box(world, context, 0.5, 1, 2);
        sinew_body *guest = with ? add_box(world, context, 9, 1, 3) : NULL;
        sinew_body *lower = add_box(world, context, 1.5, 1, 2);
        int32_t tied = tie_at_one(world, lower, upper, 1e4);

        if (with) {
            sinew_attachment_def tie = sinew_default_attachment_def();
            tie.body = lower;
            tie.node = 0;
            tie.target = guest;
            tie.stiffness = 1e5;
            assert_int_equal(sinew_world_attach(world, &tie, NULL), SINEW_OK);
            assert_int_equal(sinew_world_get_body_count(world), 3);
        }

        sinew_body_destroy(guest);
        assert_int_equal(sinew_world_get_body_count(world), 2);
        assert_ptr_equal(sinew_world_get_body(world, 1), lower);

        for (int i = 0; i < 10; i++) {
            assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
        }

        tips[with] = sinew_body_get_positions(lower)[80];
        assert_int_equal(sinew_world_detach(world, lower, NULL), tied);
        sinew_body_destroy(upper);
        sinew_body_destroy(lower);
        assert_int_equal(sinew_world_step(world, NULL), SINEW_OK); // an empty world passes time
        sinew_world_destroy(world);
        sinew_context_destroy(context);
    }

    assert_true(tips[0] == tips[1] && tips[0] < 0.49);
}

static void test_snapshot_is_bitwise(void **state) {
    (void)state;
    for (int integrator = SINEW_INTEGRATOR_IMPLICIT_EULER; integrator <= SINEW_INTEGRATOR_BDF2;
         integrator++) {
        test_beam_def def = test_default_beam_def();
        def.world.integrator = (sinew_integrator)integrator;
        def.world.step = 1e-3;
        test_beam bar = test_beam_create(&def);
        test_clamp(bar.body);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(sinew_world_step(bar.world, NULL), SINEW_OK);
        }
        size_t size = sinew_world_get_snapshot_size(bar.world);
        void *bytes = malloc(size);
        assert_int_equal(sinew_world_take_snapshot(bar.world, bytes, size), SINEW_OK);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(sinew_world_step(bar.world, NULL), SINEW_OK);
        }
        uint64_t hash = sinew_world_get_hash(bar.world);
        assert_int_equal(sinew_world_restore_snapshot(bar.world, bytes, size), SINEW_OK);
        assert_true(sinew_world_get_hash(bar.world) != hash);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(sinew_world_step(bar.world, NULL), SINEW_OK);
        }
        assert_true(sinew_world_get_hash(bar.world) == hash);
        ((char *)bytes)[0] ^= 1;
        assert_int_equal(sinew_world_restore_snapshot(bar.world, bytes, size), SINEW_INVALID_DATA);
        assert_int_equal(sinew_world_restore_snapshot(bar.world, bytes, 3), SINEW_INVALID_DATA);
        free(bytes);
        test_beam_destroy(&bar);
    }
}

static void test_changes_while_running(void **state) {
    (void)state;
    test_beam_def def = test_default_beam_def();
    test_beam bar = test_beam_create(&def);

    test_clamp(bar.body);
    sinew_static_def statics = sinew_default_static_def();
    double tip[2][3];

    assert_int_equal(sinew_world_solve_static(bar.world, &statics, NULL), SINEW_OK);
    test_tip_displacement(bar.body, 1, tip[0]);

    sinew_material_def stiffer = def.material;
    stiffer.young *= 10;
    assert_int_equal(sinew_body_set_material(bar.body, 0, &stiffer), SINEW_OK);
    assert_int_equal(sinew_world_solve_static(bar.world, &statics, NULL), SINEW_OK);
    test_tip_displacement(bar.body, 1, tip[1]);
    assert_true(tip[1][2] / tip[0][2] < 0.12 && tip[1][2] / tip[0][2] > 0.08);

    sinew_material_def other = sinew_default_material_def();
    other.law = SINEW_MATERIAL_NEO_HOOKEAN;
    other.density = 500;
    assert_int_equal(sinew_body_set_material(bar.body, 0, &other), SINEW_OK);

    sinew_measures m;
    sinew_body_get_measures(bar.body, &m);
    test_close("mass", m.mass, 20, 1e-11);

    sinew_world_def faster = sinew_world_get_def(bar.world);
    faster.step = 0.001;
    faster.integrator = SINEW_INTEGRATOR_BDF2;
    assert_int_equal(sinew_world_set_def(bar.world, &faster), SINEW_OK);

    for (int i = 0; i < 3; i++) {
        assert_int_equal(sinew_world_step(bar.world, NULL), SINEW_OK);
    }

    test_close("time", sinew_world_get_time(bar.world), 0.003, 1e-15);
    test_beam_destroy(&bar);
}

// One step of two falling boxes with random displacements, with the given solvers of the world and
// of the two bodies. Returns the tip of the second.
static double shake_two(sinew_solver of_world, sinew_solver of_first, sinew_solver of_second,
                        int32_t *iterations) {
    sinew_context *context = test_context(1);
    sinew_world_def def = sinew_default_world_def();

    def.solver = of_world;
    sinew_world *world;

    assert_int_equal(sinew_world_create(context, &def, &world), SINEW_OK);
    sinew_body *boxes[] = {add_box(world, context, 0, 1, 3), add_box(world, context, 3, 1, 4)};

    assert_int_equal(sinew_body_set_solver(boxes[0], of_first), SINEW_OK);
    assert_int_equal(sinew_body_set_solver(boxes[1], of_second), SINEW_OK);
    assert_int_equal(sinew_body_get_solver(boxes[1]), of_second);

    double kick[3] = {0, 500, 0};
    for (int i = 0; i < 2; i++) {
        int32_t node = 0;
        assert_int_equal(sinew_body_set_forces(boxes[i], &node, 1, kick), SINEW_OK);
    }

    sinew_step_report report;
    assert_int_equal(sinew_world_step(world, &report), SINEW_OK);
    *iterations = report.solver_iterations;

    double y = sinew_body_get_positions(boxes[1])[1];
    sinew_world_destroy(world);
    sinew_context_destroy(context);

    return y;
}

// Each body uses its own solver, or else that of the world: a direct solve takes one iteration,
// Jacobi's many.
static void test_solver_of_each_body(void **state) {
    (void)state;
    int32_t direct, both, first, by_world;
    double y_direct = shake_two(SINEW_SOLVER_DIRECT, SINEW_SOLVER_AUTO, SINEW_SOLVER_AUTO, &direct);
    double y_both = shake_two(SINEW_SOLVER_DIRECT, SINEW_SOLVER_JACOBI, SINEW_SOLVER_JACOBI, &both);
    double y_first = shake_two(SINEW_SOLVER_DIRECT, SINEW_SOLVER_JACOBI, SINEW_SOLVER_AUTO, &first);
    double y_by_world =
        shake_two(SINEW_SOLVER_JACOBI, SINEW_SOLVER_AUTO, SINEW_SOLVER_DIRECT, &by_world);

    assert_true(y_first == y_direct && y_by_world == y_direct && y_both != y_direct);
    assert_true(fabs(y_both - y_direct) < 1e-5 * fabs(y_direct));
    assert_int_equal(first, by_world);
    assert_true(direct < first && first < both);
}

// A cube under pressure on all sides shrinks by p / 3k along each edge, and pressure has no net
// force.
static void test_pressure(void **state) {
    (void)state;
    test_beam_def def = test_default_beam_def();

    def.thickness = 1;
    def.cells_along = def.cells_across = 2;
    def.world.gravity[2] = 0;
    def.material.poisson = 0.3;

    test_beam bar = test_beam_create(&def);
    int32_t nodes[64];
    int32_t count = test_pick_nodes(bar.body, 0, -1, 2, nodes, 64);
    int32_t index;
    sinew_load_def load = sinew_default_load_def();

    load.kind = SINEW_LOAD_PRESSURE;
    load.nodes = nodes;
    load.node_count = count;
    load.pressure = 1000;
    assert_int_equal(sinew_body_add_load(bar.body, &load, &index), SINEW_OK);

    int32_t held = 0;
    for (int axis = 0; axis < 3; axis++) {
        count = test_pick_nodes(bar.body, axis, axis ? -0.5 : 0, axis ? -0.5 : 0, nodes, 64);
        for (int32_t i = 0; i < count; i++) {
            bar.body->mask[3 * nodes[i] + axis] = 1;
            held++;
        }
    }

    assert_true(held > 0);
    sinew_static_def statics = sinew_default_static_def();

    statics.newton_tolerance = 1e-10;
    assert_int_equal(sinew_world_solve_static(bar.world, &statics, NULL), SINEW_OK);

    double bulk = 1e6 / (3 * (1 - 0.6));
    double tip[3];

    test_tip_displacement(bar.body, 1, tip);
    test_close("shortening", tip[0], -1000 / (3 * bulk), 2e-3 * 1000 / (3 * bulk));
    assert_int_equal(sinew_body_set_load_scale(bar.body, index, 0), SINEW_OK);
    assert_int_equal(sinew_body_set_load_scale(bar.body, 1, 0), SINEW_INVALID_ARGUMENT);
    test_beam_destroy(&bar);
}

static void expect_refused(sinew_world *world, sinew_context *context, const sinew_body_def *def,
                           const char *words) {
    sinew_body *body = NULL;
    assert_true(sinew_body_create(world, def, &body) != SINEW_OK);
    assert_null(body);
    if (!strstr(sinew_context_message(context), words)) {
        fail_msg("the message \"%s\" does not contain \"%s\"", sinew_context_message(context),
                 words);
    }

    assert_int_equal(sinew_world_get_body_count(world), 0);
}

static void test_bad_input(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = NULL;

    world_def.step = 0;
    assert_int_equal(sinew_world_create(context, &world_def, &world), SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "step"));
    world_def.step = 0.01;
    assert_int_equal(sinew_world_create(context, &world_def, &world), SINEW_OK);

    // Meshes: missing, not finite, with a wrong index, inverted, flat.
    double points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    int32_t tet[] = {0, 1, 2, 3};
    sinew_mesh mesh = {points, 4, SINEW_ELEMENT_TET4, tet, 1, NULL};
    sinew_material_def material = sinew_default_material_def();
    sinew_body_def def = sinew_default_body_def();

    expect_refused(world, context, &def, "mesh");
    def.mesh = &mesh;
    def.materials = &material;
    def.material_count = 1;
    points[4] = NAN;
    expect_refused(world, context, &def, "nan");
    points[4] = 0;
    tet[2] = 9;
    expect_refused(world, context, &def, "9");
    tet[2] = 2;
    points[11] = -1;
    expect_refused(world, context, &def, "volume");
    points[11] = 0;
    expect_refused(world, context, &def, "volume");
    points[11] = 1;

    // A node that belongs to no element.
    double five_points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 2, 2};
    sinew_mesh loose = {five_points, 5, SINEW_ELEMENT_TET4, tet, 1, NULL};

    def.mesh = &loose;
    expect_refused(world, context, &def, "4"); // the node that belongs to no element
    def.mesh = &mesh;

    // Materials and damping out of range.
    material.young = 0;
    expect_refused(world, context, &def, "young");
    material.young = 1e6;
    material.poisson = 0.5;
    expect_refused(world, context, &def, "poisson");
    material.poisson = 0.3;
    material.density = -1;
    expect_refused(world, context, &def, "density");
    material.density = 1;
    def.stiffness_damping = -1;
    expect_refused(world, context, &def, "damping");
    def.stiffness_damping = 0;

    // Nodes and forces of a valid body.
    sinew_body *body;
    assert_int_equal(sinew_body_create(world, &def, &body), SINEW_OK);

    int32_t node = 4;
    assert_int_equal(sinew_body_fix_nodes(body, &node, 1, SINEW_AXIS_ALL), SINEW_INVALID_ARGUMENT);
    node = 0;

    double bad[3] = {0, INFINITY, 0};
    assert_int_equal(sinew_body_set_forces(body, &node, 1, bad), SINEW_INVALID_ARGUMENT);

    // A refused change leaves the world as it was.
    uint64_t hash = sinew_world_get_hash(world);
    points[7] = NAN;
    assert_int_equal(sinew_body_set_positions(body, points), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_body_set_velocities(body, points), SINEW_INVALID_ARGUMENT);
    points[7] = 1;
    world_def.step = -0.01;
    assert_int_equal(sinew_world_set_def(world, &world_def), SINEW_INVALID_ARGUMENT);
    material.young = -5;
    assert_int_equal(sinew_body_set_material(body, 0, &material), SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "-5"));
    assert_int_equal(sinew_world_get_hash(world), hash);
    assert_true(sinew_world_get_def(world).step == 0.01);

    // A body that nothing holds has no static solution.
    sinew_static_def statics = sinew_default_static_def();
    assert_int_equal(sinew_world_solve_static(world, &statics, NULL), SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "holds"));
    assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
    sinew_world_destroy(world);
    sinew_context_destroy(context);
}

// Every allocation fails once: each failure is reported, nothing leaks, and with enough memory the
// run succeeds.
static void test_memory_shortage(void **state) {
    (void)state;
    bool finished = false;
    for (int64_t fail_at = 0; !finished; fail_at += 1 + fail_at / 16) {
        test_allocator allocator = {.fail_at = fail_at};
        sinew_context *context = test_context_failing(&allocator);
        if (!context) {
            continue;
        }

        sinew_shape_def shape = sinew_default_shape_def();
        shape.cells[0] = shape.cells[1] = shape.cells[2] = 2;

        sinew_mesh *mesh = NULL;
        sinew_world *world = NULL;
        sinew_body *body = NULL;
        sinew_world_def world_def = sinew_default_world_def();
        sinew_status status = sinew_mesh_create_shape(context, &shape, &mesh);

        if (status == SINEW_OK) {
            status = sinew_world_create(context, &world_def, &world);
        }

        sinew_body_def def = sinew_default_body_def();
        def.mesh = mesh;
        if (status == SINEW_OK) {
            status = sinew_body_create(world, &def, &body);
        }
        if (status == SINEW_OK) {
            status = sinew_world_step(world, NULL);
        }
        if (status != SINEW_OK) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        finished = status == SINEW_OK;
        sinew_world_destroy(world);
        sinew_mesh_destroy(mesh);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attachments),
        cmocka_unit_test(test_tie_keeps_momentum),
        cmocka_unit_test(test_detach),
        cmocka_unit_test(test_destroy_body),
        cmocka_unit_test(test_snapshot_is_bitwise),
        cmocka_unit_test(test_changes_while_running),
        cmocka_unit_test(test_solver_of_each_body),
        cmocka_unit_test(test_pressure),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
