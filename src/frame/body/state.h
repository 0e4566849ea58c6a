// Material points of a frame body whose positions, velocities, strains and stresses are read
// repeatedly: the points of a surface, probes.
//
// In: a list of rest points; their weights and gradients are looked up once. A reading costs a few
// multiplications for each control vector of a point, and one evaluation of the material law if
// stress is requested.
#ifndef SN_FRAME_BODY_STATE_H
#define SN_FRAME_BODY_STATE_H

#include "sinew/frame_body.h"

#include "base/memory.h"

typedef struct sn_frame_points {
    int32_t count;
    const double *rest;    // three for each point; borrowed
    int32_t *start;        // count + 1: entries of point i are start[i] .. start[i + 1] - 1
    int32_t *node;         // of each entry
    double *weight;        // of each entry
    double (*gradient)[3]; // of each entry [1/m]
    int32_t *material;     // of each point
    double *stiffness;     // of each point: the factor on its material's stiffness
    struct sn_blend_offset *offset; // of each point, by each change that fades
} sn_frame_points;

// Looks up points in a frame body. The arrays live in `arena`; `rest` must live as long.
sinew_status sn_frame_points_create(sn_arena *arena, const sinew_body *body, const double *rest,
                                    int32_t count, sn_frame_points *points);

// Reads the points; each output may be NULL. Positions [m] and velocities [m/s] are three numbers
// for each point.
void sn_frame_points_compute(const sn_frame_points *points, const sinew_body *body,
                             double *positions, double *velocities, sinew_element_state *states);

#endif
