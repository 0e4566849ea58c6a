// Integrals for the mass: moments of rho w_i (and of rho w_i w_j) over the voxels, as boxes with
// constant weights.
//
// The integral of (X - O)^alpha over a box is a product of three integrals along the axes, exact up
// to degree 4. Sums run chunk by chunk in index order. Moments about the nodes are first summed
// about a centre that some hundred nearby voxels share, so that a voxel is integrated once and not
// once for each of its nodes, and are then shifted to the nodes by the binomial theorem.
#include "frame/mass/moments.h"

#include "base/threads.h"

#include <string.h>

enum {
    CHUNK = 32768,
    MASS_DEGREE = 4,
    MASS_MONOMIALS = 35,
    MASS_TERMS = 210,
    BLOCK_VOXELS = 512,
    BLOCK_NODES = 64
};

// Computes the integrals of t^k over [a - h/2, a + h/2], k = 0 .. degree.
static void integrate_axis(double *integral, int32_t degree, double a, double h) {
    double a2 = a * a;
    double h2 = h * h;
    const double all[MASS_DEGREE + 1] = {h, h * a, h * (a2 + h2 / 12), h * a * (a2 + h2 / 4),
                                         h * (a2 * a2 + a2 * h2 / 2 + h2 * h2 / 80)};

    for (int32_t k = 0; k <= degree; k++) {
        integral[k] = all[k];
    }
}

static int32_t integrate_box(double *values, int32_t degree, sn_vec3 d, const double h[3]) {
    double x[MASS_DEGREE + 1], y[MASS_DEGREE + 1], z[MASS_DEGREE + 1];
    integrate_axis(x, degree, d.x, h[0]);
    integrate_axis(y, degree, d.y, h[1]);
    integrate_axis(z, degree, d.z, h[2]);

    int32_t count = 0;
    for (int32_t k = 0; k <= degree; k++) {
        for (int32_t a = k; a >= 0; a--) {
            for (int32_t b = k - a; b >= 0; b--) {
                values[count++] = x[a] * y[b] * z[k - a - b];
            }
        }
    }

    return count;
}

static int32_t count_monomials(int32_t degree) {
    return (degree + 1) * (degree + 2) * (degree + 3) / 6;
}

typedef struct mass_job {
    const sn_shape *shape;
    int32_t degree, monomials, rows;
    sn_vec3 center;                 // of pairs
    const struct mass_shift *shift; // of single nodes
    const int32_t *pair_index;      // node_count^2, or NULL for single nodes
    int32_t node_count;             // with the insertions
    const sn_insertion *const *insertions;
    int32_t insertion_count;
    double *partial; // for each chunk, `rows` times `monomials`
} mass_job;

// The density of a voxel, with its filled part: its mass divided by the volume of a cell.
static double voxel_density(const sn_shape *shape, int32_t v) {
    return sn_shape_density(shape, v) * sn_voxel_fill(shape->voxels, v);
}

static double row_sum(const sn_weight_table *table, int32_t v) {
    double sum = 0;
    for (int64_t k = table->start[v]; k < table->start[v + 1]; k++) {
        sum += table->weight[k];
    }
    return sum;
}

// The terms of (e + d)^alpha = sum over beta of (alpha over beta) e^beta d^(alpha - beta), by the
// indices of the monomials.
typedef struct shift_term {
    int16_t target, source, power;
    int16_t factor;
} shift_term;

typedef struct mass_shift {
    int32_t count;
    shift_term terms[MASS_TERMS];
} mass_shift;

static int32_t find_monomial(int8_t list[][3], int32_t count, const int8_t exponents[3]) {
    for (int32_t i = 0; i < count; i++) {
        if (memcmp(list[i], exponents, 3) == 0) {
            return i;
        }
    }
    return -1;
}

static void list_terms(int32_t degree, mass_shift *shift) {
    static const int16_t binomial[MASS_DEGREE + 1][MASS_DEGREE + 1] = {
        {1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}};
    int8_t list[SN_MAX_MONOMIALS][3];
    int32_t monomials = sn_monomials(degree, list);

    shift->count = 0;

    // (x + d)^t = sum over s <= t of binomial(t, s) x^s d^(t-s), in each of the three exponents.
    for (int32_t target = 0; target < monomials; target++) {
        for (int32_t source = 0; source <= target; source++) {
            int8_t rest[3];
            int factor = 1;
            for (int k = 0; k < 3; k++) {
                rest[k] = (int8_t)(list[target][k] - list[source][k]);
                factor *= rest[k] < 0 ? 0 : binomial[list[target][k]][list[source][k]];
            }

            if (factor == 0) {
                continue;
            }

            SN_ASSERT(shift->count < MASS_TERMS);
            shift->terms[shift->count++] =
                (shift_term){(int16_t)target, (int16_t)source,
                             (int16_t)find_monomial(list, monomials, rest), (int16_t)factor};
        }
    }
}

// Moments of neighbouring voxels about a shared centre, by node.
typedef struct mass_block {
    sn_vec3 center;
    int32_t voxels, count;
    uint16_t node[BLOCK_NODES];
    double sums[BLOCK_NODES][MASS_MONOMIALS];
} mass_block;

// Adds the block to the nodes' moments about themselves, and empties it.
static void flush_block(const mass_job *job, mass_block *block, double *sums) {
    double powers[MASS_MONOMIALS];
    for (int32_t i = 0; i < block->count; i++) {
        sn_vec3 origin = sn_load3(sn_at3(job->shape->node_position, block->node[i]));
        double *row = sums + (size_t)block->node[i] * (size_t)job->monomials;
        sn_compute_monomials(powers, job->degree, sn_sub(block->center, origin));

        for (int32_t t = 0; t < job->shift->count; t++) {
            const shift_term *term = &job->shift->terms[t];
            row[term->target] += term->factor * powers[term->power] * block->sums[i][term->source];
        }
    }

    block->voxels = block->count = 0;
}

// Returns the index of a node in the block: mostly the one after the previous node's.
static int32_t place_in_block(mass_block *block, int32_t guess, uint16_t node, int32_t monomials) {
    if (guess < block->count && block->node[guess] == node) {
        return guess;
    }

    int32_t place = 0;
    while (place < block->count && block->node[place] != node) {
        place++;
    }

    if (place < block->count) {
        return place;
    }

    SN_ASSERT(block->count < BLOCK_NODES);
    block->node[block->count++] = node;
    memset(block->sums[place], 0, (size_t)monomials * sizeof block->sums[place][0]);

    return place;
}

static void add_voxel_nodes(const mass_job *job, int32_t v, mass_block *block, double *sums) {
    const sn_shape *shape = job->shape;
    const sn_weight_table *table = &shape->table;
    int64_t begin = table->start[v];
    int64_t end = table->start[v + 1];
    sn_vec3 p = sn_voxel_center(shape->voxels, v);

    // Nearby voxels share one centre, so that few shifts are needed; a full block is added first.
    if (block->voxels == BLOCK_VOXELS || end - begin > BLOCK_NODES - block->count) {
        flush_block(job, block, sums);
    }
    if (block->voxels++ == 0) {
        block->center = p;
    }

    // Moments of the voxel about the centre, times density and normalized weights.
    double values[MASS_MONOMIALS];
    double factor = voxel_density(shape, v) / row_sum(table, v);

    integrate_box(values, job->degree, sn_sub(p, block->center), shape->voxels->spacing);
    for (int64_t k = begin, place = -1; k < end; k++) {
        place = place_in_block(block, (int32_t)place + 1, table->node[k], job->monomials);
        double *row = block->sums[place];
        double share = factor * table->weight[k];
        for (int32_t m = 0; m < job->monomials; m++) {
            row[m] += share * values[m];
        }
    }
}

// The weights of a voxel with all insertions; they sum to 1.
typedef struct voxel_row {
    int32_t count;
    int32_t node[2 * SN_POINT_NODES]; // room for what a change adds and takes away
    double weight[2 * SN_POINT_NODES];
} voxel_row;

static void read_row(const mass_job *job, int32_t v, voxel_row *row) {
    const sn_weight_table *table = &job->shape->table;
    double sum = row_sum(table, v);

    row->count = 0;
    for (int64_t k = table->start[v]; k < table->start[v + 1]; k++, row->count++) {
        row->node[row->count] = table->node[k];
        row->weight[row->count] = table->weight[k] / sum;
    }

    for (int32_t i = 0; i < job->insertion_count && row->count < SN_POINT_NODES; i++) {
        double weight = sn_insertion_at_voxel(job->insertions[i], v);
        if (weight == 0) {
            continue;
        }

        for (int32_t k = 0; k < row->count; k++) {
            row->weight[k] *= 1 - weight;
        }

        row->node[row->count] = job->shape->node_count + i;
        row->weight[row->count++] = weight;
    }
}

static void add_voxel_pairs(const mass_job *job, int32_t v, double *sums) {
    const sn_shape *shape = job->shape;
    double values[MASS_MONOMIALS];
    double density = voxel_density(shape, v);
    voxel_row list;

    read_row(job, v, &list);
    integrate_box(values, job->degree, sn_sub(sn_voxel_center(shape->voxels, v), job->center),
                  shape->voxels->spacing);

    for (int32_t k = 0; k < list.count; k++) {
        for (int32_t l = k; l < list.count; l++) {
            int32_t pair = job->pair_index[(size_t)list.node[k] * (size_t)job->node_count +
                                           (size_t)list.node[l]];
            double *row = sums + (size_t)pair * (size_t)job->monomials;
            double product = density * list.weight[k] * list.weight[l];

            for (int32_t m = 0; m < job->monomials; m++) {
                row[m] += product * values[m];
            }
        }
    }
}

static double *chunk_sums(const mass_job *job, int32_t chunk) {
    return job->partial + (size_t)chunk * (size_t)job->rows * (size_t)job->monomials;
}

static void add_nodes(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const mass_job *job = data;
    mass_block block;
    block.voxels = block.count = 0;

    for (int32_t v = begin; v < end; v++) {
        add_voxel_nodes(job, v, &block, chunk_sums(job, chunk));
    }

    flush_block(job, &block, chunk_sums(job, chunk));
}

static void add_pairs(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const mass_job *job = data;
    for (int32_t v = begin; v < end; v++) {
        add_voxel_pairs(job, v, chunk_sums(job, chunk));
    }
}

static sinew_status integrate(mass_job *job, sn_range_fn *add, double *moments) {
    sinew_context *context = job->shape->context;
    int32_t chunks = sn_chunk_count(job->shape->voxels->count, CHUNK);
    size_t width = (size_t)job->rows * (size_t)job->monomials;

    job->partial = sn_allocate(context, width * (size_t)chunks, sizeof *job->partial);
    if (!job->partial) {
        return SINEW_OUT_OF_MEMORY;
    }

    sn_parallel_for(context, job->shape->voxels->count, CHUNK, add, job);
    memset(moments, 0, width * sizeof *moments);
    for (int32_t chunk = 0; chunk < chunks; chunk++) {
        for (size_t k = 0; k < width; k++) {
            moments[k] += job->partial[(size_t)chunk * width + k];
        }
    }

    sn_release(context, job->partial, width * (size_t)chunks, sizeof *job->partial);
    return SINEW_OK;
}

static sinew_status check_degree(sinew_context *context, int32_t degree) {
    if (degree >= 0 && degree <= MASS_DEGREE) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "mass moments of degree %d; valid are 0 to %d",
                   degree, MASS_DEGREE);
}

sinew_status sn_compute_mass_moments(const sn_shape *shape, int32_t degree, double *moments) {
    SN_TRY(check_degree(shape->context, degree));
    mass_shift shift;
    list_terms(degree, &shift);
    mass_job job = {.shape = shape,
                    .degree = degree,
                    .monomials = count_monomials(degree),
                    .rows = shape->node_count,
                    .shift = &shift};

    return integrate(&job, add_nodes, moments);
}

// Marks the pairs i <= j of nodes that share a voxel.
static void mark_pairs(const mass_job *job, int32_t voxel, int32_t *index) {
    voxel_row row;
    read_row(job, voxel, &row);
    for (int32_t k = 0; k < row.count; k++) {
        for (int32_t l = k; l < row.count; l++) {
            index[(size_t)row.node[k] * (size_t)job->node_count + (size_t)row.node[l]] = 1;
        }
    }
}

// Numbers the marked pairs, ascending; others get -1.
static int32_t number_marked(size_t nodes, int32_t *index) {
    int32_t count = 0;
    for (size_t k = 0; k < nodes * nodes; k++) {
        index[k] = index[k] ? count++ : -1;
    }

    return count;
}

static int32_t number_pairs(const mass_job *job, int32_t *index) {
    for (int32_t v = 0; v < job->shape->voxels->count; v++) {
        mark_pairs(job, v, index);
    }

    return number_marked((size_t)job->node_count, index);
}

static sn_vec3 center_of_mass(const sn_shape *shape) {
    sn_vec3 sum = sn_v3(0, 0, 0);
    double mass = 0;
    for (int32_t v = 0; v < shape->voxels->count; v++) {
        double density = voxel_density(shape, v);
        sum = sn_madd(sum, density, sn_voxel_center(shape->voxels, v));
        mass += density;
    }

    return sn_scale(1 / mass, sum);
}

// Lists the pairs from an index over all of them.
static sinew_status push_pairs(sn_arena *arena, const int32_t *index, size_t nodes, int32_t degree,
                               sn_mass_pairs *pairs) {
    int32_t *pair = SN_PUSH(arena, int32_t, 2 * (size_t)pairs->count);
    pairs->moments = SN_PUSH(arena, double, (size_t)pairs->count *(size_t)count_monomials(degree));
    SN_TRY(sn_arena_status(arena));
    pairs->pair = (int32_t(*)[2])pair;

    for (size_t k = 0; k < nodes * nodes; k++) {
        if (index[k] < 0) {
            continue;
        }
        pairs->pair[index[k]][0] = (int32_t)(k / nodes);
        pairs->pair[index[k]][1] = (int32_t)(k % nodes);
    }

    return SINEW_OK;
}

sinew_status sn_compute_mass_pairs(const sn_shape *shape, const sn_insertion *const *insertions,
                                   int32_t count, sn_arena *arena, int32_t degree,
                                   sn_mass_pairs *pairs) {
    SN_TRY(check_degree(shape->context, degree));
    size_t nodes = (size_t)shape->node_count + (size_t)count;
    int32_t *index = sn_allocate(shape->context, nodes * nodes, sizeof *index);
    if (!index) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Number the pairs of nodes that share a voxel, then integrate over the voxels.
    mass_job job = {.shape = shape,
                    .degree = degree,
                    .monomials = count_monomials(degree),
                    .node_count = (int32_t)nodes,
                    .insertions = insertions,
                    .insertion_count = count};

    job.rows = number_pairs(&job, index);
    job.center = center_of_mass(shape);
    job.pair_index = index;
    *pairs = (sn_mass_pairs){.center = job.center, .count = job.rows};

    sinew_status status = push_pairs(arena, index, nodes, degree, pairs);
    if (status == SINEW_OK) {
        status = integrate(&job, add_pairs, pairs->moments);
    }

    sn_release(shape->context, index, nodes * nodes, sizeof *index);
    return status;
}

// Adds the moments of one voxel about a point, times a factor.
static void add_box(const sn_shape *shape, int32_t v, sn_vec3 about, int32_t degree, double factor,
                    double *sums) {
    double values[MASS_MONOMIALS];
    int32_t count = integrate_box(values, degree, sn_sub(sn_voxel_center(shape->voxels, v), about),
                                  shape->voxels->spacing);
    for (int32_t m = 0; m < count; m++) {
        sums[m] += factor * values[m];
    }
}

// From the last insertion to the first: each keeps the share that later ones leave to it, and the
// base nodes keep the share that all insertions leave.
static void add_insertions(const sn_shape *shape, const sn_insertion *const *insertions,
                           int32_t count, int32_t degree, double *left, double *moments) {
    const sn_weight_table *table = &shape->table;
    size_t monomials = (size_t)((degree + 1) * (degree + 2) * (degree + 3) / 6);

    // Inserted nodes.
    for (int32_t i = count - 1; i >= 0; i--) {
        const sn_insertion *insertion = insertions[i];
        double *row = moments + ((size_t)shape->node_count + (size_t)i) * monomials;
        for (int32_t k = 0; k < insertion->voxel_count; k++) {
            int32_t v = insertion->voxel[k];
            double density = voxel_density(shape, v);
            add_box(shape, v, insertion->position, degree,
                    density * left[v] * insertion->voxel_weight[k], row);
            left[v] *= 1 - insertion->voxel_weight[k];
        }
    }

    // Base nodes lose what the insertions have taken.
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < insertions[i]->voxel_count; k++) {
            int32_t v = insertions[i]->voxel[k];
            if (left[v] == 1) {
                continue; // done
            }

            double factor = voxel_density(shape, v) * (left[v] - 1) / row_sum(table, v);

            left[v] = 1;
            for (int64_t e = table->start[v]; e < table->start[v + 1]; e++) {
                size_t node = table->node[e];
                sn_vec3 about = sn_load3(shape->node_position + 3 * node);
                add_box(shape, v, about, degree, factor * table->weight[e],
                        moments + node * monomials);
            }
        }
    }
}

sinew_status sn_insertions_compute_mass(const sn_shape *shape,
                                        const sn_insertion *const *insertions, int32_t count,
                                        int32_t degree, const double *base, double *moments) {
    SN_TRY(check_degree(shape->context, degree));
    size_t monomials = (size_t)((degree + 1) * (degree + 2) * (degree + 3) / 6);
    size_t nodes = (size_t)shape->node_count;

    memcpy(moments, base, nodes * monomials * sizeof *moments);
    if (count == 0) {
        return SINEW_OK;
    }

    // The share of each voxel that is still to be distributed.
    double *left = sn_allocate(shape->context, (size_t)shape->voxels->count, sizeof *left);
    if (!left) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int32_t v = 0; v < shape->voxels->count; v++) {
        left[v] = 1;
    }

    memset(moments + nodes * monomials, 0, (size_t)count * monomials * sizeof *moments);
    add_insertions(shape, insertions, count, degree, left, moments);
    sn_release(shape->context, left, (size_t)shape->voxels->count, sizeof *left);

    return SINEW_OK;
}

static mass_job list_job(const sn_shape *shape, const sn_insertion *const *insertions,
                         int32_t count, int32_t degree) {
    return (mass_job){.shape = shape,
                      .degree = degree,
                      .monomials = count_monomials(degree),
                      .node_count = shape->node_count + count,
                      .insertions = insertions,
                      .insertion_count = count};
}

static sn_vec3 rest_of_node(const mass_job *job, int32_t node) {
    int32_t own = node - job->shape->node_count;
    return own < 0 ? sn_load3(sn_at3(job->shape->node_position, node))
                   : job->insertions[own]->position;
}

// Finds what a change adds to the weights of a voxel, by the numbers after it.
static void subtract_rows(const mass_job *after, const mass_job *before,
                          const sn_insertion_change *change, int32_t v, voxel_row *row) {
    voxel_row past;
    read_row(after, v, row);
    read_row(before, v, &past);

    for (int32_t e = 0; e < past.count; e++) {
        if (past.node[e] == change->gone) {
            continue;
        }

        int32_t node = sn_insertion_renumber(change, past.node[e]);
        int32_t place = 0;
        while (place < row->count && row->node[place] != node) {
            place++;
        }

        if (place == row->count) {
            row->node[row->count] = node;
            row->weight[row->count++] = 0;
        }

        row->weight[place] -= past.weight[e];
    }
}

void sn_insertions_change_mass(const sn_shape *shape, const sn_insertion_change *change,
                               int32_t degree, const double *old, double *moments) {
    const mass_job before = list_job(shape, change->before, change->before_count, degree);
    const mass_job after = list_job(shape, change->after, change->after_count, degree);
    size_t monomials = (size_t)before.monomials;

    memset(moments, 0, (size_t)after.node_count * monomials * sizeof *moments);

    // Nodes that stay start from their old moments.
    for (int32_t i = 0; i < before.node_count; i++) {
        if (i == change->gone) {
            continue;
        }
        memcpy(moments + (size_t)sn_insertion_renumber(change, i) * monomials,
               old + (size_t)i * monomials, monomials * sizeof *moments);
    }

    // In the range of the change, add the difference of the rows of weights.
    for (int32_t k = 0; k < change->changed->voxel_count; k++) {
        int32_t v = change->changed->voxel[k];
        double density = voxel_density(shape, v);
        voxel_row row;
        subtract_rows(&after, &before, change, v, &row);

        for (int32_t e = 0; e < row.count; e++) {
            double *sums = moments + (size_t)row.node[e] * monomials;
            add_box(shape, v, rest_of_node(&after, row.node[e]), degree, density * row.weight[e],
                    sums);
        }
    }
}

// Numbers the pairs after a change: those that stay, and those of the voxels in range.
static int32_t number_changed_pairs(const mass_job *after, const sn_insertion_change *change,
                                    const sn_mass_pairs *old, int32_t *index) {
    size_t nodes = (size_t)after->node_count;

    // Mark the pairs that stay.
    for (int32_t k = 0; k < old->count; k++) {
        if (old->pair[k][0] == change->gone || old->pair[k][1] == change->gone) {
            continue;
        }
        index[(size_t)sn_insertion_renumber(change, old->pair[k][0]) * nodes +
              (size_t)sn_insertion_renumber(change, old->pair[k][1])] = 1;
    }

    // Mark the pairs that occur in the range of the change.
    for (int32_t i = 0; i < change->changed->voxel_count; i++) {
        mark_pairs(after, change->changed->voxel[i], index);
    }

    return number_marked(nodes, index);
}

// Adds the pairs of a row of `job` at a voxel, times a sign; the node `gone` no longer has pairs.
static void add_signed_pairs(const mass_job *job, const sn_insertion_change *change, int32_t v,
                             double sign, sn_vec3 center, const int32_t *index, size_t nodes,
                             double *moments) {
    const sn_shape *shape = job->shape;
    bool before = sign < 0;
    voxel_row row;

    read_row(job, v, &row);
    for (int32_t k = 0; k < row.count; k++) {
        for (int32_t l = k; l < row.count; l++) {
            int32_t i = row.node[k];
            int32_t j = row.node[l];

            // Old numbers are translated; pairs of a node that left are not stored any more.
            if (before && (i == change->gone || j == change->gone)) {
                continue;
            }

            if (before) {
                i = sn_insertion_renumber(change, i);
                j = sn_insertion_renumber(change, j);
            }

            double factor = sign * voxel_density(shape, v) * row.weight[k] * row.weight[l];
            double *sums =
                moments + (size_t)index[(size_t)i * nodes + (size_t)j] * (size_t)job->monomials;

            add_box(shape, v, center, job->degree, factor, sums);
        }
    }
}

sinew_status sn_change_mass_pairs(const sn_shape *shape, const sn_insertion_change *change,
                                  sn_arena *arena, int32_t degree, const sn_mass_pairs *old,
                                  sn_mass_pairs *pairs) {
    const mass_job before = list_job(shape, change->before, change->before_count, degree);
    const mass_job after = list_job(shape, change->after, change->after_count, degree);
    size_t nodes = (size_t)after.node_count;
    size_t monomials = (size_t)after.monomials;
    int32_t *index = sn_allocate(shape->context, nodes * nodes, sizeof *index);

    if (!index) {
        return SINEW_OUT_OF_MEMORY;
    }

    *pairs = (sn_mass_pairs){.center = old->center,
                             .count = number_changed_pairs(&after, change, old, index)};

    sinew_status status = push_pairs(arena, index, nodes, degree, pairs);
    if (status != SINEW_OK) {
        sn_release(shape->context, index, nodes * nodes, sizeof *index);
        return status;
    }

    // Pairs that stay keep their moments.
    for (int32_t k = 0; k < old->count; k++) {
        if (old->pair[k][0] == change->gone || old->pair[k][1] == change->gone) {
            continue;
        }

        size_t i = (size_t)sn_insertion_renumber(change, old->pair[k][0]);
        size_t j = (size_t)sn_insertion_renumber(change, old->pair[k][1]);
        memcpy(pairs->moments + (size_t)index[i * nodes + j] * monomials,
               old->moments + (size_t)k * monomials, monomials * sizeof(double));
    }

    // In range of the change, subtract the old moments and add the new ones.
    for (int32_t k = 0; k < change->changed->voxel_count; k++) {
        int32_t v = change->changed->voxel[k];
        add_signed_pairs(&before, change, v, -1, old->center, index, nodes, pairs->moments);
        add_signed_pairs(&after, change, v, 1, old->center, index, nodes, pairs->moments);
    }

    sn_release(shape->context, index, nodes * nodes, sizeof *index);
    return status;
}
