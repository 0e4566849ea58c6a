// Points of bodies of elements: x = sum_k N_k x_k with the nodes of one element, so J_k = N_k I.
#include "body/element_point.h"

#include "geom/search/search.h"

static sinew_status push_lists(sn_arena *arena, int32_t count, sn_point *point) {
    point->count = count;
    point->row = SN_PUSH(arena, int32_t, count);
    point->weight = SN_PUSH(arena, double, count);
    point->J = SN_PUSH(arena, sn_mat3, count);
    return sn_arena_status(arena);
}

static void fill_jacobian(sn_point *point) {
    for (int32_t k = 0; k < point->count; k++) {
        point->J[k] = sn_mat3_scale(point->weight[k], sn_mat3_identity());
    }
}

// The search tree of the rest mesh, built on first use and kept by the body.
static sinew_status get_rest_tree(sinew_body *body, const sn_element_tree **tree) {
    if (body->rest_tree) {
        *tree = body->rest_tree;
        return SINEW_OK;
    }

    sn_arena_mark before = sn_arena_get_mark(&body->arena);
    sn_element_tree *made = SN_PUSH(&body->arena, sn_element_tree, 1);
    sinew_status status = sn_arena_status(&body->arena);
    if (status == SINEW_OK) {
        status = sn_element_tree_build(&body->arena, &body->mesh, made);
    }
    if (status != SINEW_OK) {
        sn_arena_rewind(&body->arena, before);
        return status;
    }

    *tree = body->rest_tree = made;
    return SINEW_OK;
}

static sinew_status locate(sinew_body *body, sn_vec3 X, bool deformed, sn_location *location) {
    if (!deformed) {
        const sn_element_tree *tree;
        SN_TRY(get_rest_tree(body, &tree));
        *location = sn_element_tree_locate(tree, X);
        return SINEW_OK;
    }

    // The mesh deforms from call to call, so this tree is temporary.
    sn_arena scratch = sn_arena_create(body->context);
    sn_element_tree tree;
    sinew_mesh mesh = body->mesh;
    mesh.points = body->q;

    sinew_status status = sn_element_tree_build(&scratch, &mesh, &tree);
    if (status == SINEW_OK) {
        *location = sn_element_tree_locate(&tree, X);
    }

    sn_arena_destroy(&scratch);
    return status;
}

sinew_status sn_element_point_create(sn_arena *arena, sinew_body *body, sn_vec3 X, bool deformed,
                                     sn_point *point) {
    sn_location location = {.element = -1};
    SN_TRY(locate(body, X, deformed, &location));
    SN_ASSERT(location.element >= 0); // a body has elements

    *point = (sn_point){.X = X, .distance = location.distance, .element = location.element};
    SN_TRY(push_lists(arena, sinew_element_node_count(body->mesh.element), point));

    const int32_t *nodes = sn_mesh_nodes(&body->mesh, location.element);
    sn_vec3 rest = {0, 0, 0};
    for (int32_t k = 0; k < point->count; k++) {
        point->row[k] = nodes[k];
        point->weight[k] = location.weights[k];
        rest = sn_madd(rest, location.weights[k], sn_mesh_point(&body->mesh, nodes[k]));
    }

    if (deformed) {
        point->X = rest;
    }

    fill_jacobian(point);
    sn_element_point_move(body, body->q, point);
    return SINEW_OK;
}

sinew_status sn_node_point_create(sn_arena *arena, const sinew_body *body, int32_t node,
                                  sn_point *point) {
    *point = (sn_point){.X = sn_mesh_point(&body->mesh, node), .element = -1};
    SN_TRY(push_lists(arena, 1, point));
    point->row[0] = node;
    point->weight[0] = 1;

    fill_jacobian(point);
    sn_element_point_move(body, body->q, point);
    return SINEW_OK;
}

void sn_element_point_move(const sinew_body *body, const double *q, sn_point *point) {
    (void)body;
    point->x = sn_v3(0, 0, 0);
    for (int32_t k = 0; k < point->count; k++) {
        point->x = sn_madd(point->x, point->weight[k], sn_load3(q + 3 * (size_t)point->row[k]));
    }
}

void sn_element_point_add_force(const sinew_body *body, const sn_point *point, sn_vec3 f,
                                double *rows) {
    (void)body;
    for (int32_t k = 0; k < point->count; k++) {
        sn_add_to3(rows + 3 * (size_t)point->row[k], sn_scale(point->weight[k], f));
    }
}

sn_mat3 sn_element_point_F(const sinew_body *body, const sn_point *point) {
    sn_vec3 gradient[SN_MAX_ELEMENT_NODES];
    sn_mat3 F = {{{0}}};

    sn_element_gradients_at(&body->mesh, point->element, point->X, gradient);
    for (int32_t k = 0; k < point->count; k++) {
        sn_vec3 x = sn_load3(body->q + 3 * (size_t)point->row[k]);
        F = sn_mat3_add(F, sn_outer(x, gradient[k]));
    }

    return F;
}
