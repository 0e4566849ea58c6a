// A reduced body behind the operations of all bodies: elasticity by cubature, or linear with
// warped modes; rows that move a frame and coordinates. Mass and motion are in motion.c, points and
// surface in follow.c, the change from a body of elements in placement.c.
#include "reduced/model.h"

// Copies the tangent of the coordinates, a dense lower triangle, to the blocks of the rows.
static void add_tangent(const sinew_body *body, const double *tangent, double *matrix) {
    const sn_reduced_model *model = body->model;
    size_t size = (size_t)model->size;
    for (int32_t i = 0; i < model->size / 3; i++) {
        for (int32_t j = 0; j <= i; j++) {
            int32_t slot =
                sn_bsr_find(&body->pattern, SN_REDUCED_FRAME_ROWS + i, SN_REDUCED_FRAME_ROWS + j);
            double *block = matrix + 9 * (size_t)slot;
            for (size_t k = 0; k < 9; k++) {
                size_t a = 3 * (size_t)i + k / 3;
                size_t b = 3 * (size_t)j + k % 3;
                block[k] += a >= b ? tangent[a * size + b] : tangent[b * size + a];
            }
        }
    }
}

// W = 1/2 sum omega^2 y^2.
static void evaluate_linear(const sinew_body *body, sn_evaluation *evaluation) {
    const sn_reduced_model *model = body->model;
    const double *y = evaluation->q + SN_REDUCED_COORDINATES;
    for (int32_t k = 0; k < model->size; k++) {
        double stiffness = model->omega_squared[k];
        evaluation->energy += 0.5 * stiffness * y[k] * y[k];
        if (evaluation->force) {
            evaluation->force[3 * SN_REDUCED_FRAME_ROWS + k] -= stiffness * y[k];
        }
        if (evaluation->matrix) {
            int32_t row = SN_REDUCED_FRAME_ROWS + k / 3;
            evaluation->matrix[9 * (size_t)body->pattern.diagonal[row] + 4 * (size_t)(k % 3)] +=
                stiffness;
        }
    }
}

static void evaluate(sinew_body *body, sn_evaluation *evaluation) {
    sn_reduced_model *model = body->model;
    if (model->kind == SINEW_REDUCTION_WARPED) {
        evaluate_linear(body, evaluation);
        return;
    }

    sn_cubature_request request = {.y = evaluation->q + SN_REDUCED_COORDINATES,
                                   .want_energy = evaluation->want_energy,
                                   .projected = evaluation->projected};
    if (evaluation->force) {
        request.force = evaluation->force + 3 * SN_REDUCED_FRAME_ROWS;
    }
    if (evaluation->matrix) {
        request.tangent = model->tangent;
    }

    sn_cubature_evaluate(body->context, &model->cubature, &request);
    evaluation->energy += request.energy;
    if (evaluation->matrix) {
        add_tangent(body, model->tangent, evaluation->matrix);
    }
}

static void measure(sinew_body *body, double *smallest_J, double *largest_J, double *volume) {
    sn_reduced_model *model = body->model;
    sn_reduced_move_nodes(body, body->q, NULL);
    model->full.ops->elasticity.measure(&model->full, smallest_J, largest_J, volume);
}

static sinew_status set_material(sinew_body *body, int32_t index,
                                 const sinew_material_def *material) {
    sn_reduced_model *model = body->model;
    if (model->kind == SINEW_REDUCTION_WARPED) {
        return sn_fail(body->context, SINEW_UNSUPPORTED,
                       "body \"%s\" has warped modes: its stiffness is that of the modes and does "
                       "not follow from materials any more",
                       body->name);
    }

    SN_TRY(model->full.ops->elasticity.set_material(&model->full, index, material));
    sn_cubature_update_materials(&model->cubature);
    sn_reduced_inertia_fill(model);
    return SINEW_OK;
}

static sinew_status set_fibre_stress(sinew_body *body, int32_t index, double stress) {
    sn_reduced_model *model = body->model;
    if (model->kind == SINEW_REDUCTION_WARPED) {
        return sn_fail(body->context, SINEW_UNSUPPORTED,
                       "body \"%s\" has warped modes, which have no fibres", body->name);
    }

    SN_TRY(model->full.ops->elasticity.set_fibre_stress(&model->full, index, stress));
    sn_cubature_update_materials(&model->cubature);
    return SINEW_OK;
}

static void retract(const sinew_body *body, double *q, const double *base, const double *xi) {
    sn_quat rotation = sn_quat_mul(sn_quat_exp(sn_load3(xi)), sn_reduced_rotation(base));
    rotation = sn_quat_normalize(rotation); // keeps rounding from growing
    q[0] = rotation.x;
    q[1] = rotation.y;
    q[2] = rotation.z;
    q[3] = rotation.w;
    for (int32_t i = SN_REDUCED_TRANSLATION; i < body->config_count; i++) {
        q[i] = base[i] + xi[i - 1];
    }
}

static void difference(const sinew_body *body, double *xi, const double *q, const double *base) {
    sn_quat change =
        sn_quat_mul(sn_reduced_rotation(q), sn_quat_conjugate(sn_reduced_rotation(base)));
    sn_store3(xi, sn_quat_log(change));
    for (int32_t i = SN_REDUCED_TRANSLATION; i < body->config_count; i++) {
        xi[i - 1] = q[i] - base[i];
    }
}

static void translate(const sinew_body *body, double *q, sn_vec3 by) {
    (void)body;
    sn_add_to3(q + SN_REDUCED_TRANSLATION, by);
}

static void release(sinew_body *body) {
    sn_reduced_model *model = body->model;
    sn_arena_destroy(&model->full.arena);
}

const sn_body_ops sn_reduced_body_ops = {
    .elasticity =
        {
            .has_energy = true,
            .evaluate = evaluate,
            .measure = measure,
            .set_material = set_material,
            .set_fibre_stress = set_fibre_stress,
        },
    .motion =
        {
            .retract = retract,
            .difference = difference,
            .translate = translate,
            .add_mass = sn_reduced_add_mass,
            .multiply_mass = sn_reduced_multiply_mass,
            .add_gravity = sn_reduced_add_gravity,
            .add_momenta = sn_reduced_add_momenta,
        },
    .free_motion = &sn_reduced_free_motion,
    .points =
        {
            .create = sn_reduced_point_create,
            .prepare = sn_reduced_prepare,
            .move = sn_reduced_point_move,
            .add_force = sn_reduced_point_add_force,
            .add_curvature = sn_reduced_point_add_curvature,
            .get_state = sn_reduced_point_get_state,
        },
    .surface =
        {
            .compute = sn_reduced_surface_compute,
            .get_jacobian = sn_reduced_surface_get_jacobian,
            .add_forces = sn_reduced_surface_add_forces,
            .measure = sn_reduced_surface_measure,
        },
    .release = release,
};
