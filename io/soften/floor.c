// A floor under the flesh, as unilateral constraints of position dynamics.
//
// After each step the vertices of the surface that the skin shows below the floor are lifted, one
// after the other, by moving the nodes of the flesh that carry them. A vertex follows its nodes by
// shares c_k, and its posed position is S (p + d) + t, so the constraint and its gradient are
//
//   C = n (S (p + sum_k c_k d_k) + t) - floor >= 0,     dC/d(d_k) = c_k S'n.
//
// Nodes move by their inverse masses, as in every constraint of position dynamics; the velocity
// changes with them, so that the flesh lands without bouncing and the elements push it outwards in
// the next step. Nodes that the bones hold do not move: what remains below the floor is reported.
// There is no friction. Cost: vertices below the floor, times a fixed number of sweeps.
#include "io/soften/softener.h"

#include <math.h>

enum { SWEEPS = 4 };

// Moves the nodes of a vertex so that it is at the floor; returns how far below it stays. [m]
static double lift_point(sn_softener *s, size_t point, const double *matrices, double h) {
    sn_mat3 S;
    sn_vec3 t, d = {0, 0, 0};
    sn_soft_blend_point(s, matrices, (int32_t)point, &S, &t);
    for (size_t k = 8 * point; k < 8 * (point + 1); k++) {
        size_t node = 3 * (size_t)s->lattice.point_nodes[k];
        d = sn_madd(d, s->lattice.point_shares[k],
                    sn_sub(sn_load3(s->flesh + node), sn_load3(s->lattice.mesh.points + node)));
    }

    sn_vec3 p = sn_add(sn_load3(s->points + 3 * point), sn_scale(1 / s->unit, d));
    sn_vec3 x = sn_scale(s->def->unit, sn_add(sn_mat3_apply(S, p), t));
    double depth = s->def->floor_height - x.y;
    if (depth <= 0) {
        return 0;
    }

    // The gradient in metres of the flesh, and how easily the free nodes move along it.
    double scale = s->def->unit / s->unit;
    sn_vec3 g = sn_v3(scale * S.m[1][0], scale * S.m[1][1], scale * S.m[1][2]);
    double ease = 0;
    for (size_t k = 8 * point; k < 8 * (point + 1); k++) {
        int32_t node = s->lattice.point_nodes[k];
        double share = s->lattice.point_shares[k];
        ease += s->lattice.held[node] ? 0 : share * share / s->mass[node];
    }
    double square = sn_dot(g, g);
    if (!(ease > 0 && square > 1e-12)) {
        return depth;
    }

    for (size_t k = 8 * point; k < 8 * (point + 1); k++) {
        int32_t node = s->lattice.point_nodes[k];
        if (s->lattice.held[node]) {
            continue;
        }
        double step = depth * s->lattice.point_shares[k] / (s->mass[node] * ease * square);
        size_t at = 3 * (size_t)node;
        sn_store3(s->flesh + at, sn_madd(sn_load3(s->flesh + at), step, g));
        sn_store3(s->velocities + at, sn_madd(sn_load3(s->velocities + at), step / h, g));
    }
    return depth;
}

sinew_status sn_soft_lift(sn_softener *s, double time, double h) {
    sn_arena_mark mark = sn_arena_get_mark(s->arena);
    double *matrices;
    SN_TRY(sn_soft_pose(s, time, &matrices));
    SN_TRY(sn_soft_model_read(s));

    bool changed = false;
    double remains = 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        remains = 0;
        for (size_t i = 0; i < (size_t)s->point_count; i++) {
            remains = fmax(remains, lift_point(s, i, matrices, h));
        }
        if (remains == 0) {
            break;
        }
        changed = true;
    }

    s->report->floor_depth = fmax(s->report->floor_depth, remains);
    sn_arena_rewind(s->arena, mark);
    return changed ? sn_soft_model_write(s) : SINEW_OK;
}
