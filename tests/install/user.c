// A user's program: it knows the installed tree and nothing else.
#include <sinew/base.h>

#include <stdio.h>

int main(void) {
    sinew_context_def def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&def);
    if (!context) return 1;
    printf("sinew %s\n", sinew_version());
    sinew_context_destroy(context);
    return 0;
}
