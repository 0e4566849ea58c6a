// Records of frames that joined at contacts, in snapshots. For each body with such frames: a
// header, the settled frames, the changes, each followed by its configuration, and the clocks.
#include "dynamics/contact_frames.h"

#include "frame/body/frame_body.h"

#include <math.h>
#include <string.h>

typedef struct record_header {
    int64_t body, settled, changes, frames;
} record_header;

typedef struct change_header {
    int64_t gone, count;
    double age, fade;
    sn_contact_frame frame;
} change_header;

static const sn_contact_frames *record_of(const sinew_body *body) {
    return body->contact_frames && body->contact_frames->on ? body->contact_frames : NULL;
}

size_t sn_contact_frames_size(const sinew_world *world) {
    size_t size = 0;
    for (size_t i = 0; i < world->body_count; i++) {
        const sn_contact_frames *frames = record_of(world->bodies[i]);
        if (!frames) {
            continue;
        }

        size += sizeof(record_header) + (size_t)frames->settled_count * sizeof(sn_contact_frame) +
                (size_t)frames->count * sizeof(double);
        for (int32_t k = 0; k < frames->change_count; k++) {
            size += sizeof(change_header) + (size_t)frames->changes[k].count * sizeof(double);
        }
    }
    return size;
}

static char *write_bytes(char *to, const void *from, size_t size) {
    memcpy(to, from, size);
    return to + size;
}

char *sn_contact_frames_write(const sinew_world *world, char *bytes) {
    for (size_t i = 0; i < world->body_count; i++) {
        const sn_contact_frames *frames = record_of(world->bodies[i]);
        if (!frames) {
            continue;
        }

        record_header header = {(int64_t)i, frames->settled_count, frames->change_count,
                                frames->count};
        bytes = write_bytes(bytes, &header, sizeof header);
        bytes = write_bytes(bytes, frames->settled,
                            (size_t)frames->settled_count * sizeof *frames->settled);
        for (int32_t k = 0; k < frames->change_count; k++) {
            const sn_frame_change *change = &frames->changes[k];
            change_header start = {change->gone, change->count, change->age, change->fade,
                                   change->frame};
            bytes = write_bytes(bytes, &start, sizeof start);
            bytes = write_bytes(bytes, change->q, (size_t)change->count * sizeof *change->q);
        }
        bytes = write_bytes(bytes, frames->idle, (size_t)frames->count * sizeof *frames->idle);
    }
    return bytes;
}

// Bytes that are read one after the other; past the end, all is refused.
typedef struct source {
    const char *next, *end;
    bool sound;
} source;

static void take(source *from, void *to, size_t size) {
    if (!from->sound || (size_t)(from->end - from->next) < size) {
        from->sound = false;
        memset(to, 0, size);
        return;
    }
    memcpy(to, from->next, size);
    from->next += size;
}

static bool is_frame(const sn_contact_frame *frame) {
    return sn_finite3(frame->X) && frame->range > 0 && isfinite(frame->range);
}

static void take_change(source *from, const double *room, int32_t q_room, int32_t *count,
                        sn_frame_change *change) {
    change_header start;
    take(from, &start, sizeof start);
    from->sound = from->sound && start.gone >= -1 && start.gone < *count && start.count > 0 &&
                  start.count <= q_room && start.age >= 0 && start.fade >= 0 &&
                  isfinite(start.fade) && is_frame(&start.frame);
    if (!from->sound) {
        return;
    }

    *change = (sn_frame_change){.gone = (int32_t)start.gone,
                                .frame = start.frame,
                                .age = start.age,
                                .fade = start.fade,
                                .count = (int32_t)start.count,
                                .q = (double *)room};
    take(from, change->q, (size_t)change->count * sizeof *change->q);
    for (int32_t i = 0; i < change->count; i++) {
        from->sound = from->sound && isfinite(change->q[i]);
    }
    *count += change->gone < 0 ? 1 : -1;
    from->sound = from->sound && *count <= SN_MOST_CONTACT_FRAMES;
}

// Reads the record of one body; `room` is for the configurations of its changes.
static void take_record(source *from, const sinew_body *body, double *room,
                        sn_contact_frames *record) {
    record_header header;
    int32_t q_room = body->contact_frames->q_room;
    *record = (sn_contact_frames){.q_room = q_room};
    take(from, &header, sizeof header);
    from->sound = from->sound && header.body == body->index && header.settled >= 0 &&
                  header.settled <= SN_MOST_CONTACT_FRAMES && header.changes >= 0 &&
                  header.changes <= SN_MOST_FRAME_CHANGES;
    if (!from->sound) {
        return;
    }

    record->settled_count = (int32_t)header.settled;
    record->change_count = (int32_t)header.changes;
    take(from, record->settled, (size_t)record->settled_count * sizeof *record->settled);
    for (int32_t i = 0; i < record->settled_count; i++) {
        from->sound = from->sound && is_frame(&record->settled[i]);
    }

    record->count = record->settled_count;
    for (int32_t k = 0; k < record->change_count; k++) {
        take_change(from, room + (size_t)k * (size_t)q_room, q_room, &record->count,
                    &record->changes[k]);
    }

    from->sound = from->sound && header.frames == record->count;
    if (!from->sound) {
        return;
    }
    take(from, record->idle, (size_t)record->count * sizeof *record->idle);
    for (int32_t i = 0; i < record->count; i++) {
        from->sound = from->sound && record->idle[i] >= 0 && isfinite(record->idle[i]);
    }
}

static bool is_same_frame(const sn_contact_frame *a, const sn_contact_frame *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static bool is_same_change(const sn_frame_change *a, const sn_frame_change *b) {
    return a->gone == b->gone && a->count == b->count && a->age == b->age && a->fade == b->fade &&
           is_same_frame(&a->frame, &b->frame) &&
           memcmp(a->q, b->q, (size_t)a->count * sizeof *a->q) == 0;
}

// Whether both lead to the same body.
static bool is_same_record(const sn_contact_frames *a, const sn_contact_frames *b) {
    if (a->settled_count != b->settled_count || a->change_count != b->change_count) {
        return false;
    }
    for (int32_t i = 0; i < a->settled_count; i++) {
        if (!is_same_frame(&a->settled[i], &b->settled[i])) {
            return false;
        }
    }
    for (int32_t k = 0; k < a->change_count; k++) {
        if (!is_same_change(&a->changes[k], &b->changes[k])) {
            return false;
        }
    }
    return true;
}

// Visits the records one after the other. Without `change` it only compares.
static sinew_status visit(const sinew_world *world, source *from, bool change, bool *same) {
    *same = true;
    for (size_t i = 0; i < world->body_count; i++) {
        sinew_body *body = world->bodies[i];
        const sn_contact_frames *frames = record_of(body);
        if (!frames) {
            continue;
        }

        sn_contact_frames record;
        size_t room = (size_t)frames->q_room * SN_MOST_FRAME_CHANGES;
        double *q = sn_allocate(body->context, room, sizeof *q);
        if (!q) {
            return SINEW_OUT_OF_MEMORY;
        }

        // Only bodies whose frames differ are changed.
        sinew_status status = SINEW_OK;
        take_record(from, body, q, &record);
        if (from->sound && !is_same_record(frames, &record)) {
            *same = false;
            status = change ? sn_contact_frames_replay(body, &record) : SINEW_OK;
        }
        sn_release(body->context, q, room, sizeof *q);
        SN_TRY(status);
    }
    return SINEW_OK;
}

sinew_status sn_contact_frames_compare(const sinew_world *world, const char *bytes, size_t size,
                                       bool *same) {
    source from = {bytes, bytes + size, true};
    SN_TRY(visit(world, &from, false, same));
    if (from.sound && from.next == from.end) {
        return SINEW_OK;
    }
    return sn_fail(world->context, SINEW_INVALID_DATA,
                   "the snapshot belongs to another world: other bodies have frames that join at "
                   "contacts");
}

sinew_status sn_contact_frames_restore(sinew_world *world, const char *bytes, size_t size) {
    source from = {bytes, bytes + size, true};
    bool same;
    return visit(world, &from, true, &same);
}

const char *sn_contact_frames_restore_idle(sinew_world *world, const char *bytes) {
    for (size_t i = 0; i < world->body_count; i++) {
        sn_contact_frames *frames = world->bodies[i]->contact_frames;
        if (!record_of(world->bodies[i])) {
            continue;
        }

        // The clocks come last.
        bytes += sizeof(record_header) + (size_t)frames->settled_count * sizeof *frames->settled;
        for (int32_t k = 0; k < frames->change_count; k++) {
            bytes += sizeof(change_header) + (size_t)frames->changes[k].count * sizeof(double);
        }
        memcpy(frames->idle, bytes, (size_t)frames->count * sizeof *frames->idle);
        bytes += (size_t)frames->count * sizeof *frames->idle;
    }
    return bytes;
}
