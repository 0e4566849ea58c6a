// Reads and builds scenes for all commands, prints their mistakes, and describes their loads and
// fields.
#include "scene_file.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double CERTAIN = 0.5; // a field below it is uncertain somewhere worth looking at
static const size_t LARGEST_SCENE = (size_t)64 << 20; // [byte]

bool cli_allow_outside = false;

sinew_status cli_file_open(sinew_context *context, const char *path, sinew_file **file) {
    CLI_TRY(sinew_file_open(context, path, 0, file));
    if (cli_allow_outside) {
        sinew_file_allow_outside(*file);
    }
    return SINEW_OK;
}

void cli_file_print_hint(const cli_command *command, const sinew_file *file) {
    if (file && sinew_file_get_refused_count(file) > 0) {
        cli_fail(command, CLI_BAD_INPUT, "--allow-outside permits files outside the folder");
    }
}

// --- Reading and building

void cli_begin_mistakes(sinew_context *context, sinew_scene_mistakes *mistakes) {
    *mistakes = (sinew_scene_mistakes){0};
    sinew_bytes_create(context, &mistakes->text); // without memory they are counted only
}

int cli_end_mistakes(sinew_context *context, const cli_command *command, const sinew_file *file,
                     const char *path, sinew_status status, sinew_scene_mistakes *mistakes) {
    int result = CLI_OK;
    if (status != SINEW_OK && mistakes->count == 0) {
        result = cli_fail_call(command, context);
    }
    if (status != SINEW_OK && mistakes->count > 0) {
        if (mistakes->text) {
            fwrite(sinew_bytes_get_data(mistakes->text), 1, sinew_bytes_get_size(mistakes->text),
                   stderr);
        }
        cli_file_print_hint(command, file);
        bool io_failed = sinew_file_get_status(file) == SINEW_IO_FAILED;
        result = cli_fail(command, io_failed ? CLI_IO_FAILED : CLI_BAD_INPUT, "%s: %lld mistake%s",
                          path, (long long)mistakes->count, mistakes->count == 1 ? "" : "s");
    }

    sinew_bytes_destroy(mistakes->text);
    return result;
}

int cli_scene_open(sinew_context *context, const cli_command *command, const char *path,
                   const cli_list *settings, cli_scene_file *file) {
    *file = (cli_scene_file){NULL, NULL};
    if (cli_file_open(context, path, &file->file) != SINEW_OK) {
        return cli_fail_call(command, context);
    }

    const sinew_source *source = sinew_file_get_source(file->file);
    if (source->size > LARGEST_SCENE) {
        return cli_fail(command, CLI_BAD_INPUT, "%s: has %zu bytes; the limit is %zu", path,
                        source->size, LARGEST_SCENE);
    }

    sinew_scene_mistakes mistakes;
    cli_begin_mistakes(context, &mistakes);
    sinew_scene_read_def def = sinew_default_scene_read_def();
    def.settings = settings->items;
    def.setting_count = settings->count;
    sinew_status status = sinew_scene_read(context, source, &def, &mistakes, &file->scene);

    return cli_end_mistakes(context, command, file->file, path, status, &mistakes);
}

int cli_scene_build(sinew_context *context, const cli_command *command, cli_scene_file *file) {
    sinew_scene_mistakes mistakes;
    cli_begin_mistakes(context, &mistakes);

    cli_activity activity;
    cli_activity_begin(&activity, "building the scene");
    sinew_status status = sinew_scene_build(file->scene, &mistakes);
    cli_activity_end(&activity);

    const char *path = sinew_file_get_source(file->file)->name;
    return cli_end_mistakes(context, command, file->file, path, status, &mistakes);
}

void cli_scene_close(cli_scene_file *file) {
    sinew_scene_destroy(file->scene);
    sinew_file_close(file->file);
}

// --- Printing

void cli_scene_print_loads(sinew_scene *scene) {
    double time = sinew_world_get_time(sinew_scene_get_world(scene));
    for (int32_t i = 0; i < sinew_scene_get_load_count(scene); i++) {
        sinew_scene_load_info load;
        double area, f[3];
        if (sinew_scene_get_load(scene, i, &load) != SINEW_OK ||
            sinew_scene_compute_load(scene, i, &area, f) != SINEW_OK) {
            continue;
        }

        printf("%s: loads[%d], %s", sinew_scene_get_body_name(scene, load.body), (int)load.number,
               load.kind);
        if (area > 0) {
            printf(" on %.4g m^2", area);
        }
        // + 0 prints -0 as 0.
        printf(", in all (%.4g, %.4g, %.4g) N at %g s\n", f[0] + 0, f[1] + 0, f[2] + 0, time);
    }
}

static void print_support(const char *body, const sinew_support_report *report) {
    const double *f = report->force;
    const double *t = report->torque;
    printf("%s: %s, reactions (%.4g, %.4g, %.4g) N, (%.4g, %.4g, %.4g) Nm about the origin\n", body,
           report->name, f[0], f[1], f[2], t[0], t[1], t[2]);
}

void cli_scene_print_supports(sinew_scene *scene) {
    for (int32_t i = 0; i < sinew_scene_get_body_count(scene); i++) {
        sinew_scene_body_info body;
        sinew_scene_get_body_info(scene, i, &body);

        // Position dynamics knows no reactions.
        if (body.support_count == 0 || strcmp(body.model, "positions") == 0) {
            continue;
        }

        sinew_support_report *reports = calloc((size_t)body.support_count + 1, sizeof *reports);
        bool known = reports && sinew_scene_compute_supports(scene, i, reports) == SINEW_OK;
        if (known) {
            for (int32_t k = 0; k < body.support_count; k++) {
                print_support(body.name, &reports[k]);
            }
        }
        free(reports);
    }
}

void cli_scene_print_fields(const sinew_scene *scene) {
    for (int32_t i = 0; i < sinew_scene_get_body_count(scene); i++) {
        const sinew_field *field = sinew_scene_get_body_field(scene, i);
        int32_t curves = field ? sinew_field_get_curve_count(field) : 0;
        if (curves == 0) {
            continue;
        }

        sinew_field_report report;
        sinew_field_get_report(field, &report);
        const double *at = report.least_certain_at;

        printf("%s: %s from %d curve%s; certainty (0 to 1) at least %.2g",
               sinew_scene_get_body_name(scene, i),
               sinew_field_get_kind(field) == SINEW_FIELD_FIBRES ? "fibres" : "frames", (int)curves,
               curves == 1 ? "" : "s", report.least_certainty);
        if (report.least_certainty < CERTAIN) {
            printf(", least near [%.3g, %.3g, %.3g] m", at[0], at[1], at[2]);
        }
        printf("\n");
    }
}
