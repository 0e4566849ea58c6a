// Fingerprints by FNV-1a over the fields of the definitions (see origin.h).
#include "dynamics/origin.h"

#include "base/hash.h"
#include "geom/voxel/voxel.h"

static uint64_t hash_doubles(uint64_t hash, const double *numbers, size_t count) {
    return numbers ? sn_hash_bytes(hash, numbers, count * sizeof *numbers) : hash;
}

static uint64_t hash_integers(uint64_t hash, const int32_t *numbers, size_t count) {
    return numbers ? sn_hash_bytes(hash, numbers, count * sizeof *numbers) : hash;
}

// What a material is, field by field, for padding has no meaning; the tension of fibres changes in
// a run.
static uint64_t hash_material(uint64_t hash, const sinew_material_def *def) {
    const sinew_orthotropic *axes = &def->orthotropic;
    const int32_t kinds[] = {(int32_t)def->law, (int32_t)def->strain, def->inversion,
                             def->exact_rotation, axes->four_parameters};
    const double numbers[] = {def->density, def->young, def->poisson, def->volume_stiffness,
                              def->c10,     def->c01,   def->bulk,    def->chain_length};
    const double constants[] = {axes->young_1,    axes->young_2,    axes->young_3,
                                axes->poisson_12, axes->poisson_23, axes->poisson_31,
                                axes->shear_12,   axes->shear_23,   axes->shear_31};
    hash = sn_hash_bytes(hash, kinds, sizeof kinds);
    hash = sn_hash_bytes(hash, numbers, sizeof numbers);
    hash = sn_hash_bytes(hash, constants, sizeof constants);

    return sn_hash_bytes(hash, &def->transverse, sizeof def->transverse);
}

static uint64_t hash_materials(uint64_t hash, const sinew_material_def *materials, int32_t count) {
    if (!materials) {
        return hash;
    }

    for (int32_t i = 0; i < count; i++) {
        hash = hash_material(hash, &materials[i]);
    }
    return hash;
}

static uint64_t hash_nodes(uint64_t hash, const sinew_frame_node *nodes, int32_t count) {
    if (!nodes) {
        return hash;
    }

    for (int32_t i = 0; i < count; i++) {
        hash = sn_hash_integer(hash, (int64_t)nodes[i].kind);
        hash = sn_hash_bytes(hash, nodes[i].position, sizeof nodes[i].position);
    }
    return hash;
}

static uint64_t hash_mesh(uint64_t hash, const sinew_mesh *mesh) {
    size_t width = (size_t)sinew_element_node_count(mesh->element);
    size_t elements = (size_t)mesh->element_count;
    hash = sn_hash_integer(hash, (int64_t)mesh->element);
    hash = sn_hash_bytes(hash, mesh->points, 3 * (size_t)mesh->point_count * sizeof(double));
    hash = sn_hash_bytes(hash, mesh->indices, width * elements * sizeof(int32_t));

    return mesh->labels ? sn_hash_bytes(hash, mesh->labels, elements * sizeof(int32_t)) : hash;
}

static uint64_t hash_voxels(uint64_t hash, const sinew_voxels *voxels) {
    size_t count = (size_t)voxels->count;
    hash = hash_integers(hash, voxels->cells, 3);
    hash = hash_doubles(hash, voxels->spacing, 3);
    hash = hash_doubles(hash, voxels->lower, 3);
    hash = hash_integers(hash, voxels->cell, count);
    hash = sn_hash_bytes(hash, voxels->label, count * sizeof *voxels->label);

    return hash_doubles(hash, voxels->stiffness, count);
}

static uint64_t hash_tissues(uint64_t hash, const sinew_tissue *tissues, int32_t count) {
    if (tissues) {
        for (int32_t i = 0; i < count; i++) {
            const int32_t kinds[] = {tissues[i].label, tissues[i].rigid, tissues[i].node};
            const double numbers[] = {tissues[i].young, tissues[i].density};
            hash = hash_integers(hash, kinds, 3);
            hash = hash_doubles(hash, numbers, 2);
        }
    }
    return hash;
}

static uint64_t hash_weights(uint64_t hash, const sinew_weights_def *def, size_t values) {
    const int32_t kinds[] = {(int32_t)def->kind,   (int32_t)def->metric, def->levels,
                             def->max_iterations,  def->nodes_per_voxel, def->normalize,
                             def->adopt_unreached, def->adopt_outside};
    const double numbers[] = {def->range,   def->falloff,     def->axis[0],   def->axis[1],
                              def->axis[2], def->node_radius, def->tolerance, def->cutoff};
    hash = hash_integers(hash, kinds, sizeof kinds / sizeof *kinds);
    hash = hash_doubles(hash, numbers, sizeof numbers / sizeof *numbers);

    return def->kind == SINEW_WEIGHTS_USER ? hash_doubles(hash, def->values, values) : hash;
}

static uint64_t hash_sampling(uint64_t hash, const sinew_sampling_def *def) {
    const int32_t kinds[] = {(int32_t)def->kind, def->count, def->degree, def->by_label};
    hash = hash_integers(hash, kinds, sizeof kinds / sizeof *kinds);
    return hash_doubles(hash, &def->fit_error, 1);
}

uint64_t sn_origin_of_elements(const sinew_body_def *def) {
    size_t elements = (size_t)def->mesh->element_count;
    const int32_t kinds[] = {(int32_t)def->model, (int32_t)def->mass, (int32_t)def->volume,
                             (int32_t)def->plane};
    uint64_t hash = hash_integers(SN_HASH_START, kinds, sizeof kinds / sizeof *kinds);
    hash = hash_mesh(hash, def->mesh);
    hash = hash_materials(hash, def->materials, def->material_count);
    hash = hash_integers(hash, def->material_labels, (size_t)def->material_count);
    hash = hash_doubles(hash, def->material_axes, 9 * elements);

    return hash_doubles(hash, &def->thickness, 1);
}

uint64_t sn_origin_of_frames(const sinew_frame_body_def *def) {
    size_t values = (size_t)def->node_count * (size_t)def->voxels->count;
    const int32_t kinds[] = {(int32_t)def->blend, (int32_t)def->mass, def->springs,
                             def->geometric_stiffness};
    uint64_t hash = hash_integers(SN_HASH_START, kinds, sizeof kinds / sizeof *kinds);
    hash = hash_voxels(hash, def->voxels);
    hash = hash_tissues(hash, def->tissues, def->tissue_count);
    hash = hash_materials(hash, def->materials, def->material_count);
    hash = hash_integers(hash, def->material_labels, (size_t)def->material_count);
    hash = hash_nodes(hash, def->nodes, def->node_count);
    hash = hash_weights(hash, &def->weights, values);
    hash = hash_sampling(hash, &def->sampling);
    if (!def->field) {
        return hash;
    }

    size_t elements = (size_t)sinew_field_get_element_count(def->field);
    return hash_doubles(hash, sinew_field_get_axes(def->field), 9 * elements);
}

uint64_t sn_origin_of_rigid(const sinew_rigid_body_def *def) {
    uint64_t hash = hash_mesh(SN_HASH_START, def->surface);
    hash = hash_doubles(hash, &def->density, 1);
    hash = hash_doubles(hash, &def->mass, 1);
    hash = hash_doubles(hash, def->center, 3);

    return hash_doubles(hash, def->inertia, 6);
}

uint64_t sn_origin_of_positions(const sinew_pbd_body_def *def) {
    const sinew_pbd_def *pbd = &def->pbd;
    size_t elements = (size_t)def->mesh->element_count;
    const int32_t kinds[] = {(int32_t)pbd->mode, (int32_t)pbd->order, pbd->iterations,
                             pbd->consolidating};
    uint64_t hash = hash_mesh(SN_HASH_START, def->mesh);
    hash = hash_integers(hash, kinds, sizeof kinds / sizeof *kinds);
    if (pbd->materials) {
        for (int32_t i = 0; i < pbd->material_count; i++) {
            const sinew_pbd_material *material = &pbd->materials[i];
            const double numbers[] = {material->volume, material->density};
            hash = hash_doubles(hash, material->stretch, 3);
            hash = hash_doubles(hash, material->shear, 3);
            hash = hash_doubles(hash, numbers, 2);
        }
    }
    hash = hash_integers(hash, pbd->tet_materials, elements);

    return hash_doubles(hash, pbd->frames, 9 * elements);
}
