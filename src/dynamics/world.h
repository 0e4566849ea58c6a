// The world: bodies, what ties them, and the islands they fall into.
#ifndef SN_DYNAMICS_WORLD_H
#define SN_DYNAMICS_WORLD_H

#include "sinew/world.h"

#include "body/body.h"

typedef struct sn_island sn_island;
typedef struct sn_contact sn_contact;               // contact.h
typedef struct sinew_rigid_joint sinew_rigid_joint; // rigid_joint.c

// One end of an attachment: a point of a body, or, without a body, a position in space, of which
// only `point.x` counts.
typedef struct sn_anchor {
    sinew_body *body;
    sn_point point;
    sn_arena arena; // of the point's lists since the body's frames changed; empty before
} sn_anchor;

// A point of one body held to a point of another, or to a position.
struct sinew_attachment {
    sinew_world *world;
    sn_arena arena; // holds this struct and the lists of its points
    sn_anchor tied, target;
    double stiffness;         // [N/m] 0: hard
    double largest;           // force of a spring [N]; 0: any
    sn_vec3 force;            // of a link on the tied point, in the last step or static solve [N]
    sinew_rigid_joint *joint; // that it is part of; NULL: none
    struct sinew_glue *glue;  // likewise
    bool broken;              // does nothing any more
};

static inline bool sn_anchor_is_linear(const sn_anchor *anchor) {
    return anchor->body && anchor->point.weight;
}

// Whether the tied node's unknowns can be eliminated: x_s = sum_m w_m x_m. Other hard attachments
// are constraints (link.h).
static inline bool sn_attachment_eliminates(const sinew_attachment *attachment) {
    return attachment->stiffness == 0 && !attachment->broken &&
           !attachment->tied.body->ops->stepping && sn_anchor_is_linear(&attachment->tied) &&
           attachment->tied.point.count == 1 && sn_anchor_is_linear(&attachment->target);
}

struct sinew_world {
    sinew_context *context;
    sinew_world_def def;
    double start;  // time at which the steps began to be counted [s]
    int64_t steps; // of the present length since then
    sinew_body **bodies;
    size_t body_count, body_capacity;
    sinew_attachment **attachments; // in the order in which they were made
    size_t attachment_count, attachment_capacity;
    struct sinew_glue *glues; // a list, the oldest first
    sn_island *islands;       // a list, of all bodies
    bool prepared;            // whether it is there; otherwise the next step builds it
    sn_contact *contact;      // obstacles, and what contact keeps; NULL until there is any
};

// Takes away the attachments of a body, to `target` or, if that is NULL, to anything; with
// `as_target` also those that hold others to it. Returns how many.
int32_t sn_world_remove_attachments(sinew_world *world, const sinew_body *body,
                                    const sinew_body *target, bool as_target);

// What supports and ties must add for balance where the last step balanced forces:
// inertia - elastic - external, three numbers a row. [N]
void sn_body_compute_balance(sinew_body *body, double *forces);

// The same of held rows alone, zero elsewhere.
void sn_body_compute_reactions(sinew_body *body, double *forces);

// Takes a finished body into the world; on failure the caller still owns it.
sinew_status sn_world_add_body(sinew_world *world, sinew_body *body);

// Adds one island's report to the world's.
void sn_world_merge_report(sinew_step_report *total, const sinew_step_report *part);

// Drops what was derived from bodies and attachments; the next step builds it again.
void sn_world_forget_islands(sinew_world *world);

// The island of a body, once they are prepared.
sn_island *sn_world_find_island(const sinew_world *world, const sinew_body *body);

// After frames of a body have come or gone: points of the body and attached ones are found again by
// their rest positions, and the islands are dropped (adapt.c).
sinew_status sn_world_refresh_body(sinew_body *body);
// One of them, if it is of this body.
sinew_status sn_anchor_refresh(const sinew_body *body, sn_anchor *anchor);
void sn_anchor_release(sn_anchor *anchor);

// Builds the islands if they are not there, or not for what comes: steps or a static solve.
sinew_status sn_world_prepare(sinew_world *world, bool is_static);

#endif
