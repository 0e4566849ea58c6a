// Averaged dilatation: patches of samples, the volume energy U of the law, and its derivatives. The
// equations are in dilatation.h.
#include "body/dilatation.h"

#include "base/threads.h"
#include "math/decompose.h"
#include "math/dense.h"
#include "math/svd.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 64 };

// --- the function U of the law

// J for J >= `least`; below that a smooth extension that never falls below a tenth of `least`, so
// that U stays bounded where elements are flat or inverted. Twice continuously differentiable, like
// the extension of the stretches in material/isotropic_simd.c. d[] receives the value and its first
// two derivatives.
static void bound_volume(double d[3], double J) {
    const double least = 0.25, floor = 0.1;
    d[0] = J;
    d[1] = 1;
    d[2] = 0;
    if (J >= least) {
        return;
    }

    double v = (1 - J / least) / (1 - floor);
    double slope = 1 + 2 * v;
    double g = 1 / (1 + v + v * v);
    d[0] = least * (floor + (1 - floor) * g);
    d[1] = slope * g * g;
    d[2] = 2 * g * g * (slope * slope * g - 1) / (least * (1 - floor));
}

// U = kappa e^2 / 2 with e = theta, ln J or J - 1. e[] receives e and its first two derivatives
// with respect to theta.
static void strain_of(const sn_dilatation *d, double theta, double e[3]) {
    if (d->measure != SN_DILATATION_LOG && d->measure != SN_DILATATION_BOUNDED) {
        e[0] = theta;
        e[1] = 1;
        e[2] = 0;
        return;
    }

    double m[3];
    bound_volume(m, 1 + theta);
    if (d->measure == SN_DILATATION_BOUNDED) {
        e[0] = m[0] - 1;
        e[1] = m[1];
        e[2] = m[2];
        return;
    }
    e[0] = log(m[0]);
    e[1] = m[1] / m[0];
    e[2] = m[2] / m[0] - e[1] * e[1];
}

static double energy_of(const sn_dilatation *d, double theta) {
    double e[3];
    strain_of(d, theta, e);
    return 0.5 * d->stiffness * e[0] * e[0];
}

static double slope_of(const sn_dilatation *d, double theta) {
    double e[3];
    strain_of(d, theta, e);
    return d->stiffness * e[0] * e[1];
}

static double curvature_of(const sn_dilatation *d, double theta) {
    double e[3];
    strain_of(d, theta, e);
    return d->stiffness * (e[1] * e[1] + e[0] * e[2]);
}

// --- structure

static int32_t control_of(const sn_samples *samples, int32_t sample, int32_t c) {
    size_t block = (size_t)(sample / SN_BLOCK) * (size_t)samples->width + (size_t)c;
    return samples->control[block * SN_BLOCK + (size_t)(sample % SN_BLOCK)];
}

static sn_vec3 gradient_of(const sn_samples *samples, int32_t sample, int32_t c) {
    size_t block = (size_t)(sample / SN_BLOCK) * (size_t)samples->width + (size_t)c;
    const double *g = samples->gradient + block * 3 * SN_BLOCK + (size_t)(sample % SN_BLOCK);
    return sn_v3(g[0], g[SN_BLOCK], g[2 * SN_BLOCK]);
}

// The index in d->nodes of a node of a patch, by binary search.
static int32_t find_node(const sn_dilatation *d, int32_t patch, int32_t node) {
    int32_t low = d->node_offsets[patch];
    int32_t high = d->node_offsets[patch + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (d->nodes[middle] < node) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    SN_ASSERT(low < d->node_offsets[patch + 1] && d->nodes[low] == node);
    return low;
}

// Numbers the patches and lists the patches of each sample.
static sinew_status number_patches(sn_arena *arena, sn_arena *scratch, const sn_samples *samples,
                                   int32_t rule_samples, bool nodal, sn_dilatation *d) {
    d->per = nodal ? d->width : 1;
    d->patches = SN_PUSH(arena, int32_t, (size_t)samples->count * (size_t)d->per);
    int32_t *number = SN_PUSH(scratch, int32_t, d->rows);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(sn_arena_status(scratch));

    // One patch per element.
    if (!nodal) {
        for (int32_t s = 0; s < samples->count; s++) {
            d->patches[s] = s / rule_samples;
        }
        d->patch_count = samples->count / rule_samples;
        return SINEW_OK;
    }

    // One patch per node; nodes that only elements of other materials use have no patch.
    for (int32_t s = 0; s < samples->count; s++) {
        for (int32_t c = 0; c < d->width; c++) {
            number[control_of(samples, s, c)] = 1;
        }
    }

    for (int32_t i = 0; i < d->rows; i++) {
        number[i] = number[i] ? d->patch_count++ : -1;
    }

    for (int32_t s = 0; s < samples->count; s++) {
        for (int32_t c = 0; c < d->width; c++) {
            d->patches[s * d->per + c] = number[control_of(samples, s, c)];
        }
    }

    return SINEW_OK;
}

// Turns counts into offsets of lists stored one after another (as in compressed sparse rows).
static void sum_counts(int32_t *offsets, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        offsets[i + 1] += offsets[i];
    }
}

// Lists the samples of each patch and sums its volume.
static sinew_status list_samples(sn_arena *arena, const sn_samples *samples, sn_dilatation *d) {
    int32_t entries = samples->count * d->per;
    d->sample_offsets = SN_PUSH(arena, int32_t, d->patch_count + 2);
    d->samples = SN_PUSH(arena, int32_t, entries);
    d->volume = SN_PUSH(arena, double, d->patch_count);
    d->mean = SN_PUSH(arena, double, d->patch_count);
    SN_TRY(sn_arena_status(arena));

    // Count and fill with offsets shifted by one entry: filling advances each start to the end of
    // its list, which is the start of the next.
    int32_t *next = d->sample_offsets + 1;
    for (int32_t k = 0; k < entries; k++) {
        next[d->patches[k] + 1]++;
        d->volume[d->patches[k]] += samples->volume[k / d->per] / d->per;
    }
    sum_counts(next, d->patch_count);
    for (int32_t k = 0; k < entries; k++) {
        d->samples[next[d->patches[k]]++] = k / d->per;
    }

    return SINEW_OK;
}

// Collects the distinct nodes of a patch's samples in `list`, ascending; returns their number.
static int32_t unite_nodes(const sn_samples *samples, const sn_dilatation *d, int32_t patch,
                           int32_t *list) {
    int32_t count = 0;
    for (int32_t k = d->sample_offsets[patch]; k < d->sample_offsets[patch + 1]; k++) {
        for (int32_t c = 0; c < d->width; c++) {
            int32_t node = control_of(samples, d->samples[k], c);
            int32_t at = count;
            while (at > 0 && list[at - 1] > node) {
                at--;
            }
            if (at > 0 && list[at - 1] == node) {
                continue;
            }
            memmove(list + at + 1, list + at, (size_t)(count - at) * sizeof *list);
            list[at] = node;
            count++;
        }
    }

    return count;
}

// Lists the nodes of each patch.
static sinew_status list_nodes(sn_arena *arena, sn_arena *scratch, const sn_samples *samples,
                               sn_dilatation *d) {
    int32_t most = 0;
    for (int32_t p = 0; p < d->patch_count; p++) {
        int32_t room = (d->sample_offsets[p + 1] - d->sample_offsets[p]) * d->width;
        most = room > most ? room : most;
    }

    int32_t *list = SN_PUSH(scratch, int32_t, most + 1);
    d->node_offsets = SN_PUSH(arena, int32_t, d->patch_count + 1);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(arena));

    // Two passes: the first finds the sizes, the second fills the lists.
    for (int32_t p = 0; p < d->patch_count; p++) {
        d->node_offsets[p + 1] = d->node_offsets[p] + unite_nodes(samples, d, p, list);
    }

    int32_t total = d->node_offsets[d->patch_count];
    d->nodes = SN_PUSH(arena, int32_t, total);
    d->gradient = SN_PUSH(arena, double, 3 * (size_t)total);
    SN_TRY(sn_arena_status(arena));

    for (int32_t p = 0; p < d->patch_count; p++) {
        int32_t count = unite_nodes(samples, d, p, list);
        memcpy(d->nodes + d->node_offsets[p], list, (size_t)count * sizeof *list);
    }

    return SINEW_OK;
}

// Lists for each row the patches that contain it (the inverse of `nodes`).
static sinew_status list_rows(sn_arena *arena, sn_dilatation *d) {
    int32_t total = d->node_offsets[d->patch_count];
    d->row_offsets = SN_PUSH(arena, int32_t, d->rows + 2);
    d->row_patches = SN_PUSH(arena, int32_t, total);
    d->row_entries = SN_PUSH(arena, int32_t, total);
    SN_TRY(sn_arena_status(arena));

    int32_t *next = d->row_offsets + 1;
    for (int32_t k = 0; k < total; k++) {
        next[d->nodes[k] + 1]++;
    }
    sum_counts(next, d->rows);
    for (int32_t p = 0; p < d->patch_count; p++) {
        for (int32_t k = d->node_offsets[p]; k < d->node_offsets[p + 1]; k++) {
            int32_t at = next[d->nodes[k]]++;
            d->row_patches[at] = p;
            d->row_entries[at] = k;
        }
    }

    return SINEW_OK;
}

sinew_status sn_dilatation_create(sn_arena *arena, const sn_samples *samples, int32_t rule_samples,
                                  bool nodal, int32_t rows, sn_dilatation *d) {
    *d = (sn_dilatation){.width = samples->width, .rows = rows};
    size_t count = (size_t)samples->count;
    d->theta = SN_PUSH(arena, double, count);
    d->direction = SN_PUSH(arena, double, 9 * count);
    d->level = SN_PUSH(arena, double, count);
    d->slope = SN_PUSH(arena, double, count);
    SN_TRY(sn_arena_status(arena));

    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = number_patches(arena, &scratch, samples, rule_samples, nodal, d);
    if (status == SINEW_OK) {
        status = list_samples(arena, samples, d);
    }
    if (status == SINEW_OK) {
        status = list_nodes(arena, &scratch, samples, d);
    }
    sn_arena_destroy(&scratch);

    return status == SINEW_OK ? list_rows(arena, d) : status;
}

// --- how much is averaged

// Converts the tangent dP/dF to a 6x6 stiffness in orthonormal (Kelvin) strain components.
static void kelvin_stiffness(double C[36], const double H[81]) {
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};
    for (int a = 0; a < 6; a++) {
        for (int b = 0; b < 6; b++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) {
                int ia = pair[a][k & 1], ja = pair[a][1 - (k & 1)];
                int ib = pair[b][k >> 1], jb = pair[b][1 - (k >> 1)];
                sum += H[9 * (3 * ia + ja) + 3 * ib + jb];
            }
            // Each shear sums two halves with factor 1 / sqrt 2; each normal strain was counted
            // twice.
            C[6 * a + b] = sum * (a < 3 ? 0.5 : sqrt(0.5)) * (b < 3 ? 0.5 : sqrt(0.5));
        }
    }
}

static sn_dilatation_measure measure_of(const sinew_material_def *def) {
    switch (def->law) {
    case SINEW_MATERIAL_NEO_HOOKEAN: return SN_DILATATION_LOG;
    case SINEW_MATERIAL_STABLE_NEO_HOOKEAN: return SN_DILATATION_VOLUME;
    case SINEW_MATERIAL_MOONEY_RIVLIN:
    case SINEW_MATERIAL_ARRUDA_BOYCE: return SN_DILATATION_BOUNDED;
    default: break;
    }
    switch (def->strain) {
    case SINEW_STRAIN_GREEN: return SN_DILATATION_GREEN;
    case SINEW_STRAIN_COROTATIONAL: return SN_DILATATION_STRETCH;
    default: return SN_DILATATION_TRACE;
    }
}

// With the stiffness C and the unit tensor m, C - kappa m m' stays positive definite for kappa
// below 1 / (m' C^-1 m), which is the bulk modulus of an isotropic solid.
void sn_dilatation_set_material(sn_dilatation *d, const sn_material *material,
                                const sinew_material_def *def, const double *parameters) {
    const double remaining = 13.0 / 6; // bulk over shear modulus at a Poisson ratio of 0.3
    double H[81], C[36], values[6], vectors[36];

    d->stiffness = 0;
    d->measure = measure_of(def);
    if (def->law == SINEW_MATERIAL_CUSTOM) {
        return;
    }

    // The smallest eigenvalue of the stiffness at rest (values[5]) is twice the smallest shear
    // modulus.
    sn_material_tangent(H, material, parameters, sn_mat3_identity(), false);
    kelvin_stiffness(C, H);
    sn_eigen_symmetric(values, vectors, C, 6);

    // x = C^-1 m.
    double x[6] = {1, 1, 1, 0, 0, 0};
    if (!(values[5] > 0) || !sn_cholesky(C, 6)) {
        return;
    }
    sn_cholesky_solve(x, C, 6);

    // An additional term k/2 (J - 1)^2 is averaged together with the law's volume term only if both
    // have the same form.
    double bulk = 1 / (x[0] + x[1] + x[2]);
    if (d->measure < SN_DILATATION_BOUNDED) {
        bulk -= def->volume_stiffness;
    }
    d->stiffness = fmax(0, bulk - remaining * 0.5 * values[5]);
}

// --- evaluation

typedef struct dilatation_job {
    sn_dilatation *d;
    const sn_samples *samples;
    sn_samples_F_fn *compute_F;
    const double *q;
    sn_isa isa;
    const sn_bsr *pattern;
    double *matrix;
    bool projected;
} dilatation_job;

static sn_mat3 lane_matrix(const double *block, int32_t lane) {
    sn_mat3 out;
    for (int i = 0; i < 9; i++) {
        out.m[i / 3][i % 3] = block[i * SN_BLOCK + lane];
    }
    return out;
}

// theta at F, with its derivative in `direction`. R is the rotation of F; only stretches use it.
static double theta_of(const sn_dilatation *d, sn_mat3 F, sn_mat3 R, sn_mat3 *direction) {
    switch (d->measure) {
    case SN_DILATATION_TRACE: *direction = sn_mat3_identity(); return sn_mat3_trace(F) - 3;
    case SN_DILATATION_GREEN: *direction = F; return 0.5 * (sn_mat3_contract(F, F) - 3);
    case SN_DILATATION_STRETCH: *direction = R; return sn_mat3_contract(R, F) - 3;
    default: *direction = sn_mat3_cofactor(F); return sn_mat3_det(F) - 1;
    }
}

// theta and its derivative at each sample.
static void measure_samples(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const dilatation_job *job = data;
    sn_dilatation *d = job->d;
    double F[9 * SN_BLOCK] SN_ALIGNED;
    double R[9 * SN_BLOCK] SN_ALIGNED;
    memset(R, 0, sizeof R);

    for (int32_t block = begin; block < end; block++) {
        job->compute_F(F, job->samples, block, job->q);
        if (d->measure == SN_DILATATION_STRETCH) {
            SN_ISA_PICK(job->isa, sn_decompose_polar)(R, NULL, F);
        }
        for (int32_t lane = 0; lane < SN_BLOCK; lane++) {
            int32_t s = block * SN_BLOCK + lane;
            if (s >= job->samples->count) {
                break;
            }
            sn_mat3 direction;
            d->theta[s] = theta_of(d, lane_matrix(F, lane), lane_matrix(R, lane), &direction);
            memcpy(d->direction + 9 * (size_t)s, direction.m, 9 * sizeof(double));
        }
    }
}

// theta_p of each patch.
static void average_patches(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const dilatation_job *job = data;
    sn_dilatation *d = job->d;
    for (int32_t p = begin; p < end; p++) {
        double sum = 0;
        for (int32_t k = d->sample_offsets[p]; k < d->sample_offsets[p + 1]; k++) {
            sum += job->samples->volume[d->samples[k]] * d->theta[d->samples[k]];
        }
        d->mean[p] = sum / (d->per * d->volume[p]);
    }
}

// Mean of U and U' over the patches of each sample.
static void share_slopes(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const dilatation_job *job = data;
    sn_dilatation *d = job->d;
    for (int32_t s = begin; s < end; s++) {
        double level = 0, slope = 0;
        for (int32_t k = 0; k < d->per; k++) {
            double mean = d->mean[d->patches[s * d->per + k]];
            level += energy_of(d, mean);
            slope += slope_of(d, mean);
        }
        d->level[s] = level / d->per;
        d->slope[s] = slope / d->per;
    }
}

void sn_dilatation_update(sinew_context *context, sn_dilatation *d, const sn_samples *samples,
                          sn_samples_F_fn *compute_F, const double *q) {
    dilatation_job job = {
        .d = d, .samples = samples, .compute_F = compute_F, .q = q, .isa = context->isa};
    sn_parallel_for(context, samples->blocks, CHUNK, measure_samples, &job);
    sn_parallel_for(context, d->patch_count, CHUNK, average_patches, &job);
    sn_parallel_for(context, samples->count, 16 * CHUNK, share_slopes, &job);
}

static void add_entry(double *H, int32_t lane, int a, int b, double value) {
    H[sn_sym9(a, b) * SN_BLOCK + lane] += value;
}

// H += c dcof/dF:   dcof_ij / dF_kl = e_ikm e_jln F_mn
static void add_cofactor_tangent(double *H, int32_t lane, sn_mat3 F, double c) {
    for (int a = 0; a < 9; a++) {
        for (int b = a; b < 9; b++) {
            int i = a / 3, j = a % 3, k = b / 3, l = b % 3;
            if (i == k || j == l) {
                continue;
            }
            // e_ikm is 1 if k follows i cyclically and -1 if it precedes it; the product of two
            // such signs.
            double sign = ((i + 1) % 3 == k) == ((j + 1) % 3 == l) ? 1 : -1;
            add_entry(H, lane, a, b, sign * c * F.m[3 - i - k][3 - j - l]);
        }
    }
}

// H += c dR/dF:   dR_ij / dF_kl = ([r_i] G^-1 [r_k]')_jl with rows r of R, G = tr(S) I - S and
// S = R'F. G is singular where the rotation is not unique; its determinant is bounded as in
// material/corotational_simd.c.
static void add_rotation_tangent(double *H, int32_t lane, sn_mat3 F, sn_mat3 R, double c) {
    // G and, up to the factor 1 / det G, its inverse.
    sn_mat3 S = sn_mat3_mul(sn_mat3_transpose(R), F);
    double trace = sn_mat3_trace(S);
    sn_mat3 G, row[3], Y[3];
    for (int i = 0; i < 9; i++) {
        int j = i / 3, k = i % 3;
        G.m[j][k] = (j == k ? trace : 0) - 0.5 * (S.m[j][k] + S.m[k][j]);
    }

    sn_mat3 inverse = sn_mat3_cofactor(G); // G is symmetric, and so is this
    double scale = c / fmax(sn_mat3_det(G), 1e-9 * trace * trace * trace + 0x1p-500);
    for (int i = 0; i < 3; i++) {
        row[i] = sn_cross_matrix(sn_v3(R.m[i][0], R.m[i][1], R.m[i][2]));
        Y[i] = sn_mat3_mul(row[i], inverse);
    }

    for (int a = 0; a < 9; a++) {
        for (int b = a; b < 9; b++) {
            double sum = 0;
            for (int m = 0; m < 3; m++) {
                sum += Y[a / 3].m[a % 3][m] * row[b / 3].m[b % 3][m];
            }
            add_entry(H, lane, a, b, scale * sum);
        }
    }
}

// Adds c d2theta/dF2 - curvature D (x) D to one lane of H, where D = dtheta/dF is `direction`.
static void add_tangent(const sn_dilatation *d, double *H, int32_t lane, sn_mat3 F,
                        const double *direction, double c, double curvature) {
    for (int a = 0; a < 9; a++) {
        for (int b = a; b < 9; b++) {
            add_entry(H, lane, a, b, -curvature * direction[a] * direction[b]);
        }
    }

    sn_mat3 R;
    switch (d->measure) {
    case SN_DILATATION_TRACE: return;
    case SN_DILATATION_GREEN:
        for (int a = 0; a < 9; a++) {
            add_entry(H, lane, a, a, c);
        }
        return;
    case SN_DILATATION_STRETCH:
        memcpy(R.m, direction, sizeof R.m);
        add_rotation_tangent(H, lane, F, R, c);
        return;
    default: add_cofactor_tangent(H, lane, F, c);
    }
}

// Clamps the negative eigenvalues of one lane of H to zero.
static void clamp_lane(double *H, int32_t lane) {
    double A[81], tried[81];
    double trace = 0;
    for (int a = 0; a < 9; a++) {
        for (int b = 0; b < 9; b++) {
            A[9 * a + b] = H[sn_sym9(a, b) * SN_BLOCK + lane];
        }
        trace += fabs(A[10 * a]);
    }

    // If a Cholesky factorisation succeeds the matrix is definite; that is cheaper than
    // eigenvalues.
    memcpy(tried, A, sizeof tried);
    for (int a = 0; a < 9; a++) {
        tried[10 * a] += 1e-13 * trace;
    }
    if (sn_cholesky(tried, 9) || !sn_clamp_semidefinite(A, 9)) {
        return;
    }
    for (int a = 0; a < 9; a++) {
        for (int b = a; b < 9; b++) {
            H[sn_sym9(a, b) * SN_BLOCK + lane] = A[9 * a + b];
        }
    }
}

void sn_dilatation_add_block(const sn_dilatation *d, const sn_samples *samples, int32_t block,
                             const double *F, bool projected, double *psi, double *P, double *H) {
    for (int32_t lane = 0; lane < SN_BLOCK; lane++) {
        int32_t s = block * SN_BLOCK + lane;
        if (s >= samples->count) {
            return; // padding has no volume
        }

        // The law has the sample's own volume change; replace it by the element's.
        const double *direction = d->direction + 9 * (size_t)s;
        double c = d->slope[s] - slope_of(d, d->theta[s]);
        if (psi) {
            psi[lane] += d->level[s] - energy_of(d, d->theta[s]);
        }
        if (P) {
            for (int i = 0; i < 9; i++) {
                P[i * SN_BLOCK + lane] += c * direction[i];
            }
        }
        if (!H) {
            continue;
        }

        // The tangent, made positive definite on request.
        add_tangent(d, H, lane, lane_matrix(F, lane), direction, c, curvature_of(d, d->theta[s]));
        if (projected) {
            clamp_lane(H, lane);
        }
    }
}

// g_p: the gradient of V_p theta_p with respect to the nodes of each patch.
static void find_gradients(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const dilatation_job *job = data;
    sn_dilatation *d = job->d;
    for (int32_t p = begin; p < end; p++) {
        int32_t first = d->node_offsets[p];
        int32_t count = d->node_offsets[p + 1] - first;
        memset(d->gradient + 3 * (size_t)first, 0, 3 * (size_t)count * sizeof(double));

        for (int32_t k = d->sample_offsets[p]; k < d->sample_offsets[p + 1]; k++) {
            int32_t s = d->samples[k];
            sn_mat3 direction;
            memcpy(direction.m, d->direction + 9 * (size_t)s, sizeof direction.m);
            double share = job->samples->volume[s] / d->per;
            for (int32_t c = 0; c < d->width; c++) {
                int32_t at = find_node(d, p, control_of(job->samples, s, c));
                sn_vec3 g = sn_mat3_apply(direction, gradient_of(job->samples, s, c));
                sn_add_to3(d->gradient + 3 * (size_t)at, sn_scale(share, g));
            }
        }
    }
}

// Adds the rank-one terms of a node's patches to its block row (lower triangle only).
static void add_row(const dilatation_job *job, int32_t row) {
    const sn_dilatation *d = job->d;
    const sn_bsr *pattern = job->pattern;
    for (int32_t n = d->row_offsets[row]; n < d->row_offsets[row + 1]; n++) {
        int32_t p = d->row_patches[n];
        double curvature = curvature_of(d, d->mean[p]);

        // Dropping a patch with negative curvature keeps the projected matrix semi-definite.
        if (job->projected && curvature < 0) {
            continue;
        }

        const double *g = d->gradient + 3 * (size_t)d->row_entries[n];
        double s = curvature / d->volume[p];
        int32_t block = pattern->starts[row];

        // Nodes of the patch and columns of the pattern are both ascending: advance through them
        // together.
        for (int32_t k = d->node_offsets[p]; k <= d->row_entries[n]; k++) {
            while (pattern->columns[block] != d->nodes[k]) {
                block++;
            }
            SN_ASSERT(block < pattern->starts[row + 1]);
            double *A = job->matrix + 9 * (size_t)block;
            const double *h = d->gradient + 3 * (size_t)k;
            for (int i = 0; i < 9; i++) {
                A[i] += s * g[i / 3] * h[i % 3];
            }
        }
    }
}

static void add_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    for (int32_t row = begin; row < end; row++) {
        add_row(data, row);
    }
}

void sn_dilatation_add_matrix(sinew_context *context, sn_dilatation *d, const sn_samples *samples,
                              const sn_bsr *pattern, bool projected, double *matrix) {
    dilatation_job job = {
        .d = d, .samples = samples, .pattern = pattern, .matrix = matrix, .projected = projected};
    sn_parallel_for(context, d->patch_count, CHUNK, find_gradients, &job);
    sn_parallel_for(context, d->rows, CHUNK, add_rows, &job);
}

void sn_dilatation_add_stress(const sn_dilatation *d, int32_t sample, sn_mat3 F, double stress[6]) {
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};
    sn_mat3 R = sn_mat3_identity(), S, direction;
    if (d->measure == SN_DILATATION_STRETCH) {
        R = sn_polar3(&S, F);
    }

    // sigma = P F' / J; the small-strain law does not distinguish between sigma and P.
    double c = d->slope[sample] - slope_of(d, theta_of(d, F, R, &direction));
    sn_mat3 cauchy = direction;
    if (d->measure != SN_DILATATION_TRACE) {
        cauchy = sn_mat3_mul(direction, sn_mat3_transpose(F));
        c /= sn_mat3_det(F);
    }
    for (int k = 0; k < 6; k++) {
        stress[k] += c * cauchy.m[pair[k][0]][pair[k][1]];
    }
}
