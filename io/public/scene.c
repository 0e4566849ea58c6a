// Scenes for users of the library: reading, building, stepping, and finding things by their names.
#include "io/public/scene.h"

#include "base/hash.h"
#include "io/public/bytes.h"

#include <math.h>
#include <string.h>

sinew_scene_read_def sinew_default_scene_read_def(void) {
    return (sinew_scene_read_def){.filled = SN_DEF_FILLED};
}

static void report(sinew_scene_mistakes *to, const sn_mistakes *mistakes) {
    if (!to) {
        return;
    }
    to->count = mistakes->total;
    if (to->text) {
        sn_mistakes_print(mistakes, &to->text->buffer);
    }
}

sinew_status sinew_scene_read(sinew_context *context, const sinew_source *source,
                              const sinew_scene_read_def *def, sinew_scene_mistakes *mistakes,
                              sinew_scene **scene) {
    SN_NEED(NULL, context);
    sinew_scene_read_def defaults = sinew_default_scene_read_def();
    def = def ? def : &defaults;
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_scene_read_def"));
    SN_NEED(context, source && scene);

    sinew_scene *made = sn_allocate(context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    made->context = context;
    made->source = *source;
    made->files = SN_HASH_START;

    // Mistakes are handed over in any case.
    sn_mistakes found = sn_mistakes_create(context);
    sinew_status status = sn_scene_read(context, source->name, source->data, source->size,
                                        def->settings, def->setting_count, &found, &made->scene);

    report(mistakes, &found);
    sn_mistakes_destroy(&found);
    if (status != SINEW_OK) {
        sinew_scene_destroy(made);
        return status;
    }

    // Loads are numbered through all bodies.
    for (int32_t i = 0; i < made->scene.body_count; i++) {
        made->load_count += made->scene.bodies[i].load_count;
    }
    *scene = made;

    return SINEW_OK;
}

sinew_status sinew_scene_load(sinew_context *context, const char *path,
                              const sinew_scene_read_def *def, sinew_scene_mistakes *mistakes,
                              sinew_scene **scene) {
    SN_NEED(NULL, context);

    sinew_file *file;
    SN_TRY(sinew_file_open(context, path, 0, &file));
    sinew_status status =
        sinew_scene_read(context, sinew_file_get_source(file), def, mistakes, scene);

    if (status != SINEW_OK) {
        sinew_file_close(file);
        return status;
    }

    (*scene)->file = file;
    return SINEW_OK;
}

void sinew_scene_destroy(sinew_scene *scene) {
    if (!scene) {
        return;
    }

    sn_scene_world_destroy(scene->world);
    sn_scene_destroy(&scene->scene);
    sinew_file_close(scene->file);
    sn_release(scene->context, scene, 1, sizeof *scene);
}

void sinew_scene_get_info(const sinew_scene *scene, sinew_scene_info *info) {
    SN_NEED_OR(, scene && info);

    const sn_scene *s = &scene->scene;
    *info = (sinew_scene_info){.name = s->name,
                               .title = s->title,
                               .unit = s->unit,
                               .step = s->world.step,
                               .steps = s->steps,
                               .is_static = s->statics,
                               .every = s->output.every,
                               .material_count = s->material_count,
                               .attachment_count = s->attachment_count,
                               .skeleton_count = s->skeleton_count};
}

// Notes a file that the scene references, the first time it is requested.
static bool note_file(sinew_scene *scene, const char *name, const void *data, size_t size) {
    for (const sn_fetched *file = scene->fetched; file; file = file->next) {
        if (strcmp(file->name, name) == 0) {
            return true;
        }
    }

    size_t length = strlen(name) + 1;
    sn_fetched *file = SN_PUSH(&scene->scene.arena, sn_fetched, 1);
    char *copy = SN_PUSH(&scene->scene.arena, char, length);
    if (!file || !copy) {
        return false;
    }

    memcpy(copy, name, length);
    *file = (sn_fetched){scene->fetched, copy};
    scene->fetched = file;
    scene->files = sn_hash_bytes(scene->files, name, length);
    scene->files = sn_hash_bytes(scene->files, data, size);

    return true;
}

static bool fetch(void *user, const char *name, const void **data, size_t *size) {
    sinew_scene *scene = user;
    return scene->source.fetch(scene->source.fetch_user, name, data, size) &&
           note_file(scene, name, *data, *size);
}

sinew_status sinew_scene_build(sinew_scene *scene, sinew_scene_mistakes *mistakes) {
    SN_NEED(NULL, scene);

    if (scene->world) {
        return sn_fail(scene->context, SINEW_INVALID_ARGUMENT, "the scene is built already");
    }

    sn_mistakes found = sn_mistakes_create(scene->context);
    sinew_status status =
        sn_scene_build(scene->context, &scene->scene, scene->source.fetch ? fetch : NULL, scene,
                       &found, &scene->world);

    // Notes of mistakes do not set the context's message.
    report(mistakes, &found);
    if (status != SINEW_OK && status != SINEW_OUT_OF_MEMORY && found.total > 0) {
        status = sn_mistakes_status(&found);
    }
    sn_mistakes_destroy(&found);

    return status;
}

sinew_status sn_scene_check_built(const sinew_scene *scene) {
    return scene->world ? SINEW_OK
                        : sn_fail(scene->context, SINEW_INVALID_ARGUMENT,
                                  "the scene is not built yet: sinew_scene_build");
}

sinew_status sn_scene_fail_index(const sinew_scene *scene, const char *what, int32_t index,
                                 int32_t count) {
    return sn_fail(scene->context, SINEW_INVALID_ARGUMENT, "%s %d: the scene has %d", what,
                   (int)index, (int)count);
}

sinew_world *sinew_scene_get_world(const sinew_scene *scene) {
    SN_NEED_OR(NULL, scene);
    return scene->world ? scene->world->world : NULL;
}

sinew_status sinew_scene_step(sinew_scene *scene, sinew_step_report *step_report) {
    SN_NEED(NULL, scene);
    SN_TRY(sn_scene_check_built(scene));
    return sn_scene_world_step(scene->world, step_report);
}

sinew_status sinew_scene_solve_static(sinew_scene *scene, sinew_step_report *step_report) {
    SN_NEED(NULL, scene);
    SN_TRY(sn_scene_check_built(scene));
    return sn_scene_world_solve_static(scene->world, step_report);
}

bool sinew_scene_has_ended(const sinew_scene *scene) {
    SN_NEED_OR(false, scene);
    return scene->world && scene->world->motion_ended;
}

sinew_status sinew_scene_restore(sinew_scene *scene, const void *bytes, size_t size) {
    SN_NEED(NULL, scene);
    SN_TRY(sn_scene_check_built(scene));
    return sn_scene_world_restore(scene->world, bytes, size);
}

// --- bodies

sn_scene_member *sn_scene_get_member(const sinew_scene *scene, int32_t body) {
    bool exists = scene->world && body >= 0 && body < scene->scene.body_count;
    return exists ? &scene->world->members[body] : NULL;
}

int32_t sinew_scene_get_body_count(const sinew_scene *scene) {
    SN_NEED_OR(0, scene);
    return scene->scene.body_count;
}

int32_t sinew_scene_find_body(const sinew_scene *scene, const char *name) {
    SN_NEED_OR(-1, scene && name);
    for (int32_t i = 0; i < scene->scene.body_count; i++) {
        if (strcmp(scene->scene.bodies[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

const char *sinew_scene_get_body_name(const sinew_scene *scene, int32_t index) {
    SN_NEED_OR(NULL, scene);
    bool exists = index >= 0 && index < scene->scene.body_count;
    return exists ? scene->scene.bodies[index].name : NULL;
}

sinew_body *sinew_scene_get_body(const sinew_scene *scene, int32_t index) {
    SN_NEED_OR(NULL, scene);
    const sn_scene_member *member = sn_scene_get_member(scene, index);
    return member ? member->body : NULL;
}

const sinew_mesh *sinew_scene_get_body_mesh(const sinew_scene *scene, int32_t index) {
    SN_NEED_OR(NULL, scene);
    const sn_scene_member *member = sn_scene_get_member(scene, index);
    return member ? member->mesh : NULL;
}

const sinew_field *sinew_scene_get_body_field(const sinew_scene *scene, int32_t index) {
    SN_NEED_OR(NULL, scene);
    const sn_scene_member *member = sn_scene_get_member(scene, index);
    return member ? member->field : NULL;
}

bool sinew_scene_get_body_binding(const sinew_scene *scene, int32_t index,
                                  sinew_rig_report *binding) {
    SN_NEED_OR(false, scene);
    const sn_scene_member *member = sn_scene_get_member(scene, index);
    const sinew_rig_report *found = member ? sn_scene_member_rigging(member) : NULL;
    if (!found) {
        return false;
    }
    *binding = *found;
    return true;
}

const sinew_mesh *sinew_scene_get_surface(const sinew_scene *scene, int32_t body) {
    SN_NEED_OR(NULL, scene);
    const sn_scene_member *member = sn_scene_get_member(scene, body);
    return member ? member->surface.mesh : NULL;
}

const double *sinew_scene_compute_surface(sinew_scene *scene, int32_t body) {
    SN_NEED_OR(NULL, scene);
    sn_scene_member *member = sn_scene_get_member(scene, body);
    if (!member) {
        return NULL;
    }
    sinew_body_compute_surface(member->body, member->surface.points, NULL);
    return member->surface.points;
}

// --- probes

int32_t sinew_scene_get_probe_count(const sinew_scene *scene) {
    SN_NEED_OR(0, scene);
    return scene->scene.probe_count;
}

int32_t sinew_scene_find_probe(const sinew_scene *scene, const char *name) {
    SN_NEED_OR(-1, scene && name);
    for (int32_t i = 0; i < scene->scene.probe_count; i++) {
        if (strcmp(scene->scene.probes[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

const char *sinew_scene_get_probe_name(const sinew_scene *scene, int32_t index) {
    SN_NEED_OR(NULL, scene);
    bool exists = index >= 0 && index < scene->scene.probe_count;
    return exists ? scene->scene.probes[index].name : NULL;
}

sinew_status sinew_scene_read_probe(sinew_scene *scene, int32_t index, sinew_probe_state *state) {
    SN_NEED(NULL, scene && state);

    SN_TRY(sn_scene_check_built(scene));
    if (index < 0 || index >= scene->scene.probe_count) {
        return sn_scene_fail_index(scene, "probe", index, scene->scene.probe_count);
    }

    sn_probe_state read;
    sn_scene_world_read_probe(scene->world, index, &read);
    memcpy(state->position, read.position, sizeof state->position);
    memcpy(state->displacement, read.displacement, sizeof state->displacement);
    state->state = read.element;

    return SINEW_OK;
}

// --- loads

const sn_scene_load *sn_scene_find_load(const sinew_scene *scene, int32_t index, int32_t *body,
                                        int32_t *number) {
    if (index < 0 || index >= scene->load_count) {
        return NULL;
    }

    *body = 0;
    while (index >= scene->scene.bodies[*body].load_count) {
        index -= scene->scene.bodies[(*body)++].load_count;
    }
    *number = index;

    return &scene->scene.bodies[*body].loads[index];
}

int32_t sinew_scene_get_load_count(const sinew_scene *scene) {
    SN_NEED_OR(0, scene);
    return scene->load_count;
}

int32_t sinew_scene_find_load(const sinew_scene *scene, const char *name) {
    SN_NEED_OR(-1, scene);
    for (int32_t i = 0; i < scene->load_count; i++) {
        int32_t body, number;
        const sn_scene_load *load = sn_scene_find_load(scene, i, &body, &number);
        if (load->name && strcmp(load->name, name) == 0) {
            return i;
        }
    }
    return -1;
}

sinew_status sinew_scene_get_load(const sinew_scene *scene, int32_t index,
                                  sinew_scene_load_info *info) {
    SN_NEED(NULL, scene);

    static const char *const kinds[] = {[SN_LOAD_FORCE] = "force",
                                        [SN_LOAD_TRACTION] = "traction",
                                        [SN_LOAD_PRESSURE] = "pressure"};
    int32_t body, number;
    const sn_scene_load *load = sn_scene_find_load(scene, index, &body, &number);
    if (!load) {
        return sn_scene_fail_index(scene, "load", index, scene->load_count);
    }

    double time = scene->world ? sinew_world_get_time(scene->world->world) : 0;
    double factor = scene->world ? scene->world->members[body].load_scales[number] : 1;
    *info = (sinew_scene_load_info){.name = load->name,
                                    .body = body,
                                    .number = number,
                                    .kind = kinds[load->kind],
                                    .scale = factor * sn_curve_at(&load->scale, time)};

    return SINEW_OK;
}

sinew_status sinew_scene_set_load_scale(sinew_scene *scene, int32_t index, double scale) {
    SN_NEED(NULL, scene);

    SN_TRY(sn_scene_check_built(scene));
    int32_t body, number;
    if (!sn_scene_find_load(scene, index, &body, &number)) {
        return sn_scene_fail_index(scene, "load", index, scene->load_count);
    }
    if (!isfinite(scale)) {
        return sn_fail(scene->context, SINEW_INVALID_ARGUMENT,
                       "load %d: the scale %g is not finite", (int)index, scale);
    }

    scene->world->members[body].load_scales[number] = scale;
    return SINEW_OK;
}
