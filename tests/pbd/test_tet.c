// One tet: gradients of all constraints by finite differences, rest as a fixed point, momentum,
// flat and inverted tets; and the SIMD kernel for eight tets compared with it, for every
// instruction set of this machine.
#include "support/test.h"

#include "pbd/project.h"

#include <stdlib.h>

static double in_range(sn_random *random, double low, double high) {
    return sn_random_range(random, low, high);
}

static sn_mat3 random_matrix(sn_random *random) {
    sn_mat3 A;
    for (int i = 0; i < 9; i++) {
        A.m[i / 3][i % 3] = in_range(random, -1, 1);
    }
    return A;
}

static sn_mat3 random_rotation(sn_random *random) {
    sn_vec3 z = sn_normalize(
        sn_v3(in_range(random, -1, 1), in_range(random, -1, 1), in_range(random, -1, 1)));
    double angle = in_range(random, 0, 6);
    sn_mat3 turn = {{{cos(angle), -sin(angle), 0}, {sin(angle), cos(angle), 0}, {0, 0, 1}}};
    return sn_mat3_mul(sn_mat3_basis(z), turn);
}

enum { UPRIGHT, NEARLY_FLAT, MIRRORED };

// A large rotation times a stretch of some kind.
static sn_mat3 trial(sn_random *random, int kind) {
    sn_mat3 stretch = sn_mat3_identity();
    for (int i = 0; i < 3; i++) {
        stretch.m[i][i] = in_range(random, 0.5, 1.8);
    }

    if (kind == NEARLY_FLAT) {
        stretch.m[1][1] = 1e-3;
    }
    if (kind == MIRRORED) {
        stretch.m[2][2] *= -1;
    }

    return sn_mat3_mul(random_rotation(random), sn_mat3_mul(stretch, random_rotation(random)));
}

static void make_tet(sn_vec3 X[4], sn_random *random) {
    X[0] = sn_v3(0, 0, 0);
    do {
        for (int k = 1; k < 4; k++) {
            X[k] = sn_v3(in_range(random, -1, 1), in_range(random, -1, 1), in_range(random, -1, 1));
        }
    } while (sn_dot(sn_cross(X[1], X[2]), X[3]) < 0.2);

    sn_vec3 shift = {in_range(random, -3, 3), in_range(random, -3, 3), in_range(random, -3, 3)};
    for (int k = 0; k < 4; k++) {
        X[k] = sn_add(X[k], shift);
    }
}

static double value_of(int constraint, sn_mat3 G) {
    sn_mat3 unused;
    if (constraint >= SN_PBD_CONSTRAINTS) {
        return sn_pbd_height(&unused, constraint - SN_PBD_CONSTRAINTS, G);
    }

    double c[SN_PBD_CONSTRAINTS];
    sn_pbd_values(c, G);

    return c[constraint];
}

static sn_mat3 gradient_of(int constraint, sn_mat3 G) {
    sn_mat3 gradient;
    if (constraint < SN_PBD_CONSTRAINTS) {
        return sn_pbd_value_gradient(constraint, G);
    }
    sn_pbd_height(&gradient, constraint - SN_PBD_CONSTRAINTS, G);
    return gradient;
}

static double difference(int constraint, sn_mat3 G, sn_mat3 D, double e) {
    double forward = value_of(constraint, sn_mat3_add(G, sn_mat3_scale(e, D)));
    double backward = value_of(constraint, sn_mat3_add(G, sn_mat3_scale(-e, D)));
    return (forward - backward) / (2 * e);
}

// The seven constraints, and the three heights by which inverted tets are turned over.
static void test_gradients(void **state) {
    (void)state;
    sn_random random = sn_random_seed(4);
    int slopes = 0;

    for (int constraint = 0; constraint < SN_PBD_CONSTRAINTS + 3; constraint++) {
        for (int round = 0; round < 30; round++) {
            sn_mat3 G = trial(&random, round % 3);
            sn_mat3 D = random_matrix(&random);
            double exact = sn_mat3_contract(gradient_of(constraint, G), D);
            double coarse = difference(constraint, G, D, 1e-2) - exact;
            double fine = difference(constraint, G, D, 5e-3) - exact;

            // Second order, where the third derivative dominates and the steps are small compared
            // with the flat direction.
            if (round % 3 != NEARLY_FLAT && fabs(fine) > 1e-8) {
                test_close("slope", coarse / fine, 4, 0.4);
                slopes++;
            }

            test_close("gradient", difference(constraint, G, D, 1e-6), exact,
                       1e-6 * (fabs(exact) + 1e-3) + 1e-9);
        }
    }

    assert_true(slopes > 60);
}

// Each projection by itself conserves linear and angular momentum up to rounding: the seven, and
// the turning over of inverted tets (kind 7).
static void test_momentum(void **state) {
    (void)state;
    sn_random random = sn_random_seed(5);
    for (int round = 0; round < 320; round++) {
        int only = round % 8;
        int kind = only == 7 ? MIRRORED : round / 8 % 2;
        sn_vec3 X[4], x[4], moved[4];

        make_tet(X, &random);
        sn_mat3 F = trial(&random, kind);
        double w[4], k[7] = {0}, l[7] = {0}, largest = 0;

        for (int i = 0; i < 4; i++) {
            w[i] = in_range(&random, 0.2, 3);
            x[i] = moved[i] = sn_mat3_apply(F, X[i]);
        }

        bool compliant = round / 16 % 2 && only < 7;
        for (int i = 0; i < 7; i++) {
            k[i] = i == only ? 0.7 : compliant ? 1e60 : 0;
        }

        sn_pbd_project(moved, w, sn_pbd_rest_matrix(X, random_rotation(&random)), k,
                       compliant ? l : NULL);

        sn_vec3 linear = {0, 0, 0}, angular = {0, 0, 0};
        for (int i = 0; i < 4; i++) {
            sn_vec3 impulse = sn_scale(1 / w[i], sn_sub(moved[i], x[i]));
            linear = sn_add(linear, impulse);
            angular = sn_add(angular, sn_cross(x[i], impulse));
            largest = fmax(largest, sn_length(impulse));
        }

        assert_true(largest > 1e-6);
        test_close("linear momentum", sn_length(linear), 0, 1e-14 + 1e-12 * largest);
        test_close("angular momentum", sn_length(angular), 0, 1e-13 + 1e-11 * largest);
    }
}

static void test_rest_is_fixed(void **state) {
    (void)state;
    sn_random random = sn_random_seed(6);
    for (int round = 0; round < 100; round++) {
        sn_vec3 X[4], x[4];
        make_tet(X, &random);

        sn_mat3 R = random_rotation(&random);
        double w[4] = {1, 0.5, 2, 0};
        double k[7] = {1, 1, 1, 1, 1, 1, 1};
        double l[7] = {0};

        for (int i = 0; i < 4; i++) {
            x[i] = sn_mat3_apply(R, X[i]);
        }

        sn_pbd_project(x, w, sn_pbd_rest_matrix(X, random_rotation(&random)), k,
                       round % 2 ? l : NULL);
        for (int i = 0; i < 4; i++) {
            test_close("moved", sn_distance(x[i], sn_mat3_apply(R, X[i])), 0, 1e-13);
        }
    }
}

static const double collapses[6][3] = {{0, 0, 0},  {0, 0, 1},    {0, 1, 1},
                                       {-1, 1, 1}, {-1, -1, -1}, {-100, -100, -100}};

// Collapsed to a point, a line or a plane, mirrored, large: all stay finite, and all but points and
// lines return to rest. Points and lines have no orientation to recover, and only need to stay
// finite.
static void test_recovery(void **state) {
    (void)state;
    sn_random random = sn_random_seed(7);
    for (int round = 0; round < (TEST_SANITIZED ? 48 : 240); round++) {
        sn_vec3 X[4], x[4];
        make_tet(X, &random);

        sn_mat3 S = {0};
        sn_mat3 B = sn_pbd_rest_matrix(X, random_rotation(&random));
        for (int i = 0; i < 3; i++) {
            S.m[i][i] = collapses[round % 6][i];
        }

        double w[4] = {1, 1, 1, 1};
        double k[7] = {0.8, 0.8, 0.8, 0.5, 0.5, 0.5, 0.2};
        double c[7];

        for (int i = 0; i < 4; i++) {
            x[i] = sn_mat3_apply(S, X[i]);
        }

        for (int iteration = 0; iteration < 2000; iteration++) {
            sn_pbd_project(x, w, B, k, NULL);
            for (int i = 0; i < 4; i++) {
                assert_true(sn_finite3(x[i]));
            }
        }

        sn_pbd_values(c, sn_pbd_gradient(x, B));
        if (round % 6 >= 2) {
            for (int i = 0; i < 7; i++) {
                test_close("after recovery", c[i], 0, 1e-3);
            }
        }
    }
}

enum { NODES = 4 * SN_BLOCK };

typedef struct scene {
    double nodes[4 * NODES], expected[4 * NODES];
    sn_pbd_block block;
    sn_pbd_inertia inertia;
    sn_pbd_multipliers multipliers;
} scene;

static void store_node(double *nodes, int node, sn_vec3 x) {
    sn_store3(nodes + 4 * node, x);
    nodes[4 * node + 3] = -7; // must stay
}

// Fills the lanes with all kinds of tets, some with fixed nodes; the last lane is empty. `expected`
// is the result of sn_pbd_project.
static void make_block(scene *s, sn_random *random, bool compliant, double compliance_scale,
                       double size) {
    memset(s, 0, sizeof *s);
    double inverse_masses[4][SN_BLOCK] = {{0}};
    for (int lane = 0; lane < SN_BLOCK; lane++) {
        sn_vec3 X[4], x[4];
        make_tet(X, random);

        sn_mat3 F = trial(random, lane % 4 == 3 ? MIRRORED : UPRIGHT);
        sn_mat3 B;
        double w[4], k[7], l[7] = {0};
        if (lane == 0) {
            F = sn_mat3_add(sn_mat3_identity(), sn_mat3_scale(1e-3, random_matrix(random)));
        }

        bool empty = lane == SN_BLOCK - 1;
        for (int i = 0; i < 4; i++) {
            X[i] = sn_scale(size, X[i]);
            x[i] = sn_mat3_apply(F, X[i]);
            w[i] = inverse_masses[i][lane] = lane % 3 == 1 && i == 2 ? 0 : in_range(random, 0.2, 3);
            int node = 4 * (empty ? 0 : lane) + i;
            s->block.nodes[i][lane] = node;

            if (!empty) {
                store_node(s->nodes, node, x[i]);
            }
        }

        if (empty) {
            continue;
        }

        B = sn_pbd_rest_matrix(X, random_rotation(random));
        for (int i = 0; i < 9; i++) {
            s->block.B[i][lane] = (float)B.m[i / 3][i % 3];
            B.m[i / 3][i % 3] = (double)s->block.B[i][lane];
        }

        for (int i = 0; i < 7; i++) {
            s->block.stiffness[i][lane] = (float)in_range(random, 0.1, 1);
            s->multipliers.l[i][lane] = compliant ? (float)in_range(random, -0.1, 0.1) : 0;
            k[i] = (double)s->block.stiffness[i][lane] * (compliant ? compliance_scale : 1);
            l[i] = (double)s->multipliers.l[i][lane];
        }

        sn_pbd_project(x, w, B, k, compliant ? l : NULL);
        for (int i = 0; i < 4; i++) {
            store_node(s->expected, 4 * lane + i, x[i]);
        }
    }

    sn_pbd_compute_inertia(&s->inertia, &s->block, inverse_masses);
}

// The kernel rounds differences within a tet to floats, about 1e-7 of its size, and seven
// projections propagate that. Tets are a few sizes away from the origin, so the test would fail if
// positions themselves were rounded.
static void test_lanes(void **state) {
    (void)state;
    scene *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    for (sn_isa isa = 0; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            print_message("%s: not on this machine\n", sn_isa_name(isa));
            continue;
        }

        sn_pbd_project_fn *project = SN_ISA_PICK(isa, sn_pbd_project_blocks);
        sn_random random = sn_random_seed(8);
        double worst[2] = {0, 0}; // of upright and of mirrored tets

        for (int round = 0; round < 200; round++) {
            double size = round % 4 < 2 ? 1 : 0.01;
            double moved = 0;

            make_block(s, &random, round % 2, 0.3, size);
            sn_pbd_projection work = {s->nodes, &s->block, &s->inertia,
                                      round % 2 ? &s->multipliers : NULL, 0.3};
            double before[4 * NODES];

            memcpy(before, s->nodes, sizeof before);
            project(&work, 0, 1);
            for (int i = 0; i < 4 * (NODES - 4); i++) {
                double *error = &worst[i / 16 % 4 == 3];
                *error = fmax(*error, fabs(s->nodes[i] - s->expected[i]) / size);
                moved = fmax(moved, fabs(s->nodes[i] - before[i]) / size);
            }

            assert_true(moved > 0.01);
        }

        print_message("%s: largest difference %g of a tet's size, mirrored %g\n", sn_isa_name(isa),
                      worst[0], worst[1]);
        assert_true(worst[0] > 0 && worst[0] < 3e-6 && worst[1] < 3e-5);
    }

    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),     cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_rest_is_fixed), cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
