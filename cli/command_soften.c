// sinew soften: a skinned, animated character gets flesh that swings.
#include "command.h"
#include "progress.h"

#include "sinew/io/soften.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// NAME-soft.glb beside the current folder's other files, whatever folder the character is in.
static void name_output(const char *path, char *out, size_t size) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    int length = dot ? (int)(dot - name) : (int)strlen(name);
    snprintf(out, size, "%.*s-soft.glb", length, name);
}

static void print_flesh(const sinew_soften_report *r, const sinew_soften_def *def) {
    printf("flesh: %d tets, %d nodes, %d of them held by bones\n", r->tets, r->nodes,
           r->held_nodes);
    printf("motion: %d keys in %.4g s; the flesh moves by up to %.3g m from the skin\n", r->images,
           r->seconds, r->largest_displacement);
    printf("volume within %.2g %%, inverted tets: %d\n", 100 * r->largest_volume_change,
           r->inverted);
    if (def->floor) {
        printf("floor: bones press the skin up to %.2g m below it\n", r->floor_depth);
    }
}

static void print_report(const char *out, const sinew_soften_report *r,
                         const sinew_soften_def *def) {
    printf("%s: %d vertices in %d meshes\n", out, r->points, r->meshes);
    printf("joints: %d with flesh, %d without%s%s\n", r->joints - r->bare_joints, r->bare_joints,
           r->bare_joints > 0 ? ": " : "", r->bare_names);
    if (def->motion) {
        printf("motion of %s: %d joints follow it, lengths times %.4g\n", def->motion->name,
               r->matched_joints, r->motion_scale);
    }
    print_flesh(r, def);

    if (def->output == SINEW_SOFTEN_JOINTS) {
        printf("written as %d joints, accurate to %.2g m\n", r->new_joints, r->error);
    } else {
        printf("written as %d morph targets, accurate to %.2g m\n", r->targets, r->error);
    }
    if (r->other_skins > 0) {
        printf("%d other skins were left as they are\n", r->other_skins);
    }
}

// Saves a point cache beside the output: OUT-MESH.pc2.
static sinew_status save_cache(void *user, const char *name, const sinew_bytes *cache) {
    const char *out = user, *dot = strrchr(out, '.');
    char path[4096];
    int stem = dot ? (int)(dot - out) : (int)strlen(out);
    int length = snprintf(path, sizeof path, "%.*s-%s.pc2", stem, out, name);

    // Names of meshes may hold anything.
    for (int i = stem + 1; i < length && i < (int)sizeof path; i++) {
        bool plain = path[i] != '/' && path[i] != '\\' && path[i] != ':';
        path[i] = plain ? path[i] : '_';
    }
    return sinew_bytes_save(cache, path);
}

static int soften(sinew_context *context, const cli_command *command, const char *in,
                  const char *motion, const char *texture, const char *out, sinew_soften_def *def) {
    sinew_file *file = NULL, *moves = NULL, *paint = NULL;
    sinew_bytes *bytes = NULL;
    sinew_soften_report report;
    cli_activity activity;

    cli_activity_begin(&activity, "softening");

    // Read, soften, write.
    sinew_status status = sinew_file_open(context, in, 0, &file);
    if (status == SINEW_OK && motion) {
        status = sinew_file_open(context, motion, 0, &moves);
        def->motion = status == SINEW_OK ? sinew_file_get_source(moves) : NULL;
    }
    if (status == SINEW_OK && texture) {
        status = sinew_file_open(context, texture, 0, &paint);
        def->texture = status == SINEW_OK ? sinew_file_get_source(paint) : NULL;
    }
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
    if (status == SINEW_OK) {
        print_report(out, &report, def);
    }
    sinew_bytes_destroy(bytes);
    sinew_file_close(paint);
    sinew_file_close(moves);
    sinew_file_close(file);

    return status == SINEW_OK ? CLI_OK : cli_fail_call(command, context);
}

enum { MOST_RULES = 2 * CLI_LIST_CAPACITY };

typedef struct soften_lists {
    cli_list joints, materials, names;
    char text[3 * CLI_LIST_CAPACITY][128]; // the items, cut at their =
    int32_t used;
    sinew_soften_rule rules[MOST_RULES];
    sinew_name_pair pairs[CLI_LIST_CAPACITY];
} soften_lists;

// The two sides of NAME=VALUE.
static bool split(const cli_command *command, soften_lists *lists, const char *item, char **name,
                  char **value) {
    *name = lists->text[lists->used++];
    int length = snprintf(*name, sizeof lists->text[0], "%s", item);
    *value = strrchr(*name, '=');
    if (!*value || length >= (int)sizeof lists->text[0]) {
        cli_fail(command, CLI_USAGE, "\"%s\" is not NAME=VALUE with at most %d letters", item,
                 (int)sizeof lists->text[0] - 1);
        return false;
    }
    *(*value)++ = 0;
    return true;
}

static bool read_rules(const cli_command *command, soften_lists *lists, const cli_list *list,
                       sinew_soften_subject subject, sinew_soften_def *def) {
    for (int32_t i = 0; i < list->count; i++) {
        char *name, *value, *end;
        if (!split(command, lists, list->items[i], &name, &value)) {
            return false;
        }
        double softness = strtod(value, &end);
        if (end == value || *end || !(softness >= 0 && softness <= 1000)) {
            cli_fail(command, CLI_USAGE,
                     "the softness of %s is a number from 0 to 1000, not \"%s\"", name, value);
            return false;
        }
        lists->rules[def->rule_count++] = (sinew_soften_rule){subject, name, softness};
    }
    return true;
}

static bool read_lists(const cli_command *command, soften_lists *lists, sinew_soften_def *def) {
    if (!read_rules(command, lists, &lists->joints, SINEW_SOFTEN_JOINT, def) ||
        !read_rules(command, lists, &lists->materials, SINEW_SOFTEN_MATERIAL, def)) {
        return false;
    }
    for (int32_t i = 0; i < lists->names.count; i++) {
        char *from, *to;
        if (!split(command, lists, lists->names.items[i], &from, &to)) {
            return false;
        }
        lists->pairs[def->pair_count++] = (sinew_name_pair){from, to};
    }
    def->rules = lists->rules;
    def->pairs = lists->pairs;
    return true;
}

static bool read_model(const cli_command *command, const char *name, sinew_soften_def *def) {
    static const char *const names[] = {[SINEW_SOFTEN_POSITIONS] = "positions",
                                        [SINEW_SOFTEN_TETS] = "tets",
                                        [SINEW_SOFTEN_FRAMES] = "frames"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, names[i]) == 0) {
            def->model = (sinew_soften_model)i;
            return true;
        }
    }
    cli_fail(command, CLI_USAGE, "--model is positions, tets or frames, not \"%s\"", name);
    return false;
}

static int run(const cli_command *command, int argc, char **argv) {
    sinew_soften_def def = sinew_default_soften_def();
    const char *path = NULL, *output = NULL, *unit = NULL, *motion = NULL, *as = "targets";
    const char *texture = NULL, *model = "positions";
    soften_lists lists = {0};
    double floor_height = NAN;
    bool cache = false;
    int64_t tets = def.tets, frames = def.frames, targets = def.targets, bones = def.joints,
            threads = 2;
    const cli_option table[] = {
        {"output", 'o', CLI_TEXT, &output, "FILE", "output file (default: NAME-soft.glb)", 0, 0},
        {"animation", 'a', CLI_TEXT, &def.animation, "NAME",
         "animation to follow (default: the first)", 0, 0},
        {"motion", 'm', CLI_TEXT, &motion, "FILE",
         "perform the motion of a .bvh or .glb file instead", 0, 0},
        {"name", 0, CLI_LIST, &lists.names, "A=B",
         "a joint of the motion and the one that follows it", 0, 0},
        {"scale", 0, CLI_NUMBER, &def.scale, "FACTOR",
         "on the lengths of the motion (default: as long as the character's)", 0, 1e9},
        {"tets", 'n', CLI_INTEGER, &tets, "N", "approximate number of tetrahedra (default: 20000)",
         100, 1e7},
        {"model", 0, CLI_TEXT, &model, "MODEL",
         "positions (position dynamics, default), tets or frames", 0, 0},
        {"frames", 0, CLI_INTEGER, &frames, "N", "free frames of that model (default: 40)", 1,
         1000},
        {"young", 'y', CLI_NUMBER, &def.young, "PA", "stiffness of the flesh (default: 50000)",
         1e-6, 1e15},
        {"joint", 'j', CLI_LIST, &lists.joints, "NAME=S",
         "softness of a joint, 0 to 1000; * is any text (default: 1)", 0, 0},
        {"material", 0, CLI_LIST, &lists.materials, "NAME=S", "softness of a material", 0, 0},
        {"attribute", 0, CLI_TEXT, &def.attribute, "NAME",
         "vertex attribute that scales the softness, such as COLOR_0", 0, 0},
        {"texture", 0, CLI_TEXT, &texture, "FILE",
         "PNG that scales the softness: black follows the bones", 0, 0},
        {"complementary", 0, CLI_FLAG, &def.complementary, NULL,
         "physics does not move what the joints control", 0, 0},
        {"floor", 'f', CLI_NUMBER, &floor_height, "METRES",
         "the flesh rests on a floor at y = METRES", -1e9, 1e9},
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
        {"as", 0, CLI_TEXT, &as, "FORM", "targets (morph targets, default) or joints", 0, 0},
        {"bones", 'b', CLI_INTEGER, &bones, "N", "at most this many joints (default: 32)", 1, 1000},
        {"pc2", 0, CLI_FLAG, &cache, NULL, "also write a point cache for each mesh", 0, 0},
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

    if (!read_lists(command, &lists, &def)) {
        return CLI_USAGE;
    }

    // The form of the result.
    if (strcmp(as, "targets") != 0 && strcmp(as, "joints") != 0) {
        return cli_fail(command, CLI_USAGE, "--as is targets or joints, not \"%s\"", as);
    }
    def.output = strcmp(as, "joints") == 0 ? SINEW_SOFTEN_JOINTS : SINEW_SOFTEN_TARGETS;
    def.joints = (int32_t)bones;
    def.frames = (int32_t)frames;
    if (!read_model(command, model, &def)) {
        return CLI_USAGE;
    }
    def.floor = !isnan(floor_height);
    def.floor_height = def.floor ? floor_height : 0;

    // The default name is beside the input.
    char name[4096];
    if (!output) {
        name_output(path, name, sizeof name);
        output = name;
    }
    def.tets = (int32_t)tets;
    def.targets = (int32_t)targets;
    if (cache) {
        def.cache = save_cache;
        def.cache_user = (void *)(uintptr_t)output;
    }

    sinew_context *context = cli_create_context(command, (int32_t)threads);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    status = soften(context, command, path, motion, texture, output, &def);
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
        "same file with the motion of the flesh as morph targets, or as joints that any engine\n"
        "plays (--as joints). Hierarchy, names, materials, textures, props and the other\n"
        "animations stay as they are.",
    .run = run,
};
