// The loops of multigrid.c and conduction.c over cells with ROW right-hand sides each.
// multigrid_simd.c includes this file once for each ROW, with ROW_NAME(foo) naming what it exports.
// The numbers of a cell form one vector. Every function is the body of a parallel loop
// (base/threads.h) over the cells [begin, end).
#define FLOAT_ROW     ROW_TYPE(sn_float_row)
#define DOUBLE_ROW    ROW_TYPE(sn_double_row)
#define FLOATS(p, u)  (*(FLOAT_ROW *)((p) + (size_t)(u)*ROW))
#define DOUBLES(p, u) (*(DOUBLE_ROW *)((p) + (size_t)(u)*ROW))
#define TO_DOUBLE(a)  __builtin_convertvector(a, DOUBLE_ROW)
#define TO_FLOAT(a)   __builtin_convertvector(a, FLOAT_ROW)

// The first two smoothing steps from x = 0, in one sweep:
//
//   x1 = first D^-1 b,   x = x1 + step D^-1 (b - A x1)
static void ROW_NAME(start)(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const sn_multigrid_job *job = data;
    const sn_multigrid_level *level = job->level;

    for (int32_t u = begin; u < end; u++) {
        FLOAT_ROW b = FLOATS(level->b, u);
        FLOAT_ROW sum = b;
        for (int d = 0; d < 6; d++) {
            int32_t v = level->neighbor[u][d];
            sum += level->conductance[u][d] * job->first * level->inverse_diagonal[v] *
                   FLOATS(level->b, v);
        }

        float inverse = level->inverse_diagonal[u];
        FLOAT_ROW x = job->first * inverse * b;

        FLOATS(level->x, u) = x + job->step * (inverse * sum - x);
    }
}

// to = from + step D^-1 (b - A from)
static void ROW_NAME(smooth)(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const sn_multigrid_job *job = data;
    const sn_multigrid_level *level = job->level;

    for (int32_t u = begin; u < end; u++) {
        FLOAT_ROW sum = FLOATS(level->b, u);
        FLOAT_ROW x = FLOATS(job->from, u);
        for (int d = 0; d < 6; d++) {
            sum += level->conductance[u][d] * FLOATS(job->from, level->neighbor[u][d]);
        }
        FLOATS(job->to, u) = x + job->step * (level->inverse_diagonal[u] * sum - x);
    }
}

// Computes the residuals b - A x of the finer grid, sorted by block.
static void ROW_NAME(collect)(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const sn_multigrid_job *job = data;
    const sn_multigrid_level *fine = job->level;
    const sn_multigrid_level *coarse = fine + 1;

    for (int32_t k = 8 * begin; k < 8 * end; k++) {
        int32_t u = coarse->children[k];
        FLOAT_ROW sum = {0};
        if (u >= 0 && fine->inverse_diagonal[u] > 0) {
            sum = FLOATS(fine->b, u) - FLOATS(fine->x, u) / fine->inverse_diagonal[u];
            for (int d = 0; d < 6; d++) {
                sum += fine->conductance[u][d] * FLOATS(fine->x, fine->neighbor[u][d]);
            }
        }

        FLOATS(coarse->blocks, k) = sum;
    }
}

// One axis of the transposed interpolation. A cell in one half of its block takes 3/4 from its
// block and 1/4 from the adjacent block on that side, or all from its block if there is none. So a
// block gathers 3/4 of its own cells and 1/4 of the adjacent block's, and all of its own cells at a
// border. The two halves are added.
static void ROW_NAME(fold)(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const sn_multigrid_job *job = data;
    const sn_multigrid_level *level = job->level;
    int32_t width = job->width;
    int32_t axis = job->axis;

    for (int32_t c = begin; c < end; c++) {
        const int32_t *neighbor = level->neighbor[c];
        int32_t below = neighbor[2 * axis];
        int32_t above = neighbor[2 * axis + 1];
        float low = below == c ? 1 : 0.75f;
        float high = above == c ? 1 : 0.75f;
        float from_above = above == c ? 0 : 0.25f;
        float from_below = below == c ? 0 : 0.25f;

        for (int32_t s = 0; s < width; s++) {
            int32_t half = 2 * s;
            int32_t stride = 2 * width;
            FLOATS(job->to, c * width + s) =
                low * FLOATS(job->from, c * stride + half) +
                from_above * FLOATS(job->from, above * stride + half) +
                high * FLOATS(job->from, c * stride + half + 1) +
                from_below * FLOATS(job->from, below * stride + half + 1);
        }
    }
}

// Adds P x to x of the finer grid: over x, then y, then z, in the order of the transpose, so that a
// missing block is replaced by the one before it. The 27 values around a block are reduced along z,
// y and x, one axis after the other.
static void ROW_NAME(prolong)(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const sn_multigrid_job *job = data;
    const sn_multigrid_level *fine = job->level;
    const sn_multigrid_level *coarse = fine + 1;

    for (int32_t c = begin; c < end; c++) {
        FLOAT_ROW sum[8];
        for (int s = 0; s < 8; s++) {
            sum[s] = (FLOAT_ROW){0};
        }

        for (int i = 0; i < 3; i++) { // itself, below, above
            int32_t at_x = i == 0 ? c : coarse->neighbor[c][i - 1];

            FLOAT_ROW plane[4];
            for (int s = 0; s < 4; s++) {
                plane[s] = (FLOAT_ROW){0};
            }
            for (int j = 0; j < 3; j++) {
                int32_t at = j == 0 ? at_x : coarse->neighbor[at_x][1 + j];
                FLOAT_ROW own = 0.75f * FLOATS(coarse->x, at);
                FLOAT_ROW below = own + 0.25f * FLOATS(coarse->x, coarse->neighbor[at][4]);
                FLOAT_ROW above = own + 0.25f * FLOATS(coarse->x, coarse->neighbor[at][5]);
                for (int half = 0; half < 2; half++) {
                    if (j > 0 && half != j - 1) {
                        continue;
                    }
                    float share = j == 0 ? 0.75f : 0.25f;
                    plane[half] += share * below;
                    plane[half + 2] += share * above;
                }
            }
            for (int s = 0; s < 8; s++) {
                if (i > 0 && (s & 1) != i - 1) {
                    continue;
                }
                sum[s] += (i == 0 ? 0.75f : 0.25f) * plane[s >> 1];
            }
        }

        for (int s = 0; s < 8; s++) {
            int32_t u = coarse->children[8 * (size_t)c + (size_t)s];
            if (u >= 0) {
                FLOATS(fine->x, u) += sum[s];
            }
        }
    }
}

// The last smoothing step, and b.x. With b the residual r, that is the product r.z.
static void ROW_NAME(finish)(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_multigrid_job *job = data;
    const sn_multigrid_level *level = job->level;
    DOUBLE_ROW dot = {0};

    for (int32_t u = begin; u < end; u++) {
        FLOAT_ROW b = FLOATS(level->b, u);
        FLOAT_ROW sum = b;
        FLOAT_ROW x = FLOATS(job->from, u);

        for (int d = 0; d < 6; d++) {
            sum += level->conductance[u][d] * FLOATS(job->from, level->neighbor[u][d]);
        }

        x += job->step * (level->inverse_diagonal[u] * sum - x);
        FLOATS(job->to, u) = x;
        dot += TO_DOUBLE(b) * TO_DOUBLE(x);
    }

    DOUBLES(job->partial, chunk) = dot;
}

// A p at a cell, in double precision whatever the precision of p.
#define PRODUCT(q, p, u)                                                                           \
    DOUBLE_ROW q = job->diagonal[u] * TO_DOUBLE(p);                                                \
    for (int d = 0; d < 6; d++)                                                                    \
    q -= job->conductance[u][d] * TO_DOUBLE(FLOATS(job->p, job->neighbor[u][d]))

// p.A p
static void ROW_NAME(product)(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_conduction_job *job = data;
    DOUBLE_ROW dot = {0};
    for (int32_t u = begin; u < end; u++) {
        FLOAT_ROW p = FLOATS(job->p, u);
        PRODUCT(q, p, u);
        dot += TO_DOUBLE(p) * q;
    }

    DOUBLES(job->partial, chunk) = dot;
}

// x += alpha p,  r -= alpha A p,  and r.r. The preconditioner gets r in single precision. A p is
// computed again, which is cheaper than storing it.
static void ROW_NAME(step)(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sn_conduction_job *job = data;
    DOUBLE_ROW dot = {0};
    DOUBLE_ROW alpha = DOUBLES(job->factor, 0);

    for (int32_t u = begin; u < end; u++) {
        FLOAT_ROW p = FLOATS(job->p, u);
        PRODUCT(q, p, u);
        DOUBLES(job->x, u) += alpha * TO_DOUBLE(p);
        DOUBLE_ROW r = DOUBLES(job->r, u) - alpha * q;
        DOUBLES(job->r, u) = r;
        FLOATS(job->single, u) = TO_FLOAT(r);
        dot += r * r;
    }

    DOUBLES(job->partial, chunk) = dot;
}

// p = z + beta p
static void ROW_NAME(direct)(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const sn_conduction_job *job = data;
    FLOAT_ROW beta = TO_FLOAT(DOUBLES(job->factor, 0));
    for (int32_t u = begin; u < end; u++) {
        FLOATS(job->p, u) = FLOATS(job->z, u) + beta * FLOATS(job->p, u);
    }
}

static const sn_multigrid_kernels ROW_NAME(kernels) = {
    ROW_NAME(start),   ROW_NAME(smooth),  ROW_NAME(finish), ROW_NAME(collect), ROW_NAME(fold),
    ROW_NAME(prolong), ROW_NAME(product), ROW_NAME(step),   ROW_NAME(direct)};

#undef PRODUCT
#undef FLOAT_ROW
#undef DOUBLE_ROW
#undef FLOATS
#undef DOUBLES
#undef TO_DOUBLE
#undef TO_FLOAT
