// Everything of a frame body that depends on which nodes it has: unknowns, state, samples, pattern, mass, vertices. Built into
// an arena of its own, so that a running body can be given another set of nodes, or keep the old one if that fails.
#include "frame/frame_body.h"

#include "frame/frame_coast.h"

#include <string.h>

static sinew_status build_nodes(sinew_body *body, const sinew_frame_node *defs, int32_t count) {
    sn_frame_model *model = body->model;
    SN_TRY(sn_nodes_create(&model->arena, defs, count, &model->nodes));
    for (int32_t i = 0; i < model->shape->node_count; i++) { // a node outside may have been moved in
        model->nodes.items[i].origin = sn_load3(model->shape->node_position + 3 * i);
    }
    for (int32_t k = 0; k < model->insertion_count; k++) {
        model->nodes.items[model->shape->node_count + k].origin = model->insertions[k]->position;
    }
    body->rows = model->nodes.row_count;
    body->config_count = model->nodes.config_count;
    body->rest = SN_PUSH(&model->arena, double, body->config_count);
    SN_TRY(sn_arena_status(&model->arena));
    sn_nodes_place(&model->nodes, body->rest, sn_quat_identity(), sn_v3(0, 0, 0));
    return sn_body_allocate_state(body, &model->arena);
}

static sinew_status build_points(sn_frame_model *model) {
    model->points = model->samples;
    return model->quadrature.count > 0 ? sn_quadrature_apply(&model->quadrature, model->samples, &model->points) : SINEW_OK;
}

static sinew_status build_samples(sinew_body *body) {
    sn_frame_model *model = body->model;
    int32_t nodes = model->shape->node_count;
    model->samples = model->base_samples;
    model->vertices = model->base_vertices;
    if (model->insertion_count == 0) return build_points(model);
    SN_TRY(sn_insertions_apply_samples(body->context, model->base_samples, nodes, sn_frame_insertions(model),
                                       model->insertion_count, &model->samples));
    SN_TRY(build_points(model));
    return sn_insertions_apply_vertices(&model->arena, &model->base_vertices, nodes, sn_frame_insertions(model),
                                        model->insertion_count, &model->vertices);
}

static sinew_status build_pattern(sinew_body *body) {
    sn_frame_model *model = body->model;
    sn_arena scratch = sn_arena_create(body->context);
    sn_bsr_sets sets[2];
    sinew_status status = sn_blend_row_sets(&scratch, &model->nodes, model->samples, &sets[0]);
    if (status == SINEW_OK) status = sn_frame_mass_row_sets(&scratch, &model->nodes, model->mass, &sets[1]);
    if (status == SINEW_OK) status = sn_bsr_build(&model->arena, body->rows, sets, 2, &body->pattern);
    sn_arena_destroy(&scratch);
    return status;
}

// The places and ranges of inserted nodes: two bodies with equal counts may differ in them.
static uint64_t hash_insertions(const sn_frame_model *model) {
    uint64_t hash = 0;
    for (int32_t k = 0; k < model->insertion_count; k++) {
        const sn_insertion *insertion = model->insertions[k];
        const double numbers[4] = {insertion->position.x, insertion->position.y, insertion->position.z, insertion->range};
        const unsigned char *bytes = (const unsigned char *)numbers;
        for (size_t i = 0; i < sizeof numbers; i++) hash = (hash ^ bytes[i]) * 1099511628211u; // FNV-1a
    }
    return hash;
}

sinew_status sn_frame_body_compute_springs(sinew_body *body) {
    sn_frame_model *model = body->model;
    if (!model->wants_springs) return SINEW_OK;
    sn_arena scratch = sn_arena_create(body->context);
    double *stiffness = sn_bsr_push_values(&scratch, &body->pattern);
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        sn_blend_request request = {.q = body->rest, .matrix = stiffness};
        sn_blend_evaluate(body->context, &model->nodes, &model->blend, &body->pattern, &request);
        status = model->springs ? sn_springs_compute(body->context, &model->nodes, &body->pattern, stiffness, model->springs)
                                : sn_springs_create(&model->arena, &model->nodes, &body->pattern, stiffness, &model->springs);
    }
    sn_arena_destroy(&scratch);
    return status;
}

sinew_status sn_frame_structure_build(sinew_body *body, const sinew_frame_node *nodes, int32_t count) {
    sn_frame_model *model = body->model;
    SN_ASSERT(count == model->shape->node_count + model->insertion_count);
    SN_TRY(build_nodes(body, nodes, count));
    SN_TRY(build_samples(body));
    sn_mass_source source = {model->shape, sn_frame_insertions(model), model->insertion_count, &model->mass_base,
                             &body->arena};
    SN_TRY(sn_frame_mass_create(&model->arena, &source, &model->nodes, model->mass_kind, &model->mass));
    body->coasts = sn_frame_coasts(&model->nodes, model->mass);
    SN_TRY(build_pattern(body));
    body->structure = hash_insertions(model);
    sn_blend_materials materials = {model->materials, model->material_count, model->material_labels, model->field};
    SN_TRY(
        sn_blend_create(&model->arena, &model->nodes, model->points, &materials, &body->pattern, model->dual, &model->blend));
    return sn_frame_body_compute_springs(body);
}

void sn_frame_structure_release(sn_frame_model *model) {
    if (model->points != model->samples) sn_samples_destroy(model->points);
    if (model->samples != model->base_samples) sn_samples_destroy(model->samples);
    model->points = model->samples = NULL;
    sn_arena_destroy(&model->arena);
}
