// 3x3 matrices of lanes, m[row][column], one matrix in each lane; for files named *_simd.c.
#ifndef SN_MATH_LANES_MAT3_H
#define SN_MATH_LANES_MAT3_H

#include "math/simd.h"

typedef struct sn_lanes3 {
    sn_lanes m[3][3];
} sn_lanes3;

// A symmetric matrix: xx, xy, xz, yy, yz, zz.
typedef struct sn_lanes_sym3 {
    sn_lanes xx, xy, xz, yy, yz, zz;
} sn_lanes_sym3;

// From and to a block [9][SN_BLOCK]; `block` points at the first lane wanted.
SN_INLINE sn_lanes3 sn_lanes3_load(const double *block) {
    sn_lanes3 A;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A.m[i][j] = sn_lanes_load(block + (3 * i + j) * SN_BLOCK);
        }
    }

    return A;
}

SN_INLINE void sn_lanes3_store(double *block, const sn_lanes3 *A) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            sn_lanes_store(block + (3 * i + j) * SN_BLOCK, A->m[i][j]);
        }
    }
}

SN_INLINE sn_lanes3 sn_lanes3_mul(const sn_lanes3 *A, const sn_lanes3 *B) {
    sn_lanes3 C;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C.m[i][j] = A->m[i][0] * B->m[0][j] + A->m[i][1] * B->m[1][j] + A->m[i][2] * B->m[2][j];
        }
    }

    return C;
}

// A' B
SN_INLINE sn_lanes3 sn_lanes3_mul_transposed(const sn_lanes3 *A, const sn_lanes3 *B) {
    sn_lanes3 C;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C.m[i][j] = A->m[0][i] * B->m[0][j] + A->m[1][i] * B->m[1][j] + A->m[2][i] * B->m[2][j];
        }
    }

    return C;
}

// A B with B symmetric
SN_INLINE sn_lanes3 sn_lanes3_mul_sym(const sn_lanes3 *A, const sn_lanes_sym3 *B) {
    sn_lanes3 C;
    for (int i = 0; i < 3; i++) {
        const sn_lanes *a = A->m[i];
        C.m[i][0] = a[0] * B->xx + a[1] * B->xy + a[2] * B->xz;
        C.m[i][1] = a[0] * B->xy + a[1] * B->yy + a[2] * B->yz;
        C.m[i][2] = a[0] * B->xz + a[1] * B->yz + a[2] * B->zz;
    }

    return C;
}

// A'A
SN_INLINE sn_lanes_sym3 sn_lanes3_gram(const sn_lanes3 *A) {
#define SN_GRAM(i, j) (A->m[0][i] * A->m[0][j] + A->m[1][i] * A->m[1][j] + A->m[2][i] * A->m[2][j])
    return (sn_lanes_sym3){SN_GRAM(0, 0), SN_GRAM(0, 1), SN_GRAM(0, 2),
                           SN_GRAM(1, 1), SN_GRAM(1, 2), SN_GRAM(2, 2)};
#undef SN_GRAM
}

// det(A) A^-T, the derivative of the determinant
SN_INLINE sn_lanes3 sn_lanes3_cofactor(const sn_lanes3 *A) {
    sn_lanes3 C;
    for (int i = 0; i < 3; i++) {
        const sn_lanes *a = A->m[(i + 1) % 3];
        const sn_lanes *b = A->m[(i + 2) % 3];
        C.m[i][0] = a[1] * b[2] - a[2] * b[1];
        C.m[i][1] = a[2] * b[0] - a[0] * b[2];
        C.m[i][2] = a[0] * b[1] - a[1] * b[0];
    }

    return C;
}

// A : B
SN_INLINE sn_lanes sn_lanes3_contract(const sn_lanes3 *A, const sn_lanes3 *B) {
    sn_lanes rows[3];
    for (int i = 0; i < 3; i++) {
        rows[i] = A->m[i][0] * B->m[i][0] + A->m[i][1] * B->m[i][1] + A->m[i][2] * B->m[i][2];
    }
    return rows[0] + rows[1] + rows[2];
}

// The adjugate of a symmetric matrix: A adj(A) = det(A) I
SN_INLINE sn_lanes_sym3 sn_lanes_sym3_adjugate(const sn_lanes_sym3 *A) {
    return (sn_lanes_sym3){A->yy * A->zz - A->yz * A->yz, A->xz * A->yz - A->xy * A->zz,
                           A->xy * A->yz - A->xz * A->yy, A->xx * A->zz - A->xz * A->xz,
                           A->xy * A->xz - A->xx * A->yz, A->xx * A->yy - A->xy * A->xy};
}

#endif
