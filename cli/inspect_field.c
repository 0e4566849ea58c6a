// Fields of material axes in files: how many elements they are for, and whether there is a
// direction that most of them share.
#include "inspect.h"

#include "io/field/field_file.h"
#include "math/eigen3.h"

// The principal direction of the mean of d d' over all third axes d; its value is 1 if all are
// parallel, 1/3 if they point everywhere alike.
static void tell_main_direction(inspect_report *report, const sn_field_file *file) {
    sn_mat3 V, T = {0};
    for (int32_t e = 0; e < file->element_count; e++) {
        sn_vec3 d = sn_load3(file->axes + 9 * (size_t)e + 6);
        T = sn_mat3_add(T, sn_mat3_scale(1.0 / file->element_count, sn_outer(d, d)));
    }

    double values[3], main[3];
    sn_eigen3(values, &V, T);
    sn_store3(main, sn_mat3_column(V, 0));
    inspect_vector(report, "main_direction", main);
    inspect_number(report, "alignment", values[0]);
}

int inspect_field(inspect_report *report, const sn_source *source) {
    sn_arena arena = sn_arena_create(report->context);
    sn_field_file file;
    sinew_status status = sn_field_read(&arena, source, &file);

    if (status == SINEW_OK) {
        inspect_text(report, "kind", "field of material axes");
        inspect_text(report, "axes", file.kind == SINEW_FIELD_FIBRES ? "fibres" : "frames");
        inspect_count(report, "elements", file.element_count);
        tell_main_direction(report, &file);
    }

    sn_arena_destroy(&arena);
    return status == SINEW_OK ? CLI_OK : inspect_fail(report);
}
