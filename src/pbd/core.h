// Rigid cores: labelled tets inside soft flesh (the bones of Mueller et al. 2002, 4.3), each core
// moving as one rigid body.
//
// After each pass over the constraints the nodes of a core are moved to the nearest rigid copy of
// their rest shape, weighted by mass (Mueller et al. 2005). With r the positions relative to the
// centre of mass and q those at rest, R makes sum m r q'R symmetric, so sum m r x R q = 0: neither
// the centre nor the angular momentum changes.
#ifndef SN_PBD_CORE_H
#define SN_PBD_CORE_H

#include "sinew/pbd.h"

#include "base/memory.h"
#include "math/quat.h"

typedef struct sn_pbd_cores {
    int32_t count;       // free cores only; the caller drives the others
    int32_t *offsets;    // count + 1: start of each core in `nodes`
    int32_t *nodes;      // of the cores
    double *rest;        // x y z of each about its core's mass centre at rest
    sn_quat *rotations;  // the last R of each core, where the next search begins
    int32_t *node_cores; // for each node of the mesh its core, driven ones too, or -1
} sn_pbd_cores;

// `labels`: the core of each tet, negative for none. A node may belong to one core. `masses` by
// node.
sinew_status sn_pbd_build_cores(sn_arena *arena, const sinew_mesh *mesh, const int32_t *labels,
                                const uint8_t *kinematic, const double *masses,
                                sn_pbd_cores *cores);

// `nodes`: x y z and a fourth number per node.
void sn_pbd_project_cores(sinew_context *context, double *nodes, const sn_pbd_cores *cores,
                          const double *masses);

// The rotation nearest to M = sum m r q', starting from `start` (Mueller et al. 2016): an iteration
// that finds a rotation for every M, also for flat and mirrored ones, and stays close to the start
// if there are several.
sn_quat sn_extract_rotation(sn_mat3 M, sn_quat start);

#endif
