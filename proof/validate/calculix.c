// Natural frequencies compared with beam theory, and displacements and frequencies compared with
// CalculiX on the same ten-node mesh.
//
// CalculiX (the program ccx) is optional: without it, its claims are reported as skipped.

#include "validate/validate.h"
#include "validate/bar.h"
#include "files.h"
#include "folder.h"

#include "base/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODES = 6 };

static const double young = 1e6, density = 1000, tip_force = 1e-3;

// --- Frequencies against Euler and Bernoulli

static sinew_status find_frequencies(validate_run *v, const bar_def *def,
                                     double frequencies[MODES]) {
    bar b;
    SN_TRY(bar_create(v->context, def, &b));
    sinew_status status = bar_clamp(&b);
    if (status == SINEW_OK) {
        status = sinew_body_compute_modes(b.body, MODES, frequencies, NULL);
    }

    bar_destroy(&b);
    return status;
}

// Linear tets compared with ten-node ones: the largest of the six errors, with 1, 2, 4 ... cells
// across.
static sinew_status linear_tet_order(validate_run *v) {
    bar_def def = bar_default_def();
    double reference[MODES], frequencies[MODES], worst[4] = {0};
    int levels = v->quick ? 3 : 4;

    def.material.young = young;
    def.material.poisson = 0;
    def.material.density = density;
    def.cells[0] = 30;
    def.cells[1] = def.cells[2] = 3;

    // The reference is finer, and of higher order.
    SN_TRY(find_frequencies(v, &def, reference));
    def.element = SINEW_ELEMENT_TET4;

    // Halve the cells.
    for (int i = 0; i < levels; i++) {
        def.cells[0] = 10 << i;
        def.cells[1] = def.cells[2] = 1 << i;
        SN_TRY(find_frequencies(v, &def, frequencies));
        for (int k = 0; k < MODES; k++) {
            worst[i] = fmax(worst[i], fabs(frequencies[k] / reference[k] - 1));
        }
    }

    // The order from the last two.
    double order = log2(worst[levels - 2] / worst[levels - 1]);
    validate_at_least(v, "order of the error of the first six frequencies with linear tets",
                      v->quick ? 1.2 : 1.5, order, "-");
    validate_note(v, "worst of six %.3f, %.3f, %.3f with 1, 2, 4 cells across", worst[0], worst[1],
                  worst[2]);

    return SINEW_OK;
}

sinew_status validate_frequencies(validate_run *v) {
    // Roots of cos(x) cosh(x) = -1; each belongs to two modes of a square section.
    static const double roots[MODES] = {1.875104069, 1.875104069, 4.694091133,
                                        4.694091133, 7.854757438, 7.854757438};
    bar_def def = bar_default_def();
    double t = 0.02, frequencies[MODES], worst = 0;

    def.size[1] = def.size[2] = t;
    def.cells[0] = 25;
    def.cells[1] = def.cells[2] = 1;
    def.material.young = young;
    def.material.poisson = 0;
    def.material.density = density;
    SN_TRY(find_frequencies(v, &def, frequencies));

    for (int i = 0; i < MODES; i++) {
        double exact = roots[i] * roots[i] / (2 * acos(-1)) * sqrt(young * t * t / (12 * density));
        worst = fmax(worst, fabs(frequencies[i] / exact - 1));
    }

    validate_at_most(
        v, "first six frequencies of a cantilever over beam theory, ten-node tets: worst error",
        0.01, worst, "-");

    return linear_tet_order(v);
}

// --- The deck

static void add_points(sn_buffer *deck, const sinew_mesh *mesh) {
    sn_buffer_add_text(deck, "*NODE, NSET=ALL\n");
    for (int32_t i = 0; i < mesh->point_count; i++) {
        sn_buffer_print(deck, "%d", i + 1);
        for (int c = 0; c < 3; c++) {
            sn_buffer_add_text(deck, ", ");
            sn_buffer_add_double(deck, mesh->points[3 * i + c]);
        }
        sn_buffer_add_text(deck, "\n");
    }

    // The order of nodes in an element is the same as ours.
    sn_buffer_add_text(deck, "*ELEMENT, TYPE=C3D10, ELSET=BAR\n");
    for (int32_t i = 0; i < mesh->element_count; i++) {
        sn_buffer_print(deck, "%d", i + 1);
        for (int k = 0; k < 10; k++) {
            sn_buffer_print(deck, ", %d", mesh->indices[10 * i + k] + 1);
        }
        sn_buffer_add_text(deck, "\n");
    }
}

static void add_deck(sn_buffer *deck, const sinew_mesh *mesh, const int32_t *clamped,
                     int32_t clamped_count, const int32_t *tip, int32_t tip_count) {
    add_points(deck, mesh);
    sn_buffer_add_text(deck, "*BOUNDARY\n");
    for (int32_t i = 0; i < clamped_count; i++) {
        sn_buffer_print(deck, "%d, 1, 3\n", clamped[i] + 1);
    }

    sn_buffer_add_text(deck, "*MATERIAL, NAME=M\n*ELASTIC\n1e6, 0.3\n*DENSITY\n1000\n*SOLID "
                             "SECTION, ELSET=BAR, MATERIAL=M\n"
                             "*STEP\n*STATIC\n*CLOAD\n");

    for (int32_t i = 0; i < tip_count; i++) {
        sn_buffer_print(deck, "%d, 3, ", tip[i] + 1);
        sn_buffer_add_double(deck, tip_force / tip_count);
        sn_buffer_add_text(deck, "\n");
    }

    sn_buffer_add_text(
        deck,
        "*NODE PRINT, NSET=ALL\nU\n*END STEP\n*STEP\n*FREQUENCY\n6\n*CLOAD, OP=NEW\n*END STEP\n");
}

// --- Running CalculiX and reading its output

typedef struct calculix_output {
    double *displacements; // three numbers per node
    double frequencies[MODES];
    int32_t node_count, mode_count; // found
} calculix_output;

// The start of the next line, or the end of the text.
static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

// Reads the lines "node ux uy uz" below the word displacements, and the lines "mode eigenvalue
// omega frequency ..." below EIGENVALUE.
static void parse(const char *text, int32_t point_count, calculix_output *out) {
    if (!text) {
        return;
    }

    bool modes = false;
    for (const char *line = text; *line; line = next_line(line)) {
        // Sections of the file.
        if (strncmp(line, "     E I G E N V A L U E", 24) == 0) {
            modes = true;
        }
        if (strncmp(line, "     P A R T I C I P A", 22) == 0) {
            break;
        }
        if (line[strspn(line, " ")] == '\n') {
            continue; // strtol would read on into the next line
        }

        // Rows start with a number.
        char *end;
        long index = strtol(line, &end, 10);
        if (end == line || index < 1) {
            continue;
        }
        double values[3];
        int count = 0;
        for (char *from = end; count < 3; count++, from = end) {
            values[count] = strtod(from, &end);
            if (end == from) {
                break;
            }
        }
        if (count < 3) {
            continue;
        }

        // Keep what the section is about.
        if (modes && index <= MODES) {
            out->frequencies[out->mode_count++ % MODES] = values[2];
        }
        if (!modes && index <= point_count) {
            memcpy(out->displacements + 3 * (index - 1), values, sizeof values);
            out->node_count++;
        }
    }
}

static sinew_status run_calculix(sinew_context *context, const sn_buffer *deck, int32_t point_count,
                                 calculix_output *out) {
    // In a folder of its own, since it writes many files.
    char folder[2048], path[2100], command[2200];
    SN_TRY(proof_make_folder(context, folder, sizeof folder));
    snprintf(path, sizeof path, "%s/bar.inp", folder);

    sinew_status status = cli_write_file(context, path, deck->data, deck->size);
    snprintf(command, sizeof command, "cd '%s' && OMP_NUM_THREADS=1 ccx -i bar >log 2>&1", folder);
    if (status == SINEW_OK && system(command) != 0) {
        status = sn_fail(context, SINEW_INVALID_DATA, "ccx ended with an error");
    }

    // Its results, all or none.
    sinew_bytes *bytes = NULL;
    snprintf(path, sizeof path, "%s/bar.dat", folder);
    if (status == SINEW_OK) {
        status = sinew_bytes_load(context, path, 0, &bytes);
    }

    if (status == SINEW_OK) {
        parse(sinew_bytes_get_data(bytes), point_count, out);
        sinew_bytes_destroy(bytes);
        if (out->node_count != point_count || out->mode_count != MODES) {
            status = sn_fail(context, SINEW_INVALID_DATA,
                             "ccx printed %d displacements and %d frequencies; expected %d and %d",
                             out->node_count, out->mode_count, point_count, MODES);
        }
    }

    sinew_status removed = proof_remove_folder(context, folder);
    return status == SINEW_OK ? removed : status;
}

static sinew_status compare(validate_run *v, bar *b) {
    int32_t clamped_count, tip_count;
    int32_t n = b->mesh->point_count;
    int32_t *clamped = bar_pick(b, 0, 0, &clamped_count);
    int32_t *tip = bar_pick(b, 0, 1, &tip_count);
    double *forces = SN_PUSH(&b->arena, double, 3 * (size_t)n);
    double frequencies[MODES];
    calculix_output theirs = {.displacements = SN_PUSH(&b->arena, double, 3 * (size_t)n)};

    SN_TRY(sn_arena_status(&b->arena));
    for (int32_t i = 0; i < 3 * tip_count; i++) {
        forces[i] = i % 3 == 2 ? tip_force / tip_count : 0;
    }

    // Our solution.
    SN_TRY(bar_clamp(b));
    SN_TRY(sinew_body_compute_modes(b->body, MODES, frequencies, NULL));
    SN_TRY(sinew_body_set_forces(b->body, tip, tip_count, forces));
    SN_TRY(bar_solve(b, 1, 1e-10));

    // The solution of CalculiX.
    sn_buffer deck = sn_buffer_create(v->context);
    add_deck(&deck, b->mesh, clamped, clamped_count, tip, tip_count);

    sinew_status status = sn_buffer_status(&deck);
    if (status == SINEW_OK) {
        status = run_calculix(v->context, &deck, n, &theirs);
    }

    sn_buffer_destroy(&deck);
    SN_TRY(status);

    // Compare both.
    double difference = 0, largest = 0, worst = 0;
    const double *x = sinew_body_get_positions(b->body);
    const double *X = sinew_body_get_rest_positions(b->body);

    for (int32_t i = 0; i < 3 * n; i++) {
        difference = fmax(difference, fabs(x[i] - X[i] - theirs.displacements[i]));
        largest = fmax(largest, fabs(x[i] - X[i]));
    }

    for (int i = 0; i < MODES; i++) {
        worst = fmax(worst, fabs(frequencies[i] / theirs.frequencies[i] - 1));
    }

    validate_at_most(v,
                     "cantilever, same ten-node mesh in CalculiX: largest difference of "
                     "displacement over the tip's",
                     1e-3, difference / largest, "-");
    validate_at_most(v, "first six frequencies of the same mesh over CalculiX's: worst difference",
                     1e-3, worst, "-");

    return SINEW_OK;
}

sinew_status validate_calculix(validate_run *v) {
    if (system("command -v ccx >/dev/null 2>&1") != 0) {
        validate_skip(v, "the same ten-node mesh in CalculiX",
                      "ccx is not installed (Debian's calculix-ccx)");
        return SINEW_OK;
    }

    bar_def def = bar_default_def();
    def.cells[0] = 12;
    def.material.strain = SINEW_STRAIN_INFINITESIMAL;
    def.material.young = young;
    def.material.poisson = 0.3;
    def.material.density = density;

    bar b;
    SN_TRY(bar_create(v->context, &def, &b));

    sinew_status status = compare(v, &b);
    bar_destroy(&b);

    return status;
}
