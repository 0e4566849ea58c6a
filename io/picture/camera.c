// Framing. In the camera's axes, with the eye at (ex, ey, ez) and z towards the viewer, a point (x,
// y, z) is visible if
//
//   |x - ex| <= s (ez - z)      <=>      x + s z - s ez <= ex <= x - s z + s ez
//
// so for all points together
//
//   max(x + s z) - s ez <= ex <= min(x - s z) + s ez
//
// The nearest eye has ez = (max - min) / 2 s and ex = (max + min) / 2, and similarly for y. The
// larger of the two ez is used.
#include "io/picture/camera.h"

#include "base/assert.h"
#include "math/mat3.h"

sn_camera_axes sn_camera_get_axes(const sn_camera *camera) {
    sn_vec3 z = sn_normalize(sn_sub(camera->eye, camera->target));
    if (!sn_finite3(z) || sn_length(z) < 0.5) {
        z = sn_v3(0, 0, 1);
    }

    sn_vec3 x = sn_cross(camera->up, z);

    // Straight down on the ground there is no upright: any will do.
    x = sn_finite3(x) && sn_length(x) > 1e-9 ? sn_normalize(x)
                                             : sn_mat3_column(sn_mat3_basis(z), 0);

    return (sn_camera_axes){x, sn_cross(z, x), z};
}

// The azimuth is measured from a horizontal axis: the one after `up` in the order x, y, z,
// projected to the horizontal plane.
static sn_vec3 viewing_side(sn_vec3 up, double azimuth, double elevation) {
    sn_vec3 next = {up.z, up.x, up.y};
    sn_vec3 a = sn_sub(next, sn_scale(sn_dot(next, up), up));
    a = sn_length(a) > 1e-9 ? sn_normalize(a) : sn_mat3_column(sn_mat3_basis(up), 0);
    sn_vec3 b = sn_cross(up, a);
    sn_vec3 side = sn_add(sn_scale(cos(azimuth), a), sn_scale(sin(azimuth), b));
    return sn_add(sn_scale(cos(elevation), side), sn_scale(sin(elevation), up));
}

sn_camera_fit sn_camera_fit_begin(sn_vec3 up, double azimuth, double elevation, double field,
                                  double aspect, double margin) {
    SN_ASSERT(field > 0 && field < 3 && aspect > 0 && margin >= 0 && margin <= 0.45);
    sn_camera camera = {.up = sn_normalize(up), .field = field};

    camera.eye = viewing_side(camera.up, azimuth, elevation);
    double slope = tan(0.5 * field) * (1 - 2 * margin);

    return (sn_camera_fit){.axes = sn_camera_get_axes(&camera),
                           .up = camera.up,
                           .field = field,
                           .slope_x = slope * aspect,
                           .slope_y = slope,
                           .empty = true};
}

static void add_point(sn_camera_fit *fit, sn_vec3 p) {
    if (!(sn_dot(p, p) < 1e200)) {
        return; // including NaN and infinity
    }

    // In the camera's axes, how much a point asks for to the left, right, top and bottom.
    double x = sn_dot(fit->axes.x, p);
    double y = sn_dot(fit->axes.y, p);
    double z = sn_dot(fit->axes.z, p);
    double low_x = x - fit->slope_x * z;
    double high_x = x + fit->slope_x * z;
    double low_y = y - fit->slope_y * z;
    double high_y = y + fit->slope_y * z;

    // The first point sets the bounds, later ones widen them.
    if (fit->empty) {
        fit->low_x = low_x;
        fit->high_x = high_x;
        fit->low_y = low_y;
        fit->high_y = high_y;
        fit->nearest_z = fit->farthest_z = z;
        fit->empty = false;
    }

    fit->low_x = fmin(fit->low_x, low_x);
    fit->high_x = fmax(fit->high_x, high_x);
    fit->low_y = fmin(fit->low_y, low_y);
    fit->high_y = fmax(fit->high_y, high_y);
    fit->nearest_z = fmax(fit->nearest_z, z);
    fit->farthest_z = fmin(fit->farthest_z, z);
}

void sn_camera_fit_add(sn_camera_fit *fit, const double *positions, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        add_point(fit, sn_load3(positions + 3 * (size_t)i));
    }
}

void sn_camera_fit_add_box(sn_camera_fit *fit, sn_vec3 low, sn_vec3 high) {
    for (int corner = 0; corner < 8; corner++) {
        add_point(fit, sn_v3(corner & 1 ? high.x : low.x, corner & 2 ? high.y : low.y,
                             corner & 4 ? high.z : low.z));
    }
}

static sn_vec3 from_axes(const sn_camera_axes *axes, double x, double y, double z) {
    return sn_add(sn_scale(x, axes->x), sn_add(sn_scale(y, axes->y), sn_scale(z, axes->z)));
}

sn_camera sn_camera_fit_end(const sn_camera_fit *fit) {
    double ex = 0.5 * (fit->low_x + fit->high_x);
    double ey = 0.5 * (fit->low_y + fit->high_y);
    double ez = fmax((fit->high_x - fit->low_x) / (2 * fit->slope_x),
                     (fit->high_y - fit->low_y) / (2 * fit->slope_y));
    double middle_z = 0.5 * (fit->nearest_z + fit->farthest_z);

    // Coincident points give no scale.
    if (!(ez - middle_z > 1e-12 * fabs(middle_z))) {
        ez = middle_z + 0.5 / fit->slope_y;
    }

    return (sn_camera){.eye = from_axes(&fit->axes, ex, ey, ez),
                       .target = from_axes(&fit->axes, ex, ey, middle_z),
                       .up = fit->up,
                       .field = fit->field};
}
