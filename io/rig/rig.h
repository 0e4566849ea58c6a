// What the files of this folder share: tissues.c reads tables of tissues; scene.c, skin.c and
// picture.c write a model that sinew_autorig_create made.
#ifndef SN_IO_RIG_RIG_H
#define SN_IO_RIG_RIG_H

#include "sinew/io/rig_file.h"

#include "io/scene/read.h"

enum { SN_MOST_TISSUES = 64, SN_TISSUE_NAME = 64 };

struct sinew_tissue_table {
    sn_scene scene; // what materials are read into; its document holds their text
    sinew_context *context;
    int32_t count;
    sinew_autorig_tissue tissues[SN_MOST_TISSUES];
    char names[SN_MOST_TISSUES][SN_TISSUE_NAME];
    const sn_json *materials[SN_MOST_TISSUES]; // as the table has them; NULL: by constants
};

// SINEW_OK if everything that is needed is there.
sinew_status sn_rig_check(sinew_context *context, const sinew_rig_file_def *def);

// The tissues of a model, 0 without a table, and how many voxels have the label of one.
int32_t sn_rig_tissue_count(const sinew_rig_file_def *def);
int32_t sn_rig_count_voxels(const sinew_rig_file_def *def, int32_t tissue);

#endif
