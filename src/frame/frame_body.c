// The operations of a frame body: energy, forces, stiffness, mass, gravity, measures.
#include "frame/frame_body.h"

#include <math.h>
#include <string.h>

sn_frame_model *sn_frame_model_of(const sinew_body *body) {
    return body->ops == &sn_frame_body_ops ? body->model : NULL;
}

static void evaluate(sinew_body *body, sn_evaluation *evaluation) {
    const sn_frame_model *model = body->model;
    sn_blend_request request = {evaluation->q,    evaluation->want_energy, evaluation->projected,
                                model->geometric, evaluation->force,       evaluation->matrix};
    evaluation->energy += sn_blend_evaluate(body->context, &model->nodes, &model->blend, &body->pattern, &request);
}

static void retract(const sinew_body *body, double *q, const double *base, const double *xi) {
    const sn_frame_model *model = body->model;
    sn_nodes_retract(&model->nodes, q, base, xi);
}

static void difference(const sinew_body *body, double *xi, const double *q, const double *base) {
    const sn_frame_model *model = body->model;
    sn_nodes_difference(&model->nodes, xi, q, base);
}

static void add_mass(sinew_body *body, double *matrix, double s, const double *q) {
    const sn_frame_model *model = body->model;
    sn_frame_mass_add(&model->nodes, model->mass, &body->pattern, matrix, s, q);
}

static void multiply_mass(sinew_body *body, double *y, const double *x, const double *q) {
    const sn_frame_model *model = body->model;
    sn_frame_mass_multiply(&model->nodes, model->mass, y, x, q);
}

static void add_gravity(sinew_body *body, double *force, const double *g, const double *q, const double *v) {
    const sn_frame_model *model = body->model;
    sn_frame_mass_add_gravity(&model->nodes, model->mass, force, g, q, v);
}

static void measure(sinew_body *body, double *smallest_J, double *largest_J, double *volume) {
    const sn_frame_model *model = body->model;
    sn_nodes_compute_controls(&model->nodes, body->q, model->blend.controls);
    sn_sample_groups_measure(&model->blend.groups, model->blend.controls, smallest_J, largest_J, volume);
}

// Linear momentum is the sum of the translations' rows of M v; angular momentum adds a x (M v) of every control's row, or the
// rotation's row itself.
static void add_momenta(sinew_body *body, const double *g, sinew_measures *measures) {
    const sn_frame_model *model = body->model;
    const double *controls = model->blend.controls;
    double *p = body->scratch;
    sn_nodes_compute_controls(&model->nodes, body->q, model->blend.controls);
    multiply_mass(body, p, body->v, body->q);
    for (int32_t i = 0; i < sn_body_size(body); i++) measures->kinetic_energy += 0.5 * body->v[i] * p[i];
    for (int32_t i = 0; i < model->nodes.count; i++) {
        const sn_node *node = &model->nodes.items[i];
        const sn_node_mass *mass = &model->mass[i];
        sn_add_to3(measures->momentum, sn_load3(p + 3 * sn_node_translation_row(node)));
        if (node->kind == SINEW_NODE_RIGID) sn_add_to3(measures->angular_momentum, sn_load3(p + 3 * node->row));
        measures->mass += mass->moment[0][0];
        for (int32_t c = 0; c < node->control_count; c++) {
            sn_vec3 a = sn_load3(controls + 3 * (node->control + c));
            measures->gravity_energy -= mass->moment[0][c] * sn_dot(sn_load3(g), a);
            if (sn_node_control_turns(node, c)) continue;
            sn_vec3 row = sn_load3(p + 3 * (node->row + sn_node_row_of_control(node, c)));
            sn_add_to3(measures->angular_momentum, sn_cross(a, row));
        }
    }
}

static sinew_status set_material(sinew_body *body, int32_t index, const sinew_material_def *material) {
    sn_frame_model *model = body->model;
    if (index < 0 || index >= model->material_count) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "material %d of body \"%s\": there are %d", index, body->name,
                       model->material_count);
    }
    for (int32_t i = 0; i < model->blend.groups.count; i++) {
        if (model->blend.group_material[i] != index) continue;
        SN_TRY(sn_sample_group_set_material(&body->arena, &model->blend.groups, i, material));
    }
    model->materials[index] = *material;
    return SINEW_OK;
}

const sn_body_ops sn_frame_body_ops = {
    .has_energy = true,
    .evaluate = evaluate,
    .retract = retract,
    .difference = difference,
    .add_mass = add_mass,
    .multiply_mass = multiply_mass,
    .add_gravity = add_gravity,
    .measure = measure,
    .add_momenta = add_momenta,
    .set_material = set_material,
    .release = sn_frame_body_release,
};

void sn_frame_body_release(sinew_body *body) {
    sn_frame_model *model = body->model;
    sinew_mesh_destroy(model->surface);
    if (model->samples) sn_samples_destroy(model->samples);
    if (model->shape) sn_shape_destroy(model->shape);
}

sn_vec3 sn_frame_point(const sn_nodes *nodes, const double *controls, sn_vec3 X, const int32_t *node, const double *weight,
                       int32_t count) {
    sn_vec3 x = {0, 0, 0};
    for (int32_t k = 0; k < count; k++) {
        const sn_node *n = &nodes->items[node[k]];
        double m[SN_NODE_MAX_CONTROLS];
        sn_node_monomials(n, X, m, NULL);
        for (int32_t c = 0; c < n->control_count; c++) {
            x = sn_madd(x, weight[k] * m[c], sn_load3(controls + 3 * (n->control + c)));
        }
    }
    return x;
}
