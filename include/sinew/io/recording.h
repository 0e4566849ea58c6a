// A run of a scene in files: meshes with strain and stress for ParaView, animations for Blender and
// engines, tables of probes, pictures, and a summary. This is what `sinew run` writes.
//
//   sinew_recording *recording;
//   sinew_recording_create(scene, NULL, &recording);
//   sinew_recording_add(recording, NULL, false);
//   for (int i = 1; i <= 100; i++) {
//       sinew_scene_step(scene, &report);
//       sinew_recording_add(recording, &report, i == 100);
//   }
//   sinew_recording_finish(recording);
//   sinew_recording_destroy(recording);
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_RECORDING_H
#define SINEW_IO_RECORDING_H

#include "sinew/io/picture.h"
#include "sinew/io/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What is written; bit i stands for word i of SINEW_WORDS_FORMATS. NAME is that of a body.
enum {
    /// NAME_00000.vtu, ... and NAME.pvd; of frame bodies also NAME_frames; of bodies of elements
    /// with contact and a surface of their own also NAME_surface.
    SINEW_FORMAT_VTU = 1,
    SINEW_FORMAT_PLY = 2,  ///< NAME_00000.ply, ...: the surface.
    SINEW_FORMAT_OBJ = 4,  ///< NAME_00000.obj, ...: the surface.
    SINEW_FORMAT_GLB = 8,  ///< scene.glb: a node for each body, with a morph target for each image.
    SINEW_FORMAT_PC2 = 16, ///< NAME.pc2, a point cache, and NAME.obj, the mesh that it moves.
    SINEW_FORMAT_CSV = 32, ///< probes.csv and contact.csv: a row for each step.
    SINEW_FORMAT_PNG = 64, ///< preview.png: the motion at a glance.
    SINEW_FORMAT_SKIN = 128 ///< NAME_skin.glb: frame bodies as joints and weights.
};

/// Receives a file of a recording. The bytes are valid during the call. If it returns a status
/// other than SINEW_OK, the call of the recording fails with that status.
typedef sinew_status sinew_write_fn(void *user, const char *name, const void *data, size_t size);

typedef struct sinew_recording_def {
    /// The output folder, which is created if needed. Copied. Default "out".
    const char *folder;
    /// Receives the files instead of the folder, for programs without a file system or with their
    /// own way of writing. Default NULL.
    sinew_write_fn *write;
    void *write_user; ///< Handed to `write`.
    /// A sum of SINEW_FORMAT_... Default: the scene's.
    int32_t formats;
    /// Steps from one image to the next. [count] At least 1. Default: the scene's.
    int32_t every;
    /// Number of steps of the run, over which the pictures of the preview are distributed. [count]
    /// At least 0. Default: the scene's.
    int32_t steps;
    /// Largest number of joints at a point of a skin: 4 or 8. Default: the scene's.
    int32_t skin_joints;
    /// Whether to write film_00000.png, ..., a picture of each image. Default false.
    bool film;

    /// What the colours of the pictures show. This and the following fields default to the scene's
    /// settings.
    sinew_scene_color color;
    /// Largest value of the colour scale. At least 0; 0 means the largest value of the run.
    double largest;
    /// Number of pictures in the preview. [count] In [1, 100].
    int32_t pictures;
    /// Size of each of them; pictures of a film are twice as large. [pixel] In [16, 4096].
    int32_t width, height;
    /// Direction from the centre of the scene towards the camera. [-] A unit vector.
    double direction[3];
    bool ground;   ///< Whether to draw the floor of the scene's contact, with shadows.
    bool ghost;    ///< Whether to draw the initial state transparently in the other pictures.
    bool field;    ///< Whether to draw the material axes of bodies with a field.
    bool frames;   ///< Whether to draw the frames of frame bodies.
    bool contacts; ///< Whether to draw dots where contact forces act.
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_recording_def;

/// The output and preview settings of the scene.
SINEW_API sinew_recording_def sinew_default_recording_def(const sinew_scene *scene);

/// Opaque: files that are being written. Destroy it before its scene.
typedef struct sinew_recording sinew_recording;

/// Begins a recording of a scene that is built, and writes the fields of material axes that its
/// curves made (NAME.field). `def` may be NULL.
SINEW_API sinew_status sinew_recording_create(sinew_scene *scene, const sinew_recording_def *def,
                                              sinew_recording **recording);
/// NULL is allowed. Files that were written stay.
SINEW_API void sinew_recording_destroy(sinew_recording *recording);

/// Records the present state. Call it at the start and after each step. It adds a row to the table
/// of probes and, at every `every`-th step and at the `last` one, writes an image. `report` is the
/// report of the step, for the summary; NULL at the start.
SINEW_API sinew_status sinew_recording_add(sinew_recording *recording,
                                           const sinew_step_report *report, bool last);
/// Notes the report of a static solve for the summary.
SINEW_API void sinew_recording_note_static(sinew_recording *recording,
                                           const sinew_step_report *report);
/// Writes the files that need the whole run: animations, tables and the preview. All files are
/// attempted, and the first failure is returned. Images that could not be written are omitted.
SINEW_API sinew_status sinew_recording_finish(sinew_recording *recording);

/// Adds a summary as JSON: energies, momenta, iterations, seconds, probes, loads, supports,
/// contact, and how models were made. `outcome` is "completed", "stopped", ...; `reason` says why,
/// or is NULL.
SINEW_API sinew_status sinew_recording_write_summary(const sinew_recording *recording,
                                                     const char *outcome, const char *reason,
                                                     sinew_bytes *out);

/// What contact did over a run: extremes and counts of the reports of its steps.
typedef struct sinew_recorded_contact {
    bool on;                  ///< The scene has contact.
    int64_t touching_count;   ///< Steps in which a force acted. [count]
    int64_t truncated_count;  ///< Steps in which a vertex stopped short. [count]
    int64_t held_count;       ///< Steps in which a pair had no proof of separation. [count]
    int32_t most_pairs;       ///< In a step. [count]
    int32_t most_active;      ///< In a step. [count]
    int32_t most_solves;      ///< In a step. [count]
    int32_t most_overlapping; ///< Pairs of bodies that intersected. [count]
    int32_t most_overlaps;    ///< In a step. [count]
    double deepest;           ///< Overlap. [m]
    double smallest_gap;      ///< INFINITY if nothing came near. [m]
    double largest_lag;       ///< [m]
    double largest_force;     ///< Of a pair. [N]
} sinew_recorded_contact;

/// What was recorded so far.
typedef struct sinew_recording_info {
    int32_t image_count;       ///< Images of which all files are written. [count]
    int64_t last_image;        ///< The step of the last of them, from 0; -1: there is none.
    int64_t step_count;        ///< Steps with a report. [count]
    int64_t unconverged_count; ///< Of these, steps that did not converge fully. [count]
    int64_t rescued_count;     ///< ... and that were found in smaller parts. [count]
    double largest_residual;   ///< sinew_world_compute_residual, at every 16th step. [-]
    double simulate_seconds;   ///< Spent in steps. [s]
    double output_seconds;     ///< Spent in the recording. [s]
    bool pictureless;          ///< The preview was requested, but the build has no libpng.
    sinew_recorded_contact contact;
} sinew_recording_info;

/// Describes the recording so far.
SINEW_API void sinew_recording_get_info(const sinew_recording *recording,
                                        sinew_recording_info *info);

/// What a skin lost. Lengths are the largest distance, over all points and images, between what was
/// simulated and what the file replays.
typedef struct sinew_recorded_skin {
    int32_t joint_count;     ///< Frames of the body. [count]
    double fit_error;        ///< Of the joints' poses alone, with all weights. [m]
    double largest_error;    ///< Of the file. [m]
    double errors[2];        ///< Of files with 4 and with 8 joints at a point. [m]
    double truncated_weight; ///< Largest sum of weights that a point lost. [-]
} sinew_recorded_skin;

/// How the skin of a body came out, after sinew_recording_finish; false if it has none.
SINEW_API bool sinew_recording_get_skin(const sinew_recording *recording, int32_t body,
                                        sinew_recorded_skin *skin);

#ifdef __cplusplus
}
#endif

#endif
