// Linear blending: the samples of a frame body as samples of control vectors, and the way back from controls to rows.
#ifndef SN_FRAME_BLEND_H
#define SN_FRAME_BLEND_H

#include "body/sample_groups.h"
#include "frame/nodes.h"
#include "frame/samples.h"

// Where the block of a pair of controls goes in the matrix of rows.
typedef struct sn_blend_target {
    int32_t slot; // of the lower triangle
    bool transposed;
} sn_blend_target;

typedef struct sn_blend {
    sn_sample_groups groups; // one for each material and number of controls
    int32_t *group_material; // [group]
    int32_t *sample_group;   // [sample]
    int32_t *sample_place;   // [sample] within its group
    sn_bsr pattern;          // of the controls
    double *controls, *force, *matrix;
    sn_blend_target *targets; // for each lower block of the pattern
    int32_t *node_of_control;
} sn_blend;

// `label_material` gives the material of a label (NULL: the first). The samples are read, not kept.
sinew_status sn_blend_create(sn_arena *arena, const sn_nodes *nodes, const sn_frame_samples *samples,
                             const sinew_material_def *materials, int32_t material_count, const int32_t *material_labels,
                             const sn_bsr *rows, sn_blend *blend);

// The lists of rows that each sample couples, for the pattern of the rows.
sinew_status sn_blend_row_sets(sn_arena *arena, const sn_nodes *nodes, const sn_frame_samples *samples, sn_bsr_sets *sets);

typedef struct sn_blend_request {
    const double *q;
    bool want_energy, projected, geometric;
    double *force, *matrix;
} sn_blend_request;

double sn_blend_evaluate(sinew_context *context, const sn_nodes *nodes, const sn_blend *blend, const sn_bsr *rows,
                         const sn_blend_request *request);

#endif
