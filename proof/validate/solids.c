// Solids as frames and as ten-node tets; see solids.h. Both have the same surface, on which the
// same forces act. One end of the tets is fixed, or held by the springs of the frames, which are
// those of `fixed` in a scene.
#include "validate/solids.h"

#include "base/clock.h"
#include "base/context.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

const char *const solid_names[SOLID_KINDS] = {"bar", "slab", "T", "steak", "core"};

static const double h = 0.05; // edge of the cells of tets [m]; voxels are half as long
static const double soft = 1e5, stiff = 1e9, stiff_core = 1e7; // [Pa]
static const double total_force = 0.1, gravity = 1e-2;         // small: linear [N], [m/s2]

enum { FLESH = 1, BONE = 2, MOST_CELLS = 20 * 20 * 20 };

// The solid in cells of edge h.
typedef struct grid {
    int32_t cells[3];
    uint8_t label[MOST_CELLS];
} grid;

static uint8_t label_of(solid_kind kind, const int32_t c[3]) {
    switch (kind) {
    case SOLID_TEE: // a bar along x, and a stem along y from its end
        return c[0] >= 12 || (c[1] >= 6 && c[1] < 10) ? FLESH : 0;
    case SOLID_STEAK: {
        bool middle = c[2] == 1;
        bool stem = c[0] >= 4 && c[0] < 14 && c[1] >= 6 && c[1] < 8;
        bool bar = c[0] >= 12 && c[0] < 14 && c[1] >= 2 && c[1] < 12;
        return middle && (stem || bar) ? BONE : FLESH;
    }
    case SOLID_CORE:
        return c[0] >= 4 && c[0] < 16 && c[1] >= 1 && c[1] < 3 && c[2] >= 1 && c[2] < 3 ? BONE
                                                                                        : FLESH;
    default: return FLESH;
    }
}

static void make_grid(solid_kind kind, grid *g) {
    static const int32_t cells[SOLID_KINDS][3] = {
        {20, 4, 4}, {14, 14, 2}, {16, 16, 4}, {18, 14, 3}, {20, 4, 4}};
    memcpy(g->cells, cells[kind], sizeof g->cells);
    int32_t n = 0;
    for (int32_t z = 0; z < g->cells[2]; z++) {
        for (int32_t y = 0; y < g->cells[1]; y++) {
            for (int32_t x = 0; x < g->cells[0]; x++) {
                g->label[n++] = label_of(kind, (const int32_t[3]){x, y, z});
            }
        }
    }
}

typedef struct model {
    sinew_context *context;
    sn_arena arena;
    grid grid;
    sinew_mesh *tets, *surface;
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
    sinew_material_def materials[2];
    double *area;  // of each vertex, of the two end faces alone
    double *force; // on each vertex
} model;

static double end_of(const model *m) {
    return m->grid.cells[0] * h;
}

// The share of each vertex in the triangles of both end faces.
static void find_areas(model *m) {
    const sinew_mesh *s = m->surface;
    for (int32_t t = 0; t < s->element_count; t++) {
        const int32_t *corner = s->indices + 3 * t;
        const double *p[3];
        bool first = true, last = true;
        for (int k = 0; k < 3; k++) {
            p[k] = s->points + 3 * corner[k];
            first = first && p[k][0] < 1e-9;
            last = last && p[k][0] > end_of(m) - 1e-9;
        }
        if (!first && !last) {
            continue;
        }
        double area = 0.5 * fabs((p[1][1] - p[0][1]) * (p[2][2] - p[0][2]) -
                                 (p[2][1] - p[0][1]) * (p[1][2] - p[0][2]));
        for (int k = 0; k < 3; k++) {
            m->area[corner[k]] += area / 3;
        }
    }
}

static bool is_held(const model *m, int32_t vertex) {
    return m->area[vertex] > 0 && m->surface->points[3 * vertex] < 1e-9;
}

static void set_materials(model *m, solid_kind kind, double poisson) {
    for (int i = 0; i < 2; i++) {
        m->materials[i] = sinew_default_material_def();
        m->materials[i].poisson = poisson;
        m->materials[i].density = 1000;
    }
    m->materials[0].young = soft;
    m->materials[1].young = kind == SOLID_STEAK ? stiff : stiff_core;
}

static sinew_status open_model(sinew_context *context, solid_kind kind, double poisson, model *m) {
    *m = (model){.context = context, .arena = sn_arena_create(context)};
    make_grid(kind, &m->grid);
    set_materials(m, kind, poisson);

    // Ten-node tets of the same voxels, and their surface.
    sinew_voxel_mesh_def def = sinew_default_voxel_mesh_def();
    for (int a = 0; a < 3; a++) {
        def.cells[a] = m->grid.cells[a];
        def.spacing[a] = h;
    }
    def.lower[1] = -0.5 * h * def.cells[1];
    def.lower[2] = -0.5 * h * def.cells[2];
    def.voxels = m->grid.label;
    def.element = SINEW_ELEMENT_TET10;
    SN_TRY(sinew_mesh_create_voxels(context, &def, &m->tets));
    SN_TRY(sinew_mesh_create_surface(context, m->tets, &m->surface, NULL));

    // A world without gravity, and the areas that carry the loads.
    sinew_world_def world = sinew_default_world_def();
    memset(world.gravity, 0, sizeof world.gravity);
    world.solver = SINEW_SOLVER_DIRECT;
    SN_TRY(sinew_world_create(context, &world, &m->world));

    m->area = SN_PUSH(&m->arena, double, m->surface->point_count);
    m->force = SN_PUSH(&m->arena, double, 3 * (size_t)m->surface->point_count);
    SN_TRY(sn_arena_status(&m->arena));
    find_areas(m);
    return SINEW_OK;
}

static void close_model(model *m) {
    sinew_world_destroy(m->world);
    sinew_voxels_destroy(m->voxels);
    sinew_mesh_destroy(m->surface);
    sinew_mesh_destroy(m->tets);
    sn_arena_destroy(&m->arena);
}

static sinew_status make_voxels(model *m) {
    const grid *g = &m->grid;
    sinew_label_grid labels = {0};
    for (int a = 0; a < 3; a++) {
        labels.cells[a] = 2 * g->cells[a];
        labels.spacing[a] = 0.5 * h;
        labels.lower[a] = a > 0 ? -0.5 * h * g->cells[a] : 0;
    }

    size_t count = 8 * (size_t)g->cells[0] * (size_t)g->cells[1] * (size_t)g->cells[2];
    uint8_t *label = SN_PUSH(&m->arena, uint8_t, count);
    SN_TRY(sn_arena_status(&m->arena));
    for (size_t i = 0; i < count; i++) {
        int32_t n = (int32_t)i;
        int32_t x = n % labels.cells[0] / 2;
        int32_t y = n / labels.cells[0] % labels.cells[1] / 2;
        int32_t z = n / labels.cells[0] / labels.cells[1] / 2;
        label[i] = g->label[(z * g->cells[1] + y) * g->cells[0] + x];
    }

    labels.labels8 = label;
    return sinew_voxels_create_from_labels(m->context, &labels,
                                           sinew_default_voxel_def().memory_limit, &m->voxels);
}

// --- loads

// Sets the forces of a load; their sum, or moment, is total_force.
static void find_forces(model *m, solid_load load) {
    double area = 0, polar = 0;
    for (int32_t i = 0; i < m->surface->point_count; i++) {
        const double *X = m->surface->points + 3 * i;
        double part = is_held(m, i) ? 0 : m->area[i];
        area += part;
        polar += part * (X[1] * X[1] + X[2] * X[2]);
    }

    for (int32_t i = 0; i < m->surface->point_count; i++) {
        const double *X = m->surface->points + 3 * i;
        double part = is_held(m, i) ? 0 : total_force * m->area[i];
        double *f = m->force + 3 * i;
        f[0] = load == SOLID_PULL ? part / area : 0;
        f[1] = load == SOLID_TWIST ? -part * X[2] / polar : 0;
        f[2] = load == SOLID_TWIST ? part * X[1] / polar : 0;
        if (load == SOLID_TIP || load == SOLID_WEIGHT) {
            f[2] = part / area;
        }
    }
}

// The work of the forces per force: that of weight is the displacement of the end.
static sinew_status solve_load(model *m, solid_load load, double *compliance) {
    size_t numbers = 3 * (size_t)m->surface->point_count;
    double *position = SN_PUSH(&m->arena, double, numbers);
    SN_TRY(sn_arena_status(&m->arena));
    find_forces(m, load);

    // The load.
    sinew_world_def world = sinew_world_get_def(m->world);
    world.gravity[2] = load == SOLID_WEIGHT ? gravity : 0;
    SN_TRY(sinew_world_set_def(m->world, &world));
    SN_TRY(sinew_body_set_surface_forces(m->body, load == SOLID_WEIGHT ? NULL : m->force));

    // Balance.
    sinew_static_def statics = sinew_default_static_def();
    sinew_step_report report;
    statics.newton_tolerance = 1e-6;
    SN_TRY(sinew_world_solve_static(m->world, &statics, &report));
    if (!(report.newton_residual < 1e-3)) {
        return sn_fail(m->context, SINEW_DIVERGED, "load %d ended at a residual of %g", (int)load,
                       report.newton_residual);
    }

    // Work.
    sinew_body_compute_surface(m->body, position, NULL);
    *compliance = 0;
    for (size_t i = 0; i < numbers; i++) {
        *compliance += m->force[i] * (position[i] - m->surface->points[i]);
    }
    *compliance /= total_force * (load == SOLID_WEIGHT ? gravity : total_force);
    return SINEW_OK;
}

static sinew_status measure_modes(model *m, solid_response *response) {
    double frequency[6 + SOLID_MODES];
    SN_TRY(sinew_body_compute_modes(m->body, 6 + SOLID_MODES, frequency, NULL));
    for (int i = 0; i < SOLID_MODES; i++) {
        double omega = 6.283185307179586 * frequency[6 + i];
        response->eigenvalue[i] = omega * omega;
    }
    return SINEW_OK;
}

static sinew_status measure_loads(model *m, solid_response *response) {
    for (int load = 0; load < SOLID_LOADS; load++) {
        SN_TRY(solve_load(m, (solid_load)load, &response->compliance[load]));
    }
    return SINEW_OK;
}

// --- tets

static sinew_status hold_tets(model *m) {
    const int32_t *nodes = sinew_body_get_surface_nodes(m->body);
    int32_t *held = SN_PUSH(&m->arena, int32_t, m->surface->point_count);
    int32_t count = 0;
    SN_TRY(sn_arena_status(&m->arena));
    for (int32_t i = 0; i < m->surface->point_count; i++) {
        if (is_held(m, i)) {
            held[count++] = nodes[i];
        }
    }
    return sinew_body_fix_nodes(m->body, held, count, SINEW_AXIS_ALL);
}

// The springs of a face support, one at each vertex (sinew/frame_support.h); the ends are of flesh.
static sinew_status hang_tets(model *m) {
    const int32_t *nodes = sinew_body_get_surface_nodes(m->body);
    double longest = 0;
    for (int a = 0; a < 3; a++) {
        longest = fmax(longest, m->grid.cells[a] * h);
    }

    for (int32_t i = 0; i < m->surface->point_count; i++) {
        if (!is_held(m, i)) {
            continue;
        }
        sinew_attachment_def def = sinew_default_attachment_def();
        def.body = m->body;
        def.node = nodes[i];
        def.stiffness = soft / (0.01 * longest) * m->area[i];
        SN_TRY(sinew_world_attach(m->world, &def, NULL));
    }
    return SINEW_OK;
}

static sinew_status run_tets(model *m, solid_hold hold, solid_response *response) {
    const int32_t labels[2] = {FLESH, BONE};
    sinew_body_def def = sinew_default_body_def();
    def.mesh = m->tets;
    def.materials = m->materials;
    def.material_labels = labels;
    def.material_count = 2;
    SN_TRY(sinew_body_create(m->world, &def, &m->body));
    SN_TRY(measure_modes(m, response));

    SN_TRY(hold == SOLID_SPRINGS ? hang_tets(m) : hold_tets(m));
    return measure_loads(m, response);
}

sinew_status solid_measure_tets(sinew_context *context, solid_kind kind, double poisson,
                                solid_hold hold, solid_response *response) {
    model m;
    *response = (solid_response){.samples = 0};
    sinew_status status = open_model(context, kind, poisson, &m);
    if (status == SINEW_OK) {
        status = run_tets(&m, hold, response);
    }
    close_model(&m);
    return status;
}

// --- frames

static sinew_status hold_frames(model *m) {
    int32_t *held = SN_PUSH(&m->arena, int32_t, m->surface->point_count);
    SN_TRY(sn_arena_status(&m->arena));
    sinew_frame_support_def def = sinew_default_frame_support_def();
    for (int32_t i = 0; i < m->surface->point_count; i++) {
        if (is_held(m, i)) {
            held[def.vertex_count++] = i;
        }
    }

    def.vertices = held;
    return sinew_frame_body_add_support(m->body, &def, NULL);
}

// The definition of a model of the solid; the tissues go into `tissues`.
static sinew_status fill_def(model *m, const sinew_autorig_def *given,
                             sinew_autorig_tissue tissues[2], sinew_autorig_def *def) {
    for (int i = 0; i < 2; i++) {
        tissues[i] = sinew_default_autorig_tissue();
        tissues[i].label = i == 0 ? FLESH : BONE;
        tissues[i].material = m->materials[i];
    }

    SN_TRY(make_voxels(m));
    *def = *given;
    def->voxels = m->voxels;
    def->tissues = tissues;
    def->tissue_count = 2;
    def->surface = m->surface;
    return SINEW_OK;
}

static sinew_status run_frames(model *m, const sinew_autorig_def *given, solid_response *response) {
    sinew_autorig_def def;
    sinew_autorig_tissue tissues[2];
    sinew_autorig_report report;
    SN_TRY(fill_def(m, given, tissues, &def));

    double start = sn_seconds();
    SN_TRY(sinew_autorig_create(m->world, &def, &report, &m->body));
    response->seconds = sn_seconds() - start;
    response->samples = report.sampling.point_count;
    SN_TRY(measure_modes(m, response));
    SN_TRY(hold_frames(m));
    return measure_loads(m, response);
}

sinew_status solid_measure_frames(sinew_context *context, solid_kind kind, double poisson,
                                  const sinew_autorig_def *def, solid_response *response) {
    model m;
    *response = (solid_response){.samples = 0};
    sinew_status status = open_model(context, kind, poisson, &m);
    if (status == SINEW_OK) {
        status = run_frames(&m, def, response);
    }
    close_model(&m);
    return status;
}

sinew_status solid_estimate_error(sinew_context *context, solid_kind kind, double poisson,
                                  const sinew_autorig_def *def, double *error) {
    model m;
    sinew_autorig_def own;
    sinew_autorig_tissue tissues[2];
    sinew_status status = open_model(context, kind, poisson, &m);
    if (status == SINEW_OK) {
        status = fill_def(&m, def, tissues, &own);
    }
    if (status == SINEW_OK) {
        status = sinew_autorig_estimate_error(context, &own, &own.placement.count, 1, error);
    }
    close_model(&m);
    return status;
}

double solid_load_error(const solid_response *response, const solid_response *truth,
                        solid_load load) {
    return fabs(response->compliance[load] / truth->compliance[load] - 1);
}

double solid_frequency_error(const solid_response *response, const solid_response *truth) {
    double worst = 0;
    for (int i = 0; i < SOLID_MODES; i++) {
        worst = fmax(worst, fabs(sqrt(response->eigenvalue[i] / truth->eigenvalue[i]) - 1));
    }
    return worst;
}
