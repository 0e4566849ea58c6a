// Files that the program reads, with those they reference, and scenes from them: read, edited by
// --set, mistakes printed, built.
#ifndef CLI_SCENE_FILE_H
#define CLI_SCENE_FILE_H

#include "command.h"

#include "sinew/io/scene.h"

// The option that all commands share which read files with references.
extern bool cli_allow_outside;
#define CLI_ALLOW_OUTSIDE                                                                          \
    {                                                                                              \
        "allow-outside", 0, CLI_FLAG, &cli_allow_outside, NULL,                                    \
            "read referenced files outside the input's folder too", 0, 0                           \
    }

// Opens a file. What it references must be inside its folder, unless --allow-outside is given.
sinew_status cli_file_open(sinew_context *context, const char *path, sinew_file **file);

// Prints how to permit it if `file` references others outside its folder; NULL is allowed.
void cli_file_print_hint(const cli_command *command, const sinew_file *file);

// Collects the mistakes that a reader finds, and prints them if its call failed; without mistakes,
// the message of the context. Returns the exit status.
void cli_begin_mistakes(sinew_context *context, sinew_scene_mistakes *mistakes);
int cli_end_mistakes(sinew_context *context, const cli_command *command, const sinew_file *file,
                     const char *path, sinew_status status, sinew_scene_mistakes *mistakes);

typedef struct cli_scene_file {
    sinew_file *file;
    sinew_scene *scene;
} cli_scene_file;

// Reads a scene. Returns CLI_OK, or another exit status with everything printed. Close in every
// case.
int cli_scene_open(sinew_context *context, const cli_command *command, const char *path,
                   const cli_list *settings, cli_scene_file *file);
// Builds its world, in the same way.
int cli_scene_build(sinew_context *context, const cli_command *command, cli_scene_file *file);
void cli_scene_close(cli_scene_file *file);

// Prints the loaded area and the total force of each load now.
void cli_scene_print_loads(sinew_scene *scene);
// Prints the sum of the reactions of each support.
void cli_scene_print_supports(sinew_scene *scene);
// Prints a line for each field that was made from curves: how certain it is, and where least.
void cli_scene_print_fields(const sinew_scene *scene);

#endif
