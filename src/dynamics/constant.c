// The kept matrix of linear and warped bodies; see constant.h.
#include "dynamics/constant.h"

#include "base/clock.h"
#include "dynamics/contact_touch.h"
#include "dynamics/momentum.h"
#include "linalg/vector.h"

#include <string.h>

// Above this, about 55 000 tets, solves with a factor are no faster than conjugate gradients with a
// kept preconditioner, and take more memory.
enum { MOST_FACTORED_ROWS = 12000 };

struct sn_constant {
    sn_solver *solver;
    sn_solver_kind kind;      // as requested
    double *stiffness;        // K, both triangles
    double *matrix;           // A0 as it is, and
    double *constrained;      // with held unknowns eliminated, which the solver borrows
    sn_mat3 *axes;            // R at the start of the step
    const sn_mat3 *rotations; // of the body; NULL: a linear body

    // What A0 was built for.
    bool valid;
    sn_scheme scheme;
    double mass_damping, stiffness_damping;
    uint64_t version;
    uint8_t *mask;
};

static sn_solver_kind choose_solver(const sn_island *island, sn_solver_kind kind) {
    if (kind != SN_SOLVER_AUTO || island->rows > MOST_FACTORED_ROWS) {
        return kind;
    }
    return SN_SOLVER_DIRECT;
}

static bool is_constant(sinew_body *body) {
    return body->ops->elasticity.add_constant_stiffness &&
           body->ops->elasticity.add_constant_stiffness(body, NULL);
}

sinew_status sn_constant_create(sn_island *island, sn_solver_kind kind) {
    bool alone = island->body_count == 1 && island->link_count == 0 && island->tie_count == 0;
    if (!alone || island->matrix_free || !is_constant(island->bodies[0].body)) {
        return SINEW_OK;
    }

    // Room, on the first call.
    sn_constant *own = island->constant;
    if (!own) {
        own = SN_PUSH(&island->arena, sn_constant, 1);
        SN_TRY(sn_arena_status(&island->arena));
        *own = (sn_constant){
            .stiffness = sn_bsr_push_values(&island->arena, island->bodies[0].pattern),
            .matrix = sn_bsr_push_values(&island->arena, island->bodies[0].pattern),
            .constrained = sn_bsr_push_values(&island->arena, island->bodies[0].pattern),
            .axes = SN_PUSH(&island->arena, sn_mat3, island->rows),
            .mask = SN_PUSH(&island->arena, uint8_t, sn_island_size(island)),
        };
        SN_TRY(sn_arena_status(&island->arena));
        island->constant = own;
    }

    // The solver, again if another kind is requested.
    kind = choose_solver(island, kind);
    if (own->solver && own->kind == kind) {
        return SINEW_OK;
    }

    sn_solver_destroy(own->solver);
    own->solver = NULL;
    own->valid = false;
    own->kind = kind;
    return sn_solver_create(island->world->context, kind, island->bodies[0].pattern, &own->solver);
}

void sn_constant_destroy(sn_island *island) {
    if (island->constant) {
        sn_solver_destroy(island->constant->solver);
    }
}

// Axes of a row may rotate only if the row is held in all directions or in none.
static bool masks_whole_rows(const sn_island *island) {
    for (int32_t row = 0; row < island->rows; row++) {
        const uint8_t *mask = island->mask + 3 * (size_t)row;
        if (mask[0] != mask[1] || mask[0] != mask[2]) {
            return false;
        }
    }
    return true;
}

static bool is_current(const sn_island *island, const sn_constant *own, sn_scheme scheme) {
    const sinew_body *body = island->bodies[0].body;
    return own->valid && own->scheme.c == scheme.c && own->scheme.e == scheme.e &&
           own->mass_damping == body->mass_damping &&
           own->stiffness_damping == body->stiffness_damping &&
           own->version == body->stiffness_version &&
           memcmp(own->mask, island->mask, (size_t)sn_island_size(island)) == 0;
}

// Builds A0 = (c + e alpha) M + (1 + e beta) K and prepares the solver.
static sinew_status build(sn_island *island, sn_constant *own, sn_scheme scheme) {
    sinew_context *context = island->world->context;
    sinew_body *body = island->bodies[0].body;
    const sn_bsr *pattern = island->bodies[0].pattern;
    double stiffness = 1 + scheme.e * body->stiffness_damping;

    // K, then A0, then A0 without the held rows.
    sn_bsr_set_zero(context, pattern, own->stiffness);
    body->ops->elasticity.add_constant_stiffness(body, own->stiffness);
    sn_bsr_mirror(context, pattern, own->stiffness);

    sn_bsr_scale(context, pattern, own->matrix, stiffness, own->stiffness);
    sn_body_add_mass(body, pattern, own->matrix, scheme.c + scheme.e * body->mass_damping, body->q);
    sn_bsr_scale(context, pattern, own->constrained, 1, own->matrix);
    sn_bsr_constrain(context, pattern, own->constrained, island->mask);

    // Factorise, and note what A0 depends on.
    own->valid = false;
    SN_TRY(sn_solver_update(own->solver, own->constrained, body->rest));
    own->valid = true;
    own->scheme = scheme;
    own->mass_damping = body->mass_damping;
    own->stiffness_damping = body->stiffness_damping;
    own->version = body->stiffness_version;
    memcpy(own->mask, island->mask, (size_t)sn_island_size(island));

    return SINEW_OK;
}

sinew_status sn_constant_begin(sn_island *island, const sn_newton_def *def, bool *usable) {
    sn_constant *own = island->constant;
    *usable = false;
    if (!own || !(def->scheme.c > 0) || (island->contact && island->contact->touch_count > 0)) {
        return SINEW_OK;
    }

    sinew_body *body = island->bodies[0].body;
    if (!is_constant(body)) {
        return SINEW_OK;
    }
    bool rotates = body->ops->elasticity.get_rotations != NULL;
    if (rotates && !masks_whole_rows(island)) {
        return SINEW_OK;
    }

    own->rotations = rotates ? body->ops->elasticity.get_rotations(body) : NULL;
    *usable = true;
    return is_current(island, own, def->scheme) ? SINEW_OK : build(island, own, def->scheme);
}

// Rotates the rows of x into the axes that rotate with them; without axes they stay as they are.
static void enter_axes(int32_t rows, const sn_mat3 *axes, double *x) {
    if (!axes) {
        return;
    }

    for (int32_t i = 0; i < rows; i++) {
        sn_store3(x + 3 * i, sn_mat3_apply_transposed(axes[i], sn_load3(x + 3 * i)));
    }
}

// The other way.
static void leave_axes(int32_t rows, const sn_mat3 *axes, double *x) {
    if (!axes) {
        return;
    }

    for (int32_t i = 0; i < rows; i++) {
        sn_store3(x + 3 * i, sn_mat3_apply(axes[i], sn_load3(x + 3 * i)));
    }
}

sinew_status sn_constant_solve(sn_island *island, const sn_newton_def *def, bool moving,
                               sinew_step_report *report) {
    double begin = sn_seconds();
    sinew_context *context = island->world->context;
    sn_constant *own = island->constant;
    const sn_mat3 *axes = own->rotations ? own->axes : NULL;
    int32_t rows = island->rows;
    int32_t count = sn_island_size(island);
    double *rhs = island->scratch;
    double *direction = island->direction;

    // The right-hand side in the rotating axes, with what the motion of held unknowns adds.
    memcpy(rhs, island->residual, (size_t)count * sizeof *rhs);
    enter_axes(rows, axes, rhs);
    enter_axes(rows, axes, direction);
    if (moving) {
        sn_bsr_multiply_masked(context, island->bodies[0].pattern, island->product, own->matrix,
                               direction, island->mask);
        for (int32_t i = 0; i < count; i++) {
            rhs[i] = island->mask[i] ? direction[i] : rhs[i] - island->product[i];
        }
    }
    for (int32_t i = 0; i < count; i++) {
        direction[i] = island->mask[i] ? direction[i] : 0;
    }

    sn_solve_report solve;
    sn_solver_solve(own->solver, rhs, direction, def->solver_tolerance, def->solver_iterations,
                    &solve);
    if (solve.outcome == SN_SOLVE_CANCELLED) {
        return SINEW_CANCELLED;
    }
    sn_newton_take_solve(report, &solve, def->solver_tolerance);

    // Back, with held unknowns exactly where they are to be.
    leave_axes(rows, axes, direction);
    for (int32_t i = 0; i < count; i++) {
        if (island->mask[i]) {
            direction[i] = island->prescribed[i] - island->xi[i];
        }
    }
    sn_momentum_restore(island, def->scheme, sn_solver_is_direct(own->solver), def->linearised);

    report->solve_seconds += sn_seconds() - begin;
    return SINEW_OK;
}

void sn_constant_keep_axes(sn_island *island) {
    sn_constant *own = island->constant;
    if (own->rotations) {
        memcpy(own->axes, own->rotations, (size_t)island->rows * sizeof *own->axes);
    }
}

void sn_constant_add_damping(const sn_island *island, double *u, double *product, double *out) {
    const sn_constant *own = island->constant;
    const sinew_body *body = island->bodies[0].body;
    const sn_mat3 *axes = own->rotations ? own->axes : NULL;

    enter_axes(island->rows, axes, u);
    sn_bsr_multiply(body->context, island->bodies[0].pattern, product, own->stiffness, u);
    leave_axes(island->rows, axes, product);
    sn_vector_add_scaled(body->context, sn_island_size(island), out, body->stiffness_damping,
                         product);
}
