// Harmonic weights (Gilles et al. 2011, 4.1). The weight of a node solves Laplace's equation on the
// voxels, with 1 at the node's own voxels, 0 at those of the other nodes and no flux through the
// surface. With the compliance metric the equation is div(E grad w) = 0.
//
// In: node positions, Young's moduli, solver tolerance. Out: the table. Method: finite volumes; the
// face between two voxels conducts area / distance times the harmonic mean of their stiffness.
// Conjugate gradients with the multigrid preconditioner (multigrid.h), for four or eight nodes at a
// time.
//
// Memory: about 500 bytes for each voxel with up to eight nodes, and 64 more for every further
// eight.
#include "frame/weights/multigrid.h"
#include "frame/weights/table.h"

#include "math/simd.h"

#include <string.h>

enum { CHUNK = SN_MULTIGRID_CHUNK, LANES = SN_MULTIGRID_LANES };

// The conductivity of a rigid part that is bound to no node, relative to the stiffest soft voxel.
#define RIGID_CONTRAST 1e4

typedef struct problem {
    sn_shape *shape;
    int32_t *owner;       // of each voxel: the node whose value it is, -1 if unknown
    int32_t *number;      // of each voxel: its unknown, -1 if known or not connected to a known one
    int32_t count;        // unknowns
    int32_t *voxel;       // of each unknown
    double face[3];       // area / distance along each axis, relative
    double *conductivity; // of each voxel, relative; NULL if 1 everywhere
    sn_multigrid *multigrid;
    double (*conductance)[SN_VOXEL_FACES]; // of each unknown to unknown neighbours, else 0
    double *diagonal;
    double *r; // a number for each unknown and node of a group
    float *p;
    double **x;      // likewise, of each group
    double *partial; // sums of each chunk
} problem;

// Returns how many nodes are solved together when `nodes` of them are left.
static int32_t group_lanes(int32_t nodes) {
    return nodes > 4 ? LANES : 4;
}

// Returns the conductance of the face between voxel v and its neighbour u in direction d.
static double face_conductance(const problem *problem, int32_t v, int32_t u, int d) {
    double face = problem->face[d / 2];
    if (!problem->conductivity) {
        return face;
    }

    double a = problem->conductivity[v];
    double b = problem->conductivity[u];

    return face * 2 * a * b / (a + b);
}

static void claim_ball(problem *problem, int32_t node, double *distance) {
    const sn_shape *shape = problem->shape;
    const sinew_voxels *voxels = shape->voxels;
    sn_vec3 p = sn_load3(sn_at3(shape->node_position, node));
    sn_vec3 u = sn_voxel_units(voxels, p);
    int32_t nearest[8];
    double limit;
    double tie = 1e-9 * fmin(voxels->spacing[0], fmin(voxels->spacing[1], voxels->spacing[2]));

    sn_nearest_voxels(voxels, p, INFINITY, nearest, &limit);
    limit = fmax(limit, shape->def.node_radius) + tie;

    int32_t low[3], high[3];
    const double at[3] = {u.x, u.y, u.z};
    for (int a = 0; a < 3; a++) {
        double reach = limit / voxels->spacing[a] + 1;
        low[a] = (int32_t)fmin(fmax(floor(at[a] - reach), 0), voxels->cells[a] - 1);
        high[a] = (int32_t)fmin(fmax(ceil(at[a] + reach), 0), voxels->cells[a] - 1);
    }

    for (int32_t z = low[2]; z <= high[2]; z++) {
        for (int32_t y = low[1]; y <= high[1]; y++) {
            for (int32_t x = low[0]; x <= high[0]; x++) {
                int32_t v = sn_voxel_at(voxels, x, y, z);
                if (v < 0 || shape->bound_node[voxels->label[v]] >= 0) {
                    continue;
                }

                double d = sn_distance(p, sn_voxel_center(voxels, v));

                // Where the balls of two nodes overlap, the closer node owns the voxel; in a tie
                // the one with the lower number.
                if (d > limit || d >= distance[v] - tie) {
                    continue;
                }

                distance[v] = d;
                problem->owner[v] = node;
            }
        }
    }
}

static sinew_status claim_voxels(problem *problem, sn_arena *scratch) {
    sn_shape *shape = problem->shape;
    const sinew_voxels *voxels = shape->voxels;
    double *distance = SN_PUSH(scratch, double, voxels->count);
    int32_t *claimed = SN_PUSH(scratch, int32_t, shape->node_count);

    SN_TRY(sn_arena_status(scratch));
    for (int32_t v = 0; v < voxels->count; v++) {
        distance[v] = INFINITY;
        problem->owner[v] = shape->bound_node[voxels->label[v]];
    }

    for (int32_t i = 0; i < shape->node_count; i++) {
        claim_ball(problem, i, distance);
    }

    for (int32_t v = 0; v < voxels->count; v++) {
        if (problem->owner[v] >= 0) {
            claimed[problem->owner[v]]++;
        }
    }

    for (int32_t i = 0; i < shape->node_count; i++) {
        if (claimed[i]) {
            continue;
        }

        sn_vec3 p = sn_load3(sn_at3(shape->node_position, i));
        return sn_fail(shape->context, SINEW_INVALID_ARGUMENT,
                       "node %d at (%g, %g, %g) m shares its voxel with another node or with a "
                       "label bound to another one; "
                       "refine the grid or move it",
                       i, p.x, p.y, p.z);
    }

    return SINEW_OK;
}

// Numbers the unknowns: the voxels that are connected through faces to a voxel of known value.
static sinew_status number_unknowns(problem *problem, sn_arena *arena) {
    const sinew_voxels *voxels = problem->shape->voxels;
    int32_t *stack = SN_PUSH(arena, int32_t, voxels->count);
    int32_t depth = 0;

    problem->voxel = SN_PUSH(arena, int32_t, voxels->count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t v = 0; v < voxels->count; v++) {
        problem->number[v] = -1;
        if (problem->owner[v] >= 0) {
            stack[depth++] = v;
        }
    }

    while (depth > 0) {
        int32_t v = stack[--depth];
        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            int32_t u = voxels->neighbor[v][d];
            if (u < 0 || problem->owner[u] >= 0 || problem->number[u] >= 0) {
                continue;
            }
            problem->number[u] = 0;
            stack[depth++] = u;
        }
    }

    for (int32_t v = 0; v < voxels->count; v++) {
        if (problem->number[v] < 0) {
            continue;
        }
        problem->number[v] = problem->count;
        problem->voxel[problem->count++] = v;
    }

    return SINEW_OK;
}

static sinew_status set_conductivity(problem *problem, sn_arena *arena) {
    const sn_shape *shape = problem->shape;
    const sinew_voxels *voxels = shape->voxels;
    const double *h = voxels->spacing;
    double finest = fmin(h[0], fmin(h[1], h[2]));

    for (int a = 0; a < 3; a++) {
        problem->face[a] = finest * finest / (h[a] * h[a]);
    }

    if (shape->def.metric == SINEW_METRIC_EUCLIDEAN) {
        return SINEW_OK;
    }

    double stiffest = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        if (!shape->rigid[voxels->label[v]]) {
            stiffest =
                fmax(stiffest, shape->young[voxels->label[v]] * sn_voxel_stiffness(voxels, v));
        }
    }

    if (stiffest == 0) {
        return SINEW_OK; // there are only rigid parts
    }

    problem->conductivity = SN_PUSH(arena, double, voxels->count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t v = 0; v < voxels->count; v++) {
        uint16_t label = voxels->label[v];
        problem->conductivity[v] =
            shape->rigid[label] ? RIGID_CONTRAST
                                : shape->young[label] * sn_voxel_stiffness(voxels, v) / stiffest;
    }

    return SINEW_OK;
}

// Passes the unknowns and their conductances to the multigrid.
static sinew_status build_multigrid(problem *problem, sn_arena *arena) {
    const sinew_voxels *voxels = problem->shape->voxels;
    sn_arena scratch = sn_arena_create(arena->context);
    size_t count = (size_t)problem->count;

    int32_t(*coordinates)[3] = (int32_t(*)[3])sn_arena_push(&scratch, count, sizeof *coordinates);
    int32_t(*neighbor)[6] = (int32_t(*)[6])sn_arena_push(&scratch, count, sizeof *neighbor);
    float(*conductance)[6] = (float(*)[6])sn_arena_push(&scratch, count, sizeof *conductance);

    float *known = SN_PUSH(&scratch, float, count);
    sinew_status status = sn_arena_status(&scratch);
    if (status != SINEW_OK) {
        sn_arena_destroy(&scratch);
        return status;
    }

    // Conductances to unknown neighbours, and their sum over known ones.
    for (int32_t k = 0; k < problem->count; k++) {
        int32_t v = problem->voxel[k];
        sn_cell_coordinates(voxels->cells, voxels->cell[v], coordinates[k]);
        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            int32_t u = voxels->neighbor[v][d];
            neighbor[k][d] = u < 0 ? -1 : problem->number[u];
            if (u < 0) {
                continue;
            }

            double c = face_conductance(problem, v, u, d);
            problem->diagonal[k] += c;
            if (problem->number[u] >= 0) {
                problem->conductance[k][d] = c;
                conductance[k][d] = (float)c;
            } else {
                known[k] += (float)c;
            }
        }
    }

    sn_multigrid_input input = {problem->count,
                                group_lanes(problem->shape->node_count),
                                {voxels->cells[0], voxels->cells[1], voxels->cells[2]},
                                (const int32_t(*)[3])coordinates,
                                (const int32_t(*)[6])neighbor,
                                (const float(*)[6])conductance,
                                known};

    status = sn_multigrid_create(arena, &input, &problem->multigrid);
    sn_arena_destroy(&scratch);
    return status;
}

// The input of a loop over the unknowns of one group of nodes.
typedef struct load_job {
    problem *problem;
    int32_t first, lanes; // first: the node of lane 0
    double *x;
} load_job;

// Computes the residual r = b at x = 0: the flux from the nodes' own voxels.
static void load_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    load_job *job = data;
    problem *problem = job->problem;
    const sinew_voxels *voxels = problem->shape->voxels;

    for (int32_t k = begin; k < end; k++) {
        size_t at = (size_t)k * (size_t)job->lanes;
        double *r = problem->r + at;
        float *single = problem->multigrid->levels[0].b + at;

        for (int32_t i = 0; i < job->lanes; i++) {
            r[i] = job->x[at + (size_t)i] = 0;
            problem->p[at + (size_t)i] = 0;
        }

        int32_t v = problem->voxel[k];
        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            int32_t u = voxels->neighbor[v][d];
            int32_t lane = u < 0 || problem->owner[u] < 0 ? -1 : problem->owner[u] - job->first;
            if (lane >= 0 && lane < job->lanes) {
                r[lane] += face_conductance(problem, v, u, d);
            }
        }

        for (int32_t i = 0; i < job->lanes; i++) {
            single[i] = (float)r[i];
        }
    }
}

static void each_unknown(problem *problem, sn_range_fn *body, void *job) {
    sn_parallel_for(problem->shape->context, problem->count, CHUNK, body, job);
}

// Adds the chunks' partial sums.
static void sum_chunks(const problem *problem, double sum[LANES]) {
    int32_t lanes = problem->multigrid->lanes;
    for (int32_t i = 0; i < lanes; i++) {
        sum[i] = 0;
    }

    for (int32_t chunk = 0; chunk < sn_chunk_count(problem->count, CHUNK); chunk++) {
        for (int32_t i = 0; i < lanes; i++) {
            sum[i] += problem->partial[chunk * lanes + i];
        }
    }
}

// Computes z = M r and the products r.z.
static void precondition(problem *problem, double rz[LANES]) {
    sn_multigrid_apply(problem->multigrid, problem->partial);
    sum_chunks(problem, rz);
}

static bool has_converged(const double *norm, const double *load, int32_t lanes, double tolerance) {
    for (int32_t i = 0; i < lanes; i++) {
        if (norm[i] > tolerance * tolerance * load[i]) {
            return false;
        }
    }
    return true;
}

// Runs conjugate gradients on the right-hand sides of a group. A lane that has converged no longer
// changes.
static void solve_group(problem *problem, double *x, int32_t first) {
    const sinew_weights_def *def = &problem->shape->def;
    sinew_weights_report *report = &problem->shape->report;
    const sn_multigrid_kernels *kernels = problem->multigrid->kernels;
    const sn_multigrid_level *finest = problem->multigrid->levels;
    int32_t lanes = problem->multigrid->lanes;
    int32_t iterations = 0;
    double load[LANES], norm[LANES], rz[LANES], next[LANES], pq[LANES],
        factor[LANES] SN_ALIGNED = {0};
    load_job start = {problem, first, lanes, x};
    sn_harmonic_job job = {.neighbor = (const int32_t(*)[6])finest->neighbor,
                           .conductance = (const double(*)[6])problem->conductance,
                           .diagonal = problem->diagonal,
                           .x = x,
                           .r = problem->r,
                           .p = problem->p,
                           .single = finest->b,
                           .z = finest->x,
                           .factor = factor,
                           .partial = problem->partial};

    each_unknown(problem, load_range, &start);
    each_unknown(problem, kernels->step, &job); // a step of length 0 computes the norm
    sum_chunks(problem, load);
    memcpy(norm, load, sizeof norm);
    precondition(problem, rz);
    each_unknown(problem, kernels->direct, &job);

    for (; iterations < def->max_iterations; iterations++) {
        bool active = false;
        each_unknown(problem, kernels->product, &job);
        sum_chunks(problem, pq);

        for (int32_t i = 0; i < lanes; i++) {
            bool open = norm[i] > def->tolerance * def->tolerance * load[i] && pq[i] > 0;
            active = active || open;
            factor[i] = open ? rz[i] / pq[i] : 0;
        }

        if (!active) {
            break;
        }

        each_unknown(problem, kernels->step, &job);
        sum_chunks(problem, norm);
        // Converged: the preconditioner need not run again.
        if (has_converged(norm, load, lanes, def->tolerance)) {
            iterations++;
            break;
        }
        precondition(problem, next);

        for (int32_t i = 0; i < lanes; i++) {
            factor[i] = factor[i] != 0 && rz[i] > 0 ? next[i] / rz[i] : 0;
            rz[i] = next[i];
        }

        each_unknown(problem, kernels->direct, &job);
    }

    if (iterations > report->iterations) {
        report->iterations = iterations;
    }

    for (int32_t i = 0; i < lanes; i++) {
        if (load[i] > 0) {
            report->residual = fmax(report->residual, sqrt(norm[i] / load[i]));
        }
    }
}

static void fill_harmonic_row(const void *data, int32_t voxel, sn_row *row) {
    const problem *problem = data;
    int32_t k = problem->number[voxel];
    int32_t nodes = problem->shape->node_count;
    if (problem->owner[voxel] >= 0) {
        sn_row_add(row, problem->owner[voxel], 1);
    }

    if (k >= 0) {
        for (int32_t i = 0; i < nodes; i++) {
            int32_t group = i / LANES;
            int32_t lanes = group_lanes(nodes - group * LANES);
            double value = problem->x[group][(size_t)k * (size_t)lanes + (size_t)(i % LANES)];
            // Outside [0, 1] only by the solver's error.
            sn_row_add(row, i, fmin(fmax(value, 0), 1));
        }
    }
}

static sinew_status push_vectors(problem *problem, sn_arena *arena) {
    int32_t nodes = problem->shape->node_count;
    size_t count = (size_t)problem->count;
    size_t most = count * (size_t)group_lanes(nodes);

    problem->r = SN_PUSH(arena, double, most);
    problem->p = SN_PUSH(arena, float, most);
    problem->partial = SN_PUSH(arena, double, (count / CHUNK + 1) * LANES);
    problem->x = SN_PUSH(arena, double *, nodes / LANES + 1);
    problem->diagonal = SN_PUSH(arena, double, count);
    problem->conductance =
        (double(*)[SN_VOXEL_FACES])sn_arena_push(arena, count, sizeof *problem->conductance);
    SN_TRY(sn_arena_status(arena));

    for (int32_t first = 0; first < nodes; first += LANES) {
        problem->x[first / LANES] =
            SN_PUSH(arena, double, count *(size_t)group_lanes(nodes - first));
    }

    return sn_arena_status(arena);
}

static sinew_status solve(problem *problem, sn_arena *arena) {
    sn_shape *shape = problem->shape;
    int32_t voxels = shape->voxels->count;

    problem->owner = SN_PUSH(arena, int32_t, voxels);
    problem->number = SN_PUSH(arena, int32_t, voxels);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(claim_voxels(problem, arena));
    SN_TRY(number_unknowns(problem, arena));

    if (problem->count == 0) {
        return SINEW_OK;
    }

    SN_TRY(set_conductivity(problem, arena));
    SN_TRY(push_vectors(problem, arena));
    SN_TRY(build_multigrid(problem, arena));

    for (int32_t first = 0; first < shape->node_count; first += LANES) {
        SN_TRY(sn_report_progress(shape->context, "computing weights",
                                  (double)first / shape->node_count));
        sn_multigrid_set_lanes(problem->multigrid, group_lanes(shape->node_count - first));
        solve_group(problem, problem->x[first / LANES], first);
    }

    return SINEW_OK;
}

sinew_status sn_build_harmonic(sn_shape *shape) {
    sn_arena arena = sn_arena_create(shape->context);
    problem problem = {.shape = shape};
    sinew_status status = solve(&problem, &arena);
    if (status == SINEW_OK) {
        status = sn_build_table(shape, fill_harmonic_row, &problem);
    }

    sn_arena_destroy(&arena);
    return status;
}
