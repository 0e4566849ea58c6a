// sinew run, in parts: cli/command_run.c simulates and writes; print.c says what came of it.
#ifndef CLI_RUN_RUN_H
#define CLI_RUN_RUN_H

#include "sinew/io/recording.h"

// A run that is under way.
typedef struct run_state {
    sinew_context *context;
    sinew_scene *scene;
    sinew_recording *recording;
    sinew_recording_def def;
    double step; // [s]
    bool quiet;
} run_state;

// Prints how the run ended, what loads and supports add up to, and what is in the folder.
void run_print_closing(const run_state *run, const char *outcome);

#endif
