#include "rig/specimen.h"

#include "base/context.h"

int32_t rig_specimen_tissues(sinew_specimen specimen,
                             sinew_autorig_tissue tissues[RIG_SPECIMEN_TISSUES]) {
    int32_t count;
    const sinew_specimen_tissue *table = sinew_specimen_tissues(specimen, &count);

    SN_ASSERT(count <= RIG_SPECIMEN_TISSUES);
    for (int32_t i = 0; i < count; i++) {
        tissues[i] = sinew_default_autorig_tissue();
        tissues[i].label = table[i].label;
        tissues[i].rigid = table[i].rigid;
        tissues[i].material.young = table[i].young;
        tissues[i].material.poisson = table[i].poisson;
        tissues[i].material.density = table[i].density;
    }

    return count;
}

sinew_status rig_specimen_prepare(sinew_context *context, sinew_specimen specimen,
                                  int32_t voxel_count, rig_specimen *m) {
    *m = (rig_specimen){.def = sinew_default_autorig_def()};
    sinew_world_def world = sinew_default_world_def();
    for (int k = 0; k < 3; k++) {
        world.gravity[k] = 0;
    }

    SN_TRY(sinew_world_create(context, &world, &m->world));
    SN_TRY(
        sinew_voxels_create_specimen(context, specimen, voxel_count, (size_t)4 << 30, &m->voxels));
    m->def.voxels = m->voxels;
    m->def.tissues = m->tissues;
    m->def.tissue_count = rig_specimen_tissues(specimen, m->tissues);

    return SINEW_OK;
}

sinew_status rig_specimen_create(rig_specimen *m, sinew_autorig_report *report) {
    return sinew_autorig_create(m->world, &m->def, report, &m->body);
}

void rig_specimen_destroy(rig_specimen *m) {
    sinew_world_destroy(m->world);
    sinew_voxels_destroy(m->voxels);
}
