// Progress and cancellation: a call that is cancelled at its n-th report, for every n, fails with
// SINEW_CANCELLED and leaves the state as it was; done again, it gives the same bits.
#include "support/body.h"
#include "support/test.h"

#include "base/context.h"

typedef struct watcher {
    int32_t reports;
    int32_t stop_at; // the number of the report that is answered with false; 0: none
} watcher;

static bool watch(void *user, const char *what, double share) {
    watcher *w = user;
    assert_non_null(what);
    assert_true(share == -1 || (share >= 0 && share <= 1));
    return ++w->reports != w->stop_at;
}

static test_beam make_beam(watcher *w) {
    test_beam_def def = test_default_beam_def();
    def.world.integrator = SINEW_INTEGRATOR_NEWTON_EULER;
    def.world.solver = SINEW_SOLVER_JACOBI; // many iterations, which report too
    def.material.young = 1e5;               // soft, so that gravity takes several iterations
    test_beam beam = test_beam_create(&def);
    test_clamp(beam.body);
    beam.context->progress = (sinew_progress){watch, w};
    return beam;
}

static sinew_status advance(sinew_world *world, bool is_static) {
    if (!is_static) {
        return sinew_world_step(world, NULL);
    }
    sinew_static_def def = sinew_default_static_def();
    return sinew_world_solve_static(world, &def, NULL);
}

static void cancel_everywhere(bool is_static) {
    watcher w = {0};
    test_beam whole = make_beam(&w);
    assert_int_equal(advance(whole.world, is_static), SINEW_OK);
    uint64_t expected = sinew_world_get_hash(whole.world);
    int32_t reports = w.reports;
    assert_true(reports >= (is_static ? 10 : 2)); // linear solves of a step are short
    test_beam_destroy(&whole);

    for (int32_t n = 1; n <= reports; n++) {
        w = (watcher){.stop_at = n};
        test_beam beam = make_beam(&w);
        uint64_t before = sinew_world_get_hash(beam.world);
        assert_int_equal(advance(beam.world, is_static), SINEW_CANCELLED);
        assert_int_equal(sinew_context_status(beam.context), SINEW_CANCELLED);
        assert_non_null(strstr(sinew_context_message(beam.context), "cancelled while"));
        assert_true(sinew_world_get_hash(beam.world) == before);

        w.stop_at = 0;
        assert_int_equal(advance(beam.world, is_static), SINEW_OK);
        assert_true(sinew_world_get_hash(beam.world) == expected);
        test_beam_destroy(&beam);
    }
}

static void test_cancelled_step(void **state) {
    (void)state;
    cancel_everywhere(false);
}

static void test_cancelled_static_solve(void **state) {
    (void)state;
    cancel_everywhere(true);
}

static void test_cancelled_tetrahedra(void **state) {
    (void)state;
    watcher w = {0};
    test_beam beam = make_beam(&w);
    sinew_context *context = beam.context;
    sinew_mesh *surface = NULL, *tets = NULL;
    assert_int_equal(sinew_mesh_create_surface(context, beam.mesh, &surface, NULL), SINEW_OK);

    sinew_tetrahedralize_def fill = sinew_default_tetrahedralize_def();
    fill.tet_count = 500;
    assert_int_equal(sinew_tetrahedralize(context, surface, &fill, &tets, NULL), SINEW_OK);
    sinew_mesh_destroy(tets);

    int32_t reports = w.reports;
    assert_true(reports >= 2);
    for (int32_t n = 1; n <= reports; n++) {
        w = (watcher){.stop_at = n};
        assert_int_equal(sinew_tetrahedralize(context, surface, &fill, &tets, NULL),
                         SINEW_CANCELLED);
    }

    sinew_mesh_destroy(surface);
    test_beam_destroy(&beam);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancelled_step),
        cmocka_unit_test(test_cancelled_static_solve),
        cmocka_unit_test(test_cancelled_tetrahedra),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
