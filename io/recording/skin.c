// Frame bodies as skins that any engine plays: frames are joints, shape functions are weights, and
// the motion is an animation.
//
// A skin blends rotations and scales linearly, cannot shear or bend a joint, and a point follows
// few joints. What that costs is measured: the file is read back and replayed at every image.
#include "io/recording/recording.h"

#include "io/gltf/skin.h"
#include "io/picture/colormap.h"
#include "io/scene/build_frames.h"
#include "math/quat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

sinew_status sn_recording_begin_skins(sinew_recording *recording) {
    if (!(recording->def.formats & SINEW_FORMAT_SKIN)) {
        return SINEW_OK;
    }

    int32_t found = 0;
    recording->skins =
        SN_PUSH(&recording->arena, sinew_recorded_skin, recording->scene->body_count);
    SN_TRY(sn_arena_status(&recording->arena));

    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        const sn_scene_body *body = &recording->scene->bodies[i];
        if (!body->frames) {
            continue;
        }

        // Joints of a skin cannot appear or vanish.
        found++;
        if (body->frames->insertion_count > 0 || body->contact_frames_given) {
            return sn_fail(
                recording->context, SINEW_UNSUPPORTED,
                "frames of body \"%s\" join while it runs, which a skin cannot represent; "
                "use glb or pc2",
                body->name);
        }

        recording->skins[i].joint_count =
            sinew_frame_body_get_node_count(recording->world->members[i].body);
    }

    if (found == 0) {
        return sn_fail(recording->context, SINEW_UNSUPPORTED,
                       "the format skin needs a frame body, and the scene has none");
    }

    return sn_arena_status(&recording->arena);
}

sinew_status sn_recording_keep_poses(sinew_recording *recording, int32_t body,
                                     sn_recorded_image *image) {
    const sinew_body *from = recording->world->members[body].body;
    int32_t joints = recording->skins[body].joint_count;
    double *pose = SN_PUSH(&recording->arena, double, 12 * (size_t)joints);
    SN_TRY(sn_arena_status(&recording->arena));
    image->poses[body] = pose;

    for (int32_t i = 0; i < joints; i++, pose += 12) {
        SN_TRY(sinew_frame_body_get_node(from, i, pose, NULL));
        SN_TRY(sinew_frame_body_get_matrix(from, i, pose + 3));
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
static double measure_fit(const sinew_recording *recording, int32_t body, const sn_skin_def *def) {
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
                fmax(largest,
                     sn_distance(x, sn_load3(recording->images[f].points[body] + 3 * (size_t)i)));
        }
    }

    return largest;
}

// Reads a file back and replays it at every image.
static sinew_status measure_file(sinew_recording *recording, int32_t body, const sn_skin_def *def,
                                 double *error) {
    sn_source source = {
        .name = "skin.glb", .data = recording->buffer.data, .size = recording->buffer.size};
    sn_gltf_file file;
    sinew_status status = sn_gltf_read(recording->context, &source, &file);
    sn_arena scratch = sn_arena_create(recording->context);
    sn_gltf_node *nodes = SN_PUSH(&scratch, sn_gltf_node, def->joint_count + 2);
    double *points = SN_PUSH(&scratch, double, 3 * (size_t)def->point_count);

    if (status == SINEW_OK) {
        status = sn_arena_status(&scratch);
    }

    int32_t node = -1;
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < file.view.node_count; i++) {
            if (file.view.nodes[i].skin >= 0) {
                node = i;
            }
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
            *error = fmax(*error, largest_distance(points, recording->images[f].points[body],
                                                   def->point_count));
        }
    }

    sn_arena_destroy(&scratch);
    sn_gltf_file_destroy(&file);

    return status;
}

// Fits the poses of all images, and lists their times.
static sinew_status fit_poses(const sinew_recording *recording, int32_t body, sn_arena *scratch,
                              sn_joint_pose **poses, double **times) {
    size_t joints = (size_t)recording->skins[body].joint_count;
    size_t images = (size_t)recording->image_count;
    *poses = SN_PUSH(scratch, sn_joint_pose, joints * images);
    *times = SN_PUSH(scratch, double, images);
    SN_TRY(sn_arena_status(scratch));

    for (size_t f = 0; f < images; f++) {
        const double *pose = recording->images[f].poses[body];
        (*times)[f] = recording->images[f].time;
        for (size_t i = 0; i < joints; i++) {
            sn_joint_pose_fit(pose + 12 * i, pose + 12 * i + 3, &(*poses)[f * joints + i]);
        }
    }

    return SINEW_OK;
}

static sinew_status write_skin(sinew_recording *recording, int32_t body, sn_skin_def *def) {
    sinew_recorded_skin *skin = &recording->skins[body];
    int32_t requested = recording->def.skin_joints / 4 - 1;
    for (int32_t pass = 0; pass < 2; pass++) { // the requested one last: it stays in the buffer
        int32_t which = pass == 0 ? 1 - requested : requested;

        def->sets = which + 1;
        sn_buffer_clear(&recording->buffer);
        SN_TRY(sn_write_glb_skin(def, &recording->buffer, &skin->truncated_weight));
        SN_TRY(measure_file(recording, body, def, &skin->errors[which]));
    }
    skin->largest_error = skin->errors[requested];
    skin->fit_error = measure_fit(recording, body, def);

    char name[256];
    snprintf(name, sizeof name, "%s_skin.glb", def->name);

    return sn_recording_write(recording, name, &recording->buffer);
}

// Where the frames are at rest, three numbers each.
static sinew_status list_rest(const sinew_body *body, int32_t count, sn_arena *arena,
                              double **rest) {
    *rest = SN_PUSH(arena, double, 3 * (size_t)count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < count; i++) {
        SN_TRY(sinew_frame_body_get_rest(body, i, *rest + 3 * (size_t)i));
    }
    return SINEW_OK;
}

sinew_status sn_recording_write_skin(sinew_recording *recording, int32_t body) {
    const sn_scene_member *member = &recording->world->members[body];
    const int32_t *starts, *joints;
    const double *weights;
    SN_TRY(sinew_frame_body_get_surface_weights(member->body, &starts, &joints, &weights));

    // Frames as joints: rest positions, and poses that fit the frames best.
    sn_arena scratch = sn_arena_create(recording->context);
    sn_joint_pose *poses = NULL;
    double *times = NULL;
    double *rest = NULL;
    sinew_status status = fit_poses(recording, body, &scratch, &poses, &times);
    if (status == SINEW_OK) {
        status = list_rest(member->body, recording->skins[body].joint_count, &scratch, &rest);
    }

    if (status == SINEW_OK) {
        // The mesh at rest with its weights.
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
            .joint_count = recording->skins[body].joint_count,
            .joint_rest = rest,
            .frame_count = recording->image_count,
            .times = times,
            .poses = poses,
            .z_up = true,
            .material = {.name = member->scene->name,
                         .color = {(double)color.r, (double)color.g, (double)color.b, 1},
                         .roughness = 0.6}};

        status = write_skin(recording, body, &def);
    }

    sn_arena_destroy(&scratch);
    return status;
}
