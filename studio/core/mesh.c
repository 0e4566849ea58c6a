// What the page must know of a mesh before it makes a scene of it.
#include "internal.h"

#include <math.h>

STUDIO_API const double *studio_measure_mesh(studio *s, const char *name) {
    const studio_file *found = studio_find_file(s, name);
    if (!found) {
        studio_fail(s, "there is no such file");
        return NULL;
    }

    const sinew_source source = {.name = found->name, .data = found->data, .size = found->size};
    sinew_mesh_file *file = NULL;
    if (studio_keep_message(s, sinew_mesh_file_read(s->context, &source, &file))) {
        return NULL;
    }

    // Lower and upper corner.
    sinew_mesh mesh = sinew_mesh_file_get_best(file);
    double *box = s->hand_state;
    for (int k = 0; k < 3; k++) {
        box[k] = INFINITY;
        box[k + 3] = -INFINITY;
    }
    for (size_t i = 0; i < 3 * (size_t)mesh.point_count; i++) {
        box[i % 3] = fmin(box[i % 3], mesh.points[i]);
        box[i % 3 + 3] = fmax(box[i % 3 + 3], mesh.points[i]);
    }

    sinew_mesh_file_destroy(file);
    if (mesh.point_count == 0) {
        studio_fail(s, "The file has no surface.");
        return NULL;
    }
    return box;
}
