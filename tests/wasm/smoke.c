// The core under Node: what the page in the browser relies on works without threads and without the optional libraries.
#include <sinew/base.h>

#include <stdio.h>
#include <string.h>

static int failures;

static void check(bool condition, const char *what) {
    printf("%s: %s\n", condition ? "ok" : "FAILED", what);
    if (!condition) failures++;
}

int main(void) {
    sinew_context_def def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&def);
    check(context != NULL, "a context");
    check(context && strcmp(sinew_context_message(context), "") == 0, "no message at first");
    check(strlen(sinew_version()) >= 5, "a version");
    def.threads = 0;
    check(sinew_context_create(&def) == NULL, "zero threads are refused");
    sinew_context_destroy(context);
    return failures > 0;
}
