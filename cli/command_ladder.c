// sinew ladder: one scene, all models: error against the finest, time of a step, memory.
#include "command.h"
#include "files.h"
#include "ladder/ladder.h"
#include "scene_file.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct ladder_options {
    const char *body, *output;
    int64_t steps, threads;
    cli_list settings;
    cli_optional_text json;
} ladder_options;

// The index of the body, or -1 with a message.
static int32_t find_body(const cli_command *command, const sinew_scene *scene, const char *name) {
    int32_t found = name ? sinew_scene_find_body(scene, name) : 0;
    if (found >= 0 && found < sinew_scene_get_body_count(scene)) {
        return found;
    }

    const char *names[64];
    int32_t count = 0;
    while (count < 64 && count < sinew_scene_get_body_count(scene)) {
        names[count] = sinew_scene_get_body_name(scene, count);
        count++;
    }
    cli_fail(command, CLI_USAGE, "there is no body '%s'%s", name ? name : "",
             name ? cli_did_you_mean(name, names, count) : "");
    return -1;
}

static sinew_status write_json(const ladder *l, const cli_optional_text *json) {
    if (!json->given) {
        return SINEW_OK;
    }

    sinew_bytes *out = NULL;
    CLI_TRY(sinew_bytes_create(l->context, &out));
    sinew_status status = ladder_write_json(l, out);
    if (status == SINEW_OK) {
        status = cli_write_result(l->context, json->text, out);
    }
    sinew_bytes_destroy(out);
    return status;
}

static sinew_status write_all(const ladder *l, const ladder_options *options) {
    CLI_TRY(ladder_write_pages(l, options->output));
    return write_json(l, &options->json);
}

static int compare_models(const cli_command *command, sinew_context *context, sinew_scene *scene,
                          const ladder_options *options) {
    int32_t body = find_body(command, scene, options->body);
    if (body < 0) {
        return CLI_USAGE;
    }

    ladder *l = calloc(1, sizeof *l);
    if (!l) {
        return cli_fail(command, CLI_BAD_INPUT, "out of memory");
    }

    // Rows are printed as they are measured, unless JSON goes to standard output.
    bool silent = options->json.given && !options->json.text;
    l->context = context;
    l->show = silent ? NULL : ladder_print;

    int status = ladder_run(l, command, scene, body, (int32_t)options->steps);
    if (status == CLI_OK && write_all(l, options) != SINEW_OK) {
        status = cli_fail_call(command, context);
    }
    if (status == CLI_OK && !silent) {
        printf("in %s: ladder.svg (error against time per step), ladder.md (the table)\n",
               options->output);
    }

    ladder_destroy(l);
    free(l);
    return status;
}

static int run(const cli_command *command, int argc, char **argv) {
    ladder_options o = {.output = "out", .steps = -1, .threads = 1};
    const cli_option table[] = {
        {"output", 'o', CLI_TEXT, &o.output, "DIR",
         "folder for ladder.svg and ladder.md (default: out)", 0, 0},
        {"body", 'b', CLI_TEXT, &o.body, "NAME", "body to compare (default: the first)", 0, 0},
        {"steps", 'n', CLI_INTEGER, &o.steps, "N", "number of steps (default: from the scene)", 0,
         1e6},
        {"threads", 't', CLI_INTEGER, &o.threads, "N", "threads (default: 1)", 1, 64},
        {"set", 's', CLI_LIST, &o.settings, "PATH=VALUE",
         "change the scene, e.g. materials.gel.poisson=0.3", 0, 0},
        CLI_ALLOW_OUTSIDE,
        {"json", 0, CLI_OPTIONAL_TEXT, &o.json, "FILE",
         "write the table as JSON (default: to standard output)", 0, 0},
    };
    const char *path = NULL;
    int count;
    bool finished;
    int status = cli_parse(command, table, sizeof table / sizeof *table, argc, argv, &path, 1,
                           &count, &finished);

    if (finished) {
        return status;
    }
    if (!path) {
        return cli_fail(command, CLI_USAGE, "which scene? usage: sinew ladder SCENE.json");
    }

    sinew_context *context = cli_create_context(command, (int32_t)o.threads);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    // The scene is the specification; each model is built from it.
    cli_scene_file file;
    status = cli_scene_open(context, command, path, &o.settings, &file);
    if (status == CLI_OK) {
        status = compare_models(command, context, file.scene, &o);
    }

    cli_scene_close(&file);
    sinew_context_destroy(context);

    return status;
}

const cli_command cli_command_ladder = {
    .name = "ladder",
    .summary = "Compare all models of one body: error, time, memory.",
    .arguments = "SCENE.json",
    .details =
        "Simulates one body of the scene alone, with its supports and loads: as tetrahedra with\n"
        "several laws and sizes, with rigid, affine, quadratic and spectral frames, with springs\n"
        "between frames, in modal coordinates, and by position dynamics. The error is the root\n"
        "mean square distance from a finer mesh of ten-node tetrahedra, relative to the\n"
        "displacement of that mesh. The table gives the reason if a model cannot simulate the\n"
        "scene.",
    .run = run,
};
