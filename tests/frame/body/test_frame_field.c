// Frame bodies with a field of material axes: energy and stress of a stretched bar are those of the
// law with rotated axes, for every anisotropic law, strain and blend; a free body keeps its angular
// momentum; a frame that joins uses the field too.
#include "support/test.h"
#include "support/points.h"

#include "sinew/sinew.h"

#include "body/body.h"
#include "material/material.h"
#include "math/mat3.h"

#include <math.h>

static const double STRETCH = 0.1, TURN = 0.6; // of the bar; of the axes about z [rad]

typedef struct fixture {
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_mesh *mesh;
    sinew_field *field;
    sinew_world *world;
    sinew_material_def material;
} fixture;

// Axes rotated about z, the same everywhere.
static sinew_field *make_field(sinew_context *context, const sinew_mesh *mesh) {
    double c = cos(TURN);
    double s = sin(TURN);
    double axes[9] = {c, s, 0, -s, c, 0, 0, 0, 1};
    double *all = sn_allocate(context, (size_t)mesh->element_count, sizeof axes);

    assert_non_null(all);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        memcpy(all + 9 * e, axes, sizeof axes);
    }

    sinew_field *field;
    assert_int_equal(sinew_field_create_from_axes(context, mesh, SINEW_FIELD_FRAMES, all, &field),
                     SINEW_OK);
    sn_release(context, all, (size_t)mesh->element_count, sizeof axes);

    return field;
}

static fixture make(void) {
    fixture f = {.context = test_context(1), .material = sinew_default_material_def()};
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();

    solid.size[1] = solid.size[2] = 0.2;
    grid.resolution = 20;
    assert_int_equal(sinew_voxels_create_from_solids(f.context, &solid, 1, &grid, &f.voxels),
                     SINEW_OK);

    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[1] = shape.size[2] = 0.2;
    assert_int_equal(sinew_mesh_create_shape(f.context, &shape, &f.mesh), SINEW_OK);
    f.field = make_field(f.context, f.mesh);

    sinew_world_def world_def = sinew_default_world_def();
    assert_int_equal(sinew_world_create(f.context, &world_def, &f.world), SINEW_OK);
    assert_int_equal(sinew_material_set_law(f.context, "orthotropic", &f.material), SINEW_OK);
    f.material.orthotropic.young_1 = 1e6;
    f.material.orthotropic.young_2 = f.material.orthotropic.young_3 = 1e5;

    return f;
}

static void destroy(fixture *f) {
    sinew_world_destroy(f->world);
    sinew_field_destroy(f->field);
    sinew_mesh_destroy(f->mesh);
    sinew_voxels_destroy(f->voxels);
    sinew_context_destroy(f->context);
}

static sinew_body *make_body(const fixture *f, sinew_node_kind kind, sinew_blend blend,
                             const sinew_field *field) {
    sinew_frame_node nodes[2] = {{kind, {-0.475, 0, 0}}, {kind, {0.475, 0, 0}}};
    sinew_frame_body_def def = sinew_default_frame_body_def();

    def.voxels = f->voxels;
    def.nodes = nodes;
    def.node_count = 2;
    def.blend = blend;
    def.materials = &f->material;
    def.material_count = 1;
    def.field = field;
    def.weights.kind = SINEW_WEIGHTS_AXIS_LINEAR;
    def.sampling.kind = SINEW_SAMPLING_MIDPOINT;

    sinew_body *body;
    if (sinew_frame_body_create(f->world, &def, &body) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f->context));
    }

    for (int i = 0; i < 2; i++) {
        double position[3] = {nodes[i].position[0] * (1 + STRETCH), 0, 0};
        assert_int_equal(
            sinew_frame_body_set_node(body, i, position, (const double[4]){0, 0, 0, 1}), SINEW_OK);
    }

    return body;
}

// Energy and stress of the law for F = diag(1 + STRETCH, 1, 1) with rotated axes.
static sn_mat3 expected_stress(const fixture *f, bool turned, double *density) {
    sn_material material = sn_material_prepare(&f->material, SN_PLANE_NONE, f->context->isa);
    double parameters[SN_MATERIAL_MAX_PARAMETERS];
    double c = cos(TURN);
    double s = sin(TURN);
    sn_mat3 axes = sn_mat3_columns(sn_v3(c, s, 0), sn_v3(-s, c, 0), sn_v3(0, 0, 1));
    sn_mat3 F = sn_mat3_identity();

    sn_material_parameters(parameters, &material, &f->material, turned ? &axes : NULL);
    F.m[0][0] += STRETCH;
    *density = sn_material_energy(&material, parameters, F);

    return sn_material_stress(&material, parameters, F);
}

static void check_state(const fixture *f, sinew_body *body, bool turned) {
    double density;
    sn_mat3 P = expected_stress(f, turned, &density);
    sinew_element_state state;

    assert_int_equal(test_get_state(body, (const double[3]){0.1, 0.02, 0}, NULL, &state), SINEW_OK);
    test_close("density", state.energy, density, 1e-10 * density);

    // sigma = P F' / J: J = F_xx.
    test_close("pull", state.stress[0], P.m[0][0], 1e-10 * P.m[0][0]);

    // With the rotation held, stress is not symmetric; its symmetric part is reported.
    double shear = 0.5 * (P.m[0][1] / (1 + STRETCH) + P.m[1][0]);

    test_close("shear", state.stress[5], shear, 1e-10 * P.m[0][0]);
}

enum { LAWS = 6 };

// Four, nine and five constants, active fibres, either strain, and the rotation held. Stiff along
// axis 1, or along axis 3 for fibres.
static sinew_material_def law(int index) {
    sinew_material_def def = sinew_default_material_def();
    def.law = index < 4 ? SINEW_MATERIAL_ORTHOTROPIC : SINEW_MATERIAL_TRANSVERSE;
    def.strain = index % 2 == 0 ? SINEW_STRAIN_COROTATIONAL : SINEW_STRAIN_GREEN;
    def.orthotropic.young_1 = 1e6;
    def.orthotropic.young_2 = def.orthotropic.young_3 = 1e5;
    def.orthotropic.four_parameters = index < 2;
    def.orthotropic.poisson_12 = def.orthotropic.poisson_23 = 0.3;
    def.orthotropic.poisson_31 = 0.03;
    def.orthotropic.shear_12 = 1e5;
    def.orthotropic.shear_23 = 4e4;
    def.orthotropic.shear_31 = 8e4;
    def.exact_rotation = index != 2;

    if (index >= 4) {
        def.fibre_stress = 1e4;
    }

    return def;
}

static void check_stretched(const fixture *f, bool turned) {
    double density;
    expected_stress(f, turned, &density);
    for (int way = 0; way < 3; way++) {
        sinew_node_kind kind = way == 0 ? SINEW_NODE_AFFINE : SINEW_NODE_RIGID;
        sinew_blend blend = way == 2 ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR;
        sinew_body *body = make_body(f, kind, blend, turned ? f->field : NULL);

        check_state(f, body, turned);

        // Beyond the frames at the ends the weights are constant and nothing stretches: half a
        // voxel of 20 at each end.
        double stretched = 0.95 * 0.2 * 0.2;
        sn_evaluation evaluation = {.q = body->q, .want_energy = true};

        body->ops->elasticity.evaluate(body, &evaluation);
        test_close("energy", evaluation.energy, stretched * density, 0.06 * stretched * density);
    }
}

static void test_a_stretched_bar(void **state) {
    (void)state;
    fixture f = make();
    for (int index = 0; index < LAWS; index++) {
        f.material = law(index);
        check_stretched(&f, false);
        check_stretched(&f, true);

        // The axes matter: the bar is much stiffer along the stiff axis than at an angle to it.
        double straight, askew;

        expected_stress(&f, false, &straight);
        expected_stress(&f, true, &askew);

        if (index < 4) {
            assert_true(straight > 1.5 * askew);
        }
    }

    destroy(&f);
}

// Stretched, rotated and released, with either strain: forces without a torque conserve the angular
// momentum.
static void test_a_free_body(void **state) {
    (void)state;
    for (int index = 0; index < 2; index++) {
        fixture f = make();
        sinew_world_destroy(f.world);

        sinew_world_def world_def = sinew_default_world_def();
        world_def.integrator = SINEW_INTEGRATOR_SYMPLECTIC_EULER;
        world_def.step = 2e-4;

        for (int k = 0; k < 3; k++) {
            world_def.gravity[k] = 0;
        }

        assert_int_equal(sinew_world_create(f.context, &world_def, &f.world), SINEW_OK);
        f.material = law(index);

        sinew_body *body = make_body(&f, SINEW_NODE_AFFINE, SINEW_BLEND_LINEAR, f.field);
        for (int i = 0; i < 2; i++) {
            const double velocity[6] = {0, i == 0 ? -1 : 1, 0.3, 0, 0, 2};
            assert_int_equal(sinew_frame_body_set_velocity(body, i, velocity, velocity + 3),
                             SINEW_OK);
        }

        sinew_measures before, now;
        sinew_world_get_measures(f.world, &before);
        for (int i = 0; i < 200; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        sinew_world_get_measures(f.world, &now);
        double size = sn_length(sn_load3(before.angular_momentum));

        assert_true(size > 1 &&
                    fabs(now.elastic_energy - before.elastic_energy) > 0.1 * before.elastic_energy);

        double drift =
            sn_distance(sn_load3(now.angular_momentum), sn_load3(before.angular_momentum)) / size;

        test_close("drift of the angular momentum", drift, 0, 1e-10);
        destroy(&f);
    }
}

static void test_a_frame_joins(void **state) {
    (void)state;
    fixture f = make();
    sinew_body *body = make_body(&f, SINEW_NODE_RIGID, SINEW_BLEND_LINEAR, f.field);
    sn_evaluation before = {.q = body->q, .want_energy = true};

    body->ops->elasticity.evaluate(body, &before);
    sinew_frame_insert_def insert = sinew_default_frame_insert_def();

    insert.range = 0.3;
    int32_t node;
    if (sinew_frame_body_insert(body, &insert, &node) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f.context));
    }

    sn_evaluation after = {.q = body->q, .want_energy = true};
    body->ops->elasticity.evaluate(body, &after);
    test_close("energy", after.energy, before.energy, 1e-9 * before.energy);
    destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stretched_bar),
        cmocka_unit_test(test_a_free_body),
        cmocka_unit_test(test_a_frame_joins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
