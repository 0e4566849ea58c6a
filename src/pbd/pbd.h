// The internals of a body under position dynamics.
#ifndef SN_PBD_PBD_H
#define SN_PBD_PBD_H

#include "sinew/pbd.h"

#include "base/memory.h"
#include "pbd/core.h"
#include "pbd/project.h"
#include "pbd/schedule.h"

enum { SN_PBD_NODE_CHUNK = 2048, SN_PBD_TET_CHUNK = 2048, SN_PBD_SUMS = 16 };

// The contribution of one chunk of tets to a report.
typedef struct sn_pbd_part {
    double squares, weight, volume, worst;
    int32_t worst_tet, inverted;
} sn_pbd_part;

struct sinew_pbd {
    sn_arena arena;
    sinew_pbd_def settings; // its arrays are NULL: they were borrowed
    int32_t node_count, tet_count;
    int32_t *tets;
    sn_mat3 *rest;   // Dm^-1 Q of each tet
    double *volumes; // at rest
    double *masses;  // of the nodes [kg]
    double mass_unit;
    double *nodes;          // [node][4]: x y z and 0
    double *inverse_masses; // in 1 / mass_unit; 0 where kinematic
    double *before;         // [node][4]: `nodes` when the step began
    double *velocities;     // [node][4]
    sn_pbd_schedule schedule;
    sn_pbd_block *blocks;
    sn_pbd_inertia *inertias;        // by block
    sn_pbd_inertia *heavy_inertias;  // in consolidating rounds; NULL where there are none
    sn_pbd_multipliers *multipliers; // NULL unless SINEW_PBD_COMPLIANCE
    sn_pbd_project_fn *project;
    sn_pbd_cores cores;
    double *sums;       // [chunk of nodes][SN_PBD_SUMS]
    sn_pbd_part *parts; // [chunk of tets]
};

// The parts of a step. Prediction: the positions move as they would without constraints.
void sn_pbd_begin_step(sinew_pbd *pbd, double h, const double *targets, const double *forces);

// Projects all constraints `count` times on the current positions, beginning with the iteration
// `first` of the step; those below `consolidating` have raised masses; `h` is used for compliances.
void sn_pbd_iterate(sinew_pbd *pbd, int32_t first, int32_t count, int32_t consolidating, double h);

// Velocities from the displacements. Fails, with the positions as they were before the step, if
// they are not finite.
sinew_status sn_pbd_finish_step(sinew_pbd *pbd, double h);

// Removes the fraction 1 - exp(-damping h) of the non-rigid part of the free nodes' velocities
// (Mueller et al. 2007, 3.5).
void sn_pbd_damp(sinew_pbd *pbd, double h);

#endif
