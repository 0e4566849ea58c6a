// Light and shadow: who stands in whose light.
//
// The stage is looked at from the light, and the height of the topmost surface towards the light is
// kept on a square grid. For the key light the heights are blurred in the form of exponential
// variance shadow maps (Lauritzen and McCool 2008): one lookup then tells which share of the light
// arrives, with a soft edge and no noise. For the sky, coarse grids from many directions, fixed
// once and for all, give each vertex, and the points of a lattice on the ground, the share of the
// sky that they see. Cost: triangles times directions, in small grids.
#ifndef SN_IO_PICTURE_SHADOW_H
#define SN_IO_PICTURE_SHADOW_H

#include "io/picture/stage.h"

// Where shadows matter: around the things that cast them and within reach of the camera.
typedef struct sn_shadow_region {
    sn_float3 center;
    float radius; // 0: nothing casts a shadow
} sn_shadow_region;

typedef struct sn_shadow_map {
    sn_float3 x, y, z;      // z towards the light
    float left, top, scale; // grid coordinate = (x . p - left) scale
    float low, range;       // heights in the grid
    float sharpness;        // of the warp of depths
    int32_t size;           // cells along a side
    float *heights;         // of the topmost surface along z; far below where there is none
    float *moments;         // blurred; only for the key light
} sn_shadow_map;

enum { SN_SHADOW_LATTICE = 64 }; // points along the side of the ground's lattice

typedef struct sn_illumination {
    sn_shadow_region region;
    sn_shadow_map key;
    float *sky;    // of each vertex: the share of the sky it sees, in [0, 1]
    float *bounce; // of each vertex: how open the ground beneath it is
    bool has_ground;
    float ground_height;          // along up, in the stage
    sn_float3 ground_x, ground_y; // axes of the lattice
    float lattice_left, lattice_top, lattice_scale;
    float *lattice; // share of the sky that the ground sees
} sn_illumination;

// Everything lives in the arena.
sinew_status sn_illumination_create(sn_illumination *light, const sn_stage *stage,
                                    const sn_picture_scene *scene, sn_arena *arena);

// The share of the key light that arrives at p, whose surface has normal n.
float sn_shadow_lit(const sn_shadow_map *map, sn_float3 p, sn_float3 n);

// The share of the sky that a point of the ground sees.
float sn_illumination_ground_sky(const sn_illumination *light, sn_float3 p);

#endif
