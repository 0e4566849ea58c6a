// Builds one body of each kind from the same bar; see kinds.h.
#include "support/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *test_kind_name(test_kind kind) {
    static const char *const names[TEST_KINDS] = {
        "tet4",         "tet10",        "hex8",          "warped",
        "embedded",     "rigid frames", "affine frames", "quadratic frames",
        "dual frames",  "springs",      "positions",     "reduced",
        "modal warping"};
    return names[kind];
}

void test_kind_close(test_kind kind, const char *what, double actual, double expected,
                     double tolerance) {
    if (!(fabs(actual - expected) <= tolerance)) {
        fail_msg("%s of %s: %.17g instead of %.17g, off by more than %g", what,
                 test_kind_name(kind), actual, expected, tolerance);
    }
}

test_kinds test_kinds_create_world(void) {
    test_kinds t = {.context = NULL};
    sinew_context_def context = sinew_default_context_def();
    context.threads = 1;
    t.context = sinew_context_create(&context);
    assert_non_null(t.context);

    sinew_world_def def = sinew_default_world_def();
    memset(def.gravity, 0, sizeof def.gravity);
    def.step = 0.001;
    def.solver = SINEW_SOLVER_DIRECT;
    assert_int_equal(sinew_world_create(t.context, &def, &t.world), SINEW_OK);
    return t;
}

static sinew_mesh *make_bar(sinew_context *context, sinew_element element) {
    sinew_shape_def shape = sinew_default_shape_def();
    shape.element = element == SINEW_ELEMENT_TET10 ? SINEW_ELEMENT_TET4 : element;
    shape.size[1] = shape.size[2] = 0.2;
    shape.cells[0] = 5;
    shape.cells[1] = shape.cells[2] = 2;

    sinew_mesh *mesh = NULL;
    assert_int_equal(sinew_mesh_create_shape(context, &shape, &mesh), SINEW_OK);
    if (element == SINEW_ELEMENT_TET10) {
        sinew_mesh *tets = mesh;
        assert_int_equal(sinew_mesh_create_quadratic(context, tets, &mesh), SINEW_OK);
        sinew_mesh_destroy(tets);
    }

    return mesh;
}

static void reduce(test_kinds *t, test_kind kind, sinew_body *body) {
    sinew_reduction_def def = sinew_default_reduction_def();
    def.kind = kind == TEST_REDUCED ? SINEW_REDUCTION_DERIVATIVES : SINEW_REDUCTION_WARPED;
    def.modes = 9;
    def.poses = 20;
    if (sinew_body_reduce(body, &def, NULL) != SINEW_OK) {
        fail_msg("%s: %s", test_kind_name(kind), sinew_context_message(t->context));
    }
}

static sinew_body *add_elements(test_kinds *t, test_kind kind, const double position[3]) {
    sinew_element element = SINEW_ELEMENT_TET4;
    if (kind == TEST_TET10) {
        element = SINEW_ELEMENT_TET10;
    }
    if (kind == TEST_HEX8) {
        element = SINEW_ELEMENT_HEX8;
    }

    sinew_material_def material = sinew_default_material_def();
    material.young = 1e5;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = make_bar(t->context, element);
    def.materials = &material;
    def.material_count = 1;
    def.model = kind == TEST_WARPED ? SINEW_MODEL_WARPED : SINEW_MODEL_ELASTIC;
    memcpy(def.position, position, sizeof def.position);

    sinew_mesh *skin = kind == TEST_EMBEDDED ? make_bar(t->context, SINEW_ELEMENT_TRIANGLE) : NULL;
    def.surface = skin;

    sinew_body *body = NULL;
    assert_int_equal(sinew_body_create(t->world, &def, &body), SINEW_OK);
    sinew_mesh_destroy((sinew_mesh *)(uintptr_t)def.mesh);
    sinew_mesh_destroy(skin);
    if (test_kind_is_reduced(kind)) {
        reduce(t, kind, body);
    }
    return body;
}

static sinew_body *add_positions(test_kinds *t, const double position[3]) {
    sinew_mesh *mesh = make_bar(t->context, SINEW_ELEMENT_TET4);
    sinew_pbd_material material = sinew_isotropic_pbd_material(1e5, 0.3, 1000);
    sinew_pbd_body_def def = sinew_default_pbd_body_def();
    def.mesh = mesh;
    def.pbd.mode = SINEW_PBD_COMPLIANCE;
    def.pbd.materials = &material;
    def.pbd.material_count = 1;
    memcpy(def.position, position, sizeof def.position);

    sinew_body *body = NULL;
    assert_int_equal(sinew_pbd_body_create(t->world, &def, &body), SINEW_OK);
    sinew_mesh_destroy(mesh);
    return body;
}

static void make_voxels(test_kinds *t) {
    sinew_solid_def solid = sinew_default_solid_def();
    solid.size[0] = 1;
    solid.size[1] = solid.size[2] = 0.2;
    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.spacing[0] = grid.spacing[1] = grid.spacing[2] = 0.05;
    assert_int_equal(sinew_voxels_create_from_solids(t->context, &solid, 1, &grid, &t->voxels),
                     SINEW_OK);
}

static sinew_node_kind node_kind(test_kind kind) {
    switch (kind) {
    case TEST_AFFINE_FRAMES: return SINEW_NODE_AFFINE;
    case TEST_QUADRATIC_FRAMES: return SINEW_NODE_QUADRATIC;
    default: return SINEW_NODE_RIGID;
    }
}

static sinew_body *add_frames(test_kinds *t, test_kind kind, const double position[3]) {
    if (!t->voxels) {
        make_voxels(t);
    }

    sinew_material_def material = sinew_default_material_def();
    material.young = 1e5;
    sinew_frame_node nodes[3] = {{node_kind(kind), {-0.4, 0, 0}},
                                 {node_kind(kind), {0, 0, 0}},
                                 {node_kind(kind), {0.4, 0, 0}}};

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = t->voxels;
    def.materials = &material;
    def.material_count = 1;
    def.nodes = nodes;
    def.node_count = 3;
    def.blend = kind == TEST_DUAL_FRAMES ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR;
    def.springs = kind == TEST_SPRINGS;
    memcpy(def.position, position, sizeof def.position);

    sinew_body *body = NULL;
    if (sinew_frame_body_create(t->world, &def, &body) != SINEW_OK) {
        fail_msg("%s: %s", test_kind_name(kind), sinew_context_message(t->context));
    }
    return body;
}

sinew_body *test_kinds_add(test_kinds *t, test_kind kind, const double position[3]) {
    if (test_kind_has_frames(kind)) {
        return add_frames(t, kind, position);
    }
    return kind == TEST_POSITIONS ? add_positions(t, position) : add_elements(t, kind, position);
}

test_kinds test_kinds_create(test_kind kind) {
    test_kinds t = test_kinds_create_world();
    t.body = test_kinds_add(&t, kind, (const double[3]){0, 0, 0});
    return t;
}

void test_kinds_destroy(test_kinds *t) {
    sinew_world_destroy(t->world);
    sinew_voxels_destroy(t->voxels);
    sinew_context_destroy(t->context);
}

void test_kinds_deform(test_kinds *t, test_kind kind) {
    const sinew_mesh *surface = sinew_body_get_surface(t->body);
    size_t count = 3 * (size_t)surface->point_count;
    double *forces = malloc(count * sizeof *forces);
    assert_non_null(forces);

    // A twist about the axis of the bar, a bend and a pull.
    for (int32_t i = 0; i < surface->point_count; i++) {
        const double *X = surface->points + 3 * (size_t)i;
        double share = 400.0 / surface->point_count;
        forces[3 * (size_t)i] = share * X[0];
        forces[3 * (size_t)i + 1] = share * (0.3 - X[0] * X[2] * 8);
        forces[3 * (size_t)i + 2] = share * (X[0] * X[0] + X[0] * X[1] * 8);
    }

    assert_int_equal(sinew_body_set_surface_forces(t->body, forces), SINEW_OK);
    for (int step = 0; step < 20; step++) {
        if (sinew_world_step(t->world, NULL) != SINEW_OK) {
            fail_msg("%s: %s", test_kind_name(kind), sinew_context_message(t->context));
        }
    }

    assert_int_equal(sinew_body_set_surface_forces(t->body, NULL), SINEW_OK);
    free(forces);
}
