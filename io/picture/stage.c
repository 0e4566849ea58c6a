// Prepares a scene for drawing: transformation, flattening, normals, and the order of see-through
// objects.
#include "io/picture/stage.h"

#include "base/threads.h"
#include "io/picture/glyphs.h"
#include "io/picture/normals.h"

#include <math.h>

enum { CHUNK = 4096 };

sn_stage_view sn_stage_view_create(const sn_camera *camera, int32_t width, int32_t height) {
    sn_camera_axes axes = sn_camera_get_axes(camera);
    double distance = sn_distance(camera->eye, camera->target);

    SN_ASSERT(distance > 0 && isfinite(distance) && width > 0 && height > 0);
    return (sn_stage_view){.origin = camera->target,
                           .unit = distance,
                           .eye = sn_float3_of(axes.z),
                           .x = sn_float3_of(axes.x),
                           .y = sn_float3_of(axes.y),
                           .z = sn_float3_of(axes.z),
                           .up = sn_float3_of(camera->up),
                           .focal = 0.5 * height / tan(0.5 * camera->field),
                           .width = width,
                           .height = height};
}

sn_float3 sn_stage_point(const sn_stage_view *view, sn_vec3 p) {
    return sn_float3_of(sn_scale(1 / view->unit, sn_sub(p, view->origin)));
}

typedef struct move_job {
    sn_float3 *positions;
    const double *source;
    const sn_stage_view *view;
} move_job;

static void move_points(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const move_job *job = data;
    for (int32_t i = begin; i < end; i++) {
        job->positions[i] = sn_stage_point(job->view, sn_load3(job->source + 3 * (size_t)i));
    }
}

static sinew_status lay_out_object(sn_stage *stage, int32_t index, sn_arena *arena) {
    const sn_stage_object *object = &stage->objects[index];
    const sn_picture_mesh *mesh = &object->mesh;

    // Vertices in the camera's space, and normals at the corners.
    sn_float3 *positions = stage->positions + object->first_vertex;
    move_job job = {positions, mesh->positions, &stage->view};

    sn_parallel_for(arena->context, mesh->vertex_count, CHUNK, move_points, &job);
    float *normals = stage->normals + 9 * (size_t)object->first_triangle;

    SN_TRY(sn_compute_corner_normals(normals, &positions->x, mesh->vertex_count, mesh->triangles,
                                     mesh->triangle_count, mesh->crease_angle, arena));

    // Triangles with the numbers of the stage, and sums of normals for each vertex.
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        stage->object_of[object->first_triangle + t] = index;
        for (int i = 0; i < 3; i++) {
            int32_t vertex = object->first_vertex + mesh->triangles[3 * t + i];
            SN_ASSERT(vertex >= object->first_vertex &&
                      vertex < object->first_vertex + mesh->vertex_count);
            stage->triangles[3 * (size_t)(object->first_triangle + t) + (size_t)i] = vertex;
            const float *n = normals + 9 * (size_t)t + 3 * i;
            sn_float3 *sum = &stage->vertex_normals[vertex];
            *sum = (sn_float3){sum->x + n[0], sum->y + n[1], sum->z + n[2]};
        }
    }

    return SINEW_OK;
}

static bool is_see_through(const sn_picture_mesh *mesh) {
    return mesh->opacity < 1 || mesh->hidden_opacity > 0;
}

// The distance from the eye to the middle of an object's box, for the order of layers; infinite
// without a box.
static double middle_distance(const sn_picture_mesh *mesh, const sn_camera *camera) {
    sn_vec3 low = sn_v3(INFINITY, INFINITY, INFINITY);
    sn_vec3 high = sn_scale(-1, low);
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        sn_vec3 p = sn_load3(mesh->positions + 3 * (size_t)i);
        if (!sn_finite3(p)) {
            continue;
        }
        low = sn_min3(low, p);
        high = sn_max3(high, p);
    }

    double distance = sn_distance(camera->eye, sn_scale(0.5, sn_add(low, high)));
    return isfinite(distance) ? distance : 1e300;
}

// Glass shells from far to near, then things that show through everything, also from far to near.
static void order_layers(sn_stage *stage, const sn_camera *camera, double *distances) {
    // Distances; what shows through everything counts as closest.
    int32_t see_through = 0;
    for (int32_t i = 0; i < stage->object_count; i++) {
        const sn_picture_mesh *mesh = &stage->objects[i].mesh;
        distances[i] = middle_distance(mesh, camera) - (mesh->hidden_opacity > 0 ? 1e301 : 0);
        see_through += is_see_through(mesh);
    }

    stage->layer_count =
        1 + (see_through < SN_STAGE_MOST_LAYERS ? see_through : SN_STAGE_MOST_LAYERS);
    for (int32_t i = 0; i < stage->object_count; i++) {
        if (!is_see_through(&stage->objects[i].mesh)) {
            continue;
        }

        // The layer is the number of objects behind this one.
        int32_t layer = 1;
        for (int32_t k = 0; k < stage->object_count; k++) {
            bool before = distances[k] > distances[i] || (k < i && distances[k] == distances[i]);
            if (is_see_through(&stage->objects[k].mesh) && before) {
                layer++;
            }
        }

        SN_ASSERT(layer <= see_through);
        stage->objects[i].layer = layer < stage->layer_count ? layer : stage->layer_count - 1;
    }
}

static sinew_status count_geometry(sn_stage *stage, sinew_context *context) {
    int64_t vertices = 0, triangles = 0;
    for (int32_t i = 0; i < stage->object_count; i++) {
        stage->objects[i].first_vertex = (int32_t)vertices;
        stage->objects[i].first_triangle = (int32_t)triangles;
        vertices += stage->objects[i].mesh.vertex_count;
        triangles += stage->objects[i].mesh.triangle_count;

        if (vertices > INT32_MAX / 3 || triangles > INT32_MAX / 9) {
            return sn_fail(context, SINEW_OUT_OF_MEMORY,
                           "a picture of %lld vertices and %lld triangles: at most %d triangles",
                           (long long)vertices, (long long)triangles, INT32_MAX / 9);
        }
    }

    stage->vertex_count = (int32_t)vertices;
    stage->triangle_count = (int32_t)triangles;

    return SINEW_OK;
}

sinew_status sn_stage_create(sn_stage *stage, const sn_picture_scene *scene, int32_t width,
                             int32_t height, sn_arena *arena) {
    *stage = (sn_stage){.view = sn_stage_view_create(&scene->camera, width, height),
                        .object_count = scene->mesh_count + scene->glyph_count};
    stage->objects = SN_PUSH(arena, sn_stage_object, stage->object_count);

    double *distances = SN_PUSH(arena, double, stage->object_count);

    // Meshes, then glyphs as meshes.
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < scene->mesh_count; i++) {
        stage->objects[i].mesh = scene->meshes[i];
    }

    for (int32_t i = 0; i < scene->glyph_count; i++) {
        SN_TRY(sn_glyphs_to_mesh(&stage->objects[scene->mesh_count + i].mesh, &scene->glyphs[i],
                                 &stage->view, arena));
    }

    // One list of vertices and triangles for all objects.
    SN_TRY(count_geometry(stage, arena->context));
    stage->positions = SN_PUSH(arena, sn_float3, stage->vertex_count);
    stage->vertex_normals = SN_PUSH(arena, sn_float3, stage->vertex_count);
    stage->normals = SN_PUSH(arena, float, 9 * (size_t)stage->triangle_count);
    stage->triangles = SN_PUSH(arena, int32_t, 3 * (size_t)stage->triangle_count);
    stage->object_of = SN_PUSH(arena, int32_t, stage->triangle_count);
    SN_TRY(sn_arena_status(arena));
    order_layers(stage, &scene->camera, distances);

    for (int32_t i = 0; i < stage->object_count; i++) {
        SN_TRY(lay_out_object(stage, i, arena));
    }

    for (int32_t i = 0; i < stage->vertex_count; i++) {
        stage->vertex_normals[i] = sn_normalize_f(stage->vertex_normals[i]);
    }

    return SINEW_OK;
}
