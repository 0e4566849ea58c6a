// Voronoi cells of the nodes: a common front tells roughly where each node's front may stop, then each node runs on its own as
// far as its cell and a few voxels more, and the two smallest distances are kept.
#include "frame/voronoi.h"

#include "base/threads.h"

enum { CHUNK = 4096 };

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

typedef struct cell_job {
    const sn_shape *shape;
    sn_front **fronts; // of each slot
    sn_voxel_set sets[SN_FIELD_SLOTS];
    sn_voronoi *voronoi;
    double *limit; // how far a front may go at a voxel: the distance from the nearest node, roughly, and the band
} cell_job;

static void begin_near(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    cell_job *job = data;
    const sn_front *common = job->fronts[0];
    for (int32_t v = begin; v < end; v++) {
        float band = (float)border_band(&job->shape->metric, v);
        job->voronoi->near[v] = (sn_near){INFINITY, INFINITY, band, 0};
        job->limit[v] = common->distance[v] + (double)band;
    }
}

static bool stay_near_cell(void *data, sn_front *front, int32_t voxel, double distance) {
    const cell_job *job = data;
    (void)front;
    return distance <= job->limit[voxel];
}

static int32_t compute_cell(void *data, int32_t node, int32_t slot) {
    cell_job *job = data;
    sn_front *front = job->fronts[slot];
    sn_front_reset(front);
    sn_seed_node(job->shape, front, node, 0);
    sn_front_run(front, INFINITY, stay_near_cell, job);
    return front->accepted_count;
}

static void store_cell(void *data, int32_t slot, int32_t *voxels, double *distances) {
    cell_job *job = data;
    sn_store_front(job->fronts[slot], &job->sets[slot], voxels, distances);
}

// The two smallest distances of the chunk's voxels; of equally near nodes the one with the lowest number is the nearest.
static void keep_smallest(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    cell_job *job = data;
    for (int32_t i = 0; i < job->shape->node_count; i++) {
        const sn_node_field *cell = &job->voronoi->cells[i];
        for (int32_t k = sn_field_begin(cell, begin); k < cell->count && cell->voxel[k] < end; k++) {
            sn_near *near = &job->voronoi->near[cell->voxel[k]];
            double distance = cell->value[k];
            if (distance < near->first) {
                near->second = near->first;
                near->first = distance;
                near->nearest = (uint16_t)i;
            } else if (distance < near->second) {
                near->second = distance;
            }
        }
    }
}

static sinew_status find_cells(cell_job *job, int32_t slots, sn_arena *arena, sn_arena *scratch) {
    const sn_shape *shape = job->shape;
    int32_t voxels = shape->voxels->count;
    job->limit = SN_RESERVE(scratch, double, voxels);
    for (int32_t i = 0; i < slots; i++) job->sets[i] = sn_voxel_set_push(scratch, voxels);
    SN_TRY(sn_arena_status(scratch));
    sn_front *common = job->fronts[0];
    sn_front_reset(common);
    for (int32_t i = 0; i < shape->node_count; i++) sn_seed_node(shape, common, i, i);
    sn_front_run(common, INFINITY, NULL, NULL);
    int32_t *order;
    for (int32_t k = 0; k < common->accepted_count; k++) {
        job->voronoi->cells[sn_front_source(common, common->accepted[k])].count++; // roughly: to begin with the largest
    }
    SN_TRY(sn_order_fields(job->voronoi->cells, shape->node_count, scratch, &order));
    sn_parallel_for(shape->context, voxels, CHUNK, begin_near, job);
    sn_field_maker maker = {compute_cell, store_cell, job, slots};
    SN_TRY(sn_make_fields(shape, &maker, order, arena, job->voronoi->cells));
    sn_parallel_for(shape->context, voxels, CHUNK, keep_smallest, job);
    return SINEW_OK;
}

sinew_status sn_find_voronoi(const sn_shape *shape, sn_front **fronts, int32_t slots, sn_arena *arena, sn_voronoi *voronoi) {
    voronoi->near = SN_RESERVE(arena, sn_near, shape->voxels->count);
    voronoi->cells = SN_PUSH(arena, sn_node_field, shape->node_count);
    SN_TRY(sn_arena_status(arena));
    cell_job job = {.shape = shape, .fronts = fronts, .voronoi = voronoi};
    sn_arena scratch = sn_arena_create(shape->context);
    sinew_status status = find_cells(&job, slots, arena, &scratch);
    sn_arena_destroy(&scratch);
    return status;
}
