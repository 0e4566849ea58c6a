// The deformation gradients of samples of rigid nodes, in lanes: F of linear blending and of dual
// quaternions. The formulas are in the head of rigid_simd.c.
#include "frame/blend/rigid_lanes.h"

// Writes p and the point that each node carries (relative to the first one's) into the workspace;
// returns sum w x p.
SN_INLINE sn_lanes_quat sum_points(const lane_view *v, const double *table, double *node,
                                   sn_lanes_quat b, sn_lanes inverse, sn_lanes_vec *reference) {
    sn_lanes_quat sum = {{0}, {0}, {0}, {0}};
    for (int32_t c = 0; c < v->width; c++, node += NODE_VALUES * SN_BLOCK) {
        const int32_t *index = v->node + c * SN_BLOCK;
        sn_lanes w = inverse * sn_lanes_load(v->weight + 4 * c * SN_BLOCK);
        sn_lanes_vec x = sn_lanes_add3(take_arm(table, index, v->uniform, v->position),
                                       take_vec(table, index, v->uniform, SN_RIGID_TRANSLATION));

        if (c == 0) {
            *reference = x;
        }

        x = sn_lanes_sub3(x, *reference);
        sn_lanes_quat p = sn_lanes_quat_mul_conjugate(take_quat(table, index, v->uniform), b);

        sum = sn_lanes_quat_madd(sum, w, sn_lanes_quat_mul_vec(x, p));
        sn_lanes_quat_store(node, sn_lanes_quat_scale(inverse, p));
        sn_lanes_store3(node + 4 * SN_BLOCK, x);
    }

    return sum;
}

// The sums over the nodes that F and its derivative need: P_k and Q_k.
SN_INLINE void sum_gradients(const lane_view *v, const double *table, double *node, sn_lanes_quat x,
                             sn_lanes_vec reference, sn_lanes_quat P[3], sn_lanes_quat Q[3]) {
    sn_lanes s = 0.5 * x.w;
    for (int32_t c = 0; c < v->width; c++, node += NODE_VALUES * SN_BLOCK) {
        sn_lanes_quat p = sn_lanes_quat_load(node);
        sn_lanes_vec y =
            sn_lanes_sub3(sn_lanes_load3(node + 4 * SN_BLOCK), (sn_lanes_vec){x.x, x.y, x.z});
        sn_lanes_vec t = take_vec(table, v->node + c * SN_BLOCK, v->uniform, SN_RIGID_TRANSLATION);
        sn_lanes_vec d = sn_lanes_add3(sn_lanes_sub3(reference, t), (sn_lanes_vec){x.x, x.y, x.z});
        sn_lanes_quat q = sn_lanes_quat_mul_vec(y, p);

        q = sn_lanes_quat_madd(sn_lanes_quat_scale(sn_lanes_all(0.5), q), -s, p);
        for (int k = 0; k < 3; k++) {
            sn_lanes dw = sn_lanes_load(v->weight + (4 * c + 1 + k) * SN_BLOCK);
            P[k] = sn_lanes_quat_madd(P[k], dw, p);
            Q[k] = sn_lanes_quat_madd(Q[k], dw, q);
        }

        sn_lanes_quat_store(node + 4 * SN_BLOCK, q);
        sn_lanes_store3(node + 8 * SN_BLOCK, d);
    }
}

SN_INLINE sn_lanes_vec rotation_column(sn_lanes_quat q, sn_lanes inverse, int k) {
    sn_lanes x = q.x;
    sn_lanes y = q.y;
    sn_lanes z = q.z;
    sn_lanes w = q.w;
    sn_lanes two = 2.0 * inverse;
    sn_lanes one = sn_lanes_all(1);

    if (k == 0) {
        return (sn_lanes_vec){one - two * (y * y + z * z), two * (x * y + z * w),
                              two * (x * z - y * w)};
    }

    if (k == 1) {
        return (sn_lanes_vec){two * (x * y - z * w), one - two * (x * x + z * z),
                              two * (y * z + x * w)};
    }

    return (sn_lanes_vec){two * (x * z + y * w), two * (y * z - x * w),
                          one - two * (x * x + y * y)};
}

void SN_ISA_NAME(sn_dual_compute_F)(double *F, const sn_rigid_group *group, int32_t block,
                                    const double *table, double *sample_work) {
    work_places places = find_sample_places(sample_work);
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        lane_view v = view_lanes(group, block, lane);
        sn_lanes_quat b = {{0}, {0}, {0}, {0}};
        for (int32_t c = 0; c < v.width; c++) {
            b = sn_lanes_quat_madd(b, sn_lanes_load(v.weight + 4 * c * SN_BLOCK),
                                   take_quat(table, v.node + c * SN_BLOCK, v.uniform));
        }

        // A blend that vanishes stays finite; sn_frame_body's check reports it.
        sn_lanes square = sn_lanes_max(sn_lanes_quat_dot(b, b), sn_lanes_all(1e-24));
        sn_lanes inverse = 1.0 / square;
        sn_lanes_vec reference = {{0}, {0}, {0}};
        sn_lanes_quat x = sum_points(&v, table, places.node + lane, b, inverse, &reference);
        sn_lanes_quat P[3] = {{{0}, {0}, {0}, {0}}};
        sn_lanes_quat Q[3] = {{{0}, {0}, {0}, {0}}};

        sum_gradients(&v, table, places.node + lane, x, reference, P, Q);
        double *sample = places.sample + lane;
        for (int k = 0; k < 3; k++) {
            sn_lanes_vec R = rotation_column(b, inverse, k);
            sn_lanes_quat_store(sample + 4 * k * SN_BLOCK, P[k]);
            sn_lanes_store(sample + (12 + k) * SN_BLOCK, Q[k].w);
            sn_lanes_store3(sample + (15 + 3 * k) * SN_BLOCK, R);
            sn_lanes_store(F + (0 + k) * SN_BLOCK + lane, R.x + 2.0 * Q[k].x);
            sn_lanes_store(F + (3 + k) * SN_BLOCK + lane, R.y + 2.0 * Q[k].y);
            sn_lanes_store(F + (6 + k) * SN_BLOCK + lane, R.z + 2.0 * Q[k].z);
        }
    }
}

void SN_ISA_NAME(sn_linear_compute_F)(double *F, const sn_rigid_group *group, int32_t block,
                                      const double *table, double *sample_work) {
    work_places places = find_sample_places(sample_work);
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        lane_view v = view_lanes(group, block, lane);
        sn_lanes sum[9] = {{0}};
        double *node = places.node + lane;
        sn_lanes_vec first = {{0}, {0}, {0}};

        for (int32_t c = 0; c < v.width; c++, node += NODE_VALUES * SN_BLOCK) {
            const int32_t *index = v.node + c * SN_BLOCK;
            sn_lanes_vec arm = take_arm(table, index, v.uniform, v.position);

            // The gradients sum to zero, so positions may be taken from any point: the first node's
            // keeps rounding small.
            sn_lanes_vec t = take_vec(table, index, v.uniform, SN_RIGID_TRANSLATION);
            if (c == 0) {
                first = t;
            }

            sn_lanes_vec x = sn_lanes_add3(arm, sn_lanes_sub3(t, first));
            sn_lanes w = sn_lanes_load(v.weight + 4 * c * SN_BLOCK);

            sn_lanes_store3(node, arm);
            for (int k = 0; k < 3; k++) {
                sn_lanes dw = sn_lanes_load(v.weight + (4 * c + 1 + k) * SN_BLOCK);
                sum[0 + k] +=
                    dw * x.x + w * take(table, index, v.uniform, SN_RIGID_ROTATION + 0 + k);
                sum[3 + k] +=
                    dw * x.y + w * take(table, index, v.uniform, SN_RIGID_ROTATION + 3 + k);
                sum[6 + k] +=
                    dw * x.z + w * take(table, index, v.uniform, SN_RIGID_ROTATION + 6 + k);
            }
        }

        for (int i = 0; i < 9; i++) {
            sn_lanes_store(F + i * SN_BLOCK + lane, sum[i]);
        }
    }
}
