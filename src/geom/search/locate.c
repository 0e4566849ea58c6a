// Locates many points in a mesh in parallel: elements and weights.
#include "geom/search/search.h"

#include "base/threads.h"

#include <string.h>

enum { CHUNK = 512 };

typedef struct locate_job {
    const sn_element_tree *tree;
    const double *points;
    int32_t width; // nodes of an element
    int32_t *elements;
    double *weights, *distances;
} locate_job;

static void locate_chunk(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const locate_job *job = data;
    for (int32_t i = begin; i < end; i++) {
        sn_location at = sn_element_tree_locate(job->tree, sn_load3(sn_at3(job->points, i)));
        if (job->elements) {
            job->elements[i] = at.element;
        }
        if (job->weights) {
            memcpy(job->weights + (size_t)i * (size_t)job->width, at.weights,
                   (size_t)job->width * sizeof(double));
        }
        if (job->distances) {
            job->distances[i] = at.distance;
        }
    }
}

sinew_status sn_locate_points(sn_arena *scratch, const sinew_mesh *mesh, const double *points,
                              int32_t count, int32_t *elements, double *weights,
                              double *distances) {
    sn_element_tree tree;
    SN_TRY(sn_element_tree_build(scratch, mesh, &tree));

    locate_job job = {.tree = &tree,
                      .points = points,
                      .width = sn_element_info_of(mesh->element)->nodes,
                      .elements = elements,
                      .weights = weights,
                      .distances = distances};
    sn_parallel_for(scratch->context, count, CHUNK, locate_chunk, &job);

    return SINEW_OK;
}

sinew_status sinew_mesh_locate_points(sinew_context *context, const sinew_mesh *mesh,
                                      const double *points, int32_t count, int32_t *elements,
                                      double *weights, double *distances) {
    SN_NEED(NULL, context);

    SN_TRY(sn_check_arrays(context, mesh));
    if (mesh->element_count == 0) {
        return sn_fail(context, SINEW_INVALID_DATA, "the mesh has no elements");
    }
    SN_TRY(sn_check_volumes(context, mesh));
    for (int32_t i = 0; i < count; i++) {
        if (!sn_finite3(sn_load3(sn_at3(points, i)))) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT, "point %d is not finite", (int)i);
        }
    }

    sn_arena scratch = sn_arena_create(context);
    sinew_status status =
        sn_locate_points(&scratch, mesh, points, count, elements, weights, distances);
    sn_arena_destroy(&scratch);

    return status;
}
