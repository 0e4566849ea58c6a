// Position dynamics as a body of a world. The configuration q holds the nodes' positions, then the
// rotations of the rigid cores, so that a restored state continues bitwise. Which nodes are
// kinematic is part of the schedule, which is rebuilt in the first step after they changed.
#include "pbd/pbd_body.h"

#include "body/element_point.h"
#include "body/mass.h"
#include "body/surface.h"
#include "material/material.h"
#include "math/quat.h"
#include "pbd/pbd.h"

#include <math.h>
#include <string.h>

typedef struct pbd_model {
    sinew_pbd *pbd;
    sinew_pbd_def def;  // its arrays are ours
    uint8_t *kinematic; // what `pbd` was built with
    double *forces;     // external ones [N]
} pbd_model;

static sinew_pbd_material material_of(const pbd_model *model, int32_t tet) {
    return model->def.materials[model->def.tet_materials ? model->def.tet_materials[tet] : 0];
}

// The energy density psi = 1/2 sum_i k_i c_i^2 and its derivative with respect to F = G Q'. Zero
// for stiffnesses, which are not moduli.
static sn_mat3 compute_stress(const pbd_model *model, int32_t tet, sn_mat3 G, double *energy) {
    sn_mat3 P = {0};
    *energy = 0;
    if (model->def.mode == SINEW_PBD_STIFFNESS) {
        return P;
    }

    sinew_pbd_material material = material_of(model, tet);
    double c[SN_PBD_CONSTRAINTS];

    // psi and dpsi/dG, constraint by constraint.
    sn_pbd_values(c, G);
    for (int i = 0; i < SN_PBD_CONSTRAINTS; i++) {
        double k = i < 3 ? material.stretch[i] : i < 6 ? material.shear[i - 3] : material.volume;
        *energy += 0.5 * k * c[i] * c[i];
        if (i < 3 && c[i] <= -1) {
            continue; // an axis without length has no direction
        }
        P = sn_mat3_add(P, sn_mat3_scale(k * c[i], sn_pbd_value_gradient(i, G)));
    }

    if (!model->def.frames) {
        return P;
    }

    // P = dpsi/dG Q'
    sn_mat3 Q;
    memcpy(Q.m, model->def.frames + 9 * (size_t)tet, sizeof Q.m);

    return sn_mat3_mul(P, sn_mat3_transpose(Q));
}

static sn_mat3 gradient_of(const sinew_body *body, const pbd_model *model, int32_t tet,
                           const double *q) {
    sn_vec3 x[4];
    for (int k = 0; k < 4; k++) {
        x[k] = sn_load3(sn_at3(q, body->mesh.indices[4 * (size_t)tet + (size_t)k]));
    }
    return sn_pbd_gradient(x, model->pbd->rest[tet]);
}

// Only the energy: there are no forces between steps.
static void evaluate(sinew_body *body, sn_evaluation *evaluation) {
    SN_ASSERT(!evaluation->matrix);
    const pbd_model *model = body->model;
    if (!evaluation->want_energy) {
        return;
    }

    if (model->def.mode == SINEW_PBD_STIFFNESS) {
        evaluation->energy = NAN;
        return;
    }

    for (int32_t t = 0; t < body->mesh.element_count; t++) {
        double density;
        compute_stress(model, t, gradient_of(body, model, t, evaluation->q), &density);
        evaluation->energy += model->pbd->volumes[t] * density;
    }
}

static void get_element_state(sinew_body *body, int32_t element, sinew_element_state *state) {
    const pbd_model *model = body->model;
    sn_mat3 G = gradient_of(body, model, element, body->q);
    sn_mat3 F = G;

    if (model->def.frames) {
        sn_mat3 Q;
        memcpy(Q.m, model->def.frames + 9 * (size_t)element, sizeof Q.m);
        F = sn_mat3_mul(G, sn_mat3_transpose(Q));
    }

    // Green strain and Cauchy stress.
    static const int voigt[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};
    *state = (sinew_element_state){.J = sn_mat3_det(F)};
    memcpy(state->F, F.m, sizeof state->F);

    double density;
    sn_mat3 C = sn_mat3_mul(sn_mat3_transpose(F), F);
    sn_mat3 P = compute_stress(model, element, G, &density);
    sn_mat3 tau = sn_mat3_mul(P, sn_mat3_transpose(F));

    state->energy = density * model->pbd->volumes[element];
    for (int i = 0; i < 6; i++) {
        int a = voigt[i][0];
        int b = voigt[i][1];
        state->strain[i] = i < 3 ? 0.5 * (C.m[a][a] - 1) : C.m[a][b];
        if (state->J != 0) {
            state->stress[i] = tau.m[a][b] / state->J;
        }
    }

    state->von_mises = sn_von_mises(state->stress);
}

static void measure(sinew_body *body, double *smallest_J, double *largest_J, double *volume) {
    const pbd_model *model = body->model;
    *smallest_J = INFINITY;
    *largest_J = -INFINITY;
    *volume = 0;

    for (int32_t t = 0; t < body->mesh.element_count; t++) {
        double J = sn_mat3_det(gradient_of(body, model, t, body->q));
        *smallest_J = fmin(*smallest_J, J);
        *largest_J = fmax(*largest_J, J);
        *volume += J * model->pbd->volumes[t];
    }
}

static sinew_status set_material(sinew_body *body, int32_t index,
                                 const sinew_material_def *material) {
    (void)index;
    (void)material;
    return sn_fail(
        body->context, SINEW_UNSUPPORTED,
        "body \"%s\" is under position dynamics: it has constraints instead of a material",
        body->name);
}

// Rebuilds the solver if other nodes are held than before.
static sinew_status update_kinematic(sinew_body *body, pbd_model *model) {
    bool changed = !model->pbd;

    // Compare the held nodes with those the solver was built with.
    for (int32_t i = 0; i < body->rows; i++) {
        const uint8_t *mask = body->mask + 3 * (size_t)i;
        if (!mask[0] != !mask[1] || !mask[1] != !mask[2]) {
            return sn_fail(body->context, SINEW_UNSUPPORTED,
                           "node %d of body \"%s\" is held in some directions only; position "
                           "dynamics holds all or none",
                           i, body->name);
        }

        uint8_t held = mask[0] != 0;
        changed = changed || held != model->kinematic[i];
        model->kinematic[i] = held;
    }

    if (!changed) {
        return SINEW_OK;
    }

    // Build the new solver before the old one is destroyed.
    sinew_pbd *pbd = NULL;
    sinew_status status = sinew_pbd_create(body->context, &body->mesh, &model->def, &pbd);
    if (status != SINEW_OK) {
        // Matches nothing, so that the next step tries again.
        memset(model->kinematic, 2, (size_t)body->rows);
        return status;
    }

    sinew_pbd_destroy(model->pbd);
    model->pbd = pbd;

    return SINEW_OK;
}

static sinew_status begin(sinew_body *body, const double *gravity, double h) {
    pbd_model *model = body->model;
    SN_TRY(update_kinematic(body, model));

    sinew_pbd *pbd = model->pbd;
    const double *rotations = body->q + sn_body_size(body);

    SN_TRY(sinew_pbd_set_state(pbd, body->q, body->v));
    for (int32_t i = 0; i < pbd->cores.count; i++) {
        const double *r = rotations + 4 * (size_t)i;
        pbd->cores.rotations[i] = (sn_quat){r[0], r[1], r[2], r[3]};
    }

    sn_body_compute_external(body, model->forces, gravity, false);
    sn_pbd_begin_step(pbd, h, body->target, model->forces);
    return SINEW_OK;
}

static int32_t get_round_count(const sinew_body *body) {
    const pbd_model *model = body->model;
    return model->def.iterations;
}

static void project(sinew_body *body, int32_t first, int32_t count, double h) {
    const pbd_model *model = body->model;
    sn_pbd_iterate(model->pbd, first, count, model->def.consolidating, h);
}

static sn_stepping_nodes get_nodes(const sinew_body *body) {
    const sinew_pbd *pbd = ((const pbd_model *)body->model)->pbd;
    return (sn_stepping_nodes){pbd->nodes, pbd->before, pbd->inverse_masses, pbd->mass_unit};
}

static sinew_status finish(sinew_body *body, double h) {
    const pbd_model *model = body->model;
    return sn_pbd_finish_step(model->pbd, h);
}

static void get_end(const sinew_body *body, double *q) {
    const pbd_model *model = body->model;
    double *rotations = q + sn_body_size(body);
    memcpy(q, body->q, (size_t)body->config_count * sizeof *q);
    sinew_pbd_get_positions(model->pbd, q);

    for (int32_t i = 0; i < model->pbd->cores.count; i++) {
        sn_quat r = model->pbd->cores.rotations[i];
        memcpy(rotations + 4 * (size_t)i, (double[4]){r.x, r.y, r.z, r.w}, 4 * sizeof *rotations);
    }
}

static void accept(sinew_body *body, const double *q) {
    const pbd_model *model = body->model;
    memcpy(body->q, q, (size_t)body->config_count * sizeof *q);
    sinew_pbd_get_velocities(model->pbd, body->v);
}

static void release(sinew_body *body) {
    const pbd_model *model = body->model;
    if (model) {
        sinew_pbd_destroy(model->pbd);
    }
}

static sinew_status get_point_state(sinew_body *body, const sn_point *point,
                                    sinew_element_state *state) {
    const pbd_model *model = body->model;
    get_element_state(body, point->element, state);
    state->energy /= model->pbd->volumes[point->element];
    return SINEW_OK;
}

static const sn_stepping_ops stepping = {
    .begin = begin,
    .get_round_count = get_round_count,
    .project = project,
    .get_nodes = get_nodes,
    .finish = finish,
    .get_end = get_end,
    .accept = accept,
};

static const sn_body_ops pbd_ops = {
    .elasticity =
        {
            .evaluate = evaluate,
            .get_element_state = get_element_state,
            .measure = measure,
            .set_material = set_material,
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
    .stepping = &stepping,
    .release = release,
};

const int32_t *sn_pbd_body_get_cores(const sinew_body *body) {
    return body->ops == &pbd_ops ? ((const pbd_model *)body->model)->def.cores : NULL;
}

static const void *copy(sn_arena *arena, const void *array, size_t count, size_t size) {
    if (!array) {
        return NULL;
    }

    void *own = sn_arena_push(arena, count, size);
    if (own) {
        memcpy(own, array, count * size);
    }

    return own;
}

// Copies the arrays that the definition borrows.
static sinew_status copy_def(sinew_body *body, pbd_model *model, const sinew_pbd_def *def) {
    size_t tets = (size_t)body->mesh.element_count;
    sinew_pbd_material standard = sinew_default_pbd_material();

    // Gravity arrives with the forces.
    model->def = *def;
    memset(model->def.gravity, 0, sizeof model->def.gravity);

    bool given = def->materials && def->material_count > 0;
    int32_t count = given ? def->material_count : 1;

    model->def.materials =
        copy(&body->arena, given ? def->materials : &standard, (size_t)count, sizeof standard);
    model->def.tet_materials =
        copy(&body->arena, def->tet_materials, tets, sizeof *def->tet_materials);
    model->def.frames = copy(&body->arena, def->frames, 9 * tets, sizeof *def->frames);
    model->def.cores = copy(&body->arena, def->cores, tets, sizeof *def->cores);
    model->kinematic = SN_PUSH(&body->arena, uint8_t, body->rows);
    model->forces = SN_PUSH(&body->arena, double, 3 * (size_t)body->rows);
    SN_TRY(sn_arena_status(&body->arena));
    model->def.material_count = count;
    model->def.kinematic = model->kinematic;

    return SINEW_OK;
}

static sinew_status build_mass(sinew_body *body, const pbd_model *model) {
    sn_arena scratch = sn_arena_create(body->context);
    double *density = SN_PUSH(&scratch, double, body->mesh.element_count);
    sinew_status status = sn_arena_status(&scratch);

    if (status == SINEW_OK) {
        for (int32_t t = 0; t < body->mesh.element_count; t++) {
            density[t] = material_of(model, t).density;
            body->rest_volume += model->pbd->volumes[t];
        }
        status = sn_body_build_mass(body, density, false);
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status check_def(const sinew_body *body, const sinew_pbd_def *def) {
    if (def->kinematic) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "body \"%s\": kinematic nodes of a body in a world are those that "
                       "sinew_body_fix_nodes holds",
                       body->name);
    }

    if (def->mode == SINEW_PBD_COMPLIANCE && (!def->materials || def->material_count < 1)) {
        return sn_fail(
            body->context, SINEW_INVALID_ARGUMENT,
            "body \"%s\": the compliance mode needs a material: there is no default modulus",
            body->name);
    }

    return SINEW_OK;
}

sinew_status sn_pbd_body_build(sinew_body *body, const sinew_pbd_def *def,
                               const double rotation[4]) {
    SN_TRY(check_def(body, def));
    pbd_model *model = SN_PUSH(&body->arena, pbd_model, 1);

    SN_TRY(sn_arena_status(&body->arena));
    body->model = model;
    body->ops = &pbd_ops;
    SN_TRY(copy_def(body, model, def));
    SN_TRY(sinew_pbd_create(body->context, &body->mesh, &model->def, &model->pbd));

    // No core is driven yet, so this is the largest number of them.
    int32_t cores = model->pbd->cores.count;
    body->config_count = 3 * body->rows + 4 * cores;
    SN_TRY(sn_body_allocate_state(body, &body->arena));

    // The cores start with the rotation of the placement.
    double length = 0;
    for (int k = 0; k < 4; k++) {
        length += rotation[k] * rotation[k];
    }

    for (int32_t i = 0; i < 4 * cores; i++) {
        body->q[3 * body->rows + i] = rotation[i % 4] / sqrt(length);
    }

    return build_mass(body, model);
}
