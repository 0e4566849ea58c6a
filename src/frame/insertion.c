// Nodes that join a running body: what they touch, and the weights with them.
//
//   w_new = (1 - (d / range)^2)^2 for d < range,   w_i <- w_i (1 - w_new),   grad w_i <- (1 - w_new) grad w_i - w_i grad w_new
//
// d is the distance inside the solid, of one front that stops at the range, so that the cost is that of what is touched, apart
// from copying the lists. Weights that summed to 1 still do. Rigid parts stay rigid: labels bound to a node stay with it, and
// w_new falls to 0 towards them; other rigid parts get one weight.
#include "frame/insertion.h"

#include "frame/samples_internal.h"

#include <string.h>

enum { LABELS = 65536 };

// The bump.
static double bump(double distance, double range) {
    double u = 1 - distance * distance / (range * range);
    return u > 0 ? u * u : 0;
}

// The new node's weights on voxels: of every voxel while it is made, of the reached ones afterwards.
typedef struct field {
    const sn_shape *shape;
    const sinew_voxels *voxels;
    double *weight; // of every voxel, or NULL
    const sn_insertion *insertion;
} field;

static double field_at(const field *field, int32_t voxel) {
    return field->weight ? field->weight[voxel] : sn_insertion_at_voxel(field->insertion, voxel);
}

// The neighbour of a voxel that differences may use: a rigid part has none outside itself.
static int32_t smooth_neighbor(const field *field, int32_t voxel, int side) {
    const sn_shape *shape = field->shape;
    int32_t other = field->voxels->neighbor[voxel][side];
    if (other < 0) return -1;
    uint16_t a = field->voxels->label[voxel], b = field->voxels->label[other];
    if (shape->bound_node[a] >= 0) return shape->bound_node[b] == shape->bound_node[a] ? other : -1;
    return shape->rigid[a] && !shape->rigid[b] ? -1 : other;
}

// Weight and gradient at a voxel, by central differences, one-sided where a neighbour is missing.
static double field_at_voxel(const field *field, int32_t voxel, sn_vec3 *gradient) {
    double g[3] = {0, 0, 0};
    for (int a = 0; a < 3; a++) {
        int32_t lower = smooth_neighbor(field, voxel, 2 * a), upper = smooth_neighbor(field, voxel, 2 * a + 1);
        if (lower < 0 && upper < 0) continue;
        double below = field_at(field, lower < 0 ? voxel : lower), above = field_at(field, upper < 0 ? voxel : upper);
        g[a] = (above - below) / (field->voxels->spacing[a] * (lower >= 0 && upper >= 0 ? 2 : 1));
    }
    *gradient = sn_load3(g);
    return field_at(field, voxel);
}

// Trilinear between the inside voxels around a point, or the nearest ones; so is the gradient, if it is wanted.
static double field_at_point(const field *field, sn_vec3 p, sn_vec3 *gradient) {
    const sinew_voxels *voxels = field->voxels;
    sn_vec3 u = sn_voxel_units(voxels, p), slope_sum = sn_v3(0, 0, 0), slope;
    int32_t voxel[8], count = 0;
    double share[8], total = 0, sum = 0;
    if (fabs(u.x) < 1e9 && fabs(u.y) < 1e9 && fabs(u.z) < 1e9) {
        const double at[3] = {u.x, u.y, u.z};
        for (int i = 0; i < 8; i++) {
            int32_t cell[3];
            share[count] = 1;
            for (int a = 0; a < 3; a++) {
                double low = floor(at[a]);
                int bit = i >> a & 1;
                share[count] *= bit ? at[a] - low : 1 - (at[a] - low);
                cell[a] = (int32_t)low + bit;
            }
            voxel[count] = sn_voxel_at(voxels, cell[0], cell[1], cell[2]);
            if (voxel[count] >= 0) total += share[count++];
        }
    }
    if (total <= 1e-9) {
        count = sn_nearest_voxels(voxels, p, INFINITY, voxel, NULL);
        for (int32_t i = 0; i < count; i++) share[i] = 1;
        total = count;
    }
    for (int32_t i = 0; i < count; i++) {
        sum += share[i] * (gradient ? field_at_voxel(field, voxel[i], &slope) : field_at(field, voxel[i]));
        if (gradient) slope_sum = sn_madd(slope_sum, share[i] / total, slope);
    }
    if (gradient) *gradient = slope_sum;
    return sum / total;
}

double sn_insertion_at_voxel(const sn_insertion *insertion, int32_t voxel) {
    int32_t low = 0, high = insertion->voxel_count;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (insertion->voxel[middle] < voxel)
            low = middle + 1;
        else
            high = middle;
    }
    return low < insertion->voxel_count && insertion->voxel[low] == voxel ? insertion->voxel_weight[low] : 0;
}

double sn_insertion_at_point(const sn_insertion *insertion, const sn_shape *shape, sn_vec3 p, sn_vec3 *gradient) {
    field field = {shape, shape->voxels, NULL, insertion};
    return field_at_point(&field, p, gradient);
}

// What a label binds to a node stays with it: the new weight falls to 0 as that node's rises to 1.
static sinew_status spare_bound(const sn_shape *shape, sn_arena *scratch, const sn_front *front, const field *field) {
    bool *binds = SN_PUSH(scratch, bool, shape->node_count), any = false;
    SN_TRY(sn_arena_status(scratch));
    for (int32_t label = 0; label < LABELS; label++) {
        if (shape->bound_node[label] < 0) continue;
        binds[shape->bound_node[label]] = any = true;
    }
    const sn_weight_table *table = &shape->table;
    for (int32_t k = 0; k < front->accepted_count && any; k++) {
        int32_t v = front->accepted[k];
        double bound = 0;
        for (int64_t e = table->start[v]; e < table->start[v + 1]; e++) bound += binds[table->node[e]] ? table->weight[e] : 0;
        field->weight[v] *= fmin(fmax(1 - bound, 0), 1);
    }
    return SINEW_OK;
}

// A rigid part moves as one: its voxels share the mean of their weights.
static sinew_status level_rigid(const sn_shape *shape, sn_arena *scratch, const sn_front *front, const field *field) {
    bool any = false;
    for (int32_t k = 0; k < front->accepted_count; k++) any = any || shape->rigid[shape->voxels->label[front->accepted[k]]];
    if (!any) return SINEW_OK;
    sn_metric metric = shape->metric;
    if (!metric.cluster) SN_TRY(sn_metric_find_clusters(shape->voxels, scratch, shape->rigid, &metric));
    for (int32_t c = 0; c < metric.cluster_count; c++) {
        int32_t first = metric.cluster_start[c], last = metric.cluster_start[c + 1];
        double sum = 0;
        bool bound = false; // what touches a bound part goes with it
        for (int32_t k = first; k < last; k++) {
            sum += field->weight[metric.cluster_voxel[k]];
            bound = bound || shape->bound_node[shape->voxels->label[metric.cluster_voxel[k]]] >= 0;
        }
        if (bound) sum = 0;
        for (int32_t k = first; k < last; k++) field->weight[metric.cluster_voxel[k]] = sum / (last - first);
    }
    return SINEW_OK;
}

static sinew_status spread(const sn_shape *shape, sn_arena *scratch, sn_insertion *insertion, field *field) {
    sn_metric metric = sn_metric_euclidean(shape->voxels);
    sn_front *front;
    field->weight = SN_PUSH(scratch, double, shape->voxels->count);
    SN_TRY(sn_front_create(scratch, &metric, SN_DISTANCE_MARCHING_2, &front));
    if (!sn_front_seed_point(front, insertion->position, SN_FRONT_SEED_RADIUS, metric.largest_step, 0)) {
        return sn_fail(shape->context, SINEW_INVALID_ARGUMENT, "a new node at (%g, %g, %g) m is outside the solid",
                       insertion->position.x, insertion->position.y, insertion->position.z);
    }
    sn_front_run(front, insertion->range, NULL, NULL);
    for (int32_t k = 0; k < front->accepted_count; k++) {
        int32_t v = front->accepted[k];
        field->weight[v] = bump(front->distance[v], insertion->range);
    }
    SN_TRY(spare_bound(shape, scratch, front, field));
    SN_TRY(level_rigid(shape, scratch, front, field));
    int32_t reached = 0;
    for (int32_t v = 0; v < shape->voxels->count; v++) reached += field->weight[v] != 0;
    if (reached == 0) {
        return sn_fail(shape->context, SINEW_INVALID_ARGUMENT, "a new node at (%g, %g, %g) m reaches nothing that can bend",
                       insertion->position.x, insertion->position.y, insertion->position.z);
    }
    insertion->voxel = SN_PUSH(&insertion->arena, int32_t, reached);
    insertion->voxel_weight = SN_PUSH(&insertion->arena, double, reached);
    SN_TRY(sn_arena_status(&insertion->arena));
    for (int32_t v = 0; v < shape->voxels->count; v++) {
        if (field->weight[v] == 0) continue;
        insertion->voxel[insertion->voxel_count] = v;
        insertion->voxel_weight[insertion->voxel_count++] = field->weight[v];
    }
    return SINEW_OK;
}

// Samples with a voxel in range, or beside one, because the slope reaches a voxel further than the weight.
static sinew_status touch_samples(sn_insertion *insertion, sn_arena *scratch, const sn_frame_samples *samples,
                                  const field *field) {
    int32_t voxels = field->voxels->count;
    int32_t *sample_of = SN_PUSH(scratch, int32_t, voxels);
    bool *touched = SN_PUSH(scratch, bool, samples->count);
    SN_TRY(sn_arena_status(scratch));
    for (int32_t s = 0; s < samples->count; s++) {
        for (int32_t k = samples->voxel_start[s]; k < samples->voxel_start[s + 1]; k++) sample_of[samples->voxel[k]] = s;
    }
    int32_t count = 0;
    for (int32_t k = 0; k < insertion->voxel_count; k++) {
        int32_t v = insertion->voxel[k];
        touched[sample_of[v]] = true;
        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            int32_t u = field->voxels->neighbor[v][d];
            if (u >= 0) touched[sample_of[u]] = true;
        }
    }
    for (int32_t s = 0; s < samples->count; s++) count += touched[s];
    insertion->sample = SN_PUSH(&insertion->arena, int32_t, count);
    insertion->sample_weight = SN_PUSH(&insertion->arena, double, count);
    insertion->sample_gradient =
        (double(*)[3])sn_arena_push(&insertion->arena, (size_t)count, sizeof *insertion->sample_gradient);
    SN_TRY(sn_arena_status(&insertion->arena));
    for (int32_t s = 0; s < samples->count; s++) {
        if (!touched[s]) continue;
        int32_t size = samples->voxel_start[s + 1] - samples->voxel_start[s], place = insertion->sample_count++;
        insertion->sample[place] = s;
        for (int32_t k = samples->voxel_start[s]; k < samples->voxel_start[s + 1]; k++) {
            sn_vec3 gradient;
            insertion->sample_weight[place] += field_at_voxel(field, samples->voxel[k], &gradient) / size;
            sn_add_to3(insertion->sample_gradient[place], sn_scale(1.0 / size, gradient));
        }
    }
    return SINEW_OK;
}

static sinew_status touch_vertices(sn_insertion *insertion, sn_arena *scratch, const double *points, int32_t count,
                                   const field *field) {
    double *weight = SN_PUSH(scratch, double, count);
    SN_TRY(sn_arena_status(scratch));
    int32_t touched = 0;
    double reach = 0;
    for (int32_t k = 0; k < insertion->voxel_count; k++) {
        reach = fmax(reach, sn_distance(sn_voxel_center(field->voxels, insertion->voxel[k]), insertion->position));
    }
    // A vertex may lie outside by a cell or so.
    reach += 2 * (field->voxels->spacing[0] + field->voxels->spacing[1] + field->voxels->spacing[2]);
    for (int32_t i = 0; i < count; i++) {
        sn_vec3 p = sn_load3(points + 3 * (size_t)i);
        weight[i] = sn_distance(p, insertion->position) < reach ? field_at_point(field, p, NULL) : 0;
        touched += weight[i] > 0;
    }
    insertion->vertex = SN_PUSH(&insertion->arena, int32_t, touched);
    insertion->vertex_weight = SN_PUSH(&insertion->arena, double, touched);
    SN_TRY(sn_arena_status(&insertion->arena));
    for (int32_t i = 0; i < count; i++) {
        if (!(weight[i] > 0)) continue;
        insertion->vertex[insertion->vertex_count] = i;
        insertion->vertex_weight[insertion->vertex_count++] = weight[i];
    }
    return SINEW_OK;
}

sinew_status sn_insertion_create(const sn_shape *shape, const sn_frame_samples *samples, const double *points,
                                 int32_t point_count, sn_vec3 position, double range, sn_insertion **insertion) {
    const double *h = shape->voxels->spacing;
    double cell = fmax(h[0], fmax(h[1], h[2]));
    if (!sn_finite3(position) || !(range >= cell) || !isfinite(range)) {
        return sn_fail(shape->context, SINEW_INVALID_ARGUMENT,
                       "a new node needs a finite position and a range of at least one cell, %g m, not %g", cell, range);
    }
    sn_arena arena = sn_arena_create(shape->context), scratch = sn_arena_create(shape->context);
    sn_insertion *made = SN_PUSH(&arena, sn_insertion, 1);
    if (!made) return SINEW_OUT_OF_MEMORY;
    *made = (sn_insertion){.arena = arena, .position = position, .range = range};
    field field = {.shape = shape, .voxels = shape->voxels};
    sinew_status status = spread(shape, &scratch, made, &field);
    if (status == SINEW_OK) status = touch_samples(made, &scratch, samples, &field);
    if (status == SINEW_OK) status = touch_vertices(made, &scratch, points, point_count, &field);
    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        sn_insertion_destroy(made);
        return status;
    }
    *insertion = made;
    return SINEW_OK;
}

void sn_insertion_destroy(sn_insertion *insertion) {
    if (!insertion) return;
    sn_arena arena = insertion->arena;
    sn_arena_destroy(&arena);
}

// Lists of (node, weight, gradient) of one row: the base's, then one more for each insertion that touches it.
typedef struct row {
    int32_t count;
    double weight[SN_POINT_NODES + 1];
    sn_vec3 gradient[SN_POINT_NODES + 1];
} row;

static void add_node(row *row, double weight, sn_vec3 gradient) {
    for (int32_t k = 0; k < row->count; k++) {
        row->gradient[k] = sn_sub(sn_scale(1 - weight, row->gradient[k]), sn_scale(row->weight[k], gradient));
        row->weight[k] *= 1 - weight;
    }
    row->weight[row->count] = weight;
    row->gradient[row->count++] = gradient;
}

// How many insertions touch each sample.
static void count_touches(const sn_insertion *const *insertions, int32_t count, int32_t *touches) {
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < insertions[i]->sample_count; k++) touches[insertions[i]->sample[k]]++;
    }
}

static sinew_status push_rows(sn_frame_samples *made, const sn_frame_samples *base, const int32_t *touches) {
    made->start = SN_PUSH(&made->arena, int32_t, (size_t)base->count + 1);
    SN_TRY(sn_arena_status(&made->arena));
    for (int32_t s = 0; s < base->count; s++) {
        int32_t nodes = base->start[s + 1] - base->start[s] + touches[s];
        if (nodes > SN_POINT_NODES) {
            return sn_fail(made->arena.context, SINEW_INVALID_ARGUMENT, "sample %d would have %d nodes; at most %d", s, nodes,
                           SN_POINT_NODES);
        }
        made->start[s + 1] = made->start[s] + nodes;
    }
    size_t total = (size_t)made->start[base->count];
    made->node = SN_PUSH(&made->arena, int32_t, total);
    made->weight = SN_PUSH(&made->arena, double, total);
    made->gradient = SN_PUSH(&made->arena, double, 3 * total);
    return sn_arena_status(&made->arena);
}

// Applies the insertions one after the other to the rows they touch; rows hold what was applied so far.
static void apply_one(sn_frame_samples *made, int32_t *filled, const sn_insertion *insertion, int32_t node) {
    for (int32_t k = 0; k < insertion->sample_count; k++) {
        int32_t s = insertion->sample[k], start = made->start[s];
        row row = {.count = filled[s]};
        for (int32_t e = 0; e < filled[s]; e++) {
            row.weight[e] = made->weight[start + e];
            row.gradient[e] = sn_load3(made->gradient + 3 * (size_t)(start + e));
        }
        add_node(&row, insertion->sample_weight[k], sn_load3(insertion->sample_gradient[k]));
        for (int32_t e = 0; e < row.count; e++) {
            made->weight[start + e] = row.weight[e];
            sn_store3(made->gradient + 3 * (size_t)(start + e), row.gradient[e]);
        }
        made->node[start + filled[s]++] = node;
    }
}

sinew_status sn_insertions_apply_samples(sinew_context *context, const sn_frame_samples *base, int32_t base_nodes,
                                         const sn_insertion *const *insertions, int32_t count, sn_frame_samples **samples) {
    sn_arena arena = sn_arena_create(context), scratch = sn_arena_create(context);
    sn_frame_samples *made = SN_PUSH(&arena, sn_frame_samples, 1);
    if (!made) return SINEW_OUT_OF_MEMORY;
    *made = *base; // positions, volumes and moments stay the base's
    made->arena = arena;
    int32_t *touches = SN_PUSH(&scratch, int32_t, base->count), *filled = SN_PUSH(&scratch, int32_t, base->count);
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        count_touches(insertions, count, touches);
        status = push_rows(made, base, touches);
    }
    for (int32_t s = 0; s < base->count && status == SINEW_OK; s++) {
        int32_t from = base->start[s], to = made->start[s];
        filled[s] = base->start[s + 1] - from;
        memcpy(made->node + to, base->node + from, (size_t)filled[s] * sizeof *made->node);
        memcpy(made->weight + to, base->weight + from, (size_t)filled[s] * sizeof *made->weight);
        memcpy(made->gradient + 3 * (size_t)to, base->gradient + 3 * (size_t)from,
               3 * (size_t)filled[s] * sizeof *made->gradient);
    }
    for (int32_t i = 0; i < count && status == SINEW_OK; i++) apply_one(made, filled, insertions[i], base_nodes + i);
    if (status == SINEW_OK) status = sn_samples_sort(made);
    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        sn_samples_destroy(made);
        return status;
    }
    *samples = made;
    return SINEW_OK;
}

sinew_status sn_insertions_apply_vertices(sn_arena *arena, const sn_vertex_weights *base, int32_t base_nodes,
                                          const sn_insertion *const *insertions, int32_t count, sn_vertex_weights *result) {
    *result = (sn_vertex_weights){.count = base->count};
    result->start = SN_PUSH(arena, int32_t, (size_t)base->count + 1);
    int32_t *filled = sn_allocate(arena->context, (size_t)base->count, sizeof *filled);
    sinew_status status = filled ? sn_arena_status(arena) : SINEW_OUT_OF_MEMORY;
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < count; i++) {
            for (int32_t k = 0; k < insertions[i]->vertex_count; k++) filled[insertions[i]->vertex[k]]++;
        }
        for (int32_t v = 0; v < base->count; v++) {
            result->start[v + 1] = result->start[v] + base->start[v + 1] - base->start[v] + filled[v];
        }
        result->node = SN_PUSH(arena, int32_t, result->start[base->count]);
        result->weight = SN_PUSH(arena, double, result->start[base->count]);
        status = sn_arena_status(arena);
    }
    for (int32_t v = 0; v < base->count && status == SINEW_OK; v++) {
        filled[v] = base->start[v + 1] - base->start[v];
        memcpy(result->node + result->start[v], base->node + base->start[v], (size_t)filled[v] * sizeof *result->node);
        memcpy(result->weight + result->start[v], base->weight + base->start[v], (size_t)filled[v] * sizeof *result->weight);
    }
    for (int32_t i = 0; i < count && status == SINEW_OK; i++) {
        for (int32_t k = 0; k < insertions[i]->vertex_count; k++) {
            int32_t v = insertions[i]->vertex[k];
            double weight = insertions[i]->vertex_weight[k], *row = result->weight + result->start[v];
            for (int32_t e = 0; e < filled[v]; e++) row[e] *= 1 - weight;
            row[filled[v]] = weight;
            result->node[result->start[v] + filled[v]++] = base_nodes + i;
        }
    }
    sn_release(arena->context, filled, (size_t)base->count, sizeof *filled);
    return status;
}
