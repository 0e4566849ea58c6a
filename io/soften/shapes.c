// Principal shapes of a motion, one after the other: the direction in which what is left of the
// images is largest, found by power iteration from the image that is farthest off, is taken out of
// all of them (deflation). A few iterations are enough: an inexact direction costs a shape more,
// not accuracy.
#include "io/soften/soften.h"

#include <math.h>
#include <string.h>

enum { POWER_ITERATIONS = 6 };

static double dot(const double *a, const double *b, size_t size) {
    double sum = 0;
    for (size_t i = 0; i < size; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static double largest(const double *a, size_t size) {
    double most = 0;
    for (size_t i = 0; i < size; i++) {
        most = fmax(most, fabs(a[i]));
    }
    return most;
}

// Scales a vector to unit length; false if it has none.
static bool normalize(double *a, size_t size) {
    double length = sqrt(dot(a, a, size));
    if (!(length > 0)) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        a[i] /= length;
    }
    return true;
}

// direction = D D' direction over the images in the columns of D; `room` holds a vector.
static bool iterate(const double *images, int32_t count, size_t size, double *direction,
                    double *room) {
    memset(room, 0, size * sizeof *room);
    for (int32_t i = 0; i < count; i++) {
        const double *image = images + (size_t)i * size;
        double share = dot(image, direction, size);
        for (size_t k = 0; k < size; k++) {
            room[k] += share * image[k];
        }
    }

    memcpy(direction, room, size * sizeof *room);
    return normalize(direction, size);
}

// Takes a unit direction out of all images. The shape is the direction times the largest share, so
// that weights stay within -1 and 1.
static void extract(double *images, int32_t count, size_t size, double *shape, double *weights,
                    int32_t stride) {
    double most = 0;
    for (int32_t i = 0; i < count; i++) {
        double *image = images + (size_t)i * size;
        double share = dot(image, shape, size);
        for (size_t k = 0; k < size; k++) {
            image[k] -= share * shape[k];
        }
        weights[(size_t)i * (size_t)stride] = share;
        most = fmax(most, fabs(share));
    }

    if (!(most > 0)) {
        return;
    }
    for (size_t k = 0; k < size; k++) {
        shape[k] *= most;
    }
    for (int32_t i = 0; i < count; i++) {
        weights[(size_t)i * (size_t)stride] /= most;
    }
}

sinew_status sn_soft_shapes_create(sn_arena *arena, double *images, int32_t image_count,
                                   size_t size, int32_t most, double tolerance,
                                   sn_soft_shapes *shapes) {
    *shapes = (sn_soft_shapes){0};
    shapes->shapes = SN_PUSH(arena, double, (size_t)most *size);
    shapes->weights = SN_PUSH(arena, double, (size_t)image_count *(size_t)most);
    double *room = SN_PUSH(arena, double, size);
    SN_TRY(sn_arena_status(arena));

    for (;; shapes->count++) {
        // The image that is farthest off.
        int32_t worst = 0;
        shapes->error = 0;
        for (int32_t i = 0; i < image_count; i++) {
            double error = largest(images + (size_t)i * size, size);
            if (error > shapes->error) {
                shapes->error = error;
                worst = i;
            }
        }
        if (shapes->error <= tolerance || shapes->count == most) {
            return SINEW_OK;
        }

        double *shape = shapes->shapes + (size_t)shapes->count * size;
        memcpy(shape, images + (size_t)worst * size, size * sizeof *shape);
        normalize(shape, size);
        for (int k = 0; k < POWER_ITERATIONS; k++) {
            if (!iterate(images, image_count, size, shape, room)) {
                return SINEW_OK;
            }
        }
        extract(images, image_count, size, shape, shapes->weights + shapes->count, most);
    }
}
