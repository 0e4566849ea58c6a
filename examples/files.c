// Files in memory and on disk: a surface as OBJ, PLY and STL, tets as Gmsh and VTU, a label volume
// as NRRD, a skeleton as BVH, a skinned character as GLB, and each read again.
#include <sinew/io.h>
#include <sinew/sinew.h>

#include <stdio.h>

static int fail(sinew_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_context_message(context));
    return 1;
}

// Writes a mesh into memory and reads it back from there.
static sinew_status copy_mesh(sinew_context *context, const sinew_mesh *mesh, const char *name,
                              int32_t *elements) {
    sinew_bytes *bytes = NULL;
    sinew_mesh_file *file = NULL;
    sinew_status status = sinew_bytes_create(context, &bytes);
    if (status == SINEW_OK) {
        status = sinew_mesh_write(context, mesh, name, NULL, bytes);
    }

    if (status == SINEW_OK) {
        sinew_source source = {
            .name = name, .data = sinew_bytes_get_data(bytes), .size = sinew_bytes_get_size(bytes)};
        status = sinew_mesh_file_read(context, &source, &file);
    }
    if (status == SINEW_OK) {
        *elements = sinew_mesh_file_get_best(file).element_count;
        printf("%s: %zu bytes, %d elements, %s\n", name, sinew_bytes_get_size(bytes),
               (int)*elements, sinew_mesh_file_get_format(file));
    }

    sinew_mesh_file_destroy(file);
    sinew_bytes_destroy(bytes);
    return status;
}

// A volume through a file on disk, and voxels made of it.
static sinew_status copy_volume(sinew_context *context, int32_t *voxel_count) {
    static const uint8_t labels[] = {1, 1, 0, 2, 2, 0, 1, 1};
    const sinew_label_grid grid = {
        .cells = {2, 2, 2}, .spacing = {0.01, 0.01, 0.01}, .labels8 = labels};
    sinew_volume_file *file = NULL;
    sinew_voxels *voxels = NULL;

    sinew_status status = sinew_volume_save(context, &grid, "labels.nrrd");
    if (status == SINEW_OK) {
        status = sinew_volume_file_load(context, "labels.nrrd", NULL, &file);
    }
    if (status == SINEW_OK) {
        status = sinew_voxels_create_from_labels(context, sinew_volume_file_get_grid(file),
                                                 (size_t)1 << 30, &voxels);
    }
    if (status == SINEW_OK) {
        *voxel_count = sinew_voxels_get_count(voxels);
    }

    sinew_voxels_destroy(voxels);
    sinew_volume_file_destroy(file);
    return status;
}

// Two joints and two poses as BVH.
static sinew_status copy_motion(sinew_context *context, int32_t *frames) {
    // A hip and a knee.
    sinew_joint_def joints[2] = {sinew_default_joint_def(), sinew_default_joint_def()};
    joints[0].name = "hip";
    joints[0].parent = -1;
    joints[1].name = "knee";
    joints[1].parent = 0;
    joints[1].rest.translation[1] = -0.5;
    joints[1].has_tip = true;
    joints[1].tip[1] = -0.5;

    sinew_motion_def def = {.joint_count = 2, .frame_count = 2, .frame_time = 0.1};

    // Write them, and read them again.
    sinew_skeleton *skeleton = NULL, *read = NULL;
    sinew_motion *motion = NULL, *again = NULL;
    sinew_status status = sinew_skeleton_create(context, joints, 2, &skeleton);
    if (status == SINEW_OK) {
        status = sinew_motion_create(context, &def, &motion);
    }
    if (status == SINEW_OK) {
        status = sinew_motion_save(context, skeleton, motion, 1, "leg.bvh");
    }
    if (status == SINEW_OK) {
        status = sinew_motion_load(context, "leg.bvh", NULL, &read, &again);
    }
    if (status == SINEW_OK) {
        *frames = sinew_motion_frame_count(again);
    }

    sinew_motion_destroy(again);
    sinew_skeleton_destroy(read);
    sinew_motion_destroy(motion);
    sinew_skeleton_destroy(skeleton);
    return status;
}

// A strip that a joint moves, written as a skin and read as a character: a mesh, a skeleton, its
// motion, and the weights that connect them.
static sinew_status copy_character(sinew_context *context, int32_t *poses_read) {
    static const double points[] = {0, 0, 0, 0, 1, 0, 2, 0, 0, 2, 1, 0};
    static const int32_t triangles[] = {0, 2, 1, 1, 2, 3};
    const sinew_mesh strip = {.points = points,
                              .point_count = 4,
                              .element = SINEW_ELEMENT_TRIANGLE,
                              .indices = triangles,
                              .element_count = 2};

    // All points follow one joint, which rises by half a metre in a second.
    static const int32_t starts[] = {0, 1, 2, 3, 4}, followed[] = {0, 0, 0, 0};
    static const double weights[] = {1, 1, 1, 1}, rest[] = {1, 0, 0}, times[] = {0, 1};
    sinew_joint_pose poses[2];
    for (int i = 0; i < 2; i++) {
        poses[i] = (sinew_joint_pose){
            .translation = {1, 0, 0.5 * i}, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    }

    sinew_skin_file_def def = sinew_default_skin_file_def();
    def.surface = &strip;
    def.starts = starts;
    def.joints = followed;
    def.weights = weights;
    def.joint_count = 1;
    def.joint_rest = rest;
    def.image_count = 2;
    def.times = times;
    def.poses = poses;

    // Out and in again.
    sinew_character *character = NULL;
    sinew_status status = sinew_skin_file_save(context, &def, "strip.glb", NULL);
    if (status == SINEW_OK) {
        status = sinew_character_load(context, "strip.glb", NULL, &character);
    }
    if (status == SINEW_OK) {
        *poses_read = sinew_motion_frame_count(sinew_character_get_motion(character));
    }

    sinew_character_destroy(character);
    return status;
}

int main(void) {
    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    // A ball of tets, and its surface.
    sinew_shape_def shape = sinew_default_shape_def();
    sinew_mesh *tets = NULL, *surface = NULL;
    shape.shape = SINEW_SHAPE_SPHERE;
    shape.cell_size = 0.2;
    if (sinew_mesh_create_shape(context, &shape, &tets) ||
        sinew_mesh_create_surface(context, tets, &surface, NULL)) {
        return fail(context, "shape");
    }

    // The ending of a name chooses the format.
    const char *const surfaces[] = {"ball.obj", "ball.ply", "ball.stl"};
    const char *const solids[] = {"ball.msh", "ball.vtu"};
    bool same = true;
    for (int i = 0; i < 5; i++) {
        const sinew_mesh *mesh = i < 3 ? surface : tets;
        int32_t elements = 0;
        if (copy_mesh(context, mesh, i < 3 ? surfaces[i] : solids[i - 3], &elements)) {
            return fail(context, "mesh");
        }
        same = same && elements == mesh->element_count;
    }

    // Volumes, motion and characters.
    int32_t voxels = 0, frames = 0, poses = 0;
    if (copy_volume(context, &voxels) || copy_motion(context, &frames) ||
        copy_character(context, &poses)) {
        return fail(context, "files");
    }
    printf("labels.nrrd: %d voxels; leg.bvh: %d poses; strip.glb: %d poses\n", (int)voxels,
           (int)frames, (int)poses);

    sinew_mesh_destroy(surface);
    sinew_mesh_destroy(tets);
    sinew_context_destroy(context);
    return same && voxels == 6 && frames == 2 && poses > 1 ? 0 : 1;
}
