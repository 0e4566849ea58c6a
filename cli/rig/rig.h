// sinew rig, in parts: input.c reads surfaces, volumes and specimens into voxels; tissues.c the
// table of tissues; scene.c writes the scene with its volume and surface; report.c explains the
// model; picture.c shows it.
#ifndef CLI_RIG_RIG_H
#define CLI_RIG_RIG_H

#include "command.h"
#include "files.h"

#include "sinew/autorig.h"
#include "sinew/io/specimen.h"

#include "base/memory.h"
#include "io/text/json_write.h"

enum { RIG_TISSUES = 64, RIG_INPUTS = 16, RIG_NAME = 64 };

typedef struct rig_run {
    sinew_context *context;
    const cli_command *command;
    const char *name;   // of the body: that of the input, without folder and ending
    const char *folder; // where everything is written

    sinew_voxels *voxels;
    sinew_mesh *surface; // those of the surface files together, or NULL
    sinew_voxel_report voxel_report;
    bool from_surfaces, askew;
    const char *specimen; // its name, or NULL
    int32_t specimen_voxels;

    int32_t tissue_count;
    sinew_autorig_tissue tissues[RIG_TISSUES];
    char tissue_names[RIG_TISSUES][RIG_NAME];
    int32_t tissue_voxels[RIG_TISSUES];    // that have its label
    const sn_json *materials[RIG_TISSUES]; // as the table has them; NULL: constants of a specimen,
                                           // or the default
    struct rig_table *table;               // what the materials live in, or NULL

    sinew_autorig_def def;
    double places[3 * CLI_LIST_CAPACITY]; // where the user wants frames
    sinew_world *world;
    sinew_body *body;
    sinew_autorig_report report;
    double step_seconds; // measured
    double skin_loss;    // the largest sum of weights that a point of the skin lost
} rig_run;

void rig_create(rig_run *rig, sinew_context *context, const cli_command *command);
void rig_destroy(rig_run *rig);

// Each returns CLI_OK, or CLI_BAD_INPUT with the message printed.
int rig_fail(const rig_run *rig);

// How inputs are to be understood.
typedef struct rig_reading {
    int32_t resolution;  // surfaces: voxels along the longest side; 0: as is usual
    double spacing;      // surfaces: edge of a voxel instead; 0: by the resolution
    size_t memory_limit; // bytes
    double unit; // metres in a unit of the files; 0: as a volume's header says, 1 for surfaces
    char up;     // surfaces: the axis that points up, 'y' or 'z'; 0: as is usual for the format
    int32_t specimen_voxels; // about how many; 0: the papers'
} rig_reading;

// Closed surfaces (labels 1, 2, ... in their order; the later wins where they overlap), one label
// volume, or "specimen:NAME". Whatever was up, z is up in the rig.
int rig_read_inputs(rig_run *rig, const char *const *paths, int count, const rig_reading *reading);

// {"1": {"name": "muscle", "material": {...}, "rigid": false}, ...}
int rig_read_tissues(rig_run *rig, const char *path);
void rig_free_tissues(rig_run *rig);

// The labels of all cells as a grid. NULL if memory is short.
uint16_t *rig_push_labels(const rig_run *rig, sn_arena *arena, sinew_label_grid *grid);

// scene.json, labels.nrrd and, of surface files, surface.ply, into the folder.
sinew_status rig_write_scene(const rig_run *rig);

void rig_print_report(const rig_run *rig);
void rig_write_report(const rig_run *rig, sn_buffer *out);

// rig.png: tissues, weights and regions beside each other.
sinew_status rig_write_picture(const rig_run *rig);

// skin.glb: joints and weights.
sinew_status rig_write_skin(rig_run *rig);

// Writes a buffer to a file of the folder.
sinew_status rig_write_file(const rig_run *rig, const char *name, const sn_buffer *buffer);

#endif
