// sinew run: simulates a scene and writes what it asks for.
#include "command.h"
#include "files.h"
#include "progress.h"
#include "run/run.h"
#include "scene_file.h"
#include "signals.h"

#include "sinew/io/output.h"
#include "sinew/io/words.h"

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
    bool quiet;
    cli_optional_text film;
} run_options;

// --format vtu,glb: the bits of the words, or -1 with a message.
static int32_t parse_formats(const cli_command *command, const char *text) {
    enum { MOST_WORDS = 32 };
    const char *words[MOST_WORDS];
    int32_t count = sinew_words_get_count(SINEW_WORDS_FORMATS);
    for (int32_t i = 0; i < count && i < MOST_WORDS; i++) {
        words[i] = sinew_words_get(SINEW_WORDS_FORMATS, i);
    }

    // Word by word.
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

static int apply_options(const cli_command *command, const run_options *options,
                         sinew_recording_def *def, double step) {
    if (options->steps >= 0 && options->duration >= 0) {
        return cli_fail(command, CLI_USAGE, "give --steps or --duration, not both");
    }
    if (options->steps >= 0) {
        def->steps = (int32_t)options->steps;
    }
    if (options->duration >= 0) {
        def->steps = (int32_t)fmin(ceil(options->duration / step - 1e-9), 1e8);
    }

    if (options->format) {
        def->formats = parse_formats(command, options->format);
    }
    return def->formats < 0 ? CLI_USAGE : CLI_OK;
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

// --- Simulating

// Finds the equilibrium that the run begins with. One that is not found ends the run.
static sinew_status solve_static(run_state *run, first_failure *failure) {
    cli_activity activity;
    cli_activity_begin(&activity, "solving for equilibrium");
    sinew_step_report report;
    sinew_status status = sinew_scene_solve_static(run->scene, &report);
    cli_activity_end(&activity);
    if (status != SINEW_OK) {
        return status;
    }

    sinew_recording_note_static(run->recording, &report);
    if (report.outcome != SINEW_OUTCOME_CONVERGED) {
        failure->status = SINEW_DIVERGED;
        snprintf(failure->message, sizeof failure->message,
                 "the static solve did not converge (%s): the relative residual is %.3g after %d "
                 "iterations. More load_steps or iterations may help",
                 sinew_outcome_name(report.outcome), report.newton_residual,
                 report.newton_iterations);
        return SINEW_OK;
    }
    run->static_iterations = report.newton_iterations;
    run->static_residual = report.newton_residual;
    return SINEW_OK;
}

// Takes a step and records it.
static sinew_status step_once(run_state *run, int32_t step, sinew_step_report *report) {
    CLI_TRY(sinew_scene_step(run->scene, report));
    bool last = step == run->def.steps || cli_stop_signal() || sinew_scene_has_ended(run->scene);
    return sinew_recording_add(run->recording, report, last);
}

// A step that was cancelled has not changed the state, which becomes the last image.
static sinew_status record_cancelled(run_state *run, int32_t step) {
    sinew_recording_info info;
    sinew_recording_get_info(run->recording, &info);
    return info.last_image < step - 1 ? sinew_recording_add(run->recording, NULL, true)
                                      : SINEW_CANCELLED;
}

// Steps until the end, a signal or a failure.
static void simulate(run_state *run, bool is_static, first_failure *failure) {
    sinew_status status = SINEW_OK;
    double time = sinew_world_get_time(sinew_scene_get_world(run->scene));
    int32_t first = (int32_t)lround(time / run->step);
    cli_progress progress = cli_progress_begin(run->def.steps, run->quiet);

    // The state at the start: as given, or in equilibrium. Up to here a signal ends the program at
    // once; from here on there are results to be finished.
    if (is_static && first == 0) {
        status = solve_static(run, failure);
    }
    cli_signals_hold();
    if (status == SINEW_OK) {
        status = sinew_recording_add(run->recording, NULL, first >= run->def.steps);
    }

    bool go_on = status == SINEW_OK && failure->status == SINEW_OK;
    for (int32_t step = first + 1; go_on && step <= run->def.steps; step++) {
        sinew_step_report report = {0};
        status = step_once(run, step, &report);

        char note[64];
        snprintf(note, sizeof note, "%d solver iterations", report.solver_iterations);
        cli_progress_show(&progress, step - first, note);

        if (status == SINEW_CANCELLED) {
            status = record_cancelled(run, step);
        }
        go_on = status == SINEW_OK && !cli_stop_signal() && !sinew_scene_has_ended(run->scene);
    }

    cli_progress_end(&progress);
    take_failure(run, status, failure);
}

// --- Files

// Notes each file, so that a signal leaves none half written.
static sinew_status write_file(void *user, const char *name, const void *data, size_t size) {
    const run_state *run = user;
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", run->def.folder, name);
    return cli_write_part(run->context, path, data, size);
}

static sinew_status save_state(run_state *run, const char *path) {
    sinew_bytes *out = NULL;
    CLI_TRY(sinew_bytes_create(run->context, &out));
    sinew_status status = sinew_scene_write_checkpoint(run->scene, out);
    if (status == SINEW_OK) {
        status = cli_write_result(run->context, path, out);
    }
    sinew_bytes_destroy(out);
    return status;
}

static sinew_status load_state(run_state *run, const char *path) {
    sinew_bytes *bytes = NULL;
    CLI_TRY(sinew_bytes_load(run->context, path, 0, &bytes));
    sinew_source source = {
        .name = path, .data = sinew_bytes_get_data(bytes), .size = sinew_bytes_get_size(bytes)};
    sinew_status status = sinew_scene_read_checkpoint(run->scene, &source);
    sinew_bytes_destroy(bytes);
    return status;
}

// Reserves room for what must not be lost to a full disk.
static sinew_status reserve_files(run_state *run, const run_options *options) {
    enum { SUMMARY_SIZE = 1 << 16 };
    if (options->checkpoint) {
        size_t size = sinew_scene_get_checkpoint_size(run->scene);
        CLI_TRY(cli_reserve_file(run->context, options->checkpoint, size));
    }
    if (options->json.text) {
        CLI_TRY(cli_reserve_file(run->context, options->json.text, SUMMARY_SIZE));
    }
    return SINEW_OK;
}

static sinew_status write_summary(run_state *run, const cli_optional_text *json,
                                  const char *outcome, const char *reason) {
    if (!json->given) {
        return SINEW_OK;
    }

    sinew_bytes *out = NULL;
    CLI_TRY(sinew_bytes_create(run->context, &out));
    sinew_status status = sinew_recording_write_summary(run->recording, outcome, reason, out);
    if (status == SINEW_OK) {
        status = cli_write_result(run->context, json->text, out);
    }
    sinew_bytes_destroy(out);
    return status;
}

// --- Ending

static const char *outcome_of(sinew_status status) {
    switch (status) {
    case SINEW_OK: return cli_stop_signal() ? "stopped" : "completed";
    case SINEW_CANCELLED: return "stopped";
    case SINEW_DIVERGED: return "diverged";
    default: return "failed";
    }
}

// Writes everything that is due at the end: first the state, from which all else can be computed
// again. Each file is attempted, whatever became of those before it. Returns the outcome.
static const char *write_end(run_state *run, const run_options *options,
                             const first_failure *simulated, first_failure *failure) {
    const char *outcome = outcome_of(simulated->status);
    if (options->checkpoint) {
        take_failure(run, save_state(run, options->checkpoint), failure);
    }
    if (simulated->status == SINEW_DIVERGED) {
        char last[4200];
        snprintf(last, sizeof last, "%s/last.state", run->def.folder);
        take_failure(run, save_state(run, last), failure);
    }

    take_failure(run, sinew_recording_finish(run->recording), failure);
    take_failure(run, sinew_folder_flush(run->context, run->def.folder), failure);
    if (failure->status != SINEW_OK && simulated->status == SINEW_OK) {
        outcome = "failed";
    }

    const char *reason = simulated->status == SINEW_OK ? NULL : simulated->message;
    take_failure(run, write_summary(run, &options->json, outcome, reason), failure);
    return outcome;
}

// Joins the pictures into one file; false, with a message, if that fails.
static bool join_film(const cli_command *command, run_state *run, const char *path, bool silent) {
    switch (run_make_film(run, path)) {
    case RUN_FILM_WRITTEN:
        run->def.film = false; // the numbered pictures are gone
        if (!silent) {
            printf("film: %s\n", path);
        }
        return true;
    case RUN_FILM_NO_FFMPEG:
        fprintf(stderr, "sinew run: ffmpeg is not installed; the film's images are %s/film_*.png\n",
                run->def.folder);
        return true;
    case RUN_FILM_FAILED: break;
    }
    cli_fail(command, CLI_IO_FAILED, "the film %s cannot be written", path);
    return false;
}

static int finish(const cli_command *command, run_state *run, const run_options *options,
                  const first_failure *simulated) {
    first_failure written = {.status = SINEW_OK};
    const char *outcome = write_end(run, options, simulated, &written);

    // A failed simulation is the more important message, so it decides on the exit status.
    if (written.status != SINEW_OK) {
        int trouble = written.status == SINEW_IO_FAILED ? CLI_IO_FAILED : CLI_BAD_INPUT;
        cli_fail(command, trouble, "%s", written.message);
        if (simulated->status == SINEW_OK || simulated->status == SINEW_CANCELLED) {
            return trouble;
        }
    }

    sinew_recording_info info;
    sinew_recording_get_info(run->recording, &info);

    // How the simulation ended.
    switch (simulated->status) {
    case SINEW_OK: break;
    case SINEW_CANCELLED:
        if (info.image_count == 0) {
            return cli_fail(command, CLI_INTERRUPTED + cli_stop_signal(),
                            "%s; there is no result yet", simulated->message);
        }
        break;
    case SINEW_DIVERGED:
        return cli_fail(command, CLI_DIVERGED,
                        "%s. What was computed before is in %s, the state in last.state",
                        simulated->message, run->def.folder);
    case SINEW_IO_FAILED:
        return cli_fail(command, CLI_IO_FAILED, "%s. What was written before is valid",
                        simulated->message);
    default: return cli_fail(command, CLI_BAD_INPUT, "%s", simulated->message);
    }

    bool silent = options->quiet || (options->json.given && !options->json.text);
    if (options->film.text && !join_film(command, run, options->film.text, silent)) {
        return CLI_IO_FAILED;
    }
    if (!silent) {
        run_print_closing(run, outcome);
    }
    return CLI_OK;
}

static sinew_status prepare(run_state *run, const run_options *options) {
    run->def.folder = options->output;
    run->def.film = options->film.given;
    run->def.write = write_file;
    run->def.write_user = run;

    CLI_TRY(sinew_folder_create(run->context, run->def.folder));
    CLI_TRY(sinew_recording_create(run->scene, &run->def, &run->recording));
    if (options->resume) {
        CLI_TRY(load_state(run, options->resume));
    }
    return reserve_files(run, options);
}

static int run_built(const cli_command *command, run_state *run, const run_options *options,
                     bool is_static) {
    int status = CLI_OK;
    if (prepare(run, options) != SINEW_OK) {
        status = cli_fail_call(command, run->context);
    } else {
        first_failure failure = {.status = SINEW_OK};
        simulate(run, is_static, &failure);
        status = finish(command, run, options, &failure);
        cli_signals_release();
    }

    cli_release_reserved_files();
    sinew_recording_destroy(run->recording);
    return status;
}

static int run_scene(const cli_command *command, sinew_context *context, const char *path,
                     const run_options *options) {
    cli_scene_file file;
    run_state run = {.context = context, .quiet = options->quiet};
    sinew_scene_info info = {0};
    int status = cli_scene_open(context, command, path, &options->settings, &file);
    if (status == CLI_OK) {
        sinew_scene_get_info(file.scene, &info);
        run.scene = file.scene;
        run.step = info.step;
        run.def = sinew_default_recording_def(file.scene);
        status = apply_options(command, options, &run.def, info.step);
    }

    if (status == CLI_OK) {
        status = cli_scene_build(context, command, &file);
    }
    if (status == CLI_OK) {
        status = run_built(command, &run, options, info.is_static);
    }

    cli_scene_close(&file);
    return status;
}

static int run_command(const cli_command *command, int argc, char **argv) {
    // More than eight threads rarely pay for one scene.
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    run_options o = {.output = "out",
                     .steps = -1,
                     .duration = -1,
                     .threads = cores > 8   ? 8
                                : cores > 0 ? cores
                                            : 1};
    const cli_option table[] = {
        {"output", 'o', CLI_TEXT, &o.output, "DIR", "output folder (default: out)", 0, 0},
        {"steps", 'n', CLI_INTEGER, &o.steps, "N", "number of steps (default: from the scene)", 0,
         1e8},
        {"duration", 'd', CLI_NUMBER, &o.duration, "S",
         "duration in seconds (default: from the scene)", 0, 1e9},
        {"threads", 't', CLI_INTEGER, &o.threads, "N",
         "threads (default: one per core); results do not depend on it", 1, 64},
        {"format", 'f', CLI_TEXT, &o.format, "LIST", "comma-separated: {formats}", 0, 0},
        {"set", 's', CLI_LIST, &o.settings, "PATH=VALUE",
         "change the scene, e.g. bodies[0].material.young=2e5", 0, 0},
        {"json", 0, CLI_OPTIONAL_TEXT, &o.json, "FILE",
         "write a summary as JSON (default: to standard output)", 0, 0},
        {"checkpoint", 0, CLI_TEXT, &o.checkpoint, "FILE",
         "save the state at the end as a checkpoint", 0, 0},
        {"resume", 0, CLI_TEXT, &o.resume, "FILE",
         "continue from a checkpoint; results are bitwise identical", 0, 0},
        {"film", 0, CLI_OPTIONAL_TEXT, &o.film, "FILE",
         "also write a film: .png, or .mp4 or .gif by ffmpeg; none: numbered images", 0, 0},
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
    if (o.film.text && !run_is_film(o.film.text)) {
        return cli_fail(command, CLI_USAGE,
                        "--film %s: a film ends in .png, .mp4 or .gif; put --film after the scene "
                        "for numbered images",
                        o.film.text);
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
