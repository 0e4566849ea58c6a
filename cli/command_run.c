// sinew run: simulates a scene and writes what it asks for.
#include "command.h"
#include "files.h"
#include "progress.h"
#include "run/run.h"
#include "scene_file.h"
#include "signals.h"

#include "sinew/io/output.h"
#include "sinew/io/words.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct run_options {
    const char *output, *format, *checkpoint, *resume;
    int64_t steps, threads;
    double duration;
    cli_list settings;
    cli_optional_text json;
    bool film, quiet;
} run_options;

// --format vtu,glb: the bits of the words, or -1 with a message.
static int32_t parse_formats(const cli_command *command, const char *text) {
    enum { MOST_WORDS = 32 };
    const char *words[MOST_WORDS];
    int32_t count = sinew_words_get_count(SINEW_WORDS_FORMATS);
    for (int32_t i = 0; i < count && i < MOST_WORDS; i++) {
        words[i] = sinew_words_get(SINEW_WORDS_FORMATS, i);
    }

    int32_t formats = 0;
    while (*text) {
        size_t length = strcspn(text, ",");
        int32_t found = -1;
        for (int32_t i = 0; i < count; i++) {
            if (strlen(words[i]) == length && strncmp(words[i], text, length) == 0) {
                found = i;
            }
        }

        if (found < 0) {
            char word[32], valid[128];
            snprintf(word, sizeof word, "%.*s", length < 31 ? (int)length : 31, text);
            cli_join_words(valid, sizeof valid, words, count);
            cli_fail(command, CLI_USAGE, "there is no format '%s'%s; valid are %s", word,
                     cli_did_you_mean(word, words, count), valid);
            return -1;
        }

        formats |= 1 << found;
        text += length + (text[length] == ',');
    }

    return formats;
}

static int apply_options(const cli_command *command, const run_options *options, sn_scene *scene) {
    if (options->steps >= 0 && options->duration >= 0) {
        return cli_fail(command, CLI_USAGE, "give --steps or --duration, not both");
    }
    if (options->steps >= 0) {
        scene->steps = (int32_t)options->steps;
    }
    if (options->duration >= 0) {
        scene->steps = (int32_t)fmin(ceil(options->duration / scene->world.step - 1e-9), 1e8);
    }

    if (options->format) {
        int32_t formats = parse_formats(command, options->format);
        if (formats < 0) {
            return CLI_USAGE;
        }
        scene->output.formats = formats;
    }

    return CLI_OK;
}

static sinew_status prepare(run_state *run) {
    run->arena = sn_arena_create(run->context);
    run->buffer = sn_buffer_create(run->context);
    run->probes = sn_buffer_create(run->context);
    run->frame_capacity = run->scene->steps / run->scene->output.every + 2;
    run->times = SN_PUSH(&run->arena, double, run->frame_capacity);
    run->frame_points = SN_PUSH(&run->arena, double **, run->frame_capacity);
    SN_TRY(sn_arena_status(&run->arena));

    for (int32_t i = 0; i < run->frame_capacity; i++) {
        run->frame_points[i] = SN_PUSH(&run->arena, double *, run->scene->body_count);
    }

    run->smallest_J = INFINITY;
    run->largest_J = -INFINITY;
    SN_TRY(sn_arena_status(&run->arena));
    SN_TRY(run_begin_skins(run));
    SN_TRY(run_write_fields(run));

    return run_begin_preview(run);
}

static void take_report(run_state *run, const sinew_step_report *report) {
    run->newton_iterations += report->newton_iterations;
    run->solver_iterations += report->solver_iterations;
    run->line_search_cuts += report->line_search_cuts;
    run->rescued_steps += report->rescued > 0;
    run->unconverged_steps +=
        report->outcome != SINEW_OUTCOME_CONVERGED || !report->solver_converged;
    run->simulate_seconds += report->total_seconds;
    run->assemble_seconds += report->assemble_seconds;
    run->solve_seconds += report->solve_seconds;
}

static void take_measures(run_state *run) {
    sinew_measures measures;
    sinew_world_get_measures(run->world->world, &measures);
    run->smallest_J = fmin(run->smallest_J, measures.smallest_J);
    run->largest_J = fmax(run->largest_J, measures.largest_J);
}

// Takes a step and writes what is due after it.
static sinew_status step_once(run_state *run, int32_t step, sinew_step_report *report) {
    SN_TRY(sn_scene_world_step(run->world, report));
    take_report(run, report);
    run->steps++;

    bool last = step == run->scene->steps || cli_stop_signal() || run->world->motion_ended;
    if (step % 16 == 0 || last) {
        take_measures(run);
    }

    return run_output(run, step, last);
}

// Steps until the end, a signal or a failure.
static sinew_status simulate(run_state *run) {
    cli_progress progress = cli_progress_begin(run->scene->steps, run->quiet);
    sinew_step_report report = {0};
    sinew_status status = SINEW_OK;
    int32_t first =
        (int32_t)lround(sinew_world_get_time(run->world->world) / run->scene->world.step);

    // The state at the start: as given, or in equilibrium.
    if (run->scene->statics && first == 0) {
        cli_activity activity;
        cli_activity_begin(&activity, "solving for equilibrium");
        status = sn_scene_world_solve_static(run->world, &report);
        cli_activity_end(&activity);
        take_report(run, &report);
        run->static_report = report;
        run->static_solved = status == SINEW_OK;
    }

    // Up to here a signal ends the program at once; from here on there are results to be finished.
    cli_signals_hold();
    if (status == SINEW_OK) {
        take_measures(run);
        status = run_output(run, first, first >= run->scene->steps);
    }
    if (status == SINEW_OK && run->static_report.outcome != SINEW_OUTCOME_CONVERGED) {
        status = sn_fail(run->context, SINEW_DIVERGED,
                         "the static solve did not converge (%s): the relative residual is %.3g "
                         "after %d iterations. More load_steps or iterations may help",
                         sinew_outcome_name(run->static_report.outcome),
                         run->static_report.newton_residual, run->static_report.newton_iterations);
    }

    for (int32_t step = first + 1; status == SINEW_OK && step <= run->scene->steps; step++) {
        status = step_once(run, step, &report);

        char note[64];
        snprintf(note, sizeof note, "%d solver iterations", report.solver_iterations);
        cli_progress_show(&progress, step - first, note);

        // A step that was cancelled has not changed the state, which becomes the last image.
        if (status == SINEW_CANCELLED && run->last_output < step - 1) {
            status = run_output(run, step - 1, true);
        }
        if (cli_stop_signal() || run->world->motion_ended) {
            break;
        }
    }

    cli_progress_end(&progress);
    return status;
}

// What must not be lost to a full disk has its room from the start.
static sinew_status reserve_files(run_state *run, const run_options *options) {
    enum { SUMMARY_SIZE = 1 << 16 };
    if (options->checkpoint) {
        size_t size = sinew_scene_get_checkpoint_size(run->file->scene);
        SN_TRY(cli_reserve_file(run->context, options->checkpoint, size));
    }
    if (options->json.text) {
        SN_TRY(cli_reserve_file(run->context, options->json.text, SUMMARY_SIZE));
    }
    return SINEW_OK;
}

static sinew_status save_state(run_state *run, const char *path) {
    sinew_bytes *out = NULL;
    SN_TRY(sinew_bytes_create(run->context, &out));
    sinew_status status = sinew_scene_write_checkpoint(run->file->scene, out);
    if (status == SINEW_OK) {
        status = cli_write_result(run->context, path, out);
    }
    sinew_bytes_destroy(out);
    return status;
}

static sinew_status load_state(run_state *run, const char *path) {
    sinew_bytes *bytes = NULL;
    SN_TRY(sinew_bytes_load(run->context, path, 0, &bytes));
    sinew_source source = {
        .name = path, .data = sinew_bytes_get_data(bytes), .size = sinew_bytes_get_size(bytes)};
    sinew_status status = sinew_scene_read_checkpoint(run->file->scene, &source);
    sinew_bytes_destroy(bytes);
    return status;
}

static sinew_status write_json(run_state *run, const cli_optional_text *json) {
    if (!json->given) {
        return SINEW_OK;
    }

    sn_buffer_clear(&run->buffer);
    run_write_summary(run, &run->buffer);
    SN_TRY(sn_buffer_status(&run->buffer));
    if (json->text) {
        return cli_write_file(run->context, json->text, run->buffer.data, run->buffer.size);
    }

    fwrite(run->buffer.data, 1, run->buffer.size, stdout);
    return SINEW_OK;
}

// How the bodies were bound to their skeletons.
static void print_rigging(const run_state *run) {
    for (int32_t i = 0; i < run->scene->body_count; i++) {
        const sinew_rig_report *report = sn_scene_member_rigging(&run->world->members[i]);
        if (!report) {
            continue;
        }

        printf("%s: %d elements follow bones, %d at joints do not; %d bones cut no element\n",
               run->scene->bodies[i].name, report->bound_elements, report->shared_elements,
               report->idle_bones);
    }
}

static void print_file(const char *file, const char *what) {
    printf("  %-20s  %s\n", file, what);
}

// A file that each body has one of: the first is named, the others are counted.
static void print_body_files(const run_state *run, const char *ending, const char *what) {
    char file[256];
    int others = run->scene->body_count - 1;
    if (others > 0) {
        snprintf(file, sizeof file, "%s%s and %d more", run->scene->bodies[0].name, ending, others);
    } else {
        snprintf(file, sizeof file, "%s%s", run->scene->bodies[0].name, ending);
    }

    print_file(file, what);
}

// What a skin loses, and what would lose less: more joints at a point, or a format that keeps every
// position.
static void describe_skin(const run_skin *skin, int32_t joints, char *what, size_t size) {
    double other = skin->errors[joints == 4 ? 1 : 0];
    int length = snprintf(what, size, "joints and weights: replays the surface within %.2g m",
                          skin->largest_error);

    if (fabs(other - skin->largest_error) > 0.1 * skin->largest_error) {
        length += snprintf(what + length, size - (size_t)length,
                           "; with %d joints at a point %.2g m", joints == 4 ? 8 : 4, other);
    }

    if (skin->fit_error > 0.1 * skin->largest_error) {
        snprintf(what + length, size - (size_t)length,
                 "; joints cannot shear or bend (%.2g m): glb and pc2 are exact", skin->fit_error);
    }
}

static void print_skins(const run_state *run) {
    for (int32_t i = 0; i < run->scene->body_count; i++) {
        if (!run->world->members[i].frames) {
            continue;
        }

        char file[256], what[256];
        snprintf(file, sizeof file, "%s_skin.glb", run->scene->bodies[i].name);
        describe_skin(&run->skins[i], run->scene->output.skin_joints, what, sizeof what);
        print_file(file, what);
    }
}

static void print_fields(const run_state *run) {
    char file[256];
    int32_t first = -1, count = 0;
    for (int32_t i = 0; i < run->scene->body_count; i++) {
        const sinew_field *field = run->world->members[i].field;
        if (!field || sinew_field_get_curve_count(field) == 0) {
            continue;
        }
        if (count++ == 0) {
            first = i;
        }
    }

    if (count == 0) {
        return;
    }

    int length = snprintf(file, sizeof file, "%.200s.field", run->scene->bodies[first].name);
    if (count > 1) {
        snprintf(file + length, sizeof file - (size_t)length, " and %d more", (int)count - 1);
    }

    print_file(file, "the axes of each element: a scene takes them as the \"file\" of a field");
}

static void print_closing(const run_state *run, const run_options *options) {
    if (options->quiet || (options->json.given && !options->json.text)) {
        return;
    }

    int32_t formats = run->scene->output.formats;
    printf("%s: %lld steps to %g s, %.2f s simulating, %.2f s writing", run->outcome,
           (long long)run->steps, sinew_world_get_time(run->world->world), run->simulate_seconds,
           run->output_seconds);

    if (run->unconverged_steps) {
        printf("; %lld steps did not converge fully", (long long)run->unconverged_steps);
    }

    if (run->rescued_steps) {
        printf("; %lld steps were rescued by smaller ones", (long long)run->rescued_steps);
    }

    printf("\n");
    print_rigging(run);
    cli_scene_print_loads(run->file->scene);
    cli_scene_print_supports(run->file->scene);
    cli_scene_print_fields(run->file->scene);
    printf("in %s:\n", run->folder);

    if (run->film) {
        print_file("film_*.png", "the motion, picture by picture");
    }

    if (run->pictureless) {
        printf("  no preview.png: this build has no libpng\n");
    } else if (formats & SN_OUTPUT_PNG) {
        print_file("preview.png", "the motion at a glance: open with any viewer");
    }

    if (formats & SN_OUTPUT_GLB) {
        print_body_files(run, ".glb", "the motion: open with Blender or any glTF viewer");
    }
    if (formats & SN_OUTPUT_VTU) {
        print_body_files(run, ".pvd", "strain, stress, energy: open with ParaView");
    }

    print_fields(run);
    if (formats & SN_OUTPUT_SKIN) {
        print_skins(run);
    }
    if (formats & SN_OUTPUT_PC2) {
        print_body_files(run, ".pc2, .obj", "a mesh and its cache: Blender's Mesh Cache");
    }
    if (formats & SN_OUTPUT_CSV && run->scene->probe_count) {
        print_file("probes.csv", "the probes over time");
    }
}

static const char *outcome_of(sinew_status status) {
    switch (status) {
    case SINEW_OK: return cli_stop_signal() ? "stopped" : "completed";
    case SINEW_CANCELLED: return "stopped";
    case SINEW_DIVERGED: return "diverged";
    default: return "failed";
    }
}

// The first failure of several, with its message.
typedef struct first_failure {
    sinew_status status;
    char message[1024];
} first_failure;

static void take_failure(const run_state *run, sinew_status status, first_failure *first) {
    if (status == SINEW_OK || first->status != SINEW_OK) {
        return;
    }
    first->status = status;
    snprintf(first->message, sizeof first->message, "%s", sinew_context_message(run->context));
}

// Writes everything that is due at the end: first the state, from which all else can be computed
// again. Each file is attempted, whatever became of those before it.
static void write_end(run_state *run, const run_options *options, sinew_status simulated,
                      first_failure *failure) {
    if (options->checkpoint) {
        take_failure(run, save_state(run, options->checkpoint), failure);
    }

    if (simulated == SINEW_DIVERGED) {
        char last[4200];
        snprintf(last, sizeof last, "%s/last.state", run->folder);
        take_failure(run, save_state(run, last), failure);
    }

    take_failure(run, run_finish(run), failure);
    if (failure->status != SINEW_OK && simulated == SINEW_OK) {
        run->outcome = "failed";
    }

    take_failure(run, write_json(run, &options->json), failure);
}

static int finish(const cli_command *command, run_state *run, const run_options *options,
                  sinew_status status) {
    first_failure simulated = {.status = SINEW_OK}, written = {.status = SINEW_OK};
    take_failure(run, status, &simulated);
    run->outcome = outcome_of(status);
    run->reason = status == SINEW_OK ? NULL : simulated.message;
    write_end(run, options, status, &written);

    if (written.status != SINEW_OK) {
        int trouble = written.status == SINEW_IO_FAILED ? CLI_IO_FAILED : CLI_BAD_INPUT;
        cli_fail(command, trouble, "%s", written.message);
        if (simulated.status == SINEW_OK || simulated.status == SINEW_CANCELLED) {
            return trouble;
        }
    }

    switch (simulated.status) {
    case SINEW_OK: break;
    case SINEW_CANCELLED:
        if (run->frame_count == 0) {
            return cli_fail(command, CLI_INTERRUPTED + cli_stop_signal(),
                            "%s; there is no result yet", simulated.message);
        }
        break;
    case SINEW_DIVERGED:
        return cli_fail(command, CLI_DIVERGED,
                        "%s. What was computed before is in %s, the state in last.state",
                        simulated.message, run->folder);
    case SINEW_IO_FAILED:
        return cli_fail(command, CLI_IO_FAILED, "%s. What was written before is valid",
                        simulated.message);
    default: return cli_fail(command, CLI_BAD_INPUT, "%s", simulated.message);
    }

    print_closing(run, options);
    return CLI_OK;
}

static int run_scene(const cli_command *command, sinew_context *context, const char *path,
                     const run_options *options) {
    cli_scene_file file;
    run_state run = {.context = context, .film = options->film, .quiet = options->quiet};
    int status = cli_scene_open(context, command, path, &options->settings, &file);
    if (status == CLI_OK) {
        status = apply_options(command, options, &file.scene->scene);
    }
    if (status == CLI_OK) {
        status = cli_scene_build(context, command, &file);
    }

    if (status == CLI_OK) {
        run.file = &file;
        run.scene = &file.scene->scene;
        run.world = file.scene->world;
        run.folder = options->output;

        sinew_status made = sinew_folder_create(context, run.folder);
        if (made == SINEW_OK) {
            made = prepare(&run);
        }
        if (made == SINEW_OK && options->resume) {
            made = load_state(&run, options->resume);
        }
        if (made == SINEW_OK) {
            made = reserve_files(&run, options);
        }
        if (made != SINEW_OK) {
            status = cli_fail_call(command, context);
        }
        if (made == SINEW_OK) {
            status = finish(command, &run, options, simulate(&run));
            cli_signals_release();
        }

        cli_release_reserved_files();
        sn_preview_destroy(run.preview);
        sn_buffer_destroy(&run.buffer);
        sn_buffer_destroy(&run.probes);
        sn_arena_destroy(&run.arena);
    }

    cli_scene_close(&file);

    return status;
}

static int run_command(const cli_command *command, int argc, char **argv) {
    run_options o = {.output = "out", .steps = -1, .duration = -1, .threads = 1};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    o.threads = cores > 8 ? 8 : cores > 0 ? cores : 1;
    const cli_option table[] = {
        {"output", 'o', CLI_TEXT, &o.output, "DIR", "output folder (default: out)", 0, 0},
        {"steps", 'n', CLI_INTEGER, &o.steps, "N", "number of steps (default: from the scene)", 0,
         1e8},
        {"duration", 'd', CLI_NUMBER, &o.duration, "S",
         "duration in seconds (default: from the scene)", 0, 1e9},
        {"threads", 't', CLI_INTEGER, &o.threads, "N",
         "threads (default: one per core); results do not depend on it", 1, 64},
        {"format", 'f', CLI_TEXT, &o.format, "LIST",
         "comma-separated: vtu, ply, obj, glb, pc2, csv, png, skin", 0, 0},
        {"set", 's', CLI_LIST, &o.settings, "PATH=VALUE",
         "change the scene, e.g. bodies[0].material.young=2e5", 0, 0},
        {"json", 0, CLI_OPTIONAL_TEXT, &o.json, "FILE",
         "write a summary as JSON (default: to standard output)", 0, 0},
        {"checkpoint", 0, CLI_TEXT, &o.checkpoint, "FILE",
         "save the state at the end as a checkpoint", 0, 0},
        {"resume", 0, CLI_TEXT, &o.resume, "FILE",
         "continue from a checkpoint; results are bitwise identical", 0, 0},
        {"film", 0, CLI_FLAG, &o.film, NULL, "also write one numbered image per output", 0, 0},
        CLI_ALLOW_OUTSIDE,
        {"quiet", 'q', CLI_FLAG, &o.quiet, NULL, "print errors only", 0, 0},
    };
    const char *path = "examples/default.json";
    int count;
    bool finished;
    int status = cli_parse(command, table, sizeof table / sizeof *table, argc, argv, &path, 1,
                           &count, &finished);

    if (finished) {
        return status;
    }

    if (o.quiet) {
        cli_activity_silence();
    }

    sinew_context *context = cli_create_context(command, (int32_t)o.threads);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    status = run_scene(command, context, path, &o);
    sinew_context_destroy(context);

    return status;
}

const cli_command cli_command_run = {
    .name = "run",
    .summary = "Simulate a scene.",
    .arguments = "[SCENE.json]",
    .details =
        "Runs examples/default.json if no scene is given. Ctrl-C stops cleanly. Exit status: 0 "
        "done,\n"
        "1 wrong usage, 2 an input file is wrong or missing, 3 the simulation diverged, 4 a file\n"
        "could not be read or written, e.g. because the disk is full. Files written before 3 or 4\n"
        "are valid.",
    .run = run_command,
};
