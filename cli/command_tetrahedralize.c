// sinew tetrahedralize: fills a closed surface with tets.
#include "command.h"
#include "mesh_file.h"
#include "progress.h"

#include <stdio.h>
#include <string.h>

static void print_report(const char *out, const sinew_mesh *tets,
                         const sinew_tetrahedralize_report *r) {
    printf("%s: %d tets, %d points, cells of %.4g m\n", out, tets->element_count, tets->point_count,
           r->cell_size);
    printf("dihedral angles %.1f to %.1f degrees, mean ratio %.3f at worst, %.3f on average\n",
           r->quality.smallest_angle, r->quality.largest_angle, r->quality.smallest_ratio,
           r->quality.mean_ratio);
    printf("volume %.6g m3, of the surface %.6g m3; boundary within %.3g m of it; parts: %d\n",
           r->quality.volume, r->surface_volume, r->surface_distance, r->quality.component_count);

    if (r->merged_points + r->dropped_triangles + r->flipped_triangles + r->open_edges +
            r->crowded_edges >
        0) {
        printf("the surface had %d repeated points, %d degenerate triangles, %d with the wrong "
               "orientation, %d "
               "open edges, %d crowded edges\n",
               r->merged_points, r->dropped_triangles, r->flipped_triangles, r->open_edges,
               r->crowded_edges);
    }
}

static int fill(sinew_context *context, const cli_command *command, const char *in, const char *out,
                char up, const sinew_tetrahedralize_def *def) {
    cli_mesh_file file;
    int status = cli_mesh_open(context, command, in, up, &file);
    sinew_mesh surface = {0};
    if (status == CLI_OK) {
        // Labels of triangles mean nothing inside.
        surface = sinew_mesh_file_get_mesh(file.mesh, SINEW_ELEMENT_TRIANGLE);
        surface.labels = NULL;
    }
    if (status == CLI_OK && surface.element_count == 0) {
        status = cli_fail(command, CLI_BAD_INPUT, "%s contains no triangles", in);
    }

    if (status == CLI_OK) {
        // Filling takes most of the time.
        sinew_mesh *tets = NULL;
        sinew_tetrahedralize_report report;
        cli_activity activity;

        cli_activity_begin(&activity, "filling");
        sinew_status filled = sinew_tetrahedralize(context, &surface, def, &tets, &report);

        cli_activity_end(&activity);
        if (filled != SINEW_OK) {
            status = cli_fail_file(command, context, in);
        } else {
            status = cli_mesh_write(context, command, tets, out);
            if (status == CLI_OK) {
                print_report(out, tets, &report);
            }
        }

        sinew_mesh_destroy(tets);
    }

    cli_mesh_close(&file);
    return status;
}

static int run(const cli_command *command, int argc, char **argv) {
    sinew_tetrahedralize_def def = sinew_default_tetrahedralize_def();
    const char *output = "tets.msh";
    const char *element = "tet4", *up_text = NULL;
    const char *path;
    int64_t tets = def.tet_count;
    const cli_option table[] = {
        {"output", 'o', CLI_TEXT, &output, "FILE",
         "output file: .msh .mesh .vtu .node (default: tets.msh)", 0, 0},
        {"tets", 'n', CLI_INTEGER, &tets, "N", "approximate number of tetrahedra (default: 10000)",
         1, 50e6},
        {"cell", 'c', CLI_NUMBER, &def.cell_size, "SIZE",
         "edge of the lattice cells, instead of --tets", 0, 1e9},
        {"element", 'e', CLI_TEXT, &element, "KIND",
         "one of {elements:tet4..tet10} (default: tet4)", 0, 0},
        CLI_UP(up_text),
        CLI_ALLOW_OUTSIDE,
        {"largest", 'l', CLI_FLAG, &def.largest_component, NULL, "keep the largest part only", 0,
         0},
    };

    // The command line.
    int count;
    bool finished;
    int status = cli_parse(command, table, sizeof table / sizeof *table, argc, argv, &path, 1,
                           &count, &finished);

    if (finished) {
        return status;
    }
    if (count == 0) {
        return cli_fail(command, CLI_USAGE, "which surface? usage: sinew tetrahedralize SURFACE");
    }

    // Words become numbers.
    int32_t kind;
    if (!cli_pick_word(command, "element", element, SINEW_WORDS_ELEMENTS, SINEW_ELEMENT_TET4,
                       SINEW_ELEMENT_TET10, &kind)) {
        return CLI_USAGE;
    }

    char up;
    if (cli_read_up(command, up_text, &up) != CLI_OK) {
        return CLI_USAGE;
    }

    def.element = (sinew_element)kind;
    def.tet_count = (int32_t)tets;

    // The work itself.
    sinew_context *context = cli_create_context(command, 2);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    status = fill(context, command, path, output, up, &def);
    sinew_context_destroy(context);

    return status;
}

const cli_command cli_command_tetrahedralize = {
    .name = "tetrahedralize",
    .summary = "Fill a closed surface with tetrahedra.",
    .arguments = "SURFACE",
    .details =
        "Tolerates and reports small holes, overlaps and triangles with the wrong orientation.",
    .run = run,
};
