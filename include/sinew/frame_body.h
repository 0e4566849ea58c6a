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

/// What a node can do. A point carries its surroundings along; a rigid frame turns too; an affine
/// one stretches and shears; a quadratic one bends as well; a compliant one does so with strains
/// that follow the stiffness of several materials.
typedef enum sinew_node_kind {
    SINEW_NODE_POINT,     ///< 3 unknowns.
    SINEW_NODE_RIGID,     ///< 6 unknowns.
    SINEW_NODE_AFFINE,    ///< 12 unknowns.
    SINEW_NODE_QUADRATIC, ///< 30 unknowns.
    SINEW_NODE_COMPLIANT, ///< 48 unknowns: the motions 1, d, c and c d, where d is the rest
                          ///< position from the node and c are compliance coordinates, which vary
                          ///< where the solid is soft. For spectral weights.
} sinew_node_kind;

/// How the motions of the nodes are mixed.
typedef enum sinew_blend {
    SINEW_BLEND_LINEAR,          ///< x = sum w_i x_i, any kinds of node.
    SINEW_BLEND_DUAL_QUATERNION, ///< Rigid nodes only: no collapse where neighbours twist against
                                 ///< each other.
} sinew_blend;

/// How the mass of the solid is given to the frames.
typedef enum sinew_frame_mass {
    SINEW_FRAME_MASS_AUTO,    ///< The row sum; consistent with quadratic frames and no rigid
                              ///< ones, and where weights go negative.
    SINEW_FRAME_MASS_ROW_SUM, ///< Each frame as if it carried its share of the solid alone: exact
                              ///< for translations, and for rotations of the rest shape. Refused
                              ///< where weights go negative.
    SINEW_FRAME_MASS_CONSISTENT, ///< The mass of the blended motion, with terms between frames:
                                 ///< exact for every motion.
    SINEW_FRAME_MASS_DIAGONAL, ///< Terms between frames left out (Gilles et al. 2011): loses mass.
                               ///< For comparison.
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
    /// The solid. Must outlive the body. Needed.
    const sinew_voxels *voxels;
    /// What its labels stand for. Borrowed during the call. Default NULL: every label the default
    /// tissue.
    const sinew_tissue *tissues;
    /// Number of tissues. [count] At least 0. Default 0.
    int32_t tissue_count;
    /// Materials. Borrowed during the call. Default NULL: the default material.
    const sinew_material_def *materials;
    /// Number of materials. [count] At least 0. Default 0.
    int32_t material_count;
    /// `material_count` labels; not needed with one material. Borrowed during the call. Default
    /// NULL.
    const int32_t *material_labels;
    /// Where the axes of anisotropic materials point, in rest coordinates; looked up at the
    /// samples. Must outlive the body. Default NULL: along x, y, z.
    const sinew_field *field;
    /// The frames. Borrowed during the call. Needed.
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
    /// Springs between the frames, computed once from the samples, instead of the samples: as stiff
    /// at rest, and a step costs the pairs of frames only; large strains are met less well, and F
    /// is not looked at. Rigid frames only. Default false.
    bool springs;
    /// Keep the stiffness that comes from the turning of rigid nodes under load. It may be
    /// indefinite, so only Newton's iterations with a direct solver use it, not the linearised step
    /// of implicit Euler. Default false.
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

/// Makes a frame body and adds it to the world, which owns it.
SINEW_API sinew_status sinew_frame_body_create(sinew_world *world, const sinew_frame_body_def *def,
                                               sinew_body **body);

/// Frames. [count] 0 for a body that has none.
SINEW_API int32_t sinew_frame_body_get_node_count(const sinew_body *body);

/// What a frame can do.
SINEW_API sinew_status sinew_frame_body_get_kind(const sinew_body *body, int32_t node,
                                                 sinew_node_kind *kind);
/// Where a frame was at rest, before the body's placement. [m] It may have been moved into the
/// solid when the body was made.
SINEW_API sinew_status sinew_frame_body_get_rest(const sinew_body *body, int32_t node,
                                                 double rest[3]);

/// Where a frame is now: position [m] and orientation as a quaternion (x, y, z, w); of affine and
/// quadratic nodes the nearest rotation. Each pointer may be NULL.
SINEW_API sinew_status sinew_frame_body_get_node(const sinew_body *body, int32_t node,
                                                 double position[3], double rotation[4]);

/// The linear part of a frame now, row by row: the rotation of a rigid one, the identity of a
/// point.
SINEW_API sinew_status sinew_frame_body_get_matrix(const sinew_body *body, int32_t node,
                                                   double matrix[9]);

/// Bits of what is held of a frame.
enum {
    SINEW_HOLD_NOTHING = 0,
    SINEW_HOLD_TRANSLATION = 1,
    SINEW_HOLD_ROTATION = 2, ///< And, of affine and quadratic frames, their deformation.
    SINEW_HOLD_ALL = 3,
    SINEW_HOLD_X = 4, ///< Translation along one axis of the world.
    SINEW_HOLD_Y = 8,
    SINEW_HOLD_Z = 16,
    SINEW_HOLD_TURN_X = 32, ///< Of rigid frames: turning about one axis of the world. Two of the
                            ///< three leave a hinge.
    SINEW_HOLD_TURN_Y = 64,
    SINEW_HOLD_TURN_Z = 128,
};

/// Holds a frame where it is, wholly or in part: a sum of bits; SINEW_HOLD_NOTHING sets it free.
/// What is held follows the targets of sinew_frame_body_move; called before each step, that scripts
/// a motion.
SINEW_API sinew_status sinew_frame_body_hold(sinew_body *body, int32_t node, int32_t hold);

/// Where a held frame is at the end of the next step. [m], quaternion (x, y, z, w) relative to
/// rest. Either pointer may be NULL: that target stays.
SINEW_API sinew_status sinew_frame_body_move(sinew_body *body, int32_t node,
                                             const double position[3], const double rotation[4]);

/// Puts a frame somewhere else at once; its velocity becomes zero. [m], quaternion (x, y, z, w)
/// relative to rest. Either pointer may be NULL: the frame then stays there, or stays turned and
/// stretched, as it is.
SINEW_API sinew_status sinew_frame_body_set_node(sinew_body *body, int32_t node,
                                                 const double position[3],
                                                 const double rotation[4]);

/// How fast a frame moves [m/s] and turns [rad/s] now, in the axes of the world; of affine and
/// quadratic ones the turning of the nearest rotation. Either pointer may be NULL.
SINEW_API sinew_status sinew_frame_body_get_velocity(const sinew_body *body, int32_t node,
                                                     double velocity[3], double spin[3]);
/// Sets both; affine and quadratic frames then turn without changing shape.
SINEW_API sinew_status sinew_frame_body_set_velocity(sinew_body *body, int32_t node,
                                                     const double velocity[3],
                                                     const double spin[3]);

/// The force [N] and the torque about the frame [Nm] that held it in the last step or static solve,
/// along what is held; zero along what is free. Either pointer may be NULL.
SINEW_API sinew_status sinew_frame_body_get_reaction(sinew_body *body, int32_t node,
                                                     double force[3], double torque[3]);

/// A force [N] and a torque about the frame [Nm] on a frame itself; either may be NULL. Adds to
/// what was set before. Points take no torque.
SINEW_API sinew_status sinew_frame_body_add_node_force(sinew_body *body, int32_t node,
                                                       const double force[3],
                                                       const double torque[3]);
/// Takes all such forces away.
SINEW_API void sinew_frame_body_clear_forces(sinew_body *body);

/// A frame that joins a running body.
typedef struct sinew_frame_insert_def {
    /// Default SINEW_NODE_RIGID.
    sinew_node_kind kind;
    /// Where: a rest point, or, with `deformed`, where the point is now. [m] Inside the solid.
    /// Default 0.
    double position[3];
    /// Whether `position` is meant in the deformed body. Default false.
    bool deformed;
    /// How far the frame reaches, measured inside the solid: small ranges make local dents. [m] At
    /// least one voxel. Needed.
    double range;
    /// Over which time a jump in shape and strain fades. [s] Not negative. Default 0.1.
    double fade;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_frame_insert_def;

SINEW_API sinew_frame_insert_def sinew_default_frame_insert_def(void);

/// Inserts a frame between steps. It starts where the solid is at its place, turned and moving as
/// the solid there; linear and angular momentum stay as they were, up to the forces of held frames;
/// the strain and the surface go over from the old shape to the new one within the fade. Only what
/// lies in its range changes. `node` receives its number, the next one. Snapshots that were taken
/// before fit no more; those taken afterwards do, as long as the same frames are there. What
/// follows is the same to rounding, and bit for bit if no frame came or went in between.
SINEW_API sinew_status sinew_frame_body_insert(sinew_body *body, const sinew_frame_insert_def *def,
                                               int32_t *node);

/// Takes an inserted frame out again; the numbers of those inserted later go down by one. What
/// changes fades as in an insertion. [s] The frames that the body was created with stay.
SINEW_API sinew_status sinew_frame_body_remove(sinew_body *body, int32_t node, double fade);

/// What the last insertion or removal computed again; the rest of the body stayed as it was.
typedef struct sinew_frame_change {
    /// Voxels and points of the surface whose weights changed: those in the range of the frame.
    int32_t voxel_count, vertex_count;
    /// Samples whose weights changed: those with a voxel in range, or beside one.
    int32_t sample_count;
    /// Samples that were packed again: these, and now and then the rest of a layer that many
    /// samples have left.
    int32_t packed_count;
} sinew_frame_change;

/// Tells it; all numbers are 0 before the first.
SINEW_API sinew_status sinew_frame_body_get_last_change(const sinew_body *body,
                                                        sinew_frame_change *change);

/// The weight of every frame at a rest point: node_count numbers. [-]
SINEW_API sinew_status sinew_frame_body_get_weights(const sinew_body *body, const double rest[3],
                                                    double *weights);

/// The frames that carry each vertex of the body's surface (sinew_body_get_surface), and their
/// weights: those of vertex i are numbers starts[i] to starts[i + 1] - 1 of `nodes` and `weights`.
/// [-] Each output may be NULL. The arrays live until a frame joins or leaves the body, or the body
/// is destroyed.
SINEW_API sinew_status sinew_frame_body_get_surface_weights(sinew_body *body,
                                                            const int32_t **starts,
                                                            const int32_t **nodes,
                                                            const double **weights);

/// The springs of a body that has them: how many, and how far their stiffness at rest differs from
/// that of the samples they were made from, relative to it. [-] Nothing between two frames; with
/// more, pairs cannot hold all of it. Either pointer may be NULL.
SINEW_API sinew_status sinew_frame_body_get_springs(const sinew_body *body, int32_t *count,
                                                    double *difference);

/// The solid that a frame body is made of; NULL for any other body. Lives as long as the body's
/// definition promised.
SINEW_API const sinew_voxels *sinew_frame_body_get_voxels(const sinew_body *body);

/// The sample whose region each voxel of the solid belongs to, before frames joined: as many
/// numbers as there are voxels.
SINEW_API sinew_status sinew_frame_body_compute_regions(const sinew_body *body, int32_t *samples);
/// How the shape functions and samples came out.
SINEW_API sinew_status sinew_frame_body_get_report(const sinew_body *body,
                                                   sinew_weights_report *weights,
                                                   sinew_sampling_report *sampling);

#ifdef __cplusplus
}
#endif

#endif
