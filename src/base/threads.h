// Parallel loops whose results do not depend on the number of threads.
//
// A loop over [0, count) is cut into chunks of a fixed size, whatever the thread count; each chunk writes to places of its
// own, and sums are added chunk by chunk in index order. One thread walks the same chunks.
#ifndef SN_BASE_THREADS_H
#define SN_BASE_THREADS_H

#include "base/context.h"

// Handles [begin, end), which is chunk number `chunk` of the loop. Must not call back into the context.
typedef void sn_range_fn(void *data, int32_t begin, int32_t end, int32_t chunk);

// Number of chunks a loop is cut into.
int32_t sn_chunk_count(int32_t count, int32_t chunk_size);

void sn_parallel_for(sinew_context *context, int32_t count, int32_t chunk_size, sn_range_fn *body, void *data);

// Returns the sum over all chunks of what `body` returns for each, added in index order.
typedef double sn_sum_fn(void *data, int32_t begin, int32_t end);
double sn_parallel_sum(sinew_context *context, int32_t count, int32_t chunk_size, sn_sum_fn *body, void *data);

// The pool behind a context: made and destroyed with it.
sinew_status sn_pool_create(sinew_context *context, int32_t threads);
void sn_pool_destroy(sinew_context *context);

#endif
