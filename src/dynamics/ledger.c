// The energy ledger of an island: kinetic and elastic energies at both ends of a step, the work
// that was done between them, and the comparison. ledger.h has the reasoning.
#include "dynamics/ledger.h"

#include "dynamics/contact_touch.h"
#include "dynamics/integrate.h"
#include "dynamics/link.h"

#include <math.h>
#include <string.h>

// Energy above this multiple of what work explains is an instability. Strikes by scripted supports,
// the worst that is legitimate, stay below one (tests/dynamics/test_ledger.c).
static const double margin = 10;

// Above this multiple the elastic energy at the end of the step is evaluated.
static const double suspicious = 2;

// ... and so it is where a linearised step accelerates nodes by this share of the body's size, and
// in every explicit step, whose forces say nothing about where it ends.
static const double long_jump = 0.05;

// In four sums, for one would wait for each addition.
static double dot(const double *a, const double *b, int32_t count) {
    double sum[4] = {0, 0, 0, 0};
    int32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += a[i + k] * b[i + k];
        }
    }
    for (; i < count; i++) {
        sum[0] += a[i] * b[i];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Of velocities in island->scratch, without held unknowns: their motion is prescribed, whatever it
// costs. Masses are as in member->trial_q or, at the start of the step, as in the body.
static double compute_kinetic(sn_island *island, bool at_end) {
    double sum = 0;
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        if (island->mask[i] == SN_MASK_HELD) {
            island->scratch[i] = 0;
        }
    }

    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        const double *v = island->scratch + 3 * member->first_row;
        double *momentum = island->product + 3 * member->first_row;
        const double *q = at_end ? member->trial_q : member->body->q;
        sn_body_multiply_mass(member->body, momentum, v, q);
        sum += 0.5 * dot(v, momentum, sn_body_size(member->body));
    }
    return sum;
}

static double compute_start_kinetic(sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        memcpy(island->scratch + 3 * member->first_row, member->body->v,
               (size_t)sn_body_size(member->body) * sizeof(double));
    }
    return compute_kinetic(island, false);
}

static double compute_end_kinetic(sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        sn_integrate_find_end(island, member, island->scratch + 3 * member->first_row);
    }
    return compute_kinetic(island, true);
}

// Whether forces are known where this step balances them, or only at its start.
static bool knows_balance(const sn_island *island) {
    return !island->integrator->is_explicit && !island->integrator->linearised;
}

// The work of supports: of this step where its balance is known, otherwise of the last one, whose
// end is where this one began.
static double compute_support_work(sn_island *island) {
    double sum = 0;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        const sinew_body *body = member->body;
        int32_t first = 3 * member->first_row;
        bool now = knows_balance(island);
        if (!now && *body->history < 1) {
            continue;
        }

        // Of this step xi is known; of the last one the displacement is q - previous_q.
        double *moved = now ? island->xi + first : island->scratch + first;
        const double *inertia = now ? island->inertia + first : body->inertia;
        const uint8_t *mask = island->mask + first;
        double share = now ? 1 / island->integrator->span : 1;
        if (!memchr(mask, SN_MASK_HELD, (size_t)sn_body_size(body))) {
            continue;
        }
        if (!now) {
            sn_body_difference(body, moved, body->q, body->previous_q);
        }

        // The reaction is what inertia needs beyond elastic and external forces.
        for (int32_t k = 0; k < sn_body_size(body); k++) {
            if (mask[k] == SN_MASK_HELD) {
                double reaction =
                    inertia[k] - island->force[first + k] - island->external[first + k];
                sum += share * reaction * moved[k];
            }
        }
    }
    return sum;
}

// The work of gravity, loads and user forces in this step. Gyroscopic terms, which stand among the
// external forces of bodies without free motion, change no energy: what they seem to do is an error
// of the step.
static double compute_external_work(sn_island *island) {
    double sum = dot(island->external, island->xi, sn_island_size(island));
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        sinew_body *body = member->body;
        if (!body->ops->motion.add_gravity || body->moves_freely) {
            continue;
        }

        const double nothing[3] = {0, 0, 0};
        double *gyroscopic = island->product + 3 * member->first_row;
        memset(gyroscopic, 0, (size_t)sn_body_size(body) * sizeof(double));
        body->ops->motion.add_gravity(body, gyroscopic, nothing, body->q, body->v);
        sum -= dot(gyroscopic, island->xi + 3 * member->first_row, sn_body_size(body));
    }
    return sum / island->integrator->span;
}

// What the present forces would do along the size of each body, for models without an energy.
static double estimate_elastic(const sn_island *island) {
    double sum = 0;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        double size = cbrt(member->body->rest_volume);
        for (int32_t k = 0; k < sn_body_size(member->body); k++) {
            sum += size * fabs(island->force[3 * member->first_row + k]);
        }
    }
    return sum;
}

// A motion by a millionth of the body's size in a step is harmless, whatever drives it.
static double compute_floor(sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        double v = 1e-6 * cbrt(member->body->rest_volume) / island->h;
        for (int32_t k = 0; k < sn_body_size(member->body); k++) {
            island->scratch[3 * member->first_row + k] = v;
        }
    }
    return compute_kinetic(island, false);
}

// What links do at most while they close the gaps that the step began with: hard ones, and springs
// where the elastic energy, which has their part otherwise, is not known.
static double compute_closing_work(sn_island *island) {
    if (island->hard_link_count == 0 && (island->has_energy || island->link_count == 0)) {
        return 0;
    }

    memset(island->scratch, 0, (size_t)sn_island_size(island) * sizeof(double));
    sn_links_compute_gaps(island, island->scratch, 1);

    double sum = 0;
    for (int32_t i = 0; i < island->link_count; i++) {
        const sn_link *link = &island->links[i];
        if (link->hard) {
            sum += sn_length(link->multiplier) * sn_length(link->gap);
        } else if (!island->has_energy) {
            sum += 0.5 * link->stiffness * sn_dot(link->gap, link->gap);
        }
    }
    return sum;
}

// The elastic energy at the end of a step that does not evaluate it, from what is known anyway:
// that of the linearised forces, with A xi = b an upper bound of what stiffness stores; or, by a
// parabola, from the energy at the start and the forces in the middle.
static double predict_elastic(const sn_island *island) {
    const sn_integrator *integrator = island->integrator;
    int32_t count = sn_island_size(island);
    if (!island->has_energy || integrator->is_explicit) {
        return island->energy_before;
    }

    double energy =
        island->energy_before - dot(island->force, island->xi, count) / integrator->span;
    return integrator->linearised ? energy + 0.5 * dot(island->residual, island->xi, count)
                                  : energy;
}

// Whether the elastic energy at the end cannot be predicted: an explicit step, or a linearised one
// that leaves the path of free motion so far that its prediction means little.
static bool jumps(const sn_island *island) {
    if (!island->integrator->linearised) {
        return island->integrator->is_explicit;
    }

    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        const double *xi = island->xi + 3 * member->first_row;
        const double *free = island->xi_inertia + 3 * member->first_row;
        double limit = long_jump * cbrt(member->body->rest_volume);
        double largest = 0;
        for (int32_t k = 0; k < sn_body_size(member->body); k++) {
            largest = fmax(largest, fabs(xi[k] - free[k]));
        }
        if (largest > limit) {
            return true;
        }
    }
    return false;
}

// The elastic energy at the end of the step, with the forces there; and the inertia of a linearised
// step, so that its support work can be found. The supports of an explicit step work against the
// forces alone, because the kinetic energy leaves out what is held.
static double evaluate_end(sn_island *island) {
    const sn_integrator *integrator = island->integrator;
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        island->product[i] = island->xi[i] / integrator->span;
    }

    double energy = sn_island_evaluate(island, island->product, SN_WANT_FORCE);
    if (integrator->linearised) {
        sn_scheme scheme = {integrator->c / (island->h * island->h), integrator->e / island->h};
        sn_island_compute_inertia(island, scheme, island->xi);
    }
    if (integrator->is_explicit) {
        memset(island->inertia, 0, (size_t)sn_island_size(island) * sizeof(double));
    }
    return energy;
}

static double compute_end_support_work(const sn_island *island) {
    double sum = 0;
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        if (island->mask[i] == SN_MASK_HELD) {
            sum += (island->inertia[i] - island->force[i] - island->external[i]) * island->xi[i];
        }
    }
    return fmax(0, sum);
}

// What the bodies of the island remember, and whether all of them do.
static bool recall(const sn_island *island, sn_ledger_entry *last, bool *changed) {
    bool begun = true;
    *last = (sn_ledger_entry){0, 0, 0, 0};
    *changed = false;

    for (int32_t i = 0; i < island->body_count; i++) {
        const sinew_body *body = island->bodies[i].body;
        const sn_body_ledger *ledger = body->ledger;
        begun = begun && ledger->state != SN_LEDGER_EMPTY &&
                (*body->history > 0 || ledger->state == SN_LEDGER_KEPT);
        *changed = *changed || ledger->state == SN_LEDGER_CHANGED || *body->recovery > 0;
        last->explained = fmax(last->explained, ledger->explained);
        last->kinetic = fmax(last->kinetic, ledger->kinetic);
        last->elastic = i == 0 || isnan(ledger->elastic) ? ledger->elastic
                                                         : fmax(last->elastic, ledger->elastic);
    }

    return begun;
}

// An elastic energy below zero is what fibres that contract have given away.
static double given_away(double elastic) {
    return elastic < 0 ? -elastic : 0;
}

// Evaluates the end of the step, adds what work could not be known before, and compares.
static bool check_exactly(sn_island *island, double start) {
    sn_ledger_entry *entry = &island->ledger;
    entry->explained += compute_closing_work(island);

    double end = evaluate_end(island);
    if (island->has_energy && !isfinite(end)) {
        return false;
    }
    if (island->has_energy) {
        entry->elastic = end;
        entry->explained = fmax(entry->explained, given_away(end));
    }
    if (!knows_balance(island)) {
        entry->explained += compute_end_support_work(island);
    }

    double energy = fmax(start, entry->kinetic + (island->has_energy ? fmax(0, end) : 0));
    entry->judged = energy;
    return energy <= margin * entry->explained ||
           energy <= margin * (entry->explained + compute_floor(island));
}

bool sn_ledger_check(sn_island *island) {
    sn_ledger_entry last;
    bool changed;
    bool begun = recall(island, &last, &changed);
    bool now = knows_balance(island);
    bool ends_known = now && island->integrator->span == 1;
    double before = island->has_energy ? island->energy_before : 0;
    double explained = last.explained;

    // What the step begins with.
    if (!begun) {
        last.kinetic = compute_start_kinetic(island);
        explained = last.kinetic + (island->has_energy ? fabs(before) : estimate_elastic(island));
    }
    if (begun && changed) {
        explained = isnan(last.elastic) ? fmax(explained, last.kinetic + fabs(before))
                                        : explained + fmax(0, before - last.elastic);
    }

    // The work that is known now.
    if (now || begun) {
        explained += fmax(0, compute_support_work(island));
    }
    explained = fmax(explained, given_away(before));
    double start = begun && !changed ? last.kinetic + fmax(0, before) : 0;
    explained += fmax(0, compute_external_work(island));

    if (island->contact) {
        explained += sn_contact_compute_work(island);
    }

    // What the step ends with.
    double kinetic = compute_end_kinetic(island);
    double elastic = !island->has_energy ? 0 : ends_known ? island->energy_after : NAN;
    island->ledger = (sn_ledger_entry){explained, kinetic, elastic, 0};

    double energy =
        fmax(start, kinetic + fmax(0, isnan(elastic) ? predict_elastic(island) : elastic));
    island->ledger.judged = energy;
    if (energy <= suspicious * explained && (ends_known || !(changed || jumps(island)))) {
        return true;
    }
    return check_exactly(island, start);
}

void sn_ledger_accept(sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        *island->bodies[i].body->ledger = (sn_body_ledger){
            .explained = island->ledger.explained,
            .kinetic = island->ledger.kinetic,
            .elastic = island->ledger.elastic,
            .state = SN_LEDGER_RUNNING,
        };
    }
}
