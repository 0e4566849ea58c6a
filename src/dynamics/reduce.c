// Reducing a body that is part of a world: nothing may refer to its nodes any more.
#include "sinew/reduced.h"

#include "body/load.h"
#include "body/point.h"
#include "dynamics/world.h"
#include "reduced/model.h"
#include "reduced/placement.h"

#include <string.h>

// Points, loads, forces and attachments know the nodes.
static sinew_status check_unused(const sinew_body *body) {
    const sinew_world *world = body->world;
    const char *what = body->points ? "points" : NULL;
    what = body->load_count > 0 ? "loads" : what;
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        if (body->applied[i] != 0) {
            what = "forces";
        }
    }
    for (size_t i = 0; i < world->attachment_count; i++) {
        const sinew_attachment *attachment = world->attachments[i];
        if (attachment->tied.body == body || attachment->target.body == body) {
            what = "attachments";
        }
    }
    if (!what) {
        return SINEW_OK;
    }
    return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                   "body \"%s\" has %s, which refer to its nodes; reduce it first", body->name,
                   what);
}

sinew_status sinew_body_apply_reduction(sinew_body *body, const sinew_reduction *reduction) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, reduction);
    SN_TRY(check_unused(body));
    SN_TRY(sn_reduced_apply(body, reduction));
    sn_world_forget_islands(body->world);
    return SINEW_OK;
}

sinew_status sinew_body_reduce(sinew_body *body, const sinew_reduction_def *def,
                               sinew_reduction_report *report) {
    SN_NEED(NULL, body);
    SN_TRY(check_unused(body));
    sinew_reduction *reduction;
    SN_TRY(sinew_reduction_create(body, def, &reduction));
    if (report) {
        *report = reduction->report;
    }
    sinew_status status = sinew_body_apply_reduction(body, reduction);
    sinew_reduction_destroy(reduction);
    return status;
}

sinew_status sinew_reduced_body_get_reaction(sinew_body *body, double center[3], double force[3],
                                             double torque[3]) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, center && force && torque);
    if (!sinew_body_is_reduced(body)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "body \"%s\" has no frame that bears its supports: it is not reduced",
                       body->name);
    }

    sn_arena scratch = sn_arena_create(body->context);
    double *rows = SN_PUSH(&scratch, double, sn_body_size(body));
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        sn_body_compute_reactions(body, rows);
        memcpy(torque, rows, 3 * sizeof *torque);
        memcpy(force, rows + 3, 3 * sizeof *force);
        memcpy(center, body->q + SN_REDUCED_TRANSLATION, 3 * sizeof *center);
    }
    sn_arena_destroy(&scratch);
    return status;
}
