// Building bodies of frames from a scene, and what they carry through a run.
#ifndef SN_IO_SCENE_BUILD_FRAMES_H
#define SN_IO_SCENE_BUILD_FRAMES_H

#include "io/scene/builder.h"
#include "io/scene/frames.h"

enum { SN_FRAME_DIRECTIONS = 4 }; // of a frame that entries hold: x, y, z, rotation

// What the operations of frame bodies keep for a member.
typedef struct sn_member_frames {
    sinew_voxels *voxels; // owned
    double step;          // [s] of the world
    int32_t first_count;  // frames at the start; those that join later have the next numbers
    int32_t node_count;   // frames now
    // Of each frame, with room for all that may join:
    double *rest; // three numbers
    int32_t *hold;
    const sn_scene_motion **motion; // SN_FRAME_DIRECTIONS each: who moves x, y, z and the rotation
    int32_t *owner;     // SN_FRAME_DIRECTIONS each: the entry that holds x, y, z and the rotation
    double *held;       // seven each: position and rotation of what is held without a motion
    int32_t *insertion; // its number in the scene; -1 of the first
    // Of each entry of "fixed" and "scripted": the support of the surface that it became; -1 if it
    // holds frames, by their numbers or because no point of the surface is in its selection.
    int32_t *support;
} sn_member_frames;

// Of a member whose ops are sn_frame_member_ops.
static inline sn_member_frames *sn_frames_of(const sn_scene_member *member) {
    return member->own;
}

// The voxels of a body's shape: a generated shape, solids, a closed surface, a volume of labels.
sinew_status sn_builder_make_voxels(const sn_builder *b, const sn_scene_shape *shape,
                                    const sinew_voxel_def *grid, sinew_voxels **voxels);
// The same filled with tets, labelled by the voxels at their middles.
sinew_status sn_builder_fill_voxels(const sn_builder *b, const sn_scene_shape *shape,
                                    sinew_mesh **tets);
// Voxels that are there already, filled the same way.
sinew_status sn_builder_tets_of_voxels(const sn_builder *b, const sinew_voxels *voxels,
                                       const sinew_tetrahedralize_def *def, sinew_mesh **tets);
// The surface that is drawn: the body's file, the shape's own, or the boundary of the voxels,
// smoothed.
sinew_status sn_builder_make_voxel_surface(const sn_builder *b, const sn_scene_body *body,
                                           const sinew_voxels *voxels, sinew_mesh **surface);

// Everything of a body of frames. Mistakes are noted at their place in the scene.
sinew_status sn_builder_make_frames(sn_builder *b, sn_scene_member *member);

// The points of the body's surface in a selection; none is a mistake.
sinew_status sn_builder_pick_surface(sn_builder *b, const sn_scene_member *member,
                                     const sn_select *where, sn_picked *picked);

// The faces of the body's surface that a traction or pressure loads; none is a mistake. `net` is
// the surface of the voxels without smoothing, or NULL if the body's surface does not come from
// them.
sinew_status sn_builder_pick_area(sn_builder *b, sn_scene_member *member, int32_t load,
                                  const sinew_voxels *voxels, const sinew_mesh *net);

// Whether the surface of a body is the smoothed boundary of its voxels.
bool sn_scene_body_has_net(const sn_scene_body *body);

// Notes where a frame is that is held now, and the motion of each direction that `hold` names.
sinew_status sn_frames_note_held(sn_scene_member *member, int32_t node);
int32_t sn_frames_get_directions(int32_t hold);

// Lets frames join and leave that are due before a step that ends at `time`.
sinew_status sn_frames_adapt(sn_scene_member *member, double time);

// Lets all frames join and leave that have done so by `time`, one after the other and without
// fades: sums are then taken in the order of the run that a state was saved from, which it goes on
// with bit for bit.
sinew_status sn_frames_replay(sn_scene_member *member, double time);

// Whether frames join or leave before a step that ends at `time`.
bool sn_frames_changes(const sn_scene_member *member, double time);

// Whether a change of frames is still fading at a time.
bool sn_frames_is_fading(const sn_scene_member *member, double time);

extern const sn_member_ops sn_frame_member_ops;

#endif
