#include "commands.h"

const cli_command *const cli_commands[] = {
    &cli_command_run,
    &cli_command_inspect,
};

const int cli_command_count = sizeof cli_commands / sizeof *cli_commands;
