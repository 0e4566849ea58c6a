// A file on disk with those beside it.
#define _XOPEN_SOURCE 700 // realpath

#include "io/public/bytes.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct fetched fetched;
struct fetched {
    fetched *next;
    const char *name;
    sinew_bytes *bytes;
};

struct sinew_file {
    sn_arena arena; // holds this struct too
    sinew_source source;
    sinew_bytes *bytes;
    size_t limit;
    size_t folder; // bytes of the name up to its last slash
    fetched *beside;
    bool anywhere;       // references may leave the folder
    sinew_status status; // see sinew_file_get_status
    int32_t refused;
};

static bool has_parent_part(const char *name) {
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) {
            return true;
        }
    }
    return false;
}

// Whether links lead out of the folder. What does not exist leads nowhere.
static bool leads_outside(const char *folder, const char *path) {
    char root[PATH_MAX], target[PATH_MAX];
    if (!realpath(*folder ? folder : ".", root) || !realpath(path, target)) {
        return false;
    }

    size_t length = strlen(root);
    bool inside =
        strcmp(root, "/") == 0 || (strncmp(root, target, length) == 0 && target[length] == '/');
    return !inside;
}

// Reads a file, or finds it among those that were read before.
static sinew_status find(sinew_file *file, const char *name, const sinew_bytes **bytes) {
    for (const fetched *item = file->beside; item; item = item->next) {
        if (strcmp(item->name, name) == 0) {
            *bytes = item->bytes;
            return SINEW_OK;
        }
    }

    // The folder, the path and the name share memory that lives as long as the file.
    size_t folder = file->folder;
    char *root = SN_PUSH(&file->arena, char, folder + 1);
    char *path = SN_PUSH(&file->arena, char, folder + strlen(name) + 1);
    fetched *item = SN_PUSH(&file->arena, fetched, 1);
    SN_TRY(sn_arena_status(&file->arena));
    memcpy(root, file->source.name, folder);
    memcpy(path, file->source.name, name[0] == '/' ? 0 : folder);
    strcat(path, name);

    if (!file->anywhere && (name[0] == '/' || has_parent_part(name) || leads_outside(root, path))) {
        file->refused++;
        return sn_fail(file->arena.context, SINEW_INVALID_DATA, "it is outside the folder %s",
                       *root ? root : ".");
    }
    SN_TRY(sinew_bytes_load(file->arena.context, path, file->limit, &item->bytes));

    item->name = path + strlen(path) - strlen(name);
    item->next = file->beside;
    file->beside = item;
    *bytes = item->bytes;

    return SINEW_OK;
}

static bool fetch(void *user, const char *name, const void **data, size_t *size) {
    sinew_file *file = user;
    const sinew_bytes *bytes = NULL;
    sinew_status status = find(file, name, &bytes);
    if (status != SINEW_OK) {
        bool worst = file->status == SINEW_OK || status == SINEW_IO_FAILED;
        file->status = worst ? status : file->status;
        return false;
    }

    *data = sinew_bytes_get_data(bytes);
    *size = sinew_bytes_get_size(bytes);
    return true;
}

void sinew_file_allow_outside(sinew_file *file) {
    SN_NEED_OR(, file);
    file->anywhere = true;
}

sinew_status sinew_file_open(sinew_context *context, const char *path, size_t limit,
                             sinew_file **file) {
    SN_NEED(NULL, context);
    SN_NEED(context, path && file);

    // The file itself, and a copy of its path, from which references start.
    sinew_bytes *bytes;
    SN_TRY(sinew_bytes_load(context, path, limit, &bytes));

    sn_arena arena = sn_arena_create(context);
    sinew_file *made = SN_PUSH(&arena, sinew_file, 1);
    char *name = SN_PUSH(&arena, char, strlen(path) + 1);
    if (!made || !name) {
        sn_arena_destroy(&arena);
        sinew_bytes_destroy(bytes);
        return SINEW_OUT_OF_MEMORY;
    }

    // What it references is fetched from the same folder.
    strcpy(name, path);
    const char *slash = strrchr(name, '/');
    *made = (sinew_file){.arena = arena,
                         .bytes = bytes,
                         .limit = limit,
                         .folder = slash ? (size_t)(slash - name) + 1 : 0};
    made->source = (sinew_source){.name = name,
                                  .data = sinew_bytes_get_data(bytes),
                                  .size = sinew_bytes_get_size(bytes),
                                  .fetch = fetch,
                                  .fetch_user = made};
    *file = made;

    return SINEW_OK;
}

sinew_status sinew_file_get_status(const sinew_file *file) {
    SN_NEED(NULL, file);
    return file->status;
}

int32_t sinew_file_get_refused_count(const sinew_file *file) {
    SN_NEED_OR(0, file);
    return file->refused;
}

const sinew_source *sinew_file_get_source(const sinew_file *file) {
    SN_NEED_OR(NULL, file);
    return &file->source;
}

void sinew_file_close(sinew_file *file) {
    if (!file) {
        return;
    }

    for (fetched *item = file->beside; item; item = item->next) {
        sinew_bytes_destroy(item->bytes);
    }
    sinew_bytes_destroy(file->bytes);
    sn_arena arena = file->arena; // a copy: the arena holds the struct
    sn_arena_destroy(&arena);
}
