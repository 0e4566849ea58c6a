// Reduced bars beside the bar of elements: bent to 45 degrees with modal derivatives, with modes
// alone and with modal warping; the lowest frequency; and the momentum of a free one.
#include "validate/validate.h"
#include "validate/bar.h"

#include "math/vec.h"

#include <math.h>
#include <stdio.h>

static bar_def slender_bar(bool quick) {
    bar_def def = bar_default_def();
    def.element = SINEW_ELEMENT_TET4;
    def.cells[0] = quick ? 20 : 56;
    def.cells[1] = def.cells[2] = quick ? 2 : 6;
    def.material.young = 1e6;
    def.material.poisson = 0.3;
    return def;
}

typedef enum bent_kind { ELEMENTS, DERIVATIVES, LINEAR, WARPED, KINDS } bent_kind;

static sinew_status reduce(bar *b, bent_kind kind, sinew_reduction_report *report) {
    static const sinew_reduction_kind kinds[KINDS] = {
        [DERIVATIVES] = SINEW_REDUCTION_DERIVATIVES,
        [LINEAR] = SINEW_REDUCTION_LINEAR,
        [WARPED] = SINEW_REDUCTION_WARPED,
    };
    sinew_reduction_def def = sinew_default_reduction_def();
    def.kind = kinds[kind];
    return sinew_body_reduce(b->body, &def, report);
}

// Two points of the axis: the end of the bar, and a little before it.
static sinew_status read_tip(bar *b, double tip[2][3]) {
    for (int i = 0; i < 2; i++) {
        sinew_point *point;
        SN_TRY(sinew_point_create(b->body, (const double[3]){i == 0 ? 1 : 0.95, 0, 0}, &point));
        SN_TRY(sinew_point_get_position(point, tip[i]));
    }
    return SINEW_OK;
}

static double slope_of(double tip[2][3]) {
    return atan2(tip[1][2] - tip[0][2], tip[0][0] - tip[1][0]);
}

// The end of a bar that its weight bends.
static sinew_status bend(validate_run *v, bent_kind kind, double gravity, double tip[2][3],
                         sinew_reduction_report *report) {
    bar_def def = slender_bar(v->quick);
    def.world.gravity[2] = -gravity;
    bar b;
    SN_TRY(bar_create(v->context, &def, &b));
    sinew_status status = bar_clamp(&b);
    if (status == SINEW_OK && kind != ELEMENTS) {
        status = reduce(&b, kind, report);
    }
    if (status == SINEW_OK) {
        status = bar_solve(&b, 1, 1e-8);
    }
    if (status == SINEW_OK) {
        status = read_tip(&b, tip);
    }
    bar_destroy(&b);
    return status;
}

// The weight at which the end of the bar of elements is inclined by 45 degrees, by the secant rule.
static sinew_status find_weight(validate_run *v, double *gravity, double tip[2][3]) {
    const double wanted = acos(-1) / 4;
    double g[2] = {3, 5}, slope[2];
    SN_TRY(bend(v, ELEMENTS, g[0], tip, NULL));
    slope[0] = slope_of(tip);
    for (int i = 0; i < 8; i++) {
        SN_TRY(bend(v, ELEMENTS, g[1], tip, NULL));
        slope[1] = slope_of(tip);
        if (fabs(slope[1] - wanted) < 1e-3) {
            break;
        }
        double next = g[1] + (wanted - slope[1]) * (g[1] - g[0]) / (slope[1] - slope[0]);
        g[0] = g[1];
        slope[0] = slope[1];
        g[1] = next;
    }
    *gravity = g[1];
    return SINEW_OK;
}

static double share(double tip[2][3], double full[2][3]) {
    sn_vec3 rest = {1, 0, 0};
    return sn_distance(sn_load3(tip[0]), sn_load3(full[0])) / sn_distance(sn_load3(full[0]), rest);
}

static sinew_status bend_all(validate_run *v) {
    double gravity, full[2][3], tip[2][3];
    sinew_reduction_report report;
    SN_TRY(find_weight(v, &gravity, full));

    SN_TRY(bend(v, DERIVATIVES, gravity, tip, &report));
    validate_at_most(v,
                     "bar bent to 45 degrees, modes and derivatives: error of its end over its "
                     "displacement",
                     0.03, share(tip, full), "-");
    validate_note(v,
                  "%d coordinates, %d of %d samples, error of forces %.2g in training and %.2g "
                  "in other poses",
                  report.size, report.points, report.samples, report.training_error,
                  report.check_error);

    // Modes alone are too stiff: the end sinks less than half as far.
    SN_TRY(bend(v, LINEAR, gravity, tip, &report));
    validate_at_most(v,
                     "the same with modes alone: how far its end sinks, over the bar of elements",
                     0.5, tip[0][2] / full[0][2], "-");
    validate_note(v, "%d modes", report.size);

    SN_TRY(bend(v, WARPED, gravity, tip, &report));
    validate_at_most(v, "the same with modal warping: error of its end over its displacement", 0.25,
                     share(tip, full), "-");
    return SINEW_OK;
}

// A free bar that moves, rotates about an oblique axis and vibrates.
static sinew_status fly(validate_run *v) {
    bar_def def = slender_bar(true);
    def.world.step = 0.01;
    bar b;
    SN_TRY(bar_create(v->context, &def, &b));
    int32_t count = sinew_body_get_node_count(b.body);
    const double *X = sinew_body_get_rest_positions(b.body);
    double *velocity = SN_PUSH(&b.arena, double, 3 * (size_t)count);
    sinew_status status = sn_arena_status(&b.arena);
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < count; i++) {
            velocity[3 * i] = 4 - 3 * X[3 * i + 2];
            velocity[3 * i + 1] = 0.8 * sin(9 * X[3 * i]) - 2 * X[3 * i + 2];
            velocity[3 * i + 2] = 3 * X[3 * i] + 2 * X[3 * i + 1];
        }
        status = sinew_body_set_velocities(b.body, velocity);
    }
    if (status == SINEW_OK) {
        status = reduce(&b, DERIVATIVES, NULL);
    }

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

    sn_vec3 P = sn_load3(before.momentum);
    sn_vec3 L = sn_load3(before.angular_momentum);
    validate_at_most(v, "free reduced bar: drift of momentum in 2 s", 1e-9,
                     sn_distance(P, sn_load3(after.momentum)) / sn_length(P), "-");
    validate_at_most(v, "free reduced bar: drift of angular momentum in 2 s", 1e-9,
                     sn_distance(L, sn_load3(after.angular_momentum)) / sn_length(L), "-");
    return SINEW_OK;
}

sinew_status validate_reduced(validate_run *v) {
    SN_TRY(bend_all(v));
    return fly(v);
}
