// What keeps a body from jumping when its nodes change: the difference between the old and the new shape, which decays.
//
// A sample's F = sum a (x) g is multiplied from the right by D = I + r (F_new^-1 F_old - I), r from 1 to 0, that is, its rest
// gradients become D' g: stresses go on as they were, and remain the gradient of an energy that no rigid motion changes. A
// vertex is moved by r times its old place minus its new one, kept in the axes of the node that moves it most.
#ifndef SN_FRAME_FADE_H
#define SN_FRAME_FADE_H

#include "frame/blend.h"

typedef struct sn_fade {
    double duration; // [s]; 0: nothing fades
    double applied;  // the r that the packed gradients have now
    int32_t sample_count;
    int32_t *sample;
    sn_mat3 *residual; // D - I at r = 1
    double **gradient; // of the sample without a fade, width x 3; unused if all nodes are rigid
    int32_t vertex_count;
    int32_t *vertex, *carrier; // and the node whose axes hold the offset
    sn_vec3 *offset;
} sn_fade;

// How much is left of a fade at an age: 1 at 0, falling smoothly to 0 at the duration.
double sn_fade_left(const sn_fade *fade, double age);

// Gives the samples of the blend the gradients that belong to r.
void sn_fade_apply(sn_fade *fade, sn_blend *blend, double r);

// Adds r times the offsets to the vertices.
void sn_fade_move_vertices(const sn_fade *fade, const sn_nodes *nodes, const double *q, double r, double *positions);

// F of a sample as it is packed, with the fade that is applied, at the nodes of the last sn_blend_prepare.
sn_mat3 sn_fade_sample_F(const sn_blend *blend, int32_t sample);

// Room for a fade of these samples and vertices, in `arena`; D is the identity and offsets are zero. Reads the gradients.
sinew_status sn_fade_create(sn_arena *arena, const sn_blend *blend, const int32_t *samples, int32_t sample_count,
                            const int32_t *vertices, int32_t vertex_count, sn_fade *fade);

#endif
