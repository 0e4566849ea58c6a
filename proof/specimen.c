// Makes the specimens of sinew/io/specimen.h into frame bodies, with their own tissues.
#include "specimen.h"

#include "base/context.h"

sinew_status rig_specimen_prepare(sinew_context *context, sinew_specimen specimen,
                                  int32_t voxel_count, rig_specimen *m) {
    *m = (rig_specimen){.def = sinew_default_autorig_def()};
    m->def.kind = SINEW_NODE_AFFINE; // as in the paper
    m->def.weights.kind = SINEW_WEIGHTS_VORONOI;
    sinew_world_def world = sinew_default_world_def();
    for (int k = 0; k < 3; k++) {
        world.gravity[k] = 0;
    }

    SN_TRY(sinew_world_create(context, &world, &m->world));
    SN_TRY(
        sinew_voxels_create_specimen(context, specimen, voxel_count, (size_t)4 << 30, &m->voxels));
    m->def.voxels = m->voxels;
    SN_TRY(sinew_tissue_table_create_specimen(context, specimen, &m->tissues));
    m->def.tissues = sinew_tissue_table_get(m->tissues, &m->def.tissue_count);

    return SINEW_OK;
}

sinew_status rig_specimen_create(rig_specimen *m, sinew_autorig_report *report) {
    return sinew_autorig_create(m->world, &m->def, report, &m->body);
}

void rig_specimen_destroy(rig_specimen *m) {
    sinew_world_destroy(m->world);
    sinew_voxels_destroy(m->voxels);
    sinew_tissue_table_destroy(m->tissues);
}
