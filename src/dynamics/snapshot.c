// The state as bytes: a header that says which world it fits, then for each body its state array,
// its mask and its load scales.
#include "dynamics/world.h"

#include "body/load.h"

#include <string.h>

typedef struct snapshot_header {
    char magic[8];
    uint64_t size;      // of the whole snapshot in bytes
    uint64_t structure; // hash of the counts of all bodies
    double time;
} snapshot_header;

static const char magic[8] = "sinew01";

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ p[i]) * 1099511628211u; // FNV-1a
    }
    return hash;
}

static const uint64_t hash_start = 14695981039346656037u;

static uint64_t hash_structure(const sinew_world *world) {
    uint64_t hash = hash_start;
    for (size_t i = 0; i < world->body_count; i++) {
        const sinew_body *body = world->bodies[i];
        int32_t counts[] = {body->rows, body->config_count, body->mesh.element_count,
                            body->load_count};
        hash = hash_bytes(hash, counts, sizeof counts);
        hash = hash_bytes(hash, &body->structure, sizeof body->structure);
    }

    return hash;
}

static size_t body_size(const sinew_body *body) {
    return (body->state_count + (size_t)body->load_count) * sizeof(double) +
           (size_t)sn_body_size(body);
}

size_t sinew_world_get_snapshot_size(const sinew_world *world) {
    size_t size = sizeof(snapshot_header);
    for (size_t i = 0; i < world->body_count; i++) {
        size += body_size(world->bodies[i]);
    }
    return size;
}

static snapshot_header make_header(const sinew_world *world) {
    snapshot_header header = {.size = sinew_world_get_snapshot_size(world),
                              .structure = hash_structure(world),
                              .time = world->time};
    memcpy(header.magic, magic, sizeof magic);
    return header;
}

sinew_status sinew_world_take_snapshot(const sinew_world *world, void *bytes, size_t size) {
    snapshot_header header = make_header(world);
    if (size < header.size) {
        return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                       "a snapshot takes %llu bytes; there is room for %zu",
                       (unsigned long long)header.size, size);
    }

    char *next = bytes;
    memcpy(next, &header, sizeof header);
    next += sizeof header;

    for (size_t i = 0; i < world->body_count; i++) {
        const sinew_body *body = world->bodies[i];
        memcpy(next, body->state, body->state_count * sizeof(double));
        next += body->state_count * sizeof(double);

        for (int32_t k = 0; k < body->load_count; k++) {
            double scale = sn_load_get_scale(body, k);
            memcpy(next, &scale, sizeof scale);
            next += sizeof scale;
        }

        memcpy(next, body->mask, (size_t)sn_body_size(body));
        next += sn_body_size(body);
    }

    return SINEW_OK;
}

bool sinew_snapshot_get_time(const void *bytes, size_t size, double *time) {
    snapshot_header header;
    if (size < sizeof header) {
        return false;
    }

    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.magic, magic, sizeof magic) != 0) {
        return false;
    }

    *time = header.time;
    return true;
}

sinew_status sinew_world_restore_snapshot(sinew_world *world, const void *bytes, size_t size) {
    snapshot_header expected = make_header(world);
    snapshot_header header = {.size = 0};
    if (size >= sizeof header) {
        memcpy(&header, bytes, sizeof header);
    }

    if (size != expected.size || memcmp(header.magic, magic, sizeof magic) != 0 ||
        header.size != expected.size || header.structure != expected.structure) {
        return sn_fail(world->context, SINEW_INVALID_DATA,
                       "these %zu bytes are no snapshot of this world, which takes %llu: bodies, "
                       "loads and their order must be the same, "
                       "and the frames that were inserted",
                       size, (unsigned long long)expected.size);
    }

    const char *next = (const char *)bytes + sizeof header;
    for (size_t i = 0; i < world->body_count; i++) {
        sinew_body *body = world->bodies[i];
        memcpy(body->state, next, body->state_count * sizeof(double));
        next += body->state_count * sizeof(double);

        for (int32_t k = 0; k < body->load_count; k++, next += sizeof(double)) {
            double scale;
            memcpy(&scale, next, sizeof scale);
            sn_load_set_scale(body, k, scale);
        }

        memcpy(body->mask, next, (size_t)sn_body_size(body));
        next += sn_body_size(body);
    }

    world->time = header.time;
    return SINEW_OK;
}

uint64_t sinew_world_get_hash(const sinew_world *world) {
    uint64_t hash = hash_bytes(hash_start, &world->time, sizeof world->time);
    for (size_t i = 0; i < world->body_count; i++) {
        const sinew_body *body = world->bodies[i];
        hash = hash_bytes(hash, body->q, (size_t)body->config_count * sizeof(double));
        hash = hash_bytes(hash, body->v, (size_t)sn_body_size(body) * sizeof(double));
    }

    return hash;
}
