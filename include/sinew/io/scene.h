// Scenes: JSON that describes a world, read, built and advanced. docs/scene.md lists what can
// stand in it; schema/scene.schema.json is for editors.
//
//   sinew_scene *scene;
//   sinew_scene_load(context, "bar.json", NULL, NULL, &scene);
//   sinew_scene_build(scene, NULL);
//   sinew_scene_step(scene, NULL);
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_SCENE_H
#define SINEW_IO_SCENE_H

#include "sinew/body.h"
#include "sinew/field.h"
#include "sinew/io/bytes.h"
#include "sinew/skeleton.h"
#include "sinew/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: a scene, and its world once it is built.
typedef struct sinew_scene sinew_scene;

/// All mistakes in a scene. The message of the context has only the first.
typedef struct sinew_scene_mistakes {
    /// Receives a line "file:line:column: path: message" for each of the first 100. May be NULL.
    sinew_bytes *text;
    /// Receives the number of mistakes. [count]
    int64_t count;
} sinew_scene_mistakes;

typedef struct sinew_scene_read_def {
    /// Changes to the scene before it is read, such as "bodies[0].material.young=2e5". Borrowed
    /// during the call. Default NULL.
    const char *const *settings;
    /// [count] Default 0.
    int32_t setting_count;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_scene_read_def;

SINEW_API sinew_scene_read_def sinew_default_scene_read_def(void);

/// Reads a scene. The files that it references are fetched from the source when it is built, so the
/// source's `fetch` must work until then. `def` and `mistakes` may be NULL.
SINEW_API sinew_status sinew_scene_read(sinew_context *context, const sinew_source *source,
                                        const sinew_scene_read_def *def,
                                        sinew_scene_mistakes *mistakes, sinew_scene **scene);
/// Reads a scene from a path. Names of files are relative to its folder.
SINEW_API sinew_status sinew_scene_load(sinew_context *context, const char *path,
                                        const sinew_scene_read_def *def,
                                        sinew_scene_mistakes *mistakes, sinew_scene **scene);
/// Destroys the scene and its world. NULL is allowed.
SINEW_API void sinew_scene_destroy(sinew_scene *scene);

/// The general settings of a scene.
typedef struct sinew_scene_info {
    const char *name;  ///< Of the source.
    const char *title; ///< NULL if it has none.
    double unit;       ///< Metres in its unit of length. [m]
    double step;       ///< [s]
    int32_t steps;     ///< Of a run. [count]
    bool is_static;    ///< Whether a run begins with a static solve.
    int32_t every;     ///< Steps from one output to the next. [count]
    int32_t material_count, attachment_count, skeleton_count; ///< [count]
} sinew_scene_info;

/// Texts are valid as long as the scene.
SINEW_API void sinew_scene_get_info(const sinew_scene *scene, sinew_scene_info *info);

/// Creates the world: reads the files, and creates meshes, bodies, supports, loads, attachments and
/// probes. Can be called once. `mistakes` may be NULL.
SINEW_API sinew_status sinew_scene_build(sinew_scene *scene, sinew_scene_mistakes *mistakes);

/// The world; NULL before the scene is built. Advance it with sinew_scene_step, so that supports
/// and loads follow their curves.
SINEW_API sinew_world *sinew_scene_get_world(const sinew_scene *scene);

/// Advances by one step of the scene. `report` may be NULL.
SINEW_API sinew_status sinew_scene_step(sinew_scene *scene, sinew_step_report *report);
/// Solves for the static equilibrium at the present time. `report` may be NULL.
SINEW_API sinew_status sinew_scene_solve_static(sinew_scene *scene, sinew_step_report *report);
/// Whether a skeleton has reached the end of a motion with `"end": "stop"`.
SINEW_API bool sinew_scene_has_ended(const sinew_scene *scene);
/// Continues from a snapshot of this scene's world (sinew_world_take_snapshot). If frames were
/// fading in or out then, only the scene object that is still in that fade, or left it last, can
/// continue; others need a checkpoint.
SINEW_API sinew_status sinew_scene_restore(sinew_scene *scene, const void *bytes, size_t size);

// Bodies, after the scene is built. Indices count from 0 in the order of the scene.

/// [count]
SINEW_API int32_t sinew_scene_get_body_count(const sinew_scene *scene);
/// The index of the body with this name, or -1.
SINEW_API int32_t sinew_scene_find_body(const sinew_scene *scene, const char *name);
/// The name of a body. Valid as long as the scene.
SINEW_API const char *sinew_scene_get_body_name(const sinew_scene *scene, int32_t index);
/// The body; NULL before the scene is built, or if there is none.
SINEW_API sinew_body *sinew_scene_get_body(const sinew_scene *scene, int32_t index);
/// The mesh that a body of elements was made of, at rest before its placement; NULL for bodies of
/// frames. Valid as long as the scene.
SINEW_API const sinew_mesh *sinew_scene_get_body_mesh(const sinew_scene *scene, int32_t index);
/// The field of its material axes, or NULL. Valid as long as the scene.
SINEW_API const sinew_field *sinew_scene_get_body_field(const sinew_scene *scene, int32_t index);
/// Description of a body of a scene.
typedef struct sinew_scene_body_info {
    const char *name;
    const char *model;      ///< A word of SINEW_WORDS_MODELS. Static text.
    sinew_volume volume;    ///< Of bodies of elements.
    int32_t material_count; ///< Materials that it names. [count] See sinew_scene_get_body_material.
    int32_t support_count;  ///< Entries of "fixed" and "scripted". [count]
    int32_t load_count;     ///< [count]
    int32_t voxel_count;    ///< Of frame bodies, once built. [count]
    int32_t held_frame_count; ///< Frames that are held completely or in part, once built. [count]
    int32_t frame_capacity;   ///< Largest number of frames during a run, once built; 0 for other
                              ///< bodies. [count]
} sinew_scene_body_info;

/// Texts are valid as long as the scene.
SINEW_API sinew_status sinew_scene_get_body_info(const sinew_scene *scene, int32_t index,
                                                 sinew_scene_body_info *info);
/// Material number `number` of a body as an index of the scene's materials, or -1 if there is none.
/// `label` receives the label of the elements made of it, or -1: all that have no other. It may be
/// NULL.
SINEW_API int32_t sinew_scene_get_body_material(const sinew_scene *scene, int32_t body,
                                                int32_t number, int32_t *label);
/// The name of one of the scene's materials, or NULL if there is none; valid as long as the scene.
/// `def` receives its constants; it may be NULL.
SINEW_API const char *sinew_scene_get_material(const sinew_scene *scene, int32_t index,
                                               sinew_material_def *def);

/// How its elements were bound to a skeleton; false if they were not.
SINEW_API bool sinew_scene_get_body_binding(const sinew_scene *scene, int32_t index,
                                            sinew_rig_report *report);

/// The surface that is drawn and written: its triangles with labels and rest positions. Valid as
/// long as the scene. NULL before it is built, or if there is no such body.
SINEW_API const sinew_mesh *sinew_scene_get_surface(const sinew_scene *scene, int32_t body);
/// The present positions of its points, three numbers each. [m] Valid until the next call for this
/// body.
SINEW_API const double *sinew_scene_compute_surface(sinew_scene *scene, int32_t body);

// Probes: material points that the scene names.

/// The values at a probe.
typedef struct sinew_probe_state {
    double position[3];        ///< [m]
    double displacement[3];    ///< From its initial position. [m]
    sinew_element_state state; ///< Strain and stress; the energy of bodies of frames is a density.
} sinew_probe_state;

/// [count]
SINEW_API int32_t sinew_scene_get_probe_count(const sinew_scene *scene);
/// The index of the probe with this name, or -1.
SINEW_API int32_t sinew_scene_find_probe(const sinew_scene *scene, const char *name);
/// Its name; valid as long as the scene.
SINEW_API const char *sinew_scene_get_probe_name(const sinew_scene *scene, int32_t index);
/// The index of its body, or -1 if there is no such probe. `point` receives its rest position [m];
/// it may be NULL.
SINEW_API int32_t sinew_scene_get_probe_body(const sinew_scene *scene, int32_t index,
                                             double point[3]);
/// The present values at a probe.
SINEW_API sinew_status sinew_scene_read_probe(sinew_scene *scene, int32_t index,
                                              sinew_probe_state *state);

// Loads: forces, tractions and pressures, counted over all bodies. A load is found by its "name".

/// Description of a load.
typedef struct sinew_scene_load_info {
    const char *name; ///< Or NULL.
    int32_t body;     ///< Index of its body.
    int32_t number;   ///< Its index among the loads of its body.
    const char *kind; ///< "force", "traction" or "pressure". Static text.
    double scale;     ///< The present value of its curve times the factor of
                      ///< sinew_scene_set_load_scale. [-]
} sinew_scene_load_info;

/// [count]
SINEW_API int32_t sinew_scene_get_load_count(const sinew_scene *scene);
/// The index of the load with this name, or -1.
SINEW_API int32_t sinew_scene_find_load(const sinew_scene *scene, const char *name);
/// Describes a load. Texts are valid as long as the scene.
SINEW_API sinew_status sinew_scene_get_load(const sinew_scene *scene, int32_t index,
                                            sinew_scene_load_info *info);
/// The loaded part of the rest surface [m^2], which is 0 for forces, and the present total force
/// [N]. Either pointer may be NULL.
SINEW_API sinew_status sinew_scene_compute_load(sinew_scene *scene, int32_t index, double *area,
                                                double force[3]);
/// Sets a factor on the load in addition to its curve, from the next step on. [-] Finite. Initially
/// 1; 0 switches it off.
SINEW_API sinew_status sinew_scene_set_load_scale(sinew_scene *scene, int32_t index, double scale);

// Supports: the entries of "fixed" and "scripted" of a body.

/// The reaction of a support.
typedef struct sinew_support_report {
    char name[32];    ///< The entry, "fixed[0]", "scripted[2]", or "other".
    double force[3];  ///< Force on the body. [N]
    double torque[3]; ///< Torque on the body about the origin of the world. [N m]
} sinew_support_report;

/// The reactions in the last step or static solve: one report for each of the body's supports and
/// one more, "other", for everything else that holds it, such as its skeleton or the frames' own
/// entries. `reports` receives support_count + 1 items. All are zero for bodies under position
/// dynamics.
SINEW_API sinew_status sinew_scene_compute_supports(sinew_scene *scene, int32_t body,
                                                    sinew_support_report *reports);

// Checkpoints: the state of a run, to be continued later.

/// The size of a checkpoint now. [byte] 0 before the scene is built.
SINEW_API size_t sinew_scene_get_checkpoint_size(const sinew_scene *scene);
/// Writes the state, with fingerprints of the scene (including `settings`) and of all files that it
/// references.
SINEW_API sinew_status sinew_scene_write_checkpoint(const sinew_scene *scene, sinew_bytes *out);
/// Restores a checkpoint; the run then continues bit for bit. Fails if the checkpoint is damaged,
/// or if its scene differs in anything but title, duration, output, preview and probes.
SINEW_API sinew_status sinew_scene_read_checkpoint(sinew_scene *scene, const sinew_source *source);

#ifdef __cplusplus
}
#endif

#endif
