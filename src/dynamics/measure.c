// Energies, momenta, reactions: what can be asked of a world between steps.
#include "dynamics/contact_frames.h"
#include "dynamics/integrate.h"
#include "dynamics/world.h"

#include <math.h>
#include <string.h>

// Momentum-like sums of a body whose rows are points.
static void add_point_momenta(const sinew_body *body, const double *momentum_of_row,
                              const double *g, sinew_measures *measures) {
    for (int32_t i = 0; i < body->rows; i++) {
        sn_vec3 x = sn_load3(body->q + 3 * i);
        sn_vec3 p = sn_load3(momentum_of_row + 3 * i);
        sn_add_to3(measures->momentum, p);
        sn_add_to3(measures->angular_momentum, sn_cross(x, p));
        measures->kinetic_energy += 0.5 * sn_dot(sn_load3(body->v + 3 * i), p);
        measures->mass += body->row_mass[i];
        measures->gravity_energy -= body->row_mass[i] * sn_dot(sn_load3(g), x);
    }
}

void sinew_body_get_measures(sinew_body *body, sinew_measures *measures) {
    SN_NEED_OR(, body && measures);

    *measures = (sinew_measures){0};
    sn_evaluation evaluation = {.q = body->q, .want_energy = true};

    body->ops->elasticity.evaluate(body, &evaluation);
    measures->elastic_energy = evaluation.energy;
    body->ops->elasticity.measure(body, &measures->smallest_J, &measures->largest_J,
                                  &measures->volume);
    measures->rest_volume = body->rest_volume;

    const double *g = body->world->def.gravity;
    if (body->ops->motion.add_momenta) {
        body->ops->motion.add_momenta(body, g, measures);
    } else {
        sn_body_multiply_mass(body, body->scratch, body->v, body->q);
        add_point_momenta(body, body->scratch, g, measures);
    }
}

void sinew_world_get_measures(sinew_world *world, sinew_measures *total) {
    SN_NEED_OR(, world && total);

    *total = (sinew_measures){.smallest_J = INFINITY, .largest_J = -INFINITY};
    for (size_t i = 0; i < world->body_count; i++) {
        sinew_measures part;
        sinew_body_get_measures(world->bodies[i], &part);
        total->kinetic_energy += part.kinetic_energy;
        total->elastic_energy += part.elastic_energy;
        total->gravity_energy += part.gravity_energy;
        sn_add_to3(total->momentum, sn_load3(part.momentum));
        sn_add_to3(total->angular_momentum, sn_load3(part.angular_momentum));
        total->mass += part.mass;
        total->volume += part.volume;
        total->rest_volume += part.rest_volume;
        total->smallest_J = fmin(total->smallest_J, part.smallest_J);
        total->largest_J = fmax(total->largest_J, part.largest_J);
    }
}

void sn_body_compute_balance(sinew_body *body, double *forces) {
    int32_t count = sn_body_size(body);
    double *external = body->scratch;
    sn_body_compute_external(body, external, body->world->def.gravity, true);
    memset(forces, 0, (size_t)count * sizeof *forces);

    sn_evaluation evaluation = {.q = body->balance_q, .force = forces};
    body->ops->elasticity.evaluate(body, &evaluation);
    for (int32_t i = 0; i < count; i++) {
        forces[i] = body->inertia[i] - forces[i] - external[i];
    }
}

// A support carries what inertia needs and nothing else gives.
void sn_body_compute_reactions(sinew_body *body, double *forces) {
    int32_t count = sn_body_size(body);
    if (body->ops->stepping) { // positions are prescribed there, forces never computed
        memset(forces, 0, (size_t)count * sizeof *forces);
        return;
    }

    sn_body_compute_balance(body, forces);
    for (int32_t i = 0; i < count; i++) {
        if (!body->mask[i]) {
            forces[i] = 0;
        }
    }
}

void sinew_body_compute_reactions(sinew_body *body, double *forces) {
    SN_NEED_OR(, body && forces);
    if (body->mesh.point_count > 0) {
        sn_body_compute_reactions(body, forces);
    }
}

// The bodies' forces where the last step balanced them, in island->force; and what it balanced, in
// island->inertia.
static void gather_balance(sn_island *island) {
    memset(island->force, 0, (size_t)sn_island_size(island) * sizeof(double));
    for (int32_t i = 0; i < island->body_count; i++) {
        sinew_body *body = island->bodies[i].body;
        int32_t first = 3 * island->bodies[i].first_row;
        sn_evaluation evaluation = {.q = body->balance_q, .force = island->force + first};
        body->ops->elasticity.evaluate(body, &evaluation);
        memcpy(island->inertia + first, body->inertia, (size_t)sn_body_size(body) * sizeof(double));
    }
}

static bool has_changed(const sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        if (sn_contact_frames_have_changed(island->bodies[i].body)) {
            return true;
        }
    }
    return false;
}

static double compute_residual(sn_island *island) {
    int32_t count = sn_island_size(island);
    sn_integrate_gather(island);
    gather_balance(island);

    double scale = 0;
    for (int32_t i = 0; i < count; i++) {
        scale = fmax(scale, fmax(fabs(island->external[i]),
                                 fmax(fabs(island->force[i]), fabs(island->inertia[i]))));
        island->residual[i] = island->external[i] + island->force[i] - island->inertia[i];
    }

    sn_island_reduce(island, island->residual);
    double largest = 0;
    for (int32_t i = 0; i < count; i++) {
        largest = island->mask[i] ? largest : fmax(largest, fabs(island->residual[i]));
    }

    return scale > 0 ? largest / scale : 0;
}

sinew_status sinew_world_compute_residual(sinew_world *world, double *residual) {
    SN_NEED(NULL, world);

    if (!residual) {
        return sn_fail(world->context, SINEW_INVALID_ARGUMENT, "residual is NULL");
    }

    *residual = 0;
    if (sn_integrator_get(world->def.integrator, false)->is_explicit) {
        return SINEW_OK;
    }

    SN_TRY(sn_world_prepare(world, false));
    for (sn_island *island = world->islands; island; island = island->next) {
        if (!island->position && !has_changed(island)) {
            *residual = fmax(*residual, compute_residual(island));
        }
    }

    return SINEW_OK;
}
