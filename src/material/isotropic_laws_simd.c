// The isotropic laws: energy density as a function of the principal stretches s1, s2, s3, its
// gradient and Hessian, in lanes.
//
// To add a law: write its energy, its parameters and, if it has constants of its own, their check;
// add a row to the table at the end, and its number to sinew/material.h. Nothing else in the
// library changes.
//
// Checked by: tests/material/test_isotropic.c (slopes, rest state, moduli, uniaxial curves, all
// instruction sets).
#include "material/stretch.h"

// ---- Small-strain constants ---------------------------------------------------------------------

typedef struct moduli {
    double mu, lambda, bulk;
} moduli;

static moduli lame(const sinew_material_def *def) {
    double E = def->young;
    double nu = def->poisson;
    double mu = E / (2 * (1 + nu));
    double lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
    return (moduli){mu, lambda, lambda + 2 * mu / 3};
}

static double p_wave_modulus(moduli m) {
    return m.lambda + 2 * m.mu;
}

// ---- Laws given by invariants -------------------------------------------------------------------

// f(I1, I2, J) and its derivatives; I1 = sum s_i^2, I2 = sum_(i<j) s_i^2 s_j^2, J = s1 s2 s3. No
// law here needs f_22 or f_12.
typedef struct invariant_energy {
    sn_lanes f, f_1, f_2, f_J, f_11, f_1J, f_2J, f_JJ;
} invariant_energy;

typedef struct invariants {
    sn_lanes I1, I2, J;
} invariants;

static inline invariants invariants_of(const sn_lanes s[3]) {
    sn_lanes a = s[0] * s[0];
    sn_lanes b = s[1] * s[1];
    sn_lanes c = s[2] * s[2];
    return (invariants){a + b + c, a * b + (a + b) * c, s[0] * s[1] * s[2]};
}

// The chain rule:  dI1/ds_i = 2 s_i,  dI2/ds_i = 2 s_i (I1 - s_i^2),  dJ/ds_i = s_j s_k
static inline void chain(sn_stretch_energy *energy, const sn_lanes s[3], sn_lanes I1,
                         const invariant_energy *e) {
    sn_lanes d1[3], d2[3], dJ[3], row1[3], rowJ[3];
    energy->psi = e->f;
    for (int i = 0; i < 3; i++) {
        d1[i] = 2.0 * s[i];
        d2[i] = d1[i] * (I1 - s[i] * s[i]);
        dJ[i] = s[(i + 1) % 3] * s[(i + 2) % 3];
        energy->gradient[i] = e->f_1 * d1[i] + e->f_2 * d2[i] + e->f_J * dJ[i];
        row1[i] = e->f_11 * d1[i] + e->f_1J * dJ[i];
        rowJ[i] = e->f_1J * d1[i] + e->f_2J * d2[i] + e->f_JJ * dJ[i];
    }
#define DIAGONAL(i)                                                                                \
    (2.0 * (e->f_1 + e->f_2 * (I1 - s[i] * s[i])) + row1[i] * d1[i] + rowJ[i] * dJ[i] +            \
     e->f_2J * dJ[i] * d2[i])
#define OFF(i, j, k)                                                                               \
    (4.0 * e->f_2 * s[i] * s[j] + e->f_J * s[k] + row1[i] * d1[j] + rowJ[i] * dJ[j] +              \
     e->f_2J * dJ[i] * d2[j])
    energy->hessian = (sn_lanes_sym3){DIAGONAL(0), OFF(0, 1, 2), OFF(0, 2, 1),
                                      DIAGONAL(1), OFF(1, 2, 0), DIAGONAL(2)};
#undef DIAGONAL
#undef OFF
}

// ---- Hooke's law in three strains ---------------------------------------------------------------

enum { HOOKE_MU, HOOKE_LAMBDA, HOOKE_COUNT };

static double hooke_derive(double *own, const sinew_material_def *def, sn_plane plane) {
    moduli m = lame(def);

    // In plane stress the thickness is free, which leaves a smaller lambda for the plane.
    if (def->law == SINEW_MATERIAL_HOOKE && plane == SN_PLANE_STRESS) {
        m.lambda = def->young * def->poisson / ((1 + def->poisson) * (1 - def->poisson));
    }

    own[HOOKE_MU] = m.mu;
    own[HOOKE_LAMBDA] = m.lambda;

    return p_wave_modulus(m);
}

// St. Venant-Kirchhoff:  mu sum e_i^2 + lambda/2 (sum e_i)^2,  e_i = (s_i^2 - 1)/2
static void st_venant_kirchhoff(sn_stretch_energy *energy, const sn_lanes s[3], const double *own) {
    sn_lanes mu = sn_parameter(own, HOOKE_MU);
    sn_lanes lambda = sn_parameter(own, HOOKE_LAMBDA);
    sn_lanes e[3], S[3];

    // Strains and principal second Piola-Kirchhoff stresses.
    for (int i = 0; i < 3; i++) {
        e[i] = 0.5 * (s[i] - 1.0) * (s[i] + 1.0);
    }

    sn_lanes trace = e[0] + e[1] + e[2];
    sn_lanes pressure = lambda * trace;
    sn_lanes two_mu = mu + mu;

    for (int i = 0; i < 3; i++) {
        S[i] = two_mu * e[i] + pressure;
        energy->gradient[i] = s[i] * S[i];
    }

    energy->psi = mu * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) + 0.5 * pressure * trace;
    sn_lanes m = two_mu + lambda;

    energy->hessian =
        (sn_lanes_sym3){S[0] + m * s[0] * s[0], lambda * s[0] * s[1], lambda * s[0] * s[2],
                        S[1] + m * s[1] * s[1], lambda * s[1] * s[2], S[2] + m * s[2] * s[2]};
}

// mu sum (s_i - 1)^2 + lambda/2 (sum (s_i - 1))^2
static void corotational(sn_stretch_energy *energy, const sn_lanes s[3], const double *own) {
    sn_lanes mu = sn_parameter(own, HOOKE_MU);
    sn_lanes lambda = sn_parameter(own, HOOKE_LAMBDA);
    sn_lanes e[3] = {s[0] - 1.0, s[1] - 1.0, s[2] - 1.0};
    sn_lanes trace = e[0] + e[1] + e[2];
    sn_lanes pressure = lambda * trace;
    sn_lanes two_mu = mu + mu;

    for (int i = 0; i < 3; i++) {
        energy->gradient[i] = two_mu * e[i] + pressure;
    }

    energy->psi = mu * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) + 0.5 * pressure * trace;
    sn_lanes m = two_mu + lambda;

    energy->hessian = (sn_lanes_sym3){m, lambda, lambda, m, lambda, m};
}

// ---- Neo-Hookean --------------------------------------------------------------------------------

// mu/2 (I1 - 3) - mu ln J + lambda/2 (ln J)^2
static void neo_hookean(sn_stretch_energy *energy, const sn_lanes s[3], const double *own) {
    sn_lanes mu = sn_parameter(own, HOOKE_MU);
    sn_lanes lambda = sn_parameter(own, HOOKE_LAMBDA);
    sn_lanes log = sn_lanes_log(s[0] * s[1] * s[2]);
    sn_lanes a = lambda * log - mu;
    sn_lanes inverse[3];

    for (int i = 0; i < 3; i++) {
        inverse[i] = 1.0 / s[i];
        energy->gradient[i] = mu * s[i] + a * inverse[i];
    }

    energy->psi = 0.5 * (mu * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3.0) + (a - mu) * log);
    sn_lanes b = lambda - a;
    sn_lanes x = lambda * inverse[0];
    sn_lanes y = lambda * inverse[1];

    energy->hessian = (sn_lanes_sym3){
        mu + b * inverse[0] * inverse[0], x * inverse[1], x * inverse[2],
        mu + b * inverse[1] * inverse[1], y * inverse[2], mu + b * inverse[2] * inverse[2]};
}

// ---- Stable neo-Hookean (Smith, De Goes, Kim 2018) ----------------------------------------------

enum { STABLE_MU, STABLE_LAMBDA, STABLE_ALPHA, STABLE_COUNT };

static double stable_neo_hookean_derive(double *own, const sinew_material_def *def,
                                        sn_plane plane) {
    (void)plane;
    moduli m = lame(def);

    // The moduli of the formula differ from those of small strains; this is the conversion (Smith
    // et al. 2018, section 3.4).
    double mu = 4 * m.mu / 3;
    double lambda = m.lambda + 5 * m.mu / 6;

    own[STABLE_MU] = mu;
    own[STABLE_LAMBDA] = lambda;
    own[STABLE_ALPHA] = 1 + 0.75 * mu / lambda;

    return p_wave_modulus(m);
}

// mu/2 (I1 - 3) + lambda/2 ((J - alpha)^2 - (1 - alpha)^2) - mu/2 ln((I1 + 1)/4)
static void stable_neo_hookean(sn_stretch_energy *energy, const sn_lanes s[3], const double *own) {
    sn_lanes mu = sn_parameter(own, STABLE_MU);
    sn_lanes lambda = sn_parameter(own, STABLE_LAMBDA);
    sn_lanes alpha = sn_parameter(own, STABLE_ALPHA);
    sn_lanes zero = sn_lanes_all(0);
    invariants v = invariants_of(s);
    sn_lanes q = 1.0 / (v.I1 + 1.0);
    sn_lanes half_mu = 0.5 * mu;
    invariant_energy e = {
        .f = half_mu * (v.I1 - 3.0 - sn_lanes_log(0.25 * (v.I1 + 1.0))) +
             0.5 * lambda * (v.J - 1.0) * (v.J + 1.0 - alpha - alpha),
        .f_1 = half_mu * (1.0 - q),
        .f_2 = zero,
        .f_J = lambda * (v.J - alpha),
        .f_11 = half_mu * q * q,
        .f_1J = zero,
        .f_2J = zero,
        .f_JJ = lambda,
    };

    chain(energy, s, v.I1, &e);
}

// ---- Mooney-Rivlin ------------------------------------------------------------------------------

enum { MOONEY_C10, MOONEY_C01, MOONEY_BULK, MOONEY_COUNT };

// The given bulk modulus, or the one that follows from a shear modulus and the Poisson ratio.
static double bulk_modulus(const sinew_material_def *def, double mu) {
    return def->bulk > 0 ? def->bulk : 2 * mu * (1 + def->poisson) / (3 * (1 - 2 * def->poisson));
}

static double mooney_rivlin_derive(double *own, const sinew_material_def *def, sn_plane plane) {
    (void)plane;
    double mu = 2 * (def->c10 + def->c01);
    if (def->c10 == 0 && def->c01 == 0) {
        mu = lame(def).mu;
        own[MOONEY_C10] = 0.4 * mu;
        own[MOONEY_C01] = 0.1 * mu;
    } else {
        own[MOONEY_C10] = def->c10;
        own[MOONEY_C01] = def->c01;
    }

    own[MOONEY_BULK] = bulk_modulus(def, mu);
    return own[MOONEY_BULK] + 4 * mu / 3;
}

static sinew_status check_bulk(sinew_context *context, const sinew_material_def *def) {
    if (def->bulk >= 0 && isfinite(def->bulk)) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "material: bulk is %g Pa; valid: a number > 0, or 0 to derive it from the shear "
                   "modulus and poisson",
                   def->bulk);
}

static sinew_status mooney_rivlin_check(sinew_context *context, const sinew_material_def *def) {
    double sum = def->c10 + def->c01;
    if (!(isfinite(sum) && (sum > 0 || (def->c10 == 0 && def->c01 == 0)))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "material: c10 = %g Pa and c01 = %g Pa; valid: c10 + c01 > 0, or both 0 to "
                       "derive them from young",
                       def->c10, def->c01);
    }

    return check_bulk(context, def);
}

// c10 (J^-2/3 I1 - 3) + c01 (J^-4/3 I2 - 3) + k/2 (J - 1)^2
static void mooney_rivlin(sn_stretch_energy *energy, const sn_lanes s[3], const double *own) {
    sn_lanes c10 = sn_parameter(own, MOONEY_C10);
    sn_lanes c01 = sn_parameter(own, MOONEY_C01);
    sn_lanes k = sn_parameter(own, MOONEY_BULK);
    invariants v = invariants_of(s);
    sn_lanes root = 1.0 / sn_lanes_cbrt(v.J);
    sn_lanes a = root * root;
    sn_lanes inverse = root * a;
    sn_lanes x = c10 * a;
    sn_lanes y = c01 * a * a;
    sn_lanes X = x * v.I1;
    sn_lanes Y = y * v.I2;
    invariant_energy e = {
        .f = X - 3.0 * c10 + Y - 3.0 * c01 + 0.5 * k * (v.J - 1.0) * (v.J - 1.0),
        .f_1 = x,
        .f_2 = y,
        .f_J = (-2.0 / 3) * (X + Y + Y) * inverse + k * (v.J - 1.0),
        .f_11 = sn_lanes_all(0),
        .f_1J = (-2.0 / 3) * x * inverse,
        .f_2J = (-4.0 / 3) * y * inverse,
        .f_JJ = ((10.0 / 9) * X + (28.0 / 9) * Y) * inverse * inverse + k,
    };

    chain(energy, s, v.I1, &e);
}

// ---- Arruda-Boyce -------------------------------------------------------------------------------

enum { ARRUDA_MU, ARRUDA_INVERSE_LENGTH, ARRUDA_BULK, ARRUDA_COUNT };

static double arruda_boyce_derive(double *own, const sinew_material_def *def, sn_plane plane) {
    (void)plane;
    moduli m = lame(def);
    double n = 1 / def->chain_length;

    // The small-strain shear modulus of the series divided by its factor mu.
    double ratio = 1 + n * (3.0 / 5 + n * (99.0 / 175 + n * (513.0 / 875 + n * 42039.0 / 67375)));

    own[ARRUDA_MU] = m.mu / ratio;
    own[ARRUDA_INVERSE_LENGTH] = n;
    own[ARRUDA_BULK] = bulk_modulus(def, m.mu);

    return own[ARRUDA_BULK] + 4 * m.mu / 3;
}

static sinew_status arruda_boyce_check(sinew_context *context, const sinew_material_def *def) {
    if (!(def->chain_length >= 1 && isfinite(def->chain_length))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "material: chain_length is %g; valid: a number >= 1", def->chain_length);
    }
    return check_bulk(context, def);
}

// mu sum_(n=1..5) c_n N^(1-n) (x^n - 3^n) + k/2 (J - 1)^2,  x = J^-2/3 I1
static void arruda_boyce(sn_stretch_energy *energy, const sn_lanes s[3], const double *own) {
    static const double c[5] = {1.0 / 2, 1.0 / 20, 11.0 / 1050, 19.0 / 7000, 519.0 / 673750};
    sn_lanes mu = sn_parameter(own, ARRUDA_MU);
    sn_lanes n = sn_parameter(own, ARRUDA_INVERSE_LENGTH);
    sn_lanes k = sn_parameter(own, ARRUDA_BULK);
    invariants v = invariants_of(s);
    sn_lanes root = 1.0 / sn_lanes_cbrt(v.J);
    sn_lanes a = root * root;
    sn_lanes inverse = root * a;
    sn_lanes x = a * v.I1;

    // w(x) and its derivatives by Horner's scheme; the value at x = 3 is subtracted to make the
    // energy at rest 0.
    sn_lanes w = sn_lanes_all(0);
    sn_lanes w1 = w;
    sn_lanes w2 = w;
    sn_lanes rest = w;

    for (int i = 4; i >= 0; i--) {
        w2 = w2 * n * x + 2.0 * w1 * n;
        w1 = w1 * x * n + w * n;
        w = w * n * x + c[i];
        rest = rest * n * 3.0 + c[i];
    }

    // The series is x w(x): its derivatives are w + x w' and 2 w' + x w''.
    sn_lanes W = mu * (x * w - 3.0 * rest);
    sn_lanes W1 = mu * (w + x * w1);
    sn_lanes W2 = mu * (2.0 * w1 + x * w2);
    sn_lanes x_J = (-2.0 / 3) * x * inverse;
    sn_lanes x_1J = (-2.0 / 3) * a * inverse;
    invariant_energy e = {
        .f = W + 0.5 * k * (v.J - 1.0) * (v.J - 1.0),
        .f_1 = W1 * a,
        .f_2 = sn_lanes_all(0),
        .f_J = W1 * x_J + k * (v.J - 1.0),
        .f_11 = W2 * a * a,
        .f_1J = W2 * a * x_J + W1 * x_1J,
        .f_2J = sn_lanes_all(0),
        .f_JJ = W2 * x_J * x_J + (10.0 / 9) * W1 * x * inverse * inverse + k,
    };

    chain(energy, s, v.I1, &e);
}

// ---- The table ----------------------------------------------------------------------------------

// Thresholds, floors and resistances are such that for Poisson ratios from 0 to 0.49 the energy
// falls all the way from deep inversion to rest, and its curvature along a stretch is positive
// below the threshold, or nearly so.
// clang-format off
static const sn_isotropic_law table[] = {
    {.name = "linear", .law = SINEW_MATERIAL_HOOKE, .strain = SINEW_STRAIN_INFINITESIMAL,
     .parameter_count = HOOKE_COUNT, .derive = hooke_derive},
    {.name = "st-venant-kirchhoff", .law = SINEW_MATERIAL_HOOKE, .strain = SINEW_STRAIN_GREEN,
     .parameter_count = HOOKE_COUNT, .derive = hooke_derive, .energy = st_venant_kirchhoff,
     .threshold = SN_GREEN_THRESHOLD, .resistance = SN_GREEN_RESISTANCE},
    {.name = "corotational", .law = SINEW_MATERIAL_HOOKE, .strain = SINEW_STRAIN_COROTATIONAL,
     .parameter_count = HOOKE_COUNT, .derive = hooke_derive, .energy = corotational},
    {.name = "neo-hookean", .law = SINEW_MATERIAL_NEO_HOOKEAN,
     .parameter_count = HOOKE_COUNT, .derive = hooke_derive, .energy = neo_hookean,
     .threshold = 0.25, .resistance = 30, .singular = true},
    {.name = "stable-neo-hookean", .law = SINEW_MATERIAL_STABLE_NEO_HOOKEAN,
     .parameter_count = STABLE_COUNT,
     .derive = stable_neo_hookean_derive, .energy = stable_neo_hookean,
     .threshold = 0.3, .resistance = 2},
    {.name = "mooney-rivlin", .law = SINEW_MATERIAL_MOONEY_RIVLIN,
     .parameter_count = MOONEY_COUNT, .check = mooney_rivlin_check,
     .derive = mooney_rivlin_derive, .energy = mooney_rivlin,
     .threshold = 0.25, .floor = 0.1, .resistance = 16, .singular = true},
    {.name = "arruda-boyce", .law = SINEW_MATERIAL_ARRUDA_BOYCE,
     .parameter_count = ARRUDA_COUNT, .check = arruda_boyce_check,
     .derive = arruda_boyce_derive, .energy = arruda_boyce,
     .threshold = 0.25, .floor = 0.1, .resistance = 16, .singular = true},
};
// clang-format on

const sn_isotropic_law *SN_ISA_NAME(sn_isotropic_laws)(int *count) {
    *count = (int)(sizeof table / sizeof table[0]);
    return table;
}

const sn_isotropic_law *SN_ISA_NAME(sn_isotropic_law_find)(sinew_material_law law,
                                                           sinew_strain strain) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].law == law && (law != SINEW_MATERIAL_HOOKE || table[i].strain == strain)) {
            return &table[i];
        }
    }
    return NULL;
}
