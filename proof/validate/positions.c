// Position dynamics: layered projections against unordered ones.
#include "validate/validate.h"

#include "sinew/pbd.h"

#include "base/context.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

// The residual of the constraints after one step in which the held end of a bar is rotated by half
// a radian.
static sinew_status residual_after(validate_run *v, const sinew_mesh *mesh, sinew_pbd_order order,
                                   int32_t iterations, int32_t consolidating, double *residual) {
    sn_arena arena = sn_arena_create(v->context);
    uint8_t *kinematic = SN_PUSH(&arena, uint8_t, mesh->point_count);
    double *targets = SN_PUSH(&arena, double, 3 * (size_t)mesh->point_count);
    sinew_status status = sn_arena_status(&arena);

    if (status == SINEW_OK) {
        for (int32_t i = 0; i < mesh->point_count; i++) {
            // The end at x = -0.5 rotates about z.
            const double *X = mesh->points + 3 * i;
            double c = cos(0.5);
            double s = sin(0.5);
            double x = X[0] + 0.5;
            kinematic[i] = x < 1e-9;
            targets[3 * i] = c * x - s * X[1] - 0.5;
            targets[3 * i + 1] = s * x + c * X[1];
            targets[3 * i + 2] = X[2];
        }
    }

    // No gravity: all of the residual comes from the rotation.
    sinew_pbd_def def = sinew_default_pbd_def();
    def.order = order;
    def.iterations = iterations;
    def.consolidating = consolidating;
    def.gravity[2] = 0;
    def.kinematic = kinematic;

    sinew_pbd *pbd = NULL;
    if (status == SINEW_OK) {
        status = sinew_pbd_create(v->context, mesh, &def, &pbd);
    }
    if (status == SINEW_OK) {
        status = sinew_pbd_step(pbd, 0.01, targets, NULL);
    }

    if (status == SINEW_OK) {
        sinew_pbd_report report;
        sinew_pbd_measure(pbd, &report);
        *residual = report.residual;
    }

    sinew_pbd_destroy(pbd);
    sn_arena_destroy(&arena);

    return status;
}

// The same mesh with its tets in random order: the "unordered" case.
static sinew_status shuffle(validate_run *v, const sinew_mesh *mesh, sinew_mesh *shuffled,
                            int32_t **indices) {
    size_t count = 4 * (size_t)mesh->element_count;
    *indices = sn_allocate(v->context, count, sizeof **indices);
    if (!*indices) {
        return SINEW_OUT_OF_MEMORY;
    }

    memcpy(*indices, mesh->indices, count * sizeof **indices);
    sn_random random = sn_random_seed(15);
    for (int32_t i = mesh->element_count - 1; i > 0; i--) {
        int32_t j = (int32_t)(sn_random_u32(&random) % (uint32_t)(i + 1));
        int32_t swap[4];
        memcpy(swap, *indices + 4 * i, sizeof swap);
        memmove(*indices + 4 * i, *indices + 4 * j, sizeof swap);
        memcpy(*indices + 4 * j, swap, sizeof swap);
    }

    *shuffled = *mesh;
    shuffled->indices = *indices;

    return SINEW_OK;
}

sinew_status validate_layers(validate_run *v) {
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[1] = shape.size[2] = 0.25;
    shape.cells[0] = 24;
    shape.cells[1] = shape.cells[2] = 6;

    sinew_mesh *mesh, shuffled;
    SN_TRY(sinew_mesh_create_shape(v->context, &shape, &mesh));

    // Without layers, shuffled: the order of a generated mesh is no fair comparison.
    double layered = 0, unordered = 0;
    int32_t *indices = NULL;
    sinew_status status = shuffle(v, mesh, &shuffled, &indices);
    if (status == SINEW_OK) {
        status = residual_after(v, mesh, SINEW_PBD_LAYERED, 10, 6, &layered);
    }
    if (status == SINEW_OK) {
        status = residual_after(v, &shuffled, SINEW_PBD_SEQUENCE, 50, 0, &unordered);
    }

    if (status == SINEW_OK) {
        validate_at_most(v,
                         "rotated bar: residual of 10 layered iterations, 6 consolidating, against "
                         "50 unordered ones",
                         unordered, layered, "-");
    }

    sn_release(v->context, indices, 4 * (size_t)mesh->element_count, sizeof *indices);
    sinew_mesh_destroy(mesh);

    return status;
}
