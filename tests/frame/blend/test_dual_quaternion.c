// Dual quaternion blending: forces and stiffness by finite differences for every law, as for linear
// blending; points compared with the textbook formula; rigid motion without energy, arbitrary
// weights, full turns.
#include "support/test.h"
#include "support/points.h"

#include "sinew/sinew.h"

#include "body/body.h"
#include "frame/blend/dualquat.h"
#include "frame/body/frame_body.h"
#include "math/quat.h"

#include <math.h>
#include <stdlib.h>

typedef struct fixture {
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
} fixture;

typedef struct bar_def {
    const char *law;
    sinew_blend blend;
    int32_t nodes; // 2 to 5
    sinew_weights weights;
    bool normalize;
    int32_t threads;
    sinew_integrator integrator;
    double gravity, spacing;
    sinew_node_kind kind;
    int isa; // -1: the machine's
    // NULL, or an allocator that fails after `allocations` calls during the creation of the body.
    test_allocator *allocator;
    int64_t allocations;
} bar_def;

static const bar_def plain = {.law = "corotational",
                              .blend = SINEW_BLEND_DUAL_QUATERNION,
                              .nodes = 3,
                              .weights = SINEW_WEIGHTS_RADIAL,
                              .normalize = true,
                              .threads = 1,
                              .integrator = SINEW_INTEGRATOR_NEWTON_EULER,
                              .gravity = 9.81,
                              .spacing = 0.1,
                              .kind = SINEW_NODE_RIGID,
                              .isa = -1};

// A bar along x from -0.5 to 0.5.
static sinew_status try_make(const bar_def *bar, fixture *f) {
    *f = (fixture){.context = bar->allocator ? test_context_failing(bar->allocator)
                                             : test_context(bar->threads)};
    if (bar->isa >= 0) {
        f->context->isa = (sn_isa)bar->isa;
    }

    sinew_solid_def solid = sinew_default_solid_def();
    solid.size[0] = 1;
    solid.size[1] = 0.2;
    solid.size[2] = 0.2;

    sinew_voxel_def voxel_def = sinew_default_voxel_def();
    voxel_def.spacing[0] = voxel_def.spacing[1] = voxel_def.spacing[2] = bar->spacing;
    assert_int_equal(sinew_voxels_create_from_solids(f->context, &solid, 1, &voxel_def, &f->voxels),
                     SINEW_OK);

    sinew_world_def world_def = sinew_default_world_def();
    world_def.integrator = bar->integrator;
    world_def.gravity[2] = -bar->gravity;
    world_def.newton_tolerance = 1e-12;
    world_def.solver = SINEW_SOLVER_DENSE;
    assert_int_equal(sinew_world_create(f->context, &world_def, &f->world), SINEW_OK);

    sinew_frame_node nodes[5];
    for (int32_t i = 0; i < bar->nodes; i++) {
        nodes[i] = (sinew_frame_node){bar->kind,
                                      {(double)i / (bar->nodes - 1) - 0.5, 0.03 * i, -0.02 * i}};
    }

    sinew_material_def material = sinew_default_material_def();
    assert_int_equal(sinew_material_set_law(f->context, bar->law, &material), SINEW_OK);
    material.poisson = 0.3;

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = f->voxels;
    def.nodes = nodes;
    def.node_count = bar->nodes;
    def.materials = &material;
    def.material_count = 1;
    def.blend = bar->blend;
    def.weights.kind = bar->weights;
    def.weights.normalize = bar->normalize;
    def.weights.adopt_outside = true;
    def.sampling.kind = SINEW_SAMPLING_MIDPOINT;
    def.geometric_stiffness = true;

    if (bar->allocator) {
        bar->allocator->fail_at = bar->allocator->calls + bar->allocations;
    }

    return sinew_frame_body_create(f->world, &def, &f->body);
}

static fixture make(const bar_def *bar) {
    fixture f;
    if (try_make(bar, &f) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f.context));
    }
    return f;
}

static void destroy(fixture *f) {
    sinew_world_destroy(f->world);
    sinew_voxels_destroy(f->voxels);
    sinew_context_destroy(f->context);
}

static void *zeros(size_t count, size_t size) {
    void *memory = calloc(count, size);
    assert_non_null(memory);
    return memory;
}

// Rotates and moves nodes at random by up to `size`, on top of a common large rotation.
static void deform(const sinew_body *body, double *q, double size) {
    const sn_frame_model *model = body->model;
    sn_random random = sn_random_seed(29);
    double *xi = zeros((size_t)sn_body_size(body), sizeof *xi);
    double *turned = zeros((size_t)body->config_count, sizeof *turned);

    sn_nodes_place(&model->nodes, turned, sn_quat_exp(sn_v3(1.1, -0.7, 1.9)), sn_v3(0.3, 1, -2));
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        // Translations are smaller than rotations.
        xi[i] = sn_random_range(&random, -size, size) * (i / 3 % 2 ? 0.2 : 1);
    }

    sn_body_retract(body, q, turned, xi);
    free(xi);
    free(turned);
}

// Energy and force at base moved by h along a direction; `force` may be NULL.
static double energy_at(sinew_body *body, const double *base, const double *direction, double h,
                        double *force) {
    size_t n = (size_t)sn_body_size(body);
    double *xi = zeros(n, sizeof *xi);
    double *q = zeros((size_t)body->config_count, sizeof *q);

    for (size_t i = 0; i < n; i++) {
        xi[i] = h * direction[i];
    }

    sn_body_retract(body, q, base, xi);
    sn_evaluation evaluation = {.q = q, .want_energy = true, .force = force};

    body->ops->elasticity.evaluate(body, &evaluation);
    free(xi);
    free(q);

    return evaluation.energy;
}

typedef struct derivatives {
    double slope, curvature; // of the energy along d, by forces and by stiffness
} derivatives;

static derivatives compute_derivatives(sinew_body *body, const double *q, const double *d) {
    size_t n = (size_t)sn_body_size(body);
    double *force = zeros(n, sizeof *force);
    double *product = zeros(n, sizeof *product);
    double *A = zeros(sn_bsr_value_count(&body->pattern), sizeof *A);
    sn_evaluation evaluation = {.q = q, .force = force, .matrix = A};

    body->ops->elasticity.evaluate(body, &evaluation);
    sn_bsr_mirror(body->context, &body->pattern, A);
    sn_bsr_multiply(body->context, &body->pattern, product, A, d);

    derivatives result = {0};
    for (size_t i = 0; i < n; i++) {
        result.slope -= force[i] * d[i];
        result.curvature += d[i] * product[i];
    }

    free(force);
    free(product);
    free(A);

    return result;
}

// Errors of central differences at h: of the energy against the slope, of the slope against the
// curvature.
static derivatives difference_errors(sinew_body *body, const double *q, const double *d,
                                     derivatives exact, double h) {
    derivatives error;
    double ahead = energy_at(body, q, d, h, NULL);
    double behind = energy_at(body, q, d, -h, NULL);
    double here = energy_at(body, q, d, 0, NULL);
    error.slope = fabs((ahead - behind) / (2 * h) - exact.slope);
    error.curvature = fabs((ahead - 2 * here + behind) / (h * h) - exact.curvature);

    return error;
}

static void check_derivatives(sinew_body *body, const char *what, double size) {
    size_t n = (size_t)sn_body_size(body);
    double *q = zeros((size_t)body->config_count, sizeof *q);
    double *d = zeros(n, sizeof *d);

    deform(body, q, size);
    sn_random random = sn_random_seed(5);
    for (size_t i = 0; i < n; i++) {
        d[i] = sn_random_range(&random, -1, 1) * (i / 3 % 2 ? 0.2 : 1);
    }

    derivatives exact = compute_derivatives(body, q, d);
    assert_true(fabs(exact.slope) > 1 && fabs(exact.curvature) > 1);

    derivatives coarse = difference_errors(body, q, d, exact, 2e-3);
    derivatives fine = difference_errors(body, q, d, exact, 1e-3);
    derivatives finest = difference_errors(body, q, d, exact, 1e-5);
    if (finest.slope > 1e-6 * fabs(exact.slope)) {
        fail_msg("%s: slope %g, off by %g", what, exact.slope, finest.slope);
    }
    if (fine.curvature > 1e-3 * fabs(exact.curvature)) {
        fail_msg("%s: curvature %g, off by %g", what, exact.curvature, fine.curvature);
    }

    // Second order: half the step leaves a quarter of the error, down to rounding.
    double floor = 1e-9 * fabs(exact.slope);
    if (fine.slope > 0.3 * coarse.slope + floor) {
        fail_msg("%s: errors %g, %g", what, coarse.slope, fine.slope);
    }

    floor = 1e-6 * fabs(exact.curvature);
    if (fine.curvature > 0.3 * coarse.curvature + floor) {
        fail_msg("%s: errors %g, %g", what, coarse.curvature, fine.curvature);
    }

    free(q);
    free(d);
}

// Every law with both blends, slightly deformed; the smooth ones also with nodes rotated by a
// radian against each other.
static void test_derivatives(void **state) {
    (void)state;
    for (int32_t law = 0; law < sinew_material_law_count(); law++) {
        for (int blend = 0; blend < 2; blend++) {
            bar_def bar = plain;
            bar.law = sinew_material_law_name(law);
            bar.blend = blend ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR;
            bar.nodes = 2 + law % 4;
            fixture f = make(&bar);
            check_derivatives(f.body, bar.law, 0.1);
            destroy(&f);
        }
    }

    bar_def bar = plain;
    bar.law = "st-venant-kirchhoff";

    fixture f = make(&bar);
    check_derivatives(f.body, "large turns", 1);
    destroy(&f);
}

// Blocks whose samples have different nodes and blocks whose samples share them give the same
// derivatives.
static void test_mixed_blocks(void **state) {
    (void)state;
    for (int turn = 0; turn < 4; turn++) {
        bar_def bar = plain;
        bar.law = "st-venant-kirchhoff";
        bar.blend = turn % 2 ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR;
        bar.nodes = 5;
        bar.weights = SINEW_WEIGHTS_AXIS_LINEAR;

        if (turn < 2) {
            bar.spacing = 0.21; // slices of one voxel, whose samples cannot fill blocks
        }

        fixture f = make(&bar);
        const sn_frame_model *model = f.body->model;
        int32_t mixed = 0, uniform = 0;
        const sn_blend *blend = &model->layers.items[0]->blend;

        for (int32_t g = 0; g < blend->groups.count; g++) {
            const sn_rigid_group *group = &blend->rigid.items[g];
            for (int32_t b = 0; b < group->blocks; b++) {
                group->uniform[b] ? uniform++ : mixed++;
            }
        }

        assert_true(bar.spacing > 0.1 ? mixed > 0 : uniform > 0);
        check_derivatives(f.body, "axis weights", 0.3);
        destroy(&f);
    }
}

// b0 + e be with e^2 = 0; the unit one with be = t b0 / 2 is the motion x -> R(b0) x + t.
typedef struct dual_quaternion {
    sn_quat real, dual;
} dual_quaternion;

static dual_quaternion make_motion(sn_quat rotation, sn_vec3 t) {
    return (dual_quaternion){
        rotation, sn_quat_scale(0.5, sn_quat_mul((sn_quat){t.x, t.y, t.z, 0}, rotation))};
}

static sn_vec3 apply_unit(dual_quaternion b, sn_vec3 X) {
    sn_quat t = sn_quat_mul(b.dual, sn_quat_conjugate(b.real));
    return sn_add(sn_quat_rotate(b.real, X), sn_v3(2 * t.x, 2 * t.y, 2 * t.z));
}

// x = R(b) X + t(b) with b the normalised sum of the nodes' dual quaternions, as in the papers.
static sn_vec3 book_position(const sinew_body *body, sn_vec3 X, const sn_shape_point *at) {
    const sn_frame_model *model = body->model;
    dual_quaternion b = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    for (int32_t k = 0; k < at->count; k++) {
        const sn_node *node = &model->nodes.items[at->node[k]];
        sn_quat R = sn_node_rotation(node, body->q);
        sn_vec3 t =
            sn_sub(sn_load3(sn_node_translation(node, body->q)), sn_quat_rotate(R, node->origin));
        dual_quaternion a = make_motion(R, t);
        b.real = sn_quat_add(b.real, sn_quat_scale(at->weight[k], a.real));
        b.dual = sn_quat_add(b.dual, sn_quat_scale(at->weight[k], a.dual));
    }

    double inverse = 1 / sqrt(sn_quat_dot(b.real, b.real));
    b.real = sn_quat_scale(inverse, b.real);
    b.dual = sn_quat_scale(inverse, b.dual);
    return apply_unit(b, X);
}

static void test_points(void **state) {
    (void)state;
    bar_def bar = plain;

    bar.nodes = 4;
    bar.normalize = false;

    fixture f = make(&bar);
    deform(f.body, f.body->q, 1);

    sn_random random = sn_random_seed(3);
    double *v = f.body->v;
    double h = 1e-6;

    for (int32_t i = 0; i < sn_body_size(f.body); i++) {
        v[i] = sn_random_range(&random, -1, 1);
    }

    double *ahead = zeros((size_t)f.body->config_count, sizeof *ahead);
    double *xi = zeros((size_t)sn_body_size(f.body), sizeof *xi);
    double *force = zeros((size_t)sn_body_size(f.body), sizeof *force);

    for (int trial = 0; trial < 20; trial++) {
        sn_vec3 X =
            sn_v3(sn_random_range(&random, -0.45, 0.45), sn_random_range(&random, -0.08, 0.08),
                  sn_random_range(&random, -0.08, 0.08));
        const sn_frame_model *model = f.body->model;
        sn_shape_point at;

        sn_frame_weights_at(model, X, &at);
        sn_blend_prepare(&model->nodes, &model->blend, f.body->q);

        sn_frame_motion motion = sn_frame_motion_at(f.body, X, v);
        assert_true(sn_distance(motion.x, book_position(f.body, X, &at)) < 1e-12);

        // A force does the same work on the point as on the nodes.
        sn_blend_point point = {.X = X,
                                .count = at.count,
                                .node = at.node,
                                .weight = at.weight,
                                .gradient = at.gradient[0]};
        sn_vec3 push = sn_v3(1, -2, 0.5);

        memset(force, 0, (size_t)sn_body_size(f.body) * sizeof *force);
        sn_blend_add_force(&model->nodes, &model->blend, &point, push, force);

        double work = 0;
        for (int32_t i = 0; i < sn_body_size(f.body); i++) {
            work += force[i] * v[i];
        }

        test_close("power", work, sn_dot(push, motion.rate), 1e-12);

        // Rates by central differences in time, F by differences in space.
        sn_frame_motion moved[2];
        for (int side = 0; side < 2; side++) {
            for (int32_t i = 0; i < sn_body_size(f.body); i++) {
                xi[i] = (side ? -h : h) * v[i];
            }
            sn_body_retract(f.body, ahead, f.body->q, xi);
            sn_blend_prepare(&model->nodes, &model->blend, ahead);
            moved[side] = sn_blend_get_motion(&model->nodes, &model->blend, &point, NULL);
        }

        sn_vec3 rate = sn_scale(1 / (2 * h), sn_sub(moved[0].x, moved[1].x));
        assert_true(sn_distance(rate, motion.rate) < 1e-8);

        sn_mat3 F_rate = sn_mat3_scale(1 / (2 * h), sn_mat3_sub(moved[0].F, moved[1].F));
        assert_true(sn_mat3_norm(sn_mat3_sub(F_rate, motion.F_rate)) <
                    1e-6 * (1 + sn_mat3_norm(motion.F_rate)));
        sn_blend_prepare(&model->nodes, &model->blend, f.body->q);

        for (int k = 0; k < 3; k++) {
            double step[3] = {k == 0 ? h : 0, k == 1 ? h : 0, k == 2 ? h : 0};
            sn_vec3 front = sn_frame_motion_at(f.body, sn_add(X, sn_load3(step)), NULL).x;
            sn_vec3 back = sn_frame_motion_at(f.body, sn_sub(X, sn_load3(step)), NULL).x;
            sn_vec3 slope = sn_scale(1 / (2 * h), sn_sub(front, back));
            assert_true(sn_distance(slope, sn_mat3_column(motion.F, k)) <
                        1e-6 * (1 + sn_mat3_norm(motion.F)));
        }
    }

    free(ahead);
    free(xi);
    free(force);
    destroy(&f);
}

// Energy and forces of a rigid motion are zero, also with weights that are negative or do not sum
// to one.
static void test_rigid_motion_is_free(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        bar_def bar = plain;
        bar.law = "stable-neo-hookean";
        bar.nodes = 4;
        bar.weights = kind == 2 ? SINEW_WEIGHTS_AXIS_CUBIC : SINEW_WEIGHTS_RADIAL;
        bar.normalize = kind == 0;

        fixture f = make(&bar);
        const sn_frame_model *model = f.body->model;
        size_t n = (size_t)sn_body_size(f.body);
        double *q = zeros((size_t)f.body->config_count, sizeof *q);
        double *force = zeros(n, sizeof *force);

        sn_nodes_place(&model->nodes, q, sn_quat_exp(sn_v3(2, 1, -1)), sn_v3(5, -3, 1));
        sn_evaluation evaluation = {.q = q, .want_energy = true, .force = force};

        f.body->ops->elasticity.evaluate(f.body, &evaluation);
        assert_true(fabs(evaluation.energy) < 1e-9);
        for (size_t i = 0; i < n; i++) {
            assert_true(fabs(force[i]) < 1e-9 * 1e6 * 0.04);
        }

        check_derivatives(f.body, "any weights", 0.2);
        free(q);
        free(force);
        destroy(&f);
    }
}

// One end is rotated about the axis. Up to 340 degrees every point moves continuously, and the
// twist is distributed evenly; at a full turn the step is refused with a message, and the state is
// unchanged.
static void test_full_turn(void **state) {
    (void)state;
    bar_def bar = plain;

    bar.nodes = 2;
    bar.weights = SINEW_WEIGHTS_AXIS_LINEAR;
    bar.gravity = 0;

    fixture f = make(&bar);
    double last[3] = {0};
    double rest[3] = {0, 0.08, 0.03};
    double position[3], at[3];

    for (int k = 0; k < 2; k++) {
        assert_int_equal(sinew_frame_body_hold(f.body, k, SINEW_HOLD_ALL), SINEW_OK);
    }

    assert_int_equal(sinew_frame_body_get_node(f.body, 1, at, NULL), SINEW_OK);
    sinew_step_report report;
    for (int degrees = 0; degrees <= 340; degrees += 2) {
        double half = degrees * 3.14159265358979323846 / 360;
        double rotation[4] = {sin(half), 0, 0, cos(half)};

        assert_int_equal(sinew_frame_body_move(f.body, 1, at, rotation), SINEW_OK);
        assert_int_equal(sinew_world_step(f.world, &report), SINEW_OK);
        assert_int_equal(test_get_position(f.body, rest, position), SINEW_OK);

        // Half-way the point rotates by one degree for two of the node, at a distance of about
        // 0.085 m from the axis.
        if (degrees > 0) {
            assert_true(sn_distance(sn_load3(position), sn_load3(last)) < 0.005);
        }

        memcpy(last, position, sizeof last);
    }

    sinew_status status = SINEW_OK;
    for (int degrees = 342; degrees <= 360 && status == SINEW_OK; degrees += 2) {
        double half = degrees * 3.14159265358979323846 / 360;
        double rotation[4] = {sin(half), 0, 0, cos(half)};
        assert_int_equal(sinew_frame_body_move(f.body, 1, at, rotation), SINEW_OK);
        status = sinew_world_step(f.world, &report);
    }

    assert_int_equal(status, SINEW_DIVERGED);
    assert_int_equal(report.outcome, SINEW_OUTCOME_SINGULAR);
    assert_non_null(strstr(sinew_context_message(f.context), "360 degrees"));

    for (int32_t i = 0; i < f.body->config_count; i++) {
        assert_true(isfinite(f.body->q[i]));
    }

    destroy(&f);
}

static void test_threads_give_the_same_bits(void **state) {
    (void)state;
    uint64_t hash = 0;
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        bar_def bar = plain;
        bar.threads = threads;
        bar.nodes = 5;
        bar.integrator = SINEW_INTEGRATOR_IMPLICIT_EULER;

        fixture f = make(&bar);
        assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        if (threads == 1) {
            hash = sinew_world_get_hash(f.world);
        }

        assert_true(sinew_world_get_hash(f.world) == hash);
        destroy(&f);
    }
}

// Many samples of few frames are summed in parts, with the same derivatives and the same bits for
// any number of threads.
static void test_parts(void **state) {
    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        bar_def bar = plain;
        bar.kind = turn == 0 ? SINEW_NODE_AFFINE : SINEW_NODE_RIGID;
        bar.blend = turn == 2 ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR;
        bar.law = "st-venant-kirchhoff";
        bar.spacing = 0.03;
        bar.integrator = SINEW_INTEGRATOR_IMPLICIT_EULER;

        uint64_t hash = 0;
        for (bar.threads = 1; bar.threads <= 4; bar.threads *= 2) {
            fixture f = make(&bar);
            const sn_frame_model *model = f.body->model;

            assert_true(model->base_samples->count > 1024);
            if (bar.threads == 1) {
                check_derivatives(f.body, "parts", 0.1);
            }

            assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
            for (int i = 0; i < 3; i++) {
                assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
            }

            if (bar.threads == 1) {
                hash = sinew_world_get_hash(f.world);
            }

            assert_true(sinew_world_get_hash(f.world) == hash);
            destroy(&f);
        }
    }
}

// Every instruction set gives the same result up to rounding.
static void test_instruction_sets(void **state) {
    (void)state;
    double energies[SN_ISA_COUNT] = {0}, curvatures[SN_ISA_COUNT] = {0};
    for (int isa = 0; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available((sn_isa)isa)) {
            continue;
        }

        fixture f = {.context = NULL};
        bar_def bar = plain;

        bar.nodes = 5;
        bar.isa = isa;
        f = make(&bar);

        size_t n = (size_t)sn_body_size(f.body);
        double *q = zeros((size_t)f.body->config_count, sizeof *q);
        double *d = zeros(n, sizeof *d);

        deform(f.body, q, 0.3);
        for (size_t i = 0; i < n; i++) {
            d[i] = i % 2 ? 0.3 : -0.7;
        }

        energies[isa] = energy_at(f.body, q, d, 0, NULL);
        curvatures[isa] = compute_derivatives(f.body, q, d).curvature;
        test_close("energy", energies[isa], energies[0], 1e-10 * fabs(energies[0]));
        test_close("curvature", curvatures[isa], curvatures[0], 1e-10 * fabs(curvatures[0]));
        free(q);
        free(d);
        destroy(&f);
    }
}

static void test_memory_shortage(void **state) {
    (void)state;
    sinew_status status = SINEW_OUT_OF_MEMORY;
    int64_t allocations = 0;

    for (; status != SINEW_OK && allocations < 2000; allocations++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        bar_def bar = plain;
        bar.allocator = &allocator;
        bar.allocations = allocations;
        fixture f;
        status = try_make(&bar, &f);
        assert_true(status == SINEW_OK || status == SINEW_OUT_OF_MEMORY);
        destroy(&f);
        assert_int_equal(allocator.live, 0);
    }

    assert_true(status == SINEW_OK && allocations > 10);
}

static void test_bad_input(void **state) {
    (void)state;
    bar_def bar = plain;
    bar.kind = SINEW_NODE_AFFINE;
    fixture f;
    assert_int_equal(try_make(&bar, &f), SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(f.context), "rigid"));
    destroy(&f);
}

int main(void) {
    if (TEST_WATCHES_THREADS) {
        cmocka_set_test_filter("test_threads*");
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),     cmocka_unit_test(test_mixed_blocks),
        cmocka_unit_test(test_points),          cmocka_unit_test(test_rigid_motion_is_free),
        cmocka_unit_test(test_full_turn),       cmocka_unit_test(test_threads_give_the_same_bits),
        cmocka_unit_test(test_parts),           cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_memory_shortage), cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
