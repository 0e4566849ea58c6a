// Samples from a partition of the voxels: positions, volumes, weights with gradients, moments. In:
// the shape functions and the sampling definition. Samples are independent of each other and are
// computed in parallel, a batch at a time; their weights are then packed. Cost: one pass over the
// voxels and their weights, after the partition.
#include "frame/sampling/samples_internal.h"

#include "base/threads.h"

#include <string.h>

// Weights of harmonic nodes below this, one voxel away from what a node owns, cause a warning.
static const double STEEP = 0.7;

enum { BATCH = 256 };

sinew_sampling_def sinew_default_sampling_def(void) {
    return (sinew_sampling_def){.filled = SN_DEF_FILLED,
                                .kind = SINEW_SAMPLING_AUTO,
                                .fit_error = 0.08,
                                .energy_error = 0.003,
                                .degree = -1,
                                .by_label = true};
}

int32_t sn_monomials(int32_t degree, int8_t exponents[SN_MAX_MONOMIALS][3]) {
    SN_ASSERT(degree >= 0 && degree <= SN_MAX_DEGREE);
    int32_t count = 0;
    for (int d = 0; d <= degree; d++) {
        for (int x = d; x >= 0; x--) {
            for (int y = d - x; y >= 0; y--) {
                exponents[count][0] = (int8_t)x;
                exponents[count][1] = (int8_t)y;
                exponents[count][2] = (int8_t)(d - x - y);
                count++;
            }
        }
    }

    return count;
}

void sn_compute_monomials(double *values, int32_t degree, sn_vec3 d) {
    values[0] = 1;

    // From the monomials of one degree less: all of them times x, those without x times y, the
    // last times z.
    const double *before = values;

    for (int32_t k = 1; k <= degree; k++) {
        int32_t count = k * (k + 1) / 2;
        double *next = values + k * (k + 1) * (k + 2) / 6;
        for (int32_t i = 0; i < count; i++) {
            next[i] = d.x * before[i];
        }

        for (int32_t i = 0; i < k; i++) {
            next[count + i] = d.y * before[count - k + i];
        }

        next[count + k] = d.z * before[count - 1];
        before = next;
    }
}

double sn_sum_fill(const sinew_voxels *grid, const int32_t *voxels, int32_t count) {
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += sn_voxel_fill(grid, voxels[i]);
    }
    return sum;
}

void sn_average_sample(const sn_shape *shape, const int32_t *voxels, int32_t count,
                       sn_shape_point *result) {
    sn_shape_point at;
    double total = sn_sum_fill(shape->voxels, voxels, count);

    result->count = 0;
    for (int32_t i = 0; i < count; i++) {
        double share = sn_voxel_fill(shape->voxels, voxels[i]) / total;
        sn_shape_at_voxel(shape, voxels[i], &at);

        for (int32_t k = 0, place = 0; k < at.count; k++) {
            place = sn_point_entry_from(result, place, at.node[k]);
            result->weight[place] += share * at.weight[k];
            for (int a = 0; a < 3; a++) {
                result->gradient[place][a] += share * at.gradient[k][a];
            }
        }
    }
}

typedef struct sample_job {
    const sn_shape *shape;
    const sinew_sampling_def *def;
    sn_frame_samples *samples;
    sn_fit *fits;
    bool weighted;          // otherwise only what the voxels are
    int32_t first;          // the batch's first sample
    sn_shape_point *points; // the weights of the batch's samples
} sample_job;

// Computes position, volume, mass, label and stiffness of a sample.
static void measure(const sn_shape *shape, const int32_t *voxels, int32_t count,
                    sn_frame_samples *samples, int32_t s) {
    const sinew_voxels *grid = shape->voxels;
    sn_vec3 sum = sn_v3(0, 0, 0);
    sn_vec3 first = sn_voxel_center(grid, voxels[0]);
    double mass = 0, young = 0;
    double total = sn_sum_fill(grid, voxels, count);

    // The most common label, by majority vote: exact if more than half of the voxels have it.
    int32_t label = 0, same = 0;

    for (int32_t i = 0; i < count; i++) {
        uint16_t own = grid->label[voxels[i]];
        double fill = sn_voxel_fill(grid, voxels[i]);
        sum = sn_madd(sum, fill, sn_sub(sn_voxel_center(grid, voxels[i]), first));
        mass += sn_shape_density(shape, voxels[i]) * fill * grid->volume;
        young += fill * shape->young[own] * sn_voxel_stiffness(grid, voxels[i]);

        if (same == 0) {
            label = own;
        }

        same += own == label ? 1 : -1;
    }

    sn_store3(sn_at3(samples->position, s), sn_madd(first, 1 / total, sum));
    samples->volume[s] = total * grid->volume;
    samples->mass[s] = mass;
    samples->label[s] = label;
    samples->stiffness[s] = young / total / shape->young[label];
}

// Computes the integrals of (t / h)^k over [-1/2, 1/2], k = 0 .. degree: those of a voxel about its
// centre, along one axis of the grid.
static void integrate_axis(double *integral, int32_t degree) {
    double power = 1;
    for (int32_t k = 0; k <= degree; k++) {
        integral[k] = k % 2 ? 0 : power / (k + 1);
        power *= k % 2 ? 0.25 : 1;
    }
}

// Adds the integrals of the monomials over a box with edges h about `d`, times a volume.
static void add_box(double *moment, int32_t degree, sn_vec3 d, const double h[3], double volume) {
    double own[SN_MAX_DEGREE + 1], axis[3][SN_MAX_DEGREE + 1];
    const double center[3] = {d.x, d.y, d.z};

    // (c + t)^k = sum over j of (k over j) c^(k - j) t^j
    integrate_axis(own, degree);
    for (int a = 0; a < 3; a++) {
        for (int32_t k = 0; k <= degree; k++) {
            double binomial = 1, power = 1, sum = 0;
            for (int32_t j = k; j >= 0; j--) {
                sum += binomial * power * own[j] * pow(h[a], j);
                power *= center[a];
                binomial *= (double)j / (k - j + 1);
            }

            axis[a][k] = sum;
        }
    }

    int32_t count = 0;
    for (int32_t k = 0; k <= degree; k++) {
        for (int32_t x = k; x >= 0; x--) {
            for (int32_t y = k - x; y >= 0; y--) {
                moment[count++] += volume * axis[0][x] * axis[1][y] * axis[2][k - x - y];
            }
        }
    }
}

static void integrate_moments(const sn_shape *shape, const int32_t *voxels, int32_t count,
                              sn_frame_samples *samples, int32_t s) {
    double *moment = samples->moment + (size_t)s * (size_t)samples->moment_count;
    sn_vec3 center = sn_load3(sn_at3(samples->position, s));

    for (int32_t i = 0; i < count; i++) {
        add_box(moment, samples->degree, sn_sub(sn_voxel_center(shape->voxels, voxels[i]), center),
                shape->voxels->spacing, sn_voxel_volume(shape->voxels, voxels[i]));
    }
}

static void make_samples(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    sample_job *job = data;
    sn_frame_samples *samples = job->samples;

    for (int32_t i = begin; i < end; i++) {
        int32_t s = job->first + i;
        int32_t count = samples->voxel_start[s + 1] - samples->voxel_start[s];
        const int32_t *voxels = samples->voxel + samples->voxel_start[s];

        SN_ASSERT(count > 0);
        measure(job->shape, voxels, count, samples, s);
        integrate_moments(job->shape, voxels, count, samples, s);

        if (!job->weighted) {
            job->points[i].count = 0;
        } else if (job->def->kind == SINEW_SAMPLING_MIDPOINT) {
            sn_average_sample(job->shape, voxels, count, &job->points[i]);
        } else {
            sn_vec3 center = sn_load3(sn_at3(samples->position, s));
            sn_fit_sample(job->shape, voxels, count, center, &job->points[i], &job->fits[s]);
        }
    }
}

// The weights of all samples while they are computed.
typedef struct weight_lists {
    int32_t *node;
    double (*weight)[4]; // weight and gradient
    size_t node_capacity, weight_capacity;
    int32_t count;
} weight_lists;

static sinew_status append_weights(sinew_context *context, const sn_shape_point *point,
                                   weight_lists *lists) {
    size_t used = (size_t)lists->count;
    size_t needed = used + (size_t)point->count;
    if (needed > INT32_MAX / 3) {
        return sn_fail(context, SINEW_OUT_OF_MEMORY, "the samples have more than %d weights",
                       INT32_MAX / 3);
    }

    // Both arrays grow together.
    void *node = lists->node;
    void *weight = lists->weight;
    sinew_status status =
        sn_grow(context, &node, &lists->node_capacity, used, needed, sizeof *lists->node);

    if (status == SINEW_OK) {
        status =
            sn_grow(context, &weight, &lists->weight_capacity, used, needed, sizeof *lists->weight);
    }

    lists->node = node;
    lists->weight = weight;
    SN_TRY(status);

    // Nodes without weight and slope have no effect on the sample.
    for (int32_t k = 0; k < point->count; k++) {
        const double *g = point->gradient[k];
        if (point->weight[k] == 0 && g[0] == 0 && g[1] == 0 && g[2] == 0) {
            continue;
        }

        lists->node[lists->count] = point->node[k];
        double *entry = lists->weight[lists->count++];

        entry[0] = point->weight[k];

        for (int a = 0; a < 3; a++) {
            entry[1 + a] = g[a];
        }
    }

    return SINEW_OK;
}

static sinew_status make_weights(sample_job *job, sn_arena *scratch, weight_lists *lists) {
    sn_frame_samples *samples = job->samples;
    int32_t batch = samples->count < BATCH ? samples->count : BATCH;

    job->points = SN_RESERVE(scratch, sn_shape_point, batch);
    SN_TRY(sn_arena_status(scratch));
    for (job->first = 0; job->first < samples->count; job->first += batch) {
        int32_t count = samples->count - job->first < batch ? samples->count - job->first : batch;
        sn_parallel_for(job->shape->context, count, 1, make_samples, job);
        for (int32_t i = 0; i < count; i++) {
            SN_TRY(append_weights(job->shape->context, &job->points[i], lists));
            samples->start[job->first + i + 1] = lists->count;
        }
    }

    return SINEW_OK;
}

static sinew_status pack_weights(const weight_lists *lists, sn_frame_samples *samples) {
    samples->node = SN_PUSH(&samples->arena, int32_t, lists->count);
    samples->weight = SN_PUSH(&samples->arena, double, lists->count);
    samples->gradient = SN_PUSH(&samples->arena, double, 3 * (size_t)lists->count);
    SN_TRY(sn_arena_status(&samples->arena));

    for (int32_t k = 0; k < lists->count; k++) {
        samples->node[k] = lists->node[k];
        samples->weight[k] = lists->weight[k][0];
        for (int a = 0; a < 3; a++) {
            samples->gradient[3 * (size_t)k + (size_t)a] = lists->weight[k][1 + a];
        }
    }

    return SINEW_OK;
}

sinew_status sn_samples_list_voxels(sn_frame_samples *samples, const sn_partition *partition,
                                    int32_t voxel_count) {
    int32_t *start = samples->voxel_start =
        SN_PUSH(&samples->arena, int32_t, (size_t)partition->count + 1);

    samples->voxel = SN_PUSH(&samples->arena, int32_t, voxel_count);
    SN_TRY(sn_arena_status(&samples->arena));

    // A counting sort: how many voxels each sample has, where its list begins, and the lists.
    for (int32_t v = 0; v < voxel_count; v++) {
        start[partition->sample_of[v]]++;
    }

    int32_t sum = 0;
    for (int32_t s = 0; s < partition->count; s++) {
        int32_t count = start[s];
        start[s] = sum;
        sum += count;
    }

    for (int32_t v = 0; v < voxel_count; v++) {
        samples->voxel[start[partition->sample_of[v]]++] = v;
    }

    // Filling a list moved its start to its end, where the next one begins.
    for (int32_t s = partition->count; s > 0; s--) {
        start[s] = start[s - 1];
    }

    start[0] = 0;
    return SINEW_OK;
}

sinew_status sn_samples_sort(sn_frame_samples *samples) {
    sn_arena *arena = &samples->arena;
    samples->order = SN_PUSH(arena, int32_t, samples->count);

    int32_t first[SN_POINT_NODES + 2] = {0};
    SN_TRY(sn_arena_status(arena));
    for (int32_t s = 0; s < samples->count; s++) {
        first[samples->start[s + 1] - samples->start[s] + 1]++;
    }

    for (int32_t k = 0; k <= SN_POINT_NODES; k++) {
        first[k + 1] += first[k];
    }

    for (int32_t s = 0; s < samples->count; s++) {
        samples->order[first[samples->start[s + 1] - samples->start[s]]++] = s;
    }

    return SINEW_OK;
}

static sinew_status push_arrays(sn_frame_samples *samples, int32_t count, int32_t degree) {
    sn_arena *arena = &samples->arena;
    samples->count = count;
    samples->degree = degree;
    samples->moment_count = (degree + 1) * (degree + 2) * (degree + 3) / 6;
    samples->position = SN_PUSH(arena, double, 3 * (size_t)count);
    samples->volume = SN_PUSH(arena, double, count);
    samples->mass = SN_PUSH(arena, double, count);
    samples->label = SN_PUSH(arena, int32_t, count);
    samples->stiffness = SN_PUSH(arena, double, count);
    samples->fit_error = SN_PUSH(arena, double, count);
    samples->moment = SN_PUSH(arena, double, (size_t)count *(size_t)samples->moment_count);
    samples->start = SN_PUSH(arena, int32_t, (size_t)count + 1);

    return sn_arena_status(arena);
}

static void report(sn_frame_samples *samples, const sn_fit *fits) {
    sinew_sampling_report *r = &samples->report;
    r->sample_count = r->point_count = samples->count;

    double absolute = 0;
    int64_t terms = 0;
    for (int32_t s = 0; s < samples->count; s++) {
        int32_t nodes = samples->start[s + 1] - samples->start[s];
        r->volume += samples->volume[s];
        r->mass += samples->mass[s];
        if (nodes > r->most_nodes) {
            r->most_nodes = nodes;
        }

        absolute += fits[s].absolute_error;
        terms += (int64_t)fits[s].voxels * fits[s].nodes;
        samples->fit_error[s] = fits[s].voxels ? sqrt(fits[s].squared_error / fits[s].voxels) : 0;
        r->largest_fit_error = fmax(r->largest_fit_error, samples->fit_error[s]);
    }

    r->mean_fit_error = terms ? absolute / (double)terms : 0;
    r->mean_nodes = (double)samples->start[samples->count] / samples->count;
}

static sinew_status fill_samples(const sn_shape *shape, const sinew_sampling_def *def,
                                 const sn_partition *partition, bool weighted, sn_arena *scratch,
                                 sn_frame_samples *samples) {
    SN_TRY(push_arrays(samples, partition->count,
                       def->kind != SINEW_SAMPLING_REGIONS ? 0
                       : def->degree < 0                   ? 2
                                                           : def->degree));
    SN_TRY(sn_samples_list_voxels(samples, partition, shape->voxels->count));

    sn_fit *fits = SN_PUSH(scratch, sn_fit, partition->count);
    SN_TRY(sn_arena_status(scratch));

    sample_job job = {
        .shape = shape, .def = def, .samples = samples, .fits = fits, .weighted = weighted};
    weight_lists lists = {0};
    sinew_status status = make_weights(&job, scratch, &lists);
    if (status == SINEW_OK) {
        status = pack_weights(&lists, samples);
    }

    sn_release(shape->context, lists.node, lists.node_capacity, sizeof *lists.node);
    sn_release(shape->context, lists.weight, lists.weight_capacity, sizeof *lists.weight);
    SN_TRY(status);
    SN_TRY(sn_samples_sort(samples));
    report(samples, fits);

    return SINEW_OK;
}

sinew_status sn_sampling_check(const sn_shape *shape, const sinew_sampling_def *def) {
    sinew_context *context = shape->context;
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_sampling_def"));
    if (def->kind < SINEW_SAMPLING_MIDPOINT || def->kind > SINEW_SAMPLING_AUTO || def->count < 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "unknown kind of sampling %d, or %d samples", (int)def->kind, def->count);
    }

    if (!(def->fit_error >= 0) || def->degree < -1 || def->degree > SN_MAX_DEGREE) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a fit error of %g (at least 0) and degree %d (-1 to %d)", def->fit_error,
                       def->degree, SN_MAX_DEGREE);
    }

    if (!(def->energy_error > 0 && def->energy_error < 1)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "an energy error of %g; valid is (0, 1)",
                       def->energy_error);
    }

    bool any = def->counts[0] != 0 || def->counts[1] != 0 || def->counts[2] != 0;
    if (any && (def->counts[0] < 1 || def->counts[1] < 1 || def->counts[2] < 1 ||
                def->kind != SINEW_SAMPLING_MIDPOINT)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "%d x %d x %d samples; counts along the axes are at least 1 each, and for "
                       "midpoint sampling only",
                       def->counts[0], def->counts[1], def->counts[2]);
    }

    if (def->kind == SINEW_SAMPLING_POINTS && !sn_shape_is_smooth(shape)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "point samples need spectral weights; choose regions for other weights");
    }

    bool regions = def->kind == SINEW_SAMPLING_REGIONS || def->kind == SINEW_SAMPLING_AUTO;
    if (regions && def->count == 0 && def->fit_error == 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "regions need a requested count or a requested fit error");
    }

    return SINEW_OK;
}

static sinew_status create(const sn_shape *shape, const sinew_sampling_def *def, bool weighted,
                           sn_frame_samples **samples) {
    SN_TRY(sn_sampling_check(shape, def));
    SN_ASSERT(def->kind != SINEW_SAMPLING_POINTS);
    sinew_sampling_def resolved = *def;
    if (def->kind == SINEW_SAMPLING_AUTO) {
        resolved.kind = SINEW_SAMPLING_REGIONS;
    }
    def = &resolved;
    sn_arena scratch = sn_arena_create(shape->context);
    sn_arena arena = sn_arena_create(shape->context);
    sn_frame_samples *made = SN_PUSH(&arena, sn_frame_samples, 1);

    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Divide the voxels, then integrate over each part.
    made->arena = arena;
    sn_partition partition = {0};
    sinew_status status = def->kind == SINEW_SAMPLING_MIDPOINT
                              ? sn_partition_blocks(shape, def, &scratch, &partition)
                              : sn_partition_regions(shape, def, &scratch, &partition);

    if (status == SINEW_OK) {
        status = fill_samples(shape, def, &partition, weighted, &scratch, made);
    }

    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        sn_samples_destroy(made);
        return status;
    }

    *samples = made;
    return SINEW_OK;
}

// Returns the node whose weight is 1 at a voxel, or -1.
static int32_t owner_of(const sn_weight_table *table, int32_t voxel) {
    int64_t first = table->start[voxel];
    return table->start[voxel + 1] == first + 1 ? table->node[first] : -1;
}

// The mean weight of nodes one voxel outside the voxels that they own; 1 if there are none.
static double weight_beside_nodes(const sn_shape *shape) {
    const sn_weight_table *table = &shape->table;
    double sum = 0;
    int32_t count = 0;
    for (int32_t v = 0; v < shape->voxels->count; v++) {
        int32_t node = owner_of(table, v);
        if (node < 0) {
            continue;
        }

        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            int32_t u = shape->voxels->neighbor[v][d];
            if (u < 0 || owner_of(table, u) >= 0) {
                continue;
            }
            count++;
            for (int64_t k = table->start[u]; k < table->start[u + 1]; k++) {
                sum += table->node[k] == node ? table->weight[k] : 0;
            }
        }
    }

    return count > 0 ? sum / count : 1;
}

// Harmonic weights of nodes that own a single voxel fall so fast that regions miss most of their
// strain: ten frames on a bar have a thirtieth of its natural frequencies.
static void warn_of_small_nodes(const sn_shape *shape, const sinew_sampling_def *def) {
    bool regions = def->kind == SINEW_SAMPLING_REGIONS || def->kind == SINEW_SAMPLING_AUTO;
    if (!regions || shape->def.kind != SINEW_WEIGHTS_HARMONIC) {
        return;
    }

    double beside = weight_beside_nodes(shape);
    const double *h = shape->voxels->spacing;
    if (beside < STEEP) {
        sn_log(
            shape->context, SINEW_LOG_WARNING,
            "harmonic weights fall from 1 to %.2g within a voxel of their nodes, which therefore "
            "move without their surroundings, and the solid is far too soft: set node_radius to "
            "several voxels (%.3g m or more), or choose midpoint samples or other weights",
            beside, 3 * fmax(h[0], fmax(h[1], h[2])));
    }
}

sinew_status sn_samples_create(const sn_shape *shape, const sinew_sampling_def *def,
                               sn_frame_samples **samples) {
    warn_of_small_nodes(shape, def);
    return create(shape, def, true, samples);
}

sinew_status sn_samples_create_blocks(const sn_shape *shape, int32_t count,
                                      sn_frame_samples **blocks) {
    sinew_sampling_def def = sinew_default_sampling_def();
    def.kind = SINEW_SAMPLING_MIDPOINT;
    def.count = count;
    return create(shape, &def, false, blocks);
}

void sn_samples_destroy(sn_frame_samples *samples) {
    if (!samples) {
        return;
    }
    sn_arena arena = samples->arena;
    sn_arena_destroy(&arena);
}

// Returns 1 + the node at an index of a sample's list, or 0 beyond its end.
static int32_t node_at(const sn_frame_samples *samples, int32_t sample, int32_t place) {
    int32_t at = samples->start[sample] + place;
    return at < samples->start[sample + 1] ? samples->node[at] + 1 : 0;
}

// Counting sorts by each index of the lists, the last one first.
sinew_status sn_samples_sort_by_nodes(const sn_frame_samples *samples, int32_t node_count,
                                      int32_t *list, int32_t count) {
    sn_arena scratch = sn_arena_create(samples->arena.context);
    int32_t *sorted = SN_PUSH(&scratch, int32_t, count);
    int32_t *starts = SN_PUSH(&scratch, int32_t, node_count + 2);
    int32_t longest = 0;
    sinew_status status = sn_arena_status(&scratch);

    for (int32_t i = 0; i < count; i++) {
        int32_t length = samples->start[list[i] + 1] - samples->start[list[i]];
        longest = length > longest ? length : longest;
    }

    if (status == SINEW_OK) {
        for (int32_t place = longest - 1; place >= 0; place--) {
            // How many samples have each node here, and where their group begins.
            memset(starts, 0, ((size_t)node_count + 2) * sizeof *starts);
            for (int32_t i = 0; i < count; i++) {
                starts[node_at(samples, list[i], place) + 1]++;
            }

            for (int32_t n = 0; n <= node_count; n++) {
                starts[n + 1] += starts[n];
            }

            for (int32_t i = 0; i < count; i++) {
                sorted[starts[node_at(samples, list[i], place)]++] = list[i];
            }

            memcpy(list, sorted, (size_t)count * sizeof *list);
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}
