// The parts of soft characters: shapes that a motion is made of, and cells that are glued together
// along the skeleton only.
#include "support/test.h"

#include "io/soften/softener.h"

#include <math.h>
#include <string.h>

enum { IMAGES = 40, SIZE = 300, RANK = 3 };

// Images of three shapes come back from at most a few more than three.
static void test_shapes_add_up_to_the_images(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    sn_random random = sn_random_seed(5);
    static double shape[RANK][SIZE], images[IMAGES * SIZE], left[IMAGES * SIZE];
    for (int k = 0; k < RANK * SIZE; k++) {
        shape[k / SIZE][k % SIZE] = sn_random_range(&random, -0.5, 0.5);
    }
    memset(images, 0, sizeof images);
    for (int i = 0; i < IMAGES; i++) {
        for (int k = 0; k < RANK; k++) {
            double weight = sin(0.3 * (k + 1) * i + k);
            for (int j = 0; j < SIZE; j++) {
                images[i * SIZE + j] += weight * shape[k][j];
            }
        }
    }

    sn_soft_shapes found;
    memcpy(left, images, sizeof left);
    assert_int_equal(sn_soft_shapes_create(&arena, left, IMAGES, SIZE, 0, 20, 1e-9, &found),
                     SINEW_OK);
    assert_true(found.error <= 1e-9);
    assert_in_range(found.count, RANK, 12); // inexact directions cost some
    for (int i = 0; i < IMAGES; i++) {
        for (int j = 0; j < SIZE; j++) {
            double sum = 0;
            for (int k = 0; k < found.count; k++) {
                assert_true(fabs(found.weights[i * 20 + k]) <= 1 + 1e-12);
                sum += found.weights[i * 20 + k] * found.shapes[k * SIZE + j];
            }
            test_close("image", sum, images[i * SIZE + j], 1.1e-9);
        }
    }

    // Too few shapes: the error is what is left.
    memcpy(left, images, sizeof left);
    assert_int_equal(sn_soft_shapes_create(&arena, left, IMAGES, SIZE, 0, 1, 1e-9, &found),
                     SINEW_OK);
    double largest = 0;
    for (int i = 0; i < IMAGES * SIZE; i++) {
        largest = fmax(largest, fabs(left[i]));
    }
    test_close("error", found.error, largest, 0);
    assert_true(found.error > 0.1);

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

// Two boxes, 1 cm apart, that follow joints 1 and 2. `parents` says how these are connected.
static int32_t count_parts(sinew_context *context, const int32_t parents[3]) {
    static const int32_t faces[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                      2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    double points[48], weights[48] = {0};
    int32_t indices[72];
    for (int i = 0; i < 16; i++) {
        points[3 * i] = (i / 8 ? 0.51 : 0) + 0.5 * (i & 1);
        points[3 * i + 1] = i >> 1 & 1;
        points[3 * i + 2] = 0.5 * (i >> 2 & 1);
        weights[3 * i + 1 + i / 8] = 1;
    }
    for (int i = 0; i < 72; i++) {
        indices[i] = faces[i % 36] + 8 * (i / 36);
    }

    sn_soft_bone bones[2] = {{1, {0.25, 0.2, 0.25}, {0.25, 0.8, 0.25}},
                             {2, {0.76, 0.2, 0.25}, {0.76, 0.8, 0.25}}};
    sn_lattice_def def = {points, 16, indices, 72, weights, 3, parents, bones, 2, 4000, false, 0.5};
    sn_arena arena = sn_arena_create(context);
    sn_lattice lattice;
    assert_int_equal(sn_lattice_create(&arena, &def, &lattice), SINEW_OK);
    assert_int_equal(sinew_mesh_check(context, &lattice.mesh), SINEW_OK);
    assert_true(lattice.held_count > 10 && lattice.held_count < lattice.mesh.point_count / 2);

    // Every point is where its nodes have it, and rows of weights sum to 1.
    for (int i = 0; i < 16; i++) {
        for (int c = 0; c < 3; c++) {
            double x = 0;
            for (int k = 8 * i; k < 8 * i + 8; k++) {
                x += lattice.point_shares[k] * lattice.mesh.points[3 * lattice.point_nodes[k] + c];
            }
            test_close("point", x, points[3 * i + c], 1e-12);
        }
    }
    for (int32_t i = 0; i < lattice.mesh.point_count; i++) {
        const float *row = lattice.weights + 3 * i;
        test_close("weights", (double)row[0] + (double)row[1] + (double)row[2], 1, 1e-5);
    }

    sinew_quality quality;
    assert_int_equal(sinew_mesh_compute_quality(context, &lattice.mesh, &quality), SINEW_OK);
    sn_arena_destroy(&arena);
    return quality.component_count;
}

static void test_only_the_skeleton_glues(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    assert_int_equal(count_parts(context, (int32_t[]){-1, 0, 1}), 1); // 2 hangs on 1
    assert_int_equal(count_parts(context, (int32_t[]){-1, 0, 0}), 2); // two limbs that touch
    sinew_context_destroy(context);
}

enum { NODES = 60, JOINTS = 3 };

// What remains after the projection has no share in what joints can do: B'M d = 0, up to rounding
// of sums of NODES numbers of order one. Motions of joints vanish, and held nodes keep theirs.
static void test_the_complement_of_the_joints(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    sn_random random = sn_random_seed(8);
    double points[3 * NODES], masses[NODES], weights[2 * NODES], d[3 * NODES], held_motion[3];
    int32_t first[NODES + 1], joints[2 * NODES];
    uint8_t held[NODES] = {0};
    held[7] = 1;
    for (int i = 0; i < NODES; i++) {
        // Each node follows two joints, of which the last only holds what the second has too.
        first[i] = 2 * i;
        joints[2 * i] = i % 2;
        joints[2 * i + 1] = i % 2 ? 2 : 1;
        weights[2 * i] = sn_random_range(&random, 0.1, 0.9);
        weights[2 * i + 1] = 1 - weights[2 * i];
        masses[i] = sn_random_range(&random, 0.5, 2);
        for (int c = 0; c < 3; c++) {
            points[3 * i + c] = sn_random_range(&random, -1, 1);
            d[3 * i + c] = sn_random_range(&random, -1, 1);
        }
    }
    first[NODES] = 2 * NODES;
    memcpy(held_motion, d + 21, sizeof held_motion);

    sn_complement complement;
    sn_complement_def def = {.points = points,
                             .node_count = NODES,
                             .joint_count = JOINTS,
                             .first_weight = first,
                             .joints = joints,
                             .weights = weights,
                             .masses = masses,
                             .held = held};
    assert_int_equal(sn_complement_create(&arena, &def, &complement), SINEW_OK);
    sn_complement_project(&complement, d);
    assert_memory_equal(held_motion, d + 21, sizeof held_motion);

    // The momenta of all functions of all joints.
    double length = 0;
    for (int j = 0; j < 12 * JOINTS; j++) {
        double sum = 0;
        for (int w = 0; w < 2 * NODES; w++) {
            int i = w / 2, f = j % 4, c = j / 4 % 3;
            if (joints[w] == j / 12 && !held[i]) {
                sum += masses[i] * weights[w] * (f == 3 ? 1 : points[3 * i + f]) * d[3 * i + c];
            }
        }
        test_close("momentum", sum, 0, 1e-12);
    }
    for (int i = 0; i < 3 * NODES; i++) {
        length += d[i] * d[i];
    }
    assert_true(length > 10); // 59 nodes less 12 functions: most of it is left

    // A motion of the joints.
    for (int i = 0; i < NODES; i++) {
        for (int c = 0; c < 3; c++) {
            d[3 * i + c] = 0;
            for (int w = 2 * i; w < 2 * i + 2 && !held[i]; w++) {
                d[3 * i + c] += weights[w] * (joints[w] + points[3 * i]);
            }
        }
    }
    sn_complement_project(&complement, d);
    for (int i = 0; i < 3 * NODES; i++) {
        test_close("motion of joints", d[i], 0, 1e-12);
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes_add_up_to_the_images),
                                       cmocka_unit_test(test_only_the_skeleton_glues),
                                       cmocka_unit_test(test_the_complement_of_the_joints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
