// Builds a mesh from the points, elements and labels that a reader finds.
#include "io/mesh/build.h"

#include <math.h>
#include <string.h>

static const char *const kind_names[SN_ELEMENT_KINDS] = {"triangle", "tet", "10-node tet",
                                                         "hexahedron"};

double *sn_mesh_add_points(sn_mesh_file *file, size_t count) {
    return sn_buffer_push(&file->points, count, 3 * sizeof(double));
}

void sn_mesh_add_point(sn_mesh_file *file, double x, double y, double z) {
    double *point = sn_mesh_add_points(file, 1);
    if (!point) {
        return;
    }

    point[0] = x;
    point[1] = y;
    point[2] = z;
}

int32_t *sn_mesh_add_nodes(sn_mesh_file *file, sinew_element element, size_t count) {
    int32_t *labels = sn_buffer_push(&file->labels[element], count, sizeof(int32_t));
    if (!labels) {
        return NULL;
    }

    memset(labels, 0, count * sizeof(int32_t));
    return sn_buffer_push(&file->nodes[element], count,
                          (size_t)sn_cell_node_count((int)element) * sizeof(int32_t));
}

void sn_mesh_add_cell(sn_mesh_file *file, sinew_element element, const int32_t *nodes,
                      int32_t label) {
    sn_buffer_add(&file->nodes[element], nodes,
                  (size_t)sn_cell_node_count((int)element) * sizeof(int32_t));
    sn_buffer_add(&file->labels[element], &label, sizeof label);
}

void sn_mesh_add_polygon(sn_mesh_file *file, const int32_t *nodes, int32_t count, int32_t label) {
    for (int32_t i = 2; i < count; i++) {
        int32_t triangle[3] = {nodes[0], nodes[i - 1], nodes[i]};
        sn_mesh_add_cell(file, SINEW_ELEMENT_TRIANGLE, triangle, label);
    }
}

void sn_mesh_add_group(sn_mesh_file *file, sn_word name, int32_t dimension, int32_t label) {
    if (name.size > 1000) {
        name.size = 1000;
    }

    char *copy = SN_PUSH(&file->arena, char, name.size + 1);
    if (!copy) {
        return;
    }

    memcpy(copy, name.at, name.size);
    sn_mesh_group group = {copy, dimension, label};

    sn_buffer_add(&file->groups, &group, sizeof group);
}

static sinew_status fail_number(sinew_context *context, const sn_source *source,
                                const sn_text *text, const char *begin, const char *what,
                                const char *kind) {
    char shown[SN_TEXT_FOUND_SIZE];
    return sn_source_fail_at(context, source, SINEW_INVALID_DATA, begin,
                             "found %s, expected %s, a %s number",
                             sn_text_found(begin, text->end, shown), what, kind);
}

sinew_status sn_mesh_read_integer(sinew_context *context, const sn_source *source, sn_text *text,
                                  const char *what, int64_t *out) {
    const char *begin = text->at;
    return sn_text_integer(&text->at, text->end, out) == SN_NUMBER_OK
               ? SINEW_OK
               : fail_number(context, source, text, begin, what, "whole");
}

sinew_status sn_mesh_read_double(sinew_context *context, const sn_source *source, sn_text *text,
                                 const char *what, double *out) {
    const char *begin = text->at;
    return sn_text_double(&text->at, text->end, out) == SN_NUMBER_OK
               ? SINEW_OK
               : fail_number(context, source, text, begin, what, "finite");
}

sinew_status sn_mesh_fail_short(sinew_context *context, const sn_source *source, const void *at,
                                const char *what) {
    size_t left = source->size - (size_t)((const char *)at - (const char *)source->data);
    return sn_source_fail_byte(
        context, source, SINEW_INVALID_DATA, at,
        "the file ends too early: %s does not fit in the %zu bytes that are left", what, left);
}

static sinew_status check_points(sinew_context *context, const sn_source *source,
                                 const sn_mesh_file *file) {
    const double *points = (const double *)file->points.data;
    size_t count = 3 * sn_mesh_point_count(file);
    for (size_t i = 0; i < count; i++) {
        if (isfinite(points[i])) {
            continue;
        }
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "coordinate %c of point %zu is %s; it must be finite",
                              (char)('x' + i % 3), i / 3, isnan(points[i]) ? "NaN" : "infinite");
    }

    return SINEW_OK;
}

static sinew_status check_nodes(sinew_context *context, const sn_source *source,
                                const sn_mesh_file *file) {
    size_t points = sn_mesh_point_count(file);
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        const int32_t *nodes = (const int32_t *)file->nodes[kind].data;
        size_t count = file->nodes[kind].size / sizeof(int32_t);
        for (size_t i = 0; i < count; i++) {
            if (nodes[i] >= 0 && (size_t)nodes[i] < points) {
                continue;
            }

            return sn_source_fail(
                context, source, SINEW_INVALID_DATA,
                "%s %zu refers to point %d (counted from 0); there are %zu points",
                kind_names[kind], i / (size_t)sn_cell_node_count(kind), nodes[i], points);
        }
    }

    return SINEW_OK;
}

// u x v . w
static double determinant(const double u[3], const double v[3], const double w[3]) {
    return (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
           (u[0] * v[1] - u[1] * v[0]) * w[2];
}

static void subtract(const double *points, int32_t to, int32_t from, double out[3]) {
    for (int k = 0; k < 3; k++) {
        out[k] = points[3 * (size_t)to + (size_t)k] - points[3 * (size_t)from + (size_t)k];
    }
}

static double tet_volume(const double *points, const int32_t *nodes) {
    double u[3], v[3], w[3];
    subtract(points, nodes[1], nodes[0], u);
    subtract(points, nodes[2], nodes[0], v);
    subtract(points, nodes[3], nodes[0], w);
    return determinant(u, v, w);
}

// The sum over the corners, arranged so that exchanging bottom and top changes exactly the sign.
static double hexahedron_volume(const double *points, const int32_t *nodes) {
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        int next = (i + 1) % 4;
        int last = (i + 3) % 4;
        double up[3], pair = 0;

        subtract(points, nodes[i + 4], nodes[i], up);
        for (int side = 0; side <= 4; side += 4) {
            double u[3], v[3];
            subtract(points, nodes[next + side], nodes[i + side], u);
            subtract(points, nodes[last + side], nodes[i + side], v);
            pair += determinant(u, v, up);
        }

        sum += pair;
    }

    return sum;
}

static void swap(int32_t *nodes, int a, int b) {
    int32_t node = nodes[a];
    nodes[a] = nodes[b];
    nodes[b] = node;
}

// Some programs number elements in the opposite order. Exchanging two corners (and their mid-edge
// nodes) or bottom and top corrects it.
static void correct_orientation(sn_mesh_file *file) {
    const double *points = (const double *)file->points.data;
    for (int kind = SINEW_ELEMENT_TET4; kind < SN_ELEMENT_KINDS; kind++) {
        int32_t *nodes = (int32_t *)file->nodes[kind].data;
        size_t count = sn_mesh_cell_count(file, (sinew_element)kind);
        for (size_t i = 0; i < count; i++, nodes += sn_cell_node_count(kind)) {
            bool hex = kind == SINEW_ELEMENT_HEX8;
            double volume = hex ? hexahedron_volume(points, nodes) : tet_volume(points, nodes);
            if (!(volume < 0)) {
                continue;
            }

            // Exchange bottom and top of a hexahedron, or two corners of a tet.
            file->reversed_count++;
            if (hex) {
                for (int k = 0; k < 4; k++) {
                    swap(nodes, k, k + 4);
                }
            } else {
                swap(nodes, 1, 2);
            }

            // The mid-edge nodes follow their corners.
            if (kind == SINEW_ELEMENT_TET10) {
                swap(nodes, 4, 6);
                swap(nodes, 8, 9);
            }
        }
    }
}

static sinew_status memory_status(const sn_mesh_file *file) {
    const sn_buffer *buffers[] = {&file->points,           &file->normals,      &file->uvs,
                                  &file->triangle_normals, &file->triangle_uvs, &file->groups};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        SN_TRY(sn_buffer_status(buffers[i]));
    }

    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        SN_TRY(sn_buffer_status(&file->nodes[kind]));
        SN_TRY(sn_buffer_status(&file->labels[kind]));
    }

    return sn_arena_status(&file->arena);
}

static sn_mesh_corners make_corners(const sn_buffer *values, const sn_buffer *indices,
                                    size_t components, size_t triangles) {
    sn_mesh_corners corners = {0};
    if (values->size == 0 || indices->size != 3 * triangles * sizeof(int32_t)) {
        return corners;
    }

    corners.count = (int32_t)(values->size / (components * sizeof(double)));
    corners.values = (const double *)values->data;
    corners.indices = (const int32_t *)indices->data;

    return corners;
}

static sinew_status check_corners(sinew_context *context, const sn_source *source,
                                  const sn_mesh_file *file, const sn_mesh_corners *corners,
                                  const char *what, int components) {
    if (!corners->indices) {
        return SINEW_OK;
    }

    // Values must be finite.
    for (size_t i = 0; i < (size_t)corners->count * (size_t)components; i++) {
        if (isfinite(corners->values[i])) {
            continue;
        }
        return sn_source_fail(context, source, SINEW_INVALID_DATA, "%s %zu is not finite", what,
                              i / (size_t)components);
    }

    // Indices must name a value.
    for (size_t i = 0; i < 3 * (size_t)file->view.cells[SINEW_ELEMENT_TRIANGLE].count; i++) {
        if (corners->indices[i] >= 0 && corners->indices[i] < corners->count) {
            continue;
        }
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "triangle %zu refers to %s %d; there are %d", i / 3, what,
                              corners->indices[i], corners->count);
    }

    return SINEW_OK;
}

sinew_status sn_mesh_finish(sinew_context *context, const sn_source *source, sn_mesh_file *file) {
    SN_TRY(memory_status(file));
    size_t points = sn_mesh_point_count(file);
    size_t total = 0;

    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        total += sn_mesh_cell_count(file, (sinew_element)kind);
    }

    if (total == 0) {
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "the file holds %zu points but no triangles, tets or hexahedra",
                              points);
    }

    // Limits that keep all index arithmetic within int32.
    if (points > INT32_MAX / 4 || total > INT32_MAX / 16) {
        return sn_source_fail(context, source, SINEW_UNSUPPORTED,
                              "%zu points and %zu elements; at most %d and %d are read", points,
                              total, INT32_MAX / 4, INT32_MAX / 16);
    }

    SN_TRY(check_points(context, source, file));
    SN_TRY(check_nodes(context, source, file));
    correct_orientation(file);

    // The view of what was read.
    sn_mesh_view *view = &file->view;
    view->point_count = (int32_t)points;
    view->points = (const double *)file->points.data;

    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        view->cells[kind].count = (int32_t)sn_mesh_cell_count(file, (sinew_element)kind);
        view->cells[kind].nodes = (const int32_t *)file->nodes[kind].data;
        view->cells[kind].labels =
            file->has_labels ? (const int32_t *)file->labels[kind].data : NULL;
    }

    view->group_count = (int32_t)(file->groups.size / sizeof(sn_mesh_group));
    view->groups = (const sn_mesh_group *)file->groups.data;

    size_t triangles = (size_t)view->cells[SINEW_ELEMENT_TRIANGLE].count;
    view->normals = make_corners(&file->normals, &file->triangle_normals, 3, triangles);
    view->uvs = make_corners(&file->uvs, &file->triangle_uvs, 2, triangles);
    SN_TRY(check_corners(context, source, file, &view->normals, "normal", 3));

    return check_corners(context, source, file, &view->uvs, "texture coordinate", 2);
}
