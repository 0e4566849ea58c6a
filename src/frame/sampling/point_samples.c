// Point samples: weights and gradients as they are at a few points, without fitting them over
// regions. In: smooth weights. Out: candidate points that integrate smooth functions over the solid
// well, and the samples that are left when some of them have been chosen.
//
// Candidates are eight points in each of many small blocks of voxels, of one label each. Which of
// them are needed depends on what the nodes can do (frame/blend/cubature.c).
// Cost: one pass over the voxels, and 27 rows of the table for each candidate.
#include "frame/sampling/samples_internal.h"

#include "base/random.h"
#include "base/threads.h"

#include <string.h>

enum { CORNERS = 8, BATCH = 256 };

typedef struct point_job {
    const sn_shape *shape;
    const sn_frame_samples *blocks;
    sn_frame_samples *samples;
    int32_t first; // the batch's first point
    sn_shape_point *points;
} point_job;

// The mean square distance of a block's voxels, as boxes, from its centroid along each axis.
static void measure_block(const sn_shape *shape, const sn_frame_samples *blocks, int32_t block,
                          double spread[3]) {
    const sinew_voxels *voxels = shape->voxels;
    sn_vec3 center = sn_load3(sn_at3(blocks->position, block));
    double sum[3] = {0, 0, 0}, total = 0;
    for (int32_t k = blocks->voxel_start[block]; k < blocks->voxel_start[block + 1]; k++) {
        double d[3];
        double fill = sn_voxel_fill(voxels, blocks->voxel[k]);
        sn_store3(d, sn_sub(sn_voxel_center(voxels, blocks->voxel[k]), center));
        total += fill;
        for (int a = 0; a < 3; a++) {
            sum[a] += fill * d[a] * d[a];
        }
    }

    for (int a = 0; a < 3; a++) {
        double h = voxels->spacing[a];
        spread[a] = sqrt(sum[a] / total + h * h / 12);
    }
}

// Moves a point into the nearest voxel of its block: blocks need not be convex.
static sn_vec3 pull_inside(const sn_shape *shape, const sn_frame_samples *blocks, int32_t block,
                           sn_vec3 p) {
    const sinew_voxels *voxels = shape->voxels;
    sn_vec3 half = sn_scale(0.499, sn_load3(voxels->spacing));
    sn_vec3 best = p;
    double nearest = INFINITY;
    for (int32_t k = blocks->voxel_start[block]; k < blocks->voxel_start[block + 1]; k++) {
        sn_vec3 center = sn_voxel_center(voxels, blocks->voxel[k]);
        sn_vec3 d = sn_sub(p, center);
        sn_vec3 inside = sn_min3(sn_max3(d, sn_scale(-1, half)), half);
        double distance = sn_distance(d, inside);
        if (distance < nearest) {
            nearest = distance;
            best = sn_add(center, inside);
        }
    }
    return best;
}

// Returns by how much the square of a point's distance from the centroid along an axis differs from
// the mean. Opposite corners share it, and it sums to 0 over the four pairs of a block. Without it
// all points would lie alike within their voxels and miss what the weights do there.
static double vary(int32_t block, int axis, int32_t corner) {
    sn_random random = sn_random_seed((uint64_t)(3 * (int64_t)block + axis));
    double value[CORNERS / 2], mean = 0;
    for (int k = 0; k < CORNERS / 2; k++) {
        value[k] = sn_random_range(&random, -0.5, 0.5);
        mean += value[k] / (CORNERS / 2);
    }
    return value[corner < CORNERS / 2 ? corner : CORNERS - 1 - corner] - mean;
}

// Places a batch's points: near the corners of the box with the spread of the block, so that the
// volume, centroid and second moments of the block are kept.
static void evaluate_batch(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const point_job *job = data;
    for (int32_t i = begin; i < end; i++) {
        int32_t s = job->first + i;
        int32_t block = s / CORNERS;
        int32_t corner = s % CORNERS;
        double p[3], spread[3];
        measure_block(job->shape, job->blocks, block, spread);
        for (int a = 0; a < 3; a++) {
            double side = corner >> a & 1 ? 1 : -1;
            double distance = spread[a] * sqrt(1 + vary(block, a, corner));
            p[a] = job->blocks->position[3 * block + a] + side * distance;
        }

        sn_vec3 X = pull_inside(job->shape, job->blocks, block, sn_load3(p));
        sn_store3(sn_at3(job->samples->position, s), X);
        sn_shape_at_point(job->shape, X, &job->points[i]);
    }
}

static void copy_point(const sn_shape_point *point, sn_frame_samples *samples, int32_t s) {
    int32_t at = samples->start[s];
    for (int32_t k = 0; k < point->count; k++, at++) {
        samples->node[at] = point->node[k];
        samples->weight[at] = point->weight[k];
        memcpy(sn_at3(samples->gradient, at), point->gradient[k], 3 * sizeof(double));
    }
    samples->start[s + 1] = at;
}

static sinew_status push_samples(sn_frame_samples *samples, int32_t count, size_t entries) {
    sn_arena *arena = &samples->arena;
    samples->count = count;
    samples->moment_count = 1;
    samples->position = SN_PUSH(arena, double, 3 * (size_t)count);
    samples->volume = SN_PUSH(arena, double, count);
    samples->mass = SN_PUSH(arena, double, count);
    samples->label = SN_PUSH(arena, int32_t, count);
    samples->stiffness = SN_PUSH(arena, double, count);
    samples->fit_error = SN_PUSH(arena, double, count);
    samples->start = SN_PUSH(arena, int32_t, (size_t)count + 1);
    samples->node = SN_PUSH(arena, int32_t, entries);
    samples->weight = SN_PUSH(arena, double, entries);
    samples->gradient = SN_PUSH(arena, double, 3 * entries);

    return sn_arena_status(arena);
}

// Evaluates the weights at the points of all blocks.
static sinew_status fill_candidates(const sn_shape *shape, const sn_frame_samples *blocks,
                                    sn_frame_samples *samples) {
    sn_shape_point *points = sn_allocate(shape->context, BATCH, sizeof *points);
    if (!points) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Evaluate in parallel batch by batch: how many nodes a point has is known only afterwards.
    point_job job = {shape, blocks, samples, 0, points};
    for (; job.first < samples->count; job.first += BATCH) {
        int32_t left = samples->count - job.first;
        int32_t count = left < BATCH ? left : BATCH;
        sn_parallel_for(shape->context, count, CORNERS, evaluate_batch, &job);
        for (int32_t i = 0; i < count; i++) {
            copy_point(&points[i], samples, job.first + i);
        }
    }

    // Each corner of a block stands for an equal part of it.
    for (int32_t s = 0; s < samples->count; s++) {
        samples->volume[s] = blocks->volume[s / CORNERS] / CORNERS;
        samples->mass[s] = blocks->mass[s / CORNERS] / CORNERS;
        samples->label[s] = blocks->label[s / CORNERS];
        samples->stiffness[s] = blocks->stiffness[s / CORNERS];
    }

    sn_release(shape->context, points, BATCH, sizeof *points);
    return SINEW_OK;
}

sinew_status sn_point_candidates(const sn_shape *shape, int32_t block_count,
                                 sn_frame_samples **candidates) {
    sn_frame_samples *blocks = NULL;
    sn_arena arena = sn_arena_create(shape->context);
    sn_frame_samples *made = SN_PUSH(&arena, sn_frame_samples, 1);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }
    made->arena = arena;

    // Each block gets several points.
    sinew_status status = sn_samples_create_blocks(shape, block_count, &blocks);

    // Smooth weights reach everywhere, so there is room for all nodes at every point.
    if (status == SINEW_OK) {
        int32_t count = CORNERS * blocks->count;
        status = push_samples(made, count, (size_t)count * (size_t)shape->node_count);
    }
    if (status == SINEW_OK) {
        status = fill_candidates(shape, blocks, made);
    }

    sn_samples_destroy(blocks);
    if (status != SINEW_OK) {
        sn_samples_destroy(made);
        return status;
    }

    *candidates = made;
    return SINEW_OK;
}

// Gives every voxel to the nearest sample of its label, or of any label if there is none.
static void assign_voxels(const sn_shape *shape, const sn_frame_samples *samples,
                          int32_t *sample_of) {
    for (int32_t v = 0; v < shape->voxels->count; v++) {
        sn_vec3 p = sn_voxel_center(shape->voxels, v);
        double best[2] = {INFINITY, INFINITY};
        int32_t at[2] = {0, 0};
        for (int32_t s = 0; s < samples->count; s++) {
            sn_vec3 d = sn_sub(p, sn_load3(sn_at3(samples->position, s)));
            double distance = sn_dot(d, d);
            int same = samples->label[s] == shape->voxels->label[v];
            if (distance < best[same]) {
                best[same] = distance;
                at[same] = s;
            }
        }
        sample_of[v] = best[1] < INFINITY ? at[1] : at[0];
    }
}

static sinew_status list_voxels(const sn_shape *shape, sn_frame_samples *samples) {
    int32_t count = shape->voxels->count;
    int32_t *sample_of = sn_allocate(shape->context, (size_t)count, sizeof *sample_of);
    if (!sample_of) {
        return SINEW_OUT_OF_MEMORY;
    }

    assign_voxels(shape, samples, sample_of);
    sn_partition partition = {samples->count, sample_of};
    sinew_status status = sn_samples_list_voxels(samples, &partition, count);
    if (status == SINEW_OK) {
        for (int32_t v = 0; v < count; v++) {
            samples->mass[sample_of[v]] +=
                sn_shape_density(shape, v) * sn_voxel_volume(shape->voxels, v);
        }
    }

    sn_release(shape->context, sample_of, (size_t)count, sizeof *sample_of);
    return status;
}

static void report(sn_frame_samples *samples) {
    sinew_sampling_report *r = &samples->report;
    r->sample_count = r->point_count = samples->count;
    for (int32_t s = 0; s < samples->count; s++) {
        int32_t nodes = samples->start[s + 1] - samples->start[s];
        r->volume += samples->volume[s];
        r->mass += samples->mass[s];
        r->most_nodes = nodes > r->most_nodes ? nodes : r->most_nodes;
    }
    r->mean_nodes = (double)samples->start[samples->count] / samples->count;
}

sinew_status sn_point_samples(const sn_shape *shape, const sn_frame_samples *candidates,
                              const double *volume, sn_frame_samples **samples) {
    // Points with volume.
    int32_t count = 0;
    size_t entries = 0;
    for (int32_t s = 0; s < candidates->count; s++) {
        if (volume[s] > 0) {
            count++;
            entries += (size_t)(candidates->start[s + 1] - candidates->start[s]);
        }
    }

    sn_arena arena = sn_arena_create(shape->context);
    sn_frame_samples *made = SN_PUSH(&arena, sn_frame_samples, 1);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }
    made->arena = arena;

    sinew_status status = push_samples(made, count, entries);

    // Copy them with their weights, and give them the new volumes.
    if (status == SINEW_OK) {
        for (int32_t s = 0, next = 0; s < candidates->count; s++) {
            if (!(volume[s] > 0)) {
                continue;
            }

            size_t size = (size_t)(candidates->start[s + 1] - candidates->start[s]);
            int32_t from = candidates->start[s];
            int32_t to = made->start[next];
            memcpy(sn_at3(made->position, next), sn_at3(candidates->position, s),
                   3 * sizeof(double));
            made->volume[next] = volume[s];
            made->label[next] = candidates->label[s];
            made->stiffness[next] = candidates->stiffness[s];
            memcpy(made->node + to, candidates->node + from, size * sizeof *made->node);
            memcpy(made->weight + to, candidates->weight + from, size * sizeof *made->weight);
            memcpy(sn_at3(made->gradient, to), sn_at3(candidates->gradient, from),
                   3 * size * sizeof *made->gradient);
            made->start[++next] = to + (int32_t)size;
        }
    }

    // Voxels belong to the nearest point, for reports and insertions.
    if (status == SINEW_OK) {
        status = list_voxels(shape, made);
    }
    if (status == SINEW_OK) {
        status = sn_samples_sort(made);
    }
    if (status != SINEW_OK) {
        sn_samples_destroy(made);
        return status;
    }

    report(made);
    *samples = made;
    return SINEW_OK;
}
