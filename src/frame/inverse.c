// Inverse skinning (Gilles et al. 2011, 4.4): the rest point that is now at a place.
//
//   X <- X + F(X)^-1 (x - x(X)), from the closest sample
//
// A step that does not come closer is halved; where that does not help (a fold, a kink in the weights) the next closest
// samples are tried. About three steps to 1e-5. Cost: the samples once, to find the closest, then a few evaluations.
#include "frame/frame_body.h"

#include <math.h>

enum { STARTS = 8, STEPS = 40, HALVINGS = 10 };

// The samples whose places are now closest to x, the closest first.
static int32_t find_starts(const sn_frame_model *model, sn_vec3 x, sn_vec3 starts[STARTS]) {
    const sn_frame_samples *samples = model->samples;
    double distance[STARTS];
    int32_t count = 0;
    for (int32_t s = 0; s < samples->count; s++) {
        sn_vec3 X = sn_load3(samples->position + 3 * (size_t)s);
        sn_blend_point point = {X, samples->start[s + 1] - samples->start[s], samples->node + samples->start[s],
                                samples->weight + samples->start[s], NULL};
        sn_vec3 at = sn_blend_get_position(&model->nodes, &model->blend, &point);
        double d = sn_distance(at, x);
        int32_t place = count < STARTS ? count++ : STARTS;
        while (place > 0 && distance[place - 1] > d) {
            if (place < STARTS) distance[place] = distance[place - 1], starts[place] = starts[place - 1];
            place--;
        }
        if (place < STARTS) distance[place] = d, starts[place] = X;
    }
    return count;
}

// F^-1 r; where F is nearly singular, the damped least-squares step.
static sn_vec3 solve_step(sn_mat3 F, sn_vec3 r) {
    double size = sn_mat3_norm(F), J = sn_mat3_det(F);
    if (fabs(J) > 1e-6 * size * size * size) return sn_mat3_apply(sn_mat3_inverse(F), r);
    sn_mat3 N = sn_mat3_mul(sn_mat3_transpose(F), F);
    for (int k = 0; k < 3; k++) N.m[k][k] += 1e-4 * size * size + 1e-300;
    return sn_mat3_apply(sn_mat3_inverse(N), sn_mat3_apply_transposed(F, r));
}

// Newton from X. Returns how far off it ended.
static double refine(const sn_frame_model *model, sn_vec3 x, double tolerance, double longest, sn_vec3 *X,
                     int32_t *iterations) {
    sn_frame_motion motion = sn_frame_motion_at(model, *X, NULL);
    double error = sn_distance(motion.x, x);
    for (int32_t step = 0; step < STEPS && error > tolerance; step++) {
        sn_vec3 d = solve_step(motion.F, sn_sub(x, motion.x));
        double scale = fmin(1, longest / fmax(sn_length(d), 1e-300)), next = INFINITY;
        sn_vec3 trial = *X;
        for (int cut = 0; cut < HALVINGS; cut++, scale *= 0.5) {
            trial = sn_madd(*X, scale, d);
            motion = sn_frame_motion_at(model, trial, NULL);
            next = sn_distance(motion.x, x);
            if (next < error) break;
        }
        ++*iterations;
        if (!(next < error)) break;
        *X = trial;
        error = next;
    }
    return error;
}

static bool is_inside(const sinew_voxels *voxels, sn_vec3 X) {
    double distance;
    int32_t nearest[8];
    if (sn_nearest_voxels(voxels, X, INFINITY, nearest, &distance) == 0) return false;
    sn_vec3 d = sn_sub(X, sn_voxel_center(voxels, nearest[0]));
    const double *h = voxels->spacing; // a voxel reaches half a cell, and half a cell more is granted
    return fabs(d.x) <= h[0] && fabs(d.y) <= h[1] && fabs(d.z) <= h[2];
}

static bool find_point(const sinew_body *body, sn_vec3 x, double tolerance, bool outside, sn_vec3 *X, int32_t *iterations) {
    const sn_frame_model *model = body->model;
    const sinew_voxels *voxels = model->shape->voxels;
    sn_blend_prepare(&model->nodes, &model->blend, body->q);
    sn_vec3 starts[STARTS];
    int32_t count = find_starts(model, x, starts);
    double longest = 0; // a step across the grid is none
    for (int k = 0; k < 3; k++) longest = fmax(longest, 0.5 * voxels->cells[k] * voxels->spacing[k]);
    *iterations = 0;
    for (int32_t k = 0; k < count; k++) {
        *X = starts[k];
        if (refine(model, x, tolerance, longest, X, iterations) <= tolerance && (outside || is_inside(voxels, *X)))
            return true;
    }
    return false;
}

bool sn_frame_find_point(const sinew_body *body, sn_vec3 x, double tolerance, sn_vec3 *X, int32_t *iterations) {
    return find_point(body, x, tolerance, false, X, iterations);
}

bool sn_frame_find_point_anywhere(const sinew_body *body, sn_vec3 x, double tolerance, sn_vec3 *X) {
    int32_t iterations;
    return find_point(body, x, tolerance, false, X, &iterations) || find_point(body, x, tolerance, true, X, &iterations);
}
