// The public calls that read and change a body: positions, velocities, supports, forces, materials,
// damping, element states.
#include "body/body.h"

#include <math.h>
#include <string.h>

void sinew_body_set_user(sinew_body *body, void *user) {
    SN_NEED_OR(, body);
    body->user = user;
}

void *sinew_body_get_user(const sinew_body *body) {
    SN_NEED_OR(NULL, body);
    return body->user;
}

const char *sinew_body_get_name(const sinew_body *body) {
    SN_NEED_OR(NULL, body);
    return body->name;
}

int32_t sinew_body_get_node_count(const sinew_body *body) {
    SN_NEED_OR(0, body);
    return body->mesh.point_count;
}

int32_t sinew_body_get_element_count(const sinew_body *body) {
    SN_NEED_OR(0, body);
    return body->mesh.element_count;
}

const double *sinew_body_get_rest_positions(const sinew_body *body) {
    SN_NEED_OR(NULL, body);
    return body->mesh.points;
}

// Whether the rows are nodes of a mesh; frame bodies have none.
static bool has_nodes(const sinew_body *body) {
    return body->mesh.point_count > 0;
}

const double *sinew_body_get_positions(const sinew_body *body) {
    SN_NEED_OR(NULL, body);
    return has_nodes(body) ? body->q : NULL;
}

const double *sinew_body_get_velocities(const sinew_body *body) {
    SN_NEED_OR(NULL, body);
    return has_nodes(body) ? body->v : NULL;
}

static sinew_status check_has_nodes(const sinew_body *body, const char *what) {
    if (has_nodes(body)) {
        return SINEW_OK;
    }
    return sn_fail(body->context, SINEW_UNSUPPORTED,
                   "%s of nodes: body \"%s\" has frames instead of nodes; use the calls of "
                   "sinew/frame_body.h, or points and the surface",
                   what, body->name);
}

static sinew_status check_finite(const sinew_body *body, const char *what, const double *values,
                                 int32_t count) {
    if (!values && count > 0) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the array of numbers for the %s of body \"%s\" is NULL", what, body->name);
    }

    for (int32_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                           "%s of node %d of body \"%s\" is %g along %c; it must be finite", what,
                           i / 3, body->name, values[i], "xyz"[i % 3]);
        }
    }

    return SINEW_OK;
}

static sinew_status check_nodes(const sinew_body *body, const char *what, const int32_t *nodes,
                                int32_t count) {
    SN_TRY(check_has_nodes(body, what));
    if (count < 0 || (count > 0 && !nodes)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "%s of %d nodes of body \"%s\" need a list of them", what, count,
                       body->name);
    }

    for (int32_t i = 0; i < count; i++) {
        if (nodes[i] < 0 || nodes[i] >= body->rows) {
            return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                           "node %d (number %d of the list) of body \"%s\": nodes are 0 to %d",
                           nodes[i], i, body->name, body->rows - 1);
        }
    }

    return SINEW_OK;
}

sinew_status sinew_body_set_positions(sinew_body *body, const double *positions) {
    SN_NEED(NULL, body);

    SN_TRY(check_has_nodes(body, "positions"));
    SN_TRY(check_finite(body, "position", positions, sn_body_size(body)));

    size_t bytes = (size_t)sn_body_size(body) * sizeof(double);
    memcpy(body->q, positions, bytes);
    memcpy(body->target, positions, bytes);
    memcpy(body->balance_q, positions, bytes);
    *body->history = 0;
    sn_body_begin_recovery(body);

    return SINEW_OK;
}

sinew_status sinew_body_set_velocities(sinew_body *body, const double *velocities) {
    SN_NEED(NULL, body);
    SN_TRY(check_has_nodes(body, "velocities"));
    SN_TRY(check_finite(body, "velocity", velocities, sn_body_size(body)));
    memcpy(body->v, velocities, (size_t)sn_body_size(body) * sizeof(double));
    *body->history = 0;
    return SINEW_OK;
}

sinew_status sinew_body_fix_nodes(sinew_body *body, const int32_t *nodes, int32_t count,
                                  int32_t axes) {
    SN_NEED(NULL, body);

    SN_TRY(check_nodes(body, "supports", nodes, count));
    if (axes & ~SINEW_AXIS_ALL) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "axes are %d; valid are sums of 1 (x), 2 (y) and 4 (z)", axes);
    }

    for (int32_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            int32_t unknown = 3 * nodes[i] + k;
            // Triangle meshes never leave their plane: z stays fixed.
            bool plane = body->mesh.element == SINEW_ELEMENT_TRIANGLE &&
                         body->mesh.element_count > 0 && k == 2;
            body->mask[unknown] = plane || (axes >> k & 1);
            body->target[unknown] = body->q[unknown];
        }
    }

    return SINEW_OK;
}

sinew_status sinew_body_move_nodes(sinew_body *body, const int32_t *nodes, int32_t count,
                                   const double *targets) {
    SN_NEED(NULL, body);
    SN_TRY(check_nodes(body, "targets", nodes, count));
    SN_TRY(check_finite(body, "target", targets, 3 * count));
    for (int32_t i = 0; i < count; i++) {
        sn_store3(body->target + 3 * nodes[i], sn_load3(targets + 3 * i));
    }
    return SINEW_OK;
}

sinew_status sinew_body_set_forces(sinew_body *body, const int32_t *nodes, int32_t count,
                                   const double *forces) {
    SN_NEED(NULL, body);
    SN_TRY(check_nodes(body, "forces", nodes, count));
    SN_TRY(check_finite(body, "force", forces, 3 * count));
    for (int32_t i = 0; i < count; i++) {
        sn_store3(body->applied + 3 * nodes[i], sn_load3(forces + 3 * i));
    }
    return SINEW_OK;
}

sinew_status sinew_body_set_material(sinew_body *body, int32_t index,
                                     const sinew_material_def *material) {
    SN_NEED(NULL, body);
    SN_TRY(body->ops->elasticity.set_material(body, index, material));
    body->stiffness_version++;
    sn_body_note_energy_change(body);
    return SINEW_OK;
}

sinew_status sinew_body_set_fibre_stress(sinew_body *body, int32_t index, double stress) {
    SN_NEED(NULL, body);

    if (!(stress >= 0 && isfinite(stress))) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "fibre stress of body \"%s\" is %g Pa; it is at least 0", body->name,
                       stress);
    }

    if (!body->ops->elasticity.set_fibre_stress) {
        return sn_fail(body->context, SINEW_UNSUPPORTED, "the model of body \"%s\" has no fibres",
                       body->name);
    }

    SN_TRY(body->ops->elasticity.set_fibre_stress(body, index, stress));
    body->stiffness_version++;
    sn_body_note_energy_change(body);
    return SINEW_OK;
}

// Within what a file with seven digits gives.
sinew_status sn_check_material_axes(sinew_context *context, const double *axes, int32_t count) {
    for (int32_t e = 0; e < count; e++) {
        const double *a = axes + 9 * (size_t)e;
        sn_mat3 Q = sn_mat3_columns(sn_load3(a), sn_load3(a + 3), sn_load3(a + 6));
        sn_mat3 error = sn_mat3_sub(sn_mat3_mul(sn_mat3_transpose(Q), Q), sn_mat3_identity());

        if (!(sn_mat3_norm(error) < 1e-5)) {
            return sn_fail(context, SINEW_INVALID_DATA,
                           "the material axes of element %d are not orthonormal (off by %g)", e,
                           sn_mat3_norm(error));
        }
    }

    return SINEW_OK;
}

sinew_status sinew_body_set_material_axes(sinew_body *body, const double *axes) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, axes);

    if (!body->ops->elasticity.set_axes) {
        return sn_fail(body->context, SINEW_UNSUPPORTED,
                       "the axes of body \"%s\" cannot change: its model has no axes of its own",
                       body->name);
    }

    SN_TRY(sn_check_material_axes(body->context, axes, body->mesh.element_count));
    SN_TRY(body->ops->elasticity.set_axes(body, axes));
    body->stiffness_version++;
    sn_body_note_energy_change(body);
    return SINEW_OK;
}

sinew_status sinew_body_set_damping(sinew_body *body, double mass_damping,
                                    double stiffness_damping) {
    SN_NEED(NULL, body);

    if (!(mass_damping >= 0 && isfinite(mass_damping)) ||
        !(stiffness_damping >= 0 && isfinite(stiffness_damping))) {
        return sn_fail(
            body->context, SINEW_INVALID_ARGUMENT,
            "damping of body \"%s\" is %g 1/s and %g s; both must be finite and not negative",
            body->name, mass_damping, stiffness_damping);
    }

    body->mass_damping = mass_damping;
    body->stiffness_damping = stiffness_damping;

    return SINEW_OK;
}

sinew_status sn_check_solver(sinew_context *context, sinew_solver solver) {
    if ((int)solver >= 0 && solver <= SINEW_SOLVER_MATRIX_FREE) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "solver is %d; valid are 0 to %d", (int)solver,
                   (int)SINEW_SOLVER_MATRIX_FREE);
}

sinew_status sinew_body_set_solver(sinew_body *body, sinew_solver solver) {
    SN_NEED(NULL, body);
    SN_TRY(sn_check_solver(body->context, solver));
    body->solver = solver;
    return SINEW_OK;
}

sinew_solver sinew_body_get_solver(const sinew_body *body) {
    SN_NEED_OR(0, body);
    return body->solver;
}

sinew_status sinew_body_get_element_state(sinew_body *body, int32_t element,
                                          sinew_element_state *state) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, state);

    if (body->mesh.element_count == 0) {
        return sn_fail(body->context, SINEW_UNSUPPORTED,
                       "body \"%s\" has no elements; make a point and read its state", body->name);
    }

    if (element < 0 || element >= body->mesh.element_count) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "element %d of body \"%s\": elements are 0 to %d", element, body->name,
                       body->mesh.element_count - 1);
    }

    body->ops->elasticity.get_element_state(body, element, state);
    return SINEW_OK;
}

void sinew_body_compute_element_states(sinew_body *body, sinew_element_state *states) {
    SN_NEED_OR(, body && states);
    if (body->ops->elasticity.compute_element_states) {
        body->ops->elasticity.compute_element_states(body, states);
        return;
    }

    for (int32_t e = 0; e < body->mesh.element_count; e++) {
        body->ops->elasticity.get_element_state(body, e, &states[e]);
    }
}

void sinew_body_compute_elastic_forces(sinew_body *body, double *forces) {
    SN_NEED_OR(, body && forces);
    if (!has_nodes(body)) {
        return;
    }

    memset(forces, 0, (size_t)sn_body_size(body) * sizeof *forces);
    sn_evaluation evaluation = {.q = body->q, .force = forces};
    body->ops->elasticity.evaluate(body, &evaluation);
}
