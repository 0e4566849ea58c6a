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

// The positions of the nodes at one moment, and their weights.
typedef struct sn_fade_pose {
    sn_nodes nodes;
    sn_blend blend;
    sn_insertion **insertions; // held
    int32_t insertion_count;
} sn_fade_pose;

typedef struct sn_fade_event sn_fade_event;
struct sn_fade_event {
    sn_arena arena;           // holds this struct too
    double duration, elapsed; // [s]; elapsed when the body's age began
    sn_fade_pose before, after;
    sn_insertion *changed; // held: the one that came or went
    int32_t sample_count;
    int32_t *sample;       // numbers in the body, ascending
    int32_t *first;        // [sample_count + 1]: residuals of the sample's points
    sn_mat3 *residual;     // E
    sn_fade_event **older; // [sample]: the event before that fades the same sample, or NULL
    int32_t *older_place;  // and where
    bool *covered;         // [sample]: a younger event includes it
    int32_t vertex_count;
    int32_t *vertex;
    sn_blend_offset *offset;
};

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

// The factor r of an event at an age of the body, which falls smoothly from 1 to 0.
double sn_fade_left(const sn_fade_event *event, double age);

// Sets D of the packed samples for an age, unless they have it already.
void sn_fade_refresh(sn_fade *fade, const sn_layers *layers, double age);

// The offsets of all events, fade->count of them, at a rest point with r = 1; the sum of given
// offsets at an age; and that sum at a rest point.
void sn_fade_find_offsets(const sn_fade *fade, const sn_shape *shape, sn_vec3 X,
                          sn_blend_offset *offsets);
sn_blend_offset sn_fade_sum(const sn_fade *fade, double age, const sn_blend_offset *offsets);
sn_blend_offset sn_fade_offset_at(const sn_fade *fade, const sn_shape *shape, double age,
                                  sn_vec3 X);

// Converts an offset at the time of an event, and its slope (or NULL), to the axes of off->carrier.
void sn_fade_keep(const sn_fade_event *event, sn_vec3 offset, const sn_mat3 *slope,
                  sn_blend_offset *off);

// Adds the offsets of vertices at an age.
void sn_fade_move_vertices(const sn_fade *fade, const sn_nodes *nodes, const sn_blend *blend,
                           double age, double *positions);

// Copies nodes and their configuration, and holds the insertions.
sinew_status sn_fade_pose_create(sn_arena *arena, const sn_nodes *nodes, const double *q, bool dual,
                                 sn_insertion *const *insertions, int32_t count,
                                 sn_fade_pose *pose);

// An event that starts now, without samples and vertices yet. Reserves room for it in the fade, so
// that attaching it cannot fail.
sinew_status sn_fade_event_create(sinew_context *context, const sn_insertion *changed,
                                  double duration, sn_fade *fade, sn_fade_event **event);
void sn_fade_event_destroy(sn_fade_event *event);

// What older events leave at a sample's point at an age, P, and where the youngest of them has it
// (NULL if none).
sn_mat3 sn_fade_older_residual(const sn_fade *fade, double age, int32_t sample, int32_t point,
                               sn_fade_event **older, int32_t *place);

// Room for D once `added` (or NULL) has been attached.
sinew_status sn_fade_room_create(sinew_context *context, const sn_fade *fade,
                                 const sn_fade_event *added, sn_fade_room *room);

// Detach removes D from the packed samples, before the layers change. Attach drops finished events,
// adds the new one (or NULL) and takes over the room, after they have changed.
void sn_fade_detach(sn_fade *fade);
void sn_fade_attach(sn_fade *fade, const sn_layers *layers, double age, sn_fade_event *added,
                    const sn_fade_room *room);

void sn_fade_release(sinew_context *context, sn_fade *fade);

#endif
