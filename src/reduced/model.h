// The model of a reduced body: a rigid frame and modal coordinates.
//
//   x(X) = t + R (X - c + U(X) y)
//
// where c is the centre of mass at rest. With modal warping U y is replaced by B(W y) U y, with W
// the rotations of the modes and B(w) the mean of exp(s w) for s in [0, 1]. The configuration is R
// as a quaternion, t, and y; the rows are a rotation, a translation and the coordinates in threes.
// Elastic forces depend on y alone. The frame of a body with supports is held.
#ifndef SN_REDUCED_MODEL_H
#define SN_REDUCED_MODEL_H

#include "body/body.h"
#include "math/quat.h"
#include "reduced/cubature.h"

enum {
    SN_REDUCED_TRANSLATION = 4, // place of t in the configuration
    SN_REDUCED_COORDINATES = 7, // ... and of y
    SN_REDUCED_FRAME_ROWS = 2,  // a rotation, then a translation
};

// Integrals over the body at rest, of the fields X - c (number 0) and U_k (number k + 1), and what
// they make of the coordinates of sn_reduced_inertia_update.
typedef struct sn_reduced_inertia {
    int32_t size;
    double mass;
    sn_vec3 *first;  // [size + 1]: integral of rho phi_a
    sn_mat3 *second; // [size + 1][size + 1]: integral of rho phi_a phi_b'

    // At d = X - c + U y, in the axes of the frame, for the last y.
    bool known; // whether there was one
    double *y;
    sn_vec3 moment; // integral of rho d
    sn_mat3 spread; // ... of rho d d'
    sn_mat3 J;      // tr(spread) I - spread
    sn_mat3 *mixed; // [size]: ... of rho d U_k'
} sn_reduced_inertia;

// A point with its fields.
typedef struct sn_reduced_place {
    sn_vec3 d0;         // X - c
    const double *U;    // [size][3]
    const double *turn; // [size][3]; NULL: not warped
} sn_reduced_place;

typedef struct sn_reduced_model {
    sinew_body full; // the body of elements, for what its nodes know; its q is scratch
    sinew_reduction_kind kind;
    int32_t size;
    sn_vec3 center;
    double *omega_squared;
    double *U, *turn;               // [node][size][3]
    double *vertex_U, *vertex_turn; // [vertex][size][3]
    sn_cubature cubature;
    sn_reduced_point *points;
    sn_reduced_inertia inertia;
    double *tangent; // [size][size]
    double *full_v;  // [3 nodes]

    // Of the last preparation.
    sn_mat3 R;
    sn_vec3 t;
    double *y;
} sn_reduced_model;

extern const sn_body_ops sn_reduced_body_ops;

static inline sn_quat sn_reduced_rotation(const double *q) {
    return (sn_quat){q[0], q[1], q[2], q[3]};
}

// The fields of a vertex of the surface.
sn_reduced_place sn_reduced_vertex(const sinew_body *body, int32_t vertex);

// Fills in the integrals from the mass of the full body, and their values at y.
sinew_status sn_reduced_inertia_create(sn_arena *arena, sn_reduced_model *model);
void sn_reduced_inertia_fill(sn_reduced_model *model);
void sn_reduced_inertia_update(sn_reduced_inertia *inertia, const double *y);

// Mass and motion (motion.c).
void sn_reduced_add_mass(sinew_body *body, const sn_bsr *pattern, double *matrix, double s,
                         const double *q);
void sn_reduced_multiply_mass(sinew_body *body, double *y, const double *x, const double *q);
void sn_reduced_add_gravity(sinew_body *body, double *force, const double *g, const double *q,
                            const double *v);
void sn_reduced_add_momenta(sinew_body *body, const double *g, sinew_measures *measures);
extern const sn_free_motion_ops sn_reduced_free_motion;

// Points and surface (follow.c).
void sn_reduced_prepare(const sinew_body *body, const double *q);
sinew_status sn_reduced_point_create(sn_arena *arena, sinew_body *body, sn_vec3 X, bool deformed,
                                     sn_point *point);
void sn_reduced_point_move(const sinew_body *body, const double *q, sn_point *point);
void sn_reduced_point_add_force(const sinew_body *body, const sn_point *point, sn_vec3 f,
                                double *rows);
void sn_reduced_point_add_curvature(const sinew_body *body, const sn_point *point, sn_vec3 f,
                                    sn_mat3 *blocks);
sinew_status sn_reduced_point_get_state(sinew_body *body, const sn_point *point,
                                        sinew_element_state *state);
void sn_reduced_surface_compute(const sinew_body *body, const double *q, double *positions);
int32_t sn_reduced_surface_get_jacobian(const sinew_body *body, int32_t vertex, int32_t *row,
                                        sn_mat3 *J);
void sn_reduced_surface_add_forces(const sinew_body *body, const double *forces, double *rows);
sinew_status sn_reduced_surface_measure(sinew_body *body, double *velocities,
                                        sinew_element_state *states);

// What warping adds to gravity: the weight of a few nodes, which stand for all, acts where they are
// warped to instead of where U y alone takes them. Adds to the rows of `force`, which may be NULL;
// returns the potential energy [J].
double sn_reduced_add_warped_weight(const sinew_body *body, const double *q, sn_vec3 g,
                                    double *force);

// Positions and, if body->v is wanted, velocities of the nodes: full.q and full_v.
void sn_reduced_move_nodes(const sinew_body *body, const double *q, const double *v);

#endif
