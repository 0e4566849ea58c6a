// The frame body's own data, shared by its files: frame_body.c (ops), frame_create.c (building), frame_query.c (reading and
// moving).
#ifndef SN_FRAME_FRAME_BODY_H
#define SN_FRAME_FRAME_BODY_H

#include "sinew/frame_body.h"

#include "body/body.h"
#include "frame/blend.h"
#include "frame/frame_mass.h"

typedef struct sn_frame_model {
    sn_nodes nodes;
    sn_shape *shape;
    sn_frame_samples *samples;
    sn_blend blend;
    sn_node_mass *mass;
    bool geometric;
    sinew_mesh *surface; // rest mesh; owned
    sn_vertex_weights vertices;
    sinew_material_def *materials;
    int32_t material_count;
    int32_t *material_labels; // of each material; NULL with one
} sn_frame_model;

// Checks the definition and fills in a body whose context, arena, world and name are set.
sinew_status sn_frame_body_build(sinew_body *body, const sinew_frame_body_def *def);

// The initial placement and velocity, once the nodes are there.
sinew_status sn_frame_body_check_placement(sinew_context *context, const sinew_frame_body_def *def);
void sn_frame_body_place(sinew_body *body, const sinew_frame_body_def *def);

extern const sn_body_ops sn_frame_body_ops;

// The model of a frame body; NULL of any other.
sn_frame_model *sn_frame_model_of(const sinew_body *body);

// Frees what does not live in the body's arena.
void sn_frame_body_release(sinew_body *body);

// A rest point's weights applied to the controls of q.
sn_vec3 sn_frame_point(const sn_nodes *nodes, const double *controls, sn_vec3 X, const int32_t *node, const double *weight,
                       int32_t count);

#endif
