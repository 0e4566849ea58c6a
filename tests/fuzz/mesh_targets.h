// Fuzz targets of the mesh readers. An accepted mesh is written as VTU and read again, and must
// come back with the same cells.
#ifndef SN_TESTS_FUZZ_MESH_TARGETS_H
#define SN_TESTS_FUZZ_MESH_TARGETS_H

#include "fuzz/fuzz.h"
#include "io/mesh/mesh.h"
#include "io/mesh/write.h"

static inline void fuzz_rewrite_mesh(sinew_context *context, const sn_mesh_view *view) {
    sn_buffer out = sn_buffer_create(context);
    FUZZ_REQUIRE(sn_write_vtu(view, NULL, NULL, &out) == SINEW_OK);

    sn_source source = {.name = "again.vtu", .data = out.data, .size = out.size};
    sn_mesh_file again;

    FUZZ_REQUIRE(sn_mesh_read(context, &source, &again) == SINEW_OK);
    FUZZ_REQUIRE(again.view.point_count == view->point_count && again.reversed_count == 0);
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        size_t size =
            (size_t)view->cells[kind].count * (size_t)sn_cell_node_count(kind) * sizeof(int32_t);
        FUZZ_REQUIRE(again.view.cells[kind].count == view->cells[kind].count);
        FUZZ_REQUIRE(size == 0 ||
                     memcmp(again.view.cells[kind].nodes, view->cells[kind].nodes, size) == 0);
    }

    sn_mesh_file_destroy(&again);
    sn_buffer_destroy(&out);
}

static inline void fuzz_mesh(const sn_source *source, sn_mesh_format format) {
    sinew_context *context = fuzz_context();
    sn_mesh_file file;
    sinew_status status = sn_mesh_read_format(context, source, format, &file);
    if (status == SINEW_OK) {
        fuzz_rewrite_mesh(context, &file.view);
    }

    sn_mesh_file_destroy(&file);
    fuzz_finish(context, status);
}

#define FUZZ_MESH(kind, format)                                                                    \
    static inline void fuzz_##kind(const uint8_t *data, size_t size) {                             \
        fuzz_mesh(&(sn_source){.name = #kind, .data = data, .size = size}, format);                \
    }

FUZZ_MESH(obj, SN_MESH_OBJ)
FUZZ_MESH(ply, SN_MESH_PLY)
FUZZ_MESH(stl, SN_MESH_STL)
FUZZ_MESH(gltf, SN_MESH_GLTF)
FUZZ_MESH(gmsh, SN_MESH_GMSH)
FUZZ_MESH(medit, SN_MESH_MEDIT)
FUZZ_MESH(vtu, SN_MESH_VTU)

static inline bool fuzz_fetch_rest(void *user, const char *name, const void **data, size_t *size) {
    const sn_source *rest = user;
    (void)name;
    *data = rest->data;
    *size = rest->size;
    return true;
}

// The .node file, a line of three dashes, the .ele file.
static inline void fuzz_tetgen(const uint8_t *data, size_t size) {
    size_t first;
    size_t second = fuzz_split(data, size, &first);
    sn_source rest = {.data = data + second, .size = size - second};
    fuzz_mesh(&(sn_source){"a.node", data, first, fuzz_fetch_rest, &rest, false}, SN_MESH_TETGEN);
}

#endif
