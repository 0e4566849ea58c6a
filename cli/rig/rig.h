// sinew rig, in parts: input.c reads surfaces, volumes and specimens into voxels; report.c explains
// the model; cli/command_rig.c makes it and writes everything.
#ifndef CLI_RIG_RIG_H
#define CLI_RIG_RIG_H

#include "command.h"

#include "sinew/io/rig_file.h"

enum { RIG_INPUTS = 16, RIG_NAME = 64, RIG_ESTIMATES = 6 };

// Expected errors of several numbers of frames; count 0: not asked for.
typedef struct rig_estimate {
    int32_t count, chosen;
    int32_t frames[RIG_ESTIMATES];
    double error[RIG_ESTIMATES];
} rig_estimate;

typedef struct rig_run {
    sinew_context *context;
    const cli_command *command;
    const char *name;   // of the body: that of the input, without folder and ending
    const char *folder; // where everything is written

    sinew_voxels *voxels;
    sinew_mesh *surface;    // those of the surface files together, or NULL
    int32_t refined_points; // of the surface, added to those of the files
    sinew_voxel_report voxel_report;
    sinew_speck_report speck_report;
    bool from_surfaces, askew, specks_joined;
    const char *specimen; // its name, or NULL
    int32_t specimen_voxels;
    sinew_tissue_table *tissues; // or NULL: one soft material

    sinew_autorig_def def;
    double places[3 * CLI_LIST_CAPACITY]; // where the user wants frames
    sinew_world *world;
    sinew_body *body;
    sinew_autorig_report report;
    rig_estimate estimate;
    double step_seconds;                       // measured
    double *stiffness_values, *density_values; // [voxel] of maps [Pa], [kg/m3], or NULL
    double skin_loss; // the largest sum of weights that a point of the skin lost
} rig_run;

// Prints the context's message and returns the exit status.
int rig_fail(const rig_run *rig);

// How inputs are to be understood.
typedef struct rig_reading {
    int32_t resolution;  // surfaces: voxels along the longest side; 0: as is usual
    double spacing;      // surfaces: edge of a voxel instead; 0: by the resolution
    size_t memory_limit; // bytes
    double unit; // metres in a unit of the files; 0: as a volume's header says, 1 for surfaces
    char up;     // surfaces: the axis that points up, 'y' or 'z'; 0: as is usual for the format
    int32_t specimen_voxels; // about how many; 0: the papers'
    bool use_threshold;      // volumes: an image, solid from `threshold` on
    double threshold;
    const char *specks; // "drop", "join" or "keep"
} rig_reading;

// Closed surfaces (labels 1, 2, ... in their order; the later wins where they overlap), one label
// volume, or "specimen:NAME". Whatever was up, z is up in the rig. CLI_OK, or another exit status
// with the message printed.
int rig_read_inputs(rig_run *rig, const char *const *paths, int count, const rig_reading *reading);

// Reads maps of stiffness and density for the voxels; each may be NULL. `unit` as in rig_reading.
int rig_read_maps(rig_run *rig, const char *stiffness, const char *density, double unit);
void rig_free_maps(rig_run *rig);

// The model in words, and as JSON.
void rig_print_report(const rig_run *rig);
sinew_status rig_write_report(const rig_run *rig, sinew_bytes *out);

#endif
