// The section "frames" of a body: coordinate frames that drive a solid of voxels. What a person
// writes, as plain structures.
#ifndef SN_IO_SCENE_FRAMES_H
#define SN_IO_SCENE_FRAMES_H

#include "io/scene/scene.h"

#include "sinew/frame_body.h"
#include "sinew/voxel.h"

typedef struct sn_scene_node {
    sinew_frame_node def;
    int32_t hold;  // SINEW_HOLD_ bits
    bool scripted; // what is held follows `motion`
    sn_scene_motion motion;
    bool moved; // begins elsewhere: translated and turned about itself
    double translate[3], rotation[4];
    bool thrown; // begins with a motion of its own
    double velocity[3], spin[3];
    const sn_json *json;
} sn_scene_node;

typedef struct sn_scene_tissue {
    int32_t label;
    bool rigid;
    int32_t node; // that carries all of it, or -1
    const sn_json *json;
} sn_scene_tissue;

// A frame that joins while the scene runs, and perhaps leaves again.
typedef struct sn_scene_insertion {
    double time, leave; // [s]; infinite if it stays
    sinew_frame_insert_def def;
    int32_t hold;
    bool scripted;
    sn_scene_motion motion;
    const sn_json *json;
} sn_scene_insertion;

struct sn_scene_frames {
    const sn_json *json;
    sinew_voxel_def grid;
    int32_t node_count; // written down
    const sn_scene_node *nodes;
    sinew_placement_def placement; // `count` nodes in all; those written down are the first
    sinew_node_kind kind;          // of the nodes that are placed; may be automatic
    sinew_blend blend;
    sinew_weights_def weights;
    sinew_sampling_def sampling;
    sinew_frame_mass mass;
    bool springs;
    bool geometric_stiffness;
    bool assumed_strain;
    int32_t tissue_count;
    const sn_scene_tissue *tissues;
    int32_t insertion_count;
    const sn_scene_insertion *insertions;
};

#endif
