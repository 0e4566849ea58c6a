// 3x3 matrices by value, m[row][column]; as nine numbers they are stored row by row.
#ifndef SN_MATH_MAT3_H
#define SN_MATH_MAT3_H

#include "math/vec.h"

typedef struct sn_mat3 {
    double m[3][3];
} sn_mat3;

static inline sn_mat3 sn_mat3_identity(void) {
    return (sn_mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}

static inline sn_mat3 sn_mat3_columns(sn_vec3 a, sn_vec3 b, sn_vec3 c) {
    return (sn_mat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}

static inline sn_vec3 sn_mat3_column(sn_mat3 A, int j) {
    return (sn_vec3){A.m[0][j], A.m[1][j], A.m[2][j]};
}

static inline sn_mat3 sn_mat3_add(sn_mat3 A, sn_mat3 B) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A.m[i][j] += B.m[i][j];
        }
    }
    return A;
}

static inline sn_mat3 sn_mat3_sub(sn_mat3 A, sn_mat3 B) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A.m[i][j] -= B.m[i][j];
        }
    }
    return A;
}

static inline sn_mat3 sn_mat3_scale(double s, sn_mat3 A) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A.m[i][j] *= s;
        }
    }
    return A;
}

static inline sn_mat3 sn_mat3_mul(sn_mat3 A, sn_mat3 B) {
    sn_mat3 C;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C.m[i][j] = A.m[i][0] * B.m[0][j] + A.m[i][1] * B.m[1][j] + A.m[i][2] * B.m[2][j];
        }
    }

    return C;
}

static inline sn_mat3 sn_mat3_transpose(sn_mat3 A) {
    return (sn_mat3){{{A.m[0][0], A.m[1][0], A.m[2][0]},
                      {A.m[0][1], A.m[1][1], A.m[2][1]},
                      {A.m[0][2], A.m[1][2], A.m[2][2]}}};
}

static inline sn_vec3 sn_mat3_apply(sn_mat3 A, sn_vec3 v) {
    return (sn_vec3){A.m[0][0] * v.x + A.m[0][1] * v.y + A.m[0][2] * v.z,
                     A.m[1][0] * v.x + A.m[1][1] * v.y + A.m[1][2] * v.z,
                     A.m[2][0] * v.x + A.m[2][1] * v.y + A.m[2][2] * v.z};
}

// A' v
static inline sn_vec3 sn_mat3_apply_transposed(sn_mat3 A, sn_vec3 v) {
    return (sn_vec3){A.m[0][0] * v.x + A.m[1][0] * v.y + A.m[2][0] * v.z,
                     A.m[0][1] * v.x + A.m[1][1] * v.y + A.m[2][1] * v.z,
                     A.m[0][2] * v.x + A.m[1][2] * v.y + A.m[2][2] * v.z};
}

static inline sn_mat3 sn_outer(sn_vec3 a, sn_vec3 b) {
    return (sn_mat3){{{a.x * b.x, a.x * b.y, a.x * b.z},
                      {a.y * b.x, a.y * b.y, a.y * b.z},
                      {a.z * b.x, a.z * b.y, a.z * b.z}}};
}

// [a]x, so that [a]x b = a x b
static inline sn_mat3 sn_cross_matrix(sn_vec3 a) {
    return (sn_mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}

static inline double sn_mat3_trace(sn_mat3 A) {
    return A.m[0][0] + A.m[1][1] + A.m[2][2];
}

// A : B
static inline double sn_mat3_contract(sn_mat3 A, sn_mat3 B) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            sum += A.m[i][j] * B.m[i][j];
        }
    }

    return sum;
}

static inline double sn_mat3_norm(sn_mat3 A) {
    return sqrt(sn_mat3_contract(A, A));
}

// det(A) A^-T, the derivative of the determinant; no division.
static inline sn_mat3 sn_mat3_cofactor(sn_mat3 A) {
    sn_vec3 a = sn_mat3_column(A, 0);
    sn_vec3 b = sn_mat3_column(A, 1);
    sn_vec3 c = sn_mat3_column(A, 2);
    return sn_mat3_columns(sn_cross(b, c), sn_cross(c, a), sn_cross(a, b));
}

static inline double sn_mat3_det(sn_mat3 A) {
    return sn_dot(sn_mat3_column(A, 0), sn_cross(sn_mat3_column(A, 1), sn_mat3_column(A, 2)));
}

// The inverse of a matrix that is known to be regular.
static inline sn_mat3 sn_mat3_inverse(sn_mat3 A) {
    return sn_mat3_scale(1 / sn_mat3_det(A), sn_mat3_transpose(sn_mat3_cofactor(A)));
}

// A rotation that takes the z axis to the unit vector n, by its columns (Duff et al. 2017).
static inline sn_mat3 sn_mat3_basis(sn_vec3 n) {
    double sign = copysign(1.0, n.z);
    double a = -1 / (sign + n.z);
    double b = n.x * n.y * a;
    return sn_mat3_columns(sn_v3(1 + sign * n.x * n.x * a, sign * b, -sign * n.x),
                           sn_v3(b, sign + n.y * n.y * a, -n.y), n);
}

#endif
