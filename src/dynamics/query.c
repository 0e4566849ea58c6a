// Questions to all bodies of a world.
#include "sinew/surface.h"

#include "body/surface.h"
#include "dynamics/world.h"

#include <math.h>

sinew_status sinew_world_cast_ray(sinew_world *world, const double origin[3],
                                  const double direction[3], double reach, sinew_surface_hit *hit) {
    SN_NEED(NULL, world);
    SN_NEED(world->context, origin && direction);

    SN_TRY(sn_check_ray(world->context, origin, direction, reach)); // also without any body

    *hit = (sinew_surface_hit){.body = NULL};
    for (size_t i = 0; i < world->body_count; i++) {
        sinew_surface_hit found;
        SN_TRY(sinew_body_cast_ray(world->bodies[i], origin, direction, reach, &found));
        if (found.body && (!hit->body || found.distance < hit->distance)) {
            *hit = found;
        }
    }

    return SINEW_OK;
}
