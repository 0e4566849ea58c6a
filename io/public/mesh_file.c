// Mesh files for users of the library.
#include "sinew/io/mesh_file.h"

#include "io/gltf/gltf.h"
#include "io/mesh/mesh.h"
#include "io/mesh/write.h"
#include "io/public/bytes.h"

#include <stdio.h>
#include <string.h>

struct sinew_mesh_file {
    sinew_context *context;
    sn_mesh_file file;
};

sinew_status sinew_mesh_file_read(sinew_context *context, const sinew_source *source,
                                  sinew_mesh_file **file) {
    SN_NEED(NULL, context);
    SN_NEED(context, source);

    sinew_mesh_file *made = sn_allocate(context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    made->context = context;
    sinew_status status = sn_mesh_read(context, source, &made->file);
    if (status != SINEW_OK) {
        sinew_mesh_file_destroy(made);
        return status;
    }

    // The standard of glTF. Readers that need its skeleton too keep the file's own axes.
    if (made->file.format == SN_MESH_GLTF) {
        sn_mesh_file_rotate_up(&made->file, 'y');
    }

    *file = made;
    return SINEW_OK;
}

sinew_status sinew_mesh_file_set_up(sinew_mesh_file *file, char axis) {
    SN_NEED(NULL, file);
    if (axis != 'y' && axis != 'z') {
        return sn_fail(file->context, SINEW_INVALID_ARGUMENT,
                       "the up axis is '%c'; valid: 'y' and 'z'", axis);
    }
    sn_mesh_file_rotate_up(&file->file, axis);
    return SINEW_OK;
}

sinew_status sinew_mesh_file_load(sinew_context *context, const char *path,
                                  sinew_mesh_file **file) {
    SN_NEED(NULL, context);
    sinew_file *opened;
    SN_TRY(sinew_file_open(context, path, 0, &opened));
    sinew_status status = sinew_mesh_file_read(context, sinew_file_get_source(opened), file);
    sinew_file_close(opened);
    return status;
}

void sinew_mesh_file_destroy(sinew_mesh_file *file) {
    if (!file) {
        return;
    }
    sinew_context *context = file->context;
    sn_mesh_file_destroy(&file->file);
    sn_release(context, file, 1, sizeof *file);
}

bool sinew_mesh_file_detect(const sinew_source *source) {
    SN_NEED_OR(false, source);
    return sn_mesh_detect(source) != SN_MESH_UNKNOWN;
}

const char *sinew_mesh_file_get_format(const sinew_mesh_file *file) {
    SN_NEED_OR(NULL, file);
    return sn_mesh_format_name(file->file.format);
}

sinew_mesh sinew_mesh_file_get_mesh(const sinew_mesh_file *file, sinew_element element) {
    SN_NEED_OR(((sinew_mesh){0}), file);
    const sn_mesh_view *view = &file->file.view;
    const sn_mesh_cells *cells = &view->cells[element];
    return (sinew_mesh){.points = view->points,
                        .point_count = view->point_count,
                        .element = element,
                        .indices = cells->nodes,
                        .element_count = cells->count,
                        .labels = cells->labels};
}

sinew_mesh sinew_mesh_file_get_best(const sinew_mesh_file *file) {
    SN_NEED_OR(((sinew_mesh){0}), file);
    static const sinew_element order[] = {SINEW_ELEMENT_TET10, SINEW_ELEMENT_HEX8,
                                          SINEW_ELEMENT_TET4};
    for (int i = 0; i < 3; i++) {
        if (file->file.view.cells[order[i]].count > 0) {
            return sinew_mesh_file_get_mesh(file, order[i]);
        }
    }
    return sinew_mesh_file_get_mesh(file, SINEW_ELEMENT_TRIANGLE);
}

const char *sinew_mesh_file_find_group(const sinew_mesh_file *file, int32_t dimension,
                                       int32_t label) {
    SN_NEED_OR(NULL, file);
    const sn_mesh_view *view = &file->file.view;
    for (int32_t i = 0; i < view->group_count; i++) {
        if (view->groups[i].dimension == dimension && view->groups[i].label == label) {
            return view->groups[i].name;
        }
    }
    return NULL;
}

int32_t sinew_mesh_file_get_turned_count(const sinew_mesh_file *file) {
    SN_NEED_OR(0, file);
    return file->file.reversed_count;
}

// --- writing

static sinew_status write_glb(const sn_mesh_view *view, sn_buffer *out) {
    const double *images[] = {view->points};
    const double times[] = {0};
    sn_glb_frames glb = {
        .name = "mesh",
        .point_count = view->point_count,
        .index_count = 3 * view->cells[SINEW_ELEMENT_TRIANGLE].count,
        .frame_count = 1,
        .indices = view->cells[SINEW_ELEMENT_TRIANGLE].nodes,
        .frames = images,
        .times = times,
        .plain = true, // a mesh that is read again is the same
        .z_up = true,
        .material = {.name = "mesh", .color = {0.8, 0.8, 0.8, 1}, .roughness = 0.6}};

    return sn_write_glb_frames(&glb, 1, out);
}

// One of the two files of TetGen.
static sinew_status write_tetgen(const sn_mesh_view *view, bool ele, sn_buffer *out) {
    sn_buffer other = sn_buffer_create(out->context);
    sinew_status status = sn_write_tetgen(view, ele ? &other : out, ele ? out : &other);
    sn_buffer_destroy(&other);
    return status;
}

static sinew_status write_vtu(const sn_mesh_view *view, const sinew_mesh_write_def *def,
                              sn_buffer *out) {
    sn_fields fields = {.point_count = def->point_value_count,
                        .cell_count = def->element_value_count,
                        .point = def->point_values,
                        .cell = def->element_values};
    sn_vtu_options options = {.compress = def->compress, .single = def->single};

    for (int k = 0; k < 2; k++) {
        const sinew_values *values = k == 0 ? fields.point : fields.cell;
        int32_t count = k == 0 ? fields.point_count : fields.cell_count;
        for (int32_t i = 0; i < count; i++) {
            if (values[i].name && values[i].components >= 1 && values[i].values) {
                continue;
            }
            return sn_fail(out->context, SINEW_INVALID_ARGUMENT,
                           "%s values %d: they need a name, at least one component and numbers",
                           k == 0 ? "point" : "element", (int)i);
        }
    }

    return sn_write_vtu(view, &fields, &options, out);
}

static sinew_status write_view(const sn_mesh_view *view, const char *name,
                               const sinew_mesh_write_def *def, sn_buffer *out) {
    sinew_mesh_write_def defaults = sinew_default_mesh_write_def();
    def = def ? def : &defaults;
    SN_TRY(SN_CHECK_DEF(out->context, def, "sinew_default_mesh_write_def"));

    sinew_status status;
    if (sinew_name_has_ending(name, ".vtu")) {
        status = write_vtu(view, def, out);
    } else if (sinew_name_has_ending(name, ".glb")) {
        status = write_glb(view, out);
    } else if (sinew_name_has_ending(name, ".node") || sinew_name_has_ending(name, ".ele")) {
        status = write_tetgen(view, sinew_name_has_ending(name, ".ele"), out);
    } else if (def->single && sinew_name_has_ending(name, ".obj")) {
        status = sn_write_obj(view, true, out);
    } else if (def->single && sinew_name_has_ending(name, ".ply")) {
        status = sn_write_ply(view, true, out);
    } else {
        status = sn_write_mesh(view, name, out);
    }

    return status == SINEW_OK ? sn_buffer_status(out) : status;
}

static sinew_status save_view(sinew_context *context, const sn_mesh_view *view, const char *path,
                              const sinew_mesh_write_def *def) {
    sn_buffer out = sn_buffer_create(context);
    SN_TRY(sn_save_buffer(write_view(view, path, def, &out), &out, path));
    if (!sinew_name_has_ending(path, ".node")) {
        return SINEW_OK;
    }

    // TetGen keeps the elements in a file of their own.
    char elements[4096];
    int length = snprintf(elements, sizeof elements, "%.*s.ele", (int)(strlen(path) - 5), path);
    if (length < 0 || (size_t)length >= sizeof elements) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s: name is too long", path);
    }

    out = sn_buffer_create(context);
    return sn_save_buffer(write_view(view, elements, def, &out), &out, elements);
}

sinew_status sinew_mesh_file_write(const sinew_mesh_file *file, const char *name,
                                   sinew_bytes *out) {
    SN_NEED(NULL, file && name && out);
    return write_view(&file->file.view, name, NULL, &out->buffer);
}

sinew_status sinew_mesh_file_save(const sinew_mesh_file *file, const char *path) {
    SN_NEED(NULL, file && path);
    return save_view(file->context, &file->file.view, path, NULL);
}

sinew_mesh_write_def sinew_default_mesh_write_def(void) {
    return (sinew_mesh_write_def){.compress = true, .filled = SN_DEF_FILLED};
}

sinew_status sinew_mesh_write(sinew_context *context, const sinew_mesh *mesh, const char *name,
                              const sinew_mesh_write_def *def, sinew_bytes *out) {
    SN_NEED(context, mesh && name && out);
    (void)context;
    sn_mesh_view view = sn_mesh_view_of(mesh);
    return write_view(&view, name, def, &out->buffer);
}

sinew_status sinew_mesh_save(sinew_context *context, const sinew_mesh *mesh, const char *path,
                             const sinew_mesh_write_def *def) {
    SN_NEED(NULL, context);
    SN_NEED(context, mesh && path);
    sn_mesh_view view = sn_mesh_view_of(mesh);
    return save_view(context, &view, path, def);
}
