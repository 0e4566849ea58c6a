// The certified commit: how far each vertex may move from x towards a target so that no pair of
// features touches on the way.
//
// For each pair a plane is placed between its features at x, and every vertex of the pair stays on
// its side of it. The vertices move on segments (or on curves close to them) and the features are
// convex, so that they stay apart all the way, whatever the other vertices do. Taking the smallest
// share over all pairs of a vertex is independent of their order.
#ifndef SN_CONTACT_COMMIT_H
#define SN_CONTACT_COMMIT_H

#include "contact/scene.h"

typedef struct sn_contact_motion {
    const double *x;      // positions of all vertices, free of intersections [m]
    const double *target; // where they shall go [m]
    // How far the path of each vertex deviates from its chord [m], NULL for straight paths. At the
    // share t of the motion the vertex is within min(1, 4 t) bulge of x + t (target - x).
    const double *bulge;
} sn_contact_motion;

typedef struct sn_contact_limit_report {
    int32_t truncated;   // vertices that cannot go all the way
    int32_t held;        // pairs without a separating plane: their vertices stay
    int32_t leaving;     // vertices that reach the edge of their box: time for sn_contact_find
    double smallest_gap; // between the features of a pair at x along its normal; INFINITY: no pairs
} sn_contact_limit_report;

// For each vertex the share t in [0, 1] of its motion that it may take, and for each part a bound
// on the shares of all its points, also interior ones, that limits distortion: 0.1 of an edge
// beyond the vertex that is stopped first. Parts with `together` get one share for all their
// vertices. Vertices move to x + t (target - x). Uses the normals of the last sn_contact_measure,
// which was at x. Allocates nothing.
void sn_contact_limit(sn_contact_scene *scene, const sn_contact_motion *motion,
                      double *vertex_share, double *part_share, sn_contact_limit_report *report);

#endif
