// Solves for a field. Input: the guides of its curves; output: the smoothed functions field->x,
// from which result.c derives the axes.
//
// Rotating a curve changes right-hand sides only, and often no solve is needed (see "Rotated
// curves"); moving one changes a few rows of the system.
#include "field/field.h"

#include <string.h>

enum { WIDTH = SN_SMOOTHING_WIDTH };

// ---- Solving ------------------------------------------------------------------------------------

// The five independent components of the tensor d d' of a direction.
static void store_tensor(double *values, sn_vec3 d) {
    values[0] = d.x * d.x;
    values[1] = d.y * d.y;
    values[2] = d.y * d.z;
    values[3] = d.z * d.x;
    values[4] = d.x * d.y;
}

static void store_quat(double *values, sn_quat q) {
    values[0] = q.x;
    values[1] = q.y;
    values[2] = q.z;
    values[3] = q.w;
}

// The factor by which the frames of each curve are multiplied from the right: the curve's turn, and
// the half turn that makes it agree with its neighbours.
static sinew_status compute_factors(const sinew_field *field, const sn_guides *guides,
                                    sn_quat *factors, sn_quat *aligned, sn_arena *scratch) {
    int32_t *cluster = SN_PUSH(scratch, int32_t, field->curve_count);
    sn_quat *sums = SN_PUSH(scratch, sn_quat, field->curve_count);
    SN_TRY(sn_arena_status(scratch));
    sn_align_guides(field, guides, cluster, sums, aligned);

    for (int32_t i = 0; i < guides->count; i++) {
        factors[guides->curves[i]] = sn_quat_mul(sn_quat_conjugate(guides->frames[i]), aligned[i]);
    }

    return SINEW_OK;
}

// The target value of each constraint, [row][component].
static void compute_values(const sinew_field *field, const sn_guides *guides,
                           const sn_quat *factors, double *values) {
    for (int32_t r = 0; r < guides->constraints.count; r++) {
        int32_t source = guides->sources[r];
        double *target = values + (size_t)r * (size_t)field->components;
        if (field->kind == SINEW_FIELD_FIBRES) {
            store_tensor(target, sn_quat_rotate(guides->frames[source], sn_v3(0, 0, 1)));
        } else {
            store_quat(target,
                       sn_quat_mul(guides->frames[source], factors[guides->curves[source]]));
        }
    }
}

static void show_guides(const sinew_field *field, sn_guides *guides) {
    for (int32_t i = 0; i < guides->count; i++) {
        double half = 0.5 * field->curves[guides->curves[i]].curve.turn;
        sn_quat q = sn_quat_mul(guides->frames[i], (sn_quat){0, 0, sin(half), cos(half)});
        sn_store3(sn_at3(guides->shown_points, i), guides->points[i]);
        sn_store_axes(guides->shown_axes + 9 * (size_t)i, sn_quat_to_mat3(q));
    }
}

// Iterations start from the results of the last solve's passes, corrected by what has since been
// added to the field.
static void carry_history(sinew_field *field) {
    size_t count = (size_t)field->unknown_count * (size_t)field->components;
    const double *last = field->history + (SN_SMOOTHING_PASSES - 1) * count;
    if (field->seam_count > 0) {
        return; // the field has changed otherwise since
    }

    for (int pass = 0; pass < SN_SMOOTHING_PASSES; pass++) {
        double *before = field->history + (size_t)pass * count;
        for (size_t i = 0; i < count; i++) {
            before[i] += field->x[i] - last[i];
        }
    }
}

static sinew_status solve_all(sinew_field *field, const sn_guides *guides, const sn_quat *factors,
                              sn_solve_report *report, sn_arena *scratch) {
    double *values =
        SN_PUSH(scratch, double, (size_t)guides->constraints.count *(size_t)field->components);

    SN_TRY(sn_arena_status(scratch));
    compute_values(field, guides, factors, values);

    bool resumed = field->history_known;
    field->history_known = false;
    if (resumed) {
        carry_history(field);
    }

    SN_TRY(sn_smoothing_solve(&field->smoothing, &guides->constraints, values, field->components,
                              field->x, field->history, resumed, report));
    field->history_known = field->history != NULL;

    return SINEW_OK;
}

// ---- Rotated curves -----------------------------------------------------------------------------

// The field is linear in the quaternions of the curves, and smoothing commutes with a constant
// factor. So the response to one curve alone is computed once, and rotating that curve only changes
// the factor of its response.

static sn_response *response_of(sinew_field *field, int32_t curve) {
    return &field->responses[curve % SN_FIELD_RESPONSES];
}

static bool is_known(sinew_field *field, int32_t curve) {
    return response_of(field, curve)->curve == curve;
}

static bool are_all_known(sinew_field *field) {
    bool all = true;
    for (int32_t c = 0; c < field->curve_count; c++) {
        all = all && is_known(field, c);
    }
    return all;
}

static sn_quat load_quat(const double *x) {
    return (sn_quat){x[0], x[1], x[2], x[3]};
}

// x[unknown][4] += y[unknown][stride] times a factor
static void add_product(double *x, const double *y, size_t stride, sn_quat factor, int32_t count) {
    for (size_t i = 0; i < (size_t)count; i++) {
        double *target = x + WIDTH * i;
        store_quat(target,
                   sn_quat_add(load_quat(target), sn_quat_mul(load_quat(y + stride * i), factor)));
    }
}

// Allocates a response, which belongs to no curve until it is filled.
static sinew_status push_response(sinew_field *field, int32_t curve) {
    sn_response *response = response_of(field, curve);
    response->curve = -1;
    if (response->x != NULL) {
        return SINEW_OK;
    }

    response->x = SN_PUSH(&field->arena, double, (size_t)field->unknown_count *WIDTH);
    field->arena.failed = false; // a later attempt may succeed

    return response->x != NULL ? SINEW_OK : SINEW_OUT_OF_MEMORY;
}

// The responses of up to SN_FIELD_BATCH curves, computed side by side: x and history are
// [unknown][curve][4].
typedef struct batch {
    int32_t first, count; // curves
    size_t stride;
    double *x, *history;
} batch;

static sinew_status solve_batch(sinew_field *field, const sn_guides *guides, batch *made,
                                sn_solve_report *report, sn_arena *scratch) {
    made->stride = WIDTH * (size_t)made->count;
    size_t size = (size_t)field->unknown_count * made->stride;
    double *values = SN_PUSH(scratch, double, (size_t)guides->constraints.count * made->stride);

    made->x = SN_PUSH(scratch, double, size);
    SN_TRY(sn_arena_status(scratch));

    // The right-hand side of each curve: its own frames, zero elsewhere.
    for (int32_t r = 0; r < guides->constraints.count; r++) {
        int32_t source = guides->sources[r];
        int32_t column = guides->curves[source] - made->first;
        if (column < 0 || column >= made->count) {
            continue;
        }

        store_quat(values + made->stride * (size_t)r + WIDTH * (size_t)column,
                   guides->frames[source]);
    }

    return sn_smoothing_solve(&field->smoothing, &guides->constraints, values,
                              (int32_t)made->stride, made->x, made->history, false, report);
}

static sinew_status keep_batch(sinew_field *field, const batch *made) {
    for (int32_t c = 0; c < made->count; c++) {
        SN_TRY(push_response(field, made->first + c));
        sn_response *response = response_of(field, made->first + c);
        const double *from = made->x + WIDTH * c;

        for (size_t i = 0; i < (size_t)field->unknown_count; i++) {
            memcpy(response->x + WIDTH * i, from + made->stride * i, WIDTH * sizeof(double));
        }

        response->curve = made->first + c;
    }

    return SINEW_OK;
}

static sinew_status find_response(sinew_field *field, const sn_guides *guides, int32_t curve,
                                  sn_solve_report *report, sn_arena *scratch) {
    if (is_known(field, curve)) {
        return SINEW_OK;
    }
    batch made = {.first = curve, .count = 1};
    SN_TRY(solve_batch(field, guides, &made, report, scratch));
    return keep_batch(field, &made);
}

// Adds the results of a batch's passes, times factors, to the field's history.
static void add_history(sinew_field *field, const batch *made, const sn_quat *factors) {
    size_t n = (size_t)field->unknown_count;
    for (size_t pass = 0; pass < SN_SMOOTHING_PASSES; pass++) {
        for (int32_t c = 0; c < made->count; c++) {
            add_product(field->history + pass * n * WIDTH,
                        made->history + pass * n * made->stride + WIDTH * c, made->stride,
                        factors[made->first + c], field->unknown_count);
        }
    }
}

static void sum_responses(sinew_field *field, const sn_quat *factors) {
    memset(field->x, 0, (size_t)field->unknown_count * WIDTH * sizeof(double));
    for (int32_t c = 0; c < field->curve_count; c++) {
        add_product(field->x, response_of(field, c)->x, WIDTH, factors[c], field->unknown_count);
    }
}

// The first solve, as the sum of the responses of all curves.
static sinew_status solve_each(sinew_field *field, const sn_guides *guides, const sn_quat *factors,
                               sn_solve_report *report, sn_arena *scratch) {
    size_t n = (size_t)field->unknown_count;

    // Batch by batch, to bound the memory.
    for (int32_t first = 0; first < field->curve_count; first += SN_FIELD_BATCH) {
        int32_t left = field->curve_count - first;
        sn_arena_mark mark = sn_arena_get_mark(scratch);
        sn_solve_report part;
        batch made = {.first = first, .count = left < SN_FIELD_BATCH ? left : SN_FIELD_BATCH};

        if (field->history != NULL) {
            made.history =
                SN_PUSH(scratch, double, SN_SMOOTHING_PASSES *n *WIDTH *(size_t)made.count);
        }

        SN_TRY(solve_batch(field, guides, &made, &part, scratch));
        SN_TRY(keep_batch(field, &made));
        if (field->history != NULL) {
            add_history(field, &made, factors);
        }

        report->iterations += part.iterations;
        report->relative_residual = fmax(report->relative_residual, part.relative_residual);
        sn_arena_rewind(scratch, mark);
    }

    sum_responses(field, factors);
    field->history_known = field->history != NULL;

    return SINEW_OK;
}

static sn_quat change_of(const sinew_field *field, const sn_quat *factors, int32_t curve) {
    return sn_quat_add(factors[curve], sn_quat_scale(-1, field->factors[curve]));
}

// The only curve whose factor has changed; -1 if none has, -2 if several have.
static int32_t find_turned(const sinew_field *field, const sn_quat *factors) {
    int32_t found = -1;
    for (int32_t c = 0; c < field->curve_count; c++) {
        sn_quat change = change_of(field, factors, c);
        if (sn_quat_dot(change, change) < 1e-28) {
            continue;
        }
        if (found >= 0) {
            return -2;
        }

        found = c;
    }

    return found;
}

static sinew_status solve_linear(sinew_field *field, const sn_guides *guides,
                                 const sn_quat *factors, sn_solve_report *report,
                                 sn_arena *scratch) {
    if (field->prepare_turns) {
        return solve_each(field, guides, factors, report, scratch);
    }

    // Find out which curves have changed since the last solve.
    int32_t turned = field->moved || field->seam_count > 0 ? -2 : find_turned(field, factors);
    if (turned == -1) {
        return SINEW_OK;
    }

    // The cheapest way to the new field: a sum of known responses, a full solve, or one response.
    if (!field->moved && are_all_known(field)) {
        sum_responses(field, factors);
    } else if (turned == -2) {
        return solve_all(field, guides, factors, report, scratch);
    } else {
        SN_TRY(find_response(field, guides, turned, report, scratch));
        add_product(field->x, response_of(field, turned)->x, WIDTH,
                    change_of(field, factors, turned), field->unknown_count);
    }

    return SINEW_OK;
}

static sinew_status solve_frames(sinew_field *field, const sn_guides *guides,
                                 sn_solve_report *report, sn_arena *scratch) {
    sn_quat *factors = SN_PUSH(scratch, sn_quat, field->curve_count);
    sn_quat *aligned = SN_PUSH(scratch, sn_quat, guides->count);

    // Smooth with the best choice of signs, then with half turns if neighbours still disagree.
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(compute_factors(field, guides, factors, aligned, scratch));
    SN_TRY(solve_linear(field, guides, factors, report, scratch));
    field->prepare_turns = false; // only for the first solve
    field->seam_count = 0;

    if (sn_has_seam(field, guides, aligned)) {
        SN_TRY(sn_solve_seam(field, guides, aligned, report));
    }

    memcpy(field->factors, factors, (size_t)field->curve_count * sizeof(sn_quat));
    return SINEW_OK;
}

static sinew_status solve(sinew_field *field, sn_guides *guides, sn_arena *scratch) {
    sn_solve_report report = {0};

    // Moved curves change the system and invalidate the responses.
    if (field->moved) {
        for (int k = 0; k < SN_FIELD_RESPONSES; k++) {
            field->responses[k].curve = -1;
        }
        SN_TRY(sn_smoothing_set_constraints(&field->smoothing, &guides->constraints));
    }

    if (field->kind == SINEW_FIELD_FRAMES) {
        SN_TRY(solve_frames(field, guides, &report, scratch));
    } else if (field->moved) {
        SN_TRY(solve_all(field, guides, NULL, &report, scratch));
    }

    // Report.
    show_guides(field, guides);
    field->report = (sinew_field_report){.unknown_count = field->unknown_count,
                                         .constraint_count = guides->count,
                                         .ignored_count = guides->ignored,
                                         .part_count = field->part_count,
                                         .isolated_part_count = guides->isolated_count,
                                         .direct = field->smoothing.direct,
                                         .iterations = report.iterations,
                                         .relative_residual = report.relative_residual,
                                         .seam_count = field->seam_count};
    sn_field_finish(field);

    return SINEW_OK;
}

sinew_status sinew_field_solve(sinew_field *field) {
    SN_NEED(NULL, field);

    if (!field->moved && !field->turned) {
        return SINEW_OK;
    }

    // New guides are kept only if the solve succeeds.
    sn_guides fresh = {.arena = sn_arena_create(field->context)};
    if (field->moved) {
        SN_TRY(sn_guides_build(field, &fresh));
    }

    sn_arena scratch = sn_arena_create(field->context);
    sinew_status status = solve(field, field->moved ? &fresh : &field->guides, &scratch);

    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        sn_arena_destroy(&fresh.arena);
        field->moved = true; // the kept results may belong to neither state
        return status;
    }

    if (field->moved) {
        sn_arena_destroy(&field->guides.arena);
        field->guides = fresh;
    }

    field->moved = field->turned = false;
    return SINEW_OK;
}
