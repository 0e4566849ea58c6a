// Blocks of eight pairs: closest points, and separating planes (contact/commit.c has the formulas).
#include "contact/blocks.h"
#include "contact/find.h"
#include "contact/lanes_closest.h"

#include <float.h>

static const double kept_share = 0.1;  // of the gap along a normal that stays
static const double floor_share = 0.1; // of delta below which no gap is reduced
static const double last_share = 0.01; // of delta below which curved paths do not reduce it either
static const double rounding = 8;      // units of rounding of the largest coordinate

enum { NORMALS = 4 };

// Positions of the vertices 1 to 3 relative to vertex 0, [vertex - 1][axis][lane].
typedef struct positions {
    double at[3][3][SN_BLOCK] SN_ALIGNED;
} positions;

// The number of the pair in a lane; those behind the end repeat the last one.
static int32_t lane_pair(int32_t first, int32_t end, int lane) {
    return first + lane < end ? first + lane : end - 1;
}

static void gather_positions(positions *out, const sn_contact_pair *pairs, int32_t first,
                             int32_t end, const double *x) {
    for (int lane = 0; lane < SN_BLOCK; lane++) {
        const sn_contact_pair *pair = &pairs[lane_pair(first, end, lane)];
        const double *origin = sn_at3(x, pair->vertex[0]);
        for (int i = 0; i < 3; i++) {
            const double *p = sn_at3(x, pair->vertex[1 + i]);
            for (int k = 0; k < 3; k++) {
                out->at[i][k][lane] = p[k] - origin[k];
            }
        }
    }
}

// The four positions of a group of lanes.
SN_INLINE void load_positions(sn_lanes_vec p[4], const positions *block, int group) {
    p[0] = (sn_lanes_vec){sn_lanes_all(0), sn_lanes_all(0), sn_lanes_all(0)};
    for (int i = 0; i < 3; i++) {
        p[1 + i] = sn_lanes_load3(&block->at[i][0][group * SN_LANES]);
    }
}

SN_INLINE sn_lanes_closest closest_points(bool edges, const sn_lanes_vec p[4]) {
    return edges ? sn_lanes_edge_edge(p) : sn_lanes_vertex_triangle(p);
}

SN_INLINE void measure_block(sn_contact_pair *pairs, int32_t first, int32_t end, const double *x,
                             bool edges) {
    positions block;
    double b[4][SN_BLOCK] SN_ALIGNED, n[3][SN_BLOCK] SN_ALIGNED, distance[SN_BLOCK] SN_ALIGNED;
    gather_positions(&block, pairs, first, end, x);

    // All lanes of the block, whether a pair is there or not.
    for (int group = 0; group < SN_GROUPS; group++) {
        sn_lanes_vec p[4];
        load_positions(p, &block, group);
        sn_lanes_closest c = closest_points(edges, p);
        for (int i = 0; i < 4; i++) {
            sn_lanes_store(&b[i][group * SN_LANES], c.b[i]);
        }
        sn_lanes_store3(&n[0][group * SN_LANES], c.n);
        sn_lanes_store(&distance[group * SN_LANES], c.distance);
    }

    // Only real pairs are written.
    for (int lane = 0; lane < SN_BLOCK && first + lane < end; lane++) {
        sn_contact_pair *pair = &pairs[first + lane];
        for (int i = 0; i < 4; i++) {
            pair->b[i] = b[i][lane];
        }
        pair->n = sn_v3(n[0][lane], n[1][lane], n[2][lane]);
        pair->distance = distance[lane];
    }
}

void SN_ISA_NAME(sn_contact_measure_blocks)(sn_contact_pair *pairs, int32_t begin, int32_t end,
                                            const double *x) {
    bool edges = begin < end && pairs[begin].kind == SN_CONTACT_EDGE_EDGE;
    for (int32_t first = begin; first < end; first += SN_BLOCK) {
        if (edges) {
            measure_block(pairs, first, end, x, true);
        } else {
            measure_block(pairs, first, end, x, false);
        }
    }
}

// The lowest n . z for z in the box of a vertex of each lane, [corner][axis][lane].
SN_INLINE sn_lanes lowest_in_box(sn_lanes_vec n, const double corner[2][3][SN_BLOCK], int lane) {
    const sn_lanes axis[3] = {n.x, n.y, n.z};
    sn_lanes sum = sn_lanes_all(0);
    for (int k = 0; k < 3; k++) {
        sn_lanes low = axis[k] * sn_lanes_load(&corner[0][k][lane]);
        sn_lanes high = axis[k] * sn_lanes_load(&corner[1][k][lane]);
        sum = sum + sn_lanes_min(low, high);
    }
    return sum;
}

typedef struct cull_block {
    positions at;
    double corner[4][2][3][SN_BLOCK] SN_ALIGNED; // of the boxes, relative to vertex 0
    double noise[SN_BLOCK] SN_ALIGNED;
} cull_block;

static void gather_cull(cull_block *block, const sn_contact_candidate *candidates, int32_t count,
                        const double *x, const sn_box *boxes) {
    for (int lane = 0; lane < SN_BLOCK; lane++) {
        const int32_t *vertex = candidates[lane < count ? lane : count - 1].vertex;
        const double *origin = sn_at3(x, vertex[0]);

        // Rounding errors of coordinates, relative to which gaps mean anything.
        double largest = 0;
        for (int k = 0; k < 3; k++) {
            largest = fabs(origin[k]) > largest ? fabs(origin[k]) : largest;
        }
        block->noise[lane] = rounding * DBL_EPSILON * largest;

        // Relative to the first vertex, for accuracy far from the origin.
        for (int i = 0; i < 4; i++) {
            const double *p = sn_at3(x, vertex[i]);
            const sn_box *box = &boxes[vertex[i]];
            const double corner[2][3] = {{box->lower.x, box->lower.y, box->lower.z},
                                         {box->upper.x, box->upper.y, box->upper.z}};
            for (int k = 0; k < 3; k++) {
                block->corner[i][0][k][lane] = corner[0][k] - origin[k];
                block->corner[i][1][k][lane] = corner[1][k] - origin[k];
                if (i > 0) {
                    block->at.at[i - 1][k][lane] = p[k] - origin[k];
                }
            }
        }
    }
}

SN_INLINE void cull_lanes(const cull_block *block, bool edges, double gap[SN_BLOCK]) {
    const int first_side = edges ? 2 : 1;
    for (int group = 0; group < SN_GROUPS; group++) {
        sn_lanes_vec p[4];
        int lane = group * SN_LANES;
        load_positions(p, &block->at, group);
        sn_lanes_vec n = closest_points(edges, p).n;
        sn_lanes_vec back = sn_lanes_scale3(sn_lanes_all(-1), n);

        // The gap is the lowest of one side plus the lowest of minus the other.
        sn_lanes low[2] = {sn_lanes_all(INFINITY), sn_lanes_all(INFINITY)};
        for (int i = 0; i < 4; i++) {
            int side = i >= first_side;
            sn_lanes lowest = lowest_in_box(side ? back : n, block->corner[i], lane);
            low[side] = sn_lanes_min(lowest, low[side]);
        }
        sn_lanes_store(&gap[lane], low[0] + low[1] - sn_lanes_load(&block->noise[lane]));
    }
}

uint32_t SN_ISA_NAME(sn_contact_cull_block)(const sn_contact_candidate *candidates, int32_t count,
                                            bool edges, const double *x, const sn_box *boxes) {
    cull_block block;
    double gap[SN_BLOCK] SN_ALIGNED;
    gather_cull(&block, candidates, count, x, boxes);
    if (edges) {
        cull_lanes(&block, true, gap);
    } else {
        cull_lanes(&block, false, gap);
    }

    uint32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        kept |= (uint32_t) !(gap[i] > 0) << i;
    }
    return kept;
}

// A block of pairs and their motion.
typedef struct setting {
    positions at;
    double move[4][3][SN_BLOCK] SN_ALIGNED;
    double n[3][SN_BLOCK] SN_ALIGNED; // closest direction
    double bulge[4][SN_BLOCK] SN_ALIGNED;
    double bend[4][3][SN_BLOCK] SN_ALIGNED;
    double noise[SN_BLOCK] SN_ALIGNED; // gaps below this prove nothing
    double delta[SN_BLOCK] SN_ALIGNED;
} setting;

// What is found for a block.
typedef struct finding {
    double t[4][SN_BLOCK] SN_ALIGNED;
    double gap[SN_BLOCK] SN_ALIGNED;
    double smallest[SN_BLOCK] SN_ALIGNED; // below 0: no plane was found
} finding;

static void gather_setting(setting *s, const sn_contact_scene *scene, int32_t first, int32_t end,
                           const sn_contact_motion *motion) {
    gather_positions(&s->at, scene->pairs, first, end, motion->x);
    for (int lane = 0; lane < SN_BLOCK; lane++) {
        const sn_contact_pair *pair = &scene->pairs[lane_pair(first, end, lane)];
        double largest = 0;

        // The motion of the four vertices.
        for (int i = 0; i < 4; i++) {
            const double *x = sn_at3(motion->x, pair->vertex[i]);
            const double *target = sn_at3(motion->target, pair->vertex[i]);
            for (int k = 0; k < 3; k++) {
                s->move[i][k][lane] = target[k] - x[k];
                largest = fabs(x[k]) > largest ? fabs(x[k]) : largest;
            }
            s->bulge[i][lane] = motion->bulge ? motion->bulge[pair->vertex[i]] : 0;
            if (motion->bulge) {
                for (int k = 0; k < 3; k++) {
                    s->bend[i][k][lane] =
                        motion->bend ? sn_at3(motion->bend, pair->vertex[i])[k] : 0;
                }
            }
        }

        // The plane, its rounding and the gap to keep.
        s->n[0][lane] = pair->n.x;
        s->n[1][lane] = pair->n.y;
        s->n[2][lane] = pair->n.z;
        s->noise[lane] = rounding * DBL_EPSILON * largest;
        s->delta[lane] = sn_contact_gap(scene, pair);
    }
}

// The same for a group of lanes.
typedef struct lanes_setting {
    sn_lanes_vec at[4], move[4], bend[4];
    sn_lanes bulge[4], noise, delta;
    bool edges, curved;
} lanes_setting;

typedef struct lanes_finding {
    sn_lanes t[4], gap, smallest;
} lanes_finding;

// The largest share t for which a vertex with `room` above its plane stays there: a bulge of the
// path counts min(1, 4 t) times.
SN_INLINE sn_lanes share_of(sn_lanes room, sn_lanes approach, sn_lanes bulge, bool curved) {
    const sn_lanes zero = sn_lanes_all(0), one = sn_lanes_all(1);
    sn_lanes early = curved ? approach + 4.0 * bulge : approach;
    sn_lanes t = sn_select((sn_mask)(early > zero), room / early, one);

    if (curved) {
        sn_lanes late = sn_select((sn_mask)(approach > zero), (room - bulge) / approach, one);
        sn_mask is_late = (sn_mask)(room > bulge) & (sn_mask)(late > t);
        t = sn_select(is_late, late, t);
    }
    return sn_lanes_max(sn_lanes_min(t, one), zero);
}

// Keeps the better of what was found and what the normal n gives.
SN_INLINE void try_normal(const lanes_setting *s, sn_lanes_vec n, sn_lanes least,
                          lanes_finding *best) {
    const sn_lanes zero = sn_lanes_all(0), one = sn_lanes_all(1);
    const int first_side = s->edges ? 2 : 1;
    sn_lanes at[4], approach[4], bulge[4] = {zero, zero, zero, zero};
    for (int i = 0; i < 4; i++) {
        sn_lanes forward = sn_lanes_dot3(n, s->move[i]);
        at[i] = i == 0 ? zero : sn_lanes_dot3(n, s->at[i]);
        approach[i] = i < first_side ? -forward : forward;
        if (s->curved) {
            sn_lanes bent = sn_lanes_dot3(n, s->bend[i]);
            bulge[i] = s->bulge[i] + sn_lanes_max(i < first_side ? -bent : bent, zero);
        }
    }

    sn_lanes lowest = s->edges ? sn_lanes_min(at[1], zero) : zero;
    sn_lanes highest = sn_lanes_max(at[2], at[3]);
    if (!s->edges) {
        highest = sn_lanes_max(at[1], highest);
    }

    // How far each side would go beyond its present front; a vertex that recedes on a curved path
    // comes closest after a quarter of it.
    sn_lanes room[4], wanted[2] = {zero, zero};
    for (int i = 0; i < 4; i++) {
        int side = i >= first_side;
        sn_lanes farthest = approach[i];
        if (s->curved) {
            farthest = sn_select((sn_mask)(farthest > zero), farthest, 0.25 * farthest);
            farthest = farthest + bulge[i];
        }
        room[i] = side ? highest - at[i] : at[i] - lowest;
        wanted[side] = sn_lanes_max(farthest - room[i], wanted[side]);
    }

    sn_lanes g = lowest - highest;
    sn_lanes allowed = sn_lanes_min((1 - kept_share) * g, g - floor_share * s->delta);
    allowed = sn_lanes_max(sn_lanes_min(allowed, g - s->noise), zero);
    sn_lanes sum = wanted[0] + wanted[1];
    sn_mask cut = (sn_mask)(sum > allowed);
    sn_lanes scale = allowed / sum;

    sn_lanes swing = 0.25 * sn_lanes_max(g - allowed - last_share * s->delta, zero);
    sn_lanes t[4], smallest = one;
    for (int i = 0; i < 4; i++) {
        sn_lanes front = scale * wanted[i >= first_side];
        if (s->curved) {
            // What recedes may swing forth on its way: otherwise two bodies at the floor that move
            // together would hold each other for ever. Half of what lies above the last floor
            // stays.
            front = front + sn_select((sn_mask)(approach[i] <= zero), swing, zero);
        }
        sn_lanes share = share_of(room[i] + front, approach[i], bulge[i], s->curved);
        t[i] = sn_select(cut, share, one);
        smallest = sn_lanes_min(t[i], smallest);
    }

    sn_mask better =
        (sn_mask)(g > s->noise) & (sn_mask)(g >= least) & (sn_mask)(smallest > best->smallest);
    for (int i = 0; i < 4; i++) {
        best->t[i] = sn_select(better, t[i], best->t[i]);
    }
    best->smallest = sn_select(better, smallest, best->smallest);
    best->gap = sn_lanes_max(g, best->gap);
}

// The normal of the triangle or of both edges, on the side of the first feature.
SN_INLINE sn_lanes_vec feature_normal(const lanes_setting *s) {
    sn_lanes_vec u = s->edges ? s->at[1] : sn_lanes_sub3(s->at[2], s->at[1]);
    sn_lanes_vec v = sn_lanes_sub3(s->at[3], s->edges ? s->at[2] : s->at[1]);
    sn_lanes length;
    sn_lanes_vec n = sn_lanes_unit(sn_lanes_cross3(u, v), &length);
    sn_lanes side = sn_lanes_dot3(n, s->at[3]);
    return sn_lanes_scale3(sn_lanes_copysign(sn_lanes_all(1), -side), n);
}

SN_INLINE sn_lanes_vec target_normal(const lanes_setting *s) {
    sn_lanes_vec p[4];
    p[0] = s->at[0];
    for (int i = 1; i < 4; i++) {
        p[i] = sn_lanes_add3(s->at[i], sn_lanes_sub3(s->move[i], s->move[0]));
    }
    return closest_points(s->edges, p).n;
}

SN_INLINE lanes_finding separate(const lanes_setting *s, sn_lanes_vec closest) {
    const sn_lanes zero = sn_lanes_all(0);
    lanes_finding best = {.t = {zero, zero, zero, zero},
                          .gap = sn_lanes_all(-INFINITY),
                          .smallest = sn_lanes_all(-1)};

    try_normal(s, closest, sn_lanes_all(-INFINITY), &best);
    if (sn_all((sn_mask)(best.smallest == 1.0))) {
        return best;
    }

    // Lanes that nothing stops keep what they have: no share is larger than 1.
    sn_lanes least = sn_lanes_min(best.gap, floor_share * s->delta);
    sn_lanes_vec later = closest;
    for (int i = 1; i < NORMALS; i++) {
        sn_lanes length;
        sn_lanes_vec n = i == 1   ? feature_normal(s)
                         : i == 2 ? (later = target_normal(s))
                                  : sn_lanes_unit(sn_lanes_add3(closest, later), &length);
        try_normal(s, n, least, &best);
    }
    return best;
}

SN_INLINE void limit_block(const setting *s, finding *found, bool edges, bool curved) {
    for (int group = 0; group < SN_GROUPS; group++) {
        int lane = group * SN_LANES;
        lanes_setting l = {.noise = sn_lanes_load(&s->noise[lane]),
                           .delta = sn_lanes_load(&s->delta[lane]),
                           .edges = edges,
                           .curved = curved};
        load_positions(l.at, &s->at, group);
        for (int i = 0; i < 4; i++) {
            l.move[i] = sn_lanes_load3(&s->move[i][0][lane]);
            l.bulge[i] = sn_lanes_load(&s->bulge[i][lane]);
            if (curved) {
                l.bend[i] = sn_lanes_load3(&s->bend[i][0][lane]);
            }
        }

        lanes_finding f = separate(&l, sn_lanes_load3(&s->n[0][lane]));
        for (int i = 0; i < 4; i++) {
            sn_lanes_store(&found->t[i][lane], f.t[i]);
        }
        sn_lanes_store(&found->gap[lane], f.gap);
        sn_lanes_store(&found->smallest[lane], f.smallest);
    }
}

SN_APART void limit_vertices(const setting *s, finding *found) {
    limit_block(s, found, false, false);
}

SN_APART void limit_edges(const setting *s, finding *found) {
    limit_block(s, found, true, false);
}

SN_APART void limit_curved(const setting *s, finding *found, bool edges) {
    if (edges) {
        limit_block(s, found, true, true);
    } else {
        limit_block(s, found, false, true);
    }
}

static void store_finding(const finding *found, const sn_contact_scene *scene, int32_t first,
                          int32_t end, double *shares) {
    for (int lane = 0; lane < SN_BLOCK && first + lane < end; lane++) {
        sn_contact_pair *pair = &scene->pairs[first + lane];
        double *t = shares + 4 * (size_t)(first + lane);
        pair->held = !pair->exempt && !(found->smallest[lane] >= 0);
        pair->gap = pair->exempt ? INFINITY : found->gap[lane];
        for (int i = 0; i < 4; i++) {
            t[i] = pair->exempt ? 1 : found->t[i][lane];
        }
    }
}

void SN_ISA_NAME(sn_contact_limit_blocks)(const sn_contact_scene *scene, int32_t begin, int32_t end,
                                          const sn_contact_motion *motion, double *shares) {
    bool edges = begin < end && scene->pairs[begin].kind == SN_CONTACT_EDGE_EDGE;
    for (int32_t first = begin; first < end; first += SN_BLOCK) {
        setting s;
        finding found;
        gather_setting(&s, scene, first, end, motion);
        if (motion->bulge) {
            limit_curved(&s, &found, edges);
        } else if (edges) {
            limit_edges(&s, &found);
        } else {
            limit_vertices(&s, &found);
        }
        store_finding(&found, scene, first, end, shares);
    }
}
