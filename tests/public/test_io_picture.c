// A world rendered into pixels: every kind of body shows, in the colours of its strain or of a
// palette, where its surface is.
#include "public.h"
#include "support/kinds.h"

enum { WIDTH = 120, HEIGHT = 90 };

static sinew_picture_def small_def(void) {
    sinew_picture_def def = sinew_default_picture_def();
    def.width = WIDTH;
    def.height = HEIGHT;
    def.ground = false;
    def.direction[0] = 0;
    def.direction[1] = -1; // along y, from the front
    def.direction[2] = 0;
    def.lower[0] = def.lower[2] = -1;
    def.upper[0] = def.upper[2] = 1;
    return def;
}

static sinew_picture *render(test_kinds *t, sinew_scene_color color, const sinew_picture_def *def) {
    sinew_picture *picture = NULL;
    assert_ok(t->context,
              sinew_picture_render_world(t->context, t->world, color, 0, def, &picture));
    assert_int_equal(sinew_picture_get_width(picture), def ? WIDTH : 800);
    assert_int_equal(sinew_picture_get_height(picture), def ? HEIGHT : 600);
    return picture;
}

// Pixels that differ clearly between two pictures, and the mean of their columns. (The light, and
// with it every shade, depends a little on how large the whole is.)
static int32_t count_differences(const sinew_picture *a, const sinew_picture *b, double *column) {
    const uint8_t *p = sinew_picture_get_pixels(a);
    const uint8_t *q = sinew_picture_get_pixels(b);
    int32_t count = 0;
    *column = 0;
    for (int32_t i = 0; i < WIDTH * HEIGHT; i++) {
        int apart = 0;
        for (size_t k = 0; k < 3; k++) {
            apart += abs(p[3 * (size_t)i + k] - q[3 * (size_t)i + k]);
        }
        if (apart > 60) {
            count++;
            *column += i % WIDTH + 0.5;
        }
    }
    *column /= count > 0 ? count : 1;
    return count;
}

static void test_every_kind(void **state) {
    (void)state;
    sinew_picture_def def = small_def();
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create_world();
        sinew_picture *empty = render(&t, SINEW_SCENE_COLOR_NONE, &def);

        // The bar is 1 m by 0.2 m; the camera sees a little more than 2 m by 2 m.
        t.body = test_kinds_add(&t, kind, (const double[3]){0, 0, 0});
        sinew_picture *middle = render(&t, SINEW_SCENE_COLOR_NONE, &def);
        double column;
        int32_t seen = count_differences(middle, empty, &column);
        assert_true(seen > WIDTH * HEIGHT / 50 && seen < WIDTH * HEIGHT / 5);
        test_kind_close(kind, "column", column, 0.5 * WIDTH, 2);

        // Deformed and coloured, other pixels: no two values of the map are those of the palette.
        test_kinds_deform(&t, kind);
        sinew_picture *strained = render(&t, SINEW_SCENE_COLOR_STRAIN, &def);
        assert_true(count_differences(strained, empty, &column) > seen / 2);
        assert_true(count_differences(strained, middle, &column) > seen / 2);

        sinew_picture_destroy(empty);
        sinew_picture_destroy(middle);
        sinew_picture_destroy(strained);
        test_kinds_destroy(&t);
    }
}

// Several bodies, each where it is and in its own colour; defaults for camera and size.
static void test_bodies(void **state) {
    (void)state;
    sinew_picture_def def = small_def();
    test_kinds t = test_kinds_create_world();
    test_kinds_add(&t, TEST_TET4, (const double[3]){-0.5, 0, 0.5});
    sinew_picture *one = render(&t, SINEW_SCENE_COLOR_NONE, &def);
    sinew_body *second = test_kinds_add(&t, TEST_RIGID_FRAMES, (const double[3]){0.5, 0, -0.5});
    sinew_picture *two = render(&t, SINEW_SCENE_COLOR_NONE, &def);

    double column;
    assert_true(count_differences(one, two, &column) > WIDTH * HEIGHT / 50);
    assert_true(column > 0.6 * WIDTH); // on the right

    // Of the same shape as the first, and yet of another colour in the middle.
    int32_t counts[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        const uint8_t *pixels = sinew_picture_get_pixels(two);
        for (int32_t i = 0; i < WIDTH * HEIGHT; i++) {
            if ((i % WIDTH < WIDTH / 2) == (side == 0)) {
                counts[side] += pixels[3 * (size_t)i + 2] > pixels[3 * (size_t)i] + 40; // blue
            }
        }
    }
    assert_true(counts[0] > WIDTH * HEIGHT / 50 && counts[1] == 0);

    sinew_body_destroy(second);
    sinew_picture *again = render(&t, SINEW_SCENE_COLOR_NONE, &def);
    assert_memory_equal(sinew_picture_get_pixels(one), sinew_picture_get_pixels(again),
                        3 * WIDTH * HEIGHT);
    sinew_picture_destroy(one);
    sinew_picture_destroy(two);
    sinew_picture_destroy(again);
    sinew_picture_destroy(render(&t, SINEW_SCENE_COLOR_SPEED, NULL));
    test_kinds_destroy(&t);
}

static void test_refused(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_TET4);
    sinew_picture *picture = NULL;
    assert_int_equal(sinew_picture_render_world(t.context, t.world, SINEW_SCENE_COLOR_DISPLACEMENT,
                                                0, NULL, &picture),
                     SINEW_UNSUPPORTED);
    assert_int_equal(
        sinew_picture_render_world(t.context, t.world, (sinew_scene_color)77, 0, NULL, &picture),
        SINEW_INVALID_ARGUMENT);
    sinew_picture_def def = small_def();
    def.width = 0;
    assert_int_equal(
        sinew_picture_render_world(t.context, t.world, SINEW_SCENE_COLOR_NONE, 0, &def, &picture),
        SINEW_INVALID_ARGUMENT);
    assert_null(picture);
    test_kinds_destroy(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
