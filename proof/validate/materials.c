// Materials: uniaxial curves of every law (a cube of elements compared with the formula), stress as
// the gradient of the energy, the isotropic limit of the orthotropic law, and its off-axis
// stiffness.
#include "validate/validate.h"
#include "validate/bar.h"

#include "base/context.h"
#include "base/random.h"
#include "material/material.h"
#include "math/quat.h"

#include <math.h>
#include <stdio.h>

static const double E = 1e6, nu = 0.3;

// --- Uniaxial extension

// The energy densities of the literature, in the principal stretches a, b, b.
typedef double stretch_energy(double a, double b);

static double shear_modulus(void) {
    return E / (2 * (1 + nu));
}

static double first_lame(void) {
    return E * nu / ((1 + nu) * (1 - 2 * nu));
}

static double hooke_energy(double a, double b) {
    double e = a - 1;
    double f = b - 1;
    double trace = e + 2 * f;
    return shear_modulus() * (e * e + 2 * f * f) + first_lame() / 2 * trace * trace;
}

static double green_energy(double a, double b) {
    double e = (a * a - 1) / 2;
    double f = (b * b - 1) / 2;
    double trace = e + 2 * f;
    return shear_modulus() * (e * e + 2 * f * f) + first_lame() / 2 * trace * trace;
}

static double neo_hookean_energy(double a, double b) {
    double mu = shear_modulus();
    double logarithm = log(a * b * b);
    return mu / 2 * (a * a + 2 * b * b - 3) - mu * logarithm +
           first_lame() / 2 * logarithm * logarithm;
}

// Smith, De Goes, Kim 2018, equation 14 with the moduli of section 3.4.
static double stable_energy(double a, double b) {
    double mu = 4 * shear_modulus() / 3;
    double lambda = first_lame() + 5 * shear_modulus() / 6;
    double I = a * a + 2 * b * b;
    double alpha = 1 + mu / lambda - mu / (4 * lambda);
    double J = a * b * b;
    return mu / 2 * (I - 3) + lambda / 2 * (J - alpha) * (J - alpha) - mu / 2 * log(I + 1);
}

static double mooney_energy(double a, double b) {
    double mu = shear_modulus();
    double k = first_lame() + 2 * mu / 3;
    double J = a * b * b;
    double I1 = (a * a + 2 * b * b) * pow(J, -2.0 / 3);
    double I2 = (2 * a * a * b * b + b * b * b * b) * pow(J, -4.0 / 3);
    return 0.4 * mu * (I1 - 3) + 0.1 * mu * (I2 - 3) + k / 2 * (J - 1) * (J - 1);
}

// Arruda and Boyce 1993, five terms, chains of 8 links.
static double arruda_energy(double a, double b) {
    static const double c[5] = {0.5, 1.0 / 20, 11.0 / 1050, 19.0 / 7000, 519.0 / 673750};
    double N = 8;
    double k = first_lame() + 2 * shear_modulus() / 3;
    double J = a * b * b;
    double sum = 0;
    double slope = 1 + 3 / (5 * N) + 99 / (175 * N * N) + 513 / (875 * N * N * N) +
                   42039 / (67375 * N * N * N * N);
    double I = (a * a + 2 * b * b) * pow(J, -2.0 / 3);

    for (int n = 1; n <= 5; n++) {
        sum += c[n - 1] * pow(N, 1 - n) * (pow(I, n) - pow(3, n));
    }

    return shear_modulus() / slope * sum + k / 2 * (J - 1) * (J - 1);
}

// Finite differences of fourth order, exact to about 1e-11.
static double slope_a(stretch_energy *psi, double a, double b) {
    double h = 1e-3;
    return (8 * (psi(a + h, b) - psi(a - h, b)) - psi(a + 2 * h, b) + psi(a - 2 * h, b)) / (12 * h);
}

static double slope_b(stretch_energy *psi, double a, double b) {
    double h = 1e-3;
    return (8 * (psi(a, b + h) - psi(a, b - h)) - psi(a, b + 2 * h) + psi(a, b - 2 * h)) / (12 * h);
}

// The nominal stress with free sides. The lateral stretch b minimises the energy and is found by
// bisection.
static double uniaxial_stress(stretch_energy *psi, double a) {
    double low = 0.3, high = 1.5;
    for (int i = 0; i < 100; i++) {
        double b = (low + high) / 2;
        if (slope_b(psi, a, b) > 0) {
            high = b;
        } else {
            low = b;
        }
    }

    return slope_a(psi, a, low);
}

// A unit cube with three faces on rollers, whose face x = 1 is moved: the force on that face per
// area.
static sinew_status pull_cube(validate_run *v, const sinew_material_def *material, double stretch,
                              double *stress) {
    bar_def def = bar_default_def();
    def.size[0] = def.size[1] = def.size[2] = 1;
    def.cells[0] = def.cells[1] = def.cells[2] = 2;
    def.element = SINEW_ELEMENT_TET4;
    def.material = *material;

    bar b;
    SN_TRY(bar_create(v->context, &def, &b));

    // Rollers on three faces; the moved face is held along x only.
    sinew_status status = SINEW_OK;
    const double *X = sinew_body_get_rest_positions(b.body);
    for (int32_t i = 0; i < sinew_body_get_node_count(b.body) && status == SINEW_OK; i++) {
        int32_t axes = 0;
        if (X[3 * i] < 1e-9 || X[3 * i] > 1 - 1e-9) {
            axes |= SINEW_AXIS_X;
        }
        if (X[3 * i + 1] < -0.5 + 1e-9) {
            axes |= SINEW_AXIS_Y;
        }
        if (X[3 * i + 2] < -0.5 + 1e-9) {
            axes |= SINEW_AXIS_Z;
        }
        if (axes) {
            status = sinew_body_fix_nodes(b.body, &i, 1, axes);
        }
    }

    // Move the face x = 1.
    int32_t count;
    int32_t *nodes = bar_pick(&b, 0, 1, &count);
    double *targets = SN_PUSH(&b.arena, double, 3 * (size_t)count);
    double *reactions = SN_PUSH(&b.arena, double, 3 * (size_t)sinew_body_get_node_count(b.body));

    if (status == SINEW_OK) {
        status = sn_arena_status(&b.arena);
    }

    if (status == SINEW_OK) {
        for (int32_t i = 0; i < count; i++) {
            for (int c = 0; c < 3; c++) {
                targets[3 * i + c] = X[3 * nodes[i] + c];
            }
            targets[3 * i] = stretch;
        }

        status = sinew_body_move_nodes(b.body, nodes, count, targets);
    }
    if (status == SINEW_OK) {
        status = bar_solve(&b, 4, 1e-10);
    }

    // The area is 1, so that the stress is the sum of the reactions.
    *stress = 0;
    if (status == SINEW_OK) {
        sinew_body_compute_reactions(b.body, reactions);
        for (int32_t i = 0; i < count; i++) {
            *stress += reactions[3 * nodes[i]];
        }
    }

    bar_destroy(&b);
    return status;
}

sinew_status validate_uniaxial(validate_run *v) {
    static const struct {
        const char *name;
        stretch_energy *psi;
    } laws[] = {{"linear", hooke_energy},
                {"st-venant-kirchhoff", green_energy},
                {"corotational", hooke_energy},
                {"neo-hookean", neo_hookean_energy},
                {"stable-neo-hookean", stable_energy},
                {"mooney-rivlin", mooney_energy},
                {"arruda-boyce", arruda_energy},
                {"orthotropic", hooke_energy},
                {"transverse", hooke_energy}};
    enum { LAWS = sizeof laws / sizeof *laws, POINTS = 6 };

    static const double stretches[POINTS] = {0.8, 0.9, 1.1, 1.25, 1.5, 1.8};

    // Compare every law with its formula.
    double curves[LAWS][POINTS];
    for (int k = 0; k < LAWS; k++) {
        sinew_material_def material = sinew_default_material_def();
        SN_TRY(sinew_material_set_law(v->context, laws[k].name, &material));
        material.young = E;
        material.poisson = nu;
        material.orthotropic.young_1 = material.orthotropic.young_2 = material.orthotropic.young_3 =
            E;
        material.transverse = (sinew_transverse){E, E, nu, nu, shear_modulus()};

        double worst = 0;
        for (int i = 0; i < POINTS; i++) {
            SN_TRY(pull_cube(v, &material, stretches[i], &curves[k][i]));
            worst =
                fmax(worst, fabs(curves[k][i] / uniaxial_stress(laws[k].psi, stretches[i]) - 1));
        }

        char claim[160];
        snprintf(claim, sizeof claim, "%s: nominal stress at stretches 0.8 to 1.8, relative error",
                 laws[k].name);
        validate_at_most(v, claim, 1e-6, worst, "-");
    }

    // Plot the curves.
    sinew_plot_series series[LAWS];
    for (int k = 0; k < LAWS; k++) {
        series[k] = sinew_default_plot_series();
        series[k].label = laws[k].name;
        series[k].x = stretches;
        series[k].y = curves[k];
        series[k].count = POINTS;
        series[k].style = SINEW_PLOT_LINE | SINEW_PLOT_MARKERS;
        series[k].color = k;
    }

    sinew_plot_panel panel = {.title = "Uniaxial extension, E = 1 MPa, Poisson ratio 0.3",
                              .x = {.label = "stretch"},
                              .y = {.label = "nominal stress [Pa]"},
                              .series = series,
                              .series_count = LAWS};

    return validate_draw(v, "curves", &(sinew_plot){.panels = &panel, .panel_count = 1});
}

// --- A17: stress is the gradient of the energy

typedef struct stress_errors {
    double gradient, rotation, rest;
} stress_errors;

static sn_mat3 random_rotation(sn_random *random) {
    sn_vec3 axis = {sn_random_range(random, -3, 3), sn_random_range(random, -3, 3),
                    sn_random_range(random, -3, 3)};
    return sn_quat_to_mat3(sn_quat_exp(axis));
}

// Errors are relative to the norm of the tangent, the local stiffness of the law.
static void measure_stress(stress_errors *errors, const sn_material *material,
                           const double *parameters, sn_random *random, bool rotates) {
    static const double stretches[4][3] = {
        {1.6, 1.2, 0.8}, {3, 0.9, 0.6}, {0.9, 0.7, 0.65}, {1.2, 0.9, 0.3}};
    for (int k = 0; k < 4; k++) {
        // F = U diag(stretches) V, between random rotations.
        sn_mat3 F = random_rotation(random);
        sn_mat3 V = random_rotation(random);
        sn_mat3 dF;
        sn_mat3 R = random_rotation(random);

        for (int i = 0; i < 9; i++) {
            F.m[i / 3][i % 3] *= stretches[k][i % 3];
        }

        F = sn_mat3_mul(F, V);
        for (int i = 0; i < 9; i++) {
            dF.m[i / 3][i % 3] = sn_random_range(random, -1, 1);
        }

        // The scale of errors.
        double H[81], norm = 0, h = 1e-5;
        sn_material_tangent(H, material, parameters, F, false);
        for (int i = 0; i < 81; i++) {
            norm += H[i] * H[i];
        }

        double scale = sqrt(norm);

        // P : dF against a central difference of the energy.
        sn_mat3 P = sn_material_stress(material, parameters, F);
        double above =
            sn_material_energy(material, parameters, sn_mat3_add(F, sn_mat3_scale(h, dF)));
        double below =
            sn_material_energy(material, parameters, sn_mat3_add(F, sn_mat3_scale(-h, dF)));
        double error =
            fabs((above - below) / (2 * h) - sn_mat3_contract(P, dF)) / (scale * sn_mat3_norm(dF));

        errors->gradient = fmax(errors->gradient, error);

        // P(R F) = R P(F)
        if (rotates) {
            sn_mat3 turned = sn_material_stress(material, parameters, sn_mat3_mul(R, F));
            errors->rotation = fmax(errors->rotation,
                                    sn_mat3_norm(sn_mat3_sub(turned, sn_mat3_mul(R, P))) / scale);
        }

        // P(I) = 0
        sn_mat3 rest = sn_material_stress(material, parameters, sn_mat3_identity());
        errors->rest = fmax(errors->rest, sn_mat3_norm(rest) / scale);
    }
}

sinew_status validate_stress(validate_run *v) {
    stress_errors errors = {0};
    sn_random random = sn_random_seed(17);
    for (int32_t i = 0; i < sinew_material_law_count(); i++) {
        for (int strain = SINEW_STRAIN_INFINITESIMAL; strain <= SINEW_STRAIN_COROTATIONAL;
             strain++) {
            // Laws with axes are tested with every strain, others with their own.
            sinew_material_def def = sinew_default_material_def();
            SN_TRY(sinew_material_set_law(v->context, sinew_material_law_name(i), &def));
            bool anisotropic =
                def.law == SINEW_MATERIAL_ORTHOTROPIC || def.law == SINEW_MATERIAL_TRANSVERSE;
            if (anisotropic) {
                def.strain = (sinew_strain)strain;
            }
            def.orthotropic.young_2 = 3e6;
            def.orthotropic.young_3 = 5e5;
            def.poisson = nu;

            // Axes in a random direction.
            sn_mat3 frame = random_rotation(&random);
            sn_material material = sn_material_prepare(&def, SN_PLANE_NONE, v->context->isa);
            double parameters[SN_MATERIAL_MAX_PARAMETERS];
            sn_material_parameters(parameters, &material, &def, &frame);
            bool hookean = def.law == SINEW_MATERIAL_HOOKE || anisotropic;
            measure_stress(&errors, &material, parameters, &random,
                           !(hookean && def.strain == SINEW_STRAIN_INFINITESIMAL));
            if (!anisotropic) {
                break;
            }
        }
    }

    validate_at_most(v, "stress of every law against differences of its energy", 1e-6,
                     errors.gradient, "-");
    validate_at_most(v, "rotation invariance of every law but the infinitesimal ones", 1e-12,
                     errors.rotation, "-");
    validate_at_most(v, "stress of every law at rest", 1e-12, errors.rest, "-");

    return SINEW_OK;
}

// --- A12, A13: orthotropic solids

static void axes_about_z(double axes[9], double angle) {
    double c = cos(angle);
    double s = sin(angle);
    const double rotated[9] = {c, s, 0, -s, c, 0, 0, 0, 1};
    for (int i = 0; i < 9; i++) {
        axes[i] = rotated[i];
    }
}

// Solves the bar under its weight to rounding; `x` receives the positions, an array owned by the
// bar.
static sinew_status hang(validate_run *v, const bar_def *def, bar *b) {
    SN_TRY(bar_create(v->context, def, b));
    sinew_status status = bar_clamp(b);
    if (status == SINEW_OK) {
        status = bar_solve(b, 4, 1e-12);
    }
    if (status != SINEW_OK) {
        bar_destroy(b);
    }

    return status;
}

sinew_status validate_isotropic_limit(validate_run *v) {
    double axes[9], sum = 0;
    axes_about_z(axes, 0.6);

    bar_def def = bar_default_def();
    def.size[1] = def.size[2] = 0.3;
    def.cells[0] = 12;
    def.cells[1] = def.cells[2] = 4;
    def.element = SINEW_ELEMENT_TET4;
    def.material.young = E;
    def.material.poisson = nu;
    def.world.gravity[2] = -9.81;

    // The same bar by both laws.
    bar isotropic, fibres;
    SN_TRY(hang(v, &def, &isotropic));
    def.axes = axes;
    def.material.law = SINEW_MATERIAL_ORTHOTROPIC;
    def.material.orthotropic.young_1 = def.material.orthotropic.young_2 =
        def.material.orthotropic.young_3 = E;

    sinew_status status = hang(v, &def, &fibres);
    if (status == SINEW_OK) {
        // Node by node.
        const double *x = sinew_body_get_positions(isotropic.body);
        const double *y = sinew_body_get_positions(fibres.body);
        for (int32_t i = 0; i < 3 * sinew_body_get_node_count(fibres.body); i++) {
            sum += (x[i] - y[i]) * (x[i] - y[i]);
        }

        validate_at_most(v,
                         "fibre field with isotropic constants: squared difference from the "
                         "isotropic model, 325 vertices",
                         1e-18, sum, "m2");
    }

    bar_destroy(&isotropic);
    bar_destroy(&fibres);

    return status;
}

sinew_status validate_off_axis_state(validate_run *v, const sinew_material_def *material,
                                     double angle, double pull, sinew_element_state *state) {
    double axes[9];
    axes_about_z(axes, angle);

    bar_def def = bar_default_def();
    def.size[0] = def.size[1] = def.size[2] = 1;
    def.cells[0] = def.cells[1] = def.cells[2] = 2;
    def.element = SINEW_ELEMENT_TET4;
    def.material = *material;
    def.axes = axes;

    // A cube that is held just enough not to move or rotate.
    bar b;
    SN_TRY(bar_create(v->context, &def, &b));

    const double *X = sinew_body_get_rest_positions(b.body);
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < sinew_body_get_node_count(b.body) && status == SINEW_OK; i++) {
        bool x = X[3 * i] > 1e-9;
        bool y = X[3 * i + 1] > -0.5 + 1e-9;
        bool z = X[3 * i + 2] > -0.5 + 1e-9;
        bool far_x = X[3 * i] > 1 - 1e-9;
        bool far_y = X[3 * i + 1] > 0.5 - 1e-9;

        if (!x && !y && !z) {
            status = sinew_body_fix_nodes(b.body, &i, 1, SINEW_AXIS_ALL);
        }
        if (far_x && !y && !z) {
            status = sinew_body_fix_nodes(b.body, &i, 1, SINEW_AXIS_Y | SINEW_AXIS_Z);
        }
        if (!x && far_y && !z) {
            status = sinew_body_fix_nodes(b.body, &i, 1, SINEW_AXIS_Z);
        }
    }

    // Pulled from both sides.
    const double right[3] = {pull, 0, 0};
    const double left[3] = {-pull, 0, 0};
    if (status == SINEW_OK) {
        status = bar_pull(&b, 0, 1, right);
    }
    if (status == SINEW_OK) {
        status = bar_pull(&b, 0, 0, left);
    }
    if (status == SINEW_OK) {
        status = bar_solve(&b, 1, 1e-10);
    }
    if (status == SINEW_OK) {
        status = sinew_body_get_element_state(b.body, 0, state);
    }

    bar_destroy(&b);
    return status;
}

sinew_status validate_orthotropic(validate_run *v) {
    static const double degrees[4] = {0, 30, 45, 90};
    sinew_material_def material = sinew_default_material_def();

    material.law = SINEW_MATERIAL_ORTHOTROPIC;
    material.poisson = nu;
    material.orthotropic.young_1 = 0.1 * E;
    material.orthotropic.young_2 = E;
    material.orthotropic.young_3 = 10 * E;

    // Four parameters: nu_12 = nu sqrt(E1/E2), G_12 = sqrt(E1 E2) / (2 (1 + nu)).
    double E1 = 0.1 * E;
    double E2 = E;
    double nu_12 = nu * sqrt(0.1);
    double G = sqrt(0.1) * E / (2 * (1 + nu));
    double pull = 1;

    for (int i = 0; i < 4; i++) {
        double angle = degrees[i] * acos(-1) / 180;
        double c = cos(angle);
        double s = sin(angle);
        sinew_element_state state;
        double compliance =
            c * c * c * c / E1 + s * s * s * s / E2 + (1 / G - 2 * nu_12 / E1) * s * s * c * c;

        SN_TRY(validate_off_axis_state(v, &material, angle, pull, &state));
        char claim[160];

        snprintf(claim, sizeof claim,
                 "orthotropic 0.1/1/10, pulled at %g degrees: compliance over the formula",
                 degrees[i]);
        validate_near(v, claim, 1, (state.F[0] - 1) / (pull * compliance), 0.01, "-");
    }

    return SINEW_OK;
}
