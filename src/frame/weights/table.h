// From raw kernels to the table of weights. What enters is a function that fills the raw row of a
// voxel; what leaves is shape->table, every row normalised, cut off, capped and packed.
#ifndef SN_FRAME_WEIGHTS_TABLE_H
#define SN_FRAME_WEIGHTS_TABLE_H

#include "frame/weights/weights.h"

// The list of one voxel while it is built: the largest weights, up to the cap, and the sum of those
// that did not fit.
typedef struct sn_row {
    int32_t cap;
    int32_t count;
    int32_t seen; // non-zero entries offered
    uint16_t node[SN_VOXEL_NODES];
    double weight[SN_VOXEL_NODES];
    double dropped; // sum of the absolute weights that did not fit
    double total;   // sum of all weights
} sn_row;

// Replaces the smallest entry of a full row if the new one is larger.
void sn_row_squeeze(sn_row *row, int32_t node, double weight);

// Offers an entry to a row; each node at most once.
static inline void sn_row_add(sn_row *row, int32_t node, double weight) {
    if (weight == 0) {
        return;
    }

    row->total += weight;
    row->seen++;
    if (row->count == row->cap) {
        sn_row_squeeze(row, node, weight);
        return;
    }

    row->node[row->count] = (uint16_t)node;
    row->weight[row->count++] = weight;
}

// Fills the row of a voxel with raw weights. Runs on worker threads, twice for each voxel.
typedef void sn_row_fn(const void *data, int32_t voxel, sn_row *row);

// Builds shape->table from raw rows. Voxels of bound labels get their node alone; other rows are
// normalised (if the def requests it), cut off and capped. A voxel without any weight is an error
// that names it, or goes to the nearest node, as the def requests. Fills in the counts of
// the report.
sinew_status sn_build_table(sn_shape *shape, sn_row_fn *fill, const void *data);

// The kinds of weights. Each builds shape->table; axis and radial weights can also be evaluated
// exactly at any point.
sinew_status sn_build_axis(sn_shape *shape);
sinew_status sn_build_radial(sn_shape *shape);
sinew_status sn_build_geodesic(sn_shape *shape);
sinew_status sn_build_harmonic(sn_shape *shape);
sinew_status sn_build_voronoi(sn_shape *shape);
sinew_status sn_build_spectral(sn_shape *shape);

bool sn_shape_is_analytic(const sn_shape *shape);
void sn_evaluate_analytic(const sn_shape *shape, sn_vec3 p, sn_shape_point *result);

// Evaluates smooth weights in a voxel, `at` in units of its edges from its lower corner (smooth.c).
void sn_evaluate_smooth(const sn_shape *shape, int32_t voxel, const double at[3],
                        sn_shape_point *result);

// Reads Young's moduli, densities and so on by label; fails if the grid has an unknown label.
sinew_status sn_read_tissues(sinew_context *context, const sinew_voxels *voxels,
                             const sinew_tissue *tissues, int32_t tissue_count, sn_arena *arena,
                             double **young, double **density, bool **rigid, int32_t **bound_node);

// Returns how far a node may lie outside the voxels' boxes. Surfaces cut cells at their centres, so
// a node on the surface can be outside.
double sn_outside_tolerance(const sinew_voxels *voxels);

// Moves each node outside the solid to the centre of the nearest voxel if the def allows it; fails
// otherwise, and on coincident nodes.
sinew_status sn_check_nodes(sn_shape *shape);

#endif
