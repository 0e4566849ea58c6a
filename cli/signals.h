// Ctrl-C and its relatives. A signal ends the program at once, after removing the file that is half
// written, unless the program is in a part that it finishes first.
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

// Handles SIGINT, SIGTERM and SIGHUP from now on. A write beyond the limit on file sizes becomes an
// error like any other instead of a signal.
void cli_signals_begin(void);

// Between these two a first signal only asks for a stop (cli_stop_signal); a second one ends the
// program.
void cli_signals_hold(void);
void cli_signals_release(void);

// The signal that has asked for a stop, or 0.
int cli_stop_signal(void);

#endif
