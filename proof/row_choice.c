// Checks and applies the choice of rows from the command line.
#include "row_choice.h"

#include <string.h>

bool cli_row_is_wanted(const cli_row_choice *choice, const char *id) {
    for (int i = 0; i < choice->count; i++) {
        if (strcmp(choice->ids[i], id) == 0) {
            return true;
        }
    }
    return choice->count == 0;
}

int cli_check_rows(const cli_command *command, const cli_row_choice *choice,
                   const char *const *names, int count) {
    for (int i = 0; i < choice->count; i++) {
        bool known = false;
        for (int j = 0; j < count; j++) {
            known |= strcmp(names[j], choice->ids[i]) == 0;
        }

        if (!known) {
            return cli_fail(command, CLI_USAGE, "there is no row '%s'%s", choice->ids[i],
                            cli_did_you_mean(choice->ids[i], names, count));
        }
    }

    return CLI_OK;
}
