// Labels: slow
// The examples with contact: no intersections in their first fifty steps.
#include "support/scene_crossings.h"
#include "support/test.h"

static void test_many_steps(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    test_crossing_count count = {0};
    sinew_status status =
        test_check_examples(context, TEST_CORPUS_DIR "/../../../examples", 50, &count);
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }
    if (count.faults != 0) {
        fail_msg("%s", count.first);
    }
    assert_true(count.scenes > 8);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
