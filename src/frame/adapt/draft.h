// A change of a running body in the range of the node that joins or leaves, until the body takes it
// over: the samples that are packed again, the vertices with new weights, and the fade. Everything
// that can fail happens while the draft is made; dropping it leaves the body as it was.
#ifndef SN_FRAME_ADAPT_DRAFT_H
#define SN_FRAME_ADAPT_DRAFT_H

#include "sinew/frame_body.h"

#include "frame/adapt/fade.h"
#include "frame/adapt/vertex_patch.h"

typedef struct sn_adapt_draft {
    sn_arena arena; // scratch, the caller's to destroy
    sn_insertion_change change;
    sn_layer_plan plan;
    sn_layer *layer;        // of the samples that move; NULL without any
    sn_vertex_patch *patch; // NULL without insertions
    sn_fade_event *event;   // NULL without a fade
    sn_fade_room room;
} sn_adapt_draft;

// Nodes, their configuration and the vertices that insertions touch, before or after a change.
typedef struct sn_fade_side {
    const sn_nodes *nodes;
    const double *q;
    const sn_vertex_patch *patch; // or NULL
} sn_fade_side;

// What a fade starts from.
typedef struct sn_fade_source {
    double duration; // [s]; 0: without a fade
    double age;      // of the body, [s]
    bool dual;
    bool has_strain;         // false: of springs, which measure no strain, positions alone fade
    const sn_layers *layers; // before the change
    const sn_quadrature *quadrature;
    const sn_vertex_weights *base_vertices;
    const double *points; // rest positions of the vertices
    sn_fade_side before, after;
} sn_fade_source;

// Fills in the event and the room of a draft whose plan, layer and patch are known.
sinew_status sn_adapt_draft_start_fade(sinew_context *context, const sn_fade_source *source,
                                       sn_fade *fade, sn_adapt_draft *draft);

// Carries the change out; `nodes` and `rows` are the body's from now on. Cannot fail.
void sn_adapt_draft_take_over(sn_adapt_draft *draft, const sn_nodes *nodes, const sn_bsr *rows,
                              double age, sn_layers *layers, sn_fade *fade, sn_vertex_patch **patch,
                              sinew_frame_change *report);

// Frees what a draft that is not taken over holds.
void sn_adapt_draft_drop(sn_adapt_draft *draft);

#endif
