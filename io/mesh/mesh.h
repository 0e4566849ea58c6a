// Meshes in files: points, triangles, tets, hexahedra, labels, names of groups. The mesh readers
// fill them, the mesh writers write them.
//
//   read   OBJ, PLY, STL, glTF/GLB, Gmsh .msh (2.2, 4.1), Medit .mesh, TetGen .node with .ele, VTU
//   write  the same (io/mesh/write.h, io/gltf/gltf.h)
//
// Points have z up. OBJ files have y up by custom and are rotated as they are read and written;
// glTF files keep their axes here, which their skeletons share (see sn_mesh_file_rotate_up).
//
// Readers are strict: counts must be plausible for the size of the file, coordinates must be
// finite, indices must exist. A failure names the file, the line and column or the byte, what was
// found and what would be valid. Time and memory are linear in the file. Polygons become fans of
// triangles, quadrilaterals two triangles.
#ifndef SN_IO_MESH_MESH_H
#define SN_IO_MESH_MESH_H

#include "sinew/mesh.h"

#include "io/bytes/buffer.h"
#include "io/bytes/source.h"

enum { SN_ELEMENT_KINDS = 4 }; // number of sinew_element values

typedef enum sn_mesh_format {
    SN_MESH_UNKNOWN,
    SN_MESH_OBJ,
    SN_MESH_PLY,
    SN_MESH_STL,
    SN_MESH_GLTF, // .gltf or .glb
    SN_MESH_GMSH,
    SN_MESH_MEDIT,
    SN_MESH_TETGEN,
    SN_MESH_VTU,
} sn_mesh_format;

static inline int32_t sn_cell_node_count(int kind) {
    static const int8_t counts[SN_ELEMENT_KINDS] = {3, 4, 10, 8};
    return counts[kind];
}

// Elements of one kind, nodes in the order of sinew_element.
typedef struct sn_mesh_cells {
    int32_t count;
    const int32_t *nodes;
    const int32_t *labels; // one each, or NULL
} sn_mesh_cells;

// The name of the elements of a dimension that have a label.
typedef struct sn_mesh_group {
    const char *name;
    int32_t dimension; // 2 or 3
    int32_t label;
} sn_mesh_group;

// Values at the corners of triangles, which need not be shared as the points are. `indices` has
// three per triangle.
typedef struct sn_mesh_corners {
    int32_t count;
    const double *values;
    const int32_t *indices; // NULL if there are none
} sn_mesh_corners;

typedef struct sn_mesh_view {
    int32_t point_count;
    const double *points; // [m], or the file's unit
    sn_mesh_cells cells[SN_ELEMENT_KINDS];
    sn_mesh_corners normals; // three numbers each
    sn_mesh_corners uvs;     // two numbers each
    int32_t group_count;
    const sn_mesh_group *groups;
} sn_mesh_view;

// A mesh that was read; it owns the arrays of the view.
typedef struct sn_mesh_file {
    sn_mesh_view view;
    sn_mesh_format format;
    bool rotated;           // from y up, as the file has it, to z up
    int32_t reversed_count; // elements of negative volume, whose nodes were reordered
    sn_arena arena;
    sn_buffer points, normals, uvs, triangle_normals, triangle_uvs, groups;
    sn_buffer nodes[SN_ELEMENT_KINDS], labels[SN_ELEMENT_KINDS];
    bool has_labels;
} sn_mesh_file;

// "OBJ", "Gmsh", ...
const char *sn_mesh_format_name(sn_mesh_format format);

// Detects the format by content if it has a magic word, otherwise by the extension of the name.
sn_mesh_format sn_mesh_detect(const sn_source *source);

// Reads a mesh of any format. `file` must be destroyed in every case.
sinew_status sn_mesh_read(sinew_context *context, const sn_source *source, sn_mesh_file *file);

// Reads a given format. For TetGen the source is the .node file; the .ele file of the same name is
// fetched.
sinew_status sn_mesh_read_format(sinew_context *context, const sn_source *source,
                                 sn_mesh_format format, sn_mesh_file *file);

void sn_mesh_file_destroy(sn_mesh_file *file);

// Coordinates of a file with y up, as z up, and back. Exact but for the sign of zero.
static inline void sn_rotate_y_to_z(const double from[3], double to[3]) {
    double y = from[1], z = from[2];
    to[0] = from[0];
    to[1] = 0 - z; // never -0
    to[2] = y;
}
static inline void sn_rotate_z_to_y(const double from[3], double to[3]) {
    double y = from[1], z = from[2];
    to[0] = from[0];
    to[1] = z;
    to[2] = 0 - y;
}

// Gives points and normals z up, for a file whose own up axis is `axis` ('y' or 'z').
void sn_mesh_file_rotate_up(sn_mesh_file *file, char axis);

// A view of a mesh of one element kind; it borrows the mesh's arrays.
sn_mesh_view sn_mesh_view_of(const sinew_mesh *mesh);

#endif
