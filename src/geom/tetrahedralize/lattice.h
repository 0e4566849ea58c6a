// The body-centred lattice of isosurface stuffing (Labelle and Shewchuk 2007).
//
// Cell (i, j, k) of a grid owns two points, its lower corner (kind 0) and its centre (kind 1), and
// 14 edges: from its corner to the next ones along x, y, z, from its centre to the next ones, and
// from its centre to its own eight corners. Edges between points of one kind are long (h), those
// between kinds short (sqrt(3) / 2 h). A point is 2 cell + kind.
//
// Points are inside (+1), outside (-1) or on the surface (0). Where an edge joins inside and
// outside, the surface cuts it. A point with a cut too close to it is moved onto that cut and is
// then on the surface; its other cuts are discarded. The remaining cases can be filled from a few
// stencils with tets whose dihedral angles are bounded.
#ifndef SN_GEOM_TETRAHEDRALIZE_LATTICE_H
#define SN_GEOM_TETRAHEDRALIZE_LATTICE_H

#include "geom/search/search.h"

enum { SN_LATTICE_EDGES = 14, SN_LATTICE_MAX_CELLS = 1 << 27 };

typedef struct sn_lattice {
    int32_t cells[3];
    int32_t strides[3];       // of a cell's number along x, y, z
    int32_t corner_stride[8]; // from a cell to the one whose lower corner is this one's corner b
                              // (bits x, y, z)
    int32_t cell_count;
    double h;
    sn_vec3 lower;     // position of point 0
    int8_t *signs;     // of each point
    int32_t *moved_to; // the cut that a point was moved onto, or -1
    uint16_t *cut;     // of each cell: bit e is set if its edge e was cut
    uint16_t *kept;    // of these, the cuts that have not been discarded
    int32_t *first_cut;
    int32_t cut_count;
    double *parameters; // of each cut: 0 at the first point of the edge, 1 at the second
    double *points;     // of each cut: its position
} sn_lattice;

// Builds the lattice for a surface: signs by winding numbers, cuts, points moved onto them. h must
// give at most SN_LATTICE_MAX_CELLS cells (see sn_lattice_cell_count). `closed` says that every
// edge has two triangles: then one winding number is enough for each block of cells without
// triangles.
sinew_status sn_lattice_build(sn_arena *arena, const sn_triangle_tree *tree, bool closed,
                              sn_box box, double h, sn_lattice *lattice);

// The number of cells that a lattice around the box would have.
double sn_lattice_cell_count(sn_box box, double h);

// The position of a point, moved or not.
sn_vec3 sn_lattice_point(const sn_lattice *lattice, int32_t point);

// The number of the cut on the edge between two neighbouring points; it must exist.
int32_t sn_lattice_cut_between(const sn_lattice *lattice, int32_t a, int32_t b);

// Even or odd, alternating along the long edges.
int32_t sn_lattice_parity(const sn_lattice *lattice, int32_t point);

// The tets of the inside; nodes are numbered in the order in which they are first used. Fails if
// there are none.
sinew_status sn_lattice_fill(sinew_context *context, const sn_lattice *lattice,
                             sn_owned_mesh **tets);

#endif
