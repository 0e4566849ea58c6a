// Fronts: buffers, stencils, and the loop that accepts voxels in the order of their distance.
#include "geom/distance.h"

#include "base/prefetch.h"
#include "geom/distance_queue.h"

#include <string.h>

// Arrays that are read at index -1 start one cache line later.
enum { PAD = 8 };

#define TIE 1e-6 // of a step: distances that differ by less are equal

double sn_front_estimate_memory(int32_t voxel_count) {
    // distance; queue and heap; accepted, touched
    return voxel_count * (double)(sizeof(double) + sizeof(sn_queue_item) + 3 * sizeof(int32_t));
}

sinew_status sn_front_create(sn_arena *arena, const sn_metric *metric, sn_distance_method method, sn_front **front) {
    int32_t count = metric->voxels->count;
    sn_front *made = SN_PUSH(arena, sn_front, 1);
    double *distance = SN_PUSH(arena, double, (size_t)count + PAD);
    int32_t *accepted = SN_PUSH(arena, int32_t, count);
    int32_t *touched = SN_PUSH(arena, int32_t, count);
    SN_TRY(sn_arena_status(arena));
    *made =
        (sn_front){.metric = metric, .method = method, .distance = distance + PAD, .accepted = accepted, .touched = touched};
    for (int32_t i = 0; i < count + PAD; i++) distance[i] = INFINITY;
    SN_TRY(sn_queue_create(arena, count, &made->queue));
    for (int a = 0; a < 3; a++) made->inverse_square[a] = 1 / (metric->voxels->spacing[a] * metric->voxels->spacing[a]);
    sn_queue_reset(made->queue, metric->largest_step);
    *front = made;
    return SINEW_OK;
}

int32_t sn_front_source(const sn_front *front, int32_t voxel) {
    return front->queue->item[voxel].source;
}

uint8_t sn_front_state(const sn_front *front, int32_t voxel) {
    return front->queue->item[voxel].state;
}

void sn_front_reset(sn_front *front) {
    for (int32_t i = 0; i < front->touched_count; i++) {
        int32_t v = front->touched[i];
        front->queue->item[v].state = SN_FRONT_FAR;
        front->distance[v] = INFINITY;
    }
    front->touched_count = front->accepted_count = 0;
    sn_queue_reset(front->queue, front->metric->largest_step);
}

// A smaller distance for a voxel that is not yet accepted.
static void improve(sn_front *front, int32_t voxel, double distance, int32_t source, uint8_t state) {
    sn_queue_item *item = &front->queue->item[voxel];
    if (item->state == SN_FRONT_FAR) front->touched[front->touched_count++] = voxel;
    item->state = state;
    item->source = source;
    sn_queue_push(front->queue, voxel, distance);
}

static void start_voxel(sn_front *front, int32_t voxel, double distance, int32_t source, uint8_t state) {
    SN_ASSERT(voxel >= 0 && voxel < front->metric->voxels->count && distance >= 0);
    sn_queue_item *item = &front->queue->item[voxel];
    SN_ASSERT(item->state != SN_FRONT_ACCEPTED);
    if (item->state != SN_FRONT_FAR && distance >= item->key) return;
    if (item->state == SN_FRONT_FAR) item->axes = 0; // no neighbour has come yet
    improve(front, voxel, distance, source, state);
}

void sn_front_seed(sn_front *front, int32_t voxel, double distance, int32_t source) {
    start_voxel(front, voxel, distance, source, SN_FRONT_TRIAL);
}

void sn_front_hold(sn_front *front, int32_t voxel, double distance, int32_t source) {
    start_voxel(front, voxel, distance, source, SN_FRONT_HELD);
}

void sn_front_block(sn_front *front, int32_t voxel) {
    sn_queue_item *item = &front->queue->item[voxel];
    if (item->state == SN_FRONT_ACCEPTED) return;
    SN_ASSERT(item->state == SN_FRONT_FAR);
    front->touched[front->touched_count++] = voxel;
    item->state = SN_FRONT_ACCEPTED; // with the distance INFINITY
}

// One axis of a marching stencil: p (T - value)^2 is its term of the squared gradient, p the inverse square of the step's
// cost.
typedef struct axis_term {
    double value, p;
} axis_term;

// The term of an accepted neighbour n that a voxel sees in direction d, to first order.
static inline axis_term first_order_term(const sn_front *front, int32_t voxel, int32_t n, int d) {
    const double *cost = front->metric->cost;
    axis_term term = {front->distance[n], front->inverse_square[d / 2]};
    if (cost) {
        double sum = cost[voxel] + cost[n];
        term.p *= 4 / (sum * sum);
    }
    return term;
}

// Second order where the next voxel farther upwind is accepted too and the material is uniform: the one-sided derivative is
// (3 T - 4 T1 + T2) / 2 h = (T - (4 T1 - T2) / 3) / (2 h / 3). Voxels that are equally far, as symmetry makes them, do not
// count as upwind, whatever rounding says.
static inline axis_term find_term(const sn_front *front, int32_t voxel, int32_t n, int d) {
    const double *cost = front->metric->cost;
    axis_term term = first_order_term(front, voxel, n, d);
    if (front->method != SN_DISTANCE_MARCHING_2) return term;
    int32_t farther = front->metric->voxels->neighbor[n][d];
    double value = front->distance[farther];
    double lead = term.value - value;
    if (!(lead > 0) || !(lead * lead * term.p > TIE * TIE)) return term;
    if (cost) {
        double here = cost[voxel], tolerance = 1e-6 * here;
        if (fabs(cost[n] - here) > tolerance || fabs(cost[farther] - here) > tolerance) return term;
    }
    return (axis_term){term.value + lead / 3, term.p * 2.25};
}

// Adds a term to the sums of a voxel. Values are relative to the first neighbour's distance, so that nothing cancels.
static inline void add_term(sn_queue_item *sums, axis_term term, double sign) {
    double t = term.value - sums->base, p = sign * term.p;
    sums->S0 += p;
    sums->S1 += p * t;
    sums->S2 += p * t * t;
}

// The upper root T of sum p (T - value)^2 = 1, that is S0 T^2 - 2 S1 T + S2 = 1.
static inline double solve_sums(const sn_queue_item *sums) {
    return sums->base + (sums->S1 + sqrt(fmax(sums->S1 * sums->S1 - sums->S0 * (sums->S2 - 1), 0))) / sums->S0;
}

// Lets an accepted voxel n update its neighbour u, which sees n in direction d. Because voxels are accepted in the order of
// distance, each axis enters the sums of u with its nearer side first, and every term enters while T is still above it: the
// sums are all that must be known of the other neighbours.
static void march(sn_front *front, int32_t u, int32_t n, int d) {
    sn_queue_item *item = &front->queue->item[u];
    int32_t source = front->queue->item[n].source;
    double value = front->distance[n];
    if (item->state == SN_FRONT_FAR || item->axes == 0) {
        item->axes = 0;
        item->base = value;
        item->S0 = item->S1 = item->S2 = 0;
        item->first_source = source;
    } else if (value == item->base && source < item->first_source) {
        item->first_source = source; // equals: the lower number, wherever the axes point
    }
    uint8_t bit = (uint8_t)(1 << (d / 2));
    sn_queue_item before = *item, after;
    if (item->axes & bit) {
        // The far side arrives later; it can win only by cheaper material.
        if (!front->metric->cost) return;
        int32_t other = front->metric->voxels->neighbor[u][d ^ 1];
        double here = sn_metric_step(front->metric, u, n, d), there = sn_metric_step(front->metric, u, other, d ^ 1);
        if (value + here >= front->distance[other] + there) return;
        add_term(&before, find_term(front, u, other, d ^ 1), -1);
    }
    after = before;
    axis_term term = find_term(front, u, n, d);
    add_term(&after, term, 1);
    double T = solve_sums(&after);
    if (!(T > term.value)) { // a kink, where second order sees what is not there
        after = before;
        add_term(&after, first_order_term(front, u, n, d), 1);
        T = solve_sums(&after);
        if (!(T > value)) return; // earlier terms of second order already lie above: what is known stays
    }
    item->S0 = after.S0;
    item->S1 = after.S1;
    item->S2 = after.S2;
    item->axes = (uint8_t)(item->axes | bit);
    if (item->state == SN_FRONT_FAR || T < item->key) improve(front, u, T, item->first_source, SN_FRONT_TRIAL);
}

int32_t sn_front_upwind(const sn_front *front, int32_t voxel, int32_t neighbors[3], double weights[3]) {
    SN_ASSERT(sn_front_state(front, voxel) == SN_FRONT_ACCEPTED);
    const int32_t *neighbor = front->metric->voxels->neighbor[voxel];
    double T = front->distance[voxel], sum = 0;
    int32_t count = 0;
    for (int axis = 0; axis < 3; axis++) {
        double best = INFINITY;
        for (int d = 2 * axis; d < 2 * axis + 2; d++) {
            double value = front->distance[neighbor[d]];
            if (!(value < T)) continue;
            axis_term term = first_order_term(front, voxel, neighbor[d], d);
            double arrival = value + 1 / sqrt(term.p);
            if (arrival >= best) continue;
            best = arrival;
            neighbors[count] = neighbor[d];
            weights[count] = (T - value) * term.p;
        }
        if (best < INFINITY) sum += weights[count++];
    }
    for (int32_t i = 0; i < count; i++) weights[i] /= sum;
    return count;
}

static void march_neighbors(sn_front *front, int32_t voxel) {
    const int32_t *neighbor = front->metric->voxels->neighbor[voxel];
    for (int d = 0; d < SN_VOXEL_FACES; d++) {
        int32_t u = neighbor[d];
        if (u >= 0 && front->queue->item[u].state < SN_FRONT_HELD) march(front, u, voxel, d ^ 1);
    }
}

// The voxel at a face, edge or corner offset, over any chain of face neighbours; -1 if every chain is broken.
static int32_t chain(const sinew_voxels *voxels, int32_t voxel, const int *directions, int length) {
    if (length == 0 || voxel < 0) return voxel;
    for (int first = 0; first < length; first++) {
        int rest[2] = {0, 0};
        for (int i = 0, k = 0; i < length; i++) {
            if (i != first) rest[k++] = directions[i];
        }
        int32_t end = chain(voxels, voxels->neighbor[voxel][directions[first]], rest, length - 1);
        if (end >= 0) return end;
    }
    return -1;
}

static void relax(sn_front *front, int32_t voxel, const int *directions, int length) {
    const sn_metric *metric = front->metric;
    int32_t u = chain(metric->voxels, voxel, directions, length);
    if (u < 0 || front->queue->item[u].state >= SN_FRONT_HELD) return;
    double squared = 0;
    for (int i = 0; i < length; i++) {
        double h = metric->voxels->spacing[directions[i] / 2];
        squared += h * h;
    }
    double cost = metric->cost ? 0.5 * (metric->cost[voxel] + metric->cost[u]) : 1;
    double T = front->distance[voxel] + cost * sqrt(squared);
    int32_t source = front->queue->item[voxel].source;
    bool lower_source = front->queue->item[u].state == SN_FRONT_TRIAL && T == front->queue->item[u].key &&
                        source < front->queue->item[u].source;
    if (front->queue->item[u].state == SN_FRONT_FAR || T < front->queue->item[u].key || lower_source)
        improve(front, u, T, source, SN_FRONT_TRIAL);
}

static void relax_neighbors(sn_front *front, int32_t voxel) {
    for (int d = 0; d < 6; d++) relax(front, voxel, (int[]){d}, 1);
    if (front->method == SN_DISTANCE_GRAPH_6) return;
    for (int i = 0; i < 4; i++) {
        relax(front, voxel, (int[]){i & 1, 2 + (i >> 1)}, 2);
        relax(front, voxel, (int[]){i & 1, 4 + (i >> 1)}, 2);
        relax(front, voxel, (int[]){2 + (i & 1), 4 + (i >> 1)}, 2);
    }
    if (front->method == SN_DISTANCE_GRAPH_18) return;
    for (int i = 0; i < 8; i++) relax(front, voxel, (int[]){i & 1, 2 + (i >> 1 & 1), 4 + (i >> 2)}, 3);
}

static void accept(sn_front *front, int32_t voxel, double distance) {
    front->queue->item[voxel].state = SN_FRONT_ACCEPTED;
    front->distance[voxel] = distance;
    front->accepted[front->accepted_count++] = voxel;
}

static void go_on(sn_front *front, int32_t voxel, sn_front_visit *visit, void *data) {
    if (visit && !visit(data, front, voxel, front->distance[voxel])) return;
    if (front->method >= SN_DISTANCE_MARCHING_1) {
        march_neighbors(front, voxel);
    } else {
        relax_neighbors(front, voxel);
    }
}

// A rigid part is reached everywhere at once.
static void accept_cluster(sn_front *front, int32_t voxel, sn_front_visit *visit, void *data) {
    const sn_metric *metric = front->metric;
    double distance = front->queue->item[voxel].key;
    int32_t source = front->queue->item[voxel].source, cluster = metric->cluster[voxel];
    int32_t begin = metric->cluster_start[cluster], end = metric->cluster_start[cluster + 1];
    for (int32_t i = begin; i < end; i++) {
        int32_t u = metric->cluster_voxel[i];
        SN_ASSERT(front->queue->item[u].state != SN_FRONT_ACCEPTED);
        if (front->queue->item[u].state == SN_FRONT_FAR) front->touched[front->touched_count++] = u;
        sn_queue_remove(front->queue, u);
        front->queue->item[u].source = source;
        accept(front, u, distance);
    }
    for (int32_t i = begin; i < end; i++) go_on(front, metric->cluster_voxel[i], visit, data);
}

// The voxels of the present bucket come next: their neighbours are fetched together, instead of one after the other when they
// are needed.
static void fetch_ahead(sn_front *front) {
    sn_front_queue *queue = front->queue;
    int32_t(*neighbor)[SN_VOXEL_FACES] = front->metric->voxels->neighbor;
    for (int32_t i = 0; i < queue->heap_count; i++) SN_PREFETCH(neighbor[queue->heap[i]]);
    for (int32_t i = 0; i < queue->heap_count; i++) {
        const int32_t *row = neighbor[queue->heap[i]];
        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            if (row[d] < 0) continue;
            SN_PREFETCH(&queue->item[row[d]]);
            SN_PREFETCH(&front->distance[row[d]]);
        }
    }
    queue->turned = false;
}

void sn_front_run(sn_front *front, double limit, sn_front_visit *visit, void *data) {
    const int32_t *cluster = front->metric->cluster;
    for (;;) {
        int32_t voxel = sn_queue_pop(front->queue);
        if (voxel < 0) return;
        double distance = front->queue->item[voxel].key;
        if (distance > limit) return;
        if (front->queue->turned) fetch_ahead(front);
        if (cluster && cluster[voxel] >= 0) {
            accept_cluster(front, voxel, visit, data);
        } else {
            accept(front, voxel, distance);
            go_on(front, voxel, visit, data);
        }
    }
}
