// The surface of one participant in contact: its triangles and edges, which triangle owns each
// vertex and edge, and the faces around them.
//
// Every vertex and edge belongs to one triangle, its owner, so that a search over pairs of
// triangles meets each pair of features once. Vertices are numbered as in the mesh the shape is
// made of; triangles and edges are numbered within the shape.
#ifndef SN_CONTACT_SHAPE_H
#define SN_CONTACT_SHAPE_H

#include "geom/mesh/mesh.h"

// Bits of sn_contact_shape.owns.
enum { SN_CONTACT_OWNS_CORNER = 1, SN_CONTACT_OWNS_EDGE = 8 };

typedef struct sn_contact_shape {
    int32_t vertex_count; // of the mesh, used or not
    int32_t triangle_count;
    int32_t *triangles; // 3 vertices each, without the degenerate ones
    int32_t *sources;   // for each triangle its number in the mesh
    int32_t edge_count;
    int32_t *edges;         // 2 vertices each, the lower first; in lexicographic order
    int32_t *edge_faces;    // 2 triangles each, the first one the owner; -1: none
    int32_t *edge_opposite; // 2 vertices each: the third corners of these triangles; -1: none
    int8_t *edge_turn; // 2 each: 1 if the triangle goes from the lower to the other end, else -1
    int32_t *triangle_edges; // 3 edges each; edge k joins the corners k and k + 1
    uint8_t *owns; // of each triangle: SN_CONTACT_OWNS_CORNER << k, SN_CONTACT_OWNS_EDGE << k
    int32_t *vertex_owner;    // of each vertex its owner; -1: no triangle has it
    sn_adjacency fans;        // of each vertex the positions 3 triangle + corner that name it
    double *shortest;         // the shortest edge at each vertex in the mesh [m]; 0 without edges
    uint8_t *disk;            // of each vertex: its triangles form one closed fan, oriented alike
    bool closed;              // every edge has exactly two triangles: contact has an inside
    int32_t degenerate_count; // triangles that were left out: a repeated corner or no area
    int32_t open_count;       // edges with one triangle
    int32_t crowded_count;    // edges with more than two triangles
} sn_contact_shape;

// Pushes the shape of a triangle mesh into the arena. Fails on anything but triangles and on what
// sn_check_arrays refuses; open and crowded surfaces are allowed.
sinew_status sn_contact_shape_build(sn_arena *arena, const sinew_mesh *mesh,
                                    sn_contact_shape *shape);

#endif
