// Material axes in pictures: positions spread evenly over the surface of a body with a field, and
// the axes there as they are now.
//
// The field itself is written once, as a file that a scene can use again (io/field/field_file.h).
#include "io/recording/recording.h"

#include "io/field/field_file.h"
#include "math/mat3.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_PLACES = 120,
    FEWEST_PLACES = 25
};                                // shared by all bodies with a field, and of one at least
static const double LENGTH = 0.6; // of an axis, as part of that of a frame

static sn_vec3 corner(const double *points, const int32_t *triangle, int k) {
    return sn_load3(points + 3 * (size_t)triangle[k]);
}

static sn_vec3 middle(const double *points, const int32_t *triangle) {
    sn_vec3 sum = sn_add(corner(points, triangle, 0),
                         sn_add(corner(points, triangle, 1), corner(points, triangle, 2)));
    return sn_scale(1.0 / 3, sum);
}

// Two edges and the unit normal.
static sn_mat3 triangle_basis(const double *points, const int32_t *triangle) {
    sn_vec3 a = corner(points, triangle, 0);
    sn_vec3 e1 = sn_sub(corner(points, triangle, 1), a);
    sn_vec3 e2 = sn_sub(corner(points, triangle, 2), a);
    return sn_mat3_columns(e1, e2, sn_normalize(sn_cross(e1, e2)));
}

// Triangles far enough from each other, in their order.
static int32_t choose_triangles(const sinew_mesh *surface, int32_t most, int32_t *chosen) {
    double area = 0;
    for (int32_t t = 0; t < surface->element_count; t++) {
        sn_mat3 B = triangle_basis(surface->points, surface->indices + 3 * (size_t)t);
        area += 0.5 * sn_length(sn_cross(sn_mat3_column(B, 0), sn_mat3_column(B, 1)));
    }

    double apart = 1.1 * sqrt(area / most);
    int32_t count = 0;
    for (int32_t t = 0; t < surface->element_count && count < most; t++) {
        sn_vec3 p = middle(surface->points, surface->indices + 3 * (size_t)t);
        bool free = true;
        for (int32_t k = 0; k < count && free; k++) {
            free = sn_distance(p, middle(surface->points,
                                         surface->indices + 3 * (size_t)chosen[k])) > apart;
        }

        if (free) {
            chosen[count++] = t;
        }
    }

    return count;
}

sinew_status sn_recording_begin_fields(sinew_recording *recording) {
    int32_t bodies = recording->scene->body_count;
    recording->field_triangles = SN_PUSH(&recording->arena, int32_t *, bodies);
    recording->field_counts = SN_PUSH(&recording->arena, int32_t, bodies);
    SN_TRY(sn_arena_status(&recording->arena));

    // The bodies with a field share a number of arrows that a picture can bear.
    int32_t sharing = 0;
    for (int32_t i = 0; i < bodies; i++) {
        sharing += recording->world->members[i].field != NULL;
    }

    int32_t most = sharing > 0 && MOST_PLACES / sharing > FEWEST_PLACES ? MOST_PLACES / sharing
                                                                        : FEWEST_PLACES;

    // Each chooses triangles of its surface to draw them at.
    for (int32_t i = 0; i < bodies; i++) {
        const sn_scene_member *member = &recording->world->members[i];
        if (!member->field || !recording->def.field) {
            continue;
        }

        recording->field_triangles[i] = SN_PUSH(&recording->arena, int32_t, MOST_PLACES);
        SN_TRY(sn_arena_status(&recording->arena));
        recording->field_counts[i] =
            choose_triangles(member->surface.mesh, most, recording->field_triangles[i]);
        recording->glyph_count += recording->field_counts[i];
    }

    return SINEW_OK;
}

int32_t sn_recording_update_field(const sinew_recording *recording, int32_t body, double *points,
                                  double *matrices) {
    const sn_scene_member *member = &recording->world->members[body];
    const sn_scene_surface *surface = &member->surface;
    for (int32_t k = 0; k < recording->field_counts[body]; k++) {
        const int32_t *triangle =
            surface->mesh->indices + 3 * (size_t)recording->field_triangles[body][k];

        // The axes at rest, carried along by the deformation of the triangle.
        double axes[9], rest[3];

        sn_store3(rest, middle(surface->mesh->points, triangle));
        sinew_field_compute_axes_at(member->field, rest, axes);

        sn_mat3 F = sn_mat3_mul(triangle_basis(surface->points, triangle),
                                sn_mat3_inverse(triangle_basis(surface->mesh->points, triangle)));

        sn_store3(points + 3 * (size_t)k, middle(surface->points, triangle));

        // Of fibres only the third axis means anything.
        bool fibres = sinew_field_get_kind(member->field) == SINEW_FIELD_FIBRES;
        for (int j = 0; j < 3; j++) {
            sn_vec3 now = sn_scale(LENGTH, sn_mat3_apply(F, sn_load3(axes + 3 * j)));
            if (fibres && j < 2) {
                now = sn_v3(0, 0, 0);
            }

            matrices[9 * (size_t)k + (size_t)j] = now.x;
            matrices[9 * (size_t)k + 3 + (size_t)j] = now.y;
            matrices[9 * (size_t)k + 6 + (size_t)j] = now.z;
        }
    }

    return recording->field_counts[body];
}

sinew_status sn_recording_write_fields(sinew_recording *recording) {
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        const sn_scene_member *member = &recording->world->members[i];
        if (!member->field || sinew_field_get_curve_count(member->field) == 0) {
            continue;
        }

        char name[256];
        snprintf(name, sizeof name, "%.200s.field", member->scene->name);
        sn_buffer_clear(&recording->buffer);
        SN_TRY(sn_field_write(member->field, &recording->buffer));
        SN_TRY(sn_recording_write(recording, name, &recording->buffer));
    }

    return SINEW_OK;
}
