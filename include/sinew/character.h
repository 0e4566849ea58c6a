// Characters that are made rather than read: flesh, a skin around it, a skeleton inside and a
// motion, to try things on.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_CHARACTER_H
#define SINEW_CHARACTER_H

#include "sinew/mesh.h"
#include "sinew/skeleton.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What to make. The y axis points up, characters look along z; lengths are those of people.
typedef enum sinew_character_kind {
    SINEW_CHARACTER_BENDING,  ///< A cylinder of 1 m along y with two bones; the upper one turns by
                              ///< `angle` about x and stays.
    SINEW_CHARACTER_TWISTING, ///< The same; the upper one turns about y.
    SINEW_CHARACTER_LEG,      ///< Thigh, calf and foot; jumps once a second.
    SINEW_CHARACTER_ARM,      ///< A stout arm along x; waves once a second.
    SINEW_CHARACTER_BIPED,    ///< A whole person with arms held out at rest; walks a step cycle a
                              ///< second.
    SINEW_CHARACTER_FAT,      ///< The same with a large belly; crouches and hops once a second.
} sinew_character_kind;

typedef struct sinew_character_def {
    /// Default SINEW_CHARACTER_BENDING.
    sinew_character_kind kind;
    /// Wished number of tets, met within about a tenth. [count] In [100, 50e6]. Default 3000.
    int32_t tet_count;
    /// Time between frames of the motion. [s] Above 0. Default 1/30.
    double frame_time;
    /// Length of the motion. [s] At least 0. Default 2.
    double duration;
    /// Final angle of the cylinders. [rad] Finite. Default a quarter turn.
    double angle;
    /// Tets whose centre is closer to a bone than this get the label 1 + the bone's joint, all
    /// others 0; at joints, where two such would touch, they stay 0. Rigid cores and hard materials
    /// go there. [m] At least 0; 0: no labels. Default 0.
    double bone_radius;
    /// Leave the flesh out, which takes most of the time. Default false.
    bool without_flesh;
} sinew_character_def;

SINEW_API sinew_character_def sinew_default_character_def(void);

/// Each part may be used by itself as long as the character lives.
typedef struct sinew_character {
    sinew_mesh *flesh;        ///< TET4; NULL if left out.
    sinew_mesh *skin;         ///< Triangles: the closed surfaces that the flesh fills; those of
                              ///< neighbouring limbs overlap.
    sinew_skeleton *skeleton; ///< Without rotations in the rest pose.
    sinew_motion *motion;     ///< Starts from the rest pose.
} sinew_character;

/// Makes a character. All parts are NULL if it fails.
SINEW_API sinew_status sinew_character_create(sinew_context *context,
                                              const sinew_character_def *def,
                                              sinew_character *character);

/// Frees all parts. NULL and a zeroed character are allowed.
SINEW_API void sinew_character_destroy(sinew_character *character);

#ifdef __cplusplus
}
#endif

#endif
