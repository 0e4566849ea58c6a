// sinew-proof validate: recomputes every claim about accuracy.
#include "command.h"
#include "files.h"
#include "machine.h"
#include "row_choice.h"
#include "validate/validate.h"

#include "sinew/io/output.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct validate_options {
    cli_row_choice rows;
    bool quick, whole;
    cli_optional_text json;
    const char *report;
    bool list;
} validate_options;

static int check_ids(const cli_command *command, const validate_options *options) {
    const char *names[CLI_ROW_CAPACITY];
    int count = 0;
    for (int32_t i = 0; i < validate_row_count && count < CLI_ROW_CAPACITY; i++) {
        names[count++] = validate_rows[i].id;
    }
    return cli_check_rows(command, &options->rows, names, count);
}

static void run_row(validate_run *v, const validate_row *row) {
    int32_t first = v->count;
    v->id = row->id;
    if (row->run) {
        sinew_status status = row->run(v);
        if (status == SINEW_UNSUPPORTED) {
            validate_unavailable(v, row->claim ? row->claim : "the row runs to its end",
                                 sinew_context_message(v->context));
        } else if (status != SINEW_OK) {
            validate_at_most(v, "the row runs to its end", 0, 1, "-");
            validate_note(v, "%s: %s", sinew_status_name(status),
                          sinew_context_message(v->context));
        }
    } else {
        validate_unavailable(v, row->claim, row->reason);
    }

    if (!v->silent) {
        for (int32_t i = first; i < v->count; i++) {
            validate_print(&v->results[i]);
        }
    }
}

static sinew_status write_json(validate_run *v, const cli_optional_text *json) {
    if (!json->given) {
        return SINEW_OK;
    }

    sn_buffer out = sn_buffer_create(v->context);
    validate_write_json(v, &out);

    sinew_status status = sn_buffer_status(&out);
    if (status == SINEW_OK && json->text) {
        status = cli_write_file(v->context, json->text, out.data, out.size);
    }
    if (status == SINEW_OK && !json->text) {
        fwrite(out.data, 1, out.size, stdout);
    }

    sn_buffer_destroy(&out);
    return status;
}

static sinew_status write_report(validate_run *v, double seconds) {
    if (!v->folder) {
        return SINEW_OK;
    }

    // Figures mean little without the day and the machine.
    char path[4200], day[32], machine[200];
    cli_describe_machine(machine, sizeof machine);

    time_t now = time(NULL);
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));
    snprintf(path, sizeof path, "%s/validation.md", v->folder);

    // A page for the site.
    sn_buffer out = sn_buffer_create(v->context);
    sn_buffer_print(
        &out,
        "# Validation\n\nWritten by `sinew-proof validate%s --report docs` of Sinew %s on %s "
        "in %d s: %s.\n\n",
        v->quick ? " --quick" : "", sinew_version(), day, (int)(seconds + 0.5), machine);
    sn_buffer_add_text(&out, "Rows that fail or are not available are known gaps. "
                             "tests/proof/known_gaps.json lists them, and the tests compare.\n\n");
    validate_write_page(v, &out);

    sinew_status status = sn_buffer_status(&out);
    if (status == SINEW_OK) {
        status = cli_write_file(v->context, path, out.data, out.size);
    }

    sn_buffer_destroy(&out);
    return status;
}

static int validate(const cli_command *command, sinew_context *context,
                    const validate_options *options) {
    validate_run *v = sn_allocate(context, 1, sizeof *v);
    if (!v) {
        return cli_fail(command, CLI_BAD_INPUT, "out of memory");
    }

    *v = (validate_run){.context = context,
                        .quick = options->quick,
                        .whole = options->whole,
                        .folder = options->report};
    v->silent = options->json.given && !options->json.text;

    // Plots go beside the page.
    char plots[4200];
    snprintf(plots, sizeof plots, "%s/validation", v->folder ? v->folder : "");

    sinew_status status = v->folder ? sinew_folder_create(context, plots) : SINEW_OK;

    // Rows take seconds to minutes each.
    double start = sn_seconds();
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < validate_row_count; i++) {
            if (cli_row_is_wanted(&options->rows, validate_rows[i].id)) {
                run_row(v, &validate_rows[i]);
            }
        }
    }

    double seconds = sn_seconds() - start;
    if (status == SINEW_OK) {
        status = write_json(v, &options->json);
    }
    if (status == SINEW_OK) {
        status = write_report(v, seconds);
    }

    // The summary, and the exit status.
    int counts[4] = {0};
    for (int32_t i = 0; i < v->count; i++) {
        counts[v->results[i].verdict]++;
    }

    if (!v->silent) {
        printf("%d pass, %d fail, %d not available, %d skipped; %.0f s\n", counts[VALIDATE_PASS],
               counts[VALIDATE_FAIL], counts[VALIDATE_UNAVAILABLE], counts[VALIDATE_SKIPPED],
               seconds);
    }

    sn_release(context, v, 1, sizeof *v);
    if (status != SINEW_OK) {
        return cli_fail_call(command, context);
    }

    return counts[VALIDATE_FAIL] + counts[VALIDATE_UNAVAILABLE] ? 1 : CLI_OK;
}

// Consecutive rows may share an id, which is printed once.
static void print_ids(void) {
    for (int32_t i = 0; i < validate_row_count; i++) {
        if (i == 0 || strcmp(validate_rows[i].id, validate_rows[i - 1].id) != 0) {
            printf("%s\n", validate_rows[i].id);
        }
    }
}

static int run(const cli_command *command, int argc, char **argv) {
    validate_options o = {0};
    const cli_option table[] = {
        {"quick", 'q', CLI_FLAG, &o.quick, NULL,
         "the shorter form of the long rows: under half a minute", 0, 0},
        {"json", 0, CLI_OPTIONAL_TEXT, &o.json, "FILE", "the results as JSON (to standard output)",
         0, 0},
        {"list", 'l', CLI_FLAG, &o.list, NULL, "print the ids of the rows and nothing else", 0, 0},
        {"whole", 0, CLI_FLAG, &o.whole, NULL,
         "C4 with all steps of the examples and 10 000 random scenes: hours", 0, 0},
        {"report", 0, CLI_TEXT, &o.report, "DIR", "a page with plots: DIR/validation.md", 0, 0},
    };

    // The command line.
    bool finished;
    int status = cli_parse(command, table, sizeof table / sizeof *table, argc, argv, o.rows.ids,
                           CLI_ROW_CAPACITY, &o.rows.count, &finished);

    if (finished) {
        return status;
    }

    if (o.list) {
        print_ids();
        return CLI_OK;
    }

    status = check_ids(command, &o);
    if (status != CLI_OK) {
        return status;
    }

    // The rows.
    sinew_context *context = cli_create_context(command, 1);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    status = validate(command, context, &o);
    sinew_context_destroy(context);

    return status;
}

const cli_command cli_command_validate = {
    .name = "validate",
    .summary = "Recompute every claim about accuracy.",
    .arguments = "[ID...]",
    .details =
        "Prints one line for each claim: id, claim, reference with its tolerance, measured "
        "value, verdict.\n"
        "In JSON, a claim passes if |measured - reference| is at most the tolerance. A claim "
        "of the kind 'at least'\n"
        "has a tolerance of 0 and also passes above the reference.\n"
        "Exit status: 0 all pass, 1 a claim failed or is not available, 2 a file "
        "could not be\n"
        "written.",
    .run = run,
};
