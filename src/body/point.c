// Points created by the user: creation, queries and forces; see point.h.
#include "body/point.h"

#include "body/sample_groups.h"

static sinew_status check_position(const sinew_body *body, const double position[3]) {
    if (sn_finite3(sn_load3(position))) {
        return SINEW_OK;
    }
    return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                   "the point (%g, %g, %g) of body \"%s\" is not finite", position[0], position[1],
                   position[2], body->name);
}

static sinew_status create(sinew_body *body, const double position[3], bool deformed,
                           sinew_point **out) {
    SN_TRY(check_position(body, position));
    sinew_point *point = sn_allocate(body->context, 1, sizeof *point);
    if (!point) {
        return SINEW_OUT_OF_MEMORY;
    }

    *point = (sinew_point){
        .body = body, .revision = body->revision, .arena = sn_arena_create(body->context)};
    sinew_status status =
        body->ops->points.create(&point->arena, body, sn_load3(position), deformed, &point->point);
    if (status != SINEW_OK) {
        sn_arena_destroy(&point->arena);
        sn_release(body->context, point, 1, sizeof *point);
        return status;
    }

    point->rest = point->point.X;
    point->next = body->points;
    body->points = point;
    *out = point;

    return SINEW_OK;
}

sinew_status sinew_point_create(sinew_body *body, const double rest[3], sinew_point **point) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, rest && point);
    return create(body, rest, false, point);
}

sinew_status sinew_point_create_at(sinew_body *body, const double position[3],
                                   sinew_point **point) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, position && point);
    return create(body, position, true, point);
}

static void release(sinew_point *point) {
    sn_arena_destroy(&point->arena);
    sn_release(point->body->context, point, 1, sizeof *point);
}

void sinew_point_destroy(sinew_point *point) {
    if (!point) {
        return;
    }

    sinew_point **link = &point->body->points;
    while (*link != point) {
        link = &(*link)->next;
    }

    *link = point->next;
    release(point);
}

void sn_points_release(sinew_body *body) {
    while (body->points) {
        sinew_point *point = body->points;
        body->points = point->next;
        release(point);
    }
}

// Builds the lists again if frames were added or removed since.
static sinew_status refresh(sinew_point *point) {
    sinew_body *body = point->body;
    if (point->revision == body->revision) {
        return SINEW_OK;
    }

    sn_arena arena = sn_arena_create(body->context);
    sn_point made;
    sinew_status status = body->ops->points.create(&arena, body, point->rest, false, &made);
    if (status != SINEW_OK) {
        sn_arena_destroy(&arena);
        return status;
    }

    sn_arena_destroy(&point->arena);
    point->arena = arena;
    point->point = made;
    point->revision = body->revision;

    return SINEW_OK;
}

sinew_status sn_points_refresh(sinew_body *body) {
    for (sinew_point *point = body->points; point; point = point->next) {
        SN_TRY(refresh(point));
    }
    return SINEW_OK;
}

sinew_body *sinew_point_get_body(const sinew_point *point) {
    SN_NEED_OR(NULL, point);
    return point->body;
}

void sinew_point_get_rest(const sinew_point *point, double rest[3]) {
    SN_NEED_OR(, point && rest);
    sn_store3(rest, point->rest);
}

double sinew_point_get_distance(const sinew_point *point) {
    SN_NEED_OR(0, point);
    return point->point.distance;
}

int32_t sinew_point_get_element(const sinew_point *point) {
    SN_NEED_OR(-1, point);
    return point->point.element;
}

sinew_status sinew_point_get_position(sinew_point *point, double position[3]) {
    SN_NEED(NULL, point && position);
    SN_TRY(refresh(point));
    sn_body_move_point(point->body, &point->point);
    sn_store3(position, point->point.x);
    return SINEW_OK;
}

sinew_status sinew_point_get_velocity(sinew_point *point, double velocity[3]) {
    SN_NEED(NULL, point && velocity);
    SN_TRY(refresh(point));
    sn_body_move_point(point->body, &point->point);
    sn_store3(velocity, sn_body_point_velocity(point->body, &point->point));
    return SINEW_OK;
}

sinew_status sinew_point_get_state(sinew_point *point, sinew_element_state *state) {
    SN_NEED(NULL, point && state);
    SN_TRY(refresh(point));
    return point->body->ops->points.get_state(point->body, &point->point, state);
}

sinew_status sinew_point_set_force(sinew_point *point, const double force[3]) {
    SN_NEED(NULL, point && force);
    sn_vec3 f = sn_load3(force);
    if (!sn_finite3(f)) {
        return sn_fail(point->body->context, SINEW_INVALID_ARGUMENT,
                       "the force (%g, %g, %g) on a point of body \"%s\" is not finite", f.x, f.y,
                       f.z, point->body->name);
    }

    point->force = f;
    return SINEW_OK;
}

static bool is_loaded(const sinew_point *point) {
    bool current = point->revision == point->body->revision;
    return current && (point->force.x != 0 || point->force.y != 0 || point->force.z != 0);
}

bool sn_points_follow(const sinew_body *body) {
    for (const sinew_point *point = body->points; point; point = point->next) {
        if (is_loaded(point) && !point->point.weight) {
            return true;
        }
    }
    return false;
}

void sn_points_add_forces(sinew_body *body, double *rows) {
    if (!body->points) {
        return;
    }
    if (body->ops->points.prepare) {
        body->ops->points.prepare(body, body->q);
    }

    for (sinew_point *point = body->points; point; point = point->next) {
        if (!is_loaded(point)) {
            continue;
        }
        body->ops->points.move(body, body->q, &point->point);
        body->ops->points.add_force(body, &point->point, point->force, rows);
    }
}

void sn_material_get_state(const sinew_material_def *def, const sn_mat3 *axes, double stiffness,
                           sn_mat3 F, sn_isa isa, sinew_element_state *state) {
    sn_material material = sn_material_prepare(def, SN_PLANE_NONE, isa);
    double parameters[SN_MATERIAL_MAX_PARAMETERS];

    sn_material_parameters(parameters, &material, def, axes);
    sn_mat3 P = sn_mat3_scale(stiffness, sn_material_stress(&material, parameters, F));
    sn_block_state block = {.psi = {stiffness * sn_material_energy(&material, parameters, F)}};

    for (int k = 0; k < 9; k++) {
        block.F[k * SN_BLOCK] = F.m[k / 3][k % 3];
        block.P[k * SN_BLOCK] = P.m[k / 3][k % 3];
    }

    sn_state_sum sum = {.volume = 0};
    sn_state_sum_add(&sum, &block, 0, 1);
    sn_state_sum_finish(&sum, state);
}
