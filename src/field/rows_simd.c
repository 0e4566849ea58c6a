// Loops over unknowns with several quads of functions side by side; see rows.h. A row of a matrix
// is one sum per quad.
#include "field/rows.h"

#include "base/prefetch.h"
#include "math/quad.h"

enum { WIDTH = SN_ROW_WIDTH, MAX_QUADS = SN_ROW_MAX_QUADS, AHEAD = 64 };

// Defines the loop `name`: name_rows(job, begin, end, chunk, quads) is compiled once for each
// number of quads, which as a constant keeps the sums in registers.
#define DEFINE_LOOP(type, name)                                                                    \
    static void name(void *data, int32_t begin, int32_t end, int32_t chunk) {                      \
        const type job = *(const type *)data;                                                      \
        switch (job.quads) {                                                                       \
        case 1: name##_rows(&job, begin, end, chunk, 1); break;                                    \
        case 2: name##_rows(&job, begin, end, chunk, 2); break;                                    \
        case 3: name##_rows(&job, begin, end, chunk, 3); break;                                    \
        default: name##_rows(&job, begin, end, chunk, MAX_QUADS); break;                           \
        }                                                                                          \
    }

SN_INLINE size_t start_of(int32_t row, int quads) {
    return (size_t)(WIDTH * quads) * (size_t)row;
}

// The row needed by an entry further on. Prefetching it saves a fifth of the time of loops with
// four quads, but slows down loops with one.
SN_INLINE size_t start_ahead(const int32_t *indices, int32_t k, int32_t count, int quads) {
    return start_of(indices[k + AHEAD < count ? k + AHEAD : k], quads);
}

// sums = sum_j A_ij x_j
SN_INLINE void multiply_row(sn_quad *sums, const sn_sparse *A, const double *x, int32_t i,
                            int quads) {
    int32_t count = A->starts[A->rows];
    for (int q = 0; q < quads; q++) {
        sums[q] = sn_quad_all(0);
    }

    for (int32_t k = A->starts[i]; k < A->starts[i + 1]; k++) {
        const double *from = x + start_of(A->indices[k], quads);
        sn_quad value = sn_quad_all(A->values[k]);
        if (quads > 1) {
            for (int q = 0; q < quads; q += 2) {
                SN_PREFETCH(x + start_ahead(A->indices, k, count, quads) + WIDTH * q);
            }
        }

        for (int q = 0; q < quads; q++) {
            sums[q] = sn_quad_fma(value, sn_quad_load(from + WIDTH * q), sums[q]);
        }
    }
}

SN_INLINE void multiply_rows(const sn_row_job *job, int32_t begin, int32_t end, int32_t chunk,
                             int quads) {
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        sn_quad sums[MAX_QUADS];
        double *y = job->y + start_of(i, quads);
        multiply_row(sums, job->A, job->x, i, quads);
        for (int q = 0; q < quads; q++) {
            sn_quad_store(y + WIDTH * q, sums[q]);
        }
    }
}

SN_INLINE void weigh_rows(const sn_row_job *job, int32_t begin, int32_t end, int32_t chunk,
                          int quads) {
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        sn_quad sums[MAX_QUADS];
        sn_quad factor = sn_quad_all(job->factors[i]);
        double *y = job->y + start_of(i, quads);
        multiply_row(sums, job->A, job->x, i, quads);

        for (int q = 0; q < quads; q++) {
            sn_quad_store(y + WIDTH * q, sn_quad_mul(factor, sums[q]));
        }
    }
}

SN_INLINE void subtract_rows(const sn_row_job *job, int32_t begin, int32_t end, int32_t chunk,
                             int quads) {
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        sn_quad sums[MAX_QUADS];
        const double *b = job->b + start_of(i, quads);
        double *y = job->y + start_of(i, quads);
        multiply_row(sums, job->A, job->x, i, quads);

        for (int q = 0; q < quads; q++) {
            sn_quad_store(y + WIDTH * q, sn_quad_sub(sn_quad_load(b + WIDTH * q), sums[q]));
        }
    }
}

SN_INLINE void dot_rows(const sn_row_job *job, int32_t begin, int32_t end, int32_t chunk,
                        int quads) {
    sn_quad sums[MAX_QUADS];
    for (int q = 0; q < quads; q++) {
        sums[q] = sn_quad_all(0);
    }

    for (int32_t i = begin; i < end; i++) {
        const double *x = job->x + start_of(i, quads);
        const double *b = job->b + start_of(i, quads);
        for (int q = 0; q < quads; q++) {
            sums[q] =
                sn_quad_fma(sn_quad_load(x + WIDTH * q), sn_quad_load(b + WIDTH * q), sums[q]);
        }
    }

    for (int q = 0; q < quads; q++) {
        sn_quad_store(job->sums + start_of(chunk, quads) + WIDTH * q, sums[q]);
    }
}

// y += scale x
SN_INLINE void add_scaled(double *y, const sn_quad *scale, const double *x, int quads) {
    for (int q = 0; q < quads; q++) {
        sn_quad_store(y + WIDTH * q, sn_quad_fma(scale[q], sn_quad_load(x + WIDTH * q),
                                                 sn_quad_load(y + WIDTH * q)));
    }
}

SN_INLINE void advance_rows(const sn_row_job *job, int32_t begin, int32_t end, int32_t chunk,
                            int quads) {
    sn_quad scale[MAX_QUADS], opposite[MAX_QUADS];
    (void)chunk;
    for (int q = 0; q < quads; q++) {
        scale[q] = sn_quad_load_any(job->scale + WIDTH * q);
        opposite[q] = sn_quad_sub(sn_quad_all(0), scale[q]);
    }

    for (int32_t i = begin; i < end; i++) {
        size_t start = start_of(i, quads);
        add_scaled(job->y + start, scale, job->x + start, quads);
        add_scaled(job->z + start, opposite, job->b + start, quads);
    }
}

SN_INLINE void scale_add_rows(const sn_row_job *job, int32_t begin, int32_t end, int32_t chunk,
                              int quads) {
    sn_quad scale[MAX_QUADS];
    (void)chunk;
    for (int q = 0; q < quads; q++) {
        scale[q] = sn_quad_load_any(job->scale + WIDTH * q);
    }

    for (int32_t i = begin; i < end; i++) {
        const double *x = job->x + start_of(i, quads);
        double *y = job->y + start_of(i, quads);
        for (int q = 0; q < quads; q++) {
            sn_quad_store(y + WIDTH * q, sn_quad_fma(scale[q], sn_quad_load(y + WIDTH * q),
                                                     sn_quad_load(x + WIDTH * q)));
        }
    }
}

DEFINE_LOOP(sn_row_job, multiply)
DEFINE_LOOP(sn_row_job, weigh)
DEFINE_LOOP(sn_row_job, subtract)
DEFINE_LOOP(sn_row_job, dot)
DEFINE_LOOP(sn_row_job, advance)
DEFINE_LOOP(sn_row_job, scale_add)

const sn_row_kernels *SN_ISA_NAME(sn_row_get_kernels)(void) {
    static const sn_row_kernels kernels = {multiply, weigh, subtract, dot, advance, scale_add};
    return &kernels;
}

// ---- Single precision ---------------------------------------------------------------------------

SN_INLINE void multiply_narrow_row(sn_narrow_quad *sums, const sn_narrow *A, const float *x,
                                   int32_t i, int quads) {
    int32_t count = A->starts[A->rows];
    for (int q = 0; q < quads; q++) {
        sums[q] = (sn_narrow_quad){0};
    }

    for (int32_t k = A->starts[i]; k < A->starts[i + 1]; k++) {
        const float *from = x + start_of(A->indices[k], quads);
        float value = A->values[k];
        if (quads > 1) {
            SN_PREFETCH(x + start_ahead(A->indices, k, count, quads));
        }

        for (int q = 0; q < quads; q++) {
            sums[q] += value * sn_narrow_quad_load(from + WIDTH * q);
        }
    }
}

SN_INLINE void multiply_narrow_rows(const sn_narrow_job *job, int32_t begin, int32_t end,
                                    int32_t chunk, int quads) {
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        sn_narrow_quad sums[MAX_QUADS];
        float *y = job->y + start_of(i, quads);
        multiply_narrow_row(sums, job->A, job->x, i, quads);
        for (int q = 0; q < quads; q++) {
            sn_narrow_quad_store(y + WIDTH * q, sums[q]);
        }
    }
}

SN_INLINE void add_narrow_rows(const sn_narrow_job *job, int32_t begin, int32_t end, int32_t chunk,
                               int quads) {
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        sn_narrow_quad sums[MAX_QUADS];
        float *y = job->y + start_of(i, quads);
        multiply_narrow_row(sums, job->A, job->x, i, quads);
        for (int q = 0; q < quads; q++) {
            sn_narrow_quad_store(y + WIDTH * q, sn_narrow_quad_load(y + WIDTH * q) + sums[q]);
        }
    }
}

SN_INLINE void subtract_narrow_rows(const sn_narrow_job *job, int32_t begin, int32_t end,
                                    int32_t chunk, int quads) {
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        sn_narrow_quad sums[MAX_QUADS];
        const float *b = job->b + start_of(i, quads);
        float *y = job->y + start_of(i, quads);
        multiply_narrow_row(sums, job->A, job->x, i, quads);

        for (int q = 0; q < quads; q++) {
            sn_narrow_quad_store(y + WIDTH * q, sn_narrow_quad_load(b + WIDTH * q) - sums[q]);
        }
    }
}

SN_INLINE void weigh_narrow_rows(const sn_narrow_job *job, int32_t begin, int32_t end,
                                 int32_t chunk, int quads) {
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        const float *b = job->b + start_of(i, quads);
        float *y = job->y + start_of(i, quads);
        float factor = job->scale * job->factors[i];
        for (int q = 0; q < quads; q++) {
            sn_narrow_quad_store(y + WIDTH * q, factor * sn_narrow_quad_load(b + WIDTH * q));
        }
    }
}

SN_INLINE void relax_narrow_rows(const sn_narrow_job *job, int32_t begin, int32_t end,
                                 int32_t chunk, int quads) {
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        sn_narrow_quad sums[MAX_QUADS];
        const float *b = job->b + start_of(i, quads);
        const float *x = job->x + start_of(i, quads);
        float *y = job->y + start_of(i, quads);
        float factor = job->scale * job->factors[i];

        multiply_narrow_row(sums, job->A, job->x, i, quads);

        for (int q = 0; q < quads; q++) {
            sn_narrow_quad left = sn_narrow_quad_load(b + WIDTH * q) - sums[q];
            sn_narrow_quad_store(y + WIDTH * q, sn_narrow_quad_load(x + WIDTH * q) + factor * left);
        }
    }
}

DEFINE_LOOP(sn_narrow_job, multiply_narrow)
DEFINE_LOOP(sn_narrow_job, add_narrow)
DEFINE_LOOP(sn_narrow_job, subtract_narrow)
DEFINE_LOOP(sn_narrow_job, weigh_narrow)
DEFINE_LOOP(sn_narrow_job, relax_narrow)

static void narrow(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_narrow_job job = *(const sn_narrow_job *)data;
    (void)chunk;
    for (size_t k = start_of(begin, job.quads); k < start_of(end, job.quads); k++) {
        job.y[k] = (float)job.wide_x[k];
    }
}

static void widen(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_narrow_job job = *(const sn_narrow_job *)data;
    (void)chunk;
    for (size_t k = start_of(begin, job.quads); k < start_of(end, job.quads); k++) {
        job.wide_y[k] = (double)job.x[k];
    }
}

const sn_narrow_kernels *SN_ISA_NAME(sn_narrow_get_kernels)(void) {
    static const sn_narrow_kernels kernels = {
        multiply_narrow, add_narrow, subtract_narrow, weigh_narrow, relax_narrow, narrow, widen};
    return &kernels;
}
