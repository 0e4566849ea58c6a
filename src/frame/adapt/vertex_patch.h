// Vertices of a frame body's surface whose weights differ from the shape's own, because inserted
// nodes touch them.
#ifndef SN_FRAME_ADAPT_VERTEX_PATCH_H
#define SN_FRAME_ADAPT_VERTEX_PATCH_H

#include "frame/adapt/insertion.h"

typedef struct sn_vertex_patch {
    sn_arena arena; // holds this struct too
    int32_t count;
    int32_t *vertex;  // ascending
    double *rest;     // 3 each
    double *position; // 3 each: scratch
    sn_vertex_weights weights;
} sn_vertex_patch;

// The patch after a change: the rows of vertices that `change->changed` does not touch are taken
// over from `old` (or NULL). Without any insertion the patch is NULL.
sinew_status sn_vertex_patch_create(sinew_context *context, const sn_vertex_patch *old,
                                    const sn_vertex_weights *base, const double *points,
                                    int32_t base_nodes, const sn_insertion_change *change,
                                    sn_vertex_patch **patch);
void sn_vertex_patch_destroy(sn_vertex_patch *patch);

// The index of a vertex in the patch, or -1.
int32_t sn_vertex_patch_find(const sn_vertex_patch *patch, int32_t vertex);

#endif
