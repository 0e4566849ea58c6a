// Forces on vertices and points are mapped to the rows by the transpose of the map from rows to
// points: f . dx = (J' f) . dq, for every kind of body, deformed and rotated.
//
// dx is found by central differences, whose error falls to a quarter with half the step, down to
// rounding.
#include "support/kinds.h"

#include "base/random.h"
#include "body/body.h"
#include "sinew/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pull {
    double *forces, *rows, *xi, *q, *positions[2];
} pull;

static double *room(size_t count) {
    double *array = calloc(count, sizeof *array);
    assert_non_null(array);
    return array;
}

static void fill(sn_random *random, double *array, size_t count) {
    for (size_t i = 0; i < count; i++) {
        array[i] = 2 * sn_random_unit(random) - 1;
    }
}

// f . dx / d(step) by central differences along xi.
static double slope(sinew_body *body, const pull *p, double step) {
    size_t config = (size_t)body->config_count * sizeof(double);
    double *xi = room((size_t)sn_body_size(body));
    for (int side = 0; side < 2; side++) {
        for (int32_t i = 0; i < sn_body_size(body); i++) {
            xi[i] = (side ? 1 : -1) * step * p->xi[i];
        }

        sn_body_retract(body, body->q, p->q, xi);
        body->ops->surface.compute(body, body->q, p->positions[side]);
    }

    memcpy(body->q, p->q, config);
    double sum = 0;
    for (size_t i = 0; i < 3 * (size_t)body->surface->point_count; i++) {
        sum += p->forces[i] * (p->positions[1][i] - p->positions[0][i]) / (2 * step);
    }

    free(xi);
    return sum;
}

static void check_kind(test_kind kind, bool fading) {
    test_kinds t = test_kinds_create(kind);
    test_kinds_deform(&t, kind);
    sinew_body *body = t.body;

    // A frame that has just joined: vertices with weights of their own, and offsets that fade.
    if (fading) {
        sinew_frame_insert_def insert = sinew_default_frame_insert_def();
        insert.kind = SINEW_NODE_AFFINE;
        insert.position[0] = 0.2;
        insert.range = 0.25;
        insert.fade = 1;
        assert_int_equal(sinew_frame_body_insert(body, &insert, NULL), SINEW_OK);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(sinew_world_step(t.world, NULL), SINEW_OK);
        }
    }

    size_t vertices = 3 * (size_t)body->surface->point_count;
    size_t size = (size_t)sn_body_size(body);
    pull p = {room(vertices),
              room(size),
              room(size),
              room((size_t)body->config_count),
              {room(vertices), room(vertices)}};
    sn_random random = sn_random_seed(7);

    fill(&random, p.forces, vertices);
    fill(&random, p.xi, size);
    memcpy(p.q, body->q, (size_t)body->config_count * sizeof(double));
    body->ops->surface.add_forces(body, p.forces, p.rows);

    double expected = 0, scale = 0;
    for (size_t i = 0; i < size; i++) {
        expected += p.rows[i] * p.xi[i];
        scale += fabs(p.rows[i] * p.xi[i]);
    }

    // Second order, where there is an error at all; then the floor of rounding.
    double coarse = fabs(slope(body, &p, 1e-2) - expected);
    double fine = fabs(slope(body, &p, 5e-3) - expected);
    assert_true(scale > 0);
    assert_true(coarse < 1e-9 * scale || fabs(coarse / fine - 4) < 0.5);
    test_kind_close(kind, "f . dx", slope(body, &p, 1e-5), expected, 1e-8 * scale);

    double *lists[] = {p.forces, p.rows, p.xi, p.q, p.positions[0], p.positions[1]};
    for (int i = 0; i < 6; i++) {
        free(lists[i]);
    }
    test_kinds_destroy(&t);
}

static void test_surface_transpose(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        check_kind(kind, false);
    }
}

static void test_surface_transpose_while_fading(void **state) {
    (void)state;
    check_kind(TEST_AFFINE_FRAMES, true);
    check_kind(TEST_RIGID_FRAMES, true);
}

// J of a point is the derivative of its position, and add_force its transpose.
static void test_point_jacobian(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        test_kinds_deform(&t, kind);
        sinew_body *body = t.body;
        sn_arena arena = sn_arena_create(t.context);
        sn_point point;
        assert_int_equal(
            body->ops->points.create(&arena, body, sn_v3(0.31, 0.04, -0.07), false, &point),
            SINEW_OK);

        size_t size = (size_t)sn_body_size(body);
        size_t config = (size_t)body->config_count;
        double *xi = room(size), *scaled = room(size), *rows = room(size), *q = room(config);
        sn_random random = sn_random_seed(3);
        fill(&random, xi, size);
        memcpy(q, body->q, config * sizeof *q);

        // The displacement by the Jacobian.
        sn_body_move_point(body, &point);
        sn_vec3 expected = {0, 0, 0}, ends[2];
        for (int32_t k = 0; k < point.count; k++) {
            expected = sn_add(expected,
                              sn_mat3_apply(point.J[k], sn_load3(xi + 3 * (size_t)point.row[k])));
        }

        // The force does the same work on the rows.
        sn_vec3 f = {0.3, -0.8, 0.5};
        double work = 0;
        body->ops->points.add_force(body, &point, f, rows);
        for (size_t i = 0; i < size; i++) {
            work += rows[i] * xi[i];
        }

        test_kind_close(kind, "f . J dq", work, sn_dot(f, expected), 1e-12);

        // The displacement by central differences.
        double step = 1e-5;
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < size; i++) {
                scaled[i] = (side ? step : -step) * xi[i];
            }
            sn_body_retract(body, body->q, q, scaled);
            sn_body_move_point(body, &point);
            ends[side] = point.x;
        }

        sn_vec3 found = sn_scale(1 / (2 * step), sn_sub(ends[1], ends[0]));
        test_kind_close(kind, "dx", sn_distance(found, expected), 0, 1e-8);
        assert_true(sn_length(expected) > 0.01);

        free(xi);
        free(scaled);
        free(rows);
        free(q);
        sn_arena_destroy(&arena);
        test_kinds_destroy(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_surface_transpose),
        cmocka_unit_test(test_surface_transpose_while_fading),
        cmocka_unit_test(test_point_jacobian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
