// Label volumes for users of the library.
#include "sinew/io/volume_file.h"

#include "io/public/bytes.h"
#include "io/volume/volume.h"
#include "io/text/units.h"

#include <stdio.h>
#include <string.h>

struct sinew_volume_file {
    sinew_context *context;
    char name[256]; // for messages
    sn_volume_file file;
};

sinew_volume_read_def sinew_default_volume_read_def(void) {
    return (sinew_volume_read_def){.filled = SN_DEF_FILLED};
}

sinew_status sinew_volume_file_read(sinew_context *context, const sinew_source *source,
                                    const sinew_volume_read_def *def, sinew_volume_file **file) {
    SN_NEED(NULL, context);
    SN_NEED(context, source);

    sinew_volume_read_def defaults = sinew_default_volume_read_def();
    def = def ? def : &defaults;
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_volume_read_def"));
    if (!(def->unit >= 0 && def->unit < 1e30)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s: the unit must be at least 0, not %g m",
                       source->name, def->unit);
    }

    sinew_volume_file *made = sn_allocate(context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    made->context = context;
    snprintf(made->name, sizeof made->name, "%s", source->name ? source->name : "");

    sn_volume_options options = {.unit = def->unit,
                                 .memory_limit = def->memory_limit,
                                 .use_threshold = def->use_threshold,
                                 .threshold = def->threshold,
                                 .use_values = def->use_values};

    sinew_status status = sn_volume_read(context, source, &options, &made->file);
    if (status != SINEW_OK) {
        sinew_volume_file_destroy(made);
        return status;
    }

    *file = made;
    return SINEW_OK;
}

sinew_status sinew_volume_file_load(sinew_context *context, const char *path,
                                    const sinew_volume_read_def *def, sinew_volume_file **file) {
    SN_NEED(NULL, context);
    sinew_file *opened;
    SN_TRY(sinew_file_open(context, path, 0, &opened));
    sinew_status status = sinew_volume_file_read(context, sinew_file_get_source(opened), def, file);
    sinew_file_close(opened);
    return status;
}

void sinew_volume_file_destroy(sinew_volume_file *file) {
    if (!file) {
        return;
    }
    sinew_context *context = file->context;
    sn_volume_file_destroy(&file->file);
    sn_release(context, file, 1, sizeof *file);
}

bool sinew_volume_file_detect(const sinew_source *source) {
    SN_NEED_OR(false, source);
    return sn_volume_detect(source) != SN_VOLUME_UNKNOWN;
}

const char *sinew_volume_file_get_format(const sinew_volume_file *file) {
    SN_NEED_OR(NULL, file);
    return sn_volume_format_name(file->file.format);
}

const sinew_label_grid *sinew_volume_file_get_grid(const sinew_volume_file *file) {
    SN_NEED_OR(NULL, file);
    return &file->file.grid;
}

bool sinew_volume_file_get_axes(const sinew_volume_file *file, double axes[9]) {
    SN_NEED_OR(false, file && axes);
    memcpy(axes, file->file.axes, sizeof file->file.axes);
    return file->file.askew;
}

sinew_status sinew_volume_file_sample(const sinew_volume_file *file, const sinew_voxels *voxels,
                                      double *values) {
    SN_NEED(NULL, file && voxels && values);
    if (!file->file.values) {
        return sn_fail(file->context, SINEW_INVALID_ARGUMENT,
                       "%s was read as labels; a map is read with use_values", file->name);
    }
    sn_source source = {.name = file->name};
    return sn_volume_sample(file->context, &source, &file->file, voxels, values);
}

sinew_status sinew_voxels_write_values(sinew_context *context, const sinew_voxels *voxels,
                                       const double *values, sinew_bytes *out) {
    SN_NEED(NULL, context);
    SN_NEED(context, voxels && values && out);

    sinew_label_grid grid = {0};
    sinew_voxels_get_grid(voxels, grid.cells, grid.spacing, grid.lower);
    sn_arena scratch = sn_arena_create(context);
    size_t count = (size_t)grid.cells[0] * (size_t)grid.cells[1] * (size_t)grid.cells[2];
    double *all = SN_PUSH(&scratch, double, count);
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        const int32_t *cells = sinew_voxels_get_cells(voxels);
        for (int32_t v = 0; v < sinew_voxels_get_count(voxels); v++) {
            all[cells[v]] = values[v];
        }
        status = sn_write_nrrd_values(&grid, all, &out->buffer);
    }
    sn_arena_destroy(&scratch);
    return status;
}

double sinew_unit_find(const char *name) {
    SN_NEED_OR(0, name);
    return sn_unit_find((sn_word){name, strlen(name)});
}

static sinew_status write(const sinew_label_grid *grid, const char *name, sn_buffer *out) {
    sinew_status status;
    if (sinew_name_has_ending(name, ".nrrd")) {
        status = sn_write_nrrd(grid, out);
    } else if (sinew_name_has_ending(name, ".nii")) {
        status = sn_write_nifti(grid, out);
    } else {
        return sn_fail(out->context, SINEW_UNSUPPORTED, "%s: a volume is written as .nrrd or .nii",
                       name);
    }
    return status == SINEW_OK ? sn_buffer_status(out) : status;
}

sinew_status sinew_volume_write(sinew_context *context, const sinew_label_grid *grid,
                                const char *name, sinew_bytes *out) {
    SN_NEED(context, name && out);
    (void)context;
    return write(grid, name, &out->buffer);
}

sinew_status sinew_volume_save(sinew_context *context, const sinew_label_grid *grid,
                               const char *path) {
    SN_NEED(NULL, context);
    SN_NEED(context, path);
    sn_buffer out = sn_buffer_create(context);
    return sn_save_buffer(write(grid, path, &out), &out, path);
}

uint16_t *sn_voxels_push_labels(const sinew_voxels *voxels, sn_arena *arena,
                                sinew_label_grid *grid) {
    *grid = (sinew_label_grid){0};
    sinew_voxels_get_grid(voxels, grid->cells, grid->spacing, grid->lower);
    const uint16_t *from = sinew_voxels_get_labels(voxels);
    const int32_t *cells = sinew_voxels_get_cells(voxels);
    uint16_t *labels = SN_PUSH(
        arena, uint16_t, (size_t)grid->cells[0] * (size_t)grid->cells[1] * (size_t)grid->cells[2]);
    if (!labels) {
        return NULL;
    }

    for (int32_t v = 0; v < sinew_voxels_get_count(voxels); v++) {
        labels[cells[v]] = from[v];
    }
    grid->labels16 = labels;
    return labels;
}

static sinew_status write_voxels(sinew_context *context, const sinew_voxels *voxels,
                                 const char *name, sn_buffer *out) {
    sn_arena arena = sn_arena_create(context);
    sinew_label_grid grid;
    sinew_status status = sn_voxels_push_labels(voxels, &arena, &grid) ? write(&grid, name, out)
                                                                       : SINEW_OUT_OF_MEMORY;
    sn_arena_destroy(&arena);
    return status;
}

sinew_status sinew_voxels_write(sinew_context *context, const sinew_voxels *voxels,
                                const char *name, sinew_bytes *out) {
    SN_NEED(NULL, context);
    SN_NEED(context, voxels && name && out);
    return write_voxels(context, voxels, name, &out->buffer);
}

sinew_status sinew_voxels_save(sinew_context *context, const sinew_voxels *voxels,
                               const char *path) {
    SN_NEED(NULL, context);
    SN_NEED(context, voxels && path);
    sn_buffer out = sn_buffer_create(context);
    return sn_save_buffer(write_voxels(context, voxels, path, &out), &out, path);
}
