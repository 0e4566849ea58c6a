// Meshes from and to files, for the commands that work on them.
#ifndef CLI_MESH_FILE_H
#define CLI_MESH_FILE_H

#include "command.h"
#include "scene_file.h"

#include "sinew/io/mesh_file.h"

// The option of commands that read a mesh whose axes may differ from its format's custom.
#define CLI_UP(text)                                                                               \
    {                                                                                              \
        "up", 0, CLI_TEXT, &(text), "AXIS",                                                        \
            "the file's up axis, y or z (default: y for .obj .gltf "                               \
            ".glb, z for others)",                                                                 \
            0, 0                                                                                   \
    }

// A mesh file that was read. Close in every case.
typedef struct cli_mesh_file {
    sinew_file *file;
    sinew_mesh_file *mesh;
} cli_mesh_file;

// The axis that an option --up names, or 0 for the format's custom if it was not given. CLI_OK, or
// another exit status with the message printed.
int cli_read_up(const cli_command *command, const char *text, char *up);

// Reads a mesh, z up. `up`: the file's up axis, or 0. CLI_OK, or another exit status with the
// message printed.
int cli_mesh_open(sinew_context *context, const cli_command *command, const char *path, char up,
                  cli_mesh_file *file);
void cli_mesh_close(cli_mesh_file *file);

// Writes a mesh, or all of a file, in the format of the name: .vtu .obj .ply .stl .msh .mesh .node
// (with .ele) .glb. Triangles for the surface formats.
int cli_mesh_write(sinew_context *context, const cli_command *command, const sinew_mesh *mesh,
                   const char *path);
int cli_mesh_convert(sinew_context *context, const cli_command *command,
                     const sinew_mesh_file *file, const char *path);

#endif
