// Rigid bodies, joints and glue as scenes describe them.
#ifndef SN_IO_SCENE_RIGID_H
#define SN_IO_SCENE_RIGID_H

#include "io/scene/scene.h"

// A body that does not deform.
struct sn_scene_rigid {
    double mass; // [kg] 0: by the density of its material
    bool has_center, has_inertia, held, moves;
    double center[3], inertia[6]; // [m], [kg m^2]
    sn_scene_motion motion;       // of a held one
};

// Holds a rigid body to another, or to the world.
struct sn_scene_joint {
    const sn_json *json;
    int32_t body, target; // indices of bodies; target -1: the world
    sinew_rigid_joint_def def;
    bool driven, limited;
    sinew_rigid_joint_drive drive; // its angle is that of the curve
    sn_curve angle;                // [rad]
    double limits[2];              // [rad]
};

// Glue between the surfaces of two bodies.
typedef struct sn_scene_glue {
    const sn_json *json;
    int32_t body, target; // indices of bodies
    sinew_glue_def def;
} sn_scene_glue;

#endif
