// Labels: foreign
// The same mesh of ten-node tets in CalculiX (Debian's calculix-ccx): deflection under weight,
// large deflection, frequencies.
#include "support/body.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double young = 1e7, poisson = 0.3, density = 1000;

static bool is_installed(void) {
    return system("command -v ccx >/dev/null 2>&1") == 0;
}

static test_beam make_beam(void) {
    test_beam_def def = test_default_beam_def();
    def.element = SINEW_ELEMENT_TET10;
    def.thickness = 0.1;
    def.cells_along = 12;
    def.cells_across = 2;
    def.material.young = young;
    def.material.poisson = poisson;
    def.material.density = density;

    return test_beam_create(&def);
}

// Everything but the step: nodes, elements, supports, material. VTK and Abaqus number the nodes of
// a tet in the same order.
static FILE *begin_deck(const test_beam *bar, const char *job) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.inp", TEST_OUTPUT_DIR, job);

    FILE *deck = fopen(path, "w");
    assert_non_null(deck);
    fprintf(deck, "*NODE, NSET=ALL\n");

    for (int32_t i = 0; i < bar->mesh->point_count; i++) {
        const double *X = bar->mesh->points + 3 * i;
        fprintf(deck, "%d, %.16g, %.16g, %.16g\n", i + 1, X[0], X[1], X[2]);
    }

    fprintf(deck, "*ELEMENT, TYPE=C3D10, ELSET=SOLID\n");
    for (int32_t e = 0; e < bar->mesh->element_count; e++) {
        fprintf(deck, "%d", e + 1);
        for (int k = 0; k < 10; k++) {
            fprintf(deck, ", %d", bar->mesh->indices[10 * e + k] + 1);
        }
        fprintf(deck, "\n");
    }

    fprintf(deck, "*NSET, NSET=CLAMP\n");
    int32_t nodes[512];
    int32_t count = test_pick_nodes(bar->body, 0, -1e-9, 1e-9, nodes, 512);

    for (int32_t i = 0; i < count; i++) {
        fprintf(deck, "%d,\n", nodes[i] + 1);
    }

    fprintf(deck, "*NSET, NSET=TIP\n");
    count = test_pick_nodes(bar->body, 0, 1 - 1e-9, 1 + 1e-9, nodes, 512);
    for (int32_t i = 0; i < count; i++) {
        fprintf(deck, "%d,\n", nodes[i] + 1);
    }

    fprintf(deck, "*BOUNDARY\nCLAMP, 1, 3\n*MATERIAL, NAME=GEL\n*ELASTIC\n%g, %g\n*DENSITY\n%g\n",
            young, poisson, density);
    fprintf(deck, "*SOLID SECTION, ELSET=SOLID, MATERIAL=GEL\n");

    return deck;
}

static FILE *run_deck(FILE *deck, const char *job) {
    char text[1024];
    fclose(deck);
    snprintf(text, sizeof text, "cd '%s' && OMP_NUM_THREADS=1 ccx -i %s >%s.log 2>&1",
             TEST_OUTPUT_DIR, job, job);
    assert_int_equal(system(text), 0);
    snprintf(text, sizeof text, "%s/%s.dat", TEST_OUTPUT_DIR, job);
    FILE *result = fopen(text, "r");
    assert_non_null(result);

    return result;
}

// Mean displacement of the nodes in the last table of the file: lines with a node number and three
// displacements.
static double read_tip(FILE *result) {
    char line[256];
    double sum = 0;
    int count = 0;

    while (fgets(line, sizeof line, result)) {
        int node;
        double u[3];
        if (strstr(line, "displacements")) {
            sum = count = 0;
        }

        if (sscanf(line, "%d %lf %lf %lf", &node, &u[0], &u[1], &u[2]) == 4) {
            sum += u[2];
            count++;
        }
    }

    fclose(result);
    assert_true(count > 3);

    return sum / count;
}

static double our_tip(sinew_strain strain, double g) {
    test_beam bar = make_beam();
    test_clamp(bar.body);

    sinew_world_def world = sinew_world_get_def(bar.world);
    world.gravity[2] = -g;
    assert_int_equal(sinew_world_set_def(bar.world, &world), SINEW_OK);

    sinew_material_def material = sinew_default_material_def();
    material.young = young;
    material.poisson = poisson;
    material.density = density;
    material.strain = strain;
    assert_int_equal(sinew_body_set_material(bar.body, 0, &material), SINEW_OK);

    sinew_static_def statics = sinew_default_static_def();
    statics.load_steps = strain == SINEW_STRAIN_INFINITESIMAL ? 1 : 5;

    sinew_step_report report;
    assert_int_equal(sinew_world_solve_static(bar.world, &statics, &report), SINEW_OK);
    assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);

    double tip[3];
    test_tip_displacement(bar.body, 1, tip);
    test_beam_destroy(&bar);

    return tip[2];
}

static void compare_tip(const char *job, const char *step, sinew_strain strain, double g) {
    if (!is_installed()) {
        print_message("skipped: ccx is not installed\n");
        skip();
    }

    test_beam bar = make_beam();
    FILE *deck = begin_deck(&bar, job);

    fprintf(deck, "%s*DLOAD\nSOLID, GRAV, %g, 0, 0, -1\n*NODE PRINT, NSET=TIP\nU\n*END STEP\n",
            step, g);

    double theirs = read_tip(run_deck(deck, job));
    double ours = our_tip(strain, g);

    print_message("%s: tip %.6g m, CalculiX %.6g m\n", job, ours, theirs);
    assert_true(theirs < 0);

    // The elements and their integration points are the same: only solvers and printed digits
    // differ.
    test_close("tip", ours, theirs, 1e-4 * fabs(theirs));
    test_beam_destroy(&bar);
}

static void test_small_deflection(void **state) {
    (void)state;
    compare_tip("small_deflection", "*STEP\n*STATIC\n", SINEW_STRAIN_INFINITESIMAL, 9.81);
}

// With NLGEOM, CalculiX uses Green-Lagrange strain and linear elasticity: St. Venant-Kirchhoff.
static void test_large_deflection(void **state) {
    (void)state;
    compare_tip("large_deflection", "*STEP, NLGEOM\n*STATIC\n0.2, 1.\n", SINEW_STRAIN_GREEN, 200);
}

// The table of eigenvalues: mode, eigenvalue, radians and cycles per second, damping.
static int read_frequencies(FILE *result, double *frequencies, int capacity) {
    char line[256];
    int count = 0;
    while (fgets(line, sizeof line, result) && count < capacity) {
        int mode;
        double value[4];
        if (sscanf(line, "%d %lf %lf %lf %lf", &mode, &value[0], &value[1], &value[2], &value[3]) !=
            5) {
            continue;
        }

        if (mode == count + 1) {
            frequencies[count++] = value[2];
        }
    }

    fclose(result);
    return count;
}

static void test_frequencies(void **state) {
    (void)state;
    if (!is_installed()) {
        print_message("skipped: ccx is not installed\n");
        skip();
    }

    test_beam bar = make_beam();
    FILE *deck = begin_deck(&bar, "frequencies");

    fprintf(deck, "*STEP\n*FREQUENCY\n6\n*END STEP\n");
    double theirs[6], ours[6];

    assert_int_equal(read_frequencies(run_deck(deck, "frequencies"), theirs, 6), 6);
    test_clamp(bar.body);
    assert_int_equal(sinew_body_compute_modes(bar.body, 6, ours, NULL), SINEW_OK);

    for (int i = 0; i < 6; i++) {
        print_message("frequency %d: %.5f Hz, CalculiX %.5f Hz\n", i + 1, ours[i], theirs[i]);
        // Masses are integrated by different rules: 1 % is promised.
        test_close("frequency", ours[i], theirs[i], 0.01 * theirs[i]);
    }

    test_beam_destroy(&bar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_deflection),
        cmocka_unit_test(test_large_deflection),
        cmocka_unit_test(test_frequencies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
