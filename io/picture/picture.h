// Shared by all parts of the pictures: colours, and the images they are stored in.
//
// A colour is linear light, so that sums and averages are meaningful; an image holds sRGB of eight
// bits per channel. An image may be a view, a rectangle of a larger one.
#ifndef SN_IO_PICTURE_PICTURE_H
#define SN_IO_PICTURE_PICTURE_H

#include "base/context.h"

typedef struct sn_color {
    float r, g, b; // linear light; 1 is the brightest that a screen shows
} sn_color;

typedef struct sn_lab {
    double L, a, b; // CIELAB under D65: L in [0, 100]
} sn_lab;

// The colour of a hexadecimal number 0xRRGGBB.
sn_color sn_color_hex(uint32_t rgb);

// One channel between linear light and the sRGB curve, both in [0, 1].
double sn_srgb_encode(double linear);
double sn_srgb_decode(double encoded);

sn_lab sn_lab_from_color(sn_color color);
// May be outside the screen's gamut: channels outside [0, 1].
sn_color sn_color_from_lab(sn_lab lab);

// The perceived difference of two colours: the Euclidean distance in CIELAB (1976).
double sn_lab_distance(sn_lab a, sn_lab b);

static inline sn_color sn_color_scale(float s, sn_color c) {
    return (sn_color){s * c.r, s * c.g, s * c.b};
}

static inline sn_color sn_color_mul(sn_color a, sn_color b) {
    return (sn_color){a.r * b.r, a.g * b.g, a.b * b.b};
}

// a + s b
static inline sn_color sn_color_madd(sn_color a, float s, sn_color b) {
    return (sn_color){a.r + s * b.r, a.g + s * b.g, a.b + s * b.b};
}

static inline sn_color sn_color_mix(sn_color a, sn_color b, float t) {
    return (sn_color){a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}

// Linear light to sRGB bytes by a table of 4096 steps, for whole images; exact to half a byte.
enum { SN_ENCODER_STEPS = 4096 };
typedef struct sn_srgb_encoder {
    float table[SN_ENCODER_STEPS + 2]; // encoded value times 255
} sn_srgb_encoder;

void sn_srgb_encoder_init(sn_srgb_encoder *encoder);

static inline uint8_t sn_srgb_encode_channel(const sn_srgb_encoder *encoder, float linear) {
    if (!(linear > 0)) {
        return 0; // also a NaN
    }

    float at = (linear < 1 ? linear : 1) * SN_ENCODER_STEPS;
    int i = (int)at;
    const float *t = &encoder->table[i];

    return (uint8_t)(t[0] + (at - (float)i) * (t[1] - t[0]) + 0.5f);
}

static inline void sn_srgb_encode_color(const sn_srgb_encoder *encoder, sn_color color,
                                        uint8_t rgb[3]) {
    rgb[0] = sn_srgb_encode_channel(encoder, color.r);
    rgb[1] = sn_srgb_encode_channel(encoder, color.g);
    rgb[2] = sn_srgb_encode_channel(encoder, color.b);
}

typedef struct sn_image {
    int32_t width, height;
    size_t stride;   // bytes from one row to the next
    uint8_t *pixels; // r g b, starting with the top left pixel
} sn_image;

enum { SN_IMAGE_LARGEST = 16384 }; // pixels along one side

// A black image. Fails if a side is outside [1, SN_IMAGE_LARGEST] or memory is short; `image` is
// then empty.
sinew_status sn_image_create(sinew_context *context, int32_t width, int32_t height,
                             sn_image *image);
// For an image from sn_image_create, never for a view.
void sn_image_destroy(sinew_context *context, sn_image *image);

// The rectangle [x, x + width) x [y, y + height), clipped to the image; shares its pixels.
sn_image sn_image_view(sn_image image, int32_t x, int32_t y, int32_t width, int32_t height);

static inline uint8_t *sn_image_at(sn_image image, int32_t x, int32_t y) {
    return image.pixels + (size_t)y * image.stride + (size_t)x * 3;
}

#endif
