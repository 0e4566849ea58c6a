// The basis of a reduction: vibration modes and modal derivatives.
//
// In: a body of elements with its supports. Out: displacement fields U, orthonormal by mass.
//
// Linear modes solve K psi = omega^2 M psi; the six rigid ones of a free body are left out. A load
// K sum_i p_i psi_i causes the displacement
//
//   u(p) = sum_i p_i psi_i + 1/2 sum_ij p_i p_j phi_ij + O(p^3),     K phi_ij = f2(psi_i, psi_j)
//
// where f2 is the second derivative of the internal forces at rest. The phi_ij are the modal
// derivatives (Barbic and James 2005): what a body adds to its modes when it bends far. f2 comes
// from central differences of forces, so every law has it. There are many phi_ij, so modes and
// derivatives, each as long as loads make it (p_i falls as 1 / omega_i^2), are compressed to their
// principal components in the mass product. The basis is finally rotated so that the stiffness is
// diagonal in it.
//
// Cost: the modes, one factor of K, and for each pair of modes four evaluations of forces and one
// solve.
#include "reduced/reduction.h"

#include "linalg/dense.h"
#include "linalg/modes.h"
#include "linalg/vector.h"
#include "math/box.h"

#include <math.h>
#include <string.h>

enum { RIGID = 6 };

// Strain of the fields whose forces are differentiated: its square is the relative error, and the
// rounding of forces divided by it the other.
static const double difference_strain = 1e-3;

// The body at rest, and the vectors found so far.
typedef struct workshop {
    sinew_body *body;
    sn_arena *arena;
    int32_t length; // 3 nodes
    double *K;      // both triangles
    int32_t modes;  // linear ones
    int32_t rigid;  // fields that are not deformations, before the modes
    double *fields; // [rigid + modes][length]
    double *omega_squared;
    double *room; // [length]
} workshop;

static double *field_of(const workshop *w, int32_t i) {
    return w->fields + (size_t)i * (size_t)w->length;
}

static double dot(const workshop *w, const double *a, const double *b) {
    return sn_vector_dot(w->body->context, w->length, a, b);
}

static void add_scaled(const workshop *w, double *y, double s, const double *x) {
    for (int32_t i = 0; i < w->length; i++) {
        y[i] += s * x[i];
    }
}

// a' M b.
static double mass_product(const workshop *w, const double *a, const double *b) {
    sn_body_multiply_mass(w->body, w->room, b, w->body->rest);
    return dot(w, a, w->room);
}

// Takes away what `count` fields, orthonormal by mass, have of x. Twice, against cancellation.
static void remove_fields(const workshop *w, const double *fields, int32_t count, double *x) {
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < count; i++) {
            const double *field = fields + (size_t)i * (size_t)w->length;
            add_scaled(w, x, -mass_product(w, field, x), field);
        }
    }
}

static sinew_status push_stiffness(workshop *w) {
    w->K = sn_bsr_push_values(w->arena, &w->body->pattern);
    w->room = SN_PUSH(w->arena, double, w->length);
    SN_TRY(sn_arena_status(w->arena));

    sn_evaluation evaluation = {.q = w->body->rest, .matrix = w->K};
    w->body->ops->elasticity.evaluate(w->body, &evaluation);
    sn_bsr_mirror(w->body->context, &w->body->pattern, w->K);
    return SINEW_OK;
}

static bool is_held(const sinew_body *body) {
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        if (body->mask[i]) {
            return true;
        }
    }
    return false;
}

static sinew_status compute_modes(workshop *w) {
    sinew_body *body = w->body;
    int32_t count = w->rigid + w->modes;
    w->fields = SN_PUSH(w->arena, double, (size_t)count *(size_t)w->length);
    w->omega_squared = SN_PUSH(w->arena, double, count);
    SN_TRY(sn_arena_status(w->arena));

    sn_modes_report report;
    sn_modes_def def = {.pattern = &body->pattern,
                        .stiffness = w->K,
                        .lumped_mass = body->consistent_mass ? NULL : body->lumped_mass,
                        .consistent_mass = body->consistent_mass,
                        .mask = body->mask,
                        .count = count};
    SN_TRY(sn_modes_compute(body->context, &def, w->omega_squared, w->fields, &report));

    if (report.rigid != w->rigid) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "body \"%s\" has %d motions without stiffness; a reduced body must be one "
                       "piece, either free, with 6 of them, or held so that there is none",
                       body->name, report.rigid);
    }
    return SINEW_OK;
}

// The largest strain of a field: its differences along the edges of the elements.
static double find_strain(const workshop *w, const double *field) {
    const sinew_mesh *mesh = &w->body->mesh;
    int32_t width = sinew_element_node_count(mesh->element);
    double largest = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *nodes = mesh->indices + (size_t)e * (size_t)width;
        for (int32_t k = 1; k < width; k++) {
            size_t a = 3 * (size_t)nodes[0];
            size_t b = 3 * (size_t)nodes[k];
            double u = sn_distance(sn_load3(field + a), sn_load3(field + b));
            double X = sn_distance(sn_load3(mesh->points + a), sn_load3(mesh->points + b));
            largest = fmax(largest, u / X);
        }
    }
    return largest;
}

// force += s (forces at rest + t a + u b); `q` is scratch.
static void add_force_at(const workshop *w, double t, const double *a, double u, const double *b,
                         double s, double *q, double *force) {
    memset(w->room, 0, (size_t)w->length * sizeof(double));
    for (int32_t i = 0; i < w->length; i++) {
        q[i] = w->body->rest[i] + t * a[i] + u * b[i];
    }

    sn_evaluation evaluation = {.q = q, .force = w->room};
    w->body->ops->elasticity.evaluate(w->body, &evaluation);
    add_scaled(w, force, s, w->room);
}

// f2(a, b) = (f(c) - f(d) - f(-d) + f(-c)) / 4, c = a + b, d = a - b, for short a and b.
static void compute_second_force(const workshop *w, const double *a, const double *b, double *q,
                                 double *out) {
    double t = difference_strain / find_strain(w, a);
    double u = difference_strain / find_strain(w, b);
    double s = 0.25 / (t * u);

    memset(out, 0, (size_t)w->length * sizeof *out);
    add_force_at(w, t, a, u, b, s, q, out);
    add_force_at(w, -t, a, -u, b, s, q, out);
    add_force_at(w, t, a, -u, b, -s, q, out);
    add_force_at(w, -t, a, u, b, -s, q, out);
}

// K with supports, or with a little mass if the body is free: forces without resultants then see
// the stiffness alone.
static sinew_status prepare_solver(workshop *w, sn_solver **solver) {
    sinew_body *body = w->body;
    double *A = sn_bsr_push_values(w->arena, &body->pattern);
    SN_TRY(sn_arena_status(w->arena));

    sn_bsr_scale(body->context, &body->pattern, A, 1, w->K);
    if (w->rigid > 0) {
        sn_body_add_mass(body, &body->pattern, A, 1e-6 * w->omega_squared[w->rigid], body->rest);
    }
    sn_bsr_constrain(body->context, &body->pattern, A, body->mask);
    SN_TRY(sn_solver_create(body->context, SN_SOLVER_DIRECT, &body->pattern, solver));
    return sn_solver_update(*solver, A, NULL);
}

// phi_ij for all pairs i <= j, with what rigid motion they have taken away.
static sinew_status fill_derivatives(workshop *w, sn_solver *solver, double *derivatives) {
    double *force = SN_PUSH(w->arena, double, w->length);
    double *q = SN_PUSH(w->arena, double, w->length);
    SN_TRY(sn_arena_status(w->arena));

    double *phi = derivatives;
    for (int32_t i = 0; i < w->modes; i++) {
        for (int32_t j = i; j < w->modes; j++, phi += w->length) {
            compute_second_force(w, field_of(w, w->rigid + i), field_of(w, w->rigid + j), q, force);
            for (int32_t k = 0; k < w->length; k++) {
                force[k] = w->body->mask[k] ? 0 : force[k];
            }

            // Forces without resultant: M psi has the whole force and torque of a rigid field psi.
            for (int32_t k = 0; k < w->rigid; k++) {
                double share = dot(w, field_of(w, k), force);
                sn_body_multiply_mass(w->body, w->room, field_of(w, k), w->body->rest);
                add_scaled(w, force, -share, w->room);
            }

            sn_solve_report report;
            sn_solver_solve(solver, force, phi, 1e-10, 20, &report);
            if (report.outcome != SN_SOLVE_CONVERGED && report.outcome != SN_SOLVE_NOT_CONVERGED) {
                return sn_fail(w->body->context, SINEW_INVALID_DATA,
                               "the stiffness of body \"%s\" at rest is not positive definite",
                               w->body->name);
            }
            remove_fields(w, w->fields, w->rigid, phi);
        }
    }

    return SINEW_OK;
}

static sinew_status compute_derivatives(workshop *w, double **derivatives) {
    size_t pairs = (size_t)w->modes * (size_t)(w->modes + 1) / 2;
    *derivatives = SN_PUSH(w->arena, double, pairs *(size_t)w->length);
    SN_TRY(sn_arena_status(w->arena));

    sn_solver *solver = NULL;
    sinew_status status = prepare_solver(w, &solver);
    if (status == SINEW_OK) {
        status = fill_derivatives(w, solver, *derivatives);
    }
    sn_solver_destroy(solver);
    return status;
}

// The amplitude of the first mode at which its largest displacement is what the definition says.
static double find_reach(const workshop *w, double extent) {
    const double *field = field_of(w, w->rigid);
    double largest = 0;
    for (int32_t i = 0; i < w->body->rows; i++) {
        largest = fmax(largest, sn_length(sn_load3(field + 3 * (size_t)i)));
    }
    return extent * sn_box_diagonal(sn_box_of_points(w->body->rest, w->body->rows)) / largest;
}

// What loads make of the modes and of their derivatives, mode after mode and pair after pair, and
// the mass products of these.
static sinew_status push_snapshots(workshop *w, const double *derivatives, double reach,
                                   int32_t count, double **snapshots, double **gram) {
    size_t length = (size_t)w->length;
    *snapshots = SN_PUSH(w->arena, double, (size_t)count *length);
    *gram = SN_PUSH(w->arena, double, (size_t)count *(size_t)count);
    double *product = SN_PUSH(w->arena, double, length);
    SN_TRY(sn_arena_status(w->arena));

    const double *omega_squared = w->omega_squared + w->rigid;
    double *next = *snapshots;
    for (int32_t i = 0; i < w->modes; i++, next += length) {
        add_scaled(w, next, reach * omega_squared[0] / omega_squared[i], field_of(w, w->rigid + i));
    }
    for (int32_t i = 0; i < w->modes; i++) {
        for (int32_t j = i; j < w->modes; j++, next += length, derivatives += length) {
            double share = omega_squared[0] / omega_squared[i] * omega_squared[0];
            double factor = (i == j ? 0.5 : 1) * share / omega_squared[j];
            add_scaled(w, next, reach * reach * factor, derivatives);
        }
    }

    for (int32_t i = 0; i < count; i++) {
        sn_body_multiply_mass(w->body, product, *snapshots + (size_t)i * length, w->body->rest);
        for (int32_t j = 0; j <= i; j++) {
            (*gram)[(size_t)i * (size_t)count + (size_t)j] =
                dot(w, product, *snapshots + (size_t)j * length);
        }
    }
    return SINEW_OK;
}

// Fills U with the first principal components of modes and derivatives. Components without
// substance are left out: of a linear law all but the modes.
static sinew_status find_components(workshop *w, const double *derivatives, double reach,
                                    int32_t wanted, double *U, int32_t *size) {
    int32_t count = w->modes + w->modes * (w->modes + 1) / 2;
    double *snapshots, *gram;
    double *values = SN_PUSH(w->arena, double, 2 * (size_t)count);
    SN_TRY(push_snapshots(w, derivatives, reach, count, &snapshots, &gram));
    SN_TRY(sn_arena_status(w->arena));
    if (!sn_dense_symmetric_eigen(gram, count, count, values, values + count)) {
        return sn_fail(w->body->context, SINEW_INVALID_DATA,
                       "the modal derivatives of body \"%s\" are not finite", w->body->name);
    }

    // From the largest on; each is orthonormal to those before up to rounding, which is removed.
    *size = 0;
    for (int32_t c = count - 1; c >= 0 && *size < wanted; c--) {
        if (!(values[c] > 1e-20 * values[count - 1])) {
            break;
        }

        double *x = U + (size_t)*size * (size_t)w->length;
        memset(x, 0, (size_t)w->length * sizeof *x);
        for (int32_t i = 0; i < count; i++) {
            add_scaled(w, x, gram[(size_t)c * (size_t)count + (size_t)i] / sqrt(values[c]),
                       snapshots + (size_t)i * (size_t)w->length);
        }

        remove_fields(w, w->fields, w->rigid, x);
        remove_fields(w, U, *size, x);
        double norm = sqrt(mass_product(w, x, x));
        for (int32_t k = 0; k < w->length; k++) {
            x[k] /= norm;
        }
        *size += 1;
    }
    return SINEW_OK;
}

// Rotates the fields so that U' K U is diagonal. U becomes another array.
static sinew_status diagonalise(workshop *w, int32_t size, double **U, double *omega_squared) {
    size_t n = (size_t)size;
    double *reduced = SN_PUSH(w->arena, double, n *n);
    double *work = SN_PUSH(w->arena, double, n);
    double *rotated = SN_PUSH(w->arena, double, n *(size_t)w->length);
    SN_TRY(sn_arena_status(w->arena));

    for (int32_t k = 0; k < size; k++) {
        sn_bsr_multiply(w->body->context, &w->body->pattern, w->room, w->K,
                        *U + (size_t)k * (size_t)w->length);
        for (int32_t l = 0; l <= k; l++) {
            reduced[(size_t)k * n + (size_t)l] =
                dot(w, w->room, *U + (size_t)l * (size_t)w->length);
        }
    }
    if (!sn_dense_symmetric_eigen(reduced, size, size, omega_squared, work)) {
        return sn_fail(w->body->context, SINEW_INVALID_DATA,
                       "the stiffness of body \"%s\" is not finite", w->body->name);
    }

    for (int32_t k = 0; k < size; k++) {
        double *out = rotated + (size_t)k * (size_t)w->length;
        for (int32_t l = 0; l < size; l++) {
            add_scaled(w, out, reduced[(size_t)k * n + (size_t)l],
                       *U + (size_t)l * (size_t)w->length);
        }
    }
    *U = rotated;
    return SINEW_OK;
}

// Coordinates of `count` fields in the basis.
static void project(const workshop *w, const sn_reduced_basis *basis, const double *fields,
                    int32_t count, double *out) {
    for (int32_t i = 0; i < count; i++) {
        const double *field = fields + (size_t)i * (size_t)w->length;
        sn_body_multiply_mass(w->body, w->room, field, w->body->rest);
        for (int32_t k = 0; k < basis->size; k++) {
            out[(size_t)i * (size_t)basis->size + (size_t)k] =
                dot(w, w->room, basis->U + (size_t)k * (size_t)w->length);
        }
    }
}

sinew_status sn_reduced_basis_compute(sinew_body *body, const sinew_reduction_def *def,
                                      sn_arena *arena, sn_reduced_basis *basis) {
    bool derivatives = def->kind == SINEW_REDUCTION_DERIVATIVES;
    int32_t wanted = sn_reduction_size(def);
    workshop w = {.body = body,
                  .arena = arena,
                  .length = sn_body_size(body),
                  .modes = derivatives ? def->modes : wanted,
                  .rigid = is_held(body) ? 0 : RIGID};
    SN_TRY(push_stiffness(&w));
    SN_TRY(compute_modes(&w));

    // The modes alone, or the components of modes and derivatives.
    size_t length = (size_t)w.length;
    double *found = NULL;
    *basis = (sn_reduced_basis){.size = w.modes, .linear = w.modes, .free = w.rigid > 0};
    basis->U = SN_PUSH(arena, double, (size_t)wanted *length);
    SN_TRY(sn_arena_status(arena));
    basis->reach = find_reach(&w, def->extent);
    if (derivatives) {
        SN_TRY(compute_derivatives(&w, &found));
        SN_TRY(find_components(&w, found, basis->reach, wanted, basis->U, &basis->size));
    } else {
        memcpy(basis->U, field_of(&w, w.rigid), (size_t)w.modes * length * sizeof(double));
    }

    // Rows of three: what does not fill one goes.
    basis->size -= basis->size % 3;
    int32_t pairs = w.modes * (w.modes + 1) / 2;
    basis->omega_squared = SN_PUSH(arena, double, basis->size);
    basis->mode_squared = w.omega_squared + w.rigid;
    basis->linear_part = SN_PUSH(arena, double, w.modes * basis->size);
    basis->curve = derivatives ? SN_PUSH(arena, double, pairs * basis->size) : NULL;
    SN_TRY(sn_arena_status(arena));
    SN_TRY(diagonalise(&w, basis->size, &basis->U, basis->omega_squared));
    project(&w, basis, field_of(&w, w.rigid), w.modes, basis->linear_part);
    if (derivatives) {
        project(&w, basis, found, pairs, basis->curve);
    }
    return SINEW_OK;
}
