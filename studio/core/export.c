// Files of what was simulated: the page goes through its snapshots, and a recording of the scene
// turns them into animations and skins.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static void clear_files(studio_export *e) {
    for (int32_t i = 0; i < e->count; i++) {
        free(e->files[i].name);
        free(e->files[i].data);
    }
    e->count = 0;
}

void studio_stop_export(studio *s) {
    sinew_recording_destroy(s->exported.recording);
    s->exported.recording = NULL;
    clear_files(&s->exported);
}

// Keeps a file of the recording.
static sinew_status keep_file(void *user, const char *name, const void *data, size_t size) {
    studio_export *e = user;
    if (e->count == STUDIO_FILES) {
        return SINEW_OUT_OF_MEMORY;
    }

    studio_file file = {.name = strdup(name), .data = malloc(size + 1), .size = size};
    if (!file.name || !file.data) {
        free(file.name);
        free(file.data);
        return SINEW_OUT_OF_MEMORY;
    }
    memcpy(file.data, data, size);
    e->files[e->count++] = file;
    return SINEW_OK;
}

STUDIO_API int32_t studio_begin_export(studio *s, const char *format) {
    studio_stop_export(s);
    int32_t word = sinew_words_find(SINEW_WORDS_FORMATS, format);
    if (word < 0) {
        return studio_fail(s, "there is no such format");
    }

    sinew_recording_def def = sinew_default_recording_def(s->scene);
    def.formats = 1 << word;
    def.every = 1;
    def.write = keep_file;
    def.write_user = &s->exported;
    return studio_keep_message(s, sinew_recording_create(s->scene, &def, &s->exported.recording));
}

STUDIO_API int32_t studio_add_to_export(studio *s) {
    return studio_keep_message(s, sinew_recording_add(s->exported.recording, NULL, true));
}

STUDIO_API int32_t studio_finish_export(studio *s) {
    return studio_keep_message(s, sinew_recording_finish(s->exported.recording));
}

STUDIO_API int32_t studio_get_export_count(const studio *s) {
    return s->exported.count;
}

STUDIO_API const char *studio_get_export_name(const studio *s, int32_t index) {
    return s->exported.files[index].name;
}

STUDIO_API const void *studio_get_export_data(const studio *s, int32_t index, size_t *size) {
    *size = s->exported.files[index].size;
    return s->exported.files[index].data;
}
