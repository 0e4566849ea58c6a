// A scene's world through time: motions, loads, steps, surfaces, probes.
#include "io/scene/build_frames.h"
#include "io/scene/build_skeleton.h"

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
        if (member->load_index[i] >= 0) {
            SN_TRY(sinew_body_set_load_scale(member->body, member->load_index[i], scale));
            continue;
        }

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

    for (int32_t node = 0; any && node < member->mesh->point_count; node++) {
        SN_TRY(sinew_body_set_forces(member->body, &node, 1, member->forces + 3 * (size_t)node));
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
    for (int32_t i = 0; i < world->scene->body_count; i++) {
        SN_TRY(world->members[i].ops->apply(&world->members[i], time));
        SN_TRY(apply_fibre_stress(world, &world->members[i], time));
    }
    return SINEW_OK;
}

sinew_status sn_scene_world_restore(sn_scene_world *world, const void *bytes, size_t size) {
    double time = 0;
    bool known = sinew_snapshot_get_time(bytes, size, &time);
    for (int32_t i = 0; known && i < world->scene->body_count; i++) {
        sn_scene_member *member = &world->members[i];
        if (!member->frames) {
            continue;
        }

        if (sn_frames_is_fading(member, time)) {
            return sn_fail(world->arena.context, SINEW_UNSUPPORTED,
                           "frames of body \"%s\" were fading in or out at %g s: save the state "
                           "when they have done so",
                           member->scene->name, time);
        }

        SN_TRY(sn_frames_replay(member, time));
    }

    return sinew_world_restore_snapshot(world->world, bytes, size);
}

sinew_status sn_scene_world_step(sn_scene_world *world, sinew_step_report *report) {
    double time = sinew_world_get_time_after(world->world, 1);
    SN_TRY(sn_scene_world_apply(world, time));
    return sinew_world_step(world->world, report);
}

sinew_status sn_scene_world_solve_static(sn_scene_world *world, sinew_step_report *report) {
    SN_TRY(sn_scene_world_apply(world, sinew_world_get_time(world->world)));
    return sinew_world_solve_static(world->world, &world->scene->static_def, report);
}

static void update_surface(sn_scene_member *member) {
    sn_scene_surface *surface = &member->surface;
    const double *x = sinew_body_get_positions(member->body);
    if (surface->embedding) {
        sinew_embedding_compute_points(surface->embedding, x, surface->points);
        return;
    }

    for (int32_t k = 0; k < surface->mesh->point_count; k++) {
        memcpy(surface->points + 3 * (size_t)k, x + 3 * (size_t)surface->nodes[k],
               3 * sizeof(double));
    }
}

void sn_scene_world_update_surfaces(sn_scene_world *world) {
    for (int32_t i = 0; i < world->scene->body_count; i++) {
        world->members[i].ops->update_surface(&world->members[i]);
    }
}

static void read_probe(const sn_scene_world *world, int32_t index, sn_probe_state *state) {
    const sn_probe_place *place = &world->probes[index];
    const sn_scene_member *member = &world->members[world->scene->probes[index].body];
    int32_t width = sinew_element_node_count(member->mesh->element);
    const int32_t *nodes = member->mesh->indices + (size_t)width * (size_t)place->element;
    const double *x = sinew_body_get_positions(member->body);
    sn_vec3 now = {0, 0, 0}, rest = {0, 0, 0};

    for (int32_t k = 0; k < width; k++) {
        now = sn_madd(now, place->weights[k], sn_load3(x + 3 * (size_t)nodes[k]));
        rest =
            sn_madd(rest, place->weights[k], sn_load3(member->mesh->points + 3 * (size_t)nodes[k]));
    }

    sn_store3(state->position, now);
    sn_store3(state->displacement, sn_sub(now, sn_scene_place(member->scene, rest)));

    // At the point itself; models that know elements only give the mean of the element.
    if (sinew_point_get_state(place->point, &state->element) != SINEW_OK) {
        sinew_body_get_element_state(member->body, place->element, &state->element);
    }
}

void sn_scene_world_read_probe(const sn_scene_world *world, int32_t index, sn_probe_state *state) {
    world->members[world->scene->probes[index].body].ops->read_probe(world, index, state);
}

const sn_member_ops sn_element_member_ops = {
    .apply = apply,
    .update_surface = update_surface,
    .read_probe = read_probe,
    .compute_values = sn_element_member_values,
};
