// Sums and updates of long vectors. A chunk is summed in eight partial sums, a fixed number, so
// that the compiler may use any register width without changing the result; chunks are added in
// index order.
#include "linalg/vector.h"

#include "base/threads.h"
#include "linalg/kernels.h"

#include <math.h>

enum { CHUNK = 8192 }; // large enough to be worth waking a thread

typedef struct job {
    double *y;
    const double *x, *z;
    double s;
} job;

static double dot_range(void *data, int32_t begin, int32_t end) {
    const job *work = data;
    return sn_linalg_kernels_get()->dot(work->x + begin, work->z + begin, end - begin);
}

double sn_vector_dot(sinew_context *context, int32_t count, const double *x, const double *y) {
    return sn_parallel_sum(context, count, CHUNK, dot_range, &(job){.x = x, .z = y});
}

double sn_vector_norm(sinew_context *context, int32_t count, const double *x) {
    return sqrt(sn_vector_dot(context, count, x, x));
}

double sn_vector_largest(int32_t count, const double *x) {
    return sn_linalg_kernels_get()->largest(x, count);
}

static void add_scaled_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    sn_linalg_kernels_get()->add_scaled(work->y + begin, work->s, work->x + begin, end - begin);
}

void sn_vector_add_scaled(sinew_context *context, int32_t count, double *y, double s,
                          const double *x) {
    sn_parallel_for(context, count, CHUNK, add_scaled_range, &(job){.y = y, .x = x, .s = s});
}

static void scale_add_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    sn_linalg_kernels_get()->scale_add(work->y + begin, work->s, work->x + begin, end - begin);
}

void sn_vector_scale_add(sinew_context *context, int32_t count, double *y, double s,
                         const double *x) {
    sn_parallel_for(context, count, CHUNK, scale_add_range, &(job){.y = y, .x = x, .s = s});
}
