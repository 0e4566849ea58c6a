// Fronts: buffers, stencils, and the loop that accepts voxels in the order of their distance. See
// distance.h for the methods.
#include "geom/distance/distance.h"

#include "base/prefetch.h"
#include "geom/distance/distance_queue.h"

#include <string.h>

// Arrays that are read at index -1 start one cache line later.
enum { PAD = 8 };

#define TIE 1e-6 // relative to a step: distances that differ by less are equal

sinew_status sn_front_create(sn_arena *arena, const sn_metric *metric, sn_distance_method method,
                             sn_front **front) {
    int32_t count = metric->voxels->count;
    sn_front *made = SN_PUSH(arena, sn_front, 1);
    double *distance = SN_RESERVE(arena, double, (size_t)count + PAD);
    int32_t *accepted = SN_RESERVE(arena, int32_t, count);
    int32_t *touched = SN_RESERVE(arena, int32_t, count);
    int32_t *state = SN_RESERVE(arena, int32_t, (size_t)count + 2 * PAD);

    // Index -1, which stands for "no neighbour", reads as a wall at infinite distance.
    SN_TRY(sn_arena_status(arena));
    *made =
        (sn_front){.metric = metric, .method = method, .accepted = accepted, .touched = touched};
    made->distance = distance + PAD;
    made->state = state + 2 * PAD;

    for (int32_t v = -1; v < count; v++) {
        made->distance[v] = INFINITY;
        made->state[v] = v < 0 ? SN_FRONT_DONE : SN_FRONT_FRESH;
    }

    SN_TRY(sn_queue_create(arena, count, &made->queue));
    sn_queue_reset(made->queue, metric->largest_step);
    *front = made;

    return SINEW_OK;
}

void sn_front_reset(sn_front *front) {
    for (int32_t i = 0; i < front->touched_count; i++) {
        int32_t v = front->touched[i];
        front->state[v] = SN_FRONT_FRESH;
        front->distance[v] = INFINITY;
    }

    front->touched_count = front->accepted_count = 0;
    sn_queue_reset(front->queue, front->metric->largest_step);
}

// An item for a voxel that has not been reached before. Prefetches what its acceptance will need.
static sn_queue_item *start_item(sn_front *front, int32_t voxel) {
    int32_t number = sn_queue_take(front->queue, voxel);
    SN_PREFETCH(front->metric->voxels->neighbor[voxel]);
    front->state[voxel] = number;
    front->touched[front->touched_count++] = voxel;
    sn_queue_item *item = &front->queue->item[number];
    item->held = false;
    item->axes = 0; // no neighbour has contributed yet

    return item;
}

static void start_voxel(sn_front *front, int32_t voxel, double distance, int32_t source,
                        bool held) {
    SN_ASSERT(voxel >= 0 && voxel < front->metric->voxels->count && distance >= 0);
    SN_ASSERT(!sn_front_is_accepted(front, voxel));

    bool fresh = front->state[voxel] == SN_FRONT_FRESH;
    sn_queue_item *item =
        fresh ? start_item(front, voxel) : &front->queue->item[front->state[voxel]];

    if (!fresh && distance >= item->key) {
        return;
    }

    item->held = held;
    item->source = source;
    sn_queue_push(front->queue, front->state[voxel], distance);
}

void sn_front_seed(sn_front *front, int32_t voxel, double distance, int32_t source) {
    start_voxel(front, voxel, distance, source, false);
}

void sn_front_hold(sn_front *front, int32_t voxel, double distance, int32_t source) {
    start_voxel(front, voxel, distance, source, true);
}

void sn_front_block(sn_front *front, int32_t voxel) {
    if (sn_front_is_accepted(front, voxel)) {
        return;
    }
    SN_ASSERT(front->state[voxel] == SN_FRONT_FRESH);
    front->touched[front->touched_count++] = voxel;
    front->state[voxel] = SN_FRONT_DONE; // with the distance INFINITY
}

// One axis of a marching stencil: p (T - value)^2 is its term of the squared gradient, with p the
// inverse square of the step's cost.
typedef struct axis_term {
    double value, p;
} axis_term;

// Second order is used if the next voxel further upwind is accepted too and the material is
// uniform: the one-sided derivative is
//
//   (3 T - 4 T1 + T2) / 2 h = (T - (4 T1 - T2) / 3) / (2 h / 3)
//
// Voxels at equal distances, as symmetry produces them, do not count as upwind, whatever rounding
// says. `lead` is how much farther voxel n is than the one behind it.
static inline bool is_second_order(const sn_front *front, int32_t voxel, int32_t n, int32_t farther,
                                   double lead, double step) {
    if (!(lead > TIE * step) || front->method != SN_DISTANCE_MARCHING_2) {
        return false; // INFINITY and negative values are not usable
    }

    const double *cost = front->metric->cost;
    if (!cost) {
        return true;
    }

    double here = cost[voxel];
    double tolerance = 1e-6 * here;

    return !(fabs(cost[n] - here) > tolerance || fabs(cost[farther] - here) > tolerance);
}

static inline axis_term find_term(const sn_front *front, int32_t voxel, int32_t n, int d) {
    int32_t farther = front->metric->voxels->neighbor[n][d];
    double step = sn_metric_step(front->metric, voxel, n, d);
    double lead = front->distance[n] - front->distance[farther];
    if (!is_second_order(front, voxel, n, farther, lead, step)) {
        return (axis_term){front->distance[n], 1 / (step * step)};
    }

    return (axis_term){front->distance[n] + lead / 3, 2.25 / (step * step)};
}

// Adds a term to a stencil. Values are relative to the first neighbour's distance to avoid
// cancellation.
static inline sn_stencil add_term(sn_stencil s, axis_term term, double sign) {
    double t = term.value - s.base;
    double p = sign * term.p;
    return (sn_stencil){s.base, s.S0 + p, s.S1 + p * t, s.S2 + p * t * t};
}

// The larger root T of sum p (T - value)^2 = 1, that is S0 T^2 - 2 S1 T + S2 = 1.
static inline double solve_stencil(sn_stencil s) {
    double D = s.S1 * s.S1 - s.S0 * (s.S2 - 1);
    // Not fmax: a call would spill the registers.
    return s.base + (s.S1 + sqrt(D > 0 ? D : 0)) / s.S0;
}

// What an accepted voxel n contributes to a neighbour that sees it in direction d.
typedef struct update {
    int32_t voxel, n, d, source;
    double value;   // distance of n
    double step;    // cost of the step from n
    double p;       // the step's inverse square
    axis_term term; // of n
} update;

// The first accepted neighbour of a voxel: T is known without a square root.
static void march_fresh(sn_front *front, const update *update, double T) {
    sn_queue_item *item = start_item(front, update->voxel);
    item->stencil = add_term((sn_stencil){.base = update->value}, update->term, 1);
    item->first_source = item->source = update->source;
    item->axes = (uint8_t)(1 << (update->d / 2));
    sn_queue_push(front->queue, front->state[update->voxel], T);
}

// Voxels are accepted in the order of distance, so each axis enters the stencil of a voxel with its
// nearer side first, and every term enters while T is still above it: the sums are all that must be
// remembered of the other neighbours. Returns T, or INFINITY if it does not change.
static inline double refine_item(const sn_front *front, const update *update, sn_queue_item *item) {
    if (item->held) {
        return INFINITY;
    }

    // The first contribution starts the stencil. Values are relative to it.
    uint8_t bit = (uint8_t)(1 << (update->d / 2));
    if (!item->axes) {
        item->stencil = (sn_stencil){.base = update->value};
        item->first_source = update->source; // a seed
    }

    if (update->value == item->stencil.base && update->source < item->first_source) {
        // Of equals the lower number, whatever the directions of the axes.
        item->first_source = update->source;
    }

    // The axis already has a term from the other side: replace it if this side is cheaper.
    sn_stencil before = item->stencil;
    if (item->axes & bit) {
        // The other side arrived first; this one can win only through cheaper material.
        if (!front->metric->cost) {
            return INFINITY;
        }

        int32_t other = front->metric->voxels->neighbor[update->voxel][update->d ^ 1];
        double there = sn_metric_step(front->metric, update->voxel, other, update->d ^ 1);
        if (update->value + update->step >= front->distance[other] + there) {
            return INFINITY;
        }

        before = add_term(before, find_term(front, update->voxel, other, update->d ^ 1), -1);
    }

    // Solve with the new term, falling back to first order.
    sn_stencil after = add_term(before, update->term, 1);
    double T = solve_stencil(after);
    if (!(T > update->term.value)) { // a kink, where the second-order stencil is not valid
        after = add_term(before, (axis_term){update->value, update->p}, 1);
        T = solve_stencil(after);
        if (!(T > update->value)) {
            return INFINITY; // earlier second-order terms are already above: keep the known value
        }
    }

    item->stencil = after;
    item->axes |= bit;

    return T;
}

// A queued item that may move.
typedef struct waiting {
    int32_t number;
    double T;
} waiting;

static void push_waiting(sn_front *front, waiting waiting) {
    sn_queue_item *item = &front->queue->item[waiting.number];
    if (waiting.T >= item->key) {
        return;
    }
    item->source = item->first_source;
    sn_queue_push(front->queue, waiting.number, waiting.T);
}

// Lets an accepted voxel update its neighbours. Queued ones are moved at the end: whether they move
// is unpredictable, and until then their roots can be computed side by side.
static void march_neighbors(sn_front *front, int32_t voxel) {
    const int32_t *neighbor = front->metric->voxels->neighbor[voxel];
    double distance[SN_VOXEL_FACES], last_step = 0;
    int open[SN_VOXEL_FACES], count = 0, waits = 0;
    waiting moves[SN_VOXEL_FACES];

    // Collect the neighbours that are not accepted, without unpredictable branches.
    for (int d = 0; d < SN_VOXEL_FACES; d++) {
        distance[d] = front->distance[neighbor[d]];
        open[count] = d;
        count += !(distance[d] < INFINITY);
    }

    // Compute the contribution of this voxel to each of them.
    update update = {
        .n = voxel, .source = sn_front_source(front, voxel), .value = front->distance[voxel]};
    for (int k = 0; k < count; k++) {
        int d = open[k];
        int32_t u = neighbor[d];
        int32_t state = front->state[u];
        if (state <= SN_FRONT_DONE) {
            continue; // a wall, or outside
        }

        update.voxel = u;
        update.d = d ^ 1;
        update.step = sn_metric_step(front->metric, u, voxel, d);
        if (update.step != last_step) { // usually the same: saves a division
            last_step = update.step;
            update.p = 1 / (update.step * update.step);
        }

        // First order by default, second order where it is valid.
        double lead = update.value - distance[d ^ 1];
        double share = 1;

        update.term = (axis_term){update.value, update.p};
        if (is_second_order(front, u, voxel, neighbor[d ^ 1], lead, update.step)) {
            update.term = (axis_term){update.value + lead / 3, 2.25 * update.p};
            share = 2.0 / 3;
        }

        if (state == SN_FRONT_FRESH) {
            march_fresh(front, &update, update.term.value + share * update.step);
        } else {
            moves[waits++] =
                (waiting){state, refine_item(front, &update, &front->queue->item[state])};
        }
    }

    // Move the queued ones.
    for (int k = 0; k < waits; k++) {
        push_waiting(front, moves[k]);
    }
}

int32_t sn_front_upwind(const sn_front *front, int32_t voxel, int32_t neighbors[3],
                        double weights[3]) {
    SN_ASSERT(sn_front_is_accepted(front, voxel));
    const int32_t *neighbor = front->metric->voxels->neighbor[voxel];
    double T = front->distance[voxel];
    double sum = 0;
    int32_t count = 0;

    // Along each axis the cheaper of the two accepted neighbours, weighted by the gradient.
    for (int axis = 0; axis < 3; axis++) {
        double best = INFINITY;
        for (int d = 2 * axis; d < 2 * axis + 2; d++) {
            double value = front->distance[neighbor[d]];
            if (!(value < T)) {
                continue;
            }

            double step = sn_metric_step(front->metric, voxel, neighbor[d], d);
            if (value + step >= best) {
                continue;
            }

            best = value + step;
            neighbors[count] = neighbor[d];
            weights[count] = (T - value) / (step * step);
        }

        if (best < INFINITY) {
            sum += weights[count++];
        }
    }

    for (int32_t i = 0; i < count; i++) {
        weights[i] /= sum;
    }

    return count;
}

// The voxel at a face, edge or corner offset, reached over any chain of face neighbours; -1 if
// every chain is broken.
static int32_t chain(const sinew_voxels *voxels, int32_t voxel, const int *directions, int length) {
    if (length == 0 || voxel < 0) {
        return voxel;
    }

    // Try each direction first, so that the order of the steps does not matter.
    for (int first = 0; first < length; first++) {
        int rest[2] = {0, 0};
        for (int i = 0, k = 0; i < length; i++) {
            if (i != first) {
                rest[k++] = directions[i];
            }
        }

        int32_t end = chain(voxels, voxels->neighbor[voxel][directions[first]], rest, length - 1);
        if (end >= 0) {
            return end;
        }
    }

    return -1;
}

static void relax(sn_front *front, int32_t voxel, const int *directions, int length) {
    const sn_metric *metric = front->metric;
    int32_t u = chain(metric->voxels, voxel, directions, length);
    if (sn_front_is_accepted(front, u)) {
        return;
    }

    // Length of the step times the mean cost of its two voxels.
    double squared = 0;
    for (int i = 0; i < length; i++) {
        double h = metric->voxels->spacing[directions[i] / 2];
        squared += h * h;
    }

    double cost = metric->cost ? 0.5 * (metric->cost[voxel] + metric->cost[u]) : 1;
    double T = front->distance[voxel] + cost * sqrt(squared);
    int32_t source = sn_front_source(front, voxel);
    bool fresh = front->state[u] == SN_FRONT_FRESH;
    sn_queue_item *item = fresh ? start_item(front, u) : &front->queue->item[front->state[u]];

    if (item->held || !(fresh || T < item->key || (T == item->key && source < item->source))) {
        return;
    }

    item->source = source;
    sn_queue_push(front->queue, front->state[u], T);
}

static void relax_neighbors(sn_front *front, int32_t voxel) {
    // Face neighbours, then edge neighbours, then corner neighbours.
    for (int d = 0; d < 6; d++) {
        relax(front, voxel, (int[]){d}, 1);
    }

    if (front->method == SN_DISTANCE_GRAPH_6) {
        return;
    }

    for (int i = 0; i < 4; i++) {
        relax(front, voxel, (int[]){i & 1, 2 + (i >> 1)}, 2);
        relax(front, voxel, (int[]){i & 1, 4 + (i >> 1)}, 2);
        relax(front, voxel, (int[]){2 + (i & 1), 4 + (i >> 1)}, 2);
    }

    if (front->method == SN_DISTANCE_GRAPH_18) {
        return;
    }

    for (int i = 0; i < 8; i++) {
        relax(front, voxel, (int[]){i & 1, 2 + (i >> 1 & 1), 4 + (i >> 2)}, 3);
    }
}

static void accept(sn_front *front, int32_t voxel, double distance, int32_t source) {
    front->state[voxel] = SN_FRONT_DONE - source;
    front->distance[voxel] = distance;
    front->accepted[front->accepted_count++] = voxel;
}

static void go_on(sn_front *front, int32_t voxel, sn_front_visit *visit, void *data) {
    if (visit && !visit(data, front, voxel, front->distance[voxel])) {
        return;
    }

    if (front->method >= SN_DISTANCE_MARCHING_1) {
        march_neighbors(front, voxel);
    } else {
        relax_neighbors(front, voxel);
    }
}

// A rigid part is reached everywhere at once.
static void accept_cluster(sn_front *front, int32_t cluster, double distance, int32_t source,
                           sn_front_visit *visit, void *data) {
    const sn_metric *metric = front->metric;
    int32_t begin = metric->cluster_start[cluster];
    int32_t end = metric->cluster_start[cluster + 1];

    // Accept all voxels before any of them updates its neighbours.
    for (int32_t i = begin; i < end; i++) {
        int32_t u = metric->cluster_voxel[i];
        int32_t item = front->state[u];

        SN_ASSERT(!sn_front_is_accepted(front, u));

        if (item >= 0) {
            sn_queue_remove(front->queue, item);
            sn_queue_give_back(front->queue, item);
        } else {
            front->touched[front->touched_count++] = u;
        }

        accept(front, u, distance, source);
    }

    for (int32_t i = begin; i < end; i++) {
        go_on(front, metric->cluster_voxel[i], visit, data);
    }
}

// The voxels of the current bucket come next: fetch the data of all their neighbours together, not
// one by one when it is needed.
static void fetch_ahead(sn_front *front) {
    const sn_front_queue *queue = front->queue;
    const double *cost = front->metric->cost;

    int32_t(*neighbor)[SN_VOXEL_FACES] = front->metric->voxels->neighbor;
    for (int32_t i = 0; i < queue->present_count; i++) {
        int32_t voxel = queue->present[i].voxel;
        const int32_t *row = neighbor[voxel];
        for (const sn_companion *c = front->companion; c < front->companion + 3 && c->array; c++) {
            SN_PREFETCH((const char *)c->array + (size_t)voxel * c->size);
        }

        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            SN_PREFETCH(&front->state[row[d]]);
            SN_PREFETCH(&front->distance[row[d]]);
            if (cost) {
                SN_PREFETCH(&cost[row[d]]);
            }
        }
    }

    front->queue->advanced = false;
}

// The rigid part of a voxel, or -1. Rigid voxels cost nothing, and the costs are in the cache while
// the parts are not.
static int32_t cluster_of(const sn_metric *metric, int32_t voxel) {
    if (!metric->cluster || (metric->cost && metric->cost[voxel] > 0)) {
        return -1;
    }
    return metric->cluster[voxel];
}

void sn_front_run(sn_front *front, double limit, sn_front_visit *visit, void *data) {
    for (;;) {
        int32_t number = sn_queue_pop(front->queue);
        if (number < 0) {
            return;
        }

        // Copy the item: accepting the voxel returns it to the pool.
        const sn_queue_item *item = &front->queue->item[number];
        int32_t voxel = item->voxel;
        int32_t source = item->source;
        double distance = item->key;

        if (distance > limit) {
            return;
        }
        if (front->queue->advanced) {
            fetch_ahead(front);
        }

        // Reaching a rigid voxel means reaching its whole part.
        int32_t cluster = cluster_of(front->metric, voxel);
        if (cluster >= 0) {
            accept_cluster(front, cluster, distance, source, visit, data);
        } else {
            sn_queue_give_back(front->queue, number);
            accept(front, voxel, distance, source);
            go_on(front, voxel, visit, data);
        }
    }
}
