// The camera: a point of view, and the choice of one that shows a whole motion.
//
// Framing is exact: for a given viewing direction it finds the nearest eye that sees every added
// point within the margins, in closed form from four extremes. Adding the points of all moments of
// a motion frames the motion.
#ifndef SN_IO_PICTURE_CAMERA_H
#define SN_IO_PICTURE_CAMERA_H

#include "math/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_camera {
    sn_vec3 eye, target; // target: the centre of interest; it sets the scale of the scene
    sn_vec3 up;          // unit; the vertical of the picture and the normal of the ground
    double field;        // angle of view from bottom to top [rad]
} sn_camera;

// Right-handed, orthonormal: x to the right of the picture, y upwards in it, z against the viewing
// direction.
typedef struct sn_camera_axes {
    sn_vec3 x, y, z;
} sn_camera_axes;

sn_camera_axes sn_camera_get_axes(const sn_camera *camera);

typedef struct sn_camera_fit {
    sn_camera_axes axes;
    sn_vec3 up;
    double field, slope_x, slope_y;      // tangents of half the angles of view, without the margins
    double low_x, high_x, low_y, high_y; // extremes of x + slope_x z, x - slope_x z and so on
    double nearest_z, farthest_z;        // extremes along the viewing direction
    bool empty;
} sn_camera_fit;

// Looks down by `elevation` from the horizon, from the direction `azimuth`, measured about `up`
// [rad]. `aspect` is width over height of the picture; `margin` is the fraction kept free on each
// side, in [0, 0.45].
sn_camera_fit sn_camera_fit_begin(sn_vec3 up, double azimuth, double elevation, double field,
                                  double aspect, double margin);

// Points that must be visible; points that are not finite, or beyond 1e100, are ignored.
void sn_camera_fit_add(sn_camera_fit *fit, const double *positions, int32_t count);
// The eight corners of a box.
void sn_camera_fit_add_box(sn_camera_fit *fit, sn_vec3 low, sn_vec3 high);

// The camera. Without any point, or with a single one, it shows one unit of length around it.
sn_camera sn_camera_fit_end(const sn_camera_fit *fit);

#endif
