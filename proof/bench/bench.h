// Rows of the benchmark: each measures times at one or several sizes and compares them with the
// machine's limits and the papers' figures.
#ifndef SN_PROOF_BENCH_BENCH_H
#define SN_PROOF_BENCH_BENCH_H

#include "io/bytes/buffer.h"

typedef struct bench_result {
    const char *id;
    char name[120];
    double size;        // tets, unless the name or note says otherwise
    const char *unit;   // of min and median
    double min, median; // over the repeats
    double paper;       // the paper's figure on the paper's machine; NaN: none
    double target;      // at most this passes; NaN: none
    double limit_share; // of the machine's peak or bandwidth; NaN: not known
    uint64_t hash;      // of the state at the end; 0: none
    bool at_least;      // the target is a lower bound
    char note[200];     // why it is not available, or further observations
    bool unavailable;
} bench_result;

enum { BENCH_CAPACITY = 512, BENCH_REPEATS = 64 };

typedef struct bench_run {
    sinew_context *context;
    int32_t threads;
    double flops, bandwidth; // the machine's limits, measured first
    const char *id;          // of the row that runs
    bench_result results[BENCH_CAPACITY];
    int32_t count;
} bench_run;

typedef struct bench_row {
    const char *id;
    const char *name;                  // for the rows that cannot run
    sinew_status (*run)(bench_run *b); // NULL: not available
    const char *reason;
} bench_row;

extern const bench_row bench_rows[];
extern const int32_t bench_row_count;

// Adds a result with a name, a size and a unit, to be filled in; NULL if the table is full.
bench_result *bench_add(bench_run *b, const char *name, double size, const char *unit);

// The minimum and the median of `count` measurements, which are sorted in place.
void bench_take(bench_result *result, double *seconds, int32_t count, double scale);

// Exponent of y over x, by least squares of the logarithms.
double bench_fit_exponent(const double *x, const double *y, int32_t count);

// A hash of numbers, for `hash`.
uint64_t bench_hash(const double *values, size_t count);

// Flops of the stiffness and the force of a sample with the given number of controls, a
// multiply-add counted as two (interp/samples.h).
double bench_control_flops(double controls);

bool bench_passes(const bench_result *result);

// Output of results: a line of text, JSON, a page of Markdown.
void bench_print(const bench_result *result);
void bench_write_json(const bench_run *b, sn_buffer *out);
void bench_write_page(const bench_run *b, sn_buffer *out);

sinew_status bench_bars(bench_run *b);         // corotational bars of four sizes
sinew_status bench_frame_bar(bench_run *b);    // S1
sinew_status bench_frame_models(bench_run *b); // S2
sinew_status bench_springs(bench_run *b);      // S1, S2: springs and insertion
sinew_status bench_specimens(bench_run *b);    // S3
sinew_status bench_spectral(bench_run *b);     // steps and set-up with spectral weights
sinew_status bench_frame_ratios(bench_run *b); // S4
sinew_status bench_products(bench_run *b);     // frames solved without a matrix
sinew_status bench_warp(bench_run *b);         // S5
sinew_status bench_reduced(bench_run *b);      // modal coordinates beside elements
sinew_status bench_palm(bench_run *b);         // S6
sinew_status bench_orthotropic(bench_run *b);  // S7
sinew_status bench_fields(bench_run *b);       // S8
sinew_status bench_positions(bench_run *b);    // S9
sinew_status bench_contact(bench_run *b);      // detection and commit of contact
sinew_status bench_contact_steps(bench_run *b, sinew_context *context); // ... whole steps
sinew_status bench_bullet(bench_run *b);                                // the same bar in Bullet
sinew_status bench_files(bench_run *b);  // a million tets from file to file
sinew_status bench_output(bench_run *b); // share of a run spent on output

#endif
