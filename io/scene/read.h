// Reading scenes: JSON to structures, every mistake noted with its place.
#ifndef SN_IO_SCENE_READ_H
#define SN_IO_SCENE_READ_H

#include "io/text/json_check.h"
#include "io/text/mistakes.h"
#include "io/scene/scene.h"
#include "io/scene/words.h"

// Reads a scene. `settings` are assignments such as "bodies[0].material.young=2e5", applied before.
// Mistakes go to `mistakes`; with SINEW_INVALID_DATA the scene must not be built. The scene must be
// destroyed in every case.
sinew_status sn_scene_read(sinew_context *context, const char *name, const void *text, size_t size,
                           const char *const *settings, int32_t setting_count,
                           sn_mistakes *mistakes, sn_scene *scene);
void sn_scene_destroy(sn_scene *scene);

// What the readers of the sections share.
typedef struct sn_scene_reader {
    sn_scene *scene;
    sn_mistakes *mistakes;
} sn_scene_reader;

// A list of known keys, and its length.
#define SN_KEYS(...)                                                                               \
    (const char *const[]){__VA_ARGS__},                                                            \
        (int32_t)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *))

// Is it an object with only these keys? NULL counts as no.
bool sn_scene_check_object(const sn_scene_reader *reader, const sn_json *json,
                           const char *const *keys, int32_t count);

// Zeroed memory that lives as long as the scene, or NULL (a sticky failure that the top level
// reports).
void *sn_scene_push(const sn_scene_reader *reader, int32_t count, size_t size);

// A name of a body or a probe, if there is one; `name` is left alone otherwise.
void sn_scene_read_name(const sn_scene_reader *reader, const sn_json *json, const char **name);

// A length, position or vector of lengths, in the scene's unit; out in metres.
bool sn_scene_read_length(const sn_scene_reader *reader, const sn_json *json, double *out);
bool sn_scene_read_lengths(const sn_scene_reader *reader, const sn_json *json, double out[3]);

// A direction: three numbers, not all zero; out has length 1.
bool sn_scene_read_direction(const sn_scene_reader *reader, const sn_json *json, double out[3]);

// {"axis": [x, y, z], "degrees": 30} or [x, y, z, w]: a quaternion.
bool sn_scene_read_rotation(const sn_scene_reader *reader, const sn_json *json, double out[4]);

// 3, or {"keys": [[0, 1], [2, 5]], "smooth": true}, or {"sine": 2, "period": 1}; every value times
// `unit`.
void sn_scene_read_curve(const sn_scene_reader *reader, const sn_json *json, double unit,
                         sn_curve *curve);

void sn_scene_read_select(const sn_scene_reader *reader, const sn_json *json, sn_select *select);

// The names of materials, and a material that stands where a name could: its index in the scene's
// list, or -1.
void sn_scene_read_materials(sn_scene_reader *reader, const sn_json *json);
int32_t sn_scene_read_material(sn_scene_reader *reader, const sn_json *json);

void sn_scene_read_shape(const sn_scene_reader *reader, const sn_json *json, sn_scene_shape *shape);
// Notes a mistake at "shape" of `json` unless it is a closed surface, which `what` must be.
void sn_scene_check_closed(const sn_scene_reader *reader, const sn_json *json, const char *what,
                           const sn_scene_shape *shape);
// What makes a shape a solid of several tissues; shape->generated is cleared if nothing else is to
// be made.
void sn_scene_read_maps(const sn_scene_reader *reader, const sn_json *json, sn_scene_shape *shape);
void sn_scene_read_bodies(sn_scene_reader *reader, const sn_json *json);
void sn_scene_read_solids(const sn_scene_reader *reader, const sn_json *json,
                          sn_scene_shape *shape);
// The label that stands as a key, e.g. "2"; anything else is a mistake.
bool sn_scene_read_label(const sn_scene_reader *reader, const sn_json *item, int32_t *label);
// The section "frames", which belongs to bodies of that model only.
void sn_scene_read_frames(sn_scene_reader *reader, const sn_json *body_json, bool wanted,
                          sn_scene_body *body);
// The section "field": where the axes of anisotropic materials point.
void sn_scene_read_field(const sn_scene_reader *reader, const sn_json *json, sn_scene_body *body);
void sn_scene_read_motion(const sn_scene_reader *reader, const sn_json *json,
                          sn_scene_motion *motion);
void sn_scene_read_supports(const sn_scene_reader *reader, const sn_json *body_json,
                            sn_scene_body *body);
void sn_scene_read_loads(const sn_scene_reader *reader, const sn_json *json, sn_scene_body *body);

// "skeletons": {"name": {...}}, before the bodies. What a body says of its skeleton, of position
// dynamics, and of a character as its shape.
void sn_scene_read_skeletons(sn_scene_reader *reader, const sn_json *json);
void sn_scene_read_binding(const sn_scene_reader *reader, const sn_json *body_json,
                           sn_scene_body *body);
void sn_scene_read_reduced(const sn_scene_reader *reader, const sn_json *body_json, bool elastic,
                           sn_scene_body *body);
void sn_scene_read_positions(const sn_scene_reader *reader, const sn_json *json,
                             sn_scene_body *body);
void sn_scene_read_character(const sn_scene_reader *reader, const sn_json *word,
                             sn_character_def *def);

// The word for a linear solver.
void sn_scene_read_solver(const sn_scene_reader *reader, const sn_json *json, sinew_solver *solver);

// A word (m, cm, mm, in, ft) or a number of metres.
void sn_scene_read_unit(const sn_scene_reader *reader, const sn_json *json, double *metres);

// "rigid" of a body, which is `used` by its model, after its shape; and "joints".
void sn_scene_read_rigid(sn_scene_reader *reader, const sn_json *body_json, bool used,
                         sn_scene_body *body);
void sn_scene_read_joints(sn_scene_reader *reader, const sn_json *json);

// "glue", once the bodies are known.
void sn_scene_read_glue(sn_scene_reader *reader, const sn_json *json);

// "contact" and "obstacles", after gravity is known; and "contact" of a body.
void sn_scene_read_contact(sn_scene_reader *reader, const sn_json *json, const sn_json *list);
void sn_scene_read_body_contact(const sn_scene_reader *reader, const sn_json *json,
                                sn_scene_body *body);

// "pairs" of contact: the table of friction. Bodies and obstacles receive the numbers of their
// materials.
void sn_scene_read_pairs(sn_scene_reader *reader, const sn_json *json, sn_scene_body *bodies,
                         sn_scene_obstacle *obstacles);
// A colour as "#rrggbb".
bool sn_scene_read_color(const sn_scene_reader *reader, const sn_json *json, uint32_t *color);

// The index of the body that a string names, or -1 with a mistake.
int32_t sn_scene_find_body(const sn_scene_reader *reader, const sn_json *json);

#endif
