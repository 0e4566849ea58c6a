// Dual quaternion blending, one point at a time: for queries, forces at points and surfaces, and as
// the reference for the lanes of rigid_simd.c. The formulas are in dualquat.h. Cost: linear in the
// nodes of the point.
#include "frame/blend/dualquat.h"

// A lower bound of |b0|^2, which keeps everything finite where the blend vanishes.
static const double smallest_square = 1e-24;

static const double *node_of(const sn_dual_input *input, int32_t k) {
    return input->table + (size_t)input->node[k] * SN_RIGID_TABLE;
}

static sn_quat real_part(const sn_dual_input *input, int32_t k) {
    const double *a = node_of(input, k) + SN_RIGID_QUAT;
    return (sn_quat){a[0], a[1], a[2], a[3]};
}

static sn_vec3 vec(sn_quat q) {
    return sn_v3(q.x, q.y, q.z);
}

static sn_quat sum_of_real_parts(const sn_dual_input *input) {
    sn_quat b = {0, 0, 0, 0};
    for (int32_t k = 0; k < input->count; k++) {
        b = sn_quat_add(b, sn_quat_scale(input->weight[k], real_part(input, k)));
    }
    return b;
}

double sn_dual_strength(const sn_dual_input *input) {
    sn_quat b = sum_of_real_parts(input);
    double sum = 0;

    // The two largest weights.
    int32_t first = 0, second = -1; // the two strongest

    for (int32_t k = 0; k < input->count; k++) {
        double w = fabs(input->weight[k]);
        sum += w;
        if (k == 0) {
            continue;
        }

        if (w > fabs(input->weight[first])) {
            second = first;
            first = k;
        } else if (second < 0 || w > fabs(input->weight[second])) {
            second = k;
        }
    }

    // Two nodes that dominate may cancel somewhere between them, even if they do not here.
    if (second >= 0 && fabs(input->weight[second]) > 0.1 * sum) {
        double both = fabs(input->weight[first]) + fabs(input->weight[second]);
        double cosine = sn_quat_dot(real_part(input, first),
                                    real_part(input, second)); // of half the angle between them
        double least = sqrt(fmax(0, 0.5 + 0.5 * cosine));      // |b0| at equal weights

        if (both > 0.9 * sum && least < sn_dual_least_strength) {
            return 0;
        }
    }

    return sqrt(sn_quat_dot(b, b)) / sum;
}

static sn_vec3 translation(const sn_dual_input *input, int32_t k) {
    return sn_load3(node_of(input, k) + SN_RIGID_TRANSLATION);
}

// The point as node k alone carries it.
static sn_vec3 carried(const sn_dual_input *input, int32_t k) {
    const double *node = node_of(input, k);
    const double *R = node + SN_RIGID_ROTATION;
    sn_vec3 d = sn_sub(input->X, sn_load3(node + SN_RIGID_ORIGIN));
    sn_vec3 arm =
        sn_v3(sn_dot(sn_load3(R), d), sn_dot(sn_load3(R + 3), d), sn_dot(sn_load3(R + 6), d));
    return sn_add(arm, translation(input, k));
}

static sn_quat p_of(const sn_dual_point *point, const sn_dual_input *input, int32_t k) {
    return sn_quat_scale(point->inverse,
                         sn_quat_mul(real_part(input, k), sn_quat_conjugate(point->turn)));
}

// The quaternion product a p of a vector a.
static sn_quat vector_times(sn_vec3 a, sn_quat p) {
    return sn_quat_mul((sn_quat){a.x, a.y, a.z, 0}, p);
}

static sn_quat q_of(const sn_dual_point *point, const sn_dual_input *input, int32_t k, sn_quat p) {
    sn_quat r = vector_times(sn_scale(0.5, sn_sub(carried(input, k), point->x)), p);
    return sn_quat_add(r, sn_quat_scale(-point->s, p));
}

static sn_vec3 gradient_of(const sn_dual_input *input, int32_t k) {
    return sn_load3(input->gradient + 3 * k);
}

void sn_dual_evaluate(sn_dual_point *point, const sn_dual_input *input) {
    SN_ASSERT(input->count > 0);

    // The blended rotation b / |b|.
    sn_quat b = sum_of_real_parts(input);

    *point = (sn_dual_point){.inverse = 1 / sqrt(fmax(sn_quat_dot(b, b), smallest_square))};
    point->turn = sn_quat_scale(point->inverse, b);

    // Positions relative to what node 0 alone would give, for accuracy far from the origin.
    sn_vec3 reference = carried(input, 0);
    sn_vec3 x = {0, 0, 0};
    double scalar = 0; // of sum w x p

    for (int32_t k = 0; k < input->count; k++) {
        sn_quat r = vector_times(sn_sub(carried(input, k), reference), p_of(point, input, k));
        x = sn_madd(x, input->weight[k], vec(r));
        scalar += input->weight[k] * r.w;
    }

    point->x = sn_add(reference, x);
    point->s = 0.5 * scalar; // moving the origin by x changes it by x . sum w vec(p) = 0

    // F = R + 2 sum vec(q_k) grad w_k'
    point->F = sn_quat_to_mat3(point->turn);

    if (input->gradient) {
        for (int32_t k = 0; k < input->count; k++) {
            sn_quat q = q_of(point, input, k, p_of(point, input, k));
            point->F = sn_mat3_add(point->F, sn_outer(sn_scale(2, vec(q)), gradient_of(input, k)));
        }
    }
}

// w (q_s I - [q]x): the effect of multiplication by q from the right on a vector.
static sn_mat3 times_matrix(double w, sn_quat q) {
    return sn_mat3_sub(sn_mat3_scale(w * q.w, sn_mat3_identity()),
                       sn_mat3_scale(w, sn_cross_matrix(vec(q))));
}

void sn_dual_jacobian(sn_mat3 *J_w, sn_mat3 *J_t, const sn_dual_point *point,
                      const sn_dual_input *input, int32_t k) {
    sn_quat p = p_of(point, input, k);
    sn_vec3 d = sn_sub(point->x, translation(input, k));
    *J_t = times_matrix(input->weight[k], p);
    // The velocity of the node's copy of x is t + w x d.
    *J_w = sn_mat3_sub(times_matrix(input->weight[k], q_of(point, input, k, p)),
                       sn_mat3_mul(*J_t, sn_cross_matrix(d)));
}

void sn_dual_get_entry(sn_quat *p, sn_vec3 *y, sn_vec3 *t, const sn_dual_point *point,
                       const sn_dual_input *input, int32_t k) {
    *p = p_of(point, input, k);
    *y = sn_sub(carried(input, k), point->x);
    *t = sn_sub(translation(input, k), point->x);
}

// Sums over the nodes for the product rule of F: b0 and c = sum w q change by b and c, their
// gradients P_k, Q_k by W and Z.
typedef struct rate_sums {
    sn_quat b, c, P[3], Q[3], W[3], Z[3];
} rate_sums;

static void add_to(sn_quat *sum, double s, sn_quat q) {
    *sum = sn_quat_add(*sum, sn_quat_scale(s, q));
}

static rate_sums sum_rates(const sn_dual_point *point, const sn_dual_input *input,
                           const sn_nodes *nodes, const double *v) {
    rate_sums sums = {.b = {0, 0, 0, 0}};
    for (int32_t k = 0; k < input->count; k++) {
        const double *rates = v + 3 * nodes->items[input->node[k]].row;
        sn_quat p = p_of(point, input, k);
        sn_quat q = q_of(point, input, k, p);
        sn_vec3 w = sn_load3(rates);
        sn_vec3 d = sn_sub(point->x, translation(input, k));
        sn_vec3 u = sn_add(sn_load3(rates + 3), sn_cross(w, d));

        // p' = w p / 2 and q' = (w q + u p) / 2, with u the velocity that the node gives the point.
        sn_quat dp = sn_quat_scale(0.5, vector_times(w, p));
        sn_quat dq = sn_quat_scale(0.5, sn_quat_add(vector_times(w, q), vector_times(u, p)));

        add_to(&sums.b, input->weight[k], dp);
        add_to(&sums.c, input->weight[k], dq);
        if (input->gradient) {
            for (int e = 0; e < 3; e++) {
                double slope = input->gradient[3 * k + e];
                add_to(&sums.P[e], slope, p);
                add_to(&sums.Q[e], slope, q);
                add_to(&sums.W[e], slope, dp);
                add_to(&sums.Z[e], slope, dq);
            }
        }
    }

    return sums;
}

void sn_dual_rates(sn_vec3 *rate, sn_mat3 *F_rate, const sn_dual_point *point,
                   const sn_dual_input *input, const sn_nodes *nodes, const double *v) {
    rate_sums sums = sum_rates(point, input, nodes, v);
    *rate = sn_scale(2, vec(sums.c));

    sn_mat3 R = sn_quat_to_mat3(point->turn);
    sn_vec3 columns[3];
    for (int k = 0; k < 3; k++) {
        // dF e_k = 2 vec(dQ_k + b R_k / 2 + Q_k b* + c P_k*) - 4 vec(c) P_k,s - 2 b_s F_k, with
        // R_k / 2 counted to Q_k
        sn_vec3 R_k = sn_mat3_column(R, k);
        sn_vec3 F_k = sn_mat3_column(point->F, k);
        sn_quat Q = {0.5 * F_k.x, 0.5 * F_k.y, 0.5 * F_k.z, sums.Q[k].w};
        sn_quat sum = sn_quat_add(
            sums.Z[k], sn_quat_scale(0.5, sn_quat_mul(sums.b, (sn_quat){R_k.x, R_k.y, R_k.z, 0})));

        sum = sn_quat_add(sum, sn_quat_mul(Q, sn_quat_conjugate(sums.b)));
        sum = sn_quat_add(sum, sn_quat_mul(sums.c, sn_quat_conjugate(sums.P[k])));
        columns[k] = sn_madd(sn_scale(2, vec(sum)), -4 * sums.P[k].w, vec(sums.c));
        columns[k] = sn_madd(columns[k], -2 * sums.b.w, F_k);
    }

    *F_rate = sn_mat3_columns(columns[0], columns[1], columns[2]);
}
