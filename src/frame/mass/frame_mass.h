// The mass of frame nodes: what their control vectors weigh.
//
// With x = sum_i w_i sum_a m_a(X) a_ia the kinetic energy is half of adot' (G (x) I) adot, and M =
// B' (G (x) I) B, where B carries velocities of rows to those of controls (the identity, or w x a
// for the columns of a rigid node). G is constant:
//
//   consistent  G_(ia)(jb) = integral of rho w_i w_j m_a m_b
//   row sum     G_(ia)(ib) = integral of rho w_i m_a m_b, nothing between nodes: what node i would
//   feel if it carried, as
//               itself, its share w_i of the solid. Any translation, and any rotation of the rest
//               shape, is exact.
//   diagonal    G_(ia)(ib) = integral of rho w_i^2 m_a m_b: cross terms dropped (Gilles et al.
//   2011, 4.3), which loses mass.
//
// Where weights go negative the row sum is not positive; the consistent mass is.
#ifndef SN_FRAME_MASS_FRAME_MASS_H
#define SN_FRAME_MASS_FRAME_MASS_H

#include "frame/adapt/insertion.h"
#include "frame/blend/nodes.h"
#include "linalg/bsr.h"

// The part of G between two nodes, j <= i.
typedef struct sn_mass_block {
    int32_t i, j;
    double *G; // control_count(i) x control_count(j), row by row
} sn_mass_block;

// What a rigid node alone weighs, at rest.
typedef struct sn_rigid_mass {
    bool usable; // a rigid node's own block, with inertia about every axis
    double m;
    sn_vec3 c;      // the centre, from the node
    sn_mat3 I;      // about the centre
    sn_mat3 solver; // its inverse
} sn_rigid_mass;

typedef struct sn_frame_mass {
    int32_t degree;        // of what it was made from, which is kept for changes:
    double *moments;       // of each node; see sn_compute_mass_moments
    sn_mass_pairs pairs;   // and of pairs, where these weigh
    sinew_frame_mass kind; // never automatic
    bool all_rigid; // every node is rigid, weighs by row sum and is usable in `rigid`, in the order
                    // of the nodes
    int32_t count;
    sn_mass_block *blocks;                 // ascending in i, then j
    sn_rigid_mass *rigid;                  // [block]
    double *share;                         // [control]: integral of rho w m, which gravity pulls at
    double *controls, *velocity, *product; // [control][3], scratch
} sn_frame_mass;

// Moments of the shape's own nodes, kept between calls because all voxels are visited for them.
typedef struct sn_mass_base {
    int32_t degree; // valid once `moments` is there
    double *moments;
} sn_mass_base;

// What the mass is integrated from.
typedef struct sn_mass_source {
    const sn_shape *shape;
    const sn_insertion *const *insertions; // the nodes that follow the shape's own
    int32_t insertion_count;
    sn_mass_base *base;
    sn_arena *base_arena;              // for its moments
    const sn_insertion_change *change; // NULL, or what differs from the mass `old`
    const struct sn_frame_mass *old;
} sn_mass_source;

// Chooses a kind where `kind` is automatic.
sinew_status sn_frame_mass_create(sn_arena *arena, const sn_mass_source *source,
                                  const sn_nodes *nodes, sinew_frame_mass kind,
                                  sn_frame_mass **mass);

// The lists of rows that the mass couples, for the pattern of the rows.
sinew_status sn_frame_mass_row_sets(sn_arena *arena, const sn_nodes *nodes,
                                    const sn_frame_mass *mass, sn_bsr_sets *sets);

// A += s M, lower triangle; y = M x; both for the nodes turned as in q.
void sn_frame_mass_add(const sn_nodes *nodes, const sn_frame_mass *mass, const sn_bsr *pattern,
                       double *A, double s, const double *q);
void sn_frame_mass_multiply(const sn_nodes *nodes, const sn_frame_mass *mass, double *y,
                            const double *x, const double *q);

// The mass of a node that turns freely: rigid, its mass its own, none of its rows held. NULL if it
// does not.
const sn_rigid_mass *sn_frame_mass_find_free(const sn_nodes *nodes, const sn_frame_mass *mass,
                                             const uint8_t *mask, int32_t node);

// force += the weight, and, if v is not NULL, what turning costs rigid nodes: -B' G Bdot v, for one
// node alone the torque -w x (I w) and the force -m w x (w x c). With a mask nodes that turn freely
// are left out: they coast.
void sn_frame_mass_add_gravity(const sn_nodes *nodes, const sn_frame_mass *mass, double *force,
                               const double *g, const double *q, const double *v,
                               const uint8_t *mask);

// Sums over the body; each is added to.
typedef struct sn_frame_momenta {
    double mass, kinetic_energy, first_moment[3], momentum[3],
        angular_momentum[3]; // angular about the origin
} sn_frame_momenta;

void sn_frame_mass_compute_momenta(const sn_nodes *nodes, const sn_frame_mass *mass,
                                   const double *q, const double *v, sn_frame_momenta *momenta);

#endif
