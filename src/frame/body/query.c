// Reading frames, forces at points, the surface.
#include "frame/body/frame_body.h"

#include "base/threads.h"
#include "math/quat.h"

#include <math.h>
#include <string.h>

int32_t sinew_frame_body_get_node_count(const sinew_body *body) {
    const sn_frame_model *model = sn_frame_model_of(body);
    return model ? model->nodes.count : 0;
}

sinew_status sinew_frame_body_get_rest(const sinew_body *body, int32_t index, double rest[3]) {
    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));
    sn_store3(rest, node->origin);
    return SINEW_OK;
}

sinew_status sinew_frame_body_get_node(const sinew_body *body, int32_t index, double position[3],
                                       double rotation[4]) {
    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));
    if (position) {
        memcpy(position, sn_node_translation(node, body->q), 3 * sizeof *position);
    }

    if (rotation) {
        sn_quat q = sn_node_rotation(node, body->q);
        rotation[0] = q.x;
        rotation[1] = q.y;
        rotation[2] = q.z;
        rotation[3] = q.w;
    }

    return SINEW_OK;
}

sinew_status sinew_frame_body_get_matrix(const sinew_body *body, int32_t index, double matrix[9]) {
    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));
    sn_mat3 A = sn_node_matrix(node, body->q);
    memcpy(matrix, A.m, sizeof A.m);
    return SINEW_OK;
}

static sn_frame_model *checked_model(const sinew_body *body, const double point[3],
                                     sinew_status *status) {
    sn_frame_model *model = sn_frame_model_of(body);
    *status = SINEW_OK;
    if (!model) {
        *status =
            sn_fail(body->context, SINEW_INVALID_ARGUMENT, "body \"%s\" has no frames", body->name);
    }

    if (model && !sn_finite3(sn_load3(point))) {
        *status = sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                          "the point (%g, %g, %g) is not finite", point[0], point[1], point[2]);
    }

    return model;
}

sinew_status sinew_frame_body_add_force(sinew_body *body, const double point[3],
                                        const double force[3]) {
    sinew_status status;
    const sn_frame_model *model = checked_model(body, point, &status);

    SN_TRY(status);
    sn_shape_point at;

    sn_frame_weights_at(model, sn_load3(point), &at);
    sn_blend_prepare(&model->nodes, &model->blend, body->q);

    sn_blend_point at_point = {
        .X = sn_load3(point),
        .count = at.count,
        .node = at.node,
        .weight = at.weight,
        .off = sn_fade_offset_at(&model->fade, model->shape, *body->age, sn_load3(point))};

    sn_blend_add_force(&model->nodes, &model->blend, &at_point, sn_load3(force), body->applied);
    return SINEW_OK;
}

void sinew_frame_body_clear_forces(sinew_body *body) {
    memset(body->applied, 0, (size_t)sn_body_size(body) * sizeof(double));
}

const sinew_mesh *sinew_frame_body_get_surface(const sinew_body *body) {
    const sn_frame_model *model = sn_frame_model_of(body);
    return model ? model->surface : NULL;
}

enum { MOST_MAPS = 128 };

typedef struct surface_job {
    const sn_frame_model *model;
    const double *rest;
    const sn_vertex_weights *weights;
    double *positions;
    sn_surface_fn *kernel; // NULL: nodes that are no maps of the rest point, or too many
    const double *maps;
} surface_job;

// A node as an affine map of the rest point: columns of x = m[0] + X m[1] + Y m[2] + Z m[3].
static void find_linear_map(const sn_node *node, const double *controls, double *map) {
    sn_vec3 base = sn_load3(controls);
    sn_vec3 o = node->origin;

    base = sn_madd(base, -o.x, sn_load3(controls + 3));
    base = sn_madd(base, -o.y, sn_load3(controls + 6));
    base = sn_madd(base, -o.z, sn_load3(controls + 9));
    memset(map, 0, SN_SURFACE_LINEAR * sizeof *map);
    sn_store3(map, base);

    for (int c = 1; c < 4; c++) {
        memcpy(map + 4 * c, controls + 3 * c, 3 * sizeof *map);
    }
}

// A rigid node as a dual quaternion: q, and T q / 2 with x = R X + T.
static void find_dual_map(const double *table, double *map) {
    sn_quat q = {table[0], table[1], table[2], table[3]};
    sn_vec3 T = sn_sub(sn_load3(table + SN_RIGID_TRANSLATION),
                       sn_quat_rotate(q, sn_load3(table + SN_RIGID_ORIGIN)));
    sn_quat r = sn_quat_mul((sn_quat){0.5 * T.x, 0.5 * T.y, 0.5 * T.z, 0}, q);
    memcpy(map, table, 4 * sizeof *map);
    map[4] = r.x;
    map[5] = r.y;
    map[6] = r.z;
    map[7] = r.w;
}

// The maps of all nodes; false if some node is none.
static bool find_maps(const sn_frame_model *model, double *maps) {
    const sn_nodes *nodes = &model->nodes;
    if (nodes->count > MOST_MAPS) {
        return false;
    }

    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        if (model->dual) {
            find_dual_map(model->blend.rigid.table + (size_t)i * SN_RIGID_TABLE,
                          maps + (size_t)i * SN_SURFACE_DUAL);
        } else if (node->control_count == 4) {
            find_linear_map(node, model->blend.controls + 3 * (size_t)node->control,
                            maps + (size_t)i * SN_SURFACE_LINEAR);
        } else {
            return false;
        }
    }

    return true;
}

static void compute_vertices(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const surface_job *job = data;
    const sn_frame_model *model = job->model;
    const sn_vertex_weights *v = job->weights;

    if (job->kernel) {
        job->kernel(job->positions, &(sn_surface_points){job->rest, v->start, v->node, v->weight},
                    job->maps, begin, end);
        return;
    }

    for (int32_t i = begin; i < end; i++) {
        sn_blend_point point = {.X = sn_load3(job->rest + 3 * (size_t)i),
                                .count = v->start[i + 1] - v->start[i],
                                .node = v->node + v->start[i],
                                .weight = v->weight + v->start[i]};
        sn_store3(job->positions + 3 * (size_t)i,
                  sn_blend_get_position(&model->nodes, &model->blend, &point));
    }
}

// Vertices that inserted nodes move as well.
static void move_patch(const sinew_body *body, const surface_job *whole, double *positions) {
    const sn_vertex_patch *patch = whole->model->patch;
    surface_job job = *whole;

    job.rest = patch->rest;
    job.weights = &patch->weights;
    job.positions = patch->position;
    sn_parallel_for(body->context, patch->count, 1024, compute_vertices, &job);

    for (int32_t k = 0; k < patch->count; k++) {
        memcpy(positions + 3 * (size_t)patch->vertex[k], patch->position + 3 * (size_t)k,
               3 * sizeof *positions);
    }
}

void sinew_frame_body_compute_surface(const sinew_body *body, double *positions) {
    const sn_frame_model *model = sn_frame_model_of(body);
    if (!model) {
        return;
    }

    sn_blend_prepare(&model->nodes, &model->blend, body->q);
    double maps[MOST_MAPS * SN_SURFACE_LINEAR] SN_ALIGNED;

    sn_isa isa = body->context->isa;
    surface_job job = {.model = model,
                       .rest = model->surface->points,
                       .weights = &model->base_vertices,
                       .positions = positions,
                       .maps = maps};

    if (find_maps(model, maps)) {
        job.kernel =
            model->dual ? SN_ISA_PICK(isa, sn_surface_dual) : SN_ISA_PICK(isa, sn_surface_linear);
    }

    sn_parallel_for(body->context, model->surface->point_count, 1024, compute_vertices, &job);
    if (model->patch) {
        move_patch(body, &job, positions);
    }

    sn_fade_move_vertices(&model->fade, &model->nodes, &model->blend, *body->age, positions);
}

sinew_status sinew_frame_body_get_point(const sinew_body *body, const double rest[3],
                                        double position[3]) {
    sinew_status status;
    const sn_frame_model *model = checked_model(body, rest, &status);
    SN_TRY(status);
    sn_blend_prepare(&model->nodes, &model->blend, body->q);
    sn_store3(position, sn_frame_motion_at(body, sn_load3(rest), NULL).x);
    return SINEW_OK;
}

sinew_status sinew_frame_body_find_point(const sinew_body *body, const double position[3],
                                         double rest[3], int32_t *iterations) {
    sinew_status status;
    const sn_frame_model *model = checked_model(body, position, &status);

    SN_TRY(status);
    const double *h = model->shape->voxels->spacing;
    sn_vec3 X;
    int32_t count;

    if (!sn_frame_find_point(body, sn_load3(position), 1e-9 * fmin(h[0], fmin(h[1], h[2])), &X,
                             &count)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "no point of body \"%s\" is at (%g, %g, %g) m", body->name, position[0],
                       position[1], position[2]);
    }

    sn_store3(rest, X);
    if (iterations) {
        *iterations = count;
    }

    return SINEW_OK;
}

sinew_status sinew_frame_body_get_weights(const sinew_body *body, const double rest[3],
                                          double *weights) {
    sinew_status status;
    const sn_frame_model *model = checked_model(body, rest, &status);

    SN_TRY(status);
    sn_shape_point at;

    sn_frame_weights_at(model, sn_load3(rest), &at);
    memset(weights, 0, (size_t)model->nodes.count * sizeof *weights);

    for (int32_t k = 0; k < at.count; k++) {
        weights[at.node[k]] = at.weight[k];
    }

    return SINEW_OK;
}

sinew_status sinew_frame_body_get_report(const sinew_body *body, sinew_weights_report *weights,
                                         sinew_sampling_report *sampling) {
    const sn_frame_model *model = sn_frame_model_of(body);
    if (!model) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "body \"%s\" has no frames",
                       body->name);
    }

    if (weights) {
        *weights = model->shape->report;
    }
    if (sampling) {
        *sampling = model->layers.items[0]->points->report;
    }

    return SINEW_OK;
}

sinew_status sinew_frame_body_get_last_change(const sinew_body *body, sinew_frame_change *change) {
    const sn_frame_model *model = sn_frame_model_of(body);
    if (!model) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "body \"%s\" has no frames",
                       body->name);
    }

    *change = model->last_change;
    return SINEW_OK;
}

sinew_status sinew_frame_body_get_springs(const sinew_body *body, int32_t *count,
                                          double *difference) {
    const sn_frame_model *model = sn_frame_model_of(body);
    if (!model || !model->springs) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "body \"%s\" has no springs between frames", body->name);
    }

    if (count) {
        *count = model->springs->count;
    }
    if (difference) {
        *difference = model->springs->difference;
    }

    return SINEW_OK;
}
