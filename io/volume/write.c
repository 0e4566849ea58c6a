// Writes label volumes: NRRD and NIfTI-1, lengths in millimetres.
#include "io/volume/volume.h"

#include <string.h>

static void add_labels(const sinew_label_grid *grid, sn_buffer *out) {
    size_t count = (size_t)grid->cells[0] * (size_t)grid->cells[1] * (size_t)grid->cells[2];
    if (grid->labels8) {
        sn_buffer_add(out, grid->labels8, count);
        return;
    }

    for (size_t i = 0; i < count; i++) {
        sn_buffer_add_u16(out, grid->labels16[i]);
    }
}

static void add_vector(sn_buffer *out, const double v[3]) {
    for (int k = 0; k < 3; k++) {
        sn_buffer_add_text(out, k ? "," : "(");
        sn_buffer_add_double(out, v[k]);
    }
    sn_buffer_add_text(out, ")");
}

// The header of a grid whose cells are numbers of a type.
static void add_nrrd_header(const sinew_label_grid *grid, const char *type, sn_buffer *out) {
    sn_buffer_print(out,
                    "NRRD0004\n# volume written by sinew\ntype: %s\ndimension: 3\nsizes: %d "
                    "%d %d\nencoding: raw\n"
                    "endian: little\nspace: right-anterior-superior\nspace units: \"mm\" \"mm\" "
                    "\"mm\"\nspace directions:",
                    type, grid->cells[0], grid->cells[1], grid->cells[2]);

    double origin[3];
    for (int k = 0; k < 3; k++) {
        double direction[3] = {0, 0, 0};
        direction[k] = 1e3 * grid->spacing[k];
        origin[k] = 1e3 * (grid->lower[k] + grid->spacing[k] / 2);
        sn_buffer_add_text(out, " ");
        add_vector(out, direction);
    }

    sn_buffer_add_text(out, "\nspace origin: ");
    add_vector(out, origin);
    sn_buffer_add_text(out, "\n\n");
}

sinew_status sn_write_nrrd(const sinew_label_grid *grid, sn_buffer *out) {
    add_nrrd_header(grid, grid->labels8 ? "uint8" : "uint16", out);
    add_labels(grid, out);
    return sn_buffer_status(out);
}

sinew_status sn_write_nrrd_values(const sinew_label_grid *grid, const double *values,
                                  sn_buffer *out) {
    size_t count = (size_t)grid->cells[0] * (size_t)grid->cells[1] * (size_t)grid->cells[2];
    add_nrrd_header(grid, "double", out);
    sn_buffer_add_f64s(out, values, count);
    return sn_buffer_status(out);
}

sinew_status sn_write_nifti(const sinew_label_grid *grid, sn_buffer *out) {
    for (int k = 0; k < 3; k++) {
        if (grid->cells[k] <= INT16_MAX) {
            continue;
        }
        return sn_fail(out->context, SINEW_UNSUPPORTED,
                       "%d cells along axis %d; NIfTI-1 ends at %d", grid->cells[k], k, INT16_MAX);
    }

    // The sizes.
    size_t begin = out->size;
    sn_buffer_add_i32(out, 348);
    sn_buffer_add_zeros(out, 36);

    int32_t dim[8] = {3, grid->cells[0], grid->cells[1], grid->cells[2], 1, 1, 1, 1};
    for (int k = 0; k < 8; k++) {
        sn_buffer_add_u16(out, (uint16_t)dim[k]);
    }

    // The type of the numbers, and the spacing in millimetres.
    sn_buffer_add_zeros(out, 14);
    sn_buffer_add_u16(out, grid->labels8 ? 2 : 512); // data type
    sn_buffer_add_u16(out, grid->labels8 ? 8 : 16);  // bits
    sn_buffer_add_u16(out, 0);

    for (int k = 0; k < 8; k++) {
        sn_buffer_add_f32(out, k >= 1 && k <= 3 ? (float)(1e3 * grid->spacing[k - 1]) : 1.0f);
    }

    // The position of the data, the scaling of values, and the unit.
    sn_buffer_add_f32(out, 352); // where the data starts
    sn_buffer_add_f32(out, 1);   // slope
    sn_buffer_add_f32(out, 0);
    sn_buffer_add_zeros(out, 3);
    sn_buffer_add_u8(out, 2); // millimetres
    sn_buffer_add_zeros(out, 24);

    // A description, and the transformation from cells to space.
    sn_buffer_add_text(out, "labels written by sinew");
    sn_buffer_add_zeros(out, 252 - (out->size - begin));
    sn_buffer_add_u16(out, 0); // no qform
    sn_buffer_add_u16(out, 2); // sform: aligned to something
    sn_buffer_add_zeros(out, 24);

    for (int row = 0; row < 3; row++) {
        for (int k = 0; k < 3; k++) {
            sn_buffer_add_f32(out, k == row ? (float)(1e3 * grid->spacing[k]) : 0.0f);
        }
        sn_buffer_add_f32(out, (float)(1e3 * (grid->lower[row] + grid->spacing[row] / 2)));
    }

    sn_buffer_add_zeros(out, 16);

    // The mark of a single file, then the data.
    sn_buffer_add(out, "n+1", 4);
    sn_buffer_add_zeros(out, 4); // no extensions
    SN_ASSERT(out->failed || out->size - begin == 352);
    add_labels(grid, out);

    return sn_buffer_status(out);
}
