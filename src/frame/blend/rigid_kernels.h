// The kernels of rigid nodes for one block of eight samples, built once for each instruction set: F
// from the nodes, then forces and stiffness from the material's response, for linear and for dual
// quaternion blending (dualquat.h has the formulas of a point).
#ifndef SN_FRAME_BLEND_RIGID_KERNELS_H
#define SN_FRAME_BLEND_RIGID_KERNELS_H

#include "base/isa.h"
#include "frame/blend/rigid_samples.h"

// The sizes of the workspaces, in doubles: of one block of samples, from compute_F to add, and of a
// chunk (A of the nodes, the sums of a run). Their layout depends on the number of lanes of the
// instruction set, so only kernels read them.
size_t sn_rigid_sample_work_count(int32_t width);
size_t sn_rigid_work_count(int32_t width);

// The response of the material; P and H may be NULL.
typedef struct sn_rigid_stress {
    double *work; // what compute_F of the same block left
    const double *F;
    const double *P; // [9][lane]
    const double *H; // [45][lane], the upper triangle of dP/dF
    bool geometric;  // add what the change of dF/dq under stress contributes; P is needed
    bool own; // the stiffness of each node with itself alone, which goes to the chunk's `own` at
              // once
} sn_rigid_stress;

// Computes F[9][lane] of a block for a table of nodes (sn_nodes_compute_table).
typedef void sn_rigid_F_fn(double *F, const sn_rigid_group *group, int32_t block,
                           const double *table, double *sample_work);
SN_ISA_DECLARE(void, sn_dual_compute_F,
               (double *F, const sn_rigid_group *group, int32_t block, const double *table,
                double *sample_work));
SN_ISA_DECLARE(void, sn_linear_compute_F,
               (double *F, const sn_rigid_group *group, int32_t block, const double *table,
                double *sample_work));

// Adds -V (dF/dq)' P and V (dF/dq)' H (dF/dq) to the sums of the run, or, for a mixed block, to
// those of the chunk.
typedef void sn_rigid_add_fn(sn_rigid_chunk *chunk, const sn_rigid_group *group, int32_t block,
                             const double *table, const sn_rigid_stress *stress);
SN_ISA_DECLARE(void, sn_dual_add,
               (sn_rigid_chunk * chunk, const sn_rigid_group *group, int32_t block,
                const double *table, const sn_rigid_stress *stress));
SN_ISA_DECLARE(void, sn_linear_add,
               (sn_rigid_chunk * chunk, const sn_rigid_group *group, int32_t block,
                const double *table, const sn_rigid_stress *stress));

// Multiplies with a motion of the nodes, six numbers each: adds -V (dF/dq)' H dF to the sums of
// forces, as `add` does.
typedef void sn_rigid_multiply_fn(sn_rigid_chunk *chunk, const sn_rigid_group *group, int32_t block,
                                  const double *table, const sn_rigid_stress *stress,
                                  const double *motion);
SN_ISA_DECLARE(void, sn_dual_multiply,
               (sn_rigid_chunk * chunk, const sn_rigid_group *group, int32_t block,
                const double *table, const sn_rigid_stress *stress, const double *motion));
SN_ISA_DECLARE(void, sn_linear_multiply,
               (sn_rigid_chunk * chunk, const sn_rigid_group *group, int32_t block,
                const double *table, const sn_rigid_stress *stress, const double *motion));

// Ends a run whose last block is `block`: adds its sums to the chunk and resets them to zero.
typedef void sn_rigid_flush_fn(sn_rigid_chunk *chunk, const sn_rigid_group *group, int32_t block,
                               const double *table, bool force, bool matrix);
SN_ISA_DECLARE(void, sn_rigid_flush,
               (sn_rigid_chunk * chunk, const sn_rigid_group *group, int32_t block,
                const double *table, bool force, bool matrix));

#endif
