// What the files of this folder share: tissues.c reads tables of tissues; scene.c, skin.c and
// picture.c write a model that sinew_autorig_create made.
#ifndef SN_IO_RIG_RIG_H
#define SN_IO_RIG_RIG_H

#include "sinew/io/rig_file.h"

#include "io/scene/read.h"

// A row of a table: a material and the labels that have it.
typedef struct sn_tissue_entry {
    int32_t first, last;   // labels; 0 and 0: all that no other entry names
    const sn_json *at;     // where it stands in the table, for messages; NULL: made by code
    const char *name;      // of the scene's material, different from all others
    const sn_json *source; // of its material; NULL: by constants
    sinew_autorig_tissue tissue;
} sn_tissue_entry;

struct sinew_tissue_table {
    sn_scene scene; // what materials are read into; its document holds their text
    sinew_context *context;
    int32_t entry_count;
    sn_tissue_entry *entries;
    int32_t count;                 // tissues, one for each label
    sinew_autorig_tissue *tissues; // by ascending label, once ranges are taken apart
    int32_t *entry;                // of each tissue
};

// SINEW_OK if everything that is needed is there.
sinew_status sn_rig_check(sinew_context *context, const sinew_rig_file_def *def);

// The tissues of a model, 0 without a table, and how many voxels have the label of one.
int32_t sn_rig_tissue_count(const sinew_rig_file_def *def);
int32_t sn_rig_count_voxels(const sinew_rig_file_def *def, int32_t tissue);

#endif
