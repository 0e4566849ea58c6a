// The rows of the table in integrator.h, and what each of them needs. Every function is linear in
// the rows of one body.
#include "dynamics/integrator.h"

// xi_inertia of free motion: h v, or along the curved path of a body with free motion.
static void predict_free(const sinew_body *body, double h, double *xi_inertia) {
    if (body->moves_freely) {
        body->ops->free_motion->find_step(body, xi_inertia, h);
        return;
    }

    for (int32_t i = 0; i < sn_body_size(body); i++) {
        xi_inertia[i] = h * body->v[i];
    }
}

static void predict_euler(const sinew_body *body, double h, const sn_step_rows *rows) {
    predict_free(body, h, rows->xi_inertia);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        rows->w[i] = 0;
    }
}

static void predict_newmark(const sinew_body *body, double h, const sn_step_rows *rows) {
    predict_free(body, h, rows->xi_inertia);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        rows->xi_inertia[i] += 0.25 * h * h * body->acceleration[i];
        rows->w[i] = -body->v[i];
    }
}

static void predict_midpoint(const sinew_body *body, double h, const sn_step_rows *rows) {
    predict_free(body, h, rows->xi_inertia);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        rows->xi_inertia[i] *= 0.5;
        rows->w[i] = 0;
    }
}

static void predict_bdf2(const sinew_body *body, double h, const sn_step_rows *rows) {
    double *d = rows->xi;
    sn_body_difference(body, d, body->q, body->previous_q);
    if (body->moves_freely) {
        body->ops->free_motion->find_bdf2_step(body, rows->xi_inertia, body->scratch, h);
    }

    for (int32_t i = 0; i < sn_body_size(body); i++) {
        if (!body->moves_freely) {
            rows->xi_inertia[i] = d[i] / 3 + 2 * h / 9 * (4 * body->v[i] - body->previous_v[i]);
        }
        rows->w[i] = -d[i] / (2 * h);
    }
}

static void finish_implicit(const sn_integrator *integrator, sinew_body *body, double h,
                            const sn_step_rows *rows) {
    double c = integrator->c / (h * h);
    double e = integrator->e / h;

    for (int32_t i = 0; i < sn_body_size(body); i++) {
        body->acceleration[i] = c * (rows->xi[i] - rows->xi_inertia[i]);
        body->v[i] = e * rows->xi[i] + rows->w[i];
    }
}

// The end of the step is as far from its middle as the start.
static void finish_midpoint(const sn_integrator *integrator, sinew_body *body, double h,
                            const sn_step_rows *rows) {
    finish_implicit(integrator, body, h, rows);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        body->v[i] = 2 * body->v[i] - body->previous_v[i];
        rows->xi[i] *= 2;
    }
}

static void finish_explicit(const sn_integrator *integrator, sinew_body *body, double h,
                            const sn_step_rows *rows) {
    (void)integrator;
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        body->v[i] = rows->xi[i] / h;
        if (body->moves_freely) {
            body->acceleration[i] = rows->a[i];
        }
    }
}

static void begin_momentum(sinew_body *body, double h, double *room) {
    (void)h;
    (void)room;
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        body->scratch[i] = body->v[i];
    }
}

static void begin_newmark_momentum(sinew_body *body, double h, double *room) {
    (void)room;
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        body->scratch[i] = body->v[i] + 0.5 * h * body->acceleration[i];
    }
}

static void begin_bdf2_momentum(sinew_body *body, double h, double *room) {
    body->ops->free_motion->find_bdf2_step(body, room, body->scratch, h);
}

static const sn_integrator table[] = {
    [SINEW_INTEGRATOR_IMPLICIT_EULER] = {.linearised = true,
                                         .first = SINEW_INTEGRATOR_IMPLICIT_EULER,
                                         .c = 1,
                                         .e = 1,
                                         .span = 1,
                                         .predict = predict_euler,
                                         .finish = finish_implicit,
                                         .begin_momentum = begin_momentum,
                                         .mean_share = 1,
                                         .loses_rotation = true},
    [SINEW_INTEGRATOR_NEWTON_EULER] = {.first = SINEW_INTEGRATOR_NEWTON_EULER,
                                       .c = 1,
                                       .e = 1,
                                       .span = 1,
                                       .predict = predict_euler,
                                       .finish = finish_implicit,
                                       .begin_momentum = begin_momentum,
                                       .mean_share = 1,
                                       .loses_rotation = true},
    [SINEW_INTEGRATOR_SYMPLECTIC_EULER] = {.is_explicit = true,
                                           .contact_refusal =
                                               "the symplectic integrator is explicit, but "
                                               "contact is solved for",
                                           .first = SINEW_INTEGRATOR_SYMPLECTIC_EULER,
                                           .c = 1,
                                           .e = 1,
                                           .span = 1,
                                           .finish = finish_explicit,
                                           .begin_momentum = begin_momentum,
                                           .mean_share = 1},
    [SINEW_INTEGRATOR_NEWMARK] = {.starts_with_acceleration = true,
                                  .contact_refusal = "Newmark's method does not damp, and contact "
                                                     "forces would alternate",
                                  .alternates = true,
                                  .first = SINEW_INTEGRATOR_NEWMARK,
                                  .c = 4,
                                  .e = 2,
                                  .span = 1,
                                  .predict = predict_newmark,
                                  .finish = finish_implicit,
                                  .begin_momentum = begin_newmark_momentum,
                                  .mean_share = 0,
                                  .transports_acceleration = true},
    [SINEW_INTEGRATOR_MIDPOINT] = {.alternates = true,
                                   .contact_refusal =
                                       "the midpoint rule balances forces in the middle of a step, "
                                       "but a body must be clear of obstacles at its end",
                                   .first = SINEW_INTEGRATOR_MIDPOINT,
                                   .c = 4,
                                   .e = 2,
                                   .span = 0.5,
                                   .predict = predict_midpoint,
                                   .finish = finish_midpoint,
                                   .begin_momentum = begin_momentum,
                                   .mean_share = 0.5},
    [SINEW_INTEGRATOR_BDF2] = {.first = SINEW_INTEGRATOR_NEWTON_EULER,
                               .c = 2.25,
                               .e = 1.5,
                               .span = 1,
                               .predict = predict_bdf2,
                               .finish = finish_implicit,
                               .begin_momentum = begin_bdf2_momentum,
                               .mean_share = 0},
};

const sn_integrator *sn_integrator_get(sinew_integrator integrator, bool first) {
    const sn_integrator *row = &table[integrator];
    return first ? &table[row->first] : row;
}

int32_t sn_integrator_count(void) {
    return (int32_t)(sizeof table / sizeof *table);
}
