// Colour maps: lightness goes one way, steps look equal, every colour can be shown; the palette's
// colours differ.
#include "support/test.h"

#include "io/picture/colormap.h"

#include <math.h>

enum { STEPS = SN_COLORMAP_STEPS };

static void test_lightness_is_monotone(void **state) {
    (void)state;
    for (int kind = 0; kind < SN_COLORMAP_KINDS; kind++) {
        sn_colormap map;
        sn_colormap_init(&map, (sn_colormap_kind)kind);

        double first = sn_lab_from_color(map.steps[0]).L;
        double last = sn_lab_from_color(map.steps[STEPS - 1]).L;
        bool diverging = kind == SN_COLORMAP_TIDE;
        if (!diverging) {
            assert_true(fabs(last - first) > 60); // a wide range of lightness
        }

        for (int i = 1; i < STEPS; i++) {
            double rise = sn_lab_from_color(map.steps[i]).L - sn_lab_from_color(map.steps[i - 1]).L;
            bool up = diverging ? i < STEPS / 2 : last > first;
            if (diverging && i == STEPS / 2) {
                continue; // the two middle steps are equal
            }

            if (!(up ? rise > 0 : rise < 0)) {
                fail_msg("map %d: lightness moves by %g at step %d", kind, rise, i);
            }
        }
    }
}

static void test_steps_look_equal(void **state) {
    (void)state;
    for (int kind = 0; kind < SN_COLORMAP_KINDS; kind++) {
        sn_colormap map;
        sn_colormap_init(&map, (sn_colormap_kind)kind);

        // The halves of the diverging map are even by themselves.
        int halves = kind == SN_COLORMAP_TIDE ? 2 : 1;
        for (int half = 0; half < halves; half++) {
            double least = INFINITY, most = 0;
            for (int i = 1 + half * STEPS / 2; i < STEPS / halves * (half + 1); i++) {
                double step = sn_lab_distance(sn_lab_from_color(map.steps[i]),
                                              sn_lab_from_color(map.steps[i - 1]));
                least = fmin(least, step);
                most = fmax(most, step);
            }

            if (!(most < 1.02 * least)) {
                fail_msg("map %d: steps from %g to %g", kind, least, most);
            }

            assert_true(least > 0.3);
        }
    }
}

static void test_colors_can_be_shown(void **state) {
    (void)state;
    for (int kind = 0; kind < SN_COLORMAP_KINDS; kind++) {
        sn_colormap map;
        sn_colormap_init(&map, (sn_colormap_kind)kind);
        for (int i = 0; i < STEPS; i++) {
            const float channels[3] = {map.steps[i].r, map.steps[i].g, map.steps[i].b};
            for (int c = 0; c < 3; c++) {
                assert_true(channels[c] >= -1e-6f && channels[c] <= 1 + 1e-6f);
            }
        }
    }
}

static void test_diverging_map_is_balanced(void **state) {
    (void)state;
    sn_colormap map;

    sn_colormap_init(&map, SN_COLORMAP_TIDE);
    sn_lab middle = sn_lab_from_color(sn_colormap_at(&map, 0.5));

    test_close("no hue in the middle", hypot(middle.a, middle.b), 0, 0.5);

    for (int i = 0; i < STEPS / 2; i++) {
        double low = sn_lab_from_color(map.steps[i]).L;
        double high = sn_lab_from_color(map.steps[STEPS - 1 - i]).L;
        test_close("lightness of the two arms", low, high, 4); // the hues' paths differ in length
    }
}

static void test_lookup(void **state) {
    (void)state;
    sn_colormap map;

    sn_colormap_init(&map, SN_COLORMAP_LAGOON);
    sn_color low = sn_colormap_at(&map, -3);
    sn_color high = sn_colormap_at(&map, INFINITY);
    sn_color none = sn_colormap_at(&map, NAN);

    assert_memory_equal(&low, &map.steps[0], sizeof low);
    assert_memory_equal(&high, &map.steps[STEPS - 1], sizeof high);
    assert_true(none.r == none.g && none.g == none.b);

    sn_color between = sn_colormap_at(&map, 10.5 / (STEPS - 1));
    test_close("between two steps", between.g, 0.5 * (map.steps[10].g + map.steps[11].g), 1e-6);
}

static void test_palette_differs(void **state) {
    (void)state;

    // How eyes without the red, or the green, cones see linear light (Vienot, Brettel and Mollon
    // 1999).
    static const double eyes[3][3][3] = {
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
        {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}}};

    for (int eye = 0; eye < 3; eye++) {
        sn_lab seen[SN_PALETTE_SIZE];
        for (int i = 0; i < SN_PALETTE_SIZE; i++) {
            sn_color c = sn_palette(i);
            double channels[3];
            for (int k = 0; k < 3; k++) {
                channels[k] = eyes[eye][k][0] * c.r + eyes[eye][k][1] * c.g + eyes[eye][k][2] * c.b;
            }

            seen[i] = sn_lab_from_color(
                (sn_color){(float)channels[0], (float)channels[1], (float)channels[2]});
            for (int k = 0; k < i; k++) {
                // A difference of 2.3 can just be seen; side by side in a legend it takes several
                // times that.
                double apart = sn_lab_distance(seen[i], seen[k]);
                double least = eye == 0 ? 30 : i < 6 ? 17 : 12;

                if (apart < least) {
                    fail_msg("eye %d: colours %d and %d of the palette are only %g apart", eye, k,
                             i, apart);
                }
            }
        }
    }

    assert_int_equal(sn_palette_hex(-1), sn_palette_hex(SN_PALETTE_SIZE - 1));
}

static void test_weights_blend(void **state) {
    (void)state;
    sn_color first = sn_palette(0);
    sn_color third = sn_palette(2);
    sn_color only = sn_palette_blend((double[3]){0, 0, 2}, 3);
    sn_color half = sn_palette_blend((double[3]){1, -5, 1}, 3);
    assert_memory_equal(&only, &third, sizeof only);
    test_close("half and half", half.r, 0.5 * (first.r + third.r), 1e-6);
    sn_color none = sn_palette_blend((double[2]){NAN, -1}, 2);
    assert_true(none.r == none.g && none.g == none.b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lightness_is_monotone),
        cmocka_unit_test(test_steps_look_equal),
        cmocka_unit_test(test_colors_can_be_shown),
        cmocka_unit_test(test_diverging_map_is_balanced),
        cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_palette_differs),
        cmocka_unit_test(test_weights_blend),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
