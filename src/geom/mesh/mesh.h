// Meshes inside the library: what the element kinds look like, meshes that own their arrays,
// volumes, checks.
//
// The builders of this module push what they return into the caller's arena and drop their scratch
// memory; a status other than SINEW_OK leaves outputs undefined, and the arena is freed by its
// owner as always.
#ifndef SN_GEOM_MESH_MESH_H
#define SN_GEOM_MESH_MESH_H

#include "sinew/mesh.h"

#include "base/memory.h"
#include "geom/search/box.h"

enum { SN_MAX_ELEMENT_NODES = 10, SN_MAX_FACE_NODES = 6, SN_MAX_FACES = 6 };

// The shape of an element kind. A face is listed so that its normal points outwards, corners first;
// the faces of a triangle are its edges.
typedef struct sn_element_info {
    const char *name;
    int32_t dimension; // 2 or 3
    int32_t nodes, corners;
    int32_t faces, face_nodes, face_corners;
    int8_t face[SN_MAX_FACES][SN_MAX_FACE_NODES];
} sn_element_info;

extern const sn_element_info sn_element_infos[4];

// The kind must be valid (sn_check_arrays tells).
static inline const sn_element_info *sn_element_info_of(sinew_element element) {
    return &sn_element_infos[element];
}

// Corner nodes of the middle nodes 4..9 of a tet10.
extern const int8_t sn_tet_edges[6][2];

// Node indices of element e.
static inline const int32_t *sn_mesh_nodes(const sinew_mesh *mesh, int32_t e) {
    return mesh->indices + (size_t)e * (size_t)sn_element_info_of(mesh->element)->nodes;
}

static inline sn_vec3 sn_mesh_point(const sinew_mesh *mesh, int32_t node) {
    return sn_load3(mesh->points + 3 * (size_t)node);
}

// A mesh that owns its arrays; what the library hands out points to `view`, its first member.
typedef struct sn_owned_mesh {
    sinew_mesh view;
    sn_arena arena; // holds this struct too
    double *points; // the arrays of `view`, writable
    int32_t *indices;
    int32_t *labels; // NULL without labels
    int32_t *nodes;  // of a surface: the volume's node of each point; NULL otherwise
} sn_owned_mesh;

// Zeroed arrays of the given counts. Freed by sinew_mesh_destroy(&mesh->view). Counts are checked
// against int32.
sinew_status sn_owned_mesh_create(sinew_context *context, sinew_element element, int64_t points,
                                  int64_t elements, bool with_labels, sn_owned_mesh **mesh);

// Six times the signed volume of a tet.
static inline double sn_tet_volume6(sn_vec3 a, sn_vec3 b, sn_vec3 c, sn_vec3 d) {
    return sn_dot(sn_cross(sn_sub(b, a), sn_sub(c, a)), sn_sub(d, a));
}

// Signed volume, of tet10 and hex8 by quadrature that is exact for them; the unsigned area in space
// of a triangle.
double sn_element_volume(const sinew_mesh *mesh, int32_t element);

// Smallest Jacobian determinant over the corners of a hexahedron, or over the corners and middles
// of a tet10; the constant one of a tet4; twice the area of a triangle. Positive everywhere checked
// means usable.
double sn_element_smallest_jacobian(const sinew_mesh *mesh, int32_t element);

// Sum over all elements, in index order for any number of threads.
double sn_mesh_volume(sinew_context *context, const sinew_mesh *mesh);

sn_box sn_mesh_box(const sinew_mesh *mesh);

// The checks of sinew_mesh_check one by one, so that a caller can leave some out. Each names the
// first culprit.
sinew_status sn_check_arrays(sinew_context *context,
                             const sinew_mesh *mesh); // pointers, counts, ranges, finite
sinew_status
sn_check_volumes(sinew_context *context,
                 const sinew_mesh *mesh); // positive everywhere, no node twice in an element
sinew_status sn_check_used(sinew_context *context,
                           const sinew_mesh *mesh); // every node has an element
sinew_status sn_check_distinct(sinew_context *context,
                               const sinew_mesh *mesh); // no element twice, two elements per face
sinew_status sn_check_plane(sinew_context *context,
                            const sinew_mesh *mesh); // triangles in one plane z, facing +z

#endif
