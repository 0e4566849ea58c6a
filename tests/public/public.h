// What the tests in this folder share. They include cmocka and the installed headers only.
#ifndef TESTS_PUBLIC_PUBLIC_H
#define TESTS_PUBLIC_PUBLIC_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sinew/io.h>
#include <sinew/sinew.h>

#define assert_ok(context, call)                                                                   \
    do {                                                                                           \
        sinew_status public_status = (call);                                                       \
        if (public_status != SINEW_OK)                                                             \
            fail_msg("%s: %s: %s", #call, sinew_status_name(public_status),                        \
                     sinew_context_message(context));                                              \
    } while (0)

static inline sinew_context *public_context(void) {
    sinew_context_def def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&def);
    assert_non_null(context);
    return context;
}

// A bar of tets along x, with labels 1 and 2 on both sides of its middle.
static inline sinew_mesh *public_bar(sinew_context *context) {
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[1] = shape.size[2] = 0.25;
    shape.cell_size = 0.125;

    sinew_mesh *plain = NULL, *bar = NULL;
    assert_ok(context, sinew_mesh_create_shape(context, &shape, &plain));
    int32_t *labels = malloc((size_t)plain->element_count * sizeof *labels);
    assert_non_null(labels);
    for (int32_t e = 0; e < plain->element_count; e++) {
        double x = 0;
        for (int32_t k = 0; k < 4; k++) {
            x += plain->points[3 * (size_t)plain->indices[4 * (size_t)e + (size_t)k]];
        }
        labels[e] = x < 0 ? 1 : 2;
    }

    sinew_mesh labelled = *plain;
    labelled.labels = labels;
    assert_ok(context, sinew_mesh_copy(context, &labelled, &bar));
    sinew_mesh_destroy(plain);
    free(labels);

    return bar;
}

// The boundary of that bar, without labels.
static inline sinew_mesh *public_surface(sinew_context *context) {
    sinew_mesh *bar = public_bar(context), *surface = NULL;
    assert_ok(context, sinew_mesh_create_surface(context, bar, &surface, NULL));
    sinew_mesh_destroy(bar);
    surface->labels = NULL;
    return surface;
}

static inline sinew_source public_source(const char *name, const sinew_bytes *bytes) {
    return (sinew_source){
        .name = name, .data = sinew_bytes_get_data(bytes), .size = sinew_bytes_get_size(bytes)};
}

#endif
