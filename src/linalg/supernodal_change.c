// Low-rank changes of a sparse factor. Input: a factor and a few rows; output: the correction of a
// solve; see supernodal_change.h.
//
// Cost: that of one forward substitution with the rows as right-hand sides, but in dense kernels
// and only in the supernodes they reach.
#include "linalg/supernodal_change.h"

#include "linalg/kernels.h"

#include <string.h>

enum { BLOCK = 64, CHUNK = 256 };

static int32_t width(const sn_supernodal *factor, int32_t t) {
    return factor->first[t + 1] - factor->first[t];
}

static int32_t rows_below(const sn_supernodal *factor, int32_t t) {
    return factor->row_starts[t + 1] - factor->row_starts[t];
}

// Working data while W is computed.
typedef struct maker {
    const sn_supernodal *factor;
    const sn_linalg_kernels *kernels;
    sn_supernodal_change *change;
    int32_t *positions; // of each row of the matrix in the order of elimination
    int32_t *piece_of;  // of each supernode; -1: none
    double *product;    // count x CHUNK, or count x count
} maker;

// ---- Which rows reach which supernodes ----------------------------------------------------------

static void mark_rows(maker *m, const sn_row_set *rows, int32_t first, const int32_t *piece_of,
                      bool *reaches) {
    for (int32_t r = 0; r < rows->count; r++) {
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            int32_t t = m->factor->owner[m->positions[rows->columns[k]]];
            reaches[(size_t)piece_of[t] * (size_t)m->change->count + (size_t)(first + r)] = true;
        }
    }
}

// The supernodes that hold entries of the rows, and all their ancestors, become pieces.
static void find_pieces(maker *m, const sn_row_set *added, const sn_row_set *removed) {
    // Mark the supernodes that hold entries.
    const sn_supernodal *factor = m->factor;
    const sn_row_set *sets[2] = {added, removed};
    for (int32_t t = 0; t < factor->supernodes; t++) {
        m->piece_of[t] = -1;
    }

    for (int s = 0; s < 2; s++) {
        for (int32_t k = sets[s]->starts[0]; k < sets[s]->starts[sets[s]->count]; k++) {
            m->piece_of[factor->owner[m->positions[sets[s]->columns[k]]]] = 0;
        }
    }

    // Number them in ascending order, marking the parent of each on the way.
    m->change->piece_count = 0;
    for (int32_t t = 0; t < factor->supernodes; t++) {
        if (m->piece_of[t] < 0) {
            continue;
        }

        m->piece_of[t] = m->change->piece_count++;
        if (rows_below(factor, t) > 0) {
            m->piece_of[factor->owner[factor->rows[factor->row_starts[t]]]] = 0;
        }
    }
}

// Estimates the multiplications of a forward substitution with the rows, and of factoring the same
// supernodes again.
static void estimate(const maker *m, double *here, double *again) {
    *here = *again = 0;
    for (int32_t p = 0; p < m->change->piece_count; p++) {
        const sn_change_piece *piece = &m->change->pieces[p];
        double w = width(m->factor, piece->supernode);
        double below = rows_below(m->factor, piece->supernode);
        *here += piece->row_count * w * (0.5 * w + below + 0.5 * piece->row_count);
        *again += w * (w * w / 3 + below * (w + below));
    }
}

static sinew_status push_pieces(sn_arena *arena, maker *m, const sn_row_set *added,
                                const sn_row_set *removed, sn_arena *scratch) {
    sn_supernodal_change *change = m->change;
    size_t count = (size_t)change->count;
    size_t pieces = (size_t)change->piece_count;
    bool *reaches = SN_PUSH(scratch, bool, pieces *count);

    change->pieces = SN_PUSH(arena, sn_change_piece, pieces);
    change->slots = SN_PUSH(arena, int32_t, pieces * count);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(arena));
    mark_rows(m, added, 0, m->piece_of, reaches);
    mark_rows(m, removed, change->added, m->piece_of, reaches);

    // A row that reaches a supernode also reaches its parent.
    for (int32_t t = 0; t < m->factor->supernodes; t++) {
        if (m->piece_of[t] < 0) {
            continue;
        }

        size_t p = (size_t)m->piece_of[t];
        sn_change_piece *piece = &change->pieces[p];
        int32_t above = rows_below(m->factor, t) > 0
                            ? m->factor->owner[m->factor->rows[m->factor->row_starts[t]]]
                            : -1;

        piece->supernode = t;
        piece->rows = SN_PUSH(arena, int32_t, count);
        SN_TRY(sn_arena_status(arena));

        for (size_t k = 0; k < count; k++) {
            change->slots[p * count + k] = reaches[p * count + k] ? piece->row_count : -1;
            if (!reaches[p * count + k]) {
                continue;
            }

            piece->rows[piece->row_count++] = (int32_t)k;
            if (above >= 0) {
                reaches[(size_t)m->piece_of[above] * count + k] = true;
            }
        }
    }

    return SINEW_OK;
}

// ---- W ------------------------------------------------------------------------------------------

static double *entry(const maker *m, int32_t row, int32_t position) {
    int32_t t = m->factor->owner[position];
    int32_t p = m->piece_of[t];
    const sn_change_piece *piece = &m->change->pieces[p];
    int32_t slot = m->change->slots[(size_t)p * (size_t)m->change->count + (size_t)row];
    return piece->values + (size_t)slot * (size_t)width(m->factor, t) +
           (position - m->factor->first[t]);
}

static void load_rows(const maker *m, const sn_row_set *rows, int32_t first) {
    for (int32_t r = 0; r < rows->count; r++) {
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            *entry(m, first + r, m->positions[rows->columns[k]]) += rows->weights[k];
        }
    }
}

// Solves the rows of a piece against the triangle of its panel.
static void solve_piece(const maker *m, const sn_change_piece *piece) {
    int32_t w = width(m->factor, piece->supernode);
    int32_t count = piece->row_count;
    size_t stride = (size_t)w;
    const double *panel = m->factor->values + m->factor->panels[piece->supernode];

    // Block by block: subtract the product with the solved columns, then solve the triangle.
    for (int32_t begin = 0; begin < w; begin += BLOCK) {
        int32_t size = w - begin < BLOCK ? w - begin : BLOCK;
        const double *rows = panel + (size_t)begin * stride;
        if (begin > 0) {
            m->kernels->dense_product(m->product, BLOCK, piece->values, count, rows, size, begin,
                                      w);
        }

        for (int32_t r = 0; r < count; r++) {
            double *x = piece->values + (size_t)r * stride + begin;
            if (begin > 0) {
                for (int32_t c = 0; c < size; c++) {
                    x[c] += m->product[(size_t)r * BLOCK + (size_t)c];
                }
            }
            m->kernels->dense_forward(rows + begin, size, w, x);
        }
    }
}

// Subtracts the contribution of a solved piece from the supernodes above it.
static void hand_on(const maker *m, const sn_change_piece *piece) {
    int32_t t = piece->supernode;
    int32_t w = width(m->factor, t);
    int32_t below = rows_below(m->factor, t);
    const double *panel = m->factor->values + m->factor->panels[t] + (size_t)w * (size_t)w;
    const int32_t *rows = m->factor->rows + m->factor->row_starts[t];

    // Chunk by chunk, to bound the size of the product.
    for (int32_t begin = 0; begin < below; begin += CHUNK) {
        int32_t size = below - begin < CHUNK ? below - begin : CHUNK;
        m->kernels->dense_product(m->product, CHUNK, piece->values, piece->row_count,
                                  panel + (size_t)begin * (size_t)w, size, w, w);

        for (int32_t r = 0; r < piece->row_count; r++) {
            const double *from = m->product + (size_t)r * CHUNK;

            // Add runs of rows that belong to one supernode.
            for (int32_t k = 0; k < size;) {
                int32_t owner = m->factor->owner[rows[begin + k]];
                int32_t first = rows[begin + k];
                double *to = entry(m, piece->rows[r], first);
                for (; k < size && rows[begin + k] < m->factor->first[owner + 1]; k++) {
                    to[rows[begin + k] - first] += from[k];
                }
            }
        }
    }
}

// ---- H ------------------------------------------------------------------------------------------

// H += W W' of a piece, the lower triangle.
static void add_products(const maker *m, const sn_change_piece *piece) {
    int32_t count = piece->row_count;
    int32_t w = width(m->factor, piece->supernode);
    int32_t stride = (count + 7) / 8 * 8;

    m->kernels->dense_product(m->product, stride, piece->values, count, piece->values, count, w, w);

    for (int32_t a = 0; a < count; a++) {
        double *row = m->change->H + (size_t)piece->rows[a] * (size_t)m->change->stride;
        for (int32_t b = 0; b <= a; b++) {
            row[piece->rows[b]] -= m->product[(size_t)a * (size_t)stride + (size_t)b];
        }
    }
}

// H = [P X'; X -Q] with
//
//   P = 1 + W1 W1' = L1 L1',    X = W2 W1' L1^-T,    Q = 1 - W2 W2' + X X' = L2 L2'
static bool factor_products(const maker *m) {
    sn_supernodal_change *change = m->change;
    int32_t added = change->added;
    int32_t removed = change->count - added;
    int32_t stride = (removed + 7) / 8 * 8;
    size_t H_stride = (size_t)change->stride;

    // P = 1 + W1 W1' is factored, and X solved against it, in one go.
    for (int32_t k = 0; k < added; k++) {
        change->H[(size_t)k * H_stride + (size_t)k] += 1;
    }

    if (m->kernels->dense_factor(change->H, change->count, added, change->stride) >= 0) {
        return false;
    }
    if (removed == 0) {
        return true;
    }

    // Q = 1 - W2 W2' + X X'
    const double *X = change->H + (size_t)added * H_stride;
    double *Q = change->H + (size_t)added * H_stride + (size_t)added;

    memset(m->product, 0, (size_t)removed * (size_t)stride * sizeof(double));
    if (added > 0) {
        m->kernels->dense_product(m->product, stride, X, removed, X, removed, added,
                                  change->stride);
    }

    for (int32_t a = 0; a < removed; a++) {
        for (int32_t b = 0; b <= a; b++) {
            double *q = &Q[(size_t)a * H_stride + (size_t)b];
            *q = (a == b) - *q - m->product[(size_t)a * (size_t)stride + (size_t)b];
        }
    }

    return m->kernels->dense_factor(Q, removed, removed, change->stride) < 0;
}

// ---- All ----------------------------------------------------------------------------------------

static sinew_status push_values(sn_arena *arena, maker *m, sn_arena *scratch) {
    sn_supernodal_change *change = m->change;
    size_t count = (size_t)change->count;
    size_t widest = 0;

    change->stride = (change->count + 7) / 8 * 8;
    for (int32_t p = 0; p < change->piece_count; p++) {
        sn_change_piece *piece = &change->pieces[p];
        size_t w = (size_t)width(m->factor, piece->supernode);
        piece->values = SN_PUSH(arena, double, w *(size_t)piece->row_count);
        widest = w > widest ? w : widest;
    }

    change->H = SN_PUSH(arena, double, count *(size_t)change->stride);
    change->v = SN_PUSH(arena, double, 4 * count);
    change->part = SN_PUSH(arena, double, count);
    change->own = SN_PUSH(arena, double, widest);
    m->product =
        SN_PUSH(scratch, double, count *(size_t)(change->stride > CHUNK ? change->stride : CHUNK));
    SN_TRY(sn_arena_status(scratch));

    return sn_arena_status(arena);
}

static sinew_status build(sn_arena *arena, maker *m, const sn_row_set *added,
                          const sn_row_set *removed, sn_arena *scratch, bool *done) {
    const sn_supernodal *factor = m->factor;
    double here, again;

    m->positions = SN_PUSH(scratch, int32_t, factor->n);
    m->piece_of = SN_PUSH(scratch, int32_t, factor->supernodes);
    SN_TRY(sn_arena_status(scratch));

    for (int32_t i = 0; i < factor->n; i++) {
        m->positions[factor->order[i]] = i;
    }

    // Which supernodes change, and does a change cost less than a new factor?
    find_pieces(m, added, removed);
    SN_TRY(push_pieces(arena, m, added, removed, scratch));
    estimate(m, &here, &again);
    if (2 * here > again) {
        return SINEW_OK; // the kernels of a change run at half the speed
    }

    // W supernode by supernode, and H = S + W W'.
    SN_TRY(push_values(arena, m, scratch));
    load_rows(m, added, 0);
    load_rows(m, removed, m->change->added);

    for (int32_t p = 0; p < m->change->piece_count; p++) {
        solve_piece(m, &m->change->pieces[p]);
        hand_on(m, &m->change->pieces[p]);
        add_products(m, &m->change->pieces[p]);
    }

    *done = factor_products(m);
    return SINEW_OK;
}

sinew_status sn_supernodal_change_build(sn_arena *arena, const sn_supernodal *factor,
                                        const sn_row_set *added, const sn_row_set *removed,
                                        sn_supernodal_change *change, bool *done) {
    SN_ASSERT(factor->block == 1);
    *change = (sn_supernodal_change){.count = added->count + removed->count, .added = added->count};
    *done = false;
    maker m = {.factor = factor, .kernels = sn_linalg_kernels_get(), .change = change};
    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = build(arena, &m, added, removed, &scratch, done);
    sn_arena_destroy(&scratch);

    return status;
}

// ---- Solving ------------------------------------------------------------------------------------

// s = H^-1 v in place: a = L1^-1 v1, s2 = Q^-1 (X a - v2), s1 = L1^-T (a - X's2).
static void solve_products(const sn_supernodal_change *change, const sn_linalg_kernels *kernels,
                           double *s) {
    int32_t added = change->added;
    int32_t removed = change->count - added;
    int32_t stride = change->stride;
    const double *X = change->H + (size_t)added * (size_t)stride;
    const double *Q = X + added;
    double *s2 = s + added;

    // a = L1^-1 v1 and X a - v2
    kernels->dense_forward(change->H, added, stride, s);
    kernels->dense_multiply(change->part, X, removed, added, stride, s);
    for (int32_t k = 0; k < removed; k++) {
        s2[k] = change->part[k] - s2[k];
    }

    // s2 = Q^-1 (X a - v2), then s1 = L1^-T (a - X's2)
    kernels->dense_forward(Q, removed, stride, s2);
    kernels->dense_backward(Q, removed, stride, s2);
    kernels->dense_subtract_transposed(s, X, removed, added, stride, s2);
    kernels->dense_backward(change->H, added, stride, s);
}

// Adds W x to v, or subtracts W'v from x, for right-hand side c.
static void apply_piece(const sn_supernodal *factor, const sn_supernodal_change *change,
                        const sn_change_piece *piece, int c, bool transposed, double *x) {
    const sn_linalg_kernels *kernels = sn_linalg_kernels_get();
    int32_t w = width(factor, piece->supernode);
    int32_t count = piece->row_count;
    double *own = x + 4 * (size_t)factor->first[piece->supernode] + c;
    double *v = change->v + (size_t)c * (size_t)change->count;

    // Gather the right-hand side.
    for (int32_t k = 0; k < w; k++) {
        change->own[k] = own[4 * (size_t)k];
    }

    if (!transposed) {
        kernels->dense_multiply(change->part, piece->values, count, w, w, change->own);
        for (int32_t r = 0; r < count; r++) {
            v[piece->rows[r]] += change->part[r];
        }
        return;
    }

    // Transposed: subtract W'v.
    for (int32_t r = 0; r < count; r++) {
        change->part[r] = v[piece->rows[r]];
    }

    kernels->dense_subtract_transposed(change->own, piece->values, count, w, w, change->part);
    for (int32_t k = 0; k < w; k++) {
        own[4 * (size_t)k] = change->own[k];
    }
}

void sn_supernodal_change_apply(const sn_supernodal *factor, const sn_supernodal_change *change,
                                double *x) {
    const sn_linalg_kernels *kernels = sn_linalg_kernels_get();
    memset(change->v, 0, 4 * (size_t)change->count * sizeof(double));

    // v = W x
    for (int32_t p = 0; p < change->piece_count; p++) {
        for (int c = 0; c < 4; c++) {
            apply_piece(factor, change, &change->pieces[p], c, false, x);
        }
    }

    // v = H^-1 v
    for (size_t c = 0; c < 4; c++) {
        solve_products(change, kernels, change->v + c * (size_t)change->count);
    }

    // x -= W'v
    for (int32_t p = 0; p < change->piece_count; p++) {
        for (int c = 0; c < 4; c++) {
            apply_piece(factor, change, &change->pieces[p], c, true, x);
        }
    }
}
