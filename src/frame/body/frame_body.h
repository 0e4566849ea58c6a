// The frame body's own data, shared by its files:
//
//   create.c      what stays for the body's life       place.c    initial position and velocity
//   structure.c   what depends on the set of nodes     change.c   nodes that join and leave
//   frame_body.c  the operations of a body             product.c  products with the stiffness
//   query.c       reading frames, points, the surface  state.c    strains and stresses at points
//   drive.c       moving frames                        inverse.c  from a position to a rest point
//   rank.c        motions without resistance
//   follow.c      points of the body                   support.c  faces that are held
//   rigid.c       rigid bodies: one frame, no samples
//
// Flow of the sub-folders, each with the one header that other folders include:
//
//   weights/weights.h      weights of the nodes in the voxels
//   sampling/sampling.h    where strain is measured
//   blend/blend.h          the motions of nodes, blended
//   adapt/adapt.h          nodes that join a running body
//   mass/mass.h            mass of the nodes, and their free motion
//   springs/springs.h      springs between nodes, instead of samples
//   body/frame_body.h      the body
#ifndef SN_FRAME_BODY_FRAME_BODY_H
#define SN_FRAME_BODY_FRAME_BODY_H

#include "sinew/frame_body.h"
#include "sinew/rigid_body.h"

#include "body/body.h"
#include "frame/adapt/adapt.h"
#include "frame/body/state.h"
#include "frame/body/support.h"
#include "frame/mass/mass.h"
#include "frame/springs/springs.h"

typedef struct sn_frame_products sn_frame_products; // product.h

typedef struct sn_frame_model {
    // Constant data, in the body's arena or destroyed with it.
    sn_shape *shape;
    sinew_voxels *own_voxels;        // NULL: the caller's
    sn_frame_samples *base_samples;  // without insertions
    sn_vertex_weights base_vertices; // likewise; compliance from when the surface is first needed
    sn_quadrature quadrature;        // of the samples; without points if each is its own
    const sinew_mesh *surface;       // rest mesh, the body's
    sinew_material_def *materials;
    int32_t material_count;
    int32_t *material_labels; // NULL: every label takes the first
    const sinew_field *field; // of material axes; the caller's, or NULL
    sinew_frame_mass mass_kind;
    sn_mass_base mass_base;
    bool geometric, dual, wants_springs;
    sn_quat placed_R; // the initial placement: R X + t
    sn_vec3 placed_t;
    sn_redundancy held; // combinations of the shape's own controls, as a stiffness
    bool assumed;       // transverse strains, where they apply
    sn_arena reach_arena, compliance_arena;
    sn_reach reach; // once a node has joined; without points of a shape before

    // Data that changes only in the range of nodes that join or leave.
    sn_layers layers; // the samples
    sn_fade fade;
    sn_vertex_patch *patch;                    // vertices that inserted nodes touch; NULL: none
    struct sn_surface_weights *surface_points; // weights of all vertices; NULL until asked for
    sinew_frame_change last_change;

    // Data that depends on every node, in an arena that is replaced as a whole, together with the
    // body's state.
    sn_arena arena;
    sn_nodes nodes; // the shape's own, then the inserted ones
    sn_insertion **insertions;
    int32_t insertion_count;
    sn_blend blend; // where the nodes are; samples are in the layers
    sn_frame_mass *mass;
    sn_springs *springs;         // instead of the samples; NULL without
    double *rest_stiffness;      // of the samples, from which the springs were made; NULL without
    sn_frame_products *products; // NULL until a solver wants them
    sn_face_part *parts;         // of the supports

    // Parts of the surface that are held.
    sn_face_support **supports;
    int32_t support_count;
    size_t support_capacity;
} sn_frame_model;

// Checks the definition and fills in a body whose context, arena, world and name are set.
sinew_status sn_frame_body_build(sinew_body *body, const sinew_frame_body_def *def);

// The same for a rigid body; see rigid.c.
sinew_status sn_rigid_body_build(sinew_body *body, const sinew_rigid_body_def *def);

// Sets the initial position and velocity, once the nodes exist.
sinew_status sn_frame_body_check_placement(sinew_context *context, const sinew_frame_body_def *def);
void sn_frame_body_place(sinew_body *body, const sinew_frame_body_def *def);

// Counts the motions that no sample resists and reports them (rank.c).
sinew_status sn_frame_check_rank(sinew_body *body);

// Builds everything of a new body and its model that depends on the nodes; `nodes` gives the kinds
// and positions of the shape's own nodes.
sinew_status sn_frame_structure_build(sinew_body *body, const sinew_frame_node *nodes,
                                      int32_t count);

// Builds `next`, a copy of `body` whose model has another set of insertions and an arena of its
// own: what depends on all nodes goes there, what lies in the range of draft->change.changed goes
// into the draft. The body itself does not change.
sinew_status sn_frame_structure_change(const sinew_body *body, sinew_body *next,
                                       const sinew_frame_node *nodes, int32_t count,
                                       sn_adapt_draft *draft);

// Returns the source of the samples, for the layers of a model.
sn_layer_source sn_frame_layer_source(const sn_frame_model *model);

// Computes the springs, if the body has any, from its samples at rest: at first, and whenever a
// material changes.
sinew_status sn_frame_body_compute_springs(sinew_body *body);

// Fails if the material has active fibres: springs between frames have none.
sinew_status sn_frame_body_check_fibres(sinew_context *context, double stress);

// Checks the number of a frame; the failure states the valid numbers.
sinew_status sn_frame_body_find_node(const sinew_body *body, int32_t index, const sn_node **node);

// Runs after a step; see drive.c.
void sn_frame_body_settle(sinew_body *body);

// Computes the force on a node and the torque about it that correspond to forces on all rows, at
// the configuration of the body.
void sn_frame_node_force(const sinew_body *body, const sn_node *node, const double *rows,
                         sn_vec3 *force, sn_vec3 *torque);

extern const sn_body_ops sn_frame_body_ops;

// Returns the model of a frame body; NULL for any other body. Rigid bodies are none, although their
// model is a frame model without shape and samples.
sn_frame_model *sn_frame_model_of(const sinew_body *body);

// Returns the nodes of a frame body or a rigid body; NULL for any other body.
const sn_nodes *sn_frame_nodes_of(const sinew_body *body);

static inline const sn_insertion *const *sn_frame_insertions(const sn_frame_model *model) {
    return (const sn_insertion *const *)model->insertions;
}

// Frees what does not live in the body's arena.
void sn_frame_body_release(sinew_body *body);

// The index of a voxel's material.
int32_t sn_frame_material_of_voxel(const sn_frame_model *model, int32_t voxel);

// Computes the weights at a rest point with all insertions.
void sn_frame_weights_at(const sn_frame_model *model, sn_vec3 X, sn_shape_point *result);

// Computes the motion of a rest point with the nodes of the last sn_blend_prepare and, if `v` is
// not NULL, with these rates of the rows; active fades are included.
sn_frame_motion sn_frame_motion_at(const sinew_body *body, sn_vec3 X, const double *v);

// Finds the rest point that is now at x, by damped Newton steps, to within `tolerance` [m]; see
// inverse.c. Returns false if there is none.
bool sn_frame_find_point(const sinew_body *body, sn_vec3 x, double tolerance, sn_vec3 *X,
                         int32_t *iterations);
// The same, or, if there is none, a point outside the solid that would move there with the weights
// of the nearest part of the solid.
bool sn_frame_find_point_anywhere(const sinew_body *body, sn_vec3 x, double tolerance, sn_vec3 *X);

// Changes the structure of a running body; see change.c. The caller must drop the world's islands.
sinew_status sn_frame_body_insert(sinew_body *body, const sinew_frame_insert_def *def,
                                  int32_t *node);
sinew_status sn_frame_body_remove(sinew_body *body, int32_t node, double fade);

#endif
