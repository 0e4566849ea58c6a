// Half turns between neighbours: how quaternions are smoothed where no choice of signs makes all
// neighbours agree.
//
// q and -q are one rotation, and axes with two of them reversed are the same to an orthotropic
// material: q h, h in {+-1, +-i,
// +-j, +-k}, is the same frame as q. Round a hollow (a tube, a vessel) frames that turn with it
// come back as another q h, and a smoothing of components would tear them on some cut. Here each
// pair of neighbours has its own h: minimised is |sum_j W_ij (q_i - q_j h_ij)|^2 instead, and no
// place is better or worse than another (as the matchings of cross fields do for four-fold
// symmetry, Ray, Vallet, Li and Levy 2008).
//
// Almost all h are 1 if the frames of the unknowns are chosen along a spanning tree. Where one is
// not, the column of the neighbour in G is that of a ghost, which holds q_j h_ij: loops over rows
// need not know, as long as ghosts are filled before columns are read and folded back after they
// were added to.
#ifndef SN_FIELD_MATCHING_H
#define SN_FIELD_MATCHING_H

#include "field/smoothing.h"
#include "math/quat.h"

typedef struct sn_matching {
    int32_t n;
    sn_quat *frames; // of each unknown: an estimate, unit quaternions
    sn_sparse G;     // of the smoothing, columns with ghosts
    int32_t ghost_count;
    int32_t *sources;    // of each ghost: the unknown
    sn_quat *half_turns; // of each ghost
    sn_vec3 *positions;  // of unknowns and ghosts
    sn_constraints
        rows; // those given, columns with ghosts, seen from the first unknown of each row
    sn_quat *row_frames; // of each row: the estimate at its first unknown
} sn_matching;

// Of the eight quaternions q g that stand for the same orthotropic axes the one nearest to
// `wanted`: g is returned.
sn_quat sn_nearest_half_turn(sn_quat q, sn_quat wanted);

// The matching of estimated frames, which are borrowed and of which equal ones are exchanged so
// that few neighbours need a half turn. Lives in the arena.
sinew_status sn_matching_build(sn_arena *arena, const sn_smoothing *smoothing,
                               const sn_constraints *rows, sn_quat *frames, sn_matching *matching);

// How many neighbours, counted once, of the unknowns of x[unknown][4] are no longer nearest by
// their half turns.
int32_t sn_matching_count_changes(const sn_matching *matching, double *x);

// What the smoothing minimises, |D^-1 G x|^2 + |C x - c|^2, of x[unknown + ghost][4].
double sn_matching_energy(const sn_smoothing *smoothing, const sn_matching *matching,
                          const double *values, double *x);

// Smooths quaternions with half turns between neighbours: values[row][4] in, near the row's frame
// of the matching, x[unknown + ghost][4] in (the start) and out.
sinew_status sn_smoothing_solve_matched(sn_smoothing *smoothing, const sn_matching *matching,
                                        const double *values, double *x, sn_solve_report *report);

// For vectors of (unknowns + ghosts) x width numbers, each four of which are a quaternion. A
// matching of NULL does nothing.
void sn_matching_fill(const sn_matching *matching, double *x,
                      size_t width); // ghosts from their unknowns
void sn_matching_clear(const sn_matching *matching, double *x, size_t width); // ghosts to 0
void sn_matching_fold(const sn_matching *matching, double *x,
                      size_t width); // adds ghosts to their unknowns

// To what quaternions are from the frames, z = r f*, and back, z = z f; [unknown][4].
void sn_matching_enter(const sn_matching *matching, double *z, const double *r);
void sn_matching_leave(const sn_matching *matching, double *z);

#endif
