// The rows requested on the command line, as in `sinew-proof validate A1 A2` or `sinew-proof bench
// S9`. No row means all of them.
#ifndef SN_PROOF_ROW_CHOICE_H
#define SN_PROOF_ROW_CHOICE_H

#include "command.h"

enum { CLI_ROW_CAPACITY = 64 };

typedef struct cli_row_choice {
    const char *ids[CLI_ROW_CAPACITY];
    int count;
} cli_row_choice;

bool cli_row_is_wanted(const cli_row_choice *choice, const char *id);

// CLI_OK if every requested id is the name of a row. Otherwise prints the first unknown id and
// returns CLI_USAGE.
int cli_check_rows(const cli_command *command, const cli_row_choice *choice,
                   const char *const *names, int count);

#endif
