// Questions to a triangle mesh: the closest point, what a ray meets, inside or outside.
//
// Inside is told by the generalised winding number (Jacobson et al. 2013), which is 1 inside and 0
// outside a closed surface and degrades gracefully at holes, overlaps and wrong turns; far parts of
// the tree are summed as dipoles (Barill et al. 2018).
#ifndef SN_GEOM_SEARCH_TRIANGLE_TREE_H
#define SN_GEOM_SEARCH_TRIANGLE_TREE_H

#include "geom/search/bvh.h"
#include "geom/mesh/mesh.h"
#include "math/mat3.h"

// The far field of the triangles below a node of the tree, to third order: integrals over them of
// the normal n times powers of the offset d from the centre. Only the parts that the field asks for
// are kept.
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
    const int32_t *vertices = tree->triangles + 3 * (size_t)triangle;
    for (int i = 0; i < 3; i++) {
        corners[i] = sn_load3(tree->points + 3 * (size_t)vertices[i]);
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

// The point of triangle abc closest to p; flat triangles are taken as their sides.
sn_vec3 sn_closest_on_triangle(sn_vec3 p, sn_vec3 a, sn_vec3 b, sn_vec3 c, double barycentric[3]);

// The closest point of all triangles, no farther than `limit` (INFINITY for any); the lowest tree
// order wins a tie.
sn_closest_point sn_triangle_tree_closest(const sn_triangle_tree *tree, sn_vec3 p, double limit);

// Solid angle of a triangle from the origin, positive if its normal points away (Van Oosterom and
// Strackee 1983).
double sn_solid_angle(sn_vec3 a, sn_vec3 b, sn_vec3 c);

// Generalised winding number. `accuracy` is how many radii away a part counts as far: 2 gives about
// 5e-3, 3 about 5e-4, 0 sums every triangle exactly.
double sn_triangle_tree_winding(const sn_triangle_tree *tree, sn_vec3 p, double accuracy);

typedef struct sn_ray_hit {
    int32_t triangle; // -1: none
    double t;         // the point is origin + t direction
    double barycentric[3];
} sn_ray_hit;

// First hit with 0 <= t <= limit, from either side (Möller and Trumbore 1997).
sn_ray_hit sn_triangle_tree_ray(const sn_triangle_tree *tree, sn_vec3 origin, sn_vec3 direction,
                                double limit);

// How often the ray crosses the surface (0 <= t). Odd means inside a closed surface. Exact ties on
// edges may be counted twice or missed: use a direction in general position, or the winding number.
int32_t sn_triangle_tree_crossings(const sn_triangle_tree *tree, sn_vec3 origin, sn_vec3 direction);

#endif
