// Natural frequencies and shapes of a body: about its rest state, with its present supports; or
// about its present state, with contact and attachments.
//
// In contact, K is the matrix of a static solve that ends at the present state: elasticity where it
// is, touches that press as the penalties p n n', friction as its stiffness at zero slip, and
// attachments. Touches are thus a hundred times as stiff as what they press on, not rigid. Bodies
// that touch the body, or are attached to it, move along; those that K does not couple with it are
// left out.
#include "dynamics/contact_touch.h"
#include "dynamics/integrate.h"
#include "dynamics/world.h"

#include "linalg/modes.h"

#include <math.h>
#include <string.h>

static const double two_pi = 6.28318530717958647692;

// Stiffness and mass at rest. The mass is a matrix unless every row is a point with a mass of its
// own.
static sinew_status push_matrices(sinew_body *body, sn_arena *arena, sn_modes_def *def) {
    double *K = sn_bsr_push_values(arena, &body->pattern);
    double *M = sn_bsr_push_values(arena, &body->pattern);

    SN_TRY(sn_arena_status(arena));
    sn_evaluation evaluation = {.q = body->rest, .matrix = K};

    body->ops->elasticity.evaluate(body, &evaluation);
    sn_bsr_mirror(body->context, &body->pattern, K);
    def->stiffness = K;

    if (!body->ops->motion.add_mass && !body->consistent_mass) {
        def->lumped_mass = body->lumped_mass;
        return SINEW_OK;
    }

    sn_body_add_mass(body, &body->pattern, M, 1, body->rest);
    sn_bsr_mirror(body->context, &body->pattern, M);
    def->consistent_mass = M;

    return SINEW_OK;
}

// The motion of the surface's vertices in a mode given by rows, about the configuration `at`: the
// velocities that the surface would have at these rates.
static sinew_status move_surface(sinew_body *body, const double *at, const double *rows,
                                 sn_arena *arena, double *shape) {
    size_t configs = (size_t)body->config_count * sizeof(double);
    size_t rates = (size_t)sn_body_size(body) * sizeof(double);
    double *q = SN_PUSH(arena, double, body->config_count);
    double *v = SN_PUSH(arena, double, sn_body_size(body));
    SN_TRY(sn_arena_status(arena));

    memcpy(q, body->q, configs);
    memcpy(v, body->v, rates);
    memcpy(body->q, at, configs);
    memcpy(body->v, rows, rates);

    sinew_status status = body->ops->surface.measure(body, shape, NULL);
    memcpy(body->q, q, configs);
    memcpy(body->v, v, rates);

    return status;
}

// From omega^2 to Hz.
static void convert_frequencies(const sn_modes_report *report, int32_t count, double *frequencies) {
    for (int32_t i = 0; i < count; i++) {
        bool rigid = i < report->rigid || frequencies[i] < 0;
        frequencies[i] = rigid ? 0 : sqrt(frequencies[i]) / two_pi;
    }
}

static sinew_status compute(sinew_body *body, int32_t count, double *frequencies, double *shapes,
                            sn_arena *arena) {
    sn_modes_def def = {.pattern = &body->pattern, .mask = body->mask, .count = count};
    SN_TRY(push_matrices(body, arena, &def));

    // Rows are nodes only where there are elements.
    bool nodal = body->mesh.point_count > 0;
    size_t size = (size_t)sn_body_size(body);
    double *rows = shapes && nodal ? shapes : SN_PUSH(arena, double, (size_t)count *size);

    SN_TRY(sn_arena_status(arena));
    sn_modes_report report;

    SN_TRY(sn_modes_compute(body->context, &def, frequencies, rows, &report));
    if (shapes && !nodal) {
        for (int32_t i = 0; i < count; i++) {
            SN_TRY(move_surface(body, body->rest, rows + (size_t)i * size, arena,
                                shapes + 3 * (size_t)i * (size_t)body->surface->point_count));
        }
    }

    convert_frequencies(&report, count, frequencies);
    return SINEW_OK;
}

static sinew_status check_body(const sinew_body *body) {
    if (body->ops->stepping) {
        return sn_fail(
            body->context, SINEW_UNSUPPORTED,
            "body \"%s\" is under position dynamics: it has no stiffness, hence no modes",
            body->name);
    }
    return SINEW_OK;
}

// One mode less than there are free unknowns: Lanczos needs a vector more.
static sinew_status check_count(const sinew_body *body, const uint8_t *mask, int32_t size,
                                int32_t count) {
    int32_t free_count = 0;
    for (int32_t i = 0; i < size; i++) {
        free_count += !mask[i];
    }

    if (count < 1 || count >= free_count) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "%d modes of body \"%s\" were asked for; valid are 1 to %d", count,
                       body->name, free_count - 1);
    }
    return SINEW_OK;
}

sinew_status sinew_body_compute_modes(sinew_body *body, int32_t count, double *frequencies,
                                      double *shapes) {
    SN_NEED(NULL, body);
    SN_TRY(check_body(body));
    SN_TRY(check_count(body, body->mask, sn_body_size(body), count));

    sn_arena arena = sn_arena_create(body->context);
    sinew_status status = compute(body, count, frequencies, shapes, &arena);

    sn_arena_destroy(&arena);
    return status;
}

// --- about the present state

typedef struct present_modes {
    sinew_body *body;
    int32_t count;
    double *frequencies, *shapes;
} present_modes;

// Elasticity and attachments at the start configuration, and c times the mass.
static void assemble(sn_island *island, double c) {
    sn_island_evaluate(island, island->xi, SN_WANT_EXACT_STIFFNESS);
    sn_island_assemble(island, (sn_scheme){.c = c}, SN_WANT_EXACT_STIFFNESS);
}

// K, and M as the difference of the matrices with and without it.
static void assemble_pencil(sn_island *island, double *K, double *M) {
    sinew_context *context = island->world->context;
    size_t count = sn_bsr_value_count(island->pattern);
    assemble(island, 0);
    memcpy(M, island->A, count * sizeof(double));
    if (island->contact) {
        double potential;
        sn_contact_evaluate(island, island->force);
        sn_contact_choose_penalties(island, &potential);
        sn_contact_add_matrix(island);
    }
    memcpy(K, island->A, count * sizeof(double));

    // c such that both parts have about the same size.
    double stiffness = 0, mass = 0;
    for (int32_t row = 0; row < island->rows; row++) {
        const double *block = M + 9 * (size_t)island->pattern->diagonal[row];
        stiffness += block[0] + block[4] + block[8];
    }
    for (int32_t i = 0; i < island->body_count; i++) {
        sinew_measures measures;
        sinew_body_get_measures(island->bodies[i].body, &measures);
        mass += 3 * measures.mass;
    }
    double c = stiffness / mass;
    assemble(island, c);
    for (size_t i = 0; i < count; i++) {
        M[i] = (island->A[i] - M[i]) / c;
    }

    sn_bsr_mirror(context, island->pattern, K);
    sn_bsr_mirror(context, island->pattern, M);
}

static bool is_zero(const double *block) {
    for (int e = 0; e < 9; e++) {
        if (block[e] != 0) {
            return false;
        }
    }
    return true;
}

// Marks the members that K couples with marked ones. Whether there were any.
static bool mark_coupled(const sn_island *island, const double *K, const int32_t *member_of,
                         bool *coupled) {
    const sn_bsr *pattern = island->pattern;
    bool grows = false;
    for (int32_t row = 0; row < pattern->rows; row++) {
        if (!coupled[member_of[row]]) {
            continue;
        }
        for (int32_t b = pattern->starts[row]; b < pattern->starts[row + 1]; b++) {
            bool *other = &coupled[member_of[pattern->columns[b]]];
            if (!*other && !is_zero(K + 9 * (size_t)b)) {
                *other = grows = true;
            }
        }
    }
    return grows;
}

// Holds the bodies that K does not couple with the given one, directly or through others.
static sinew_status hold_others(const sn_island *island, const double *K, const sinew_body *body,
                                sn_arena *arena, uint8_t *mask) {
    int32_t *member_of = SN_PUSH(arena, int32_t, island->rows);
    bool *coupled = SN_PUSH(arena, bool, island->body_count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        coupled[i] = member->body == body;
        for (int32_t row = 0; row < sn_body_size(member->body) / 3; row++) {
            member_of[member->first_row + row] = i;
        }
    }

    bool grows = true;
    while (grows) {
        grows = mark_coupled(island, K, member_of, coupled);
    }

    for (int32_t row = 0; row < island->rows; row++) {
        if (!coupled[member_of[row]]) {
            memset(mask + 3 * (size_t)row, SN_MASK_HELD, 3);
        }
    }
    return SINEW_OK;
}

static const sn_island_body *find_member(const sn_island *island, const sinew_body *body) {
    const sn_island_body *member = island->bodies;
    while (member->body != body) {
        member++;
    }
    return member;
}

// The parts of the shapes that belong to the body.
static sinew_status take_shapes(const sn_island *island, const present_modes *p, double *rows,
                                sn_arena *arena) {
    sinew_body *body = p->body;
    size_t first = 3 * (size_t)find_member(island, body)->first_row;
    size_t size = (size_t)sn_body_size(body);
    bool nodal = body->mesh.point_count > 0;
    for (int32_t i = 0; i < p->count; i++) {
        double *shape = rows + (size_t)i * (size_t)sn_island_size(island);
        sn_island_expand(island, shape);
        if (nodal) {
            memcpy(p->shapes + (size_t)i * size, shape + first, size * sizeof(double));
            continue;
        }
        SN_TRY(move_surface(body, body->q, shape + first, arena,
                            p->shapes + 3 * (size_t)i * (size_t)body->surface->point_count));
    }
    return SINEW_OK;
}

static sinew_status compute_island(sn_island *island, present_modes *p, sn_arena *arena) {
    size_t size = (size_t)sn_island_size(island);
    double *K = sn_bsr_push_values(arena, island->pattern);
    double *M = sn_bsr_push_values(arena, island->pattern);
    uint8_t *mask = SN_PUSH(arena, uint8_t, size);
    double *rows = SN_PUSH(arena, double, (size_t)p->count *size);
    SN_TRY(sn_arena_status(arena));

    // The system at the start configuration.
    memset(island->xi, 0, size * sizeof(double));
    memset(island->inertia, 0, size * sizeof(double));
    sn_newton_begin(island);
    assemble_pencil(island, K, M);
    memcpy(mask, island->mask, size);
    SN_TRY(hold_others(island, K, p->body, arena, mask));
    SN_TRY(check_count(p->body, mask, (int32_t)size, p->count));

    sn_modes_def def = {.pattern = island->pattern,
                        .mask = mask,
                        .count = p->count,
                        .stiffness = K,
                        .consistent_mass = M};
    sn_modes_report report;
    SN_TRY(sn_modes_compute(p->body->context, &def, p->frequencies, rows, &report));
    convert_frequencies(&report, p->count, p->frequencies);
    return p->shapes ? take_shapes(island, p, rows, arena) : SINEW_OK;
}

static sinew_status use_island(sn_island *island, void *user) {
    sn_arena arena = sn_arena_create(island->world->context);
    sinew_status status = compute_island(island, user, &arena);
    sn_arena_destroy(&arena);
    return status;
}

sinew_status sinew_body_compute_present_modes(sinew_body *body, int32_t count, double *frequencies,
                                              double *shapes) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, frequencies);
    SN_TRY(check_body(body));
    if (count < 1) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "%d modes of body \"%s\" were asked for; valid is at least 1", count,
                       body->name);
    }

    present_modes p = {body, count, frequencies, shapes};
    sinew_world *world = body->world;
    if (world->contact && world->contact->on) {
        return sn_contact_linearise(body, use_island, &p);
    }

    SN_TRY(sn_world_prepare(world, true));
    sn_island *island = sn_world_find_island(world, body);
    SN_TRY(sn_integrate_prepare(island, true));
    sn_integrate_gather(island);
    return use_island(island, &p);
}
