// Precomputed springs between rigid frames (Gilles et al. 2011, 4.3): the stiffness of a frame body
// at rest, stored as one joint for each pair of frames, so that the cost of a step depends on the
// pairs and not on the samples.
//
// In: the samples' stiffness at rest. Out: energy, forces and stiffness at any configuration.
//
// The joint of frames i and j lies half-way between them. As each frame carries its own copy of the
// joint, the copies separate by a rotation phi and a translation u, seen from the orientation R_m
// half-way between R_i and R_j:
//
//   phi = log(R_i' R_j),   u = R_m' d,   d = (t_j + r_j) - (t_i + r_i),   r_i = R_i l_i
//   W   = 1/2 (phi, u)' K (phi, u)
//
// K = -sym(D(-l_i)' Kbar_ij D(-l_j)), where Kbar is the stiffness df/dq of the samples at rest.
// Forces are the exact gradient of W. A rigid motion does not change W, so linear and angular
// momentum are conserved. The stiffness is J'KJ with J = d(phi, u), which is exact at rest. For two
// frames K is symmetric and the springs' stiffness at rest is Kbar; with more frames the skew part
// is lost, and the difference is reported.
//
// With more than two frames K of a pair may be indefinite although the sum over all pairs is not.
// Once the frames rotate against each other the sum loses its balance, and a W that is quadratic
// would fall without a bound. So K = K+ - sum_k e_k e_k' is split by its eigenvalues, and the
// negative part is bounded:
//
//   W = 1/2 y'K+ y - sum_k b(e_k'y),   y = (phi, u),   b(s) = s^2 / 2 / (1 + s^2 / s_k^2)
//
// which is the same to second order. s_k belongs to a rotation by one radian, or a gap as long as
// the distance of the frames; in these units the eigenvalues are taken.
#ifndef SN_FRAME_SPRINGS_SPRINGS_H
#define SN_FRAME_SPRINGS_SPRINGS_H

#include "base/isa.h"
#include "frame/blend/blend.h"
#include "linalg/bsr.h"
#include "math/mat3.h"

// The blocks of a joint's stiffness, lower triangle, in the order (rotation i, translation i,
// rotation j, translation j).
enum { SN_SPRING_BLOCKS = 10 };

// A direction in which K is negative: s = rotation . phi + translation . u.
typedef struct sn_spring_weakness {
    sn_vec3 rotation, translation; // e_k
    double inverse_limit;          // 1 / s_k^2
} sn_spring_weakness;

// Blocks of a stiffness: rotations, rotations with translations, translations.
typedef struct sn_spring_stiffness {
    sn_mat3 P, Q, U;
} sn_spring_stiffness;

typedef struct sn_spring {
    int32_t i, j; // i < j
    sn_vec3 li, lj;
    sn_spring_stiffness strong; // K+
    int32_t weak_count;
    sn_spring_weakness weak[6];
    int32_t slot[SN_SPRING_BLOCKS]; // in the body's pattern
} sn_spring;

typedef struct sn_springs sn_springs;

typedef struct sn_springs_request {
    const double *q;
    bool projected;
    double *force, *matrix; // NULL if not wanted
} sn_springs_request;

// Adds forces and stiffness; returns the energy.
typedef double sn_springs_fn(const sn_nodes *nodes, const sn_springs *springs,
                             const sn_springs_request *request);
SN_ISA_DECLARE(double, sn_springs_evaluate,
               (const sn_nodes *nodes, const sn_springs *springs,
                const sn_springs_request *request));

struct sn_springs {
    sn_springs_fn *evaluate; // for this machine
    int32_t count;
    sn_spring *items;
    double difference; // of the stiffness at rest to the samples', relative, in the Frobenius norm
    bool clamped;      // K+ alone, because the sum of all K is indefinite at rest
};

// Finds the pairs that the pattern couples, and computes their joints from the samples' stiffness
// -df/dq at rest (lower triangle). All nodes are rigid.
sinew_status sn_springs_create(sn_arena *arena, const sn_nodes *nodes, const sn_bsr *pattern,
                               const double *stiffness, sn_springs **springs);

// Computes the joints again, from another stiffness on the same pattern. Needs scratch memory.
sinew_status sn_springs_compute(sinew_context *context, const sn_nodes *nodes,
                                const sn_bsr *pattern, const double *stiffness,
                                sn_springs *springs);

#endif
