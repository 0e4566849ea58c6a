// The preview of a simulation: moments of a motion are handed in one by one, and a contact sheet
// comes out.
//
// The preview does not know how long the motion will be. It keeps up to twice as many moments as
// the sheet shows; when that is full it drops every other one and from then on takes every second,
// fourth, ... moment, so the sheet is always spread evenly over the whole motion, from the first
// moment to the last. All pictures share one camera, which frames the motion, and one colour scale.
// Memory: the numbers of twice as many moments as pictures, so hand in surfaces rather than
// volumes.
#ifndef SN_IO_PICTURE_PREVIEW_H
#define SN_IO_PICTURE_PREVIEW_H

#include "io/picture/scene.h"
#include "io/picture/sheet.h"

typedef struct sn_preview_def {
    const char *title;       // NULL: none
    const char *value_label; // title of the colour scale, e.g. "von Mises stress [kPa]"
    sn_colormap_kind map;    // default ember
    double low, high; // of the scale; equal (the default): from zero or below to what all but 1 %
                      // of the values stay under
    sn_vec3 up;       // default z
    double azimuth, elevation; // of the view [rad]; see camera.h
    double ground_height;      // along up; NaN (the default): where the motion is lowest
    bool no_ground;
    bool ghost;       // shows the first moment as a glass shell in the others; default true
    int32_t pictures; // of the sheet, in [1, 100]; default 6
    int32_t cell_width, cell_height; // default 400 x 300

    // Surfaces: topology and look; copied, but their arrays are borrowed while the preview lives.
    // Positions and values come with each moment; a mesh without new positions stays where it is
    // (an obstacle).
    const sn_picture_mesh *meshes;
    int32_t mesh_count;
    int32_t frame_count; // coordinate frames drawn as three axes
    double frame_scale;  // length of a unit axis; 0 (the default): a twelfth of the motion's extent
} sn_preview_def;

sn_preview_def sn_preview_def_default(void);

// A moment. Arrays have one entry a mesh of the definition; entries, `values` and `colors` may be
// NULL.
typedef struct sn_preview_moment {
    double time; // [s]
    const double *const *positions;
    const double *const *values; // a number a vertex (or triangle, if the mesh says so)
    const float *const
        *colors; // r g b a vertex, for meshes that were defined with colours and now have others
    const double *frame_points;   // 3 a frame
    const double *frame_matrices; // 9 a frame, row by row, axes as columns
} sn_preview_moment;

typedef struct sn_preview sn_preview;

sinew_status sn_preview_create(sinew_context *context, const sn_preview_def *def,
                               sn_preview **result);
void sn_preview_destroy(sn_preview *preview);

// Copies the moment.
sinew_status sn_preview_add(sn_preview *preview, const sn_preview_moment *moment);

// Draws the sheet of what was added so far. The caller destroys the sheet.
sinew_status sn_preview_draw(sn_preview *preview, sn_sheet *sheet);

// Draws one moment, with its time and the colour scale, as a frame of a film. The camera frames
// what was added before the first frame, with room around; from then on it stands still.
sinew_status sn_preview_film(sn_preview *preview, const sn_preview_moment *moment, sn_image image);

#endif
