// Sparse Cholesky factor: supernodal, left-looking, in a minimum degree or nested dissection order,
// for matrices of 1x1 or 3x3 blocks.
//
// Columns of the factor with (nearly) the same rows form a supernode and are stored as one dense
// panel, so that almost all arithmetic runs in dense kernels (Ng and Peyton 1993). The symbolic
// phase works on whole blocks.
#ifndef SN_LINALG_SUPERNODAL_H
#define SN_LINALG_SUPERNODAL_H

#include "base/memory.h"

typedef struct sn_supernodal {
    int32_t n;      // block rows
    int32_t block;  // scalars per block row: 1 or 3
    int32_t *order; // the i-th block row to eliminate
    int32_t supernodes;
    int32_t *first;         // supernodes + 1: first block row of each
    int32_t *row_starts;    // supernodes + 1
    int32_t *rows;          // block rows below each supernode, ascending
    size_t *panels;         // supernodes: start of the panel in `values`
    int32_t *source_starts; // supernodes + 1
    int32_t *sources; // blocks of the input, on and above the diagonal, that go to each supernode
                      // (transposed)
    size_t *targets;  // index of the first number of each in `values`
    double *values; // panels, row by row: the columns of the supernode, as many rows, then the rows
                    // below
    size_t value_count;
    float *narrow; // the same in single precision, for solves with four right-hand sides (block 1)
    double *product;      // the largest product of one panel for another
    int32_t *panel_row;   // n: row of a block row in the current panel
    int32_t *owner;       // n: supernode of a block row
    bool *stale;          // supernodes: whether an update has to compute it
    int32_t *head, *next; // chains of supernodes that wait for a later one
    int32_t *progress;    // first row of each that has not contributed yet
    double *x, *gathered; // scratch of a solve
} sn_supernodal;

// Symbolic phase for a symmetric pattern stored by rows with both triangles and the diagonal.
// `positions` are three coordinates per block row, for nested dissection; NULL: minimum degree.
// Neither is kept. The factor lives in the arena.
sinew_status sn_supernodal_build(sn_arena *arena, int32_t n, int32_t block, const int32_t *starts,
                                 const int32_t *columns, const double *positions,
                                 sn_supernodal *factor);

// Numeric phase; `A` has block x block numbers per entry, row by row. `changed` says for each block
// row whether anything in it may differ from the last update (which must have succeeded);
// supernodes that do not depend on such rows are kept. NULL: all rows may differ. Returns -1, or
// the original scalar row of the first pivot that is not positive; *pivot_finite is then false if
// that pivot is a NaN or an infinity.
int32_t sn_supernodal_update(sn_supernodal *factor, const double *A, const bool *changed,
                             bool *pivot_finite);

// Solves in place.
void sn_supernodal_solve(const sn_supernodal *factor, double *x);

// Solves in place for `count` right-hand sides side by side, a multiple of four, row i at x + i
// stride. Reading the factor is what takes the time, so it is read once for all of them, in single
// precision; refine with the residual for more digits. Only for scalar matrices (block 1). `change`
// is what has changed since the update (supernodal_change.h), or NULL.
enum { SN_SUPERNODAL_MAX_SIDES = 16 };
struct sn_supernodal_change;
void sn_supernodal_solve_fours(const sn_supernodal *factor,
                               const struct sn_supernodal_change *change, double *x, int32_t count,
                               size_t stride);

#endif
