// Who touches whom in a mesh: nodes and elements, elements across faces, boundary faces, connected
// parts.
#ifndef SN_GEOM_MESH_TOPOLOGY_H
#define SN_GEOM_MESH_TOPOLOGY_H

#include "geom/mesh/mesh.h"

// Rows of items: row i is items[offsets[i]] .. items[offsets[i + 1] - 1].
typedef struct sn_adjacency {
    int32_t rows;
    int32_t *offsets; // rows + 1
    int32_t *items;
} sn_adjacency;

// For each node the places where `indices` names it, in ascending order: item = element *
// nodes_per_element + local. This is the gather list of a scatter without atomics. Indices must be
// in range.
sinew_status sn_build_node_slots(sn_arena *arena, const int32_t *indices, int32_t nodes_per_element,
                                 int32_t element_count, int32_t node_count, sn_adjacency *slots);

// For each node its elements in ascending order.
sinew_status sn_build_node_elements(sn_arena *arena, const sinew_mesh *mesh,
                                    sn_adjacency *elements);

// For each node the nodes that share an element with it, ascending, itself among them: the pattern
// of a stiffness matrix.
sinew_status sn_build_node_neighbours(sn_arena *arena, const sinew_mesh *mesh,
                                      sn_adjacency *neighbours);

// For each element and local face the element across it, or -1 at the boundary:
// (*neighbours)[element * faces + face]. Fails if three elements share a face. Edges take the place
// of faces in triangle meshes.
sinew_status sn_build_element_neighbours(sn_arena *arena, const sinew_mesh *mesh,
                                         int32_t **neighbours);

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

// What a triangle adds to the normal at its corner, with the weights of Max 1999: a x b / (|a|^2
// |b|^2) for the sides a, b from there to its next and its last point. Exact for points on a
// sphere, and free of roots and angles. 0 if a side has no length.
static inline sn_vec3 sn_corner_normal(const double *points, int32_t corner, int32_t next,
                                       int32_t last) {
    sn_vec3 p = sn_load3(points + 3 * (size_t)corner);
    sn_vec3 a = sn_sub(sn_load3(points + 3 * (size_t)next), p);
    sn_vec3 b = sn_sub(sn_load3(points + 3 * (size_t)last), p);
    double scale = sn_dot(a, a) * sn_dot(b, b);
    return scale > 0 ? sn_scale(1 / scale, sn_cross(a, b)) : sn_v3(0, 0, 0);
}

// (*parts)[e] is the connected part (elements that share a node) of element e; parts are numbered
// by their first element.
sinew_status sn_build_components(sn_arena *arena, const sinew_mesh *mesh, int32_t **parts,
                                 int32_t *count);

// The same for elements that share a face (triangles: an edge). More than by nodes where parts hang
// together by a point or an edge only, as by a hinge.
sinew_status sn_build_face_components(sn_arena *arena, const sinew_mesh *mesh, int32_t **parts,
                                      int32_t *count);

// Edges with one triangle, with more than two, and with two that run through it in the same
// direction.
typedef struct sn_edge_report {
    int64_t edges, open, crowded, inconsistent;
} sn_edge_report;

sinew_status sn_count_edges(sn_arena *scratch, const int32_t *triangles, int32_t triangle_count,
                            int32_t vertex_count, sn_edge_report *report);

#endif
