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
    "2], \"frames\": {\"resolution\": 4, \"count\": 2}}]}";

static sinew_scene *build(sinew_context *context) {
    sinew_source source = {.name = "a.json", .data = scene_text, .size = sizeof scene_text - 1};
    sinew_scene *scene;
    FUZZ_REQUIRE(sinew_scene_read(context, &source, NULL, NULL, &scene) == SINEW_OK);
    FUZZ_REQUIRE(sinew_scene_build(scene, NULL) == SINEW_OK);
    return scene;
}

// A sound checkpoint, made once.
static const uint8_t *get_sound(size_t *size) {
    static uint8_t sound[ROOM];
    static size_t used;
    if (!used) {
        sinew_context *context = fuzz_context();
        sinew_scene *scene = build(context);
        for (int i = 0; i < 5; i++) {
            FUZZ_REQUIRE(sinew_scene_step(scene, NULL) == SINEW_OK);
        }

        sinew_bytes *bytes;
        FUZZ_REQUIRE(sinew_bytes_create(context, &bytes) == SINEW_OK);
        FUZZ_REQUIRE(sinew_scene_write_checkpoint(scene, bytes) == SINEW_OK);
        used = sinew_bytes_get_size(bytes);
        FUZZ_REQUIRE(used > ENVELOPE + HEADER && used <= ROOM);
        memcpy(sound, sinew_bytes_get_data(bytes), used);

        sinew_bytes_destroy(bytes);
        sinew_scene_destroy(scene);
        sinew_context_destroy(context);
    }

    *size = used;
    return sound;
}

// The envelope and the header of the sound one, the size of this one, and its checksum.
static void seal(uint8_t *data, size_t size) {
    size_t ignored;
    memcpy(data, get_sound(&ignored), ENVELOPE + HEADER);

    uint8_t *snapshot = data + ENVELOPE;
    uint64_t length = size - ENVELOPE;
    memcpy(snapshot + 16, &length, sizeof length);
    uint64_t hash = sn_hash_bytes(SN_HASH_START, snapshot, CHECKSUM);
    hash = sn_hash_bytes(hash, snapshot + CHECKSUM + 8, (size_t)length - CHECKSUM - 8);
    memcpy(snapshot + CHECKSUM, &hash, sizeof hash);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
    size_t sound_size;
    const uint8_t *sound = get_sound(&sound_size);
    if (max_size < sound_size) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    if (size != sound_size) {
        memcpy(data, sound, sound_size);
    }

    // The length is checked first; one in eight is another one.
    size_t first = ENVELOPE + HEADER;
    size_t length = sound_size - first;
    size_t after = LLVMFuzzerMutate(data + first, length, seed % 8 ? length : max_size - first);
    size_t total = seed % 8 ? sound_size : first + after;

    seal(data, total);
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    (void)fuzz_targets;
    sinew_context *context = fuzz_context();
    sinew_scene *scene = build(context);
    uint64_t before = sinew_world_get_hash(sinew_scene_get_world(scene));
    sinew_source source = {.name = "a.state", .data = data, .size = size};
    sinew_status status = sinew_scene_read_checkpoint(scene, &source);

    if (status == SINEW_OK) {
        for (int i = 0; i < 3 && status == SINEW_OK; i++) {
            status = sinew_scene_step(scene, NULL);
        }
    } else {
        FUZZ_REQUIRE(sinew_world_get_hash(sinew_scene_get_world(scene)) == before);
    }

    sinew_scene_destroy(scene);
    fuzz_finish(context, status);
    return 0;
}
