// Skins: written, read back and replayed; poses fitted to matrices; weights left out; keys in
// between.
#include "support/test.h"

#include "io/gltf/skin.h"
#include "math/quat.h"

#include <math.h>
#include <stdlib.h>

enum { JOINTS = 6, POINTS = 40, FRAMES = 5 };

typedef struct model {
    double points[3 * POINTS], rest[3 * JOINTS], weight[POINTS * JOINTS], times[FRAMES];
    int32_t start[POINTS + 1], joint[POINTS * JOINTS], indices[3 * (POINTS - 2)];
    sn_joint_pose poses[FRAMES * JOINTS];
    sn_skin_def def;
} model;

// A row of points with six weights each and joints that turn, move and, if asked, stretch.
static model *make_model(bool scaled) {
    model *m = calloc(1, sizeof *m);
    sn_random random = sn_random_seed(11);
    for (int i = 0; i < 3 * POINTS; i++) {
        m->points[i] = sn_random_range(&random, -1, 1);
    }

    for (int i = 0; i < 3 * JOINTS; i++) {
        m->rest[i] = sn_random_range(&random, -1, 1);
    }

    for (int i = 0; i < POINTS; i++) {
        double sum = 0;
        m->start[i + 1] = JOINTS * (i + 1);
        for (int k = 0; k < JOINTS; k++) {
            m->joint[JOINTS * i + k] = k;
            sum += m->weight[JOINTS * i + k] = sn_random_range(&random, 0.01, 1);
        }

        for (int k = 0; k < JOINTS; k++) {
            m->weight[JOINTS * i + k] /= sum;
        }
    }

    for (int i = 0; i < POINTS - 2; i++) {
        for (int k = 0; k < 3; k++) {
            m->indices[3 * i + k] = i + k;
        }
    }

    for (int f = 0; f < FRAMES; f++) {
        m->times[f] = 0.25 * f;
        for (int k = 0; k < JOINTS; k++) {
            sn_joint_pose *pose = &m->poses[f * JOINTS + k];
            sn_quat q = sn_quat_exp(sn_v3(0.9 * f, 0.1 * k, -0.3 * f));
            double sign = f % 2 ? -1 : 1; // the same turn, on the other side of the sphere
            *pose = (sn_joint_pose){
                {f, k, 0.1 * f * k}, {sign * q.x, sign * q.y, sign * q.z, sign * q.w}, {1, 1, 1}};

            if (scaled) {
                pose->scale[0] = 1 + 0.1 * f;
                pose->scale[2] = 1 - 0.1 * k;
            }
        }
    }

    m->def = (sn_skin_def){.name = "skin",
                           .point_count = POINTS,
                           .index_count = 3 * (POINTS - 2),
                           .points = m->points,
                           .indices = m->indices,
                           .start = m->start,
                           .joint = m->joint,
                           .weight = m->weight,
                           .joint_count = JOINTS,
                           .joint_rest = m->rest,
                           .sets = 2,
                           .frame_count = FRAMES,
                           .times = m->times,
                           .poses = m->poses,
                           .material = {.name = "skin", .color = {1, 1, 1, 1}, .roughness = 0.5}};

    return m;
}

static sn_vec3 blend(const model *m, int frame, int point, const double *weights) {
    sn_vec3 x = {0, 0, 0};
    sn_vec3 X = sn_load3(m->points + 3 * point);
    for (int k = 0; k < JOINTS; k++) {
        const sn_joint_pose *pose = &m->poses[frame * JOINTS + k];
        sn_vec3 d = sn_sub(X, sn_load3(m->rest + 3 * k));
        d = sn_v3(d.x * pose->scale[0], d.y * pose->scale[1], d.z * pose->scale[2]);
        const double *q = pose->rotation;
        d = sn_add(sn_load3(pose->translation),
                   sn_quat_rotate((sn_quat){q[0], q[1], q[2], q[3]}, d));
        x = sn_madd(x, weights[k], d);
    }

    return x;
}

// Writes, reads, replays; `expected` gives the weights that should be in force.
static void check_replay(const model *m, const double *expected) {
    sinew_context *context = test_context(1);
    sn_buffer out = sn_buffer_create(context);

    assert_int_equal(sn_write_glb_skin(&m->def, &out, NULL), SINEW_OK);
    sn_source source = {.name = "a.glb", .data = out.data, .size = out.size};
    sn_gltf_file file;
    if (sn_gltf_read(context, &source, &file) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }

    assert_int_equal(file.view.node_count, JOINTS + 2);
    assert_int_equal(file.view.animation_count, 1);

    sn_arena scratch = sn_arena_create(context);
    sn_gltf_node nodes[JOINTS + 2];
    double points[3 * POINTS];

    for (int f = 0; f < FRAMES; f++) {
        sn_gltf_pose(&file.view, 0, m->times[f], nodes);
        assert_int_equal(sn_gltf_skin_points(&file.view, nodes, JOINTS + 1, &scratch, points),
                         SINEW_OK);

        for (int i = 0; i < POINTS; i++) {
            double off =
                sn_distance(sn_load3(points + 3 * i), blend(m, f, i, expected + JOINTS * i));
            test_close("replayed point", off, 0, 1e-5); // floats in the file
        }
    }

    // Between two keys the shorter way is gone: the middle of the first two.
    sn_gltf_pose(&file.view, 0, 0.125, nodes);

    sn_quat half =
        sn_quat_slerp((sn_quat){m->poses[0].rotation[0], m->poses[0].rotation[1],
                                m->poses[0].rotation[2], m->poses[0].rotation[3]},
                      (sn_quat){m->poses[JOINTS].rotation[0], m->poses[JOINTS].rotation[1],
                                m->poses[JOINTS].rotation[2], m->poses[JOINTS].rotation[3]},
                      0.5);
    double dot = half.x * nodes[0].rotation[0] + half.y * nodes[0].rotation[1] +
                 half.z * nodes[0].rotation[2] + half.w * nodes[0].rotation[3];

    test_close("half way", fabs(dot), 1, 1e-6);
    test_close("and half way along", nodes[0].translation[0], 0.5, 1e-6);
    sn_arena_destroy(&scratch);
    sn_gltf_file_destroy(&file);
    sn_buffer_destroy(&out);
    sinew_context_destroy(context);
}

static void test_round_trip(void **state) {
    (void)state;
    for (int scaled = 0; scaled < 2; scaled++) {
        model *m = make_model(scaled);
        check_replay(m, m->weight); // six of eight places
        free(m);
    }
}

// The largest four of six weights stay, and what was lost is reported.
static void test_truncation(void **state) {
    (void)state;
    model *m = make_model(false);

    m->def.sets = 1;
    double expected[POINTS * JOINTS], largest = 0;
    for (int i = 0; i < POINTS; i++) {
        double *w = expected + JOINTS * i;
        double lost = 0;

        memcpy(w, m->weight + JOINTS * i, JOINTS * sizeof *w);
        for (int drop = 0; drop < JOINTS - 4; drop++) {
            int smallest = -1;
            for (int k = 0; k < JOINTS; k++) {
                if (w[k] > 0 && (smallest < 0 || w[k] < w[smallest])) {
                    smallest = k;
                }
            }

            lost += w[smallest];
            w[smallest] = 0;
        }

        for (int k = 0; k < JOINTS; k++) {
            w[k] /= 1 - lost;
        }

        largest = fmax(largest, lost);
    }

    sinew_context *context = test_context(1);
    sn_buffer out = sn_buffer_create(context);
    double loss = 0;

    assert_int_equal(sn_write_glb_skin(&m->def, &out, &loss), SINEW_OK);
    test_close("loss", loss, largest, 1e-12);
    assert_true(largest > 0.05);
    m->weight[0] = -0.1; // a negative weight cannot be written
    sn_buffer_clear(&out);
    assert_int_equal(sn_write_glb_skin(&m->def, &out, &loss), SINEW_OK);
    assert_true(loss >= 0.1);
    sn_buffer_destroy(&out);
    sinew_context_destroy(context);
    free(m);
    m = make_model(false);
    m->def.sets = 1;
    check_replay(m, expected);
    free(m);
}

static double fit(const double t[3], sn_mat3 A, sn_joint_pose *pose) {
    double matrix[9];
    memcpy(matrix, A.m, sizeof matrix);
    return sn_joint_pose_fit(t, matrix, pose);
}

static void test_fit(void **state) {
    (void)state;
    sn_mat3 R = sn_quat_to_mat3(sn_quat_exp(sn_v3(0.4, -1.2, 0.7)));
    sn_mat3 A = R;
    sn_mat3 B;
    const double s[3] = {1.3, 0.6, 0.9};
    const double t[3] = {1, 2, 3};
    sn_joint_pose pose;

    for (int i = 0; i < 9; i++) {
        A.m[i / 3][i % 3] *= s[i % 3];
    }

    test_close("a rotation is kept", fit(t, R, &pose), 0, 1e-12);
    test_close("and a stretch along its axes", fit(t, A, &pose), 0, 1e-9);
    for (int k = 0; k < 3; k++) {
        test_close("scale", pose.scale[k], s[k], 1e-9);
        test_close("place", pose.translation[k], t[k], 0);
    }

    // Shear is lost in part: less than without the fit, and no small change of the pose does
    // better.
    B = sn_mat3_mul(R, (sn_mat3){{{1, 0.3, 0}, {0, 1, 0}, {0, 0, 1}}});

    double lost = fit(t, B, &pose);
    assert_true(lost > 0.1 && lost < 0.3);

    sn_random random = sn_random_seed(3);
    for (int trial = 0; trial < 50; trial++) {
        const double *q = pose.rotation;
        sn_vec3 turn = {sn_random_range(&random, -1e-2, 1e-2),
                        sn_random_range(&random, -1e-2, 1e-2),
                        sn_random_range(&random, -1e-2, 1e-2)};
        sn_mat3 other =
            sn_quat_to_mat3(sn_quat_mul(sn_quat_exp(turn), (sn_quat){q[0], q[1], q[2], q[3]}));
        double sum = 0;

        for (int i = 0; i < 9; i++) {
            double d = B.m[i / 3][i % 3] - other.m[i / 3][i % 3] * pose.scale[i % 3];
            sum += d * d;
        }

        assert_true(sqrt(sum) >= lost - 1e-9);
    }
}

static void test_memory_shortage(void **state) {
    (void)state;
    model *m = make_model(true);
    bool done = false;

    for (int64_t n = 0; !done && n < 200; n++) {
        test_allocator allocator = {.fail_at = n};
        sinew_context *context = test_context_failing(&allocator);
        if (!context) {
            continue;
        }

        sn_buffer out = sn_buffer_create(context);
        sinew_status status = sn_write_glb_skin(&m->def, &out, NULL);

        done = status == SINEW_OK;
        if (!done) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        sn_buffer_destroy(&out);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }

    assert_true(done);
    free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
