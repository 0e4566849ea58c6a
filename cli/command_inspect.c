// sinew inspect: what is in a file.
#include "commands.h"
#include "files.h"

#include "geom/box.h"
#include "io/mesh/mesh.h"

#include <stdio.h>

static int print_mesh(const sn_mesh_file *file) {
    static const char *const names[SN_ELEMENT_KINDS] = {"triangles", "tets", "ten-node tets", "hexahedra"};
    const sn_mesh_view *view = &file->view;
    sn_box box = sn_box_of_points(view->points, view->point_count);
    printf("%s mesh: %d points", sn_mesh_format_name(file->format), view->point_count);
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        if (view->cells[kind].count) printf(", %d %s", view->cells[kind].count, names[kind]);
    }
    printf("\nfrom (%g, %g, %g) to (%g, %g, %g)\n", box.lower.x, box.lower.y, box.lower.z, box.upper.x, box.upper.y,
           box.upper.z);
    return CLI_OK;
}

static int inspect(sinew_context *context, const cli_command *command, const char *path) {
    cli_bytes bytes = {NULL, 0};
    if (cli_read_file(context, path, 0, &bytes) != SINEW_OK) {
        return cli_fail(command, CLI_BAD_INPUT, "%s", sinew_context_message(context));
    }
    sn_source source = {.name = path, .data = bytes.data, .size = bytes.size};
    sn_mesh_file file;
    int status = CLI_OK;
    if (sn_mesh_read(context, &source, &file) == SINEW_OK) {
        status = print_mesh(&file);
    } else {
        status = cli_fail(command, CLI_BAD_INPUT, "%s", sinew_context_message(context));
    }
    sn_mesh_file_destroy(&file);
    cli_free_bytes(context, &bytes);
    return status;
}

static int run(const cli_command *command, int argc, char **argv) {
    const char *path;
    int count;
    bool finished;
    int status = cli_parse(command, NULL, 0, argc, argv, &path, 1, &count, &finished);
    if (finished) return status;
    if (count == 0) return cli_fail(command, CLI_USAGE, "which file? usage: sinew inspect FILE");
    sinew_context *context = cli_create_context(command, 1);
    if (!context) return CLI_BAD_INPUT;
    status = inspect(context, command, path);
    sinew_context_destroy(context);
    return status;
}

const cli_command cli_command_inspect = {
    .name = "inspect",
    .summary = "Tell what is in a file.",
    .arguments = "FILE",
    .run = run,
};
