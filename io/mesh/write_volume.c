// Volumes: Gmsh 2.2 and 4.1, Medit, TetGen; and the choice of a writer by a file's name.
#include "io/mesh/write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int32_t gmsh_types[SN_ELEMENT_KINDS] = {2, 4, 11, 5};
static const int32_t dimensions[SN_ELEMENT_KINDS] = {2, 3, 3, 3};

typedef struct gmsh {
    const sn_mesh_view *mesh;
    sn_buffer *out;
    bool binary;
} gmsh;

static void add_integer(gmsh *g, int64_t value, size_t size) {
    if (!g->binary) {
        sn_buffer_add_integer(g->out, value);
        sn_buffer_add_text(g->out, " ");
    } else if (size == 4) {
        sn_buffer_add_i32(g->out, (int32_t)value);
    } else {
        sn_buffer_add_u64(g->out, (uint64_t)value);
    }
}

static void add_doubles(gmsh *g, const double *values, int count) {
    if (g->binary) {
        sn_buffer_add_f64s(g->out, values, (size_t)count);
        return;
    }

    for (int i = 0; i < count; i++) {
        sn_buffer_add_double(g->out, values[i]);
        sn_buffer_add_text(g->out, " ");
    }
}

static void end_line(gmsh *g) {
    if (!g->binary) {
        sn_buffer_add_text(g->out, "\n");
    }
}

static int32_t label_of(const sn_mesh_cells *cells, int32_t index) {
    return cells->labels ? cells->labels[index] : 0;
}

// Node k of an element in Gmsh's order, in which the last two mid-edge nodes of a tet10 are
// exchanged.
static int64_t gmsh_node(const sn_mesh_cells *cells, int kind, int32_t index, int32_t k) {
    if (kind == SINEW_ELEMENT_TET10 && k >= 8) {
        k = 17 - k;
    }
    return (int64_t)cells->nodes[(size_t)index * (size_t)sn_cell_node_count(kind) + (size_t)k] + 1;
}

static void add_names(gmsh *g) {
    if (g->mesh->group_count == 0) {
        return;
    }

    sn_buffer_print(g->out, "$PhysicalNames\n%d\n", g->mesh->group_count);
    for (int32_t i = 0; i < g->mesh->group_count; i++) {
        const sn_mesh_group *group = &g->mesh->groups[i];
        sn_buffer_print(g->out, "%d %d \"", group->dimension, group->label);
        for (const char *c = group->name; *c; c++) {
            sn_buffer_add(g->out, *c == '"' || *c == '\n' ? "'" : c, 1);
        }
        sn_buffer_add_text(g->out, "\"\n");
    }

    sn_buffer_add_text(g->out, "$EndPhysicalNames\n");
}

static void write_2(gmsh *g) {
    const sn_mesh_view *mesh = g->mesh;
    sn_buffer_print(g->out, "$Nodes\n%d\n", mesh->point_count);
    for (int32_t i = 0; i < mesh->point_count; i++) {
        add_integer(g, (int64_t)i + 1, 4);
        add_doubles(g, mesh->points + 3 * (size_t)i, 3);
        end_line(g);
    }

    int64_t count = 0, number = 0;
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        count += mesh->cells[kind].count;
    }

    sn_buffer_print(g->out, "%s$EndNodes\n$Elements\n%lld\n", g->binary ? "\n" : "",
                    (long long)count);
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        const sn_mesh_cells *cells = &mesh->cells[kind];
        // In binary files one block for each kind.
        if (g->binary && cells->count) {
            add_integer(g, gmsh_types[kind], 4);
            add_integer(g, cells->count, 4);
            add_integer(g, 2, 4);
        }

        // Number, two labels (physical and elementary), nodes.
        for (int32_t i = 0; i < cells->count; i++) {
            add_integer(g, ++number, 4);
            if (!g->binary) {
                sn_buffer_print(g->out, "%d 2 ", gmsh_types[kind]);
            }

            add_integer(g, label_of(cells, i), 4);
            add_integer(g, label_of(cells, i), 4);
            for (int32_t k = 0; k < sn_cell_node_count(kind); k++) {
                add_integer(g, gmsh_node(cells, kind, i, k), 4);
            }

            end_line(g);
        }
    }

    sn_buffer_add_text(g->out, g->binary ? "\n$EndElements\n" : "$EndElements\n");
}

// A run of elements of one kind with the same label is a block of the file. `begin` moves to its
// end.
static bool next_run(const sn_mesh_cells *cells, int32_t *begin, int32_t *end) {
    *begin = *end;
    if (*begin >= cells->count) {
        return false;
    }

    while (*end < cells->count && label_of(cells, *end) == label_of(cells, *begin)) {
        (*end)++;
    }

    return true;
}

static int compare_labels(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a;
    int32_t y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// The distinct labels of a dimension, sorted. Entity i + 1 of the file represents labels[i].
static int32_t collect_labels(const sn_mesh_view *mesh, int32_t dimension, sn_buffer *labels) {
    sn_buffer_clear(labels);
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        if (dimensions[kind] != dimension) {
            continue;
        }

        const sn_mesh_cells *cells = &mesh->cells[kind];
        for (int32_t begin = 0, end = 0; next_run(cells, &begin, &end);) {
            int32_t label = label_of(cells, begin);
            sn_buffer_add(labels, &label, sizeof label);
        }
    }

    if (labels->failed || labels->size == 0) {
        return 0;
    }

    int32_t *values = (int32_t *)(void *)labels->data;
    int32_t kept = 0;
    size_t count = labels->size / sizeof *values;

    // Sort and remove duplicates.
    qsort(values, count, sizeof *values, compare_labels);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || values[i] != values[i - 1]) {
            values[kept++] = values[i];
        }
    }

    labels->size = (size_t)kept * sizeof *values;
    return kept;
}

static void compute_box(const sn_mesh_view *mesh, double box[6]) {
    for (int k = 0; k < 3; k++) {
        box[k] = mesh->point_count ? mesh->points[k] : 0;
        box[3 + k] = box[k];
    }

    for (size_t i = 0; i < 3 * (size_t)mesh->point_count; i++) {
        box[i % 3] = fmin(box[i % 3], mesh->points[i]);
        box[3 + i % 3] = fmax(box[3 + i % 3], mesh->points[i]);
    }
}

// One surface and one volume for each label.
static void add_entities_4(gmsh *g, sn_buffer *labels, double box[6]) {
    // The numbers of points, curves, surfaces and volumes.
    int32_t counts[4] = {0, 0, 0, 0};
    for (int32_t d = 2; d <= 3; d++) {
        counts[d] = collect_labels(g->mesh, d, labels);
    }

    sn_buffer_add_text(g->out, "$Entities\n");
    for (int d = 0; d < 4; d++) {
        add_integer(g, counts[d], 8);
    }

    end_line(g);
    for (int32_t d = 2; d <= 3; d++) {
        int32_t count = collect_labels(g->mesh, d, labels);
        for (int32_t i = 0; i < count && !labels->failed; i++) {
            int32_t label = ((const int32_t *)(const void *)labels->data)[i];
            add_integer(g, (int64_t)i + 1, 4);
            add_doubles(g, box, 6);
            add_integer(g, label > 0, 8);

            if (label > 0) {
                add_integer(g, label, 4);
            }

            add_integer(g, 0, 8);
            end_line(g);
        }
    }

    sn_buffer_add_text(g->out, g->binary ? "\n$EndEntities\n" : "$EndEntities\n");
}

static void add_nodes_4(gmsh *g, int32_t dimension) {
    int32_t count = g->mesh->point_count;

    // One block with all nodes: header, tags, coordinates.
    sn_buffer_add_text(g->out, "$Nodes\n");
    add_integer(g, 1, 8);
    add_integer(g, count, 8);
    add_integer(g, 1, 8);
    add_integer(g, count, 8);
    end_line(g);
    add_integer(g, dimension, 4);
    add_integer(g, 1, 4);
    add_integer(g, 0, 4);
    add_integer(g, count, 8);
    end_line(g);

    for (int32_t i = 0; i < count; i++) {
        add_integer(g, (int64_t)i + 1, 8);
        end_line(g);
    }

    for (int32_t i = 0; i < count; i++) {
        add_doubles(g, g->mesh->points + 3 * (size_t)i, 3);
        end_line(g);
    }

    sn_buffer_add_text(g->out, g->binary ? "\n$EndNodes\n" : "$EndNodes\n");
}

static int32_t entity_of(const sn_buffer *labels, int32_t label) {
    const int32_t *values = (const int32_t *)(const void *)labels->data;
    const int32_t *found =
        bsearch(&label, values, labels->size / sizeof label, sizeof label, compare_labels);
    SN_ASSERT(found);
    return (int32_t)(found - values) + 1;
}

static void add_elements_4(gmsh *g, sn_buffer *labels) {
    // Blocks are runs of elements with the same label.
    int64_t blocks = 0, count = 0, number = 0;
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        count += g->mesh->cells[kind].count;
        for (int32_t begin = 0, end = 0; next_run(&g->mesh->cells[kind], &begin, &end);) {
            blocks++;
        }
    }

    sn_buffer_add_text(g->out, "$Elements\n");
    add_integer(g, blocks, 8);
    add_integer(g, count, 8);
    add_integer(g, 1, 8);
    add_integer(g, count, 8);
    end_line(g);

    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        const sn_mesh_cells *cells = &g->mesh->cells[kind];
        collect_labels(g->mesh, dimensions[kind], labels);
        if (labels->failed) {
            return;
        }

        for (int32_t begin = 0, end = 0; next_run(cells, &begin, &end);) {
            add_integer(g, dimensions[kind], 4);
            add_integer(g, entity_of(labels, label_of(cells, begin)), 4);
            add_integer(g, gmsh_types[kind], 4);
            add_integer(g, (int64_t)end - begin, 8);
            end_line(g);

            for (int32_t i = begin; i < end; i++) {
                add_integer(g, ++number, 8);
                for (int32_t k = 0; k < sn_cell_node_count(kind); k++) {
                    add_integer(g, gmsh_node(cells, kind, i, k), 8);
                }
                end_line(g);
            }
        }
    }

    sn_buffer_add_text(g->out, g->binary ? "\n$EndElements\n" : "$EndElements\n");
}

sinew_status sn_write_gmsh(const sn_mesh_view *mesh, sn_gmsh_version version, bool binary,
                           sn_buffer *out) {
    gmsh g = {mesh, out, binary};
    sn_buffer_print(out, "$MeshFormat\n%s %d 8\n", version == SN_GMSH_2_2 ? "2.2" : "4.1", binary);
    if (binary) {
        sn_buffer_add_i32(out, 1);
    }

    sn_buffer_add_text(out, binary ? "\n$EndMeshFormat\n" : "$EndMeshFormat\n");
    add_names(&g);
    if (version == SN_GMSH_2_2) {
        write_2(&g);
        return sn_buffer_status(out);
    }

    // Version 4.1 lists entities first.
    sn_buffer labels = sn_buffer_create(out->context);
    double box[6];

    compute_box(mesh, box);
    add_entities_4(&g, &labels, box);

    bool volume = mesh->cells[SINEW_ELEMENT_TET4].count || mesh->cells[SINEW_ELEMENT_TET10].count ||
                  mesh->cells[SINEW_ELEMENT_HEX8].count;

    add_nodes_4(&g, volume ? 3 : 2);
    add_elements_4(&g, &labels);

    sinew_status status = labels.failed ? SINEW_OUT_OF_MEMORY : sn_buffer_status(out);
    sn_buffer_destroy(&labels);

    return status;
}

sinew_status sn_write_medit(const sn_mesh_view *mesh, sn_buffer *out) {
    static const char *const names[SN_ELEMENT_KINDS] = {"Triangles", "Tetrahedra", "", "Hexahedra"};
    if (mesh->cells[SINEW_ELEMENT_TET10].count) {
        return sn_fail(out->context, SINEW_INVALID_ARGUMENT,
                       "Medit files hold no tets of 10 nodes; .msh and .vtu do");
    }

    // Vertices.
    sn_buffer_print(out, "MeshVersionFormatted 2\nDimension 3\nVertices\n%d\n", mesh->point_count);
    gmsh text = {mesh, out, false};
    for (int32_t i = 0; i < mesh->point_count; i++) {
        add_doubles(&text, mesh->points + 3 * (size_t)i, 3);
        sn_buffer_add_text(out, "0\n");
    }

    // Elements, one section for each kind that occurs.
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        const sn_mesh_cells *cells = &mesh->cells[kind];
        if (cells->count == 0) {
            continue;
        }

        sn_buffer_print(out, "%s\n%d\n", names[kind], cells->count);
        for (int32_t i = 0; i < cells->count; i++) {
            for (int32_t k = 0; k < sn_cell_node_count(kind); k++) {
                size_t node = (size_t)i * (size_t)sn_cell_node_count(kind) + (size_t)k;
                add_integer(&text, (int64_t)cells->nodes[node] + 1, 4);
            }

            sn_buffer_add_integer(out, label_of(cells, i));
            end_line(&text);
        }
    }

    sn_buffer_add_text(out, "End\n");
    return sn_buffer_status(out);
}

sinew_status sn_write_tetgen(const sn_mesh_view *mesh, sn_buffer *node, sn_buffer *ele) {
    int kind = mesh->cells[SINEW_ELEMENT_TET10].count ? SINEW_ELEMENT_TET10 : SINEW_ELEMENT_TET4;
    const sn_mesh_cells *cells = &mesh->cells[kind];
    if (cells->count == 0 ||
        (kind == SINEW_ELEMENT_TET10 && mesh->cells[SINEW_ELEMENT_TET4].count)) {
        return sn_fail(node->context, SINEW_INVALID_ARGUMENT,
                       "TetGen files hold tets of 4 nodes or of 10; the mesh has %s",
                       cells->count ? "both" : "none");
    }

    sn_buffer_print(node, "%d 3 0 0\n", mesh->point_count);
    gmsh text = {mesh, node, false};
    for (int32_t i = 0; i < mesh->point_count; i++) {
        add_integer(&text, i, 4);
        add_doubles(&text, mesh->points + 3 * (size_t)i, 3);
        end_line(&text);
    }

    text.out = ele;

    // TetGen's mid-edge nodes belong to the edges 23, 30, 01, 12, 13, 02.
    static const int32_t order[10] = {0, 1, 2, 3, 9, 7, 4, 5, 8, 6};

    sn_buffer_print(ele, "%d %d %d\n", cells->count, sn_cell_node_count(kind),
                    cells->labels ? 1 : 0);
    for (int32_t i = 0; i < cells->count; i++) {
        add_integer(&text, i, 4);
        for (int32_t k = 0; k < sn_cell_node_count(kind); k++) {
            add_integer(
                &text,
                cells->nodes[(size_t)i * (size_t)sn_cell_node_count(kind) + (size_t)order[k]], 4);
        }

        if (cells->labels) {
            sn_buffer_add_integer(ele, cells->labels[i]);
        }

        end_line(&text);
    }

    SN_TRY(sn_buffer_status(node));
    return sn_buffer_status(ele);
}

sinew_status sn_write_mesh(const sn_mesh_view *mesh, const char *name, sn_buffer *out) {
    const char *point = strrchr(name, '.');
    sn_word extension = {point ? point : "", point ? strlen(point) : 0};

    // The ending chooses the format.
    if (sn_word_is_like(extension, ".vtu")) {
        return sn_write_vtu(mesh, NULL, NULL, out);
    }
    if (sn_word_is_like(extension, ".obj")) {
        return sn_write_obj(mesh, false, out);
    }
    if (sn_word_is_like(extension, ".ply")) {
        return sn_write_ply(mesh, false, out);
    }
    if (sn_word_is_like(extension, ".stl")) {
        return sn_write_stl(mesh, out);
    }
    if (sn_word_is_like(extension, ".msh")) {
        return sn_write_gmsh(mesh, SN_GMSH_4_1, false, out);
    }
    if (sn_word_is_like(extension, ".mesh")) {
        return sn_write_medit(mesh, out);
    }

    return sn_fail(out->context, SINEW_UNSUPPORTED,
                   "%s: cannot write a mesh under this name; valid extensions are .vtu, .obj, "
                   ".ply, .stl, .msh, .mesh",
                   name);
}
