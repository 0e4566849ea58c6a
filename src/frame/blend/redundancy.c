// Combinations of controls that hardly move the solid.
//
// A few nodes with smooth weights can represent zero nearly in many ways: the products of weights
// and monomials are smooth functions, and the more of them there are, the closer to dependent they
// become. Such combinations add nothing to what the nodes can do, but samples that are chosen for
// the other motions do not see them, and they would be softer than anything real. They are found
// from the Gram matrix G of the products, scaled to a diagonal of 1:
//
//   G' = G - G P (P'G P)^-1 P'G     without what affine motions P of the solid account for
//   G' v = lambda v                 kept: lambda > THRESHOLD
//   Q  = I - proj(P) - sum v v'     so Q a = 0 for affine motions and for all kept ones
//
// An energy of Q then holds all others at zero, whatever the rotation of the body. Controls of
// rigid nodes count as affine motions, each alone: they are never held.
// Cost: the cube of the number of controls.
#include "frame/blend/blend.h"

#include "linalg/dense.h"

#include <string.h>

// Of the mean square of a function, in units of those of its terms: functions a thousand times
// smaller than their terms are held. With a hundredth of this, samples of a bar of four frames
// left motions whose eigenvalues were 18 % too low; with a hundred times as much, six frames
// bent 10 % too little.
static const double THRESHOLD = 1e-6;

typedef struct redundancy {
    const sn_nodes *nodes;
    size_t n, affine; // controls, columns of P
    double *root;     // [n]: of the diagonal
    double *G;        // [n][n], scaled
    double *P;        // [affine][n]: orthonormal in G, later in itself
    double *GP;       // [affine][n]
} redundancy;

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void subtract(double *y, double s, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        y[i] -= s * x[i];
    }
}

static size_t count_affine(const sn_nodes *nodes) {
    size_t count = 4;
    for (int32_t i = 0; i < nodes->count; i++) {
        if (nodes->items[i].kind == SINEW_NODE_RIGID) {
            count += (size_t)nodes->items[i].control_count;
        }
    }
    return count;
}

// Lists the motions 1, x, y, z and the controls of rigid nodes, scaled.
static void list_affine(redundancy *r) {
    size_t next = 4;
    memset(r->P, 0, r->affine * r->n * sizeof *r->P);
    for (int32_t i = 0; i < r->nodes->count; i++) {
        const sn_node *node = &r->nodes->items[i];
        const double origin[3] = {node->origin.x, node->origin.y, node->origin.z};
        size_t first = (size_t)node->control;

        r->P[first] = r->root[first];
        for (size_t a = 0; a < 3; a++) {
            double *row = r->P + (1 + a) * r->n + first;
            row[0] = origin[a] * r->root[first];
            if (node->control_count > 3) {
                row[1 + a] = r->root[first + 1 + a];
            }
        }

        if (node->kind == SINEW_NODE_RIGID) {
            for (size_t c = 0; c < (size_t)node->control_count; c++) {
                r->P[next++ * r->n + first + c] = 1;
            }
        }
    }
}

static void scale(const double *gram, redundancy *r) {
    size_t n = r->n;
    for (size_t i = 0; i < n; i++) {
        r->root[i] = sqrt(fmax(gram[i * n + i], 1e-300));
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            r->G[i * n + j] = r->G[j * n + i] = gram[i * n + j] / (r->root[i] * r->root[j]);
        }
    }
}

// Makes P orthonormal in G, or in the identity if `metric` is NULL; dependent rows become 0. Twice,
// because once leaves rounding errors.
static void orthonormalize(redundancy *r, const double *metric) {
    size_t n = r->n;
    for (size_t k = 0; k < r->affine; k++) {
        double *p = r->P + k * n;
        double *image = r->GP + k * n;
        double before = sqrt(dot(p, p, n));

        for (int pass = 0; pass < 2; pass++) {
            for (size_t j = 0; j < k; j++) {
                subtract(p, dot(r->GP + j * n, p, n), r->P + j * n, n);
            }
        }
        for (size_t i = 0; i < n; i++) {
            image[i] = metric ? dot(metric + i * n, p, n) : p[i];
        }

        double length2 = dot(p, image, n);
        double factor = length2 > 1e-20 * before * before ? 1 / sqrt(length2) : 0;
        for (size_t i = 0; i < n; i++) {
            p[i] *= factor;
            image[i] *= factor;
        }
    }
}

// Fills in Q, scaled back. Returns how many directions it holds, or -1.
static int32_t hold_others(redundancy *r, double *values, double *work, double stiffness,
                           const sn_redundancy *out) {
    double *Q = out->Q;
    size_t n = r->n;
    if (!sn_dense_symmetric_eigen(r->G, (int32_t)n, (int32_t)n, values, work)) {
        return -1;
    }

    // Small eigenvalues leave rounding errors along P.
    for (size_t k = 0; k < n; k++) {
        double *v = r->G + k * n;
        if (values[k] > THRESHOLD) {
            for (size_t j = 0; j < r->affine; j++) {
                subtract(v, dot(r->P + j * n, v, n), r->P + j * n, n);
            }
        }
    }

    memset(Q, 0, n * n * sizeof *Q);
    double trace = 0;
    for (size_t i = 0; i < n; i++) {
        Q[i * n + i] = 1;
        for (size_t k = 0; k < r->affine; k++) {
            subtract(Q + i * n, r->P[k * n + i], r->P + k * n, n);
        }
        for (size_t k = 0; k < n; k++) {
            if (values[k] > THRESHOLD) {
                subtract(Q + i * n, r->G[k * n + i], r->G + k * n, n);
            }
        }
        trace += Q[i * n + i];
    }

    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            Q[i * n + j] *= stiffness * r->root[i] * r->root[j];
        }
        out->compliance[i] = 1 / (stiffness * r->root[i] * r->root[i]);
    }
    return (int32_t)floor(trace + 0.5);
}

sinew_status sn_redundancy_create(sn_arena *arena, const sn_nodes *nodes, const double *gram,
                                  double stiffness, sn_redundancy *out) {
    size_t n = (size_t)nodes->control_count;
    *out = (sn_redundancy){.controls = nodes->control_count,
                           .Q = SN_PUSH(arena, double, n *n),
                           .compliance = SN_PUSH(arena, double, n)};
    SN_TRY(sn_arena_status(arena));

    sn_arena scratch = sn_arena_create(arena->context);
    redundancy r = {.nodes = nodes, .n = n, .affine = count_affine(nodes)};
    r.root = SN_PUSH(&scratch, double, n);
    r.G = SN_PUSH(&scratch, double, n *n);
    r.P = SN_PUSH(&scratch, double, r.affine *n);
    r.GP = SN_PUSH(&scratch, double, r.affine *n);
    double *values = SN_PUSH(&scratch, double, n);
    double *work = SN_PUSH(&scratch, double, n);
    sinew_status status = sn_arena_status(&scratch);

    // Take the affine motions out of the Gram matrix.
    if (status == SINEW_OK) {
        scale(gram, &r);
        list_affine(&r);
        orthonormalize(&r, r.G);
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < r.affine; k++) {
                subtract(r.G + i * n, r.GP[k * n + i], r.GP + k * n, n);
            }
        }

        orthonormalize(&r, NULL);

        // What hardly moves the solid is held.
        out->count = hold_others(&r, values, work, stiffness, out);
        if (out->count < 0) {
            status = sn_fail(arena->context, SINEW_INVALID_DATA,
                             "the products of weights and monomials are not finite");
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}
