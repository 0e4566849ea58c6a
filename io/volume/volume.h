// Label volumes in files: a grid of labels and its position in space, oriented so that its axes run
// along x, y and z.
//
//   read   NIfTI-1 and -2   .nii, .nii.gz, .hdr with .img
//          NRRD             .nrrd, .nhdr with its data; raw, gzip or text
//          MetaImage        .mha, or .mhd with its raw file; raw or compressed
//   write  NRRD and NIfTI-1
//
// Lengths are converted to metres with the unit in the header; a header without a unit is an error
// unless the caller specifies one. Coordinates are those of NIfTI: x to the right, y to the front,
// z up; NRRD files with other conventions are converted. Axes that run backwards or in another
// order are corrected. A grid that is not aligned with the world keeps its own axes, and the
// remaining rotation is reported. Labels are whole numbers from 0 to 65535, even if a file stores
// them as floating-point numbers. Images are refused, or made into a solid by a threshold.
#ifndef SN_IO_VOLUME_VOLUME_H
#define SN_IO_VOLUME_VOLUME_H

#include "sinew/voxel.h"

#include "io/bytes/buffer.h"
#include "io/bytes/source.h"
#include "io/text/text.h"

typedef enum sn_volume_format {
    SN_VOLUME_UNKNOWN,
    SN_VOLUME_NIFTI,
    SN_VOLUME_NRRD,
    SN_VOLUME_META
} sn_volume_format;

typedef struct sn_volume_options {
    double unit;         // metres per unit of the file; 0: as in the header
    size_t memory_limit; // bytes; 0: 4 GiB, or half of a smaller address space
    bool use_threshold;  // the numbers are no labels: cells from `threshold` on get the label 1
    double threshold;
    bool use_values; // the numbers are a map, such as a stiffness; there are no labels
} sn_volume_options;

typedef struct sn_volume_file {
    sinew_label_grid grid; // labels16 is set; exists as long as the file
    double axes[9];        // directions of the grid's x, y and z in the world: world = axes * grid
    bool askew;            // the axes are not those of the world
    sn_volume_format format;
    int32_t largest_label;
    int64_t inside_count; // cells whose label is not 0
    sn_buffer labels;     // or values
    const double *values; // of the cells, x fastest, if they were requested
} sn_volume_file;

const char *sn_volume_format_name(sn_volume_format format);

// Detects the format by magic words, then by the extension.
sn_volume_format sn_volume_detect(const sn_source *source);

// `options` may be NULL. The file must be destroyed in every case.
sinew_status sn_volume_read(sinew_context *context, const sn_source *source,
                            const sn_volume_options *options, sn_volume_file *file);
void sn_volume_file_destroy(sn_volume_file *file);

// Writes a grid in millimetres, the usual unit of these formats. labels8 or labels16 may be set;
// axes must not be flipped.
sinew_status sn_write_nrrd(const sinew_label_grid *grid, sn_buffer *out);
sinew_status sn_write_nrrd_values(const sinew_label_grid *grid, const double *values,
                                  sn_buffer *out);
sinew_status sn_write_nifti(const sinew_label_grid *grid, sn_buffer *out);

// The labels of all cells of voxels as a grid, in `arena`; NULL if memory is short.
uint16_t *sn_voxels_push_labels(const sinew_voxels *voxels, sn_arena *arena,
                                sinew_label_grid *grid);

// The values of a map at the centres of voxels, linear between the centres of its cells, which must
// cover the voxels. `out` has room for one number per voxel.
sinew_status sn_volume_sample(sinew_context *context, const sn_source *source,
                              const sn_volume_file *file, const sinew_voxels *voxels, double *out);

#endif
