// Corner normals: exact on a sphere, sharp at the edges of a box, smooth where the crease angle
// allows it.
#include "support/test.h"

#include "io/picture/normals.h"
#include "picture/shapes.h"

static sphere ball;

static void test_sphere(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);

    make_sphere(&ball, sn_v3(0, 0, 0), 2);
    static float positions[3 * SPHERE_VERTICES], normals[9 * SPHERE_TRIANGLES];
    for (int i = 0; i < 3 * SPHERE_VERTICES; i++) {
        positions[i] = (float)ball.positions[i];
    }

    assert_int_equal(sn_compute_corner_normals(normals, positions, SPHERE_VERTICES, ball.triangles,
                                               SPHERE_TRIANGLES, 0.7, &arena),
                     SINEW_OK);

    for (int k = 0; k < 3 * SPHERE_TRIANGLES; k++) {
        for (int c = 0; c < 3; c++) {
            test_close("normal", normals[3 * k + c], positions[3 * ball.triangles[k] + c] / 2,
                       2e-5);
        }
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

// The eight corners and twelve triangles of a cube, two of them flat and one with a NaN, which must
// not disturb the others.
static const float cube[27] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1,   0, 0, 0,
                               1, 1, 0, 1, 0, 1, 1, 1, 1, 1, NAN, 0, 0};
static const int32_t cube_triangles[45] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5,
                                           0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2,
                                           1, 3, 7, 1, 7, 5, 0, 0, 1, 0, 7, 7, 0, 1, 8};

static void test_cube(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    float sharp[135], smooth[135];

    assert_int_equal(sn_compute_corner_normals(sharp, cube, 9, cube_triangles, 15, 0.7, &arena),
                     SINEW_OK);
    assert_int_equal(sn_compute_corner_normals(smooth, cube, 9, cube_triangles, 15, 2, &arena),
                     SINEW_OK);

    for (int t = 0; t < 12; t++) {
        int axis = 2 - t / 4;
        int side = t / 2 % 2; // pairs of triangles: z, y, x
        for (int i = 0; i < 3; i++) {
            for (int c = 0; c < 3; c++) {
                double corner = cube[3 * cube_triangles[3 * t + i] + c] - 0.5;
                test_close("sharp", sharp[9 * t + 3 * i + c], c == axis ? (side ? 1 : -1) : 0,
                           1e-6);
                test_close("smooth", smooth[9 * t + 3 * i + c], corner / sqrt(0.75), 1e-6);
            }
        }
    }

    for (int k = 9 * 12; k < 9 * 15; k++) {
        assert_true(isfinite(sharp[k]));
    }

    sn_arena_destroy(&arena);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sphere), cmocka_unit_test(test_cube)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
