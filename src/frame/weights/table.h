// From raw kernels to weight tables: the rows of all voxels are made one by one, normalised, cut
// off, capped and packed.
#ifndef SN_FRAME_WEIGHTS_TABLE_H
#define SN_FRAME_WEIGHTS_TABLE_H

#include "frame/weights/weights.h"

// The list of one voxel while it is made: the largest weights, up to the cap, and what did not fit.
typedef struct sn_row {
    int32_t cap;
    int32_t count;
    int32_t seen; // entries offered that were not 0
    uint16_t node[SN_VOXEL_NODES];
    double weight[SN_VOXEL_NODES];
    double dropped; // sum of the absolute weights that did not fit
    double total;   // sum of all weights
} sn_row;

// Puts an entry into a full row in the place of the smallest, if it is larger.
void sn_row_squeeze(sn_row *row, int32_t node, double weight);

// Offers an entry; each node at most once.
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

// Builds shape->table from raw rows: voxels of bound labels get their node alone; others are
// normalised (if the def asks), cut off, capped. Voxels without any weight are refused by name or
// adopted. Fills the counts of the report.
sinew_status sn_build_table(sn_shape *shape, sn_row_fn *fill, const void *data);

// The kinds. Each builds shape->table; axis and radial ones can also be evaluated exactly at any
// point.
sinew_status sn_build_axis(sn_shape *shape);
sinew_status sn_build_radial(sn_shape *shape);
sinew_status sn_build_geodesic(sn_shape *shape);
sinew_status sn_build_harmonic(sn_shape *shape);
sinew_status sn_build_voronoi(sn_shape *shape);

bool sn_shape_is_analytic(const sn_shape *shape);
void sn_evaluate_analytic(const sn_shape *shape, sn_vec3 p, sn_shape_point *result);

// Labels to Young's moduli, densities and so on; checks that every label of the grid is known.
sinew_status sn_read_tissues(sinew_context *context, const sinew_voxels *voxels,
                             const sinew_tissue *tissues, int32_t tissue_count, sn_arena *arena,
                             double **young, double **density, bool **rigid, int32_t **bound_node);

// A node may lie this far outside the voxels' boxes: surfaces are cut at the middles of cells.
double sn_outside_tolerance(const sinew_voxels *voxels);

// Moves each node that is outside to the nearest voxel's middle, or refuses it.
sinew_status sn_check_nodes(sn_shape *shape);

#endif
