// Bodies of finite elements: created from a mesh, held and loaded at nodes and faces, with results
// at nodes and elements. Most calls work with every kind of body.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_BODY_H
#define SINEW_BODY_H

#include "sinew/base.h"
#include "sinew/material.h"
#include "sinew/mesh.h"
#include "sinew/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How forces are computed from positions. The material chooses the strain and the law.
typedef enum sinew_model {
    /// Finite elements with a deformation gradient, strain and stress in each element; linear,
    /// corotational or hyperelastic, depending on the material. The default.
    SINEW_MODEL_ELASTIC,
    /// Warped stiffness (Mueller et al. 2002): a constant stiffness that rotates with each vertex.
    /// The rotations are polar decompositions of the neighbourhood. Only for tetrahedra and
    /// isotropic Hookean materials; has no energy.
    SINEW_MODEL_WARPED,
    /// The same with the paper's faster estimate of the rotations from three edges.
    SINEW_MODEL_WARPED_EDGES,
} sinew_model;

typedef enum sinew_mass_kind {
    SINEW_MASS_AUTO,       ///< Consistent for ten-node tets, lumped otherwise.
    SINEW_MASS_LUMPED,     ///< Diagonal; keeps the total mass.
    SINEW_MASS_CONSISTENT, ///< From the shape functions; more accurate frequencies.
} sinew_mass_kind;

/// What a triangle mesh in the xy plane represents. Its nodes stay in the plane.
typedef enum sinew_plane {
    SINEW_PLANE_STRAIN, ///< No strain across the plane: a slice of a long solid.
    SINEW_PLANE_STRESS, ///< No stress across the plane: a thin sheet.
} sinew_plane;

/// How elements resist changes of volume. Above a Poisson ratio of about 0.45 most elements lock:
/// they are too stiff, in bending and wherever the shape of the solid matters.
typedef enum sinew_volume {
    /// Averaged for materials with an isotropic law and a Poisson ratio above 0.45 when the body is
    /// created (0.49 for linear tets, whose matrix grows); standard otherwise, and for warped
    /// bodies
    /// and plane stress. The default.
    SINEW_VOLUME_AUTO,
    /// Each sample of an element resists changes of its own volume.
    SINEW_VOLUME_STANDARD,
    /// The dilatation is averaged over each hexahedron or ten-node tet, or around each node of
    /// linear tets and triangles, whose matrix then has four to six times as many blocks. Forces
    /// are still the exact gradient of an energy; bodies with a Poisson ratio of at
    /// most 0.3 do not change. Not for warped bodies and custom laws.
    SINEW_VOLUME_AVERAGED,
} sinew_volume;

typedef struct sinew_body_def {
    /// Name for messages and files. Copied. Default NULL: "body".
    const char *name;
    /// The rest shape. Borrowed during the call. Required.
    const sinew_mesh *mesh;
    /// A surface of triangles that follows the body. Borrowed during the call. Default NULL: the
    /// boundary of the mesh.
    const sinew_mesh *surface;
    /// Default SINEW_MODEL_ELASTIC.
    sinew_model model;
    /// The materials. An element uses the one whose label in `material_labels` is its own; without
    /// labels all elements use the first. Borrowed during the call. Default NULL: the default
    /// material.
    const sinew_material_def *materials;
    /// Number of materials. [count] At least 0. Default 0.
    int32_t material_count;
    /// `material_count` labels; not needed with one material. Borrowed during the call. Default
    /// NULL.
    const int32_t *material_labels;
    /// Three orthonormal axes of the material in each element, axis by axis: nine numbers per
    /// element. Default NULL: x, y, z.
    const double *material_axes;
    /// Default SINEW_MASS_AUTO.
    sinew_mass_kind mass;
    /// Default SINEW_VOLUME_AUTO.
    sinew_volume volume;
    /// For triangles: what they represent. Default SINEW_PLANE_STRAIN.
    sinew_plane plane;
    /// For triangles: their thickness. [m] Above 0. Default 1.
    double thickness;
    /// Rayleigh damping alpha M + beta K. [1/s], [s] Not negative. Default 0, 0.
    double mass_damping;
    double stiffness_damping;
    /// Initial placement x = R X + t: the translation t. [m] Finite. Default 0. The placed body has
    /// no stress, even with infinitesimal strain: for such materials the rest shape, to which F
    /// refers, and the material axes are rotated too. Bodies of triangles must be placed in the xy
    /// plane and can only move within it.
    double position[3];
    /// The rotation R as a quaternion (x, y, z, w) of any length. [-] Not zero. Default
    /// (0, 0, 0, 1).
    double rotation[4];
    /// Initial velocity v + w x (x - t): the velocity v. [m/s] Finite. Default 0.
    double velocity[3];
    /// The angular velocity w. [rad/s] Finite. Default 0.
    double angular_velocity[3];
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_body_def;

/// A definition with every field at its default.
SINEW_API sinew_body_def sinew_default_body_def(void);

/// Creates a body and adds it to the world, which owns it. `body` may be NULL.
SINEW_API sinew_status sinew_body_create(sinew_world *world, const sinew_body_def *def,
                                         sinew_body **body);

/// Removes a body and its attachments from the world and destroys it. The other bodies keep their
/// order and state. NULL is allowed. Destroying a world destroys its bodies.
SINEW_API void sinew_body_destroy(sinew_body *body);

/// A pointer for the caller, which the library does not use. Initially NULL.
SINEW_API void sinew_body_set_user(sinew_body *body, void *user);
SINEW_API void *sinew_body_get_user(const sinew_body *body);

/// The name of the body. Valid as long as the body.
SINEW_API const char *sinew_body_get_name(const sinew_body *body);
/// Number of nodes. [count] 0 for bodies of frames: for these, calls with values per node fail,
/// return NULL or do not write to the array.
SINEW_API int32_t sinew_body_get_node_count(const sinew_body *body);
/// Number of elements. [count]
SINEW_API int32_t sinew_body_get_element_count(const sinew_body *body);

/// Three numbers per node. The arrays belong to the body and are valid until the next step or
/// change of the body.
SINEW_API const double *sinew_body_get_rest_positions(const sinew_body *body); ///< [m]
SINEW_API const double *sinew_body_get_positions(const sinew_body *body);      ///< [m]
SINEW_API const double *sinew_body_get_velocities(const sinew_body *body);     ///< [m/s]

/// Overwrites positions or velocities of all nodes, three numbers each. Fails for values that are
/// not finite. If the positions invert or flatten more than a tenth of a body of elements (with
/// laws that handle inversion), the next steps first bring it back towards its rest shape with a
/// convex energy, because the energies of the materials may have tangled states as local minima.
SINEW_API sinew_status sinew_body_set_positions(sinew_body *body, const double *positions);
SINEW_API sinew_status sinew_body_set_velocities(sinew_body *body, const double *velocities);

/// Bits for the directions in which a node is held.
enum { SINEW_AXIS_X = 1, SINEW_AXIS_Y = 2, SINEW_AXIS_Z = 4, SINEW_AXIS_ALL = 7 };

/// Fixes nodes at their present positions in the directions of `axes`; 0 releases them.
SINEW_API sinew_status sinew_body_fix_nodes(sinew_body *body, const int32_t *nodes, int32_t count,
                                            int32_t axes);

/// Prescribes the positions of fixed nodes at the end of the next step, three numbers each; only
/// fixed directions are used. The nodes reach them exactly and stay there until moved again.
SINEW_API sinew_status sinew_body_move_nodes(sinew_body *body, const int32_t *nodes, int32_t count,
                                             const double *targets);

/// Sets external forces on nodes, three numbers each, replacing earlier ones. [N] They act until
/// changed.
SINEW_API sinew_status sinew_body_set_forces(sinew_body *body, const int32_t *nodes, int32_t count,
                                             const double *forces);

typedef enum sinew_load_kind {
    SINEW_LOAD_TRACTION, ///< A force per rest area with a fixed direction. [Pa]
    SINEW_LOAD_PRESSURE, ///< A pressure that follows the surface and pushes inwards. [Pa]
} sinew_load_kind;

/// A load on triangles of the surface of any body (see sinew/surface.h), or on those faces of a
/// body of elements whose nodes are all selected. Set either `triangles` or `nodes`.
typedef struct sinew_load_def {
    sinew_load_kind kind;     ///< Default SINEW_LOAD_TRACTION.
    const int32_t *triangles; ///< Of the body's surface. Borrowed during the call. Default NULL.
    int32_t triangle_count;   ///< [count] Default 0.
    const int32_t *nodes;     ///< Of a body of elements. Borrowed during the call. Default NULL.
    int32_t node_count;       ///< [count] Default 0.
    double traction[3];       ///< For SINEW_LOAD_TRACTION. [Pa] Finite. Default 0.
    double pressure;          ///< For SINEW_LOAD_PRESSURE. [Pa] Finite. Default 0.
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_load_def;

/// A definition with every field at its default: no load.
SINEW_API sinew_load_def sinew_default_load_def(void);

/// Adds a load and returns its index (`index` may be NULL). Fails if the selected nodes contain no
/// complete face. A load exists as long as the body; its scale, initially 1, can be changed. [-]
/// Finite.
SINEW_API sinew_status sinew_body_add_load(sinew_body *body, const sinew_load_def *def,
                                           int32_t *index);
SINEW_API sinew_status sinew_body_set_load_scale(sinew_body *body, int32_t index, double scale);

/// The present state of a load.
typedef struct sinew_load_report {
    sinew_load_kind kind;
    double scale;     ///< [-]
    double rest_area; ///< Of the loaded part, at rest. [m^2]
    double area;      ///< Of the loaded part, now. [m^2]
    double force[3];  ///< The sum of its forces now, at its scale. [N]
} sinew_load_report;

/// Reports the load with this index.
SINEW_API sinew_status sinew_body_get_load(const sinew_body *body, int32_t index,
                                           sinew_load_report *report);

/// Replaces material number `index` (0 is the first), including its density.
SINEW_API sinew_status sinew_body_set_material(sinew_body *body, int32_t index,
                                               const sinew_material_def *material);
/// Sets only the tension of the fibres of material number `index`. Cheap enough for every step, as
/// when a muscle contracts. [Pa] At least 0. Not for warped bodies, springs between frames and
/// position dynamics, which have no fibres.
SINEW_API sinew_status sinew_body_set_fibre_stress(sinew_body *body, int32_t index, double stress);
/// Replaces the axes of the materials of a body of elements that was made with
/// sinew_body_def.material_axes: nine numbers for each element, axis by axis, such as those of a
/// field that was solved again (sinew_field_get_axes). SINEW_UNSUPPORTED for bodies made without
/// axes and for other models.
SINEW_API sinew_status sinew_body_set_material_axes(sinew_body *body, const double *axes);
SINEW_API sinew_status sinew_body_set_damping(sinew_body *body, double mass_damping,
                                              double stiffness_damping);
/// Chooses the solver for this body from the next step on. SINEW_SOLVER_AUTO, the default, uses
/// that of the world. Bodies coupled by attachments form one system, which uses the solver of the
/// first of them that has chosen one.
SINEW_API sinew_status sinew_body_set_solver(sinew_body *body, sinew_solver solver);
SINEW_API sinew_solver sinew_body_get_solver(const sinew_body *body);

/// Compute the elastic forces, and the reactions of the supports at fixed and moved nodes (zero
/// elsewhere), three numbers per node. [N]
SINEW_API void sinew_body_compute_elastic_forces(sinew_body *body, double *forces);
SINEW_API void sinew_body_compute_reactions(sinew_body *body, double *forces);

/// Strain and stress of an element, averaged over its samples by volume.
typedef struct sinew_element_state {
    double F[9];      ///< Deformation gradient, row by row. [-]
    double strain[6]; ///< Green-Lagrange strain xx yy zz yz zx xy, shear doubled. [-]
    double stress[6]; ///< Cauchy stress xx yy zz yz zx xy. [Pa]
    double von_mises; ///< Of the Cauchy stress. [Pa]
    double energy;    ///< Elastic energy. [J]
    double J;         ///< det F. [-]
} sinew_element_state;

/// Evaluates one element at the present positions.
SINEW_API sinew_status sinew_body_get_element_state(sinew_body *body, int32_t element,
                                                    sinew_element_state *state);

/// Evaluates all elements at once, which is faster than one by one. `states` has one item per
/// element.
SINEW_API void sinew_body_compute_element_states(sinew_body *body, sinew_element_state *states);

/// Recovered Cauchy stresses: for each node the mean of the elements around it, weighted by their
/// rest volumes. Ten-node tets contribute their stress at the node, extrapolated linearly from
/// their samples; the other elements their average. `stresses` has six numbers per node, xx yy zz
/// yz zx xy. [Pa] Elements of different materials are averaged too, although the stress may jump
/// between them. SINEW_UNSUPPORTED for bodies without elements.
SINEW_API sinew_status sinew_body_compute_node_stresses(sinew_body *body, double *stresses);

/// Energies, momenta and volume of one body; see sinew_world_get_measures.
SINEW_API void sinew_body_get_measures(sinew_body *body, sinew_measures *measures);

/// Natural frequencies about the rest shape with the present supports, by shift-invert Lanczos.
/// Rigid modes come first, with frequency zero. `frequencies` receives `count` numbers [Hz],
/// ascending. `shapes` may be NULL; it receives `count` shapes with three numbers per node, for
/// frame bodies per vertex of the surface (sinew_body_get_surface), each normalised to unit
/// generalised mass. Contact and attachments are left out: see sinew_body_compute_present_modes.
SINEW_API sinew_status sinew_body_compute_modes(sinew_body *body, int32_t count,
                                                double *frequencies, double *shapes);

/// The same about the present configuration, with everything that acts there: contacts that press
/// as if they were glued in the direction of their normals, friction that sticks, attachments. The
/// bodies that the body touches or is attached to move along, and the shapes are normalised with
/// them; `shapes` has the part of this body. Call it at equilibrium, after
/// sinew_world_solve_static. Touches are a hundred times as stiff as what they press on. Changes
/// nothing. Fails where the equilibrium is unstable, with SINEW_INVALID_DATA.
SINEW_API sinew_status sinew_body_compute_present_modes(sinew_body *body, int32_t count,
                                                        double *frequencies, double *shapes);

#ifdef __cplusplus
}
#endif

#endif
