// All rows, in the order in which they run.
#include "bench/bench.h"
#include "bench/peak.h"

#include <stdio.h>

static sinew_status bench_machine(bench_run *b) {
    bench_result *flops = bench_add(b, "multiply-adds from registers, doubles", 1, "Gflop/s");
    if (flops) {
        flops->min = flops->median = b->flops * 1e-9;
    }

    if (flops) {
        snprintf(flops->note, sizeof flops->note, "instruction set %s",
                 sn_isa_name(b->context->isa));
    }

    bench_result *stream = bench_add(b, "stream over 192 MiB", 1, "GB/s");
    if (stream) {
        stream->min = stream->median = b->bandwidth * 1e-9;
    }

    char core[64];
    double rate = peak_measure_blas(b->context, core, sizeof core);
    bench_result *blas =
        bench_add(b, "OpenBLAS: product of matrices of 384 rows, one thread", 384, "Gflop/s");

    if (!blas) {
        return SINEW_OK;
    }

    blas->unavailable = rate == 0;

    // Other programs may have slowed the first measurement down: the limit is the largest rate ever
    // measured.
    if (rate * b->threads > b->flops) {
        b->flops = rate * b->threads;
    }

    if (rate > 0) {
        blas->min = blas->median = rate * 1e-9;
        blas->limit_share = rate * b->threads / b->flops;
    }

    snprintf(blas->note, sizeof blas->note,
             rate > 0 ? "OpenBLAS chose the core type %s" : "built without OpenBLAS (%s)", core);

    return SINEW_OK;
}

const bench_row bench_rows[] = {
    {"machine", NULL, bench_machine, NULL},
    {"bar", NULL, bench_bars, NULL},
    {"S1", NULL, bench_frame_bar, NULL},
    {"S2", NULL, bench_frame_models, NULL},
    {"springs", NULL, bench_springs, NULL},
    {"S3", NULL, bench_specimens, NULL},
    {"spectral", NULL, bench_spectral, NULL},
    {"S4", NULL, bench_frame_ratios, NULL},
    {"products", NULL, bench_products, NULL},
    {"S5", NULL, bench_warp, NULL},
    {"reduced", NULL, bench_reduced, NULL},
    {"S6", NULL, bench_palm, NULL},
    {"S7", NULL, bench_orthotropic, NULL},
    {"S8", NULL, bench_fields, NULL},
    {"S9", NULL, bench_positions, NULL},
    {"contact", NULL, bench_contact, NULL},
    {"bullet", "the same bar by Bullet's deformable bodies", bench_bullet, NULL},
    {"files", NULL, bench_files, NULL},
    {"output", NULL, bench_output, NULL},
};

const int32_t bench_row_count = sizeof bench_rows / sizeof *bench_rows;
