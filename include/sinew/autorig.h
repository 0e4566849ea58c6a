// From data to a running model in one call: voxels of several tissues, or closed surfaces, become a
// frame body with placed nodes, shape functions, samples and mass, and a report that describes the
// model.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_AUTORIG_H
#define SINEW_AUTORIG_H

#include "sinew/frame_body.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How automatic frames drive a solid: what is decided, and what is to be chosen.
typedef struct sinew_frame_choice {
    /// Default automatic.
    sinew_weights weights;
    /// Default automatic.
    sinew_placement placement;
    /// Default automatic.
    sinew_node_kind kind;
    /// Default SINEW_BLEND_LINEAR.
    sinew_blend blend;
    /// Number of frames. [count] At least 0. Default 0: automatic.
    int32_t count;
    /// How many of these have given positions. [count] At least 0. Default 0.
    int32_t fixed_count;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_frame_choice;

/// Everything automatic.
SINEW_API sinew_frame_choice sinew_default_frame_choice(void);

/// Replaces what is automatic in a choice. Weights become spectral if the solid is in one piece
/// without bound parts, of at least 200 voxels in two layers along each axis, and has at most 12
/// frames, none at a given position and three to eight more than rigid parts, that are blended
/// linearly and of a kind that bends; otherwise Voronoi. A solid of too few voxels is logged as a
/// warning. Spectral weights have a placement of their own and quadratic frames, or compliant ones
/// if the stiffness varies or parts are rigid: six of them, but five more than there are rigid
/// parts. Voronoi weights have ten affine frames, spread evenly. `tissues` must cover every label
/// of the grid; if tissue_count is 0, it may be NULL.
SINEW_API sinew_status sinew_choose_frames(sinew_context *context, const sinew_voxels *voxels,
                                           const sinew_tissue *tissues, int32_t tissue_count,
                                           sinew_frame_choice *choice);

/// The material of a label of the grid.
typedef struct sinew_autorig_tissue {
    /// In [1, 65535]; each label at most once per table.
    int32_t label;
    /// The law, its constants and the density. Default: sinew_default_material_def().
    sinew_material_def material;
    /// The label moves as rigid pieces, each with a node of its own. Default false.
    bool rigid;
} sinew_autorig_tissue;

SINEW_API sinew_autorig_tissue sinew_default_autorig_tissue(void);

typedef struct sinew_autorig_def {
    /// Name for messages and files. Copied. Default NULL, which gives "frames".
    const char *name;
    /// The solid. Must outlive the body. Default NULL: made from `surfaces`.
    const sinew_voxels *voxels;
    /// Closed surfaces with labels and priorities, voxelised by `grid`. Borrowed during the call.
    /// Default NULL.
    const sinew_labelled_surface *surfaces;
    /// Number of surfaces. [count] Default 0.
    int32_t surface_count;
    /// Resolution of that grid. Default: sinew_default_voxel_def().
    sinew_voxel_def grid;
    /// One per label. Borrowed during the call. Default NULL: every label gets the default tissue.
    const sinew_autorig_tissue *tissues;
    /// Number of tissues. [count] At least 0. Default 0.
    int32_t tissue_count;
    /// Where nodes are placed. `count` includes fixed ones and those of rigid parts; 0 is
    /// automatic. Default: sinew_default_placement_def() with automatic kind and count.
    sinew_placement_def placement;
    /// The degrees of freedom of the nodes: any kind but points; nodes in rigid parts are always
    /// rigid. Default SINEW_NODE_AUTO, as sinew_choose_frames says.
    sinew_node_kind kind;
    /// Default SINEW_BLEND_LINEAR. Dual quaternions need `kind` rigid.
    sinew_blend blend;
    /// The shape functions. Default: sinew_default_weights_def(), with automatic kind and
    /// `adopt_unreached`.
    sinew_weights_def weights;
    /// Where strain is measured. Default: sinew_default_sampling_def().
    sinew_sampling_def sampling;
    /// A surface that follows the body. Borrowed during the call. Default NULL: the smoothed
    /// boundary of the voxels.
    const sinew_mesh *surface;
    /// Rayleigh damping alpha M. [1/s] >= 0. Default 0.
    double mass_damping;
    /// Rayleigh damping beta K. [s] >= 0. Default 0.
    double stiffness_damping;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_autorig_def;

/// A definition with every field at its default.
SINEW_API sinew_autorig_def sinew_default_autorig_def(void);

/// The model in numbers.
typedef struct sinew_autorig_report {
    sinew_frame_choice chosen; ///< Weights, placement, kind and number of the frames.
    int32_t voxel_count;       ///< [count]
    int32_t rigid_node_count;  ///< Nodes in rigid parts. [count]
    int32_t unknown_count;     ///< Scalars that a step solves for. [count]
    double volume;             ///< [m3]
    double mass;               ///< [kg]
    double
        young[2]; ///< Least and most Young's modulus over the soft voxels, gradients included. [Pa]
    double coverage[2]; ///< Least and most of the volume that one node dominates, as a share of the
                        ///< whole. [-]
    double coverage_mean; ///< The even share, 1 / nodes. [-]
    double reach;         ///< Mean distance of a voxel from the node that dominates it. [m]
    double frequency[2];  ///< Lowest elastic and highest natural frequency, free in space; 0: none.
                          ///< [Hz]
    double condition;     ///< Square of their ratio: the condition of the stiffness measured by the
                          ///< mass. [-]
    double stable_step;   ///< Longest step of the explicit integrator, 1 / (pi f); 0: none. [s]
    double advised_step;  ///< A thirtieth of the slowest elastic period, at most 1/30 s. [s]
    sinew_voxel_report voxels;      ///< Of surfaces that were voxelised.
    sinew_weights_report weights;   ///< How the shape functions came out.
    sinew_sampling_report sampling; ///< How the samples came out.
} sinew_autorig_report;

/// Creates a frame body from a solid and adds it to the world, which owns it. Fails on an unknown
/// label and on fewer nodes than rigid and disconnected parts; the message names the offender.
/// `report` and `body` may be NULL.
SINEW_API sinew_status sinew_autorig_create(sinew_world *world, const sinew_autorig_def *def,
                                            sinew_autorig_report *report, sinew_body **body);

/// Replaces what is automatic in a definition with what sinew_autorig_create would take. Fails if
/// `def` has no voxels.
SINEW_API sinew_status sinew_autorig_resolve(sinew_context *context, sinew_autorig_def *def);

/// Estimates how far models with the settings of `def` and `count` numbers of frames are from the
/// solid: errors[i] is the largest relative error to be expected in the six lowest natural
/// frequencies, free in space, with frames[i] frames [-]; infinite if these are too few for the
/// rigid and disconnected parts, or have too few unknowns. Compares them with models of four and
/// eight frames with spectral weights, extrapolated, all on a copy of the grid with at most about
/// 20 000 voxels. Automatic settings are resolved once, for all numbers of frames. Measured on five
/// solids, the estimate is 0.5 to 2.2 times the true error. Fails if `def` has no voxels.
SINEW_API sinew_status sinew_autorig_estimate_error(sinew_context *context,
                                                    const sinew_autorig_def *def,
                                                    const int32_t *frames, int32_t count,
                                                    double *errors);

#ifdef __cplusplus
}
#endif

#endif
