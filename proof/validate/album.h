// Pictures for the report: bodies in a given state, drawn side by side with one camera and one
// colour scale.
//
// Without a report every call does nothing; without libpng the album is omitted.
#ifndef SN_PROOF_VALIDATE_ALBUM_H
#define SN_PROOF_VALIDATE_ALBUM_H

#include "sinew/sinew.h"

#include "base/memory.h"
#include "validate/validate.h"

enum { ALBUM_CAPACITY = 12 };

typedef struct album_view {
    const char *caption;
    int32_t point_count, triangle_count, frame_count;
    int32_t *triangles;
    double *points, *values; // values: displacement [m], unless the look names others
    double *frame_points, *frame_matrices;
} album_view;

typedef struct album {
    validate_run *run;
    sn_arena arena;
    int32_t count;
    album_view views[ALBUM_CAPACITY];
} album;

// The camera's position, by angles as in io/picture/camera.h. [rad]
typedef struct album_look {
    const char *title;
    double azimuth, elevation;
    const char *values; // what the colours show; NULL: "displacement [m]"
} album_look;

void album_begin(validate_run *v, album *a);

// Adds a body in its current state: one of frames (`mesh` NULL), or one of elements with its rest
// mesh. `caption` must outlive the album.
void album_add(album *a, const char *caption, sinew_body *body, const sinew_mesh *mesh);

// The same for a surface of triangles at rest and its current points.
void album_add_surface(album *a, const char *caption, const sinew_mesh *rest, const double *points);

// The same for a surface coloured by other values, one for each point.
void album_add_values(album *a, const char *caption, const sinew_mesh *surface,
                      const double *values);

// Writes validation/ID-NAME.png into the folder of the report and frees the album. `status` is
// passed on if it is a failure.
sinew_status album_end(album *a, const char *name, const album_look *look, sinew_status status);

#endif
