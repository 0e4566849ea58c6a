// The rasteriser covers each sample of a triangulated area exactly once, whatever the sizes of the
// triangles, also where they are clipped; the nearer face wins; barycentric coordinates are those
// of the point in space.
#include "support/test.h"

#include "io/picture/raster.h"

#include <math.h>
#include <stdlib.h>

enum { SIZE = 80, GRID = 13 }; // pixels along a side, vertices along a side

static uint8_t counts[SIZE * SIZE][SN_RASTER_SAMPLES];
static sn_raster_tile tile;

// Adds 1 to each sample that the triangle covers.
static void count_triangle(const sn_raster_vertex v[3]) {
    sn_raster_setup setup;
    sn_raster_setup_triangle(&setup, v, 0.01, false, 7);
    for (int k = 0; k < setup.count; k++) {
        for (int32_t y = 0; y < SIZE; y += SN_RASTER_TILE) {
            for (int32_t x = 0; x < SIZE; x += SN_RASTER_TILE) {
                sn_raster_clear(&tile, x, y);
                sn_raster_draw(&tile, &setup.outlines[k], &setup.planes);
                for (int p = 0; p < SN_RASTER_TILE * SN_RASTER_TILE; p++) {
                    int32_t at = (y + p / SN_RASTER_TILE) * SIZE + x + p % SN_RASTER_TILE;
                    for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
                        counts[at][s] = (uint8_t)(counts[at][s] + (tile.face[p][s] == 7));
                    }
                }
            }
        }
    }
}

static sn_raster_vertex screen_vertex(double x, double y, double w) {
    return (sn_raster_vertex){x * w, y * w, w};
}

// A grid of points in [-4, SIZE + 4]^2, moved at random; some onto whole pixels and sample
// positions, where ties happen.
static void make_grid(sn_raster_vertex grid[GRID][GRID], sn_random *random, double jitter) {
    double step = (SIZE + 8.0) / (GRID - 1);
    for (int j = 0; j < GRID; j++) {
        for (int i = 0; i < GRID; i++) {
            bool edge = i == 0 || j == 0 || i == GRID - 1 || j == GRID - 1;
            double x = -4 + step * i;
            double y = -4 + step * j;
            double reach = edge ? 0 : jitter * step;

            x += sn_random_range(random, -reach, reach);
            y += sn_random_range(random, -reach, reach);
            if (sn_random_unit(random) < 0.5) {
                x = floor(x * 16) / 16;
                y = floor(y * 16) / 16;
            }

            grid[j][i] = screen_vertex(x, y, sn_random_range(random, 0.5, 2));
        }
    }
}

static void assert_each_once(const char *what) {
    for (int p = 0; p < SIZE * SIZE; p++) {
        for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
            if (counts[p][s] != 1) {
                fail_msg("%s: sample %d of pixel %d, %d is covered %d times", what, s, p % SIZE,
                         p / SIZE, counts[p][s]);
            }
        }
    }
}

static void test_small_triangles_tile_the_plane(void **state) {
    (void)state;
    sn_random random = sn_random_seed(11);
    for (int turn = 0; turn < 6; turn++) {
        sn_raster_vertex grid[GRID][GRID];
        make_grid(grid, &random, 0.3);
        memset(counts, 0, sizeof counts);

        for (int j = 0; j + 1 < GRID; j++) {
            for (int i = 0; i + 1 < GRID; i++) {
                sn_raster_vertex a = grid[j][i];
                sn_raster_vertex b = grid[j][i + 1];
                sn_raster_vertex c = grid[j + 1][i];
                sn_raster_vertex d = grid[j + 1][i + 1];
                bool other = sn_random_unit(&random) < 0.5; // both diagonals, both orientations
                count_triangle(other ? (sn_raster_vertex[3]){a, b, c}
                                     : (sn_raster_vertex[3]){a, d, b});
                count_triangle(other ? (sn_raster_vertex[3]){b, c, d}
                                     : (sn_raster_vertex[3]){a, c, d});
            }
        }

        assert_each_once("a grid of small triangles");
    }
}

// A fan around a point inside the picture to points far outside: large triangles, clipped by the
// band, next to small ones.
static void fan(sn_random *random, double far, double small) {
    enum { SPOKES = 17 };
    sn_raster_vertex middle =
        screen_vertex(sn_random_range(random, 20, 60), sn_random_range(random, 20, 60), 1);
    sn_raster_vertex rim[SPOKES];

    for (int k = 0; k < SPOKES; k++) {
        double angle = 2 * 3.14159265358979 * (k + sn_random_range(random, 0, 0.9)) / SPOKES;
        double radius = k % 3 ? far : small;
        rim[k] = screen_vertex(40 + radius * cos(angle), 40 + radius * sin(angle), k % 2 ? 1 : 3);
    }

    memset(counts, 0, sizeof counts);
    for (int k = 0; k < SPOKES; k++) {
        sn_raster_vertex triangle[3] = {middle, rim[k], rim[(k + 1) % SPOKES]};
        count_triangle(triangle);
    }
}

static void test_large_triangles_tile_the_plane(void **state) {
    (void)state;
    sn_random random = sn_random_seed(12);
    for (int turn = 0; turn < 6; turn++) {
        fan(&random, 2000, 400);
        assert_each_once("a fan of large triangles");
        fan(&random, 1e6, 400);
        assert_each_once("a fan of clipped triangles");
    }
}

static void test_plane_behind_the_eye(void **state) {
    (void)state;

    // A floor from far ahead to behind the eye: y = 30 + 20 / w; what is in front covers exactly
    // the rows below y = 30 + 20 / far.
    double far = 1e4, behind = -5;
    sn_raster_vertex floor_points[4];
    double w[4] = {far, far, behind, behind};
    double x[4] = {-1e6, 1e6, 1e6, -1e6};

    for (int k = 0; k < 4; k++) {
        floor_points[k] = (sn_raster_vertex){x[k], 30 * w[k] + 20, w[k]};
    }

    memset(counts, 0, sizeof counts);
    count_triangle((sn_raster_vertex[3]){floor_points[0], floor_points[1], floor_points[2]});
    count_triangle((sn_raster_vertex[3]){floor_points[0], floor_points[2], floor_points[3]});

    for (int p = 0; p < SIZE * SIZE; p++) {
        for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
            double y = p / SIZE + 0.5 + sn_raster_offsets[s][1] / 16.0;
            if (fabs(y - 30) > 0.1) {
                assert_int_equal(counts[p][s], y > 30);
            }
        }
    }
}

static void test_small_and_large_agree(void **state) {
    (void)state;

    // The same edge as part of a triangle just below and just above the size at which 64 bits are
    // needed.
    memset(counts, 0, sizeof counts);

    for (int k = 0; k < 2; k++) {
        double far = k ? 63 : 65; // pixels: the limit is 64
        count_triangle((sn_raster_vertex[3]){screen_vertex(3.37, 5.11, 1),
                                             screen_vertex(3.37 + far, 7.9, 1),
                                             screen_vertex(9.3, 5.11 + far, 1)});
    }

    int both = 0;
    for (int p = 0; p < SIZE * SIZE; p++) {
        double x = p % SIZE + 0.5;
        double y = p / SIZE + 0.5;
        for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
            both += counts[p][s] == 2;
            if (x + y < 55 && x > 11 && y > 10) {
                assert_int_equal(counts[p][s], 2); // well inside of both
            }
        }
    }

    assert_true(both > 8 * 1000);
}

static void test_nearer_face_wins(void **state) {
    (void)state;

    // Two slanted triangles that cross along x = 8.
    sn_raster_setup a, b;

    sn_raster_setup_triangle(&a,
                             (sn_raster_vertex[3]){screen_vertex(-40, -40, 1),
                                                   screen_vertex(56, -40, 1),
                                                   screen_vertex(8, 90, 1)},
                             0.01, false, 1);
    sn_raster_setup_triangle(&b,
                             (sn_raster_vertex[3]){screen_vertex(-40, -40, 1 / 0.52),
                                                   screen_vertex(56, -40, 1 / 1.48),
                                                   screen_vertex(8, 90, 1)},
                             0.01, false, 2);

    for (int order = 0; order < 2; order++) {
        sn_raster_clear(&tile, 0, 0);
        sn_raster_draw(&tile, order ? &a.outlines[0] : &b.outlines[0],
                       order ? &a.planes : &b.planes);
        sn_raster_draw(&tile, order ? &b.outlines[0] : &a.outlines[0],
                       order ? &b.planes : &a.planes);

        for (int p = 0; p < SN_RASTER_TILE * SN_RASTER_TILE; p++) {
            for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
                double x = p % SN_RASTER_TILE + 0.5 + sn_raster_offsets[s][0] / 16.0;
                assert_int_equal(tile.face[p][s], x < 8 ? 1 : 2); // no sample lies at 8
            }
        }
    }
}

static void test_equal_depth_keeps_the_first(void **state) {
    (void)state;
    sn_raster_setup a;

    sn_raster_setup_triangle(&a,
                             (sn_raster_vertex[3]){screen_vertex(-9, -9, 2),
                                                   screen_vertex(90, -9, 2),
                                                   screen_vertex(-9, 90, 2)},
                             0.01, false, 1);

    sn_raster_outline again = a.outlines[0];
    again.face = 2;
    sn_raster_clear(&tile, 0, 0);
    sn_raster_draw(&tile, &a.outlines[0], &a.planes);
    sn_raster_draw(&tile, &again, &a.planes);

    for (int p = 0; p < SN_RASTER_TILE * SN_RASTER_TILE; p++) {
        assert_int_equal(tile.face[p][0], 1);
    }
}

static void test_barycentric_coordinates(void **state) {
    (void)state;
    sn_random random = sn_random_seed(13);
    for (int turn = 0; turn < 200; turn++) {
        sn_raster_vertex v[3];
        for (int i = 0; i < 3; i++) {
            v[i] =
                screen_vertex(sn_random_range(&random, 600, 640),
                              sn_random_range(&random, 400, 440), sn_random_range(&random, 0.5, 2));
        }

        sn_raster_setup setup;
        sn_raster_setup_triangle(&setup, v, 0.01, false, 0);
        if (setup.count == 0) {
            continue;
        }

        double area =
            fabs((v[1].x / v[1].w - v[0].x / v[0].w) * (v[2].y / v[2].w - v[0].y / v[0].w) -
                 (v[2].x / v[2].w - v[0].x / v[0].w) * (v[1].y / v[1].w - v[0].y / v[0].w));
        if (area < 20) {
            continue;
        }

        double b[3] = {0.2, 0.5, 0.3};
        double x = 0;
        double y = 0;
        double w = 0;

        for (int i = 0; i < 3; i++) {
            x += b[i] * v[i].x;
            y += b[i] * v[i].y;
            w += b[i] * v[i].w;
        }

        float found[3];
        float found_w = sn_raster_barycentric(found, &setup.planes, (float)(x / w), (float)(y / w));

        test_close("w", found_w, w,
                   2e-4); // single precision at 640 pixels, over triangles of some 10 pixels
        for (int i = 0; i < 3; i++) {
            test_close("barycentric coordinate", found[i], b[i], 1e-3);
        }
    }
}

static void test_bad_triangles_show_nothing(void **state) {
    (void)state;
    sn_raster_setup setup;
    sn_raster_vertex a = screen_vertex(1, 1, 1);
    sn_raster_vertex b = screen_vertex(9, 1, 1);
    sn_raster_vertex c = screen_vertex(1, 9, 1);
    sn_raster_vertex bad = {NAN, 0, 1};

    sn_raster_setup_triangle(&setup, (sn_raster_vertex[3]){a, b, bad}, 0.01, false, 0);
    assert_int_equal(setup.count, 0);
    sn_raster_setup_triangle(&setup, (sn_raster_vertex[3]){a, b, a}, 0.01, false, 0);
    assert_int_equal(setup.count, 0);

    sn_raster_vertex behind[3] = {{1, 1, -1}, {5, 1, -2}, {1, 5, -1}};
    sn_raster_setup_triangle(&setup, behind, 0.01, false, 0);
    assert_int_equal(setup.count, 0);

    sn_raster_vertex huge[3] = {{1e300, 1, 1}, {-1e300, 1e300, 1}, {0, -1e300, 1}};
    sn_raster_setup_triangle(&setup, huge, 0.01, false, 0);
    assert_true(setup.count >= 0 && setup.count <= SN_RASTER_MOST_OUTLINES);
    sn_raster_setup_triangle(&setup, (sn_raster_vertex[3]){a, b, c}, 0.01, false, 0);
    assert_int_equal(setup.count, 1);
}

static void test_any_numbers(void **state) {
    (void)state;
    sn_random random = sn_random_seed(14);
    int seen = 0;

    for (int turn = 0; turn < 100000; turn++) {
        double reach = turn % 4 == 0 ? 300 : turn % 4 == 1 ? 20 : 5; // powers of ten
        sn_raster_vertex v[3];
        for (int i = 0; i < 3; i++) {
            double *numbers[3] = {&v[i].x, &v[i].y, &v[i].w};
            for (int c = 0; c < 3; c++) {
                *numbers[c] = pow(10, sn_random_range(&random, -reach, reach)) *
                              (sn_random_u32(&random) % 2 ? 1 : -1);
            }

            if (turn % 3 == 0) {
                v[i].w = 0.01 * (1 + 1e-15 * (double)(sn_random_u32(&random) % 5 -
                                                      2.0)); // about the near plane
            }
        }

        sn_raster_setup setup;
        sn_raster_setup_triangle(&setup, v, 0.01, turn % 2, 3);
        assert_true(setup.count >= 0 && setup.count <= SN_RASTER_MOST_OUTLINES);

        for (int k = 0; k < setup.count; k++) {
            sn_raster_clear(&tile, 16 * (turn % 40), 16 * (turn % 30));
            sn_raster_draw(&tile, &setup.outlines[k], &setup.planes);
            float b[3];
            sn_raster_barycentric(b, &setup.planes, 3, 4);

            for (int i = 0; i < 3; i++) {
                assert_true(b[i] >= 0 && b[i] <= 1);
            }

            seen += tile.face[0][0] == 3;
        }
    }

    assert_true(seen > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_triangles_tile_the_plane),
        cmocka_unit_test(test_large_triangles_tile_the_plane),
        cmocka_unit_test(test_plane_behind_the_eye),
        cmocka_unit_test(test_small_and_large_agree),
        cmocka_unit_test(test_nearer_face_wins),
        cmocka_unit_test(test_equal_depth_keeps_the_first),
        cmocka_unit_test(test_barycentric_coordinates),
        cmocka_unit_test(test_bad_triangles_show_nothing),
        cmocka_unit_test(test_any_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
