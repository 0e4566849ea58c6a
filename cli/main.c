// The program: picks the command that the first argument names.
#include "command.h"

#include <stdio.h>
#include <string.h>

static int print_overview(void) {
    printf("Usage: sinew COMMAND [ARGUMENTS]\n\nElastic solids: simulate, convert, "
           "check.\n\nCommands:\n");
    for (int i = 0; i < cli_command_count; i++) {
        printf("  %-16s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    }

    printf("\n'sinew COMMAND --help' tells more. 'sinew --version' prints the version.\n");
    return CLI_OK;
}

static int fail_unknown(const char *word) {
    const char *words[64];
    int count = cli_command_count < 64 ? cli_command_count : 64;
    for (int i = 0; i < count; i++) {
        words[i] = cli_commands[i]->name;
    }

    return cli_fail(NULL, CLI_USAGE, "there is no command '%s'%s; 'sinew --help' lists them", word,
                    cli_did_you_mean(word, words, count));
}

int main(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "--help";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        return print_overview();
    }

    if (strcmp(word, "--version") == 0) {
        printf("sinew %s\n", sinew_version());
        return CLI_OK;
    }

    for (int i = 0; i < cli_command_count; i++) {
        if (strcmp(cli_commands[i]->name, word) == 0) {
            return cli_commands[i]->run(cli_commands[i], argc - 1, argv + 1);
        }
    }

    return fail_unknown(word);
}
