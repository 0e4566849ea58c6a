// The search tree of a part: the form of a bounding volume hierarchy of its triangles at rest, with
// boxes that are fitted to those of the vertices.
#ifndef SN_CONTACT_TREE_H
#define SN_CONTACT_TREE_H

#include "contact/scene.h"
#include "math/quick_box.h"

// A triangle in the order of the tree.
typedef struct sn_contact_leaf {
    int32_t corner[3], edge[3]; // vertices and edges of the shape
    int32_t triangle;
    uint8_t owns; // as in sn_contact_shape
    uint8_t calm; // bit k: corner k is calm
} sn_contact_leaf;

// The search compares nodes with at most this many triangles as a whole.
enum { SN_CONTACT_BUNCH = 8 };

// The boxes of the triangles of such a node side by side, [axis][triangle]; empty ones fill it up.
typedef struct sn_contact_bunch {
    float lower[3][SN_CONTACT_BUNCH], upper[3][SN_CONTACT_BUNCH]; // signs as in sn_quick_box
} sn_contact_bunch;

// Boxes of a part's triangles and nodes.
typedef struct sn_contact_fit {
    const sn_quick_box *vertices; // of the part
    sn_quick_box *triangles;      // in the order of the tree
    sn_quick_box *edges;          // in the order of the shape
    sn_quick_box *nodes;
    sn_contact_bunch *bunches;
} sn_contact_fit;

// Which triangles of a bunch overlap a box: bit i for triangle i.
static inline uint32_t sn_contact_bunch_overlaps(const sn_contact_bunch *bunch,
                                                 const sn_quick_box *box) {
    uint32_t bits = 0;
    for (int half = 0; half < 2; half++) {
        sn_float_row4 worst = {0, 0, 0, 0};
        for (int k = 0; k < 3; k++) {
            const sn_float_row4 *lower = (const sn_float_row4 *)bunch->lower[k] + half;
            const sn_float_row4 *upper = (const sn_float_row4 *)bunch->upper[k] + half;
            worst = sn_row4_max(worst, *lower + box->upper[k]);
            worst = sn_row4_max(worst, *upper + box->lower[k]);
        }
        bits |= sn_row4_not_above_zero(worst) << 4 * half;
    }
    return bits;
}

// A triangle at the centres of its corners' boxes, and how far it may be from there.
typedef struct sn_contact_area {
    sn_vec3 area;
    sn_vec3 edge[3]; // opposite to each corner
    sn_vec3 half[3]; // half the box of each corner
    sn_vec3 largest; // 4 a_y a_z, 4 a_z a_x, 4 a_x a_y, a the largest half
} sn_contact_area;

typedef struct sn_contact_tree {
    sn_bvh bvh; // its form; leaves[i] is the triangle bvh.items[i]
    sn_contact_leaf *leaves;
    int32_t *bunch; // of each node the number of its bunch; -1: it has more triangles
    int32_t bunch_count;
    sn_contact_fit outer, inner; // in space, and relative to the group
    sn_contact_area *areas;      // scratch: of each triangle
    uint8_t *calm;               // of each vertex: the triangles around it cannot meet each other
} sn_contact_tree;

// Builds the tree for positions at rest. `outer` and `inner` are the boxes of the part's vertices.
sinew_status sn_contact_tree_build(sn_arena *arena, const sn_contact_shape *shape,
                                   const double *rest, const sn_quick_box *outer,
                                   const sn_quick_box *inner, sn_contact_tree *tree);

// Fits the boxes of triangles, edges and nodes to those of the vertices.
void sn_contact_tree_fit(const sn_contact_tree *tree, const sn_contact_shape *shape,
                         const sn_contact_fit *fit);

// Marks the calm vertices for the boxes of the part's vertices relative to its group.
void sn_contact_tree_calm(const sn_contact_tree *tree, const sn_contact_shape *shape,
                          const sn_box *boxes);

#endif
