// A scene from a file: read, edited by --set, mistakes printed, built.
#ifndef CLI_SCENE_FILE_H
#define CLI_SCENE_FILE_H

#include "command.h"
#include "files.h"

#include "io/scene/build.h"
#include "io/scene/read.h"

enum { CLI_FETCHES = 256, CLI_FETCH_NAME = 512 };

typedef struct cli_fetched {
    char name[CLI_FETCH_NAME];
    cli_bytes bytes;
} cli_fetched;

// Files that a scene, mesh or volume references, relative to its folder. They must be inside that
// folder, unless --allow-outside is given. Each is read once and stays until the end.
typedef struct cli_fetcher {
    sinew_context *context;
    char folder[4096];
    cli_fetched files[CLI_FETCHES];
    int32_t count;
    bool io_failed; // one could not be read for reasons of the system
} cli_fetcher;

// The option that all commands share which read files with references.
extern bool cli_allow_outside;
#define CLI_ALLOW_OUTSIDE                                                                          \
    {                                                                                              \
        "allow-outside", 0, CLI_FLAG, &cli_allow_outside, NULL,                                    \
            "read referenced files outside the input's folder too", 0, 0                           \
    }

// For files beside `path`. Destroy in every case.
void cli_fetcher_create(sinew_context *context, const char *path, cli_fetcher *fetcher);
bool cli_fetch(void *user, const char *name, const void **data, size_t *size);
void cli_fetcher_destroy(cli_fetcher *fetcher);

typedef struct cli_scene_file {
    cli_bytes bytes;
    sn_scene scene;
    sn_mistakes mistakes;
    cli_fetcher fetcher;
    bool read; // the scene is there and must be destroyed
} cli_scene_file;

// Prints the loaded area and the total force of each load at a time.
void cli_scene_print_loads(const sn_scene *scene, const sn_scene_world *world, double time);

// Prints the sum of the reactions of each support.
void cli_scene_print_supports(sinew_context *context, const sn_scene *scene,
                              const sn_scene_world *world);

// Returns CLI_OK, or CLI_BAD_INPUT with everything printed. Close in every case.
int cli_scene_open(sinew_context *context, const cli_command *command, const char *path,
                   const cli_list *settings, cli_scene_file *file);
int cli_scene_build(sinew_context *context, const cli_command *command, cli_scene_file *file,
                    sn_scene_world **world);
// A line for each field that curves made: how certain it is, and where least.
void cli_scene_print_fields(const sn_scene *scene, const sn_scene_world *world);
void cli_scene_close(sinew_context *context, cli_scene_file *file);

#endif
