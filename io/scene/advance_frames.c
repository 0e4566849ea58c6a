// A body of frames through time: motions of what is held, forces on its points, probes, colours.
#include "io/scene/build_frames.h"

#include <math.h>
#include <string.h>

static sn_quat placement_turn(const sn_scene_member *member) {
    const double *r = member->scene->def.rotation;
    return sn_quat_normalize((sn_quat){r[0], r[1], r[2], r[3]});
}

// Writes one direction of a frame's target: x, y, z, or the rotation.
static void move_direction(const sn_scene_member *member, const sn_scene_motion *motion,
                           int32_t node, int direction, double time, sn_quat R, double target[7]) {
    if (direction == 3) {
        sn_quat q = sn_quat_mul(R, sn_scene_motion_turn(motion, time));
        target[3] = q.x;
        target[4] = q.y;
        target[5] = q.z;
        target[6] = q.w;
        return;
    }

    sn_vec3 rest = sn_load3(member->frames->rest + 3 * (size_t)node);
    double x[3];
    sn_store3(x, sn_scene_place(member->scene, sn_scene_motion_at(motion, rest, time)));
    target[direction] = x[direction];
}

static sinew_status apply_motions(const sn_scene_member *member, double time) {
    const sn_member_frames *frames = member->frames;
    sn_quat R = placement_turn(member);
    for (int32_t i = 0; i < frames->node_count; i++) {
        if (frames->hold[i] == SINEW_HOLD_NOTHING) {
            continue;
        }

        // Each direction follows its own motion, or stays.
        double target[7];
        bool moves = false;
        memcpy(target, frames->held + 7 * (size_t)i, sizeof target);
        for (int d = 0; d < SN_FRAME_DIRECTIONS; d++) {
            const sn_scene_motion *motion = frames->motion[SN_FRAME_DIRECTIONS * i + d];
            if (!motion) {
                continue;
            }
            moves = true;
            move_direction(member, motion, i, d, time, R, target);
        }

        if (moves) {
            SN_TRY(sinew_frame_body_move(member->body, i, target, target + 3));
        }
    }

    return SINEW_OK;
}

static void update_surface(sn_scene_member *member) {
    sinew_body_compute_surface(member->body, member->surface.points, NULL);
}

// A force and a torque on one frame, added to those of other loads.
static sinew_status apply_node_load(const sn_scene_member *member, const sn_scene_load *load,
                                    double scale) {
    double force[3], torque[3];
    sn_store3(force, sn_scale(scale, sn_load3(load->vector)));
    sn_store3(torque, sn_scale(scale, sn_load3(load->torque)));

    bool rotates = sn_length(sn_load3(load->torque)) > 0;
    return sinew_frame_body_add_node_force(member->body, load->node, force,
                                           rotates ? torque : NULL);
}

// Traction and pressure are loads of the body, forces at points belong to the points; those on
// vertices add up.
static sinew_status apply_loads(sn_scene_member *member, double time) {
    const sn_scene_body *scene = member->scene;
    if (scene->load_count == 0) {
        return SINEW_OK;
    }

    bool any = false;
    sinew_frame_body_clear_forces(member->body);
    memset(member->forces, 0, 3 * (size_t)member->surface.mesh->point_count * sizeof(double));
    for (int32_t i = 0; i < scene->load_count; i++) {
        const sn_scene_load *load = &scene->loads[i];
        double scale = member->load_scales[i] * sn_curve_at(&load->scale, time);
        if (load->at_node) {
            SN_TRY(apply_node_load(member, load, scale));
            continue;
        }

        if (load->at_point) {
            double force[3];
            sn_store3(force, sn_scale(scale, sn_load3(load->vector)));
            SN_TRY(sinew_point_set_force(member->load_points[i], force));
            continue;
        }

        if (load->kind != SN_LOAD_FORCE) {
            SN_TRY(sinew_body_set_load_scale(member->body, member->load_index[i],
                                             scale * member->loads[i].factor));
            continue;
        }

        any = true;
        const sn_picked *picked = &member->loads[i];
        sn_vec3 share = sn_scale(scale / picked->count, sn_load3(load->vector));
        for (int32_t k = 0; k < picked->count; k++) {
            sn_add_to3(member->forces + 3 * (size_t)picked->nodes[k], share);
        }
    }

    return any ? sinew_body_set_surface_forces(member->body, member->forces) : SINEW_OK;
}

static sinew_status apply(sn_scene_member *member, double time) {
    SN_TRY(sn_frames_adapt(member, time));
    SN_TRY(apply_motions(member, time));
    return apply_loads(member, time);
}

static void read_probe(const sn_scene_world *world, int32_t index, sn_probe_state *state) {
    const sn_scene_probe *probe = &world->scene->probes[index];
    const sn_scene_member *member = &world->members[probe->body];
    const sinew_body *body = member->body;

    *state = (sn_probe_state){.position = {NAN, NAN, NAN}};

    // Both fail for want of memory only.
    if (sinew_frame_body_get_point(body, probe->point, state->position) != SINEW_OK) {
        return;
    }

    if (sinew_frame_body_get_state(body, probe->point, NULL, &state->element) != SINEW_OK) {
        return;
    }

    sn_store3(state->displacement, sn_sub(sn_load3(state->position),
                                          sn_scene_place(member->scene, sn_load3(probe->point))));
}

static sinew_status compute_values(sn_scene_member *member, sn_scene_color color, double *values) {
    SN_ASSERT(color != SN_COLOR_NONE && color != SN_COLOR_WEIGHTS);
    const sinew_mesh *surface = member->surface.mesh;
    bool moving = color == SN_COLOR_DISPLACEMENT || color == SN_COLOR_SPEED;
    sn_arena scratch = sn_arena_create(member->context);
    double *vectors = SN_PUSH(&scratch, double, moving ? 3 * (size_t)surface->point_count : 0);
    sinew_element_state *states =
        SN_PUSH(&scratch, sinew_element_state, moving ? 0 : surface->point_count);
    sinew_status status = sn_arena_status(&scratch);

    if (status == SINEW_OK) {
        sinew_frame_points_compute(
            member->frames->points, color == SN_COLOR_DISPLACEMENT ? vectors : NULL,
            color == SN_COLOR_SPEED ? vectors : NULL, moving ? NULL : states);

        for (int32_t i = 0; i < surface->point_count; i++) {
            sn_vec3 from = {0, 0, 0};
            if (color == SN_COLOR_DISPLACEMENT) {
                from = sn_scene_place(member->scene, sn_load3(surface->points + 3 * (size_t)i));
            }
            values[i] = moving ? sn_distance(sn_load3(vectors + 3 * (size_t)i), from)
                               : sn_state_value(&states[i], color);
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

int32_t sn_scene_member_frame_count(const sn_scene_member *member) {
    return member->frames ? member->frames->first_count + member->scene->frames->insertion_count
                          : 0;
}

static void release(sn_scene_member *member) {
    sinew_frame_points_destroy(member->frames->points);
    sinew_voxels_destroy(member->frames->voxels);
}

const sn_member_ops sn_frame_member_ops = {
    .apply = apply,
    .update_surface = update_surface,
    .read_probe = read_probe,
    .compute_values = compute_values,
    .release = release,
};
