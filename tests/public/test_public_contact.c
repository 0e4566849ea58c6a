// Contact with public headers only: what is refused, defaults, and obstacles that come and go.
#include "public.h"

typedef struct setting {
    sinew_context *context;
    sinew_world *world;
    sinew_body *body;
} setting;

static setting make_setting(void) {
    setting s = {.context = public_context()};
    sinew_world_def world = sinew_default_world_def();
    assert_ok(s.context, sinew_world_create(s.context, &world, &s.world));
    sinew_mesh *bar = public_bar(s.context);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = bar;
    def.position[2] = 0.2;
    assert_ok(s.context, sinew_body_create(s.world, &def, &s.body));
    sinew_mesh_destroy(bar);
    return s;
}

static void destroy_setting(setting *s) {
    sinew_world_destroy(s->world);
    sinew_context_destroy(s->context);
}

static void assert_refused(setting *s, sinew_status status, const char *word) {
    assert_true(status == SINEW_INVALID_ARGUMENT || status == SINEW_UNSUPPORTED);
    if (!strstr(sinew_context_message(s->context), word)) {
        fail_msg("\"%s\" does not name %s", sinew_context_message(s->context), word);
    }
}

static void test_bad_definitions(void **state) {
    (void)state;
    setting s = make_setting();
    sinew_contact_def contact = sinew_default_contact_def();
    contact.friction = -1;
    assert_refused(&s, sinew_world_set_contact(s.world, &contact), "friction");
    contact = sinew_default_contact_def();
    contact.thickness = NAN;
    assert_refused(&s, sinew_world_set_contact(s.world, &contact), "thickness");
    contact = sinew_default_contact_def();
    contact.mode = (sinew_contact_mode)7;
    assert_refused(&s, sinew_world_set_contact(s.world, &contact), "mode");
    contact = (sinew_contact_def){.friction = 0.5};
    assert_refused(&s, sinew_world_set_contact(s.world, &contact), "sinew_default_contact_def");
    assert_false(sinew_world_get_contact(s.world, NULL));

    sinew_obstacle_def def = sinew_default_obstacle_def();
    def.kind = SINEW_OBSTACLE_SPHERE;
    def.radius = 0;
    assert_refused(&s, sinew_obstacle_create(s.world, &def, NULL), "radius");
    def = sinew_default_obstacle_def();
    def.kind = SINEW_OBSTACLE_BOX;
    def.size[1] = -1;
    assert_refused(&s, sinew_obstacle_create(s.world, &def, NULL), "size");
    def = sinew_default_obstacle_def();
    memset(def.rotation, 0, sizeof def.rotation);
    assert_refused(&s, sinew_obstacle_create(s.world, &def, NULL), "quaternion");
    def = sinew_default_obstacle_def();
    def.kind = (sinew_obstacle_kind)9;
    assert_refused(&s, sinew_obstacle_create(s.world, &def, NULL), "kind");
    assert_int_equal(sinew_world_get_obstacle_count(s.world), 0);
    destroy_setting(&s);
}

// Integrators that contact does not work with are refused from both sides, with the reason.
static void test_integrators(void **state) {
    (void)state;
    const sinew_integrator bad[] = {SINEW_INTEGRATOR_SYMPLECTIC_EULER, SINEW_INTEGRATOR_NEWMARK,
                                    SINEW_INTEGRATOR_MIDPOINT};
    for (size_t i = 0; i < 3; i++) {
        setting s = make_setting();
        sinew_world_def def = sinew_world_get_def(s.world);
        def.integrator = bad[i];
        assert_ok(s.context, sinew_world_set_def(s.world, &def));
        sinew_contact_def contact = sinew_default_contact_def();
        assert_refused(&s, sinew_world_set_contact(s.world, &contact), "BDF2");
        assert_false(sinew_world_get_contact(s.world, NULL));

        def.integrator = SINEW_INTEGRATOR_BDF2;
        assert_ok(s.context, sinew_world_set_def(s.world, &def));
        assert_ok(s.context, sinew_world_set_contact(s.world, &contact));
        def.integrator = bad[i];
        assert_refused(&s, sinew_world_set_def(s.world, &def), "integrator");
        destroy_setting(&s);
    }
}

static double lowest(const setting *s) {
    const double *x = sinew_body_get_positions(s->body);
    double low = INFINITY;
    for (int32_t i = 0; i < sinew_body_get_node_count(s->body); i++) {
        low = fmin(low, x[3 * (size_t)i + 2]);
    }
    return low;
}

// An obstacle switches contact on; taking it away lets the body fall; a body can be left out.
static void test_coming_and_going(void **state) {
    (void)state;
    setting s = make_setting();
    sinew_obstacle *floor;
    sinew_obstacle_def def = sinew_default_obstacle_def();
    def.name = "floor";
    assert_ok(s.context, sinew_obstacle_create(s.world, &def, &floor));
    assert_true(sinew_world_get_contact(s.world, NULL));
    assert_string_equal(sinew_obstacle_get_name(floor), "floor");
    for (int i = 0; i < 100; i++) {
        assert_ok(s.context, sinew_world_step(s.world, NULL));
        assert_true(lowest(&s) > 0);
    }
    assert_true(sinew_world_get_contact_report(s.world).active > 0);

    sinew_obstacle_destroy(floor);
    assert_int_equal(sinew_world_get_obstacle_count(s.world), 0);
    for (int i = 0; i < 20; i++) {
        assert_ok(s.context, sinew_world_step(s.world, NULL));
    }
    assert_true(lowest(&s) < -0.1);
    destroy_setting(&s);

    s = make_setting();
    assert_ok(s.context, sinew_obstacle_create(s.world, &def, &floor));
    sinew_body_contact_def out = sinew_default_body_contact_def();
    out.on = false;
    assert_ok(s.context, sinew_body_set_contact(s.body, &out));
    for (int i = 0; i < 50; i++) {
        assert_ok(s.context, sinew_world_step(s.world, NULL));
    }
    assert_true(lowest(&s) < -0.5);
    destroy_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_definitions),
        cmocka_unit_test(test_integrators),
        cmocka_unit_test(test_coming_and_going),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
