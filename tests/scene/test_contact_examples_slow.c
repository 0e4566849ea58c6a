// Labels: slow
// The examples with contact: no intersections in their first fifty steps, or in all of them if
// SINEW_ALL_STEPS is set, which takes minutes.
#include "scene/contact_examples.h"

#include <stdlib.h>

static void test_many_steps(void **state) {
    (void)state;
    check_examples(getenv("SINEW_ALL_STEPS") ? INT32_MAX : 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
