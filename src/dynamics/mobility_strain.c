// Motions of frames that nothing resists although no rigid motion is free: with fewer samples than
// unknowns, frames can move without straining any of them.
#include "dynamics/mobility.h"

#include "dynamics/link.h"
#include "frame/body/frame_body.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

// The eigenproblem takes a second at this size.
enum { MAX_UNKNOWNS = 600 };

// An eigenvalue of the stiffness with unit diagonal below this is zero. Bodies that converge are
// above 1e-10, missing samples give 1e-15 or less.
static const double zero_stiffness = 1e-13;

// The share of the loads that may act along such a motion. Weights that depend on each other allow
// motions that move no point of the body. Loads do no work along them, up to the difference
// between integrals over voxels and over samples (1e-3 for radial weights of quadratic frames).
static const double zero_work = 1e-2;

static bool has_frames(const sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        if (sn_frame_model_of(island->bodies[i].body)) {
            return true;
        }
    }
    return false;
}

// The stiffness of free unknowns at the start, scaled to a unit diagonal: K_ij / (s_i s_j). An
// unknown without any stiffness keeps a zero row.
static void compute_scaled_stiffness(sn_island *island, double *K, double *scale) {
    int32_t count = sn_island_size(island);
    memset(island->xi, 0, (size_t)count * sizeof(double));
    sn_links_begin(island); // hard ones get their penalties
    sn_island_evaluate(island, island->xi, SN_WANT_PROJECTED_STIFFNESS);
    sn_island_assemble(island, (sn_scheme){0, 0}, SN_WANT_PROJECTED_STIFFNESS);
    sn_bsr_constrain(island->world->context, island->pattern, island->A, island->mask);
    sn_bsr_mirror(island->world->context, island->pattern, island->A);
    sn_bsr_to_dense(island->pattern, K, island->A);

    for (int32_t i = 0; i < count; i++) {
        double stiffness = K[(size_t)i * (size_t)count + (size_t)i];
        scale[i] = stiffness > 0 ? sqrt(stiffness) : 1;
    }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < count; k++) {
            K[(size_t)i * (size_t)count + (size_t)k] /= scale[i] * scale[k];
        }
    }
}

// The forces at the start on free unknowns, in the same scale. Returns their length.
static double compute_scaled_force(sn_island *island, double *force, const double *scale) {
    int32_t count = sn_island_size(island);
    for (int32_t i = 0; i < count; i++) {
        force[i] = island->external[i] + island->force[i];
    }
    sn_island_reduce(island, force);

    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        force[i] = island->mask[i] ? 0 : force[i] / scale[i];
        sum += force[i] * force[i];
    }
    return sqrt(sum);
}

static double dot(const double *a, const double *b, int32_t count) {
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static int32_t find_largest(const double *values, int32_t count) {
    int32_t largest = 0;
    for (int32_t i = 1; i < count; i++) {
        if (fabs(values[i]) > fabs(values[largest])) {
            largest = i;
        }
    }
    return largest;
}

// Names the frame that takes the largest part in the motion.
static sinew_status refuse(const sn_island *island, int32_t unknown) {
    int32_t index = island->body_count - 1;
    while (unknown < 3 * island->bodies[index].first_row) {
        index--;
    }

    const sinew_body *body = island->bodies[index].body;
    const sn_frame_model *model = sn_frame_model_of(body);
    int32_t row = unknown / 3 - island->bodies[index].first_row;
    int32_t frame = 0;
    if (model) {
        for (int32_t i = 0; i < model->nodes.count; i++) {
            if (row >= model->nodes.items[i].row) {
                frame = i;
            }
        }
    }

    return sn_fail(island->world->context, SINEW_INVALID_ARGUMENT,
                   "nothing resists the loads on body \"%s\": frame %d, perhaps with others, can "
                   "move without straining any sample of the body. A static solve needs more "
                   "samples, fewer frames, or supports that prevent that",
                   body->name, frame);
}

static sinew_status judge(sn_island *island, double *K, double *values, double *force,
                          double *work) {
    int32_t count = sn_island_size(island);
    compute_scaled_stiffness(island, K, work);
    double length = compute_scaled_force(island, force, work);
    if (!sn_dense_symmetric_eigen(K, count, count, values, work)) {
        return SINEW_OK; // not finite: the solve reports that
    }

    for (int32_t i = 0; i < count && values[i] <= zero_stiffness; i++) {
        const double *motion = K + (size_t)i * (size_t)count;
        if (fabs(dot(motion, force, count)) > zero_work * length) {
            return refuse(island, find_largest(motion, count));
        }
    }
    return SINEW_OK;
}

sinew_status sn_mobility_check_strain(sn_island *island) {
    int32_t count = sn_island_size(island);
    if (!has_frames(island) || island->matrix_free || count > MAX_UNKNOWNS) {
        return SINEW_OK;
    }

    sn_arena arena = sn_arena_create(island->world->context);
    double *K = SN_PUSH(&arena, double, (size_t)count *(size_t)count);
    double *values = SN_PUSH(&arena, double, count);
    double *force = SN_PUSH(&arena, double, count);
    double *work = SN_PUSH(&arena, double, count);
    sinew_status status = sn_arena_status(&arena);
    if (status == SINEW_OK) {
        status = judge(island, K, values, force, work);
    }

    sn_arena_destroy(&arena);
    return status;
}
