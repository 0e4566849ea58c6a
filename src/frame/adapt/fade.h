// What keeps a body from jumping when its nodes change: the difference between the old and the new
// shape, which decays.
//
// Every change is an event with a clock of its own, and what they leave adds up. A sample's F is
// multiplied from the right by D = I + sum_e r_e E_e, r_e from 1 to 0: stresses go on as they were,
// and remain the gradient of an energy that no rigid motion changes. With P what older events
// leave, E_e = F_new^-1 F_old (I + P) - (I + P). A point is moved by
//
//   A sum_e r_e o_e(X),   o_e(X) = A_e^-1 (x_old,e(X) - x_new,e(X))
//
// A are the axes, now and at the event, of that node of the shape's own which moves the point most:
// it never leaves. An event remembers the nodes and weights before and after, so that this is known
// at every rest point, whenever it is asked for.
#ifndef SN_FRAME_ADAPT_FADE_H
#define SN_FRAME_ADAPT_FADE_H

#include "frame/blend/blend.h"
#include "frame/adapt/layers.h"

// Where nodes were, and their weights.
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
    bool *covered;         // [sample]: a younger event speaks for it
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

// How much is left of an event at an age of the body: from 1 smoothly to 0.
double sn_fade_left(const sn_fade_event *event, double age);

// Gives the packed samples what belongs to an age, if they have not got it.
void sn_fade_refresh(sn_fade *fade, const sn_layers *layers, double age);

// What an event leaves at a rest point, whole, with what it is carried by; and what all leave at an
// age.
sn_blend_offset sn_fade_event_offset(const sn_fade_event *event, const sn_shape *shape, sn_vec3 X,
                                     int32_t carrier);
sn_blend_offset sn_fade_sum(const sn_fade *fade, double age, const sn_blend_offset *offsets);
sn_blend_offset sn_fade_offset_at(const sn_fade *fade, const sn_shape *shape, double age,
                                  sn_vec3 X);

// Turns an offset that begins with an event, and its slope (or NULL), into the axes of
// off->carrier.
void sn_fade_keep(const sn_fade_event *event, sn_vec3 offset, const sn_mat3 *slope,
                  sn_blend_offset *off);

// The node that carries offsets of a rest point.
int32_t sn_fade_carrier(const sn_shape *shape, sn_vec3 X);

// Adds the offsets of vertices at an age.
void sn_fade_move_vertices(const sn_fade *fade, const sn_nodes *nodes, const sn_blend *blend,
                           double age, double *positions);

// A pose of its own, from nodes, their configuration and insertions, which it holds.
sinew_status sn_fade_pose_create(sn_arena *arena, const sn_nodes *nodes, const double *q, bool dual,
                                 sn_insertion *const *insertions, int32_t count,
                                 sn_fade_pose *pose);

// An event that begins at once: of these samples (without residuals) and vertices. Gives room to
// one more in the fade.
sinew_status sn_fade_event_create(sinew_context *context, const sn_insertion *changed,
                                  double duration, sn_fade *fade, sn_fade_event **event);
void sn_fade_event_destroy(sn_fade_event *event);

// What older events leave at a sample's point at an age, P, and where the youngest of them has it
// (NULL if none).
sn_mat3 sn_fade_older_residual(const sn_fade *fade, double age, int32_t sample, int32_t point,
                               sn_fade_event **older, int32_t *place);

// Room for what fades once `added` (or NULL) has joined.
sinew_status sn_fade_room_create(sinew_context *context, const sn_fade *fade,
                                 const sn_fade_event *added, sn_fade_room *room);

// Before the layers change: takes D away. Afterwards: drops what has finished, adds the event, and
// takes the room over.
void sn_fade_detach(sn_fade *fade);
void sn_fade_attach(sn_fade *fade, const sn_layers *layers, double age, sn_fade_event *added,
                    const sn_fade_room *room);

void sn_fade_release(sinew_context *context, sn_fade *fade);

#endif
