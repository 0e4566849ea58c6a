// Elastic constants after rigging: a bar with automatic frames is pulled, bent and twisted at its
// end, and what it does in its middle half gives Young's modulus, the bending and the torsion
// stiffness (W4). The middle half is at least as far from both ends as the bar is wide, so that how
// the ends are held and loaded does not matter there.
#include "validate/validate.h"

#include "base/context.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double length = 1, width = 0.2, young = 1e5;
static const double strength = 1e-4; // of the loads, as strains: linear

// Torsion of a square section: J = 0.140577 width^4 (Timoshenko and Goodier, article 109).
static const double square_torsion = 0.140577;

typedef enum bar_load { PULL, BEND, TWIST, LOADS } bar_load;

typedef struct rigged_bar {
    sinew_context *context;
    sn_arena arena;
    double poisson;
    sinew_mesh *surface;
    sinew_world *world;
    sinew_body *body;
    int32_t frames;
    double *area; // of the vertices of the end x = length
    double *force;
    int32_t *held;
    int32_t held_count;
} rigged_bar;

static void find_ends(rigged_bar *b) {
    const sinew_mesh *s = b->surface;
    for (int32_t i = 0; i < s->point_count; i++) {
        if (s->points[3 * i] < 1e-9) {
            b->held[b->held_count++] = i;
        }
    }

    // The share of each vertex in the triangles of the loaded end.
    for (int32_t t = 0; t < s->element_count; t++) {
        const int32_t *corner = s->indices + 3 * t;
        const double *p[3];
        bool end = true;
        for (int k = 0; k < 3; k++) {
            p[k] = s->points + 3 * corner[k];
            end = end && p[k][0] > length - 1e-9;
        }
        double area = 0.5 * fabs((p[1][1] - p[0][1]) * (p[2][2] - p[0][2]) -
                                 (p[2][1] - p[0][1]) * (p[1][2] - p[0][2]));
        for (int k = 0; k < (end ? 3 : 0); k++) {
            b->area[corner[k]] += area / 3;
        }
    }
}

static sinew_status make_body(rigged_bar *b) {
    sinew_autorig_tissue tissue = sinew_default_autorig_tissue();
    tissue.material.young = young;
    tissue.material.poisson = b->poisson;

    // Everything else is automatic.
    sinew_labelled_surface solid = {b->surface, 1, 0};
    sinew_autorig_def def = sinew_default_autorig_def();
    def.surfaces = &solid;
    def.surface_count = 1;
    def.tissues = &tissue;
    def.tissue_count = 1;
    def.surface = b->surface;
    SN_TRY(sinew_autorig_create(b->world, &def, NULL, &b->body));
    b->frames = sinew_frame_body_get_node_count(b->body);

    sinew_frame_support_def support = sinew_default_frame_support_def();
    support.vertices = b->held;
    support.vertex_count = b->held_count;
    return sinew_frame_body_add_support(b->body, &support, NULL);
}

static sinew_status open_bar(rigged_bar *b) {
    sinew_shape_def shape = sinew_default_shape_def();
    sinew_world_def world = sinew_default_world_def();
    b->arena = sn_arena_create(b->context);
    shape.element = SINEW_ELEMENT_TRIANGLE;
    for (int a = 0; a < 3; a++) {
        shape.size[a] = a == 0 ? length : width;
        shape.center[a] = a == 0 ? 0.5 * length : 0;
        shape.cells[a] = a == 0 ? 20 : 8;
    }

    memset(world.gravity, 0, sizeof world.gravity);
    SN_TRY(sinew_mesh_create_shape(b->context, &shape, &b->surface));
    SN_TRY(sinew_world_create(b->context, &world, &b->world));
    b->area = SN_PUSH(&b->arena, double, b->surface->point_count);
    b->force = SN_PUSH(&b->arena, double, 3 * (size_t)b->surface->point_count);
    b->held = SN_PUSH(&b->arena, int32_t, b->surface->point_count);
    SN_TRY(sn_arena_status(&b->arena));

    find_ends(b);
    return make_body(b);
}

static void close_bar(rigged_bar *b) {
    sinew_world_destroy(b->world);
    sinew_mesh_destroy(b->surface);
    sn_arena_destroy(&b->arena);
}

// The displacement of a point of the axis, or beside it, along one direction.
static sinew_status displacement(rigged_bar *b, double x, double y, int direction, double *out) {
    const double X[3] = {x, y, 0};
    sinew_point *point = NULL;
    double now[3];
    SN_TRY(sinew_point_create(b->body, X, &point));
    sinew_status status = sinew_point_get_position(point, now);
    *out = now[direction] - X[direction];
    sinew_point_destroy(point);
    return status;
}

// Sets the forces whose solution is a uniform strain, curvature or rate of twist in the bar.
static void set_forces(rigged_bar *b, bar_load load) {
    double shear = young / (2 * (1 + b->poisson));
    double polar = 0;
    for (int32_t i = 0; i < b->surface->point_count; i++) {
        const double *X = b->surface->points + 3 * i;
        polar += b->area[i] * (X[1] * X[1] + X[2] * X[2]);
    }

    double torque = strength / width * shear * square_torsion * pow(width, 4);
    for (int32_t i = 0; i < b->surface->point_count; i++) {
        const double *X = b->surface->points + 3 * i;
        double stress = young * strength * (load == BEND ? X[2] / width : 1);
        double *f = b->force + 3 * i;
        f[0] = load == TWIST ? 0 : stress * b->area[i];
        f[1] = load == TWIST ? -torque * X[2] * b->area[i] / polar : 0;
        f[2] = load == TWIST ? torque * X[1] * b->area[i] / polar : 0;
    }
}

// The stiffness against a load, over the true one.
static sinew_status measure(rigged_bar *b, bar_load load, double *ratio) {
    sinew_static_def statics = sinew_default_static_def();
    double at[3];
    set_forces(b, load);
    SN_TRY(sinew_body_set_surface_forces(b->body, b->force));
    SN_TRY(sinew_world_solve_static(b->world, &statics, NULL));

    // At a quarter, the middle and three quarters of the length.
    for (int k = 0; k < 3; k++) {
        double beside = load == TWIST ? 0.5 * width : 0;
        SN_TRY(displacement(b, 0.25 * (k + 1) * length, beside, load == PULL ? 0 : 2, &at[k]));
    }

    double strain = (at[2] - at[0]) / (0.5 * length);
    double curvature = -(at[0] - 2 * at[1] + at[2]) / pow(0.25 * length, 2);
    double twist = (at[2] - at[0]) / (0.5 * width) / (0.5 * length);
    *ratio = load == PULL   ? strength / strain
             : load == BEND ? strength / width / curvature
                            : strength / width / twist;
    return SINEW_OK;
}

static sinew_status check_bar(validate_run *v, double poisson) {
    static const char *const names[LOADS] = {"Young's modulus", "bending stiffness",
                                             "torsion stiffness"};
    static const double bounds[LOADS] = {0.03, 0.05, 0.2};
    rigged_bar b = {.context = v->context, .poisson = poisson};
    sinew_status status = open_bar(&b);
    for (int load = 0; load < LOADS && status == SINEW_OK; load++) {
        double ratio = 0;
        char claim[160];
        status = measure(&b, (bar_load)load, &ratio);
        snprintf(claim, sizeof claim, "bar with its automatic %d frames, nu = %g: error of the %s",
                 b.frames, poisson, names[load]);
        validate_at_most(v, claim, bounds[load], fabs(ratio - 1), "-");
        validate_note(v, "%+.1f %%", 100 * (ratio - 1));
    }
    close_bar(&b);
    return status;
}

sinew_status validate_elastic_constants(validate_run *v) {
    static const double poisson[] = {0.3, 0, 0.45};
    for (int i = 0; i < (v->quick ? 1 : 3); i++) {
        SN_TRY(check_bar(v, poisson[i]));
    }
    return SINEW_OK;
}
