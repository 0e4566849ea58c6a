// The operations of a frame body: energy, forces, stiffness, mass, gravity, measures.
#include "frame/body/frame_body.h"

#include "frame/mass/mass.h"
#include "frame/body/follow.h"
#include "frame/body/product.h"
#include "frame/body/rigid.h"
#include "frame/body/surface.h"

#include <math.h>
#include <string.h>

sn_frame_model *sn_frame_model_of(const sinew_body *body) {
    return body->ops == &sn_frame_body_ops ? body->model : NULL;
}

const sn_nodes *sn_frame_nodes_of(const sinew_body *body) {
    bool has_nodes = body->ops == &sn_frame_body_ops || body->ops == &sn_rigid_body_ops;
    return has_nodes ? &((const sn_frame_model *)body->model)->nodes : NULL;
}

// Returns the index of a block: directly, if the row has all columns.
static int32_t find_slot(const sn_bsr *pattern, int32_t row, int32_t column) {
    bool full = pattern->diagonal[row] - pattern->starts[row] == row;
    return full ? pattern->starts[row] + column : sn_bsr_find(pattern, row, column);
}

// Adds the part of one control, that of a row: `Q` is its row of the matrix.
static void add_held_row(const sn_frame_model *model, int32_t control, int32_t row,
                         const sn_bsr *pattern, sn_evaluation *evaluation) {
    const double *Q = model->held.Q + (size_t)control * (size_t)model->held.controls;
    sn_vec3 start = sn_load3(evaluation->q + model->nodes.items[0].config);
    sn_vec3 sum = sn_v3(0, 0, 0);

    for (int32_t j = 0; j < model->shape->node_count; j++) {
        const sn_node *node = &model->nodes.items[j];
        if (node->kind == SINEW_NODE_RIGID) {
            continue;
        }

        for (int32_t c = 0; c < node->control_count; c++) {
            // Positions count relative to the first frame, so that translations cost nothing.
            double k = Q[node->control + c];
            sn_vec3 a = sn_load3(evaluation->q + node->config + 3 * c);
            sum = sn_madd(sum, k, c == 0 ? sn_sub(a, start) : a);
            if (!evaluation->matrix || node->row + c > row) {
                continue;
            }
            double *block = evaluation->matrix + 9 * (size_t)find_slot(pattern, row, node->row + c);
            for (int axis = 0; axis < 3; axis++) {
                block[4 * axis] += k;
            }
        }
    }

    evaluation->energy += 0.5 * model->held.compliance[control] * sn_dot(sum, sum);
    if (evaluation->force) {
        sn_add_to3(evaluation->force + 3 * row, sn_scale(-1, sum));
    }
}

// Adds the energy of the combinations of controls that are held, a'Q a / 2, as a sum of squares so
// that rounding is not mistaken for energy. It is 0 for affine motions, and rotations do not change
// it; nor do translations, which are subtracted before. Q is 0 for the controls of rigid nodes, and
// of the others each has its row.
static void add_held(const sinew_body *body, const sn_bsr *pattern, sn_evaluation *evaluation) {
    const sn_frame_model *model = body->model;
    for (int32_t i = 0; i < model->shape->node_count; i++) {
        const sn_node *node = &model->nodes.items[i];
        if (node->kind == SINEW_NODE_RIGID) {
            continue;
        }
        for (int32_t c = 0; c < node->control_count; c++) {
            add_held_row(model, node->control + c, node->row + c, pattern, evaluation);
        }
    }
}

static void evaluate(sinew_body *body, sn_evaluation *evaluation) {
    sn_frame_model *model = body->model;
    if (model->springs) {
        sn_springs_request springs = {evaluation->q, evaluation->projected, evaluation->force,
                                      evaluation->matrix};
        evaluation->energy += model->springs->evaluate(&model->nodes, model->springs, &springs);
        sn_face_supports_evaluate(body, &body->pattern, evaluation);
        return;
    }

    // Steps and snapshots set the age.
    sn_fade_refresh(&model->fade, &model->layers, *body->age);

    bool local = evaluation->local && evaluation->matrix;
    sn_blend_request request = {.q = evaluation->q,
                                .want_energy = evaluation->want_energy,
                                .projected = evaluation->projected,
                                .geometric = model->geometric,
                                .force = evaluation->force,
                                .matrix = evaluation->matrix,
                                .local = local};
    const sn_bsr *pattern = local ? sn_frame_local_pattern(model) : &body->pattern;

    evaluation->energy += sn_layers_evaluate(body->context, &model->layers, pattern, &request);
    sn_face_supports_evaluate(body, pattern, evaluation);
    if (local) {
        sn_frame_take_local(body, evaluation->matrix);
    }

    // After that: products leave it to the matrix.
    if (model->held.count > 0) {
        add_held(body, pattern, evaluation);
    }
}

static void retract(const sinew_body *body, double *q, const double *base, const double *xi) {
    const sn_frame_model *model = body->model;
    sn_nodes_retract(&model->nodes, q, base, xi);
}

static void translate(const sinew_body *body, double *q, sn_vec3 by) {
    const sn_frame_model *model = body->model;
    sn_nodes_translate(&model->nodes, q, by);
}

static void difference(const sinew_body *body, double *xi, const double *q, const double *base) {
    const sn_frame_model *model = body->model;
    sn_nodes_difference(&model->nodes, xi, q, base);
}

// Dual quaternions of two nodes rotated by 360 degrees relative to each other cancel somewhere
// between them.
static sinew_status check(sinew_body *body, const double *q) {
    const sn_frame_model *model = body->model;
    if (!model->dual) {
        return SINEW_OK;
    }

    sn_layers_prepare(&model->layers, q);
    const double *X = sn_layers_find_vanished(&model->layers);
    if (!X) {
        return SINEW_OK;
    }

    return sn_fail(body->context, SINEW_DIVERGED,
                   "frames of body \"%s\" would be turned by nearly 360 degrees against each "
                   "other: their dual quaternions "
                   "cancel at the rest point (%g, %g, %g) m. The state is as before; keep "
                   "neighbours below 340 degrees",
                   body->name, X[0], X[1], X[2]);
}

static void add_mass(sinew_body *body, const sn_bsr *pattern, double *matrix, double s,
                     const double *q) {
    const sn_frame_model *model = body->model;
    sn_frame_mass_add(&model->nodes, model->mass, pattern, matrix, s, q);
}

static void multiply_mass(sinew_body *body, double *y, const double *x, const double *q) {
    const sn_frame_model *model = body->model;
    sn_frame_mass_multiply(&model->nodes, model->mass, y, x, q);
}

static void add_gravity(sinew_body *body, double *force, const double *g, const double *q,
                        const double *v) {
    const sn_frame_model *model = body->model;
    sn_frame_mass_add_gravity(&model->nodes, model->mass, force, g, q, v,
                              body->moves_freely ? body->mask : NULL);
}

static void find_step(const sinew_body *body, double *xi, double h) {
    const sn_frame_model *model = body->model;
    sn_frame_free_motion(&model->nodes, model->mass, body->mask, body->q, body->v, h, xi);
}

static void find_bdf2_step(const sinew_body *body, double *xi, double *momentum, double h) {
    const sn_frame_model *model = body->model;
    sn_frame_free_motion_bdf2(&model->nodes, model->mass, body, h, xi, momentum);
}

static bool find_rigid_step(const sinew_body *body, double *xi, double h) {
    const sn_frame_model *model = body->model;
    return sn_frame_find_rigid_step(&model->nodes, model->mass, body->q, body->v, h, xi);
}

static void find_rigid_rotation(const sinew_body *body, double *a, const double *at,
                                const double *force) {
    const sn_frame_model *model = body->model;
    sn_frame_find_rigid_turn(&model->nodes, model->mass, body->q, at, force, a);
}

static void transport_velocity(const sinew_body *body, double *v, const double *from,
                               const double *mean) {
    const sn_frame_model *model = body->model;
    sn_frame_transport(&model->nodes, model->mass, body->mask, from, body->q, mean, v);
}

static void transport_acceleration(const sinew_body *body, double *a, const double *from) {
    const sn_frame_model *model = body->model;
    sn_frame_transport_acceleration(&model->nodes, model->mass, body->mask, from, body->q, a);
}

static void restore_rotation(sinew_body *body, const double *at, double h) {
    const sn_frame_model *model = body->model;
    sn_frame_restore_turn(&model->nodes, model->mass, body, at, h);
}

static void measure(sinew_body *body, double *smallest_J, double *largest_J, double *volume) {
    const sn_frame_model *model = body->model;
    sn_layers_measure(&model->layers, body->q, smallest_J, largest_J, volume);
}

static void add_momenta(sinew_body *body, const double *g, sinew_measures *measures) {
    const sn_frame_model *model = body->model;
    sn_frame_momenta momenta;
    sn_frame_mass_compute_momenta(&model->nodes, model->mass, body->q, body->v, &momenta);
    measures->mass += momenta.mass;
    measures->kinetic_energy += momenta.kinetic_energy;
    measures->gravity_energy -= sn_dot(sn_load3(g), sn_load3(momenta.first_moment));
    sn_add_to3(measures->momentum, sn_load3(momenta.momentum));
    sn_add_to3(measures->angular_momentum, sn_load3(momenta.angular_momentum));
}

sinew_status sn_frame_body_check_fibres(sinew_context *context, double stress) {
    if (stress == 0) {
        return SINEW_OK;
    }

    return sn_fail(
        context, SINEW_UNSUPPORTED,
        "springs between frames have no fibres: fibre_stress is %g Pa; leave it or the springs out",
        stress);
}

static sinew_status set_material(sinew_body *body, int32_t index,
                                 const sinew_material_def *material) {
    sn_frame_model *model = body->model;
    if (index < 0 || index >= model->material_count) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "material %d of body \"%s\": there are %d", index, body->name,
                       model->material_count);
    }

    if (model->wants_springs) {
        SN_TRY(sn_frame_body_check_fibres(body->context, material->fibre_stress));
    }

    SN_TRY(sn_layers_set_material(&model->layers, index, material));
    model->materials[index] = *material;
    return sn_frame_body_compute_springs(body);
}

static sinew_status set_fibre_stress(sinew_body *body, int32_t index, double stress) {
    sn_frame_model *model = body->model;
    if (index < 0 || index >= model->material_count) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "material %d of body \"%s\": there are %d", index, body->name,
                       model->material_count);
    }

    if (model->wants_springs) {
        SN_TRY(sn_frame_body_check_fibres(body->context, stress));
    }

    sn_layers_set_fibre_stress(&model->layers, index, stress);
    model->materials[index].fibre_stress = stress;
    return SINEW_OK;
}

static const sn_free_motion_ops free_motion = {
    .find_step = find_step,
    .find_bdf2_step = find_bdf2_step,
    .find_rigid_step = find_rigid_step,
    .find_rigid_rotation = find_rigid_rotation,
    .transport_velocity = transport_velocity,
    .transport_acceleration = transport_acceleration,
    .restore_rotation = restore_rotation,
};

static const sn_product_ops products = {
    .are_preferred = sn_frame_prefers_products,
    .prepare = sn_frame_prepare_products,
    .keep_tangent = sn_frame_keep_tangent,
    .add_remote = sn_frame_add_remote_product,
};

// Frame bodies and rigid bodies move alike.
#define FRAME_MOTION                                                                               \
    {                                                                                              \
        .retract = retract, .difference = difference, .translate = translate, .check = check,      \
        .settle = sn_frame_body_settle, .add_mass = add_mass, .multiply_mass = multiply_mass,      \
        .add_gravity = add_gravity, .add_momenta = add_momenta,                                    \
    }

const sn_body_ops sn_frame_body_ops = {
    .elasticity =
        {
            .has_energy = true,
            .evaluate = evaluate,
            .measure = measure,
            .set_material = set_material,
            .set_fibre_stress = set_fibre_stress,
        },
    .motion = FRAME_MOTION,
    .free_motion = &free_motion,
    .points =
        {
            .create = sn_frame_point_create,
            .prepare = sn_frame_points_prepare,
            .move = sn_frame_point_move,
            .add_force = sn_frame_point_add_force,
            .add_curvature = sn_frame_point_add_curvature,
            .get_state = sn_frame_point_get_state,
        },
    .surface =
        {
            .compute = sn_frame_surface_compute,
            .get_jacobian = sn_frame_surface_get_jacobian,
            .add_forces = sn_frame_surface_add_forces,
            .measure = sn_frame_surface_measure,
        },
    .products = &products,
    .release = sn_frame_body_release,
};

const sn_body_ops sn_rigid_body_ops = {
    .elasticity =
        {
            .has_energy = true,
            .evaluate = sn_rigid_evaluate,
            .measure = sn_rigid_measure,
            .set_material = sn_rigid_set_material,
        },
    .motion = FRAME_MOTION,
    .free_motion = &free_motion,
    .points =
        {
            .create = sn_rigid_point_create,
            .prepare = sn_frame_points_prepare,
            .move = sn_frame_point_move,
            .add_force = sn_frame_point_add_force,
            .add_curvature = sn_frame_point_add_curvature,
            .get_state = sn_rigid_point_get_state,
        },
    .surface =
        {
            .compute = sn_frame_surface_compute,
            .get_jacobian = sn_frame_surface_get_jacobian,
            .add_forces = sn_frame_surface_add_forces,
            .measure = sn_rigid_surface_measure,
        },
};

void sn_frame_body_release(sinew_body *body) {
    sn_frame_model *model = body->model;
    sn_face_supports_release(body);
    sn_fade_release(body->context, &model->fade);
    sn_layers_release(body->context, &model->layers);
    sn_vertex_patch_destroy(model->patch);
    sn_frame_surface_release(body);

    for (int32_t k = 0; k < model->insertion_count; k++) {
        sn_insertion_release(model->insertions[k]);
    }

    sn_arena_destroy(&model->arena);
    sn_arena_destroy(&model->reach_arena);
    sn_arena_destroy(&model->compliance_arena);
    if (model->base_samples) {
        sn_samples_destroy(model->base_samples);
    }
    if (model->shape) {
        sn_shape_destroy(model->shape);
    }

    sinew_voxels_destroy(model->own_voxels);
}
