// Calls that do not fit, with public headers only: numbers of nodes on bodies without nodes,
// definitions that were never filled in, NULL, counts and values out of range, and what a host
// hangs on a body.
#include "support/kinds.h"

#include "sinew/io.h"

#include <math.h>
#include <string.h>

static void test_nodes_of_frames(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        if (!test_kind_has_frames(kind)) {
            continue;
        }

        test_kinds t = test_kinds_create(kind);
        uint64_t before = sinew_world_get_hash(t.world);
        const int32_t node = 0;
        double numbers[3] = {7, 8, 9};
        const double same[3] = {7, 8, 9};
        sinew_element_state feels;

        // There are no nodes to set.
        assert_int_equal(sinew_body_get_node_count(t.body), 0);
        assert_null(sinew_body_get_positions(t.body));
        assert_null(sinew_body_get_velocities(t.body));
        assert_int_equal(sinew_body_set_positions(t.body, numbers), SINEW_UNSUPPORTED);
        assert_int_equal(sinew_body_set_velocities(t.body, numbers), SINEW_UNSUPPORTED);
        assert_int_equal(sinew_body_fix_nodes(t.body, &node, 1, SINEW_AXIS_ALL), SINEW_UNSUPPORTED);
        assert_int_equal(sinew_body_move_nodes(t.body, &node, 1, numbers), SINEW_UNSUPPORTED);
        assert_int_equal(sinew_body_set_forces(t.body, &node, 1, numbers), SINEW_UNSUPPORTED);
        assert_int_equal(sinew_body_get_element_state(t.body, 0, &feels), SINEW_UNSUPPORTED);

        // Without nodes, nothing is read or written.
        sinew_body_compute_elastic_forces(t.body, numbers);
        sinew_body_compute_reactions(t.body, numbers);
        sinew_body_compute_element_states(t.body, NULL);
        assert_memory_equal(numbers, same, sizeof same);
        assert_true(sinew_world_get_hash(t.world) == before);
        test_kinds_destroy(&t);
    }
}

static void test_frames_of_elements(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_TET4);
    double numbers[9];
    assert_int_equal(sinew_frame_body_get_node_count(t.body), 0);
    assert_int_equal(sinew_frame_body_get_node(t.body, 0, numbers, NULL), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_frame_body_hold(t.body, 0, SINEW_HOLD_ALL), SINEW_INVALID_ARGUMENT);
    test_kinds_destroy(&t);
}

// The message says what was wrong: the default-maker to begin with, or the value.
static void refused(const test_kinds *t, sinew_status status, const char *words) {
    assert_int_equal(status, SINEW_INVALID_ARGUMENT);
    if (!strstr(sinew_context_message(t->context), words)) {
        fail_msg("\"%s\" does not say \"%s\"", sinew_context_message(t->context), words);
    }
}

static void test_unfilled(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_RIGID_FRAMES);
    for (int garbage = 0; garbage < 2; garbage++) {
        sinew_world_def world;
        sinew_body_def body;
        sinew_frame_body_def frames;
        sinew_pbd_body_def positions;
        sinew_load_def load;
        sinew_attachment_def attachment;
        sinew_frame_insert_def insert;
        sinew_material_def material;
        sinew_static_def solve;

        int byte = garbage ? 0xa5 : 0;
        memset(&world, byte, sizeof world);
        memset(&body, byte, sizeof body);
        memset(&frames, byte, sizeof frames);
        memset(&positions, byte, sizeof positions);
        memset(&load, byte, sizeof load);
        memset(&attachment, byte, sizeof attachment);
        memset(&insert, byte, sizeof insert);
        memset(&material, byte, sizeof material);
        memset(&solve, byte, sizeof solve);

        sinew_world *none = NULL;
        refused(&t, sinew_world_create(t.context, &world, &none), "sinew_default_world_def");
        refused(&t, sinew_world_set_def(t.world, &world), "sinew_default_world_def");
        refused(&t, sinew_body_create(t.world, &body, NULL), "sinew_default_body_def");
        refused(&t, sinew_pbd_body_create(t.world, &positions, NULL), "sinew_default_pbd_body_def");
        refused(&t, sinew_body_add_load(t.body, &load, NULL), "sinew_default_load_def");
        refused(&t, sinew_world_attach(t.world, &attachment, NULL), "sinew_default_attachment_def");
        refused(&t, sinew_frame_body_insert(t.body, &insert, NULL),
                "sinew_default_frame_insert_def");
        refused(&t, sinew_check_material(t.context, &material), "sinew_default_material_def");
        refused(&t, sinew_world_solve_static(t.world, &solve, NULL), "sinew_default_static_def");
        refused(&t, sinew_frame_body_create(t.world, &frames, NULL),
                "sinew_default_frame_body_def");
    }

    assert_int_equal(sinew_world_get_body_count(t.world), 1);
    test_kinds_destroy(&t);
}

// Definitions of what has a form but no matter, and of skeletons and fields.
static void test_unfilled_geometry(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_RIGID_FRAMES);
    for (int garbage = 0; garbage < 2; garbage++) {
        sinew_context_def context;
        sinew_shape_def shape;
        sinew_voxel_mesh_def voxels;
        sinew_tetrahedralize_def tets;
        sinew_voxel_def grid;
        sinew_solid_def solid;
        sinew_placement_def placement;
        sinew_autorig_def rig;
        sinew_curve_def curve;
        sinew_field_def field;
        sinew_joint_def joint;

        int byte = garbage ? 0xa5 : 0;
        memset(&context, byte, sizeof context);
        memset(&shape, byte, sizeof shape);
        memset(&voxels, byte, sizeof voxels);
        memset(&tets, byte, sizeof tets);
        memset(&grid, byte, sizeof grid);
        memset(&solid, byte, sizeof solid);
        memset(&placement, byte, sizeof placement);
        memset(&rig, byte, sizeof rig);
        memset(&curve, byte, sizeof curve);
        memset(&field, byte, sizeof field);
        memset(&joint, byte, sizeof joint);

        sinew_mesh *mesh = NULL;
        sinew_voxels *cells = NULL;
        sinew_field *made = NULL;
        sinew_skeleton *skeleton = NULL;
        double numbers[3];
        const sinew_solid_def ball = sinew_default_solid_def();
        const sinew_voxel_def coarse = sinew_default_voxel_def();
        const sinew_mesh *surface = sinew_body_get_surface(t.body);
        const sinew_labelled_surface labelled = {.mesh = surface, .label = 1};

        assert_null(sinew_context_create(&context));
        refused(&t, sinew_mesh_create_shape(t.context, &shape, &mesh), "sinew_default_shape_def");
        refused(&t, sinew_mesh_create_voxels(t.context, &voxels, &mesh),
                "sinew_default_voxel_mesh_def");
        refused(&t, sinew_tetrahedralize(t.context, surface, &tets, &mesh, NULL),
                "sinew_default_tetrahedralize_def");
        refused(&t, sinew_voxels_create_from_solids(t.context, &ball, 1, &grid, &cells),
                "sinew_default_voxel_def");
        refused(&t, sinew_voxels_create_from_surfaces(t.context, &labelled, 1, &grid, &cells, NULL),
                "sinew_default_voxel_def");
        refused(&t, sinew_voxels_create_from_solids(t.context, &solid, 1, &coarse, &cells),
                "sinew_default_solid_def");
        refused(&t, sinew_voxels_paint(t.voxels, &solid), "sinew_default_solid_def");
        refused(&t, sinew_place_nodes(t.context, t.voxels, NULL, 0, &placement, numbers, NULL),
                "sinew_default_placement_def");
        refused(&t, sinew_autorig_create(t.world, &rig, NULL, NULL), "sinew_default_autorig_def");
        refused(&t, sinew_curve_compute_length(t.context, &curve, numbers),
                "sinew_default_curve_def");
        refused(&t, sinew_field_create(t.context, &field, &made), "sinew_default_field_def");
        refused(&t, sinew_skeleton_create(t.context, &joint, 1, &skeleton),
                "sinew_default_joint_def");
        assert_true(!mesh && !cells && !made && !skeleton);
    }

    test_kinds_destroy(&t);
}

// Definitions of files and pictures. A file that is not there shows that the definition is checked
// before anything is read or written.
static void test_unfilled_files(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_TET4);
    const sinew_source source = {.name = "nothing", .data = "", .size = 0};
    const sinew_picture_surface surface = sinew_default_picture_surface();

    for (int garbage = 0; garbage < 2; garbage++) {
        sinew_animation_def animation;
        sinew_skin_file_def skin;
        sinew_mesh_write_def mesh;
        sinew_motion_read_def motion;
        sinew_picture_def picture;
        sinew_scene_read_def scene;
        sinew_volume_read_def volume;

        int byte = garbage ? 0xa5 : 0;
        memset(&animation, byte, sizeof animation);
        memset(&skin, byte, sizeof skin);
        memset(&mesh, byte, sizeof mesh);
        memset(&motion, byte, sizeof motion);
        memset(&picture, byte, sizeof picture);
        memset(&scene, byte, sizeof scene);
        memset(&volume, byte, sizeof volume);

        refused(&t, sinew_animation_save(t.context, &animation, "/nowhere/a.glb"),
                "sinew_default_animation_def");
        refused(&t, sinew_skin_file_save(t.context, &skin, "/nowhere/a.glb", NULL),
                "sinew_default_skin_file_def");
        refused(&t,
                sinew_mesh_save(t.context, sinew_body_get_surface(t.body), "/nowhere/a.vtu", &mesh),
                "sinew_default_mesh_write_def");
        refused(&t, sinew_motion_read(t.context, &source, &motion, NULL, NULL),
                "sinew_default_motion_read_def");
        refused(&t, sinew_character_read(t.context, &source, &motion, NULL),
                "sinew_default_motion_read_def");
        refused(&t, sinew_picture_render(t.context, &surface, 1, &picture, NULL),
                "sinew_default_picture_def");
        refused(&t, sinew_scene_read(t.context, &source, &scene, NULL, NULL),
                "sinew_default_scene_read_def");
        refused(&t, sinew_volume_file_read(t.context, &source, &volume, NULL),
                "sinew_default_volume_read_def");
    }

    test_kinds_destroy(&t);
}

static void test_unfilled_retarget(void **state) {
    (void)state;
    test_kinds t = test_kinds_create_world();
    sinew_joint_def joint = sinew_default_joint_def();
    joint.name = "root";
    sinew_skeleton *skeleton = NULL;
    sinew_motion *motion = NULL, *made = NULL;
    const sinew_motion_def still = {.joint_count = 1, .frame_count = 1, .frame_time = 0.1};

    // Garbage.
    sinew_retarget_def def;
    memset(&def, 0xa5, sizeof def);
    assert_int_equal(sinew_skeleton_create(t.context, &joint, 1, &skeleton), SINEW_OK);
    assert_int_equal(sinew_motion_create(t.context, &still, &motion), SINEW_OK);
    refused(&t, sinew_motion_retarget(t.context, skeleton, motion, skeleton, &def, NULL, &made),
            "sinew_default_retarget_def");

    // Pairs that are not there.
    def = sinew_default_retarget_def();
    def.pair_count = -1;
    refused(&t, sinew_motion_retarget(t.context, skeleton, motion, skeleton, &def, NULL, &made),
            "pair_count is -1");
    def.pair_count = 1;
    refused(&t, sinew_motion_retarget(t.context, skeleton, motion, skeleton, &def, NULL, &made),
            "pairs not NULL");
    assert_null(made);

    sinew_motion_destroy(motion);
    sinew_skeleton_destroy(skeleton);
    test_kinds_destroy(&t);
}

// Definitions and arrays that are NULL.
static void test_null(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_TET4);
    uint64_t before = sinew_world_get_hash(t.world);
    const int32_t node = 0;
    const double numbers[3] = {0};
    sinew_world *world = NULL;
    sinew_mesh *mesh = NULL;
    sinew_voxels *voxels = NULL;
    sinew_skeleton *skeleton = NULL;

    sinew_voxel_def grid = sinew_default_voxel_def();
    sinew_load_def load = sinew_default_load_def();
    sinew_attachment_def attachment = sinew_default_attachment_def();
    load.triangle_count = 1;

    // The world.
    assert_null(sinew_context_create(NULL));
    refused(&t, sinew_world_create(t.context, NULL, &world), "sinew_default_world_def");
    refused(&t, sinew_world_set_def(t.world, NULL), "sinew_default_world_def");
    refused(&t, sinew_world_solve_static(t.world, NULL, NULL), "sinew_default_static_def");
    refused(&t, sinew_world_attach(t.world, NULL, NULL), "sinew_default_attachment_def");
    refused(&t, sinew_world_attach(t.world, &attachment, NULL), "needs a body");

    // Bodies and what acts on them.
    refused(&t, sinew_body_create(t.world, NULL, NULL), "sinew_default_body_def");
    refused(&t, sinew_frame_body_create(t.world, NULL, NULL), "sinew_default_frame_body_def");
    refused(&t, sinew_pbd_body_create(t.world, NULL, NULL), "sinew_default_pbd_body_def");
    refused(&t, sinew_body_add_load(t.body, NULL, NULL), "sinew_default_load_def");
    refused(&t, sinew_body_add_load(t.body, &load, NULL), "needs a list");
    refused(&t, sinew_body_set_material(t.body, 0, NULL), "sinew_default_material_def");

    // Arrays of nodes.
    refused(&t, sinew_body_set_positions(t.body, NULL), "NULL");
    refused(&t, sinew_body_set_velocities(t.body, NULL), "NULL");
    refused(&t, sinew_body_fix_nodes(t.body, NULL, 1, SINEW_AXIS_ALL), "need a list");
    refused(&t, sinew_body_move_nodes(t.body, &node, 1, NULL), "NULL");
    refused(&t, sinew_body_set_forces(t.body, NULL, 1, numbers), "need a list");
    refused(&t, sinew_body_set_forces(t.body, &node, 1, NULL), "NULL");

    // Geometry and skeletons.
    refused(&t, sinew_mesh_create_shape(t.context, NULL, &mesh), "sinew_default_shape_def");
    refused(&t, sinew_mesh_create_surface(t.context, NULL, &mesh, NULL), "NULL");
    refused(&t, sinew_voxels_create_from_solids(t.context, NULL, 1, &grid, &voxels),
            "sinew_default_solid_def");
    refused(&t, sinew_voxels_create_from_surfaces(t.context, NULL, 1, &grid, &voxels, NULL),
            "0 surfaces");
    refused(&t, sinew_skeleton_create(t.context, NULL, 1, &skeleton), "sinew_default_joint_def");

    refused(&t, sinew_world_take_snapshot(t.world, NULL, 0), "room for 0");
    assert_true(sinew_world_get_hash(t.world) == before);
    test_kinds_destroy(&t);
}

// Counts and indices outside of what there is, and numbers that name nothing.
static void test_ranges(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_TET4);
    uint64_t before = sinew_world_get_hash(t.world);
    int32_t node = -1;
    double numbers[3] = {0};
    sinew_element_state feels;
    sinew_mesh *mesh = NULL;
    sinew_voxels *voxels = NULL;
    sinew_skeleton *skeleton = NULL;
    sinew_world_def world = sinew_world_get_def(t.world);
    sinew_static_def solve = sinew_default_static_def();
    sinew_load_def load = sinew_default_load_def();
    sinew_material_def material = sinew_default_material_def();
    sinew_shape_def shape = sinew_default_shape_def();
    sinew_voxel_def grid = sinew_default_voxel_def();

    // Numbers that name nothing.
    world.integrator = (sinew_integrator)99;
    solve.load_steps = 0;
    load.kind = (sinew_load_kind)99;
    material.law = (sinew_material_law)99;
    shape.shape = (sinew_shape)99;

    refused(&t, sinew_world_set_def(t.world, &world), "99");
    refused(&t, sinew_world_solve_static(t.world, &solve, NULL), "load_steps is 0");
    refused(&t, sinew_body_add_load(t.body, &load, NULL), "99");
    refused(&t, sinew_body_set_load_scale(t.body, 0, 1), "");
    refused(&t, sinew_body_set_material(t.body, 0, &material), "99");
    refused(&t, sinew_body_set_solver(t.body, (sinew_solver)99), "99");

    // Indices and counts.
    refused(&t, sinew_body_fix_nodes(t.body, &node, 1, SINEW_AXIS_ALL), "node -1");
    refused(&t, sinew_body_fix_nodes(t.body, &node, -1, SINEW_AXIS_ALL), "-1 nodes");
    node = 0;
    refused(&t, sinew_body_fix_nodes(t.body, &node, 1, 8), "axes are 8");
    refused(&t, sinew_body_get_element_state(t.body, -1, &feels), "element -1");
    refused(&t, sinew_body_compute_modes(t.body, 0, numbers, NULL), "0 modes");
    refused(&t, sinew_mesh_create_shape(t.context, &shape, &mesh), "99");
    refused(&t, sinew_voxels_create_from_solids(t.context, NULL, -1, &grid, &voxels), "-1");
    refused(&t, sinew_skeleton_create(t.context, NULL, -1, &skeleton), "-1 joints");

    assert_null(sinew_world_get_body(t.world, -1));
    assert_null(sinew_world_get_body(t.world, 1));
    assert_true(sinew_world_get_hash(t.world) == before);
    test_kinds_destroy(&t);
}

// Numbers that are not finite, or negative where that has no meaning.
static void test_numbers(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_TET4);
    uint64_t before = sinew_world_get_hash(t.world);
    const double nowhere[3] = {0, NAN, 0}, here[3] = {0, 0, 0}, down[3] = {0, 0, -1};
    const int32_t node = 0;
    sinew_surface_hit hit;
    sinew_point *point = NULL;
    sinew_attachment *tie = NULL;
    sinew_world_def world = sinew_world_get_def(t.world);
    sinew_attachment_def attachment = sinew_default_attachment_def();
    sinew_material_def material = sinew_default_material_def();

    world.step = NAN;
    attachment.body = t.body;
    attachment.stiffness = -1;
    material.young = NAN;

    // The world and attachments.
    refused(&t, sinew_world_set_def(t.world, &world), "step is nan");
    refused(&t, sinew_world_attach(t.world, &attachment, &tie), "stiffness is -1");
    attachment.stiffness = 1;
    assert_int_equal(sinew_world_attach(t.world, &attachment, &tie), SINEW_OK);
    refused(&t, sinew_attachment_set_target(tie, nowhere), "finite");
    refused(&t, sinew_attachment_set_stiffness(tie, INFINITY), "stiffness is inf");

    // Bodies.
    refused(&t, sinew_body_set_material(t.body, 0, &material), "nan");
    refused(&t, sinew_body_set_fibre_stress(t.body, 0, -1), "-1 Pa");
    refused(&t, sinew_body_set_damping(t.body, NAN, 0), "nan 1/s");
    refused(&t, sinew_body_move_nodes(t.body, &node, 1, nowhere), "nan along y");
    refused(&t, sinew_body_set_forces(t.body, &node, 1, nowhere), "nan along y");

    // Points, rays and nearest points.
    refused(&t, sinew_point_create(t.body, nowhere, &point), "not finite");
    refused(&t, sinew_point_create_at(t.body, nowhere, &point), "not finite");
    assert_int_equal(sinew_point_create(t.body, here, &point), SINEW_OK);
    refused(&t, sinew_point_set_force(point, nowhere), "not finite");
    refused(&t, sinew_world_cast_ray(t.world, here, here, INFINITY, &hit), "0 long");
    refused(&t, sinew_world_cast_ray(t.world, nowhere, down, INFINITY, &hit), "origin");
    refused(&t, sinew_world_cast_ray(t.world, here, down, -1, &hit), "-1");
    refused(&t, sinew_body_find_nearest(t.body, here, NAN, &hit), "nan");

    assert_true(sinew_world_get_hash(t.world) == before);
    test_kinds_destroy(&t);
}

static void test_user(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_POSITIONS);
    assert_null(sinew_body_get_user(t.body));
    sinew_body_set_user(t.body, &t);
    assert_ptr_equal(sinew_body_get_user(t.body), &t);

    // NULL may be destroyed.
    sinew_body_destroy(NULL);
    sinew_point_destroy(NULL);
    sinew_attachment_destroy(NULL);
    sinew_world_destroy(NULL);
    test_kinds_destroy(&t);
}

static void test_gravity_points_down(void **state) {
    (void)state;
    double down[2] = {sinew_default_world_def().gravity[2], sinew_default_pbd_def().gravity[2]};
    assert_true(down[0] == -9.81 && down[1] == -9.81);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_of_frames),
        cmocka_unit_test(test_frames_of_elements),
        cmocka_unit_test(test_unfilled),
        cmocka_unit_test(test_unfilled_geometry),
        cmocka_unit_test(test_unfilled_files),
        cmocka_unit_test(test_unfilled_retarget),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_user),
        cmocka_unit_test(test_gravity_points_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
