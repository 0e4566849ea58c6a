// Fades: what keeps a body from jumping when its set of nodes changes. The difference between the
// old and the new shape is kept, and decays to zero.
//
// Every change is an event with its own clock, and events add up. With r_e falling from 1 to 0, a
// sample measures F D instead of F, where
//
//   D   = I + sum_e r_e E_e
//   E_e = F_new^-1 F_old (I + P) - (I + P),   P what older events contribute
//
// so that stress is continuous in time and remains the gradient of an energy that is invariant
// under rigid motions. A point is displaced by
//
//   A sum_e r_e o_e(X),   o_e(X) = A_e^-1 (x_old,e(X) - x_new,e(X))
//
// where A and A_e are the axes, now and at the event, of the node that carries the point: the one
// of the shape's own nodes with the largest weight there, since these never leave. An event keeps
// the nodes and weights before and after it, so the offset is known at every rest point at any
// time.
#ifndef SN_FRAME_ADAPT_FADE_H
#define SN_FRAME_ADAPT_FADE_H

#include "frame/blend/blend.h"
#include "frame/adapt/layers.h"

typedef struct sn_fade_event sn_fade_event; // fade_event.h

// Room for D in blocks of rigid nodes, and where each belongs.
typedef struct sn_fade_room {
    sn_arena arena;
    int32_t count, capacity;
    double ***slot, **buffer;
} sn_fade_room;

typedef struct sn_fade {
    int32_t count;
    sn_fade_event **events; // the oldest first
    size_t capacity;
    sn_fade_room room;
    double applied; // the age that the packed samples show
    bool shows;     // whether anything faded then
} sn_fade;

// Sets D of the packed samples for an age, unless they have it already.
void sn_fade_refresh(sn_fade *fade, const sn_layers *layers, double age);

// The offsets of all events, fade->count of them, at a rest point with r = 1; the sum of given
// offsets at an age; and that sum at a rest point.
void sn_fade_find_offsets(const sn_fade *fade, const sn_shape *shape, sn_vec3 X,
                          sn_blend_offset *offsets);
sn_blend_offset sn_fade_sum(const sn_fade *fade, double age, const sn_blend_offset *offsets);
sn_blend_offset sn_fade_offset_at(const sn_fade *fade, const sn_shape *shape, double age,
                                  sn_vec3 X);

// The sum of the offsets that still fade at a vertex, over the changes that moved it.
sn_blend_offset sn_fade_offset_of_vertex(const sn_fade *fade, double age, int32_t vertex);

// Adds the offsets of vertices at an age.
void sn_fade_move_vertices(const sn_fade *fade, const sn_nodes *nodes, const sn_blend *blend,
                           double age, double *positions);

// Room for D once `added` (or NULL) has been attached.
sinew_status sn_fade_room_create(sinew_context *context, const sn_fade *fade,
                                 const sn_fade_event *added, sn_fade_room *room);

// Detach removes D from the packed samples, before the layers change. Attach drops finished events,
// adds the new one (or NULL) and takes over the room, after they have changed.
void sn_fade_detach(sn_fade *fade);
void sn_fade_attach(sn_fade *fade, const sn_layers *layers, double age, sn_fade_event *added,
                    const sn_fade_room *room);

// Whether anything fades at an age.
bool sn_fade_is_active(const sn_fade *fade, double age);

// A fingerprint of what fades at an age.
uint64_t sn_fade_hash(const sn_fade *fade, double age);

void sn_fade_release(sinew_context *context, sn_fade *fade);

#endif
