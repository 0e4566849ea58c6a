// Samples of a body with their derivatives by reduced coordinates, packed in blocks of eight.
//
// At a sample F = F0 + sum_k y_k G_k, with G_k the gradient of field k. Energy, force and tangent:
//
//   W = sum_s V psi(F),   f_k = -sum_s V P : G_k,   K_kl = sum_s V G_k : (dP/dF) : G_l
//
// where V is the volume times the weight of the sample. Cost of a tangent: for each sample about
// 81 size + 4.5 size^2 products.
#ifndef SN_REDUCED_CUBATURE_H
#define SN_REDUCED_CUBATURE_H

#include "base/isa.h"
#include "body/sample_groups.h"
#include "reduced/reduction.h"

typedef struct sn_reduced_block {
    int32_t group;
    int32_t lanes;      // samples; the others repeat the last with volume 0
    int32_t *samples;   // [lane]: numbers in the group
    double *F0;         // [9][lane]
    double *G;          // [size][9][lane]
    double *volume;     // [lane]
    double *parameters; // [parameter][lane], room for any law
} sn_reduced_block;

typedef struct sn_cubature {
    const sn_sample_groups *groups; // borrowed
    int32_t size;
    int32_t count; // blocks
    sn_reduced_block *blocks;
    double *lanes; // [size][size][lane]: sums of a tangent
} sn_cubature;

// Packs the samples of `points`, which ascend in group. `rest` holds the nodes at rest, `nodal` is
// U, [node][size][3].
sinew_status sn_cubature_create(sn_arena *arena, const sn_sample_groups *groups,
                                const sn_reduced_point *points, int32_t point_count, int32_t size,
                                const double *rest, const double *nodal, sn_cubature *cubature);

// Copies the material parameters of the samples again, after a material changed.
void sn_cubature_update_materials(const sn_cubature *cubature);

// Input and output of an evaluation at the coordinates y.
typedef struct sn_cubature_request {
    const double *y;
    bool want_energy, projected;
    double energy;
    double *force;   // [size] += f; NULL if not wanted
    double *tangent; // [size][size] = K, lower triangle; NULL if not wanted
} sn_cubature_request;

void sn_cubature_evaluate(sinew_context *context, const sn_cubature *cubature,
                          sn_cubature_request *request);

// The force of each sample alone, volume included: `size` numbers every `stride`.
void sn_cubature_compute_columns(sinew_context *context, const sn_cubature *cubature,
                                 const double *y, size_t stride, double *columns);

// The rotation that each field has at the nodes, averaged over the samples around them:
// turn[node][size][3], zero on entry.
sinew_status sn_reduced_compute_turns(sinew_context *context, const sn_sample_groups *groups,
                                      const double *rest, const double *nodal, int32_t nodes,
                                      int32_t size, double *turn);

// Kernels for one block. Tangents are summed lane by lane.
SN_ISA_DECLARE(void, sn_reduced_compute_F,
               (double *F, const sn_reduced_block *block, const double *y, int32_t size));
SN_ISA_DECLARE(void, sn_reduced_add_force,
               (double *force, const sn_reduced_block *block, const double *P, int32_t size));
SN_ISA_DECLARE(void, sn_reduced_add_tangent,
               (double *lanes, const sn_reduced_block *block, const double *H, int32_t size));

#endif
