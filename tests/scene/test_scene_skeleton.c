// Scenes with skeletons: from characters and files, retargeted, in all bindings and models; what is
// wrong is reported where it is.
#include "support/test.h"

#include "io/generate/character.h"

#include "io/motion/read_bvh.h"
#include "io/scene/build.h"
#include "io/scene/read.h"
#include "skeleton/skeleton.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// A leg of few tets with a skeleton; the three parts differ from test to test.
static const char *const form =
    "{\"version\": 1, \"gravity\": [0, -9.81, 0], \"step\": 0.02, \"steps\": 10,\n"
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
    if (strcmp(name, "missing.bvh") == 0) {
        return false;
    }

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
    sn_character_def def = sn_default_character_def();
    def.kind = SN_CHARACTER_LEG;
    def.without_flesh = true;
    sn_character leg;
    assert_int_equal(sn_character_create(f->context, &def, &leg), SINEW_OK);
    f->bvh = sn_buffer_create(f->context);
    assert_int_equal(sn_bvh_write(f->context, leg.skeleton, leg.motion, 0.01, &f->bvh), SINEW_OK);
    sn_character_destroy(&leg);
}

static fixture *make_with(const char *skeleton, const char *body, const char *more,
                          const char *const *settings, int32_t setting_count, bool free_of_bones) {
    fixture *f = calloc(1, sizeof *f);
    sinew_context_def def = sinew_default_context_def();

    def.logger = (sinew_logger){take_log, f};
    f->context = sinew_context_create(&def);
    f->mistakes = sn_mistakes_create(f->context);
    write_motion(f);
    snprintf(f->text, sizeof f->text, form, skeleton, body, more);

    char *left_out = free_of_bones ? strstr(f->text, "\"skeleton\":") : NULL; // becomes a comment
    if (left_out) {
        memcpy(left_out, "\"//eleton\"", 10);
    }

    f->status = sn_scene_read(f->context, "scene.json", f->text, strlen(f->text), settings,
                              setting_count, &f->mistakes, &f->scene);
    if (f->status == SINEW_OK) {
        f->status = sn_scene_build(f->context, &f->scene, fetch, f, &f->mistakes, &f->world);
    }

    return f;
}

static fixture *make(const char *skeleton, const char *body, const char *more) {
    return make_with(skeleton, body, more, NULL, 0, false);
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
        fail_msg("%s", f->mistakes.total ? f->mistakes.items[0].message
                                         : sinew_context_message(f->context));
    }
    return f;
}

static void expect_mistake(const char *skeleton, const char *body, const char *words) {
    fixture *f = make(skeleton, body, "");
    assert_int_not_equal(f->status, SINEW_OK);
    assert_true(f->mistakes.total > 0);
    if (!strstr(f->mistakes.items[0].message, words)) {
        fail_msg("\"%s\" does not say \"%s\"", f->mistakes.items[0].message, words);
    }

    destroy(f);
}

static void step(fixture *f, int count) {
    for (int i = 0; i < count; i++) {
        if (sn_scene_world_step(f->world, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(f->context));
        }
    }
}

// The sum of all places: a mark of a state.
static double sum_of(const fixture *f) {
    const sinew_body *body = f->world->members[0].body;
    double sum = 0;
    for (int32_t i = 0; i < 3 * sinew_body_get_node_count(body); i++) {
        sum += sinew_body_get_positions(body)[i];
    }

    assert_true(isfinite(sum));
    return sum;
}

static void test_models_and_bindings(void **state) {
    (void)state;
    static const char *const bodies[] = {
        ", \"model\": \"positions\"",
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
        if (report) {
            assert_true(report->bound_elements > 10 && report->idle_bones == 0);
        }

        double before = sum_of(f);
        step(f, 10);

        sinew_measures measures;
        sinew_body_get_measures(member->body, &measures);
        assert_true(fabs(sum_of(f) - before) > 0.1);
        test_close("volume", measures.volume / measures.rest_volume, 1, 0.35);
        destroy(f);
    }
}

// The same motion from code, from a file in centimetres, and carried over from that file: the same
// states.
static void test_sources_agree(void **state) {
    (void)state;
    const char *retargeted = "{\"character\": \"leg\", \"motion\": {\"file\": \"leg.bvh\", "
                             "\"unit\": 0.01, \"names\": {\"knee\": \"knee\"}}}";
    const char *const sources[] = {"{\"character\": \"leg\"}",
                                   "{\"file\": \"leg.bvh\", \"unit\": \"cm\"}", retargeted};

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

// Labelled bones are rigid: driven through their whole thickness by the skeleton, or free.
static void test_cores(void **state) {
    (void)state;
    const char *body = ", \"model\": \"positions\", \"positions\": {\"cores\": [1, 2, 3]}";
    for (int driven = 0; driven < 2; driven++) {
        const char *settings[] = {"bodies[0].shape.bone_radius=0.05", "bodies[0].shape.tets=1500"};
        fixture *f = make_with("{\"character\": \"leg\"}", body, "", settings, 2, !driven);
        if (f->status != SINEW_OK) {
            fail_msg("%s", f->mistakes.total ? f->mistakes.items[0].message : "?");
        }

        step(f, 10);
        const sn_scene_member *member = &f->world->members[0];
        const double *x = sinew_body_get_positions(member->body);
        int32_t bones = 0;

        for (int32_t t = 0; t < member->mesh->element_count; t++) {
            bones += member->mesh->labels[t] > 0;
            for (int k = 1; k < 4 && member->mesh->labels[t] > 0; k++) {
                size_t i = 3 * (size_t)member->mesh->indices[4 * t];
                size_t j = 3 * (size_t)member->mesh->indices[4 * t + k];
                double rest = sn_distance(sn_load3(member->mesh->points + i),
                                          sn_load3(member->mesh->points + j));
                test_close("edge", sn_distance(sn_load3(x + i), sn_load3(x + j)), rest, 1e-12);
            }
        }

        assert_true(bones > 50 && bones < member->mesh->element_count / 2);
        destroy(f);
    }
}

// Frames on bones follow them, those beside them are free.
static void test_frames(void **state) {
    (void)state;
    const char *body = ", \"model\": \"frames\", \"frames\": {\"cell\": 0.03, \"weights\": "
                       "{\"adopt_unreached\": true}, \"nodes\": "
                       "[{\"position\": [0, 0.8, 0.004]}, {\"position\": [0, 0.3, 0.005]}, "
                       "{\"position\": [0, 0.5, 0.06]}]}";
    fixture *f = make_good("{\"character\": \"leg\", \"start\": 0.1}", body, "");

    step(f, 10);
    sinew_transform pose[3];
    sn_character_def def = sn_default_character_def();

    def.kind = SN_CHARACTER_LEG;
    def.without_flesh = true;

    sn_character leg;
    assert_int_equal(sn_character_create(f->context, &def, &leg), SINEW_OK);
    sinew_motion_sample(leg.motion, 0.3, SINEW_MOTION_HOLD, pose);
    assert_int_equal(sinew_skeleton_compute_world(leg.skeleton, pose, pose), SINEW_OK);

    for (int i = 0; i < 2; i++) {
        double at[3], turn[4];
        assert_int_equal(sinew_frame_body_get_node(f->world->members[0].body, i, at, turn),
                         SINEW_OK);
        sn_rigid joint = sn_rigid_load(&pose[i]);
        sn_rigid rest = sn_rigid_load(&sinew_skeleton_rest_world(leg.skeleton)[i]);
        sn_vec3 X = i == 0 ? sn_v3(0, 0.8, 0.004) : sn_v3(0, 0.3, 0.005);
        sn_vec3 expected = sn_rigid_apply(sn_rigid_mul(joint, sn_rigid_inverse(rest)), X);
        test_close("frame", sn_distance(sn_load3(at), expected), 0, 1e-9);
        assert_true(sn_distance(expected, X) > 0.02);
    }

    sn_character_destroy(&leg);
    destroy(f);
    expect_mistake(
        "{\"character\": \"leg\"}",
        ", \"model\": \"frames\", \"frames\": {\"cell\": 0.03, \"weights\": "
        "{\"adopt_unreached\": true}, "
        "\"nodes\": [{\"position\": [0, 0.5, 0.06]}]}",
        "within 0.03 m of a bone of one joint: the nearest, at (0, 0.5, 0.06) m, is 0.0");
    expect_mistake("{\"character\": \"leg\"}",
                   ", \"model\": \"frames\", \"frames\": {\"cell\": 0.07, \"weights\": "
                   "{\"adopt_unreached\": true}, "
                   "\"nodes\": [{\"position\": [0, 0.5, 0.06]}]}",
                   "where bones meet a frame is free");
}

// The motion file of the examples is the biped's own motion, to the digits written.
static void test_shipped_motion(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_character_def def = sn_default_character_def();

    def.kind = SN_CHARACTER_BIPED;
    def.without_flesh = true;
    def.frame_time = 0.05;
    def.duration = 3;

    sn_character biped;
    assert_int_equal(sn_character_create(context, &def, &biped), SINEW_OK);

    FILE *file = fopen(TEST_CORPUS_DIR "/../../../examples/walk.bvh", "rb");
    assert_non_null(file);

    static char text[65536];
    size_t size = fread(text, 1, sizeof text, file);

    fclose(file);
    sinew_skeleton *skeleton = NULL;
    sinew_motion *motion = NULL;

    assert_int_equal(sn_bvh_read(context, "walk.bvh", text, size, 0.01, &skeleton, &motion),
                     SINEW_OK);
    assert_int_equal(sinew_motion_frame_count(motion), sinew_motion_frame_count(biped.motion));

    for (int32_t frame = 0; frame < sinew_motion_frame_count(motion); frame++) {
        for (int32_t i = 0; i < sinew_skeleton_joint_count(skeleton); i++) {
            sn_rigid a = sn_rigid_load(&sinew_motion_frame(motion, frame)[i]);
            sn_rigid b = sn_rigid_load(&sinew_motion_frame(biped.motion, frame)[i]);
            test_close("place", sn_distance(a.t, b.t), 0, 1e-6);
            test_close("turn", fabs(sn_quat_dot(a.q, b.q)), 1, 1e-6);
        }
    }

    sinew_skeleton_destroy(skeleton);
    sinew_motion_destroy(motion);
    sn_character_destroy(&biped);
    sinew_context_destroy(context);
}

// Speed, start, and what follows the end.
static void test_motion_in_time(void **state) {
    (void)state;
    const char *skinned = ", \"binding\": \"linear-blend\"";
    fixture *slow =
        make_good("{\"character\": \"leg\", \"start\": 0.1, \"speed\": 0.5}", skinned, "");
    fixture *fast = make_good("{\"character\": \"leg\", \"speed\": 2}", skinned, "");

    step(slow, 10); // 0.1 + 0.1 s
    step(fast, 5);  // 0.2 s
    test_close("pose", sum_of(slow), sum_of(fast), 1e-6);
    destroy(slow);
    destroy(fast);

    fixture *stops =
        make_good("{\"character\": \"leg\", \"seconds\": 0.1, \"end\": \"stop\"}", skinned, "");

    step(stops, 5);
    assert_false(stops->world->motion_ended);

    double last = sum_of(stops);
    step(stops, 1);
    assert_true(stops->world->motion_ended);
    test_close("held", sum_of(stops), last, 1e-9);
    destroy(stops);

    // A loop over 3 + 1 frames of 1/30 s: the pose at 0.04 s comes again 4/30 s later.
    fixture *loops = make_good("{\"character\": \"leg\", \"seconds\": 0.1, \"end\": \"loop\", "
                               "\"speed\": 3.3333333333333333}",
                               skinned, "");

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
    expect_mistake("{\"character\": \"leg\", \"motion\": {\"file\": \"leg.bvh\", \"names\": "
                   "{\"toe\": \"knee\"}}}",
                   "", "toe");
    expect_mistake("{\"character\": \"biped\", \"motion\": {\"file\": \"leg.bvh\"}}", "",
                   "no joint of the motion");
    expect_mistake(good, ", \"binding\": \"bone\"", "bones");
    expect_mistake(good, ", \"positions\": {}", "model");
    expect_mistake(good, ", \"model\": \"positions\", \"positions\": {\"stretch\": 2}", "1");
    expect_mistake(
        good,
        ", \"model\": \"positions\", \"positions\": {\"mode\": \"compliance\", \"shear\": 1e4}",
        "moduli");
    expect_mistake(
        good,
        ", \"model\": \"positions\", \"positions\": {\"iterations\": 3, \"consolidating\": 4}",
        "3");
}

// A leg whose motion comes in another size is pointed out, with the scale that would fit.
static void test_sizes_are_pointed_out(void **state) {
    (void)state;
    fixture *f = make_good(
        "{\"character\": \"leg\", \"motion\": {\"file\": \"leg.bvh\", \"unit\": 1}}", "", "");
    assert_true(f->warnings == 1);
    assert_non_null(strstr(f->warning, "0.01"));
    destroy(f);
}

// Out of memory at many an allocation: a status, and nothing left behind.
static void test_memory_shortage(void **state) {
    (void)state;
    char text[2048];

    snprintf(text, sizeof text, form, "{\"character\": \"leg\"}",
             ", \"model\": \"positions\", \"surface\": \"skin\"", "");

    int failures = 0;
    for (int64_t n = 1;; n += 1 + n / 6) {
        test_allocator allocator = {.fail_at = n};
        sinew_context *context = test_context_failing(&allocator);
        if (!context) {
            continue;
        }

        sn_mistakes mistakes = sn_mistakes_create(context);
        sn_scene scene;
        sn_scene_world *world = NULL;
        sinew_status status =
            sn_scene_read(context, "scene.json", text, strlen(text), NULL, 0, &mistakes, &scene);

        if (status == SINEW_OK) {
            status = sn_scene_build(context, &scene, NULL, NULL, &mistakes, &world);
        }
        if (status == SINEW_OK) {
            status = sn_scene_world_step(world, NULL);
        }

        sn_scene_world_destroy(world);
        sn_scene_destroy(&scene);
        sn_mistakes_destroy(&mistakes);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);

        if (status == SINEW_OK) {
            break;
        }

        assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        failures++;
    }

    print_message("%d allocations refused in turn\n", failures);
    assert_true(failures > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_and_bindings),
        cmocka_unit_test(test_sources_agree),
        cmocka_unit_test(test_motion_in_time),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_sizes_are_pointed_out),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_shipped_motion),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
