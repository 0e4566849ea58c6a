// Usage: studio_report FOLDER NAME STEPS...
//
// Runs the core of the studio as the native build has it, and prints the report of the state after
// each of the given numbers of steps, a line of JSON each: what tests/studio/parity.mjs compares
// WebAssembly with.
#include "studio.h"

#include "sinew/io.h"

#include <stdio.h>
#include <stdlib.h>

static int fail(const studio *s, const char *what) {
    fprintf(stderr, "%s: %s\n", what, studio_get_message(s));
    return 1;
}

// Adds a file of the folder to the studio.
static bool add_file(studio *s, sinew_context *context, const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    sinew_bytes *bytes = NULL;
    if (sinew_bytes_load(context, path, 0, &bytes) != SINEW_OK) {
        return false;
    }

    bool added = studio_add_file(s, name, sinew_bytes_get_data(bytes),
                                 sinew_bytes_get_size(bytes)) == SINEW_OK;
    sinew_bytes_destroy(bytes);
    return added;
}

// Loads a scene, and the files it turns out to need.
static int load(studio *s, sinew_context *context, const char *folder, const char *name) {
    if (!add_file(s, context, folder, name)) {
        return fail(s, name);
    }

    while (studio_load(s, name, "", 0) != SINEW_OK) {
        const char *missing = studio_get_missing_file(s);
        if (!missing[0] || !add_file(s, context, folder, missing)) {
            return fail(s, name);
        }
    }

    return 0;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "Usage: studio_report FOLDER NAME STEPS...\n");
        return 2;
    }

    sinew_context_def def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&def);
    studio *s = studio_create(1);
    int status = !context || !s ? 1 : load(s, context, argv[1], argv[2]);

    long done = 0;
    for (int i = 3; i < argc && status == 0; i++) {
        for (long steps = strtol(argv[i], NULL, 10); done < steps && status == 0; done++) {
            status = studio_step(s) == SINEW_OK ? 0 : fail(s, "step");
        }
        if (status == 0) {
            printf("%s\n", studio_report(s));
        }
    }

    studio_destroy(s);
    sinew_context_destroy(context);
    return status;
}
