// Points of a surface that frames carry, one point at a time, four numbers at a time.
//
// Every node is a map of the rest point. The maps of a point's nodes are blended before they are
// applied. Linear blending: x = m0 + X m1 + Y m2 + Z m3 (four padded columns). Dual quaternions:
// rotation q and r = T q / 2, T being the translation of the map; with b = sum w q and c = sum w r,
//
//   x = R(b) X + 2 vec(c b*) / |b|^2
//
// Maps of higher degree have more columns than a blend of them would save: they are applied first,
// x = sum w (sum_c f_c m_c), f being the functions of the point.
//
// Cost: 16 or 8 multiply-adds for each node of a point, and about 20 or 40 for the point; 40 or 64
// for each node with quadratic or compliant maps. Checked
// by: tests/frame/blend/test_surface.c, against the points one by one.
#include "frame/blend/surface.h"

#include "math/quad.h"
#include "math/quat.h"

void SN_ISA_NAME(sn_surface_linear)(double *x, const sn_surface_points *points, const double *maps,
                                    int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        sn_quad m[4] = {sn_quad_all(0), sn_quad_all(0), sn_quad_all(0), sn_quad_all(0)};
        for (int32_t k = points->start[i]; k < points->start[i + 1]; k++) {
            const double *map = maps + (size_t)points->node[k] * SN_SURFACE_LINEAR;
            sn_quad w = sn_quad_all(points->weight[k]);
            for (int c = 0; c < 4; c++) {
                m[c] = sn_quad_fma(w, sn_quad_load(map + 4 * c), m[c]);
            }
        }

        const double *X = sn_at3(points->rest, i);
        sn_quad at = m[0];
        for (int c = 0; c < 3; c++) {
            at = sn_quad_fma(sn_quad_all(X[c]), m[1 + c], at);
        }

        sn_quad_store3(sn_at3(x, i), at);
    }
}

// x = sum w (sum_c f_c m_c) of point i, with `count` columns in each map.
SN_INLINE void blend_columns(double *x, const sn_surface_points *points, const double *maps,
                             int32_t i, const double *f, int count) {
    sn_quad sum = sn_quad_all(0);
    for (int32_t k = points->start[i]; k < points->start[i + 1]; k++) {
        const double *map = maps + (size_t)points->node[k] * 4 * (size_t)count;
        sn_quad even = sn_quad_load(map);
        sn_quad odd = sn_quad_all(0);
        for (int c = 1; c + 1 < count; c += 2) {
            odd = sn_quad_fma(sn_quad_all(f[c]), sn_quad_load(map + 4 * c), odd);
            even = sn_quad_fma(sn_quad_all(f[c + 1]), sn_quad_load(map + 4 * (c + 1)), even);
        }

        // The number of columns is even: one is left.
        odd = sn_quad_fma(sn_quad_all(f[count - 1]), sn_quad_load(map + 4 * (count - 1)), odd);
        sum = sn_quad_fma(sn_quad_all(points->weight[k]), sn_quad_add(even, odd), sum);
    }
    sn_quad_store3(sn_at3(x, i), sum);
}

void SN_ISA_NAME(sn_surface_quadratic)(double *x, const sn_surface_points *points,
                                       const double *maps, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        sn_vec3 d = sn_sub(sn_load3(sn_at3(points->rest, i)), sn_load3(points->center));
        const double f[10] = {1,         d.x,       d.y,       d.z,       d.x * d.x,
                              d.y * d.y, d.z * d.z, d.x * d.y, d.y * d.z, d.z * d.x};
        blend_columns(x, points, maps, i, f, 10);
    }
}

void SN_ISA_NAME(sn_surface_compliant)(double *x, const sn_surface_points *points,
                                       const double *maps, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        sn_vec3 d = sn_sub(sn_load3(sn_at3(points->rest, i)), sn_load3(points->center));
        const double *c = sn_at3(points->compliance, i);
        double f[16] = {1, d.x, d.y, d.z, c[0], c[1], c[2]};
        for (int a = 0; a < 3; a++) {
            f[7 + 3 * a] = c[a] * d.x;
            f[8 + 3 * a] = c[a] * d.y;
            f[9 + 3 * a] = c[a] * d.z;
        }
        blend_columns(x, points, maps, i, f, 16);
    }
}

void SN_ISA_NAME(sn_surface_dual)(double *x, const sn_surface_points *points, const double *maps,
                                  int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        sn_quad m[2] = {sn_quad_all(0), sn_quad_all(0)};
        for (int32_t k = points->start[i]; k < points->start[i + 1]; k++) {
            const double *map = maps + (size_t)points->node[k] * SN_SURFACE_DUAL;
            sn_quad w = sn_quad_all(points->weight[k]);
            for (int c = 0; c < 2; c++) {
                m[c] = sn_quad_fma(w, sn_quad_load(map + 4 * c), m[c]);
            }
        }

        double q[8] SN_ALIGNED;
        sn_quad_store(q, m[0]);
        sn_quad_store(q + 4, m[1]);

        sn_vec3 b = {q[0], q[1], q[2]};
        sn_vec3 c = {q[4], q[5], q[6]};
        sn_vec3 X = sn_load3(sn_at3(points->rest, i));
        double square = sn_dot(b, b) + q[3] * q[3];

        // A blend that vanishes stays finite, as at samples.
        double two = 2 / (square > 1e-24 ? square : 1e-24);

        // R X = X + 2 (s (b x X) + b x (b x X)) / |b|^2, and vec(c b*) = s c - c_s b + b x c
        sn_vec3 turned = sn_madd(sn_cross(b, sn_cross(b, X)), q[3], sn_cross(b, X));
        sn_vec3 moved = sn_add(sn_sub(sn_scale(q[3], c), sn_scale(q[7], b)), sn_cross(b, c));

        sn_store3(sn_at3(x, i), sn_madd(X, two, sn_add(turned, moved)));
    }
}
