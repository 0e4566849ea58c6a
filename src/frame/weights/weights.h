// Shape functions of a few nodes over the voxels of a solid: what enters is a label grid, node
// positions and a recipe; what leaves is, for each voxel, a short list of (node, weight), and from
// it weights and gradients at any point.
//
// Storage is by voxel, compressed rows: the entries of voxel v are start[v] .. start[v + 1] - 1,
// nodes ascending. Where the weights are normalised they sum to 1 at every voxel, point and sample,
// and the gradients to 0, up to rounding.
#ifndef SN_FRAME_WEIGHTS_WEIGHTS_H
#define SN_FRAME_WEIGHTS_WEIGHTS_H

#include "sinew/frame.h"

#include "geom/distance/distance.h"

// Entries one evaluation can have: a voxel's list holds up to SN_VOXEL_NODES, an evaluation joins
// the lists of neighbours.
enum { SN_VOXEL_NODES = 64, SN_POINT_NODES = 512 };

typedef struct sn_weight_table {
    int64_t *start; // voxel count + 1
    uint16_t *node;
    double *weight;
} sn_weight_table;

// Nodes along an axis.
typedef struct sn_axis_order {
    int32_t count;
    int32_t *node;      // by ascending coordinate
    double *coordinate; // [m]
} sn_axis_order;

typedef struct sn_shape {
    sinew_context *context;
    sn_arena arena;             // holds this struct too
    const sinew_voxels *voxels; // borrowed: must outlive the shape
    sinew_weights_def def;      // `values` is not kept
    int32_t node_count;
    double *node_position;    // 3 each, rest; nodes that were moved in are here where they came to
    double *young, *density;  // by label, 65536 each
    bool *rigid;              // by label
    int32_t *bound_node;      // by label, or -1
    sn_metric metric;         // as the def asks, with the rigid clusters if it is compliance
    sn_axis_order axis_order; // of axis weights
    sn_weight_table table;
    sinew_weights_report report;
} sn_shape;

// `tissues` must cover every label of the grid; with count 0 every label gets the default one.
// Fails, with a message that names the culprit, on: no node, coincident nodes, a node outside, an
// unknown label, a voxel that no node reaches, more than 65535 nodes.
sinew_status sn_shape_create(sinew_context *context, const sinew_voxels *voxels,
                             const sinew_tissue *tissues, int32_t tissue_count,
                             const double *node_positions, int32_t node_count,
                             const sinew_weights_def *def, sn_shape **shape);
void sn_shape_destroy(sn_shape *shape);

// Weights and gradients at one place; nodes ascending.
typedef struct sn_shape_point {
    int32_t count;
    int32_t node[SN_POINT_NODES + 1]; // one place to spare
    double weight[SN_POINT_NODES + 1];
    double gradient[SN_POINT_NODES + 1][3];
} sn_shape_point;

// The place of a node in the lists, inserted with zeros if it is not there. Nodes stay ascending.
int32_t sn_point_entry(sn_shape_point *point, int32_t node);

// The same for one node after another, ascending: `from` is the place of the one before, or 0.
static inline int32_t sn_point_entry_from(sn_shape_point *point, int32_t from, int32_t node) {
    int32_t place = from;
    while (place < point->count && point->node[place] < node) {
        place++;
    }
    return place < point->count && point->node[place] == node ? place : sn_point_entry(point, node);
}

// At the middle of a voxel. Axis and radial gradients are exact; others by central differences over
// the face neighbours, one-sided where one is missing. Differences do not cross from one label to
// another if the metric is compliance, because the weights have kinks there, and rigid voxels take
// theirs from rigid ones only.
void sn_shape_at_voxel(const sn_shape *shape, int32_t voxel, sn_shape_point *result);

// The same by a least-squares fit of a plane through the up to 27 voxels around.
void sn_shape_at_voxel_fitted(const sn_shape *shape, int32_t voxel, sn_shape_point *result);

// At any point: trilinear between the eight voxels around; where some of them are outside, the
// others' linear continuations, clamped to [0, 1] and scaled to sum to 1. A point farther out takes
// the nearest voxels' continuation to the closest point of their boxes. Gradients are those of the
// blended continuations. Axis and radial weights are evaluated exactly, except in bound labels.
void sn_shape_at_point(const sn_shape *shape, sn_vec3 p, sn_shape_point *result);

// Weights of surface vertices or probes, compressed rows like the table. Pushed into `arena`.
typedef struct sn_vertex_weights {
    int32_t count;
    int32_t *start; // count + 1
    int32_t *node;
    double *weight;
} sn_vertex_weights;

sinew_status sn_shape_compute_vertices(const sn_shape *shape, sn_arena *arena, const double *points,
                                       int32_t count, sn_vertex_weights *result);

#endif
