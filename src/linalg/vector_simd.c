// Sums and updates of vectors. Eight partial sums, whatever the register width, so that the order
// of summation is the same everywhere.
#include "linalg/kernels.h"
#include "math/simd.h"

#include <string.h>

enum { SUMS = 8 };

static double sum_all(const double *sum) {
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

double SN_ISA_NAME(sn_kernel_dot)(const double *x, const double *y, int32_t count) {
    double sum[SUMS] = {0}, rest = 0;
    int32_t k = 0;
    for (; k + SUMS <= count; k += SUMS) {
        for (int l = 0; l < SUMS; l++) {
            sum[l] += x[k + l] * y[k + l];
        }
    }

    for (; k < count; k++) {
        rest += x[k] * y[k];
    }

    return sum_all(sum) + rest;
}

// The bits of non-negative doubles have the order of the numbers, and those of NaN come last.
double SN_ISA_NAME(sn_kernel_largest)(const double *x, int32_t count) {
    int64_t largest[SUMS] = {0}, bits[SUMS];
    int32_t k = 0;
    for (; k + SUMS <= count; k += SUMS) {
        memcpy(bits, x + k, sizeof bits);
        for (int l = 0; l < SUMS; l++) {
            int64_t size = bits[l] & INT64_MAX;
            largest[l] = size > largest[l] ? size : largest[l];
        }
    }

    // The remainder, which joins the first partial sum.
    for (; k < count; k++) {
        memcpy(bits, x + k, sizeof *bits);
        int64_t size = bits[0] & INT64_MAX;
        largest[0] = size > largest[0] ? size : largest[0];
    }

    for (int l = 1; l < SUMS; l++) {
        largest[0] = largest[l] > largest[0] ? largest[l] : largest[0];
    }

    double result;
    memcpy(&result, largest, sizeof result);

    return result;
}

void SN_ISA_NAME(sn_kernel_add_scaled)(double *restrict y, double s, const double *restrict x,
                                       int32_t count) {
    for (int32_t k = 0; k < count; k++) {
        y[k] += s * x[k];
    }
}

void SN_ISA_NAME(sn_kernel_scale_add)(double *restrict y, double s, const double *restrict x,
                                      int32_t count) {
    for (int32_t k = 0; k < count; k++) {
        y[k] = x[k] + s * y[k];
    }
}

double SN_ISA_NAME(sn_kernel_cg_advance)(double *restrict x, double *restrict r, double alpha,
                                         const double *restrict p, const double *restrict q,
                                         int32_t count) {
    double sum[SUMS] = {0}, rest = 0;
    int32_t k = 0;
    for (; k + SUMS <= count; k += SUMS) {
        for (int l = 0; l < SUMS; l++) {
            x[k + l] += alpha * p[k + l];
            double moved = r[k + l] - alpha * q[k + l];
            r[k + l] = moved;
            sum[l] += moved * moved;
        }
    }

    for (; k < count; k++) {
        x[k] += alpha * p[k];
        r[k] -= alpha * q[k];
        rest += r[k] * r[k];
    }

    return sum_all(sum) + rest;
}
