// Construction of a frame body: first every check, then shape functions, base samples and surface.
// The rest depends on the nodes and is built by structure.c.
#include "frame/body/frame_body.h"

#include <math.h>
#include <string.h>

enum {
    SMOOTHING = 10, // sweeps over the boundary of the voxels: steps are gone, the volume is kept
    POINT_BLOCKS = 1000 // of voxels, from which sample points are chosen
};

sinew_frame_body_def sinew_default_frame_body_def(void) {
    return (sinew_frame_body_def){.filled = SN_DEF_FILLED,
                                  .weights = sinew_default_weights_def(),
                                  .sampling = sinew_default_sampling_def(),
                                  .assumed_strain = true,
                                  .rotation = {0, 0, 0, 1}};
}

static sinew_status check_def(sinew_context *context, const sinew_frame_body_def *def) {
    // The solid and its frames.
    if (!def->voxels) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a frame body needs voxels");
    }
    if (!def->nodes || def->node_count < 1) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a frame body needs at least one frame");
    }

    for (int32_t i = 0; i < def->node_count; i++) {
        if ((int)def->nodes[i].kind < 0 || def->nodes[i].kind > SINEW_NODE_COMPLIANT ||
            !sn_finite3(sn_load3(def->nodes[i].position))) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "frame %d has a bad kind (%d) or a position that is not finite", i,
                           (int)def->nodes[i].kind);
        }
    }

    // Materials, damping and position.
    if (def->material_count > 1 && !def->material_labels) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%d materials need material_labels",
                       def->material_count);
    }

    for (int32_t i = 0; i < def->material_count; i++) {
        SN_TRY(sinew_check_material(context, &def->materials[i]));
    }

    if (!(def->mass_damping >= 0 && isfinite(def->mass_damping)) ||
        !(def->stiffness_damping >= 0 && isfinite(def->stiffness_damping))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "damping is %g 1/s and %g s; both must be finite and not negative",
                       def->mass_damping, def->stiffness_damping);
    }

    SN_TRY(sn_frame_body_check_placement(context, def));

    // Dual quaternions and springs are defined for rigid frames only.
    if ((int)def->blend < 0 || def->blend > SINEW_BLEND_DUAL_QUATERNION) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "blend is %d; valid are 0 and 1",
                       (int)def->blend);
    }

    bool dual = def->blend == SINEW_BLEND_DUAL_QUATERNION;
    if (dual) {
        for (int32_t i = 0; i < def->node_count; i++) {
            if (def->nodes[i].kind == SINEW_NODE_RIGID) {
                continue;
            }
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "frame %d is not rigid: dual quaternions blend rigid frames only", i);
        }
    }

    if (def->springs) {
        for (int32_t i = 0; i < def->node_count; i++) {
            if (def->nodes[i].kind == SINEW_NODE_RIGID) {
                continue;
            }

            return sn_fail(
                context, SINEW_INVALID_ARGUMENT,
                "springs join rigid frames, and frame %d is none: make all frames rigid, "
                "or leave the springs out",
                i);
        }
    }

    if (def->springs) {
        for (int32_t i = 0; i < def->material_count; i++) {
            SN_TRY(sn_frame_body_check_fibres(context, def->materials[i].fibre_stress));
        }
    }

    // Mass, and weights that linear blending can use.
    if ((int)def->mass < 0 || def->mass > SINEW_FRAME_MASS_DIAGONAL) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "mass is %d; valid are 0 to %d",
                       (int)def->mass, (int)SINEW_FRAME_MASS_DIAGONAL);
    }

    if (!def->weights.normalize && !dual) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "linear blending needs weights that sum to 1 (normalize)");
    }

    return SINEW_OK;
}

static bool all_rigid(const sinew_frame_body_def *def) {
    for (int32_t i = 0; i < def->node_count; i++) {
        if (def->nodes[i].kind != SINEW_NODE_RIGID) {
            return false;
        }
    }
    return true;
}

// Returns the polynomial degree of forces in a region of linear weights (Gilles et al. 2013, table
// 1.1). Laws that are not polynomials use the degree of Hooke's law, which they approach at small
// strain, and so do regions with assumed strain: their points have to fit into a block.
static int32_t force_degree(const sinew_frame_body_def *def, bool assumed) {
    bool quadratic = false, green = false;
    for (int32_t i = 0; i < def->node_count; i++) {
        quadratic = quadratic || def->nodes[i].kind >= SINEW_NODE_QUADRATIC;
        assumed = assumed && def->nodes[i].kind == SINEW_NODE_AFFINE;
    }

    for (int32_t i = 0; i < def->material_count; i++) {
        const sinew_material_def *m = &def->materials[i];
        bool hooke = m->law == SINEW_MATERIAL_HOOKE || m->law == SINEW_MATERIAL_ORTHOTROPIC ||
                     m->law == SINEW_MATERIAL_TRANSVERSE;
        green = green || (hooke && m->strain == SINEW_STRAIN_GREEN);
    }

    return quadratic || (green && !assumed) ? 4 : 2;
}

// Computes compliance coordinates if a node needs them.
static sinew_status build_compliance(sinew_body *body, const sinew_frame_body_def *def) {
    sn_frame_model *model = body->model;
    int32_t first = -1;
    for (int32_t i = def->node_count - 1; i >= 0; i--) {
        first = def->nodes[i].kind == SINEW_NODE_COMPLIANT ? i : first;
    }
    if (first < 0) {
        return SINEW_OK;
    }

    if (!sn_shape_is_smooth(model->shape)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "frame %d is compliant, which needs spectral weights; with other weights "
                       "quadratic frames are the most that is valid",
                       first);
    }
    return sn_shape_build_compliance(model->shape);
}

// Chooses the points that the nodes need from many candidates.
static sinew_status build_points(sinew_body *body, const sinew_frame_body_def *def,
                                 const sinew_sampling_def *sampling) {
    sn_frame_model *model = body->model;
    sn_frame_samples *candidates = NULL;

    // Many candidates, from which the cubature keeps a few with new volumes.
    SN_TRY(sn_point_candidates(model->shape, POINT_BLOCKS, &candidates));

    sn_arena scratch = sn_arena_create(body->context);
    double *volume = SN_PUSH(&scratch, double, candidates->count);
    sn_blend_materials materials = {
        .defs = def->materials, .count = def->material_count, .labels = def->material_labels};
    sn_nodes nodes;
    double error = 0;

    // The cubature needs the nodes with the rest positions of the shape.
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        status = sn_nodes_create(&scratch, def->nodes, def->node_count, &nodes);
    }
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < def->node_count; i++) {
            nodes.items[i].origin = sn_load3(sn_at3(model->shape->node_position, i));
            nodes.items[i].compliance = model->shape->compliance;
        }
    }

    if (status == SINEW_OK) {
        sn_cubature_def cubature = {sampling->energy_error, sampling->count};
        status = sn_cubature_select(model->shape, &nodes, &materials, candidates, &cubature,
                                    &body->arena, volume, &model->held, &error);
    }
    if (status == SINEW_OK) {
        status = sn_point_samples(model->shape, candidates, volume, &model->base_samples);
    }
    if (status == SINEW_OK) {
        model->base_samples->report.energy_error = error;
        body->rest_volume = model->base_samples->report.volume;
    }

    sn_samples_destroy(candidates);
    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status build_shape(sinew_body *body, const sinew_frame_body_def *def) {
    sn_frame_model *model = body->model;
    double *positions = SN_PUSH(&body->arena, double, 3 * (size_t)def->node_count);

    SN_TRY(sn_arena_status(&body->arena));
    for (int32_t i = 0; i < def->node_count; i++) {
        memcpy(positions + 3 * i, def->nodes[i].position, 3 * sizeof *positions);
    }

    // Weights of the nodes over the voxels.
    SN_TRY(sn_shape_create(body->context, def->voxels, def->tissues, def->tissue_count, positions,
                           def->node_count, &def->weights, &model->shape));

    sinew_sampling_def sampling = def->sampling;
    SN_TRY(build_compliance(body, def));

    // Smooth weights are integrated at chosen points, others region by region.
    bool smooth = sn_shape_is_smooth(model->shape);
    if (sampling.kind == SINEW_SAMPLING_AUTO) {
        sampling.kind = smooth ? SINEW_SAMPLING_POINTS : SINEW_SAMPLING_REGIONS;
    }
    if (sampling.degree == -1) {
        sampling.degree = force_degree(def, model->assumed);
    }

    if (sampling.kind == SINEW_SAMPLING_POINTS) {
        SN_TRY(sn_sampling_check(model->shape, &sampling));
        return build_points(body, def, &sampling);
    }

    SN_TRY(sn_samples_create(model->shape, &sampling, &model->base_samples));
    if (model->base_samples->degree > 1) {
        SN_TRY(sn_quadrature_create(&body->arena, model->shape, model->base_samples,
                                    &model->quadrature));
        if (model->assumed && def->weights.kind == SINEW_WEIGHTS_AXIS_LINEAR && all_rigid(def)) {
            sn_quadrature_flatten(model->base_samples, &model->quadrature);
        }
    }

    body->rest_volume = model->base_samples->report.volume;
    return SINEW_OK;
}

static sinew_status build_surface(sinew_body *body, const sinew_frame_body_def *def) {
    sn_frame_model *model = body->model;
    if (def->surface) {
        SN_TRY(sinew_mesh_copy(body->context, def->surface, &body->surface));
    } else {
        SN_TRY(sinew_voxels_create_surface(def->voxels, SMOOTHING, &body->surface));
    }

    model->surface = body->surface;
    return sn_shape_compute_vertices(model->shape, &body->arena, model->surface->points,
                                     model->surface->point_count, &model->base_vertices);
}

static sinew_status copy_materials(sinew_body *body, const sinew_frame_body_def *def) {
    sn_frame_model *model = body->model;
    int32_t count = model->material_count = def->material_count > 0 ? def->material_count : 1;

    model->materials = SN_PUSH(&body->arena, sinew_material_def, count);
    int32_t *labels = SN_PUSH(&body->arena, int32_t, count);

    SN_TRY(sn_arena_status(&body->arena));
    for (int32_t i = 0; i < count; i++) {
        model->materials[i] =
            def->material_count > 0 ? def->materials[i] : sinew_default_material_def();
        if (def->material_labels && def->material_count > 0) {
            labels[i] = def->material_labels[i];
        }
    }

    model->material_labels = def->material_labels && def->material_count > 0 ? labels : NULL;
    model->field = def->field;

    return SINEW_OK;
}

// Weights of these kinds can be constant across a section. Others vary in all directions; that a
// region of them with two or three nodes does not is no gain (measured: 1 % of a bar's deflection).
static bool may_assume(const sinew_weights_def *weights) {
    return weights->kind == SINEW_WEIGHTS_AXIS_LINEAR ||
           weights->kind == SINEW_WEIGHTS_AXIS_CUBIC || weights->kind == SINEW_WEIGHTS_USER;
}

sinew_status sn_frame_body_build(sinew_body *body, const sinew_frame_body_def *def) {
    SN_TRY(check_def(body->context, def));
    sn_frame_model *model = body->model = SN_PUSH(&body->arena, sn_frame_model, 1);

    SN_TRY(sn_arena_status(&body->arena));
    model->arena = sn_arena_create(body->context);
    body->ops = &sn_frame_body_ops;
    body->mass_damping = def->mass_damping;
    body->stiffness_damping = def->stiffness_damping;
    model->geometric = def->geometric_stiffness;
    model->dual = def->blend == SINEW_BLEND_DUAL_QUATERNION;
    model->mass_kind = def->mass;
    model->wants_springs = def->springs;
    model->assumed = def->assumed_strain && may_assume(&def->weights);
    SN_TRY(build_shape(body, def));
    SN_TRY(copy_materials(body, def));
    SN_TRY(build_surface(body, def));
    SN_TRY(sn_frame_structure_build(body, def->nodes, def->node_count));
    SN_TRY(sn_frame_check_rank(body));
    sn_frame_body_place(body, def);

    return SINEW_OK;
}
