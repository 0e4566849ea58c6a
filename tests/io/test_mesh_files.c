// Mesh files: what is written reads back the same; what is broken is refused with its place;
// nothing reads past its buffer.
#include "support/reader.h"

#include "io/mesh/mesh.h"
#include "io/mesh/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Two tets, a hexahedron, a tet of 10 nodes and two triangles, with labels and names, at
// coordinates that take many digits.
enum { POINTS = 24 };
static double points[3 * POINTS];
static const int32_t triangles[] = {0, 1, 2, 0, 2, 4};
static const int32_t tets[] = {0, 1, 2, 4, 1, 3, 2, 7};
static const int32_t hexes[] = {0, 1, 3, 2, 4, 5, 7, 6};
static int32_t tet10s[] = {8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
static const int32_t triangle_labels[] = {5, 6}, tet_labels[] = {7, 9}, hex_labels[] = {7},
                     tet10_labels[] = {9};
static const double uvs[] = {0, 0, 1, 0, 0, 1, 0.25, 0.75}, normals[] = {0, 0, 1, 0, 0.6, 0.8};
static const int32_t uv_indices[] = {0, 1, 2, 0, 2, 3}, normal_indices[] = {0, 0, 1, 1, 1, 0};
static const sn_mesh_group groups[] = {
    {"skin & bone", 2, 5}, {"other", 2, 6}, {"meat", 3, 7}, {"bone", 3, 9}};

static int set_up(void **state) {
    (void)state;
    sn_random random = sn_random_seed(3);
    for (int i = 0; i < POINTS; i++) {
        points[3 * i] = (i & 1) + 0.1 * sn_random_unit(&random);
        points[3 * i + 1] = (i >> 1 & 1) + 1e-3 * sn_random_unit(&random);
        points[3 * i + 2] = (i >> 2 & 1) + 1.0 / 3;
    }

    static const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 4; i++) {
            points[3 * (8 + i) + k] = corners[i][k] + 3;
        }
        for (int i = 0; i < 6; i++) {
            points[3 * (12 + i) + k] = (corners[edges[i][0]][k] + corners[edges[i][1]][k]) / 2 + 3;
        }
    }

    return 0;
}

static sn_mesh_view surface_view(void) {
    sn_mesh_view view = {
        .point_count = POINTS, .points = points, .group_count = 4, .groups = groups};
    view.cells[SINEW_ELEMENT_TRIANGLE] = (sn_mesh_cells){2, triangles, triangle_labels};
    return view;
}

static sn_mesh_view volume_view(bool with_tet10) {
    sn_mesh_view view = surface_view();
    view.cells[SINEW_ELEMENT_TET4] = (sn_mesh_cells){2, tets, tet_labels};
    view.cells[SINEW_ELEMENT_HEX8] = (sn_mesh_cells){1, hexes, hex_labels};
    if (with_tet10) {
        view.cells[SINEW_ELEMENT_TET10] = (sn_mesh_cells){1, tet10s, tet10_labels};
    }

    return view;
}

// A file of each format with what it can hold. The second part of TetGen's is in `ele`.
typedef struct sample {
    const char *name;
    sn_mesh_view view;
    bool labels, groups, exact; // survive the round trip
    sinew_status (*write)(const sn_mesh_view *view, sn_buffer *out);
} sample;

static sinew_status write_obj(const sn_mesh_view *view, sn_buffer *out) {
    return sn_write_obj(view, false, out);
}
static sinew_status write_ply(const sn_mesh_view *view, sn_buffer *out) {
    return sn_write_ply(view, false, out);
}
static sinew_status write_msh2(const sn_mesh_view *view, sn_buffer *out) {
    return sn_write_gmsh(view, SN_GMSH_2_2, false, out);
}
static sinew_status write_msh2_binary(const sn_mesh_view *view, sn_buffer *out) {
    return sn_write_gmsh(view, SN_GMSH_2_2, true, out);
}
static sinew_status write_msh4(const sn_mesh_view *view, sn_buffer *out) {
    return sn_write_gmsh(view, SN_GMSH_4_1, false, out);
}
static sinew_status write_msh4_binary(const sn_mesh_view *view, sn_buffer *out) {
    return sn_write_gmsh(view, SN_GMSH_4_1, true, out);
}
static sinew_status write_vtu(const sn_mesh_view *view, sn_buffer *out) {
    return sn_write_vtu(view, NULL, NULL, out);
}
static sinew_status write_vtu_compressed(const sn_mesh_view *view, sn_buffer *out) {
    return sn_write_vtu(view, NULL, &(sn_vtu_options){.compress = true}, out);
}

enum { SAMPLES = 10 };
static void make_samples(sample out[SAMPLES]) {
    const sample samples[SAMPLES] = {
        {"a.obj", surface_view(), true, false, true, write_obj},
        {"a.ply", surface_view(), false, false, true, write_ply},
        {"a.stl", surface_view(), false, false, false, sn_write_stl},
        {"a.msh", volume_view(true), true, true, true, write_msh2},
        {"b.msh", volume_view(true), true, true, true, write_msh2_binary},
        {"c.msh", volume_view(true), true, true, true, write_msh4},
        {"d.msh", volume_view(true), true, true, true, write_msh4_binary},
        {"a.mesh", volume_view(false), true, false, true, sn_write_medit},
        {"a.vtu", volume_view(true), true, false, true, write_vtu},
        {"b.vtu", volume_view(true), true, false, true, write_vtu_compressed},
    };

    memcpy(out, samples, sizeof samples);
}

static void compare_cells(const char *name, const sn_mesh_view *a, const sn_mesh_view *b,
                          bool labels) {
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        if (a->cells[kind].count != b->cells[kind].count) {
            fail_msg("%s: %d cells of kind %d, expected %d", name, a->cells[kind].count, kind,
                     b->cells[kind].count);
        }

        size_t count = (size_t)a->cells[kind].count;
        if (!count) {
            continue;
        }

        assert_memory_equal(a->cells[kind].nodes, b->cells[kind].nodes,
                            count * (size_t)sn_cell_node_count(kind) * 4);
        if (labels) {
            assert_memory_equal(a->cells[kind].labels, b->cells[kind].labels, count * 4);
        }
    }
}

static void test_round_trips(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sample samples[SAMPLES];

    make_samples(samples);
    for (int i = 0; i < SAMPLES; i++) {
        const sample *s = &samples[i];
        sn_buffer out = sn_buffer_create(context);

        assert_int_equal(s->write(&s->view, &out), SINEW_OK);
        sn_source source = {.name = s->name, .data = out.data, .size = out.size};
        sn_mesh_file file;
        if (sn_mesh_read(context, &source, &file) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(context));
        }

        assert_int_equal(file.reversed_count, 0);
        if (s->exact) {
            assert_int_equal(file.view.point_count, POINTS);
            assert_memory_equal(file.view.points, points, sizeof points);

            // OBJ counts its groups from 1: compare what the labels name instead.
            bool renumbered = file.format == SN_MESH_OBJ;

            compare_cells(s->name, &file.view, &s->view, s->labels && !renumbered);
            if (renumbered) {
                assert_string_equal(file.view.groups[file.view.cells[0].labels[0] - 1].name,
                                    "skin & bone");
                assert_string_equal(file.view.groups[file.view.cells[0].labels[1] - 1].name,
                                    "other");
            }
        }

        if (s->groups) {
            assert_int_equal(file.view.group_count, 4);
            for (int g = 0; g < 4; g++) {
                assert_string_equal(file.view.groups[g].name, groups[g].name);
                assert_int_equal(file.view.groups[g].label, groups[g].label);
                assert_int_equal(file.view.groups[g].dimension, groups[g].dimension);
            }
        }

        sn_mesh_file_destroy(&file);
        sn_buffer_destroy(&out);
    }

    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

// STL repeats its corners in single precision: two triangles that share an edge become four points
// again.
static void test_stl_welds(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_buffer out = sn_buffer_create(context);
    sn_mesh_view view = surface_view();

    assert_int_equal(sn_write_stl(&view, &out), SINEW_OK);
    sn_mesh_file file;
    sn_source source = {.name = "a.stl", .data = out.data, .size = out.size};

    assert_int_equal(sn_mesh_read(context, &source, &file), SINEW_OK);
    static const int32_t expected[] = {0, 1, 2, 0, 2, 3};

    assert_int_equal(file.view.point_count, 4);
    assert_memory_equal(file.view.cells[0].nodes, expected, sizeof expected);
    for (int k = 0; k < 3; k++) {
        assert_true(file.view.points[k] == (double)(float)points[k]);
    }

    sn_mesh_file_destroy(&file);
    sn_buffer_destroy(&out);
    sinew_context_destroy(context);
}

static void test_corners(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_mesh_view view = surface_view();

    view.uvs = (sn_mesh_corners){4, uvs, uv_indices};
    view.normals = (sn_mesh_corners){2, normals, normal_indices};

    sn_buffer out = sn_buffer_create(context);
    assert_int_equal(sn_write_obj(&view, false, &out), SINEW_OK);

    sn_mesh_file file;
    sn_source source = {.name = "a.obj", .data = out.data, .size = out.size};

    assert_int_equal(sn_mesh_read(context, &source, &file), SINEW_OK);
    assert_int_equal(file.view.uvs.count, 4);
    assert_memory_equal(file.view.uvs.values, uvs, sizeof uvs);
    assert_memory_equal(file.view.uvs.indices, uv_indices, sizeof uv_indices);
    assert_memory_equal(file.view.normals.values, normals, sizeof normals);
    assert_memory_equal(file.view.normals.indices, normal_indices, sizeof normal_indices);
    sn_mesh_file_destroy(&file);

    // PLY keeps normals that belong to points.
    view.uvs = (sn_mesh_corners){0};
    view.normals = (sn_mesh_corners){POINTS, points, triangles};
    sn_buffer_clear(&out);
    assert_int_equal(sn_write_ply(&view, false, &out), SINEW_OK);
    source = (sn_source){.name = "a.ply", .data = out.data, .size = out.size};
    assert_int_equal(sn_mesh_read(context, &source, &file), SINEW_OK);
    assert_int_equal(file.view.normals.count, POINTS);
    assert_memory_equal(file.view.normals.values, points, sizeof points);
    sn_mesh_file_destroy(&file);
    sn_buffer_destroy(&out);
    sinew_context_destroy(context);
}

static bool fetch_ele(void *user, const char *name, const void **data, size_t *size) {
    const sn_buffer *ele = user;
    if (!ele || strcmp(name, "a.ele") != 0) {
        return false;
    }

    *data = ele->data;
    *size = ele->size;

    return true;
}

static void test_tetgen(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int quadratic = 0; quadratic < 2; quadratic++) {
        sn_mesh_view view = {.point_count = POINTS, .points = points};
        if (quadratic) {
            view.cells[SINEW_ELEMENT_TET10] = (sn_mesh_cells){1, tet10s, tet10_labels};
        } else {
            view.cells[SINEW_ELEMENT_TET4] = (sn_mesh_cells){2, tets, tet_labels};
        }

        sn_buffer node = sn_buffer_create(context);
        sn_buffer ele = sn_buffer_create(context);

        assert_int_equal(sn_write_tetgen(&view, &node, &ele), SINEW_OK);
        sn_source source = {"a.node", node.data, node.size, fetch_ele, &ele, false};
        sn_mesh_file file;
        if (sn_mesh_read(context, &source, &file) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(context));
        }

        assert_memory_equal(file.view.points, points, sizeof points);
        compare_cells("a.node", &file.view, &view, true);
        sn_mesh_file_destroy(&file);
        source.fetch = NULL;
        assert_int_equal(sn_mesh_read(context, &source, &file), SINEW_NOT_FOUND);
        assert_non_null(strstr(sinew_context_message(context), "a.ele"));
        sn_mesh_file_destroy(&file);
        sn_buffer_destroy(&node);
        sn_buffer_destroy(&ele);
    }

    // The middles as TetGen itself writes them: of the edges 23, 30, 01, 12, 13, 02.
    const char *nodes = "10 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 .5 0 .5\n6 .5 0 0\n7 0 .5 "
                        "0\n8 0 .5 .5\n9 .5 .5 0\n"
                        "10 0 0 .5\n# the end\n";
    sn_buffer ele = sn_buffer_create(context);

    sn_buffer_add_text(&ele, "1  10  0\n    1  1 3 4 2  5 6 7 8 9 10\n# the end\n");
    sn_source source = {"a.node", nodes, strlen(nodes), fetch_ele, &ele, false};
    sn_mesh_file file;

    assert_int_equal(sn_mesh_read(context, &source, &file), SINEW_OK);
    static const int edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
    const int32_t *n = file.view.cells[SINEW_ELEMENT_TET10].nodes;
    const double *x = file.view.points;

    for (int e = 0; e < 6; e++) {
        for (int k = 0; k < 3; k++) {
            double middle = (x[3 * n[edges[e][0]] + k] + x[3 * n[edges[e][1]] + k]) / 2;
            test_close("a middle", x[3 * n[4 + e] + k], middle, 0);
        }
    }

    sn_mesh_file_destroy(&file);
    sn_buffer_destroy(&ele);
    sinew_context_destroy(context);
}

// Elements that are numbered the other way round are turned, and counted.
static void test_turned(void **state) {
    (void)state;
    const char *text =
        "MeshVersionFormatted 2\nDimension\n3\nVertices 8\n0 0 0 0\n1 0 0 0\n1 1 0 0\n0 1 0 0\n0 0 "
        "1 0\n1 0 1 0\n"
        "1 1 1 0\n0 1 1 0\nTetrahedra 2\n1 2 4 5 1\n1 4 2 5 2\nHexahedra 1\n5 6 7 8 1 2 3 4 0\n"
        "Corners 1\n3\n# a comment\nEnd\n";
    sinew_context *context = test_context(1);
    sn_source source = {.name = "a.mesh", .data = text, .size = strlen(text)};
    sn_mesh_file file;

    if (sn_mesh_read(context, &source, &file) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }

    static const int32_t tet[] = {0, 1, 3, 4, 0, 1, 3, 4};
    static const int32_t hex[] = {0, 1, 2, 3, 4, 5, 6, 7};

    assert_int_equal(file.reversed_count, 2);
    assert_memory_equal(file.view.cells[SINEW_ELEMENT_TET4].nodes, tet, sizeof tet);
    assert_memory_equal(file.view.cells[SINEW_ELEMENT_HEX8].nodes, hex, sizeof hex);
    sn_mesh_file_destroy(&file);
    sinew_context_destroy(context);
}

// Polygons, quadrangles, comments, names, negative indices, continued lines: small files as people
// write them.
static void test_forms(void **state) {
    (void)state;
    const struct {
        const char *name, *text;
        int points, triangles, tets, label;
    } cases[] = {
        {"a.obj",
         "# cube\r\nmtllib x.mtl\r\no part\r\nv 0 0 0\r\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0 0.5 0.5 "
         "0.5\nvt 0\nf 1 2 3 4\nusemtl "
         "red wine\n"
         "f -4/1 -3/1 \\\n -2/1 # corner\n",
         4, 3, 0, 0},
        {"a.ply",
         "ply\r\nformat ascii 1.0\r\ncomment x\r\nelement vertex 4\r\nproperty float x\r\nproperty "
         "uchar red\r\nproperty "
         "float y\r\n"
         "property float z\r\nelement face 1\r\nproperty list uchar int vertex_index\r\nproperty "
         "int flag\r\nelement edge "
         "1\r\n"
         "property int a\r\nend_header\r\n0 9 0 0\r\n1 9 0 0\r\n1 9 1 0\r\n0 9 1 0\r\n4 0 1 2 3 "
         "7\r\n5\r\n",
         4, 2, 0, 0},
        {"a.stl",
         "solid a b\nfacet normal nan nan nan\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
         "0\nendloop\nendfacet\nendsolid a b\n"
         "solid two\nendsolid\n",
         3, 1, 0, 1},
        {"a.msh",
         "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Comments\nhello $ x\n$EndComments\n$Nodes\n4\n10 "
         "0 0 0\n7 1 0 0\n900000000 0 "
         "1 0\n"
         "3 0 0 1\n$EndNodes\n$Elements\n3\n1 15 2 0 1 10\n2 3 3 0 4 9 10 7 900000000 3\n3 4 2 0 6 "
         "10 7 900000000 "
         "3\n$EndElements\n",
         4, 2, 1, 4},
        {"x.unknown",
         "<VTKFile type='UnstructuredGrid'><!-- c --><UnstructuredGrid><Piece NumberOfPoints='4' "
         "NumberOfCells='3'><Points>"
         "<DataArray type='Float32' NumberOfComponents='3' format='ascii'>0 0 0 1 0 0 1 1 0 0 1 "
         "0</DataArray></Points><Cells>"
         "<DataArray type='Int64' Name='connectivity'>0 1 2 3 0 1 0 1 2</DataArray>"
         "<DataArray type='Int64' Name='offsets'>4 6 9</DataArray><DataArray type='UInt8' "
         "Name='types'>9 3 "
         "5</DataArray></Cells>"
         "<CellData><DataArray type='Int8' Name='medit:ref'>3 4 "
         "5</DataArray></CellData></Piece></UnstructuredGrid></VTKFile>",
         4, 3, 0, 3},
    };

    sinew_context *context = test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sn_source source = {
            .name = cases[i].name, .data = cases[i].text, .size = strlen(cases[i].text)};
        sn_mesh_file file;
        if (sn_mesh_read(context, &source, &file) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(context));
        }

        assert_int_equal(file.view.point_count, cases[i].points);
        assert_int_equal(file.view.cells[SINEW_ELEMENT_TRIANGLE].count, cases[i].triangles);
        assert_int_equal(file.view.cells[SINEW_ELEMENT_TET4].count, cases[i].tets);

        const int32_t *labels = file.view.cells[SINEW_ELEMENT_TRIANGLE].labels;
        if (cases[i].label) {
            assert_int_equal(labels[0], cases[i].label);
        }

        sn_mesh_file_destroy(&file);
    }

    sinew_context_destroy(context);
}

// A file cannot ask for more memory than it has bytes for.
static sinew_status read_mesh(sinew_context *context, const sn_source *source) {
    sn_mesh_file file;
    sinew_status status = sn_mesh_read(context, source, &file);
    if (status == SINEW_OUT_OF_MEMORY) {
        fail_msg("%s: %s", source->name, sinew_context_message(context));
    }

    sn_mesh_file_destroy(&file);
    return status;
}

#define MSH   "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define NODES "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
#define PLY                                                                                        \
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float " \
    "z\n"

static void test_refusals(void **state) {
    (void)state;
    const test_bad_file cases[] = {
        {"a.txt", "hello", SINEW_UNSUPPORTED, "a.txt: this is no mesh file"},
        {"a.obj", "", SINEW_INVALID_DATA, "a.obj: the file holds 0 points but no triangles"},
        {"a.obj", "v 0 0\n", SINEW_INVALID_DATA,
         "a.obj:1:6: found the end of the line, expected number 3 of 3 of a point"},
        {"a.obj", "v 0 0 nan\n", SINEW_INVALID_DATA, "a.obj:1:7: found \"nan\", expected number 3"},
        {"a.obj", "v 0 0 1e999\n", SINEW_INVALID_DATA, "a.obj:1:7: found \"1e999\""},
        {"a.obj", "v 0 0 0\nf 1 1 2\n", SINEW_INVALID_DATA,
         "a.obj:2:7: \"2\" is no point; 1 are defined above"},
        {"a.obj", "v 0 0 0\nf 1 1\n", SINEW_INVALID_DATA, "a.obj:2:2: a face of 2 corners"},
        {"a.obj", "v 0 0 0\nf 1 1 0\n", SINEW_INVALID_DATA, "a.obj:2:7: \"0\" is no point"},
        {"a.obj", "v 0 0 0\nf 1/1 1/1 1/1\n", SINEW_INVALID_DATA,
         "is no texture coordinate; 0 are defined"},
        {"a.obj", "\nusemlt x\n", SINEW_INVALID_DATA,
         "a.obj:2:1: unknown word \"usemlt\"; did you mean \"usemtl\"?"},
        {"a.obj", "cstype bezier\n", SINEW_UNSUPPORTED, "free-form surface"},
        {"a.ply", "plx\n", SINEW_INVALID_DATA, "a.ply:1:1: a PLY file starts with"},
        {"a.ply", PLY "end_header\n", SINEW_UNSUPPORTED, "no element \"face\""},
        {"a.ply",
         PLY "element face 99999999\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 "
             "0\n0 1 0\n3 0 1 2\n",
         SINEW_INVALID_DATA, "the header announces 99999999 of \"face\""},
        {"a.ply",
         PLY "element face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 "
             "0\n3 0 1 3\n",
         SINEW_INVALID_DATA,
         "a.ply:13:7: a point's index is \"3\"; valid is a whole number from 0 to 2"},
        {"a.ply", PLY "element face 1\nproperty list float int vertex_index\nend_header\n",
         SINEW_INVALID_DATA, "a.ply:8:15: the length of a list must be of an integer type"},
        {"a.ply", PLY "element face 1\nproperty list uchar int64 vertex_index\nend_header\n",
         SINEW_INVALID_DATA, "unknown type \"int64\""},
        {"a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 x\n", SINEW_INVALID_DATA,
         "a.stl:4:12: found \"x\""},
        {"a.stl", "solid\nfacets\n", SINEW_INVALID_DATA, "expected \"facet\" or \"endsolid\""},
        {"a.msh", "$MeshFormat\n4.0 0 8\n$EndMeshFormat\n", SINEW_UNSUPPORTED,
         "version \"4.0\" is not read; 2.2 and 4.1 are"},
        {"a.msh", MSH "$Nodes\n999999999999\n", SINEW_INVALID_DATA,
         "a.msh:5:1: the number of nodes is 999999999999"},
        {"a.msh", MSH "$Nodes\n-1\n", SINEW_INVALID_DATA, "the number of nodes is -1"},
        {"a.msh", MSH "$Nodes\n2\n1 0 0 0\n1 0 0 0\n$EndNodes\n", SINEW_INVALID_DATA,
         "the node tag 1 occurs twice"},
        {"a.msh", MSH NODES "$Elements\n1\n1 4 0 1 2 3 5\n$EndElements\n", SINEW_INVALID_DATA,
         "a.msh:13:1: a tetrahedron refers to node 5"},
        {"a.msh", MSH NODES "$Elements\n1\n1 6 0 1 2 3 4 1 2\n$EndElements\n", SINEW_UNSUPPORTED,
         "type 6 (prism)"},
        {"a.msh", MSH NODES "$Elements\n1\n1 4 0 1 2 3 4\n$EndElement\n", SINEW_INVALID_DATA,
         "expected $EndElements"},
        {"a.msh", MSH NODES, SINEW_INVALID_DATA, "the file has no section $Elements"},
        {"a.msh", MSH "$Elements\n", SINEW_INVALID_DATA, "$Elements comes before $Nodes"},
        {"a.msh", MSH "$Nodes\n1\n1 0 0 inf\n$EndNodes\n", SINEW_INVALID_DATA,
         "a.msh:6:7: found \"inf\""},
        {"a.msh", MSH "$Stuff\n1 2 3\n", SINEW_INVALID_DATA, "the section $Stuff is never closed"},
        {"a.mesh", "MeshVersionFormatted 1\nDimension 2\n", SINEW_UNSUPPORTED,
         "a.mesh:2:1: dimension 2"},
        {"a.mesh",
         "MeshVersionFormatted 1\nDimension 3\nVertices\n1\n0 0 0 0\nTriangles 1\n1 1 2 0\nEnd",
         SINEW_INVALID_DATA, "item 1 of Triangles refers to vertex 2; there are 1 to 1"},
        {"a.mesh", "MeshVersionFormatted 1\nDimension 3\nVertices\n1000000000\n",
         SINEW_INVALID_DATA, "1000000000 items"},
        {"a.mesh", "MeshVersionFormatted 1\nDimension 3\n", SINEW_INVALID_DATA,
         "the file ends without the word End"},
        {"a.node", "1 2 0 0\n", SINEW_INVALID_DATA, "a.node:1:1: dimension 2"},
        {"a.vtu", "<VTKFile type=\"PolyData\">", SINEW_UNSUPPORTED,
         "only UnstructuredGrid is read"},
        {"a.vtu",
         "<VTKFile type=\"UnstructuredGrid\"><Piece NumberOfPoints=\"99999999999\" "
         "NumberOfCells=\"1\">",
         SINEW_INVALID_DATA, "NumberOfPoints is \"99999999999\", which the file cannot hold"},
        {"a.vtu", "<x>", SINEW_INVALID_DATA, "a.vtu:1:1: a VTK file starts with <VTKFile"},
        {"a.vtu", "<VTKFile type=UnstructuredGrid>", SINEW_INVALID_DATA, "must be in quotes"},
    };

    test_bad_files(read_mesh, cases, sizeof cases / sizeof *cases);
}

static void test_truncated_and_damaged(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sample samples[SAMPLES];

    make_samples(samples);
    for (int i = 0; i < SAMPLES; i++) {
        sn_buffer out = sn_buffer_create(context);
        assert_int_equal(samples[i].write(&samples[i].view, &out), SINEW_OK);
        test_damage(read_mesh, samples[i].name, &out, "0129-+.e \n$", 2000);
        sn_buffer_destroy(&out);
    }

    sinew_context_destroy(context);
}

static void test_not_finite(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sample samples[SAMPLES];

    make_samples(samples);
    double old = points[7];

    points[7] = NAN;
    for (int i = 0; i < SAMPLES; i++) {
        if (!samples[i].exact) {
            continue;
        }

        sn_buffer out = sn_buffer_create(context);
        assert_int_equal(samples[i].write(&samples[i].view, &out), SINEW_OK);

        sn_source source = {.name = samples[i].name, .data = out.data, .size = out.size};
        sn_mesh_file file;

        assert_int_equal(sn_mesh_read(context, &source, &file), SINEW_INVALID_DATA);
        const char *message = sinew_context_message(context);
        if (!strstr(message, "NaN") && !strstr(message, "\"nan\"")) {
            fail_msg("%s", message);
        }

        sn_mesh_file_destroy(&file);
        sn_buffer_destroy(&out);
    }

    points[7] = old;
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    sample samples[SAMPLES];

    make_samples(samples);
    for (int i = 0; i < SAMPLES; i++) {
        for (int64_t n = 1;; n++) {
            test_allocator allocator = {.fail_at = n};
            sinew_context *context = test_context_failing(&allocator);
            sinew_status status = SINEW_OUT_OF_MEMORY;

            if (context) {
                sn_buffer out = sn_buffer_create(context);
                status = samples[i].write(&samples[i].view, &out);
                if (status == SINEW_OK) {
                    sn_source source = {
                        .name = samples[i].name, .data = out.data, .size = out.size};
                    sn_mesh_file file;
                    status = sn_mesh_read(context, &source, &file);
                    sn_mesh_file_destroy(&file);
                }

                sn_buffer_destroy(&out);
                assert_int_equal(context->bytes_in_use, 0);
            }

            sinew_context_destroy(context);
            assert_int_equal(allocator.live, 0);
            if (status == SINEW_OK) {
                break;
            }

            if (status != SINEW_OUT_OF_MEMORY) {
                fail_msg("%s, allocation %d: %s", samples[i].name, (int)n,
                         sinew_status_name(status));
            }

            assert_true(n < 200);
        }
    }
}

static void test_writers_refuse(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_buffer out = sn_buffer_create(context);
    sn_mesh_view view = {.point_count = POINTS, .points = points};

    view.cells[SINEW_ELEMENT_TET10] = (sn_mesh_cells){1, tet10s, NULL};
    assert_int_equal(sn_write_mesh(&view, "a.obj", &out), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sn_write_mesh(&view, "a.mesh", &out), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sn_write_mesh(&view, "a.xyz", &out), SINEW_UNSUPPORTED);
    assert_int_equal(out.size, 0);
    assert_int_equal(sn_write_mesh(&view, "a.VTU", &out), SINEW_OK);
    sn_buffer_destroy(&out);
    sinew_context_destroy(context);
}

static void test_tables(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_buffer out = sn_buffer_create(context);

    sn_write_csv_names((const char *const[]){"time", "tip, x", "a \"b\""}, 3, &out);
    sn_write_csv_row((double[]){0.1, NAN, -2}, 3, &out);
    sn_buffer_add(&out, "", 1);
    assert_string_equal(out.data, "time,\"tip, x\",\"a \"\"b\"\"\"\n0.1,,-2\n");
    sn_buffer_clear(&out);
    sn_write_pc2_header(2, 3, 0, 1, &out);
    sn_write_pc2_frame((double[]){1, 2, 3, 4, 5, 6}, 2, false, &out);
    assert_int_equal(out.size, 32 + 24);
    assert_memory_equal(
        out.data, "POINTCACHE2\0\1\0\0\0\2\0\0\0\0\0\0\0\0\0\x80\x3F\3\0\0\0\0\0\x80\x3F", 36);
    sn_buffer_clear(&out);
    sn_write_pvd((const char *const[]){"a&b.vtu"}, (double[]){0.25}, 1, &out);
    sn_buffer_add(&out, "", 1);
    assert_non_null(strstr(
        out.data, "<DataSet timestep=\"0.25\" group=\"\" part=\"0\" file=\"a&amp;b.vtu\"/>"));
    sn_buffer_destroy(&out);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_stl_welds),
        cmocka_unit_test(test_corners),
        cmocka_unit_test(test_tetgen),
        cmocka_unit_test(test_turned),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_truncated_and_damaged),
        cmocka_unit_test(test_memory_shortage),
        cmocka_unit_test(test_writers_refuse),
        cmocka_unit_test(test_tables),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
