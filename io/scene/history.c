// The chain of snapshots that a state with active fades is restored from: written while the scene
// runs, checked and replayed later (see history.h).
#include "io/scene/history.h"

#include <string.h>

// A history is a sequence of records: the size of a snapshot in eight bytes, then the snapshot.
enum { PREFIX = 8 };

typedef struct record {
    const char *bytes; // of the snapshot; NULL: there is no record, or it is damaged
    size_t size;
    double time; // [s]
} record;

// The record that begins at byte `at` of `size`.
static record read_record(const char *bytes, size_t at, size_t size) {
    uint64_t length;
    record found = {.bytes = NULL};
    if (size - at < PREFIX) {
        return found;
    }

    bytes += at;
    memcpy(&length, bytes, PREFIX);
    if (length <= size - at - PREFIX &&
        sinew_snapshot_get_time(bytes + PREFIX, (size_t)length, &found.time)) {
        found.bytes = bytes + PREFIX;
        found.size = (size_t)length;
    }
    return found;
}

static bool is_fading(const sn_scene_world *world, double time) {
    for (int32_t i = 0; i < world->scene->body_count; i++) {
        const sn_scene_member *member = &world->members[i];
        if (member->ops->is_fading && member->ops->is_fading(member, time)) {
            return true;
        }
    }
    return false;
}

static bool changes(const sn_scene_world *world, double time) {
    for (int32_t i = 0; i < world->scene->body_count; i++) {
        const sn_scene_member *member = &world->members[i];
        if (member->ops->changes && member->ops->changes(member, time)) {
            return true;
        }
    }
    return false;
}

// Forgets what comes after `time`, where a state of the past was restored.
static void cut(sn_buffer *history, double time) {
    size_t size = 0;
    while (true) {
        record next = read_record(history->data, size, history->size);
        if (!next.bytes || next.time >= time) {
            break;
        }
        size += PREFIX + next.size;
    }
    history->size = size;
}

sinew_status sn_history_note(sn_scene_world *world, double time) {
    if (!changes(world, time)) {
        return SINEW_OK;
    }

    double now = sinew_world_get_time(world->world);
    cut(&world->history, now);
    if (!is_fading(world, now)) {
        sn_buffer_clear(&world->history);
    }

    uint64_t size = sinew_world_get_snapshot_size(world->world);
    sn_buffer_add(&world->history, &size, PREFIX);
    void *bytes = sn_buffer_push(&world->history, (size_t)size, 1);
    SN_TRY(sn_buffer_status(&world->history));
    return sinew_world_take_snapshot(world->world, bytes, (size_t)size);
}

const char *sn_history_get(const sn_scene_world *world, size_t *size) {
    *size = is_fading(world, sinew_world_get_time(world->world)) ? world->history.size : 0;
    return world->history.data;
}

sinew_status sn_history_set(sn_scene_world *world, const void *bytes, size_t size) {
    double time = -1;
    for (size_t at = 0; at < size;) {
        record next = read_record(bytes, at, size);
        if (!next.bytes || !(next.time > time)) {
            return sn_fail(world->arena.context, SINEW_INVALID_DATA,
                           "the states before changes of frames are damaged");
        }
        at += PREFIX + next.size;
        time = next.time;
    }

    sn_buffer_clear(&world->history);
    sn_buffer_add(&world->history, bytes, size);
    return sn_buffer_status(&world->history);
}

// Structures only: what had faded by `time`.
static sinew_status replay_structure(sn_scene_world *world, double time) {
    for (int32_t i = 0; i < world->scene->body_count; i++) {
        sn_scene_member *member = &world->members[i];
        if (member->ops->replay) {
            SN_TRY(member->ops->replay(member, time));
        }
    }
    return SINEW_OK;
}

sinew_status sn_history_replay(sn_scene_world *world, double time) {
    if (!is_fading(world, time)) {
        return replay_structure(world, time);
    }

    // The history must begin before the first fade.
    cut(&world->history, time);
    record first = read_record(world->history.data, 0, world->history.size);
    if (!first.bytes || is_fading(world, first.time)) {
        return sn_fail(world->arena.context, SINEW_UNSUPPORTED,
                       "frames were fading in or out at %g s: only a checkpoint, or the scene that "
                       "the state is of, can continue from there",
                       time);
    }

    SN_TRY(replay_structure(world, first.time));
    for (size_t at = 0; at < world->history.size;) {
        record next = read_record(world->history.data, at, world->history.size);
        SN_TRY(sn_scene_world_drive_joints(world, next.time));
        SN_TRY(sinew_world_restore_snapshot(world->world, next.bytes, next.size));
        SN_TRY(sn_scene_world_apply(world, sinew_world_get_time_after(world->world, 1)));
        at += PREFIX + next.size;
    }

    return SINEW_OK;
}
