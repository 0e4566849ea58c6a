// Loads a scene from a file, for example what `sinew rig` wrote, steps it for a second and reports
// where its bodies are:
//
//   sinew rig dragon.obj -o dragon
//   load dragon/scene.json
#include <sinew/io.h>
#include <sinew/sinew.h>

#include <math.h>
#include <stdio.h>

static int fail(sinew_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_context_message(context));
    return 1;
}

// The middle of a body's surface, which every kind of body has.
static void compute_middle(sinew_scene *scene, int32_t body, double middle[3]) {
    const double *points = sinew_scene_compute_surface(scene, body);
    int32_t count = sinew_scene_get_surface(scene, body)->point_count;

    for (int k = 0; k < 3; k++) {
        middle[k] = 0;
        for (int32_t i = 0; i < count; i++) {
            middle[k] += points[3 * i + k] / count;
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: load SCENE.json\n");
        return 2;
    }

    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    // Files that the scene names (meshes, volumes, motion) are read when it is built.
    sinew_scene *scene = NULL;
    if (sinew_scene_load(context, argv[1], NULL, NULL, &scene)) {
        return fail(context, "reading");
    }
    if (sinew_scene_build(scene, NULL)) {
        return fail(context, "building");
    }

    sinew_scene_info info;
    sinew_scene_get_info(scene, &info);
    int steps = (int)ceil(1 / info.step);
    for (int step = 0; step < steps; step++) {
        if (sinew_scene_step(scene, NULL)) {
            return fail(context, "stepping");
        }
    }

    for (int32_t i = 0; i < sinew_scene_get_body_count(scene); i++) {
        double x[3];
        compute_middle(scene, i, x);
        printf("after %g s %s is at %.4f %.4f %.4f m\n",
               sinew_world_get_time(sinew_scene_get_world(scene)),
               sinew_scene_get_body_name(scene, i), x[0], x[1], x[2]);
        if (!isfinite(x[0] + x[1] + x[2])) {
            return 1;
        }
    }

    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
    return 0;
}
