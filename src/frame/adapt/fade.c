// Fades: the bookkeeping of events, and what they add to samples, points and vertices. fade.h has
// the equations; draft.c computes what a new event has to fade.
#include "frame/adapt/fade_event.h"

#include "base/hash.h"
#include "base/sorted.h"

#include <math.h>
#include <string.h>

double sn_fade_left(const sn_fade_event *event, double age) {
    double time = event->elapsed + age;
    if (!(time < event->duration)) {
        return 0;
    }
    double u = time / event->duration;
    return 1 - u * u * (3 - 2 * u);
}

static bool is_over(const sn_fade_event *event, double age) {
    return !(event->elapsed + age < event->duration);
}

// What an event and those before it leave at a point of the sample at `place`.
static sn_mat3 sum_residuals(const sn_fade_event *event, int32_t place, int32_t point, double age) {
    sn_mat3 sum = {{{0}}};
    while (event) {
        double left = sn_fade_left(event, age);
        sum = sn_mat3_add(sum, sn_mat3_scale(left, event->residual[event->first[place] + point]));
        int32_t next = event->older_place[place];
        event = event->older[place];
        place = next;
    }

    return sum;
}

sn_mat3 sn_fade_older_residual(const sn_fade *fade, double age, int32_t sample, int32_t point,
                               sn_fade_event **older, int32_t *place) {
    *older = NULL;
    for (int32_t i = fade->count - 1; i >= 0; i--) {
        sn_fade_event *event = fade->events[i];
        *place =
            is_over(event, age) ? -1 : sn_find_sorted(event->sample, event->sample_count, sample);
        if (*place < 0) {
            continue;
        }

        *older = event;
        return sum_residuals(*older, *place, point, age);
    }

    return (sn_mat3){{{0}}};
}

// Of rigid nodes: where the D of a block is kept.
static double **slot_of(const sn_blend *blend, int32_t point) {
    return &blend->rigid.items[blend->sample_group[point]]
                .fade[blend->sample_place[point] / SN_BLOCK];
}

static void apply_sample(const sn_fade_event *event, int32_t k, const sn_layers *layers, double age,
                         bool shows) {
    const sn_layer *layer = layers->layer_of[event->sample[k]];
    int32_t first = sn_layer_first_point(layer, layers->place_of[event->sample[k]]);
    for (int32_t i = 0; i < event->first[k + 1] - event->first[k]; i++) {
        sn_mat3 D = sn_mat3_add(sn_mat3_identity(), sum_residuals(event, k, i, age));
        if (!layer->blend.is_rigid) {
            sn_blend_fade_gradients(&layer->nodes, layer->points, first + i, D, &layer->blend);
        } else if (shows) {
            double *out = *slot_of(&layer->blend, first + i) +
                          layer->blend.sample_place[first + i] % SN_BLOCK;
            for (int e = 0; e < 9; e++) {
                out[e * SN_BLOCK] = D.m[e / 3][e % 3];
            }
        }
    }
}

void sn_fade_refresh(sn_fade *fade, const sn_layers *layers, double age) {
    if (age == fade->applied) {
        return;
    }

    // Nothing is to be done while no event has anything left, unless the samples still show one.
    bool shows = false;
    for (int32_t i = 0; i < fade->count; i++) {
        shows = shows || !is_over(fade->events[i], age);
    }

    if (shows || fade->shows) {
        // Switch D of the blocks on or off, then fill it sample by sample. The youngest event of a
        // sample knows the older ones.
        for (int32_t k = 0; k < fade->room.count; k++) {
            *fade->room.slot[k] = shows ? fade->room.buffer[k] : NULL;
        }

        for (int32_t i = 0; i < fade->count; i++) {
            const sn_fade_event *event = fade->events[i];
            for (int32_t k = 0; k < event->sample_count; k++) {
                if (!event->covered[k]) {
                    apply_sample(event, k, layers, age, shows);
                }
            }
        }
    }

    fade->applied = age;
    fade->shows = shows;
}

// The node that carries offsets of a rest point.
static int32_t find_carrier(const sn_shape *shape, sn_vec3 X) {
    sn_shape_point at;
    sn_shape_at_point(shape, X, &at);

    return sn_shape_point_strongest(&at);
}

static sn_frame_motion motion_at(const sn_fade_pose *pose, const sn_shape *shape, sn_vec3 X) {
    sn_shape_point at;
    sn_insertions_weights_at(shape, (const sn_insertion *const *)pose->insertions,
                             pose->insertion_count, X, &at);
    sn_blend_point point = {.X = X,
                            .count = at.count,
                            .node = at.node,
                            .weight = at.weight,
                            .gradient = at.gradient[0]};

    return sn_blend_get_motion(&pose->nodes, &pose->blend, &point, NULL);
}

void sn_fade_keep(const sn_fade_event *event, sn_vec3 offset, const sn_mat3 *slope,
                  sn_blend_offset *off) {
    sn_mat3 axes = sn_blend_get_axes(&event->after.nodes, &event->after.blend, off->carrier);
    double size = sn_mat3_norm(axes);
    if (!(fabs(sn_mat3_det(axes)) > 1e-6 * size * size * size)) {
        return; // a flat node has no axes to keep it in
    }

    sn_mat3 inverse = sn_mat3_inverse(axes);
    off->offset = sn_mat3_apply(inverse, offset);
    if (slope) {
        off->slope = sn_mat3_mul(inverse, *slope);
    }
}

// The offset of an event at a rest point with r = 1, in the axes of `carrier`.
static sn_blend_offset find_offset(const sn_fade_event *event, const sn_shape *shape, sn_vec3 X,
                                   int32_t carrier) {
    sn_blend_offset off = {.carrier = carrier};
    sn_vec3 slope;
    double weight = sn_insertion_at_point(event->changed, shape, X, &slope);
    if (weight == 0 && sn_dot(slope, slope) == 0) {
        return off;
    }

    sn_frame_motion was = motion_at(&event->before, shape, X);
    sn_frame_motion is = motion_at(&event->after, shape, X);
    sn_mat3 change = sn_mat3_sub(was.F, is.F);

    sn_fade_keep(event, sn_sub(was.x, is.x), &change, &off);
    return off;
}

void sn_fade_find_offsets(const sn_fade *fade, const sn_shape *shape, sn_vec3 X,
                          sn_blend_offset *offsets) {
    int32_t carrier = fade->count > 0 ? find_carrier(shape, X) : -1;
    for (int32_t k = 0; k < fade->count; k++) {
        offsets[k] = find_offset(fade->events[k], shape, X, carrier);
    }
}

static void add_part(sn_blend_offset *sum, double left, const sn_blend_offset *part) {
    sum->offset = sn_madd(sum->offset, left, part->offset);
    sum->slope = sn_mat3_add(sum->slope, sn_mat3_scale(left, part->slope));
}

sn_blend_offset sn_fade_sum(const sn_fade *fade, double age, const sn_blend_offset *offsets) {
    sn_blend_offset sum = {.carrier = fade->count > 0 ? offsets[0].carrier : 0};
    for (int32_t i = 0; i < fade->count; i++) {
        if (!is_over(fade->events[i], age)) {
            add_part(&sum, sn_fade_left(fade->events[i], age), &offsets[i]);
        }
    }

    return sum;
}

sn_blend_offset sn_fade_offset_at(const sn_fade *fade, const sn_shape *shape, double age,
                                  sn_vec3 X) {
    sn_blend_offset sum = {.carrier = -1};
    for (int32_t i = 0; i < fade->count; i++) {
        if (is_over(fade->events[i], age)) {
            continue;
        }
        if (sum.carrier < 0) {
            sum.carrier = find_carrier(shape, X);
        }

        sn_blend_offset part = find_offset(fade->events[i], shape, X, sum.carrier);
        add_part(&sum, sn_fade_left(fade->events[i], age), &part);
    }

    if (sum.carrier < 0) {
        sum.carrier = 0;
    }

    return sum;
}

sn_blend_offset sn_fade_offset_of_vertex(const sn_fade *fade, double age, int32_t vertex) {
    sn_blend_offset sum = {.carrier = 0};
    for (int32_t i = 0; i < fade->count; i++) {
        const sn_fade_event *event = fade->events[i];
        double left = sn_fade_left(event, age);
        if (!(left > 0)) {
            continue;
        }

        int32_t k = sn_find_sorted(event->vertex, event->vertex_count, vertex);
        if (k < 0) {
            continue;
        }

        sum.carrier = event->offset[k].carrier;
        sum.offset = sn_madd(sum.offset, left, event->offset[k].offset);
    }

    return sum;
}

void sn_fade_move_vertices(const sn_fade *fade, const sn_nodes *nodes, const sn_blend *blend,
                           double age, double *positions) {
    for (int32_t i = 0; i < fade->count; i++) {
        const sn_fade_event *event = fade->events[i];
        double left = sn_fade_left(event, age);
        if (left > 0) {
            for (int32_t k = 0; k < event->vertex_count; k++) {
                sn_mat3 axes = sn_blend_get_axes(nodes, blend, event->offset[k].carrier);
                sn_add_to3(positions + 3 * (size_t)event->vertex[k],
                           sn_scale(left, sn_mat3_apply(axes, event->offset[k].offset)));
            }
        }
    }
}

sinew_status sn_fade_pose_create(sn_arena *arena, const sn_nodes *nodes, const double *q, bool dual,
                                 const sn_insertion *const *insertions, int32_t count,
                                 sn_fade_pose *pose) {
    pose->nodes = *nodes;
    pose->nodes.items = SN_PUSH(arena, sn_node, nodes->count);
    pose->insertions = SN_PUSH(arena, sn_insertion *, count);
    SN_TRY(sn_arena_status(arena));
    memcpy(pose->nodes.items, nodes->items, (size_t)nodes->count * sizeof *nodes->items);
    SN_TRY(sn_blend_create_pose(arena, &pose->nodes, dual, &pose->blend));
    sn_blend_prepare(&pose->nodes, &pose->blend, q);

    for (int32_t k = 0; k < count; k++) {
        pose->insertions[k] = (sn_insertion *)insertions[k];
        sn_insertion_hold(pose->insertions[k]);
    }

    pose->insertion_count = count;
    return SINEW_OK;
}

sinew_status sn_fade_event_create(sinew_context *context, const sn_insertion *changed,
                                  double duration, sn_fade *fade, sn_fade_event **out) {
    void *events = fade->events;
    sinew_status status = sn_grow(context, &events, &fade->capacity, (size_t)fade->count,
                                  (size_t)fade->count + 1, sizeof(sn_fade_event *));

    fade->events = events;
    SN_TRY(status);

    sn_arena arena = sn_arena_create(context);
    sn_fade_event *event = SN_PUSH(&arena, sn_fade_event, 1);
    if (!event) {
        return SINEW_OUT_OF_MEMORY;
    }

    *event =
        (sn_fade_event){.arena = arena, .duration = duration, .changed = (sn_insertion *)changed};
    sn_insertion_hold(event->changed);
    *out = event;

    return SINEW_OK;
}

void sn_fade_event_destroy(sn_fade_event *event) {
    if (!event) {
        return;
    }

    const sn_fade_pose *poses[2] = {&event->before, &event->after};
    for (int i = 0; i < 2; i++) {
        for (int32_t k = 0; k < poses[i]->insertion_count; k++) {
            sn_insertion_release(poses[i]->insertions[k]);
        }
    }

    sn_insertion_release(event->changed);
    sn_arena arena = event->arena;

    sn_arena_destroy(&arena);
}

sinew_status sn_fade_room_create(sinew_context *context, const sn_fade *fade,
                                 const sn_fade_event *added, sn_fade_room *room) {
    *room = (sn_fade_room){.arena = sn_arena_create(context)};
    for (int32_t i = 0; i < fade->count; i++) {
        room->capacity += fade->events[i]->first[fade->events[i]->sample_count];
    }

    if (added) {
        room->capacity += added->first[added->sample_count];
    }

    room->slot = SN_RESERVE(&room->arena, double **, room->capacity);
    room->buffer = SN_RESERVE(&room->arena, double *, room->capacity);

    double *all = SN_RESERVE(&room->arena, double, 9 * SN_BLOCK * (size_t)room->capacity);
    sinew_status status = sn_arena_status(&room->arena);
    if (status == SINEW_OK) {
        for (int32_t k = 0; k < room->capacity; k++) {
            room->buffer[k] = all + 9 * SN_BLOCK * (size_t)k;
        }
    }

    return status;
}

void sn_fade_detach(sn_fade *fade) {
    for (int32_t k = 0; k < fade->room.count; k++) {
        *fade->room.slot[k] = NULL;
    }
    sn_arena_destroy(&fade->room.arena);
    fade->room = (sn_fade_room){0};
}

// Drops the oldest events that have finished, and the links of the others to them.
static void drop_finished(sn_fade *fade, double age) {
    int32_t gone = 0;
    int32_t count = fade->count;
    while (gone < count && is_over(fade->events[gone], age)) {
        gone++;
    }

    // The body's age starts again at zero with the change, so each clock takes over what has
    // passed.
    for (int32_t i = gone; i < count; i++) {
        sn_fade_event *event = fade->events[i];
        event->elapsed += age;
        for (int32_t k = 0; k < event->sample_count; k++) {
            for (int32_t j = 0; j < gone && event->older[k]; j++) {
                if (event->older[k] == fade->events[j]) {
                    event->older[k] = NULL;
                }
            }
        }
    }

    if (gone == 0) {
        return;
    }

    // Events are stored oldest first: the finished ones are at the front.
    for (int32_t i = 0; i < gone; i++) {
        sn_fade_event_destroy(fade->events[i]);
    }

    fade->count = count - gone;
    memmove(fade->events, fade->events + gone, (size_t)fade->count * sizeof *fade->events);
}

// Gives the blocks of an event's samples their room, with the identity in every lane.
static void take_room(const sn_fade_event *event, const sn_layers *layers, sn_fade_room *room) {
    for (int32_t k = 0; k < event->sample_count; k++) {
        const sn_layer *layer = layers->layer_of[event->sample[k]];
        int32_t first = sn_layer_first_point(layer, layers->place_of[event->sample[k]]);
        if (layer->blend.is_rigid) {
            for (int32_t i = 0; i < event->first[k + 1] - event->first[k]; i++) {
                double **slot = slot_of(&layer->blend, first + i);
                if (*slot) {
                    continue;
                }
                SN_ASSERT(room->count < room->capacity);
                double *D = *slot = room->buffer[room->count];
                room->slot[room->count++] = slot;
                for (int e = 0; e < 9 * SN_BLOCK; e++) {
                    D[e] = e / SN_BLOCK % 4 == 0;
                }
            }
        }
    }
}

void sn_fade_attach(sn_fade *fade, const sn_layers *layers, double age, sn_fade_event *added,
                    const sn_fade_room *room) {
    drop_finished(fade, age);
    if (added) {
        for (int32_t k = 0; k < added->sample_count; k++) {
            if (added->older[k]) {
                added->older[k]->covered[added->older_place[k]] = true;
            }
        }
        fade->events[fade->count++] = added;
    }

    fade->room = *room;
    for (int32_t i = 0; i < fade->count; i++) {
        take_room(fade->events[i], layers, &fade->room);
    }

    fade->applied = NAN; // the samples were repacked
    fade->shows = true;
    sn_fade_refresh(fade, layers, 0);
}

bool sn_fade_is_active(const sn_fade *fade, double age) {
    for (int32_t i = 0; i < fade->count; i++) {
        if (!is_over(fade->events[i], age)) {
            return true;
        }
    }
    return false;
}

uint64_t sn_fade_hash(const sn_fade *fade, double age) {
    uint64_t hash = SN_HASH_START;
    for (int32_t i = 0; i < fade->count; i++) {
        const sn_fade_event *event = fade->events[i];
        if (is_over(event, age)) {
            continue;
        }

        const double times[2] = {event->duration, event->elapsed};
        size_t residuals = (size_t)event->first[event->sample_count];
        hash = sn_hash_bytes(hash, times, sizeof times);
        hash = sn_hash_bytes(hash, event->residual, residuals * sizeof *event->residual);
        for (int32_t k = 0; k < event->vertex_count; k++) {
            hash = sn_hash_bytes(hash, &event->offset[k].offset, sizeof event->offset[k].offset);
        }
    }
    return hash;
}

void sn_fade_release(sinew_context *context, sn_fade *fade) {
    for (int32_t i = 0; i < fade->count; i++) {
        sn_fade_event_destroy(fade->events[i]);
    }
    sn_release(context, fade->events, fade->capacity, sizeof(sn_fade_event *));
    sn_arena_destroy(&fade->room.arena);
    *fade = (sn_fade){0};
}
