// Moving surfaces in files, for users of the library.
#include "sinew/io/animation_file.h"

#include "io/gltf/skin.h"
#include "io/mesh/write.h"
#include "io/public/bytes.h"

#include <math.h>
#include <string.h>

sinew_animation_def sinew_default_animation_def(void) {
    return (sinew_animation_def){
        .name = "surface", .z_up = true, .color = {0.8, 0.8, 0.8, 1}, .filled = SN_DEF_FILLED};
}

sinew_skin_file_def sinew_default_skin_file_def(void) {
    return (sinew_skin_file_def){.name = "skin",
                                 .joints_per_point = 4,
                                 .z_up = true,
                                 .color = {0.8, 0.8, 0.8, 1},
                                 .filled = SN_DEF_FILLED};
}

static sinew_status check_images(sinew_context *context, const sinew_mesh *surface, int32_t count,
                                 const double *times) {
    if (!surface || surface->element != SINEW_ELEMENT_TRIANGLE) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "an animation needs a surface of triangles");
    }
    if (count < 1 || !times) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%d images: there must be at least one",
                       (int)count);
    }

    for (int32_t i = 0; i < count; i++) {
        if (isfinite(times[i]) && (i == 0 || times[i] > times[i - 1])) {
            continue;
        }
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "image %d is at %g s: times must be finite and increase", (int)i, times[i]);
    }

    return SINEW_OK;
}

static sn_gltf_material material_of(const char *name, const double color[4]) {
    return (sn_gltf_material){
        .name = name, .color = {color[0], color[1], color[2], color[3]}, .roughness = 0.6};
}

static sinew_status write_glb(const sinew_animation_def *def, sn_buffer *out) {
    sn_glb_frames glb = {.name = def->name,
                         .point_count = def->surface->point_count,
                         .index_count = 3 * def->surface->element_count,
                         .frame_count = def->image_count,
                         .indices = def->surface->indices,
                         .frames = def->points,
                         .times = def->times,
                         .z_up = def->z_up,
                         .material = material_of(def->name, def->color)};
    return sn_write_glb_frames(&glb, 1, out);
}

static sinew_status write_pc2(const sinew_animation_def *def, sn_buffer *out) {
    sn_write_pc2_header(def->surface->point_count, def->image_count, 0, 1, out);
    for (int32_t i = 0; i < def->image_count; i++) {
        sn_write_pc2_frame(def->points[i], def->surface->point_count, def->z_up, out);
    }
    return SINEW_OK;
}

static sinew_status write(sinew_context *context, const sinew_animation_def *def, const char *name,
                          sn_buffer *out) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_animation_def"));
    SN_TRY(check_images(context, def->surface, def->image_count, def->times));
    sinew_status status;
    if (sinew_name_has_ending(name, ".glb")) {
        status = write_glb(def, out);
    } else if (sinew_name_has_ending(name, ".pc2")) {
        status = write_pc2(def, out);
    } else {
        return sn_fail(context, SINEW_UNSUPPORTED,
                       "%s: an animated surface is written as .glb or .pc2", name);
    }
    return status == SINEW_OK ? sn_buffer_status(out) : status;
}

sinew_status sinew_animation_write(sinew_context *context, const sinew_animation_def *def,
                                   const char *name, sinew_bytes *out) {
    SN_NEED(NULL, context);
    SN_NEED(context, def && out);
    return write(context, def, name, &out->buffer);
}

sinew_status sinew_animation_save(sinew_context *context, const sinew_animation_def *def,
                                  const char *path) {
    SN_NEED(NULL, context);
    SN_NEED(context, def);
    sn_buffer out = sn_buffer_create(context);
    return sn_save_buffer(write(context, def, path, &out), &out, path);
}

double sinew_joint_pose_fit(const double translation[3], const double matrix[9],
                            sinew_joint_pose *pose) {
    SN_NEED_OR(0, translation && matrix && pose);
    return sn_joint_pose_fit(translation, matrix, pose);
}

static sinew_status write_skin(sinew_context *context, const sinew_skin_file_def *def,
                               sn_buffer *out, double *largest_loss) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_skin_file_def"));
    SN_TRY(check_images(context, def->surface, def->image_count, def->times));
    if (def->joints_per_point != 4 && def->joints_per_point != 8) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%d joints at a point: 4 or 8",
                       (int)def->joints_per_point);
    }

    // The writer's own structure: the same arrays under its names.
    sn_skin_def skin = {.name = def->name,
                        .point_count = def->surface->point_count,
                        .index_count = 3 * def->surface->element_count,
                        .points = def->surface->points,
                        .indices = def->surface->indices,
                        .start = def->starts,
                        .joint = def->joints,
                        .weight = def->weights,
                        .joint_count = def->joint_count,
                        .joint_rest = def->joint_rest,
                        .sets = def->joints_per_point / 4,
                        .frame_count = def->image_count,
                        .times = def->times,
                        .poses = def->poses,
                        .z_up = def->z_up,
                        .material = material_of(def->name, def->color)};
    SN_TRY(sn_write_glb_skin(&skin, out, largest_loss));

    return sn_buffer_status(out);
}

sinew_status sinew_skin_file_write(sinew_context *context, const sinew_skin_file_def *def,
                                   sinew_bytes *out, double *largest_loss) {
    SN_NEED(NULL, context);
    SN_NEED(context, def && out);
    return write_skin(context, def, &out->buffer, largest_loss);
}

sinew_status sinew_skin_file_save(sinew_context *context, const sinew_skin_file_def *def,
                                  const char *path, double *largest_loss) {
    SN_NEED(NULL, context);
    SN_NEED(context, def);
    sn_buffer out = sn_buffer_create(context);
    return sn_save_buffer(write_skin(context, def, &out, largest_loss), &out, path);
}
