// The program `sinew`: its commands, one source file each, command_NAME.c.
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
extern const cli_command cli_command_soften;
extern const cli_command cli_command_ladder;
extern const cli_command cli_command_studio;

// In the order of the help.
static const cli_command *const commands[] = {
    &cli_command_run,     &cli_command_new,     &cli_command_check,  &cli_command_list,
    &cli_command_inspect, &cli_command_convert, &cli_command_modes,  &cli_command_tetrahedralize,
    &cli_command_rig,     &cli_command_soften,  &cli_command_ladder, &cli_command_studio,
};

int main(int argc, char **argv) {
    const cli_program program = {
        .name = "sinew",
        .summary = "Elastic solids: simulate, convert, check.",
        .commands = commands,
        .command_count = sizeof commands / sizeof *commands,
    };
    return cli_main(&program, argc, argv);
}
