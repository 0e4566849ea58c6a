// Order of each integrator: a soft bar swings for a while, and results of successively halved steps
// are compared with one another (Richardson), so that no reference is needed.
#include "validate/validate.h"
#include "validate/bar.h"

#include "base/context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEVELS = 4, POINTS = 64 };

// Positions of all nodes after a tenth of a second in `steps` steps.
static sinew_status swing(validate_run *v, sinew_integrator integrator, int steps,
                          double x[3 * POINTS], int32_t *count) {
    bar_def def = bar_default_def();
    def.cells[0] = 4;
    def.cells[1] = def.cells[2] = 1;
    def.size[1] = def.size[2] = 0.25;
    def.element = SINEW_ELEMENT_TET4;
    def.material.young = 2e4;
    def.material.poisson = 0.3;

    // Solved far more accurately than the step is.
    def.world.gravity[2] = -9.81;
    def.world.integrator = integrator;
    def.world.step = 0.1 / steps;
    def.world.newton_tolerance = def.world.solver_tolerance = 1e-12;

    bar b;
    SN_TRY(bar_create(v->context, &def, &b));

    // The same time for any number of steps.
    sinew_status status = bar_clamp(&b);
    for (int i = 0; i < steps && status == SINEW_OK; i++) {
        status = sinew_world_step(b.world, NULL);
    }

    *count = 3 * sinew_body_get_node_count(b.body);
    SN_ASSERT(*count <= 3 * POINTS);
    if (status == SINEW_OK) {
        memcpy(x, sinew_body_get_positions(b.body), (size_t)*count * sizeof *x);
    }

    bar_destroy(&b);
    return status;
}

// Distances between the results of successive levels; the order is the logarithm of their ratio.
static sinew_status measure(validate_run *v, sinew_integrator integrator,
                            double distance[LEVELS - 1]) {
    double x[2][3 * POINTS];
    for (int level = 0; level < LEVELS; level++) {
        int32_t count;
        SN_TRY(swing(v, integrator, 20 << level, x[level & 1], &count));
        if (level == 0) {
            continue;
        }

        double sum = 0;
        for (int32_t i = 0; i < count; i++) {
            sum += (x[1][i] - x[0][i]) * (x[1][i] - x[0][i]);
        }

        distance[level - 1] = sqrt(sum);
    }

    return SINEW_OK;
}

sinew_status validate_integrators(validate_run *v) {
    static const struct {
        const char *name;
        sinew_integrator integrator;
        double order;
    } rows[] = {{"implicit Euler, linearised", SINEW_INTEGRATOR_IMPLICIT_EULER, 1},
                {"implicit Euler", SINEW_INTEGRATOR_NEWTON_EULER, 1},
                {"symplectic Euler", SINEW_INTEGRATOR_SYMPLECTIC_EULER, 1},
                {"Newmark", SINEW_INTEGRATOR_NEWMARK, 2},
                {"implicit midpoint", SINEW_INTEGRATOR_MIDPOINT, 2},
                {"BDF2", SINEW_INTEGRATOR_BDF2, 2}};
    enum { ROWS = sizeof rows / sizeof *rows };

    // Halve the step again and again.
    double step[LEVELS - 1], distance[ROWS][LEVELS - 1];
    sinew_plot_series series[ROWS];
    for (int i = 0; i < LEVELS - 1; i++) {
        step[i] = 0.1 / (20 << i);
    }

    for (int k = 0; k < ROWS; k++) {
        // The order from the last two halvings.
        SN_TRY(measure(v, rows[k].integrator, distance[k]));
        char claim[160];

        snprintf(claim, sizeof claim, "%s: order in the step", rows[k].name);
        validate_near(v, claim, rows[k].order,
                      log2(distance[k][LEVELS - 3] / distance[k][LEVELS - 2]), 0.1, "-");
        series[k] = sinew_default_plot_series();
        series[k].label = rows[k].name;
        series[k].x = step;
        series[k].y = distance[k];
        series[k].count = LEVELS - 1;
        series[k].style = SINEW_PLOT_LINE | SINEW_PLOT_MARKERS;
        series[k].color = k;
    }

    // The same numbers as a picture.
    sinew_plot_panel panel = {.title = "Change when the step is halved",
                              .x = {.label = "step [s]", .logarithmic = true},
                              .y = {.label = "root of squared distances [m]", .logarithmic = true},
                              .series = series,
                              .series_count = ROWS};

    return validate_draw(v, "order", &(sinew_plot){.panels = &panel, .panel_count = 1});
}
