// Material maps of bodies of frames: where a solid of several tissues comes from, and how stiffness
// and labels vary in it.
#ifndef SN_IO_SCENE_MAPS_H
#define SN_IO_SCENE_MAPS_H

#include "io/text/json.h"

#include "sinew/io/specimen.h"

// A closed surface of a file, and the label of what it encloses.
typedef struct sn_scene_part {
    const char *file;
    int32_t label, priority;
} sn_scene_part;

typedef struct sn_scene_maps {
    const sn_json *json;     // of the shape
    int32_t specimen;        // or -1
    int32_t specimen_voxels; // requested
    int32_t part_count, gradient_count, layer_count;
    const sn_scene_part *parts;
    const sinew_gradient_def *gradients;
    const sinew_layers_def *layers;
    const char *stiffness; // volume of Young's moduli [Pa], or NULL
    const char *density;   // volume of densities [kg/m^3], or NULL
} sn_scene_maps;

#endif
