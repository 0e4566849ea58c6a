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
    /// The label moves as rigid pieces: no strain inside, one point of the compliance metric.
    /// Default false.
    bool rigid;
    /// A node that carries all of it: weight 1 there, every other node 0. In [0, node_count), or -1
    /// for none. Default -1.
    int32_t node;
} sinew_tissue;

SINEW_API sinew_tissue sinew_default_tissue(void);

/// How the influence of a node spreads.
typedef enum sinew_weights {
    /// Voronoi kernels (Gilles et al. 2013): linear in the distance to the neighbours, local. The
    /// default.
    SINEW_WEIGHTS_VORONOI,
    /// Laplace's equation: 1 at the own node, 0 at the others, no flux through the surface (Gilles
    /// et al. 2011).
    SINEW_WEIGHTS_HARMONIC,
    /// A falling function of the distance inside the solid.
    SINEW_WEIGHTS_GEODESIC,
    /// A falling function of the straight distance.
    SINEW_WEIGHTS_RADIAL,
    /// Piecewise linear along an axis.
    SINEW_WEIGHTS_AXIS_LINEAR,
    /// Catmull-Rom splines along an axis; smooth, with negative weights.
    SINEW_WEIGHTS_AXIS_CUBIC,
    /// Combinations of the smoothest functions on the solid, as many as there are nodes. Every node
    /// reaches every voxel, and weights become negative. A few quadratic nodes with these weights
    /// deform as the solid does.
    SINEW_WEIGHTS_SPECTRAL,
    /// Given for every voxel.
    SINEW_WEIGHTS_USER,
} sinew_weights;

/// How long a path is.
typedef enum sinew_metric {
    SINEW_METRIC_EUCLIDEAN,  ///< Its length, apart from what leads through a part that a node in it
                             ///< carries wholly.
    SINEW_METRIC_COMPLIANCE, ///< The integral of 1/E along it: stiff material is near. Harmonic
                             ///< functions take E as conductivity.
} sinew_metric;

typedef struct sinew_weights_def {
    /// Default Voronoi.
    sinew_weights kind;
    /// For Voronoi, geodesic, harmonic and spectral weights. Default compliance.
    sinew_metric metric;
    /// Voronoi: halvings of the kernel, 1/2, 1/4, ... Few leave parts unreached, many reach far. In
    /// [1, 16]. Default 2.
    int32_t levels;
    /// Radial and geodesic: distance at which the weight is 0. [m] (through the softest material,
    /// if the metric is compliance) At least 0; 0: unlimited. Default 0.
    double range;
    /// Radial and geodesic: the weight falls like (1 / distance - 1 / range) to this power. [-] In
    /// [1, 8]. Default 2.
    double falloff;
    /// Axis: its direction. Not zero. Default x.
    double axis[3];
    /// Harmonic: voxels whose middles are this close to a node belong to it; at least the nearest
    /// one does. [m] Default 0.
    double node_radius;
    /// Harmonic: residual relative to the right-hand side at which the solver stops. [-] In (0, 1).
    /// Default 1e-10.
    double tolerance;
    /// Harmonic: iterations at most. [count] Above 0. Default 200.
    int32_t max_iterations;
    /// Weights (absolute values) below this are dropped and the rest scaled to the old sum. [-] In
    /// [0, 0.5). Default 1e-6.
    double cutoff;
    /// Nodes kept at a voxel, the largest first; what is lost is reported. [count] In [1, 64].
    /// Default 16.
    int32_t nodes_per_voxel;
    /// Scale the weights to sum to 1. Off, only dual quaternions accept them. Default true.
    bool normalize;
    /// Give voxels that no node reaches to the nearest node (straight distance) instead of
    /// refusing. Default false.
    bool adopt_unreached;
    /// Move nodes that are outside the solid to the nearest voxel instead of refusing. Default
    /// false.
    bool adopt_outside;
    /// User: node_count numbers for each voxel. Borrowed in the call.
    const double *values;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_weights_def;

SINEW_API sinew_weights_def sinew_default_weights_def(void);

/// How the shape functions came out.
typedef struct sinew_weights_report {
    int64_t entry_count; ///< Weights stored. [count]
    double mean_nodes;   ///< Nodes at a voxel on average. [count]
    int32_t most_nodes;  ///< Nodes at a voxel at most, before the cap. [count]
    double largest_loss; ///< Largest sum of absolute weights dropped at a voxel by the cap and the
                         ///< cutoff. [-]
    int32_t unreached_voxels; ///< Given to the nearest node. [count]
    int32_t moved_nodes;      ///< Nodes outside that were moved in. [count]
    double residual;          ///< Harmonic: largest relative residual. [-]
    int32_t iterations; ///< Harmonic: of the slowest node; spectral: sweeps of the modes. [count]
    double condition;   ///< Spectral: how well the nodes tell the modes apart, from 1 (best); above
                        ///< 100 there is a warning. [-]
    double
        node_error; ///< Largest difference from 1 of a node's own weight at its rest position. [-]
    double bound_jump; ///< Largest fall of a node's weight within a voxel, where a part ends that
                       ///< is bound to it: above a half there is a warning. [-]
} sinew_weights_report;

typedef enum sinew_sampling {
    SINEW_SAMPLING_MIDPOINT, ///< One sample for each block of voxels of a label; weights and
                             ///< gradients averaged over the block.
    SINEW_SAMPLING_REGIONS,  ///< One sample for each region in which the weights are nearly linear
                             ///< (Gilles et al. 2013).
    SINEW_SAMPLING_POINTS,   ///< Points chosen from many so that the lowest motions of the frames
                             ///< have the right energy. For spectral weights only.
    SINEW_SAMPLING_AUTO,     ///< Points for spectral weights, otherwise regions.
} sinew_sampling;

typedef struct sinew_sampling_def {
    /// Default automatic.
    sinew_sampling kind;
    /// Requested number of samples. [count] At least 0. Midpoint: 0 takes every voxel. Regions:
    /// joined, then subdivided where they fit worst, until there are as many; 0 leaves it to
    /// `fit_error`. Points: at most as many; 0 leaves it to `energy_error`. Default 0.
    int32_t count;
    /// Midpoint: blocks along x, y and z instead of `count`. [count] All at least 1, or all 0.
    /// Default 0.
    int32_t counts[3];
    /// Points: how far the energies of the lowest motions of the frames may be off. [-] In (0, 1).
    /// Default 0.003.
    double energy_error;
    /// Regions, if `count` is 0: joined and subdivided so that the weights of each differ from
    /// linear by less: the differences of all nodes together (root of the sum of their squares,
    /// mean square over the region). [-] Above 0. Default 0.08.
    double fit_error;
    /// Regions: polynomials of the rest position up to this degree are integrated exactly over each
    /// region, by as few points as that takes: 1 up to degree 1, 4 or 6 for degree 2, at most 20
    /// for 3, 35 for 4. Energies and forces are such polynomials where a region's weights are
    /// linear: of degree 2 with rigid and affine frames (4 with Green strain), of degree 4 with
    /// quadratic ones (8 with Green strain). In [0, 8], or -1: as that says, 4 at most. Default -1.
    int32_t degree;
    /// Regions end where labels change, so that each has one material. Off, a region's stiffness is
    /// averaged. Default true.
    bool by_label;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_sampling_def;

SINEW_API sinew_sampling_def sinew_default_sampling_def(void);

/// How the samples came out.
typedef struct sinew_sampling_report {
    int32_t sample_count;
    int32_t point_count;   ///< Points at which strain is measured: the samples, or more in regions.
                           ///< [count]
    double volume;         ///< Sum; equals the voxels' volume. [m3]
    double mass;           ///< [kg]
    double mean_fit_error; ///< Mean absolute difference between the weights and their fit, over
                           ///< voxels and their nodes. [-]
    double largest_fit_error; ///< Of all nodes together, root mean square over a region, the
                              ///< largest. [-]
    double energy_error;      ///< Points: what is left of `energy_error`. [-]
    double mean_nodes;        ///< Nodes at a sample on average. [count]
    int32_t most_nodes;       ///< At most. [count]
    /// Motions that no sample resists, beside those of a rigid body: above 0 there are too few
    /// samples, and a warning says so. Counted for bodies of up to 300 unknowns without springs,
    /// otherwise 0. [count]
    int32_t free_motions;
} sinew_sampling_report;

/// How nodes are placed.
typedef enum sinew_placement {
    /// Far from each other and in the middle of what they carry. The default.
    SINEW_PLACEMENT_EVEN,
    /// Where they tell the lowest modes of the solid apart best, for spectral weights: the ends
    /// first.
    SINEW_PLACEMENT_SPECTRAL,
} sinew_placement;

/// Where to put nodes.
typedef struct sinew_placement_def {
    /// Default even.
    sinew_placement kind;
    /// Nodes in all, the fixed ones included. [count] At least 1.
    int32_t count;
    /// Nodes that stay: three numbers each. [m] Default NULL.
    const double *fixed;
    /// How many. [count] In [0, count]. Default 0.
    int32_t fixed_count;
    /// A node for each connected rigid part that has no fixed one; it counts. Default true.
    bool rigid_parts;
    /// Default compliance.
    sinew_metric metric;
    /// Even: sweeps of Lloyd's relaxation at most. [count] At least 0. Default 20.
    int32_t relaxations;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_placement_def;

SINEW_API sinew_placement_def sinew_default_placement_def(void);

/// Places nodes in a solid: farthest points, then Lloyd's relaxation (Gilles et al. 2013, 1.5.4),
/// or where they suit spectral weights. `tissues` must cover every label of the grid; with count 0
/// every label gets the default one. `positions` receives def->count times three numbers [m], fixed
/// nodes first, then those of rigid parts; `part_nodes`, if not NULL, how many those are. Each
/// disconnected part gets a node too; fails if there are fewer nodes than parts.
SINEW_API sinew_status sinew_place_nodes(sinew_context *context, const sinew_voxels *voxels,
                                         const sinew_tissue *tissues, int32_t tissue_count,
                                         const sinew_placement_def *def, double *positions,
                                         int32_t *part_nodes);

#ifdef __cplusplus
}
#endif

#endif
