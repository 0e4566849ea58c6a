// "rigid" of a body, and "joints".
#include "io/scene/read.h"
#include "io/scene/rigid.h"

#include <math.h>
#include <string.h>

static const char *const joint_kinds[] = {"fixed", "hinge"};

// What a body without elements or frames has no use for.
static void refuse_keys(const sn_scene_reader *reader, const sn_json *json) {
    static const char *const keys[] = {"mass",   "volume",    "plane",    "thickness", "materials",
                                       "fixed",  "scripted",  "loads",    "surface",   "field",
                                       "frames", "positions", "skeleton", "binding"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const sn_json *value = sn_json_get(json, keys[i]);
        if (value) {
            sn_json_key_mistake(reader->mistakes, value,
                                "a rigid body has none; \"rigid\" holds and moves it");
        }
    }
}

void sn_scene_check_closed(const sn_scene_reader *reader, const sn_json *json, const char *what,
                           const sn_scene_shape *shape) {
    bool plain = (shape->generated || shape->file) && !shape->maps && !shape->is_character &&
                 !shape->is_organism && shape->solid_count == 0 && !shape->volume;
    if (!plain || (shape->generated && shape->shape.shape == SINEW_SHAPE_RECTANGLE)) {
        sn_json_mistake(reader->mistakes, sn_json_get(json, "shape"),
                        "%s is a closed surface: a solid \"kind\", or a \"file\" of triangles",
                        what);
    }
}

void sn_scene_read_rigid(sn_scene_reader *reader, const sn_json *body_json, bool used,
                         sn_scene_body *body) {
    const sn_json *json = sn_json_get(body_json, "rigid");
    if (json && !used) {
        sn_json_key_mistake(reader->mistakes, json, "this belongs to \"model\": \"rigid\"");
    }

    // Keys of deformable bodies do not fit.
    sn_scene_rigid *rigid = used ? sn_scene_push(reader, 1, sizeof *rigid) : NULL;
    if (!rigid) {
        return;
    }

    refuse_keys(reader, body_json);
    sn_scene_check_closed(reader, body_json, "a rigid body", &body->shape);
    body->rigid = rigid;
    if (!json || !sn_scene_check_object(reader, json,
                                        SN_KEYS("mass", "center", "inertia", "held", "motion"))) {
        return;
    }

    // The mass, and what may replace the values that follow from the shape.
    sn_json_number_inside(reader->mistakes, sn_json_get(json, "mass"), 0, INFINITY, "kg",
                          &rigid->mass);
    const sn_json *center = sn_json_get(json, "center");
    const sn_json *inertia = sn_json_get(json, "inertia");
    rigid->has_center = center && sn_scene_read_lengths(reader, center, rigid->center);
    rigid->has_inertia = inertia && sn_json_numbers(reader->mistakes, inertia, 6, rigid->inertia);

    // A body with a motion is held, and moved by it.
    sn_json_boolean(reader->mistakes, sn_json_get(json, "held"), &rigid->held);
    rigid->moves = sn_json_get(json, "motion") != NULL;
    rigid->held = rigid->held || rigid->moves;
    sn_scene_read_motion(reader, sn_json_get(json, "motion"), &rigid->motion);
}

static const double radians = 3.14159265358979323846 / 180;

// A spring towards an angle.
static void read_drive(const sn_scene_reader *reader, const sn_json *json, sn_scene_joint *joint) {
    sn_mistakes *mistakes = reader->mistakes;
    if (!json ||
        !sn_scene_check_object(reader, json, SN_KEYS("degrees", "stiffness", "largest_torque"))) {
        return;
    }

    joint->driven = true;
    sn_scene_read_curve(reader, sn_json_require(mistakes, json, "degrees"), radians, &joint->angle);
    sn_json_number_inside(mistakes, sn_json_require(mistakes, json, "stiffness"), 0, INFINITY,
                          "N m/rad", &joint->drive.stiffness);
    sn_json_number_inside(mistakes, sn_json_get(json, "largest_torque"), 0, INFINITY, "N m",
                          &joint->drive.largest_torque);
}

// The smallest and the largest angle.
static void read_limits(const sn_scene_reader *reader, const sn_json *json, sn_scene_joint *joint) {
    if (!json || !sn_json_numbers(reader->mistakes, json, 2, joint->limits)) {
        return;
    }
    if (!(-180 < joint->limits[0] && joint->limits[0] <= joint->limits[1] &&
          joint->limits[1] < 180)) {
        sn_json_mistake(reader->mistakes, json,
                        "is %g to %g degrees; needs two angles in order, between -180 and 180",
                        joint->limits[0], joint->limits[1]);
        return;
    }

    joint->limited = true;
    joint->limits[0] *= radians;
    joint->limits[1] *= radians;
}

// What rotates against what.
static void read_rotation(const sn_scene_reader *reader, const sn_json *json,
                          sn_scene_joint *joint) {
    static const char *const keys[] = {"drive", "limits"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const sn_json *value = sn_json_get(json, keys[i]);
        if (value && joint->def.kind != SINEW_RIGID_JOINT_HINGE) {
            sn_json_key_mistake(reader->mistakes, value, "this belongs to \"kind\": \"hinge\"");
            return;
        }
    }

    read_drive(reader, sn_json_get(json, "drive"), joint);
    read_limits(reader, sn_json_get(json, "limits"), joint);
}

static void read_joint(const sn_scene_reader *reader, const sn_json *json, sn_scene_joint *joint) {
    sn_mistakes *mistakes = reader->mistakes;
    *joint = (sn_scene_joint){.json = json,
                              .def = sinew_default_rigid_joint_def(),
                              .drive = sinew_default_rigid_joint_drive(),
                              .target = -1};
    if (!sn_scene_check_object(reader, json,
                               SN_KEYS("kind", "body", "to", "position", "axis", "reach",
                                       "stiffness", "drive", "limits"))) {
        return;
    }

    int32_t kind = 0;
    const sn_json *to = sn_json_get(json, "to");
    sn_json_word(mistakes, sn_json_require(mistakes, json, "kind"), joint_kinds, 2, &kind);
    joint->def.kind = (sinew_rigid_joint_kind)kind;
    joint->body = sn_scene_find_body(reader, sn_json_require(mistakes, json, "body"));
    joint->target = to ? sn_scene_find_body(reader, to) : -1;
    sn_scene_read_lengths(reader, sn_json_require(mistakes, json, "position"), joint->def.position);
    sn_json_numbers(mistakes, sn_json_get(json, "axis"), 3, joint->def.axis);
    sn_scene_read_length(reader, sn_json_get(json, "reach"), &joint->def.reach);
    sn_json_number(mistakes, sn_json_get(json, "stiffness"), 0, INFINITY, "N/m",
                   &joint->def.stiffness);
    read_rotation(reader, json, joint);
}

void sn_scene_read_joints(sn_scene_reader *reader, const sn_json *json) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }

    sn_scene_joint *joints = sn_scene_push(reader, json->count, sizeof *joints);
    if (!joints) {
        return;
    }

    for (int32_t i = 0; i < json->count; i++) {
        read_joint(reader, &json->items[i], &joints[i]);
    }

    reader->scene->joints = joints;
    reader->scene->joint_count = json->count;
}
