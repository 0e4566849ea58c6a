// Bars compared with beam theory: Timoshenko's small deflection and the elastica (Mattiasson 1981).
#include "validate/validate.h"
#include "validate/bar.h"

#include "base/context.h"

#include <math.h>
#include <stdio.h>

static const double thickness = 0.1, young = 1e6;

// Tip deflection under an end load, relative to Timoshenko's: bending, and shear with the
// coefficient 5/6 of a rectangle.
static sinew_status deflection_ratio(validate_run *v, sinew_element element, int32_t along,
                                     int32_t across, double *ratio) {
    bar_def def = bar_default_def();
    def.element = element;
    def.cells[0] = along;
    def.cells[1] = def.cells[2] = across;
    def.material.young = young;
    def.material.poisson = 0;

    bar b;
    SN_TRY(bar_create(v->context, &def, &b));

    // A load so small that the beam theory holds.
    double force = 1e-3;
    double A = thickness * thickness;
    double I = A * A / 12;
    double tip[3] = {0};
    double traction[3] = {0, 0, force / A};

    // Clamp, pull and solve.
    sinew_status status = bar_clamp(&b);

    if (status == SINEW_OK) {
        status = bar_pull(&b, 0, 1, traction);
    }
    if (status == SINEW_OK) {
        status = bar_solve(&b, 1, 1e-9);
    }
    if (status == SINEW_OK) {
        status = bar_get_displacement(&b, 1, tip);
    }

    bar_destroy(&b);
    *ratio = tip[2] / (force / (3 * young * I) + force / (5.0 / 6 * young / 2 * A));

    return status;
}

sinew_status validate_cantilever(validate_run *v) {
    double ratio;
    SN_TRY(deflection_ratio(v, SINEW_ELEMENT_TET10, 20, 2, &ratio));
    validate_near(v, "small deflection of ten-node tets over beam theory", 1, ratio, 0.01, "-");
    if (v->quick) {
        return SINEW_OK;
    }

    SN_TRY(deflection_ratio(v, SINEW_ELEMENT_HEX8, 80, 8, &ratio));
    validate_near(v, "small deflection of hexahedra over beam theory", 1, ratio, 0.02, "-");

    return SINEW_OK;
}

sinew_status validate_convergence(validate_run *v) {
    double size[4], shortfall[4];
    int32_t levels = v->quick ? 3 : 4;
    for (int32_t i = 0; i < levels; i++) {
        double ratio;
        SN_TRY(deflection_ratio(v, SINEW_ELEMENT_TET4, 10 << i, 1 << i, &ratio));
        size[i] = 0.1 / (1 << i);
        shortfall[i] = 1 - ratio;
    }

    // Coarse meshes lock; the order is that of the last halving and approaches 2 from below.
    double order = log2(shortfall[levels - 2] / shortfall[levels - 1]);

    validate_at_least(v, "order of the deflection's error with linear tets", v->quick ? 1.3 : 1.6,
                      order, "-");
    validate_note(v, "deflection short by %.3f, %.3f, %.3f with 1, 2, 4 cells across", shortfall[0],
                  shortfall[1], shortfall[2]);

    sinew_plot_series series = sinew_default_plot_series();
    series.x = size;
    series.y = shortfall;
    series.count = levels;
    series.style = SINEW_PLOT_LINE | SINEW_PLOT_MARKERS;

    sinew_plot_panel panel = {.title = "Linear tets against beam theory",
                              .x = {.label = "cell size [m]", .logarithmic = true},
                              .y = {.label = "relative error", .logarithmic = true},
                              .series = &series,
                              .series_count = 1};

    return validate_draw(v, "order", &(sinew_plot){.panels = &panel, .panel_count = 1});
}

// A slender bar, 25 times as long as thick (shear adds a thousandth), under an end load of
// P L^2 / E I = load.
static sinew_status elastica_tip(validate_run *v, double load, double *across, double *along) {
    bar_def def = bar_default_def();
    double t = 0.04;
    double A = t * t;
    double I = A * A / 12;

    def.size[1] = def.size[2] = t;
    def.cells[0] = 30;
    def.cells[1] = def.cells[2] = 1;
    def.material.young = young;
    def.material.poisson = 0;

    bar b;
    SN_TRY(bar_create(v->context, &def, &b));

    // The load follows neither the beam nor its end: it keeps its direction.
    double traction[3] = {0, 0, load * young * I / A};
    double tip[3] = {0};

    // Large rotations need several load steps.
    sinew_status status = bar_clamp(&b);
    if (status == SINEW_OK) {
        status = bar_pull(&b, 0, 1, traction);
    }
    if (status == SINEW_OK) {
        status = bar_solve(&b, (int32_t)(2 * load), 1e-5);
    }
    if (status == SINEW_OK) {
        status = bar_get_displacement(&b, 1, tip);
    }

    bar_destroy(&b);
    *across = tip[2];
    *along = -tip[0];

    return status;
}

sinew_status validate_elastica(validate_run *v) {
    static const double load[3] = {1, 5, 10};
    static const double across[3] = {0.30172, 0.71379, 0.81061};
    static const double along[3] = {0.05643, 0.38763, 0.55500};

    // Against Mattiasson's table.
    double got[2][3];
    int32_t first = v->quick ? 1 : 0;
    int32_t last = v->quick ? 2 : 3;

    for (int32_t i = first; i < last; i++) {
        SN_TRY(elastica_tip(v, load[i], &got[0][i], &got[1][i]));
        char claim[160];
        snprintf(claim, sizeof claim, "elastica, P L^2 / E I = %g: tip across (Mattiasson 1981)",
                 load[i]);
        validate_near(v, claim, across[i], got[0][i], 0.01 * across[i], "L");
        snprintf(claim, sizeof claim, "elastica, P L^2 / E I = %g: tip along", load[i]);
        validate_near(v, claim, along[i], got[1][i], 0.01 * along[i], "L");
    }

    if (v->quick) {
        return SINEW_OK;
    }

    // The same numbers as a picture.
    sinew_plot_series series[4];
    for (int i = 0; i < 4; i++) {
        series[i] = sinew_default_plot_series();
        series[i].x = load;
        series[i].count = 3;
        series[i].color = i % 2;
        series[i].style = i < 2 ? SINEW_PLOT_LINE : SINEW_PLOT_MARKERS;
    }

    series[0].label = "across, Mattiasson";
    series[0].y = across;
    series[1].label = "along, Mattiasson";
    series[1].y = along;
    series[2].label = "across, ten-node tets";
    series[2].y = got[0];
    series[3].label = "along, ten-node tets";
    series[3].y = got[1];

    sinew_plot_panel panel = {.title = "Elastica",
                              .x = {.label = "P L^2 / E I"},
                              .y = {.label = "tip displacement / L"},
                              .series = series,
                              .series_count = 4};

    return validate_draw(v, "tip", &(sinew_plot){.panels = &panel, .panel_count = 1});
}
