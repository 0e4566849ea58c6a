// Parallel loops whose results do not depend on the number of threads.
//
// A loop over [0, count) is cut into chunks of a fixed size, whatever the number of threads; each
// chunk writes to memory of its own, and sums are added chunk by chunk in index order. One thread
// processes the same chunks in order.
#ifndef SN_BASE_THREADS_H
#define SN_BASE_THREADS_H

#include "base/context.h"

// Processes [begin, end), which is chunk number `chunk` of the loop. Must not call back into the
// context.
typedef void sn_range_fn(void *data, int32_t begin, int32_t end, int32_t chunk);

// The number of chunks a loop is cut into.
int32_t sn_chunk_count(int32_t count, int32_t chunk_size);

void sn_parallel_for(sinew_context *context, int32_t count, int32_t chunk_size, sn_range_fn *body,
                     void *data);

// The number of threads that share a loop. The size of a host's task system is not known, so for
// that it is a guess.
int32_t sn_thread_count(const sinew_context *context);

// Hands the items begin ... end - 1 out in order to `slots` workers; each takes the next item when
// it has finished one, so that items of unequal cost keep all workers busy. A slot has working
// memory of its own. Which slot gets an item differs from run to run, so the result of an item must
// not depend on what its slot did before. A slot whose call returns false takes no more items.
// Returns the first item that was not handed out.
typedef bool sn_deal_fn(void *data, int32_t item, int32_t slot);
int32_t sn_parallel_deal(sinew_context *context, int32_t begin, int32_t end, int32_t slots,
                         sn_deal_fn *body, void *data);

// The sum over all chunks of what `body` returns for each, added in index order.
typedef double sn_sum_fn(void *data, int32_t begin, int32_t end);
double sn_parallel_sum(sinew_context *context, int32_t count, int32_t chunk_size, sn_sum_fn *body,
                       void *data);

// The pool behind a context: made and destroyed with it.
sinew_status sn_pool_create(sinew_context *context, int32_t threads);
void sn_pool_destroy(sinew_context *context);

#endif
