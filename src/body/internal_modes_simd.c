// Newton's method for the internal modes of a block, and their share of the stiffness
// (internal_modes.h).
#include "body/internal_modes.h"

#include "math/simd.h"

#include <math.h>
#include <string.h>

enum { SIZE = 3 * SN_MOST_INTERNAL_MODES, ITERATIONS = 30, HALVINGS = 12 };

// Newton steps that change no strain by more than this are the last. The method converges
// quadratically, so the next step would be near rounding.
static const double last_step = 1e-6;

// Steps that change strains by more than this are checked to lower the energy.
static const double bold_step = 0.1;

typedef struct solve_job {
    const sn_internal_modes *modes;
    const double *gradient; // of the block
    const double *volume;
    const sn_material *material;
    const double *parameters;
    const double *F; // without modes
} solve_job;

static const double *gradient_of(const sn_internal_modes *modes, int32_t block) {
    return modes->gradient + (size_t)block * (size_t)modes->count * 3 * SN_BLOCK;
}

// F += sum_j b_j (x) g_j
static void add_gradients(double *F, const double *gradient, int32_t count, const double *b) {
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        for (int32_t j = 0; j < count; j++) {
            const double *g = gradient + 3 * j * SN_BLOCK + lane;
            for (int e = 0; e < 9; e++) {
                double *at = F + e * SN_BLOCK + lane;
                sn_lanes factor = sn_lanes_all(b[3 * j + e / 3]);
                sn_lanes_store(at, sn_lanes_fma(factor, sn_lanes_load(g + e % 3 * SN_BLOCK),
                                                sn_lanes_load(at)));
            }
        }
    }
}

static void add_modes(const solve_job *job, const double *b, double *F) {
    memcpy(F, job->F, 9 * SN_BLOCK * sizeof *F);
    add_gradients(F, job->gradient, job->modes->count, b);
}

static double sum_energy(const solve_job *job, const double *psi) {
    double sum = 0;
    for (int l = 0; l < SN_BLOCK; l++) {
        sum += job->volume[l] * psi[l];
    }
    return sum;
}

static double energy_at(const solve_job *job, const double *b) {
    double F[9 * SN_BLOCK] SN_ALIGNED, psi[SN_BLOCK] SN_ALIGNED;
    add_modes(job, b, F);
    sn_material_evaluate(job->material, SN_MATERIAL_ENERGY,
                         &(sn_material_block){F, job->parameters},
                         &(sn_material_result){.psi = psi});
    return sum_energy(job, psi);
}

// r = dW/db
static void find_residual(double *r, const double *gradient, int32_t count, const double *volume,
                          const double *P) {
    for (int32_t j = 0; j < count; j++) {
        for (int a = 0; a < 3; a++) {
            sn_lanes sum = {0};
            for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
                sn_lanes V = sn_lanes_load(volume + lane);
                for (int m = 0; m < 3; m++) {
                    sn_lanes g = sn_lanes_load(gradient + (3 * j + m) * SN_BLOCK + lane);
                    sum =
                        sn_lanes_fma(V * sn_lanes_load(P + (3 * a + m) * SN_BLOCK + lane), g, sum);
                }
            }
            r[3 * j + a] = sum[0];
            for (int l = 1; l < SN_LANES; l++) {
                r[3 * j + a] += sum[l];
            }
        }
    }
}

// The Cholesky factor of K_bb, with the reciprocals of its diagonal; false if it is not positive
// definite.
static bool factorize(const solve_job *job, const double *H, double *L) {
    int32_t count = job->modes->count;
    int32_t n = 3 * count;
    double trace = 0;
    double K[3 * SIZE];

    // The lower triangle of K_bb, whose blocks become rows of L.
    for (int32_t j = 0; j < count; j++) {
        job->modes->couple(K, job->volume, H, job->gradient + 3 * j * SN_BLOCK, 1, job->gradient,
                           j + 1);
        for (int32_t k = 0; k <= j; k++) {
            for (int e = 0; e < 9; e++) {
                L[(3 * j + e % 3) * SIZE + 3 * k + e / 3] = K[9 * k + e];
            }
        }
    }

    for (int32_t i = 0; i < n; i++) {
        trace += fabs(L[i * SIZE + i]);
    }

    // Column by column; each is subtracted from the rows below at once.
    for (int32_t k = 0; k < n; k++) {
        double pivot = L[k * SIZE + k];
        if (!(pivot > 1e-12 * trace)) {
            return false;
        }

        double inverse = 1 / sqrt(pivot);
        double column[SIZE];
        L[k * SIZE + k] = inverse;
        for (int32_t i = k + 1; i < n; i++) {
            column[i] = L[i * SIZE + k] *= inverse;
        }
        for (int32_t i = k + 1; i < n; i++) {
            for (int32_t m = k + 1; m <= i; m++) {
                L[i * SIZE + m] -= column[i] * column[m];
            }
        }
    }

    return true;
}

// x = L^-1 x
static void solve_lower(const double *L, int32_t n, double *x) {
    for (int32_t i = 0; i < n; i++) {
        double sum = x[i];
        for (int32_t k = 0; k < i; k++) {
            sum -= L[i * SIZE + k] * x[k];
        }
        x[i] = sum * L[i * SIZE + i];
    }
}

// x = L^-T x
static void solve_upper(const double *L, int32_t n, double *x) {
    for (int32_t i = n - 1; i >= 0; i--) {
        double sum = x[i];
        for (int32_t k = i + 1; k < n; k++) {
            sum -= L[k * SIZE + i] * x[k];
        }
        x[i] = sum * L[i * SIZE + i];
    }
}

// A bound of the change of F that a step makes.
static double measure_step(const solve_job *job, const double *step) {
    double largest = 0;
    for (int32_t j = 0; j < job->modes->count; j++) {
        const double *g = job->gradient + 3 * j * SN_BLOCK;
        double length2 = 0, reach2 = 0;
        for (int k = 0; k < 3; k++) {
            length2 += step[3 * j + k] * step[3 * j + k];
        }

        for (int l = 0; l < SN_BLOCK; l++) {
            double square = 0;
            for (int k = 0; k < 3; k++) {
                square += g[k * SN_BLOCK + l] * g[k * SN_BLOCK + l];
            }
            reach2 = square > reach2 ? square : reach2;
        }

        double change2 = length2 * reach2;
        largest = change2 > largest ? change2 : largest;
    }

    return sqrt(largest);
}

// Halves a bold step until it lowers the energy.
static double shorten(const solve_job *job, const double *b, const double *step, double energy) {
    double t = 1;
    for (int i = 0; i < HALVINGS; i++) {
        double trial[SIZE];
        for (int32_t k = 0; k < 3 * job->modes->count; k++) {
            trial[k] = b[k] + t * step[k];
        }

        if (energy_at(job, trial) < energy) {
            return t;
        }
        t *= 0.5;
    }

    return 0;
}

// Finds b by Newton's method, starting from zero: the result depends on F alone.
static void minimize(const solve_job *job, double *b) {
    int32_t n = 3 * job->modes->count;
    double F[9 * SN_BLOCK] SN_ALIGNED, P[9 * SN_BLOCK] SN_ALIGNED, psi[SN_BLOCK] SN_ALIGNED;
    double H[SN_TANGENT_COUNT * SN_BLOCK] SN_ALIGNED;
    double L[SIZE * SIZE], step[SIZE];
    sn_material_block in = {F, job->parameters};
    sn_material_result out = {.psi = psi, .P = P, .H = H};
    int want = SN_MATERIAL_ENERGY | SN_MATERIAL_STRESS;

    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        // The tangent at b; where it is indefinite, its projection.
        add_modes(job, b, F);
        sn_material_evaluate(job->material, want | SN_MATERIAL_STIFFNESS, &in, &out);
        if (!factorize(job, H, L)) {
            sn_material_evaluate(job->material, want | SN_MATERIAL_PROJECTED, &in, &out);
            if (!factorize(job, H, L)) {
                return;
            }
        }

        // The Newton step.
        find_residual(step, job->gradient, job->modes->count, job->volume, P);
        solve_lower(L, n, step);
        solve_upper(L, n, step);
        for (int32_t k = 0; k < n; k++) {
            step[k] = -step[k];
        }

        // Small steps are taken whole; large ones must lower the energy.
        double size = measure_step(job, step);
        double t = size > bold_step ? shorten(job, b, step, sum_energy(job, psi)) : 1;
        if (!(t > 0)) {
            return;
        }

        for (int32_t k = 0; k < n; k++) {
            b[k] += t * step[k];
        }
        if (t == 1 && size < last_step) {
            return;
        }
    }
}

void SN_ISA_NAME(sn_internal_modes_solve)(const sn_internal_modes *modes, const sn_samples *samples,
                                          int32_t block, const sn_material *material,
                                          const double *parameters, int want, double *F,
                                          const sn_material_result *out,
                                          sn_internal_factor *factor) {
    double plain[9 * SN_BLOCK] SN_ALIGNED;
    double b[SIZE] = {0};
    solve_job job = {modes,
                     gradient_of(modes, block),
                     samples->volume + (size_t)block * SN_BLOCK,
                     material,
                     parameters,
                     plain};

    memcpy(plain, F, sizeof plain);
    minimize(&job, b);
    add_modes(&job, b, F);
    sn_material_evaluate(material, want, &(sn_material_block){F, parameters}, out);

    // Without a factor the modes are held: the stiffness is then that of the controls alone.
    bool stiffness = want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED);
    if (stiffness && !factorize(&job, out->H, factor->L)) {
        factor->L[0] = 0;
    }
}

// The most controls of a sample: the most nodes of a voxel, four controls each.
enum { WIDTH = 256 };

// Y = L^-1 Y, for all columns at once.
static void solve_rows(const double *L, int32_t n, double Y[][3 * WIDTH], int32_t columns) {
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < i; k++) {
            double factor = L[i * SIZE + k];
            for (int32_t c = 0; c < columns; c++) {
                Y[i][c] -= factor * Y[k][c];
            }
        }

        double inverse = L[i * SIZE + i];
        for (int32_t c = 0; c < columns; c++) {
            Y[i][c] *= inverse;
        }
    }
}

// Three rows of Y' Y from row `first`, up to column `end`.
static void multiply_rows(double rows[3][3 * WIDTH], double Y[][3 * WIDTH], int32_t n,
                          int32_t first, int32_t end) {
    for (int i = 0; i < 3; i++) {
        memset(rows[i], 0, (size_t)end * sizeof(double));
        for (int32_t m = 0; m < n; m++) {
            double factor = Y[m][first + i];
            for (int32_t c = 0; c < end; c++) {
                rows[i][c] += factor * Y[m][c];
            }
        }
    }
}

// The block of two controls in a matrix of sets; NULL if they belong to different ones.
static double *find_own(const sn_samples *samples, int32_t block, const sn_control_sets *sets,
                        int32_t c, int32_t d, double *matrix) {
    const int32_t *control = samples->control + (size_t)block * (size_t)samples->width * SN_BLOCK;
    int32_t row = control[c * SN_BLOCK];
    int32_t column = control[d * SN_BLOCK];
    if (sets->first[row] != sets->first[column]) {
        return NULL;
    }
    return matrix + 9 * (ptrdiff_t)(sets->starts[row] + column - sets->first[row]);
}

void SN_ISA_NAME(sn_internal_modes_subtract)(const sn_internal_modes *modes,
                                             const sn_samples *samples, int32_t block,
                                             const double *H, const sn_internal_factor *factor,
                                             const sn_control_sets *sets, double *matrix) {
    int32_t width = samples->width;
    int32_t n = 3 * modes->count;
    double Y[SIZE][3 * WIDTH], K[3 * SIZE * WIDTH];
    const double *own = gradient_of(modes, block);
    const double *gradient = samples->gradient + (size_t)block * (size_t)width * 3 * SN_BLOCK;
    const double *volume = samples->volume + (size_t)block * SN_BLOCK;
    const int32_t *slots = samples->slots + (size_t)block * (size_t)sn_pair_count(width) * SN_BLOCK;

    SN_ASSERT(width <= WIDTH);
    if (!(factor->L[0] > 0)) {
        return;
    }

    // Y = L^-1 K_b
    modes->couple(K, volume, H, own, modes->count, gradient, width);
    for (int32_t j = 0; j < modes->count; j++) {
        for (int32_t c = 0; c < width; c++) {
            for (int e = 0; e < 9; e++) {
                Y[3 * j + e % 3][3 * c + e / 3] = K[9 * (j * width + c) + e];
            }
        }
    }
    solve_rows(factor->L, n, Y, 3 * width);

    // All samples of the block have the same controls, and with them the same slots.
    for (int32_t c = 0, pair = 0; c < width; c++) {
        double rows[3][3 * WIDTH];
        multiply_rows(rows, Y, n, 3 * c, 3 * c + 3);
        for (int32_t d = 0; d <= c; d++, pair++) {
            double *out = sets ? find_own(samples, block, sets, c, d, matrix)
                               : matrix + slots[pair * SN_BLOCK];
            if (!out) {
                continue;
            }

            for (int e = 0; e < 9; e++) {
                out[e] -= rows[e / 3][3 * d + e % 3];
            }
        }
    }
}

void SN_ISA_NAME(sn_internal_modes_follow)(const sn_internal_modes *modes,
                                           const sn_samples *samples, int32_t block,
                                           const sn_internal_factor *factor, const double *dP,
                                           double *dF) {
    int32_t n = 3 * modes->count;
    const double *gradient = gradient_of(modes, block);
    double b[SIZE];
    if (!(factor->L[0] > 0)) {
        return;
    }

    // db = -K_bb^-1 K_b da
    find_residual(b, gradient, modes->count, samples->volume + (size_t)block * SN_BLOCK, dP);
    solve_lower(factor->L, n, b);
    solve_upper(factor->L, n, b);
    for (int32_t k = 0; k < n; k++) {
        b[k] = -b[k];
    }

    add_gradients(dF, gradient, modes->count, b);
}
