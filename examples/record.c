// A run recorded as `sinew run` does it: a scene from memory, stepped by the program, with VTU
// files for ParaView, an animation for Blender, a table of probes, a preview and a summary in the
// folder "record". Half-way a load is taken away, which a scene file alone could not decide.
#include <sinew/io.h>
#include <sinew/sinew.h>

#include <stdio.h>

enum { STEPS = 60 };

static const char text[] =
    "{"
    "  \"version\": 1, \"title\": \"A bar lets go\", \"step\": 0.01, \"gravity\": [0, 0, 0],"
    "  \"materials\": { \"gel\": { \"young\": 2e5, \"poisson\": 0.4, \"density\": 1000 } },"
    "  \"bodies\": [{"
    "    \"name\": \"bar\", \"material\": \"gel\","
    "    \"shape\": { \"kind\": \"box\", \"size\": [1, 0.2, 0.2], \"cell\": 0.1 },"
    "    \"fixed\": [{ \"box\": { \"upper\": [-0.49, 1, 1] } }],"
    "    \"loads\": [{ \"name\": \"lift\", \"force\": [0, 0, 100],"
    "                \"where\": { \"box\": { \"lower\": [0.49, -1, -1] } } }]"
    "  }],"
    "  \"probes\": [{ \"name\": \"tip\", \"body\": \"bar\", \"point\": [0.5, 0, 0] }]"
    "}";

static int fail(sinew_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_context_message(context));
    return 1;
}

// Steps the scene and records every step.
static sinew_status simulate(sinew_scene *scene, sinew_recording *recording) {
    sinew_status status = sinew_recording_add(recording, NULL, false);
    for (int step = 1; step <= STEPS && status == SINEW_OK; step++) {
        if (step == STEPS / 2) {
            status = sinew_scene_set_load_scale(scene, sinew_scene_find_load(scene, "lift"), 0);
        }

        sinew_step_report report;
        if (status == SINEW_OK) {
            status = sinew_scene_step(scene, &report);
        }
        if (status == SINEW_OK) {
            status = sinew_recording_add(recording, &report, step == STEPS);
        }
    }
    return status;
}

static sinew_status save_summary(sinew_context *context, const sinew_recording *recording) {
    sinew_bytes *summary = NULL;
    sinew_status status = sinew_bytes_create(context, &summary);
    if (status == SINEW_OK) {
        status = sinew_recording_write_summary(recording, "completed", NULL, summary);
    }
    if (status == SINEW_OK) {
        status = sinew_bytes_save(summary, "record/summary.json");
    }
    sinew_bytes_destroy(summary);
    return status;
}

int main(void) {
    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    sinew_source source = {.name = "bar", .data = text, .size = sizeof text - 1};
    sinew_scene *scene = NULL;
    if (sinew_scene_read(context, &source, NULL, NULL, &scene) || sinew_scene_build(scene, NULL)) {
        return fail(context, "scene");
    }

    // What the scene says about its output, with 20 images a second instead of 100.
    sinew_recording_def def = sinew_default_recording_def(scene);
    def.folder = "record";
    def.every = 5;
    def.steps = STEPS;
    def.color = SINEW_SCENE_COLOR_STRESS;

    sinew_recording *recording = NULL;
    if (sinew_recording_create(scene, &def, &recording) || simulate(scene, recording) ||
        sinew_recording_finish(recording) || save_summary(context, recording)) {
        return fail(context, "recording");
    }

    sinew_recording_info info;
    sinew_recording_get_info(recording, &info);
    printf("%d images of %d steps in the folder record\n", (int)info.image_count,
           (int)info.step_count);

    sinew_recording_destroy(recording);
    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
    return info.image_count == STEPS / 5 + 1 ? 0 : 1;
}
