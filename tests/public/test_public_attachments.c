// Attachments by their handles, with public headers only: every kind of body held to a position,
// moved, loosened, read and let go; bodies held to bodies.
#include "support/kinds.h"

#include <math.h>

static void step(test_kinds *t, int count) {
    for (int i = 0; i < count; i++) {
        if (sinew_world_step(t->world, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(t->context));
        }
    }
}

static sinew_attachment *attach(test_kinds *t, test_kind kind, double stiffness) {
    sinew_attachment_def def = sinew_default_attachment_def();
    sinew_attachment *attachment = NULL;
    def.body = t->body;
    def.rest[0] = 0.4;
    def.stiffness = stiffness;
    if (sinew_world_attach(t->world, &def, &attachment) != SINEW_OK) {
        fail_msg("%s: %s", test_kind_name(kind), sinew_context_message(t->context));
    }
    return attachment;
}

// A hard tie follows its target, and its force gives the body its momentum.
static void test_hard(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        sinew_attachment *attachment = attach(&t, kind, 0);
        double tied[3], target[3], force[3], impulse = 0;
        for (int i = 1; i <= 10; i++) {
            const double moved[3] = {0.4, 1e-6 * i * i, 0};
            assert_int_equal(sinew_attachment_set_target(attachment, moved), SINEW_OK);
            step(&t, 1);
            assert_int_equal(sinew_attachment_get_force(attachment, force), SINEW_OK);
            impulse += 0.001 * force[1];
        }

        sinew_attachment_get_positions(attachment, tied, target);
        for (int k = 0; k < 3; k++) {
            test_kind_close(kind, "tied point", tied[k], target[k], 1e-9);
        }

        sinew_measures measures;
        sinew_body_get_measures(t.body, &measures);
        test_kind_close(kind, "target", target[1], 1e-4, 1e-15);
        test_kind_close(kind, "momentum", measures.momentum[1], impulse, 1e-3 * fabs(impulse));
        assert_true(impulse > 0);
        test_kinds_destroy(&t);
    }
}

static void test_spring(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        sinew_attachment *attachment = attach(&t, kind, 100);
        double force[3];
        assert_int_equal(sinew_attachment_set_target(attachment, (const double[3]){0.4, 0.01, 0}),
                         SINEW_OK);
        assert_int_equal(sinew_attachment_get_force(attachment, force), SINEW_OK);
        test_kind_close(kind, "force", force[1], 1, 1e-9);
        assert_int_equal(sinew_attachment_set_stiffness(attachment, 200), SINEW_OK);
        test_kind_close(kind, "stiffness", sinew_attachment_get_stiffness(attachment), 200, 0);
        step(&t, 1);

        // What the spring had at the end of the step gave the momentum, up to how far the body
        // came.
        sinew_measures measures;
        sinew_body_get_measures(t.body, &measures);
        assert_int_equal(sinew_attachment_get_force(attachment, force), SINEW_OK);
        test_kind_close(kind, "momentum", measures.momentum[1], 0.002, 1e-4);
        test_kind_close(kind, "force after", force[1], 2, 0.1);

        // From a spring to a hard tie and back.
        assert_int_equal(sinew_attachment_set_stiffness(attachment, 0), SINEW_OK);
        step(&t, 1);
        double tied[3];
        sinew_attachment_get_positions(attachment, tied, NULL);
        test_kind_close(kind, "tied point", tied[1], 0.01, 1e-6);
        assert_int_equal(sinew_attachment_set_stiffness(attachment, 50), SINEW_OK);
        step(&t, 1);

        // Let go, the body keeps its momentum.
        sinew_attachment_destroy(attachment);
        sinew_body_get_measures(t.body, &measures);
        double before = measures.momentum[1];
        step(&t, 5);
        sinew_body_get_measures(t.body, &measures);
        test_kind_close(kind, "momentum after", measures.momentum[1], before,
                        test_kind_loss(kind) * fabs(before));
        test_kinds_destroy(&t);
    }
}

// A node eliminated by a hard tie to another body: equal and opposite forces.
static void test_pairs(void **state) {
    (void)state;
    const double here[3] = {0, 0, 0}, beside[3] = {1, 0, 0};
    for (test_kind kind = 0; kind < TEST_POSITIONS; kind++) {
        test_kinds t = test_kinds_create_world();
        t.body = test_kinds_add(&t, TEST_TET4, here);
        sinew_body *other = test_kinds_add(&t, kind, beside);
        const double *rest = sinew_body_get_rest_positions(t.body);
        sinew_attachment_def def = sinew_default_attachment_def();
        def.body = t.body;
        def.target = other;
        for (int32_t i = 0; i < sinew_body_get_node_count(t.body); i++) {
            const double *X = rest + 3 * (size_t)i;
            if (X[0] > 0.49 && fabs(X[1]) < 1e-9 && fabs(X[2]) < 1e-9) {
                def.node = i;
            }
        }

        assert_true(def.node >= 0);
        sinew_attachment *attachment = NULL;
        sinew_point *pulled = NULL;
        assert_int_equal(sinew_world_attach(t.world, &def, &attachment), SINEW_OK);
        assert_int_equal(sinew_point_create(t.body, here, &pulled), SINEW_OK);
        assert_int_equal(sinew_point_set_force(pulled, (const double[3]){0, 0, 5}), SINEW_OK);

        double force[3], impulse = 0;
        for (int i = 0; i < 10; i++) {
            step(&t, 1);
            assert_int_equal(sinew_attachment_get_force(attachment, force), SINEW_OK);
            impulse += 0.001 * force[2];
        }

        // The first body has what the point gave less what the tie took; the other has the rest.
        sinew_measures first, second;
        sinew_body_get_measures(t.body, &first);
        sinew_body_get_measures(other, &second);
        test_kind_close(kind, "sum", first.momentum[2] + second.momentum[2], 0.05, 2e-4);
        test_kind_close(kind, "impulse", first.momentum[2], 0.05 + impulse, 2e-4);
        assert_int_equal(sinew_attachment_set_target(attachment, here), SINEW_INVALID_ARGUMENT);

        sinew_body_destroy(other); // and the attachment with it
        step(&t, 1);
        test_kinds_destroy(&t);
    }
}

static void test_refusals(void **state) {
    (void)state;
    test_kinds a = test_kinds_create(TEST_TET4), b = test_kinds_create(TEST_TET4);
    sinew_attachment *none = NULL;
    sinew_attachment_def def = sinew_default_attachment_def();
    assert_int_equal(sinew_world_attach(a.world, &def, &none), SINEW_INVALID_ARGUMENT);
    def.body = b.body;
    assert_int_equal(sinew_world_attach(a.world, &def, &none), SINEW_INVALID_ARGUMENT);
    def.body = a.body;
    def.target = b.body;
    assert_int_equal(sinew_world_attach(a.world, &def, &none), SINEW_INVALID_ARGUMENT);
    def.target = NULL;
    def.stiffness = -1;
    assert_int_equal(sinew_world_attach(a.world, &def, &none), SINEW_INVALID_ARGUMENT);
    assert_null(none);
    sinew_attachment_destroy(NULL);
    test_kinds_destroy(&a);
    test_kinds_destroy(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hard),
        cmocka_unit_test(test_spring),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
