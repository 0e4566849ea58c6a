// Samples with their materials: the pipeline from control vectors to energy, forces and stiffness
// and back, for every body whose interpolation is linear in its controls (elements, linearly
// blended frames).
//
// Samples are grouped by material; a group is evaluated in blocks of eight, in chunks that run in
// parallel colour by colour, so that every control receives its parts in the same order whatever
// the number of threads.
#ifndef SN_BODY_SAMPLE_GROUPS_H
#define SN_BODY_SAMPLE_GROUPS_H

#include "sinew/body.h"

#include "body/dilatation.h"
#include "interp/samples.h"
#include "material/material.h"

// The samples of one material.
typedef struct sn_sample_group {
    sinew_material_def def;
    sn_material material;
    sn_samples samples;
    const sn_mat3
        *frames;   // [sample] material axes as columns; NULL: the coordinate axes everywhere
    bool may_turn; // see sn_sample_group_fill
    bool turned;   // the gradients are in the axes of the material, and with them F and P
    const double *stiffness;   // [sample] factor on the moduli; NULL: 1 everywhere
    double *parameters;        // [block][parameter][lane], or one such block for all
    size_t parameter_stride;   // doubles from block to block; 0 if all samples share
    size_t parameter_room;     // doubles allocated
    double *energies;          // one partial sum for each chunk
    sn_dilatation *dilatation; // NULL: each sample keeps its own volume
} sn_sample_group;

typedef struct sn_sample_groups {
    sn_sample_group *items;
    int32_t count;
    sn_plane plane;
    sn_samples_F_fn *compute_F;
    sn_samples_force_fn *add_force;
    sn_samples_stiffness_fn *add_stiffness[SN_TANGENT_FORMS];
    sn_samples_own_fn *add_own_stiffness;
    sn_samples_tangent_fn *apply_tangent;
    // Where few controls serve all samples, colours would keep threads waiting: parts of a group
    // then have sums of their own, which are added in order. Used by groups of at least four
    // chunks; part_count is 0 without.
    int32_t part_count;
    size_t force_count, matrix_count; // doubles of each part
    double *part_force, *part_matrix;
} sn_sample_groups;

// `count` groups without samples, their materials prepared. `materials` may be NULL: the default
// material in each.
sinew_status sn_sample_groups_create(sn_arena *arena, int32_t count,
                                     const sinew_material_def *materials, sn_plane plane,
                                     sn_sample_groups *groups);

// Packs the samples of a group, finds their blocks in the pattern of the controls, derives their
// parameters. `frames` and `stiffness` hold one item per sample and are borrowed for the life of
// the group; either may be NULL.
//
// A group whose `may_turn` is set keeps its gradients in the axes of the material, Q'g instead of
// g: F is then F Q and P is P Q, all samples share their parameters, and elastic constants keep
// their zeros. (Not with laws that need the rest frame.)
sinew_status sn_sample_group_fill(sn_arena *arena, sn_sample_group *group,
                                  const sn_samples_input *input, const sn_bsr *pattern,
                                  const sn_mat3 *frames, const double *stiffness);

// F of a block in the rest frame, whatever the group's gradients are in.
void sn_sample_group_compute_F(const sn_sample_groups *groups, int32_t group, int32_t block,
                               const double *controls, double *F);

// Gives the groups sums of their own for a few parts, if all share most of `control_count` controls
// and the matrix is not too large. After all groups are filled.
sinew_status sn_sample_groups_divide(sn_arena *arena, sn_sample_groups *groups,
                                     int32_t control_count, const sn_bsr *pattern);

// Derives the parameters alone, of `count` samples, for interpolations with kernels of their own.
sinew_status sn_sample_group_fill_materials(sn_arena *arena, sn_sample_group *group, int32_t count,
                                            const sn_mat3 *frames, const double *stiffness);

// The parameters of a block, for sn_material_evaluate.
static inline const double *sn_sample_group_parameters(const sn_sample_group *group,
                                                       int32_t block) {
    return group->parameters + (size_t)block * group->parameter_stride;
}

// Takes over another material. On failure the group is as before.
sinew_status sn_sample_group_set_material(sn_arena *arena, sn_sample_groups *groups, int32_t index,
                                          const sinew_material_def *material);

// Overwrites the tension of the fibres in all samples; nothing else is derived again.
void sn_sample_group_set_fibre_stress(sn_sample_group *group, double stress);

// What an evaluation at control vectors is to find; sums are added to.
typedef struct sn_groups_request {
    const double *controls;
    bool want_energy, projected;
    double *force;           // NULL if not wanted
    double *matrix;          // lower triangle on the pattern of the controls; NULL if not wanted
    const sn_mat3 *recovery; // lead the body back towards this rotation of its rest shape
                             // (recovery.h); NULL: its materials
    // Where the tangents dP/dF of each group go, [block][SN_MATERIAL_H_COUNT][lane]; the matrix is
    // then that of the controls of each set alone, and has `own_count` doubles. NULL: the whole
    // matrix is wanted.
    double *const *tangents;
    const sn_control_sets *sets;
    size_t own_count;
} sn_groups_request;

// Finds the averages that sn_sample_group_compute_block needs; an evaluation does so by itself.
void sn_sample_groups_update(sinew_context *context, const sn_sample_groups *groups,
                             const double *controls);

// Whether a group averages the dilatation of its samples.
static inline bool sn_sample_group_averages(const sn_sample_group *group) {
    return group->dilatation && group->dilatation->stiffness > 0;
}

// Averages the dilatation of a filled group from now on (body/dilatation.h).
sinew_status sn_sample_group_average(sn_arena *arena, sn_sample_group *group, int32_t rule_samples,
                                     bool nodal, int32_t rows);

// Returns the energy (0 if not wanted). Products of patches with averaged dilatation are not in the
// matrix: sn_dilatation_add_matrix.
double sn_sample_groups_evaluate(sinew_context *context, const sn_sample_groups *groups,
                                 const sn_groups_request *request);

// The product of the stiffness that these tangents make with a motion of the controls: force -= K
// a.
void sn_sample_groups_multiply(sinew_context *context, const sn_sample_groups *groups,
                               double *const *tangents, const double *a, double *force);

// The smallest and largest det F over all samples, and the deformed volume.
void sn_sample_groups_measure(const sn_sample_groups *groups, const double *controls,
                              double *smallest_J, double *largest_J, double *volume);

// F, P and energy density of one block of samples, to be read lane by lane.
typedef struct sn_block_state {
    double F[9 * SN_BLOCK] SN_ALIGNED, P[9 * SN_BLOCK] SN_ALIGNED, psi[SN_BLOCK] SN_ALIGNED;
} sn_block_state;

// After sn_sample_groups_update.
void sn_sample_group_compute_block(const sn_sample_groups *groups, int32_t group, int32_t block,
                                   const double *controls, sn_block_state *state);

// Averages over samples by volume: begin with zeros, add samples, finish.
typedef struct sn_state_sum {
    sn_mat3 F, stress;
    double volume, energy;
} sn_state_sum;

void sn_state_sum_add(sn_state_sum *sum, const sn_block_state *block, int32_t lane, double volume);
void sn_state_sum_finish(const sn_state_sum *sum, sinew_element_state *state);

// What a material feels at F, its moduli scaled by `stiffness`: the state of a sample of volume 1,
// so that `energy` is a density. `axes` may be NULL: the coordinate axes.
void sn_material_get_state(const sinew_material_def *def, const sn_mat3 *axes, double stiffness,
                           sn_mat3 F, sn_isa isa, sinew_element_state *state);

#endif
