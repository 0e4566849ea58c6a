// Scenes: read with all their mistakes, changed by settings, built, stepped.
#include "support/test.h"

#include "io/scene/build.h"
#include "io/scene/read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const bar =
    "{\n"
    "  // a comment\n"
    "  \"version\": 1, \"step\": 0.01, \"duration\": 0.05,\n"
    "  \"materials\": {\"gel\": {\"law\": \"neo-hookean\", \"young\": 2e5}},\n"
    "  \"bodies\": [{\"name\": \"bar\", \"material\": \"gel\",\n"
    "    \"shape\": {\"kind\": \"box\", \"size\": [1, 0.2, 0.2], \"cells\": [5, 1, 1]},\n"
    "    \"fixed\": [{\"box\": {\"upper\": [-0.5, 1, 1]}}],\n"
    "    \"loads\": [{\"where\": {\"plane\": {\"point\": [0.5, 0, 0], \"normal\": [1, 0, 0]}}, "
    "\"force\": [0, 0, -1], \"scale\": {\"keys\": [[0, 0], [1, 1]]}}]}],\n"
    "  \"probes\": [{\"name\": \"tip\", \"point\": [0.5, 0, 0]}]\n"
    "}\n";

typedef struct fixture {
    sinew_context *context;
    sn_mistakes mistakes;
    sn_scene scene;
    sinew_status status;
} fixture;

static fixture read_with(const char *text, const char *const *settings, int32_t count) {
    fixture f = {.context = test_context(1)};
    f.mistakes = sn_mistakes_create(f.context);
    f.status = sn_scene_read(f.context, "scene.json", text, strlen(text), settings, count,
                             &f.mistakes, &f.scene);
    return f;
}

static void destroy(fixture *f) {
    sn_scene_destroy(&f->scene);
    sn_mistakes_destroy(&f->mistakes);
    sinew_context_destroy(f->context);
}

static void test_bar_is_built_and_steps(void **state) {
    (void)state;
    fixture f = read_with(bar, NULL, 0);
    if (f.status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f.context));
    }

    assert_int_equal(f.scene.steps, 5);
    sn_scene_world *world;
    if (sn_scene_build(f.context, &f.scene, NULL, NULL, &f.mistakes, &world) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f.context));
    }

    for (int i = 0; i < 5; i++) {
        assert_int_equal(sn_scene_world_step(world, NULL), SINEW_OK);
    }

    sn_probe_state tip;
    sn_scene_world_read_probe(world, 0, &tip);
    assert_true(tip.displacement[2] < -1e-3 && tip.displacement[2] > -0.1);
    test_close("time", sinew_world_get_time(world->world), 0.05, 1e-15);
    sn_scene_world_destroy(world);
    destroy(&f);
}

static void test_settings_change_the_scene(void **state) {
    (void)state;
    const char *settings[] = {"step=0.02", "materials.gel.young=5e5", "bodies[0].name=beam"};
    fixture f = read_with(bar, settings, 3);
    assert_int_equal(f.status, SINEW_OK);
    test_close("step", f.scene.world.step, 0.02, 0);
    test_close("young", f.scene.materials[0].def.young, 5e5, 0);
    assert_string_equal(f.scene.bodies[0].name, "beam");
    destroy(&f);
}

static void expect_mistake(const fixture *f, int32_t line, const char *path, const char *words) {
    for (int32_t i = 0; i < f->mistakes.count; i++) {
        const sn_mistake *m = &f->mistakes.items[i];
        if (m->position.line == line && strcmp(m->path, path) == 0 && strstr(m->message, words)) {
            return;
        }
    }

    for (int32_t i = 0; i < f->mistakes.count; i++) {
        print_message("%d: %s: %s\n", f->mistakes.items[i].position.line, f->mistakes.items[i].path,
                      f->mistakes.items[i].message);
    }

    fail_msg("no mistake on line %d at %s with \"%s\"", line, path, words);
}

static void test_all_mistakes_at_once(void **state) {
    (void)state;
    fixture f = read_with("{\n"
                          "\"version\": 1,\n"
                          "\"stepp\": 0.01,\n"
                          "\"integrator\": \"newmrk\",\n"
                          "\"materials\": {\"gel\": {\"poisson\": 0.7}},\n"
                          "\"bodies\": [{\"material\": \"jel\",\n"
                          "  \"shape\": {\"kind\": \"bx\"},\n"
                          "  \"fixed\": [{\"spher\": {}}]}],\n"
                          "\"gravity\": [0, 1]\n"
                          "}",
                          NULL, 0);

    assert_int_equal(f.status, SINEW_INVALID_DATA);
    expect_mistake(&f, 3, "stepp", "step");
    expect_mistake(&f, 4, "integrator", "newmark");
    expect_mistake(&f, 5, "materials.gel", "poisson");
    expect_mistake(&f, 6, "bodies[0].material", "gel");
    expect_mistake(&f, 7, "bodies[0].shape.kind", "box");
    expect_mistake(&f, 8, "bodies[0].fixed[0].spher", "sphere");
    expect_mistake(&f, 9, "gravity", "3");
    destroy(&f);
}

static void test_empty_selection_and_missing_file(void **state) {
    (void)state;
    fixture f = read_with("{\"version\": 1, \"bodies\": [\n"
                          "{\"name\": \"a\", \"shape\": {\"kind\": \"box\"}, \"fixed\": "
                          "[{\"sphere\": {\"center\": [9, 9, 9], "
                          "\"radius\": 1}}]},\n"
                          "{\"name\": \"b\", \"shape\": {\"file\": \"nowhere.msh\"}}]}",
                          NULL, 0);

    assert_int_equal(f.status, SINEW_OK);
    sn_scene_world *world = NULL;

    assert_true(sn_scene_build(f.context, &f.scene, NULL, NULL, &f.mistakes, &world) != SINEW_OK);
    assert_null(world);
    expect_mistake(&f, 2, "bodies[0].fixed[0]", "no node");
    expect_mistake(&f, 3, "bodies[1]", "nowhere.msh");
    destroy(&f);
}

// Bodies with and without a material of their own, in an order in which the list of materials grows
// from both; what is read after a material must not overwrite it.
static void test_materials_in_any_order(void **state) {
    (void)state;
    enum { BODIES = 40 };
    char text[16384] = "{\"version\": 1, \"bodies\": [";
    for (int i = 0; i < BODIES; i++) {
        char body[400];
        char material[160] = "";
        if (i % 4 == 3) {
            (void)snprintf(material, sizeof material,
                           ", \"material\": {\"young\": %d, \"fibre_stress\": 7}, \"fixed\": "
                           "[\"all\", \"all\", \"all\"]",
                           1000 + i);
        }
        (void)snprintf(body, sizeof body, "%s{\"name\": \"b%d\", \"shape\": {\"kind\": \"box\"}%s}",
                       i ? ", " : "", i, material);
        (void)strcat(text, body);
    }
    (void)strcat(text, "]}");

    fixture f = read_with(text, NULL, 0);
    if (f.status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f.context));
    }
    for (int i = 0; i < BODIES; i++) {
        const sn_scene_material *material = &f.scene.materials[f.scene.bodies[i].material];
        double young = i % 4 == 3 ? 1000 + i : sinew_default_material_def().young;
        assert_string_equal(material->name, i % 4 == 3 ? "inline" : "default");
        test_close("Young's modulus", material->def.young, young, 0);
        test_close("fibres", sn_curve_at(&material->fibre_stress, 0), i % 4 == 3 ? 7 : 0, 0);
    }
    destroy(&f);
}

static void test_curves(void **state) {
    (void)state;
    double times[] = {0, 1, 3};
    double values[] = {0, 2, -2};
    sn_curve keys = {.kind = SN_CURVE_KEYS, .key_count = 3, .times = times, .values = values};

    test_close("before", sn_curve_at(&keys, -1), 0, 0);
    test_close("between", sn_curve_at(&keys, 2), 0, 1e-15);
    test_close("after", sn_curve_at(&keys, 9), -2, 0);
    keys.loop = true;
    test_close("again", sn_curve_at(&keys, 3.5), 1, 1e-15);

    sn_curve sine = {.kind = SN_CURVE_SINE, .value = 1, .amplitude = 2, .period = 4};
    test_close("sine", sn_curve_at(&sine, 1), 3, 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bar_is_built_and_steps),
        cmocka_unit_test(test_settings_change_the_scene),
        cmocka_unit_test(test_all_mistakes_at_once),
        cmocka_unit_test(test_empty_selection_and_missing_file),
        cmocka_unit_test(test_materials_in_any_order),
        cmocka_unit_test(test_curves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
