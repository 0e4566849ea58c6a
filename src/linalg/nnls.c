// Non-negative least squares; nnls.h describes the method. The Gram matrix of the chosen columns is
// kept with its Cholesky factor: a new column adds a row to both, and a column that leaves has the
// factor computed again.
#include "linalg/nnls.h"

#include "base/threads.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 64 };

typedef struct state {
    const sn_nnls_def *def;
    int32_t count; // chosen columns
    int32_t *chosen;
    bool *barred;     // [column]: chosen, or dependent on the chosen ones
    double *gram, *L; // [most][most]
    double *rhs, *trial;
    int32_t *kept;
    double *r;      // [rows]
    double *gain;   // [column]
    double *length; // [column]
} state;

// Four partial sums in a fixed order.
static double dot(const double *a, const double *b, int32_t n) {
    double sum[4] = {0, 0, 0, 0};
    int32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += a[i + k] * b[i + k];
        }
    }
    for (; i < n; i++) {
        sum[0] += a[i] * b[i];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static const double *column(const state *s, int32_t j) {
    return s->def->A + (size_t)j * (size_t)s->def->rows;
}

static void find_gains(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    state *s = data;
    for (int32_t j = begin; j < end; j++) {
        s->gain[j] = s->length[j] > 0 ? dot(column(s, j), s->r, s->def->rows) / s->length[j] : 0;
    }
}

static double compute_residual(state *s, const double *x) {
    memcpy(s->r, s->def->b, (size_t)s->def->rows * sizeof *s->r);
    for (int32_t k = 0; k < s->count; k++) {
        const double *a = column(s, s->chosen[k]);
        double value = x[s->chosen[k]];
        for (int32_t i = 0; i < s->def->rows; i++) {
            s->r[i] -= value * a[i];
        }
    }
    return sqrt(dot(s->r, s->r, s->def->rows));
}

// Adds a column to the Gram matrix and its factor. False if it depends on the others.
static bool append(state *s, int32_t j) {
    int32_t n = s->def->most;
    int32_t k = s->count;
    double *row = s->gram + (size_t)k * (size_t)n;
    double *factor = s->L + (size_t)k * (size_t)n;
    double rest = s->length[j] * s->length[j];

    for (int32_t i = 0; i < k; i++) {
        row[i] = dot(column(s, s->chosen[i]), column(s, j), s->def->rows);
        factor[i] = (row[i] - dot(factor, s->L + (size_t)i * (size_t)n, i)) /
                    s->L[(size_t)i * (size_t)n + (size_t)i];
        rest -= factor[i] * factor[i];
    }

    row[k] = s->length[j] * s->length[j];
    if (!(rest > 1e-10 * row[k])) {
        return false;
    }

    factor[k] = sqrt(rest);
    s->rhs[k] = dot(column(s, j), s->def->b, s->def->rows);
    s->chosen[s->count++] = j;
    return true;
}

// Removes the chosen columns whose x is 0 and factors the Gram matrix of the rest.
static void drop_zeros(state *s, double *x) {
    int32_t n = s->def->most;
    int32_t kept = 0;
    for (int32_t k = 0; k < s->count; k++) {
        if (!(x[s->chosen[k]] > 0)) {
            x[s->chosen[k]] = 0;
            s->barred[s->chosen[k]] = false;
            continue;
        }

        // Rows move up; their entries of kept columns move left.
        double *from = s->gram + (size_t)k * (size_t)n;
        double *to = s->gram + (size_t)kept * (size_t)n;
        for (int32_t i = 0, next = 0; i <= k; i++) {
            if (x[s->chosen[i]] > 0) {
                to[next++] = from[i];
            }
        }
        s->rhs[kept] = s->rhs[k];
        s->kept[kept++] = s->chosen[k];
    }

    s->count = kept;
    for (int32_t k = 0; k < kept; k++) {
        s->chosen[k] = s->kept[k];
        memcpy(s->L + (size_t)k * (size_t)n, s->gram + (size_t)k * (size_t)n,
               (size_t)(k + 1) * sizeof *s->L);
    }
    sn_dense_cholesky(s->L, kept, n);
}

// Solves for the chosen columns; while some become negative, goes as far as all stay positive and
// drops those that reach 0.
static void balance(state *s, double *x) {
    while (s->count > 0) {
        memcpy(s->trial, s->rhs, (size_t)s->count * sizeof *s->trial);
        sn_dense_cholesky_solve(s->L, s->count, s->def->most, s->trial);

        double step = 1;
        for (int32_t k = 0; k < s->count; k++) {
            double now = x[s->chosen[k]];
            if (s->trial[k] <= 0) {
                step = fmin(step, now / (now - s->trial[k]));
            }
        }

        bool whole = step >= 1;
        for (int32_t k = 0; k < s->count; k++) {
            double *now = &x[s->chosen[k]];
            double next = *now + step * (s->trial[k] - *now);
            *now = s->trial[k] <= 0 && next <= 1e-14 ? 0 : next;
        }
        if (whole) {
            return;
        }

        // Rounding may leave the one that ends the step a little above 0.
        int32_t least = -1;
        for (int32_t k = 0; k < s->count; k++) {
            if (s->trial[k] <= 0 && (least < 0 || x[s->chosen[k]] < x[s->chosen[least]])) {
                least = k;
            }
        }
        x[s->chosen[least]] = 0;
        drop_zeros(s, x);
    }
}

static sinew_status push_state(sn_arena *arena, const sn_nnls_def *def, state *s) {
    size_t most = (size_t)def->most;
    *s = (state){.def = def,
                 .chosen = SN_PUSH(arena, int32_t, most + 1),
                 .barred = SN_PUSH(arena, bool, def->columns),
                 .gram = SN_PUSH(arena, double, most *most),
                 .L = SN_PUSH(arena, double, most *most),
                 .rhs = SN_PUSH(arena, double, most),
                 .trial = SN_PUSH(arena, double, most),
                 .kept = SN_PUSH(arena, int32_t, most),
                 .r = SN_PUSH(arena, double, def->rows),
                 .gain = SN_PUSH(arena, double, def->columns),
                 .length = SN_PUSH(arena, double, def->columns)};
    return sn_arena_status(arena);
}

sinew_status sn_nnls_solve(sinew_context *context, const sn_nnls_def *def, double *x,
                           double *residual) {
    SN_ASSERT(def->most >= 1 && def->rows >= 1);
    state s;
    sn_arena arena = sn_arena_create(context);
    sinew_status status = push_state(&arena, def, &s);
    if (status != SINEW_OK) {
        sn_arena_destroy(&arena);
        return status;
    }

    // Start from zero.
    memset(x, 0, (size_t)def->columns * sizeof *x);
    for (int32_t j = 0; j < def->columns; j++) {
        s.length[j] = sqrt(dot(column(&s, j), column(&s, j), def->rows));
    }

    double size = sqrt(dot(def->b, def->b, def->rows));
    double left = compute_residual(&s, x);
    for (int32_t round = 0; round < 4 * def->most; round++) {
        if (left <= def->tolerance * size || s.count == def->most) {
            break;
        }

        // The column that would lower the residual fastest.
        sn_parallel_for(context, def->columns, CHUNK, find_gains, &s);
        int32_t best = -1;
        for (int32_t j = 0; j < def->columns; j++) {
            if (!s.barred[j] && s.gain[j] > 1e-12 * size &&
                (best < 0 || s.gain[j] > s.gain[best])) {
                best = j;
            }
        }
        if (best < 0) {
            break;
        }

        // Add it, unless it depends on those that are in use.
        s.barred[best] = true;
        if (append(&s, best)) {
            balance(&s, x);
            left = compute_residual(&s, x);
        }
    }

    if (residual) {
        *residual = size > 0 ? left / size : 0;
    }
    sn_arena_destroy(&arena);
    return SINEW_OK;
}
