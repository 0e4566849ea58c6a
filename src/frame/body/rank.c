// Motions of a frame body that no sample resists, beside those of a rigid body. Too few samples
// leave such motions; a static solve then runs away, or stops anywhere.
//
// With B = K + s M at rest, s the eigenvalue of a bar as long and soft as the solid, the motions
// without stiffness are those with x's M x = x'B x: eigenvalues 1 of s M with respect to B, while
// the softest real ones, 1 / (1 + omega^2 / s), stay away from 1. Small bodies only: the cost is
// the cube of the number of unknowns.
#include "frame/blend/blend.h"
#include "frame/body/frame_body.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { MOST_UNKNOWNS = 300, RIGID_MOTIONS = 6, MOST_VERTICES = 100 };

// omega^2 below this share of s is none. A rope a thousand times as long as thick has more.
static const double SOFTEST = 1e-7;

// Motions that displace the surface by less than the root of this, compared with the largest, move
// nothing. With the last frames just inside the ends of a bar, combinations that cancel out between
// them displace the ends by up to 0.3 %.
static const double INVISIBLE = 1e-4;

// E / (rho L^2) with the mean compliance.
static double typical_eigenvalue(const sn_shape *shape) {
    const sinew_voxels *voxels = shape->voxels;
    double compliance = 0, volume = 0, mass = 0, length2 = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        double part = sn_voxel_volume(voxels, v);
        volume += part;
        mass += part * sn_shape_density(shape, v);
        compliance += part / (shape->young[voxels->label[v]] * sn_voxel_stiffness(voxels, v));
    }
    for (int a = 0; a < 3; a++) {
        length2 = fmax(length2, pow(voxels->cells[a] * voxels->spacing[a], 2));
    }

    return volume / compliance * volume / mass / length2;
}

// Copies the lower triangle of a matrix on the pattern.
static void copy_dense(const sn_bsr *pattern, const double *values, size_t n, double *out) {
    memset(out, 0, n * n * sizeof *out);
    for (int32_t row = 0; row < pattern->rows; row++) {
        for (int32_t k = pattern->starts[row]; k <= pattern->diagonal[row]; k++) {
            size_t first = 3 * (size_t)row * n + 3 * (size_t)pattern->columns[k];
            for (size_t i = 0; i < 9; i++) {
                out[first + i / 3 * n + i % 3] = values[9 * (size_t)k + i];
            }
        }
    }
}

// Computes L^-1 A L^-T for a symmetric A, both triangles.
static void reduce(double *A, const double *L, size_t n) {
    for (int pass = 0; pass < 2; pass++) {
        for (size_t c = 0; c < n; c++) {
            double *x = A + c * n; // A is symmetric, so its rows are its columns
            for (size_t r = 0; r < n; r++) {
                double sum = x[r];
                for (size_t k = 0; k < r; k++) {
                    sum -= L[r * n + k] * x[k];
                }
                x[r] = sum / L[r * n + r];
            }
        }

        for (size_t r = 0; r < n; r++) {
            for (size_t c = 0; c < r; c++) {
                double swap = A[r * n + c];
                A[r * n + c] = A[c * n + r];
                A[c * n + r] = swap;
            }
        }
    }
}

// Scales both so that B has a diagonal of 1, and mirrors M.
static void scale(double *M, double *B, double *root, size_t n) {
    for (size_t i = 0; i < n; i++) {
        root[i] = 1 / sqrt(fmax(B[i * n + i], 1e-300));
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            B[i * n + j] *= root[i] * root[j];
            M[i * n + j] *= root[i] * root[j];
            M[j * n + i] = M[i * n + j];
        }
    }
}

// How many of the motions without stiffness, the last `count` rows of `motion` in scaled unknowns,
// move the surface. Others are combinations of controls that cancel out, as those of affine frames
// with weights that are linear along an axis do: they are no motions of the solid.
static sinew_status count_visible(const sinew_body *body, double *motion, const double *L,
                                  const double *root, size_t n, int32_t count, sn_arena *scratch,
                                  int32_t *visible) {
    const sn_frame_model *model = body->model;
    const sn_vertex_weights *v = &model->base_vertices;
    size_t m = (size_t)count;
    double *gram = SN_PUSH(scratch, double, m *m);
    double *values = SN_PUSH(scratch, double, m);
    double *work = SN_PUSH(scratch, double, m);
    double *u = SN_PUSH(scratch, double, m);
    double *rows = SN_PUSH(scratch, double, n);
    SN_TRY(sn_arena_status(scratch));

    // Back to the body's own unknowns, x = D L^-T y.
    double *first = motion + (n - m) * n;
    for (size_t k = 0; k < m; k++) {
        double *x = first + k * n;
        for (size_t r = n; r-- > 0;) {
            for (size_t c = r + 1; c < n; c++) {
                x[r] -= L[c * n + r] * x[c];
            }
            x[r] /= L[r * n + r];
        }
        for (size_t r = 0; r < n; r++) {
            x[r] *= root[r];
        }
    }

    // The Gram matrix of their displacements of some vertices.
    int32_t total = model->surface->point_count;
    int32_t stride = total > MOST_VERTICES ? total / MOST_VERTICES : 1;
    sn_blend_prepare(&model->nodes, &model->blend, body->rest);
    for (int32_t i = 0; i < total; i += stride) {
        sn_blend_point point = {.X = sn_load3(sn_at3(model->surface->points, i)),
                                .count = v->start[i + 1] - v->start[i],
                                .node = v->node + v->start[i],
                                .weight = v->weight + v->start[i]};
        for (int axis = 0; axis < 3; axis++) {
            memset(rows, 0, n * sizeof *rows);
            sn_vec3 f = sn_v3(axis == 0, axis == 1, axis == 2);
            sn_blend_add_force(&model->nodes, &model->blend, &point, f, rows);
            for (size_t k = 0; k < m; k++) {
                u[k] = 0;
                for (size_t r = 0; r < n; r++) {
                    u[k] += rows[r] * first[k * n + r];
                }
            }
            for (size_t k = 0; k < m * m; k++) {
                gram[k] += u[k / m] * u[k % m];
            }
        }
    }

    *visible = count;
    if (sn_dense_symmetric_eigen(gram, count, count, values, work)) {
        *visible = 0;
        for (size_t k = 0; k < m; k++) {
            *visible += values[k] > INVISIBLE * values[m - 1];
        }
    }
    return SINEW_OK;
}

static sinew_status count_motions(sinew_body *body, sn_arena *scratch, int32_t *count) {
    const sn_frame_model *model = body->model;
    size_t n = (size_t)sn_body_size(body);
    double *K = sn_bsr_push_values(scratch, &body->pattern);
    double *sM = sn_bsr_push_values(scratch, &body->pattern);
    double *B = SN_PUSH(scratch, double, n *n);
    double *M = SN_PUSH(scratch, double, n *n);
    double *values = SN_PUSH(scratch, double, n);
    double *work = SN_PUSH(scratch, double, n);
    double *root = SN_PUSH(scratch, double, n);
    SN_TRY(sn_arena_status(scratch));

    sn_evaluation evaluation = {.q = body->rest, .matrix = K};
    body->ops->elasticity.evaluate(body, &evaluation);
    sn_frame_mass_add(&model->nodes, model->mass, &body->pattern, sM,
                      typical_eigenvalue(model->shape), body->rest);
    copy_dense(&body->pattern, K, n, B);
    copy_dense(&body->pattern, sM, n, M);
    for (size_t i = 0; i < n * n; i++) {
        B[i] += M[i];
    }

    // A body whose matrices are not definite has other problems.
    *count = RIGID_MOTIONS;
    scale(M, B, root, n);
    if (sn_dense_cholesky(B, (int32_t)n, (int32_t)n) >= 0) {
        return SINEW_OK;
    }
    reduce(M, B, n);
    if (!sn_dense_symmetric_eigen(M, (int32_t)n, (int32_t)n, values, work)) {
        return SINEW_OK;
    }

    *count = 0;
    for (size_t i = 0; i < n; i++) {
        *count += values[i] > 1 - SOFTEST;
    }
    if (*count <= RIGID_MOTIONS) {
        return SINEW_OK;
    }
    return count_visible(body, M, B, root, n, *count, scratch, count);
}

// Reports motions beyond those of rigid parts.
static sinew_status report_motions(sinew_body *body, sn_arena *scratch, int32_t count) {
    sn_frame_model *model = body->model;
    sinew_sampling_report *report = &model->base_samples->report;
    int32_t *parts, part_count = 1;
    if (count > RIGID_MOTIONS) {
        SN_TRY(sn_voxel_parts(model->shape->voxels, scratch, NULL, &parts, &part_count));
    }

    int32_t extra = count - RIGID_MOTIONS * part_count;
    report->free_motions = extra > 0 ? extra : 0;
    if (extra > 0) {
        sn_log(body->context, SINEW_LOG_WARNING,
               "body \"%s\": %d motions of its %d frames meet no resistance at its %d samples: use "
               "more samples (a smaller fit_error, or a larger count) or fewer frames",
               body->name, extra, model->nodes.count, report->point_count);
    }
    return SINEW_OK;
}

sinew_status sn_frame_check_rank(sinew_body *body) {
    const sn_frame_model *model = body->model;
    if (sn_body_size(body) > MOST_UNKNOWNS || model->springs) {
        return SINEW_OK;
    }

    int32_t count;
    sn_arena scratch = sn_arena_create(body->context);
    sinew_status status = count_motions(body, &scratch, &count);
    if (status == SINEW_OK) {
        status = report_motions(body, &scratch, count);
    }
    sn_arena_destroy(&scratch);
    return status;
}
