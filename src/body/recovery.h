// Leading a body back from a state that was set from outside and is largely inverted: mirrored,
// flattened, collapsed, random.
//
// Every energy that is a sum over elements has tangles for local minima: around an interior edge
// the elements may wind twice, none of them inverted, and no force undoes that. So while a body
// recovers, its materials give way to
//
//   W = sum V k/2 |F - R|^2,    R the rotation nearest to the volume's mean of F at the start of
//   the step,
//
// which is convex in the positions and has the rest shape, turned by R, for its only minimum; R
// being a polar rotation, it exerts no torque on a free body. It ends when every sample is within 1
// of R (turned by less than 41 degrees): the elements around an edge can then wind only once. k is
// the mean diagonal entry of the material's tangent at rest.
#ifndef SN_BODY_RECOVERY_H
#define SN_BODY_RECOVERY_H

#include "body/sample_groups.h"

// R. In the plane of triangles it turns within the plane.
sn_mat3 sn_recovery_rotation(const sn_sample_groups *groups, const double *controls);

// k of a group [Pa].
double sn_recovery_stiffness(const sn_sample_group *group);

// psi, P and H of a block, as far as wanted.
void sn_recovery_evaluate(double k, const sn_mat3 *R, int want, const double *F,
                          const sn_material_result *out);

typedef struct sn_recovery_state {
    double inverted;  // share of the rest volume that is inverted or flat
    double deviation; // largest |F - R|
} sn_recovery_state;

sn_recovery_state sn_recovery_measure(const sn_sample_groups *groups, const double *controls);

#endif
