// A scene with a bar of three frames, read with settings, built and stepped: shared by the tests of
// frame bodies in scenes.
#ifndef SN_TESTS_SCENE_FRAME_SCENE_H
#define SN_TESTS_SCENE_FRAME_SCENE_H

#include "scene/read_scene.h"

static const char *const bar =
    "{ \"version\": 1, \"step\": 0.01, \"gravity\": [0, 0, 0],\n"
    "  \"materials\": {\"gel\": {\"young\": 2e5, \"poisson\": 0.3}},\n"
    "  \"bodies\": [{\"name\": \"bar\", \"model\": \"frames\", \"material\": \"gel\",\n"
    "    \"shape\": {\"kind\": \"box\", \"size\": [1, 0.2, 0.2]},\n"
    "    \"frames\": {\"resolution\": 20, \"weights\": {\"kind\": \"axis\"}, \"sampling\": "
    "{\"kind\": \"midpoint\"},\n"
    "      \"nodes\": [{\"position\": [-0.45, 0, 0], \"hold\": \"all\"}, {\"kind\": \"affine\", "
    "\"position\": [0, 0, 0]},\n"
    "                {\"position\": [0.45, 0, 0]}]}}],\n"
    "  \"probes\": [{\"name\": \"tip\", \"point\": [0.5, 0, 0]}] }\n";

static inline void read_with(fixture *f, sinew_context *context, const char *const *settings,
                             int32_t count) {
    read_text(f, context, bar, settings, count);
}

static inline void make(fixture *f, const char *const *settings, int32_t count) {
    read_with(f, test_context(1), settings, count);
    build(f, NULL, NULL);
    if (f->status == SINEW_OK) {
        return;
    }

    for (int32_t i = 0; i < f->mistakes.count; i++) {
        print_message("%s\n", f->mistakes.items[i].message);
    }

    fail_msg("%s", sinew_context_message(f->context));
}

static inline void step(fixture *f, int count) {
    for (int i = 0; i < count; i++) {
        if (sn_scene_world_step(f->world, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(f->context));
        }
    }
}

#endif
