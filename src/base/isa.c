// Which instruction sets this machine can run.
#include "base/isa.h"

int sn_isa_available(sn_isa isa) {
    switch (isa) {
    case SN_ISA_BASE: return 1;
#if SN_ISA_X86
    case SN_ISA_AVX2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case SN_ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
#endif
    default: return 0;
    }
}

// A build may be limited to a narrower set, to compare results (SINEW_WIDEST_ISA).
#ifndef SN_WIDEST_ISA
#define SN_WIDEST_ISA SN_ISA_AVX512
#endif

sn_isa sn_isa_detect(void) {
    sn_isa isa = SN_WIDEST_ISA;
    while (!sn_isa_available(isa)) {
        isa--;
    }
    return isa;
}

const char *sn_isa_name(sn_isa isa) {
    return isa == SN_ISA_AVX512 ? "avx512" : isa == SN_ISA_AVX2 ? "avx2" : "base";
}
