// Attaching bodies to each other and to places: every check before any change.
#include "dynamics/world.h"

#include <math.h>

sinew_attachment_def sinew_default_attachment_def(void) {
    return (sinew_attachment_def){.at_node = true};
}

static bool is_tied(const sinew_world *world, const sinew_body *body, int32_t row) {
    for (size_t i = 0; i < world->attachment_count; i++) {
        const sn_attachment *other = &world->attachments[i];
        if (sn_attachment_eliminates(other) && other->tied.body == body &&
            other->tied.rows.row[0] == row) {
            return true;
        }
    }

    return false;
}

static bool carries_tie(const sinew_world *world, const sinew_body *body, int32_t row) {
    for (size_t i = 0; i < world->attachment_count; i++) {
        const sn_attachment *other = &world->attachments[i];
        if (!sn_attachment_eliminates(other) || other->target.body != body) {
            continue;
        }

        for (int32_t k = 0; k < other->target.rows.count; k++) {
            if (other->target.rows.row[k] == row) {
                return true;
            }
        }
    }

    return false;
}

static bool has_moving_points(const sinew_body *body) {
    return body->ops->create_point != NULL;
}

static sinew_status check_point(sinew_context *context, const char *name, const double point[3]) {
    if (sn_finite3(sn_load3(point))) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s is (%g, %g, %g); it must be finite", name,
                   point[0], point[1], point[2]);
}

static sinew_status check_attachment(sinew_world *world, const sinew_attachment_def *def) {
    sinew_context *context = world->context;
    if (!def->body) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "an attachment needs a body");
    }

    bool moving = has_moving_points(def->body);
    if (!def->body->ops->locate && !moving) {
        return sn_fail(context, SINEW_UNSUPPORTED,
                       "nodes of body \"%s\" cannot be attached: its stiffness is warped, or it is "
                       "under position dynamics",
                       def->body->name);
    }

    if (!moving && (def->node < 0 || def->node >= def->body->rows)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "node %d of body \"%s\" cannot be attached: nodes are 0 to %d", def->node,
                       def->body->name, def->body->rows - 1);
    }

    if (!(def->stiffness >= 0) || !isfinite(def->stiffness)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "attachment stiffness is %g N/m; it must be finite and not negative",
                       def->stiffness);
    }

    SN_TRY(check_point(context, "the attached point", def->rest));
    return check_point(context, "the point to attach to", def->point);
}

// An eliminated node must be free, and no other tie may depend on it.
static sinew_status check_elimination(sinew_world *world, const sn_attachment *attachment) {
    if (!sn_attachment_eliminates(attachment)) {
        return SINEW_OK;
    }

    sinew_body *body = attachment->tied.body;
    sinew_body *target = attachment->target.body;
    int32_t node = attachment->tied.rows.row[0];
    const uint8_t *mask = body->mask + 3 * node;

    if (mask[0] || mask[1] || mask[2] || is_tied(world, body, node) ||
        carries_tie(world, body, node)) {
        return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                       "node %d of body \"%s\" is fixed or takes part in another hard attachment; "
                       "use a springy one",
                       node, body->name);
    }

    for (int32_t k = 0; k < attachment->target.rows.count; k++) {
        int32_t row = attachment->target.rows.row[k];
        if (is_tied(world, target, row) || (target == body && row == node)) {
            return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                           "node %d of body \"%s\" cannot carry an attachment: it is tied itself",
                           row, target->name);
        }
    }

    return SINEW_OK;
}

// The tied end, and where it is now.
static sinew_status find_tied(const sinew_attachment_def *def, sn_anchor *anchor, sn_vec3 *x) {
    sinew_body *body = def->body;
    *anchor = (sn_anchor){.body = body};
    if (!has_moving_points(body)) {
        anchor->rows = (sn_body_point){.count = 1, .row = {def->node}, .weight = {1}};
        *x = sn_load3(body->q + 3 * def->node);
        return SINEW_OK;
    }

    anchor->point = sn_load3(def->rest);
    sn_arena scratch = sn_arena_create(body->context);
    sn_moving_point point;
    sinew_status status = body->ops->create_point(&scratch, body, anchor->point, &point);

    if (status == SINEW_OK) {
        body->ops->prepare_points(body, body->q);
        body->ops->move_point(body, &point);
        *x = point.x;
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status find_target(sinew_world *world, const sinew_attachment_def *def, sn_vec3 x,
                                sn_anchor *anchor) {
    sinew_body *target = def->target;
    sn_vec3 point = def->at_node ? x : sn_load3(def->point);

    *anchor = (sn_anchor){.body = target, .point = point};
    if (!target) {
        return SINEW_OK;
    }

    if (has_moving_points(target)) {
        if (!def->at_node || target->ops->find_rest_point(target, point, &anchor->point)) {
            return SINEW_OK;
        }

        return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                       "no point of body \"%s\" comes to (%g, %g, %g) m, where it is to be "
                       "attached; give its rest point instead",
                       target->name, x.x, x.y, x.z);
    }

    if (target->ops->locate && target->ops->locate(target, point, def->at_node, &anchor->rows)) {
        return SINEW_OK;
    }

    return sn_fail(world->context, SINEW_UNSUPPORTED, "body \"%s\" cannot hold an attachment",
                   target->name);
}

sinew_status sinew_world_attach(sinew_world *world, const sinew_attachment_def *def) {
    SN_TRY(check_attachment(world, def));
    sn_attachment attachment = {.stiffness = def->stiffness};
    sn_vec3 x;

    SN_TRY(find_tied(def, &attachment.tied, &x));
    SN_TRY(find_target(world, def, x, &attachment.target));
    SN_TRY(check_elimination(world, &attachment));

    void *attachments = world->attachments;
    SN_TRY(sn_grow(world->context, &attachments, &world->attachment_capacity,
                   world->attachment_count, world->attachment_count + 1, sizeof attachment));
    world->attachments = attachments;
    world->attachments[world->attachment_count++] = attachment;
    sn_world_forget_islands(world);

    return SINEW_OK;
}
