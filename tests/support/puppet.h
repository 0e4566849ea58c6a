// A character whose flesh follows its skeleton by position dynamics: shared by examples, benchmarks
// and measurements.
#ifndef TEST_SUPPORT_PUPPET_H
#define TEST_SUPPORT_PUPPET_H

#include "io/generate/character.h"
#include "sinew/pbd.h"

#include "base/memory.h"
#include "math/box.h"

typedef struct sn_puppet {
    sn_arena arena;
    sn_character character;
    sinew_rig *rig;
    sinew_rig_report rig_report;
    sinew_pbd *pbd;
    sinew_transform *world; // of the joints, at `time`
    double *targets;        // of the kinematic nodes; the others' are not used
    double *positions;      // of all nodes, at `time`
    double time;            // [s] of the motion
} sn_puppet;

// Nodes bound to a joint become the kinematic nodes of `flesh`, whose own array of them must be
// NULL. There is nothing to free on failure.
sinew_status sn_puppet_create(sinew_context *context, const sn_character_def *character,
                              const sinew_pbd_def *flesh, sn_puppet *puppet);
void sn_puppet_destroy(sn_puppet *puppet);

// Poses the skeleton `speed` * h later in its motion, and advances the flesh by a step of h
// seconds.
sinew_status sn_puppet_step(sn_puppet *puppet, double h, double speed, sinew_motion_end end);

// Volume at `positions` of the tets whose centres lie in `region` at rest.
double sn_region_volume(const sinew_mesh *tets, const double *positions, sn_box region);

#endif
