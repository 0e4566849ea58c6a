// Colours keep to the standards: sRGB's curve, CIELAB's reference values, the table to half a byte.
// Images and their views.
#include "support/test.h"

#include "io/picture/picture.h"

#include <math.h>

static void test_srgb_curve(void **state) {
    (void)state;
    test_close("black", sn_srgb_encode(0), 0, 0);
    test_close("white", sn_srgb_encode(1), 1, 0);
    test_close("middle grey", sn_srgb_encode(0.2140411), 0.5,
               1e-6); // IEC 61966-2-1: 0.5 decodes to 0.21404

    for (int i = 0; i <= 255; i++) {
        test_close("there and back", sn_srgb_encode(sn_srgb_decode(i / 255.0)), i / 255.0, 1e-6);
    }
}

static void test_lab_reference_values(void **state) {
    (void)state;

    // The primaries of sRGB in CIELAB under D65, as tabulated by Lindbloom.
    const struct {
        uint32_t hex;
        double L, a, b;
    } known[] = {{0xff0000, 53.2408, 80.0925, 67.2032},
                 {0x00ff00, 87.7347, -86.1827, 83.1793},
                 {0x0000ff, 32.2970, 79.1875, -107.8602},
                 {0xffffff, 100, 0, 0},
                 {0x000000, 0, 0, 0}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        sn_lab lab = sn_lab_from_color(sn_color_hex(known[i].hex));
        test_close("L", lab.L, known[i].L, 0.01);
        test_close("a", lab.a, known[i].a, 0.02);
        test_close("b", lab.b, known[i].b, 0.02);
    }

    sn_random random = sn_random_seed(3);
    for (int i = 0; i < 100; i++) {
        sn_color color = {(float)sn_random_unit(&random), (float)sn_random_unit(&random),
                          (float)sn_random_unit(&random)};
        sn_color back = sn_color_from_lab(sn_lab_from_color(color));
        test_close("red", back.r, color.r, 1e-5);
        test_close("green", back.g, color.g, 1e-5);
        test_close("blue", back.b, color.b, 1e-5);
    }
}

static void test_encoder_is_exact_to_half_a_byte(void **state) {
    (void)state;
    sn_srgb_encoder encoder;

    sn_srgb_encoder_init(&encoder);
    for (int i = -10; i <= 100010; i++) {
        double linear = i / 1e5;
        uint8_t rgb[3];
        sn_srgb_encode_color(&encoder, (sn_color){(float)linear, NAN, 7}, rgb);
        test_close("byte", rgb[0], 255 * sn_srgb_encode(linear), 0.51); // 0.01: the table's chords
        assert_int_equal(rgb[1], 0);
        assert_int_equal(rgb[2], 255);
    }
}

static void test_images_and_views(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_image image;

    assert_int_equal(sn_image_create(context, 0, 5, &image), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sn_image_create(context, 5, SN_IMAGE_LARGEST + 1, &image),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sn_image_create(context, 20, 10, &image), SINEW_OK);

    sn_image view = sn_image_view(image, 15, 8, 100, 100);
    sn_image outside = sn_image_view(image, 30, -50, 5, 5);

    assert_int_equal(view.width, 5);
    assert_int_equal(view.height, 2);
    assert_int_equal(outside.width * outside.height, 0);
    assert_ptr_equal(sn_image_at(view, 0, 0), sn_image_at(image, 15, 8));
    assert_ptr_equal(sn_image_at(view, 2, 1), sn_image_at(image, 17, 9));
    sn_image_destroy(context, &image);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_srgb_curve),
        cmocka_unit_test(test_lab_reference_values),
        cmocka_unit_test(test_encoder_is_exact_to_half_a_byte),
        cmocka_unit_test(test_images_and_views),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
