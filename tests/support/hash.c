// Hashes of states; see hash.h.
#include "support/hash.h"

#include <inttypes.h>

uint64_t test_hash(uint64_t hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

uint64_t test_over_threads(const char *name, test_simulate_fn *simulate, void *user) {
    // Sanitizers are slow: that of threads learns nothing from one, the others little from four.
    int32_t fewest = TEST_WATCHES_THREADS ? 2 : 1;
    int32_t most = TEST_SANITIZED && !TEST_WATCHES_THREADS ? 2 : 4;

    uint64_t first = 0;
    for (int32_t threads = fewest; threads <= most; threads *= 2) {
        sinew_context *context = test_context(threads);
        uint64_t hash = simulate(context, user);

        sinew_context_destroy(context);
        if (threads == fewest) {
            first = hash;
        }
        if (hash == TEST_HASH_START) {
            fail_msg("%s: nothing was hashed", name);
        }

        if (hash != first) {
            fail_msg("%s: %016" PRIx64 " with %d threads, %016" PRIx64 " with %d", name, hash,
                     threads, first, fewest);
        }
    }

    print_message("%s: state %016" PRIx64 " for %d to %d threads\n", name, first, fewest, most);
    return first;
}
