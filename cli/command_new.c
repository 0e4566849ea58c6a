// sinew new: a scene to start from, with comments that explain it.
#include "command.h"
#include "files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char starter[] =
    "// A scene for sinew. Comments are allowed; lengths are in \"units\", everything else in SI "
    "units.\n"
    "{\n"
    "  \"version\": 1,\n"
    "  \"title\": \"My first bar\",\n"
    "  \"units\": \"m\",                  // or cm, mm, in, ft\n"
    "  \"gravity\": [0, 0, -9.81],      // [m/s2]\n"
    "  \"step\": 0.01,                  // [s]\n"
    "  \"duration\": 2,                 // [s], or \"steps\": 200\n"
    "  // {integrators}\n"
    "  \"integrator\": \"implicit-euler\",\n"
    "\n"
    "  // Materials by name: a law, and its constants or a preset ('sinew list' shows both).\n"
    "  \"materials\": {\n"
    "    \"gel\": { \"law\": \"corotational\", \"young\": 2e5, \"poisson\": 0.4, \"density\": 1000 "
    "},\n"
    "    \"rubber\": { \"law\": \"stable-neo-hookean\", \"preset\": \"rubber\" }\n"
    "  },\n"
    "\n"
    "  \"bodies\": [\n"
    "    {\n"
    "      \"name\": \"bar\",\n"
    "      // A generated shape ({shapes}), or { \"file\": "
    "\"mesh.msh\" }, or a surface to be "
    "filled\n"
    "      // with tets: { \"file\": \"surface.obj\", \"tets\": 20000 }.\n"
    "      \"shape\": { \"kind\": \"box\", \"size\": [1, 0.2, 0.2], \"cells\": [20, 4, 4] },\n"
    "      \"material\": \"gel\",\n"
    "      // Held where the rest shape lies in a box, sphere, plane, label ...\n"
    "      \"fixed\": [{ \"box\": { \"upper\": [-0.5, 1, 1] } }],\n"
    "      // A force of 20 N on the other end, rising over half a second.\n"
    "      \"loads\": [{\n"
    "        \"where\": { \"plane\": { \"point\": [0.5, 0, 0], \"normal\": [1, 0, 0] } },\n"
    "        \"force\": [0, 20, 0],\n"
    "        \"scale\": { \"keys\": [[0, 0], [0.5, 1]], \"smooth\": true }\n"
    "      }]\n"
    "    }\n"
    "  ],\n"
    "\n"
    "  // Points whose motion, strain and stress go to probes.csv.\n"
    "  \"probes\": [{ \"name\": \"tip\", \"body\": \"bar\", \"point\": [0.5, 0, 0] }],\n"
    "\n"
    "  \"output\": { \"formats\": [\"vtu\", \"glb\", \"csv\", \"png\"], \"every\": 4 },\n"
    "  \"preview\": { \"color\": \"strain\", \"count\": 6 }\n"
    "}\n";

static int run(const cli_command *command, int argc, char **argv) {
    bool force = false;
    const cli_option table[] = {
        {"force", 'f', CLI_FLAG, &force, NULL, "overwrite an existing file", 0, 0}};
    const char *name = "scene";
    int count;
    bool finished;
    int status = cli_parse(command, table, 1, argc, argv, &name, 1, &count, &finished);

    if (finished) {
        return status;
    }

    // Never overwrite what a person may have written.
    char path[4096];
    bool complete = sinew_name_has_ending(name, ".json");
    snprintf(path, sizeof path, "%s%s", name, complete ? "" : ".json");
    if (!force && access(path, F_OK) == 0) {
        return cli_fail(command, CLI_USAGE, "%s exists; use --force to overwrite it", path);
    }

    sinew_context *context = cli_create_context(command, 1);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    status = CLI_OK;

    // The starter's comments list the words that are valid.
    char *text = cli_expand_words(starter);
    if (!text) {
        status = cli_fail(command, CLI_BAD_INPUT, "out of memory");
    } else if (cli_write_file(context, path, text, strlen(text)) != SINEW_OK) {
        status = cli_fail_call(command, context);
    } else {
        printf("wrote %s; try: sinew run %s\n", path, path);
    }

    free(text);
    sinew_context_destroy(context);
    return status;
}

const cli_command cli_command_new = {
    .name = "new",
    .summary = "Write a scene to start from.",
    .arguments = "[NAME]",
    .details = "Writes NAME.json (default: scene.json). Its comments explain what you can change.",
    .run = run,
};
