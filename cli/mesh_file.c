// Mesh files for the commands that read one and write one.
#include "mesh_file.h"
#include "files.h"
#include "progress.h"

#include <stdio.h>
#include <string.h>

int cli_read_up(const cli_command *command, const char *text, char *up) {
    *up = 0;
    if (!text) {
        return CLI_OK;
    }
    if (strcmp(text, "y") != 0 && strcmp(text, "z") != 0) {
        return cli_fail(command, CLI_USAGE, "--up is '%s'; valid: y, z", text);
    }
    *up = text[0];
    return CLI_OK;
}

int cli_mesh_open(sinew_context *context, const cli_command *command, const char *path, char up,
                  cli_mesh_file *file) {
    *file = (cli_mesh_file){NULL, NULL};
    cli_activity activity;
    cli_activity_begin(&activity, "reading");

    sinew_status status = cli_file_open(context, path, &file->file);
    if (status == SINEW_OK) {
        const sinew_source *source = sinew_file_get_source(file->file);
        status = sinew_mesh_file_read(context, source, &file->mesh);
    }
    if (status == SINEW_OK && up) {
        status = sinew_mesh_file_set_up(file->mesh, up);
    }

    cli_activity_end(&activity);
    if (status == SINEW_OK) {
        return CLI_OK;
    }

    int result = cli_fail_call(command, context);
    cli_file_print_hint(command, file->file);
    return result;
}

void cli_mesh_close(cli_mesh_file *file) {
    sinew_mesh_file_destroy(file->mesh);
    sinew_file_close(file->file);
}

// One of the two is given.
typedef struct content {
    const sinew_mesh *mesh;
    const sinew_mesh_file *file;
} content;

static sinew_status write_one(sinew_context *context, const content *what, const char *path) {
    sinew_bytes *out = NULL;
    sinew_status status = sinew_bytes_create(context, &out);
    if (status == SINEW_OK) {
        status = what->mesh ? sinew_mesh_write(context, what->mesh, path, NULL, out)
                            : sinew_mesh_file_write(what->file, path, out);
    }
    if (status == SINEW_OK) {
        status = cli_write_result(context, path, out);
    }

    sinew_bytes_destroy(out);
    return status;
}

// TetGen keeps the elements in a file of their own.
static sinew_status write_all(sinew_context *context, const content *what, const char *path) {
    sinew_status status = SINEW_OK;
    if (sinew_name_has_ending(path, ".node")) {
        char elements[4096];
        snprintf(elements, sizeof elements, "%.*s.ele", (int)(strlen(path) - 5), path);
        status = write_one(context, what, elements);
    }

    return status == SINEW_OK ? write_one(context, what, path) : status;
}

static int write_content(sinew_context *context, const cli_command *command, const content *what,
                         const char *path) {
    cli_activity activity;
    cli_activity_begin(&activity, "writing");
    sinew_status status = write_all(context, what, path);
    cli_activity_end(&activity);
    return status == SINEW_OK ? CLI_OK : cli_fail_call(command, context);
}

int cli_mesh_write(sinew_context *context, const cli_command *command, const sinew_mesh *mesh,
                   const char *path) {
    return write_content(context, command, &(content){.mesh = mesh}, path);
}

int cli_mesh_convert(sinew_context *context, const cli_command *command,
                     const sinew_mesh_file *file, const char *path) {
    return write_content(context, command, &(content){.file = file}, path);
}
