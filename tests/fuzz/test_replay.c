// Feeds every seed, whole and truncated, to its fuzz target; needs no fuzzer and runs in every
// build. With a folder as argument it instead writes the seeds that our own writers can make.
#include "support/test.h"

#include "fuzz/targets.h"
#include "io/gltf/gltf.h"

#include <dirent.h>
#include <stdio.h>

enum { LARGEST_SEED = 1 << 20 };

static uint8_t *load(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *data = malloc(LARGEST_SEED);
    *size = fread(data, 1, LARGEST_SEED, file);
    fclose(file);
    return data;
}

// Cut to each length up to 4000, in memory that ends where the bytes end.
static void replay(size_t target, const char *path) {
    size_t size;
    uint8_t *data = load(path, &size);
    for (size_t length = size < 4000 ? 0 : size;; length++) {
        uint8_t *copy = malloc(length ? length : 1);
        memcpy(copy, data, length);
        fuzz_targets[target].run(copy, length);
        free(copy);

        if (length >= size) {
            break;
        }
    }

    free(data);
}

static void test_replay_seeds(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof fuzz_targets / sizeof *fuzz_targets; i++) {
        char folder[512], path[1024];
        snprintf(folder, sizeof folder, TEST_CORPUS_DIR "/%s", fuzz_targets[i].name);

        DIR *listing = opendir(folder);
        if (!listing) {
            fail_msg("no seeds in %s", folder);
        }

        int count = 0;
        for (struct dirent *entry; (entry = readdir(listing));) {
            if (entry->d_name[0] == '.') {
                continue;
            }
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            replay(i, path);
            count++;
        }

        closedir(listing);
        assert_true(count > 0);
    }
}

static void save(const char *folder, const char *name, sn_buffer *out) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(out->data, 1, out->size, file), out->size);
    fclose(file);
    sn_buffer_clear(out);
}

static void write_seeds(const char *folder) {
    static const double points[] = {0,   0,   0, 1, 0,   0, 0, 1, 0,   0,   0, 1,   0.5, 0,   0,
                                    0.5, 0.5, 0, 0, 0.5, 0, 0, 0, 0.5, 0.5, 0, 0.5, 0,   0.5, 0.5};
    static const int32_t triangle[] = {0, 2, 1};
    static const int32_t tet[] = {0, 1, 2, 3};
    static const int32_t tet10[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const int32_t label[] = {7};
    static const sn_mesh_group group = {"g", 3, 7};
    sinew_context *context = test_context(1);
    sn_mesh_view view = {.point_count = 10, .points = points, .group_count = 1, .groups = &group};

    view.cells[SINEW_ELEMENT_TRIANGLE] = (sn_mesh_cells){1, triangle, label};
    sn_buffer out = sn_buffer_create(context);
    sn_buffer ele = sn_buffer_create(context);

    sn_write_ply(&view, true, &out);
    save(folder, "ply/binary.ply", &out);
    sn_write_stl(&view, &out);
    save(folder, "stl/binary.stl", &out);
    view.cells[SINEW_ELEMENT_TET4] = (sn_mesh_cells){1, tet, label};
    view.cells[SINEW_ELEMENT_TET10] = (sn_mesh_cells){1, tet10, label};

    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "gmsh/%d.msh", i);
        sn_write_gmsh(&view, (sn_gmsh_version)(i / 2), i % 2, &out);
        save(folder, name, &out);
    }

    for (int i = 0; i < 2; i++) {
        sn_write_vtu(&view, NULL, &(sn_vtu_options){.compress = i == 1, .single = true}, &out);
        save(folder, i ? "vtu/compressed.vtu" : "vtu/raw.vtu", &out);
    }

    view.cells[SINEW_ELEMENT_TET4] = (sn_mesh_cells){0};
    sn_write_tetgen(&view, &out, &ele);
    sn_buffer_add_text(&out, "---\n");
    sn_buffer_add(&out, ele.data, ele.size);
    save(folder, "tetgen/quadratic", &out);

    const double *frames[] = {points, points + 3};
    sn_write_glb_frames(&(sn_glb_frames){.name = "n",
                                         .point_count = 3,
                                         .index_count = 3,
                                         .frame_count = 2,
                                         .indices = triangle,
                                         .frames = frames,
                                         .times = (double[]){0, 1},
                                         .normals = points},
                        1, &out);
    save(folder, "gltf/frames.glb", &out);

    static const uint8_t labels[] = {0, 1, 2, 1, 0, 7};
    sinew_label_grid grid = {
        .cells = {3, 2, 1}, .spacing = {0.001, 0.002, 0.003}, .labels8 = labels};

    sn_write_nifti(&grid, &out);
    save(folder, "nifti/labels.nii", &out);
    sn_write_nrrd(&grid, &out);
    save(folder, "nrrd/labels.nrrd", &out);
    sn_buffer_destroy(&out);
    sn_buffer_destroy(&ele);
    sinew_context_destroy(context);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        write_seeds(argv[1]);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replay_seeds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
