// From data to a running model (Gilles et al. 2013, algorithm 1): voxels, nodes, shape functions,
// samples, mass, surface, and a report. In: a label grid or closed surfaces, a table of tissues, a
// number of nodes. Out: a frame body in the world.
//
// The highest frequency is found as the smallest of the inverse problem M phi = mu (K + s M) phi,
// mu = 1 / (omega^2 + s), so that the solver of the lowest modes serves both ends. Cost: that of
// the frame body, and two small eigenproblems.
#include "sinew/autorig.h"

#include "dynamics/world.h"
#include "frame/body/frame_body.h"
#include "linalg/modes.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

sinew_autorig_tissue sinew_default_autorig_tissue(void) {
    return (sinew_autorig_tissue){.label = 1, .material = sinew_default_material_def()};
}

sinew_autorig_def sinew_default_autorig_def(void) {
    sinew_autorig_def def = {.grid = sinew_default_voxel_def(),
                             .placement = sinew_default_placement_def(),
                             .kind = SINEW_NODE_AUTO,
                             .weights = sinew_default_weights_def(),
                             .sampling = sinew_default_sampling_def(),
                             .filled = SN_DEF_FILLED};
    def.placement.kind = SINEW_PLACEMENT_AUTO;
    def.placement.count = 0;
    def.weights.kind = SINEW_WEIGHTS_AUTO;
    def.weights.adopt_unreached = true;

    return def;
}

// The tables that the frame body takes, and its nodes.
typedef struct tables {
    sinew_tissue *tissues;
    sinew_material_def *materials;
    int32_t *labels;
    double *positions;
    sinew_frame_node *nodes;
} tables;

static sinew_status push_tissues(sinew_context *context, const sinew_autorig_def *def,
                                 sn_arena *arena, tables *t) {
    t->tissues = SN_PUSH(arena, sinew_tissue, def->tissue_count);
    t->materials = SN_PUSH(arena, sinew_material_def, def->tissue_count);
    t->labels = SN_PUSH(arena, int32_t, def->tissue_count);
    SN_TRY(sn_arena_status(arena));

    for (int32_t i = 0; i < def->tissue_count; i++) {
        const sinew_autorig_tissue *tissue = &def->tissues[i];
        SN_TRY(sinew_check_material(context, &tissue->material));
        t->tissues[i] = sinew_default_tissue();
        t->tissues[i].label = t->labels[i] = tissue->label;
        t->tissues[i].young = sinew_material_get_young(&tissue->material);
        t->tissues[i].density = tissue->material.density;
        t->tissues[i].rigid = tissue->rigid;
        t->materials[i] = tissue->material;
    }

    return SINEW_OK;
}

static bool is_rigid(const sinew_autorig_def *def, int32_t label) {
    for (int32_t i = 0; i < def->tissue_count; i++) {
        if (def->tissues[i].label == label) {
            return def->tissues[i].rigid;
        }
    }
    return false;
}

// Fills in what the definition leaves automatic.
static sinew_status choose(sinew_context *context, const sinew_voxels *voxels, const tables *t,
                           sinew_autorig_def *def, sinew_frame_choice *choice) {
    *choice = sinew_default_frame_choice();
    choice->weights = def->weights.kind;
    choice->placement = def->placement.kind;
    choice->kind = def->kind;
    choice->blend = def->blend;
    choice->count = def->placement.count > 0 ? def->placement.count : 0;
    choice->fixed_count = def->placement.fixed_count > 0 ? def->placement.fixed_count : 0;
    SN_TRY(sinew_choose_frames(context, voxels, t->tissues, def->tissue_count, choice));

    def->weights.kind = choice->weights;
    def->placement.kind = choice->placement;
    def->placement.count = def->placement.count == 0 ? choice->count : def->placement.count;
    def->kind = choice->kind;
    return SINEW_OK;
}

static sinew_status check_tissues(sinew_context *context, const sinew_autorig_def *def) {
    if (def->tissue_count < 0 || (def->tissue_count > 0 && !def->tissues)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "tissue_count is %d and tissues %s; valid are tables of at least 0 tissues",
                       def->tissue_count, def->tissues ? "is given" : "is NULL");
    }
    return SINEW_OK;
}

sinew_status sinew_autorig_resolve(sinew_context *context, sinew_autorig_def *def) {
    SN_NEED(NULL, context);
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_autorig_def"));
    SN_NEED(context, def->voxels);
    SN_TRY(check_tissues(context, def));

    tables t = {0};
    sinew_frame_choice choice;
    sn_arena arena = sn_arena_create(context);
    sinew_status status = push_tissues(context, def, &arena, &t);
    if (status == SINEW_OK) {
        status = choose(context, def->voxels, &t, def, &choice);
    }
    sn_arena_destroy(&arena);
    return status;
}

static sinew_status place_nodes(sinew_context *context, const sinew_autorig_def *def,
                                const sinew_voxels *voxels, sn_arena *arena, tables *t,
                                int32_t *rigid_count) {
    int32_t count = def->placement.count > 0 ? def->placement.count : 0;
    t->positions = SN_PUSH(arena, double, 3 * (size_t)count);
    t->nodes = SN_PUSH(arena, sinew_frame_node, count);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(sinew_place_nodes(context, voxels, t->tissues, def->tissue_count, &def->placement,
                             t->positions, NULL));
    *rigid_count = 0;

    for (int32_t i = 0; i < count; i++) {
        int32_t near[8];
        sn_vec3 p = sn_load3(t->positions + 3 * (size_t)i);
        bool rigid = sn_nearest_voxels(voxels, p, INFINITY, near, NULL) > 0 &&
                     is_rigid(def, voxels->label[near[0]]);
        t->nodes[i].kind = rigid ? SINEW_NODE_RIGID : def->kind;
        sn_store3(t->nodes[i].position, p);
        *rigid_count += rigid;
    }

    return SINEW_OK;
}

// --- the report

// Shares of the volume in which a node has the largest weight, and the mean distance from it.
static sinew_status report_coverage(const sn_shape *shape, sn_arena *arena,
                                    sinew_autorig_report *report) {
    const sn_weight_table *table = &shape->table;
    int32_t *voxels = SN_PUSH(arena, int32_t, shape->node_count);

    SN_TRY(sn_arena_status(arena));
    double distance = 0;
    for (int32_t v = 0; v < shape->voxels->count; v++) {
        // The node with the largest weight at the voxel.
        int64_t best = table->start[v];
        for (int64_t k = best + 1; k < table->start[v + 1]; k++) {
            if (table->weight[k] > table->weight[best]) {
                best = k;
            }
        }

        int32_t node = table->node[best];
        voxels[node]++;
        distance += sn_distance(sn_voxel_center(shape->voxels, v),
                                sn_load3(shape->node_position + 3 * (size_t)node));
    }

    // Smallest, largest and mean share.
    report->coverage[0] = INFINITY;
    for (int32_t i = 0; i < shape->node_count; i++) {
        double share = (double)voxels[i] / shape->voxels->count;
        report->coverage[0] = fmin(report->coverage[0], share);
        report->coverage[1] = fmax(report->coverage[1], share);
    }

    report->coverage_mean = 1.0 / shape->node_count;
    report->reach = distance / shape->voxels->count;

    return SINEW_OK;
}

// `factor` is from the modulus of the metric to that of the material.
static void report_stiffness(const sn_shape *shape, double factor, sinew_autorig_report *report) {
    const sinew_voxels *voxels = shape->voxels;
    double least = INFINITY, most = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        if (shape->rigid[voxels->label[v]]) {
            continue;
        }
        double E = factor * shape->young[voxels->label[v]] * sn_voxel_stiffness(voxels, v);
        least = fmin(least, E);
        most = fmax(most, E);
    }

    report->young[0] = most > 0 ? least : 0;
    report->young[1] = most;
}

// The highest omega^2 of the body at rest.
static sinew_status highest_mode(sinew_body *body, sn_arena *arena, double *omega_squared) {
    sinew_context *context = body->context;
    double *K = sn_bsr_push_values(arena, &body->pattern);
    double *M = sn_bsr_push_values(arena, &body->pattern);
    double *shape = SN_PUSH(arena, double, sn_body_size(body));
    double mean = 0;
    double mu;
    *omega_squared = 0;

    SN_TRY(sn_arena_status(arena));

    // K and M at rest.
    sn_evaluation evaluation = {.q = body->rest, .matrix = K};

    body->ops->elasticity.evaluate(body, &evaluation);
    sn_body_add_mass(body, &body->pattern, M, 1, body->rest);

    // A typical omega^2, from the diagonals.
    for (int32_t row = 0; row < body->rows; row++) {
        size_t place = 9 * (size_t)body->pattern.diagonal[row];
        for (size_t k = 0; k < 3; k++) {
            if (!(M[place + 4 * k] > 0)) {
                return sn_fail(context, SINEW_INVALID_ARGUMENT,
                               "row %d of body \"%s\" has no mass: quadratic and compliant frames "
                               "need a solid of at least two layers of voxels along each axis",
                               row, body->name);
            }
            mean += K[place + 4 * k] / M[place + 4 * k] / sn_body_size(body);
        }
    }

    if (!(mean > 0)) {
        return SINEW_OK; // a single rigid frame
    }

    // The largest omega^2 of (K, M) is the smallest mu of M x = mu (K + shift M) x; the shift makes
    // K + shift M positive definite although rigid motions have no stiffness.
    double shift = 1e-3 * mean;
    sn_body_add_mass(body, &body->pattern, K, shift, body->rest);
    sn_bsr_mirror(context, &body->pattern, K);
    sn_bsr_mirror(context, &body->pattern, M);

    sn_modes_def def = {.pattern = &body->pattern,
                        .stiffness = M,
                        .consistent_mass = K,
                        .count = 1,
                        .tolerance = 1e-6};
    sn_modes_report ignored;

    SN_TRY(sn_modes_compute(context, &def, &mu, shape, &ignored));
    *omega_squared = mu > 0 ? fmax(1 / mu - shift, 0) : 0;

    return SINEW_OK;
}

static sinew_status report_frequencies(sinew_body *body, sn_arena *arena,
                                       sinew_autorig_report *report) {
    int32_t *parts, part_count;
    SN_TRY(
        sn_voxel_parts(sn_frame_model_of(body)->shape->voxels, arena, NULL, &parts, &part_count));

    int32_t rigid = 6 * part_count; // motions without frequency: each part floats by itself
    double *frequencies = SN_PUSH(arena, double, rigid + 1);
    double highest;

    SN_TRY(sn_arena_status(arena));

    // Without any stiffness there is nothing to resolve: a step for pictures.
    report->advised_step = 1.0 / 30;
    SN_TRY(highest_mode(body, arena, &highest));
    if (!(highest > 0) || sn_body_size(body) <= rigid + 1) {
        return SINEW_OK;
    }

    // The lowest frequency is the first after the rigid motions.
    SN_TRY(sinew_body_compute_modes(body, rigid + 1, frequencies, NULL));
    report->frequency[0] = frequencies[rigid];
    report->frequency[1] = sqrt(highest) / (2 * pi);
    report->stable_step = 1 / (pi * report->frequency[1]);

    if (!(report->frequency[0] > 0)) {
        return SINEW_OK; // frames that no strain holds
    }

    // Thirty steps for each period of the lowest mode.
    report->condition = pow(report->frequency[1] / report->frequency[0], 2);
    report->advised_step = fmin(report->advised_step, 1 / (30 * report->frequency[0]));

    return SINEW_OK;
}

static sinew_status fill_report(sinew_body *body, const sinew_autorig_def *def,
                                sinew_autorig_report *report) {
    const sn_frame_model *model = sn_frame_model_of(body);

    // Without a table the metric, in which only ratios count, has a modulus of its own.
    double factor = def->tissue_count > 0
                        ? 1
                        : sinew_default_material_def().young / sinew_default_tissue().young;

    report->voxel_count = model->shape->voxels->count;
    report->unknown_count = sn_body_size(body);
    report->volume = model->base_samples->report.volume;
    report->mass = model->base_samples->report.mass;
    report->weights = model->shape->report;
    report->sampling = model->base_samples->report;
    report_stiffness(model->shape, factor, report);

    sn_arena arena = sn_arena_create(body->context);
    sinew_status status = report_coverage(model->shape, &arena, report);
    if (status == SINEW_OK) {
        status = report_frequencies(body, &arena, report);
    }

    sn_arena_destroy(&arena);
    return status;
}

// --- the call

static sinew_status make_body(sinew_world *world, const sinew_autorig_def *given,
                              const sinew_voxels *voxels, sn_arena *arena,
                              sinew_autorig_report *report, sinew_body **body) {
    tables t = {0};
    sinew_autorig_def resolved = *given;
    const sinew_autorig_def *def = &resolved;
    SN_TRY(push_tissues(world->context, def, arena, &t));
    SN_TRY(choose(world->context, voxels, &t, &resolved, &report->chosen));
    SN_TRY(place_nodes(world->context, def, voxels, arena, &t, &report->rigid_node_count));

    sinew_frame_body_def body_def = sinew_default_frame_body_def();
    body_def.name = def->name;
    body_def.voxels = voxels;
    body_def.tissues = t.tissues;
    body_def.tissue_count = body_def.material_count = def->tissue_count;
    body_def.materials = t.materials;
    body_def.material_labels = t.labels;
    body_def.nodes = t.nodes;
    body_def.node_count = def->placement.count;
    body_def.blend = def->blend;
    body_def.weights = def->weights;
    body_def.sampling = def->sampling;
    body_def.surface = def->surface;
    body_def.mass_damping = def->mass_damping;
    body_def.stiffness_damping = def->stiffness_damping;

    return sinew_frame_body_create(world, &body_def, body);
}

sinew_status sinew_autorig_create(sinew_world *world, const sinew_autorig_def *def,
                                  sinew_autorig_report *report, sinew_body **out) {
    SN_NEED(NULL, world);

    sinew_context *context = world->context;
    sinew_autorig_report made = {0};

    // Check what the definitions of voxels and of the body do not.
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_autorig_def"));
    SN_TRY(check_tissues(context, def));
    if (!def->voxels == (def->surface_count < 1)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a solid is given by voxels or by surfaces, of which there are %d",
                       def->surface_count);
    }

    if (def->kind < SINEW_NODE_RIGID || def->kind > SINEW_NODE_AUTO) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "nodes of kind %d; valid are %d (rigid) to %d (automatic): between points "
                       "alone a solid falls flat",
                       (int)def->kind, SINEW_NODE_RIGID, SINEW_NODE_AUTO);
    }

    // Voxels that are made here belong to the body.
    sinew_voxels *own = NULL;
    if (!def->voxels) {
        SN_TRY(sinew_voxels_create_from_surfaces(context, def->surfaces, def->surface_count,
                                                 &def->grid, &own, &made.voxels));
    }

    sinew_body *body = NULL;
    sn_arena arena = sn_arena_create(context);
    sinew_status status = make_body(world, def, own ? own : def->voxels, &arena, &made, &body);

    sn_arena_destroy(&arena);
    if (status != SINEW_OK) {
        sinew_voxels_destroy(own);
        return status;
    }

    sn_frame_model_of(body)->own_voxels = own;

    // The report needs the body in its world.
    if (report) {
        status = fill_report(body, def, &made);
    }
    if (status != SINEW_OK) { // the newest body: nothing refers to it yet
        world->body_count--;

        sn_world_forget_islands(world);
        sn_body_destroy(body);
        return status;
    }

    if (report) {
        *report = made;
    }
    if (out) {
        *out = body;
    }

    return SINEW_OK;
}
