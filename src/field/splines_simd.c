// Loops between unknowns and splines, four functions in a quad; see splines.h. Weights come from the place in the cell when
// they are needed: 27 of them stored would take longer to read.
#include "field/splines.h"

#include "math/quad.h"

enum { WIDTH = SN_ROW_WIDTH, SUPPORT = SN_SPLINE_SUPPORT };

// The three quadratic splines of one axis at t from 0 to 1.
SN_INLINE void weigh_axis(double t, double w[3]) {
    w[0] = 0.5 * (1 - t) * (1 - t);
    w[2] = 0.5 * t * t;
    w[1] = 1 - w[0] - w[2];
}

SN_INLINE void weigh(const float *place, double w[3][3]) {
    for (int a = 0; a < 3; a++) weigh_axis((double)place[a], w[a]);
}

static void gather(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_spline_job job = *(const sn_spline_job *)data;
    (void)chunk;
    for (int32_t cell = begin; cell < end; cell++) {
        sn_quad sums[SUPPORT];
        for (int k = 0; k < SUPPORT; k++) sums[k] = sn_quad_all(0);
        for (int32_t item = job.cell_starts[cell]; item < job.cell_starts[cell + 1]; item++) {
            sn_quad x = sn_quad_load(job.x + WIDTH * (size_t)job.unknowns[item]);
            double w[3][3];
            weigh(job.places + 3 * (size_t)item, w);
            for (int a = 0; a < 3; a++) {
                for (int b = 0; b < 3; b++) {
                    sn_quad xy = sn_quad_mul(sn_quad_all(w[0][a] * w[1][b]), x);
                    for (int c = 0; c < 3; c++) {
                        int k = 9 * a + 3 * b + c;
                        sums[k] = sn_quad_fma(sn_quad_all(w[2][c]), xy, sums[k]);
                    }
                }
            }
        }
        double *shares = job.shares + SUPPORT * WIDTH * (size_t)cell;
        for (int k = 0; k < SUPPORT; k++) sn_quad_store(shares + WIDTH * k, sums[k]);
    }
}

static void collect(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_spline_job job = *(const sn_spline_job *)data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        sn_quad sum = sn_quad_all(0);
        for (int32_t k = job.use_starts[i]; k < job.use_starts[i + 1]; k++) {
            sum = sn_quad_add(sum, sn_quad_load(job.shares + WIDTH * (size_t)job.uses[k]));
        }
        sn_quad_store(job.coefficients + WIDTH * (size_t)i, sum);
    }
}

static void spread(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_spline_job job = *(const sn_spline_job *)data;
    (void)chunk;
    for (int32_t cell = begin; cell < end; cell++) {
        sn_quad own[SUPPORT];
        for (int k = 0; k < SUPPORT; k++) {
            own[k] = sn_quad_load(job.coefficients + WIDTH * (size_t)job.splines[SUPPORT * (size_t)cell + (size_t)k]);
        }
        for (int32_t item = job.cell_starts[cell]; item < job.cell_starts[cell + 1]; item++) {
            double w[3][3], *y = job.y + WIDTH * (size_t)job.unknowns[item];
            weigh(job.places + 3 * (size_t)item, w);
            sn_quad sum = sn_quad_load(y);
            for (int a = 0; a < 3; a++) {
                for (int b = 0; b < 3; b++) {
                    const sn_quad *line = own + 9 * a + 3 * b;
                    sn_quad along = sn_quad_mul(sn_quad_all(w[2][0]), line[0]);
                    along = sn_quad_fma(sn_quad_all(w[2][1]), line[1], along);
                    along = sn_quad_fma(sn_quad_all(w[2][2]), line[2], along);
                    sum = sn_quad_fma(sn_quad_all(w[0][a] * w[1][b]), along, sum);
                }
            }
            sn_quad_store(y, sum);
        }
    }
}

const sn_spline_kernels *SN_ISA_NAME(sn_spline_get_kernels)(void) {
    static const sn_spline_kernels kernels = {gather, collect, spread};
    return &kernels;
}
