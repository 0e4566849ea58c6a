// The samples of a frame body, packed in layers, so that a node that joins or leaves repacks only
// the samples it touches.
//
// The first layer holds all samples with the lists of the shape's own nodes. When a node joins, the
// samples it touches move to a new layer with their new lists; in the old layer their volumes
// become zero. Samples that no inserted node touches any more return to the first layer. A layer is
// dissolved, and its samples repacked, once more than a quarter of them have left (lanes without
// volume then cost at most a third of a step) or when one of its nodes leaves. A layer numbers its
// nodes itself, so renumbering the nodes of the body does not affect packed data.
#ifndef SN_FRAME_ADAPT_LAYERS_H
#define SN_FRAME_ADAPT_LAYERS_H

#include "frame/blend/blend.h"
#include "frame/adapt/insertion.h"
#include "frame/sampling/sampling.h"

typedef struct sn_layer {
    sn_arena arena; // holds this struct too
    int32_t count, left;
    int32_t *sample; // [count]: numbers in the body, ascending
    bool *away;      // [count]: whether it has left
    int32_t *node;   // the body's numbers of the layer's nodes, ascending
    sn_nodes nodes;  // with the layer's own controls, and the body's rows and configurations
    sn_quadrature quadrature; // of these samples; without points if each is its own
    sn_frame_samples *samples,
        *points; // with the layer's nodes; the points are where strain is measured
    bool owns_samples;
    sn_blend blend;
} sn_layer;

typedef struct sn_layers {
    int32_t sample_count, count;
    sn_layer **items; // the first one first
    size_t capacity;
    sn_layer **layer_of; // [sample]
    int32_t *place_of;   // [sample]: in its layer
} sn_layers;

// What layers are made from.
typedef struct sn_layer_source {
    const sn_frame_samples *base;    // without insertions
    const sn_quadrature *quadrature; // of the base
    const sn_nodes *nodes;           // of the body
    int32_t base_nodes;
    const sn_insertion *const *insertions;
    int32_t insertion_count;
    sn_blend_materials materials;
    bool dual;
} sn_layer_source;

// The first layer, on the pattern of the body's rows. `layers` is the caller's to release, whatever
// this returns.
sinew_status sn_layers_create(sn_arena *arena, const sn_layer_source *source, const sn_bsr *rows,
                              sn_layers *layers);
void sn_layers_release(sinew_context *context, sn_layers *layers);

// A layer of the samples in a list, ascending, with these lists of nodes; `rows` is the pattern of
// the body's rows.
sinew_status sn_layer_create(sinew_context *context, const sn_layer_source *source,
                             const int32_t *list, int32_t count, const sn_sample_rows *lists,
                             const sn_bsr *rows, sn_layer **layer);
void sn_layer_destroy(sn_layer *layer);

// What a change moves: samples that go to a new layer, and those that return to the first one; both
// ascending.
typedef struct sn_layer_plan {
    int32_t count, home_count;
    int32_t *sample, *home;
} sn_layer_plan;

// Plans the change of the `count` samples in `touched`, whose lists are those of the source from
// now on; `gone` is the body's number of the node that leaves, or -1.
sinew_status sn_layers_plan(sn_arena *arena, const sn_layers *layers, const sn_layer_source *source,
                            const int32_t *touched, int32_t count, int32_t gone,
                            sn_layer_plan *plan);

// Room for one more layer, so that the change cannot fail.
sinew_status sn_layers_reserve(sinew_context *context, sn_layers *layers);

// Carries a plan out: `added` (or NULL) holds plan->sample; `gone` is the body's number of the node
// that left, or -1. The layers go over to the nodes and the pattern that the body has now.
void sn_layers_change(sn_layers *layers, const sn_layer_plan *plan, sn_layer *added, int32_t gone,
                      const sn_nodes *nodes, const sn_bsr *rows);

// Sums over all layers.
double sn_layers_evaluate(sinew_context *context, const sn_layers *layers, const sn_bsr *rows,
                          const sn_blend_request *request);
void sn_layers_measure(const sn_layers *layers, const double *q, double *smallest_J,
                       double *largest_J, double *volume);

// Takes over the configuration of the nodes.
void sn_layers_prepare(const sn_layers *layers, const double *q);

// Gives all samples of a material other constants, or its fibres another stress.
sinew_status sn_layers_set_material(const sn_layers *layers, int32_t index,
                                    const sinew_material_def *material);
void sn_layers_set_fibre_stress(const sn_layers *layers, int32_t index, double stress);

// Products with the stiffness: see sn_blend_prepare_products, sn_blend_keep_tangent and
// sn_blend_add_product.
sinew_status sn_layers_prepare_products(const sn_layers *layers, bool kept);
void sn_layers_keep_tangent(const sn_layers *layers);
void sn_layers_add_product(sinew_context *context, const sn_layers *layers, bool kept, double *y,
                           const double *x);

// The number of controls of a sample, on average. Not for rigid nodes.
double sn_layers_mean_controls(const sn_layers *layers);

// The rest position of a sample whose dual quaternions cancel at the prepared configuration, or
// NULL.
const double *sn_layers_find_vanished(const sn_layers *layers);

// The points of a sample in its layer's blend begin here, and end where those of the next begin.
static inline int32_t sn_layer_first_point(const sn_layer *layer, int32_t place) {
    return layer->quadrature.count > 0 ? layer->quadrature.start[place] : place;
}

#endif
