// Bodies of frames as skins that any engine plays: frames are joints, shape functions are weights,
// the motion an animation.
//
// A skin blends rotations and scales linearly and knows neither shear nor bending of a joint, and a
// point follows few joints. What that costs is measured, not guessed: the file is read back and
// replayed at every output.
#include "run/run.h"

#include "io/gltf/skin.h"
#include "io/picture/colormap.h"
#include "io/scene/build_frames.h"
#include "math/quat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

sinew_status run_begin_skins(run_state *run) {
    if (!(run->scene->output.formats & SN_OUTPUT_SKIN)) {
        return SINEW_OK;
    }

    int32_t found = 0;
    run->skins = SN_PUSH(&run->arena, run_skin, run->scene->body_count);
    SN_TRY(sn_arena_status(&run->arena));

    for (int32_t i = 0; i < run->scene->body_count; i++) {
        const sn_scene_body *body = &run->scene->bodies[i];
        if (!body->frames) {
            continue;
        }

        found++;
        if (body->frames->insertion_count > 0) {
            return sn_fail(
                run->context, SINEW_UNSUPPORTED,
                "frames of body \"%s\" join while it runs, which a skin cannot represent; "
                "use glb or pc2",
                body->name);
        }

        run->skins[i].poses = SN_PUSH(&run->arena, double *, run->frame_capacity);
        run->skins[i].joint_count = sinew_frame_body_get_node_count(run->world->members[i].body);
    }

    if (found == 0) {
        return sn_fail(run->context, SINEW_UNSUPPORTED,
                       "the format skin needs a frame body, and the scene has none");
    }

    return sn_arena_status(&run->arena);
}

sinew_status run_keep_poses(run_state *run, int32_t body, int32_t frame) {
    run_skin *skin = &run->skins[body];
    double *pose = SN_PUSH(&run->arena, double, 12 * (size_t)skin->joint_count);

    SN_TRY(sn_arena_status(&run->arena));
    skin->poses[frame] = pose;

    for (int32_t i = 0; i < skin->joint_count; i++, pose += 12) {
        SN_TRY(sinew_frame_body_get_node(run->world->members[body].body, i, pose, NULL));
        SN_TRY(sinew_frame_body_get_matrix(run->world->members[body].body, i, pose + 3));
    }

    return SINEW_OK;
}

// The largest distance between two lists of points.
static double largest_distance(const double *a, const double *b, int32_t count) {
    double largest = 0;
    for (int32_t i = 0; i < count; i++) {
        largest =
            fmax(largest, sn_distance(sn_load3(a + 3 * (size_t)i), sn_load3(b + 3 * (size_t)i)));
    }
    return largest;
}

static sn_vec3 pose_point(const sn_joint_pose *pose, sn_vec3 d) {
    const double *q = pose->rotation;
    const double *s = pose->scale;
    sn_vec3 scaled = {s[0] * d.x, s[1] * d.y, s[2] * d.z};
    return sn_add(sn_load3(pose->translation),
                  sn_quat_rotate((sn_quat){q[0], q[1], q[2], q[3]}, scaled));
}

// How far the surface blended of the fitted poses with all weights is from the simulated one.
static double measure_fit(const run_state *run, int32_t body, const sn_skin_def *def) {
    double largest = 0;
    for (int32_t f = 0; f < def->frame_count; f++) {
        const sn_joint_pose *poses = def->poses + (size_t)f * (size_t)def->joint_count;
        for (int32_t i = 0; i < def->point_count; i++) {
            sn_vec3 X = sn_load3(def->points + 3 * (size_t)i);
            sn_vec3 x = {0, 0, 0};
            for (int32_t k = def->start[i]; k < def->start[i + 1]; k++) {
                sn_vec3 d = sn_sub(X, sn_load3(def->joint_rest + 3 * (size_t)def->joint[k]));
                x = sn_madd(x, def->weight[k], pose_point(&poses[def->joint[k]], d));
            }

            largest =
                fmax(largest, sn_distance(x, sn_load3(run->frame_points[f][body] + 3 * (size_t)i)));
        }
    }

    return largest;
}

// Reads a file back and replays it at every output.
static sinew_status measure_file(run_state *run, int32_t body, const sn_skin_def *def,
                                 double *error) {
    sn_source source = {.name = "skin.glb", .data = run->buffer.data, .size = run->buffer.size};
    sn_gltf_file file;
    sinew_status status = sn_gltf_read(run->context, &source, &file);
    sn_arena scratch = sn_arena_create(run->context);
    sn_gltf_node *nodes = SN_PUSH(&scratch, sn_gltf_node, def->joint_count + 2);
    double *points = SN_PUSH(&scratch, double, 3 * (size_t)def->point_count);

    if (status == SINEW_OK) {
        status = sn_arena_status(&scratch);
    }

    int32_t node = -1;
    for (int32_t i = 0; status == SINEW_OK && i < file.view.node_count; i++) {
        if (file.view.nodes[i].skin >= 0) {
            node = i;
        }
    }

    SN_ASSERT(status != SINEW_OK || node >= 0);
    *error = 0;
    for (int32_t f = 0; status == SINEW_OK && f < def->frame_count; f++) {
        // The file's own times, which are floats.
        double time =
            file.view.animation_count > 0 ? file.view.animations[0].channels[0].times[f] : 0;

        sn_gltf_pose(&file.view, file.view.animation_count - 1, time, nodes);
        status = sn_gltf_skin_points(&file.view, nodes, node, &scratch, points);
        for (int32_t i = 0; i < def->point_count; i++) { // y up in the file, z in the scene
            double *x = points + 3 * (size_t)i;

            double up = x[1];
            x[1] = -x[2];
            x[2] = up;
        }

        if (status == SINEW_OK) {
            *error = fmax(*error,
                          largest_distance(points, run->frame_points[f][body], def->point_count));
        }
    }

    sn_arena_destroy(&scratch);
    sn_gltf_file_destroy(&file);

    return status;
}

static sinew_status fit_poses(const run_state *run, int32_t body, sn_arena *scratch,
                              sn_joint_pose **out) {
    const run_skin *skin = &run->skins[body];
    size_t joints = (size_t)skin->joint_count;
    sn_joint_pose *poses = SN_PUSH(scratch, sn_joint_pose, joints * (size_t)run->frame_count);

    SN_TRY(sn_arena_status(scratch));
    for (size_t f = 0; f < (size_t)run->frame_count; f++) {
        for (size_t i = 0; i < joints; i++) {
            sn_joint_pose_fit(skin->poses[f] + 12 * i, skin->poses[f] + 12 * i + 3,
                              &poses[f * joints + i]);
        }
    }

    *out = poses;
    return SINEW_OK;
}

static sinew_status write_skin(run_state *run, int32_t body, sn_skin_def *def) {
    run_skin *skin = &run->skins[body];
    int32_t wanted = run->scene->output.skin_joints / 4 - 1;
    for (int32_t pass = 0; pass < 2; pass++) { // the wanted one last: it stays in the buffer
        int32_t which = pass == 0 ? 1 - wanted : wanted;

        def->sets = which + 1;
        sn_buffer_clear(&run->buffer);
        SN_TRY(sn_write_glb_skin(def, &run->buffer, &skin->truncated_weight));
        SN_TRY(measure_file(run, body, def, &skin->errors[which]));
    }
    skin->largest_error = skin->errors[wanted];
    skin->fit_error = measure_fit(run, body, def);

    char name[256];
    snprintf(name, sizeof name, "%s_skin.glb", def->name);

    return run_write(run, name, &run->buffer);
}

sinew_status run_write_skin(run_state *run, int32_t body) {
    const sn_scene_member *member = &run->world->members[body];
    const int32_t *starts, *joints;
    const double *weights;
    sinew_frame_points_get_weights(member->frames->points, &starts, &joints, &weights);
    sn_arena scratch = sn_arena_create(run->context);
    sn_joint_pose *poses = NULL;
    sinew_status status = fit_poses(run, body, &scratch, &poses);

    if (status == SINEW_OK) {
        sn_color color = sn_palette(body);
        sn_skin_def def = {
            .name = member->scene->name,
            .point_count = member->surface.mesh->point_count,
            .index_count = 3 * member->surface.mesh->element_count,
            .points = member->surface.mesh->points,
            .indices = member->surface.mesh->indices,
            .start = starts,
            .joint = joints,
            .weight = weights,
            .joint_count = run->skins[body].joint_count,
            .joint_rest = member->frames->rest,
            .frame_count = run->frame_count,
            .times = run->times,
            .poses = poses,
            .z_up = true,
            .material = {.name = member->scene->name,
                         .color = {(double)color.r, (double)color.g, (double)color.b, 1},
                         .roughness = 0.6}};

        status = write_skin(run, body, &def);
    }

    sn_arena_destroy(&scratch);
    return status;
}
