// The tables of kernels, one for each instruction set.
#include "linalg/kernels.h"

#define KERNELS(isa)                                                                               \
    {                                                                                              \
        .dot = sn_kernel_dot_##isa, .largest = sn_kernel_largest_##isa,                            \
        .add_scaled = sn_kernel_add_scaled_##isa, .scale_add = sn_kernel_scale_add_##isa,          \
        .cg_advance = sn_kernel_cg_advance_##isa, .bsr_multiply = sn_kernel_bsr_multiply_##isa,    \
        .bsr_mirror = sn_kernel_bsr_mirror_##isa, .bsr_close = sn_kernel_bsr_close_##isa,          \
        .packed_copy = sn_kernel_packed_copy_##isa,                                                \
        .packed_multiply = sn_kernel_packed_multiply_##isa,                                        \
        .ic_factor = sn_kernel_ic_factor_##isa, .ic_forward = sn_kernel_ic_forward_##isa,          \
        .ic_backward = sn_kernel_ic_backward_##isa,                                                \
        .coarse_restrict = sn_kernel_coarse_restrict_##isa,                                        \
        .coarse_prolong = sn_kernel_coarse_prolong_##isa,                                          \
        .coarse_assemble = sn_kernel_coarse_assemble_##isa,                                        \
        .dense_factor = sn_kernel_dense_factor_##isa,                                              \
        .dense_product = sn_kernel_dense_product_##isa,                                            \
        .dense_multiply = sn_kernel_dense_multiply_##isa,                                          \
        .dense_subtract_transposed = sn_kernel_dense_subtract_transposed_##isa,                    \
        .dense_forward = sn_kernel_dense_forward_##isa,                                            \
        .dense_backward = sn_kernel_dense_backward_##isa,                                          \
        .small_factor = sn_kernel_small_factor_##isa, .small_solve = sn_kernel_small_solve_##isa,  \
        .four_forward = sn_kernel_four_forward_##isa,                                              \
        .four_backward = sn_kernel_four_backward_##isa,                                            \
    }

static const sn_linalg_kernels tables[SN_ISA_COUNT] = {
    [SN_ISA_BASE] = KERNELS(base),
#if SN_ISA_X86
    [SN_ISA_AVX2] = KERNELS(avx2),
    [SN_ISA_AVX512] = KERNELS(avx512),
#endif
};

const sn_linalg_kernels *sn_linalg_kernels_for(sn_isa isa) {
    SN_ASSERT(sn_isa_available(isa));
    return &tables[isa];
}

const sn_linalg_kernels *sn_linalg_kernels_get(void) {
    return &tables[sn_isa_detect()];
}
