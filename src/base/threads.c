// A small pool. The caller publishes a job and works on it too; workers spin briefly for the next job, because the phases of a
// step follow one another within microseconds, and sleep after that.
#include "base/threads.h"

#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SPIN_TURNS = 2000 };

// Under the thread sanitizer chunks are dealt out in turn rather than taken by who comes first: in a short loop the caller
// would take them all before a worker wakes, and no race could be seen.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DEAL_CHUNKS 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define DEAL_CHUNKS 1
#endif
#ifndef DEAL_CHUNKS
#define DEAL_CHUNKS 0
#endif

typedef struct job {
    sn_range_fn *body;
    void *data;
    int32_t count, chunk_size, chunks;
} job;

struct sn_pool {
    pthread_mutex_t mutex;
    pthread_cond_t wake; // a new job, or the end
    int32_t workers;     // started so far
    int32_t capacity;    // length of `threads`
    pthread_t *threads;
    job current;
    atomic_int_fast64_t generation; // increased with every job
    atomic_int next_chunk;
    atomic_int busy;   // workers that have not finished the current job
    atomic_int joined; // workers that have begun: numbers them from 1, the caller being 0
    atomic_bool quit;
};

int32_t sn_chunk_count(int32_t count, int32_t chunk_size) {
    SN_ASSERT(count >= 0 && chunk_size > 0);
    return (int32_t)(((int64_t)count + chunk_size - 1) / chunk_size);
}

static void run_chunk(const job *work, int32_t chunk) {
    int32_t begin = chunk * work->chunk_size;
    int32_t end = work->count - begin > work->chunk_size ? begin + work->chunk_size : work->count;
    work->body(work->data, begin, end, chunk);
}

static void run_chunks(sn_pool *pool, int32_t number) {
    job work = pool->current;
    if (DEAL_CHUNKS) {
        for (int32_t chunk = number; chunk < work.chunks; chunk += pool->workers + 1) run_chunk(&work, chunk);
        return;
    }
    for (;;) {
        int32_t chunk = atomic_fetch_add_explicit(&pool->next_chunk, 1, memory_order_relaxed);
        if (chunk >= work.chunks) return;
        run_chunk(&work, chunk);
    }
}

// Waits until a job newer than `seen` is published. Returns false at the end of the pool.
static bool wait_for_job(sn_pool *pool, int64_t seen) {
    for (int turn = 0; turn < SPIN_TURNS; turn++) {
        if (atomic_load_explicit(&pool->generation, memory_order_acquire) != seen) return !atomic_load(&pool->quit);
        if (turn % 64 == 63) sched_yield(); // more threads than cores must not starve the one that works
    }
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->generation) == seen) pthread_cond_wait(&pool->wake, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
    return !atomic_load(&pool->quit);
}

static void *worker_main(void *argument) {
    sn_pool *pool = argument;
    int64_t seen = 0;
    int32_t number = 1 + atomic_fetch_add(&pool->joined, 1);
    while (wait_for_job(pool, seen)) {
        seen++;
        run_chunks(pool, number);
        atomic_fetch_sub_explicit(&pool->busy, 1, memory_order_release);
    }
    return NULL;
}

static void publish(sn_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add_explicit(&pool->generation, 1, memory_order_release);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static void host_task(void *data, int32_t index) {
    run_chunk(data, index);
}

void sn_parallel_for(sinew_context *context, int32_t count, int32_t chunk_size, sn_range_fn *body, void *data) {
    job work = {body, data, count, chunk_size, sn_chunk_count(count, chunk_size)};
    sn_pool *pool = context->pool;
    if (work.chunks > 1 && context->tasks.run) {
        context->tasks.run(context->tasks.user, host_task, &work, work.chunks);
    } else if (work.chunks > 1 && pool) {
        pool->current = work;
        atomic_store(&pool->next_chunk, 0);
        atomic_store(&pool->busy, pool->workers);
        publish(pool);
        run_chunks(pool, 0);
        for (int turn = 1; atomic_load_explicit(&pool->busy, memory_order_acquire) > 0; turn++) {
            if (turn % 64 == 0) sched_yield();
        }
    } else {
        for (int32_t chunk = 0; chunk < work.chunks; chunk++) run_chunk(&work, chunk);
    }
}

enum { SUM_CHUNKS = 256 };

typedef struct sum_job {
    sn_sum_fn *body;
    void *data;
    double partial[SUM_CHUNKS];
} sum_job;

static void sum_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    sum_job *sum = data;
    sum->partial[chunk] = sum->body(sum->data, begin, end);
}

double sn_parallel_sum(sinew_context *context, int32_t count, int32_t chunk_size, sn_sum_fn *body, void *data) {
    // Larger chunks for large counts, so that the partial sums fit on the stack: a rule of the count alone.
    while (sn_chunk_count(count, chunk_size) > SUM_CHUNKS) chunk_size *= 2;
    sum_job sum = {.body = body, .data = data};
    sn_parallel_for(context, count, chunk_size, sum_range, &sum);
    double total = 0;
    for (int32_t chunk = 0; chunk < sn_chunk_count(count, chunk_size); chunk++) total += sum.partial[chunk];
    return total;
}

sinew_status sn_pool_create(sinew_context *context, int32_t threads) {
    if (threads <= 1) return SINEW_OK;
    sn_pool *pool = sn_allocate(context, 1, sizeof *pool);
    if (!pool) return SINEW_OUT_OF_MEMORY;
    context->pool = pool;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pool->capacity = threads - 1;
    pool->threads = sn_allocate(context, (size_t)pool->capacity, sizeof *pool->threads);
    for (int32_t i = 0; pool->threads && i < threads - 1; i++) {
        if (pthread_create(&pool->threads[i], NULL, worker_main, pool) != 0) break;
        pool->workers++;
    }
    if (pool->workers == threads - 1) return SINEW_OK;
    sn_pool_destroy(context);
    return sn_fail(context, SINEW_OUT_OF_MEMORY, "could not start %d worker threads", threads - 1);
}

void sn_pool_destroy(sinew_context *context) {
    sn_pool *pool = context->pool;
    if (!pool) return;
    atomic_store(&pool->quit, true);
    publish(pool);
    for (int32_t i = 0; i < pool->workers; i++) pthread_join(pool->threads[i], NULL);
    sn_release(context, pool->threads, (size_t)pool->capacity, sizeof *pool->threads);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    sn_release(context, pool, 1, sizeof *pool);
    context->pool = NULL;
}
