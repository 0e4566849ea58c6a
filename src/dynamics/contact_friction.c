// Coulomb friction with the normal forces of the end of the last step, frozen in the step.
//
// With u the slip of the step, y = |u| and e the slip below which friction is smoothed, the force
// is -f(y) u / y times friction and normal force, f = 2 y / e - y^2 / e^2 below e and 1 above (Li
// et al. 2020). It has the potential f0 = -y^3 / 3 e^2 + y^2 / e + e / 3 below e, y above.
//
// A single linear solve takes the secant at a known slip y* instead, -(f(y*) / y*) u: it always
// dissipates. Linearised at zero slip, friction would glue.
#include "dynamics/contact_touch.h"

#include <math.h>

sn_vec3 sn_touch_slip(const sn_island_contact *own, const sn_touch *touch, const double *z) {
    sn_vec3 moved = sn_scale(-1, touch->carried);
    for (int k = 0; k < touch->count; k++) {
        sn_vec3 part =
            sn_sub(sn_contact_at(z, touch->vertex[k]), sn_contact_at(own->start, touch->vertex[k]));
        moved = sn_madd(moved, touch->b[k], part);
    }
    return sn_madd(moved, -sn_dot(moved, touch->normal), touch->normal);
}

double sn_contact_smoothing(const sn_island *island) {
    const sn_island_contact *own = island->contact;
    const sn_contact *contact = own->contact;
    return own->friction_speed * (contact->is_static ? contact->smoothing_time : island->h);
}

// f(y) / y
static double secant(double y, double e) {
    return y < e ? 2 / e - y / (e * e) : 1 / y;
}

sn_friction sn_touch_friction(const sn_touch *touch, sn_vec3 slip, double e) {
    double limit = touch->friction * touch->pressure;
    if (!(limit > 0)) {
        return (sn_friction){.k = 0};
    }

    // A guest gives way: the smoothing covers how far the force moves it.
    e = fmax(e, 2 * limit * touch->softness);
    double y = sn_length(slip);
    if (!touch->exact_friction) {
        double k = limit * secant(touch->slip, e);
        return (sn_friction){
            .force = sn_scale(-k, slip), .potential = 0.5 * k * y * y, .k = k, .k_along = k};
    }

    double k = limit * secant(y, e);
    double potential = y < e ? y * y / e - y * y * y / (3 * e * e) + e / 3 : y;
    return (sn_friction){
        .force = sn_scale(-k, slip),
        .potential = limit * potential,
        .k = k,
        .k_along = y < e ? limit * (2 / e - 2 * y / (e * e)) : 0,
        .direction = y > 0 ? sn_scale(1 / y, slip) : sn_v3(0, 0, 0),
    };
}
