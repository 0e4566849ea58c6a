// Rigid bodies.
//
// In: a closed surface, and its density or mass and inertia. Out: a body with a single rigid frame
// at the centre of mass, which carries every vertex with weight 1. Mass, motion, surface and
// curvature are those of frame bodies (frame_body.c, surface.c, follow.c); there is no elasticity.
//
// With X from the centre of mass and S the integral of rho X X', the inertia is tr(S) I - S. S is
// the sum over the tets between a point and the triangles, for one of volume V from the origin with
// corners a, b, c:
//
//   integral of X X' = V / 20 (a a' + b b' + c c' + s s'),   s = a + b + c
#include "frame/body/rigid.h"

#include "frame/body/follow.h"
#include "frame/body/frame_body.h"
#include "frame/body/surface.h"
#include "geom/repair/repair.h"
#include "geom/search/search.h"

#include <math.h>
#include <string.h>

// A mass distribution: mass, centre, and S about the centre.
typedef struct solid {
    double mass;
    sn_vec3 center;
    sn_mat3 S;
} solid;

sinew_rigid_body_def sinew_default_rigid_body_def(void) {
    return (sinew_rigid_body_def){
        .density = 1000, .rotation = {0, 0, 0, 1}, .filled = SN_DEF_FILLED};
}

static sinew_status check_numbers(sinew_context *context, const sinew_rigid_body_def *def) {
    if (!(def->mass >= 0 && isfinite(def->mass))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "mass is %g kg; it must be above 0, or 0 for volume times density",
                       def->mass);
    }
    if (def->mass == 0 && !(def->density > 0 && isfinite(def->density))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "density is %g kg/m^3; it must be above 0 where no mass is given",
                       def->density);
    }
    if (!(def->mass_damping >= 0 && isfinite(def->mass_damping))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "mass_damping is %g 1/s; it must be finite and not negative",
                       def->mass_damping);
    }
    if (def->center && !sn_finite3(sn_load3(def->center))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "center is (%g, %g, %g) m; it must be finite", def->center[0],
                       def->center[1], def->center[2]);
    }

    return SINEW_OK;
}

// The placement of frame bodies, which has the same fields.
static sinew_frame_body_def placement_of(const sinew_rigid_body_def *def) {
    sinew_frame_body_def placement = sinew_default_frame_body_def();
    memcpy(placement.position, def->position, sizeof placement.position);
    memcpy(placement.rotation, def->rotation, sizeof placement.rotation);
    memcpy(placement.velocity, def->velocity, sizeof placement.velocity);
    memcpy(placement.angular_velocity, def->angular_velocity, sizeof placement.angular_velocity);
    return placement;
}

static sinew_status check_surface(sinew_context *context, const sinew_mesh *surface,
                                  double *volume) {
    sinew_surface_report report;
    SN_TRY(sinew_mesh_examine_surface(context, surface, &report));
    if (report.open_edges > 0 || report.crowded_edges > 0) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "the surface of a rigid body must be closed: %d edges have a triangle on "
                       "one side only, %d have more than two",
                       report.open_edges, report.crowded_edges);
    }
    if (report.flipped_triangles > 0) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "%d of %d triangles of the surface of a rigid body face inwards; all must "
                       "face outwards",
                       report.flipped_triangles, surface->element_count);
    }
    if (!(report.volume > 0)) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "the surface of a rigid body encloses %g m^3; it must enclose a volume",
                       report.volume);
    }

    *volume = report.volume;
    return SINEW_OK;
}

// The solid of density 1 inside a closed surface. Sums are taken about the middle of its box, for
// accuracy far from the origin.
static solid integrate(const sinew_mesh *surface) {
    sn_box box = sn_mesh_box(surface);
    sn_vec3 origin = sn_scale(0.5, sn_add(box.lower, box.upper));
    double volume = 0;
    sn_vec3 first = {0, 0, 0};
    sn_mat3 second = {{{0}}};

    for (int32_t e = 0; e < surface->element_count; e++) {
        const int32_t *corner = sn_mesh_nodes(surface, e);

        // The tet of the triangle and the origin: V = a . (b x c) / 6, and its moments.
        sn_vec3 a = sn_sub(sn_mesh_point(surface, corner[0]), origin);
        sn_vec3 b = sn_sub(sn_mesh_point(surface, corner[1]), origin);
        sn_vec3 c = sn_sub(sn_mesh_point(surface, corner[2]), origin);
        sn_vec3 s = sn_add(a, sn_add(b, c));
        double V = sn_dot(a, sn_cross(b, c)) / 6;
        sn_mat3 products = sn_mat3_add(sn_mat3_add(sn_outer(a, a), sn_outer(b, b)),
                                       sn_mat3_add(sn_outer(c, c), sn_outer(s, s)));

        volume += V;
        first = sn_madd(first, V / 4, s);
        second = sn_mat3_add(second, sn_mat3_scale(V / 20, products));
    }

    sn_vec3 center = sn_scale(1 / volume, first);
    return (solid){volume, sn_add(origin, center),
                   sn_mat3_sub(second, sn_mat3_scale(volume, sn_outer(center, center)))};
}

// Whether no direction has a negative second moment: all principal minors are at least 0.
static bool is_possible(sn_mat3 S) {
    double size = sn_mat3_norm(S);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        double minor = S.m[i][i] * S.m[j][j] - S.m[i][j] * S.m[j][i];
        if (S.m[i][i] < -1e-9 * size || minor < -1e-9 * size * size) {
            return false;
        }
    }
    return sn_mat3_det(S) >= -1e-9 * size * size * size;
}

// The mass distribution that the definition asks for.
static sinew_status find_solid(sinew_context *context, const sinew_rigid_body_def *def,
                               solid *out) {
    *out = integrate(def->surface);
    double density = def->mass > 0 ? def->mass / out->mass : def->density;
    out->mass *= density;
    out->S = sn_mat3_scale(density, out->S);
    if (def->center) {
        out->center = sn_load3(def->center);
    }
    if (!def->inertia) {
        return SINEW_OK;
    }

    // S = tr(I) / 2 - I is the second moment of the mass.
    const double *I = def->inertia;
    sn_mat3 given = {{{I[0], I[5], I[4]}, {I[5], I[1], I[3]}, {I[4], I[3], I[2]}}};
    out->S = sn_mat3_sub(sn_mat3_scale(0.5 * sn_mat3_trace(given), sn_mat3_identity()), given);
    double size = sn_mat3_norm(given);
    if (isfinite(size) && sn_mat3_det(given) > 1e-12 * size * size * size && is_possible(out->S)) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "inertia (%g, %g, %g, %g, %g, %g) kg m^2 is that of no solid: principal moments "
                   "are positive, and none exceeds the sum of the other two",
                   I[0], I[1], I[2], I[3], I[4], I[5]);
}

// The node, its mass and the pattern of its two rows.
static sinew_status build_node(sinew_body *body, const solid *from) {
    sn_frame_model *model = body->model;
    sn_arena *arena = &body->arena;
    sinew_frame_node node = {.kind = SINEW_NODE_RIGID};
    sn_store3(node.position, from->center);
    SN_TRY(sn_nodes_create(arena, &node, 1, &model->nodes));
    body->rows = model->nodes.row_count;
    body->config_count = model->nodes.config_count;
    body->rest = SN_PUSH(arena, double, body->config_count);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(sn_blend_create_pose(arena, &model->nodes, false, &model->blend));
    SN_TRY(sn_body_allocate_state(body, arena));

    // The mass matrix of the four controls.
    double G[16] = {from->mass};
    for (int i = 0; i < 9; i++) {
        G[4 * (1 + i / 3) + 1 + i % 3] = from->S.m[i / 3][i % 3];
    }
    SN_TRY(sn_frame_mass_create_rigid(arena, &model->nodes, G, &model->mass));
    if (!model->mass->rigid[0].usable) {
        return sn_fail(body->context, SINEW_INVALID_DATA,
                       "the surface of rigid body \"%s\" is too thin: it has no inertia about an "
                       "axis; give it one",
                       body->name);
    }
    body->moves_freely = sn_frame_moves_freely(&model->nodes, model->mass);

    // The two rows are coupled by the mass alone.
    sn_arena scratch = sn_arena_create(body->context);
    sn_bsr_sets sets;
    sinew_status status = sn_frame_mass_row_sets(&scratch, &model->nodes, model->mass, &sets);
    if (status == SINEW_OK) {
        status = sn_bsr_build(arena, body->rows, &sets, 1, &body->pattern);
    }
    sn_arena_destroy(&scratch);
    return status;
}

// Every vertex follows the one node.
static sinew_status build_surface(sinew_body *body, const sinew_mesh *surface) {
    sn_frame_model *model = body->model;
    SN_TRY(sinew_mesh_copy(body->context, surface, &body->surface));
    model->surface = body->surface;

    int32_t count = surface->point_count;
    model->base_vertices = (sn_vertex_weights){.count = count,
                                               .start = SN_PUSH(&body->arena, int32_t, count + 1),
                                               .node = SN_PUSH(&body->arena, int32_t, count),
                                               .weight = SN_PUSH(&body->arena, double, count)};
    SN_TRY(sn_arena_status(&body->arena));
    for (int32_t i = 0; i < count; i++) {
        model->base_vertices.start[i + 1] = i + 1;
        model->base_vertices.weight[i] = 1;
    }

    return SINEW_OK;
}

void sn_rigid_evaluate(sinew_body *body, sn_evaluation *evaluation) {
    (void)body;
    (void)evaluation;
}

void sn_rigid_measure(sinew_body *body, double *smallest_J, double *largest_J, double *volume) {
    *smallest_J = 1;
    *largest_J = 1;
    *volume = body->rest_volume;
}

sinew_status sn_rigid_set_material(sinew_body *body, int32_t index,
                                   const sinew_material_def *material) {
    (void)index;
    (void)material;
    return sn_fail(body->context, SINEW_UNSUPPORTED, "body \"%s\" is rigid: it has no material",
                   body->name);
}

static sinew_element_state state_of(const sinew_body *body) {
    const sn_frame_model *model = body->model;
    sn_mat3 R = sn_node_matrix(&model->nodes.items[0], body->q);
    sinew_element_state state = {.J = 1};
    memcpy(state.F, R.m, sizeof R.m);
    return state;
}

sinew_status sn_rigid_point_get_state(sinew_body *body, const sn_point *point,
                                      sinew_element_state *state) {
    (void)point;
    *state = state_of(body);
    return SINEW_OK;
}

sinew_status sn_rigid_surface_measure(sinew_body *body, double *velocities,
                                      sinew_element_state *states) {
    const sn_frame_model *model = body->model;
    const sn_node *node = &model->nodes.items[0];
    sn_mat3 R = sn_node_matrix(node, body->q);
    sn_vec3 w = sn_load3(body->v + 3 * node->row);
    sn_vec3 v = sn_load3(body->v + 3 * sn_node_translation_row(node));

    for (int32_t i = 0; i < body->surface->point_count; i++) {
        if (states) {
            states[i] = state_of(body);
        }
        if (velocities) {
            sn_vec3 d = sn_sub(sn_mesh_point(body->surface, i), node->origin);
            sn_store3(sn_at3(velocities, i), sn_add(v, sn_cross(w, sn_mat3_apply(R, d))));
        }
    }

    return SINEW_OK;
}

// The distance of a rest point from the solid.
static double distance_of(const sinew_body *body, sn_vec3 X) {
    const sinew_mesh *surface = body->surface;
    double angle = 0, nearest = INFINITY;
    for (int32_t e = 0; e < surface->element_count; e++) {
        const int32_t *corner = sn_mesh_nodes(surface, e);
        sn_vec3 a = sn_mesh_point(surface, corner[0]);
        sn_vec3 b = sn_mesh_point(surface, corner[1]);
        sn_vec3 c = sn_mesh_point(surface, corner[2]);
        double weights[3];
        angle += sn_solid_angle(sn_sub(a, X), sn_sub(b, X), sn_sub(c, X));
        nearest = fmin(nearest, sn_distance(X, sn_closest_on_triangle(X, a, b, c, weights)));
    }

    double full_turn = 4 * acos(-1);
    return angle > 0.5 * full_turn ? 0 : nearest;
}

sinew_status sn_rigid_point_create(sn_arena *arena, sinew_body *body, sn_vec3 X, bool deformed,
                                   sn_point *point) {
    const sn_frame_model *model = body->model;
    const sn_node *node = &model->nodes.items[0];
    if (deformed) {
        sn_vec3 r = sn_sub(X, sn_load3(sn_node_translation(node, body->q)));
        X = sn_add(node->origin, sn_mat3_apply_transposed(sn_node_matrix(node, body->q), r));
    }

    const sn_shape_point at = {.count = 1, .weight = {1}};
    return sn_frame_point_push(arena, body, X, &at, distance_of(body, X), point);
}

bool sinew_body_is_rigid(const sinew_body *body) {
    SN_NEED_OR(false, body);
    return body->ops == &sn_rigid_body_ops;
}

sinew_status sinew_rigid_body_get_mass(const sinew_body *body, sinew_rigid_mass *mass) {
    SN_NEED(NULL, body);

    if (!sinew_body_is_rigid(body)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "body \"%s\" is not rigid",
                       body->name);
    }

    const sn_frame_model *model = body->model;
    const sn_rigid_mass *own = &model->mass->rigid[0];
    sn_mat3 I = own->I;
    *mass = (sinew_rigid_mass){
        .mass = own->m,
        .inertia = {I.m[0][0], I.m[1][1], I.m[2][2], I.m[1][2], I.m[2][0], I.m[0][1]}};
    sn_store3(mass->center, model->nodes.items[0].origin);
    return SINEW_OK;
}

sinew_status sn_rigid_body_build(sinew_body *body, const sinew_rigid_body_def *def) {
    sinew_frame_body_def placement = placement_of(def);
    solid from;
    if (!def->surface) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "a rigid body needs a surface");
    }
    SN_TRY(check_numbers(body->context, def));
    SN_TRY(sn_frame_body_check_placement(body->context, &placement));
    SN_TRY(check_surface(body->context, def->surface, &body->rest_volume));
    SN_TRY(find_solid(body->context, def, &from));

    body->model = SN_PUSH(&body->arena, sn_frame_model, 1);
    SN_TRY(sn_arena_status(&body->arena));
    body->ops = &sn_rigid_body_ops;
    body->mass_damping = def->mass_damping;
    SN_TRY(build_node(body, &from));
    SN_TRY(build_surface(body, def->surface));
    sn_frame_body_place(body, &placement);
    return def->held ? sinew_frame_body_hold(body, 0, SINEW_HOLD_ALL) : SINEW_OK;
}
