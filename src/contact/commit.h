// The certified commit: how far each vertex may move from x towards a target so that no pair of
// features touches on the way.
//
// For each pair a plane is placed between its features at x, and every vertex of the pair stays on
// its side of it. The vertices move on segments (or on curves close to them) and the features are
// convex, so that they stay apart all the way, whatever the other vertices do. Taking the smallest
// share over all pairs of a vertex is independent of their order.
//
// Where all vertices of a pair take the same share, the plane may move with them (joint.h).
//
// Planes that stand still would stop bodies that fly together. So a group of parts first moves as a
// whole, by its shift, which pairs of different groups limit; then its vertices move on towards
// their targets:
//
//   x  ->  x + shift  ->  x + shift + t (target - x - shift)
#ifndef SN_CONTACT_COMMIT_H
#define SN_CONTACT_COMMIT_H

#include "contact/scene.h"

typedef void sn_contact_bound_fn(void *user, const double *from, double *share);

typedef struct sn_contact_motion {
    const double *x;      // positions of all vertices, free of intersections [m]
    const double *target; // where they shall go [m]
    // How far the path of each vertex from x + shift deviates from its chord [m], NULL for straight
    // paths. At the share t the vertex is within min(1, 4 t) bulge of the point of the chord.
    const double *bulge;
    // The part of the deviation whose direction is known, three numbers each: it counts where it
    // leads towards the other side of a pair, and adds to the bulge. NULL: none. Needs a bulge.
    const double *bend;
    // The share of its drift (sn_contact_drift) that each part may take, in [0, 1]; NULL: 1.
    const double *drift_bound;
    // What else limits vertices: lowers their shares on the way from `from`, where the shifts leave
    // them, to their targets. NULL: nothing.
    sn_contact_bound_fn *bound;
    void *bound_user;
} sn_contact_motion;

// The result, in arrays of the caller.
typedef struct sn_contact_shares {
    sn_vec3 *shift; // of each part, equal in a group [m]
    double *vertex; // of each vertex its share t in [0, 1] of the rest of its motion
    // Of each part a bound of the shares of all its points, also of interior ones: none goes
    // farther than 0.1 of an edge beyond the vertex that is stopped first.
    double *part;
} sn_contact_shares;

typedef struct sn_contact_limit_report {
    int32_t truncated;   // vertices that cannot go all the way
    int32_t held;        // pairs without a separating plane: their vertices stay
    int32_t leaving;     // vertices that reach the edge of their box: time for sn_contact_find
    double smallest_gap; // between the features of a pair at x along its normal; INFINITY: no pairs
} sn_contact_limit_report;

// The mean motion of each part's group from x towards the target, 0 for groups with a held vertex
// and for groups that were slow at the last sn_contact_find. [m] What limits the motion besides the
// pairs (other obstacles) may bound its share in `motion`.
void sn_contact_drift(const sn_contact_scene *scene, const sn_contact_motion *motion,
                      sn_vec3 *drift);

// Computes how far all vertices may move; parts with `together` get one share. Uses the normals of
// the last sn_contact_measure, which was at x. Allocates nothing.
void sn_contact_limit(sn_contact_scene *scene, const sn_contact_motion *motion,
                      const sn_contact_shares *shares, sn_contact_limit_report *report);

// The position that a vertex may take.
static inline sn_vec3 sn_contact_moved(const sn_contact_motion *motion,
                                       const sn_contact_shares *shares,
                                       const sn_contact_scene *scene, int32_t vertex) {
    sn_vec3 from =
        sn_add(sn_load3(sn_at3(motion->x, vertex)), shares->shift[scene->vertex_part[vertex]]);
    sn_vec3 rest = sn_sub(sn_load3(sn_at3(motion->target, vertex)), from);
    return sn_madd(from, shares->vertex[vertex], rest);
}

// To be called once when the vertices have moved that far: the boxes of groups follow the shifts.
void sn_contact_accept(sn_contact_scene *scene, const sn_contact_shares *shares);

#endif
