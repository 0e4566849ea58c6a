// Contexts, allocators that can fail, and comparisons for all tests.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

sinew_context *test_create_context(int32_t threads, const char *text) {
    if (TEST_WATCHES_THREADS && strcmp(text, "1") == 0) {
        skip();
    }

    sinew_context_def def = sinew_default_context_def();
    def.threads = threads;
    sinew_context *context = sinew_context_create(&def);
    assert_non_null(context);
    return context;
}

static void *counting_allocate(void *user, size_t size, size_t alignment) {
    test_allocator *state = user;
    if ((int64_t)size > state->largest) {
        state->largest = (int64_t)size;
    }
    if (state->calls++ >= state->fail_at) {
        return NULL;
    }

    state->live++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void counting_release(void *user, void *memory, size_t size) {
    (void)size;
    test_allocator *state = user;
    if (memory) {
        state->live--;
    }
    free(memory);
}

sinew_context *test_context_failing(test_allocator *state) {
    if (TEST_WATCHES_THREADS) {
        skip();
    }

    sinew_context_def def = sinew_default_context_def();
    def.allocator = (sinew_allocator){counting_allocate, counting_release, state};
    return sinew_context_create(&def);
}

void test_close(const char *what, double actual, double expected, double tolerance) {
    double error = fabs(actual - expected);
    if (!(error <= tolerance)) {
        fail_msg("%s: %.17g, expected %.17g within %g, off by %g", what, actual, expected,
                 tolerance, error);
    }
}

double test_relative_error(const double *a, const double *b, size_t count) {
    double error = 0, scale = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i])) {
            fail_msg("value %zu is not finite: %g, %g", i, a[i], b[i]);
        }
        error = fmax(error, fabs(a[i] - b[i]));
        scale = fmax(scale, fabs(b[i]));
    }

    return scale > 0 ? error / scale : error;
}
