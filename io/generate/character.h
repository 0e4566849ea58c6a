// Generated characters: flesh, a skin around it, a skeleton inside and a motion, for examples and
// tests.
#ifndef SN_CHARACTER_H
#define SN_CHARACTER_H

#include "sinew/mesh.h"
#include "sinew/skeleton.h"

// What to make. The y axis points up, characters look along z; dimensions are those of people.
typedef enum sn_character_kind {
    SN_CHARACTER_BENDING,  // A cylinder of 1 m along y with two bones; the upper one rotates by
                           // `angle` about x and stays there.
    SN_CHARACTER_TWISTING, // The same; the upper one rotates about y.
    SN_CHARACTER_LEG,      // Thigh, calf and foot; jumps once a second.
    SN_CHARACTER_ARM,      // A stout arm along x; waves once a second.
    SN_CHARACTER_BIPED,    // A whole person with arms held out at rest; walks a step cycle a
                           // second.
    SN_CHARACTER_FAT,      // The same with a large belly; crouches and hops once a second.
} sn_character_kind;

typedef struct sn_character_def {
    // Default SN_CHARACTER_BENDING.
    sn_character_kind kind;
    // Requested number of tets, met within about a tenth. [count] In [100, 50e6]. Default 3000.
    int32_t tet_count;
    // Time between frames of the motion. [s] Above 0. Default 1/30.
    double frame_time;
    // Length of the motion. [s] At least 0. Default 2.
    double duration;
    // Final angle of the cylinders. [rad] Finite. Default pi/2.
    double angle;
    // Tets whose centre is closer to a bone than this get the label 1 + the joint of the bone, all
    // others 0. Tets that would touch a different label stay 0. Rigid cores and hard materials use
    // the labels. [m] At least 0; 0: no labels. Default 0.
    double bone_radius;
    // Omit the flesh, which takes most of the time. Default false.
    bool without_flesh;
} sn_character_def;

sn_character_def sn_default_character_def(void);

// Each part may be used by itself while the character exists.
typedef struct sn_character {
    sinew_mesh *flesh;        // TET4; NULL if omitted.
    sinew_mesh *skin;         // Triangles: the closed surfaces that the flesh fills; those of
                              // neighbouring limbs overlap.
    sinew_skeleton *skeleton; // Without rotations in the rest pose.
    sinew_motion *motion;     // Starts from the rest pose.
} sn_character;

// Makes a character. All parts are NULL if it fails.
sinew_status sn_character_create(sinew_context *context, const sn_character_def *def,
                                 sn_character *character);

// Frees all parts. NULL and a zeroed character are allowed.
void sn_character_destroy(sn_character *character);

#endif
