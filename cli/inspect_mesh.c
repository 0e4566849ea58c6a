// Meshes: what they hold, how large they are, how well shaped, and what keeps a body from being
// made of them.
#include "inspect.h"
#include "mesh_file.h"

static void tell_cells(inspect_report *report, const sinew_mesh_file *file) {
    static const char *const names[] = {"triangles", "tet4", "tet10", "hex8"};
    sinew_mesh best = sinew_mesh_file_get_best(file);
    inspect_count(report, "points", best.point_count);
    for (int kind = SINEW_ELEMENT_TRIANGLE; kind <= SINEW_ELEMENT_HEX8; kind++) {
        int32_t count = sinew_mesh_file_get_mesh(file, (sinew_element)kind).element_count;
        if (count) {
            inspect_count(report, names[kind], count);
        }
    }

    inspect_box(report, best.points, best.point_count);
}

// The smallest label above `label`, or INT64_MAX, and how many elements have it.
static int64_t next_label(const sinew_mesh *mesh, int64_t label, int64_t *count) {
    int64_t next = INT64_MAX;
    *count = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        if (mesh->labels[e] > label && mesh->labels[e] < next) {
            next = mesh->labels[e];
            *count = 0;
        }
        *count += mesh->labels[e] == next;
    }

    return next;
}

// Labels in ascending order, the first MOST of them: each costs a pass over the elements.
static void tell_labels(inspect_report *report, const sinew_mesh_file *file,
                        const sinew_mesh *mesh) {
    enum { MOST = 256 };
    if (!mesh->labels) {
        return;
    }

    int32_t dimension = mesh->element == SINEW_ELEMENT_TRIANGLE ? 2 : 3;
    int32_t found = 0;

    // Each label with its count.
    int64_t labels[MOST], counts[MOST], count;
    int64_t label = next_label(mesh, INT64_MIN, &count);

    for (; label != INT64_MAX && found < MOST; label = next_label(mesh, label, &count)) {
        labels[found] = label;
        counts[found++] = count;
    }

    // And with its name, if the file has names.
    inspect_begin_list(report, "labels", found);
    for (int32_t i = 0; i < found; i++) {
        const char *name = sinew_mesh_file_find_group(file, dimension, (int32_t)labels[i]);
        inspect_begin_item(report);
        inspect_count(report, "label", labels[i]);
        inspect_count(report, "elements", counts[i]);

        if (name) {
            inspect_text(report, "name", name);
        }

        inspect_end_item(report);
    }

    inspect_end_list(report);
    if (label != INT64_MAX) {
        inspect_text(report, "more_labels", "not shown");
    }
}

static sinew_status tell_quality(inspect_report *report, const sinew_mesh *mesh) {
    sinew_quality quality;
    sinew_status status = sinew_mesh_compute_quality(report->context, mesh, &quality);
    if (status != SINEW_OK) {
        return status;
    }

    inspect_number(report, mesh->element == SINEW_ELEMENT_TRIANGLE ? "area" : "volume",
                   quality.volume);
    inspect_number(report, "mean_ratio_worst", quality.smallest_ratio);
    inspect_number(report, "mean_ratio_average", quality.mean_ratio);
    inspect_count(report, "worst_element", quality.worst_element);
    inspect_number(report, "smallest_angle", quality.smallest_angle);
    inspect_number(report, "largest_angle", quality.largest_angle);
    inspect_count(report, "parts", quality.component_count);

    return SINEW_OK;
}

// What `sinew tetrahedralize` would find.
static sinew_status tell_surface(inspect_report *report, const sinew_mesh *mesh) {
    sinew_surface_report found;
    sinew_status status = sinew_mesh_examine_surface(report->context, mesh, &found);
    if (status != SINEW_OK) {
        return status;
    }

    if (found.open_edges == 0) {
        inspect_number(report, "enclosed_volume", found.volume);
    }
    inspect_count(report, "open_edges", found.open_edges);
    inspect_count(report, "crowded_edges", found.crowded_edges);
    inspect_count(report, "repeated_points", found.merged_points);
    inspect_count(report, "useless_triangles", found.dropped_triangles);
    inspect_count(report, "turned_triangles", found.flipped_triangles);

    return SINEW_OK;
}

static sinew_status tell_elements(inspect_report *report, const sinew_mesh_file *file) {
    sinew_mesh mesh = sinew_mesh_file_get_best(file);
    if (mesh.element_count == 0) {
        inspect_text(report, "warning", "there are no elements");
        return SINEW_OK;
    }

    // What the elements are like.
    tell_labels(report, file, &mesh);
    sinew_status status = tell_quality(report, &mesh);
    if (status == SINEW_OK && mesh.element == SINEW_ELEMENT_TRIANGLE) {
        status = tell_surface(report, &mesh);
    }
    if (status != SINEW_OK) {
        return status;
    }

    // What a simulation would refuse.
    status = sinew_mesh_check(report->context, &mesh);
    if (status == SINEW_OUT_OF_MEMORY) {
        return status;
    }
    if (status != SINEW_OK) {
        inspect_text(report, "warning", sinew_context_message(report->context));
    }

    return SINEW_OK;
}

int inspect_mesh(inspect_report *report, const sinew_source *source) {
    sinew_mesh_file *file = NULL;
    sinew_status status = sinew_mesh_file_read(report->context, source, &file);
    if (status == SINEW_OK) {
        inspect_text(report, "kind", "mesh");
        inspect_text(report, "format", sinew_mesh_file_get_format(file));
        tell_cells(report, file);
        if (sinew_mesh_file_get_turned_count(file)) {
            inspect_count(report, "turned_elements", sinew_mesh_file_get_turned_count(file));
        }

        status = tell_elements(report, file);
    }

    sinew_mesh_file_destroy(file);
    return status == SINEW_OK ? CLI_OK : inspect_fail(report);
}
