// Linear and angular momentum after a linear solve; see momentum.h.
#include "dynamics/momentum.h"

#include "dynamics/contact_touch.h"

// Whether nothing but inertia resists a translation of the whole island, and all rows are points.
static bool translates_freely(const sn_island *island) {
    if (!island->positions || island->tie_count > 0 || island->link_count > 0) {
        return false;
    }
    if (island->contact && sn_contact_meets_obstacles(island)) {
        return false;
    }

    for (int32_t i = 0; i < island->body_count; i++) {
        if (island->bodies[i].body->anchored) {
            return false;
        }
    }
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        if (island->mask[i]) {
            return false;
        }
    }
    return true;
}

// Conjugate gradients stop at a residual that has a sum, which would be lost momentum. Where
// nothing holds the bodies, a translation t of all rows takes it away: stiffness does not
// resist it, so that with masses m, accelerations a = c xi and damping e alpha
//
//   sum residual = sum (c + e alpha) m (direction + t).
static void restore_translation(sn_island *island, sn_scheme scheme) {
    double inertia = 0;
    sn_vec3 lost = {0, 0, 0};
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        double factor = scheme.c + scheme.e * member->body->mass_damping;
        for (int32_t k = 0; k < member->body->rows; k++) {
            size_t row = (size_t)(member->first_row + k);
            double m = factor * member->body->row_mass[k];
            lost = sn_add(lost, sn_load3(island->residual + 3 * row));
            lost = sn_madd(lost, -m, sn_load3(island->direction + 3 * row));
            inertia += m;
        }
    }

    for (int32_t row = 0; row < island->rows; row++) {
        sn_add_to3(island->direction + 3 * (size_t)row, sn_scale(1 / inertia, lost));
    }
}

// The force that balances inertia and mass damping at the end of the direction, less the external
// force: of elastic forces alone.
static sn_vec3 inner_force(const sn_island *island, sn_scheme scheme, const sn_island_body *member,
                           int32_t k) {
    const sinew_body *body = member->body;
    size_t at = 3 * (size_t)(member->first_row + k);
    sn_vec3 xi = sn_add(sn_load3(island->xi + at), sn_load3(island->direction + at));
    sn_vec3 v = sn_madd(sn_load3(island->velocity_offset + at), scheme.e, xi);
    sn_vec3 a = sn_scale(scheme.c, sn_sub(xi, sn_load3(island->xi_inertia + at)));
    sn_vec3 inertia = sn_scale(body->row_mass[k], sn_madd(a, body->mass_damping, v));

    return sn_sub(inertia, sn_load3(island->external + at));
}

static sn_vec3 find_center(const sn_island *island) {
    sn_vec3 sum = {0, 0, 0};
    double mass = 0;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sinew_body *body = island->bodies[i].body;
        for (int32_t k = 0; k < body->rows; k++) {
            sum = sn_madd(sum, body->row_mass[k], sn_load3(body->q + 3 * k));
            mass += body->row_mass[k];
        }
    }

    return sn_scale(1 / mass, sum);
}

// The matrix of warped bodies resists rotations as well. A rotation w about the centre of mass
// leaves elastic forces without a torque: with r the positions at the start of the step,
//
//   sum r x inner force = -sum (c + e alpha) m r x (w x r).
//
// As xi = h v in implicit Euler steps, sum (x + xi) x m v is sum x x m v, and the angular momentum
// changes by the torque of the external forces alone.
static void restore_rotation(sn_island *island, sn_scheme scheme) {
    sn_vec3 center = find_center(island);

    // The torque of the inner forces, and the inertia about the centre.
    sn_vec3 torque = {0, 0, 0};
    sn_mat3 inertia = {{{0}}};

    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        double factor = scheme.c + scheme.e * member->body->mass_damping;
        for (int32_t k = 0; k < member->body->rows; k++) {
            sn_vec3 r = sn_sub(sn_load3(member->body->q + 3 * k), center);
            sn_mat3 cross = sn_cross_matrix(r);
            double m = factor * member->body->row_mass[k];
            torque = sn_add(torque, sn_cross(r, inner_force(island, scheme, member, k)));
            inertia = sn_mat3_sub(inertia, sn_mat3_scale(m, sn_mat3_mul(cross, cross)));
        }
    }

    if (!(sn_mat3_det(inertia) > 0)) {
        return;
    }

    // The rotation that takes it away.
    sn_vec3 w = sn_scale(-1, sn_mat3_apply(sn_mat3_inverse(inertia), torque));
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        for (int32_t k = 0; k < member->body->rows; k++) {
            sn_vec3 r = sn_sub(sn_load3(member->body->q + 3 * k), center);
            sn_add_to3(island->direction + 3 * (size_t)(member->first_row + k), sn_cross(w, r));
        }
    }
}

void sn_momentum_restore(sn_island *island, sn_scheme scheme, bool direct, bool linearised) {
    bool warped = !island->has_energy;
    if ((direct && !warped) || !translates_freely(island)) {
        return;
    }

    restore_translation(island, scheme);
    if (warped && linearised) {
        restore_rotation(island, scheme);
    }
}
