// sinew list: what the program knows by name.
#include "command.h"
#include "files.h"

#include "sinew/io.h"
#include "sinew/sinew.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_presets(void) {
    printf("materials: presets            young [Pa]  poisson  density [kg/m3]\n");
    int32_t count;
    const sinew_material_preset *presets = sinew_material_presets(&count);

    for (int32_t i = 0; i < count; i++) {
        printf("  %-14s %-12s %10.3g  %7.3g  %7.4g   %s\n", presets[i].name, "", presets[i].young,
               presets[i].poisson, presets[i].density, presets[i].comment);
    }
}

static void print_words(sinew_word_list list) {
    printf("\n%s\n", sinew_words_get_name(list));
    for (int32_t i = 0; i < sinew_words_get_count(list); i++) {
        printf("  %s", sinew_words_get(list, i));
    }
    printf("\n");
}

// One list alone, a word a line, for other programs.
static int print_list(const cli_command *command, const char *name) {
    const char *names[SINEW_WORD_LISTS];
    for (int i = 0; i < SINEW_WORD_LISTS; i++) {
        names[i] = sinew_words_get_name((sinew_word_list)i);
        if (strcmp(names[i], name) != 0) {
            continue;
        }

        for (int32_t k = 0; k < sinew_words_get_count((sinew_word_list)i); k++) {
            printf("%s\n", sinew_words_get((sinew_word_list)i, k));
        }
        return CLI_OK;
    }

    char valid[256];
    cli_join_words(valid, sizeof valid, names, SINEW_WORD_LISTS);
    return cli_fail(command, CLI_USAGE, "there is no list '%s'%s; valid: %s", name,
                    cli_did_you_mean(name, names, SINEW_WORD_LISTS), valid);
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

        // Sorted, since the order of a folder is arbitrary.
        char *names[256];
        int count = 0;
        for (struct dirent *entry = readdir(folder); entry && count < 256;
             entry = readdir(folder)) {
            if (sinew_name_has_ending(entry->d_name, ".json")) {
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
    const char *name;
    int count;
    bool finished;
    int status = cli_parse(command, NULL, 0, argc, argv, &name, 1, &count, &finished);
    if (finished) {
        return status;
    }
    if (count == 1) {
        return print_list(command, name);
    }

    print_presets();
    for (int i = 0; i < SINEW_WORD_LISTS; i++) {
        if (i != SINEW_WORDS_PRESETS) {
            print_words((sinew_word_list)i);
        }
    }
    print_examples();

    return CLI_OK;
}

const cli_command cli_command_list = {
    .name = "list",
    .summary = "List materials, models, shapes, integrators, solvers, examples.",
    .arguments = "[LIST]",
    .details = "With the name of a list, such as integrators, its words alone, one on each line.",
    .run = run,
};
