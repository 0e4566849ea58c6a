#include "commands.h"

const cli_command *const cli_commands[] = {
    &cli_command_run,     &cli_command_new,      &cli_command_check, &cli_command_list,
    &cli_command_inspect, &cli_command_convert,  &cli_command_modes, &cli_command_tetrahedralize,
    &cli_command_rig,     &cli_command_validate, &cli_command_bench, &cli_command_ladder,
};

const int cli_command_count = sizeof cli_commands / sizeof *cli_commands;
