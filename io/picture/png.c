// Writes PNG with libpng, whose errors arrive as a longjmp; memory comes from the context, bytes go
// to the buffer.
#include "io/picture/png.h"

#if defined(SN_WITH_PNG)

#include <png.h>
#include <string.h>

// libpng frees memory without its size, so each block begins with it.
enum { SIZE_HEADER = SN_ALIGNMENT };

static png_voidp png_take(png_structp png, png_alloc_size_t size) {
    sinew_context *context = png_get_mem_ptr(png);
    if (size > SIZE_MAX / 2) {
        return NULL;
    }

    char *block = sn_allocate(context, size + SIZE_HEADER, 1);
    if (!block) {
        return NULL;
    }

    memcpy(block, &size, sizeof size);
    return block + SIZE_HEADER;
}

static void png_give_back(png_structp png, png_voidp memory) {
    if (!memory) {
        return;
    }

    char *block = (char *)memory - SIZE_HEADER;
    png_alloc_size_t size;
    memcpy(&size, block, sizeof size);
    SN_ASSERT(size <= SIZE_MAX / 2);
    sn_release(png_get_mem_ptr(png), block, size + SIZE_HEADER, 1);
}

static void png_append(png_structp png, png_bytep bytes, size_t size) {
    sn_buffer *buffer = png_get_io_ptr(png);
    sn_buffer_add(buffer, bytes, size);
    if (buffer->failed) {
        png_error(png, "out of memory");
    }
}

static void png_flush_nothing(png_structp png) {
    (void)png;
}

static void png_failed(png_structp png, png_const_charp message) {
    sinew_context *context = png_get_error_ptr(png);
    sn_fail(context, SINEW_OUT_OF_MEMORY, "libpng: %s", message);
    png_longjmp(png, 1);
}

static void png_warned(png_structp png, png_const_charp message) {
    sn_log(png_get_error_ptr(png), SINEW_LOG_WARNING, "libpng: %s", message);
}

// All calls that may jump. Returns false if one did.
static bool write_image(png_structp png, png_infop info, const sn_image *image) {
    if (setjmp(png_jmpbuf(png))) {
        return false;
    }

    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB_gAMA_and_cHRM(png, info, PNG_sRGB_INTENT_PERCEPTUAL);

    // Smooth shading compresses best against the row above; a fast level loses a few percent of
    // size for half of the time.
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP | PNG_FILTER_SUB | PNG_FILTER_PAETH);
    png_set_compression_level(png, 5);
    png_write_info(png, info);

    for (int32_t y = 0; y < image->height; y++) {
        png_write_row(png, sn_image_at(*image, 0, y));
    }

    png_write_end(png, NULL);
    return true;
}

sinew_status sn_png_write(sinew_context *context, sn_image image, sn_buffer *buffer) {
    if (image.width < 1 || image.height < 1 || !image.pixels) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a PNG of %d x %d pixels: at least 1 x 1",
                       image.width, image.height);
    }

    size_t size_before = buffer->size;
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, context, png_failed,
                                                png_warned, context, png_take, png_give_back);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    bool written = false;

    if (info) {
        png_set_write_fn(png, buffer, png_append, png_flush_nothing);
        written = write_image(png, info, &image);
    }

    png_destroy_write_struct(&png, &info);
    if (written) {
        return SINEW_OK;
    }

    buffer->size = size_before;
    return SINEW_OUT_OF_MEMORY;
}

#else

sinew_status sn_png_write(sinew_context *context, sn_image image, sn_buffer *buffer) {
    (void)image, (void)buffer;
    return sn_fail(context, SINEW_UNSUPPORTED,
                   "this build has no libpng, so it cannot write pictures");
}

#endif
