// Modes of frame bodies: frequencies of a free bar against beam theory, the mass that quadratic
// frames get by default, and shapes on the surface.
#include "support/frames.h"

#include "body/body.h"
#include "frame/body/frame_body.h"

#include <math.h>
#include <stdlib.h>

// A bar of 1 m x 0.1 m x 0.1 m with three quadratic frames.
static test_frames make(sinew_frame_mass mass) {
    test_frames_def def = test_default_frames_def(SINEW_NODE_QUADRATIC, 0.4);
    def.size[1] = def.size[2] = 0.1;
    def.cell = 0.025;
    def.material.young = 1e6;
    def.material.poisson = 0.3;
    def.body.mass = mass;
    def.body.sampling.kind = SINEW_SAMPLING_REGIONS;
    def.body.sampling.count = 25;
    def.body.sampling.degree = 4;
    return test_frames_create(test_context(1), &def);
}

static void test_beam(void **state) {
    (void)state;
    enum { COUNT = 11 };
    double frequencies[COUNT];
    test_frames f = make(SINEW_FRAME_MASS_AUTO);

    assert_int_equal(sn_frame_model_of(f.body)->mass->kind, SINEW_FRAME_MASS_CONSISTENT);
    assert_int_equal(sinew_body_compute_modes(f.body, COUNT, frequencies, NULL), SINEW_OK);
    for (int i = 0; i < 6; i++) {
        assert_true(frequencies[i] == 0);
    }

    // 160 x 10 x 10 hexahedra have 3.18 Hz; Euler and Bernoulli's slender beam 3.25 Hz, to which
    // shear and rotary inertia of this one add -2 %. Torsion at sqrt(G / rho) / 2 L times 0.92 for
    // a square section, which the frames cannot warp: up to 9 % too high.
    test_close("bending", frequencies[6], 3.18, 0.01 * 3.18);
    test_close("the other plane", frequencies[7], frequencies[6], 1e-6);
    test_close("second bending", frequencies[8], 8.28, 0.13 * 8.28);
    test_close("torsion", frequencies[10], 0.5 * sqrt(1e6 / 2.6 / 1000), 0.01 * 9.8);
    test_frames_destroy(&f);

    // Affine frames keep the row sum.
    test_frames_def affine = test_default_frames_def(SINEW_NODE_AFFINE, 0.4);
    f = test_frames_create(test_context(1), &affine);
    assert_int_equal(sn_frame_model_of(f.body)->mass->kind, SINEW_FRAME_MASS_ROW_SUM);
    test_frames_destroy(&f);

    // Row sums have a mode near 4 Hz that no bar has.
    f = make(SINEW_FRAME_MASS_ROW_SUM);
    assert_int_equal(sinew_body_compute_modes(f.body, COUNT, frequencies, NULL), SINEW_OK);
    assert_true(frequencies[8] < 5);
    test_frames_destroy(&f);
}

// A mode on the surface: the ends of a bar that bends move against its middle, and the state of the
// body stays as it was.
static void test_shapes(void **state) {
    (void)state;
    enum { COUNT = 7 };
    test_frames f = make(SINEW_FRAME_MASS_AUTO);
    const sinew_mesh *surface = sinew_body_get_surface(f.body);
    size_t points = (size_t)surface->point_count;
    double *shapes = calloc(COUNT * 3 * points, sizeof *shapes);
    double frequencies[COUNT];
    uint64_t before = sinew_world_get_hash(f.world);

    assert_int_equal(sinew_body_compute_modes(f.body, COUNT, frequencies, shapes), SINEW_OK);
    assert_true(sinew_world_get_hash(f.world) == before);

    const double *bending = shapes + 6 * 3 * points;
    sn_vec3 end = sn_v3(0, 0, 0);
    sn_vec3 middle = end;
    for (size_t i = 0; i < points; i++) {
        double x = fabs(surface->points[3 * i]);
        if (x > 0.45) {
            end = sn_add(end, sn_load3(bending + 3 * i));
        } else if (x < 0.05) {
            middle = sn_add(middle, sn_load3(bending + 3 * i));
        }
    }

    assert_true(sn_dot(end, middle) < -0.5 * sn_length(end) * sn_length(middle));
    assert_true(fabs(end.x) < 1e-3 * sn_length(end));
    free(shapes);
    test_frames_destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beam),
        cmocka_unit_test(test_shapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
