// Conduction on voxels; conduction.h describes the operator. The loops over unknowns are in
// multigrid_kernels.h.
#include "frame/weights/conduction.h"

#include "math/simd.h"

#include <string.h>

enum { CHUNK = SN_MULTIGRID_CHUNK, LANES = SN_MULTIGRID_LANES };

double sn_conduction_face(const sn_conduction *conduction, int32_t v, int32_t u, int d) {
    double face = conduction->face[d / 2];
    if (!conduction->conductivity) {
        return face;
    }

    double a = conduction->conductivity[v];
    double b = conduction->conductivity[u];

    return face * 2 * a * b / (a + b);
}

// Passes the unknowns and their conductances to the multigrid.
static sinew_status build_multigrid(sn_arena *arena, sn_arena *scratch,
                                    const sn_conduction_def *def, sn_conduction *made) {
    const sinew_voxels *voxels = def->voxels;
    size_t count = (size_t)def->count;

    int32_t(*coordinates)[3] = (int32_t(*)[3])sn_arena_push(scratch, count, sizeof *coordinates);
    int32_t(*neighbor)[6] = (int32_t(*)[6])sn_arena_push(scratch, count, sizeof *neighbor);
    float(*conductance)[6] = (float(*)[6])sn_arena_push(scratch, count, sizeof *conductance);
    float *known = SN_PUSH(scratch, float, count);
    SN_TRY(sn_arena_status(scratch));

    // Conductances to unknown neighbours, and their sum over known ones.
    for (int32_t k = 0; k < def->count; k++) {
        int32_t v = def->voxel ? def->voxel[k] : k;
        sn_cell_coordinates(voxels->cells, voxels->cell[v], coordinates[k]);
        made->diagonal[k] = def->leak;
        known[k] = (float)def->leak;

        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            int32_t u = voxels->neighbor[v][d];
            int32_t other = u >= 0 && def->number ? def->number[u] : u;
            neighbor[k][d] = other;
            if (u < 0) {
                continue;
            }

            double c = sn_conduction_face(made, v, u, d);
            made->diagonal[k] += c;
            if (other >= 0) {
                made->conductance[k][d] = c;
                conductance[k][d] = (float)c;
            } else {
                known[k] += (float)c;
            }
        }
    }

    sn_multigrid_input input = {def->count,
                                def->lanes,
                                {voxels->cells[0], voxels->cells[1], voxels->cells[2]},
                                (const int32_t(*)[3])coordinates,
                                (const int32_t(*)[6])neighbor,
                                (const float(*)[6])conductance,
                                known};

    return sn_multigrid_create(arena, &input, &made->multigrid);
}

sinew_status sn_conduction_create(sn_arena *arena, const sn_conduction_def *def,
                                  sn_conduction **conduction) {
    SN_ASSERT(def->count > 0 && (def->lanes == 4 || def->lanes == LANES));
    size_t count = (size_t)def->count;
    size_t numbers = count * (size_t)def->lanes;
    const double *h = def->voxels->spacing;
    double finest = fmin(h[0], fmin(h[1], h[2]));

    sn_conduction *made = SN_PUSH(arena, sn_conduction, 1);
    SN_TRY(sn_arena_status(arena));

    // Residuals are double, corrections of the multigrid single precision.
    *made = (sn_conduction){.context = arena->context,
                            .voxels = def->voxels,
                            .conductivity = def->conductivity,
                            .count = def->count,
                            .r = SN_PUSH(arena, double, numbers),
                            .p = SN_PUSH(arena, float, numbers),
                            .partial = SN_PUSH(arena, double, (count / CHUNK + 1) * LANES),
                            .diagonal = SN_PUSH(arena, double, count)};
    made->conductance =
        (double(*)[SN_VOXEL_FACES])sn_arena_push(arena, count, sizeof *made->conductance);
    SN_TRY(sn_arena_status(arena));

    // Conductance of a face, relative to the finest direction.
    for (int a = 0; a < 3; a++) {
        made->face[a] = finest * finest / (h[a] * h[a]);
    }

    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = build_multigrid(arena, &scratch, def, made);
    sn_arena_destroy(&scratch);
    *conduction = made;

    return status;
}

static void each_unknown(sn_conduction *conduction, sn_range_fn *body, void *job) {
    sn_parallel_for(conduction->context, conduction->count, CHUNK, body, job);
}

// Adds the chunks' partial sums.
static void sum_chunks(const sn_conduction *conduction, double sum[LANES]) {
    int32_t lanes = conduction->multigrid->lanes;
    for (int32_t i = 0; i < lanes; i++) {
        sum[i] = 0;
    }

    for (int32_t chunk = 0; chunk < sn_chunk_count(conduction->count, CHUNK); chunk++) {
        for (int32_t i = 0; i < lanes; i++) {
            sum[i] += conduction->partial[chunk * lanes + i];
        }
    }
}

// Computes z = M r and the products r.z.
static void precondition(sn_conduction *conduction, double rz[LANES]) {
    sn_multigrid_apply(conduction->multigrid, conduction->partial);
    sum_chunks(conduction, rz);
}

// What decides whether a lane goes on.
typedef struct progress {
    sn_conduction_measure measure;
    double tolerance;
    double first[LANES], norm[LANES]; // squared, of the residual
    double gain[LANES], total[LANES]; // squared energy norms of the last step and of all
} progress;

static bool is_open(const progress *p, int32_t lane) {
    return p->norm[lane] > p->tolerance * p->tolerance * p->first[lane];
}

// Notes a step that lowers the energy by `gain`, and closes the lane if this one and the step
// before it were small.
static void note_gain(progress *p, int32_t lane, double gain) {
    p->total[lane] += gain;
    if (p->measure == SN_CONDUCTION_ENERGY &&
        p->gain[lane] + gain <= p->tolerance * p->tolerance * p->total[lane]) {
        p->first[lane] = INFINITY;
    }
    p->gain[lane] = gain;
}

static bool has_converged(const progress *p, int32_t lanes) {
    for (int32_t i = 0; i < lanes; i++) {
        if (is_open(p, i)) {
            return false;
        }
    }
    return true;
}

void sn_conduction_solve(sn_conduction *conduction, double *x, sn_conduction_measure measure,
                         double tolerance, int32_t max_iterations, sn_conduction_report *report) {
    const sn_multigrid_kernels *kernels = conduction->multigrid->kernels;
    const sn_multigrid_level *finest = conduction->multigrid->levels;
    int32_t lanes = conduction->multigrid->lanes;
    int32_t iterations = 0;
    progress p = {.measure = measure, .tolerance = tolerance};
    double entry[LANES], rz[LANES], next[LANES], pq[LANES], factor[LANES] SN_ALIGNED = {0};
    sn_conduction_job job = {.neighbor = (const int32_t(*)[6])finest->neighbor,
                             .conductance = (const double(*)[6])conduction->conductance,
                             .diagonal = conduction->diagonal,
                             .x = x,
                             .r = conduction->r,
                             .p = conduction->p,
                             .single = finest->b,
                             .z = finest->x,
                             .factor = factor,
                             .partial = conduction->partial};

    // A step of length 0 computes the norm and passes r to the preconditioner.
    each_unknown(conduction, kernels->step, &job);
    sum_chunks(conduction, p.norm);
    memcpy(p.first, p.norm, sizeof p.first);
    memcpy(entry, p.norm, sizeof entry);

    precondition(conduction, rz);
    each_unknown(conduction, kernels->direct, &job);

    for (; iterations < max_iterations; iterations++) {
        bool active = false;
        each_unknown(conduction, kernels->product, &job);
        sum_chunks(conduction, pq);

        for (int32_t i = 0; i < lanes; i++) {
            bool open = is_open(&p, i) && pq[i] > 0;
            active = active || open;
            factor[i] = open ? rz[i] / pq[i] : 0;
            if (open) {
                note_gain(&p, i, factor[i] * rz[i]);
            }
        }

        if (!active) {
            break;
        }

        each_unknown(conduction, kernels->step, &job);
        sum_chunks(conduction, p.norm);
        // Converged: the preconditioner need not run again.
        if (has_converged(&p, lanes)) {
            iterations++;
            break;
        }
        precondition(conduction, next);

        for (int32_t i = 0; i < lanes; i++) {
            factor[i] = factor[i] != 0 && rz[i] > 0 ? next[i] / rz[i] : 0;
            rz[i] = next[i];
        }

        each_unknown(conduction, kernels->direct, &job);
    }

    report->iterations = iterations > report->iterations ? iterations : report->iterations;
    for (int32_t i = 0; i < lanes; i++) {
        if (entry[i] > 0) {
            report->residual = fmax(report->residual, sqrt(p.norm[i] / entry[i]));
        }
    }
}
