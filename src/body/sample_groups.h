// Samples with their materials: computes energy, forces and stiffness from the control vectors, for
// every body whose interpolation is linear in its controls (elements, linearly blended frames).
//
// Samples are grouped by material. A group is evaluated in blocks of eight samples. Chunks of
// blocks run in parallel, one colour after another, so that the contributions to a control are
// always added in the same order and results do not depend on the number of threads.
#ifndef SN_BODY_SAMPLE_GROUPS_H
#define SN_BODY_SAMPLE_GROUPS_H

#include "sinew/body.h"

#include "body/dilatation.h"
#include "body/internal_modes.h"
#include "body/warp_block.h"
#include "interp/samples.h"
#include "material/material.h"

// The samples of one material.
typedef struct sn_sample_group {
    sinew_material_def def;
    sn_material material;
    sn_samples samples;
    const sn_mat3
        *frames;     // [sample] material axes as columns; NULL: the coordinate axes everywhere
    bool may_rotate; // see sn_sample_group_fill
    bool rotated;    // gradients, and with them F and P, refer to the axes of the material
    const double *stiffness;   // [sample] factor on the moduli; NULL: 1 everywhere
    double *parameters;        // [block][parameter][lane], or one such block for all
    size_t parameter_stride;   // doubles from block to block; 0 if all samples share
    size_t parameter_room;     // doubles allocated
    double *energies;          // one partial sum per chunk
    sn_dilatation *dilatation; // NULL: the dilatation is not averaged
    sn_internal_modes *modes;  // NULL: none; not with turned gradients or averaged dilatation
} sn_sample_group;

typedef struct sn_sample_groups {
    sn_sample_group *items;
    int32_t count;
    sn_plane plane;
    bool warped; // states are those of the law at S, rotated by R, with F = R S
    sn_samples_F_fn *compute_F;
    sn_samples_force_fn *add_force;
    sn_samples_stiffness_fn *add_stiffness[SN_TANGENT_FORMS];
    sn_samples_own_fn *add_own_stiffness;
    sn_samples_tangent_fn *apply_tangent;
    sn_warp_enter_fn *enter_axes;
    sn_warp_leave_fn *leave_axes;
    // If all samples share a few controls, colouring leaves little parallelism. The group is then
    // split into parts that accumulate into separate arrays, which are added in a fixed order. Used
    // by groups of at least four chunks; part_count is 0 if unused.
    int32_t part_count;
    size_t force_count, matrix_count; // doubles of each part
    double *part_force, *part_matrix;
} sn_sample_groups;

// Makes `count` groups without samples and prepares their materials. `materials` may be NULL: every
// group has the default material.
sinew_status sn_sample_groups_create(sn_arena *arena, int32_t count,
                                     const sinew_material_def *materials, sn_plane plane,
                                     sn_sample_groups *groups);

// Packs the samples of a group, finds their blocks in the pattern of the controls and derives their
// parameters. `frames` and `stiffness` hold one item per sample and must outlive the group; either
// may be NULL.
//
// A group with `may_rotate` stores its gradients in the axes of the material, Q'g instead of g (not
// for laws that need the rest frame). F then becomes F Q and P becomes P Q, all samples can share
// one set of parameters, and the zeros among the elastic constants are preserved.
sinew_status sn_sample_group_fill(sn_arena *arena, sn_sample_group *group,
                                  const sn_samples_input *input, const sn_bsr *pattern,
                                  const sn_mat3 *frames, const double *stiffness);

// F of a block, always in the rest frame.
void sn_sample_group_compute_F(const sn_sample_groups *groups, int32_t group, int32_t block,
                               const double *controls, double *F);

// Splits the groups into parts with separate sums (part_count) if all samples share most of the
// `control_count` controls and the matrix is not too large. Call after all groups are filled.
sinew_status sn_sample_groups_divide(sn_arena *arena, sn_sample_groups *groups,
                                     int32_t control_count, const sn_bsr *pattern);

// Derives only the parameters of `count` samples, for interpolations with separate kernels.
sinew_status sn_sample_group_fill_materials(sn_arena *arena, sn_sample_group *group, int32_t count,
                                            const sn_mat3 *frames, const double *stiffness);

// The parameters of a block, for sn_material_evaluate.
static inline const double *sn_sample_group_parameters(const sn_sample_group *group,
                                                       int32_t block) {
    return group->parameters + (size_t)block * group->parameter_stride;
}

// Replaces the material. On failure the group does not change.
sinew_status sn_sample_group_set_material(sn_arena *arena, sn_sample_groups *groups, int32_t index,
                                          const sinew_material_def *material);

// Overwrites the material axes of the samples: `frames` replace those in `storage`, the array that
// the group was filled with. Allocates nothing.
void sn_sample_group_set_frames(sn_arena *arena, sn_sample_group *group, sn_mat3 *storage,
                                const sn_mat3 *frames);

// Overwrites the tension of the fibres in all samples, without deriving the other parameters again.
void sn_sample_group_set_fibre_stress(sn_sample_group *group, double stress);

// Input and output of an evaluation; results are added to `force` and `matrix`.
typedef struct sn_groups_request {
    const double *controls;
    bool want_energy, projected;
    double *force;  // NULL if not wanted
    double *matrix; // lower triangle on the pattern of the controls; NULL if not wanted
    // R of the recovery energy (recovery.h), which then replaces the materials; NULL: no recovery.
    const sn_mat3 *recovery;
    // [control]: rotations of warped stiffness (warp.h), for forces of tets; NULL: not warped.
    const sn_mat3 *rotations;
    // Receives the tangents dP/dF of each group, [block][SN_MATERIAL_H_COUNT][lane], after each
    // block the factor of its internal modes (sn_sample_group_tangent_count); `matrix` then holds
    // only the blocks within each set of controls, `own_count` doubles. NULL: the whole
    // matrix is wanted.
    double *const *tangents;
    const sn_control_sets *sets;
    size_t own_count;
} sn_groups_request;

// Computes the averages that sn_sample_group_compute_block needs. Evaluations do this themselves.
void sn_sample_groups_update(sinew_context *context, const sn_sample_groups *groups,
                             const double *controls);

// Doubles of a block's tangents.
size_t sn_sample_group_tangent_count(const sn_sample_group *group);

// Whether a group averages the dilatation of its samples.
static inline bool sn_sample_group_averages(const sn_sample_group *group) {
    return group->dilatation && group->dilatation->stiffness > 0;
}

// Makes a filled group average the dilatation of its samples from now on (body/dilatation.h).
sinew_status sn_sample_group_average(sn_arena *arena, sn_sample_group *group, int32_t rule_samples,
                                     bool nodal, int32_t rows);

// Returns the energy (0 if not wanted). The matrix does not include the rank-one terms of averaged
// dilatation: see sn_dilatation_add_matrix.
double sn_sample_groups_evaluate(sinew_context *context, const sn_sample_groups *groups,
                                 const sn_groups_request *request);

// force -= K a, where K is the stiffness with these tangents and a is a motion of the controls.
void sn_sample_groups_multiply(sinew_context *context, const sn_sample_groups *groups,
                               double *const *tangents, const double *a, double *force);

// The smallest and largest det F over all samples, and the deformed volume.
void sn_sample_groups_measure(const sn_sample_groups *groups, const double *controls,
                              double *smallest_J, double *largest_J, double *volume);

// F, P and energy density of one block of samples, lane by lane.
typedef struct sn_block_state {
    double F[9 * SN_BLOCK] SN_ALIGNED, P[9 * SN_BLOCK] SN_ALIGNED, psi[SN_BLOCK] SN_ALIGNED;
} sn_block_state;

// Requires sn_sample_groups_update at the same controls.
void sn_sample_group_compute_block(const sn_sample_groups *groups, int32_t group, int32_t block,
                                   const double *controls, sn_block_state *state);

// Volume-weighted averages over samples: start with zeros, add samples, finish.
typedef struct sn_state_sum {
    sn_mat3 F, stress;
    double volume, energy;
} sn_state_sum;

void sn_state_sum_add(sn_state_sum *sum, const sn_block_state *block, int32_t lane, double volume);
void sn_state_sum_finish(const sn_state_sum *sum, sinew_element_state *state);

// Strain and stress of a material at F, with its moduli scaled by `stiffness`. The sample has
// volume 1, so `energy` is a density. `axes` may be NULL: the coordinate axes.
void sn_material_get_state(const sinew_material_def *def, const sn_mat3 *axes, double stiffness,
                           sn_mat3 F, sn_isa isa, sinew_element_state *state);

#endif
