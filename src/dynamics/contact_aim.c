// Where a commit goes to if it cannot go all the way: the motion that is left, bent so that it
// leads along the planes in its way instead of into them.
//
// A body would otherwise stand still as soon as one vertex is as close as it may come: its share is
// 0, however short the motion that is forbidden. A body that stands still builds up no elastic
// force either, while its velocity goes on.
//
// With g the gap of a pair at the configuration aimed at, along the normal n at x, and a the
// derivative of g by the rows of the island,
//
//   minimise  d' D d / 2   so that  g + a . d >= 2 floor
//
// by projected Gauss-Seidel iterations on the multipliers, with D the diagonal blocks of the
// island's matrix. Pairs that are found to be violated then are added in further rounds. What is
// left of violations the commit cuts, as ever: this is a target and needs no proof.
#include "contact/joint.h"
#include "dynamics/contact_touch.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 4, MOST_SWEEPS = 30 };

// Gaps that are aimed at, in terms of the thickness: twice the floor of the commit, so that what
// is left of violations does not stop a body.
static const double aimed_share = 0.2;

// Violations below this share of the thickness are left.
static const double left_share = 0.05;

// One half-space: gap + sum of terms a . d >= 0.
struct sn_aim_row {
    double gap;        // less the one aimed at [m]
    double left;       // the violation that may be left [m]
    double mobility;   // a' D^-1 a
    double multiplier; // >= 0
    int32_t first_term, term_count;
};

struct sn_aim_term {
    int32_t row;     // of the island
    sn_vec3 a, step; // and D^-1 a
};

// Closest points of two features on their way to an earlier aim.
struct sn_aim_bar {
    int32_t vertex[4];
    double thickness;
    sn_contact_bar at;
};

// Whether a member takes part and has rows that are solved for.
static bool is_bent(const sn_contact_member *member) {
    return member->member && member->on;
}

static sinew_status push_row(sn_island *island, const sn_aim_row *row) {
    sn_aim *aim = &island->contact->aim;
    void *rows = aim->rows;
    SN_TRY(sn_grow(island->world->context, &rows, &aim->row_capacity, (size_t)aim->row_count,
                   (size_t)aim->row_count + 1, sizeof *aim->rows));
    aim->rows = rows;
    aim->rows[aim->row_count++] = *row;
    return SINEW_OK;
}

// Adds a to the term of a row of the island among those from `first` on.
static sinew_status add_term(sn_island *island, int32_t first, int32_t row, sn_vec3 a) {
    sn_aim *aim = &island->contact->aim;
    for (int32_t t = first; t < aim->term_count; t++) {
        if (aim->terms[t].row == row) {
            aim->terms[t].a = sn_add(aim->terms[t].a, a);
            return SINEW_OK;
        }
    }

    void *terms = aim->terms;
    SN_TRY(sn_grow(island->world->context, &terms, &aim->term_capacity, (size_t)aim->term_count,
                   (size_t)aim->term_count + 1, sizeof *aim->terms));
    aim->terms = terms;
    aim->terms[aim->term_count++] = (sn_aim_term){.row = row, .a = a};
    return SINEW_OK;
}

// Adds how a vertex moves along n, times b.
static sinew_status add_vertex(sn_island *island, int32_t first, int32_t vertex, double b,
                               sn_vec3 n) {
    const sn_island_contact *own = island->contact;
    const sn_contact_member *member = sn_contact_member_of(island, vertex);
    if (b == 0 || !is_bent(member)) {
        return SINEW_OK;
    }

    const sinew_body *body = member->member->body;
    int32_t count = body->ops->surface.get_jacobian(body, vertex - member->first_vertex,
                                                    own->row_room, own->J_room);
    for (int32_t k = 0; k < count; k++) {
        sn_vec3 a = sn_scale(b, sn_mat3_apply_transposed(own->J_room[k], n));
        SN_TRY(add_term(island, first, member->member->first_row + own->row_room[k], a));
    }
    return SINEW_OK;
}

// Lists the half-space of some vertices with weights b, `gap` in front of what they must keep.
static sinew_status add_row(sn_island *island, int count, const int32_t *vertex, const double *b,
                            sn_vec3 n, double gap, double thickness) {
    sn_aim *aim = &island->contact->aim;
    int32_t first = aim->term_count;
    for (int k = 0; k < count; k++) {
        SN_TRY(add_vertex(island, first, vertex[k], b[k], n));
    }

    // What is held does not move.
    sn_aim_row row = {.gap = gap,
                      .left = left_share * thickness,
                      .first_term = first,
                      .term_count = aim->term_count - first};
    for (int32_t t = first; t < aim->term_count; t++) {
        sn_aim_term *term = &aim->terms[t];
        term->step = sn_mat3_apply(*sn_contact_row_inverse(island, term->row), term->a);
        row.mobility += sn_dot(term->a, term->step);
    }
    if (!(row.mobility > 0)) {
        aim->term_count = first;
        return SINEW_OK;
    }
    return push_row(island, &row);
}

// Half-spaces of the pairs of features that come close at the configuration aimed at.
static sinew_status add_pairs(sn_island *island) {
    const sn_island_contact *own = island->contact;
    if (!own->scene) {
        return SINEW_OK;
    }

    for (int32_t i = 0; i < own->scene->pair_count; i++) {
        const sn_contact_pair *pair = &own->scene->pairs[i];
        if (pair->exempt || !(pair->distance > 0)) {
            continue;
        }

        double gap = 0;
        for (int k = 0; k < 4; k++) {
            gap += pair->b[k] * sn_dot(pair->n, sn_contact_at(own->aim.surface, pair->vertex[k]));
        }
        double thickness = sn_contact_gap(own->scene, pair);
        gap -= aimed_share * thickness;
        if (gap < thickness) {
            SN_TRY(add_row(island, 4, pair->vertex, pair->b, pair->n, gap, thickness));
        }
    }
    return SINEW_OK;
}

static sinew_status add_bars(sn_island *island) {
    const sn_aim *aim = &island->contact->aim;
    for (int32_t i = 0; i < aim->bar_count; i++) {
        const sn_aim_bar *bar = &aim->bars[i];
        double gap = -aimed_share * bar->thickness;
        for (int k = 0; k < 4; k++) {
            gap += bar->at.b[k] * sn_dot(bar->at.n, sn_contact_at(aim->surface, bar->vertex[k]));
        }
        if (gap < bar->thickness) {
            SN_TRY(add_row(island, 4, bar->vertex, bar->at.b, bar->at.n, gap, bar->thickness));
        }
    }
    return SINEW_OK;
}

sinew_status sn_contact_note_bars(sn_island *island, const sn_contact_motion *motion) {
    const sn_contact_scene *scene = island->contact->scene;
    sn_aim *aim = &island->contact->aim;
    sn_contact_motion rest = *motion;
    rest.x = scene->start;
    for (int32_t i = 0; i < scene->pair_count; i++) {
        const sn_contact_pair *pair = &scene->pairs[i];
        const double *t = scene->shares + 4 * (size_t)i;
        bool cut = t[0] < 1 || t[1] < 1 || t[2] < 1 || t[3] < 1;
        if (!cut || pair->joint || pair->exempt) {
            continue;
        }

        // The pair may stay apart by planes at rest only.
        sn_aim_bar bar = {.thickness = sn_contact_gap(scene, pair)};
        memcpy(bar.vertex, pair->vertex, sizeof bar.vertex);
        if (sn_contact_stays_apart(scene, &rest, pair, &bar.at)) {
            continue;
        }
        void *bars = aim->bars;
        SN_TRY(sn_grow(island->world->context, &bars, &aim->bar_capacity, (size_t)aim->bar_count,
                       (size_t)aim->bar_count + 1, sizeof *aim->bars));
        aim->bars = bars;
        aim->bars[aim->bar_count++] = bar;
    }
    return SINEW_OK;
}

static sinew_status add_plane(sn_island *island, const sn_contact_member *member,
                              const sinew_obstacle *obstacle) {
    const sn_island_contact *own = island->contact;
    sn_obstacle_point at = sn_obstacle_nearest(&obstacle->shape, obstacle->trial, sn_v3(0, 0, 0));
    double support = sn_dot(at.normal, obstacle->trial.t);
    for (int32_t v = member->first_vertex; v < member->first_vertex + member->vertex_count; v++) {
        double now = sn_dot(at.normal, sn_contact_at(own->x, v)) - support;
        double gap = sn_dot(at.normal, sn_contact_at(own->aim.surface, v)) - support;
        gap -= aimed_share * member->thickness;

        // What is behind the plane already is on its way out.
        if (!own->held[v] && now > 0 && gap < member->thickness) {
            SN_TRY(add_row(island, 1, &v, (double[]){1}, at.normal, gap, member->thickness));
        }
    }
    return SINEW_OK;
}

static sinew_status add_solid(sn_island *island, const sn_contact_member *member,
                              const sinew_obstacle *obstacle) {
    const sn_island_contact *own = island->contact;
    const sinew_mesh *surface = member->member->body->surface;
    sn_box reach =
        sn_box_grown(sn_obstacle_box(&obstacle->shape, obstacle->trial), member->thickness);
    for (int32_t t = 0; t < surface->element_count; t++) {
        sn_vec3 x[3], z[3];
        int32_t vertex[3];
        sn_box box = sn_box_empty();
        for (int k = 0; k < 3; k++) {
            vertex[k] = member->first_vertex + sn_at3(surface->indices, t)[k];
            x[k] = sn_contact_at(own->x, vertex[k]);
            z[k] = sn_contact_at(own->aim.surface, vertex[k]);
            box = sn_box_with_point(sn_box_with_point(box, x[k]), z[k]);
        }
        if (!sn_box_overlaps(box, reach)) {
            continue;
        }

        // The plane that the commit tries first, for each corner.
        sn_obstacle_meeting near = sn_obstacle_meet_triangle(&obstacle->shape, obstacle->trial, x);
        if (!(near.at.distance > 0)) {
            continue;
        }
        sn_vec3 n = near.at.normal;
        double support = sn_obstacle_support(&obstacle->shape, obstacle->trial, n);
        for (int k = 0; k < 3; k++) {
            double gap = sn_dot(n, z[k]) - support - aimed_share * member->thickness;
            if (gap < member->thickness) {
                SN_TRY(add_row(island, 1, &vertex[k], (double[]){1}, n, gap, member->thickness));
            }
        }
    }
    return SINEW_OK;
}

static sinew_status add_obstacles(sn_island *island, const sn_contact_member *member) {
    const sn_island_contact *own = island->contact;
    size_t first = 3 * (size_t)member->first_vertex;
    sn_box box = sn_box_union(sn_box_of_points(own->x + first, member->vertex_count),
                              sn_box_of_points(own->aim.surface + first, member->vertex_count));
    for (int32_t o = 0; o < own->contact->obstacle_count; o++) {
        const sinew_obstacle *obstacle = own->contact->obstacles[o];
        if (obstacle->surface) {
            continue; // a part of the scene
        }

        sn_box reach = sn_obstacle_box(&obstacle->shape, obstacle->trial);
        if (!sn_box_overlaps(box, sn_box_grown(reach, member->thickness))) {
            continue;
        }
        SN_TRY(obstacle->shape.kind == SN_OBSTACLE_PLANE ? add_plane(island, member, obstacle)
                                                         : add_solid(island, member, obstacle));
    }
    return SINEW_OK;
}

// All half-spaces near the configuration aimed at. Whether one of them is violated.
static sinew_status find_rows(sn_island *island, bool *violated) {
    const sn_island_contact *own = island->contact;
    sn_aim *aim = &island->contact->aim;
    aim->row_count = 0;
    aim->term_count = 0;
    SN_TRY(add_pairs(island));
    SN_TRY(add_bars(island));
    for (int32_t i = 0; i < island->body_count; i++) {
        if (is_bent(&own->members[i])) {
            SN_TRY(add_obstacles(island, &own->members[i]));
        }
    }

    *violated = false;
    for (int32_t i = 0; i < aim->row_count; i++) {
        *violated = *violated || aim->rows[i].gap < -aim->rows[i].left;
    }
    return SINEW_OK;
}

// Sweeps over the half-spaces, adding to the correction d of the rows.
static void sweep_rows(sn_aim *aim, double *d) {
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        bool done = true;
        for (int32_t i = 0; i < aim->row_count; i++) {
            sn_aim_row *row = &aim->rows[i];
            const sn_aim_term *terms = aim->terms + row->first_term;
            double gap = row->gap;
            for (int32_t t = 0; t < row->term_count; t++) {
                gap += sn_dot(terms[t].a, sn_load3(sn_at3(d, terms[t].row)));
            }

            double next = fmax(0, row->multiplier - gap / row->mobility);
            double change = next - row->multiplier;
            row->multiplier = next;
            done = done && (gap > -row->left);
            for (int32_t t = 0; t < row->term_count; t++) {
                sn_add_to3(sn_at3(d, terms[t].row), sn_scale(change, terms[t].step));
            }
        }
        if (done) {
            return;
        }
    }
}

// Configurations and surfaces moved by `d` from where the step is aimed at.
static void move_aims(sn_island *island, const double *d) {
    const sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        if (!is_bent(member)) {
            continue;
        }

        const sinew_body *body = member->member->body;
        size_t first = 3 * (size_t)member->member->first_row;
        double *q = member->member->trial_q;
        sn_body_retract(body, q, member->aim_q, d + first);
        memcpy(member->aim_q, q, (size_t)body->config_count * sizeof *q);
        body->ops->surface.compute(body, member->aim_q,
                                   sn_at3(own->aim.surface, member->first_vertex));
    }
}

// Derivatives are those at the configuration aimed at.
static void prepare(sn_island *island) {
    const sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        const sinew_body *body = member->member->body;
        if (is_bent(member)) {
            body->ops->surface.compute(body, member->aim_q,
                                       sn_at3(own->aim.surface, member->first_vertex));
        }
    }
}

void sn_contact_aim_release(sinew_context *context, sn_aim *aim) {
    sn_release(context, aim->rows, aim->row_capacity, sizeof *aim->rows);
    sn_release(context, aim->bars, aim->bar_capacity, sizeof *aim->bars);
    sn_release(context, aim->terms, aim->term_capacity, sizeof *aim->terms);
}

sinew_status sn_contact_aim(sn_island *island) {
    sn_island_contact *own = island->contact;
    size_t bytes = 3 * (size_t)own->vertex_count * sizeof(double);
    memcpy(own->aim.surface, own->hat, bytes);
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        size_t size = (size_t)member->member->body->config_count * sizeof(double);
        memcpy(member->aim_q, member->hat_q, size);
    }

    if (own->scene) {
        sn_contact_measure(own->scene, own->x);
    }
    memset(own->row_known, 0, (size_t)island->rows * sizeof *own->row_known);
    double *d = island->remote_x;
    prepare(island);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        bool violated;
        SN_TRY(find_rows(island, &violated));
        if (!violated) {
            break;
        }
        memset(d, 0, (size_t)sn_island_size(island) * sizeof *d);
        sweep_rows(&own->aim, d);
        move_aims(island, d);
    }
    return SINEW_OK;
}
