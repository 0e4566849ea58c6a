// The commands, one source file each: command_NAME.c.
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "command.h"

extern const cli_command cli_command_run;
extern const cli_command cli_command_inspect;

#endif
