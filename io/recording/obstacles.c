// Obstacles and contacts in pictures.
//
// Obstacles become triangle meshes in their own axes, which follow their poses. The floor of the
// scene is drawn by the backdrop instead. Obstacles that are much larger than the bodies, and
// planes, do not count when the camera chooses what to show.
#include "io/recording/recording.h"

#include "sinew/contact.h"

#include "math/box.h"
#include "math/rigid.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979;
enum {
    SIDES = 48,
    BANDS = 24,
    ROWS = BANDS + 2
};                                      // of spheres and capsules: the equator is there twice
static const double large = 3;          // times the bodies' extent
static const double plane_extent = 1.5; // half the edge of a plane in terms of that

static void fill_box(const double size[3], double *points, int32_t *triangles) {
    static const int32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                         {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                         {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    for (int v = 0; v < 8; v++) {
        for (int k = 0; k < 3; k++) {
            points[3 * v + k] = (v >> k & 1 ? 0.5 : -0.5) * size[k];
        }
    }
    memcpy(triangles, faces, sizeof faces);
}

// A sphere whose halves are `length` apart along z.
static void fill_capsule(double radius, double length, double *points, int32_t *triangles) {
    for (int32_t r = 0; r < ROWS; r++) {
        double latitude = pi * (r - (r > BANDS / 2)) / BANDS - 0.5 * pi;
        double shift = r <= BANDS / 2 ? -0.5 * length : 0.5 * length;
        for (int32_t s = 0; s < SIDES; s++) {
            double angle = 2 * pi * s / SIDES;
            double *p = points + 3 * (size_t)(r * SIDES + s);
            p[0] = radius * cos(latitude) * cos(angle);
            p[1] = radius * cos(latitude) * sin(angle);
            p[2] = radius * sin(latitude) + shift;
        }
    }

    for (int32_t r = 0; r < ROWS - 1; r++) {
        for (int32_t s = 0; s < SIDES; s++) {
            int32_t a = r * SIDES + s;
            int32_t b = r * SIDES + (s + 1) % SIDES;
            int32_t *t = triangles + 6 * (size_t)a;
            memcpy(t, (int32_t[]){a, b, b + SIDES, a, b + SIDES, a + SIDES}, 6 * sizeof *t);
        }
    }
}

static void fill_plane(double half, double *points, int32_t *triangles) {
    const double corners[12] = {-half, -half, 0, half, -half, 0, half, half, 0, -half, half, 0};
    memcpy(points, corners, sizeof corners);
    memcpy(triangles, (int32_t[]){0, 1, 2, 0, 2, 3}, 6 * sizeof *triangles);
}

// The mesh of an obstacle in its own axes.
static sinew_status make_look(sinew_recording *recording, int32_t index, double extent,
                              sn_obstacle_look *look) {
    const sn_scene_obstacle *from = &recording->scene->obstacles[index];
    const sinew_obstacle_def *def = &from->def;
    look->obstacle = recording->world->obstacles[index];
    const sinew_mesh *mesh = sinew_obstacle_get_def(look->obstacle).mesh;

    // A sphere is a capsule without length.
    bool round = def->kind == SINEW_OBSTACLE_SPHERE || def->kind == SINEW_OBSTACLE_CAPSULE;
    bool plane = def->kind == SINEW_OBSTACLE_PLANE;
    int32_t vertices = round ? ROWS * SIDES : plane ? 4 : 8;
    int32_t triangle_count = round ? 2 * (ROWS - 1) * SIDES : plane ? 2 : 12;
    if (mesh) {
        vertices = mesh->point_count;
        triangle_count = mesh->element_count;
    }

    int32_t *triangles = SN_PUSH(&recording->arena, int32_t, 3 * triangle_count);
    look->own = SN_PUSH(&recording->arena, double, 3 * vertices);
    look->points = SN_PUSH(&recording->arena, double, 3 * vertices);
    SN_TRY(sn_arena_status(&recording->arena));

    if (mesh) {
        memcpy(look->own, mesh->points, 3 * (size_t)vertices * sizeof *look->own);
        memcpy(triangles, mesh->indices, 3 * (size_t)triangle_count * sizeof *triangles);
    } else if (round) {
        double length = def->kind == SINEW_OBSTACLE_CAPSULE ? def->length : 0;
        fill_capsule(def->radius, length, look->own, triangles);
    } else if (plane) {
        fill_plane(plane_extent * extent, look->own, triangles);
    } else {
        fill_box(def->size, look->own, triangles);
    }

    // Its appearance.
    look->mesh = sn_picture_mesh_default();
    look->mesh.positions = look->points;
    look->mesh.vertex_count = vertices;
    look->mesh.triangles = triangles;
    look->mesh.triangle_count = triangle_count;
    look->mesh.closed = !plane;
    look->mesh.color = sn_color_hex(from->color);
    look->mesh.opacity = from->opacity;
    look->mesh.gloss = 0.1;
    return SINEW_OK;
}

static bool is_backdrop(const sinew_obstacle_def *def, double extent) {
    double size = 2 * def->radius;
    if (def->kind == SINEW_OBSTACLE_MESH) {
        sn_vec3 edges = sn_box_size(sn_box_of_points(def->mesh->points, def->mesh->point_count));
        size = fmax(edges.x, fmax(edges.y, edges.z));
    }
    if (def->kind == SINEW_OBSTACLE_BOX) {
        size = fmax(def->size[0], fmax(def->size[1], def->size[2]));
    }
    if (def->kind == SINEW_OBSTACLE_CAPSULE) {
        size += def->length;
    }
    return def->kind == SINEW_OBSTACLE_PLANE || size > large * extent;
}

// The longest edge of the box around all bodies.
static double measure_bodies(const sinew_recording *recording) {
    sn_box box = sn_box_empty();
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        const sn_scene_surface *surface = &recording->world->members[i].surface;
        for (int32_t k = 0; k < surface->mesh->point_count; k++) {
            box = sn_box_with_point(box, sn_load3(surface->points + 3 * (size_t)k));
        }
    }

    sn_vec3 size = sn_box_size(box);
    return fmax(size.x, fmax(size.y, size.z));
}

sinew_status sn_recording_begin_obstacles(sinew_recording *recording) {
    const sn_scene *scene = recording->scene;
    int32_t count = scene->obstacle_count - scene->contact.ground;
    double extent = measure_bodies(recording);
    recording->obstacles = SN_PUSH(&recording->arena, sn_obstacle_look, count);
    recording->dots = SN_PUSH(&recording->arena, double, 3 * SN_MOST_DOTS);
    SN_TRY(sn_arena_status(&recording->arena));

    for (int backdrop = 0; backdrop < 2; backdrop++) {
        for (int32_t i = 0; i < count; i++) {
            sinew_obstacle_def def = sinew_obstacle_get_def(recording->world->obstacles[i]);
            if (is_backdrop(&def, extent) != (backdrop == 1)) {
                continue;
            }
            SN_TRY(make_look(recording, i, extent,
                             &recording->obstacles[recording->obstacle_count++]));
            recording->backdrop_count += backdrop;
        }
    }

    sn_recording_update_obstacles(recording);
    return SINEW_OK;
}

void sn_recording_update_obstacles(sinew_recording *recording) {
    for (int32_t i = 0; i < recording->obstacle_count; i++) {
        sn_obstacle_look *look = &recording->obstacles[i];
        sinew_transform pose;
        sinew_obstacle_get_pose(look->obstacle, pose.translation, pose.rotation);
        sn_rigid rigid = sn_rigid_load(&pose);
        for (int32_t k = 0; k < look->mesh.vertex_count; k++) {
            sn_vec3 own = sn_load3(look->own + 3 * (size_t)k);
            sn_store3(look->points + 3 * (size_t)k, sn_rigid_apply(rigid, own));
        }
    }
}

void sn_recording_update_dots(sinew_recording *recording) {
    const sinew_contact *contacts;
    int32_t count = sinew_world_get_contacts(recording->world->world, &contacts);
    for (int32_t i = 0; i < SN_MOST_DOTS; i++) {
        double *dot = recording->dots + 3 * (size_t)i;
        dot[0] = dot[1] = dot[2] = NAN;
        if (i < count) {
            memcpy(dot,
                   contacts[(int64_t)i * count / (count < SN_MOST_DOTS ? count : SN_MOST_DOTS)]
                       .position,
                   3 * sizeof *dot);
        }
    }
}
