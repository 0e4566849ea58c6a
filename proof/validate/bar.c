// Builds and measures a box of finite elements; see bar.h.
#include "validate/bar.h"

#include "base/context.h"

#include <math.h>
#include <string.h>

bar_def bar_default_def(void) {
    bar_def def = {.size = {1, 0.1, 0.1},
                   .cells = {20, 2, 2},
                   .element = SINEW_ELEMENT_TET10,
                   .material = sinew_default_material_def(),
                   .world = sinew_default_world_def()};
    def.world.gravity[2] = 0;
    def.world.solver = SINEW_SOLVER_DIRECT;

    return def;
}

static sinew_status repeat_axes(bar *b, const double *axes, const double **all) {
    double *copies = SN_PUSH(&b->arena, double, 9 * (size_t)b->mesh->element_count);
    SN_TRY(sn_arena_status(&b->arena));
    for (int32_t i = 0; i < 9 * b->mesh->element_count; i++) {
        copies[i] = axes[i % 9];
    }

    *all = copies;
    return SINEW_OK;
}

static sinew_status map_points(bar *b, void (*map)(double x[3]), const double **mapped) {
    double *points = SN_PUSH(&b->arena, double, 3 * (size_t)b->mesh->point_count);
    SN_TRY(sn_arena_status(&b->arena));
    for (int32_t i = 0; i < b->mesh->point_count; i++) {
        memcpy(points + 3 * i, b->mesh->points + 3 * i, 3 * sizeof(double));
        map(points + 3 * i);
    }

    *mapped = points;
    return SINEW_OK;
}

static sinew_status fill(bar *b, const bar_def *def) {
    // The mesh starts at x = 0.
    sinew_shape_def shape = sinew_default_shape_def();
    shape.element = def->element;
    if (def->element == SINEW_ELEMENT_TRIANGLE) {
        shape.shape = SINEW_SHAPE_RECTANGLE;
    }
    shape.center[0] = def->size[0] / 2;

    for (int c = 0; c < 3; c++) {
        shape.size[c] = def->size[c];
        shape.cells[c] = def->cells[c];
    }

    SN_TRY(sinew_mesh_create_shape(b->context, &shape, &b->mesh));
    SN_TRY(sinew_world_create(b->context, &def->world, &b->world));

    // One material everywhere.
    sinew_body_def body = sinew_default_body_def();
    sinew_mesh mesh = *b->mesh;
    if (def->map) {
        SN_TRY(map_points(b, def->map, &mesh.points));
    }
    body.mesh = &mesh;
    body.model = def->model;
    body.volume = def->volume;
    body.materials = &def->material;
    body.material_count = 1;

    if (def->axes) {
        SN_TRY(repeat_axes(b, def->axes, &body.material_axes));
    }

    return sinew_body_create(b->world, &body, &b->body);
}

sinew_status bar_create(sinew_context *context, const bar_def *def, bar *b) {
    *b = (bar){.context = context, .arena = sn_arena_create(context)};
    sinew_status status = fill(b, def);
    if (status != SINEW_OK) {
        bar_destroy(b);
    }
    return status;
}

void bar_destroy(bar *b) {
    if (!b->context) {
        return;
    }

    sinew_world_destroy(b->world);
    sinew_mesh_destroy(b->mesh);
    sn_arena_destroy(&b->arena);
    *b = (bar){0};
}

int32_t *bar_pick(bar *b, int axis, double value, int32_t *count) {
    int32_t n = sinew_body_get_node_count(b->body);
    int32_t *nodes = SN_PUSH(&b->arena, int32_t, n);
    const double *X = sinew_body_get_rest_positions(b->body);

    *count = 0;

    if (nodes) {
        for (int32_t i = 0; i < n; i++) {
            if (fabs(X[3 * i + axis] - value) < 1e-9) {
                nodes[(*count)++] = i;
            }
        }
    }

    return nodes;
}

sinew_status bar_hold(bar *b, int32_t (*choose)(const double x[3])) {
    int32_t n = sinew_body_get_node_count(b->body);
    int32_t *nodes = SN_PUSH(&b->arena, int32_t, n);
    SN_TRY(sn_arena_status(&b->arena));

    const double *X = sinew_body_get_rest_positions(b->body);
    for (int32_t axes = 1; axes <= SINEW_AXIS_ALL; axes++) {
        int32_t count = 0;
        for (int32_t i = 0; i < n; i++) {
            if (choose(X + 3 * i) == axes) {
                nodes[count++] = i;
            }
        }
        if (count > 0) {
            SN_TRY(sinew_body_fix_nodes(b->body, nodes, count, axes));
        }
    }

    return SINEW_OK;
}

sinew_status bar_clamp(bar *b) {
    int32_t count;
    int32_t *nodes = bar_pick(b, 0, 0, &count);
    SN_TRY(sn_arena_status(&b->arena));
    return sinew_body_fix_nodes(b->body, nodes, count, SINEW_AXIS_ALL);
}

sinew_status bar_pull(bar *b, int axis, double value, const double traction[3]) {
    sinew_load_def load = sinew_default_load_def();
    load.nodes = bar_pick(b, axis, value, &load.node_count);
    SN_TRY(sn_arena_status(&b->arena));

    for (int c = 0; c < 3; c++) {
        load.traction[c] = traction[c];
    }

    return sinew_body_add_load(b->body, &load, NULL);
}

sinew_status bar_get_displacement(bar *b, double x, double displacement[3]) {
    int32_t count;
    int32_t *nodes = bar_pick(b, 0, x, &count);

    SN_TRY(sn_arena_status(&b->arena));
    const double *now = sinew_body_get_positions(b->body);
    const double *rest = sinew_body_get_rest_positions(b->body);

    for (int c = 0; c < 3; c++) {
        displacement[c] = 0;
        for (int32_t i = 0; i < count; i++) {
            displacement[c] += (now[3 * nodes[i] + c] - rest[3 * nodes[i] + c]) / count;
        }
    }

    return SINEW_OK;
}

sinew_status bar_solve(bar *b, int32_t load_steps, double tolerance) {
    sinew_static_def statics = sinew_default_static_def();
    statics.load_steps = load_steps;
    statics.newton_tolerance = tolerance;

    sinew_step_report report;
    SN_TRY(sinew_world_solve_static(b->world, &statics, &report));

    // A stall close to the tolerance is the limit of rounding, where no step lowers the energy.
    bool done =
        report.outcome == SINEW_OUTCOME_CONVERGED ||
        (report.outcome == SINEW_OUTCOME_STALLED && report.newton_residual < 1e3 * tolerance);

    if (done) {
        return SINEW_OK;
    }

    return sn_fail(b->context, SINEW_DIVERGED,
                   "the static solve ended with '%s' at a residual of %g",
                   sinew_outcome_name(report.outcome), report.newton_residual);
}
