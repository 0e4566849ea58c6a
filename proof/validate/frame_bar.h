// Bars of frames for the rows about frame bodies. A bar spans [0, length] along x and is centred in
// y and z; its frames are equally spaced from end to end.
#ifndef SN_PROOF_VALIDATE_FRAME_BAR_H
#define SN_PROOF_VALIDATE_FRAME_BAR_H

#include "sinew/sinew.h"

enum { FRAME_BAR_MOST_FRAMES = 9 };

typedef struct frame_bar_def {
    int32_t count;
    sinew_node_kind kind;
    sinew_weights weights;
    sinew_blend blend;
    sinew_frame_mass mass;
    bool springs, geometric_stiffness;
    const sinew_material_def *material; // NULL: that of the default tissue
    double length, width;
    bool round;       // a cylinder instead of a square bar
    int32_t cells[3]; // voxels along each axis
    bool regions;     // region samples, as many as the weights need; otherwise one per voxel
    double gravity;   // along -z
    sinew_integrator integrator;
    sinew_solver solver;
    double newton_tolerance;
} frame_bar_def;

// A bar of length 1 and thickness 0.2 with five rigid frames, linear weights between neighbours and
// 40 x 4 x 4 samples, without gravity. It is solved to rounding by the dense solver.
frame_bar_def frame_bar_default_def(void);

typedef struct frame_bar {
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
} frame_bar;

sinew_status frame_bar_create(sinew_context *context, const frame_bar_def *def, frame_bar *b);
void frame_bar_destroy(frame_bar *b);

// Solves for equilibrium. A solve that rounding stops slightly above the tolerance counts as
// converged; any other that misses it is SINEW_DIVERGED.
sinew_status frame_bar_solve(frame_bar *b, double tolerance);

// The same, to 1e-8, and how far a point on the axis, at x of the rest shape, then is below it.
sinew_status frame_bar_sag(frame_bar *b, double x, double *sag);

#endif
