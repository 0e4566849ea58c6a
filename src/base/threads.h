// Parallel loops whose results do not depend on the number of threads.
//
// A loop over [0, count) is cut into chunks of a fixed size, whatever the thread count; each chunk
// writes to places of its own, and sums are added chunk by chunk in index order. One thread walks
// the same chunks.
#ifndef SN_BASE_THREADS_H
#define SN_BASE_THREADS_H

#include "base/context.h"

// Handles [begin, end), which is chunk number `chunk` of the loop. Must not call back into the
// context.
typedef void sn_range_fn(void *data, int32_t begin, int32_t end, int32_t chunk);

// Number of chunks a loop is cut into.
int32_t sn_chunk_count(int32_t count, int32_t chunk_size);

void sn_parallel_for(sinew_context *context, int32_t count, int32_t chunk_size, sn_range_fn *body,
                     void *data);

// Threads that share a loop; of a host's task system, whose number is not known, a guess.
int32_t sn_thread_count(const sinew_context *context);

// Deals the items begin .. end - 1, in order, to `slots` hands at a time: each takes the next item
// when it has done with one, so that items of unequal cost keep all of them busy. A slot has memory
// of its own to work in; which slot gets an item differs from run to run, so the result of an item
// must not depend on what its slot did before. A slot that returns false takes no more. Returns the
// first item that was not dealt.
typedef bool sn_deal_fn(void *data, int32_t item, int32_t slot);
int32_t sn_parallel_deal(sinew_context *context, int32_t begin, int32_t end, int32_t slots,
                         sn_deal_fn *body, void *data);

// Returns the sum over all chunks of what `body` returns for each, added in index order.
typedef double sn_sum_fn(void *data, int32_t begin, int32_t end);
double sn_parallel_sum(sinew_context *context, int32_t count, int32_t chunk_size, sn_sum_fn *body,
                       void *data);

// The pool behind a context: made and destroyed with it.
sinew_status sn_pool_create(sinew_context *context, int32_t threads);
void sn_pool_destroy(sinew_context *context);

#endif
