// The content of a picture: a camera, lights, a backdrop, triangle meshes and glyphs. All arrays
// are borrowed while rendering.
//
// Fill the structs from their default-makers, then call sn_picture_render() (render.h).
#ifndef SN_IO_PICTURE_SCENE_H
#define SN_IO_PICTURE_SCENE_H

#include "io/picture/camera.h"
#include "io/picture/colormap.h"

// A surface. Its colour is, in this order of preference: `values` through `map`, `colors`, `color`.
typedef struct sn_picture_mesh {
    const double *positions; // 3 per vertex; triangles with a vertex that is not finite are omitted
    int32_t vertex_count;
    const int32_t *triangles; // 3 vertices each, visible from both sides
    int32_t triangle_count;

    sn_color color;       // default: a warm light grey
    const float *colors;  // r g b per vertex, linear light
    const double *values; // one per vertex or per triangle; NaN means no data
    bool values_per_triangle;
    const sn_colormap *map; // needed with `values`
    double low, high;       // the values at the two ends of the map

    bool closed; // watertight, triangles counter-clockwise from outside, so that backs can be
                 // skipped; default false
    double crease_angle;   // edges sharper than this stay sharp [rad]; default 40 degrees
    double opacity;        // in [0, 1]; below 1 only the nearest sheet is drawn, as a glass shell
    double wire;           // opacity of the triangles' edges, in [0, 1]; default 0
    double gloss;          // strength of the highlight, in [0, 1]; default 0.25
    bool no_shadow;        // neither casts nor receives shadows
    double hidden_opacity; // opacity where it is behind other things, in [0, 1]; default 0
} sn_picture_mesh;

sn_picture_mesh sn_picture_mesh_default(void);

typedef enum sn_glyph_kind {
    SN_GLYPH_POINTS, // balls
    SN_GLYPH_ARROWS, // from each point along its vector
    SN_GLYPH_FRAMES, // three axes at each point: red, green, blue
    SN_GLYPH_LINES,  // polylines
} sn_glyph_kind;

typedef struct sn_picture_glyphs {
    sn_glyph_kind kind;
    const double *points;        // 3 each
    int32_t count;               // points
    const double *vectors;       // arrows: 3 per point; frames: 9 per point, a matrix by rows whose
                                 // columns are the axes
    const int32_t *line_lengths; // lines: points of each polyline, summing to `count`; NULL: one
    int32_t line_count;

    double scale;          // factor on the vectors; default 1
    double width;          // diameter of balls, lines and shafts in pixels; default 3 (balls: 9)
    sn_color color;        // frames: mixed in at `tint`
    const float *colors;   // r g b per point; replaces `color`
    double tint;           // frames only: fraction of `color` in the axes, in [0, 1]; default 0
    double hidden_opacity; // opacity behind other things, in [0, 1]; default 0.5, lines 0
    bool shadows;          // casts and receives shadows; default false
} sn_picture_glyphs;

sn_picture_glyphs sn_picture_glyphs_default(sn_glyph_kind kind);

typedef struct sn_picture_lights {
    sn_vec3 key; // towards the main light, any length
    sn_color key_color;
    sn_vec3 fill; // towards a weak light without shadows that brightens the dark side
    sn_color fill_color;
    sn_color sky, bounce;   // light from all of the sky, and reflected by the ground
    double softness;        // blur of the key light's shadow, relative to the height; default 0.016
    int32_t sky_directions; // directions that sample the sky's shadows; default 16, 0: none
} sn_picture_lights;

// A light from the upper left behind the camera.
sn_picture_lights sn_picture_lights_default(const sn_camera *camera);

typedef struct sn_picture_backdrop {
    sn_color top, bottom; // a vertical blend
    bool ground;          // a floor that is visible only by its shadows and its grid
    double ground_height; // along the camera's up
    double grid_spacing;  // lines of a faint grid; 0: none
} sn_picture_backdrop;

sn_picture_backdrop sn_picture_backdrop_default(void);

typedef struct sn_picture_scene {
    sn_camera camera;
    sn_picture_lights lights;
    sn_picture_backdrop backdrop;
    const sn_picture_mesh *meshes;
    int32_t mesh_count;
    const sn_picture_glyphs *glyphs;
    int32_t glyph_count;
} sn_picture_scene;

// The camera with default lights and backdrop, and no content.
sn_picture_scene sn_picture_scene_default(const sn_camera *camera);

// SINEW_OK, or a failure that names the index, count or number that is invalid. Positions and
// values may be arbitrary.
sinew_status sn_picture_check(sinew_context *context, const sn_picture_scene *scene);

#endif
