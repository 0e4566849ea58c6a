// Calls every public function with NULL for each of its pointers (null_calls.py writes the table).
// Each call runs in a process of its own: it must not crash, and where the comment of the function
// does not mention NULL it must not succeed. Everything runs twice, with a body of elements and
// with one of frames.
#define _POSIX_C_SOURCE 200809L

#include "support/null_calls.h"

#include "support/kinds.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 1 << 16, ROOMS = 8, ACCEPTED = 1, REFUSED = 0 };

static const char scene_text[] =
    "{\"version\": 1, \"bodies\": [{\"name\": \"a\", \"shape\": {\"kind\": \"box\", \"cells\": "
    "[2, 2, 2]}}], \"probes\": [{\"name\": \"p\", \"point\": [0, 0, 0]}]}";

// Everything that the calls are given.
static struct {
    test_kinds kinds;
    sinew_mesh *mesh, *surface;
    sinew_voxels *voxels;
    sinew_skeleton *skeleton;
    sinew_motion *motion;
    sinew_field *field;
    sinew_pbd *pbd;
    sinew_embedding *embedding;
    sinew_obstacle *obstacle;
    sinew_point *point;
    sinew_attachment *attachment;
    sinew_rig *rig;
    sinew_skin *skin;
    sinew_bytes *bytes;
    sinew_source source;
    sinew_scene *scene;
    sinew_json_writer *writer;
    sinew_picture *picture;
    sinew_reduction *reduction;
} made;

void *null_room(void) {
    static _Alignas(64) char room[ROOMS][ROOM];
    static int next = 0;
    next = (next + 1) % ROOMS;
    memset(room[next], 0, ROOM);
    return room[next];
}

// clang-format off
sinew_context *null_context(void) { return made.kinds.context; }
sinew_world *null_world(void) { return made.kinds.world; }
sinew_body *null_body(void) { return made.kinds.body; }
sinew_mesh *null_mesh(void) { return made.mesh; }
sinew_voxels *null_voxels(void) { return made.voxels; }
sinew_skeleton *null_skeleton(void) { return made.skeleton; }
sinew_motion *null_motion(void) { return made.motion; }
sinew_field *null_field(void) { return made.field; }
sinew_pbd *null_pbd(void) { return made.pbd; }
sinew_embedding *null_embedding(void) { return made.embedding; }
sinew_obstacle *null_obstacle(void) { return made.obstacle; }
sinew_point *null_point(void) { return made.point; }
sinew_attachment *null_attachment(void) { return made.attachment; }
sinew_rig *null_rig(void) { return made.rig; }
sinew_skin *null_skin(void) { return made.skin; }
sinew_bytes *null_bytes(void) { return made.bytes; }
sinew_source *null_source(void) { return &made.source; }
sinew_scene *null_scene(void) { return made.scene; }
sinew_json_writer *null_json_writer(void) { return made.writer; }
sinew_picture *null_picture(void) { return made.picture; }
sinew_reduction *null_reduction(void) { return made.reduction; }
sinew_rigid_joint *null_rigid_joint(void) { return NULL; }
sinew_glue *null_glue(void) { return NULL; }
sinew_binding *null_binding(void) { return NULL; }
sinew_recording *null_recording(void) { return NULL; }
sinew_variants *null_variants(void) { return NULL; }
sinew_variant *null_variant(void) { return NULL; }
sinew_mesh_file *null_mesh_file(void) { return NULL; }
sinew_volume_file *null_volume_file(void) { return NULL; }
sinew_field_file *null_field_file(void) { return NULL; }
sinew_gltf_file *null_gltf_file(void) { return NULL; }
sinew_character *null_character(void) { return NULL; }
sinew_tissue_table *null_tissue_table(void) { return NULL; }
sinew_output *null_output(void) { return NULL; }
sinew_file *null_file(void) { return NULL; }
// clang-format on

static void make_geometry(sinew_context *context) {
    sinew_shape_def shape = sinew_default_shape_def();
    shape.cells[0] = shape.cells[1] = shape.cells[2] = 2;
    assert_int_equal(sinew_mesh_create_shape(context, &shape, &made.mesh), SINEW_OK);
    assert_int_equal(sinew_mesh_create_surface(context, made.mesh, &made.surface, NULL), SINEW_OK);
    assert_int_equal(sinew_embedding_create(context, made.surface, made.mesh, &made.embedding),
                     SINEW_OK);

    double *directions = calloc(3 * (size_t)made.mesh->element_count, sizeof(double));
    for (int32_t i = 0; i < made.mesh->element_count; i++) {
        directions[3 * i] = 1;
    }
    assert_int_equal(
        sinew_field_create_from_directions(context, made.mesh, directions, &made.field), SINEW_OK);
    free(directions);

    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.spacing[0] = grid.spacing[1] = grid.spacing[2] = 0.25;
    assert_int_equal(sinew_voxels_create_from_solids(context, &solid, 1, &grid, &made.voxels),
                     SINEW_OK);

    sinew_pbd_material material = sinew_isotropic_pbd_material(1e5, 0.3, 1000);
    sinew_pbd_def def = sinew_default_pbd_def();
    def.mode = SINEW_PBD_COMPLIANCE;
    def.materials = &material;
    def.material_count = 1;
    assert_int_equal(sinew_pbd_create(context, made.mesh, &def, &made.pbd), SINEW_OK);
}

static void make_character(sinew_context *context) {
    sinew_joint_def joints[2] = {sinew_default_joint_def(), sinew_default_joint_def()};
    joints[0].name = "root";
    joints[0].parent = -1;
    joints[1].name = "tip";
    joints[1].parent = 0;
    joints[1].rest.translation[0] = 0.3;
    assert_int_equal(sinew_skeleton_create(context, joints, 2, &made.skeleton), SINEW_OK);

    sinew_motion_def motion = {.joint_count = 2, .frame_count = 2, .frame_time = 0.1};
    assert_int_equal(sinew_motion_create(context, &motion, &made.motion), SINEW_OK);
    assert_int_equal(sinew_rig_create(context, made.skeleton, made.mesh, NULL, &made.rig),
                     SINEW_OK);
    assert_int_equal(sinew_skin_create(context, made.skeleton, made.mesh->points,
                                       made.mesh->point_count, &made.skin),
                     SINEW_OK);
}

static void make_files(sinew_context *context) {
    assert_int_equal(sinew_bytes_create(context, &made.bytes), SINEW_OK);
    made.source =
        (sinew_source){.name = "scene.json", .data = scene_text, .size = sizeof scene_text - 1};
    assert_int_equal(sinew_scene_read(context, &made.source, NULL, NULL, &made.scene), SINEW_OK);
    assert_int_equal(sinew_scene_build(made.scene, NULL), SINEW_OK);
    assert_int_equal(sinew_json_writer_create(made.bytes, true, &made.writer), SINEW_OK);
}

// Of a bar in a world of its own.
static void make_reduction(void) {
    sinew_world *world;
    sinew_body *body;
    sinew_world_def world_def = sinew_default_world_def();
    sinew_body_def body_def = sinew_default_body_def();
    sinew_reduction_def def = sinew_default_reduction_def();
    body_def.mesh = made.mesh;
    def.modes = 3;
    def.poses = 2;
    assert_int_equal(sinew_world_create(made.kinds.context, &world_def, &world), SINEW_OK);
    assert_int_equal(sinew_body_create(world, &body_def, &body), SINEW_OK);
    assert_int_equal(sinew_reduction_create(body, &def, &made.reduction), SINEW_OK);
    sinew_world_destroy(world);
}

static void make_all(test_kind kind) {
    made.kinds = test_kinds_create(kind);
    make_geometry(made.kinds.context);
    make_character(made.kinds.context);
    make_reduction();
    make_files(made.kinds.context);

    const double origin[3] = {0, 0, 0};
    assert_int_equal(sinew_point_create(made.kinds.body, origin, &made.point), SINEW_OK);
    sinew_attachment_def attachment = sinew_default_attachment_def();
    attachment.body = made.kinds.body;
    attachment.stiffness = 1;
    assert_int_equal(sinew_world_attach(made.kinds.world, &attachment, &made.attachment), SINEW_OK);
    sinew_obstacle_def obstacle = sinew_default_obstacle_def();
    obstacle.position[2] = -5;
    assert_int_equal(sinew_obstacle_create(made.kinds.world, &obstacle, &made.obstacle), SINEW_OK);
}

static void destroy_all(void) {
    sinew_reduction_destroy(made.reduction);
    sinew_json_writer_destroy(made.writer);
    sinew_bytes_destroy(made.bytes);
    sinew_scene_destroy(made.scene);
    sinew_skin_destroy(made.skin);
    sinew_rig_destroy(made.rig);
    sinew_motion_destroy(made.motion);
    sinew_skeleton_destroy(made.skeleton);
    sinew_pbd_destroy(made.pbd);
    sinew_field_destroy(made.field);
    sinew_voxels_destroy(made.voxels);
    sinew_embedding_destroy(made.embedding);
    sinew_mesh_destroy(made.surface);
    sinew_mesh_destroy(made.mesh);
    test_kinds_destroy(&made.kinds);
}

// What happens: REFUSED, ACCEPTED, or the negated number of a signal.
static int try_call(const null_case *c) {
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        // cmocka catches these.
        const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
            (void)signal(signals[i], SIG_DFL);
        }
        alarm(20);
        _exit(c->call() == SINEW_OK ? ACCEPTED : REFUSED);
    }

    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int count_failures(test_kind kind) {
    int failures = 0;
    make_all(kind);
    for (int i = 0; i < null_case_count; i++) {
        const null_case *c = &null_cases[i];
        int outcome = try_call(c);
        if (outcome == REFUSED || (outcome == ACCEPTED && c->allowed)) {
            continue;
        }

        failures++;
        printf("%s(%s = NULL) %s (%s, %d)\n", c->function, c->pointer,
               outcome == ACCEPTED ? "succeeds" : "crashes", test_kind_name(kind), outcome);
    }
    destroy_all();
    return failures;
}

static void test_null(void **state) {
    (void)state;
    assert_true(null_case_count > 800);
    assert_int_equal(chdir(TEST_OUTPUT_DIR), 0); // some calls write a file or folder "a"
    int failures = count_failures(TEST_TET4) + count_failures(TEST_AFFINE_FRAMES);
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_null)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
