// Meshes in files.
//
// Read : OBJ, PLY, STL, glTF/GLB, Gmsh .msh (2.2, 4.1), Medit .mesh, TetGen .node with .ele, VTU.
// Write: the same, .glb of glTF.
// Points have z up. OBJ and glTF files have y up and are rotated as they are read and written;
// where a file breaks with its format's custom, sinew_mesh_file_set_up says so. Readers are strict
// and state the line or the byte of a mistake; polygons become triangles.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_MESH_FILE_H
#define SINEW_IO_MESH_FILE_H

#include "sinew/io/bytes.h"
#include "sinew/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: what a mesh file holds, which may be elements of several kinds.
typedef struct sinew_mesh_file sinew_mesh_file;

/// Reads a mesh of any format, which is detected by its content or else by the ending of its name.
SINEW_API sinew_status sinew_mesh_file_read(sinew_context *context, const sinew_source *source,
                                            sinew_mesh_file **file);
/// Reads it from a path.
SINEW_API sinew_status sinew_mesh_file_load(sinew_context *context, const char *path,
                                            sinew_mesh_file **file);
/// NULL is allowed.
SINEW_API void sinew_mesh_file_destroy(sinew_mesh_file *file);

/// Whether a source looks like a mesh, by its first bytes and its name.
SINEW_API bool sinew_mesh_file_detect(const sinew_source *source);

/// Says which axis of the file points up, 'y' or 'z', and rotates the points to z up accordingly.
/// Only needed where it differs from the custom of the format: y for OBJ and glTF, z for others.
/// Meshes taken from the file before change with it.
SINEW_API sinew_status sinew_mesh_file_set_up(sinew_mesh_file *file, char axis);

/// "OBJ", "Gmsh", ... Static text.
SINEW_API const char *sinew_mesh_file_get_format(const sinew_mesh_file *file);

/// Its elements of one kind, possibly none. All kinds share the points, which are in the unit of
/// the file. The arrays are valid as long as the file.
SINEW_API sinew_mesh sinew_mesh_file_get_mesh(const sinew_mesh_file *file, sinew_element element);
/// Its elements of the first kind that it has of ten-node tets, hexahedra, tets and triangles.
/// Valid as long as the file.
SINEW_API sinew_mesh sinew_mesh_file_get_best(const sinew_mesh_file *file);

/// The name of the elements with a label, or NULL. `dimension` is 2 for triangles and 3 for solids.
/// Valid as long as the file.
SINEW_API const char *sinew_mesh_file_find_group(const sinew_mesh_file *file, int32_t dimension,
                                                 int32_t label);
/// Number of elements that had a negative volume and whose nodes were reordered. [count]
SINEW_API int32_t sinew_mesh_file_get_turned_count(const sinew_mesh_file *file);

/// Writes all of it, with its groups and texture coordinates where the format can hold them, in the
/// format of the name's ending: .vtu .obj .ply .stl .msh .mesh .glb, and TetGen's .node or .ele.
/// Content that the format cannot represent is an error.
SINEW_API sinew_status sinew_mesh_file_write(const sinew_mesh_file *file, const char *name,
                                             sinew_bytes *out);
/// Saves it; a .node brings its .ele along.
SINEW_API sinew_status sinew_mesh_file_save(const sinew_mesh_file *file, const char *path);

/// A named quantity for each point or each element.
typedef struct sinew_values {
    const char *name;
    /// Numbers per point or element. [count] At least 1. In VTU files, six components are named as
    /// those of a symmetric tensor in VTK's order: XX YY ZZ XY YZ XZ.
    int32_t components;
    const double *values; ///< `components` numbers for each point or element.
} sinew_values;

typedef struct sinew_mesh_write_def {
    /// VTU only: quantities at the points. Borrowed during the call. Default NULL.
    const sinew_values *point_values;
    int32_t point_value_count; ///< [count] Default 0.
    /// VTU only: quantities of the elements. Borrowed during the call. Default NULL.
    const sinew_values *element_values;
    int32_t element_value_count; ///< [count] Default 0.
    /// VTU only: whether to compress with zlib, if the build has it. Default true.
    bool compress;
    /// VTU, OBJ, PLY: whether to write 32-bit instead of 64-bit numbers. Default false.
    bool single;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_mesh_write_def;

SINEW_API sinew_mesh_write_def sinew_default_mesh_write_def(void);

/// Writes a mesh in the format of the name's ending, as sinew_mesh_file_write. `def` may be NULL.
SINEW_API sinew_status sinew_mesh_write(sinew_context *context, const sinew_mesh *mesh,
                                        const char *name, const sinew_mesh_write_def *def,
                                        sinew_bytes *out);
/// Saves it; a .node brings its .ele along. `def` may be NULL.
SINEW_API sinew_status sinew_mesh_save(sinew_context *context, const sinew_mesh *mesh,
                                       const char *path, const sinew_mesh_write_def *def);

#ifdef __cplusplus
}
#endif

#endif
