// BVH: what it says is what comes out, for every order of channels; written files read back;
// hostile ones are refused with a line.
#include "support/test.h"

#include "io/motion/read_bvh.h"
#include "math/quat.h"
#include "skeleton/skeleton.h"

#include <stdio.h>
#include <stdlib.h>

static const double DEGREE = 3.14159265358979323846 / 180;

static const char *const good =
    "HIERARCHY\n"
    "ROOT hip\n"
    "{\n"
    "  OFFSET 1 2 3\n"
    "  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
    "  JOINT left knee {\n"
    "    OFFSET 0 -10 0\n"
    "    CHANNELS 1 Xrotation\n"
    "    End Site\n"
    "    {\n"
    "      OFFSET 0 -8 1\n"
    "    }\n"
    "  }\n"
    "}\n"
    "MOTION\n"
    "Frames: 2\n"
    "Frame Time: 0.04\n"
    "0 1 2 10 20 30 40\n"
    "\n"
    "0 0 0 0 0 0 -90 \n";

static sinew_status read_text(sinew_context *context, const char *text, size_t size,
                              sinew_skeleton **skeleton, sinew_motion **motion) {
    // A copy of the exact size, so that the sanitizer sees a read beyond the end.
    char *copy = malloc(size ? size : 1);
    memcpy(copy, text, size);
    sinew_status status = sn_bvh_read(context, "walk.bvh", copy, size, 0.01, skeleton, motion);
    free(copy);
    return status;
}

static void test_reading(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_skeleton *skeleton = NULL;
    sinew_motion *motion = NULL;
    sinew_status status = read_text(context, good, strlen(good), &skeleton, &motion);

    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }

    assert_int_equal(sinew_skeleton_joint_count(skeleton), 2);
    assert_int_equal(sinew_skeleton_find(skeleton, "left knee"), 1);
    assert_int_equal(sinew_motion_frame_count(motion), 2);
    test_close("frame time", sinew_motion_frame_time(motion), 0.04, 0);

    int32_t bone_count = 0;
    const sinew_bone *bones = sinew_skeleton_bones(skeleton, &bone_count);

    assert_int_equal(bone_count, 2);
    test_close("tip", sn_distance(sn_load3(bones[1].to), sn_v3(0.01, -0.16, 0.04)), 0, 1e-15);

    const sinew_transform *frame = sinew_motion_frame(motion, 0);

    // Positions replace the offset; angles act in the order of the list, each about the axes turned
    // so far.
    test_close("root", sn_distance(sn_load3(frame[0].translation), sn_v3(0, 0.01, 0.02)), 0, 1e-15);
    test_close("knee keeps its offset",
               sn_distance(sn_load3(frame[1].translation), sn_v3(0, -0.1, 0)), 0, 1e-15);

    sn_quat z = sn_quat_exp(sn_v3(0, 0, 10 * DEGREE));
    sn_quat y = sn_quat_exp(sn_v3(0, 20 * DEGREE, 0));
    sn_quat x = sn_quat_exp(sn_v3(30 * DEGREE, 0, 0));

    test_close("turn",
               fabs(sn_quat_dot(sn_rigid_load(&frame[0]).q, sn_quat_mul(z, sn_quat_mul(y, x)))), 1,
               1e-14);

    sn_vec3 down =
        sn_quat_rotate(sn_rigid_load(&sinew_motion_frame(motion, 1)[1]).q, sn_v3(0, -1, 0));

    test_close("bent knee", sn_distance(down, sn_v3(0, 0, 1)), 0, 1e-14);
    sinew_motion_destroy(motion);
    sinew_skeleton_destroy(skeleton);
    sinew_context_destroy(context);
}

// All 720 orders of six channels.
static void test_channel_orders(void **state) {
    (void)state;
    static const char *const names[6] = {"Xposition", "Yposition", "Zposition",
                                         "Xrotation", "YROTATION", "zrotation"};

    static const double values[6] = {1, 2, 3, 25, -50, 110};
    sinew_context *context = test_context(1);
    for (int code = 0; code < 720; code++) {
        int order[6] = {0, 1, 2, 3, 4, 5};
        int rest = code;
        for (int i = 5; i > 0; rest /= i + 1, i--) {
            int j = rest % (i + 1);
            int swap = order[i];
            order[i] = order[j];
            order[j] = swap;
        }

        char text[1024];
        char channels[128] = "";
        char numbers[128] = "";
        sn_quat expected = sn_quat_identity();

        for (int i = 0; i < 6; i++) {
            snprintf(channels + strlen(channels), sizeof channels - strlen(channels), " %s",
                     names[order[i]]);
            snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), "%g\t",
                     values[order[i]]);

            double axis[3] = {0, 0, 0};

            if (order[i] < 3) {
                continue;
            }

            axis[order[i] - 3] = values[order[i]] * DEGREE;
            expected = sn_quat_mul(expected, sn_quat_exp(sn_load3(axis)));
        }

        snprintf(text, sizeof text,
                 "HIERARCHY ROOT a\n{ OFFSET 0 0 0 CHANNELS 6%s }\r\nMOTION Frames: 1 Frame Time: "
                 "1e-2\n%s",
                 channels, numbers);

        sinew_skeleton *skeleton = NULL;
        sinew_motion *motion = NULL;
        sinew_status status = read_text(context, text, strlen(text), &skeleton, &motion);
        if (status != SINEW_OK) {
            fail_msg("%s", sinew_context_message(context));
        }

        sn_rigid local = sn_rigid_load(sinew_motion_frame(motion, 0));
        test_close("turn", fabs(sn_quat_dot(local.q, expected)), 1, 1e-14);
        test_close("place", sn_distance(local.t, sn_v3(0.01, 0.02, 0.03)), 0, 1e-15);
        sinew_motion_destroy(motion);
        sinew_skeleton_destroy(skeleton);
    }

    sinew_context_destroy(context);
}

static void expect_refusal(sinew_context *context, const char *text, size_t size, const char *line,
                           const char *word) {
    sinew_skeleton *skeleton = NULL;
    sinew_motion *motion = NULL;
    sinew_status status = read_text(context, text, size, &skeleton, &motion);
    const char *message = sinew_context_message(context);

    if (status != SINEW_INVALID_DATA) {
        fail_msg("status %d for '%.60s'", (int)status, text);
    }
    if (!strstr(message, word) || strncmp(message, line, strlen(line)) != 0) {
        fail_msg("'%s' does not begin with '%s' or does not contain '%s'", message, line, word);
    }

    assert_null(skeleton);
    assert_null(motion);
}

// The good file with one part replaced.
static void expect_broken(sinew_context *context, const char *old, const char *new,
                          const char *line, const char *word) {
    char text[2048];
    const char *at = strstr(good, old);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, new, at + strlen(old));
    expect_refusal(context, text, strlen(text), line, word);
}

static void test_bad_files(void **state) {
    (void)state;
    sinew_context *context = test_context(1);

    expect_broken(context, "HIERARCHY", "HIERARCHI", "walk.bvh:1:1:", "expected HIERARCHY");
    expect_broken(context, "MOTION", "ROOT other\n{\n}\nMOTION", "walk.bvh:15:1:", "second ROOT");
    expect_broken(context, "CHANNELS 1 Xrotation", "", "walk.bvh:13:3:", "has no CHANNELS");
    expect_broken(context, "CHANNELS 1 Xrotation", "CHANNELS 2 Xrotation",
                  "walk.bvh:9:5:", "expected Xposition");
    expect_broken(context, "CHANNELS 1 Xrotation", "CHANNELS 2 Xrotation Xrotation",
                  "walk.bvh:8:26:", "twice");
    expect_broken(context, "CHANNELS 1", "CHANNELS 7", "walk.bvh:8:14:", "[0, 6]");
    expect_broken(context, "CHANNELS 1", "CHANNELS many", "walk.bvh:8:14:", "\"many\"");
    expect_broken(context, "OFFSET 0 -10 0\n", "", "walk.bvh:12:3:", "has no OFFSET");
    expect_broken(context, "-10", "nan", "walk.bvh:7:14:", "\"nan\"");
    expect_broken(context, "left knee", "hip", "walk.bvh: ", "both named 'hip'");
    expect_broken(context, "left knee", "", "walk.bvh:6:", "name");
    expect_broken(context, "Frames: 2", "Frames: 3", "walk.bvh:21:1:", "after 2 of 3 frames");
    expect_broken(context, "Frames: 2", "Frames: 1",
                  "walk.bvh:20:1:", "unexpected text after the last");
    expect_broken(context, "Frames: 2", "Frames: 0", "walk.bvh:16:9:", "number of frames");
    expect_broken(context, "Frames: 2", "Frames: -5", "walk.bvh:16:9:", "number of frames");
    expect_broken(context, "Frames: 2", "Frames: 9999999", "walk.bvh:16:9:", "do not fit");
    expect_broken(context, "Frames: 2", "Frames: 99999999999999999999",
                  "walk.bvh:16:9:", "number of frames");
    expect_broken(context, "0.04", "0", "walk.bvh:17:13:", "above 0");
    expect_broken(context, "30 40\n", "30\n", "walk.bvh:", "frame 1 needs 7 numbers");
    expect_broken(context, "30 40\n", "30 40 50\n", "walk.bvh:18:19:", "more than 7");
    expect_broken(context, "30 40\n", "30 4x\n", "walk.bvh:18:16:", "\"4x\"");
    expect_broken(context, "30 40\n", "30 NaN\n", "walk.bvh:18:16:", "\"NaN\"");
    expect_broken(context, "30 40\n", "30 1e999\n", "walk.bvh:18:16:", "1e999");
    expect_broken(context, "End Site", "End Sight", "walk.bvh:9:9:", "expected Site");

    for (size_t size = 0; size + 4 < strlen(good); size++) {
        sinew_skeleton *skeleton = NULL;
        sinew_motion *motion = NULL;
        assert_int_equal(read_text(context, good, size, &skeleton, &motion), SINEW_INVALID_DATA);
    }

    sinew_context_destroy(context);
}

// A million joints, one inside the other; 60 000 joints and no channel to speak of; braces without
// end.
static void test_excess(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int kind = 0; kind < 3; kind++) {
        sn_buffer text = sn_buffer_create(context);
        sn_buffer_add_text(&text, "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n");

        int32_t count = kind == 1 ? 60000 : 1000000;
        for (int32_t i = 0; i < count; i++) {
            sn_buffer_print(&text, kind < 2 ? "JOINT j%d\n{\nOFFSET 0 1 0\nCHANNELS 0\n" : "{%d",
                            i);
        }

        for (int32_t i = 0; i <= count && kind == 1; i++) {
            sn_buffer_add_text(&text, "}\n");
        }

        sn_buffer_add_text(&text, "MOTION\nFrames: 100000\nFrame Time: 1\n");
        for (int32_t i = 0; i < 100000 && kind == 1; i++) {
            sn_buffer_add_text(&text, "0\n");
        }

        const char *line = kind == 0 ? "walk.bvh:262146:" : "walk.bvh:";
        const char *word = kind == 0 ? "more than 65536 joints" : kind == 1 ? "bytes" : "expected";

        expect_refusal(context, text.data, text.size, line, word);
        sn_buffer_destroy(&text);
    }

    sinew_context_destroy(context);
}

static void test_round_trip(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(10);
    sinew_joint_def joints[5];

    const char *const names[5] = {"hips", "left leg", "left foot", "spine", "head"};
    const int32_t parents[5] = {-1, 0, 1, 0, 3};
    sinew_transform frames[20][5];

    for (int i = 0; i < 5; i++) {
        joints[i] = sinew_default_joint_def();
        joints[i].name = names[i];
        joints[i].parent = parents[i];
        joints[i].has_tip = i == 2 || i == 4;

        for (int k = 0; k < 3; k++) {
            joints[i].rest.translation[k] = sn_random_range(&random, -1, 1);
            joints[i].tip[k] = joints[i].has_tip ? sn_random_range(&random, -1, 1) : 0;
        }

        for (int f = 0; f < 20; f++) {
            // A quarter turn about y is where the angles are not unique.
            sn_vec3 turn =
                f == 0 ? sn_v3(0, acos(0), 0)
                       : sn_v3(sn_random_range(&random, -3, 3), sn_random_range(&random, -3, 3), 1);
            sn_rigid_store(&frames[f][i],
                           (sn_rigid){sn_quat_exp(turn), sn_load3(joints[i].rest.translation)});

            if (i == 0) {
                frames[f][i].translation[1] = f;
            }
        }
    }

    sinew_skeleton *skeleton = NULL, *again = NULL;
    sinew_motion *motion = NULL, *motion_again = NULL;
    sinew_motion_def def = {5, 20, 1.0 / 120, frames[0]};

    assert_int_equal(sinew_skeleton_create(context, joints, 5, &skeleton), SINEW_OK);
    assert_int_equal(sinew_motion_create(context, &def, &motion), SINEW_OK);

    sn_buffer out = sn_buffer_create(context);
    assert_int_equal(sn_bvh_write(context, skeleton, motion, 0.01, &out), SINEW_OK);
    if (read_text(context, out.data, out.size, &again, &motion_again) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }

    assert_true(sinew_motion_frame_time(motion_again) == 1.0 / 120);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(sinew_skeleton_joint_name(again, i), names[i]);
        assert_int_equal(sinew_skeleton_joint_parent(again, i), parents[i]);
        for (int f = 0; f < 20; f++) {
            sn_rigid a = sn_rigid_load(&frames[f][i]);
            sn_rigid b = sn_rigid_load(&sinew_motion_frame(motion_again, f)[i]);
            test_close("rotation", fabs(sn_quat_dot(a.q, b.q)), 1, 1e-12);
            test_close("translation", sn_distance(a.t, b.t), 0, 1e-13);
        }
    }

    int32_t count = 0, count_again = 0;
    const sinew_bone *bones = sinew_skeleton_bones(skeleton, &count);
    const sinew_bone *bones_again = sinew_skeleton_bones(again, &count_again);

    assert_int_equal(count, count_again);
    for (int b = 0; b < count; b++) {
        test_close("bone", sn_distance(sn_load3(bones[b].to), sn_load3(bones_again[b].to)), 0,
                   1e-13);
    }

    sn_buffer_destroy(&out);
    sinew_motion_destroy(motion);
    sinew_motion_destroy(motion_again);
    sinew_skeleton_destroy(skeleton);
    sinew_skeleton_destroy(again);
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    bool succeeded = false;
    for (int64_t fail_at = 1; !succeeded; fail_at++) {
        test_allocator allocator = {.fail_at = fail_at};
        sinew_context *context = test_context_failing(&allocator);
        sinew_skeleton *skeleton = NULL;
        sinew_motion *motion = NULL;
        sinew_status status = read_text(context, good, strlen(good), &skeleton, &motion);

        succeeded = status == SINEW_OK;
        assert_true(succeeded || (status == SINEW_OUT_OF_MEMORY && !skeleton && !motion));
        sinew_skeleton_destroy(skeleton);
        sinew_motion_destroy(motion);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),    cmocka_unit_test(test_channel_orders),
        cmocka_unit_test(test_bad_files),  cmocka_unit_test(test_excess),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_memory_shortage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
