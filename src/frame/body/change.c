// Nodes that join a running body or leave it (Gilles et al. 2011, 4.4).
//
// A draft of the body is built with the new set of nodes. What depends on all nodes goes to a new
// arena; samples and vertices in the range of the changed node are recomputed, the others are left
// alone. Nodes that stay keep their state. A new node starts with the motion of the solid at its
// position: position and velocity by interpolation, rotation and spin by polar decomposition of F.
// The rigid motion of least kinetic energy that restores linear and angular momentum is then added
// to the velocities, and the difference between the two shapes starts to fade.
//
// If anything fails, the draft is dropped and the body stays as it was. Cost: what lies in the
// range of the node, and the pairs of all nodes.
#include "frame/body/frame_body.h"

#include "linalg/dense.h"
#include "math/svd.h"

#include <math.h>
#include <string.h>

typedef struct draft {
    sinew_body body;
    sn_frame_model model;
    sn_adapt_draft range; // what lies in the range of the node
} draft;

// Makes a draft with its own insertions: those of the body except number `without` (or -1), then
// `added` if it is not NULL.
static sinew_status begin(const sinew_body *body, draft *next, int32_t without,
                          sn_insertion *added) {
    const sn_frame_model *model = body->model;

    // The draft shares everything with the body except what depends on the set of nodes.
    next->body = *body;
    next->model = *model;
    next->body.model = &next->model;
    next->model.arena = sn_arena_create(body->context);
    next->model.products = NULL;
    next->model.springs = NULL;
    next->model.rest_stiffness = NULL;
    next->range.arena = sn_arena_create(body->context);
    next->model.insertions =
        SN_PUSH(&next->model.arena, sn_insertion *, model->insertion_count + 1);
    SN_TRY(sn_arena_status(&next->model.arena));

    // The insertions after the change.
    int32_t count = 0;
    for (int32_t k = 0; k < model->insertion_count; k++) {
        if (k != without) {
            next->model.insertions[count++] = model->insertions[k];
        }
    }

    if (added) {
        next->model.insertions[count++] = added;
    }

    next->model.insertion_count = count;
    next->range.change =
        (sn_insertion_change){.before = sn_frame_insertions(model),
                              .before_count = model->insertion_count,
                              .after = sn_frame_insertions(&next->model),
                              .after_count = count,
                              .changed = added ? added : model->insertions[without],
                              .gone = added ? -1 : model->shape->node_count + without};

    return SINEW_OK;
}

// Copies the state of the nodes that stay; `without` is the old number of the node that leaves, or
// -1.
static void copy_state(const sinew_body *body, draft *next, int32_t without) {
    const sn_nodes *from = &((const sn_frame_model *)body->model)->nodes;
    const sn_nodes *to = &next->model.nodes;
    sinew_body *b = &next->body;
    const double *old_configs[] = {body->q, body->previous_q, body->target, body->balance_q};
    double *configs[] = {b->q, b->previous_q, b->target, b->balance_q};
    const double *old_rows[] = {body->v, body->previous_v, body->acceleration, body->inertia,
                                body->applied};
    double *rows[] = {b->v, b->previous_v, b->acceleration, b->inertia, b->applied};

    // Nodes keep their order, so old and new nodes pair up with the leaving one skipped.
    for (int32_t i = 0, j = 0; i < from->count; i++) {
        if (i == without) {
            continue;
        }

        const sn_node *old = &from->items[i];
        const sn_node *node = &to->items[j++];

        SN_ASSERT(old->kind == node->kind);
        size_t config = (size_t)sn_node_config_count(node) * sizeof(double);
        size_t row = 3 * (size_t)node->row_count;

        for (int k = 0; k < 4; k++) {
            memcpy(configs[k] + node->config, old_configs[k] + old->config, config);
        }

        for (int k = 0; k < 5; k++) {
            memcpy(rows[k] + 3 * node->row, old_rows[k] + 3 * old->row, row * sizeof(double));
        }

        memcpy(b->mask + 3 * node->row, body->mask + 3 * old->row, row);
    }

    sn_nodes_place(to, b->rest, sn_quat_identity(), sn_v3(0, 0, 0));
}

// Returns the node with the largest influence on a rest point.
static int32_t strongest(const sn_frame_model *model, sn_vec3 X) {
    sn_shape_point at;
    sn_frame_weights_at(model, X, &at);

    return sn_shape_point_strongest(&at);
}

// Initialises the last node of the draft with the old body's motion at its position.
static void start_node(const sinew_body *body, draft *next) {
    const sn_frame_model *model = body->model;
    const sn_node *node = &next->model.nodes.items[next->model.nodes.count - 1];

    sn_blend_prepare(&model->nodes, &model->blend, body->q);
    sn_frame_motion motion = sn_frame_motion_at(body, node->origin, body->v);
    double *q = next->body.q + node->config;
    double *v = next->body.v + 3 * node->row;

    if (node->kind == SINEW_NODE_RIGID) {
        sn_mat3 S;
        sn_mat3 R = sn_polar3(&S, motion.F);
        sn_quat turn = sn_quat_from_mat3(R);

        // Of the two quaternions choose the one closer to that of the most influential node.
        const sn_node *neighbor = &model->nodes.items[strongest(model, node->origin)];
        if (sn_quat_dot(turn, sn_node_rotation(neighbor, body->q)) < 0) {
            turn = sn_quat_scale(-1, turn);
        }

        q[0] = turn.x;
        q[1] = turn.y;
        q[2] = turn.z;
        q[3] = turn.w;
        sn_store3(q + 4, motion.x);
        sn_store3(v, sn_polar_spin3(R, S, motion.F_rate));
        sn_store3(v + 3, motion.rate);
    } else {
        sn_store3(q, motion.x);
        sn_store3(v, motion.rate);
        if (node->kind != SINEW_NODE_POINT) {
            for (int k = 0; k < 3; k++) {
                sn_store3(q + 3 + 3 * k, sn_mat3_column(motion.F, k));
                sn_store3(v + 3 + 3 * k, sn_mat3_column(motion.F_rate, k));
            }
        }
    }

    size_t bytes = (size_t)sn_node_config_count(node) * sizeof(double);
    double *copies[] = {next->body.previous_q, next->body.target, next->body.balance_q};
    for (int k = 0; k < 3; k++) {
        memcpy(copies[k] + node->config, q, bytes);
    }
}

// Computes the rates of the rows in a rigid motion: along axis k < 3, or about axis k - 3 through
// `center`.
static void rigid_rates(const draft *next, sn_vec3 center, int k, double *rates) {
    const sn_nodes *nodes = &next->model.nodes;
    const double *controls = next->model.mass->controls;
    double unit[3] = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
    sn_vec3 axis = sn_load3(unit);

    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        for (int32_t c = 0; c < node->control_count; c++) {
            sn_vec3 a = sn_load3(controls + 3 * (node->control + c));
            sn_vec3 rate = sn_v3(0, 0, 0);
            if (k < 3) {
                rate = c == 0 ? axis : rate;
            } else if (sn_node_control_turns(node, c)) {
                rate = axis;
            } else {
                rate = sn_cross(axis, c == 0 ? sn_sub(a, center) : a);
            }

            sn_store3(rates + 3 * (node->row + sn_node_row_of_control(node, c)), rate);
        }
    }
}

// Adds the rigid motion of the free unknowns that restores the missing momentum.
static sinew_status restore_momentum(draft *next, const sn_frame_momenta *before) {
    sinew_body *body = &next->body;
    const sn_nodes *nodes = &next->model.nodes;
    int32_t size = sn_body_size(body);
    sn_frame_momenta now;

    // What is missing: linear momentum P, and angular momentum L about the centre of mass.
    sn_frame_mass_compute_momenta(nodes, next->model.mass, body->q, body->v, &now);
    sn_vec3 center = sn_scale(1 / now.mass, sn_load3(now.first_moment));
    sn_vec3 P = sn_sub(sn_load3(before->momentum), sn_load3(now.momentum));
    sn_vec3 L = sn_sub(sn_sub(sn_load3(before->angular_momentum), sn_load3(now.angular_momentum)),
                       sn_cross(center, P));
    double A[36], x[6], work[12];
    double *motions = sn_allocate(body->context, 13 * (size_t)size, sizeof *motions);

    if (!motions) {
        return SINEW_OUT_OF_MEMORY;
    }

    // The six rigid motions: all unknowns, then only the free ones.
    double *product = motions + 12 * (size_t)size;
    for (int k = 0; k < 6; k++) { // all unknowns, then the free ones alone
        double *all = motions + k * size;

        double *free = motions + (6 + k) * size;
        rigid_rates(next, center, k, all);
        for (int32_t i = 0; i < size; i++) {
            free[i] = body->mask[i] ? 0 : all[i];
        }
    }

    // A_kl = (motion k)' M (free part of motion l): the momentum k that a unit of motion l adds.
    for (int l = 0; l < 6; l++) {
        sn_frame_mass_multiply(nodes, next->model.mass, product, motions + (6 + l) * size, body->q);
        for (int k = 0; k < 6; k++) {
            A[6 * k + l] = 0;
            for (int32_t i = 0; i < size; i++) {
                A[6 * k + l] += motions[k * size + i] * product[i];
            }
        }
    }

    // Least squares, because supports may make some of the motions dependent.
    sn_store3(x, P);
    sn_store3(x + 3, L);
    if (sn_dense_least_squares(A, 6, 6, 6, x, 1, 1, 1e-10, work) > 0) {
        for (int k = 0; k < 6; k++) {
            for (int32_t i = 0; i < size; i++) {
                body->v[i] += x[k] * motions[(6 + k) * size + i];
            }
        }
    }

    sn_release(body->context, motions, 13 * (size_t)size, sizeof *motions);
    return SINEW_OK;
}

// Starts to fade the difference between the two shapes.
static sinew_status start_fade(const sinew_body *body, draft *next, double duration) {
    sn_frame_model *model = body->model;
    const sn_fade_source source = {.duration = duration,
                                   .age = *body->age,
                                   .dual = model->dual,
                                   .has_strain = !model->wants_springs,
                                   .layers = &model->layers,
                                   .quadrature = &model->quadrature,
                                   .base_vertices = &model->base_vertices,
                                   .points = model->surface->points,
                                   .before = {&model->nodes, body->q, model->patch},
                                   .after = {&next->model.nodes, next->body.q, next->range.patch}};

    return sn_adapt_draft_start_fade(body->context, &source, &model->fade, &next->range);
}

static sinew_status fill(const sinew_body *body, draft *next, const sinew_frame_node *nodes,
                         int32_t without, double fade) {
    const sn_frame_model *model = body->model;
    sn_frame_momenta before = {0};
    int32_t count = model->shape->node_count + next->model.insertion_count;

    SN_TRY(sn_frame_structure_change(body, &next->body, nodes, count, &next->range));
    copy_state(body, next, without);
    if (without < 0) {
        start_node(body, next);
    }

    sn_frame_mass_compute_momenta(&model->nodes, model->mass, body->q, body->v, &before);
    SN_TRY(restore_momentum(next, &before));
    SN_TRY(sn_layers_reserve(body->context, &((sn_frame_model *)body->model)->layers));

    return start_fade(body, next, fade);
}

// Replaces the body by the draft; nothing here can fail.
static void take_over(sinew_body *body, draft *next) {
    sn_frame_model *model = body->model;
    sn_adapt_draft_take_over(&next->range, &next->model.nodes, &next->body.pattern, *body->age,
                             &model->layers, &model->fade, &model->patch, &model->last_change);
    next->model.layers = model->layers;
    next->model.fade = model->fade;
    next->model.patch = model->patch;
    next->model.last_change = model->last_change;

    sn_arena_destroy(&model->arena);
    *model = next->model;
    *body = next->body;
    body->model = model;
}

// Changes the body's set of nodes to `nodes`: `without` (an old number, or -1) leaves, or `added`
// joins.
static sinew_status change(sinew_body *body, const sinew_frame_node *nodes, int32_t without,
                           sn_insertion *added, double fade) {
    const sn_frame_model *model = body->model;
    sn_arena_mark mark = sn_arena_get_mark(&body->arena);
    draft *next = sn_allocate(body->context, 1, sizeof *next);
    if (!next) {
        return SINEW_OUT_OF_MEMORY;
    }

    sinew_status status =
        begin(body, next, without < 0 ? -1 : without - model->shape->node_count, added);
    if (status == SINEW_OK) {
        status = fill(body, next, nodes, without, fade);
        body->arena = next->body.arena; // moments of the base may have been added to it
    }

    // All or nothing.
    if (status == SINEW_OK) {
        take_over(body, next);
    } else {
        sn_arena_destroy(&next->model.arena);
        sn_adapt_draft_drop(&next->range);
        sn_arena_rewind(&body->arena, mark);
    }

    sn_arena_destroy(&next->range.arena);
    sn_release(body->context, next, 1, sizeof *next);

    return status;
}

// Lists the kinds and rest positions of the nodes except number `without`, with room for one more.
static sinew_status list_nodes(const sn_frame_model *model, int32_t without, sn_arena *arena,
                               sinew_frame_node **out) {
    sinew_frame_node *nodes = *out = SN_PUSH(arena, sinew_frame_node, model->nodes.count + 1);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0, j = 0; i < model->nodes.count; i++) {
        if (i == without) {
            continue;
        }
        nodes[j].kind = model->nodes.items[i].kind;
        sn_store3(nodes[j++].position, model->nodes.items[i].origin);
    }

    return SINEW_OK;
}

static sinew_status check_insertion(const sinew_body *body, const sinew_frame_insert_def *def) {
    if ((int)def->kind < 0 || def->kind > SINEW_NODE_QUADRATIC ||
        !sn_finite3(sn_load3(def->position))) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the new frame has a bad kind (%d) or a position that is not finite",
                       (int)def->kind);
    }

    // Some bodies take rigid frames only.
    const sn_frame_model *model = body->model;
    if (model->dual && def->kind != SINEW_NODE_RIGID) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the new frame is not rigid: body \"%s\" is blended by dual quaternions",
                       body->name);
    }

    if (model->wants_springs && def->kind != SINEW_NODE_RIGID) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "springs join rigid frames; the new one must be rigid too");
    }

    if (!(def->fade >= 0) || !isfinite(def->fade)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the fade is %g s; it must be finite and not negative", def->fade);
    }

    return SINEW_OK;
}

// Finds the rest position of the new node, and checks that no node is there.
static sinew_status find_place(const sinew_body *body, const sinew_frame_insert_def *def,
                               sn_vec3 *X) {
    const sn_frame_model *model = body->model;
    const double *h = model->shape->voxels->spacing;
    double cell = fmin(h[0], fmin(h[1], h[2]));
    int32_t iterations;

    // A position in the deformed body is mapped back to rest.
    *X = sn_load3(def->position);
    if (def->deformed &&
        !sn_frame_find_point(body, sn_load3(def->position), 1e-6 * cell, X, &iterations)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "no point of body \"%s\" is at (%g, %g, %g) m", body->name, def->position[0],
                       def->position[1], def->position[2]);
    }

    // Two nodes at one position would have the same influence everywhere.
    for (int32_t i = 0; i < model->nodes.count; i++) {
        if (sn_distance(*X, model->nodes.items[i].origin) > 1e-6 * cell) {
            continue;
        }
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "frame %d of body \"%s\" is at (%g, %g, %g) m already", i, body->name, X->x,
                       X->y, X->z);
    }

    return SINEW_OK;
}

// Prepares the search structure for new nodes when the first one joins.
static sinew_status find_reach(sinew_body *body) {
    sn_frame_model *model = body->model;
    if (model->reach.shape) {
        return SINEW_OK;
    }

    sn_arena arena = sn_arena_create(body->context);
    sn_reach reach;
    sinew_status status =
        sn_reach_create(&arena, model->shape, model->base_samples, model->surface->points,
                        model->surface->point_count, &reach);

    if (status != SINEW_OK) {
        sn_arena_destroy(&arena);
        return status;
    }

    model->reach_arena = arena;
    model->reach = reach;

    return SINEW_OK;
}

sinew_status sn_frame_body_insert(sinew_body *body, const sinew_frame_insert_def *def,
                                  int32_t *node) {
    const sn_frame_model *model = sn_frame_model_of(body);
    if (!model) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "body \"%s\" has no frames",
                       body->name);
    }

    SN_TRY(check_insertion(body, def));
    sn_vec3 X;

    SN_TRY(find_place(body, def, &X));

    // What the node touches.
    sn_insertion *insertion;

    SN_TRY(find_reach(body));
    SN_TRY(sn_insertion_create(&model->reach, X, def->range, &insertion));

    // The list of nodes with the new one at its end.
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
        sn_insertion_release(insertion);
        return status;
    }

    if (node) {
        *node = index;
    }

    return SINEW_OK;
}

sinew_status sn_frame_body_remove(sinew_body *body, int32_t node, double fade) {
    const sn_frame_model *model = sn_frame_model_of(body);
    if (!model) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "body \"%s\" has no frames",
                       body->name);
    }

    // Only inserted nodes can leave: the weights of the others are the base.
    int32_t first = model->shape->node_count;
    if (node < first || node >= model->nodes.count) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "frame %d of body \"%s\" cannot be taken out: %d frames were inserted, from "
                       "number %d on",
                       node, body->name, model->insertion_count, first);
    }

    if (!(fade >= 0) || !isfinite(fade)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the fade is %g s; it must be finite and not negative", fade);
    }

    // The list of nodes without this one.
    sn_insertion *gone = model->insertions[node - first];
    sn_arena scratch = sn_arena_create(body->context);
    sinew_frame_node *nodes;
    sinew_status status = list_nodes(model, node, &scratch, &nodes);

    if (status == SINEW_OK) {
        status = change(body, nodes, node, NULL, fade);
    }

    sn_arena_destroy(&scratch);
    if (status == SINEW_OK) {
        sn_insertion_release(gone);
    }

    return status;
}
