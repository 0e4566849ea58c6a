// Motion: sampling between and after the recorded poses, tracks, and retargeting between skeletons.
#include "support/test.h"

#include "math/quat.h"
#include "skeleton/skeleton.h"

static sinew_transform turn_about(sn_vec3 rotation, sn_vec3 translation) {
    sinew_transform transform;
    sn_rigid_store(&transform, (sn_rigid){sn_quat_exp(rotation), translation});
    return transform;
}

static sinew_motion *make_motion(sinew_context *context, const sinew_transform *frames,
                                 int32_t joints, int32_t count) {
    sinew_motion *motion = NULL;
    sinew_motion_def def = {joints, count, 0.1, frames};
    assert_int_equal(sinew_motion_create(context, &def, &motion), SINEW_OK);
    return motion;
}

static double angle_about_z(const sinew_transform *transform) {
    return 2 * atan2(transform->rotation[2], transform->rotation[3]);
}

static void test_sampling(void **state) {
    (void)state;
    sinew_context *context = test_context(1);

    // Frames 1 and 2 differ by 0.4 rad, but the sign of frame 2's quaternion is flipped.
    sinew_transform frames[3] = {turn_about(sn_v3(0, 0, 0.2), sn_v3(0, 0, 0)),
                                 turn_about(sn_v3(0, 0, 0.8), sn_v3(1, 0, 0)),
                                 turn_about(sn_v3(0, 0, 1.2), sn_v3(1, 2, 0))};

    for (int k = 0; k < 4; k++) {
        frames[2].rotation[k] *= -3; // not normalised either
    }

    sinew_motion *motion = make_motion(context, frames, 1, 3);
    sinew_transform pose;

    assert_true(sinew_motion_sample(motion, 0.05, SINEW_MOTION_STOP, &pose));
    test_close("angle", angle_about_z(&pose), 0.5, 1e-14);
    test_close("x", pose.translation[0], 0.5, 1e-14);
    assert_true(sinew_motion_sample(motion, 0.175, SINEW_MOTION_STOP, &pose));
    test_close("angle across the sign", angle_about_z(&pose), 1.1, 1e-14);
    test_close("y", pose.translation[1], 1.5, 1e-13);

    // At and after the end.
    assert_true(sinew_motion_sample(motion, 0.2, SINEW_MOTION_STOP, &pose));
    assert_false(sinew_motion_sample(motion, 0.201, SINEW_MOTION_STOP, &pose));
    assert_true(sinew_motion_sample(motion, 1e9, SINEW_MOTION_HOLD, &pose));
    test_close("held",
               fabs(angle_about_z(&pose)) > 3.2 ? angle_about_z(&pose) + 2 * acos(-1)
                                                : angle_about_z(&pose),
               1.2, 1e-13);
    assert_true(sinew_motion_sample(motion, -1, SINEW_MOTION_HOLD, &pose));
    test_close("before the start", angle_about_z(&pose), 0.2, 1e-14);

    // A loop of period 0.3 s: between the last frame and the first.
    assert_true(sinew_motion_sample(motion, 0.25 + 0.3 * 1000, SINEW_MOTION_LOOP, &pose));
    test_close("loop", pose.translation[1], 1, 1e-9);
    assert_true(sinew_motion_sample(motion, 0.05 - 0.3 * 5, SINEW_MOTION_LOOP, &pose));
    test_close("loop before zero", angle_about_z(&pose), 0.5, 1e-12);
    assert_true(sinew_motion_sample(motion, -1e-300, SINEW_MOTION_LOOP, &pose));
    sinew_motion_destroy(motion);

    frames[1].translation[2] = NAN;
    sinew_motion_def bad = {1, 3, 0.1, frames};

    motion = NULL;
    assert_int_equal(sinew_motion_create(context, &bad, &motion), SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "frame 1, joint 0"));
    bad.frame_time = 0;
    assert_int_equal(sinew_motion_create(context, &bad, &motion), SINEW_INVALID_ARGUMENT);
    assert_null(motion);
    sinew_context_destroy(context);
}

// A chain along y: hip, knee, ankle; `turn` rotates every joint's local axes without changing the
// posture.
static sinew_skeleton *make_leg(sinew_context *context, const char *const names[3], double length,
                                sn_quat turn) {
    sinew_joint_def joints[3];
    sn_quat back = sn_quat_conjugate(turn);
    for (int i = 0; i < 3; i++) {
        joints[i] = sinew_default_joint_def();
        joints[i].name = names[i];
        joints[i].parent = i - 1;
        sn_vec3 down = sn_quat_rotate(i > 0 ? back : sn_quat_identity(),
                                      sn_v3(0, i > 0 ? -length : 3 * length, 0));
        sn_rigid_store(&joints[i].rest, (sn_rigid){i > 0 ? sn_quat_identity() : turn, down});
    }

    sinew_skeleton *skeleton = NULL;
    assert_int_equal(sinew_skeleton_create(context, joints, 3, &skeleton), SINEW_OK);

    return skeleton;
}

static void test_tracks(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const char *names[3] = {"hip", "knee", "ankle"};
    sinew_skeleton *skeleton = make_leg(context, names, 0.5, sn_quat_identity());
    double times[3] = {0.1, 0.2, 0.35};
    double moves[9] = {0, 0, 0, 1, 0, 0, 1, 3, 0};
    double turns[12];

    for (int k = 0; k < 3; k++) {
        sn_quat q = sn_quat_exp(sn_v3(0, 0, 0.5 * k));
        memcpy(turns + 4 * k, (double[4]){q.x, q.y, q.z, q.w}, 4 * sizeof(double));
    }

    sinew_motion_track tracks[3] = {{0, false, false, 3, times, moves},
                                    {1, true, false, 3, times, turns},
                                    {2, true, true, 3, times, turns}};
    sinew_motion *motion = NULL;

    assert_int_equal(sinew_motion_create_from_tracks(context, skeleton, tracks, 3, 0.05, &motion),
                     SINEW_OK);
    assert_int_equal(sinew_motion_frame_count(motion), 8);
    test_close("held before the first key", sinew_motion_frame(motion, 1)[0].translation[0], 0, 0);
    test_close("linear", sinew_motion_frame(motion, 3)[0].translation[0], 0.5, 1e-12);
    test_close("the last key", sinew_motion_frame(motion, 7)[0].translation[1], 3, 1e-12);
    test_close("turning", angle_about_z(&sinew_motion_frame(motion, 3)[1]), 0.25, 1e-12);
    test_close("stepping", angle_about_z(&sinew_motion_frame(motion, 5)[2]), 0.5, 1e-12);
    test_close("untouched translation", sinew_motion_frame(motion, 5)[1].translation[1], -0.5, 0);
    sinew_motion_destroy(motion);
    times[2] = 0.2;
    motion = NULL;
    assert_int_equal(sinew_motion_create_from_tracks(context, skeleton, tracks, 3, 0.05, &motion),
                     SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "key 2"));
    times[2] = 0.35;
    tracks[0].joint = 3;
    assert_int_equal(sinew_motion_create_from_tracks(context, skeleton, tracks, 3, 0.05, &motion),
                     SINEW_INVALID_ARGUMENT);
    assert_null(motion);
    sinew_skeleton_destroy(skeleton);
    sinew_context_destroy(context);
}

static int warnings;

static void count_warning(void *user, sinew_log_level level, const char *line) {
    (void)user;
    if (level == SINEW_LOG_WARNING && strstr(line, "would fit")) {
        warnings++;
    }
}

// The same leg, ten times as large, with other names and other local axes: knees and ankles go to
// the same positions, scaled.
static void test_retargeting(void **state) {
    (void)state;
    sinew_context_def context_def = sinew_default_context_def();

    context_def.logger.write = count_warning;
    sinew_context *context = sinew_context_create(&context_def);
    const char *source_names[3] = {"Hips", "knee", "LeftFoot"};
    const char *target_names[3] = {"pelvis", "knee", "foot"};
    sinew_skeleton *source = make_leg(context, source_names, 5, sn_quat_identity());
    sinew_skeleton *target =
        make_leg(context, target_names, 0.5, sn_quat_exp(sn_v3(0.3, 1.1, -0.4)));

    // A motion of two poses.
    sinew_transform frames[2][3];

    for (int f = 0; f < 2; f++) {
        for (int i = 0; i < 3; i++) {
            frames[f][i] =
                turn_about(sn_v3(0.4 + f, 0.2 * i, -0.3), sn_v3(0, i ? -5 : 15, i ? 0 : 4 * f));
        }
    }

    sinew_motion *motion = make_motion(context, frames[0], 3, 2);
    sinew_motion *carried = NULL;
    sinew_name_pair pairs[2] = {{"Hips", "pelvis"}, {"LeftFoot", "foot"}};
    sinew_retarget_def def = sinew_default_retarget_def();

    def.pairs = pairs;
    def.pair_count = 2;

    // Without a scale, the different sizes are reported.
    sinew_retarget_report report;
    assert_int_equal(
        sinew_motion_retarget(context, source, motion, target, &def, &report, &carried), SINEW_OK);
    assert_true(report.sizes_differ);
    assert_int_equal(warnings, 1);
    test_close("ratio", report.size_ratio, 10, 1e-12);
    sinew_motion_destroy(carried);

    // With the suggested scale the joints follow the source.
    def.scale = report.fitting_scale;
    assert_int_equal(
        sinew_motion_retarget(context, source, motion, target, &def, &report, &carried), SINEW_OK);
    assert_false(report.sizes_differ);
    assert_int_equal(report.matched, 3);
    assert_int_equal(report.source_unmatched + report.target_unmatched, 0);

    for (int f = 0; f < 2; f++) {
        sinew_transform from[3], to[3];
        assert_int_equal(sinew_skeleton_compute_world(source, frames[f], from), SINEW_OK);
        assert_int_equal(sinew_skeleton_compute_world(target, sinew_motion_frame(carried, f), to),
                         SINEW_OK);

        for (int i = 0; i < 3; i++) {
            sn_vec3 expected = sn_scale(0.1, sn_load3(from[i].translation));
            test_close("position of a joint", sn_distance(sn_load3(to[i].translation), expected), 0,
                       1e-13);
        }
    }

    sinew_motion_destroy(carried);

    // A pair with an unknown name is refused.
    def.pairs = &(sinew_name_pair){"Hips", "plevis"};
    def.pair_count = 1;
    carried = NULL;
    assert_int_equal(
        sinew_motion_retarget(context, source, motion, target, &def, &report, &carried),
        SINEW_NOT_FOUND);
    assert_non_null(strstr(sinew_context_message(context), "plevis"));
    assert_null(carried);
    sinew_motion_destroy(motion);
    sinew_skeleton_destroy(source);
    sinew_skeleton_destroy(target);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sampling),
        cmocka_unit_test(test_tracks),
        cmocka_unit_test(test_retargeting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
