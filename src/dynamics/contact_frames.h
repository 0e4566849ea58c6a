// Frames that join a body where contact presses a dent into it, and leave again (Gilles et al.
// 2011, 4.4 and 5.3).
//
// The bits of a body depend on the order in which its frames came, and a fade on the configurations
// at which they did. So that a snapshot continues with the same bits in any world, the body keeps a
// record: the frames of which nothing fades any more, which joined a fresh body in their order, and
// what came and went since, with the configuration and age of the body at each change. Before a
// change at which nothing fades, the body is built again from the frames that it has, and its
// record starts again. Hence a record is short.
#ifndef SN_DYNAMICS_CONTACT_FRAMES_H
#define SN_DYNAMICS_CONTACT_FRAMES_H

#include "sinew/contact.h"

#include "dynamics/world.h"

enum { SN_MOST_CONTACT_FRAMES = 16, SN_MOST_FRAME_CHANGES = 8 };

typedef struct sn_contact_frame {
    sn_vec3 X;    // rest position
    double range; // [m]
} sn_contact_frame;

typedef struct sn_frame_change {
    int32_t gone;           // the index of the frame that left; -1: `frame` joined
    sn_contact_frame frame; // that came or went
    double age;             // of the body before the change [s]
    double fade;            // [s]
    int32_t count;          // of q
    double *q;              // the configuration before it
} sn_frame_change;

typedef struct sn_contact_frames {
    bool on;
    sinew_contact_frames_def def;

    // The record.
    int32_t settled_count, change_count;
    sn_contact_frame settled[SN_MOST_CONTACT_FRAMES];
    sn_frame_change changes[SN_MOST_FRAME_CHANGES];
    int32_t q_room; // of each change

    // The frames now, in the order of their nodes, and how long nothing has pressed on each.
    int32_t count;
    sn_contact_frame frames[SN_MOST_CONTACT_FRAMES];
    double idle[SN_MOST_CONTACT_FRAMES]; // [s]
} sn_contact_frames;

// After a step: frames join and leave as its contacts ask for.
sinew_status sn_contact_frames_adapt(sinew_world *world);

// Whether frames of a body came or went after the last step, whose balance is not the body's now.
static inline bool sn_contact_frames_have_changed(const sinew_body *body) {
    const sn_contact_frames *frames = body->contact_frames;
    return frames && frames->change_count > 0 && *body->age == 0;
}

// Gives the body the frames and fades of a record. Velocities and all else are to be set then.
sinew_status sn_contact_frames_replay(sinew_body *body, const sn_contact_frames *record);

// --- contact_frames_state.c: the records of all bodies in a snapshot
size_t sn_contact_frames_size(const sinew_world *world);
char *sn_contact_frames_write(const sinew_world *world, char *bytes);
// Whether the bodies have the frames of the records at `bytes`, of which there are `size`. Fails if
// these are no records of this world.
sinew_status sn_contact_frames_compare(const sinew_world *world, const char *bytes, size_t size,
                                       bool *same);
// Gives the bodies the frames of the records, after sn_contact_frames_compare.
sinew_status sn_contact_frames_restore(sinew_world *world, const char *bytes, size_t size);
// Takes over what else is in the records, which cannot fail. Returns their end.
const char *sn_contact_frames_restore_idle(sinew_world *world, const char *bytes);

#endif
