// The curvature of the path of a dual quaternion blended point: f . d2x in the rows (w, t) of its
// nodes.
//
// With the world's origin at the point and everything multiplied by b0^-1 from the right
// (dualquat.h), x = vec(E B*) / |B|^2 where B = sum w_i p_i = 1 and E = sum w_i y_i p_i = 2 s. Node
// i that rotates by exp(e w) and moves by e v has, to second order,
//
//   p'    = w p / 2,                       p''    = -|w|^2 p / 4
//   (y p)' = (w r p + t w p) / 2 + v p,    (y p)'' = -|w|^2 y p / 4 + v w p,    y = r + t
//
// and since N = f . vec(E B*) = <E, f B> is 0 up to f . x = 0, the quotient's second derivative is
// N'' - 2 N' (|B|^2)'.
#include "frame/blend/dualquat.h"

// First derivatives of E and B along the six directions of a node: w_x .. w_z, v_x .. v_z; and of
// |B|^2 / 2 and N.
typedef struct directions {
    sn_quat E[6], B[6];
    double norm[6], product[6];
} directions;

static sn_quat pure(sn_vec3 v) {
    return (sn_quat){v.x, v.y, v.z, 0};
}

static sn_vec3 axis(int k) {
    return sn_v3(k == 0, k == 1, k == 2);
}

static directions find_directions(const sn_dual_point *point, const sn_dual_input *input, int32_t k,
                                  sn_vec3 f) {
    directions out;
    sn_quat p;
    sn_quat force = pure(f);
    sn_vec3 y, t;

    sn_dual_get_entry(&p, &y, &t, point, input, k);
    double w = input->weight[k];
    sn_quat rp = sn_quat_mul(pure(sn_sub(y, t)), p);

    // Unit rotations, then unit translations: derivatives B of the real sum and E of the dual one.
    for (int d = 0; d < 6; d++) {
        sn_quat e = pure(axis(d % 3));
        sn_quat ep = sn_quat_mul(e, p);
        if (d < 3) {
            out.B[d] = sn_quat_scale(0.5 * w, ep);
            out.E[d] =
                sn_quat_scale(0.5 * w, sn_quat_add(sn_quat_mul(e, rp), sn_quat_mul(pure(t), ep)));
        } else {
            out.B[d] = (sn_quat){0, 0, 0, 0};
            out.E[d] = sn_quat_scale(w, ep);
        }

        // Derivatives of |b| and of the work of f.
        out.norm[d] = out.B[d].w;
        out.product[d] =
            sn_quat_dot(out.E[d], force) + 2 * point->s * sn_quat_mul(force, out.B[d]).w;
    }

    return out;
}

// Adds the contribution of two nodes, or of one with itself, through their first derivatives.
static void add_pair(sn_mat3 *blocks, int32_t stride, const directions *i, const directions *j,
                     sn_vec3 f) {
    for (int a = 0; a < 6; a++) {
        for (int b = 0; b < 6; b++) {
            double value = sn_quat_dot(i->E[a], sn_quat_mul(pure(f), j->B[b])) +
                           sn_quat_dot(j->E[b], sn_quat_mul(pure(f), i->B[a])) -
                           2 * (i->norm[a] * j->product[b] + j->norm[b] * i->product[a]);
            blocks[(size_t)(a / 3) * (size_t)stride + (size_t)(b / 3)].m[a % 3][b % 3] += value;
        }
    }
}

// Adds the contribution of a node's own second derivatives.
static void add_own(sn_mat3 *blocks, int32_t stride, const sn_dual_point *point,
                    const sn_dual_input *input, int32_t k, sn_vec3 f) {
    sn_quat p;
    sn_quat force = pure(f);
    sn_vec3 y, t;

    sn_dual_get_entry(&p, &y, &t, point, input, k);
    double w = input->weight[k];
    double turning =
        sn_quat_dot(sn_quat_mul(pure(y), p), force) + 2 * point->s * sn_quat_mul(force, p).w;

    for (int a = 0; a < 3; a++) {
        blocks[0].m[a][a] -= 0.25 * w * turning;
        for (int b = 0; b < 3; b++) { // v along a, w along b
            sn_quat both = sn_quat_mul(sn_quat_mul(pure(axis(a)), pure(axis(b))), p);

            double value = 0.5 * w * sn_quat_dot(both, force);
            blocks[stride].m[a][b] += value;
            blocks[1].m[b][a] += value;
        }
    }
}

void sn_dual_add_curvature(sn_mat3 *blocks, const sn_dual_point *point, const sn_dual_input *input,
                           sn_vec3 f) {
    int32_t stride = 2 * input->count;
    for (int32_t i = 0; i < input->count; i++) {
        directions row = find_directions(point, input, i, f);
        for (int32_t j = 0; j < input->count; j++) {
            directions column = find_directions(point, input, j, f);
            add_pair(blocks + (size_t)(2 * i) * (size_t)stride + 2 * j, stride, &row, &column, f);
        }
        add_own(blocks + (size_t)(2 * i) * (size_t)stride + 2 * i, stride, point, input, i, f);
    }
}
