// Links: their terms and forces, penalties and multipliers, and the remaining gaps. link.h has the
// method.
#include "dynamics/link.h"

#include "dynamics/rigid_joint.h"

#include <math.h>
#include <string.h>

static sn_island_body *member_of(const sn_island *island, const sinew_body *body) {
    for (int32_t i = 0; i < island->body_count; i++) {
        if (island->bodies[i].body == body) {
            return &island->bodies[i];
        }
    }
    return NULL;
}

// What a row stands for.
static sn_carriers carriers_of(const sn_island *island, int32_t row) {
    for (int32_t i = 0; i < island->tie_count; i++) {
        if (island->ties[i].row == row) {
            return island->ties[i].point;
        }
    }
    return (sn_carriers){.count = 1, .row = {row}, .weight = {1}};
}

static void make_end(sn_island *island, sn_anchor *anchor, sn_link_end *end) {
    *end = (sn_link_end){.member = member_of(island, anchor->body), .point = &anchor->point};
    if (!anchor->body) {
        return;
    }

    SN_ASSERT(end->member);
    if (!sn_anchor_is_linear(anchor)) {
        end->term_count = anchor->point.count;
        return;
    }

    for (int32_t k = 0; k < anchor->point.count; k++) {
        end->term_count += carriers_of(island, end->member->first_row + anchor->point.row[k]).count;
    }
}

// Whether J of the point changes with the rows.
static bool is_curved(const sn_link_end *end) {
    return end->member && !end->point->weight;
}

// Rows of the terms; of linear ends, which never change, the coefficients too.
static void fill_terms(const sn_island *island, sn_link *link, const sn_link_end *end,
                       double sign) {
    if (!end->member) {
        return;
    }

    const sn_point *point = end->point;
    int32_t first = end->member->first_row;
    int32_t next = end->first_term;
    for (int32_t k = 0; k < point->count; k++) {
        if (is_curved(end)) {
            link->row[next++] = first + point->row[k];
            continue;
        }

        sn_carriers carriers = carriers_of(island, first + point->row[k]);
        for (int32_t c = 0; c < carriers.count; c++, next++) {
            link->row[next] = carriers.row[c];
            link->C[next] =
                sn_mat3_scale(sign * point->weight[k] * carriers.weight[c], sn_mat3_identity());
        }
    }
}

static sinew_status make_link(sn_island *island, sinew_attachment *attachment, sn_link *link) {
    *link = (sn_link){.attachment = attachment,
                      .hard = attachment->stiffness == 0,
                      .stiffness = attachment->stiffness};
    make_end(island, &attachment->tied, &link->ends[0]);
    make_end(island, &attachment->target, &link->ends[1]);

    // The terms of both ends, one after the other.
    int32_t most = 0;
    for (int e = 0; e < 2; e++) {
        link->ends[e].first_term = link->count;
        link->count += link->ends[e].term_count;
        if (is_curved(&link->ends[e]) && link->ends[e].term_count > most) {
            most = link->ends[e].term_count;
        }
    }

    // Room for them, and for the curvature of the end that needs most.
    link->row = SN_PUSH(&island->arena, int32_t, link->count);
    link->C = SN_PUSH(&island->arena, sn_mat3, link->count);
    link->curvature = SN_PUSH(&island->arena, sn_mat3, (size_t)most * (size_t)most);
    SN_TRY(sn_arena_status(&island->arena));

    for (int e = 0; e < 2; e++) {
        fill_terms(island, link, &link->ends[e], e ? -1 : 1);
    }

    return SINEW_OK;
}

sinew_status sn_links_collect(sn_island *island) {
    const sinew_world *world = island->world;
    island->links = SN_PUSH(&island->arena, sn_link, world->attachment_count);
    SN_TRY(sn_arena_status(&island->arena));

    for (size_t i = 0; i < world->attachment_count; i++) {
        sinew_attachment *attachment = world->attachments[i];
        if (attachment->broken || sn_attachment_eliminates(attachment) ||
            !member_of(island, attachment->tied.body)) {
            continue;
        }

        sn_link *link = &island->links[island->link_count++];
        SN_TRY(make_link(island, attachment, link));
        island->hard_link_count += link->hard;
    }

    return SINEW_OK;
}

// Where an end is and, in free motion, will be at the end of the step.
static void find_ends(const sn_island *island, sn_anchor *anchor, sn_vec3 *now, sn_vec3 *then) {
    if (anchor->body) {
        sn_body_move_point(anchor->body, &anchor->point);
    }
    *now = *then = anchor->point.x;
    if (!anchor->body) {
        return;
    }

    double h = island->h;
    *then = sn_madd(*then, h, sn_body_point_velocity(anchor->body, &anchor->point));
    *then = sn_madd(*then, h * h, sn_load3(island->world->def.gravity));
}

// The stiffness at which a spring has at most its largest force: it can only close the larger of
// the gaps at the start of the step and, without it, at its end.
static double capped_stiffness(const sn_island *island, const sn_link *link) {
    sinew_attachment *attachment = link->attachment;
    sn_vec3 now[2], then[2];
    find_ends(island, &attachment->tied, &now[0], &then[0]);
    find_ends(island, &attachment->target, &now[1], &then[1]);
    double gap = fmax(sn_distance(now[0], now[1]), sn_distance(then[0], then[1]));
    return fmin(attachment->stiffness, attachment->largest / gap); // infinite without a gap
}

void sn_links_begin(sn_island *island) {
    for (int32_t i = 0; i < island->link_count; i++) {
        sn_link *link = &island->links[i];
        link->multiplier = sn_v3(0, 0, 0);
        link->open = link->hard;

        double stiffness = link->attachment->stiffness;
        if (link->attachment->largest > 0) {
            stiffness = capped_stiffness(island, link);
            sn_body_note_energy_change(link->attachment->tied.body);
        }
        if (link->attachment->joint && !link->hard) {
            bool acts = sn_rigid_joint_acts(link->attachment->joint, link->attachment, island->h);
            stiffness = acts ? stiffness : 0;
            sn_body_note_energy_change(link->attachment->tied.body);
        }
        link->stiffness = stiffness;
    }
}

// Once for every body whose points need it, so that the links need not.
static void prepare_points(const sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        const sinew_body *body = island->bodies[i].body;
        if (body->ops->points.prepare) {
            body->ops->points.prepare(body, island->bodies[i].trial_q);
        }
    }
}

static void find_gap(sn_link *link) {
    for (int e = 0; e < 2; e++) {
        const sn_link_end *end = &link->ends[e];
        if (end->member) {
            const sinew_body *body = end->member->body;
            body->ops->points.move(body, end->member->trial_q, end->point);
        }
    }

    link->gap = sn_sub(link->ends[0].point->x, link->ends[1].point->x);
}

static void take_terms(sn_link *link) {
    for (int e = 0; e < 2; e++) {
        const sn_link_end *end = &link->ends[e];
        if (!is_curved(end)) {
            continue;
        }

        for (int32_t k = 0; k < end->term_count; k++) {
            link->C[end->first_term + k] = sn_mat3_scale(e ? -1 : 1, end->point->J[k]);
        }
    }
}

// The force that draws the tied point back is -tension.
static sn_vec3 tension_of(const sn_link *link) {
    return sn_madd(link->multiplier, link->stiffness, link->gap);
}

double sn_links_add_forces(const sn_island *island, bool hard_only, double *force) {
    double energy = 0;
    for (int32_t i = 0; i < island->link_count; i++) {
        const sn_link *link = &island->links[i];
        if (hard_only && !link->hard) {
            continue;
        }

        sn_vec3 tension = tension_of(link);
        energy += sn_dot(link->multiplier, link->gap) +
                  0.5 * link->stiffness * sn_dot(link->gap, link->gap);

        if (force) {
            for (int32_t k = 0; k < link->count; k++) {
                sn_add_to3(force + 3 * link->row[k],
                           sn_scale(-1, sn_mat3_apply_transposed(link->C[k], tension)));
            }
        }
    }

    return energy;
}

double sn_links_evaluate(sn_island *island, double *force) {
    if (island->link_count == 0) {
        return 0;
    }

    prepare_points(island);
    for (int32_t i = 0; i < island->link_count; i++) {
        find_gap(&island->links[i]);
        take_terms(&island->links[i]);
    }

    return sn_links_add_forces(island, false, force);
}

// How far a unit force on the link would open it if every unknown gave way alone, by the diagonal
// of the matrix.
static double compliance_of(const sn_island *island, const sn_link *link) {
    double sum = 0;
    for (int32_t k = 0; k < link->count; k++) {
        const double *block = island->A + 9 * (size_t)island->pattern->diagonal[link->row[k]];
        for (int c = 0; c < 3; c++) {
            if (island->mask[3 * link->row[k] + c] || !(block[4 * c] > 0)) {
                continue;
            }
            sn_vec3 column = sn_mat3_column(link->C[k], c);
            sum += sn_dot(column, column) / block[4 * c];
        }
    }

    return sum / 3;
}

bool sn_links_choose_penalties(sn_island *island) {
    bool chosen = false;
    for (int32_t i = 0; i < island->link_count; i++) {
        sn_link *link = &island->links[i];
        if (!link->open) {
            continue;
        }

        double compliance = compliance_of(island, link);
        if (compliance > 0) {
            link->stiffness = SN_LINK_PENALTY_RATIO /
                              compliance; // otherwise both ends are held, and stay as they are
        }

        link->open = false;
        chosen = true;
    }

    return chosen;
}

static void add_block(sn_island *island, int32_t row, int32_t column, double s, sn_mat3 block) {
    int32_t slot = sn_bsr_find(island->pattern, row, column);
    SN_ASSERT(slot >= 0);
    double *out = island->A + 9 * (size_t)slot;
    for (int e = 0; e < 9; e++) {
        out[e] += s * block.m[e / 3][e % 3];
    }
}

static void add_curvature(sn_island *island, const sn_link *link, const sn_link_end *end,
                          sn_vec3 tension) {
    if (!is_curved(end)) {
        return;
    }

    int32_t count = end->term_count;

    memset(link->curvature, 0, (size_t)count * (size_t)count * sizeof *link->curvature);
    const sinew_body *body = end->member->body;

    body->ops->points.add_curvature(body, end->point, tension, link->curvature);
    for (int32_t a = 0; a < count; a++) {
        for (int32_t b = 0; b < count; b++) {
            int32_t row = link->row[end->first_term + a];
            int32_t column = link->row[end->first_term + b];
            if (row >= column) {
                add_block(island, row, column, 1, link->curvature[a * count + b]);
            }
        }
    }
}

void sn_links_add_matrix(sn_island *island, sn_link_part part) {
    if (island->link_count == 0) {
        return;
    }
    if (part == SN_LINKS_EXACT) {
        prepare_points(island);
    }

    for (int32_t i = 0; i < island->link_count; i++) {
        const sn_link *link = &island->links[i];
        if (part == SN_LINKS_HARD && !link->hard) {
            continue;
        }

        // p C' C
        for (int32_t a = 0; a < link->count; a++) { // two terms of one row meet in both orders
            for (int32_t b = 0; b < link->count; b++) {
                if (link->row[a] < link->row[b]) {
                    continue;
                }
                sn_mat3 block = sn_mat3_mul(sn_mat3_transpose(link->C[a]), link->C[b]);
                add_block(island, link->row[a], link->row[b], link->stiffness, block);
            }
        }

        if (part != SN_LINKS_EXACT) {
            continue;
        }

        // The curvature of each end times the tension, with opposite signs.
        sn_vec3 tension = tension_of(link);
        add_curvature(island, link, &link->ends[0], tension);
        add_curvature(island, link, &link->ends[1], sn_scale(-1, tension));
    }
}

void sn_links_predict(sn_island *island, const double *direction) {
    for (int32_t i = 0; i < island->link_count; i++) {
        sn_link *link = &island->links[i];
        link->left = link->gap;
        for (int32_t k = 0; k < link->count; k++) {
            link->left = sn_add(link->left,
                                sn_mat3_apply(link->C[k], sn_load3(direction + 3 * link->row[k])));
        }
    }
}

void sn_links_advance(sn_island *island, double t) {
    for (int32_t i = 0; i < island->link_count; i++) {
        sn_link *link = &island->links[i];
        if (link->hard) {
            link->multiplier = sn_madd(link->multiplier, t * link->stiffness, link->left);
        }
    }
}

void sn_links_compute_gaps(sn_island *island, const double *xi, double reach) {
    for (int32_t i = 0; i < island->body_count; i++) {
        sn_island_body *member = &island->bodies[i];
        sn_body_retract(member->body, member->trial_q, member->body->q, xi + 3 * member->first_row);
    }

    prepare_points(island);
    for (int32_t i = 0; i < island->link_count; i++) {
        sn_link *link = &island->links[i];
        find_gap(link);
        link->gap = sn_scale(1 / reach, link->gap);
    }
}

double sn_links_largest_residual(const sn_island *island) {
    double largest = 0;
    for (int32_t i = 0; i < island->link_count; i++) {
        const sn_link *link = &island->links[i];
        double gap = sn_length(link->gap);
        if (!link->hard) {
            continue;
        }

        // A gap of rounding is none.
        if (link->open &&
            gap > 1e-14 * (sn_length(link->ends[0].point->x) + sn_length(link->ends[1].point->x))) {
            return INFINITY;
        }

        largest = fmax(largest, link->stiffness * gap);
    }

    return largest;
}

void sn_links_add_residual(const sn_island *island, double *force) {
    for (int32_t i = 0; i < island->link_count; i++) {
        const sn_link *link = &island->links[i];
        if (link->hard) {
            for (int32_t k = 0; k < link->count; k++) {
                sn_vec3 part = sn_mat3_apply_transposed(link->C[k], link->gap);
                sn_add_to3(force + 3 * link->row[k], sn_scale(-link->stiffness, part));
            }
        }
    }
}

void sn_links_subtract_tensions(sn_island *island, const double *xi, double *out) {
    if (island->link_count == 0) {
        return;
    }

    sn_links_compute_gaps(island, xi, 1);
    for (int32_t i = 0; i < island->link_count; i++) {
        const sn_link *link = &island->links[i];
        sn_vec3 tension = link->hard ? link->multiplier : sn_scale(link->stiffness, link->gap);
        link->attachment->force = sn_scale(-1, tension);
        for (int32_t k = 0; k < link->count; k++) {
            sn_add_to3(out + 3 * link->row[k], sn_mat3_apply_transposed(link->C[k], tension));
        }
    }
}

double sn_links_largest_stiffness(const sn_island *island) {
    double largest = 0;
    for (int32_t i = 0; i < island->link_count; i++) {
        largest = fmax(largest, island->links[i].stiffness);
    }
    return largest;
}

bool sn_links_hold(const sn_island *island) {
    for (int32_t i = 0; i < island->link_count; i++) {
        if (!island->links[i].ends[1].member) {
            return true;
        }
    }
    return false;
}
