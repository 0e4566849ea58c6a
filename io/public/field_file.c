// Fields of material axes in files, for users of the library.
#include "sinew/io/field_file.h"

#include "io/field/field_file.h"
#include "io/public/bytes.h"
#include "math/eigen3.h"

struct sinew_field_file {
    sn_arena arena; // holds this struct too
    sn_field_file file;
};

sinew_status sinew_field_file_read(sinew_context *context, const sinew_source *source,
                                   sinew_field_file **file) {
    SN_NEED(NULL, context);
    SN_NEED(context, source);

    sn_arena arena = sn_arena_create(context);
    sinew_field_file *made = SN_PUSH(&arena, sinew_field_file, 1);
    sinew_status status = sn_arena_status(&arena);
    if (status == SINEW_OK) {
        status = sn_field_read(&arena, source, &made->file);
    }

    if (status != SINEW_OK) {
        sn_arena_destroy(&arena);
        return status;
    }

    made->arena = arena;
    *file = made;

    return SINEW_OK;
}

sinew_status sinew_field_file_load(sinew_context *context, const char *path,
                                   sinew_field_file **file) {
    SN_NEED(NULL, context);
    sinew_file *opened;
    SN_TRY(sinew_file_open(context, path, 0, &opened));
    sinew_status status = sinew_field_file_read(context, sinew_file_get_source(opened), file);
    sinew_file_close(opened);
    return status;
}

void sinew_field_file_destroy(sinew_field_file *file) {
    if (!file) {
        return;
    }
    sn_arena arena = file->arena; // a copy: the arena holds the struct
    sn_arena_destroy(&arena);
}

sinew_field_kind sinew_field_file_get_kind(const sinew_field_file *file) {
    SN_NEED_OR(0, file);
    return file->file.kind;
}

const double *sinew_field_file_get_axes(const sinew_field_file *file, int32_t *element_count) {
    SN_NEED_OR(NULL, file);
    if (element_count) {
        *element_count = file->file.element_count;
    }
    return file->file.axes;
}

double sinew_field_file_compute_direction(const sinew_field_file *file, double direction[3]) {
    SN_NEED_OR(0, file && direction);

    sn_mat3 V, T = {0};
    for (int32_t e = 0; e < file->file.element_count; e++) {
        sn_vec3 d = sn_load3(file->file.axes + 9 * (size_t)e + 6);
        T = sn_mat3_add(T, sn_mat3_scale(1.0 / file->file.element_count, sn_outer(d, d)));
    }

    double values[3];
    sn_eigen3(values, &V, T);
    sn_store3(direction, sn_mat3_column(V, 0));

    return values[0];
}

sinew_status sinew_field_write(sinew_context *context, const sinew_field *field, sinew_bytes *out) {
    SN_NEED(NULL, context);
    SN_NEED(context, field && out);
    (void)context;
    SN_TRY(sn_field_write(field, &out->buffer));
    return sn_buffer_status(&out->buffer);
}

sinew_status sinew_field_save(sinew_context *context, const sinew_field *field, const char *path) {
    SN_NEED(NULL, context);
    SN_NEED(context, field && path);
    sn_buffer out = sn_buffer_create(context);
    return sn_save_buffer(sn_field_write(field, &out), &out, path);
}
