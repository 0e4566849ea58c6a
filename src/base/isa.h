// The instruction sets the library is built for (see cmake/SinewIsa.cmake), and which of them this
// machine can run.
#ifndef SN_BASE_ISA_H
#define SN_BASE_ISA_H

typedef enum sn_isa {
    SN_ISA_BASE, // what the compiler targets anyway: SSE2, NEON, wasm simd128
    SN_ISA_AVX2, // with FMA
    SN_ISA_AVX512,
    SN_ISA_COUNT
} sn_isa;

#if defined(__x86_64__) && !defined(__EMSCRIPTEN__) && !defined(SN_BASE_ISA_ONLY)
#define SN_ISA_X86 1
// Selects the version of a function from a *_simd.c file: SN_ISA_PICK(isa, sn_foo) is sn_foo_base,
// sn_foo_avx2 or sn_foo_avx512.
#define SN_ISA_PICK(isa, name)                                                                     \
    ((isa) == SN_ISA_AVX512 ? name##_avx512 : (isa) == SN_ISA_AVX2 ? name##_avx2 : name##_base)
// Declares all versions of a function:
//   SN_ISA_DECLARE(void, sn_foo, (double *out, const double *in));
#define SN_ISA_DECLARE(type, name, arguments)                                                      \
    type name##_base arguments;                                                                    \
    type name##_avx2 arguments;                                                                    \
    type name##_avx512 arguments
#else
#define SN_ISA_X86                            0
#define SN_ISA_PICK(isa, name)                ((void)(isa), name##_base)
#define SN_ISA_DECLARE(type, name, arguments) type name##_base arguments
#endif

// The widest set that this machine can run and the build allows.
sn_isa sn_isa_detect(void);

// Whether this build on this machine can run a set; the tests compare all that are available.
int sn_isa_available(sn_isa isa);

// "base", "avx2", "avx512"
const char *sn_isa_name(sn_isa isa);

#endif
