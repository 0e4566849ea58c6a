// The elastic body of elements: builds the samples of each element, grouped by material, with their
// rest gradients, and the mass; evaluates energy, forces and stiffness through sample groups.
#include "body/elastic.h"

#include "body/element_point.h"
#include "body/mass.h"
#include "body/recovery.h"
#include "body/sample_groups.h"
#include "body/surface.h"
#include "geom/mesh/mesh.h"
#include "interp/element.h"
#include "math/quat.h"

#include <string.h>

typedef struct elastic {
    sn_sample_groups groups;
    int32_t rule_samples;    // samples of one element
    int32_t *element_group;  // [element]
    int32_t *element_sample; // [element]: first of its samples in the group
    int32_t *order;          // the elements in the order of their samples, group after group
    sn_mat3 **frames;        // [group]: material axes of its samples; NULL: none, or no samples
    // The body was created with a rotation. For laws in which a rotation causes strain, the rotated
    // shape is the rest shape: their gradients and axes are rotated too.
    bool rotated;
    sn_mat3 rotation;
} elastic;

static void evaluate(sinew_body *body, sn_evaluation *evaluation) {
    const elastic *model = body->model;
    sn_groups_request request = {.controls = evaluation->q,
                                 .want_energy = evaluation->want_energy,
                                 .projected = evaluation->projected,
                                 .force = evaluation->force,
                                 .matrix = evaluation->matrix};
    sn_mat3 R;

    if (evaluation->recovering) {
        R = sn_recovery_rotation(&model->groups, body->q);
        request.recovery = &R;
    }

    // Samples, with their materials or the recovery energy.
    evaluation->energy += sn_sample_groups_evaluate(body->context, &model->groups, &request);
    bool tets = body->mesh.element == SINEW_ELEMENT_TET4;
    if (evaluation->matrix && tets) {
        sn_bsr_close_diagonal(body->context, &body->pattern, evaluation->matrix);
    }

    // Averaged dilatation adds its rank-one terms.
    if (!evaluation->matrix || evaluation->recovering) {
        return;
    }
    for (int32_t i = 0; i < model->groups.count; i++) {
        const sn_sample_group *group = &model->groups.items[i];
        if (sn_sample_group_averages(group)) {
            sn_dilatation_add_matrix(body->context, group->dilatation, &group->samples,
                                     &body->pattern, evaluation->projected, evaluation->matrix);
        }
    }
}

// Stress that is linear in the infinitesimal strain has a constant tangent; tension of fibres and
// stiffness against changes of volume do not.
static bool has_constant_stiffness(const elastic *model) {
    for (int32_t i = 0; i < model->groups.count; i++) {
        const sn_sample_group *group = &model->groups.items[i];
        bool linear = sn_material_strains_by_rotation(&group->def) && !group->dilatation;
        if (!linear || group->def.fibre_stress > 0 || group->def.volume_stiffness > 0) {
            return false;
        }
    }
    return true;
}

static bool add_constant_stiffness(sinew_body *body, double *matrix) {
    if (!has_constant_stiffness(body->model)) {
        return false;
    }
    if (matrix) {
        sn_evaluation evaluation = {.q = body->rest, .matrix = matrix, .projected = true};
        evaluate(body, &evaluation);
    }
    return true;
}

void sn_elastic_add_warped_force(sinew_body *body, const double *q, const sn_mat3 *rotations,
                                 double *force) {
    const elastic *model = body->model;
    sn_groups_request request = {.controls = q, .force = force, .rotations = rotations};
    sn_sample_groups_evaluate(body->context, &model->groups, &request);
}

// The block of samples that was evaluated last: neighbouring samples are mostly in the same one.
typedef struct loaded_block {
    int32_t group, index; // -1: none yet
    sn_block_state state;
} loaded_block;

// The state of the block that contains a sample of an element.
static const sn_block_state *load_block(const sinew_body *body, int32_t element, int32_t sample,
                                        loaded_block *block) {
    const elastic *model = body->model;
    int32_t group = model->element_group[element];
    int32_t index = sample / SN_BLOCK;
    if (block->group != group || block->index != index) {
        block->group = group;
        block->index = index;
        sn_sample_group_compute_block(&model->groups, group, index, body->q, &block->state);
    }

    return &block->state;
}

// Computes the states of `count` listed elements; the state of element e goes to states[e - first].
// If the elements are listed in the order of their samples, every block is evaluated only once.
static void compute_states(sinew_body *body, const int32_t *elements, int32_t count, int32_t first,
                           sinew_element_state *states) {
    const elastic *model = body->model;
    loaded_block block = {.group = -1, .index = -1};

    sn_sample_groups_update(body->context, &model->groups, body->q);

    for (int32_t i = 0; i < count; i++) {
        int32_t e = elements[i];
        const double *volume = model->groups.items[model->element_group[e]].samples.volume;
        sn_state_sum sum = {.volume = 0};

        for (int32_t s = 0; s < model->rule_samples; s++) {
            int32_t sample = model->element_sample[e] + s;
            const sn_block_state *state_of_block = load_block(body, e, sample, &block);
            sn_state_sum_add(&sum, state_of_block, sample % SN_BLOCK, volume[sample]);
        }

        sn_state_sum_finish(&sum, &states[e - first]);
    }
}

static void get_element_state(sinew_body *body, int32_t element, sinew_element_state *state) {
    compute_states(body, &element, 1, element, state);
}

// The stress of each sample, as the average over that sample alone.
static void compute_sample_stresses(sinew_body *body, double *stresses) {
    const elastic *model = body->model;
    loaded_block block = {.group = -1, .index = -1};

    sn_sample_groups_update(body->context, &model->groups, body->q);

    for (int32_t i = 0; i < body->mesh.element_count; i++) {
        int32_t e = model->order[i];
        for (int32_t s = 0; s < model->rule_samples; s++) {
            int32_t sample = model->element_sample[e] + s;
            const sn_block_state *state_of_block = load_block(body, e, sample, &block);
            sn_state_sum sum = {.volume = 0};
            sinew_element_state state;
            sn_state_sum_add(&sum, state_of_block, sample % SN_BLOCK, 1);
            sn_state_sum_finish(&sum, &state);
            size_t at = (size_t)e * (size_t)model->rule_samples + (size_t)s;
            memcpy(stresses + 6 * at, state.stress, sizeof state.stress);
        }
    }
}

static void compute_element_states(sinew_body *body, sinew_element_state *states) {
    const elastic *model = body->model;
    compute_states(body, model->order, body->mesh.element_count, 0, states);
}

// No recovery for linear bodies, which have only one minimum, and for laws that do not handle
// inversion.
static bool may_recover(const elastic *model) {
    for (int32_t i = 0; i < model->groups.count; i++) {
        const sinew_material_def *def = &model->groups.items[i].def;
        if (!def->inversion || def->strain == SINEW_STRAIN_INFINITESIMAL) {
            return false;
        }
    }

    return true;
}

static void measure_recovery(sinew_body *body, double *inverted, double *deviation) {
    const elastic *model = body->model;
    *inverted = *deviation = 0;
    if (!may_recover(model)) {
        return;
    }

    sn_recovery_state state = sn_recovery_measure(&model->groups, body->q);
    *inverted = state.inverted;
    *deviation = state.deviation;
}

static void measure(sinew_body *body, double *smallest_J, double *largest_J, double *volume) {
    const elastic *model = body->model;
    sn_sample_groups_measure(&model->groups, body->q, smallest_J, largest_J, volume);
}

static sinew_status build_mass(sinew_body *body, bool consistent) {
    const elastic *model = body->model;
    sn_arena scratch = sn_arena_create(body->context);
    double *density = SN_PUSH(&scratch, double, body->mesh.element_count);

    if (density) {
        for (int32_t e = 0; e < body->mesh.element_count; e++) {
            density[e] = model->groups.items[model->element_group[e]].def.density;
        }
    }

    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        status = sn_body_build_mass(body, density, consistent);
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status set_material(sinew_body *body, int32_t index,
                                 const sinew_material_def *material) {
    elastic *model = body->model;
    if (index < 0 || index >= model->groups.count) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "material %d of body \"%s\": there are %d", index, body->name,
                       model->groups.count);
    }

    // Changes that would need a new rest shape or a volume strain.
    bool now = sn_material_strains_by_rotation(&model->groups.items[index].def);
    if (model->rotated && sn_material_strains_by_rotation(material) != now) {
        return sn_fail(body->context, SINEW_UNSUPPORTED,
                       "material %d of body \"%s\": a body that was placed with a rotation cannot "
                       "change to or from the infinitesimal strain, whose rest shape is the placed "
                       "one; make the body again",
                       index, body->name);
    }

    if (model->groups.items[index].dilatation && material->law == SINEW_MATERIAL_CUSTOM) {
        return sn_fail(body->context, SINEW_UNSUPPORTED,
                       "material %d of body \"%s\": the dilatation of a custom law cannot be "
                       "averaged, as its volume strain is unknown",
                       index, body->name);
    }

    // A new density changes the mass.
    double density = model->groups.items[index].def.density;
    SN_TRY(sn_sample_group_set_material(&body->arena, &model->groups, index, material));
    if (material->density == density) {
        return SINEW_OK;
    }

    return build_mass(body, body->consistent_mass != NULL);
}

// The axes of a material as columns, made orthonormal to rounding error. Input with five digits
// suffices, because each Newton step squares the error.
static sn_mat3 sharpened_axes(const double *a) {
    sn_mat3 Q = sn_mat3_columns(sn_load3(a), sn_load3(a + 3), sn_load3(a + 6));
    for (int step = 0; step < 2; step++) {
        sn_mat3 X = sn_mat3_scale(-0.5, sn_mat3_mul(sn_mat3_transpose(Q), Q));
        for (int i = 0; i < 3; i++) {
            X.m[i][i] += 1.5;
        }
        Q = sn_mat3_mul(Q, X);
    }

    return Q;
}

// Whether the rest shape of a group is the rotated one.
static bool rests_rotated(const elastic *model, int32_t group) {
    return model->rotated && sn_material_strains_by_rotation(&model->groups.items[group].def);
}

// The axes of the samples of one element.
static void fill_axes(const elastic *model, int32_t group, const double *axes, int32_t samples,
                      sn_mat3 *frames) {
    sn_mat3 Q = sharpened_axes(axes);
    if (rests_rotated(model, group)) {
        Q = sn_mat3_mul(model->rotation, Q);
    }
    for (int32_t s = 0; s < samples; s++) {
        frames[s] = Q;
    }
}

// Replaces the axes of all samples.
static sinew_status set_axes(sinew_body *body, const double *axes) {
    elastic *model = body->model;
    sn_arena scratch = sn_arena_create(body->context);
    sinew_status status = SINEW_OK;

    for (int32_t i = 0; i < model->groups.count && status == SINEW_OK; i++) {
        sn_sample_group *group = &model->groups.items[i];
        if (group->samples.count == 0) {
            continue;
        }
        if (!model->frames[i]) {
            status = sn_fail(body->context, SINEW_UNSUPPORTED,
                             "body \"%s\" was made without material axes; give it some in its "
                             "definition",
                             body->name);
            break;
        }

        // All axes of the group first, because the old ones are needed to leave them.
        sn_arena_mark mark = sn_arena_get_mark(&scratch);
        sn_mat3 *frames = SN_PUSH(&scratch, sn_mat3, group->samples.count);
        status = sn_arena_status(&scratch);
        for (int32_t e = 0; e < body->mesh.element_count && status == SINEW_OK; e++) {
            if (model->element_group[e] == i) {
                fill_axes(model, i, axes + 9 * (size_t)e, model->rule_samples,
                          frames + model->element_sample[e]);
            }
        }
        if (status == SINEW_OK) {
            sn_sample_group_set_frames(&body->arena, group, model->frames[i], frames);
        }
        sn_arena_rewind(&scratch, mark);
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status set_fibre_stress(sinew_body *body, int32_t index, double stress) {
    elastic *model = body->model;
    if (index < 0 || index >= model->groups.count) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "material %d of body \"%s\": there are %d", index, body->name,
                       model->groups.count);
    }

    sn_sample_group_set_fibre_stress(&model->groups.items[index], stress);
    return SINEW_OK;
}

// Where F is constant in an element, the point has the element's state.
static void get_constant_state(sinew_body *body, const sn_point *point,
                               sinew_element_state *state) {
    const elastic *model = body->model;
    const sn_sample_group *group = &model->groups.items[model->element_group[point->element]];
    get_element_state(body, point->element, state);
    state->energy /= group->samples.volume[model->element_sample[point->element]];
}

static sinew_status get_point_state(sinew_body *body, const sn_point *point,
                                    sinew_element_state *state) {
    const elastic *model = body->model;
    if (model->rule_samples == 1) {
        get_constant_state(body, point, state);
        return SINEW_OK;
    }

    // The law of the element, with the axes of its material, at the F of the point.
    const sn_sample_group *group = &model->groups.items[model->element_group[point->element]];
    const sn_mat3 *axes = NULL;
    if (group->frames) {
        axes = &group->frames[model->element_sample[point->element]];
    }

    sn_mat3 F = sn_element_point_F(body, point);
    if (model->rotated && sn_material_strains_by_rotation(&group->def)) {
        F = sn_mat3_mul(F, sn_mat3_transpose(model->rotation));
    }
    sn_material_get_state(&group->def, axes, 1, F, body->context->isa, state);

    // The averaged part of the pressure is constant in the whole element.
    if (sn_sample_group_averages(group)) {
        sn_sample_groups_update(body->context, &model->groups, body->q);
        sn_dilatation_add_stress(group->dilatation, model->element_sample[point->element], F,
                                 state->stress);
    }
    return SINEW_OK;
}

static const sn_body_ops elastic_ops = {
    .elasticity =
        {
            .has_energy = true,
            .evaluate = evaluate,
            .add_constant_stiffness = add_constant_stiffness,
            .get_element_state = get_element_state,
            .compute_element_states = compute_element_states,
            .compute_sample_stresses = compute_sample_stresses,
            .measure = measure,
            .measure_recovery = measure_recovery,
            .set_material = set_material,
            .set_fibre_stress = set_fibre_stress,
            .set_axes = set_axes,
        },
    .points =
        {
            .create = sn_element_point_create,
            .move = sn_element_point_move,
            .add_force = sn_element_point_add_force,
            .get_state = get_point_state,
        },
    .surface =
        {
            .compute = sn_element_surface_compute,
            .get_jacobian = sn_element_surface_get_jacobian,
            .add_forces = sn_element_surface_add_forces,
            .measure = sn_element_surface_measure,
        },
};

const sn_sample_groups *sn_elastic_groups(const sinew_body *body) {
    if (body->ops != &elastic_ops) {
        return NULL;
    }
    return &((const elastic *)body->model)->groups;
}

// Assigns each element to the group whose label it has, or to the only group.
static sinew_status assign_groups(sinew_body *body, const sinew_body_def *def) {
    elastic *model = body->model;
    const sinew_mesh *mesh = &body->mesh;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        if (model->groups.count <= 1 || !def->material_labels) {
            continue;
        }

        int32_t label = mesh->labels ? mesh->labels[e] : 0;
        int32_t index = 0;
        while (index < model->groups.count && def->material_labels[index] != label) {
            index++;
        }

        if (index == model->groups.count) {
            return sn_fail(body->context, SINEW_INVALID_DATA,
                           "element %d of body \"%s\" has label %d, for which no material is given",
                           e, body->name, label);
        }

        model->element_group[e] = index;
    }

    return SINEW_OK;
}

// Computes controls, rest gradients and volumes of the samples of one element.
static void fill_element(const sinew_body *body, const sn_element_rule *rule, int32_t element,
                         int32_t first, int32_t *control, sn_vec3 *gradient, double *volume) {
    const sinew_mesh *mesh = &body->mesh;
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    size_t width = (size_t)rule->nodes;
    sn_vec3 rest[SN_ELEMENT_MAX_NODES];

    for (int32_t a = 0; a < rule->nodes; a++) {
        rest[a] = sn_mesh_point(mesh, nodes[a]);
    }

    for (int32_t s = 0; s < rule->samples; s++) {
        size_t sample = (size_t)(first + s);
        memcpy(control + sample * width, nodes, width * sizeof *nodes);
        volume[sample] =
            sn_element_gradients(gradient + sample * width, rule, s, mesh->element, rest);

        if (mesh->element == SINEW_ELEMENT_TRIANGLE) {
            volume[sample] *= body->thickness;
        }
    }
}

// Makes the samples of the listed elements of one group.
static sinew_status build_group(sinew_body *body, int32_t index, const int32_t *elements,
                                int32_t count, const sn_element_rule *rule, const double *axes,
                                sn_arena *scratch) {
    elastic *model = body->model;
    const sinew_mesh *mesh = &body->mesh;
    if (count == 0) {
        return SINEW_OK;
    }

    size_t samples = (size_t)count * (size_t)rule->samples;
    size_t width = (size_t)rule->nodes;
    int32_t *control = SN_PUSH(scratch, int32_t, samples * width);
    sn_vec3 *gradient = SN_PUSH(scratch, sn_vec3, samples * width);
    double *volume = SN_PUSH(scratch, double, samples);
    sn_mat3 *frames = axes ? SN_PUSH(&body->arena, sn_mat3, samples) : NULL;
    model->frames[index] = frames;

    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(&body->arena));

    // Gradients, volumes and material axes.
    int32_t next = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t e = elements[i];
        model->element_sample[e] = next;
        fill_element(body, rule, e, next, control, gradient, volume);
        if (axes) {
            fill_axes(model, index, axes + 9 * (size_t)e, rule->samples, frames + next);
        }
        next += rule->samples;
    }

    // Gradients with respect to the rotated rest shape.
    if (rests_rotated(model, index)) {
        for (size_t k = 0; k < samples * width; k++) {
            gradient[k] = sn_mat3_apply(model->rotation, gradient[k]);
        }
    }

    for (int32_t s = 0; s < next; s++) {
        body->rest_volume += volume[s];
    }

    model->groups.items[index].may_rotate =
        mesh->element != SINEW_ELEMENT_TRIANGLE; // F of a triangle stays in its plane

    sn_samples_input input = {.count = next,
                              .width = rule->nodes,
                              .plane = mesh->element == SINEW_ELEMENT_TRIANGLE,
                              .control = control,
                              .gradient = gradient,
                              .volume = volume,
                              .control_count = body->rows,
                              .tets = mesh->element == SINEW_ELEMENT_TET4};

    return sn_sample_group_fill(&body->arena, &model->groups.items[index], &input, &body->pattern,
                                frames, NULL);
}

static sinew_status push_model(sinew_body *body, const sinew_body_def *def) {
    elastic *model = SN_PUSH(&body->arena, elastic, 1);
    SN_TRY(sn_arena_status(&body->arena));
    body->model = model;
    body->ops = &elastic_ops;
    model->element_group = SN_PUSH(&body->arena, int32_t, body->mesh.element_count);
    model->element_sample = SN_PUSH(&body->arena, int32_t, body->mesh.element_count);
    model->order = SN_PUSH(&body->arena, int32_t, body->mesh.element_count);
    SN_TRY(sn_arena_status(&body->arena));

    sn_plane plane = SN_PLANE_NONE;
    if (body->mesh.element == SINEW_ELEMENT_TRIANGLE) {
        plane = def->plane == SINEW_PLANE_STRESS ? SN_PLANE_STRESS : SN_PLANE_STRAIN;
    }

    int32_t count = def->material_count > 0 ? def->material_count : 1;
    const sinew_material_def *materials = def->material_count > 0 ? def->materials : NULL;

    SN_TRY(sn_sample_groups_create(&body->arena, count, materials, plane, &model->groups));
    model->frames = SN_PUSH(&body->arena, sn_mat3 *, count);
    SN_TRY(sn_arena_status(&body->arena));
    return assign_groups(body, def);
}

static sinew_status build_groups(sinew_body *body, const sinew_body_def *def,
                                 const sn_element_rule *rule) {
    elastic *model = body->model;
    sn_arena scratch = sn_arena_create(body->context);

    // Along a Hilbert curve the elements of a chunk share most of their nodes, and with them the
    // matrix blocks they add to.
    sn_order curve;
    sinew_status status = sn_build_hilbert_order(&scratch, &body->mesh, &curve);

    int32_t first = 0, last = 0;
    for (int32_t i = 0; i < model->groups.count && status == SINEW_OK; i++, first = last) {
        for (int32_t k = 0; k < body->mesh.element_count; k++) {
            if (model->element_group[curve.elements[k]] == i) {
                model->order[last++] = curve.elements[k];
            }
        }
        sn_arena_mark mark = sn_arena_get_mark(&scratch);
        status = build_group(body, i, model->order + first, last - first, rule, def->material_axes,
                             &scratch);
        sn_arena_rewind(&scratch, mark);
    }
    sn_arena_destroy(&scratch);

    return status;
}

// Nodes of an element are coupled; with `nodal` averages so are all nodes around a node.
static sinew_status build_pattern(sinew_body *body, const sn_bsr_sets *elements, bool nodal) {
    if (!nodal) {
        return sn_bsr_build(&body->arena, body->rows, elements, 1, &body->pattern);
    }

    sn_arena scratch = sn_arena_create(body->context);
    sn_bsr ring;
    sinew_status status = sn_bsr_build(&scratch, body->rows, elements, 1, &ring);
    if (status == SINEW_OK) {
        sn_bsr_sets rings = {.count = body->rows, .offsets = ring.starts, .members = ring.columns};
        status = sn_bsr_build(&body->arena, body->rows, &rings, 1, &body->pattern);
    }
    sn_arena_destroy(&scratch);
    return status;
}

// Whether the dilatation of elements of a material is averaged. The ratios are those above which
// averaging is worth what it costs (docs/theory/elements.md).
static bool wants_averages(const sinew_body_def *def, const sinew_material_def *material,
                           sinew_element element) {
    bool sheet = element == SINEW_ELEMENT_TRIANGLE && def->plane == SINEW_PLANE_STRESS;
    if (sheet || def->model != SINEW_MODEL_ELASTIC || def->volume == SINEW_VOLUME_STANDARD) {
        return false; // a sheet does not lock
    }

    bool linear = element == SINEW_ELEMENT_TET4 || element == SINEW_ELEMENT_TRIANGLE;
    double most = linear ? 0.49 : 0.45;
    return def->volume == SINEW_VOLUME_AVERAGED ||
           sinew_material_get_poisson(material) > most + 1e-9;
}

sinew_status sn_elastic_build(sinew_body *body, const sinew_body_def *def) {
    SN_TRY(push_model(body, def));
    elastic *model = body->model;
    sn_element_rule rule;
    const double *r = def->rotation;

    // Warped stiffness handles rotations itself.
    model->rotated = def->model == SINEW_MODEL_ELASTIC && (r[0] != 0 || r[1] != 0 || r[2] != 0);
    model->rotation = sn_quat_to_mat3(sn_quat_normalize((sn_quat){r[0], r[1], r[2], r[3]}));

    sn_element_stiffness_rule(&rule, body->mesh.element);
    model->rule_samples = rule.samples;
    model->groups.warped = def->model != SINEW_MODEL_ELASTIC;

    sn_bsr_sets sets = {
        .count = body->mesh.element_count, .width = rule.nodes, .members = body->mesh.indices};

    bool averaged = false;
    for (int32_t i = 0; i < model->groups.count; i++) {
        averaged = averaged || wants_averages(def, &model->groups.items[i].def, body->mesh.element);
    }
    bool nodal = averaged && rule.samples == 1;

    SN_TRY(build_pattern(body, &sets, nodal));
    SN_TRY(build_groups(body, def, &rule));

    for (int32_t i = 0; i < model->groups.count; i++) {
        sn_sample_group *group = &model->groups.items[i];
        if (group->samples.count > 0 && wants_averages(def, &group->def, body->mesh.element)) {
            SN_TRY(sn_sample_group_average(&body->arena, group, rule.samples, nodal, body->rows));
        }
    }

    // Lumping loses the accuracy of quadratic elements, so they use the consistent mass by default.
    bool quadratic = body->mesh.element == SINEW_ELEMENT_TET10;
    bool consistent =
        def->mass == SINEW_MASS_CONSISTENT || (def->mass == SINEW_MASS_AUTO && quadratic);

    return build_mass(body, consistent);
}
