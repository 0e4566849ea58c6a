// Half turns between neighbours: how quaternions are smoothed if no choice of signs makes all
// neighbours agree.
//
// q and -q are one rotation, and axes with two of them reversed are the same to an orthotropic
// material: q h, h in {+-1, +-i, +-j, +-k}, is the same frame as q. Around a hollow (a tube, a
// vessel) frames that rotate with it come back as another q h, and smoothing the components would
// tear the field along some cut. Here each pair of neighbours has its own h, and the smoothing
// minimises
//
//   |sum_j W_ij (q_i - q_j h_ij)|^2
//
// so that no position is singled out (like the matchings of cross fields with four-fold symmetry,
// Ray, Vallet, Li and Levy 2008).
//
// Almost all h are 1 if the frames of the unknowns are chosen along a spanning tree. Where one is
// not, the neighbour's column in G is that of a ghost, which holds q_j h_ij. Loops over rows need
// not know, as long as ghosts are filled before columns are read and folded back after they were
// added to.
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
    sn_constraints rows; // those given, columns with ghosts, seen from the first unknown of a row
    sn_quat *row_frames; // of each row: the estimate at its first unknown
} sn_matching;

// Returns the g for which q g, of the eight equivalent quaternions, is nearest to `wanted`.
sn_quat sn_nearest_half_turn(sn_quat q, sn_quat wanted);

// The matching of estimated frames. The frames are borrowed, and replaced by equivalent ones so
// that few neighbours need a half turn. Lives in the arena.
sinew_status sn_matching_build(sn_arena *arena, const sn_smoothing *smoothing,
                               const sn_constraints *rows, sn_quat *frames, sn_matching *matching);

// The number of pairs of neighbours in x[unknown][4] for which another half turn would now be
// nearer.
int32_t sn_matching_count_changes(const sn_matching *matching, double *x);

// The minimised energy |D^-1 G x|^2 + |C x - c|^2 of x[unknown + ghost][4].
double sn_matching_energy(const sn_smoothing *smoothing, const sn_matching *matching,
                          const double *values, double *x);

// Smooths quaternions with half turns between neighbours. values[row][4] must be close to the row's
// frame of the matching; x[unknown + ghost][4] is the starting point and the result.
sinew_status sn_smoothing_solve_matched(sn_smoothing *smoothing, const sn_matching *matching,
                                        const double *values, double *x, sn_solve_report *report);

// For vectors of (unknowns + ghosts) x width numbers, each group of four a quaternion. If the
// matching is NULL these do nothing.
//
//   fill   sets ghosts from their unknowns
//   clear  sets ghosts to zero
//   fold   adds ghosts to their unknowns
void sn_matching_fill(const sn_matching *matching, double *x, size_t width);
void sn_matching_clear(const sn_matching *matching, double *x, size_t width);
void sn_matching_fold(const sn_matching *matching, double *x, size_t width);

// Converts to quaternions relative to the frames, z = r f*, and back, z = z f; [unknown][4].
void sn_matching_enter(const sn_matching *matching, double *z, const double *r);
void sn_matching_leave(const sn_matching *matching, double *z);

#endif
