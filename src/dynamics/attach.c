// Attachments of bodies to each other and to positions: every check before any change.
#include "dynamics/glue.h"
#include "dynamics/rigid_joint.h"
#include "dynamics/world.h"

#include "body/element_point.h"

#include <math.h>
#include <string.h>

sinew_attachment_def sinew_default_attachment_def(void) {
    return (sinew_attachment_def){.node = -1, .at_node = true, .filled = SN_DEF_FILLED};
}

static bool is_tied(const sinew_world *world, const sinew_body *body, int32_t row) {
    for (size_t i = 0; i < world->attachment_count; i++) {
        const sinew_attachment *other = world->attachments[i];
        if (sn_attachment_eliminates(other) && other->tied.body == body &&
            other->tied.point.row[0] == row) {
            return true;
        }
    }

    return false;
}

static bool carries_tie(const sinew_world *world, const sinew_body *body, int32_t row) {
    for (size_t i = 0; i < world->attachment_count; i++) {
        const sinew_attachment *other = world->attachments[i];
        if (!sn_attachment_eliminates(other) || other->target.body != body) {
            continue;
        }

        for (int32_t k = 0; k < other->target.point.count; k++) {
            if (other->target.point.row[k] == row) {
                return true;
            }
        }
    }

    return false;
}

static sinew_status check_point(sinew_context *context, const char *name, const double point[3]) {
    if (sn_finite3(sn_load3(point))) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s is (%g, %g, %g); it must be finite", name,
                   point[0], point[1], point[2]);
}

// Bodies that an attachment can hold: those of this world.
static sinew_status check_member(sinew_world *world, const sinew_body *body) {
    if (body->world != world) {
        return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                       "body \"%s\" is of another world: it cannot be attached in this one",
                       body->name);
    }

    return SINEW_OK;
}

// Both ends of an attachment are solved for in the same way.
static sinew_status check_kinds(sinew_world *world, const sinew_body *body,
                                const sinew_body *target) {
    if (!body->ops->stepping == !target->ops->stepping) {
        return SINEW_OK;
    }

    const sinew_body *first = body->ops->stepping ? body : target;
    const sinew_body *second = body->ops->stepping ? target : body;
    return sn_fail(world->context, SINEW_UNSUPPORTED,
                   "body \"%s\" is under position dynamics and body \"%s\" is not: an attachment "
                   "joins two bodies of one sort, or a body and a position",
                   first->name, second->name);
}

static bool ties_a_node(const sinew_attachment_def *def) {
    return def->node >= 0 && def->body->mesh.element_count > 0;
}

static sinew_status check_stiffness(sinew_context *context, double stiffness) {
    if (stiffness >= 0 && isfinite(stiffness)) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "attachment stiffness is %g N/m; it must be finite and not negative", stiffness);
}

static sinew_status check_largest_force(sinew_context *context, const sinew_attachment_def *def) {
    if (!(def->largest_force >= 0 && isfinite(def->largest_force))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the largest force of an attachment is %g N; it must be finite and above 0, "
                       "or 0 for no bound",
                       def->largest_force);
    }
    if (def->largest_force > 0 && def->stiffness == 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a hard attachment takes the force it needs, not at most %g N: give it a "
                       "stiffness",
                       def->largest_force);
    }
    return SINEW_OK;
}

static sinew_status check_attachment(sinew_world *world, const sinew_attachment_def *def) {
    sinew_context *context = world->context;
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_attachment_def"));
    if (!def->body) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "an attachment needs a body");
    }

    SN_TRY(check_member(world, def->body));
    if (def->target) {
        SN_TRY(check_member(world, def->target));
        SN_TRY(check_kinds(world, def->body, def->target));
    }

    if (ties_a_node(def) && def->node >= def->body->rows) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "node %d of body \"%s\" cannot be attached: nodes are 0 to %d", def->node,
                       def->body->name, def->body->rows - 1);
    }

    SN_TRY(check_stiffness(context, def->stiffness));
    SN_TRY(check_largest_force(context, def));
    SN_TRY(check_point(context, "the attached point", def->rest));
    return check_point(context, "the point to attach to", def->point);
}

// An eliminated node must be free, and no other tie may depend on it.
static sinew_status check_elimination(sinew_world *world, const sinew_attachment *attachment) {
    if (!sn_attachment_eliminates(attachment)) {
        return SINEW_OK;
    }

    // The tied node loses its own unknowns, so nothing else may prescribe or use them.
    sinew_body *body = attachment->tied.body;
    sinew_body *target = attachment->target.body;
    int32_t node = attachment->tied.point.row[0];
    const uint8_t *mask = body->mask + 3 * node;

    if (mask[0] || mask[1] || mask[2] || is_tied(world, body, node) ||
        carries_tie(world, body, node)) {
        return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                       "node %d of body \"%s\" is fixed or takes part in another hard attachment; "
                       "use a springy one",
                       node, body->name);
    }

    // Its carriers must keep theirs: ties do not chain.
    for (int32_t k = 0; k < attachment->target.point.count; k++) {
        int32_t row = attachment->target.point.row[k];
        if (is_tied(world, target, row) || (target == body && row == node)) {
            return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                           "node %d of body \"%s\" cannot carry an attachment: it is tied itself",
                           row, target->name);
        }
    }

    return SINEW_OK;
}

static sinew_status find_tied(const sinew_attachment_def *def, sn_arena *arena, sn_anchor *anchor) {
    sinew_body *body = def->body;
    anchor->body = body;
    if (ties_a_node(def)) {
        return sn_node_point_create(arena, body, def->node, &anchor->point);
    }
    return body->ops->points.create(arena, body, sn_load3(def->rest), false, &anchor->point);
}

static sinew_status find_target(const sinew_attachment_def *def, sn_arena *arena, sn_vec3 tied,
                                sn_anchor *anchor) {
    sinew_body *target = def->target;
    sn_vec3 x = def->at_node ? tied : sn_load3(def->point);

    anchor->body = target;
    anchor->point.x = x;
    if (!target) {
        return SINEW_OK;
    }

    return target->ops->points.create(arena, target, x, def->at_node, &anchor->point);
}

static sinew_status build_attachment(sinew_world *world, const sinew_attachment_def *def,
                                     sinew_attachment *attachment) {
    attachment->world = world;
    attachment->stiffness = def->stiffness;
    attachment->largest = def->largest_force;
    SN_TRY(find_tied(def, &attachment->arena, &attachment->tied));
    SN_TRY(find_target(def, &attachment->arena, attachment->tied.point.x, &attachment->target));
    return check_elimination(world, attachment);
}

static sinew_status append(sinew_world *world, sinew_attachment *attachment) {
    void *attachments = world->attachments;
    SN_TRY(sn_grow(world->context, &attachments, &world->attachment_capacity,
                   world->attachment_count, world->attachment_count + 1,
                   sizeof *world->attachments));
    world->attachments = attachments;
    world->attachments[world->attachment_count++] = attachment;
    sn_world_forget_islands(world);
    return SINEW_OK;
}

static void release(sinew_attachment *attachment) {
    if (attachment->joint) {
        sn_rigid_joint_forget(attachment->joint, attachment);
    }
    if (attachment->glue) {
        sn_glue_forget(attachment->glue, attachment);
    }
    sn_anchor_release(&attachment->tied);
    sn_anchor_release(&attachment->target);
    sn_arena arena = attachment->arena; // the attachment lives in it
    sn_arena_destroy(&arena);
}

sinew_status sinew_world_attach(sinew_world *world, const sinew_attachment_def *def,
                                sinew_attachment **out) {
    SN_NEED(NULL, world);

    SN_TRY(check_attachment(world, def));
    sn_arena arena = sn_arena_create(world->context);
    sinew_attachment *attachment = SN_PUSH(&arena, sinew_attachment, 1);
    if (!attachment) {
        sn_arena_destroy(&arena);
        return SINEW_OUT_OF_MEMORY;
    }

    // From here on the attachment owns its memory, and is released as a whole.
    attachment->arena = arena;
    sinew_status status = build_attachment(world, def, attachment);
    if (status == SINEW_OK) {
        status = append(world, attachment);
    }
    if (status != SINEW_OK) {
        release(attachment);
        return status;
    }

    if (out) {
        *out = attachment;
    }

    return SINEW_OK;
}

int32_t sn_world_remove_attachments(sinew_world *world, const sinew_body *body,
                                    const sinew_body *target, bool as_target) {
    size_t kept = 0;
    for (size_t i = 0; i < world->attachment_count; i++) {
        sinew_attachment *attachment = world->attachments[i];
        bool gone = attachment->tied.body == body && (!target || attachment->target.body == target);
        if (gone || (as_target && attachment->target.body == body)) {
            release(attachment);
        } else {
            world->attachments[kept++] = attachment;
        }
    }

    int32_t removed = (int32_t)(world->attachment_count - kept);
    world->attachment_count = kept;
    if (removed > 0) {
        sn_world_forget_islands(world);
    }

    return removed;
}

int32_t sinew_world_detach(sinew_world *world, const sinew_body *body, const sinew_body *target) {
    SN_NEED_OR(0, world);
    return sn_world_remove_attachments(world, body, target, false);
}

void sinew_attachment_destroy(sinew_attachment *attachment) {
    if (!attachment) {
        return;
    }

    sinew_world *world = attachment->world;
    size_t i = 0;
    while (world->attachments[i] != attachment) {
        i++;
    }

    world->attachment_count--;
    for (; i < world->attachment_count; i++) {
        world->attachments[i] = world->attachments[i + 1];
    }

    sn_world_forget_islands(world);
    release(attachment);
}

sinew_status sinew_attachment_set_target(sinew_attachment *attachment, const double position[3]) {
    SN_NEED(NULL, attachment && position);

    sinew_context *context = attachment->world->context;
    if (attachment->target.body) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the attachment of body \"%s\" holds it to body \"%s\"; only one to a "
                       "position has a target that can be moved",
                       attachment->tied.body->name, attachment->target.body->name);
    }

    SN_TRY(check_point(context, "the target of the attachment", position));
    attachment->target.point.x = sn_load3(position);
    sn_body_note_energy_change(attachment->tied.body);
    return SINEW_OK;
}

sinew_status sinew_attachment_set_stiffness(sinew_attachment *attachment, double stiffness) {
    SN_NEED(NULL, attachment);

    sinew_world *world = attachment->world;
    SN_TRY(check_stiffness(world->context, stiffness));

    if (stiffness == 0 && attachment->largest > 0) {
        return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                       "an attachment with a largest force of %g N cannot become hard",
                       attachment->largest);
    }

    // A spring stays a spring; otherwise the equations take another form.
    double before = attachment->stiffness;
    sn_body_note_energy_change(attachment->tied.body);
    if ((before == 0) == (stiffness == 0)) {
        attachment->stiffness = stiffness;
        return SINEW_OK;
    }

    attachment->stiffness = INFINITY; // neither here nor there while its own rows are checked
    sinew_attachment changed = *attachment;
    changed.stiffness = stiffness;

    sinew_status status = check_elimination(world, &changed);
    attachment->stiffness = status == SINEW_OK ? stiffness : before;
    if (status == SINEW_OK) {
        attachment->force = sn_v3(0, 0, 0);
        sn_world_forget_islands(world);
    }

    return status;
}

double sinew_attachment_get_stiffness(const sinew_attachment *attachment) {
    SN_NEED_OR(0, attachment);
    return attachment->stiffness;
}

static sn_vec3 position_now(sn_anchor *anchor) {
    if (anchor->body) {
        sn_body_move_point(anchor->body, &anchor->point);
    }
    return anchor->point.x;
}

void sinew_attachment_get_positions(sinew_attachment *attachment, double tied[3],
                                    double target[3]) {
    SN_NEED_OR(, attachment);
    if (tied) {
        sn_store3(tied, position_now(&attachment->tied));
    }
    if (target) {
        sn_store3(target, position_now(&attachment->target));
    }
}

// The residual force of an eliminated node.
static sinew_status compute_tie_force(const sinew_attachment *attachment, double force[3]) {
    sinew_body *body = attachment->tied.body;
    size_t count = (size_t)sn_body_size(body);
    double *forces = sn_allocate(body->context, count, sizeof *forces);
    if (!forces) {
        return SINEW_OUT_OF_MEMORY;
    }

    sn_body_compute_balance(body, forces);
    memcpy(force, forces + 3 * (size_t)attachment->tied.point.row[0], 3 * sizeof *force);
    sn_release(body->context, forces, count, sizeof *forces);
    return SINEW_OK;
}

sinew_status sinew_attachment_get_force(sinew_attachment *attachment, double force[3]) {
    SN_NEED(NULL, attachment && force);

    if (attachment->stiffness > 0 && attachment->largest == 0) {
        sn_vec3 gap = sn_sub(position_now(&attachment->target), position_now(&attachment->tied));
        sn_store3(force, sn_scale(attachment->stiffness, gap));
        return SINEW_OK;
    }

    if (sn_attachment_eliminates(attachment)) {
        return compute_tie_force(attachment, force);
    }

    sn_store3(force, attachment->force);
    return SINEW_OK;
}
