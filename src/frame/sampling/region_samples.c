// Region samples. In: the table of weights. Out: the partition into regions, and the linear fit of
// the weights over each region, with its error. Cost: the regions (region.h), then one pass over
// the voxels.
#include "frame/sampling/region.h"
#include "frame/sampling/samples_internal.h"

#include "math/eigen3.h"

#include <string.h>

sinew_status sn_partition_regions(const sn_shape *shape, const sinew_sampling_def *def,
                                  sn_arena *arena, sn_partition *partition) {
    double fit_error = def->count > 0 ? 0 : def->fit_error;
    int32_t requested = def->count > 0 ? def->count : 0;

    // Small regions between many nodes outnumber the large ones in which the weights are curved.
    // Merging them down to half the requested number leaves the other half of the samples for
    // splitting the worst regions.
    int32_t joined = requested / 2 + requested % 2;
    SN_TRY(sn_find_regions(shape, def->by_label, joined, fit_error, arena, &partition->sample_of,
                           &partition->count));

    return sn_split_regions(shape, requested, fit_error, partition->sample_of, &partition->count);
}

// Returns the index of a node in the lists like sn_point_entry_from(), and moves the marks above a
// new entry up.
static int32_t marked_entry(sn_shape_point *point, bool *strong, int32_t from, int32_t node) {
    int32_t known = point->count;
    int32_t place = sn_point_entry_from(point, from, node);
    if (point->count > known) {
        memmove(strong + place + 1, strong + place, (size_t)(known - place) * sizeof *strong);
        strong[place] = false;
    }

    return place;
}

// Computes the means of the weights, the sums b = sum w (X - center), stored as gradients, and
// which nodes influence a voxel.
static void sum_weights(const sn_shape *shape, const int32_t *voxels, int32_t count, sn_vec3 center,
                        sn_shape_point *result, bool *strong) {
    const sn_weight_table *table = &shape->table;
    double total = sn_sum_fill(shape->voxels, voxels, count);
    result->count = 0;
    for (int32_t i = 0; i < count; i++) {
        sn_vec3 d = sn_sub(sn_voxel_center(shape->voxels, voxels[i]), center);
        double fill = sn_voxel_fill(shape->voxels, voxels[i]);
        int32_t place = 0;
        for (int64_t k = table->start[voxels[i]]; k < table->start[voxels[i] + 1]; k++) {
            place = marked_entry(result, strong, place, table->node[k]);
            result->weight[place] += fill * table->weight[k];
            sn_add_to3(result->gradient[place], sn_scale(fill * table->weight[k], d));
            strong[place] = strong[place] || fabs(table->weight[k]) >= SN_INFLUENCE;
        }
    }

    for (int32_t k = 0; k < result->count; k++) {
        result->weight[k] /= total;
    }
}

// Computes the pseudo-inverse of C, and the projection onto the directions in which the region is a
// single layer.
static bool invert(sn_mat3 C, double smallest, sn_mat3 *inverse, sn_mat3 *flat) {
    double values[3];
    sn_mat3 V;
    bool any = false;

    sn_eigen3(values, &V, C);
    *inverse = *flat = sn_mat3_scale(0, sn_mat3_identity());
    for (int k = 0; k < 3; k++) {
        sn_vec3 v = sn_mat3_column(V, k);
        if (values[k] > smallest) {
            *inverse = sn_mat3_add(*inverse, sn_mat3_scale(1 / values[k], sn_outer(v, v)));
        } else {
            *flat = sn_mat3_add(*flat, sn_outer(v, v));
            any = true;
        }
    }

    return any;
}

// Drops nodes that influence no voxel of the region, and scales the others so that the weights sum
// to 1 and the gradients to 0.
static void drop_weak(const bool *strong, sn_shape_point *point) {
    int32_t kept = 0;
    double sum = 0, total = 0;
    sn_vec3 slope = sn_v3(0, 0, 0);
    sn_vec3 slope_total = slope;

    for (int32_t k = 0; k < point->count; k++) {
        total += point->weight[k];
        slope_total = sn_add(slope_total, sn_load3(point->gradient[k]));
        if (!strong[k]) {
            continue;
        }

        point->node[kept] = point->node[k];
        point->weight[kept] = point->weight[k];
        for (int a = 0; a < 3; a++) {
            point->gradient[kept][a] = point->gradient[k][a];
        }

        sum += point->weight[kept];
        slope = sn_add(slope, sn_load3(point->gradient[kept]));
        kept++;
    }

    if (kept == 0 || kept == point->count || sum == 0) {
        return;
    }

    point->count = kept;

    // w' = w total / sum, and its derivative by the quotient rule.
    double scale = total / sum;
    sn_vec3 scale_slope = sn_scale(1 / sum, sn_sub(slope_total, sn_scale(scale, slope)));

    for (int32_t k = 0; k < kept; k++) {
        sn_vec3 g =
            sn_madd(sn_scale(scale, sn_load3(point->gradient[k])), point->weight[k], scale_slope);
        sn_store3(point->gradient[k], g);
        point->weight[k] *= scale;
    }
}

static void measure_fit(const sn_shape *shape, const int32_t *voxels, int32_t count, sn_vec3 center,
                        const sn_shape_point *point, sn_fit *fit) {
    const sn_weight_table *table = &shape->table;
    *fit = (sn_fit){.voxels = count, .nodes = point->count};
    for (int32_t i = 0; i < count; i++) {
        sn_vec3 d = sn_sub(sn_voxel_center(shape->voxels, voxels[i]), center);
        int64_t at = table->start[voxels[i]];
        int64_t end = table->start[voxels[i] + 1]; // nodes ascend in both lists

        for (int32_t k = 0; k < point->count; k++) {
            while (at < end && table->node[at] < point->node[k]) {
                at++;
            }

            double weight = at < end && table->node[at] == point->node[k] ? table->weight[at] : 0;
            double error = weight - (point->weight[k] + sn_dot(sn_load3(point->gradient[k]), d));
            fit->squared_error += error * error;
            fit->absolute_error += fabs(error);
        }
    }
}

void sn_fit_sample(const sn_shape *shape, const int32_t *voxels, int32_t count, sn_vec3 center,
                   sn_shape_point *result, sn_fit *fit) {
    const double *h = shape->voxels->spacing;
    double cell = fmin(h[0], fmin(h[1], h[2]));
    sn_mat3 C = {{{0}}};
    sn_mat3 inverse, flat;
    bool strong[SN_POINT_NODES + 1] = {false}; // nodes that influence a voxel of the region

    for (int32_t i = 0; i < count; i++) {
        sn_vec3 d = sn_sub(sn_voxel_center(shape->voxels, voxels[i]), center);
        C = sn_mat3_add(C, sn_outer(sn_scale(sn_voxel_fill(shape->voxels, voxels[i]), d), d));
    }

    sum_weights(shape, voxels, count, center, result, strong);

    // A second layer, even of a single voxel, contributes about its filled part times a cell's
    // square.
    bool thin = invert(C, 1e-6 * cell * cell, &inverse, &flat);
    for (int32_t k = 0; k < result->count; k++) {
        sn_store3(result->gradient[k], sn_mat3_apply(inverse, sn_load3(result->gradient[k])));
    }

    if (thin) { // across a single layer the voxels' own differences are better
        sn_shape_point average;

        sn_average_sample(shape, voxels, count, &average);
        for (int32_t k = 0, place = 0; k < average.count; k++) {
            place = marked_entry(result, strong, place, average.node[k]);
            sn_add_to3(result->gradient[place], sn_mat3_apply(flat, sn_load3(average.gradient[k])));
        }
    }
    drop_weak(strong, result);
    measure_fit(shape, voxels, count, center, result, fit);
}
