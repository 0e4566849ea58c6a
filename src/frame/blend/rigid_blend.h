// Bodies whose nodes are all rigid, blended linearly or by dual quaternions: energy, forces and
// stiffness of the nodes' rows, computed directly, with samples in SIMD lanes. In: packed samples
// (rigid_samples.h) and the table of nodes. Cost: linear in the samples, and in the pairs of nodes
// of each.
#ifndef SN_FRAME_BLEND_RIGID_BLEND_H
#define SN_FRAME_BLEND_RIGID_BLEND_H

#include "frame/blend/rigid_kernels.h"

typedef struct sn_rigid_blend {
    bool dual;
    sn_rigid_group *items; // as many as the groups of materials beside them
    double *table;         // see sn_nodes_compute_table; of the last sn_blend_prepare
    sn_rigid_F_fn *compute_F;
    sn_rigid_add_fn *add;
    sn_rigid_flush_fn *flush;
    sn_rigid_multiply_fn *multiply;
} sn_rigid_blend;

// Allocates `count` groups, and chooses the kernels for this machine.
sinew_status sn_rigid_blend_create(sn_arena *arena, const sn_nodes *nodes, int32_t count, bool dual,
                                   sn_rigid_blend *blend);

// What an evaluation at q computes; sums are added to.
typedef struct sn_blend_request {
    const double *q;
    bool want_energy, projected, geometric;
    double *force;  // three numbers a row; NULL if not wanted
    double *matrix; // lower triangle on the pattern of the rows; NULL if not wanted
    bool local; // the matrix has the blocks of each node with itself alone; the tangents are kept
                // for products
} sn_blend_request;

// All of these take the nodes as they are in blend->table.
// `tangents`, [group][block][SN_MATERIAL_H_COUNT][lane], receive dP/dF where the request is
// `local`; `rows` is the pattern of its matrix.
double sn_rigid_blend_evaluate(sinew_context *context, const sn_nodes *nodes,
                               const sn_sample_groups *groups, const sn_rigid_blend *blend,
                               const sn_bsr *rows, const sn_blend_request *request,
                               double *const *tangents);

// Room for the blocks of each node with itself, for evaluations that are `local`.
sinew_status sn_rigid_blend_push_own(sn_arena *arena, const sn_nodes *nodes,
                                     const sn_sample_groups *groups, const sn_rigid_blend *blend);

// y += K x with these tangents, at the nodes of the table where they were taken. `motion` has six
// numbers a node.
void sn_rigid_blend_add_product(sinew_context *context, const sn_nodes *nodes,
                                const sn_sample_groups *groups, const sn_rigid_blend *blend,
                                double *const *tangents, const double *table, double *motion,
                                const double *x, double *y);

// Finds the smallest and largest det F over all samples, and the deformed volume.
void sn_rigid_blend_measure(const sn_sample_groups *groups, const sn_rigid_blend *blend,
                            double *smallest_J, double *largest_J, double *volume);

// Computes F of the samples of a block, [9][lane], as the nodes move them, without fades.
void sn_rigid_blend_compute_F(const sn_rigid_blend *blend, int32_t group, int32_t block, double *F);

// Returns a sample at which the dual quaternions of its nodes cancel (see sn_dual_least_strength),
// or -1. Samples without volume do not count.
int32_t sn_rigid_blend_find_vanished(const sn_rigid_blend *blend, int32_t node_count,
                                     const sn_frame_samples *samples, const bool *away);

#endif
