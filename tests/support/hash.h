// The hash of a state, and the check that it is the same for every number of threads.
#ifndef SN_TESTS_SUPPORT_HASH_H
#define SN_TESTS_SUPPORT_HASH_H

#include "support/test.h"

// FNV-1a over the bytes of `data`, continuing from `hash`; start with TEST_HASH_START. Every bit of
// a double counts, also the sign of a zero.
#define TEST_HASH_START UINT64_C(14695981039346656037)
uint64_t test_hash(uint64_t hash, const void *data, size_t size);

// Calls `simulate` with contexts of 1, 2 and 4 threads (two of these under sanitizers). It must do
// the same work each time and return the hash of everything it computed. Fails unless the hashes
// agree and differ from TEST_HASH_START; prints the hash and returns it.
typedef uint64_t test_simulate_fn(sinew_context *context, void *user);
uint64_t test_over_threads(const char *name, test_simulate_fn *simulate, void *user);

#endif
