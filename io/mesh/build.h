// Shared by the mesh readers: adding points and elements, and finishing a mesh.
#ifndef SN_IO_MESH_BUILD_H
#define SN_IO_MESH_BUILD_H

#include "io/mesh/mesh.h"

// Room for `count` more points or elements, to be filled by the caller. NULL if memory is short,
// which sn_mesh_finish reports.
double *sn_mesh_add_points(sn_mesh_file *file, size_t count);
int32_t *sn_mesh_add_nodes(sn_mesh_file *file, sinew_element element, size_t count);

void sn_mesh_add_point(sn_mesh_file *file, double x, double y, double z);

// One element and its label.
void sn_mesh_add_cell(sn_mesh_file *file, sinew_element element, const int32_t *nodes,
                      int32_t label);

// A polygon as a fan of triangles.
void sn_mesh_add_polygon(sn_mesh_file *file, const int32_t *nodes, int32_t count, int32_t label);

// Names the elements of a label. The first name for a label and dimension is kept.
void sn_mesh_add_group(sn_mesh_file *file, sn_word name, int32_t dimension, int32_t label);

static inline size_t sn_mesh_point_count(const sn_mesh_file *file) {
    return file->points.size / (3 * sizeof(double));
}

static inline size_t sn_mesh_cell_count(const sn_mesh_file *file, sinew_element element) {
    return file->labels[element].size / sizeof(int32_t);
}

// Checks what all formats must satisfy (finite coordinates, valid indices, at least one element,
// counts within int32), corrects the orientation of elements with negative volume, and sets the
// view.
sinew_status sn_mesh_finish(sinew_context *context, const sn_source *source, sn_mesh_file *file);

// Reads a number at text->at. The failure says what was found there and that `what` was expected.
sinew_status sn_mesh_read_integer(sinew_context *context, const sn_source *source, sn_text *text,
                                  const char *what, int64_t *out);
sinew_status sn_mesh_read_double(sinew_context *context, const sn_source *source, sn_text *text,
                                 const char *what, double *out);

// The failure that `what` needs more bytes than are left in the file.
sinew_status sn_mesh_fail_short(sinew_context *context, const sn_source *source, const void *at,
                                const char *what);

// The readers, each in its own file. `file` is empty, and can be destroyed whatever happens.
sinew_status sn_read_obj(sinew_context *context, const sn_source *source, sn_mesh_file *file);
sinew_status sn_read_ply(sinew_context *context, const sn_source *source, sn_mesh_file *file);
sinew_status sn_read_stl(sinew_context *context, const sn_source *source, sn_mesh_file *file);
sinew_status sn_read_gmsh(sinew_context *context, const sn_source *source, sn_mesh_file *file);
sinew_status sn_read_medit(sinew_context *context, const sn_source *source, sn_mesh_file *file);
sinew_status sn_read_tetgen(sinew_context *context, const sn_source *source, sn_mesh_file *file);
sinew_status sn_read_vtu(sinew_context *context, const sn_source *source, sn_mesh_file *file);
sinew_status sn_read_gltf_mesh(sinew_context *context, const sn_source *source, sn_mesh_file *file);

#endif
