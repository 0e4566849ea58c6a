// Frames that join a body of a world or leave it: what the world derived from the body is derived
// again in the next step. And what holds single frames.
#include "body/point.h"
#include "dynamics/world.h"
#include "frame/body/frame_body.h"

sinew_frame_insert_def sinew_default_frame_insert_def(void) {
    return (sinew_frame_insert_def){.kind = SINEW_NODE_RIGID, .fade = 0.1, .filled = SN_DEF_FILLED};
}

// An attached point would jump with the weights.
static sinew_status check_free(const sinew_body *body) {
    const sinew_world *world = body->world;
    for (size_t i = 0; i < world->attachment_count; i++) {
        const sinew_attachment *attachment = world->attachments[i];
        if (attachment->tied.body != body && attachment->target.body != body) {
            continue;
        }
        return sn_fail(body->context, SINEW_UNSUPPORTED,
                       "body \"%s\" is attached: its frames cannot change", body->name);
    }

    return SINEW_OK;
}

sinew_status sinew_frame_body_insert(sinew_body *body, const sinew_frame_insert_def *def,
                                     int32_t *node) {
    SN_NEED(NULL, body);
    SN_TRY(SN_CHECK_DEF(body->context, def, "sinew_default_frame_insert_def"));
    SN_TRY(check_free(body));
    SN_TRY(sn_frame_body_insert(body, def, node));
    body->revision++;
    sn_world_forget_islands(body->world);
    return sn_points_refresh(body);
}

sinew_status sinew_frame_body_remove(sinew_body *body, int32_t node, double fade) {
    SN_NEED(NULL, body);
    SN_TRY(check_free(body));
    SN_TRY(sn_frame_body_remove(body, node, fade));
    body->revision++;
    sn_world_forget_islands(body->world);
    return sn_points_refresh(body);
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
