// A progress bar on standard error: rate, time left, steps, solver iterations. Silent when that is no terminal, or in the
// first second.
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cli_progress {
    bool enabled;
    int64_t total;
    double begin, last; // [s]
    bool shown;
} cli_progress;

cli_progress cli_progress_begin(int64_t total, bool quiet);
void cli_progress_show(cli_progress *progress, int64_t done, const char *note);
void cli_progress_end(cli_progress *progress);

#endif
