// Writes one file of each kind, with values that follow from formulas, for programs that are not
// ours to read. The scripts test_foreign_*.py run this with a folder and compare what those
// programs say with the same formulas.
#include "support/test.h"

#include "io/gltf/gltf.h"
#include "io/mesh/mesh.h"
#include "io/mesh/write.h"
#include "io/volume/volume.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

static const char *folder = TEST_OUTPUT_DIR "/samples";

static void save(const char *name, sn_buffer *out) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(out->data, 1, out->size, file), out->size);
    assert_int_equal(fclose(file), 0);
    sn_buffer_destroy(out);
}

// A grid of N x N x N points on [0, 1]^3, six tets in each cell; label 1 below the middle, 2 above.
enum { N = 4, GRID = N * N * N, TETS = 6 * (N - 1) * (N - 1) * (N - 1) };
static double grid[3 * GRID];
static int32_t tets[4 * TETS], labels[TETS];

static void make_grid(void) {
    static const int corners[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                                      {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};
    for (int i = 0; i < GRID; i++) {
        grid[3 * i] = i % N / (N - 1.0);
        grid[3 * i + 1] = i / N % N / (N - 1.0);
        grid[3 * i + 2] = i / N / N / (N - 1.0);
    }

    int t = 0;
    for (int z = 0; z < N - 1; z++) {
        for (int y = 0; y < N - 1; y++) {
            for (int x = 0; x < N - 1; x++) {
                for (int k = 0; k < 6; k++, t++) {
                    for (int c = 0; c < 4; c++) {
                        int corner = corners[k][c];
                        tets[4 * t + c] = (x + (corner & 1)) +
                                          N * ((y + (corner >> 1 & 1)) + N * (z + (corner >> 2)));
                    }
                    labels[t] = z < 1 ? 1 : 2;
                }
            }
        }
    }
}

static void write_volumes(sinew_context *context) {
    make_grid();
    double displacement[3 * GRID], energy[TETS], stress[6 * TETS];
    for (int i = 0; i < GRID; i++) {
        displacement[3 * i] = 0.1 * grid[3 * i + 1];
        displacement[3 * i + 1] = -0.2 * grid[3 * i];
        displacement[3 * i + 2] = grid[3 * i + 2] / 3;
    }

    for (int i = 0; i < TETS; i++) {
        energy[i] = 1.0 / (i + 1);
        for (int k = 0; k < 6; k++) {
            stress[6 * i + k] = i + 0.125 * k;
        }
    }

    sn_field point_fields[] = {{"displacement", 3, displacement}};
    sn_field cell_fields[] = {{"strain energy", 1, energy}, {"stress", 6, stress}};
    sn_fields fields = {1, 2, point_fields, cell_fields};
    sn_mesh_group groups[] = {{"lower", 3, 1}, {"upper", 3, 2}};
    sn_mesh_view view = {.point_count = GRID, .points = grid, .group_count = 2, .groups = groups};

    view.cells[SINEW_ELEMENT_TET4] = (sn_mesh_cells){TETS, tets, labels};
    sn_vtu_options options[] = {{false, false}, {true, false}, {false, true}};
    const char *names[] = {"plain.vtu", "compressed.vtu", "single.vtu"};

    for (int i = 0; i < 3; i++) {
        sn_buffer out = sn_buffer_create(context);
        assert_int_equal(sn_write_vtu(&view, &fields, &options[i], &out), SINEW_OK);
        save(names[i], &out);
    }

    sn_buffer out = sn_buffer_create(context);
    assert_int_equal(sn_write_pvd(names, (double[]){0, 0.5, 1.5}, 3, &out), SINEW_OK);
    save("series.pvd", &out);

    for (int version = 0; version < 2; version++) {
        for (int binary = 0; binary < 2; binary++) {
            char name[32];
            snprintf(name, sizeof name, "grid_%d%s.msh", version ? 41 : 22,
                     binary ? "_binary" : "");
            out = sn_buffer_create(context);
            assert_int_equal(sn_write_gmsh(&view, (sn_gmsh_version)version, binary, &out),
                             SINEW_OK);
            save(name, &out);
        }
    }

    out = sn_buffer_create(context);
    assert_int_equal(sn_write_medit(&view, &out), SINEW_OK);
    save("grid.mesh", &out);
}

// One tet of 10 nodes and one hexahedron: the order of nodes shows in the volumes that VTK
// computes.
static void write_other_kinds(sinew_context *context) {
    static const double points[] = {0,   0,   0,   1, 0, 0,   0, 1, 0, 0,   0,   1, 0.5, 0,
                                    0,   0.5, 0.5, 0, 0, 0.5, 0, 0, 0, 0.5, 0.5, 0, 0.5, 0,
                                    0.5, 0.5, 2,   0, 0, 3,   0, 0, 3, 1,   0,   2, 1,   0,
                                    2,   0,   1,   3, 0, 1,   3, 1, 1, 2,   1,   1};
    static const int32_t tet[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const int32_t hex[] = {10, 11, 12, 13, 14, 15, 16, 17};
    sn_mesh_view view = {.point_count = 18, .points = points};

    view.cells[SINEW_ELEMENT_TET10] = (sn_mesh_cells){1, tet, NULL};
    view.cells[SINEW_ELEMENT_HEX8] = (sn_mesh_cells){1, hex, NULL};

    sn_buffer out = sn_buffer_create(context);
    assert_int_equal(sn_write_vtu(&view, NULL, NULL, &out), SINEW_OK);
    save("kinds.vtu", &out);

    for (int version = 0; version < 2; version++) {
        out = sn_buffer_create(context);
        assert_int_equal(sn_write_gmsh(&view, (sn_gmsh_version)version, false, &out), SINEW_OK);
        save(version ? "kinds_41.msh" : "kinds_22.msh", &out);
    }
}

// An octahedron with half axes 1, 2 and 3.
static const double octahedron[] = {1, 0, 0, -1, 0, 0, 0, 2, 0, 0, -2, 0, 0, 0, 3, 0, 0, -3};
static const int32_t faces[] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4,
                                2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};

static void write_surfaces(sinew_context *context) {
    sn_mesh_view view = {.point_count = 6, .points = octahedron};
    view.cells[SINEW_ELEMENT_TRIANGLE] = (sn_mesh_cells){8, faces, NULL};

    sn_buffer out = sn_buffer_create(context);
    assert_int_equal(sn_write_obj(&view, true, &out), SINEW_OK);
    save("octahedron.obj", &out);
    out = sn_buffer_create(context);
    assert_int_equal(sn_write_ply(&view, false, &out), SINEW_OK);
    save("octahedron.ply", &out);
    out = sn_buffer_create(context);
    assert_int_equal(sn_write_stl(&view, &out), SINEW_OK);
    save("octahedron.stl", &out);
}

// The octahedron grows: at time k / 2 it is 1 + k times as large.
static void write_frames(sinew_context *context) {
    double grown[4][18];
    const double *frames[4];
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 18; i++) {
            grown[k][i] = (1 + k) * octahedron[i];
        }
        frames[k] = grown[k];
    }

    double normals[18];
    for (int i = 0; i < 18; i++) {
        normals[i] = octahedron[i];
    }

    sn_glb_frames film = {.name = "octahedron",
                          .point_count = 6,
                          .index_count = 24,
                          .frame_count = 4,
                          .indices = faces,
                          .frames = frames,
                          .times = (double[]){0, 0.5, 1, 1.5},
                          .normals = normals,
                          .material = {"red", {0.8, 0.1, 0.1, 1}, 0, 0.6, false}};
    sn_buffer out = sn_buffer_create(context);

    assert_int_equal(sn_write_glb_frames(&film, 1, &out), SINEW_OK);
    save("frames.glb", &out);
    film.frame_count = 1;
    out = sn_buffer_create(context);
    assert_int_equal(sn_write_glb_frames(&film, 1, &out), SINEW_OK);
    save("still.glb", &out);
}

// A bar along y from 0 to 2 on nine joints 0.25 apart, each weighing on the ring at its height;
// joint 4 (at y = 1) turns a quarter about z within a second, and the root moves along x. Nine
// joints with two sets of weights.
static void write_skin(sinew_context *context) {
    enum { JOINTS = 9, RINGS = 9 };
    double points[RINGS * 4 * 3], weights[RINGS * 4 * 8] = {0}, inverse[JOINTS * 16] = {0};
    int32_t joints[RINGS * 4 * 8] = {0}, indices[(RINGS - 1) * 8 * 3], skin_joints[JOINTS];

    for (int ring = 0; ring < RINGS; ring++) {
        for (int k = 0; k < 4; k++) {
            int i = 4 * ring + k;
            points[3 * i] = k == 0 || k == 3 ? -0.1 : 0.1;
            points[3 * i + 1] = 0.25 * ring;
            points[3 * i + 2] = k < 2 ? -0.1 : 0.1;

            for (int j = 0; j < 8; j++) {
                joints[8 * i + j] = j;
            }

            int heavy = ring < 8 ? ring : 7;
            joints[8 * i + heavy] = ring;
            weights[8 * i + heavy] = 3; // made 1 by the writer
        }
    }

    for (int ring = 0, at = 0; ring < RINGS - 1; ring++) {
        for (int k = 0; k < 4; k++) {
            int a = 4 * ring + k;
            int b = 4 * ring + (k + 1) % 4;
            const int32_t quad[] = {a, a + 4, b, b, a + 4, b + 4};
            for (int c = 0; c < 6; c++) {
                indices[at++] = quad[c];
            }
        }
    }

    sn_gltf_node nodes[JOINTS + 1];
    nodes[0] = sn_gltf_default_node("bar");
    nodes[0].mesh = nodes[0].skin = 0;

    for (int j = 0; j < JOINTS; j++) {
        nodes[j + 1] = sn_gltf_default_node("joint");
        nodes[j + 1].parent = j ? j : -1;
        nodes[j + 1].translation[1] = j ? 0.25 : 0;
        skin_joints[j] = j + 1;

        for (int k = 0; k < 4; k++) {
            inverse[16 * j + 5 * k] = 1;
        }

        inverse[16 * j + 13] = -0.25 * j;
    }

    const double times[] = {0, 1};
    const double turns[] = {0, 0, 0, 1, 0, 0, sqrt(0.5), sqrt(0.5)};
    const double moves[] = {0, 0, 0, 2, 0, 0};
    sn_gltf_primitive primitive = {.point_count = RINGS * 4,
                                   .points = points,
                                   .joint_sets = 2,
                                   .joints = joints,
                                   .weights = weights,
                                   .index_count = (RINGS - 1) * 24,
                                   .indices = indices,
                                   .material = -1};
    sn_gltf_mesh mesh = {"bar", 1, &primitive};
    sn_gltf_skin skin = {"bones", JOINTS, skin_joints, inverse};
    sn_gltf_channel channels[] = {{5, SN_GLTF_ROTATION, SN_GLTF_LINEAR, 2, 4, times, turns},
                                  {1, SN_GLTF_TRANSLATION, SN_GLTF_LINEAR, 2, 3, times, moves}};
    sn_gltf_animation animation = {"bend", 2, channels};
    sn_gltf gltf = {JOINTS + 1, 1, 1, 1, 0, nodes, &mesh, &skin, &animation, NULL};
    sn_buffer out = sn_buffer_create(context);

    assert_int_equal(sn_write_glb(&gltf, &out), SINEW_OK);
    save("skin.glb", &out);
}

static void write_cache(sinew_context *context) {
    sn_buffer out = sn_buffer_create(context);
    sn_write_pc2_header(6, 4, 1, 1, &out);
    for (int k = 0; k < 4; k++) {
        double grown[18];
        for (int i = 0; i < 18; i++) {
            grown[i] = (1 + k) * octahedron[i];
        }
        sn_write_pc2_frame(grown, 6, true, &out);
    }

    assert_int_equal(sn_buffer_status(&out), SINEW_OK);
    save("octahedron.pc2", &out);
}

// Cell (x, y, z) of 5 x 4 x 3 has the label 1 + x + 5 y + 20 z, but 0 where x = y; cells of 1 x 2 x
// 3 mm from (10, 20, 30) mm.
static void write_labels(sinew_context *context) {
    uint16_t labels[60];
    for (int i = 0; i < 60; i++) {
        labels[i] = (uint16_t)(i % 5 == i / 5 % 4 ? 0 : 1 + i);
    }

    sinew_label_grid grid = {.cells = {5, 4, 3},
                             .spacing = {0.001, 0.002, 0.003},
                             .lower = {0.01, 0.02, 0.03},
                             .labels16 = labels};
    sn_buffer out = sn_buffer_create(context);

    assert_int_equal(sn_write_nifti(&grid, &out), SINEW_OK);
    save("labels.nii", &out);
    out = sn_buffer_create(context);
    assert_int_equal(sn_write_nrrd(&grid, &out), SINEW_OK);
    save("labels.nrrd", &out);
}

static void test_write_samples(void **state) {
    (void)state;
    mkdir(folder, 0777);

    sinew_context *context = test_context(1);
    write_volumes(context);
    write_other_kinds(context);
    write_surfaces(context);
    write_frames(context);
    write_skin(context);
    write_cache(context);
    write_labels(context);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        folder = argv[1];
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_write_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
