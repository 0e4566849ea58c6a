// A step of position dynamics (Cai 2016, algorithm 1): symplectic Euler predicts, the constraints
// are projected a fixed number of times, and the velocities are the displacements over the step,
// damped. Every loop writes to memory of its own; sums are taken chunk by chunk.
#include "base/threads.h"
#include "pbd/pbd.h"

#include <string.h>

typedef struct job {
    sinew_pbd *pbd;
    double h;
    const double *targets, *forces;
    sn_vec3 center, velocity, spin; // of the rigid motion that damping keeps
    double keep;                    // part of the velocity that remains
} job;

static void predict_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const job *work = data;
    sinew_pbd *pbd = work->pbd;
    sn_vec3 gravity = sn_load3(pbd->settings.gravity);

    for (int32_t i = begin; i < end; i++) {
        double *x = pbd->nodes + 4 * (size_t)i;
        double w = pbd->inverse_masses[i];

        memcpy(pbd->before + 4 * (size_t)i, x, 4 * sizeof(double));

        // Kinematic nodes jump to their targets.
        if (w == 0) {
            if (work->targets && pbd->masses[i] > 0) {
                sn_store3(x, sn_load3(sn_at3(work->targets, i)));
            }
            continue;
        }

        // Symplectic Euler for the others.
        sn_vec3 a = gravity;
        if (work->forces) {
            a = sn_madd(a, w / pbd->mass_unit, sn_load3(sn_at3(work->forces, i)));
        }

        sn_vec3 v = sn_madd(sn_load3(pbd->velocities + 4 * (size_t)i), work->h, a);
        sn_add_to3(x, sn_scale(work->h, v));
    }
}

typedef struct sweep_job {
    const sinew_pbd *pbd;
    sn_pbd_projection projection;
    int32_t first_round, consolidating; // rounds before this one have heavy nodes
} sweep_job;

static void project_chunk(void *data, int32_t chunk, int32_t round) {
    const sweep_job *work = data;
    const int32_t *blocks = work->pbd->schedule.chunk_blocks;
    sn_pbd_projection projection = work->projection;
    if (work->first_round + round < work->consolidating) {
        projection.inertias = work->pbd->heavy_inertias;
    }

    work->pbd->project(&projection, blocks[chunk], blocks[chunk + 1]);
}

void sn_pbd_iterate(sinew_pbd *pbd, int32_t first, int32_t count, int32_t consolidating, double h) {
    sinew_context *context = pbd->arena.context;
    sweep_job work = {
        .pbd = pbd, .first_round = first, .consolidating = pbd->heavy_inertias ? consolidating : 0};

    work.projection =
        (sn_pbd_projection){pbd->nodes, pbd->blocks, pbd->inertias, pbd->multipliers, 1 / (h * h)};
    if (pbd->multipliers && first == 0) {
        memset(pbd->multipliers, 0, (size_t)pbd->schedule.block_count * sizeof *pbd->multipliers);
    }

    // Cores need all of their nodes between two rounds; without cores, rounds overlap.
    int32_t rounds = pbd->cores.count > 0 ? 1 : count;

    for (; work.first_round < first + count; work.first_round += rounds) {
        sn_run_sweeps(context, &pbd->schedule.sweeps, rounds, project_chunk, &work);
        if (pbd->cores.count > 0) {
            sn_pbd_project_cores(context, pbd->nodes, &pbd->cores, pbd->masses);
        }
    }
}

// Stores the number of non-finite nodes in the first sum of each chunk.
static void check_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const job *work = data;
    double bad = 0;
    for (int32_t i = begin; i < end; i++) {
        bad += !sn_finite3(sn_load3(work->pbd->nodes + 4 * (size_t)i));
    }
    work->pbd->sums[(size_t)chunk * SN_PBD_SUMS] = bad;
}

static void velocity_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const job *work = data;
    sinew_pbd *pbd = work->pbd;

    for (int32_t i = begin; i < end; i++) {
        size_t row = 4 * (size_t)i;
        sn_vec3 v =
            sn_scale(1 / work->h, sn_sub(sn_load3(pbd->nodes + row), sn_load3(pbd->before + row)));
        sn_store3(pbd->velocities + row, pbd->inverse_masses[i] > 0 ? sn_scale(work->keep, v) : v);
    }
}

// Mass, centre of mass and momentum of the free nodes.
static void momentum_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const job *work = data;
    const sinew_pbd *pbd = work->pbd;
    double *sums = pbd->sums + (size_t)chunk * SN_PBD_SUMS;

    memset(sums, 0, SN_PBD_SUMS * sizeof *sums);
    for (int32_t i = begin; i < end; i++) {
        if (pbd->inverse_masses[i] == 0) {
            continue;
        }

        sn_vec3 x = sn_load3(pbd->nodes + 4 * (size_t)i);
        sn_vec3 v = sn_load3(pbd->velocities + 4 * (size_t)i);
        sums[0] += pbd->masses[i];
        sn_add_to3(sums + 1, sn_scale(pbd->masses[i], x));
        sn_add_to3(sums + 4, sn_scale(pbd->masses[i], v));
    }
}

// Angular momentum and inertia about the centre.
static void spin_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const job *work = data;
    const sinew_pbd *pbd = work->pbd;
    double *sums = pbd->sums + (size_t)chunk * SN_PBD_SUMS;

    memset(sums, 0, SN_PBD_SUMS * sizeof *sums);
    for (int32_t i = begin; i < end; i++) {
        if (pbd->inverse_masses[i] == 0) {
            continue;
        }

        // Angular momentum r x m v and inertia m (|r|^2 I - r r').
        sn_vec3 r = sn_sub(sn_load3(pbd->nodes + 4 * (size_t)i), work->center);
        sn_vec3 v = sn_load3(pbd->velocities + 4 * (size_t)i);

        sn_add_to3(sums, sn_scale(pbd->masses[i], sn_cross(r, v)));
        const double m = pbd->masses[i];
        const double e[3] = {r.x, r.y, r.z};
        const double square = sn_dot(r, r);

        for (int k = 0; k < 9; k++) {
            sums[3 + k] += m * ((k % 4 == 0 ? square : 0) - e[k / 3] * e[k % 3]);
        }
    }
}

static void damp_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const job *work = data;
    sinew_pbd *pbd = work->pbd;

    for (int32_t i = begin; i < end; i++) {
        if (pbd->inverse_masses[i] == 0) {
            continue;
        }

        sn_vec3 r = sn_sub(sn_load3(pbd->nodes + 4 * (size_t)i), work->center);
        sn_vec3 v = sn_load3(pbd->velocities + 4 * (size_t)i);
        sn_vec3 rigid = sn_add(work->velocity, sn_cross(work->spin, r));
        sn_store3(pbd->velocities + 4 * (size_t)i, sn_madd(rigid, work->keep, sn_sub(v, rigid)));
    }
}

static void run(job *work, sn_range_fn *body) {
    sn_parallel_for(work->pbd->arena.context, work->pbd->node_count, SN_PBD_NODE_CHUNK, body, work);
}

static void sum_chunks(double total[SN_PBD_SUMS], const sinew_pbd *pbd) {
    memset(total, 0, SN_PBD_SUMS * sizeof *total);
    int32_t chunks = sn_chunk_count(pbd->node_count, SN_PBD_NODE_CHUNK);
    for (int32_t chunk = 0; chunk < chunks; chunk++) {
        for (int k = 0; k < SN_PBD_SUMS; k++) {
            total[k] += pbd->sums[(size_t)chunk * SN_PBD_SUMS + (size_t)k];
        }
    }
}

void sn_pbd_damp(sinew_pbd *pbd, double h) {
    job work = {.pbd = pbd, .keep = exp(-pbd->settings.damping * h)};
    double sums[SN_PBD_SUMS];

    // Linear motion.
    run(&work, momentum_range);
    sum_chunks(sums, pbd);
    if (sums[0] <= 0) {
        return;
    }

    work.center = sn_scale(1 / sums[0], sn_load3(sums + 1));
    work.velocity = sn_scale(1 / sums[0], sn_load3(sums + 4));
    run(&work, spin_range);
    sum_chunks(sums, pbd);

    // Angular velocity from angular momentum.
    sn_mat3 inertia;
    memcpy(inertia.m, sums + 3, sizeof inertia.m);

    // Nodes on one line or at one point have no spin about it.
    double size = sn_mat3_trace(inertia);
    bool solid = sn_mat3_det(inertia) > 1e-12 * size * size * size;
    if (solid) {
        work.spin = sn_mat3_apply(sn_mat3_inverse(inertia), sn_load3(sums));
    }

    run(&work, damp_range);
}

void sn_pbd_begin_step(sinew_pbd *pbd, double h, const double *targets, const double *forces) {
    job work = {.pbd = pbd, .h = h, .targets = targets, .forces = forces};
    run(&work, predict_range);
}

sinew_status sn_pbd_finish_step(sinew_pbd *pbd, double h) {
    job work = {.pbd = pbd, .h = h, .keep = exp(-pbd->settings.drag * h)};

    // A state that is not finite is discarded.
    run(&work, check_range);
    double bad = 0;
    for (int32_t chunk = 0; chunk < sn_chunk_count(pbd->node_count, SN_PBD_NODE_CHUNK); chunk++) {
        bad += pbd->sums[(size_t)chunk * SN_PBD_SUMS];
    }

    if (bad > 0) {
        memcpy(pbd->nodes, pbd->before, 4 * (size_t)pbd->node_count * sizeof *pbd->nodes);
        return sn_fail(pbd->arena.context, SINEW_DIVERGED,
                       "%g nodes left the finite numbers in a step of %g s; the state is as before",
                       bad, h);
    }

    // Velocities from displacements, damped.
    run(&work, velocity_range);
    if (pbd->settings.damping > 0) {
        sn_pbd_damp(pbd, h);
    }

    return SINEW_OK;
}

sinew_status sinew_pbd_step(sinew_pbd *pbd, double h, const double *targets, const double *forces) {
    SN_NEED(NULL, pbd);

    if (!(h > 0) || !isfinite(h)) {
        return sn_fail(pbd->arena.context, SINEW_INVALID_ARGUMENT,
                       "the step must be positive, not %g s", h);
    }

    sn_pbd_begin_step(pbd, h, targets, forces);
    sn_pbd_iterate(pbd, 0, pbd->settings.iterations, pbd->settings.consolidating, h);
    return sn_pbd_finish_step(pbd, h);
}
