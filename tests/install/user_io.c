// A user's program of both libraries: it knows the installed tree and nothing else. A scene from
// memory is built and stepped, and its probe read by name.
#include <sinew/io.h>
#include <sinew/sinew.h>

#include <math.h>
#include <stdio.h>

static const char text[] =
    "{ \"version\": 1, \"step\": 0.05,"
    "  \"bodies\": [{ \"name\": \"box\", \"shape\": { \"kind\": \"box\", \"cells\": [1, 1, 1] } }],"
    "  \"probes\": [{ \"name\": \"middle\", \"body\": \"box\", \"point\": [0, 0, 0] }] }";

int main(void) {
    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    const sinew_source source = {.name = "box.json", .data = text, .size = sizeof text - 1};
    sinew_scene *scene = NULL;
    sinew_probe_state middle;
    if (sinew_scene_read(context, &source, NULL, NULL, &scene) || sinew_scene_build(scene, NULL) ||
        sinew_scene_step(scene, NULL) || sinew_scene_step(scene, NULL) ||
        sinew_scene_read_probe(scene, sinew_scene_find_probe(scene, "middle"), &middle)) {
        fprintf(stderr, "%s\n", sinew_context_message(context));
        return 1;
    }

    // Implicit Euler falls g h^2 (1 + 2).
    double fallen = -middle.displacement[2];
    bool right = fabs(fallen - 9.81 * 0.05 * 0.05 * 3) < 1e-6;
    if (!right) {
        fprintf(stderr, "fell by %g m\n", fallen);
    }

    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
    printf("sinew %s\n", sinew_version());

    return !right;
}
