// Labels: slow
// The examples with contact: no intersections in any of their steps.
#include "scene/contact_examples.h"

static void test_all_steps(void **state) {
    (void)state;
    check_examples(INT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
