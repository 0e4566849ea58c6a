// Cubature: a few points with positive volumes that give the nodes the same elastic energy as many
// (An, Kim and James 2008, with the matrix of energies of all pairs of states instead of forces).
//
//   1  stiffness K and mass M of the candidates at rest, for small strain
//   2  training states: random forces, each answered by (K + s M)^-1, most of them twice, so that
//      low motions prevail; made orthonormal in K. With 32 states eight frames on a T bent 5 % too
//      far, because motions that no state contains are softer at the points than they are
//   3  of part of the candidates volumes V_p >= 0 with sum_p V_p e_j : C : e_k = delta_jk for all
//   pairs of states, and the
//      volume of every label, by non-negative least squares (linalg/nnls.h)
//
// Isotropic constants stand in for any material: which points are needed depends on the motions,
// and much less on the law. Cost: the candidates times the square of the number of controls.
#include "frame/blend/blend.h"

#include "base/random.h"
#include "base/threads.h"
#include "linalg/dense.h"
#include "linalg/nnls.h"

#include <string.h>

enum {
    FEWEST_STATES = 32, // of training
    MOST_STATES = 64,
    STATES_OF_NODE = 8, // beyond two
    MOST_POINTS = 800,
    MOST_CANDIDATES = 2400, // of the points, for the selection; all serve to integrate
    CHUNK = 8,
    MOST_LABELS = 64
};

// Of the stiffness that holds redundant controls, in units of a bar's lowest mode.
static const double FIRMNESS = 10;

typedef struct cubature {
    const sn_shape *shape;
    const sn_nodes *nodes;
    const sn_frame_samples *candidates;
    int32_t controls, unknowns;
    double *lambda, *mu; // of each candidate
    double *K, *M;       // unknowns^2, controls^2; lower triangles
    const sn_redundancy *held;
    int32_t state_count;
    double *states; // [state_count][unknowns]
    double (*strain)[MOST_STATES][6];
    double *functions; // [point of a batch][controls][4]: value and gradient
    int32_t first;     // of the batch
} cubature;

enum { BATCH = 64 };

static const sinew_material_def *material_of(const sn_blend_materials *materials, int32_t label) {
    if (materials->labels) {
        for (int32_t i = 0; i < materials->count; i++) {
            if (materials->labels[i] == label) {
                return &materials->defs[i];
            }
        }
    }
    return materials->count > 0 ? &materials->defs[0] : NULL;
}

static void find_moduli(cubature *c, const sn_blend_materials *materials) {
    sinew_material_def standard = sinew_default_material_def();
    for (int32_t p = 0; p < c->candidates->count; p++) {
        const sinew_material_def *def = material_of(materials, c->candidates->label[p]);
        def = def ? def : &standard;
        double young = sinew_material_get_young(def) * c->candidates->stiffness[p];
        double poisson = def->poisson > 0 && def->poisson < 0.45 ? def->poisson : 0.45;
        c->mu[p] = young / (2 * (1 + poisson));
        c->lambda[p] = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    }
}

// Computes w m and its gradient for every control at the points of a batch.
static void list_functions(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    cubature *c = data;
    const sn_frame_samples *points = c->candidates;
    for (int32_t i = begin; i < end; i++) {
        int32_t p = c->first + i;
        double *functions = c->functions + (size_t)i * (size_t)c->controls * 4;
        sn_rest_point at = sn_rest_point_at(sn_load3(sn_at3(points->position, p)));
        memset(functions, 0, (size_t)c->controls * 4 * sizeof *functions);

        // grad (w m) = m grad w + w grad m
        for (int32_t k = points->start[p]; k < points->start[p + 1]; k++) {
            const sn_node *node = &c->nodes->items[points->node[k]];
            double m[SN_NODE_MAX_CONTROLS];
            sn_vec3 dm[SN_NODE_MAX_CONTROLS];
            sn_vec3 dw = sn_load3(sn_at3(points->gradient, k));

            sn_node_monomials(node, &at, m, dm);
            for (int32_t a = 0; a < node->control_count; a++) {
                double *f = functions + 4 * (size_t)(node->control + a);
                sn_vec3 g = sn_madd(sn_scale(m[a], dw), points->weight[k], dm[a]);
                f[0] = points->weight[k] * m[a];
                sn_store3(f + 1, g);
            }
        }
    }
}

// Adds the points of a batch to the rows of some controls.
static void add_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    cubature *c = data;
    int32_t left = c->candidates->count - c->first;
    int32_t count = left < BATCH ? left : BATCH;
    size_t n = (size_t)c->unknowns;

    for (int32_t a = begin; a < end; a++) {
        for (int32_t i = 0; i < count; i++) {
            int32_t p = c->first + i;
            const double *functions = c->functions + (size_t)i * (size_t)c->controls * 4;
            const double *f = functions + 4 * (size_t)a;

            // Mass and Lame constants of the point.
            double V = c->candidates->volume[p];
            double mass = c->candidates->mass[p];
            double l = V * c->lambda[p];
            double u = V * c->mu[p];

            // M_ab += m f g, and K_ab += lambda f' g'^T + mu (g' f'^T + (f'.g') I) with gradients
            // f' and g'.
            for (int32_t b = 0; b <= a; b++) {
                const double *g = functions + 4 * (size_t)b;
                double both = u * (f[1] * g[1] + f[2] * g[2] + f[3] * g[3]);
                c->M[(size_t)a * (size_t)c->controls + (size_t)b] += mass * f[0] * g[0];
                for (size_t r = 0; r < 3; r++) {
                    double *K = c->K + (3 * (size_t)a + r) * n + 3 * (size_t)b;
                    for (size_t s = 0; s < 3; s++) {
                        K[s] += l * f[1 + r] * g[1 + s] + u * f[1 + s] * g[1 + r];
                    }
                    K[r] += both;
                }
            }
        }
    }
}

// Calls `use` for every batch, with the functions of its points listed.
static void each_batch(cubature *c, int32_t items, sn_range_fn *use) {
    for (c->first = 0; c->first < c->candidates->count; c->first += BATCH) {
        int32_t left = c->candidates->count - c->first;
        int32_t count = left < BATCH ? left : BATCH;
        sn_parallel_for(c->shape->context, count, CHUNK, list_functions, c);
        sn_parallel_for(c->shape->context, items > 0 ? items : count, CHUNK, use, c);
    }
}

// y = M x for the three components of each control.
static void multiply_mass(const cubature *c, const double *x, double *y) {
    size_t n = (size_t)c->controls;
    memset(y, 0, 3 * n * sizeof *y);
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b <= a; b++) {
            double m = c->M[a * n + b];
            for (size_t k = 0; k < 3; k++) {
                y[3 * a + k] += m * x[3 * b + k];
                y[3 * b + k] += a != b ? m * x[3 * a + k] : 0;
            }
        }
    }
}

// The eigenvalue of a bar as long as the solid and as soft as its mean compliance.
static double find_shift(const cubature *c) {
    double stiffness = 0, mass = 0, length2 = 0;
    for (int32_t p = 0; p < c->candidates->count; p++) {
        stiffness += c->candidates->volume[p] / c->mu[p];
        mass += c->candidates->mass[p];
    }

    double volume = c->shape->voxels->volume * c->shape->voxels->count;
    for (int a = 0; a < 3; a++) {
        double length = c->shape->voxels->spacing[a] * c->shape->voxels->cells[a];
        length2 = fmax(length2, length * length);
    }
    return volume / stiffness * volume / mass / length2;
}

// Factors K + s M, with the stiffness that holds redundant controls.
static bool factor(cubature *c, double shift) {
    size_t n = (size_t)c->unknowns;
    for (size_t a = 0; a < (size_t)c->controls; a++) {
        for (size_t b = 0; b <= a; b++) {
            size_t ab = a * (size_t)c->controls + b;
            for (size_t k = 0; k < 3; k++) {
                c->K[(3 * a + k) * n + 3 * b + k] += shift * c->M[ab] + c->held->Q[ab];
            }
        }
    }

    return sn_dense_cholesky(c->K, c->unknowns, c->unknowns) < 0;
}

static sinew_status find_states(cubature *c, double shift, sn_arena *scratch) {
    double *y = SN_PUSH(scratch, double, c->unknowns);
    SN_TRY(sn_arena_status(scratch));
    if (!factor(c, shift)) {
        return sn_fail(c->shape->context, SINEW_INVALID_DATA,
                       "the frames have motions without stiffness or mass at %d points",
                       c->candidates->count);
    }

    // Random states, smoothed by K^-1 M: once for a broad spectrum, twice for low modes.
    sn_random random = sn_random_seed(11);
    for (int32_t j = 0; j < c->state_count; j++) {
        double *x = c->states + (size_t)j * (size_t)c->unknowns;
        for (int32_t a = 0; a < c->controls; a++) {
            double m = c->M[(size_t)a * (size_t)c->controls + (size_t)a];
            for (int k = 0; k < 3; k++) {
                x[3 * a + k] = sn_random_range(&random, -1, 1) / sqrt(fmax(m, 1e-300));
            }
        }

        for (int sweep = 0; sweep < (j < 3 * c->state_count / 4 ? 2 : 1); sweep++) {
            multiply_mass(c, x, y);
            sn_dense_cholesky_solve(c->K, c->unknowns, c->unknowns, y);
            memcpy(x, y, (size_t)c->unknowns * sizeof *x);
        }
    }

    return SINEW_OK;
}

static void find_strains(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    cubature *c = data;
    for (int32_t i = begin; i < end; i++) {
        const double *functions = c->functions + (size_t)i * (size_t)c->controls * 4;
        for (int32_t j = 0; j < c->state_count; j++) {
            const double *x = c->states + (size_t)j * (size_t)c->unknowns;
            double F[3][3] = {{0}};
            for (int32_t a = 0; a < c->controls; a++) {
                for (int r = 0; r < 3; r++) {
                    for (int s = 0; s < 3; s++) {
                        F[r][s] += x[3 * a + r] * functions[4 * a + 1 + s];
                    }
                }
            }

            double *e = c->strain[c->first + i][j];
            for (int k = 0; k < 3; k++) {
                int next = (k + 1) % 3;
                e[k] = F[k][k];
                e[3 + k] = 0.5 * (F[k][next] + F[next][k]);
            }
        }
    }
}

// The energy density of two states at a point, times two.
static double pair_energy(const cubature *c, int32_t p, const double *e, const double *d) {
    double shear = e[3] * d[3] + e[4] * d[4] + e[5] * d[5];
    return c->lambda[p] * (e[0] + e[1] + e[2]) * (d[0] + d[1] + d[2]) +
           2 * c->mu[p] * (e[0] * d[0] + e[1] * d[1] + e[2] * d[2] + 2 * shear);
}

// Makes the strains of the states orthonormal in the energy. Returns how many independent ones
// there are; they come first.
static int32_t orthonormalize(cubature *c) {
    int32_t n = c->state_count;
    double gram[MOST_STATES * MOST_STATES] = {0}, values[MOST_STATES], work[MOST_STATES];
    for (int32_t p = 0; p < c->candidates->count; p++) {
        for (int32_t j = 0; j < n; j++) {
            for (int32_t k = 0; k <= j; k++) {
                gram[j * n + k] +=
                    c->candidates->volume[p] * pair_energy(c, p, c->strain[p][j], c->strain[p][k]);
            }
        }
    }

    // States of energy 1 each, so that none is lost beside a stronger one.
    double scale[MOST_STATES];
    for (int32_t j = 0; j < n; j++) {
        double energy = gram[j * n + j];
        scale[j] = energy > 0 ? 1 / sqrt(energy) : 0;
    }
    for (int32_t j = 0; j < n; j++) {
        for (int32_t k = 0; k <= j; k++) {
            gram[j * n + k] *= scale[j] * scale[k];
        }
    }

    if (!sn_dense_symmetric_eigen(gram, n, n, values, work)) {
        return 0;
    }

    int32_t count = 0;
    while (count < n && values[n - 1 - count] > 1e-6 * values[n - 1]) {
        count++;
    }

    for (int32_t p = 0; p < c->candidates->count; p++) {
        double old[MOST_STATES][6];
        memcpy(old, c->strain[p], sizeof old);
        for (int32_t i = 0; i < count; i++) {
            const double *row = gram + (n - 1 - i) * n;
            double factor = 1 / sqrt(values[n - 1 - i]);
            double sum[6] = {0};
            for (int32_t j = 0; j < n; j++) {
                for (int k = 0; k < 6; k++) {
                    sum[k] += factor * row[j] * scale[j] * old[j][k];
                }
            }
            memcpy(c->strain[p][i], sum, sizeof sum);
        }
    }

    return count;
}

// Lists the labels of the candidates. Returns their number, at most MOST_LABELS.
static int32_t list_labels(const sn_frame_samples *points, int32_t labels[MOST_LABELS],
                           double volumes[MOST_LABELS]) {
    int32_t count = 0;
    for (int32_t p = 0; p < points->count; p++) {
        int32_t k = 0;
        while (k < count && labels[k] != points->label[p]) {
            k++;
        }
        if (k == MOST_LABELS) {
            continue;
        }
        if (k == count) {
            labels[count] = points->label[p];
            volumes[count++] = 0;
        }
        volumes[k] += points->volume[p];
    }
    return count;
}

// Every few points of a block, other ones in the next.
static bool may_be_chosen(int32_t p, int32_t stride) {
    enum { BLOCK = 8 };
    return (p + p / BLOCK) % stride == 0;
}

typedef struct label_volumes {
    int32_t count;
    int32_t labels[MOST_LABELS];
    double volumes[MOST_LABELS];
} label_volumes;

// Energies of all pairs of states at a point, and its part of the volume of each label.
static void fill_column(const cubature *c, int32_t states, const label_volumes *labels, int32_t p,
                        double *column) {
    const sn_frame_samples *points = c->candidates;
    int32_t row = 0;
    for (int32_t j = 0; j < states; j++) {
        for (int32_t k = 0; k <= j; k++, row++) {
            // Pairs of different states count twice in the energy of a sum.
            double both = j == k ? 1 : sqrt(2);
            column[row] =
                both * points->volume[p] * pair_energy(c, p, c->strain[p][j], c->strain[p][k]);
        }
    }
    for (int32_t k = 0; k < labels->count; k++, row++) {
        bool own = labels->labels[k] == points->label[p];
        column[row] = own ? points->volume[p] / labels->volumes[k] : 0;
    }
}

// Fits the volumes of some of the points to the energies of all.
static sinew_status fit_volumes(const cubature *c, int32_t states, sn_arena *scratch,
                                const sn_cubature_def *options, double *volume, double *error) {
    const sn_frame_samples *points = c->candidates;
    label_volumes labels;
    labels.count = list_labels(points, labels.labels, labels.volumes);
    int32_t rows = states * (states + 1) / 2 + labels.count;
    int32_t stride = (points->count + MOST_CANDIDATES - 1) / MOST_CANDIDATES;
    int32_t room = 0;
    for (int32_t p = 0; p < points->count; p++) {
        room += may_be_chosen(p, stride);
    }

    double *A = SN_PUSH(scratch, double, (size_t)rows *(size_t)room);
    double *b = SN_PUSH(scratch, double, rows);
    double *x = SN_PUSH(scratch, double, room);
    double *spare = SN_PUSH(scratch, double, rows);
    SN_TRY(sn_arena_status(scratch));

    int32_t columns = 0;
    for (int32_t p = 0; p < points->count; p++) {
        bool chosen = may_be_chosen(p, stride);
        double *column = chosen ? A + (size_t)columns * (size_t)rows : spare;
        fill_column(c, states, &labels, p, column);
        for (int32_t i = 0; i < rows; i++) {
            b[i] += column[i];
        }
        columns += chosen;
    }
    SN_ASSERT(columns == room);

    int32_t most = options->most > 0 && options->most < MOST_POINTS ? options->most : MOST_POINTS;
    sn_nnls_def def = {A, rows, columns, b, options->tolerance, most};
    SN_TRY(sn_nnls_solve(c->shape->context, &def, x, error));

    // Exactly the solid's volume.
    double sum = 0, total = 0;
    for (int32_t p = 0, column = 0; p < points->count; p++) {
        volume[p] = may_be_chosen(p, stride) ? x[column++] * points->volume[p] : 0;
        sum += volume[p];
        total += points->volume[p];
    }
    for (int32_t p = 0; p < points->count; p++) {
        volume[p] *= total / sum;
    }

    return SINEW_OK;
}

static sinew_status select_points(cubature *c, const sn_blend_materials *materials,
                                  sn_arena *scratch, const sn_cubature_def *def, sn_arena *arena,
                                  double *volume, sn_redundancy *redundancy, double *error) {
    size_t points = (size_t)c->candidates->count;
    size_t n = (size_t)c->unknowns;
    c->lambda = SN_PUSH(scratch, double, points);
    c->mu = SN_PUSH(scratch, double, points);
    c->K = SN_PUSH(scratch, double, n *n);
    c->M = SN_PUSH(scratch, double, (size_t)c->controls *(size_t)c->controls);
    c->state_count = STATES_OF_NODE * (c->nodes->count - 2);
    c->state_count = c->state_count < FEWEST_STATES ? FEWEST_STATES
                     : c->state_count > MOST_STATES ? MOST_STATES
                                                    : c->state_count;
    c->states = SN_PUSH(scratch, double, (size_t)c->state_count *n);
    c->strain = (double(*)[MOST_STATES][6])sn_arena_push(scratch, points, sizeof *c->strain);
    c->functions = SN_PUSH(scratch, double, BATCH * 4 * (size_t)c->controls);
    SN_TRY(sn_arena_status(scratch));

    // Stiffness and mass of the frames at all candidates.
    find_moduli(c, materials);
    each_batch(c, c->controls, add_rows);

    double shift = find_shift(c);
    SN_TRY(sn_redundancy_create(arena, c->nodes, c->M, FIRMNESS * shift, redundancy));
    c->held = redundancy;

    // Motions whose energies are to be integrated right.
    SN_TRY(find_states(c, shift, scratch));
    each_batch(c, 0, find_strains);

    int32_t states = orthonormalize(c);
    return fit_volumes(c, states, scratch, def, volume, error);
}

sinew_status sn_cubature_select(const sn_shape *shape, const sn_nodes *nodes,
                                const sn_blend_materials *materials,
                                const sn_frame_samples *candidates, const sn_cubature_def *def,
                                sn_arena *arena, double *volume, sn_redundancy *redundancy,
                                double *error) {
    cubature c = {.shape = shape,
                  .nodes = nodes,
                  .candidates = candidates,
                  .controls = nodes->control_count,
                  .unknowns = 3 * nodes->control_count};
    sn_arena scratch = sn_arena_create(shape->context);
    sinew_status status =
        select_points(&c, materials, &scratch, def, arena, volume, redundancy, error);

    sn_arena_destroy(&scratch);
    return status;
}
