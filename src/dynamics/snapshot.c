// The state as bytes.
//
//   header        magic, version, size, checksum; three fingerprints; the clock
//   frames        that joined at contacts (contact_frames.h): those of the bodies follow from it
//   attachments   target position, stiffness and force of each, and whether it is broken
//   bodies        of each its state array, its load scales and its mask
//   forces        of each body the forces on its surface, then its points with their forces
//   contact       poses and targets of the obstacles, then the multipliers of touches
//
// Sizes of the forces and of contact are in the bytes, for points, surface forces and touches come
// and go; all else has the sizes of the world.
//
// The checksum covers every byte but its own. The first fingerprint is of what the bytes must fit
// to be read at all: bodies, their counts and frames, loads, attachments. The second is of what the
// run was made of (origin.h), step and integrator. The third is of what fades in frame bodies.
// Numbers are in the machine's own format.
#include "dynamics/contact_frames.h"
#include "dynamics/contact_state.h"

#include "base/hash.h"
#include "body/load.h"
#include "body/point.h"
#include "body/surface.h"
#include "frame/body/frame_body.h"

#include <math.h>
#include <string.h>

enum { VERSION = 7, ATTACHMENT_NUMBERS = 8 };

typedef struct snapshot_header {
    char magic[8];
    uint32_t version;
    uint32_t header_size;
    uint64_t size;      // of the whole snapshot in bytes
    uint64_t checksum;  // of all other bytes
    uint64_t structure; // fingerprint of what the bytes must fit
    uint64_t origin;    // fingerprint of what the run was made of
    uint64_t fades;     // fingerprint of the changes of frames that still fade
    double step;        // [s]
    int64_t integrator;
    uint64_t frames; // size of the records of frames in bytes
    double start;    // time at which the steps began to be counted [s]
    int64_t steps;
} snapshot_header;

// Begins the forces of one body; they follow, then a point_force for each point.
typedef struct force_header {
    int64_t vertices; // for which there is room: all of the surface, or 0
    int64_t forced;   // whether the forces there act: 1 or 0
    int64_t points;
} force_header;

typedef struct point_force {
    double rest[3], force[3];
} point_force;

static const char magic[8] = "sinewst";

static uint64_t hash_attachment(uint64_t hash, const sinew_attachment *attachment) {
    const sn_anchor *ends[] = {&attachment->tied, &attachment->target};
    for (int i = 0; i < 2; i++) {
        hash = sn_hash_integer(hash, ends[i]->body ? ends[i]->body->index : -1);
        if (ends[i]->body) {
            hash = sn_hash_bytes(hash, &ends[i]->point.X, sizeof ends[i]->point.X);
        }
    }
    if (attachment->largest > 0) {
        hash = sn_hash_bytes(hash, &attachment->largest, sizeof attachment->largest);
    }
    return hash;
}

static uint64_t hash_structure(const sinew_world *world) {
    uint64_t hash = sn_hash_integer(SN_HASH_START, (int64_t)world->body_count);
    for (size_t i = 0; i < world->body_count; i++) {
        const sinew_body *body = world->bodies[i];
        int32_t counts[] = {body->rows, body->config_count, body->mesh.element_count,
                            body->load_count, body->surface->point_count};
        hash = sn_hash_bytes(hash, counts, sizeof counts);
        hash = sn_hash_bytes(hash, &body->structure, sizeof body->structure);
    }

    hash = sn_hash_integer(hash, (int64_t)world->attachment_count);
    for (size_t i = 0; i < world->attachment_count; i++) {
        hash = hash_attachment(hash, world->attachments[i]);
    }

    return hash;
}

static uint64_t hash_origin(const sinew_world *world) {
    uint64_t hash = SN_HASH_START;
    for (size_t i = 0; i < world->body_count; i++) {
        hash = sn_hash_bytes(hash, &world->bodies[i]->origin, sizeof world->bodies[i]->origin);
    }
    return hash;
}

static size_t body_size(const sinew_body *body) {
    return (body->state_count + (size_t)body->load_count) * sizeof(double) +
           (size_t)sn_body_size(body);
}

// Of what fades at the ages of the bodies: the present ones, or those in `states`, the bodies' part
// of a snapshot.
static uint64_t hash_fades(const sinew_world *world, const char *states) {
    uint64_t hash = SN_HASH_START;
    for (size_t i = 0; i < world->body_count; i++) {
        const sinew_body *body = world->bodies[i];
        const sn_frame_model *model = sn_frame_model_of(body);
        if (model) {
            double age = *body->age;
            if (states) {
                memcpy(&age, states + (size_t)(body->age - body->state) * sizeof age, sizeof age);
            }
            hash = sn_hash_integer(hash, (int64_t)sn_fade_hash(&model->fade, age));
        }
        if (states) {
            states += body_size(body);
        }
    }
    return hash;
}

static force_header make_force_header(const sinew_body *body) {
    force_header header = {
        .vertices = body->surface_force_room ? body->surface->point_count : 0,
        .forced = body->surface_forces != NULL,
    };
    for (const sinew_point *point = body->points; point; point = point->next) {
        header.points++;
    }
    return header;
}

static size_t forces_size(const force_header *header) {
    return sizeof *header + 3 * (size_t)header->vertices * sizeof(double) +
           (size_t)header->points * sizeof(point_force);
}

// Of everything but the forces.
static size_t fixed_size(const sinew_world *world) {
    size_t size = sizeof(snapshot_header) + sn_contact_frames_size(world) +
                  world->attachment_count * ATTACHMENT_NUMBERS * sizeof(double);
    for (size_t i = 0; i < world->body_count; i++) {
        size += body_size(world->bodies[i]);
    }
    return size;
}

size_t sinew_world_get_snapshot_size(const sinew_world *world) {
    SN_NEED_OR(0, world);
    size_t size = fixed_size(world);
    for (size_t i = 0; i < world->body_count; i++) {
        force_header header = make_force_header(world->bodies[i]);
        size += forces_size(&header);
    }
    return size + sn_contact_state_size(world);
}

static snapshot_header make_header(const sinew_world *world) {
    snapshot_header header = {
        .version = VERSION,
        .header_size = sizeof(snapshot_header),
        .size = sinew_world_get_snapshot_size(world),
        .structure = hash_structure(world),
        .origin = hash_origin(world),
        .fades = hash_fades(world, NULL),
        .step = world->def.step,
        .integrator = (int64_t)world->def.integrator,
        .frames = sn_contact_frames_size(world),
        .start = world->start,
        .steps = world->steps,
    };
    memcpy(header.magic, magic, sizeof magic);
    return header;
}

// Of everything but the checksum itself.
static uint64_t compute_checksum(const char *bytes, size_t size) {
    size_t at = offsetof(snapshot_header, checksum);
    uint64_t hash = sn_hash_bytes(SN_HASH_START, bytes, at);
    at += sizeof(uint64_t);
    return sn_hash_bytes(hash, bytes + at, size - at);
}

// Appends or reads `size` bytes and moves on.
static char *write_bytes(char *to, const void *from, size_t size) {
    memcpy(to, from, size);
    return to + size;
}

static const char *read_bytes(const char *from, void *to, size_t size) {
    memcpy(to, from, size);
    return from + size;
}

static char *write_body(char *next, const sinew_body *body) {
    next = write_bytes(next, body->state, body->state_count * sizeof(double));
    for (int32_t k = 0; k < body->load_count; k++) {
        double scale = sn_load_get_scale(body, k);
        next = write_bytes(next, &scale, sizeof scale);
    }
    return write_bytes(next, body->mask, (size_t)sn_body_size(body));
}

static char *write_forces(char *next, const sinew_body *body) {
    force_header header = make_force_header(body);
    next = write_bytes(next, &header, sizeof header);
    if (header.vertices > 0) {
        size_t size = 3 * (size_t)header.vertices * sizeof(double);
        next = write_bytes(next, body->surface_force_room, size);
    }

    for (const sinew_point *point = body->points; point; point = point->next) {
        point_force record;
        sn_store3(record.rest, point->rest);
        sn_store3(record.force, point->force);
        next = write_bytes(next, &record, sizeof record);
    }
    return next;
}

sinew_status sinew_world_take_snapshot(const sinew_world *world, void *bytes, size_t size) {
    SN_NEED(NULL, world);

    snapshot_header header = make_header(world);
    if (!bytes || size < header.size) {
        return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                       "a snapshot takes %llu bytes; there is room for %zu",
                       (unsigned long long)header.size, bytes ? size : 0);
    }

    // Frames, attachments, bodies, forces and contact, in the order in which they are restored.
    char *next = write_bytes(bytes, &header, sizeof header);
    next = sn_contact_frames_write(world, next);
    for (size_t i = 0; i < world->attachment_count; i++) {
        const sinew_attachment *attachment = world->attachments[i];
        double numbers[ATTACHMENT_NUMBERS] = {0};
        sn_store3(numbers, attachment->target.point.x);
        sn_store3(numbers + 3, attachment->force);
        numbers[6] = attachment->stiffness;
        numbers[7] = attachment->broken;
        next = write_bytes(next, numbers, sizeof numbers);
    }
    for (size_t i = 0; i < world->body_count; i++) {
        next = write_body(next, world->bodies[i]);
    }
    for (size_t i = 0; i < world->body_count; i++) {
        next = write_forces(next, world->bodies[i]);
    }

    sn_contact_write_state(world, next);

    // The checksum covers all other bytes, so it comes last.
    header.checksum = compute_checksum(bytes, (size_t)header.size);
    memcpy(bytes, &header, sizeof header);
    return SINEW_OK;
}

typedef enum snapshot_fault {
    SNAPSHOT_SOUND,
    SNAPSHOT_FOREIGN,   // no snapshot, or of another version
    SNAPSHOT_TRUNCATED, // or with bytes after its end
    SNAPSHOT_DAMAGED,
} snapshot_fault;

static snapshot_fault read_header(const void *bytes, size_t size, snapshot_header *header) {
    if (!bytes || size < sizeof *header) {
        return SNAPSHOT_FOREIGN;
    }

    memcpy(header, bytes, sizeof *header);
    if (memcmp(header->magic, magic, sizeof magic) != 0 || header->version != VERSION ||
        header->header_size != sizeof *header) {
        return SNAPSHOT_FOREIGN;
    }
    if (header->size != size || header->frames > size - sizeof *header) {
        return SNAPSHOT_TRUNCATED;
    }
    return header->checksum == compute_checksum(bytes, size) ? SNAPSHOT_SOUND : SNAPSHOT_DAMAGED;
}

bool sinew_snapshot_get_time(const void *bytes, size_t size, double *time) {
    snapshot_header header;
    if (read_header(bytes, size, &header) != SNAPSHOT_SOUND) {
        return false;
    }

    *time = header.start + (double)header.steps * header.step;
    return true;
}

// Whether the bytes are what was written.
static sinew_status check_bytes(sinew_context *context, const void *bytes, size_t size,
                                snapshot_header *header) {
    switch (read_header(bytes, size, header)) {
    case SNAPSHOT_SOUND: break;
    case SNAPSHOT_FOREIGN:
        return sn_fail(context, SINEW_INVALID_DATA,
                       "these %zu bytes are not a snapshot of version %d", size, (int)VERSION);
    case SNAPSHOT_TRUNCATED:
        return sn_fail(context, SINEW_INVALID_DATA,
                       "the snapshot has %zu bytes; it was written with %llu", size,
                       (unsigned long long)header->size);
    case SNAPSHOT_DAMAGED:
        return sn_fail(context, SINEW_INVALID_DATA,
                       "the snapshot is damaged: its checksum does not match");
    }
    return SINEW_OK;
}

// Why they do not fit this world.
static sinew_status check_header(const sinew_world *world, const snapshot_header *header) {
    sinew_context *context = world->context;
    snapshot_header expected = make_header(world);
    if (header->structure != expected.structure) {
        return sn_fail(
            context, SINEW_INVALID_DATA,
            "the snapshot belongs to another world: bodies, loads, attachments and their "
            "order must be the same, and so must frames that were inserted");
    }
    if (header->origin != expected.origin) {
        return sn_fail(
            context, SINEW_INVALID_DATA,
            "the snapshot belongs to another world: its meshes, materials, frames, weights, "
            "samples or fields differ");
    }
    if (header->step != expected.step || header->integrator != expected.integrator) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "the snapshot was taken with steps of %g s by integrator %d; the world has "
                       "%g s and %d",
                       header->step, (int)header->integrator, expected.step,
                       (int)expected.integrator);
    }

    return SINEW_OK;
}

static const char *restore_body(const char *next, sinew_body *body) {
    next = read_bytes(next, body->state, body->state_count * sizeof(double));
    for (int32_t k = 0; k < body->load_count; k++) {
        double scale;
        next = read_bytes(next, &scale, sizeof scale);
        sn_load_set_scale(body, k, scale);
    }
    return read_bytes(next, body->mask, (size_t)sn_body_size(body));
}

static bool has_force(const point_force *record) {
    return record->force[0] != 0 || record->force[1] != 0 || record->force[2] != 0;
}

// The first point from `point` on with the rest position of the record, or NULL. Points keep their
// order, newest first, so those of the records are found one after the other.
static sinew_point *find_point(sinew_point *point, const point_force *record) {
    sn_vec3 X = sn_load3(record->rest);
    while (point && (point->rest.x != X.x || point->rest.y != X.y || point->rest.z != X.z)) {
        point = point->next;
    }
    return point;
}

// Finds the points of all forces of a body, and makes room for those on its surface. Moves `next`
// behind them.
static sinew_status check_forces(sinew_body *body, const char **next, const char *end) {
    force_header header;
    size_t left = (size_t)(end - *next);
    bool sound = left >= sizeof header;

    // Counts are checked against what is left before anything is read.
    if (sound) {
        memcpy(&header, *next, sizeof header);
        sound = (header.vertices == 0 || header.vertices == body->surface->point_count) &&
                (header.forced == 0 || (header.forced == 1 && header.vertices > 0)) &&
                header.points >= 0 && (uint64_t)header.points <= left / sizeof(point_force) &&
                forces_size(&header) <= left;
    }
    if (!sound) {
        return sn_fail(body->context, SINEW_INVALID_DATA,
                       "the snapshot is damaged: its forces on body \"%s\" do not fit", body->name);
    }

    // Points are found in order, so that equal ones are not mixed up.
    const char *records =
        *next + forces_size(&header) - (size_t)header.points * sizeof(point_force);
    sinew_point *point = body->points;
    for (int64_t i = 0; i < header.points; i++) {
        point_force record;
        records = read_bytes(records, &record, sizeof record);
        if (!has_force(&record)) {
            continue;
        }

        point = find_point(point, &record);
        if (!point) {
            return sn_fail(body->context, SINEW_INVALID_DATA,
                           "the snapshot has a force on the point (%g, %g, %g) of body \"%s\", "
                           "which is no more there; make the points again that had forces, in the "
                           "same order",
                           record.rest[0], record.rest[1], record.rest[2], body->name);
        }
        point = point->next;
    }

    *next = records;
    return header.forced ? sn_surface_push_force_room(body) : SINEW_OK;
}

static sinew_status check_all_forces(sinew_world *world, const char *next, const char *end) {
    for (size_t i = 0; i < world->body_count; i++) {
        SN_TRY(check_forces(world->bodies[i], &next, end));
    }
    return sn_contact_check_state(world, next, (size_t)(end - next));
}

// After check_forces. Points that had no force, or were not there, lose theirs.
static const char *restore_forces(const char *next, sinew_body *body) {
    force_header header;
    next = read_bytes(next, &header, sizeof header);

    // Forces on the surface.
    body->surface_forces = header.forced ? body->surface_force_room : NULL;
    size_t size = 3 * (size_t)header.vertices * sizeof(double);
    if (header.forced) {
        memcpy(body->surface_forces, next, size);
    }
    next += size;

    // Forces on points.
    for (sinew_point *point = body->points; point; point = point->next) {
        point->force = (sn_vec3){0};
    }

    sinew_point *point = body->points;
    for (int64_t i = 0; i < header.points; i++) {
        point_force record;
        next = read_bytes(next, &record, sizeof record);
        if (has_force(&record)) {
            point = find_point(point, &record);
            point->force = sn_load3(record.force);
            point = point->next;
        }
    }

    return next;
}

static bool are_finite(const char *numbers, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        double number;
        numbers = read_bytes(numbers, &number, sizeof number);
        if (!isfinite(number)) {
            return false;
        }
    }
    return true;
}

// Whether a step can begin from the state of a body: where it is and how fast, how long ago that
// was set, and steps of recovery only where there is something to recover.
static bool state_is_sound(const sinew_body *body, const char *state) {
    const char *q = state + (size_t)(body->q - body->state) * sizeof(double);
    const char *v = state + (size_t)(body->v - body->state) * sizeof(double);
    double history, recovery;
    read_bytes(state + (size_t)(body->history - body->state) * sizeof(double), &history,
               sizeof history);
    read_bytes(state + (size_t)(body->recovery - body->state) * sizeof(double), &recovery,
               sizeof recovery);

    bool recovers = body->ops->elasticity.measure_recovery != NULL;
    return are_finite(q, body->config_count) && are_finite(v, sn_body_size(body)) && history >= 0 &&
           isfinite(history) && recovery >= 0 && isfinite(recovery) && (recovers || recovery == 0);
}

static sinew_status check_bodies(const sinew_world *world, const char *next) {
    for (size_t i = 0; i < world->body_count; i++) {
        const sinew_body *body = world->bodies[i];
        if (!state_is_sound(body, next)) {
            return sn_fail(world->context, SINEW_INVALID_DATA,
                           "the snapshot is damaged: no step can begin from its state of body "
                           "\"%s\"",
                           body->name);
        }
        next += (body->state_count + (size_t)body->load_count) * sizeof(double) +
                (size_t)sn_body_size(body);
    }
    return SINEW_OK;
}

// Every check and all memory before any change.
static sinew_status check_snapshot(sinew_world *world, const char *bytes, size_t size,
                                   const snapshot_header *header) {
    SN_TRY(check_header(world, header));
    if (size < fixed_size(world)) {
        return sn_fail(world->context, SINEW_INVALID_DATA,
                       "the snapshot has %zu bytes; this world needs at least %zu", size,
                       fixed_size(world));
    }

    size_t before = sizeof *header + (size_t)header->frames +
                    world->attachment_count * ATTACHMENT_NUMBERS * sizeof(double);
    if (header->fades != hash_fades(world, bytes + before)) {
        return sn_fail(world->context, SINEW_INVALID_DATA,
                       "frames were fading in or out when the snapshot was taken, after a change "
                       "that this world did not go through in the same state");
    }

    SN_TRY(check_bodies(world, bytes + before));
    return check_all_forces(world, bytes + fixed_size(world), bytes + size);
}

// Gives the bodies the frames of a snapshot and checks whether it fits then. If not, they get back
// those that they had.
static sinew_status change_frames(sinew_world *world, const char *bytes, size_t size,
                                  const snapshot_header *header) {
    size_t room = sinew_world_get_snapshot_size(world);
    char *present = sn_allocate(world->context, room, 1);
    if (!present) {
        return SINEW_OUT_OF_MEMORY;
    }

    sinew_status status = sinew_world_take_snapshot(world, present, room);
    if (status == SINEW_OK) {
        status = sn_contact_frames_restore(world, bytes + sizeof *header, (size_t)header->frames);
        if (status == SINEW_OK) {
            status = check_snapshot(world, bytes, size, header);
        }
        if (status != SINEW_OK) { // the message of the failure stays
            sinew_world_restore_snapshot(world, present, room);
        }
    }

    sn_release(world->context, present, room, 1);
    return status;
}

sinew_status sinew_world_restore_snapshot(sinew_world *world, const void *bytes, size_t size) {
    SN_NEED(NULL, world);

    snapshot_header header;
    bool same;
    SN_TRY(check_bytes(world->context, bytes, size, &header));
    const char *frames = (const char *)bytes + sizeof header;
    SN_TRY(sn_contact_frames_compare(world, frames, (size_t)header.frames, &same));
    SN_TRY(same ? check_snapshot(world, bytes, size, &header)
                : change_frames(world, bytes, size, &header));

    const char *next = sn_contact_frames_restore_idle(world, frames);
    for (size_t i = 0; i < world->attachment_count; i++) {
        sinew_attachment *attachment = world->attachments[i];
        double numbers[ATTACHMENT_NUMBERS];
        next = read_bytes(next, numbers, sizeof numbers);
        if (!attachment->target.body) {
            attachment->target.point.x = sn_load3(numbers);
        }

        // A hard tie and a spring take different places in the equations.
        attachment->force = sn_load3(numbers + 3);
        bool broken = numbers[7] != 0;
        if ((attachment->stiffness == 0) != (numbers[6] == 0) || broken != attachment->broken) {
            sn_world_forget_islands(world);
        }
        attachment->broken = broken;
        attachment->stiffness = numbers[6];
    }
    for (size_t i = 0; i < world->body_count; i++) {
        next = restore_body(next, world->bodies[i]);
    }
    for (size_t i = 0; i < world->body_count; i++) {
        next = restore_forces(next, world->bodies[i]);
    }
    sn_contact_restore_state(world, next);

    world->start = header.start;
    world->steps = header.steps;
    return SINEW_OK;
}

uint64_t sinew_world_get_hash(const sinew_world *world) {
    SN_NEED_OR(0, world);
    double time = sinew_world_get_time(world);
    uint64_t hash = sn_hash_bytes(SN_HASH_START, &time, sizeof time);
    for (size_t i = 0; i < world->body_count; i++) {
        const sinew_body *body = world->bodies[i];
        hash = sn_hash_bytes(hash, body->q, (size_t)body->config_count * sizeof(double));
        hash = sn_hash_bytes(hash, body->v, (size_t)sn_body_size(body) * sizeof(double));
    }

    return hash;
}
