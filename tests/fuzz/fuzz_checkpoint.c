// Checkpoints: the mutator keeps the envelope and the checksum valid, so that what is behind them
// is tested: a state that is accepted must be one that steps can begin from, or that is refused
// then.
#include "fuzz/targets.h"

#include "base/hash.h"
#include "sinew/io/scene.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum { ENVELOPE = 32, HEADER = 96, CHECKSUM = 24, ROOM = 1 << 16 };

// Elements, frames and contact with a floor, after a few steps.
static const char scene_text[] =
    "{\"version\": 1, \"contact\": {\"ground\": true}, \"bodies\": ["
    "{\"name\": \"a\", \"shape\": {\"kind\": \"box\", \"cells\": [1, 1, 1]}, \"position\": [0, 0, "
    "0.501]},"
    "{\"name\": \"b\", \"model\": \"frames\", \"shape\": {\"kind\": \"box\"}, \"position\": [3, 0, "
    "2], \"frames\": {\"resolution\": 2, \"count\": 2}}]}";

// The scene, and a sound checkpoint of it; made once, because that takes longer than reading.
typedef struct subject {
    sinew_context *context;
    sinew_scene *scene;
    size_t size;
    uint8_t sound[ROOM];
} subject;

static void make(subject *made) {
    made->context = fuzz_context();
    sinew_source source = {.name = "a.json", .data = scene_text, .size = sizeof scene_text - 1};
    FUZZ_REQUIRE(sinew_scene_read(made->context, &source, NULL, NULL, &made->scene) == SINEW_OK);
    FUZZ_REQUIRE(sinew_scene_build(made->scene, NULL) == SINEW_OK);
    for (int i = 0; i < 5; i++) {
        FUZZ_REQUIRE(sinew_scene_step(made->scene, NULL) == SINEW_OK);
    }

    sinew_bytes *bytes;
    FUZZ_REQUIRE(sinew_bytes_create(made->context, &bytes) == SINEW_OK);
    FUZZ_REQUIRE(sinew_scene_write_checkpoint(made->scene, bytes) == SINEW_OK);
    made->size = sinew_bytes_get_size(bytes);
    FUZZ_REQUIRE(made->size > ENVELOPE + HEADER && made->size <= ROOM);
    memcpy(made->sound, sinew_bytes_get_data(bytes), made->size);
    sinew_bytes_destroy(bytes);
}

static subject *get_subject(void) {
    static subject made;
    if (!made.scene) {
        make(&made);
    }
    return &made;
}

// The envelope and the header of the sound one, the size of this one, and its checksum.
static void seal(uint8_t *data, size_t size) {
    memcpy(data, get_subject()->sound, ENVELOPE + HEADER);

    uint8_t *snapshot = data + ENVELOPE;
    uint64_t length = size - ENVELOPE;
    memcpy(snapshot + 16, &length, sizeof length);
    uint64_t hash = sn_hash_bytes(SN_HASH_START, snapshot, CHECKSUM);
    hash = sn_hash_bytes(hash, snapshot + CHECKSUM + 8, (size_t)length - CHECKSUM - 8);
    memcpy(snapshot + CHECKSUM, &hash, sizeof hash);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
    const subject *made = get_subject();
    if (max_size < made->size) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    if (size != made->size) {
        memcpy(data, made->sound, made->size);
    }

    // The length is checked first; one in eight is another one.
    size_t first = ENVELOPE + HEADER;
    size_t length = made->size - first;
    size_t after = LLVMFuzzerMutate(data + first, length, seed % 8 ? length : max_size - first);
    size_t total = seed % 8 ? made->size : first + after;

    seal(data, total);
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    (void)fuzz_targets;
    subject *made = get_subject();
    sinew_source sound = {.name = "sound.state", .data = made->sound, .size = made->size};
    FUZZ_REQUIRE(sinew_scene_read_checkpoint(made->scene, &sound) == SINEW_OK);
    uint64_t before = sinew_world_get_hash(sinew_scene_get_world(made->scene));

    sinew_source source = {.name = "a.state", .data = data, .size = size};
    sinew_status status = sinew_scene_read_checkpoint(made->scene, &source);
    if (status != SINEW_OK) {
        FUZZ_REQUIRE(*sinew_context_message(made->context));
        FUZZ_REQUIRE(sinew_world_get_hash(sinew_scene_get_world(made->scene)) == before);
        return 0;
    }

    // One step is enough, and bodies that begin inside each other at any speed make it a long one.
    status = sinew_scene_step(made->scene, NULL);
    FUZZ_REQUIRE(status == SINEW_OK || *sinew_context_message(made->context));
    return 0;
}
