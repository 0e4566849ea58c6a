// Rigid bodies and joints of a scene.
#include "io/scene/builder.h"
#include "io/scene/report.h"
#include "io/scene/rigid.h"

#include <math.h>
#include <string.h>

// Where the centre of mass of a held body is to be: moved in its own coordinates, then placed.
static sinew_status apply(sn_scene_member *member, double time) {
    const sn_scene_rigid *rigid = member->scene->rigid;
    if (!rigid->moves) {
        return SINEW_OK;
    }

    sinew_rigid_mass mass;
    SN_TRY(sinew_rigid_body_get_mass(member->body, &mass));
    const double *r = member->scene->def.rotation;
    sn_quat R = sn_quat_normalize((sn_quat){r[0], r[1], r[2], r[3]});
    sn_quat q = sn_quat_mul(R, sn_scene_motion_turn(&rigid->motion, time));
    sn_vec3 X = sn_scene_motion_at(&rigid->motion, sn_load3(mass.center), time);
    double position[3], rotation[4] = {q.x, q.y, q.z, q.w};
    sn_store3(position, sn_scene_place(member->scene, X));
    return sinew_frame_body_move(member->body, 0, position, rotation);
}

static sinew_status compute_supports(sn_scene_member *member, sn_support_report *reports) {
    double force[3], torque[3], x[3];
    SN_TRY(sinew_frame_body_get_reaction(member->body, 0, force, torque));
    SN_TRY(sinew_frame_body_get_node(member->body, 0, x, NULL));
    sn_support_add_force(&reports[0], sn_load3(x), sn_load3(force));
    sn_add_to3(reports[0].torque, sn_load3(torque));
    return SINEW_OK;
}

static const sn_member_ops rigid_member_ops = {.apply = apply,
                                               .compute_supports = compute_supports};

sinew_status sn_builder_make_closed(const sn_builder *b, const sn_scene_shape *shape,
                                    sinew_mesh **surface) {
    if (!shape->generated) {
        return sn_builder_read_mesh(b, shape->file, shape, true, surface);
    }
    sinew_shape_def def = shape->shape;
    def.element = SINEW_ELEMENT_TRIANGLE;
    return sinew_mesh_create_shape(b->context, &def, surface);
}

static sinew_status make_body(sn_builder *b, sn_scene_member *member) {
    const sn_scene_body *scene = member->scene;
    const sn_scene_rigid *rigid = scene->rigid;
    sinew_mesh *surface = NULL;
    SN_TRY(sn_builder_make_closed(b, &scene->shape, &surface));

    sinew_rigid_body_def def = sinew_default_rigid_body_def();
    def.name = scene->name;
    def.surface = surface;
    def.density = b->scene->materials[scene->material].def.density;
    def.mass = rigid->mass;
    def.center = rigid->has_center ? rigid->center : NULL;
    def.inertia = rigid->has_inertia ? rigid->inertia : NULL;
    def.held = rigid->held;
    def.mass_damping = scene->def.mass_damping;
    memcpy(def.position, scene->def.position, sizeof def.position);
    memcpy(def.rotation, scene->def.rotation, sizeof def.rotation);
    memcpy(def.velocity, scene->def.velocity, sizeof def.velocity);
    memcpy(def.angular_velocity, scene->def.angular_velocity, sizeof def.angular_velocity);

    sinew_status status = sinew_rigid_body_create(b->world->world, &def, &member->body);
    sinew_mesh_destroy(surface);
    return status;
}

sinew_status sn_builder_make_rigid(sn_builder *b, sn_scene_member *member) {
    member->ops = &rigid_member_ops;
    SN_TRY(sn_builder_note(b, member->scene->json, make_body(b, member)));
    return sn_builder_take_surface(b, member);
}

static sinew_status make_joint(sn_builder *b, const sn_scene_joint *joint,
                               sinew_rigid_joint **made) {
    sinew_rigid_joint_def def = joint->def;
    def.body = b->world->members[joint->body].body;
    def.target = joint->target >= 0 ? b->world->members[joint->target].body : NULL;
    SN_TRY(sinew_rigid_joint_create(b->world->world, &def, made));
    return joint->limited ? sinew_rigid_joint_set_limits(*made, joint->limits[0], joint->limits[1])
                          : SINEW_OK;
}

sinew_status sn_builder_make_joints(sn_builder *b) {
    int32_t count = b->scene->joint_count;
    b->world->joints = SN_PUSH(&b->world->arena, sinew_rigid_joint *, count);
    SN_TRY(sn_arena_status(&b->world->arena));
    for (int32_t i = 0; i < count; i++) {
        const sn_scene_joint *joint = &b->scene->joints[i];
        SN_TRY(sn_builder_note(b, joint->json, make_joint(b, joint, &b->world->joints[i])));
    }
    return SINEW_OK;
}

sinew_status sn_scene_world_drive_joints(sn_scene_world *world, double time) {
    const double pi = acos(-1);
    for (int32_t i = 0; i < world->scene->joint_count; i++) {
        const sn_scene_joint *joint = &world->scene->joints[i];
        if (!joint->driven) {
            continue;
        }

        sinew_rigid_joint_drive drive = joint->drive;
        drive.angle = remainder(sn_curve_at(&joint->angle, time), 2 * pi);
        SN_TRY(sinew_rigid_joint_set_drive(world->joints[i], &drive));
    }
    return SINEW_OK;
}
