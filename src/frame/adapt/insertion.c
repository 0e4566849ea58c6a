// Nodes that join a running body: what they touch, and the weights with them.
//
//   w_new = (1 - (d / range)^2)^2   for d < range
//   w_i        <- w_i (1 - w_new)
//   grad w_i   <- (1 - w_new) grad w_i - w_i grad w_new
//
// d is the distance inside the solid, of one front that stops at the range and runs in a grid cut
// out around it, so that the cost is that of what is touched. Weights that summed to 1 still do.
// Rigid parts stay rigid: labels bound to a node stay with it, and w_new falls to 0 towards them;
// other rigid parts get one weight.
#include "frame/adapt/insertion.h"

#include "base/sorted.h"

#include <stdlib.h>
#include <string.h>

enum { LABELS = 65536, BOX = 4 };

// The bump.
static double bump(double distance, double range) {
    double u = 1 - distance * distance / (range * range);
    return u > 0 ? u * u : 0;
}

static int compare_numbers(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a;
    int32_t y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// The new node's weights on voxels: in a box of cells while it is made, of the reached ones
// afterwards.
typedef struct field {
    const sn_shape *shape;
    const sinew_voxels *voxels;
    int32_t first[3], size[3]; // of the box
    double *weight;            // of its cells, or NULL
    const sn_insertion *insertion;
} field;

// The index of a voxel in the box, or -1 outside.
static int64_t place_in_box(const field *field, int32_t voxel) {
    int32_t c[3];
    sn_cell_coordinates(field->voxels->cells, field->voxels->cell[voxel], c);
    for (int a = 0; a < 3; a++) {
        c[a] -= field->first[a];
        if (c[a] < 0 || c[a] >= field->size[a]) {
            return -1;
        }
    }

    return ((int64_t)c[2] * field->size[1] + c[1]) * field->size[0] + c[0];
}

static double field_at(const field *field, int32_t voxel) {
    if (!field->weight) {
        return sn_insertion_at_voxel(field->insertion, voxel);
    }
    int64_t place = place_in_box(field, voxel);
    return place < 0 ? 0 : field->weight[place];
}

// The neighbour of a voxel that differences may use: a rigid part has none outside itself.
static int32_t smooth_neighbor(const field *field, int32_t voxel, int side) {
    const sn_shape *shape = field->shape;
    int32_t other = field->voxels->neighbor[voxel][side];
    if (other < 0) {
        return -1;
    }

    uint16_t a = field->voxels->label[voxel];
    uint16_t b = field->voxels->label[other];
    if (shape->bound_node[a] >= 0) {
        return shape->bound_node[b] == shape->bound_node[a] ? other : -1;
    }

    return shape->rigid[a] && !shape->rigid[b] ? -1 : other;
}

// Weight and gradient at a voxel, by central differences, one-sided where a neighbour is missing.
static double field_at_voxel(const field *field, int32_t voxel, sn_vec3 *gradient) {
    double g[3] = {0, 0, 0};
    for (int a = 0; a < 3; a++) {
        int32_t lower = smooth_neighbor(field, voxel, 2 * a);
        int32_t upper = smooth_neighbor(field, voxel, 2 * a + 1);
        if (lower < 0 && upper < 0) {
            continue;
        }

        double below = field_at(field, lower < 0 ? voxel : lower);
        double above = field_at(field, upper < 0 ? voxel : upper);
        g[a] = (above - below) / (field->voxels->spacing[a] * (lower >= 0 && upper >= 0 ? 2 : 1));
    }

    *gradient = sn_load3(g);
    return field_at(field, voxel);
}

// Trilinear between the inside voxels around a point, or the nearest ones; so is the gradient, if
// it is wanted.
static double field_at_point(const field *field, sn_vec3 p, sn_vec3 *gradient) {
    const sinew_voxels *voxels = field->voxels;
    sn_vec3 u = sn_voxel_units(voxels, p);
    sn_vec3 slope_sum = sn_v3(0, 0, 0);
    sn_vec3 slope;
    int32_t voxel[8], count = 0;
    double share[8], total = 0, sum = 0;

    // The inside voxels among the eight around the point, with their trilinear shares.
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
            if (voxel[count] >= 0) {
                total += share[count++];
            }
        }
    }

    // Outside the solid: the mean of the nearest voxels.
    if (total <= 1e-9) {
        count = sn_nearest_voxels(voxels, p, INFINITY, voxel, NULL);
        for (int32_t i = 0; i < count; i++) {
            share[i] = 1;
        }
        total = count;
    }

    // Shares are relative to what is inside.
    for (int32_t i = 0; i < count; i++) {
        sum += share[i] *
               (gradient ? field_at_voxel(field, voxel[i], &slope) : field_at(field, voxel[i]));
        if (gradient) {
            slope_sum = sn_madd(slope_sum, share[i] / total, slope);
        }
    }

    if (gradient) {
        *gradient = slope_sum;
    }

    return sum / total;
}

int32_t sn_insertion_find_sample(const sn_insertion *insertion, int32_t sample) {
    return sn_find_sorted(insertion->sample, insertion->sample_count, sample);
}

double sn_insertion_at_voxel(const sn_insertion *insertion, int32_t voxel) {
    int32_t place = sn_find_sorted(insertion->voxel, insertion->voxel_count, voxel);
    return place < 0 ? 0 : insertion->voxel_weight[place];
}

double sn_insertion_at_point(const sn_insertion *insertion, const sn_shape *shape, sn_vec3 p,
                             sn_vec3 *gradient) {
    field field = {.shape = shape, .voxels = shape->voxels, .insertion = insertion};
    return field_at_point(&field, p, gradient);
}

// What is found while the node spreads: reached voxels in the order they were met, and their
// weights.
typedef struct reached {
    int32_t count, capacity;
    int32_t *voxel;
    double *weight;
} reached;

// What a label binds to a node stays with it: the new weight falls to 0 as that node's rises to 1.
static sinew_status spare_bound(const sn_shape *shape, sn_arena *scratch, reached *reached) {
    bool *binds = SN_PUSH(scratch, bool, shape->node_count);
    bool any = false;

    SN_TRY(sn_arena_status(scratch));

    // The nodes to which labels are bound.
    for (int32_t label = 0; label < LABELS; label++) {
        if (shape->bound_node[label] < 0) {
            continue;
        }
        binds[shape->bound_node[label]] = any = true;
    }

    // What they leave to the new one.
    const sn_weight_table *table = &shape->table;
    if (any) {
        for (int32_t k = 0; k < reached->count; k++) {
            int32_t v = reached->voxel[k];
            double bound = 0;
            for (int64_t e = table->start[v]; e < table->start[v + 1]; e++) {
                bound += binds[table->node[e]] ? table->weight[e] : 0;
            }
            reached->weight[k] *= fmin(fmax(1 - bound, 0), 1);
        }
    }

    return SINEW_OK;
}

static sinew_status push_reached(sn_arena *scratch, int32_t capacity, reached *reached) {
    *reached = (struct reached){.capacity = capacity,
                                .voxel = SN_PUSH(scratch, int32_t, capacity),
                                .weight = SN_PUSH(scratch, double, capacity)};
    return sn_arena_status(scratch);
}

// A rigid part moves as one: its voxels share the mean of their weights, which reaches all of it.
static sinew_status level_rigid(const sn_shape *shape, sn_arena *scratch, reached *found) {
    const sinew_voxels *voxels = shape->voxels;
    int32_t soft = 0;
    for (int32_t k = 0; k < found->count; k++) {
        soft += !shape->rigid[voxels->label[found->voxel[k]]];
    }

    if (soft == found->count) {
        return SINEW_OK;
    }

    // Label the rigid parts, unless the metric of the weights has done so.
    sn_metric metric = shape->metric; // by lengths its clusters are not the rigid parts
    if (!metric.cluster || shape->def.metric == SINEW_METRIC_EUCLIDEAN) {
        SN_TRY(sn_metric_find_clusters(voxels, scratch, shape->rigid, &metric));
    }

    double *sum = SN_PUSH(scratch, double, metric.cluster_count);
    int32_t *met = SN_PUSH(scratch, int32_t, metric.cluster_count);
    int32_t met_count = 0;
    int32_t room = soft;

    SN_TRY(sn_arena_status(scratch));

    // Sum the weights over each rigid part that the front has met.
    for (int32_t k = 0; k < found->count; k++) {
        int32_t c = metric.cluster[found->voxel[k]];
        if (c < 0 || found->weight[k] == 0) {
            continue;
        }

        if (sum[c] == 0) {
            met[met_count++] = c;
            room += metric.cluster_start[c + 1] - metric.cluster_start[c];
        }

        sum[c] += found->weight[k];
    }

    reached all;
    SN_TRY(push_reached(scratch, room, &all));

    // Soft voxels keep their weights.
    for (int32_t k = 0; k < found->count; k++) {
        if (metric.cluster[found->voxel[k]] >= 0) {
            continue;
        }
        all.voxel[all.count] = found->voxel[k];
        all.weight[all.count++] = found->weight[k];
    }

    // All voxels of a rigid part take the mean over the part, also those beyond the range.
    for (int32_t m = 0; m < met_count; m++) {
        int32_t first = metric.cluster_start[met[m]];
        int32_t last = metric.cluster_start[met[m] + 1];
        bool bound = false; // what touches a bound part goes with it

        for (int32_t k = first; k < last; k++) {
            bound = bound || shape->bound_node[voxels->label[metric.cluster_voxel[k]]] >= 0;
        }

        if (!bound) {
            for (int32_t k = first; k < last; k++) {
                all.voxel[all.count] = metric.cluster_voxel[k];
                all.weight[all.count++] = sum[met[m]] / (last - first);
            }
        }
    }

    *found = all;
    return SINEW_OK;
}

static sinew_status fail_outside(const sn_shape *shape, sn_vec3 p) {
    return sn_fail(shape->context, SINEW_INVALID_ARGUMENT,
                   "a new node at (%g, %g, %g) m is outside the solid", p.x, p.y, p.z);
}

// The cells around a point that a front of this range can meet, as a grid of their own: first cell,
// and labels.
static sinew_status cut_box(const sn_shape *shape, sn_arena *scratch, sn_vec3 p, double range,
                            int32_t first[3], sinew_voxels **box) {
    const sinew_voxels *voxels = shape->voxels;
    const sn_vec3 units = sn_voxel_units(voxels, p);
    const double at[3] = {units.x, units.y, units.z};
    int32_t size[3];
    double lower[3];

    // The range in cells along each axis, with room for the seeds of the front.
    for (int a = 0; a < 3; a++) {
        double reach = range / voxels->spacing[a] + SN_FRONT_SEED_RADIUS + 2;
        double low = fmax(floor(at[a] - reach), 0);
        double high = fmin(ceil(at[a] + reach), voxels->cells[a] - 1.0);
        if (!(low <= high)) {
            return fail_outside(shape, p);
        }

        first[a] = (int32_t)low;
        size[a] = (int32_t)high - first[a] + 1;
        lower[a] = voxels->lower[a] + first[a] * voxels->spacing[a];
    }

    uint16_t *labels =
        SN_PUSH(scratch, uint16_t, (size_t)size[0] * (size_t)size[1] * (size_t)size[2]);
    uint16_t *label = labels;

    SN_TRY(sn_arena_status(scratch));

    // Copy the labels of the box.
    bool any = false;
    for (int32_t z = 0; z < size[2]; z++) {
        for (int32_t y = 0; y < size[1]; y++) {
            for (int32_t x = 0; x < size[0]; x++) {
                int32_t v = sn_voxel_at(voxels, first[0] + x, first[1] + y, first[2] + z);
                *label++ = v < 0 ? 0 : voxels->label[v];
                any = any || v >= 0;
            }
        }
    }

    return any ? sn_voxels_create(shape->context, size, voxels->spacing, lower, labels, SIZE_MAX,
                                  box)
               : fail_outside(shape, p);
}

// The front, inside the box.
static sinew_status run_front(const sn_shape *shape, sn_arena *scratch,
                              const sn_insertion *insertion, const int32_t first[3],
                              const sinew_voxels *box, reached *found) {
    sn_metric metric = sn_metric_euclidean(box);
    sn_front *front;

    SN_TRY(sn_front_create(scratch, &metric, SN_DISTANCE_MARCHING_2, &front));
    if (!sn_front_seed_point(front, insertion->position, SN_FRONT_SEED_RADIUS, metric.largest_step,
                             0)) {
        return fail_outside(shape, insertion->position);
    }

    sn_front_run(front, insertion->range, NULL, NULL);
    SN_TRY(push_reached(scratch, front->accepted_count, found));
    for (int32_t k = 0; k < front->accepted_count; k++) {
        int32_t c[3];
        sn_cell_coordinates(box->cells, box->cell[front->accepted[k]], c);
        found->voxel[k] =
            sn_voxel_at(shape->voxels, first[0] + c[0], first[1] + c[1], first[2] + c[2]);
        found->weight[k] = bump(front->distance[front->accepted[k]], insertion->range);
    }

    found->count = front->accepted_count;
    return SINEW_OK;
}

// Opens the field's box over what was reached, and puts the weights there.
static sinew_status open_box(const reached *found, sn_arena *scratch, field *field) {
    int32_t last[3] = {-1, -1, -1};

    // The bounding box of the cells that were reached.
    for (int32_t k = 0; k < found->count; k++) {
        int32_t c[3];
        sn_cell_coordinates(field->voxels->cells, field->voxels->cell[found->voxel[k]], c);
        for (int a = 0; a < 3; a++) {
            if (last[a] < 0 || c[a] < field->first[a]) {
                field->first[a] = c[a];
            }
            if (c[a] > last[a]) {
                last[a] = c[a];
            }
        }
    }

    for (int a = 0; a < 3; a++) {
        field->size[a] = last[a] - field->first[a] + 1;
    }

    field->weight = SN_PUSH(
        scratch, double, (size_t)field->size[0] * (size_t)field->size[1] * (size_t)field->size[2]);
    SN_TRY(sn_arena_status(scratch));

    // Store the weights by position, so that looking one up needs no search.
    for (int32_t k = 0; k < found->count; k++) {
        field->weight[place_in_box(field, found->voxel[k])] = found->weight[k];
    }

    return SINEW_OK;
}

static sinew_status spread(const sn_shape *shape, sn_arena *scratch, sn_insertion *insertion,
                           field *field) {
    int32_t first[3], count = 0;
    sinew_voxels *box = NULL;
    reached found = {0};

    // Distances inside the solid, from a front that starts at the node.
    SN_TRY(cut_box(shape, scratch, insertion->position, insertion->range, first, &box));
    sinew_status status = run_front(shape, scratch, insertion, first, box, &found);

    sinew_voxels_destroy(box);
    SN_TRY(status);

    // Parts that cannot bend either keep their weights or move as one.
    SN_TRY(spare_bound(shape, scratch, &found));
    SN_TRY(level_rigid(shape, scratch, &found));

    for (int32_t k = 0; k < found.count; k++) {
        count += found.weight[k] != 0;
    }

    if (count == 0) {
        return sn_fail(shape->context, SINEW_INVALID_ARGUMENT,
                       "a new node at (%g, %g, %g) m reaches nothing that can bend",
                       insertion->position.x, insertion->position.y, insertion->position.z);
    }

    SN_TRY(open_box(&found, scratch, field));

    // Keep the voxels with a weight, ascending.
    insertion->voxel = SN_PUSH(&insertion->arena, int32_t, count);
    insertion->voxel_weight = SN_PUSH(&insertion->arena, double, count);
    SN_TRY(sn_arena_status(&insertion->arena));

    for (int32_t k = 0; k < found.count; k++) {
        if (found.weight[k] != 0) {
            insertion->voxel[insertion->voxel_count++] = found.voxel[k];
        }
    }

    qsort(insertion->voxel, (size_t)count, sizeof *insertion->voxel, compare_numbers);
    for (int32_t k = 0; k < count; k++) {
        insertion->voxel_weight[k] = field_at(field, insertion->voxel[k]);
    }

    return SINEW_OK;
}

// Samples with a voxel in range, or beside one, because the slope reaches a voxel further than the
// weight.
static sinew_status list_samples(const sn_reach *reach, sn_insertion *insertion,
                                 sn_arena *scratch) {
    const sinew_voxels *voxels = reach->shape->voxels;
    int32_t *list =
        SN_RESERVE(scratch, int32_t, (size_t)insertion->voxel_count * (1 + SN_VOXEL_FACES));
    int32_t count = 0;

    SN_TRY(sn_arena_status(scratch));

    // Each sample is listed once: `met` marks those that are in the list.
    for (int32_t k = 0; k < insertion->voxel_count; k++) {
        for (int d = -1; d < SN_VOXEL_FACES; d++) {
            int32_t v = insertion->voxel[k];
            int32_t u = d < 0 ? v : voxels->neighbor[v][d];
            if (u < 0 || reach->met[reach->sample_of[u]]) {
                continue;
            }

            reach->met[reach->sample_of[u]] = true;
            list[count++] = reach->sample_of[u];
        }
    }

    // The marks are scratch that the next insertion finds cleared.
    for (int32_t k = 0; k < count; k++) {
        reach->met[list[k]] = false;
    }

    insertion->sample = SN_PUSH(&insertion->arena, int32_t, count);
    SN_TRY(sn_arena_status(&insertion->arena));
    memcpy(insertion->sample, list, (size_t)count * sizeof *list);
    qsort(insertion->sample, (size_t)count, sizeof *list, compare_numbers);
    insertion->sample_count = count;

    return SINEW_OK;
}

static sinew_status touch_samples(const sn_reach *reach, sn_insertion *insertion, sn_arena *scratch,
                                  const field *field) {
    const sn_frame_samples *samples = reach->samples;
    SN_TRY(list_samples(reach, insertion, scratch));

    size_t count = (size_t)insertion->sample_count;
    insertion->sample_weight = SN_PUSH(&insertion->arena, double, count);
    insertion->sample_gradient =
        (double(*)[3])sn_arena_push(&insertion->arena, count, sizeof *insertion->sample_gradient);
    SN_TRY(sn_arena_status(&insertion->arena));

    for (int32_t place = 0; place < insertion->sample_count; place++) {
        int32_t s = insertion->sample[place];
        int32_t size = samples->voxel_start[s + 1] - samples->voxel_start[s];
        for (int32_t k = samples->voxel_start[s]; k < samples->voxel_start[s + 1]; k++) {
            sn_vec3 gradient;
            insertion->sample_weight[place] +=
                field_at_voxel(field, samples->voxel[k], &gradient) / size;
            sn_add_to3(insertion->sample_gradient[place], sn_scale(1.0 / size, gradient));
        }
    }

    return SINEW_OK;
}

// The box of BOX^3 cells that a point belongs to; points outside the grid belong to the nearest
// one.
static void box_of_point(const sn_reach *reach, sn_vec3 p, int32_t box[3]) {
    sn_vec3 units = sn_voxel_units(reach->shape->voxels, p);
    const double at[3] = {units.x, units.y, units.z};
    for (int a = 0; a < 3; a++) {
        box[a] = (int32_t)fmin(fmax(floor((at[a] + 0.5) / BOX), 0), reach->boxes[a] - 1.0);
    }
}

static int32_t number_of_box(const sn_reach *reach, const int32_t box[3]) {
    return (box[2] * reach->boxes[1] + box[1]) * reach->boxes[0] + box[0];
}

// Vertices in the boxes around a point, ascending. Returns how many; with out NULL it counts.
static int32_t list_points(const sn_reach *reach, sn_vec3 p, double distance, int32_t *out) {
    int32_t low[3], high[3], count = 0;
    sn_vec3 arm = sn_v3(distance, distance, distance);

    box_of_point(reach, sn_sub(p, arm), low);
    box_of_point(reach, sn_add(p, arm), high);

    // Concatenate the lists of all boxes that the cube around the point meets.
    for (int32_t z = low[2]; z <= high[2]; z++) {
        for (int32_t y = low[1]; y <= high[1]; y++) {
            for (int32_t x = low[0]; x <= high[0]; x++) {
                int32_t box = number_of_box(reach, (int32_t[3]){x, y, z});
                int32_t many = reach->box_start[box + 1] - reach->box_start[box];
                if (out) {
                    memcpy(out + count, reach->box_point + reach->box_start[box],
                           (size_t)many * sizeof *out);
                }

                count += many;
            }
        }
    }

    if (out) {
        qsort(out, (size_t)count, sizeof *out, compare_numbers);
    }

    return count;
}

static sinew_status touch_vertices(const sn_reach *reach, sn_insertion *insertion,
                                   sn_arena *scratch, const field *field) {
    double distance = 0;
    for (int32_t k = 0; k < insertion->voxel_count; k++) {
        distance = fmax(distance, sn_distance(sn_voxel_center(field->voxels, insertion->voxel[k]),
                                              insertion->position));
    }

    // A vertex may lie outside by a cell or so.
    distance +=
        2 * (field->voxels->spacing[0] + field->voxels->spacing[1] + field->voxels->spacing[2]);

    int32_t count = list_points(reach, insertion->position, distance, NULL);
    int32_t touched = 0;
    int32_t *list = SN_PUSH(scratch, int32_t, count);
    double *weight = SN_PUSH(scratch, double, count);

    SN_TRY(sn_arena_status(scratch));
    list_points(reach, insertion->position, distance, list);
    for (int32_t i = 0; i < count; i++) {
        sn_vec3 p = sn_load3(reach->points + 3 * (size_t)list[i]);
        weight[i] =
            sn_distance(p, insertion->position) < distance ? field_at_point(field, p, NULL) : 0;
        touched += weight[i] > 0;
    }

    insertion->vertex = SN_PUSH(&insertion->arena, int32_t, touched);
    insertion->vertex_weight = SN_PUSH(&insertion->arena, double, touched);
    SN_TRY(sn_arena_status(&insertion->arena));

    for (int32_t i = 0; i < count; i++) {
        if (!(weight[i] > 0)) {
            continue;
        }
        insertion->vertex[insertion->vertex_count] = list[i];
        insertion->vertex_weight[insertion->vertex_count++] = weight[i];
    }

    return SINEW_OK;
}

sinew_status sn_reach_create(sn_arena *arena, const sn_shape *shape,
                             const sn_frame_samples *samples, const double *points,
                             int32_t point_count, sn_reach *reach) {
    *reach = (sn_reach){
        .shape = shape, .samples = samples, .points = points, .point_count = point_count};

    size_t boxes = 1;
    for (int a = 0; a < 3; a++) {
        reach->boxes[a] = (shape->voxels->cells[a] + BOX - 1) / BOX;
        boxes *= (size_t)reach->boxes[a];
    }

    reach->sample_of = SN_PUSH(arena, int32_t, shape->voxels->count);
    reach->met = SN_PUSH(arena, bool, samples->count);
    reach->box_start = SN_PUSH(arena, int32_t, boxes + 2);
    reach->box_point = SN_PUSH(arena, int32_t, point_count);
    SN_TRY(sn_arena_status(arena));

    // The sample that each voxel belongs to.
    for (int32_t s = 0; s < samples->count; s++) {
        for (int32_t k = samples->voxel_start[s]; k < samples->voxel_start[s + 1]; k++) {
            reach->sample_of[samples->voxel[k]] = s;
        }
    }

    // Sort the vertices into boxes: count them, turn counts into starts, then fill.
    int32_t box[3];
    int32_t *next = reach->box_start + 1; // ends of boxes move up while they are filled
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < point_count; i++) {
            box_of_point(reach, sn_load3(points + 3 * (size_t)i), box);
            if (pass == 0) {
                next[number_of_box(reach, box) + 1]++;
            }
            if (pass == 1) {
                reach->box_point[next[number_of_box(reach, box)]++] = i;
            }
        }

        if (pass == 0) {
            for (size_t b = 0; b < boxes; b++) {
                next[b + 1] += next[b];
            }
        }
    }

    return SINEW_OK;
}

sinew_status sn_insertion_create(const sn_reach *reach, sn_vec3 position, double range,
                                 sn_insertion **insertion) {
    const sn_shape *shape = reach->shape;
    const double *h = shape->voxels->spacing;
    double cell = fmax(h[0], fmax(h[1], h[2]));

    if (!sn_finite3(position) || !(range >= cell) || !isfinite(range)) {
        return sn_fail(
            shape->context, SINEW_INVALID_ARGUMENT,
            "a new node needs a finite position and a range of at least one cell, %g m, not %g",
            cell, range);
    }

    // The node's weight over the voxels, then at everything that these touch.
    sn_arena arena = sn_arena_create(shape->context);
    sn_arena scratch = sn_arena_create(shape->context);
    sn_insertion *made = SN_PUSH(&arena, sn_insertion, 1);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    *made = (sn_insertion){.arena = arena, .users = 1, .position = position, .range = range};
    field field = {.shape = shape, .voxels = shape->voxels};
    sinew_status status = spread(shape, &scratch, made, &field);
    if (status == SINEW_OK) {
        status = touch_samples(reach, made, &scratch, &field);
    }
    if (status == SINEW_OK) {
        status = touch_vertices(reach, made, &scratch, &field);
    }

    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        sn_insertion_release(made);
        return status;
    }

    *insertion = made;
    return SINEW_OK;
}

void sn_insertion_hold(sn_insertion *insertion) {
    insertion->users++;
}

void sn_insertion_release(sn_insertion *insertion) {
    if (!insertion || --insertion->users > 0) {
        return;
    }
    sn_arena arena = insertion->arena;
    sn_arena_destroy(&arena);
}

// One more node in the first `count` entries of a list, whose room is larger.
static void add_node(double *weights, double *gradients, int32_t count, double weight,
                     sn_vec3 gradient) {
    for (int32_t k = 0; k < count; k++) {
        sn_vec3 g = sn_load3(gradients + 3 * k);
        sn_store3(gradients + 3 * k,
                  sn_sub(sn_scale(1 - weight, g), sn_scale(weights[k], gradient)));
        weights[k] *= 1 - weight;
    }

    weights[count] = weight;
    sn_store3(gradients + 3 * count, gradient);
}

static sinew_status push_rows(sn_arena *arena, const sn_frame_samples *base,
                              const sn_insertion *const *insertions, int32_t insertion_count,
                              const int32_t *list, int32_t count, sn_sample_rows *rows) {
    rows->start = SN_PUSH(arena, int32_t, (size_t)count + 1);
    SN_TRY(sn_arena_status(arena));

    // Count: the nodes of the base, and each insertion that touches the sample.
    for (int32_t i = 0; i < count; i++) {
        int32_t s = list[i];
        int32_t nodes = base->start[s + 1] - base->start[s];
        for (int32_t k = 0; k < insertion_count; k++) {
            nodes += sn_insertion_find_sample(insertions[k], s) >= 0;
        }

        if (nodes > SN_POINT_NODES) {
            return sn_fail(arena->context, SINEW_INVALID_ARGUMENT,
                           "sample %d would have %d nodes; at most %d", s, nodes, SN_POINT_NODES);
        }

        rows->start[i + 1] = rows->start[i] + nodes;
    }

    size_t total = (size_t)rows->start[count];
    rows->node = SN_PUSH(arena, int32_t, total);
    rows->weight = SN_PUSH(arena, double, total);
    rows->gradient = SN_PUSH(arena, double, 3 * total);

    return sn_arena_status(arena);
}

sinew_status sn_insertions_compute_rows(sn_arena *arena, const sn_frame_samples *base,
                                        int32_t base_nodes, const sn_insertion *const *insertions,
                                        int32_t insertion_count, const int32_t *list, int32_t count,
                                        sn_sample_rows *rows) {
    SN_TRY(push_rows(arena, base, insertions, insertion_count, list, count, rows));
    for (int32_t i = 0; i < count; i++) {
        int32_t s = list[i];
        int32_t from = base->start[s];
        int32_t to = rows->start[i];
        int32_t filled = base->start[s + 1] - from;
        double *weights = rows->weight + to;
        double *gradients = rows->gradient + 3 * (size_t)to;

        memcpy(rows->node + to, base->node + from, (size_t)filled * sizeof *rows->node);
        memcpy(weights, base->weight + from, (size_t)filled * sizeof *weights);
        memcpy(gradients, base->gradient + 3 * (size_t)from,
               3 * (size_t)filled * sizeof *gradients);

        // The order matters: each insertion scales all weights before it.
        for (int32_t k = 0; k < insertion_count; k++) {
            int32_t at = sn_insertion_find_sample(insertions[k], s);
            if (at < 0) {
                continue;
            }

            add_node(weights, gradients, filled, insertions[k]->sample_weight[at],
                     sn_load3(insertions[k]->sample_gradient[at]));
            rows->node[to + filled++] = base_nodes + k;
        }
    }

    return SINEW_OK;
}

void sn_insertions_weights_at(const sn_shape *shape, const sn_insertion *const *insertions,
                              int32_t count, sn_vec3 X, sn_shape_point *result) {
    sn_shape_at_point(shape, X, result);
    for (int32_t i = 0; i < count && result->count < SN_POINT_NODES; i++) {
        sn_vec3 slope;
        double weight = sn_insertion_at_point(insertions[i], shape, X, &slope);
        if (weight == 0 && sn_dot(slope, slope) == 0) {
            continue;
        }

        add_node(result->weight, result->gradient[0], result->count, weight, slope);
        result->node[result->count++] = shape->node_count + i;
    }
}
