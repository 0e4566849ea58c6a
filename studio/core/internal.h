// What the files of the studio's core share.
#ifndef STUDIO_INTERNAL_H
#define STUDIO_INTERNAL_H

#include "studio.h"

#include "sinew/io.h"

// Names that JavaScript calls must survive the linker.
#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#define STUDIO_API EMSCRIPTEN_KEEPALIVE
#else
#define STUDIO_API
#endif

enum { STUDIO_FILES = 64, STUDIO_SOLIDS = 64 };

typedef struct studio_file {
    char *name;
    void *data;
    size_t size;
} studio_file;

// The spring by which a body is held, and how to make the same one again.
typedef struct studio_hand {
    sinew_attachment *attachment; // NULL: nothing is held
    sinew_attachment_def def;
    int32_t body;
} studio_hand;

// A material as a body has it now.
typedef struct studio_material {
    int32_t body, number;
    const char *name;
    sinew_material_def def;
} studio_material;

// Arrays of floats that grow.
typedef struct studio_floats {
    float *values;
    size_t capacity;
} studio_floats;

struct studio {
    sinew_context *context;
    studio_file files[STUDIO_FILES];
    int32_t file_count;
    char missing[256];

    sinew_scene *scene;
    sinew_world *world;
    sinew_step_report report;
    sinew_obstacle *floor;             // the one that a person added
    sinew_body *solids[STUDIO_SOLIDS]; // the ones that a person dropped
    int32_t solid_count;
    studio_material *materials;
    int32_t material_count;
    studio_hand hand;
    double hand_state[10];

    // What is drawn.
    int32_t vertex_count;
    studio_floats positions, values, frames, contacts, obstacles;
    double *scratch; // four numbers for each vertex of the largest body
    sinew_element_state *states;
    size_t scratch_count;

    sinew_bytes *text; // of the last description or report
    char message[1024];
};

// Keeps the message of the context, or another one; returns the status.
int32_t studio_keep_message(studio *s, sinew_status status);
int32_t studio_fail(studio *s, const char *message);

// Room for `count` values; false if memory is short.
bool studio_reserve(studio_floats *floats, size_t count);

// Material number `number` of a body, or NULL.
studio_material *studio_find_material(const studio *s, int32_t body, int32_t number);

// Counts the vertices again after bodies came or went.
void studio_count_vertices(studio *s);

#endif
