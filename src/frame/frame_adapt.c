// Nodes that join a running body or leave it (Gilles et al. 2011, 4.4).
//
// The body is drafted anew with the other set of nodes: what depends on them goes to a fresh arena, the state of the nodes
// that stay is copied, and a new node starts as the solid moves at its place: position and rate by interpolation, orientation
// and spin by the polar decomposition of F. Then the smallest rigid motion (in kinetic energy) is added to the velocities that
// restores linear and angular momentum, and what differs in shape begins to fade. A draft that fails is dropped, and the body
// is as it was. Cost: the range of the node, and one pass over all samples to pack them.
#include "frame/frame_body.h"

#include "linalg/dense.h"
#include "math/svd.h"

#include <math.h>
#include <string.h>

typedef struct draft {
    sinew_body body;
    sn_frame_model model;
} draft;

// A draft with its own insertions: those of the body without number `without` (or -1), then `added` if it is not NULL.
static sinew_status begin(const sinew_body *body, draft *next, int32_t without, sn_insertion *added) {
    const sn_frame_model *model = body->model;
    next->body = *body;
    next->model = *model;
    next->body.model = &next->model;
    next->model.arena = sn_arena_create(body->context);
    next->model.samples = next->model.points = NULL;
    next->model.springs = NULL;
    next->model.fade = (sn_fade){0};
    next->model.insertions = SN_PUSH(&next->model.arena, sn_insertion *, model->insertion_count + 1);
    SN_TRY(sn_arena_status(&next->model.arena));
    int32_t count = 0;
    for (int32_t k = 0; k < model->insertion_count; k++) {
        if (k != without) next->model.insertions[count++] = model->insertions[k];
    }
    if (added) next->model.insertions[count++] = added;
    next->model.insertion_count = count;
    return SINEW_OK;
}

// Copies what the nodes that stay have; `without` is the old number of the node that leaves, or -1.
static void copy_state(const sinew_body *body, draft *next, int32_t without) {
    const sn_nodes *from = &((const sn_frame_model *)body->model)->nodes, *to = &next->model.nodes;
    sinew_body *b = &next->body;
    const double *old_configs[] = {body->q, body->previous_q, body->target, body->balance_q};
    double *configs[] = {b->q, b->previous_q, b->target, b->balance_q};
    const double *old_rows[] = {body->v, body->previous_v, body->acceleration, body->inertia, body->applied};
    double *rows[] = {b->v, b->previous_v, b->acceleration, b->inertia, b->applied};
    for (int32_t i = 0, j = 0; i < from->count; i++) {
        if (i == without) continue;
        const sn_node *old = &from->items[i], *node = &to->items[j++];
        SN_ASSERT(old->kind == node->kind);
        size_t config = (size_t)sn_node_config_count(node) * sizeof(double), row = 3 * (size_t)node->row_count;
        for (int k = 0; k < 4; k++) memcpy(configs[k] + node->config, old_configs[k] + old->config, config);
        for (int k = 0; k < 5; k++) memcpy(rows[k] + 3 * node->row, old_rows[k] + 3 * old->row, row * sizeof(double));
        memcpy(b->mask + 3 * node->row, body->mask + 3 * old->row, row);
    }
    sn_nodes_place(to, b->rest, sn_quat_identity(), sn_v3(0, 0, 0));
}

// The node that moves a rest point most.
static int32_t strongest(const sn_frame_model *model, sn_vec3 X) {
    sn_shape_point at;
    sn_frame_weights_at(model, X, &at);
    int32_t best = 0;
    for (int32_t k = 1; k < at.count; k++) {
        if (at.weight[k] > at.weight[best]) best = k;
    }
    return at.node[best];
}

// Starts the last node of the draft as the old body moves at its place.
static void start_node(const sinew_body *body, draft *next) {
    const sn_frame_model *model = body->model;
    const sn_node *node = &next->model.nodes.items[next->model.nodes.count - 1];
    sn_blend_prepare(&model->nodes, &model->blend, body->q);
    sn_frame_motion motion = sn_frame_motion_at(model, node->origin, body->v);
    double *q = next->body.q + node->config, *v = next->body.v + 3 * node->row;
    if (node->kind == SINEW_NODE_RIGID) {
        sn_mat3 S, R = sn_polar3(&S, motion.F);
        sn_quat turn = sn_quat_from_mat3(R);
        // Of the two quaternions the one that agrees with the node that moves the place most.
        const sn_node *neighbor = &model->nodes.items[strongest(model, node->origin)];
        if (sn_quat_dot(turn, sn_node_rotation(neighbor, body->q)) < 0) turn = sn_quat_scale(-1, turn);
        q[0] = turn.x, q[1] = turn.y, q[2] = turn.z, q[3] = turn.w;
        sn_store3(q + 4, motion.x);
        sn_store3(v, sn_polar_spin3(R, S, motion.F_rate));
        sn_store3(v + 3, motion.rate);
    } else {
        sn_store3(q, motion.x);
        sn_store3(v, motion.rate);
        for (int k = 0; k < 3 && node->kind != SINEW_NODE_POINT; k++) {
            sn_store3(q + 3 + 3 * k, sn_mat3_column(motion.F, k));
            sn_store3(v + 3 + 3 * k, sn_mat3_column(motion.F_rate, k));
        }
    }
    size_t bytes = (size_t)sn_node_config_count(node) * sizeof(double);
    double *copies[] = {next->body.previous_q, next->body.target, next->body.balance_q};
    for (int k = 0; k < 3; k++) memcpy(copies[k] + node->config, q, bytes);
}

// Rates of the rows in a rigid motion: along axis k < 3, or about axis k - 3 through `center`.
static void rigid_rates(const draft *next, sn_vec3 center, int k, double *rates) {
    const sn_nodes *nodes = &next->model.nodes;
    const double *controls = next->model.mass->controls;
    double unit[3] = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
    sn_vec3 axis = sn_load3(unit);
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        for (int32_t c = 0; c < node->control_count; c++) {
            sn_vec3 a = sn_load3(controls + 3 * (node->control + c)), rate = sn_v3(0, 0, 0);
            if (k < 3)
                rate = c == 0 ? axis : rate;
            else if (sn_node_control_turns(node, c))
                rate = axis;
            else
                rate = sn_cross(axis, c == 0 ? sn_sub(a, center) : a);
            sn_store3(rates + 3 * (node->row + sn_node_row_of_control(node, c)), rate);
        }
    }
}

// Adds the rigid motion of the free unknowns that makes up for what is missing in momentum.
static sinew_status restore_momentum(draft *next, const sn_frame_momenta *before) {
    sinew_body *body = &next->body;
    const sn_nodes *nodes = &next->model.nodes;
    int32_t size = sn_body_size(body);
    sn_frame_momenta now;
    sn_frame_mass_compute_momenta(nodes, next->model.mass, body->q, body->v, &now);
    sn_vec3 center = sn_scale(1 / now.mass, sn_load3(now.first_moment));
    sn_vec3 P = sn_sub(sn_load3(before->momentum), sn_load3(now.momentum));
    sn_vec3 L = sn_sub(sn_sub(sn_load3(before->angular_momentum), sn_load3(now.angular_momentum)), sn_cross(center, P));
    double A[36], x[6], work[12], *motions = sn_allocate(body->context, 13 * (size_t)size, sizeof *motions);
    if (!motions) return SINEW_OUT_OF_MEMORY;
    double *product = motions + 12 * (size_t)size;
    for (int k = 0; k < 6; k++) { // all unknowns, then the free ones alone
        double *all = motions + k * size, *free = motions + (6 + k) * size;
        rigid_rates(next, center, k, all);
        for (int32_t i = 0; i < size; i++) free[i] = body->mask[i] ? 0 : all[i];
    }
    for (int l = 0; l < 6; l++) {
        sn_frame_mass_multiply(nodes, next->model.mass, product, motions + (6 + l) * size, body->q);
        for (int k = 0; k < 6; k++) {
            A[6 * k + l] = 0;
            for (int32_t i = 0; i < size; i++) A[6 * k + l] += motions[k * size + i] * product[i];
        }
    }
    sn_store3(x, P);
    sn_store3(x + 3, L);
    if (sn_dense_least_squares(A, 6, 6, 6, x, 1, 1, 1e-10, work) > 0) {
        for (int k = 0; k < 6; k++) {
            for (int32_t i = 0; i < size; i++) body->v[i] += x[k] * motions[(6 + k) * size + i];
        }
    }
    sn_release(body->context, motions, 13 * (size_t)size, sizeof *motions);
    return SINEW_OK;
}

// Two ascending lists as one.
static int32_t merge(const int32_t *a, int32_t a_count, const int32_t *b, int32_t b_count, int32_t *out) {
    int32_t count = 0, i = 0, j = 0;
    while (i < a_count || j < b_count) {
        int32_t next = j == b_count || (i < a_count && a[i] <= b[j]) ? a[i] : b[j];
        if (i < a_count && a[i] == next) i++;
        if (j < b_count && b[j] == next) j++;
        out[count++] = next;
    }
    return count;
}

// The points that belong to a list of samples. Returns how many; with out NULL it counts.
static int32_t list_points(const sn_quadrature *quadrature, const int32_t *samples, int32_t count, int32_t *out) {
    int32_t next = 0;
    for (int32_t k = 0; k < count; k++) {
        if (quadrature->count == 0) {
            if (out) out[next] = samples[k];
            next++;
            continue;
        }
        for (int32_t p = quadrature->start[samples[k]]; p < quadrature->start[samples[k] + 1]; p++, next++) {
            if (out) out[next] = p;
        }
    }
    return next;
}

static sn_vec3 vertex_position(const sn_frame_model *model, int32_t vertex) {
    const sn_vertex_weights *v = &model->vertices;
    int32_t start = v->start[vertex];
    sn_blend_point point = {sn_load3(model->surface->points + 3 * (size_t)vertex), v->start[vertex + 1] - start,
                            v->node + start, v->weight + start, NULL};
    return sn_blend_get_position(&model->nodes, &model->blend, &point);
}

static int32_t vertex_carrier(const sn_frame_model *model, int32_t vertex) {
    const sn_vertex_weights *v = &model->vertices;
    int32_t best = v->start[vertex];
    for (int32_t k = best + 1; k < v->start[vertex + 1]; k++) {
        if (v->weight[k] > v->weight[best]) best = k;
    }
    return v->node[best];
}

// What is left of an earlier fade at a vertex.
static sn_vec3 old_offset(const sn_frame_model *model, const double *q, int32_t vertex, double left) {
    const sn_fade *fade = &model->fade;
    for (int32_t k = 0; k < fade->vertex_count && left > 0; k++) {
        if (fade->vertex[k] != vertex) continue;
        return sn_scale(left, sn_quat_rotate(sn_node_rotation(&model->nodes.items[fade->carrier[k]], q), fade->offset[k]));
    }
    return sn_v3(0, 0, 0);
}

static void fill_fade(const sinew_body *body, draft *next, double left) {
    sn_frame_model *model = body->model;
    sn_fade *fade = &next->model.fade;
    for (int32_t k = 0; k < fade->sample_count; k++) {
        sn_mat3 old = sn_fade_sample_F(&model->blend, fade->sample[k]),
                F = sn_fade_sample_F(&next->model.blend, fade->sample[k]);
        sn_mat3 D = sn_mat3_sub(sn_mat3_mul(sn_mat3_inverse(F), old), sn_mat3_identity());
        if (sn_mat3_norm(D) < 2) fade->residual[k] = D; // a sample that is flat now has no say in what it was
    }
    for (int32_t k = 0; k < fade->vertex_count; k++) {
        int32_t vertex = fade->vertex[k];
        sn_vec3 was = sn_add(vertex_position(model, vertex), old_offset(model, body->q, vertex, left));
        fade->carrier[k] = vertex_carrier(&next->model, vertex);
        sn_quat R = sn_node_rotation(&next->model.nodes.items[fade->carrier[k]], next->body.q);
        fade->offset[k] = sn_quat_rotate(sn_quat_conjugate(R), sn_sub(was, vertex_position(&next->model, vertex)));
    }
}

// What the changed insertion touches, and what an earlier fade has not finished, goes over from old to new.
static sinew_status start_fade(const sinew_body *body, draft *next, const sn_insertion *changed, double duration) {
    sn_frame_model *model = body->model;
    double left = sn_fade_left(&model->fade, *body->age);
    if (left > 0) duration = fmax(duration, model->fade.duration - *body->age);
    if (duration == 0) return SINEW_OK;
    if (left != model->fade.applied) sn_fade_apply(&model->fade, &model->blend, left);
    int32_t old_samples = left > 0 ? model->fade.sample_count : 0, old_vertices = left > 0 ? model->fade.vertex_count : 0;
    sn_arena scratch = sn_arena_create(body->context);
    int32_t touched = list_points(&model->quadrature, changed->sample, changed->sample_count, NULL);
    int32_t *points = SN_PUSH(&scratch, int32_t, touched), *samples = SN_PUSH(&scratch, int32_t, old_samples + touched);
    int32_t *vertices = SN_PUSH(&scratch, int32_t, old_vertices + changed->vertex_count);
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        list_points(&model->quadrature, changed->sample, changed->sample_count, points);
        int32_t sample_count = merge(model->fade.sample, old_samples, points, touched, samples);
        int32_t vertex_count = merge(model->fade.vertex, old_vertices, changed->vertex, changed->vertex_count, vertices);
        status = sn_fade_create(&next->model.arena, &next->model.blend, samples, sample_count, vertices, vertex_count,
                                &next->model.fade);
    }
    sn_arena_destroy(&scratch);
    SN_TRY(status);
    sn_blend_prepare(&model->nodes, &model->blend, body->q);
    sn_blend_prepare(&next->model.nodes, &next->model.blend, next->body.q);
    next->model.fade.duration = duration;
    fill_fade(body, next, left);
    sn_fade_apply(&next->model.fade, &next->model.blend, 1);
    return SINEW_OK;
}

static sinew_status fill(const sinew_body *body, draft *next, const sinew_frame_node *nodes, int32_t without,
                         const sn_insertion *changed, double fade) {
    const sn_frame_model *model = body->model;
    sn_frame_momenta before;
    SN_TRY(sn_frame_structure_build(&next->body, nodes, model->shape->node_count + next->model.insertion_count));
    copy_state(body, next, without);
    if (without < 0) start_node(body, next);
    sn_frame_mass_compute_momenta(&model->nodes, model->mass, body->q, body->v, &before);
    SN_TRY(restore_momentum(next, &before));
    return start_fade(body, next, changed, fade);
}

// Gives the body the nodes `nodes`: `without` (an old number, or -1) leaves, or `added` joins.
static sinew_status change(sinew_body *body, const sinew_frame_node *nodes, int32_t without, sn_insertion *added,
                           double fade) {
    sn_frame_model *model = body->model;
    sn_arena_mark mark = sn_arena_get_mark(&body->arena);
    int32_t gone = without - model->shape->node_count;
    draft *next = sn_allocate(body->context, 1, sizeof *next);
    if (!next) return SINEW_OUT_OF_MEMORY;
    sinew_status status = begin(body, next, without < 0 ? -1 : gone, added);
    if (status == SINEW_OK) {
        status = fill(body, next, nodes, without, added ? added : model->insertions[gone], fade);
        body->arena = next->body.arena; // moments of the base may have been added to it
    }
    if (status == SINEW_OK) {
        sn_frame_structure_release(model);
        *model = next->model;
        *body = next->body;
        body->model = model;
    } else {
        sn_frame_structure_release(&next->model);
        sn_arena_rewind(&body->arena, mark);
    }
    sn_release(body->context, next, 1, sizeof *next);
    return status;
}

// The kinds and rest places of the nodes without number `without`, with room for one more.
static sinew_status list_nodes(const sn_frame_model *model, int32_t without, sn_arena *arena, sinew_frame_node **out) {
    sinew_frame_node *nodes = *out = SN_PUSH(arena, sinew_frame_node, model->nodes.count + 1);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0, j = 0; i < model->nodes.count; i++) {
        if (i == without) continue;
        nodes[j].kind = model->nodes.items[i].kind;
        sn_store3(nodes[j++].position, model->nodes.items[i].origin);
    }
    return SINEW_OK;
}

static sinew_status check_insertion(const sinew_body *body, const sinew_frame_insert_def *def) {
    if ((int)def->kind < 0 || def->kind > SINEW_NODE_QUADRATIC || !sn_finite3(sn_load3(def->position))) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the new frame has a bad kind (%d) or a position that is not finite", (int)def->kind);
    }
    const sn_frame_model *model = body->model;
    if (model->dual && def->kind != SINEW_NODE_RIGID) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the new frame is not rigid: body \"%s\" is blended by dual quaternions", body->name);
    }
    if (model->wants_springs && def->kind != SINEW_NODE_RIGID) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "springs join rigid frames; the new one is of kind %d",
                       (int)def->kind);
    }
    if (!(def->fade >= 0) || !isfinite(def->fade)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "the fade is %g s; it must be finite and not negative",
                       def->fade);
    }
    return SINEW_OK;
}

// Where the new node belongs, and that no node is there.
static sinew_status find_place(const sinew_body *body, const sinew_frame_insert_def *def, sn_vec3 *X) {
    const sn_frame_model *model = body->model;
    const double *h = model->shape->voxels->spacing;
    double cell = fmin(h[0], fmin(h[1], h[2]));
    int32_t iterations;
    *X = sn_load3(def->position);
    if (def->deformed && !sn_frame_find_point(body, sn_load3(def->position), 1e-6 * cell, X, &iterations)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "no point of body \"%s\" is at (%g, %g, %g) m", body->name,
                       def->position[0], def->position[1], def->position[2]);
    }
    for (int32_t i = 0; i < model->nodes.count; i++) {
        if (sn_distance(*X, model->nodes.items[i].origin) > 1e-6 * cell) continue;
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "frame %d of body \"%s\" is at (%g, %g, %g) m already", i,
                       body->name, X->x, X->y, X->z);
    }
    return SINEW_OK;
}

sinew_status sn_frame_body_insert(sinew_body *body, const sinew_frame_insert_def *def, int32_t *node) {
    const sn_frame_model *model = sn_frame_model_of(body);
    if (!model) return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "body \"%s\" has no frames", body->name);
    SN_TRY(check_insertion(body, def));
    sn_vec3 X;
    SN_TRY(find_place(body, def, &X));
    sn_insertion *insertion;
    SN_TRY(sn_insertion_create(model->shape, model->base_samples, model->surface->points, model->surface->point_count, X,
                               def->range, &insertion));
    int32_t index = model->nodes.count;
    sn_arena scratch = sn_arena_create(body->context);
    sinew_frame_node *nodes;
    sinew_status status = list_nodes(model, -1, &scratch, &nodes);
    if (status == SINEW_OK) {
        nodes[index].kind = def->kind;
        sn_store3(nodes[index].position, X);
        status = change(body, nodes, -1, insertion, def->fade);
    }
    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        sn_insertion_destroy(insertion);
        return status;
    }
    if (node) *node = index;
    return SINEW_OK;
}

sinew_status sn_frame_body_remove(sinew_body *body, int32_t node, double fade) {
    const sn_frame_model *model = sn_frame_model_of(body);
    if (!model) return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "body \"%s\" has no frames", body->name);
    int32_t first = model->shape->node_count;
    if (node < first || node >= model->nodes.count) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "frame %d of body \"%s\" cannot be taken out: %d frames were inserted, from number %d on", node,
                       body->name, model->insertion_count, first);
    }
    if (!(fade >= 0) || !isfinite(fade)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "the fade is %g s; it must be finite and not negative", fade);
    }
    sn_insertion *gone = model->insertions[node - first];
    sn_arena scratch = sn_arena_create(body->context);
    sinew_frame_node *nodes;
    sinew_status status = list_nodes(model, node, &scratch, &nodes);
    if (status == SINEW_OK) status = change(body, nodes, node, NULL, fade);
    sn_arena_destroy(&scratch);
    if (status == SINEW_OK) sn_insertion_destroy(gone);
    return status;
}
