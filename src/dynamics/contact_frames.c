// Frames that join a body where contact presses a dent into it, and leave again.
//
// The contacts of a body with one obstacle or other body form a patch. Its centre c is the mean of
// their rest positions, weighted by the normal forces f; its radius a is 1.5 times their spread,
// that of Hertz's pressure, and at least a voxel. On a half-space the forces would press a dent of
// about
//
//   d = (1 - nu^2) sum f / (2 E a)
//
// A frame joins at c if d exceeds the depth of the definition, and no frame serves the patch. Its
// range is a multiple of a, and at least such that it meets enough samples. As the dent grows so
// does the patch, until another frame with a larger range joins. Frames leave once nothing has
// pressed within their range for a while: the surface under a contact does not move with a fade.
//
// Cost: linear in the contacts; a change costs what lies in the range of its frame, and all
// islands.
#include "dynamics/contact_frames.h"

#include "dynamics/contact.h"
#include "frame/body/frame_body.h"
#include "geom/voxel/voxel.h"

#include <math.h>
#include <string.h>

// Radius of a patch in terms of the spread of its forces.
static const double patch_spread = 1.5;

// A frame serves patches whose centre is within this share of its range, and that ask for at most
// this multiple of it.
static const double served_distance = 0.5;
static const double served_range = 1.5;

// Ranges above this share of the body's size are left to the frames that it has.
static const double largest_range = 0.5;

// A frame meets at least this many points at which strain is measured: an affine one has twelve
// unknowns.
enum { FEWEST_SAMPLES = 16 };

enum { MOST_PATCHES = 32 };

typedef struct patch {
    const void *other; // obstacle or body
    double force;      // sum of normal forces [N]
    sn_vec3 first;     // sum of force times rest position
    double second;     // ... times its square
} patch;

typedef struct patch_list {
    int32_t count;
    patch items[MOST_PATCHES];
} patch_list;

sinew_contact_frames_def sinew_default_contact_frames_def(void) {
    return (sinew_contact_frames_def){
        .most = 4, .spread = 3, .fade = 0.1, .linger = 0.2, .filled = SN_DEF_FILLED};
}

static sinew_status check_def(const sinew_body *body, const sinew_contact_frames_def *def) {
    sinew_context *context = body->context;
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_contact_frames_def"));
    if (def->most < 1 || def->most > SN_MOST_CONTACT_FRAMES) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "%d frames may join body \"%s\" at contacts; valid are 1 to %d",
                       (int)def->most, body->name, (int)SN_MOST_CONTACT_FRAMES);
    }
    if (!(def->spread > 0 && isfinite(def->spread))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the spread of frames at contacts is %g; it must be finite and above 0",
                       def->spread);
    }

    const double numbers[] = {def->depth, def->fade, def->linger};
    for (int k = 0; k < 3; k++) {
        if (!(numbers[k] >= 0 && isfinite(numbers[k]))) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "depth, fade and linger of frames at contacts are %g m, %g s and %g s; "
                           "they must be finite and at least 0",
                           def->depth, def->fade, def->linger);
        }
    }
    return SINEW_OK;
}

// Memory for the record, which the body keeps.
static sinew_status push_frames(sinew_body *body) {
    sn_contact_frames *frames = SN_PUSH(&body->arena, sn_contact_frames, 1);
    int32_t room = body->config_count + 12 * SN_MOST_CONTACT_FRAMES;
    double *q = SN_PUSH(&body->arena, double, (size_t)room *SN_MOST_FRAME_CHANGES);
    SN_TRY(sn_arena_status(&body->arena));

    frames->q_room = room;
    for (int k = 0; k < SN_MOST_FRAME_CHANGES; k++) {
        frames->changes[k].q = q + (size_t)k * (size_t)room;
    }
    body->contact_frames = frames;
    return SINEW_OK;
}

static bool is_fading(const sinew_body *body) {
    const sn_frame_model *model = body->model;
    return sn_fade_is_active(&model->fade, *body->age);
}

// --- changes

static sinew_status join(sinew_body *body, sn_contact_frame frame, double fade) {
    sn_contact_frames *frames = body->contact_frames;
    const sn_frame_model *model = body->model;
    sinew_frame_insert_def def = sinew_default_frame_insert_def();
    bool rigid = model->dual || model->wants_springs;
    def.kind = rigid ? SINEW_NODE_RIGID : SINEW_NODE_AFFINE;
    def.range = frame.range;
    def.fade = fade;
    sn_store3(def.position, frame.X);
    SN_TRY(sn_frame_body_insert(body, &def, NULL));

    frames->idle[frames->count] = 0;
    frames->frames[frames->count++] = frame;
    return SINEW_OK;
}

static sinew_status leave(sinew_body *body, int32_t index, double fade) {
    sn_contact_frames *frames = body->contact_frames;
    const sn_frame_model *model = body->model;
    SN_TRY(sn_frame_body_remove(body, model->shape->node_count + index, fade));

    frames->count--;
    for (int32_t i = index; i < frames->count; i++) {
        frames->frames[i] = frames->frames[i + 1];
        frames->idle[i] = frames->idle[i + 1];
    }
    return SINEW_OK;
}

// Lets all fades end and all frames go, then adds the given ones in their order.
static sinew_status rebuild(sinew_body *body, const sn_contact_frame *list, int32_t count) {
    sn_contact_frames *frames = body->contact_frames;
    while (frames->count > 0) {
        *body->age = INFINITY;
        SN_TRY(leave(body, frames->count - 1, 0));
    }
    for (int32_t i = 0; i < count; i++) {
        *body->age = INFINITY;
        SN_TRY(join(body, list[i], 0));
    }

    memcpy(frames->settled, list, (size_t)count * sizeof *list);
    frames->settled_count = count;
    frames->change_count = 0;
    return SINEW_OK;
}

// Starts the record again, once nothing fades any more. The state does not change.
static sinew_status settle(sinew_body *body) {
    sn_contact_frames *frames = body->contact_frames;
    size_t count = body->state_count;
    size_t held = (size_t)sn_body_size(body);
    if (frames->change_count == 0) {
        return SINEW_OK;
    }

    sn_arena scratch = sn_arena_create(body->context);
    double *state = SN_PUSH(&scratch, double, count);
    uint8_t *mask = SN_PUSH(&scratch, uint8_t, held);
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        sn_contact_frames before = *frames;
        memcpy(state, body->state, count * sizeof *state);
        memcpy(mask, body->mask, held);
        status = rebuild(body, before.frames, before.count);
        if (status == SINEW_OK) {
            memcpy(body->state, state, count * sizeof *state);
            memcpy(body->mask, mask, held);
            memcpy(frames->idle, before.idle, sizeof before.idle);
            status = sn_world_refresh_body(body);
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status carry_out(sinew_body *body, const sn_frame_change *change) {
    return change->gone < 0 ? join(body, change->frame, change->fade)
                            : leave(body, change->gone, change->fade);
}

// Carries a change out and notes it in the record. If it is refused, for example where the solid is
// too thin for a frame, the body stays as it is.
static sinew_status change(sinew_body *body, sn_frame_change next) {
    sn_contact_frames *frames = body->contact_frames;
    if (!is_fading(body)) {
        SN_TRY(settle(body));
    }
    if (frames->change_count == SN_MOST_FRAME_CHANGES || body->config_count > frames->q_room) {
        return SINEW_OK; // later
    }

    sn_frame_change *noted = &frames->changes[frames->change_count];
    next.q = noted->q;
    next.count = body->config_count;
    next.age = *body->age;
    next.fade = frames->def.fade;
    *noted = next;
    memcpy(noted->q, body->q, (size_t)next.count * sizeof *noted->q);

    sinew_status status = carry_out(body, noted);
    if (status == SINEW_OK) {
        frames->change_count++;
        return sn_world_refresh_body(body);
    }
    return status == SINEW_OUT_OF_MEMORY ? status : SINEW_OK;
}

sinew_status sn_contact_frames_replay(sinew_body *body, const sn_contact_frames *record) {
    sn_contact_frames *frames = body->contact_frames;
    SN_TRY(rebuild(body, record->settled, record->settled_count));

    // Fades follow from the configurations at which they began.
    for (int32_t k = 0; k < record->change_count; k++) {
        const sn_frame_change *from = &record->changes[k];
        sn_frame_change *to = &frames->changes[k];
        double *q = to->q;
        if (from->count != body->config_count || from->gone >= frames->count) {
            return sn_fail(body->context, SINEW_INVALID_DATA,
                           "the snapshot is damaged: the frames of body \"%s\" do not fit",
                           body->name);
        }

        *to = *from;
        to->q = q;
        memcpy(q, from->q, (size_t)from->count * sizeof *q);
        memcpy(body->q, q, (size_t)from->count * sizeof *q);
        *body->age = from->age;
        SN_TRY(carry_out(body, to));
        frames->change_count++;
    }
    return sn_world_refresh_body(body);
}

// --- what contacts ask for

static patch *find_patch(patch_list *list, const void *other) {
    for (int32_t i = 0; i < list->count; i++) {
        if (list->items[i].other == other) {
            return &list->items[i];
        }
    }
    if (list->count == MOST_PATCHES) {
        return NULL;
    }

    patch *made = &list->items[list->count++];
    *made = (patch){.other = other};
    return made;
}

// Adds one contact of the body to the patch that it belongs to.
static void add_contact(const sinew_body *body, const sinew_contact *contact,
                        const sn_touch_shares *shares, patch_list *list) {
    sn_vec3 X = {0, 0, 0};
    double weight = 0;
    for (int k = 0; k < shares->count; k++) {
        if (shares->body[k] == body->index) {
            X = sn_madd(X, fabs(shares->b[k]),
                        sn_load3(sn_at3(body->surface->points, shares->vertex[k])));
            weight += fabs(shares->b[k]);
        }
    }

    const void *other = contact->body != body ? (const void *)contact->body
                        : contact->other      ? (const void *)contact->other
                                              : (const void *)contact->obstacle;
    double force = sn_dot(sn_load3(contact->force), sn_load3(contact->normal));
    patch *at = weight > 0 && force > 0 && other != body ? find_patch(list, other) : NULL;
    if (!at) {
        return;
    }

    X = sn_scale(1 / weight, X);
    at->force += force;
    at->first = sn_madd(at->first, force, X);
    at->second += force * sn_dot(X, X);
}

static void find_patches(const sinew_body *body, patch_list *list) {
    const sn_contact *contact = body->world->contact;
    list->count = 0;
    for (int32_t i = 0; i < contact->contact_count; i++) {
        const sinew_contact *one = &contact->contacts[i];
        if (one->body == body || one->other == body) {
            add_contact(body, one, &contact->shares[i], list);
        }
    }
}

// A patch as a place for a frame.
typedef struct demand {
    sn_contact_frame frame;
    double radius; // of the patch [m]
    double dent;   // [m]
} demand;

static double size_of(const sinew_body *body) {
    sn_box box = sn_box_of_points(body->surface->points, body->surface->point_count);
    sn_vec3 d = sn_sub(box.upper, box.lower);
    return fmax(d.x, fmax(d.y, d.z));
}

// The range within which a frame at the surface meets enough samples to resist in every way.
static double smallest_range(const sn_frame_model *model) {
    const sn_quadrature *quadrature = &model->quadrature;
    const sinew_voxels *voxels = model->shape->voxels;
    int32_t points = quadrature->count > 0 ? quadrature->count : model->layers.sample_count;
    double volume = voxels->volume * voxels->count;
    return cbrt(FEWEST_SAMPLES * volume / points / (2.0 / 3 * acos(-1)));
}

static demand find_demand(const sinew_body *body, const patch *patch) {
    const sn_frame_model *model = body->model;
    const sinew_voxels *voxels = model->shape->voxels;
    const double *h = voxels->spacing;
    double cell = fmax(h[0], fmax(h[1], h[2]));

    // Centre and radius.
    sn_vec3 center = sn_scale(1 / patch->force, patch->first);
    double square = patch->second / patch->force - sn_dot(center, center);
    double radius = fmax(cell, patch_spread * sqrt(fmax(0, square)));

    // A frame lies inside the solid: half-way from the centre of the patch to the nearest voxel's.
    int32_t nearest[8];
    double distance;
    double range = body->contact_frames->def.spread * radius;
    demand found = {.frame = {center, fmax(range, smallest_range(model))}, .radius = radius};
    if (sn_nearest_voxels(voxels, center, INFINITY, nearest, &distance) == 0) {
        return found;
    }
    sn_vec3 middle = sn_voxel_center(voxels, nearest[0]);
    sn_vec3 d = sn_sub(center, middle);
    d = sn_v3(fmin(fmax(d.x, -0.5 * h[0]), 0.5 * h[0]), fmin(fmax(d.y, -0.5 * h[1]), 0.5 * h[1]),
              fmin(fmax(d.z, -0.5 * h[2]), 0.5 * h[2]));
    found.frame.X = sn_madd(middle, 0.5, d);

    // The dent that a half-space of the material there would have.
    const sinew_material_def *material =
        &model->materials[sn_frame_material_of_voxel(model, nearest[0])];
    double young = sinew_material_get_young(material) * sn_voxel_stiffness(voxels, nearest[0]);
    double poisson = sinew_material_get_poisson(material);
    found.dent = (1 - poisson * poisson) * patch->force / (2 * young * radius);
    return found;
}

// Notes that the frames around a patch are in use. Whether one of them serves it.
static bool use_frames(sn_contact_frames *frames, const demand *demand) {
    bool served = false;
    for (int32_t i = 0; i < frames->count; i++) {
        const sn_contact_frame *frame = &frames->frames[i];
        double distance = sn_distance(frame->X, demand->frame.X);
        if (distance < frame->range + demand->radius) {
            frames->idle[i] = 0;
        }
        served = served || (distance <= served_distance * frame->range &&
                            demand->frame.range <= served_range * frame->range);
    }
    return served;
}

static sinew_status adapt_body(sinew_body *body) {
    sn_contact_frames *frames = body->contact_frames;
    double depth = frames->def.depth > 0 ? frames->def.depth : 0.01 * size_of(body);
    for (int32_t i = 0; i < frames->count; i++) {
        frames->idle[i] += body->world->def.step;
    }

    // Those that join.
    patch_list patches;
    find_patches(body, &patches);
    for (int32_t i = 0; i < patches.count; i++) {
        demand demand = find_demand(body, &patches.items[i]);
        bool served = use_frames(frames, &demand);
        if (served || demand.dent < depth || frames->count >= frames->def.most ||
            demand.frame.range > largest_range * size_of(body)) {
            continue;
        }
        SN_TRY(change(body, (sn_frame_change){.gone = -1, .frame = demand.frame}));
    }

    // Those that leave, the newest first: one in a step.
    for (int32_t i = frames->count - 1; i >= 0; i--) {
        if (frames->idle[i] > frames->def.linger) {
            return change(body, (sn_frame_change){.gone = i, .frame = frames->frames[i]});
        }
    }
    return SINEW_OK;
}

sinew_status sn_contact_frames_adapt(sinew_world *world) {
    for (size_t i = 0; i < world->body_count; i++) {
        sinew_body *body = world->bodies[i];
        if (body->contact_frames && body->contact_frames->on) {
            SN_TRY(adapt_body(body));
        }
    }
    return SINEW_OK;
}

// --- interface

static sinew_status switch_off(sinew_body *body) {
    sn_contact_frames *frames = body->contact_frames;
    while (frames->count > 0) {
        SN_TRY(leave(body, frames->count - 1, frames->def.fade));
        SN_TRY(sn_world_refresh_body(body));
    }
    frames->on = false;
    return SINEW_OK;
}

sinew_status sinew_frame_body_set_contact_frames(sinew_body *body,
                                                 const sinew_contact_frames_def *def) {
    SN_NEED(NULL, body);

    const sn_frame_model *model = sn_frame_model_of(body);
    bool on = body->contact_frames && body->contact_frames->on;
    if (!def) {
        return on ? switch_off(body) : SINEW_OK;
    }
    SN_TRY(check_def(body, def));
    if (!model) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "body \"%s\" has no frames: none can join at its contacts", body->name);
    }
    if (!on && model->insertion_count > 0) {
        return sn_fail(body->context, SINEW_UNSUPPORTED,
                       "%d frames were inserted into body \"%s\": remove them before others join "
                       "at contacts",
                       (int)model->insertion_count, body->name);
    }

    double range = smallest_range(model);
    if (range > largest_range * size_of(body)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "body \"%s\" has so few samples that a frame at a contact needs a range of "
                       "%g m, more than half its size: choose a finer sampling",
                       body->name, range);
    }

    if (!body->contact_frames) {
        SN_TRY(push_frames(body));
    }
    sn_contact_frames *frames = body->contact_frames;
    frames->def = *def;
    if (!on) {
        frames->settled_count = frames->change_count = 0;
    }
    frames->on = true;
    return SINEW_OK;
}

bool sinew_frame_body_get_contact_frames(const sinew_body *body, sinew_contact_frames_def *def) {
    SN_NEED_OR(false, body);
    bool on = body->contact_frames && body->contact_frames->on;
    if (on && def) {
        *def = body->contact_frames->def;
    }
    return on;
}
