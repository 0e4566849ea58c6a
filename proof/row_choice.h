// The rows that a command was asked for: `sinew-proof validate A1 A2`, `sinew-proof bench S9`. None
// means all.
#ifndef SN_PROOF_ROW_CHOICE_H
#define SN_PROOF_ROW_CHOICE_H

#include "command.h"

enum { CLI_ROW_CAPACITY = 64 };

typedef struct cli_row_choice {
    const char *ids[CLI_ROW_CAPACITY];
    int count;
} cli_row_choice;

bool cli_row_is_wanted(const cli_row_choice *choice, const char *id);

// CLI_OK if every wanted id is among the names of the rows; otherwise CLI_USAGE with the first that
// is not, printed.
int cli_check_rows(const cli_command *command, const cli_row_choice *choice,
                   const char *const *names, int count);

#endif
