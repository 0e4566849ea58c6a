// The commands, one source file each: command_NAME.c.
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "command.h"

extern const cli_command cli_command_run;
extern const cli_command cli_command_new;
extern const cli_command cli_command_check;
extern const cli_command cli_command_list;
extern const cli_command cli_command_inspect;
extern const cli_command cli_command_convert;
extern const cli_command cli_command_modes;
extern const cli_command cli_command_tetrahedralize;
extern const cli_command cli_command_rig;
extern const cli_command cli_command_validate;
extern const cli_command cli_command_bench;
extern const cli_command cli_command_ladder;

#endif
