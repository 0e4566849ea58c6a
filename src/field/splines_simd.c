// Loops between unknowns and splines, four functions per quad; for several unknowns of a cell at a
// time, quad by quad, so that their 27 sums fill the registers; see splines.h. Weights are computed
// from the position in the cell when they are needed and serve all quads: reading 27 stored weights
// would take longer.
#include "field/splines.h"

#include "base/prefetch.h"
#include "math/quad.h"

#include <string.h>

enum { WIDTH = SN_ROW_WIDTH, SUPPORT = SN_SPLINE_SUPPORT, BLOCK = 64 };

// The three quadratic splines of one axis at t in [0, 1].
SN_INLINE void weigh_axis(double t, double w[3]) {
    w[0] = 0.5 * (1 - t) * (1 - t);
    w[2] = 0.5 * t * t;
    w[1] = 1 - w[0] - w[2];
}

// The weights of an unknown, factored: w = xy z for each spline.
typedef struct weights {
    double xy[9], z[3];
} weights;

// Weights of up to BLOCK unknowns starting at `item`; returns how many. Prefetches their functions
// x.
SN_INLINE int32_t weigh(const sn_spline_job *job, int32_t item, int32_t end, const double *x,
                        weights *w) {
    int32_t count = end - item < BLOCK ? end - item : BLOCK;
    size_t stride = WIDTH * (size_t)job->quads;
    for (int32_t i = 0; i < count; i++) {
        const float *offset = job->offsets + 3 * (size_t)(item + i);

        // Prefetch the functions of the unknown, 64 bytes at a time.
        for (size_t c = 0; c < stride; c += 8) {
            SN_PREFETCH(x + stride * (size_t)job->unknowns[item + i] + c);
        }

        // Weights are products of those along the axes.
        double wx[3], wy[3];
        weigh_axis((double)offset[0], wx);
        weigh_axis((double)offset[1], wy);
        weigh_axis((double)offset[2], w[i].z);

        for (int k = 0; k < 9; k++) {
            w[i].xy[k] = wx[k / 3] * wy[k % 3];
        }
    }

    return count;
}

// shares[spline][stride] += the contributions of several unknowns to the splines of their cell, for
// one quad of x[unknown][stride].
SN_INLINE void gather_quad(double *shares, const weights *w, const int32_t *unknowns, int32_t count,
                           const double *x, size_t stride) {
    sn_quad sums[SUPPORT];
    for (size_t k = 0; k < SUPPORT; k++) {
        sums[k] = sn_quad_load(shares + stride * k);
    }

    for (int32_t i = 0; i < count; i++) {
        sn_quad own = sn_quad_load(x + stride * (size_t)unknowns[i]);
        for (int k = 0; k < 9; k++) {
            sn_quad xy = sn_quad_mul(sn_quad_all(w[i].xy[k]), own);
            for (int c = 0; c < 3; c++) {
                sums[3 * k + c] = sn_quad_fma(sn_quad_all(w[i].z[c]), xy, sums[3 * k + c]);
            }
        }
    }

    for (size_t k = 0; k < SUPPORT; k++) {
        sn_quad_store(shares + stride * k, sums[k]);
    }
}

static void gather(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_spline_job job = *(const sn_spline_job *)data;
    size_t stride = WIDTH * (size_t)job.quads;
    weights w[BLOCK];

    (void)chunk;
    for (int32_t cell = begin; cell < end; cell++) {
        double *shares = job.shares + SUPPORT * stride * (size_t)cell;
        memset(shares, 0, SUPPORT * stride * sizeof(double));
        for (int32_t item = job.cell_starts[cell], count; item < job.cell_starts[cell + 1];
             item += count) {
            count = weigh(&job, item, job.cell_starts[cell + 1], job.x, w);
            for (size_t c = 0; c < stride; c += WIDTH) {
                gather_quad(shares + c, w, job.unknowns + item, count, job.x + c, stride);
            }
        }
    }
}

static void collect(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_spline_job job = *(const sn_spline_job *)data;
    size_t stride = WIDTH * (size_t)job.quads;

    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        for (size_t c = 0; c < stride; c += WIDTH) {
            sn_quad sum = sn_quad_all(0);
            for (int32_t k = job.use_starts[i]; k < job.use_starts[i + 1]; k++) {
                sum = sn_quad_add(sum, sn_quad_load(job.shares + stride * (size_t)job.uses[k] + c));
            }
            sn_quad_store(job.coefficients + stride * (size_t)i + c, sum);
        }
    }
}

// One quad of y[unknown][stride] += the values of a cell's splines with
// coefficients[spline][stride].
SN_INLINE void spread_quad(double *y, const weights *w, const int32_t *unknowns, int32_t count,
                           const double *coefficients, const int32_t *splines, size_t stride) {
    sn_quad own[SUPPORT];
    for (int k = 0; k < SUPPORT; k++) {
        own[k] = sn_quad_load(coefficients + stride * (size_t)splines[k]);
    }

    for (int32_t i = 0; i < count; i++) {
        double *target = y + stride * (size_t)unknowns[i];
        sn_quad sum = sn_quad_load(target);
        for (int k = 0; k < 9; k++) {
            sn_quad along = sn_quad_mul(sn_quad_all(w[i].z[0]), own[3 * k]);
            along = sn_quad_fma(sn_quad_all(w[i].z[1]), own[3 * k + 1], along);
            along = sn_quad_fma(sn_quad_all(w[i].z[2]), own[3 * k + 2], along);
            sum = sn_quad_fma(sn_quad_all(w[i].xy[k]), along, sum);
        }

        sn_quad_store(target, sum);
    }
}

static void spread(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_spline_job job = *(const sn_spline_job *)data;
    size_t stride = WIDTH * (size_t)job.quads;
    weights w[BLOCK];

    (void)chunk;
    for (int32_t cell = begin; cell < end; cell++) {
        const int32_t *splines = job.splines + SUPPORT * (size_t)cell;
        for (int32_t item = job.cell_starts[cell], count; item < job.cell_starts[cell + 1];
             item += count) {
            count = weigh(&job, item, job.cell_starts[cell + 1], job.y, w);
            for (size_t c = 0; c < stride; c += WIDTH) {
                spread_quad(job.y + c, w, job.unknowns + item, count, job.coefficients + c, splines,
                            stride);
            }
        }
    }
}

const sn_spline_kernels *SN_ISA_NAME(sn_spline_get_kernels)(void) {
    static const sn_spline_kernels kernels = {gather, collect, spread};
    return &kernels;
}
