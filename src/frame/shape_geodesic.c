// Geodesic weights: the radial kernel of the distance inside the solid, one front for each node, as far as its range.
//
// Cost: n log n for each node's reach; fronts run side by side in batches whose size the grid decides.
#include "frame/table.h"

#include "base/threads.h"

typedef struct front_job {
    sn_shape *shape;
    sn_front **fronts;
    int32_t first; // node of the first front
} front_job;

static void run_fronts(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    front_job *job = data;
    const sn_shape *shape = job->shape;
    double limit = shape->def.range > 0 ? shape->def.range : INFINITY;
    for (int32_t i = begin; i < end; i++) {
        sn_front *front = job->fronts[i];
        sn_vec3 p = sn_load3(shape->node_position + 3 * (size_t)(job->first + i));
        sn_front_reset(front);
        bool started = sn_front_seed_point(front, p, SN_FRONT_SEED_RADIUS, 2 * sn_outside_tolerance(shape->voxels), 0);
        SN_ASSERT(started); // the node is inside, or was moved in
        (void)started;
        sn_front_run(front, limit, NULL, NULL);
    }
}

static sinew_status keep_field(sn_arena *arena, const sn_front *front, sn_node_field *field) {
    field->count = front->accepted_count;
    field->voxel = SN_PUSH(arena, int32_t, field->count);
    field->value = SN_PUSH(arena, double, field->count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t k = 0; k < field->count; k++) {
        field->voxel[k] = front->accepted[k];
        field->value[k] = front->distance[front->accepted[k]];
    }
    return SINEW_OK;
}

static sinew_status run_nodes(sn_shape *shape, sn_arena *arena, sn_node_field *fields) {
    sn_arena front_arena = sn_arena_create(shape->context);
    int32_t batch = sn_front_batch(shape->voxels->count, shape->node_count);
    sn_front *fronts[8];
    sinew_status status = SINEW_OK;
    SN_ASSERT(batch <= 8);
    for (int32_t i = 0; i < batch && status == SINEW_OK; i++) {
        status = sn_front_create(&front_arena, &shape->metric, SN_DISTANCE_MARCHING_2, &fronts[i]);
    }
    for (int32_t first = 0; first < shape->node_count && status == SINEW_OK; first += batch) {
        int32_t count = shape->node_count - first < batch ? shape->node_count - first : batch;
        front_job job = {shape, fronts, first};
        sn_parallel_for(shape->context, count, 1, run_fronts, &job);
        for (int32_t i = 0; i < count && status == SINEW_OK; i++) status = keep_field(arena, fronts[i], &fields[first + i]);
    }
    sn_arena_destroy(&front_arena);
    return status;
}

typedef struct geodesic_rows {
    const sn_shape *shape;
    sn_weight_table distances;
} geodesic_rows;

static void fill_geodesic_row(const void *data, int32_t voxel, sn_row *row) {
    const geodesic_rows *rows = data;
    const sinew_weights_def *def = &rows->shape->def;
    const double *h = rows->shape->voxels->spacing;
    double at_node = 1e-9 * fmin(h[0], fmin(h[1], h[2])), inverse_range = def->range > 0 ? 1 / def->range : 0;
    for (int64_t k = rows->distances.start[voxel]; k < rows->distances.start[voxel + 1]; k++) {
        double r = rows->distances.weight[k];
        if (r < at_node) { // the kernel has no bound there: the node alone counts
            *row = (sn_row){.cap = row->cap};
            sn_row_add(row, rows->distances.node[k], 1);
            return;
        }
        double u = 1 / r - inverse_range;
        if (u > 0) sn_row_add(row, rows->distances.node[k], pow(u, def->falloff));
    }
}

sinew_status sn_build_geodesic(sn_shape *shape) {
    sn_arena arena = sn_arena_create(shape->context);
    sn_node_field *fields = SN_PUSH(&arena, sn_node_field, shape->node_count);
    geodesic_rows rows = {.shape = shape};
    sinew_status status = fields ? run_nodes(shape, &arena, fields) : SINEW_OUT_OF_MEMORY;
    if (status == SINEW_OK) {
        status = sn_transpose_fields(&arena, fields, shape->node_count, shape->voxels->count, &rows.distances);
    }
    if (status == SINEW_OK) status = sn_build_table(shape, fill_geodesic_row, &rows);
    sn_arena_destroy(&arena);
    return status;
}
