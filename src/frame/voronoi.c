// Voronoi cells of the nodes: a common front tells roughly where each node's front may stop, then each node runs on its own as
// far as its cell and a few voxels more, and the two smallest distances are kept.
#include "frame/voronoi.h"

#include "base/threads.h"
#include "frame/table.h"

enum { CHUNK = 4096, MOST_KEPT = 4000000 };

void sn_seed_node(const sn_shape *shape, sn_front *front, int32_t node, int32_t source) {
    sn_vec3 p = sn_load3(shape->node_position + 3 * (size_t)node);
    bool started = sn_front_seed_point(front, p, SN_FRONT_SEED_RADIUS, 2 * sn_outside_tolerance(shape->voxels), source);
    SN_ASSERT(started); // the node is inside, or was moved in
    (void)started;
}

static double border_band(const sn_metric *metric, int32_t voxel) {
    const sinew_voxels *voxels = metric->voxels;
    double cost = 1;
    if (metric->cost) {
        cost = metric->cost[voxel];
        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            int32_t u = voxels->neighbor[voxel][d];
            if (u >= 0) cost = fmax(cost, metric->cost[u]);
        }
    }
    return 3 * cost * fmax(voxels->spacing[0], fmax(voxels->spacing[1], voxels->spacing[2]));
}

typedef struct band_job {
    const sn_metric *metric;
    float *band;
} band_job;

static void find_bands(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    band_job *job = data;
    for (int32_t v = begin; v < end; v++) job->band[v] = (float)border_band(job->metric, v);
}

typedef struct cell_job {
    const sn_shape *shape;
    sn_front **fronts;
    int32_t first_node;
    const double *common; // distance from the nearest node, roughly
    const float *band;
} cell_job;

static bool stay_near_cell(void *data, sn_front *front, int32_t voxel, double distance) {
    const cell_job *job = data;
    (void)front;
    return distance <= job->common[voxel] + (double)job->band[voxel];
}

static void run_cells(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    cell_job *job = data;
    for (int32_t i = begin; i < end; i++) {
        sn_front_reset(job->fronts[i]);
        sn_seed_node(job->shape, job->fronts[i], job->first_node + i, 0);
        sn_front_run(job->fronts[i], INFINITY, stay_near_cell, job);
    }
}

static sinew_status keep_cell(const sn_front *front, sn_arena *arena, sn_cell *cell) {
    cell->count = front->accepted_count;
    cell->voxel = SN_PUSH(arena, int32_t, cell->count);
    cell->distance = SN_PUSH(arena, double, cell->count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t k = 0; k < cell->count; k++) {
        cell->voxel[k] = front->accepted[k];
        cell->distance[k] = front->distance[front->accepted[k]];
    }
    return SINEW_OK;
}

static void keep_smallest(const sn_front *front, int32_t node, sn_voronoi *voronoi) {
    for (int32_t k = 0; k < front->accepted_count; k++) {
        int32_t v = front->accepted[k];
        double distance = front->distance[v];
        if (distance < voronoi->first[v]) {
            voronoi->second[v] = voronoi->first[v];
            voronoi->first[v] = distance;
            voronoi->nearest[v] = (uint16_t)node;
        } else if (distance < voronoi->second[v]) {
            voronoi->second[v] = distance;
        }
    }
}

sinew_status sn_find_voronoi(const sn_shape *shape, sn_front **fronts, int32_t front_count, sn_arena *arena,
                             sn_voronoi *voronoi) {
    int32_t voxels = shape->voxels->count;
    voronoi->first = SN_PUSH(arena, double, voxels);
    voronoi->second = SN_PUSH(arena, double, voxels);
    voronoi->nearest = SN_PUSH(arena, uint16_t, voxels);
    voronoi->cells = SN_PUSH(arena, sn_cell, shape->node_count);
    voronoi->band = SN_PUSH(arena, float, voxels);
    double *common = SN_PUSH(arena, double, voxels);
    SN_TRY(sn_arena_status(arena));
    band_job bands = {&shape->metric, voronoi->band};
    sn_parallel_for(shape->context, voxels, CHUNK, find_bands, &bands);
    sn_front *front = fronts[0];
    sn_front_reset(front);
    for (int32_t i = 0; i < shape->node_count; i++) sn_seed_node(shape, front, i, i);
    sn_front_run(front, INFINITY, NULL, NULL);
    for (int32_t v = 0; v < voxels; v++) {
        common[v] = front->distance[v];
        voronoi->first[v] = voronoi->second[v] = INFINITY;
    }
    for (int32_t first = 0; first < shape->node_count; first += front_count) {
        int32_t count = shape->node_count - first < front_count ? shape->node_count - first : front_count;
        cell_job job = {shape, fronts, first, common, voronoi->band};
        sn_parallel_for(shape->context, count, 1, run_cells, &job);
        for (int32_t i = 0; i < count; i++) {
            keep_smallest(fronts[i], first + i, voronoi);
            if (voxels <= MOST_KEPT) SN_TRY(keep_cell(fronts[i], arena, &voronoi->cells[first + i]));
        }
    }
    return SINEW_OK;
}
