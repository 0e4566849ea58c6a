// Entries of "fixed" and "scripted" that share nodes or frames add up, and say so where they
// disagree.
#include "support/test.h"

#include "io/scene/build.h"
#include "io/scene/read.h"
#include "io/scene/report.h"

#include <math.h>
#include <stdio.h>

typedef struct fixture {
    sinew_context *context;
    sn_mistakes mistakes;
    sn_scene scene;
    sn_scene_world *world;
    char warning[400]; // the last one
    int warnings;
} fixture;

static void keep_warning(void *user, sinew_log_level level, const char *line) {
    fixture *f = user;
    if (level != SINEW_LOG_WARNING) {
        return;
    }
    f->warnings++;
    snprintf(f->warning, sizeof f->warning, "%s", line);
}

static void make(fixture *f, const char *text) {
    *f = (fixture){.warnings = 0};
    sinew_context_def def = sinew_default_context_def();
    def.logger = (sinew_logger){keep_warning, f};
    f->context = sinew_context_create(&def);
    assert_non_null(f->context);
    f->mistakes = sn_mistakes_create(f->context);

    sinew_status status = sn_scene_read(f->context, "scene.json", text, strlen(text), NULL, 0,
                                        &f->mistakes, &f->scene);
    if (status == SINEW_OK) {
        status = sn_scene_build(f->context, &f->scene, NULL, NULL, &f->mistakes, &f->world);
    }
    if (status == SINEW_OK) {
        return;
    }

    for (int32_t i = 0; i < f->mistakes.count; i++) {
        print_message("%s\n", f->mistakes.items[i].message);
    }
    fail_msg("%s", sinew_context_message(f->context));
}

static void destroy(fixture *f) {
    sn_scene_world_destroy(f->world);
    sn_scene_destroy(&f->scene);
    sn_mistakes_destroy(&f->mistakes);
    sinew_context_destroy(f->context);
}

static void expect_warning(const fixture *f, const char *words) {
    if (f->warnings == 1 && strstr(f->warning, words)) {
        return;
    }
    fail_msg("%d warnings, the last: %s", f->warnings, f->warning);
}

// One eighth of a block under uniaxial traction: sigma_xx = 1000 Pa everywhere and nothing else.
static void check_symmetry(const char *element) {
    char text[1400];
    snprintf(text, sizeof text,
             "{\"version\": 1, \"gravity\": [0, 0, 0],\n"
             " \"static\": {\"tolerance\": 1e-13},\n"
             " \"materials\": {\"m\": {\"law\": \"linear\", \"young\": 1e5, \"poisson\": 0.3}},\n"
             " \"bodies\": [{\"material\": \"m\", \"shape\": {\"kind\": \"box\", \"element\": "
             "\"%s\",\n"
             "   \"size\": [2, 2, 2], \"cells\": [2, 3, 2]},\n"
             "   \"fixed\": [{\"where\": {\"box\": {\"upper\": [-1, 9, 9]}}, \"axes\": \"x\"},\n"
             "               {\"where\": {\"box\": {\"upper\": [9, -1, 9]}}, \"axes\": \"y\"},\n"
             "               {\"where\": {\"box\": {\"upper\": [9, 9, -1]}}, \"axes\": \"z\"}],\n"
             "   \"loads\": [{\"where\": {\"box\": {\"lower\": [1, -9, -9]}}, "
             "\"traction\": [1000, 0, 0]}]}]}",
             element);

    fixture f;
    make(&f, text);
    assert_int_equal(f.warnings, 0);
    sinew_step_report report;
    assert_int_equal(sn_scene_world_solve_static(f.world, &report), SINEW_OK);

    sinew_body *body = f.world->members[0].body;
    for (int32_t e = 0; e < sinew_body_get_element_count(body); e++) {
        sinew_element_state state;
        assert_int_equal(sinew_body_get_element_state(body, e, &state), SINEW_OK);
        // Cauchy stress by the deformed area: (1 - nu sigma / E)^-2 of the traction.
        double narrowing = 1 - 0.3 * 1000 / 1e5;
        test_close("sigma xx", state.stress[0], 1000 / (narrowing * narrowing), 1e-6);
        for (int k = 1; k < 6; k++) {
            test_close("other stresses", state.stress[k], 0, 1e-6); // 1e-11 of the modulus
        }
    }

    destroy(&f);
}

static void test_symmetry_planes(void **state) {
    (void)state;
    check_symmetry("tet4");
    check_symmetry("tet10");
    check_symmetry("hex8");
}

static const char *const pulled =
    "{\"version\": 1, \"gravity\": [0, 0, 0], \"step\": 0.1,\n"
    " \"bodies\": [{\"name\": \"bar\", \"shape\": {\"kind\": \"box\", \"cells\": [2, 1, 1]},\n"
    "   \"fixed\": [%s],\n"
    "   \"scripted\": [%s]}]}";

static void test_motions_along_different_axes(void **state) {
    (void)state;
    char text[1400];
    snprintf(text, sizeof text, pulled,
             "{\"where\": {\"box\": {\"upper\": [-0.5, 9, 9]}}, \"axes\": \"z\"}",
             "{\"where\": {\"box\": {\"upper\": [-0.5, 9, 9]}}, \"axes\": \"x\", \"motion\": "
             "{\"translate\": [{\"keys\": [[0, 0], [1, 1]]}, 5, 5]}},"
             "{\"where\": {\"box\": {\"upper\": [-0.5, 9, 9]}}, \"axes\": \"y\", \"motion\": "
             "{\"translate\": [5, {\"keys\": [[0, 0], [1, 2]]}, 5]}}");

    fixture f;
    make(&f, text);
    assert_int_equal(f.warnings, 0);
    assert_int_equal(sn_scene_world_step(f.world, NULL), SINEW_OK);

    const double *X = sinew_body_get_rest_positions(f.world->members[0].body);
    const double *x = sinew_body_get_positions(f.world->members[0].body);
    int32_t held = 0;
    for (int32_t i = 0; i < sinew_body_get_node_count(f.world->members[0].body); i++) {
        if (X[3 * i] > -0.499) {
            continue;
        }
        held++;
        test_close("x", x[3 * i] - X[3 * i], 0.1, 1e-12);
        test_close("y", x[3 * i + 1] - X[3 * i + 1], 0.2, 1e-12);
        test_close("z", x[3 * i + 2] - X[3 * i + 2], 0, 1e-12);
    }
    assert_int_equal(held, 4);
    destroy(&f);
}

static void test_replacing_warns(void **state) {
    (void)state;
    const char *where = "{\"where\": {\"box\": {\"upper\": [-0.5, 9, 9]}}, \"axes\": \"xz\", "
                        "\"motion\": {\"translate\": [%d, 0, 0]}}";
    char text[1400], motions[600], one[200], two[200];
    snprintf(one, sizeof one, where, 1);
    snprintf(two, sizeof two, where, 2);
    fixture f;

    // A motion replaces a plain hold.
    snprintf(text, sizeof text, pulled, "{\"box\": {\"upper\": [-0.5, 9, 9]}}", one);
    make(&f, text);
    expect_warning(&f, "body \"bar\": scripted[0] replaces the support of fixed[0] (x, z) at 4 "
                       "nodes");
    destroy(&f);

    // The later motion replaces the earlier one.
    snprintf(motions, sizeof motions, "%s, %s", one, two);
    snprintf(text, sizeof text, pulled, "", motions);
    make(&f, text);
    expect_warning(&f, "scripted[1] replaces the motion of scripted[0] (x, z) at 4 nodes");
    assert_int_equal(sn_scene_world_step(f.world, NULL), SINEW_OK);
    const double *x = sinew_body_get_positions(f.world->members[0].body);
    test_close("the later one", x[0], 1.5, 1e-12);
    destroy(&f);
}

static const char *const frames =
    "{\"version\": 1, \"gravity\": [0, 0, -9.81], \"step\": 0.01,\n"
    " \"bodies\": [{\"name\": \"bar\", \"model\": \"frames\",\n"
    "   \"shape\": {\"kind\": \"box\", \"size\": [1, 0.2, 0.2]},\n"
    "   \"frames\": {\"resolution\": 20, \"nodes\": [\n"
    "     {\"position\": [-0.4, 0, 0]%s}, {\"position\": [0.4, 0, 0]}]},\n"
    "   \"fixed\": [%s], \"scripted\": [%s]}]}";

static void test_frames_add_up(void **state) {
    (void)state;
    char text[1400];
    double x[3], r[4];
    fixture f;

    snprintf(text, sizeof text, frames, ", \"hold\": [\"rotation\"]",
             "{\"where\": {\"nodes\": [0]}, \"axes\": \"z\"}, {\"where\": {\"nodes\": [0]}, "
             "\"axes\": \"y\"}",
             "{\"where\": {\"nodes\": [0]}, \"axes\": \"x\", \"motion\": {\"translate\": "
             "[{\"keys\": [[0, 0], [1, 1]]}, 5, 5], \"rotate\": {\"axis\": [1, 0, 0], "
             "\"degrees\": 40}}}");
    make(&f, text);
    assert_int_equal(f.warnings, 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(sn_scene_world_step(f.world, NULL), SINEW_OK);
    }

    assert_int_equal(sinew_frame_body_get_node(f.world->members[0].body, 0, x, r), SINEW_OK);
    test_close("x follows", x[0], -0.35, 1e-12);
    test_close("y stays", x[1], 0, 1e-12);
    test_close("z stays", x[2], 0, 1e-12);
    test_close("the rotation stays", r[3], 1, 1e-12);
    destroy(&f);
}

static void test_frames_warn(void **state) {
    (void)state;
    char text[1400];
    fixture f;
    snprintf(text, sizeof text, frames, ", \"motion\": {\"translate\": [0, 0, 1]}",
             "{\"where\": {\"nodes\": [0]}, \"axes\": \"z\"}", "");
    make(&f, text);
    expect_warning(&f, "the frame's own entry replaces the support of fixed[0] (z) at 1 frame,");
    assert_int_equal(sn_scene_world_step(f.world, NULL), SINEW_OK);

    double x[3];
    assert_int_equal(sinew_frame_body_get_node(f.world->members[0].body, 0, x, NULL), SINEW_OK);
    test_close("z follows its motion", x[2], 1, 1e-12);
    destroy(&f);
}

// What supports carry is what loads bring, forces and torques; a bar of elements and one of frames
// with rounded edges, whose flat end has its nominal area.
static void check_equilibrium(const char *model, const char *shape, const char *extra) {
    char text[1600];
    snprintf(text, sizeof text,
             "{\"version\": 1, \"gravity\": [0, 0, 0], \"static\": {\"tolerance\": 1e-12},\n"
             " \"bodies\": [{\"model\": \"%s\", \"shape\": %s, %s\n"
             "   \"fixed\": [{\"where\": {\"box\": {\"upper\": [-0.39, 9, 9]}}}],\n"
             "   \"loads\": [{\"where\": {\"box\": {\"lower\": [0.5, -9, -9]}}, \"traction\": "
             "[3, 0, -5]}]}]}",
             model, shape, extra);

    fixture f;
    make(&f, text);
    sinew_step_report report;
    assert_int_equal(sn_scene_world_solve_static(f.world, &report), SINEW_OK);

    sn_scene_member *member = &f.world->members[0];
    sn_load_report load;
    sn_support_report supports[2];
    assert_int_equal(sn_scene_member_get_load(member, 0, 0, &load), SINEW_OK);
    assert_int_equal(sn_scene_member_compute_supports(member, supports), SINEW_OK);

    test_close("loaded area", load.area, 0.16, 1e-12);
    test_close("total x", load.force[0], 3 * 0.16, 1e-12);
    test_close("total z", load.force[2], -5 * 0.16, 1e-12);
    for (int k = 0; k < 3; k++) {
        test_close("reactions", supports[0].force[k], -load.force[k], 1e-8);
        test_close("nothing else", supports[1].force[k], 0, 1e-12);
    }
    test_close("torque about x", supports[0].torque[0], 0, 1e-5); // the load moves with the tip
    assert_true(fabs(supports[0].torque[1] + 0.8 * 0.5) < 0.01);
    destroy(&f);
}

static void test_reactions_balance_loads(void **state) {
    (void)state;
    check_equilibrium("elastic",
                      "{\"kind\": \"box\", \"size\": [1, 0.4, 0.4], \"cells\": [10, 4, 4]}", "");
    check_equilibrium("frames", "{\"solids\": [{\"kind\": \"box\", \"size\": [1, 0.4, 0.4]}]}",
                      "\"frames\": {\"resolution\": 20, \"nodes\": [{\"position\": [-0.4, 0, 0]}, "
                      "{\"position\": [0.4, 0, 0]}]},");
}

static const char *const probed =
    "{\"version\": 1, \"bodies\": [{\"name\": \"bar\", \"shape\": {\"kind\": \"box\"}}],\n"
    " \"probes\": [{\"name\": \"tip\", \"point\": [%g, 0, 0]}]}";

static void test_probes_outside(void **state) {
    (void)state;
    char text[400];
    fixture f;

    snprintf(text, sizeof text, probed, 0.5);
    make(&f, text);
    assert_int_equal(f.warnings, 0);
    destroy(&f);

    snprintf(text, sizeof text, probed, 0.75);
    make(&f, text);
    expect_warning(&f, "probe \"tip\" is 0.25 m outside body \"bar\"");
    destroy(&f);

    snprintf(text, sizeof text, probed, 9.0);
    f = (fixture){.context = test_context(1)};
    f.mistakes = sn_mistakes_create(f.context);
    assert_int_equal(
        sn_scene_read(f.context, "scene.json", text, strlen(text), NULL, 0, &f.mistakes, &f.scene),
        SINEW_OK);
    assert_int_equal(sn_scene_build(f.context, &f.scene, NULL, NULL, &f.mistakes, &f.world),
                     SINEW_INVALID_DATA);
    assert_int_equal(f.mistakes.count, 1);
    assert_non_null(strstr(f.mistakes.items[0].message, "8.5 m outside"));
    destroy(&f);
}

// A block in plane bending by prescribed displacements u_x = -k x z, u_z = k x^2 / 2, which
// ten-node tets reproduce: the strain at a probe is that of the point, e_xx = -k z, not of the
// element.
static void test_probes_interpolate(void **state) {
    (void)state;
    const double k = 1e-6;
    fixture f;
    make(&f, "{\"version\": 1, \"materials\": {\"m\": {\"law\": \"linear\", \"poisson\": 0}},\n"
             " \"bodies\": [{\"material\": \"m\", \"shape\": {\"kind\": \"box\", \"element\": "
             "\"tet10\", \"cells\": [2, 2, 2]}}],\n"
             " \"probes\": [{\"name\": \"top\", \"point\": [0.1, 0.05, 0.45]}]}");

    sinew_body *body = f.world->members[0].body;
    int32_t count = sinew_body_get_node_count(body);
    const double *X = sinew_body_get_rest_positions(body);
    double x[3 * 200];
    assert_true(count <= 200);
    for (int32_t i = 0; i < count; i++) {
        const double *p = X + 3 * i;
        x[3 * i] = p[0] - k * p[0] * p[2];
        x[3 * i + 1] = p[1];
        x[3 * i + 2] = p[2] + k * p[0] * p[0] / 2;
    }
    assert_int_equal(sinew_body_set_positions(body, x), SINEW_OK);

    sn_probe_state probe;
    sn_scene_world_read_probe(f.world, 0, &probe);
    test_close("e_xx", probe.element.strain[0], -k * 0.45, 1e-4 * k); // and terms of second order
    destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symmetry_planes), cmocka_unit_test(test_motions_along_different_axes),
        cmocka_unit_test(test_replacing_warns), cmocka_unit_test(test_frames_add_up),
        cmocka_unit_test(test_frames_warn),     cmocka_unit_test(test_reactions_balance_loads),
        cmocka_unit_test(test_probes_outside),  cmocka_unit_test(test_probes_interpolate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
