// A tree of boxes over anything that has a box: triangles, tets, points.
//
// Built top down by the median of the longest axis of the centres, about O(n log n), leaves of a
// few items, stored depth first: the left child of node i is i + 1. Refitting to moved boxes is a
// single backward sweep.
#ifndef SN_GEOM_SEARCH_BVH_H
#define SN_GEOM_SEARCH_BVH_H

#include "base/memory.h"
#include "geom/search/box.h"

enum { SN_BVH_LEAF_SIZE = 4, SN_BVH_STACK = 64 };

typedef struct sn_bvh_node {
    sn_box box;
    int32_t right;       // the right child; 0 in a leaf
    int32_t first, last; // the items below: items[first .. last - 1]
} sn_bvh_node;

typedef struct sn_bvh {
    int32_t node_count, item_count;
    sn_bvh_node *nodes; // the root is nodes[0]; none without items
    int32_t *items;     // item numbers, leaf by leaf
} sn_bvh;

sinew_status sn_bvh_build(sn_arena *arena, const sn_box *boxes, int32_t count, sn_bvh *bvh);

// Takes over moved boxes, keeping the tree's shape. Allocates nothing.
void sn_bvh_refit(sn_bvh *bvh, const sn_box *boxes);

// Calls visit(data, item) for every item in a leaf whose box overlaps `box`; stops when it returns
// false. The order depends on the tree alone.
typedef bool sn_bvh_visit_fn(void *data, int32_t item);
void sn_bvh_overlap(const sn_bvh *bvh, sn_box box, sn_bvh_visit_fn *visit, void *data);

// Finds the item nearest to p. distance2(data, item, best) returns the item's squared distance, or
// anything >= best if it is no nearer. Starts with `limit2`; returns -1 if nothing is nearer than
// that. The best squared distance goes to *found2.
typedef double sn_bvh_distance_fn(void *data, int32_t item, double best);
int32_t sn_bvh_nearest(const sn_bvh *bvh, sn_vec3 p, double limit2, sn_bvh_distance_fn *distance2,
                       void *data, double *found2);

// Walks the leaves that the ray origin + t direction, 0 <= t <= limit, passes, nearer ones first.
// hit(data, item, limit) returns the item's t, or anything >= limit if it is missed. Returns the
// nearest item or -1, its t in *found.
typedef double sn_bvh_hit_fn(void *data, int32_t item, double limit);
int32_t sn_bvh_ray(const sn_bvh *bvh, sn_vec3 origin, sn_vec3 direction, double limit,
                   sn_bvh_hit_fn *hit, void *data, double *found);

#endif
