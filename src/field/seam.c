// Frames around a hollow. Input: the frames of the curves; output: quaternions that agree with
// their neighbours up to half turns.
//
// The half turns between neighbours must be known before quaternions can be smoothed. So the field
// is first estimated from quantities that half turns do not change: T3 = d3 d3' and D = d1 d1' - d2
// d2' are smoothed (ten functions of the existing system), and the frame nearest to them is taken.
// This estimate has no seam, but it follows curves less closely than quaternions do, because their
// components vary half as fast as the axes rotate, not twice as fast. The estimate gives each pair
// of neighbours its half turn (matching.h), and quaternions are smoothed with these; if neighbours
// then suggest other half turns, once more.
#include "field/field.h"

#include "math/eigen3.h"

#include <string.h>

enum { TENSORS = 3 * SN_SMOOTHING_WIDTH, SWEEPS = 6, ROUNDS = 3 };

bool sn_has_seam(const sinew_field *field, const sn_guides *guides, const sn_quat *aligned) {
    // Axes that may be reversed two at a time are never more than 120 degrees apart (dot product
    // 1/2), so neighbours that are further apart as aligned contradict each other.
    bool contradict = false;
    for (int32_t k = 0; k < guides->pair_count; k++) {
        const int32_t *guide = guides->pairs[k].guide;
        contradict = contradict || sn_quat_dot(aligned[guide[0]], aligned[guide[1]]) < 0.5;
    }

    if (!contradict) {
        return false;
    }

    // Half-way between two that are 120 degrees apart, a smoothed quaternion has the length cos 30.
    for (int32_t i = 0; i < field->unknown_count; i++) {
        const double *x = field->x + SN_SMOOTHING_WIDTH * (size_t)i;
        if (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] < 0.75) {
            return true;
        }
    }

    return false;
}

// ---- The estimate -------------------------------------------------------------------------------

// xx yy yz zx xy of T3, then of D.
static void store_tensors(double *values, sn_quat q) {
    sn_mat3 Q = sn_quat_to_mat3(q);
    sn_vec3 d1 = sn_mat3_column(Q, 0);
    sn_vec3 d2 = sn_mat3_column(Q, 1);
    sn_vec3 d3 = sn_mat3_column(Q, 2);
    sn_mat3 T[2] = {sn_outer(d3, d3),
                    sn_mat3_add(sn_outer(d1, d1), sn_mat3_scale(-1, sn_outer(d2, d2)))};

    for (int k = 0; k < 2; k++) {
        double *t = values + 5 * k;
        t[0] = T[k].m[0][0];
        t[1] = T[k].m[1][1];
        t[2] = T[k].m[1][2];
        t[3] = T[k].m[2][0];
        t[4] = T[k].m[0][1];
    }
}

static sn_mat3 load_tensor(const double *t, double trace) {
    return (sn_mat3){{{t[0], t[4], t[3]}, {t[4], t[1], t[2]}, {t[3], t[2], trace - t[0] - t[1]}}};
}

static double bilinear(sn_vec3 a, sn_mat3 T, sn_vec3 b) {
    return sn_dot(a, sn_mat3_apply(T, b));
}

// The axes that maximise sum_k d_k' T_k d_k, with T1 and T2 = (1 - T3 +- D) / 2. Rotating d_a and
// d_b in their plane by an angle changes the sum by
//
//   cos(2 angle) (U_aa - U_bb) / 2 + sin(2 angle) U_ab,    U = T_a - T_b
//
// so the best angle is taken plane by plane. The starting point is exact for tensors of one frame.
static sn_quat nearest_frame(const double *tensors) {
    // T1 and T2 from the smoothed T3 and D.
    sn_mat3 T3 = load_tensor(tensors, 1);
    sn_mat3 D = load_tensor(tensors + 5, 0);
    sn_mat3 T[3], V;
    sn_mat3 across = sn_mat3_scale(0.5, sn_mat3_add(sn_mat3_identity(), sn_mat3_scale(-1, T3)));
    double values[3];

    T[0] = sn_mat3_add(across, sn_mat3_scale(0.5, D));
    T[1] = sn_mat3_add(across, sn_mat3_scale(-0.5, D));
    T[2] = T3;
    sn_eigen3(values, &V, sn_mat3_add(sn_mat3_scale(2, T[2]), T[1]));

    // Jacobi-like sweeps over the three coordinate planes.
    sn_vec3 d[3] = {sn_mat3_column(V, 2), sn_mat3_column(V, 1), sn_mat3_column(V, 0)};
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3;
            sn_mat3 U = sn_mat3_add(T[a], sn_mat3_scale(-1, T[b]));
            double angle = 0.5 * atan2(2 * bilinear(d[a], U, d[b]),
                                       bilinear(d[a], U, d[a]) - bilinear(d[b], U, d[b]));
            sn_vec3 rotated = sn_madd(sn_scale(cos(angle), d[a]), sin(angle), d[b]);
            d[b] = sn_madd(sn_scale(cos(angle), d[b]), -sin(angle), d[a]);
            d[a] = rotated;
        }
    }

    // Remove the rounding error.
    sn_vec3 third = sn_normalize(d[2]);
    sn_vec3 first = sn_normalize(sn_madd(d[0], -sn_dot(d[0], third), third));

    return sn_quat_from_mat3(sn_mat3_columns(first, sn_cross(third, first), third));
}

static sinew_status estimate(sinew_field *field, const sn_guides *guides, const sn_quat *aligned,
                             sn_quat *frames, sn_arena *scratch) {
    sn_solve_report report;
    double *values = SN_PUSH(scratch, double, TENSORS *(size_t)guides->constraints.count);
    double *x = SN_PUSH(scratch, double, TENSORS *(size_t)field->unknown_count);

    SN_TRY(sn_arena_status(scratch));
    for (int32_t r = 0; r < guides->constraints.count; r++) {
        store_tensors(values + TENSORS * (size_t)r, aligned[guides->sources[r]]);
    }

    SN_TRY(sn_smoothing_estimate(&field->smoothing, &guides->constraints, values, TENSORS, x,
                                 &report));
    for (int32_t i = 0; i < field->unknown_count; i++) {
        frames[i] = nearest_frame(x + TENSORS * (size_t)i);
    }

    return SINEW_OK;
}

// ---- Quaternions --------------------------------------------------------------------------------

// A field that is being computed.
typedef struct attempt {
    sn_quat *frames; // of each unknown
    double *x;       // unknowns x 4: smoothed
    double energy;   // what is minimised
    int32_t ghosts;  // entries with a half turn
    int32_t changes; // neighbours for which another half turn would be nearer
} attempt;

// Smooths with the half turns of the current frames, which are then replaced by the smoothed ones.
static sinew_status smooth(sinew_field *field, const sn_guides *guides, const sn_quat *aligned,
                           attempt *made, sn_solve_report *report, sn_arena *scratch) {
    sn_matching matching;
    SN_TRY(sn_matching_build(scratch, &field->smoothing, &guides->constraints, made->frames,
                             &matching));

    // Targets that agree with the estimated frames.
    int32_t rows = guides->constraints.count;
    int32_t n = field->unknown_count;
    double *values = SN_PUSH(scratch, double, SN_SMOOTHING_WIDTH *(size_t)rows);
    double *x = SN_PUSH(scratch, double, SN_SMOOTHING_WIDTH *(size_t)(n + matching.ghost_count));

    SN_TRY(sn_arena_status(scratch));
    for (int32_t r = 0; r < rows; r++) {
        sn_quat q = aligned[guides->sources[r]];
        q = sn_quat_mul(q, sn_nearest_half_turn(q, matching.row_frames[r]));
        memcpy(values + SN_SMOOTHING_WIDTH * (size_t)r, &q, sizeof q);
    }

    // Smooth, starting from the estimate.
    memcpy(x, made->frames, (size_t)n * sizeof(sn_quat));
    SN_TRY(sn_smoothing_solve_matched(&field->smoothing, &matching, values, x, report));
    made->ghosts = matching.ghost_count;
    made->changes = sn_matching_count_changes(&matching, x);
    made->energy = sn_matching_energy(&field->smoothing, &matching, values, x);
    memcpy(made->x, x, SN_SMOOTHING_WIDTH * (size_t)n * sizeof(double));

    // The smoothed frames are the estimate of the next round.
    for (int32_t i = 0; i < n; i++) {
        const double *xi = x + SN_SMOOTHING_WIDTH * (size_t)i;
        made->frames[i] = sn_quat_normalize((sn_quat){xi[0], xi[1], xi[2], xi[3]});
    }

    return SINEW_OK;
}

// The energy of the field smoothed without half turns.
static sinew_status compute_plain_energy(const sinew_field *field, const sn_guides *guides,
                                         const sn_quat *aligned, double *energy,
                                         sn_arena *scratch) {
    const sn_matching plain = {
        .n = field->unknown_count, .G = field->smoothing.G, .rows = guides->constraints};
    double *values = SN_PUSH(scratch, double, SN_SMOOTHING_WIDTH *(size_t)plain.rows.count);

    SN_TRY(sn_arena_status(scratch));

    for (int32_t r = 0; r < plain.rows.count; r++) {
        memcpy(values + SN_SMOOTHING_WIDTH * (size_t)r, &aligned[guides->sources[r]],
               sizeof(sn_quat));
    }

    *energy = sn_matching_energy(&field->smoothing, &plain, values, field->x);
    return SINEW_OK;
}

static sinew_status solve(sinew_field *field, const sn_guides *guides, const sn_quat *aligned,
                          sn_solve_report *report, sn_arena *scratch) {
    size_t n = (size_t)field->unknown_count;
    attempt made = {.frames = SN_PUSH(scratch, sn_quat, n),
                    .x = SN_PUSH(scratch, double, SN_SMOOTHING_WIDTH *n),
                    .changes = 1};

    // Start from tensors, which half turns do not change.
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(estimate(field, guides, aligned, made.frames, scratch));

    // Repeat while neighbours suggest other half turns.
    sn_solve_report part;
    for (int round = 0; round < ROUNDS && made.changes > 0; round++) {
        sn_arena_mark mark = sn_arena_get_mark(scratch);
        SN_TRY(smooth(field, guides, aligned, &made, &part, scratch));
        sn_arena_rewind(scratch, mark);
    }

    // Keep the result only if it is smoother than the field without half turns.
    double plain;
    SN_TRY(compute_plain_energy(field, guides, aligned, &plain, scratch));
    if (made.ghosts == 0 || made.energy >= plain) {
        return SINEW_OK;
    }

    memcpy(field->x, made.x, SN_SMOOTHING_WIDTH * n * sizeof(double));
    field->seam_count = made.ghosts / 2;
    *report = part;

    return SINEW_OK;
}

sinew_status sn_solve_seam(sinew_field *field, const sn_guides *guides, const sn_quat *aligned,
                           sn_solve_report *report) {
    sn_arena scratch = sn_arena_create(field->context);
    sinew_status status = solve(field, guides, aligned, report, &scratch);
    sn_arena_destroy(&scratch);
    return status;
}
