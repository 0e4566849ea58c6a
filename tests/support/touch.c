#include "support/touch.h"

#include "support/crossings.h"
#include "support/test.h"

#include <stdlib.h>

int64_t test_count_body_crossings(sinew_body *const *bodies, int32_t count) {
    size_t vertices = 0, triangles = 0;
    for (int32_t i = 0; i < count; i++) {
        const sinew_mesh *surface = sinew_body_get_surface(bodies[i]);
        vertices += (size_t)surface->point_count;
        triangles += (size_t)surface->element_count;
    }

    double *x = calloc(3 * vertices, sizeof *x);
    int32_t *indices = calloc(3 * triangles, sizeof *indices);
    int32_t *part = calloc(vertices, sizeof *part);
    assert_true(x && indices && part);

    // All surfaces in one numbering.
    int32_t vertex = 0, triangle = 0;
    for (int32_t i = 0; i < count; i++) {
        const sinew_mesh *surface = sinew_body_get_surface(bodies[i]);
        sinew_body_compute_surface(bodies[i], x + 3 * (size_t)vertex, NULL);
        for (int32_t k = 0; k < 3 * surface->element_count; k++) {
            indices[3 * (size_t)triangle + (size_t)k] = vertex + surface->indices[k];
        }
        for (int32_t k = 0; k < surface->point_count; k++) {
            part[vertex + k] = i;
        }
        vertex += surface->point_count;
        triangle += surface->element_count;
    }

    test_surfaces surfaces = {x, vertex, indices, triangle, part, false};
    int64_t crossings = test_count_crossings(&surfaces, NULL);
    assert_true(crossings >= 0);
    free(x);
    free(indices);
    free(part);
    return crossings;
}

static void check(sinew_context *context, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }
}

sinew_world *test_touch_world(sinew_context *context, const sinew_contact_def *contact,
                              double gravity) {
    sinew_world_def def = sinew_default_world_def();
    def.gravity[2] = gravity;

    sinew_world *world = NULL;
    check(context, sinew_world_create(context, &def, &world));
    check(context, sinew_world_set_contact(world, contact));
    return world;
}

void test_touch_snapshot(sinew_context *context, sinew_world *world, sinew_world *copy,
                         int32_t steps) {
    size_t size = sinew_world_get_snapshot_size(world);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    check(context, sinew_world_take_snapshot(world, bytes, size));
    check(context, sinew_world_restore_snapshot(copy, bytes, size));
    free(bytes);

    for (int32_t i = 0; i < steps; i++) {
        check(context, sinew_world_step(world, NULL));
        check(context, sinew_world_step(copy, NULL));
        assert_true(sinew_world_get_hash(world) == sinew_world_get_hash(copy));
    }
}
