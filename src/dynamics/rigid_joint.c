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
enum { LOWER, UPPER, DRIVE, SPRINGS };

// Stiffness of a bound, in terms of the body's mass over the square of the step.
static const double bound_ratio = 1000;

struct sinew_rigid_joint {
    sn_arena arena; // holds this struct and the lists of the arms
    sinew_attachment *attachments[FIXED_POINTS];
    int32_t count;
    sinew_rigid_joint_kind kind;
    sn_anchor arms[2]; // of a hinge: a point beside the axis, on the body and on the target

    // Rest positions on the target, or positions in the world: the middle of the axis, the arm, and
    // where a quarter of a rotation takes it. What has an angle lies in their plane, so that it
    // depends on nothing but the angle.
    sn_vec3 aim[3];
    bool has_aims;

    // Springs of a hinge between the arm of the body and a point of the target at some angle.
    sinew_attachment *springs[SPRINGS]; // NULL: none
    double bounds[2];                   // of the angle [rad]
    double reach;                       // length of the arms [m]
    sinew_rigid_joint_drive drive;
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

// Finds joint->aim. A soft target may have no point there: it can have no springs then.
static void find_aims(const sinew_rigid_joint_def *def, sn_mat3 basis, sinew_rigid_joint *joint) {
    sn_vec3 center = sn_load3(def->position);
    joint->aim[0] = center;
    joint->aim[1] = sn_madd(center, joint->reach, sn_mat3_column(basis, 0));
    joint->aim[2] = sn_madd(center, joint->reach, sn_mat3_column(basis, 1));
    joint->has_aims = true;
    if (!def->target) {
        return;
    }

    sn_arena scratch = sn_arena_create(def->target->context);
    for (int k = 0; k < 3; k++) {
        sn_anchor aim = {.body = NULL};
        if (make_arm(&scratch, def->target, joint->aim[k], &aim) == SINEW_OK) {
            joint->aim[k] = aim.point.X;
        } else {
            joint->has_aims = false;
        }
    }
    sn_arena_destroy(&scratch);
}

static sinew_status build(sinew_world *world, const sinew_rigid_joint_def *def,
                          sinew_rigid_joint *joint) {
    sn_vec3 center = sn_load3(def->position);
    sn_vec3 axis =
        def->kind == SINEW_RIGID_JOINT_HINGE ? sn_normalize(sn_load3(def->axis)) : sn_v3(0, 0, 1);
    double reach = def->reach > 0 ? def->reach : 0.5 * cbrt(def->body->rest_volume);
    sn_mat3 basis = sn_mat3_basis(axis);
    joint->kind = def->kind;
    joint->reach = reach;
    joint->bounds[LOWER] = -INFINITY;
    joint->bounds[UPPER] = INFINITY;
    joint->drive = sinew_default_rigid_joint_drive();

    if (def->kind == SINEW_RIGID_JOINT_HINGE) {
        SN_TRY(tie(world, def, sn_madd(center, reach, axis), joint));
        SN_TRY(tie(world, def, sn_madd(center, -reach, axis), joint));
        find_aims(def, basis, joint);
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
    sn_anchor_release(&joint->arms[0]);
    sn_anchor_release(&joint->arms[1]);
    sn_arena arena = joint->arena; // the joint lives in it
    sn_arena_destroy(&arena);
}

sinew_status sinew_rigid_joint_create(sinew_world *world, const sinew_rigid_joint_def *def,
                                      sinew_rigid_joint **out) {
    SN_NEED(NULL, world);

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
    for (int k = 0; k < SPRINGS; k++) {
        if (joint->springs[k] == attachment) {
            joint->springs[k] = NULL;
        }
    }
    for (int32_t i = 0; i < joint->count; i++) {
        if (joint->attachments[i] == attachment) {
            joint->attachments[i] = joint->attachments[--joint->count];
            break;
        }
    }
    if (joint->count > 0) {
        return;
    }

    // Springs may be left while the attachments of a body are removed one by one.
    for (int k = 0; k < SPRINGS; k++) {
        if (joint->springs[k]) {
            return;
        }
    }
    release(joint);
}

sinew_status sn_rigid_joint_refresh(sinew_rigid_joint *joint, const sinew_body *body) {
    SN_TRY(sn_anchor_refresh(body, &joint->arms[0]));
    return sn_anchor_refresh(body, &joint->arms[1]);
}

void sinew_rigid_joint_destroy(sinew_rigid_joint *joint) {
    int32_t count = joint ? joint->count : 0;
    for (int k = 0; count > 0 && k < SPRINGS; k++) {
        sinew_attachment_destroy(joint->springs[k]);
    }

    sinew_attachment *last[FIXED_POINTS];
    for (int32_t i = 0; i < count; i++) {
        last[i] = joint->attachments[i];
    }
    for (int32_t i = 0; i < count; i++) { // the joint goes with the last of them
        sinew_attachment_destroy(last[i]);
    }
}

void sinew_rigid_joint_get_position(sinew_rigid_joint *joint, double position[3], double *gap) {
    SN_NEED_OR(, joint);

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
    SN_NEED(NULL, joint);

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

// The axis of a hinge, and from it to both arms.
typedef struct hinge_view {
    sn_vec3 center, axis;
    sn_vec3 arm[2];
} hinge_view;

static hinge_view view_hinge(sinew_rigid_joint *joint) {
    double ends[2][3], center[3];
    sinew_attachment_get_positions(joint->attachments[0], ends[0], NULL);
    sinew_attachment_get_positions(joint->attachments[1], ends[1], NULL);
    sinew_rigid_joint_get_position(joint, center, NULL);

    hinge_view view = {.center = sn_load3(center)};
    view.axis = sn_normalize(sn_sub(sn_load3(ends[0]), sn_load3(ends[1])));
    for (int k = 0; k < 2; k++) {
        if (joint->arms[k].body) {
            sn_body_move_point(joint->arms[k].body, &joint->arms[k].point);
        }
        view.arm[k] = across(sn_sub(joint->arms[k].point.x, view.center), view.axis);
    }
    return view;
}

static double angle_of(const hinge_view *view) {
    return atan2(sn_dot(view->axis, sn_cross(view->arm[1], view->arm[0])),
                 sn_dot(view->arm[0], view->arm[1]));
}

double sinew_rigid_joint_get_angle(sinew_rigid_joint *joint) {
    SN_NEED_OR(0, joint);
    if (joint->kind != SINEW_RIGID_JOINT_HINGE) {
        return 0;
    }
    hinge_view view = view_hinge(joint);
    return angle_of(&view);
}

// --- springs

// Where the arm of the body is to be at an angle: a rest position of the target, or a position in
// the world.
static sinew_status find_aim(const sinew_rigid_joint *joint, double angle, double aim[3]) {
    if (!joint->has_aims) {
        return sn_fail(joint->arena.context, SINEW_INVALID_ARGUMENT,
                       "body \"%s\" has no points around the hinge that a drive or a limit could "
                       "hold on to; choose a smaller reach",
                       joint->arms[1].body->name);
    }

    sn_vec3 along = sn_sub(joint->aim[1], joint->aim[0]);
    sn_vec3 side = sn_sub(joint->aim[2], joint->aim[0]);
    sn_vec3 arm = sn_add(sn_scale(cos(angle), along), sn_scale(sin(angle), side));
    sn_store3(aim, sn_add(joint->aim[0], arm));
    return SINEW_OK;
}

// Puts the newest attachment where an older one, which goes, is in the list: the order of the
// equations does not depend on what was set when.
static void replace(sinew_world *world, sinew_attachment *old) {
    for (size_t i = 0; i < world->attachment_count; i++) {
        if (world->attachments[i] == old) {
            size_t last = world->attachment_count - 1;
            world->attachments[i] = world->attachments[last];
            world->attachments[last] = old;
            break;
        }
    }
    old->joint = NULL;
    sinew_attachment_destroy(old);
}

// Replaces a spring by one towards an angle; without stiffness there is none.
static sinew_status set_spring(sinew_rigid_joint *joint, int which, double angle, double stiffness,
                               double largest) {
    sinew_attachment *made = NULL;
    if (stiffness > 0) {
        sinew_attachment_def def = sinew_default_attachment_def();
        def.body = joint->arms[0].body;
        def.target = joint->arms[1].body;
        def.at_node = false;
        def.stiffness = stiffness;
        def.largest_force = largest;
        sn_store3(def.rest, joint->arms[0].point.X);
        SN_TRY(find_aim(joint, angle, def.point));
        SN_TRY(sinew_world_attach(def.body->world, &def, &made));
        made->joint = joint;
    }

    sinew_attachment *old = joint->springs[which];
    joint->springs[which] = made;
    if (old && made) {
        replace(made->world, old);
    } else if (old) {
        old->joint = NULL;
        sinew_attachment_destroy(old);
    }
    return SINEW_OK;
}

static sinew_status check_hinge(const sinew_rigid_joint *joint, const char *what) {
    if (joint->kind == SINEW_RIGID_JOINT_HINGE) {
        return SINEW_OK;
    }
    return sn_fail(joint->arena.context, SINEW_INVALID_ARGUMENT,
                   "only a hinge has %s, not a fixed joint", what);
}

sinew_rigid_joint_drive sinew_default_rigid_joint_drive(void) {
    return (sinew_rigid_joint_drive){.filled = SN_DEF_FILLED};
}

sinew_status sinew_rigid_joint_set_drive(sinew_rigid_joint *joint,
                                         const sinew_rigid_joint_drive *drive) {
    SN_NEED(NULL, joint);

    sinew_context *context = joint->arena.context;
    SN_TRY(SN_CHECK_DEF(context, drive, "sinew_default_rigid_joint_drive"));
    SN_TRY(check_hinge(joint, "a drive"));
    if (!(fabs(drive->angle) <= acos(-1))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the angle of a drive is %g; it must be in [-pi, pi]", drive->angle);
    }
    if (!(drive->stiffness >= 0 && isfinite(drive->stiffness)) ||
        !(drive->largest_torque >= 0 && isfinite(drive->largest_torque))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the drive of a hinge has a stiffness of %g N m/rad and a largest torque of "
                       "%g N m; both must be finite and at least 0",
                       drive->stiffness, drive->largest_torque);
    }

    // Towards the world, another angle is another target of the same spring.
    sinew_attachment *spring = joint->springs[DRIVE];
    bool same = spring && drive->stiffness == joint->drive.stiffness &&
                drive->largest_torque == joint->drive.largest_torque;
    if (same && !joint->arms[1].body) {
        double aim[3];
        SN_TRY(find_aim(joint, drive->angle, aim));
        SN_TRY(sinew_attachment_set_target(spring, aim));
    } else if (!same || drive->angle != joint->drive.angle) {
        double r = joint->reach;
        SN_TRY(set_spring(joint, DRIVE, drive->angle, drive->stiffness / (r * r),
                          drive->largest_torque / r));
    }
    joint->drive = *drive;
    return SINEW_OK;
}

double sinew_rigid_joint_get_drive_torque(sinew_rigid_joint *joint) {
    SN_NEED_OR(0, joint);
    double force[3];
    if (!joint->springs[DRIVE] ||
        sinew_attachment_get_force(joint->springs[DRIVE], force) != SINEW_OK) {
        return 0;
    }
    hinge_view view = view_hinge(joint);
    return sn_dot(view.axis, sn_cross(view.arm[0], sn_load3(force)));
}

sinew_status sinew_rigid_joint_set_limits(sinew_rigid_joint *joint, double lower, double upper) {
    SN_NEED(NULL, joint);

    sinew_context *context = joint->arena.context;
    const double pi = acos(-1);
    SN_TRY(check_hinge(joint, "limits"));
    bool below = lower == -INFINITY || fabs(lower) < pi;
    bool above = upper == INFINITY || fabs(upper) < pi;
    if (!below || !above || !(lower <= upper)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the limits of a hinge are %g and %g; they must be ordered and between -pi "
                       "and pi, or infinite",
                       lower, upper);
    }

    // Stiff against what the body weighs.
    sinew_body *body = joint->arms[0].body;
    double h = body->world->def.step;
    sinew_measures measures;
    sinew_body_get_measures(body, &measures);
    double stiffness = bound_ratio * measures.mass / (h * h);
    SN_TRY(set_spring(joint, LOWER, lower, isfinite(lower) ? stiffness : 0, 0));
    SN_TRY(set_spring(joint, UPPER, upper, isfinite(upper) ? stiffness : 0, 0));
    joint->bounds[LOWER] = lower;
    joint->bounds[UPPER] = upper;
    return SINEW_OK;
}

bool sn_rigid_joint_acts(sinew_rigid_joint *joint, const sinew_attachment *attachment, double h) {
    bool lower = attachment == joint->springs[LOWER];
    bool upper = attachment == joint->springs[UPPER];
    if ((!lower && !upper) || joint->count < 2) {
        return true;
    }

    // The angle now, and as it would be at the end of the step.
    hinge_view view = view_hinge(joint);
    double angle = angle_of(&view);
    double end = angle;
    for (int k = 0; k < 2; k++) {
        if (joint->arms[k].body) {
            sn_vec3 v = sn_body_point_velocity(joint->arms[k].body, &joint->arms[k].point);
            double square = sn_dot(view.arm[k], view.arm[k]);
            double rate = sn_dot(view.axis, sn_cross(view.arm[k], v)) / square;
            end += k == 0 ? h * rate : -h * rate;
        }
    }
    return lower ? fmin(angle, end) < joint->bounds[LOWER]
                 : fmax(angle, end) > joint->bounds[UPPER];
}
