// The smallest program that uses the library: a context, its version, and goodbye.
#include <sinew/base.h>

#include <stdio.h>

int main(void) {
    sinew_context_def def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&def);
    if (!context) return 1;
    printf("sinew %s is ready\n", sinew_version());
    sinew_context_destroy(context);
    return 0;
}
