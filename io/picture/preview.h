// The preview of a simulation: it receives the moments of a motion one by one and draws a contact
// sheet.
//
// The length of the motion is not known in advance. The preview stores up to twice as many moments
// as the sheet shows. When it is full, it drops every other one and from then on stores every
// second, fourth, ... moment, so the sheet is always spread evenly over the whole motion, from the
// first moment to the last. All pictures share one camera, which frames the motion, and one colour
// scale. Memory: the numbers of twice as many moments as pictures, so pass surfaces rather than
// volumes.
#ifndef SN_IO_PICTURE_PREVIEW_H
#define SN_IO_PICTURE_PREVIEW_H

#include "io/picture/scene.h"
#include "io/picture/sheet.h"

typedef struct sn_preview_def {
    const char *title;       // NULL: none
    const char *value_label; // title of the colour scale, e.g. "von Mises stress [kPa]"
    sn_colormap_kind map;    // default ember
    double low, high; // of the scale; equal (the default): from zero or the smallest value to the
                      // value that 99 % of the values do not exceed
    sn_vec3 up;       // default z
    double azimuth, elevation; // of the view [rad]; see camera.h
    double ground_height;      // along up; NaN (the default): the lowest point of the motion
    bool no_ground;
    bool ghost;       // shows the first moment as a glass shell in the others; default true
    int32_t pictures; // of the sheet, in [1, 100]; default 6
    int32_t cell_width, cell_height; // default 400 x 300

    // Surfaces: topology and look. They are copied, but their arrays are borrowed while the preview
    // exists. Positions and values come with each moment; a mesh without new positions stays in
    // place (an obstacle).
    const sn_picture_mesh *meshes;
    int32_t mesh_count;
    int32_t obstacle_count; // of the meshes, the last ones: without ghosts
    int32_t backdrop_count; // of these, the last ones: the camera does not frame them
    int32_t frame_count;    // coordinate frames drawn as three axes
    double frame_scale;     // length of a unit axis; 0 (the default): 1/12 of the motion's extent
    int32_t dot_count;      // points drawn as dots
} sn_preview_def;

sn_preview_def sn_preview_def_default(void);

// A moment. Arrays have one entry per mesh of the definition; entries, `values` and `colors` may be
// NULL.
typedef struct sn_preview_moment {
    double time; // [s]
    const double *const *positions;
    const double *const *values;  // one per vertex (or per triangle, if the mesh says so)
    const float *const *colors;   // r g b per vertex, for meshes defined with colours
    const double *frame_points;   // 3 per frame
    const double *frame_matrices; // 9 per frame, row by row, axes as columns
    const double *dots;           // 3 per dot; those that are not finite are left out
} sn_preview_moment;

typedef struct sn_preview sn_preview;

sinew_status sn_preview_create(sinew_context *context, const sn_preview_def *def,
                               sn_preview **result);
void sn_preview_destroy(sn_preview *preview);

// Copies the moment.
sinew_status sn_preview_add(sn_preview *preview, const sn_preview_moment *moment);

// Draws the sheet of the moments added so far. The caller destroys the sheet.
sinew_status sn_preview_draw(sn_preview *preview, sn_sheet *sheet);

// Draws one moment, with its time and the colour scale, as an image of a film. The camera frames
// the moments that were added before the first image, with some margin, and does not move
// afterwards.
sinew_status sn_preview_film(sn_preview *preview, const sn_preview_moment *moment, sn_image image);

#endif
