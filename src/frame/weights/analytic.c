// Weights with a closed form: along an axis, and as a function of the straight distance.
//
// In: node positions and the weights definition. Out: rows of the table, and exact weights and
// gradients at any point.
//
// Axis, linear: hat functions of the nodes' coordinates s along the axis, constant beyond the ends.
// Axis, cubic: Catmull-Rom, that is cubic Hermite pieces. The slope at a node is the difference
// quotient of its two neighbours, at the ends of the node and its one neighbour. It reproduces
// linear motion even with unequal gaps; its weights can be negative.
//
// Radial: w_i = phi_i / sum phi with phi(r) = max(1 / r - 1 / range, 0)^falloff (Shepard 1968 with
// the cutoff of Franke and Little). It interpolates, because phi is unbounded at its own node.
//
// Cost of one point: a search among the nodes (axis), or one kernel for every node (radial).
#include "frame/weights/table.h"

bool sn_shape_is_analytic(const sn_shape *shape) {
    sinew_weights kind = shape->def.kind;
    return kind == SINEW_WEIGHTS_AXIS_LINEAR || kind == SINEW_WEIGHTS_AXIS_CUBIC ||
           kind == SINEW_WEIGHTS_RADIAL;
}

// Inserts one node's raw weight and gradient; nodes stay in ascending order.
static void put(sn_shape_point *point, int32_t node, double weight, sn_vec3 gradient) {
    SN_ASSERT(point->count < SN_POINT_NODES);
    int32_t place = point->count++;
    while (place > 0 && point->node[place - 1] > node) { // nodes ascending
        point->node[place] = point->node[place - 1];

        point->weight[place] = point->weight[place - 1];
        for (int a = 0; a < 3; a++) {
            point->gradient[place][a] = point->gradient[place - 1][a];
        }
        place--;
    }
    point->node[place] = node;
    point->weight[place] = weight;
    sn_store3(point->gradient[place], gradient);
}

// The nodes that influence a coordinate, with weights and slopes: the two at the ends of its gap
// and at most one more on either side.
typedef struct axis_weights {
    int32_t count;
    int32_t node[4];
    double weight[4], slope[4];
} axis_weights;

static void add_axis(axis_weights *w, int32_t node, double weight, double slope) {
    for (int32_t i = 0; i < w->count; i++) {
        if (w->node[i] != node) {
            continue;
        }
        w->weight[i] += weight;
        w->slope[i] += slope;
        return;
    }

    SN_ASSERT(w->count < 4);
    w->node[w->count] = node;
    w->weight[w->count] = weight;
    w->slope[w->count++] = slope;
}

// Distributes the slope at node k (in sorted order), times a factor, over the nodes whose
// difference quotient it is.
static void add_tangent(const sn_axis_order *order, axis_weights *w, int32_t k, double factor,
                        double factor_slope) {
    int32_t before = k > 0 ? k - 1 : k;
    int32_t after = k + 1 < order->count ? k + 1 : k;
    double gap = order->coordinate[after] - order->coordinate[before];
    add_axis(w, order->node[after], factor / gap, factor_slope / gap);
    add_axis(w, order->node[before], -factor / gap, -factor_slope / gap);
}

static axis_weights evaluate_axis(const sn_shape *shape, double s) {
    const sn_axis_order *order = &shape->axis_order;
    axis_weights w = {0};
    int32_t last = order->count - 1;

    // At the end nodes themselves use the slope of the inner side, where the solid is.
    if (s < order->coordinate[0] || last == 0) {
        add_axis(&w, order->node[0], 1, 0);
        return w;
    }

    if (s > order->coordinate[last]) {
        add_axis(&w, order->node[last], 1, 0);
        return w;
    }

    int32_t low = 0;
    int32_t high = last;
    while (high - low > 1) {
        int32_t middle = (low + high) / 2;
        if (order->coordinate[middle] <= s) {
            low = middle;
        } else {
            high = middle;
        }
    }

    double gap = order->coordinate[high] - order->coordinate[low];
    double t = (s - order->coordinate[low]) / gap;
    if (shape->def.kind == SINEW_WEIGHTS_AXIS_LINEAR) {
        add_axis(&w, order->node[low], 1 - t, -1 / gap);
        add_axis(&w, order->node[high], t, 1 / gap);
        return w;
    }

    // Cubic Hermite: the values at the ends of the gap, then the slopes times the gap.
    add_axis(&w, order->node[low], (1 + 2 * t) * (1 - t) * (1 - t), 6 * t * (t - 1) / gap);
    add_axis(&w, order->node[high], t * t * (3 - 2 * t), 6 * t * (1 - t) / gap);
    add_tangent(order, &w, low, gap * t * (1 - t) * (1 - t), (1 - t) * (1 - 3 * t));
    add_tangent(order, &w, high, gap * t * t * (t - 1), t * (3 * t - 2));

    return w;
}

// Returns phi at distance r and its derivative; INFINITY at the node.
static double evaluate_kernel(const sinew_weights_def *def, double r, double *derivative) {
    double u = 1 / r - (def->range > 0 ? 1 / def->range : 0);
    if (u <= 0) {
        return *derivative = 0;
    }
    *derivative = -def->falloff * pow(u, def->falloff - 1) / (r * r);
    return pow(u, def->falloff);
}

// Returns the node at p, or -1 if there is none.
static int32_t node_at(const sn_shape *shape, sn_vec3 p) {
    const double *h = shape->voxels->spacing;
    double limit = 1e-9 * fmin(h[0], fmin(h[1], h[2]));
    for (int32_t i = 0; i < shape->node_count; i++) {
        if (sn_distance(p, sn_load3(sn_at3(shape->node_position, i))) < limit) {
            return i;
        }
    }

    return -1;
}

// Offers every node's kernel to a row, which keeps the largest ones.
static void offer_kernels(const sn_shape *shape, sn_vec3 p, sn_row *row) {
    for (int32_t i = 0; i < shape->node_count; i++) {
        double derivative;
        double r = sn_distance(p, sn_load3(sn_at3(shape->node_position, i)));
        sn_row_add(row, i, evaluate_kernel(&shape->def, r, &derivative));
    }
}

// Evaluates the nodes that a row of the table would keep, with gradients. The result is empty if p
// is out of range of every node.
static void evaluate_radial(const sn_shape *shape, sn_vec3 p, sn_shape_point *result) {
    int32_t at = node_at(shape, p);
    if (at >= 0) {
        put(result, at, 1, sn_v3(0, 0, 0));
        return;
    }

    sn_row row = {.cap = shape->def.nodes_per_voxel};
    offer_kernels(shape, p, &row);
    for (int32_t k = 0; k < row.count; k++) {
        if (shape->def.normalize && row.weight[k] < shape->def.cutoff * row.total) {
            continue;
        }

        sn_vec3 d = sn_sub(p, sn_load3(sn_at3(shape->node_position, row.node[k])));
        double r = sn_length(d);
        double derivative;
        double value = evaluate_kernel(&shape->def, r, &derivative);
        put(result, row.node[k], value, sn_scale(derivative / r, d));
    }
}

// Normalises: w = phi / S, grad w = (grad phi - w grad S) / S.
static void normalize_point(sn_shape_point *point) {
    double sum = 0;
    sn_vec3 slope = sn_v3(0, 0, 0);
    for (int32_t k = 0; k < point->count; k++) {
        sum += point->weight[k];
        slope = sn_add(slope, sn_load3(point->gradient[k]));
    }

    if (sum != 0) {
        for (int32_t k = 0; k < point->count; k++) {
            point->weight[k] /= sum;
            sn_vec3 gradient =
                sn_sub(sn_load3(point->gradient[k]), sn_scale(point->weight[k], slope));
            sn_store3(point->gradient[k], sn_scale(1 / sum, gradient));
        }
    }
}

void sn_evaluate_analytic(const sn_shape *shape, sn_vec3 p, sn_shape_point *result) {
    result->count = 0;
    if (shape->def.kind == SINEW_WEIGHTS_RADIAL) {
        evaluate_radial(shape, p, result);
        if (shape->def.normalize) {
            normalize_point(result);
        }
        return;
    }

    sn_vec3 axis = sn_normalize(sn_load3(shape->def.axis));
    axis_weights w = evaluate_axis(shape, sn_dot(axis, p));
    for (int32_t i = 0; i < w.count; i++) {
        put(result, w.node[i], w.weight[i], sn_scale(w.slope[i], axis));
    }
}

static void fill_axis_row(const void *data, int32_t voxel, sn_row *row) {
    const sn_shape *shape = data;
    sn_vec3 axis = sn_normalize(sn_load3(shape->def.axis));
    axis_weights w = evaluate_axis(shape, sn_dot(axis, sn_voxel_center(shape->voxels, voxel)));
    for (int32_t i = 0; i < w.count; i++) {
        sn_row_add(row, w.node[i], w.weight[i]);
    }
}

static void fill_radial_row(const void *data, int32_t voxel, sn_row *row) {
    const sn_shape *shape = data;
    sn_vec3 p = sn_voxel_center(shape->voxels, voxel);
    int32_t at = node_at(shape, p);

    if (at >= 0) {
        sn_row_add(row, at, 1);
    } else {
        offer_kernels(shape, p, row);
    }
}

sinew_status sn_build_axis(sn_shape *shape) {
    sn_vec3 axis = sn_load3(shape->def.axis);
    if (!sn_finite3(axis) || !(sn_length(axis) > 0)) {
        return sn_fail(shape->context, SINEW_INVALID_ARGUMENT,
                       "the axis (%g, %g, %g) must be finite and not zero", axis.x, axis.y, axis.z);
    }

    sn_axis_order *order = &shape->axis_order;
    order->count = shape->node_count;
    order->node = SN_PUSH(&shape->arena, int32_t, shape->node_count);
    order->coordinate = SN_PUSH(&shape->arena, double, shape->node_count);
    SN_TRY(sn_arena_status(&shape->arena));

    // Sort the nodes along the axis; there are few of them.
    axis = sn_normalize(axis);

    for (int32_t i = 0; i < shape->node_count; i++) {
        double s = sn_dot(axis, sn_load3(sn_at3(shape->node_position, i)));
        int32_t place = i;
        while (place > 0 && order->coordinate[place - 1] > s) {
            order->coordinate[place] = order->coordinate[place - 1];
            order->node[place] = order->node[place - 1];
            place--;
        }

        order->coordinate[place] = s;
        order->node[place] = i;
    }

    // Interpolation needs distinct coordinates.
    const double *h = shape->voxels->spacing;
    double smallest = 1e-6 * fmin(h[0], fmin(h[1], h[2]));
    for (int32_t i = 1; i < order->count; i++) {
        if (order->coordinate[i] - order->coordinate[i - 1] > smallest) {
            continue;
        }
        return sn_fail(shape->context, SINEW_INVALID_ARGUMENT,
                       "nodes %d and %d have the same coordinate %g m along the axis",
                       order->node[i - 1], order->node[i], order->coordinate[i]);
    }

    return sn_build_table(shape, fill_axis_row, shape);
}

sinew_status sn_build_radial(sn_shape *shape) {
    return sn_build_table(shape, fill_radial_row, shape);
}
