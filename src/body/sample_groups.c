// Evaluates groups of samples block by block: interpolate F, evaluate the material, scatter forces
// and stiffness to the controls. Also derives material parameters and per-element averages.
#include "body/sample_groups.h"

#include "base/threads.h"
#include "body/recovery.h"
#include "math/svd.h"

#include <math.h>
#include <string.h>

enum { PARTS = 8, LEAST_CHUNKS = 4, MOST_MEGABYTES = 64 };

typedef struct evaluate_job {
    const sn_sample_groups *groups;
    sn_sample_group *group;
    const sn_groups_request *request;
    const int32_t *chunks;
    double recovery_stiffness;
    bool product; // of the tangents with the request's controls
} evaluate_job;

// Intermediate values of one block.
typedef struct block_values {
    double F[9 * SN_BLOCK] SN_ALIGNED, P[9 * SN_BLOCK] SN_ALIGNED, psi[SN_BLOCK] SN_ALIGNED;
    double H[SN_TANGENT_COUNT * SN_BLOCK] SN_ALIGNED;
    sn_tangent_form form;
} block_values;

// The rotation from the rest frame to the axes of a sample's material. If the axes are left-handed,
// the first is reversed, which makes no difference to any law.
static sn_mat3 axes_rotation(const sn_sample_group *group, int32_t lane) {
    sn_mat3 Q = group->frames[lane < group->samples.count ? lane : group->samples.count - 1];
    if (sn_mat3_det(Q) > 0) {
        return Q;
    }

    for (int i = 0; i < 3; i++) {
        Q.m[i][0] = -Q.m[i][0];
    }

    return Q;
}

static void pack(double *block, int32_t lane, sn_mat3 A) {
    for (int i = 0; i < 9; i++) {
        block[i * SN_BLOCK + lane] = A.m[i / 3][i % 3];
    }
}

static sn_mat3 unpack(const double *block, int32_t lane) {
    sn_mat3 out;
    for (int i = 0; i < 9; i++) {
        out.m[i / 3][i % 3] = block[i * SN_BLOCK + lane];
    }
    return out;
}

// Rotates F or P of a block from the rest frame to the axes of the material or, with `back`, the
// other way.
static void rotate_block(const sn_sample_group *group, int32_t block, double *A, bool back) {
    if (group->rotated) {
        for (int32_t lane = 0; lane < SN_BLOCK; lane++) {
            sn_mat3 Q = axes_rotation(group, block * SN_BLOCK + lane);
            pack(A, lane, sn_mat3_mul(unpack(A, lane), back ? sn_mat3_transpose(Q) : Q));
        }
    }
}

// Rotates the gradients of all samples in the same way.
static void rotate_gradients(sn_sample_group *group, bool back) {
    int32_t width = group->samples.width;
    for (int32_t lane = 0; lane < group->samples.blocks * SN_BLOCK; lane++) {
        sn_mat3 Q = axes_rotation(group, lane);
        double *g = group->samples.gradient +
                    (size_t)(lane / SN_BLOCK) * (size_t)width * 3 * SN_BLOCK + lane % SN_BLOCK;

        for (int32_t c = 0; c < width; c++, g += 3 * SN_BLOCK) {
            sn_vec3 old = {g[0], g[SN_BLOCK], g[2 * SN_BLOCK]};
            sn_vec3 rotated = back ? sn_mat3_apply(Q, old) : sn_mat3_apply_transposed(Q, old);
            g[0] = rotated.x;
            g[SN_BLOCK] = rotated.y;
            g[2 * SN_BLOCK] = rotated.z;
        }
    }
}

// Custom laws are documented to receive F in the rest frame, and infinitesimal strain would count
// the rotation of the axes as a rotation of the body.
static bool should_rotate(const sn_sample_group *group) {
    const sinew_material_def *def = &group->def;
    return group->may_rotate && group->frames && def->law != SINEW_MATERIAL_CUSTOM &&
           def->strain != SINEW_STRAIN_INFINITESIMAL;
}

// The recovery energy is defined in the rest frame.
static void evaluate_recovery(const evaluate_job *job, int32_t block, int want, double *F,
                              const sn_material_result *out) {
    rotate_block(job->group, block, F, true);
    sn_recovery_evaluate(job->recovery_stiffness, job->request->recovery, want, F, out);
    if (want & SN_MATERIAL_STRESS) {
        rotate_block(job->group, block, out->P, false);
    }
}

// Doubles of the tangent dP/dF of a block, and of the factor of its internal modes, padded so that
// the next block is aligned.
enum {
    TANGENT = SN_MATERIAL_H_COUNT * SN_BLOCK,
    FACTOR =
        ((int)sizeof(sn_internal_factor) / (int)sizeof(double) + SN_BLOCK - 1) / SN_BLOCK * SN_BLOCK
};

size_t sn_sample_group_tangent_count(const sn_sample_group *group) {
    return TANGENT + (group->modes ? FACTOR : 0);
}

static double *tangent_of(const evaluate_job *job, int32_t block) {
    return job->request->tangents[job->group - job->groups->items] +
           (size_t)block * sn_sample_group_tangent_count(job->group);
}

// force -= K a for one block, with stored tangents.
static void multiply_block(const evaluate_job *job, int32_t block) {
    double F[9 * SN_BLOCK] SN_ALIGNED, P[9 * SN_BLOCK] SN_ALIGNED;
    const sn_samples *samples = &job->group->samples;
    const sn_internal_modes *modes = job->group->modes;
    const double *tangent = tangent_of(job, block);
    SN_ASSERT(!samples->plane);

    job->groups->compute_F(F, samples, block, job->request->controls);
    job->groups->apply_tangent(P, tangent, F);
    if (modes) {
        sn_internal_factor factor;
        memcpy(&factor, tangent + TANGENT, sizeof factor);
        modes->follow(modes, samples, block, &factor, P, F);
        job->groups->apply_tangent(P, tangent, F);
    }

    job->groups->add_force(job->request->force, samples, block, P);
}

// Adds the values of a block to the force and the matrix; returns its energy.
static double scatter_block(const evaluate_job *job, int32_t block, const block_values *values) {
    const sn_sample_group *group = job->group;
    const sn_groups_request *request = job->request;
    if (request->force) {
        job->groups->add_force(request->force, &group->samples, block, values->P);
    }

    // Matrix: all pairs of controls; or those within a set only, and the tangent is kept for
    // products with the whole.
    if (request->matrix && request->tangents) {
        memcpy(tangent_of(job, block), values->H, TANGENT * sizeof(double));
        job->groups->add_own_stiffness(request->matrix, &group->samples, block, values->H,
                                       request->sets);
    } else if (request->matrix) {
        job->groups->add_stiffness[values->form](request->matrix, &group->samples, block,
                                                 values->H);
    }

    // Energy.
    double energy = 0;
    if (request->want_energy) {
        const double *volume = group->samples.volume + (size_t)block * SN_BLOCK;
        for (int l = 0; l < SN_BLOCK; l++) {
            energy += volume[l] * values->psi[l];
        }
    }

    return energy;
}

// One block with internal modes.
static double evaluate_with_modes(const evaluate_job *job, int32_t block, int want) {
    const sn_sample_group *group = job->group;
    const sn_groups_request *request = job->request;
    block_values values = {.form = SN_TANGENT_FULL};
    sn_material_result out = {values.psi, values.P, values.H, NULL};
    sn_internal_factor factor;

    job->groups->compute_F(values.F, &group->samples, block, request->controls);
    group->modes->solve(group->modes, &group->samples, block, &group->material,
                        sn_sample_group_parameters(group, block), want, values.F, &out, &factor);

    double energy = scatter_block(job, block, &values);
    if (request->matrix) {
        group->modes->subtract(group->modes, &group->samples, block, values.H, &factor,
                               request->sets, request->matrix);
    }
    if (request->matrix && request->tangents) {
        memcpy(tangent_of(job, block) + TANGENT, &factor, sizeof factor);
    }

    return energy;
}

// One block of warped tets. Each vertex has a quarter of a tet's stiffness, in axes that rotate
// with the vertex: P = 1/4 sum_c R_c P(R_c' F).
static void evaluate_warped(const evaluate_job *job, int32_t block) {
    const sn_samples *samples = &job->group->samples;
    const int32_t *vertices = samples->control + (size_t)block * 4 * SN_BLOCK;
    double F[9 * SN_BLOCK] SN_ALIGNED, S[9 * SN_BLOCK] SN_ALIGNED, R[9 * SN_BLOCK] SN_ALIGNED;
    double stress[9 * SN_BLOCK] SN_ALIGNED, P[9 * SN_BLOCK] SN_ALIGNED = {0};
    sn_material_block in = {S, sn_sample_group_parameters(job->group, block)};
    sn_material_result out = {.P = stress};
    SN_ASSERT(samples->tets);

    job->groups->compute_F(F, samples, block, job->request->controls);
    for (int c = 0; c < 4; c++) {
        job->groups->enter_axes(S, R, job->request->rotations, vertices + c * SN_BLOCK, F);
        sn_material_evaluate(&job->group->material, SN_MATERIAL_STRESS, &in, &out);
        job->groups->leave_axes(P, R, stress, 0.25);
    }
    job->groups->add_force(job->request->force, samples, block, P);
}

// Evaluates one block or two at once; the order of additions is the same either way.
static double evaluate_blocks(const evaluate_job *job, int32_t first, int32_t count) {
    const sn_sample_group *group = job->group;
    const sn_groups_request *request = job->request;
    block_values values[2];
    sn_material_block in[2];
    sn_material_result out[2];
    int want =
        (request->want_energy ? SN_MATERIAL_ENERGY : 0) | (request->force ? SN_MATERIAL_STRESS : 0);

    // Averaged dilatation is subtracted from the exact tangent; the projection follows after that.
    bool averages = sn_sample_group_averages(group) && !request->recovery;
    if (request->matrix) {
        want |= request->projected && !averages ? SN_MATERIAL_PROJECTED : SN_MATERIAL_STIFFNESS;
    }

    if (request->rotations) {
        for (int32_t b = 0; b < count; b++) {
            evaluate_warped(job, first + b);
        }
        return 0;
    }

    if (group->modes && !request->recovery) {
        double energy = evaluate_with_modes(job, first, want);
        return count == 2 ? energy + evaluate_with_modes(job, first + 1, want) : energy;
    }

    // Interpolate F. Only tets without averaging accept the short forms of the tangent.
    for (int32_t b = 0; b < count; b++) {
        block_values *v = &values[b];
        job->groups->compute_F(v->F, &group->samples, first + b, request->controls);
        v->form = SN_TANGENT_FULL;
        in[b] = (sn_material_block){v->F, sn_sample_group_parameters(group, first + b)};
        bool short_forms = group->samples.tets && !averages;
        out[b] = (sn_material_result){v->psi, v->P, v->H, short_forms ? &v->form : NULL};

        if (request->recovery) {
            evaluate_recovery(job, first + b, want, v->F, &out[b]);
        }
    }

    // Materials.
    if (!request->recovery && count == 2) {
        sn_material_evaluate_pair(&group->material, want, in, out);
    }
    if (!request->recovery && count == 1) {
        sn_material_evaluate(&group->material, want, in, out);
    }

    // Averaged dilatation, then scatter.
    double energy = 0;
    for (int32_t b = 0; b < count; b++) {
        if (averages) {
            block_values *v = &values[b];
            sn_dilatation_add_block(group->dilatation, &group->samples, first + b, v->F,
                                    request->projected, request->want_energy ? v->psi : NULL,
                                    request->force ? v->P : NULL, request->matrix ? v->H : NULL);
        }
        energy += scatter_block(job, first + b, &values[b]);
    }

    return energy;
}

static void evaluate_chunks(void *data, int32_t begin, int32_t end, int32_t index) {
    (void)index;
    const evaluate_job *job = data;
    int32_t blocks = job->group->samples.blocks;

    for (int32_t i = begin; i < end; i++) {
        // A chunk is evaluated in one piece, so that its sum is the same for any number of threads.
        int32_t chunk = job->chunks[i];
        int32_t first = chunk * SN_SAMPLE_CHUNK;
        int32_t last = first + SN_SAMPLE_CHUNK < blocks ? first + SN_SAMPLE_CHUNK : blocks;
        double energy = 0;

        if (job->product) {
            for (int32_t block = first; block < last; block++) {
                multiply_block(job, block);
            }
        }

        if (!job->product) {
            for (int32_t block = first; block < last; block += 2) {
                energy += evaluate_blocks(job, block, last - block < 2 ? 1 : 2);
            }
        }

        job->group->energies[chunk] = energy;
    }
}

// Evaluates one part of a group: consecutive chunks, accumulated in the part's own arrays.
static void evaluate_part(void *data, int32_t begin, int32_t end, int32_t index) {
    (void)end, (void)index;
    evaluate_job job = *(const evaluate_job *)data;
    const sn_sample_groups *groups = job.groups;
    int32_t chunks = job.group->samples.coloring.chunk_count;
    int32_t parts = groups->part_count;
    sn_groups_request request = *job.request;

    // Redirect the results to the arrays of this part.
    if (request.force) {
        request.force = groups->part_force + (size_t)begin * groups->force_count;
        memset(request.force, 0, groups->force_count * sizeof(double));
    }

    if (request.matrix) {
        size_t count = request.tangents ? request.own_count : groups->matrix_count;
        request.matrix = groups->part_matrix + (size_t)begin * count;
        memset(request.matrix, 0, count * sizeof(double));
    }

    // The chunks of this part.
    job.request = &request;
    int32_t first = (int32_t)((int64_t)begin * chunks / parts);
    int32_t last = (int32_t)((int64_t)(begin + 1) * chunks / parts);

    for (int32_t chunk = first; chunk < last; chunk++) {
        job.chunks = &chunk;
        evaluate_chunks(&job, 0, 1, 0);
    }
}

typedef struct sum_job {
    double *sum;
    const double *parts;
    size_t stride;
    int32_t count;
} sum_job;

// Adds the arrays of all parts, always in the same order.
static void add_parts(void *data, int32_t begin, int32_t end, int32_t index) {
    (void)index;
    const sum_job *job = data;
    for (int32_t part = 0; part < job->count; part++) {
        const double *from = job->parts + (size_t)part * job->stride;
        for (int32_t i = begin; i < end; i++) {
            job->sum[i] += from[i];
        }
    }
}

static void evaluate_parts(sinew_context *context, const sn_sample_groups *groups,
                           evaluate_job *job) {
    const sn_groups_request *request = job->request;
    sn_parallel_for(context, groups->part_count, 1, evaluate_part, job);

    sum_job force = {request->force, groups->part_force, groups->force_count, groups->part_count};
    size_t matrix_count = request->tangents ? request->own_count : groups->matrix_count;
    sum_job matrix = {request->matrix, groups->part_matrix, matrix_count, groups->part_count};
    if (request->force) {
        sn_parallel_for(context, (int32_t)groups->force_count, 4096, add_parts, &force);
    }
    if (request->matrix) {
        sn_parallel_for(context, (int32_t)matrix_count, 4096, add_parts, &matrix);
    }
}

static double evaluate_groups(sinew_context *context, const sn_sample_groups *groups,
                              const sn_groups_request *request, bool product) {
    double energy = 0;
    for (int32_t i = 0; i < groups->count; i++) {
        sn_sample_group *group = &groups->items[i];
        const sn_coloring *coloring = &group->samples.coloring;
        double stiffness =
            request->recovery && group->samples.count > 0 ? sn_recovery_stiffness(group) : 0;
        bool divided = groups->part_count > 0 && coloring->chunk_count >= LEAST_CHUNKS;

        // Either in parts with separate sums, or colour by colour directly into the result.
        if (divided) {
            evaluate_job job = {groups, group, request, NULL, stiffness, product};
            evaluate_parts(context, groups, &job);
        }

        if (!divided) {
            for (int32_t color = 0; color < coloring->color_count; color++) {
                int32_t first = coloring->color_offsets[color];
                int32_t last = coloring->color_offsets[color + 1];
                evaluate_job job = {groups,    group,  request, coloring->chunks + first,
                                    stiffness, product};
                sn_parallel_for(context, last - first, 1, evaluate_chunks, &job);
            }
        }

        // Sum in a fixed order, so that the energy does not depend on the number of threads.
        for (int32_t chunk = 0; chunk < coloring->chunk_count; chunk++) {
            energy += group->energies[chunk];
        }
    }

    return energy;
}

void sn_sample_groups_update(sinew_context *context, const sn_sample_groups *groups,
                             const double *controls) {
    for (int32_t i = 0; i < groups->count; i++) {
        const sn_sample_group *group = &groups->items[i];
        if (sn_sample_group_averages(group)) {
            sn_dilatation_update(context, group->dilatation, &group->samples, groups->compute_F,
                                 controls);
        }
    }
}

double sn_sample_groups_evaluate(sinew_context *context, const sn_sample_groups *groups,
                                 const sn_groups_request *request) {
    if (!request->recovery) {
        sn_sample_groups_update(context, groups, request->controls);
    }
    return evaluate_groups(context, groups, request, false);
}

void sn_sample_groups_multiply(sinew_context *context, const sn_sample_groups *groups,
                               double *const *tangents, const double *a, double *force) {
    evaluate_groups(context, groups,
                    &(sn_groups_request){.controls = a, .force = force, .tangents = tangents},
                    true);
}

// sigma = P F' / J; zero where the element has no volume left.
static sn_mat3 cauchy_stress(sn_mat3 P, sn_mat3 F) {
    double J = sn_mat3_det(F);
    return sn_mat3_scale(J != 0 ? 1 / J : 0, sn_mat3_mul(P, sn_mat3_transpose(F)));
}

static void to_voigt(double *voigt, sn_mat3 A, double shear) {
    voigt[0] = A.m[0][0];
    voigt[1] = A.m[1][1];
    voigt[2] = A.m[2][2];
    voigt[3] = 0.5 * shear * (A.m[1][2] + A.m[2][1]);
    voigt[4] = 0.5 * shear * (A.m[2][0] + A.m[0][2]);
    voigt[5] = 0.5 * shear * (A.m[0][1] + A.m[1][0]);
}

// Replaces each lane's F by its stretch S and keeps the rotation, F = R S; or puts R before F and
// P.
static void split_rotations(double *F, sn_mat3 rotation[SN_BLOCK]) {
    for (int32_t lane = 0; lane < SN_BLOCK; lane++) {
        sn_mat3 S;
        rotation[lane] = sn_polar3(&S, unpack(F, lane));
        pack(F, lane, S);
    }
}

static void join_rotations(sn_block_state *state, const sn_mat3 rotation[SN_BLOCK]) {
    for (int32_t lane = 0; lane < SN_BLOCK; lane++) {
        pack(state->F, lane, sn_mat3_mul(rotation[lane], unpack(state->F, lane)));
        pack(state->P, lane, sn_mat3_mul(rotation[lane], unpack(state->P, lane)));
    }
}

void sn_sample_group_compute_block(const sn_sample_groups *groups, int32_t index, int32_t block,
                                   const double *controls, sn_block_state *state) {
    const sn_sample_group *group = &groups->items[index];
    sn_mat3 rotation[SN_BLOCK];

    // F; warped laws see it without its rotation.
    groups->compute_F(state->F, &group->samples, block, controls);
    if (groups->warped) {
        split_rotations(state->F, rotation);
    }

    // The law.
    sn_material_block in = {state->F, sn_sample_group_parameters(group, block)};
    sn_material_result out = {.psi = state->psi, .P = state->P};
    int want = SN_MATERIAL_ENERGY | SN_MATERIAL_STRESS;
    if (group->modes) {
        group->modes->solve(group->modes, &group->samples, block, &group->material, in.parameters,
                            want, state->F, &out, NULL);
    } else {
        sn_material_evaluate(&group->material, want, &in, &out);
    }
    if (groups->warped) {
        join_rotations(state, rotation);
    }
    if (sn_sample_group_averages(group)) {
        sn_dilatation_add_block(group->dilatation, &group->samples, block, state->F, false,
                                state->psi, state->P, NULL);
    }

    // From the axes of the material to those of the world.
    rotate_block(group, block, state->F, true);
    rotate_block(group, block, state->P, true);
}

void sn_sample_group_compute_F(const sn_sample_groups *groups, int32_t index, int32_t block,
                               const double *controls, double *F) {
    groups->compute_F(F, &groups->items[index].samples, block, controls);
    rotate_block(&groups->items[index], block, F, true);
}

void sn_state_sum_add(sn_state_sum *sum, const sn_block_state *block, int32_t lane, double volume) {
    sn_mat3 F = unpack(block->F, lane);
    sum->F = sn_mat3_add(sum->F, sn_mat3_scale(volume, F));
    sum->stress =
        sn_mat3_add(sum->stress, sn_mat3_scale(volume, cauchy_stress(unpack(block->P, lane), F)));
    sum->energy += volume * block->psi[lane];
    sum->volume += volume;
}

void sn_state_sum_finish(const sn_state_sum *sum, sinew_element_state *state) {
    sn_mat3 F = sn_mat3_scale(1 / sum->volume, sum->F);
    memcpy(state->F, F.m, sizeof state->F);
    sn_mat3 E =
        sn_mat3_scale(0.5, sn_mat3_sub(sn_mat3_mul(sn_mat3_transpose(F), F), sn_mat3_identity()));
    to_voigt(state->strain, E, 2);
    to_voigt(state->stress, sn_mat3_scale(1 / sum->volume, sum->stress), 1);
    state->von_mises = sn_von_mises(state->stress);
    state->energy = sum->energy;
    state->J = sn_mat3_det(F);
}

void sn_sample_groups_measure(const sn_sample_groups *groups, const double *controls,
                              double *smallest_J, double *largest_J, double *volume) {
    *smallest_J = INFINITY;
    *largest_J = -INFINITY;
    *volume = 0;

    for (int32_t i = 0; i < groups->count; i++) {
        const sn_samples *samples = &groups->items[i].samples;
        double F[9 * SN_BLOCK] SN_ALIGNED;
        for (int32_t sample = 0; sample < samples->count; sample++) {
            if (sample % SN_BLOCK == 0) {
                groups->compute_F(F, samples, sample / SN_BLOCK, controls);
            }
            if (samples->volume[sample] == 0) {
                continue; // this sample is not in use
            }

            double J = sn_mat3_det(unpack(F, sample % SN_BLOCK));
            *smallest_J = fmin(*smallest_J, J);
            *largest_J = fmax(*largest_J, J);
            *volume += J * samples->volume[sample];
        }
    }
}

// The definition with all its moduli multiplied by s, for stiffness maps.
static sinew_material_def scaled_def(const sinew_material_def *def, double s) {
    sinew_material_def out = *def;
    double *moduli[] = {&out.young,
                        &out.volume_stiffness,
                        &out.c10,
                        &out.c01,
                        &out.bulk,
                        &out.orthotropic.young_1,
                        &out.orthotropic.young_2,
                        &out.orthotropic.young_3,
                        &out.orthotropic.shear_12,
                        &out.orthotropic.shear_23,
                        &out.orthotropic.shear_31,
                        &out.transverse.young_fibre,
                        &out.transverse.young_plane,
                        &out.transverse.shear_fibre};

    for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i++) {
        *moduli[i] *= s;
    }

    return out;
}

static void derive_parameters(const sn_sample_group *group, int32_t sample, double *parameters) {
    sinew_material_def def =
        group->stiffness ? scaled_def(&group->def, group->stiffness[sample]) : group->def;
    const sn_mat3 *frame = group->frames && !group->rotated ? &group->frames[sample] : NULL;
    sn_material_parameters(parameters, &group->material, &def, frame);
}

// Derives the parameters of all samples, or of one block that all share if nothing varies.
static sinew_status fill_parameters(sn_arena *arena, sn_sample_group *group) {
    bool framed = group->frames && !group->rotated;
    bool varying = framed || group->stiffness;

    group->material.own_axes = !framed;

    // Room, which is kept for later changes.
    size_t count = (size_t)group->material.parameter_count;
    size_t block_size = count * SN_BLOCK;
    size_t needed = varying ? (size_t)group->samples.blocks * block_size : block_size;

    if (needed > group->parameter_room) {
        double *room = SN_PUSH(arena, double, needed);
        SN_TRY(sn_arena_status(arena));
        group->parameters = room;
        group->parameter_room = needed;
    }

    // Lane by lane.
    group->parameter_stride = varying ? block_size : 0;
    int32_t lanes = varying ? group->samples.blocks * SN_BLOCK : SN_BLOCK;
    for (int32_t lane = 0; lane < lanes; lane++) {
        double parameters[SN_MATERIAL_MAX_PARAMETERS];
        int32_t sample = lane < group->samples.count
                             ? lane
                             : group->samples.count - 1; // padding repeats the last one

        derive_parameters(group, sample, parameters);
        double *packed = group->parameters + (size_t)(lane / SN_BLOCK) * block_size;

        for (size_t p = 0; p < count; p++) {
            packed[p * SN_BLOCK + (size_t)(lane % SN_BLOCK)] = parameters[p];
        }
    }

    return SINEW_OK;
}

static void choose_averages(sn_sample_group *group) {
    if (!group->dilatation || group->samples.count == 0) {
        return;
    }

    double parameters[SN_MATERIAL_MAX_PARAMETERS];
    for (int p = 0; p < group->material.parameter_count; p++) {
        parameters[p] = group->parameters[p * SN_BLOCK];
    }
    sn_dilatation_set_material(group->dilatation, &group->material, &group->def, parameters);
}

sinew_status sn_sample_group_average(sn_arena *arena, sn_sample_group *group, int32_t rule_samples,
                                     bool nodal, int32_t rows) {
    sn_dilatation *dilatation = SN_PUSH(arena, sn_dilatation, 1);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(sn_dilatation_create(arena, &group->samples, rule_samples, nodal, rows, dilatation));
    group->dilatation = dilatation;
    choose_averages(group);
    return SINEW_OK;
}

sinew_status sn_sample_groups_create(sn_arena *arena, int32_t count,
                                     const sinew_material_def *materials, sn_plane plane,
                                     sn_sample_groups *groups) {
    sn_isa isa = arena->context->isa;
    *groups = (sn_sample_groups){.count = count, .plane = plane};
    groups->items = SN_PUSH(arena, sn_sample_group, count);
    SN_TRY(sn_arena_status(arena));
    groups->compute_F = SN_ISA_PICK(isa, sn_samples_compute_F);
    groups->add_force = SN_ISA_PICK(isa, sn_samples_add_force);
    groups->add_stiffness[SN_TANGENT_FULL] = SN_ISA_PICK(isa, sn_samples_add_stiffness);
    groups->add_stiffness[SN_TANGENT_ROTATED] = SN_ISA_PICK(isa, sn_samples_add_rotated);
    groups->add_stiffness[SN_TANGENT_HELD] = SN_ISA_PICK(isa, sn_samples_add_held);
    groups->add_stiffness[SN_TANGENT_EXACT] = SN_ISA_PICK(isa, sn_samples_add_exact);
    groups->add_own_stiffness = SN_ISA_PICK(isa, sn_samples_add_own_stiffness);
    groups->apply_tangent = SN_ISA_PICK(isa, sn_samples_apply_tangent);
    groups->enter_axes = SN_ISA_PICK(isa, sn_warp_enter);
    groups->leave_axes = SN_ISA_PICK(isa, sn_warp_leave);

    for (int32_t i = 0; i < count; i++) {
        groups->items[i].def = materials ? materials[i] : sinew_default_material_def();
        groups->items[i].material = sn_material_prepare(&groups->items[i].def, plane, isa);
    }

    return SINEW_OK;
}

sinew_status sn_sample_group_fill(sn_arena *arena, sn_sample_group *group,
                                  const sn_samples_input *input, const sn_bsr *pattern,
                                  const sn_mat3 *frames, const double *stiffness) {
    SN_TRY(sn_samples_pack(arena, input, &group->samples));
    SN_TRY(sn_samples_map(arena, &group->samples, pattern));
    group->energies = SN_PUSH(arena, double, group->samples.coloring.chunk_count);
    SN_TRY(sn_arena_status(arena));
    group->frames = frames;
    group->stiffness = stiffness;
    group->rotated = should_rotate(group);

    if (group->rotated) {
        rotate_gradients(group, false);
    }

    return fill_parameters(arena, group);
}

sinew_status sn_sample_groups_divide(sn_arena *arena, sn_sample_groups *groups,
                                     int32_t control_count, const sn_bsr *pattern) {
    int32_t chunks = 0, colors = 0;
    for (int32_t i = 0; i < groups->count; i++) {
        const sn_coloring *coloring = &groups->items[i].samples.coloring;
        if (coloring->chunk_count < LEAST_CHUNKS) {
            continue;
        }
        chunks += coloring->chunk_count;
        colors += coloring->color_count;
    }

    size_t force_count = 3 * (size_t)control_count;
    size_t matrix_count = sn_bsr_value_count(pattern);
    size_t part_bytes = (force_count + matrix_count) * sizeof(double);
    bool fits = PARTS * part_bytes <= (size_t)MOST_MEGABYTES << 20;

    // Colours alone are parallel enough if each has two chunks or more on average.
    if (!fits || 2 * colors <= chunks) {
        return SINEW_OK;
    }

    groups->part_force = SN_PUSH(arena, double, PARTS *force_count);
    groups->part_matrix = SN_PUSH(arena, double, PARTS *matrix_count);
    SN_TRY(sn_arena_status(arena));
    groups->force_count = force_count;
    groups->matrix_count = matrix_count;
    groups->part_count = PARTS;

    return SINEW_OK;
}

sinew_status sn_sample_group_fill_materials(sn_arena *arena, sn_sample_group *group, int32_t count,
                                            const sn_mat3 *frames, const double *stiffness) {
    group->samples.count = count;
    group->samples.blocks = (count + SN_BLOCK - 1) / SN_BLOCK;
    group->frames = frames;
    group->stiffness = stiffness;
    return fill_parameters(arena, group);
}

sinew_status sn_sample_group_set_material(sn_arena *arena, sn_sample_groups *groups, int32_t index,
                                          const sinew_material_def *material) {
    SN_TRY(sinew_check_material(arena->context, material));
    sn_sample_group *group = &groups->items[index];
    sn_sample_group old = *group;

    // Derive everything from the new material.
    group->def = *material;
    group->material = sn_material_prepare(material, groups->plane, arena->context->isa);
    group->rotated = should_rotate(group);

    // A failure restores the old one.
    sn_arena_mark mark = sn_arena_get_mark(arena);
    sinew_status status = group->samples.count > 0 ? fill_parameters(arena, group) : SINEW_OK;
    if (status != SINEW_OK) {
        sn_arena_rewind(arena, mark);
        *group = old;
        if (group->samples.count > 0) {
            fill_parameters(arena, group); // cannot fail: nothing is allocated
        }
    }

    // Gradients may be stored in the axes of the material.
    if (group->rotated != old.rotated && group->samples.count > 0) {
        rotate_gradients(group, old.rotated);
    }

    choose_averages(group);
    return status;
}

void sn_sample_group_set_frames(sn_arena *arena, sn_sample_group *group, sn_mat3 *storage,
                                const sn_mat3 *frames) {
    SN_ASSERT(group->frames == storage && group->samples.count > 0);

    // Gradients go back to the rest frame with the old axes, and from there to the new ones.
    if (group->rotated) {
        rotate_gradients(group, true);
    }
    memcpy(storage, frames, (size_t)group->samples.count * sizeof *storage);
    if (group->rotated) {
        rotate_gradients(group, false);
    }

    fill_parameters(arena, group); // cannot fail: the parameters keep their size
    choose_averages(group);
}

void sn_sample_group_set_fibre_stress(sn_sample_group *group, double stress) {
    group->def.fibre_stress = stress;
    if (group->samples.count == 0) {
        return;
    }

    int32_t blocks = group->parameter_stride > 0 ? group->samples.blocks : 1;
    for (int32_t b = 0; b < blocks; b++) {
        double *T = group->parameters + (size_t)b * group->parameter_stride +
                    SN_PARAMETER_FIBRE_STRESS * SN_BLOCK;
        for (int lane = 0; lane < SN_BLOCK; lane++) {
            T[lane] = stress;
        }
    }
}
