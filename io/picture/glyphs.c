// Glyphs as triangles. All except lines are solids of revolution: an axis, and a profile of
// (distance along it, radius) that begins and ends on the axis. A line is a tube whose rings are
// transported without twist.
#include "io/picture/glyphs.h"

#include "math/mat3.h"

#include <math.h>

enum { MOST_PROFILE = 16, STICK_PROFILE = 4, ARROW_PROFILE = 5 };

static const double head_length = 4.2, head_radius = 2.1; // of an arrow, in radii of its shaft
// Sharper than the angle between the sides of the coarsest tube.
static const double crease = 62 * (3.14159265358979 / 180);

// Red, green and blue for the axes of a frame, muted.
static const uint32_t axis_colors[3] = {0xd8433f, 0x3f9e4d, 0x3569c9};

typedef struct builder {
    double *positions;
    int32_t *triangles;
    float *colors;
    int32_t vertices, corners; // so far
    int32_t most_vertices, most_corners;
    const sn_picture_glyphs *glyphs;
    const sn_stage_view *view;
    int32_t sides;
} builder;

typedef struct profile_point {
    double along, radius;
} profile_point;

static int32_t add_vertex(builder *b, sn_vec3 p, sn_color color) {
    SN_ASSERT(b->vertices < b->most_vertices);
    sn_store3(b->positions + 3 * (size_t)b->vertices, p);
    float *c = b->colors + 3 * (size_t)b->vertices;
    c[0] = color.r;
    c[1] = color.g;
    c[2] = color.b;

    return b->vertices++;
}

static void add_triangle(builder *b, int32_t i, int32_t j, int32_t k) {
    SN_ASSERT(b->corners + 3 <= b->most_corners);
    b->triangles[b->corners++] = i;
    b->triangles[b->corners++] = j;
    b->triangles[b->corners++] = k;
}

// A ring of vertices about p in the plane of the unit vectors u, v. Returns the first.
static int32_t add_ring(builder *b, sn_vec3 p, sn_vec3 u, sn_vec3 v, double radius,
                        sn_color color) {
    int32_t first = b->vertices;
    for (int32_t s = 0; s < b->sides; s++) {
        double angle = 2 * 3.14159265358979 * s / b->sides;
        add_vertex(b, sn_madd(sn_madd(p, radius * cos(angle), u), radius * sin(angle), v), color);
    }
    return first;
}

// Joins two rings, or a ring and a point if `point_a` or `point_c`; outside is right-handed from a
// to c.
static void join(builder *b, int32_t a, bool point_a, int32_t c, bool point_c) {
    for (int32_t s = 0; s < b->sides; s++) {
        int32_t next = (s + 1) % b->sides;
        int32_t a0 = point_a ? a : a + s;
        int32_t a1 = point_a ? a : a + next;
        int32_t c0 = point_c ? c : c + s;
        int32_t c1 = point_c ? c : c + next;

        if (!point_a) {
            add_triangle(b, a0, a1, c0);
        }
        if (!point_c) {
            add_triangle(b, a1, c1, c0);
        }
    }
}

static void add_revolution(builder *b, sn_vec3 origin, sn_vec3 axis, const profile_point *profile,
                           int count, sn_color color) {
    sn_mat3 basis = sn_mat3_basis(axis);
    sn_vec3 u = sn_mat3_column(basis, 0);
    sn_vec3 v = sn_mat3_column(basis, 1);
    int32_t previous = add_vertex(b, sn_madd(origin, profile[0].along, axis), color);

    for (int i = 1; i < count; i++) {
        sn_vec3 p = sn_madd(origin, profile[i].along, axis);
        bool last = i == count - 1;
        int32_t next =
            last ? add_vertex(b, p, color) : add_ring(b, p, u, v, profile[i].radius, color);
        join(b, previous, i == 1, next, last);
        previous = next;
    }
}

// Half the width at p, in units of the scene.
static double radius_at(const builder *b, sn_vec3 p) {
    sn_float3 q = sn_stage_point(b->view, p);
    double depth = 1 - sn_dot_f(q, b->view->z); // the eye is at z
    return 0.5 * b->glyphs->width * fmax(depth, 0.01) / b->view->focal * b->view->unit;
}

static int ball_profile(int32_t sides) {
    return sides / 2 + 1 < MOST_PROFILE ? sides / 2 + 1 : MOST_PROFILE;
}

static void add_ball(builder *b, sn_vec3 p, double radius, sn_color color) {
    profile_point profile[MOST_PROFILE];
    int count = ball_profile(b->sides);
    for (int i = 0; i < count; i++) {
        double angle = 3.14159265358979 * i / (count - 1);
        profile[i] = (profile_point){-radius * cos(angle), radius * sin(angle)};
    }

    add_revolution(b, p, sn_v3(0, 0, 1), profile, count, color);
}

// An arrow along v, or a stick if it is too short for a head.
static void add_arrow(builder *b, sn_vec3 p, sn_vec3 v, double radius, sn_color color) {
    double length = sn_length(v);
    double head = head_length * radius;
    if (!(length > 0) || !isfinite(length)) {
        return;
    }

    sn_vec3 axis = sn_scale(1 / length, v);
    if (length > 1.5 * head) {
        profile_point arrow[ARROW_PROFILE] = {{0, 0},
                                              {0, radius},
                                              {length - head, radius},
                                              {length - head, head_radius * radius},
                                              {length, 0}};
        add_revolution(b, p, axis, arrow, ARROW_PROFILE, color);
    } else {
        profile_point stick[STICK_PROFILE] = {{0, 0}, {0, radius}, {length, radius}, {length, 0}};
        add_revolution(b, p, axis, stick, STICK_PROFILE, color);
    }
}

static sn_color item_color(const sn_picture_glyphs *glyphs, int32_t i) {
    if (!glyphs->colors) {
        return glyphs->color;
    }
    const float *c = glyphs->colors + 3 * (size_t)i;
    return (sn_color){c[0], c[1], c[2]};
}

static void add_frame(builder *b, sn_vec3 p, const double *m, int32_t index) {
    double radius = radius_at(b, p);
    sn_color color = item_color(b->glyphs, index);
    for (int axis = 0; axis < 3; axis++) {
        sn_vec3 v = sn_scale(b->glyphs->scale, sn_v3(m[axis], m[3 + axis], m[6 + axis]));
        add_arrow(b, p, v, radius,
                  sn_color_mix(sn_color_hex(axis_colors[axis]), color, (float)b->glyphs->tint));
    }

    add_ball(b, p, 1.9 * radius, b->glyphs->colors ? color : sn_color_hex(0xf3f1ec));
}

// The tangent at point i of a polyline with n points, along the chord of its neighbours.
static sn_vec3 tangent_at(const double *points, int32_t i, int32_t n) {
    sn_vec3 a = sn_load3(points + 3 * (size_t)(i > 0 ? i - 1 : i));
    sn_vec3 c = sn_load3(points + 3 * (size_t)(i + 1 < n ? i + 1 : i));
    return sn_normalize(sn_sub(c, a));
}

static void add_line(builder *b, const double *points, int32_t n, int32_t first_index) {
    for (int32_t i = 0; i < n; i++) {
        if (!sn_finite3(sn_load3(points + 3 * (size_t)i))) {
            return;
        }
    }

    if (n < 2) {
        return;
    }

    // Transport the first axis of the ring along the line.
    sn_vec3 t = tangent_at(points, 0, n);
    sn_vec3 u = sn_mat3_column(sn_mat3_basis(sn_length(t) > 0 ? t : sn_v3(0, 0, 1)), 0);
    int32_t previous = add_vertex(b, sn_load3(points), item_color(b->glyphs, first_index));

    for (int32_t i = 0; i < n; i++) {
        sn_vec3 p = sn_load3(points + 3 * (size_t)i);
        sn_vec3 next = tangent_at(points, i, n);
        if (sn_length(next) > 0) {
            t = next; // repeated points keep the last direction
        }

        sn_vec3 projected = sn_madd(u, -sn_dot(u, t), t);
        u = sn_length(projected) > 1e-9 ? sn_normalize(projected)
                                        : sn_mat3_column(sn_mat3_basis(t), 0);

        int32_t ring = add_ring(b, p, u, sn_cross(t, u), radius_at(b, p),
                                item_color(b->glyphs, first_index + i));

        join(b, previous, i == 0, ring, false);
        previous = ring;
    }

    int32_t last = add_vertex(b, sn_load3(points + 3 * (size_t)(n - 1)),
                              item_color(b->glyphs, first_index + n - 1));

    join(b, previous, false, last, true);
}

static void add_all(builder *b) {
    const sn_picture_glyphs *g = b->glyphs;
    if (g->kind == SN_GLYPH_LINES) {
        // Lines, one after the other in the array of points.
        int32_t lines = g->line_lengths ? g->line_count : 1;
        for (int32_t i = 0, first = 0; i < lines; i++) {
            int32_t n = g->line_lengths ? g->line_lengths[i] : g->count;
            add_line(b, g->points + 3 * (size_t)first, n, first);
            first += n;
        }

        return;
    }

    for (int32_t i = 0; i < g->count; i++) {
        // Everything else is drawn at single points.
        sn_vec3 p = sn_load3(g->points + 3 * (size_t)i);
        if (!sn_finite3(p)) {
            continue;
        }
        if (g->kind == SN_GLYPH_POINTS) {
            add_ball(b, p, radius_at(b, p), item_color(g, i));
        }
        if (g->kind == SN_GLYPH_FRAMES) {
            add_frame(b, p, g->vectors + 9 * (size_t)i, i);
        }

        if (g->kind == SN_GLYPH_ARROWS) {
            add_arrow(b, p, sn_scale(g->scale, sn_load3(g->vectors + 3 * (size_t)i)),
                      radius_at(b, p), item_color(g, i));
        }
    }
}

// An upper bound for all glyphs of the kind: rings, and single vertices at the ends of axes.
static void count_parts(const builder *b, int64_t *rings, int64_t *ends) {
    const sn_picture_glyphs *g = b->glyphs;
    int64_t n = g->count;
    int64_t ball = ball_profile(b->sides) - 2;
    int64_t arrow = ARROW_PROFILE - 2;
    int64_t lines = g->line_lengths ? g->line_count : 1;
    *rings = g->kind == SN_GLYPH_LINES ? n
                                       : n * (g->kind == SN_GLYPH_POINTS   ? ball
                                              : g->kind == SN_GLYPH_ARROWS ? arrow
                                                                           : 3 * arrow + ball);
    *ends = 2 * (g->kind == SN_GLYPH_LINES ? lines : n * (g->kind == SN_GLYPH_FRAMES ? 4 : 1));
}

sinew_status sn_glyphs_to_mesh(sn_picture_mesh *mesh, const sn_picture_glyphs *glyphs,
                               const sn_stage_view *view, sn_arena *arena) {
    *mesh = sn_picture_mesh_default();
    double sides = fmin(fmax(4 + 1.2 * glyphs->width, 6), 24);
    builder b = {.glyphs = glyphs, .view = view, .sides = (int32_t)sides / 2 * 2};
    int64_t rings, ends;

    // Allocate for the upper bound; thicker glyphs get more sides.
    count_parts(&b, &rings, &ends);
    int64_t vertices = rings * b.sides + ends;
    int64_t corners = 6 * rings * b.sides;

    if (vertices > INT32_MAX / 3 || corners > INT32_MAX / 3) {
        return sn_fail(arena->context, SINEW_OUT_OF_MEMORY,
                       "%d glyphs are too many for one picture", glyphs->count);
    }

    b.most_vertices = (int32_t)vertices;
    b.most_corners = (int32_t)corners;
    b.positions = SN_PUSH(arena, double, 3 * vertices);
    b.colors = SN_PUSH(arena, float, 3 * vertices);
    b.triangles = SN_PUSH(arena, int32_t, corners);
    SN_TRY(sn_arena_status(arena));

    if (glyphs->count) {
        add_all(&b);
    }

    mesh->positions = b.positions;
    mesh->vertex_count = b.vertices;
    mesh->triangles = b.triangles;
    mesh->triangle_count = b.corners / 3;
    mesh->colors = b.colors;
    mesh->closed = true;
    mesh->crease_angle = crease;
    mesh->hidden_opacity = glyphs->hidden_opacity;
    mesh->no_shadow = !glyphs->shadows;

    return SINEW_OK;
}
