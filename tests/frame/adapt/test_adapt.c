// Frames that join and leave a running body: momentum is conserved, shape and energy do not jump,
// dents are as local as requested; snapshots, threads, memory shortage, invalid input; and rest
// points found from current positions.
#include "support/frames.h"
#include "support/points.h"

#include "body/body.h"
#include "frame/body/frame_body.h"

#include <math.h>
#include <stdlib.h>

static test_frames_def bar_of(sinew_node_kind kind) {
    test_frames_def def = test_default_frames_def(kind, 0.45);
    def.world.gravity[2] = 0;
    return def;
}

static test_frames make(sinew_node_kind kind, int32_t threads) {
    test_frames_def def = bar_of(kind);
    return test_frames_create(test_context(threads), &def);
}

// Bends and rotates the whole body, and gives it a spin and random velocities.
static void stir(sinew_body *body) {
    const sn_frame_model *model = body->model;
    sn_random random = sn_random_seed(31);
    double *xi = calloc((size_t)sn_body_size(body), sizeof *xi);
    bool rigid = model->nodes.items[0].kind == SINEW_NODE_RIGID;

    for (int32_t i = 0; i < sn_body_size(body); i++) {
        xi[i] = sn_random_range(&random, -0.3, 0.3) * (rigid && i % 6 < 3 ? 1 : 0.2);
    }

    test_frames_place(body, xi, body->q);
    memcpy(body->target, body->q, (size_t)body->config_count * sizeof(double));
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        body->v[i] = sn_random_range(&random, -2, 2);
    }

    free(xi);
}

static sinew_frame_insert_def insertion_at(double x, double y, double z, double range) {
    sinew_frame_insert_def def = sinew_default_frame_insert_def();
    def.position[0] = x;
    def.position[1] = y;
    def.position[2] = z;
    def.range = range;
    return def;
}

static void insert(test_frames *f, sinew_frame_insert_def def, int32_t expected) {
    int32_t node = -1;
    if (sinew_frame_body_insert(f->body, &def, &node) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f->context));
    }
    assert_int_equal(node, expected);
}

static double *surface_of(const sinew_body *body) {
    double *positions =
        calloc(3 * (size_t)sinew_body_get_surface(body)->point_count, sizeof *positions);
    sinew_body_compute_surface(body, positions, NULL);
    return positions;
}

// The largest displacement of a vertex.
static double surface_change(const sinew_body *body, const double *before) {
    double *now = surface_of(body);
    double largest = 0;
    for (int32_t i = 0; i < sinew_body_get_surface(body)->point_count; i++) {
        largest = fmax(largest, sn_distance(sn_load3(now + 3 * i), sn_load3(before + 3 * i)));
    }

    free(now);
    return largest;
}

static void check_momentum(const sinew_measures *before, const sinew_measures *after) {
    for (int k = 0; k < 3; k++) {
        test_close("momentum", after->momentum[k], before->momentum[k], 1e-11 * before->mass);
        test_close("angular momentum", after->angular_momentum[k], before->angular_momentum[k],
                   1e-11 * before->mass);
    }
    test_close("mass", after->mass, before->mass, 1e-11 * before->mass);
}

// Frames of every kind join and leave a body in motion: momenta, energy and surface do not jump.
static void test_momentum_and_energy_go_on(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        test_frames f = make(kind % 2 ? SINEW_NODE_RIGID : SINEW_NODE_AFFINE, 1);
        stir(f.body);

        sinew_measures before, after;
        double *surface = surface_of(f.body);

        sinew_body_get_measures(f.body, &before);
        sinew_frame_insert_def def = insertion_at(0.21, 0.05, -0.04, 0.25);

        def.kind = (sinew_node_kind)kind;
        insert(&f, def, 3);
        sinew_body_get_measures(f.body, &after);
        check_momentum(&before, &after);

        // A point frame flattens its surroundings, so that the energy cannot be kept.
        if (kind != SINEW_NODE_POINT) {
            test_close("elastic energy", after.elastic_energy, before.elastic_energy,
                       1e-9 * before.elastic_energy);
        }
        assert_true(surface_change(f.body, surface) < 1e-12);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        sinew_body_get_measures(f.body, &before);
        free(surface);
        surface = surface_of(f.body);
        assert_int_equal(sinew_frame_body_remove(f.body, 3, 0.1), SINEW_OK);
        assert_int_equal(sinew_frame_body_get_node_count(f.body), 3);
        sinew_body_get_measures(f.body, &after);
        check_momentum(&before, &after);
        assert_true(surface_change(f.body, surface) < 1e-12);

        for (int i = 0; i < 3; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        free(surface);
        test_frames_destroy(&f);
    }
}

// With all frames held only the fade moves the surface: smoothly, and in total by the jump of an
// insertion without a fade.
static void test_jump_is_faded(void **state) {
    (void)state;
    double jump = 0;
    for (int faded = 0; faded < 2; faded++) {
        test_frames f = make(SINEW_NODE_RIGID, 1);
        stir(f.body);
        memset(f.body->v, 0, (size_t)sn_body_size(f.body) * sizeof(double));

        double *first = surface_of(f.body);
        double *last = surface_of(f.body);
        sinew_frame_insert_def def = insertion_at(0.21, 0, 0, 0.3);

        def.fade = faded ? 0.1 : 0;
        insert(&f, def, 3);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(sinew_frame_body_hold(f.body, i, SINEW_HOLD_ALL), SINEW_OK);
        }

        if (!faded) {
            jump = surface_change(f.body, first);
            assert_true(jump > 1e-3 && jump < 0.1); // a few per cent of the length
        }

        for (int i = 0; i < 12 && faded; i++) {
            free(last);
            last = surface_of(f.body);
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
            // The steepest slope of the fade.
            assert_true(surface_change(f.body, last) <= 1.5 * 0.1 * jump);
        }

        if (faded) {
            test_close("the whole jump", surface_change(f.body, first), jump, 1e-12);
        }

        free(first);
        free(last);
        test_frames_destroy(&f);
    }
}

// Share of the surface that moves by more than a tenth of the depth of the dent.
static double dent(double range) {
    test_frames f = make(SINEW_NODE_AFFINE, 1);
    insert(&f, insertion_at(0.1, 0, 0.075, range), 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sinew_frame_body_hold(f.body, i, SINEW_HOLD_ALL), SINEW_OK);
    }

    double *before = surface_of(f.body);
    const double press[3] = {0, 0, -200};
    const double at[3] = {0.1, 0, 0.075};

    assert_int_equal(test_add_force(f.body, at, press), SINEW_OK);
    sinew_static_def statics = sinew_default_static_def();

    assert_int_equal(sinew_world_solve_static(f.world, &statics, NULL), SINEW_OK);
    double *after = surface_of(f.body);
    double deepest = surface_change(f.body, before);

    assert_true(deepest > 1e-4);
    const sinew_mesh *surface = sinew_body_get_surface(f.body);
    int32_t moved = 0;

    for (int32_t i = 0; i < surface->point_count; i++) {
        double distance = sn_distance(sn_load3(after + 3 * i), sn_load3(before + 3 * i));
        moved += distance > 0.1 * deepest;
        if (sn_distance(sn_load3(surface->points + 3 * i), sn_load3(at)) > range + 0.15) {
            assert_true(distance == 0);
        }
    }

    free(before);
    free(after);

    double share = (double)moved / surface->point_count;
    test_frames_destroy(&f);

    return share;
}

static void test_range_makes_dents_local(void **state) {
    (void)state;
    double local = dent(0.12);
    double wide = dent(0.35);
    assert_true(local > 0 && local < 0.5 * wide);
}

// Forces during a fade are the gradient of the energy.
static void test_forces_while_fading(void **state) {
    (void)state;
    test_frames f = make(SINEW_NODE_RIGID, 1);

    stir(f.body);
    insert(&f, insertion_at(0.21, 0.05, -0.04, 0.25), 3);

    int32_t n = sn_body_size(f.body);
    double *q = calloc((size_t)f.body->config_count, sizeof *q);
    double *force = calloc((size_t)n, sizeof *force);
    double *xi = calloc((size_t)n, sizeof *xi);
    double energy[2];
    double h = 1e-5;
    double slope = 0;
    sn_evaluation at = {.q = f.body->q, .force = force};

    f.body->ops->elasticity.evaluate(f.body, &at);
    sn_random random = sn_random_seed(3);
    for (int32_t i = 0; i < n; i++) {
        double d = sn_random_range(&random, -1, 1);
        xi[i] = h * d;
        slope -= force[i] * d;
    }

    for (int side = 0; side < 2; side++) {
        sn_body_retract(f.body, q, f.body->q, xi);
        sn_evaluation moved = {.q = q, .want_energy = true};
        f.body->ops->elasticity.evaluate(f.body, &moved);
        energy[side] = moved.energy;

        for (int32_t i = 0; i < n; i++) {
            xi[i] = -xi[i];
        }
    }

    assert_true(fabs(slope) > 1);
    test_close("slope", (energy[0] - energy[1]) / (2 * h), slope, 1e-6 * fabs(slope));
    free(q);
    free(force);
    free(xi);
    test_frames_destroy(&f);
}

static void test_threads_give_the_same_bits(void **state) {
    (void)state;
    uint64_t hash = 0;
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        test_frames f = make(SINEW_NODE_RIGID, threads);
        stir(f.body);
        insert(&f, insertion_at(0.21, 0.05, -0.04, 0.25), 3);

        for (int i = 0; i < 4; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        insert(&f, insertion_at(-0.2, 0.05, 0.04, 0.3), 4);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        assert_int_equal(sinew_frame_body_remove(f.body, 3, 0.05), SINEW_OK);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        if (threads == 1) {
            hash = sinew_world_get_hash(f.world);
        }

        assert_true(sinew_world_get_hash(f.world) == hash);
        test_frames_destroy(&f);
    }
}

// A snapshot can be restored only with the frames it was taken with, also in the middle of a fade.
static void test_snapshots(void **state) {
    (void)state;
    test_frames f = make(SINEW_NODE_RIGID, 1);

    stir(f.body);
    size_t size = sinew_world_get_snapshot_size(f.world);
    void *early = malloc(size);

    assert_int_equal(sinew_world_take_snapshot(f.world, early, size), SINEW_OK);
    insert(&f, insertion_at(0.21, 0.05, -0.04, 0.25), 3);
    assert_int_equal(sinew_world_restore_snapshot(f.world, early, size), SINEW_INVALID_DATA);

    for (int i = 0; i < 3; i++) {
        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
    }

    size_t later_size = sinew_world_get_snapshot_size(f.world);
    void *later = malloc(later_size);

    assert_int_equal(sinew_world_take_snapshot(f.world, later, later_size), SINEW_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
    }

    uint64_t hash = sinew_world_get_hash(f.world);
    assert_int_equal(sinew_world_restore_snapshot(f.world, later, later_size), SINEW_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
    }

    assert_true(sinew_world_get_hash(f.world) == hash);

    // The same number of frames, but another position.
    assert_int_equal(sinew_frame_body_remove(f.body, 3, 0), SINEW_OK);
    insert(&f, insertion_at(-0.21, 0.05, -0.04, 0.25), 3);
    assert_int_equal(sinew_world_restore_snapshot(f.world, later, later_size), SINEW_INVALID_DATA);
    free(early);
    free(later);
    test_frames_destroy(&f);
}

static void test_memory_shortage(void **state) {
    (void)state;
    bool done = false;
    for (int64_t n = 0; !done && n < 400; n++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        test_frames_def bar = bar_of(SINEW_NODE_RIGID);
        test_frames f = test_frames_create(test_context_failing(&allocator), &bar);
        sinew_frame_insert_def def = insertion_at(0.21, 0.05, -0.04, 0.25);

        def.kind = SINEW_NODE_QUADRATIC; // needs new moments of the base as well
        stir(f.body);

        uint64_t hash = sinew_world_get_hash(f.world);
        allocator.fail_at = allocator.calls + n;

        sinew_status status = sinew_frame_body_insert(f.body, &def, NULL);
        allocator.fail_at = INT64_MAX;
        done = status == SINEW_OK;

        if (!done) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
            assert_int_equal(sinew_frame_body_get_node_count(f.body), 3);
            assert_true(sinew_world_get_hash(f.world) == hash);
            assert_int_equal(sinew_frame_body_insert(f.body, &def, NULL), SINEW_OK);
        }

        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        test_frames_destroy(&f);
        assert_int_equal(allocator.live, 0);
    }

    assert_true(done);
}

static void refuse(test_frames *f, sinew_frame_insert_def def, const char *word) {
    uint64_t hash = sinew_world_get_hash(f->world);
    assert_int_equal(sinew_frame_body_insert(f->body, &def, NULL), SINEW_INVALID_ARGUMENT);
    if (!strstr(sinew_context_message(f->context), word)) {
        fail_msg("no '%s' in: %s", word, sinew_context_message(f->context));
    }

    assert_true(sinew_world_get_hash(f->world) == hash);
    assert_int_equal(sinew_frame_body_get_node_count(f->body), 3);
}

static void test_bad_input(void **state) {
    (void)state;
    test_frames f = make(SINEW_NODE_RIGID, 1);

    refuse(&f, insertion_at(0, 2, 0, 0.3), "outside");
    refuse(&f, insertion_at(0, 0, 0, 0.3), "already");
    refuse(&f, insertion_at(0.2, 0, 0, 0.01), "range");
    refuse(&f, insertion_at(NAN, 0, 0, 0.3), "finite");

    sinew_frame_insert_def def = insertion_at(0.2, 0, 0, 0.3);
    def.fade = -1;
    refuse(&f, def, "fade");
    def = insertion_at(5, 0, 0, 0.3);
    def.deformed = true;
    refuse(&f, def, "no point");
    def = insertion_at(0.2, 0, 0, 0.3);
    def.kind = (sinew_node_kind)7;
    refuse(&f, def, "kind");
    assert_int_equal(sinew_frame_body_remove(f.body, 0, 0.1), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_frame_body_remove(f.body, 3, 0.1), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_frame_body_remove(f.body, -1, 0.1), SINEW_INVALID_ARGUMENT);
    insert(&f, insertion_at(0.2, 0, 0, 0.3), 3);
    assert_int_equal(sinew_frame_body_remove(f.body, 3, NAN), SINEW_INVALID_ARGUMENT);
    test_frames_destroy(&f);
}

// Rest points are found from their current positions, also with an inserted frame; positions
// without a point are reported.
static void test_inverse(void **state) {
    (void)state;
    test_frames f = make(SINEW_NODE_RIGID, 1);

    stir(f.body);
    sn_random random = sn_random_seed(8);
    int32_t many = 0;

    for (int i = 0; i < 200; i++) {
        if (i == 100) {
            insert(&f, insertion_at(0.21, 0.05, -0.04, 0.25), 3);
        }

        double X[3] = {sn_random_range(&random, -0.5, 0.5), sn_random_range(&random, -0.1, 0.1),
                       sn_random_range(&random, -0.1, 0.1)};
        double x[3], found[3], again[3];
        int32_t iterations;
        sn_vec3 rest;

        assert_int_equal(test_get_position(f.body, X, x), SINEW_OK);
        assert_true(sn_frame_find_point(f.body, sn_load3(x), 1e-9 * 0.05, &rest, &iterations));
        sn_store3(found, rest);

        assert_int_equal(test_get_position(f.body, found, again), SINEW_OK);
        assert_true(sn_distance(sn_load3(again), sn_load3(x)) <= 1e-9 * 0.05);
        many += iterations > 8;
    }

    assert_true(many < 20);
    sn_vec3 rest;
    assert_false(sn_frame_find_point(f.body, sn_v3(9, 9, 9), 1e-9 * 0.05, &rest, &many));
    test_frames_destroy(&f);
}

int main(void) {
    if (TEST_WATCHES_THREADS) {
        cmocka_set_test_filter("test_threads*");
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_momentum_and_energy_go_on),
        cmocka_unit_test(test_jump_is_faded),
        cmocka_unit_test(test_range_makes_dents_local),
        cmocka_unit_test(test_forces_while_fading),
        cmocka_unit_test(test_threads_give_the_same_bits),
        cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_memory_shortage),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_inverse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
