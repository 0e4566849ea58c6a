// Voxels for bodies of frames, from whatever a scene calls a shape, and the surface that goes with
// them.
#include "io/scene/build_frames.h"

#include "io/scene/build_skeleton.h"
#include "io/scene/maps.h"
#include "io/volume/volume.h"

#include <math.h>
#include <string.h>

enum { SMOOTHING = 24 }; // sweeps over the boundary of voxels

// A generated shape as one or two solids; returns their number, 0 if it has no inside.
static int32_t solids_of_shape(const sinew_shape_def *shape, sinew_solid_def solids[2]) {
    static const sinew_solid kinds[] = {[SINEW_SHAPE_BOX] = SINEW_SOLID_BOX,
                                        [SINEW_SHAPE_CYLINDER] = SINEW_SOLID_CYLINDER,
                                        [SINEW_SHAPE_SPHERE] = SINEW_SOLID_SPHERE,
                                        [SINEW_SHAPE_TUBE] = SINEW_SOLID_CYLINDER,
                                        [SINEW_SHAPE_L] = SINEW_SOLID_L,
                                        [SINEW_SHAPE_T] = SINEW_SOLID_T,
                                        [SINEW_SHAPE_U] = SINEW_SOLID_U};

    if (shape->shape == SINEW_SHAPE_RECTANGLE) {
        return 0;
    }

    // The outer solid, and a copy that becomes the hole of a tube.
    for (int i = 0; i < 2; i++) {
        solids[i] = sinew_default_solid_def();
        solids[i].solid = kinds[shape->shape];
        solids[i].thickness = shape->thickness;
        memcpy(solids[i].center, shape->center, sizeof shape->center);
        memcpy(solids[i].size, shape->size, sizeof shape->size);
    }

    if (shape->shape != SINEW_SHAPE_TUBE) {
        return 1;
    }

    solids[1].operation = SINEW_SOLID_CUT;
    for (int k = 0; k < 2; k++) {
        solids[1].size[k] -= 2 * shape->thickness;
    }

    return 2;
}

// The inside of a file's mesh, or of a character's skin.
static sinew_status voxels_of_mesh(const sn_builder *b, const sn_scene_shape *shape,
                                   const sinew_voxel_def *grid, sinew_voxels **voxels) {
    sinew_mesh *mesh = NULL, *boundary = NULL;
    SN_TRY(shape->is_character ? sn_builder_make_skin(b, shape, &mesh)
                               : sn_builder_read_mesh(b, shape->file, shape, false, &mesh));

    sinew_status status = SINEW_OK;
    if (mesh->element != SINEW_ELEMENT_TRIANGLE) {
        status = sinew_mesh_create_surface(b->context, mesh, &boundary, NULL);
    }

    sinew_labelled_surface surface = {.mesh = boundary ? boundary : mesh, .label = 1};
    if (status == SINEW_OK) {
        status = sinew_voxels_create_from_surfaces(b->context, &surface, 1, grid, voxels, NULL);
    }

    sinew_mesh_destroy(boundary);
    sinew_mesh_destroy(mesh);

    return status;
}

static sinew_status voxels_of_volume(const sn_builder *b, const sn_scene_shape *shape,
                                     size_t memory_limit, sinew_voxels **voxels) {
    const void *data;
    size_t size;
    SN_TRY(sn_fetch(b->context, b->fetch, b->fetch_user, shape->volume, &data, &size));

    sn_source source = {shape->volume, data, size, b->fetch, b->fetch_user, true};
    sn_volume_options options = {.unit = shape->volume_unit,
                                 .use_threshold = shape->use_threshold,
                                 .threshold = shape->threshold};
    sn_volume_file file;
    sinew_status status = sn_volume_read(b->context, &source, &options, &file);

    if (status == SINEW_OK) {
        status = sinew_voxels_create_from_labels(b->context, &file.grid, memory_limit, voxels);
        if (status != SINEW_OK) {
            sn_source_fail(b->context, &source, status, "%s", sinew_context_message(b->context));
        }
    }

    sn_volume_file_destroy(&file);
    return status;
}

// Surfaces of several files, each with its label.
static sinew_status voxels_of_parts(const sn_builder *b, const sn_scene_shape *shape,
                                    const sinew_voxel_def *grid, sinew_voxels **voxels) {
    const sn_scene_maps *maps = shape->maps;
    sn_arena scratch = sn_arena_create(b->context);
    sinew_mesh **meshes = SN_PUSH(&scratch, sinew_mesh *, maps->part_count);
    sinew_labelled_surface *surfaces = SN_PUSH(&scratch, sinew_labelled_surface, maps->part_count);
    sinew_status status = sn_arena_status(&scratch);

    // Read all surfaces, then fill them together: where two overlap, priority decides.
    for (int32_t i = 0; i < maps->part_count && status == SINEW_OK; i++) {
        status = sn_builder_read_mesh(b, maps->parts[i].file, shape, true, &meshes[i]);
        surfaces[i] =
            (sinew_labelled_surface){meshes[i], maps->parts[i].label, maps->parts[i].priority};
    }

    if (status == SINEW_OK) {
        status = sinew_voxels_create_from_surfaces(b->context, surfaces, maps->part_count, grid,
                                                   voxels, NULL);
    }

    if (meshes) {
        for (int32_t i = 0; i < maps->part_count; i++) {
            sinew_mesh_destroy(meshes[i]);
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status make_solid(const sn_builder *b, const sn_scene_shape *shape,
                               const sinew_voxel_def *grid, sinew_voxels **voxels) {
    const sn_scene_maps *maps = shape->maps;

    // Sources that describe the solid directly.
    if (maps && maps->specimen >= 0) {
        return sinew_voxels_create_specimen(b->context, (sinew_specimen)maps->specimen,
                                            maps->specimen_voxels, grid->memory_limit, voxels);
    }

    if (maps && maps->part_count > 0) {
        return voxels_of_parts(b, shape, grid, voxels);
    }
    if (shape->volume) {
        return voxels_of_volume(b, shape, grid->memory_limit, voxels);
    }

    if (shape->solid_count > 0) {
        return sinew_voxels_create_from_solids(b->context, shape->solids, shape->solid_count, grid,
                                               voxels);
    }

    if (shape->is_character || !shape->generated) {
        return voxels_of_mesh(b, shape, grid, voxels);
    }

    // A generated shape.
    sinew_solid_def solids[2];
    int32_t count = solids_of_shape(&shape->shape, solids);
    if (count == 0) {
        return sn_fail(b->context, SINEW_UNSUPPORTED, "a rectangle is flat; frames need a solid");
    }

    return sinew_voxels_create_from_solids(b->context, solids, count, grid, voxels);
}

// Layers relabel what is there, gradients make it softer or stiffer, in this order.
sinew_status sn_builder_make_voxels(const sn_builder *b, const sn_scene_shape *shape,
                                    const sinew_voxel_def *grid, sinew_voxels **voxels) {
    const sn_scene_maps *maps = shape->maps;
    SN_TRY(make_solid(b, shape, grid, voxels));
    if (maps) {
        for (int32_t i = 0; i < maps->layer_count; i++) {
            SN_TRY(sinew_voxels_paint_layers(*voxels, &maps->layers[i]));
        }
    }

    if (maps) {
        for (int32_t i = 0; i < maps->gradient_count; i++) {
            SN_TRY(sinew_voxels_apply_gradient(*voxels, &maps->gradients[i]));
        }
    }

    return SINEW_OK;
}

// A copy of the mesh whose elements have the labels of the voxels at their middles.
static sinew_status copy_with_labels(const sn_builder *b, const sinew_mesh *mesh,
                                     const sinew_voxels *voxels, sinew_mesh **out) {
    sn_arena scratch = sn_arena_create(b->context);
    int32_t *labels = SN_PUSH(&scratch, int32_t, mesh->element_count);
    size_t width = (size_t)sinew_element_node_count(mesh->element);
    sinew_status status = sn_arena_status(&scratch);

    // The voxel nearest to the middle of the corners.
    if (status == SINEW_OK) {
        for (int32_t e = 0; e < mesh->element_count; e++) {
            double middle[3];
            sn_vec3 sum = {0, 0, 0};
            const int32_t *nodes = mesh->indices + width * (size_t)e;

            for (int k = 0; k < 4; k++) {
                sum = sn_madd(sum, 0.25,
                              sn_load3(mesh->points + 3 * (size_t)nodes[k])); // corners first
            }

            sn_store3(middle, sum);
            int32_t nearest = sinew_voxels_find_nearest(voxels, middle, INFINITY);
            labels[e] = sinew_voxels_get_labels(voxels)[nearest];
        }
    }

    sinew_mesh labelled = *mesh;
    labelled.labels = labels;
    if (status == SINEW_OK) {
        status = sinew_mesh_copy(b->context, &labelled, out);
    }

    sn_arena_destroy(&scratch);
    return status;
}

sinew_status sn_builder_tets_of_voxels(const sn_builder *b, const sinew_voxels *voxels,
                                       const sinew_tetrahedralize_def *def, sinew_mesh **tets) {
    sinew_mesh *surface = NULL, *plain = NULL;
    sinew_status status = sinew_voxels_create_surface(voxels, SMOOTHING, &surface);
    if (status == SINEW_OK) {
        status = sinew_tetrahedralize(b->context, surface, def, &plain, NULL);
    }
    if (status == SINEW_OK) {
        status = copy_with_labels(b, plain, voxels, tets);
    }

    sinew_mesh_destroy(plain);
    sinew_mesh_destroy(surface);

    return status;
}

sinew_status sn_builder_fill_voxels(const sn_builder *b, const sn_scene_shape *shape,
                                    sinew_mesh **tets) {
    sinew_voxels *voxels = NULL;
    sinew_voxel_def grid = sinew_default_voxel_def();
    SN_TRY(sn_builder_make_voxels(b, shape, &grid, &voxels));
    sinew_status status = sn_builder_tets_of_voxels(b, voxels, &shape->tets, tets);
    sinew_voxels_destroy(voxels);
    return status;
}

// The triangles of a generated shape, about as fine as the voxels unless the scene says how fine.
static sinew_status surface_of_shape(const sn_builder *b, const sinew_shape_def *shape,
                                     const sinew_voxels *voxels, sinew_mesh **surface) {
    sinew_shape_def def = *shape;
    double spacing[3];
    sinew_voxels_get_grid(voxels, NULL, spacing, NULL);
    def.element = SINEW_ELEMENT_TRIANGLE;

    if (def.cells[0] == 0) {
        def.cell_size = fmax(spacing[0], fmax(spacing[1], spacing[2]));
    }

    return sinew_mesh_create_shape(b->context, &def, surface);
}

bool sn_scene_body_has_net(const sn_scene_body *body) {
    const sn_scene_shape *shape = &body->shape;
    return !body->surface && !shape->is_character && !shape->generated && !shape->file;
}

sinew_status sn_builder_make_voxel_surface(const sn_builder *b, const sn_scene_body *body,
                                           const sinew_voxels *voxels, sinew_mesh **surface) {
    const sn_scene_shape *shape = &body->shape;

    // A surface that the scene names or that the shape brings along.
    if (body->surface) {
        return sn_builder_read_mesh(b, body->surface, shape, true, surface);
    }
    if (shape->is_character) {
        return sn_builder_make_skin(b, shape, surface);
    }
    if (shape->generated) {
        return surface_of_shape(b, &shape->shape, voxels, surface);
    }
    if (sn_scene_body_has_net(body)) {
        return sinew_voxels_create_surface(voxels, SMOOTHING, surface);
    }

    // The file that the voxels were made of: its triangles, or the boundary of its elements.
    sinew_mesh *mesh = NULL;
    SN_TRY(sn_builder_read_mesh(b, shape->file, shape, false, &mesh));
    if (mesh->element == SINEW_ELEMENT_TRIANGLE) {
        *surface = mesh;
        return SINEW_OK;
    }

    sinew_status status = sinew_mesh_create_surface(b->context, mesh, surface, NULL);
    sinew_mesh_destroy(mesh);

    return status;
}
