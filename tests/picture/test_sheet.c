// Contact sheets: cells are disjoint and inside the image, captions and legend do not reach into
// them.
#include "support/test.h"

#include "io/picture/sheet.h"

static const char *const captions[12] = {"t = 0 s", "t = 1 s", "t = 2 s",  "t = 3 s",
                                         "t = 4 s", "t = 5 s", "t = 6 s",  "t = 7 s",
                                         "t = 8 s", "t = 9 s", "t = 10 s", "t = 11 s"};

static void fill(sn_image image, uint8_t value) {
    for (int32_t y = 0; y < image.height; y++) {
        memset(sn_image_at(image, 0, y), value, (size_t)image.width * 3);
    }
}

static void test_cells(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_colormap map;

    sn_colormap_init(&map, SN_COLORMAP_TIDE);
    sn_legend legend = {.title = "displacement [mm]", .map = &map, .low = -2, .high = 2};
    sn_sheet_def def = sn_sheet_def_default();

    def.cell_width = 90;
    def.cell_height = 60;
    def.captions = captions;
    def.title = "A title";
    def.legend = &legend;

    for (int32_t count = 1; count <= 12; count++) {
        def.count = count;
        def.columns = count % 3 ? 0 : 3;

        sn_sheet sheet;
        assert_int_equal(sn_sheet_create(context, &def, &sheet), SINEW_OK);
        assert_true(sheet.columns >= 1 && sheet.columns <= count);

        for (int32_t i = 0; i < count; i++) {
            sn_image cell = sn_sheet_cell(&sheet, i);
            assert_int_equal(cell.width, 90);
            assert_int_equal(cell.height, 60);

            for (int32_t y = 0; y < cell.height;

                 y++) { // plain paper so far: nothing was drawn there, no other cell either
                for (int32_t x = 0; x < cell.width; x++) {
                    assert_true(sn_image_at(cell, x, y)[0] == 0xfc);
                }
            }
            fill(cell, (uint8_t)(10 + i));
        }

        int dark = 0; // title, captions and legend have left ink elsewhere
        for (int32_t k = 0; k < sheet.image.width * sheet.image.height; k++) {
            dark += sheet.image.pixels[3 * k] < 0xd0;
        }

        assert_true(dark > count * 90 * 60 + 100);
        sn_sheet_destroy(context, &sheet);
    }

    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

static void test_bad_arguments(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_sheet sheet;
    sn_sheet_def def = sn_sheet_def_default();

    def.count = 0;
    assert_int_equal(sn_sheet_create(context, &def, &sheet), SINEW_INVALID_ARGUMENT);
    def.count = 1000;
    def.cell_width = 4000;
    assert_int_equal(sn_sheet_create(context, &def, &sheet), SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "fewer or smaller"));
    assert_null(sheet.image.pixels);
    sinew_context_destroy(context);

    test_allocator allocator = {.fail_at = 1};
    context = test_context_failing(&allocator);
    def = sn_sheet_def_default();
    assert_int_equal(sn_sheet_create(context, &def, &sheet), SINEW_OUT_OF_MEMORY);
    sinew_context_destroy(context);
    assert_int_equal(allocator.live, 0);
}

static void test_legend_shows_the_map(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_image image;

    assert_int_equal(sn_image_create(context, 300, 60, &image), SINEW_OK);
    sn_draw_fill(image, sn_color_hex(0xffffff));

    sn_colormap map;
    sn_colormap_init(&map, SN_COLORMAP_LAGOON);

    sn_legend legend = {.map = &map, .low = 0, .high = 1};
    sn_legend_draw(image, 50, 10, 200, &legend);
    for (int i = 5; i < 200; i += 10) {
        sn_color expected = sn_colormap_at(&map, (i + 0.5) / 200);
        const uint8_t *pixel = sn_image_at(image, 50 + i, 14);
        test_close("green of the bar", pixel[1], 255 * sn_srgb_encode(expected.g), 1);
    }

    assert_int_equal(sn_image_at(image, 40, 14)[0], 255);

    // Flat and reversed ranges, and names instead of numbers, only have to draw.
    legend.high = 0;
    sn_legend_draw(image, -50, 10, 200, &legend);
    legend.low = 1;
    sn_legend_draw(image, 250, 50, 200, &legend);
    const char *const names[] = {"bone", "muscle"};

    sn_legend words = {.names = names, .name_count = 2, .title = "tissue"};
    sn_legend_draw(image, 10, 10, 200, &words);
    assert_true(sn_legend_width(&words) > 60 && sn_legend_height(&words) > 13);
    sn_image_destroy(context, &image);
    sinew_context_destroy(context);
}

static void test_rectangles_cover_exactly(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_image image;

    assert_int_equal(sn_image_create(context, 10, 10, &image), SINEW_OK);
    sn_draw_rectangle(image, 2.25, 3, 5.5, 4, sn_color_hex(0xffffff));

    const int expected[10] = {0, 0, 191, 255, 255, 128, 0, 0, 0, 0};
    for (int x = 0; x < 10; x++) {
        test_close("cover", sn_image_at(image, x, 3)[0], expected[x], 1);
    }

    assert_int_equal(sn_image_at(image, 3, 2)[0] + sn_image_at(image, 3, 4)[0], 0);
    sn_draw_rectangle(image, -1e9, -5, 1e9, 1, sn_color_hex(0x808080));
    sn_draw_rectangle(image, 8, 8, 4, 4, sn_color_hex(0x808080)); // inside out: nothing
    assert_int_equal(sn_image_at(image, 6, 6)[0], 0);
    sn_image_destroy(context, &image);
    sinew_context_destroy(context);
}

static void test_time_captions(void **state) {
    (void)state;
    char caption[SN_SHEET_CAPTION_SIZE];
    sn_sheet_time_caption(caption, 0.2, 0.05);
    assert_string_equal(caption, "t = 0.20 s");
    sn_sheet_time_caption(caption, 0, 0);
    assert_string_equal(caption, "t = 0 s");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_legend_shows_the_map),
        cmocka_unit_test(test_rectangles_cover_exactly),
        cmocka_unit_test(test_time_captions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
