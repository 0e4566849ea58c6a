// One event of a fade: the change of a body that it remembers, and what is left of it. For the
// files of this folder only.
#ifndef SN_FRAME_ADAPT_FADE_EVENT_H
#define SN_FRAME_ADAPT_FADE_EVENT_H

#include "frame/adapt/fade.h"

// The positions of the nodes at one moment, and their weights.
typedef struct sn_fade_pose {
    sn_nodes nodes;
    sn_blend blend;
    sn_insertion **insertions; // held
    int32_t insertion_count;
} sn_fade_pose;

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

// The factor r of an event at an age of the body, which falls smoothly from 1 to 0.
double sn_fade_left(const sn_fade_event *event, double age);

// Converts an offset at the time of an event, and its slope (or NULL), to the axes of off->carrier.
void sn_fade_keep(const sn_fade_event *event, sn_vec3 offset, const sn_mat3 *slope,
                  sn_blend_offset *off);

// Copies nodes and their configuration, and holds the insertions.
sinew_status sn_fade_pose_create(sn_arena *arena, const sn_nodes *nodes, const double *q, bool dual,
                                 const sn_insertion *const *insertions, int32_t count,
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

#endif
