// Shared by all fuzz targets: the requirement that aborts, a context, and inputs of two parts.
#ifndef SN_TESTS_FUZZ_FUZZ_H
#define SN_TESTS_FUZZ_FUZZ_H

#include "base/context.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_REQUIRE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static inline sinew_context *fuzz_context(void) {
    sinew_context_def def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&def);
    FUZZ_REQUIRE(context);
    return context;
}

// Every failure says why; nothing stays allocated.
static inline void fuzz_finish(sinew_context *context, sinew_status status) {
    FUZZ_REQUIRE(status == SINEW_OK || *sinew_context_message(context));
    FUZZ_REQUIRE(context->bytes_in_use == 0);
    sinew_context_destroy(context);
}

// The start of an input's second part: after the first line of three dashes, or at the end.
static inline size_t fuzz_split(const uint8_t *data, size_t size, size_t *first) {
    for (size_t i = 0; i + 4 <= size; i++) {
        if (memcmp(data + i, "---\n", 4) != 0) {
            continue;
        }
        *first = i;
        return i + 4;
    }

    *first = size;
    return size;
}

#endif
