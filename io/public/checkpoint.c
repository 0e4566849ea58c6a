// Checkpoints of a scene: the world's snapshot in an envelope that says what it belongs to.
//
//   bytes  0 .. 7   "SINEWRUN"
//   bytes  8 .. 15  version of the envelope
//   bytes 16 .. 23  fingerprint of the scene
//   bytes 24 .. 31  size of the history that fading frames need (io/scene/history.h), mostly 0
//   bytes 32 ..     the history, then the snapshot; each snapshot has its own size and checksum
//
// Numbers are little-endian. The fingerprint covers what decides the motion: the scene as it is
// after its settings, without the keys listed below, and the bytes of all files that it references.
#include "base/hash.h"
#include "io/public/bytes.h"
#include "io/public/scene.h"
#include "io/scene/history.h"

#include <stdio.h>
#include <string.h>

enum { VERSION = 3, HEADER_SIZE = 32 };

static const char magic[8] = {'S', 'I', 'N', 'E', 'W', 'R', 'U', 'N'};

// Keys of a scene that may change between a run and its continuation.
static const char *const free_keys[] = {"$schema",  "title",  "description", "steps",
                                        "duration", "output", "preview",     "probes"};

static uint64_t add_json(uint64_t hash, const sn_json *value) {
    hash = sn_hash_bytes(hash, &value->kind, sizeof value->kind);
    hash = sn_hash_bytes(hash, &value->count, sizeof value->count);
    if (value->key) {
        hash = sn_hash_bytes(hash, value->key, strlen(value->key) + 1);
    }

    switch (value->kind) {
    case SN_JSON_NULL: return hash;
    case SN_JSON_BOOLEAN: return sn_hash_bytes(hash, &value->boolean, sizeof value->boolean);
    case SN_JSON_NUMBER: return sn_hash_bytes(hash, &value->number, sizeof value->number);
    case SN_JSON_STRING: return sn_hash_bytes(hash, value->string, (size_t)value->count);
    case SN_JSON_ARRAY:
    case SN_JSON_OBJECT: break;
    }

    for (int32_t i = 0; i < value->count; i++) {
        hash = add_json(hash, &value->items[i]);
    }

    return hash;
}

static bool is_free(const char *key) {
    for (size_t i = 0; i < sizeof free_keys / sizeof *free_keys; i++) {
        if (strcmp(key, free_keys[i]) == 0) {
            return true;
        }
    }
    return false;
}

static uint64_t compute_fingerprint(const sinew_scene *scene) {
    uint64_t hash = scene->files;
    const sn_json *root = scene->scene.document.root;
    for (int32_t i = 0; i < root->count; i++) {
        if (!is_free(root->items[i].key)) {
            hash = add_json(hash, &root->items[i]);
        }
    }
    return hash;
}

static uint64_t read_number(const unsigned char *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) {
        value = value << 8 | bytes[i];
    }
    return value;
}

size_t sinew_scene_get_checkpoint_size(const sinew_scene *scene) {
    SN_NEED_OR(0, scene);
    if (!scene->world) {
        return 0;
    }

    size_t history;
    sn_history_get(scene->world, &history);
    return HEADER_SIZE + history + sinew_world_get_snapshot_size(scene->world->world);
}

sinew_status sinew_scene_write_checkpoint(const sinew_scene *scene, sinew_bytes *out) {
    SN_NEED(NULL, scene && out);

    SN_TRY(sn_scene_check_built(scene));
    sn_buffer_add(&out->buffer, magic, sizeof magic);
    sn_buffer_add_u64(&out->buffer, VERSION);
    sn_buffer_add_u64(&out->buffer, compute_fingerprint(scene));

    size_t history_size;
    const char *history = sn_history_get(scene->world, &history_size);
    sn_buffer_add_u64(&out->buffer, history_size);
    sn_buffer_add(&out->buffer, history, history_size);

    size_t size = sinew_world_get_snapshot_size(scene->world->world);
    void *snapshot = sn_buffer_push(&out->buffer, size, 1);
    if (!snapshot) {
        return SINEW_OUT_OF_MEMORY;
    }

    return sinew_world_take_snapshot(scene->world->world, snapshot, size);
}

sinew_status sinew_scene_read_checkpoint(sinew_scene *scene, const sinew_source *source) {
    SN_NEED(NULL, scene && source);

    SN_TRY(sn_scene_check_built(scene));
    const unsigned char *data = source->data;
    if (source->size < HEADER_SIZE || memcmp(data, magic, sizeof magic) != 0) {
        return sn_fail(scene->context, SINEW_INVALID_DATA, "%s: is not a checkpoint of a run",
                       source->name);
    }
    if (read_number(data + 8) != VERSION) {
        return sn_fail(scene->context, SINEW_UNSUPPORTED,
                       "%s: the checkpoint has version %llu; version %d is read", source->name,
                       (unsigned long long)read_number(data + 8), VERSION);
    }
    if (read_number(data + 16) != compute_fingerprint(scene)) {
        return sn_fail(scene->context, SINEW_INVALID_DATA,
                       "%s: the checkpoint belongs to another scene, or to this one before it was "
                       "changed; only steps, duration, output, preview and probes may differ",
                       source->name);
    }

    size_t left = source->size - HEADER_SIZE;
    uint64_t history = read_number(data + 24);
    if (history > left) {
        return sn_fail(scene->context, SINEW_INVALID_DATA, "%s: the checkpoint is incomplete",
                       source->name);
    }

    data += HEADER_SIZE;
    sinew_status status = sn_history_set(scene->world, data, (size_t)history);
    if (status == SINEW_OK) {
        status = sn_scene_world_restore(scene->world, data + history, left - (size_t)history);
    }
    if (status == SINEW_OK) {
        return SINEW_OK;
    }

    // The message of the snapshot, with the name of the file before it.
    char reason[512];
    snprintf(reason, sizeof reason, "%s", sinew_context_message(scene->context));
    return sn_fail(scene->context, status, "%s: the checkpoint cannot be continued: %s",
                   source->name, reason);
}
