// A studio and its scene: files in memory, loading, stepping, snapshots.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

STUDIO_API studio *studio_create(int32_t threads) {
    studio *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }

    sinew_context_def def = sinew_default_context_def();
    def.threads = threads;
    s->context = sinew_context_create(&def);
    if (!s->context || sinew_bytes_create(s->context, &s->text) != SINEW_OK) {
        studio_destroy(s);
        return NULL;
    }

    return s;
}

STUDIO_API void studio_destroy(studio *s) {
    if (!s) {
        return;
    }

    studio_stop_export(s);
    studio_clear_points(s);
    studio_free_points(s);
    studio_drop_field(s);
    sinew_scene_destroy(s->scene);
    sinew_bytes_destroy(s->text);
    sinew_context_destroy(s->context);

    for (int32_t i = 0; i < s->file_count; i++) {
        free(s->files[i].name);
        free(s->files[i].data);
    }
    studio_floats *arrays[] = {&s->positions, &s->values,   &s->tints,
                               &s->frames,    &s->contacts, &s->obstacles};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(arrays[i]->values);
    }

    free(s->materials);
    free(s->scratch);
    free(s->states);
    free(s);
}

int32_t studio_keep_message(studio *s, sinew_status status) {
    if (status != SINEW_OK) {
        snprintf(s->message, sizeof s->message, "%s", sinew_context_message(s->context));
    }
    return (int32_t)status;
}

int32_t studio_fail(studio *s, const char *message) {
    snprintf(s->message, sizeof s->message, "%s", message);
    return (int32_t)SINEW_INVALID_ARGUMENT;
}

bool studio_reserve(studio_floats *floats, size_t count) {
    if (count <= floats->capacity) {
        return true;
    }

    float *values = realloc(floats->values, count * sizeof *values);
    if (!values) {
        return false;
    }

    floats->values = values;
    floats->capacity = count;
    return true;
}

STUDIO_API const char *studio_get_message(const studio *s) {
    return s->message;
}

studio_file *studio_find_file(studio *s, const char *name) {
    for (int32_t i = 0; i < s->file_count; i++) {
        if (strcmp(s->files[i].name, name) == 0) {
            return &s->files[i];
        }
    }
    return NULL;
}

STUDIO_API int32_t studio_add_file(studio *s, const char *name, const void *data, size_t size) {
    studio_file *file = studio_find_file(s, name);
    if (!file && s->file_count == STUDIO_FILES) {
        return studio_fail(s, "too many files");
    }

    // A zero behind the bytes, so that an empty file has an address too.
    char *copy = malloc(size + 1);
    char *copied_name = file ? file->name : strdup(name);
    if (!copy || !copied_name) {
        free(copy);
        if (!file) {
            free(copied_name);
        }
        return studio_fail(s, "out of memory");
    }

    memcpy(copy, data, size);
    copy[size] = 0;

    if (file) {
        free(file->data);
    } else {
        file = &s->files[s->file_count++];
    }
    *file = (studio_file){.name = copied_name, .data = copy, .size = size};

    return SINEW_OK;
}

STUDIO_API const char *studio_get_missing_file(const studio *s) {
    return s->missing;
}

// Hands a file to the reader of a scene, or notes which one the page has to fetch.
static bool fetch(void *user, const char *name, const void **data, size_t *size) {
    studio *s = user;
    const studio_file *file = studio_find_file(s, name);
    if (!file) {
        snprintf(s->missing, sizeof s->missing, "%s", name);
        return false;
    }

    *data = file->data;
    *size = file->size;
    return true;
}

// Cuts `text` into lines in place.
static int32_t split_lines(char *text, const char **lines, int32_t capacity) {
    int32_t count = 0;
    for (char *line = strtok(text, "\n"); line && count < capacity; line = strtok(NULL, "\n")) {
        lines[count++] = line;
    }
    return count;
}

static sinew_status read_scene(studio *s, const studio_file *file, const char *settings,
                               sinew_scene **scene) {
    const char *lines[256];
    char *copy = strdup(settings);
    if (!copy) {
        return SINEW_OUT_OF_MEMORY;
    }

    sinew_scene_read_def def = sinew_default_scene_read_def();
    def.settings = lines;
    def.setting_count = split_lines(copy, lines, 256);

    const sinew_source source = {.name = file->name,
                                 .data = file->data,
                                 .size = file->size,
                                 .fetch = fetch,
                                 .fetch_user = s};
    sinew_status status = sinew_scene_read(s->context, &source, &def, NULL, scene);
    if (status == SINEW_OK) {
        status = sinew_scene_build(*scene, NULL);
    }

    free(copy);
    return status;
}

studio_material *studio_find_material(const studio *s, int32_t body, int32_t number) {
    for (int32_t i = 0; i < s->material_count; i++) {
        if (s->materials[i].body == body && s->materials[i].number == number) {
            return &s->materials[i];
        }
    }
    return NULL;
}

// Lists what each body of a scene is made of, with room for the solids that a person drops.
static studio_material *list_materials(const sinew_scene *scene, int32_t *count) {
    int32_t capacity = STUDIO_SOLIDS;
    int32_t bodies = sinew_scene_get_body_count(scene);
    for (int32_t body = 0; body < bodies; body++) {
        sinew_scene_body_info info;
        if (sinew_scene_get_body_info(scene, body, &info) == SINEW_OK) {
            capacity += info.material_count;
        }
    }

    studio_material *materials = calloc((size_t)capacity, sizeof *materials);
    *count = 0;
    for (int32_t body = 0; materials && body < bodies; body++) {
        int32_t index, label, number = 0;
        while ((index = sinew_scene_get_body_material(scene, body, number, &label)) >= 0 &&
               *count < capacity - STUDIO_SOLIDS) {
            studio_material *material = &materials[(*count)++];
            material->body = body;
            material->number = number++;
            material->label = label;
            material->name = sinew_scene_get_material(scene, index, &material->def);
        }
    }

    return materials;
}

STUDIO_API int32_t studio_load(studio *s, const char *name, const char *settings, int32_t carry) {
    s->missing[0] = 0;
    const studio_file *file = studio_find_file(s, name);
    if (!file) {
        return studio_fail(s, "there is no such file");
    }

    sinew_scene *scene = NULL;
    sinew_status status = read_scene(s, file, settings, &scene);
    sinew_scene_info info = {0};
    if (status == SINEW_OK) {
        sinew_scene_get_info(scene, &info);
    }
    if (status == SINEW_OK && info.is_static) {
        status = sinew_scene_solve_static(scene, NULL);
    }
    int32_t material_count = 0;
    studio_material *materials = status == SINEW_OK ? list_materials(scene, &material_count) : NULL;
    if (!materials) {
        studio_keep_message(s, status);
        sinew_scene_destroy(scene);
        return status == SINEW_OK ? studio_fail(s, "out of memory") : (int32_t)status;
    }

    // The scene before this one goes, with all that was added to its world.
    if (carry && s->scene) {
        studio_carry_state(s->scene, scene);
    }
    studio_stop_export(s);
    studio_clear_points(s);
    studio_drop_field(s);
    sinew_scene_destroy(s->scene);
    free(s->materials);
    s->scene = scene;
    s->materials = materials;
    s->material_count = material_count;
    s->world = sinew_scene_get_world(scene);
    s->report = (sinew_step_report){0};
    s->floor = NULL;
    s->solid_count = 0;
    s->hand = (studio_hand){0};
    studio_count_vertices(s);

    return SINEW_OK;
}

STUDIO_API int32_t studio_step(studio *s) {
    return studio_keep_message(s, sinew_scene_step(s->scene, &s->report));
}

STUDIO_API double studio_get_time(const studio *s) {
    return sinew_world_get_time(s->world);
}

STUDIO_API size_t studio_get_snapshot_size(const studio *s) {
    return sinew_world_get_snapshot_size(s->world);
}

STUDIO_API int32_t studio_take_snapshot(studio *s, void *bytes) {
    size_t size = sinew_world_get_snapshot_size(s->world);
    return studio_keep_message(s, sinew_world_take_snapshot(s->world, bytes, size));
}

STUDIO_API int32_t studio_restore_snapshot(studio *s, const void *bytes, size_t size) {
    return studio_keep_message(s, sinew_scene_restore(s->scene, bytes, size));
}
