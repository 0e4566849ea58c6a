// Face supports: energy, forces and stiffness against finite differences at large rotations, no
// energy in rigid motions, reactions, moving supports, insertions, and how firm a clamp they are.
#include "support/frames.h"

#include "sinew/frame_support.h"

#include "body/body.h"
#include "frame/body/frame_body.h"

#include <math.h>
#include <stdlib.h>

typedef struct variant {
    const char *name;
    sinew_node_kind kind;
    bool dual;
} variant;

static const variant variants[] = {{"point", SINEW_NODE_POINT, false},
                                   {"rigid", SINEW_NODE_RIGID, false},
                                   {"affine", SINEW_NODE_AFFINE, false},
                                   {"quadratic", SINEW_NODE_QUADRATIC, false},
                                   {"dual quaternions", SINEW_NODE_RIGID, true}};
enum { VARIANTS = 5 };

static test_frames make(variant v) {
    test_frames_def def = test_default_frames_def(v.kind, 0.5);
    def.body.blend = v.dual ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR;
    def.world.gravity[0] = def.world.gravity[1] = def.world.gravity[2] = 0;
    return test_frames_create(test_context(1), &def);
}

static void solve(const test_frames *f) {
    sinew_static_def def = sinew_default_static_def();
    sinew_step_report report;
    if (sinew_world_solve_static(f->world, &def, &report) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f->context));
    }
    assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);
}

static void pull(sinew_body *body, const double rest[3], const double force[3],
                 sinew_point **point) {
    assert_int_equal(sinew_point_create(body, rest, point), SINEW_OK);
    assert_int_equal(sinew_point_set_force(*point, force), SINEW_OK);
}

// Holds the vertices below x.
static int32_t hold(sinew_body *body, double x, int32_t axes) {
    const sinew_mesh *surface = body->surface;
    int32_t *vertices = calloc((size_t)surface->point_count, sizeof *vertices);
    int32_t count = 0;
    for (int32_t i = 0; i < surface->point_count; i++) {
        if (surface->points[3 * i] < x) {
            vertices[count++] = i;
        }
    }

    sinew_frame_support_def def = sinew_default_frame_support_def();
    def.vertices = vertices;
    def.vertex_count = count;
    def.axes = axes;

    int32_t support = -1;
    if (sinew_frame_body_add_support(body, &def, &support) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(body->context));
    }

    free(vertices);
    return support;
}

static double energy_at(sinew_body *body, const double *q, double *force, double *matrix) {
    sn_evaluation evaluation = {.q = q, .want_energy = true, .force = force, .matrix = matrix};
    sn_face_supports_evaluate(body, &body->pattern, &evaluation);
    return evaluation.energy;
}

// Largest relative errors of the force along a direction and of the stiffness times it, by central
// differences with step h.
static void check_slopes(sinew_body *body, const double *q, const double *direction, double h,
                         double errors[2]) {
    size_t size = (size_t)sn_body_size(body);
    size_t values = sn_bsr_value_count(&body->pattern);
    double *xi = calloc(size, sizeof *xi);
    double *moved = calloc((size_t)body->config_count, sizeof *moved);
    double *force = calloc(size, sizeof *force);
    double *sides[2] = {calloc(size, sizeof(double)), calloc(size, sizeof(double))};
    double *matrix = calloc(values, sizeof *matrix);
    double *product = calloc(size, sizeof *product);
    double energy[2];

    energy_at(body, q, force, matrix);
    sn_bsr_mirror(body->context, &body->pattern, matrix);
    sn_bsr_multiply(body->context, &body->pattern, product, matrix, direction);

    // The second derivative along a geodesic: forces projected onto the direction.
    double slope = 0, curvature = 0, dots[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        for (size_t k = 0; k < size; k++) {
            xi[k] = (side ? -h : h) * direction[k];
        }
        sn_body_retract(body, moved, q, xi);
        energy[side] = energy_at(body, moved, sides[side], NULL);
        for (size_t k = 0; k < size; k++) {
            dots[side] += sides[side][k] * direction[k];
        }
    }

    for (size_t k = 0; k < size; k++) {
        slope -= force[k] * direction[k];
        curvature += product[k] * direction[k];
    }

    double slope_found = (energy[0] - energy[1]) / (2 * h);
    double curvature_found = (dots[1] - dots[0]) / (2 * h);
    errors[0] = fabs(slope_found - slope) / fabs(slope);
    errors[1] = fabs(curvature_found - curvature) / fabs(curvature);
    assert_true(fabs(slope) > 1 && fabs(curvature) > 1);

    free(xi);
    free(moved);
    free(force);
    free(sides[0]);
    free(sides[1]);
    free(matrix);
    free(product);
}

// Along exp(s direction) the rotation of a rigid node is about a fixed axis, so the force along the
// direction is the derivative of the energy, and its derivative the stiffness.
static void test_derivatives(void **state) {
    (void)state;
    for (int i = 0; i < VARIANTS; i++) {
        for (int32_t axes = 1; axes <= 7; axes += 3) {
            test_frames f = make(variants[i]);
            double *q = calloc((size_t)f.body->config_count, sizeof *q);
            double *direction = calloc((size_t)sn_body_size(f.body), sizeof *direction);
            sn_random random = sn_random_seed(5);
            double coarse[2], fine[2];

            hold(f.body, -0.4, axes);
            hold(f.body, -0.2, SINEW_AXIS_ALL); // a second one, over more frames
            test_frames_deform(f.body, q);
            for (int32_t k = 0; k < sn_body_size(f.body); k++) {
                direction[k] = sn_random_range(&random, -1, 1);
            }

            check_slopes(f.body, q, direction, 1e-2, coarse);
            check_slopes(f.body, q, direction, 1e-3, fine);
            for (int k = 0; k < 2; k++) {
                bool exact = fine[k] < 1e-8; // quadratic energies have no error but rounding
                if (!exact && !(fine[k] < 0.02 * coarse[k] && fine[k] < 1e-4)) {
                    fail_msg("%s, axes %d: %s off by %g, with a step ten times as large %g",
                             variants[i].name, axes, k ? "stiffness" : "force", fine[k], coarse[k]);
                }
            }

            free(q);
            free(direction);
            test_frames_destroy(&f);
        }
    }
}

// No rigid motion of the rest shape costs energy once the support has moved along.
static void test_rigid_motion(void **state) {
    (void)state;
    for (int i = 0; i < VARIANTS; i++) {
        test_frames f = make(variants[i]);
        int32_t support = hold(f.body, -0.4, SINEW_AXIS_ALL);
        double *q = calloc((size_t)f.body->config_count, sizeof *q);
        double *xi = calloc((size_t)sn_body_size(f.body), sizeof *xi);

        test_frames_place(f.body, xi, q); // the motion that it documents
        double scale = energy_at(f.body, q, NULL, NULL);
        sn_quat R = sn_quat_exp(sn_v3(1.1, -0.7, 1.9));
        const double position[3] = {0.3, 1, -2};
        assert_int_equal(sinew_frame_body_move_support(f.body, support, position,
                                                       (double[4]){R.x, R.y, R.z, R.w}),
                         SINEW_OK);
        double energy = energy_at(f.body, q, xi, NULL);

        assert_true(scale > 1);
        assert_true(energy < 1e-24 * scale);
        for (int32_t k = 0; k < sn_body_size(f.body); k++) {
            assert_true(fabs(xi[k]) < 1e-12 * scale);
        }

        free(q);
        free(xi);
        test_frames_destroy(&f);
    }
}

// Static equilibrium under a force at the free end: the support carries it, with its torque.
static void test_reaction(void **state) {
    (void)state;
    for (int i = 1; i < VARIANTS; i++) {
        test_frames f = make(variants[i]);
        int32_t support = hold(f.body, -0.47, SINEW_AXIS_ALL);
        const double tip[3] = {0.5, 0, 0};
        const double force[3] = {1, 0.5, -2};
        sinew_frame_support_state found;
        double x[3];

        sinew_point *point;
        pull(f.body, tip, force, &point);
        solve(&f);
        assert_int_equal(sinew_frame_body_get_support(f.body, support, &found), SINEW_OK);
        assert_int_equal(sinew_point_get_position(point, x), SINEW_OK);

        sn_vec3 torque = sn_cross(sn_load3(x), sn_load3(force));
        test_close("area", found.area, 0.04, 0.02); // the smoothed surface has round edges
        for (int k = 0; k < 3; k++) {
            test_close("force", found.force[k], -force[k], 1e-5);
        }
        test_close("torque y", found.torque[1], -torque.y, 1e-5);
        test_close("torque z", found.torque[2], -torque.z, 1e-5);
        assert_true(found.gap > 0 && found.gap < 0.1 * fabs(x[2]));
        test_frames_destroy(&f);
    }
}

// A support that rotates by 90 degrees in steps takes the body along.
static void test_moving(void **state) {
    (void)state;
    for (int i = 1; i < VARIANTS; i++) {
        test_frames f = make(variants[i]);
        int32_t support = hold(f.body, -0.4, SINEW_AXIS_ALL);
        for (int step = 1; step <= 40; step++) {
            double angle = 1.5707963267948966 * fmin(step / 30.0, 1);
            const double rotation[4] = {0, 0, sin(0.5 * angle), cos(0.5 * angle)};
            assert_int_equal(sinew_frame_body_move_support(f.body, support, NULL, rotation),
                             SINEW_OK);
            solve(&f);
        }

        double x[3];
        sinew_point *point;
        assert_int_equal(sinew_point_create(f.body, (double[3]){0.5, 0, 0}, &point), SINEW_OK);
        assert_int_equal(sinew_point_get_position(point, x), SINEW_OK);
        test_close("tip x", x[0], 0, 1e-4);
        test_close("tip y", x[1], 0.5, 1e-4);
        test_frames_destroy(&f);
    }
}

static void test_insertion(void **state) {
    (void)state;
    test_frames f = make(variants[2]);
    int32_t support = hold(f.body, -0.4, SINEW_AXIS_ALL);
    sinew_frame_insert_def def = sinew_default_frame_insert_def();
    sinew_frame_support_state before, after;
    int32_t node;

    def.kind = SINEW_NODE_AFFINE;
    def.position[0] = -0.4;
    def.range = 0.3;
    def.fade = 0;
    sinew_point *point;
    pull(f.body, (double[3]){0.5, 0, 0}, (double[3]){0, 0, -1}, &point);
    solve(&f);
    assert_int_equal(sinew_frame_body_get_support(f.body, support, &before), SINEW_OK);
    assert_int_equal(sinew_frame_body_insert(f.body, &def, &node), SINEW_OK);

    // The new frame shares the face: the same reaction and a little more
    // give.
    solve(&f);
    assert_int_equal(sinew_frame_body_get_support(f.body, support, &after), SINEW_OK);
    test_close("force", after.force[2], 1, 1e-5);
    test_close("area", after.area, before.area, 1e-15);

    sinew_frame_body_clear_supports(f.body);
    assert_int_equal(sinew_frame_body_get_support_count(f.body), 0);
    assert_int_not_equal(sinew_frame_body_get_support(f.body, 0, &after), SINEW_OK);
    test_frames_destroy(&f);
}

static void test_refused(void **state) {
    (void)state;
    test_frames f = make(variants[2]);
    sinew_frame_support_def def = sinew_default_frame_support_def();
    int32_t vertex = 0;
    assert_int_equal(sinew_frame_body_add_support(f.body, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.vertices = &vertex;
    def.vertex_count = 1;
    def.axes = 8;
    assert_int_equal(sinew_frame_body_add_support(f.body, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.axes = 7;
    vertex = f.body->surface->point_count;
    assert_int_equal(sinew_frame_body_add_support(f.body, &def, NULL), SINEW_INVALID_ARGUMENT);
    vertex = 3; // a single one is held by its share of the triangles around it
    assert_int_equal(sinew_frame_body_add_support(f.body, &def, NULL), SINEW_OK);
    assert_int_equal(sinew_frame_body_move_support(f.body, 1, NULL, NULL), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_frame_body_move_support(f.body, 0, NULL, (double[4]){0, 0, 0, 0}),
                     SINEW_INVALID_ARGUMENT);
    test_frames_destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives), cmocka_unit_test(test_rigid_motion),
        cmocka_unit_test(test_reaction),    cmocka_unit_test(test_moving),
        cmocka_unit_test(test_insertion),   cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
