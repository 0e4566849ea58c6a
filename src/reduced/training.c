// Choosing the samples at which a reduced body evaluates its forces (An, Kim and James 2008).
//
// In: a basis and training poses. Out: few samples with weights w >= 0 such that the reduced force
// of each pose, sum_s w_s g_s, is close to that of all samples. The weights are the solution of a
// non-negative least squares problem that adds one sample at a time; each pose counts relative to
// the size of its force.
//
// Poses are static shapes to second order for random loads of every strength (basis.c), and a
// little of everything: without that, directions in which no load pulls would have no stiffness.
#include "body/elastic.h"
#include "linalg/nnls.h"
#include "reduced/cubature.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

enum { MOST_CANDIDATES = 4000, MOST_SHRINKS = 30 };

// The part of a pose that is not a static shape, relative to the size of the others.
static const double stray = 0.1;

typedef struct trainer {
    sinew_body *body;
    const sinew_reduction_def *def;
    const sn_reduced_basis *basis;
    const double *nodal; // U, [node][size][3]
    sn_random random;
    double *unit;      // [size]: 1 / omega, by which forces count as their energy
    double *p;         // [linear]
    double *q, *force; // [3 nodes]
} trainer;

// A number with mean 0 and deviation 1: the sum of twelve uniform ones.
static double draw_normal(sn_random *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += sn_random_unit(random);
    }
    return sum;
}

// Positions of the nodes at the coordinates y, in trainer->q.
static void move_nodes(const trainer *t, const double *y) {
    int32_t size = t->basis->size;
    for (int32_t i = 0; i < t->body->rows; i++) {
        const double *u = t->nodal + 3 * (size_t)i * (size_t)size;
        sn_vec3 x = sn_load3(t->body->rest + 3 * (size_t)i);
        for (int32_t k = 0; k < size; k++, u += 3) {
            x = sn_madd(x, y[k], sn_load3(u));
        }
        sn_store3(t->q + 3 * (size_t)i, x);
    }
}

// y = linear p + 1/2 curve p p, and a stray part.
static void draw_pose(trainer *t, double *y) {
    const sn_reduced_basis *basis = t->basis;
    int32_t size = basis->size;
    double strength = t->basis->reach * sn_random_range(&t->random, 0.05, 1);
    memset(y, 0, (size_t)size * sizeof *y);

    // Loads excite modes by their compliance.
    const double *part = basis->linear_part;
    for (int32_t i = 0; i < basis->linear; i++) {
        double softness = basis->mode_squared[0] / basis->mode_squared[i];
        t->p[i] = strength * sqrt(softness) * draw_normal(&t->random);
        for (int32_t k = 0; k < size; k++) {
            y[k] += t->p[i] * *part++;
        }
    }

    if (basis->curve) {
        const double *curve = basis->curve;
        for (int32_t i = 0; i < basis->linear; i++) {
            for (int32_t j = i; j < basis->linear; j++) {
                double factor = (i == j ? 0.5 : 1) * t->p[i] * t->p[j];
                for (int32_t k = 0; k < size; k++) {
                    y[k] += factor * *curve++;
                }
            }
        }
    }

    for (int32_t k = 0; k < size; k++) {
        double softness = basis->omega_squared[0] / basis->omega_squared[k];
        y[k] += stray * strength * sqrt(softness) * draw_normal(&t->random);
    }
}

// Shrinks a pose until no element is nearly flat.
static void tame_pose(trainer *t, double *y) {
    double *q = t->body->q;
    for (int attempt = 0; attempt < MOST_SHRINKS; attempt++) {
        double smallest, largest, volume;
        move_nodes(t, y);
        t->body->q = t->q;
        t->body->ops->elasticity.measure(t->body, &smallest, &largest, &volume);
        t->body->q = q;
        if (smallest > 0.2) {
            return;
        }
        for (int32_t k = 0; k < t->basis->size; k++) {
            y[k] *= 0.8;
        }
    }
}

// The reduced force of all samples at the pose that move_nodes has set.
static void compute_target(trainer *t, double *target) {
    int32_t size = t->basis->size;
    size_t length = (size_t)sn_body_size(t->body);
    memset(t->force, 0, length * sizeof *t->force);
    sn_evaluation evaluation = {.q = t->q, .force = t->force};
    t->body->ops->elasticity.evaluate(t->body, &evaluation);

    for (int32_t k = 0; k < size; k++) {
        const double *U = t->basis->U + (size_t)k * length;
        double sum = 0;
        for (size_t i = 0; i < length; i++) {
            sum += U[i] * t->force[i];
        }
        target[k] = sum * t->unit[k];
    }
}

static double norm_of(const double *x, int32_t count) {
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

static void scale(double *x, int32_t count, double s) {
    for (int32_t i = 0; i < count; i++) {
        x[i] *= s;
    }
}

// Draws poses; targets are divided by their size, which is returned with them.
static void draw_poses(trainer *t, int32_t count, double *poses, double *targets, double *sizes) {
    int32_t size = t->basis->size;
    for (int32_t i = 0; i < count; i++) {
        double *y = poses + (size_t)i * (size_t)size;
        double *target = targets + (size_t)i * (size_t)size;
        draw_pose(t, y);
        tame_pose(t, y);
        compute_target(t, target);
        sizes[i] = norm_of(target, size);
        scale(target, size, 1 / fmax(sizes[i], 1e-300));
    }
}

// Samples to choose from: all, or every so many.
static int32_t list_candidates(const sn_sample_groups *groups, int32_t total, int32_t count,
                               sn_reduced_point *candidates) {
    int32_t made = 0;
    int64_t seen = 0;
    for (int32_t g = 0; g < groups->count; g++) {
        for (int32_t s = 0; s < groups->items[g].samples.count; s++, seen++) {
            // The number of candidates among the first `seen` samples grows evenly.
            if ((seen + 1) * count / total > seen * count / total) {
                candidates[made++] = (sn_reduced_point){g, s, 1};
            }
        }
    }
    return made;
}

static int32_t count_samples(const sn_sample_groups *groups) {
    int32_t total = 0;
    for (int32_t g = 0; g < groups->count; g++) {
        total += groups->items[g].samples.count;
    }
    return total;
}

// The relative error of the chosen samples over some poses: the root mean square of the poses.
static double find_error(trainer *t, const sn_cubature *cubature, const double *poses,
                         const double *targets, const double *sizes, int32_t count, double *room) {
    int32_t size = t->basis->size;
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        memset(room, 0, (size_t)size * sizeof *room);
        sn_cubature_request request = {.y = poses + (size_t)i * (size_t)size, .force = room};
        sn_cubature_evaluate(t->body->context, cubature, &request);
        for (int32_t k = 0; k < size; k++) {
            double error = room[k] * t->unit[k] / fmax(sizes[i], 1e-300) -
                           targets[(size_t)i * (size_t)size + (size_t)k];
            sum += error * error;
        }
    }
    return sqrt(sum / count);
}

static sinew_status fit(trainer *t, sn_arena *arena, int32_t most, sn_reduced_point *points,
                        sn_training *training) {
    const sn_sample_groups *groups = sn_elastic_groups(t->body);
    int32_t size = t->basis->size;
    int32_t poses = t->def->poses;
    int32_t total = count_samples(groups);
    int32_t count = total < MOST_CANDIDATES ? total : MOST_CANDIDATES;
    size_t rows = (size_t)poses * (size_t)size;

    // Poses to train with, and as many to check the result with.
    double *pose = SN_PUSH(arena, double, 2 * rows);
    double *target = SN_PUSH(arena, double, 2 * rows);
    double *sizes = SN_PUSH(arena, double, 2 * (size_t)poses);
    double *room = SN_PUSH(arena, double, size);
    sn_reduced_point *candidates = SN_PUSH(arena, sn_reduced_point, count);
    double *columns = SN_PUSH(arena, double, (size_t)count *rows);
    double *weights = SN_PUSH(arena, double, count);
    SN_TRY(sn_arena_status(arena));
    draw_poses(t, 2 * poses, pose, target, sizes);

    // One column for each candidate.
    sn_cubature all;
    count = list_candidates(groups, total, count, candidates);
    SN_TRY(
        sn_cubature_create(arena, groups, candidates, count, size, t->body->rest, t->nodal, &all));
    for (int32_t i = 0; i < poses; i++) {
        double *first = columns + (size_t)i * (size_t)size;
        sn_cubature_compute_columns(t->body->context, &all, pose + (size_t)i * (size_t)size, rows,
                                    first);
        for (int32_t c = 0; c < count; c++) {
            for (int32_t k = 0; k < size; k++) {
                first[(size_t)c * rows + (size_t)k] *= t->unit[k] / fmax(sizes[i], 1e-300);
            }
        }
    }

    sn_nnls_def def = {.A = columns,
                       .rows = (int32_t)rows,
                       .columns = count,
                       .b = target,
                       .tolerance = t->def->tolerance,
                       .most = most};
    SN_TRY(sn_nnls_solve(t->body->context, &def, weights, NULL));

    training->count = 0;
    for (int32_t c = 0; c < count && training->count < most; c++) {
        if (weights[c] > 0) {
            points[training->count] = candidates[c];
            points[training->count++].weight = weights[c];
        }
    }

    sn_cubature chosen;
    SN_TRY(sn_cubature_create(arena, groups, points, training->count, size, t->body->rest, t->nodal,
                              &chosen));
    training->training_error = find_error(t, &chosen, pose, target, sizes, poses, room);
    training->check_error =
        find_error(t, &chosen, pose + rows, target + rows, sizes + poses, poses, room);
    return SINEW_OK;
}

sinew_status sn_reduced_train(sinew_body *body, const sinew_reduction_def *def,
                              const sn_reduced_basis *basis, const double *nodal, int32_t most,
                              sn_reduced_point *points, sn_training *training) {
    sn_arena arena = sn_arena_create(body->context);
    trainer t = {.body = body,
                 .def = def,
                 .basis = basis,
                 .nodal = nodal,
                 .random = sn_random_seed(1),
                 .p = SN_PUSH(&arena, double, basis->linear),
                 .unit = SN_PUSH(&arena, double, basis->size),
                 .q = SN_PUSH(&arena, double, sn_body_size(body)),
                 .force = SN_PUSH(&arena, double, sn_body_size(body))};
    sinew_status status = sn_arena_status(&arena);
    if (status == SINEW_OK) {
        for (int32_t k = 0; k < basis->size; k++) {
            t.unit[k] = 1 / sqrt(basis->omega_squared[k]);
        }
        status = fit(&t, &arena, most, points, training);
    }
    sn_arena_destroy(&arena);
    return status;
}
