// Contact in snapshots: a header, the obstacles, the multipliers, the groups of bodies, and the
// pairs that patterns have room for, for the bits of a solve depend on its pattern.
#include "dynamics/contact_state.h"

#include <math.h>
#include <string.h>

typedef struct state_header {
    int64_t obstacles, memories, groups, overlay;
} state_header;

typedef struct obstacle_state {
    sn_rigid pose, target;
} obstacle_state;

static state_header make_header(const sinew_world *world) {
    const sn_contact *contact = world->contact;
    if (!contact) {
        return (state_header){0};
    }
    return (state_header){contact->obstacle_count, contact->memory_count, contact->group_count,
                          contact->overlay_valid ? contact->overlay_count : 0};
}

static size_t size_of(const state_header *header) {
    return sizeof *header + (size_t)header->obstacles * sizeof(obstacle_state) +
           (size_t)header->memories * sizeof(sn_touch_memory) +
           (size_t)header->groups * sizeof(int32_t) +
           (size_t)header->overlay * sizeof(sn_touch_key);
}

size_t sn_contact_state_size(const sinew_world *world) {
    state_header header = make_header(world);
    return size_of(&header);
}

static char *write_list(char *bytes, const void *list, int64_t count, size_t size) {
    if (count > 0) {
        memcpy(bytes, list, (size_t)count * size);
    }
    return bytes + (size_t)count * size;
}

static const char *read_list(const char *bytes, void *list, int64_t count, size_t size) {
    if (count > 0) {
        memcpy(list, bytes, (size_t)count * size);
    }
    return bytes + (size_t)count * size;
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
    if (contact) {
        bytes = write_list(bytes, contact->memories, header.memories, sizeof(sn_touch_memory));
        bytes = write_list(bytes, contact->groups, header.groups, sizeof(int32_t));
        write_list(bytes, contact->overlay, header.overlay, sizeof(sn_touch_key));
    }
}

static bool is_count(int64_t count, size_t most) {
    return count >= 0 && (uint64_t)count <= most;
}

// Whether a key names bodies of the world. Features are checked where they are looked up, because
// the surfaces are prepared only then; obstacles that are gone are forgotten.
static bool is_key(const sinew_world *world, sn_touch_key key) {
    uint64_t kind = key.who >> SN_TOUCH_KIND_SHIFT;
    int64_t count = (int64_t)world->body_count;
    bool bodies = kind == SN_TOUCH_VERTEX_TRIANGLE || kind == SN_TOUCH_EDGES;
    return kind <= SN_TOUCH_MESH_EDGES && sn_touch_key_a(key) < count &&
           (!bodies || sn_touch_key_b(key) < count);
}

// Whether the lists behind the obstacles can be used: finite memories, the lowest member for each
// body of a group, and keys of bodies that exist.
static bool lists_are_sound(const sinew_world *world, const state_header *header,
                            const char *bytes) {
    for (int64_t i = 0; i < header->memories; i++, bytes += sizeof(sn_touch_memory)) {
        sn_touch_memory memory;
        memcpy(&memory, bytes, sizeof memory);
        if (!is_key(world, memory.key) || !isfinite(memory.multiplier) || !isfinite(memory.force) ||
            !isfinite(memory.slip)) {
            return false;
        }
    }

    for (int64_t i = 0; i < header->groups; i++, bytes += sizeof(int32_t)) {
        int32_t group;
        memcpy(&group, bytes, sizeof group);
        if (group < 0 || group > i) {
            return false;
        }
    }

    for (int64_t i = 0; i < header->overlay; i++, bytes += sizeof(sn_touch_key)) {
        sn_touch_key key;
        memcpy(&key, bytes, sizeof key);
        if (!is_key(world, key)) {
            return false;
        }
    }
    return true;
}

sinew_status sn_contact_check_state(sinew_world *world, const char *bytes, size_t size) {
    state_header now = make_header(world);
    state_header header = {-1, -1, -1, -1};
    if (size >= sizeof header) {
        memcpy(&header, bytes, sizeof header);
    }

    // Counts are bounded before they are multiplied.
    bool sound = is_count(header.obstacles, size) && is_count(header.memories, size) &&
                 is_count(header.groups, size) && is_count(header.overlay, size) &&
                 size_of(&header) == size &&
                 (header.groups == 0 || header.groups == (int64_t)world->body_count);
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
    if (!world->contact) {
        bool empty = header.memories == 0 && header.groups == 0 && header.overlay == 0;
        return empty ? SINEW_OK
                     : sn_fail(world->context, SINEW_INVALID_DATA,
                               "the snapshot belongs to another world: it has contact, this one "
                               "has not");
    }

    const char *lists = bytes + sizeof header + (size_t)header.obstacles * sizeof(obstacle_state);
    if (!lists_are_sound(world, &header, lists)) {
        return sn_fail(world->context, SINEW_INVALID_DATA,
                       "the snapshot is damaged: its touches name bodies that do not exist");
    }

    sn_contact *contact = world->contact;
    void *memories = contact->memories;
    void *groups = contact->groups;
    void *overlay = contact->overlay;
    SN_TRY(sn_grow(world->context, &memories, &contact->memory_capacity,
                   (size_t)contact->memory_count, (size_t)header.memories,
                   sizeof *contact->memories));
    contact->memories = memories;
    SN_TRY(sn_grow(world->context, &groups, &contact->group_capacity, (size_t)contact->group_count,
                   (size_t)header.groups, sizeof *contact->groups));
    contact->groups = groups;
    SN_TRY(sn_grow(world->context, &overlay, &contact->overlay_capacity,
                   (size_t)contact->overlay_count, (size_t)header.overlay,
                   sizeof *contact->overlay));
    contact->overlay = overlay;
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

    // Where obstacles are, and where they go.
    for (int64_t i = 0; i < header.obstacles; i++) {
        obstacle_state state;
        memcpy(&state, bytes, sizeof state);
        contact->obstacles[i]->pose = contact->obstacles[i]->trial = state.pose;
        contact->obstacles[i]->target = state.target;
        bytes += sizeof state;
    }

    // Multipliers, groups and pairs in the pattern: the next step depends on all of them.
    bytes = read_list(bytes, contact->memories, header.memories, sizeof(sn_touch_memory));
    bytes = read_list(bytes, contact->groups, header.groups, sizeof(int32_t));
    read_list(bytes, contact->overlay, header.overlay, sizeof(sn_touch_key));
    contact->memory_count = (int32_t)header.memories;
    contact->group_count = (int32_t)header.groups;
    contact->overlay_count = (int32_t)header.overlay;
    contact->overlay_valid = true;
    contact->tangled = true;
    if (header.groups > 0 || header.overlay > 0) {
        sn_world_forget_islands(world); // they are built again as they were
    }
    contact->contact_count = 0;
    contact->event_count = 0;
}
