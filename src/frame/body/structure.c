// Everything of a frame body that depends on its set of nodes: unknowns, state, samples, pattern,
// mass, springs, vertices. What depends on all nodes is in an arena of its own, so that a running
// body can get another set of nodes, or keep the old one if that fails. Samples, vertices and
// integrals are recomputed only in the range of the node that changed.
#include "frame/body/frame_body.h"

#include "frame/mass/mass.h"

#include <string.h>

static sinew_status build_nodes(sinew_body *body, const sinew_frame_node *defs, int32_t count) {
    sn_frame_model *model = body->model;
    SN_ASSERT(count == model->shape->node_count + model->insertion_count);
    SN_TRY(sn_nodes_create(&model->arena, defs, count, &model->nodes));

    // The shape may have moved nodes inside.
    for (int32_t i = 0; i < model->shape->node_count; i++) {
        model->nodes.items[i].origin = sn_load3(sn_at3(model->shape->node_position, i));
    }

    for (int32_t k = 0; k < model->insertion_count; k++) {
        model->nodes.items[model->shape->node_count + k].origin = model->insertions[k]->position;
    }

    for (int32_t i = 0; i < count; i++) {
        if (model->nodes.items[i].kind == SINEW_NODE_COMPLIANT) {
            model->nodes.items[i].compliance = model->shape->compliance;
        }
    }

    body->rows = model->nodes.row_count;
    body->config_count = model->nodes.config_count;
    body->rest = SN_PUSH(&model->arena, double, body->config_count);
    SN_TRY(sn_arena_status(&model->arena));
    sn_nodes_place(&model->nodes, body->rest, sn_quat_identity(), sn_v3(0, 0, 0));
    SN_TRY(sn_blend_create_pose(&model->arena, &model->nodes, model->dual, &model->blend));

    return sn_body_allocate_state(body, &model->arena);
}

// `old` and `change` may be NULL.
static sinew_status build_mass(sinew_body *body, const sn_frame_mass *old,
                               const sn_insertion_change *change) {
    sn_frame_model *model = body->model;
    sn_mass_source source = {.shape = model->shape,
                             .insertions = sn_frame_insertions(model),
                             .insertion_count = model->insertion_count,
                             .base = &model->mass_base,
                             .base_arena = &body->arena,
                             .change = change,
                             .old = old};

    SN_TRY(sn_frame_mass_create(&model->arena, &source, &model->nodes, model->mass_kind,
                                &model->mass));
    body->moves_freely = sn_frame_moves_freely(&model->nodes, model->mass);

    return SINEW_OK;
}

// Builds the pattern of the rows: the couplings of samples and of the mass, and `more` if it is not
// NULL.
static sinew_status build_pattern(sinew_body *body, sn_arena *scratch, int32_t samples,
                                  const int32_t *start, const int32_t *node,
                                  const sn_bsr_sets *more) {
    const sn_frame_model *model = body->model;
    sn_bsr_sets sets[3];

    SN_TRY(sn_blend_row_sets(scratch, &model->nodes, samples, start, node, &sets[0]));
    SN_TRY(sn_frame_mass_row_sets(scratch, &model->nodes, model->mass, &sets[1]));

    if (more) {
        sets[2] = *more;
    }

    return sn_bsr_build(&((sn_frame_model *)body->model)->arena, body->rows, sets, more ? 3 : 2,
                        &body->pattern);
}

// Hashes the positions and ranges of inserted nodes: two bodies with equal counts may differ in
// them.
static uint64_t hash_insertions(const sn_frame_model *model) {
    uint64_t hash = 0;
    for (int32_t k = 0; k < model->insertion_count; k++) {
        const sn_insertion *insertion = model->insertions[k];
        const double numbers[4] = {insertion->position.x, insertion->position.y,
                                   insertion->position.z, insertion->range};
        const unsigned char *bytes = (const unsigned char *)numbers;

        for (size_t i = 0; i < sizeof numbers; i++) {
            hash = (hash ^ bytes[i]) * 1099511628211u; // FNV-1a
        }
    }

    return hash;
}

sn_layer_source sn_frame_layer_source(const sn_frame_model *model) {
    return (sn_layer_source){.base = model->base_samples,
                             .quadrature = &model->quadrature,
                             .nodes = &model->nodes,
                             .base_nodes = model->shape->node_count,
                             .insertions = sn_frame_insertions(model),
                             .insertion_count = model->insertion_count,
                             .materials = {model->materials, model->material_count,
                                           model->material_labels, model->field, model->assumed},
                             .dual = model->dual};
}

// Builds the springs from model->rest_stiffness.
static sinew_status join_springs(sinew_body *body) {
    sn_frame_model *model = body->model;
    if (model->springs) {
        return sn_springs_compute(body->context, &model->nodes, &body->pattern,
                                  model->rest_stiffness, model->springs);
    }

    return sn_springs_create(&model->arena, &model->nodes, &body->pattern, model->rest_stiffness,
                             &model->springs);
}

sinew_status sn_frame_body_compute_springs(sinew_body *body) {
    sn_frame_model *model = body->model;
    if (!model->wants_springs) {
        return SINEW_OK;
    }
    if (!model->rest_stiffness) {
        model->rest_stiffness = sn_bsr_push_values(&model->arena, &body->pattern);
    }

    SN_TRY(sn_arena_status(&model->arena));
    sn_bsr_set_zero(body->context, &body->pattern, model->rest_stiffness);

    sn_blend_request request = {.q = body->rest, .matrix = model->rest_stiffness};
    sn_layers_evaluate(body->context, &model->layers, &body->pattern, &request);

    return join_springs(body);
}

sinew_status sn_frame_structure_build(sinew_body *body, const sinew_frame_node *nodes,
                                      int32_t count) {
    sn_frame_model *model = body->model;
    const sn_frame_samples *samples = model->base_samples;

    SN_TRY(build_nodes(body, nodes, count));
    SN_TRY(build_mass(body, NULL, NULL));

    sn_arena scratch = sn_arena_create(body->context);
    sinew_status status =
        build_pattern(body, &scratch, samples->count, samples->start, samples->node, NULL);

    sn_arena_destroy(&scratch);
    SN_TRY(status);

    sn_layer_source source = sn_frame_layer_source(model);
    SN_TRY(sn_layers_create(&body->arena, &source, &body->pattern, &model->layers));

    return sn_frame_body_compute_springs(body);
}

// Finds the node of each row.
static sinew_status list_row_nodes(sn_arena *arena, const sn_nodes *nodes, int32_t **out) {
    int32_t *node_of = *out = SN_PUSH(arena, int32_t, nodes->row_count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < nodes->count; i++) {
        for (int32_t r = 0; r < nodes->items[i].row_count; r++) {
            node_of[nodes->items[i].row + r] = i;
        }
    }

    return SINEW_OK;
}

// Lists the pairs of nodes that the old pattern couples and that stay, as sets of their new rows.
static sinew_status push_old_pairs(const sinew_body *body, const sinew_body *next,
                                   sn_arena *scratch, const sn_insertion_change *change,
                                   sn_bsr_sets *sets) {
    const sn_nodes *old = &((const sn_frame_model *)body->model)->nodes;
    const sn_nodes *nodes = &((const sn_frame_model *)next->model)->nodes;
    const sn_bsr *pattern = &body->pattern;
    int32_t *node_of, count = 0, next_member = 0;

    SN_TRY(list_row_nodes(scratch, old, &node_of));
    size_t room = 0;
    for (int32_t i = 0; i < old->count; i++) {
        room +=
            (size_t)(pattern->starts[old->items[i].row + 1] - pattern->starts[old->items[i].row]);
    }

    int32_t *offsets = SN_PUSH(scratch, int32_t, room + 1);
    int32_t *members = SN_PUSH(scratch, int32_t, 2 * SN_NODE_MAX_CONTROLS * room);

    SN_TRY(sn_arena_status(scratch));
    for (int32_t i = 0; i < old->count; i++) {
        int32_t row = old->items[i].row;
        int32_t last = -1;
        if (i != change->gone) {
            for (int32_t k = pattern->starts[row]; k < pattern->starts[row + 1]; k++) {
                // Rows of a node are adjacent and columns ascend.
                int32_t j = node_of[pattern->columns[k]];
                if (j >= i || j == last || j == change->gone) {
                    continue;
                }
                last = j;
                const int32_t both[2] = {sn_insertion_renumber(change, i),
                                         sn_insertion_renumber(change, j)};
                for (int e = 0; e < 2; e++) {
                    const sn_node *node = &nodes->items[both[e]];
                    for (int32_t r = 0; r < node->row_count; r++) {
                        members[next_member++] = node->row + r;
                    }
                }
                offsets[++count] = next_member;
            }
        }
    }

    *sets = (sn_bsr_sets){.count = count, .offsets = offsets, .members = members};
    return SINEW_OK;
}

// Copies the lower-triangle blocks between nodes that stay to the new pattern.
static sinew_status copy_stiffness(const sinew_body *body, const sinew_body *next,
                                   sn_arena *scratch, const sn_insertion_change *change,
                                   const double *from, double *to) {
    const sn_nodes *old = &((const sn_frame_model *)body->model)->nodes;
    const sn_nodes *nodes = &((const sn_frame_model *)next->model)->nodes;
    int32_t *node_of;

    SN_TRY(list_row_nodes(scratch, old, &node_of));
    for (int32_t row = 0; row < body->rows; row++) {
        int32_t i = node_of[row];

        // Blocks of the leaving node are dropped; all others move to where their rows are now.
        if (i != change->gone) {
            for (int32_t k = body->pattern.starts[row]; k <= body->pattern.diagonal[row]; k++) {
                int32_t column = body->pattern.columns[k];
                int32_t j = node_of[column];
                if (j == change->gone) {
                    continue;
                }
                int32_t r =
                    nodes->items[sn_insertion_renumber(change, i)].row + row - old->items[i].row;
                int32_t c =
                    nodes->items[sn_insertion_renumber(change, j)].row + column - old->items[j].row;
                int32_t slot = sn_bsr_find(&next->pattern, r, c);
                SN_ASSERT(slot >= 0);
                memcpy(to + 9 * (size_t)slot, from + 9 * (size_t)k, 9 * sizeof *to);
            }
        }
    }

    return SINEW_OK;
}

// Adds the stiffness of some samples at rest.
static sinew_status add_stiffness(const sinew_body *body, sn_arena *scratch, const int32_t *samples,
                                  int32_t count, double *matrix) {
    const sn_frame_model *model = body->model;
    sn_layer_source source = sn_frame_layer_source(model);
    sn_sample_rows rows;
    sn_layer *layer = NULL;

    SN_TRY(sn_insertions_compute_rows(scratch, source.base, source.base_nodes, source.insertions,
                                      source.insertion_count, samples, count, &rows));
    SN_TRY(sn_layer_create(body->context, &source, samples, count, &rows, &body->pattern, &layer));

    sn_blend_request request = {.q = body->rest, .matrix = matrix};
    sn_blend_evaluate(body->context, &layer->nodes, &layer->blend, &body->pattern, &request);
    sn_layer_destroy(layer);

    return SINEW_OK;
}

// Updates the stiffness at rest for a change: subtracts the old stiffness of the touched samples
// and adds the new one.
static sinew_status change_springs(const sinew_body *body, sinew_body *next,
                                   const sn_insertion_change *change) {
    sn_frame_model *model = next->model;
    if (!model->wants_springs) {
        return SINEW_OK;
    }

    const sn_insertion *changed = change->changed;
    sn_arena scratch = sn_arena_create(body->context);

    // Stiffness of the touched samples as it was.
    double *before = sn_bsr_push_values(&scratch, &body->pattern);

    model->rest_stiffness = sn_bsr_push_values(&model->arena, &next->pattern);
    sinew_status status = before ? sn_arena_status(&model->arena) : SINEW_OUT_OF_MEMORY;
    if (status == SINEW_OK) {
        status = add_stiffness(body, &scratch, changed->sample, changed->sample_count, before);
    }

    if (status == SINEW_OK) {
        // What the untouched samples contribute, in the new pattern.
        const double *old = ((const sn_frame_model *)body->model)->rest_stiffness;
        for (int32_t k = 0; k < 9 * body->pattern.blocks; k++) {
            before[k] = old[k] - before[k];
        }
        status = copy_stiffness(body, next, &scratch, change, before, model->rest_stiffness);
    }

    if (status == SINEW_OK) {
        // The touched samples again, with the new nodes.
        status = add_stiffness(next, &scratch, changed->sample, changed->sample_count,
                               model->rest_stiffness);
    }

    sn_arena_destroy(&scratch);
    return status == SINEW_OK ? join_springs(next) : status;
}

// Builds the list of samples that move, the pattern with them, and their layer.
static sinew_status change_samples(const sinew_body *body, sinew_body *next,
                                   sn_adapt_draft *draft) {
    const sn_frame_model *model = next->model;
    const sn_frame_model *old = body->model;
    const sn_insertion_change *change = &draft->change;
    sn_layer_source source = sn_frame_layer_source(model);
    sn_sample_rows rows;
    sn_bsr_sets pairs;

    // Which samples move, and their new lists of nodes.
    SN_TRY(sn_layers_plan(&draft->arena, &old->layers, &source, change->changed->sample,
                          change->changed->sample_count, change->gone, &draft->plan));

    const sn_layer_plan *plan = &draft->plan;
    SN_TRY(sn_insertions_compute_rows(&draft->arena, source.base, source.base_nodes,
                                      source.insertions, source.insertion_count, plan->sample,
                                      plan->count, &rows));

    // Pairs of nodes that occur elsewhere stay in the pattern.
    SN_TRY(push_old_pairs(body, next, &draft->arena, change, &pairs));
    SN_TRY(build_pattern(next, &draft->arena, plan->count, rows.start, rows.node, &pairs));

    if (plan->count == 0) {
        return SINEW_OK;
    }

    return sn_layer_create(body->context, &source, plan->sample, plan->count, &rows, &next->pattern,
                           &draft->layer);
}

sinew_status sn_frame_structure_change(const sinew_body *body, sinew_body *next,
                                       const sinew_frame_node *nodes, int32_t count,
                                       sn_adapt_draft *draft) {
    const sn_frame_model *old = body->model;
    sn_frame_model *model = next->model;

    SN_TRY(build_nodes(next, nodes, count));
    SN_TRY(build_mass(next, old->mass, &draft->change));
    SN_TRY(change_samples(body, next, draft));
    SN_TRY(change_springs(body, next, &draft->change));
    SN_TRY(sn_face_parts_build(next));
    next->structure = hash_insertions(model);

    return sn_vertex_patch_create(body->context, old->patch, &old->base_vertices,
                                  old->surface->points, old->shape->node_count, &draft->change,
                                  &draft->patch);
}
