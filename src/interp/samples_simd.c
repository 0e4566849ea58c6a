// The kernels of a block of samples: F from controls, and forces and stiffness back to them. Built
// once for each instruction set.
//
// Cost per sample and pair of controls: 27 fused multiply-adds, plus 81 per control. Nine numbers
// per pair are added to the matrix, once for each run of samples with the same controls.
#include "interp/samples.h"

#include "math/quad.h"

#include <string.h>

// Whether the samples of the lanes starting at `lane` are in one run.
SN_INLINE bool share_controls(const sn_samples *samples, int32_t block, int lane) {
    const int8_t *end = samples->run_end + (size_t)block * SN_BLOCK;
    int begin = 0;
    while (begin < SN_BLOCK && end[begin] > begin && end[begin] <= lane) {
        begin = end[begin];
    }
    return begin <= lane && end[begin] >= lane + SN_LANES;
}

// The control vectors that some lanes refer to, component by component.
SN_INLINE void gather(sn_lanes x[3], const double *a, const int32_t *control, bool shared) {
    if (shared) {
        for (int k = 0; k < 3; k++) {
            x[k] = sn_lanes_all(a[3 * (ptrdiff_t)control[0] + k]);
        }
        return;
    }

    sn_quad rows[SN_LANES];
    for (int l = 0; l < SN_LANES; l++) {
        rows[l] = sn_quad_load3(a + 3 * (ptrdiff_t)control[l]);
    }

    sn_lanes_from_quads(x, rows);
}

void SN_ISA_NAME(sn_samples_compute_F)(double *F, const sn_samples *samples, int32_t block,
                                       const double *a) {
    int32_t width = samples->width;
    const int32_t *control = samples->control + (size_t)block * (size_t)width * SN_BLOCK;
    const double *gradient = samples->gradient + (size_t)block * (size_t)width * 3 * SN_BLOCK;

    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes sum[9] = {{0}};
        bool shared = share_controls(samples, block, lane);
        if (samples->plane) {
            sum[8] = sn_lanes_all(1);
        }

        // F = sum_c a_c (x) g_c
        for (int32_t c = 0; c < width; c++) {
            const double *g = gradient + 3 * c * SN_BLOCK + lane;
            sn_lanes gx = sn_lanes_load(g);
            sn_lanes gy = sn_lanes_load(g + SN_BLOCK);
            sn_lanes gz = sn_lanes_load(g + 2 * SN_BLOCK);
            sn_lanes x[3];

            gather(x, a, control + c * SN_BLOCK + lane, shared);
            for (int k = 0; k < 3; k++) {
                sum[3 * k + 0] = sn_lanes_fma(x[k], gx, sum[3 * k + 0]);
                sum[3 * k + 1] = sn_lanes_fma(x[k], gy, sum[3 * k + 1]);
                sum[3 * k + 2] = sn_lanes_fma(x[k], gz, sum[3 * k + 2]);
            }
        }

        for (int i = 0; i < 9; i++) {
            sn_lanes_store(F + i * SN_BLOCK + lane, sum[i]);
        }
    }
}

void SN_ISA_NAME(sn_samples_add_force)(double *f, const sn_samples *samples, int32_t block,
                                       const double *P) {
    int32_t width = samples->width;
    const int32_t *control = samples->control + (size_t)block * (size_t)width * SN_BLOCK;
    const double *gradient = samples->gradient + (size_t)block * (size_t)width * 3 * SN_BLOCK;
    const double *volume = samples->volume + (size_t)block * SN_BLOCK;

    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        bool shared = share_controls(samples, block, lane);
        sn_lanes scaled[9];
        sn_lanes V = sn_lanes_load(volume + lane);

        // V P
        for (int i = 0; i < 9; i++) {
            scaled[i] = V * sn_lanes_load(P + i * SN_BLOCK + lane);
        }

        for (int32_t c = 0; c < width; c++) {
            const double *g = gradient + 3 * c * SN_BLOCK + lane;
            sn_lanes gx = sn_lanes_load(g);
            sn_lanes gy = sn_lanes_load(g + SN_BLOCK);
            sn_lanes gz = sn_lanes_load(g + 2 * SN_BLOCK);
            const int32_t *index = control + c * SN_BLOCK + lane;
            sn_lanes force[3];

            // Force on the control: -V P g_c.
            for (int k = 0; k < 3; k++) {
                force[k] = scaled[3 * k] * gx;
                force[k] = sn_lanes_fma(scaled[3 * k + 1], gy, force[k]);
                force[k] = sn_lanes_fma(scaled[3 * k + 2], gz, force[k]);
            }

            // Subtract it lane by lane, or as one sum if all lanes share the control.
            sn_quad rows[SN_LANES];
            sn_quads_from_lanes(rows, force[0], force[1], force[2], force[2]);
            if (shared) {
                for (int l = 1; l < SN_LANES; l++) {
                    rows[0] = sn_quad_add(rows[0], rows[l]);
                }
                sn_quad_subtract_from3(f + 3 * (ptrdiff_t)index[0], rows[0]);
                continue;
            }

            for (int l = 0; l < SN_LANES; l++) {
                sn_quad_subtract_from3(f + 3 * (ptrdiff_t)index[l], rows[l]);
            }
        }
    }
}

// T[3 i + j][k] = V sum_l H[(i,j),(k,l)] g[l] for the lanes starting at `lane`.
SN_INLINE void contract_right(sn_lanes T[9][3], const double *H, const double *g, sn_lanes weight,
                              int lane) {
    sn_lanes wx = weight * sn_lanes_load(g + lane);
    sn_lanes wy = weight * sn_lanes_load(g + SN_BLOCK + lane);
    sn_lanes wz = weight * sn_lanes_load(g + 2 * SN_BLOCK + lane);

    for (int r = 0; r < 9; r++) {
        for (int k = 0; k < 3; k++) {
            sn_lanes t = sn_lanes_load(H + sn_sym9(r, 3 * k) * SN_BLOCK + lane) * wx;
            t = sn_lanes_fma(sn_lanes_load(H + sn_sym9(r, 3 * k + 1) * SN_BLOCK + lane), wy, t);
            T[r][k] =
                sn_lanes_fma(sn_lanes_load(H + sn_sym9(r, 3 * k + 2) * SN_BLOCK + lane), wz, t);
        }
    }
}

// K[i][k] = sum_j g[j] T[3 i + j][k]
SN_INLINE void contract_left(sn_lanes K[9], sn_lanes T[9][3], const double *g, int lane) {
    sn_lanes gx = sn_lanes_load(g + lane);
    sn_lanes gy = sn_lanes_load(g + SN_BLOCK + lane);
    sn_lanes gz = sn_lanes_load(g + 2 * SN_BLOCK + lane);

    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            K[3 * i + k] = sn_lanes_fma(gx, T[3 * i][k],
                                        sn_lanes_fma(gy, T[3 * i + 1][k], gz * T[3 * i + 2][k]));
        }
    }
}

// Adds the sum over all lanes to the block that they share.
SN_INLINE void gather_up(double *A, int32_t slot, const sn_lanes K[9]) {
    sn_quad first[SN_LANES], second[SN_LANES];
    double *block = A + slot;
    double last = 0;

    // Transpose lanes into quads of numbers, and add them up.
    sn_quads_from_lanes(first, K[0], K[1], K[2], K[3]);
    sn_quads_from_lanes(second, K[4], K[5], K[6], K[7]);
    for (int l = 1; l < SN_LANES; l++) {
        first[0] = sn_quad_add(first[0], first[l]);
        second[0] = sn_quad_add(second[0], second[l]);
    }

    // The ninth number.
    for (int l = 0; l < SN_LANES; l++) {
        last += K[8][l];
    }

    sn_quad_store_any(block, sn_quad_add(sn_quad_load_any(block), first[0]));
    sn_quad_store_any(block + 4, sn_quad_add(sn_quad_load_any(block + 4), second[0]));
    block[8] += last;
}

// Adds the nine numbers of each lane to its block, lane by lane, because neighbouring lanes often
// share blocks.
SN_INLINE void scatter(double *A, const int32_t *slots, const sn_lanes K[9]) {
    sn_quad first[SN_LANES], second[SN_LANES];
    sn_quads_from_lanes(first, K[0], K[1], K[2], K[3]);
    sn_quads_from_lanes(second, K[4], K[5], K[6], K[7]);

    for (int l = 0; l < SN_LANES; l++) {
        double *block = A + slots[l];
        sn_quad_store_any(block, sn_quad_add(sn_quad_load_any(block), first[l]));
        sn_quad_store_any(block + 4, sn_quad_add(sn_quad_load_any(block + 4), second[l]));
        block[8] += K[8][l];
    }
}

// A large matrix is in slow memory: fetch the blocks of the next samples while these are processed.
SN_INLINE void prefetch_next(const double *A, const sn_samples *samples, int32_t block) {
    if (!samples->prefetch || block + 1 >= samples->blocks) {
        return;
    }

    int32_t count = sn_samples_slot_count(samples) * SN_BLOCK;
    const int32_t *slots = samples->slots + (size_t)(block + 1) * (size_t)count;
    for (int32_t k = 0; k < count; k += SN_BLOCK) {
        for (int l = 0; l < SN_BLOCK; l++) {
            sn_prefetch_block(A + slots[k + l]);
        }
    }
}

// Block (i, k) of H between control b of tets and the others: T = H_ik w_b, then g_a . T. H_ki is
// the transpose, so K_ab[i][k] also gives K_ba[k][i]. K holds the pairs (1,0) (2,0) (2,1) (3,0)
// (3,1) (3,2).
//
// These functions are called with constant i, k, a, b, because compilers do not unroll loops whose
// bounds depend on one another.
SN_INLINE void store_tet_entry(sn_lanes K[6][9], const sn_lanes g[3], const sn_lanes T[3], int i,
                               int k, int a, int b) {
    if (a == b || (i == k && a < b)) {
        return;
    }

    sn_lanes value = sn_lanes_fma(g[0], T[0], sn_lanes_fma(g[1], T[1], g[2] * T[2]));
    if (a > b) {
        K[sn_pair_count(a - 1) + b][3 * i + k] = value;
    } else {
        K[sn_pair_count(b - 1) + a][3 * k + i] = value;
    }
}

SN_INLINE void store_tet_column(sn_lanes K[6][9], sn_lanes g[4][3], const sn_lanes w[3],
                                const double *H, int i, int k, int b) {
    sn_lanes T[3];
    for (int j = 0; j < 3; j++) {
        T[j] = sn_lanes_load(H + sn_sym9(3 * i + j, 3 * k) * SN_BLOCK) * w[0];
        T[j] =
            sn_lanes_fma(sn_lanes_load(H + sn_sym9(3 * i + j, 3 * k + 1) * SN_BLOCK), w[1], T[j]);
        T[j] =
            sn_lanes_fma(sn_lanes_load(H + sn_sym9(3 * i + j, 3 * k + 2) * SN_BLOCK), w[2], T[j]);
    }

    store_tet_entry(K, g[0], T, i, k, 0, b);
    store_tet_entry(K, g[1], T, i, k, 1, b);
    store_tet_entry(K, g[2], T, i, k, 2, b);
    store_tet_entry(K, g[3], T, i, k, 3, b);
}

SN_INLINE void store_tet_block(sn_lanes K[6][9], sn_lanes g[4][3], sn_lanes w[4][3],
                               const double *H, int i, int k) {
    store_tet_column(K, g, w[0], H, i, k, 0);
    store_tet_column(K, g, w[1], H, i, k, 1);
    store_tet_column(K, g, w[2], H, i, k, 2);
    if (i != k) {
        store_tet_column(K, g, w[3], H, i, k, 3);
    }
}

// R K R'
SN_INLINE void rotate_block(sn_lanes K[9], const double *R) {
    sn_lanes transposed[9];
    for (int i = 0; i < 3; i++) {
        sn_lanes x[3], r[3];

        // Row i of R K.
        for (int a = 0; a < 3; a++) {
            r[a] = sn_lanes_load(R + (3 * i + a) * SN_BLOCK);
        }

        for (int k = 0; k < 3; k++) {
            x[k] = sn_lanes_fma(r[2], K[6 + k], sn_lanes_fma(r[1], K[3 + k], r[0] * K[k]));
        }

        // Times R'.
        for (int k = 0; k < 3; k++) {
            const double *row = R + 3 * k * SN_BLOCK;
            sn_lanes sum = x[0] * sn_lanes_load(row);
            sum = sn_lanes_fma(x[1], sn_lanes_load(row + SN_BLOCK), sum);
            transposed[3 * i + k] = sn_lanes_fma(x[2], sn_lanes_load(row + 2 * SN_BLOCK), sum);
        }
    }

    for (int e = 0; e < 9; e++) {
        K[e] = transposed[e];
    }
}

// H is in the rest frame, or in the axes of the rotation that follows it.
SN_INLINE void add_tet_lanes(double *A, const int32_t *slots, const double *gradient,
                             const double *V, const double *H, bool transposed) {
    sn_lanes g[4][3], w[4][3], K[6][9];
    sn_lanes volume = sn_lanes_load(V);

    // Gradients, and gradients times volume.
    for (int c = 0; c < 12; c++) {
        g[c / 3][c % 3] = sn_lanes_load(gradient + c * SN_BLOCK);
        w[c / 3][c % 3] = volume * g[c / 3][c % 3];
    }

    // The six blocks (i, k), i <= k, of H.
    store_tet_block(K, g, w, H, 0, 0);
    store_tet_block(K, g, w, H, 0, 1);
    store_tet_block(K, g, w, H, 0, 2);
    store_tet_block(K, g, w, H, 1, 1);
    store_tet_block(K, g, w, H, 1, 2);
    store_tet_block(K, g, w, H, 2, 2);

    // The six pairs of controls.
    for (int p = 0; p < 6; p++) {
        if (transposed) {
            rotate_block(K[p], H + SN_ROTATION_R * SN_BLOCK);
        }
        scatter(A, slots + p * SN_BLOCK, K[p]);
    }
}

SN_APART void add_plain_lanes(double *A, const int32_t *slots, const double *gradient,
                              const double *V, const double *H) {
    add_tet_lanes(A, slots, gradient, V, H, false);
}

SN_APART void add_exact_lanes(double *A, const int32_t *slots, const double *gradient,
                              const double *V, const double *H) {
    add_tet_lanes(A, slots, gradient, V, H, true);
}

typedef void add_lanes_fn(double *A, const int32_t *slots, const double *gradient, const double *V,
                          const double *H);

// The blocks of all pairs of controls of a block of tets.
SN_INLINE void add_tets(double *A, const sn_samples *samples, int32_t block, const double *H,
                        add_lanes_fn *add_lanes) {
    const double *gradient = samples->gradient + (size_t)block * 12 * SN_BLOCK;
    const double *volume = samples->volume + (size_t)block * SN_BLOCK;
    const int32_t *slots = samples->slots + (size_t)block * 6 * SN_BLOCK;
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        add_lanes(A, slots + lane, gradient + lane, volume + lane, H + lane);
    }
}

// The gradients of a block with the controls side by side: [sample][component][control], zero after
// the last control.
SN_INLINE void transpose_gradients(double *transposed, int32_t stride, const double *gradient,
                                   int32_t width) {
    for (int32_t c = 0; c < stride; c++) {
        for (int k = 0; k < 3; k++) {
            for (int l = 0; l < SN_BLOCK; l++) {
                transposed[(3 * l + k) * stride + c] =
                    c < width ? gradient[(3 * c + k) * SN_BLOCK + l] : 0;
            }
        }
    }
}

// Sums g_d . T over the samples from `begin` to `end` for as many controls d as there are lanes:
// K[i][k] of the pairs (c, d), given T = H g_c for each sample.
SN_INLINE void sum_run(sn_lanes K[9], const double *T, const double *transposed, int32_t stride,
                       int begin, int end) {
    for (int e = 0; e < 9; e++) {
        K[e] = (sn_lanes){0};
    }

    SN_KEEP_LOOP

    // K[i][k] += sum_j g_d[j] T[j][i][k]
    for (int l = begin; l < end; l++) {
        const double *g = transposed + 3 * l * stride;
        const double *t = T + l;
        sn_lanes gx = sn_lanes_load(g);
        sn_lanes gy = sn_lanes_load(g + stride);
        sn_lanes gz = sn_lanes_load(g + 2 * stride);

        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) {
                sn_lanes sum =
                    sn_lanes_fma(sn_lanes_all(t[(9 * k + i) * SN_BLOCK]), gx, K[3 * i + k]);
                sum = sn_lanes_fma(sn_lanes_all(t[(9 * k + 3 + i) * SN_BLOCK]), gy, sum);
                K[3 * i + k] = sn_lanes_fma(sn_lanes_all(t[(9 * k + 6 + i) * SN_BLOCK]), gz, sum);
            }
        }
    }
}

// Adds the blocks of consecutive pairs, whose slots are SN_BLOCK apart.
SN_INLINE void add_pairs(double *A, const int32_t *slots, const sn_lanes K[9], int count) {
    sn_quad first[SN_LANES], second[SN_LANES];
    sn_quads_from_lanes(first, K[0], K[1], K[2], K[3]);
    sn_quads_from_lanes(second, K[4], K[5], K[6], K[7]);

    for (int l = 0; l < count; l++) {
        double *block = A + slots[l * SN_BLOCK];
        sn_quad_store_any(block, sn_quad_add(sn_quad_load_any(block), first[l]));
        sn_quad_store_any(block + 4, sn_quad_add(sn_quad_load_any(block + 4), second[l]));
        block[8] += K[8][l];
    }
}

// From this many controls on, lanes of controls are well filled.
enum { WIDE = 12 };

// If neighbouring samples have the same controls, lanes are controls: each run of samples is summed
// before it is added.
static void add_runs(double *A, const sn_samples *samples, int32_t block, const double *H) {
    double transposed[3 * SN_BLOCK * SN_SAMPLE_RUN_WIDTH] SN_ALIGNED, T[27 * SN_BLOCK] SN_ALIGNED;
    int32_t width = samples->width;
    int32_t stride = (width + SN_LANES - 1) / SN_LANES * SN_LANES;
    const double *gradient = samples->gradient + (size_t)block * (size_t)width * 3 * SN_BLOCK;
    const double *volume = samples->volume + (size_t)block * SN_BLOCK;
    const int32_t *slots = samples->slots + (size_t)block * (size_t)sn_pair_count(width) * SN_BLOCK;
    const int8_t *ends = samples->run_end + (size_t)block * SN_BLOCK;

    // T = H g_c for all samples of the block.
    transpose_gradients(transposed, stride, gradient, width);
    for (int32_t c = 0; c < width; c++) {
        for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
            sn_lanes own[9][3];
            contract_right(own, H, gradient + 3 * c * SN_BLOCK, sn_lanes_load(volume + lane), lane);
            for (int r = 0; r < 9; r++) {
                for (int k = 0; k < 3; k++) {
                    sn_lanes_store(T + (3 * r + k) * SN_BLOCK + lane, own[r][k]);
                }
            }
        }

        // Sum over each run, for as many controls d as there are lanes.
        const int32_t *row = slots + sn_pair_count(c) * SN_BLOCK;
        for (int begin = 0; begin < SN_BLOCK && ends[begin] > begin; begin = ends[begin]) {
            for (int32_t d = 0; d <= c; d += SN_LANES) {
                sn_lanes K[9];
                sum_run(K, T, transposed + d, stride, begin, ends[begin]);
                add_pairs(A, row + d * SN_BLOCK + begin, K,
                          c - d + 1 < SN_LANES ? c - d + 1 : SN_LANES);
            }
        }
    }
}

void SN_ISA_NAME(sn_samples_add_stiffness)(double *A, const sn_samples *samples, int32_t block,
                                           const double *H) {
    prefetch_next(A, samples, block);
    if (samples->tets) {
        add_tets(A, samples, block, H, add_plain_lanes);
        return;
    }

    int32_t width = samples->width;
    int32_t run = samples->run_end[(size_t)block * SN_BLOCK];
    if (run > 0 && width >= WIDE) {
        add_runs(A, samples, block, H);
        return;
    }

    // The general case: pairs of controls, samples in the lanes.
    const double *gradient = samples->gradient + (size_t)block * (size_t)width * 3 * SN_BLOCK;
    const double *volume = samples->volume + (size_t)block * SN_BLOCK;
    const int32_t *slots = samples->slots + (size_t)block * (size_t)sn_pair_count(width) * SN_BLOCK;

    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes weight = sn_lanes_load(volume + lane);
        for (int32_t d = 0; d < width; d++) {
            sn_lanes T[9][3], K[9];
            contract_right(T, H, gradient + 3 * d * SN_BLOCK, weight, lane);
            for (int32_t c = d; c < width; c++) {
                contract_left(K, T, gradient + 3 * c * SN_BLOCK, lane);
                const int32_t *slot = slots + (sn_pair_count(c) + d) * SN_BLOCK + lane;
                if (run == SN_BLOCK) {
                    gather_up(A, slot[0], K);
                } else {
                    scatter(A, slot, K);
                }
            }
        }
    }
}

void SN_ISA_NAME(sn_samples_add_own_stiffness)(double *A, const sn_samples *samples, int32_t block,
                                               const double *H, const sn_control_sets *sets) {
    int32_t width = samples->width;
    const int32_t *control = samples->control + (size_t)block * (size_t)width * SN_BLOCK;
    const double *gradient = samples->gradient + (size_t)block * (size_t)width * 3 * SN_BLOCK;
    const double *volume = samples->volume + (size_t)block * SN_BLOCK;

    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes weight = sn_lanes_load(volume + lane);
        for (int32_t d = 0; d < width; d++) {
            sn_lanes T[9][3], K[9];
            contract_right(T, H, gradient + 3 * d * SN_BLOCK, weight, lane);

            // The controls of a set follow one another, so stop at the first one outside of it.
            bool any = true;
            for (int32_t c = d; c < width && any; c++) {
                any = false;
                contract_left(K, T, gradient + 3 * c * SN_BLOCK, lane);
                for (int l = 0; l < SN_LANES; l++) {
                    int32_t row = control[c * SN_BLOCK + lane + l];
                    int32_t column = control[d * SN_BLOCK + lane + l];
                    if (sets->first[row] != sets->first[column]) {
                        continue;
                    }

                    // Add lane by lane: each has its own block.
                    ptrdiff_t block_at = sets->starts[row] + column - sets->first[row];
                    double *out = A + 9 * block_at;
                    for (int e = 0; e < 9; e++) {
                        out[e] += K[e][l];
                    }
                    any = true;
                }
            }
        }
    }
}

void SN_ISA_NAME(sn_samples_couple)(double *K, const double *volume, const double *H,
                                    const double *h, int32_t count, const double *g,
                                    int32_t width) {
    memset(K, 0, (size_t)(9 * count * width) * sizeof *K);
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes weight = sn_lanes_load(volume + lane);
        for (int32_t j = 0; j < count; j++) {
            sn_lanes T[9][3], own[9];
            contract_right(T, H, h + 3 * j * SN_BLOCK, weight, lane);
            for (int32_t c = 0; c < width; c++) {
                contract_left(own, T, g + 3 * c * SN_BLOCK, lane);
                gather_up(K, 9 * (j * width + c), own);
            }
        }
    }
}

void SN_ISA_NAME(sn_samples_apply_tangent)(double *P, const double *H, const double *F) {
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes sum[9] = {{0}};
        for (int r = 0; r < 9; r++) {
            sn_lanes own = sn_lanes_load(F + r * SN_BLOCK + lane);
            sum[r] = sn_lanes_fma(sn_lanes_load(H + sn_sym9(r, r) * SN_BLOCK + lane), own, sum[r]);
            for (int c = r + 1; c < 9; c++) {
                sn_lanes h = sn_lanes_load(H + sn_sym9(r, c) * SN_BLOCK + lane);
                sum[r] = sn_lanes_fma(h, sn_lanes_load(F + c * SN_BLOCK + lane), sum[r]);
                sum[c] = sn_lanes_fma(h, own, sum[c]);
            }
        }

        for (int r = 0; r < 9; r++) {
            sn_lanes_store(P + r * SN_BLOCK + lane, sum[r]);
        }
    }
}

// Vectors and matrices of a control under a rotated tangent: h = R g and, with w = V h, also Y = N
// [w], lambda w and s V g.
typedef struct rotated {
    sn_lanes g[3], h[3], Y[3][3], lambda_w[3], s_g[3];
} rotated;

SN_INLINE void rotate_gradient(rotated *c, const double *gradient, const double *H) {
    const double *R = H + SN_ROTATED_R * SN_BLOCK;
    for (int i = 0; i < 3; i++) {
        c->g[i] = sn_lanes_load(gradient + i * SN_BLOCK);
    }

    for (int i = 0; i < 3; i++) {
        sn_lanes x = sn_lanes_load(R + (3 * i + 1) * SN_BLOCK) * c->g[1];
        x = sn_lanes_fma(sn_lanes_load(R + (3 * i + 2) * SN_BLOCK), c->g[2], x);
        c->h[i] = sn_lanes_fma(sn_lanes_load(R + 3 * i * SN_BLOCK), c->g[0], x);
    }
}

SN_INLINE void stiffen_control(rotated *c, const double *H, sn_lanes V) {
    sn_lanes s = V * sn_lanes_load(H + SN_ROTATED_SCALE * SN_BLOCK);
    sn_lanes N[6], w[3];
    sn_lanes lambda = sn_lanes_load(H + SN_ROTATED_LAMBDA * SN_BLOCK);

    for (int i = 0; i < 6; i++) {
        N[i] = sn_lanes_load(H + (SN_ROTATED_N + i) * SN_BLOCK);
    }

    // w = V h, lambda w and s V g.
    for (int i = 0; i < 3; i++) {
        w[i] = V * c->h[i];
        c->lambda_w[i] = lambda * w[i];
        c->s_g[i] = s * c->g[i];
    }

    // Y = N [w]
    static const int row[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    for (int i = 0; i < 3; i++) {
        sn_lanes x = N[row[i][0]];
        sn_lanes y = N[row[i][1]];
        sn_lanes z = N[row[i][2]];
        c->Y[i][0] = w[2] * y - w[1] * z;
        c->Y[i][1] = w[0] * z - w[2] * x;
        c->Y[i][2] = w[1] * x - w[0] * y;
    }
}

// K = s g_c . g_d I + lambda h_c h_d' + [h_c]' N [h_d], times the volume
SN_INLINE void add_rotated_pair(double *A, const int32_t *slots, const rotated *c,
                                const rotated *d) {
    const sn_lanes *h = c->h;
    sn_lanes K[9];
    sn_lanes diagonal = c->g[0] * d->s_g[0] + c->g[1] * d->s_g[1] + c->g[2] * d->s_g[2];

    for (int k = 0; k < 3; k++) {
        sn_lanes l = d->lambda_w[k];
        K[k] = h[0] * l + (h[2] * d->Y[1][k] - h[1] * d->Y[2][k]);
        K[3 + k] = h[1] * l + (h[0] * d->Y[2][k] - h[2] * d->Y[0][k]);
        K[6 + k] = h[2] * l + (h[1] * d->Y[0][k] - h[0] * d->Y[1][k]);
    }

    for (int i = 0; i < 3; i++) {
        K[4 * i] += diagonal;
    }

    scatter(A, slots, K);
}

void SN_ISA_NAME(sn_samples_add_rotated)(double *A, const sn_samples *samples, int32_t block,
                                         const double *H) {
    prefetch_next(A, samples, block);
    const double *gradient = samples->gradient + (size_t)block * 12 * SN_BLOCK;
    const double *volume = samples->volume + (size_t)block * SN_BLOCK;
    const int32_t *slots = samples->slots + (size_t)block * 6 * SN_BLOCK;

    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        rotated controls[4];
        sn_lanes V = sn_lanes_load(volume + lane);

        // Controls in ascending order, each paired with the earlier ones. The last needs no
        // products.
        for (int c = 0; c < 4; c++) {
            rotate_gradient(&controls[c], gradient + 3 * c * SN_BLOCK + lane, H + lane);
            for (int d = 0; d < c; d++) {
                const int32_t *pair = slots + (sn_pair_count(c - 1) + d) * SN_BLOCK + lane;
                add_rotated_pair(A, pair, &controls[c], &controls[d]);
            }

            if (c < 3) {
                stiffen_control(&controls[c], H + lane, V);
            }
        }
    }
}

void SN_ISA_NAME(sn_samples_add_exact)(double *A, const sn_samples *samples, int32_t block,
                                       const double *H) {
    prefetch_next(A, samples, block);
    add_tets(A, samples, block, H, add_exact_lanes);
}

// The contribution of a control with the rotation held: C_ab w_b and, for a != b, G_ab w_a, with
// the shear moduli G and w = V g.
typedef struct held {
    sn_lanes C[3][3], G[3][3];
} held;

SN_INLINE void hold_control(held *c, const sn_lanes w[3], const double *H) {
    static const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            c->C[a][b] = sn_lanes_load(H + (SN_HELD_NORMAL + place[a][b]) * SN_BLOCK) * w[b];
            if (a != b) {
                c->G[a][b] = sn_lanes_load(H + (SN_HELD_SHEAR + 3 - a - b) * SN_BLOCK) * w[a];
            }
        }
    }
}

// K_ab = C_ab g_a w_b + G_ab g_b w_a, and on the diagonal C_aa g_a w_a + sum_j G_aj g_j w_j, in the
// rest frame.
SN_INLINE void find_held_pair(sn_lanes K[9], const sn_lanes g[3], const held *d) {
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            K[3 * a + b] = g[a] * d->C[a][b];
            if (a != b) {
                K[3 * a + b] = sn_lanes_fma(g[b], d->G[a][b], K[3 * a + b]);
            }
        }

        for (int j = 0; j < 3; j++) {
            if (j != a) {
                K[4 * a] = sn_lanes_fma(g[j], d->G[j][a], K[4 * a]);
            }
        }
    }
}

SN_APART void add_held_lanes(double *A, const int32_t *slots, const double *gradient,
                             const double *V, const double *H) {
    static const int rows[6] = {1, 2, 2, 3, 3, 3};
    static const int columns[6] = {0, 0, 1, 0, 1, 2};
    sn_lanes g[4][3];
    sn_lanes volume = sn_lanes_load(V);
    held controls[3];

    // Gradients of the four controls, and the products of the first three.
    for (int c = 0; c < 12; c++) {
        g[c / 3][c % 3] = sn_lanes_load(gradient + c * SN_BLOCK);
    }

    for (int c = 0; c < 3; c++) {
        const sn_lanes w[3] = {volume * g[c][0], volume * g[c][1], volume * g[c][2]};
        hold_control(&controls[c], w, H);
    }

    // The six pairs, rotated into the current frame.
    for (int p = 0; p < 6; p++) {
        sn_lanes K[9];
        find_held_pair(K, g[rows[p]], &controls[columns[p]]);
        rotate_block(K, H + SN_ROTATION_R * SN_BLOCK);
        scatter(A, slots + p * SN_BLOCK, K);
    }
}

void SN_ISA_NAME(sn_samples_add_held)(double *A, const sn_samples *samples, int32_t block,
                                      const double *H) {
    prefetch_next(A, samples, block);
    add_tets(A, samples, block, H, add_held_lanes);
}
