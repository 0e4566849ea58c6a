// Fades while nodes join and leave: points, velocities, strains, attachments and the surface show
// the same shape, which changes without a jump, also while several changes fade at once.
#include "support/points.h"
#include "frame/adapt/adapting.h"

#include "frame/body/follow.h"
#include "frame/body/state.h"

enum { PLACES = 40 };

typedef struct shape_of {
    double surface[3 * 4000];
    double places[3 * PLACES];
} shape_of;

static void find_places(double *X) {
    sn_random random = sn_random_seed(12);
    for (int i = 0; i < PLACES; i++) {
        X[3 * i] = sn_random_range(&random, -0.5, 0.5);
        X[3 * i + 1] = sn_random_range(&random, -0.1, 0.1);
        X[3 * i + 2] = sn_random_range(&random, -0.1, 0.1);
    }
}

// Reads the shape, and checks that the surface agrees with its points.
static void read_shape(const sinew_body *body, shape_of *shape) {
    const sinew_mesh *mesh = sinew_body_get_surface(body);
    assert_true(mesh->point_count <= 4000);
    sinew_body_compute_surface(body, shape->surface, NULL);

    sn_arena arena = sn_arena_create(body->context);
    sn_frame_points points;
    double *x = SN_PUSH(&arena, double, 3 * (size_t)mesh->point_count);
    double X[3 * PLACES], at[3];

    assert_int_equal(sn_frame_points_create(&arena, body, mesh->points, mesh->point_count, &points),
                     SINEW_OK);
    sn_frame_points_compute(&points, body, x, NULL, NULL);

    for (int32_t i = 0; i < mesh->point_count; i++) {
        assert_int_equal(test_get_position(body, mesh->points + 3 * i, at), SINEW_OK);
        assert_true(sn_distance(sn_load3(at), sn_load3(shape->surface + 3 * i)) < 1e-13);
        assert_true(sn_distance(sn_load3(x + 3 * i), sn_load3(at)) < 1e-13);
    }

    find_places(X);
    for (int i = 0; i < PLACES; i++) {
        assert_int_equal(test_get_position(body, X + 3 * i, shape->places + 3 * i), SINEW_OK);
    }

    sn_arena_destroy(&arena);
}

static double change_of(const sinew_body *body, const shape_of *a, const shape_of *b) {
    double largest = 0;
    for (int32_t i = 0; i < sinew_body_get_surface(body)->point_count; i++) {
        largest =
            fmax(largest, sn_distance(sn_load3(a->surface + 3 * i), sn_load3(b->surface + 3 * i)));
    }

    for (int i = 0; i < PLACES; i++) {
        largest =
            fmax(largest, sn_distance(sn_load3(a->places + 3 * i), sn_load3(b->places + 3 * i)));
    }

    return largest;
}

static void hold_all(adapting *f) {
    for (int32_t i = 0; i < sinew_frame_body_get_node_count(f->body); i++) {
        assert_int_equal(sinew_frame_body_hold(f->body, i, SINEW_HOLD_ALL), SINEW_OK);
    }
}

static const adapting bodies[] = {{.kind = SINEW_NODE_RIGID},
                                  {.kind = SINEW_NODE_RIGID, .dual = true},
                                  {.kind = SINEW_NODE_AFFINE},
                                  {.kind = SINEW_NODE_QUADRATIC, .regions = true}};
enum { BODIES = 4 };

// A chain: a second node joins in the range of the first while the first fades in, and the first
// leaves while both fade. Nothing jumps at any change, and no step changes more than the slopes of
// the three fades together allow.
static void test_a_chain_does_not_jump(void **state) {
    (void)state;
    shape_of *last = malloc(sizeof *last);
    shape_of *now = malloc(sizeof *now);

    for (int i = 0; i < (TEST_SANITIZED ? 1 : BODIES); i++) {
        adapting f = bodies[i];
        open_body(&f);
        bend_body(f.body, 0.3, 5);
        hold_all(&f);

        double whole = 0, jump = 0;
        for (int step = 0; step < 40; step++) {
            read_shape(f.body, last);
            if (step == 1) {
                join(&f, f.kind == SINEW_NODE_QUADRATIC ? SINEW_NODE_RIGID : f.kind, 0.2, 0.3, 0.1);
            }
            if (step == 4) {
                join(&f, SINEW_NODE_RIGID, 0.05, 0.25, 0.2);
            }
            if (step == 8) {
                assert_int_equal(sinew_frame_body_remove(f.body, 3, 0.05), SINEW_OK);
            }
            if (step == 10) {
                assert_int_equal(sinew_frame_body_remove(f.body, 3, 0.1), SINEW_OK);
            }

            hold_all(&f);
            read_shape(f.body, now);
            jump = fmax(jump, change_of(f.body, last, now));
            *last = *now;
            step_body(&f, 1);
            read_shape(f.body, now);

            double moved = change_of(f.body, last, now);
            whole = fmax(whole, moved);
            if (step > 30) {
                assert_true(moved < 1e-14); // all fades have ended
            }
        }

        assert_true(jump < 1e-12);
        // Fades of a few centimetres, for a hundredth of a second.
        assert_true(whole > 1e-4 && whole < 0.02);
        close_body(&f);
    }

    free(last);
    free(now);
}

// A change without a fade does not affect fades elsewhere.
static void test_others_go_on_fading(void **state) {
    (void)state;
    adapting f = {.kind = SINEW_NODE_RIGID};

    open_body(&f);
    bend_body(f.body, 0.3, 5);
    join(&f, SINEW_NODE_RIGID, 0.3, 0.18, 0.1);
    hold_all(&f);
    step_body(&f, 3);

    const double X[3] = {0.3, -0.05, 0.05};
    double before[3], after[3], end[3];

    assert_int_equal(test_get_position(f.body, X, before), SINEW_OK);
    join(&f, SINEW_NODE_RIGID, -0.3, 0.1, 0);
    hold_all(&f);
    assert_int_equal(test_get_position(f.body, X, after), SINEW_OK);
    assert_true(sn_distance(sn_load3(before), sn_load3(after)) < 1e-14);
    step_body(&f, 10);
    assert_int_equal(test_get_position(f.body, X, end), SINEW_OK);
    assert_true(sn_distance(sn_load3(before), sn_load3(end)) > 1e-4);
    close_body(&f);
}

// In the middle of two fades F is the slope of positions, rates are those of moving nodes, and
// attachments move like points with correct derivatives, to second order.
static void test_derivatives_while_fading(void **state) {
    (void)state;
    for (int i = 0; i < BODIES; i += TEST_SANITIZED ? 3 : 1) {
        adapting f = bodies[i];
        open_body(&f);
        bend_body(f.body, 0.25, 6);
        join(&f, SINEW_NODE_RIGID, 0.2, 0.3, 0.1);
        step_body(&f, 2);
        join(&f, SINEW_NODE_RIGID, 0.05, 0.25, 0.1);
        step_body(&f, 2);

        sinew_body *body = f.body;
        const sn_frame_model *model = body->model;

        assert_int_equal(model->fade.count, 2);
        size_t n = (size_t)sn_body_size(body);
        size_t configs = (size_t)body->config_count;
        double *xi = calloc(n, sizeof *xi);
        double *q = calloc(configs, sizeof *q);
        double *here = calloc(configs, sizeof *here);

        memcpy(here, body->q, configs * sizeof *q);
        sn_random random = sn_random_seed(4);
        for (size_t k = 0; k < n; k++) {
            body->v[k] = sn_random_range(&random, -1, 1);
        }

        const sn_vec3 X = sn_v3(0.13, 0.02, -0.03);
        sn_blend_prepare(&model->nodes, &model->blend, body->q);

        sn_frame_motion motion = sn_frame_motion_at(body, X, body->v);
        sn_blend_offset off = sn_fade_offset_at(&model->fade, model->shape, *body->age, X);

        assert_true(sn_length(off.offset) > 1e-5);
        double h = 1e-6;
        for (int a = 0; a < 3; a++) {
            sn_vec3 d = sn_v3(a == 0 ? h : 0, a == 1 ? h : 0, a == 2 ? h : 0);
            sn_vec3 slope =
                sn_scale(0.5 / h, sn_sub(sn_frame_motion_at(body, sn_add(X, d), NULL).x,
                                         sn_frame_motion_at(body, sn_sub(X, d), NULL).x));

            // Weights of insertions are trilinear, their slopes are means of slopes: equal to a few
            // per cent within a voxel.
            assert_true(sn_distance(slope, sn_mat3_column(motion.F, a)) < 0.1);
        }

        sn_arena arena = sn_arena_create(f.frames.context);
        sn_point point, moved;

        assert_int_equal(sn_frame_point_create(&arena, body, X, false, &point), SINEW_OK);
        assert_int_equal(sn_frame_point_create(&arena, body, X, false, &moved), SINEW_OK);
        sn_frame_point_move(body, body->q, &point);
        assert_true(sn_distance(point.x, motion.x) < 1e-13);

        sn_vec3 rate = sn_v3(0, 0, 0);
        sn_vec3 ends[2];
        for (int32_t k = 0; k < point.count; k++) {
            rate = sn_add(rate, sn_mat3_apply(point.J[k], sn_load3(body->v + 3 * point.row[k])));
        }

        assert_true(sn_distance(rate, motion.rate) < 1e-12);
        const sn_vec3 push = sn_v3(3, -1, 2);
        sn_mat3 *blocks = SN_PUSH(&arena, sn_mat3, (size_t)point.count * (size_t)point.count);

        sn_frame_point_add_curvature(body, &point, push, blocks);
        double bend = 0;
        for (int32_t r = 0; r < point.count; r++) {
            for (int32_t c = 0; c < point.count; c++) {
                sn_vec3 to = sn_mat3_apply(blocks[r * point.count + c],
                                           sn_load3(body->v + 3 * point.row[c]));
                bend += sn_dot(sn_load3(body->v + 3 * point.row[r]), to);
            }
        }

        h = 1e-4;
        for (int side = 0; side < 2; side++) {
            for (size_t k = 0; k < n; k++) {
                xi[k] = (side ? -h : h) * body->v[k];
            }

            sn_body_retract(body, q, here, xi);
            sn_frame_points_prepare(body, q);
            sn_frame_point_move(body, body->q, &moved);
            ends[side] = moved.x;
        }

        sn_vec3 slope = sn_scale(0.5 / h, sn_sub(ends[0], ends[1]));
        assert_true(sn_distance(slope, rate) < 1e-6);

        double second =
            sn_dot(push, sn_sub(sn_add(ends[0], ends[1]), sn_scale(2, point.x))) / (h * h);

        test_close("curvature", second, bend, 1e-5 * (1 + fabs(bend)));

        // A force does the same work on the point as on the nodes.
        double *rows = SN_PUSH(&arena, double, n);
        assert_non_null(rows);
        sn_frame_points_prepare(body, body->q);
        sn_frame_point_add_force(body, &point, push, rows);

        double work = 0;
        for (size_t k = 0; k < n; k++) {
            work += rows[k] * body->v[k];
        }

        test_close("work", work, sn_dot(push, rate), 1e-11);
        sn_arena_destroy(&arena);
        free(xi);
        free(q);
        free(here);
        close_body(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_chain_does_not_jump),
                                       cmocka_unit_test(test_others_go_on_fading),
                                       cmocka_unit_test(test_derivatives_while_fading)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
