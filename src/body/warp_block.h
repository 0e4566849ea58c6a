// Warped stiffness of a block of tets (warp.h): the law in the axes of one vertex of each tet.
// Blocks of matrices are [9][SN_BLOCK], row by row.
#ifndef SN_BODY_WARP_BLOCK_H
#define SN_BODY_WARP_BLOCK_H

#include "base/isa.h"
#include "math/mat3.h"

#include <stdint.h>

// S = R'F, with the rotations of the tets' `vertex` packed into R. One double beyond the last
// rotation is read.
typedef void sn_warp_enter_fn(double *S, double *R, const sn_mat3 *rotation, const int32_t *vertex,
                              const double *F);
SN_ISA_DECLARE(void, sn_warp_enter,
               (double *S, double *R, const sn_mat3 *rotation, const int32_t *vertex,
                const double *F));

// P += share R stress
typedef void sn_warp_leave_fn(double *P, const double *R, const double *stress, double share);
SN_ISA_DECLARE(void, sn_warp_leave,
               (double *P, const double *R, const double *stress, double share));

#endif
