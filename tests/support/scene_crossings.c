#include "support/scene_crossings.h"

#include "support/crossings.h"

#include "sinew/sinew.h"

#include "base/context.h"
#include "io/public/scene.h"
#include "math/box.h"
#include "math/rigid.h"

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One closed surface: a body, or an obstacle that is a box or a mesh.
typedef struct solid {
    const char *name;
    int32_t body; // index, or -1 - index of the obstacle
    int32_t vertex_count, triangle_count;
    double *x;
    const int32_t *triangles;
    sn_box box;
} solid;

typedef struct checker {
    const char *name;
    sinew_scene *scene;
    sinew_world *world;
    solid *solids;
    int32_t count, bodies, obstacles;
    bool *inside;   // of each body and obstacle: from the start
    bool *together; // of each body and solid: from the start
    double *x;      // room for all
    int32_t *triangles, *parts;
    int step;
    test_crossing_count *result;
} checker;

static const int32_t box_triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                          2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
add_fault(checker *c, int64_t count, const char *format, ...) {
    test_crossing_count *result = c->result;
    result->faults += count;
    if (result->first[0]) {
        return;
    }

    int used = snprintf(result->first, sizeof result->first, "%s, step %d: ", c->name, c->step);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->first + used, sizeof result->first - (size_t)used, format, arguments);
    va_end(arguments);
}

// --- Surfaces

static void add_solid(checker *c, const char *name, int32_t body, int32_t vertices,
                      int32_t triangle_count, const int32_t *triangles) {
    c->solids[c->count++] = (solid){.name = name,
                                    .body = body,
                                    .vertex_count = vertices,
                                    .triangle_count = triangle_count,
                                    .x = calloc(3 * (size_t)vertices + 1, sizeof(double)),
                                    .triangles = triangles};
}

static void list_solids(checker *c) {
    for (int32_t i = 0; i < c->bodies; i++) {
        sinew_body *body = sinew_world_get_body(c->world, i);
        const sinew_mesh *surface = sinew_body_get_surface(body);
        add_solid(c, sinew_body_get_name(body), i, surface->point_count, surface->element_count,
                  surface->indices);
    }

    for (int32_t i = 0; i < c->obstacles; i++) {
        const sinew_obstacle *obstacle = sinew_world_get_obstacle(c->world, i);
        sinew_obstacle_def def = sinew_obstacle_get_def(obstacle);
        const char *name = sinew_obstacle_get_name(obstacle);
        if (def.kind == SINEW_OBSTACLE_BOX) {
            add_solid(c, name, -1 - i, 8, 12, box_triangles);
        } else if (def.kind == SINEW_OBSTACLE_MESH) {
            add_solid(c, name, -1 - i, def.mesh->point_count, def.mesh->element_count,
                      def.mesh->indices);
        }
    }
}

// False if there is no memory.
static bool make_checker(checker *c) {
    c->world = sinew_scene_get_world(c->scene);
    c->bodies = sinew_world_get_body_count(c->world);
    c->obstacles = sinew_world_get_obstacle_count(c->world);
    size_t most = (size_t)(c->bodies + c->obstacles);
    c->solids = calloc(most + 1, sizeof *c->solids);
    if (!c->solids) {
        return false;
    }

    // Room for two at a time.
    list_solids(c);
    size_t vertices = 0, triangles = 0;
    bool complete = true;
    for (int32_t i = 0; i < c->count; i++) {
        vertices += (size_t)c->solids[i].vertex_count;
        triangles += (size_t)c->solids[i].triangle_count;
        complete = complete && c->solids[i].x;
    }
    c->inside = calloc((size_t)c->bodies * (size_t)c->obstacles + 1, sizeof *c->inside);
    c->together = calloc((size_t)c->bodies * most + 1, sizeof *c->together);
    c->x = calloc(3 * vertices + 1, sizeof *c->x);
    c->triangles = calloc(3 * triangles + 1, sizeof *c->triangles);
    c->parts = calloc(vertices + 1, sizeof *c->parts);
    return complete && c->inside && c->together && c->x && c->triangles && c->parts;
}

static void destroy_checker(checker *c) {
    for (int32_t i = 0; i < c->count; i++) {
        free(c->solids[i].x);
    }
    free(c->solids);
    free(c->inside);
    free(c->together);
    free(c->x);
    free(c->triangles);
    free(c->parts);
}

static sn_rigid pose_of(const sinew_obstacle_def *def) {
    sinew_transform pose;
    memcpy(pose.translation, def->position, sizeof pose.translation);
    memcpy(pose.rotation, def->rotation, sizeof pose.rotation);
    return sn_rigid_load(&pose);
}

static void place_obstacle(const sinew_obstacle_def *def, double *x) {
    if (def->kind == SINEW_OBSTACLE_MESH) {
        for (int32_t v = 0; v < def->mesh->point_count; v++) {
            sn_vec3 own = sn_load3(sn_at3(def->mesh->points, v));
            sn_store3(x + 3 * (size_t)v, sn_rigid_apply(pose_of(def), own));
        }
        return;
    }

    for (int v = 0; v < 8; v++) {
        sn_vec3 own = {(v & 1 ? 0.5 : -0.5) * def->size[0], (v & 2 ? 0.5 : -0.5) * def->size[1],
                       (v & 4 ? 0.5 : -0.5) * def->size[2]};
        sn_store3(x + 3 * v, sn_rigid_apply(pose_of(def), own));
    }
}

static void place_solid(checker *c, solid *s) {
    if (s->body >= 0) {
        sinew_body_compute_surface(sinew_world_get_body(c->world, s->body), s->x, NULL);
    } else {
        sinew_obstacle_def def =
            sinew_obstacle_get_def(sinew_world_get_obstacle(c->world, -1 - s->body));
        place_obstacle(&def, s->x);
    }

    s->box = sn_box_empty();
    for (int32_t v = 0; v < s->vertex_count; v++) {
        s->box = sn_box_with_point(s->box, sn_load3(sn_at3(s->x, v)));
    }
}

// --- Pairs

// Crossings of the triangles of both with each other, or of one with itself if `b` is NULL; -1:
// positions are not finite.
static int64_t count_crossings(checker *c, const solid *a, const solid *b) {
    const solid *both[2] = {a, b};
    int32_t vertices = 0, triangles = 0;
    for (int k = 0; k < (b ? 2 : 1); k++) {
        memcpy(c->x + 3 * vertices, both[k]->x, 3 * (size_t)both[k]->vertex_count * sizeof *c->x);
        for (int32_t i = 0; i < 3 * both[k]->triangle_count; i++) {
            c->triangles[3 * triangles + i] = vertices + both[k]->triangles[i];
        }
        for (int32_t i = 0; i < both[k]->vertex_count; i++) {
            c->parts[vertices + i] = k;
        }
        vertices += both[k]->vertex_count;
        triangles += both[k]->triangle_count;
    }

    test_surfaces surfaces = {c->x, vertices, c->triangles, triangles, c->parts, b != NULL};
    return test_count_crossings(&surfaces, NULL);
}

// Whether a point lies inside a surface that it is not on: the winding number, by the solid angles
// of the triangles (van Oosterom and Strackee 1983).
static bool is_inside(const solid *s, sn_vec3 p) {
    double sum = 0;
    for (int32_t t = 0; t < s->triangle_count; t++) {
        sn_vec3 r[3];
        double length[3];
        for (int k = 0; k < 3; k++) {
            r[k] = sn_sub(sn_load3(sn_at3(s->x, s->triangles[3 * (size_t)t + (size_t)k])), p);
            length[k] = sn_length(r[k]);
        }
        double volume = sn_dot(r[0], sn_cross(r[1], r[2]));
        double rest = length[0] * length[1] * length[2] + sn_dot(r[0], r[1]) * length[2] +
                      sn_dot(r[1], r[2]) * length[0] + sn_dot(r[2], r[0]) * length[1];
        sum += 2 * atan2(volume, rest);
    }
    return fabs(sum) > 2 * acos(-1);
}

static bool are_attached(const checker *c, int32_t a, int32_t b) {
    const sn_scene *scene = &c->scene->scene;
    for (int32_t i = 0; i < scene->attachment_count; i++) {
        const sn_scene_attachment *item = &scene->attachments[i];
        if ((item->body == a && item->target == b) || (item->body == b && item->target == a)) {
            return true;
        }
    }
    return false;
}

static bool takes_part(const checker *c, const solid *s) {
    return s->body < 0 || c->scene->scene.bodies[s->body].contact.on;
}

static bool may_meet(const checker *c, const solid *a, const solid *b) {
    if (!takes_part(c, a) || !takes_part(c, b) || !sn_box_overlaps(a->box, b->box)) {
        return false;
    }
    return b->body < 0 ||
           (c->scene->scene.contact.def.bodies && !are_attached(c, a->body, b->body));
}

// At the start notes which overlap.
static void check_pair(checker *c, const solid *a, const solid *b) {
    bool *together = &c->together[(size_t)a->body * (size_t)(c->bodies + c->obstacles) +
                                  (size_t)(b - c->solids)];
    if (*together || !may_meet(c, a, b)) {
        return;
    }

    int64_t crossings = count_crossings(c, a, b);
    if (crossings == 0) {
        crossings = is_inside(a, sn_load3(b->x)) || is_inside(b, sn_load3(a->x));
    }
    if (c->step == 0) {
        *together = crossings != 0;
    } else if (crossings != 0) {
        add_fault(c, llabs(crossings), "%lld pairs of triangles of \"%s\" and \"%s\" intersect",
                  (long long)crossings, a->name, b->name);
    }
}

// --- Other obstacles

// How far a point is outside of an obstacle that has no triangles.
static double outside(const sinew_obstacle_def *def, sn_vec3 x) {
    sn_rigid pose = pose_of(def);
    sn_vec3 own = sn_quat_rotate(sn_quat_conjugate(pose.q), sn_sub(x, pose.t));
    switch (def->kind) {
    case SINEW_OBSTACLE_PLANE: return own.z;
    case SINEW_OBSTACLE_SPHERE: return sn_length(own) - def->radius;
    case SINEW_OBSTACLE_CAPSULE:
        own.z -= fmax(-0.5 * def->length, fmin(0.5 * def->length, own.z));
        return sn_length(own) - def->radius;
    default: return INFINITY;
    }
}

// At the start notes which bodies begin inside.
static void check_obstacle(checker *c, const solid *s, int32_t o) {
    bool *inside = &c->inside[(size_t)s->body * (size_t)c->obstacles + (size_t)o];
    if (*inside || !takes_part(c, s)) {
        return;
    }

    sinew_obstacle_def def = sinew_obstacle_get_def(sinew_world_get_obstacle(c->world, o));
    for (int32_t v = 0; v < s->vertex_count; v++) {
        double distance = outside(&def, sn_load3(sn_at3(s->x, v)));
        if (distance > 0) {
            continue;
        }
        if (c->step == 0) {
            *inside = true;
            return;
        }
        add_fault(c, 1, "vertex %d of \"%s\" is %g m inside \"%s\"", v, s->name, -distance,
                  def.name);
    }
}

// --- Scenes

static bool is_finite(const solid *s) {
    for (size_t i = 0; i < 3 * (size_t)s->vertex_count; i++) {
        if (!isfinite(s->x[i])) {
            return false;
        }
    }
    return true;
}

static void check_state(checker *c) {
    bool self = c->scene->scene.contact.def.self;
    for (int32_t i = 0; i < c->count; i++) {
        solid *s = &c->solids[i];
        place_solid(c, s);
        if (!is_finite(s)) {
            add_fault(c, 1, "positions of \"%s\" are not finite", s->name);
            return;
        }

        int64_t own = self && takes_part(c, s) && s->body >= 0 ? count_crossings(c, s, NULL) : 0;
        if (c->step > 0 && own != 0) {
            add_fault(c, own, "\"%s\" intersects itself", s->name);
        }
    }

    for (int32_t i = 0; i < c->bodies; i++) {
        for (int32_t o = 0; o < c->obstacles; o++) {
            check_obstacle(c, &c->solids[i], o);
        }
        for (int32_t k = i + 1; k < c->count; k++) {
            check_pair(c, &c->solids[i], &c->solids[k]);
        }
    }
}

static sinew_status take_steps(checker *c, int32_t most_steps) {
    int32_t steps = c->scene->scene.steps < most_steps ? c->scene->scene.steps : most_steps;
    check_state(c);
    for (c->step = 1; c->step <= steps; c->step++) {
        sinew_status status = sinew_scene_step(c->scene, NULL);
        if (status == SINEW_DIVERGED) {
            c->result->unstable++;
            return SINEW_OK;
        }
        SN_TRY(status);
        check_state(c);
        c->result->steps++;
        c->result->touching += sinew_world_get_contact_report(c->world).active > 0;
    }
    return SINEW_OK;
}

sinew_status test_check_scene(sinew_context *context, sinew_scene *scene, const char *name,
                              int32_t most_steps, test_crossing_count *count) {
    if (!scene->scene.contact.on) {
        return SINEW_OK;
    }
    SN_TRY(sinew_scene_build(scene, NULL));

    checker c = {.name = name, .scene = scene, .result = count};
    sinew_status status = make_checker(&c) ? take_steps(&c, most_steps)
                                           : sn_fail(context, SINEW_OUT_OF_MEMORY, "out of memory");
    count->scenes++;
    count->hash = 31 * count->hash + sinew_world_get_hash(sinew_scene_get_world(scene));
    destroy_checker(&c);
    return status;
}

static sinew_status check_example(sinew_context *context, const char *folder, const char *file,
                                  int32_t most_steps, test_crossing_count *count) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    sinew_scene *scene = NULL;
    SN_TRY(sinew_scene_load(context, path, NULL, NULL, &scene));
    sinew_status status = test_check_scene(context, scene, file, most_steps, count);
    sinew_scene_destroy(scene);
    return status;
}

sinew_status test_check_examples(sinew_context *context, const char *folder, int32_t most_steps,
                                 test_crossing_count *count) {
    DIR *listing = opendir(folder);
    if (!listing) {
        return sn_fail(context, SINEW_INVALID_DATA, "the folder %s cannot be read", folder);
    }

    sinew_status status = SINEW_OK;
    const struct dirent *entry;
    while (status == SINEW_OK && (entry = readdir(listing)) != NULL) {
        const char *ending = strrchr(entry->d_name, '.');
        if (ending && strcmp(ending, ".json") == 0) {
            status = check_example(context, folder, entry->d_name, most_steps, count);
        }
    }
    closedir(listing);
    return status;
}
