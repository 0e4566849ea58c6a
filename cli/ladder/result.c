// What the ladder measured: lines, JSON, Markdown, and a plot of error over cost.
#include "ladder/ladder.h"

#include "files.h"

#include "sinew/io/output.h"

#include "io/text/json_write.h"
#include "io/picture/plot.h"

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

static void write_number(sn_json_writer *json, const char *key, double value) {
    sn_json_write_key(json, key);
    sn_json_write_number(json, value);
}

static void write_text(sn_json_writer *json, const char *key, const char *value) {
    sn_json_write_key(json, key);
    sn_json_write_string(json, value);
}

void ladder_write_json(const ladder *l, sn_buffer *out) {
    sn_json_writer json = sn_json_writer_create(out, false);
    sn_json_begin_array(&json);
    for (int32_t i = 0; i < l->count; i++) {
        const ladder_result *r = &l->results[i];
        sn_json_begin_object(&json);
        write_text(&json, "name", r->name);
        write_text(&json, "family", r->family);
        sn_json_write_key(&json, "unknowns");
        sn_json_write_integer(&json, r->unknowns);
        write_number(&json, "error", r->error);
        write_number(&json, "last_error", r->last_error);
        write_number(&json, "step_seconds", r->seconds);
        write_number(&json, "bytes", r->bytes);
        sn_json_write_key(&json, "available");
        sn_json_write_boolean(&json, r->available);
        write_text(&json, "note", r->note);
        sn_json_end_object(&json);
    }

    sn_json_end_array(&json);
    sn_buffer_add_text(out, "\n");
}

static sinew_status write_page(const ladder *l, const char *folder) {
    const ladder_object *object = &l->object;
    char path[4200], text[400];
    sn_buffer out = sn_buffer_create(object->context);

    sn_buffer_print(&out, "# One object, all models\n\n`sinew ladder` of `%s`, body \"%s\"",
                    object->scene.name, object->body.name);
    snprintf(text, sizeof text,
             ", %d steps of %g s%s. Errors are root mean square distances from the reference at %d "
             "points and %d times, relative to "
             "its root mean square displacement, %.3g m.\n\n",
             object->steps, object->scene.world.step,
             object->scene.statics ? " after the static solve" : "", object->point_count,
             object->record_count, object->motion);
    sn_buffer_add_text(&out, text);
    sn_buffer_add_text(&out, "| model | unknowns | error | at the end | time per step | memory |\n"
                             "| --- | --- | --- | --- | --- | --- |\n");

    for (int32_t i = 0; i < l->count; i++) {
        const ladder_result *r = &l->results[i];
        if (r->available) {
            snprintf(text, sizeof text, "| %s | %d | %.3f %% | %.3f %% | %.4f ms | %.0f kB |\n",
                     r->name, r->unknowns, 100 * r->error, 100 * r->last_error, 1e3 * r->seconds,
                     1e-3 * r->bytes);
        } else {
            snprintf(text, sizeof text, "| %s | | not available: %s | | | |\n", r->name, r->note);
        }

        sn_buffer_add_text(&out, text);
    }

    sn_buffer_add_text(&out, "\n![Error against time per step](ladder.svg)\n");
    snprintf(path, sizeof path, "%s/ladder.md", folder);

    sinew_status status = sn_buffer_status(&out);
    if (status == SINEW_OK) {
        status = cli_write_file(object->context, path, out.data, out.size);
    }

    sn_buffer_destroy(&out);
    return status;
}

// One curve for each family, in the order in which the families came.
static sinew_status write_plot(const ladder *l, const char *folder) {
    double cost[LADDER_CAPACITY], error[LADDER_CAPACITY];
    sn_plot_series series[LADDER_CAPACITY];
    int32_t series_count = 0;

    for (int32_t i = 1; i < l->count; i++) { // the reference has no error
        const ladder_result *r = &l->results[i];

        cost[i] = 1e3 * r->seconds;
        error[i] = 100 * r->error;
        bool same = series_count > 0 && strcmp(series[series_count - 1].label, r->family) == 0;
        if (!same) {
            sn_plot_series *s = &series[series_count++];
            *s = sn_plot_series_default();
            s->label = r->family;
            s->x = cost + i;
            s->y = error + i;
            s->style = SN_PLOT_LINE | SN_PLOT_MARKERS;
        }
        series[series_count - 1].count++;
    }

    char path[4200];
    sn_plot_panel panel = {.title = "Error against cost",
                           .x = {.label = "time per step [ms]", .logarithmic = true},
                           .y = {.label = "error [% of the motion]", .logarithmic = true},
                           .series = series,
                           .series_count = series_count};

    snprintf(path, sizeof path, "%s/ladder.svg", folder);
    sn_buffer out = sn_buffer_create(l->object.context);
    sinew_status status = sn_plot_write(
        l->object.context,
        &(sn_plot){.panels = &panel, .panel_count = 1, .panel_width = 760, .panel_height = 520},
        &out);

    if (status == SINEW_OK) {
        status = cli_write_file(l->object.context, path, out.data, out.size);
    }

    sn_buffer_destroy(&out);
    return status;
}

sinew_status ladder_write_pages(const ladder *l, const char *folder) {
    SN_TRY(sinew_folder_create(l->object.context, folder));
    SN_TRY(write_page(l, folder));
    return write_plot(l, folder);
}
