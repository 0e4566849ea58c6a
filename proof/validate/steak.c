// A T-bone steak of three frames (Gilles et al. 2013, figure 1.10): the bone stays rigid, and
// pulling one side of the meat does not move the other. With weights by straight distance both
// fail.
#include "points.h"
#include "validate/validate.h"

#include "specimen.h"

#include "base/context.h"
#include "math/vec.h"

#include <math.h>

enum { VOXELS = 20000, VOXELS_QUICK = 6000 };

typedef struct steak_result {
    double left, right; // displacement of the sides [m]
    double meat, bone;  // stretch of the pulled side and of the bone [-]
} steak_result;

static sinew_status displacement(const rig_specimen *m, sn_vec3 rest, sn_vec3 *u) {
    double X[3], x[3];
    sn_store3(X, rest);
    SN_TRY(proof_get_position(m->body, X, x));
    *u = sn_sub(sn_load3(x), rest);
    return SINEW_OK;
}

static sinew_status stretch(const rig_specimen *m, sn_vec3 a, sn_vec3 b, double *strain) {
    sn_vec3 ua, ub;
    sn_vec3 d = sn_sub(b, a);
    SN_TRY(displacement(m, a, &ua));
    SN_TRY(displacement(m, b, &ub));
    *strain = fmax(*strain, fabs(sn_length(sn_add(d, sn_sub(ub, ua))) / sn_length(d) - 1));
    return SINEW_OK;
}

static sinew_status measure(const rig_specimen *m, steak_result *result) {
    sn_vec3 left, right;
    SN_TRY(displacement(m, sn_v3(-0.08, 0, 0), &left));
    SN_TRY(displacement(m, sn_v3(0.08, 0, 0), &right));
    *result = (steak_result){.left = sn_length(left), .right = sn_length(right)};
    SN_TRY(stretch(m, sn_v3(-0.09, 0, 0), sn_v3(-0.03, 0, 0), &result->meat));
    SN_TRY(stretch(m, sn_v3(0, -0.06, 0), sn_v3(0, 0.05, 0), &result->bone));

    return stretch(m, sn_v3(-0.045, 0.06, 0), sn_v3(0.045, 0.06, 0.005), &result->bone);
}

// The first frame, that of the bone, is held; a force pulls the left side.
static sinew_status pull(validate_run *v, sinew_metric metric, steak_result *result) {
    rig_specimen m;
    sinew_status status = rig_specimen_prepare(v->context, SINEW_SPECIMEN_STEAK,
                                               v->quick ? VOXELS_QUICK : VOXELS, &m);

    m.def.placement.count = 3;
    m.def.weights.metric = metric;

    // At the side that is farthest from the bone.
    const double point[3] = {-0.08, 0, 0};
    const double force[3] = {-8, -3, 1};
    sinew_static_def statics = sinew_default_static_def();

    // Make it, hold it, pull it.
    if (status == SINEW_OK) {
        status = rig_specimen_create(&m, NULL);
    }
    if (status == SINEW_OK) {
        status = sinew_frame_body_hold(m.body, 0, SINEW_HOLD_ALL);
    }
    if (status == SINEW_OK) {
        status = proof_add_force(m.body, point, force);
    }
    if (status == SINEW_OK) {
        status = sinew_world_solve_static(m.world, &statics, NULL);
    }
    if (status == SINEW_OK) {
        status = measure(&m, result);
    }

    rig_specimen_destroy(&m);
    return status;
}

sinew_status validate_steak(validate_run *v) {
    steak_result compliance, straight;
    SN_TRY(pull(v, SINEW_METRIC_COMPLIANCE, &compliance));
    SN_TRY(pull(v, SINEW_METRIC_EUCLIDEAN, &straight));
    validate_at_most(
        v, "steak of 3 frames, one side pulled: stretch of the bone over that of the meat", 1e-6,
        compliance.bone / compliance.meat, "-");
    validate_note(v, "the meat stretches by %.3g", compliance.meat);
    validate_at_most(v,
                     "steak of 3 frames, one side pulled: displacement of the other side over that "
                     "of the pulled one",
                     1e-9, compliance.right / compliance.left, "-");
    validate_note(v, "the pulled side moves by %.3g m", compliance.left);
    validate_at_least(
        v, "the same with weights by straight distance: displacement of the other side (wrong)",
        0.1, straight.right / straight.left, "-");
    validate_note(v, "the bone is stretched by %.2g of the meat's stretch",
                  straight.bone / straight.meat);

    return SINEW_OK;
}
