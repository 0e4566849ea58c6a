// Drafts of a change: what a new fade has to fade, and how the body takes a draft over.
//
// The fade starts with all of the difference that the change makes. At a point of a touched sample
// it is D = F_new^-1 F_old (I + P) with P what older events leave; at a vertex it is the difference
// of the two positions, in the axes of the node that carries it (fade.h). Cost: the samples and
// vertices in the range of the node.
#include "frame/adapt/draft.h"

#include "base/sorted.h"
#include "frame/adapt/fade_event.h"

// The block of rigid samples that was requested last: consecutive requests are often in the same
// one.
typedef struct block_F {
    const sn_layer *layer;
    int32_t group, block;
    double F[9 * SN_BLOCK] SN_ALIGNED;
} block_F;

static sn_mat3 find_in_block(const sn_layer *layer, int32_t point, block_F *last) {
    int32_t group = layer->blend.sample_group[point];
    int32_t place = layer->blend.sample_place[point];
    if (last->layer != layer || last->group != group || last->block != place / SN_BLOCK) {
        last->layer = layer;
        last->group = group;
        last->block = place / SN_BLOCK;
        sn_rigid_blend_compute_F(&layer->blend.rigid, group, last->block, last->F);
    }

    sn_mat3 F;
    for (int e = 0; e < 9; e++) {
        F.m[e / 3][e % 3] = last->F[e * SN_BLOCK + place % SN_BLOCK];
    }

    return F;
}

// Returns F of a point of a sample as its nodes move it, without fades.
static sn_mat3 raw_F(const sn_layer *layer, int32_t point, block_F *last) {
    if (layer->blend.is_rigid) {
        return find_in_block(layer, point, last);
    }

    const sn_frame_samples *points = layer->points;
    int32_t start = points->start[point];
    sn_blend_point at = {.X = sn_load3(sn_at3(points->position, point)),
                         .count = points->start[point + 1] - start,
                         .node = points->node + start,
                         .weight = points->weight + start,
                         .gradient = sn_at3(points->gradient, start)};

    return sn_blend_get_motion(&layer->nodes, &layer->blend, &at, NULL).F;
}

// Returns the layer of a sample after the change, the new one or the first, and its index there.
static const sn_layer *find_new_place(const sn_layers *layers, const sn_adapt_draft *draft,
                                      int32_t sample, int32_t *place) {
    const sn_layer_plan *plan = &draft->plan;
    int32_t found = sn_find_sorted(plan->sample, plan->count, sample);
    *place = found >= 0 ? found : sample;
    return found >= 0 ? draft->layer : layers->items[0];
}

// Stores the difference between the strains of a touched sample before and after the change.
static void fill_residuals(const sn_fade_source *source, const sn_fade *fade,
                           const sn_adapt_draft *draft, int32_t k, block_F blocks[2]) {
    const sn_layers *layers = source->layers;
    sn_fade_event *event = draft->event;
    int32_t sample = event->sample[k];
    int32_t place;
    const sn_layer *from = layers->layer_of[sample];
    const sn_layer *to = find_new_place(layers, draft, sample, &place);
    int32_t old_first = sn_layer_first_point(from, layers->place_of[sample]);
    int32_t first = sn_layer_first_point(to, place);

    for (int32_t i = 0; i < event->first[k + 1] - event->first[k]; i++) {
        sn_mat3 P = sn_fade_older_residual(fade, source->age, sample, i, &event->older[k],
                                           &event->older_place[k]);
        sn_mat3 past = sn_mat3_add(sn_mat3_identity(), P);
        sn_mat3 old = sn_mat3_mul(raw_F(from, old_first + i, &blocks[0]), past);
        sn_mat3 D = sn_mat3_mul(sn_mat3_inverse(raw_F(to, first + i, &blocks[1])), old);

        // A flat sample gives no usable difference.
        if (sn_mat3_norm(sn_mat3_sub(D, sn_mat3_identity())) < 2) {
            event->residual[event->first[k] + i] = sn_mat3_sub(D, past);
        } else {
            event->older[k] = NULL;
        }
    }
}

static sinew_status push_samples(const sn_fade_source *source, sn_fade_event *event) {
    const sn_quadrature *quadrature = source->quadrature;
    const sn_insertion *changed = event->changed;
    int32_t count = event->sample_count = source->has_strain ? changed->sample_count : 0;
    sn_arena *arena = &event->arena;

    event->sample = SN_PUSH(arena, int32_t, count);
    event->first = SN_PUSH(arena, int32_t, count + 1);
    event->older = SN_PUSH(arena, sn_fade_event *, count);
    event->older_place = SN_PUSH(arena, int32_t, count);
    event->covered = SN_PUSH(arena, bool, count);
    SN_TRY(sn_arena_status(arena));

    for (int32_t k = 0; k < count; k++) {
        int32_t s = event->sample[k] = changed->sample[k];
        event->first[k + 1] =
            event->first[k] +
            (quadrature->count > 0 ? quadrature->start[s + 1] - quadrature->start[s] : 1);
    }

    event->residual = SN_PUSH(arena, sn_mat3, event->first[count]);
    return sn_arena_status(arena);
}

// Returns the position that the rows give a vertex, from the patch if the vertex is there.
static sn_vec3 vertex_position(const sn_fade_source *source, const sn_vertex_patch *patch,
                               const sn_fade_pose *pose, int32_t vertex) {
    int32_t place = sn_vertex_patch_find(patch, vertex);
    int32_t row = place < 0 ? vertex : place;
    const sn_vertex_weights *v = place < 0 ? source->base_vertices : &patch->weights;
    sn_blend_point point = {.X = sn_load3(sn_at3(source->points, vertex)),
                            .count = v->start[row + 1] - v->start[row],
                            .node = v->node + v->start[row],
                            .weight = v->weight + v->start[row]};

    return sn_blend_get_position(&pose->nodes, &pose->blend, &point);
}

// Returns the node that carries the offset of a vertex: the one of the shape's own with the largest
// weight.
static int32_t vertex_carrier(const sn_vertex_weights *base, int32_t vertex) {
    int32_t best = base->start[vertex];
    for (int32_t k = best + 1; k < base->start[vertex + 1]; k++) {
        if (base->weight[k] > base->weight[best]) {
            best = k;
        }
    }

    return base->node[best];
}

static sinew_status push_vertices(const sn_fade_source *source, sn_fade_event *event) {
    const sn_insertion *changed = event->changed;
    event->vertex_count = changed->vertex_count;
    event->vertex = SN_PUSH(&event->arena, int32_t, changed->vertex_count);
    event->offset = SN_PUSH(&event->arena, sn_blend_offset, changed->vertex_count);
    SN_TRY(sn_arena_status(&event->arena));

    for (int32_t k = 0; k < changed->vertex_count; k++) {
        int32_t vertex = event->vertex[k] = changed->vertex[k];
        sn_vec3 was = vertex_position(source, source->before.patch, &event->before, vertex);
        sn_vec3 is = vertex_position(source, source->after.patch, &event->after, vertex);
        event->offset[k].carrier = vertex_carrier(source->base_vertices, vertex);
        sn_fade_keep(event, sn_sub(was, is), NULL, &event->offset[k]);
    }

    return SINEW_OK;
}

static sinew_status make_event(sinew_context *context, const sn_fade_source *source, sn_fade *fade,
                               sn_adapt_draft *draft) {
    const sn_insertion_change *change = &draft->change;
    const sn_fade_side *before = &source->before;
    const sn_fade_side *after = &source->after;
    SN_TRY(sn_fade_event_create(context, change->changed, source->duration, fade, &draft->event));
    sn_fade_event *event = draft->event;

    // The two poses, from which the offset of any rest point can be computed later.
    SN_TRY(sn_fade_pose_create(&event->arena, before->nodes, before->q, source->dual,
                               change->before, change->before_count, &event->before));
    SN_TRY(sn_fade_pose_create(&event->arena, after->nodes, after->q, source->dual, change->after,
                               change->after_count, &event->after));

    // Strains of the samples in range, old and new.
    SN_TRY(push_samples(source, event));
    sn_layers_prepare(source->layers, before->q);
    if (draft->layer) {
        sn_blend_prepare(&draft->layer->nodes, &draft->layer->blend, after->q);
    }

    block_F blocks[2] = {{.layer = NULL}, {.layer = NULL}};
    for (int32_t k = 0; k < event->sample_count; k++) {
        fill_residuals(source, fade, draft, k, blocks);
    }

    return push_vertices(source, event);
}

sinew_status sn_adapt_draft_start_fade(sinew_context *context, const sn_fade_source *source,
                                       sn_fade *fade, sn_adapt_draft *draft) {
    if (source->duration > 0) {
        SN_TRY(make_event(context, source, fade, draft));
    }

    return sn_fade_room_create(context, fade, draft->event, &draft->room);
}

void sn_adapt_draft_take_over(sn_adapt_draft *draft, const sn_nodes *nodes, const sn_bsr *rows,
                              double age, sn_layers *layers, sn_fade *fade, sn_vertex_patch **patch,
                              sinew_frame_change *report) {
    const sn_insertion_change *change = &draft->change;
    const sn_layer_plan *plan = &draft->plan;

    // The samples must not show D while they move between layers.
    sn_fade_detach(fade);
    sn_layers_change(layers, plan, draft->layer, change->gone, nodes, rows);
    sn_fade_attach(fade, layers, age, draft->event, &draft->room);

    sn_vertex_patch_destroy(*patch);
    *patch = draft->patch;
    *report = (sinew_frame_change){.voxel_count = change->changed->voxel_count,
                                   .sample_count = change->changed->sample_count,
                                   .packed_count = plan->count + plan->home_count,
                                   .vertex_count = change->changed->vertex_count};
}

void sn_adapt_draft_drop(sn_adapt_draft *draft) {
    sn_layer_destroy(draft->layer);
    sn_vertex_patch_destroy(draft->patch);
    sn_fade_event_destroy(draft->event);
    sn_arena_destroy(&draft->room.arena);
}
