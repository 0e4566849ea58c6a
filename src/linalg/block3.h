// 3x3 blocks stored as nine numbers, row by row: the building blocks of the block factorisations.
#ifndef SN_LINALG_BLOCK3_H
#define SN_LINALG_BLOCK3_H

#include <math.h>

// The inverse of the symmetric positive definite block A (lower triangle read) by A = L D L'.
// Returns -1, or the row of the first pivot that is not positive, or not a number; *pivot is that
// pivot.
static inline int sn_block3_invert(double *inverse, const double *A, double *pivot) {
    double d0 = A[0];
    double l10 = A[3] / d0;
    double l20 = A[6] / d0;
    double d1 = A[4] - l10 * A[3];
    double u21 = A[7] - l20 * A[3];
    double l21 = u21 / d1;
    double d2 = A[8] - l20 * A[6] - l21 * u21;
    const double d[3] = {d0, d1, d2};

    for (int r = 0; r < 3; r++) {
        *pivot = d[r];
        if (!(d[r] > 0) || !isfinite(d[r])) {
            return r;
        }
    }

    // The rows of L^-1 are (1 0 0), (-l10 1 0), (m20 -l21 1); A^-1 = L^-T D^-1 L^-1.
    double m20 = l10 * l21 - l20;
    double i0 = 1 / d0;
    double i1 = 1 / d1;
    double i2 = 1 / d2;

    inverse[0] = i0 + l10 * l10 * i1 + m20 * m20 * i2;
    inverse[1] = inverse[3] = -l10 * i1 - m20 * l21 * i2;
    inverse[2] = inverse[6] = m20 * i2;
    inverse[4] = i1 + l21 * l21 * i2;
    inverse[5] = inverse[7] = -l21 * i2;
    inverse[8] = i2;

    return -1;
}

#endif
