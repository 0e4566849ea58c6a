// Nearly incompressible solids with the default of every kind of element: Cook's membrane and
// Lame's cylinder, both in plane strain; and supports, reactions and stresses at points of bodies
// with planes of symmetry.
//
// Cook's membrane: a tapered panel with the corners (0, 0), (48, 44), (48, 60), (0, 44), clamped on
// the left and sheared by a unit force on the right, E = 1. Reference: the middle of the right side
// rises by 18.506, to which CalculiX 2.20 with quadratic hexahedra of reduced integration (C3D20R)
// converges: 17.916, 18.245, 18.392, 18.456 with 8, 16, 32, 64 elements along each side.
//
// Lame's cylinder: radii a = 1 and b = 2, pressure p inside.
//
//   u(r)         = p (1 + nu) / E  a^2 / (b^2 - a^2)  ((1 - 2 nu) r + b^2 / r)
//   sigma_r(r)   = p a^2 / (b^2 - a^2)  (1 - b^2 / r^2)
//   sigma_phi(r) = p a^2 / (b^2 - a^2)  (1 + b^2 / r^2)
#include "validate/bar.h"
#include "validate/validate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double cook_rise = 18.506, inner = 1, outer = 2, pressure = 1e-4, close = 1e-9;

typedef struct kind {
    sinew_element element;
    const char *name;
    int32_t cells; // along each side; ten-node tets have nodes between
} kind;

static const kind kinds[] = {
    {SINEW_ELEMENT_TRIANGLE, "triangles", 32},
    {SINEW_ELEMENT_TET4, "linear tets", 48},
    {SINEW_ELEMENT_TET10, "ten-node tets", 16},
    {SINEW_ELEMENT_HEX8, "hexahedra", 32},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

// A square of one layer, E = 1, infinitesimal strain.
static bar_def make_def(const kind *k, double poisson, void (*map)(double x[3])) {
    bar_def def = bar_default_def();
    def.element = k->element;
    def.map = map;
    def.material.strain = SINEW_STRAIN_INFINITESIMAL;
    def.material.young = 1;
    def.material.poisson = poisson;

    for (int c = 0; c < 3; c++) {
        def.size[c] = 1;
        def.cells[c] = c < 2 ? k->cells : 1;
    }
    def.size[2] = 1.0 / k->cells;

    return def;
}

// --- Cook's membrane

static void map_cook(double x[3]) {
    double s = x[0];
    double t = x[1] + 0.5;
    x[0] = 48 * s;
    x[1] = (1 - t) * 44 * s + t * (44 + 16 * s);
    x[2] *= 48;
}

static int32_t hold_cook(const double x[3]) {
    return x[0] < close ? SINEW_AXIS_ALL : SINEW_AXIS_Z;
}

static sinew_status shear(bar *b, double *rise) {
    SN_TRY(bar_hold(b, hold_cook));

    // The height of the right side is 16, and so is the force per thickness.
    const double traction[3] = {0, 1e-6 / 16, 0};
    SN_TRY(bar_pull(b, 0, 48, traction));
    SN_TRY(bar_solve(b, 1, 1e-8));

    const double middle[3] = {48, 52, 0};
    double x[3];
    sinew_point *point;
    SN_TRY(sinew_point_create(b->body, middle, &point));
    sinew_status status = sinew_point_get_position(point, x);
    sinew_point_destroy(point);
    *rise = (x[1] - middle[1]) / 1e-6;

    return status;
}

static sinew_status validate_cook(validate_run *v, const kind *k) {
    bar_def def = make_def(k, 0.4999, map_cook);
    bar b;
    SN_TRY(bar_create(v->context, &def, &b));
    double rise;
    sinew_status status = shear(&b, &rise);
    bar_destroy(&b);
    SN_TRY(status);

    char claim[160];
    (void)snprintf(claim, sizeof claim, "Cook's membrane at Poisson ratio 0.4999: rise, %s",
                   k->name);
    validate_near(v, claim, cook_rise, rise, 0.03 * cook_rise, "-");
    validate_note(v, "%d cells along each side, %+.2f %%", k->cells, 100 * (rise / cook_rise - 1));

    return SINEW_OK;
}

// --- Lame's cylinder

static void map_lame(double x[3]) {
    double r = inner + (outer - inner) * x[0];
    double phi = acos(0.0) * (x[1] + 0.5);
    x[0] = r * cos(phi);
    x[1] = r * sin(phi);
}

static int32_t hold_lame(const double x[3]) {
    return (x[0] < close ? SINEW_AXIS_X : 0) | (x[1] < close ? SINEW_AXIS_Y : 0) | SINEW_AXIS_Z;
}

static double lame_displacement(double r, double poisson) {
    double share = inner * inner / (outer * outer - inner * inner);
    return pressure * (1 + poisson) * share * ((1 - 2 * poisson) * r + outer * outer / r);
}

static double lame_stress(double r, double sign) {
    double share = inner * inner / (outer * outer - inner * inner);
    return pressure * share * (1 + sign * outer * outer / (r * r));
}

// The pressure pushes outwards; it acts on the faces whose nodes are all on the inner circle.
static sinew_status inflate(bar *b) {
    int32_t n = sinew_body_get_node_count(b->body);
    sinew_load_def load = sinew_default_load_def();
    int32_t *nodes = SN_PUSH(&b->arena, int32_t, n);
    SN_TRY(sn_arena_status(&b->arena));

    const double *X = sinew_body_get_rest_positions(b->body);
    for (int32_t i = 0; i < n; i++) {
        if (hypot(X[3 * i], X[3 * i + 1]) < inner + close) {
            nodes[load.node_count++] = i;
        }
    }
    load.nodes = nodes;
    load.kind = SINEW_LOAD_PRESSURE;
    load.pressure = pressure;

    SN_TRY(bar_hold(b, hold_lame));
    SN_TRY(sinew_body_add_load(b->body, &load, NULL));
    return bar_solve(b, 1, 1e-8);
}

// What is measured at one point of the wall, at 45 degrees, away from the planes of symmetry.
typedef struct wall {
    double displacement;
    double stress[6];    // of a probe
    double recovered[6]; // of the node there
} wall;

static sinew_status probe_wall(bar *b, const double rest[3], wall *w) {
    double x[3];
    sinew_element_state state;
    sinew_point *point;
    SN_TRY(sinew_point_create(b->body, rest, &point));
    sinew_status status = sinew_point_get_position(point, x);
    if (status == SINEW_OK) {
        status = sinew_point_get_state(point, &state);
    }
    sinew_point_destroy(point);
    SN_TRY(status);

    w->displacement = hypot(x[0], x[1]) - hypot(rest[0], rest[1]);
    memcpy(w->stress, state.stress, sizeof w->stress);
    return SINEW_OK;
}

static sinew_status measure_wall(bar *b, double r, wall *w) {
    const double rest[3] = {r * sqrt(0.5), r * sqrt(0.5), 0};
    SN_TRY(probe_wall(b, rest, w));

    int32_t n = sinew_body_get_node_count(b->body);
    double *stresses = SN_PUSH(&b->arena, double, 6 * (size_t)n);
    SN_TRY(sn_arena_status(&b->arena));
    SN_TRY(sinew_body_compute_node_stresses(b->body, stresses));

    // Solids have nodes on both of their faces.
    const double *X = sinew_body_get_rest_positions(b->body);
    for (int32_t i = 0; i < n; i++) {
        if (hypot(X[3 * i] - rest[0], X[3 * i + 1] - rest[1]) < close) {
            memcpy(w->recovered, stresses + 6 * (size_t)i, sizeof w->recovered);
        }
    }

    return SINEW_OK;
}

static sinew_status solve_wall(validate_run *v, const kind *k, double poisson, double r, wall *w) {
    bar_def def = make_def(k, poisson, map_lame);
    bar b;
    SN_TRY(bar_create(v->context, &def, &b));
    sinew_status status = inflate(&b);
    if (status == SINEW_OK) {
        status = measure_wall(&b, r, w);
    }
    bar_destroy(&b);

    return status;
}

static sinew_status validate_inflation(validate_run *v, const kind *k) {
    wall w = {0};
    SN_TRY(solve_wall(v, k, 0.4999, outer, &w));

    char claim[160];
    double exact = lame_displacement(outer, 0.4999);
    (void)snprintf(claim, sizeof claim,
                   "Lame's cylinder at Poisson ratio 0.4999: growth of the outer radius, %s",
                   k->name);
    validate_near(v, claim, exact, w.displacement, 0.03 * exact, "m");
    validate_note(v, "%d cells through the wall, %+.2f %%", k->cells,
                  100 * (w.displacement / exact - 1));

    return SINEW_OK;
}

sinew_status validate_incompressible_defaults(validate_run *v) {
    for (int i = 0; i < KINDS; i++) {
        SN_TRY(validate_cook(v, &kinds[i]));
        SN_TRY(validate_inflation(v, &kinds[i]));
    }
    return SINEW_OK;
}

// --- Supports, reactions and stresses

static int32_t hold_planes(const double x[3]) {
    return (x[0] < close ? SINEW_AXIS_X : 0) | (x[1] < close - 0.5 ? SINEW_AXIS_Y : 0) |
           (x[2] < close - 0.5 ? SINEW_AXIS_Z : 0);
}

// A cube on three planes of symmetry, pulled along x by a force per rest area: the Cauchy stress is
// the force over the present area everywhere.
static sinew_status pull_cube(bar *b, double poisson, double *stress_error,
                              double *reaction_error) {
    const double pull = 1e-4;
    const double traction[3] = {pull, 0, 0};

    // Balance.
    SN_TRY(bar_hold(b, hold_planes));
    SN_TRY(bar_pull(b, 0, 1, traction));
    SN_TRY(bar_solve(b, 1, 1e-12));

    // The sides shrink, and the stress is the same everywhere.
    double side = 1 - poisson * pull;
    *stress_error = 0;
    for (int32_t i = 0; i < b->mesh->element_count; i++) {
        sinew_element_state state;
        SN_TRY(sinew_body_get_element_state(b->body, i, &state));
        for (int c = 0; c < 6; c++) {
            double error = fabs(state.stress[c] - (c == 0 ? pull / (side * side) : 0));
            *stress_error = fmax(*stress_error, error / pull);
        }
    }

    // Reactions balance the load.
    int32_t n = sinew_body_get_node_count(b->body);
    double *reactions = SN_PUSH(&b->arena, double, 3 * (size_t)n);
    SN_TRY(sn_arena_status(&b->arena));
    sinew_body_compute_reactions(b->body, reactions);

    double sum[3] = {pull, 0, 0};
    for (int32_t i = 0; i < 3 * n; i++) {
        sum[i % 3] += reactions[i];
    }
    *reaction_error = (fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2])) / pull;

    return SINEW_OK;
}

static sinew_status validate_planes(validate_run *v) {
    double stress_error = 0, reaction_error = 0;
    for (int i = 1; i < KINDS; i++) {
        // A cube of each kind of element.
        const double poisson = 0.3;
        bar_def def = make_def(&kinds[i], poisson, NULL);
        for (int c = 0; c < 3; c++) {
            def.size[c] = 1;
            def.cells[c] = 3;
        }

        bar b;
        double errors[2];
        SN_TRY(bar_create(v->context, &def, &b));
        sinew_status status = pull_cube(&b, poisson, &errors[0], &errors[1]);
        bar_destroy(&b);
        SN_TRY(status);
        stress_error = fmax(stress_error, errors[0]);
        reaction_error = fmax(reaction_error, errors[1]);
    }

    validate_at_most(v, "three planes of symmetry, all solid elements: error of a uniform stress",
                     1e-9, stress_error, "-");
    validate_at_most(v, "the same: sum of reactions and loads over the loads", 1e-9, reaction_error,
                     "-");
    return SINEW_OK;
}

// The larger error of the radial and the hoop stress at 45 degrees, over the hoop stress.
static double wall_error(const double stress[6], double r) {
    double mean = 0.5 * (stress[0] + stress[1]);
    double radial = mean + stress[5] - lame_stress(r, -1);
    double hoop = mean - stress[5] - lame_stress(r, 1);
    return fmax(fabs(radial), fabs(hoop)) / lame_stress(r, 1);
}

// Ten-node tets are read by a probe. The stress of the other elements is constant, or accurate only
// at their centres, so that the one recovered at a node counts.
static sinew_status validate_wall_stress(validate_run *v, const kind *k, double poisson) {
    double r = 0.5 * (inner + outer);
    bool quadratic = k->element == SINEW_ELEMENT_TET10;
    wall w = {0};
    SN_TRY(solve_wall(v, k, poisson, r, &w));

    char claim[160];
    (void)snprintf(claim, sizeof claim,
                   "Lame's cylinder, Poisson ratio %g: error of the stress in mid-wall, %s, %s",
                   poisson, k->name, quadratic ? "probe" : "node");
    double probe = wall_error(w.stress, r), node = wall_error(w.recovered, r);
    validate_at_most(v, claim, 0.02, quadratic ? probe : node, "-");
    validate_note(v, "probe %.4f, node %.4f; %d cells through the wall", probe, node, k->cells);

    return SINEW_OK;
}

sinew_status validate_supports(validate_run *v) {
    SN_TRY(validate_planes(v));
    for (int i = 0; i < KINDS; i++) {
        SN_TRY(validate_wall_stress(v, &kinds[i], 0.3));
        SN_TRY(validate_wall_stress(v, &kinds[i], 0.4999));
    }
    return SINEW_OK;
}
