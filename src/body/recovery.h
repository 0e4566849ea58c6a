// Recovery from a largely inverted state that was set from outside: mirrored, flattened, collapsed
// or random positions.
//
// An energy that is a sum over elements has tangled states as local minima: the elements around an
// interior edge may wind around it twice although none of them is inverted, and no elastic force
// undoes that. While a body recovers, its materials are therefore replaced by
//
//   W = sum_s V_s k/2 |F_s - R|^2,
//
// where R is the rotation nearest to the volume average of F at the start of the step, and k is the
// mean diagonal entry of the material's tangent at rest. This energy is convex in the positions,
// and its only minimum is the rest shape rotated by R. Because R is a polar rotation, the energy
// exerts no torque on a free body.
//
// Recovery ends when |F - R| < 1 at every sample (a rotation of less than 41 degrees relative to
// R): the elements around an edge then wind around it only once.
#ifndef SN_BODY_RECOVERY_H
#define SN_BODY_RECOVERY_H

#include "body/sample_groups.h"

// R. For bodies of triangles it is a rotation within their plane.
sn_mat3 sn_recovery_rotation(const sn_sample_groups *groups, const double *controls);

// k of a group [Pa].
double sn_recovery_stiffness(const sn_sample_group *group);

// Computes psi, P and H of a block, as selected by `want`.
void sn_recovery_evaluate(double k, const sn_mat3 *R, int want, const double *F,
                          const sn_material_result *out);

typedef struct sn_recovery_state {
    double inverted;  // fraction of the rest volume that is inverted or flat
    double deviation; // largest |F - R|
} sn_recovery_state;

sn_recovery_state sn_recovery_measure(const sn_sample_groups *groups, const double *controls);

#endif
