// A skin by weights, and the loops that blend (skin_simd.c).
#ifndef SN_SKELETON_SKIN_H
#define SN_SKELETON_SKIN_H

#include "base/isa.h"
#include "base/memory.h"
#include "skeleton/skeleton.h"

enum { SN_INFLUENCES = SINEW_SKIN_INFLUENCES, SN_SKIN_COLUMNS = 16, SN_SKIN_DUAL = 8 };

// The arrays that the loops read and write.
typedef struct sn_skin_job {
    const double *rest;    // x y z of each vertex
    const int32_t *joints; // SN_INFLUENCES for each vertex
    const double *weights; // SN_INFLUENCES for each vertex
    // By joint, M T^-1: SN_SKIN_COLUMNS numbers, the four columns of the matrix, each padded with a
    // zero (linear); or SN_SKIN_DUAL numbers, the real and the dual part x y z w (dual
    // quaternions). Aligned to 32 bytes.
    const double *transforms;
    double *positions;
} sn_skin_job;

// x = (sum_i w_i A_i) X
SN_ISA_DECLARE(void, sn_skin_linear, (const sn_skin_job *job, int32_t begin, int32_t end));

// x = R(b) X + t(b), b = sum_i w_i q_i normalised, the q_i with the sign that agrees with the first
// (Kavan et al. 2008).
SN_ISA_DECLARE(void, sn_skin_dual, (const sn_skin_job *job, int32_t begin, int32_t end));

typedef void sn_skin_fn(const sn_skin_job *job, int32_t begin, int32_t end);

struct sinew_skin {
    sn_arena arena;
    int32_t joint_count, point_count;
    double *rest, *weights;
    int32_t *joints;
    sn_rigid *rest_inverse; // T^-1 of each joint
    double *transforms;     // as in sn_skin_job, written at each call
    sn_skin_fn *linear, *dual;
};

#endif
