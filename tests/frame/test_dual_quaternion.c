// Dual quaternion blending: forces and stiffness by finite differences for every law beside linear blending, points against
// dual quaternions as they are written in the books, rigid motion for free, any weights, full turns.
#include "support/test.h"

#include "sinew/sinew.h"

#include "body/body.h"
#include "frame/dualquat.h"
#include "frame/frame_body.h"
#include "math/dualquat.h"

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
    double gravity;
} bar_def;

static const bar_def plain = {
    "corotational", SINEW_BLEND_DUAL_QUATERNION, 3, SINEW_WEIGHTS_RADIAL, true, 1, SINEW_INTEGRATOR_NEWTON_EULER, 9.81};

// A bar along x from -0.5 to 0.5.
static sinew_status try_make(const bar_def *bar, fixture *f) {
    *f = (fixture){.context = test_context(bar->threads)};
    sinew_solid_def solid = sinew_default_solid_def();
    solid.size[0] = 1, solid.size[1] = 0.2, solid.size[2] = 0.2;
    sinew_voxel_def voxel_def = sinew_default_voxel_def();
    voxel_def.spacing[0] = voxel_def.spacing[1] = voxel_def.spacing[2] = 0.1;
    assert_int_equal(sinew_voxels_create_from_solids(f->context, &solid, 1, &voxel_def, &f->voxels), SINEW_OK);
    sinew_world_def world_def = sinew_default_world_def();
    world_def.integrator = bar->integrator;
    world_def.gravity[2] = -bar->gravity;
    world_def.newton_tolerance = 1e-12;
    world_def.solver = SINEW_SOLVER_DENSE;
    assert_int_equal(sinew_world_create(f->context, &world_def, &f->world), SINEW_OK);
    sinew_frame_node nodes[5];
    for (int32_t i = 0; i < bar->nodes; i++) {
        nodes[i] = (sinew_frame_node){SINEW_NODE_RIGID, {(double)i / (bar->nodes - 1) - 0.5, 0.03 * i, -0.02 * i}};
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
    return sinew_frame_body_create(f->world, &def, &f->body);
}

static fixture make(const bar_def *bar) {
    fixture f;
    if (try_make(bar, &f) != SINEW_OK) fail_msg("%s", sinew_context_message(f.context));
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

// Nodes turned and moved at random by `size`, on top of a common large rotation.
static void deform(const sinew_body *body, double *q, double size) {
    const sn_frame_model *model = body->model;
    sn_random random = sn_random_seed(29);
    double *xi = zeros((size_t)sn_body_size(body), sizeof *xi), *turned = zeros((size_t)body->config_count, sizeof *turned);
    sn_nodes_place(&model->nodes, turned, sn_quat_exp(sn_v3(1.1, -0.7, 1.9)), sn_v3(0.3, 1, -2));
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        xi[i] = sn_random_range(&random, -size, size) * (i / 3 % 2 ? 0.2 : 1); // rotations more than translations
    }
    sn_body_retract(body, q, turned, xi);
    free(xi), free(turned);
}

// Energy and force at base moved by h along a direction; `force` may be NULL.
static double energy_at(sinew_body *body, const double *base, const double *direction, double h, double *force) {
    size_t n = (size_t)sn_body_size(body);
    double *xi = zeros(n, sizeof *xi), *q = zeros((size_t)body->config_count, sizeof *q);
    for (size_t i = 0; i < n; i++) xi[i] = h * direction[i];
    sn_body_retract(body, q, base, xi);
    sn_evaluation evaluation = {.q = q, .want_energy = true, .force = force};
    body->ops->evaluate(body, &evaluation);
    free(xi), free(q);
    return evaluation.energy;
}

typedef struct derivatives {
    double slope, curvature; // of the energy along d, by forces and by stiffness
} derivatives;

static derivatives compute_derivatives(sinew_body *body, const double *q, const double *d) {
    size_t n = (size_t)sn_body_size(body);
    double *force = zeros(n, sizeof *force), *product = zeros(n, sizeof *product);
    double *A = zeros(sn_bsr_value_count(&body->pattern), sizeof *A);
    sn_evaluation evaluation = {.q = q, .force = force, .matrix = A};
    body->ops->evaluate(body, &evaluation);
    sn_bsr_mirror(body->context, &body->pattern, A);
    sn_bsr_multiply(body->context, &body->pattern, product, A, d);
    derivatives result = {0};
    for (size_t i = 0; i < n; i++) result.slope -= force[i] * d[i], result.curvature += d[i] * product[i];
    free(force), free(product), free(A);
    return result;
}

// Errors of central differences at h: of the energy against the slope, of the slope against the curvature.
static derivatives difference_errors(sinew_body *body, const double *q, const double *d, derivatives exact, double h) {
    derivatives error;
    double ahead = energy_at(body, q, d, h, NULL), behind = energy_at(body, q, d, -h, NULL),
           here = energy_at(body, q, d, 0, NULL);
    error.slope = fabs((ahead - behind) / (2 * h) - exact.slope);
    error.curvature = fabs((ahead - 2 * here + behind) / (h * h) - exact.curvature);
    return error;
}

static void check_derivatives(sinew_body *body, const char *what, double size) {
    size_t n = (size_t)sn_body_size(body);
    double *q = zeros((size_t)body->config_count, sizeof *q), *d = zeros(n, sizeof *d);
    deform(body, q, size);
    sn_random random = sn_random_seed(5);
    for (size_t i = 0; i < n; i++) d[i] = sn_random_range(&random, -1, 1) * (i / 3 % 2 ? 0.2 : 1);
    derivatives exact = compute_derivatives(body, q, d);
    assert_true(fabs(exact.slope) > 1 && fabs(exact.curvature) > 1);
    derivatives coarse = difference_errors(body, q, d, exact, 2e-3), fine = difference_errors(body, q, d, exact, 1e-3);
    derivatives finest = difference_errors(body, q, d, exact, 1e-5);
    if (finest.slope > 1e-6 * fabs(exact.slope)) fail_msg("%s: slope %g, off by %g", what, exact.slope, finest.slope);
    if (fine.curvature > 1e-3 * fabs(exact.curvature)) {
        fail_msg("%s: curvature %g, off by %g", what, exact.curvature, fine.curvature);
    }
    // Second order: a quarter of the error for half the step, unless it is rounding already.
    double floor = 1e-9 * fabs(exact.slope);
    if (fine.slope > 0.3 * coarse.slope + floor) fail_msg("%s: errors %g, %g", what, coarse.slope, fine.slope);
    floor = 1e-6 * fabs(exact.curvature);
    if (fine.curvature > 0.3 * coarse.curvature + floor) fail_msg("%s: errors %g, %g", what, coarse.curvature, fine.curvature);
    free(q), free(d);
}

// Every law by both blends, slightly deformed; the smooth ones also with nodes turned by a radian against each other.
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
