// The arena: alignment, zeroing, marks, and a failure that is remembered and leaks nothing.
#include "support/test.h"

#include "base/memory.h"

static void test_arena_is_aligned_and_zeroed(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);

    for (size_t count = 1; count < 3000; count = count * 3 + 1) {
        double *values = SN_PUSH(&arena, double, count);
        assert_non_null(values);
        assert_int_equal((uintptr_t)values % SN_ALIGNMENT, 0);

        for (size_t i = 0; i < count; i++) {
            assert_true(values[i] == 0);
            values[i] = 1;
        }
    }

    sn_arena_destroy(&arena);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

static void test_rewind_reuses_memory(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);

    SN_PUSH(&arena, double, 10);
    sn_arena_mark mark = sn_arena_get_mark(&arena);
    double *first = SN_PUSH(&arena, double, 20);

    first[3] = 7;
    SN_PUSH(&arena, double, 100000);
    sn_arena_rewind(&arena, mark);

    double *again = SN_PUSH(&arena, double, 20);
    assert_ptr_equal(first, again);
    assert_true(again[3] == 0);
    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

static void test_failure_sticks_and_leaks_nothing(void **state) {
    (void)state;
    for (int64_t fail_at = 1; fail_at < 4; fail_at++) {
        test_allocator allocator = {.fail_at = fail_at};
        sinew_context *context = test_context_failing(&allocator);

        assert_non_null(context);
        sn_arena arena = sn_arena_create(context);
        for (int i = 0; i < 5; i++) {
            SN_PUSH(&arena, double, 1 << 18);
        }

        assert_int_equal(sn_arena_status(&arena), SINEW_OUT_OF_MEMORY);
        assert_non_null(strstr(sinew_context_message(context), "out of memory"));
        sn_arena_destroy(&arena);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

static void test_absurd_sizes_are_refused(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    assert_null(sn_arena_push(&arena, SIZE_MAX / 4, 64));
    assert_null(sn_arena_reserve(&arena, SIZE_MAX / 4, 64));
    assert_int_equal(sn_arena_status(&arena), SINEW_OUT_OF_MEMORY);
    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena_is_aligned_and_zeroed),
        cmocka_unit_test(test_rewind_reuses_memory),
        cmocka_unit_test(test_failure_sticks_and_leaks_nothing),
        cmocka_unit_test(test_absurd_sizes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
