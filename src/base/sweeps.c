// Parallel Gauss-Seidel: threads take pieces from a shared list and wait for their neighbours; see
// sweeps.h.
#include "base/sweeps.h"

#include "base/threads.h"

#include <sched.h>

enum { WORKERS = 64, PIECES_PER_WORKER = 4, SPINS = 64, MAX_STRANDS = 8 };

// The order in which pieces of all rounds are handed out.
//
// If neighbours are close to each other in the list, a round may begin before the previous one has
// ended: piece i of round r gets the time i + r delay, where `delay` exceeds the largest distance
// between neighbours, so that everything it waits for has an earlier time. Then `strands` rounds
// run at the same time, with delay * strands >= piece_count, and threads work in different parts of
// the list. With one strand, rounds simply follow one another.
typedef struct sweep_order {
    int64_t end; // slots to hand out, some of them empty
    int32_t delay, strands;
} sweep_order;

typedef struct sweep_job {
    const sn_sweeps *sweeps;
    sweep_order order;
    int32_t rounds;
    sn_sweep_fn *body;
    void *data;
    atomic_llong next;
} sweep_job;

// The largest distance between neighbours in the list of pieces.
static int32_t largest_reach(const sn_sweeps *sweeps) {
    int32_t reach = 0;
    for (int32_t i = 0; i < sweeps->piece_count; i++) {
        for (int32_t k = sweeps->offsets[i]; k < sweeps->offsets[i + 1]; k++) {
            int32_t distance = sweeps->neighbors[k] - i;
            reach = distance > reach ? distance : reach;
        }
    }

    return reach;
}

static sweep_order choose_order(const sn_sweeps *sweeps, int32_t rounds, bool alone) {
    int32_t count = sweeps->piece_count;
    int32_t reach = alone ? 0 : largest_reach(sweeps);
    int32_t strands = alone ? 1 : count / (reach + 1);
    strands = strands > MAX_STRANDS ? MAX_STRANDS : strands;
    strands = strands > rounds ? rounds : strands;
    if (strands < 1) {
        strands = 1;
    }

    int32_t delay = (count + strands - 1) / strands;
    SN_ASSERT(strands == 1 || delay > reach);

    return (sweep_order){(int64_t)delay * strands * (rounds + strands - 1), delay, strands};
}

// The piece and round of a slot; false if the slot is empty. Slots of the same time: earlier rounds
// first.
static bool find_piece(const sweep_job *job, int64_t slot, int32_t *piece, int32_t *round) {
    const sweep_order *order = &job->order;
    int64_t time = slot / order->strands;
    int32_t strand = order->strands - 1 - (int32_t)(slot % order->strands);
    *round = (int32_t)(time / order->delay) - strand;
    *piece = (int32_t)(time % order->delay) + strand * order->delay;
    return *round >= 0 && *round < job->rounds && *piece < job->sweeps->piece_count;
}

static void wait_for(atomic_int *done, int32_t rounds) {
    for (int spin = 1; atomic_load_explicit(done, memory_order_acquire) < rounds; spin++) {
        if (spin % SPINS == 0) {
            sched_yield(); // let the thread we wait for run if there are more threads than cores
        }
    }
}

// What every thread does until the list is empty.
static void work(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)begin;
    (void)end;
    (void)chunk;

    sweep_job *job = data;
    const sn_sweeps *sweeps = job->sweeps;
    for (;;) {
        int64_t slot = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
        if (slot >= job->order.end) {
            return;
        }

        int32_t piece, round;
        if (!find_piece(job, slot, &piece, &round)) {
            continue;
        }

        // Wait for this piece's last round, and for the neighbours that come before it in this one.
        wait_for(&sweeps->done[piece], round);
        for (int32_t i = sweeps->offsets[piece]; i < sweeps->offsets[piece + 1]; i++) {
            int32_t other = sweeps->neighbors[i];
            wait_for(&sweeps->done[other], other < piece ? round + 1 : round);
        }

        job->body(job->data, piece, round);
        atomic_store_explicit(&sweeps->done[piece], round + 1, memory_order_release);
    }
}

void sn_run_sweeps(sinew_context *context, const sn_sweeps *sweeps, int32_t rounds,
                   sn_sweep_fn *body, void *data) {
    SN_ASSERT(rounds >= 0 && sweeps->piece_count >= 0);
    for (int32_t i = 0; i < sweeps->piece_count; i++) {
        atomic_store_explicit(&sweeps->done[i], 0, memory_order_relaxed);
    }

    if (sweeps->piece_count == 0 || rounds == 0) {
        return;
    }

    bool alone = !context->pool && !context->tasks.run;
    sweep_job job = {sweeps, choose_order(sweeps, rounds, alone), rounds, body, data, 0};

    // One worker per possible thread; a worker that starts late finds nothing left to do. With few
    // pieces all are neighbours and threads would only wait for each other, so there are fewer
    // workers.
    int32_t workers = sweeps->piece_count / PIECES_PER_WORKER;
    workers = workers < 1 ? 1 : workers > WORKERS ? WORKERS : workers;
    sn_parallel_for(context, workers, 1, work, &job);
}
