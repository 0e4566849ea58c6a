// Block Lanczos with full orthogonalisation and thick restarts (Wu and Simon 2000), in the inner
// product of the mass.
//
// OP = (K - sigma M)^-1 M is applied to a basis V. The images OP v of the first `used` vectors are
// known, those of the others are not yet. T = V' M OP V is kept as a full matrix: the coefficients
// of each image are measured against the whole basis, so that kept and new vectors need no
// bookkeeping. The iteration starts with a block of random vectors, wider than any multiplicity to
// be expected, which brings in all members of a multiple eigenvalue. When the basis is full, the
// best Ritz vectors are kept and the rest of the processed vectors is dropped.
#include "linalg/modes_problem.h"

#include "base/random.h"
#include "linalg/dense.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 8, MAX_RESTARTS = 100, STRETCH = 512 };

typedef struct lanczos {
    sn_modes_problem *p;
    int32_t n, capacity;        // vectors that V can hold
    int32_t used, size;         // images known, vectors in all
    double *V;                  // capacity x n
    double *T;                  // capacity x capacity
    double *image, *mass_image; // n
    double *ritz;               // used x used: eigenvectors of T by rows, values ascending
    double *values, *work;      // capacity
    double *rotated;            // capacity x STRETCH
    sn_random random;
} lanczos;

static double *vector(const lanczos *l, int32_t i) {
    return l->V + (size_t)i * (size_t)l->n;
}

static double *entry(const lanczos *l, int32_t i, int32_t j) {
    return l->T + (size_t)i * (size_t)l->capacity + (size_t)j;
}

static double mass_norm(lanczos *l, const double *x) {
    sn_modes_apply_mass(l->p, l->mass_image, x);
    return sqrt(fmax(0, sn_vector_dot(l->p->context, l->n, x, l->mass_image)));
}

// Subtracts from x its part in the span of the basis, twice, because once leaves rounding error.
// Adds the coefficients to `column` unless that is NULL. Returns the M-norm of the remainder.
static double orthogonalize(lanczos *l, double *x, double *column) {
    for (int pass = 0; pass < 2; pass++) {
        sn_modes_apply_mass(l->p, l->mass_image, x);
        for (int32_t i = 0; i < l->size; i++) {
            double c = sn_vector_dot(l->p->context, l->n, vector(l, i), l->mass_image);
            sn_vector_add_scaled(l->p->context, l->n, x, -c, vector(l, i));
            if (column) {
                column[i] += c;
            }
        }
    }

    return mass_norm(l, x);
}

// Appends x to the basis if its remainder is more than rounding error; returns the norm of the
// remainder, otherwise 0.
static double append(lanczos *l, double *x, double *column) {
    double whole = mass_norm(l, x);
    double length = orthogonalize(l, x, column);
    if (!(length > 1e-12 * whole) || l->size == l->capacity || l->size == l->p->free) {
        return 0;
    }

    double *out = vector(l, l->size++);
    for (int32_t k = 0; k < l->n; k++) {
        out[k] = x[k] / length;
    }

    return length;
}

// Appends up to `count` random vectors, smoothed by one application of OP to make them useful.
static void append_random(lanczos *l, int32_t count) {
    const uint8_t *mask = l->p->def->mask;
    double *start = l->rotated; // has n doubles at least
    for (int32_t c = 0; c < count && l->size < l->capacity; c++) {
        for (int32_t k = 0; k < l->n; k++) {
            double value = sn_random_range(&l->random, -1, 1);
            start[k] = mask && mask[k] ? 0 : value;
        }
        sn_modes_apply(l->p, l->image, start);
        append(l, l->image, NULL);
    }
}

// Computes the image of the next vector: a column of T, and a new vector of the basis.
static void expand(lanczos *l) {
    int32_t j = l->used++;
    sn_modes_apply(l->p, l->image, vector(l, j));
    for (int32_t i = 0; i < l->capacity; i++) {
        l->work[i] = 0;
    }

    double length = append(l, l->image, l->work);
    for (int32_t i = 0; i < l->size; i++) {
        *entry(l, i, j) = *entry(l, j, i) = l->work[i];
    }

    if (length > 0) {
        *entry(l, l->size - 1, j) = *entry(l, j, l->size - 1) = length;
    }
}

// Ritz values and vectors of the part of the basis whose images are known.
static bool compute_ritz(lanczos *l) {
    for (int32_t i = 0; i < l->used; i++) {
        memcpy(l->ritz + (size_t)i * (size_t)l->used, entry(l, i, 0),
               (size_t)l->used * sizeof(double));
    }
    return sn_dense_symmetric_eigen(l->ritz, l->used, l->used, l->values, l->work);
}

// The coupling of a Ritz vector to vector r of the remaining basis.
static double coupling(const lanczos *l, int32_t ritz, int32_t r) {
    double sum = 0;
    for (int32_t j = 0; j < l->used; j++) {
        sum += *entry(l, l->used + r, j) * l->ritz[(size_t)ritz * (size_t)l->used + (size_t)j];
    }
    return sum;
}

static double residual(const lanczos *l, int32_t ritz) {
    double sum = 0;
    for (int32_t r = 0; r < l->size - l->used; r++) {
        double c = coupling(l, ritz, r);
        sum += c * c;
    }
    return sqrt(sum);
}

// Whether the wanted pairs have converged, and the next one is known well enough that it cannot
// overtake the last of them.
static bool has_converged(const lanczos *l) {
    int32_t count = l->p->def->count;
    if (l->used < count) {
        return false;
    }

    // Residuals of the wanted pairs.
    for (int32_t m = 0; m < count; m++) {
        int32_t ritz = l->used - 1 - m;
        if (residual(l, ritz) > l->p->tolerance * l->values[ritz]) {
            return false;
        }
    }

    if (l->used == l->p->free) {
        return true;
    }
    if (l->used == count) {
        return false;
    }

    // The next pair: converged roughly, or certain to stay behind.
    int32_t last = l->used - count;
    int32_t next = last - 1;
    double bound = residual(l, next);

    return bound <= 0.01 * l->values[next] || l->values[next] + bound < l->values[last];
}

// V becomes the `keep` best Ritz vectors, followed by the vectors whose images are not known; T is
// updated accordingly.
static void restart(lanczos *l, int32_t keep) {
    int32_t rest = l->size - l->used;

    // Rotate the basis to Ritz vectors, a stretch of rows at a time to bound the memory.
    for (int32_t begin = 0; begin < l->n; begin += STRETCH) {
        int32_t count = l->n - begin < STRETCH ? l->n - begin : STRETCH;
        memset(l->rotated, 0, (size_t)keep * STRETCH * sizeof(double));
        for (int32_t i = 0; i < keep; i++) {
            const double *y = l->ritz + (size_t)(l->used - 1 - i) * (size_t)l->used;
            double *out = l->rotated + (size_t)i * STRETCH;
            for (int32_t j = 0; j < l->used; j++) {
                const double *v = vector(l, j) + begin;
                for (int32_t k = 0; k < count; k++) {
                    out[k] += y[j] * v[k];
                }
            }
        }

        for (int32_t i = 0; i < keep; i++) {
            memcpy(vector(l, i) + begin, l->rotated + (size_t)i * STRETCH,
                   (size_t)count * sizeof(double));
        }
    }

    // Compute the couplings before the old T is overwritten.
    for (int32_t i = 0; i < keep; i++) {
        for (int32_t r = 0; r < rest; r++) {
            l->rotated[i * rest + r] = coupling(l, l->used - 1 - i, r);
        }
    }

    // T in the new basis: Ritz values on the diagonal, couplings to the vectors that remain.
    memset(l->T, 0, (size_t)l->capacity * (size_t)l->capacity * sizeof(double));
    for (int32_t i = 0; i < keep; i++) {
        *entry(l, i, i) = l->values[l->used - 1 - i];
        for (int32_t r = 0; r < rest; r++) {
            *entry(l, i, keep + r) = *entry(l, keep + r, i) = l->rotated[i * rest + r];
        }
    }

    // Move the remaining vectors behind the kept ones.
    for (int32_t r = 0; r < rest; r++) {
        memmove(vector(l, keep + r), vector(l, l->used + r), (size_t)l->n * sizeof(double));
    }

    l->used = keep;
    l->size = keep + rest;
}

static sinew_status allocate(sn_arena *arena, lanczos *l) {
    size_t n = (size_t)l->n;
    size_t capacity = (size_t)l->capacity;

    l->V = SN_PUSH(arena, double, capacity *n);
    l->T = SN_PUSH(arena, double, capacity *capacity);
    l->image = SN_PUSH(arena, double, n);
    l->mass_image = SN_PUSH(arena, double, n);
    l->ritz = SN_PUSH(arena, double, capacity *capacity);
    l->values = SN_PUSH(arena, double, capacity);
    l->work = SN_PUSH(arena, double, capacity);
    l->rotated = SN_PUSH(arena, double, capacity *STRETCH + n);

    return sn_arena_status(arena);
}

static bool iterate(lanczos *l) {
    int32_t count = l->p->def->count;
    append_random(l, BLOCK);
    for (int restarts = 0; restarts < MAX_RESTARTS;) {
        // Extend the basis by one block.
        for (int32_t b = 0; b < BLOCK && l->used < l->size; b++) {
            expand(l);
        }

        if (l->used == l->size) {
            append_random(l, BLOCK); // an invariant subspace: continue elsewhere
        }

        bool restartable = l->size + BLOCK > l->capacity && l->capacity < l->p->free;
        if (!compute_ritz(l)) {
            return false;
        }
        if (has_converged(l)) {
            return true;
        }
        if (l->used == l->size && !restartable) {
            return false; // no better result is possible in floating point
        }

        // The basis is full: keep the wanted vectors and one more block.
        if (restartable) {
            int32_t keep = count + BLOCK < l->used - BLOCK ? count + BLOCK : l->used - BLOCK;
            restart(l, keep);
            restarts++;
        }
    }

    return compute_ritz(l) && has_converged(l);
}

sinew_status sn_modes_lanczos(sn_modes_problem *problem, double *theta, double *vectors,
                              bool *converged) {
    int32_t count = problem->def->count;

    // A subspace of twice the requested size converges in few restarts.
    int32_t wanted = 2 * count + 6 * BLOCK;
    lanczos l = {.p = problem, .n = problem->n, .random = sn_random_seed(2)};

    l.capacity = wanted < problem->free ? wanted : problem->free;
    sn_arena arena = sn_arena_create(problem->context);

    // Iterate.
    sinew_status status = allocate(&arena, &l);

    if (status == SINEW_OK) {
        *converged = iterate(&l);
        if (l.used < count) {
            status = sn_fail(problem->context, SINEW_INVALID_DATA,
                             "only %d of %d modes can be resolved; the others are too slow "
                             "or too fast in comparison",
                             l.used, count);
        }
    }

    if (status == SINEW_OK) {
        // The slowest modes have the largest values of the inverse.
        for (int32_t m = 0; m < count; m++) {
            theta[m] = l.values[l.used - 1 - m];
        }
        restart(&l, count);
        memcpy(vectors, l.V, (size_t)count * (size_t)l.n * sizeof(double));
    }

    sn_arena_destroy(&arena);
    return status;
}
