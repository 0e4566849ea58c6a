// Meshes: how they cross the API, simple shapes, tetrahedra from a closed surface, checks, quality,
// embedded surfaces.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_MESH_H
#define SINEW_MESH_H

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The kind of a mesh's elements. Nodes are numbered as in VTK; a valid element has positive volume
/// in that order.
typedef enum sinew_element {
    /// 3 nodes, counter-clockwise seen from outside (surfaces) or from +z (plane problems, in the
    /// plane z = 0).
    SINEW_ELEMENT_TRIANGLE,
    /// 4 nodes: (x1 - x0) x (x2 - x0) points towards node 3.
    SINEW_ELEMENT_TET4,
    /// 10 nodes: the corners as in TET4, then the middles of the edges 01, 12, 20, 03, 13, 23.
    SINEW_ELEMENT_TET10,
    /// 8 nodes: 0123 counter-clockwise seen from the inside, so that their normal points towards
    /// 4567; 4 lies above 0.
    SINEW_ELEMENT_HEX8,
} sinew_element;

/// Nodes of one element: 3, 4, 10 or 8.
SINEW_API int32_t sinew_element_node_count(sinew_element element);

/// A mesh as it enters and leaves the library. The struct does not own its arrays; those of a mesh
/// that the library made live until sinew_mesh_destroy. To use your own labels with a generated
/// mesh, copy the struct and set `labels`.
typedef struct sinew_mesh {
    /// Coordinates x0 y0 z0 x1 y1 z1 ... [m] Finite.
    const double *points;
    /// Number of points. [count]
    int32_t point_count;
    /// The kind of every element.
    sinew_element element;
    /// Node indices, sinew_element_node_count(element) for each element. In [0, point_count).
    const int32_t *indices;
    /// Number of elements. [count]
    int32_t element_count;
    /// One integer per element (a material, a part), or NULL.
    const int32_t *labels;
} sinew_mesh;

/// Destroys a mesh that the library made. NULL is allowed.
SINEW_API void sinew_mesh_destroy(sinew_mesh *mesh);

/// A copy that the library owns.
SINEW_API sinew_status sinew_mesh_copy(sinew_context *context, const sinew_mesh *mesh,
                                       sinew_mesh **copy);

/// Fails on anything a body cannot be made of: indices out of range, non-finite coordinates, zero
/// or negative volumes (areas of triangles), a repeated node in an element, a repeated element,
/// nodes without an element, more than two elements at a face. The message names the first offender
/// and its value.
SINEW_API sinew_status sinew_mesh_check(sinew_context *context, const sinew_mesh *mesh);

/// Generated shapes. Each fills a bounding box of given size around `center`.
typedef enum sinew_shape {
    SINEW_SHAPE_RECTANGLE, ///< In the plane z = center[2]; triangles only.
    SINEW_SHAPE_BOX,       ///< A block, a bar, a plate.
    SINEW_SHAPE_CYLINDER,  ///< Axis along z; elliptic if size[0] and size[1] differ.
    SINEW_SHAPE_SPHERE,    ///< An ellipsoid if the sizes differ.
    SINEW_SHAPE_TUBE,      ///< A hollow cylinder along z with a wall of `thickness`.
    SINEW_SHAPE_L, ///< Arms along x (below) and y (left), each `thickness` wide, extruded along z.
    SINEW_SHAPE_T, ///< A bar along x on top of a stem along y, each `thickness` wide, extruded
                   ///< along z.
    SINEW_SHAPE_U, ///< Two arms along y joined by a bar along x below, each `thickness` wide,
                   ///< extruded along z.
} sinew_shape;

typedef struct sinew_shape_def {
    /// Default box.
    sinew_shape shape;
    /// The elements to fill it with. TRIANGLE gives the closed surface of the solid, and is the
    /// only choice for a rectangle. Default TET4.
    sinew_element element;
    /// Centre of the bounding box. [m] Finite. Default 0.
    double center[3];
    /// Extents of the bounding box along x, y, z. [m] > 0. Default 1. A rectangle ignores the
    /// third.
    double size[3];
    /// Wall of a tube, width of the arms of L, T and U. [m] > 0, and less than would close the
    /// hollow. Default 0.25.
    double thickness;
    /// Cells along x, y, z. [count] 0, or at least 1 (3 across a cylinder or sphere, 3 around a
    /// tube; each arm and notch gets at least one). Default 0: chosen by `cell_size`. Cylinder:
    /// across the diameter, ignored, along the axis. Sphere: across the diameter, ignored, ignored.
    /// Tube: through the wall, around, along the axis.
    int32_t cells[3];
    /// Target size of a cell where `cells` is 0. [m] > 0. Default 0.1.
    double cell_size;
    /// Tets per cell: 5 (better angles; neighbouring cells are mirrored; a tube needs an even count
    /// around) or 6 (all cells of a box alike). Default 5.
    int32_t tets_per_cell;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_shape_def;

SINEW_API sinew_shape_def sinew_default_shape_def(void);

/// Creates the mesh of a shape. Curved shapes have their outer nodes on the true surface, and
/// straight edges.
SINEW_API sinew_status sinew_mesh_create_shape(sinew_context *context, const sinew_shape_def *def,
                                               sinew_mesh **mesh);

typedef struct sinew_voxel_mesh_def {
    /// Voxels along x, y, z. [count] At least 1.
    int32_t cells[3];
    /// Edges of a voxel. [m] > 0. Default 1.
    double spacing[3];
    /// Lower corner of voxel (0, 0, 0). [m] Finite. Default 0.
    double lower[3];
    /// One byte per voxel, x fastest; 0 is empty, any other value becomes the element's label.
    /// Borrowed during the call.
    const uint8_t *voxels;
    /// HEX8, or the cubes cut into TET4 or TET10, or TRIANGLE for the surface. Default HEX8.
    sinew_element element;
    /// As for shapes. Default 5.
    int32_t tets_per_cell;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_voxel_mesh_def;

SINEW_API sinew_voxel_mesh_def sinew_default_voxel_mesh_def(void);

/// Creates one hexahedron per voxel that is not empty.
SINEW_API sinew_status sinew_mesh_create_voxels(sinew_context *context,
                                                const sinew_voxel_mesh_def *def, sinew_mesh **mesh);

/// The boundary as triangles with outward normals: for volumes the outer faces (four triangles per
/// face of a tet10, two per face of a hexahedron), for a triangle mesh all triangles. `nodes`, if
/// not NULL, receives the mesh node of each surface point (an array owned by the surface). Points
/// keep the order of their nodes.
SINEW_API sinew_status sinew_mesh_create_surface(sinew_context *context, const sinew_mesh *mesh,
                                                 sinew_mesh **surface, const int32_t **nodes);

/// Unit normals at the current points of a triangle surface, three numbers each, from the triangles
/// around each point (Max 1999); 0 where there is none. `points` has three numbers per point.
/// Allocates nothing.
SINEW_API void sinew_mesh_compute_normals(const sinew_mesh *surface, const double *points,
                                          double *normals);

/// Finds the element that contains each point and the weights of its nodes there: shape functions,
/// which sum to 1. A point outside gets the nearest element and weights that extend its shape
/// functions, so that affine motions are reproduced everywhere. `points` has three numbers per
/// point [m]. `elements` receives one number per point, `weights` sinew_element_node_count(element)
/// numbers per point, `distances` the distance from the element, 0 inside. [m] Each output may be
/// NULL. The mesh must have elements of positive volume; tet10 are treated as straight.
SINEW_API sinew_status sinew_mesh_locate_points(sinew_context *context, const sinew_mesh *mesh,
                                                const double *points, int32_t count,
                                                int32_t *elements, double *weights,
                                                double *distances);

/// Cuts triangles until no edge is longer than `longest_edge` [m], above 0. The shape stays the
/// same, the existing points come first, and labels are inherited.
SINEW_API sinew_status sinew_mesh_create_refined(sinew_context *context,
                                                 const sinew_mesh *triangles, double longest_edge,
                                                 sinew_mesh **mesh);

/// TET10 from TET4: adds a node in the middle of every edge. The existing nodes come first.
SINEW_API sinew_status sinew_mesh_create_quadratic(sinew_context *context, const sinew_mesh *tets,
                                                   sinew_mesh **quadratic);

enum { SINEW_QUALITY_BINS = 18 };

/// How well shaped the elements are. Tet10 are measured by their corners; hexahedra by the worst of
/// the 8 corner tets, relative to that of a cube; triangles by area over squared edges.
typedef struct sinew_quality {
    /// The smallest and the mean over all elements of the mean ratio (Liu and Joe 1994): 1 for the
    /// regular element, 0 for a flat one. [-]
    double smallest_ratio, mean_ratio;
    /// The element with the smallest ratio.
    int32_t worst_element;
    /// Dihedral angles of tets, angles of triangles, angles between the faces of hexahedra.
    /// [degree]
    double smallest_angle, largest_angle;
    /// Number of angles in bins of 10 degrees from 0 to 180.
    int64_t angle_histogram[SINEW_QUALITY_BINS];
    /// Sum, smallest and largest of the elements' volumes [m3] (areas [m2] of triangles).
    double volume, smallest_volume, largest_volume;
    /// Parts that share no node. [count]
    int32_t component_count;
    /// Parts that share no face (triangles: no edge). [count] More than component_count if parts
    /// touch only at a point or an edge, like a hinge.
    int32_t face_component_count;
} sinew_quality;

/// Measures every element of a mesh.
SINEW_API sinew_status sinew_mesh_compute_quality(sinew_context *context, const sinew_mesh *mesh,
                                                  sinew_quality *quality);

/// What is wrong with a surface that shall enclose something.
typedef struct sinew_surface_report {
    int32_t merged_points;     ///< Points that coincide with an earlier one. [count]
    int32_t dropped_triangles; ///< Flat or repeated triangles. [count]
    int32_t flipped_triangles; ///< Triangles that face the wrong way. [count]
    int32_t open_edges;        ///< Edges with a triangle on one side only: a hole's rim. [count]
    int32_t crowded_edges;     ///< Edges with more than two triangles. [count]
    double volume;             ///< Enclosed; meaningful without open edges. [m3]
} sinew_surface_report;

/// Examines a surface of triangles as sinew_tetrahedralize does, without filling it.
SINEW_API sinew_status sinew_mesh_examine_surface(sinew_context *context, const sinew_mesh *surface,
                                                  sinew_surface_report *report);

typedef struct sinew_tetrahedralize_def {
    /// Requested number of tets, met within about a tenth if it is above a thousand (up to three
    /// sizes are tried). [count] In [1, 50e6]. Default 10000. Ignored if `cell_size` is set.
    int32_t tet_count;
    /// Edge of the lattice's cubes; most tets are half as high. [m] >= 0; 0: chosen from
    /// `tet_count`. Default 0.
    double cell_size;
    /// TET4 or TET10 (straight edges). Default TET4.
    sinew_element element;
    /// Keep only the largest part, by volume, of those connected through faces. Default false.
    bool largest_component;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_tetrahedralize_def;

SINEW_API sinew_tetrahedralize_def sinew_default_tetrahedralize_def(void);

/// Defects of the surface, and the result.
typedef struct sinew_tetrahedralize_report {
    double cell_size;          ///< Edge of the lattice's cubes. [m]
    int32_t merged_points;     ///< Points of the surface that coincide with an earlier one. [count]
    int32_t dropped_triangles; ///< Flat or repeated triangles, which were ignored. [count]
    int32_t flipped_triangles; ///< Triangles turned round to agree with their neighbours, or to
                               ///< face outwards. [count]
    int32_t open_edges;        ///< Edges with a triangle on one side only: a hole's rim. [count]
    int32_t crowded_edges;     ///< Edges with more than two triangles. [count]
    double surface_distance;   ///< Largest distance of the given surface's points from the tets'
                               ///< surface. [m]
    double surface_volume;     ///< Enclosed by the given surface. [m3]
    sinew_quality quality;     ///< Of the tets.
} sinew_tetrahedralize_report;

/// Fills a closed surface with tets by isosurface stuffing (Labelle and Shewchuk 2007): a lattice
/// of body-centred cubes, cut at the boundary of the inside, which is defined by the generalised
/// winding number. Small holes, self-intersections, repeated points and triangles, and flipped
/// triangles are tolerated; edges and details finer than a cell are rounded. A closed shell inside
/// another is a cavity if it faces inwards. Dihedral angles are between 9.2 and 164.8 degrees.
/// `report` may be NULL.
SINEW_API sinew_status sinew_tetrahedralize(sinew_context *context, const sinew_mesh *surface,
                                            const sinew_tetrahedralize_def *def, sinew_mesh **tets,
                                            sinew_tetrahedralize_report *report);

/// Opaque: points of a detailed surface that follow a coarser mesh. Each point keeps its element
/// and its weights there (barycentric, quadratic or trilinear); a point outside keeps those of the
/// nearest element, extrapolated.
typedef struct sinew_embedding sinew_embedding;

/// Embeds `surface` (its triangles are used for normals; element_count may be 0) in `mesh`, both in
/// the rest state. Copies both.
SINEW_API sinew_status sinew_embedding_create(sinew_context *context, const sinew_mesh *surface,
                                              const sinew_mesh *mesh, sinew_embedding **embedding);

/// NULL is allowed.
SINEW_API void sinew_embedding_destroy(sinew_embedding *embedding);

/// How many points are outside the mesh, and their largest distance. [count], [m] Each pointer may
/// be NULL.
SINEW_API void sinew_embedding_get_outside(const sinew_embedding *embedding, int32_t *count,
                                           double *largest_distance);

/// The element of each point. `distances`, which may be NULL, receives how far each point is from
/// its element: 0 inside. [m] Both are valid as long as the embedding.
SINEW_API const int32_t *sinew_embedding_get_elements(const sinew_embedding *embedding,
                                                      const double **distances);

/// The surface's points for the mesh's current points; 3 numbers each. Allocates nothing.
SINEW_API void sinew_embedding_compute_points(const sinew_embedding *embedding,
                                              const double *mesh_points, double *surface_points);

/// Like sinew_mesh_compute_normals for the surface, with the context's threads. Allocates nothing.
SINEW_API void sinew_embedding_compute_normals(const sinew_embedding *embedding,
                                               const double *surface_points, double *normals);

#ifdef __cplusplus
}
#endif

#endif
