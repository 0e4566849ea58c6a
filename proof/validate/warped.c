// Warped bars as soft as the paper's softest: bounded with both estimates of the rotations; and the
// momentum of a free one.
#include "validate/validate.h"
#include "validate/bar.h"

#include "math/vec.h"

#include <math.h>
#include <stdio.h>

static const struct {
    const char *name;
    sinew_model model;
} estimates[2] = {{"fitted rotations", SINEW_MODEL_WARPED},
                  {"rotations of edges", SINEW_MODEL_WARPED_EDGES}};

// 1 m x 0.3 m x 0.3 m, 4 x 4 x 11 vertices, E = 1e5 Pa, steps of 10 ms.
static bar_def soft_bar(sinew_model model) {
    bar_def def = bar_default_def();
    def.size[1] = def.size[2] = 0.3;
    def.cells[0] = 10;
    def.cells[1] = def.cells[2] = 3;
    def.element = SINEW_ELEMENT_TET4;
    def.model = model;
    def.material.young = 1e5;
    def.material.poisson = 0.33;
    def.world.step = 0.01;
    def.world.solver = SINEW_SOLVER_AUTO;
    return def;
}

// Held at one end, the bar falls and swings for ten seconds. Its kinetic energy is at most what
// all of its mass gains by falling through its length.
static sinew_status swing(validate_run *v, int k) {
    bar_def def = soft_bar(estimates[k].model);
    def.world.gravity[2] = -9.81;
    bar b;
    SN_TRY(bar_create(v->context, &def, &b));

    sinew_status status = bar_clamp(&b);

    // The largest kinetic energy of all steps.
    double largest = 0;
    int steps = v->quick ? 200 : 1000;
    for (int i = 0; i < steps && status == SINEW_OK; i++) {
        sinew_measures m;
        status = sinew_world_step(b.world, NULL);
        sinew_world_get_measures(b.world, &m);
        largest = fmax(largest, m.kinetic_energy / (m.mass * 9.81 * def.size[0]));
    }
    bar_destroy(&b);
    if (status != SINEW_OK) {
        return status;
    }

    // The row.
    char claim[160];
    snprintf(claim, sizeof claim,
             "soft warped bar, %s: kinetic energy over that of a fall through its length",
             estimates[k].name);
    validate_at_most(v, claim, 1, largest, "-");
    validate_note(v, "%d steps of 10 ms", steps);
    return SINEW_OK;
}

static double drift(const double a[3], const double b[3]) {
    return sn_length(sn_sub(sn_load3(a), sn_load3(b))) / sn_length(sn_load3(a));
}

// A free bar that moves, rotates and bends.
static sinew_status fly(validate_run *v, int k) {
    bar_def def = soft_bar(estimates[k].model);
    bar b;
    SN_TRY(bar_create(v->context, &def, &b));

    // Velocities of a translation, a rotation and a wave.
    int32_t count = sinew_body_get_node_count(b.body);
    const double *X = sinew_body_get_rest_positions(b.body);
    double *velocity = SN_PUSH(&b.arena, double, 3 * (size_t)count);
    sinew_status status = sn_arena_status(&b.arena);
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < count; i++) {
            velocity[3 * i] = 4 - 3 * X[3 * i + 2];
            velocity[3 * i + 1] = 0.8 * sin(9 * X[3 * i]);
            velocity[3 * i + 2] = 3 * X[3 * i];
        }
        status = sinew_body_set_velocities(b.body, velocity);
    }

    // Two seconds.
    sinew_measures before, after;
    sinew_world_get_measures(b.world, &before);
    for (int i = 0; i < 200 && status == SINEW_OK; i++) {
        status = sinew_world_step(b.world, NULL);
    }
    sinew_world_get_measures(b.world, &after);
    bar_destroy(&b);
    if (status != SINEW_OK) {
        return status;
    }

    // The rows.
    char claim[160];
    snprintf(claim, sizeof claim, "free warped bar, %s: drift of momentum in 2 s",
             estimates[k].name);
    validate_at_most(v, claim, 1e-9, drift(before.momentum, after.momentum), "-");
    snprintf(claim, sizeof claim, "free warped bar, %s: drift of angular momentum in 2 s",
             estimates[k].name);
    validate_at_most(v, claim, 1e-9, drift(before.angular_momentum, after.angular_momentum), "-");
    return SINEW_OK;
}

sinew_status validate_warped(validate_run *v) {
    for (int k = 0; k < 2; k++) {
        SN_TRY(swing(v, k));
        SN_TRY(fly(v, k));
    }
    return SINEW_OK;
}
