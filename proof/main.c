// The program `sinew-proof`: recomputes every claim about accuracy, and measures the speed.
#include "command.h"

extern const cli_command cli_command_validate;
extern const cli_command cli_command_bench;

static const cli_command *const commands[] = {&cli_command_validate, &cli_command_bench};

int main(int argc, char **argv) {
    const cli_program program = {
        .name = "sinew-proof",
        .summary = "Recompute what Sinew claims: accuracy and speed.",
        .commands = commands,
        .command_count = sizeof commands / sizeof *commands,
    };
    return cli_main(&program, argc, argv);
}
