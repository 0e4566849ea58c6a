// Which element of a tet4, tet10, hex8 or plane triangle mesh holds a point, and with which weights
// of its nodes.
//
// Weights are the element's shape functions: barycentric, quadratic, trilinear. Tet10 are taken as
// straight. A point outside gets the nearest element: with xc the closest point there, its weights
// are N(xc) + grad N(xc) (p - xc), which reproduces affine maps exactly everywhere.
#ifndef SN_GEOM_SEARCH_ELEMENT_TREE_H
#define SN_GEOM_SEARCH_ELEMENT_TREE_H

#include "geom/search/bvh.h"
#include "geom/mesh/mesh.h"

typedef struct sn_element_tree {
    sinew_mesh mesh; // borrowed arrays
    sn_bvh bvh;
} sn_element_tree;

// Borrows the mesh's arrays for the life of the tree. The mesh must pass sn_check_arrays and
// sn_check_volumes.
sinew_status sn_element_tree_build(sn_arena *arena, const sinew_mesh *mesh, sn_element_tree *tree);

typedef struct sn_location {
    int32_t element; // -1: the mesh has no elements
    double weights[SN_MAX_ELEMENT_NODES];
    double distance; // from the element; 0 inside
} sn_location;

// On a face shared by elements the one with the lowest number wins.
sn_location sn_element_tree_locate(const sn_element_tree *tree, sn_vec3 p);

// Gradients of an element's shape functions at p, one for each node [1/m]; outside at the nearest
// point of the element.
void sn_element_gradients_at(const sinew_mesh *mesh, int32_t element, sn_vec3 p, sn_vec3 *gradient);

// The element of each point, its weights and its distance; see sinew_mesh_locate_points. The mesh
// is as for sn_element_tree_build and has elements.
sinew_status sn_locate_points(sn_arena *scratch, const sinew_mesh *mesh, const double *points,
                              int32_t count, int32_t *elements, double *weights, double *distances);

#endif
