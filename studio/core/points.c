// Material points that the page follows: where models are compared, where curves were drawn, and
// where fields and samples are shown.
#include "internal.h"

#include <math.h>
#include <stdlib.h>

enum { SHOWN_SEGMENTS = 700, SHOWN_SAMPLES = 4000 };

static void clear(studio_points *set) {
    for (int32_t i = 0; i < set->count; i++) {
        sinew_point_destroy(set->points[i]);
    }
    set->count = 0;
}

void studio_clear_points(studio *s) {
    for (int32_t i = 0; i < STUDIO_POINT_SETS; i++) {
        clear(&s->points[i]);
    }
}

void studio_free_points(studio *s) {
    for (int32_t i = 0; i < STUDIO_POINT_SETS; i++) {
        free(s->points[i].points);
        free(s->points[i].tags);
        free(s->points[i].positions.values);
    }
}

// Adds a point; false if there is none at that position, or memory is short.
static bool add(studio_points *set, sinew_body *body, const double rest[3], int32_t tag) {
    if (set->count == set->capacity) {
        int32_t capacity = 2 * set->capacity + 64;
        sinew_point **points = realloc(set->points, (size_t)capacity * sizeof *points);
        set->points = points ? points : set->points;
        int32_t *tags = realloc(set->tags, (size_t)capacity * sizeof *tags);
        set->tags = tags ? tags : set->tags;
        if (!points || !tags) {
            return false;
        }
        set->capacity = capacity;
    }

    if (sinew_point_create(body, rest, &set->points[set->count]) != SINEW_OK) {
        return false;
    }
    set->tags[set->count++] = tag;
    return true;
}

STUDIO_API int32_t studio_set_points(studio *s, int32_t set, int32_t body, const double *rest,
                                     int32_t count) {
    studio_points *points = &s->points[set];
    clear(points);

    for (int32_t i = 0; i < count; i++) {
        if (!add(points, sinew_world_get_body(s->world, body), rest + 3 * (size_t)i, body)) {
            clear(points);
            return studio_fail(s, "a point is not in the body");
        }
    }
    return SINEW_OK;
}

STUDIO_API int32_t studio_compute_points(studio *s, int32_t set) {
    studio_points *points = &s->points[set];
    if (!studio_reserve(&points->positions, 3 * (size_t)points->count)) {
        return 0;
    }

    for (int32_t i = 0; i < points->count; i++) {
        double position[3] = {0};
        sinew_point_get_position(points->points[i], position);
        for (int k = 0; k < 3; k++) {
            points->positions.values[3 * (size_t)i + (size_t)k] = (float)position[k];
        }
    }
    return points->count;
}

STUDIO_API const float *studio_get_points(const studio *s, int32_t set) {
    return s->points[set].positions.values;
}

STUDIO_API const int32_t *studio_get_point_tags(const studio *s, int32_t set) {
    return s->points[set].tags;
}

// Both ends of the axes of a field at one rest point; fibres have the third axis only.
static void add_axes(studio_points *set, sinew_body *body, const sinew_field *field,
                     const double center[3], double length) {
    double axes[9];
    sinew_field_compute_axes_at(field, center, axes);

    int first = sinew_field_get_kind(field) == SINEW_FIELD_FIBRES ? 2 : 0;
    for (int axis = first; axis < 3; axis++) {
        double ends[2][3];
        for (int k = 0; k < 3; k++) {
            ends[0][k] = center[k] - 0.5 * length * axes[3 * axis + k];
            ends[1][k] = center[k] + 0.5 * length * axes[3 * axis + k];
        }
        if (add(set, body, ends[0], axis) && !add(set, body, ends[1], axis)) {
            sinew_point_destroy(set->points[--set->count]);
        }
    }
}

static void find_center(const sinew_mesh *mesh, int32_t element, double center[3]) {
    int32_t width = sinew_element_node_count(mesh->element);
    center[0] = center[1] = center[2] = 0;
    for (int32_t i = 0; i < width; i++) {
        const double *point =
            mesh->points + 3 * (size_t)mesh->indices[(size_t)element * (size_t)width + (size_t)i];
        for (int k = 0; k < 3; k++) {
            center[k] += point[k] / width;
        }
    }
}

// The field of a body at as many of its elements or voxels as the eye can separate.
static void show_field(studio *s, int32_t index) {
    const sinew_field *field = studio_get_field(s, index);
    sinew_body *body = sinew_world_get_body(s->world, index);
    if (!field || !body) {
        return;
    }

    const sinew_mesh *mesh = sinew_scene_get_body_mesh(s->scene, index);
    const sinew_voxels *voxels = sinew_frame_body_get_voxels(body);
    int32_t count = mesh ? mesh->element_count : voxels ? sinew_voxels_get_count(voxels) : 0;
    int32_t stride = 1 + count / SHOWN_SEGMENTS;

    sinew_measures measures;
    sinew_body_get_measures(body, &measures);
    double length = 0.75 * cbrt(measures.rest_volume * stride / (count > 0 ? count : 1));

    for (int32_t i = 0; i < count; i += stride) {
        double center[3];
        if (mesh) {
            find_center(mesh, i, center);
        } else {
            sinew_voxels_get_center(voxels, i, center);
        }
        add_axes(&s->points[STUDIO_POINTS_FIELD], body, field, center, length);
    }
}

STUDIO_API void studio_show_fields(studio *s, int32_t on) {
    clear(&s->points[STUDIO_POINTS_FIELD]);
    if (!on) {
        return;
    }
    for (int32_t i = 0; i < sinew_scene_get_body_count(s->scene); i++) {
        show_field(s, i);
    }
}

// A point in each voxel of a frame body, or in every few, tagged with its sample.
static void show_samples(studio *s, sinew_body *body) {
    const sinew_voxels *voxels = sinew_frame_body_get_voxels(body);
    int32_t count = voxels ? sinew_voxels_get_count(voxels) : 0;
    int32_t *samples = count > 0 ? malloc((size_t)count * sizeof *samples) : NULL;
    if (!samples || sinew_frame_body_compute_regions(body, samples) != SINEW_OK) {
        free(samples);
        return;
    }

    int32_t stride = 1 + count / SHOWN_SAMPLES;
    for (int32_t i = 0; i < count; i += stride) {
        double center[3];
        sinew_voxels_get_center(voxels, i, center);
        add(&s->points[STUDIO_POINTS_SAMPLES], body, center, samples[i]);
    }
    free(samples);
}

STUDIO_API void studio_show_samples(studio *s, int32_t on) {
    clear(&s->points[STUDIO_POINTS_SAMPLES]);
    if (!on) {
        return;
    }
    for (int32_t i = 0; i < studio_get_body_count(s); i++) {
        show_samples(s, sinew_world_get_body(s->world, i));
    }
}
