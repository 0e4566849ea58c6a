// Materials and states of deformation shared by the tests of this folder.
#ifndef SN_TESTS_MATERIAL_CASES_H
#define SN_TESTS_MATERIAL_CASES_H

#include "support/test.h"

#include "material/material.h"
#include "math/quat.h"

#include <stdio.h>

// dP of a change dF, from the tangent.
static inline sn_mat3 material_differential(const sn_material *material, const double *parameters,
                                            sn_mat3 F, sn_mat3 dF, bool projected) {
    double H[81];
    sn_material_tangent(H, material, parameters, F, projected);

    sn_mat3 dP = {{{0}}};
    for (int a = 0; a < 9; a++) {
        for (int b = 0; b < 9; b++) {
            dP.m[a / 3][a % 3] += H[9 * a + b] * dF.m[b / 3][b % 3];
        }
    }
    return dP;
}

typedef struct material_case {
    const char *name;
    sinew_material_def def;
} material_case;

enum {
    ISOTROPIC_CASES = 9,
    ANISOTROPIC_CASES = 7,
    ALL_CASES = ISOTROPIC_CASES + ANISOTROPIC_CASES
};

// Every isotropic law, then variants with the volume term and the fibre tension.
static inline material_case isotropic_case(int index) {
    static const struct {
        const char *name;
        sinew_material_law law;
        sinew_strain strain;
    } laws[] = {
        {"linear", SINEW_MATERIAL_HOOKE, SINEW_STRAIN_INFINITESIMAL},
        {"st-venant-kirchhoff", SINEW_MATERIAL_HOOKE, SINEW_STRAIN_GREEN},
        {"corotational", SINEW_MATERIAL_HOOKE, SINEW_STRAIN_COROTATIONAL},
        {"neo-hookean", SINEW_MATERIAL_NEO_HOOKEAN, 0},
        {"stable-neo-hookean", SINEW_MATERIAL_STABLE_NEO_HOOKEAN, 0},
        {"mooney-rivlin", SINEW_MATERIAL_MOONEY_RIVLIN, 0},
        {"arruda-boyce", SINEW_MATERIAL_ARRUDA_BOYCE, 0},
        {"corotational, volume term", SINEW_MATERIAL_HOOKE, SINEW_STRAIN_COROTATIONAL},
        {"linear, volume term and fibres", SINEW_MATERIAL_HOOKE, SINEW_STRAIN_INFINITESIMAL}};

    material_case c = {laws[index].name, sinew_default_material_def()};
    c.def.law = laws[index].law;
    if (laws[index].law == SINEW_MATERIAL_HOOKE) {
        c.def.strain = laws[index].strain;
    }

    c.def.young = 1;
    c.def.poisson = 0.3;
    if (index >= 7) {
        c.def.volume_stiffness = 0.7;
    }
    if (index == 8) {
        c.def.fibre_stress = 0.3;
    }

    return c;
}

// Orthotropic and transversely isotropic solids with every strain.
static inline material_case anisotropic_case(int index) {
    static const char *names[] = {"orthotropic, infinitesimal",
                                  "orthotropic, Green",
                                  "orthotropic, corotational",
                                  "transverse, infinitesimal",
                                  "transverse, Green",
                                  "transverse, corotational",
                                  "orthotropic, corotational, volume term and fibres"};
    material_case c = {names[index], sinew_default_material_def()};

    c.def.law = index >= 3 && index < 6 ? SINEW_MATERIAL_TRANSVERSE : SINEW_MATERIAL_ORTHOTROPIC;
    c.def.strain = index < 6 ? (sinew_strain)(index % 3) : SINEW_STRAIN_COROTATIONAL;
    c.def.orthotropic = (sinew_orthotropic){.young_1 = 1,
                                            .young_2 = 3,
                                            .young_3 = 0.5,
                                            .poisson_12 = 0.2,
                                            .poisson_23 = 0.5,
                                            .poisson_31 = 0.1,
                                            .shear_12 = 0.7,
                                            .shear_23 = 0.3,
                                            .shear_31 = 0.2};
    c.def.transverse = (sinew_transverse){4, 1, 0.3, 0.4, 0.6};

    if (index == 6) {
        c.def.volume_stiffness = 0.7;
        c.def.fibre_stress = 0.3;
    }

    return c;
}

static inline material_case any_case(int index) {
    return index < ISOTROPIC_CASES ? isotropic_case(index)
                                   : anisotropic_case(index - ISOTROPIC_CASES);
}

static inline sn_mat3 random_rotation(sn_random *random) {
    sn_quat q;
    do {
        q = (sn_quat){sn_random_range(random, -1, 1), sn_random_range(random, -1, 1),
                      sn_random_range(random, -1, 1), sn_random_range(random, -1, 1)};
    } while (sn_quat_dot(q, q) > 1 || sn_quat_dot(q, q) < 0.01);
    return sn_quat_to_mat3(sn_quat_normalize(q));
}

static inline sn_mat3 random_matrix(sn_random *random, double size) {
    sn_mat3 A;
    for (int i = 0; i < 9; i++) {
        A.m[i / 3][i % 3] = sn_random_range(random, -size, size);
    }
    return A;
}

// U diag(s) V' with random rotations
static inline sn_mat3 stretched(sn_random *random, double s1, double s2, double s3) {
    sn_mat3 U = random_rotation(random);
    sn_mat3 V = random_rotation(random);
    const double s[3] = {s1, s2, s3};

    for (int i = 0; i < 9; i++) {
        U.m[i / 3][i % 3] *= s[i % 3];
    }

    return sn_mat3_mul(U, sn_mat3_transpose(V));
}

// States in which derivatives are compared: name, and principal stretches before two random
// rotations.
typedef struct test_state {
    const char *name;
    double s[3];
} test_state;

static const test_state test_states[] = {
    {"nearly at rest", {1.001, 1, 0.998}},
    {"rest", {1, 1, 1}},
    {"stretched", {1.6, 1.2, 0.8}},
    {"strongly stretched", {3, 0.9, 0.6}},
    {"compressed", {0.9, 0.7, 0.65}},
    {"equal stretches", {1.3, 0.8, 0.8}},
    {"nearly flat", {1.2, 0.9, 0.02}},
    {"nearly a line", {1.1, 0.11, 0.05}},
    {"inverted", {1.2, 0.8, -0.4}},
    {"far inverted", {1.6, 1.1, -0.7}},
    {"inverted and small", {0.12, 0.1, -0.05}},
};

enum { TEST_STATES = sizeof test_states / sizeof test_states[0] };

static inline sn_mat3 test_state_F(sn_random *random, int index) {
    const double *s = test_states[index].s;
    return stretched(random, s[0], s[1], s[2]);
}

// A material, and the parameters of one sample in a material frame (random for anisotropic cases).
typedef struct sample {
    sn_material material;
    double parameters[SN_MATERIAL_MAX_PARAMETERS];
} sample;

static inline sample make_sample(const sinew_material_def *def, const sn_mat3 *frame, sn_isa isa) {
    sample s = {.material = sn_material_prepare(def, SN_PLANE_NONE, isa)};
    sn_material_parameters(s.parameters, &s.material, def, frame);
    return s;
}

static inline double energy_at(const sample *s, sn_mat3 F) {
    return sn_material_energy(&s->material, s->parameters, F);
}

static inline sn_mat3 stress_at(const sample *s, sn_mat3 F) {
    return sn_material_stress(&s->material, s->parameters, F);
}

#endif
