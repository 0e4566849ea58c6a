// Eigenvalues of symmetric 3x3 matrices in lanes, A = V diag(values) V', without iteration over the matrix.
//
// With q = tr(A)/3 and p^2 = |A - q I|^2/6, C = (A - q I)/p has the eigenvalues 2 cos(phi + 2 pi k/3), cos(3 phi) = det(C)/2 =
// r (Smith 1961). The one whose sign is that of r lies at least sqrt(3) from the other two, so it and its eigenvector (a
// column of the adjugate of C - y I) are found to full accuracy; the others are those of the 2x2 matrix that is left in the
// plane across it. Accurate to a few ulp of |A| for every A, repeated eigenvalues included; V is orthonormal to a few ulp.
#ifndef SN_MATH_LANES_EIGEN_H
#define SN_MATH_LANES_EIGEN_H

#include "math/lanes_mat3.h"

// 2 cos(acos(r)/3) for r in [0, 1]: the root y in [sqrt(3), 2] of y^3 - 3 y = 2 r, by Newton's method from a cubic fit within
// 1e-4.
SN_INLINE sn_lanes sn_lanes_trisected(sn_lanes r) {
    sn_lanes y = 1.73213266 + r * (0.33066070 + r * (-0.08138239 + r * 0.01863937));
    for (int iteration = 0; iteration < 2; iteration++) {
        sn_lanes square = y * y;
        y = y - ((square - 3.0) * y - 2.0 * r) / (3.0 * square - 3.0);
    }
    return y;
}

// The column of a symmetric matrix of rank one that belongs to its largest diagonal entry, as a unit vector.
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
    for (int i = 0; i < 3; i++) v[i] *= inverse;
}

// Two unit vectors that complete the unit vector n to a right-handed basis (u, w, n) (Duff et al. 2017).
SN_INLINE void sn_lanes_complete_basis(sn_lanes u[3], sn_lanes w[3], const sn_lanes n[3]) {
    sn_lanes sign = sn_lanes_copysign(sn_lanes_all(1), n[2]);
    sn_lanes a = -1.0 / (sign + n[2]), b = n[0] * n[1] * a;
    u[0] = 1.0 + sign * n[0] * n[0] * a;
    u[1] = sign * b;
    u[2] = -sign * n[0];
    w[0] = b;
    w[1] = sign + n[1] * n[1] * a;
    w[2] = -n[1];
}

SN_INLINE sn_lanes sn_lanes_sym3_form(const sn_lanes_sym3 *A, const sn_lanes a[3], const sn_lanes b[3]) {
    return a[0] * (A->xx * b[0] + A->xy * b[1] + A->xz * b[2]) + a[1] * (A->xy * b[0] + A->yy * b[1] + A->yz * b[2]) +
           a[2] * (A->xz * b[0] + A->yz * b[1] + A->zz * b[2]);
}

// What passes from stage to stage: A = q I + p C; C v = single v; (u, w, v) is a basis, in whose first two axes C is
// [mean + half, cross; cross, mean - half], with the eigenvalues mean +- h.
typedef struct sn_lanes_eigen {
    sn_lanes q, p, r, single, mean, half, cross, h, inverse_h;
    sn_lanes_sym3 C;
    sn_lanes v[3], u[3], w[3];
} sn_lanes_eigen;

SN_INLINE void sn_lanes_eigen_normalize(sn_lanes_eigen *e, const sn_lanes_sym3 *A) {
    sn_lanes q = (A->xx + A->yy + A->zz) * (1.0 / 3);
    sn_lanes x = A->xx - q, y = A->yy - q, z = A->zz - q;
    sn_lanes p = sn_lanes_sqrt((x * x + y * y + z * z + 2.0 * (A->xy * A->xy + A->xz * A->xz + A->yz * A->yz)) * (1.0 / 6));
    // A multiple of I (p = 0): every basis is right, and C = 0 leads to one of them.
    sn_lanes scale = sn_select((sn_mask)(p > 0x1p-500), 1.0 / p, sn_lanes_all(0));
    e->q = q;
    e->p = p;
    e->C = (sn_lanes_sym3){x * scale, A->xy * scale, A->xz * scale, y * scale, A->yz * scale, z * scale};
}

SN_INLINE void sn_lanes_eigen_single(sn_lanes_eigen *e) {
    sn_lanes_sym3 C = e->C;
    e->r =
        0.5 * (C.xx * (C.yy * C.zz - C.yz * C.yz) + C.xy * (C.xz * C.yz - C.xy * C.zz) + C.xz * (C.xy * C.yz - C.xz * C.yy));
    e->single = sn_lanes_copysign(sn_lanes_trisected(sn_lanes_min(sn_lanes_abs(e->r), sn_lanes_all(1))), e->r);
}

SN_INLINE void sn_lanes_eigen_axes(sn_lanes_eigen *e) {
    sn_lanes_sym3 shifted = e->C;
    shifted.xx -= e->single;
    shifted.yy -= e->single;
    shifted.zz -= e->single;
    sn_lanes_sym3 adjugate = sn_lanes_sym3_adjugate(&shifted);
    sn_lanes_rank_one_axis(e->v, &adjugate);
    sn_lanes_complete_basis(e->u, e->w, e->v);
}

SN_INLINE void sn_lanes_eigen_pair(sn_lanes_eigen *e) {
    sn_lanes uu = sn_lanes_sym3_form(&e->C, e->u, e->u), ww = sn_lanes_sym3_form(&e->C, e->w, e->w);
    e->cross = sn_lanes_sym3_form(&e->C, e->u, e->w);
    e->mean = 0.5 * (uu + ww);
    e->half = 0.5 * (uu - ww);
    e->h = sn_lanes_sqrt(e->half * e->half + e->cross * e->cross);
    e->inverse_h = 1.0 / sn_lanes_max(e->h, sn_lanes_all(0x1p-500));
}

// The decomposition of a block of matrices, for the functions below.
SN_INLINE void sn_block_eigen(sn_lanes_eigen e[SN_GROUPS], const sn_lanes_sym3 A[SN_GROUPS]) {
    for (int g = 0; g < SN_GROUPS; g++) sn_lanes_eigen_normalize(&e[g], &A[g]);
    for (int g = 0; g < SN_GROUPS; g++) sn_lanes_eigen_single(&e[g]);
    for (int g = 0; g < SN_GROUPS; g++) sn_lanes_eigen_axes(&e[g]);
    for (int g = 0; g < SN_GROUPS; g++) sn_lanes_eigen_pair(&e[g]);
}

// The eigenvalues in the order of the decomposition, which is not that of their size ...
SN_INLINE void sn_lanes_eigen_values(sn_lanes values[3], const sn_lanes_eigen *e) {
    values[0] = e->q + e->p * e->single;
    values[1] = e->q + e->p * (e->mean + e->h);
    values[2] = e->q + e->p * (e->mean - e->h);
}

// ... and the matrix that has the same eigenvectors and other eigenvalues, given in that order: a function of a matrix.
SN_INLINE sn_lanes_sym3 sn_lanes_eigen_compose(const sn_lanes_eigen *e, const sn_lanes values[3]) {
    sn_lanes mean = 0.5 * (values[1] + values[2]), slope = 0.5 * (values[1] - values[2]) * e->inverse_h;
    sn_lanes uu = slope * e->half, uw = slope * e->cross, vv = values[0] - mean;
    const sn_lanes *u = e->u, *w = e->w, *v = e->v;
    // mean I + vv v v' + [u w] [uu uw; uw -uu] [u w]'
    sn_lanes a[3], b[3], c[3];
    for (int i = 0; i < 3; i++) {
        a[i] = uu * u[i] + uw * w[i];
        b[i] = uw * u[i] - uu * w[i];
        c[i] = vv * v[i];
    }
#define SN_COMPOSE(i, j) (a[i] * u[j] + b[i] * w[j] + c[i] * v[j])
    return (sn_lanes_sym3){mean + SN_COMPOSE(0, 0), SN_COMPOSE(0, 1), SN_COMPOSE(0, 2),
                           mean + SN_COMPOSE(1, 1), SN_COMPOSE(1, 2), mean + SN_COMPOSE(2, 2)};
#undef SN_COMPOSE
}

// Decreasing eigenvalues, and their eigenvectors in the columns of V, det V = +1.
SN_INLINE void sn_lanes_eigen_vectors(sn_lanes values[3], sn_lanes3 *V, const sn_lanes_eigen *e) {
    // cos 2t = half/h, sin 2t = cross/h
    sn_lanes large = sn_lanes_sqrt(0.5 + 0.5 * sn_lanes_abs(e->half) * e->inverse_h);
    sn_lanes small = 0.5 * e->cross * e->inverse_h / large;
    sn_mask first = (sn_mask)(e->half >= 0.0);
    sn_lanes cosine = sn_select(first, large, small), sine = sn_select(first, small, large);
    sn_mask largest = (sn_mask)(e->r >= 0.0);
    sn_lanes plus = e->mean + e->h, minus = e->mean - e->h;
    values[0] = e->q + e->p * sn_select(largest, e->single, plus);
    values[1] = e->q + e->p * sn_select(largest, plus, minus);
    values[2] = e->q + e->p * sn_select(largest, minus, e->single);
    for (int i = 0; i < 3; i++) {
        sn_lanes e1 = cosine * e->u[i] + sine * e->w[i], e2 = cosine * e->w[i] - sine * e->u[i];
        // (e1, e2, v) and (v, e1, e2) are both right-handed.
        V->m[i][0] = sn_select(largest, e->v[i], e1);
        V->m[i][1] = sn_select(largest, e1, e2);
        V->m[i][2] = sn_select(largest, e2, e->v[i]);
    }
}

SN_INLINE void sn_block_eigen3(sn_lanes values[SN_GROUPS][3], sn_lanes3 V[SN_GROUPS], const sn_lanes_sym3 A[SN_GROUPS]) {
    sn_lanes_eigen e[SN_GROUPS];
    sn_block_eigen(e, A);
    for (int g = 0; g < SN_GROUPS; g++) sn_lanes_eigen_vectors(values[g], &V[g], &e[g]);
}

#endif
