// Grain: frames along curves, fields between them, pulls at an angle to the grain, and the angular
// momentum of a free anisotropic body.
#include "validate/bar.h"
#include "validate/validate.h"

#include "math/quat.h"

#include <math.h>
#include <stdio.h>

static const double PI = 3.14159265358979323846;

// --- A14: double reflection

// The largest difference between the frames along a NURBS at `count` points and those of a fine
// sampling.
static sinew_status reflection_error(validate_run *v, const sinew_curve_def *curve, int32_t count,
                                     int32_t fine, sn_arena *arena, double *error) {
    double *coarse = SN_PUSH(arena, double, 9 * (size_t)count);
    double *exact = SN_PUSH(arena, double, 9 * (size_t)fine);

    SN_TRY(sn_arena_status(arena));
    SN_TRY(sinew_curve_compute_frames(v->context, curve, count, NULL, coarse));
    SN_TRY(sinew_curve_compute_frames(v->context, curve, fine, NULL, exact));

    int32_t stride = (fine - 1) / (count - 1);
    *error = 0;
    for (int32_t i = 0; i < count; i++) {
        const double *a = coarse + 9 * (size_t)i;
        const double *b = exact + 9 * (size_t)i * (size_t)stride;
        *error = fmax(*error, sn_distance(sn_load3(a), sn_load3(b)));
    }

    return SINEW_OK;
}

sinew_status validate_reflection(validate_run *v) {
    // A rational cubic: a smooth space curve without inner knots.
    const double points[12] = {0, 0, 0, 1, 0.2, 0, 0.6, 1.2, 0.5, 1.2, 1, 1.4};
    const double weights[4] = {1, 1.4, 0.8, 1};
    sinew_curve_def curve = sinew_default_curve_def();

    curve.points = points;
    curve.point_count = 4;
    curve.weights = weights;
    enum { SIZES = 4, FINE = 4097 };

    double steps[SIZES], errors[SIZES], lowest = INFINITY, highest = 0;
    sn_arena arena = sn_arena_create(v->context);
    sinew_status status = SINEW_OK;

    for (int i = 0; i < SIZES && status == SINEW_OK; i++) {
        int32_t count = (16 << i) + 1;
        steps[i] = 1.0 / (count - 1);
        status = reflection_error(v, &curve, count, FINE, &arena, &errors[i]);
        if (i == 0) {
            continue;
        }

        double order = log2(errors[i - 1] / errors[i]);
        lowest = fmin(lowest, order);
        highest = fmax(highest, order);
    }

    sn_arena_destroy(&arena);
    SN_TRY(status);
    validate_near(
        v, "double reflection is of fourth order: lowest over 16 to 128 points of a rational cubic",
        4, lowest, 0.1, "-");
    validate_near(v, "double reflection is of fourth order: highest", 4, highest, 0.1, "-");

    sinew_plot_series series = sinew_default_plot_series();
    series.x = steps;
    series.y = errors;
    series.count = SIZES;
    series.style = SINEW_PLOT_LINE | SINEW_PLOT_MARKERS;

    sinew_plot_panel panel = {
        .title = "Frames along a rational cubic",
        .x = {.label = "distance of the points, of the length", .logarithmic = true},
        .y = {.label = "error of the first axis", .logarithmic = true},
        .series = &series,
        .series_count = 1};

    return validate_draw(v, "order", &(sinew_plot){.panels = &panel, .panel_count = 1});
}

// --- Fields

enum { STRANDS = 24, STRAND_POINTS = 40 };

// Strands of a rope about z in a cylinder of radius 0.5, rotating by 2 rad per metre.
static void fill_strands(double points[STRANDS][3 * STRAND_POINTS], sinew_curve_def *curves) {
    for (int c = 0; c < STRANDS; c++) {
        double radius = c % 3 == 0 ? 0.15 : c % 3 == 1 ? 0.32 : 0.48;
        for (int i = 0; i < STRAND_POINTS; i++) {
            double z = -0.95 + 1.9 * i / (STRAND_POINTS - 1);
            double angle = 2 * z + 2 * PI * c / STRANDS;
            sn_store3(points[c] + 3 * (size_t)i,
                      sn_v3(radius * cos(angle), radius * sin(angle), z));
        }

        curves[c] = sinew_default_curve_def();
        curves[c].kind = SINEW_CURVE_STROKE;
        curves[c].points = points[c];
        curves[c].point_count = STRAND_POINTS;
        curves[c].normal[0] = 1;
    }
}

// The largest angle between the third axes and the strands. [degree]
static double strand_error(const sinew_mesh *mesh, const double *axes) {
    double worst = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        sn_vec3 c = {0};
        for (int k = 0; k < 4; k++) {
            c = sn_madd(c, 0.25, sn_load3(mesh->points + 3 * (size_t)mesh->indices[4 * e + k]));
        }

        if (fabs(c.z) > 0.85) {
            continue; // the strands end
        }

        sn_vec3 d = sn_normalize(sn_v3(-2 * c.y, 2 * c.x, 1));
        sn_vec3 a = sn_load3(axes + 9 * (size_t)e + 6);

        worst = fmax(worst, atan2(sn_length(sn_cross(a, d)), fabs(sn_dot(a, d))));
    }

    return worst * 180 / PI;
}

static sinew_status measure_strands(validate_run *v, const sinew_mesh *mesh,
                                    const sinew_curve_def *curves) {
    static const char *const names[2][2] = {{"frames by element", "frames by vertex"},
                                            {"fibres by element", "fibres by vertex"}};

    sinew_field_def def = sinew_default_field_def();
    def.mesh = mesh;
    def.curves = curves;
    def.curve_count = STRANDS;

    // Both kinds of field, with both kinds of unknowns.
    for (int kind = 0; kind < 2; kind++) {
        for (int by = 0; by < 2; by++) {
            def.kind = (sinew_field_kind)kind;
            def.unknowns = (sinew_field_unknowns)by;
            sinew_field *field;
            SN_TRY(sinew_field_create(v->context, &def, &field));
            char claim[160];
            snprintf(claim, sizeof claim, "field of a bundle of helices, %s: largest angle from it",
                     names[kind][by]);
            validate_at_most(v, claim, 2, strand_error(mesh, sinew_field_get_axes(field)),
                             "degrees");
            sinew_field_destroy(field);
        }
    }

    return SINEW_OK;
}

sinew_status validate_fields(validate_run *v) {
    static double points[STRANDS][3 * STRAND_POINTS];
    sinew_curve_def curves[STRANDS];
    sinew_shape_def shape = sinew_default_shape_def();

    shape.shape = SINEW_SHAPE_CYLINDER;
    shape.size[2] = 2;
    shape.cells[0] = shape.cells[1] = v->quick ? 12 : 14;
    shape.cells[2] = v->quick ? 20 : 24;
    fill_strands(points, curves);

    sinew_mesh *mesh;
    SN_TRY(sinew_mesh_create_shape(v->context, &shape, &mesh));

    sinew_status status = measure_strands(v, mesh, curves);
    sinew_mesh_destroy(mesh);

    return status;
}

// --- Pulls across the grain

// Compliances of strain xx, yy and shear xy under stress xx, the grain rotated by `angle` about z
// (Lekhnitskii 1963).
static void off_axis_compliance(const sinew_orthotropic *o, double angle, double S[3]) {
    double c = cos(angle);
    double s = sin(angle);
    double c2 = c * c;
    double s2 = s * s;
    double S11 = 1 / o->young_1;
    double S22 = 1 / o->young_2;
    double S12 = -o->poisson_12 / o->young_1;
    double S66 = 1 / o->shear_12;

    S[0] = S11 * c2 * c2 + (2 * S12 + S66) * s2 * c2 + S22 * s2 * s2;
    S[1] = S12 * (s2 * s2 + c2 * c2) + (S11 + S22 - S66) * s2 * c2;
    S[2] = (2 * S11 - 2 * S12 - S66) * s * c2 * c - (2 * S22 - 2 * S12 - S66) * s2 * s * c;
}

sinew_status validate_off_axis(validate_run *v) {
    // Nine different constants, so that no coincidence hides a mistake.
    sinew_material_def material = sinew_default_material_def();
    material.law = SINEW_MATERIAL_ORTHOTROPIC;

    sinew_orthotropic *o = &material.orthotropic;
    *o = (sinew_orthotropic){.young_1 = 8e6,
                             .young_2 = 1e6,
                             .young_3 = 2e6,
                             .poisson_12 = 0.4,
                             .poisson_23 = 0.2,
                             .poisson_31 = 0.1,
                             .shear_12 = 6e5,
                             .shear_23 = 4e5,
                             .shear_31 = 5e5};

    // Pulled at angles to the grain.
    double worst[3] = {0}, pull = 1;
    for (int degrees = 0; degrees <= 90; degrees += 15) {
        double S[3];
        double angle = degrees * PI / 180;
        sinew_element_state state;
        SN_TRY(validate_off_axis_state(v, &material, angle, pull, &state));
        off_axis_compliance(o, angle, S);
        double strain[3] = {state.F[0] - 1, state.F[4] - 1, state.F[1] + state.F[3]};

        for (int k = 0; k < 3; k++) {
            worst[k] = fmax(worst[k], fabs(strain[k] - pull * S[k]) / (pull * S[0]));
        }
    }

    validate_at_most(
        v, "pulled at 0, 15 ... 90 degrees to the grain: strain along the pull against the formula",
        1e-5, worst[0], "-");
    validate_note(v, "the field is uniform: exact up to the square of a strain of 1e-6");
    validate_at_most(v, "... strain across the pull, of that along it", 1e-5, worst[1], "-");
    validate_at_most(v, "... shear coupling, of the strain along the pull", 1e-5, worst[2], "-");

    return SINEW_OK;
}

// --- Angular momentum

// The largest relative change of the angular momentum of a free, spinning bar that starts stretched
// and twisted.
static sinew_status measure_leak(validate_run *v, bool exact, int32_t steps, double *drifts,
                                 double *largest) {
    sn_mat3 Q = sn_quat_to_mat3(sn_quat_exp(sn_v3(0.4, 0.7, -0.3)));
    double axes[9];
    for (int j = 0; j < 3; j++) {
        sn_store3(axes + 3 * j, sn_mat3_column(Q, j));
    }

    bar_def def = bar_default_def();
    def.size[1] = def.size[2] = 0.3;
    def.cells[0] = 6;
    def.cells[1] = def.cells[2] = 2;
    def.element = SINEW_ELEMENT_TET4;
    def.axes = axes;
    def.material.law = SINEW_MATERIAL_ORTHOTROPIC;
    def.material.poisson = 0.3;
    def.material.orthotropic.young_1 = 1e5;
    def.material.orthotropic.young_2 = 1e6;
    def.material.orthotropic.young_3 = 1e7;
    def.material.exact_rotation = exact;
    // Conserves the angular momentum exactly as far as the forces have no torque.
    def.world.integrator = SINEW_INTEGRATOR_SYMPLECTIC_EULER;
    def.world.step = 5e-5;

    bar b;
    SN_TRY(bar_create(v->context, &def, &b));

    int32_t nodes = sinew_body_get_node_count(b.body);
    double *x = SN_PUSH(&b.arena, double, 3 * (size_t)nodes);
    double *velocity = SN_PUSH(&b.arena, double, 3 * (size_t)nodes);
    sinew_status status = sn_arena_status(&b.arena);
    const double *X = sinew_body_get_rest_positions(b.body);

    if (status == SINEW_OK) {
        for (int32_t i = 0; i < nodes; i++) {
            sn_vec3 p = sn_load3(X + 3 * (size_t)i);
            sn_vec3 twist = sn_v3(0.8 * (p.x - 0.5), 0, 0);
            p = sn_quat_rotate(sn_quat_exp(twist), sn_v3(1.1 * (p.x - 0.5), 0.9 * p.y, p.z));
            sn_store3(x + 3 * (size_t)i, p);
            sn_store3(velocity + 3 * (size_t)i, sn_cross(sn_v3(0, 1, 6), p));
        }

        status = sinew_body_set_positions(b.body, x);
    }
    if (status == SINEW_OK) {
        status = sinew_body_set_velocities(b.body, velocity);
    }

    sinew_measures before, now;
    sinew_world_get_measures(b.world, &before);
    *largest = 0;

    for (int32_t i = 0; i < steps && status == SINEW_OK; i++) {
        status = sinew_world_step(b.world, NULL);
        sinew_world_get_measures(b.world, &now);
        drifts[i] = sn_distance(sn_load3(now.angular_momentum), sn_load3(before.angular_momentum)) /
                    sn_length(sn_load3(before.angular_momentum));
        *largest = fmax(*largest, drifts[i]);
    }

    bar_destroy(&b);
    return status;
}

sinew_status validate_free_grain(validate_run *v) {
    enum { STEPS = 1000 };
    static double times[STEPS], exact[STEPS], warped[STEPS];
    int32_t steps = v->quick ? 200 : STEPS;

    // The exact force, and the paper's.
    double kept, leaked;

    SN_TRY(measure_leak(v, true, steps, exact, &kept));
    SN_TRY(measure_leak(v, false, steps, warped, &leaked));
    validate_at_most(v, "free orthotropic bar, exact corotational force: drift of angular momentum",
                     1e-10, kept, "-");
    validate_note(v, "%d steps", steps);
    validate_at_least(v, "the same with the paper's force, whose rotation is held fixed: it drifts",
                      1e-4, leaked, "-");

    // The same numbers as a picture.
    for (int32_t i = 0; i < steps; i++) {
        times[i] = 5e-5 * (i + 1);
    }

    sinew_plot_series series[2] = {sinew_default_plot_series(), sinew_default_plot_series()};
    series[0].x = series[1].x = times;
    series[0].y = exact;
    series[1].y = warped;
    series[0].count = series[1].count = steps;
    series[0].label = "exact";
    series[1].label = "the paper's";

    sinew_plot_panel panel = {.title = "A free orthotropic bar",
                              .x = {.label = "time [s]"},
                              .y = {.label = "drift of angular momentum", .logarithmic = true},
                              .series = series,
                              .series_count = 2};

    return validate_draw(v, "angular-momentum", &(sinew_plot){.panels = &panel, .panel_count = 1});
}
