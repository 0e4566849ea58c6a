// Static solves with contact: bodies rest on a floor, on each other and on a slope, are pressed by
// obstacles and by supports; what cannot rest is reported. Forces balance, gaps are those that
// bodies keep, and nothing intersects.
#include "support/kinds.h"
#include "support/touch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BODIES = 8 };

static const double edge = 0.2;

typedef struct setting {
    sinew_context *context;
    sinew_world *world;
    sinew_body *bodies[MOST_BODIES];
    int32_t count;
    sinew_mesh *cube;
    double poisson;
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

static setting make_setting(int32_t threads, double friction, double angle) {
    setting s = {.poisson = 0.3};
    sinew_context_def context = sinew_default_context_def();
    context.threads = threads;
    s.context = sinew_context_create(&context);
    assert_non_null(s.context);

    // Gravity is tilted instead of the floor.
    sinew_world_def world = sinew_default_world_def();
    world.gravity[0] = 9.81 * sin(angle);
    world.gravity[2] = -9.81 * cos(angle);
    check(&s, sinew_world_create(s.context, &world, &s.world));
    sinew_contact_def contact = sinew_default_contact_def();
    contact.friction = friction;
    check(&s, sinew_world_set_contact(s.world, &contact));

    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = shape.size[1] = shape.size[2] = edge;
    shape.cell_size = edge / 3;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &s.cube));
    return s;
}

static void destroy_setting(setting *s) {
    sinew_world_destroy(s->world);
    sinew_mesh_destroy(s->cube);
    sinew_context_destroy(s->context);
}

static sinew_body *add_cube(setting *s, double x, double z, double angle) {
    sinew_material_def material = sinew_default_material_def();
    material.young = 1e6;
    material.poisson = s->poisson;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = s->cube;
    def.materials = &material;
    def.material_count = 1;
    def.position[0] = x;
    def.position[2] = z;
    def.rotation[2] = sin(angle / 2);
    def.rotation[3] = cos(angle / 2);
    check(s, sinew_body_create(s->world, &def, &s->bodies[s->count]));
    return s->bodies[s->count++];
}

static sinew_obstacle *add_obstacle(setting *s, sinew_obstacle_kind kind, double x, double z) {
    sinew_obstacle_def def = sinew_default_obstacle_def();
    sinew_obstacle *obstacle;
    def.kind = kind;
    def.radius = 2 * edge;
    def.position[0] = x;
    def.position[2] = z;
    check(s, sinew_obstacle_create(s->world, &def, &obstacle));
    return obstacle;
}

static sinew_step_report solve(setting *s, int32_t load_steps) {
    sinew_static_def def = sinew_default_static_def();
    sinew_step_report report;
    def.load_steps = load_steps;
    check(s, sinew_world_solve_static(s->world, &def, &report));
    assert_int_equal(test_count_body_crossings(s->bodies, s->count), 0);
    return report;
}

static void solve_well(setting *s, int32_t load_steps) {
    sinew_step_report report = solve(s, load_steps);
    if (report.outcome != SINEW_OUTCOME_CONVERGED) {
        fail_msg("%s: residual %g after %d iterations", sinew_outcome_name(report.outcome),
                 report.newton_residual, report.newton_iterations);
    }
    assert_true(report.newton_residual <= 1e-8);
}

// Every gap with a force is the one to keep: multipliers are within 1e-4 of the forces, and a force
// is at most a tenth of its penalty times the local deformation.
static void check_gaps(const setting *s) {
    const double thickness = 1e-3 * edge * sqrt(3);
    const sinew_contact *contacts;
    int32_t count = sinew_world_get_contacts(s->world, &contacts);
    assert_true(count > 0);
    for (int32_t i = 0; i < count; i++) {
        double gap = contacts[i].obstacle ? thickness : 2 * thickness;
        if (!(fabs(contacts[i].gap - gap) < 1e-3 * thickness)) {
            fail_msg("a gap of %g m instead of %g", contacts[i].gap, gap);
        }
    }
}

// A cube falls by ten times its size and then rests: the floor carries its weight. With a Poisson
// ratio of 0 and without friction it is a column under its own weight, whose nodes
// bricks find exactly: the top sinks by rho g L^2 / 2 E.
static void test_rest(void **state) {
    (void)state;
    setting s = make_setting(1, 0, 0);
    s.poisson = 0;
    sinew_material_def material = sinew_default_material_def();
    material.young = 1e5;
    material.poisson = 0;
    material.strain = SINEW_STRAIN_INFINITESIMAL;
    sinew_shape_def shape = sinew_default_shape_def();
    sinew_mesh *bricks;
    shape.element = SINEW_ELEMENT_HEX8;
    shape.size[0] = shape.size[1] = shape.size[2] = edge;
    shape.cell_size = edge / 3;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &bricks));
    sinew_body_def def = sinew_default_body_def();
    def.mesh = bricks;
    def.materials = &material;
    def.material_count = 1;
    def.position[2] = 10 * edge;
    check(&s, sinew_body_create(s.world, &def, &s.bodies[s.count++]));
    sinew_obstacle *floor = add_obstacle(&s, SINEW_OBSTACLE_PLANE, 0, 0);
    solve_well(&s, 1);
    check_gaps(&s);

    double force[3];
    double weight = material.density * edge * edge * edge * 9.81;
    sinew_obstacle_get_force(floor, force, NULL);
    assert_true(fabs(force[2] + weight) < 1e-6 * weight);

    double top = -INFINITY;
    const double *x = sinew_body_get_positions(s.bodies[0]);
    for (int32_t i = 0; i < sinew_body_get_node_count(s.bodies[0]); i++) {
        top = fmax(top, x[3 * i + 2]);
    }
    double thickness = 1e-3 * edge * sqrt(3);
    double sunk = edge + thickness - top;
    double exact = material.density * 9.81 * edge * edge / (2 * material.young);
    printf("sinks by %.6g m, exact %.6g\n", sunk, exact);
    assert_true(fabs(sunk / exact - 1) < 1e-3); // gaps within 1e-3 thicknesses: 4e-4 of that
    sinew_mesh_destroy(bricks);
    destroy_setting(&s);
}

// Three cubes on one another, each turned against the one below.
static void build_stack(setting *s) {
    for (int i = 0; i < 3; i++) {
        add_cube(s, 0.01 * i, (0.55 + 1.05 * i) * edge, 0.3 * i);
    }
    add_obstacle(s, SINEW_OBSTACLE_PLANE, 0, 0);
}

static void test_stack(void **state) {
    (void)state;
    setting s = make_setting(1, 0.5, 0);
    build_stack(&s);
    solve_well(&s, 1);
    check_gaps(&s);

    // It is at rest: a step changes next to nothing.
    sinew_measures measures;
    for (int i = 0; i < 5; i++) {
        check(&s, sinew_world_step(s.world, NULL));
    }
    sinew_world_get_measures(s.world, &measures);
    printf("kinetic energy after five steps: %g J\n", measures.kinetic_energy);
    assert_true(measures.kinetic_energy < 1e-6); // 24 kg at 0.3 mm/s
    destroy_setting(&s);
}

// Below tan(angle) = friction a cube stays, above it there is no equilibrium.
static void test_slope(void **state) {
    (void)state;
    for (int slides = 0; slides < 2; slides++) {
        setting s = make_setting(1, 0.5, atan(slides ? 0.51 : 0.49));
        add_cube(&s, 0, 0.55 * edge, 0);
        add_obstacle(&s, SINEW_OBSTACLE_PLANE, 0, 0);
        sinew_step_report report = solve(&s, 1);
        printf("%s: %s, %d iterations\n", slides ? "above" : "below",
               sinew_outcome_name(report.outcome), report.newton_iterations);
        assert_int_equal(report.outcome == SINEW_OUTCOME_CONVERGED, !slides);
        destroy_setting(&s);
    }
}

// A plate is pressed onto a cube from above, in one go and in four parts: the floor below carries
// what the plate exerts and the weight.
static void test_press(void **state) {
    (void)state;
    double force[2];
    for (int parts = 0; parts < 2; parts++) {
        setting s = make_setting(1, 0, 0);
        add_cube(&s, 0, 0.51 * edge, 0);
        sinew_obstacle *floor = add_obstacle(&s, SINEW_OBSTACLE_PLANE, 0, 0);
        sinew_obstacle *plate = add_obstacle(&s, SINEW_OBSTACLE_BOX, 0.01, 1.1 * edge + 0.5);
        double at[3] = {0.01, 0, 0.9 * edge + 0.5};
        double level[4] = {0, 0, 0, 1};
        check(&s, sinew_obstacle_move(plate, at, level));
        solve_well(&s, parts ? 4 : 1);

        double now[3], up[3], down[3];
        sinew_obstacle_get_pose(plate, now, NULL);
        assert_true(now[2] == at[2]);
        sinew_obstacle_get_force(plate, up, NULL);
        sinew_obstacle_get_force(floor, down, NULL);
        double weight = 1000 * edge * edge * edge * 9.81;
        printf("plate %g N, floor %g N, weight %g N\n", up[2], down[2], weight);
        assert_true(up[2] > weight);
        assert_true(fabs(up[2] + weight + down[2]) < 1e-6 * weight);
        force[parts] = up[2];
        destroy_setting(&s);
    }
    assert_true(fabs(force[0] / force[1] - 1) < 1e-4); // the same equilibrium
}

// A support presses a cube onto the floor: both feel the same force.
static void test_support(void **state) {
    (void)state;
    setting s = make_setting(1, 0.5, 0);
    sinew_body *cube = add_cube(&s, 0, 0.52 * edge, 0);
    sinew_obstacle *floor = add_obstacle(&s, SINEW_OBSTACLE_PLANE, 0, 0);
    const double *x = sinew_body_get_positions(cube);
    int32_t nodes[64];
    double targets[3 * 64];
    int32_t count = 0;
    for (int32_t i = 0; i < sinew_body_get_node_count(cube); i++) {
        if (x[3 * i + 2] > 1.01 * edge) {
            memcpy(targets + 3 * (size_t)count, x + 3 * (size_t)i, 3 * sizeof *x);
            targets[3 * count + 2] -= 0.2 * edge;
            nodes[count++] = i;
        }
    }
    check(&s, sinew_body_fix_nodes(cube, nodes, count, SINEW_AXIS_ALL));
    check(&s, sinew_body_move_nodes(cube, nodes, count, targets));
    solve_well(&s, 2);
    check_gaps(&s);

    double force[3];
    double sum = 0;
    double reactions[3 * 256];
    assert_true(sinew_body_get_node_count(cube) <= 256);
    sinew_body_compute_reactions(cube, reactions);
    for (int32_t i = 0; i < sinew_body_get_node_count(cube); i++) {
        sum += reactions[3 * i + 2];
    }
    sinew_obstacle_get_force(floor, force, NULL);
    double weight = 1000 * edge * edge * edge * 9.81;
    printf("floor %g N, support %g N\n", force[2], sum);
    assert_true(fabs(sum - force[2] - weight) < 1e-6 * fabs(force[2]));
    destroy_setting(&s);
}

// A rigid body and bodies of all other kinds come to rest on a floor.
static void test_all_kinds(void **state) {
    (void)state;
    for (int kind = 0; kind < TEST_POSITIONS; kind++) {
        test_kinds t = test_kinds_create_world();
        sinew_world_def world = sinew_world_get_def(t.world);
        world.gravity[2] = -9.81;
        assert_int_equal(sinew_world_set_def(t.world, &world), SINEW_OK);
        sinew_body *body = test_kinds_add(&t, (test_kind)kind, (double[3]){0, 0, 0.13});
        sinew_obstacle_def floor = sinew_default_obstacle_def();
        sinew_obstacle *obstacle;
        assert_int_equal(sinew_obstacle_create(t.world, &floor, &obstacle), SINEW_OK);

        sinew_static_def def = sinew_default_static_def();
        sinew_step_report report;
        def.newton_iterations = 1000; // bars of frames rock on few vertices
        sinew_status status = sinew_world_solve_static(t.world, &def, &report);
        if (status != SINEW_OK || report.outcome != SINEW_OUTCOME_CONVERGED) {
            fail_msg("%s: %s, residual %g, %s", test_kind_name((test_kind)kind),
                     sinew_outcome_name(report.outcome), report.newton_residual,
                     sinew_context_message(t.context));
        }
        sinew_measures measures;
        double force[3];
        sinew_body_get_measures(body, &measures);
        sinew_obstacle_get_force(obstacle, force, NULL);
        test_kind_close((test_kind)kind, "weight", -force[2], 9.81 * measures.mass,
                        1e-5 * 9.81 * measures.mass);
        test_kinds_destroy(&t);
    }
}

// Without anything below, a body that nothing holds is an error, and stays where it was.
static void test_nothing_below(void **state) {
    (void)state;
    setting s = make_setting(1, 0.5, 0);
    sinew_body *cube = add_cube(&s, 0, -1, 0);
    sinew_obstacle *ball = add_obstacle(&s, SINEW_OBSTACLE_SPHERE, 2, 1);
    double before = sinew_body_get_positions(cube)[2];
    double at[3] = {2, 1, 1}, level[4] = {0, 0, 0, 1};
    check(&s, sinew_obstacle_move(ball, at, level));

    sinew_static_def def = sinew_default_static_def();
    def.newton_iterations = 1000;
    assert_int_equal(sinew_world_solve_static(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(s.context), "nothing holds body"));
    assert_true(sinew_body_get_positions(cube)[2] == before);
    sinew_obstacle_get_pose(ball, at, NULL);
    assert_true(at[1] == 0);
    destroy_setting(&s);
}

// The same bits for any number of threads.
static void test_threads(void **state) {
    (void)state;
    double first[3 * 256];
    for (int32_t threads = 1; threads <= 4; threads += 3) {
        setting s = make_setting(threads, 0.5, 0);
        build_stack(&s);
        solve_well(&s, 1);
        size_t bytes = 3 * (size_t)sinew_body_get_node_count(s.bodies[2]) * sizeof *first;
        const double *x = sinew_body_get_positions(s.bodies[2]);
        assert_true(bytes <= sizeof first);
        if (threads == 1) {
            memcpy(first, x, bytes);
        }
        assert_memory_equal(x, first, bytes);
        destroy_setting(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest),          cmocka_unit_test(test_stack),
        cmocka_unit_test(test_slope),         cmocka_unit_test(test_press),
        cmocka_unit_test(test_support),       cmocka_unit_test(test_all_kinds),
        cmocka_unit_test(test_nothing_below), cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
