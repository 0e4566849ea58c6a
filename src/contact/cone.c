// The normal cones, computed from the present positions of the faces around a feature.
#include "contact/cone.h"

// How far r may lean over a face next to the feature, for rounding: the square of a sine of 0.01.
// More lets the edges of a flat mesh push sideways on what slides over it.
static const double lean2 = 0.0001;
// How far the normal may point into the surface at the single vertex of a pair.
static const double inward = 0.5;
// Below this squared sine two edges are parallel: other pairs carry the force.
static const double parallel = 1e-6;

static bool leans_over(sn_vec3 n, sn_vec3 m) {
    double along = sn_dot(n, m);
    return along > 0 && along * along > lean2 * sn_dot(m, m);
}

// Whether a / |m| + b / |k| > 0, given m2 = |m|^2 and k2 = |k|^2.
static bool sum_is_positive(double a, double m2, double b, double k2) {
    if ((a >= 0) == (b >= 0)) {
        return a > 0 || b > 0;
    }
    return (a * a * k2 > b * b * m2) == (a > 0);
}

// The cone of an edge for the unit vector n that points away from it. With e along the edge and m
// from it into a face, perpendicular to it, the face's normal is e x m / (|e| |m|), so that
// n . normal has the sign of (n x e) . m.
static bool in_edge_cone(const sn_contact_part *part, int32_t edge, sn_vec3 n, const double *x) {
    const sn_contact_shape *shape = part->shape;
    const double *own = sn_at3(x, part->first_vertex);
    const int32_t *ends = shape->edges + 2 * (size_t)edge;
    sn_vec3 a = sn_load3(sn_at3(own, ends[0]));
    sn_vec3 e = sn_sub(sn_load3(sn_at3(own, ends[1])), a);
    sn_vec3 side = sn_cross(n, e);
    double e2 = sn_dot(e, e);
    double outward[2] = {0, 0}, m2[2] = {1, 1};

    for (int k = 0; k < 2; k++) {
        size_t slot = 2 * (size_t)edge + (size_t)k;
        if (shape->edge_faces[slot] < 0) {
            continue;
        }

        // Scaled by |e|^2, which changes no sign.
        sn_vec3 m = sn_sub(sn_load3(sn_at3(own, shape->edge_opposite[slot])), a);
        m = sn_madd(sn_scale(e2, m), -sn_dot(m, e), e);
        if (leans_over(n, m)) {
            return false;
        }
        outward[k] = shape->edge_turn[slot] * sn_dot(side, m);
        m2[k] = sn_dot(m, m);
    }

    return !shape->closed || sum_is_positive(outward[0], m2[0], outward[1], m2[1]);
}

// The outward direction at a vertex, weighted as in sn_corner_normal.
static sn_vec3 vertex_normal(const sn_contact_part *part, int32_t vertex, const double *x) {
    const sn_contact_shape *shape = part->shape;
    const double *own = sn_at3(x, part->first_vertex);
    sn_vec3 normal = {0, 0, 0};

    for (int32_t i = shape->fans.offsets[vertex]; i < shape->fans.offsets[vertex + 1]; i++) {
        int32_t corner = shape->fans.items[i] % 3;
        const int32_t *corners = sn_at3(shape->triangles, shape->fans.items[i] / 3);
        normal = sn_add(normal, sn_corner_normal(own, vertex, corners[(corner + 1) % 3],
                                                 corners[(corner + 2) % 3]));
    }

    return sn_normalize(normal);
}

// The cone of a vertex for the unit vector n that points away from it.
static bool in_vertex_cone(const sn_contact_part *part, int32_t vertex, sn_vec3 n,
                           const double *x) {
    const sn_contact_shape *shape = part->shape;
    sn_vec3 p = sn_load3(sn_at3(x, part->first_vertex + vertex));

    for (int32_t i = shape->fans.offsets[vertex]; i < shape->fans.offsets[vertex + 1]; i++) {
        int32_t corner = shape->fans.items[i] % 3;
        const int32_t *corners = sn_at3(shape->triangles, shape->fans.items[i] / 3);

        for (int k = 1; k < 3; k++) {
            int32_t other = part->first_vertex + corners[(corner + k) % 3];
            if (leans_over(n, sn_sub(sn_load3(sn_at3(x, other)), p))) {
                return false;
            }
        }
    }

    return !shape->closed || sn_dot(vertex_normal(part, vertex, x), n) > 0;
}

// Along the normal of a face.
static sn_vec3 face_area(const sn_contact_part *part, int32_t triangle, const double *x) {
    const double *own = sn_at3(x, part->first_vertex);
    const int32_t *corners = sn_at3(part->shape->triangles, triangle);
    sn_vec3 a = sn_load3(sn_at3(own, corners[0]));
    sn_vec3 u = sn_sub(sn_load3(sn_at3(own, corners[1])), a);
    sn_vec3 v = sn_sub(sn_load3(sn_at3(own, corners[2])), a);
    return sn_cross(u, v);
}

// The triangle's side of a pair: its face, an edge or a corner, by the coefficients that are not 0.
static bool in_triangle_cone(const sn_contact_part *part, int32_t triangle, const double b[3],
                             sn_vec3 n, const double *x) {
    const sn_contact_shape *shape = part->shape;
    int used = 0, sum = 0;
    for (int k = 0; k < 3; k++) {
        used += b[k] != 0;
        sum += b[k] != 0 ? k : 0;
    }

    if (used == 3) {
        return !shape->closed || sn_dot(face_area(part, triangle, x), n) > 0;
    }

    if (used == 2) {
        int side = sum == 1 ? 0 : sum == 3 ? 1 : 2;
        return shape->owns[triangle] & SN_CONTACT_OWNS_EDGE << side &&
               in_edge_cone(part, sn_at3(shape->triangle_edges, triangle)[side], n, x);
    }

    return used == 1 && shape->owns[triangle] & SN_CONTACT_OWNS_CORNER << sum &&
           in_vertex_cone(part, sn_at3(shape->triangles, triangle)[sum], n, x);
}

static bool are_parallel(const sn_contact_pair *pair, const double *x) {
    sn_vec3 p[4];
    for (int k = 0; k < 4; k++) {
        p[k] = sn_load3(sn_at3(x, pair->vertex[k]));
    }

    sn_vec3 u = sn_sub(p[1], p[0]);
    sn_vec3 v = sn_sub(p[3], p[2]);
    sn_vec3 m = sn_cross(u, v);
    return !(sn_dot(m, m) > parallel * sn_dot(u, u) * sn_dot(v, v));
}

bool sn_contact_in_cones(const sn_contact_scene *scene, const sn_contact_pair *pair,
                         const double *x) {
    const sn_contact_part *p = &scene->parts[pair->part[0]];
    const sn_contact_part *q = &scene->parts[pair->part[1]];
    sn_vec3 n = pair->n;
    sn_vec3 back = sn_scale(-1, n);
    if (!(pair->distance > 0)) {
        return false;
    }

    if (pair->kind == SN_CONTACT_VERTEX_TRIANGLE) {
        int32_t vertex = pair->feature[0] - p->first_vertex;
        int32_t triangle = pair->feature[1] - q->first_triangle;
        return in_triangle_cone(q, triangle, pair->b + 1, n, x) &&
               (!p->shape->closed || sn_dot(vertex_normal(p, vertex, x), n) < inward);
    }

    bool inside = pair->b[0] != 0 && pair->b[1] != 0 && pair->b[2] != 0 && pair->b[3] != 0;
    return inside && !are_parallel(pair, x) &&
           in_edge_cone(p, pair->feature[0] - p->first_edge, back, x) &&
           in_edge_cone(q, pair->feature[1] - q->first_edge, n, x);
}
