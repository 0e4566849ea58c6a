// Frame bodies before they move: shape functions of a few nodes over a label grid, where to put the
// nodes, and where to sample.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_FRAME_H
#define SINEW_FRAME_H

#include "sinew/base.h"
#include "sinew/voxel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The material of a label of the grid.
typedef struct sinew_tissue {
    /// In [1, 65535]; each label at most once per table.
    int32_t label;
    /// Young's modulus, for distances measured in compliance. [Pa] Above 0. Default 1e5.
    double young;
    /// [kg/m3] Above 0. Default 1000.
    double density;
    /// Whether the label forms rigid parts: without strain inside, and without length in the
    /// compliance metric. Default false.
    bool rigid;
    /// The node that the label is bound to: its weight is 1 throughout the label, that of all other
    /// nodes 0. In [0, node_count), or -1 for none. Default -1.
    int32_t node;
} sinew_tissue;

SINEW_API sinew_tissue sinew_default_tissue(void);

/// How the influence of a node spreads.
typedef enum sinew_weights {
    /// Voronoi kernels (Gilles et al. 2013): nearly linear between neighbouring nodes, with local
    /// support. The default.
    SINEW_WEIGHTS_VORONOI,
    /// Solutions of Laplace's equation, 1 at the node and 0 at the others, without flux through the
    /// surface (Gilles et al. 2011).
    SINEW_WEIGHTS_HARMONIC,
    /// A decreasing function of the distance from the node, measured inside the solid.
    SINEW_WEIGHTS_GEODESIC,
    /// A decreasing function of the straight distance from the node.
    SINEW_WEIGHTS_RADIAL,
    /// Piecewise linear along an axis.
    SINEW_WEIGHTS_AXIS_LINEAR,
    /// Catmull-Rom splines along an axis; smooth, with negative weights.
    SINEW_WEIGHTS_AXIS_CUBIC,
    /// Combinations of the smoothest functions on the solid, as many as there are nodes. Every node
    /// reaches every voxel, and weights become negative. A few quadratic nodes with these weights
    /// deform as the solid does.
    SINEW_WEIGHTS_SPECTRAL,
    /// Given by the caller for every voxel.
    SINEW_WEIGHTS_USER,
    /// Spectral where these suit the solid and its frames, otherwise Voronoi; see
    /// sinew_choose_frames. For frames that are placed automatically; a frame body takes Voronoi.
    SINEW_WEIGHTS_AUTO,
} sinew_weights;

/// How long a path is.
typedef enum sinew_metric {
    SINEW_METRIC_EUCLIDEAN,  ///< Its length, except inside parts that are bound to a node, which
                             ///< have none.
    SINEW_METRIC_COMPLIANCE, ///< The integral of 1/E along it, so that stiff material counts as
                             ///< short. Harmonic weights use E as the conductivity.
} sinew_metric;

typedef struct sinew_weights_def {
    /// Default Voronoi.
    sinew_weights kind;
    /// For Voronoi, geodesic, harmonic and spectral weights. Default compliance.
    sinew_metric metric;
    /// Voronoi: the number of times the kernel is halved, 1/2, 1/4, ... With few levels some voxels
    /// may not be reached; with many, kernels reach further. In [1, 16]. Default 2.
    int32_t levels;
    /// Radial and geodesic: distance at which the weight becomes 0; with the compliance metric, the
    /// distance in the softest material. [m] At least 0; 0 means unlimited. Default 0.
    double range;
    /// Radial and geodesic: the weight falls like (1 / distance - 1 / range) to this power. [-] In
    /// [1, 8]. Default 2.
    double falloff;
    /// Axis kinds: the direction of the axis. [-] Not zero. Default x.
    double axis[3];
    /// Harmonic: voxels whose centres are within this distance of a node have its weight 1; at
    /// least the nearest voxel does. [m] At least 0. Default 0.
    double node_radius;
    /// Harmonic: relative residual at which the solver stops. [-] In (0, 1). Default 1e-10.
    double tolerance;
    /// Harmonic: largest number of iterations. [count] Above 0. Default 200.
    int32_t max_iterations;
    /// Weights of smaller absolute value are dropped, and the others scaled so that the sum stays
    /// the same. [-] In [0, 0.5). Default 1e-6.
    double cutoff;
    /// Largest number of weights stored at a voxel; the smallest are dropped, and the report states
    /// the loss. [count] In [1, 64]. Default 16.
    int32_t nodes_per_voxel;
    /// Whether weights are scaled to a sum of 1. Without it, only dual quaternions can blend them.
    /// Default true.
    bool normalize;
    /// Whether voxels that no node reaches are given to the nearest node, by straight distance.
    /// Otherwise they are an error. Default false.
    bool adopt_unreached;
    /// Whether nodes outside the solid are moved to the nearest voxel. Otherwise they are an error.
    /// Default false.
    bool adopt_outside;
    /// User: node_count numbers for each voxel. [-] Borrowed during the call. Default NULL.
    const double *values;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_weights_def;

SINEW_API sinew_weights_def sinew_default_weights_def(void);

/// Report of the weights.
typedef struct sinew_weights_report {
    int64_t entry_count; ///< Weights stored. [count]
    double mean_nodes;   ///< Nodes at a voxel on average. [count]
    int32_t most_nodes;  ///< Nodes at a voxel at most, before the cap. [count]
    double largest_loss; ///< Largest sum of absolute weights dropped at a voxel by the cap and the
                         ///< cutoff. [-]
    int32_t unreached_voxels; ///< Voxels that no node reached, and that were given to the nearest
                              ///< one. [count]
    int32_t moved_nodes;      ///< Nodes outside the solid that were moved into it. [count]
    double residual;          ///< Harmonic: largest relative residual. [-]
    int32_t iterations; ///< Harmonic: those of the slowest node; spectral: sweeps for the modes.
                        ///< [count]
    double condition;   ///< Spectral: condition number of the modes at the nodes; 1 is best, and
                        ///< above 100 there is a warning. [-]
    double node_error;  ///< Largest difference from 1 of the weight of a node at its own rest
                        ///< position. [-]
    double bound_jump;  ///< Largest drop of a weight within one voxel, at the end of a part that is
                        ///< bound to its node; above 0.5 there is a warning. [-]
} sinew_weights_report;

typedef enum sinew_sampling {
    SINEW_SAMPLING_MIDPOINT, ///< One sample for each block of voxels with one label, with the
                             ///< weights and gradients averaged over the block.
    SINEW_SAMPLING_REGIONS,  ///< One sample for each region in which the weights are nearly linear
                             ///< (Gilles et al. 2013).
    SINEW_SAMPLING_POINTS, ///< A few of many candidate points, chosen such that the lowest motions
                           ///< of the frames have the right energy. For spectral weights only.
    SINEW_SAMPLING_AUTO,   ///< Points for spectral weights, otherwise regions.
} sinew_sampling;

typedef struct sinew_sampling_def {
    /// Default automatic.
    sinew_sampling kind;
    /// Requested number of samples. [count] At least 0. Midpoint: 0 takes every voxel. Regions:
    /// they are merged and split until there are as many; 0 means that `fit_error` decides. Points:
    /// the largest number; 0 means that `energy_error` decides. Default 0.
    int32_t count;
    /// Midpoint: the number of blocks along x, y and z, instead of `count`. [count] All at least 1,
    /// or all 0. Default 0.
    int32_t counts[3];
    /// Points: largest relative error of the energies of the frames' lowest motions. [-] In (0, 1).
    /// Default 0.003.
    double energy_error;
    /// Regions, if `count` is 0: largest deviation of the weights of a region from linear
    /// functions, as the root mean square over the region of all nodes together. [-] Above 0.
    /// Default 0.08.
    double fit_error;
    /// Regions: polynomials in the rest position up to this degree are integrated exactly over each
    /// region, with as few points as possible: 1 up to degree 1, 4 or 6 for degree 2, at most 20
    /// for 3, 35 for 4. Where the weights are linear, energies and forces are such polynomials: of
    /// degree 2 with rigid and affine frames (4 with Green strain), of degree 4 with quadratic
    /// frames (8 with Green strain). In [0, 8], or -1 for that degree, but at most 4. Default -1.
    int32_t degree;
    /// Whether regions end where labels change, so that each has one material. Otherwise the
    /// stiffness of a region is averaged. Default true.
    bool by_label;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_sampling_def;

SINEW_API sinew_sampling_def sinew_default_sampling_def(void);

/// Report of the samples.
typedef struct sinew_sampling_report {
    int32_t sample_count;
    int32_t point_count;   ///< Points at which strain is measured, at least one per sample. [count]
    double volume;         ///< Volume of all samples, which is that of the voxels. [m3]
    double mass;           ///< [kg]
    double mean_fit_error; ///< Mean absolute deviation of the weights from their linear fits. [-]
    double largest_fit_error; ///< The largest deviation of a region, as defined at `fit_error`. [-]
    double energy_error;      ///< Points: the largest relative error of the energies. [-]
    double mean_nodes;        ///< Nodes at a sample on average. [count]
    int32_t most_nodes;       ///< Largest number of nodes at a sample. [count]
    /// Motions that no sample resists, besides rigid ones; above 0 there are too few samples, and
    /// a warning says so. Counted for bodies of up to 300 unknowns without springs,
    /// otherwise 0. [count]
    int32_t free_motions;
} sinew_sampling_report;

/// How nodes are placed.
typedef enum sinew_placement {
    /// Spread evenly over the solid. The default.
    SINEW_PLACEMENT_EVEN,
    /// Where they distinguish the lowest modes of the solid best, for spectral weights; the ends
    /// come first.
    SINEW_PLACEMENT_SPECTRAL,
    /// As the weights need; see sinew_choose_frames. sinew_place_nodes spreads evenly.
    SINEW_PLACEMENT_AUTO,
} sinew_placement;

/// Where to put nodes.
typedef struct sinew_placement_def {
    /// Default even.
    sinew_placement kind;
    /// Number of nodes, including the fixed ones. [count] At least 1.
    int32_t count;
    /// Positions of nodes that are given, three numbers each. [m] Borrowed during the call. Default
    /// NULL.
    const double *fixed;
    /// Number of fixed nodes. [count] In [0, count]. Default 0.
    int32_t fixed_count;
    /// Whether each connected rigid part without a fixed node gets one; it is included in `count`.
    /// Default true.
    bool rigid_parts;
    /// Default compliance.
    sinew_metric metric;
    /// Even: largest number of sweeps of Lloyd's relaxation. [count] At least 0. Default 20.
    int32_t relaxations;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_placement_def;

SINEW_API sinew_placement_def sinew_default_placement_def(void);

/// Places nodes in a solid: by farthest points and Lloyd's relaxation (Gilles et al. 2013, 1.5.4),
/// or where they suit spectral weights. `tissues` must cover every label of the grid; if
/// tissue_count is 0, it may be NULL and every label has the default tissue. `positions` receives
/// three numbers for each of def->count nodes [m]: fixed nodes first, then those of rigid parts.
/// `part_nodes` receives the number of the latter and may be NULL. Each disconnected part gets a
/// node too; fails if there are fewer nodes than parts.
SINEW_API sinew_status sinew_place_nodes(sinew_context *context, const sinew_voxels *voxels,
                                         const sinew_tissue *tissues, int32_t tissue_count,
                                         const sinew_placement_def *def, double *positions,
                                         int32_t *part_nodes);

#ifdef __cplusplus
}
#endif

#endif
