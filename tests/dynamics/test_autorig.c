// One call from data to a running model: a steak whose bone is rigid and whose sides are
// independent, the report, surfaces as input, invalid input, memory shortage.
#include "sinew/autorig.h"
#include "sinew/body.h"
#include "sinew/io/specimen.h"
#include "support/solid.h"
#include "support/points.h"

#include "base/context.h"
#include "math/quat.h"

#include <math.h>
#include <stdio.h>

enum { MOST_TISSUES = 4 };

typedef struct model {
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
    sinew_autorig_report report;
    sinew_autorig_tissue tissues[MOST_TISSUES];
    sinew_autorig_def def;
} model;

static void prepare(sinew_context *context, sinew_specimen specimen, int32_t voxels, int32_t nodes,
                    model *m) {
    *m = (model){.def = sinew_default_autorig_def()};
    m->def.kind = SINEW_NODE_AFFINE;
    m->def.weights.kind = SINEW_WEIGHTS_VORONOI;
    assert_int_equal(
        sinew_voxels_create_specimen(context, specimen, voxels, (size_t)1 << 30, &m->voxels),
        SINEW_OK);

    const sinew_specimen_tissue *table = sinew_specimen_tissues(specimen, &m->def.tissue_count);
    for (int32_t i = 0; i < m->def.tissue_count; i++) {
        m->tissues[i] = sinew_default_autorig_tissue();
        m->tissues[i].label = table[i].label;
        m->tissues[i].rigid = table[i].rigid;
        m->tissues[i].material.young = table[i].young;
        m->tissues[i].material.poisson = table[i].poisson;
        m->tissues[i].material.density = table[i].density;
    }

    sinew_world_def world = sinew_default_world_def();
    for (int k = 0; k < 3; k++) {
        world.gravity[k] = 0;
    }

    assert_int_equal(sinew_world_create(context, &world, &m->world), SINEW_OK);
    m->def.voxels = m->voxels;
    m->def.tissues = m->tissues;
    m->def.placement.count = nodes;
}

static void create(model *m) {
    assert_int_equal(sinew_autorig_create(m->world, &m->def, &m->report, &m->body), SINEW_OK);
}

static void destroy(model *m) {
    sinew_world_destroy(m->world);
    sinew_voxels_destroy(m->voxels);
}

static sn_vec3 moved(const model *m, double x, double y, double z) {
    const double rest[3] = {x, y, z};
    double now[3];
    assert_int_equal(test_get_position(m->body, rest, now), SINEW_OK);
    return sn_sub(sn_load3(now), sn_load3(rest));
}

// Change of the distance between two rest points, relative.
static double stretch(const model *m, sn_vec3 a, sn_vec3 b) {
    sn_vec3 d = sn_sub(b, a);
    sn_vec3 u = sn_sub(moved(m, b.x, b.y, b.z), moved(m, a.x, a.y, a.z));
    return fabs(sn_length(sn_add(d, u)) / sn_length(d) - 1);
}

// The bone is held at its node, and a force pulls the left side outwards.
static void pull_left(model *m) {
    assert_int_equal(sinew_frame_body_hold(m->body, 0, SINEW_HOLD_ALL), SINEW_OK);
    const double left[3] = {-0.08, 0, 0};
    const double pull[3] = {-8, -3, 1};
    assert_int_equal(test_add_force(m->body, left, pull), SINEW_OK);
    sinew_static_def statics = sinew_default_static_def();
    sinew_step_report report;
    assert_int_equal(sinew_world_solve_static(m->world, &statics, &report), SINEW_OK);
    assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);
}

static void test_steak(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    for (int euclidean = 0; euclidean < 2; euclidean++) {
        model m;
        prepare(context, SINEW_SPECIMEN_STEAK, 12000, 3, &m);
        m.def.weights.metric = euclidean ? SINEW_METRIC_EUCLIDEAN : SINEW_METRIC_COMPLIANCE;
        create(&m);
        assert_int_equal(m.report.rigid_node_count, 1);
        pull_left(&m);

        double left = sn_length(moved(&m, -0.08, 0, 0));
        double right = sn_length(moved(&m, 0.08, 0, 0));
        double meat = stretch(&m, sn_v3(-0.09, 0, 0), sn_v3(-0.03, 0, 0));
        double bone = fmax(stretch(&m, sn_v3(0, -0.06, 0), sn_v3(0, 0.05, 0)),
                           stretch(&m, sn_v3(-0.045, 0.06, 0), sn_v3(0.045, 0.06, 0.005)));

        printf("%s: left moves %.3g m, right %.3g m; meat stretches %.3g, bone %.3g\n",
               euclidean ? "straight" : "compliance", left, right, meat, bone);
        if (euclidean) {
            // The bone is strained, and the right side moves too.
            assert_true(right > 0.1 * left && bone > 1e-3 * meat);
        } else {
            assert_true(left > 1e-3 && meat > 1e-2);
            assert_true(right < 1e-9 * left);
            assert_true(bone < 1e-6 * meat);
        }

        destroy(&m);
    }

    sinew_context_destroy(context);
}

static void test_report(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    model m;

    prepare(context, SINEW_SPECIMEN_STEAK, 12000, 8, &m);
    create(&m);

    const sinew_autorig_report *r = &m.report;
    printf("%d voxels, %d samples, fit %.3g, coverage %.3g to %.3g, reach %.3g m, %.3g to %.3g Hz, "
           "condition %.3g, steps %.3g "
           "and %.3g s\n",
           r->voxel_count, r->sampling.sample_count, r->sampling.mean_fit_error, r->coverage[0],
           r->coverage[1], r->reach, r->frequency[0], r->frequency[1], r->condition, r->stable_step,
           r->advised_step);
    assert_int_equal(r->voxel_count, sinew_voxels_get_count(m.voxels));
    assert_int_equal(r->unknown_count, 7 * 12 + 6);
    test_close("volume", r->volume, sinew_voxels_get_volume(m.voxels, NULL), 1e-12 * r->volume);
    test_close("softest", r->young[0], 1.2e4, 1e-6);
    test_close("stiffest of what is soft", r->young[1], 6e4, 1e-6);
    test_close("even share", r->coverage_mean, 1.0 / 8, 1e-15);
    assert_true(r->coverage[0] > 1e-3 && r->coverage[1] < 0.9);
    assert_true(r->sampling.mean_fit_error < 0.05);
    assert_true(r->frequency[0] > 0 && r->frequency[1] > 2 * r->frequency[0]);
    test_close("condition", r->condition, pow(r->frequency[1] / r->frequency[0], 2),
               1e-9 * r->condition);
    destroy(&m);
    sinew_context_destroy(context);
}

static double lowest_frequency(sinew_context *context, int32_t nodes, int32_t samples,
                               int32_t *taken) {
    model m;
    prepare(context, SINEW_SPECIMEN_STEAK, 5000, nodes, &m);
    m.def.sampling.count = samples;
    create(&m);
    *taken = m.report.sampling.sample_count;
    double frequency = m.report.frequency[0];
    destroy(&m);

    return frequency;
}

// With few samples a body is softer than its frames allow, but no motion may be without stiffness:
// any number of frames gets as many samples as it needs.
static void test_many_nodes(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    int32_t few, many, before = 0;

    for (int32_t nodes = 10; nodes <= (TEST_SANITIZED ? 35 : 60); nodes += 25) {
        double own = lowest_frequency(context, nodes, 0, &few);
        double dense = lowest_frequency(context, nodes, 2000, &many);
        printf("%d nodes: %.3g Hz with %d samples, %.3g Hz with %d\n", nodes, own, few, dense,
               many);
        assert_true(few > before && own > 0.25 * dense && own < 1.05 * dense);
        before = few;
    }

    sinew_context_destroy(context);
}

// A steak with given nodes, rotated, mirrored or scaled, and pulled accordingly. Returns the
// displacements of its points in the original coordinates.
static void pull_turned(sinew_context *context, const sinew_voxels *voxels, const model *like,
                        test_turn turn, double scale, sn_vec3 moves[4], int32_t *samples) {
    static const double nodes[5][3] = {
        {0, 0, 0}, {-0.08, 0.01, 0.002}, {0.07, -0.02, 0}, {-0.05, -0.04, 0}, {0.05, 0.04, 0}};
    double fixed[15];

    for (int i = 0; i < 5; i++) {
        sn_store3(fixed + 3 * i, sn_scale(scale, test_turn_point(turn, sn_load3(nodes[i]))));
    }

    model m = {.def = like->def};
    m.voxels = test_turn_voxels(voxels, turn, scale, NULL);
    m.def.voxels = m.voxels;
    m.def.placement.count = m.def.placement.fixed_count = 5;
    m.def.placement.fixed = fixed;

    sinew_world_def world = sinew_default_world_def();
    world.gravity[2] = 0;
    assert_int_equal(sinew_world_create(context, &world, &m.world), SINEW_OK);
    create(&m);
    *samples = m.report.sampling.sample_count;

    double point[3], force[3], now[3];
    sn_store3(point, sn_scale(scale, test_turn_point(turn, sn_v3(-0.085, 0.013, 0))));
    sn_store3(force, sn_scale(scale * scale, test_turn_point(turn, sn_v3(-4, -1.5, 0.5))));
    assert_int_equal(sinew_frame_body_hold(m.body, 0, SINEW_HOLD_ALL), SINEW_OK);
    assert_int_equal(test_add_force(m.body, point, force), SINEW_OK);

    sinew_static_def statics = sinew_default_static_def();
    statics.newton_tolerance = 1e-12;
    assert_int_equal(sinew_world_solve_static(m.world, &statics, NULL), SINEW_OK);

    static const double probes[4][3] = {
        {-0.1, 0, 0}, {-0.06, 0.03, 0.004}, {-0.03, -0.05, 0}, {0.08, 0.01, 0}};
    for (int i = 0; i < 4; i++) {
        double rest[3];
        sn_store3(rest, sn_scale(scale, test_turn_point(turn, sn_load3(probes[i]))));
        assert_int_equal(test_get_position(m.body, rest, now), SINEW_OK);
        moves[i] = sn_scale(1 / scale, sn_sub(sn_load3(now), sn_load3(rest)));
    }

    destroy(&m);
}

static void test_turned_input(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    model m;

    prepare(context, SINEW_SPECIMEN_STEAK, 8000, 5, &m);
    sn_vec3 reference[4], moves[4];
    int32_t samples, reference_samples;

    pull_turned(context, m.voxels, &m, test_turn_number(0), 1, reference, &reference_samples);
    double size = 0;
    for (int i = 0; i < 4; i++) {
        size = fmax(size, sn_length(reference[i]));
    }

    for (int number = 0; number < 48; number += TEST_SANITIZED ? 17 : 5) {
        double scale = number % 2 ? 1 : 1.7;
        double worst = 0;
        test_turn turn = test_turn_number(number);

        pull_turned(context, m.voxels, &m, turn, scale, moves, &samples);
        assert_int_equal(samples, reference_samples);

        for (int i = 0; i < 4; i++) {
            worst = fmax(worst, sn_distance(moves[i], test_turn_point(turn, reference[i])));
        }

        printf("turn %d, scale %g: differs by %.2g\n", number, scale, worst / size);
        assert_true(worst < 1e-9 * size);
    }

    destroy(&m);
    sinew_context_destroy(context);
}

// A bar with a stiff core along a rotated axis, held at one end and pulled at the other. Only the
// staircase of its voxels differs, more so with few voxels across.
static double pull_bar(sinew_context *context, sn_quat turn, int32_t cells) {
    sinew_solid_def solids[2] = {sinew_default_solid_def(), sinew_default_solid_def()};
    solids[0].size[1] = solids[0].size[2] = 0.4;
    solids[1].operation = SINEW_SOLID_PAINT;
    solids[1].label = 2;
    solids[1].size[0] = 0.5;
    solids[1].size[1] = solids[1].size[2] = 0.2;

    sinew_voxel_def grid = sinew_default_voxel_def();
    for (int i = 0; i < 2; i++) {
        memcpy(solids[i].rotation, (double[4]){turn.x, turn.y, turn.z, turn.w},
               sizeof solids[i].rotation);
    }

    for (int k = 0; k < 3; k++) {
        grid.spacing[k] = 0.4 / cells;
    }

    model m = {.def = sinew_default_autorig_def()};
    assert_int_equal(sinew_voxels_create_from_solids(context, solids, 2, &grid, &m.voxels),
                     SINEW_OK);

    double nodes[9];
    for (int i = 0; i < 3; i++) {
        sn_store3(nodes + 3 * i, sn_quat_rotate(turn, sn_v3(0.4 * (i - 1), 0, 0)));
    }

    for (int i = 0; i < 2; i++) {
        m.tissues[i] = sinew_default_autorig_tissue();
    }

    m.tissues[1].label = 2;
    m.tissues[1].material.young *= 10;
    m.def.voxels = m.voxels;
    m.def.tissues = m.tissues;
    m.def.tissue_count = 2;
    m.def.placement.count = m.def.placement.fixed_count = 3;
    // One sample per voxel, because the number of regions would differ too.
    m.def.sampling.kind = SINEW_SAMPLING_MIDPOINT;
    m.def.placement.fixed = nodes;

    sinew_world_def world = sinew_default_world_def();
    world.gravity[2] = 0;
    assert_int_equal(sinew_world_create(context, &world, &m.world), SINEW_OK);
    create(&m);

    double force[3], now[3];
    sn_store3(force, sn_quat_rotate(turn, sn_v3(1000, 0, 0)));
    assert_int_equal(sinew_frame_body_hold(m.body, 0, SINEW_HOLD_ALL), SINEW_OK);
    assert_int_equal(test_add_force(m.body, nodes + 6, force), SINEW_OK);

    sinew_static_def statics = sinew_default_static_def();
    assert_int_equal(sinew_world_solve_static(m.world, &statics, NULL), SINEW_OK);
    assert_int_equal(test_get_position(m.body, nodes + 6, now), SINEW_OK);

    double way =
        sn_dot(sn_sub(sn_load3(now), sn_load3(nodes + 6)), sn_quat_rotate(turn, sn_v3(1, 0, 0)));

    destroy(&m);
    return way;
}

static void test_any_rotation(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_quat turn = sn_quat_exp(sn_v3(0.2, 0.3, 0.4)); // half the angle
    double error[2];

    for (int i = 0; i < 2; i++) {
        int32_t cells = i ? 20 : 10;
        double straight = pull_bar(context, sn_quat_identity(), cells);
        double turned = pull_bar(context, turn, cells);
        error[i] = fabs(turned / straight - 1);
        printf("%d voxels across: the end moves %.4g m, turned %.4g m, %.2g apart\n", cells,
               straight, turned, error[i]);
    }

    assert_true(error[0] < 0.1 && error[1] < 0.05);
    sinew_context_destroy(context);
}

// Symplectic Euler is stable just below the reported step and unstable just above it.
static void test_stable_step(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    double stable = 0; // kinetic energy of the stable run, which the push alone explains
    for (int k = 0; k < 2; k++) {
        model m;
        prepare(context, SINEW_SPECIMEN_RIBBON, 4000, 3, &m);
        create(&m);

        sinew_world_def world = sinew_world_get_def(m.world);
        world.integrator = SINEW_INTEGRATOR_SYMPLECTIC_EULER;
        world.step = m.report.stable_step * (k ? 1.02 : 0.98);
        assert_int_equal(sinew_world_set_def(m.world, &world), SINEW_OK);

        const double end[3] = {0.45, 0.04, 0};
        const double push[3] = {1e-6, 2e-6, 3e-6};

        assert_int_equal(test_add_force(m.body, end, push), SINEW_OK);
        double largest = 0;
        for (int i = 0; i < 2000 && largest < 1; i++) {
            if (sinew_world_step(m.world, NULL) != SINEW_OK) {
                largest = INFINITY;
            }
            sinew_measures measures;
            sinew_body_get_measures(m.body, &measures);
            largest = fmax(largest, measures.kinetic_energy);
        }

        printf("step %.5g s: kinetic energy up to %.3g J\n", world.step, largest);
        if (k == 0) {
            stable = largest;
            assert_true(stable < 1e-9);
        } else {
            assert_true(largest > 1000 * stable);
        }
        destroy(&m);
    }

    sinew_context_destroy(context);
}

static void test_surfaces(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *meshes[2];

    // A ball with a bone inside, as surfaces.
    for (int i = 0; i < 2; i++) {
        sinew_shape_def shape = sinew_default_shape_def();
        shape.shape = SINEW_SHAPE_SPHERE;
        shape.element = SINEW_ELEMENT_TRIANGLE;

        for (int k = 0; k < 3; k++) {
            shape.size[k] = i ? 0.4 : 1;
        }

        shape.cell_size = 0.1;
        assert_int_equal(sinew_mesh_create_shape(context, &shape, &meshes[i]), SINEW_OK);
    }

    const sinew_labelled_surface surfaces[2] = {{meshes[1], 2, 1}, {meshes[0], 1, 0}};
    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = NULL;
    sinew_body *body = NULL;
    sinew_autorig_report report;

    assert_int_equal(sinew_world_create(context, &world_def, &world), SINEW_OK);

    // The inner one is rigid.
    sinew_autorig_tissue tissues[2] = {sinew_default_autorig_tissue(),
                                       sinew_default_autorig_tissue()};

    tissues[1].label = 2;
    tissues[1].rigid = true;

    sinew_autorig_def def = sinew_default_autorig_def();
    def.surfaces = surfaces;
    def.surface_count = 2;
    def.grid.resolution = 16;
    def.tissues = tissues;
    def.tissue_count = 2;
    def.placement.count = 5;
    assert_int_equal(sinew_autorig_create(world, &def, &report, &body), SINEW_OK);
    assert_int_equal(report.rigid_node_count, 1);

    // The body does not refer to the surfaces any longer.
    for (int k = 0; k < 2; k++) {
        sinew_mesh_destroy(meshes[k]);
    }

    test_close("volume of the ball", report.volume, 3.14159265 / 6, 0.05);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
    }

    sinew_world_destroy(world);
    sinew_context_destroy(context);
}

static void expect_refusal(model *m, const char *word) {
    sinew_status status = sinew_autorig_create(m->world, &m->def, &m->report, NULL);
    assert_int_not_equal(status, SINEW_OK);
    printf("%s\n", sinew_context_message(m->voxels->context));
    assert_non_null(strstr(sinew_context_message(m->voxels->context), word));
    assert_int_equal(sinew_world_get_body_count(m->world), 0);
}

static void test_bad_input(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    model m;

    prepare(context, SINEW_SPECIMEN_STEAK, 4000, 3, &m);
    m.def.tissue_count = 2; // bone is not in the table
    expect_refusal(&m, "label 3 is not in the table of tissues");
    m.def.tissue_count = 3;
    m.tissues[1].material.young = -1;
    expect_refusal(&m, "-1");
    m.tissues[1].material.young = 1e4;
    m.def.kind = SINEW_NODE_POINT;
    expect_refusal(&m, "falls flat");
    m.def.kind = SINEW_NODE_AFFINE;
    m.def.voxels = NULL;
    expect_refusal(&m, "voxels or by surfaces");
    destroy(&m);
    prepare(context, SINEW_SPECIMEN_KNEE, 30000, 2, &m); // three bones
    expect_refusal(&m, "2 nodes are not enough, at least 3 are needed: the rigid part");
    destroy(&m);
    sinew_context_destroy(context);
}

// Without a table the report describes the material of the body.
static void test_default_tissue(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    model m;

    prepare(context, SINEW_SPECIMEN_RIBBON, 2000, 2, &m);
    m.def.tissue_count = 0;
    assert_int_equal(sinew_autorig_create(m.world, &m.def, &m.report, NULL), SINEW_OK);

    double young = sinew_default_material_def().young;
    double lowest = m.report.frequency[0];

    test_close("softest", m.report.young[0], young, 1e-9 * young);
    test_close("stiffest", m.report.young[1], young, 1e-9 * young);
    destroy(&m);
    prepare(context, SINEW_SPECIMEN_RIBBON, 2000, 2, &m);
    m.tissues[0].material = sinew_default_material_def();
    assert_int_equal(sinew_autorig_create(m.world, &m.def, &m.report, NULL), SINEW_OK);
    test_close("lowest frequency of that material", m.report.frequency[0], lowest, 1e-6 * lowest);
    destroy(&m);
    sinew_context_destroy(context);
}

// Two separate boxes: each gets a node; if there are too few nodes, the message names the second.
static void test_parts(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    model m = {.def = sinew_default_autorig_def()};
    sinew_solid_def solids[2] = {sinew_default_solid_def(), sinew_default_solid_def()};

    solids[1].center[0] = 3;
    sinew_voxel_def grid = sinew_default_voxel_def();

    grid.resolution = 40;
    assert_int_equal(sinew_voxels_create_from_solids(context, solids, 2, &grid, &m.voxels),
                     SINEW_OK);

    sinew_world_def world = sinew_default_world_def();
    assert_int_equal(sinew_world_create(context, &world, &m.world), SINEW_OK);
    m.def.voxels = m.voxels;
    m.def.placement.count = 1;
    expect_refusal(&m, "the disconnected part of");
    m.def.placement.count = 4;
    create(&m);
    assert_true(m.report.coverage[0] > 0.05);
    destroy(&m);
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    bool whole = false;
    for (int64_t fail_at = 0; !whole; fail_at += TEST_SANITIZED ? 7 : 3) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);
        model m;

        prepare(context, SINEW_SPECIMEN_STEAK, 200, 2, &m);
        allocator.fail_at = allocator.calls + fail_at;

        sinew_status status = sinew_autorig_create(m.world, &m.def, &m.report, &m.body);
        whole = status == SINEW_OK;
        if (!whole) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        assert_int_equal(sinew_world_get_body_count(m.world), whole);
        allocator.fail_at = INT64_MAX;
        destroy(&m);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steak),           cmocka_unit_test(test_report),
        cmocka_unit_test(test_many_nodes),      cmocka_unit_test(test_turned_input),
        cmocka_unit_test(test_any_rotation),    cmocka_unit_test(test_stable_step),
        cmocka_unit_test(test_surfaces),        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_bad_input),       cmocka_unit_test(test_default_tissue),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
