// Spectral weights: combinations of the lowest modes of the solid (voxel_modes.h), as many as there
// are nodes, that are 1 at one node and 0 at the others.
//
//   w = Psi Psi(nodes)^-1
//
// Their span does not depend on the nodes and holds the smoothest functions on the solid, so a few
// quadratic frames with these weights bend, shear and twist as the solid does. The weights sum to
// 1, because the first mode is constant, and become negative between the nodes. Every node reaches
// every voxel: they are for few nodes.
//
// In: node positions and Young's moduli. Out: the table. The condition number of Psi(nodes) says
// how well the nodes tell the modes apart. The best places for nodes are found by pivoted QR of the
// rows of Psi: each is where the modes differ most from their combinations at the nodes so far.
#include "frame/weights/spectral.h"

#include "frame/weights/table.h"
#include "frame/weights/voxel_modes.h"

#include "linalg/dense.h"

#include <string.h>

enum { MOST = SN_MAX_VOXEL_MODES };

// Condition numbers of Psi(nodes) above which a warning is given, and above which the weights would
// lose all accuracy.
static const double POOR = 100, HOPELESS = 1e6;

// Voxels with rows this similar, relative to the pivot's squared length, are one place for a node.
static const double SIMILAR = 0.02;

typedef struct mode_rows {
    const sn_voxel_modes *modes;
    const double *inverse; // of Psi(nodes), row by row; NULL: the modes themselves
} mode_rows;

static void fill_mode_row(const void *data, int32_t voxel, sn_row *row) {
    const mode_rows *rows = data;
    int32_t n = rows->modes->count;
    const double *psi = rows->modes->value + (size_t)voxel * (size_t)n;

    for (int32_t i = 0; i < n; i++) {
        double weight = rows->inverse ? 0 : psi[i];
        if (rows->inverse) {
            for (int32_t k = 0; k < n; k++) {
                weight += psi[k] * rows->inverse[k * n + i];
            }
        }
        sn_row_add(row, i, weight);
    }
}

// Evaluates the modes at the nodes exactly as the weights will be: P[i][k] is mode k at node i.
static sinew_status evaluate_at_nodes(const sn_shape *shape, const sn_voxel_modes *modes,
                                      sn_arena *scratch, double *P) {
    int32_t n = modes->count;
    sn_shape field;
    SN_TRY(sn_shape_create_field(shape, n, scratch, &field));

    mode_rows rows = {modes, NULL};
    sinew_status status = sn_build_table(&field, fill_mode_row, &rows);
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < n; i++) {
            sn_shape_point point;
            sn_shape_at_point(&field, sn_load3(sn_at3(shape->node_position, i)), &point);
            for (int32_t k = 0; k < point.count; k++) {
                P[i * n + point.node[k]] = point.weight[k];
            }
        }
    }

    sn_arena_destroy(&field.arena);
    return status;
}

// Returns the ratio of the largest to the smallest singular value.
static double condition_of(const double *P, int32_t n, double *PtP, double *work) {
    double values[MOST];
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int32_t k = 0; k < n; k++) {
                sum += P[k * n + i] * P[k * n + j];
            }
            PtP[i * n + j] = sum;
        }
    }

    if (!sn_dense_symmetric_eigen(PtP, n, n, values, work) || !(values[0] > 0)) {
        return INFINITY;
    }

    return sqrt(values[n - 1] / values[0]);
}

static sinew_status check_condition(sn_shape *shape, double condition) {
    shape->report.condition = condition;
    if (condition < POOR) {
        return SINEW_OK;
    }

    if (condition < HOPELESS) {
        sn_log(shape->context, SINEW_LOG_WARNING,
               "the %d nodes hardly tell the %d lowest modes of the solid apart (condition number "
               "%.3g, good is below %g), so their weights are large: move them apart, let them be "
               "placed automatically, or choose another kind of weights",
               shape->node_count, shape->node_count, condition, POOR);
        return SINEW_OK;
    }

    return sn_fail(shape->context, SINEW_INVALID_ARGUMENT,
                   "the %d nodes cannot tell the %d lowest modes of the solid apart (condition "
                   "number %.3g; valid is below %g): move them apart, let them be placed "
                   "automatically, or choose another kind of weights",
                   shape->node_count, shape->node_count, condition, HOPELESS);
}

static sinew_status invert_modes(sn_shape *shape, const sn_voxel_modes *modes, sn_arena *scratch,
                                 double *inverse) {
    int32_t n = modes->count;
    size_t size = (size_t)n * (size_t)n;
    double *P = SN_PUSH(scratch, double, size);
    double *copy = SN_PUSH(scratch, double, size);
    double *work = SN_PUSH(scratch, double, 2 * (size_t)n);

    SN_TRY(sn_arena_status(scratch));
    SN_TRY(evaluate_at_nodes(shape, modes, scratch, P));
    SN_TRY(check_condition(shape, condition_of(P, n, copy, work)));

    for (int32_t i = 0; i < n; i++) {
        inverse[i * n + i] = 1;
    }
    sn_dense_least_squares(P, n, n, n, inverse, n, n, 0, work);

    return SINEW_OK;
}

// Labels that a node carries wholly conduct like rigid ones.
static sinew_status find_stiffness(const sn_shape *shape, sn_arena *scratch,
                                   sn_stiffness *stiffness) {
    bool *rigid = SN_PUSH(scratch, bool, SN_LABELS);
    SN_TRY(sn_arena_status(scratch));
    for (int32_t label = 0; label < SN_LABELS; label++) {
        rigid[label] = shape->rigid[label] || shape->bound_node[label] >= 0;
    }

    bool euclidean = shape->def.metric == SINEW_METRIC_EUCLIDEAN;
    *stiffness = (sn_stiffness){euclidean ? NULL : shape->young, rigid};
    return SINEW_OK;
}

static sinew_status build(sn_shape *shape, sn_arena *scratch) {
    int32_t n = shape->node_count;
    sn_voxel_modes modes = {0};
    sn_stiffness stiffness;

    if (n > shape->def.nodes_per_voxel) {
        return sn_fail(shape->context, SINEW_INVALID_ARGUMENT,
                       "%d nodes with spectral weights, of which every one reaches every voxel; "
                       "valid are at most nodes_per_voxel, %d (up to %d): use fewer nodes, or "
                       "local weights",
                       n, shape->def.nodes_per_voxel, MOST);
    }

    // The smoothest functions on the solid, as many as there are nodes.
    SN_TRY(find_stiffness(shape, scratch, &stiffness));
    SN_TRY(sn_compute_conductivity(shape->voxels, &stiffness, &shape->arena, &shape->conductivity));
    SN_TRY(sn_compute_relative_stiffness(shape->voxels, &stiffness, &shape->arena,
                                         &shape->relative_stiffness));
    SN_TRY(sn_report_progress(shape->context, "computing weights", 0));
    SN_TRY(sn_compute_voxel_modes(shape->voxels, &stiffness, n, scratch, &modes));

    // Their combinations that are 1 at one node and 0 at the others.
    double *inverse = SN_PUSH(scratch, double, (size_t)n *(size_t)n);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(invert_modes(shape, &modes, scratch, inverse));
    shape->report.iterations = modes.sweeps;

    mode_rows rows = {&modes, inverse};
    return sn_build_table(shape, fill_mode_row, &rows);
}

sinew_status sn_build_spectral(sn_shape *shape) {
    sn_arena scratch = sn_arena_create(shape->context);
    sinew_status status = build(shape, &scratch);
    sn_arena_destroy(&scratch);
    return status;
}

// The rows of the modes while nodes are chosen: each is reduced by its parts along the rows of the
// nodes so far.
typedef struct pivoting {
    const sinew_voxels *voxels;
    int32_t n;
    double *row; // n for each voxel
} pivoting;

static double length2(const double *row, int32_t n) {
    double sum = 0;
    for (int32_t k = 0; k < n; k++) {
        sum += row[k] * row[k];
    }
    return sum;
}

// Removes the direction of a voxel's row from all rows.
static void remove_direction(const pivoting *pivoting, int32_t voxel) {
    int32_t n = pivoting->n;
    double direction[MOST];
    const double *pivot = pivoting->row + (size_t)voxel * (size_t)n;
    double scale = 1 / sqrt(fmax(length2(pivot, n), 1e-300));

    for (int32_t k = 0; k < n; k++) {
        direction[k] = scale * pivot[k];
    }

    for (int32_t v = 0; v < pivoting->voxels->count; v++) {
        double *row = pivoting->row + (size_t)v * (size_t)n;
        double along = 0;
        for (int32_t k = 0; k < n; k++) {
            along += row[k] * direction[k];
        }
        for (int32_t k = 0; k < n; k++) {
            row[k] -= along * direction[k];
        }
    }
}

static int32_t find_pivot(const pivoting *pivoting) {
    int32_t best = 0;
    double largest = -1;
    for (int32_t v = 0; v < pivoting->voxels->count; v++) {
        double length = length2(pivoting->row + (size_t)v * (size_t)pivoting->n, pivoting->n);
        if (length > largest * (1 + 1e-6)) {
            largest = length;
            best = v;
        }
    }

    return best;
}

// Returns the voxel in the middle of those whose rows are similar to the pivot's: modes hardly vary
// across a bar, and a node belongs on its axis.
static int32_t find_middle(const pivoting *pivoting, int32_t pivot) {
    const sinew_voxels *voxels = pivoting->voxels;
    int32_t n = pivoting->n;
    const double *row = pivoting->row + (size_t)pivot * (size_t)n;
    double limit = SIMILAR * length2(row, n);
    sn_vec3 sum = sn_v3(0, 0, 0);
    int32_t best = pivot;
    double nearest = INFINITY;

    // First the mean position, then the voxel closest to it.
    for (int pass = 0, count = 0; pass < 2; pass++) {
        for (int32_t v = 0; v < voxels->count; v++) {
            const double *other = pivoting->row + (size_t)v * (size_t)n;
            double difference = 0;
            for (int32_t k = 0; k < n; k++) {
                difference += (other[k] - row[k]) * (other[k] - row[k]);
            }
            if (difference > limit) {
                continue;
            }

            sn_vec3 center = sn_voxel_center(voxels, v);
            if (pass == 0) {
                sum = sn_add(sum, center);
                count++;
                continue;
            }

            double distance = sn_distance(center, sn_scale(1.0 / count, sum));
            if (distance < nearest) {
                nearest = distance;
                best = v;
            }
        }
    }

    return best;
}

sinew_status sn_place_spectral(const sinew_voxels *voxels, const double *young, const bool *rigid,
                               sinew_metric metric, double *positions, int32_t held,
                               int32_t count) {
    if (count > MOST) {
        return sn_fail(voxels->context, SINEW_INVALID_ARGUMENT,
                       "%d nodes; spectral placement is for at most %d", count, MOST);
    }

    sn_arena arena = sn_arena_create(voxels->context);
    sn_stiffness stiffness = {metric == SINEW_METRIC_EUCLIDEAN ? NULL : young, rigid};
    sinew_voxels *coarse = NULL;
    sn_voxel_modes modes = {0};
    sinew_status status =
        sn_compute_coarse_modes(voxels, &stiffness, count, &arena, &modes, &coarse);

    if (status == SINEW_OK) {
        // Pivoted elimination: each node goes where the modes differ most from what the nodes so
        // far determine.
        pivoting pivoting = {coarse ? coarse : voxels, count, modes.value};
        for (int32_t i = 0; i < count; i++) {
            double *position = sn_at3(positions, i);
            int32_t near[8];
            if (i < held) {
                sn_nearest_voxels(pivoting.voxels, sn_load3(position), INFINITY, near, NULL);
                remove_direction(&pivoting, near[0]);
                continue;
            }

            // In the middle of the section, so that thin solids keep their symmetry.
            int32_t voxel = find_middle(&pivoting, find_pivot(&pivoting));
            sn_nearest_voxels(voxels, sn_voxel_center(pivoting.voxels, voxel), INFINITY, near,
                              NULL);
            sn_store3(position, sn_voxel_center(voxels, near[0]));
            remove_direction(&pivoting, voxel);
        }
    }

    sinew_voxels_destroy(coarse);
    sn_arena_destroy(&arena);
    return status;
}
