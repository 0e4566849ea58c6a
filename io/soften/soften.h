// The flesh of a skinned character: a lattice of tets around its surface, and the few shapes that
// its motion is made of.
//
//   cells.c    cells that the surface cuts or encloses; where limbs meet in a cell, one for each
//   lattice.c  these cells as tets; the joints that each node follows, and which the bones hold
//   shapes.c   many displaced surfaces as sums of a few shapes
#ifndef SN_IO_SOFTEN_SOFTEN_H
#define SN_IO_SOFTEN_SOFTEN_H

#include "sinew/mesh.h"

#include "base/memory.h"
#include "math/vec.h"

// A bone at rest, and the joint it moves with.
typedef struct sn_soft_bone {
    int32_t joint;
    sn_vec3 from, to;
} sn_soft_bone;

typedef struct sn_lattice_def {
    const double *points; // rest positions of the surface, three numbers each [m]
    int32_t point_count;
    const int32_t *indices; // three per triangle
    int32_t index_count;
    const double *weights; // [point * joint_count + joint], each row sums to 1
    int32_t joint_count;
    const int32_t *parents; // [joint]: parent among the joints, -1 for a root
    const sn_soft_bone *bones;
    int32_t bone_count;
    int32_t tets; // about how many
    bool glued;   // parts that touch are one, whatever joints they follow
    double core;  // the share of the way from bone to surface that follows the bone
} sn_lattice_def;

// Cells of a regular grid. Where the surface in a cell follows joints that are not connected, such
// as two thighs that touch, there is a cell for each: flesh is glued together only along the
// skeleton.
typedef struct sn_soft_cells {
    double h;      // edge [m]
    sn_vec3 lower; // corner of grid position (0, 0, 0)
    int32_t size[3];
    int32_t count;
    int32_t *first;    // [grid position] its first cell, or -1
    int32_t *next;     // [cell] the next one at the same grid position, or -1
    int32_t *position; // [cell]
    int32_t words;     // of a set of joints
    uint64_t *joints;  // [cell * words] joints that the surface follows here
    uint64_t *linked;  // [cell * words] ... and their parents and children
    int32_t *of_point; // [point of the surface] its cell

    // Points spread over the surface, by their grid position.
    int32_t *first_sample; // [grid position + 1]
    sn_vec3 *samples;
} sn_soft_cells;

sinew_status sn_soft_cells_create(sn_arena *arena, const sn_lattice_def *def, sn_soft_cells *cells);

// The grid position of a point, and as an index.
void sn_soft_cells_locate(const sn_soft_cells *cells, sn_vec3 p, int32_t at[3]);
static inline size_t sn_soft_cells_index(const sn_soft_cells *cells, int32_t x, int32_t y,
                                         int32_t z) {
    return ((size_t)z * (size_t)cells->size[1] + (size_t)y) * (size_t)cells->size[0] + (size_t)x;
}

// The distance of a point from the surface; `nearest`, if not NULL, receives the sample.
double sn_soft_cells_find_depth(const sn_soft_cells *cells, sn_vec3 p, int32_t *nearest);

typedef struct sn_lattice {
    sinew_mesh mesh;      // tets
    double *volumes;      // [tet] at rest [m^3]
    float *weights;       // [node * joint_count + joint], each row sums to 1
    uint8_t *held;        // [node] follows the joints
    int32_t *point_nodes; // [8 point] what the points of the surface follow,
    double *point_shares; // and by how much (trilinear)
    int32_t held_count;
    double cell; // edge of a cell [m]
} sn_lattice;

// Builds the lattice; its arrays and those of the mesh live in the arena.
sinew_status sn_lattice_create(sn_arena *arena, const sn_lattice_def *def, sn_lattice *lattice);

// Writes the rows of `images` (image after image, `size` numbers each) as sums of at most `most`
// shapes: image = sum_k weight_k shape_k. Stops once no number is off by more than `tolerance`.
// Each weight is between -1 and 1. The images are overwritten by what is left of them. Each image
// and each shape has `extra` more numbers behind, which get the same weights but decide nothing.
typedef struct sn_soft_shapes {
    int32_t count;
    double *shapes;  // shape after shape, `size` + `extra` numbers each
    double *weights; // image after image, `most` numbers each, of which `count` are used
    double error;    // the largest number that is left
} sn_soft_shapes;

sinew_status sn_soft_shapes_create(sn_arena *arena, double *images, int32_t image_count,
                                   size_t size, size_t extra, int32_t most, double tolerance,
                                   sn_soft_shapes *shapes);

#endif
