// Writes meshes into a buffer, which the program then stores in a file. A mesh that the format
// cannot represent is an error that says why. Running out of memory is reported in the status, too.
#ifndef SN_IO_MESH_WRITE_H
#define SN_IO_MESH_WRITE_H

#include "sinew/io/mesh_file.h"

#include "io/mesh/mesh.h"

// A named quantity for each point or each cell. Cells are ordered by kind, in the order of
// sinew_element. Six components are a symmetric tensor in VTK's order XX YY ZZ XY YZ XZ, and are
// named like that in VTU files.
typedef sinew_values sn_field;

typedef struct sn_fields {
    int32_t point_count, cell_count; // fields, not values
    const sn_field *point, *cell;
} sn_fields;

typedef struct sn_vtu_options {
    bool compress; // with zlib, if the build has it
    bool single;   // numbers of 32 bits: half the size
} sn_vtu_options;

// VTU for ParaView, arrays appended in raw form. Labels become the cell array "label". `fields` and
// `options` may be NULL.
sinew_status sn_write_vtu(const sn_mesh_view *mesh, const sn_fields *fields,
                          const sn_vtu_options *options, sn_buffer *out);

// A .pvd: VTU files over time. names[i] holds the state at times[i], in seconds.
sinew_status sn_write_pvd(const char *const *names, const double *times, int32_t count,
                          sn_buffer *out);

// Triangles with their texture coordinates, normals and groups; y up, as Blender and others expect
// it. If `single`, with the digits of a float.
sinew_status sn_write_obj(const sn_mesh_view *mesh, bool single, sn_buffer *out);

// Triangles, binary, little-endian. Normals are written if they belong to points.
sinew_status sn_write_ply(const sn_mesh_view *mesh, bool single, sn_buffer *out);

// Triangles, binary.
sinew_status sn_write_stl(const sn_mesh_view *mesh, sn_buffer *out);

typedef enum sn_gmsh_version { SN_GMSH_2_2, SN_GMSH_4_1 } sn_gmsh_version;

// All elements; labels above 0 become physical groups, with the names of the groups.
sinew_status sn_write_gmsh(const sn_mesh_view *mesh, sn_gmsh_version version, bool binary,
                           sn_buffer *out);

// All elements but tets of 10 nodes.
sinew_status sn_write_medit(const sn_mesh_view *mesh, sn_buffer *out);

// Tets of 4 or of 10 nodes, not both.
sinew_status sn_write_tetgen(const sn_mesh_view *mesh, sn_buffer *node, sn_buffer *ele);

// Writes a mesh in the format of the name's extension (.vtu, .obj, .ply, .stl, .msh, .mesh). Not
// for .glb and .node.
sinew_status sn_write_mesh(const sn_mesh_view *mesh, const char *name, sn_buffer *out);

// PC2 point cache (Blender's Mesh Cache): the header, then all frames of `point_count` points each.
// Times are in frames. y up, as the OBJ file that a cache belongs to: points with `z_up` are
// rotated.
void sn_write_pc2_header(int32_t point_count, int32_t frame_count, float start, float rate,
                         sn_buffer *out);
void sn_write_pc2_frame(const double *points, int32_t point_count, bool z_up, sn_buffer *out);

// CSV (RFC 4180): a line of names, then lines of numbers. Numbers that are not finite are left
// empty.
void sn_write_csv_names(const char *const *names, int32_t count, sn_buffer *out);
void sn_write_csv_row(const double *values, int32_t count, sn_buffer *out);

#endif
