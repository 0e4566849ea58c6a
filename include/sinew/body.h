// Bodies of finite elements: made from a mesh, held and loaded at nodes and faces, read at nodes
// and elements.
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

/// How forces follow from positions. The material says which strain and which law.
typedef enum sinew_model {
    /// Deformation gradient, strain, stress in each element: linear, corotational and hyperelastic
    /// by the material. The
    /// default.
    SINEW_MODEL_ELASTIC,
    /// Constant stiffness, turned with each vertex (Mueller et al. 2002); vertex rotations by the
    /// polar decomposition of the
    /// neighbourhood. Tetrahedra and isotropic Hookean materials only; has no energy.
    SINEW_MODEL_WARPED,
    /// The same with the paper's quick estimate of the rotations from three edges.
    SINEW_MODEL_WARPED_EDGES,
} sinew_model;

typedef enum sinew_mass_kind {
    SINEW_MASS_AUTO,       ///< Consistent for ten-node tets, lumped otherwise.
    SINEW_MASS_LUMPED,     ///< Diagonal; keeps the total mass.
    SINEW_MASS_CONSISTENT, ///< From the shape functions; more accurate frequencies.
} sinew_mass_kind;

/// What a triangle mesh in the xy plane stands for. Its nodes stay in the plane.
typedef enum sinew_plane {
    SINEW_PLANE_STRAIN, ///< No strain across the plane: a slice of a long solid.
    SINEW_PLANE_STRESS, ///< No stress across the plane: a thin sheet.
} sinew_plane;

/// How elements resist changes of volume. Above a Poisson ratio of about 0.45 most elements lock:
/// they are too stiff, in bending and wherever the shape of the solid matters.
typedef enum sinew_volume {
    /// Averaged where a material of an isotropic law has a Poisson ratio above 0.45 when the body
    /// is
    /// made, or above 0.49 with linear tets, whose matrix grows; otherwise standard. Warped bodies
    /// and plane stress: standard.
    SINEW_VOLUME_AUTO,
    /// Each sample of an element resists by itself.
    SINEW_VOLUME_STANDARD,
    /// The dilatation is averaged, over each hexahedron or ten-node tet, and around each node of
    /// linear tets and triangles; the matrix of linear tets then has four to six times as many
    /// blocks. Forces are still the exact gradient of an energy; bodies with a Poisson ratio of at
    /// most 0.3 do not change. Not for warped bodies and custom laws.
    SINEW_VOLUME_AVERAGED,
} sinew_volume;

typedef struct sinew_body_def {
    /// Name for messages and files. Copied. Default NULL, which gives "body".
    const char *name;
    /// The rest shape. Borrowed during the call. Needed.
    const sinew_mesh *mesh;
    /// A surface of triangles that follows the body. Borrowed during the call. Default NULL: the
    /// boundary of the mesh.
    const sinew_mesh *surface;
    /// Default SINEW_MODEL_ELASTIC.
    sinew_model model;
    /// Materials; elements choose by their label's position in `material_labels`, or all take the
    /// first. Borrowed during the call. Default NULL: the default material.
    const sinew_material_def *materials;
    /// Number of materials. [count] At least 0. Default 0.
    int32_t material_count;
    /// `material_count` labels; not needed with one material. Borrowed during the call. Default
    /// NULL.
    const int32_t *material_labels;
    /// Three orthonormal axes of the material in each element, axis by axis: nine numbers an
    /// element. Default NULL: x, y, z.
    const double *material_axes;
    /// Default SINEW_MASS_AUTO.
    sinew_mass_kind mass;
    /// Default SINEW_VOLUME_AUTO.
    sinew_volume volume;
    /// For triangles: what they stand for. Default SINEW_PLANE_STRAIN.
    sinew_plane plane;
    /// For triangles: how thick. [m] Above 0. Default 1.
    double thickness;
    /// Rayleigh damping alpha M + beta K. [1/s], [s] Not negative. Default 0, 0.
    double mass_damping;
    double stiffness_damping;
    /// Initial placement x = R X + t: t. [m] Finite. Default 0. The placed body is at rest, also
    /// with the infinitesimal strain: elements of such materials, and their axes, have the rotated
    /// shape as their rest shape, to which F refers. Bodies of triangles stay in the plane of x
    /// and y: they are placed, and begin to move, within it.
    double position[3];
    /// ... and R, as a quaternion (x, y, z, w); its length does not matter. [-] Not zero. Default
    /// (0, 0, 0, 1).
    double rotation[4];
    /// Initial velocity v + w x (x - t): v. [m/s] Finite. Default 0.
    double velocity[3];
    /// ... and w. [rad/s] Finite. Default 0.
    double angular_velocity[3];
    /// Set by the default-maker: by this number an unfilled definition is recognised. Leave it
    /// alone.
    uint32_t filled;
} sinew_body_def;

/// A definition with every field at its default.
SINEW_API sinew_body_def sinew_default_body_def(void);

/// Makes a body and adds it to the world, which owns it. `body` may be NULL.
SINEW_API sinew_status sinew_body_create(sinew_world *world, const sinew_body_def *def,
                                         sinew_body **body);

/// Takes a body out of its world, with the attachments it is part of, and destroys it. The others
/// keep their order and go on as they were. NULL is allowed. A world also destroys its bodies.
SINEW_API void sinew_body_destroy(sinew_body *body);

/// A pointer of the host's own, which the library never looks at. NULL at first.
SINEW_API void sinew_body_set_user(sinew_body *body, void *user);
SINEW_API void *sinew_body_get_user(const sinew_body *body);

/// The name it was given. Lives as long as the body.
SINEW_API const char *sinew_body_get_name(const sinew_body *body);
/// Nodes. [count] 0 for bodies of frames: calls that take or give numbers for each node refuse
/// them, give NULL, or leave the caller's array alone.
SINEW_API int32_t sinew_body_get_node_count(const sinew_body *body);
/// Elements. [count]
SINEW_API int32_t sinew_body_get_element_count(const sinew_body *body);

/// Three numbers a node. Views live until the next step or change of the body.
SINEW_API const double *sinew_body_get_rest_positions(const sinew_body *body); ///< [m]
SINEW_API const double *sinew_body_get_positions(const sinew_body *body);      ///< [m]
SINEW_API const double *sinew_body_get_velocities(const sinew_body *body);     ///< [m/s]

/// Overwrites positions or velocities of all nodes, three numbers each. Non-finite values are
/// refused. Positions that invert or flatten more than a tenth of a body of elements (and of laws
/// that handle inversion) lead it back to its rest shape first, by a convex energy, for the
/// materials' own have tangles for local minima.
SINEW_API sinew_status sinew_body_set_positions(sinew_body *body, const double *positions);
SINEW_API sinew_status sinew_body_set_velocities(sinew_body *body, const double *velocities);

/// Bits for the directions in which a node is held.
enum { SINEW_AXIS_X = 1, SINEW_AXIS_Y = 2, SINEW_AXIS_Z = 4, SINEW_AXIS_ALL = 7 };

/// Holds nodes where they are now, in the directions of `axes`; 0 sets them free.
SINEW_API sinew_status sinew_body_fix_nodes(sinew_body *body, const int32_t *nodes, int32_t count,
                                            int32_t axes);

/// Prescribes where held nodes are at the end of the next step (three numbers each; only held
/// directions count). They arrive there exactly and stay until they are moved again.
SINEW_API sinew_status sinew_body_move_nodes(sinew_body *body, const int32_t *nodes, int32_t count,
                                             const double *targets);

/// External forces on nodes, three numbers each, replacing what they had. [N] They last until
/// changed.
SINEW_API sinew_status sinew_body_set_forces(sinew_body *body, const int32_t *nodes, int32_t count,
                                             const double *forces);

typedef enum sinew_load_kind {
    SINEW_LOAD_TRACTION, ///< A force per rest area with a fixed direction. [Pa]
    SINEW_LOAD_PRESSURE, ///< A pressure that follows the surface and pushes inwards. [Pa]
} sinew_load_kind;

/// A load on triangles of the surface of any body (see sinew/surface.h), or on those faces of a
/// body of elements that have all their nodes in a selection. Give one of both.
typedef struct sinew_load_def {
    sinew_load_kind kind;     ///< Default SINEW_LOAD_TRACTION.
    const int32_t *triangles; ///< Of the body's surface. Borrowed during the call. Default NULL.
    int32_t triangle_count;   ///< [count] Default 0.
    const int32_t *nodes;     ///< Of a body of elements. Borrowed during the call. Default NULL.
    int32_t node_count;       ///< [count] Default 0.
    double traction[3];       ///< For SINEW_LOAD_TRACTION. [Pa] Finite. Default 0.
    double pressure;          ///< For SINEW_LOAD_PRESSURE. [Pa] Finite. Default 0.
    /// Set by the default-maker: by this number an unfilled definition is recognised. Leave it
    /// alone.
    uint32_t filled;
} sinew_load_def;

/// A definition with every field at its default: no load.
SINEW_API sinew_load_def sinew_default_load_def(void);

/// Adds a load and gives its index (`index` may be NULL); a selection of nodes without a whole face
/// is refused. Loads last as long as the body; change them by their scale, which is 1 at first. [-]
/// Finite.
SINEW_API sinew_status sinew_body_add_load(sinew_body *body, const sinew_load_def *def,
                                           int32_t *index);
SINEW_API sinew_status sinew_body_set_load_scale(sinew_body *body, int32_t index, double scale);

/// What a load does now.
typedef struct sinew_load_report {
    sinew_load_kind kind;
    double scale;     ///< [-]
    double rest_area; ///< Of the loaded part, at rest. [m^2]
    double area;      ///< ... and now. [m^2]
    double force[3];  ///< The sum of its forces now, at its scale. [N]
} sinew_load_report;

/// Reports a load by its index.
SINEW_API sinew_status sinew_body_get_load(const sinew_body *body, int32_t index,
                                           sinew_load_report *report);

/// Replaces material number `index` (0 is the first). Density is taken too.
SINEW_API sinew_status sinew_body_set_material(sinew_body *body, int32_t index,
                                               const sinew_material_def *material);
/// Sets the tension of the fibres of material number `index` alone, as often as every step: a
/// muscle or a heart contracts. [Pa] At least 0. Not of warped bodies, springs between frames and
/// position dynamics, which have none.
SINEW_API sinew_status sinew_body_set_fibre_stress(sinew_body *body, int32_t index, double stress);
SINEW_API sinew_status sinew_body_set_damping(sinew_body *body, double mass_damping,
                                              double stiffness_damping);
/// Chooses how the systems of this body are solved from the next step on; SINEW_SOLVER_AUTO, the
/// default, leaves it to the world. Bodies that attachments couple are one system: the first of
/// them that chooses decides.
SINEW_API sinew_status sinew_body_set_solver(sinew_body *body, sinew_solver solver);
SINEW_API sinew_solver sinew_body_get_solver(const sinew_body *body);

/// Elastic forces, and the forces that hold fixed and scripted nodes (zero elsewhere), three
/// numbers a node. [N]
SINEW_API void sinew_body_compute_elastic_forces(sinew_body *body, double *forces);
SINEW_API void sinew_body_compute_reactions(sinew_body *body, double *forces);

/// What an element feels, averaged over its samples by volume.
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

/// Evaluates all elements at once, which is faster than one by one: `states` takes one for each
/// element.
SINEW_API void sinew_body_compute_element_states(sinew_body *body, sinew_element_state *states);

/// Recovered Cauchy stresses: for each node the mean of the elements around it, weighted by their
/// rest volumes. Ten-node tets contribute their stress at the node, extrapolated linearly from
/// their samples; the other elements their average. `stresses` takes six numbers a node, xx yy zz
/// yz zx xy. [Pa] Elements of different materials are averaged too, although the stress may jump
/// between them. SINEW_UNSUPPORTED for bodies without elements.
SINEW_API sinew_status sinew_body_compute_node_stresses(sinew_body *body, double *stresses);

/// Energies, momenta, volume of one body, as sinew_world_get_measures of all.
SINEW_API void sinew_body_get_measures(sinew_body *body, sinew_measures *measures);

/// Natural frequencies about the rest shape with the present supports, by shift-invert Lanczos.
/// Rigid modes come first, as zeros. `frequencies` takes `count` numbers [Hz], ascending; `shapes`
/// may be NULL or takes `count` times three numbers a node, each with unit generalised mass.
SINEW_API sinew_status sinew_body_compute_modes(sinew_body *body, int32_t count,
                                                double *frequencies, double *shapes);

#ifdef __cplusplus
}
#endif

#endif
