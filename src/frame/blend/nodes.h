// The nodes of a frame body: how their configurations are stored, how they move, and their control
// vectors.
//
//   kind       configuration q   rows of unknowns  controls a, each with its monomial
//   point      t                 t                 t (1)
//   rigid      quaternion, t     w, t              t (1), R e_x (x), R e_y (y), R e_z (z)
//   affine     t, three columns  the same          the same
//   quadratic  t, nine columns   the same          t (1) x y z xx yy zz xy yz zx
//   compliant  t, 15 columns     the same          t (1) x y z, c_x c_y c_z, c_x x c_x y ... c_z z
//
// The monomials are those of d = X - rest origin. c are the compliance coordinates of the shape
// (weights/compliance.c), which in a solid of one material are those of X.
//
// Node i alone would carry a point to x_i = sum_m m(d) a_m; the body blends these. Every control
// moves with exactly one row: by the identity, or, for the columns of a rigid node, by da = w x a.
#ifndef SN_FRAME_BLEND_NODES_H
#define SN_FRAME_BLEND_NODES_H

#include "sinew/frame_body.h"

#include "base/memory.h"
#include "frame/weights/weights.h"
#include "math/quat.h"

enum { SN_NODE_MAX_CONTROLS = 16 };

typedef struct sn_node {
    sinew_node_kind kind;
    sn_vec3 origin;               // rest position
    int32_t config, row, control; // first of each
    int32_t row_count, control_count;
    const sn_shape *compliance; // of compliant nodes, else NULL
} sn_node;

typedef struct sn_nodes {
    int32_t count;
    sn_node *items;
    int32_t config_count, row_count, control_count;
} sn_nodes;

sinew_status sn_nodes_create(sn_arena *arena, const sinew_frame_node *defs, int32_t count,
                             sn_nodes *nodes);

// Sets the rest configuration, moved as a whole by x -> R x + t.
void sn_nodes_place(const sn_nodes *nodes, double *q, sn_quat R, sn_vec3 t);

// A rest point, and its compliance coordinates once a node has asked for them.
typedef struct sn_rest_point {
    sn_vec3 X;
    bool known;
    double c[3];
    sn_vec3 dc[3];
} sn_rest_point;

static inline sn_rest_point sn_rest_point_at(sn_vec3 X) {
    return (sn_rest_point){.X = X};
}

// Computes the monomials of a node at a rest point, and their gradients (either may be NULL).
// Returns their number.
int32_t sn_node_monomials(const sn_node *node, sn_rest_point *point, double m[SN_NODE_MAX_CONTROLS],
                          sn_vec3 dm[SN_NODE_MAX_CONTROLS]);

// Computes the control vectors of a configuration, three numbers each.
void sn_nodes_compute_controls(const sn_nodes *nodes, const double *q, double *controls);

// The table of rigid nodes that kernels read: quaternion, rotation row by row, translation, rest
// origin.
enum {
    SN_RIGID_QUAT = 0,
    SN_RIGID_ROTATION = 4,
    SN_RIGID_TRANSLATION = 13,
    SN_RIGID_ORIGIN = 16,
    SN_RIGID_TABLE = 19
};

// Computes the table, SN_RIGID_TABLE numbers for each node; all must be rigid.
void sn_nodes_compute_table(const sn_nodes *nodes, const double *q, double *table);

void sn_nodes_translate(const sn_nodes *nodes, double *q, sn_vec3 by);
void sn_nodes_retract(const sn_nodes *nodes, double *q, const double *base, const double *xi);
void sn_nodes_difference(const sn_nodes *nodes, double *xi, const double *q, const double *base);

// Returns the row that moves control c of a node, relative to the node's first. It moves by da = J
// dxi, J being the identity or -[a]x.
static inline int32_t sn_node_row_of_control(const sn_node *node, int32_t c) {
    if (node->kind != SINEW_NODE_RIGID) {
        return c;
    }
    return c == 0 ? 1 : 0;
}

static inline bool sn_node_control_turns(const sn_node *node, int32_t c) {
    return node->kind == SINEW_NODE_RIGID && c > 0;
}

// Returns the number of doubles of a node in a configuration: a rigid node has a quaternion and a
// position.
static inline int32_t sn_node_config_count(const sn_node *node) {
    return node->kind == SINEW_NODE_RIGID ? 7 : 3 * node->row_count;
}

// Returns the row of the translation.
static inline int32_t sn_node_translation_row(const sn_node *node) {
    return node->row + (node->kind == SINEW_NODE_RIGID ? 1 : 0);
}

// Pointers into a configuration.
static inline const double *sn_node_translation(const sn_node *node, const double *q) {
    return q + node->config + (node->kind == SINEW_NODE_RIGID ? 4 : 0);
}

sn_quat sn_node_rotation(const sn_node *node, const double *q);
sn_mat3 sn_node_matrix(const sn_node *node, const double *q);

#endif
