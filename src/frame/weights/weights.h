// Shape functions of a few nodes over the voxels of a solid (Gilles et al. 2011, 4.1; 2013, 1.5).
//
// In: a grid of labelled voxels, node positions and a weights definition. Out: a short list of
// (node, weight) for each voxel, and from these the weights and their gradients at any point.
//
//   analytic.c         weights along an axis, radial weights
//   geodesic.c         radial weights of the distance inside the solid
//   harmonic.c         solutions of Laplace's equation (conduction.c, multigrid.c)
//   spectral.c         combinations of the lowest modes (voxel_modes.c)
//   voronoi_kernels.c  Voronoi kernels (voronoi_cells.c, node_fields.c)
//   table.c            from raw kernels to normalised rows
//   evaluate.c         weights and gradients at voxels, points and vertices
//   smooth.c           the same for smooth weights, inside a voxel
//   placement.c        automatic node positions
//   choose.c           the kind of weights and frames that suit a solid
//
// The table is stored by voxel, as compressed rows: the entries of voxel v are start[v] ..
// start[v + 1] - 1, nodes ascending. If the weights are normalised, they sum to 1 at every voxel,
// point and sample, and their gradients to 0, up to rounding.
#ifndef SN_FRAME_WEIGHTS_WEIGHTS_H
#define SN_FRAME_WEIGHTS_WEIGHTS_H

#include "sinew/frame.h"

#include "geom/distance/distance.h"

// The most entries of a voxel's list, and of an evaluation, which joins the lists of several
// voxels.
enum { SN_VOXEL_NODES = 64, SN_POINT_NODES = 512 };

// Numbers of labels: tables by label have as many entries.
enum { SN_LABELS = 65536 };

typedef struct sn_weight_table {
    int64_t *start; // voxel count + 1
    uint16_t *node;
    double *weight;
} sn_weight_table;

// The nodes sorted along an axis.
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
    double *node_position;   // 3 each, at rest; a node that was moved inside is stored as moved
    double *young, *density; // by label, 65536 each
    bool *rigid;             // by label
    int32_t *bound_node;     // by label, or -1
    sn_metric metric; // as the def requests; the compliance metric includes the rigid clusters
    sn_axis_order axis_order; // of axis weights
    // Of smooth weights (sn_shape_is_smooth): what each voxel conducts, and its stiffness, both
    // relative to the mean (voxel_modes.h).
    double *conductivity, *relative_stiffness;
    struct sn_shape *compliance; // coordinates x, y, z and 1 as fields on the voxels; NULL: none
    bool is_compliance;          // this is that shape: its gradients at the surface are not zero
    sn_weight_table table;
    sinew_weights_report report;
} sn_shape;

// The density of a voxel. [kg/m^3]
static inline double sn_shape_density(const sn_shape *shape, int32_t voxel) {
    return shape->density[shape->voxels->label[voxel]] * sn_voxel_density(shape->voxels, voxel);
}

// Builds the shape functions. `tissues` must cover every label of the grid; with count 0 every
// label gets the default tissue. Fails, with a message that names the node, voxel or label, on: no
// node, more than 65535 nodes, coincident nodes, a node outside, an unknown label, a voxel that no
// node reaches.
sinew_status sn_shape_create(sinew_context *context, const sinew_voxels *voxels,
                             const sinew_tissue *tissues, int32_t tissue_count,
                             const double *node_positions, int32_t node_count,
                             const sinew_weights_def *def, sn_shape **shape);
void sn_shape_destroy(sn_shape *shape);

// Makes a shape whose table will hold `count` fields on the same voxels, evaluated like weights:
// not normalised, not cut off, of any sign. It has an arena of its own, for the table alone;
// `arena` takes the rest.
sinew_status sn_shape_create_field(const sn_shape *shape, int32_t count, sn_arena *arena,
                                   sn_shape *field);

// Computes shape->compliance, for smooth weights: coordinates that vary where the solid is soft
// (compliance.c).
sinew_status sn_shape_build_compliance(sn_shape *shape);

// Compliance coordinates at a rest point, and their gradients. [m]
void sn_shape_compliance_at(const sn_shape *compliance, sn_vec3 X, double c[3], sn_vec3 dc[3]);

// Weights and gradients at one point; nodes ascending.
typedef struct sn_shape_point {
    int32_t count;
    int32_t node[SN_POINT_NODES + 1]; // one entry to spare
    double weight[SN_POINT_NODES + 1];
    double gradient[SN_POINT_NODES + 1][3];
} sn_shape_point;

// The node with the largest weight at a point that has any.
int32_t sn_shape_point_strongest(const sn_shape_point *point);

// Whether the weights are solutions of a differential equation without flux through the surface, so
// that their gradients come from fluxes and are accurate up to surfaces and borders of materials.
static inline bool sn_shape_is_smooth(const sn_shape *shape) {
    return shape->conductivity != NULL;
}

// Returns the index of a node in the lists, inserting it with zeros if it is missing. Nodes stay in
// ascending order.
int32_t sn_point_entry(sn_shape_point *point, int32_t node);

// The same for nodes visited in ascending order: `from` is the index of the previous one, or 0.
static inline int32_t sn_point_entry_from(sn_shape_point *point, int32_t from, int32_t node) {
    int32_t place = from;
    while (place < point->count && point->node[place] < node) {
        place++;
    }
    return place < point->count && point->node[place] == node ? place : sn_point_entry(point, node);
}

// Evaluates at the centre of a voxel. Axis and radial gradients are exact. Others are central
// differences over the face neighbours, one-sided where one is missing. In the compliance metric
// differences do not cross from one label to another, because the weights have kinks there, and
// rigid voxels use only rigid neighbours. Smooth weights have exact gradients (smooth.c).
void sn_shape_at_voxel(const sn_shape *shape, int32_t voxel, sn_shape_point *result);

// Evaluates at any point: trilinear between the eight surrounding voxels. Where some of them are
// outside, the others are extrapolated linearly, clamped to [0, 1] and scaled to sum to 1. A point
// farther outside takes the nearest voxels, extrapolated to the closest points of their boxes.
// Gradients are those of the blended extrapolations. Axis and radial weights are evaluated exactly,
// except in bound labels.
void sn_shape_at_point(const sn_shape *shape, sn_vec3 p, sn_shape_point *result);

// Weights of surface vertices or probes, compressed rows like the table's. Pushed into `arena`.
typedef struct sn_vertex_weights {
    int32_t count;
    int32_t *start; // count + 1
    int32_t *node;
    double *weight;
    double *compliance; // three coordinates for each; NULL: not looked up
} sn_vertex_weights;

sinew_status sn_shape_compute_vertices(const sn_shape *shape, sn_arena *arena, const double *points,
                                       int32_t count, sn_vertex_weights *result);

// Looks up the compliance coordinates of the vertices as well.
sinew_status sn_shape_compute_vertex_compliance(const sn_shape *shape, sn_arena *arena,
                                                const double *points, sn_vertex_weights *vertices);

// Coarsens a grid to blocks of `factor` cells along each axis. A block is inside if at least a
// quarter of its cells are. Its label is the most common one, its stiffness the harmonic mean
// (compliances add up), the factor of its density the mean. `young` is by label.
sinew_status sn_coarsen_voxels(const sinew_voxels *fine, int32_t factor, const double *young,
                               sinew_voxels **coarse);

#endif
