// Label volumes: their grid, where it lies, and how many cells carry which label.
#include "inspect.h"

#include "sinew/io/volume_file.h"

#include <stdlib.h>

enum { LABELS = 65536 };

// How many cells carry each label; returns how many carry one above 0.
static int64_t count_labels(const sinew_label_grid *grid, int64_t *counts) {
    size_t cells = (size_t)grid->cells[0] * (size_t)grid->cells[1] * (size_t)grid->cells[2];
    for (size_t i = 0; i < cells; i++) {
        counts[grid->labels16[i]]++;
    }
    return (int64_t)cells - counts[0];
}

static void tell_labels(inspect_report *report, const int64_t *counts, double cell) {

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
}

static void tell_volume(inspect_report *report, const sinew_volume_file *file, int64_t *counts) {
    const sinew_label_grid *grid = sinew_volume_file_get_grid(file);
    int64_t inside = count_labels(grid, counts);
    double axes[9];
    bool askew = sinew_volume_file_get_axes(file, axes);

    // Bounds and the volume of a cell.
    double cells[3], corners[6], cell = 1;
    for (int k = 0; k < 3; k++) {
        cells[k] = grid->cells[k];
        corners[k] = grid->lower[k];
        corners[3 + k] = grid->lower[k] + cells[k] * grid->spacing[k];
        cell *= grid->spacing[k];
    }

    inspect_text(report, "kind", "label volume");
    inspect_text(report, "format", sinew_volume_file_get_format(file));
    inspect_vector(report, "cells", cells);
    inspect_vector(report, "spacing", grid->spacing);
    inspect_box(report, corners, 2);
    inspect_count(report, "voxels", inside);
    inspect_number(report, "volume", (double)inside * cell);

    // Rotated grids keep their own axes.
    if (askew) {
        inspect_vector(report, "axis_x", axes);
        inspect_vector(report, "axis_y", axes + 3);
        inspect_vector(report, "axis_z", axes + 6);
        inspect_text(
            report, "warning",
            "the grid is rotated relative to its world; the bounds are along its own axes");
    }

    tell_labels(report, counts, cell);
}

int inspect_volume(inspect_report *report, const sinew_source *source, double unit) {
    sinew_volume_read_def def = sinew_default_volume_read_def();
    def.unit = unit;
    sinew_volume_file *file = NULL;
    if (sinew_volume_file_read(report->context, source, &def, &file) != SINEW_OK) {
        return inspect_fail(report);
    }

    int64_t *counts = calloc(LABELS, sizeof *counts);
    int status = CLI_OK;
    if (counts) {
        tell_volume(report, file, counts);
    } else {
        status = cli_fail(report->command, CLI_BAD_INPUT, "out of memory");
    }

    free(counts);
    sinew_volume_file_destroy(file);
    return status;
}
