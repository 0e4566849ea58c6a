// Included by every test: cmocka, a context, random states, and comparisons that print what they
// compared.
#ifndef SN_TESTS_SUPPORT_TEST_H
#define SN_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/random.h"

// Whether the thread sanitizer is active. It is slow, and cannot find anything in code that runs on
// one thread: a test ends at `test_context(1)` and at `test_context_failing`. One that compares
// one thread with several writes the number as a variable.
#if defined(__SANITIZE_THREAD__)
enum { TEST_WATCHES_THREADS = 1 };
#else
enum { TEST_WATCHES_THREADS = 0 };
#endif

// A context with `threads` threads; the test fails if creation fails. Destroy it with
// sinew_context_destroy.
#define test_context(threads) test_create_context(threads, #threads)
sinew_context *test_create_context(int32_t threads, const char *text);

// An allocator for tests of memory. It fails from the n-th call on (n = 0: the first), counts live
// blocks and records the largest request in bytes.
typedef struct test_allocator {
    int64_t calls, fail_at, live, largest;
} test_allocator;
sinew_context *test_context_failing(test_allocator *state);

// |actual - expected| <= tolerance, or a failure that prints all three and `what`.
void test_close(const char *what, double actual, double expected, double tolerance);

// The largest |a[i] - b[i]|, over the largest |b[i]| (absolute if b is all zero). Fails on a
// non-finite number.
double test_relative_error(const double *a, const double *b, size_t count);

#endif
