// Pairs that move together: a proof that they stay apart is never wrong, covers rolling motions,
// and a refusal says what is in the way.
#include "contact_support.h"

#include "contact/joint.h"
#include "math/quat.h"

#include <math.h>

enum { SAMPLES = 200 };

typedef struct trial {
    sn_contact_pair pair;
    sn_contact_part part;
    sn_contact_scene scene;
    double x[12], target[12];
} trial;

// A vertex and a triangle, or two edges, of parts that keep a gap of `keep` together.
static void begin_trial(trial *t, sn_contact_kind kind, double keep) {
    *t = (trial){.pair = {.kind = kind, .vertex = {0, 1, 2, 3}}};
    t->part = (sn_contact_part){.thickness = 0.5 * keep};
    t->scene = (sn_contact_scene){.parts = &t->part, .part_count = 1};
}

// The distance when each vertex has taken the share s of its motion.
static double distance_at(const trial *t, double s) {
    sn_vec3 p[4];
    for (int i = 0; i < 4; i++) {
        sn_vec3 from = sn_load3(t->x + 3 * i);
        p[i] = sn_madd(from, s, sn_sub(sn_load3(t->target + 3 * i), from));
    }

    if (t->pair.kind == SN_CONTACT_VERTEX_TRIANGLE) {
        double unused[3];
        return sn_distance(p[0], sn_closest_on_triangle(p[0], p[1], p[2], p[3], unused));
    }

    // Two edges: the best of many points of the first.
    double least = INFINITY;
    for (int k = 0; k <= SAMPLES; k++) {
        sn_vec3 a = sn_madd(p[0], (double)k / SAMPLES, sn_sub(p[1], p[0]));
        double unused[3];
        least = fmin(least, sn_distance(a, sn_closest_on_triangle(a, p[2], p[3], p[3], unused)));
    }
    return least;
}

static bool is_apart(const trial *t, sn_contact_bar *bar) {
    sn_contact_motion motion = {.x = t->x, .target = t->target};
    return sn_contact_stays_apart(&t->scene, &motion, &t->pair, bar);
}

// Random motions of random pairs. Sampled positions of proven ones keep half of the floor, a
// twentieth of the gap; sampling edges by points errs upwards, so nothing is lost by it. What is
// not proven has a plane in its way that separates the features where the motion begins to fail.
static void test_proofs_are_right(void **state) {
    (void)state;
    sn_random random = sn_random_seed(5);
    int trials = TEST_SANITIZED ? 2000 : 20000, proven = 0, refused = 0;
    for (int n = 0; n < trials; n++) {
        trial t;
        begin_trial(&t, n % 2 ? SN_CONTACT_EDGE_EDGE : SN_CONTACT_VERTEX_TRIANGLE, 0.1);
        double size = pow(10, sn_random_range(&random, -2, 0.3));
        for (int i = 0; i < 4; i++) {
            sn_vec3 from = random_vector(&random, 1);
            sn_store3(t.x + 3 * i, from);
            sn_store3(t.target + 3 * i, sn_add(from, random_vector(&random, size)));
        }
        t.pair.gap = distance_at(&t, 0);

        sn_contact_bar bar;
        if (!is_apart(&t, &bar)) {
            refused++;
            double length = sn_length(bar.n);
            assert_true(length == 0 || fabs(length - 1) < 1e-12);
            assert_true(fabs(bar.b[0] + bar.b[1] + bar.b[2] + bar.b[3]) < 1e-12);
            continue;
        }
        proven++;
        for (int k = 0; k <= 20; k++) {
            assert_true(distance_at(&t, 0.05 * k) >= fmin(0.005, t.pair.gap) * (1 - 1e-9));
        }
    }
    // The trials are not all alike.
    assert_true(proven > trials / 100 && refused > trials / 100);
}

// A triangle that rotates by 0.2 rad together with a vertex a fifth of the gap above it: no plane
// of fixed direction would do, because the corners move by thirty times that.
static void test_rolling(void **state) {
    (void)state;
    const double keep = 1e-3;
    trial t;
    begin_trial(&t, SN_CONTACT_VERTEX_TRIANGLE, keep);
    const double corners[12] = {0, 0, 0.2 * keep, -0.03, -0.03, 0, 0.03, -0.03, 0, 0, 0.03, 0};
    sn_quat turn = sn_quat_exp(sn_v3(0.2, 0, 0));
    for (int i = 0; i < 4; i++) {
        sn_vec3 at = sn_load3(corners + 3 * i);
        sn_store3(t.x + 3 * i, at);
        sn_store3(t.target + 3 * i, sn_add(sn_quat_rotate(turn, at), sn_v3(0.3, 0, -0.5)));
    }
    t.pair.gap = 0.2 * keep;
    assert_true(is_apart(&t, NULL));

    // Pushed a little further it ends too close, and says along which direction.
    t.target[2] -= 0.15 * keep;
    sn_contact_bar bar;
    assert_false(is_apart(&t, &bar));
    sn_vec3 normal = sn_quat_rotate(turn, sn_v3(0, 0, 1));
    assert_true(sn_dot(bar.n, normal) > cos(0.2)); // the proof may end anywhere on the way
}

// A vertex that passes through the triangle and out again ends far away, but is not apart.
static void test_passing_through(void **state) {
    (void)state;
    trial t;
    begin_trial(&t, SN_CONTACT_VERTEX_TRIANGLE, 1e-3);
    const double corners[12] = {0, 0, 1, -1, -1, 0, 1, -1, 0, 0, 1, 0};
    memcpy(t.x, corners, sizeof corners);
    memcpy(t.target, corners, sizeof corners);
    t.target[2] = -1;
    t.pair.gap = 1;

    sn_contact_bar bar;
    assert_false(is_apart(&t, &bar));
    assert_true(bar.n.z > 0.999);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proofs_are_right),
        cmocka_unit_test(test_rolling),
        cmocka_unit_test(test_passing_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
