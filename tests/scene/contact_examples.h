// The examples with contact, stepped: after every step an exact test, which shares nothing with the
// detection of contact, finds no two bodies and no body and box that intersect, and no vertex
// inside a plane, sphere or capsule.
//
// Bodies that are attached to each other may overlap, and so may a body itself where the scene does
// not ask for contact within bodies. Bodies that stand in an obstacle from the start are left out
// there.
#ifndef SN_TESTS_SCENE_CONTACT_EXAMPLES_H
#define SN_TESTS_SCENE_CONTACT_EXAMPLES_H

#include "support/crossings.h"
#include "support/test.h"

#include "sinew/contact.h"
#include "sinew/surface.h"

#include "io/public/scene.h"
#include "math/box.h"
#include "math/rigid.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One closed surface: a body, or an obstacle that is a box.
typedef struct solid {
    const char *name;
    int32_t body; // index, or -1
    int32_t vertex_count, triangle_count;
    double *x;
    const int32_t *triangles;
    sn_box box;
    int64_t own; // crossings within it
} solid;

typedef struct checker {
    const char *file;
    sinew_scene *scene;
    solid *solids;
    int32_t count, bodies;
    bool *inside; // of each body and obstacle: from the start
    double *x;    // room for two
    int32_t *triangles, *parts;
} checker;

static const int32_t box_triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                          2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static void *make_room(size_t count, size_t size) {
    void *room = calloc(count + 1, size);
    assert_non_null(room);
    return room;
}

static checker make_checker(const char *file, sinew_scene *scene) {
    const sinew_world *world = sinew_scene_get_world(scene);
    int32_t obstacles = sinew_world_get_obstacle_count(world);
    checker c = {.file = file, .scene = scene, .bodies = sinew_world_get_body_count(world)};
    c.solids = make_room((size_t)(c.bodies + obstacles), sizeof *c.solids);
    size_t most_vertices = 8, most_triangles = 12;

    for (int32_t i = 0; i < c.bodies; i++) {
        sinew_body *body = sinew_world_get_body(world, i);
        const sinew_mesh *surface = sinew_body_get_surface(body);
        c.solids[c.count++] = (solid){.name = sinew_body_get_name(body),
                                      .body = i,
                                      .vertex_count = surface->point_count,
                                      .triangle_count = surface->element_count,
                                      .x = make_room(3 * (size_t)surface->point_count, 8),
                                      .triangles = surface->indices};
        most_vertices += (size_t)surface->point_count;
        most_triangles += (size_t)surface->element_count;
    }

    for (int32_t i = 0; i < obstacles; i++) {
        sinew_obstacle *obstacle = sinew_world_get_obstacle(world, i);
        if (sinew_obstacle_get_def(obstacle).kind == SINEW_OBSTACLE_BOX) {
            c.solids[c.count++] = (solid){.name = sinew_obstacle_get_name(obstacle),
                                          .body = -1 - i,
                                          .vertex_count = 8,
                                          .triangle_count = 12,
                                          .x = make_room(24, 8),
                                          .triangles = box_triangles};
        }
    }

    c.inside = make_room((size_t)c.bodies * (size_t)obstacles, sizeof *c.inside);
    c.x = make_room(3 * most_vertices, sizeof *c.x);
    c.triangles = make_room(3 * most_triangles, sizeof *c.triangles);
    c.parts = make_room(most_vertices, sizeof *c.parts);
    return c;
}

static void destroy_checker(checker *c) {
    for (int32_t i = 0; i < c->count; i++) {
        free(c->solids[i].x);
    }
    free(c->solids);
    free(c->inside);
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

static void place_box(const sinew_obstacle_def *def, double *x) {
    for (int v = 0; v < 8; v++) {
        sn_vec3 own = {(v & 1 ? 0.5 : -0.5) * def->size[0], (v & 2 ? 0.5 : -0.5) * def->size[1],
                       (v & 4 ? 0.5 : -0.5) * def->size[2]};
        sn_store3(x + 3 * v, sn_rigid_apply(pose_of(def), own));
    }
}

static int64_t count_together(checker *c, const solid *a, const solid *b) {
    const solid *both[2] = {a, b};
    int32_t vertices = 0, triangles = 0;
    for (int k = 0; k < 2 && both[k]; k++) {
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

    test_surfaces surfaces = {c->x, vertices, c->triangles, triangles, c->parts};
    return test_count_crossings(&surfaces, NULL);
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
    const sn_scene_body *body = s->body >= 0 ? &c->scene->scene.bodies[s->body] : NULL;
    return !body || (body->contact.on && !body->positions.used);
}

static void check_pair(checker *c, const solid *a, const solid *b, int step) {
    bool bodies = b->body >= 0;
    if (!takes_part(c, a) || !takes_part(c, b) || !sn_box_overlaps(a->box, b->box) ||
        (bodies && (are_attached(c, a->body, b->body) || !c->scene->scene.contact.def.bodies))) {
        return;
    }

    int64_t crossings = count_together(c, a, b) - a->own - b->own;
    if (crossings != 0) {
        fail_msg("%s, step %d: %lld pairs of triangles of \"%s\" and \"%s\" intersect", c->file,
                 step, (long long)crossings, a->name, b->name);
    }
}

// How far a point is outside of an obstacle that is no box.
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

// At step 0 notes which bodies begin inside.
static void check_obstacles(checker *c, int step) {
    const sinew_world *world = sinew_scene_get_world(c->scene);
    int32_t obstacles = sinew_world_get_obstacle_count(world);
    for (int32_t o = 0; o < obstacles; o++) {
        sinew_obstacle_def def = sinew_obstacle_get_def(sinew_world_get_obstacle(world, o));
        for (int32_t i = 0; i < c->bodies; i++) {
            const solid *s = &c->solids[i];
            bool *inside = &c->inside[(size_t)i * (size_t)obstacles + (size_t)o];
            for (int32_t v = 0; takes_part(c, s) && !*inside && v < s->vertex_count; v++) {
                double distance = outside(&def, sn_load3(sn_at3(s->x, v)));
                if (step == 0) {
                    *inside = !(distance > 0);
                } else if (!(distance > 0)) {
                    fail_msg("%s, step %d: vertex %d of \"%s\" is %g m inside \"%s\"", c->file,
                             step, v, s->name, -distance, def.name);
                }
            }
        }
    }
}

static void check_state(checker *c, int step) {
    const sinew_world *world = sinew_scene_get_world(c->scene);
    bool self = c->scene->scene.contact.def.self;
    for (int32_t i = 0; i < c->count; i++) {
        solid *s = &c->solids[i];
        if (s->body >= 0) {
            sinew_body_compute_surface(sinew_world_get_body(world, s->body), s->x, NULL);
        } else {
            sinew_obstacle_def def =
                sinew_obstacle_get_def(sinew_world_get_obstacle(world, -1 - s->body));
            place_box(&def, s->x);
        }

        s->box = sn_box_empty();
        for (int32_t v = 0; v < s->vertex_count; v++) {
            s->box = sn_box_with_point(s->box, sn_load3(sn_at3(s->x, v)));
        }
        s->own = count_together(c, s, NULL);
        if (self && s->own != 0) {
            fail_msg("%s, step %d: \"%s\" intersects itself", c->file, step, s->name);
        }
    }

    check_obstacles(c, step);
    for (int32_t i = 0; i < c->bodies; i++) {
        for (int32_t k = i + 1; k < c->count; k++) {
            check_pair(c, &c->solids[i], &c->solids[k], step);
        }
    }
}

static void check_example(const char *folder, const char *file, int32_t most_steps) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    sinew_context *context = test_context(1);
    sinew_scene *scene = NULL;
    if (sinew_scene_load(context, path, NULL, NULL, &scene) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }

    if (scene->scene.contact.on) {
        if (sinew_scene_build(scene, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(context));
        }
        checker c = make_checker(file, scene);
        check_state(&c, 0);
        int32_t steps = scene->scene.steps < most_steps ? scene->scene.steps : most_steps;
        for (int32_t step = 1; step <= steps; step++) {
            if (sinew_scene_step(scene, NULL) != SINEW_OK) {
                fail_msg("%s, step %d: %s", file, step, sinew_context_message(context));
            }
            check_state(&c, step);
        }
        print_message("%s: %d steps\n", file, steps);
        destroy_checker(&c);
    }
    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
}

// Runs all examples with contact for at most so many steps.
static void check_examples(int32_t most_steps) {
    const char *folder = TEST_CORPUS_DIR "/../../../examples";
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    const struct dirent *entry;
    while ((entry = readdir(listing)) != NULL) {
        const char *ending = strrchr(entry->d_name, '.');
        if (ending && strcmp(ending, ".json") == 0) {
            check_example(folder, entry->d_name, most_steps);
        }
    }
    closedir(listing);
}

#endif
