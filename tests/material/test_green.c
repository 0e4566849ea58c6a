// Green's strain without singular values compared with the general form of isotropic laws, in every
// instruction set: blocks in tension and in compression, blocks whose flips or stretches need
// projection, mixed ones, below the threshold of the extended energy, with a volume term, with
// fibres, with a negative lambda. Two blocks at once give the same result as one by one.
#include "cases.h"

#include "material/kernels.h"

enum { SEED = 20261116, ROUNDS = 60 };

typedef struct block {
    double F[9 * SN_BLOCK] SN_ALIGNED, parameters[SN_MATERIAL_MAX_PARAMETERS * SN_BLOCK] SN_ALIGNED;
    double psi[SN_BLOCK] SN_ALIGNED, P[9 * SN_BLOCK] SN_ALIGNED,
        H[SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;
} block;

static sn_material_block in_of(const block *b) {
    return (sn_material_block){b->F, b->parameters};
}

static sn_material_result out_of(block *b) {
    return (sn_material_result){.psi = b->psi, .P = b->P, .H = b->H};
}

// Random stretches: all above 1 (tension), all below (compression), around 1, or with a few below
// the threshold.
static void fill_block(block *b, sn_random *random, const sample *s, int kind) {
    static const double ranges[][2] = {{1.001, 1.4}, {0.85, 0.999}, {0.9, 1.1}, {0.45, 0.75},
                                       {0.35, 1.8},  {-0.2, 1.2},   {1, 1}};
    const double *range = ranges[kind % 7];

    for (int lane = 0; lane < SN_BLOCK; lane++) {
        double stretches[3];
        for (int i = 0; i < 3; i++) {
            stretches[i] = sn_random_range(random, range[0], range[1]);
        }

        sn_mat3 F = stretched(random, stretches[0], stretches[1], stretches[2]);
        for (int i = 0; i < 9; i++) {
            b->F[i * SN_BLOCK + lane] = F.m[i / 3][i % 3];
        }

        for (int i = 0; i < s->material.parameter_count; i++) {
            b->parameters[i * SN_BLOCK + lane] = s->parameters[i];
        }
    }
}

static double largest_difference(const double *a, const double *b, int count) {
    double largest = 0;
    for (int i = 0; i < count; i++) {
        largest = fmax(largest, fabs(a[i] - b[i]));
    }
    return largest;
}

static sinew_material_def def_of(int variant) {
    sinew_material_def def = sinew_default_material_def();
    def.law = SINEW_MATERIAL_HOOKE;
    def.strain = SINEW_STRAIN_GREEN;
    def.young = 1;
    def.poisson = (const double[]){0.3, 0.48, -0.3, 0.3, 0.3}[variant];

    if (variant == 3) {
        def.volume_stiffness = 0.7;
    }
    if (variant == 4) {
        def.fibre_stress = 0.2;
    }

    return def;
}

enum { VARIANTS = 5 };

static void compare_at(sn_isa isa, int variant, sn_random *random) {
    sinew_material_def def = def_of(variant);
    sample s = make_sample(&def, NULL, isa);
    double modulus = def.young / ((1 + def.poisson) * (1 - 2 * def.poisson));

    for (int round = 0; round < ROUNDS; round++) {
        block a = {0}, b;
        fill_block(&a, random, &s, round);
        b = a;

        for (int k = 0; k < 2; k++) {
            int want = SN_MATERIAL_ENERGY | SN_MATERIAL_STRESS |
                       (k ? SN_MATERIAL_PROJECTED : SN_MATERIAL_STIFFNESS);
            sn_material_block in = in_of(&a);
            sn_material_result out = out_of(&a);
            sn_material_result reference = out_of(&b);

            sn_material_evaluate(&s.material, want, &in, &out);
            SN_ISA_PICK(isa, sn_evaluate_isotropic)(&s.material, want, &in, &reference);

            // Both round in the decompositions; quotients of differences of nearly equal stretches
            // lose half the digits.
            assert_true(largest_difference(a.psi, b.psi, SN_BLOCK) < 1e-13 * modulus);
            assert_true(largest_difference(a.P, b.P, 9 * SN_BLOCK) < 1e-13 * modulus);
            assert_true(largest_difference(a.H, b.H, SN_MATERIAL_H_COUNT * SN_BLOCK) <
                        1e-9 * modulus);
        }
    }
}

static void test_same_as_any_law(void **state) {
    (void)state;
    sn_random random = sn_random_seed(SEED);
    for (int isa = 0; isa < SN_ISA_COUNT; isa++) {
        if (sn_isa_available((sn_isa)isa)) {
            for (int variant = 0; variant < VARIANTS; variant++) {
                compare_at((sn_isa)isa, variant, &random);
            }
        }
    }
}

// The projection takes effect: a compressed block differs from its exact tangent, a block in
// tension does not.
static void test_projection_acts_under_pressure(void **state) {
    (void)state;
    sn_random random = sn_random_seed(SEED);
    sinew_material_def def = def_of(0);
    sample s = make_sample(&def, NULL, sn_isa_detect());

    for (int kind = 0; kind < 2; kind++) {
        block a = {0}, b;
        fill_block(&a, &random, &s, kind);
        b = a;
        sn_material_block in = in_of(&a);
        sn_material_result out = out_of(&a);
        sn_material_result projected = out_of(&b);
        sn_material_evaluate(&s.material, SN_MATERIAL_STIFFNESS, &in, &out);
        sn_material_evaluate(&s.material, SN_MATERIAL_PROJECTED, &in, &projected);
        double difference = largest_difference(a.H, b.H, SN_MATERIAL_H_COUNT * SN_BLOCK);
        assert_true(kind == 0 ? difference == 0 : difference > 1e-3);
    }
}

static void test_pair_gives_the_same(void **state) {
    (void)state;
    sn_random random = sn_random_seed(SEED);
    sinew_material_def def = def_of(0);
    sample s = make_sample(&def, NULL, sn_isa_detect());

    for (int round = 0; round < 49; round++) {
        block pair[2] = {0}, single[2];
        fill_block(&pair[0], &random, &s, round % 7);
        fill_block(&pair[1], &random, &s, round / 7);
        memcpy(single, pair, sizeof pair);

        int want = SN_MATERIAL_ENERGY | SN_MATERIAL_STRESS | SN_MATERIAL_PROJECTED;
        const sn_material_block in[2] = {in_of(&pair[0]), in_of(&pair[1])};
        const sn_material_result out[2] = {out_of(&pair[0]), out_of(&pair[1])};

        sn_material_evaluate_pair(&s.material, want, in, out);
        for (int b = 0; b < 2; b++) {
            sn_material_block one = in_of(&single[b]);
            sn_material_result result = out_of(&single[b]);
            sn_material_evaluate(&s.material, want, &one, &result);

            // The compiler may fuse products differently: a few rounding errors of numbers up to 3.
            assert_true(largest_difference(single[b].P, pair[b].P, 9 * SN_BLOCK) < 1e-14);
            assert_true(largest_difference(single[b].H, pair[b].H, SN_MATERIAL_H_COUNT * SN_BLOCK) <
                        1e-14);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_any_law),
        cmocka_unit_test(test_projection_acts_under_pressure),
        cmocka_unit_test(test_pair_gives_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
