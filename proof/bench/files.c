// Files: a mesh of a million tets converted from Gmsh's format to VTU, and the share of a run spent
// on output.
#include "bench/bench.h"
#include "bench/peak.h"
#include "machine.h"
#include "command.h"
#include "files.h"
#include "folder.h"
#include "mesh_file.h"

#include "base/memory.h"
#include "io/text/json.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

extern const cli_command cli_command_run;
extern const cli_command cli_command_bench;

enum { REPEATS = 3 };

// Reads the .msh and writes it as VTU, as `sinew convert` does.
static sinew_status convert(bench_run *b, const char *from, const char *to, double *seconds) {
    double start = cli_measured_seconds(b->context);
    cli_mesh_file file;
    int status = cli_mesh_open(b->context, &cli_command_bench, from, 0, &file);
    if (status == CLI_OK) {
        status = cli_mesh_convert(b->context, &cli_command_bench, file.mesh, to);
    }

    cli_mesh_close(&file);
    *seconds = cli_measured_seconds(b->context) - start;

    return status == CLI_OK ? SINEW_OK : SINEW_INVALID_DATA;
}

static sinew_status time_mesh(bench_run *b, const char *folder, int32_t cells, double *size,
                              double *cost) {
    // A cube as .msh.
    char from[2100], to[2100];
    snprintf(from, sizeof from, "%s/cube.msh", folder);
    snprintf(to, sizeof to, "%s/cube.vtu", folder);

    sinew_shape_def shape = sinew_default_shape_def();
    for (int c = 0; c < 3; c++) {
        shape.cells[c] = cells;
    }

    sinew_mesh *mesh;
    SN_TRY(sinew_mesh_create_shape(b->context, &shape, &mesh));

    int written = cli_mesh_write(b->context, &cli_command_bench, mesh, from);

    *size = mesh->element_count;
    sinew_mesh_destroy(mesh);

    // Converted several times.
    double seconds[REPEATS] = {0};
    sinew_status status = written == CLI_OK ? SINEW_OK : SINEW_INVALID_DATA;
    for (int i = 0; i < REPEATS && status == SINEW_OK; i++) {
        status = convert(b, from, to, &seconds[i]);
    }

    SN_TRY(status);

    // Only a million tets have a target.
    bench_result *r = bench_add(b, "tets from .msh to .vtu, read and written", *size, "s");
    if (!r) {
        return SINEW_OK;
    }

    bench_take(r, seconds, REPEATS, 1);
    if (*size > 9e5) {
        r->target = 3;
    }

    *cost = r->min;
    return SINEW_OK;
}

sinew_status bench_files(bench_run *b) {
    static const int32_t cells[4] = {20, 30, 45, 59}; // 5 tets each: 40 000 to 1 026 895
    char folder[2048];

    SN_TRY(proof_make_folder(b->context, folder, sizeof folder));
    double size[4];
    double cost[4] = {1, 1, 1, 1};
    sinew_status status = SINEW_OK;

    for (int i = 0; i < 4 && status == SINEW_OK; i++) {
        status = time_mesh(b, folder, cells[i], &size[i], &cost[i]);
    }

    sinew_status removed = proof_remove_folder(b->context, folder);
    SN_TRY(status == SINEW_OK ? removed : status);

    bench_result *r = bench_add(b, "exponent of reading and writing over tets", 4, "-");
    if (r) {
        r->min = r->median = bench_fit_exponent(size, cost, 4);
    }

    return SINEW_OK;
}

// --- Share of a run spent on output

// The "seconds" of a run's summary.
static sinew_status read_seconds(bench_run *b, const char *path, double *simulate, double *output) {
    sinew_bytes *bytes = NULL;
    SN_TRY(sinew_bytes_load(b->context, path, 0, &bytes));

    sn_json_document document;
    sinew_status status =
        sn_json_parse(b->context, sinew_bytes_get_data(bytes), sinew_bytes_get_size(bytes),
                      &(sn_json_options){.name = path}, NULL, &document);
    const sn_json *seconds = status == SINEW_OK ? sn_json_get(document.root, "seconds") : NULL;
    const sn_json *first = sn_json_get(seconds, "simulate");
    const sn_json *second = sn_json_get(seconds, "output");

    if (first && first->kind == SN_JSON_NUMBER) {
        *simulate = first->number;
    }
    if (second && second->kind == SN_JSON_NUMBER) {
        *output = second->number;
    }

    sn_json_document_destroy(&document);
    sinew_bytes_destroy(bytes);

    return status;
}

sinew_status bench_output(bench_run *b) {
    // Beside the sources, or where it was installed.
    const char *scene = access("examples/default.json", R_OK) == 0 ? "examples/default.json"
                                                                   : SINEW_SHARE_DIR
                            "/examples/default.json";
    if (access(scene, R_OK) != 0) {
        return sn_fail(b->context, SINEW_UNSUPPORTED, "examples/default.json is not here");
    }

    // Run the program's own command into a temporary folder.
    char folder[2048], summary[2100], threads[16];
    SN_TRY(proof_make_folder(b->context, folder, sizeof folder));
    snprintf(summary, sizeof summary, "%s/summary.json", folder);
    snprintf(threads, sizeof threads, "%d", b->threads);

    char run[] = "run";
    char path[4096];
    char quiet[] = "--quiet";
    char t[] = "-t";
    char o[] = "-o";
    char json[] = "--json";

    snprintf(path, sizeof path, "%s", scene);
    char *words[] = {run, path, quiet, t, threads, o, folder, json, summary};
    double simulate = NAN;
    double output = NAN;
    int ended = cli_command_run.run(&cli_command_run, sizeof words / sizeof *words, words);
    sinew_status status =
        ended == CLI_OK ? read_seconds(b, summary, &simulate, &output)
                        : sn_fail(b->context, SINEW_INVALID_DATA, "the default scene did not run");
    sinew_status removed = proof_remove_folder(b->context, folder);

    SN_TRY(status == SINEW_OK ? removed : status);

    // The summary states both times.
    bench_result *r = bench_add(b, "the default scene: share of the run that output takes", 1, "%");
    if (!r) {
        return SINEW_OK;
    }

    r->min = r->median = 100 * output / (simulate + output);
    r->target = 10;
    snprintf(r->note, sizeof r->note, "%.1f s simulating, %.2f s writing, by the wall clock",
             simulate, output);

    return SINEW_OK;
}
