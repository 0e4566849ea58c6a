// Parallel loops visit each index once, and sums do not depend on the number of threads, bit for
// bit.
#include "support/test.h"

#include "base/threads.h"

#include <math.h>

enum { COUNT = 100003 };

static void increment(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    int32_t *visits = data;
    for (int32_t i = begin; i < end; i++) {
        visits[i]++;
    }
}

static double sum_sines(void *data, int32_t begin, int32_t end) {
    (void)data;
    double sum = 0;
    for (int32_t i = begin; i < end; i++) {
        sum += sin(i * 0.7) * exp2(i % 60);
    }
    return sum;
}

static void test_each_index_once(void **state) {
    (void)state;
    static int32_t visits[COUNT];
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        sinew_context *context = test_context(threads);
        memset(visits, 0, sizeof visits);
        for (int repeat = 0; repeat < 50; repeat++) {
            sn_parallel_for(context, COUNT, 777, increment, visits);
        }

        for (int i = 0; i < COUNT; i++) {
            assert_int_equal(visits[i], 50);
        }

        sinew_context_destroy(context);
    }
}

static void test_sums_are_bitwise_equal(void **state) {
    (void)state;
    double first = 0;
    for (int32_t threads = 1; threads <= 4; threads++) {
        sinew_context *context = test_context(threads);
        double sum = sn_parallel_sum(context, COUNT, 64, sum_sines, NULL);
        if (threads == 1) {
            first = sum;
        }

        assert_true(sum != 0);
        assert_memory_equal(&sum, &first, sizeof sum);
        sinew_context_destroy(context);
    }
}

static int host_calls;

static void host_run(void *user, void (*task)(void *data, int32_t index), void *data,
                     int32_t count) {
    (void)user;
    host_calls++;
    for (int32_t i = count; i-- > 0;) {
        task(data, i); // backwards: order must not matter
    }
}

static void test_host_tasks_give_the_same_sum(void **state) {
    (void)state;
    sinew_context_def def = sinew_default_context_def();

    def.tasks.run = host_run;
    sinew_context *host = sinew_context_create(&def);
    sinew_context *own = test_context(1);
    double a = sn_parallel_sum(host, COUNT, 64, sum_sines, NULL);
    double b = sn_parallel_sum(own, COUNT, 64, sum_sines, NULL);

    assert_true(host_calls > 0);
    assert_memory_equal(&a, &b, sizeof a);
    sinew_context_destroy(host);
    sinew_context_destroy(own);
}

typedef struct dealt {
    int32_t visits[1000];
    int32_t busy[3]; // by slot: detects two threads in the same slot
} dealt;

static bool take_item(void *data, int32_t item, int32_t slot) {
    dealt *d = data;
    bool alone = d->busy[slot]++ == 0;
    d->visits[item] += alone;
    d->busy[slot]--;
    return item % 100 != 99; // the slot stops
}

static void test_items_are_dealt_once(void **state) {
    (void)state;
    for (int32_t threads = 1; threads <= 4; threads++) {
        sinew_context *context = test_context(threads);
        assert_int_equal(sn_thread_count(context), threads);

        static dealt d;
        memset(&d, 0, sizeof d);

        int32_t next = 5, rounds = 0;
        for (; next < 1000; rounds++) {
            int32_t before = next;
            next = sn_parallel_deal(context, next, 1000, 3, take_item, &d);
            assert_true(next > before);
        }

        assert_int_equal(next, 1000);
        // Each round ends when all three slots have stopped, or before.
        assert_in_range(rounds, 3, 10);

        for (int32_t i = 0; i < 1000; i++) {
            assert_int_equal(d.visits[i], i >= 5);
        }

        sinew_context_destroy(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_index_once),
        cmocka_unit_test(test_sums_are_bitwise_equal),
        cmocka_unit_test(test_host_tasks_give_the_same_sum),
        cmocka_unit_test(test_items_are_dealt_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
