// What the ladder measured: lines, JSON, Markdown, and a plot of error over cost.
#include "ladder/ladder.h"

#include "files.h"

#include "sinew/io/json.h"
#include "sinew/io/output.h"
#include "sinew/io/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ladder_print(const ladder_result *r) {
    if (!r->available) {
        printf("%-44s not available: %s\n", r->name, r->note);
    } else {
        printf("%-44s %8d unknowns  error %8.3f %%  at the end %8.3f %%  %9.4f ms per step  %9.0f "
               "kB\n",
               r->name, r->unknowns, 100 * r->error, 100 * r->last_error, 1e3 * r->seconds,
               1e-3 * r->bytes);
    }

    fflush(stdout);
}

static void write_number(sinew_json_writer *json, const char *key, double value) {
    sinew_json_write_key(json, key);
    sinew_json_write_number(json, value);
}

static void write_text(sinew_json_writer *json, const char *key, const char *value) {
    sinew_json_write_key(json, key);
    sinew_json_write_string(json, value);
}

sinew_status ladder_write_json(const ladder *l, sinew_bytes *out) {
    sinew_json_writer *json = NULL;
    CLI_TRY(sinew_json_writer_create(out, false, &json));
    sinew_json_begin_array(json);
    for (int32_t i = 0; i < l->count; i++) {
        // Models that could not run have null for numbers, and a note.
        const ladder_result *r = &l->results[i];
        sinew_json_begin_object(json);
        write_text(json, "name", r->name);
        write_text(json, "family", r->family);
        sinew_json_write_key(json, "unknowns");
        sinew_json_write_integer(json, r->unknowns);
        write_number(json, "error", r->error);
        write_number(json, "last_error", r->last_error);
        write_number(json, "step_seconds", r->seconds);
        write_number(json, "bytes", r->bytes);
        sinew_json_write_key(json, "available");
        sinew_json_write_boolean(json, r->available);
        write_text(json, "note", r->note);
        sinew_json_end_object(json);
    }

    sinew_json_end_array(json);
    sinew_json_writer_destroy(json);
    sinew_bytes_add_text(out, "\n");
    return sinew_bytes_get_status(out);
}

static void add_page(const ladder *l, sinew_bytes *out) {
    // What was compared, and how errors are measured.
    char text[800];
    snprintf(text, sizeof text,
             "# One object, all models\n\n`sinew ladder` of `%.200s`, body \"%.100s\", %d steps of "
             "%g s%s. Errors are root mean square distances from the reference at %d points and "
             "%d times, relative to its root mean square displacement, %.3g m.\n\n",
             l->scene_name, l->body_name, (int)l->steps, l->step,
             l->is_static ? " after the static solve" : "", (int)l->point_count,
             (int)l->record_count, l->motion);
    sinew_bytes_add_text(out, text);
    sinew_bytes_add_text(out, "| model | unknowns | error | at the end | time per step | memory |\n"
                              "| --- | --- | --- | --- | --- | --- |\n");

    // A row for each model; those that could not run have a note.
    for (int32_t i = 0; i < l->count; i++) {
        const ladder_result *r = &l->results[i];
        if (r->available) {
            snprintf(text, sizeof text, "| %s | %d | %.3f %% | %.3f %% | %.4f ms | %.0f kB |\n",
                     r->name, r->unknowns, 100 * r->error, 100 * r->last_error, 1e3 * r->seconds,
                     1e-3 * r->bytes);
        } else {
            snprintf(text, sizeof text, "| %s | | not available: %s | | | |\n", r->name, r->note);
        }
        sinew_bytes_add_text(out, text);
    }

    sinew_bytes_add_text(out, "\n![Error against time per step](ladder.svg)\n");
}

// One curve for each family, in the order in which the families came.
static sinew_status add_plot(const ladder *l, sinew_bytes *out) {
    double cost[LADDER_CAPACITY], error[LADDER_CAPACITY];
    sinew_plot_series series[LADDER_CAPACITY];
    int32_t series_count = 0;

    for (int32_t i = 1; i < l->count; i++) { // the reference has no error

        // Neighbouring rows of one family are joined by a line.
        const ladder_result *r = &l->results[i];

        cost[i] = 1e3 * r->seconds;
        error[i] = 100 * r->error;
        bool same = series_count > 0 && strcmp(series[series_count - 1].label, r->family) == 0;
        if (!same) {
            sinew_plot_series *s = &series[series_count++];
            *s = sinew_default_plot_series();
            s->label = r->family;
            s->x = cost + i;
            s->y = error + i;
            s->style = SINEW_PLOT_LINE | SINEW_PLOT_MARKERS;
        }
        series[series_count - 1].count++;
    }

    // Both axes are logarithmic: costs and errors span orders of magnitude.
    sinew_plot_panel panel = {.title = "Error against cost",
                              .x = {.label = "time per step [ms]", .logarithmic = true},
                              .y = {.label = "error [% of the motion]", .logarithmic = true},
                              .series = series,
                              .series_count = series_count};

    sinew_plot plot = {.panels = &panel, .panel_count = 1, .panel_width = 760, .panel_height = 520};
    return sinew_plot_write(l->context, &plot, out);
}

sinew_status ladder_write_pages(const ladder *l, const char *folder) {
    char path[4200];
    sinew_bytes *out = NULL;
    CLI_TRY(sinew_folder_create(l->context, folder));
    CLI_TRY(sinew_bytes_create(l->context, &out));

    snprintf(path, sizeof path, "%s/ladder.md", folder);
    add_page(l, out);
    sinew_status status = cli_write_result(l->context, path, out);

    snprintf(path, sizeof path, "%s/ladder.svg", folder);
    sinew_bytes_clear(out);
    if (status == SINEW_OK) {
        status = add_plot(l, out);
    }
    if (status == SINEW_OK) {
        status = cli_write_result(l->context, path, out);
    }

    sinew_bytes_destroy(out);
    return status;
}
