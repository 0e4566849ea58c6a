// glTF skins as skeletons: a character written to a .glb and read back stands and moves as before,
// whatever nodes lie above and between its joints and in whatever unit; and what cannot be a
// skeleton is refused.
#include "support/test.h"

#include "io/generate/character.h"

#include "io/gltf/skeleton.h"
#include "io/gltf/skin.h"
#include "skeleton/skeleton.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_NODES = 32, FRAMES = 16 };

// A leg as glTF in centimetres: the joints are listed leaves first, below a node that turns and
// shrinks them to metres, with a node that does nothing between hip and knee.
typedef struct fixture {
    sinew_context *context;
    sn_character leg;
    sn_gltf_node nodes[MAX_NODES];
    int32_t joints[MAX_NODES];
    double bind[16 * MAX_NODES];
    sn_gltf_channel channels[2 * MAX_NODES];
    double times[FRAMES], rotations[MAX_NODES][12 * FRAMES], places[3 * FRAMES];
    sn_gltf_skin skin;
    sn_gltf_animation animation;
    sn_gltf gltf;
} fixture;

static void add_animation(fixture *f, bool cubic) {
    int32_t count = f->skin.joint_count;
    for (int32_t k = 0; k < FRAMES; k++) {
        f->times[k] = k / 30.0;
        const sinew_transform *local = sinew_motion_frame(f->leg.motion, k);
        for (int32_t i = 0; i < count; i++) {
            double *key = f->rotations[i] + (cubic ? 12 * k + 4 : 4 * k);
            memcpy(key, local[i].rotation, 4 * sizeof *key);
        }

        for (int c = 0; c < 3; c++) {
            f->places[3 * k + c] = 100 * local[0].translation[c];
        }
    }

    for (int32_t i = 0; i < count; i++) {
        f->channels[i] = (sn_gltf_channel){.node = f->joints[count - 1 - i],
                                           .path = SN_GLTF_ROTATION,
                                           .interpolation = cubic ? SN_GLTF_CUBIC : SN_GLTF_LINEAR,
                                           .key_count = FRAMES,
                                           .components = 4,
                                           .times = f->times,
                                           .values = f->rotations[i]};
    }

    f->channels[count] = (sn_gltf_channel){.node = f->joints[count - 1],
                                           .path = SN_GLTF_TRANSLATION,
                                           .key_count = FRAMES,
                                           .components = 3,
                                           .times = f->times,
                                           .values = f->places};
    f->animation = (sn_gltf_animation){"jump", count + 1, f->channels};
}

static fixture *make(void) {
    fixture *f = calloc(1, sizeof *f);
    f->context = test_context(1);

    sn_character_def def = sn_default_character_def();
    def.kind = SN_CHARACTER_LEG;
    def.without_flesh = true;
    assert_int_equal(sn_character_create(f->context, &def, &f->leg), SINEW_OK);

    int32_t count = sinew_skeleton_joint_count(f->leg.skeleton);
    f->nodes[0] = sn_gltf_default_node("armature");
    for (int k = 0; k < 3; k++) {
        f->nodes[0].scale[k] = 0.01;
    }

    f->nodes[1] = sn_gltf_default_node("between");
    for (int32_t i = 0; i < count; i++) {
        sn_gltf_node *node = &f->nodes[2 + i];
        *node = sn_gltf_default_node(sinew_skeleton_joint_name(f->leg.skeleton, i));

        int32_t parent = sinew_skeleton_joint_parent(f->leg.skeleton, i);
        node->parent = parent < 0 ? 0 : 2 + parent;

        const sinew_transform *rest = &sinew_skeleton_rest_local(f->leg.skeleton)[i];
        for (int k = 0; k < 3; k++) {
            node->translation[k] = 100 * rest->translation[k];
        }

        f->joints[count - 1 - i] = 2 + i;

        // The mesh is in metres: M = T(-place), scaled so that the armature's shrinking is undone.
        double *m = f->bind + 16 * (count - 1 - i);

        m[0] = m[5] = m[10] = 100;
        m[15] = 1;
        for (int k = 0; k < 3; k++) {
            m[12 + k] = -100 * sinew_skeleton_rest_world(f->leg.skeleton)[i].translation[k];
        }
    }

    f->nodes[1].parent = 2;
    f->nodes[3].parent = 1;
    f->skin = (sn_gltf_skin){"skin", count, f->joints, f->bind};
    add_animation(f, false);
    f->gltf = (sn_gltf){.node_count = 2 + count,
                        .nodes = f->nodes,
                        .skin_count = 1,
                        .skins = &f->skin,
                        .animation_count = 1,
                        .animations = &f->animation};

    return f;
}

static void destroy(fixture *f) {
    sn_character_destroy(&f->leg);
    sinew_context_destroy(f->context);
    free(f);
}

static void check_same(fixture *f, const sinew_skeleton *skeleton, const sinew_motion *motion,
                       double tolerance) {
    int32_t count = sinew_skeleton_joint_count(f->leg.skeleton);
    assert_int_equal(sinew_skeleton_joint_count(skeleton), count);
    assert_int_equal(sinew_motion_frame_count(motion), FRAMES);

    sinew_transform here[MAX_NODES], there[MAX_NODES];
    double moved = 0;
    for (int32_t frame = -1; frame < FRAMES; frame++) {
        for (int32_t i = 0; i < count; i++) {
            here[i] = frame < 0 ? sinew_skeleton_rest_local(skeleton)[i]
                                : sinew_motion_frame(motion, frame)[i];
            there[i] = frame < 0 ? sinew_skeleton_rest_local(f->leg.skeleton)[i]
                                 : sinew_motion_frame(f->leg.motion, frame)[i];
        }

        assert_int_equal(sinew_skeleton_compute_world(skeleton, here, here), SINEW_OK);
        assert_int_equal(sinew_skeleton_compute_world(f->leg.skeleton, there, there), SINEW_OK);
        for (int32_t i = 0; i < count; i++) {
            assert_string_equal(sinew_skeleton_joint_name(skeleton, i),
                                sinew_skeleton_joint_name(f->leg.skeleton, i));
            sn_rigid a = sn_rigid_load(&here[i]);
            sn_rigid b = sn_rigid_load(&there[i]);
            test_close("place", sn_distance(a.t, b.t), 0, tolerance);
            test_close("turn", fabs(sn_quat_dot(a.q, b.q)), 1, tolerance);
            moved = fmax(
                moved,
                sn_length(sn_sub(
                    b.t, sn_load3(sinew_skeleton_rest_world(f->leg.skeleton)[i].translation))));
        }
    }

    assert_true(moved > 0.1);
}

// Through a file, whose numbers are floats; and cubic keys without tangents' help at the keys
// themselves.
static void test_round_trip(void **state) {
    (void)state;
    for (int cubic = 0; cubic < 2; cubic++) {
        fixture *f = make();
        add_animation(f, cubic);

        sn_buffer glb = sn_buffer_create(f->context);
        assert_int_equal(sn_write_glb(&f->gltf, &glb), SINEW_OK);

        sn_source source = {"leg.glb", glb.data, glb.size, NULL, NULL, false};
        sn_gltf_file file;
        if (sn_gltf_read(f->context, &source, &file) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(f->context));
        }

        sn_gltf_skeleton_def def = {"leg.glb", 1, 1 / 30.0, cubic ? "jump" : NULL, NULL};
        sinew_skeleton *skeleton = NULL;
        sinew_motion *motion = NULL;
        if (sn_gltf_create_skeleton(f->context, &file.view, &def, &skeleton, &motion) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(f->context));
        }

        check_same(f, skeleton, motion, 1e-5);
        int32_t bones;

        sinew_skeleton_bones(skeleton, &bones);
        assert_int_equal(bones, 3); // thigh, calf, and half a calf for the foot
        sinew_skeleton_destroy(skeleton);
        sinew_motion_destroy(motion);
        sn_gltf_file_destroy(&file);
        sn_buffer_destroy(&glb);
        destroy(f);
    }
}

static void expect_refusal(fixture *f, const char *animation, const char *words) {
    sn_gltf_skeleton_def def = {"leg.glb", 1, 1 / 30.0, animation, NULL};
    sinew_skeleton *skeleton = NULL;
    sinew_motion *motion = NULL;
    assert_int_not_equal(sn_gltf_create_skeleton(f->context, &f->gltf, &def, &skeleton, &motion),
                         SINEW_OK);
    assert_non_null(strstr(sinew_context_message(f->context), words));
    assert_null(skeleton);
    assert_null(motion);
}

static void test_refusals(void **state) {
    (void)state;
    fixture *f = make();

    expect_refusal(f, "walk", "walk");
    f->nodes[3].scale[1] = 2;
    expect_refusal(f, NULL, "unevenly");
    f->nodes[3].scale[1] = 1;
    f->joints[0] = f->joints[1];
    expect_refusal(f, NULL, "twice");
    f->gltf.skin_count = 0;
    expect_refusal(f, NULL, "no skin");
    destroy(f);
}

// Several roots get one above them; the joints of the skin keep their poses.
static void test_two_roots(void **state) {
    (void)state;
    fixture *f = make();
    f->gltf.animation_count = 0;
    f->skin.inverse_bind = NULL;
    f->nodes[4].parent = 0; // the ankle beside the hip

    int32_t order[MAX_NODES], count = f->skin.joint_count;
    sn_gltf_skeleton_def def = {"leg.glb", 1, 1 / 30.0, NULL, order};
    sinew_skeleton *skeleton = NULL;
    sinew_motion *motion = NULL;
    assert_int_equal(sn_gltf_create_skeleton(f->context, &f->gltf, &def, &skeleton, &motion),
                     SINEW_OK);
    assert_int_equal(sinew_skeleton_joint_count(skeleton), count + 1);
    int32_t roots = 0;
    for (int32_t i = 0; i < count; i++) {
        assert_in_range(order[i], 1, count); // joint 0 is the new one
        roots += sinew_skeleton_joint_parent(skeleton, order[i]) == 0;
    }
    assert_int_equal(roots, 2);

    sinew_motion_destroy(motion);
    sinew_skeleton_destroy(skeleton);
    destroy(f);
}

// Without an animation there is one pose; without inverse bind matrices the nodes' own pose is the
// rest.
static void test_still(void **state) {
    (void)state;
    fixture *f = make();

    f->gltf.animation_count = 0;
    f->skin.inverse_bind = NULL;
    f->nodes[3].name = f->nodes[4].name = "bone"; // a name may come twice
    f->nodes[2].name = NULL;

    sn_gltf_skeleton_def def = {"leg.glb", 1, 1 / 30.0, NULL, NULL};
    sinew_skeleton *skeleton = NULL;
    sinew_motion *motion = NULL;

    assert_int_equal(sn_gltf_create_skeleton(f->context, &f->gltf, &def, &skeleton, &motion),
                     SINEW_OK);
    assert_int_equal(sinew_motion_frame_count(motion), 1);
    assert_string_equal(sinew_skeleton_joint_name(skeleton, 0), "joint.2");
    assert_string_equal(sinew_skeleton_joint_name(skeleton, 1), "bone");
    assert_string_equal(sinew_skeleton_joint_name(skeleton, 2), "bone.4");

    for (int32_t i = 0; i < 3; i++) {
        sn_vec3 a = sn_load3(sinew_skeleton_rest_world(skeleton)[i].translation);
        test_close(
            "rest",
            sn_distance(a, sn_load3(sinew_skeleton_rest_world(f->leg.skeleton)[i].translation)), 0,
            1e-12);
    }

    sinew_skeleton_destroy(skeleton);
    sinew_motion_destroy(motion);
    destroy(f);
}

// A node above the root that turns z up into y up, and a mesh in centimetres: skeleton, motion and
// the placed mesh all stand upright, in metres.
static void test_axes_above_the_root(void **state) {
    (void)state;
    fixture *f = make();
    int32_t count = sinew_skeleton_joint_count(f->leg.skeleton);
    f->nodes[0].rotation[0] = -sqrt(0.5); // (x, y, z) -> (x, z, -y)
    f->nodes[0].rotation[3] = sqrt(0.5);
    for (int32_t i = 0; i < count; i++) {
        double *m = f->bind + 16 * i;
        m[0] = m[5] = m[10] = 1;
    }

    sn_gltf_skeleton_def def = {"leg.glb", 1, 1 / 30.0, NULL, NULL};
    sinew_skeleton *skeleton = NULL;
    sinew_motion *motion = NULL;
    assert_int_equal(sn_gltf_create_skeleton(f->context, &f->gltf, &def, &skeleton, &motion),
                     SINEW_OK);

    sn_arena arena = sn_arena_create(f->context);
    double *matrices, bind[16];
    assert_int_equal(sn_gltf_compute_matrices(&f->gltf, &arena, &matrices), SINEW_OK);
    sn_gltf_bind_matrix(&f->gltf, 0, matrices, bind);
    for (int32_t i = 0; i < count; i++) {
        const double *X = sinew_skeleton_rest_world(f->leg.skeleton)[i].translation;
        sn_vec3 upright = sn_v3(X[0], X[2], -X[1]);
        sn_vec3 rest = sn_load3(sinew_skeleton_rest_world(skeleton)[i].translation);
        test_close("joint", sn_distance(rest, upright), 0, 1e-12);

        // A point of the mesh at the joint, in centimetres.
        double x[3];
        for (int k = 0; k < 3; k++) {
            x[k] = 100 * (bind[k] * X[0] + bind[4 + k] * X[1] + bind[8 + k] * X[2]) + bind[12 + k];
        }
        test_close("mesh", sn_distance(sn_load3(x), upright), 0, 1e-12);
    }

    // The motion turns with it.
    sn_vec3 there = sn_load3(sinew_motion_frame(f->leg.motion, 1)[0].translation);
    sn_vec3 here = sn_load3(sinew_motion_frame(motion, 1)[0].translation);
    test_close("root", sn_distance(here, sn_v3(there.x, there.z, -there.y)), 0, 1e-6);

    sn_arena_destroy(&arena);
    sinew_motion_destroy(motion);
    sinew_skeleton_destroy(skeleton);
    destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),          cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_two_roots),           cmocka_unit_test(test_still),
        cmocka_unit_test(test_axes_above_the_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
