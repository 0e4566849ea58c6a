// C9: steps a second with everything, beside the papers' figures: physics, contact and the visible
// surface (Gilles et al. 2011, table I; Gilles et al. 2013, table 1.2).
//
// Ellipsoids with the papers' numbers of samples, frames and vertices replace the turtle and the
// bunny. They lie on a floor, with contact within the body as well. "Collision" is what contact
// adds to a step. All times are of the processor, on one thread.
#include "validate/validate.h"
#include "machine.h"
#include "specimen.h"

#include "base/context.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 15, STEPS = 10, VISUAL_REPEATS = 10, FRAMES = 7 };

typedef struct model {
    const char *name;
    double size[3];
    double spacing; // of voxels, each a sample [m]
    int32_t frames;
    bool springs;
    int32_t visual, collision; // cells along the ellipsoid's surface
    double paper[4];           // visual, collision, physical [ms], steps a second
} model;

static const double turtle[FRAMES][3] = {{0, 0, 0},       {0.4, 0, 0},     {-0.4, 0, 0},
                                         {0.2, 0.25, 0},  {0.2, -0.25, 0}, {-0.2, 0.25, 0},
                                         {-0.2, -0.25, 0}};
static const double bunny[2][3] = {{0.1, 0, 0.2}, {-0.1, 0, -0.2}};

typedef struct stage {
    sinew_voxels *voxels;
    sinew_mesh *surface;
    sinew_world *world;
    sinew_body *body;
} stage;

static void destroy_stage(stage *s) {
    sinew_world_destroy(s->world);
    sinew_voxels_destroy(s->voxels);
    sinew_mesh_destroy(s->surface);
}

// The body with a surface of `cells`.
static sinew_status fill_stage(validate_run *v, const model *m, int32_t cells, stage *s) {
    // Voxels and surface.
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();
    sinew_shape_def shape = sinew_default_shape_def();
    solid.solid = SINEW_SOLID_SPHERE;
    shape.shape = SINEW_SHAPE_SPHERE;
    shape.element = SINEW_ELEMENT_TRIANGLE;
    shape.cells[0] = cells;
    shape.cells[1] = shape.cells[2] = 0;
    for (int k = 0; k < 3; k++) {
        solid.size[k] = shape.size[k] = m->size[k];
        grid.spacing[k] = m->spacing;
    }
    SN_TRY(sinew_voxels_create_from_solids(v->context, &solid, 1, &grid, &s->voxels));
    SN_TRY(sinew_mesh_create_shape(v->context, &shape, &s->surface));

    // As in the paper: rigid frames, dual quaternions, harmonic weights.
    sinew_frame_node nodes[FRAMES];
    for (int32_t i = 0; i < m->frames; i++) {
        nodes[i] = (sinew_frame_node){.kind = SINEW_NODE_RIGID};
        memcpy(nodes[i].position, m->frames == FRAMES ? turtle[i] : bunny[i],
               sizeof nodes[i].position);
    }
    sinew_material_def material = sinew_default_material_def();
    material.young = 5e4;
    material.poisson = 0.3;
    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = s->voxels;
    def.nodes = nodes;
    def.node_count = m->frames;
    def.materials = &material;
    def.material_count = 1;
    def.blend = m->springs ? SINEW_BLEND_LINEAR : SINEW_BLEND_DUAL_QUATERNION;
    def.weights.kind = SINEW_WEIGHTS_HARMONIC;
    def.weights.adopt_outside = true;
    def.sampling.kind = SINEW_SAMPLING_MIDPOINT;
    def.springs = m->springs;
    def.surface = s->surface;
    def.stiffness_damping = 0.01;
    def.position[2] = 0.5 * m->size[2] + 0.005;

    sinew_world_def world = sinew_default_world_def();
    SN_TRY(sinew_world_create(v->context, &world, &s->world));
    return sinew_frame_body_create(s->world, &def, &s->body);
}

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The median of STEPS steps. [ms]
static sinew_status time_steps(validate_run *v, sinew_world *world, double *median) {
    double seconds[STEPS];
    for (int i = -WARM_UP; i < STEPS; i++) {
        double start = cli_measured_seconds(v->context);
        SN_TRY(sinew_world_step(world, NULL));
        if (i >= 0) {
            seconds[i] = cli_measured_seconds(v->context) - start;
        }
    }
    qsort(seconds, STEPS, sizeof *seconds, compare_seconds);
    *median = 1e3 * seconds[STEPS / 2];
    return SINEW_OK;
}

static double time_surface(validate_run *v, const sinew_body *body, double *x) {
    double start = cli_measured_seconds(v->context);
    for (int i = 0; i < VISUAL_REPEATS; i++) {
        sinew_body_compute_surface(body, x, NULL);
    }
    return 1e3 * (cli_measured_seconds(v->context) - start) / VISUAL_REPEATS;
}

// --- Frame-based elastic models, table I

// Times of the visible surface, of contact and of the rest. [ms]
static sinew_status time_model(validate_run *v, const model *m, double ms[3], int32_t counts[3]) {
    // Without contact, on the floor's level, so that it only falls.
    stage s = {.world = NULL};
    double with = 0;
    sinew_status status = fill_stage(v, m, m->collision, &s);
    if (status == SINEW_OK) {
        status = time_steps(v, s.world, &ms[2]);
    }
    destroy_stage(&s);
    SN_TRY(status);

    // With contact.
    sinew_contact_def contact = sinew_default_contact_def();
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    contact.self = true;
    s = (stage){.world = NULL};
    status = fill_stage(v, m, m->collision, &s);
    if (status == SINEW_OK) {
        status = sinew_obstacle_create(s.world, &floor, NULL);
    }
    if (status == SINEW_OK) {
        status = sinew_world_set_contact(s.world, &contact);
    }
    if (status == SINEW_OK) {
        status = time_steps(v, s.world, &with);
        counts[1] = s.surface->point_count;
        counts[2] = sinew_voxels_get_count(s.voxels);
    }
    destroy_stage(&s);
    SN_TRY(status);
    ms[1] = fmax(0, with - ms[2]);

    // The visible surface.
    s = (stage){.world = NULL};
    status = fill_stage(v, m, m->visual, &s);
    if (status == SINEW_OK) {
        counts[0] = s.surface->point_count;
        double *x = sn_allocate(v->context, 3 * (size_t)counts[0], sizeof *x);
        status = x ? SINEW_OK : sn_fail(v->context, SINEW_OUT_OF_MEMORY, "out of memory");
        ms[0] = x ? time_surface(v, s.body, x) : 0;
        sn_release(v->context, x, 3 * (size_t)counts[0], sizeof *x);
    }
    destroy_stage(&s);
    return status;
}

static sinew_status compare_models(validate_run *v) {
    static const model models[] = {
        {"turtle, low resolution", {1, 0.8, 0.5}, 0.0449, 7, false, 56, 56, {4, 40, 106, 7}},
        {"turtle, high resolution", {1, 0.8, 0.5}, 0.0238, 7, false, 56, 56, {4, 40, 648, 1.4}},
        {"turtle, springs", {1, 0.8, 0.5}, 0.0238, 7, true, 56, 56, {4, 40, 10, 19}},
        {"bunny, low resolution", {0.8, 0.7, 0.72}, 0.045, 2, false, 124, 34, {10, 7, 51, 15}},
        {"bunny, high resolution", {0.8, 0.7, 0.72}, 0.0239, 2, false, 124, 34, {10, 7, 250, 3.7}},
        {"bunny, springs", {0.8, 0.7, 0.72}, 0.0239, 2, true, 124, 34, {10, 7, 10, 37}},
    };
    enum { MODELS = sizeof models / sizeof *models };

    for (int i = 0; i < MODELS; i++) {
        const model *m = &models[i];
        double ms[3];
        int32_t counts[3];
        char claim[120];
        SN_TRY(time_model(v, m, ms, counts));
        snprintf(claim, sizeof claim, "%s, %d frames: steps a second with everything", m->name,
                 (int)m->frames);
        validate_at_least(v, claim, m->paper[3], 1e3 / (ms[0] + ms[1] + ms[2]), "1/s");
        validate_note(v,
                      "visual %.2g ms (paper %g) for %d points, collision %.2g (%g) for %d, "
                      "physical %.2g (%g) with %d samples",
                      ms[0], m->paper[0], (int)counts[0], ms[1], m->paper[1], (int)counts[1], ms[2],
                      m->paper[2], m->springs ? 0 : (int)counts[2]);
    }
    return SINEW_OK;
}

// --- Frame-based interactive simulation, table 1.2

typedef struct sparse_model {
    sinew_specimen specimen;
    int32_t frames, samples;
    int32_t coarse; // voxels whose surface has about as many vertices as the paper's
    double paper;   // steps a second
} sparse_model;

// A surface from fewer voxels.
static sinew_status make_surface(validate_run *v, const sparse_model *c, sinew_mesh **surface) {
    sinew_voxels *voxels = NULL;
    SN_TRY(
        sinew_voxels_create_specimen(v->context, c->specimen, c->coarse, (size_t)1 << 30, &voxels));
    sinew_status status = sinew_voxels_create_surface(voxels, 10, surface);
    sinew_voxels_destroy(voxels);
    return status;
}

// Lets the body down on a floor just below it.
static sinew_status add_floor(rig_specimen *m) {
    const sinew_mesh *surface = sinew_body_get_surface(m->body);
    sinew_world_def world = sinew_world_get_def(m->world);
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    double lowest = INFINITY;
    for (int32_t i = 0; i < surface->point_count; i++) {
        lowest = fmin(lowest, surface->points[3 * (size_t)i + 2]);
    }
    floor.position[2] = lowest - 1e-3;
    world.gravity[2] = -9.81;
    SN_TRY(sinew_world_set_def(m->world, &world));
    return sinew_obstacle_create(m->world, &floor, NULL);
}

static sinew_status time_sparse(validate_run *v, const sparse_model *c) {
    rig_specimen m = {0};
    sinew_mesh *surface = NULL;
    double ms = 0, visual = 0;
    int32_t points = 0;
    SN_TRY(make_surface(v, c, &surface));
    sinew_status status =
        rig_specimen_prepare(v->context, c->specimen, sinew_specimen_voxel_count(c->specimen), &m);
    m.def.surface = surface;
    m.def.weights.adopt_outside = true;
    m.def.placement.count = c->frames;
    m.def.sampling.count = c->samples;
    if (status == SINEW_OK) {
        status = rig_specimen_create(&m, NULL);
    }
    if (status == SINEW_OK) {
        status = add_floor(&m);
    }
    if (status == SINEW_OK) {
        status = time_steps(v, m.world, &ms);
    }
    if (status == SINEW_OK) {
        points = sinew_body_get_surface(m.body)->point_count;
        double *x = sn_allocate(v->context, 3 * (size_t)points, sizeof *x);
        status = x ? SINEW_OK : sn_fail(v->context, SINEW_OUT_OF_MEMORY, "out of memory");
        visual = x ? time_surface(v, m.body, x) : 0;
        sn_release(v->context, x, 3 * (size_t)points, sizeof *x);
    }
    rig_specimen_destroy(&m);
    sinew_mesh_destroy(surface);
    SN_TRY(status);

    char claim[120];
    snprintf(claim, sizeof claim, "%s, %d frames: steps a second with everything",
             sinew_specimen_name(c->specimen), (int)c->frames);
    validate_at_least(v, claim, c->paper, 1e3 / (ms + visual), "1/s");
    validate_note(v, "on a floor, with %d vertices; a step %.2g ms, surface %.2g ms", (int)points,
                  ms, visual);
    return SINEW_OK;
}

sinew_status validate_rates(validate_run *v) {
    static const sparse_model models[] = {{SINEW_SPECIMEN_STEAK, 3, 10, 11000, 500},
                                          {SINEW_SPECIMEN_STEAK, 10, 53, 11000, 100},
                                          {SINEW_SPECIMEN_STEAK, 20, 140, 11000, 40},
                                          {SINEW_SPECIMEN_RIBBON, 5, 9, 3000, 200},
                                          {SINEW_SPECIMEN_KNEE, 10, 200, 200000, 10}};
    if (v->quick) {
        return SINEW_OK;
    }

    SN_TRY(compare_models(v));
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        SN_TRY(time_sparse(v, &models[i]));
    }
    return SINEW_OK;
}
