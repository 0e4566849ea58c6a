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
#include "contact/blocks.h"
#include "contact/find.h"
#include "contact/joint.h"

#include "base/threads.h"

enum { CHUNK = 512 };

// After this many rounds joint pairs whose vertices stop get planes at rest for good.
enum { MOST_ROUNDS = 50 };

static const double distortion = 0.1; // edges that a vertex may move farther than its neighbour

typedef struct limiting {
    sn_contact_scene *scene;
    const sn_contact_motion *motion;
} limiting;

static void limit_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const limiting *job = data;
    sn_contact_scene *scene = job->scene;

    // A range may hold both kinds.
    int32_t middle = sn_contact_find_split(scene, begin, end);
    SN_ISA_PICK(scene->context->isa, sn_contact_limit_blocks)
    (scene, begin, middle, job->motion, scene->shares);
    SN_ISA_PICK(scene->context->isa, sn_contact_limit_blocks)
    (scene, middle, end, job->motion, scene->shares);
}

// The largest share t for which a vertex stays within `room`: a bulge of the path counts
// min(1, 4 t) times.
static double share_of(double room, double approach, double bulge) {
    double early = approach + 4 * bulge;
    double t = early > 0 ? room / early : 1;
    if (bulge > 0 && room > bulge) {
        double late = approach > 0 ? (room - bulge) / approach : 1;
        t = late > t ? late : t;
    }
    return t < 1 ? (t > 0 ? t : 0) : 1;
}

// The share of its motion that a vertex takes until it leaves its box.
static double box_share(sn_box box, sn_vec3 x, sn_vec3 move, double bulge) {
    const double at[3] = {x.x, x.y, x.z}, step[3] = {move.x, move.y, move.z};
    const double lower[3] = {box.lower.x, box.lower.y, box.lower.z};
    const double upper[3] = {box.upper.x, box.upper.y, box.upper.z};
    double share = 1;
    if (!sn_finite3(x) || !sn_finite3(move)) {
        return 0;
    }
    if (bulge == 0 && sn_box_contains(box, x) && sn_box_contains(box, sn_add(x, move))) {
        return 1;
    }

    for (int k = 0; k < 3; k++) {
        double forth = share_of(upper[k] - at[k], step[k], bulge);
        double back = share_of(at[k] - lower[k], -step[k], bulge);
        share = forth < share ? forth : share;
        share = back < share ? back : share;
    }

    return share;
}

void sn_contact_drift(const sn_contact_scene *scene, const sn_contact_motion *motion,
                      sn_vec3 *drift) {
    // Sums of the groups in the entries of the parts that name them.
    for (int32_t p = 0; p < scene->part_count; p++) {
        drift[p] = sn_v3(0, 0, 0);
    }
    for (int32_t p = 0; p < scene->part_count; p++) {
        const sn_contact_part *part = &scene->parts[p];
        if (sn_length(part->drift) == 0) {
            continue;
        }

        sn_vec3 sum = {0, 0, 0};
        for (int32_t i = 0; i < part->shape->vertex_count; i++) {
            int32_t v = part->first_vertex + i;
            sum = sn_add(
                sum, sn_sub(sn_load3(sn_at3(motion->target, v)), sn_load3(sn_at3(motion->x, v))));
        }
        double count = scene->search->drift_count[part->group];
        drift[part->group] = sn_madd(drift[part->group], 1 / count, sum);
    }

    // A group may be named by a number that is no part of it.
    for (int32_t p = 0; p < scene->part_count; p++) {
        scene->search->centers[p] = sn_finite3(drift[p]) ? drift[p] : sn_v3(0, 0, 0);
    }
    for (int32_t p = 0; p < scene->part_count; p++) {
        bool moves = sn_length(scene->parts[p].drift) > 0;
        drift[p] = moves ? scene->search->centers[scene->parts[p].group] : sn_v3(0, 0, 0);
    }
}

// The share that keeps a vertex in its boxes: in space, and relative to its group, which has been
// shifted.
static double boxes_share(const sn_contact_scene *scene, int32_t vertex, sn_vec3 from, sn_vec3 move,
                          double bulge, sn_vec3 shift) {
    double share = box_share(scene->boxes[vertex], from, move, bulge);
    double inner = box_share(scene->inner_boxes[vertex], sn_sub(from, shift), move, bulge);
    return inner < share ? inner : share;
}

static bool is_cut(const double *t) {
    return t[0] < 1 || t[1] < 1 || t[2] < 1 || t[3] < 1;
}

static void judge_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    limit_range(data, begin, end, chunk);

    // Of pairs that planes at rest would cut: do they stay apart if all vertices move alike?
    const limiting *job = data;
    for (int32_t i = begin; i < end; i++) {
        sn_contact_pair *pair = &job->scene->pairs[i];
        pair->joint = is_cut(job->scene->shares + 4 * (size_t)i) &&
                      sn_contact_stays_apart(job->scene, job->motion, pair, NULL);
    }
}

static void lower(double *share, double t) {
    *share = t < *share ? t : *share;
}

// Takes the smallest share of each vertex over the pairs; between different groups only, if
// `across`.
static void gather_pairs(const sn_contact_scene *scene, bool across, double *share,
                         sn_contact_limit_report *report) {
    for (int32_t i = 0; i < scene->pair_count; i++) {
        const sn_contact_pair *pair = &scene->pairs[i];
        const double *t = scene->shares + 4 * (size_t)i;
        if (across && scene->parts[pair->part[0]].group == scene->parts[pair->part[1]].group) {
            continue;
        }

        report->smallest_gap = pair->gap < report->smallest_gap ? pair->gap : report->smallest_gap;
        if (!across && pair->joint) {
            continue;
        }
        report->held += pair->held;
        for (int k = 0; k < 4; k++) {
            lower(&share[pair->vertex[k]], t[k]);
        }
    }
}

// Shifts the groups along their drifts as far as pairs of different groups allow.
static void limit_shifts(sn_contact_scene *scene, const sn_contact_motion *motion,
                         const sn_contact_shares *shares) {
    sn_contact_drift(scene, motion, shares->shift);
    bool any = false;
    for (int32_t p = 0; p < scene->part_count; p++) {
        any = any || sn_length(shares->shift[p]) > 0;
    }
    if (!any) {
        return;
    }

    for (int32_t v = 0; v < scene->vertex_count; v++) {
        sn_vec3 from = sn_load3(sn_at3(motion->x, v));
        sn_vec3 move = shares->shift[scene->vertex_part[v]];
        sn_store3(sn_at3(scene->end, v), sn_add(from, move));
        shares->vertex[v] = box_share(scene->boxes[v], from, move, 0);
    }

    sn_contact_motion drift = {.x = motion->x, .target = scene->end};
    sn_contact_limit_report unused = {0};
    limiting job = {scene, &drift};
    sn_parallel_for(scene->context, scene->pair_count, CHUNK, limit_range, &job);
    gather_pairs(scene, true, shares->vertex, &unused);

    // The share of a group is the smallest of its vertices.
    double *group = shares->part;
    for (int32_t p = 0; p < scene->part_count; p++) {
        group[p] = 1;
    }
    for (int32_t v = 0; v < scene->vertex_count; v++) {
        lower(&group[scene->parts[scene->vertex_part[v]].group], shares->vertex[v]);
    }
    for (int32_t p = 0; p < scene->part_count; p++) {
        lower(&group[scene->parts[p].group], motion->drift_bound ? motion->drift_bound[p] : 1);
    }
    for (int32_t p = 0; p < scene->part_count; p++) {
        shares->shift[p] = sn_scale(group[scene->parts[p].group], shares->shift[p]);
    }
}

// Where the vertices start after the shifts, and the shares that keep them in their boxes.
static void start_vertices(sn_contact_scene *scene, const sn_contact_motion *motion,
                           const sn_contact_shares *shares, sn_contact_limit_report *report) {
    for (int32_t v = 0; v < scene->vertex_count; v++) {
        int32_t part = scene->vertex_part[v];
        sn_vec3 shift = shares->shift[part];
        sn_vec3 from = sn_add(sn_load3(sn_at3(motion->x, v)), shift);
        sn_vec3 move = sn_sub(sn_load3(sn_at3(motion->target, v)), from);
        sn_vec3 shifted = sn_add(scene->parts[part].shift, shift);
        double bulge = motion->bulge ? motion->bulge[v] : 0;
        if (motion->bend) {
            bulge += sn_length(sn_load3(sn_at3(motion->bend, v)));
        }

        sn_store3(sn_at3(scene->start, v), from);
        shares->vertex[v] = boxes_share(scene, v, from, move, bulge, shifted);
        report->leaving += shares->vertex[v] < 1;
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
        lower(&bound, share[number] + slack);
    }

    return bound;
}

static void bound_parts(const sn_contact_scene *scene, const sn_contact_motion *motion,
                        const sn_contact_shares *shares) {
    for (int32_t p = 0; p < scene->part_count; p++) {
        const sn_contact_part *part = &scene->parts[p];
        shares->part[p] = bound_part(part, motion, shares->vertex);
        for (int32_t v = 0; v < part->shape->vertex_count; v++) {
            lower(&shares->vertex[part->first_vertex + v], shares->part[p]);
        }
    }
}

// Whether the vertices of a pair move on straight lines.
static bool is_straight(const sn_contact_motion *motion, const int32_t *vertex) {
    if (!motion->bulge) {
        return true;
    }
    for (int k = 0; k < 4; k++) {
        if (motion->bulge[vertex[k]] > 0) {
            return false;
        }
    }
    return true;
}

// Whether the vertices of a joint pair have shares that its proofs cover: all the same, or none
// above what planes at rest allow. What moves on curves goes all the way or by planes at rest,
// since the caller may shorten its motion.
static bool is_proven(const sn_contact_motion *motion, const int32_t *vertex, const double *rest,
                      const double *share) {
    bool same = true, below = true;
    for (int k = 0; k < 4; k++) {
        same = same && share[vertex[k]] == share[vertex[0]];
        below = below && share[vertex[k]] <= rest[k];
    }
    return below || (same && (share[vertex[0]] == 1 || is_straight(motion, vertex)));
}

// Lowers the shares of joint pairs whose vertices do not move alike any more: to what planes at
// rest allow, or, if both parts move as a whole on straight lines and not `apart`, to the smallest
// of them if that is more. Whether there were any.
static bool part_joints(const sn_contact_scene *scene, const sn_contact_motion *motion, bool apart,
                        double *share) {
    bool any = false;
    for (int32_t i = 0; i < scene->pair_count; i++) {
        const sn_contact_pair *pair = &scene->pairs[i];
        const double *rest = scene->shares + 4 * (size_t)i;
        if (!pair->joint || is_proven(motion, pair->vertex, rest, share)) {
            continue;
        }

        any = true;
        bool whole = scene->parts[pair->part[0]].together && scene->parts[pair->part[1]].together &&
                     is_straight(motion, pair->vertex);
        double common = 1, least = 1;
        for (int k = 0; k < 4; k++) {
            double t = share[pair->vertex[k]];
            common = t < common ? t : common;
            lower(&least, rest[k] < t ? rest[k] : t);
        }
        for (int k = 0; k < 4; k++) {
            lower(&share[pair->vertex[k]], whole && !apart && common > least ? common : rest[k]);
        }
    }
    return any;
}

void sn_contact_limit(sn_contact_scene *scene, const sn_contact_motion *motion,
                      const sn_contact_shares *shares, sn_contact_limit_report *report) {
    *report = (sn_contact_limit_report){.smallest_gap = INFINITY};
    limit_shifts(scene, motion, shares);
    start_vertices(scene, motion, shares, report);

    sn_contact_motion rest = {
        .x = scene->start, .target = motion->target, .bulge = motion->bulge, .bend = motion->bend};
    limiting job = {scene, &rest};
    sn_parallel_for(scene->context, scene->pair_count, CHUNK, judge_range, &job);
    gather_pairs(scene, false, shares->vertex, report);
    if (motion->bound) {
        motion->bound(motion->bound_user, scene->start, shares->vertex);
    }

    bound_parts(scene, &rest, shares);
    for (int round = 0; part_joints(scene, &rest, round > MOST_ROUNDS, shares->vertex); round++) {
        bound_parts(scene, &rest, shares);
    }
    for (int32_t v = 0; v < scene->vertex_count; v++) {
        report->truncated += shares->vertex[v] < 1;
    }
}

void sn_contact_accept(sn_contact_scene *scene, const sn_contact_shares *shares) {
    for (int32_t p = 0; p < scene->part_count; p++) {
        scene->parts[p].shift = sn_add(scene->parts[p].shift, shares->shift[p]);
    }
}
