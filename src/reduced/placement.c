// Turning a body of elements into a reduced body: rows, state and surface are replaced; the body of
// elements goes on as the part of the model that knows samples and nodes.
#include "reduced/placement.h"

#include "base/hash.h"
#include "body/elastic.h"
#include "geom/search/search.h"
#include "math/svd.h"
#include "reduced/model.h"

#include <string.h>

// A body whose nodes are further than this from its rest shape is deformed, relative to its size.
static const double undeformed = 1e-9;

static void find_centers(const sinew_body *body, sn_vec3 *rest, sn_vec3 *now) {
    double mass = 0;
    *rest = *now = sn_v3(0, 0, 0);
    for (int32_t i = 0; i < body->rows; i++) {
        double m = body->row_mass[i];
        mass += m;
        *rest = sn_madd(*rest, m, sn_load3(body->rest + 3 * (size_t)i));
        *now = sn_madd(*now, m, sn_load3(body->q + 3 * (size_t)i));
    }
    *rest = sn_scale(1 / mass, *rest);
    *now = sn_scale(1 / mass, *now);
}

// Rotations are not for laws that take them for strains, nor for supports along some axes only.
static sinew_status check_rotation(const sinew_body *body, sn_mat3 R) {
    if (sn_mat3_norm(sn_mat3_sub(R, sn_mat3_identity())) < undeformed) {
        return SINEW_OK;
    }

    const sn_sample_groups *groups = sn_elastic_groups(body);
    for (int32_t g = 0; g < groups->count; g++) {
        if (sn_material_strains_by_rotation(&groups->items[g].def)) {
            return sn_fail(body->context, SINEW_UNSUPPORTED,
                           "body \"%s\" is placed with a rotation, which its infinitesimal strain "
                           "takes for a strain; rotate its mesh instead",
                           body->name);
        }
    }
    for (int32_t i = 0; i < body->rows; i++) {
        const uint8_t *mask = body->mask + 3 * (size_t)i;
        bool all = mask[0] && mask[1] && mask[2];
        bool any = mask[0] || mask[1] || mask[2];
        if (any && !all) {
            return sn_fail(body->context, SINEW_UNSUPPORTED,
                           "node %d of body \"%s\" is fixed along some axes only, and the body is "
                           "placed with a rotation; rotate its mesh instead",
                           i, body->name);
        }
    }
    return SINEW_OK;
}

sinew_status sn_reduced_find_placement(const sinew_body *body, sn_reduced_placement *placement) {
    sn_vec3 rest, now;
    find_centers(body, &rest, &now);
    sn_mat3 A = {{{0}}};
    for (int32_t i = 0; i < body->rows; i++) {
        sn_vec3 X = sn_sub(sn_load3(body->rest + 3 * (size_t)i), rest);
        sn_vec3 x = sn_sub(sn_load3(body->q + 3 * (size_t)i), now);
        A = sn_mat3_add(A, sn_mat3_scale(body->row_mass[i], sn_outer(x, X)));
    }
    *placement = (sn_reduced_placement){sn_polar3(NULL, A), now, rest};

    // An unrotated body has exactly no rotation.
    double size = sn_box_diagonal(sn_box_of_points(body->rest, body->rows));
    if (sn_mat3_norm(sn_mat3_sub(placement->R, sn_mat3_identity())) < 1e-12) {
        placement->R = sn_mat3_identity();
    }
    for (int32_t i = 0; i < body->rows; i++) {
        sn_vec3 X = sn_sub(sn_load3(body->rest + 3 * (size_t)i), rest);
        sn_vec3 x = sn_add(now, sn_mat3_apply(placement->R, X));
        double error = sn_distance(x, sn_load3(body->q + 3 * (size_t)i));
        if (!(error <= undeformed * size)) {
            return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                           "body \"%s\" is deformed: node %d is %g m from the rest shape; a body "
                           "must have its rest shape to be reduced",
                           body->name, i, error);
        }
    }
    return check_rotation(body, placement->R);
}

// Fields at the vertices of the surface from those at the nodes.
static void fill_vertices(const sinew_body *body, int32_t size, const double *nodal, double *out) {
    size_t width = 3 * (size_t)size;
    for (int32_t i = 0; i < body->surface->point_count; i++) {
        const int32_t *nodes = body->surface_nodes ? &body->surface_nodes[i] : NULL;
        const double one = 1;
        const double *weights = &one;
        int32_t count = 1;
        if (body->embedding) {
            count = sn_embedding_get_entries(body->embedding, i, &nodes, &weights);
        }

        double *to = out + (size_t)i * width;
        for (int32_t k = 0; k < count; k++) {
            const double *from = nodal + (size_t)nodes[k] * width;
            for (size_t j = 0; j < width; j++) {
                to[j] += weights[k] * from[j];
            }
        }
    }
}

// Everything of the model that lives in the body's arena.
static sinew_status build_model(sinew_body *body, const sinew_reduction *reduction, sn_vec3 center,
                                sn_reduced_model *model) {
    sn_arena *arena = &body->arena;
    size_t size = (size_t)reduction->size;
    size_t fields = 3 * (size_t)reduction->nodes * size;
    size_t vertex_fields = 3 * (size_t)body->surface->point_count * size;
    bool warped = reduction->turn != NULL;

    model->kind = reduction->kind;
    model->size = reduction->size;
    model->center = center;
    model->omega_squared = SN_PUSH(arena, double, size);
    model->U = SN_PUSH(arena, double, fields);
    model->turn = warped ? SN_PUSH(arena, double, fields) : NULL;
    model->vertex_U = SN_PUSH(arena, double, vertex_fields);
    model->vertex_turn = warped ? SN_PUSH(arena, double, vertex_fields) : NULL;
    model->points = SN_PUSH(arena, sn_reduced_point, reduction->report.points);
    model->tangent = SN_PUSH(arena, double, size *size);
    model->full_v = SN_PUSH(arena, double, sn_body_size(body));
    model->full.q = SN_PUSH(arena, double, sn_body_size(body));
    model->y = SN_PUSH(arena, double, size);
    SN_TRY(sn_arena_status(arena));

    memcpy(model->omega_squared, reduction->omega_squared, size * sizeof(double));
    memcpy(model->U, reduction->U, fields * sizeof(double));
    fill_vertices(body, model->size, model->U, model->vertex_U);
    if (warped) {
        memcpy(model->turn, reduction->turn, fields * sizeof(double));
        fill_vertices(body, model->size, model->turn, model->vertex_turn);
    }
    memcpy(model->points, reduction->points,
           (size_t)reduction->report.points * sizeof *model->points);
    SN_TRY(sn_cubature_create(arena, sn_elastic_groups(body), model->points,
                              reduction->report.points, model->size, body->rest, model->U,
                              &model->cubature));
    return sn_reduced_inertia_create(arena, model);
}

// All rows are coupled.
static sinew_status build_pattern(sinew_body *body, int32_t rows, sn_bsr *pattern) {
    sn_arena scratch = sn_arena_create(body->context);
    int32_t *members = SN_PUSH(&scratch, int32_t, rows);
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < rows; i++) {
            members[i] = i;
        }
        sn_bsr_sets sets = {.count = 1, .width = rows, .members = members};
        status = sn_bsr_build(&body->arena, rows, &sets, 1, pattern);
    }
    sn_arena_destroy(&scratch);
    return status;
}

// Momentum, angular momentum and modal rates of the nodes' velocities become those of the rows. The
// fields of a free body have no momentum of their own.
static void take_velocities(sinew_body *body, sn_reduced_model *model,
                            const sn_reduced_placement *placement, bool is_free) {
    sinew_body *full = &model->full;
    sn_vec3 P = {0, 0, 0}, L = {0, 0, 0};
    sn_body_multiply_mass(full, model->full_v, full->v, full->rest);
    double *rates = body->v + 3 * SN_REDUCED_FRAME_ROWS;

    for (int32_t i = 0; i < full->rows; i++) {
        sn_vec3 p = sn_mat3_apply_transposed(placement->R, sn_load3(model->full_v + 3 * (size_t)i));
        sn_vec3 d = sn_sub(sn_load3(full->rest + 3 * (size_t)i), placement->center);
        P = sn_add(P, p);
        L = sn_add(L, sn_cross(d, p));
        const double *u = model->U + 3 * (size_t)i * (size_t)model->size;
        for (int32_t k = 0; k < model->size; k++) {
            rates[k] += sn_dot(sn_load3(u + 3 * (size_t)k), p);
        }
    }
    if (!is_free) {
        return;
    }

    sn_reduced_inertia_update(&model->inertia, body->q + SN_REDUCED_COORDINATES);
    sn_vec3 w = sn_mat3_apply(sn_mat3_inverse(model->inertia.J), L);
    sn_store3(body->v, sn_mat3_apply(placement->R, w));
    sn_store3(body->v + 3, sn_mat3_apply(placement->R, sn_scale(1 / model->inertia.mass, P)));
}

static void place(sinew_body *body, sn_reduced_model *model, const sn_reduced_placement *placement,
                  bool is_free) {
    sn_quat rotation = sn_quat_from_mat3(placement->R);
    body->q[0] = rotation.x;
    body->q[1] = rotation.y;
    body->q[2] = rotation.z;
    body->q[3] = rotation.w;
    sn_store3(body->q + SN_REDUCED_TRANSLATION, placement->t);
    body->rest[3] = 1;
    sn_store3(body->rest + SN_REDUCED_TRANSLATION, placement->center);

    size_t bytes = (size_t)body->config_count * sizeof(double);
    memcpy(body->previous_q, body->q, bytes);
    memcpy(body->target, body->q, bytes);
    memcpy(body->balance_q, body->q, bytes);
    take_velocities(body, model, placement, is_free);
    if (!is_free) {
        memset(body->mask, 1, 3 * SN_REDUCED_FRAME_ROWS);
    }
}

static sinew_status convert(sinew_body *body, const sinew_reduction *reduction,
                            const sn_reduced_placement *placement) {
    sn_reduced_model *model = SN_PUSH(&body->arena, sn_reduced_model, 1);
    SN_TRY(sn_arena_status(&body->arena));
    model->full = *body;
    SN_TRY(build_model(body, reduction, placement->center, model));
    SN_TRY(build_pattern(body, SN_REDUCED_FRAME_ROWS + model->size / 3, &body->pattern));

    body->rows = body->pattern.rows;
    body->config_count = SN_REDUCED_COORDINATES + model->size;
    body->rest = SN_PUSH(&body->arena, double, body->config_count);
    SN_TRY(sn_arena_status(&body->arena));
    SN_TRY(sn_body_allocate_state(body, &body->arena));

    // Nothing can fail from here on. The body of elements keeps what it allocates to itself.
    model->full.arena = sn_arena_create(body->context);
    model->full.points = NULL;
    body->model = model;
    body->ops = &sn_reduced_body_ops;
    body->mesh = (sinew_mesh){0};
    body->surface_nodes = NULL;
    body->rest_tree = NULL;
    body->lumped_mass = body->consistent_mass = body->row_mass = NULL;
    body->moves_freely = reduction->report.free;
    body->weight_follows = model->turn != NULL;
    body->revision++;
    body->structure = sn_hash_bytes(reduction->source, &model->kind, sizeof model->kind);
    place(body, model, placement, reduction->report.free);
    return SINEW_OK;
}

sinew_status sn_reduced_apply(sinew_body *body, const sinew_reduction *reduction) {
    if (!sn_elastic_groups(body) || sn_reduction_hash_source(body) != reduction->source) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the reduction does not belong to body \"%s\": mesh, materials and "
                       "supports must be those that it was computed from",
                       body->name);
    }
    sn_reduced_placement placement;
    SN_TRY(sn_reduced_find_placement(body, &placement));

    sinew_body before = *body;
    sn_arena_mark mark = sn_arena_get_mark(&body->arena);
    sinew_status status = convert(body, reduction, &placement);
    if (status != SINEW_OK) {
        sn_arena arena = body->arena;
        *body = before;
        body->arena = arena;
        sn_arena_rewind(&body->arena, mark);
    }
    return status;
}

bool sinew_body_is_reduced(const sinew_body *body) {
    SN_NEED_OR(false, body);
    return body->ops == &sn_reduced_body_ops;
}

int32_t sinew_reduced_body_get_size(const sinew_body *body) {
    SN_NEED_OR(0, body);
    return sinew_body_is_reduced(body) ? ((const sn_reduced_model *)body->model)->size : 0;
}

static sinew_status check_reduced(const sinew_body *body) {
    if (sinew_body_is_reduced(body)) {
        return SINEW_OK;
    }
    return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                   "body \"%s\" has no modal coordinates: it is not reduced", body->name);
}

sinew_status sinew_reduced_body_get_coordinates(const sinew_body *body, double *coordinates) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, coordinates);
    SN_TRY(check_reduced(body));
    memcpy(coordinates, body->q + SN_REDUCED_COORDINATES,
           (size_t)sinew_reduced_body_get_size(body) * sizeof *coordinates);
    return SINEW_OK;
}

sinew_status sinew_reduced_body_set_coordinates(sinew_body *body, const double *coordinates) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, coordinates);
    SN_TRY(check_reduced(body));
    int32_t size = sinew_reduced_body_get_size(body);
    for (int32_t k = 0; k < size; k++) {
        if (!isfinite(coordinates[k])) {
            return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                           "coordinate %d of body \"%s\" is %g; it must be finite", k, body->name,
                           coordinates[k]);
        }
    }

    size_t bytes = (size_t)size * sizeof *coordinates;
    memcpy(body->q + SN_REDUCED_COORDINATES, coordinates, bytes);
    memcpy(body->target + SN_REDUCED_COORDINATES, coordinates, bytes);
    memcpy(body->balance_q + SN_REDUCED_COORDINATES, coordinates, bytes);
    memset(body->v + 3 * SN_REDUCED_FRAME_ROWS, 0, bytes);
    *body->history = 0;
    return SINEW_OK;
}
