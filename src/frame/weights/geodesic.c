// Geodesic weights: the radial kernel (analytic.c), applied to the distance inside the solid.
//
// In: node positions and the metric. Out: the table. One front for each node computes distances up
// to the node's range (fast marching, second order); fronts of several nodes run in parallel.
//
// Cost: n log n for each node, n being the number of voxels in its range.
#include "frame/weights/node_fields.h"
#include "frame/weights/table.h"

typedef struct front_job {
    const sn_shape *shape;
    sn_front *fronts[SN_FIELD_SLOTS];
    sn_voxel_set sets[SN_FIELD_SLOTS];
} front_job;

static int32_t run_front(void *data, int32_t node, int32_t slot) {
    front_job *job = data;
    const sn_shape *shape = job->shape;
    sn_front *front = job->fronts[slot];
    sn_front_reset(front);
    sn_seed_node(shape, front, node, 0);
    sn_front_run(front, shape->def.range > 0 ? shape->def.range : INFINITY, NULL, NULL);

    return front->accepted_count;
}

static void store_front(void *data, int32_t slot, int32_t *voxels, double *distances) {
    front_job *job = data;
    sn_store_front(job->fronts[slot], &job->sets[slot], voxels, distances);
}

static sinew_status run_nodes(sn_shape *shape, sn_arena *arena, sn_node_field *fields) {
    sn_arena scratch = sn_arena_create(shape->context);
    front_job job = {.shape = shape};
    sn_field_maker maker = {
        run_front, store_front, &job,
        sn_field_slots(shape->context, shape->voxels->count, shape->node_count)};
    sinew_status status = SINEW_OK;

    for (int32_t i = 0; i < maker.slots && status == SINEW_OK; i++) {
        status = sn_front_create(&scratch, &shape->metric, SN_DISTANCE_MARCHING_2, &job.fronts[i]);
        job.sets[i] = sn_voxel_set_push(&scratch, shape->voxels->count);
    }

    if (status == SINEW_OK) {
        status = sn_arena_status(&scratch);
    }
    if (status == SINEW_OK) {
        status = sn_make_fields(shape, &maker, NULL, shape->node_count, arena, fields);
    }

    sn_arena_destroy(&scratch);
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
    double at_node = 1e-9 * fmin(h[0], fmin(h[1], h[2]));
    double inverse_range = def->range > 0 ? 1 / def->range : 0;

    for (int64_t k = rows->distances.start[voxel]; k < rows->distances.start[voxel + 1]; k++) {
        double r = rows->distances.weight[k];
        if (r < at_node) { // the kernel is unbounded here, so this node takes all
            *row = (sn_row){.cap = row->cap};

            sn_row_add(row, rows->distances.node[k], 1);
            return;
        }

        double u = 1 / r - inverse_range;

        if (u > 0) {
            sn_row_add(row, rows->distances.node[k], pow(u, def->falloff));
        }
    }
}

sinew_status sn_build_geodesic(sn_shape *shape) {
    sn_arena arena = sn_arena_create(shape->context);
    sn_node_field *fields = SN_PUSH(&arena, sn_node_field, shape->node_count);
    geodesic_rows rows = {.shape = shape};
    sinew_status status = fields ? run_nodes(shape, &arena, fields) : SINEW_OUT_OF_MEMORY;

    if (status == SINEW_OK) {
        status = sn_transpose_fields(shape->context, &arena, fields, shape->node_count,
                                     shape->voxels->count, &rows.distances);
    }

    if (status == SINEW_OK) {
        status = sn_build_table(shape, fill_geodesic_row, &rows);
    }

    sn_arena_destroy(&arena);
    return status;
}
