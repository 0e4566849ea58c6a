// Spatial search: a tree of boxes over anything that has a box, and the trees over triangles and
// over elements that are built on it.
//
// Built top down by the median of the longest axis of the centres, about O(n log n), leaves of a
// few items, stored depth first: the left child of node i is i + 1. Refitting to moved boxes is a
// single backward sweep.
#ifndef SN_GEOM_SEARCH_SEARCH_H
#define SN_GEOM_SEARCH_SEARCH_H

#include "base/memory.h"
#include "geom/mesh/mesh.h"
#include "math/box.h"
#include "math/mat3.h"

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

// Builds the tree again for the same number of other boxes. Allocates nothing; `centers` is
// scratch, one for each item.
void sn_bvh_rebuild(sn_bvh *bvh, const sn_box *boxes, sn_vec3 *centers);

// Updates the boxes, keeping the structure of the tree. Allocates nothing.
void sn_bvh_refit(sn_bvh *bvh, const sn_box *boxes);

// Calls visit(data, item) for every item in a leaf whose box overlaps `box`; stops when it returns
// false. The order depends on the tree alone.
typedef bool sn_bvh_visit_fn(void *data, int32_t item);
void sn_bvh_overlap(const sn_bvh *bvh, sn_box box, sn_bvh_visit_fn *visit, void *data);

// Finds the item nearest to p. distance2(data, item, best) returns the item's squared distance, or
// anything >= best if it is not nearer. Starts with `limit2`; returns -1 if nothing is nearer than
// that. The smallest squared distance goes to *found2.
typedef double sn_bvh_distance_fn(void *data, int32_t item, double best);
int32_t sn_bvh_nearest(const sn_bvh *bvh, sn_vec3 p, double limit2, sn_bvh_distance_fn *distance2,
                       void *data, double *found2);

// Visits the leaves that the ray origin + t direction, 0 <= t <= limit, passes through, nearer ones
// first. hit(data, item, limit) returns the item's t, or anything >= limit if it is missed. Returns
// the nearest item, with its t in *found, or -1.
typedef double sn_bvh_hit_fn(void *data, int32_t item, double limit);
int32_t sn_bvh_ray(const sn_bvh *bvh, sn_vec3 origin, sn_vec3 direction, double limit,
                   sn_bvh_hit_fn *hit, void *data, double *found);

// Queries on a triangle mesh: the closest point, the first hit of a ray, inside or outside.
//
// Inside is decided by the generalised winding number (Jacobson et al. 2013), which is 1 inside and
// 0 outside a closed surface and degrades gracefully at holes, overlaps and flipped triangles;
// remote parts of the tree are summed by multipole expansions (Barill et al. 2018).

// The multipole expansion of the triangles below a node of the tree, to third order: integrals over
// them of the normal n times powers of the offset d from the centre. Only the parts that the field
// depends on are kept.
typedef struct sn_far_field {
    sn_vec3 center;   // mean of the triangles by area
    double radius;    // of a ball about it that holds the triangles
    sn_vec3 area;     // n
    sn_mat3 moment;   // d ⊗ n
    sn_vec3 trace;    // 2 d (d . n) + |d|^2 n
    double cubic[10]; // the symmetric part of d ⊗ d ⊗ n as the polynomial r -> (d . r)^2 (n . r):
                      // xxx yyy zzz xxy xxz xyy yyz xzz yzz xyz
} sn_far_field;

typedef struct sn_triangle_tree {
    const double *points;     // borrowed
    const int32_t *triangles; // borrowed, 3 each
    int32_t triangle_count;
    sn_bvh bvh;
    sn_far_field *far_fields; // one for each node of the tree
} sn_triangle_tree;

// Corners of a triangle.
static inline void sn_triangle_tree_corners(const sn_triangle_tree *tree, int32_t triangle,
                                            sn_vec3 corners[3]) {
    const int32_t *vertices = sn_at3(tree->triangles, triangle);
    for (int i = 0; i < 3; i++) {
        corners[i] = sn_load3(sn_at3(tree->points, vertices[i]));
    }
}

// Borrows the arrays for the life of the tree. Indices must be in range and coordinates finite.
sinew_status sn_triangle_tree_build(sn_arena *arena, const double *points, const int32_t *triangles,
                                    int32_t triangle_count, sn_triangle_tree *tree);

// Part of sn_triangle_tree_build: the expansions of all nodes.
sinew_status sn_far_fields_build(sn_arena *arena, sn_triangle_tree *tree);

typedef struct sn_closest_point {
    int32_t triangle; // -1: none within the limit
    sn_vec3 point;
    double barycentric[3];
    double distance;
} sn_closest_point;

// The point of triangle abc closest to p; flat triangles are treated as their sides.
sn_vec3 sn_closest_on_triangle(sn_vec3 p, sn_vec3 a, sn_vec3 b, sn_vec3 c, double barycentric[3]);

// The closest point of all triangles, no farther than `limit` (INFINITY for any); ties go to the
// first in tree order.
sn_closest_point sn_triangle_tree_closest(const sn_triangle_tree *tree, sn_vec3 p, double limit);

// Solid angle of a triangle from the origin, positive if its normal points away (Van Oosterom and
// Strackee 1983).
double sn_solid_angle(sn_vec3 a, sn_vec3 b, sn_vec3 c);

// Generalised winding number. A part counts as remote from `accuracy` radii on: 2 gives errors of
// about 5e-3, 3 about 5e-4; 0 sums every triangle exactly.
double sn_triangle_tree_winding(const sn_triangle_tree *tree, sn_vec3 p, double accuracy);

typedef struct sn_ray_hit {
    int32_t triangle; // -1: none
    double t;         // the point is origin + t direction
    double barycentric[3];
} sn_ray_hit;

// First hit with 0 <= t <= limit, from either side (Möller and Trumbore 1997).
sn_ray_hit sn_triangle_tree_ray(const sn_triangle_tree *tree, sn_vec3 origin, sn_vec3 direction,
                                double limit);

// Finds the element of a tet4, tet10, hex8 or plane triangle mesh that contains a point, and the
// weights of its nodes.
//
// Weights are the element's shape functions: barycentric, quadratic, trilinear. Tet10 are treated
// as straight. A point outside gets the nearest element: with xc the closest point of it, the
// weights are N(xc) + grad N(xc) (p - xc), which reproduces affine maps exactly everywhere.

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

// On a face shared by several elements, the one with the lowest number is returned.
sn_location sn_element_tree_locate(const sn_element_tree *tree, sn_vec3 p);

// Gradients of an element's shape functions at p, one per node [1/m]; for p outside, at the nearest
// point of the element.
void sn_element_gradients_at(const sinew_mesh *mesh, int32_t element, sn_vec3 p, sn_vec3 *gradient);

// The element of each point, its weights and its distance; see sinew_mesh_locate_points. The mesh
// is as for sn_element_tree_build and has elements.
sinew_status sn_locate_points(sn_arena *scratch, const sinew_mesh *mesh, const double *points,
                              int32_t count, int32_t *elements, double *weights, double *distances);

// The nodes that carry a point of an embedded surface, and their weights. Returns their number.
int32_t sn_embedding_get_entries(const sinew_embedding *embedding, int32_t point,
                                 const int32_t **nodes, const double **weights);

// The transpose of sinew_embedding_compute_points: mesh_forces += W' surface_forces.
void sn_embedding_add_forces(const sinew_embedding *embedding, const double *surface_forces,
                             double *mesh_forces);

// `width` numbers a node, interpolated to each point of an embedded surface.
void sn_embedding_interpolate(const sinew_embedding *embedding, const double *mesh_values,
                              int32_t width, double *surface_values);

#endif
