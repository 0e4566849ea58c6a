// The world: bodies, what ties them, and the islands they fall into.
#ifndef SN_DYNAMICS_WORLD_H
#define SN_DYNAMICS_WORLD_H

#include "sinew/world.h"

#include "body/body.h"

typedef struct sn_island sn_island;

// One end of an attachment.
typedef struct sn_anchor {
    sinew_body *body;   // NULL: `point` is a place, which stays
    sn_body_point rows; // of a body that is linear in its rows
    sn_vec3 point;      // the rest point of one that is not
} sn_anchor;

// A point of one body held to a point of another, or to a place.
typedef struct sn_attachment {
    sn_anchor tied, target;
    double stiffness; // 0: hard
} sn_attachment;

static inline bool sn_anchor_is_linear(const sn_anchor *anchor) {
    return anchor->body && anchor->rows.count > 0;
}

// Whether the tied node's unknowns can be eliminated: x_s = sum_m w_m x_m. Other hard attachments
// are constraints (link.h).
static inline bool sn_attachment_eliminates(const sn_attachment *attachment) {
    return attachment->stiffness == 0 && sn_anchor_is_linear(&attachment->tied) &&
           sn_anchor_is_linear(&attachment->target);
}

struct sinew_world {
    sinew_context *context;
    sinew_world_def def;
    double time;
    sinew_body **bodies;
    size_t body_count, body_capacity;
    sn_attachment *attachments;
    size_t attachment_count, attachment_capacity;
    sn_island *islands; // a list, of all bodies that do not step by themselves
    bool prepared;      // whether it is there; otherwise the next step builds it
};

// Takes a finished body into the world; on failure the caller still owns it.
sinew_status sn_world_add_body(sinew_world *world, sinew_body *body);

// Drops what was derived from bodies and attachments; the next step builds it again.
void sn_world_forget_islands(sinew_world *world);

// The time at which a snapshot was taken; false if the bytes are none.
bool sn_snapshot_get_time(const void *bytes, size_t size, double *time);

// Builds the islands if they are not there, or not for what comes: steps or a static solve.
sinew_status sn_world_prepare(sinew_world *world, bool is_static);

#endif
