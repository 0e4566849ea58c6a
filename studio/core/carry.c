// From one build of a scene to the next: bodies of the same name go on from where they were, even
// if their model, mesh or frames have changed. Each node of the new body takes the position and
// the velocity of the material point of the old one that has its rest position.
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Position, velocity and deformation gradient of the old body at a rest point.
typedef struct carried_point {
    double position[3], velocity[3];
    sinew_element_state state;
} carried_point;

static bool read_point(sinew_body *body, const double rest[3], bool deformed, carried_point *out) {
    sinew_point *point = NULL;
    if (sinew_point_create(body, rest, &point) != SINEW_OK) {
        return false;
    }

    bool read = sinew_point_get_position(point, out->position) == SINEW_OK &&
                sinew_point_get_velocity(point, out->velocity) == SINEW_OK;
    if (read && deformed) {
        read = sinew_point_get_state(point, &out->state) == SINEW_OK;
    }

    sinew_point_destroy(point);
    return read;
}

// Nodes of elements. Bodies with the same nodes copy them.
static void carry_nodes(sinew_body *from, sinew_body *to, int32_t count) {
    size_t size = 3 * (size_t)count;
    if (sinew_body_get_node_count(from) == count &&
        memcmp(sinew_body_get_rest_positions(from), sinew_body_get_rest_positions(to),
               size * sizeof(double)) == 0) {
        sinew_body_set_positions(to, sinew_body_get_positions(from));
        sinew_body_set_velocities(to, sinew_body_get_velocities(from));
        return;
    }

    double *positions = malloc(2 * size * sizeof *positions);
    if (!positions) {
        return;
    }

    // Point by point; one that cannot be read leaves the new body as it is.
    const double *rest = sinew_body_get_rest_positions(to);
    bool complete = true;
    for (int32_t i = 0; i < count && complete; i++) {
        carried_point point;
        complete = read_point(from, rest + 3 * (size_t)i, false, &point);
        memcpy(positions + 3 * (size_t)i, point.position, sizeof point.position);
        memcpy(positions + size + 3 * (size_t)i, point.velocity, sizeof point.velocity);
    }
    if (complete) {
        sinew_body_set_positions(to, positions);
        sinew_body_set_velocities(to, positions + size);
    }

    free(positions);
}

// The rotation nearest to F, by iteration (Müller et al. 2016), as a quaternion (x, y, z, w).
static void extract_rotation(const double F[9], double q[4]) {
    const double start[4] = {0, 0, 0, 1};
    memcpy(q, start, sizeof start);

    for (int step = 0; step < 30; step++) {
        const double x = q[0], y = q[1], z = q[2], w = q[3];
        const double R[3][3] = {
            {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};

        // omega = sum r_k x f_k / |sum r_k . f_k| over the columns of R and F.
        double omega[3] = {0}, dot = 1e-9;
        for (int k = 0; k < 3; k++) {
            const double r[3] = {R[0][k], R[1][k], R[2][k]}, f[3] = {F[k], F[3 + k], F[6 + k]};
            omega[0] += r[1] * f[2] - r[2] * f[1];
            omega[1] += r[2] * f[0] - r[0] * f[2];
            omega[2] += r[0] * f[1] - r[1] * f[0];
            dot += r[0] * f[0] + r[1] * f[1] + r[2] * f[2];
        }
        double length = sqrt(omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2]);
        double angle = length / fabs(dot);
        if (angle < 1e-9) {
            break;
        }

        // q = exp(omega) q.
        const double s = sin(0.5 * angle) / length, c = cos(0.5 * angle);
        const double a = s * omega[0], b = s * omega[1], d = s * omega[2];
        q[0] = c * x + a * w + b * z - d * y;
        q[1] = c * y - a * z + b * w + d * x;
        q[2] = c * z + a * y - b * x + d * w;
        q[3] = c * w - a * x - b * y - d * z;
    }
}

// Frames: each starts like the material around it, without its spin. Held ones stay where they are.
static void carry_frames(sinew_body *from, sinew_body *to, int32_t count) {
    const double no_spin[3] = {0};
    for (int32_t i = 0; i < count; i++) {
        double rest[3], rotation[4];
        carried_point point;
        if (sinew_frame_body_get_rest(to, i, rest) != SINEW_OK ||
            !read_point(from, rest, true, &point)) {
            continue;
        }

        extract_rotation(point.state.F, rotation);
        sinew_frame_body_set_node(to, i, point.position, rotation);
        sinew_frame_body_set_velocity(to, i, point.velocity, no_spin);
    }
}

void studio_carry_state(const sinew_scene *before, const sinew_scene *after) {
    for (int32_t i = 0; i < sinew_scene_get_body_count(after); i++) {
        const char *name = sinew_scene_get_body_name(after, i);
        sinew_body *to = sinew_scene_get_body(after, i);
        sinew_body *from = sinew_scene_get_body(before, sinew_scene_find_body(before, name));
        if (!from || !to) {
            continue;
        }

        int32_t frames = sinew_frame_body_get_node_count(to);
        int32_t nodes = sinew_body_get_node_count(to);
        if (frames > 0) {
            carry_frames(from, to, frames);
        } else if (nodes > 0) {
            carry_nodes(from, to, nodes);
        }
    }
}
