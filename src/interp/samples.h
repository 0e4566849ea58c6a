// Samples: the points at which a body is integrated, packed for SIMD.
//
// Every interpolation that is linear in its control vectors a_c (nodes of elements; columns of
// affine, quadratic and rigid frames) has the same form at a sample, with constant rest gradients
// g_c:
//
//   F = sum_c a_c (x) g_c
//   force on a_c: -V P g_c
//   stiffness between a_c and a_d: V g_c . (dP/dF) . g_d
//
// Samples with equally many controls and the same material are packed in groups of eight:
// [block][control][component][lane]. Within a lane the controls ascend, so that pairs (c, d), d <=
// c, are in the lower triangle of the matrix. A padding lane repeats the last sample with volume 0.
//
// The gradients of a linear tet sum to zero, and so do the rows of its stiffness: only pairs of
// different controls are added to the matrix, and its diagonal follows from them at the end
// (sn_bsr_close_diagonal). That saves four blocks of ten.
#ifndef SN_INTERP_SAMPLES_H
#define SN_INTERP_SAMPLES_H

#include "base/isa.h"
#include "base/memory.h"
#include "geom/mesh/mesh.h"
#include "linalg/bsr.h"
#include "material/material.h"

typedef struct sn_samples {
    int32_t count;    // real samples
    int32_t blocks;   // of SN_BLOCK lanes
    int32_t width;    // controls per sample
    bool plane;       // triangles: F33 is 1, not interpolated
    bool tets;        // four controls whose gradients sum to zero
    bool prefetch;    // the matrix does not fit the inner caches
    int32_t *control; // [block][width][lane]

    // [block][lane]: the end of the run of samples with the same controls that begins at this lane,
    // without padding; 0 if most samples of the block have different controls.
    int8_t *run_end;

    double *gradient; // [block][width][3][lane] [1/m]
    double *volume;   // [block][lane] [m^3]

    // [block][pair][lane]: index of the first number of a block of the lower triangle, for the
    // pairs (0,0) (1,0) (1,1) (2,0) ...; tets leave out the pairs (c,c). NULL until mapped.
    int32_t *slots;
    sn_coloring coloring; // of chunks of SN_SAMPLE_CHUNK blocks, for parallel scatter
} sn_samples;

enum { SN_SAMPLE_CHUNK = 32 }; // blocks handled by one task

// Runs are not searched for in samples wider than this, which are rare.
enum { SN_SAMPLE_RUN_WIDTH = 128 };

// The samples to pack: `count` samples in order, each with `width` controls and gradients.
typedef struct sn_samples_input {
    int32_t count, width;
    bool plane;
    const int32_t *control;  // [sample][width], distinct within a sample
    const sn_vec3 *gradient; // [sample][width]
    const double *volume;    // [sample]
    int32_t control_count;   // of the whole body
    bool tets; // linear tets: four controls whose gradients sum to zero, which saves work
} sn_samples_input;

sinew_status sn_samples_pack(sn_arena *arena, const sn_samples_input *input, sn_samples *samples);

// Finds the matrix blocks of all pairs of controls. Every pair must be in the pattern. A matrix
// with more numbers than an index can address is SINEW_OUT_OF_MEMORY.
sinew_status sn_samples_map(sn_arena *arena, sn_samples *samples, const sn_bsr *pattern);

// The number of pairs (c, d) with d <= c.
static inline int32_t sn_pair_count(int32_t width) {
    return width * (width + 1) / 2;
}

// The number of slots of one sample.
static inline int32_t sn_samples_slot_count(const sn_samples *samples) {
    return sn_pair_count(samples->tets ? samples->width - 1 : samples->width);
}

// Kernels for one block of SN_BLOCK samples; SN_ISA_PICK selects them once per body. Arrays of
// lanes are 64-byte aligned.

// F[9][lane] of block `block` for the control vectors a, three doubles each.
typedef void sn_samples_F_fn(double *F, const sn_samples *samples, int32_t block, const double *a);
SN_ISA_DECLARE(void, sn_samples_compute_F,
               (double *F, const sn_samples *samples, int32_t block, const double *a));

// f -= V P g on the controls. P[9][lane].
typedef void sn_samples_force_fn(double *f, const sn_samples *samples, int32_t block,
                                 const double *P);
SN_ISA_DECLARE(void, sn_samples_add_force,
               (double *f, const sn_samples *samples, int32_t block, const double *P));

// A += V g (dP/dF) g in the lower triangle (for tets without its diagonal), through the slots.
// H[45][lane] is the upper triangle of dP/dF.
typedef void sn_samples_stiffness_fn(double *A, const sn_samples *samples, int32_t block,
                                     const double *H);
SN_ISA_DECLARE(void, sn_samples_add_stiffness,
               (double *A, const sn_samples *samples, int32_t block, const double *H));

// The controls of a body form consecutive sets (those of each node); the pattern couples all
// controls of a set with each other and with nothing else.
typedef struct sn_control_sets {
    const int32_t *first;  // [control]: the first control of its set
    const int32_t *starts; // of the pattern
} sn_control_sets;

// The same only for pairs of controls of one set: A is on the pattern of the sets.
typedef void sn_samples_own_fn(double *A, const sn_samples *samples, int32_t block, const double *H,
                               const sn_control_sets *sets);
SN_ISA_DECLARE(void, sn_samples_add_own_stiffness,
               (double *A, const sn_samples *samples, int32_t block, const double *H,
                const sn_control_sets *sets));

// K[j][c] = sum over the block of V g_c (dP/dF) h_j, for `count` gradients h at its samples and the
// `width` gradients g: 9 numbers each, row by row of the component of c. Gradients are
// [index][component][lane].
typedef void sn_samples_couple_fn(double *K, const double *volume, const double *H, const double *h,
                                  int32_t count, const double *g, int32_t width);
SN_ISA_DECLARE(void, sn_samples_couple,
               (double *K, const double *volume, const double *H, const double *h, int32_t count,
                const double *g, int32_t width));

// P = (dP/dF) F, all in lanes.
typedef void sn_samples_tangent_fn(double *P, const double *H, const double *F);
SN_ISA_DECLARE(void, sn_samples_apply_tangent, (double *P, const double *H, const double *F));

// sn_samples_add_stiffness for linear tets with the shorter forms of tangents
// (material/material.h).
SN_ISA_DECLARE(void, sn_samples_add_rotated,
               (double *A, const sn_samples *samples, int32_t block, const double *H));
SN_ISA_DECLARE(void, sn_samples_add_held,
               (double *A, const sn_samples *samples, int32_t block, const double *H));
SN_ISA_DECLARE(void, sn_samples_add_exact,
               (double *A, const sn_samples *samples, int32_t block, const double *H));

#endif
