// The results of a field: axes and quaternions from the smoothed functions, and axes at any point.
#include "field/field.h"

#include "math/eigen3.h"

#include <string.h>

// ---- From functions to axes ---------------------------------------------------------------------

// The first principal direction of a tensor xx yy yz zx xy of trace 1 (of any positive size);
// returns the gap between its first and second principal value.
static double compute_direction(const double *t, double trace, sn_vec3 *d) {
    sn_mat3 V;
    sn_mat3 T = {{{t[0], t[4], t[3]}, {t[4], t[1], t[2]}, {t[3], t[2], trace - t[0] - t[1]}}};
    double values[3];

    sn_eigen3(values, &V, T);
    *d = sn_mat3_column(V, 0);

    if (d->x + d->y + d->z < 0) {
        // Either sign is valid; one choice for all is easier to look at.
        *d = sn_scale(-1, *d);
    }

    return values[0] - values[1];
}

// Sums the functions of an element's nodes; with a seam, each quaternion is replaced by the
// equivalent one nearest to that of the first node.
static void gather(const sinew_field *field, int32_t element, const double *weights, double *sum) {
    int32_t nodes = sn_element_info_of(field->mesh->element)->nodes;
    const int32_t *list = sn_mesh_nodes(field->mesh, element);

    memset(sum, 0, (size_t)field->components * sizeof(double));
    for (int32_t k = 0; k < nodes; k++) {
        double x[SN_FIELD_MAX_COMPONENTS];
        memcpy(x, field->x + (size_t)list[k] * (size_t)field->components,
               (size_t)field->components * sizeof(double));

        // Across a seam, take the equivalent quaternion nearest to the first node's.
        if (field->seam_count > 0 && k > 0) {
            sn_quat q = {x[0], x[1], x[2], x[3]};
            q = sn_quat_mul(
                q, sn_nearest_half_turn(field->rotation[list[k]], field->rotation[list[0]]));
            memcpy(x, &q, sizeof q);
        }

        for (int32_t c = 0; c < field->components; c++) {
            sum[c] += (weights != NULL ? weights[k] : 1.0 / nodes) * x[c];
        }
    }
}

// The rotation that the smoothed functions represent, and its certainty, at most 1: beyond the ends
// of curves the functions may grow larger.
static double compute_rotation(const sinew_field *field, const double *x, sn_quat *rotation) {
    if (field->kind == SINEW_FIELD_FRAMES) {
        sn_quat q = {x[0], x[1], x[2], x[3]};
        *rotation = sn_quat_normalize(q);
        return fmin(sqrt(sn_quat_dot(q, q)), 1);
    }

    sn_vec3 d;
    double certainty = compute_direction(x, 1, &d);

    *rotation = sn_quat_from_mat3(sn_mat3_basis(d));

    return fmin(certainty, 1);
}

void sn_field_finish(sinew_field *field) {
    field->report.least_certainty = INFINITY;

    // Rotations of the unknowns, and the least certain of them.
    for (int32_t i = 0; i < field->unknown_count; i++) {
        double certainty = compute_rotation(field, field->x + (size_t)i * (size_t)field->components,
                                            &field->rotation[i]);
        if (field->unknowns == SINEW_FIELD_BY_ELEMENT) {
            field->certainties[i] = certainty;
        }

        if (certainty < field->report.least_certainty) {
            field->report.least_certainty = certainty;
            field->report.least_certain = i;
        }
    }

    sn_store3(field->report.least_certain_at, field->positions[field->report.least_certain]);

    // Axes of the elements; by vertex from the mean of their nodes.
    for (int32_t e = 0; e < field->mesh->element_count; e++) {
        sn_quat q =
            field->unknowns == SINEW_FIELD_BY_ELEMENT ? field->rotation[e] : sn_quat_identity();
        if (field->unknowns == SINEW_FIELD_BY_VERTEX) {
            double mean[SN_FIELD_MAX_COMPONENTS];
            gather(field, e, NULL, mean);
            field->certainties[e] = compute_rotation(field, mean, &q);
        }

        sn_store_axes(field->axes + 9 * (size_t)e, sn_quat_to_mat3(q));
    }
}

void sinew_field_compute_axes_at(const sinew_field *field, const double point[3], double axes[9]) {
    SN_NEED_OR(, field && point && axes);

    sn_location location = sn_element_tree_locate(&field->tree, sn_load3(point));
    if (location.element < 0) {
        location = (sn_location){.distance = INFINITY}; // nowhere
    }

    // By element, and outside the mesh, the axes are constant.
    if (field->unknowns == SINEW_FIELD_BY_ELEMENT || location.distance > 0) {
        memcpy(axes, field->axes + 9 * (size_t)location.element, 9 * sizeof(double));
        return;
    }

    // By vertex, interpolate within the element.
    double sum[SN_FIELD_MAX_COMPONENTS];
    sn_quat q;

    gather(field, location.element, location.weights, sum);
    compute_rotation(field, sum, &q);
    sn_store_axes(axes, sn_quat_to_mat3(q));
}

// ---- Answers ------------------------------------------------------------------------------------

void sinew_field_get_report(const sinew_field *field, sinew_field_report *report) {
    SN_NEED_OR(, field && report);
    *report = field->report;
}

const sinew_isolated_part *sinew_field_get_isolated_parts(const sinew_field *field) {
    SN_NEED_OR(NULL, field);
    return field->guides.isolated;
}

int32_t sinew_field_get_curve_count(const sinew_field *field) {
    SN_NEED_OR(0, field);
    return field->curve_count;
}

int32_t sinew_field_get_guides(const sinew_field *field, const double **points,
                               const double **axes) {
    SN_NEED_OR(0, field);
    if (points != NULL) {
        *points = field->guides.shown_points;
    }
    if (axes != NULL) {
        *axes = field->guides.shown_axes;
    }

    return field->guides.count;
}

const double *sinew_field_get_axes(const sinew_field *field) {
    SN_NEED_OR(NULL, field);
    return field->axes;
}

const double *sinew_field_get_certainties(const sinew_field *field) {
    SN_NEED_OR(NULL, field);
    return field->certainties;
}

const double *sinew_field_get_quaternions(const sinew_field *field) {
    SN_NEED_OR(NULL, field);
    return &field->rotation[0].x;
}

int32_t sinew_field_get_element_count(const sinew_field *field) {
    SN_NEED_OR(0, field);
    return field->mesh->element_count;
}

sinew_field_kind sinew_field_get_kind(const sinew_field *field) {
    SN_NEED_OR(0, field);
    return field->kind;
}
