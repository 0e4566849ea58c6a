// The signed singular value decomposition of a 3x3 matrix by one-sided Jacobi rotations, robust for
// every finite input; see svd.h.
#include "math/svd.h"

#include "base/assert.h"

// Rotates the columns p and q of B = F V, and those of V, so that the columns of B become
// orthogonal. Returns whether they were not orthogonal to rounding error before.
static int orthogonalize(sn_vec3 B[3], sn_vec3 V[3], int p, int q) {
    double a = sn_dot(B[p], B[p]);
    double b = sn_dot(B[q], B[q]);
    double c = sn_dot(B[p], B[q]);
    if (fabs(c) <= 1e-17 * sqrt(a * b)) {
        return 0;
    }

    // The smaller of the two rotations that make the columns orthogonal.
    double zeta = (b - a) / (2 * c);
    double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    double cosine = 1 / sqrt(1 + t * t);
    double sine = cosine * t;
    sn_vec3 Bp = B[p];
    sn_vec3 Vp = V[p];

    B[p] = sn_sub(sn_scale(cosine, Bp), sn_scale(sine, B[q]));
    B[q] = sn_add(sn_scale(sine, Bp), sn_scale(cosine, B[q]));
    V[p] = sn_sub(sn_scale(cosine, Vp), sn_scale(sine, V[q]));
    V[q] = sn_add(sn_scale(sine, Vp), sn_scale(cosine, V[q]));

    return fabs(c) > 1e-16 * sqrt(a * b);
}

// Exchanges two columns with a change of sign, which keeps the determinant.
static void exchange(sn_vec3 columns[3], int p, int q) {
    sn_vec3 column = columns[p];
    columns[p] = columns[q];
    columns[q] = sn_scale(-1, column);
}

// The columns of U from orthogonal columns B of decreasing length, and the singular values; the
// last one carries the sign.
static sn_mat3 left_vectors(double sigma[3], const sn_vec3 B[3]) {
    sn_vec3 u1 = sn_length(B[0]) > 0 ? sn_normalize(B[0]) : sn_v3(1, 0, 0);

    // Remove what rounding has left of u1 in the second column; it would dominate a short column.
    sn_vec3 second = sn_madd(B[1], -sn_dot(B[1], u1), u1);
    sn_vec3 u2 =
        sn_length(second) > 0 ? sn_normalize(second) : sn_mat3_column(sn_mat3_basis(u1), 0);
    sn_vec3 u3 = sn_cross(u1, u2);

    sigma[0] = sn_dot(u1, B[0]);
    sigma[1] = fmax(fmin(sn_dot(u2, B[1]), sigma[0]), 0);
    sigma[2] = fmax(fmin(sn_dot(u3, B[2]), sigma[1]), -sigma[1]);

    return sn_mat3_columns(u1, u2, u3);
}

sn_svd sn_svd3(sn_mat3 F) {
    // Scale by a power of two, which is exact, so that squares neither overflow nor underflow.
    double largest = 0;
    for (int i = 0; i < 9; i++) {
        largest = fmax(largest, fabs(F.m[i / 3][i % 3]));
    }

    int exponent = 0;
    if (largest > 0) {
        frexp(largest, &exponent);
    }

    sn_vec3 B[3];
    sn_vec3 V[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int j = 0; j < 3; j++) {
        B[j] = sn_v3(ldexp(F.m[0][j], -exponent), ldexp(F.m[1][j], -exponent),
                     ldexp(F.m[2][j], -exponent));
    }

    // Make the columns of B = F V orthogonal, pair by pair.
    for (int sweep = 0; sweep < 30; sweep++) {
        int rotated = orthogonalize(B, V, 0, 1);
        rotated |= orthogonalize(B, V, 0, 2);
        rotated |= orthogonalize(B, V, 1, 2);
        if (!rotated) {
            break;
        }
    }

    // Sort them by length.
    for (int p = 0; p < 2; p++) {
        for (int q = p + 1; q < 3; q++) {
            if (sn_dot(B[q], B[q]) <= sn_dot(B[p], B[p])) {
                continue;
            }
            exchange(B, p, q);
            exchange(V, p, q);
        }
    }

    // U, and the scale restored.
    sn_svd svd = {.V = sn_mat3_columns(V[0], V[1], V[2])};
    svd.U = left_vectors(svd.sigma, B);
    for (int i = 0; i < 3; i++) {
        svd.sigma[i] = ldexp(svd.sigma[i], exponent);
    }

    SN_ASSERT(!(svd.sigma[0] < svd.sigma[1]) && !(svd.sigma[1] < fabs(svd.sigma[2])));
    return svd;
}

sn_mat3 sn_polar3(sn_mat3 *S, sn_mat3 F) {
    sn_svd svd = sn_svd3(F);
    sn_mat3 Vt = sn_mat3_transpose(svd.V);
    if (S) {
        sn_mat3 scaled = svd.V;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                scaled.m[i][j] *= svd.sigma[j];
            }
        }

        *S = sn_mat3_mul(scaled, Vt);
    }

    return sn_mat3_mul(svd.U, Vt);
}

sn_vec3 sn_polar_spin3(sn_mat3 R, sn_mat3 S, sn_mat3 F_rate) {
    sn_mat3 A = sn_mat3_mul(sn_mat3_transpose(R), F_rate);
    sn_mat3 N = sn_mat3_sub(sn_mat3_scale(sn_mat3_trace(S), sn_mat3_identity()), S);
    sn_vec3 w = sn_v3(A.m[2][1] - A.m[1][2], A.m[0][2] - A.m[2][0], A.m[1][0] - A.m[0][1]);
    double size = sn_mat3_norm(N);

    if (!(fabs(sn_mat3_det(N)) > 1e-9 * size * size * size)) {
        return sn_v3(0, 0, 0);
    }

    return sn_mat3_apply(R, sn_mat3_apply(sn_mat3_inverse(N), w));
}
