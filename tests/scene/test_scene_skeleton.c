// Scenes with skeletons: from characters and files, retargeted, in all bindings and models; what is wrong is told where it is.
#include "support/test.h"

#include "sinew/character.h"

#include "io/bvh.h"
#include "io/scene/build.h"
#include "io/scene/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// A leg of few tets with a skeleton; the three parts differ from test to test.
static const char *const form = "{\"version\": 1, \"gravity\": [0, -9.81, 0], \"step\": 0.02, \"steps\": 10,\n"
                                " \"skeletons\": {\"leg\": %s},\n"
                                " \"bodies\": [{\"name\": \"leg\", \"shape\": {\"character\": \"leg\", \"tets\": 400},\n"
                                "   \"skeleton\": \"leg\" %s}]%s}\n";

typedef struct fixture {
    sinew_context *context;
    sn_mistakes mistakes;
    sn_scene scene;
    sn_scene_world *world;
    sinew_status status;
    char text[2048];
    sn_buffer bvh; // what every file holds
    int warnings;
    char warning[400];
} fixture;

static bool fetch(void *user, const char *name, const void **data, size_t *size) {
    fixture *f = user;
    if (strcmp(name, "missing.bvh") == 0) return false;
    *data = f->bvh.data;
    *size = f->bvh.size;
    return true;
}

static void take_log(void *user, sinew_log_level level, const char *line) {
    fixture *f = user;
    f->warnings += level == SINEW_LOG_WARNING;
    snprintf(f->warning, sizeof f->warning, "%s", line);
}

// The leg's own motion as a file in centimetres.
static void write_motion(fixture *f) {
    sinew_character_def def = sinew_default_character_def();
    def.kind = SINEW_CHARACTER_LEG;
    def.without_flesh = true;
    sinew_character leg;
    assert_int_equal(sinew_character_create(f->context, &def, &leg), SINEW_OK);
    f->bvh = sn_buffer_create(f->context);
    assert_int_equal(sn_bvh_write(f->context, leg.skeleton, leg.motion, 0.01, &f->bvh), SINEW_OK);
    sinew_character_destroy(&leg);
}

static fixture *make(const char *skeleton, const char *body, const char *more) {
    fixture *f = calloc(1, sizeof *f);
    sinew_context_def def = sinew_default_context_def();
    def.logger = (sinew_logger){take_log, f};
    f->context = sinew_context_create(&def);
    f->mistakes = sn_mistakes_create(f->context);
    write_motion(f);
    snprintf(f->text, sizeof f->text, form, skeleton, body, more);
    f->status = sn_scene_read(f->context, "scene.json", f->text, strlen(f->text), NULL, 0, &f->mistakes, &f->scene);
    if (f->status == SINEW_OK) f->status = sn_scene_build(f->context, &f->scene, fetch, f, &f->mistakes, &f->world);
    return f;
}

static void destroy(fixture *f) {
    sn_scene_world_destroy(f->world);
    sn_scene_destroy(&f->scene);
    sn_mistakes_destroy(&f->mistakes);
    sn_buffer_destroy(&f->bvh);
    sinew_context_destroy(f->context);
    free(f);
}

static fixture *make_good(const char *skeleton, const char *body, const char *more) {
    fixture *f = make(skeleton, body, more);
    if (f->status != SINEW_OK) {
        fail_msg("%s", f->mistakes.total ? f->mistakes.items[0].message : sinew_context_message(f->context));
    }
    return f;
}

static void expect_mistake(const char *skeleton, const char *body, const char *words) {
    fixture *f = make(skeleton, body, "");
    assert_int_not_equal(f->status, SINEW_OK);
    assert_true(f->mistakes.total > 0);
    if (!strstr(f->mistakes.items[0].message, words))
        fail_msg("\"%s\" does not say \"%s\"", f->mistakes.items[0].message, words);
    destroy(f);
}

static void step(fixture *f, int count) {
    for (int i = 0; i < count; i++) {
        if (sn_scene_world_step(f->world, NULL) != SINEW_OK) fail_msg("%s", sinew_context_message(f->context));
    }
}

// The sum of all places: a mark of a state.
static double sum_of(const fixture *f) {
    const sinew_body *body = f->world->members[0].body;
    double sum = 0;
    for (int32_t i = 0; i < 3 * sinew_body_get_node_count(body); i++) sum += sinew_body_get_positions(body)[i];
    assert_true(isfinite(sum));
    return sum;
}

static void test_models_and_bindings(void **state) {
    (void)state;
    static const char *const bodies[] = {", \"model\": \"positions\"",
                                         ", \"model\": \"positions\", \"positions\": {\"mode\": \"compliance\"}",
                                         "",
                                         ", \"model\": \"warped\"",
                                         ", \"binding\": \"linear-blend\"",
                                         ", \"model\": \"positions\", \"binding\": \"dual-quaternions\"",
                                         ", \"surface\": \"skin\", \"position\": [1, 2, 3]"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        fixture *f = make_good("{\"character\": \"leg\"}", bodies[i], "");
        const sn_scene_member *member = &f->world->members[0];
        const sinew_rig_report *report = sn_scene_member_rigging(member);
        bool skinned = i == 4 || i == 5;
        assert_true(skinned == (report == NULL));
        if (report) assert_true(report->bound_elements > 10 && report->idle_bones == 0);
        double before = sum_of(f);
        step(f, 10);
        sinew_measures measures;
        sinew_body_get_measures(member->body, &measures);
        assert_true(fabs(sum_of(f) - before) > 0.1);
        test_close("volume", measures.volume / measures.rest_volume, 1, 0.35);
        destroy(f);
    }
}

// The same motion from code, from a file in centimetres, and carried over from that file: the same states.
static void test_sources_agree(void **state) {
    (void)state;
    static const char *const sources[] = {
        "{\"character\": \"leg\"}", "{\"file\": \"leg.bvh\", \"unit\": \"cm\"}",
        "{\"character\": \"leg\", \"motion\": {\"file\": \"leg.bvh\", \"unit\": 0.01, \"names\": {\"knee\": \"knee\"}}}"};
    double sums[3];
    for (int i = 0; i < 3; i++) {
        fixture *f = make_good(sources[i], ", \"model\": \"positions\"", "");
        step(f, 10);
        sums[i] = sum_of(f);
        assert_int_equal(f->warnings, 0);
        destroy(f);
    }
    assert_true(fabs(sums[0]) > 1);
    test_close("file", sums[1] / sums[0], 1, 1e-6);
    test_close("carried over", sums[2] / sums[0], 1, 1e-6);
}

// Speed, start, and what follows the end.
static void test_motion_in_time(void **state) {
    (void)state;
    const char *skinned = ", \"binding\": \"linear-blend\"";
    fixture *slow = make_good("{\"character\": \"leg\", \"start\": 0.1, \"speed\": 0.5}", skinned, "");
    fixture *fast = make_good("{\"character\": \"leg\", \"speed\": 2}", skinned, "");
    step(slow, 10); // 0.1 + 0.1 s
    step(fast, 5);  // 0.2 s
    test_close("pose", sum_of(slow), sum_of(fast), 1e-6);
    destroy(slow);
    destroy(fast);
    fixture *stops = make_good("{\"character\": \"leg\", \"seconds\": 0.1, \"end\": \"stop\"}", skinned, "");
    step(stops, 5);
    assert_false(stops->world->motion_ended);
    double last = sum_of(stops);
    step(stops, 1);
    assert_true(stops->world->motion_ended);
    test_close("held", sum_of(stops), last, 1e-9);
    destroy(stops);
    // A loop over 3 + 1 frames of 1/30 s: the pose at 0.04 s comes again 4/30 s later.
    fixture *loops =
        make_good("{\"character\": \"leg\", \"seconds\": 0.1, \"end\": \"loop\", \"speed\": 3.3333333333333333}", skinned, "");
    step(loops, 1);
    double once = sum_of(loops);
    step(loops, 2);
    test_close("again", sum_of(loops), once, 1e-6);
    assert_false(loops->world->motion_ended);
    destroy(loops);
}

static void test_mistakes(void **state) {
    (void)state;
    const char *good = "{\"character\": \"leg\"}";
    expect_mistake("{\"character\": \"leg\", \"file\": \"a.bvh\"}", "", "comes from");
    expect_mistake("{}", "", "comes from");
    expect_mistake("{\"character\": \"led\"}", "", "leg");
    expect_mistake("{\"file\": \"missing.bvh\"}", "", "cannot be read");
    expect_mistake("{\"file\": \"leg.bvh\"}", "", "does its unit fit");
    expect_mistake("{\"file\": \"leg.glb\"}", "", "leg.glb");
    expect_mistake("{\"character\": \"leg\", \"end\": \"lop\"}", "", "loop");
    expect_mistake("{\"character\": \"leg\", \"speed\": -1}", "", "-1");
    expect_mistake("{\"character\": \"leg\", \"motion\": {\"file\": \"leg.bvh\", \"names\": {\"toe\": \"knee\"}}}", "", "toe");
    expect_mistake("{\"character\": \"biped\", \"motion\": {\"file\": \"leg.bvh\"}}", "", "no joint of the motion");
    expect_mistake(good, ", \"binding\": \"bone\"", "bones");
    expect_mistake(good, ", \"positions\": {}", "model");
    expect_mistake(good, ", \"model\": \"positions\", \"positions\": {\"stretch\": 2}", "1");
    expect_mistake(good, ", \"model\": \"positions\", \"positions\": {\"mode\": \"compliance\", \"shear\": 1e4}", "moduli");
    expect_mistake(good, ", \"model\": \"positions\", \"positions\": {\"iterations\": 3, \"consolidating\": 4}", "3");
}

// A leg whose motion comes in another size is pointed out, with the scale that would fit.
static void test_sizes_are_pointed_out(void **state) {
    (void)state;
    fixture *f = make_good("{\"character\": \"leg\", \"motion\": {\"file\": \"leg.bvh\", \"unit\": 1}}", "", "");
    assert_true(f->warnings == 1);
    assert_non_null(strstr(f->warning, "0.01"));
    destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_and_bindings),   cmocka_unit_test(test_sources_agree),
        cmocka_unit_test(test_motion_in_time),        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_sizes_are_pointed_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
