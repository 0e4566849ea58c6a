// Meshes inside the library: element kinds, meshes that own their arrays, volumes and checks;
// topology, orders and colours, conversion between element kinds, shape functions, mass properties.
//
// The builders of this module push what they return into the caller's arena and drop their scratch
// memory; a status other than SINEW_OK leaves outputs undefined, and the arena is freed by its
// owner as always.
#ifndef SN_GEOM_MESH_MESH_H
#define SN_GEOM_MESH_MESH_H

#include "sinew/mesh.h"

#include "base/memory.h"
#include "math/box.h"
#include "math/mat3.h"

#include <stddef.h>
#include <stdint.h>

enum { SN_MAX_ELEMENT_NODES = 10, SN_MAX_FACE_NODES = 6, SN_MAX_FACES = 6 };

// The shape of an element kind. A face is listed so that its normal points outwards, corners first;
// the faces of a triangle are its edges.
typedef struct sn_element_info {
    const char *name;
    int32_t dimension; // 2 or 3
    int32_t nodes, corners;
    int32_t faces, face_nodes, face_corners;
    int8_t face[SN_MAX_FACES][SN_MAX_FACE_NODES];
} sn_element_info;

extern const sn_element_info sn_element_infos[4];

// The kind must be valid (checked by sn_check_arrays).
static inline const sn_element_info *sn_element_info_of(sinew_element element) {
    return &sn_element_infos[element];
}

// Corner nodes of the middle nodes 4..9 of a tet10.
extern const int8_t sn_tet_edges[6][2];

// Node indices of element e.
static inline const int32_t *sn_mesh_nodes(const sinew_mesh *mesh, int32_t e) {
    return mesh->indices + (size_t)e * (size_t)sn_element_info_of(mesh->element)->nodes;
}

static inline sn_vec3 sn_mesh_point(const sinew_mesh *mesh, int32_t node) {
    return sn_load3(sn_at3(mesh->points, node));
}

// A mesh that owns its arrays; handles given to the caller point to `view`, its first member.
typedef struct sn_owned_mesh {
    sinew_mesh view;
    sn_arena arena; // holds this struct too
    double *points; // the arrays of `view`, writable
    int32_t *indices;
    int32_t *labels; // NULL without labels
    int32_t *nodes;  // of a surface: the volume's node of each point; NULL otherwise
} sn_owned_mesh;

// Zeroed arrays of the given counts. Freed by sinew_mesh_destroy(&mesh->view). Counts are checked
// against int32.
sinew_status sn_owned_mesh_create(sinew_context *context, sinew_element element, int64_t points,
                                  int64_t elements, bool with_labels, sn_owned_mesh **mesh);

// Six times the signed volume of a tet.
static inline double sn_tet_volume6(sn_vec3 a, sn_vec3 b, sn_vec3 c, sn_vec3 d) {
    return sn_dot(sn_cross(sn_sub(b, a), sn_sub(c, a)), sn_sub(d, a));
}

// The signed volume, exact by quadrature for tet10 and hex8; for a triangle its unsigned area in
// space.
double sn_element_volume(const sinew_mesh *mesh, int32_t element);

// The smallest Jacobian determinant over the corners of a hexahedron, or over the corners and
// mid-edge nodes of a tet10; the constant one of a tet4; twice the area of a triangle. The element
// is usable if it is positive.
double sn_element_smallest_jacobian(const sinew_mesh *mesh, int32_t element);

sn_box sn_mesh_box(const sinew_mesh *mesh);

// The volume inside triangles that are closed and face outwards, by the divergence theorem.
double sn_surface_volume(const double *points, const int32_t *triangles, int32_t triangle_count);

// The checks of sinew_mesh_check one by one, so that a caller can omit some. Each reports the first
// offender.
//
//   arrays    pointers, counts and ranges are valid, coordinates are finite
//   volumes   positive in every element, no node twice in an element
//   used      every node belongs to an element
//   distinct  no element appears twice, at most two elements share a face
sinew_status sn_check_arrays(sinew_context *context, const sinew_mesh *mesh);
sinew_status sn_check_volumes(sinew_context *context, const sinew_mesh *mesh);
sinew_status sn_check_used(sinew_context *context, const sinew_mesh *mesh);
sinew_status sn_check_distinct(sinew_context *context, const sinew_mesh *mesh);

// Adjacency in a mesh: nodes and elements, elements across faces, boundary faces, connected parts.

// Rows of items: row i is items[offsets[i]] .. items[offsets[i + 1] - 1].
typedef struct sn_adjacency {
    int32_t rows;
    int32_t *offsets; // rows + 1
    int32_t *items;
} sn_adjacency;

// For each node the positions at which `indices` names it, ascending:
// item = element * nodes_per_element + local. This is the gather list of a scatter without atomics.
// Indices must be in range.
sinew_status sn_build_node_slots(sn_arena *arena, const int32_t *indices, int32_t nodes_per_element,
                                 int32_t element_count, int32_t node_count, sn_adjacency *slots);

// For each node its elements in ascending order.
sinew_status sn_build_node_elements(sn_arena *arena, const sinew_mesh *mesh,
                                    sn_adjacency *elements);

// For each node the nodes that share an element with it, ascending, including itself: the pattern
// of a stiffness matrix.
sinew_status sn_build_node_neighbors(sn_arena *arena, const sinew_mesh *mesh,
                                     sn_adjacency *neighbors);

// For each element and local face the element across it, or -1 at the boundary:
// (*neighbours)[element * faces + face]. Fails if three elements share a face. In triangle meshes
// faces are edges.
sinew_status sn_build_element_neighbors(sn_arena *arena, const sinew_mesh *mesh,
                                        int32_t **neighbors);

// Faces with an element on one side only, by ascending element.
typedef struct sn_boundary {
    int32_t count;
    int32_t *elements;
    int32_t *faces; // local face of that element: its nodes are in sn_element_info
} sn_boundary;

sinew_status sn_build_boundary(sn_arena *arena, const sinew_mesh *mesh, sn_boundary *boundary);

// The boundary as triangles over its own vertices, outward normals; see sinew_mesh_create_surface.
typedef struct sn_surface {
    int32_t vertex_count;
    int32_t *nodes; // mesh node of each vertex, ascending
    int32_t triangle_count;
    int32_t *triangles; // 3 vertices each
    int32_t *elements;  // the element that a triangle belongs to
} sn_surface;

sinew_status sn_build_surface(sn_arena *arena, const sinew_mesh *mesh, sn_surface *surface);

// The contribution of a triangle to the normal at its corner, with the weights of Max (1999):
// a x b / (|a|^2 |b|^2) for the sides a, b from there to the next and the previous corner. Exact
// for points on a sphere, without square roots or angles. 0 if a side has no length.
static inline sn_vec3 sn_corner_normal(const double *points, int32_t corner, int32_t next,
                                       int32_t last) {
    sn_vec3 p = sn_load3(sn_at3(points, corner));
    sn_vec3 a = sn_sub(sn_load3(sn_at3(points, next)), p);
    sn_vec3 b = sn_sub(sn_load3(sn_at3(points, last)), p);
    double scale = sn_dot(a, a) * sn_dot(b, b);
    return scale > 0 ? sn_scale(1 / scale, sn_cross(a, b)) : sn_v3(0, 0, 0);
}

// (*parts)[e] is the connected part (elements that share a node) of element e; parts are numbered
// by their first element.
sinew_status sn_build_components(sn_arena *arena, const sinew_mesh *mesh, int32_t **parts,
                                 int32_t *count);

// The same for elements that share a face (triangles: an edge). There are more of these parts than
// by nodes if parts touch only at a point or an edge, like a hinge.
sinew_status sn_build_face_components(sn_arena *arena, const sinew_mesh *mesh, int32_t **parts,
                                      int32_t *count);

// Orders of nodes and elements that keep neighbours close in memory, and colours of chunks of
// elements that may be scattered in parallel.

// Both orders: item i of the new order is item order[i] of the old one.
typedef struct sn_order {
    int32_t *nodes;    // point_count
    int32_t *elements; // element_count
} sn_order;

// Elements along a Hilbert curve through their centres (Skilling 2004); nodes in the order in which
// elements first use them.
sinew_status sn_build_hilbert_order(sn_arena *arena, const sinew_mesh *mesh, sn_order *order);

// Chunks of `chunk_size` consecutive elements; no two chunks of one colour share a node. Colours
// are processed one after the other, the chunks of one colour in parallel: every node then receives
// its contributions in the same order for any number of threads.
typedef struct sn_coloring {
    int32_t chunk_size, chunk_count, color_count;
    int32_t *color_offsets; // color_count + 1 starts in `chunks`
    int32_t *chunks;        // chunk numbers, colour by colour, ascending within one
} sn_coloring;

// Greedy, in chunk order. Works on any lists of `nodes_per_element` indices in [0, node_count);
// negative ones are skipped.
sinew_status sn_build_coloring(sn_arena *arena, const int32_t *indices, int32_t nodes_per_element,
                               int32_t element_count, int32_t node_count, int32_t chunk_size,
                               sn_coloring *coloring);

// Conversion between element kinds: hexahedra into tets, four-node tets into ten-node tets.

// Cuts every hexahedron into 5 or 6 tets so that neighbours agree on the diagonal of their common
// face. Five tets need nodes that can be coloured black and white along the edges of the hexahedra:
// grids can, a ring of an odd number cannot, which is an error. Labels are inherited.
sinew_status sn_cut_hexes(sinew_context *context, const sinew_mesh *hexes, int32_t tets_per_cell,
                          sn_owned_mesh **tets);

// Adds a node in the middle of every edge; the existing nodes come first, the new ones are sorted
// by the corners of their edges.
sinew_status sn_add_middle_nodes(sinew_context *context, const sinew_mesh *tets,
                                 sn_owned_mesh **quadratic);

// Converts hexahedra to a mesh of the requested kind (TRIANGLE: the surface of the tets) and
// destroys them, also on failure.
sinew_status sn_finish_hexes(sinew_context *context, sn_owned_mesh *hexes, sinew_element element,
                             int32_t tets_per_cell, sinew_mesh **mesh);

// Checks the two choices of a conversion: the element kind, and 5 or 6 tets per cell.
sinew_status sn_check_cutting(sinew_context *context, sinew_element element, int32_t tets_per_cell);

// Shape functions N and their derivatives dN with respect to the natural coordinates.
//
// Tet: (r, s, t) are the barycentric coordinates of corners 1, 2, 3; that of corner 0 is
// 1 - r - s - t. Hex: (r, s, t) in [-1, 1] along the edges 01, 03, 04.

// N_i = L_i (2 L_i - 1) at the corners, 4 L_a L_b at the middle of edge ab.
void sn_shape_tet10(sn_vec3 natural, double N[10], double dN[10][3]);

// N_i = (1 + r r_i) (1 + s s_i) (1 + t t_i) / 8
void sn_shape_hex8(sn_vec3 natural, double N[8], double dN[8][3]);

// J = sum of x_i ⊗ dN_i: the derivative of the position with respect to the natural coordinates.
static inline sn_mat3 sn_shape_jacobian(const double *points, const int32_t *nodes, int32_t count,
                                        const double (*dN)[3]) {
    sn_mat3 J = {0};
    for (int32_t i = 0; i < count; i++) {
        J = sn_mat3_add(J, sn_outer(sn_load3(sn_at3(points, nodes[i])), sn_load3(dN[i])));
    }
    return J;
}

// Natural coordinates of the corners of a hexahedron.
extern const int8_t sn_hex_corners[8][3];

#endif
