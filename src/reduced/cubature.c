// Packing and evaluating the samples of a cubature; see cubature.h.
#include "reduced/cubature.h"

#include <string.h>

enum { VALUES = 9 * SN_BLOCK };

// The lane of a sample in the arrays of its group: gradient of control c, and which node that is.
static sn_vec3 gradient_of(const sn_samples *samples, int32_t sample, int32_t c) {
    size_t width = (size_t)samples->width;
    size_t at = ((size_t)(sample / SN_BLOCK) * width + (size_t)c) * 3 * SN_BLOCK;
    const double *g = samples->gradient + at + sample % SN_BLOCK;
    return sn_v3(g[0], g[SN_BLOCK], g[2 * SN_BLOCK]);
}

static int32_t control_of(const sn_samples *samples, int32_t sample, int32_t c) {
    size_t at = ((size_t)(sample / SN_BLOCK) * (size_t)samples->width + (size_t)c) * SN_BLOCK;
    return samples->control[at + (size_t)(sample % SN_BLOCK)];
}

// Adds a (x) g to a lane of nine values.
static void add_outer(double *values, int32_t lane, const double *a, sn_vec3 g) {
    double gradient[3] = {g.x, g.y, g.z};
    for (int i = 0; i < 9; i++) {
        values[i * SN_BLOCK + lane] += a[i / 3] * gradient[i % 3];
    }
}

// F at rest in the axes of the sample: the identity, or the axes of its material. The gradients of
// all fields follow from those of its controls.
static void fill_lane(const sn_cubature *cubature, const sn_reduced_block *block, int32_t lane,
                      int32_t sample, const double *rest, const double *nodal) {
    const sn_samples *samples = &cubature->groups->items[block->group].samples;
    for (int32_t c = 0; c < samples->width; c++) {
        size_t node = (size_t)control_of(samples, sample, c);
        sn_vec3 g = gradient_of(samples, sample, c);
        add_outer(block->F0, lane, rest + 3 * node, g);
        for (int32_t k = 0; k < cubature->size; k++) {
            const double *u = nodal + 3 * (node * (size_t)cubature->size + (size_t)k);
            add_outer(block->G + (size_t)k * VALUES, lane, u, g);
        }
    }
}

// The number of samples from `first` on that share a block.
static int32_t count_lanes(const sn_reduced_point *points, int32_t first, int32_t count) {
    int32_t lanes = 1;
    while (lanes < SN_BLOCK && first + lanes < count &&
           points[first + lanes].group == points[first].group) {
        lanes++;
    }
    return lanes;
}

static int32_t count_blocks(const sn_reduced_point *points, int32_t count) {
    int32_t blocks = 0;
    for (int32_t i = 0; i < count; i += count_lanes(points, i, count)) {
        blocks++;
    }
    return blocks;
}

static void fill_block(const sn_cubature *cubature, const sn_reduced_block *block,
                       const sn_reduced_point *points, const double *rest, const double *nodal) {
    const sn_samples *samples = &cubature->groups->items[block->group].samples;
    for (int32_t lane = 0; lane < SN_BLOCK; lane++) {
        bool used = lane < block->lanes;
        const sn_reduced_point *point = &points[used ? lane : block->lanes - 1];
        fill_lane(cubature, block, lane, point->sample, rest, nodal);
        block->volume[lane] = used ? point->weight * samples->volume[point->sample] : 0;
    }
}

sinew_status sn_cubature_create(sn_arena *arena, const sn_sample_groups *groups,
                                const sn_reduced_point *points, int32_t point_count, int32_t size,
                                const double *rest, const double *nodal, sn_cubature *cubature) {
    *cubature =
        (sn_cubature){.groups = groups, .size = size, .count = count_blocks(points, point_count)};
    cubature->blocks = SN_PUSH(arena, sn_reduced_block, cubature->count);
    cubature->lanes = SN_PUSH(arena, double, (size_t)size *(size_t)size *SN_BLOCK);
    SN_TRY(sn_arena_status(arena));

    int32_t first = 0;
    for (int32_t b = 0; b < cubature->count; b++) {
        sn_reduced_block *block = &cubature->blocks[b];
        *block = (sn_reduced_block){
            .group = points[first].group,
            .lanes = count_lanes(points, first, point_count),
            .samples = SN_PUSH(arena, int32_t, SN_BLOCK),
            .F0 = SN_PUSH(arena, double, VALUES),
            .G = SN_PUSH(arena, double, (size_t)size *VALUES),
            .volume = SN_PUSH(arena, double, SN_BLOCK),
            .parameters = SN_PUSH(arena, double, SN_MATERIAL_MAX_PARAMETERS *SN_BLOCK)};
        SN_TRY(sn_arena_status(arena));

        for (int32_t lane = 0; lane < SN_BLOCK; lane++) {
            int32_t used = lane < block->lanes ? lane : block->lanes - 1;
            block->samples[lane] = points[first + used].sample;
        }
        fill_block(cubature, block, points + first, rest, nodal);
        first += block->lanes;
    }

    sn_cubature_update_materials(cubature);
    return SINEW_OK;
}

void sn_cubature_update_materials(const sn_cubature *cubature) {
    for (int32_t b = 0; b < cubature->count; b++) {
        const sn_reduced_block *block = &cubature->blocks[b];
        const sn_sample_group *group = &cubature->groups->items[block->group];
        for (int32_t lane = 0; lane < SN_BLOCK; lane++) {
            int32_t sample = block->samples[lane];
            const double *from = sn_sample_group_parameters(group, sample / SN_BLOCK);
            for (int p = 0; p < group->material.parameter_count; p++) {
                block->parameters[p * SN_BLOCK + lane] = from[p * SN_BLOCK + sample % SN_BLOCK];
            }
        }
    }
}

// F, then what the material makes of it.
typedef struct block_values {
    double F[VALUES] SN_ALIGNED, P[VALUES] SN_ALIGNED, psi[SN_BLOCK] SN_ALIGNED;
    double H[SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;
} block_values;

static void evaluate_block(sn_isa isa, const sn_cubature *cubature, const sn_reduced_block *block,
                           const double *y, int want, block_values *values) {
    sn_material_block in = {values->F, block->parameters};
    sn_material_result out = {.psi = values->psi, .P = values->P, .H = values->H};
    SN_ISA_PICK(isa, sn_reduced_compute_F)(values->F, block, y, cubature->size);
    sn_material_evaluate(&cubature->groups->items[block->group].material, want, &in, &out);
}

static void sum_lanes(const sn_cubature *cubature, double *tangent) {
    int32_t size = cubature->size;
    for (int32_t k = 0; k < size; k++) {
        for (int32_t l = 0; l <= k; l++) {
            size_t at = (size_t)k * (size_t)size + (size_t)l;
            const double *lane = cubature->lanes + at * SN_BLOCK;
            double sum = 0;
            for (int i = 0; i < SN_BLOCK; i++) {
                sum += lane[i];
            }
            tangent[at] = sum;
        }
    }
}

void sn_cubature_evaluate(sinew_context *context, const sn_cubature *cubature,
                          sn_cubature_request *request) {
    int want =
        (request->want_energy ? SN_MATERIAL_ENERGY : 0) | (request->force ? SN_MATERIAL_STRESS : 0);
    if (request->tangent) {
        want |= request->projected ? SN_MATERIAL_PROJECTED : SN_MATERIAL_STIFFNESS;
    }

    block_values values;
    size_t entries = (size_t)cubature->size * (size_t)cubature->size;
    if (request->tangent) {
        memset(cubature->lanes, 0, entries * SN_BLOCK * sizeof(double));
    }

    for (int32_t b = 0; b < cubature->count; b++) {
        const sn_reduced_block *block = &cubature->blocks[b];
        evaluate_block(context->isa, cubature, block, request->y, want, &values);

        if (request->want_energy) {
            for (int lane = 0; lane < SN_BLOCK; lane++) {
                request->energy += block->volume[lane] * values.psi[lane];
            }
        }
        if (request->force) {
            SN_ISA_PICK(context->isa, sn_reduced_add_force)
            (request->force, block, values.P, cubature->size);
        }
        if (request->tangent) {
            SN_ISA_PICK(context->isa, sn_reduced_add_tangent)
            (cubature->lanes, block, values.H, cubature->size);
        }
    }

    if (request->tangent) {
        sum_lanes(cubature, request->tangent);
    }
}

void sn_cubature_compute_columns(sinew_context *context, const sn_cubature *cubature,
                                 const double *y, size_t stride, double *columns) {
    block_values values;
    for (int32_t b = 0; b < cubature->count; b++) {
        const sn_reduced_block *block = &cubature->blocks[b];
        evaluate_block(context->isa, cubature, block, y, SN_MATERIAL_STRESS, &values);

        for (int32_t lane = 0; lane < block->lanes; lane++, columns += stride) {
            for (int32_t k = 0; k < cubature->size; k++) {
                const double *G = block->G + (size_t)k * VALUES + lane;
                double sum = 0;
                for (int i = 0; i < 9; i++) {
                    sum += values.P[i * SN_BLOCK + lane] * G[i * SN_BLOCK];
                }
                columns[k] = -block->volume[lane] * sum;
            }
        }
    }
}

// The rotation w of a gradient A: half its curl.
static sn_vec3 rotation_of(const double *A) {
    return sn_v3(0.5 * (A[7] - A[5]), 0.5 * (A[2] - A[6]), 0.5 * (A[3] - A[1]));
}

// Adds volume times the rotation of field k at a sample to its nodes.
static void add_turn(const sn_samples *samples, int32_t sample, const double *rest,
                     const double *nodal, int32_t size, int32_t k, double *turn) {
    double F0[9] = {0}, G[9] = {0}, A[9] = {0};
    for (int32_t c = 0; c < samples->width; c++) {
        size_t node = (size_t)control_of(samples, sample, c);
        sn_vec3 g = gradient_of(samples, sample, c);
        double gradient[3] = {g.x, g.y, g.z};
        const double *u = nodal + 3 * (node * (size_t)size + (size_t)k);
        for (int i = 0; i < 9; i++) {
            F0[i] += rest[3 * node + (size_t)(i / 3)] * gradient[i % 3];
            G[i] += u[i / 3] * gradient[i % 3];
        }
    }

    // From the axes of the sample to those of the rest shape: G F0'.
    for (int i = 0; i < 9; i++) {
        for (int l = 0; l < 3; l++) {
            A[i] += G[3 * (i / 3) + l] * F0[3 * (i % 3) + l];
        }
    }

    sn_vec3 w = sn_scale(samples->volume[sample], rotation_of(A));
    for (int32_t c = 0; c < samples->width; c++) {
        size_t node = (size_t)control_of(samples, sample, c);
        sn_add_to3(turn + 3 * (node * (size_t)size + (size_t)k), w);
    }
}

sinew_status sn_reduced_compute_turns(sinew_context *context, const sn_sample_groups *groups,
                                      const double *rest, const double *nodal, int32_t nodes,
                                      int32_t size, double *turn) {
    sn_arena arena = sn_arena_create(context);
    double *volume = SN_PUSH(&arena, double, nodes);
    sinew_status status = sn_arena_status(&arena);
    if (status != SINEW_OK) {
        sn_arena_destroy(&arena);
        return status;
    }

    // Sums over the samples around each node.
    for (int32_t g = 0; g < groups->count; g++) {
        const sn_samples *samples = &groups->items[g].samples;
        for (int32_t s = 0; s < samples->count; s++) {
            for (int32_t c = 0; c < samples->width; c++) {
                volume[control_of(samples, s, c)] += samples->volume[s];
            }
            for (int32_t k = 0; k < size; k++) {
                add_turn(samples, s, rest, nodal, size, k, turn);
            }
        }
    }

    // Divided by their volume.
    for (int32_t i = 0; i < nodes; i++) {
        double *w = turn + 3 * (size_t)i * (size_t)size;
        for (int32_t k = 0; k < 3 * size; k++) {
            w[k] /= volume[i];
        }
    }

    sn_arena_destroy(&arena);
    return SINEW_OK;
}
