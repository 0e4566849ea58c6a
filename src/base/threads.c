// A small thread pool. The caller publishes a job and works on it too. Workers spin briefly for the
// next job, because the phases of a step follow one another within microseconds, and then sleep.
// The caller waits for chunks that workers have begun, not for the workers: one that the system
// does not schedule costs nothing.
#include "base/threads.h"

#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SPINS = 2000, DEAL_YIELDS = 200 };

// Under the thread sanitizer the caller waits a while before it takes chunks: in a short loop it
// would finish all of them before a worker wakes, and no race could be detected.
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
    pthread_cond_t wake; // a new job, or shutdown
    int32_t workers;     // started so far
    int32_t capacity;    // length of `threads`
    pthread_t *threads;
    job current; // read only while holding one of its chunks; changes when all of them are done
    // The job's number in the upper half, the number of chunks not yet taken in the lower half.
    atomic_uint_fast64_t ticket;
    atomic_int done; // finished chunks of the current job
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

static uint32_t chunks_left(uint_fast64_t ticket) {
    return (uint32_t)ticket;
}

// Takes chunks until there are none left. The job number in the ticket keeps a late worker from
// taking a chunk of a job other than the one it saw.
static void run_chunks(sn_pool *pool, bool caller) {
    uint_fast64_t ticket = atomic_load_explicit(&pool->ticket, memory_order_acquire);
    int patience = DEAL_CHUNKS && caller ? DEAL_YIELDS : 0;
    while (chunks_left(ticket) > 0) {
        // See DEAL_CHUNKS: let the workers take their share first.
        if (patience > 0 && chunks_left(ticket) % (uint32_t)(pool->workers + 1) != 0) {
            patience--;
            sched_yield();
            ticket = atomic_load_explicit(&pool->ticket, memory_order_acquire);
            continue;
        }

        // Take a chunk, or learn that another thread was faster.
        if (!atomic_compare_exchange_weak_explicit(&pool->ticket, &ticket, ticket - 1,
                                                   memory_order_acquire, memory_order_acquire)) {
            continue;
        }

        const job *work = &pool->current;
        run_chunk(work, work->chunks - (int32_t)chunks_left(ticket));
        atomic_fetch_add_explicit(&pool->done, 1, memory_order_release);
        ticket = atomic_load_explicit(&pool->ticket, memory_order_acquire);
    }
}

static bool has_news(sn_pool *pool) {
    return chunks_left(atomic_load_explicit(&pool->ticket, memory_order_acquire)) > 0 ||
           atomic_load(&pool->quit);
}

// Waits until there are chunks to take. Returns false when the pool shuts down.
static bool wait_for_job(sn_pool *pool) {
    for (int spin = 0; spin < SPINS; spin++) {
        if (has_news(pool)) {
            return !atomic_load(&pool->quit);
        }
        if (spin % 64 == 63) {
            sched_yield(); // let others run if there are more threads than cores
        }
    }

    pthread_mutex_lock(&pool->mutex);
    while (!has_news(pool)) {
        pthread_cond_wait(&pool->wake, &pool->mutex);
    }

    pthread_mutex_unlock(&pool->mutex);
    return !atomic_load(&pool->quit);
}

static void *worker_main(void *argument) {
    sn_pool *pool = argument;
    while (wait_for_job(pool)) {
        run_chunks(pool, false);
    }
    return NULL;
}

static void wake_all(sn_pool *pool) {
    // The lock keeps the broadcast from falling between a worker's last check and its sleep.
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static void run_job(sn_pool *pool, const job *work) {
    uint_fast64_t number = (atomic_load_explicit(&pool->ticket, memory_order_relaxed) >> 32) + 1;
    pool->current = *work;
    atomic_store_explicit(&pool->done, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->ticket, number << 32 | (uint32_t)work->chunks,
                          memory_order_release);
    wake_all(pool);
    run_chunks(pool, true);

    for (int spin = 1; atomic_load_explicit(&pool->done, memory_order_acquire) < work->chunks;
         spin++) {
        if (spin % 64 == 0) {
            sched_yield();
        }
    }
}

static void host_task(void *data, int32_t index) {
    run_chunk(data, index);
}

void sn_parallel_for(sinew_context *context, int32_t count, int32_t chunk_size, sn_range_fn *body,
                     void *data) {
    job work = {body, data, count, chunk_size, sn_chunk_count(count, chunk_size)};
    sn_pool *pool = context->pool;
    if (work.chunks > 1 && context->tasks.run) {
        context->tasks.run(context->tasks.user, host_task, &work, work.chunks);
    } else if (work.chunks > 1 && pool) {
        run_job(pool, &work);
    } else {
        for (int32_t chunk = 0; chunk < work.chunks; chunk++) {
            run_chunk(&work, chunk);
        }
    }
}

int32_t sn_thread_count(const sinew_context *context) {
    if (context->tasks.run) {
        return 8;
    }
    return context->pool ? context->pool->workers + 1 : 1;
}

typedef struct deal {
    sn_deal_fn *body;
    void *data;
    int32_t end;
    atomic_int next;
} deal;

static void deal_to_slot(void *data, int32_t begin, int32_t end, int32_t slot) {
    (void)begin;
    (void)end;
    deal *work = data;

    for (;;) {
        int32_t item = atomic_fetch_add(&work->next, 1);
        if (item >= work->end || !work->body(work->data, item, slot)) {
            return;
        }
    }
}

int32_t sn_parallel_deal(sinew_context *context, int32_t begin, int32_t end, int32_t slots,
                         sn_deal_fn *body, void *data) {
    SN_ASSERT(begin <= end && slots > 0 && end < INT32_MAX - slots);
    deal work = {.body = body, .data = data, .end = end};
    atomic_init(&work.next, begin);
    sn_parallel_for(context, slots, 1, deal_to_slot, &work);
    int32_t next = atomic_load(&work.next);
    return next < end ? next : end;
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

double sn_parallel_sum(sinew_context *context, int32_t count, int32_t chunk_size, sn_sum_fn *body,
                       void *data) {
    // Larger chunks for large counts, so that the partial sums fit on the stack. The chunk size
    // depends on the count only, never on the number of threads.
    while (sn_chunk_count(count, chunk_size) > SUM_CHUNKS) {
        chunk_size *= 2;
    }

    sum_job sum = {.body = body, .data = data};
    sn_parallel_for(context, count, chunk_size, sum_range, &sum);

    double total = 0;
    for (int32_t chunk = 0; chunk < sn_chunk_count(count, chunk_size); chunk++) {
        total += sum.partial[chunk];
    }

    return total;
}

sinew_status sn_pool_create(sinew_context *context, int32_t threads) {
    if (threads <= 1) {
        return SINEW_OK;
    }

    sn_pool *pool = sn_allocate(context, 1, sizeof *pool);
    if (!pool) {
        return SINEW_OUT_OF_MEMORY;
    }

    context->pool = pool;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pool->capacity = threads - 1;
    pool->threads = sn_allocate(context, (size_t)pool->capacity, sizeof *pool->threads);

    // Start the workers; all of them or none.
    int32_t wanted = pool->threads ? threads - 1 : 0;
    for (int32_t i = 0; i < wanted; i++) {
        if (pthread_create(&pool->threads[i], NULL, worker_main, pool) != 0) {
            break;
        }
        pool->workers++;
    }

    if (pool->workers == threads - 1) {
        return SINEW_OK;
    }

    sn_pool_destroy(context);
    return sn_fail(context, SINEW_OUT_OF_MEMORY, "could not start %d worker threads", threads - 1);
}

void sn_pool_destroy(sinew_context *context) {
    sn_pool *pool = context->pool;
    if (!pool) {
        return;
    }

    atomic_store(&pool->quit, true);
    wake_all(pool);
    for (int32_t i = 0; i < pool->workers; i++) {
        pthread_join(pool->threads[i], NULL);
    }

    sn_release(context, pool->threads, (size_t)pool->capacity, sizeof *pool->threads);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    sn_release(context, pool, 1, sizeof *pool);
    context->pool = NULL;
}
