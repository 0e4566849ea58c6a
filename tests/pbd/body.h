// Bodies shared by the tests of this folder.
#ifndef SN_TESTS_PBD_BODY_H
#define SN_TESTS_PBD_BODY_H

#include "support/test.h"

#include "pbd/pbd.h"

#include <stdlib.h>

// A box of cells x cells x (3 cells) cubes with edges of 1/cells: 1 x 1 x 3 m, along z.
static inline sinew_mesh *make_box(sinew_context *context, int32_t cells) {
    sinew_shape_def def = sinew_default_shape_def();
    def.size[2] = 3;
    def.cells[0] = def.cells[1] = cells;
    def.cells[2] = 3 * cells;
    sinew_mesh *mesh = NULL;
    assert_int_equal(sinew_mesh_create_shape(context, &def, &mesh), SINEW_OK);

    return mesh;
}

static inline sinew_pbd *make_body(sinew_context *context, const sinew_mesh *mesh,
                                   const sinew_pbd_def *def) {
    sinew_pbd *pbd = NULL;
    sinew_status status = sinew_pbd_create(context, mesh, def, &pbd);
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }
    return pbd;
}

// Marks the nodes with z below `limit`.
static inline uint8_t *hold_bottom(const sinew_mesh *mesh, double limit) {
    uint8_t *kinematic = calloc((size_t)mesh->point_count, 1);
    for (int32_t i = 0; i < mesh->point_count; i++) {
        kinematic[i] = mesh->points[3 * i + 2] < limit;
    }
    return kinematic;
}

static inline sinew_pbd_report measure(sinew_pbd *pbd) {
    sinew_pbd_report report;
    sinew_pbd_measure(pbd, &report);
    return report;
}

#endif
