// A scene with a bar of three frames, read with settings, built and stepped: shared by the tests of
// frame bodies in scenes.
#ifndef SN_TESTS_SCENE_FRAME_SCENE_H
#define SN_TESTS_SCENE_FRAME_SCENE_H

#include "support/test.h"

#include "io/scene/build.h"
#include "io/scene/read.h"

typedef struct fixture {
    sinew_context *context;
    sn_mistakes mistakes;
    sn_scene scene;
    sn_scene_world *world;
    sinew_status status;
} fixture;

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
    *f = (fixture){.context = context, .mistakes = sn_mistakes_create(context)};
    f->status = sn_scene_read(context, "scene.json", bar, strlen(bar), settings, count,
                              &f->mistakes, &f->scene);
}

static inline void build(fixture *f, sn_fetch_fn *fetch, void *user) {
    if (f->status == SINEW_OK) {
        f->status = sn_scene_build(f->context, &f->scene, fetch, user, &f->mistakes, &f->world);
    }
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

static inline void destroy(fixture *f) {
    sn_scene_world_destroy(f->world);
    sn_scene_destroy(&f->scene);
    sn_mistakes_destroy(&f->mistakes);
    sinew_context_destroy(f->context);
}

static inline void step(fixture *f, int count) {
    for (int i = 0; i < count; i++) {
        if (sn_scene_world_step(f->world, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(f->context));
        }
    }
}

#endif
