// Smoothing over a graph. Input: neighbours and constraints; kept: a factor or a multigrid
// hierarchy; output: smooth functions.
//
// Method: normal equations (Cai 2016, 5.4.2) with weights that do not depend on the unit of length.
// Cost: linear in the unknowns except for the factor, which takes about n^1.5 in a solid of up to a
// hundred thousand unknowns.
#include "field/smoothing.h"

#include "base/sorted.h"

#include <string.h>

// ---- The graph ----------------------------------------------------------------------------------

// The mean distance to the neighbours of each unknown; returns the mean over all pairs.
static double compute_mean_distances(const sn_adjacency *neighbors, const sn_vec3 *positions,
                                     double *means) {
    double total = 0;
    for (int32_t i = 0; i < neighbors->rows; i++) {
        int32_t begin = neighbors->offsets[i];
        int32_t end = neighbors->offsets[i + 1];
        double sum = 0;

        for (int32_t k = begin; k < end; k++) {
            sum += sn_distance(positions[i], positions[neighbors->items[k]]);
        }

        means[i] = end > begin ? sum / (end - begin) : 0;
        total += sum;
    }

    int32_t pairs = neighbors->offsets[neighbors->rows];
    return pairs > 0 ? total / pairs : 0;
}

static sinew_status build_laplacian(sn_smoothing *smoothing, const sn_adjacency *neighbors,
                                    const sn_vec3 *positions) {
    int32_t n = neighbors->rows;
    sn_sparse *G = &smoothing->G;

    *G = (sn_sparse){.rows = n, .columns = n};
    int32_t entries = neighbors->offsets[n] + n;

    G->starts = SN_PUSH(&smoothing->arena, int32_t, (size_t)n + 1);
    G->indices = SN_PUSH(&smoothing->arena, int32_t, entries);
    G->values = SN_PUSH(&smoothing->arena, double, entries);
    smoothing->inverse_degrees = SN_PUSH(&smoothing->arena, double, n);

    double *means = SN_PUSH(&smoothing->arena, double, n);
    SN_TRY(sn_arena_status(&smoothing->arena));
    smoothing->mean_distance = compute_mean_distances(neighbors, positions, means);

    // Row by row with ascending columns; the diagonal goes where it belongs.
    int32_t entry = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t diagonal = -1;
        double D = 0;
        for (int32_t k = neighbors->offsets[i]; k < neighbors->offsets[i + 1]; k++) {
            int32_t j = neighbors->items[k];
            SN_ASSERT(j != i);
            if (diagonal < 0 && j > i) {
                diagonal = entry++;
            }

            double d = sn_distance(positions[i], positions[j]);
            double scale = means[i] * means[j];
            double w = scale > 0 ? exp(-d * d / scale) : 1;

            G->indices[entry] = j;
            G->values[entry++] = -w;
            D += w;
        }

        if (diagonal < 0) {
            diagonal = entry++;
        }

        G->indices[diagonal] = i;
        G->values[diagonal] = D;
        G->starts[i + 1] = entry;
        smoothing->inverse_degrees[i] = D > 0 ? 1 / D : 0;
    }

    return SINEW_OK;
}

// Drifts, and the inverse moments sum W d d' of the edges at each unknown and its neighbours: two
// rings of edges, so that they span space even at a corner. Directions they do not span (normal to
// a sheet or a chain) get no slope.
static sinew_status prepare_slopes(sn_smoothing *smoothing, const sn_vec3 *positions) {
    const sn_sparse *G = &smoothing->G;
    size_t n = (size_t)smoothing->n;

    smoothing->positions = positions;
    smoothing->drifts = SN_PUSH(&smoothing->arena, sn_vec3, n);
    smoothing->inverse_moments = SN_PUSH(&smoothing->arena, sn_mat3, n);

    sn_mat3 *moments = SN_PUSH(&smoothing->arena, sn_mat3, n);
    SN_TRY(sn_arena_status(&smoothing->arena));

    // Drift, and moments of the edges at each unknown.
    for (int32_t i = 0; i < G->rows; i++) {
        for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
            if (G->indices[k] == i) {
                continue;
            }

            sn_vec3 d = sn_sub(positions[G->indices[k]], positions[i]);
            smoothing->drifts[i] =
                sn_madd(smoothing->drifts[i], -G->values[k] * smoothing->inverse_degrees[i], d);
            moments[i] = sn_mat3_add(moments[i], sn_mat3_scale(-G->values[k], sn_outer(d, d)));
        }
    }

    // Sum over the neighbours, regularise, and invert.
    for (int32_t i = 0; i < G->rows; i++) {
        sn_mat3 sum = {0};
        for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
            sum = sn_mat3_add(sum, moments[G->indices[k]]);
        }

        double little = 1e-3 * sn_mat3_trace(sum);
        for (int a = 0; a < 3; a++) {
            sum.m[a][a] += little;
        }

        if (little > 0) {
            smoothing->inverse_moments[i] = sn_mat3_inverse(sum);
        }
    }

    return SINEW_OK;
}

// ---- Direct -------------------------------------------------------------------------------------

static sinew_status prepare_direct(sn_smoothing *smoothing) {
    sn_arena scratch = sn_arena_create(smoothing->context);
    sn_sparse L = smoothing->G;
    int32_t entries = sn_sparse_entry_count(&L);

    L.values = SN_PUSH(&scratch, double, entries);
    sinew_status status = sn_arena_status(&scratch);

    // L = D^-1 G, and A = L'L without constraints.
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < L.rows; i++) {
            for (int32_t k = L.starts[i]; k < L.starts[i + 1]; k++) {
                L.values[k] = smoothing->inverse_degrees[i] * smoothing->G.values[k];
            }
        }
        status = sn_sparse_normal(&smoothing->arena, &L, &smoothing->A);
    }

    sn_arena_destroy(&scratch);
    SN_TRY(status);

    // Keep those values: every update starts from them.
    size_t count = (size_t)sn_sparse_entry_count(&smoothing->A);
    smoothing->LL = SN_PUSH(&smoothing->arena, double, count);
    SN_TRY(sn_arena_status(&smoothing->arena));
    memcpy(smoothing->LL, smoothing->A.values, count * sizeof(double));

    return sn_factor_create(smoothing->context, &smoothing->A, &smoothing->positions[0].x,
                            &smoothing->factor);
}

double *sn_smoothing_find_entry(const sn_sparse *A, int32_t row, int32_t column) {
    int32_t begin = A->starts[row];
    int32_t entry = sn_find_sorted(A->indices + begin, A->starts[row + 1] - begin, column);
    SN_ASSERT(entry >= 0);
    return &A->values[begin + entry];
}

static bool same_row(const sn_constraints *a, int32_t i, const sn_constraints *b, int32_t j) {
    int32_t count = a->starts[i + 1] - a->starts[i];
    return count == b->starts[j + 1] - b->starts[j] &&
           memcmp(a->unknowns + a->starts[i], b->unknowns + b->starts[j],
                  (size_t)count * sizeof(int32_t)) == 0 &&
           memcmp(a->weights + a->starts[i], b->weights + b->starts[j],
                  (size_t)count * sizeof(double)) == 0;
}

// The rows are listed curve by curve, so those before the first and after the last moved curve are
// the same.
static sinew_status change_factor(sn_smoothing *smoothing, const sn_constraints *rows, bool *done) {
    const sn_constraints *old = &smoothing->factored;
    int32_t most = old->count < rows->count ? old->count : rows->count;
    int32_t before = 0;
    int32_t behind = 0;

    // Rows that have not changed, from the front and from the end.
    while (before < most && same_row(old, before, rows, before)) {
        before++;
    }

    while (behind < most - before &&
           same_row(old, old->count - 1 - behind, rows, rows->count - 1 - behind)) {
        behind++;
    }

    // The rows in between are removed and added.
    sn_row_set removed = {old->count - before - behind, old->starts + before, old->unknowns,
                          old->weights};
    sn_row_set added = {rows->count - before - behind, rows->starts + before, rows->unknowns,
                        rows->weights};

    return sn_factor_change(smoothing->factor, &added, &removed, done);
}

static sinew_status keep_rows(sn_smoothing *smoothing, const sn_constraints *rows) {
    sn_arena_destroy(&smoothing->factored_arena);
    smoothing->factored_arena = sn_arena_create(smoothing->context);

    size_t count = (size_t)rows->count;
    size_t entries = (size_t)rows->starts[count];
    sn_constraints *kept = &smoothing->factored;

    *kept = (sn_constraints){.starts = SN_PUSH(&smoothing->factored_arena, int32_t, count + 1),
                             .unknowns = SN_PUSH(&smoothing->factored_arena, int32_t, entries),
                             .weights = SN_PUSH(&smoothing->factored_arena, double, entries)};
    SN_TRY(sn_arena_status(&smoothing->factored_arena));
    kept->count = rows->count;
    memcpy(kept->starts, rows->starts, (count + 1) * sizeof(int32_t));
    memcpy(kept->unknowns, rows->unknowns, entries * sizeof(int32_t));
    memcpy(kept->weights, rows->weights, entries * sizeof(double));

    return SINEW_OK;
}

static sinew_status update_direct(sn_smoothing *smoothing, const sn_constraints *rows) {
    sn_sparse *A = &smoothing->A;
    memcpy(A->values, smoothing->LL, (size_t)sn_sparse_entry_count(A) * sizeof(double));

    // A = L'L + C'C
    for (int32_t r = 0; r < rows->count; r++) {
        for (int32_t a = rows->starts[r]; a < rows->starts[r + 1]; a++) {
            for (int32_t b = rows->starts[r]; b < rows->starts[r + 1]; b++) {
                *sn_smoothing_find_entry(A, rows->unknowns[a], rows->unknowns[b]) +=
                    rows->weights[a] * rows->weights[b];
            }
        }
    }

    // A few changed rows are cheaper than a new factor.
    bool done = false;
    if (smoothing->factored.count > 0) {
        SN_TRY(change_factor(smoothing, rows, &done));
    }
    if (done) {
        return SINEW_OK;
    }

    // Factor again.
    SN_TRY(keep_rows(smoothing, rows));
    int32_t bad = sn_factor_update(smoothing->factor, A);
    if (bad >= 0) {
        return sn_fail(smoothing->context, SINEW_INVALID_DATA,
                       "the field's system is singular at unknown %d", (int)bad);
    }

    return SINEW_OK;
}

// ---- Both ---------------------------------------------------------------------------------------

static sinew_status build(sn_smoothing *smoothing, const sn_adjacency *neighbors,
                          const sn_vec3 *positions) {
    SN_TRY(build_laplacian(smoothing, neighbors, positions));
    SN_TRY(prepare_slopes(smoothing, positions));
    if (smoothing->direct) {
        return prepare_direct(smoothing);
    }

    return sn_splines_build(&smoothing->arena, &smoothing->G, smoothing->inverse_degrees, positions,
                            &smoothing->splines);
}

sinew_status sn_smoothing_create(sinew_context *context, const sn_adjacency *neighbors,
                                 const sn_vec3 *positions, sinew_field_solver solver,
                                 sn_smoothing *smoothing) {
    int32_t n = neighbors->rows;
    *smoothing = (sn_smoothing){.context = context, .n = n};
    smoothing->arena = sn_arena_create(context);
    smoothing->level_arena = sn_arena_create(context);
    smoothing->factored_arena = sn_arena_create(context);
    smoothing->direct = solver == SINEW_FIELD_SOLVER_DIRECT ||
                        (solver == SINEW_FIELD_SOLVER_AUTO && n <= SN_SMOOTHING_MAX_DIRECT);

    sinew_status status = build(smoothing, neighbors, positions);
    if (status != SINEW_OK) {
        sn_smoothing_destroy(smoothing);
    }

    return status;
}

void sn_smoothing_destroy(sn_smoothing *smoothing) {
    sn_factor_destroy(smoothing->factor);
    smoothing->factor = NULL;
    sn_splines_destroy(&smoothing->splines);
    sn_arena_destroy(&smoothing->level_arena);
    sn_arena_destroy(&smoothing->factored_arena);
    sn_arena_destroy(&smoothing->arena);
}

// The multigrid works on G + S, whose square (G + S) D^-2 (G + S) resembles A if S = D sqrt(c),
// where c is the sum of the constraints' weights at an unknown: then S D^-2 S = diag(c), which is
// C'C lumped. Tying both factors makes the product much stiffer than A for functions that are
// smooth along a curve. If splines handle those, fewer iterations are needed with half of the tie
// and a little of D everywhere, so that the multigrid leaves to the splines what they do better.
static sinew_status update_iterative(sn_smoothing *smoothing, const sn_constraints *rows) {
    sn_splines_update(&smoothing->splines, rows);
    bool alone = !smoothing->splines.usable;
    double tie = alone ? 1 : 0.5;
    double everywhere = alone ? 0 : 0.015;

    sn_arena_destroy(&smoothing->level_arena);
    smoothing->level_arena = sn_arena_create(smoothing->context);

    double *S = SN_PUSH(&smoothing->level_arena, double, smoothing->n);
    SN_TRY(sn_arena_status(&smoothing->level_arena));

    // c: the sum of the constraints' weights at each unknown.
    for (int32_t k = 0; k < rows->starts[rows->count]; k++) {
        S[rows->unknowns[k]] += rows->weights[k];
    }

    // S = D (tie sqrt(c) + a little everywhere).
    for (int32_t i = 0; i < smoothing->n; i++) {
        double D = smoothing->inverse_degrees[i] > 0 ? 1 / smoothing->inverse_degrees[i] : 1;
        S[i] = D * (tie * sqrt(S[i]) + everywhere);
    }

    return sn_multilevel_build(&smoothing->level_arena, &smoothing->G, S, &smoothing->multilevel);
}

sinew_status sn_smoothing_set_constraints(sn_smoothing *smoothing, const sn_constraints *rows) {
    smoothing->rows = *rows;
    return smoothing->direct ? update_direct(smoothing, rows) : update_iterative(smoothing, rows);
}
