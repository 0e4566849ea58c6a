// The font has every printable character, no two look alike, and text keeps to its place.
#include "support/test.h"

#include "io/picture/font.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 60, HEIGHT = 60 };

static uint8_t shots[128][WIDTH * HEIGHT * 3];

static sn_image blank(uint8_t *pixels) {
    memset(pixels, 255, (size_t)WIDTH * HEIGHT * 3);
    return (sn_image){.width = WIDTH, .height = HEIGHT, .stride = WIDTH * 3, .pixels = pixels};
}

static double ink(const uint8_t *pixels) {
    double sum = 0;
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++) {
        sum += (255 - pixels[i]) / 765.0;
    }
    return sum;
}

static void test_all_printable_characters(void **state) {
    (void)state;
    sn_text_style style = sn_text_style_default(30);
    for (int code = 33; code < 127; code++) {
        if (!sn_font_has((uint32_t)code)) {
            fail_msg("no glyph for '%c'", code);
        }

        char text[2] = {(char)code, 0};
        sn_text_draw(blank(shots[code]), 10, 40, &style, text);
        if (!(ink(shots[code]) > 4)) {
            fail_msg("'%c' is hardly visible", code);
        }

        for (int other = 33; other < code; other++) {
            double difference = 0;
            for (int i = 0; i < WIDTH * HEIGHT * 3; i++) {
                difference += abs(shots[code][i] - shots[other][i]) / 765.0;
            }

            if (difference < 4) {
                fail_msg("'%c' and '%c' look alike", code, other);
            }
        }
    }

    const uint32_t signs[] = {' ',   0xb0,  0xb1,  0xb2,  0xb3,   0xb5,  0xd7,
                              0x394, 0x3b5, 0x3bd, 0x3c3, 0x2212, 0x221e};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        assert_true(sn_font_has(signs[i]));
    }

    assert_false(sn_font_has(0x4e00));
}

static void test_glyphs_stay_in_their_box(void **state) {
    (void)state;

    // At 30 pixels, capitals are 21 high and descenders reach 7 below the baseline; strokes are 2.4
    // wide.
    sn_text_style style = sn_text_style_default(30);

    for (int code = 33; code < 127; code++) {
        char text[2] = {(char)code, 0};
        double width = sn_text_width(&style, text);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                bool inside = x >= 10 - 3 && x <= 10 + width && y >= 40 - 27 && y <= 40 + 10;
                if (!inside && shots[code][(y * WIDTH + x) * 3] != 255) {
                    fail_msg("'%c' leaves its box at %d, %d", code, x, y);
                }
            }
        }
    }
}

static void test_anchors(void **state) {
    (void)state;
    uint8_t pixels[WIDTH * HEIGHT * 3];
    for (int anchor = 0; anchor < 3; anchor++) {
        sn_text_style style = sn_text_style_default(12);
        style.anchor = (sn_text_anchor)anchor;
        sn_text_draw(blank(pixels), 30, 30, &style, "HOH");

        int left = WIDTH;
        int right = 0;
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            if (pixels[3 * i] > 200) {
                continue;
            }
            left = i % WIDTH < left ? i % WIDTH : left;
            right = i % WIDTH > right ? i % WIDTH : right;
        }

        double place = anchor == SN_TEXT_LEFT    ? left
                       : anchor == SN_TEXT_RIGHT ? right
                                                 : 0.5 * (left + right);

        test_close("where the text stands", place, 29.5, 1.5);
    }
}

static void test_width_is_a_sum(void **state) {
    (void)state;
    sn_text_style style = sn_text_style_default(17);
    double parts = sn_text_width(&style, "strain ") + sn_text_width(&style, "\xce\xb5 = 4");
    test_close("width of two parts", sn_text_width(&style, "strain \xce\xb5 = 4"), parts, 1e-12);
    style.size = 34;
    test_close("twice the size", sn_text_width(&style, "strain \xce\xb5 = 4"), 2 * parts, 1e-12);
}

static void test_malformed_text_and_edges(void **state) {
    (void)state;
    uint8_t pixels[WIDTH * HEIGHT * 3];
    sn_image image = blank(pixels);
    sn_text_style style = sn_text_style_default(40);

    const char *const texts[] = {
        "", "\xff\xfe\x80", "\xe2\x88", "\xf4\x90\x80\x80", "\xed\xa0\x80", "\xc0\x80"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sn_text_draw(image, -20, 5, &style, texts[i]);
        sn_text_draw(image, 55, 65, &style, texts[i]);
        sn_text_draw(image, 1e9, -1e9, &style, texts[i]);
    }

    sn_text_draw(image, -1e5, 20, &style, "far away");
    assert_true(ink(pixels) > 0); // boxes for what is unknown
    sn_text_draw((sn_image){0}, 3, 3, &style, "no image");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_printable_characters),
        cmocka_unit_test(test_glyphs_stay_in_their_box),
        cmocka_unit_test(test_anchors),
        cmocka_unit_test(test_width_is_a_sum),
        cmocka_unit_test(test_malformed_text_and_edges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
