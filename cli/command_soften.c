// sinew soften: a skinned, animated character gets flesh that swings.
#include "command.h"
#include "progress.h"

#include "sinew/io/soften.h"

#include <stdio.h>
#include <string.h>

// NAME-soft.glb beside the current folder's other files, whatever folder the character is in.
static void name_output(const char *path, char *out, size_t size) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    int length = dot ? (int)(dot - name) : (int)strlen(name);
    snprintf(out, size, "%.*s-soft.glb", length, name);
}

static void print_report(const char *out, const sinew_soften_report *r) {
    printf("%s: %d vertices in %d meshes, %d joints (%d without vertices)\n", out, r->points,
           r->meshes, r->joints, r->bare_joints);
    printf("flesh: %d tets, %d nodes, %d of them held by bones\n", r->tets, r->nodes,
           r->held_nodes);
    printf("motion: %d keys in %.4g s; the flesh moves by up to %.3g m from the skin\n", r->images,
           r->seconds, r->largest_displacement);
    printf("volume within %.2g %%, inverted tets: %d\n", 100 * r->largest_volume_change,
           r->inverted);
    printf("written as %d morph targets, accurate to %.2g m\n", r->targets, r->error);
    if (r->other_skins > 0) {
        printf("%d other skins were left as they are\n", r->other_skins);
    }
}

static int soften(sinew_context *context, const cli_command *command, const char *in,
                  const char *out, const sinew_soften_def *def) {
    sinew_file *file = NULL;
    sinew_bytes *bytes = NULL;
    sinew_soften_report report;
    cli_activity activity;

    cli_activity_begin(&activity, "softening");

    // Read, soften, write.
    sinew_status status = sinew_file_open(context, in, 0, &file);
    if (status == SINEW_OK) {
        status = sinew_bytes_create(context, &bytes);
    }
    if (status == SINEW_OK) {
        status = sinew_soften(context, sinew_file_get_source(file), def, bytes, &report);
    }
    if (status == SINEW_OK) {
        status = sinew_bytes_save(bytes, out);
    }

    cli_activity_end(&activity);
    sinew_bytes_destroy(bytes);
    sinew_file_close(file);
    if (status != SINEW_OK) {
        return cli_fail_call(command, context);
    }

    print_report(out, &report);
    return CLI_OK;
}

static int run(const cli_command *command, int argc, char **argv) {
    sinew_soften_def def = sinew_default_soften_def();
    const char *path = NULL, *output = NULL, *unit = NULL;
    int64_t tets = def.tets, targets = def.targets, threads = 2;
    const cli_option table[] = {
        {"output", 'o', CLI_TEXT, &output, "FILE", "output file (default: NAME-soft.glb)", 0, 0},
        {"animation", 'a', CLI_TEXT, &def.animation, "NAME",
         "animation to follow (default: the first)", 0, 0},
        {"tets", 'n', CLI_INTEGER, &tets, "N", "approximate number of tetrahedra (default: 20000)",
         100, 1e7},
        {"young", 'y', CLI_NUMBER, &def.young, "PA", "stiffness of the flesh (default: 50000)",
         1e-6, 1e15},
        {"damping", 'd', CLI_NUMBER, &def.damping, "RATE",
         "rate at which swinging decays, per second (default: 3)", 0, 1e9},
        {"core", 'c', CLI_NUMBER, &def.core, "SHARE",
         "share of the thickness that follows the bones (default: 0.6)", 0, 1},
        {"preroll", 'p', CLI_NUMBER, &def.preroll, "SECONDS",
         "time before the animation, for loops to come round (default: 1)", 0, 60},
        {"loop", 'l', CLI_FLAG, &def.loop, NULL, "the animation is a loop", 0, 0},
        {"rate", 'r', CLI_NUMBER, &def.rate, "HZ", "keys per second (default: 30)", 1, 240},
        {"gravity", 'g', CLI_NUMBER, &def.gravity[1], "ACCELERATION",
         "along y, in m/s2 (default: -9.81)", -1e6, 1e6},
        {"limit", 0, CLI_NUMBER, &def.limit, "ACCELERATION",
         "accelerations are felt up to this, in m/s2 (default: 50)", 1e-3, 1e9},
        {"targets", 0, CLI_INTEGER, &targets, "N", "at most this many morph targets (default: 48)",
         1, 1000},
        {"tolerance", 0, CLI_NUMBER, &def.tolerance, "METRES",
         "accuracy of the result (default: a thousandth of the size)", 0, 1e9},
        {"unit", 'u', CLI_TEXT, &unit, "UNIT", "{units}, or metres (default: m)", 0, 0},
        {"threads", 't', CLI_INTEGER, &threads, "N", "threads (default: 2)", 1, 64},
    };
    int count;
    bool finished;
    int status = cli_parse(command, table, sizeof table / sizeof *table, argc, argv, &path, 1,
                           &count, &finished);

    if (finished) {
        return status;
    }
    if (count == 0) {
        return cli_fail(command, CLI_USAGE, "which character? usage: sinew soften CHARACTER.glb");
    }
    if (unit && !cli_read_unit(command, unit, &def.unit)) {
        return CLI_USAGE;
    }

    // The default name is beside the input.
    char name[4096];
    if (!output) {
        name_output(path, name, sizeof name);
        output = name;
    }
    def.tets = (int32_t)tets;
    def.targets = (int32_t)targets;

    sinew_context *context = cli_create_context(command, (int32_t)threads);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    status = soften(context, command, path, output, &def);
    sinew_context_destroy(context);

    return status;
}

const cli_command cli_command_soften = {
    .name = "soften",
    .summary = "Give a skinned, animated character soft flesh.",
    .arguments = "CHARACTER.glb",
    .details =
        "Fills all meshes of the first skin with flesh, moves it with the animation and writes "
        "the\n"
        "same file with the motion of the flesh as morph targets. Hierarchy, names, materials,\n"
        "textures, skin, props and the other animations stay as they are.",
    .run = run,
};
