// What `sinew rig` reads and writes around sinew_autorig_create: a table of tissues in; a scene, a
// skin and a picture of the model out.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_RIG_FILE_H
#define SINEW_IO_RIG_FILE_H

#include "sinew/autorig.h"
#include "sinew/io/bytes.h"
#include "sinew/io/picture.h"
#include "sinew/io/scene.h"
#include "sinew/io/specimen.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: what the labels of a solid stand for, each with a name.
typedef struct sinew_tissue_table sinew_tissue_table;

/// Reads a table: JSON in which a label, a range of labels, or all others ("default") have a name,
/// a material as in scenes, and whether they are rigid. Ranges and the default stand for the labels
/// that `voxels` has; NULL: for none. `mistakes` may be NULL.
///   {"1": {"name": "muscle", "material": {"young": 6e4, "poisson": 0.45}},
///    "2-27": {"name": "bone", "material": {"preset": "bone"}, "rigid": true},
///    "default": {"name": "fat", "material": {"young": 1.2e4}}}
SINEW_API sinew_status sinew_tissue_table_read(sinew_context *context, const sinew_source *source,
                                               const sinew_voxels *voxels,
                                               sinew_scene_mistakes *mistakes,
                                               sinew_tissue_table **table);
/// The table of a specimen.
SINEW_API sinew_status sinew_tissue_table_create_specimen(sinew_context *context,
                                                          sinew_specimen specimen,
                                                          sinew_tissue_table **table);
/// NULL is allowed.
SINEW_API void sinew_tissue_table_destroy(sinew_tissue_table *table);

/// The tissues, for sinew_autorig_def; `count` receives their number. Valid as long as the table.
SINEW_API const sinew_autorig_tissue *sinew_tissue_table_get(const sinew_tissue_table *table,
                                                             int32_t *count);
/// The name of a tissue, or NULL if the index is out of range. Valid as long as the table.
SINEW_API const char *sinew_tissue_table_get_name(const sinew_tissue_table *table, int32_t index);

/// A model and what it was made of.
typedef struct sinew_rig_file_def {
    /// Name of the body. Default "body".
    const char *name;
    /// The model as sinew_autorig_create made it, at rest. Required.
    sinew_body *body;
    /// The definition it was made from, with `voxels`, and with `surface` if the model has its own.
    /// Borrowed during the call. Required.
    const sinew_autorig_def *autorig;
    /// The report of sinew_autorig_create. Borrowed during the call. Required.
    const sinew_autorig_report *report;
    /// Default NULL: one soft material.
    const sinew_tissue_table *tissues;
    /// The specimen that the voxels were generated from, and the requested number of voxels. The
    /// scene then generates it again, because a grid of labels cannot represent its stiffness.
    /// Default NULL: none.
    const char *specimen;
    int32_t specimen_voxels; ///< [count] Default 0.
    /// Names of the volumes of stiffness and density that the scene references
    /// (sinew_voxels_write_values). Default NULL: the tissues have constants.
    const char *stiffness, *density;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_rig_file_def;

/// A definition with every field at its default.
SINEW_API sinew_rig_file_def sinew_default_rig_file_def(void);

/// Writes a scene with the frames at their positions; the first frame of each part is held. It
/// references labels.nrrd (sinew_voxels_write) and, if the model has its own surface, surface.ply
/// (sinew_mesh_write) in the same folder.
SINEW_API sinew_status sinew_rig_write_scene(sinew_context *context, const sinew_rig_file_def *def,
                                             sinew_bytes *out);
/// Writes the surface as .glb with frames as joints and shape functions as weights, eight at a
/// point, at rest: for animators who do not simulate. `largest_loss` receives the largest sum of
/// weights that a point lost; it may be NULL. [-]
SINEW_API sinew_status sinew_rig_write_skin(sinew_context *context, const sinew_rig_file_def *def,
                                            sinew_bytes *out, double *largest_loss);
/// Draws the model three times: coloured by tissue (cut open where tissues are hidden inside
/// others), by the weights of its frames, and by the regions of its samples.
SINEW_API sinew_status sinew_rig_render(sinew_context *context, const sinew_rig_file_def *def,
                                        sinew_picture **picture);

#ifdef __cplusplus
}
#endif

#endif
