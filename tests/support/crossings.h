// Triangles that intersect, found exactly and independently of src/contact: its own search by a
// uniform grid, and orientations in exact arithmetic.
#ifndef SN_TESTS_SUPPORT_CROSSINGS_H
#define SN_TESTS_SUPPORT_CROSSINGS_H

#include <stdbool.h>
#include <stdint.h>

// The sign of the volume of the tet a b c d, exact: positive if d lies on the side of abc to which
// (b - a) x (c - a) points. Coordinates must be finite and neither overflow nor underflow: their
// magnitudes, if not 0, lie between 1e-90 and 1e90.
int test_orientation(const double *a, const double *b, const double *c, const double *d);

// Surfaces as triangles over common vertices.
typedef struct test_surfaces {
    const double *x; // 3 for each vertex
    int32_t vertex_count;
    const int32_t *triangles; // 3 vertices each
    int32_t triangle_count;
    const int32_t *vertex_part; // of each vertex its body; NULL: all of one
    bool apart;                 // only triangles of different bodies count
} test_surfaces;

// The number of pairs of triangles that have a point in common, touching included. Pairs that share
// two vertices, common corners of pairs that share one, and coplanar triangles of one body do not
// count. `first`, unless NULL, gets the first two triangles found. -1 if a position is not finite
// or memory runs out.
int64_t test_count_crossings(const test_surfaces *surfaces, int32_t first[2]);

#endif
