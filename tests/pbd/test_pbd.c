// A body under position dynamics: rest, free fall, momentum, threads, cores, recovery from extreme
// states, invalid definitions, memory.
#include "pbd/body.h"
#include "support/hash.h"

#include "math/quat.h"

static double *copy_positions(const sinew_pbd *pbd) {
    double *positions = malloc(3 * (size_t)pbd->node_count * sizeof *positions);
    sinew_pbd_get_positions(pbd, positions);
    return positions;
}

// Without gravity nothing moves beyond the rounding of floats, 1e-7 of a cell; with gravity a free
// body falls by h^2 g n(n+1)/2.
static void test_rest_and_free_fall(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 4);

    for (int falls = 0; falls < 2; falls++) {
        sinew_pbd_def def = sinew_default_pbd_def();
        def.damping = 3; // must not brake a fall
        if (!falls) {
            def.gravity[2] = 0;
        }

        sinew_pbd *pbd = make_body(context, mesh, &def);
        for (int step = 0; step < 50; step++) {
            assert_int_equal(sinew_pbd_step(pbd, 0.02, NULL, NULL), SINEW_OK);
        }

        double *positions = copy_positions(pbd);
        double fallen = falls ? 9.81 * 0.02 * 0.02 * 50 * 51 / 2 : 0;
        for (int32_t i = 0; i < mesh->point_count; i++) {
            sn_vec3 expected = sn_add(sn_load3(mesh->points + 3 * i), sn_v3(0, 0, -fallen));
            test_close("place", sn_distance(sn_load3(positions + 3 * i), expected), 0, 2e-6);
        }

        test_close("residual", measure(pbd).residual, 0, 1e-6);
        test_close("volume", measure(pbd).volume, 3, 1e-5);
        free(positions);
        sinew_pbd_destroy(pbd);
    }

    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

typedef struct momentum {
    sn_vec3 center, linear, angular;
    double mass;
} momentum;

static momentum find_momentum(const sinew_pbd *pbd) {
    momentum m = {0};
    for (int32_t i = 0; i < pbd->node_count; i++) {
        m.mass += pbd->masses[i];
        m.center = sn_madd(m.center, pbd->masses[i], sn_load3(pbd->nodes + 4 * i));
        m.linear = sn_madd(m.linear, pbd->masses[i], sn_load3(pbd->velocities + 4 * i));
    }

    m.center = sn_scale(1 / m.mass, m.center);
    for (int32_t i = 0; i < pbd->node_count; i++) {
        sn_vec3 r = sn_sub(sn_load3(pbd->nodes + 4 * i), m.center);
        m.angular =
            sn_madd(m.angular, pbd->masses[i], sn_cross(r, sn_load3(pbd->velocities + 4 * i)));
    }

    return m;
}

// Six seconds of a spinning, wobbling free body. Returns the relative loss of angular momentum;
// linear momentum is conserved up to the rounding of floats.
static double lose_spin(sinew_context *context, const sinew_mesh *mesh, const sinew_pbd_def *def,
                        double h) {
    sinew_pbd *pbd = make_body(context, mesh, def);
    double *velocities = malloc(3 * (size_t)pbd->node_count * sizeof *velocities);
    for (int32_t i = 0; i < pbd->node_count; i++) {
        sn_vec3 X = sn_load3(mesh->points + 3 * i);
        sn_vec3 spin = sn_cross(sn_v3(1.5, 0.3, -0.7), X);
        sn_store3(velocities + 3 * i,
                  sn_add(spin, sn_v3(0.3 + 0.5 * sin(5 * X.z), 0.1, 0.4 * cos(3 * X.x))));
    }

    assert_int_equal(sinew_pbd_set_state(pbd, mesh->points, velocities), SINEW_OK);
    momentum before = find_momentum(pbd);
    for (int step = 0; step < 6 / h; step++) {
        assert_int_equal(sinew_pbd_step(pbd, h, NULL, NULL), SINEW_OK);
    }

    momentum after = find_momentum(pbd);
    test_close("linear", sn_distance(after.linear, before.linear) / sn_length(before.linear), 0,
               1e-5);
    free(velocities);
    sinew_pbd_destroy(pbd);

    return sn_distance(after.angular, before.angular) / sn_length(before.angular);
}

// As with implicit Euler, a spin w decays at the rate w^2 h / 2: half the step, half the loss.
static void test_momentum(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 3);
    int32_t *cores = malloc((size_t)mesh->element_count * sizeof *cores);

    for (int32_t t = 0; t < mesh->element_count; t++) {
        double z = 0;
        for (int k = 0; k < 4; k++) {
            z += mesh->points[3 * mesh->indices[4 * t + k] + 2] / 4;
        }
        cores[t] = z < -0.7 ? 4 : z > 1 ? 1 : -1;
    }

    for (int kind = 0; kind < 4; kind++) {
        sinew_pbd_def def = sinew_default_pbd_def();
        sinew_pbd_material soft = sinew_isotropic_pbd_material(1e6, 0.3, 1000);

        def.gravity[2] = 0;
        def.consolidating = 0;
        def.damping = kind == 2 ? 5 : 0;
        def.cores = kind == 3 ? cores : NULL;

        if (kind == 1) {
            def.mode = SINEW_PBD_COMPLIANCE;
            def.materials = &soft;
            def.material_count = 1;
        }

        double coarse = lose_spin(context, mesh, &def, 0.01);
        double fine = lose_spin(context, mesh, &def, 0.005);

        print_message("kind %d: %g of the spin lost in 6 s, %g at half the step\n", kind, coarse,
                      fine);
        assert_true(coarse < 0.2);
        test_close("first order", coarse / fine, 2, 0.4);
    }

    free(cores);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// Twists the upper end of a held box, with all features on: layers, consolidation, damping.
static uint64_t simulate(sinew_context *context, void *user) {
    int kind = *(const int *)user;
    sinew_mesh *mesh = make_box(context, TEST_SANITIZED ? 5 : 8);
    uint8_t *kinematic = hold_bottom(mesh, -1.2);
    int32_t *cores = malloc((size_t)mesh->element_count * sizeof *cores);

    for (int32_t i = 0; i < mesh->point_count; i++) {
        kinematic[i] |= mesh->points[3 * i + 2] > 1.4;
    }

    for (int32_t t = 0; t < mesh->element_count; t++) {
        const double *p = mesh->points + 3 * mesh->indices[4 * t];
        cores[t] = fabs(p[0]) < 0.2 && fabs(p[1]) < 0.2 && fabs(p[2]) < 0.3 ? 0 : -1;
    }

    sinew_pbd_material soft = sinew_isotropic_pbd_material(1e5, 0.3, 1000);
    sinew_pbd_def def = sinew_default_pbd_def();
    def.gravity[1] = -9.81;
    def.gravity[2] = 0;

    def.order = kind == 1 ? SINEW_PBD_COLORED : kind == 2 ? SINEW_PBD_SEQUENCE : SINEW_PBD_LAYERED;
    def.kinematic = kinematic;
    def.iterations = 6;
    if (kind == 3) {
        def.cores = cores;
    }

    if (kind == 4) {
        def.mode = SINEW_PBD_COMPLIANCE;
        def.materials = &soft;
        def.material_count = 1;
    }

    sinew_pbd *pbd = make_body(context, mesh, &def);
    double *targets = copy_positions(pbd);
    int64_t allocations = 0;

    for (int step = 0; step < (TEST_SANITIZED ? 4 : 8); step++) {
        double angle = 0.2 * (step + 1);
        for (int32_t i = 0; i < mesh->point_count; i++) {
            sn_vec3 X = sn_load3(mesh->points + 3 * i);
            if (X.z < 0) {
                continue;
            }
            sn_store3(targets + 3 * i, sn_v3(X.x * cos(angle) - X.y * sin(angle),
                                             X.x * sin(angle) + X.y * cos(angle), X.z));
        }

        assert_int_equal(sinew_pbd_step(pbd, 0.02, targets, NULL), SINEW_OK);
        if (step == 0) {
            allocations = context->allocations;
        }
    }

    // No step after the first allocates, and the held nodes are at their targets.
    assert_int_equal(context->allocations, allocations);
    for (int32_t i = 0; i < pbd->node_count; i++) {
        if (kinematic[i]) {
            assert_true(sn_distance(sn_load3(pbd->nodes + 4 * i), sn_load3(targets + 3 * i)) == 0);
        }
    }

    sinew_pbd_report report = measure(pbd);
    assert_true(report.residual > 1e-3 && report.residual < 0.5 && report.worst_tet >= 0);

    uint64_t hash =
        test_hash(TEST_HASH_START, pbd->nodes, 4 * (size_t)pbd->node_count * sizeof(double));

    hash = test_hash(hash, pbd->velocities, 4 * (size_t)pbd->node_count * sizeof(double));
    hash = test_hash(hash, &report.residual, sizeof report.residual);
    free(targets);
    free(cores);
    free(kinematic);
    sinew_pbd_destroy(pbd);
    sinew_mesh_destroy(mesh);

    return hash;
}

static void test_threads(void **state) {
    (void)state;
    static const char *const names[] = {"layered", "coloured", "sequence", "with a core",
                                        "compliant"};
    for (int kind = 0; kind < 5; kind++) {
        test_over_threads(names[kind], simulate, &kind);
    }
}

// Compliances along the axes of the material frames: a bar along z that hangs from its lower end
// grows by rho g L^2 / (2 E), with the modulus of the axis that its frames map to z. Shear and
// volume are left out, so that E is the modulus of stretch itself.
static void test_frames(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 2);
    uint8_t *kinematic = hold_bottom(mesh, -1.49);
    static const double moduli[3] = {2e6, 5e5, 1e6};
    sinew_pbd_material material = {{moduli[0], moduli[1], moduli[2]}, {1e5, 1e5, 1e5}, 0, 1000};
    double *frames = calloc(9 * (size_t)mesh->element_count, sizeof *frames);

    for (int axis = 0; axis < 3; axis++) {
        // Column `axis` is z, the two after it are x and y: a rotation.
        for (int32_t t = 0; t < mesh->element_count; t++) {
            memset(frames + 9 * t, 0, 9 * sizeof *frames);
            for (int k = 0; k < 3; k++) {
                frames[9 * t + 3 * ((2 + k) % 3) + (axis + k) % 3] = 1;
            }
        }

        sinew_pbd_def def = sinew_default_pbd_def();
        def.mode = SINEW_PBD_COMPLIANCE;
        def.materials = &material;
        def.material_count = 1;
        def.frames = frames;
        def.kinematic = kinematic;
        def.iterations = 60;
        def.drag = 5;
        memcpy(def.gravity, (double[3]){0, 0, 9.81}, sizeof def.gravity);

        sinew_pbd *pbd = make_body(context, mesh, &def);
        for (int step = 0; step < 150; step++) {
            assert_int_equal(sinew_pbd_step(pbd, 0.02, NULL, NULL), SINEW_OK);
        }

        double *positions = copy_positions(pbd);
        double grown = 0;
        for (int32_t i = 0; i < mesh->point_count; i++) {
            grown = fmax(grown, positions[3 * i + 2] - 1.5);
        }

        double expected = 1000 * 9.81 * 9 / (2 * moduli[axis]);
        print_message("axis %d: grows by %.4f m, expected %.4f m\n", axis + 1, grown, expected);

        // Six tets along the bar, and as many iterations as a test can afford.
        test_close("growth", grown / expected, 1, 0.03);
        free(positions);
        sinew_pbd_destroy(pbd);
    }

    free(frames);
    free(kinematic);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// A driven core follows its nodes, a free one stays rigid, and the soft part between them follows
// both.
static void test_cores(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 3);
    int32_t *cores = malloc((size_t)mesh->element_count * sizeof *cores);
    uint8_t *kinematic = calloc((size_t)mesh->point_count, 1);

    for (int32_t t = 0; t < mesh->element_count; t++) {
        double z = 0;
        for (int k = 0; k < 4; k++) {
            z += mesh->points[3 * mesh->indices[4 * t + k] + 2] / 4;
        }

        cores[t] = z < -1.2 ? 0 : z > 0.8 ? 7 : -1;
        if (cores[t] == 0) {
            for (int k = 0; k < 4; k++) {
                kinematic[mesh->indices[4 * t + k]] = 1;
            }
        }
    }

    sinew_pbd_def def = sinew_default_pbd_def();
    def.gravity[1] = -9.81;
    def.gravity[2] = 0;
    def.cores = cores;
    def.kinematic = kinematic;

    sinew_pbd *pbd = make_body(context, mesh, &def);
    assert_int_equal(pbd->cores.count, 1);

    double *targets = copy_positions(pbd);
    for (int step = 0; step < 60; step++) {
        for (int32_t i = 0; i < mesh->point_count; i++) {
            targets[3 * i] = mesh->points[3 * i] + 0.3 * sin(0.2 * step);
        }
        assert_int_equal(sinew_pbd_step(pbd, 0.02, targets, NULL), SINEW_OK);
    }

    int32_t first = -1;
    double moved = 0;
    for (int32_t i = 0; i < mesh->point_count; i++) {
        if (pbd->cores.node_cores[i] != 7) {
            continue;
        }
        if (first < 0) {
            first = i;
        }

        double rest =
            sn_distance(sn_load3(mesh->points + 3 * i), sn_load3(mesh->points + 3 * first));

        test_close("distance",
                   sn_distance(sn_load3(pbd->nodes + 4 * i), sn_load3(pbd->nodes + 4 * first)),
                   rest, 1e-13);
        moved =
            fmax(moved, sn_distance(sn_load3(pbd->nodes + 4 * i), sn_load3(mesh->points + 3 * i)));
    }

    assert_true(moved > 0.1);

    // With one kinematic node less, the core is neither free nor driven.
    for (int32_t i = 0; i < mesh->point_count; i++) {
        if (!kinematic[i]) {
            continue;
        }
        kinematic[i] = 0;
        break;
    }

    sinew_pbd *bad = NULL;
    assert_int_equal(sinew_pbd_create(context, mesh, &def, &bad), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "core 0"));
    cores[0] = cores[0] == 7 ? 8 : 7;
    def.kinematic = NULL;
    assert_int_equal(sinew_pbd_create(context, mesh, &def, &bad), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "must not touch"));
    assert_null(bad);
    free(targets);
    free(kinematic);
    free(cores);
    sinew_pbd_destroy(pbd);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// Mirrored, flattened, collapsed to a point, random: never a NaN, and the held body returns to its
// rest shape without gravity.
static void test_recovery(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_mesh *mesh = make_box(context, 4);
    uint8_t *kinematic = hold_bottom(mesh, -1.2);

    for (int kind = 0; kind < 5; kind++) {
        sinew_pbd_def def = sinew_default_pbd_def();
        def.kinematic = kinematic;
        def.gravity[2] = 0;
        def.drag = 5;

        sinew_pbd *pbd = make_body(context, mesh, &def);
        double *positions = copy_positions(pbd);
        sn_random random = sn_random_seed(9);

        // Mirrored, flattened, collapsed to a point, mirrored along the bar, random.
        for (int32_t i = 0; i < pbd->node_count; i++) {
            double *x = positions + 3 * i;
            if (kinematic[i]) {
                continue;
            }
            if (kind == 0) {
                x[0] = -x[0];
            }
            if (kind == 1) {
                x[1] = 0;
            }
            if (kind == 2) {
                sn_store3(x, sn_v3(0, 0, -1.2));
            }
            if (kind == 3) {
                x[2] = -2.4 - x[2];
            }

            if (kind == 4) {
                for (int k = 0; k < 3; k++) {
                    x[k] = sn_random_range(&random, -2, 2);
                }
            }
        }

        assert_int_equal(sinew_pbd_set_state(pbd, positions, NULL), SINEW_OK);

        // Run until the residual is small.
        int32_t inverted = measure(pbd).inverted;
        int steps = 0;

        for (; steps < 1500 && (steps == 0 || measure(pbd).residual > 1e-3); steps++) {
            assert_int_equal(sinew_pbd_step(pbd, 1.0 / 60, NULL, NULL), SINEW_OK);
        }

        sinew_pbd_report report = measure(pbd);
        print_message("start %d: %d of %d inverted, after %d steps %d, residual %g\n", kind,
                      inverted, pbd->tet_count, steps, report.inverted, report.residual);
        assert_int_equal(report.inverted, 0);
        assert_true(report.residual < 1e-3);
        free(positions);
        sinew_pbd_destroy(pbd);
    }

    free(kinematic);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// A number that is not finite gives a status and leaves the state unchanged.
static void test_divergence(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 2);
    sinew_pbd_def def = sinew_default_pbd_def();
    def.gravity[1] = -9.81;
    def.gravity[2] = 0;
    sinew_pbd *pbd = make_body(context, mesh, &def);
    double *forces = calloc(3 * (size_t)pbd->node_count, sizeof *forces);
    double *before = copy_positions(pbd);

    forces[4] = NAN;
    assert_int_equal(sinew_pbd_step(pbd, 0.01, NULL, forces), SINEW_DIVERGED);

    double *after = copy_positions(pbd);
    assert_memory_equal(after, before, 3 * (size_t)pbd->node_count * sizeof *after);
    assert_int_equal(sinew_pbd_step(pbd, 0.01, NULL, NULL), SINEW_OK);
    assert_int_equal(sinew_pbd_step(pbd, 0, NULL, NULL), SINEW_INVALID_ARGUMENT);
    before[7] = INFINITY;
    assert_int_equal(sinew_pbd_set_state(pbd, before, NULL), SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "node 2"));
    free(forces);
    free(before);
    free(after);
    sinew_pbd_destroy(pbd);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

static void expect_refusal(sinew_context *context, const sinew_mesh *mesh, const sinew_pbd_def *def,
                           sinew_status status, const char *word) {
    sinew_pbd *pbd = NULL;
    assert_int_equal(sinew_pbd_create(context, mesh, def, &pbd), status);
    assert_null(pbd);
    if (!strstr(sinew_context_message(context), word)) {
        fail_msg("'%s' does not contain '%s'", sinew_context_message(context), word);
    }
}

static void test_bad_definitions(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 2);
    sinew_pbd_material materials[2] = {sinew_default_pbd_material(), sinew_default_pbd_material()};
    sinew_pbd_def good = sinew_default_pbd_def();
    sinew_pbd_def bad;

    good.materials = materials;
    good.material_count = 2;
    bad = good;
    bad.iterations = 0;
    expect_refusal(context, mesh, &bad, SINEW_INVALID_ARGUMENT, "iterations");
    bad = good;
    bad.consolidating = 11;
    expect_refusal(context, mesh, &bad, SINEW_INVALID_ARGUMENT, "consolidating");
    bad = good;
    bad.damping = NAN;
    expect_refusal(context, mesh, &bad, SINEW_INVALID_ARGUMENT, "damping");
    bad = good;
    bad.mode = SINEW_PBD_COMPLIANCE;
    bad.materials = NULL;
    bad.material_count = 0;
    expect_refusal(context, mesh, &bad, SINEW_INVALID_ARGUMENT, "modulus");
    materials[1].shear[2] = 1e6;
    expect_refusal(context, mesh, &good, SINEW_INVALID_ARGUMENT, "material 1: shear");
    materials[1] = materials[0];

    int32_t *tet_materials = calloc((size_t)mesh->element_count, sizeof *tet_materials);
    tet_materials[5] = 2;
    bad = good;
    bad.tet_materials = tet_materials;
    expect_refusal(context, mesh, &bad, SINEW_INVALID_DATA, "tet 5");
    free(tet_materials);

    double *frames = calloc(9 * (size_t)mesh->element_count, sizeof *frames);
    bad = good;
    bad.frames = frames;
    expect_refusal(context, mesh, &bad, SINEW_INVALID_DATA, "frame of tet 0");
    free(frames);

    sinew_mesh surface = *mesh;
    surface.element = SINEW_ELEMENT_TRIANGLE;
    expect_refusal(context, &surface, &good, SINEW_UNSUPPORTED, "4-node tets");
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    bool succeeded = false;
    for (int64_t fail_at = 0; !succeeded; fail_at++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);
        sinew_mesh *mesh = make_box(context, 2);
        int32_t *cores = malloc((size_t)mesh->element_count * sizeof *cores);

        for (int32_t t = 0; t < mesh->element_count; t++) {
            cores[t] = t == 3 ? 0 : -1;
        }

        sinew_pbd_def def = sinew_default_pbd_def();
        def.gravity[1] = -9.81;
        def.gravity[2] = 0;
        def.order = fail_at % 2 ? SINEW_PBD_SEQUENCE : SINEW_PBD_LAYERED;
        def.cores = cores;
        allocator.fail_at = allocator.calls + fail_at / 2;

        sinew_pbd *pbd = NULL;
        sinew_status status = sinew_pbd_create(context, mesh, &def, &pbd);

        succeeded = status == SINEW_OK && fail_at % 2 == 0;
        assert_true(status == SINEW_OK ? pbd != NULL : status == SINEW_OUT_OF_MEMORY && !pbd);
        sinew_pbd_destroy(pbd);
        sinew_mesh_destroy(mesh);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        free(cores);
    }
}

int main(void) {
    if (TEST_WATCHES_THREADS) {
        cmocka_set_test_filter("test_threads*");
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_and_free_fall),
        cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_bad_definitions),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
