// A progress bar on standard error: rate, time left, steps, solver iterations. Silent when that is
// no terminal, or in the first second. Work in one piece, whose length nobody knows beforehand,
// shows what it does and since when.
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <pthread.h>
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

// A line that a thread of its own keeps up to date. Must stay where it is until it ends; messages
// are printed after that. Work that begins while other work is shown is not shown itself.
typedef struct cli_activity {
    bool enabled;
    double begin; // [s]
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    const char *what;
    bool ended; // guarded by the mutex
} cli_activity;

void cli_activity_silence(void); // from now on nothing is shown
void cli_activity_begin(cli_activity *activity, const char *what);
void cli_activity_end(cli_activity *activity);

#endif
