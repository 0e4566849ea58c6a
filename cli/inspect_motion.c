// Files that move: glTF with its skins and animations, and recorded motion.
#include "inspect.h"

#include "sinew/io/gltf_file.h"
#include "sinew/io/motion_file.h"

#include <math.h>

static void tell_meshes(inspect_report *report, const sinew_gltf_file *file, int32_t count) {
    inspect_begin_list(report, "meshes", count);
    for (int32_t i = 0; i < count; i++) {
        sinew_gltf_mesh_info mesh = sinew_gltf_file_get_mesh(file, i);
        inspect_begin_item(report);
        inspect_text(report, "name", mesh.name);
        inspect_count(report, "points", mesh.point_count);
        inspect_count(report, "triangles", mesh.triangle_count);
        if (mesh.target_count > 0) {
            inspect_count(report, "morph_targets", mesh.target_count);
        }
        inspect_end_item(report);
    }
    inspect_end_list(report);
}

static void tell_materials(inspect_report *report, const sinew_gltf_file *file, int32_t count) {
    inspect_begin_list(report, "materials", count);
    for (int32_t i = 0; i < count; i++) {
        sinew_gltf_material_info material = sinew_gltf_file_get_material(file, i);
        inspect_begin_item(report);
        inspect_text(report, "name", material.name);
        inspect_count(report, "triangles", material.triangle_count);
        inspect_end_item(report);
    }
    inspect_end_list(report);
}

// The joints of all skins; parents are joints, too.
static void tell_joints(inspect_report *report, const sinew_gltf_file *file, int32_t skins) {
    int32_t total = 0;
    for (int32_t i = 0; i < skins; i++) {
        total += sinew_gltf_file_get_skin(file, i).joint_count;
    }

    inspect_begin_list(report, "joints", total);
    for (int32_t i = 0; i < skins; i++) {
        sinew_gltf_skin_info skin = sinew_gltf_file_get_skin(file, i);
        for (int32_t k = 0; k < skin.joint_count; k++) {
            sinew_gltf_joint_info joint = sinew_gltf_file_get_joint(file, i, k);
            inspect_begin_item(report);
            inspect_text(report, "name", joint.name);
            if (joint.parent) {
                inspect_text(report, "parent", joint.parent);
            }
            inspect_end_item(report);
        }
    }
    inspect_end_list(report);
}

static void tell_skins(inspect_report *report, const sinew_gltf_file *file, int32_t count) {
    inspect_begin_list(report, "skins", count);
    for (int32_t i = 0; i < count; i++) {
        sinew_gltf_skin_info skin = sinew_gltf_file_get_skin(file, i);
        inspect_begin_item(report);
        inspect_text(report, "name", skin.name);
        inspect_count(report, "joints", skin.joint_count);
        inspect_end_item(report);
    }
    inspect_end_list(report);
}

static void tell_animations(inspect_report *report, const sinew_gltf_file *file, int32_t count) {
    inspect_begin_list(report, "animations", count);
    for (int32_t i = 0; i < count; i++) {
        sinew_gltf_animation_info animation = sinew_gltf_file_get_animation(file, i);
        inspect_begin_item(report);
        inspect_text(report, "name", animation.name);
        inspect_count(report, "channels", animation.channel_count);
        inspect_number(report, "duration", animation.duration);
        inspect_end_item(report);
    }
    inspect_end_list(report);
}

int inspect_gltf(inspect_report *report, const sinew_source *source) {
    sinew_gltf_file *file = NULL;
    if (sinew_gltf_file_read(report->context, source, &file) != SINEW_OK) {
        return inspect_fail(report);
    }

    sinew_gltf_counts counts = sinew_gltf_file_get_counts(file);
    inspect_text(report, "kind", "glTF");
    inspect_count(report, "nodes", counts.nodes);
    tell_materials(report, file, counts.materials);
    tell_meshes(report, file, counts.meshes);
    tell_skins(report, file, counts.skins);
    tell_joints(report, file, counts.skins);
    tell_animations(report, file, counts.animations);
    sinew_gltf_file_destroy(file);

    return CLI_OK;
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
