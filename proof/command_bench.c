// sinew-proof bench: measures the speed and compares it with the limits of the machine and the
// papers' figures.
#include "command.h"
#include "files.h"
#include "bench/bench.h"
#include "bench/peak.h"
#include "machine.h"
#include "row_choice.h"

#include "sinew/io/output.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct bench_options {
    cli_row_choice rows;
    int64_t threads;
    cli_optional_text json;
    const char *report;
    bool list;
} bench_options;

static int check_ids(const cli_command *command, const bench_options *options) {
    const char *names[CLI_ROW_CAPACITY];
    int count = 0;
    for (int32_t i = 0; i < bench_row_count && count < CLI_ROW_CAPACITY; i++) {
        names[count++] = bench_rows[i].id;
    }
    return cli_check_rows(command, &options->rows, names, count);
}

static void run_row(bench_run *b, const bench_row *row, bool silent) {
    int32_t first = b->count;
    b->id = row->id;

    sinew_status status = row->run ? row->run(b) : SINEW_UNSUPPORTED;
    if (status != SINEW_OK) {
        bench_result *r = bench_add(b, row->run ? "the row runs to its end" : row->name, 0, "-");
        if (r) {
            r->unavailable = true;
            snprintf(r->note, sizeof r->note, "%s",
                     row->run ? sinew_context_message(b->context) : row->reason);
        }
    }

    if (!silent) {
        for (int32_t i = first; i < b->count; i++) {
            bench_print(&b->results[i]);
        }
    }
}

static sinew_status write_json(const bench_run *b, const cli_optional_text *json) {
    if (!json->given) {
        return SINEW_OK;
    }

    sn_buffer out = sn_buffer_create(b->context);
    bench_write_json(b, &out);

    sinew_status status = sn_buffer_status(&out);
    if (status == SINEW_OK && json->text) {
        status = cli_write_file(b->context, json->text, out.data, out.size);
    }
    if (status == SINEW_OK && !json->text) {
        fwrite(out.data, 1, out.size, stdout);
    }

    sn_buffer_destroy(&out);
    return status;
}

static sinew_status write_report(const bench_run *b, const char *folder) {
    if (!folder) {
        return SINEW_OK;
    }

    // Figures mean little without the day and the machine.
    char path[4200], day[32], machine[200];
    cli_describe_machine(machine, sizeof machine);

    time_t now = time(NULL);
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));
    snprintf(path, sizeof path, "%s/performance.md", folder);

    sn_buffer out = sn_buffer_create(b->context);
    sn_buffer_print(&out,
                    "# Performance\n\nWritten by `sinew-proof bench --report docs` of Sinew %s on "
                    "%s: %s; %d thread%s, instruction set %s.\n",
                    sinew_version(), day, machine, b->threads, b->threads == 1 ? "" : "s",
                    sn_isa_name(b->context->isa));

    // How to read the table.
    sn_buffer_add_text(
        &out, "With one thread, times are processor times. A load average above the number of "
              "cores means that other programs were running and times are too long. The figures "
              "of the papers were measured on older machines. Meshes that are not freely "
              "available are replaced by bars with the same number of tetrahedra. "
              "tests/proof/known_speed_gaps.json explains the rows that fall short.\n\n");
    bench_write_page(b, &out);

    sinew_status status = sinew_folder_create(b->context, folder);
    if (status == SINEW_OK) {
        status = sn_buffer_status(&out);
    }
    if (status == SINEW_OK) {
        status = cli_write_file(b->context, path, out.data, out.size);
    }

    sn_buffer_destroy(&out);
    return status;
}

static int bench(const cli_command *command, sinew_context *context, const bench_options *options) {
    bench_run *b = sn_allocate(context, 1, sizeof *b);
    if (!b) {
        return cli_fail(command, CLI_BAD_INPUT, "out of memory");
    }

    *b = (bench_run){.context = context, .threads = (int32_t)options->threads};
    bool silent = options->json.given && !options->json.text;
    if (!silent) {
        printf("paper: figures of the papers, measured on older machines; limit: share of this "
               "machine's peak\n");
    }

    // The limits of the machine, to which rows compare themselves.
    b->flops = peak_measure_flops(context);
    b->bandwidth = peak_measure_bandwidth(context);
    for (int32_t i = 0; i < bench_row_count; i++) {
        if (i == 0 || cli_row_is_wanted(&options->rows, bench_rows[i].id)) {
            run_row(b, &bench_rows[i], silent);
        }
    }

    // Results so far are written even if a row failed.
    sinew_status status = write_json(b, &options->json);
    if (status == SINEW_OK) {
        status = write_report(b, options->report);
    }

    sn_release(context, b, 1, sizeof *b);
    return status == SINEW_OK ? CLI_OK : cli_fail_call(command, context);
}

static int run(const cli_command *command, int argc, char **argv) {
    bench_options o = {.threads = 1};
    const cli_option table[] = {
        {"threads", 't', CLI_INTEGER, &o.threads, "N", "threads (default: 1)", 1, 64},
        {"json", 0, CLI_OPTIONAL_TEXT, &o.json, "FILE", "the results as JSON (to standard output)",
         0, 0},
        {"list", 'l', CLI_FLAG, &o.list, NULL, "print the ids of the rows and nothing else", 0, 0},
        {"report", 0, CLI_TEXT, &o.report, "DIR", "a page: DIR/performance.md", 0, 0},
    };

    // The command line.
    bool finished;
    int status = cli_parse(command, table, sizeof table / sizeof *table, argc, argv, o.rows.ids,
                           CLI_ROW_CAPACITY, &o.rows.count, &finished);

    if (finished) {
        return status;
    }

    if (o.list) {
        for (int32_t i = 0; i < bench_row_count; i++) {
            printf("%s\n", bench_rows[i].id);
        }
        return CLI_OK;
    }

    status = check_ids(command, &o);
    if (status != CLI_OK) {
        return status;
    }

    // The measurements.
    sinew_context *context = cli_create_context(command, (int32_t)o.threads);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    status = bench(command, context, &o);
    sinew_context_destroy(context);

    return status;
}

const cli_command cli_command_bench = {
    .name = "bench",
    .summary = "Measure the speed and compare it with the limits of the machine.",
    .arguments = "[ID...]",
    .details =
        "Measures the machine's multiply-adds and memory bandwidth, then every row: smallest "
        "and median time,\n"
        "the paper's figure (of another machine), the target, the share of the limit and a "
        "hash of the state.",
    .run = run,
};
