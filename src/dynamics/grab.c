// Grabbing a point of a surface: an attachment of its material point.
#include "sinew/grab.h"

#include "dynamics/world.h"

sinew_grab_def sinew_default_grab_def(void) {
    return (sinew_grab_def){.stiffness = 1000, .filled = SN_DEF_FILLED};
}

// The rest position of a point of the surface.
static sn_vec3 find_rest(const sinew_surface_hit *hit) {
    const sinew_mesh *surface = hit->body->surface;
    const int32_t *corners = sn_at3(surface->indices, hit->triangle);
    sn_vec3 rest = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        rest = sn_madd(rest, hit->barycentric[k], sn_load3(sn_at3(surface->points, corners[k])));
    }
    return rest;
}

sinew_status sinew_surface_hit_grab(const sinew_surface_hit *hit, const sinew_grab_def *def,
                                    sinew_attachment **hand) {
    SN_NEED(NULL, hit && hit->body && hand);

    sinew_body *body = hit->body;
    SN_ASSERT(body);
    SN_ASSERT(hit->triangle >= 0 && hit->triangle < body->surface->element_count);
    sinew_grab_def usual = sinew_default_grab_def();
    def = def ? def : &usual;
    SN_TRY(SN_CHECK_DEF(body->context, def, "sinew_default_grab_def"));
    if (!(def->stiffness > 0)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the stiffness of a hand is %g N/m; it must be finite and above 0",
                       def->stiffness);
    }

    sinew_attachment_def attachment = sinew_default_attachment_def();
    attachment.body = body;
    attachment.stiffness = def->stiffness;
    attachment.largest_force = def->largest_force;
    sn_store3(attachment.rest, find_rest(hit));
    return sinew_world_attach(body->world, &attachment, hand);
}
