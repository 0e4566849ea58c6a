// Files in memory and on disk: a surface as OBJ, PLY and STL, tets as Gmsh and VTU, a label volume
// as NRRD, a skeleton as BVH, and each read again.
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

    // Volumes and motion.
    int32_t voxels = 0, frames = 0;
    if (copy_volume(context, &voxels) || copy_motion(context, &frames)) {
        return fail(context, "files");
    }
    printf("labels.nrrd: %d voxels; leg.bvh: %d poses\n", (int)voxels, (int)frames);

    sinew_mesh_destroy(surface);
    sinew_mesh_destroy(tets);
    sinew_context_destroy(context);
    return same && voxels == 6 && frames == 2 ? 0 : 1;
}
