// sinew convert: a mesh from one format to another.
#include "command.h"
#include "mesh_file.h"

#include <stdio.h>
#include <string.h>

static bool is_surface_format(const char *path) {
    return sinew_name_has_ending(path, ".obj") || sinew_name_has_ending(path, ".ply") ||
           sinew_name_has_ending(path, ".stl") || sinew_name_has_ending(path, ".glb");
}

// Writes the boundary of a solid mesh.
static int write_boundary(sinew_context *context, const cli_command *command,
                          const sinew_mesh *mesh, const char *path) {
    sinew_mesh *surface = NULL;
    if (sinew_mesh_create_surface(context, mesh, &surface, NULL) != SINEW_OK) {
        return cli_fail_call(command, context);
    }

    int status = cli_mesh_write(context, command, surface, path);
    sinew_mesh_destroy(surface);

    return status;
}

static int convert(sinew_context *context, const cli_command *command, const char *in,
                   const char *out, bool surface, char up) {
    cli_mesh_file file;
    int status = cli_mesh_open(context, command, in, up, &file);
    if (status == CLI_OK) {
        sinew_mesh mesh = sinew_mesh_file_get_best(file.mesh);
        bool solid = mesh.element != SINEW_ELEMENT_TRIANGLE;
        if (solid && !surface && is_surface_format(out)) {
            status = cli_fail(command, CLI_USAGE,
                              "%s contains solid elements, which %s cannot store; use --surface to "
                              "write their boundary",
                              in, out);
        } else if (solid && surface) {
            status = write_boundary(context, command, &mesh, out);
        } else {
            status = cli_mesh_convert(context, command, file.mesh, out);
        }
    }

    cli_mesh_close(&file);
    return status;
}

static int run(const cli_command *command, int argc, char **argv) {
    bool surface = false;
    const char *up_text = NULL;
    const cli_option table[] = {
        {"surface", 's', CLI_FLAG, &surface, NULL, "write the boundary of a solid mesh", 0, 0},
        CLI_UP(up_text),
        CLI_ALLOW_OUTSIDE,
    };

    // The command line.
    const char *paths[2];
    int count;
    bool finished;
    int status = cli_parse(command, table, 3, argc, argv, paths, 2, &count, &finished);

    if (finished) {
        return status;
    }

    if (count < 2) {
        return cli_fail(command, CLI_USAGE,
                        "an input and an output file are needed; usage: sinew convert IN OUT");
    }

    char up;
    if (cli_read_up(command, up_text, &up) != CLI_OK) {
        return CLI_USAGE;
    }

    // The conversion itself.
    sinew_context *context = cli_create_context(command, 1);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    status = convert(context, command, paths[0], paths[1], surface, up);
    sinew_context_destroy(context);

    return status;
}

const cli_command cli_command_convert = {
    .name = "convert",
    .summary = "Convert a mesh file to another format.",
    .arguments = "IN OUT",
    .details = "Formats, by file extension: .obj .ply .stl .glb (surfaces), .msh .mesh .vtu .node "
               "(solids).\n"
               "Up stays up: .obj, .gltf and .glb files have y up, all others z.\n"
               "Also read: .gltf. A .node file is read together with its .ele file.",
    .run = run,
};
