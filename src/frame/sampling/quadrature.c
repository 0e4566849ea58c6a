// Quadrature points of region samples; sampling.h describes the method. In: the samples and their
// voxels. Out: points with positive volumes, and the same points as samples.
//
// Regions are independent of each other and are processed in parallel, BATCH at a time.
#include "frame/sampling/sampling.h"

#include "frame/sampling/samples_internal.h"

#include "base/threads.h"
#include "geom/voxel/voxel.h"
#include "math/eigen3.h"

#include <string.h>

enum { BATCH = 8, OCTAHEDRON = 6 };

// The workspace for the points of one region.
typedef struct workspace {
    double *centers, *parts; // of its voxels: positions and volumes
    double *positions, *volumes, *work;
    int32_t *chosen;
    int32_t count; // points of the region, in positions and volumes
} workspace;

typedef struct quadrature_job {
    const sn_shape *shape;
    const sn_frame_samples *samples;
    int32_t first; // the batch's first region
    workspace *spaces;
} quadrature_job;

// The covariance of a region's voxels, as boxes that count by their volumes: its square root and
// the inverse of that.
typedef struct spread {
    sn_mat3 root, inverse;
} spread;

static spread measure_spread(const workspace *space, int32_t count, sn_vec3 center, double volume,
                             const double h[3]) {
    sn_mat3 C = {{{h[0] * h[0] / 12, 0, 0}, {0, h[1] * h[1] / 12, 0}, {0, 0, h[2] * h[2] / 12}}};
    sn_mat3 V;
    double values[3];

    for (int32_t i = 0; i < count; i++) {
        sn_vec3 d = sn_sub(sn_load3(sn_at3(space->centers, i)), center);
        C = sn_mat3_add(C, sn_mat3_scale(space->parts[i] / volume, sn_outer(d, d)));
    }

    spread out = {{{{0}}}, {{{0}}}};
    sn_eigen3(values, &V, C);
    for (int k = 0; k < 3; k++) {
        sn_vec3 v = sn_mat3_column(V, k);
        double length = sqrt(values[k]);
        out.root = sn_mat3_add(out.root, sn_mat3_scale(length, sn_outer(v, v)));
        out.inverse = sn_mat3_add(out.inverse, sn_mat3_scale(1 / length, sn_outer(v, v)));
    }

    return out;
}

// Returns the mean product of the three coordinates, scaled by the spread.
static double measure_skew(const workspace *space, int32_t count, sn_vec3 center, double volume,
                           const spread *spread) {
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        sn_vec3 d =
            sn_mat3_apply(spread->inverse, sn_sub(sn_load3(sn_at3(space->centers, i)), center));
        sum += space->parts[i] * d.x * d.y * d.z;
    }

    return sum / volume;
}

static void put_point(workspace *space, sn_vec3 position, double volume) {
    sn_store3(sn_at3(space->positions, space->count), position);
    space->volumes[space->count++] = volume;
}

// Places points at four corners of the cube, those whose coordinates have a product of the given
// sign.
static void place_tetrahedron(workspace *space, const spread *spread, sn_vec3 center, double volume,
                              double sign) {
    static const double corners[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    for (int k = 0; k < 4; k++) {
        put_point(space, sn_madd(center, sign, sn_mat3_apply(spread->root, sn_load3(corners[k]))),
                  volume / 4);
    }
}

// Places two points on each axis.
static void place_octahedron(workspace *space, const spread *spread, sn_vec3 center,
                             double volume) {
    for (int k = 0; k < 3; k++) {
        sn_vec3 d = sn_scale(sqrt(3), sn_mat3_column(spread->root, k));
        for (int side = -1; side <= 1; side += 2) {
            put_point(space, sn_madd(center, side, d), volume / OCTAHEDRON);
        }
    }
}

// Places points that have the volume, centroid and covariance of the voxels.
static void place_second_degree(workspace *space, int32_t count, sn_vec3 center, double volume,
                                const double h[3]) {
    spread spread = measure_spread(space, count, center, volume, h);
    double skew = measure_skew(space, count, center, volume, &spread);

    space->count = 0;
    if (fabs(skew) > 1e-6) {
        place_tetrahedron(space, &spread, center, volume, skew > 0 ? 1 : -1);
    } else {
        place_octahedron(space, &spread, center, volume);
    }
}

// Places the fewer points of quadrature_fit.c, if they exist.
static bool place_fitted(workspace *space, int32_t count, sn_vec3 center, double volume,
                         const double h[3]) {
    spread spread = measure_spread(space, count, center, volume, h);
    sn_fit_input input = {.centers = space->centers,
                          .parts = space->parts,
                          .box = h,
                          .count = count,
                          .volume = volume,
                          .center = center,
                          .root = &spread.root};

    space->count = sn_fit_points(&input, space->positions, space->volumes, space->work);
    return space->count > 0;
}

// Chooses voxels that have the moments of all, and then points of these.
static void place_chosen(workspace *space, int32_t degree, int32_t count, const double h[3]) {
    sn_gauss gauss = sn_gauss_points(degree);
    int32_t g = gauss.count;
    int32_t voxels = sn_select_points(degree, space->centers, count, h, space->chosen, space->parts,
                                      space->work);

    space->count = 0;
    for (int32_t i = 0; i < voxels; i++) {
        sn_vec3 center = sn_load3(sn_at3(space->centers, space->chosen[i]));
        for (int32_t k = 0; k < g * g * g; k++) {
            const int32_t at[3] = {k % g, k / g % g, k / (g * g)};
            sn_vec3 d =
                sn_v3(0.5 * h[0] * gauss.position[at[0]], 0.5 * h[1] * gauss.position[at[1]],
                      0.5 * h[2] * gauss.position[at[2]]);
            put_point(space, sn_add(center, d),
                      space->parts[i] * gauss.weight[at[0]] * gauss.weight[at[1]] *
                          gauss.weight[at[2]]);
        }
    }

    // Indices ascend, so no position is overwritten before it is read.
    space->count = sn_select_points(degree, space->positions, space->count, NULL, space->chosen,
                                    space->volumes, space->work);
    for (int32_t i = 0; i < space->count; i++) {
        memmove(sn_at3(space->positions, i), sn_at3(space->positions, space->chosen[i]),
                3 * sizeof(double));
    }
}

static void place_points(const quadrature_job *job, int32_t s, workspace *space) {
    const sn_frame_samples *samples = job->samples;
    const sinew_voxels *voxels = job->shape->voxels;
    int32_t first = samples->voxel_start[s];
    int32_t count = samples->voxel_start[s + 1] - first;
    sn_vec3 center = sn_load3(sn_at3(samples->position, s));

    space->count = 0;
    if (samples->degree < 2) {
        put_point(space, center, samples->volume[s]);
        return;
    }

    for (int32_t i = 0; i < count; i++) {
        int32_t v = samples->voxel[first + i];
        sn_store3(sn_at3(space->centers, i), sn_voxel_center(voxels, v));
        space->parts[i] = sn_voxel_volume(voxels, v);
    }

    if (samples->degree == 2) {
        place_second_degree(space, count, center, samples->volume[s], voxels->spacing);
        return;
    }

    if (samples->degree == SN_FIT_DEGREE &&
        place_fitted(space, count, center, samples->volume[s], voxels->spacing)) {
        return;
    }
    place_chosen(space, samples->degree, count, voxels->spacing);
}

static void place_batch(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const quadrature_job *job = data;
    for (int32_t i = begin; i < end; i++) {
        place_points(job, job->first + i, &job->spaces[i]);
    }
}

// Points in one voxel, and the most that a region can have in the end.
static int32_t points_of_voxel(int32_t degree) {
    int32_t g = sn_gauss_points(degree).count;
    return g * g * g;
}

static int32_t bound_points(const sn_frame_samples *samples) {
    int32_t degree = samples->degree;
    return degree < 2    ? 1
           : degree == 2 ? OCTAHEDRON
                         : (degree + 1) * (degree + 2) * (degree + 3) / 6;
}

static sinew_status push_spaces(sn_arena *arena, const sn_frame_samples *samples,
                                workspace *spaces) {
    int32_t most = 1;
    for (int32_t s = 0; s < samples->count; s++) {
        int32_t count = samples->voxel_start[s + 1] - samples->voxel_start[s];
        most = count > most ? count : most;
    }

    // The points of as many voxels as a first selection leaves.
    int32_t kept = bound_points(samples);
    int32_t points = (most < kept ? most : kept) * points_of_voxel(samples->degree);
    if (points < SN_FIT_POINTS) {
        points = SN_FIT_POINTS;
    }

    size_t work = samples->degree > 2 ? sn_select_work(samples->degree) : 0;
    if (samples->degree == SN_FIT_DEGREE && work < SN_FIT_WORK) {
        work = SN_FIT_WORK;
    }

    for (int i = 0; i < BATCH; i++) {
        spaces[i].centers = SN_PUSH(arena, double, 3 * (size_t)most);
        spaces[i].parts = SN_PUSH(arena, double, most);
        spaces[i].positions = SN_PUSH(arena, double, 3 * (size_t)points);
        spaces[i].volumes = SN_PUSH(arena, double, points);
        spaces[i].chosen = SN_PUSH(arena, int32_t, most > points ? most : points);
        spaces[i].work = SN_PUSH(arena, double, work);
    }

    return sn_arena_status(arena);
}

sinew_status sn_quadrature_create(sn_arena *arena, const sn_shape *shape,
                                  const sn_frame_samples *samples, sn_quadrature *quadrature) {
    // Room for the largest number of points that the degree can need.
    size_t room = (size_t)samples->count * (size_t)bound_points(samples);
    *quadrature = (sn_quadrature){.start = SN_PUSH(arena, int32_t, samples->count + 1),
                                  .position = SN_PUSH(arena, double, 3 * room),
                                  .volume = SN_PUSH(arena, double, room)};
    SN_TRY(sn_arena_status(arena));

    // Place the points of a batch of samples in parallel, and append them in order.
    workspace spaces[BATCH];
    sn_arena scratch = sn_arena_create(shape->context);
    sinew_status status = push_spaces(&scratch, samples, spaces);

    if (status == SINEW_OK) {
        for (int32_t first = 0; first < samples->count; first += BATCH) {
            int32_t count = samples->count - first < BATCH ? samples->count - first : BATCH;
            quadrature_job job = {shape, samples, first, spaces};

            sn_parallel_for(shape->context, count, 1, place_batch, &job);
            for (int32_t i = 0; i < count; i++) {
                size_t at = (size_t)quadrature->count;
                size_t points = (size_t)spaces[i].count;
                SN_ASSERT(at + points <= room);
                memcpy(quadrature->position + 3 * at, spaces[i].positions,
                       3 * points * sizeof(double));
                memcpy(quadrature->volume + at, spaces[i].volumes, points * sizeof(double));
                quadrature->count += spaces[i].count;
                quadrature->start[first + i + 1] = quadrature->count;
            }
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

void sn_quadrature_flatten(const sn_frame_samples *samples, sn_quadrature *quadrature) {
    for (int32_t s = 0; s < samples->count; s++) {
        int32_t first = samples->start[s];
        if (samples->start[s + 1] - first != 2) {
            continue;
        }

        sn_vec3 gradient = sn_load3(sn_at3(samples->gradient, first));
        double square = sn_dot(gradient, gradient);
        if (!(square > 0)) {
            continue;
        }

        sn_vec3 center = sn_load3(sn_at3(samples->position, s));
        for (int32_t p = quadrature->start[s]; p < quadrature->start[s + 1]; p++) {
            sn_vec3 X = sn_load3(sn_at3(quadrature->position, p));
            double along = sn_dot(sn_sub(X, center), gradient) / square;
            sn_store3(sn_at3(quadrature->position, p), sn_madd(X, -along, gradient));
        }
    }
}

static sinew_status push_points(const sn_quadrature *quadrature, const sn_frame_samples *samples,
                                sn_frame_samples *points) {
    sn_arena *arena = &points->arena;
    size_t count = (size_t)quadrature->count;
    int64_t entries = 0;

    // Every point of a sample has the sample's nodes.
    for (int32_t s = 0; s < samples->count; s++) {
        int64_t nodes = samples->start[s + 1] - samples->start[s];
        entries += nodes * (quadrature->start[s + 1] - quadrature->start[s]);
    }

    if (entries > INT32_MAX / 3) {
        return sn_fail(arena->context, SINEW_OUT_OF_MEMORY, "%d points have more than %d weights",
                       quadrature->count, INT32_MAX / 3);
    }

    // Positions and volumes are shared with the quadrature.
    points->count = quadrature->count;
    points->position = quadrature->position;
    points->volume = quadrature->volume;
    points->label = SN_PUSH(arena, int32_t, count);
    points->region = SN_PUSH(arena, int32_t, count);
    points->stiffness = SN_PUSH(arena, double, count);
    points->start = SN_PUSH(arena, int32_t, count + 1);
    points->node = SN_PUSH(arena, int32_t, entries);
    points->weight = SN_PUSH(arena, double, entries);
    points->gradient = SN_PUSH(arena, double, 3 * entries);

    return sn_arena_status(arena);
}

static void fill_points(const sn_quadrature *quadrature, const sn_frame_samples *samples,
                        sn_frame_samples *points) {
    for (int32_t s = 0, next = 0; s < samples->count; s++) {
        sn_vec3 center = sn_load3(sn_at3(samples->position, s));
        for (int32_t p = quadrature->start[s]; p < quadrature->start[s + 1]; p++) {
            sn_vec3 d = sn_sub(sn_load3(sn_at3(points->position, p)), center);
            points->label[p] = samples->label[s];
            points->region[p] = s;
            points->stiffness[p] = samples->stiffness[s];

            for (int32_t k = samples->start[s]; k < samples->start[s + 1]; k++, next++) {
                sn_vec3 gradient = sn_load3(sn_at3(samples->gradient, k));
                points->node[next] = samples->node[k];
                points->weight[next] = samples->weight[k] + sn_dot(gradient, d);
                sn_store3(sn_at3(points->gradient, next), gradient);
            }

            points->start[p + 1] = next;
        }
    }
}

sinew_status sn_quadrature_apply(const sn_quadrature *quadrature, const sn_frame_samples *samples,
                                 sn_frame_samples **points) {
    sn_arena arena = sn_arena_create(samples->arena.context);
    sn_frame_samples *made = SN_PUSH(&arena, sn_frame_samples, 1);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    *made = (sn_frame_samples){.arena = arena, .report = samples->report};
    made->report.point_count = quadrature->count;

    sinew_status status = push_points(quadrature, samples, made);
    if (status == SINEW_OK) {
        fill_points(quadrature, samples, made);
        status = sn_samples_sort(made);
    }

    if (status != SINEW_OK) {
        sn_samples_destroy(made);
        return status;
    }

    *points = made;
    return SINEW_OK;
}
