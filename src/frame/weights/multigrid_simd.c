// The loops of the multigrid and of the conjugate gradients around it, for four and for eight
// right-hand sides.
#include "frame/weights/multigrid.h"
#include "math/simd_float.h"

#define ROW            4
#define ROW_TYPE(name) name##4
#define ROW_NAME(name) name##_four
#include "frame/weights/multigrid_kernels.h"
#undef ROW
#undef ROW_TYPE
#undef ROW_NAME

#define ROW            8
#define ROW_TYPE(name) name##8
#define ROW_NAME(name) name##_eight
#include "frame/weights/multigrid_kernels.h"

const sn_multigrid_kernels *SN_ISA_NAME(sn_multigrid_get_kernels)(int32_t lanes) {
    return lanes == 4 ? &kernels_four : &kernels_eight;
}
