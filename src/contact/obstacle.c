// Distances of points and triangles from obstacles, with the nearest points and normals; obstacle.h
// says what each shape is.
#include "contact/obstacle.h"

#include "geom/search/search.h"

// Of a centred box, in its own axes.
static sn_obstacle_point nearest_of_box(sn_vec3 half, sn_vec3 x) {
    sn_vec3 clamped = sn_max3(sn_scale(-1, half), sn_min3(half, x));
    sn_vec3 away = sn_sub(x, clamped);
    double distance = sn_length(away);
    if (distance > 0) {
        return (sn_obstacle_point){distance, sn_scale(1 / distance, away), clamped};
    }

    // Inside: out through the nearest face.
    double room[3] = {half.x - fabs(x.x), half.y - fabs(x.y), half.z - fabs(x.z)};
    int axis = room[0] <= room[1] && room[0] <= room[2] ? 0 : room[1] <= room[2] ? 1 : 2;
    double from[3], n[3] = {0, 0, 0};
    sn_store3(from, x);
    n[axis] = from[axis] < 0 ? -1 : 1;

    sn_vec3 normal = sn_load3(n);
    return (sn_obstacle_point){-room[axis], normal, sn_madd(x, room[axis], normal)};
}

// Of a segment along z with a radius, in its own axes.
static sn_obstacle_point nearest_of_capsule(double half, double radius, sn_vec3 x) {
    sn_vec3 core = sn_v3(0, 0, fmax(-half, fmin(half, x.z)));
    sn_vec3 away = sn_sub(x, core);
    double length = sn_length(away);
    sn_vec3 normal = length > 0 ? sn_scale(1 / length, away) : sn_v3(1, 0, 0);
    return (sn_obstacle_point){length - radius, normal, sn_madd(core, radius, normal)};
}

static sn_obstacle_point nearest_local(const sn_obstacle_shape *shape, sn_vec3 x) {
    switch (shape->kind) {
    case SN_OBSTACLE_PLANE: return (sn_obstacle_point){x.z, sn_v3(0, 0, 1), sn_v3(x.x, x.y, 0)};
    case SN_OBSTACLE_SPHERE: return nearest_of_capsule(0, shape->radius, x);
    case SN_OBSTACLE_BOX: return nearest_of_box(shape->half, x);
    case SN_OBSTACLE_CAPSULE: break;
    }
    return nearest_of_capsule(shape->half.z, shape->radius, x);
}

sn_obstacle_point sn_obstacle_nearest(const sn_obstacle_shape *shape, sn_rigid pose, sn_vec3 x) {
    sn_quat back = sn_quat_conjugate(pose.q);
    sn_obstacle_point at = nearest_local(shape, sn_quat_rotate(back, sn_sub(x, pose.t)));
    at.normal = sn_quat_rotate(pose.q, at.normal);
    at.point = sn_rigid_apply(pose, at.point);
    return at;
}

// What the search for the nearest points of a triangle and a core of points and segments knows.
typedef struct meeting_search {
    const sn_vec3 *corner;
    double best2; // squared distance
    sn_vec3 away; // from the core to the triangle
    sn_vec3 core;
    double b[3];
} meeting_search;

static void take(meeting_search *search, sn_vec3 core, const double b[3]) {
    sn_vec3 p = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        p = sn_madd(p, b[k], search->corner[k]);
    }

    sn_vec3 away = sn_sub(p, core);
    double square = sn_dot(away, away);
    if (square < search->best2) {
        search->best2 = square;
        search->away = away;
        search->core = core;
        for (int k = 0; k < 3; k++) {
            search->b[k] = b[k];
        }
    }
}

static void try_point(meeting_search *search, sn_vec3 p) {
    double b[3];
    sn_closest_on_triangle(p, search->corner[0], search->corner[1], search->corner[2], b);
    take(search, p, b);
}

// Nearest parameters of the segments p + s u and q + t v, s and t in [0, 1] (Ericson 2005, 5.1.9).
static void nearest_of_segments(sn_vec3 p, sn_vec3 u, sn_vec3 q, sn_vec3 v, double *s, double *t) {
    sn_vec3 r = sn_sub(p, q);
    double a = sn_dot(u, u);
    double e = sn_dot(v, v);
    double f = sn_dot(v, r);
    double c = sn_dot(u, r);
    double b = sn_dot(u, v);
    double det = a * e - b * b;

    *s = det > 1e-14 * a * e ? fmax(0, fmin(1, (b * f - c * e) / det)) : 0;
    *t = e > 0 ? (b * *s + f) / e : 0;
    if (*t < 0 || *t > 1) {
        *t = *t < 0 ? 0 : 1;
        *s = a > 0 ? fmax(0, fmin(1, (*t * b - c) / a)) : 0;
    }
}

static void try_segment(meeting_search *search, sn_vec3 from, sn_vec3 to) {
    for (int k = 0; k < 3; k++) {
        sn_vec3 a = search->corner[k];
        sn_vec3 b = search->corner[(k + 1) % 3];
        double s, t, coordinates[3] = {0, 0, 0};

        nearest_of_segments(from, sn_sub(to, from), a, sn_sub(b, a), &s, &t);
        coordinates[k] = 1 - t;
        coordinates[(k + 1) % 3] = t;
        take(search, sn_madd(from, s, sn_sub(to, from)), coordinates);
    }
}

static sn_vec3 box_corner(sn_vec3 half, int number) {
    return sn_v3(number & 1 ? half.x : -half.x, number & 2 ? half.y : -half.y,
                 number & 4 ? half.z : -half.z);
}

// A triangle in front of a face whose corner nearest to that face lies above the face itself: the
// nearest point is that corner. True if there is such a face.
static bool try_faces(meeting_search *search, sn_vec3 half) {
    const double h[3] = {half.x, half.y, half.z};
    double at[3][3];
    for (int k = 0; k < 3; k++) {
        sn_store3(at[k], search->corner[k]);
    }

    for (int face = 0; face < 6; face++) {
        int axis = face / 2;
        double sign = face % 2 ? -1 : 1;

        // The corner nearest to the face.
        int lowest = 0;
        for (int k = 1; k < 3; k++) {
            lowest = sign * at[k][axis] < sign * at[lowest][axis] ? k : lowest;
        }

        // Is it outside, and above the face itself?
        const double *corner = at[lowest];
        int u = (axis + 1) % 3;
        int v = (axis + 2) % 3;
        if (!(sign * corner[axis] > h[axis]) || fabs(corner[u]) > h[u] || fabs(corner[v]) > h[v]) {
            continue;
        }

        // Straight down to the face.
        double core[3] = {corner[0], corner[1], corner[2]};
        double b[3] = {0, 0, 0};
        core[axis] = sign * h[axis];
        b[lowest] = 1;
        take(search, sn_load3(core), b);
        return true;
    }
    return false;
}

// Corners of the box against the triangle, edges against edges, and the triangle's corners against
// the box.
static void try_box(meeting_search *search, sn_vec3 half) {
    if (try_faces(search, half)) {
        return;
    }

    for (int i = 0; i < 8; i++) {
        try_point(search, box_corner(half, i));
        for (int bit = 1; bit < 8; bit *= 2) {
            if (!(i & bit)) {
                try_segment(search, box_corner(half, i), box_corner(half, i | bit));
            }
        }
    }

    for (int k = 0; k < 3; k++) {
        sn_obstacle_point at = nearest_of_box(half, search->corner[k]);
        double b[3] = {0, 0, 0};
        b[k] = 1;
        take(search, at.point, b);
    }
}

sn_obstacle_meeting sn_obstacle_meet_triangle(const sn_obstacle_shape *shape, sn_rigid pose,
                                              const sn_vec3 corner[3]) {
    sn_vec3 local[3];
    for (int k = 0; k < 3; k++) {
        local[k] = sn_quat_rotate(sn_quat_conjugate(pose.q), sn_sub(corner[k], pose.t));
    }

    // Sphere and capsule are a point and a segment with a radius.
    meeting_search search = {.corner = local, .best2 = INFINITY};
    double radius = 0;
    if (shape->kind == SN_OBSTACLE_BOX) {
        try_box(&search, shape->half);
    } else {
        sn_vec3 end =
            shape->kind == SN_OBSTACLE_CAPSULE ? sn_v3(0, 0, shape->half.z) : sn_v3(0, 0, 0);
        radius = shape->radius;
        try_point(&search, end);
        if (end.z > 0) {
            try_point(&search, sn_scale(-1, end));
            try_segment(&search, sn_scale(-1, end), end);
        }
    }

    double length = sqrt(search.best2);
    sn_obstacle_meeting meeting = {.b = {search.b[0], search.b[1], search.b[2]}};
    sn_vec3 normal = length > 0 ? sn_scale(1 / length, search.away) : sn_v3(0, 0, 1);
    meeting.at.distance = length - radius;
    meeting.at.normal = sn_quat_rotate(pose.q, normal);
    meeting.at.point = sn_rigid_apply(pose, sn_madd(search.core, radius, normal));
    return meeting;
}

double sn_obstacle_support(const sn_obstacle_shape *shape, sn_rigid pose, sn_vec3 n) {
    sn_vec3 local = sn_quat_rotate(sn_quat_conjugate(pose.q), n);
    double center = sn_dot(n, pose.t);
    switch (shape->kind) {
    case SN_OBSTACLE_PLANE: return local.z > 1 - 1e-12 ? center : INFINITY;
    case SN_OBSTACLE_SPHERE: return center + shape->radius;
    case SN_OBSTACLE_BOX:
        return center + fabs(local.x) * shape->half.x + fabs(local.y) * shape->half.y +
               fabs(local.z) * shape->half.z;
    case SN_OBSTACLE_CAPSULE: break;
    }
    return center + fabs(local.z) * shape->half.z + shape->radius;
}

sn_box sn_obstacle_box(const sn_obstacle_shape *shape, sn_rigid pose) {
    double upper[3], lower[3];
    for (int k = 0; k < 3; k++) {
        sn_vec3 axis = sn_v3(k == 0, k == 1, k == 2);
        upper[k] = sn_obstacle_support(shape, pose, axis);
        lower[k] = -sn_obstacle_support(shape, pose, sn_scale(-1, axis));
    }
    return (sn_box){sn_load3(lower), sn_load3(upper)};
}

double sn_obstacle_radius(const sn_obstacle_shape *shape) {
    switch (shape->kind) {
    case SN_OBSTACLE_PLANE: return INFINITY;
    case SN_OBSTACLE_SPHERE: return shape->radius;
    case SN_OBSTACLE_BOX: return sn_length(shape->half);
    case SN_OBSTACLE_CAPSULE: break;
    }
    return shape->half.z + shape->radius;
}

sn_rigid sn_pose_between(sn_rigid a, sn_rigid b, double t) {
    sn_quat turn = sn_quat_mul(b.q, sn_quat_conjugate(a.q));
    sn_vec3 axis = sn_v3(turn.x, turn.y, turn.z);
    double sine = sn_length(axis);
    double half = atan2(sine, fabs(turn.w)); // of the shorter way
    if (turn.w < 0) {
        axis = sn_scale(-1, axis);
    }

    sn_quat part = sn_quat_identity();
    if (sine > 0) {
        sn_vec3 v = sn_scale(sin(t * half) / sine, axis);
        part = (sn_quat){v.x, v.y, v.z, cos(t * half)};
    }

    sn_rigid pose = {sn_quat_normalize(sn_quat_mul(part, a.q)), sn_madd(a.t, t, sn_sub(b.t, a.t))};
    return t == 1 ? b : pose;
}

double sn_pose_angle(sn_rigid a, sn_rigid b) {
    sn_quat turn = sn_quat_mul(b.q, sn_quat_conjugate(a.q));
    return 2 * atan2(sn_length(sn_v3(turn.x, turn.y, turn.z)), fabs(turn.w));
}
