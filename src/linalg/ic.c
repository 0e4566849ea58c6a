// Incomplete Cholesky by blocks: symbolic phase, and the order in which parts are factored and
// swept; see ic.h. The loops are in ic_simd.c.
//
// With sL the plain factor (A = sL sL' on the pattern, diagonal blocks C), row by row:
//
//   sL_ij = A_ij C_j^-T - sum_m sL_im L_jm'
//   D_i   = A_ii - sum_m sL_im sL_im' = C_i C_i'
//   L_im  = C_i^-1 sL_im
//
// The sums run over the m coupled to both i and j; these are listed once, in the symbolic phase.
#include "linalg/ic.h"

#include "base/threads.h"
#include "linalg/kernels.h"

#include <math.h>
#include <string.h>

static void lay_out(sn_ic *ic) {
    const sn_packed *A = ic->matrix;
    int32_t total = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        ic->starts[i] = total;
        int32_t count = A->starts[i + 1] - 1 - A->below[i];
        total += count;
        if (count > ic->longest) {
            ic->longest = count;
        }
    }

    ic->starts[A->rows] = total;
}

static void fill_columns(sn_ic *ic) {
    const sn_packed *A = ic->matrix;
    for (int32_t i = 0; i < A->rows; i++) {
        int32_t from = A->below[i];
        for (int32_t q = ic->starts[i]; q < ic->starts[i + 1]; q++, from++) {
            ic->columns[q] = A->columns[from];
            ic->source[q] = from;
        }
    }
}

// Finds for each block (i, j) the m < j in both rows. `slot_of` maps a column to its block in row
// i, -1 elsewhere. If `write` is false it only counts, into pair_starts[block + 1].
static int64_t find_pairs(sn_ic *ic, int32_t *slot_of, bool write) {
    int64_t total = 0;
    for (int32_t i = 0; i < ic->matrix->rows; i++) {
        // Mark the columns of row i.
        for (int32_t q = ic->starts[i]; q < ic->starts[i + 1]; q++) {
            slot_of[ic->columns[q] / 4] = q - ic->starts[i];
        }

        // The columns of row j that are marked belong to both rows.
        for (int32_t q = ic->starts[i]; q < ic->starts[i + 1]; q++) {
            int32_t j = ic->columns[q] / 4;
            for (int32_t c = ic->starts[j]; c < ic->starts[j + 1]; c++) {
                int32_t p = slot_of[ic->columns[c] / 4];
                if (p < 0) {
                    continue;
                }

                if (write) {
                    ic->pair_first[total] = p;
                    ic->pair_second[total] = c;
                }

                total++;
            }

            if (!write && total <= INT32_MAX) {
                ic->pair_starts[q + 1] = (int32_t)total;
            }
        }

        // Unmark them.
        for (int32_t q = ic->starts[i]; q < ic->starts[i + 1]; q++) {
            slot_of[ic->columns[q] / 4] = -1;
        }
    }

    return total;
}

// Lists the blocks of separator rows by the domain of their column. If `write` is false it only
// counts.
static void find_links(sn_ic *ic, bool write) {
    const sn_packed *A = ic->matrix;
    int32_t next = 0;
    for (int32_t domain = 0; domain < A->domains; domain++) {
        for (int32_t i = A->part_starts[A->domains]; i < A->rows; i++) {
            for (int32_t q = ic->starts[i]; q < ic->starts[i + 1]; q++) {
                int32_t j = ic->columns[q] / 4;
                if (j < A->part_starts[domain] || j >= A->part_starts[domain + 1]) {
                    continue;
                }

                if (write) {
                    ic->link_block[next] = q;
                    ic->link_row[next] = 4 * (i - A->part_starts[A->domains]);
                }

                next++;
            }
        }

        ic->link_starts[domain + 1] = next;
    }
}

static sinew_status build(sn_arena *arena, sn_arena *scratch, sn_ic *ic) {
    const sn_packed *A = ic->matrix;
    ic->starts = SN_PUSH(arena, int32_t, (size_t)A->rows + 1);
    ic->link_starts = SN_PUSH(arena, int32_t, (size_t)A->domains + 1);
    SN_TRY(sn_arena_status(arena));
    lay_out(ic);

    int32_t blocks = ic->starts[A->rows];
    ic->columns = SN_PUSH(arena, int32_t, blocks);
    ic->source = SN_PUSH(arena, int32_t, blocks);
    ic->values = SN_PUSH(arena, float, 9 * (size_t)blocks + 4);
    ic->inverse = SN_PUSH(arena, double, 12 * (size_t)A->rows);
    ic->pair_starts = SN_PUSH(arena, int32_t, (size_t)blocks + 1);
    ic->half = SN_PUSH(arena, double, 4 * (size_t)(A->rows - A->part_starts[A->domains]));
    ic->row = SN_PUSH(arena, double, 12 * (size_t)ic->longest * (size_t)A->parts);

    int32_t *slot_of = SN_PUSH(scratch, int32_t, A->rows);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(sn_arena_status(scratch));
    fill_columns(ic);

    for (int32_t i = 0; i < A->rows; i++) {
        slot_of[i] = -1;
    }

    // Count first, then allocate and write.
    int64_t pairs = find_pairs(ic, slot_of, false);
    if (pairs > INT32_MAX) {
        return sn_fail(arena->context, SINEW_OUT_OF_MEMORY, "%lld pairs of blocks",
                       (long long)pairs);
    }

    find_links(ic, false);
    ic->pair_first = SN_PUSH(arena, int32_t, pairs);
    ic->pair_second = SN_PUSH(arena, int32_t, pairs);
    ic->link_block = SN_PUSH(arena, int32_t, ic->link_starts[A->domains]);
    ic->link_row = SN_PUSH(arena, int32_t, ic->link_starts[A->domains]);
    SN_TRY(sn_arena_status(arena));
    find_pairs(ic, slot_of, true);
    find_links(ic, true);

    return SINEW_OK;
}

sinew_status sn_ic_build(sn_arena *arena, const sn_packed *matrix, sn_ic *ic) {
    *ic = (sn_ic){.matrix = matrix};
    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = build(arena, &scratch, ic);
    sn_arena_destroy(&scratch);
    return status;
}

enum { MAX_PARTS = 16 };

typedef struct job {
    sn_ic *ic;
    const double *r;
    double *z;
    int32_t first_part;
    const sn_linalg_kernels *kernels;
    sn_ic_report reports[MAX_PARTS];
} job;

// The first scalar row of a part where the matrix itself is invalid: a number that is not finite,
// or a diagonal entry <= 0.
static sn_ic_report examine(const sn_packed *A, int32_t part) {
    for (int32_t i = A->part_starts[part]; i < A->part_starts[part + 1]; i++) {
        for (int32_t k = A->starts[i]; k < A->starts[i + 1]; k++) {
            const double *block = A->values + 9 * (size_t)k;
            for (int c = 0; c < 9; c++) {
                bool bad_diagonal = k == A->starts[i + 1] - 1 && c % 4 == 0 && block[c] <= 0;
                if (!isfinite(block[c]) || bad_diagonal) {
                    return (sn_ic_report){.row = 3 * A->order[i] + c / 3, .pivot = block[c]};
                }
            }
        }
    }

    return (sn_ic_report){.row = -1};
}

static void factor_part(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    for (int32_t part = work->first_part + begin; part < work->first_part + end; part++) {
        sn_ic_report *report = &work->reports[part];
        *report = (sn_ic_report){.row = -1};

        // Double the shift until the factorisation succeeds, or the matrix itself turns out to be
        // invalid.
        while (work->kernels->ic_factor(work->ic, part, report->shift) >= 0) {
            double shift = report->shift > 0 ? 2 * report->shift : 0.05;
            *report = examine(work->ic->matrix, part);

            // A shift that exceeds all off-diagonal blocks makes any matrix with positive definite
            // diagonal blocks definite; if even that fails, the diagonal block itself is
            // indefinite.
            if (shift > 1e4) {
                *report = (sn_ic_report){
                    .row = 3 * work->ic->matrix->order[work->ic->matrix->part_starts[part]]};
            }

            if (report->row >= 0) {
                break;
            }

            report->shift = shift;
        }
    }
}

sn_ic_report sn_ic_update(sinew_context *context, sn_ic *ic) {
    const sn_packed *A = ic->matrix;
    SN_ASSERT(A->parts <= MAX_PARTS);

    // Domains do not depend on each other; separators depend on domains.
    job work = {.ic = ic, .kernels = sn_linalg_kernels_get()};
    sn_parallel_for(context, A->domains, 1, factor_part, &work);
    work.first_part = A->domains;
    sn_parallel_for(context, A->parts - A->domains, 1, factor_part, &work);

    // Report the largest shift and the first invalid row.
    sn_ic_report total = {.row = -1};
    for (int32_t part = 0; part < A->parts; part++) {
        if (work.reports[part].shift > total.shift) {
            total.shift = work.reports[part].shift;
        }

        if (total.row < 0) {
            total.row = work.reports[part].row;
            total.pivot = work.reports[part].pivot;
        }
    }

    return total;
}

static void forward_part(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    for (int32_t part = work->first_part + begin; part < work->first_part + end; part++) {
        work->kernels->ic_forward(work->z, work->ic, work->r, part);
    }
}

static double backward_part(void *data, int32_t begin, int32_t end) {
    job *work = data;
    double sum = 0;
    for (int32_t part = work->first_part + begin; part < work->first_part + end; part++) {
        sum += work->kernels->ic_backward(work->z, work->ic, work->r, part);
    }
    return sum;
}

double sn_ic_apply(sinew_context *context, double *z, const sn_ic *ic, const double *r) {
    SN_ASSERT(z != r);
    const sn_packed *A = ic->matrix;
    job work = {.ic = (sn_ic *)ic, .r = r, .z = z, .kernels = sn_linalg_kernels_get()};
    sn_parallel_for(context, A->domains, 1, forward_part, &work);
    work.first_part = A->domains;
    sn_parallel_for(context, A->parts - A->domains, 1, forward_part, &work);
    double sum = sn_parallel_sum(context, A->parts - A->domains, 1, backward_part, &work);
    work.first_part = 0;

    return sum + sn_parallel_sum(context, A->domains, 1, backward_part, &work);
}

double sn_ic_apply_alone(double *z, const sn_ic *ic, const double *r) {
    SN_ASSERT(z != r && ic->matrix->parts == 1);
    const sn_linalg_kernels *kernels = sn_linalg_kernels_get();
    kernels->ic_forward(z, ic, r, 0);
    return kernels->ic_backward(z, ic, r, 0);
}
