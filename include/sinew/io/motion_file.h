// Skeletons with recorded motion, and skinned characters, in files.
//
// Motion    : BVH and glTF/GLB in, BVH out.
// Characters: the first skinned mesh of a glTF/GLB, with its skeleton, weights and motion.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_MOTION_FILE_H
#define SINEW_IO_MOTION_FILE_H

#include "sinew/io/bytes.h"
#include "sinew/skeleton.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinew_motion_read_def {
    /// The unit of the file in metres. Neither format has a unit that exporters respect. [m] Above
    /// 0. Default 1.
    double unit;
    /// Name of the animation of a glTF file. Default NULL: the first one. If there is none, the
    /// motion is a single pose.
    const char *animation;
    /// Time between two samples of a glTF animation. [s] Above 0. Default 1/60.
    double frame_time;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_motion_read_def;

SINEW_API sinew_motion_read_def sinew_default_motion_read_def(void);

/// Reads a skeleton and its motion from glTF, detected by its first bytes or its ending, or from
/// BVH. `def` may be NULL.
SINEW_API sinew_status sinew_motion_read(sinew_context *context, const sinew_source *source,
                                         const sinew_motion_read_def *def,
                                         sinew_skeleton **skeleton, sinew_motion **motion);
/// Reads it from a path.
SINEW_API sinew_status sinew_motion_load(sinew_context *context, const char *path,
                                         const sinew_motion_read_def *def,
                                         sinew_skeleton **skeleton, sinew_motion **motion);

/// Writes a motion as BVH. The format has no rotations in the rest pose, and only the root
/// translates; the other joints rotate. `unit` is the unit of the file in metres. [m] Above 0.
SINEW_API sinew_status sinew_motion_write(sinew_context *context, const sinew_skeleton *skeleton,
                                          const sinew_motion *motion, double unit,
                                          sinew_bytes *out);
/// Writes it to a file.
SINEW_API sinew_status sinew_motion_save(sinew_context *context, const sinew_skeleton *skeleton,
                                         const sinew_motion *motion, double unit, const char *path);

/// Opaque: a skinned mesh with its skeleton and motion. The y axis points up, as glTF has it.
typedef struct sinew_character sinew_character;

/// Reads the first skinned mesh of a glTF or GLB. `def` may be NULL.
SINEW_API sinew_status sinew_character_read(sinew_context *context, const sinew_source *source,
                                            const sinew_motion_read_def *def,
                                            sinew_character **character);
/// Reads it from a path.
SINEW_API sinew_status sinew_character_load(sinew_context *context, const char *path,
                                            const sinew_motion_read_def *def,
                                            sinew_character **character);
/// NULL is allowed.
SINEW_API void sinew_character_destroy(sinew_character *character);

/// Its triangles in the bind pose. [m] This and the following are valid as long as the character.
SINEW_API const sinew_mesh *sinew_character_get_mesh(const sinew_character *character);
SINEW_API const sinew_skeleton *sinew_character_get_skeleton(const sinew_character *character);
SINEW_API const sinew_motion *sinew_character_get_motion(const sinew_character *character);
/// The weights of the file, four joints per vertex, for sinew_skin_compute.
SINEW_API sinew_skin *sinew_character_get_skin(const sinew_character *character);

#ifdef __cplusplus
}
#endif

#endif
