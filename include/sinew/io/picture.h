// Pictures, drawn in software: no display and no graphics card needed. The same pixels for any
// number of threads.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_PICTURE_H
#define SINEW_IO_PICTURE_H

#include "sinew/io/bytes.h"
#include "sinew/io/scene.h"
#include "sinew/mesh.h"
#include "sinew/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: pixels, sRGB of eight bits a channel.
typedef struct sinew_picture sinew_picture;

/// NULL is allowed.
SINEW_API void sinew_picture_destroy(sinew_picture *picture);
/// Width and height. [pixel]
SINEW_API int32_t sinew_picture_get_width(const sinew_picture *picture);
SINEW_API int32_t sinew_picture_get_height(const sinew_picture *picture);
/// Red, green and blue of each pixel, row by row from the top left, without padding. Valid as long
/// as the picture.
SINEW_API const uint8_t *sinew_picture_get_pixels(const sinew_picture *picture);

/// Writes it as PNG. SINEW_UNSUPPORTED if the build has no libpng.
SINEW_API sinew_status sinew_picture_write(const sinew_picture *picture, sinew_bytes *out);
/// Writes it to a file.
SINEW_API sinew_status sinew_picture_save(const sinew_picture *picture, const char *path);

/// A surface in a picture.
typedef struct sinew_picture_surface {
    /// Its triangles. Borrowed during the call. Required.
    const sinew_mesh *mesh;
    /// The positions of its points, three numbers each. [m] Borrowed during the call. Default NULL:
    /// those of the mesh.
    const double *points;
    /// A number for each point, shown by a colour map from `low` to `high`; NaN means no data.
    /// Borrowed during the call. Default NULL: `color`.
    const double *values;
    double low, high; ///< Default 0, 1.
    /// Its colour as 0xRRGGBB, if `has_color` is set. Otherwise one of a palette, by the number of
    /// the surface.
    uint32_t color;
    bool has_color; ///< Whether `color` is used. Default false.
    /// [-] In [0, 1]. Default 1.
    double opacity;
} sinew_picture_surface;

SINEW_API sinew_picture_surface sinew_default_picture_surface(void);

typedef struct sinew_picture_def {
    int32_t width, height; ///< [pixel] In [1, 16384]. Default 800, 600.
    /// Direction from the centre of the scene towards the camera. [-] Not zero, not along `up`.
    /// Default (0.45, -0.75, 0.35).
    double direction[3];
    /// The direction that is upright in the picture. [-] Not zero. Default z.
    double up[3];
    /// Whether there is a floor with shadows below the bodies. Default true.
    bool ground;
    /// Two corners of the box that the picture shows. [m] Default both 0: the box around all
    /// surfaces.
    double lower[3], upper[3];
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_picture_def;

SINEW_API sinew_picture_def sinew_default_picture_def(void);

/// Renders surfaces. `def` may be NULL.
SINEW_API sinew_status sinew_picture_render(sinew_context *context,
                                            const sinew_picture_surface *surfaces, int32_t count,
                                            const sinew_picture_def *def, sinew_picture **picture);

/// What the colours of a scene's bodies show.
typedef enum sinew_scene_color {
    SINEW_SCENE_COLOR_STRAIN,       ///< Norm of the Green-Lagrange strain. [-]
    SINEW_SCENE_COLOR_STRESS,       ///< Von Mises stress. [Pa]
    SINEW_SCENE_COLOR_DISPLACEMENT, ///< [m]
    SINEW_SCENE_COLOR_SPEED,        ///< [m/s]
    SINEW_SCENE_COLOR_NONE,         ///< One colour for each body.
    SINEW_SCENE_COLOR_WEIGHTS, ///< Weights of frame bodies, with one hue for each frame. Recordings
                               ///< only.
} sinew_scene_color;

/// The present value at each point of a body's surface; not for SINEW_SCENE_COLOR_NONE and
/// _WEIGHTS. `values` receives one number per point.
SINEW_API sinew_status sinew_scene_compute_values(sinew_scene *scene, int32_t body,
                                                  sinew_scene_color color, double *values);

/// Renders the present state of all bodies of a scene. The colours range from 0 to `largest`; if
/// that is 0, to the largest present value. `def` may be NULL.
SINEW_API sinew_status sinew_scene_render(sinew_scene *scene, sinew_scene_color color,
                                          double largest, const sinew_picture_def *def,
                                          sinew_picture **picture);

/// Renders the present surfaces of all bodies of a world, in the colours of a palette
/// (SINEW_SCENE_COLOR_NONE), or coloured from 0 to `largest`; 0: the largest value now. A world
/// does not know where its bodies were placed: SINEW_SCENE_COLOR_DISPLACEMENT is refused. `def` may
/// be NULL. A world without bodies gives the backdrop.
SINEW_API sinew_status sinew_picture_render_world(sinew_context *context, sinew_world *world,
                                                  sinew_scene_color color, double largest,
                                                  const sinew_picture_def *def,
                                                  sinew_picture **picture);

#ifdef __cplusplus
}
#endif

#endif
