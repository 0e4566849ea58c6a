// Parallel Gauss-Seidel: pieces are processed in order, round after round, and a piece waits only
// for the pieces it shares data with. The result is bit for bit that of one thread processing all
// pieces in order.
#ifndef SN_BASE_SWEEPS_H
#define SN_BASE_SWEEPS_H

#include "base/context.h"

#include <stdatomic.h>

typedef struct sn_sweeps {
    int32_t piece_count;
    // Row i of `neighbors`: the pieces that share data with piece i, in any order, possibly
    // including i itself. The relation is symmetric.
    const int32_t *offsets; // piece_count + 1
    const int32_t *neighbors;
    atomic_int *done; // piece_count counters of finished rounds; scratch of sn_run_sweeps
} sn_sweeps;

// Processes one piece in one round. Must not call back into the context.
typedef void sn_sweep_fn(void *data, int32_t piece, int32_t round);

// Processes pieces 0 ... piece_count - 1 of round 0, then those of round 1, and so on. Piece i of
// round r runs when its neighbours j < i have finished round r and its neighbours j > i
// round r - 1.
//
// Threads take the next (piece, round) from a list and wait for its neighbours. Those were taken
// earlier, so a waiting thread always waits for one that makes progress, however many threads there
// are. If neighbours are close together in the order of the pieces, several rounds overlap.
void sn_run_sweeps(sinew_context *context, const sn_sweeps *sweeps, int32_t rounds,
                   sn_sweep_fn *body, void *data);

#endif
