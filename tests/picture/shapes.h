// Shapes that the tests of pictures draw: a sphere and a box, and counts of what an image shows.
#ifndef SN_TESTS_PICTURE_SHAPES_H
#define SN_TESTS_PICTURE_SHAPES_H

#include "io/picture/render.h"

#include <math.h>

enum {
    SPHERE_AROUND = 32,
    SPHERE_DOWN = 16,
    SPHERE_VERTICES = SPHERE_AROUND * (SPHERE_DOWN - 1) + 2
};
enum { SPHERE_TRIANGLES = 2 * SPHERE_AROUND * (SPHERE_DOWN - 1) };

typedef struct sphere {
    double positions[3 * SPHERE_VERTICES];
    int32_t triangles[3 * SPHERE_TRIANGLES];
} sphere;

static inline int32_t sphere_vertex(int32_t ring, int32_t around) {
    if (ring == 0) {
        return 0;
    }
    if (ring == SPHERE_DOWN) {
        return SPHERE_VERTICES - 1;
    }

    return 1 + (ring - 1) * SPHERE_AROUND + around % SPHERE_AROUND;
}

static inline void make_sphere(sphere *s, sn_vec3 center, double radius) {
    int32_t count = 0;
    for (int32_t ring = 0; ring <= SPHERE_DOWN; ring++) {
        for (int32_t i = 0; i < SPHERE_AROUND; i++) {
            double down = 3.14159265358979 * ring / SPHERE_DOWN;
            double around = 2 * 3.14159265358979 * i / SPHERE_AROUND;
            sn_vec3 n = sn_v3(sin(down) * cos(around), sin(down) * sin(around), cos(down));
            sn_store3(s->positions + 3 * sphere_vertex(ring, i), sn_madd(center, radius, n));
        }
    }

    for (int32_t ring = 0; ring < SPHERE_DOWN; ring++) {
        for (int32_t i = 0; i < SPHERE_AROUND; i++) {
            int32_t a = sphere_vertex(ring, i);
            int32_t b = sphere_vertex(ring, i + 1);
            int32_t c = sphere_vertex(ring + 1, i);
            int32_t d = sphere_vertex(ring + 1, i + 1);
            int32_t two[6] = {a, c, d, a, d, b};

            for (int k = 0; k < 6; k++) {
                bool upper = k < 3;
                bool flat = upper ? c == d : a == b;
                if (!flat) {
                    s->triangles[count++] = two[k];
                }
            }
        }
    }
}

static inline sn_picture_mesh sphere_mesh(const sphere *s) {
    sn_picture_mesh mesh = sn_picture_mesh_default();
    mesh.positions = s->positions;
    mesh.vertex_count = SPHERE_VERTICES;
    mesh.triangles = s->triangles;
    mesh.triangle_count = SPHERE_TRIANGLES;
    return mesh;
}

// Two triangles: a rectangle about `center` with half sides u and v.
typedef struct card {
    double positions[12];
    int32_t triangles[6];
} card;

static inline void make_card(card *c, sn_vec3 center, sn_vec3 u, sn_vec3 v) {
    for (int k = 0; k < 4; k++) {
        double s = k == 1 || k == 2 ? 1 : -1;
        double t = k >= 2 ? 1 : -1;
        sn_store3(c->positions + 3 * k, sn_madd(sn_madd(center, s, u), t, v));
    }

    const int32_t triangles[6] = {0, 1, 2, 0, 2, 3};
    for (int k = 0; k < 6; k++) {
        c->triangles[k] = triangles[k];
    }
}

static inline sn_picture_mesh card_mesh(const card *c) {
    sn_picture_mesh mesh = sn_picture_mesh_default();
    mesh.positions = c->positions;
    mesh.vertex_count = 4;
    mesh.triangles = c->triangles;
    mesh.triangle_count = 2;
    return mesh;
}

// Looking along -y at the origin from a distance, z up; the picture is `height` high there.
static inline sn_camera front_camera(double distance, double height) {
    return (sn_camera){.eye = {0, -distance, 0},
                       .target = {0, 0, 0},
                       .up = {0, 0, 1},
                       .field = 2 * atan(0.5 * height / distance)};
}

#endif
