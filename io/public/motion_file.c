// Skeletons and motion in files, for users of the library.
#include "sinew/io/motion_file.h"

#include "sinew/io/gltf_file.h"

#include "io/gltf/skeleton.h"
#include "io/motion/read_bvh.h"
#include "io/public/bytes.h"
#include "io/public/motion.h"

#include <math.h>
#include <string.h>

sinew_motion_read_def sinew_default_motion_read_def(void) {
    return (sinew_motion_read_def){.unit = 1, .frame_time = 1.0 / 60, .filled = SN_DEF_FILLED};
}

sinew_status sn_check_motion_read_def(sinew_context *context, const sinew_source *source,
                                      const sinew_motion_read_def *def) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_motion_read_def"));
    bool sound =
        def->unit > 0 && isfinite(def->unit) && def->frame_time > 0 && isfinite(def->frame_time);
    if (sound) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "%s: unit (%g m) and frame time (%g s) must be positive", source->name,
                   def->unit, def->frame_time);
}

static sinew_status read_gltf(sinew_context *context, const sinew_source *source,
                              const sinew_motion_read_def *def, sinew_skeleton **skeleton,
                              sinew_motion **motion) {
    sn_gltf_file file;
    sinew_status status = sn_gltf_read(context, source, &file);
    sn_gltf_skeleton_def how = {.file = source->name,
                                .unit = def->unit,
                                .frame_time = def->frame_time,
                                .animation = def->animation};

    if (status == SINEW_OK) {
        status = sn_gltf_create_skeleton(context, &file.view, &how, skeleton, motion);
    }

    sn_gltf_file_destroy(&file);
    return status;
}

sinew_status sinew_motion_read(sinew_context *context, const sinew_source *source,
                               const sinew_motion_read_def *def, sinew_skeleton **skeleton,
                               sinew_motion **motion) {
    SN_NEED(NULL, context);
    SN_NEED(context, source);
    sinew_motion_read_def defaults = sinew_default_motion_read_def();
    def = def ? def : &defaults;
    SN_TRY(sn_check_motion_read_def(context, source, def));
    SN_NEED(context, skeleton && motion);
    if (sinew_gltf_file_detect(source)) {
        return read_gltf(context, source, def, skeleton, motion);
    }
    return sn_bvh_read(context, source->name, source->data, source->size, def->unit, skeleton,
                       motion);
}

sinew_status sinew_motion_load(sinew_context *context, const char *path,
                               const sinew_motion_read_def *def, sinew_skeleton **skeleton,
                               sinew_motion **motion) {
    SN_NEED(NULL, context);
    sinew_file *opened;
    SN_TRY(sinew_file_open(context, path, 0, &opened));
    sinew_status status =
        sinew_motion_read(context, sinew_file_get_source(opened), def, skeleton, motion);
    sinew_file_close(opened);
    return status;
}

static sinew_status write(sinew_context *context, const sinew_skeleton *skeleton,
                          const sinew_motion *motion, double unit, sn_buffer *out) {
    if (!(unit > 0) || !isfinite(unit)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "the unit must be positive, not %g m",
                       unit);
    }
    return sn_bvh_write(context, skeleton, motion, unit, out);
}

sinew_status sinew_motion_write(sinew_context *context, const sinew_skeleton *skeleton,
                                const sinew_motion *motion, double unit, sinew_bytes *out) {
    SN_NEED(NULL, context);
    SN_NEED(context, out);
    return write(context, skeleton, motion, unit, &out->buffer);
}

sinew_status sinew_motion_save(sinew_context *context, const sinew_skeleton *skeleton,
                               const sinew_motion *motion, double unit, const char *path) {
    SN_NEED(NULL, context);
    sn_buffer out = sn_buffer_create(context);
    return sn_save_buffer(write(context, skeleton, motion, unit, &out), &out, path);
}
