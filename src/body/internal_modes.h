// Internal modes of blocks of samples. A block whose samples lie in one region can have a few
// displacement modes of its own, which no control moves:
//
//   F~ = F + sum_j b_j (x) g_j
//
// with the gradients g_j of the modes at the samples. The b_j minimise the energy of the block, so
// that
//
//   force on a control      as without modes, at the stress of the minimum
//   stiffness of controls   K - K_b' K_bb^-1 K_b, K_b between modes and controls
//
// are the exact derivatives of the minimum. Any law can be used, and a rotation of the body rotates
// the b_j. If the volume-weighted sum of each g_j is zero, a uniform F has b = 0: patch tests stay
// exact (incompatible modes: Wilson et al. 1973; Simo and Rifai 1990).
//
// Cost: some three evaluations of the law for each evaluation of the block.
#ifndef SN_BODY_INTERNAL_MODES_H
#define SN_BODY_INTERNAL_MODES_H

#include "interp/samples.h"
#include "material/material.h"

enum { SN_MOST_INTERNAL_MODES = 3 };

typedef struct sn_internal_modes sn_internal_modes;

// The Cholesky factor of K_bb, for the stiffness, with the reciprocals of its diagonal; L[0] is 0
// if there is none and the modes are held.
typedef struct sn_internal_factor {
    double L[9 * SN_MOST_INTERNAL_MODES * SN_MOST_INTERNAL_MODES];
} sn_internal_factor;

// Adds the modes of the least energy to F, given without them, and evaluates the law there: what
// `want` says goes to `out`, its tangent in full. All samples of the block have the same controls.
typedef void sn_internal_solve_fn(const sn_internal_modes *modes, const sn_samples *samples,
                                  int32_t block, const sn_material *material,
                                  const double *parameters, int want, double *F,
                                  const sn_material_result *out, sn_internal_factor *factor);
SN_ISA_DECLARE(void, sn_internal_modes_solve,
               (const sn_internal_modes *modes, const sn_samples *samples, int32_t block,
                const sn_material *material, const double *parameters, int want, double *F,
                const sn_material_result *out, sn_internal_factor *factor));

// Subtracts K_b' K_bb^-1 K_b from the stiffness of the controls, with the tangents H of the solve.
// With `sets`, the matrix holds only the pairs of controls within each set.
typedef void sn_internal_subtract_fn(const sn_internal_modes *modes, const sn_samples *samples,
                                     int32_t block, const double *H,
                                     const sn_internal_factor *factor, const sn_control_sets *sets,
                                     double *matrix);
SN_ISA_DECLARE(void, sn_internal_modes_subtract,
               (const sn_internal_modes *modes, const sn_samples *samples, int32_t block,
                const double *H, const sn_internal_factor *factor, const sn_control_sets *sets,
                double *matrix));

// Adds the motion of the modes to dF, given the dP that the motion of the controls alone causes:
// the modes follow it so that they remain at the minimum.
typedef void sn_internal_follow_fn(const sn_internal_modes *modes, const sn_samples *samples,
                                   int32_t block, const sn_internal_factor *factor,
                                   const double *dP, double *dF);
SN_ISA_DECLARE(void, sn_internal_modes_follow,
               (const sn_internal_modes *modes, const sn_samples *samples, int32_t block,
                const sn_internal_factor *factor, const double *dP, double *dF));

struct sn_internal_modes {
    int32_t count;    // modes of each block
    double *gradient; // [block][mode][3][lane] [1/m]
    sn_samples_couple_fn *couple;
    sn_internal_solve_fn *solve;
    sn_internal_subtract_fn *subtract;
    sn_internal_follow_fn *follow;
};

#endif
