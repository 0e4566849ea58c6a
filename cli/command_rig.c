// sinew rig: from a surface or a label volume to a model of a few frames, with everything to run
// it.
#include "clock.h"
#include "command.h"
#include "mesh_file.h"
#include "files.h"
#include "progress.h"
#include "rig/rig.h"
#include "scene_file.h"

#include "sinew/io/mesh_file.h"
#include "sinew/io/output.h"
#include "sinew/io/volume_file.h"
#include "sinew/io/words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WARM_UP = 3, TIMED_STEPS = 12 };

typedef struct rig_options {
    const char *output, *tissues, *kind, *weights, *blend, *metric, *up, *unit, *specks;
    int64_t nodes, samples, resolution, levels, threads, voxels, memory;
    double spacing, fit, threshold, error;
    const char *stiffness, *density;
    cli_list at;
    cli_optional_text json;
} rig_options;

int rig_fail(const rig_run *rig) {
    return cli_fail_call(rig->command, rig->context);
}

// The file's name without its folder and endings.
static void name_of(const char *path, char name[RIG_NAME]) {
    const char *slash = strrchr(path, '/');
    const char *colon = strrchr(path, ':');
    const char *begin = slash ? slash + 1 : colon ? colon + 1 : path;
    size_t length = strcspn(begin, ".");
    snprintf(name, RIG_NAME, "%.*s", (int)(length > 0 && length < RIG_NAME ? length : RIG_NAME - 1),
             begin);

    // What a file may be called but a body may not.
    for (char *c = name; *c; c++) {
        bool plain = (*c & 0x80) || isalnum((unsigned char)*c) || strchr(" _-.", *c);
        if (!plain || (c == name && (*c == '.' || *c == ' '))) {
            *c = '_';
        }
    }
}

static bool take_words(const cli_command *command, const rig_options *o, sinew_autorig_def *def) {
    int32_t kind, blend, metric, weights;
    // Points do not rotate, so a rig of them would not hold together.
    if (!cli_pick_word(command, "kind", o->kind ? o->kind : "rigid", SINEW_WORDS_NODE_KINDS,
                       SINEW_NODE_RIGID, SINEW_NODE_COMPLIANT, &kind) ||
        !cli_pick_word(command, "weights", o->weights ? o->weights : "voronoi", SINEW_WORDS_WEIGHTS,
                       0, SINEW_WEIGHTS_SPECTRAL, &weights) ||
        !cli_pick_word(command, "blend", o->blend, SINEW_WORDS_BLENDS, 0,
                       SINEW_BLEND_DUAL_QUATERNION, &blend) ||
        !cli_pick_word(command, "metric", o->metric, SINEW_WORDS_METRICS, 0,
                       SINEW_METRIC_COMPLIANCE, &metric)) {
        return false;
    }

    def->kind = o->kind ? (sinew_node_kind)kind : SINEW_NODE_AUTO;
    def->blend = (sinew_blend)blend;
    def->weights.metric = def->placement.metric = (sinew_metric)metric;
    def->weights.kind = o->weights ? (sinew_weights)weights : SINEW_WEIGHTS_AUTO;
    if (!o->weights && (o->levels > 0 || o->fit > 0)) {
        def->weights.kind =
            SINEW_WEIGHTS_VORONOI; // these options are about its kernels and regions
    }

    return true;
}

// Places the user chose; they stay where they are.
static bool take_places(const cli_command *command, const cli_list *at, rig_run *rig) {
    if (rig->def.placement.count > 0 && at->count > rig->def.placement.count) {
        cli_fail(command, CLI_USAGE, "--at gives %d positions, but --nodes only %d frames in total",
                 at->count, rig->def.placement.count);
        return false;
    }

    for (int i = 0; i < at->count; i++) {
        double *p = rig->places + 3 * (size_t)i;
        char rest;
        if (sscanf(at->items[i], "%lf,%lf,%lf%c", p, p + 1, p + 2, &rest) != 3) {
            cli_fail(command, CLI_USAGE, "--at takes three numbers such as 0.1,0,0.05, not '%s'",
                     at->items[i]);
            return false;
        }
    }

    rig->def.placement.fixed = rig->places;
    rig->def.placement.fixed_count = at->count;

    return true;
}

static int read_tissues(rig_run *rig, const char *path) {
    enum { LARGEST_TABLE = 16 << 20 };
    sinew_file *file = NULL;
    if (sinew_file_open(rig->context, path, LARGEST_TABLE, &file) != SINEW_OK) {
        return rig_fail(rig);
    }

    // The table replaces that of a specimen.
    sinew_tissue_table_destroy(rig->tissues);
    rig->tissues = NULL;
    sinew_scene_mistakes mistakes;
    cli_begin_mistakes(rig->context, &mistakes);
    sinew_status status = sinew_tissue_table_read(rig->context, sinew_file_get_source(file),
                                                  rig->voxels, &mistakes, &rig->tissues);
    int result = cli_end_mistakes(rig->context, rig->command, file, path, status, &mistakes);
    sinew_file_close(file);
    return result;
}

// Chooses the smallest number of frames whose expected error is at most `error`, or the best one.
static sinew_status choose_frames(rig_run *rig, double error) {
    static const int32_t few[RIG_ESTIMATES] = {2, 3, 4, 5, 6, 8};
    static const int32_t many[RIG_ESTIMATES] = {4, 6, 10, 14, 20, 28};
    rig_estimate *estimate = &rig->estimate;
    CLI_TRY(sinew_autorig_resolve(rig->context, &rig->def));
    bool spectral = rig->def.weights.kind == SINEW_WEIGHTS_SPECTRAL;
    estimate->count = RIG_ESTIMATES;
    memcpy(estimate->frames, spectral ? few : many, sizeof estimate->frames);
    CLI_TRY(sinew_autorig_estimate_error(rig->context, &rig->def, estimate->frames, estimate->count,
                                         estimate->error));

    int32_t best = 0;
    for (int32_t i = 0; i < estimate->count && !(estimate->error[best] <= error); i++) {
        best = estimate->error[i] <= estimate->error[best] ? i : best;
    }

    estimate->chosen = best;
    rig->def.placement.count = estimate->frames[best];
    if (estimate->error[best] > error) {
        fprintf(stderr,
                "sinew rig: --error %g is out of reach: %d frames are expected to be off by %.2g\n",
                error, estimate->frames[best], estimate->error[best]);
    }
    return SINEW_OK;
}

static sinew_status make_model(rig_run *rig, double error) {
    sinew_world_def world = sinew_default_world_def();
    CLI_TRY(sinew_world_create(rig->context, &world, &rig->world));
    rig->def.name = rig->name;
    rig->def.voxels = rig->voxels;
    rig->def.surface = rig->surface;
    if (rig->tissues) {
        rig->def.tissues = sinew_tissue_table_get(rig->tissues, &rig->def.tissue_count);
    }
    if (error > 0) {
        CLI_TRY(choose_frames(rig, error));
    }

    return sinew_autorig_create(rig->world, &rig->def, &rig->report, &rig->body);
}

// The fastest of a few steps at the advised length; the body leaves its rest by them.
static sinew_status time_steps(rig_run *rig) {
    sinew_world_def world = sinew_world_get_def(rig->world);
    world.step = rig->report.advised_step;
    CLI_TRY(sinew_world_set_def(rig->world, &world));
    rig->step_seconds = 1e9;

    for (int i = -WARM_UP; i < TIMED_STEPS; i++) {
        double start = cli_seconds();
        CLI_TRY(sinew_world_step(rig->world, NULL));
        double seconds = cli_seconds() - start;
        if (i >= 0 && seconds < rig->step_seconds) {
            rig->step_seconds = seconds;
        }
    }

    return SINEW_OK;
}

// Writes a file of the folder, unless making its content failed, and empties `out`.
static sinew_status write_file(const rig_run *rig, sinew_status made, const char *name,
                               sinew_bytes *out) {
    CLI_TRY(made);
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", rig->folder, name);
    CLI_TRY(cli_write_result(rig->context, path, out));
    sinew_bytes_clear(out);
    return SINEW_OK;
}

// A build without libpng draws no picture; the rig is complete without it.
static sinew_status write_picture(const rig_run *rig, const sinew_rig_file_def *def,
                                  sinew_bytes *out) {
    sinew_picture *picture = NULL;
    sinew_status status = sinew_rig_render(rig->context, def, &picture);
    if (status == SINEW_OK) {
        status = sinew_picture_write(picture, out);
    }
    sinew_picture_destroy(picture);

    if (status == SINEW_UNSUPPORTED) {
        fprintf(stderr, "sinew rig: no picture: %s\n", sinew_context_message(rig->context));
        return SINEW_OK;
    }
    return write_file(rig, status, "rig.png", out);
}

static sinew_status write_all(rig_run *rig, sinew_bytes *out) {
    sinew_context *context = rig->context;
    sinew_rig_file_def def = sinew_default_rig_file_def();
    def.name = rig->name;
    def.body = rig->body;
    def.autorig = &rig->def;
    def.report = &rig->report;
    def.tissues = rig->tissues;
    def.specimen = rig->specimen;
    def.specimen_voxels = rig->specimen_voxels;
    def.stiffness = rig->stiffness_values ? "stiffness.nrrd" : NULL;
    def.density = rig->density_values ? "density.nrrd" : NULL;

    // The scene first: it is what the other files belong to.
    CLI_TRY(sinew_folder_create(context, rig->folder));
    CLI_TRY(write_file(rig, sinew_rig_write_scene(context, &def, out), "scene.json", out));
    CLI_TRY(write_file(rig, sinew_voxels_write(context, rig->voxels, "labels.nrrd", out),
                       "labels.nrrd", out));
    if (rig->surface) {
        CLI_TRY(write_file(rig, sinew_mesh_write(context, rig->surface, "surface.ply", NULL, out),
                           "surface.ply", out));
    }
    if (rig->stiffness_values) {
        CLI_TRY(write_file(
            rig, sinew_voxels_write_values(context, rig->voxels, rig->stiffness_values, out),
            "stiffness.nrrd", out));
    }
    if (rig->density_values) {
        CLI_TRY(write_file(
            rig, sinew_voxels_write_values(context, rig->voxels, rig->density_values, out),
            "density.nrrd", out));
    }
    CLI_TRY(write_picture(rig, &def, out));
    CLI_TRY(write_file(rig, sinew_rig_write_skin(context, &def, out, &rig->skin_loss), "skin.glb",
                       out));

    // Timing moves the body, so it comes after everything that shows it at rest.
    CLI_TRY(time_steps(rig));
    return write_file(rig, rig_write_report(rig, out), "report.json", out);
}

static sinew_status report(const rig_run *rig, const cli_optional_text *json, sinew_bytes *out) {
    if (!json->given || json->text) {
        rig_print_report(rig);
    }
    if (!json->given) {
        return SINEW_OK;
    }
    CLI_TRY(rig_write_report(rig, out));
    return cli_write_result(rig->context, json->text, out);
}

static int make(rig_run *rig, const char *const *paths, int count, const rig_options *o) {
    char name[RIG_NAME];
    double unit = 0;
    if (o->unit && !cli_read_unit(rig->command, o->unit, &unit)) {
        return CLI_USAGE;
    }

    char up;
    if (cli_read_up(rig->command, o->up, &up) != CLI_OK) {
        return CLI_USAGE;
    }
    if (strcmp(o->specks, "drop") != 0 && strcmp(o->specks, "join") != 0 &&
        strcmp(o->specks, "keep") != 0) {
        return cli_fail(rig->command, CLI_USAGE, "--specks is '%s'; valid: drop, join, keep",
                        o->specks);
    }

    // Read the input and its tissues.
    name_of(paths[0], name);
    rig->name = name;
    rig->folder = o->output;

    rig_reading reading = {.resolution = (int32_t)o->resolution,
                           .spacing = o->spacing,
                           .memory_limit = (size_t)o->memory * 1000000,
                           .unit = unit,
                           .up = up,
                           .use_threshold = !isnan(o->threshold),
                           .threshold = o->threshold,
                           .specks = o->specks,
                           .specimen_voxels = (int32_t)o->voxels};
    cli_activity activity;

    cli_activity_begin(&activity, "reading");
    int status = rig_read_inputs(rig, paths, count, &reading);
    if (status == CLI_OK && o->tissues) {
        status = read_tissues(rig, o->tissues);
    }
    if (status == CLI_OK) {
        status = rig_read_maps(rig, o->stiffness, o->density, unit);
    }

    cli_activity_end(&activity);
    if (status != CLI_OK) {
        return status;
    }

    // Make the model.
    cli_activity_begin(&activity, "placing nodes, computing weights and samples");

    sinew_status made = make_model(rig, o->error);
    cli_activity_end(&activity);
    if (made != SINEW_OK) {
        return rig_fail(rig);
    }

    // Write everything, then the report.
    sinew_bytes *out = NULL;
    cli_activity_begin(&activity, "writing");
    made = sinew_bytes_create(rig->context, &out);
    if (made == SINEW_OK) {
        made = write_all(rig, out);
    }
    cli_activity_end(&activity);
    if (made == SINEW_OK) {
        made = report(rig, &o->json, out);
    }
    sinew_bytes_destroy(out);

    return made == SINEW_OK ? CLI_OK : rig_fail(rig);
}

static int run(const cli_command *command, int argc, char **argv) {
    rig_options o = {.output = "rig",
                     .blend = "linear",
                     .metric = "compliance",
                     .specks = "drop",
                     .threshold = NAN,
                     .threads = 2,
                     .memory = 4096};
    const cli_option table[] = {
        {"nodes", 'n', CLI_INTEGER, &o.nodes, "N",
         "total number of frames, including rigid parts (default: 6 with spectral weights, else "
         "10)",
         1, 65535},
        {"error", 0, CLI_NUMBER, &o.error, "SHARE",
         "choose the number of frames for this error of the natural frequencies, such as 0.05",
         1e-6, 1},
        {"at", 0, CLI_LIST, &o.at, "X,Y,Z",
         "place a frame at this position, in metres (repeatable)", 0, 0},
        {"output", 'o', CLI_TEXT, &o.output, "DIR", "output folder (default: rig)", 0, 0},
        {"tissues", 0, CLI_TEXT, &o.tissues, "FILE",
         "table of tissues (default: one soft material)", 0, 0},
        {"resolution", 'r', CLI_INTEGER, &o.resolution, "N",
         "surfaces: voxels along the longest side (default: 64)", 1, 4096},
        {"spacing", 0, CLI_NUMBER, &o.spacing, "METRES",
         "surfaces: edge of a voxel, instead of --resolution", 1e-9, 1e6},
        {"unit", 'u', CLI_TEXT, &o.unit, "UNIT",
         "{units} or metres (default: by the header; surfaces: m)", 0, 0},
        CLI_UP(o.up),
        {"threshold", 0, CLI_NUMBER, &o.threshold, "VALUE",
         "volumes: an image, solid where it is at least VALUE", -1e300, 1e300},
        {"stiffness", 0, CLI_TEXT, &o.stiffness, "FILE",
         "volume of Young's moduli in Pa, in place of those of the tissues", 0, 0},
        {"density", 0, CLI_TEXT, &o.density, "FILE", "volume of densities in kg/m3, likewise", 0,
         0},
        {"samples", 0, CLI_INTEGER, &o.samples, "N",
         "number of samples (default: as many as --fit needs)", 1, 1e7},
        {"fit", 0, CLI_NUMBER, &o.fit, "ERROR",
         "largest deviation of the weights from linear (default: 0.08)", 1e-6, 1},
        {"levels", 0, CLI_INTEGER, &o.levels, "N", "levels of the Voronoi kernels (default: 2)", 1,
         16},
        {"kind", 'k', CLI_TEXT, &o.kind, "KIND",
         "one of {node-kinds:rigid..compliant} (default: with spectral weights quadratic, or "
         "compliant for several tissues; else affine)",
         0, 0},
        {"weights", 0, CLI_TEXT, &o.weights, "KIND",
         "one of {weights:voronoi..spectral} (default: spectral, with which a few frames deform as "
         "the solid does; voronoi with separate parts, --at, --levels, --fit, frames that "
         "do not bend or more than eight)",
         0, 0},
        {"blend", 0, CLI_TEXT, &o.blend, "BLEND", "one of {blends} (default: linear)", 0, 0},
        {"metric", 0, CLI_TEXT, &o.metric, "METRIC", "one of {metrics} (default: compliance)", 0,
         0},
        {"specks", 0, CLI_TEXT, &o.specks, "HOW",
         "parts below 0.1 % of the voxels: drop (default), join to the rest, keep", 0, 0},
        {"voxels", 0, CLI_INTEGER, &o.voxels, "N",
         "specimens: approximate number of voxels (default: as in the papers)", 1, 1e8},
        {"memory", 0, CLI_INTEGER, &o.memory, "MB", "largest size of the grid (default: 4096)", 1,
         1 << 20},
        {"threads", 't', CLI_INTEGER, &o.threads, "N", "threads (default: 2)", 1, 64},
        CLI_ALLOW_OUTSIDE,
        {"json", 0, CLI_OPTIONAL_TEXT, &o.json, "FILE",
         "write the report as JSON (default: to standard output)", 0, 0},
    };
    const char *paths[RIG_INPUTS];
    int count;
    bool finished;
    int status = cli_parse(command, table, sizeof table / sizeof *table, argc, argv, paths,
                           RIG_INPUTS, &count, &finished);

    if (finished) {
        return status;
    }
    if (count == 0) {
        return cli_fail(command, CLI_USAGE, "an input is needed; usage: sinew rig INPUT...");
    }

    sinew_context *context = cli_create_context(command, (int32_t)o.threads);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    // From options to the definition.
    rig_run rig = {.context = context, .command = command, .def = sinew_default_autorig_def()};
    rig.def.placement.count = (int32_t)o.nodes;
    rig.def.sampling.count = (int32_t)o.samples;

    if (o.fit > 0) {
        rig.def.sampling.fit_error = o.fit;
    }

    if (o.levels > 0) {
        rig.def.weights.levels = (int32_t)o.levels;
    }

    // Refuse options that contradict each other.
    bool clear = o.samples == 0 || o.fit == 0;
    if (!clear) {
        cli_fail(command, CLI_USAGE, "--samples and --fit exclude each other");
    }

    if (clear && o.error > 0 && (o.nodes > 0 || o.at.count > 0)) {
        cli_fail(command, CLI_USAGE, "--error chooses the frames: leave --nodes and --at out");
        clear = false;
    }

    clear = clear && take_words(command, &o, &rig.def) && take_places(command, &o.at, &rig);
    status = clear ? make(&rig, paths, count, &o) : CLI_USAGE;

    // The body uses voxels and surface, so they go after the world.
    sinew_world_destroy(rig.world);
    sinew_voxels_destroy(rig.voxels);
    sinew_mesh_destroy(rig.surface);
    sinew_tissue_table_destroy(rig.tissues);
    rig_free_maps(&rig);
    sinew_context_destroy(context);

    return status;
}

const cli_command cli_command_rig = {
    .name = "rig",
    .summary = "Make a model with a few frames from surfaces or a label volume.",
    .arguments = "INPUT...",
    .details =
        "INPUT is one or more surfaces (.obj .ply .stl .glb, or the boundary of a .msh .mesh .vtu "
        ".node),\n"
        "which need not be clean or closed, a label volume (.nii .nrrd .mha), or specimen:NAME\n"
        "({specimens}). Surfaces get the\n"
        "labels 1, 2, ...; where they overlap, the later one wins. --tissues names a JSON file:\n"
        "  {\"1\": {\"name\": \"muscle\", \"material\": {\"young\": 6e4, \"poisson\": 0.45}},\n"
        "   \"2\": {\"name\": \"bone\", \"material\": {\"preset\": \"bone\"}, \"rigid\": true}}\n"
        "Writes scene.json for `sinew run`, with z up, labels.nrrd, rig.png (tissues, weights, "
        "regions),\n"
        "skin.glb (joints and skin weights for animation) and report.json.",
    .run = run,
};
