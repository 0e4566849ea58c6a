// Specimens as models: a world with one body made of a specimen's voxels and tissues, for
// benchmarks and proofs.
#ifndef CLI_RIG_SPECIMEN_H
#define CLI_RIG_SPECIMEN_H

#include "sinew/autorig.h"
#include "sinew/io/specimen.h"

enum { RIG_SPECIMEN_TISSUES = 8 };

typedef struct rig_specimen {
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
    sinew_autorig_tissue tissues[RIG_SPECIMEN_TISSUES];
    sinew_autorig_def def; // filled in; change it before rig_specimen_create
} rig_specimen;

// The tissues of a specimen as the library takes them; returns their number.
int32_t rig_specimen_tissues(sinew_specimen specimen,
                             sinew_autorig_tissue tissues[RIG_SPECIMEN_TISSUES]);

// Voxels and a world without gravity. Destroy in every case.
sinew_status rig_specimen_prepare(sinew_context *context, sinew_specimen specimen,
                                  int32_t voxel_count, rig_specimen *m);

// The body. `report` may be NULL.
sinew_status rig_specimen_create(rig_specimen *m, sinew_autorig_report *report);
void rig_specimen_destroy(rig_specimen *m);

#endif
