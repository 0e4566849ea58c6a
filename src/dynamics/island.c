// Building and evaluating an island. The build is linear in the number of matrix blocks; evaluation
// allocates nothing.
#include "dynamics/island.h"

#include "dynamics/constant.h"
#include "dynamics/contact.h"
#include "dynamics/coupling.h"
#include "dynamics/link.h"
#include "dynamics/position.h"
#include "linalg/vector.h"

#include <string.h>

static sinew_status push_vectors(sn_island *island) {
    double **vectors[] = {&island->xi,
                          &island->trial_xi,
                          &island->xi_inertia,
                          &island->velocity_offset,
                          &island->prescribed,
                          &island->external,
                          &island->force,
                          &island->inertia,
                          &island->inertia_offset,
                          &island->residual,
                          &island->direction,
                          &island->scratch,
                          &island->product,
                          &island->remote_x,
                          &island->remote_y};

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = SN_PUSH(&island->arena, double, sn_island_size(island));
    }

    island->mask = SN_PUSH(&island->arena, uint8_t, sn_island_size(island));

    // Solvers that use positions get them if every row is a point.
    bool points = true;
    for (int32_t i = 0; i < island->body_count; i++) {
        points = points && !island->bodies[i].body->ops->motion.retract;
    }

    if (points) {
        island->positions = SN_PUSH(&island->arena, double, sn_island_size(island));
    }

    return sn_arena_status(&island->arena);
}

static sinew_status push_bodies(sn_island *island, sinew_body **bodies, int32_t count) {
    island->bodies = SN_PUSH(&island->arena, sn_island_body, count);
    SN_TRY(sn_arena_status(&island->arena));
    island->body_count = count;
    island->has_energy = true;

    for (int32_t i = 0; i < count; i++) {
        sn_island_body *member = &island->bodies[i];
        member->body = bodies[i];
        member->pattern = &bodies[i]->pattern;
        member->first_row = island->rows;
        island->rows += bodies[i]->rows;
        island->has_energy = island->has_energy && bodies[i]->ops->elasticity.has_energy;
        member->trial_q = SN_PUSH(&island->arena, double, bodies[i]->config_count);
    }

    return sn_arena_status(&island->arena);
}

// Bodies without products are assembled as ever.
static sinew_status prepare_products(sn_island *island) {
    island->row_sets = SN_PUSH(&island->arena, int32_t, island->rows + 1);
    SN_TRY(sn_arena_status(&island->arena));
    for (int32_t i = 0; i < island->body_count; i++) {
        sn_island_body *member = &island->bodies[i];
        sinew_body *body = member->body;
        if (body->ops->products) {
            SN_TRY(body->ops->products->prepare(body, false, &member->local));
        }
        if (member->local) {
            member->pattern = &member->local->pattern;
        }

        int32_t sets = member->local ? member->local->set_count : body->rows;
        for (int32_t k = 0; k < sets; k++) {
            island->row_sets[island->row_set_count++] =
                member->first_row + (member->local ? member->local->set_starts[k] : k);
        }
    }

    island->row_sets[island->row_set_count] = island->rows;
    return SINEW_OK;
}

// Without inertia the matrix is ill-conditioned: where the choice is free, statics are solved
// directly.
static bool wants_products(const sn_island *island, bool is_static) {
    sinew_solver solver = sn_island_chosen_solver(island);
    if (solver != SINEW_SOLVER_AUTO || is_static) {
        return solver == SINEW_SOLVER_MATRIX_FREE;
    }

    // Contact couples most frames of a body, which a matrix of the whole body has room for.
    if (island->world->contact && island->world->contact->on) {
        return false;
    }

    for (int32_t i = 0; i < island->body_count; i++) {
        const sinew_body *body = island->bodies[i].body;
        if (!body->ops->products || !body->ops->products->are_preferred(body)) {
            return false;
        }
    }

    return true;
}

static sinew_status build(sn_island *island, sinew_body **bodies, int32_t count, bool is_static) {
    // Bodies, and whether their stiffness is multiplied without a matrix.
    SN_TRY(push_bodies(island, bodies, count));
    island->matrix_free = wants_products(island, is_static);
    if (island->matrix_free) {
        SN_TRY(prepare_products(island));
    }

    // What couples them.
    SN_TRY(push_vectors(island));
    SN_TRY(sn_coupling_collect_ties(island));
    SN_TRY(sn_links_collect(island));
    SN_TRY(sn_contact_island_create(island));

    // A single body without couplings shares its pattern and its matrix with the island.
    bool alone = count == 1 && island->tie_count == 0 && island->link_count == 0;
    bool touching = island->contact && island->contact->sets.count > 0;
    if (alone && !touching) {
        island->pattern = island->bodies[0].pattern;
    } else {
        SN_TRY(sn_coupling_build_pattern(island));
    }

    island->A = sn_bsr_push_values(&island->arena, island->pattern);
    for (int32_t i = 0; i < count; i++) {
        sn_island_body *member = &island->bodies[i];
        member->matrix = island->pattern == member->pattern
                             ? island->A
                             : sn_bsr_push_values(&island->arena, member->pattern);
    }

    SN_TRY(sn_arena_status(&island->arena));
    return sn_contact_island_finish(island);
}

sinew_solver sn_island_chosen_solver(const sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        if (island->bodies[i].body->solver != SINEW_SOLVER_AUTO) {
            return island->bodies[i].body->solver;
        }
    }
    return island->world->def.solver;
}

bool sn_island_is_current(const sn_island *island, bool is_static) {
    return island->position || island->matrix_free == wants_products(island, is_static);
}

sinew_status sn_island_create(sinew_world *world, sinew_body **bodies, int32_t count,
                              bool is_static, sn_island **out) {
    sn_arena arena = sn_arena_create(world->context);
    sn_island *island = SN_PUSH(&arena, sn_island, 1);

    SN_TRY(sn_arena_status(&arena));
    island->world = world;
    island->arena = arena;

    sinew_status status = build(island, bodies, count, is_static);
    if (status != SINEW_OK) {
        sn_island_destroy(island);
        return status;
    }

    *out = island;
    return SINEW_OK;
}

void sn_island_destroy(sn_island *island) {
    if (!island) {
        return;
    }
    sn_solver_destroy(island->solver);
    sn_constant_destroy(island);
    sn_contact_island_release(island);
    sn_position_release(island);
    sn_arena arena = island->arena; // the island lives in it
    sn_arena_destroy(&arena);
}

double sn_island_evaluate(sn_island *island, const double *xi, sn_island_want want) {
    double energy = 0;
    bool want_force = want >= SN_WANT_FORCE;
    bool want_stiffness = want >= SN_WANT_EXACT_STIFFNESS;
    if (want_force) {
        memset(island->force, 0, (size_t)sn_island_size(island) * sizeof *island->force);
    }

    for (int32_t i = 0; i < island->body_count; i++) {
        sn_island_body *member = &island->bodies[i];
        sinew_body *body = member->body;

        // Each body evaluates at q (+) xi, and adds to its own rows and matrix.
        sn_body_retract(body, member->trial_q, body->q, xi + 3 * member->first_row);
        sn_evaluation evaluation = {.q = member->trial_q,
                                    .want_energy = true,
                                    .projected = want == SN_WANT_PROJECTED_STIFFNESS,
                                    .recovering = *body->recovery > 0,
                                    .local = member->local != NULL};

        if (want_force) {
            evaluation.force = island->force + 3 * member->first_row;
        }

        if (want_stiffness) {
            sn_bsr_set_zero_lower(body->context, member->pattern, member->matrix);
            evaluation.matrix = member->matrix;
        }

        body->ops->elasticity.evaluate(body, &evaluation);
        energy += evaluation.energy;
    }

    return energy + sn_links_evaluate(island, want_force ? island->force : NULL);
}

void sn_island_keep_damping(sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        sn_island_body *member = &island->bodies[i];
        sinew_body *body = member->body;
        if (!member->damping || body->stiffness_damping == 0) {
            continue;
        }

        sn_bsr_scale(body->context, member->pattern, member->damping, body->stiffness_damping,
                     member->matrix);
        sn_bsr_mirror(body->context, member->pattern, member->damping);
        if (member->local) {
            body->ops->products->keep_tangent(body);
        }
    }
}

static sn_link_part link_part_of(sn_island_want want) {
    if (want == SN_WANT_ENERGY) {
        return SN_LINKS_HARD;
    }
    return want == SN_WANT_EXACT_STIFFNESS ? SN_LINKS_EXACT : SN_LINKS_PROJECTED;
}

bool sn_island_assemble(sn_island *island, sn_scheme scheme, sn_island_want want) {
    sinew_context *context = island->world->context;
    bool coupled = island->pattern == &island->own_pattern;
    if (coupled) {
        sn_bsr_set_zero_lower(context, island->pattern, island->A);
    }

    // What products without a matrix have to multiply.
    island->remote_stiffness = want != SN_WANT_ENERGY;
    island->remote_damping = scheme.e;
    for (int32_t i = 0; i < island->body_count; i++) {
        sn_island_body *member = &island->bodies[i];
        sinew_body *body = member->body;

        // A = K + e D + (c + alpha e) M
        if (member->damping && body->stiffness_damping > 0) {
            sn_bsr_add_scaled(context, member->pattern, member->matrix, scheme.e, member->damping);
        }

        double mass = scheme.c + scheme.e * body->mass_damping;
        if (mass > 0) {
            sn_body_add_mass(body, member->pattern, member->matrix, mass, body->q);
        }
        if (coupled) {
            sn_coupling_add_matrix(island, member);
        }
    }

    // Penalties are chosen by the stiffness around the links, which is known only now.
    bool chosen = sn_links_choose_penalties(island);
    sn_links_add_matrix(island, link_part_of(want));
    if (island->positions) {
        for (int32_t i = 0; i < island->body_count; i++) {
            const sn_island_body *member = &island->bodies[i];
            memcpy(island->positions + 3 * member->first_row, member->trial_q,
                   (size_t)sn_body_size(member->body) * sizeof(double));
        }
    }

    return chosen;
}

// out = M (a xi + b) + D (e xi + w), with a = c + alpha e and b = alpha w - c xi_inertia.
// xi may be NULL, which stands for zero.
static void compute_inertia(sn_island *island, sn_scheme scheme, const double *xi, double *out) {
    for (int32_t i = 0; i < island->body_count; i++) {
        sn_island_body *member = &island->bodies[i];
        sinew_body *body = member->body;
        int32_t first = 3 * member->first_row;
        int32_t count = sn_body_size(body);
        double *u = island->scratch + first;
        double alpha = body->mass_damping;
        const double *xi_inertia = island->xi_inertia + first;
        const double *w = island->velocity_offset + first;

        // M (a xi + b)
        for (int32_t k = 0; k < count; k++) {
            double step = xi ? xi[first + k] : 0;
            u[k] = scheme.c * (step - xi_inertia[k]) + alpha * (scheme.e * step + w[k]);
        }

        sn_body_multiply_mass(body, out + first, u, body->q);
        if (!member->damping || body->stiffness_damping == 0) {
            continue;
        }

        // D (e xi + w)
        double *product = island->product + first;
        for (int32_t k = 0; k < count; k++) {
            u[k] = scheme.e * (xi ? xi[first + k] : 0) + w[k];
        }

        if (island->uses_constant) {
            sn_constant_add_damping(island, u, product, out);
            continue;
        }

        sn_bsr_multiply(body->context, member->pattern, product, member->damping, u);
        sn_vector_add_scaled(body->context, count, out + first, 1, product);
        if (member->local) {
            body->ops->products->add_remote(body, body->stiffness_damping, true, out + first, u);
        }
    }
}

double sn_island_compute_inertia(sn_island *island, sn_scheme scheme, const double *xi) {
    sinew_context *context = island->world->context;
    if (scheme.c == 0) {
        return 0;
    }

    compute_inertia(island, scheme, xi, island->inertia);

    // Half of xi' (A xi + 2 b) for the affine force A xi + b.
    return 0.5 * (sn_vector_dot(context, sn_island_size(island), xi, island->inertia) +
                  sn_vector_dot(context, sn_island_size(island), xi, island->inertia_offset));
}

void sn_island_compute_inertia_offset(sn_island *island, sn_scheme scheme) {
    if (scheme.c == 0) {
        return;
    }
    compute_inertia(island, scheme, NULL, island->inertia_offset);
}

// From island->remote_x; the sums of tied rows are already where they belong.
static void add_remote_product(sn_island *island, double *y) {
    sn_island_expand(island, island->remote_x);
    memset(island->remote_y, 0, (size_t)sn_island_size(island) * sizeof(double));
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        sinew_body *body = member->body;
        if (!member->local) {
            continue;
        }

        // Stiffness, then damping with the tangent that was kept for it.
        double *to = island->remote_y + 3 * member->first_row;
        double damping = island->remote_damping * body->stiffness_damping;
        const double *from = island->remote_x + 3 * member->first_row;
        if (island->remote_stiffness) {
            body->ops->products->add_remote(body, 1, false, to, from);
        }
        if (member->damping && damping > 0) {
            body->ops->products->add_remote(body, damping, true, to, from);
        }
    }

    // Back to the free rows.
    sn_island_reduce(island, island->remote_y);
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        y[i] += island->mask[i] ? 0 : island->remote_y[i];
    }
}

void sn_island_add_remote_product(void *data, double *y, const double *x) {
    sn_island *island = data;
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        island->remote_x[i] = island->mask[i] ? 0 : x[i];
    }
    add_remote_product(island, y);
}

void sn_island_add_held_product(sn_island *island, double *y, const double *x) {
    if (!island->matrix_free) {
        return;
    }

    for (int32_t i = 0; i < sn_island_size(island); i++) {
        island->remote_x[i] = island->mask[i] == SN_MASK_HELD ? x[i] : 0;
    }

    add_remote_product(island, y);
}

void sn_island_reduce(const sn_island *island, double *vector) {
    for (int32_t i = 0; i < island->tie_count; i++) {
        const sn_tie *tie = &island->ties[i];
        sn_vec3 value = sn_load3(vector + 3 * tie->row);
        for (int32_t k = 0; k < tie->point.count; k++) {
            sn_add_to3(vector + 3 * tie->point.row[k], sn_scale(tie->point.weight[k], value));
        }
        sn_store3(vector + 3 * tie->row, sn_v3(0, 0, 0));
    }
}

void sn_island_expand(const sn_island *island, double *vector) {
    for (int32_t i = 0; i < island->tie_count; i++) {
        const sn_tie *tie = &island->ties[i];
        sn_vec3 value = {0, 0, 0};
        for (int32_t k = 0; k < tie->point.count; k++) {
            value = sn_madd(value, tie->point.weight[k], sn_load3(vector + 3 * tie->point.row[k]));
        }
        sn_store3(vector + 3 * tie->row, value);
    }
}
