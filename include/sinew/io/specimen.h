// Solids of several tissues that are made rather than scanned, to try sparse models on: the
// stand-ins of what the papers show.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_SPECIMEN_H
#define SINEW_IO_SPECIMEN_H

#include "sinew/voxel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Specimens. They have realistic sizes; z points up.
typedef enum sinew_specimen {
    SINEW_SPECIMEN_STEAK,     ///< A T-bone steak in the xy plane: muscle with a rim of fat on both
                              ///< sides of a rigid bone.
    SINEW_SPECIMEN_GRADIENT,  ///< A thin plate of 1 m by 0.4 m, ten times stiffer at its right end
                              ///< than at its left.
    SINEW_SPECIMEN_INCLUSION, ///< The same plate, of one stiffness, with a rigid disc in it.
    SINEW_SPECIMEN_RIBBON,    ///< A strip of 1 m along x.
    SINEW_SPECIMEN_KNEE, ///< A knee bent by a right angle: thigh along x, shin down; bones, muscle,
                         ///< ligaments, fat.
    SINEW_SPECIMEN_ANIMAL, ///< Head, trunk, four legs and a long tail along x, with eight rigid
                           ///< bones.
    SINEW_SPECIMEN_DRAGON, ///< A winding body with wings, legs and tail; one tissue.
} sinew_specimen;

/// Number of specimens. [count]
SINEW_API int32_t sinew_specimen_count(void);
/// The name of a specimen, e.g. "steak". Static text.
SINEW_API const char *sinew_specimen_name(sinew_specimen specimen);
/// The specimen with this name, or -1.
SINEW_API int32_t sinew_specimen_find(const char *name);

/// One of its tissues, with constants to start from.
typedef struct sinew_specimen_tissue {
    int32_t label;
    const char *name; ///< Static text.
    double young;     ///< [Pa]
    double poisson;   ///< [-]
    double density;   ///< [kg/m3]
    bool rigid;
} sinew_specimen_tissue;

/// The tissues of a specimen. Static memory.
SINEW_API const sinew_specimen_tissue *sinew_specimen_tissues(sinew_specimen specimen,
                                                              int32_t *count);

/// Number of voxels of the model in the papers. [count]
SINEW_API int32_t sinew_specimen_voxel_count(sinew_specimen specimen);

/// Makes a specimen of about `voxel_count` cubic voxels (within a tenth, thin ones within a third);
/// plates are one voxel thick. `memory_limit` as in sinew_voxel_def. [byte]
SINEW_API sinew_status sinew_voxels_create_specimen(sinew_context *context, sinew_specimen specimen,
                                                    int32_t voxel_count, size_t memory_limit,
                                                    sinew_voxels **voxels);

#ifdef __cplusplus
}
#endif

#endif
