// The mass of frame nodes, and the free motion of rigid ones.
//
// In: the weights over the voxels, densities, and the nodes. Out: the mass matrix M, gravity and
// gyroscopic forces, momenta, and free motions.
//
// With x = sum_i w_i sum_a m_a(X) a_ia the kinetic energy is half of adot' (G (x) I) adot, and
// M = B' (G (x) I) B, where B maps velocities of rows to velocities of controls (the identity, or
// w x a for the columns of a rigid node). G is constant:
//
//   consistent  G_(ia)(jb) = integral of rho w_i w_j m_a m_b
//   row sum     G_(ia)(ib) = integral of rho w_i m_a m_b, nothing between nodes: each node carries
//               its share w_i of the solid. Exact for any translation and any rotation of the rest
//               shape.
//   diagonal    G_(ia)(ib) = integral of rho w_i^2 m_a m_b: the consistent mass without its cross
//               terms (Gilles et al. 2011, 4.3), which loses mass
//
// Where weights are negative the row sum is not positive definite; the consistent mass always is.
// Cost of a product: the pairs of controls that the mass couples.
#ifndef SN_FRAME_MASS_MASS_H
#define SN_FRAME_MASS_MASS_H

#include "body/body.h"
#include "frame/mass/moments.h"
#include "linalg/bsr.h"

// The part of G between two nodes, j <= i.
typedef struct sn_mass_block {
    int32_t i, j;
    double *G; // control_count(i) x control_count(j), row by row
} sn_mass_block;

// The mass of a single rigid node, at rest.
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

// Moments of the shape's own nodes, kept between calls because computing them visits all voxels.
typedef struct sn_mass_base {
    int32_t degree; // valid once `moments` is there
    double *moments;
} sn_mass_base;

// The input of the integrals for the mass.
typedef struct sn_mass_source {
    const sn_shape *shape;
    const sn_insertion *const *insertions; // the nodes that follow the shape's own
    int32_t insertion_count;
    sn_mass_base *base;
    sn_arena *base_arena;              // for its moments
    const sn_insertion_change *change; // NULL, or what differs from the mass `old`
    const struct sn_frame_mass *old;
} sn_mass_source;

// Builds the mass; if `kind` is automatic, chooses one.
sinew_status sn_frame_mass_create(sn_arena *arena, const sn_mass_source *source,
                                  const sn_nodes *nodes, sinew_frame_mass kind,
                                  sn_frame_mass **mass);

// Builds the mass of a single rigid node from its moments G: the mass, the first and the second
// moments about the node, a symmetric matrix of 4 x 4 row by row.
sinew_status sn_frame_mass_create_rigid(sn_arena *arena, const sn_nodes *nodes, const double G[16],
                                        sn_frame_mass **mass);

// Fills in blocks and shares of the consistent (or diagonal) mass from the weights and gradients at
// the centres of the voxels (point_mass.c), for smooth weights.
sinew_status sn_fill_point_mass(sn_arena *arena, const sn_mass_source *source,
                                const sn_nodes *nodes, sn_frame_mass *mass);

// Lists the rows that the mass couples, for the pattern of the rows.
sinew_status sn_frame_mass_row_sets(sn_arena *arena, const sn_nodes *nodes,
                                    const sn_frame_mass *mass, sn_bsr_sets *sets);

// Compute A += s M (lower triangle) and y = M x, both with the nodes rotated as in q.
void sn_frame_mass_add(const sn_nodes *nodes, const sn_frame_mass *mass, const sn_bsr *pattern,
                       double *A, double s, const double *q);
void sn_frame_mass_multiply(const sn_nodes *nodes, const sn_frame_mass *mass, double *y,
                            const double *x, const double *q);

// Returns the mass of a node that rotates freely: it is rigid, its mass is coupled to no other
// node, and none of its rows is held. NULL for any other node.
const sn_rigid_mass *sn_frame_mass_find_free(const sn_nodes *nodes, const sn_frame_mass *mass,
                                             const uint8_t *mask, int32_t node);

// Adds the weight to `force` and, if v is not NULL, the gyroscopic forces of rigid nodes: -B' G
// Bdot v, which for a single node is the torque -w x (I w) and the force -m w x (w x c). With a
// mask, nodes that rotate freely are left out, because their free motion accounts for these forces.
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

// Rigid nodes that rotate fast: their motion without forces, and velocities that conserve momentum
// from one configuration to the next.
//
// A node whose mass is coupled to no other (row sum, diagonal) is a rigid body with mass m, centre
// c and inertia I about it, all given at rest. M changes from step to step as the node rotates. An
// integrator that only uses M at the beginning of a step treats the gyroscopic terms as forces, and
// drifts. Here the step starts from the free motion instead,
//
//   centre    moves in a straight line
//   rotation  exp(theta) with theta = h R' I^-1 R'^T L and R' = exp(theta / 2) R, where L is the
//             spin about the centre
//
// (the implicit midpoint rule on the rotation group). It ends with the velocity whose momentum in
// the new configuration is the old momentum plus the impulse of the forces. With forces that act at
// the middle of the step, total angular momentum is then conserved to rounding.

// Whether the nodes have a free motion: some are rigid, and the mass couples no two nodes.
bool sn_frame_moves_freely(const sn_nodes *nodes, const sn_frame_mass *mass);

// Computes xi, the displacement of the nodes in a time h without forces. For nodes that are not
// rigid or are held (mask), xi = h v.
void sn_frame_free_motion(const sn_nodes *nodes, const sn_frame_mass *mass, const uint8_t *mask,
                          const double *q, const double *v, double h, double *xi);

// The same for BDF2, whose momentum is 4/3 of the last one less a third of the one before.
// `momentum` holds velocities at body->q that have this momentum, and xi = d/3 + 2h/3 v with d the
// last step and v the velocity at the end that has it. Other nodes do the same without rotating
// masses.
void sn_frame_free_motion_bdf2(const sn_nodes *nodes, const sn_frame_mass *mass,
                               const sinew_body *body, double h, double *xi, double *momentum);

// Computes xi for a time h in which the body, all of whose nodes are rigid, moves and rotates as
// one with its momentum. Returns false if it rotates so little that a straight step is as good, or
// if some node is not rigid.
bool sn_frame_find_rigid_step(const sn_nodes *nodes, const sn_frame_mass *mass, const double *q,
                              const double *v, double h, double *xi);

// Computes accelerations a of a rotation about the centre that has the torque of the forces on all
// rows, with nodes rotated as in q and positioned as in `place`.
void sn_frame_find_rigid_turn(const sn_nodes *nodes, const sn_frame_mass *mass, const double *q,
                              const double *place, const double *force, double *a);

// Transports velocities v: those that have the right momentum with the masses rotated as in `from`
// become those that have it in `to`. `mean` is the velocity at the middle of the forces' action.
// Nodes that are not rigid or are held stay unchanged.
void sn_frame_transport(const sn_nodes *nodes, const sn_frame_mass *mass, const uint8_t *mask,
                        const double *from, const double *to, const double *mean, double *v);

// Transports accelerations a: from the effect of a force with the masses rotated as in `from` to
// its effect in `to`.
void sn_frame_transport_acceleration(const sn_nodes *nodes, const sn_frame_mass *mass,
                                     const uint8_t *mask, const double *from, const double *to,
                                     double *a);

// Adds to body->v the rotation of the whole body that supplies the angular momentum missing after
// the displacement from previous_q to `place` under the forces behind body->acceleration. Does
// nothing if some node is not rigid.
void sn_frame_restore_turn(const sn_nodes *nodes, const sn_frame_mass *mass, sinew_body *body,
                           const double *place, double h);

#endif
