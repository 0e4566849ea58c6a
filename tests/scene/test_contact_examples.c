// The examples with contact: no intersections in their first steps. All steps are checked by
// test_contact_examples_slow.
#include "scene/contact_examples.h"

static void test_first_steps(void **state) {
    (void)state;
    check_examples(TEST_SANITIZED ? 2 : 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_first_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
