// Orders of nodes and elements that keep neighbours close in memory, and colours of chunks of
// elements that may be scattered at the same time.
#ifndef SN_GEOM_MESH_ORDERING_H
#define SN_GEOM_MESH_ORDERING_H

#include "geom/mesh/topology.h"

// Both orders as "the i-th one is the old number order[i]".
typedef struct sn_order {
    int32_t *nodes;    // point_count
    int32_t *elements; // element_count
} sn_order;

// Elements along a Hilbert curve through their centres (Skilling 2004); nodes in the order the
// elements meet them first.
sinew_status sn_build_hilbert_order(sn_arena *arena, const sinew_mesh *mesh, sn_order *order);

// Nodes by reverse Cuthill-McKee (narrow band); elements by their lowest new node.
sinew_status sn_build_rcm_order(sn_arena *arena, const sinew_mesh *mesh, sn_order *order);

// The mesh in a new order. Local node order stays.
sinew_status sn_reorder_mesh(sinew_context *context, const sinew_mesh *mesh, const sn_order *order,
                             sn_owned_mesh **reordered);

// (*inverse)[order[i]] = i
sinew_status sn_invert_order(sn_arena *arena, const int32_t *order, int32_t count,
                             int32_t **inverse);

// Chunks of `chunk_size` consecutive elements; no two chunks of one colour share a node. Colours
// are handled one after the other, the chunks of one colour in parallel: every node then receives
// its parts in the same order for any thread count.
typedef struct sn_coloring {
    int32_t chunk_size, chunk_count, color_count;
    int32_t *color_offsets; // color_count + 1 places in `chunks`
    int32_t *chunks;        // chunk numbers, colour by colour, ascending within one
} sn_coloring;

// Greedy, in chunk order. Works on any lists of `nodes_per_element` indices in [0, node_count);
// negative ones are skipped.
sinew_status sn_build_coloring(sn_arena *arena, const int32_t *indices, int32_t nodes_per_element,
                               int32_t element_count, int32_t node_count, int32_t chunk_size,
                               sn_coloring *coloring);

#endif
