// Everything that takes part in contact: the parts (surfaces), numbered through, and the search for
// pairs of features that may touch during a step.
//
// Vertices, edges and triangles of part 0 come first, then those of part 1, and so on. Positions
// are arrays x0 y0 z0 x1 ... in that numbering.
//
// sn_contact_find gives every vertex a box, around the segment from its position x to the predicted
// position y, and lists the pairs of features that can touch as long as all vertices stay in their
// boxes. Parts of one group move together: pairs within a group are compared in a frame that moves
// with the mean motion of its vertices, its drift, so that a body in flight does not meet itself.
//
// The form of a part's tree follows from its rest shape, so that the order of the pairs depends on
// x, y and reach alone, neither on what happened before nor on the number of threads.
#ifndef SN_CONTACT_SCENE_H
#define SN_CONTACT_SCENE_H

#include "contact/pair.h"
#include "contact/shape.h"
#include "geom/search/search.h"

typedef struct sn_contact_part {
    const sn_contact_shape *shape;                    // borrowed
    int32_t first_vertex, first_edge, first_triangle; // in the scene's numbering
    double thickness; // half of the gap to keep: a pair keeps the sum of both parts' [m]
    bool together;    // all vertices take the same share of a motion (sn_contact_limit)
    bool still;    // its vertices are where they were at the last sn_contact_find, and stay there
    int32_t group; // parts with the same number move together; at first each its own number
    bool anchored; // its group gets no drift at the next sn_contact_find

    // Written by sn_contact_find.
    sn_vec3 drift;      // mean motion of the group's vertices; 0 if one is held or it is slow [m]
    int32_t held_count; // vertices that are held
    sn_vec3 shift;      // how far it has been shifted since (sn_contact_accept) [m]
    struct sn_contact_tree *tree;
} sn_contact_part;

// Whether two parts can touch; a == b asks about contact of a part with itself.
typedef bool sn_contact_filter_fn(void *user, int32_t a, int32_t b);

typedef struct sn_contact_scene sn_contact_scene;
struct sn_contact_scene {
    sinew_context *context;
    sn_arena arena; // holds this struct too
    int32_t part_count, vertex_count, edge_count, triangle_count;
    sn_contact_part *parts;
    sn_contact_filter_fn *filter; // NULL: all parts can touch, also themselves
    void *filter_user;
    uint8_t *held;        // of each vertex: it moves as prescribed; written by the caller
    int32_t *vertex_part; // the part of each vertex

    // Of each vertex, since the last sn_contact_find: where it may go, and where it may go relative
    // to its group.
    sn_box *boxes, *inner_boxes;

    // The pairs found last: first all of vertices and triangles, then all of edges.
    sn_contact_pair *pairs;
    int32_t pair_count, vertex_triangle_count;

    // Scratch of sn_contact_limit: 4 shares for each pair; positions of all vertices.
    double *shares, *start, *end;
    size_t pair_capacity;
    // The share of the motions that the boxes cover: 1 unless too many pairs could touch.
    double covered;
    struct sn_contact_search *search; // find.c
};

// A scene of `count` shapes, which are borrowed. `rest` holds the positions of all vertices at
// rest: the trees are built for them. Thicknesses are 0 and nothing is held. Destroy it with
// sn_contact_scene_destroy.
sinew_status sn_contact_scene_create(sinew_context *context, const sn_contact_shape *const *shapes,
                                     int32_t count, const double *rest, sn_contact_scene **scene);
void sn_contact_scene_destroy(sn_contact_scene *scene);

// Lists the pairs that may touch while the vertices move from x towards y. A box reaches
// reach / 2 + 0.1 |y - x| beyond the segment from x to y, and every pair that comes closer than
// `reach` at x or at y is listed. Left out are pairs that share a vertex, pairs whose vertices are
// all held, and pairs of neighbours in a part of the surface that cannot fold over within its
// boxes. Allocates only when there are more pairs than ever before. Sets `exempt` to false; what
// sn_contact_measure writes is undefined.
sinew_status sn_contact_find(sn_contact_scene *scene, const double *x, const double *y,
                             double reach);

// Closest points, normals, distances and normal cones of all pairs at x. A pair is usable for
// forces if n lies in the normal cones of both features; a closed surface has an outside only.
void sn_contact_measure(sn_contact_scene *scene, const double *x);

// The gap that a pair keeps: the thicknesses of both parts together. [m]
static inline double sn_contact_gap(const sn_contact_scene *scene, const sn_contact_pair *pair) {
    return scene->parts[pair->part[0]].thickness + scene->parts[pair->part[1]].thickness;
}

#endif
