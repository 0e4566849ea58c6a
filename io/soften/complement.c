// Complementary dynamics (Zhang, Bang, Levin and Jacobson 2020): physics does not move what the
// joints control.
//
// What the joints can do to the flesh in the bind pose are the fields
//
//   u(X) = sum_j w_j(X) A_j (X, 1),      A_j any 3 x 4 matrix,
//
// so each coordinate of u is a combination B c of four functions per joint, w_j, w_j x, w_j y and
// w_j z. After each step the displacement d of the free nodes, and their velocity, are replaced by
// the closest ones, in the metric of the masses M, that have no share in these:
//
//   d <- d - B (B'MB)^-1 B'M d,    so that   B'M d = 0.
//
// The matrix is constant and factored once. Functions that depend on others, such as those of a
// joint that holds all its flesh, are left out. Cost of a step: the weights of all nodes, and
// (4 joints)^2.
#include "io/soften/softener.h"

#include <math.h>
#include <string.h>

enum { MOST_FUNCTIONS = 4096 };

// The functions of one weight at a node, relative to the middle of what the joint moves.
static void evaluate(const sn_complement *c, int32_t node, int32_t weight, double values[4]) {
    const double *X = c->def.points + 3 * (size_t)node;
    int32_t joint = c->def.joints[weight];
    double w = c->def.weights[weight];
    values[0] = w;
    for (int k = 0; k < 3; k++) {
        values[k + 1] = w * (X[k] - c->middles[3 * (size_t)joint + (size_t)k]) / c->size;
    }
}

// The middle of the flesh of each joint, and the size of all: numbers of order one are what the
// factorization needs.
static void find_middles(sn_complement *c, double *total) {
    const sn_complement_def *def = &c->def;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < def->node_count; i++) {
        const double *X = def->points + 3 * (size_t)i;
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], X[k]);
            high[k] = fmax(high[k], X[k]);
        }
        for (int32_t w = def->first_weight[i]; w < def->first_weight[i + 1]; w++) {
            for (int k = 0; k < 3; k++) {
                c->middles[3 * def->joints[w] + k] += def->weights[w] * X[k];
            }
            total[def->joints[w]] += def->weights[w];
        }
    }

    for (int32_t i = 0; i < 3 * def->joint_count; i++) {
        c->middles[i] /= total[i / 3] > 0 ? total[i / 3] : 1;
    }
    c->size = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
    c->size = c->size > 0 ? c->size : 1;
}

// The lower triangle of B'MB.
static void assemble(sn_complement *c) {
    const sn_complement_def *def = &c->def;
    for (int32_t i = 0; i < def->node_count; i++) {
        if (def->held[i]) {
            continue;
        }
        for (int32_t a = def->first_weight[i]; a < def->first_weight[i + 1]; a++) {
            double left[4], right[4];
            evaluate(c, i, a, left);
            for (int32_t b = def->first_weight[i]; b < def->first_weight[i + 1]; b++) {
                evaluate(c, i, b, right);
                for (int k = 0; k < 16; k++) {
                    size_t row = 4 * (size_t)def->joints[a] + (size_t)(k / 4);
                    size_t column = 4 * (size_t)def->joints[b] + (size_t)(k % 4);
                    c->factor[row * c->width + column] +=
                        def->masses[i] * left[k / 4] * right[k % 4];
                }
            }
        }
    }
}

// L L' in place; a column whose pivot vanishes depends on those before and gets no share.
static void factorize(sn_complement *c) {
    size_t n = c->width;
    double *L = c->factor;
    for (size_t k = 0; k < n; k++) {
        double diagonal = L[k * n + k], pivot = diagonal;
        for (size_t j = 0; j < k; j++) {
            pivot -= L[k * n + j] * L[k * n + j];
        }
        bool independent = pivot > 1e-9 * diagonal && diagonal > 0;
        double root = independent ? sqrt(pivot) : 0;
        for (size_t i = k + 1; i < n; i++) {
            double sum = L[i * n + k];
            for (size_t j = 0; j < k; j++) {
                sum -= L[i * n + j] * L[k * n + j];
            }
            L[i * n + k] = independent ? sum / root : 0;
        }
        L[k * n + k] = root;
    }
}

static void solve(const sn_complement *c, double *x) {
    size_t n = c->width;
    const double *L = c->factor;
    for (size_t i = 0; i < n; i++) {
        double sum = x[i];
        for (size_t j = 0; j < i; j++) {
            sum -= L[i * n + j] * x[j];
        }
        x[i] = L[i * n + i] > 0 ? sum / L[i * n + i] : 0;
    }
    for (size_t i = n; i-- > 0;) {
        double value = L[i * n + i] > 0 ? x[i] / L[i * n + i] : 0;
        x[i] = value;
        for (size_t j = 0; j < i; j++) {
            x[j] -= L[i * n + j] * value;
        }
    }
}

sinew_status sn_complement_create(sn_arena *arena, const sn_complement_def *def, sn_complement *c) {
    *c = (sn_complement){.def = *def, .width = 4 * (size_t)def->joint_count};
    if (c->width > MOST_FUNCTIONS) {
        return sn_fail(arena->context, SINEW_UNSUPPORTED,
                       "complementary dynamics with %d joints; at most %d are supported",
                       (int)def->joint_count, MOST_FUNCTIONS / 4);
    }

    double *total = SN_PUSH(arena, double, def->joint_count);
    c->middles = SN_PUSH(arena, double, 3 * (size_t)def->joint_count);
    c->factor = SN_PUSH(arena, double, c->width * c->width);
    c->shares = SN_PUSH(arena, double, c->width);
    SN_TRY(sn_arena_status(arena));

    find_middles(c, total);
    assemble(c);
    factorize(c);
    return SINEW_OK;
}

void sn_complement_project(sn_complement *c, double *vectors) {
    const sn_complement_def *def = &c->def;
    for (size_t axis = 0; axis < 3; axis++) {
        // B'M d.
        memset(c->shares, 0, c->width * sizeof *c->shares);
        for (int32_t i = 0; i < def->node_count; i++) {
            if (def->held[i]) {
                continue;
            }
            double momentum = def->masses[i] * vectors[3 * (size_t)i + axis];
            for (int32_t w = def->first_weight[i]; w < def->first_weight[i + 1]; w++) {
                double values[4];
                evaluate(c, i, w, values);
                for (size_t k = 0; k < 4; k++) {
                    c->shares[4 * (size_t)def->joints[w] + k] += momentum * values[k];
                }
            }
        }

        solve(c, c->shares);

        // d - B c.
        for (int32_t i = 0; i < def->node_count; i++) {
            if (def->held[i]) {
                continue;
            }
            for (int32_t w = def->first_weight[i]; w < def->first_weight[i + 1]; w++) {
                double values[4];
                evaluate(c, i, w, values);
                for (size_t k = 0; k < 4; k++) {
                    vectors[3 * (size_t)i + axis] -=
                        values[k] * c->shares[4 * (size_t)def->joints[w] + k];
                }
            }
        }
    }
}
