// From one element kind to another: hexahedra into tets, tets with four nodes into tets with ten.
#ifndef SN_GEOM_MESH_CONVERT_H
#define SN_GEOM_MESH_CONVERT_H

#include "geom/mesh/mesh.h"

// Cuts every hexahedron into 5 or 6 tets, so that neighbours agree on the diagonal of the face they
// share. Five need nodes that can be coloured black and white along the edges of the hexahedra:
// grids can, a ring of an odd number cannot (refused). Labels are handed on.
sinew_status sn_cut_hexes(sinew_context *context, const sinew_mesh *hexes, int32_t tets_per_cell,
                          sn_owned_mesh **tets);

// Adds a node in the middle of every edge; the first nodes stay, the new ones are sorted by their
// edges' corners.
sinew_status sn_add_middle_nodes(sinew_context *context, const sinew_mesh *tets,
                                 sn_owned_mesh **quadratic);

// Turns hexahedra into a mesh of the wished kind (TRIANGLE: the surface of the tets) and destroys
// them, also on failure.
sinew_status sn_finish_hexes(sinew_context *context, sn_owned_mesh *hexes, sinew_element element,
                             int32_t tets_per_cell, sinew_mesh **mesh);

// The two choices that come with it, from outside: the kind, and 5 or 6.
sinew_status sn_check_cutting(sinew_context *context, sinew_element element, int32_t tets_per_cell);

#endif
