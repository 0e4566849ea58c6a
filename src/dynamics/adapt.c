// Frames that join a body of a world or leave it: what the world derived from the body is derived
// again in the next step. And what holds single frames.
#include "body/point.h"
#include "dynamics/contact_frames.h"
#include "dynamics/rigid_joint.h"
#include "dynamics/world.h"
#include "frame/body/frame_body.h"

sinew_frame_insert_def sinew_default_frame_insert_def(void) {
    return (sinew_frame_insert_def){.kind = SINEW_NODE_RIGID, .fade = 0.1, .filled = SN_DEF_FILLED};
}

sinew_status sn_anchor_refresh(const sinew_body *body, sn_anchor *anchor) {
    if (anchor->body != body) {
        return SINEW_OK;
    }

    sn_arena arena = sn_arena_create(body->context);
    sn_point made;
    sinew_status status =
        body->ops->points.create(&arena, anchor->body, anchor->point.X, false, &made);
    if (status != SINEW_OK) {
        sn_arena_destroy(&arena);
        return status;
    }

    sn_anchor_release(anchor);
    anchor->arena = arena;
    anchor->point = made;
    return SINEW_OK;
}

void sn_anchor_release(sn_anchor *anchor) {
    if (anchor->arena.context) {
        sn_arena_destroy(&anchor->arena);
    }
}

sinew_status sn_world_refresh_body(sinew_body *body) {
    const sinew_world *world = body->world;
    body->revision++;
    sn_world_forget_islands(body->world);
    SN_TRY(sn_points_refresh(body));

    for (size_t i = 0; i < world->attachment_count; i++) {
        sinew_attachment *attachment = world->attachments[i];
        SN_TRY(sn_anchor_refresh(body, &attachment->tied));
        SN_TRY(sn_anchor_refresh(body, &attachment->target));
        if (attachment->joint) {
            SN_TRY(sn_rigid_joint_refresh(attachment->joint, body));
        }
    }
    return SINEW_OK;
}

// Frames that contact brings are its own to take away again.
static sinew_status check_free(const sinew_body *body) {
    if (!body->contact_frames || !body->contact_frames->on) {
        return SINEW_OK;
    }
    return sn_fail(body->context, SINEW_UNSUPPORTED,
                   "frames of body \"%s\" come and go by contact: switch that off first "
                   "(sinew_frame_body_set_contact_frames)",
                   body->name);
}

sinew_status sinew_frame_body_insert(sinew_body *body, const sinew_frame_insert_def *def,
                                     int32_t *node) {
    SN_NEED(NULL, body);
    SN_TRY(SN_CHECK_DEF(body->context, def, "sinew_default_frame_insert_def"));
    SN_TRY(check_free(body));
    SN_TRY(sn_frame_body_insert(body, def, node));
    return sn_world_refresh_body(body);
}

sinew_status sinew_frame_body_remove(sinew_body *body, int32_t node, double fade) {
    SN_NEED(NULL, body);
    SN_TRY(check_free(body));
    SN_TRY(sn_frame_body_remove(body, node, fade));
    return sn_world_refresh_body(body);
}

sinew_status sinew_frame_body_get_reaction(sinew_body *body, int32_t index, double force[3],
                                           double torque[3]) {
    SN_NEED(NULL, body);

    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));

    size_t count = (size_t)sn_body_size(body);
    double *rows = sn_allocate(body->context, count, sizeof *rows);
    if (!rows) {
        return SINEW_OUT_OF_MEMORY;
    }

    sn_body_compute_reactions(body, rows);
    sn_vec3 f, t;

    sn_frame_node_force(body, node, rows, &f, &t);
    if (force) {
        sn_store3(force, f);
    }
    if (torque) {
        sn_store3(torque, t);
    }

    sn_release(body->context, rows, count, sizeof *rows);
    return SINEW_OK;
}
