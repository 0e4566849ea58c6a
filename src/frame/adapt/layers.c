// Layers of packed samples: which samples move when a node joins or leaves, the packing of a new
// layer, and sums over all layers. layers.h says why there are layers at all.
//
// Cost of a change: proportional to the samples that move. A step pays for lanes without volume,
// which are at most a quarter of all.
#include "frame/adapt/layers.h"

#include <stdlib.h>
#include <string.h>

// The nodes of the body that occur in some lists get numbers of their own, ascending as the body's
// are; the lists take them.
static sinew_status number_nodes(sn_arena *arena, const sn_nodes *nodes, int32_t *list,
                                 size_t entries, sn_layer *layer) {
    int32_t *own = sn_allocate(arena->context, (size_t)nodes->count, sizeof *own);
    int32_t count = 0;
    if (!own) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Mark the nodes that occur, and count them.
    for (size_t k = 0; k < entries; k++) {
        own[list[k]] = 1;
    }

    for (int32_t i = 0; i < nodes->count; i++) {
        count += own[i];
    }

    layer->node = SN_PUSH(arena, int32_t, count);
    layer->nodes.items = SN_PUSH(arena, sn_node, count);

    sinew_status status = sn_arena_status(arena);

    // Number them in the order of the body, and lay their controls out one after another.
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < nodes->count; i++) {
            if (!own[i]) {
                continue;
            }

            int32_t next = own[i] = layer->nodes.count++;
            layer->node[next] = i;
            layer->nodes.items[next] = nodes->items[i];
            layer->nodes.items[next].control = layer->nodes.control_count;
            layer->nodes.control_count += nodes->items[i].control_count;
        }
    }

    // Translate the lists.
    if (status == SINEW_OK) {
        for (size_t k = 0; k < entries; k++) {
            list[k] = own[list[k]];
        }
    }

    sn_release(arena->context, own, (size_t)nodes->count, sizeof *own);
    return status;
}

// What the samples of a list have of the base, with other lists of nodes.
static sinew_status gather_samples(const sn_frame_samples *base, const int32_t *list, int32_t count,
                                   const sn_sample_rows *lists, sn_frame_samples **out) {
    sn_arena arena = sn_arena_create(base->arena.context);
    sn_frame_samples *made = SN_PUSH(&arena, sn_frame_samples, 1);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    *made = (sn_frame_samples){.count = count, .report = base->report};

    // Positions, volumes and materials are copied; the lists of nodes are the caller's.
    made->position = SN_PUSH(&arena, double, 3 * (size_t)count);
    made->volume = SN_PUSH(&arena, double, count);
    made->label = SN_PUSH(&arena, int32_t, count);
    made->stiffness = SN_PUSH(&arena, double, count);
    made->arena = arena;
    *out = made;
    SN_TRY(sn_arena_status(&arena));

    for (int32_t i = 0; i < count; i++) {
        memcpy(made->position + 3 * (size_t)i, base->position + 3 * (size_t)list[i],
               3 * sizeof *made->position);
        made->volume[i] = base->volume[list[i]];
        made->label[i] = base->label[list[i]];
        made->stiffness[i] = base->stiffness[list[i]];
    }

    made->start = lists->start;
    made->node = lists->node;
    made->weight = lists->weight;
    made->gradient = lists->gradient;

    return SINEW_OK;
}

static sinew_status gather_quadrature(sn_arena *arena, const sn_quadrature *base,
                                      const int32_t *list, int32_t count, sn_quadrature *out) {
    if (base->count == 0) {
        return SINEW_OK;
    }

    out->start = SN_PUSH(arena, int32_t, (size_t)count + 1);
    SN_TRY(sn_arena_status(arena));

    // Starts of the points of each sample, which give their number.
    for (int32_t i = 0; i < count; i++) {
        out->start[i + 1] = out->start[i] + base->start[list[i] + 1] - base->start[list[i]];
    }

    out->count = out->start[count];
    out->position = SN_PUSH(arena, double, 3 * (size_t)out->count);
    out->volume = SN_PUSH(arena, double, out->count);
    SN_TRY(sn_arena_status(arena));

    for (int32_t i = 0; i < count; i++) {
        size_t from = (size_t)base->start[list[i]];
        size_t to = (size_t)out->start[i];
        size_t many = (size_t)out->start[i + 1] - to;
        memcpy(out->position + 3 * to, base->position + 3 * from, 3 * many * sizeof *out->position);
        memcpy(out->volume + to, base->volume + from, many * sizeof *out->volume);
    }

    return SINEW_OK;
}

static sinew_status pack(sn_layer *layer, const sn_layer_source *source, const sn_bsr *rows) {
    layer->points = layer->samples;
    if (layer->quadrature.count > 0) {
        SN_TRY(sn_quadrature_apply(&layer->quadrature, layer->samples, &layer->points));
    }
    return sn_blend_create(&layer->arena, &layer->nodes, layer->points, &source->materials, rows,
                           source->dual, &layer->blend);
}

static sinew_status begin_layer(sinew_context *context, int32_t count, sn_layer **out) {
    sn_arena arena = sn_arena_create(context);
    sn_layer *layer = SN_PUSH(&arena, sn_layer, 1);
    if (!layer) {
        return SINEW_OUT_OF_MEMORY;
    }

    *layer = (sn_layer){.count = count, .left = count};
    layer->sample = SN_PUSH(&arena, int32_t, count);
    layer->away = SN_PUSH(&arena, bool, count);
    layer->arena = arena;
    *out = layer;

    return sn_arena_status(&arena);
}

void sn_layer_destroy(sn_layer *layer) {
    if (!layer) {
        return;
    }
    if (layer->points != layer->samples) {
        sn_samples_destroy(layer->points);
    }
    if (layer->owns_samples) {
        sn_samples_destroy(layer->samples);
    }

    sn_arena arena = layer->arena;
    sn_arena_destroy(&arena);
}

static sinew_status fill_layer(sn_layer *layer, const sn_layer_source *source, const int32_t *list,
                               const sn_sample_rows *lists, const sn_bsr *rows) {
    sn_arena *arena = &layer->arena;
    size_t entries = (size_t)lists->start[layer->count];
    sn_sample_rows own = {SN_PUSH(arena, int32_t, (size_t)layer->count + 1),
                          SN_PUSH(arena, int32_t, entries), SN_PUSH(arena, double, entries),
                          SN_PUSH(arena, double, 3 * entries)};

    SN_TRY(sn_arena_status(arena));
    memcpy(layer->sample, list, (size_t)layer->count * sizeof *list);
    memcpy(own.start, lists->start, ((size_t)layer->count + 1) * sizeof *own.start);
    memcpy(own.node, lists->node, entries * sizeof *own.node);
    memcpy(own.weight, lists->weight, entries * sizeof *own.weight);
    memcpy(own.gradient, lists->gradient, 3 * entries * sizeof *own.gradient);
    SN_TRY(number_nodes(arena, source->nodes, own.node, entries, layer));
    layer->owns_samples = true;
    SN_TRY(gather_samples(source->base, list, layer->count, &own, &layer->samples));
    SN_TRY(gather_quadrature(arena, source->quadrature, list, layer->count, &layer->quadrature));

    return pack(layer, source, rows);
}

sinew_status sn_layer_create(sinew_context *context, const sn_layer_source *source,
                             const int32_t *list, int32_t count, const sn_sample_rows *lists,
                             const sn_bsr *rows, sn_layer **out) {
    sn_layer *layer = NULL;
    sinew_status status = begin_layer(context, count, &layer);
    if (status == SINEW_OK) {
        status = fill_layer(layer, source, list, lists, rows);
    }
    if (status != SINEW_OK) {
        sn_layer_destroy(layer);
    }
    if (status == SINEW_OK) {
        *out = layer;
    }

    return status;
}

// The first layer takes the base as it is.
static sinew_status fill_first(sn_layer *layer, const sn_layer_source *source, const sn_bsr *rows) {
    sn_arena *arena = &layer->arena;
    for (int32_t s = 0; s < layer->count; s++) {
        layer->sample[s] = s;
    }

    layer->node = SN_PUSH(arena, int32_t, source->base_nodes);
    layer->nodes = *source->nodes;
    layer->nodes.items = SN_PUSH(arena, sn_node, source->base_nodes);
    SN_TRY(sn_arena_status(arena));
    SN_ASSERT(source->nodes->count == source->base_nodes);

    for (int32_t i = 0; i < source->base_nodes; i++) {
        layer->node[i] = i;
        layer->nodes.items[i] = source->nodes->items[i];
    }

    layer->samples = (sn_frame_samples *)source->base;
    layer->quadrature = *source->quadrature;

    return pack(layer, source, rows);
}

sinew_status sn_layers_create(sn_arena *arena, const sn_layer_source *source, const sn_bsr *rows,
                              sn_layers *layers) {
    int32_t samples = source->base->count;
    *layers = (sn_layers){.sample_count = samples,
                          .layer_of = SN_PUSH(arena, sn_layer *, samples),
                          .place_of = SN_PUSH(arena, int32_t, samples)};
    SN_TRY(sn_arena_status(arena));
    SN_TRY(sn_layers_reserve(arena->context, layers));

    sinew_status status = begin_layer(arena->context, samples, &layers->items[0]);
    layers->count = layers->items[0] ? 1 : 0;
    SN_TRY(status);
    SN_TRY(fill_first(layers->items[0], source, rows));

    for (int32_t s = 0; s < samples; s++) {
        layers->layer_of[s] = layers->items[0];
        layers->place_of[s] = s;
    }

    return SINEW_OK;
}

void sn_layers_release(sinew_context *context, sn_layers *layers) {
    for (int32_t i = 0; i < layers->count; i++) {
        sn_layer_destroy(layers->items[i]);
    }
    sn_release(context, layers->items, layers->capacity, sizeof(sn_layer *));
    *layers = (sn_layers){0};
}

sinew_status sn_layers_reserve(sinew_context *context, sn_layers *layers) {
    void *items = layers->items;
    sinew_status status = sn_grow(context, &items, &layers->capacity, (size_t)layers->count,
                                  (size_t)layers->count + 1, sizeof(sn_layer *));
    layers->items = items;
    return status;
}

static bool is_touched(const sn_layer_source *source, int32_t sample) {
    for (int32_t k = 0; k < source->insertion_count; k++) {
        if (sn_insertion_find_sample(source->insertions[k], sample) >= 0) {
            return true;
        }
    }
    return false;
}

// Whether a layer with this many samples left is given up.
static bool is_worn(const sn_layer *layer, int32_t left) {
    return 4 * (int64_t)left < 3 * (int64_t)layer->count;
}

// A layer that meets a node that leaves is given up as well.
static bool meets(const sn_layer *layer, int32_t node) {
    for (int32_t i = 0; i < layer->nodes.count; i++) {
        if (layer->node[i] == node) {
            return true;
        }
    }
    return false;
}

static int compare_numbers(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a;
    int32_t y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Samples of a layer that have not left and are not in the list (its first `known` numbers ascend):
// they join it.
static int32_t take_rest(const sn_layer *layer, const int32_t *list, int32_t known, int32_t *out) {
    int32_t count = 0, k = 0;
    for (int32_t i = 0; i < layer->count; i++) {
        while (k < known && list[k] < layer->sample[i]) {
            k++;
        }
        if (!layer->away[i] && !(k < known && list[k] == layer->sample[i])) {
            out[count++] = layer->sample[i];
        }
    }

    return count;
}

static int32_t index_of(const sn_layers *layers, const sn_layer *layer) {
    for (int32_t i = 0; i < layers->count; i++) {
        if (layers->items[i] == layer) {
            return i;
        }
    }
    return -1;
}

// The samples to repack: those touched, and the remaining ones of layers that are given up.
static sinew_status list_moved(sn_arena *arena, const sn_layers *layers, const int32_t *touched,
                               int32_t count, int32_t gone, int32_t **out, int32_t *total) {
    int32_t *leaving = SN_PUSH(arena, int32_t, layers->count);
    int32_t room = count;
    bool *given_up = SN_PUSH(arena, bool, layers->count);

    SN_TRY(sn_arena_status(arena));

    // How many samples leave each layer.
    for (int32_t i = 0; i < count; i++) {
        leaving[index_of(layers, layers->layer_of[touched[i]])]++;
    }

    // A layer is given up when too many of its lanes are empty, or when a node of it goes.
    for (int32_t l = 1; l < layers->count; l++) {
        const sn_layer *layer = layers->items[l];
        given_up[l] = is_worn(layer, layer->left - leaving[l]) || meets(layer, gone);
        if (given_up[l]) {
            room += layer->left - leaving[l];
        }
    }

    // The touched samples first, then what remains of the layers that are given up.
    int32_t *list = SN_PUSH(arena, int32_t, room);
    SN_TRY(sn_arena_status(arena));
    memcpy(list, touched, (size_t)count * sizeof *list);
    *total = count;

    for (int32_t l = 1; l < layers->count; l++) {
        if (given_up[l]) {
            *total += take_rest(layers->items[l], touched, count, list + *total);
        }
    }

    SN_ASSERT(*total == room);
    qsort(list, (size_t)room, sizeof *list, compare_numbers);
    *out = list;

    return SINEW_OK;
}

sinew_status sn_layers_plan(sn_arena *arena, const sn_layers *layers, const sn_layer_source *source,
                            const int32_t *touched, int32_t count, int32_t gone,
                            sn_layer_plan *plan) {
    const sn_layer *first = layers->items[0];
    int32_t *list, total;
    int32_t left = first->left;

    SN_TRY(list_moved(arena, layers, touched, count, gone, &list, &total));
    bool *home = SN_PUSH(arena, bool, total);

    SN_TRY(sn_arena_status(arena));

    // Samples that no insertion touches any more go home to the first layer.
    for (int32_t i = 0; i < total; i++) {
        home[i] = !is_touched(source, list[i]);
        left += (home[i] ? 1 : 0) - (layers->layer_of[list[i]] == first ? 1 : 0);
    }

    *plan = (sn_layer_plan){0};
    int32_t room = total + (is_worn(first, left) ? first->left : 0);

    plan->sample = SN_PUSH(arena, int32_t, room);
    plan->home = SN_PUSH(arena, int32_t, total);
    SN_TRY(sn_arena_status(arena));

    // If too many have left the first layer, all of its samples move to the new one.
    if (is_worn(first, left)) {
        memcpy(plan->sample, list, (size_t)total * sizeof *list);
        plan->count = total + take_rest(first, list, total, plan->sample + total);
        qsort(plan->sample, (size_t)plan->count, sizeof *plan->sample, compare_numbers);
        return SINEW_OK;
    }

    for (int32_t i = 0; i < total; i++) {
        if (home[i]) {
            plan->home[plan->home_count++] = list[i];
        } else {
            plan->sample[plan->count++] = list[i];
        }
    }

    return SINEW_OK;
}

// Gives the points of a sample their volumes, or none.
static void set_volumes(const sn_layer *layer, int32_t place, bool away) {
    for (int32_t p = sn_layer_first_point(layer, place); p < sn_layer_first_point(layer, place + 1);
         p++) {
        sn_blend_set_volume(&layer->blend, p, away ? 0 : layer->points->volume[p]);
    }
}

static void move_sample(sn_layers *layers, int32_t sample, sn_layer *to, int32_t place) {
    sn_layer *from = layers->layer_of[sample];
    if (from == to) {
        return;
    }

    from->away[layers->place_of[sample]] = true;
    from->left--;
    set_volumes(from, layers->place_of[sample], true);
    layers->layer_of[sample] = to;
    layers->place_of[sample] = place;
}

static void renumber(sn_layer *layer, int32_t gone, const sn_nodes *nodes) {
    for (int32_t i = 0; i < layer->nodes.count; i++) {
        SN_ASSERT(layer->node[i] != gone);
        if (gone >= 0 && layer->node[i] > gone) {
            layer->node[i]--;
        }
        layer->nodes.items[i].row = nodes->items[layer->node[i]].row;
        layer->nodes.items[i].config = nodes->items[layer->node[i]].config;
    }
}

void sn_layers_change(sn_layers *layers, const sn_layer_plan *plan, sn_layer *added, int32_t gone,
                      const sn_nodes *nodes, const sn_bsr *rows) {
    sn_layer *first = layers->items[0];

    // Move the samples: an old lane keeps its place with zero volume.
    for (int32_t i = 0; i < plan->count; i++) {
        move_sample(layers, plan->sample[i], added, i);
    }

    for (int32_t i = 0; i < plan->home_count; i++) {
        int32_t s = plan->home[i];
        if (layers->layer_of[s] == first) {
            continue;
        }

        move_sample(layers, s, first, s);
        first->away[s] = false;
        first->left++;
        set_volumes(first, s, false);
    }

    // Drop the layers that have become empty.
    int32_t count = 1;
    for (int32_t l = 1; l < layers->count; l++) {
        if (layers->items[l]->left > 0) {
            layers->items[count++] = layers->items[l];
        } else {
            sn_layer_destroy(layers->items[l]);
        }
    }

    // The remaining layers go over to the new numbers and the new pattern.
    layers->count = count;
    for (int32_t l = 0; l < layers->count; l++) {
        renumber(layers->items[l], gone, nodes);
        sn_blend_remap(&layers->items[l]->nodes, rows, &layers->items[l]->blend);
    }

    if (added) {
        layers->items[layers->count++] = added;
    }
}

void sn_layers_prepare(const sn_layers *layers, const double *q) {
    for (int32_t l = 0; l < layers->count; l++) {
        sn_blend_prepare(&layers->items[l]->nodes, &layers->items[l]->blend, q);
    }
}

double sn_layers_evaluate(sinew_context *context, const sn_layers *layers, const sn_bsr *rows,
                          const sn_blend_request *request) {
    double energy = 0;
    for (int32_t l = 0; l < layers->count; l++) {
        const sn_layer *layer = layers->items[l];
        if (layer->left > 0) {
            energy += sn_blend_evaluate(context, &layer->nodes, &layer->blend, rows, request);
        }
    }

    return energy;
}

void sn_layers_measure(const sn_layers *layers, const double *q, double *smallest_J,
                       double *largest_J, double *volume) {
    *smallest_J = INFINITY, *largest_J = -INFINITY, *volume = 0;
    for (int32_t l = 0; l < layers->count; l++) {
        const sn_layer *layer = layers->items[l];
        double smallest, largest, part;
        if (layer->left == 0) {
            continue;
        }

        sn_blend_measure(&layer->nodes, &layer->blend, q, &smallest, &largest, &part);
        *smallest_J = fmin(*smallest_J, smallest);
        *largest_J = fmax(*largest_J, largest);
        *volume += part;
    }
}

sinew_status sn_layers_set_material(const sn_layers *layers, int32_t index,
                                    const sinew_material_def *material) {
    for (int32_t l = 0; l < layers->count; l++) {
        sn_layer *layer = layers->items[l];
        for (int32_t i = 0; i < layer->blend.groups.count; i++) {
            if (layer->blend.group_material[i] == index) {
                SN_TRY(
                    sn_sample_group_set_material(&layer->arena, &layer->blend.groups, i, material));
            }
        }
    }

    return SINEW_OK;
}

void sn_layers_set_fibre_stress(const sn_layers *layers, int32_t index, double stress) {
    for (int32_t l = 0; l < layers->count; l++) {
        const sn_blend *blend = &layers->items[l]->blend;
        for (int32_t i = 0; i < blend->groups.count; i++) {
            if (blend->group_material[i] == index) {
                sn_sample_group_set_fibre_stress(&blend->groups.items[i], stress);
            }
        }
    }
}

sinew_status sn_layers_prepare_products(const sn_layers *layers, bool kept) {
    for (int32_t l = 0; l < layers->count; l++) {
        sn_layer *layer = layers->items[l];
        SN_TRY(sn_blend_prepare_products(&layer->arena, &layer->nodes, kept, &layer->blend));
    }

    return SINEW_OK;
}

void sn_layers_keep_tangent(const sn_layers *layers) {
    for (int32_t l = 0; l < layers->count; l++) {
        sn_blend_keep_tangent(&layers->items[l]->nodes, &layers->items[l]->blend);
    }
}

void sn_layers_add_product(sinew_context *context, const sn_layers *layers, bool kept, double *y,
                           const double *x) {
    for (int32_t l = 0; l < layers->count; l++) {
        const sn_layer *layer = layers->items[l];
        sn_blend_add_product(context, &layer->nodes, &layer->blend, kept, y, x);
    }
}

double sn_layers_mean_controls(const sn_layers *layers) {
    double controls = 0, samples = 0;
    for (int32_t l = 0; l < layers->count; l++) {
        const sn_sample_groups *groups = &layers->items[l]->blend.groups;
        for (int32_t i = 0; i < groups->count; i++) {
            samples += groups->items[i].samples.count;
            controls += (double)groups->items[i].samples.width * groups->items[i].samples.count;
        }
    }

    return samples > 0 ? controls / samples : 0;
}

const double *sn_layers_find_vanished(const sn_layers *layers) {
    for (int32_t l = 0; l < layers->count; l++) {
        const sn_layer *layer = layers->items[l];
        int32_t s = sn_rigid_blend_find_vanished(&layer->blend.rigid, layer->nodes.count,
                                                 layer->samples, layer->away);
        if (s >= 0) {
            return sn_at3(layer->samples->position, s);
        }
    }

    return NULL;
}
