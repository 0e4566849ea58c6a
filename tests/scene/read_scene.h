// Scenes from text, read, built, stepped and destroyed: shared by the tests of scenes.
#ifndef SN_TESTS_SCENE_READ_SCENE_H
#define SN_TESTS_SCENE_READ_SCENE_H

#include "support/test.h"

#include "io/scene/build.h"
#include "io/scene/read.h"

typedef struct fixture {
    sinew_context *context;
    sn_mistakes mistakes;
    sn_scene scene;
    sn_scene_world *world;
    sinew_status status; // of reading and, if that succeeded, of building
} fixture;

static inline void read_text(fixture *f, sinew_context *context, const char *text,
                             const char *const *settings, int32_t count) {
    *f = (fixture){.context = context, .mistakes = sn_mistakes_create(context)};
    f->status = sn_scene_read(context, "scene.json", text, strlen(text), settings, count,
                              &f->mistakes, &f->scene);
}

static inline void build(fixture *f, sn_fetch_fn *fetch, void *user) {
    if (f->status == SINEW_OK) {
        f->status = sn_scene_build(f->context, &f->scene, fetch, user, &f->mistakes, &f->world);
    }
}

static inline void run(fixture *f, int steps) {
    assert_int_equal(f->status, SINEW_OK);
    for (int i = 0; i < steps; i++) {
        assert_int_equal(sn_scene_world_step(f->world, NULL), SINEW_OK);
    }
}

static inline void destroy(fixture *f) {
    sn_scene_world_destroy(f->world);
    sn_scene_destroy(&f->scene);
    sn_mistakes_destroy(&f->mistakes);
    sinew_context_destroy(f->context);
}

#endif
