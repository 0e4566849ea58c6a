// The polar decomposition F = R S and the signed singular value decomposition in lanes, with
// det R = +1 for every F.
//
// With i1 = |F|^2, i2 = |cof F|^2 and J = det F, f = tr S is the largest root of
//
//   f^4 - 2 i1 f^2 - 8 J f + i1^2 - 4 i2 = 0
//
// Squaring f = sum sigma_i twice leaves only invariants of F; the four roots are the signed sums of
// the singular values, as in Horn's quaternion method. Halley's method, started at the upper bound
// sqrt(3 i1), descends to the root monotonically. Differentiating the quartic gives the rotation,
// which is the derivative of tr S:
//
//   R = ((f^2 + i1)/2 F - F F'F + f cof F) / det G,
//   G = tr(S) I - S,    det G = prod (sigma_i + sigma_j) = (f^3 - i1 f)/2 - J
//
// For moderate stretches this is R up to rounding. Where the terms cancel, one step towards
// orthonormality and one towards a symmetric R'F (the exact differential of the polar rotation)
// reduce the error to rounding. Where sigma2 + sigma3 is tiny compared with f, so that R is almost
// undefined, the lane is recomputed by math/svd.h. The usual case has no branch and takes about 120
// fused operations.
#ifndef SN_MATH_LANES_POLAR_H
#define SN_MATH_LANES_POLAR_H

#include "math/lanes_eigen.h"
#include "math/svd.h"

#include <stddef.h>

// trace(S) I - S, whose eigenvalues are the sums of two singular values
SN_INLINE sn_lanes_sym3 sn_lanes_pair_sums(const sn_lanes_sym3 *S) {
    return (sn_lanes_sym3){S->yy + S->zz, -S->xy, -S->xz, S->xx + S->zz, -S->yz, S->xx + S->yy};
}

SN_INLINE sn_lanes sn_lanes_sym3_det(const sn_lanes_sym3 *A, const sn_lanes_sym3 *adjugate) {
    return A->xx * adjugate->xx + A->xy * adjugate->xy + A->xz * adjugate->xz;
}

// The quantities passed between stages: i1 = |F|^2, i2 = |cof F|^2, J = det F, f = tr S.
typedef struct sn_lanes_polar_work {
    sn_lanes i1, i2, J, f;
    sn_lanes inverse; // 1 / det G; 0 where R needs no correction
    sn_mask rough;    // lanes in which R has to be corrected
    sn_lanes3 cofactor;
    sn_lanes_sym3 C; // F'F
} sn_lanes_polar_work;

SN_INLINE void sn_lanes_polar_invariants(sn_lanes_polar_work *w, const sn_lanes3 *F) {
    w->inverse = sn_lanes_all(0); // set together with R
    w->rough = (sn_mask){0};
    w->cofactor = sn_lanes3_cofactor(F);
    w->C = sn_lanes3_gram(F);
    w->i1 = w->C.xx + w->C.yy + w->C.zz;
    w->i2 = sn_lanes3_contract(&w->cofactor, &w->cofactor);
    w->J = F->m[0][0] * w->cofactor.m[0][0] + F->m[0][1] * w->cofactor.m[0][1] +
           F->m[0][2] * w->cofactor.m[0][2];
}

// One step of Halley's method for the quartic, in terms of a quarter of it and of its derivatives.
// The slope is 2 det G.
SN_INLINE sn_lanes sn_lanes_polar_step(const sn_lanes_polar_work *w, sn_lanes constant, sn_lanes f,
                                       sn_lanes *slope) {
    sn_lanes square = f * f;
    sn_lanes value = (0.25 * square - 0.5 * w->i1) * square - 2.0 * w->J * f + constant;
    *slope = (square - w->i1) * f - 2.0 * w->J;
    return value * *slope / (*slope * *slope - value * (1.5 * square - 0.5 * w->i1));
}

// The largest root of the quartic. All roots are real, so the steps from above descend to it
// monotonically.
SN_INLINE void sn_lanes_polar_trace(sn_lanes_polar_work *w) {
    sn_lanes f = sn_lanes_sqrt(3.0 * w->i1);
    sn_lanes constant = 0.25 * w->i1 * w->i1 - w->i2;
    sn_lanes step, slope;

    // Two steps at a time: they suffice for moderate stretches, so the branch is predictable. The
    // bound on the last step leaves an error below 1e-8, which another step cubes.
    for (int iteration = 0; iteration < 12; iteration++) {
        f -= sn_lanes_polar_step(w, constant, f, &slope);
        step = sn_lanes_polar_step(w, constant, f, &slope);
        sn_lanes square = f * f;
        f -= step;

        if (!sn_any((sn_mask)(step * square > 1e-3 * slope))) {
            break;
        }
    }

    w->f = f - sn_lanes_polar_step(w, constant, f, &slope);
}

// R from the robust decomposition, only in the lanes of `mask`.
SN_INLINE void sn_lanes_polar_fallback(sn_lanes3 *R, const sn_lanes3 *F, sn_mask mask) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        if (!mask[lane]) {
            continue;
        }

        sn_mat3 one;
        for (int i = 0; i < 9; i++) {
            one.m[i / 3][i % 3] = F->m[i / 3][i % 3][lane];
        }

        one = sn_polar3(NULL, one);
        for (int i = 0; i < 9; i++) {
            R->m[i / 3][i % 3][lane] = one.m[i / 3][i % 3];
        }
    }
}

// Corrects R to second order: first removes R'R - I, then the skew part of R'F.
SN_INLINE void sn_lanes_polar_correct(sn_lanes3 *R, const sn_lanes3 *F,
                                      const sn_lanes_polar_work *w) {
    sn_lanes_sym3 X = sn_lanes3_gram(R);
    X = (sn_lanes_sym3){1.5 - 0.5 * X.xx, -0.5 * X.xy, -0.5 * X.xz,
                        1.5 - 0.5 * X.yy, -0.5 * X.yz, 1.5 - 0.5 * X.zz};
    *R = sn_lanes3_mul_sym(R, &X);

    sn_lanes3 T = sn_lanes3_mul_transposed(R, F);

    // G only weights the correction, so one triangle of T is accurate enough.
    sn_lanes_sym3 approximate = {T.m[0][0], T.m[0][1], T.m[0][2], T.m[1][1], T.m[1][2], T.m[2][2]};
    sn_lanes_sym3 G = sn_lanes_pair_sums(&approximate);
    sn_lanes_sym3 adjugate = sn_lanes_sym3_adjugate(&G);
    sn_lanes inverse = w->inverse;
    sn_lanes ax = inverse * (T.m[2][1] - T.m[1][2]);
    sn_lanes ay = inverse * (T.m[0][2] - T.m[2][0]);
    sn_lanes az = inverse * (T.m[1][0] - T.m[0][1]);
    sn_lanes wx = adjugate.xx * ax + adjugate.xy * ay + adjugate.xz * az;
    sn_lanes wy = adjugate.xy * ax + adjugate.yy * ay + adjugate.yz * az;
    sn_lanes wz = adjugate.xz * ax + adjugate.yz * ay + adjugate.zz * az;

    for (int i = 0; i < 3; i++) {
        sn_lanes x = R->m[i][0];
        sn_lanes y = R->m[i][1];
        sn_lanes z = R->m[i][2];
        R->m[i][0] = x + (y * wz - z * wy);
        R->m[i][1] = y + (z * wx - x * wz);
        R->m[i][2] = z + (x * wy - y * wx);
    }
}

// S = R'F
SN_INLINE void sn_lanes_polar_stretch(sn_lanes_sym3 *S, const sn_lanes3 *R, const sn_lanes3 *F) {
#define SN_STRETCH(i, j)                                                                           \
    (R->m[0][i] * F->m[0][j] + R->m[1][i] * F->m[1][j] + R->m[2][i] * F->m[2][j])
    *S = (sn_lanes_sym3){SN_STRETCH(0, 0), SN_STRETCH(0, 1), SN_STRETCH(0, 2),
                         SN_STRETCH(1, 1), SN_STRETCH(1, 2), SN_STRETCH(2, 2)};
#undef SN_STRETCH
}

// R before the correction.
SN_INLINE void sn_lanes_polar_start(sn_lanes3 *R, const sn_lanes3 *F, sn_lanes_polar_work *w) {
    sn_lanes f = w->f;
    sn_lanes i1 = w->i1;
    sn_lanes square = f * f;
    sn_lanes det = 0.5 * (square - i1) * f - w->J;

    // det G / f^3 is 8/27 at rest; where it is small, terms have cancelled.
    w->rough = (sn_mask) ~(det > 0.2 * square * f);

    // Beyond these scales the eighth powers above leave the range of doubles.
    sn_mask doubtful = (sn_mask) ~((det > 0.02 * square * f) & (i1 > 1e-60) & (i1 < 1e60));
    sn_lanes inverse = 1.0 / det;
    sn_lanes a = 0.5 * (square + i1) * inverse;
    sn_lanes b = f * inverse;
    const sn_lanes_sym3 *C = &w->C;
    sn_lanes_sym3 D = {a - C->xx * inverse, -C->xy * inverse, -C->xz * inverse,
                       a - C->yy * inverse, -C->yz * inverse, a - C->zz * inverse};

    *R = sn_lanes3_mul_sym(F, &D);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R->m[i][j] += b * w->cofactor.m[i][j];
        }
    }

    w->inverse = inverse;
    if (sn_any(doubtful)) {
        sn_lanes_polar_fallback(R, F, doubtful);
        w->inverse = sn_select(doubtful, sn_lanes_all(0), inverse);
    }
}

// F = R S for the groups of one block of matrices, or of two.
SN_INLINE void sn_groups_polar(sn_lanes3 *R, sn_lanes_sym3 *S, const sn_lanes3 *F, int groups) {
    sn_lanes_polar_work work[2 * SN_GROUPS];
    SN_KEEP_LOOP
    for (int g = 0; g < groups; g++) {
        sn_lanes_polar_invariants(&work[g], &F[g]);
    }

    SN_KEEP_LOOP
    for (int g = 0; g < groups; g++) {
        sn_lanes_polar_trace(&work[g]);
    }

    SN_KEEP_LOOP
    for (int g = 0; g < groups; g++) {
        sn_lanes_polar_start(&R[g], &F[g], &work[g]);
    }

    SN_KEEP_LOOP
    for (int g = 0; g < groups; g++) {
        if (sn_any(work[g].rough)) {
            sn_lanes_polar_correct(&R[g], &F[g], &work[g]);
        }
        sn_lanes_polar_stretch(&S[g], &R[g], &F[g]);
    }
}

SN_INLINE void sn_block_polar(sn_lanes3 R[SN_GROUPS], sn_lanes_sym3 S[SN_GROUPS],
                              const sn_lanes3 F[SN_GROUPS]) {
    sn_groups_polar(R, S, F, SN_GROUPS);
}

// F = U diag(sigma) V' with U = R V: rotations, sigma decreasing, its sign in the last.
SN_INLINE void sn_block_svd(sn_lanes3 U[SN_GROUPS], sn_lanes sigma[SN_GROUPS][3],
                            sn_lanes3 V[SN_GROUPS], const sn_lanes3 F[SN_GROUPS]) {
    sn_lanes3 R[SN_GROUPS];
    sn_lanes_sym3 S[SN_GROUPS];
    sn_block_polar(R, S, F);
    sn_block_eigen3(sigma, V, S);

    for (int g = 0; g < SN_GROUPS; g++) {
        U[g] = sn_lanes3_mul(&R[g], &V[g]);
    }
}

#endif
