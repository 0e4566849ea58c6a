// A box of finite elements in a world of its own, used by most rows.
#ifndef SN_PROOF_VALIDATE_BAR_H
#define SN_PROOF_VALIDATE_BAR_H

#include "sinew/sinew.h"

#include "base/memory.h"

// The box spans [0, size x] along x and is centred in y and z; of triangles it is a rectangle.
typedef struct bar_def {
    double size[3];
    int32_t cells[3];
    sinew_element element;
    sinew_model model;
    sinew_volume volume;
    sinew_material_def material;
    const double *axes;       // material axes of every element, axis by axis; NULL: x, y, z
    void (*map)(double x[3]); // moves each point of the box to where it is at rest; NULL: stays
    sinew_world_def world;
} bar_def;

typedef struct bar {
    sinew_context *context;
    sinew_mesh *mesh;
    sinew_world *world;
    sinew_body *body;
    sn_arena arena; // lives as long as the bar
} bar;

// 1 m x 0.1 m x 0.1 m, 20 x 2 x 2 cells of ten-node tets, no gravity, direct solver.
bar_def bar_default_def(void);
sinew_status bar_create(sinew_context *context, const bar_def *def, bar *b);
void bar_destroy(bar *b); // a zeroed bar is allowed

// Nodes whose rest coordinate `axis` is `value`. The array belongs to the bar; NULL if memory runs
// out.
int32_t *bar_pick(bar *b, int axis, double value, int32_t *count);

// Holds each node in the directions in which `choose` says that it is on a support, bits as in
// SINEW_AXIS_ALL.
sinew_status bar_hold(bar *b, int32_t (*choose)(const double x[3]));

// Holds the end x = 0.
sinew_status bar_clamp(bar *b);

// Adds a traction on the face where coordinate `axis` is `value`.
sinew_status bar_pull(bar *b, int axis, double value, const double traction[3]);

// Mean displacement of the nodes at x = `x`.
sinew_status bar_get_displacement(bar *b, double x, double displacement[3]);

// The static solve. A solve that does not converge returns SINEW_DIVERGED.
sinew_status bar_solve(bar *b, int32_t load_steps, double tolerance);

#endif
