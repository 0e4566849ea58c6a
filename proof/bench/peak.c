// Measures the peak rates of the machine, the best of several repeats; see peak.h.
#include "bench/peak.h"
#include "machine.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas.h"

#include <stdio.h>

enum { PARTS = 64, REPEATS = 15 };

typedef struct flops_job {
    sn_isa isa;
    double flops[PARTS];
} flops_job;

static void multiply_add(void *data, int32_t begin, int32_t end, int32_t chunk) {
    flops_job *job = data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        job->flops[i] = SN_ISA_PICK(job->isa, peak_multiply_add)(50000);
    }
}

double peak_measure_flops(sinew_context *context) {
    double best = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        flops_job job = {.isa = context->isa};
        double start = cli_measured_seconds(context);
        double flops = 0;

        sn_parallel_for(context, PARTS, 1, multiply_add, &job);
        double seconds = cli_measured_seconds(context) - start;
        for (int i = 0; i < PARTS; i++) {
            flops += job.flops[i];
        }

        if (flops / seconds > best) {
            best = flops / seconds;
        }
    }

    return best;
}

typedef struct stream_job {
    double *a, *b, *c;
} stream_job;

static void stream(void *data, int32_t begin, int32_t end, int32_t chunk) {
    stream_job *job = data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        job->a[i] = job->b[i] + 0.5 * job->c[i];
    }
}

double peak_measure_bandwidth(sinew_context *context) {
    enum { COUNT = 8 << 20 }; // 64 MiB an array
    sn_arena arena = sn_arena_create(context);
    stream_job job = {SN_PUSH(&arena, double, COUNT), SN_PUSH(&arena, double, COUNT),
                      SN_PUSH(&arena, double, COUNT)};
    double best = 0;

    if (sn_arena_status(&arena) == SINEW_OK) {
        for (int32_t i = 0; i < COUNT; i++) {
            job.b[i] = job.c[i] = i;
        }

        for (int repeat = 0; repeat < REPEATS; repeat++) {
            double start = cli_measured_seconds(context);
            sn_parallel_for(context, COUNT, 1 << 16, stream, &job);
            double rate = 24.0 * COUNT / (cli_measured_seconds(context) - start);
            if (rate > best) {
                best = rate;
            }
        }
    }

    sn_arena_destroy(&arena);
    return best;
}

#if defined(SN_WITH_OPENBLAS)
char *openblas_get_corename(void);
void dgemm_(const char *transpose_a, const char *transpose_b, const int *m, const int *n,
            const int *k, const double *alpha, const double *a, const int *lda, const double *b,
            const int *ldb, const double *beta, double *c, const int *ldc);

double peak_measure_blas(sinew_context *context, char *core, size_t size) {
    enum { ROWS = 384 };
    const int rows = ROWS;
    const double one = 1, zero = 0;

    snprintf(core, size, "%s", openblas_get_corename());
    sn_arena arena = sn_arena_create(context);
    double *a = SN_PUSH(&arena, double, ROWS *ROWS);
    double *b = SN_PUSH(&arena, double, ROWS *ROWS);
    double *c = SN_PUSH(&arena, double, ROWS *ROWS);
    double best = 0;

    // One thread, as everywhere else; the best of several products counts.
    int threads = sn_blas_enter();

    for (int repeat = 0; repeat < REPEATS && sn_arena_status(&arena) == SINEW_OK; repeat++) {
        double start = cli_measured_seconds(context);
        dgemm_("N", "N", &rows, &rows, &rows, &one, a, &rows, b, &rows, &zero, c, &rows);
        double rate = 2.0 * ROWS * ROWS * ROWS / (cli_measured_seconds(context) - start);
        if (rate > best) {
            best = rate;
        }
    }

    sn_blas_leave(threads);
    sn_arena_destroy(&arena);

    return best;
}
#else
double peak_measure_blas(sinew_context *context, char *core, size_t size) {
    (void)context;
    snprintf(core, size, "none");
    return 0;
}
#endif
