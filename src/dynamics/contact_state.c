// Contact in snapshots: a header, the obstacles, the multipliers.
#include "dynamics/contact.h"

#include <string.h>

typedef struct state_header {
    int64_t obstacles, memories;
} state_header;

typedef struct obstacle_state {
    sn_rigid pose, target;
} obstacle_state;

static state_header make_header(const sinew_world *world) {
    const sn_contact *contact = world->contact;
    return (state_header){contact ? contact->obstacle_count : 0,
                          contact ? contact->memory_count : 0};
}

static size_t size_of(const state_header *header) {
    return sizeof *header + (size_t)header->obstacles * sizeof(obstacle_state) +
           (size_t)header->memories * sizeof(sn_touch_memory);
}

size_t sn_contact_state_size(const sinew_world *world) {
    state_header header = make_header(world);
    return size_of(&header);
}

void sn_contact_write_state(const sinew_world *world, char *bytes) {
    const sn_contact *contact = world->contact;
    state_header header = make_header(world);
    memcpy(bytes, &header, sizeof header);
    bytes += sizeof header;

    for (int64_t i = 0; i < header.obstacles; i++) {
        obstacle_state state = {contact->obstacles[i]->pose, contact->obstacles[i]->target};
        memcpy(bytes, &state, sizeof state);
        bytes += sizeof state;
    }
    if (header.memories > 0) {
        memcpy(bytes, contact->memories, (size_t)header.memories * sizeof *contact->memories);
    }
}

sinew_status sn_contact_check_state(sinew_world *world, const char *bytes, size_t size) {
    state_header now = make_header(world);
    state_header header = {-1, -1};
    if (size >= sizeof header) {
        memcpy(&header, bytes, sizeof header);
    }

    // Counts are bounded before they are multiplied.
    bool sound = header.obstacles >= 0 && header.memories >= 0 &&
                 (size_t)header.obstacles <= size && (size_t)header.memories <= size &&
                 size_of(&header) == size;
    if (!sound) {
        return sn_fail(world->context, SINEW_INVALID_DATA,
                       "the snapshot is damaged: its contact does not fit");
    }
    if (header.obstacles != now.obstacles) {
        return sn_fail(world->context, SINEW_INVALID_DATA,
                       "the snapshot belongs to another world: it has %lld obstacles, this one "
                       "has %lld",
                       (long long)header.obstacles, (long long)now.obstacles);
    }
    if (header.memories == 0) {
        return SINEW_OK;
    }
    if (!world->contact) {
        return sn_fail(world->context, SINEW_INVALID_DATA,
                       "the snapshot belongs to another world: it has contact, this one has not");
    }

    sn_contact *contact = world->contact;
    void *memories = contact->memories;
    SN_TRY(sn_grow(world->context, &memories, &contact->memory_capacity,
                   (size_t)contact->memory_count, (size_t)header.memories,
                   sizeof *contact->memories));
    contact->memories = memories;
    return SINEW_OK;
}

void sn_contact_restore_state(sinew_world *world, const char *bytes) {
    sn_contact *contact = world->contact;
    state_header header;
    memcpy(&header, bytes, sizeof header);
    bytes += sizeof header;
    if (!contact) {
        return;
    }

    for (int64_t i = 0; i < header.obstacles; i++) {
        obstacle_state state;
        memcpy(&state, bytes, sizeof state);
        contact->obstacles[i]->pose = contact->obstacles[i]->trial = state.pose;
        contact->obstacles[i]->target = state.target;
        bytes += sizeof state;
    }
    if (header.memories > 0) {
        memcpy(contact->memories, bytes, (size_t)header.memories * sizeof *contact->memories);
    }
    contact->memory_count = (int32_t)header.memories;
    contact->contact_count = 0;
    contact->event_count = 0;
}
