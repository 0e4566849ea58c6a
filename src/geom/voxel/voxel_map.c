// The materials of the voxels: painted solids, layers, stiffness gradients, and statistics by
// label.
#include "geom/voxel/voxel.h"

#include "base/threads.h"

#include <string.h>

enum { CHUNK = 4096, LABELS = 65536 };

typedef struct paint_job {
    sinew_voxels *voxels;
    const sinew_solid_def *solid;
    const sinew_layers_def *layers;
    double total;
    sn_vec3 direction;
    double tolerance;
} paint_job;

// Points on a border belong to both sides of it; a billionth of a cell makes the decision the same
// on every side.
static double border_tolerance(const sinew_voxels *voxels) {
    return 1e-9 * fmin(voxels->spacing[0], fmin(voxels->spacing[1], voxels->spacing[2]));
}

static void paint_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    paint_job *job = data;
    for (int32_t v = begin; v < end; v++) {
        if (sn_solid_contains(job->solid, sn_voxel_center(job->voxels, v), job->tolerance)) {
            job->voxels->label[v] = (uint16_t)job->solid->label;
        }
    }
}

sinew_status sinew_voxels_paint(sinew_voxels *voxels, const sinew_solid_def *solid) {
    SN_NEED(NULL, voxels);
    SN_TRY(sn_check_solid(voxels->context, solid, 0));
    paint_job job = {.voxels = voxels, .solid = solid, .tolerance = border_tolerance(voxels)};
    sn_parallel_for(voxels->context, voxels->count, CHUNK, paint_range, &job);
    return SINEW_OK;
}

static void layer_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    paint_job *job = data;
    const sinew_layers_def *layers = job->layers;
    sn_vec3 start = sn_load3(layers->start);

    for (int32_t v = begin; v < end; v++) {
        double s = sn_dot(job->direction, sn_sub(sn_voxel_center(job->voxels, v), start));
        if (s < -job->tolerance) {
            continue;
        }
        if (layers->repeat) {
            s -= floor((s + job->tolerance) / job->total) * job->total;
        }

        // The layer whose thickness the distance falls into.
        for (int32_t i = 0; i < layers->count; i++) {
            s -= layers->thickness[i];
            if (s < -job->tolerance) {
                job->voxels->label[v] = (uint16_t)layers->labels[i];
                break;
            }
        }
    }
}

sinew_status sinew_voxels_paint_layers(sinew_voxels *voxels, const sinew_layers_def *layers) {
    SN_NEED(NULL, voxels && layers);

    sn_vec3 direction = sn_load3(layers->direction);

    // The arrays and the direction.
    if (layers->count < 1 || !layers->thickness || !layers->labels) {
        return sn_fail(voxels->context, SINEW_INVALID_ARGUMENT,
                       "%d layers; at least 1, with thicknesses and labels", layers->count);
    }

    if (!sn_finite3(direction) || !(sn_length(direction) > 0) ||
        !sn_finite3(sn_load3(layers->start))) {
        return sn_fail(voxels->context, SINEW_INVALID_ARGUMENT,
                       "the layers' direction must be finite and not zero");
    }

    // Each layer.
    paint_job job = {.voxels = voxels, .layers = layers, .tolerance = border_tolerance(voxels)};
    job.direction = sn_normalize(direction);
    for (int32_t i = 0; i < layers->count; i++) {
        if (!(layers->thickness[i] > 0) || !isfinite(layers->thickness[i])) {
            return sn_fail(voxels->context, SINEW_INVALID_ARGUMENT,
                           "layer %d is %g m thick; it must be above 0", i, layers->thickness[i]);
        }

        if (layers->labels[i] < 1 || layers->labels[i] >= LABELS) {
            return sn_fail(voxels->context, SINEW_INVALID_ARGUMENT,
                           "layer %d has label %d; labels are in [1, 65535]", i, layers->labels[i]);
        }

        job.total += layers->thickness[i];
    }

    sn_parallel_for(voxels->context, voxels->count, CHUNK, layer_range, &job);
    return SINEW_OK;
}

// Allocates an array of factors at its first use.
static sinew_status ensure_factors(sinew_voxels *voxels, double **factors) {
    if (*factors) {
        return SINEW_OK;
    }

    double *made = SN_PUSH(&voxels->arena, double, voxels->count);
    if (!made) {
        voxels->arena.failed = false; // the grid itself is whole
        return SINEW_OUT_OF_MEMORY;
    }

    for (int32_t v = 0; v < voxels->count; v++) {
        made[v] = 1;
    }

    *factors = made;
    return SINEW_OK;
}

sinew_status sinew_voxels_apply_gradient(sinew_voxels *voxels, const sinew_gradient_def *gradient) {
    SN_NEED(NULL, voxels && gradient);

    sn_vec3 start = sn_load3(gradient->start);
    sn_vec3 along = sn_sub(sn_load3(gradient->end), start);
    double length2 = sn_dot(along, along);

    if (!isfinite(length2) || !(length2 > 0)) {
        return sn_fail(voxels->context, SINEW_INVALID_ARGUMENT,
                       "a gradient from (%g, %g, %g) m to (%g, %g, %g) m; it needs two different, "
                       "finite points",
                       start.x, start.y, start.z, gradient->end[0], gradient->end[1],
                       gradient->end[2]);
    }

    if (!(gradient->first > 0) || !(gradient->last > 0) || !isfinite(gradient->first) ||
        !isfinite(gradient->last)) {
        return sn_fail(voxels->context, SINEW_INVALID_ARGUMENT,
                       "stiffness factors %g and %g; both must be above 0", gradient->first,
                       gradient->last);
    }

    SN_TRY(ensure_factors(voxels, &voxels->stiffness));

    // Interpolate along the line, linearly or geometrically, and clamp at its ends.
    for (int32_t v = 0; v < voxels->count; v++) {
        double t = sn_dot(along, sn_sub(sn_voxel_center(voxels, v), start)) / length2;
        t = fmin(fmax(t, 0), 1);
        voxels->stiffness[v] *= gradient->geometric
                                    ? gradient->first * pow(gradient->last / gradient->first, t)
                                    : gradient->first + t * (gradient->last - gradient->first);
    }

    return SINEW_OK;
}

static sinew_status set_factors(sinew_voxels *voxels, const char *name, const double *from,
                                double **to) {
    for (int32_t v = 0; v < voxels->count; v++) {
        if (!(from[v] > 0) || !isfinite(from[v])) {
            return sn_fail(voxels->context, SINEW_INVALID_ARGUMENT,
                           "%s factor %d is %g; it must be above 0", name, v, from[v]);
        }
    }

    SN_TRY(ensure_factors(voxels, to));
    for (int32_t v = 0; v < voxels->count; v++) {
        (*to)[v] = from[v];
    }

    return SINEW_OK;
}

sinew_status sinew_voxels_set_stiffness(sinew_voxels *voxels, const double *factors) {
    SN_NEED(NULL, voxels && factors);
    return set_factors(voxels, "stiffness", factors, &voxels->stiffness);
}

sinew_status sinew_voxels_set_density(sinew_voxels *voxels, const double *factors) {
    SN_NEED(NULL, voxels && factors);
    return set_factors(voxels, "density", factors, &voxels->density);
}

static void add_voxel(sinew_label_statistics *s, const sinew_voxels *voxels, int32_t v) {
    double center[3];
    double factor = sn_voxel_stiffness(voxels, v);

    sn_store3(center, sn_voxel_center(voxels, v));
    for (int a = 0; a < 3; a++) {
        double low = center[a] - 0.5 * voxels->spacing[a];
        double high = center[a] + 0.5 * voxels->spacing[a];
        s->lower[a] = s->voxel_count ? fmin(s->lower[a], low) : low;
        s->upper[a] = s->voxel_count ? fmax(s->upper[a], high) : high;
        s->center[a] += center[a];
    }

    s->stiffness_range[0] = s->voxel_count ? fmin(s->stiffness_range[0], factor) : factor;
    s->stiffness_range[1] = s->voxel_count ? fmax(s->stiffness_range[1], factor) : factor;
    s->volume += sn_voxel_volume(voxels, v);
    s->voxel_count++;
}

static void compute_statistics(const sinew_voxels *voxels, const int32_t *parts,
                               sinew_label_statistics *by_label) {
    int32_t known_parts = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        sinew_label_statistics *s = &by_label[voxels->label[v]];
        add_voxel(s, voxels, v);
        if (parts[v] == known_parts) { // parts are numbered by their first voxel
            s->part_count++;
            known_parts++;
        }
    }

    // Turn sums into means.
    for (int32_t label = 0; label < LABELS; label++) {
        sinew_label_statistics *s = &by_label[label];
        if (!s->voxel_count) {
            continue;
        }

        s->label = label;
        for (int a = 0; a < 3; a++) {
            s->center[a] /= s->voxel_count;
        }
    }
}

sinew_status sinew_voxels_compute_parts(const sinew_voxels *voxels, int32_t *parts,
                                        int32_t *count) {
    SN_NEED(NULL, voxels && parts && count);
    sn_arena arena = sn_arena_create(voxels->context);
    int32_t *found = NULL;
    sinew_status status = sn_voxel_parts(voxels, &arena, NULL, &found, count);
    if (status == SINEW_OK) {
        memcpy(parts, found, (size_t)voxels->count * sizeof *parts);
    }
    sn_arena_destroy(&arena);
    return status;
}

sinew_status sinew_voxels_compute_statistics(const sinew_voxels *voxels,
                                             sinew_label_statistics *statistics, int32_t capacity,
                                             int32_t *count) {
    SN_NEED(NULL, voxels && count);

    sn_arena arena = sn_arena_create(voxels->context);
    sinew_label_statistics *by_label = SN_PUSH(&arena, sinew_label_statistics, LABELS);
    uint64_t *key = SN_RESERVE(&arena, uint64_t, voxels->count);
    int32_t *parts = NULL, part_count = 0;
    sinew_status status = sn_arena_status(&arena);

    // Parts of one label.
    if (status == SINEW_OK) {
        for (int32_t v = 0; v < voxels->count; v++) {
            key[v] = voxels->label[v];
        }
        status = sn_voxel_parts(voxels, &arena, key, &parts, &part_count);
    }

    // List the labels in use.
    if (status == SINEW_OK) {
        compute_statistics(voxels, parts, by_label);
        *count = 0;
        for (int32_t label = 0; label < LABELS; label++) {
            if (!by_label[label].voxel_count) {
                continue;
            }
            if (*count < capacity) {
                statistics[*count] = by_label[label];
            }

            (*count)++;
        }
    }

    sn_arena_destroy(&arena);
    return status;
}
