// Symmetric 3x3 matrices in lanes: eigenvalues, eigenvectors and functions of the matrix, in closed
// form.
//
// With q = tr(A)/3 and p^2 = |A - q I|^2/6, the matrix C = (A - q I)/p has the eigenvalues
//
//   2 cos(phi + 2 pi k/3),   k = 0, 1, 2,   cos(3 phi) = det(C)/2 = r      (Smith 1961)
//
// The eigenvalue y that has the sign of r is at least sqrt(3) away from the other two, -y/2 +- h.
// So y, and the projector P = v v' on its eigenvector (the adjugate of C - y I divided by its
// trace), are found to full accuracy for every A.
//
// A function of the matrix needs no eigenvectors: it is a I + k C + b P with the coefficients that
// give the wanted eigenvalues. Eigenvectors come from the remaining 2x2 matrix in the plane normal
// to v. Both are accurate to a few ulp of |A|, repeated eigenvalues included, and V is orthonormal
// to a few ulp.
#ifndef SN_MATH_LANES_EIGEN_H
#define SN_MATH_LANES_EIGEN_H

#include "math/lanes_mat3.h"

// 2 cos(acos(r)/3) for r in [0, 1]: the root y in [sqrt(3), 2] of y^3 - 3 y = 2 r. A polynomial
// accurate to 2e-6, then one step of Halley's method, which cubes the error.
SN_INLINE sn_lanes sn_lanes_trisected(sn_lanes r) {
    sn_lanes square = r * r;
    sn_lanes y =
        (1.7320521221 + r * 0.3332377130) +
        square * ((-0.0950500279 + r * 0.0437992547) + square * (-0.0179329024 + r * 0.0038946032));
    sn_lanes slope = 3.0 * y * y - 3.0;
    sn_lanes value = (y * y - 3.0) * y - 2.0 * r;

    return y - value * slope / (slope * slope - 3.0 * y * value);
}

// The unit vector along the axis of a symmetric matrix of rank one: its column with the largest
// diagonal entry, normalized.
SN_INLINE void sn_lanes_rank_one_axis(sn_lanes v[3], const sn_lanes_sym3 *A) {
    sn_mask second = (sn_mask)(A->yy > A->xx);
    sn_lanes largest = sn_select(second, A->yy, A->xx);

    v[0] = sn_select(second, A->xy, A->xx);
    v[1] = sn_select(second, A->yy, A->xy);
    v[2] = sn_select(second, A->yz, A->xz);

    sn_mask third = (sn_mask)(A->zz > largest);
    v[0] = sn_select(third, A->xz, v[0]);
    v[1] = sn_select(third, A->yz, v[1]);
    v[2] = sn_select(third, A->zz, v[2]);

    sn_lanes inverse = 1.0 / sn_lanes_sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int i = 0; i < 3; i++) {
        v[i] *= inverse;
    }
}

// Two unit vectors that complete the unit vector n to a right-handed basis (u, w, n) (Duff et al.
// 2017).
SN_INLINE void sn_lanes_complete_basis(sn_lanes u[3], sn_lanes w[3], const sn_lanes n[3]) {
    sn_lanes sign = sn_lanes_copysign(sn_lanes_all(1), n[2]);
    sn_lanes a = -1.0 / (sign + n[2]);
    sn_lanes b = n[0] * n[1] * a;
    u[0] = 1.0 + sign * n[0] * n[0] * a;
    u[1] = sign * b;
    u[2] = -sign * n[0];
    w[0] = b;
    w[1] = sign + n[1] * n[1] * a;
    w[2] = -n[1];
}

typedef struct sn_lanes_spectrum {
    sn_lanes q, p, r, y, h;
    sn_lanes_sym3 C, projector, D;
} sn_lanes_spectrum;

SN_INLINE void sn_lanes_spectrum_normalize(sn_lanes_spectrum *e, const sn_lanes_sym3 *A) {
    sn_lanes q = (A->xx + A->yy + A->zz) * (1.0 / 3);
    sn_lanes x = A->xx - q;
    sn_lanes y = A->yy - q;
    sn_lanes z = A->zz - q;
    sn_lanes p = sn_lanes_sqrt(
        (x * x + y * y + z * z + 2.0 * (A->xy * A->xy + A->xz * A->xz + A->yz * A->yz)) *
        (1.0 / 6));

    // A multiple of I (p = 0): every basis is right, and C = 0 leads to one of them.
    sn_lanes scale = sn_select((sn_mask)(p > 0x1p-500), 1.0 / p, sn_lanes_all(0));

    e->q = q;
    e->p = p;
    e->C = (sn_lanes_sym3){x * scale, A->xy * scale, A->xz * scale,
                           y * scale, A->yz * scale, z * scale};
}

SN_INLINE void sn_lanes_spectrum_values(sn_lanes_spectrum *e) {
    const sn_lanes_sym3 *C = &e->C;
    e->r =
        0.5 * (C->xx * (C->yy * C->zz - C->yz * C->yz) + C->xy * (C->xz * C->yz - C->xy * C->zz) +
               C->xz * (C->xy * C->yz - C->xz * C->yy));
    e->y = sn_lanes_copysign(sn_lanes_trisected(sn_lanes_min(sn_lanes_abs(e->r), sn_lanes_all(1))),
                             e->r);
}

SN_INLINE void sn_lanes_spectrum_projector(sn_lanes_spectrum *e) {
    sn_lanes_sym3 shifted = e->C;
    shifted.xx -= e->y;
    shifted.yy -= e->y;
    shifted.zz -= e->y;

    sn_lanes_sym3 A = sn_lanes_sym3_adjugate(&shifted);
    sn_lanes s = 1.0 / (A.xx + A.yy + A.zz);
    const sn_lanes_sym3 P = {s * A.xx, s * A.xy, s * A.xz, s * A.yy, s * A.yz, s * A.zz};
    const sn_lanes_sym3 *C = &e->C;
    sn_lanes half = 0.5 * e->y;
    sn_lanes b = -1.5 * e->y;
    const sn_lanes_sym3 D = {C->xx + half + b * P.xx, C->xy + b * P.xy, C->xz + b * P.xz,
                             C->yy + half + b * P.yy, C->yz + b * P.yz, C->zz + half + b * P.zz};

    // |D|^2 = 2 h^2. (Computing h from y alone would cancel if the two eigenvalues are nearly
    // equal.)
    e->h = sn_lanes_sqrt(0.5 * (D.xx * D.xx + D.yy * D.yy + D.zz * D.zz) +
                         (D.xy * D.xy + D.xz * D.xz + D.yz * D.yz));
    e->projector = P;
    e->D = D;
}

// The spectra of several groups of matrices, as input of the functions below.
SN_INLINE void sn_groups_spectrum(sn_lanes_spectrum *e, const sn_lanes_sym3 *A, int groups) {
    SN_KEEP_LOOP
    for (int g = 0; g < groups; g++) {
        sn_lanes_spectrum_normalize(&e[g], &A[g]);
    }

    SN_KEEP_LOOP
    for (int g = 0; g < groups; g++) {
        sn_lanes_spectrum_values(&e[g]);
    }

    SN_KEEP_LOOP
    for (int g = 0; g < groups; g++) {
        sn_lanes_spectrum_projector(&e[g]);
    }
}

SN_INLINE void sn_block_spectrum(sn_lanes_spectrum e[SN_GROUPS], const sn_lanes_sym3 A[SN_GROUPS]) {
    sn_groups_spectrum(e, A, SN_GROUPS);
}

// The eigenvalues, not sorted: that of v first, then the two in the plane normal to it.
SN_INLINE void sn_lanes_eigenvalues(sn_lanes values[3], const sn_lanes_spectrum *e) {
    values[0] = e->q + e->p * e->y;
    values[1] = e->q + e->p * (e->h - 0.5 * e->y);
    values[2] = e->q - e->p * (e->h + 0.5 * e->y);
}

// The matrix with the same eigenvectors and other eigenvalues, in the order of
// sn_lanes_eigenvalues. Repeated eigenvalues must stay equal, as they do under any Lipschitz
// function.
SN_INLINE sn_lanes_sym3 sn_lanes_matrix_function(const sn_lanes_spectrum *e,
                                                 const sn_lanes values[3]) {
    sn_lanes mean = 0.5 * (values[1] + values[2]);
    sn_lanes b = values[0] - mean;
    sn_lanes k = 0.5 * (values[1] - values[2]) / sn_lanes_max(e->h, sn_lanes_all(0x1p-500));
    const sn_lanes_sym3 *P = &e->projector;
    const sn_lanes_sym3 *D = &e->D;

    return (sn_lanes_sym3){mean + b * P->xx + k * D->xx, b * P->xy + k * D->xy,
                           b * P->xz + k * D->xz,        mean + b * P->yy + k * D->yy,
                           b * P->yz + k * D->yz,        mean + b * P->zz + k * D->zz};
}

// The negative part of A with its sign reversed: A plus this is the nearest positive semi-definite
// matrix.
SN_INLINE sn_lanes_sym3 sn_lanes_semidefinite_deficit(const sn_lanes_spectrum *e) {
    sn_lanes values[3];
    sn_lanes_eigenvalues(values, e);
    for (int i = 0; i < 3; i++) {
        values[i] = -sn_lanes_min(values[i], sn_lanes_all(0));
    }
    return sn_lanes_matrix_function(e, values);
}

// Decreasing eigenvalues, and their eigenvectors in the columns of V, det V = +1.
SN_INLINE void sn_lanes_eigenvectors(sn_lanes values[3], sn_lanes3 *V, const sn_lanes_spectrum *e) {
    const sn_lanes_sym3 *C = &e->C;
    sn_lanes v[3], u[3], w[3];

    sn_lanes_rank_one_axis(v, &e->projector);
    sn_lanes_complete_basis(u, w, v);

    // In the axes (u, w), C is -y/2 I + [half, cross; cross, -half] with cos 2t = half/h and
    // sin 2t = cross/h.
    sn_lanes Cu[3] = {C->xx * u[0] + C->xy * u[1] + C->xz * u[2],
                      C->xy * u[0] + C->yy * u[1] + C->yz * u[2],
                      C->xz * u[0] + C->yz * u[1] + C->zz * u[2]};
    sn_lanes half = u[0] * Cu[0] + u[1] * Cu[1] + u[2] * Cu[2] + 0.5 * e->y;
    sn_lanes cross = w[0] * Cu[0] + w[1] * Cu[1] + w[2] * Cu[2];
    sn_lanes h = sn_lanes_sqrt(half * half + cross * cross);
    sn_lanes tiny = sn_lanes_all(0x1p-500);
    sn_lanes inverse = 1.0 / sn_lanes_max(h, tiny);

    // Equal eigenvalues (h = 0): the axes stay as they are.
    sn_lanes cosine_2t =
        sn_select((sn_mask)(h > tiny), sn_lanes_abs(half) * inverse, sn_lanes_all(1));
    sn_lanes large = sn_lanes_sqrt(0.5 + 0.5 * cosine_2t);
    sn_lanes small = 0.5 * cross * inverse / large;
    sn_mask first = (sn_mask)(half >= 0.0);
    sn_mask largest = (sn_mask)(e->r >= 0.0);
    sn_lanes cosine = sn_select(first, large, small);
    sn_lanes sine = sn_select(first, small, large);
    sn_lanes plus = h - 0.5 * e->y;
    sn_lanes minus = -h - 0.5 * e->y;

    values[0] = e->q + e->p * sn_select(largest, e->y, plus);
    values[1] = e->q + e->p * sn_select(largest, plus, minus);
    values[2] = e->q + e->p * sn_select(largest, minus, e->y);

    for (int i = 0; i < 3; i++) {
        sn_lanes e1 = cosine * u[i] + sine * w[i];
        sn_lanes e2 = cosine * w[i] - sine * u[i];
        // (e1, e2, v) and (v, e1, e2) are both right-handed.
        V->m[i][0] = sn_select(largest, v[i], e1);
        V->m[i][1] = sn_select(largest, e1, e2);
        V->m[i][2] = sn_select(largest, e2, v[i]);
    }
}

SN_INLINE void sn_block_eigen3(sn_lanes values[SN_GROUPS][3], sn_lanes3 V[SN_GROUPS],
                               const sn_lanes_sym3 A[SN_GROUPS]) {
    sn_lanes_spectrum e[SN_GROUPS];
    sn_block_spectrum(e, A);
    for (int g = 0; g < SN_GROUPS; g++) {
        sn_lanes_eigenvectors(values[g], &V[g], &e[g]);
    }
}

#endif
