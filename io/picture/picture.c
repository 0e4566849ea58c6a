// Colours between linear light, sRGB (IEC 61966-2-1) and CIELAB; images.
#include "io/picture/picture.h"

#include "base/memory.h"

#include <math.h>

sn_color sn_color_hex(uint32_t rgb) {
    return (sn_color){(float)sn_srgb_decode(((rgb >> 16) & 255) / 255.0),
                      (float)sn_srgb_decode(((rgb >> 8) & 255) / 255.0),
                      (float)sn_srgb_decode((rgb & 255) / 255.0)};
}

double sn_srgb_encode(double linear) {
    if (!(linear > 0)) {
        return 0;
    }
    if (linear >= 1) {
        return 1;
    }

    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

double sn_srgb_decode(double encoded) {
    if (!(encoded > 0)) {
        return 0;
    }
    if (encoded >= 1) {
        return 1;
    }

    return encoded <= 0.04045 ? encoded / 12.92 : pow((encoded + 0.055) / 1.055, 2.4);
}

// The white point D65, the sum of the primaries of sRGB.
static const double white[3] = {0.95047, 1, 1.08883};

static double lab_curve(double t) {
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

static double lab_curve_inverse(double t) {
    return t > 6.0 / 29 ? t * t * t : (116 * t - 16) * 27 / 24389;
}

sn_lab sn_lab_from_color(sn_color color) {
    double r = color.r;
    double g = color.g;
    double b = color.b;
    double X = lab_curve((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / white[0]);
    double Y = lab_curve((0.2126729 * r + 0.7151522 * g + 0.0721750 * b) / white[1]);
    double Z = lab_curve((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / white[2]);

    return (sn_lab){116 * Y - 16, 500 * (X - Y), 200 * (Y - Z)};
}

sn_color sn_color_from_lab(sn_lab lab) {
    double y = (lab.L + 16) / 116;
    double x = y + lab.a / 500;
    double z = y - lab.b / 200;
    double X = white[0] * lab_curve_inverse(x);
    double Y = white[1] * lab_curve_inverse(y);
    double Z = white[2] * lab_curve_inverse(z);

    return (sn_color){(float)(3.2404542 * X - 1.5371385 * Y - 0.4985314 * Z),
                      (float)(-0.9692660 * X + 1.8760108 * Y + 0.0415560 * Z),
                      (float)(0.0556434 * X - 0.2040259 * Y + 1.0572252 * Z)};
}

double sn_lab_distance(sn_lab a, sn_lab b) {
    return sqrt((a.L - b.L) * (a.L - b.L) + (a.a - b.a) * (a.a - b.a) + (a.b - b.b) * (a.b - b.b));
}

void sn_srgb_encoder_init(sn_srgb_encoder *encoder) {
    for (int i = 0; i < SN_ENCODER_STEPS + 2; i++) {
        encoder->table[i] = (float)(255 * sn_srgb_encode((double)i / SN_ENCODER_STEPS));
    }
}

sinew_status sn_image_create(sinew_context *context, int32_t width, int32_t height,
                             sn_image *image) {
    *image = (sn_image){0};
    if (width < 1 || width > SN_IMAGE_LARGEST || height < 1 || height > SN_IMAGE_LARGEST) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "an image of %d x %d pixels: each side must be in [1, %d]", width, height,
                       SN_IMAGE_LARGEST);
    }

    size_t stride = (size_t)width * 3;
    uint8_t *pixels = sn_allocate(context, (size_t)height, stride);
    if (!pixels) {
        return SINEW_OUT_OF_MEMORY;
    }

    *image = (sn_image){.width = width, .height = height, .stride = stride, .pixels = pixels};
    return SINEW_OK;
}

void sn_image_destroy(sinew_context *context, sn_image *image) {
    SN_ASSERT(!image->pixels || image->stride == (size_t)image->width * 3);
    sn_release(context, image->pixels, (size_t)image->height, image->stride);
    *image = (sn_image){0};
}

static int32_t clamp_to(int64_t value, int32_t limit) {
    return value < 0 ? 0 : value > limit ? limit : (int32_t)value;
}

sn_image sn_image_view(sn_image image, int32_t x, int32_t y, int32_t width, int32_t height) {
    SN_ASSERT(image.width >= 0 && image.height >= 0);
    int32_t x0 = clamp_to(x, image.width);
    int32_t x1 = clamp_to((int64_t)x + width, image.width);
    int32_t y0 = clamp_to(y, image.height);
    int32_t y1 = clamp_to((int64_t)y + height, image.height);

    return (sn_image){.width = x1 > x0 ? x1 - x0 : 0,
                      .height = y1 > y0 ? y1 - y0 : 0,
                      .stride = image.stride,
                      .pixels = sn_image_at(image, x0, y0)};
}
