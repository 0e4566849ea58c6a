// Gauss-Seidel in parallel: pieces that are worked through in order, round after round, where a
// piece waits only for the pieces it shares data with. The result is that of one thread going
// through all of them, bit for bit.
#ifndef SN_BASE_SWEEPS_H
#define SN_BASE_SWEEPS_H

#include "base/context.h"

#include <stdatomic.h>

typedef struct sn_sweeps {
    int32_t piece_count;
    // Row i of `neighbours`: the pieces that share data with piece i, in any order; i itself may be
    // among them. If j is one of i, then i is one of j.
    const int32_t *offsets; // piece_count + 1
    const int32_t *neighbours;
    atomic_int *done; // piece_count rounds counters, scratch of sn_run_sweeps
} sn_sweeps;

// Handles one piece in one round. Must not call back into the context.
typedef void sn_sweep_fn(void *data, int32_t piece, int32_t round);

// Pieces 0 ... piece_count - 1 of round 0, then those of round 1, and so on. Piece i of round r
// runs when its neighbours j < i have finished round r and its neighbours j > i round r - 1.
//
// Threads take the next piece and round from a list and wait for its neighbours; these were taken
// before it, so whoever waits, waits for somebody who works, however many threads there are. Where
// neighbours lie close together in the order of the pieces, several rounds run at the same time,
// one behind the other.
void sn_run_sweeps(sinew_context *context, const sn_sweeps *sweeps, int32_t rounds,
                   sn_sweep_fn *body, void *data);

#endif
