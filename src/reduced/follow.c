// Points and surface of a reduced body: where material points go, and how they follow the rows.
//
//   x = t + r,   r = R (X - c + u),   u = U y   or, warped,   u = B(w) U y with w = W y
//   dx = dt + theta x r + R du
//
// B(w) a = a + s w x a + c w x (w x a), s = (1 - cos z) / z^2, c = (z - sin z) / z^3, z = |w|: the
// mean of exp(s w) a over s in [0, 1] (Choi and Ko 2005). Its derivative by w follows from those of
// s and c. Curvature leaves out that of warping. Cost of a point: 3 size products, warped twice
// that and 30 for each coordinate of its Jacobian.
#include "reduced/model.h"

#include "geom/mesh/mesh.h"
#include "geom/search/search.h"

#include <math.h>
#include <string.h>

// The coefficients of B and their derivatives by z, divided by z.
typedef struct bend {
    double s, c, ds, dc;
} bend;

static bend bend_of(double square) {
    // Series where the differences would cancel; the next terms are below rounding.
    if (square < 0.02) {
        double x = square;
        return (bend){
            .s = 1.0 / 2 - x * (1.0 / 24 - x * (1.0 / 720 - x * (1.0 / 40320 - x / 3628800))),
            .c = 1.0 / 6 - x * (1.0 / 120 - x * (1.0 / 5040 - x * (1.0 / 362880 - x / 39916800))),
            .ds = -1.0 / 12 + x * (1.0 / 180 - x * (1.0 / 6720 - x / 453600)),
            .dc = -1.0 / 60 + x * (1.0 / 1260 - x * (1.0 / 60480 - x / 4989600))};
    }

    double z = sqrt(square);
    double sine = sin(z);
    double cosine = cos(z);
    double s = (1 - cosine) / square;
    double c = (z - sine) / (square * z);
    return (bend){s, c, (sine / z - 2 * s) / square, ((1 - cosine) / square - 3 * c) / square};
}

// The displacement of a place: linear and rotation parts, and the sum.
typedef struct shift {
    sn_vec3 u, w;
    bend b;
    sn_vec3 total;
} shift;

static sn_vec3 combine(const double *fields, const double *y, int32_t size) {
    sn_vec3 sum = {0, 0, 0};
    for (int32_t k = 0; k < size; k++) {
        sum = sn_madd(sum, y[k], sn_load3(fields + 3 * (size_t)k));
    }
    return sum;
}

static shift find_shift(const sn_reduced_place *place, const double *y, int32_t size) {
    shift out = {.u = combine(place->U, y, size)};
    out.total = out.u;
    if (!place->turn) {
        return out;
    }

    out.w = combine(place->turn, y, size);
    out.b = bend_of(sn_dot(out.w, out.w));
    sn_vec3 once = sn_cross(out.w, out.u);
    out.total = sn_madd(sn_madd(out.u, out.b.s, once), out.b.c, sn_cross(out.w, once));
    return out;
}

// The derivative of the displacement along du, dw.
static sn_vec3 find_rate(const shift *at, bool warped, sn_vec3 du, sn_vec3 dw) {
    if (!warped) {
        return du;
    }

    const bend *b = &at->b;
    sn_vec3 once = sn_cross(at->w, at->u);
    sn_vec3 twice = sn_cross(at->w, once);
    sn_vec3 donce = sn_add(sn_cross(dw, at->u), sn_cross(at->w, du));
    sn_vec3 dtwice = sn_add(sn_cross(dw, once), sn_cross(at->w, donce));
    double dz = sn_dot(at->w, dw); // z dz

    sn_vec3 sum = sn_madd(sn_madd(du, b->s, donce), b->c, dtwice);
    return sn_madd(sn_madd(sum, b->ds * dz, once), b->dc * dz, twice);
}

static sn_vec3 field_rate(const sn_reduced_place *place, const shift *at, int32_t k) {
    sn_vec3 dw = place->turn ? sn_load3(place->turn + 3 * (size_t)k) : sn_v3(0, 0, 0);
    return find_rate(at, place->turn != NULL, sn_load3(place->U + 3 * (size_t)k), dw);
}

sn_reduced_place sn_reduced_vertex(const sinew_body *body, int32_t vertex) {
    const sn_reduced_model *model = body->model;
    size_t at = 3 * (size_t)vertex * (size_t)model->size;
    sn_vec3 X = sn_load3(body->surface->points + 3 * (size_t)vertex);
    return (sn_reduced_place){sn_sub(X, model->center), model->vertex_U + at,
                              model->vertex_turn ? model->vertex_turn + at : NULL};
}

static sn_reduced_place node_place(const sn_reduced_model *model, int32_t node) {
    size_t at = 3 * (size_t)node * (size_t)model->size;
    sn_vec3 X = sn_load3(model->full.mesh.points + 3 * (size_t)node);
    return (sn_reduced_place){sn_sub(X, model->center), model->U + at,
                              model->turn ? model->turn + at : NULL};
}

void sn_reduced_prepare(const sinew_body *body, const double *q) {
    sn_reduced_model *model = body->model;
    model->R = sn_quat_to_mat3(sn_reduced_rotation(q));
    model->t = sn_load3(q + SN_REDUCED_TRANSLATION);
    memcpy(model->y, q + SN_REDUCED_COORDINATES, (size_t)model->size * sizeof *model->y);
}

// r of a place at the last preparation.
static sn_vec3 arm_of(const sn_reduced_model *model, const sn_reduced_place *place,
                      const shift *at) {
    return sn_mat3_apply(model->R, sn_add(place->d0, at->total));
}

// Rows and derivatives at the last preparation; either may be NULL.
static int32_t get_jacobian(const sinew_body *body, const sn_reduced_place *place, int32_t *row,
                            sn_mat3 *J) {
    const sn_reduced_model *model = body->model;
    if (row) {
        for (int32_t i = 0; i < body->rows; i++) {
            row[i] = i;
        }
    }
    if (!J) {
        return body->rows;
    }

    shift at = find_shift(place, model->y, model->size);
    J[0] = sn_cross_matrix(sn_scale(-1, arm_of(model, place, &at)));
    J[1] = sn_mat3_identity();
    for (int32_t i = 0; i < model->size / 3; i++) {
        sn_mat3 fields =
            sn_mat3_columns(field_rate(place, &at, 3 * i), field_rate(place, &at, 3 * i + 1),
                            field_rate(place, &at, 3 * i + 2));
        J[SN_REDUCED_FRAME_ROWS + i] = sn_mat3_mul(model->R, fields);
    }
    return body->rows;
}

// rows += J' f at the last preparation.
static void add_force(const sn_reduced_model *model, const sn_reduced_place *place, sn_vec3 f,
                      double *rows) {
    shift at = find_shift(place, model->y, model->size);
    sn_vec3 own = sn_mat3_apply_transposed(model->R, f);
    sn_add_to3(rows, sn_cross(arm_of(model, place, &at), f));
    sn_add_to3(rows + 3, f);
    for (int32_t k = 0; k < model->size; k++) {
        rows[3 * SN_REDUCED_FRAME_ROWS + k] += sn_dot(field_rate(place, &at, k), own);
    }
}

// Position and velocity of a place at the last preparation; `v` and `velocity` may be NULL.
static sn_vec3 find_position(const sn_reduced_model *model, const sn_reduced_place *place,
                             const double *v, double *velocity) {
    shift at = find_shift(place, model->y, model->size);
    sn_vec3 r = arm_of(model, place, &at);
    if (velocity) {
        const double *rates = v + 3 * SN_REDUCED_FRAME_ROWS;
        sn_vec3 du = combine(place->U, rates, model->size);
        sn_vec3 dw = place->turn ? combine(place->turn, rates, model->size) : sn_v3(0, 0, 0);
        sn_vec3 own = find_rate(&at, place->turn != NULL, du, dw);
        sn_vec3 frame = sn_add(sn_load3(v + 3), sn_cross(sn_load3(v), r));
        sn_store3(velocity, sn_add(frame, sn_mat3_apply(model->R, own)));
    }
    return sn_add(model->t, r);
}

void sn_reduced_move_nodes(const sinew_body *body, const double *q, const double *v) {
    sn_reduced_model *model = body->model;
    sn_reduced_prepare(body, q);
    for (int32_t i = 0; i < model->full.mesh.point_count; i++) {
        sn_reduced_place place = node_place(model, i);
        double *velocity = v ? model->full_v + 3 * (size_t)i : NULL;
        sn_store3(model->full.q + 3 * (size_t)i, find_position(model, &place, v, velocity));
    }
}

enum { WEIGHED_NODES = 48 };

double sn_reduced_add_warped_weight(const sinew_body *body, const double *q, sn_vec3 g,
                                    double *force) {
    sn_reduced_model *model = body->model;
    int32_t nodes = model->full.mesh.point_count;
    int32_t stride = nodes > WEIGHED_NODES ? nodes / WEIGHED_NODES : 1;
    double chosen = 0, energy = 0;
    for (int32_t i = 0; i < nodes; i += stride) {
        chosen += model->full.row_mass[i];
    }

    sn_reduced_prepare(body, q);
    for (int32_t i = 0; i < nodes; i += stride) {
        sn_reduced_place place = node_place(model, i);
        double mass = model->full.row_mass[i] * model->inertia.mass / chosen;
        sn_vec3 own = sn_scale(mass, sn_mat3_apply_transposed(model->R, g));
        shift at = find_shift(&place, model->y, model->size);
        sn_vec3 excess = sn_sub(at.total, at.u);
        energy -= sn_dot(own, excess);
        if (!force) {
            continue;
        }

        sn_add_to3(force, sn_mat3_apply(model->R, sn_cross(excess, own)));
        for (int32_t k = 0; k < model->size; k++) {
            sn_vec3 u = sn_load3(place.U + 3 * (size_t)k);
            force[3 * SN_REDUCED_FRAME_ROWS + k] +=
                sn_dot(sn_sub(field_rate(&place, &at, k), u), own);
        }
    }
    return energy;
}

// A point keeps its fields, and itself as a point of the body of elements.
typedef struct followed {
    sn_reduced_place place;
    sn_point inner;
} followed;

static sinew_status push_fields(sn_arena *arena, const sn_reduced_model *model,
                                const sn_point *inner, const double *nodal, const double **out) {
    size_t width = 3 * (size_t)model->size;
    double *fields = SN_PUSH(arena, double, width);
    SN_TRY(sn_arena_status(arena));
    for (int32_t k = 0; k < inner->count; k++) {
        const double *from = nodal + (size_t)inner->row[k] * width;
        for (size_t i = 0; i < width; i++) {
            fields[i] += inner->weight[k] * from[i];
        }
    }
    *out = fields;
    return SINEW_OK;
}

sinew_status sn_reduced_point_create(sn_arena *arena, sinew_body *body, sn_vec3 X, bool deformed,
                                     sn_point *point) {
    sn_reduced_model *model = body->model;
    followed *own = SN_PUSH(arena, followed, 1);
    SN_TRY(sn_arena_status(arena));
    sn_reduced_move_nodes(body, body->q, NULL);
    SN_TRY(model->full.ops->points.create(arena, &model->full, X, deformed, &own->inner));

    own->place.d0 = sn_sub(own->inner.X, model->center);
    SN_TRY(push_fields(arena, model, &own->inner, model->U, &own->place.U));
    if (model->turn) {
        SN_TRY(push_fields(arena, model, &own->inner, model->turn, &own->place.turn));
    }

    *point = (sn_point){.X = own->inner.X,
                        .distance = own->inner.distance,
                        .element = -1,
                        .count = body->rows,
                        .row = SN_PUSH(arena, int32_t, body->rows),
                        .J = SN_PUSH(arena, sn_mat3, body->rows),
                        .model = own};
    SN_TRY(sn_arena_status(arena));
    get_jacobian(body, &own->place, point->row, NULL);
    sn_reduced_point_move(body, body->q, point);
    return SINEW_OK;
}

void sn_reduced_point_move(const sinew_body *body, const double *q, sn_point *point) {
    (void)q; // of the last preparation
    const followed *own = point->model;
    point->x = find_position(body->model, &own->place, NULL, NULL);
    get_jacobian(body, &own->place, NULL, point->J);
}

void sn_reduced_point_add_force(const sinew_body *body, const sn_point *point, sn_vec3 f,
                                double *rows) {
    const followed *own = point->model;
    add_force(body->model, &own->place, f, rows);
}

// The second derivative of exp(theta) (r + R du) at 0: theta x (theta x r) / 2 and theta x R du.
void sn_reduced_point_add_curvature(const sinew_body *body, const sn_point *point, sn_vec3 f,
                                    sn_mat3 *blocks) {
    const sn_reduced_model *model = body->model;
    const followed *own = point->model;
    shift at = find_shift(&own->place, model->y, model->size);
    sn_vec3 r = arm_of(model, &own->place, &at);
    sn_mat3 both = sn_mat3_add(sn_outer(f, r), sn_outer(r, f));
    blocks[0] = sn_mat3_add(blocks[0], sn_mat3_scale(0.5, both));
    blocks[0] = sn_mat3_sub(blocks[0], sn_mat3_scale(sn_dot(f, r), sn_mat3_identity()));

    for (int32_t i = SN_REDUCED_FRAME_ROWS; i < body->rows; i++) {
        sn_vec3 turns[3];
        for (int32_t k = 0; k < 3; k++) {
            int32_t field = 3 * (i - SN_REDUCED_FRAME_ROWS) + k;
            sn_vec3 u = sn_mat3_apply(model->R, field_rate(&own->place, &at, field));
            turns[k] = sn_cross(u, f);
        }

        sn_mat3 block = sn_mat3_columns(turns[0], turns[1], turns[2]);
        sn_mat3 *above = &blocks[i];
        sn_mat3 *below = &blocks[(size_t)i * (size_t)body->rows];
        *above = sn_mat3_add(*above, block);
        *below = sn_mat3_add(*below, sn_mat3_transpose(block));
    }
}

sinew_status sn_reduced_point_get_state(sinew_body *body, const sn_point *point,
                                        sinew_element_state *state) {
    sn_reduced_model *model = body->model;
    const followed *own = point->model;
    sn_reduced_move_nodes(body, body->q, NULL);
    return model->full.ops->points.get_state(&model->full, &own->inner, state);
}

void sn_reduced_surface_compute(const sinew_body *body, const double *q, double *positions) {
    sn_reduced_prepare(body, q);
    for (int32_t i = 0; i < body->surface->point_count; i++) {
        sn_reduced_place place = sn_reduced_vertex(body, i);
        sn_store3(positions + 3 * (size_t)i, find_position(body->model, &place, NULL, NULL));
    }
}

int32_t sn_reduced_surface_get_jacobian(const sinew_body *body, int32_t vertex, int32_t *row,
                                        sn_mat3 *J) {
    sn_reduced_place place = sn_reduced_vertex(body, vertex);
    return get_jacobian(body, &place, row, J);
}

void sn_reduced_surface_add_forces(const sinew_body *body, const double *forces, double *rows) {
    sn_reduced_prepare(body, body->q);
    for (int32_t i = 0; i < body->surface->point_count; i++) {
        sn_vec3 f = sn_load3(forces + 3 * (size_t)i);
        if (f.x == 0 && f.y == 0 && f.z == 0) {
            continue;
        }
        sn_reduced_place place = sn_reduced_vertex(body, i);
        add_force(body->model, &place, f, rows);
    }
}

sinew_status sn_reduced_surface_measure(sinew_body *body, double *velocities,
                                        sinew_element_state *states) {
    sn_reduced_model *model = body->model;
    if (velocities) {
        sn_reduced_prepare(body, body->q);
        for (int32_t i = 0; i < body->surface->point_count; i++) {
            sn_reduced_place place = sn_reduced_vertex(body, i);
            find_position(model, &place, body->v, velocities + 3 * (size_t)i);
        }
    }
    if (!states) {
        return SINEW_OK;
    }

    sn_reduced_move_nodes(body, body->q, NULL);
    return model->full.ops->surface.measure(&model->full, NULL, states);
}
