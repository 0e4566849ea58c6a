// Shared by the tests of meshes: creation of shapes, and the properties of every valid mesh.
#ifndef SN_TESTS_GEOM_MESH_SUPPORT_H
#define SN_TESTS_GEOM_MESH_SUPPORT_H

#include "support/test.h"

#include "edges.h"

#include "geom/mesh/mesh.h"

#include <math.h>

static inline sinew_mesh *make_shape(sinew_context *context, const sinew_shape_def *def) {
    sinew_mesh *mesh = NULL;
    if (sinew_mesh_create_shape(context, def, &mesh) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }
    return mesh;
}

static inline sinew_mesh *make_box(sinew_context *context, sinew_element element, int32_t nx,
                                   int32_t ny, int32_t nz) {
    sinew_shape_def def = sinew_default_shape_def();
    def.element = element;
    for (int k = 0; k < 3; k++) {
        def.cells[k] = (const int32_t[]){nx, ny, nz}[k];
    }
    return make_shape(context, &def);
}

static inline void assert_ok(sinew_context *context, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s: %s", sinew_status_name(status), sinew_context_message(context));
    }
}

// Checks the status, and that the message contains `word`.
static inline void assert_refused(sinew_context *context, sinew_status status,
                                  sinew_status expected, const char *word) {
    if (status != expected || !strstr(sinew_context_message(context), word)) {
        fail_msg("expected %s with '%s', got %s: %s", sinew_status_name(expected), word,
                 sinew_status_name(status), sinew_context_message(context));
    }
}

// Signed volume inside triangles.
static inline double enclosed_volume(const double *points, const int32_t *triangles,
                                     int32_t count) {
    double volume = 0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t *t = triangles + 3 * (size_t)i;
        volume += sn_dot(sn_load3(points + 3 * (size_t)t[0]),
                         sn_cross(sn_load3(points + 3 * (size_t)t[1]),
                                  sn_load3(points + 3 * (size_t)t[2]))) /
                  6;
    }

    return volume;
}

// Sum over all elements.
static inline double mesh_volume(const sinew_mesh *mesh) {
    double sum = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        sum += sn_element_volume(mesh, e);
    }
    return sum;
}

// Closed, consistently oriented outwards, and of Euler characteristic `euler` (not checked below
// -1000).
static inline void assert_closed_surface(sinew_context *context, const sinew_mesh *surface,
                                         int32_t euler) {
    assert_int_equal(surface->element, SINEW_ELEMENT_TRIANGLE);
    edge_report edges =
        count_edges(context, surface->indices, surface->element_count, surface->point_count);
    assert_int_equal(edges.open, 0);
    assert_int_equal(edges.inconsistent, 0);

    if (euler > -1000) {
        assert_int_equal(edges.crowded, 0);
        assert_int_equal(surface->point_count - edges.edges + surface->element_count, euler);
    }

    assert_true(enclosed_volume(surface->points, surface->indices, surface->element_count) > 0);
}

// Passes the checks, and its surface is closed with the volume of the elements.
static inline void assert_good_solid(sinew_context *context, const sinew_mesh *mesh,
                                     int32_t euler) {
    assert_ok(context, sinew_mesh_check(context, mesh));
    sinew_mesh *surface = NULL;

    assert_ok(context, sinew_mesh_create_surface(context, mesh, &surface, NULL));
    assert_closed_surface(context, surface, euler);

    double inside = enclosed_volume(surface->points, surface->indices, surface->element_count);
    double volume = mesh_volume(mesh);

    // Flat faces only: the curved faces of a distorted hexahedron are not its triangles.
    if (mesh->element != SINEW_ELEMENT_HEX8) {
        test_close("volume of the surface", inside, volume, 1e-12 * volume);
    }

    sinew_mesh_destroy(surface);
}

static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * 1099511628211u;
    }
    return hash;
}

static inline uint64_t hash_mesh(const sinew_mesh *mesh) {
    size_t nodes = (size_t)sinew_element_node_count(mesh->element) * (size_t)mesh->element_count;
    uint64_t hash = hash_bytes(14695981039346656037u, mesh->points,
                               3 * (size_t)mesh->point_count * sizeof(double));
    return hash_bytes(hash, mesh->indices, nodes * sizeof(int32_t));
}

#endif
