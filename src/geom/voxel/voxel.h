// Label grids inside the library: the cells of a box, and an index of those that are inside.
//
// A voxel is an inside cell; voxels are numbered brick by brick of 8 x 8 x 8 cells so that
// neighbours are close in memory. Fields over the solid are arrays over voxels; the neighbour table
// is the 6-connected graph for distances, harmonic functions and regions.
#ifndef SN_GEOM_VOXEL_VOXEL_H
#define SN_GEOM_VOXEL_VOXEL_H

#include "sinew/voxel.h"

#include "base/memory.h"
#include "math/box.h"

// Directions of the neighbour table: -x +x -y +y -z +z. The opposite of d is d ^ 1, its axis d / 2.
enum { SN_VOXEL_FACES = 6 };

// Cells in bricks of 8 x 8 x 8, in whose order voxels are numbered, within a brick by x, then y,
// then z. The data of a brick gives the number of any of its cells: empty space, which fills most
// of a typical grid, costs a tenth of a byte per cell.
enum { SN_BRICK = 8 };

typedef struct sn_brick {
    uint64_t layer[SN_BRICK];  // bit x + 8 y: the cell is inside
    uint16_t before[SN_BRICK]; // voxels of the layers below
    int32_t first;             // voxels of the bricks before
} sn_brick;

struct sinew_voxels {
    sinew_context *context;
    sn_arena arena; // holds this struct too
    int32_t cells[3];
    double spacing[3];
    double lower[3];                     // corner of cell (0, 0, 0)
    double volume;                       // of one cell
    int32_t count;                       // voxels
    int32_t bricks[3];                   // along the axes
    sn_brick *brick;                     // x first
    int32_t *cell;                       // of each voxel
    uint16_t *label;                     // of each voxel, > 0
    int32_t (*neighbor)[SN_VOXEL_FACES]; // -1 where there is none
    double *stiffness;                   // factor of each voxel; NULL: 1 everywhere
    double *density;                     // factor of each voxel; NULL: 1 everywhere
    double *fill;        // filled part of each voxel (voxel_fill.h); NULL: 1 everywhere
    double shape_volume; // of what the voxels were made from; 0: not known
};

// Checks numbers of cells along the axes: each at least 1, the product below 2^31, and the memory
// within the limit.
sinew_status sn_check_cells(sinew_context *context, const int64_t cells[3], double inside,
                            size_t memory_limit);

// Builds the index over labels, one per cell; they are read, not kept. Fails if no cell is inside.
sinew_status sn_voxels_create(sinew_context *context, const int32_t cells[3],
                              const double spacing[3], const double lower[3],
                              const uint16_t *labels, size_t memory_limit, sinew_voxels **voxels);

// A grid centred on a box, as requested by `def`. Fails on a bad def or an empty box.
typedef struct sn_grid_frame {
    int32_t cells[3];
    double spacing[3], lower[3];
} sn_grid_frame;

sinew_status sn_fit_grid(sinew_context *context, const sinew_voxel_def *def, sn_box box,
                         sn_grid_frame *frame);

static inline int32_t sn_count_bits(uint64_t bits) {
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int32_t)(bits * 0x0101010101010101u >> 56);
}

// Coordinates of a cell.
static inline void sn_cell_coordinates(const int32_t cells[3], int32_t cell,
                                       int32_t coordinates[3]) {
    int32_t row = cell / cells[0];
    coordinates[0] = cell - row * cells[0];
    coordinates[1] = row % cells[1];
    coordinates[2] = row / cells[1];
}

// The voxel at cell coordinates, or -1 outside the solid or the grid.
static inline int32_t sn_voxel_at(const sinew_voxels *voxels, int32_t x, int32_t y, int32_t z) {
    const int32_t *cells = voxels->cells;
    const int32_t *bricks = voxels->bricks;
    if (x < 0 || y < 0 || z < 0 || x >= cells[0] || y >= cells[1] || z >= cells[2]) {
        return -1;
    }

    const sn_brick *brick =
        &voxels->brick[((size_t)(z / SN_BRICK) * (size_t)bricks[1] + (size_t)(y / SN_BRICK)) *
                           (size_t)bricks[0] +
                       (size_t)(x / SN_BRICK)];
    int layer = z % SN_BRICK;
    uint64_t bit = (uint64_t)1 << (x % SN_BRICK + SN_BRICK * (y % SN_BRICK));

    if (!(brick->layer[layer] & bit)) {
        return -1;
    }

    return brick->first + brick->before[layer] + sn_count_bits(brick->layer[layer] & (bit - 1));
}

static inline sn_vec3 sn_voxel_center(const sinew_voxels *voxels, int32_t voxel) {
    int32_t c[3];
    sn_cell_coordinates(voxels->cells, voxels->cell[voxel], c);
    return sn_v3(voxels->lower[0] + (c[0] + 0.5) * voxels->spacing[0],
                 voxels->lower[1] + (c[1] + 0.5) * voxels->spacing[1],
                 voxels->lower[2] + (c[2] + 0.5) * voxels->spacing[2]);
}

// A point in units of cells: the centre of cell (i, j, k) is at (i, j, k).
static inline sn_vec3 sn_voxel_units(const sinew_voxels *voxels, sn_vec3 p) {
    return sn_v3((p.x - voxels->lower[0]) / voxels->spacing[0] - 0.5,
                 (p.y - voxels->lower[1]) / voxels->spacing[1] - 0.5,
                 (p.z - voxels->lower[2]) / voxels->spacing[2] - 0.5);
}

static inline double sn_voxel_density(const sinew_voxels *voxels, int32_t voxel) {
    return voxels->density ? voxels->density[voxel] : 1;
}

static inline double sn_voxel_stiffness(const sinew_voxels *voxels, int32_t voxel) {
    return voxels->stiffness ? voxels->stiffness[voxel] : 1;
}

// The filled part of a voxel, as a share of its cell, and its volume.
static inline double sn_voxel_fill(const sinew_voxels *voxels, int32_t voxel) {
    return voxels->fill ? voxels->fill[voxel] : 1;
}

static inline double sn_voxel_volume(const sinew_voxels *voxels, int32_t voxel) {
    return voxels->volume * sn_voxel_fill(voxels, voxel);
}

// The voxels whose centres are nearest to a point, all that tie within 1e-9 of a cell, up to eight
// in ascending order; 0 if none is within `limit`. Their distance goes to `distance`.
int32_t sn_nearest_voxels(const sinew_voxels *voxels, sn_vec3 p, double limit, int32_t nearest[8],
                          double *distance);

// (*parts)[v] is the 6-connected part of voxel v; parts end where `key`, one per voxel, changes
// (NULL: nowhere). Parts are numbered by their first voxel.
sinew_status sn_voxel_parts(const sinew_voxels *voxels, sn_arena *arena, const uint64_t *key,
                            int32_t **parts, int32_t *count);

// Whether a point is in a solid, its surface included within `tolerance`.
bool sn_solid_contains(const sinew_solid_def *solid, sn_vec3 p, double tolerance);
sn_box sn_solid_box(const sinew_solid_def *solid);
sinew_status sn_check_solid(sinew_context *context, const sinew_solid_def *solid, int32_t index);

#endif
