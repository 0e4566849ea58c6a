// Principal shapes of a motion, one after the other: the direction in which what is left of the
// images is largest, found by power iteration from the image that is farthest off, is taken out of
// all of them (deflation). A few iterations are enough: an inexact direction costs a shape more,
// not accuracy.
#include "io/soften/soften.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

enum {
    POWER_ITERATIONS = 6,
    PROBED_IMAGES = 200, // about as many take part in the iteration; all are decomposed
};

// In eight sums, which the compiler keeps side by side.
static double dot(const double *a, const double *b, size_t size) {
    double sums[8] = {0};
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        for (size_t k = 0; k < 8; k++) {
            sums[k] += a[i + k] * b[i + k];
        }
    }
    for (; i < size; i++) {
        sums[i % 8] += a[i] * b[i];
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static double largest(const double *a, size_t size) {
    double most = 0;
    for (size_t i = 0; i < size; i++) {
        double value = fabs(a[i]);
        most = value > most ? value : most;
    }
    return most;
}

// Rows of numbers, of which the first `size` count.
typedef struct rows {
    double *numbers;
    int32_t count;
    size_t size, width;
} rows;

static double *row_at(const rows *images, int32_t row) {
    return images->numbers + (size_t)row * images->width;
}

// Scales a row so that what counts of it has unit length; false if it has none.
static bool normalize(double *a, const rows *images) {
    double length = sqrt(dot(a, a, images->size));
    if (!(length > 0)) {
        return false;
    }
    for (size_t i = 0; i < images->width; i++) {
        a[i] /= length;
    }
    return true;
}

// direction = D D' direction over some of the images in the columns of D; `room` holds a row.
static bool iterate(const rows *images, int32_t step, double *direction, double *room) {
    memset(room, 0, images->width * sizeof *room);
    for (int32_t i = 0; i < images->count; i += step) {
        const double *image = row_at(images, i);
        double share = dot(image, direction, images->size);
        for (size_t k = 0; k < images->width; k++) {
            room[k] += share * image[k];
        }
    }

    memcpy(direction, room, images->width * sizeof *room);
    return normalize(direction, images);
}

typedef struct extraction {
    const rows *images;
    const double *shape; // unit length
    double *weights, *errors;
    size_t stride;
} extraction;

static void extract_range(void *user, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const extraction *e = user;
    for (int32_t i = begin; i < end; i++) {
        double *image = row_at(e->images, i);
        double share = dot(image, e->shape, e->images->size);
        for (size_t k = 0; k < e->images->width; k++) {
            image[k] -= share * e->shape[k];
        }
        e->weights[(size_t)i * e->stride] = share;
        e->errors[i] = largest(image, e->images->size);
    }
}

// Takes a direction out of all images. The shape is the direction times the largest share, so that
// weights stay within -1 and 1.
static void extract(sinew_context *context, const extraction *e, double *shape) {
    const rows *images = e->images;
    sn_parallel_for(context, images->count, 4, extract_range, (void *)(uintptr_t)e);

    double most = 0;
    for (int32_t i = 0; i < images->count; i++) {
        most = fmax(most, fabs(e->weights[(size_t)i * e->stride]));
    }
    if (!(most > 0)) {
        return;
    }
    for (size_t k = 0; k < images->width; k++) {
        shape[k] *= most;
    }
    for (int32_t i = 0; i < images->count; i++) {
        e->weights[(size_t)i * e->stride] /= most;
    }
}

sinew_status sn_soft_shapes_create(sn_arena *arena, double *images, int32_t image_count,
                                   size_t size, size_t extra, int32_t most, double tolerance,
                                   sn_soft_shapes *shapes) {
    rows all = {images, image_count, size, size + extra};
    int32_t step = image_count / PROBED_IMAGES + 1;
    *shapes = (sn_soft_shapes){0};
    shapes->shapes = SN_PUSH(arena, double, (size_t)most *all.width);
    shapes->weights = SN_PUSH(arena, double, (size_t)image_count *(size_t)most);
    double *room = SN_PUSH(arena, double, all.width);
    double *errors = SN_PUSH(arena, double, image_count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < image_count; i++) {
        errors[i] = largest(row_at(&all, i), size);
    }

    for (;; shapes->count++) {
        // The image that is farthest off.
        int32_t worst = 0;
        shapes->error = 0;
        for (int32_t i = 0; i < image_count; i++) {
            if (errors[i] > shapes->error) {
                shapes->error = errors[i];
                worst = i;
            }
        }
        if (shapes->error <= tolerance || shapes->count == most) {
            return SINEW_OK;
        }

        double *shape = shapes->shapes + (size_t)shapes->count * all.width;
        memcpy(shape, row_at(&all, worst), all.width * sizeof *shape);
        normalize(shape, &all);
        for (int k = 0; k < POWER_ITERATIONS; k++) {
            if (!iterate(&all, step, shape, room)) {
                return SINEW_OK;
            }
        }
        extraction taken = {&all, shape, shapes->weights + shapes->count, errors, (size_t)most};
        extract(arena->context, &taken, shape);
    }
}
