// Blending loops of a skin. Linear: vertex by vertex, the columns of its matrix in quads. Dual
// quaternions: the sums in quads, then SN_BLOCK vertices at once in lanes for the square root and
// the divisions.
#include "skeleton/skin.h"

#include "math/quad.h"

void SN_ISA_NAME(sn_skin_linear)(const sn_skin_job *job, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        const int32_t *joints = job->joints + (size_t)i * SN_INFLUENCES;
        const double *weights = job->weights + (size_t)i * SN_INFLUENCES;
        const double *X = sn_at3(job->rest, i);
        sn_quad column[4];

        for (int c = 0; c < 4; c++) {
            column[c] = sn_quad_all(0);
        }

        // The blended matrix, then its product with X.
        for (int k = 0; k < SN_INFLUENCES; k++) {
            const double *A = job->transforms + (size_t)joints[k] * SN_SKIN_COLUMNS;
            for (int c = 0; c < 4; c++) {
                column[c] =
                    sn_quad_fma(sn_quad_all(weights[k]), sn_quad_load(A + 4 * c), column[c]);
            }
        }

        sn_quad x = column[3];
        for (int c = 0; c < 3; c++) {
            x = sn_quad_fma(sn_quad_all(X[c]), column[c], x);
        }

        sn_quad_store3(sn_at3(job->positions, i), x);
    }
}

// The blended dual quaternion of one vertex, into lane `lane` of `sums` [8][SN_BLOCK].
SN_INLINE void blend(double *sums, int lane, const sn_skin_job *job, int32_t vertex) {
    const int32_t *joints = job->joints + (size_t)vertex * SN_INFLUENCES;
    const double *weights = job->weights + (size_t)vertex * SN_INFLUENCES;
    const double *first = job->transforms + (size_t)joints[0] * SN_SKIN_DUAL;
    sn_quad pivot = sn_quad_load(first);
    sn_quad real = sn_quad_all(0);
    sn_quad dual = sn_quad_all(0);

    for (int k = 0; k < SN_INFLUENCES; k++) {
        const double *q = job->transforms + (size_t)joints[k] * SN_SKIN_DUAL;
        sn_quad own = sn_quad_load(q);
        sn_quad weight =
            sn_quad_all(sn_quad_sum(sn_quad_mul(pivot, own)) < 0 ? -weights[k] : weights[k]);
        real = sn_quad_fma(weight, own, real);
        dual = sn_quad_fma(weight, sn_quad_load(q + 4), dual);
    }

    double numbers[SN_SKIN_DUAL] SN_ALIGNED;
    sn_quad_store(numbers, real);
    sn_quad_store(numbers + 4, dual);

    for (int c = 0; c < SN_SKIN_DUAL; c++) {
        sums[c * SN_BLOCK + lane] = numbers[c];
    }
}

// x = X + 2 u x (u x X + w X) + 2 (w ue - we u + u x ue), with the real part (u, w) and the dual
// part (ue, we) over |real|.
SN_INLINE void move(double *X, const double *sums, int lane) {
    sn_lanes q[SN_SKIN_DUAL], x[3];
    sn_lanes square = sn_lanes_all(1e-300);
    for (int c = 0; c < SN_SKIN_DUAL; c++) {
        q[c] = sn_lanes_load(sums + c * SN_BLOCK + lane);
    }

    for (int c = 0; c < 3; c++) {
        x[c] = sn_lanes_load(X + c * SN_BLOCK + lane);
    }

    for (int c = 0; c < 4; c++) {
        square += q[c] * q[c];
    }

    sn_lanes inverse = 1.0 / sn_lanes_sqrt(square);
    for (int c = 0; c < SN_SKIN_DUAL; c++) {
        q[c] *= inverse;
    }

    for (int c = 0; c < 3; c++) {
        int d = (c + 1) % 3;
        int e = (c + 2) % 3;

        // y = u x X + w X, in the two components that this one needs.
        sn_lanes y_d = q[e] * x[c] - q[c] * x[e] + q[3] * x[d];
        sn_lanes y_e = q[c] * x[d] - q[d] * x[c] + q[3] * x[e];
        sn_lanes t = q[3] * q[4 + c] - q[7] * q[c] + q[d] * q[4 + e] - q[e] * q[4 + d];
        sn_lanes_store(X + (3 + c) * SN_BLOCK + lane, x[c] + 2.0 * (q[d] * y_e - q[e] * y_d + t));
    }
}

void SN_ISA_NAME(sn_skin_dual)(const sn_skin_job *job, int32_t begin, int32_t end) {
    double sums[SN_SKIN_DUAL * SN_BLOCK] SN_ALIGNED = {0}, X[6 * SN_BLOCK] SN_ALIGNED = {0};
    for (int32_t i = begin; i < end; i += SN_BLOCK) {
        int count = end - i < SN_BLOCK ? (int)(end - i) : SN_BLOCK;
        for (int l = 0; l < count; l++) {
            blend(sums, l, job, i + l);
            for (int c = 0; c < 3; c++) {
                X[c * SN_BLOCK + l] = job->rest[3 * (size_t)(i + l) + (size_t)c];
            }
        }

        for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
            move(X, sums, lane);
        }

        for (int l = 0; l < count; l++) {
            for (int c = 0; c < 3; c++) {
                job->positions[3 * (size_t)(i + l) + (size_t)c] = X[(3 + c) * SN_BLOCK + l];
            }
        }
    }
}
