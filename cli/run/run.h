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
    double step;               // [s]
    int32_t static_iterations; // of a static solve that converged; 0: none did
    double static_residual;    // what it left, relative to the largest force
    bool quiet;
} run_state;

// Prints how the run ended, what loads and supports add up to, and what is in the folder.
void run_print_closing(const run_state *run, const char *outcome);

// The film: what became of joining its pictures into one file.
typedef enum run_film_outcome {
    RUN_FILM_WRITTEN,
    RUN_FILM_NO_FFMPEG, // the pictures remain
    RUN_FILM_FAILED,
} run_film_outcome;

// Whether a film can have this ending: .png (animated), .gif, .mp4.
bool run_is_film(const char *path);

// Makes the film from the numbered pictures in the folder, which it replaces.
run_film_outcome run_make_film(const run_state *run, const char *path);

#endif
