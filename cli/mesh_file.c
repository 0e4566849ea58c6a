#include "mesh_file.h"
#include "progress.h"

#include "io/gltf/gltf.h"
#include "io/mesh/write.h"

#include <stdio.h>
#include <string.h>

int cli_mesh_open(sinew_context *context, const cli_command *command, const char *path,
                  cli_mesh_file *file) {
    memset(file, 0, sizeof *file);
    cli_fetcher_create(context, path, &file->fetcher);

    cli_activity activity;
    cli_activity_begin(&activity, "reading");

    sinew_status status = cli_read_file(context, path, 0, &file->bytes);
    if (status == SINEW_OK) {
        sn_source source = {path,      file->bytes.data, file->bytes.size,
                            cli_fetch, &file->fetcher,   false};
        file->read = true;
        status = sn_mesh_read(context, &source, &file->mesh);
    }

    cli_activity_end(&activity);
    return status == SINEW_OK ? CLI_OK : cli_fail_call(command, context);
}

void cli_mesh_close(sinew_context *context, cli_mesh_file *file) {
    if (file->read) {
        sn_mesh_file_destroy(&file->mesh);
    }
    cli_fetcher_destroy(&file->fetcher);
    cli_free_bytes(context, &file->bytes);
}

sinew_mesh cli_mesh_best(const sn_mesh_view *view) {
    const sinew_element order[] = {SINEW_ELEMENT_TET10, SINEW_ELEMENT_HEX8, SINEW_ELEMENT_TET4,
                                   SINEW_ELEMENT_TRIANGLE};
    sinew_element kind = SINEW_ELEMENT_TRIANGLE;

    for (int i = 3; i >= 0; i--) {
        if (view->cells[order[i]].count > 0) {
            kind = order[i];
        }
    }

    const sn_mesh_cells *cells = &view->cells[kind];
    return (sinew_mesh){view->points, view->point_count, kind,
                        cells->nodes, cells->count,      cells->labels};
}

static bool ends_with(const char *path, const char *ending) {
    size_t length = strlen(path);
    size_t tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

static sinew_status write_glb(const sn_mesh_view *view, sn_buffer *out) {
    const double *frames[] = {view->points};
    const double times[] = {0};
    sn_glb_frames glb = {
        .name = "mesh",
        .point_count = view->point_count,
        .index_count = 3 * view->cells[SINEW_ELEMENT_TRIANGLE].count,
        .frame_count = 1,
        .indices = view->cells[SINEW_ELEMENT_TRIANGLE].nodes,
        .frames = frames,
        .times = times,
        .material = {.name = "mesh", .color = {0.8, 0.8, 0.8, 1}, .roughness = 0.6}};

    return sn_write_glb_frames(&glb, out);
}

static sinew_status write_tetgen(sinew_context *context, const sn_mesh_view *view, const char *path,
                                 sn_buffer *out) {
    sn_buffer ele = sn_buffer_create(context);
    char name[4096];

    snprintf(name, sizeof name, "%.*s.ele", (int)(strlen(path) - 5), path);
    sinew_status status = sn_write_tetgen(view, out, &ele);
    if (status == SINEW_OK) {
        status = sn_buffer_status(&ele);
    }
    if (status == SINEW_OK) {
        status = cli_write_file(context, name, ele.data, ele.size);
    }

    sn_buffer_destroy(&ele);
    return status;
}

int cli_mesh_write(sinew_context *context, const cli_command *command, const sn_mesh_view *view,
                   const char *path) {
    sn_buffer out = sn_buffer_create(context);
    sinew_status status;
    cli_activity activity;

    cli_activity_begin(&activity, "writing");
    if (ends_with(path, ".glb")) {
        status = write_glb(view, &out);
    } else if (ends_with(path, ".node")) {
        status = write_tetgen(context, view, path, &out);
    } else {
        status = sn_write_mesh(view, path, &out);
    }

    if (status == SINEW_OK) {
        status = sn_buffer_status(&out);
    }
    if (status == SINEW_OK) {
        status = cli_write_file(context, path, out.data, out.size);
    }

    cli_activity_end(&activity);
    sn_buffer_destroy(&out);
    if (status != SINEW_OK) {
        return cli_fail_call(command, context);
    }

    return CLI_OK;
}
