// Label volumes in files: a grid of labels with its position in space.
//
// Read : NIfTI-1 and -2 (.nii, .nii.gz, .hdr with .img), NRRD (.nrrd, .nhdr), MetaImage (.mha,
// .mhd). Write: NRRD and NIfTI-1. Coordinates are those of NIfTI: x to the right, y to the front, z
// up. Axes that run backwards or in another order are put right; a grid that stands askew keeps its
// own axes.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_VOLUME_FILE_H
#define SINEW_IO_VOLUME_FILE_H

#include "sinew/io/bytes.h"
#include "sinew/voxel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: a label volume that was read.
typedef struct sinew_volume_file sinew_volume_file;

typedef struct sinew_volume_read_def {
    /// The unit of the file in metres. [m] At least 0; 0 means the unit in the header, and a header
    /// without one is an error. Default 0.
    double unit;
    /// Largest memory for the volume. [byte] 0 means 4 GiB, or half of a smaller address space.
    /// Default 0.
    size_t memory_limit;
    /// The numbers are an image instead of labels: cells from `threshold` on get the label 1, those
    /// below it 0. Default false.
    bool use_threshold;
    /// In the unit of the numbers. Finite. Default 0.
    double threshold;
    /// The numbers are a map, such as a stiffness, for sinew_volume_file_sample; there are no
    /// labels. Default false.
    bool use_values;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_volume_read_def;

SINEW_API sinew_volume_read_def sinew_default_volume_read_def(void);

/// Reads a label volume. Fails on an image, whose numbers are not whole or hardly ever equal to
/// their neighbours', with a threshold that would make a solid of it. `def` may be NULL.
SINEW_API sinew_status sinew_volume_file_read(sinew_context *context, const sinew_source *source,
                                              const sinew_volume_read_def *def,
                                              sinew_volume_file **file);
/// Reads it from a path.
SINEW_API sinew_status sinew_volume_file_load(sinew_context *context, const char *path,
                                              const sinew_volume_read_def *def,
                                              sinew_volume_file **file);
/// NULL is allowed.
SINEW_API void sinew_volume_file_destroy(sinew_volume_file *file);

/// Whether a source looks like a volume, by its first bytes and its name.
SINEW_API bool sinew_volume_file_detect(const sinew_source *source);

/// "NIfTI", "NRRD", ... Static text.
SINEW_API const char *sinew_volume_file_get_format(const sinew_volume_file *file);
/// The labels, for sinew_voxels_create_from_labels; valid as long as the file.
SINEW_API const sinew_label_grid *sinew_volume_file_get_grid(const sinew_volume_file *file);
/// The directions of the grid's x, y and z in the world, three numbers each. Returns whether they
/// differ from the world's own.
SINEW_API bool sinew_volume_file_get_axes(const sinew_volume_file *file, double axes[9]);

/// Samples a map that was read with `use_values` at the centres of voxels: linear between the
/// centres of its cells, constant in the outer half of the outermost ones. `values` takes one
/// number per voxel. Fails where the map is not above 0 inside the solid or does not cover it, and
/// if its axes are not those of the world.
SINEW_API sinew_status sinew_volume_file_sample(const sinew_volume_file *file,
                                                const sinew_voxels *voxels, double *values);

/// The length in metres of a unit with this name ("mm", "micron", ...), or 0 if it is unknown.
SINEW_API double sinew_unit_find(const char *name);

/// Writes a grid, in millimetres, as NRRD (.nrrd) or NIfTI-1 (.nii). Flipped axes are refused.
SINEW_API sinew_status sinew_volume_write(sinew_context *context, const sinew_label_grid *grid,
                                          const char *name, sinew_bytes *out);
/// Writes it to a file.
SINEW_API sinew_status sinew_volume_save(sinew_context *context, const sinew_label_grid *grid,
                                         const char *path);

/// Writes the labels of voxels, in the same formats.
SINEW_API sinew_status sinew_voxels_write(sinew_context *context, const sinew_voxels *voxels,
                                          const char *name, sinew_bytes *out);
/// Writes them to a file.
SINEW_API sinew_status sinew_voxels_save(sinew_context *context, const sinew_voxels *voxels,
                                         const char *path);

/// Writes a map with one number per voxel, 0 outside the solid, as NRRD.
SINEW_API sinew_status sinew_voxels_write_values(sinew_context *context, const sinew_voxels *voxels,
                                                 const double *values, sinew_bytes *out);

#ifdef __cplusplus
}
#endif

#endif
