// Pictures as maps: every color type, depth and filter, sampling between pixels, and damage.
#include "support/test.h"

#include "io/picture/read_png.h"

#include <stdio.h>
#include <string.h>

static sinew_status read(sinew_context *context, sn_arena *arena, const void *data, size_t size,
                         sn_png_map *map) {
    sn_source source = {.name = "map.png", .data = data, .size = size};
    return sn_png_read(context, &source, arena, map);
}

typedef struct sample {
    const char *name; // a seed of the fuzzer, written by hand
    int32_t width, height;
    float values[10];
} sample;

static void test_types_and_filters(void **state) {
    (void)state;
    // The rows of rgb8 have filters 0 to 4; its red in the first column is 10 k, plus what the
    // filter adds.
    static const sample samples[] = {
        {"grey8", 3, 2, {0, 128, 255, 10, 148, 29}},
        {"grey1", 10, 1, {255, 0, 255, 0, 255, 0, 255, 0, 255, 255}},
        {"rgb8", 2, 5, {0, 3, 10, 13, 30, 16, 45, 33, 85, 88}},
        {"palette4", 3, 1, {0, 128, 255}},
        {"rgba8", 1, 2, {9, 10}},
    };
    sinew_context *context = test_context(1);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char path[600];
        uint8_t bytes[400];
        snprintf(path, sizeof path, "%s/png/%s", TEST_CORPUS_DIR, samples[i].name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);

        sn_arena arena = sn_arena_create(context);
        sn_png_map map;
        assert_int_equal(read(context, &arena, bytes, size, &map), SINEW_OK);
        assert_int_equal(map.width, samples[i].width);
        assert_int_equal(map.height, samples[i].height);
        for (int32_t k = 0; k < map.width * map.height; k++) {
            test_close(samples[i].name, (double)map.values[k], (double)samples[i].values[k] / 255,
                       1e-6);
        }

        // Shortened, it is refused with a message; so is a changed byte of the data.
        for (size_t cut = 0; cut + 12 < size; cut++) {
            assert_int_not_equal(read(context, &arena, bytes, cut, &map), SINEW_OK);
        }
        bytes[size - 20] ^= 1;
        assert_int_not_equal(read(context, &arena, bytes, size, &map), SINEW_OK);
        assert_non_null(strstr(sinew_context_message(context), "map.png"));
        sn_arena_destroy(&arena);
    }
    sinew_context_destroy(context);
}

static void test_between_pixels(void **state) {
    (void)state;
    static const float values[4] = {0, 1, 0.5F, 0.25F};
    sn_png_map map = {2, 2, values};
    test_close("pixel", sn_png_sample(&map, 0.25, 0.25), 0, 0);
    test_close("pixel", sn_png_sample(&map, 0.75, 0.25), 1, 0);
    test_close("repeats", sn_png_sample(&map, -0.75, 1.75), 0.5, 1e-12);
    test_close("between", sn_png_sample(&map, 0.5, 0.25), 0.5, 1e-12);
    test_close("middle", sn_png_sample(&map, 0.5, 0.5), 1.75 / 4, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types_and_filters),
                                       cmocka_unit_test(test_between_pixels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
