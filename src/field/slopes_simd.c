// Slopes of functions over a graph, four functions in a quad; see slopes.h.
#include "field/slopes.h"

#include "field/rows.h"
#include "math/quad.h"

enum { WIDTH = SN_ROW_WIDTH };

// WIDTH functions starting at `first`.
SN_INLINE void sum_edges_of(const sn_slope_job *job, int32_t i, size_t first) {
    const sn_sparse *G = job->G;
    const double *x = job->x + first;
    double *out = job->edges + 3 * (job->width * (size_t)i + first);
    sn_quad sum[3] = {sn_quad_all(0), sn_quad_all(0), sn_quad_all(0)};
    sn_quad own = sn_quad_load(x + job->width * (size_t)i);

    for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
        sn_vec3 d =
            sn_scale(-G->values[k], sn_sub(job->positions[G->indices[k]], job->positions[i]));
        sn_quad change = sn_quad_sub(sn_quad_load(x + job->width * (size_t)G->indices[k]), own);
        sum[0] = sn_quad_fma(sn_quad_all(d.x), change, sum[0]);
        sum[1] = sn_quad_fma(sn_quad_all(d.y), change, sum[1]);
        sum[2] = sn_quad_fma(sn_quad_all(d.z), change, sum[2]);
    }

    for (int a = 0; a < 3; a++) {
        sn_quad_store(out + WIDTH * a, sum[a]);
    }
}

static void sum_edges(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_slope_job job = *(const sn_slope_job *)data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        for (size_t first = 0; first < job.width; first += WIDTH) {
            sum_edges_of(&job, i, first);
        }
    }
}

SN_INLINE void compute_slopes_of(const sn_slope_job *job, int32_t i, size_t first) {
    const sn_sparse *G = job->G;
    const sn_mat3 *inverse = &job->inverse_moments[i];
    double *slope = job->slopes + 3 * (job->width * (size_t)i + first);
    sn_quad sum[3] = {sn_quad_all(0), sn_quad_all(0), sn_quad_all(0)};

    for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
        const double *edges = job->edges + 3 * (job->width * (size_t)G->indices[k] + first);
        for (int a = 0; a < 3; a++) {
            sum[a] = sn_quad_add(sum[a], sn_quad_load(edges + WIDTH * a));
        }
    }

    for (int a = 0; a < 3; a++) {
        sn_quad value = sn_quad_mul(sn_quad_all(inverse->m[a][0]), sum[0]);
        value = sn_quad_fma(sn_quad_all(inverse->m[a][1]), sum[1], value);
        sn_quad_store(slope + WIDTH * a, sn_quad_fma(sn_quad_all(inverse->m[a][2]), sum[2], value));
    }
}

static void compute_slopes(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_slope_job job = *(const sn_slope_job *)data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        for (size_t first = 0; first < job.width; first += WIDTH) {
            compute_slopes_of(&job, i, first);
        }
    }
}

static void weigh_drifts(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_slope_job job = *(const sn_slope_job *)data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        sn_vec3 v = sn_scale(-job.inverse_degrees[i], job.drifts[i]);
        for (size_t first = 0; first < job.width; first += WIDTH) {
            const double *slope = job.slopes + 3 * (job.width * (size_t)i + first);
            sn_quad sum = sn_quad_mul(sn_quad_all(v.x), sn_quad_load(slope));
            sum = sn_quad_fma(sn_quad_all(v.y), sn_quad_load(slope + WIDTH), sum);
            sum = sn_quad_fma(sn_quad_all(v.z), sn_quad_load(slope + 2 * WIDTH), sum);
            sn_quad_store(job.drift + job.width * (size_t)i + first, sum);
        }
    }
}

// b += sign M x
SN_INLINE void add_products(const sn_slope_job *job, const sn_sparse *M, const double *x,
                            double sign, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        for (size_t first = 0; first < job->width; first += WIDTH) {
            double *target = job->b + job->width * (size_t)i + first;
            sn_quad sum = sn_quad_load(target);
            for (int32_t k = M->starts[i]; k < M->starts[i + 1]; k++) {
                const double *from = x + job->width * (size_t)M->indices[k] + first;
                sum = sn_quad_fma(sn_quad_all(sign * M->values[k]), sn_quad_load(from), sum);
            }

            sn_quad_store(target, sum);
        }
    }
}

static void add_drifts(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_slope_job job = *(const sn_slope_job *)data;
    (void)chunk;
    add_products(&job, job.G, job.drift, 1, begin, end);
}

static void subtract(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_slope_job job = *(const sn_slope_job *)data;
    (void)chunk;
    add_products(&job, job.A, job.x, -1, begin, end);
}

const sn_slope_kernels *SN_ISA_NAME(sn_slope_get_kernels)(void) {
    static const sn_slope_kernels kernels = {sum_edges, compute_slopes, weigh_drifts, add_drifts,
                                             subtract};
    return &kernels;
}
