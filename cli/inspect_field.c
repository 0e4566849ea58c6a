// Fields of material axes in files: how many elements they are for, and whether there is a
// direction that most of them share.
#include "inspect.h"

#include "sinew/io/field_file.h"

int inspect_field(inspect_report *report, const sinew_source *source) {
    sinew_field_file *file = NULL;
    if (sinew_field_file_read(report->context, source, &file) != SINEW_OK) {
        return inspect_fail(report);
    }

    bool fibres = sinew_field_file_get_kind(file) == SINEW_FIELD_FIBRES;
    int32_t elements;
    double direction[3];
    sinew_field_file_get_axes(file, &elements);
    double alignment = sinew_field_file_compute_direction(file, direction);

    inspect_text(report, "kind", "field of material axes");
    inspect_text(report, "axes", fibres ? "fibres" : "frames");
    inspect_count(report, "elements", elements);
    inspect_vector(report, "main_direction", direction);
    inspect_number(report, "alignment", alignment);
    sinew_field_file_destroy(file);

    return CLI_OK;
}
