// sinew list: what the program knows by name.
#include "command.h"
#include "files.h"

#include "sinew/sinew.h"

#include "io/generate/organism.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_laws(void) {
    printf("materials: laws\n ");
    for (int32_t i = 0; i < sinew_material_law_count(); i++) {
        printf(" %s", sinew_material_law_name(i));
    }

    printf("\n\nmaterials: presets            young [Pa]  poisson  density [kg/m3]\n");
    int32_t count;
    const sinew_material_preset *presets = sinew_material_presets(&count);

    for (int32_t i = 0; i < count; i++) {
        printf("  %-14s %-12s %10.3g  %7.3g  %7.4g   %s\n", presets[i].name, "", presets[i].young,
               presets[i].poisson, presets[i].density, presets[i].comment);
    }
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// The examples beside the program's working folder, or where it was installed.
static void print_examples(void) {
    const char *folders[] = {"examples", SINEW_SHARE_DIR "/examples"};
    for (int f = 0; f < 2; f++) {
        DIR *folder = opendir(folders[f]);
        if (!folder) {
            continue;
        }

        char *names[256];
        int count = 0;
        for (struct dirent *entry = readdir(folder); entry && count < 256;

             entry = readdir(folder)) {
            size_t length = strlen(entry->d_name);
            if (length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0) {
                names[count++] = strdup(entry->d_name);
            }
        }
        closedir(folder);
        qsort(names, (size_t)count, sizeof *names, compare_names);
        printf("\nexamples (sinew run FILE)\n");

        for (int i = 0; i < count; i++) {
            printf("  %s/%s\n", folders[f], names[i]);
            free(names[i]);
        }

        return;
    }
}

static int run(const cli_command *command, int argc, char **argv) {
    int count;
    bool finished;
    int status = cli_parse(command, NULL, 0, argc, argv, NULL, 0, &count, &finished);
    if (finished) {
        return status;
    }

    print_laws();
    printf("\nmodels\n  elastic (linear, corotational, hyperelastic by the law)  warped  "
           "warped-edges  frames  positions\n");
    printf("\nshapes\n  rectangle  box  cylinder  sphere  tube  l  t  u\n");
    printf("\norganisms\n");

    for (int32_t i = 0; i < sn_organism_count(); i++) {
        printf("  %s", sn_organism_name((sn_organism_kind)i));
    }

    printf("\n\nelements\n  triangle  tet4  tet10  hex8\n");
    printf("\nintegrators\n  implicit-euler  newton-euler  symplectic-euler  newmark  midpoint  "
           "bdf2\n");
    printf(
        "\nsolvers\n  auto  jacobi  incomplete-cholesky  multigrid  direct  dense  matrix-free\n");
    print_examples();

    return CLI_OK;
}

const cli_command cli_command_list = {
    .name = "list",
    .summary = "List materials, models, shapes, integrators, solvers, examples.",
    .arguments = "",
    .run = run,
};
