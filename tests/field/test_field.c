// Fields of curves: bundles of lines and helices, independence of scale and sense, solvers that
// agree, parts without a curve, invalid input, memory shortage.
#include "field/fields.h"

#include <stdio.h>
#include <stdlib.h>

// ---- Bundles ------------------------------------------------------------------------------------

static void test_straight_bundle(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 1, 5);
    sn_vec3 direction = sn_normalize(sn_v3(0.3, 0.2, 1));
    double points[2][6];
    sinew_curve_def curves[2];

    for (int c = 0; c < 2; c++) {
        sn_vec3 start = sn_v3(c == 0 ? -0.3 : 0.1, 0.1 * c - 0.2, -0.6);
        sn_store3(points[c], start);
        sn_store3(points[c] + 3, sn_madd(start, c == 0 ? 1.2 : 0.9, direction));
        curves[c] = sinew_default_curve_def();
        curves[c].points = points[c];
        curves[c].point_count = 2;
        curves[c].normal[0] = 1;
    }

    sinew_field_def def = sinew_default_field_def();
    def.mesh = mesh;
    def.curves = curves;
    def.curve_count = 2;

    for (int kind = 0; kind < 2; kind++) {
        for (int by = 0; by < 2; by++) {
            def.kind = (sinew_field_kind)kind;
            def.unknowns = (sinew_field_unknowns)by;

            sinew_field *field = make_field(context, &def);
            const double *axes = sinew_field_get_axes(field);
            sn_vec3 first = sn_normalize(sn_madd(sn_v3(1, 0, 0), -direction.x, direction));

            for (int32_t e = 0; e < mesh->element_count; e++) {
                assert_true(line_angle(sn_load3(axes + 9 * e + 6), direction) < 1e-7);
                if (kind == 0) {
                    assert_true(line_angle(sn_load3(axes + 9 * e), first) < 1e-7);
                }
            }

            sinew_field_report report;
            sinew_field_get_report(field, &report);

            // The factor is read in single precision.
            test_close("certainty of a constant field", report.least_certainty, 1, 1e-6);
            for (int32_t e = 0; e < mesh->element_count; e++) {
                test_close("certainty of an element", sinew_field_get_certainties(field)[e], 1,
                           1e-6);
            }

            assert_true(report.direct && report.part_count == 1 && report.isolated_part_count == 0);
            sinew_field_destroy(field);
        }
    }

    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// Directions wind about z like the strands of a rope: the angle is z / TURN.
static const double TURN = 0.5;
enum { HELICES = 24, HELIX_POINTS = 40 };

// Strokes on helices about z, within the tube's wall or in three layers of the cylinder. They avoid
// the faces of the mesh, where rounding decides which element a point belongs to.
static void fill_helices(double points[HELICES][HELIX_POINTS * 3], sinew_curve_def *curves,
                         double scale, bool solid, bool backwards) {
    for (int c = 0; c < HELICES; c++) {
        double radius = !solid ? 0.37 : c % 3 == 0 ? 0.15 : c % 3 == 1 ? 0.32 : 0.48;
        for (int i = 0; i < HELIX_POINTS; i++) {
            double z = -0.943 + 1.9 * i / (HELIX_POINTS - 1);
            double angle = z / TURN + 2 * PI * (c + 0.1) / HELICES;
            int place = backwards && c % 2 == 1 ? HELIX_POINTS - 1 - i : i;
            sn_store3(points[c] + 3 * place,
                      sn_scale(scale, sn_v3(radius * cos(angle), radius * sin(angle), z)));
        }

        curves[c] = sinew_default_curve_def();
        curves[c].kind = SINEW_CURVE_STROKE;
        curves[c].points = points[c];
        curves[c].point_count = HELIX_POINTS;
        curves[c].normal[0] = 1;
    }
}

static sinew_mesh *make_cylinder(sinew_context *context) {
    sinew_shape_def def = sinew_default_shape_def();
    def.shape = SINEW_SHAPE_CYLINDER;
    def.size[2] = 2;
    def.cells[0] = def.cells[1] = TEST_SANITIZED ? 5 : 12;
    def.cells[2] = TEST_SANITIZED ? 8 : 20;
    sinew_mesh *mesh;
    assert_int_equal(sinew_mesh_create_shape(context, &def, &mesh), SINEW_OK);

    return mesh;
}

// The largest angle between the field and the helices, where there are strokes.
static double helix_error(const sinew_mesh *mesh, const double *axes, bool hollow) {
    double worst = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        sn_vec3 c = {0};
        for (int k = 0; k < 4; k++) {
            c = sn_madd(c, 0.25, sn_mesh_point(mesh, sn_mesh_nodes(mesh, e)[k]));
        }

        double radius = sqrt(c.x * c.x + c.y * c.y);
        if (fabs(c.z) > 0.85) {
            continue;
        }
        if (hollow) {
            c = sn_v3(0.37 * c.x / radius, 0.37 * c.y / radius, c.z); // constant through the wall
        }

        worst = fmax(worst, line_angle(sn_load3(axes + 9 * e + 6),
                                       sn_normalize(sn_v3(-c.y / TURN, c.x / TURN, 1))));
    }

    return worst;
}

// Fibres may go around a hollow: their tensors have no sign, so that nothing tears. A rope is
// solid, and its frames fit together.
static void test_helix_bundle(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    static double points[HELICES][HELIX_POINTS * 3];
    sinew_curve_def curves[HELICES];
    sinew_mesh *tube = make_tube(context, 1);
    sinew_mesh *cylinder = make_cylinder(context);
    sinew_field_def def = sinew_default_field_def();

    def.curves = curves;
    def.curve_count = HELICES;
    for (int hollow = 0; hollow < 2; hollow++) {
        for (int kind = hollow; kind < 2; kind++) {
            for (int by = TEST_SANITIZED; by < 2; by++) {
                fill_helices(points, curves, 1, !hollow, kind == 1);
                def.mesh = hollow ? tube : cylinder;
                def.kind = (sinew_field_kind)kind;
                def.unknowns = (sinew_field_unknowns)by;

                sinew_field *field = make_field(context, &def);
                double error =
                    helix_error(def.mesh, sinew_field_get_axes(field), hollow) * 180 / PI;

                print_message("helix bundle, hollow %d, kind %d, by %d: %.3f degrees\n", hollow,
                              kind, by, error);
                assert_true(error < (TEST_SANITIZED ? 8 : 2)); // coarser meshes are less accurate
                sinew_field_destroy(field);
            }
        }
    }

    sinew_mesh_destroy(tube);
    sinew_mesh_destroy(cylinder);
    sinew_context_destroy(context);
}

// ---- Invariance ---------------------------------------------------------------------------------

// The unit of length and the direction of strokes do not change the fibres.
static void test_scale_and_sense(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    static double points[HELICES][HELIX_POINTS * 3];
    sinew_curve_def curves[HELICES];
    sinew_mesh *mesh = make_tube(context, 1);
    sinew_mesh *large = make_tube(context, 1000);
    sinew_field_def def = sinew_default_field_def();

    def.kind = SINEW_FIELD_FIBRES;
    def.unknowns = SINEW_FIELD_BY_VERTEX;
    def.curves = curves;
    def.curve_count = HELICES;

    sinew_field *fields[3];
    for (int i = 0; i < 3; i++) {
        fill_helices(points, curves, i == 1 ? 1000 : 1, false, i == 2);
        def.mesh = i == 1 ? large : mesh;
        fields[i] = make_field(context, &def);
    }

    for (int32_t e = 0; e < mesh->element_count; e++) {
        sn_vec3 a = sn_load3(sinew_field_get_axes(fields[0]) + 9 * e + 6);
        for (int i = 1; i < 3; i++) {
            assert_true(line_angle(a, sn_load3(sinew_field_get_axes(fields[i]) + 9 * e + 6)) <
                        1e-6);
        }
    }

    for (int i = 0; i < 3; i++) {
        sinew_field_destroy(fields[i]);
    }

    sinew_mesh_destroy(large);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// The same for frames, with curves in a solid that do not contradict each other.
static void test_scaled_frames(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 1, 3);
    sinew_mesh *large = make_box(context, 1000, 3);
    double points[2][2][12];
    sinew_curve_def curves[2];
    sinew_field *fields[2];

    for (int i = 0; i < 2; i++) {
        for (int c = 0; c < 2; c++) {
            for (int k = 0; k < 4; k++) {
                sn_vec3 p = sn_v3(0.3 * cos(2.5 * c + 0.3 * k), 0.3 * sin(2.5 * c + 0.3 * k),
                                  0.6 * (k - 1.5));
                sn_store3(points[i][c] + 3 * k, sn_scale(i == 0 ? 1 : 1000, p));
            }

            curves[c] = sinew_default_curve_def();
            curves[c].points = points[i][c];
            curves[c].point_count = 4;
            curves[c].normal[0] = 1;
        }

        sinew_field_def def = sinew_default_field_def();
        def.mesh = i == 0 ? mesh : large;
        def.curves = curves;
        def.curve_count = 2;
        fields[i] = make_field(context, &def);
    }

    assert_true(axes_angle(sinew_field_get_axes(fields[0]), sinew_field_get_axes(fields[1]),
                           mesh->element_count) < 1e-6);
    for (int i = 0; i < 2; i++) {
        sinew_field_destroy(fields[i]);
    }

    sinew_mesh_destroy(large);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// Rotating whole curves by half turns, or expressing all their frames by the opposite quaternions,
// changes no axis.
static void test_flipped_quaternions(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 1, 4);
    double points[3][9];
    sinew_curve_def curves[3];

    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 3; i++) {
            sn_store3(points[c] + 3 * i, sn_v3(0.35 * cos(2.1 * c + 0.3 * i),
                                               0.35 * sin(2.1 * c + 0.3 * i), 0.9 * (i - 1)));
        }

        curves[c] = sinew_default_curve_def();
        curves[c].points = points[c];
        curves[c].point_count = 3;
        curves[c].normal[0] = 1;
    }

    sinew_field_def def = sinew_default_field_def();
    def.mesh = mesh;
    def.curves = curves;
    def.curve_count = 3;

    sinew_field *plain = make_field(context, &def);
    for (int c = 0; c < 3; c++) {
        // A full turn gives -q, a half turn reverses two of the axes.
        curves[c].turn = c == 0 ? 2 * PI : c == 1 ? PI : 3 * PI;
        sinew_field *flipped = make_field(context, &def);
        assert_true(axes_angle(sinew_field_get_axes(plain), sinew_field_get_axes(flipped),
                               mesh->element_count) < 1e-7);
        sinew_field_destroy(flipped);
    }

    // Of the eight equivalent quaternions the nearest one is chosen.
    sn_random random = sn_random_seed(5);
    for (int trial = 0; trial < 200; trial++) {
        sn_quat q =
            sn_quat_exp(sn_v3(sn_random_range(&random, -3, 3), sn_random_range(&random, -3, 3),
                              sn_random_range(&random, -3, 3)));
        sn_quat wanted =
            sn_quat_exp(sn_v3(sn_random_range(&random, -3, 3), sn_random_range(&random, -3, 3),
                              sn_random_range(&random, -3, 3)));
        double best = sn_quat_dot(sn_quat_mul(q, sn_nearest_half_turn(q, wanted)), wanted);

        for (int k = 0; k < 8; k++) {
            double g[4] = {0};
            g[k / 2] = k % 2 == 0 ? 1 : -1;
            assert_true(best >=
                        sn_quat_dot(sn_quat_mul(q, (sn_quat){g[0], g[1], g[2], g[3]}), wanted) -
                            1e-14);
        }
    }

    sinew_field_destroy(plain);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// ---- Solvers -----------------------------------------------------------------------------------

static void test_solvers_agree(void **state) {
    (void)state;
    const int32_t one = 1;
    sinew_context *context = test_context(one);
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
                // The tolerance of the iterations.
                assert_true(line_angle(sn_load3(a + 9 * e + 6), sn_load3(b + 9 * e + 6)) < 1e-3);
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

// ---- Parts --------------------------------------------------------------------------------------

typedef struct log_lines {
    int count;
    char last[256];
} log_lines;

static void keep_line(void *user, sinew_log_level level, const char *line) {
    log_lines *lines = user;
    if (level != SINEW_LOG_WARNING) {
        return;
    }
    lines->count++;
    snprintf(lines->last, sizeof lines->last, "%s", line);
}

static void test_isolated_part(void **state) {
    (void)state;
    log_lines lines = {0};
    sinew_context_def context_def = sinew_default_context_def();

    context_def.logger = (sinew_logger){keep_line, &lines};
    sinew_context *context = sinew_context_create(&context_def);

    // Three voxels in a row, an empty one, and one more.
    uint8_t voxels[5] = {1, 1, 1, 0, 1};
    sinew_voxel_mesh_def voxel_def = sinew_default_voxel_mesh_def();

    voxel_def.cells[0] = 5;
    voxel_def.cells[1] = voxel_def.cells[2] = 1;
    voxel_def.voxels = voxels;
    voxel_def.element = SINEW_ELEMENT_TET4;

    sinew_mesh *mesh;
    assert_int_equal(sinew_mesh_create_voxels(context, &voxel_def, &mesh), SINEW_OK);

    double points[6] = {0.5, 0.5, 0.5, 2.5, 0.7, 0.5};
    sinew_curve_def curve = sinew_default_curve_def();

    curve.name = "spine";
    curve.points = points;
    curve.point_count = 2;

    sinew_field_def def = sinew_default_field_def();
    def.mesh = mesh;
    def.curves = &curve;
    def.curve_count = 1;

    for (int by = 0; by < 2; by++) {
        for (int solver = 1; solver <= 2; solver++) {
            lines.count = 0;
            def.unknowns = (sinew_field_unknowns)by;
            def.solver = (sinew_field_solver)solver;

            sinew_field *field = make_field(context, &def);
            sinew_field_report report;

            sinew_field_get_report(field, &report);
            assert_int_equal(report.part_count, 2);
            assert_int_equal(report.isolated_part_count, 1);
            assert_int_equal(lines.count, 1);
            assert_non_null(strstr(lines.last, "spine"));

            const sinew_isolated_part *part = sinew_field_get_isolated_parts(field);
            assert_int_equal(part->count, by == 0 ? 5 : 8);
            assert_int_equal(part->curve, 0);

            const double *axes = sinew_field_get_axes(field);
            sn_vec3 direction = sn_normalize(sn_v3(2, 0.2, 0));
            for (int32_t e = 0; e < mesh->element_count; e++) {
                assert_true(line_angle(sn_load3(axes + 9 * e + 6), direction) < 1e-4);
            }

            sinew_field_destroy(field);
        }
    }

    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// ---- Refusals and memory ------------------------------------------------------------------------

static void test_bad_fields(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 1, 2);
    double inside[6] = {0, 0, -0.5, 0, 0, 0.5};
    double far[6] = {5, 0, 0, 5, 1, 0};
    double half[6] = {0, 0, 0, 3, 0, 0};
    double endless[6] = {-1e9, 0, 0, 1.3e9, 0, 0};
    sinew_curve_def curve = sinew_default_curve_def();

    curve.points = inside;
    curve.point_count = 2;

    sinew_field_def def = sinew_default_field_def();
    sinew_field *field = NULL;

    def.curves = &curve;
    def.curve_count = 1;
    assert_int_equal(sinew_field_create(context, &def, &field), SINEW_INVALID_ARGUMENT); // no mesh
    def.mesh = mesh;
    def.curve_count = 0;
    assert_int_equal(sinew_field_create(context, &def, &field), SINEW_INVALID_ARGUMENT);
    def.curve_count = 1;
    def.spacing = -1;
    assert_int_equal(sinew_field_create(context, &def, &field), SINEW_INVALID_ARGUMENT);
    def.spacing = 0;
    def.reach = NAN;
    assert_int_equal(sinew_field_create(context, &def, &field), SINEW_INVALID_ARGUMENT);
    def.reach = 0;
    def.kind = (sinew_field_kind)7;
    assert_int_equal(sinew_field_create(context, &def, &field), SINEW_INVALID_ARGUMENT);
    def.kind = SINEW_FIELD_FRAMES;
    def.unknowns = (sinew_field_unknowns)7;
    assert_int_equal(sinew_field_create(context, &def, &field), SINEW_INVALID_ARGUMENT);
    def.unknowns = SINEW_FIELD_BY_ELEMENT;
    def.turns = (sinew_field_turns)3;
    assert_int_equal(sinew_field_create(context, &def, &field), SINEW_INVALID_ARGUMENT);
    def.turns = SINEW_FIELD_TURNS_AUTO;
    def.solver = (sinew_field_solver)7;
    assert_int_equal(sinew_field_create(context, &def, &field), SINEW_INVALID_ARGUMENT);
    def.solver = SINEW_FIELD_SOLVER_AUTO;
    curve.points = far;
    assert_int_equal(sinew_field_create(context, &def, &field), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context),
                           "curve 0 lies outside of the body: it comes no nearer than 4.5"));
    curve.points = endless;
    assert_int_equal(sinew_field_create(context, &def, &field), SINEW_INVALID_DATA);
    assert_non_null(
        strstr(sinew_context_message(context), "frames are 2300 m apart and miss the body"));
    curve.points = inside;

    for (int i = 0; i < 2; i++) { // beyond the range for which moments can be computed
        double scale = i == 0 ? 1e-60 : 1e60;

        double scaled[6];
        for (int k = 0; k < 6; k++) {
            scaled[k] = scale * inside[k];
        }
        sinew_mesh *other = make_box(context, scale, 2);
        curve.points = scaled;
        def.mesh = other;
        assert_int_equal(sinew_field_create(context, &def, &field), SINEW_INVALID_DATA);
        assert_non_null(
            strstr(sinew_context_message(context), "m across; valid: 1e-40 to 1e+40 m"));
        sinew_mesh_destroy(other);
    }
    sinew_mesh *quadratic;

    assert_int_equal(sinew_mesh_create_quadratic(context, mesh, &quadratic), SINEW_OK);
    def.mesh = quadratic;
    curve.points = inside;
    def.unknowns = SINEW_FIELD_BY_VERTEX;
    assert_int_equal(sinew_field_create(context, &def, &field), SINEW_UNSUPPORTED);
    def.unknowns = SINEW_FIELD_BY_ELEMENT;
    field = make_field(context, &def);
    sinew_field_destroy(field);

    // A curve that leaves the body guides the field where it is inside.
    curve.points = half;
    field = make_field(context, &def);

    sinew_field_report report;
    sinew_field_get_report(field, &report);
    assert_true(report.ignored_count > 0 && report.constraint_count > 0);
    sinew_field_destroy(field);
    sinew_field_destroy(NULL);
    sinew_mesh_destroy(quadratic);
    sinew_mesh_destroy(mesh);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    double points[2][6] = {{-0.2, 0, -0.5, -0.2, 0, 0.5}, {0.2, 0, -0.5, 0.2, 0.1, 0.5}};
    double ring[27];

    for (int i = 0; i < 9; i++) {
        sn_store3(ring + 3 * i, sn_v3(0.4 * cos(0.25 * PI * i), 0.4 * sin(0.25 * PI * i), 0));
    }

    // The last variant has a seam.
    for (int variant = 0; variant < 5; variant += TEST_SANITIZED && variant < 3 ? 3 : 1) {
        bool done = false;
        for (int64_t n = 0; !done; n++) {
            test_allocator allocator = {.fail_at = INT64_MAX};
            sinew_context *context = test_context_failing(&allocator);
            sinew_mesh *mesh = variant == 4 ? make_tube_of(context, 1, 1, 8, 1)
                                            : make_box(context, 1,
                                                       variant % 2 == 0 ? 2
                                                       : TEST_SANITIZED ? 3
                                                                        : 4);
            sinew_curve_def curves[2] = {sinew_default_curve_def(), sinew_default_curve_def()};
            for (int c = 0; c < 2; c++) {
                curves[c].points = points[c];
                curves[c].point_count = 2;
            }
            sinew_field_def def = sinew_default_field_def();
            def.mesh = mesh;
            def.curves = curves;
            def.curve_count = 2;
            if (variant == 4) {
                curves[0].points = ring;
                curves[0].point_count = 9;
                curves[0].kind = SINEW_CURVE_STROKE;
                def.curve_count = 1;
            }
            def.unknowns = variant < 2 ? SINEW_FIELD_BY_ELEMENT : SINEW_FIELD_BY_VERTEX;
            def.solver =
                variant % 2 == 0 ? SINEW_FIELD_SOLVER_DIRECT : SINEW_FIELD_SOLVER_ITERATIVE;
            def.turns = variant % 2 == 1 ? SINEW_FIELD_TURNS_PREPARED : SINEW_FIELD_TURNS_LATER;
            allocator.fail_at = allocator.calls + n;
            sinew_field *field = NULL;
            sinew_status status = sinew_field_create(context, &def, &field);
            done = status == SINEW_OK;
            if (!done) {
                assert_int_equal(status, SINEW_OUT_OF_MEMORY);
            }
            allocator.fail_at = INT64_MAX;
            if (done) {
                assert_int_equal(field->seam_count > 0, variant == 4);
            }
            sinew_field_destroy(field);
            sinew_mesh_destroy(mesh);
            assert_int_equal(context->bytes_in_use, 0);
            sinew_context_destroy(context);
            assert_true(n < 1000);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_straight_bundle),     cmocka_unit_test(test_helix_bundle),
        cmocka_unit_test(test_scale_and_sense),     cmocka_unit_test(test_scaled_frames),
        cmocka_unit_test(test_flipped_quaternions), cmocka_unit_test(test_solvers_agree),
        cmocka_unit_test(test_isolated_part),       cmocka_unit_test(test_bad_fields),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
