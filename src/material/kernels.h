// The kernels behind sn_material_evaluate, one for each instruction set, and the code they share.
// See material.h for the contract.
#ifndef SN_MATERIAL_KERNELS_H
#define SN_MATERIAL_KERNELS_H

#include "material/material.h"
#include "math/lanes_mat3.h"

#define SN_KERNEL_ARGUMENTS                                                                        \
    (const sn_material *material, int want, const sn_material_block *in,                           \
     const sn_material_result *out)

// Isotropic laws through the principal stretches.
SN_ISA_DECLARE(void, sn_evaluate_isotropic, SN_KERNEL_ARGUMENTS);
// Isotropic corotational without singular values: the hot one.
SN_ISA_DECLARE(void, sn_evaluate_corotational, SN_KERNEL_ARGUMENTS);
SN_ISA_DECLARE(void, sn_evaluate_corotational_pair, SN_KERNEL_ARGUMENTS);
// Isotropic with Green's strain, without singular values.
SN_ISA_DECLARE(void, sn_evaluate_green, SN_KERNEL_ARGUMENTS);
SN_ISA_DECLARE(void, sn_evaluate_green_pair, SN_KERNEL_ARGUMENTS);
// Stress linear in an infinitesimal strain, isotropic or not.
SN_ISA_DECLARE(void, sn_evaluate_linear, SN_KERNEL_ARGUMENTS);
// Anisotropic with corotational and with Green's strain.
SN_ISA_DECLARE(void, sn_evaluate_anisotropic, SN_KERNEL_ARGUMENTS);
SN_ISA_DECLARE(void, sn_evaluate_anisotropic_pair, SN_KERNEL_ARGUMENTS);
SN_ISA_DECLARE(void, sn_evaluate_anisotropic_green, SN_KERNEL_ARGUMENTS);
// Adds the term that drives stretches below a threshold back up, for laws that are defined
// everywhere (isotropic_simd.c). Returns false at once if no sample is compressed that far.
SN_ISA_DECLARE(bool, sn_add_resistance,
               (int want, const sn_material_block *in, const sn_material_result *out));
// The caller's own law, sample by sample.
void sn_evaluate_custom SN_KERNEL_ARGUMENTS;

// Whether any sample of the block has a nonzero value of a parameter.
SN_INLINE bool sn_any_parameter(const sn_material_block *in, int index) {
    const double *p = in->parameters + index * SN_BLOCK;
    sn_mask any = (sn_mask)(sn_lanes_load(p) != 0.0);
    for (int lane = SN_LANES; lane < SN_BLOCK; lane += SN_LANES) {
        any |= (sn_mask)(sn_lanes_load(p + lane) != 0.0);
    }
    return sn_any(any);
}

SN_INLINE void sn_add_lanes(double *p, sn_lanes a) {
    sn_lanes_store(p, sn_lanes_load(p) + a);
}

// Adds the volume term k/2 (J - 1)^2 of a group of lanes to the requested results; `lane` is the
// first of the group. `definite` leaves out the indefinite part of H, the second term of
//
//   P = k (J - 1) cof F,   H = k cof F cof F' + k (J - 1) dcof,   dcof_(ij)(kl) = e_ikm e_jln F_mn
SN_INLINE void sn_add_volume_group(int want, const sn_material_block *in,
                                   const sn_material_result *out, int lane, bool definite) {
    sn_lanes k = sn_lanes_load(in->parameters + SN_PARAMETER_VOLUME * SN_BLOCK + lane);
    sn_lanes3 F = sn_lanes3_load(in->F + lane);
    sn_lanes3 cofactor = sn_lanes3_cofactor(&F);
    const sn_lanes *c = &cofactor.m[0][0];
    sn_lanes excess = F.m[0][0] * c[0] + F.m[0][1] * c[1] + F.m[0][2] * c[2] - 1.0;
    sn_lanes pressure = k * excess;

    // Energy, stress and tangent.
    if (want & SN_MATERIAL_ENERGY) {
        sn_add_lanes(out->psi + lane, 0.5 * pressure * excess);
    }

    for (int a = 0; a < 9; a++) {
        if (want & SN_MATERIAL_STRESS) {
            sn_add_lanes(out->P + a * SN_BLOCK + lane, pressure * c[a]);
        }
        if (!(want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED))) {
            continue;
        }

        for (int b = a; b < 9; b++) {
            int i = a / 3;
            int j = a % 3;
            int p = b / 3;
            int q = b % 3;
            sn_lanes h = k * c[a] * c[b];

            // The indefinite part. Both permutations are even or both are odd, or the sign changes.
            if (i != p && j != q && !definite) {
                bool even = (p - i + 3) % 3 == (q - j + 3) % 3;
                sn_lanes x = pressure * F.m[3 - i - p][3 - j - q];
                h = even ? h + x : h - x;
            }

            sn_add_lanes(out->H + sn_sym9(a, b) * SN_BLOCK + lane, h);
        }
    }
}

// The same for a block.
SN_INLINE void sn_add_volume_term(int want, const sn_material_block *in,
                                  const sn_material_result *out, bool definite) {
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_add_volume_group(want, in, out, lane, definite);
    }
}

// Lanes whose H has a negative eigenvalue beyond rounding: a pivot of H + tiny I that is not
// positive.
SN_INLINE sn_mask sn_indefinite_lanes(const double *H) {
    sn_lanes A[SN_MATERIAL_H_COUNT];
    sn_lanes trace = sn_lanes_all(0);

    // A copy of H, and the scale of its diagonal.
    for (int i = 0; i < SN_MATERIAL_H_COUNT; i++) {
        A[i] = sn_lanes_load(H + i * SN_BLOCK);
    }

    for (int i = 0; i < 9; i++) {
        trace += sn_lanes_abs(A[sn_sym9(i, i)]);
    }

    // L D L' without pivoting; every pivot must be positive.
    sn_mask bad = {0};
    for (int j = 0; j < 9; j++) {
        sn_lanes pivot = A[sn_sym9(j, j)] + 1e-12 * trace;
        bad |= (sn_mask) ~(pivot > 0.0);
        sn_lanes inverse = 1.0 / pivot;

        for (int i = j + 1; i < 9; i++) {
            sn_lanes factor = A[sn_sym9(j, i)] * inverse;
            for (int k = i; k < 9; k++) {
                A[sn_sym9(i, k)] -= factor * A[sn_sym9(j, k)];
            }
        }
    }

    return bad;
}

// Projects a sum of terms: where the sum is indefinite, it is replaced by the sum of the definite
// parts of the terms.
SN_INLINE bool sn_find_indefinite(sn_mask bad[SN_GROUPS], const double *H) {
    bool any = false;
    for (int g = 0; g < SN_GROUPS; g++) {
        bad[g] = sn_indefinite_lanes(H + g * SN_LANES);
        any |= sn_any(bad[g]) != 0;
    }
    return any;
}

SN_INLINE void sn_replace_indefinite(double *H, const double *definite,
                                     const sn_mask bad[SN_GROUPS]) {
    for (int g = 0; g < SN_GROUPS; g++) {
        for (int i = 0; i < SN_MATERIAL_H_COUNT; i++) {
            int place = i * SN_BLOCK + g * SN_LANES;
            sn_lanes_store(H + place, sn_select(bad[g], sn_lanes_load(definite + place),
                                                sn_lanes_load(H + place)));
        }
    }
}

// Adds the fibre tension T/2 (|F a|^2 - 1) of a group of lanes to the requested results.
SN_INLINE void sn_add_fibre_group(int want, const sn_material_block *in,
                                  const sn_material_result *out, int lane) {
    const double *parameters = in->parameters + lane;
    sn_lanes T = sn_lanes_load(parameters + SN_PARAMETER_FIBRE_STRESS * SN_BLOCK);
    sn_lanes3 F = sn_lanes3_load(in->F + lane);
    sn_lanes a[3], Fa[3];

    // The fibre direction and its image.
    for (int i = 0; i < 3; i++) {
        a[i] = sn_lanes_load(parameters + (SN_PARAMETER_FIBRE_X + i) * SN_BLOCK);
    }

    for (int i = 0; i < 3; i++) {
        Fa[i] = F.m[i][0] * a[0] + F.m[i][1] * a[1] + F.m[i][2] * a[2];
    }

    if (want & SN_MATERIAL_ENERGY) {
        sn_lanes square = Fa[0] * Fa[0] + Fa[1] * Fa[1] + Fa[2] * Fa[2];
        sn_add_lanes(out->psi + lane, 0.5 * T * (square - 1.0));
    }

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            if (want & SN_MATERIAL_STRESS) {
                sn_add_lanes(out->P + (3 * i + j) * SN_BLOCK + lane, T * Fa[i] * a[j]);
            }
            if (!(want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED))) {
                continue;
            }

            for (int l = j; l < 3; l++) {
                sn_add_lanes(out->H + sn_sym9(3 * i + j, 3 * i + l) * SN_BLOCK + lane,
                             T * a[j] * a[l]);
            }
        }
    }
}

// The same for a block, as the last step of every kernel. The term is convex in F, so it may be
// added after the projection.
SN_INLINE void sn_add_fibre(int want, const sn_material_block *in, const sn_material_result *out) {
    if (!sn_any_parameter(in, SN_PARAMETER_FIBRE_STRESS)) {
        return;
    }
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_add_fibre_group(want, in, out, lane);
    }
}

#endif
