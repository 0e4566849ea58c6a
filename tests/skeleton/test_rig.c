// Rigging of a bar of cubes, each cut into six tets: which elements a bone binds, which stay free,
// and that bound nodes move rigidly.
#include "support/joints.h"
#include "support/test.h"

#include "math/quat.h"
#include "skeleton/skeleton.h"

#include <stdlib.h>

enum { NX = 3, NY = 12, NZ = 3, NODES = (NX + 1) * (NY + 1) * (NZ + 1), TETS = 6 * NX * NY * NZ };

static double points[3 * NODES];
static int32_t tets[4 * TETS];
static const sinew_mesh mesh = {points, NODES, SINEW_ELEMENT_TET4, tets, TETS, NULL};

static int32_t node_at(int x, int y, int z) {
    return (z * (NY + 1) + y) * (NX + 1) + x;
}

static void make_bar(void) {
    for (int z = 0; z <= NZ; z++) {
        for (int y = 0; y <= NY; y++) {
            for (int x = 0; x <= NX; x++) {
                sn_store3(points + 3 * node_at(x, y, z), sn_v3(x - 0.5 * NX, y, z - 0.5 * NZ));
            }
        }
    }

    // Kuhn's six tets of a cube: one for each order of the axes along the diagonal.
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    int32_t *tet = tets;

    for (int cube = 0; cube < NX * NY * NZ; cube++) {
        for (int o = 0; o < 6; o++, tet += 4) {
            int corner[3] = {cube % NX, cube / NX % NY, cube / NX / NY};
            for (int k = 0; k < 4; k++) {
                tet[k] = node_at(corner[0], corner[1], corner[2]);
                if (k < 3) {
                    corner[orders[o][k]]++;
                }
            }

            // Odd orders of the axes give mirrored tets.
            if (o == 1 || o == 2 || o == 5) {
                int32_t swap = tet[1];
                tet[1] = tet[2];
                tet[2] = swap;
            }
        }
    }
}

// Two bones along y through the middle of the bar, and one outside it.
static sinew_skeleton *make_bones(sinew_context *context, bool outside) {
    const double lower[3] = {0.03, 0.4, 0.01}, upper[3] = {0, 5.7, 0}, beyond[3] = {0, 10, 0};
    const double upper_tip[3] = {0, 5.5, 0}, beyond_tip[3] = {0, 1, 0};
    sinew_joint_def joints[3] = {
        test_joint("lower", -1, lower, NULL),
        test_joint("upper", 0, upper, upper_tip),
        test_joint("outside", 1, beyond, beyond_tip),
    };

    sinew_skeleton *skeleton = NULL;
    assert_int_equal(sinew_skeleton_create(context, joints, outside ? 3 : 2, &skeleton), SINEW_OK);

    return skeleton;
}

// Whether a densely sampled bone passes through the tet, well inside.
static bool passes_through(const int32_t *tet, const sinew_bone *bone) {
    sn_vec3 p[4];
    for (int k = 0; k < 4; k++) {
        p[k] = sn_load3(points + 3 * tet[k]);
    }

    sn_mat3 inverse = sn_mat3_inverse(
        sn_mat3_columns(sn_sub(p[1], p[0]), sn_sub(p[2], p[0]), sn_sub(p[3], p[0])));
    for (int i = 0; i <= 20000; i++) {
        double t = i / 20000.0;
        sn_vec3 x = sn_madd(sn_scale(1 - t, sn_load3(bone->from)), t, sn_load3(bone->to));
        sn_vec3 b = sn_mat3_apply(inverse, sn_sub(x, p[0]));
        if (b.x > 0 && b.y > 0 && b.z > 0 && b.x + b.y + b.z < 1) {
            return true;
        }
    }

    return false;
}

static int idle_named;

static void count_idle(void *user, sinew_log_level level, const char *line) {
    (void)user;
    if (level == SINEW_LOG_WARNING && strstr(line, "'outside'")) {
        idle_named++;
    }
}

static void test_binding(void **state) {
    (void)state;
    make_bar();

    sinew_context_def context_def = sinew_default_context_def();
    context_def.logger.write = count_idle;
    context_def.threads = 2;

    sinew_context *context = sinew_context_create(&context_def);
    sinew_skeleton *skeleton = make_bones(context, true);
    int32_t bone_count = 0;
    const sinew_bone *bones = sinew_skeleton_bones(skeleton, &bone_count);

    assert_int_equal(bone_count, 4); // lower, upper with its tip, upper to outside, outside's tip
    sinew_rig *rig = NULL;
    sinew_rig_report report;

    assert_int_equal(sinew_rig_create(context, skeleton, &mesh, &report, &rig), SINEW_OK);
    assert_int_equal(report.idle_bones, 1);
    assert_int_equal(idle_named, 1);

    int bound = 0, shared = 0;
    for (int t = 0; t < TETS; t++) {
        bool lower = passes_through(tets + 4 * t, &bones[0]);
        bool upper =
            passes_through(tets + 4 * t, &bones[1]) || passes_through(tets + 4 * t, &bones[2]);
        assert_int_equal(sinew_rig_element_joints(rig)[t], lower == upper ? -1 : upper ? 1 : 0);
        bound += lower != upper;
        shared += lower && upper;
    }

    assert_int_equal(report.bound_elements, bound);
    assert_int_equal(report.shared_elements, shared);
    assert_true(bound > 10 && shared > 0);

    // Two joints bend by 90 degrees: bound nodes keep their distances within a joint, free ones
    // stay.
    sinew_transform local[3], world[3];

    memcpy(local, sinew_skeleton_rest_local(skeleton), sizeof local);
    sn_rigid_store(&local[1],
                   (sn_rigid){sn_quat_exp(sn_v3(acos(0), 0, 0)), sn_load3(local[1].translation)});
    assert_int_equal(sinew_skeleton_compute_world(skeleton, local, world), SINEW_OK);

    static double moved[3 * NODES];
    memcpy(moved, points, sizeof moved);
    sinew_rig_move_nodes(rig, world, moved);

    const int32_t *joints = sinew_rig_node_joints(rig);
    int counted = 0;
    for (int i = 0; i < NODES; i++) {
        sn_vec3 rest = sn_load3(points + 3 * i);
        sn_vec3 x = sn_load3(moved + 3 * i);
        counted += joints[i] >= 0;

        // The upper part rotates about x through the joint at (0.03, 6.1, 0.01): y becomes z, z
        // becomes -y.
        sn_vec3 turned = {rest.x, 6.1 - (rest.z - 0.01), 0.01 + (rest.y - 6.1)};
        sn_vec3 expected = joints[i] == 1 ? turned : rest;
        test_close("node", sn_distance(x, expected), 0, 1e-13);
    }

    assert_int_equal(counted, report.bound_nodes);
    sinew_rig_destroy(rig);
    sinew_skeleton_destroy(skeleton);
    sinew_context_destroy(context);
}

// A bone exactly along a line of edges intersects all elements around them, regardless of rounding.
static void test_bone_along_edges(void **state) {
    (void)state;
    make_bar();

    sinew_context *context = test_context(1);
    const double start[3] = {0.5, 2, -0.5}, tip[3] = {0, 5, 0};
    sinew_joint_def joint = test_joint("root", -1, start, tip);
    sinew_skeleton *skeleton = NULL;

    assert_int_equal(sinew_skeleton_create(context, &joint, 1, &skeleton), SINEW_OK);
    sinew_rig *rig = NULL;
    sinew_rig_report report;

    assert_int_equal(sinew_rig_create(context, skeleton, &mesh, &report, &rig), SINEW_OK);

    // Tets that have two nodes on the line between y = 2 and y = 7.
    int expected = 0;
    for (int t = 0; t < TETS; t++) {
        int on_line = 0;
        for (int k = 0; k < 4; k++) {
            const double *p = points + 3 * tets[4 * t + k];
            on_line += p[0] == 0.5 && p[2] == -0.5 && p[1] >= 2 && p[1] <= 7;
        }

        expected += on_line == 2;
        assert_int_equal(sinew_rig_element_joints(rig)[t], on_line == 2 ? 0 : -1);
    }

    assert_int_equal(report.bound_elements, expected);
    sinew_rig_destroy(rig);

    int32_t bad = tets[9];
    tets[9] = NODES;
    rig = NULL;
    assert_int_equal(sinew_rig_create(context, skeleton, &mesh, &report, &rig), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "element 2"));
    assert_null(rig);
    tets[9] = bad;
    sinew_skeleton_destroy(skeleton);
    sinew_context_destroy(context);
}

// Quadratic tets bind like linear ones, with their middle nodes; a hexahedron binds where one of
// its tets would.
static void test_other_elements(void **state) {
    (void)state;
    make_bar();

    sinew_context *context = test_context(1);
    sinew_skeleton *skeleton = make_bones(context, false);
    sinew_rig *straight = NULL, *quadratic = NULL, *cubes = NULL;
    sinew_mesh *mesh10 = NULL, *mesh8 = NULL;
    sinew_rig_report report, report10, report8;

    assert_int_equal(sinew_rig_create(context, skeleton, &mesh, &report, &straight), SINEW_OK);
    assert_int_equal(sinew_mesh_create_quadratic(context, &mesh, &mesh10), SINEW_OK);
    assert_int_equal(sinew_rig_create(context, skeleton, mesh10, &report10, &quadratic), SINEW_OK);
    assert_memory_equal(sinew_rig_element_joints(quadratic), sinew_rig_element_joints(straight),
                        TETS * sizeof(int32_t));
    assert_true(report10.bound_nodes > report.bound_nodes);

    sinew_shape_def shape = sinew_default_shape_def();
    shape.element = SINEW_ELEMENT_HEX8;
    memcpy(shape.size, (double[3]){NX, NY, NZ}, sizeof shape.size);
    memcpy(shape.center, (double[3]){0, 0.5 * NY, 0}, sizeof shape.center);
    memcpy(shape.cells, (int32_t[3]){NX, NY, NZ}, sizeof shape.cells);
    assert_int_equal(sinew_mesh_create_shape(context, &shape, &mesh8), SINEW_OK);
    assert_int_equal(sinew_rig_create(context, skeleton, mesh8, &report8, &cubes), SINEW_OK);

    // The bones run through the middle column, from y = 0.4 to 6.1 and on to 11.6: cube 6 holds the
    // joint.
    for (int32_t e = 0; e < mesh8->element_count; e++) {
        sn_vec3 center = {0, 0, 0};
        for (int k = 0; k < 8; k++) {
            center =
                sn_madd(center, 0.125, sn_load3(mesh8->points + 3 * mesh8->indices[8 * e + k]));
        }

        bool middle = fabs(center.x) < 0.5 && fabs(center.z) < 0.5;
        int32_t expected = !middle || fabs(center.y - 6.5) < 0.4 ? -1 : center.y > 6.5;
        assert_int_equal(sinew_rig_element_joints(cubes)[e], expected);
    }

    assert_int_equal(report8.bound_elements, 11);
    assert_int_equal(report8.shared_elements, 1);
    sinew_rig_destroy(straight);
    sinew_rig_destroy(quadratic);
    sinew_rig_destroy(cubes);
    sinew_mesh_destroy(mesh10);
    sinew_mesh_destroy(mesh8);
    sinew_skeleton_destroy(skeleton);
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    make_bar();

    bool succeeded = false;
    for (int64_t fail_at = 1; !succeeded; fail_at++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);
        sinew_skeleton *skeleton = make_bones(context, false);

        allocator.fail_at = allocator.calls + fail_at - 1;
        sinew_rig *rig = NULL;
        sinew_status status = sinew_rig_create(context, skeleton, &mesh, NULL, &rig);

        succeeded = status == SINEW_OK;
        assert_true(succeeded || (status == SINEW_OUT_OF_MEMORY && !rig));
        sinew_rig_destroy(rig);
        sinew_skeleton_destroy(skeleton);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binding),
        cmocka_unit_test(test_bone_along_edges),
        cmocka_unit_test(test_other_elements),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
