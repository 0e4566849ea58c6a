// The bounding volume hierarchy: built by median splits with quickselect, traversed with an
// explicit stack.
#include "geom/search/search.h"

typedef struct builder {
    sn_bvh *bvh;
    const sn_vec3 *centers;
} builder;

static double coordinate(sn_vec3 p, int axis) {
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

// A strict order of items along an axis; equal coordinates by number, so that any input splits
// evenly and in the same way everywhere.
static bool comes_before(const builder *b, int axis, int32_t i, int32_t k) {
    double a = coordinate(b->centers[i], axis);
    double c = coordinate(b->centers[k], axis);
    return a < c || (a == c && i < k);
}

static void swap_items(int32_t *items, int32_t i, int32_t k) {
    int32_t swap = items[i];
    items[i] = items[k];
    items[k] = swap;
}

// Rearranges items [first, last) so that the one at `middle` is where sorting would put it (Hoare's
// select, median of three).
static void select_middle(const builder *b, int axis, int32_t first, int32_t last, int32_t middle) {
    int32_t *items = b->bvh->items;
    while (last - first > 2) {
        // Median of three as the pivot.
        int32_t half = first + (last - first) / 2;
        int32_t end = last - 1;
        if (comes_before(b, axis, items[half], items[first])) {
            swap_items(items, half, first);
        }
        if (comes_before(b, axis, items[end], items[first])) {
            swap_items(items, end, first);
        }
        if (comes_before(b, axis, items[end], items[half])) {
            swap_items(items, end, half);
        }

        int32_t pivot = items[half];
        int32_t low = first;
        int32_t high = end;

        // Hoare partition.
        while (low <= high) {
            while (comes_before(b, axis, items[low], pivot)) {
                low++;
            }

            while (comes_before(b, axis, pivot, items[high])) {
                high--;
            }

            if (low <= high) {
                swap_items(items, low++, high--);
            }
        }

        // Continue in the part that contains `middle`.
        if (middle <= high) {
            last = high + 1;
        } else if (middle >= low) {
            first = low;
        } else {
            return;
        }
    }

    if (last - first == 2 && comes_before(b, axis, items[first + 1], items[first])) {
        swap_items(items, first, first + 1);
    }
}

static int widest_axis(const builder *b, int32_t first, int32_t last) {
    sn_box box = sn_box_empty();
    for (int32_t i = first; i < last; i++) {
        box = sn_box_with_point(box, b->centers[b->bvh->items[i]]);
    }

    sn_vec3 size = sn_box_size(box);
    if (size.x >= size.y && size.x >= size.z) {
        return 0;
    }

    return size.y >= size.z ? 1 : 2;
}

// Halving limits the depth to 31 levels, so recursion is safe.
static void build_node(builder *b, int32_t first, int32_t last) {
    SN_ASSERT(first < last);
    int32_t number = b->bvh->node_count++;

    b->bvh->nodes[number] = (sn_bvh_node){.first = first, .last = last};
    if (last - first <= SN_BVH_LEAF_SIZE) {
        return;
    }

    int32_t middle = first + (last - first) / 2;
    select_middle(b, widest_axis(b, first, last), first, last, middle);
    build_node(b, first, middle);
    b->bvh->nodes[number].right = b->bvh->node_count;
    build_node(b, middle, last);
}

sinew_status sn_bvh_build(sn_arena *arena, const sn_box *boxes, int32_t count, sn_bvh *bvh) {
    SN_ASSERT(count >= 0);

    // A leaf from a split holds at least two items, so there are fewer nodes than items, or one.
    *bvh = (sn_bvh){.item_count = count,
                    .nodes = SN_PUSH(arena, sn_bvh_node, count),
                    .items = SN_PUSH(arena, int32_t, count)};

    sn_arena_mark mark = sn_arena_get_mark(arena);
    sn_vec3 *centers = SN_PUSH(arena, sn_vec3, count);

    SN_TRY(sn_arena_status(arena));
    sn_bvh_rebuild(bvh, boxes, centers);
    sn_arena_rewind(arena, mark);

    return SINEW_OK;
}

void sn_bvh_rebuild(sn_bvh *bvh, const sn_box *boxes, sn_vec3 *centers) {
    int32_t count = bvh->item_count;
    for (int32_t i = 0; i < count; i++) {
        bvh->items[i] = i;
        centers[i] = sn_box_center(boxes[i]);
    }

    builder b = {bvh, centers};
    bvh->node_count = 0;
    if (count > 0) {
        build_node(&b, 0, count);
    }

    SN_ASSERT(bvh->node_count <= count);
    sn_bvh_refit(bvh, boxes);
}

void sn_bvh_refit(sn_bvh *bvh, const sn_box *boxes) {
    for (int32_t n = bvh->node_count - 1; n >= 0; n--) {
        sn_bvh_node *node = &bvh->nodes[n];
        if (node->right) {
            node->box = sn_box_union(bvh->nodes[n + 1].box, bvh->nodes[node->right].box);
            continue;
        }

        node->box = sn_box_empty();
        for (int32_t i = node->first; i < node->last; i++) {
            node->box = sn_box_union(node->box, boxes[bvh->items[i]]);
        }
    }
}

void sn_bvh_overlap(const sn_bvh *bvh, sn_box box, sn_bvh_visit_fn *visit, void *data) {
    int32_t stack[SN_BVH_STACK], depth = 0;
    if (bvh->node_count > 0) {
        stack[depth++] = 0;
    }

    while (depth > 0) {
        int32_t n = stack[--depth];
        const sn_bvh_node *node = &bvh->nodes[n];
        if (!sn_box_overlaps(node->box, box)) {
            continue;
        }

        // An inner node: visit both children, the left one first.
        if (node->right) {
            SN_ASSERT(depth + 2 <= SN_BVH_STACK);
            stack[depth++] = node->right;
            stack[depth++] = n + 1;
            continue;
        }

        for (int32_t i = node->first; i < node->last; i++) {
            if (!visit(data, bvh->items[i])) {
                return;
            }
        }
    }
}

// A node on the stack, with the distance at which it begins to matter.
typedef struct waiting {
    int32_t node;
    double from;
} waiting;

int32_t sn_bvh_nearest(const sn_bvh *bvh, sn_vec3 p, double limit2, sn_bvh_distance_fn *distance2,
                       void *data, double *found2) {
    waiting stack[SN_BVH_STACK];
    int32_t depth = 0, nearest = -1;
    double best = limit2;
    if (bvh->node_count > 0) {
        stack[depth++] = (waiting){0, sn_box_distance2(bvh->nodes[0].box, p)};
    }

    while (depth > 0) {
        waiting next = stack[--depth];
        if (next.from > best) {
            continue;
        }

        const sn_bvh_node *node = &bvh->nodes[next.node];

        // An inner node: the closer child is visited first.
        if (node->right) {
            waiting left = {next.node + 1, sn_box_distance2(bvh->nodes[next.node + 1].box, p)};
            waiting right = {node->right, sn_box_distance2(bvh->nodes[node->right].box, p)};
            bool left_first = left.from <= right.from;
            SN_ASSERT(depth + 2 <= SN_BVH_STACK);
            stack[depth++] = left_first ? right : left;
            stack[depth++] = left_first ? left : right;
            continue;
        }

        // A leaf: of equal distances the first one wins.
        for (int32_t i = node->first; i < node->last; i++) {
            double d2 = distance2(data, bvh->items[i], best);
            if (d2 < best || (d2 == best && nearest < 0)) {
                best = d2;
                nearest = bvh->items[i];
            }
        }
    }

    *found2 = best;
    return nearest;
}

// Where the ray enters the box, or INFINITY. Along an axis with a component of 0 the ray stays
// where it starts: inside the slab, its faces included, or outside.
static double enter_box(sn_box box, sn_vec3 origin, sn_vec3 inverse, double limit) {
    double from = 0;
    double to = limit;
    const double lower[3] = {box.lower.x, box.lower.y, box.lower.z};
    const double upper[3] = {box.upper.x, box.upper.y, box.upper.z};
    const double start[3] = {origin.x, origin.y, origin.z};
    const double inv[3] = {inverse.x, inverse.y, inverse.z};

    // Clip the ray to the slab of each axis.
    for (int k = 0; k < 3; k++) {
        if (isinf(inv[k])) {
            if (start[k] < lower[k] || start[k] > upper[k]) {
                return INFINITY;
            }
            continue;
        }

        double a = (lower[k] - start[k]) * inv[k];
        double b = (upper[k] - start[k]) * inv[k];
        from = fmax(from, fmin(a, b));
        to = fmin(to, fmax(a, b));
    }

    // Each bound is off by at most three roundings, 3.4e-16 of it: a flat box must not lose a hit
    // on its plane.
    return from <= to * (1 + 8e-16) + 1e-300 ? from : INFINITY;
}

int32_t sn_bvh_ray(const sn_bvh *bvh, sn_vec3 origin, sn_vec3 direction, double limit,
                   sn_bvh_hit_fn *hit, void *data, double *found) {
    waiting stack[SN_BVH_STACK];
    int32_t depth = 0, nearest = -1;
    sn_vec3 inverse = sn_v3(1 / direction.x, 1 / direction.y, 1 / direction.z);
    double best = limit;

    if (bvh->node_count > 0) {
        stack[depth++] = (waiting){0, enter_box(bvh->nodes[0].box, origin, inverse, best)};
    }

    while (depth > 0) {
        waiting next = stack[--depth];
        if (next.from > best || isinf(next.from)) {
            continue;
        }

        const sn_bvh_node *node = &bvh->nodes[next.node];

        // An inner node: the child that the ray enters first comes first.
        if (node->right) {
            waiting left = {next.node + 1,
                            enter_box(bvh->nodes[next.node + 1].box, origin, inverse, best)};
            waiting right = {node->right,
                             enter_box(bvh->nodes[node->right].box, origin, inverse, best)};
            bool left_first = left.from <= right.from;
            SN_ASSERT(depth + 2 <= SN_BVH_STACK);
            stack[depth++] = left_first ? right : left;
            stack[depth++] = left_first ? left : right;
            continue;
        }

        // A leaf.
        for (int32_t i = node->first; i < node->last; i++) {
            double t = hit(data, bvh->items[i], best);
            if (t < best || (t == best && nearest < 0 && isfinite(t))) {
                best = t;
                nearest = bvh->items[i];
            }
        }
    }

    *found = best;
    return nearest;
}
