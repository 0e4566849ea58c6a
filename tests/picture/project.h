// Where a camera shows a point, computed apart from the renderer.
#ifndef SN_TESTS_PICTURE_PROJECT_H
#define SN_TESTS_PICTURE_PROJECT_H

#include "io/picture/camera.h"

#include <math.h>
#include <stdbool.h>

// In a picture of that size [pixels, y downwards]. Returns false if the point is not in front of
// the camera.
static inline bool project(const sn_camera *camera, int32_t width, int32_t height, sn_vec3 point,
                           double *x, double *y) {
    sn_camera_axes axes = sn_camera_get_axes(camera);
    sn_vec3 p = sn_sub(point, camera->eye);
    double depth = -sn_dot(axes.z, p);
    double focal = 0.5 * height / tan(0.5 * camera->field);
    *x = *y = NAN;
    if (!(depth > 0)) {
        return false;
    }

    *x = 0.5 * width + focal * sn_dot(axes.x, p) / depth;
    *y = 0.5 * height - focal * sn_dot(axes.y, p) / depth;
    return true;
}

#endif
