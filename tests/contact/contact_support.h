// Shared by the tests of contact: scenes of several surfaces whose positions are in one array.
#ifndef SN_TESTS_CONTACT_SUPPORT_H
#define SN_TESTS_CONTACT_SUPPORT_H

#include "geom/mesh_support.h"

#include "contact/commit.h"

#include "support/crossings.h"

enum { TEST_PARTS = 8 };

typedef struct touch_scene {
    sinew_context *context;
    sn_arena arena;
    int32_t part_count;
    sn_contact_shape *shapes[TEST_PARTS];
    double *x; // of all vertices; `rest` until a test moves it
    int32_t vertex_count;
    sn_contact_scene *scene;
} touch_scene;

// Adds the surface of a mesh, moved by `offset`.
static inline void touch_add(touch_scene *t, const sinew_mesh *mesh, sn_vec3 offset) {
    assert_true(t->part_count < TEST_PARTS);
    sn_contact_shape *shape = SN_PUSH(&t->arena, sn_contact_shape, 1);
    assert_non_null(shape);
    assert_ok(t->context, sn_contact_shape_build(&t->arena, mesh, shape));
    t->shapes[t->part_count++] = shape;

    double *x = SN_PUSH(&t->arena, double, 3 * (size_t)(t->vertex_count + mesh->point_count));
    assert_non_null(x);
    if (t->vertex_count > 0) {
        memcpy(x, t->x, 3 * (size_t)t->vertex_count * sizeof *x);
    }

    for (int32_t v = 0; v < mesh->point_count; v++) {
        sn_store3(sn_at3(x, t->vertex_count + v), sn_add(sn_mesh_point(mesh, v), offset));
    }
    t->x = x;
    t->vertex_count += mesh->point_count;
}

static inline touch_scene touch_begin(sinew_context *context) {
    return (touch_scene){.context = context, .arena = sn_arena_create(context)};
}

static inline void touch_create(touch_scene *t) {
    const sn_contact_shape *shapes[TEST_PARTS];
    for (int32_t p = 0; p < t->part_count; p++) {
        shapes[p] = t->shapes[p];
    }
    assert_ok(t->context,
              sn_contact_scene_create(t->context, shapes, t->part_count, t->x, &t->scene));
}

// Room for the results of sn_contact_limit.
typedef struct touch_shares {
    double vertex[4096], part[TEST_PARTS];
    sn_vec3 shift[TEST_PARTS];
} touch_shares;

static inline sn_contact_limit_report touch_limit(touch_scene *t, const sn_contact_motion *motion,
                                                  touch_shares *room) {
    assert_true(t->vertex_count <= 4096);
    sn_contact_shares shares = {room->shift, room->vertex, room->part};
    sn_contact_limit_report report;
    sn_contact_limit(t->scene, motion, &shares, &report);
    return report;
}

// Positions at the time s of the motion; for s = 1 where the vertices may go.
static inline void touch_moved(const touch_scene *t, const sn_contact_motion *motion,
                               const touch_shares *room, double s, double *out) {
    for (int32_t v = 0; v < t->vertex_count; v++) {
        sn_vec3 from = sn_load3(sn_at3(motion->x, v));
        sn_vec3 shift = room->shift[t->scene->vertex_part[v]];
        sn_vec3 rest = sn_sub(sn_sub(sn_load3(sn_at3(motion->target, v)), from), shift);
        sn_vec3 moved = s < 0.5 ? sn_madd(from, 2 * s, shift)
                                : sn_madd(sn_add(from, shift), (2 * s - 1) * room->vertex[v], rest);
        sn_store3(sn_at3(out, v), moved);
    }
}

// Moves x as far as allowed.
static inline void touch_accept(touch_scene *t, const sn_contact_motion *motion,
                                touch_shares *room) {
    sn_contact_shares shares = {room->shift, room->vertex, room->part};
    for (int32_t v = 0; v < t->vertex_count; v++) {
        sn_store3(sn_at3(t->x, v), sn_contact_moved(motion, &shares, t->scene, v));
    }
    sn_contact_accept(t->scene, &shares);
}

// The pairs of triangles that intersect at x, by the exact test.
static inline int64_t touch_crossings(const touch_scene *t, const double *x) {
    sn_arena arena = sn_arena_create(t->context);
    int32_t *triangles = SN_PUSH(&arena, int32_t, 3 * (size_t)t->scene->triangle_count);
    assert_non_null(triangles);
    for (int32_t p = 0; p < t->part_count; p++) {
        const sn_contact_part *part = &t->scene->parts[p];
        for (int32_t i = 0; i < 3 * part->shape->triangle_count; i++) {
            triangles[3 * part->first_triangle + i] =
                part->first_vertex + part->shape->triangles[i];
        }
    }

    test_surfaces surfaces = {
        x, t->vertex_count, triangles, t->scene->triangle_count, t->scene->vertex_part, false};
    int64_t count = test_count_crossings(&surfaces, NULL);
    sn_arena_destroy(&arena);
    return count;
}

static inline void touch_end(touch_scene *t) {
    sn_contact_scene_destroy(t->scene);
    sn_arena_destroy(&t->arena);
}

static inline sinew_mesh *make_surface(sinew_context *context, sinew_shape shape, double size,
                                       int32_t across) {
    sinew_shape_def def = sinew_default_shape_def();
    def.shape = shape;
    def.element = SINEW_ELEMENT_TRIANGLE;
    for (int k = 0; k < 3; k++) {
        def.size[k] = size;
        def.cells[k] = across;
    }
    return make_shape(context, &def);
}

static inline void touch_add_shape(touch_scene *t, sinew_shape shape, double size, int32_t across,
                                   sn_vec3 offset) {
    sinew_mesh *mesh = make_surface(t->context, shape, size, across);
    touch_add(t, mesh, offset);
    sinew_mesh_destroy(mesh);
}

// Triangles with random corners: nothing about them is regular.
static inline void touch_add_soup(touch_scene *t, sn_random *random, int32_t points,
                                  int32_t triangles, double size) {
    double *at = SN_PUSH(&t->arena, double, 3 * (size_t)points);
    int32_t *corners = SN_PUSH(&t->arena, int32_t, 3 * (size_t)triangles);
    assert_true(at && corners);
    for (int32_t i = 0; i < 3 * points; i++) {
        at[i] = sn_random_range(random, -size, size);
    }
    for (int32_t i = 0; i < 3 * triangles; i++) {
        corners[i] = (int32_t)(sn_random_u32(random) % (uint32_t)points);
    }

    sinew_mesh mesh = {.points = at,
                       .point_count = points,
                       .element = SINEW_ELEMENT_TRIANGLE,
                       .indices = corners,
                       .element_count = triangles};
    touch_add(t, &mesh, sn_v3(0, 0, 0));
}

static inline sn_vec3 random_vector(sn_random *random, double size) {
    double x = sn_random_range(random, -size, size);
    double y = sn_random_range(random, -size, size);
    return sn_v3(x, y, sn_random_range(random, -size, size));
}

// x plus random offsets, the same for all vertices of a part plus `noise` for each vertex.
static inline void random_motion(const touch_scene *t, sn_random *random, double common,
                                 double noise, double *y) {
    sn_vec3 shift = {0, 0, 0};
    for (int32_t v = 0; v < t->vertex_count; v++) {
        if (v == 0 || t->scene->vertex_part[v] != t->scene->vertex_part[v - 1]) {
            shift = random_vector(random, common);
        }
        sn_vec3 offset = sn_add(shift, random_vector(random, noise));
        sn_store3(sn_at3(y, v), sn_add(sn_load3(sn_at3(t->x, v)), offset));
    }
}

#endif
