// The hot loops of linear algebra, in plain C.
#include "linalg/kernels.h"

#include <stddef.h>

void sn_kernel_bsr_multiply(double *y, const int32_t *starts, const int32_t *columns, const double *A, const double *x,
                            int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        double y0 = 0, y1 = 0, y2 = 0;
        for (int32_t k = starts[i]; k < starts[i + 1]; k++) {
            const double *a = A + 9 * (size_t)k, *v = x + 3 * (size_t)columns[k];
            y0 += a[0] * v[0] + a[1] * v[1] + a[2] * v[2];
            y1 += a[3] * v[0] + a[4] * v[1] + a[5] * v[2];
            y2 += a[6] * v[0] + a[7] * v[1] + a[8] * v[2];
        }
        y[3 * (ptrdiff_t)i] = y0;
        y[3 * (ptrdiff_t)i + 1] = y1;
        y[3 * (ptrdiff_t)i + 2] = y2;
    }
}

enum { LANES = 8 };

static double sum_lanes(const double *lane) {
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

double sn_kernel_dot(const double *x, const double *y, int32_t count) {
    double lane[LANES] = {0}, rest = 0;
    int32_t k = 0;
    for (; k + LANES <= count; k += LANES) {
        for (int l = 0; l < LANES; l++) lane[l] += x[k + l] * y[k + l];
    }
    for (; k < count; k++) rest += x[k] * y[k];
    return sum_lanes(lane) + rest;
}

double sn_kernel_cg_advance(double *x, double *r, double alpha, const double *p, const double *q, int32_t count) {
    double lane[LANES] = {0}, rest = 0;
    int32_t k = 0;
    for (; k + LANES <= count; k += LANES) {
        for (int l = 0; l < LANES; l++) {
            x[k + l] += alpha * p[k + l];
            r[k + l] -= alpha * q[k + l];
            lane[l] += r[k + l] * r[k + l];
        }
    }
    for (; k < count; k++) {
        x[k] += alpha * p[k];
        r[k] -= alpha * q[k];
        rest += r[k] * r[k];
    }
    return sum_lanes(lane) + rest;
}
