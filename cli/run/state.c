// Checkpoints of a run: the world's snapshot in an envelope that says what it belongs to.
//
//   bytes  0 .. 7   "SINEWRUN"
//   bytes  8 .. 15  version of the envelope
//   bytes 16 .. 23  fingerprint of the scene
//   bytes 24 .. 31  step
//   bytes 32 .. 39  size of the snapshot
//   bytes 40 .. 47  checksum of everything else
//   bytes 48 ..     the snapshot
//
// Numbers are little-endian. The fingerprint covers what decides the motion: the scene as it is
// after
// --set, without the keys listed below, and the bytes of all files that it references.
#include "run/run.h"

#include "files.h"

#include <math.h>
#include <string.h>

enum { VERSION = 1, HEADER_SIZE = 48, CHECKSUM_AT = 40 };

static const char magic[8] = {'S', 'I', 'N', 'E', 'W', 'R', 'U', 'N'};

// Keys of a scene that may change between a run and its continuation.
static const char *const free_keys[] = {"$schema",  "title",  "description", "steps",
                                        "duration", "output", "preview",     "probes"};

// FNV-1a.
static uint64_t add_hash(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *b = bytes;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ b[i]) * 0x100000001b3u;
    }
    return hash;
}

static uint64_t begin_hash(void) {
    return 0xcbf29ce484222325u;
}

static uint64_t add_json(uint64_t hash, const sn_json *value) {
    hash = add_hash(hash, &value->kind, sizeof value->kind);
    hash = add_hash(hash, &value->count, sizeof value->count);
    if (value->key) {
        hash = add_hash(hash, value->key, strlen(value->key) + 1);
    }

    switch (value->kind) {
    case SN_JSON_NULL: return hash;
    case SN_JSON_BOOLEAN: return add_hash(hash, &value->boolean, sizeof value->boolean);
    case SN_JSON_NUMBER: return add_hash(hash, &value->number, sizeof value->number);
    case SN_JSON_STRING: return add_hash(hash, value->string, (size_t)value->count);
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

uint64_t run_fingerprint(const cli_scene_file *file) {
    uint64_t hash = begin_hash();
    const sn_json *root = file->scene.document.root;
    for (int32_t i = 0; i < root->count; i++) {
        if (!is_free(root->items[i].key)) {
            hash = add_json(hash, &root->items[i]);
        }
    }

    for (int32_t i = 0; i < file->fetcher.count; i++) {
        const cli_fetched *fetched = &file->fetcher.files[i];
        hash = add_hash(hash, fetched->name, strlen(fetched->name) + 1);
        hash = add_hash(hash, fetched->bytes.data, fetched->bytes.size);
    }

    return hash;
}

static int64_t step_of(const run_state *run) {
    return llround(sinew_world_get_time(run->world->world) / run->scene->world.step);
}

static uint64_t checksum(const char *bytes, size_t size) {
    uint64_t hash = add_hash(begin_hash(), bytes, CHECKSUM_AT);
    return add_hash(hash, bytes + HEADER_SIZE, size - HEADER_SIZE);
}

static uint64_t read_number(const char *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) {
        value = value << 8 | (unsigned char)bytes[i];
    }
    return value;
}

static void write_number(char *bytes, uint64_t value) {
    for (int i = 0; i < 8; i++) {
        bytes[i] = (char)(value >> (8 * i) & 0xff);
    }
}

size_t run_state_size(const run_state *run) {
    return HEADER_SIZE + sinew_world_get_snapshot_size(run->world->world);
}

sinew_status run_save_state(run_state *run, const char *path) {
    size_t size = run_state_size(run);
    char *bytes = sn_allocate(run->context, size, 1);
    if (!bytes) {
        return SINEW_OUT_OF_MEMORY;
    }

    memcpy(bytes, magic, sizeof magic);
    write_number(bytes + 8, VERSION);
    write_number(bytes + 16, run->fingerprint);
    write_number(bytes + 24, (uint64_t)step_of(run));
    write_number(bytes + 32, size - HEADER_SIZE);

    sinew_status status =
        sinew_world_take_snapshot(run->world->world, bytes + HEADER_SIZE, size - HEADER_SIZE);
    if (status == SINEW_OK) {
        write_number(bytes + CHECKSUM_AT, checksum(bytes, size));
        status = cli_write_file(run->context, path, bytes, size);
    }

    sn_release(run->context, bytes, size, 1);
    return status;
}

static sinew_status restore(run_state *run, const char *path, const cli_bytes *bytes) {
    sinew_context *context = run->context;
    const char *data = bytes->data;
    if (bytes->size < HEADER_SIZE || memcmp(data, magic, sizeof magic) != 0) {
        return sn_fail(context, SINEW_INVALID_DATA, "%s: is not a checkpoint of a run", path);
    }
    if (read_number(data + 8) != VERSION) {
        return sn_fail(context, SINEW_UNSUPPORTED,
                       "%s: the checkpoint has version %llu; this program reads version %d", path,
                       (unsigned long long)read_number(data + 8), VERSION);
    }
    if (read_number(data + 32) != bytes->size - HEADER_SIZE ||
        read_number(data + CHECKSUM_AT) != checksum(data, bytes->size)) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "%s: the checkpoint is damaged: its checksum does not match", path);
    }
    if (read_number(data + 16) != run->fingerprint) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "%s: the checkpoint belongs to another scene, or to this one before it was "
                       "changed; only steps, duration, output, preview and probes may differ",
                       path);
    }

    return sn_scene_world_restore(run->world, data + HEADER_SIZE, bytes->size - HEADER_SIZE);
}

sinew_status run_load_state(run_state *run, const char *path) {
    cli_bytes bytes = {NULL, 0};
    SN_TRY(cli_read_file(run->context, path, 0, &bytes));
    sinew_status status = restore(run, path, &bytes);
    cli_free_bytes(run->context, &bytes);
    return status;
}
