// The hot loops of linear algebra, built once for each instruction set. Sums use eight lanes
// whatever the register width, so that all sets give the same order of addition.
#ifndef SN_LINALG_KERNELS_H
#define SN_LINALG_KERNELS_H

#include "base/isa.h"
#include "linalg/coarse.h"
#include "linalg/ic.h"

#include <stdint.h>

// The number of doubles after the last block of a matrix that a kernel may read (but does not use).
enum { SN_BSR_TAIL = 3 };

typedef struct sn_linalg_kernels {
    // x'y
    double (*dot)(const double *x, const double *y, int32_t count);
    // The largest |x_k|; NaN if there is one.
    double (*largest)(const double *x, int32_t count);
    // y += s x
    void (*add_scaled)(double *y, double s, const double *x, int32_t count);
    // y = x + s y
    void (*scale_add)(double *y, double s, const double *x, int32_t count);
    // x += alpha p, r -= alpha q; returns r'r.
    double (*cg_advance)(double *x, double *r, double alpha, const double *p, const double *q,
                         int32_t count);
    // y = A x for the block rows [begin, end) of a matrix stored by rows.
    void (*bsr_multiply)(double *y, const int32_t *starts, const int32_t *columns, const double *A,
                         const double *x, int32_t begin, int32_t end);
    // Fills the blocks above the diagonal of the block rows [begin, end) from those below it.
    void (*bsr_mirror)(double *A, const sn_bsr *pattern, int32_t begin, int32_t end);
    // The diagonal blocks of the block rows [begin, end) from the others; see
    // sn_bsr_close_diagonal.
    void (*bsr_close)(double *A, const sn_bsr *pattern, int32_t begin, int32_t end);
    // Copies the blocks [begin, end) of a packed matrix from the original.
    void (*packed_copy)(sn_packed *packed, const double *A, int32_t begin, int32_t end);
    // y = A x for the rows of one chunk; returns x'y over these rows.
    double (*packed_multiply)(double *y, const sn_packed *A, const double *x, int32_t chunk);
    // Factors the rows of one part, the diagonal scaled by 1 + shift. Returns -1, or the row whose
    // pivot breaks down.
    int32_t (*ic_factor)(sn_ic *ic, int32_t part, double shift);
    // The two sweeps of z = M^-1 r over one part; the second returns r'z over its rows.
    void (*ic_forward)(double *z, const sn_ic *ic, const double *r, int32_t part);
    double (*ic_backward)(double *z, const sn_ic *ic, const double *r, int32_t part);
    // The coarse level: sums over one chunk, motion of the rows of one chunk, contribution of the
    // rows [begin, end) to P'BP.
    void (*coarse_restrict)(double *sums, const sn_coarse *coarse, const double *r, int32_t chunk);
    void (*coarse_prolong)(double *z, const sn_coarse *coarse, const double *motion, int32_t chunk);
    void (*coarse_assemble)(double *partial, int32_t first_pair, double *products,
                            const sn_coarse *coarse, int32_t begin, int32_t end);
    // Cholesky of the first `columns` columns of a matrix of `rows` rows (rows >= columns): the
    // upper square is factored, the rest solved against it. The strict upper triangle is neither
    // read nor written. Returns -1 or the row of the first bad pivot.
    int32_t (*dense_factor)(double *A, int32_t rows, int32_t columns, int32_t stride);
    // C = -A B' for m rows of A and n of B with `depth` columns. C is aligned, its stride a
    // multiple of eight and >= n.
    void (*dense_product)(double *C, int32_t c_stride, const double *A, int32_t m, const double *B,
                          int32_t n, int32_t depth, int32_t stride);
    // y = A x and y -= A'x for m rows and n columns.
    void (*dense_multiply)(double *y, const double *A, int32_t m, int32_t n, int32_t stride,
                           const double *x);
    void (*dense_subtract_transposed)(double *y, const double *A, int32_t m, int32_t n,
                                      int32_t stride, const double *x);
    // L x = b and L'x = b in place.
    void (*dense_forward)(const double *L, int32_t n, int32_t stride, double *x);
    void (*dense_backward)(const double *L, int32_t n, int32_t stride, double *x);
    // L D L' of a small matrix of n rows (a multiple of four), stored as aligned columns: C is the
    // matrix and becomes L D; L and the inverse of D are written to `L` and `inverse`. Returns -1
    // or the row of the first bad pivot. small_solve then computes x = (L D L')^-1 x.
    int32_t (*small_factor)(double *C, double *L, double *inverse, int32_t n);
    void (*small_solve)(double *x, const double *L, const double *inverse, int32_t n);
    // One supernode of a sparse factor for four right-hand sides x[row][4]. Forward: L x = b, and
    // its contribution subtracted from the rows below. Backward: L'x = b with the rows below known.
    // x is aligned.
    void (*four_forward)(double *x, const float *panel, int32_t columns, int32_t first,
                         const int32_t *rows, int32_t below);
    void (*four_backward)(double *x, const float *panel, int32_t columns, int32_t first,
                          const int32_t *rows, int32_t below);
} sn_linalg_kernels;

// The kernels for the widest instruction set this machine runs.
const sn_linalg_kernels *sn_linalg_kernels_get(void);

// The kernels for one set; the tests compare all that are available.
const sn_linalg_kernels *sn_linalg_kernels_for(sn_isa isa);

SN_ISA_DECLARE(double, sn_kernel_dot, (const double *x, const double *y, int32_t count));
SN_ISA_DECLARE(double, sn_kernel_largest, (const double *x, int32_t count));
SN_ISA_DECLARE(void, sn_kernel_add_scaled, (double *y, double s, const double *x, int32_t count));
SN_ISA_DECLARE(void, sn_kernel_scale_add, (double *y, double s, const double *x, int32_t count));
SN_ISA_DECLARE(double, sn_kernel_cg_advance,
               (double *x, double *r, double alpha, const double *p, const double *q,
                int32_t count));
SN_ISA_DECLARE(void, sn_kernel_bsr_multiply,
               (double *y, const int32_t *starts, const int32_t *columns, const double *A,
                const double *x, int32_t begin, int32_t end));
SN_ISA_DECLARE(void, sn_kernel_bsr_mirror,
               (double *A, const sn_bsr *pattern, int32_t begin, int32_t end));
SN_ISA_DECLARE(void, sn_kernel_bsr_close,
               (double *A, const sn_bsr *pattern, int32_t begin, int32_t end));
SN_ISA_DECLARE(void, sn_kernel_packed_copy,
               (sn_packed * packed, const double *A, int32_t begin, int32_t end));
SN_ISA_DECLARE(double, sn_kernel_packed_multiply,
               (double *y, const sn_packed *A, const double *x, int32_t chunk));

SN_ISA_DECLARE(int32_t, sn_kernel_ic_factor, (sn_ic * ic, int32_t part, double shift));
SN_ISA_DECLARE(void, sn_kernel_ic_forward,
               (double *z, const sn_ic *ic, const double *r, int32_t part));
SN_ISA_DECLARE(double, sn_kernel_ic_backward,
               (double *z, const sn_ic *ic, const double *r, int32_t part));

SN_ISA_DECLARE(void, sn_kernel_coarse_restrict,
               (double *sums, const sn_coarse *coarse, const double *r, int32_t chunk));
SN_ISA_DECLARE(void, sn_kernel_coarse_prolong,
               (double *z, const sn_coarse *coarse, const double *motion, int32_t chunk));
SN_ISA_DECLARE(void, sn_kernel_coarse_assemble,
               (double *partial, int32_t first_pair, double *products, const sn_coarse *coarse,
                int32_t begin, int32_t end));
SN_ISA_DECLARE(int32_t, sn_kernel_dense_factor,
               (double *A, int32_t rows, int32_t columns, int32_t stride));
SN_ISA_DECLARE(void, sn_kernel_dense_product,
               (double *C, int32_t c_stride, const double *A, int32_t m, const double *B, int32_t n,
                int32_t depth, int32_t stride));
SN_ISA_DECLARE(void, sn_kernel_dense_multiply,
               (double *y, const double *A, int32_t m, int32_t n, int32_t stride, const double *x));
SN_ISA_DECLARE(void, sn_kernel_dense_subtract_transposed,
               (double *y, const double *A, int32_t m, int32_t n, int32_t stride, const double *x));
SN_ISA_DECLARE(void, sn_kernel_dense_forward,
               (const double *L, int32_t n, int32_t stride, double *x));
SN_ISA_DECLARE(void, sn_kernel_dense_backward,
               (const double *L, int32_t n, int32_t stride, double *x));
SN_ISA_DECLARE(int32_t, sn_kernel_small_factor, (double *C, double *L, double *inverse, int32_t n));
SN_ISA_DECLARE(void, sn_kernel_small_solve,
               (double *x, const double *L, const double *inverse, int32_t n));
SN_ISA_DECLARE(void, sn_kernel_four_forward,
               (double *x, const float *panel, int32_t columns, int32_t first, const int32_t *rows,
                int32_t below));
SN_ISA_DECLARE(void, sn_kernel_four_backward,
               (double *x, const float *panel, int32_t columns, int32_t first, const int32_t *rows,
                int32_t below));

#endif
