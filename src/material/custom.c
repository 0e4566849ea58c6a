// The caller's own law, evaluated sample by sample; projection clamps the eigenvalues of the 9x9
// tangents.
#include "material/kernels.h"

#include "math/dense.h"

static void clamp_tangents(double *H) {
    for (int lane = 0; lane < SN_BLOCK; lane++) {
        double full[81];
        for (int a = 0; a < 9; a++) {
            for (int b = a; b < 9; b++) {
                full[9 * a + b] = H[sn_sym9(a, b) * SN_BLOCK + lane];
            }
        }

        if (!sn_clamp_semidefinite(full, 9)) {
            continue;
        }

        for (int a = 0; a < 9; a++) {
            for (int b = a; b < 9; b++) {
                H[sn_sym9(a, b) * SN_BLOCK + lane] = full[9 * a + b];
            }
        }
    }
}

void sn_evaluate_custom(const sn_material *material, int want, const sn_material_block *in,
                        const sn_material_result *out) {
    bool tangent = (want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED)) != 0;
    for (int lane = 0; lane < SN_BLOCK; lane++) {
        double F[9], frame[9], psi = 0, P[9] = {0}, H[81] = {0};
        for (int i = 0; i < 9; i++) {
            F[i] = in->F[i * SN_BLOCK + lane];
            frame[i] = in->parameters[(SN_PARAMETER_LAW + i) * SN_BLOCK + lane];
        }

        // The law sees one sample as plain matrices.
        material->custom.evaluate(material->custom.user, F, frame,
                                  want & SN_MATERIAL_ENERGY ? &psi : NULL,
                                  want & SN_MATERIAL_STRESS ? P : NULL, tangent ? H : NULL);
        if (want & SN_MATERIAL_ENERGY) {
            out->psi[lane] = psi;
        }

        for (int i = 0; i < 9; i++) {
            if (want & SN_MATERIAL_STRESS) {
                out->P[i * SN_BLOCK + lane] = P[i];
            }
            if (tangent) {
                for (int j = i; j < 9; j++) {
                    out->H[sn_sym9(i, j) * SN_BLOCK + lane] = H[9 * i + j];
                }
            }
        }
    }

    // Add the terms that every law has; project last.
    if (sn_any_parameter(in, SN_PARAMETER_VOLUME)) {
        sn_add_volume_term(want, in, out, false);
    }
    if (want & SN_MATERIAL_PROJECTED) {
        clamp_tangents(out->H);
    }

    sn_add_fibre(want, in, out);
}
