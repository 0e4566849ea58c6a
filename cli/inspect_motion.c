// What moves: glTF with its skins and animations, and recorded motion.
#include "inspect.h"

#include "sinew/io/motion_file.h"

#include "io/gltf/gltf.h"

#include <math.h>

static void tell_gltf_mesh(inspect_report *report, const sn_gltf_mesh *mesh) {
    int64_t points = 0, triangles = 0;
    int32_t targets = 0;
    for (int32_t i = 0; i < mesh->primitive_count; i++) {
        const sn_gltf_primitive *primitive = &mesh->primitives[i];
        points += primitive->point_count;
        triangles += primitive->index_count / 3;
        if (primitive->target_count > targets) {
            targets = primitive->target_count;
        }
    }

    inspect_begin_item(report);
    inspect_text(report, "name", mesh->name);
    inspect_count(report, "points", points);
    inspect_count(report, "triangles", triangles);

    if (targets) {
        inspect_count(report, "morph_targets", targets);
    }

    inspect_end_item(report);
}

static void tell_gltf_animation(inspect_report *report, const sn_gltf_animation *animation) {
    double duration = 0;
    for (int32_t i = 0; i < animation->channel_count; i++) {
        const sn_gltf_channel *channel = &animation->channels[i];
        if (channel->key_count) {
            duration = fmax(duration, channel->times[channel->key_count - 1]);
        }
    }

    inspect_begin_item(report);
    inspect_text(report, "name", animation->name);
    inspect_count(report, "channels", animation->channel_count);
    inspect_number(report, "duration", duration);
    inspect_end_item(report);
}

static void tell_gltf(inspect_report *report, const sn_gltf *gltf) {
    inspect_count(report, "nodes", gltf->node_count);
    inspect_count(report, "materials", gltf->material_count);
    inspect_begin_list(report, "meshes", gltf->mesh_count);

    for (int32_t i = 0; i < gltf->mesh_count; i++) {
        tell_gltf_mesh(report, &gltf->meshes[i]);
    }

    inspect_end_list(report);
    inspect_begin_list(report, "skins", gltf->skin_count);
    for (int32_t i = 0; i < gltf->skin_count; i++) {
        inspect_begin_item(report);
        inspect_text(report, "name", gltf->skins[i].name);
        inspect_count(report, "joints", gltf->skins[i].joint_count);
        inspect_end_item(report);
    }

    inspect_end_list(report);
    inspect_begin_list(report, "animations", gltf->animation_count);
    for (int32_t i = 0; i < gltf->animation_count; i++) {
        tell_gltf_animation(report, &gltf->animations[i]);
    }

    inspect_end_list(report);
}

int inspect_gltf(inspect_report *report, const sinew_source *source) {
    sn_gltf_file file;
    sinew_status status = sn_gltf_read(report->context, source, &file);
    if (status == SINEW_OK) {
        inspect_text(report, "kind", "glTF");
        tell_gltf(report, &file.view);
    }

    sn_gltf_file_destroy(&file);
    return status == SINEW_OK ? CLI_OK : inspect_fail(report);
}

// From the lowest to the highest end of a bone in the rest pose, along y, which is up in BVH files.
static double rest_height(const sinew_skeleton *skeleton) {
    int32_t count;
    const sinew_bone *bones = sinew_skeleton_bones(skeleton, &count);
    double lower = INFINITY, upper = -INFINITY;

    for (int32_t i = 0; i < count; i++) {
        lower = fmin(lower, fmin(bones[i].from[1], bones[i].to[1]));
        upper = fmax(upper, fmax(bones[i].from[1], bones[i].to[1]));
    }

    return count ? upper - lower : 0;
}

int inspect_motion(inspect_report *report, const sinew_source *source) {
    sinew_skeleton *skeleton = NULL;
    sinew_motion *motion = NULL;
    sinew_status status = sinew_motion_read(report->context, source, NULL, &skeleton, &motion);

    if (status != SINEW_OK) {
        return inspect_fail(report);
    }

    int32_t frames = sinew_motion_frame_count(motion);
    inspect_text(report, "kind", "BVH motion");
    inspect_count(report, "joints", sinew_skeleton_joint_count(skeleton));
    inspect_text(report, "root", sinew_skeleton_joint_name(skeleton, 0));
    inspect_count(report, "frames", frames);
    inspect_number(report, "frame_time", sinew_motion_frame_time(motion));
    inspect_number(report, "duration", frames * sinew_motion_frame_time(motion));
    inspect_number(report, "height", rest_height(skeleton));
    sinew_motion_destroy(motion);
    sinew_skeleton_destroy(skeleton);

    return CLI_OK;
}
