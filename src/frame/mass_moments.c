// Integrals for the mass: moments of rho w_i (and of rho w_i w_j) over the voxels as boxes with constant weights.
//
// The integral of (X - O)^alpha over a box is a product of three integrals along the axes, exact up to degree 4. Sums run
// chunk by chunk in index order.
#include "frame/insertion.h"

#include "base/threads.h"

#include <string.h>

enum { CHUNK = 32768, MASS_DEGREE = 4, MASS_MONOMIALS = 35 };

// Integrals of t^k over [a - h/2, a + h/2], k = 0 .. degree.
static void integrate_axis(double *integral, int32_t degree, double a, double h) {
    double a2 = a * a, h2 = h * h;
    const double all[MASS_DEGREE + 1] = {h, h * a, h * (a2 + h2 / 12), h * a * (a2 + h2 / 4),
                                         h * (a2 * a2 + a2 * h2 / 2 + h2 * h2 / 80)};
    for (int32_t k = 0; k <= degree; k++) integral[k] = all[k];
}

static int32_t integrate_box(double *values, int32_t degree, sn_vec3 d, const double h[3]) {
    double x[MASS_DEGREE + 1], y[MASS_DEGREE + 1], z[MASS_DEGREE + 1];
    integrate_axis(x, degree, d.x, h[0]);
    integrate_axis(y, degree, d.y, h[1]);
    integrate_axis(z, degree, d.z, h[2]);
    int32_t count = 0;
    for (int32_t k = 0; k <= degree; k++) {
        for (int32_t a = k; a >= 0; a--) {
            for (int32_t b = k - a; b >= 0; b--) values[count++] = x[a] * y[b] * z[k - a - b];
        }
    }
    return count;
}

typedef struct mass_job {
    const sn_shape *shape;
    int32_t degree, monomials, rows;
    sn_vec3 center;            // of pairs
    const int32_t *pair_index; // node_count^2, or NULL for single nodes
    int32_t node_count;        // with the insertions
    const sn_insertion *const *insertions;
    int32_t insertion_count;
    double *partial; // for each chunk, `rows` times `monomials`
} mass_job;

static double row_sum(const sn_weight_table *table, int32_t v) {
    double sum = 0;
    for (int64_t k = table->start[v]; k < table->start[v + 1]; k++) sum += table->weight[k];
    return sum;
}

static void add_voxel_nodes(const mass_job *job, int32_t v, double *sums) {
    const sn_shape *shape = job->shape;
    const sn_weight_table *table = &shape->table;
    double values[MASS_MONOMIALS], factor = shape->density[shape->voxels->label[v]] / row_sum(table, v);
    sn_vec3 p = sn_voxel_center(shape->voxels, v);
    for (int64_t k = table->start[v]; k < table->start[v + 1]; k++) {
        int32_t i = table->node[k];
        integrate_box(values, job->degree, sn_sub(p, sn_load3(shape->node_position + 3 * (size_t)i)), shape->voxels->spacing);
        double *row = sums + (size_t)i * (size_t)job->monomials;
        for (int32_t m = 0; m < job->monomials; m++) row[m] += factor * table->weight[k] * values[m];
    }
}

// The weights of a voxel with all insertions, summing to 1.
typedef struct voxel_row {
    int32_t count;
    int32_t node[SN_POINT_NODES];
    double weight[SN_POINT_NODES];
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
        if (weight == 0) continue;
        for (int32_t k = 0; k < row->count; k++) row->weight[k] *= 1 - weight;
        row->node[row->count] = job->shape->node_count + i;
        row->weight[row->count++] = weight;
    }
}

static void add_voxel_pairs(const mass_job *job, int32_t v, double *sums) {
    const sn_shape *shape = job->shape;
    double values[MASS_MONOMIALS], density = shape->density[shape->voxels->label[v]];
    voxel_row list;
    read_row(job, v, &list);
    integrate_box(values, job->degree, sn_sub(sn_voxel_center(shape->voxels, v), job->center), shape->voxels->spacing);
    for (int32_t k = 0; k < list.count; k++) {
        for (int32_t l = k; l < list.count; l++) {
            int32_t pair = job->pair_index[(size_t)list.node[k] * (size_t)job->node_count + (size_t)list.node[l]];
            double *row = sums + (size_t)pair * (size_t)job->monomials;
            double product = density * list.weight[k] * list.weight[l];
            for (int32_t m = 0; m < job->monomials; m++) row[m] += product * values[m];
        }
    }
}

static void add_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    mass_job *job = data;
    double *sums = job->partial + (size_t)chunk * (size_t)job->rows * (size_t)job->monomials;
    for (int32_t v = begin; v < end; v++) {
        if (job->pair_index)
            add_voxel_pairs(job, v, sums);
        else
            add_voxel_nodes(job, v, sums);
    }
}

static sinew_status integrate(mass_job *job, double *moments) {
    sinew_context *context = job->shape->context;
    int32_t chunks = sn_chunk_count(job->shape->voxels->count, CHUNK);
    size_t width = (size_t)job->rows * (size_t)job->monomials;
    job->partial = sn_allocate(context, width * (size_t)chunks, sizeof *job->partial);
    if (!job->partial) return SINEW_OUT_OF_MEMORY;
    sn_parallel_for(context, job->shape->voxels->count, CHUNK, add_range, job);
    memset(moments, 0, width * sizeof *moments);
    for (int32_t chunk = 0; chunk < chunks; chunk++) {
        for (size_t k = 0; k < width; k++) moments[k] += job->partial[(size_t)chunk * width + k];
    }
    sn_release(context, job->partial, width * (size_t)chunks, sizeof *job->partial);
    return SINEW_OK;
}

static sinew_status check_degree(sinew_context *context, int32_t degree) {
    if (degree >= 0 && degree <= MASS_DEGREE) return SINEW_OK;
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "mass moments of degree %d; valid are 0 to %d", degree, MASS_DEGREE);
}

sinew_status sn_compute_mass_moments(const sn_shape *shape, int32_t degree, double *moments) {
    SN_TRY(check_degree(shape->context, degree));
    mass_job job = {.shape = shape,
                    .degree = degree,
                    .monomials = (degree + 1) * (degree + 2) * (degree + 3) / 6,
                    .rows = shape->node_count};
    return integrate(&job, moments);
}

// Numbers the pairs that share a voxel, i <= j, ascending.
static int32_t number_pairs(const mass_job *job, int32_t *index) {
    size_t nodes = (size_t)job->node_count;
    voxel_row row;
    for (int32_t v = 0; v < job->shape->voxels->count; v++) {
        read_row(job, v, &row);
        for (int32_t k = 0; k < row.count; k++) {
            for (int32_t l = k; l < row.count; l++) index[(size_t)row.node[k] * nodes + (size_t)row.node[l]] = 1;
        }
    }
    int32_t count = 0;
    for (size_t k = 0; k < nodes * nodes; k++) index[k] = index[k] ? count++ : -1;
    return count;
}

static sn_vec3 center_of_mass(const sn_shape *shape) {
    sn_vec3 sum = sn_v3(0, 0, 0);
    double mass = 0;
    for (int32_t v = 0; v < shape->voxels->count; v++) {
        double density = shape->density[shape->voxels->label[v]];
        sum = sn_madd(sum, density, sn_voxel_center(shape->voxels, v));
        mass += density;
    }
    return sn_scale(1 / mass, sum);
}

sinew_status sn_compute_mass_pairs(const sn_shape *shape, const sn_insertion *const *insertions, int32_t count,
                                   sn_arena *arena, int32_t degree, sn_mass_pairs *pairs) {
    SN_TRY(check_degree(shape->context, degree));
    size_t nodes = (size_t)shape->node_count + (size_t)count;
    int32_t *index = sn_allocate(shape->context, nodes * nodes, sizeof *index);
    if (!index) return SINEW_OUT_OF_MEMORY;
    mass_job job = {.shape = shape,
                    .degree = degree,
                    .monomials = (degree + 1) * (degree + 2) * (degree + 3) / 6,
                    .node_count = (int32_t)nodes,
                    .insertions = insertions,
                    .insertion_count = count};
    job.rows = number_pairs(&job, index);
    job.center = center_of_mass(shape);
    job.pair_index = index;
    *pairs = (sn_mass_pairs){.center = job.center, .count = job.rows};
    int32_t *pair = SN_PUSH(arena, int32_t, 2 * (size_t)job.rows);
    pairs->moments = SN_PUSH(arena, double, (size_t)job.rows *(size_t)job.monomials);
    sinew_status status = sn_arena_status(arena);
    if (status == SINEW_OK) {
        pairs->pair = (int32_t(*)[2])pair;
        for (size_t k = 0; k < nodes * nodes; k++) {
            if (index[k] < 0) continue;
            pairs->pair[index[k]][0] = (int32_t)(k / nodes);
            pairs->pair[index[k]][1] = (int32_t)(k % nodes);
        }
        status = integrate(&job, pairs->moments);
    }
    sn_release(shape->context, index, nodes * nodes, sizeof *index);
    return status;
}

// Adds the moments of one voxel about a point, times a factor.
static void add_box(const sn_shape *shape, int32_t v, sn_vec3 about, int32_t degree, double factor, double *sums) {
    double values[MASS_MONOMIALS];
    int32_t count = integrate_box(values, degree, sn_sub(sn_voxel_center(shape->voxels, v), about), shape->voxels->spacing);
    for (int32_t m = 0; m < count; m++) sums[m] += factor * values[m];
}

// From the last insertion to the first: each keeps what the later ones leave of it, and the base's nodes what all leave.
static void add_insertions(const sn_shape *shape, const sn_insertion *const *insertions, int32_t count, int32_t degree,
                           double *left, double *moments) {
    const sn_weight_table *table = &shape->table;
    size_t monomials = (size_t)((degree + 1) * (degree + 2) * (degree + 3) / 6);
    for (int32_t i = count - 1; i >= 0; i--) {
        const sn_insertion *insertion = insertions[i];
        double *row = moments + ((size_t)shape->node_count + (size_t)i) * monomials;
        for (int32_t k = 0; k < insertion->voxel_count; k++) {
            int32_t v = insertion->voxel[k];
            double density = shape->density[shape->voxels->label[v]];
            add_box(shape, v, insertion->position, degree, density * left[v] * insertion->voxel_weight[k], row);
            left[v] *= 1 - insertion->voxel_weight[k];
        }
    }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < insertions[i]->voxel_count; k++) {
            int32_t v = insertions[i]->voxel[k];
            if (left[v] == 1) continue; // done
            double factor = shape->density[shape->voxels->label[v]] * (left[v] - 1) / row_sum(table, v);
            left[v] = 1;
            for (int64_t e = table->start[v]; e < table->start[v + 1]; e++) {
                size_t node = table->node[e];
                sn_vec3 about = sn_load3(shape->node_position + 3 * node);
                add_box(shape, v, about, degree, factor * table->weight[e], moments + node * monomials);
            }
        }
    }
}

sinew_status sn_insertions_compute_mass(const sn_shape *shape, const sn_insertion *const *insertions, int32_t count,
                                        int32_t degree, const double *base, double *moments) {
    SN_TRY(check_degree(shape->context, degree));
    size_t monomials = (size_t)((degree + 1) * (degree + 2) * (degree + 3) / 6), nodes = (size_t)shape->node_count;
    double *left = sn_allocate(shape->context, (size_t)shape->voxels->count, sizeof *left);
    if (!left) return SINEW_OUT_OF_MEMORY;
    for (int32_t v = 0; v < shape->voxels->count; v++) left[v] = 1;
    memcpy(moments, base, nodes * monomials * sizeof *moments);
    memset(moments + nodes * monomials, 0, (size_t)count * monomials * sizeof *moments);
    add_insertions(shape, insertions, count, degree, left, moments);
    sn_release(shape->context, left, (size_t)shape->voxels->count, sizeof *left);
    return SINEW_OK;
}
