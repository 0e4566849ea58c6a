// Label grids: a solid as equal voxels, each with a label (a material, a part), created from closed
// surfaces, from simple solids, or from the labels of an image. Frame bodies compute their shape
// functions and integrals on them.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_VOXEL_H
#define SINEW_VOXEL_H

#include "sinew/base.h"
#include "sinew/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: cells in a box; label 0 is outside. Cells with another label are the voxels; their order
/// depends on the cells alone (see sinew_voxels_get_voxel).
typedef struct sinew_voxels sinew_voxels;

/// Labels as they come from an image.
typedef struct sinew_label_grid {
    /// Cells along x, y, z. [count] At least 1 each, at most 2^31 - 1 in all.
    int32_t cells[3];
    /// Edges of a cell. [m] > 0.
    double spacing[3];
    /// Lower corner of cell (0, 0, 0). [m] Finite.
    double lower[3];
    /// One label per cell, x fastest; 0 is outside. Exactly one of the two is set. Borrowed during
    /// the call.
    const uint8_t *labels8;
    const uint16_t *labels16;
    /// An axis that runs backwards in the image: its cells are read in reverse. Default false.
    bool flipped[3];
} sinew_label_grid;

/// The resolution of a grid around surfaces or solids. The grid is centred on their bounding box,
/// so that a mirrored shape, or one rotated by 90 degrees, gets the mirrored or rotated grid. With
/// `resolution` the cells also fit the box: a box of any size is voxelised exactly, by cells that
/// are at most as long as requested along each axis.
typedef struct sinew_voxel_def {
    /// Edges of a cell. [m] > 0, or all 0: chosen by `resolution`. Default 0.
    double spacing[3];
    /// Cells along the longest side of the bounding box. [count] At least 1. Default 64.
    int32_t resolution;
    /// Surfaces with a wider hole are refused: the diameter of its rim. [m] >= 0; 0 means that
    /// holes of any size are closed by winding numbers. Default 0.
    double hole_limit;
    /// More memory than this is not allocated; the message reports the estimate. [byte] Default 4
    /// GiB, or half of a smaller address space.
    size_t memory_limit;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_voxel_def;

SINEW_API sinew_voxel_def sinew_default_voxel_def(void);

/// The memory that a grid of that size will need, before it is created. [byte] `inside` is the
/// share of the cells that will be voxels, in [0, 1].
SINEW_API double sinew_voxels_estimate_memory(const int32_t cells[3], double inside);

/// A surface and the label of its inside.
typedef struct sinew_labelled_surface {
    /// Triangles. Borrowed during the call.
    const sinew_mesh *mesh;
    /// In [0, 65535]; 0 cuts a cavity.
    int32_t label;
    /// Where surfaces overlap the higher priority wins; among equals the later one. Default 0.
    int32_t priority;
} sinew_labelled_surface;

typedef enum sinew_solid {
    SINEW_SOLID_BOX,      ///< Fills `size`.
    SINEW_SOLID_SPHERE,   ///< An ellipsoid with the diameters `size`.
    SINEW_SOLID_CYLINDER, ///< Along z; diameters size[0] and size[1], length size[2].
    SINEW_SOLID_CAPSULE,  ///< Along z; diameter size[0], length over all size[2] >= size[0].
    SINEW_SOLID_TORUS,    ///< Around z; outer diameter size[0], `thickness` of the tube.
    SINEW_SOLID_L, ///< Arms along x (below) and y (left), each `thickness` wide, extruded along z.
    SINEW_SOLID_T, ///< A bar along x on top of a stem along y, each `thickness` wide, extruded
                   ///< along z.
    SINEW_SOLID_U, ///< Two arms along y joined by a bar along x below, each `thickness` wide,
                   ///< extruded along z.
} sinew_solid;

typedef enum sinew_solid_operation {
    SINEW_SOLID_ADD,   ///< The cells inside get the label.
    SINEW_SOLID_CUT,   ///< The cells inside become empty.
    SINEW_SOLID_PAINT, ///< Only cells that are not empty get the label: inclusions, layers.
} sinew_solid_operation;

/// One solid of a list that is processed in order.
typedef struct sinew_solid_def {
    /// Default box.
    sinew_solid solid;
    /// Default add.
    sinew_solid_operation operation;
    /// In [1, 65535]. Default 1.
    int32_t label;
    /// Centre of the bounding box. [m] Finite. Default 0.
    double center[3];
    /// Extents along its own axes. [m] > 0. Default 1.
    double size[3];
    /// Arms of L, T and U, tube of a torus. [m] > 0, and less than would close the hollow. Default
    /// 0.25.
    double thickness;
    /// Rotates its own axes into the grid's: quaternion (x, y, z, w). Default identity.
    double rotation[4];
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_solid_def;

SINEW_API sinew_solid_def sinew_default_solid_def(void);

/// Labels from an image. Fails if every label is 0.
SINEW_API sinew_status sinew_voxels_create_from_labels(sinew_context *context,
                                                       const sinew_label_grid *grid,
                                                       size_t memory_limit, sinew_voxels **voxels);

/// Defects found in the surfaces.
typedef struct sinew_voxel_report {
    int32_t open_edges;       ///< Edges with an odd number of triangles. [count]
    int32_t hole_count;       ///< Rims they form. [count]
    double largest_hole;      ///< Diameter of the largest rim. [m]
    int64_t disputed_cells;   ///< Cells where the three directions did not agree. [count]
    double surface_volume[2]; ///< Of the surface with the largest volume: enclosed by the mesh, and
                              ///< by its voxels. [m3]
} sinew_voxel_report;

/// Voxelises surfaces. Repeated and flat triangles are dropped, and neighbours oriented alike; then
/// lines along x, y and z through the centre of each cell count how often they enter and leave.
/// Shells that overlap become one solid, a shell that faces inwards is a cavity. Where the three
/// disagree, near holes and self-intersections, the generalised winding number decides, so that
/// scans with open bases and dirty meshes are accepted; the report says what was found. Fails if
/// nothing is inside. `report` may be NULL.
SINEW_API sinew_status sinew_voxels_create_from_surfaces(
    sinew_context *context, const sinew_labelled_surface *surfaces, int32_t surface_count,
    const sinew_voxel_def *def, sinew_voxels **voxels, sinew_voxel_report *report);

/// Voxelises solids: a cell is inside if its centre is, surface included. See
/// sinew_voxels_get_fill for the cells that are partly inside.
SINEW_API sinew_status sinew_voxels_create_from_solids(sinew_context *context,
                                                       const sinew_solid_def *solids,
                                                       int32_t solid_count,
                                                       const sinew_voxel_def *def,
                                                       sinew_voxels **voxels);

/// NULL is allowed.
SINEW_API void sinew_voxels_destroy(sinew_voxels *voxels);

/// Relabels the voxels inside a solid (its operation is ignored: nothing is added or cut).
SINEW_API sinew_status sinew_voxels_paint(sinew_voxels *voxels, const sinew_solid_def *solid);

/// Relabels by layers: along `direction`, starting at the plane through `start`, layers of the
/// given thicknesses get the given labels, repeatedly if `repeat`. Before the start and after the
/// end nothing changes.
typedef struct sinew_layers_def {
    double start[3];         ///< [m]
    double direction[3];     ///< Not zero.
    const double *thickness; ///< `count` numbers. [m] Above 0.
    const int32_t *labels;   ///< `count` labels in [1, 65535].
    int32_t count;           ///< At least 1.
    bool repeat;             ///< Default false.
} sinew_layers_def;

/// Applies layers.
SINEW_API sinew_status sinew_voxels_paint_layers(sinew_voxels *voxels,
                                                 const sinew_layers_def *layers);

/// A factor on the stiffness of each voxel that varies along a line: `first` at `start` and before,
/// `last` at `end` and after; linear in between or, if `geometric`, at a constant ratio. Multiplies
/// the existing factors (initially 1).
typedef struct sinew_gradient_def {
    double start[3], end[3]; ///< [m] Different.
    double first, last;      ///< [-] Above 0.
    bool geometric;          ///< Default false.
} sinew_gradient_def;

/// Applies a gradient.
SINEW_API sinew_status sinew_voxels_apply_gradient(sinew_voxels *voxels,
                                                   const sinew_gradient_def *gradient);

/// Sets the factors of all voxels at once (voxel_count numbers > 0), replacing the existing ones.
SINEW_API sinew_status sinew_voxels_set_stiffness(sinew_voxels *voxels, const double *factors);
/// The same for the factors on the density. Bodies that exist already keep their mass.
SINEW_API sinew_status sinew_voxels_set_density(sinew_voxels *voxels, const double *factors);

/// Number of voxels: cells with a label. [count]
SINEW_API int32_t sinew_voxels_get_count(const sinew_voxels *voxels);
/// The grid's cells [count], their edges [m] and its lower corner [m]. Each pointer may be NULL.
SINEW_API void sinew_voxels_get_grid(const sinew_voxels *voxels, int32_t cells[3],
                                     double spacing[3], double lower[3]);

/// Label of a cell; 0 outside the solid and outside the grid.
SINEW_API int32_t sinew_voxels_get_label(const sinew_voxels *voxels, int32_t x, int32_t y,
                                         int32_t z);

/// Number of the voxel at a cell, or -1 outside the solid and outside the grid.
SINEW_API int32_t sinew_voxels_get_voxel(const sinew_voxels *voxels, int32_t x, int32_t y,
                                         int32_t z);

/// Per voxel: its label, in [1, 65535]; its cell, x fastest; and the factors on its stiffness and
/// density, NULL if that is 1 everywhere. [-] The arrays are valid until the voxels are relabelled
/// or destroyed.
SINEW_API const uint16_t *sinew_voxels_get_labels(const sinew_voxels *voxels);
SINEW_API const int32_t *sinew_voxels_get_cells(const sinew_voxels *voxels);
SINEW_API const double *sinew_voxels_get_stiffness(const sinew_voxels *voxels);
SINEW_API const double *sinew_voxels_get_density(const sinew_voxels *voxels);

/// The filled part of each voxel: the share of its cell that is inside the shape, plus what the
/// cells beyond the surface contain, which goes to the voxels they touch. [-] Above 0; may exceed
/// 1. NULL if it is 1 everywhere, as for labels from an image. Mass and stiffness count voxels by
/// it. Valid until the voxels are destroyed.
SINEW_API const double *sinew_voxels_get_fill(const sinew_voxels *voxels);

/// The volume of all voxels, by their filled parts. [m3] `shape_volume` receives that of the
/// surface or solid they were made from, 0 if it is not known (images, lists of several); the
/// difference is the error of voxelisation. It may be NULL.
SINEW_API double sinew_voxels_get_volume(const sinew_voxels *voxels, double *shape_volume);

/// Centre of a voxel. [m]
SINEW_API void sinew_voxels_get_center(const sinew_voxels *voxels, int32_t voxel, double center[3]);

/// The voxel whose centre is nearest to a point (the first among equals), or -1 if it is farther
/// than `limit`. [m]
SINEW_API int32_t sinew_voxels_find_nearest(const sinew_voxels *voxels, const double point[3],
                                            double limit);

/// The part of each voxel: parts share no face, and are numbered by their first voxel. `parts`
/// takes one number for each voxel; `count` receives how many parts there are.
SINEW_API sinew_status sinew_voxels_compute_parts(const sinew_voxels *voxels, int32_t *parts,
                                                  int32_t *count);

/// What to do with specks: small parts that voxelisation cuts off from the rest.
typedef enum sinew_specks {
    SINEW_SPECKS_DROP, ///< They become empty.
    SINEW_SPECKS_JOIN, ///< A row of voxels connects each to the nearest part that is no speck.
} sinew_specks;

typedef struct sinew_speck_report {
    int32_t count;  ///< Specks. [count]
    int32_t voxels; ///< All of theirs. [count]
    int32_t added;  ///< Voxels that join them to the rest. [count]
} sinew_speck_report;

/// Drops or joins the parts with less than `share` of all voxels, in [0, 1]; the largest part
/// always stays. Replaces the grid if it has specks, so that the old handle becomes invalid; if the
/// call fails, nothing changes. `report` may be NULL.
SINEW_API sinew_status sinew_voxels_settle_specks(sinew_voxels **voxels, sinew_specks how,
                                                  double share, sinew_speck_report *report);

/// Statistics of one label.
typedef struct sinew_label_statistics {
    int32_t label;
    int32_t voxel_count;
    int32_t part_count;        ///< Parts of this label that share no face. [count]
    double volume;             ///< By the filled parts. [m3]
    double center[3];          ///< Mean position of the voxels. [m]
    double lower[3], upper[3]; ///< Bounding box. [m]
    double stiffness_range[2]; ///< Smallest and largest factor. [-]
} sinew_label_statistics;

/// Fills up to `capacity` entries by ascending label; `count` receives the number of labels in use.
SINEW_API sinew_status sinew_voxels_compute_statistics(const sinew_voxels *voxels,
                                                       sinew_label_statistics *statistics,
                                                       int32_t capacity, int32_t *count);

/// The boundary of the solid as triangles, smoothed within a cell by surface nets: one vertex for
/// each cell corner next to the boundary, and `smoothing` sweeps of averaging that keep each vertex
/// within its cube. A triangle has the label of the voxel behind it.
SINEW_API sinew_status sinew_voxels_create_surface(const sinew_voxels *voxels, int32_t smoothing,
                                                   sinew_mesh **surface);

#ifdef __cplusplus
}
#endif

#endif
