// Inverse skinning (Gilles et al. 2011, 4.4). In: a current position x. Out: the rest point that is
// now there.
//
//   X <- X + F(X)^-1 (x - x(X)), from the closest sample
//
// A step that does not reduce the distance is halved; where that does not help (a fold, a kink in
// the weights) the next closest samples are tried. It takes about three steps to 1e-5. Cost: one
// pass over the samples to find the closest, then a few evaluations.
#include "frame/body/frame_body.h"

#include <math.h>

enum { STARTS = 8, STEPS = 40, HALVINGS = 10 };

// The samples whose current positions are closest to x, the closest first, found so far.
typedef struct starts {
    int32_t count;
    double distance[STARTS];
    sn_vec3 X[STARTS];
} starts;

static void offer_start(starts *starts, double distance, sn_vec3 X) {
    int32_t place = starts->count < STARTS ? starts->count++ : STARTS;
    while (place > 0 && starts->distance[place - 1] > distance) {
        if (place < STARTS) {
            starts->distance[place] = starts->distance[place - 1];
            starts->X[place] = starts->X[place - 1];
        }
        place--;
    }

    if (place < STARTS) {
        starts->distance[place] = distance;
        starts->X[place] = X;
    }
}

static void find_starts(const sn_frame_model *model, const double *q, sn_vec3 x, starts *starts) {
    starts->count = 0;
    for (int32_t l = 0; l < model->layers.count; l++) {
        const sn_layer *layer = model->layers.items[l];
        const sn_frame_samples *samples = layer->samples;

        sn_blend_prepare(&layer->nodes, &layer->blend, q);
        for (int32_t s = 0; s < samples->count; s++) {
            if (layer->away[s]) {
                continue;
            }

            sn_vec3 X = sn_load3(sn_at3(samples->position, s));
            sn_blend_point point = {.X = X,
                                    .count = samples->start[s + 1] - samples->start[s],
                                    .node = samples->node + samples->start[s],
                                    .weight = samples->weight + samples->start[s]};

            offer_start(starts,
                        sn_distance(sn_blend_get_position(&layer->nodes, &layer->blend, &point), x),
                        X);
        }
    }
}

// Returns F^-1 r; where F is nearly singular, the damped least-squares step.
static sn_vec3 solve_step(sn_mat3 F, sn_vec3 r) {
    double size = sn_mat3_norm(F);
    double J = sn_mat3_det(F);
    if (fabs(J) > 1e-6 * size * size * size) {
        return sn_mat3_apply(sn_mat3_inverse(F), r);
    }

    sn_mat3 N = sn_mat3_mul(sn_mat3_transpose(F), F);
    for (int k = 0; k < 3; k++) {
        N.m[k][k] += 1e-4 * size * size + 1e-300;
    }

    return sn_mat3_apply(sn_mat3_inverse(N), sn_mat3_apply_transposed(F, r));
}

// Runs Newton's method from X. Returns the remaining distance.
static double refine(const sinew_body *body, sn_vec3 x, double tolerance, double longest,
                     sn_vec3 *X, int32_t *iterations) {
    sn_frame_motion motion = sn_frame_motion_at(body, *X, NULL);
    double error = sn_distance(motion.x, x);
    for (int32_t step = 0; step < STEPS && error > tolerance; step++) {
        // A Newton step, limited in length because F may be nearly singular.
        sn_vec3 d = solve_step(motion.F, sn_sub(x, motion.x));
        double scale = fmin(1, longest / fmax(sn_length(d), 1e-300));
        double next = INFINITY;
        sn_vec3 trial = *X;

        // Halve it until the distance decreases.
        for (int cut = 0; cut < HALVINGS; cut++, scale *= 0.5) {
            trial = sn_madd(*X, scale, d);
            motion = sn_frame_motion_at(body, trial, NULL);
            next = sn_distance(motion.x, x);
            if (next < error) {
                break;
            }
        }

        ++*iterations;
        if (!(next < error)) {
            break;
        }

        *X = trial;
        error = next;
    }

    return error;
}

static bool is_inside(const sinew_voxels *voxels, sn_vec3 X) {
    double distance;
    int32_t nearest[8];
    if (sn_nearest_voxels(voxels, X, INFINITY, nearest, &distance) == 0) {
        return false;
    }

    // A voxel extends half a cell from its centre; half a cell more is allowed.
    sn_vec3 d = sn_sub(X, sn_voxel_center(voxels, nearest[0]));
    const double *h = voxels->spacing;
    return fabs(d.x) <= h[0] && fabs(d.y) <= h[1] && fabs(d.z) <= h[2];
}

static bool find_point(const sinew_body *body, sn_vec3 x, double tolerance, bool outside,
                       sn_vec3 *X, int32_t *iterations) {
    const sn_frame_model *model = body->model;
    const sinew_voxels *voxels = model->shape->voxels;

    sn_blend_prepare(&model->nodes, &model->blend, body->q);
    starts starts;

    find_starts(model, body->q, x, &starts);
    double longest = 0; // a step across the grid is none
    for (int k = 0; k < 3; k++) {
        longest = fmax(longest, 0.5 * voxels->cells[k] * voxels->spacing[k]);
    }

    *iterations = 0;
    for (int32_t k = 0; k < starts.count; k++) {
        *X = starts.X[k];
        if (refine(body, x, tolerance, longest, X, iterations) <= tolerance &&
            (outside || is_inside(voxels, *X))) {
            return true;
        }
    }

    return false;
}

bool sn_frame_find_point(const sinew_body *body, sn_vec3 x, double tolerance, sn_vec3 *X,
                         int32_t *iterations) {
    return find_point(body, x, tolerance, false, X, iterations);
}

bool sn_frame_find_point_anywhere(const sinew_body *body, sn_vec3 x, double tolerance, sn_vec3 *X) {
    int32_t iterations;
    return find_point(body, x, tolerance, false, X, &iterations) ||
           find_point(body, x, tolerance, true, X, &iterations);
}
