// Skeletons of a scene, bodies bound to them, and bodies under position dynamics.
//
// A skeleton's poses are in the coordinates of the bodies bound to it, before their placement:
// placing a body elsewhere takes its skeleton along. A bound body starts in the pose in which the
// motion starts, its free nodes by dual-quaternion skinning.
#ifndef SN_IO_SCENE_BUILD_SKELETON_H
#define SN_IO_SCENE_BUILD_SKELETON_H

#include "io/scene/builder.h"

// The flesh and the skin of a character as shapes.
sinew_status sn_builder_make_flesh(const sn_builder *b, const sn_scene_shape *shape,
                                   sinew_mesh **flesh);
sinew_status sn_builder_make_skin(const sn_builder *b, const sn_scene_shape *shape,
                                  sinew_mesh **skin);

// The body of a member under position dynamics; `def` holds mesh, materials, labels and placement.
sinew_status sn_builder_make_positions(sn_builder *b, sn_scene_member *member,
                                       const sinew_body_def *def);

// Reads or makes the skeletons and their motions; notes mistakes.
sinew_status sn_builder_make_bones(sn_builder *b);

// Binds a member to its skeleton, if it has one, and brings it to the first pose.
sinew_status sn_builder_bind(sn_builder *b, sn_scene_member *member);

// Poses all skeletons for a time of the run, and prescribes the bound nodes.
sinew_status sn_bones_apply(sn_scene_world *world, double time);

void sn_bones_destroy(sn_scene_world *world);

#endif
