// The colour of a point of a face, and of the backdrop.
//
// A surface receives a key light with soft shadows, a fill light without, and light from the sky
// above and the ground below, shadowed by its surroundings; in addition a soft highlight and a
// brighter rim. The ground shows only the shadows on it.
#ifndef SN_IO_PICTURE_SHADE_H
#define SN_IO_PICTURE_SHADE_H

#include "io/picture/raster.h"
#include "io/picture/shadow.h"

typedef struct sn_shader {
    const sn_stage *stage;
    const sn_illumination *light;
    const sn_picture_scene *scene;
    const sn_raster_planes *planes;      // of each triangle of the stage
    const uint8_t *backs;                // whether each is seen from its back
    sn_float3 key, fill;                 // unit, towards the lights
    sn_color ground_key, ground_sky;     // fractions of the light on the ground; their sum is white
    float grid_scale, grid_x, grid_y;    // lines of the grid per unit of the stage, and its offset
    float ray_up[3], ray_x[3], ray_y[3]; // a pixel's ray along up and the ground's axes, as planes
} sn_shader;

sn_shader sn_shader_create(const sn_stage *stage, const sn_illumination *light,
                           const sn_picture_scene *scene, const sn_raster_planes *planes,
                           const uint8_t *backs);

// The colour at a pixel position; *opacity receives that of the face.
sn_color sn_shade_face(const sn_shader *shader, int32_t face, float x, float y, float *opacity);

// The factor by which shadows dim the ground at a pixel position, 1 without shadow. It is smooth
// and may be interpolated over some pixels.
sn_color sn_shade_ground(const sn_shader *shader, float x, float y);

// The backdrop where the ground is dimmed by `ground`.
sn_color sn_shade_backdrop(const sn_shader *shader, float x, float y, sn_color ground);

#endif
