// A body of frames through time: motions of what is held, forces on its points, what its supports
// bear, and its structure when a state is restored.
#include "io/scene/build_frames.h"

#include "sinew/frame_support.h"
#include "io/scene/report.h"

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

    sn_vec3 rest = sn_load3(sn_frames_of(member)->rest + 3 * (size_t)node);
    double x[3];
    sn_store3(x, sn_scene_place(member->scene, sn_scene_motion_at(motion, rest, time)));
    target[direction] = x[direction];
}

static sinew_status apply_motions(const sn_scene_member *member, double time) {
    const sn_member_frames *frames = sn_frames_of(member);
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

// Moves the supports of the surface that follow a motion.
static sinew_status move_supports(const sn_scene_member *member, double time) {
    const sn_scene_body *scene = member->scene;
    for (int32_t k = 0; k < scene->support_count; k++) {
        const sn_scene_support *support = &scene->supports[k];
        int32_t index = sn_frames_of(member)->support[k];
        if (index < 0 || !support->scripted) {
            continue;
        }

        double position[3];
        sn_quat q =
            sn_quat_mul(placement_turn(member), sn_scene_motion_turn(&support->motion, time));
        sn_store3(position, sn_scene_place(
                                scene, sn_scene_motion_at(&support->motion, sn_v3(0, 0, 0), time)));
        SN_TRY(sinew_frame_body_move_support(member->body, index, position,
                                             (const double[4]){q.x, q.y, q.z, q.w}));
    }

    return SINEW_OK;
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

    // Forces are summed from zero each time.
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

        // A force is shared equally by the vertices of its face.
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
    SN_TRY(move_supports(member, time));
    return apply_loads(member, time);
}

static void sum_reaction(const sn_scene_member *member, int32_t frame, const double x[3],
                         const double force[3], const double torque[3],
                         sn_support_report *reports) {
    int32_t rest = member->scene->support_count; // what no entry decides
    for (int d = 0; d < SN_FRAME_DIRECTIONS; d++) {
        int32_t owner = sn_frames_of(member)->owner[SN_FRAME_DIRECTIONS * frame + d];
        sn_support_report *report = &reports[owner >= 0 && owner < rest ? owner : rest];
        if (d == 3) {
            sn_add_to3(report->torque, sn_load3(torque));
            continue;
        }

        double part[3] = {0, 0, 0};
        part[d] = force[d];
        sn_support_add_force(report, sn_load3(x), sn_load3(part));
    }
}

static sinew_status compute_supports(sn_scene_member *member, sn_support_report *reports) {
    for (int32_t k = 0; k < member->scene->support_count; k++) {
        sinew_frame_support_state state;
        if (sn_frames_of(member)->support[k] < 0) {
            continue;
        }
        SN_TRY(
            sinew_frame_body_get_support(member->body, sn_frames_of(member)->support[k], &state));
        sn_add_to3(reports[k].force, sn_load3(state.force));
        sn_add_to3(reports[k].torque, sn_load3(state.torque));
    }

    for (int32_t i = 0; i < sn_frames_of(member)->node_count; i++) {
        double force[3], torque[3], x[3];
        SN_TRY(sinew_frame_body_get_reaction(member->body, i, force, torque));
        SN_TRY(sinew_frame_body_get_node(member->body, i, x, NULL));
        sum_reaction(member, i, x, force, torque, reports);
    }
    return SINEW_OK;
}

static int32_t count_held_frames(const sn_scene_member *member) {
    const sn_member_frames *frames = sn_frames_of(member);
    int32_t count = 0;
    for (int32_t i = 0; i < frames->node_count; i++) {
        count += frames->hold[i] != SINEW_HOLD_NOTHING;
    }
    return count;
}

static void release(sn_scene_member *member) {
    sinew_voxels_destroy(sn_frames_of(member)->voxels);
}

const sn_member_ops sn_frame_member_ops = {
    .apply = apply,
    .compute_supports = compute_supports,
    .replay = sn_frames_replay,
    .changes = sn_frames_changes,
    .is_fading = sn_frames_is_fading,
    .count_held_frames = count_held_frames,
    .release = release,
};
