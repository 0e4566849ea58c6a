// C2: Hertz's contact. A cap of a sphere is pressed onto a rigid plane, and onto another cap, and
// force over approach is compared with
//
//   F = 4/3 E* sqrt(R*) d^(3/2),   p = p0 sqrt(1 - r^2 / a^2),   a = sqrt(R* d)
//   p0 = 3 F / (2 pi a^2)
//
// with 1/E* the sum of (1 - nu^2) / E over the elastic sides, and 1/R* that of 1/R over the curved
// ones (Johnson, Contact Mechanics, 1985, ch. 4). A cap is a quarter of a block of ten-node tets,
// refined towards its pole, whose lower face is a sphere; the upper face moves down as a whole.
// Blocks end a hundred contact radii away.
#include "validate/validate.h"

#include "base/context.h"
#include "base/memory.h"
#include "math/vec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_CELLS = 24, OUTER = 6, LOADS = 2, RINGS = 6 };

static const double young = 1e6, poisson = 0.3, radius = 2;
static const double largest_patch = 0.01; // contact radius at the last load [m]
static const double reach = 1;            // of a block [m]

// Borders of cells along one axis: equal ones at first, then growing ones.
typedef struct grading {
    int32_t cells;
    double border[MOST_CELLS + 1];
} grading;

// `inner` equal cells of the given size, then OUTER ones, each longer than the one before by the
// same factor, so that they end at `reach`.
static grading make_grading(int32_t inner, double cell) {
    grading g = {.cells = inner + OUTER};
    double low = 1, high = 10;
    for (int i = 0; i < 60; i++) {
        double growth = 0.5 * (low + high), length = cell;
        for (int32_t k = 0; k < g.cells; k++) {
            g.border[k + 1] = g.border[k] + length;
            length *= k >= inner - 1 ? growth : 1;
        }
        if (g.border[g.cells] < reach) {
            low = growth;
        } else {
            high = growth;
        }
    }
    g.border[g.cells] = reach;
    return g;
}

// The position of s, which counts cells; straight within each, so that middle nodes stay in the
// middle.
static double place(const grading *g, double s) {
    int32_t cell = s < g->cells ? (int32_t)s : g->cells - 1;
    return g->border[cell] + (s - cell) * (g->border[cell + 1] - g->border[cell]);
}

// A quarter of a cap: pole at the origin, axis upwards. The lower one of two is rotated about the
// line x = y by half a turn, which takes it below the same quarter of the plane.
static sinew_status make_cap(validate_run *v, double cell, bool upper, sn_arena *arena,
                             sinew_mesh **mesh) {
    // Finer across than down.
    const grading across = make_grading(5, cell), down = make_grading(3, 1.5 * cell);
    const grading *g[3] = {&across, &across, &down};

    sinew_shape_def shape = sinew_default_shape_def();
    shape.element = SINEW_ELEMENT_TET10;
    shape.tets_per_cell = 6;
    for (int k = 0; k < 3; k++) {
        shape.cells[k] = g[k]->cells;
        shape.size[k] = g[k]->cells;
        shape.center[k] = 0.5 * g[k]->cells;
    }
    sinew_mesh *even;
    SN_TRY(sinew_mesh_create_shape(v->context, &shape, &even));

    double *points = SN_PUSH(arena, double, 3 * (size_t)even->point_count);
    sinew_status status = sn_arena_status(arena);
    for (int32_t i = 0; i < even->point_count && status == SINEW_OK; i++) {
        double *x = points + 3 * (size_t)i;
        for (int k = 0; k < 3; k++) {
            x[k] = place(g[k], even->points[3 * (size_t)i + (size_t)k]);
        }

        // The sphere fades upwards.
        double r2 = x[0] * x[0] + x[1] * x[1];
        x[2] += (radius - sqrt(radius * radius - r2)) * (1 - x[2] / reach);
        if (!upper) {
            double first = x[0];
            x[0] = x[1];
            x[1] = first;
            x[2] = -x[2];
        }
    }

    sinew_mesh bent = *even;
    bent.points = points;
    if (status == SINEW_OK) {
        status = sinew_mesh_copy(v->context, &bent, mesh);
    }
    sinew_mesh_destroy(even);
    return status;
}

typedef struct problem {
    sinew_world *world;
    sinew_obstacle *floor; // NULL: two caps
    sinew_body *cap;       // the upper one
    sinew_mesh *mesh[2];
    int32_t *far; // nodes of the upper face of the upper cap
    int32_t far_count;
    double *targets;
    double gap; // to close before anything touches [m]
} problem;

// Holds the planes of symmetry and the face away from the pole.
static sinew_status hold(problem *p, sinew_body *body, const sinew_mesh *mesh, sn_arena *arena,
                         bool upper) {
    int32_t *nodes = SN_PUSH(arena, int32_t, mesh->point_count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t axes = 1; axes < 8; axes++) {
        int32_t count = 0;
        for (int32_t i = 0; i < mesh->point_count; i++) {
            const double *X = mesh->points + 3 * (size_t)i;
            int32_t held = (X[0] < 1e-9 ? SINEW_AXIS_X : 0) | (X[1] < 1e-9 ? SINEW_AXIS_Y : 0) |
                           (fabs(X[2]) > reach - 1e-9 ? SINEW_AXIS_Z : 0);
            if (held == axes) {
                nodes[count++] = i;
            }
            if (upper && axes == 7 && (held & SINEW_AXIS_Z)) {
                p->far[p->far_count++] = i;
            }
        }
        if (count > 0) {
            SN_TRY(sinew_body_fix_nodes(body, nodes, count, axes));
        }
    }
    return SINEW_OK;
}

static sinew_status add_cap(problem *p, sinew_mesh *mesh, bool upper, double height,
                            sn_arena *arena, sinew_body **body) {
    sinew_material_def material = sinew_default_material_def();
    material.strain = SINEW_STRAIN_INFINITESIMAL;
    material.young = young;
    material.poisson = poisson;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.materials = &material;
    def.material_count = 1;
    def.position[2] = height;
    SN_TRY(sinew_body_create(p->world, &def, body));
    return hold(p, *body, mesh, arena, upper);
}

static sinew_status build(validate_run *v, problem *p, bool two, sn_arena *arena) {
    sinew_world_def world = sinew_default_world_def();
    sinew_contact_def contact = sinew_default_contact_def();
    memset(world.gravity, 0, sizeof world.gravity);
    contact.friction = 0;
    contact.thickness = 1e-3 * largest_patch;
    p->gap = (two ? 2 : 1) * contact.thickness;
    SN_TRY(sinew_world_create(v->context, &world, &p->world));
    SN_TRY(sinew_world_set_contact(p->world, &contact));

    // The lower side has other cells.
    SN_TRY(make_cap(v, 0.24 * largest_patch, true, arena, &p->mesh[0]));
    p->far = SN_PUSH(arena, int32_t, p->mesh[0]->point_count);
    p->targets = SN_PUSH(arena, double, 3 * (size_t)p->mesh[0]->point_count);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(add_cap(p, p->mesh[0], true, p->gap, arena, &p->cap));
    if (two) {
        sinew_body *below;
        SN_TRY(make_cap(v, 0.26 * largest_patch, false, arena, &p->mesh[1]));
        return add_cap(p, p->mesh[1], false, 0, arena, &below);
    }

    sinew_obstacle_def floor = sinew_default_obstacle_def();
    return sinew_obstacle_create(p->world, &floor, &p->floor);
}

// Moves the far face down by `approach` in total, and solves.
static sinew_status press(problem *p, double approach, sinew_step_report *report) {
    for (int32_t i = 0; i < p->far_count; i++) {
        memcpy(p->targets + 3 * (size_t)i, p->mesh[0]->points + 3 * (size_t)p->far[i],
               3 * sizeof(double));
        p->targets[3 * (size_t)i + 2] += p->gap - approach;
    }
    SN_TRY(sinew_body_move_nodes(p->cap, p->far, p->far_count, p->targets));
    sinew_static_def def = sinew_default_static_def();
    return sinew_world_solve_static(p->world, &def, report);
}

// The force on the whole cap. [N]
static double force_of(const problem *p) {
    const sinew_contact *contacts;
    int32_t count = sinew_world_get_contacts(p->world, &contacts);
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += contacts[i].body == p->cap ? contacts[i].force[2] : -contacts[i].force[2];
    }
    return 4 * sum;
}

// Mean pressures in rings around the axis, and Hertz's in the same rings.
static sinew_status draw_pressure(validate_run *v, const problem *p, bool two, double patch,
                                  double force) {
    const sinew_contact *contacts;
    int32_t count = sinew_world_get_contacts(p->world, &contacts);
    double at[RINGS], measured[RINGS] = {0}, exact[RINGS];
    double width = 1.2 * patch / RINGS;
    for (int32_t i = 0; i < count; i++) {
        double r = hypot(contacts[i].position[0], contacts[i].position[1]);
        int32_t ring = (int32_t)(r / width);
        if (ring < RINGS) {
            measured[ring] += 4 * fabs(contacts[i].force[2]);
        }
    }
    for (int32_t i = 0; i < RINGS; i++) {
        double inner = fmin(1, i * width / patch), outer = fmin(1, (i + 1) * width / patch);
        double area = acos(-1) * width * width * (2 * i + 1);
        at[i] = (i + 0.5) * width;
        measured[i] /= area;
        exact[i] = force * (pow(1 - inner * inner, 1.5) - pow(1 - outer * outer, 1.5)) / area;
    }

    sinew_plot_series series[2] = {sinew_default_plot_series(), sinew_default_plot_series()};
    series[0].label = "Hertz";
    series[0].y = exact;
    series[1].label = "ten-node tets";
    series[1].y = measured;
    series[1].style = SINEW_PLOT_MARKERS;
    for (int i = 0; i < 2; i++) {
        series[i].x = at;
        series[i].count = RINGS;
    }
    sinew_plot_panel panel = {.x = {.label = "distance from the axis [m]"},
                              .y = {.label = "mean pressure in a ring [Pa]"},
                              .series = series,
                              .series_count = 2};
    sinew_plot plot = {.title =
                           two ? "Pressure between two spheres" : "Pressure of a sphere on a plane",
                       .panels = &panel,
                       .panel_count = 1};
    return validate_draw(v, two ? "spheres" : "plane", &plot);
}

static sinew_status compare(validate_run *v, problem *p, bool two) {
    double modulus = young / (1 - poisson * poisson) * (two ? 0.5 : 1);
    double round = two ? 0.5 * radius : radius;
    double last = largest_patch * largest_patch / round;
    for (int i = two ? LOADS : 1; i <= LOADS; i++) { // two caps take long: one load is enough
        double approach = last * i / LOADS;
        sinew_step_report report;
        SN_TRY(press(p, approach, &report));
        double exact = 4.0 / 3 * modulus * sqrt(round) * pow(approach, 1.5);
        double force = force_of(p);
        char claim[120];
        snprintf(claim, sizeof claim, "%s: force at %.0f %% of the approach",
                 two ? "sphere on sphere" : "sphere on plane", 100.0 * i / LOADS);
        validate_near(v, claim, exact, force, 0.02 * exact, "N");
        validate_note(v, "off by %.2f %%; %s after %d iterations", 100 * (force / exact - 1),
                      sinew_outcome_name(report.outcome), report.newton_iterations);
        if (i == LOADS) {
            SN_TRY(draw_pressure(v, p, two, sqrt(round * approach), exact));
        }
    }
    return SINEW_OK;
}

sinew_status validate_hertz(validate_run *v) {
    if (v->quick) {
        return SINEW_OK;
    }

    for (int two = 0; two < 2; two++) {
        problem p = {.world = NULL};
        sn_arena arena = sn_arena_create(v->context);
        sinew_status status = build(v, &p, two, &arena);
        if (status == SINEW_OK) {
            status = compare(v, &p, two);
        }
        sinew_world_destroy(p.world);
        sinew_mesh_destroy(p.mesh[0]);
        sinew_mesh_destroy(p.mesh[1]);
        sn_arena_destroy(&arena);
        SN_TRY(status);
    }
    return SINEW_OK;
}
