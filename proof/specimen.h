// Specimens as models: a world with one body made of a specimen's voxels and tissues, for
// benchmarks and proofs.
#ifndef PROOF_SPECIMEN_H
#define PROOF_SPECIMEN_H

#include "sinew/autorig.h"
#include "sinew/io/rig_file.h"

typedef struct rig_specimen {
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
    sinew_tissue_table *tissues;
    sinew_autorig_def def; // filled in; change it before rig_specimen_create
} rig_specimen;

// Voxels and a world without gravity. Destroy in every case.
sinew_status rig_specimen_prepare(sinew_context *context, sinew_specimen specimen,
                                  int32_t voxel_count, rig_specimen *m);

// The body. `report` may be NULL.
sinew_status rig_specimen_create(rig_specimen *m, sinew_autorig_report *report);
void rig_specimen_destroy(rig_specimen *m);

#endif
