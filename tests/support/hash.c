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
    uint64_t first = 0;
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        sinew_context *context = test_context(threads);
        uint64_t hash = simulate(context, user);

        sinew_context_destroy(context);
        if (threads == 1) {
            first = hash;
        }
        if (hash == TEST_HASH_START) {
            fail_msg("%s: nothing was hashed", name);
        }

        if (hash != first) {
            fail_msg("%s: %016" PRIx64 " with %d threads, %016" PRIx64 " with 1", name, hash,
                     threads, first);
        }
    }

    print_message("%s: state %016" PRIx64 " for 1, 2 and 4 threads\n", name, first);
    return first;
}
