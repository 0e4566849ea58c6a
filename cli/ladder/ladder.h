// One object, all models: the first body of a scene, or the one named, moved by frames, by springs
// between them, by tets of several laws and by position dynamics, each compared with the finest
// elements there are.
//
// Every model is a rung: something that steps and reports where the object's points are. Rungs live
// in files of their own (elements.c, frames.c, positions.c); ladder.c runs them, result.c writes
// what came out.
#ifndef CLI_LADDER_LADDER_H
#define CLI_LADDER_LADDER_H

#include "scene_file.h"

#include "io/public/scene.h"
#include "math/quat.h"

enum { LADDER_CAPACITY = 48, LADDER_POINTS = 200, LADDER_RECORDS = 40 };

// What all rungs share.
typedef struct ladder_object {
    sinew_context *context;
    sn_arena arena;
    sn_scene scene; // the file's scene with one body
    sn_scene_body body;
    cli_scene_file *file;
    sn_mistakes mistakes;
    sn_scene_world *given; // the body as the scene has it: its mesh, what is held and loaded
    sn_quat rotation;      // of the body's own coordinates into the world
    sn_vec3 position;
    int32_t steps, every, record_count; // a record every so many steps, the last step among them
    int32_t point_count;
    double *points;    // rest positions in the body's own coordinates
    double *reference; // where the finest elements have them, record by record
    double *now;       // scratch: one record
    double motion;     // root mean square displacement of the reference [m]
} ladder_object;

// A model of the object that runs.
typedef struct ladder_rung {
    void *self;
    sinew_status (*step)(void *self, double time); // to `time`; time 0: to the static equilibrium
    sinew_status (*read)(void *self, double *points);
    void (*destroy)(void *self);
    int32_t unknowns;
} ladder_rung;

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
    ladder_object object;
    ladder_result results[LADDER_CAPACITY];
    int32_t count;
    void (*tell)(const ladder_result *result); // NULL: nobody listens
} ladder;

// Builds the object and runs all rungs, the reference first. A rung that cannot be built is kept
// with the reason. `file` was opened without mistakes. Destroy in every case.
sinew_status ladder_run(ladder *l, sinew_context *context, cli_scene_file *file, int32_t body,
                        int32_t steps);
void ladder_destroy(ladder *l);

// Elements of the scene's mesh, or finer and coarser ones.
typedef struct ladder_elements_def {
    double refine; // cells along an edge, relative to the scene's
    bool quadratic;
    sinew_model model;
    const char *law; // NULL: the scene's
} ladder_elements_def;
sinew_status ladder_elements_create(ladder_object *object, const ladder_elements_def *def,
                                    ladder_rung *rung);
// Elements of the reference, as many as can be borne.
double ladder_reference_refinement(const ladder_object *object);

// With `springs` the strain between frames is stored once in joint springs instead of being
// integrated in every step.
sinew_status ladder_frames_create(ladder_object *object, sinew_node_kind kind, int32_t count,
                                  bool springs, ladder_rung *rung);
sinew_status ladder_positions_create(ladder_object *object, int32_t iterations, ladder_rung *rung);

// For models that run in the body's own coordinates: the scene's vectors there, and points back in
// the world.
sn_vec3 ladder_to_body(const ladder_object *object, const double vector[3]);
void ladder_to_world(const ladder_object *object, double *points, int32_t count);
// SINEW_UNSUPPORTED for loads other than forces, partly held nodes, and laws without Young's
// modulus and Poisson's ratio.
sinew_status ladder_check_plain(const ladder_object *object);

// A line for each result; JSON; a page of Markdown and its plot of error over cost.
void ladder_print(const ladder_result *result);
void ladder_write_json(const ladder *l, sn_buffer *out);
sinew_status ladder_write_pages(const ladder *l, const char *folder);

#endif
