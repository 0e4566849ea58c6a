// Bars of frames, for the rows of frame bodies: along x from 0 to their length, centred in y and z,
// frames equally spaced from end to end.
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
    int32_t cells[3]; // of voxels, each a sample
    double gravity;   // along -z
    sinew_integrator integrator;
    sinew_solver solver;
    double newton_tolerance;
} frame_bar_def;

// A bar of unit length, a fifth as thick, of five rigid frames with linear weights between
// neighbours, 40 x 4 x 4 samples, which is solved densely and to rounding; no gravity.
frame_bar_def frame_bar_default_def(void);

typedef struct frame_bar {
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
} frame_bar;

sinew_status frame_bar_create(sinew_context *context, const frame_bar_def *def, frame_bar *b);
void frame_bar_destroy(frame_bar *b);

// Equilibrium to a residual; one that rounding stops a little above it counts, any other does not.
sinew_status frame_bar_solve(frame_bar *b, double tolerance);

#endif
