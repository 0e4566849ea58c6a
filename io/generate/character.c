// Characters made from tables: joints at positions in the world, limbs as round cones between two
// positions. The skin consists of the closed surfaces of the cones, which overlap where limbs meet;
// the winding number joins them into one solid. Motions are sums of sines.
#include "io/generate/character.h"

#include "io/generate/triangles.h"
#include "math/rigid.h"

static const double PI = 3.14159265358979323846;

typedef struct joint_row {
    const char *name;
    int32_t parent;
    double position[3]; // in the world at rest
    double tip[3];      // end of the last bone in the world; all zero: none
} joint_row;

typedef struct limb_row {
    double from[3], to[3], radius_from, radius_to;
} limb_row;

// Rotates the joints and moves the root at a time; `local` holds the rest pose.
typedef void move_fn(sn_rigid *local, double time, double angle);

typedef struct plan {
    const joint_row *joints;
    int32_t joint_count;
    const limb_row *limbs;
    int32_t limb_count;
    move_fn *move;
} plan;

static const joint_row cylinder_joints[] = {
    {"lower", -1, {0, -0.45, 0}, {0, 0, 0}},
    {"upper", 0, {0, 0, 0}, {0, 0.45, 0}},
};

static const joint_row leg_joints[] = {
    {"hip", -1, {0, 0.95, 0}, {0, 0, 0}},
    {"knee", 0, {0, 0.52, 0.01}, {0, 0, 0}},
    {"ankle", 1, {0, 0.1, 0}, {0, 0.05, 0.18}},
};
static const limb_row leg_limbs[] = {
    {{0, 0.97, 0}, {0, 0.52, 0.01}, 0.1, 0.065},
    {{0, 0.52, 0.01}, {0, 0.35, -0.015}, 0.062, 0.068},
    {{0, 0.35, -0.015}, {0, 0.1, 0}, 0.068, 0.042},
    {{0, 0.08, -0.02}, {0, 0.05, 0.18}, 0.05, 0.035},
};

static const joint_row arm_joints[] = {
    {"shoulder", -1, {0.02, 1.4, 0}, {0, 0, 0}},
    {"elbow", 0, {0.31, 1.4, 0}, {0, 0, 0}},
    {"wrist", 1, {0.56, 1.4, 0}, {0.7, 1.4, 0}},
};
static const limb_row arm_limbs[] = {
    {{0, 1.4, 0}, {0.15, 1.385, 0}, 0.075, 0.08},
    {{0.15, 1.385, 0}, {0.31, 1.4, 0}, 0.08, 0.05},
    {{0.31, 1.4, 0}, {0.42, 1.395, 0}, 0.05, 0.052},
    {{0.42, 1.395, 0}, {0.56, 1.4, 0}, 0.052, 0.034},
    {{0.56, 1.4, 0}, {0.7, 1.4, 0}, 0.036, 0.03},
};

enum {
    HIPS,
    LEFT_THIGH,
    LEFT_CALF,
    LEFT_FOOT,
    RIGHT_THIGH,
    RIGHT_CALF,
    RIGHT_FOOT,
    SPINE,
    CHEST,
    NECK,
    HEAD,
    LEFT_SHOULDER,
    LEFT_ARM,
    LEFT_FOREARM,
    LEFT_HAND,
    RIGHT_SHOULDER,
    RIGHT_ARM,
    RIGHT_FOREARM,
    RIGHT_HAND
};

static const joint_row biped_joints[] = {
    [HIPS] = {"Hips", -1, {0, 0.97, 0}, {0, 0, 0}},
    [LEFT_THIGH] = {"LeftUpLeg", HIPS, {0.11, 0.9, 0}, {0, 0, 0}},
    [LEFT_CALF] = {"LeftLeg", LEFT_THIGH, {0.12, 0.5, 0.01}, {0, 0, 0}},
    [LEFT_FOOT] = {"LeftFoot", LEFT_CALF, {0.12, 0.09, -0.01}, {0.12, 0.05, 0.16}},
    [RIGHT_THIGH] = {"RightUpLeg", HIPS, {-0.11, 0.9, 0}, {0, 0, 0}},
    [RIGHT_CALF] = {"RightLeg", RIGHT_THIGH, {-0.12, 0.5, 0.01}, {0, 0, 0}},
    [RIGHT_FOOT] = {"RightFoot", RIGHT_CALF, {-0.12, 0.09, -0.01}, {-0.12, 0.05, 0.16}},
    [SPINE] = {"Spine", HIPS, {0, 1.08, 0}, {0, 0, 0}},
    [CHEST] = {"Chest", SPINE, {0, 1.25, 0}, {0, 0, 0}},
    [NECK] = {"Neck", CHEST, {0, 1.46, 0}, {0, 0, 0}},
    [HEAD] = {"Head", NECK, {0, 1.56, 0.01}, {0, 1.72, 0.02}},
    [LEFT_SHOULDER] = {"LeftShoulder", CHEST, {0.06, 1.4, 0}, {0, 0, 0}},
    [LEFT_ARM] = {"LeftArm", LEFT_SHOULDER, {0.18, 1.4, 0}, {0, 0, 0}},
    [LEFT_FOREARM] = {"LeftForeArm", LEFT_ARM, {0.46, 1.4, 0}, {0, 0, 0}},
    [LEFT_HAND] = {"LeftHand", LEFT_FOREARM, {0.7, 1.4, 0}, {0.82, 1.4, 0}},
    [RIGHT_SHOULDER] = {"RightShoulder", CHEST, {-0.06, 1.4, 0}, {0, 0, 0}},
    [RIGHT_ARM] = {"RightArm", RIGHT_SHOULDER, {-0.18, 1.4, 0}, {0, 0, 0}},
    [RIGHT_FOREARM] = {"RightForeArm", RIGHT_ARM, {-0.46, 1.4, 0}, {0, 0, 0}},
    [RIGHT_HAND] = {"RightHand", RIGHT_FOREARM, {-0.7, 1.4, 0}, {-0.82, 1.4, 0}},
};

// The belly is last: a slim person omits it.
static const limb_row biped_limbs[] = {
    {{0.07, 0.95, 0}, {-0.07, 0.95, 0}, 0.115, 0.115},
    {{0, 1, 0}, {0, 1.2, 0}, 0.13, 0.12},
    {{0, 1.2, 0}, {0, 1.33, 0}, 0.12, 0.13},
    {{0.12, 1.38, 0}, {-0.12, 1.38, 0}, 0.08, 0.08},
    {{0, 1.4, 0}, {0, 1.56, 0.01}, 0.06, 0.055},
    {{0, 1.6, 0.015}, {0, 1.7, 0.02}, 0.088, 0.082},
    {{0.11, 0.9, 0}, {0.12, 0.5, 0.01}, 0.09, 0.058},
    {{0.12, 0.5, 0.01}, {0.12, 0.36, -0.01}, 0.056, 0.06},
    {{0.12, 0.36, -0.01}, {0.12, 0.09, -0.01}, 0.06, 0.04},
    {{0.12, 0.07, -0.03}, {0.12, 0.045, 0.16}, 0.045, 0.033},
    {{-0.11, 0.9, 0}, {-0.12, 0.5, 0.01}, 0.09, 0.058},
    {{-0.12, 0.5, 0.01}, {-0.12, 0.36, -0.01}, 0.056, 0.06},
    {{-0.12, 0.36, -0.01}, {-0.12, 0.09, -0.01}, 0.06, 0.04},
    {{-0.12, 0.07, -0.03}, {-0.12, 0.045, 0.16}, 0.045, 0.033},
    {{0.16, 1.4, 0}, {0.46, 1.4, 0}, 0.062, 0.044},
    {{0.46, 1.4, 0}, {0.7, 1.4, 0}, 0.044, 0.032},
    {{0.7, 1.4, 0}, {0.82, 1.4, 0}, 0.035, 0.03},
    {{-0.16, 1.4, 0}, {-0.46, 1.4, 0}, 0.062, 0.044},
    {{-0.46, 1.4, 0}, {-0.7, 1.4, 0}, 0.044, 0.032},
    {{-0.7, 1.4, 0}, {-0.82, 1.4, 0}, 0.035, 0.03},
    {{0, 1.05, 0.1}, {0, 1.16, 0.08}, 0.21, 0.18},
};

// Rises smoothly from 0 to 1 between the times 0 and 1.
static double ease(double time) {
    double t = fmin(fmax(time, 0), 1);
    return t * t * (3 - 2 * t);
}

static void rotate_joint(sn_rigid *joint, double x, double y, double z) {
    joint->q = sn_quat_mul(joint->q, sn_quat_exp(sn_v3(x, y, z)));
}

static void move_bending(sn_rigid *local, double time, double angle) {
    rotate_joint(&local[1], angle * ease(time), 0, 0);
}

static void move_twisting(sn_rigid *local, double time, double angle) {
    rotate_joint(&local[1], 0, angle * ease(time), 0);
}

// Crouches, leaves the ground for 0.3 s, lands.
static void move_leg(sn_rigid *local, double time, double angle) {
    (void)angle;
    double phase = time - floor(time);
    double crouch;
    double height = 0;

    if (phase < 0.35) {
        crouch = ease(phase / 0.25) * (1 - ease((phase - 0.25) / 0.1));
    } else if (phase < 0.65) {
        double flight = phase - 0.35;
        crouch = 0.3 * sin(PI * flight / 0.3);
        height = 0.5 * 9.81 * flight * (0.3 - flight);
    } else {
        crouch = 0.7 * ease((phase - 0.65) / 0.1) * (1 - ease((phase - 0.75) / 0.25));
    }

    double bend = 0.9 * crouch; // of the hip; the knee bends back twice as far, so that the foot
                                // stays below the hip

    rotate_joint(&local[0], -bend, 0, 0);
    rotate_joint(&local[1], 2 * bend, 0, 0);
    rotate_joint(&local[2], -bend, 0, 0);
    local[0].t.y += height - 0.85 * (1 - cos(bend));
}

static void move_arm(sn_rigid *local, double time, double angle) {
    (void)angle;
    double start = ease(time / 0.5);
    double swing = sin(2 * PI * time);
    rotate_joint(&local[0], 0, 0, 0.7 * start * swing);
    rotate_joint(&local[1], 0, -0.5 * start, 0.9 * start * sin(2 * PI * time - 0.8));
    rotate_joint(&local[2], 0, 0, 0.5 * start * sin(2 * PI * time - 1.6));
}

static void swing_leg(sn_rigid *thigh, double phase, double start) {
    rotate_joint(&thigh[0], -0.45 * start * sin(phase), 0, 0);
    rotate_joint(&thigh[1], start * (0.15 + 0.45 * (1 + cos(phase))), 0, 0);
    rotate_joint(&thigh[2], -start * (0.1 + 0.2 * cos(phase)), 0, 0);
}

static void lower_arms(sn_rigid *local, double start) {
    rotate_joint(&local[LEFT_ARM], 0, 0, -1.1 * start);
    rotate_joint(&local[RIGHT_ARM], 0, 0, 1.1 * start);
    rotate_joint(&local[LEFT_FOREARM], 0, -0.3 * start, 0);
    rotate_joint(&local[RIGHT_FOREARM], 0, 0.3 * start, 0);
}

static void move_walking(sn_rigid *local, double time, double angle) {
    (void)angle;
    double phase = 2 * PI * time;
    double start = ease(time / 0.5);

    // The way grows as the integral of the speed, which eases in too.
    double way = time < 0.5 ? 0.5 * (pow(time / 0.5, 3) - 0.5 * pow(time / 0.5, 4)) : time - 0.25;

    swing_leg(&local[LEFT_THIGH], phase, start);
    swing_leg(&local[RIGHT_THIGH], phase + PI, start);
    lower_arms(local, start);
    rotate_joint(&local[LEFT_ARM], 0, -0.4 * start * sin(phase), 0);
    rotate_joint(&local[RIGHT_ARM], 0, -0.4 * start * sin(phase), 0);
    rotate_joint(&local[HIPS], 0, 0.08 * start * sin(phase), 0);
    rotate_joint(&local[CHEST], 0, -0.16 * start * sin(phase), 0);
    local[HIPS].t.z += 1.2 * way;
    local[HIPS].t.y += 0.02 * start * (cos(2 * phase) - 1);
}

static void move_hopping(sn_rigid *local, double time, double angle) {
    sn_rigid leg[3] = {local[HIPS], local[LEFT_CALF], local[LEFT_FOOT]};
    double base = leg[0].t.y;

    move_leg(leg, time, angle);
    sn_quat bends[3] = {leg[0].q, leg[1].q, leg[2].q};
    for (int k = 0; k < 3; k++) {
        local[LEFT_THIGH + k].q = sn_quat_mul(local[LEFT_THIGH + k].q, bends[k]);
        local[RIGHT_THIGH + k].q = sn_quat_mul(local[RIGHT_THIGH + k].q, bends[k]);
    }

    lower_arms(local, ease(time / 0.5));
    double lean = 2 * asin(fabs(bends[0].x)); // who crouches leans forward

    rotate_joint(&local[SPINE], 0.6 * lean, 0, 0);
    rotate_joint(&local[CHEST], 0.4 * lean, 0, 0);
    rotate_joint(&local[NECK], -0.5 * lean, 0, 0);
    local[HIPS].t.y += leg[0].t.y - base;
}

#define COUNT_OF(table) ((int32_t)(sizeof(table) / sizeof *(table)))

static plan plan_of(sn_character_kind kind) {
    plan made = {cylinder_joints, COUNT_OF(cylinder_joints), NULL, 0, move_bending};
    switch (kind) {
    case SN_CHARACTER_BENDING: break;
    case SN_CHARACTER_TWISTING: made.move = move_twisting; break;
    case SN_CHARACTER_LEG:
        made = (plan){leg_joints, COUNT_OF(leg_joints), leg_limbs, COUNT_OF(leg_limbs), move_leg};
        break;
    case SN_CHARACTER_ARM:
        made = (plan){arm_joints, COUNT_OF(arm_joints), arm_limbs, COUNT_OF(arm_limbs), move_arm};
        break;
    case SN_CHARACTER_BIPED:
        made = (plan){biped_joints, COUNT_OF(biped_joints), biped_limbs, COUNT_OF(biped_limbs) - 1,
                      move_walking};
        break;
    case SN_CHARACTER_FAT:
        made = (plan){biped_joints, COUNT_OF(biped_joints), biped_limbs, COUNT_OF(biped_limbs),
                      move_hopping};
        break;
    }

    return made;
}

enum {
    RING = 24,
    CAP = 6,
    ROWS = 2 * CAP,
    LIMB_POINTS = ROWS * RING + 2,
    LIMB_TRIANGLES = 2 * RING * ROWS
};

// Approximately the hull of two spheres: a hemisphere at each end and straight lines between their
// rims. Rings of points from pole to pole; the first and the last point are the poles.
static void add_limb(const sn_triangles *mesh, int32_t number, const limb_row *limb) {
    sn_vec3 from = sn_load3(limb->from);
    sn_vec3 to = sn_load3(limb->to);
    sn_vec3 axis = sn_normalize(sn_sub(to, from));
    sn_mat3 basis = sn_mat3_basis(axis);
    double *points = mesh->points + 3 * (size_t)number * LIMB_POINTS;
    int32_t *triangles = mesh->indices + 3 * (size_t)number * LIMB_TRIANGLES;
    int32_t first = number * LIMB_POINTS;

    // Points: a pole, the rings, a pole.
    sn_store3(points, sn_madd(from, -limb->radius_from, axis));
    for (int row = 0; row < ROWS; row++) {
        // Latitudes: CAP rings on the lower hemisphere up to its rim, as many on the upper one from
        // its rim.
        bool lower = row < CAP;
        double latitude = 0.5 * PI * (lower ? (row + 1.0) / CAP - 1 : (row - CAP) / (double)CAP);
        double radius = lower ? limb->radius_from : limb->radius_to;

        for (int i = 0; i < RING; i++) {
            double longitude = 2 * PI * i / RING;
            sn_vec3 out = sn_v3(cos(latitude) * cos(longitude), cos(latitude) * sin(longitude),
                                sin(latitude));
            sn_vec3 position = sn_madd(lower ? from : to, radius, sn_mat3_apply(basis, out));
            sn_store3(points + 3 * (1 + row * RING + i), position);
        }
    }

    sn_store3(points + 3 * (LIMB_POINTS - 1), sn_madd(to, limb->radius_to, axis));

    // Triangles between consecutive rings; at the poles one of the two degenerates.
    for (int row = 0; row <= ROWS; row++) {
        for (int i = 0; i < RING; i++) {
            int next = (i + 1) % RING;
            int32_t below = row == 0 ? 0 : 1 + (row - 1) * RING + i;
            int32_t below_next = row == 0 ? 0 : 1 + (row - 1) * RING + next;
            int32_t above = row == ROWS ? LIMB_POINTS - 1 : 1 + row * RING + i;
            int32_t above_next = row == ROWS ? LIMB_POINTS - 1 : 1 + row * RING + next;

            if (row > 0) {
                *triangles++ = first + below;
                *triangles++ = first + below_next;
                *triangles++ = first + above;
            }

            if (row < ROWS) {
                *triangles++ = first + below_next;
                *triangles++ = first + above_next;
                *triangles++ = first + above;
            }
        }
    }
}

// A cylinder upright along y.
static sinew_status make_cylinder(sinew_context *context, sinew_mesh **skin) {
    sinew_shape_def shape = sinew_default_shape_def();
    shape.shape = SINEW_SHAPE_CYLINDER;
    shape.element = SINEW_ELEMENT_TRIANGLE;
    shape.size[0] = shape.size[1] = 0.3;
    shape.cells[0] = shape.cells[1] = 12;
    shape.cells[2] = 40;
    SN_TRY(sinew_mesh_create_shape(context, &shape, skin));

    // The shape lies along z. Its points are the library's own copy, which nobody else has seen.
    double *points = (double *)(uintptr_t)(*skin)->points;
    for (int32_t i = 0; i < (*skin)->point_count; i++) {
        sn_vec3 p = sn_load3(points + 3 * (size_t)i);
        sn_store3(points + 3 * (size_t)i, sn_v3(p.x, p.z, -p.y));
    }

    return SINEW_OK;
}

static sinew_status make_skin(sinew_context *context, const plan *made, sinew_mesh **skin) {
    if (made->limb_count == 0) {
        return make_cylinder(context, skin);
    }

    sn_arena scratch = sn_arena_create(context);
    sn_triangles mesh;
    sinew_status status = sn_triangles_create(&scratch, made->limb_count * LIMB_POINTS,
                                              made->limb_count * LIMB_TRIANGLES, &mesh);

    if (status == SINEW_OK) {
        for (int32_t i = 0; i < made->limb_count; i++) {
            add_limb(&mesh, i, &made->limbs[i]);
        }
        status = sn_triangles_finish(context, &mesh, skin);
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status make_skeleton(sinew_context *context, const plan *made,
                                  sinew_skeleton **skeleton) {
    sinew_joint_def joints[COUNT_OF(biped_joints)];
    SN_ASSERT(made->joint_count <= COUNT_OF(joints));
    for (int32_t i = 0; i < made->joint_count; i++) {
        const joint_row *row = &made->joints[i];
        sn_vec3 position = sn_load3(row->position);
        sn_vec3 tip = sn_load3(row->tip);
        sn_vec3 parent =
            row->parent < 0 ? sn_v3(0, 0, 0) : sn_load3(made->joints[row->parent].position);

        joints[i] = sinew_default_joint_def();
        joints[i].name = row->name;
        joints[i].parent = row->parent;
        sn_store3(joints[i].rest.translation, sn_sub(position, parent));
        joints[i].has_tip = sn_length(tip) > 0;
        sn_store3(joints[i].tip, sn_sub(tip, position));
    }

    return sinew_skeleton_create(context, joints, made->joint_count, skeleton);
}

static sinew_status make_motion(sinew_context *context, const plan *made,
                                const sn_character_def *def, const sinew_skeleton *skeleton,
                                sinew_motion **motion) {
    int32_t frames = (int32_t)floor(def->duration / def->frame_time + 1e-6) + 1;
    int32_t count = sinew_skeleton_joint_count(skeleton);
    const sinew_transform *rest = sinew_skeleton_rest_local(skeleton);
    sinew_motion_def empty = {
        .joint_count = count, .frame_count = frames, .frame_time = def->frame_time};

    SN_TRY(sinew_motion_create(context, &empty, motion));
    for (int32_t frame = 0; frame < frames; frame++) {
        // Each pose starts at rest; the plan then moves its joints.
        sn_rigid local[COUNT_OF(biped_joints)];
        sinew_transform out[COUNT_OF(biped_joints)];
        for (int32_t i = 0; i < count; i++) {
            local[i] = sn_rigid_load(&rest[i]);
        }

        made->move(local, frame * def->frame_time, def->angle);
        for (int32_t i = 0; i < count; i++) {
            sn_rigid_store(&out[i], local[i]);
        }
        SN_TRY(sinew_motion_set_frame(*motion, frame, out));
    }

    return SINEW_OK;
}

sn_character_def sn_default_character_def(void) {
    return (sn_character_def){
        .tet_count = 3000, .frame_time = 1.0 / 30, .duration = 2, .angle = 0.5 * PI};
}

static sinew_status check_def(sinew_context *context, const sn_character_def *def) {
    if ((int)def->kind < SN_CHARACTER_BENDING || def->kind > SN_CHARACTER_FAT) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "there is no character of kind %d",
                       (int)def->kind);
    }

    if (def->tet_count < 100 || def->tet_count > 50000000) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%d tets: must be in [100, 50e6]",
                       def->tet_count);
    }

    if (!(def->frame_time > 0) || !(def->duration >= 0) ||
        !(def->duration / def->frame_time < SINEW_MOTION_FRAMES) || !isfinite(def->angle) ||
        !(def->bone_radius >= 0)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a motion of %g s with %g s a frame and an angle of %g cannot be made",
                       def->duration, def->frame_time, def->angle);
    }

    return SINEW_OK;
}

// The label of a tet by its centre: 1 + the joint of the nearest bone, 0 if that is too far.
static int32_t label_at(const sinew_skeleton *skeleton, sn_vec3 center, double radius) {
    int32_t label = 0;
    int32_t bone_count;
    const sinew_bone *bones = sinew_skeleton_bones(skeleton, &bone_count);
    double nearest = radius;
    for (int32_t i = 0; i < bone_count; i++) {
        sn_vec3 from = sn_load3(bones[i].from);
        sn_vec3 way = sn_sub(sn_load3(bones[i].to), from);
        sn_vec3 d = sn_sub(center, from);
        double distance =
            sn_length(sn_madd(d, -fmin(fmax(sn_dot(d, way) / sn_dot(way, way), 0), 1), way));

        if (!(distance < nearest)) {
            continue;
        }

        nearest = distance;
        label = 1 + bones[i].joint;
    }

    return label;
}

// Labels the bones in `labels`, and leaves out tets at nodes where different ones meet.
// `node_labels` starts as zeros.
static void label_bones(const sinew_mesh *flesh, const sinew_skeleton *skeleton, double radius,
                        int32_t *labels, int32_t *node_labels) {
    const int32_t shared = -1;

    // Each tet by its centre, and the labels that meet at each node.
    for (int32_t t = 0; t < flesh->element_count; t++) {
        const int32_t *nodes = flesh->indices + 4 * (size_t)t;
        sn_vec3 center = {0, 0, 0};
        for (int k = 0; k < 4; k++) {
            center = sn_madd(center, 0.25, sn_load3(flesh->points + 3 * (size_t)nodes[k]));
        }

        labels[t] = label_at(skeleton, center, radius);
        if (labels[t] > 0) {
            for (int k = 0; k < 4; k++) {
                int32_t *label = &node_labels[nodes[k]];
                *label = *label == 0 || *label == labels[t] ? labels[t] : shared;
            }
        }
    }

    // Bones that touch would be one solid: separate them by flesh.
    for (int32_t t = 0; t < flesh->element_count; t++) {
        for (int k = 0; k < 4; k++) {
            if (node_labels[flesh->indices[4 * (size_t)t + (size_t)k]] == shared) {
                labels[t] = 0;
            }
        }
    }
}

static sinew_status add_labels(sinew_context *context, double radius, sn_character *character) {
    sn_arena scratch = sn_arena_create(context);
    int32_t *labels = SN_PUSH(&scratch, int32_t, character->flesh->element_count);
    int32_t *node_labels = SN_PUSH(&scratch, int32_t, character->flesh->point_count);
    sinew_status status = sn_arena_status(&scratch);
    sinew_mesh *labelled = NULL;

    if (status == SINEW_OK) {
        label_bones(character->flesh, character->skeleton, radius, labels, node_labels);
        sinew_mesh view = *character->flesh;
        view.labels = labels;
        status = sinew_mesh_copy(context, &view, &labelled);
    }

    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        return status;
    }

    sinew_mesh_destroy(character->flesh);
    character->flesh = labelled;

    return SINEW_OK;
}

static sinew_status make_parts(sinew_context *context, const plan *made,
                               const sn_character_def *def, sn_character *character) {
    SN_TRY(make_skeleton(context, made, &character->skeleton));
    SN_TRY(make_motion(context, made, def, character->skeleton, &character->motion));
    SN_TRY(make_skin(context, made, &character->skin));
    if (def->without_flesh) {
        return SINEW_OK;
    }

    sinew_tetrahedralize_def fill = sinew_default_tetrahedralize_def();
    fill.tet_count = def->tet_count;
    fill.largest_component = true;
    SN_TRY(sinew_tetrahedralize(context, character->skin, &fill, &character->flesh, NULL));

    return def->bone_radius > 0 ? add_labels(context, def->bone_radius, character) : SINEW_OK;
}

sinew_status sn_character_create(sinew_context *context, const sn_character_def *def,
                                 sn_character *character) {
    SN_ASSERT(context && def && character);
    *character = (sn_character){0};
    SN_TRY(check_def(context, def));

    plan made = plan_of(def->kind);
    sinew_status status = make_parts(context, &made, def, character);

    if (status != SINEW_OK) {
        sn_character_destroy(character);
    }

    return status;
}

void sn_character_destroy(sn_character *character) {
    if (!character) {
        return;
    }

    sinew_mesh_destroy(character->flesh);
    sinew_mesh_destroy(character->skin);
    sinew_skeleton_destroy(character->skeleton);
    sinew_motion_destroy(character->motion);
    *character = (sn_character){0};
}
