// glTF as a mesh: all triangles of the scene in world coordinates, one group for each material.
// Skinned meshes are in their bind pose, moved with the root of their skin; glTF ignores the
// transform of the node that shows the mesh.
#include "io/mesh/build.h"

#include "io/gltf/skin.h"

#include <math.h>
#include <string.h>

typedef struct flattener {
    sinew_context *context;
    const sn_source *source;
    sn_mesh_file *file;
    const sn_gltf *gltf;
    uint64_t budget; // points and triangles that may still be added, so that instances cannot blow
                     // up a small file
    bool without_uv, without_normal;
} flattener;

static void transform_point(const double m[16], const double *p, double *out) {
    for (int k = 0; k < 3; k++) {
        out[k] = m[k] * p[0] + m[4 + k] * p[1] + m[8 + k] * p[2] + m[12 + k];
    }
}

// Normals are transformed by the cofactors of the matrix: its inverse transpose up to a factor,
// whose sign changes for a mirroring matrix.
static void transform_normal(const double m[16], const double *n, double *out) {
    double cofactor[3][3];
    for (int c = 0; c < 3; c++) {
        const double *u = m + 4 * ((c + 1) % 3);
        const double *v = m + 4 * ((c + 2) % 3);
        for (int k = 0; k < 3; k++) {
            cofactor[c][k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        }
    }

    double length = 0;
    for (int k = 0; k < 3; k++) {
        out[k] = cofactor[0][k] * n[0] + cofactor[1][k] * n[1] + cofactor[2][k] * n[2];
        length += out[k] * out[k];
    }

    length = sqrt(length);
    for (int k = 0; k < 3; k++) {
        out[k] = length > 0 && isfinite(length) ? out[k] / length : 0;
    }
}

static double determinant(const double m[16]) {
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
           m[2] * (m[4] * m[9] - m[5] * m[8]);
}

static sinew_status add_points(flattener *f, const sn_gltf_primitive *p, const double m[16]) {
    sn_mesh_file *file = f->file;
    double *points = sn_mesh_add_points(file, (size_t)p->point_count);
    if (!points) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (size_t i = 0; i < (size_t)p->point_count; i++) {
        double normal[3] = {0, 0, 0};
        double uv[2] = {0, 0};

        transform_point(m, p->points + 3 * i, points + 3 * i);
        if (p->normals) {
            transform_normal(m, p->normals + 3 * i, normal);
        }
        if (p->uvs) {
            memcpy(uv, p->uvs + 2 * i, sizeof uv);
        }

        sn_buffer_add(&file->normals, normal, sizeof normal);
        sn_buffer_add(&file->uvs, uv, sizeof uv);
    }

    return SINEW_OK;
}

static sinew_status add_primitive(flattener *f, const sn_gltf_primitive *p, const double m[16],
                                  const double *shared, size_t *base) {
    uint64_t size = (uint64_t)p->point_count + (uint64_t)p->index_count;
    if (size > f->budget) {
        return sn_source_fail(f->context, f->source, SINEW_UNSUPPORTED,
                              "the scene repeats its meshes too often to be one mesh");
    }

    f->budget -= size;
    if (p->index_count == 0) {
        return SINEW_OK;
    }

    // Primitives of a mesh may share their points.
    if (p->points != shared) {
        *base = sn_mesh_point_count(f->file);
        SN_TRY(add_points(f, p, m));
    }
    if (*base > INT32_MAX / 2) {
        return sn_source_fail(f->context, f->source, SINEW_UNSUPPORTED, "more than %d points",
                              INT32_MAX / 2);
    }

    f->without_uv = f->without_uv || !p->uvs;
    f->without_normal = f->without_normal || !p->normals;

    // A mirroring transform reverses the triangles.
    bool mirror = determinant(m) < 0;
    for (int32_t i = 0; i < p->index_count; i += 3) {
        int32_t nodes[3];
        for (int k = 0; k < 3; k++) {
            nodes[k] = (int32_t)*base + p->indices[i + (mirror ? 2 - k : k)];
        }
        sn_mesh_add_cell(f->file, SINEW_ELEMENT_TRIANGLE, nodes, p->material + 1);
    }

    return f->file->nodes[SINEW_ELEMENT_TRIANGLE].failed ? SINEW_OUT_OF_MEMORY : SINEW_OK;
}

static sinew_status flatten(flattener *f, const sn_gltf_file *gltf) {
    const sn_gltf *view = f->gltf;
    double *matrices;

    SN_TRY(sn_gltf_compute_matrices(view, &f->file->arena, &matrices));
    for (int32_t i = 0; i < view->node_count; i++) {
        const sn_gltf_node *node = &view->nodes[i];
        if (node->mesh < 0 || !gltf->in_scene[i]) {
            continue;
        }

        double bind[16];
        const double *m = matrices + 16 * (size_t)i;
        if (node->skin >= 0) {
            sn_gltf_bind_matrix(view, node->skin, matrices, bind);
            m = bind;
        }

        const double *shared = NULL;
        const sn_gltf_mesh *mesh = &view->meshes[node->mesh];
        size_t base = 0;

        for (int32_t k = 0; k < mesh->primitive_count; k++) {
            SN_TRY(add_primitive(f, &mesh->primitives[k], m, shared, &base));
            if (mesh->primitives[k].index_count) {
                shared = mesh->primitives[k].points;
            }
        }
    }

    // Groups by material.
    for (int32_t i = 0; i < view->material_count; i++) {
        const char *name = view->materials[i].name ? view->materials[i].name : "material";
        sn_mesh_add_group(f->file, (sn_word){name, strlen(name)}, 2, i + 1);
    }

    f->file->has_labels = view->material_count > 0;

    // Normals and texture coordinates are used only if all triangles have them.
    const sn_buffer *nodes = &f->file->nodes[SINEW_ELEMENT_TRIANGLE];
    if (!f->without_normal) {
        sn_buffer_add(&f->file->triangle_normals, nodes->data, nodes->size);
    }
    if (!f->without_uv) {
        sn_buffer_add(&f->file->triangle_uvs, nodes->data, nodes->size);
    }

    return SINEW_OK;
}

sinew_status sn_read_gltf_mesh(sinew_context *context, const sn_source *source,
                               sn_mesh_file *file) {
    sn_gltf_file gltf;
    sinew_status status = sn_gltf_read(context, source, &gltf);
    flattener f = {.context = context, .source = source, .file = file, .gltf = &gltf.view};

    f.budget = (1 << 20) + 64 * (uint64_t)source->size;

    if (status == SINEW_OK) {
        status = flatten(&f, &gltf);
    }

    sn_gltf_file_destroy(&gltf);
    return status;
}
