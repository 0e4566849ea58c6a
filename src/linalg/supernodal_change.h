// Solves with a factored matrix that has changed by a few rows, without factoring it again:
//
//   A + sum_k s_k u_k u_k',    s_k = 1 (added) or -1 (removed)
//
// With A = L L', W' = L^-1 U, S = diag(s) and H = S + W W', Woodbury's formula reads
//
//   (A + U S U')^-1 = L^-T (1 - W' H^-1 W) L^-1
//
// so a solve needs one correction between its two substitutions. W has entries only in supernodes
// that hold entries of U or are above them in the elimination tree. H is indefinite, but
// quasi-definite if the added rows come first, and is factored as two Cholesky factors (Vanderbei
// 1995).
#ifndef SN_LINALG_SUPERNODAL_CHANGE_H
#define SN_LINALG_SUPERNODAL_CHANGE_H

#include "linalg/supernodal.h"

// Rows u_k with few entries.
typedef struct sn_row_set {
    int32_t count;
    const int32_t *starts; // count + 1: positions in `columns` and `weights`
    const int32_t *columns;
    const double *weights;
} sn_row_set;

// The part of W that belongs to a supernode: its columns, for the rows that reach it.
typedef struct sn_change_piece {
    int32_t supernode, row_count;
    int32_t *rows;  // ascending
    double *values; // row_count x width of the supernode
} sn_change_piece;

typedef struct sn_supernodal_change {
    int32_t count, added; // rows; the first so many are added, the others removed
    int32_t piece_count;
    sn_change_piece *pieces; // ascending supernodes
    int32_t *slots;          // piece_count x count: index of a row in a piece, -1: not there
    int32_t stride;          // of H
    double *H;               // the factors L1 and L2, and X between them
    double *v, *part, *own;  // scratch of a solve: count x 4; count; the width of a supernode
} sn_supernodal_change;

// Computes W and H in the arena. *done is false, and the change must not be used, if factoring
// again would take less time or if A would not stay positive definite.
sinew_status sn_supernodal_change_build(sn_arena *arena, const sn_supernodal *factor,
                                        const sn_row_set *added, const sn_row_set *removed,
                                        sn_supernodal_change *change, bool *done);

// x = (1 - W' H^-1 W) x for four right-hand sides side by side, in the order of elimination.
void sn_supernodal_change_apply(const sn_supernodal *factor, const sn_supernodal_change *change,
                                double *x);

#endif
