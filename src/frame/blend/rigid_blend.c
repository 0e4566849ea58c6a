// Evaluation of bodies whose nodes are all rigid; see rigid_blend.h. Chunks of sample blocks run in
// parallel. Each computes F, evaluates the material, and sums forces and stiffness into its own
// memory; the chunks' sums are then added in order.
#include "frame/blend/rigid_blend.h"

#include "base/threads.h"
#include "frame/blend/dualquat.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

sinew_status sn_rigid_blend_create(sn_arena *arena, const sn_nodes *nodes, int32_t count, bool dual,
                                   sn_rigid_blend *blend) {
    sn_isa isa = arena->context->isa;
    *blend = (sn_rigid_blend){.dual = dual};
    blend->items = SN_PUSH(arena, sn_rigid_group, count);
    blend->table = SN_PUSH(arena, double, (size_t)nodes->count *SN_RIGID_TABLE);
    blend->compute_F =
        dual ? SN_ISA_PICK(isa, sn_dual_compute_F) : SN_ISA_PICK(isa, sn_linear_compute_F);
    blend->add = dual ? SN_ISA_PICK(isa, sn_dual_add) : SN_ISA_PICK(isa, sn_linear_add);
    blend->flush = SN_ISA_PICK(isa, sn_rigid_flush);
    blend->multiply =
        dual ? SN_ISA_PICK(isa, sn_dual_multiply) : SN_ISA_PICK(isa, sn_linear_multiply);

    return sn_arena_status(arena);
}

// See work_places in rigid_lanes.h. For each sample P_k, Q_k, R; for each node p, q, d.
size_t sn_rigid_sample_work_count(int32_t width) {
    return (size_t)(24 + 11 * width) * SN_BLOCK;
}

// For each node A, its map, its force and its stiffness with the shared rotation; for each pair the
// matrix; then the torque and the stiffness of the shared rotation with itself.
size_t sn_rigid_work_count(int32_t width) {
    return (size_t)(width * (54 + 48 + 6 + 18) + 36 * sn_pair_count(width) + 3 + 9) * SN_BLOCK;
}

enum { TANGENT = SN_MATERIAL_H_COUNT * SN_BLOCK };

typedef struct evaluate_job {
    const sn_nodes *nodes;
    const sn_rigid_blend *blend;
    const sn_sample_group *group;
    sn_rigid_group *packed;
    const sn_blend_request *request;
    bool want_force;
    double *tangents; // of the group; where they go if the request is local
} evaluate_job;

// Computes F <- F D. With `back` computes P <- P D', which turns the derivative with respect to F D
// into that with respect to F.
static void multiply_D(double *F, const double *D, bool back) {
    for (int lane = 0; lane < SN_BLOCK; lane++) {
        for (int i = 0; i < 3; i++) {
            double row[3];
            for (int j = 0; j < 3; j++) {
                row[j] = F[(3 * i + j) * SN_BLOCK + lane];
            }

            for (int j = 0; j < 3; j++) {
                double sum = 0;
                for (int k = 0; k < 3; k++) {
                    sum += row[k] * D[(back ? 3 * j + k : 3 * k + j) * SN_BLOCK + lane];
                }
                F[(3 * i + j) * SN_BLOCK + lane] = sum;
            }
        }
    }
}

// The same for dP/dF, whose rows and columns are such matrices: first the rows, then, transposed,
// the columns.
static void multiply_D_twice(double *H, const double *D) {
    double rows[9][9 * SN_BLOCK], full[9][9 * SN_BLOCK];
    for (int r = 0; r < 9; r++) {
        for (int c = 0; c < 9; c++) {
            memcpy(&rows[r][c * SN_BLOCK], H + sn_sym9(r, c) * SN_BLOCK, SN_BLOCK * sizeof *H);
        }
        multiply_D(rows[r], D, true);
    }

    for (int r = 0; r < 9; r++) {
        for (int c = 0; c < 9; c++) {
            memcpy(&full[r][c * SN_BLOCK], &rows[c][r * SN_BLOCK], SN_BLOCK * sizeof *H);
        }

        multiply_D(full[r], D, true);
        for (int c = r; c < 9; c++) {
            memcpy(H + sn_sym9(r, c) * SN_BLOCK, &full[r][c * SN_BLOCK], SN_BLOCK * sizeof *H);
        }
    }
}

// The values of one block, stored while the block beside it is evaluated.
typedef struct block_values {
    double F[9 * SN_BLOCK] SN_ALIGNED, faded[9 * SN_BLOCK] SN_ALIGNED, P[9 * SN_BLOCK] SN_ALIGNED,
        psi[SN_BLOCK] SN_ALIGNED;
    double H[SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;
} block_values;

static sn_material_block prepare_block(const evaluate_job *job, int32_t block, double *work,
                                       block_values *v) {
    const double *D = job->packed->fade[block];
    job->blend->compute_F(v->F, job->packed, block, job->blend->table, work);
    if (D) {
        memcpy(v->faded, v->F, sizeof v->faded);
        multiply_D(v->faded, D, false);
    }

    return (sn_material_block){D ? v->faded : v->F, sn_sample_group_parameters(job->group, block)};
}

static double add_block(const evaluate_job *job, sn_rigid_chunk *chunk, int32_t block, double *work,
                        block_values *v) {
    const sn_blend_request *request = job->request;
    const double *D = job->packed->fade[block];
    const double *volume = job->packed->volume + (size_t)block * SN_BLOCK;

    // A fading sample was evaluated at F D: carry stress and tangent back to F.
    if (D && job->want_force) {
        multiply_D(v->P, D, true);
    }
    if (D && request->matrix) {
        multiply_D_twice(v->H, D);
    }

    // Products multiply by the tangents later.
    if (request->local) {
        memcpy(job->tangents + (size_t)block * TANGENT, v->H, TANGENT * sizeof *v->H);
    }

    // Distribute stress and tangent over the nodes.
    sn_rigid_stress stress = {work,
                              v->F,
                              job->want_force ? v->P : NULL,
                              request->matrix ? v->H : NULL,
                              request->matrix && request->geometric,
                              request->local};

    if (stress.P || stress.H) {
        job->blend->add(chunk, job->packed, block, job->blend->table, &stress);
    }

    double energy = 0;
    if (request->want_energy) {
        for (int l = 0; l < SN_BLOCK; l++) {
            energy += volume[l] * v->psi[l];
        }
    }

    return energy;
}

// Whether a run ends with this block.
static bool ends_run(const sn_rigid_group *g, int32_t block, int32_t last) {
    if (block + 1 == last || !g->uniform[block + 1]) {
        return true;
    }
    const int32_t *node = g->node + (size_t)block * (size_t)g->width * SN_BLOCK;
    const int32_t *next = node + g->width * SN_BLOCK;
    return memcmp(node, next, (size_t)g->width * SN_BLOCK * sizeof *node) != 0;
}

static void evaluate_chunk(void *data, int32_t begin, int32_t end, int32_t index) {
    const evaluate_job *job = data;
    sn_rigid_group *g = job->packed;
    sn_rigid_chunk *chunk = &g->chunks[index];

    // What the material has to compute.
    bool matrix = job->request->matrix;
    bool whole = matrix && !job->request->local;
    int want = (job->request->want_energy ? SN_MATERIAL_ENERGY : 0) |
               (job->want_force ? SN_MATERIAL_STRESS : 0);

    if (matrix) {
        want |= job->request->projected ? SN_MATERIAL_PROJECTED : SN_MATERIAL_STIFFNESS;
    }

    // Sums of this chunk.
    if (job->want_force) {
        memset(chunk->force, 0, 6 * (size_t)job->nodes->count * sizeof(double));
    }
    if (whole) {
        memset(chunk->matrix, 0, 36 * (size_t)chunk->pair_count * sizeof(double));
    }
    if (matrix && !whole) {
        memset(chunk->own, 0, 36 * (size_t)job->nodes->count * sizeof(double));
    }

    chunk->energy = 0;

    // Evaluate the blocks, and flush the registers of a run of blocks with the same nodes at its
    // end.
    for (int32_t first = begin; first < end;
         first += 2) { // two at a time: see sn_material_evaluate_pair
        int32_t count = first + 1 < end ? 2 : 1;
        block_values values[2];
        sn_material_block in[2];
        sn_material_result out[2];
        for (int32_t b = 0; b < count; b++) {
            in[b] = prepare_block(job, first + b, chunk->sample_work[b], &values[b]);
            out[b] = (sn_material_result){.psi = values[b].psi, .P = values[b].P, .H = values[b].H};
        }
        if (count == 2) {
            sn_material_evaluate_pair(&job->group->material, want, in, out);
        }
        if (count == 1) {
            sn_material_evaluate(&job->group->material, want, in, out);
        }
        for (int32_t b = 0; b < count; b++) {
            chunk->energy += add_block(job, chunk, first + b, chunk->sample_work[b], &values[b]);
            if (g->uniform[first + b] && (whole || job->want_force) &&
                ends_run(g, first + b, end)) {
                job->blend->flush(chunk, g, first + b, job->blend->table, job->want_force, whole);
            }
        }
    }
}

static void add_forces(const sn_nodes *nodes, const sn_rigid_chunk *chunk, double sign,
                       double *force) {
    for (int32_t i = 0; i < nodes->count; i++) { // w and t are neighbouring rows
        double *out = force + 3 * nodes->items[i].row;
        for (int k = 0; k < 6; k++) {
            out[k] += sign * chunk->force[6 * i + k];
        }
    }
}

// Adds the 3 x 3 part of a pair's K that begins at (row, column); of a diagonal pair only the lower
// triangle is given.
static void add_part(double *block, const double *K, int row, int column, bool diagonal) {
    for (int a = row; a < row + 3; a++) {
        for (int c = column; c < column + 3; c++) {
            *block++ += diagonal && c > a ? K[6 * c + a] : K[6 * a + c];
        }
    }
}

static void add_matrix(const sn_rigid_chunk *chunk, double *matrix) {
    for (int32_t k = 0; k < chunk->pair_count; k++) {
        const sn_rigid_pair *pair = &chunk->pairs[k];
        const double *K = chunk->matrix + 36 * (size_t)k;
        add_part(matrix + 9 * (size_t)pair->upper, K, 0, 0, pair->diagonal);
        if (!pair->diagonal) {
            add_part(matrix + 9 * ((size_t)pair->upper + 1), K, 0, 3, false);
        }

        add_part(matrix + 9 * (size_t)pair->lower, K, 3, 0, false);
        add_part(matrix + 9 * ((size_t)pair->lower + 1), K, 3, 3, pair->diagonal);
    }
}

// The blocks of each node with itself, which are neighbours in their rows.
static void add_own(const sn_nodes *nodes, const sn_rigid_chunk *chunk, const sn_bsr *rows,
                    double *matrix) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const double *K = chunk->own + 36 * (size_t)i;
        int32_t row = nodes->items[i].row;
        int32_t lower = rows->diagonal[row + 1];
        SN_ASSERT(rows->columns[lower - 1] == row);
        add_part(matrix + 9 * (size_t)rows->diagonal[row], K, 0, 0, true);
        add_part(matrix + 9 * ((size_t)lower - 1), K, 3, 0, false);
        add_part(matrix + 9 * (size_t)lower, K, 3, 3, true);
    }
}

double sn_rigid_blend_evaluate(sinew_context *context, const sn_nodes *nodes,
                               const sn_sample_groups *groups, const sn_rigid_blend *blend,
                               const sn_bsr *rows, const sn_blend_request *request,
                               double *const *tangents) {
    double energy = 0;
    for (int32_t i = 0; i < groups->count; i++) {
        sn_rigid_group *g = &blend->items[i];
        bool want_force = request->force || request->geometric;
        evaluate_job job = {
            nodes, blend, &groups->items[i], g, request, want_force, tangents ? tangents[i] : NULL};

        // Chunks are evaluated in parallel and added up in order.
        sn_parallel_for(context, g->blocks, g->chunk_size, evaluate_chunk, &job);
        for (int32_t c = 0; c < g->chunk_count; c++) {
            energy += g->chunks[c].energy;
            if (request->force) {
                add_forces(nodes, &g->chunks[c], 1, request->force);
            }
            if (request->matrix && !request->local) {
                add_matrix(&g->chunks[c], request->matrix);
            }
            if (request->matrix && request->local) {
                add_own(nodes, &g->chunks[c], rows, request->matrix);
            }
        }
    }

    return energy;
}

void sn_rigid_blend_compute_F(const sn_rigid_blend *blend, int32_t group, int32_t block,
                              double *F) {
    const sn_rigid_group *g = &blend->items[group];
    blend->compute_F(F, g, block, blend->table, g->chunks[0].sample_work[0]);
}

sinew_status sn_rigid_blend_push_own(sn_arena *arena, const sn_nodes *nodes,
                                     const sn_sample_groups *groups, const sn_rigid_blend *blend) {
    for (int32_t i = 0; i < groups->count; i++) {
        sn_rigid_group *g = &blend->items[i];
        for (int32_t c = 0; c < g->chunk_count; c++) {
            g->chunks[c].own = SN_PUSH(arena, double, 36 * (size_t)nodes->count);
        }
    }

    return sn_arena_status(arena);
}

typedef struct multiply_job {
    const sn_nodes *nodes;
    const sn_rigid_blend *blend;
    sn_rigid_group *packed;
    const double *tangents, *table, *motion;
} multiply_job;

static void multiply_chunk(void *data, int32_t begin, int32_t end, int32_t index) {
    const multiply_job *job = data;
    sn_rigid_group *g = job->packed;
    sn_rigid_chunk *chunk = &g->chunks[index];

    memset(chunk->force, 0, 6 * (size_t)job->nodes->count * sizeof(double));
    for (int32_t block = begin; block < end; block++) {
        double F[9 * SN_BLOCK] SN_ALIGNED;
        job->blend->compute_F(F, g, block, job->table, chunk->sample_work[0]);
        sn_rigid_stress stress = {
            .work = chunk->sample_work[0], .F = F, .H = job->tangents + (size_t)block * TANGENT};
        job->blend->multiply(chunk, g, block, job->table, &stress, job->motion);

        if (g->uniform[block] && ends_run(g, block, end)) {
            job->blend->flush(chunk, g, block, job->table, true, false);
        }
    }
}

void sn_rigid_blend_add_product(sinew_context *context, const sn_nodes *nodes,
                                const sn_sample_groups *groups, const sn_rigid_blend *blend,
                                double *const *tangents, const double *table, double *motion,
                                const double *x, double *y) {
    for (int32_t i = 0; i < nodes->count; i++) {
        memcpy(motion + 6 * i, x + 3 * nodes->items[i].row, 6 * sizeof *x);
    }

    for (int32_t i = 0; i < groups->count; i++) {
        sn_rigid_group *g = &blend->items[i];
        multiply_job job = {nodes, blend, g, tangents[i], table, motion};
        sn_parallel_for(context, g->blocks, g->chunk_size, multiply_chunk, &job);
        for (int32_t c = 0; c < g->chunk_count; c++) {
            add_forces(nodes, &g->chunks[c], -1, y);
        }
    }
}

static void compute_F(const sn_rigid_blend *blend, const sn_rigid_group *g, int32_t block,
                      double *F) {
    blend->compute_F(F, g, block, blend->table, g->chunks[0].sample_work[0]);
    if (g->fade[block]) {
        multiply_D(F, g->fade[block], false);
    }
}

static sn_mat3 unpack_F(const double *F, int32_t lane) {
    sn_mat3 out;
    for (int k = 0; k < 9; k++) {
        out.m[k / 3][k % 3] = F[k * SN_BLOCK + lane];
    }
    return out;
}

void sn_rigid_blend_measure(const sn_sample_groups *groups, const sn_rigid_blend *blend,
                            double *smallest_J, double *largest_J, double *volume) {
    *smallest_J = INFINITY, *largest_J = -INFINITY, *volume = 0;
    for (int32_t i = 0; i < groups->count; i++) {
        const sn_rigid_group *g = &blend->items[i];
        for (int32_t block = 0; block < g->blocks; block++) {
            double F[9 * SN_BLOCK] SN_ALIGNED;
            compute_F(blend, g, block, F);

            // Padding and samples that are left out have no volume.
            for (int32_t lane = 0; lane < SN_BLOCK; lane++) {
                if (g->volume[block * SN_BLOCK + lane] == 0) {
                    continue;
                }
                double J = sn_mat3_det(unpack_F(F, lane));
                *smallest_J = fmin(*smallest_J, J);
                *largest_J = fmax(*largest_J, J);
                *volume += J * g->volume[block * SN_BLOCK + lane];
            }
        }
    }
}

// Whether all nodes are rotated by less than 180 degrees relative to each other. Blends with
// weights that are not negative then vanish nowhere.
static bool nodes_agree(const double *table, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        for (int32_t j = 0; j < i; j++) {
            const double *a = table + (size_t)i * SN_RIGID_TABLE;
            const double *b = table + (size_t)j * SN_RIGID_TABLE;
            if (a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0) {
                return false;
            }
        }
    }

    return true;
}

int32_t sn_rigid_blend_find_vanished(const sn_rigid_blend *blend, int32_t node_count,
                                     const sn_frame_samples *samples, const bool *away) {
    if (nodes_agree(blend->table, node_count)) {
        return -1;
    }

    for (int32_t s = 0; s < samples->count; s++) {
        if (away[s]) {
            continue;
        }

        int32_t start = samples->start[s];
        sn_dual_input input = {.table = blend->table,
                               .count = samples->start[s + 1] - start,
                               .node = samples->node + start,
                               .weight = samples->weight + start};

        if (sn_dual_strength(&input) < sn_dual_least_strength) {
            return s;
        }
    }

    return -1;
}
