// Volumes, motion, characters, fields, animations and bytes through the public headers: out and in
// again, from bytes and from a path, and what is wrong with them.
#include "public.h"

static void test_bytes(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_bytes *bytes, *read;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    sinew_bytes_add_text(bytes, "one ");
    sinew_bytes_add_number(bytes, 0.1);
    sinew_bytes_add(bytes, "\0x", 2);
    assert_ok(context, sinew_bytes_get_status(bytes));
    assert_int_equal(sinew_bytes_get_size(bytes), 9);
    assert_memory_equal(sinew_bytes_get_data(bytes), "one 0.1\0x", 10);

    const char *path = TEST_OUTPUT_DIR "/public_bytes";
    assert_ok(context, sinew_bytes_save(bytes, path));
    assert_ok(context, sinew_bytes_load(context, path, 0, &read));
    assert_int_equal(sinew_bytes_get_size(read), 9);
    assert_memory_equal(sinew_bytes_get_data(read), sinew_bytes_get_data(bytes), 9);
    sinew_bytes_destroy(read);

    // Too large, absent, a folder, a folder that does not exist.
    assert_int_equal(sinew_bytes_load(context, path, 8, &read), SINEW_INVALID_DATA);
    assert_int_equal(sinew_bytes_load(context, "/nowhere/at.all", 0, &read), SINEW_NOT_FOUND);
    assert_int_equal(sinew_bytes_load(context, TEST_OUTPUT_DIR, 0, &read), SINEW_INVALID_DATA);
    assert_int_not_equal(sinew_bytes_save(bytes, "/nowhere/at.all"), SINEW_OK);

    sinew_bytes_clear(bytes);
    assert_int_equal(sinew_bytes_get_size(bytes), 0);
    sinew_bytes_destroy(bytes);
    sinew_context_destroy(context);
}

static void test_volumes(void **state) {
    (void)state;
    sinew_context *context = public_context();
    const uint8_t labels[] = {1, 0, 2, 2, 1, 1, 0, 3};
    const sinew_label_grid grid = {.cells = {2, 2, 2},
                                   .spacing = {0.001, 0.002, 0.003},
                                   .lower = {0.01, 0, -0.01},
                                   .labels8 = labels};
    const char *const names[] = {"labels.nrrd", "labels.nii"};

    for (int i = 0; i < 2; i++) {
        char path[512];
        sinew_volume_file *file;
        snprintf(path, sizeof path, "%s/public_%s", TEST_OUTPUT_DIR, names[i]);
        assert_ok(context, sinew_volume_save(context, &grid, path));
        assert_ok(context, sinew_volume_file_load(context, path, NULL, &file));

        const sinew_label_grid *read = sinew_volume_file_get_grid(file);
        double axes[9];
        assert_false(sinew_volume_file_get_axes(file, axes));
        for (int a = 0; a < 3; a++) {
            assert_int_equal(read->cells[a], 2);
            assert_true(fabs(read->spacing[a] - grid.spacing[a]) < 1e-9);
            assert_true(fabs(read->lower[a] - grid.lower[a]) < 1e-9);
        }
        for (int k = 0; k < 8; k++) {
            assert_int_equal(read->labels16[k], labels[k]);
        }

        sinew_voxels *voxels;
        assert_ok(context,
                  sinew_voxels_create_from_labels(context, read, (size_t)1 << 30, &voxels));
        assert_int_equal(sinew_voxels_get_count(voxels), 6);
        for (int32_t v = 0; v < 6; v++) {
            assert_int_equal(sinew_voxels_get_labels(voxels)[v],
                             labels[sinew_voxels_get_cells(voxels)[v]]);
        }
        assert_null(sinew_voxels_get_stiffness(voxels));
        sinew_voxels_destroy(voxels);
        sinew_volume_file_destroy(file);
    }

    sinew_bytes *bytes;
    sinew_volume_file *file = NULL;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    assert_int_equal(sinew_volume_write(context, &grid, "labels.tif", bytes), SINEW_UNSUPPORTED);
    assert_ok(context, sinew_volume_write(context, &grid, "labels.nrrd", bytes));
    sinew_source source = public_source("labels.nrrd", bytes);
    assert_true(sinew_volume_file_detect(&source));
    source.size /= 2;
    assert_int_not_equal(sinew_volume_file_read(context, &source, NULL, &file), SINEW_OK);
    assert_null(file);
    assert_true(sinew_unit_find("mm") == 0.001 && sinew_unit_find("furlong") == 0);
    sinew_bytes_destroy(bytes);
    sinew_context_destroy(context);
}

static void test_motion(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_skeleton *skeleton, *again;
    sinew_motion *motion, *second;
    sinew_motion_read_def def = sinew_default_motion_read_def();
    def.unit = 0.01;
    assert_ok(context,
              sinew_motion_load(context, TEST_CORPUS_DIR "/bvh/leg.bvh", &def, &skeleton, &motion));
    assert_true(sinew_skeleton_joint_count(skeleton) > 1);

    sinew_bytes *bytes;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    assert_ok(context, sinew_motion_write(context, skeleton, motion, 0.01, bytes));
    sinew_source source = public_source("again.bvh", bytes);
    assert_ok(context, sinew_motion_read(context, &source, &def, &again, &second));
    assert_int_equal(sinew_motion_frame_count(second), sinew_motion_frame_count(motion));
    assert_string_equal(sinew_skeleton_joint_name(again, 1),
                        sinew_skeleton_joint_name(skeleton, 1));
    assert_ok(context,
              sinew_motion_save(context, skeleton, motion, 1, TEST_OUTPUT_DIR "/public_leg.bvh"));

    // Bad: cut short, a unit of 0, an animation that is not there.
    sinew_motion *none = NULL;
    sinew_skeleton *nobody = NULL;
    source.size /= 2;
    assert_int_equal(sinew_motion_read(context, &source, &def, &nobody, &none), SINEW_INVALID_DATA);
    def.unit = 0;
    assert_int_equal(sinew_motion_read(context, &source, &def, &nobody, &none),
                     SINEW_INVALID_ARGUMENT);
    assert_null(none);
    sinew_motion_destroy(second);
    sinew_skeleton_destroy(again);

    // A pose that is set comes back.
    int32_t joints = sinew_motion_joint_count(motion);
    sinew_transform *pose = calloc((size_t)joints, sizeof *pose);
    assert_non_null(pose);
    for (int32_t i = 0; i < joints; i++) {
        pose[i].rotation[3] = 2;
        pose[i].translation[1] = i;
    }
    assert_ok(context, sinew_motion_set_frame(motion, 0, pose));
    assert_true(sinew_motion_frame(motion, 0)[1].rotation[3] == 1);
    assert_true(sinew_motion_frame(motion, 0)[1].translation[1] == 1);
    pose[0].rotation[3] = 0;
    assert_int_equal(sinew_motion_set_frame(motion, 0, pose), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_motion_set_frame(motion, -1, pose), SINEW_INVALID_ARGUMENT);
    free(pose);

    sinew_bytes_destroy(bytes);
    sinew_motion_destroy(motion);
    sinew_skeleton_destroy(skeleton);
    sinew_context_destroy(context);
}

// A skin in its rest pose does not move; the surface is the file's own.
static void test_character(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_character *character;
    assert_ok(context, sinew_character_load(context, TEST_CORPUS_DIR "/skeleton/skin.glb", NULL,
                                            &character));

    const sinew_mesh *mesh = sinew_character_get_mesh(character);
    const sinew_skeleton *skeleton = sinew_character_get_skeleton(character);
    assert_true(mesh->point_count > 0 && mesh->element_count > 0);
    assert_true(sinew_motion_frame_count(sinew_character_get_motion(character)) >= 1);

    double *points = malloc(3 * (size_t)mesh->point_count * sizeof *points);
    assert_non_null(points);
    sinew_skin_compute(sinew_character_get_skin(character), sinew_skeleton_rest_world(skeleton),
                       SINEW_SKIN_LINEAR, points);
    for (int32_t i = 0; i < 3 * mesh->point_count; i++) {
        assert_true(fabs(points[i] - mesh->points[i]) < 1e-6);
    }
    free(points);
    sinew_character_destroy(character);

    // A glTF without a skin.
    character = NULL;
    assert_int_equal(
        sinew_character_load(context, TEST_CORPUS_DIR "/gltf/frames.glb", NULL, &character),
        SINEW_NOT_FOUND);
    assert_null(character);
    sinew_context_destroy(context);
}

static void test_fields(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_mesh *bar = public_bar(context);
    double *axes = calloc(9 * (size_t)bar->element_count, sizeof *axes);
    assert_non_null(axes);
    for (int32_t e = 0; e < bar->element_count; e++) {
        axes[9 * (size_t)e + 1] = axes[9 * (size_t)e + 5] = axes[9 * (size_t)e + 6] = 1;
    }

    sinew_field *field;
    sinew_field_file *file;
    assert_ok(context,
              sinew_field_create_from_axes(context, bar, SINEW_FIELD_FRAMES, axes, &field));
    assert_ok(context, sinew_field_save(context, field, TEST_OUTPUT_DIR "/public.field"));
    assert_ok(context, sinew_field_file_load(context, TEST_OUTPUT_DIR "/public.field", &file));

    int32_t count;
    const double *read = sinew_field_file_get_axes(file, &count);
    assert_int_equal(count, bar->element_count);
    assert_int_equal(sinew_field_file_get_kind(file), SINEW_FIELD_FRAMES);
    for (int32_t i = 0; i < 9 * count; i++) {
        assert_true(fabs(read[i] - axes[i]) < 1e-12);
    }

    double direction[3];
    assert_true(fabs(sinew_field_file_compute_direction(file, direction) - 1) < 1e-12);
    assert_true(fabs(fabs(direction[0]) - 1) < 1e-12);
    sinew_field_file_destroy(file);

    sinew_source source = {.name = "bad.field", .data = "sinew-field 1\nkind hairs\n", .size = 25};
    assert_int_equal(sinew_field_file_read(context, &source, &file), SINEW_INVALID_DATA);
    sinew_field_destroy(field);
    free(axes);
    sinew_mesh_destroy(bar);
    sinew_context_destroy(context);
}

// A surface that rises: its second image as morph target, and as the second of a point cache.
static void test_animations(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_mesh *surface = public_surface(context);
    size_t numbers = 3 * (size_t)surface->point_count;
    double *risen = malloc(numbers * sizeof *risen);
    assert_non_null(risen);
    for (size_t i = 0; i < numbers; i++) {
        risen[i] = surface->points[i] + (i % 3 == 2);
    }

    const double times[] = {0, 0.5};
    const double *images[] = {surface->points, risen};
    sinew_animation_def def = sinew_default_animation_def();
    def.surface = surface;
    def.image_count = 2;
    def.times = times;
    def.points = images;

    sinew_bytes *bytes;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    assert_ok(context, sinew_animation_write(context, &def, "rise.pc2", bytes));
    assert_int_equal(sinew_bytes_get_size(bytes), 32 + 2 * 4 * numbers);
    const char *data = sinew_bytes_get_data(bytes);
    float last;
    memcpy(&last, data + sinew_bytes_get_size(bytes) - 4, 4);
    assert_true(last == -(float)risen[numbers - 2]); // y up: the third number is minus y

    assert_ok(context, sinew_animation_save(context, &def, TEST_OUTPUT_DIR "/public_rise.glb"));
    sinew_mesh_file *file;
    assert_ok(context, sinew_mesh_file_load(context, TEST_OUTPUT_DIR "/public_rise.glb", &file));
    assert_int_equal(sinew_mesh_file_get_best(file).element_count, surface->element_count);
    sinew_mesh_file_destroy(file);

    const double backwards[] = {0.5, 0};
    def.times = backwards;
    assert_int_equal(sinew_animation_write(context, &def, "rise.glb", bytes),
                     SINEW_INVALID_ARGUMENT);
    def.times = times;
    assert_int_equal(sinew_animation_write(context, &def, "rise.avi", bytes), SINEW_UNSUPPORTED);

    sinew_bytes_destroy(bytes);
    free(risen);
    sinew_mesh_destroy(surface);
    sinew_context_destroy(context);
}

// All points follow one joint; the file is a character again.
static void test_skins(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_mesh *surface = public_surface(context);
    size_t count = (size_t)surface->point_count;
    int32_t *starts = calloc(count + 1, sizeof *starts), *joints = calloc(count, sizeof *joints);
    double *weights = calloc(count, sizeof *weights);
    assert_true(starts && joints && weights);
    for (size_t i = 0; i < count; i++) {
        starts[i + 1] = (int32_t)i + 1;
        weights[i] = 1;
    }

    const double rest[3] = {0, 0, 0}, time = 0;
    const double matrix[9] = {2, 0, 0, 0, 1, 0, 0, 0, 1};
    sinew_joint_pose pose;
    assert_true(sinew_joint_pose_fit(rest, matrix, &pose) < 1e-12); // no shear
    sinew_skin_file_def def = sinew_default_skin_file_def();
    def.surface = surface;
    def.starts = starts;
    def.joints = joints;
    def.weights = weights;
    def.joint_count = def.image_count = 1;
    def.joint_rest = rest;
    def.times = &time;
    def.poses = &pose;

    double loss = -1;
    assert_ok(context,
              sinew_skin_file_save(context, &def, TEST_OUTPUT_DIR "/public_skin.glb", &loss));
    assert_true(loss == 0);
    def.joints_per_point = 5;
    sinew_bytes *bytes;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    assert_int_equal(sinew_skin_file_write(context, &def, bytes, NULL), SINEW_INVALID_ARGUMENT);
    sinew_bytes_destroy(bytes);

    free(starts);
    free(joints);
    free(weights);
    sinew_mesh_destroy(surface);
    sinew_context_destroy(context);
}

static void test_json(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_bytes *bytes;
    sinew_json_writer *json;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    assert_ok(context, sinew_json_writer_create(bytes, true, &json));
    sinew_json_begin_object(json);
    sinew_json_write_key(json, "a");
    sinew_json_write_numbers(json, (const double[]){1, 0.5}, 2);
    sinew_json_write_key(json, "b");
    sinew_json_write_string(json, "x\"y");
    sinew_json_write_key(json, "c");
    sinew_json_write_number(json, INFINITY);
    sinew_json_end_object(json);
    sinew_json_writer_destroy(json);

    char squeezed[64];
    size_t size = 0;
    for (const char *at = sinew_bytes_get_data(bytes); *at; at++) {
        if (*at != ' ' && *at != '\n') {
            squeezed[size++] = *at;
        }
    }
    squeezed[size] = 0;
    assert_string_equal(squeezed, "{\"a\":[1,0.5],\"b\":\"x\\\"y\",\"c\":null}");
    sinew_bytes_destroy(bytes);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),  cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_motion), cmocka_unit_test(test_character),
        cmocka_unit_test(test_fields), cmocka_unit_test(test_animations),
        cmocka_unit_test(test_skins),  cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
