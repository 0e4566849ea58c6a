// Hexahedral grids behind the shapes: box-like ones from three sets of grid lines and a mask, round
// ones from mapped blocks.
//
// Flow of the sub-folders, each with the one header that other folders include:
//
//   mesh/mesh.h                      meshes, their topology and element kinds
//   search/search.h                  trees of boxes, nearest points, rays, embedding
//   repair/repair.h                  surfaces welded and oriented
//   voxel/voxel.h                    label grids
//   distance/distance.h              distances inside a solid of voxels
//   tetrahedralize/lattice.h         surfaces filled with tets
//   shapes/shapes.h                  boxes, cylinders, spheres, specimens
#ifndef SN_GEOM_SHAPES_SHAPES_H
#define SN_GEOM_SHAPES_SHAPES_H

#include "geom/mesh/mesh.h"

// Orthogonal grid lines: cells[k] + 1 ascending coordinates along axis k.
typedef struct sn_grid_lines {
    int32_t cells[3];
    double *lines[3];
} sn_grid_lines;

// A hexahedron in each cell whose byte in `mask` (x fastest) is not 0; without a mask in all cells.
// If `with_labels`, the byte is the label. A mask that is all 0 is an error.
sinew_status sn_create_grid_hexes(sinew_context *context, const sn_grid_lines *grid,
                                  const uint8_t *mask, bool with_labels, sn_owned_mesh **hexes);

// Unit shapes that fill [-1, 1]^3: `across` cells over the diameter, `along` over the height.
sinew_status sn_create_cylinder_hexes(sinew_context *context, int32_t across, int32_t along,
                                      sn_owned_mesh **hexes);
sinew_status sn_create_sphere_hexes(sinew_context *context, int32_t across, sn_owned_mesh **hexes);

// The inner ellipse has half axes inner[0], inner[1] in (0, 1).
sinew_status sn_create_tube_hexes(sinew_context *context, const double inner[2], int32_t through,
                                  int32_t around, int32_t along, sn_owned_mesh **hexes);

#endif
