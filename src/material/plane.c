// Plane stress. Input: F with F13 = F23 = F31 = F32 = 0 and any F33. Output: psi, P and H of the
// solid whose thickness stretch F33 makes P33 vanish, as functions of the in-plane F.
//
//   P33(F33) = 0 by Newton's method, safeguarded by a bracket;   H_ab <- H_ab - H_a3 H_3b / H_33
//
// Since psi is stationary in F33 there, the in-plane P is the gradient of the condensed energy and
// the condensed H its derivative. Entries of out-of-plane directions, other than the shears of the
// plane against the third axis, become 0. Each evaluation starts from the guess 1/(F11 F22 - F12
// F21), which preserves the volume, so the result depends on the state alone.
//
// Cost: about five evaluations of the law. Checked by: tests/material/test_plane.c.
#include "material/plane.h"

#include "math/simd.h"

#include <string.h>

enum { THICKNESS = 8 }; // index of F33 in F

typedef struct search {
    double low, high; // P33 < 0 at low, > 0 at high
} search;

// One step towards P33 = 0 in one lane, and whether the lane is done.
static bool improve(double *thickness, search *bracket, double stress, double slope, double scale) {
    double f = *thickness;
    if (!(fabs(stress) > 1e-14 * scale)) {
        return true;
    }

    // The sign of P33 narrows the bracket.
    if (stress < 0) {
        bracket->low = f;
    } else {
        bracket->high = f;
    }

    // Newton step.
    double next = slope > 0 ? f - stress / slope : NAN;

    // Outside the bracket, or uphill: bisect, geometrically while the bracket spans orders of
    // magnitude.
    if (!(next > bracket->low && next < bracket->high)) {
        next = isfinite(bracket->high) ? sqrt(bracket->low * bracket->high) : 2 * f;
    }

    *thickness = next;
    return fabs(next - f) <= 4e-16 * fabs(next);
}

static void solve_thickness(const sn_material *material, double *F, const double *parameters) {
    double P[9 * SN_BLOCK] SN_ALIGNED, H[SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;
    const double *P33 = P + THICKNESS * SN_BLOCK;
    const double *H33 = H + sn_sym9(THICKNESS, THICKNESS) * SN_BLOCK;
    search brackets[SN_BLOCK];

    // Start from the thickness that preserves the volume.
    for (int lane = 0; lane < SN_BLOCK; lane++) {
        double area =
            F[lane] * F[4 * SN_BLOCK + lane] - F[SN_BLOCK + lane] * F[3 * SN_BLOCK + lane];
        F[THICKNESS * SN_BLOCK + lane] = fmin(fmax(1 / fmax(area, 0.1), 0.1), 10);
        brackets[lane] = (search){1e-6, INFINITY};
    }

    // All lanes iterate until the last one is done.
    for (int iteration = 0; iteration < 60; iteration++) {
        material->kernel(material, SN_MATERIAL_STRESS | SN_MATERIAL_STIFFNESS,
                         &(sn_material_block){F, parameters},
                         &(sn_material_result){.P = P, .H = H});

        bool done = true;
        for (int lane = 0; lane < SN_BLOCK; lane++) {
            double *thickness = F + THICKNESS * SN_BLOCK + lane;
            done &= improve(thickness, &brackets[lane], P33[lane], H33[lane],
                            fabs(H33[lane] * *thickness));
        }

        if (done) {
            break;
        }
    }
}

static void condense(double *H) {
    const double *H33 = H + sn_sym9(THICKNESS, THICKNESS) * SN_BLOCK;

    // H_ab - H_a3 H_3b / H_33
    for (int a = 0; a < THICKNESS; a++) {
        for (int b = a; b < THICKNESS; b++) {
            const double *a3 = H + sn_sym9(a, THICKNESS) * SN_BLOCK;
            const double *b3 = H + sn_sym9(b, THICKNESS) * SN_BLOCK;
            double *entry = H + sn_sym9(a, b) * SN_BLOCK;

            for (int lane = 0; lane < SN_BLOCK; lane++) {
                if (H33[lane] > 0) {
                    entry[lane] -= a3[lane] * b3[lane] / H33[lane];
                }
            }
        }
    }

    // The out-of-plane entries vanish.
    for (int a = 0; a < 9; a++) {
        memset(H + sn_sym9(a, THICKNESS) * SN_BLOCK, 0, SN_BLOCK * sizeof *H);
    }
}

void sn_evaluate_plane_stress(const sn_material *material, int want, const sn_material_block *in,
                              const sn_material_result *out) {
    double F[9 * SN_BLOCK] SN_ALIGNED;
    memcpy(F, in->F, sizeof F);
    solve_thickness(material, F, in->parameters);
    material->kernel(material, want, &(sn_material_block){F, in->parameters}, out);

    if (want & SN_MATERIAL_STRESS) {
        memset(out->P + THICKNESS * SN_BLOCK, 0, SN_BLOCK * sizeof *out->P);
    }
    if (want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED)) {
        condense(out->H);
    }
}
