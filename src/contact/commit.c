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

#include "base/threads.h"

enum { CHUNK = 512 };

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
    int32_t split = scene->vertex_triangle_count;
    int32_t middle = split < begin ? begin : split < end ? split : end;
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
