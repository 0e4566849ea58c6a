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

/// What a mesh is made of. Nodes are numbered as VTK numbers them, and a valid element has positive
/// volume in that order.
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

/// A mesh as it enters and leaves the library: arrays that the struct does not own, or, when the
/// library made the mesh, that live until sinew_mesh_destroy. To give a generated mesh labels of
/// your own, copy the struct and set `labels`.
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

/// Frees a mesh that the library made. NULL is allowed.
SINEW_API void sinew_mesh_destroy(sinew_mesh *mesh);

/// A copy that the library owns.
SINEW_API sinew_status sinew_mesh_copy(sinew_context *context, const sinew_mesh *mesh,
                                       sinew_mesh **copy);

/// Refuses what no body can be made of: indices out of range, non-finite coordinates, zero or
/// negative volumes (area for triangles), a node twice in an element, an element twice, nodes
/// without an element, more than two elements at one face. The message names the first culprit and
/// its value.
SINEW_API sinew_status sinew_mesh_check(sinew_context *context, const sinew_mesh *mesh);

/// Shapes that are made rather than read. Each fills a bounding box of given size around `center`.
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
    /// What to fill it with. TRIANGLE gives the closed surface of the solid, and is the only choice
    /// for a rectangle. Default TET4.
    sinew_element element;
    /// Middle of the bounding box. [m] Finite. Default 0.
    double center[3];
    /// Extents of the bounding box along x, y, z. [m] Above 0. Default 1. A rectangle ignores the
    /// third.
    double size[3];
    /// Wall of a tube, width of the arms of L, T and U. [m] Above 0 and less than what closes the
    /// hollow. Default 0.25.
    double thickness;
    /// Cells along x, y, z. [count] 0, or at least 1 (3 across a cylinder or sphere, 3 around a
    /// tube; at least one falls into each arm and notch). Default 0: chosen by `cell_size`.
    /// Cylinder: across the diameter, ignored, along the axis. Sphere: across the diameter,
    /// ignored, ignored. Tube: through the wall, around, along the axis.
    int32_t cells[3];
    /// Wished size of a cell where `cells` is 0. [m] Above 0. Default 0.1.
    double cell_size;
    /// Tets in each cell. 5 (better angles; neighbouring cells mirrored; a tube needs an even count
    /// around) or 6 (all cells of a box alike). Default 5.
    int32_t tets_per_cell;
} sinew_shape_def;

SINEW_API sinew_shape_def sinew_default_shape_def(void);

/// Makes a mesh of a shape. Curved shapes have their outer nodes on the true surface and straight
/// edges.
SINEW_API sinew_status sinew_mesh_create_shape(sinew_context *context, const sinew_shape_def *def,
                                               sinew_mesh **mesh);

typedef struct sinew_voxel_mesh_def {
    /// Voxels along x, y, z. [count] At least 1.
    int32_t cells[3];
    /// Edges of a voxel. [m] Above 0. Default 1.
    double spacing[3];
    /// Lower corner of voxel (0, 0, 0). [m] Finite. Default 0.
    double lower[3];
    /// One byte for each voxel, x running fastest; 0 is empty, another value becomes the element's
    /// label. Borrowed in the call.
    const uint8_t *voxels;
    /// HEX8, or the cubes cut into TET4 or TET10, or TRIANGLE for the surface. Default HEX8.
    sinew_element element;
    /// As for shapes. Default 5.
    int32_t tets_per_cell;
} sinew_voxel_mesh_def;

SINEW_API sinew_voxel_mesh_def sinew_default_voxel_mesh_def(void);

/// One hexahedron for each voxel that is not empty.
SINEW_API sinew_status sinew_mesh_create_voxels(sinew_context *context,
                                                const sinew_voxel_mesh_def *def, sinew_mesh **mesh);

/// The boundary as triangles with outward normals: of volumes the outer faces (a tet10's face gives
/// four triangles, a hexahedron's two), of a triangle mesh all triangles. `nodes`, if not NULL,
/// receives the mesh's node of each surface point (an array of the surface's, alive as long as it).
/// Points keep the order of their nodes.
SINEW_API sinew_status sinew_mesh_create_surface(sinew_context *context, const sinew_mesh *mesh,
                                                 sinew_mesh **surface, const int32_t **nodes);

/// Unit normals at the points of a surface of triangles where they are now, three numbers each,
/// from the triangles around each (Max 1999); 0 where there is none. `points` are three numbers
/// a point. Allocates nothing.
SINEW_API void sinew_mesh_compute_normals(const sinew_mesh *surface, const double *points,
                                          double *normals);

/// Finds the element that holds each point, and the weights of its nodes there: shape functions,
/// which sum to 1. A point outside gets the nearest element and weights that continue its shape
/// functions, so that affine motions are reproduced everywhere. `points` holds three numbers a
/// point [m]. `elements` receives one number a point, `weights` sinew_element_node_count(element)
/// numbers a point, `distances` the distance from the element, 0 inside. [m] Each output may be
/// NULL. The mesh must have elements of positive volume; tet10 are taken as straight.
SINEW_API sinew_status sinew_mesh_locate_points(sinew_context *context, const sinew_mesh *mesh,
                                                const double *points, int32_t count,
                                                int32_t *elements, double *weights,
                                                double *distances);

/// TET10 from TET4: adds a node in the middle of every edge. The first nodes stay.
SINEW_API sinew_status sinew_mesh_create_quadratic(sinew_context *context, const sinew_mesh *tets,
                                                   sinew_mesh **quadratic);

enum { SINEW_QUALITY_BINS = 18 };

/// How well shaped the elements are. Tet10 are judged by their corners; hexahedra by the worst of
/// the 8 corner tets, compared with that of a cube; triangles by area over squared edges.
typedef struct sinew_quality {
    /// Of one element at worst, and on average: mean ratio (Liu and Joe 1994), 1 for the regular
    /// element, 0 when flat. [-]
    double smallest_ratio, mean_ratio;
    /// The element with the smallest ratio.
    int32_t worst_element;
    /// Dihedral angles of tets, angles of triangles; between the faces of hexahedra. [degree]
    double smallest_angle, largest_angle;
    /// Angles counted in bins of 10 degrees from 0 to 180.
    int64_t angle_histogram[SINEW_QUALITY_BINS];
    /// Sum, smallest and largest of the elements' volumes [m3] (areas [m2] of triangles).
    double volume, smallest_volume, largest_volume;
    /// Parts that share no node. [count]
    int32_t component_count;
    /// Parts that share no face (triangles: no edge). [count] More than component_count where parts
    /// hang together by a point or an edge only, as by a hinge.
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
    /// Wished number of tets, met within about a tenth if it is above a thousand (up to three sizes
    /// are tried). [count] In [1, 50e6]. Default 10000. Ignored if `cell_size` is set.
    int32_t tet_count;
    /// Edge of the lattice's cubes; most tets are half as high. [m] At least 0; 0: chosen from
    /// `tet_count`. Default 0.
    double cell_size;
    /// TET4 or TET10 (straight edges). Default TET4.
    sinew_element element;
    /// Drop all parts but the largest, in volume, of those connected through faces. Default false.
    bool largest_component;
} sinew_tetrahedralize_def;

SINEW_API sinew_tetrahedralize_def sinew_default_tetrahedralize_def(void);

/// What was wrong with the surface, and what came out.
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
/// of body-centred cubes, cut where the generalised winding number says inside ends. Small holes,
/// self-intersections, repeated points and triangles, and wrongly turned triangles are tolerated;
/// edges and details finer than a cell are rounded. A closed shell inside another is a cavity if it
/// faces inwards. Dihedral angles stay within 9.2 and 164.8 degrees. `report` may be NULL.
SINEW_API sinew_status sinew_tetrahedralize(sinew_context *context, const sinew_mesh *surface,
                                            const sinew_tetrahedralize_def *def, sinew_mesh **tets,
                                            sinew_tetrahedralize_report *report);

/// Opaque: points of a detailed surface that follow a coarser mesh. Each point keeps its element
/// and its weights there (barycentric, quadratic or trilinear); a point outside keeps those of the
/// nearest element, extrapolated.
typedef struct sinew_embedding sinew_embedding;

/// Embeds `surface` (its triangles serve the normals; element_count may be 0) in `mesh`, both in
/// the rest state. Copies.
SINEW_API sinew_status sinew_embedding_create(sinew_context *context, const sinew_mesh *surface,
                                              const sinew_mesh *mesh, sinew_embedding **embedding);

/// NULL is allowed.
SINEW_API void sinew_embedding_destroy(sinew_embedding *embedding);

/// How many points lie outside the mesh, and the largest distance of one. [count], [m] Each pointer
/// may be NULL.
SINEW_API void sinew_embedding_get_outside(const sinew_embedding *embedding, int32_t *count,
                                           double *largest_distance);

/// The surface's points for the mesh's points as they are now; 3 numbers for each. Allocates
/// nothing.
SINEW_API void sinew_embedding_compute_points(const sinew_embedding *embedding,
                                              const double *mesh_points, double *surface_points);

/// The same as sinew_mesh_compute_normals for the surface, shared by the threads of the context.
/// Allocates nothing.
SINEW_API void sinew_embedding_compute_normals(const sinew_embedding *embedding,
                                               const double *surface_points, double *normals);

#ifdef __cplusplus
}
#endif

#endif
