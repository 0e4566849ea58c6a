// Label volumes: their grid, where it lies, and how many cells carry which label.
#include "inspect.h"

#include "base/memory.h"
#include "io/volume/volume.h"

enum { LABELS = 65536 };

static sinew_status tell_labels(inspect_report *report, const sinew_label_grid *grid, double cell) {
    int64_t *counts = sn_allocate(report->context, LABELS, sizeof *counts);
    if (!counts) {
        return SINEW_OUT_OF_MEMORY;
    }

    size_t cells = (size_t)grid->cells[0] * (size_t)grid->cells[1] * (size_t)grid->cells[2];
    for (size_t i = 0; i < cells; i++) {
        counts[grid->labels16[i]]++;
    }

    int32_t found = 0;
    for (int32_t label = 1; label < LABELS; label++) {
        found += counts[label] > 0;
    }

    inspect_begin_list(report, "labels", found);
    for (int32_t label = 1; label < LABELS; label++) {
        if (counts[label] == 0) {
            continue;
        }

        inspect_begin_item(report);
        inspect_count(report, "label", label);
        inspect_count(report, "voxels", counts[label]);
        inspect_number(report, "volume", (double)counts[label] * cell);
        inspect_end_item(report);
    }

    inspect_end_list(report);
    sn_release(report->context, counts, LABELS, sizeof *counts);

    return SINEW_OK;
}

static sinew_status tell_volume(inspect_report *report, const sn_volume_file *file) {
    const sinew_label_grid *grid = &file->grid;
    double cells[3], corners[6], cell = 1;
    for (int k = 0; k < 3; k++) {
        cells[k] = grid->cells[k];
        corners[k] = grid->lower[k];
        corners[3 + k] = grid->lower[k] + cells[k] * grid->spacing[k];
        cell *= grid->spacing[k];
    }

    inspect_text(report, "kind", "label volume");
    inspect_text(report, "format", sn_volume_format_name(file->format));
    inspect_vector(report, "cells", cells);
    inspect_vector(report, "spacing", grid->spacing);
    inspect_box(report, corners, 2);
    inspect_count(report, "voxels", file->inside_count);
    inspect_number(report, "volume", (double)file->inside_count * cell);

    if (file->askew) {
        inspect_vector(report, "axis_x", file->axes);
        inspect_vector(report, "axis_y", file->axes + 3);
        inspect_vector(report, "axis_z", file->axes + 6);
        inspect_text(
            report, "warning",
            "the grid is rotated relative to its world; the bounds are along its own axes");
    }

    return tell_labels(report, grid, cell);
}

int inspect_volume(inspect_report *report, const sn_source *source, double unit) {
    sn_volume_options options = {.unit = unit};
    sn_volume_file file;
    sinew_status status = sn_volume_read(report->context, source, &options, &file);
    if (status == SINEW_OK) {
        status = tell_volume(report, &file);
    }

    sn_volume_file_destroy(&file);
    return status == SINEW_OK ? CLI_OK : inspect_fail(report);
}
