// Positions and velocities of points of a frame body, and strain and stress there.
//
// Motions are those of the body's blend (frame/blend/blend_point.c). The stress is that of the
// material at the point's voxel, its stiffness scaled by the voxel's factor.
#include "frame/body/state.h"

#include "base/threads.h"
#include "body/sample_groups.h"
#include "frame/body/frame_body.h"
#include "geom/voxel/voxel.h"

#include <math.h>
#include <string.h>

int32_t sn_frame_material_of_voxel(const sn_frame_model *model, int32_t voxel) {
    if (!model->material_labels) {
        return 0;
    }

    int32_t label = model->shape->voxels->label[voxel];
    for (int32_t i = 0; i < model->material_count; i++) {
        if (model->material_labels[i] == label) {
            return i;
        }
    }
    return 0;
}

static void look_up_material(const sn_frame_model *model, sn_vec3 X, int32_t *material,
                             double *stiffness) {
    const sinew_voxels *voxels = model->shape->voxels;
    int32_t nearest[8];
    double distance;
    int32_t count = sn_nearest_voxels(voxels, X, INFINITY, nearest, &distance);
    *material = count > 0 ? sn_frame_material_of_voxel(model, nearest[0]) : 0;
    *stiffness = count > 0 ? sn_voxel_stiffness(voxels, nearest[0]) : 1;
}

// Two passes: count the entries, then fill them in.
static sinew_status fill_points(sn_arena *arena, sn_shape_point *at, const sn_frame_model *model,
                                sn_frame_points *points) {
    // Count the entries of each point.
    for (int32_t i = 0; i < points->count; i++) {
        sn_frame_weights_at(model, sn_load3(sn_at3(points->rest, i)), at);
        points->start[i + 1] = points->start[i] + at->count;
    }

    size_t entries = (size_t)points->start[points->count];
    points->node = SN_PUSH(arena, int32_t, entries);
    points->weight = SN_PUSH(arena, double, entries);
    points->gradient = sn_arena_push(arena, entries, sizeof *points->gradient);
    SN_TRY(sn_arena_status(arena));

    // Fill them in.
    for (int32_t i = 0; i < points->count; i++) {
        sn_vec3 X = sn_load3(sn_at3(points->rest, i));
        sn_frame_weights_at(model, X, at);

        size_t first = (size_t)points->start[i];
        size_t many = (size_t)at->count;

        memcpy(points->node + first, at->node, many * sizeof *at->node);
        memcpy(points->weight + first, at->weight, many * sizeof *at->weight);
        memcpy(points->gradient + first, at->gradient, many * sizeof *at->gradient);
        look_up_material(model, X, &points->material[i], &points->stiffness[i]);

        int32_t events = model->fade.count;
        sn_fade_find_offsets(&model->fade, model->shape, X,
                             points->offset + (size_t)i * (size_t)events);
    }

    return SINEW_OK;
}

sinew_status sn_frame_points_create(sn_arena *arena, const sinew_body *body, const double *rest,
                                    int32_t count, sn_frame_points *points) {
    const sn_frame_model *model = sn_frame_model_of(body);
    SN_ASSERT(model);
    *points = (sn_frame_points){.count = count, .rest = rest};
    points->start = SN_PUSH(arena, int32_t, count + 1);
    points->material = SN_PUSH(arena, int32_t, count);
    points->stiffness = SN_PUSH(arena, double, count);
    points->offset = SN_PUSH(arena, sn_blend_offset, (size_t)count * (size_t)model->fade.count);
    SN_TRY(sn_arena_status(arena));

    sn_shape_point *at = sn_allocate(body->context, 1, sizeof *at);
    if (!at) {
        return SINEW_OUT_OF_MEMORY;
    }

    sinew_status status = fill_points(arena, at, model, points);
    sn_release(body->context, at, 1, sizeof *at);

    return status;
}

static sn_blend_point entries_of(const sinew_body *body, const sn_frame_points *points, int32_t i) {
    const sn_fade *fade = &((const sn_frame_model *)body->model)->fade;
    int32_t start = points->start[i];

    return (sn_blend_point){
        .X = sn_load3(sn_at3(points->rest, i)),
        .count = points->start[i + 1] - start,
        .node = points->node + start,
        .weight = points->weight + start,
        .gradient = points->gradient[start],
        .off = sn_fade_sum(fade, *body->age, points->offset + (size_t)i * (size_t)fade->count)};
}

static void compute_state(const sn_frame_points *points, int32_t i, const sinew_body *body,
                          sn_mat3 F, sinew_element_state *state) {
    const sn_frame_model *model = body->model;
    sn_mat3 axes;
    if (model->field) {
        axes = sn_field_frame_at(model->field, sn_load3(sn_at3(points->rest, i)));
    }

    sn_material_get_state(&model->materials[points->material[i]], model->field ? &axes : NULL,
                          points->stiffness[i], F, body->context->isa, state);
}

typedef struct points_job {
    const sn_frame_points *points;
    const sinew_body *body;
    double *positions, *velocities;
    sinew_element_state *states;
} points_job;

static void compute_points(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const points_job *job = data;
    const sn_frame_model *model = job->body->model;

    for (int32_t i = begin; i < end; i++) {
        sn_blend_point point = entries_of(job->body, job->points, i);
        sn_frame_motion motion =
            sn_blend_get_motion(&model->nodes, &model->blend, &point, job->body->v);
        if (job->positions) {
            sn_store3(sn_at3(job->positions, i), motion.x);
        }
        if (job->velocities) {
            sn_store3(sn_at3(job->velocities, i), motion.rate);
        }
        if (job->states) {
            compute_state(job->points, i, job->body, motion.F, &job->states[i]);
        }
    }
}

void sn_frame_points_compute(const sn_frame_points *points, const sinew_body *body,
                             double *positions, double *velocities, sinew_element_state *states) {
    const sn_frame_model *model = sn_frame_model_of(body);
    SN_ASSERT(model && points->count >= 0);
    sn_blend_prepare(&model->nodes, &model->blend, body->q);
    points_job job = {points, body, positions, velocities, states};
    sn_parallel_for(body->context, points->count, 256, compute_points, &job);
}
