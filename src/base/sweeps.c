#include "base/sweeps.h"

#include "base/threads.h"

#include <sched.h>

enum { WORKERS = 64, PIECES_PER_WORKER = 4, SPIN_TURNS = 64 };

typedef struct sweep_job {
    const sn_sweeps *sweeps;
    int64_t end; // pieces times rounds
    sn_sweep_fn *body;
    void *data;
    atomic_llong next;
} sweep_job;

static void wait_for(atomic_int *done, int32_t rounds) {
    for (int turn = 1; atomic_load_explicit(done, memory_order_acquire) < rounds; turn++) {
        if (turn % SPIN_TURNS == 0) sched_yield(); // more threads than cores must not starve the one that works
    }
}

static void work(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)begin;
    (void)end;
    (void)chunk;
    sweep_job *job = data;
    const sn_sweeps *sweeps = job->sweeps;
    for (;;) {
        int64_t place = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
        if (place >= job->end) return;
        int32_t round = (int32_t)(place / sweeps->piece_count), piece = (int32_t)(place % sweeps->piece_count);
        wait_for(&sweeps->done[piece], round);
        for (int32_t i = sweeps->offsets[piece]; i < sweeps->offsets[piece + 1]; i++) {
            int32_t other = sweeps->neighbours[i];
            wait_for(&sweeps->done[other], other < piece ? round + 1 : round);
        }
        job->body(job->data, piece, round);
        atomic_store_explicit(&sweeps->done[piece], round + 1, memory_order_release);
    }
}

void sn_run_sweeps(sinew_context *context, const sn_sweeps *sweeps, int32_t rounds, sn_sweep_fn *body, void *data) {
    SN_ASSERT(rounds >= 0 && sweeps->piece_count >= 0);
    for (int32_t i = 0; i < sweeps->piece_count; i++) atomic_store_explicit(&sweeps->done[i], 0, memory_order_relaxed);
    sweep_job job = {sweeps, (int64_t)sweeps->piece_count * rounds, body, data, 0};
    // As many workers as there can be threads, those that come late find nothing left; but with few pieces all are neighbours,
    // and threads would only wait for each other.
    int32_t workers = sweeps->piece_count / PIECES_PER_WORKER;
    workers = workers < 1 ? 1 : workers > WORKERS ? WORKERS : workers;
    sn_parallel_for(context, workers, 1, work, &job);
}
