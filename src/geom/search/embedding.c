// A detailed surface that follows a coarser mesh: nodes and weights for each of its points,
// evaluated in parallel; normals are gathered from the surface's own triangles.
#include "geom/search/search.h"

#include "base/threads.h"
#include "geom/mesh/mesh.h"

#include <string.h>

enum { CHUNK = 512 };

struct sinew_embedding {
    sn_arena arena; // holds this struct too
    int32_t count;  // points
    int32_t nodes_per_point;
    int32_t *nodes;
    double *weights;
    int32_t *elements;
    double *distances;
    int32_t *corner_offsets; // count + 1: the triangles' corners at each point
    int32_t (*corners)[2];   // the triangle's other two points, the next one first
    int32_t outside_count;
    double largest_distance;
};

static sinew_status locate_points(sn_arena *scratch, sinew_embedding *embedding,
                                  const double *points, const sinew_mesh *mesh) {
    const int32_t *elements = embedding->elements;
    const double *distances = embedding->distances;
    size_t width = (size_t)embedding->nodes_per_point;
    SN_TRY(sn_locate_points(scratch, mesh, points, embedding->count, embedding->elements,
                            embedding->weights, embedding->distances));

    for (int32_t i = 0; i < embedding->count; i++) {
        memcpy(embedding->nodes + width * (size_t)i, sn_mesh_nodes(mesh, elements[i]),
               width * sizeof(int32_t));
    }

    // Points on the boundary up to rounding are not outside.
    double rounding = 1e-12 * sn_box_diagonal(sn_mesh_box(mesh));
    for (int32_t i = 0; i < embedding->count; i++) {
        embedding->outside_count += distances[i] > rounding;
        embedding->largest_distance = fmax(embedding->largest_distance, distances[i]);
    }

    if (embedding->outside_count == 0) {
        embedding->largest_distance = 0;
    }

    return SINEW_OK;
}

// Lists the triangles' corners point by point, so that normals are gathered and points are
// independent of each other.
static sinew_status list_corners(sn_arena *arena, sn_arena *scratch, const sinew_mesh *surface,
                                 sinew_embedding *embedding) {
    sn_adjacency slots;
    SN_TRY(sn_build_node_slots(scratch, surface->indices, 3, surface->element_count,
                               surface->point_count, &slots));
    embedding->corner_offsets = SN_PUSH(arena, int32_t, (size_t)surface->point_count + 1);
    embedding->corners =
        sn_arena_push(arena, 3 * (size_t)surface->element_count, sizeof *embedding->corners);
    SN_TRY(sn_arena_status(arena));
    memcpy(embedding->corner_offsets, slots.offsets,
           ((size_t)surface->point_count + 1) * sizeof(int32_t));

    for (int32_t i = 0; i < 3 * surface->element_count; i++) {
        const int32_t *triangle = surface->indices + slots.items[i] / 3 * 3;
        for (int k = 0; k < 2; k++) {
            embedding->corners[i][k] = triangle[(slots.items[i] + 1 + k) % 3];
        }
    }

    return SINEW_OK;
}

static sinew_status build_embedding(sn_arena *arena, sn_arena *scratch, const sinew_mesh *surface,
                                    const sinew_mesh *mesh, sinew_embedding **embedding) {
    SN_ASSERT(surface->element == SINEW_ELEMENT_TRIANGLE && mesh->element_count > 0);
    int32_t width = sn_element_info_of(mesh->element)->nodes;
    sinew_embedding *made = SN_PUSH(arena, sinew_embedding, 1);

    SN_TRY(sn_arena_status(arena));
    size_t count = (size_t)surface->point_count * (size_t)width;

    *made = (sinew_embedding){.count = surface->point_count,
                              .nodes_per_point = width,
                              .nodes = SN_PUSH(arena, int32_t, count),
                              .weights = SN_PUSH(arena, double, count),
                              .elements = SN_PUSH(arena, int32_t, surface->point_count),
                              .distances = SN_PUSH(arena, double, surface->point_count)};
    SN_TRY(sn_arena_status(arena));
    SN_TRY(list_corners(arena, scratch, surface, made));
    SN_TRY(locate_points(scratch, made, surface->points, mesh));
    *embedding = made;

    return SINEW_OK;
}

sinew_status sinew_embedding_create(sinew_context *context, const sinew_mesh *surface,
                                    const sinew_mesh *mesh, sinew_embedding **embedding) {
    SN_NEED(NULL, context);

    SN_TRY(sn_check_arrays(context, surface));
    if (surface->element != SINEW_ELEMENT_TRIANGLE) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the embedded surface is made of %s; it must be triangles",
                       sn_element_info_of(surface->element)->name);
    }

    SN_TRY(sn_check_arrays(context, mesh));
    if (mesh->element_count == 0) {
        return sn_fail(context, SINEW_INVALID_DATA, "the mesh has no elements");
    }

    SN_TRY(sn_check_volumes(context, mesh));

    // Build, in an arena that the embedding takes over.
    sn_arena arena = sn_arena_create(context);
    sn_arena scratch = sn_arena_create(context);
    sinew_embedding *made = NULL;
    sinew_status status = build_embedding(&arena, &scratch, surface, mesh, &made);

    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        sn_arena_destroy(&arena);
        return status;
    }

    made->arena = arena;
    *embedding = made;

    return SINEW_OK;
}

void sinew_embedding_destroy(sinew_embedding *embedding) {
    if (!embedding) {
        return;
    }
    sn_arena arena = embedding->arena; // a copy: the arena holds the embedding itself
    sn_arena_destroy(&arena);
}

const int32_t *sinew_embedding_get_elements(const sinew_embedding *embedding,
                                            const double **distances) {
    SN_NEED_OR(NULL, embedding);
    if (distances) {
        *distances = embedding->distances;
    }
    return embedding->elements;
}

void sinew_embedding_get_outside(const sinew_embedding *embedding, int32_t *count,
                                 double *largest_distance) {
    SN_NEED_OR(, embedding);
    if (count) {
        *count = embedding->outside_count;
    }
    if (largest_distance) {
        *largest_distance = embedding->largest_distance;
    }
}

typedef struct evaluate_job {
    const sinew_embedding *embedding;
    const double *from;
    double *to;
} evaluate_job;

static void compute_points_chunk(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    evaluate_job *job = data;
    const sinew_embedding *embedding = job->embedding;
    size_t width = (size_t)embedding->nodes_per_point;

    for (int32_t i = begin; i < end; i++) {
        const int32_t *nodes = embedding->nodes + width * (size_t)i;
        const double *weights = embedding->weights + width * (size_t)i;
        sn_vec3 x = sn_v3(0, 0, 0);

        for (size_t k = 0; k < width; k++) {
            x = sn_madd(x, weights[k], sn_load3(sn_at3(job->from, nodes[k])));
        }

        sn_store3(sn_at3(job->to, i), x);
    }
}

void sinew_embedding_compute_points(const sinew_embedding *embedding, const double *mesh_points,
                                    double *surface_points) {
    SN_NEED_OR(, embedding && mesh_points && surface_points);
    evaluate_job job = {embedding, mesh_points, surface_points};
    sn_parallel_for(embedding->arena.context, embedding->count, CHUNK, compute_points_chunk, &job);
}

int32_t sn_embedding_get_entries(const sinew_embedding *embedding, int32_t point,
                                 const int32_t **nodes, const double **weights) {
    size_t first = (size_t)embedding->nodes_per_point * (size_t)point;
    *nodes = embedding->nodes + first;
    *weights = embedding->weights + first;
    return embedding->nodes_per_point;
}

void sn_embedding_add_forces(const sinew_embedding *embedding, const double *surface_forces,
                             double *mesh_forces) {
    size_t width = (size_t)embedding->nodes_per_point;
    for (int32_t i = 0; i < embedding->count; i++) {
        sn_vec3 f = sn_load3(surface_forces + 3 * (size_t)i);
        if (f.x == 0 && f.y == 0 && f.z == 0) {
            continue;
        }

        const int32_t *nodes = embedding->nodes + width * (size_t)i;
        const double *weights = embedding->weights + width * (size_t)i;
        for (size_t k = 0; k < width; k++) {
            sn_add_to3(mesh_forces + 3 * (size_t)nodes[k], sn_scale(weights[k], f));
        }
    }
}

void sn_embedding_interpolate(const sinew_embedding *embedding, const double *mesh_values,
                              int32_t width, double *surface_values) {
    size_t nodes = (size_t)embedding->nodes_per_point;
    for (int32_t i = 0; i < embedding->count; i++) {
        double *out = surface_values + (size_t)i * (size_t)width;
        for (int32_t c = 0; c < width; c++) {
            out[c] = 0;
        }

        for (size_t k = nodes * (size_t)i; k < nodes * ((size_t)i + 1); k++) {
            const double *from = mesh_values + (size_t)embedding->nodes[k] * (size_t)width;
            for (int32_t c = 0; c < width; c++) {
                out[c] += embedding->weights[k] * from[c];
            }
        }
    }
}

static sn_vec3 point_normal(const sinew_embedding *embedding, const double *points, int32_t point) {
    sn_vec3 sum = sn_v3(0, 0, 0);
    for (int32_t i = embedding->corner_offsets[point]; i < embedding->corner_offsets[point + 1];
         i++) {
        const int32_t *corner = embedding->corners[i];
        sum = sn_add(sum, sn_corner_normal(points, point, corner[0], corner[1]));
    }

    return sn_normalize(sum);
}

static void compute_normals_chunk(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    evaluate_job *job = data;
    for (int32_t i = begin; i < end; i++) {
        sn_store3(sn_at3(job->to, i), point_normal(job->embedding, job->from, i));
    }
}

void sinew_embedding_compute_normals(const sinew_embedding *embedding, const double *surface_points,
                                     double *normals) {
    SN_NEED_OR(, embedding && surface_points && normals);
    evaluate_job job = {embedding, surface_points, normals};
    sn_parallel_for(embedding->arena.context, embedding->count, CHUNK, compute_normals_chunk, &job);
}
