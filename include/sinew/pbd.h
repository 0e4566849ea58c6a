// Strain-based position dynamics: soft flesh that follows a skeleton, or falls freely, at a fixed
// cost per step.
//
// Every tetrahedron has seven constraints in its material frame: three stretches, three shears, one
// volume. A step predicts the positions of the free nodes, projects the constraints a fixed number
// of times, and computes velocities from the displacements. Kinematic nodes are moved by the caller
// (see sinew_rig_move_nodes). A body is used on its own (sinew_pbd_create), or in a world together
// with other bodies (sinew_pbd_body_create), which then provides gravity, the step, and the held
// nodes.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_PBD_H
#define SINEW_PBD_H

#include "sinew/mesh.h"
#include "sinew/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The meaning of a material's seven numbers.
typedef enum sinew_pbd_mode {
    /// The fraction of each constraint's violation that one projection removes, in [0, 1]. How
    /// stiff the body appears depends on the iterations, the step and the mesh (Mueller et al.
    /// 2007).
    SINEW_PBD_STIFFNESS,
    /// Moduli in pascals. At convergence the body is an elastic solid, independent of the
    /// iterations, the step and the mesh (Macklin et al. 2016).
    SINEW_PBD_COMPLIANCE,
} sinew_pbd_mode;

/// The order in which tets are projected.
typedef enum sinew_pbd_order {
    SINEW_PBD_LAYERED,  ///< Layer by layer, outwards from the tets at kinematic nodes and rigid
                        ///< cores (Cai 2016).
    SINEW_PBD_COLORED,  ///< As one layer: the order that suits the machine best.
    SINEW_PBD_SEQUENCE, ///< One after the other as the mesh lists them. For comparison; slower.
} sinew_pbd_order;

/// Seven constants along the material frame's axes 1, 2, 3.
typedef struct sinew_pbd_material {
    /// Stretch along the axes. [-] In [0, 1], or [Pa] >= 0 with SINEW_PBD_COMPLIANCE. Default 0.8.
    double stretch[3];
    /// Shear of the axes 23, 31, 12. [-] In [0, 1], or [Pa] >= 0. Default 0.5.
    double shear[3];
    /// Volume. [-] In [0, 1], or [Pa] >= 0. Default 0.5.
    double volume;
    /// Mass per rest volume. [kg/m^3] > 0. Default 1000.
    double density;
} sinew_pbd_material;

/// Defaults for SINEW_PBD_STIFFNESS.
SINEW_API sinew_pbd_material sinew_default_pbd_material(void);

/// Moduli for SINEW_PBD_COMPLIANCE that give an isotropic solid for small strains: stretch 2 mu,
/// shear mu, volume lambda. `young` [Pa] > 0, `poisson` [-] in [0, 0.5).
SINEW_API sinew_pbd_material sinew_isotropic_pbd_material(double young, double poisson,
                                                          double density);

/// How a body of tets is simulated. Arrays are borrowed during the call that creates the body, and
/// copied.
typedef struct sinew_pbd_def {
    /// Default SINEW_PBD_STIFFNESS.
    sinew_pbd_mode mode;
    /// Default SINEW_PBD_LAYERED.
    sinew_pbd_order order;
    /// Projections of all constraints in a step. [count] In [1, 10000]. Default 10.
    int32_t iterations;
    /// During the first iterations, this many, the masses of a layer's nodes are raised once it is
    /// projected, so that the next layer follows it and does not pull it back. [count] In [0,
    /// iterations]. Default 2. Only for stiffnesses in layered order.
    int32_t consolidating;
    /// Factor by which these masses are raised. [-] In [1, 1e9]. Default 100.
    double consolidation;
    /// Acceleration of all free nodes. [m/s^2] Finite. Default (0, 0, -9.81).
    double gravity[3];
    /// Rate at which all velocities decay, as in air. [1/s] In [0, 1e9]. Default 0.
    double drag;
    /// Rate at which the non-rigid part of the velocities decays; conserves momentum. [1/s] In [0,
    /// 1e9]. Default 1.
    double damping;
    /// Materials, `material_count` of them. Default NULL: one, sinew_default_pbd_material.
    const sinew_pbd_material *materials;
    /// Number of `materials`. [count] At least 0. Default 0.
    int32_t material_count;
    /// The material of each tet, in [0, material_count). Default NULL: material 0 for all.
    const int32_t *tet_materials;
    /// Nine numbers per tet, row by row: a rotation whose columns are the material axes. Default
    /// NULL: the world's axes.
    const double *frames;
    /// One byte per node: nonzero if the caller moves it. Default NULL: all nodes are free.
    const uint8_t *kinematic;
    /// One number per tet: the rigid core it belongs to, or negative for none. The nodes of a core
    /// keep their distances; either all nodes of a core are kinematic or none. Default NULL: no
    /// cores.
    const int32_t *cores;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_pbd_def;

SINEW_API sinew_pbd_def sinew_default_pbd_def(void);

/// Opaque: a body of tets under position dynamics.
typedef struct sinew_pbd sinew_pbd;

/// Creates a body at rest. The mesh has TET4 elements in the rest state, and is copied.
SINEW_API sinew_status sinew_pbd_create(sinew_context *context, const sinew_mesh *mesh,
                                        const sinew_pbd_def *def, sinew_pbd **pbd);

/// NULL is allowed.
SINEW_API void sinew_pbd_destroy(sinew_pbd *pbd);

/// Writes three numbers per node. [m]
SINEW_API void sinew_pbd_get_positions(const sinew_pbd *pbd, double *positions);
/// Writes three numbers per node. [m/s]
SINEW_API void sinew_pbd_get_velocities(const sinew_pbd *pbd, double *velocities);
/// Sets the positions and velocities of all nodes, kinematic ones included. [m], [m/s].
/// `velocities` NULL: at rest. Fails on numbers that are not finite.
SINEW_API sinew_status sinew_pbd_set_state(sinew_pbd *pbd, const double *positions,
                                           const double *velocities);

/// The outcome of a step.
typedef struct sinew_pbd_report {
    double residual;   ///< Root of the volume-weighted mean square of all seven constraints, after
                       ///< the step. [-]
    double worst;      ///< The largest constraint value. [-]
    int32_t worst_tet; ///< The tet that has it.
    int32_t inverted;  ///< Tets of negative volume. [count]
    double volume;     ///< Of all tets. [m^3]
} sinew_pbd_report;

/// Advances the time by `h` [s] > 0. `targets`: the positions of the kinematic nodes at its end,
/// three numbers for every node, of which only theirs are read; NULL: they stay. `forces`: on every
/// node [N], or NULL. If a number stops being finite, the state stays as before and the status is
/// SINEW_DIVERGED. Allocates nothing.
SINEW_API sinew_status sinew_pbd_step(sinew_pbd *pbd, double h, const double *targets,
                                      const double *forces);

/// Measures the current state.
SINEW_API void sinew_pbd_measure(sinew_pbd *pbd, sinew_pbd_report *report);

/// The layer of each tet: its distance in tets from the attached ones, which have 0; -1 for tets
/// that cannot deform (all nodes kinematic, or of one core). Valid as long as the body.
SINEW_API const int32_t *sinew_pbd_layers(const sinew_pbd *pbd, int32_t *layer_count);

/// Definition of a body under position dynamics in a world.
typedef struct sinew_pbd_body_def {
    /// Name for messages and files. Copied. Default NULL, which gives "body".
    const char *name;
    /// The rest shape, of TET4. Borrowed during the call. Required.
    const sinew_mesh *mesh;
    /// A surface of triangles that follows the body. Borrowed during the call. Default NULL: the
    /// boundary of the mesh.
    const sinew_mesh *surface;
    /// How it moves. `gravity` is ignored: the world's is used. `kinematic` must be NULL: nodes are
    /// held in all directions with sinew_body_fix_nodes and moved with sinew_body_move_nodes.
    /// Default sinew_default_pbd_def().
    sinew_pbd_def pbd;
    /// Initial placement x = R X + t: t. [m] Finite. Default 0.
    double position[3];
    /// ... and R, as a quaternion (x, y, z, w); its length does not matter. [-] Not zero. Default
    /// (0, 0, 0, 1).
    double rotation[4];
    /// Initial velocity v + w x (x - t): v. [m/s] Finite. Default 0.
    double velocity[3];
    /// ... and w. [rad/s] Finite. Default 0.
    double angular_velocity[3];
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_pbd_body_def;

/// A definition with every field at its default.
SINEW_API sinew_pbd_body_def sinew_default_pbd_body_def(void);

/// Makes a body under position dynamics and adds it to the world, which owns it. It is read, held,
/// moved, loaded and measured like any other, touches and is attached to positions and to other
/// bodies under position dynamics; it has no stiffness matrix, so it has neither modes nor a static
/// solve, and the forces that hold its nodes are not known (zero).
/// Stress and elastic energy follow from moduli (SINEW_PBD_COMPLIANCE); with stiffnesses they are 0
/// and NaN.
SINEW_API sinew_status sinew_pbd_body_create(sinew_world *world, const sinew_pbd_body_def *def,
                                             sinew_body **body);

#ifdef __cplusplus
}
#endif

#endif
