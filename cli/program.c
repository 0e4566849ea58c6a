// Picks the command that the first argument names, and prints the overview.
#include "command.h"
#include "files.h"
#include "signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *program_name = "sinew";

const char *cli_program_name(void) {
    return program_name;
}

static int print_overview(const cli_program *program) {
    printf("Usage: %s COMMAND [ARGUMENTS]\n\n%s\n\nCommands:\n", program->name, program->summary);
    for (int i = 0; i < program->command_count; i++) {
        printf("  %-16s %s\n", program->commands[i]->name, program->commands[i]->summary);
    }

    printf("\n'%s COMMAND --help' explains a command. '%s --version' prints the version.\n",
           program->name, program->name);
    return CLI_OK;
}

static int fail_unknown(const cli_program *program, const char *word) {
    const char *words[64];
    int count = program->command_count < 64 ? program->command_count : 64;
    for (int i = 0; i < count; i++) {
        words[i] = program->commands[i]->name;
    }

    return cli_fail(NULL, CLI_USAGE, "there is no command '%s'%s; '%s --help' lists them", word,
                    cli_did_you_mean(word, words, count), program->name);
}

static int run_command(const cli_program *program, int argc, char **argv) {
    for (int i = 0; i < program->command_count; i++) {
        const cli_command *command = program->commands[i];
        if (strcmp(command->name, argv[0]) == 0) {
            return command->run(command, argc, argv);
        }
    }

    return fail_unknown(program, argv[0]);
}

static int run_program(const cli_program *program, int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "--help";
    if (strcmp(word, "help") == 0 && argc > 2) {
        char option[] = "--help";
        return run_command(program, 2, (char *[]){argv[2], option});
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        return print_overview(program);
    }
    if (strcmp(word, "--version") == 0) {
        printf("%s %s\n", program->name, sinew_version());
        return CLI_OK;
    }

    return run_command(program, argc - 1, argv + 1);
}

int cli_main(const cli_program *program, int argc, char **argv) {
    program_name = program->name;
    cli_reserve_standard_streams();
    cli_signals_begin();

    int status = run_program(program, argc, argv);
    if (!cli_close_output()) {
        int lost = cli_fail(NULL, CLI_IO_FAILED, "cannot write to standard output: %s",
                            errno ? strerror(errno) : "some of it was lost");
        return status == CLI_OK ? lost : status;
    }

    return status;
}
