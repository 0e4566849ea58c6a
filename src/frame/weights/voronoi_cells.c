// Voronoi cells of the nodes, in three steps:
//
//   1. A common front of all nodes on a coarser grid estimates how far each node's own front must
//      go.
//   2. Each node's front covers its cell and a few voxels more; the two smallest distances of each
//      voxel are kept.
//   3. Fronts that the estimate stopped too early, which the distances reveal, run again. So the
//      result does not depend on the estimate.
//
// Cost: a front over each cell and a few voxels around it, and one over the coarser grid.
#include "frame/weights/voronoi_cells.h"

#include "base/threads.h"

enum { CHUNK = 4096, BAND_CELLS = 3 };

static double border_band(const sn_metric *metric, int32_t voxel) {
    const sinew_voxels *voxels = metric->voxels;
    double cost = 1;
    if (metric->cost) {
        cost = metric->cost[voxel];
        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            int32_t u = voxels->neighbor[voxel][d];
            if (u >= 0) {
                cost = fmax(cost, metric->cost[u]);
            }
        }
    }

    return BAND_CELLS * cost *
           fmax(voxels->spacing[0], fmax(voxels->spacing[1], voxels->spacing[2]));
}

// Cells of a block along each axis. Where materials differ, blocks are smaller so that thin parts
// do not vanish in them.
enum { FACTOR_MIXED = 2, FACTOR_UNIFORM = 4, FEW_VOXELS = 4096 };

typedef struct cell_job {
    const sn_shape *shape;
    sn_front **fronts; // one for each slot
    sn_voxel_set sets[SN_FIELD_SLOTS];
    sn_voronoi *voronoi;
    int32_t factor;         // cells of a block along each axis
    int32_t *block[3];      // the block of each cell along each axis
    const sn_front *common; // of all nodes, on blocks, or on the voxels if the factor is 1
    double *limit; // how far a front may go at a voxel: about the distance from the nearest node,
                   // plus the band
    bool *stopped; // nodes whose fronts were stopped where they may be the nearest
} cell_job;

// Returns the largest distance of the surrounding blocks, for a voxel whose own block is missing;
// INFINITY if all are.
static double distance_around(const sn_front *common, const int32_t block[3]) {
    double largest = -1;
    for (int k = 0; k < 27; k++) {
        int32_t u = sn_voxel_at(common->metric->voxels, block[0] + k % 3 - 1,
                                block[1] + k / 3 % 3 - 1, block[2] + k / 9 - 1);
        if (u >= 0) {
            largest = fmax(largest, common->distance[u]);
        }
    }

    return largest < 0 ? INFINITY : largest;
}

// Estimates the distance from the nearest node to the voxel, too long rather than too short. The
// distance of a block is off by the cost of crossing it and by a small share of the path.
static double guess_distance(const cell_job *job, int32_t voxel, double band) {
    const sinew_voxels *voxels = job->shape->voxels;
    int32_t c[3];
    if (job->factor == 1) {
        return job->common->distance[voxel];
    }

    sn_cell_coordinates(voxels->cells, voxels->cell[voxel], c);
    for (int a = 0; a < 3; a++) {
        c[a] = job->block[a][c[a]];
    }

    int32_t u = sn_voxel_at(job->common->metric->voxels, c[0], c[1], c[2]);
    double distance = u >= 0 ? job->common->distance[u] : distance_around(job->common, c);

    return 1.01 * distance + (job->factor == FACTOR_MIXED ? 2.5 : 8) / BAND_CELLS * band;
}

static void begin_near(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    cell_job *job = data;
    for (int32_t v = begin; v < end; v++) {
        float band = (float)border_band(&job->shape->metric, v);
        job->voronoi->near[v] = (sn_near){INFINITY, INFINITY, band, 0};
        job->limit[v] = guess_distance(job, v, (double)band) + (double)band;
    }
}

// Stops the fronts of other nodes at rigid parts that have a node: whatever they would reach
// through the part, that node's own front reaches sooner. Otherwise, with parts that nearly touch,
// as bones do in joints, all of their fronts would cover everything.
static void close_carried_parts(const cell_job *job) {
    const sn_shape *shape = job->shape;
    const sn_metric *metric = &shape->metric;
    if (metric->cluster) {
        for (int32_t i = 0; i < shape->node_count; i++) {
            const double *position = sn_at3(shape->node_position, i);
            int32_t cluster =
                metric->cluster[sinew_voxels_find_nearest(shape->voxels, position, INFINITY)];
            if (cluster < 0) {
                continue;
            }

            for (int32_t k = metric->cluster_start[cluster]; k < metric->cluster_start[cluster + 1];
                 k++) {
                job->limit[metric->cluster_voxel[k]] = 0;
            }
        }
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
    front->companion[0] = (sn_companion){job->limit, sizeof *job->limit};
    sn_seed_node(job->shape, front, node, 0);
    sn_front_run(front, INFINITY, stay_near_cell, job);

    return front->accepted_count;
}

static void store_cell(void *data, int32_t slot, int32_t *voxels, double *distances) {
    cell_job *job = data;
    sn_store_front(job->fronts[slot], &job->sets[slot], voxels, distances);
}

// Finds the two smallest distances of the chunk's voxels. Of nodes at equal distance the one with
// the lowest number is the nearest.
static void keep_smallest(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    cell_job *job = data;
    for (int32_t i = 0; i < job->shape->node_count; i++) {
        const sn_node_field *cell = &job->voronoi->cells[i];
        for (int32_t k = sn_field_begin(cell, begin); k < cell->count && cell->voxel[k] < end;
             k++) {
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

// Whether the fronts of nodes may have been stopped too early at a voxel. A front that was stopped
// rightly is far beyond the nearest node's distance, or at it.
static bool is_missed(const cell_job *job, int32_t voxel) {
    const sn_near *near = &job->voronoi->near[voxel];
    return near->first > 0 && near->first + (double)near->band > job->limit[voxel];
}

static void find_stopped(void *data, int32_t begin, int32_t end, int32_t node) {
    (void)begin;
    (void)end;
    cell_job *job = data;
    const sn_node_field *cell = &job->voronoi->cells[node];

    for (int32_t k = 0; k < cell->count && !job->stopped[node]; k++) {
        job->stopped[node] =
            cell->value[k] > job->limit[cell->voxel[k]] && is_missed(job, cell->voxel[k]);
    }
}

static void raise_limits(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    cell_job *job = data;
    for (int32_t v = begin; v < end; v++) {
        sn_near *near = &job->voronoi->near[v];
        if (near->first > 0) {
            job->limit[v] = fmax(job->limit[v], near->first + (double)near->band);
        }
        near->first = near->second = INFINITY;
    }
}

// Runs the fronts again that were stopped where their node may be the nearest. Once is enough:
// distances can only have become smaller, so no limit is too short any more.
static sinew_status run_stopped(cell_job *job, const sn_field_maker *maker, const int32_t *order,
                                sn_arena *arena, sn_arena *scratch) {
    const sn_shape *shape = job->shape;
    int32_t nodes = shape->node_count;
    int32_t count = 0;
    int32_t *again = SN_PUSH(scratch, int32_t, nodes);

    job->stopped = SN_PUSH(scratch, bool, nodes);
    SN_TRY(sn_arena_status(scratch));

    // Which fronts were stopped too early.
    sn_parallel_for(shape->context, nodes, 1, find_stopped, job);

    for (int32_t i = 0; i < nodes; i++) {
        if (job->stopped[order[i]]) {
            again[count++] = order[i];
        }
    }

    if (count == 0) {
        return SINEW_OK;
    }

    // Run them again with limits by the distances that are known now.
    sn_parallel_for(shape->context, shape->voxels->count, CHUNK, raise_limits, job);
    SN_TRY(sn_make_fields(shape, maker, again, count, arena, job->voronoi->cells));
    sn_parallel_for(shape->context, shape->voxels->count, CHUNK, keep_smallest, job);

    return SINEW_OK;
}

// Runs the nodes' fronts as far as the common front allows.
static sinew_status run_nodes(cell_job *job, int32_t slots, sn_arena *arena, sn_arena *scratch) {
    const sn_shape *shape = job->shape;
    sn_node_field *cells = job->voronoi->cells;
    int32_t voxels = shape->voxels->count;
    int32_t *order;

    for (int32_t k = 0; k < job->common->accepted_count; k++) {
        // Estimate the sizes of the cells, to start with the largest.
        cells[sn_front_source(job->common, job->common->accepted[k])].count++;
    }

    SN_TRY(sn_order_fields(cells, shape->node_count, scratch, &order));
    sn_parallel_for(shape->context, voxels, CHUNK, begin_near, job);
    close_carried_parts(job);

    sn_field_maker maker = {compute_cell, store_cell, job, slots};
    SN_TRY(sn_make_fields(shape, &maker, order, shape->node_count, arena, cells));
    sn_parallel_for(shape->context, voxels, CHUNK, keep_smallest, job);

    return job->factor > 1 ? run_stopped(job, &maker, order, arena, scratch) : SINEW_OK;
}

// Starts the common front at the block of a node, or, if that is missing because the solid is thin
// there, at the surrounding blocks.
static void seed_block(const cell_job *job, sn_front *common, int32_t node) {
    const sinew_voxels *voxels = job->shape->voxels;
    const sinew_voxels *blocks = common->metric->voxels;
    int32_t near[8], count;

    count = sn_nearest_voxels(voxels, sn_load3(sn_at3(job->shape->node_position, node)), INFINITY,
                              near, NULL);
    for (int32_t i = 0; i < count; i++) {
        // The block of the voxel.
        int32_t c[3];
        sn_cell_coordinates(voxels->cells, voxels->cell[near[i]], c);
        for (int a = 0; a < 3; a++) {
            c[a] = job->block[a][c[a]];
        }

        int32_t own = sn_voxel_at(blocks, c[0], c[1], c[2]);
        if (own >= 0) {
            sn_front_seed(common, own, 0, node);
        }

        if (own < 0) {
            for (int k = 0; k < 27; k++) {
                int32_t u =
                    sn_voxel_at(blocks, c[0] + k % 3 - 1, c[1] + k / 3 % 3 - 1, c[2] + k / 9 - 1);
                if (u >= 0) {
                    sn_front_seed(common, u, 0, node);
                }
            }
        }
    }
}

static sinew_status find_cells(cell_job *job, int32_t slots, sn_arena *arena, sn_arena *scratch) {
    const sn_shape *shape = job->shape;
    int32_t voxels = shape->voxels->count;
    sn_front *common = job->fronts[0];
    sinew_voxels *blocks = NULL;
    sn_metric metric;

    job->limit = SN_RESERVE(scratch, double, voxels);
    for (int32_t i = 0; i < slots; i++) {
        job->sets[i] = sn_voxel_set_push(scratch, voxels);
    }

    SN_TRY(sn_arena_status(scratch));

    // Blocks make the common front cheap; a mixed metric needs smaller ones.
    job->factor = shape->metric.cost ? FACTOR_MIXED : FACTOR_UNIFORM;
    SN_TRY(sn_find_blocks(scratch, shape->voxels->cells, job->factor, job->block));
    if (voxels > FEW_VOXELS) {
        SN_TRY(sn_metric_coarsen(&shape->metric, job->factor, scratch, &blocks, &metric));
    }
    if (!blocks) {
        job->factor = 1; // few voxels, or thin everywhere
    }

    sinew_status status =
        blocks ? sn_front_create(scratch, &metric, SN_DISTANCE_MARCHING_2, &common) : SINEW_OK;

    // One common front bounds the fronts of the single nodes.
    if (status == SINEW_OK) {
        sn_front_reset(common);
        for (int32_t i = 0; i < shape->node_count; i++) {
            if (blocks) {
                seed_block(job, common, i);
            } else {
                sn_seed_node(shape, common, i, i);
            }
        }

        sn_front_run(common, INFINITY, NULL, NULL);
        job->common = common;
        status = run_nodes(job, slots, arena, scratch);
    }

    sinew_voxels_destroy(blocks);
    return status;
}

sinew_status sn_find_voronoi(const sn_shape *shape, sn_front **fronts, int32_t slots,
                             sn_arena *arena, sn_voronoi *voronoi) {
    voronoi->near = SN_RESERVE(arena, sn_near, shape->voxels->count);
    voronoi->cells = SN_PUSH(arena, sn_node_field, shape->node_count);
    SN_TRY(sn_arena_status(arena));
    cell_job job = {.shape = shape, .fronts = fronts, .voronoi = voronoi};
    sn_arena scratch = sn_arena_create(shape->context);
    sinew_status status = find_cells(&job, slots, arena, &scratch);
    sn_arena_destroy(&scratch);

    return status;
}
