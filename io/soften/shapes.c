// Principal shapes of a motion, a few at a time: the directions in which what is left of the images
// is largest, found by subspace iteration from the images that are farthest off, are taken out of
// all of them (deflation). A few iterations are enough: an inexact direction costs a shape more,
// not accuracy. All images together are larger than any cache, so they are passed through once for
// each block of directions.
#include "io/soften/soften.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

enum {
    POWER_ITERATIONS = 6,
    BLOCK = 4,           // directions at a time
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

// A few directions, each as wide as a row.
typedef struct block {
    int32_t count;
    double *rows[BLOCK];
} block;

// Makes what counts of the directions orthonormal, in order; those that depend on others are
// dropped.
static void orthonormalize(block *b, const rows *images) {
    int32_t kept = 0;
    for (int32_t i = 0; i < b->count; i++) {
        double *row = b->rows[i], before = dot(row, row, images->size);

        // Twice, because the first pass loses digits.
        for (int k = 0; k < 2 * kept; k++) {
            const double *other = b->rows[k % kept];
            double share = dot(row, other, images->size);
            for (size_t n = 0; n < images->width; n++) {
                row[n] -= share * other[n];
            }
        }

        double square = dot(row, row, images->size);
        if (!(square > 1e-20 * before)) {
            continue;
        }
        double scale = 1 / sqrt(square);
        for (size_t n = 0; n < images->width; n++) {
            row[n] *= scale;
        }
        b->rows[i] = b->rows[kept];
        b->rows[kept++] = row;
    }
    b->count = kept;
}

// b = D D' b over some of the images in the columns of D; `room` holds the sums.
static void iterate(const rows *images, int32_t step, block *b, block *room) {
    for (int32_t k = 0; k < b->count; k++) {
        memset(room->rows[k], 0, images->width * sizeof(double));
    }
    for (int32_t i = 0; i < images->count; i += step) {
        const double *image = row_at(images, i);
        for (int32_t k = 0; k < b->count; k++) {
            double share = dot(image, b->rows[k], images->size), *sum = room->rows[k];
            for (size_t n = 0; n < images->width; n++) {
                sum[n] += share * image[n];
            }
        }
    }

    // The sums are the new directions.
    for (int32_t k = 0; k < b->count; k++) {
        double *row = b->rows[k];
        b->rows[k] = room->rows[k];
        room->rows[k] = row;
    }
    orthonormalize(b, images);
}

typedef struct extraction {
    const rows *images;
    const block *directions; // orthonormal
    double *weights, *errors;
    size_t stride;
} extraction;

static void extract_range(void *user, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const extraction *e = user;
    for (int32_t i = begin; i < end; i++) {
        double *image = row_at(e->images, i);
        for (int32_t k = 0; k < e->directions->count; k++) {
            const double *shape = e->directions->rows[k];
            double share = dot(image, shape, e->images->size);
            for (size_t n = 0; n < e->images->width; n++) {
                image[n] -= share * shape[n];
            }
            e->weights[(size_t)i * e->stride + (size_t)k] = share;
        }
        e->errors[i] = largest(image, e->images->size);
    }
}

// Takes the directions out of all images. A shape is its direction times the largest share, so that
// weights stay within -1 and 1.
static void extract(sinew_context *context, const extraction *e, double *shapes) {
    const rows *images = e->images;
    sn_parallel_for(context, images->count, 4, extract_range, (void *)(uintptr_t)e);

    for (int32_t k = 0; k < e->directions->count; k++) {
        double most = 0, *weights = e->weights + k, *shape = shapes + (size_t)k * images->width;
        for (int32_t i = 0; i < images->count; i++) {
            most = fmax(most, fabs(weights[(size_t)i * e->stride]));
        }
        for (size_t n = 0; n < images->width; n++) {
            shape[n] = most * e->directions->rows[k][n];
        }
        for (int32_t i = 0; i < images->count; i++) {
            weights[(size_t)i * e->stride] /= most > 0 ? most : 1;
        }
    }
}

// Starts with the images that are farthest off.
static void choose_start(const rows *images, const double *errors, int32_t most, block *b) {
    int32_t chosen[BLOCK];
    for (b->count = 0; b->count < most; b->count++) {
        int32_t best = -1;
        for (int32_t i = 0; i < images->count; i++) {
            bool used = false;
            for (int32_t k = 0; k < b->count; k++) {
                used = used || chosen[k] == i;
            }
            best = !used && errors[i] > 0 && (best < 0 || errors[i] > errors[best]) ? i : best;
        }
        if (best < 0) {
            return;
        }
        chosen[b->count] = best;
        memcpy(b->rows[b->count], row_at(images, best), images->width * sizeof(double));
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
    double *errors = SN_PUSH(arena, double, image_count);
    block directions = {0}, room = {0};
    for (int k = 0; k < BLOCK; k++) {
        directions.rows[k] = SN_PUSH(arena, double, all.width);
        room.rows[k] = SN_PUSH(arena, double, all.width);
    }
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < image_count; i++) {
        errors[i] = largest(row_at(&all, i), size);
    }

    for (;;) {
        int32_t left = most - shapes->count;
        shapes->error = largest(errors, (size_t)image_count);
        if (shapes->error <= tolerance || left == 0) {
            return SINEW_OK;
        }

        choose_start(&all, errors, left < BLOCK ? left : BLOCK, &directions);
        orthonormalize(&directions, &all);
        for (int k = 0; k < POWER_ITERATIONS; k++) {
            iterate(&all, step, &directions, &room);
        }
        if (directions.count == 0) {
            return SINEW_OK;
        }
        extraction taken = {&all, &directions, shapes->weights + shapes->count, errors,
                            (size_t)most};
        extract(arena->context, &taken, shapes->shapes + (size_t)shapes->count * all.width);
        shapes->count += directions.count;
    }
}
