// Loops over unknowns with four functions side by side, a quad each; see rows.h. A row of a matrix is one sum of quads.
#include "field/rows.h"

#include "math/quad.h"

SN_INLINE sn_quad row_of(const double *x, int32_t i) {
    return sn_quad_load(x + SN_ROW_WIDTH * (size_t)i);
}

SN_INLINE void set_row(double *x, int32_t i, sn_quad value) {
    sn_quad_store(x + SN_ROW_WIDTH * (size_t)i, value);
}

// sum_j A_ij x_j
SN_INLINE sn_quad multiply_row(const sn_sparse *A, const double *x, int32_t i) {
    sn_quad sum = sn_quad_all(0);
    for (int32_t k = A->starts[i]; k < A->starts[i + 1]; k++) {
        sum = sn_quad_fma(sn_quad_all(A->values[k]), row_of(x, A->indices[k]), sum);
    }
    return sum;
}

static void multiply(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_row_job job = *(const sn_row_job *)data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) set_row(job.y, i, multiply_row(job.A, job.x, i));
}

static void weigh(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_row_job job = *(const sn_row_job *)data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        set_row(job.y, i, sn_quad_mul(sn_quad_all(job.factors[i]), multiply_row(job.A, job.x, i)));
    }
}

static void subtract(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_row_job job = *(const sn_row_job *)data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) set_row(job.y, i, sn_quad_sub(row_of(job.b, i), multiply_row(job.A, job.x, i)));
}

static void dot(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_row_job job = *(const sn_row_job *)data;
    sn_quad sum = sn_quad_all(0);
    for (int32_t i = begin; i < end; i++) sum = sn_quad_fma(row_of(job.x, i), row_of(job.b, i), sum);
    set_row(job.sums, chunk, sum);
}

static void advance(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_row_job job = *(const sn_row_job *)data;
    sn_quad scale = sn_quad_load_any(job.scale), opposite = sn_quad_sub(sn_quad_all(0), scale);
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        set_row(job.y, i, sn_quad_fma(scale, row_of(job.x, i), row_of(job.y, i)));
        set_row(job.z, i, sn_quad_fma(opposite, row_of(job.b, i), row_of(job.z, i)));
    }
}

static void turn(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_row_job job = *(const sn_row_job *)data;
    sn_quad scale = sn_quad_load_any(job.scale);
    (void)chunk;
    for (int32_t i = begin; i < end; i++) set_row(job.y, i, sn_quad_fma(scale, row_of(job.y, i), row_of(job.x, i)));
}

const sn_row_kernels *SN_ISA_NAME(sn_row_get_kernels)(void) {
    static const sn_row_kernels kernels = {multiply, weigh, subtract, dot, advance, turn};
    return &kernels;
}

// ---- Single precision ---------------------------------------------------------------------------

SN_INLINE sn_narrow_quad narrow_row_of(const float *x, int32_t i) {
    return sn_narrow_quad_load(x + SN_ROW_WIDTH * (size_t)i);
}

SN_INLINE void set_narrow_row(float *x, int32_t i, sn_narrow_quad value) {
    sn_narrow_quad_store(x + SN_ROW_WIDTH * (size_t)i, value);
}

SN_INLINE sn_narrow_quad multiply_narrow_row(const sn_narrow *A, const float *x, int32_t i) {
    sn_narrow_quad sum = {0};
    for (int32_t k = A->starts[i]; k < A->starts[i + 1]; k++) sum += A->values[k] * narrow_row_of(x, A->indices[k]);
    return sum;
}

static void multiply_narrow(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_narrow_job job = *(const sn_narrow_job *)data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) set_narrow_row(job.y, i, multiply_narrow_row(job.A, job.x, i));
}

static void add_narrow(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_narrow_job job = *(const sn_narrow_job *)data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        set_narrow_row(job.y, i, narrow_row_of(job.y, i) + multiply_narrow_row(job.A, job.x, i));
    }
}

static void subtract_narrow(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_narrow_job job = *(const sn_narrow_job *)data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        set_narrow_row(job.y, i, narrow_row_of(job.b, i) - multiply_narrow_row(job.A, job.x, i));
    }
}

static void weigh_narrow(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_narrow_job job = *(const sn_narrow_job *)data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) set_narrow_row(job.y, i, job.scale * job.factors[i] * narrow_row_of(job.b, i));
}

static void relax_narrow(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_narrow_job job = *(const sn_narrow_job *)data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        sn_narrow_quad left = narrow_row_of(job.b, i) - multiply_narrow_row(job.A, job.x, i);
        set_narrow_row(job.y, i, narrow_row_of(job.x, i) + job.scale * job.factors[i] * left);
    }
}

static void narrow(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_narrow_job job = *(const sn_narrow_job *)data;
    (void)chunk;
    for (size_t k = SN_ROW_WIDTH * (size_t)begin; k < SN_ROW_WIDTH * (size_t)end; k++) job.y[k] = (float)job.wide_x[k];
}

static void widen(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_narrow_job job = *(const sn_narrow_job *)data;
    (void)chunk;
    for (size_t k = SN_ROW_WIDTH * (size_t)begin; k < SN_ROW_WIDTH * (size_t)end; k++) job.wide_y[k] = (double)job.x[k];
}

const sn_narrow_kernels *SN_ISA_NAME(sn_narrow_get_kernels)(void) {
    static const sn_narrow_kernels kernels = {multiply_narrow, add_narrow, subtract_narrow, weigh_narrow, relax_narrow,
                                              narrow,          widen};
    return &kernels;
}
