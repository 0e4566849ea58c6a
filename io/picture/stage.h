// A scene prepared for drawing: one list of vertices and one of triangles, in a space whose origin
// is the camera's target and whose unit is the camera's distance, so that no later step depends on
// the scale of the scene.
#ifndef SN_IO_PICTURE_STAGE_H
#define SN_IO_PICTURE_STAGE_H

#include "base/memory.h"
#include "io/picture/scene.h"

typedef struct sn_float3 {
    float x, y, z;
} sn_float3;

static inline float sn_dot_f(sn_float3 a, sn_float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// a + s b
static inline sn_float3 sn_madd_f(sn_float3 a, float s, sn_float3 b) {
    return (sn_float3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline sn_float3 sn_normalize_f(sn_float3 a) {
    float squared = sn_dot_f(a, a);
    if (!(squared > 1e-30f)) {
        return a;
    }
    float s = 1 / sqrtf(squared);
    return (sn_float3){s * a.x, s * a.y, s * a.z};
}

static inline sn_float3 sn_float3_of(sn_vec3 a) {
    return (sn_float3){(float)a.x, (float)a.y, (float)a.z};
}

// The projection of the stage onto the screen.
typedef struct sn_stage_view {
    sn_vec3 origin;             // of the stage in the scene
    double unit;                // of the stage in the scene
    sn_float3 eye, x, y, z, up; // in the stage: the eye, the camera's axes, the ground's normal
    double focal;               // pixels per unit length at unit distance
    int32_t width, height;      // pixels
} sn_stage_view;

// One mesh of the scene, or the mesh made of one set of glyphs.
typedef struct sn_stage_object {
    sn_picture_mesh mesh;
    int32_t first_vertex, first_triangle;
    int32_t layer; // 0: opaque; higher layers are blended over it in their order
} sn_stage_object;

typedef struct sn_stage {
    sn_stage_view view;
    sn_stage_object *objects;
    int32_t object_count, vertex_count, triangle_count, layer_count;
    sn_float3 *positions;
    sn_float3 *vertex_normals; // mean of the corners' normals
    float *normals;            // 9 per triangle: those of its corners
    int32_t *triangles;        // 3 vertices each
    int32_t *object_of;        // of each triangle
} sn_stage;

sn_stage_view sn_stage_view_create(const sn_camera *camera, int32_t width, int32_t height);
sn_float3 sn_stage_point(const sn_stage_view *view, sn_vec3 p);

enum { SN_STAGE_MOST_LAYERS = 16 }; // further see-through objects share the last layer

// Lays the scene out. Everything lives in the arena.
sinew_status sn_stage_create(sn_stage *stage, const sn_picture_scene *scene, int32_t width,
                             int32_t height, sn_arena *arena);

#endif
