// A scene's world through time: motions, loads, steps, surfaces, probes.
#include "io/scene/build_skeleton.h"
#include "io/scene/history.h"
#include "io/scene/report.h"

#include "math/quat.h"

#include <math.h>
#include <string.h>

sn_quat sn_scene_motion_turn(const sn_scene_motion *motion, double time) {
    if (!motion->turns) {
        return sn_quat_identity();
    }
    return sn_quat_exp(sn_scale(sn_curve_at(&motion->angle, time), sn_load3(motion->axis)));
}

sn_vec3 sn_scene_motion_at(const sn_scene_motion *motion, sn_vec3 X, double time) {
    if (motion->turns) {
        sn_vec3 center = sn_load3(motion->center);
        sn_quat q = sn_scene_motion_turn(motion, time);
        X = sn_add(center, sn_quat_rotate(q, sn_sub(X, center)));
    }

    sn_vec3 offset = {sn_curve_at(&motion->translate[0], time),
                      sn_curve_at(&motion->translate[1], time),
                      sn_curve_at(&motion->translate[2], time)};

    return sn_add(X, offset);
}

sn_vec3 sn_scene_place(const sn_scene_body *body, sn_vec3 X) {
    const double *r = body->def.rotation;
    if (r[0] == 0 && r[1] == 0 && r[2] == 0) {
        return sn_add(X, sn_load3(body->def.position)); // without rounding
    }
    sn_quat R = sn_quat_normalize((sn_quat){r[0], r[1], r[2], r[3]});
    return sn_add(sn_quat_rotate(R, X), sn_load3(body->def.position));
}

static sinew_status apply_motion(const sn_scene_member *member, int32_t index, double time) {
    const sn_scene_support *support = &member->scene->supports[index];
    const sn_picked *picked = &member->supports[index];
    for (int32_t i = 0; i < picked->count; i++) {
        sn_vec3 X = sn_scene_motion_at(
            &support->motion, sn_load3(member->mesh->points + 3 * (size_t)picked->nodes[i]), time);
        double moved[3];
        sn_store3(moved, sn_scene_place(member->scene, X));

        // Other entries decide the other directions.
        double *target = member->targets + 3 * (size_t)picked->nodes[i];
        for (int k = 0; k < 3; k++) {
            if (picked->axes[i] >> k & 1) {
                target[k] = moved[k];
            }
        }
        SN_TRY(sinew_body_move_nodes(member->body, &picked->nodes[i], 1, target));
    }

    return SINEW_OK;
}

// Forces that share a node add up.
static sinew_status apply_loads(const sn_scene_member *member, double time) {
    const sn_scene_body *scene = member->scene;
    bool any = false;
    for (int32_t i = 0; i < scene->load_count; i++) {
        double scale = member->load_scales[i] * sn_curve_at(&scene->loads[i].scale, time);

        // Traction and pressure are loads that the body follows; only their scale changes.
        if (member->load_index[i] >= 0) {
            SN_TRY(sinew_body_set_load_scale(member->body, member->load_index[i], scale));
            continue;
        }

        // A force is shared equally by the nodes it was given to.
        const sn_picked *picked = &member->loads[i];
        if (!any) {
            memset(member->forces, 0, 3 * (size_t)member->mesh->point_count * sizeof(double));
        }

        any = true;
        sn_vec3 share = sn_scale(scale / picked->count, sn_load3(scene->loads[i].vector));
        for (int32_t k = 0; k < picked->count; k++) {
            sn_add_to3(member->forces + 3 * (size_t)picked->nodes[k], share);
        }
    }

    if (any) {
        for (int32_t node = 0; node < member->mesh->point_count; node++) {
            SN_TRY(
                sinew_body_set_forces(member->body, &node, 1, member->forces + 3 * (size_t)node));
        }
    }

    return SINEW_OK;
}

static sinew_status apply(sn_scene_member *member, double time) {
    for (int32_t k = 0; k < member->scene->support_count; k++) {
        if (member->scene->supports[k].scripted) {
            SN_TRY(apply_motion(member, k, time));
        }
    }
    return apply_loads(member, time);
}

static sinew_status apply_fibre_stress(const sn_scene_world *world, const sn_scene_member *member,
                                       double time) {
    for (int32_t i = 0; i < member->material_count; i++) {
        const sn_scene_material *material = &world->scene->materials[member->materials[i]];
        if (material->fibre_stress.kind == SN_CURVE_CONSTANT) {
            continue;
        }
        SN_TRY(sinew_body_set_fibre_stress(member->body, i,
                                           sn_curve_at(&material->fibre_stress, time)));
    }

    return SINEW_OK;
}

sinew_status sn_scene_world_apply(sn_scene_world *world, double time) {
    SN_TRY(sn_bones_apply(world, time));
    SN_TRY(sn_scene_world_move_obstacles(world, time));
    SN_TRY(sn_scene_world_drive_joints(world, time));
    for (int32_t i = 0; i < world->scene->body_count; i++) {
        SN_TRY(world->members[i].ops->apply(&world->members[i], time));
        SN_TRY(apply_fibre_stress(world, &world->members[i], time));
    }
    return SINEW_OK;
}

sinew_status sn_scene_world_restore(sn_scene_world *world, const void *bytes, size_t size) {
    double time = 0;
    if (sinew_snapshot_get_time(bytes, size, &time)) {
        SN_TRY(sn_history_replay(world, time));
        SN_TRY(sn_scene_world_drive_joints(world, time));
    }

    return sinew_world_restore_snapshot(world->world, bytes, size);
}

sinew_status sn_scene_world_step(sn_scene_world *world, sinew_step_report *report) {
    double time = sinew_world_get_time_after(world->world, 1);
    SN_TRY(sn_history_note(world, time));
    SN_TRY(sn_scene_world_apply(world, time));
    return sinew_world_step(world->world, report);
}

sinew_status sn_scene_world_solve_static(sn_scene_world *world, sinew_step_report *report) {
    SN_TRY(sn_scene_world_apply(world, sinew_world_get_time(world->world)));
    return sinew_world_solve_static(world->world, &world->scene->static_def, report);
}

void sn_scene_world_update_surfaces(sn_scene_world *world) {
    for (int32_t i = 0; i < world->scene->body_count; i++) {
        sn_scene_member *member = &world->members[i];
        sinew_body_compute_surface(member->body, member->surface.points, NULL);
    }
}

void sn_scene_world_read_probe(const sn_scene_world *world, int32_t index, sn_probe_state *state) {
    const sn_scene_probe *probe = &world->scene->probes[index];
    const sn_scene_body *body = &world->scene->bodies[probe->body];
    sinew_point *point = world->probes[index];
    *state = (sn_probe_state){.position = {NAN, NAN, NAN}};

    // Both fail for want of memory only.
    if (sinew_point_get_position(point, state->position) != SINEW_OK ||
        sinew_point_get_state(point, &state->element) != SINEW_OK) {
        return;
    }
    sn_store3(state->displacement,
              sn_sub(sn_load3(state->position), sn_scene_place(body, sn_load3(probe->point))));
}

// One component of a force.
static sn_vec3 along(const double *f, int axis) {
    double part[3] = {0, 0, 0};
    part[axis] = f[axis];
    return sn_load3(part);
}

static void sum_reactions(const sn_scene_member *member, double *reactions,
                          sn_support_report *reports) {
    const sn_scene_body *scene = member->scene;
    const double *x = sinew_body_get_positions(member->body);
    for (int32_t k = 0; k < scene->support_count; k++) {
        const sn_picked *picked = &member->supports[k];
        for (int32_t i = 0; i < 3 * picked->count; i++) {
            size_t node = (size_t)picked->nodes[i / 3];
            if (picked->axes[i / 3] >> i % 3 & 1) {
                sn_support_add_force(&reports[k], sn_load3(x + 3 * node),
                                     along(reactions + 3 * node, i % 3));
                reactions[3 * node + (size_t)(i % 3)] = 0;
            }
        }
    }

    // What no entry decides.
    for (int32_t i = 0; i < sinew_body_get_node_count(member->body); i++) {
        sn_support_add_force(&reports[scene->support_count], sn_load3(x + 3 * (size_t)i),
                             sn_load3(reactions + 3 * (size_t)i));
    }
}

static sinew_status compute_supports(sn_scene_member *member, sn_support_report *reports) {
    int32_t count = sinew_body_get_node_count(member->body);
    sn_arena scratch = sn_arena_create(member->context);
    double *reactions = SN_PUSH(&scratch, double, 3 * (size_t)count);
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        sinew_body_compute_reactions(member->body, reactions);
        sum_reactions(member, reactions, reports);
    }

    sn_arena_destroy(&scratch);
    return status;
}

const sn_member_ops sn_element_member_ops = {.apply = apply, .compute_supports = compute_supports};
