// The cost of paths, and how a front starts at a point.
#include "geom/distance/distance.h"

#include <string.h>

enum { PAD = 8 };

sn_metric sn_metric_euclidean(const sinew_voxels *voxels) {
    const double *h = voxels->spacing;
    return (sn_metric){.voxels = voxels, .largest_step = fmax(h[0], fmax(h[1], h[2]))};
}

sinew_status sn_metric_find_clusters(const sinew_voxels *voxels, sn_arena *arena, const bool *rigid,
                                     sn_metric *metric) {
    int32_t rigid_count = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        rigid_count += rigid[voxels->label[v]];
    }

    if (rigid_count == 0) {
        return SINEW_OK;
    }

    int32_t *cluster = SN_PUSH(arena, int32_t, voxels->count);
    int32_t *members = SN_PUSH(arena, int32_t, rigid_count);
    int32_t *start = SN_PUSH(arena, int32_t, (size_t)rigid_count + 1);

    SN_TRY(sn_arena_status(arena));
    memset(cluster, -1, (size_t)voxels->count * sizeof *cluster);

    // Flood each part from its first voxel. The list of members is its own queue.
    int32_t found = 0, count = 0;
    for (int32_t first = 0; first < voxels->count; first++) {
        if (!rigid[voxels->label[first]] || cluster[first] >= 0) {
            continue;
        }

        start[count] = found;
        cluster[first] = count;
        members[found++] = first;

        for (int32_t next = start[count]; next < found; next++) {
            for (int d = 0; d < SN_VOXEL_FACES; d++) {
                int32_t u = voxels->neighbor[members[next]][d];
                if (u < 0 || cluster[u] >= 0 || !rigid[voxels->label[u]]) {
                    continue;
                }
                cluster[u] = count;
                members[found++] = u;
            }
        }

        count++;
    }

    start[count] = found;
    SN_ASSERT(found == rigid_count);
    metric->cluster_count = count;
    metric->cluster = cluster;
    metric->cluster_start = start;
    metric->cluster_voxel = members;

    return SINEW_OK;
}

sinew_status sn_metric_compliance(const sinew_voxels *voxels, sn_arena *arena, const double *young,
                                  const bool *rigid, sn_metric *metric) {
    *metric = sn_metric_euclidean(voxels);
    double softest = INFINITY, stiffest = 0;

    // Softest and stiffest material that is not rigid.
    for (int32_t v = 0; v < voxels->count; v++) {
        double E = rigid[voxels->label[v]]
                       ? INFINITY
                       : young[voxels->label[v]] * sn_voxel_stiffness(voxels, v);
        softest = E < softest ? E : softest;
        stiffest = E > stiffest ? E : stiffest;
    }

    if (softest == stiffest && stiffest < INFINITY) {
        return SINEW_OK; // one material: lengths, which need no table
    }
    if (softest == INFINITY) {
        softest = 1; // nothing but rigid parts
    }

    // Cost relative to the softest material.
    SN_ASSERT(softest > 0);
    double *cost = SN_PUSH(arena, double, (size_t)voxels->count + PAD);

    SN_TRY(sn_arena_status(arena));
    cost += PAD; // read at index -1
    for (int32_t v = 0; v < voxels->count; v++) {
        uint16_t label = voxels->label[v];
        cost[v] = rigid[label] ? 0 : softest / (young[label] * sn_voxel_stiffness(voxels, v));
    }

    metric->cost = cost; // the most expensive costs 1, so the largest step is the Euclidean one
    return sn_metric_find_clusters(voxels, arena, rigid, metric);
}

// The parameters in (0, 1), ascending, at which the segment from a to b (in units of cells, cell
// centres at integers) crosses borders between cells.
static int32_t cut_segment(sn_vec3 a, sn_vec3 b, double *cuts, int32_t capacity) {
    double from[3], to[3];
    int32_t count = 0;

    sn_store3(from, a);
    sn_store3(to, b);

    // Crossings with the cell borders of each axis, inserted in ascending order.
    for (int axis = 0; axis < 3; axis++) {
        double low = fmin(from[axis], to[axis]);
        double high = fmax(from[axis], to[axis]);
        for (double border = floor(low + 0.5) + 0.5; border < high; border += 1) {
            SN_ASSERT(count < capacity);
            (void)capacity;

            double t = (border - from[axis]) / (to[axis] - from[axis]);
            int32_t at = count++;

            while (at > 0 && cuts[at - 1] > t) {
                cuts[at] = cuts[at - 1];
                at--;
            }

            cuts[at] = t;
        }
    }

    return count;
}

enum { MAX_CUTS = 64 };

// The cost of the straight line from `a` to `b` (in units of cells); INFINITY if it leaves the
// solid. `uniform` is cleared if the cost per length differs from `reference`.
static double line_cost(const sn_metric *metric, sn_vec3 a, sn_vec3 b, double reference,
                        bool *uniform) {
    const sinew_voxels *voxels = metric->voxels;
    double cuts[MAX_CUTS + 1], last = 0, sum = 0;
    int32_t count = cut_segment(a, b, cuts, MAX_CUTS);

    cuts[count++] = 1;

    // Sum over the pieces of the line, each within one voxel.
    for (int32_t i = 0; i < count; i++) {
        double part = cuts[i] - last;
        double middle = 0.5 * (cuts[i] + last);

        last = cuts[i];
        if (part < 1e-9) {
            continue; // a corner or edge that is only touched
        }

        sn_vec3 p = sn_madd(a, middle, sn_sub(b, a));
        int32_t v = sn_voxel_at(voxels, (int32_t)floor(p.x + 0.5), (int32_t)floor(p.y + 0.5),
                                (int32_t)floor(p.z + 0.5));
        if (v < 0) {
            return INFINITY;
        }

        double cost = metric->cost ? metric->cost[v] : 1;
        if (fabs(cost - reference) > 1e-9 * reference) {
            *uniform = false;
        }

        sum += part * cost;
    }

    // The line's length in metres.
    sn_vec3 d = sn_sub(b, a);
    const double *h = voxels->spacing;

    return sum * sn_length(sn_v3(d.x * h[0], d.y * h[1], d.z * h[2]));
}

// A point outside starts at the nearest voxels, as if it were on their boxes.
static bool seed_nearest(sn_front *front, sn_vec3 point, double limit, int32_t source) {
    const sn_metric *metric = front->metric;
    const sinew_voxels *voxels = metric->voxels;
    const double *h = voxels->spacing;
    double half = 0.5 * sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]);
    double distance;
    int32_t nearest[8];
    int32_t count = sn_nearest_voxels(voxels, point, limit + half, nearest, &distance);
    bool found = false;

    // The nearest point of each voxel's box must be within the limit.
    for (int32_t i = 0; i < count; i++) {
        sn_vec3 c = sn_voxel_center(voxels, nearest[i]);
        sn_vec3 e = sn_v3(0.5 * h[0], 0.5 * h[1], 0.5 * h[2]);
        sn_vec3 inside = sn_min3(sn_max3(point, sn_sub(c, e)), sn_add(c, e));
        if (sn_distance(inside, point) > limit) {
            continue;
        }

        sn_front_seed(front, nearest[i],
                      sn_distance(inside, c) * (metric->cost ? metric->cost[nearest[i]] : 1),
                      source);
        found = true;
    }

    return found;
}

bool sn_front_seed_point(sn_front *front, sn_vec3 point, double radius, double limit,
                         int32_t source) {
    SN_ASSERT(radius >= 1 && radius <= 8);
    const sn_metric *metric = front->metric;
    const sinew_voxels *voxels = metric->voxels;
    sn_vec3 u = sn_voxel_units(voxels, point);

    // Too far outside the grid for cell numbers.
    if (!(fabs(u.x) < 1e9 && fabs(u.y) < 1e9 && fabs(u.z) < 1e9)) {
        return seed_nearest(front, point, limit, source);
    }

    // The box of cells within the radius.
    int32_t reach = (int32_t)ceil(radius);
    int32_t c[3] = {(int32_t)floor(u.x + 0.5), (int32_t)floor(u.y + 0.5),
                    (int32_t)floor(u.z + 0.5)};
    int32_t own = sn_voxel_at(voxels, c[0], c[1], c[2]);
    double reference = own >= 0 && metric->cost ? metric->cost[own] : 1;
    bool uniform = true, found = false;

    // Two passes: the first finds out whether straight lines are the shortest paths.
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t z = c[2] - reach; z <= c[2] + reach; z++) {
            for (int32_t y = c[1] - reach; y <= c[1] + reach; y++) {
                for (int32_t x = c[0] - reach; x <= c[0] + reach; x++) {
                    int32_t v = sn_voxel_at(voxels, x, y, z);
                    sn_vec3 b = sn_v3(x, y, z);
                    if (v < 0 || sn_distance(b, u) > radius) {
                        continue;
                    }

                    double cost = line_cost(metric, u, b, reference, &uniform);
                    if (cost == INFINITY || pass == 0) {
                        continue;
                    }

                    found = true;
                    if (uniform && reference > 0) {
                        sn_front_hold(front, v, cost, source);
                    } else {
                        sn_front_seed(front, v, cost, source);
                    }
                }
            }
        }
    }

    return found || seed_nearest(front, point, limit, source);
}
