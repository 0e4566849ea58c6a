// Callbacks of the host: its own material, logger and tasks; and stress curves of every law
// compared with analytic ones.
#include "support/body.h"
#include "support/test.h"

#include "body/body.h"

#include <math.h>
#include <stdlib.h>

// psi = mu/2 (F:F - 3) + mu/2 (J - 1)^2 - mu (J - 1): a compressible neo-Hookean solid of the
// host's own.
static void own_law(void *user, const double F[9], const double frame[9], double *energy, double *P,
                    double *H) {
    (void)frame;
    double mu = *(const double *)user;
    sn_mat3 A;

    memcpy(A.m, F, sizeof A.m);
    sn_mat3 C = sn_mat3_cofactor(A);
    double J = sn_mat3_det(A);
    double g = mu * (J - 1) - mu;

    if (energy) {
        *energy =
            0.5 * mu * (sn_mat3_contract(A, A) - 3) + 0.5 * mu * (J - 1) * (J - 1) - mu * (J - 1);
    }

    for (int i = 0; i < 9; i++) {
        if (P) {
            P[i] = mu * F[i] + g * C.m[i / 3][i % 3];
        }
    }

    if (H) {
        // Differential of the cofactor: columns of dF crossed with those of F.
        for (int a = 0; a < 9; a++) {
            sn_mat3 dF = {{{0}}};

            dF.m[a / 3][a % 3] = 1;
            double dJ = C.m[a / 3][a % 3];
            sn_vec3 f[3], d[3], dc[3];
            for (int k = 0; k < 3; k++) {
                f[k] = sn_mat3_column(A, k);
                d[k] = sn_mat3_column(dF, k);
            }
            for (int k = 0; k < 3; k++) {
                dc[k] = sn_add(sn_cross(d[(k + 1) % 3], f[(k + 2) % 3]),
                               sn_cross(f[(k + 1) % 3], d[(k + 2) % 3]));
            }
            sn_mat3 dC = sn_mat3_columns(dc[0], dc[1], dc[2]);
            for (int b = 0; b < 9; b++) {
                H[9 * b + a] = mu * (a == b) + mu * dJ * C.m[b / 3][b % 3] + g * dC.m[b / 3][b % 3];
            }
        }
    }
}

static void test_own_material(void **state) {
    (void)state;
    double mu = 1e5;
    test_beam_def def = test_default_beam_def();

    def.material.law = SINEW_MATERIAL_CUSTOM;
    def.material.custom = (sinew_custom_material){own_law, &mu};
    def.world.integrator = SINEW_INTEGRATOR_NEWTON_EULER;

    test_beam bar = test_beam_create(&def);
    test_clamp(bar.body);

    sinew_step_report report;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(sinew_world_step(bar.world, &report), SINEW_OK);
        assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);
    }

    double tip[3];
    test_tip_displacement(bar.body, 1, tip);
    assert_true(tip[2] < -0.01 && tip[2] > -0.5);
    test_beam_destroy(&bar);
}

static int log_lines;

static void count_line(void *user, sinew_log_level level, const char *line) {
    (void)user;
    (void)level;
    assert_non_null(line);
    log_lines++;
}

static void run_backwards(void *user, void (*task)(void *data, int32_t index), void *data,
                          int32_t count) {
    (*(int *)user)++;
    for (int32_t i = count; i-- > 0;) {
        task(data, i);
    }
}

static uint64_t hash_with(sinew_tasks tasks) {
    sinew_context_def context_def = sinew_default_context_def();
    context_def.tasks = tasks;
    context_def.logger = (sinew_logger){count_line, NULL};

    sinew_context *context = sinew_context_create(&context_def);
    assert_non_null(context);

    sinew_shape_def shape = sinew_default_shape_def();
    shape.cells[0] = shape.cells[1] = shape.cells[2] = 8;

    sinew_mesh *mesh;
    assert_int_equal(sinew_mesh_create_shape(context, &shape, &mesh), SINEW_OK);

    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world;

    assert_int_equal(sinew_world_create(context, &world_def, &world), SINEW_OK);
    sinew_body_def def = sinew_default_body_def();

    def.mesh = mesh;
    sinew_body *body;

    assert_int_equal(sinew_body_create(world, &def, &body), SINEW_OK);
    int32_t nodes[200];
    int32_t count = test_pick_nodes(body, 0, -0.51, -0.49, nodes, 200);

    assert_int_equal(sinew_body_fix_nodes(body, nodes, count, SINEW_AXIS_ALL), SINEW_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
    }

    uint64_t hash = sinew_world_get_hash(world);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);

    return hash;
}

static void test_own_tasks_give_the_same_bits(void **state) {
    (void)state;
    int calls = 0;
    uint64_t own = hash_with((sinew_tasks){run_backwards, &calls});
    uint64_t pool = hash_with((sinew_tasks){NULL, NULL});
    assert_true(calls > 0);
    assert_true(own == pool);
}

// Pulled along x with free sides: the force per rest area, compared with the law's curve, for which
// the lateral stretch is solved here.
static double nominal_stress(const char *law, double stretch) {
    test_beam_def def = test_default_beam_def();
    def.length = def.thickness = 1;
    def.cells_along = def.cells_across = 1;
    def.world.gravity[2] = 0;
    def.material.poisson = 0.3;

    sinew_context *context = test_context(1);
    assert_int_equal(sinew_material_set_law(context, law, &def.material), SINEW_OK);
    sinew_context_destroy(context);

    test_beam bar = test_beam_create(&def);
    int32_t nodes[16];
    int32_t count = test_pick_nodes(bar.body, 0, -1e-9, 1e-9, nodes, 16);

    assert_int_equal(sinew_body_fix_nodes(bar.body, nodes, count, SINEW_AXIS_X), SINEW_OK);
    // The centre lines y = 0, z = 0 have no node: hold two faces instead.
    for (int32_t i = 0; i < bar.body->rows; i++) {
        if (bar.body->rest[3 * i + 1] < -0.49) {
            bar.body->mask[3 * i + 1] = 1;
        }
        if (bar.body->rest[3 * i + 2] < -0.49) {
            bar.body->mask[3 * i + 2] = 1;
        }
    }
    count = test_pick_nodes(bar.body, 0, 1 - 1e-9, 1 + 1e-9, nodes, 16);

    for (int32_t i = 0; i < count; i++) {
        double target[3];
        bar.body->mask[3 * nodes[i]] = 1;
        sn_store3(target, sn_load3(bar.body->q + 3 * nodes[i]));
        target[0] = stretch;
        assert_int_equal(sinew_body_move_nodes(bar.body, &nodes[i], 1, target), SINEW_OK);
    }

    sinew_static_def statics = sinew_default_static_def();
    statics.newton_tolerance = 1e-11;
    statics.load_steps = 8;

    sinew_step_report report;
    assert_int_equal(sinew_world_solve_static(bar.world, &statics, &report), SINEW_OK);

    double *reaction = malloc((size_t)sn_body_size(bar.body) * sizeof *reaction);
    double force = 0;

    sinew_body_compute_reactions(bar.body, reaction);
    for (int32_t i = 0; i < count; i++) {
        force += reaction[3 * nodes[i]];
    }

    free(reaction);
    test_beam_destroy(&bar);

    return force;
}

static void test_uniaxial_curves(void **state) {
    (void)state;
    double E = 1e6;
    double nu = 0.3;
    double mu = E / (2 * (1 + nu));
    double lambda = E * nu / ((1 + nu) * (1 - 2 * nu));

    for (double s = 0.8; s < 1.7; s += 0.4) {
        test_close("corotational", nominal_stress("corotational", s), E * (s - 1), 1e-6 * E);
        test_close("linear", nominal_stress("linear", s), E * (s - 1), 1e-6 * E);

        // Green strain: S = E (s^2 - 1)/2, P = s S.
        test_close("st-venant-kirchhoff", nominal_stress("st-venant-kirchhoff", s),
                   E * s * (s * s - 1) / 2, 1e-6 * E);

        // Neo-Hookean: lateral stretch t with mu (t^2 - 1) + lambda ln(s t^2) = 0, by bisection.
        double low = 0.1, high = 3;
        for (int i = 0; i < 200; i++) {
            double t = 0.5 * (low + high);
            if (mu * (t * t - 1) + lambda * log(s * t * t) > 0) {
                high = t;
            } else {
                low = t;
            }
        }

        double J = s * low * low;
        test_close("neo-hookean", nominal_stress("neo-hookean", s),
                   (mu * (s * s - 1) + lambda * log(J)) / s, 1e-6 * E);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_material),
        cmocka_unit_test(test_own_tasks_give_the_same_bits),
        cmocka_unit_test(test_uniaxial_curves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
