// A PNG decodes, by libpng's own reader, to the pixels that were written; a shortage of memory
// leaves nothing behind.
#include "support/test.h"

#include "io/picture/png.h"

#if defined(SN_WITH_PNG)

#include <png.h>

enum { WIDTH = 61, HEIGHT = 37 };

static sn_image random_image(sinew_context *context) {
    sn_image image;
    assert_int_equal(sn_image_create(context, WIDTH, HEIGHT, &image), SINEW_OK);
    sn_random random = sn_random_seed(21);

    for (int i = 0; i < WIDTH * HEIGHT * 3; i++) {
        image.pixels[i] = (uint8_t)(i % 5 ? i / 7 : (int)sn_random_u32(&random) & 255);
    }

    return image;
}

static void check_decoded(const sn_buffer *buffer, sn_image image) {
    png_image reader = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_memory(&reader, buffer->data, buffer->size));
    assert_int_equal(reader.width, image.width);
    assert_int_equal(reader.height, image.height);
    assert_int_equal(reader.format & PNG_FORMAT_FLAG_COLORMAP, 0);
    reader.format = PNG_FORMAT_RGB;

    uint8_t pixels[WIDTH * HEIGHT * 3];
    assert_true(png_image_finish_read(&reader, NULL, pixels, image.width * 3, NULL));
    for (int32_t y = 0; y < image.height; y++) {
        assert_memory_equal(pixels + y * image.width * 3, sn_image_at(image, 0, y),
                            (size_t)image.width * 3);
    }
}

static void test_pixels_come_back(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_image image = random_image(context);
    sn_image view = sn_image_view(image, 5, 3, 20, 30);
    sn_buffer buffer = sn_buffer_create(context);
    sn_buffer again = sn_buffer_create(context);

    assert_int_equal(sn_png_write(context, image, &buffer), SINEW_OK);
    check_decoded(&buffer, image);
    assert_int_equal(sn_png_write(context, image, &again), SINEW_OK);
    assert_int_equal(again.size, buffer.size);
    assert_memory_equal(again.data, buffer.data,
                        buffer.size); // no time, no name, nothing that changes
    sn_buffer_clear(&again);
    assert_int_equal(sn_png_write(context, view, &again), SINEW_OK);
    check_decoded(&again, view);
    assert_int_equal(sn_png_write(context, (sn_image){0}, &again), SINEW_INVALID_ARGUMENT);
    sn_buffer_destroy(&buffer);
    sn_buffer_destroy(&again);
    sn_image_destroy(context, &image);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    bool done = false;
    for (int64_t n = 2; !done; n++) { // after the context and the image
        test_allocator allocator = {.fail_at = n};

        sinew_context *context = test_context_failing(&allocator);
        sn_image image = random_image(context);
        sn_buffer buffer = sn_buffer_create(context);
        sinew_status status = sn_png_write(context, image, &buffer);
        done = status == SINEW_OK;
        if (!done) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
            assert_int_equal(buffer.size, 0);
            assert_true(strlen(sinew_context_message(context)) > 0);
        }
        sn_buffer_destroy(&buffer);
        sn_image_destroy(context, &image);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        assert_true(n < 200);
    }
}

#else

static void test_pixels_come_back(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_buffer buffer = sn_buffer_create(context);
    assert_int_equal(sn_png_write(context, (sn_image){0}, &buffer), SINEW_UNSUPPORTED);
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    skip();
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pixels_come_back),
                                       cmocka_unit_test(test_memory_shortage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
