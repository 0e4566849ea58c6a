// Joints as sets of attachments.
//
// A hinge holds together two points of its axis, a fixed joint three points of an equilateral
// triangle about the position; a hard one thus has more constraints than the motion that it takes
// away, which links allow (link.h). Force and torque are the sums of those of the attachments, so
// momentum is kept as by attachments.
#include "dynamics/rigid_joint.h"

#include "sinew/rigid_joint.h"
#include "sinew/point.h"

#include <math.h>

enum { FIXED_POINTS = 3 };

struct sinew_rigid_joint {
    sn_arena arena; // holds this struct and the lists of the arms
    sinew_attachment *attachments[FIXED_POINTS];
    int32_t count;
    sinew_rigid_joint_kind kind;
    sn_anchor arms[2]; // of a hinge: a point beside the axis, on the body and on the target
};

sinew_rigid_joint_def sinew_default_rigid_joint_def(void) {
    return (sinew_rigid_joint_def){.axis = {0, 0, 1}, .filled = SN_DEF_FILLED};
}

static sinew_status check_def(sinew_world *world, const sinew_rigid_joint_def *def) {
    sinew_context *context = world->context;
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_rigid_joint_def"));
    if ((int)def->kind < 0 || def->kind > SINEW_RIGID_JOINT_HINGE) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "the kind of joint is %d; valid are 0 to 1",
                       (int)def->kind);
    }

    // Bodies.
    if (!def->body) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a joint needs a body");
    }
    if (def->body == def->target) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "body \"%s\" cannot be joined to itself; a joint holds two bodies",
                       def->body->name);
    }

    // Geometry.
    if (!sn_finite3(sn_load3(def->position))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the position of a joint is (%g, %g, %g) m; it must be finite",
                       def->position[0], def->position[1], def->position[2]);
    }
    double length = sn_length(sn_load3(def->axis));
    if (def->kind == SINEW_RIGID_JOINT_HINGE && !(length > 1e-12 && isfinite(length))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the axis of a hinge is (%g, %g, %g); it must be finite and not zero",
                       def->axis[0], def->axis[1], def->axis[2]);
    }
    if (!(def->reach >= 0 && isfinite(def->reach))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the reach of a joint is %g m; it must be finite and not negative",
                       def->reach);
    }

    return SINEW_OK;
}

// Ties the points of both bodies that are at x now.
static sinew_status tie(sinew_world *world, const sinew_rigid_joint_def *def, sn_vec3 x,
                        sinew_rigid_joint *joint) {
    sinew_point *point;
    double at[3];
    sinew_attachment_def attachment = sinew_default_attachment_def();
    sn_store3(at, x);
    SN_TRY(sinew_point_create_at(def->body, at, &point));
    sinew_point_get_rest(point, attachment.rest);
    sinew_point_destroy(point);

    attachment.body = def->body;
    attachment.target = def->target;
    attachment.stiffness = def->stiffness;
    sinew_attachment **made = &joint->attachments[joint->count];
    SN_TRY(sinew_world_attach(world, &attachment, made));
    (*made)->joint = joint;
    joint->count++;
    return SINEW_OK;
}

static sinew_status make_arm(sn_arena *arena, sinew_body *body, sn_vec3 x, sn_anchor *arm) {
    arm->body = body;
    arm->point.x = x;
    return body ? body->ops->points.create(arena, body, x, true, &arm->point) : SINEW_OK;
}

static sinew_status build(sinew_world *world, const sinew_rigid_joint_def *def,
                          sinew_rigid_joint *joint) {
    sn_vec3 center = sn_load3(def->position);
    sn_vec3 axis =
        def->kind == SINEW_RIGID_JOINT_HINGE ? sn_normalize(sn_load3(def->axis)) : sn_v3(0, 0, 1);
    double reach = def->reach > 0 ? def->reach : 0.5 * cbrt(def->body->rest_volume);
    sn_mat3 basis = sn_mat3_basis(axis);
    joint->kind = def->kind;

    if (def->kind == SINEW_RIGID_JOINT_HINGE) {
        SN_TRY(tie(world, def, sn_madd(center, reach, axis), joint));
        SN_TRY(tie(world, def, sn_madd(center, -reach, axis), joint));
        sn_vec3 beside = sn_madd(center, reach, sn_mat3_column(basis, 0));
        SN_TRY(make_arm(&joint->arena, def->body, beside, &joint->arms[0]));
        return make_arm(&joint->arena, def->target, beside, &joint->arms[1]);
    }

    for (int k = 0; k < FIXED_POINTS; k++) {
        double angle = 2 * acos(-1) * k / FIXED_POINTS;
        sn_vec3 side = sn_add(sn_scale(cos(angle), sn_mat3_column(basis, 0)),
                              sn_scale(sin(angle), sn_mat3_column(basis, 1)));
        SN_TRY(tie(world, def, sn_madd(center, reach, side), joint));
    }
    return SINEW_OK;
}

static void release(sinew_rigid_joint *joint) {
    sn_arena arena = joint->arena; // the joint lives in it
    sn_arena_destroy(&arena);
}

sinew_status sinew_rigid_joint_create(sinew_world *world, const sinew_rigid_joint_def *def,
                                      sinew_rigid_joint **out) {
    SN_TRY(check_def(world, def));
    sn_arena arena = sn_arena_create(world->context);
    sinew_rigid_joint *joint = SN_PUSH(&arena, sinew_rigid_joint, 1);
    if (!joint) {
        sn_arena_destroy(&arena);
        return SINEW_OUT_OF_MEMORY;
    }

    joint->arena = arena;
    sinew_status status = build(world, def, joint);
    if (status != SINEW_OK && joint->count == 0) {
        release(joint);
    } else if (status != SINEW_OK) {
        sinew_rigid_joint_destroy(joint);
    } else if (out) {
        *out = joint;
    }
    return status;
}

void sn_rigid_joint_forget(sinew_rigid_joint *joint, const sinew_attachment *attachment) {
    for (int32_t i = 0; i < joint->count; i++) {
        if (joint->attachments[i] == attachment) {
            joint->attachments[i] = joint->attachments[--joint->count];
            break;
        }
    }
    if (joint->count == 0) {
        release(joint);
    }
}

void sinew_rigid_joint_destroy(sinew_rigid_joint *joint) {
    int32_t count = joint ? joint->count : 0;
    sinew_attachment *last[FIXED_POINTS];
    for (int32_t i = 0; i < count; i++) {
        last[i] = joint->attachments[i];
    }
    for (int32_t i = 0; i < count; i++) { // the joint goes with the last of them
        sinew_attachment_destroy(last[i]);
    }
}

void sinew_rigid_joint_get_position(sinew_rigid_joint *joint, double position[3], double *gap) {
    sn_vec3 sum = {0, 0, 0};
    double largest = 0;
    for (int32_t i = 0; i < joint->count; i++) {
        double tied[3], target[3];
        sinew_attachment_get_positions(joint->attachments[i], tied, target);
        sum = sn_add(sum, sn_load3(tied));
        largest = fmax(largest, sn_distance(sn_load3(tied), sn_load3(target)));
    }

    if (position) {
        sn_store3(position, sn_scale(1.0 / joint->count, sum));
    }
    if (gap) {
        *gap = largest;
    }
}

sinew_status sinew_rigid_joint_get_force(sinew_rigid_joint *joint, double force[3],
                                         double torque[3]) {
    double center[3];
    sn_vec3 sum = {0, 0, 0}, moment = {0, 0, 0};
    sinew_rigid_joint_get_position(joint, center, NULL);
    for (int32_t i = 0; i < joint->count; i++) {
        double f[3], tied[3];
        SN_TRY(sinew_attachment_get_force(joint->attachments[i], f));
        sinew_attachment_get_positions(joint->attachments[i], tied, NULL);
        sn_vec3 arm = sn_sub(sn_load3(tied), sn_load3(center));
        sum = sn_add(sum, sn_load3(f));
        moment = sn_add(moment, sn_cross(arm, sn_load3(f)));
    }

    if (force) {
        sn_store3(force, sum);
    }
    if (torque) {
        sn_store3(torque, moment);
    }
    return SINEW_OK;
}

// The part of a vector across the axis.
static sn_vec3 across(sn_vec3 v, sn_vec3 axis) {
    return sn_madd(v, -sn_dot(v, axis), axis);
}

double sinew_rigid_joint_get_angle(sinew_rigid_joint *joint) {
    if (joint->kind != SINEW_RIGID_JOINT_HINGE) {
        return 0;
    }

    double ends[2][3], center[3];
    sinew_attachment_get_positions(joint->attachments[0], ends[0], NULL);
    sinew_attachment_get_positions(joint->attachments[1], ends[1], NULL);
    sinew_rigid_joint_get_position(joint, center, NULL);
    sn_vec3 axis = sn_normalize(sn_sub(sn_load3(ends[0]), sn_load3(ends[1])));

    sn_vec3 arm[2];
    for (int k = 0; k < 2; k++) {
        if (joint->arms[k].body) {
            sn_body_move_point(joint->arms[k].body, &joint->arms[k].point);
        }
        arm[k] = across(sn_sub(joint->arms[k].point.x, sn_load3(center)), axis);
    }
    return atan2(sn_dot(axis, sn_cross(arm[1], arm[0])), sn_dot(arm[0], arm[1]));
}
