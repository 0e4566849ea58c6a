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
    // Holds what is bound where it is, or sets it free.
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
    int32_t *joints;          // of each; not used where all nodes follow by weights
    double *rest;             // their rest positions, three numbers each
    double *targets;          // where they are driven to
    sinew_transform *offsets; // of each joint, from rest to the last pose
    sinew_skin *skin;         // of all nodes; NULL for frames
    double *positions;        // room for those of all nodes; NULL for frames
};

// Room for `most` bound nodes or frames.
sinew_status sn_binding_allocate(sinew_binding *binding, int32_t most);

// Adds a node or frame with a joint to the list; -1 is left out. Fails if there is no such joint.
sinew_status sn_binding_add(sinew_binding *binding, int32_t item, int32_t joint,
                            const double rest[3]);

#endif
