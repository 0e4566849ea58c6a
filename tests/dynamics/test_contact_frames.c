// Frames that join where a finger presses on a body, and leave again.
#include "support/frames.h"
#include "support/test.h"
#include "support/touch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double radius = 0.08;
static const double top = 0.1;
static const double still[4] = {0, 0, 0, 1};

typedef struct setting {
    test_frames f;
    sinew_obstacle *finger;
    double speed; // of the finger along the slab [m/s]
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->f.context));
    }
}

// A slab with a held frame below and a free one above, and a ball over its middle.
static setting make(int32_t threads, bool adapts) {
    test_frames_def def = test_default_frames_def(SINEW_NODE_AFFINE, 0);
    def.size[0] = def.size[1] = 0.6;
    def.size[2] = 2 * top;
    def.cell = 0.05;
    def.world.gravity[2] = 0;
    def.material.young = 1e5;
    def.material.poisson = 0.3;
    def.body.node_count = 2;
    def.body.stiffness_damping = 0.01;
    def.body.weights.axis[0] = 0;
    def.body.weights.axis[2] = 1;
    def.nodes[0].position[2] = -0.08;
    def.nodes[1].position[2] = 0.06;
    setting s = {.f = test_frames_create(test_context(threads), &def)};
    check(&s, sinew_frame_body_hold(s.f.body, 0, SINEW_HOLD_ALL));

    sinew_obstacle_def finger = sinew_default_obstacle_def();
    finger.kind = SINEW_OBSTACLE_SPHERE;
    finger.radius = radius;
    finger.position[2] = top + radius + 0.005;
    check(&s, sinew_obstacle_create(s.f.world, &finger, &s.finger));
    if (adapts) {
        sinew_contact_frames_def frames = sinew_default_contact_frames_def();
        check(&s, sinew_frame_body_set_contact_frames(s.f.body, &frames));
    }
    return s;
}

static void destroy(setting *s) {
    test_frames_destroy(&s->f);
}

// Down by 4 cm within 0.2 s, there for as long, and up again.
static double depth_at(double time) {
    double share = time < 0.2 ? time / 0.2 : time < 0.4 ? 1 : fmax(-0.5, 1 - (time - 0.4) / 0.2);
    return 0.04 * share;
}

static void advance(const setting *s, int32_t steps) {
    for (int32_t i = 0; i < steps; i++) {
        double time = sinew_world_get_time_after(s->f.world, 1);
        double position[3] = {0.013 + s->speed * (time - 0.25), -0.007,
                              top + radius + 0.005 - depth_at(time)};
        check(s, sinew_obstacle_move(s->finger, position, still));
        check(s, sinew_world_step(s->f.world, NULL));
    }
}

static int32_t count_frames(const setting *s) {
    return sinew_frame_body_get_node_count(s->f.body);
}

// How far vertices of the upper side at a distance between two bounds from the finger have sunk.
static double sunk(const setting *s, double from, double to) {
    const sinew_mesh *surface = sinew_body_get_surface(s->f.body);
    double *x = calloc(3 * (size_t)surface->point_count, sizeof *x);
    sinew_body_compute_surface(s->f.body, x, NULL);
    double sum = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < surface->point_count; i++) {
        const double *X = surface->points + 3 * i;
        double distance = hypot(X[0], X[1]);
        if (X[2] > top - 1e-9 && distance >= from && distance < to) {
            sum += X[2] - x[3 * i + 2];
            count++;
        }
    }
    free(x);
    assert_true(count > 0);
    return sum / count;
}

static void test_dent(void **state) {
    (void)state;
    setting with = make(1, true);
    setting without = make(1, false);
    advance(&with, 40);
    advance(&without, 40);

    // The finger went all the way into the body with frames, which is dented under it alone.
    double pose[3], force[2][3];
    sinew_obstacle_get_pose(with.finger, pose, NULL);
    sinew_obstacle_get_force(with.finger, force[0], NULL);
    sinew_obstacle_get_force(without.finger, force[1], NULL);
    print_message("frames %d, sunk %g %g against %g %g; force %g against %g\n",
                  (int)count_frames(&with), sunk(&with, 0, 0.03), sunk(&with, 0.25, 1),
                  sunk(&without, 0, 0.03), sunk(&without, 0.25, 1), force[0][2], force[1][2]);
    assert_true(count_frames(&with) > 2 && count_frames(&with) <= 6);
    assert_int_equal(count_frames(&without), 2);
    assert_true(fabs(pose[2] - (top + radius + 0.005 - 0.04)) < 1e-9);
    assert_true(sunk(&with, 0, 0.03) > 3 * sunk(&with, 0.25, 1));

    // Without a frame there, the body resists as a whole.
    assert_true(sunk(&without, 0, 0.03) < 1.5 * sunk(&without, 0.25, 1));
    assert_true(force[0][2] > 0 && force[0][2] < 0.5 * force[1][2]);

    // Afterwards they leave, and the dent with them.
    advance(&with, 80);
    print_message("then %d, sunk %g %g\n", (int)count_frames(&with), sunk(&with, 0, 0.03),
                  sunk(&with, 0.25, 1));
    assert_int_equal(count_frames(&with), 2);
    assert_true(fabs(sunk(&with, 0, 0.03)) < 1e-4);
    destroy(&with);
    destroy(&without);
}

static void test_bits(void **state) {
    (void)state;
    // Any number of threads.
    setting a = make(1, true), b = make(3, true);
    advance(&a, 60);
    advance(&b, 60);
    assert_true(count_frames(&a) > 2);
    assert_true(sinew_world_get_hash(a.f.world) == sinew_world_get_hash(b.f.world));
    destroy(&a);
    destroy(&b);
}

// A finger slides over the slab, and frames come and go under it. Snapshots of moments before,
// while and after frames fade in and out continue in a fresh world, and in one that has other
// frames.
static void test_snapshots(void **state) {
    (void)state;
    setting copy = make(1, true);
    setting s = make(1, true);
    int32_t most = 0;
    copy.speed = s.speed = 0.6;
    for (int32_t steps = 0; steps < 90; steps += 5) {
        advance(&s, 5);
        size_t size = sinew_world_get_snapshot_size(s.f.world);
        void *bytes = malloc(size);
        check(&s, sinew_world_take_snapshot(s.f.world, bytes, size));
        check(&copy, sinew_world_restore_snapshot(copy.f.world, bytes, size));
        assert_int_equal(count_frames(&copy), count_frames(&s));
        most = count_frames(&s) > most ? count_frames(&s) : most;
        advance(&s, 3);
        advance(&copy, 3);
        assert_true(sinew_world_get_hash(copy.f.world) == sinew_world_get_hash(s.f.world));
        check(&s, sinew_world_restore_snapshot(s.f.world, bytes, size));
        free(bytes);
    }
    assert_true(most > 4); // several at a time
    destroy(&copy);
    destroy(&s);
}

// A snapshot that does not fit leaves frames and state as they were.
static void test_refused_snapshot(void **state) {
    (void)state;
    setting s = make(1, true), other = make(1, true);
    advance(&s, 30);
    advance(&other, 1);
    assert_true(count_frames(&s) > count_frames(&other));

    size_t size = sinew_world_get_snapshot_size(other.f.world);
    char *bytes = malloc(size);
    check(&other, sinew_world_take_snapshot(other.f.world, bytes, size));
    sinew_world_def changed = sinew_world_get_def(s.f.world);
    changed.step = 0.005;
    check(&s, sinew_world_set_def(s.f.world, &changed));
    uint64_t hash = sinew_world_get_hash(s.f.world);
    int32_t count = count_frames(&s);
    assert_int_equal(sinew_world_restore_snapshot(s.f.world, bytes, size), SINEW_INVALID_DATA);
    assert_int_equal(count_frames(&s), count);
    assert_true(sinew_world_get_hash(s.f.world) == hash);
    free(bytes);
    destroy(&s);
    destroy(&other);
}

// Attached points within the range of the frames that come: a hard one and a spring.
static void test_attachment(void **state) {
    (void)state;
    setting s = make(1, true);
    sinew_attachment_def def = sinew_default_attachment_def();
    sinew_attachment *ties[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
        def.body = s.f.body;
        def.rest[0] = k == 0 ? 0.1 : -0.1;
        def.rest[2] = 0.05;
        def.stiffness = k == 0 ? 0 : 500; // hard, and a spring
        check(&s, sinew_world_attach(s.f.world, &def, &ties[k]));
    }

    int32_t most = 0;
    for (int32_t i = 0; i < 110; i++) {
        advance(&s, 1);
        most = count_frames(&s) > most ? count_frames(&s) : most;
        double tied[3], target[3];
        sinew_attachment_get_positions(ties[0], tied, target);
        double gap = hypot(hypot(tied[0] - target[0], tied[1] - target[1]), tied[2] - target[2]);
        assert_true(gap < 1e-5); // that of hard attachments to moving points
    }
    assert_true(most > 2);
    assert_int_equal(count_frames(&s), 2);
    destroy(&s);
}

static void test_misuse(void **state) {
    (void)state;
    setting s = make(1, false);
    sinew_contact_frames_def def = sinew_default_contact_frames_def();
    assert_false(sinew_frame_body_get_contact_frames(s.f.body, &def));
    def.most = 17;
    assert_int_equal(sinew_frame_body_set_contact_frames(s.f.body, &def), SINEW_INVALID_ARGUMENT);
    def = sinew_default_contact_frames_def();
    def.fade = -1;
    assert_int_equal(sinew_frame_body_set_contact_frames(s.f.body, &def), SINEW_INVALID_ARGUMENT);

    // Not together with frames that were inserted by hand.
    sinew_frame_insert_def insert = sinew_default_frame_insert_def();
    insert.range = 0.1;
    insert.position[0] = 0.2;
    insert.fade = 0;
    def = sinew_default_contact_frames_def();
    check(&s, sinew_frame_body_insert(s.f.body, &insert, NULL));
    assert_int_equal(sinew_frame_body_set_contact_frames(s.f.body, &def), SINEW_UNSUPPORTED);
    check(&s, sinew_frame_body_remove(s.f.body, 2, 0));
    check(&s, sinew_frame_body_set_contact_frames(s.f.body, &def));
    assert_true(sinew_frame_body_get_contact_frames(s.f.body, NULL));
    assert_int_equal(sinew_frame_body_insert(s.f.body, &insert, NULL), SINEW_UNSUPPORTED);

    // Switched off, those that joined leave.
    advance(&s, 30);
    assert_true(count_frames(&s) > 2);
    check(&s, sinew_frame_body_set_contact_frames(s.f.body, NULL));
    assert_int_equal(count_frames(&s), 2);
    advance(&s, 1);
    destroy(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dent),       cmocka_unit_test(test_bits),
        cmocka_unit_test(test_snapshots),  cmocka_unit_test(test_refused_snapshot),
        cmocka_unit_test(test_attachment), cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
