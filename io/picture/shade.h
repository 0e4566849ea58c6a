// The colour of a point of a face, and of the backdrop behind everything.
//
// A surface takes a key light with soft shadows, a fill light without, and light from the sky above
// and the ground below, shadowed by what stands around; on top a soft highlight and a brighter rim.
// The ground shows only the shadows on it.
#ifndef SN_IO_PICTURE_SHADE_H
#define SN_IO_PICTURE_SHADE_H

#include "io/picture/raster.h"
#include "io/picture/shadow.h"

typedef struct sn_shader {
    const sn_stage *stage;
    const sn_illumination *light;
    const sn_picture_scene *scene;
    const sn_raster_planes *planes; // of each triangle of the stage
    const uint8_t *backs;           // whether the back of each is seen
    sn_float3 key, fill;            // unit, towards the lights
    sn_color ground_key,
        ground_sky; // shares of the two in the light on the ground; sum up to white
    float grid_scale, grid_x,
        grid_y; // lines of the ground's grid per unit of the stage, and its offset; 0: no grid
    float ray_up[3], ray_x[3],
        ray_y[3]; // a pixel's ray along up and the ground's axes: value, slopes on the screen
} sn_shader;

sn_shader sn_shader_create(const sn_stage *stage, const sn_illumination *light,
                           const sn_picture_scene *scene, const sn_raster_planes *planes,
                           const uint8_t *backs);

// At a pixel position; also how opaque the face is there.
sn_color sn_shade_face(const sn_shader *shader, int32_t face, float x, float y, float *opacity);

// How the shadows dim the ground at a pixel position, 1 where there is none. Smooth: it may be
// interpolated over some pixels.
sn_color sn_shade_ground(const sn_shader *shader, float x, float y);

// The backdrop where the ground is dimmed so.
sn_color sn_shade_backdrop(const sn_shader *shader, float x, float y, sn_color ground);

#endif
