// One object, all models: the first body of a scene, or the one named, simulated by frames, by
// springs between them, by tets of several laws and by position dynamics (sinew/io/variant.h), each
// compared with the finest elements there are. ladder.c runs the models, result.c writes what came
// out.
#ifndef CLI_LADDER_LADDER_H
#define CLI_LADDER_LADDER_H

#include "command.h"

#include "sinew/io/variant.h"

enum { LADDER_CAPACITY = 48, LADDER_POINTS = 200, LADDER_RECORDS = 40 };

typedef struct ladder_result {
    const char *family; // a curve of the plot
    char name[80];
    int32_t unknowns;
    double error; // root mean square distance from the reference over all points and records, over
                  // its motion [-]
    double last_error; // the same at the end
    double seconds;    // median of a step
    double bytes;
    char note[200]; // why it is not available
    bool available;
} ladder_result;

typedef struct ladder {
    sinew_context *context;
    const char *scene_name, *body_name;
    sinew_variants *variants;
    double step; // [s]
    bool is_static;
    int32_t steps, every, record_count; // a record every so many steps, the last step among them
    int32_t point_count;
    double *rest;      // where the points are before the first step
    double *reference; // where the finest elements have them, record by record
    double *now;       // scratch: one record
    double motion;     // root mean square displacement of the reference [m]

    ladder_result results[LADDER_CAPACITY];
    int32_t count;
    void (*show)(const ladder_result *result); // called for each result; NULL: nothing
} ladder;

// Runs all models, the reference first. A model that cannot be built is kept with the reason.
// Returns CLI_OK, or another exit status with the message printed. `steps`: -1 for the scene's.
// Destroy in every case.
int ladder_run(ladder *l, const cli_command *command, sinew_scene *scene, int32_t body,
               int32_t steps);
void ladder_destroy(ladder *l);

// A line for each result; JSON; a page of Markdown and its plot of error over cost.
void ladder_print(const ladder_result *result);
sinew_status ladder_write_json(const ladder *l, sinew_bytes *out);
sinew_status ladder_write_pages(const ladder *l, const char *folder);

#endif
