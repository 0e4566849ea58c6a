// Modes of conduction by block inverse iteration; voxel_modes.h describes the problem.
//
// A block of orthonormal vectors X is stored in groups of four or eight, as the solver of
// conduction.h takes them. A sweep solves (A + s) Y = X, starting from X / (theta + s), and
// replaces X by the Ritz vectors of A in the span of Y. The shift s makes A regular; a hundredth of
// what the lowest mode of a bar as long as the solid has changes nothing else.
#include "frame/weights/voxel_modes.h"

#include "frame/weights/conduction.h"
#include "frame/weights/table.h"

#include "base/random.h"
#include "linalg/dense.h"

#include <string.h>

enum {
    CHUNK = SN_MULTIGRID_CHUNK,
    LANES = SN_MULTIGRID_LANES,
    SPARE = 3, // vectors beyond the modes
    MOST = SN_MAX_VOXEL_MODES + 8,
    COARSE_VOXELS = 20000,
    COARSE_SWEEPS = 40,
    FINE_SWEEPS = 2,
    SOLVER_ITERATIONS = 6
};

// What is left of the correction of a sweep, and change of the eigenvalues at which the iteration
// ends. Both are relative; an eigenvalue converges twice as fast as its vector. What matters is a
// space of smooth functions, not the modes to the last digit.
static const double solver_tolerance = 0.1, lambda_tolerance = 1e-5;

typedef struct block {
    sn_conduction *conduction;
    int32_t count, width, groups; // voxels, vectors
    double *x[MOST / LANES + 1];  // of each group
    double shift;
    double theta[MOST];
    double *partial;  // [chunk][2][width][width]: X'X and X'A X
    double *rotation; // [width][width]
} block;

// Returns the number of vectors of a group.
static int32_t group_lanes(const block *block, int32_t group) {
    return sn_conduction_lanes(block->width - group * LANES);
}

static double *numbers_of(const block *block, int32_t vector, int32_t voxel) {
    int32_t group = vector / LANES;
    return block->x[group] + (size_t)voxel * (size_t)group_lanes(block, group) + vector % LANES;
}

static void load_row(const block *block, int32_t voxel, double *row) {
    for (int32_t g = 0; g < block->groups; g++) {
        size_t lanes = (size_t)group_lanes(block, g);
        memcpy(row + g * LANES, block->x[g] + (size_t)voxel * lanes, lanes * sizeof *row);
    }
}

static void store_row(const block *block, int32_t voxel, const double *row) {
    for (int32_t g = 0; g < block->groups; g++) {
        size_t lanes = (size_t)group_lanes(block, g);
        memcpy(block->x[g] + (size_t)voxel * lanes, row + g * LANES, lanes * sizeof *row);
    }
}

// Adds the products X'X and X'A X of a chunk, lower triangles. X'A X is summed over faces.
static void multiply_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const block *block = data;
    const sn_conduction *conduction = block->conduction;
    int32_t(*neighbor)[6] = conduction->voxels->neighbor;
    size_t size = (size_t)block->width * (size_t)block->width;
    double *gram = block->partial + 2 * (size_t)chunk * size;
    double *energy = gram + size;
    double x[MOST], y[MOST];

    memset(gram, 0, 2 * size * sizeof *gram);
    for (int32_t v = begin; v < end; v++) {
        load_row(block, v, x);

        // X'X
        for (int32_t i = 0; i < block->width; i++) {
            for (int32_t j = 0; j <= i; j++) {
                gram[i * block->width + j] += x[i] * x[j];
            }
        }

        // X'A X: each face once, in the positive direction.
        for (int d = 1; d < SN_VOXEL_FACES; d += 2) {
            if (neighbor[v][d] < 0) {
                continue;
            }

            double c = conduction->conductance[v][d];
            load_row(block, neighbor[v][d], y);
            for (int32_t i = 0; i < block->width; i++) {
                y[i] -= x[i];
            }
            for (int32_t i = 0; i < block->width; i++) {
                for (int32_t j = 0; j <= i; j++) {
                    energy[i * block->width + j] += c * y[i] * y[j];
                }
            }
        }
    }
}

// Replaces every row x of the block by x C.
static void rotate_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const block *block = data;
    double x[MOST], y[MOST];

    for (int32_t v = begin; v < end; v++) {
        load_row(block, v, x);
        for (int32_t k = 0; k < block->width; k++) {
            y[k] = 0;
        }
        for (int32_t i = 0; i < block->width; i++) {
            const double *C = block->rotation + (size_t)i * (size_t)block->width;
            for (int32_t k = 0; k < block->width; k++) {
                y[k] += x[i] * C[k];
            }
        }
        store_row(block, v, y);
    }
}

// Computes H = L^-1 H L^-T for the Cholesky factor L of the Gram matrix, H symmetric.
static void reduce(double *H, const double *L, int32_t n) {
    // Columns first, L^-1 H, then rows, by symmetry of the result.
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t c = 0; c < n; c++) {
            for (int32_t r = 0; r < n; r++) {
                double *at = pass == 0 ? &H[r * n + c] : &H[c * n + r];
                double sum = *at;
                for (int32_t k = 0; k < r; k++) {
                    sum -= L[r * n + k] * (pass == 0 ? H[k * n + c] : H[c * n + k]);
                }
                *at = sum / L[r * n + r];
            }
        }
    }
}

// Computes C = L^-T Z', rows of Z being eigenvectors.
static void expand(double *C, const double *L, const double *Z, int32_t n) {
    for (int32_t k = 0; k < n; k++) {
        for (int32_t r = n - 1; r >= 0; r--) {
            double sum = Z[k * n + r];
            for (int32_t i = r + 1; i < n; i++) {
                sum -= L[i * n + r] * C[i * n + k];
            }
            C[r * n + k] = sum / L[r * n + r];
        }
    }
}

// Makes the block orthonormal and turns it into Ritz vectors of A, with Ritz values `theta`.
static sinew_status find_ritz(block *block) {
    sinew_context *context = block->conduction->context;
    int32_t n = block->width;
    size_t size = (size_t)n * (size_t)n;
    double *gram = block->partial;
    double *energy = gram + size;
    double scale[MOST], work[MOST];

    // Sum the chunks in order, into the first.
    int32_t chunks = sn_chunk_count(block->count, CHUNK);
    sn_parallel_for(context, block->count, CHUNK, multiply_range, block);
    for (int32_t chunk = 1; chunk < chunks; chunk++) {
        for (size_t k = 0; k < 2 * size; k++) {
            gram[k] += block->partial[2 * (size_t)chunk * size + k];
        }
    }

    // Columns of unit length; a trace of the identity keeps dependent ones apart.
    for (int32_t i = 0; i < n; i++) {
        double length = sqrt(gram[(size_t)i * (size_t)n + (size_t)i]);
        scale[i] = length > 0 ? 1 / length : 1;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j <= i; j++) {
            gram[i * n + j] *= scale[i] * scale[j];
            energy[i * n + j] *= scale[i] * scale[j];
            energy[j * n + i] = energy[i * n + j];
        }
        gram[i * n + i] += 1e-13;
    }

    if (sn_dense_cholesky(gram, n, n) >= 0) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "the lowest modes of the solid could not be found: %d vectors on %d voxels "
                       "depend on each other",
                       n, block->count);
    }

    reduce(energy, gram, n);
    if (!sn_dense_symmetric_eigen(energy, n, n, block->theta, work)) {
        return sn_fail(context, SINEW_INVALID_DATA, "the lowest modes of the solid have no limit");
    }

    expand(block->rotation, gram, energy, n);
    for (int32_t i = 0; i < n; i++) {
        block->theta[i] = fmax(block->theta[i], 0);
        for (int32_t k = 0; k < n; k++) {
            block->rotation[i * n + k] *= scale[i];
        }
    }

    sn_parallel_for(context, block->count, CHUNK, rotate_range, block);
    return SINEW_OK;
}

// The input of a loop over the voxels for one group.
typedef struct group_job {
    block *block;
    double *x;
    int32_t lanes;
    double inverse[LANES]; // theta + shift of each lane
} group_job;

static void scale_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const group_job *job = data;
    for (int32_t v = begin; v < end; v++) {
        double *x = job->x + (size_t)v * (size_t)job->lanes;
        for (int32_t i = 0; i < job->lanes; i++) {
            x[i] /= job->inverse[i];
        }
    }
}

// r = b - A x, where b = (theta + shift) x.
static void residual_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const group_job *job = data;
    const sn_conduction *conduction = job->block->conduction;
    size_t lanes = (size_t)job->lanes;

    for (int32_t v = begin; v < end; v++) {
        const double *x = job->x + (size_t)v * lanes;
        double *r = conduction->r + (size_t)v * lanes;

        // The right-hand side without the shift, then the flux through each face.
        for (size_t i = 0; i < lanes; i++) {
            r[i] = (job->inverse[i] - job->block->shift) * x[i];
        }

        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            int32_t u = conduction->voxels->neighbor[v][d];
            if (u < 0) {
                continue;
            }
            double c = conduction->conductance[v][d];
            const double *y = job->x + (size_t)u * lanes;
            for (size_t i = 0; i < lanes; i++) {
                r[i] += c * (y[i] - x[i]);
            }
        }
    }
}

static sinew_status sweep(block *block) {
    sinew_context *context = block->conduction->context;

    for (int32_t g = 0; g < block->groups; g++) {
        sn_conduction_report report = {0};
        group_job job = {block, block->x[g], group_lanes(block, g), {0}};
        for (int32_t i = 0; i < job.lanes; i++) {
            job.inverse[i] = block->theta[g * LANES + i] + block->shift;
        }

        sn_multigrid_set_lanes(block->conduction->multigrid, job.lanes);
        sn_parallel_for(context, block->count, CHUNK, scale_range, &job);
        sn_parallel_for(context, block->count, CHUNK, residual_range, &job);
        sn_conduction_solve(block->conduction, job.x, SN_CONDUCTION_ENERGY, solver_tolerance,
                            SOLVER_ITERATIONS, &report);
    }

    return find_ritz(block);
}

static double stiffness_of(const sinew_voxels *voxels, const sn_stiffness *stiffness,
                           int32_t voxel) {
    return stiffness->young
               ? stiffness->young[voxels->label[voxel]] * sn_voxel_stiffness(voxels, voxel)
               : 1;
}

// The reciprocal of the mean compliance of the voxels that are not rigid.
static double mean_stiffness(const sinew_voxels *voxels, const sn_stiffness *stiffness) {
    double sum = 0;
    int32_t count = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        if (stiffness->rigid[voxels->label[v]]) {
            continue;
        }
        sum += 1 / stiffness_of(voxels, stiffness, v);
        count++;
    }

    return count > 0 ? count / sum : 1;
}

// Computes stiffness^exponent of each voxel; rigid labels keep the bound.
static sinew_status compute_power(const sinew_voxels *voxels, const sn_stiffness *stiffness,
                                  double exponent, sn_arena *arena, double **values) {
    double *out = *values = SN_RESERVE(arena, double, voxels->count);
    SN_TRY(sn_arena_status(arena));

    double mean = mean_stiffness(voxels, stiffness);
    for (int32_t v = 0; v < voxels->count; v++) {
        double power = pow(stiffness_of(voxels, stiffness, v) / mean, exponent);
        out[v] = stiffness->rigid[voxels->label[v]]
                     ? SN_RIGID_CONTRAST
                     : fmin(fmax(power, 1 / SN_RIGID_CONTRAST), SN_RIGID_CONTRAST);
    }

    return SINEW_OK;
}

sinew_status sn_compute_conductivity(const sinew_voxels *voxels, const sn_stiffness *stiffness,
                                     sn_arena *arena, double **conductivity) {
    return compute_power(voxels, stiffness, 0.5, arena, conductivity);
}

sinew_status sn_compute_relative_stiffness(const sinew_voxels *voxels,
                                           const sn_stiffness *stiffness, sn_arena *arena,
                                           double **relative) {
    return compute_power(voxels, stiffness, 1, arena, relative);
}

static sinew_status create_block(const sinew_voxels *voxels, const sn_stiffness *stiffness,
                                 int32_t width, sn_arena *arena, block *block) {
    *block = (struct block){.count = voxels->count, .width = width};
    block->groups = (width + LANES - 1) / LANES;

    double *conductivity;
    SN_TRY(sn_compute_conductivity(voxels, stiffness, arena, &conductivity));

    // A hundredth of 1 / length^2, in units of the finest spacing.
    const double *h = voxels->spacing;
    double finest = fmin(h[0], fmin(h[1], h[2]));
    double length = 0;
    for (int a = 0; a < 3; a++) {
        length = fmax(length, voxels->cells[a] * h[a]);
    }
    block->shift = 1e-2 * finest * finest / (length * length);

    sn_conduction_def def = {.voxels = voxels,
                             .conductivity = conductivity,
                             .count = voxels->count,
                             .leak = block->shift,
                             .lanes = sn_conduction_lanes(width)};
    SN_TRY(sn_conduction_create(arena, &def, &block->conduction));

    size_t chunks = (size_t)sn_chunk_count(voxels->count, CHUNK);
    size_t size = (size_t)width * (size_t)width;
    block->partial = SN_RESERVE(arena, double, 2 * chunks * size);
    block->rotation = SN_PUSH(arena, double, size);
    for (int32_t g = 0; g < block->groups; g++) {
        size_t lanes = (size_t)group_lanes(block, g);
        block->x[g] = SN_RESERVE(arena, double, (size_t)voxels->count *lanes);
    }

    return sn_arena_status(arena);
}

// Starts from 1, x, y, z and random vectors. A little noise makes the coordinates of flat solids
// independent.
static void start_block(const block *block) {
    const sinew_voxels *voxels = block->conduction->voxels;
    const double *h = voxels->spacing;
    double noise = 0.1 * fmin(h[0], fmin(h[1], h[2]));
    sn_random random = sn_random_seed(1);
    double row[MOST];

    for (int32_t v = 0; v < block->count; v++) {
        sn_vec3 center = sn_voxel_center(voxels, v);
        row[0] = 1;
        sn_store3(row + 1, center);
        for (int k = 1; k < 4; k++) {
            row[k] += sn_random_range(&random, -noise, noise);
        }
        for (int32_t k = 4; k < block->width; k++) {
            row[k] = sn_random_range(&random, -1, 1);
        }
        store_row(block, v, row);
    }
}

typedef struct refine_job {
    const block *coarse, *fine;
} refine_job;

// Trilinear between the coarse voxels around a fine one, those that are missing left out.
static void refine_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const refine_job *job = data;
    const sinew_voxels *grid = job->coarse->conduction->voxels;
    const sinew_voxels *fine = job->fine->conduction->voxels;
    int32_t width = job->fine->width;
    double row[MOST], corner_row[MOST];

    for (int32_t v = begin; v < end; v++) {
        double u[3], total = 0;
        memset(row, 0, sizeof row);
        sn_store3(u, sn_voxel_units(grid, sn_voxel_center(fine, v)));

        for (int i = 0; i < 8; i++) {
            // Trilinear share of the corner.
            double share = 1;
            int32_t cell[3];
            for (int a = 0; a < 3; a++) {
                double low = floor(u[a]);
                int bit = i >> a & 1;
                share *= bit ? u[a] - low : 1 - (u[a] - low);
                cell[a] = (int32_t)low + bit;
            }

            int32_t corner = sn_voxel_at(grid, cell[0], cell[1], cell[2]);
            if (corner < 0 || share <= 0) {
                continue;
            }
            load_row(job->coarse, corner, corner_row);
            for (int32_t k = 0; k < width; k++) {
                row[k] += share * corner_row[k];
            }
            total += share;
        }

        // Thin parts may have no coarse voxel around them.
        if (total > 0) {
            for (int32_t k = 0; k < width; k++) {
                row[k] /= total;
            }
        } else {
            int32_t nearest[8];
            sn_nearest_voxels(grid, sn_voxel_center(fine, v), INFINITY, nearest, NULL);
            load_row(job->coarse, nearest[0], row);
        }
        store_row(job->fine, v, row);
    }
}

// Iterates until the eigenvalues of the modes no longer change.
static sinew_status iterate(block *block, int32_t modes, int32_t *sweeps) {
    start_block(block);
    SN_TRY(find_ritz(block));

    for (*sweeps = 0; *sweeps < COARSE_SWEEPS;) {
        double before[MOST];
        double change = 0;
        memcpy(before, block->theta, sizeof before);
        SN_TRY(sweep(block));
        (*sweeps)++;

        for (int32_t k = 0; k < modes; k++) {
            change = fmax(change, fabs(block->theta[k] - before[k]) / (before[k] + block->shift));
        }
        if (change < lambda_tolerance) {
            break;
        }
    }

    return SINEW_OK;
}

// Copies the modes, scaled to mean square 1.
static sinew_status store_modes(const block *block, int32_t count, sn_arena *arena,
                                sn_voxel_modes *modes) {
    modes->count = count;
    modes->value = SN_RESERVE(arena, double, (size_t)block->count *(size_t)count);
    SN_TRY(sn_arena_status(arena));
    memcpy(modes->lambda, block->theta, (size_t)count * sizeof *modes->lambda);

    double scale = sqrt(block->count);
    for (int32_t v = 0; v < block->count; v++) {
        for (int32_t k = 0; k < count; k++) {
            modes->value[(size_t)v * (size_t)count + (size_t)k] = scale * *numbers_of(block, k, v);
        }
    }

    return SINEW_OK;
}

// Returns how many cells of the given grid a cell of the coarse one spans along each axis.
static int32_t coarse_factor(const sinew_voxels *voxels) {
    return (int32_t)ceil(cbrt((double)voxels->count / COARSE_VOXELS) - 1e-9);
}

static sinew_status coarsen(const sinew_voxels *voxels, int32_t factor,
                            const sn_stiffness *stiffness, sinew_voxels **coarse) {
    if (stiffness->young) {
        return sn_coarsen_voxels(voxels, factor, stiffness->young, coarse);
    }

    double *even = sn_allocate(voxels->context, SN_LABELS, sizeof *even);
    if (!even) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int32_t label = 0; label < SN_LABELS; label++) {
        even[label] = 1;
    }

    sinew_status status = sn_coarsen_voxels(voxels, factor, even, coarse);
    sn_release(voxels->context, even, SN_LABELS, sizeof *even);
    return status;
}

static sinew_status check_count(const sinew_voxels *voxels, int32_t count, int32_t *width) {
    SN_ASSERT(count >= 1 && count <= SN_MAX_VOXEL_MODES);
    int32_t left = (count + SPARE) % LANES;
    *width = count + SPARE - left + (left == 0 ? 0 : sn_conduction_lanes(left));

    if (voxels->count < *width) {
        return sn_fail(voxels->context, SINEW_INVALID_ARGUMENT,
                       "%d voxels are too few for %d modes: at least %d are needed; refine the "
                       "grid, or choose another kind of weights",
                       voxels->count, count, *width);
    }

    return SINEW_OK;
}

sinew_status sn_compute_coarse_modes(const sinew_voxels *voxels, const sn_stiffness *stiffness,
                                     int32_t count, sn_arena *arena, sn_voxel_modes *modes,
                                     sinew_voxels **coarse) {
    int32_t width;
    int32_t factor = coarse_factor(voxels);
    SN_TRY(check_count(voxels, count, &width));

    *coarse = NULL;
    if (factor > 1) {
        SN_TRY(coarsen(voxels, factor, stiffness, coarse));
    }

    // The coarse grid is enough to place nodes.
    block block;
    sn_arena scratch = sn_arena_create(voxels->context);
    sinew_status status =
        create_block(*coarse ? *coarse : voxels, stiffness, width, &scratch, &block);
    if (status == SINEW_OK) {
        status = iterate(&block, count, &modes->sweeps);
    }
    if (status == SINEW_OK) {
        status = store_modes(&block, count, arena, modes);
    }

    sn_arena_destroy(&scratch);
    return status;
}

// Computes the block on the given grid, by way of the coarse one if there is any.
static sinew_status compute_block(const sinew_voxels *voxels, const sinew_voxels *coarse,
                                  const sn_stiffness *stiffness, int32_t count, int32_t width,
                                  sn_arena *arena, block *fine, int32_t *sweeps) {
    SN_TRY(create_block(voxels, stiffness, width, arena, fine));
    if (!coarse) {
        return iterate(fine, count, sweeps);
    }

    // Converge on the coarse grid.
    block rough;
    sn_arena scratch = sn_arena_create(voxels->context);
    sinew_status status = create_block(coarse, stiffness, width, &scratch, &rough);
    if (status == SINEW_OK) {
        status = iterate(&rough, count, sweeps);
    }
    if (status == SINEW_OK) {
        // Interpolate, and improve by a few sweeps.
        refine_job job = {&rough, fine};
        sn_parallel_for(voxels->context, voxels->count, CHUNK, refine_range, &job);
        status = find_ritz(fine);
    }

    sn_arena_destroy(&scratch);
    for (int32_t k = 0; k < FINE_SWEEPS && status == SINEW_OK; k++) {
        status = sweep(fine);
    }

    return status;
}

sinew_status sn_compute_voxel_modes(const sinew_voxels *voxels, const sn_stiffness *stiffness,
                                    int32_t count, sn_arena *arena, sn_voxel_modes *modes) {
    int32_t width;
    int32_t factor = coarse_factor(voxels);
    sinew_voxels *coarse = NULL;
    SN_TRY(check_count(voxels, count, &width));

    if (factor > 1) {
        SN_TRY(coarsen(voxels, factor, stiffness, &coarse));
    }

    block block;
    sn_arena scratch = sn_arena_create(voxels->context);
    sinew_status status =
        compute_block(voxels, coarse, stiffness, count, width, &scratch, &block, &modes->sweeps);
    if (status == SINEW_OK) {
        status = store_modes(&block, count, arena, modes);
    }

    sn_arena_destroy(&scratch);
    sinew_voxels_destroy(coarse);
    return status;
}
