// Questions to a triangle mesh: the closest point, what a ray meets, inside or outside.
//
// Inside is told by the generalised winding number (Jacobson et al. 2013), which is 1 inside and 0 outside a closed surface
// and degrades gracefully at holes, overlaps and wrong turns; far parts of the tree are summed as dipoles (Barill et al.
// 2018).
#ifndef SN_GEOM_TRIANGLE_TREE_H
#define SN_GEOM_TRIANGLE_TREE_H

#include "geom/bvh.h"
#include "geom/mesh.h"

// The far field of the triangles below a node of the tree, to second order.
typedef struct sn_dipole {
    sn_vec3 center;   // mean of the triangles' centres by area
    double radius;    // of a ball about it that holds the triangles
    sn_vec3 area;     // sum of area normals
    double moment[9]; // sum of (c - center) ⊗ area normal, row by row
} sn_dipole;

typedef struct sn_triangle_tree {
    const double *points;     // borrowed
    const int32_t *triangles; // borrowed, 3 each
    int32_t triangle_count;
    sn_bvh bvh;
    sn_dipole *dipoles; // one for each node of the tree
} sn_triangle_tree;

// Borrows the arrays for the life of the tree. Indices must be in range and coordinates finite.
sinew_status sn_triangle_tree_build(sn_arena *arena, const double *points, const int32_t *triangles, int32_t triangle_count,
                                    sn_triangle_tree *tree);

typedef struct sn_closest_point {
    int32_t triangle; // -1: none within the limit
    sn_vec3 point;
    double barycentric[3];
    double distance;
} sn_closest_point;

// The point of triangle abc closest to p (Ericson 2005, 5.1.5), safe for flat triangles.
sn_vec3 sn_closest_on_triangle(sn_vec3 p, sn_vec3 a, sn_vec3 b, sn_vec3 c, double barycentric[3]);

// The closest point of all triangles, no farther than `limit` (INFINITY for any); the lowest tree order wins a tie.
sn_closest_point sn_triangle_tree_closest(const sn_triangle_tree *tree, sn_vec3 p, double limit);

// Generalised winding number. `accuracy` is how many radii away a part counts as far: 2 gives about 1e-3, 0 sums every
// triangle exactly.
double sn_triangle_tree_winding(const sn_triangle_tree *tree, sn_vec3 p, double accuracy);

typedef struct sn_ray_hit {
    int32_t triangle; // -1: none
    double t;         // the point is origin + t direction
    double barycentric[3];
} sn_ray_hit;

// First hit with 0 <= t <= limit, from either side (Möller and Trumbore 1997).
sn_ray_hit sn_triangle_tree_ray(const sn_triangle_tree *tree, sn_vec3 origin, sn_vec3 direction, double limit);

// How often the ray crosses the surface (0 <= t). Odd means inside a closed surface. Exact ties on edges may be counted twice
// or missed: use a direction in general position, or the winding number.
int32_t sn_triangle_tree_crossings(const sn_triangle_tree *tree, sn_vec3 origin, sn_vec3 direction);

#endif
