// Building bodies of frames from a scene, and what they carry through a run.
#ifndef SN_IO_SCENE_BUILD_FRAMES_H
#define SN_IO_SCENE_BUILD_FRAMES_H

#include "io/scene/builder.h"
#include "io/scene/frames.h"

#include "frame/frame_state.h"

struct sn_member_frames {
    sinew_voxels *voxels;           // owned
    int32_t node_count;             // frames at the start
    double *rest;                   // their rest positions, three each
    int32_t *hold;                  // of each
    const sn_scene_motion **motion; // of each, or NULL
    sn_frame_points points;         // the surface's
    sn_arena points_arena;          // of `points`
};

// The voxels of a body's shape: a generated shape, solids, a closed surface, a volume of labels.
sinew_status sn_builder_make_voxels(const sn_builder *b, const sn_scene_shape *shape, const sinew_voxel_def *grid,
                                    sinew_voxels **voxels);
// The surface that is drawn: the body's file, the shape's own, or the boundary of the voxels, smoothed.
sinew_status sn_builder_make_voxel_surface(const sn_builder *b, const sn_scene_body *body, const sinew_voxels *voxels,
                                           sinew_mesh **surface);

// Everything of a body of frames. Mistakes are noted at their place in the scene.
sinew_status sn_builder_make_frames(sn_builder *b, sn_scene_member *member);

extern const sn_member_ops sn_frame_member_ops;

#endif
