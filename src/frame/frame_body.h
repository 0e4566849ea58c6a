// The frame body's own data, shared by its files: frame_body.c (ops), frame_create.c (what stays), frame_structure.c (what
// changes when nodes come and go), frame_adapt.c (coming and going), fade.c (no jump while they do), frame_query.c (reading),
// frame_drive.c (moving).
#ifndef SN_FRAME_FRAME_BODY_H
#define SN_FRAME_FRAME_BODY_H

#include "sinew/frame_body.h"

#include "body/body.h"
#include "frame/blend_point.h"
#include "frame/fade.h"
#include "frame/frame_mass.h"
#include "frame/quadrature.h"
#include "frame/springs.h"

typedef struct sn_frame_model {
    // What stays: in the body's arena, or destroyed with it.
    sn_shape *shape;
    sinew_voxels *own_voxels;        // NULL: the caller's
    sn_frame_samples *base_samples;  // without insertions
    sn_vertex_weights base_vertices; // likewise
    sn_quadrature quadrature;        // of the samples; without points if each is its own
    sinew_mesh *surface;             // rest mesh
    sinew_material_def *materials;
    int32_t material_count;
    int32_t *material_labels; // NULL: every label takes the first
    const sinew_field *field; // of material axes; the caller's, or NULL
    sinew_frame_mass mass_kind;
    sn_mass_base mass_base;
    bool geometric, dual, wants_springs;

    // What changes when nodes come and go: in an arena that is replaced as a whole, together with the body's state.
    sn_arena arena;
    sn_nodes nodes; // the shape's own, then the inserted ones
    sn_insertion **insertions;
    int32_t insertion_count;
    sn_frame_samples *samples; // the base's, or with insertions
    sn_frame_samples *points;  // where strain is measured: the samples, or the points in them
    sn_blend blend;
    sn_frame_mass *mass;
    sn_springs *springs; // instead of the samples; NULL without
    sn_vertex_weights vertices;
    sn_fade fade;
} sn_frame_model;

// Checks the definition and fills in a body whose context, arena, world and name are set.
sinew_status sn_frame_body_build(sinew_body *body, const sinew_frame_body_def *def);

// The initial placement and velocity, once the nodes are there.
sinew_status sn_frame_body_check_placement(sinew_context *context, const sinew_frame_body_def *def);
void sn_frame_body_place(sinew_body *body, const sinew_frame_body_def *def);

// Fills in everything of `body` and its model that depends on the nodes: kinds and places `nodes` of the shape's own nodes and
// of model->insertions. Everything goes into model->arena, which the caller has made, and model->samples.
sinew_status sn_frame_structure_build(sinew_body *body, const sinew_frame_node *nodes, int32_t count);
void sn_frame_structure_release(sn_frame_model *model);

// Computes the springs, if the body has some, from its samples at rest: once at first, and when a material changes.
sinew_status sn_frame_body_compute_springs(sinew_body *body);

// A frame by its number, or a failure that tells the numbers.
sinew_status sn_frame_body_find_node(const sinew_body *body, int32_t index, const sn_node **node);

// After a step: see frame_drive.c.
void sn_frame_body_settle(sinew_body *body);

// Force and torque about the node that forces on all rows mean for it, at the configuration of the body.
void sn_frame_node_force(const sinew_body *body, const sn_node *node, const double *rows, sn_vec3 *force, sn_vec3 *torque);

extern const sn_body_ops sn_frame_body_ops;

// The model of a frame body; NULL of any other.
sn_frame_model *sn_frame_model_of(const sinew_body *body);

static inline const sn_insertion *const *sn_frame_insertions(const sn_frame_model *model) {
    return (const sn_insertion *const *)model->insertions;
}

// Frees what does not live in the body's arena.
void sn_frame_body_release(sinew_body *body);

// Weights at a rest point with all insertions.
void sn_frame_weights_at(const sn_frame_model *model, sn_vec3 X, sn_shape_point *result);

// How a rest point moves with the nodes of the last sn_blend_prepare, and, if `v` is not NULL, with these rates of the rows.
sn_frame_motion sn_frame_motion_at(const sn_frame_model *model, sn_vec3 X, const double *v);

// The rest point that is now at x, by damped Newton steps until it is met to within `tolerance` [m]; see inverse.c. False if
// there is none.
bool sn_frame_find_point(const sinew_body *body, sn_vec3 x, double tolerance, sn_vec3 *X, int32_t *iterations);
// The same, or, if there is none, a point outside the solid that would move there with the weights of what is nearest to it.
bool sn_frame_find_point_anywhere(const sinew_body *body, sn_vec3 x, double tolerance, sn_vec3 *X);

// The structure of a running body changes: see frame_adapt.c. The world's islands must be dropped by the caller.
sinew_status sn_frame_body_insert(sinew_body *body, const sinew_frame_insert_def *def, int32_t *node);
sinew_status sn_frame_body_remove(sinew_body *body, int32_t node, double fade);

#endif
