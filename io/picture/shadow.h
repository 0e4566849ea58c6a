// Light and shadow.
//
// The stage is seen from the light, and the height of the topmost surface towards the light is
// stored on a square grid. For the key light the heights are blurred as exponential variance shadow
// maps (Lauritzen and McCool 2008), so that one lookup gives the fraction of the light that
// arrives, with a soft edge and no noise. For the sky, coarse grids from many fixed directions give
// each vertex, and the points of a lattice on the ground, the fraction of the sky that is visible.
// Cost: triangles times directions, in small grids.
#ifndef SN_IO_PICTURE_SHADOW_H
#define SN_IO_PICTURE_SHADOW_H

#include "io/picture/stage.h"

// The region in which shadows matter: around the things that cast them, within reach of the camera.
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
    float *heights;         // of the topmost surface along z; very low where there is none
    float *moments;         // blurred; only for the key light
} sn_shadow_map;

enum { SN_SHADOW_LATTICE = 64 }; // points along the side of the ground's lattice

typedef struct sn_illumination {
    sn_shadow_region region;
    sn_shadow_map key;
    float *sky;    // of each vertex: the visible fraction of the sky, in [0, 1]
    float *bounce; // of each vertex: how open the ground beneath it is
    bool has_ground;
    float ground_height;          // along up, in the stage
    sn_float3 ground_x, ground_y; // axes of the lattice
    float lattice_left, lattice_top, lattice_scale;
    float *lattice; // fraction of the sky that is visible from the ground
} sn_illumination;

// Everything lives in the arena.
sinew_status sn_illumination_create(sn_illumination *light, const sn_stage *stage,
                                    const sn_picture_scene *scene, sn_arena *arena);

// The fraction of the key light that arrives at p, whose surface has normal n.
float sn_shadow_lit(const sn_shadow_map *map, sn_float3 p, sn_float3 n);

// The fraction of the sky that is visible from a point of the ground.
float sn_illumination_ground_sky(const sn_illumination *light, sn_float3 p);

#endif
