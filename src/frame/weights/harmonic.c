// Harmonic weights (Gilles et al. 2011, 4.1). The weight of a node solves Laplace's equation on the
// voxels, with 1 at the node's own voxels, 0 at those of the other nodes and no flux through the
// surface. With the compliance metric the equation is div(E grad w) = 0.
//
// In: node positions, Young's moduli, solver tolerance. Out: the table. Method: conduction on the
// voxels (conduction.h) with the stiffness as conductivity, for four or eight nodes at a time.
//
// Memory: about 500 bytes for each voxel with up to eight nodes, and 64 more for every further
// eight.
#include "frame/weights/conduction.h"
#include "frame/weights/table.h"

enum { CHUNK = SN_MULTIGRID_CHUNK, LANES = SN_MULTIGRID_LANES };

typedef struct problem {
    sn_shape *shape;
    int32_t *owner;       // of each voxel: the node whose value it is, -1 if unknown
    int32_t *number;      // of each voxel: its unknown, -1 if known or not connected to a known one
    int32_t count;        // unknowns
    int32_t *voxel;       // of each unknown
    double *conductivity; // of each voxel, relative; NULL if 1 everywhere
    sn_conduction *conduction;
    double **x; // a number for each unknown and node of a group, for each group
} problem;

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

    // Bound labels belong to their node; then each node claims the voxels around it.
    for (int32_t v = 0; v < voxels->count; v++) {
        distance[v] = INFINITY;
        problem->owner[v] = shape->bound_node[voxels->label[v]];
    }

    for (int32_t i = 0; i < shape->node_count; i++) {
        claim_ball(problem, i, distance);
    }

    // A node without any voxel would have no influence.
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

    // Flood from the voxels of known value: parts without one would be singular.
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

    // Number what was reached, in the order of the voxels.
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
    if (shape->def.metric == SINEW_METRIC_EUCLIDEAN) {
        return SINEW_OK;
    }

    // Relative to the stiffest soft voxel; rigid parts conduct far better than that.
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
            shape->rigid[label] ? SN_RIGID_CONTRAST
                                : shape->young[label] * sn_voxel_stiffness(voxels, v) / stiffest;
    }

    return SINEW_OK;
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
        double *r = problem->conduction->r + at;

        for (int32_t i = 0; i < job->lanes; i++) {
            r[i] = job->x[at + (size_t)i] = 0;
        }

        int32_t v = problem->voxel[k];
        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            int32_t u = voxels->neighbor[v][d];
            int32_t lane = u < 0 || problem->owner[u] < 0 ? -1 : problem->owner[u] - job->first;
            if (lane >= 0 && lane < job->lanes) {
                r[lane] += sn_conduction_face(problem->conduction, v, u, d);
            }
        }
    }
}

static void solve_group(problem *problem, double *x, int32_t first) {
    const sinew_weights_def *def = &problem->shape->def;
    sn_conduction *conduction = problem->conduction;
    load_job start = {problem, first, conduction->multigrid->lanes, x};
    sn_conduction_report report = {problem->shape->report.iterations,
                                   problem->shape->report.residual};

    sn_parallel_for(problem->shape->context, problem->count, CHUNK, load_range, &start);
    sn_conduction_solve(conduction, x, SN_CONDUCTION_RESIDUAL, def->tolerance, def->max_iterations,
                        &report);
    problem->shape->report.iterations = report.iterations;
    problem->shape->report.residual = report.residual;
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
            int32_t lanes = sn_conduction_lanes(nodes - group * LANES);
            double value = problem->x[group][(size_t)k * (size_t)lanes + (size_t)(i % LANES)];
            // Outside [0, 1] only by the solver's error.
            sn_row_add(row, i, fmin(fmax(value, 0), 1));
        }
    }
}

static sinew_status push_solutions(problem *problem, sn_arena *arena) {
    int32_t nodes = problem->shape->node_count;
    problem->x = SN_PUSH(arena, double *, nodes / LANES + 1);
    SN_TRY(sn_arena_status(arena));

    for (int32_t first = 0; first < nodes; first += LANES) {
        size_t lanes = (size_t)sn_conduction_lanes(nodes - first);
        problem->x[first / LANES] = SN_PUSH(arena, double, (size_t)problem->count *lanes);
    }

    return sn_arena_status(arena);
}

static sinew_status solve(problem *problem, sn_arena *arena) {
    sn_shape *shape = problem->shape;
    int32_t voxels = shape->voxels->count;

    problem->owner = SN_PUSH(arena, int32_t, voxels);
    problem->number = SN_PUSH(arena, int32_t, voxels);
    SN_TRY(sn_arena_status(arena));

    // Known values, then unknowns.
    SN_TRY(claim_voxels(problem, arena));
    SN_TRY(number_unknowns(problem, arena));

    if (problem->count == 0) {
        return SINEW_OK;
    }

    SN_TRY(set_conductivity(problem, arena));
    SN_TRY(push_solutions(problem, arena));
    sn_conduction_def def = {.voxels = shape->voxels,
                             .conductivity = problem->conductivity,
                             .count = problem->count,
                             .voxel = problem->voxel,
                             .number = problem->number,
                             .lanes = sn_conduction_lanes(shape->node_count)};
    SN_TRY(sn_conduction_create(arena, &def, &problem->conduction));

    // Several nodes are solved for at once, one in each lane.
    for (int32_t first = 0; first < shape->node_count; first += LANES) {
        SN_TRY(sn_report_progress(shape->context, "computing weights",
                                  (double)first / shape->node_count));
        sn_multigrid_set_lanes(problem->conduction->multigrid,
                               sn_conduction_lanes(shape->node_count - first));
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
