// Peak rates of the machine: multiply-adds from registers, and memory streamed.
#ifndef SN_PROOF_BENCH_PEAK_H
#define SN_PROOF_BENCH_PEAK_H

#include "base/context.h"

SN_ISA_DECLARE(double, peak_multiply_add, (int64_t rounds));

// [flop/s], a multiply-add counted as two, on all threads of the context.
double peak_measure_flops(sinew_context *context);

// [byte/s] of a[i] = b[i] + s c[i] over arrays larger than the caches, on all threads; 0 if memory
// runs out.
double peak_measure_bandwidth(sinew_context *context);

// [flop/s] of OpenBLAS's matrix product on one thread, and the core type whose code OpenBLAS chose;
// it may mistake a new processor for an old one. 0 and "none" without OpenBLAS.
double peak_measure_blas(sinew_context *context, char *core, size_t size);

#endif
