// Solving for fields: solvers that agree, and curves that are rotated and moved.
#include "field/fields.h"

#include <stdio.h>
#include <stdlib.h>

static void test_solvers_agree(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_context *threaded = test_context(3);
    static double points[HELICES][HELIX_POINTS * 3];
    sinew_curve_def curves[HELICES];

    fill_helices(points, curves, 1, false, false);
    sinew_mesh *mesh = make_tube(context, 1);
    sinew_field_def def = sinew_default_field_def();

    def.mesh = mesh;
    def.curves = curves;
    def.curve_count = 5;

    for (int kind = TEST_SANITIZED; kind < 2; kind++) {
        for (int by = TEST_SANITIZED; by < 2; by++) {
            def.kind = (sinew_field_kind)kind;
            def.unknowns = (sinew_field_unknowns)by;
            def.solver = SINEW_FIELD_SOLVER_DIRECT;

            sinew_field *direct = make_field(context, &def);
            def.solver = SINEW_FIELD_SOLVER_ITERATIVE;

            sinew_field *iterative = make_field(context, &def);
            sinew_field *parallel = make_field(threaded, &def);
            sinew_field_report report;

            sinew_field_get_report(iterative, &report);
            assert_true(!report.direct && report.iterations > 0 &&
                        report.relative_residual <= 1e-6);

            const double *a = sinew_field_get_axes(direct);
            const double *b = sinew_field_get_axes(iterative);
            for (int32_t e = 0; e < mesh->element_count; e++) {
                assert_true(line_angle(sn_load3(a + 9 * e + 6), sn_load3(b + 9 * e + 6)) <
                            1e-3); // what the tolerance gives
            }

            assert_memory_equal(b, sinew_field_get_axes(parallel),
                                9 * sizeof(double) * (size_t)mesh->element_count);
            sinew_field_destroy(direct);
            sinew_field_destroy(iterative);
            sinew_field_destroy(parallel);
        }
    }

    sinew_mesh_destroy(mesh);
    sinew_context_destroy(threaded);
    sinew_context_destroy(context);
}

static void test_turn_and_move(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 1, 4);
    double points[2][12] = {{-0.3, 0, -0.9, -0.2, 0.1, -0.3, -0.3, 0.2, 0.3, -0.1, 0, 0.9},
                            {0.3, 0, -0.9, 0.2, 0.1, -0.3, 0.3, 0.2, 0.3, 0.1, 0, 0.9}};
    sinew_curve_def curves[2] = {sinew_default_curve_def(), sinew_default_curve_def()};

    for (int c = 0; c < 2; c++) {
        curves[c].points = points[c];
        curves[c].point_count = 4;
    }

    sinew_field_def def = sinew_default_field_def();
    def.mesh = mesh;
    def.curves = curves;
    def.curve_count = 2;

    for (int solver = 1; solver <= 2; solver++) {
        def.solver = (sinew_field_solver)solver;
        curves[0].turn = 0;
        points[1][4] = 0.1;

        sinew_field *field = make_field(context, &def);
        size_t size = 9 * sizeof(double) * (size_t)mesh->element_count;
        double *before = malloc(size);

        memcpy(before, sinew_field_get_axes(field), size);
        for (int step = 1; step <= 4; step++) { // by and by, on either curve
            assert_int_equal(sinew_field_set_turn(field, 0, 0.3 * step), SINEW_OK);

            if (step == 2) {
                assert_int_equal(sinew_field_set_turn(field, 1, 0.5), SINEW_OK);
            }
            assert_int_equal(sinew_field_solve(field), SINEW_OK);
        }
        assert_int_equal(sinew_field_set_turn(field, 1, 0), SINEW_OK);
        assert_int_equal(sinew_field_set_turn(field, 0, 0), SINEW_OK);
        assert_int_equal(sinew_field_solve(field), SINEW_OK);
        assert_true(axes_angle(before, sinew_field_get_axes(field), mesh->element_count) <
                    (solver == 1 ? 1e-9 : 1e-3));
        memcpy(before, sinew_field_get_axes(field), size);
        assert_int_equal(sinew_field_set_turn(field, 0, 0.8), SINEW_OK);
        assert_memory_equal(before, sinew_field_get_axes(field), size); // until solved
        assert_int_equal(sinew_field_solve(field), SINEW_OK);
        assert_true(axes_angle(before, sinew_field_get_axes(field), mesh->element_count) > 0.3);
        curves[0].turn = 0.8;
        points[1][4] = 0.25;
        assert_int_equal(sinew_field_move_curve(field, 1, points[1], 4), SINEW_OK);
        assert_int_equal(sinew_field_solve(field), SINEW_OK);

        sinew_field *fresh = make_field(context, &def);

        // The first pass is read from a factor in single precision, here corrected for what has
        // moved, there factored anew.
        double tolerance = solver == 1 ? 1e-6 : 1e-3;

        assert_true(axes_angle(sinew_field_get_axes(fresh), sinew_field_get_axes(field),
                               mesh->element_count) < tolerance);

        // What cannot be is refused and changes nothing.
        memcpy(before, sinew_field_get_axes(field), size);

        double far[6] = {9, 9, 9, 10, 9, 9};
        assert_int_equal(sinew_field_set_turn(field, 2, 0), SINEW_INVALID_ARGUMENT);
        assert_int_equal(sinew_field_set_turn(field, 0, NAN), SINEW_INVALID_ARGUMENT);
        assert_int_equal(sinew_field_move_curve(field, 0, points[0], 1), SINEW_INVALID_ARGUMENT);
        assert_int_equal(sinew_field_move_curve(field, 0, far, 2), SINEW_OK);
        assert_int_equal(sinew_field_solve(field), SINEW_INVALID_DATA);
        assert_non_null(strstr(sinew_context_message(context), "outside of the body"));
        assert_memory_equal(before, sinew_field_get_axes(field), size);
        assert_int_equal(sinew_field_move_curve(field, 0, points[0], 4), SINEW_OK);
        assert_int_equal(sinew_field_solve(field), SINEW_OK);
        assert_true(axes_angle(before, sinew_field_get_axes(field), mesh->element_count) <
                    tolerance);
        sinew_field_destroy(fresh);
        sinew_field_destroy(field);
        free(before);
    }

    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// The bodies of the test below: a solid, one of two parts, fibres along strokes in a tube, frames
// of staves around it.
typedef struct changing_case {
    const char *name;
    sinew_mesh *mesh;
    sinew_field_kind kind;
    sinew_field_unknowns unknowns;
    double radius;
    bool round; // first axes turn with the tube, so that frames need half turns
} changing_case;

enum { CHANGING_CURVES = 12 };

static void fill_changing(double points[CHANGING_CURVES][12], sinew_curve_def *curves,
                          const changing_case *c) {
    for (int k = 0; k < CHANGING_CURVES; k++) {
        double angle = 2 * PI * (k + 0.3) / CHANGING_CURVES;
        double twist = c->round ? 0 : 0.15;
        for (int i = 0; i < 4; i++) {
            double at = angle + twist * i;
            sn_store3(points[k] + 3 * i,
                      sn_v3(c->radius * cos(at), c->radius * sin(at), 0.6 * (i - 1.5)));
        }

        curves[k] = sinew_default_curve_def();
        curves[k].kind = c->kind == SINEW_FIELD_FIBRES ? SINEW_CURVE_STROKE : SINEW_CURVE_NURBS;
        curves[k].points = points[k];
        curves[k].point_count = 4;
        sn_store3(curves[k].normal, c->round ? sn_v3(cos(angle), sin(angle), 0) : sn_v3(1, 0, 0));
    }
}

// A field whose curves were rotated, moved and rotated again equals a new field of the same curves,
// whether the responses of its curves were prepared or not.
static void check_changes(sinew_context *context, const changing_case *c, sinew_field_solver solver,
                          bool prepared) {
    double points[CHANGING_CURVES][12], worst = 0;
    sinew_curve_def curves[CHANGING_CURVES];

    fill_changing(points, curves, c);
    sinew_field_def def = sinew_default_field_def();

    def.mesh = c->mesh;
    def.kind = c->kind;
    def.unknowns = c->unknowns;
    def.curves = curves;
    def.curve_count = CHANGING_CURVES;
    def.solver = solver;
    def.turns = prepared ? SINEW_FIELD_TURNS_PREPARED : SINEW_FIELD_TURNS_LATER;

    sinew_field *field = make_field(context, &def);
    def.turns = SINEW_FIELD_TURNS_LATER;
    for (int step = 0; step < 4; step++) {
        int turned = step == 1 ? 2 : 0;
        curves[turned].turn += 0.3;
        assert_int_equal(sinew_field_set_turn(field, turned, curves[turned].turn), SINEW_OK);
        if (step == 1) {
            assert_int_equal(sinew_field_set_turn(field, 0, curves[0].turn += 0.2), SINEW_OK);
        }

        if (step == 2) {
            points[1][4] += 0.03;
            assert_int_equal(sinew_field_move_curve(field, 1, points[1], 4), SINEW_OK);
        }

        assert_int_equal(sinew_field_solve(field), SINEW_OK);
        sinew_field *fresh = make_field(context, &def);
        const double *a = sinew_field_get_axes(field);
        const double *b = sinew_field_get_axes(fresh);

        for (int32_t e = 0; e < 3 * c->mesh->element_count; e++) {
            if (c->kind == SINEW_FIELD_FIBRES && e % 3 < 2) {
                continue; // any axes across the fibres
            }
            worst = fmax(worst, line_angle(sn_load3(a + 3 * e), sn_load3(b + 3 * e)));
        }

        assert_true((field->seam_count > 0) == c->round && (fresh->seam_count > 0) == c->round);
        sinew_field_destroy(fresh);
    }

    print_message("%s, solver %d, prepared %d: %.1e\n", c->name, (int)solver, prepared, worst);

    // What single precision of the factor and the tolerance of iterations give.
    assert_true(worst < (solver == SINEW_FIELD_SOLVER_DIRECT ? 5e-7 : 3e-4));
    sinew_field_destroy(field);
}

static void test_changed_as_new(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *box = make_box(context, 1, TEST_SANITIZED ? 4 : 8);
    sinew_mesh *tube = make_tube(context, 1);
    uint8_t voxels[6 * 6 * 12];

    for (int k = 0; k < 6 * 6 * 12; k++) {
        voxels[k] = k % 6 != 3; // x fastest: a gap between two parts
    }

    sinew_voxel_mesh_def voxel_def = sinew_default_voxel_mesh_def();
    voxel_def.cells[0] = voxel_def.cells[1] = 6;
    voxel_def.cells[2] = 12;
    voxel_def.voxels = voxels;
    voxel_def.element = SINEW_ELEMENT_TET4;

    for (int a = 0; a < 3; a++) {
        voxel_def.spacing[a] = 1.0 / 6;
        voxel_def.lower[a] = a == 2 ? -1 : -0.5;
    }

    sinew_mesh *parts;
    assert_int_equal(sinew_mesh_create_voxels(context, &voxel_def, &parts), SINEW_OK);

    const changing_case cases[] = {
        {"solid", box, SINEW_FIELD_FRAMES, SINEW_FIELD_BY_ELEMENT, 0.3, false},
        {"two parts", parts, SINEW_FIELD_FRAMES, SINEW_FIELD_BY_ELEMENT, 0.35, false},
        {"fibres of a tube", tube, SINEW_FIELD_FIBRES, SINEW_FIELD_BY_VERTEX, 0.41, false},
        {"frames round a tube", tube, SINEW_FIELD_FRAMES, SINEW_FIELD_BY_VERTEX, 0.41, true},
    };

    for (int k = 0; k < 4; k++) {
        for (int solver = 1; solver <= 2; solver++) {
            for (int prepared = 0; prepared < 2; prepared++) {
                check_changes(context, &cases[k], (sinew_field_solver)solver, prepared);
            }
        }
    }

    sinew_mesh_destroy(box);
    sinew_mesh_destroy(tube);
    sinew_mesh_destroy(parts);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solvers_agree),
        cmocka_unit_test(test_turn_and_move),
        cmocka_unit_test(test_changed_as_new),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
