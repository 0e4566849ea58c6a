// A body bound to a skeleton: nodes of elements (bind_nodes.c) or frames (bind_frames.c) that
// follow joints.
#ifndef SN_SKELETON_BINDING_H
#define SN_SKELETON_BINDING_H

#include "sinew/binding.h"

#include "body/body.h"
#include "skeleton/skeleton.h"

// What differs between nodes and frames.
typedef struct sn_binding_ops {
    // Fills count, bound, joints and rest from the bones, or from the joints that the host chose.
    sinew_status (*find)(sinew_binding *binding, const sinew_binding_def *def);
    // Holds the bound nodes or frames in their position, or releases them.
    sinew_status (*hold)(sinew_binding *binding, bool held);
    // Computes the targets for a pose, and prescribes them.
    sinew_status (*drive)(sinew_binding *binding, const sinew_transform *pose);
    // Moves the body there at once.
    sinew_status (*set_pose)(sinew_binding *binding, const sinew_transform *pose);
} sn_binding_ops;

extern const sn_binding_ops sn_node_binding, sn_frame_binding;

struct sinew_binding {
    sn_arena arena; // holds this struct too
    const sn_binding_ops *ops;
    sinew_body *body;
    const sinew_skeleton *skeleton;
    sinew_binding_mode mode;
    sn_rigid placement;
    sinew_binding_report report;
    int32_t count;
    int32_t *bound;           // nodes or frames, ascending
    int32_t *joints;          // of each; not used if all nodes follow by weights
    double *rest;             // their rest positions, three numbers each
    double *targets;          // the positions they are driven to
    sinew_transform *offsets; // of each joint, from rest to the last pose
    sinew_skin *skin;         // of all nodes; NULL for frames
    double *positions;        // scratch for the positions of all nodes; NULL for frames
};

// Allocates the lists for `most` bound nodes or frames.
sinew_status sn_binding_allocate(sinew_binding *binding, int32_t most);

// Adds a node or frame with its joint to the list, unless the joint is -1. Fails if the joint does
// not exist.
sinew_status sn_binding_add(sinew_binding *binding, int32_t item, int32_t joint,
                            const double rest[3]);

#endif
