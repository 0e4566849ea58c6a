// Blending of the nodes' motions at the samples of a frame body (Gilles et al. 2011, 2; 2013, 1.3).
//
// In: samples with weights, and the configuration of the nodes. Out: energy, forces and stiffness
// of the body's rows, and positions and derivatives of points.
//
// If all nodes are rigid, blended linearly or by dual quaternions, kernels of their own compute the
// rows directly (rigid_blend.h). Otherwise forces and stiffness are computed for control vectors
// (nodes.h), and this module projects them from controls to rows.
#ifndef SN_FRAME_BLEND_BLEND_H
#define SN_FRAME_BLEND_BLEND_H

#include "sinew/field.h"

#include "body/sample_groups.h"
#include "frame/blend/nodes.h"
#include "frame/blend/rigid_blend.h"
#include "frame/blend/surface.h"
#include "frame/sampling/sampling.h"

// The block of the matrix of rows that receives a pair of controls.
typedef struct sn_blend_target {
    int32_t slot; // of the lower triangle
    bool transposed;
} sn_blend_target;

// dP/dF of all samples, and the configuration at which it was computed: the nodes' controls, or, if
// all are rigid, their table.
typedef struct sn_blend_tangent {
    double **H; // [group][block], see sn_groups_request; NULL: none
    double *place;
} sn_blend_tangent;

// The data of products with the stiffness; see blend_product.c.
typedef struct sn_blend_products {
    sn_blend_tangent now, kept;
    double *motion; // of the controls, three numbers each, or of rigid nodes, six
    // The controls of each node with each other; this and the rest are unused if all nodes are
    // rigid.
    sn_bsr own;
    int32_t *own_first;    // [control]: the first of its node
    double *own_stiffness; // on `own`
} sn_blend_products;

typedef struct sn_blend {
    sn_sample_groups groups; // one for each material and number of controls
    int32_t *group_material; // [group]
    int32_t *sample_group;   // [sample]
    int32_t *sample_place;   // [sample]: index within its group
    double *controls;
    bool is_rigid;
    sn_rigid_blend rigid; // if is_rigid; otherwise the following
    sn_bsr pattern;       // of the controls
    double *force, *matrix;
    sn_blend_target *targets; // for each lower block of the pattern
    int32_t *node_of_control;
    sn_blend_products *products; // NULL until prepared
} sn_blend;

// The materials of the samples.
typedef struct sn_blend_materials {
    const sinew_material_def *defs;
    int32_t count;
    const int32_t *labels;    // of the materials; NULL: every label takes the first
    const sinew_field *field; // where material axes point; NULL: along x, y, z
    bool assumed;             // transverse strains by internal modes, where they apply
} sn_blend_materials;

// Builds a blend; the samples are not kept. Dual quaternions need rigid nodes.
sinew_status sn_blend_create(sn_arena *arena, const sn_nodes *nodes,
                             const sn_frame_samples *samples, const sn_blend_materials *materials,
                             const sn_bsr *rows, bool dual, sn_blend *blend);

// Builds a blend without samples, which only evaluates points.
sinew_status sn_blend_create_pose(sn_arena *arena, const sn_nodes *nodes, bool dual,
                                  sn_blend *blend);

// Adapts the blend to nodes with other rows on another pattern; the samples stay the same.
// Allocates nothing.
void sn_blend_remap(const sn_nodes *nodes, const sn_bsr *rows, sn_blend *blend);

// Sets the volume of a sample; with volume 0 it has no effect.
void sn_blend_set_volume(const sn_blend *blend, int32_t sample, double volume);

// Multiplies F of a sample by D from the right, by changing its rest gradients. Not for rigid
// nodes, whose kernels apply D themselves.
void sn_blend_fade_gradients(const sn_nodes *nodes, const sn_frame_samples *samples, int32_t sample,
                             sn_mat3 D, const sn_blend *blend);

// Returns the material axes at a rest point, as columns.
sn_mat3 sn_field_frame_at(const sinew_field *field, sn_vec3 X);

// Lists the rows that each sample couples, for the pattern of the rows. The nodes of sample s are
// node[start[s]] .. node[start[s + 1] - 1].
sinew_status sn_blend_row_sets(sn_arena *arena, const sn_nodes *nodes, int32_t count,
                               const int32_t *start, const int32_t *node, sn_bsr_sets *sets);

// Sets the configuration of the nodes: blend->controls, and the table of rigid nodes.
void sn_blend_prepare(const sn_nodes *nodes, const sn_blend *blend, const double *q);

// A request that is `local` needs products, and `rows` is then the pattern of its matrix.
double sn_blend_evaluate(sinew_context *context, const sn_nodes *nodes, const sn_blend *blend,
                         const sn_bsr *rows, const sn_blend_request *request);

// Allocates the data of products in an arena that lives as long as the blend; with `kept` also for
// those of a tangent that is kept.
sinew_status sn_blend_prepare_products(sn_arena *arena, const sn_nodes *nodes, bool kept,
                                       sn_blend *blend);

// Keeps the tangent of the last evaluation that was `local`.
void sn_blend_keep_tangent(const sn_nodes *nodes, const sn_blend *blend);

// y += K x, with the tangent of the last evaluation that was `local` or the one that was kept;
// three numbers a row.
void sn_blend_add_product(sinew_context *context, const sn_nodes *nodes, const sn_blend *blend,
                          bool kept, double *y, const double *x);

// Adds sign times the forces on rows that correspond to these forces on controls.
void sn_blend_project_force(const sn_nodes *nodes, const double *controls,
                            const double *control_force, double sign, double *out);

// Finds the smallest and largest det F over the samples, and the deformed volume.
void sn_blend_measure(const sn_nodes *nodes, const sn_blend *blend, const double *q,
                      double *smallest_J, double *largest_J, double *volume);

// Points of a frame body: their positions, their motion, and the effect of forces on them. The
// configuration is that of the last sn_blend_prepare.

// The offset of a point from where its nodes carry it, in the axes of one of them (of a point node:
// the world's), and how the offset varies with the rest position. Zero: no offset.
typedef struct sn_blend_offset {
    int32_t carrier;
    sn_vec3 offset; // [m]
    sn_mat3 slope;
} sn_blend_offset;

// A rest point and the nodes that carry it. Gradients, three numbers each, are needed for F only
// and may otherwise be NULL.
typedef struct sn_blend_point {
    sn_vec3 X;
    int32_t count;
    const int32_t *node;
    const double *weight;
    const double *gradient;
    sn_blend_offset off;      // its carrier must be among the nodes for derivatives
    const double *compliance; // coordinates of X, without gradients; NULL: looked up if needed
} sn_blend_point;

// Returns the axes of a node: its columns, or the world's.
sn_mat3 sn_blend_get_axes(const sn_nodes *nodes, const sn_blend *blend, int32_t node);

sn_vec3 sn_blend_get_position(const sn_nodes *nodes, const sn_blend *blend,
                              const sn_blend_point *point);

// Position and deformation gradient, and, if v is not NULL, their rates when the rows change at
// rates v.
typedef struct sn_frame_motion {
    sn_vec3 x, rate;
    sn_mat3 F, F_rate;
} sn_frame_motion;

sn_frame_motion sn_blend_get_motion(const sn_nodes *nodes, const sn_blend *blend,
                                    const sn_blend_point *point, const double *v);

// Adds the effect of a force at the point: rows += J' f.
void sn_blend_add_force(const sn_nodes *nodes, const sn_blend *blend, const sn_blend_point *point,
                        sn_vec3 f, double *rows);

// Computes the Jacobian of a point, dx = sum_k J_k d(row k) over the rows of its nodes, node by
// node. `row` receives the rows if it is not NULL. Returns their number.
int32_t sn_blend_get_jacobian(const sn_nodes *nodes, const sn_blend *blend,
                              const sn_blend_point *point, int32_t *row, sn_mat3 *J);

// Adds f . d2x in the same rows to the blocks, row by row; rotations are updated by exponentials.
void sn_blend_add_curvature(const sn_nodes *nodes, const sn_blend *blend,
                            const sn_blend_point *point, sn_vec3 f, sn_mat3 *blocks);

// Combinations of controls that hardly move the solid (redundancy.c).
typedef struct sn_redundancy {
    int32_t controls;   // of the nodes; 0: none is held
    int32_t count;      // of independent combinations
    double *Q;          // controls^2, symmetric: Q a = 0 for every motion that is not held
    double *compliance; // [control]: a'Q a = sum of compliance_i (Q a)_i^2
} sn_redundancy;

// Finds them from the Gram matrix of the products of weights and monomials: the lower triangle,
// controls^2. `Q` is `stiffness` times a projection in the units of that matrix; it goes into the
// arena.
sinew_status sn_redundancy_create(sn_arena *arena, const sn_nodes *nodes, const double *gram,
                                  double stiffness, sn_redundancy *redundancy);

// Which of many candidate points a body needs to measure strain at (cubature.c).

typedef struct sn_cubature_def {
    double tolerance; // of the energies, relative
    int32_t most;     // points; 0: as many as the tolerance takes
} sn_cubature_def;

// Finds volumes of the candidates, most of them 0, that integrate the elastic energy of the lowest
// motions of the nodes, and of a few random ones. `volume` has one number for each candidate.
// `redundancy` receives the combinations of controls to be held, in the arena and as a stiffness
// [N/m for each control]; `error` what is left, relative to the energies.
sinew_status sn_cubature_select(const sn_shape *shape, const sn_nodes *nodes,
                                const sn_blend_materials *materials,
                                const sn_frame_samples *candidates, const sn_cubature_def *def,
                                sn_arena *arena, double *volume, sn_redundancy *redundancy,
                                double *error);

#endif
