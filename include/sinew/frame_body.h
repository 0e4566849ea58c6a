// Bodies driven by a few coordinate frames: nodes that carry the solid between them by their shape
// functions (Gilles et al. 2011, 2013).
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_FRAME_BODY_H
#define SINEW_FRAME_BODY_H

#include "sinew/body.h"
#include "sinew/field.h"
#include "sinew/frame.h"
#include "sinew/material.h"
#include "sinew/mesh.h"
#include "sinew/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The degrees of freedom of a node. The solid around a point translates with it; around a rigid
/// frame it also rotates, around an affine one it also stretches and shears, and around a quadratic
/// one it also bends. A compliant frame bends with strains that follow the stiffness of several
/// materials.
typedef enum sinew_node_kind {
    SINEW_NODE_POINT,     ///< 3 unknowns.
    SINEW_NODE_RIGID,     ///< 6 unknowns.
    SINEW_NODE_AFFINE,    ///< 12 unknowns.
    SINEW_NODE_QUADRATIC, ///< 30 unknowns.
    SINEW_NODE_COMPLIANT, ///< 48 unknowns: the motions 1, d, c and c d, where d is the rest
                          ///< position from the node and c are compliance coordinates, which vary
                          ///< where the solid is soft. For spectral weights.
    SINEW_NODE_AUTO,      ///< As the weights need; see sinew_choose_frames. Frame bodies need one
                          ///< of the others.
} sinew_node_kind;

/// How the motions of the nodes are blended.
typedef enum sinew_blend {
    SINEW_BLEND_LINEAR,          ///< x = sum w_i x_i, for nodes of any kind.
    SINEW_BLEND_DUAL_QUATERNION, ///< Rigid nodes only; no loss of volume where neighbours are
                                 ///< twisted against each other.
} sinew_blend;

/// How the mass of the solid is distributed over the frames.
typedef enum sinew_frame_mass {
    SINEW_FRAME_MASS_AUTO, ///< Row sum; consistent if there are quadratic and no rigid frames, or
                           ///< negative weights.
    SINEW_FRAME_MASS_ROW_SUM,    ///< Each frame has the mass of its share of the solid: exact for
                                 ///< translations, and for rotations of the rest shape. An error if
                                 ///< weights are negative.
    SINEW_FRAME_MASS_CONSISTENT, ///< The mass matrix of the blended motion, with terms between
                                 ///< frames: exact for every motion.
    SINEW_FRAME_MASS_DIAGONAL, ///< The consistent mass without the terms between frames (Gilles et
                               ///< al. 2011), which loses mass. For comparison.
} sinew_frame_mass;

/// A frame in its rest state.
typedef struct sinew_frame_node {
    /// Default SINEW_NODE_RIGID.
    sinew_node_kind kind;
    /// Rest position. [m] Inside the solid. Default 0.
    double position[3];
} sinew_frame_node;

typedef struct sinew_frame_body_def {
    /// Name for messages and files. Copied. Default NULL, which gives "frames".
    const char *name;
    /// The solid. Must outlive the body. Required.
    const sinew_voxels *voxels;
    /// The tissues of its labels. Borrowed during the call. Default NULL: the default tissue for
    /// every label.
    const sinew_tissue *tissues;
    /// Number of tissues. [count] At least 0. Default 0.
    int32_t tissue_count;
    /// Materials. Borrowed during the call. Default NULL: the default material.
    const sinew_material_def *materials;
    /// Number of materials. [count] At least 0. Default 0.
    int32_t material_count;
    /// The label of each material. Borrowed during the call. Default NULL, which is allowed with at
    /// most one material.
    const int32_t *material_labels;
    /// The axes of anisotropic materials, evaluated at the rest positions of the samples. Must
    /// outlive the body. Default NULL: along x, y, z.
    const sinew_field *field;
    /// The frames. Borrowed during the call. Required.
    const sinew_frame_node *nodes;
    /// Number of frames. [count] At least 1.
    int32_t node_count;
    /// Default SINEW_BLEND_LINEAR.
    sinew_blend blend;
    /// The shape functions. Default: sinew_default_weights_def().
    sinew_weights_def weights;
    /// Where strain is measured. Default: sinew_default_sampling_def().
    sinew_sampling_def sampling;
    /// Default SINEW_FRAME_MASS_AUTO.
    sinew_frame_mass mass;
    /// Replaces the samples by springs between the frames, which are computed from them once. They
    /// are as stiff at rest, and a step costs as much as there are pairs of frames; large strains
    /// are less accurate, and inverted samples are not detected. Rigid frames only. Default false.
    bool springs;
    /// Includes the stiffness that results from the rotation of rigid nodes under load. It may be
    /// indefinite, so it is used only by Newton's method with a direct solver, not by linearised
    /// implicit Euler. Default false.
    bool geometric_stiffness;
    /// Measure the strain of rods and sheets where frames can follow it.
    ///
    /// Rigid frames with linear axis weights: the points of each region of samples lie half-way
    /// between its frames, where bending causes no shear. Otherwise a rod of five rigid frames is
    /// about 2 (length 5 thicknesses) to 4 times (10) too stiff.
    ///
    /// Affine frames: the section becomes wider and narrower as it bends, by unknowns that
    /// each region of samples eliminates. Applies to axis weights, and to user weights that do not
    /// vary across the section, with affine frames and region samples of degree 2 (the default
    /// with this). Otherwise such a rod is too stiff in bending by (1 - nu) / ((1 + nu)
    /// (1 - 2 nu)): 1.35 at a Poisson ratio of 0.3. A step takes about twice the time. Default
    /// true.
    bool assumed_strain;
    /// A surface of triangles that follows the body. Borrowed during the call. Default NULL: the
    /// smoothed boundary of the voxels.
    const sinew_mesh *surface;
    /// Rayleigh damping alpha M. [1/s] >= 0. Default 0.
    double mass_damping;
    /// Rayleigh damping beta K. [s] >= 0. Default 0.
    double stiffness_damping;
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
} sinew_frame_body_def;

/// A definition with every field at its default.
SINEW_API sinew_frame_body_def sinew_default_frame_body_def(void);

/// Creates a frame body and adds it to the world, which owns it. `body` may be NULL.
SINEW_API sinew_status sinew_frame_body_create(sinew_world *world, const sinew_frame_body_def *def,
                                               sinew_body **body);

/// Number of frames; 0 for other kinds of body. [count]
SINEW_API int32_t sinew_frame_body_get_node_count(const sinew_body *body);

/// The kind of a frame.
SINEW_API sinew_status sinew_frame_body_get_kind(const sinew_body *body, int32_t node,
                                                 sinew_node_kind *kind);
/// The rest position of a frame, before the body's placement. [m] It differs from the definition if
/// the node was moved into the solid.
SINEW_API sinew_status sinew_frame_body_get_rest(const sinew_body *body, int32_t node,
                                                 double rest[3]);

/// The present position [m] and rotation of a frame, a quaternion (x, y, z, w); for affine and
/// quadratic frames the nearest rotation. Either pointer may be NULL.
SINEW_API sinew_status sinew_frame_body_get_node(const sinew_body *body, int32_t node,
                                                 double position[3], double rotation[4]);

/// The present linear part of a frame, row by row: the rotation of a rigid frame, the identity for
/// a point.
SINEW_API sinew_status sinew_frame_body_get_matrix(const sinew_body *body, int32_t node,
                                                   double matrix[9]);

/// Bits that say what is held of a frame.
enum {
    SINEW_HOLD_NOTHING = 0,
    SINEW_HOLD_TRANSLATION = 1,
    SINEW_HOLD_ROTATION = 2, ///< And the deformation of affine and quadratic frames.
    SINEW_HOLD_ALL = 3,
    SINEW_HOLD_X = 4, ///< Translation along one axis of the world.
    SINEW_HOLD_Y = 8,
    SINEW_HOLD_Z = 16,
    SINEW_HOLD_TURN_X = 32, ///< Rotation about one axis of the world, for rigid frames. Two of the
                            ///< three leave a hinge.
    SINEW_HOLD_TURN_Y = 64,
    SINEW_HOLD_TURN_Z = 128,
};

/// Holds a frame at its present position, completely or in part. `hold` is a sum of bits;
/// SINEW_HOLD_NOTHING releases the frame. What is held follows the targets of
/// sinew_frame_body_move; call that before each step to script a motion.
SINEW_API sinew_status sinew_frame_body_hold(sinew_body *body, int32_t node, int32_t hold);

/// Sets the target of a held frame for the end of the next step: its position [m] and its rotation
/// from rest, a quaternion (x, y, z, w). Either pointer may be NULL, which keeps that target.
SINEW_API sinew_status sinew_frame_body_move(sinew_body *body, int32_t node,
                                             const double position[3], const double rotation[4]);

/// Moves a frame immediately, and sets its velocity to zero: its position [m] and its rotation from
/// rest, a quaternion (x, y, z, w). Either pointer may be NULL, which keeps the position, or the
/// rotation and deformation.
SINEW_API sinew_status sinew_frame_body_set_node(sinew_body *body, int32_t node,
                                                 const double position[3],
                                                 const double rotation[4]);

/// The present velocity [m/s] and angular velocity [rad/s] of a frame, in the axes of the world;
/// for affine and quadratic frames the angular velocity of the nearest rotation. Either pointer may
/// be NULL.
SINEW_API sinew_status sinew_frame_body_get_velocity(const sinew_body *body, int32_t node,
                                                     double velocity[3], double spin[3]);
/// Sets both, neither of which may be NULL. Affine and quadratic frames then do not deform.
SINEW_API sinew_status sinew_frame_body_set_velocity(sinew_body *body, int32_t node,
                                                     const double velocity[3],
                                                     const double spin[3]);

/// The force [N] and the torque about the frame [N m] that held it in the last step or static
/// solve; zero in free directions. Either pointer may be NULL.
SINEW_API sinew_status sinew_frame_body_get_reaction(sinew_body *body, int32_t node,
                                                     double force[3], double torque[3]);

/// Adds a force [N] and a torque about the frame [N m] to those that act on a frame. Either pointer
/// may be NULL. Points take no torque.
SINEW_API sinew_status sinew_frame_body_add_node_force(sinew_body *body, int32_t node,
                                                       const double force[3],
                                                       const double torque[3]);
/// Removes all forces and torques on frames.
SINEW_API void sinew_frame_body_clear_forces(sinew_body *body);

/// A frame that joins a running body.
typedef struct sinew_frame_insert_def {
    /// Default SINEW_NODE_RIGID.
    sinew_node_kind kind;
    /// Its position: that of a rest point, or, if `deformed`, the present one. [m] Inside the
    /// solid. Default 0.
    double position[3];
    /// Whether `position` refers to the deformed body. Default false.
    bool deformed;
    /// The distance inside the solid at which its influence ends; a small range allows local dents.
    /// [m] At least one voxel. Required.
    double range;
    /// The time over which the change of shape and strain is spread. [s] At least 0. Default 0.1.
    double fade;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_frame_insert_def;

SINEW_API sinew_frame_insert_def sinew_default_frame_insert_def(void);

/// Inserts a frame between two steps. It starts with the position, rotation and velocity of the
/// solid there. Momenta are conserved, except for what held frames take up. Strain and surface
/// change smoothly over the fade, and only within its range. `node` receives its number, the next
/// one, and may be NULL. Snapshots fit as long as the body has the same frames; the simulation
/// repeats bit by bit if no frame was inserted or removed in between, and otherwise up to rounding.
SINEW_API sinew_status sinew_frame_body_insert(sinew_body *body, const sinew_frame_insert_def *def,
                                               int32_t *node);

/// Removes an inserted frame; later ones are renumbered. The change is spread over `fade`. [s] At
/// least 0. Frames that the body was created with cannot be removed.
SINEW_API sinew_status sinew_frame_body_remove(sinew_body *body, int32_t node, double fade);

/// What the last insertion or removal computed again. The rest of the body did not change.
typedef struct sinew_frame_change {
    /// Voxels and surface vertices whose weights changed: those in the range of the frame. [count]
    int32_t voxel_count, vertex_count;
    /// Samples whose weights changed: those with a voxel in the range, or next to it. [count]
    int32_t sample_count;
    /// Samples that were packed again: these, and sometimes neighbours in memory. [count]
    int32_t packed_count;
} sinew_frame_change;

/// Reports the last change; all numbers are 0 before the first one.
SINEW_API sinew_status sinew_frame_body_get_last_change(const sinew_body *body,
                                                        sinew_frame_change *change);

/// The weight of every frame at a rest point. [-] `weights` receives one number per frame.
SINEW_API sinew_status sinew_frame_body_get_weights(const sinew_body *body, const double rest[3],
                                                    double *weights);

/// The frames of each vertex of the surface (sinew_body_get_surface), and their weights [-]: for
/// vertex i, items starts[i] to starts[i + 1] - 1 of `nodes` and `weights`. Each output may be
/// NULL. Valid until a frame is inserted or removed, or the body is destroyed.
SINEW_API sinew_status sinew_frame_body_get_surface_weights(sinew_body *body,
                                                            const int32_t **starts,
                                                            const int32_t **nodes,
                                                            const double **weights);

/// The number of springs [count], and the relative difference between their stiffness at rest and
/// that of the samples they replace [-]: zero for two frames, since pairs cannot reproduce all of
/// what more frames do. Either pointer may be NULL.
SINEW_API sinew_status sinew_frame_body_get_springs(const sinew_body *body, int32_t *count,
                                                    double *difference);

/// The voxels of a frame body; NULL for other kinds of body. Valid as long as the caller's voxels
/// are, or as the body if it made them.
SINEW_API const sinew_voxels *sinew_frame_body_get_voxels(const sinew_body *body);

/// The sample of each voxel, without inserted frames: one number per voxel.
SINEW_API sinew_status sinew_frame_body_compute_regions(const sinew_body *body, int32_t *samples);
/// Reports of the weights and the samples. Either pointer may be NULL.
SINEW_API sinew_status sinew_frame_body_get_report(const sinew_body *body,
                                                   sinew_weights_report *weights,
                                                   sinew_sampling_report *sampling);

#ifdef __cplusplus
}
#endif

#endif
