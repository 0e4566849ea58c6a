// Surfaces: OBJ, PLY, STL; and tables of points over time: PC2, CSV.
#include "io/mesh/write.h"

#include <math.h>
#include <string.h>

static sinew_status check_triangles(const sn_mesh_view *mesh, const char *format, sn_buffer *out) {
    if (mesh->cells[SINEW_ELEMENT_TRIANGLE].count > 0) {
        return SINEW_OK;
    }
    return sn_fail(out->context, SINEW_INVALID_ARGUMENT,
                   "%s holds triangles only, and the mesh has none; extract its surface first",
                   format);
}

static void add_numbers(sn_buffer *out, const char *start, const double *values, int count,
                        bool single) {
    sn_buffer_add_text(out, start);
    for (int i = 0; i < count; i++) {
        sn_buffer_add_text(out, " ");
        if (single) {
            sn_buffer_add_float(out, values[i]);
        } else {
            sn_buffer_add_double(out, values[i]);
        }
    }

    sn_buffer_add_text(out, "\n");
}

// Writes a name on a line of its own, without line breaks.
static void add_name(sn_buffer *out, const char *start, const char *name) {
    sn_buffer_add_text(out, start);
    for (; *name; name++) {
        sn_buffer_add(out, *name == '\n' || *name == '\r' ? " " : name, 1);
    }
    sn_buffer_add_text(out, "\n");
}

static const char *find_group(const sn_mesh_view *mesh, int32_t label) {
    for (int32_t i = 0; i < mesh->group_count; i++) {
        if (mesh->groups[i].dimension == 2 && mesh->groups[i].label == label) {
            return mesh->groups[i].name;
        }
    }
    return NULL;
}

sinew_status sn_write_obj(const sn_mesh_view *mesh, bool single, sn_buffer *out) {
    SN_TRY(check_triangles(mesh, "OBJ", out));
    const sn_mesh_cells *triangles = &mesh->cells[SINEW_ELEMENT_TRIANGLE];
    double upright[3];
    for (int32_t i = 0; i < mesh->point_count; i++) {
        sn_rotate_z_to_y(mesh->points + 3 * (size_t)i, upright);
        add_numbers(out, "v", upright, 3, single);
    }

    for (int32_t i = 0; i < mesh->uvs.count; i++) {
        add_numbers(out, "vt", mesh->uvs.values + 2 * (size_t)i, 2, single);
    }

    for (int32_t i = 0; i < mesh->normals.count; i++) {
        sn_rotate_z_to_y(mesh->normals.values + 3 * (size_t)i, upright);
        add_numbers(out, "vn", upright, 3, single);
    }

    // Faces, with a new material wherever the label changes.
    for (int32_t i = 0; i < triangles->count; i++) {
        if (triangles->labels && (i == 0 || triangles->labels[i] != triangles->labels[i - 1])) {
            const char *name = find_group(mesh, triangles->labels[i]);
            if (name) {
                add_name(out, "usemtl ", name);
            } else {
                sn_buffer_print(out, "usemtl label_%d\n", triangles->labels[i]);
            }
        }

        sn_buffer_add_text(out, "f");

        // v, v/vt, v//vn or v/vt/vn.
        for (size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3; k++) {
            sn_buffer_add_text(out, " ");
            sn_buffer_add_integer(out, (int64_t)triangles->nodes[k] + 1);
            if (!mesh->uvs.indices && !mesh->normals.indices) {
                continue;
            }

            sn_buffer_add_text(out, "/");
            if (mesh->uvs.indices) {
                sn_buffer_add_integer(out, (int64_t)mesh->uvs.indices[k] + 1);
            }
            if (!mesh->normals.indices) {
                continue;
            }

            sn_buffer_add_text(out, "/");
            sn_buffer_add_integer(out, (int64_t)mesh->normals.indices[k] + 1);
        }

        sn_buffer_add_text(out, "\n");
    }

    return sn_buffer_status(out);
}

// Whether the corners' values belong to the points.
static bool follows_points(const sn_mesh_view *mesh, const sn_mesh_corners *corners) {
    const sn_mesh_cells *triangles = &mesh->cells[SINEW_ELEMENT_TRIANGLE];
    return corners->indices && corners->count == mesh->point_count &&
           memcmp(corners->indices, triangles->nodes,
                  3 * (size_t)triangles->count * sizeof(int32_t)) == 0;
}

sinew_status sn_write_ply(const sn_mesh_view *mesh, bool single, sn_buffer *out) {
    SN_TRY(check_triangles(mesh, "PLY", out));
    const sn_mesh_cells *triangles = &mesh->cells[SINEW_ELEMENT_TRIANGLE];
    bool normals = follows_points(mesh, &mesh->normals);
    bool uvs = follows_points(mesh, &mesh->uvs);
    const char *type = single ? "float" : "double";

    // Header: only the properties that exist.
    sn_buffer_print(out, "ply\nformat binary_little_endian 1.0\nelement vertex %d\n",
                    mesh->point_count);
    static const char *const names[] = {"x", "y", "z", "nx", "ny", "nz", "s", "t"};

    for (int i = 0; i < 8; i++) {
        if (i < 3 || (i < 6 ? normals : uvs)) {
            sn_buffer_print(out, "property %s %s\n", type, names[i]);
        }
    }

    sn_buffer_print(out, "element face %d\nproperty list uchar int vertex_indices\nend_header\n",
                    triangles->count);
    void (*add)(sn_buffer *, const double *, size_t) =
        single ? sn_buffer_add_f32s : sn_buffer_add_f64s;

    // Points with their properties, then faces.
    for (int32_t i = 0; i < mesh->point_count; i++) {
        add(out, mesh->points + 3 * (size_t)i, 3);
        if (normals) {
            add(out, mesh->normals.values + 3 * (size_t)i, 3);
        }
        if (uvs) {
            add(out, mesh->uvs.values + 2 * (size_t)i, 2);
        }
    }

    for (int32_t i = 0; i < triangles->count; i++) {
        sn_buffer_add_u8(out, 3);
        sn_buffer_add_i32s(out, triangles->nodes + 3 * (size_t)i, 3);
    }

    return sn_buffer_status(out);
}

static void compute_normal(const double *a, const double *b, const double *c, double n[3]) {
    double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    double v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    n[0] = u[1] * v[2] - u[2] * v[1];
    n[1] = u[2] * v[0] - u[0] * v[2];
    n[2] = u[0] * v[1] - u[1] * v[0];
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);

    for (int i = 0; i < 3; i++) {
        n[i] = length > 0 ? n[i] / length : 0;
    }
}

sinew_status sn_write_stl(const sn_mesh_view *mesh, sn_buffer *out) {
    SN_TRY(check_triangles(mesh, "STL", out));
    const sn_mesh_cells *triangles = &mesh->cells[SINEW_ELEMENT_TRIANGLE];

    // A header of 80 bytes, and the number of triangles.
    size_t begin = out->size;
    sn_buffer_add_text(out, "binary STL written by sinew");
    sn_buffer_add_zeros(out, 80 - (out->size - begin));
    sn_buffer_add_u32(out, (uint32_t)triangles->count);

    // Each record: normal, corners, an empty attribute.
    for (int32_t i = 0; i < triangles->count; i++) {
        const double *corners[3];
        double normal[3];
        for (size_t k = 0; k < 3; k++) {
            corners[k] = mesh->points + 3 * (size_t)triangles->nodes[3 * (size_t)i + k];
        }

        compute_normal(corners[0], corners[1], corners[2], normal);
        sn_buffer_add_f32s(out, normal, 3);
        for (int k = 0; k < 3; k++) {
            sn_buffer_add_f32s(out, corners[k], 3);
        }

        sn_buffer_add_u16(out, 0);
    }

    return sn_buffer_status(out);
}

void sn_write_pc2_header(int32_t point_count, int32_t frame_count, float start, float rate,
                         sn_buffer *out) {
    sn_buffer_add(out, "POINTCACHE2", 12); // with its closing zero
    sn_buffer_add_i32(out, 1);
    sn_buffer_add_i32(out, point_count);
    sn_buffer_add_f32(out, start);
    sn_buffer_add_f32(out, rate);
    sn_buffer_add_i32(out, frame_count);
}

void sn_write_pc2_frame(const double *points, int32_t point_count, bool z_up, sn_buffer *out) {
    if (!z_up) {
        sn_buffer_add_f32s(out, points, 3 * (size_t)point_count);
        return;
    }

    for (int32_t i = 0; i < point_count; i++) {
        double upright[3];
        sn_rotate_z_to_y(points + 3 * (size_t)i, upright);
        sn_buffer_add_f32s(out, upright, 3);
    }
}

void sn_write_csv_names(const char *const *names, int32_t count, sn_buffer *out) {
    for (int32_t i = 0; i < count; i++) {
        if (i) {
            sn_buffer_add_text(out, ",");
        }

        // Names with special characters are quoted; quotes are doubled.
        bool quoted = strpbrk(names[i], ",\"\r\n") != NULL;
        if (quoted) {
            sn_buffer_add_text(out, "\"");
        }

        for (const char *c = names[i]; *c; c++) {
            sn_buffer_add(out, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
        }

        if (quoted) {
            sn_buffer_add_text(out, "\"");
        }
    }

    sn_buffer_add_text(out, "\n");
}

void sn_write_csv_row(const double *values, int32_t count, sn_buffer *out) {
    for (int32_t i = 0; i < count; i++) {
        if (i) {
            sn_buffer_add_text(out, ",");
        }
        if (isfinite(values[i])) {
            sn_buffer_add_double(out, values[i]);
        }
    }

    sn_buffer_add_text(out, "\n");
}
