// Stationary conduction on the voxels of a solid, for several right-hand sides at a time.
//
// The operator is a sum over the faces between voxels: (A u)_v = sum_d c_vd (u_v - u_w) + g u_v,
// where w is the neighbour of v in direction d. The face conducts area / distance times the
// harmonic mean of the conductivities on both sides, in units in which a face across the finest
// spacing between voxels of conductivity 1 conducts 1. Cells outside the solid conduct nothing.
// Solved by conjugate gradients with the multigrid preconditioner (multigrid.h).
//
// Memory: about 300 bytes for each unknown, and 12 more for each right-hand side of a group.
#ifndef SN_FRAME_WEIGHTS_CONDUCTION_H
#define SN_FRAME_WEIGHTS_CONDUCTION_H

#include "frame/weights/multigrid.h"

#include "geom/voxel/voxel.h"

// The conductivity of a rigid part relative to the stiffest soft voxel.
#define SN_RIGID_CONTRAST 1e4

// Which voxels are unknown, and what the faces conduct.
typedef struct sn_conduction_def {
    const sinew_voxels *voxels;
    const double *conductivity; // of each voxel; NULL: 1 everywhere
    int32_t count;              // unknowns
    const int32_t *voxel;       // of each unknown; NULL: every voxel is one
    const int32_t *number;      // of each voxel: its unknown, or -1 if its value is known
    double leak;                // g, at least 0
    int32_t lanes;              // the largest number of right-hand sides: 4 or 8
} sn_conduction_def;

typedef struct sn_conduction {
    sinew_context *context;
    const sinew_voxels *voxels;
    const double *conductivity;
    double face[3]; // area / distance along each axis, relative
    int32_t count;
    sn_multigrid *multigrid;
    double (*conductance)[SN_VOXEL_FACES]; // of each unknown to unknown neighbours, else 0
    double *diagonal;
    double *r; // the residual: a number for each unknown and right-hand side
    float *p;
    double *partial; // sums of each chunk
} sn_conduction;

// Returns how many right-hand sides are solved together when `left` of them are left.
static inline int32_t sn_conduction_lanes(int32_t left) {
    return left > 4 ? SN_MULTIGRID_LANES : 4;
}

// Builds the operator; voxels and conductivities are borrowed.
sinew_status sn_conduction_create(sn_arena *arena, const sn_conduction_def *def,
                                  sn_conduction **conduction);

// Returns the conductance of the face between voxel v and its neighbour u in direction d.
double sn_conduction_face(const sn_conduction *conduction, int32_t v, int32_t u, int d);

// What the tolerance of a solve is relative to.
typedef enum sn_conduction_measure {
    SN_CONDUCTION_RESIDUAL, // the norm of the residual, relative to that on entry
    SN_CONDUCTION_ENERGY    // the energy norm of the last two steps, relative to that of all
} sn_conduction_measure;

// How a solve ended: iterations, and the worst lane's residual relative to the one on entry.
typedef struct sn_conduction_report {
    int32_t iterations;
    double residual;
} sn_conduction_report;

// Improves x, as many numbers for each unknown as the multigrid has lanes. On entry
// conduction->r holds the residual b - A x. A lane that has converged no longer changes.
void sn_conduction_solve(sn_conduction *conduction, double *x, sn_conduction_measure measure,
                         double tolerance, int32_t max_iterations, sn_conduction_report *report);

#endif
