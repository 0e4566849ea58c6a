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

// One axis of the transposed interpolation. A cell in one half of its block takes a share from the
// adjacent block on that side, and the rest from its own. So a block gathers the rest of its own
// cells and the shares of the adjacent blocks' cells. The two halves are added.
static void ROW_NAME(fold)(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const sn_multigrid_job *job = data;
    const sn_multigrid_level *level = job->level;
    int32_t width = job->width;
    int32_t axis = job->axis;
    int32_t first_low = sn_multigrid_share(axis, 0);
    int32_t first_high = sn_multigrid_share(axis, 1);

    for (int32_t c = begin; c < end; c++) {
        const int32_t *neighbor = level->neighbor[c];
        int32_t below = neighbor[2 * axis];
        int32_t above = neighbor[2 * axis + 1];
        float has_below = below == c ? 0 : 1;
        float has_above = above == c ? 0 : 1;
        const float *low = level->share[c] + first_low;
        const float *high = level->share[c] + first_high;
        const float *from_above = level->share[above] + first_low;
        const float *from_below = level->share[below] + first_high;

        for (int32_t s = 0; s < width; s++) {
            int32_t half = 2 * s;
            int32_t stride = 2 * width;
            FLOATS(job->to, c * width + s) =
                (1 - low[s]) * FLOATS(job->from, c * stride + half) +
                has_above * from_above[s] * FLOATS(job->from, above * stride + half) +
                (1 - high[s]) * FLOATS(job->from, c * stride + half + 1) +
                has_below * from_below[s] * FLOATS(job->from, below * stride + half + 1);
        }
    }
}

// Interpolates the coarse x at a block along z, then along y: plane[half of y + 2 half of z].
SN_INLINE void ROW_NAME(expand)(FLOAT_ROW plane[4], const sn_multigrid_level *coarse, int32_t at) {
    FLOAT_ROW line[3][2];
    for (int j = 0; j < 3; j++) { // itself, below, above
        int32_t c = j == 0 ? at : coarse->neighbor[at][1 + j];
        const float *share = coarse->share[c] + sn_multigrid_share(2, 0);
        FLOAT_ROW own = FLOATS(coarse->x, c);
        line[j][0] = own + share[0] * (FLOATS(coarse->x, coarse->neighbor[c][4]) - own);
        line[j][1] = own + share[1] * (FLOATS(coarse->x, coarse->neighbor[c][5]) - own);
    }

    const float *share = coarse->share[at] + sn_multigrid_share(1, 0);
    for (int z = 0; z < 2; z++) {
        plane[2 * z] = line[0][z] + share[z] * (line[1][z] - line[0][z]);
        plane[2 * z + 1] = line[0][z] + share[2 + z] * (line[2][z] - line[0][z]);
    }
}

// Adds P x to x of the finer grid: over z, then y, then x, the reverse of the transpose.
static void ROW_NAME(prolong)(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const sn_multigrid_job *job = data;
    const sn_multigrid_level *fine = job->level;
    const sn_multigrid_level *coarse = fine + 1;

    for (int32_t c = begin; c < end; c++) {
        const float *share = coarse->share[c];
        FLOAT_ROW plane[3][4];
        ROW_NAME(expand)(plane[0], coarse, c);
        ROW_NAME(expand)(plane[1], coarse, coarse->neighbor[c][0]);
        ROW_NAME(expand)(plane[2], coarse, coarse->neighbor[c][1]);

        for (int s = 0; s < 8; s++) {
            int32_t u = coarse->children[8 * (size_t)c + (size_t)s];
            if (u < 0) {
                continue;
            }
            FLOAT_ROW own = plane[0][s >> 1];
            FLOAT_ROW next = plane[1 + (s & 1)][s >> 1];
            FLOATS(fine->x, u) += own + share[4 * (s & 1) + (s >> 1)] * (next - own);
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
