// Separating planes, pair by pair; then the smallest share of each vertex.
//
// With a unit normal n, sides A and B, a_i = n . x_i:
//
//   g = min_A a - max_B a          gap; a proof of separation if it exceeds rounding errors
//   G = min(0.9 g, g - 0.1 delta)  allowed approach, not below 0: gaps do not shrink geometrically
//   w_A = max_A (min_A a - n . target)   how far a side would approach, likewise w_B
//
// If w_A + w_B <= G nothing is cut. Otherwise A gets the share w_A / (w_A + w_B) of G, and each
// vertex of A stops where it reaches min_A a - that share. Of the normals that prove separation the
// first that cuts nothing is taken, or the one whose smallest t is largest. A normal with a gap
// below both 0.1 delta and that of the closest direction is not used: sliding along its plane could
// reduce the distance below the floor.
#include "contact/commit.h"

#include "contact/closest.h"

#include "base/threads.h"

#include <float.h>

enum { CHUNK = 512, NORMALS = 4 };

static const double kept_share = 0.1;  // of the gap along a normal that stays
static const double floor_share = 0.1; // of delta below which no gap is reduced
static const double rounding = 8;      // units of rounding of the largest coordinate
static const double distortion = 0.1;  // edges that a vertex may move farther than its neighbour

// A pair's positions relative to its first vertex, so that little is cancelled.
typedef struct setting {
    sn_vec3 at[4], move[4];
    double bulge[4];
    double noise; // gaps below this prove nothing
    double delta;
    int first_side;
} setting;

typedef struct share4 {
    double t[4];
    double smallest, gap;
    bool proven;
} share4;

// The largest share t for which a vertex with `room` above its plane stays there: a bulge of the
// path counts min(1, 4 t) times.
static double share_of(double room, double approach, double bulge) {
    double early = approach + 4 * bulge;
    double t = early > 0 ? room / early : 1;
    if (bulge > 0 && room > bulge) {
        double late = approach > 0 ? (room - bulge) / approach : 1;
        t = late > t ? late : t;
    }
    return t < 1 ? (t > 0 ? t : 0) : 1;
}

static share4 try_normal(const setting *s, sn_vec3 n) {
    double at[4], approach[4], lowest = INFINITY, highest = -INFINITY;
    for (int i = 0; i < 4; i++) {
        double sign = i < s->first_side ? 1 : -1;
        at[i] = sn_dot(n, s->at[i]);
        approach[i] = -sign * sn_dot(n, s->move[i]);
        lowest = i < s->first_side ? fmin(lowest, at[i]) : lowest;
        highest = i < s->first_side ? highest : fmax(highest, at[i]);
    }

    double g = lowest - highest;
    share4 out = {.t = {0, 0, 0, 0}, .gap = g, .proven = g > s->noise};
    if (!out.proven) {
        return out;
    }

    // How far each side would go beyond its present front; a vertex that recedes on a curved path
    // comes closest after a quarter of it.
    double wanted[2] = {0, 0}, room[4];
    for (int i = 0; i < 4; i++) {
        bool first = i < s->first_side;
        room[i] = first ? at[i] - lowest : highest - at[i];
        double farthest = approach[i] > 0 ? approach[i] : 0.25 * approach[i];
        double beyond = farthest + s->bulge[i] - room[i];
        wanted[!first] = fmax(wanted[!first], beyond);
    }

    double allowed = fmin((1 - kept_share) * g, fmin(g - floor_share * s->delta, g - s->noise));
    allowed = fmax(allowed, 0);
    double sum = wanted[0] + wanted[1];
    double scale = sum > allowed ? allowed / sum : 1;

    out.smallest = 1;
    for (int i = 0; i < 4; i++) {
        double front = scale * wanted[i >= s->first_side];
        out.t[i] = scale == 1 ? 1 : share_of(room[i] + front, approach[i], s->bulge[i]);
        out.smallest = fmin(out.smallest, out.t[i]);
    }

    return out;
}

// The normal of the triangle or of both edges, on the side of the first feature.
static sn_vec3 feature_normal(const setting *s) {
    bool edges = s->first_side == 2;
    sn_vec3 u = edges ? s->at[1] : sn_sub(s->at[2], s->at[1]);
    sn_vec3 v = edges ? sn_sub(s->at[3], s->at[2]) : sn_sub(s->at[3], s->at[1]);
    sn_vec3 n = sn_normalize(sn_cross(u, v));
    return sn_dot(n, sn_sub(s->at[0], s->at[3])) < 0 ? sn_scale(-1, n) : n;
}

static sn_vec3 target_normal(const setting *s) {
    sn_vec3 p[4];
    for (int i = 0; i < 4; i++) {
        p[i] = sn_add(s->at[i], s->move[i]);
    }

    sn_contact_pair moved = {.kind = s->first_side == 1 ? SN_CONTACT_VERTEX_TRIANGLE
                                                        : SN_CONTACT_EDGE_EDGE};
    sn_contact_closest(&moved, p);
    return moved.n;
}

static share4 separate(const setting *s, sn_vec3 closest) {
    share4 best = {.gap = -INFINITY};
    sn_vec3 later = {0, 0, 0};
    double least = -INFINITY;

    for (int i = 0; i < NORMALS; i++) {
        sn_vec3 n = closest;
        if (i == 1) {
            n = feature_normal(s);
        } else if (i == 2) {
            n = later = target_normal(s);
        } else if (i == 3) {
            n = sn_normalize(sn_add(closest, later));
        }

        share4 tried = try_normal(s, n);
        tried.proven = tried.proven && tried.gap >= least;
        if (i == 0) {
            least = fmin(floor_share * s->delta, tried.gap);
        }

        bool better = tried.proven && (!best.proven || tried.smallest > best.smallest);
        double gap = fmax(best.gap, tried.gap);
        best = better ? tried : best;
        best.gap = gap;
        if (best.proven && best.smallest == 1) {
            break;
        }
    }

    return best;
}

typedef struct limiting {
    sn_contact_scene *scene;
    const sn_contact_motion *motion;
} limiting;

static setting setting_of(const limiting *job, const sn_contact_pair *pair) {
    const sn_contact_motion *motion = job->motion;
    setting s = {.first_side = sn_contact_first_side(pair->kind),
                 .delta = sn_contact_gap(job->scene, pair)};
    sn_vec3 origin = sn_load3(sn_at3(motion->x, pair->vertex[0]));
    double largest = 0;

    for (int i = 0; i < 4; i++) {
        sn_vec3 x = sn_load3(sn_at3(motion->x, pair->vertex[i]));
        sn_vec3 target = sn_load3(sn_at3(motion->target, pair->vertex[i]));
        s.at[i] = sn_sub(x, origin);
        s.move[i] = sn_sub(target, x);
        s.bulge[i] = motion->bulge ? motion->bulge[pair->vertex[i]] : 0;
        largest = fmax(largest, fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))));
    }

    s.noise = rounding * DBL_EPSILON * largest;
    return s;
}

// Which vertices of a pair are stopped goes to scene->shares; gap and state to the pair's normal.
static void limit_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const limiting *job = data;
    for (int32_t i = begin; i < end; i++) {
        sn_contact_pair *pair = &job->scene->pairs[i];
        double *t = job->scene->shares + 4 * (size_t)i;
        pair->held = false;
        pair->gap = INFINITY;
        if (pair->exempt) {
            t[0] = t[1] = t[2] = t[3] = 1;
            continue;
        }

        setting s = setting_of(job, pair);
        share4 found = separate(&s, pair->n);
        pair->held = !found.proven;
        pair->gap = found.gap;
        for (int k = 0; k < 4; k++) {
            t[k] = found.t[k];
        }
    }
}

// The share of its motion that a vertex takes until it leaves its box.
static double box_share(sn_box box, sn_vec3 x, sn_vec3 move, double bulge) {
    const double at[3] = {x.x, x.y, x.z}, step[3] = {move.x, move.y, move.z};
    const double lower[3] = {box.lower.x, box.lower.y, box.lower.z};
    const double upper[3] = {box.upper.x, box.upper.y, box.upper.z};
    double share = 1;

    for (int k = 0; k < 3; k++) {
        share = fmin(share, share_of(upper[k] - at[k], step[k], bulge));
        share = fmin(share, share_of(at[k] - lower[k], -step[k], bulge));
    }

    return sn_finite3(move) ? share : 0;
}

static void start_from_boxes(const limiting *job, double *share, sn_contact_limit_report *report) {
    const sn_contact_motion *motion = job->motion;
    for (int32_t v = 0; v < job->scene->vertex_count; v++) {
        sn_vec3 x = sn_load3(sn_at3(motion->x, v));
        sn_vec3 move = sn_sub(sn_load3(sn_at3(motion->target, v)), x);
        share[v] = box_share(job->scene->boxes[v], x, move, motion->bulge ? motion->bulge[v] : 0);
        report->leaving += share[v] < 1;
    }
}

static void gather_pairs(const sn_contact_scene *scene, double *share,
                         sn_contact_limit_report *report) {
    for (int32_t i = 0; i < scene->pair_count; i++) {
        const sn_contact_pair *pair = &scene->pairs[i];
        const double *t = scene->shares + 4 * (size_t)i;
        report->held += pair->held;
        report->smallest_gap = fmin(report->smallest_gap, pair->gap);
        for (int k = 0; k < 4; k++) {
            share[pair->vertex[k]] = fmin(share[pair->vertex[k]], t[k]);
        }
    }
}

// The bound of a part: no vertex goes more than a tenth of an edge farther than one that is
// stopped.
static double bound_part(const sn_contact_part *part, const sn_contact_motion *motion,
                         const double *share) {
    double bound = 1;
    for (int32_t v = 0; v < part->shape->vertex_count; v++) {
        int32_t number = part->first_vertex + v;
        if (share[number] >= 1) {
            continue;
        }

        double slack = 0;
        if (!part->together) {
            double length = sn_distance(sn_load3(sn_at3(motion->target, number)),
                                        sn_load3(sn_at3(motion->x, number)));
            slack = length > 0 ? distortion * part->shape->shortest[v] / length : 1;
        }
        bound = fmin(bound, share[number] + slack);
    }

    return bound;
}

void sn_contact_limit(sn_contact_scene *scene, const sn_contact_motion *motion,
                      double *vertex_share, double *part_share, sn_contact_limit_report *report) {
    limiting job = {scene, motion};
    *report = (sn_contact_limit_report){.smallest_gap = INFINITY};

    start_from_boxes(&job, vertex_share, report);
    sn_parallel_for(scene->context, scene->pair_count, CHUNK, limit_range, &job);
    gather_pairs(scene, vertex_share, report);

    for (int32_t p = 0; p < scene->part_count; p++) {
        const sn_contact_part *part = &scene->parts[p];
        part_share[p] = bound_part(part, motion, vertex_share);
        for (int32_t v = 0; v < part->shape->vertex_count; v++) {
            double *share = &vertex_share[part->first_vertex + v];
            *share = fmin(*share, part_share[p]);
            report->truncated += *share < 1;
        }
    }
}
