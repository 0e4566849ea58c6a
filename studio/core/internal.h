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

enum { STUDIO_FILES = 64, STUDIO_SOLIDS = 64, STUDIO_CURVES = 64 };

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
    int32_t body, number, label;
    const char *name;
    sinew_material_def def;
} studio_material;

// Arrays of floats that grow.
typedef struct studio_floats {
    float *values;
    size_t capacity;
} studio_floats;

// Material points and where they are now. A tag says what a point stands for: the body, the axis of
// a field, or a sample.
typedef struct studio_points {
    sinew_point **points;
    int32_t *tags;
    int32_t count, capacity;
    studio_floats positions;
} studio_points;

// The field that a person draws, with the curves it is made of.
typedef struct studio_grain {
    sinew_field *field; // NULL: that of the scene
    int32_t body;
    sinew_field_kind kind;
    sinew_curve_def curves[STUDIO_CURVES];
    int32_t count;
} studio_grain;

// Files that are being written.
typedef struct studio_export {
    sinew_recording *recording;
    studio_file files[STUDIO_FILES];
    int32_t count;
} studio_export;

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

    studio_grain grain;
    studio_export exported;

    // What is drawn.
    int32_t vertex_count;
    studio_floats positions, values, tints, frames, contacts, obstacles;
    studio_points points[STUDIO_POINT_SETS];
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

// A file that was added, or NULL.
studio_file *studio_find_file(studio *s, const char *name);

// Material number `number` of a body, or NULL.
studio_material *studio_find_material(const studio *s, int32_t body, int32_t number);

// Counts the vertices again after bodies came or went.
void studio_count_vertices(studio *s);

// Moves the state of the bodies of one scene into those of the same name of another.
void studio_carry_state(const sinew_scene *before, const sinew_scene *after);

// The field of a body: the one that is drawn, or that of the scene; NULL if it has none.
const sinew_field *studio_get_field(const studio *s, int32_t body);
void studio_drop_field(studio *s);

// Forgets all points, before their bodies go; frees their arrays.
void studio_clear_points(studio *s);
void studio_free_points(studio *s);

// Forgets the files that were being written.
void studio_stop_export(studio *s);

// Red, green and blue of the vertices of a body, by its weights or its labels.
void studio_tint(sinew_body *body, studio_color color, float *tints);

#endif
