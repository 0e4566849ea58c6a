// A body under position dynamics in a world: the same motion as by itself, next to other bodies,
// across snapshots and with prescribed nodes; calls that are refused.
#include "pbd/body.h"

#include "sinew/body.h"

#include "math/quat.h"
#include "pbd/pbd_body.h"

#include <stdlib.h>

static sinew_world *make_world(sinew_context *context) {
    sinew_world_def def = sinew_default_world_def();
    def.step = 0.02;
    sinew_world *world = NULL;
    assert_int_equal(sinew_world_create(context, &def, &world), SINEW_OK);
    return world;
}

static sinew_body *add_body(sinew_context *context, sinew_world *world, const sinew_mesh *mesh,
                            const sinew_pbd_def *def) {
    sinew_pbd_body_def body_def = sinew_default_pbd_body_def();
    body_def.mesh = mesh;
    body_def.pbd = *def;
    sinew_body *body = NULL;

    if (sinew_pbd_body_create(world, &body_def, &body) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }

    return body;
}

static void hold(sinew_body *body, const uint8_t *kinematic) {
    for (int32_t i = 0; i < sinew_body_get_node_count(body); i++) {
        if (kinematic[i]) {
            assert_int_equal(sinew_body_fix_nodes(body, &i, 1, SINEW_AXIS_ALL), SINEW_OK);
        }
    }
}

// The world applies gravity as a force, the solver by itself as an acceleration: equal up to
// rounding.
static void test_same_as_alone(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 4);
    uint8_t *kinematic = hold_bottom(mesh, -1.2);
    sinew_pbd_def def = sinew_default_pbd_def();
    sinew_world *world = make_world(context);
    sinew_body *body = add_body(context, world, mesh, &def);
    sinew_body *elastic = NULL;

    hold(body, kinematic);
    sinew_body_def elastic_def = sinew_default_body_def();

    elastic_def.mesh = mesh;
    elastic_def.position[0] = 3;
    assert_int_equal(sinew_body_create(world, &elastic_def, &elastic), SINEW_OK);
    memcpy(def.gravity, (double[3]){0, 0, -9.81}, sizeof def.gravity);
    def.kinematic = kinematic;

    sinew_pbd *alone = make_body(context, mesh, &def);
    double *targets = malloc(3 * (size_t)mesh->point_count * sizeof *targets);

    memcpy(targets, mesh->points, 3 * (size_t)mesh->point_count * sizeof *targets);
    for (int step = 0; step < 20; step++) {
        for (int32_t i = 0; i < mesh->point_count; i++) {
            if (!kinematic[i]) {
                continue;
            }
            targets[3 * i] = mesh->points[3 * i] + 0.1 * sin(0.3 * (step + 1));
            assert_int_equal(sinew_body_move_nodes(body, &i, 1, targets + 3 * i), SINEW_OK);
        }

        assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
        assert_int_equal(sinew_pbd_step(alone, 0.02, targets, NULL), SINEW_OK);
    }

    double *expected = malloc(3 * (size_t)mesh->point_count * sizeof *expected);
    sinew_pbd_get_positions(alone, expected);

    size_t count = 3 * (size_t)mesh->point_count;
    assert_true(test_relative_error(sinew_body_get_positions(body), expected, count) < 1e-6);
    sinew_pbd_get_velocities(alone, expected);
    assert_true(test_relative_error(sinew_body_get_velocities(body), expected, count) < 1e-4);

    sinew_measures measures;
    sinew_body_get_measures(body, &measures);
    test_close("mass", measures.mass, 3000, 1e-6);
    test_close("volume", measures.volume, 3, 0.1);
    assert_true(isnan(measures.elastic_energy) && measures.kinetic_energy > 0);

    // The elastic body next to it fell freely.
    test_close("fallen", mesh->points[2] - sinew_body_get_positions(elastic)[2], 9.81 * 4e-4 * 210,
               1e-6);
    free(expected);
    free(targets);
    free(kinematic);
    sinew_pbd_destroy(alone);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// With a free core and supports that change during the run.
static void test_snapshot(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_mesh *mesh = make_box(context, 3);
    int32_t *cores = malloc((size_t)mesh->element_count * sizeof *cores);

    for (int32_t t = 0; t < mesh->element_count; t++) {
        double z = 0;
        for (int k = 0; k < 4; k++) {
            z += mesh->points[3 * mesh->indices[4 * t + k] + 2] / 4;
        }
        cores[t] = z > 0.8 ? 7 : -1;
    }

    uint8_t *kinematic = hold_bottom(mesh, -1.2);
    sinew_pbd_def def = sinew_default_pbd_def();

    def.cores = cores;
    sinew_world *world = make_world(context);
    sinew_body *body = add_body(context, world, mesh, &def);

    hold(body, kinematic);
    for (int step = 0; step < 7; step++) {
        assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
    }

    size_t size = sinew_world_get_snapshot_size(world);
    void *bytes = malloc(size);

    assert_int_equal(sinew_world_take_snapshot(world, bytes, size), SINEW_OK);
    for (int step = 0; step < 7; step++) {
        assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
    }

    uint64_t hash = sinew_world_get_hash(world);

    // An identically built world in which nothing is held restores the state, including the
    // supports.
    sinew_world *other = make_world(context);
    sinew_body *copy = add_body(context, other, mesh, &def);

    assert_int_equal(sinew_world_step(other, NULL), SINEW_OK);
    assert_int_equal(sinew_world_restore_snapshot(other, bytes, size), SINEW_OK);
    for (int step = 0; step < 7; step++) {
        assert_int_equal(sinew_world_step(other, NULL), SINEW_OK);
    }

    assert_true(sinew_world_get_hash(other) == hash);

    // The held end has not moved, and the core has rotated without deforming.
    for (int32_t i = 0; i < mesh->point_count; i++) {
        if (!kinematic[i]) {
            continue;
        }
        assert_true(memcmp(sinew_body_get_positions(copy) + 3 * i, mesh->points + 3 * i,
                           3 * sizeof(double)) == 0);
    }

    free(bytes);
    free(cores);
    free(kinematic);
    sinew_world_destroy(other);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// Stress and energy of moduli in a rotated material frame: dW = P : dF V to second order in the
// size of dF.
static void test_element_state(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 1);
    double *frames = malloc(9 * (size_t)mesh->element_count * sizeof *frames);
    sn_mat3 Q = sn_quat_to_mat3(sn_quat_exp(sn_v3(0.4, -1.1, 0.7)));

    for (int32_t t = 0; t < mesh->element_count; t++) {
        memcpy(frames + 9 * t, Q.m, sizeof Q.m);
    }

    // Different moduli along the axes of the material.
    sinew_pbd_material material = {{3e4, 1e4, 2e4}, {5e3, 4e3, 6e3}, 1e4, 1000};
    sinew_pbd_def def = sinew_default_pbd_def();

    def.mode = SINEW_PBD_COMPLIANCE;
    def.materials = &material;
    def.material_count = 1;
    def.frames = frames;

    sinew_world *world = make_world(context);
    sinew_body *body = add_body(context, world, mesh, &def);
    size_t count = 3 * (size_t)mesh->point_count;
    double *x = malloc(count * sizeof *x);
    sn_mat3 F = {{{1.2, 0.1, -0.2}, {0.05, 0.9, 0.3}, {0.1, -0.15, 1.1}}};
    sn_mat3 dF = {{{0.3, -0.2, 0.5}, {0.7, 0.1, -0.4}, {-0.6, 0.2, 0.35}}};
    double energy[5], work = 0, errors[2];
    sinew_element_state element;

    // Energies at F, and at F + s dF for two step sizes of both signs; the work of the stress at F.
    for (int pass = 0; pass < 5; pass++) {
        double s = pass == 0 ? 0 : (pass % 2 ? 1 : -1) * (pass < 3 ? 1e-3 : 1e-4);
        sn_mat3 now = sn_mat3_add(F, sn_mat3_scale(s, dF));
        for (size_t i = 0; i < count; i += 3) {
            sn_store3(x + i, sn_mat3_apply(now, sn_load3(mesh->points + i)));
        }

        assert_int_equal(sinew_body_set_positions(body, x), SINEW_OK);
        sinew_measures measures;

        sinew_body_get_measures(body, &measures);
        energy[pass] = measures.elastic_energy;
        if (pass > 0) {
            continue;
        }

        assert_int_equal(sinew_body_get_element_state(body, 0, &element), SINEW_OK);
        test_close("J", element.J, sn_mat3_det(F), 1e-12);
        test_close("volume", measures.volume, 3 * sn_mat3_det(F), 1e-10);

        sn_mat3 sigma = {{{element.stress[0], element.stress[5], element.stress[4]},
                          {element.stress[5], element.stress[1], element.stress[3]},
                          {element.stress[4], element.stress[3], element.stress[2]}}};

        work = measures.rest_volume * sn_mat3_contract(sn_mat3_mul(sigma, sn_mat3_cofactor(F)), dF);
    }

    // The work is the derivative of the energy.
    errors[0] = fabs((energy[1] - energy[2]) / 2e-3 - work) / fabs(work);
    errors[1] = fabs((energy[3] - energy[4]) / 2e-4 - work) / fabs(work);
    print_message("work %g J, relative errors %g and %g\n", work, errors[0], errors[1]);
    assert_true(fabs(work) > 1 && errors[1] < 1e-6 && errors[1] < 0.02 * errors[0]);
    free(x);
    free(frames);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

static void test_refusals(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 2);
    sinew_world *world = make_world(context);
    sinew_pbd_def def = sinew_default_pbd_def();
    sinew_body *body = add_body(context, world, mesh, &def);
    sinew_static_def statics = sinew_default_static_def();
    sinew_step_report report;
    double frequency;

    assert_int_equal(sinew_world_solve_static(world, &statics, &report), SINEW_UNSUPPORTED);
    assert_int_equal(sinew_body_compute_modes(body, 1, &frequency, NULL), SINEW_UNSUPPORTED);

    sinew_material_def material = sinew_default_material_def();
    assert_int_equal(sinew_body_set_material(body, 0, &material), SINEW_UNSUPPORTED);

    // An attachment to a body that is solved for by equations.
    sinew_material_def soft = sinew_default_material_def();
    sinew_body_def solved = sinew_default_body_def();
    solved.mesh = mesh;
    solved.materials = &soft;
    solved.material_count = 1;
    sinew_body *other = NULL;
    assert_int_equal(sinew_body_create(world, &solved, &other), SINEW_OK);
    sinew_attachment_def attachment = sinew_default_attachment_def();
    attachment.body = body;
    attachment.target = other;
    assert_int_equal(sinew_world_attach(world, &attachment, NULL), SINEW_UNSUPPORTED);
    sinew_body_destroy(other);

    int32_t node = 4;
    assert_int_equal(sinew_body_fix_nodes(body, &node, 1, SINEW_AXIS_Z), SINEW_OK);
    assert_int_equal(sinew_world_step(world, NULL), SINEW_UNSUPPORTED);
    assert_non_null(strstr(sinew_context_message(context), "node 4"));
    assert_true(sinew_world_get_time(world) == 0);
    assert_int_equal(sinew_body_fix_nodes(body, &node, 1, 0), SINEW_OK);
    assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);

    sinew_pbd_body_def bad = sinew_default_pbd_body_def();
    bad.mesh = mesh;
    bad.pbd.mode = SINEW_PBD_COMPLIANCE;
    assert_int_equal(sinew_pbd_body_create(world, &bad, NULL), SINEW_INVALID_ARGUMENT);
    bad.pbd = def;
    bad.pbd.iterations = 0;
    assert_int_equal(sinew_pbd_body_create(world, &bad, NULL), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_world_get_body_count(world), 1);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// Every allocation fails once: the status says so, and nothing leaks.
static void test_memory(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 1);
    int failures = 0;

    for (int64_t n = 0;; n++) {
        test_allocator allocator = {.fail_at = n};
        sinew_context *failing = test_context_failing(&allocator);
        if (!failing) {
            continue;
        }

        sinew_world_def def = sinew_default_world_def();
        sinew_world *world = NULL;
        sinew_status status = sinew_world_create(failing, &def, &world);
        sinew_pbd_body_def body_def = sinew_default_pbd_body_def();

        body_def.mesh = mesh;
        sinew_body *body = NULL;
        if (status == SINEW_OK) {
            status = sinew_pbd_body_create(world, &body_def, &body);
        }

        int32_t node = 0;
        if (status == SINEW_OK) {
            status = sinew_body_fix_nodes(body, &node, 1, SINEW_AXIS_ALL);
        }
        if (status == SINEW_OK) {
            status = sinew_world_step(world, NULL);
        }

        sinew_world_destroy(world);
        sinew_context_destroy(failing);
        assert_int_equal(allocator.live, 0);
        if (status == SINEW_OK) {
            break;
        }

        assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        failures++;
    }

    assert_true(failures > 5);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_alone), cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_element_state), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
