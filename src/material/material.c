// Prepares materials from definitions: selects a kernel, computes the parameters of a sample, and
// evaluates single samples.
#include "material/material.h"

#include "material/anisotropic.h"
#include "material/kernels.h"
#include "material/plane.h"
#include "material/stretch.h"

#include <math.h>
#include <string.h>

static bool is_anisotropic(sinew_material_law law) {
    return law == SINEW_MATERIAL_ORTHOTROPIC || law == SINEW_MATERIAL_TRANSVERSE;
}

static sn_material_kernel *kernel_of(const sinew_material_def *def, sn_isa isa) {
    if (def->law == SINEW_MATERIAL_CUSTOM) {
        return sn_evaluate_custom;
    }

    if (is_anisotropic(def->law)) {
        switch (def->strain) {
        case SINEW_STRAIN_INFINITESIMAL: return SN_ISA_PICK(isa, sn_evaluate_linear);
        case SINEW_STRAIN_GREEN: return SN_ISA_PICK(isa, sn_evaluate_anisotropic_green);
        case SINEW_STRAIN_COROTATIONAL: return SN_ISA_PICK(isa, sn_evaluate_anisotropic);
        }
    }

    if (def->law == SINEW_MATERIAL_HOOKE && def->strain == SINEW_STRAIN_INFINITESIMAL) {
        return SN_ISA_PICK(isa, sn_evaluate_linear);
    }
    if (def->law == SINEW_MATERIAL_HOOKE && def->strain == SINEW_STRAIN_COROTATIONAL) {
        return SN_ISA_PICK(isa, sn_evaluate_corotational);
    }
    if (def->law == SINEW_MATERIAL_HOOKE && def->strain == SINEW_STRAIN_GREEN) {
        return SN_ISA_PICK(isa, sn_evaluate_green);
    }

    return SN_ISA_PICK(isa, sn_evaluate_isotropic);
}

// Hooke's laws, dominated by a polar decomposition, process two blocks at once.
static sn_material_kernel *pair_kernel_of(const sinew_material_def *def, sn_isa isa) {
    if (def->law == SINEW_MATERIAL_HOOKE && def->strain == SINEW_STRAIN_COROTATIONAL) {
        return SN_ISA_PICK(isa, sn_evaluate_corotational_pair);
    }
    if (is_anisotropic(def->law) && def->strain == SINEW_STRAIN_COROTATIONAL) {
        return SN_ISA_PICK(isa, sn_evaluate_anisotropic_pair);
    }
    if (def->law == SINEW_MATERIAL_HOOKE && def->strain == SINEW_STRAIN_GREEN) {
        return SN_ISA_PICK(isa, sn_evaluate_green_pair);
    }

    return NULL;
}

sn_material sn_material_prepare(const sinew_material_def *def, sn_plane plane, sn_isa isa) {
    SN_ASSERT(sn_isa_available(isa));
    sn_material material = {
        .kernel = kernel_of(def, isa),
        .law = def->law,
        .strain = def->strain,
        .plane = plane,
        .inversion = def->inversion,
        .exact_rotation = def->exact_rotation,
        .custom = def->custom,
    };

    // Plane stress of Hooke's law only needs a smaller lambda, unless another term depends on the
    // thickness.
    material.reduced =
        plane == SN_PLANE_STRESS && def->law == SINEW_MATERIAL_HOOKE && def->volume_stiffness == 0;

    bool wrapped = plane == SN_PLANE_STRESS && !material.reduced;
    material.evaluate = wrapped ? sn_evaluate_plane_stress : material.kernel;
    material.pair = wrapped ? NULL : pair_kernel_of(def, isa);

    // The number of parameters depends on the law.
    const sn_isotropic_law *law =
        SN_ISA_PICK(SN_ISA_BASE, sn_isotropic_law_find)(def->law, def->strain);
    int elastic =
        def->strain == SINEW_STRAIN_COROTATIONAL ? 2 * SN_ELASTIC_COUNT : SN_ELASTIC_COUNT;
    int own = law ? law->parameter_count : is_anisotropic(def->law) ? elastic : 9;

    material.parameter_count = SN_PARAMETER_LAW + own;
    SN_ASSERT(material.parameter_count <= SN_MATERIAL_MAX_PARAMETERS);

    return material;
}

void sn_material_parameters(double *parameters, const sn_material *material,
                            const sinew_material_def *def, const sn_mat3 *frame) {
    SN_ASSERT(def->law == material->law);
    sn_mat3 Q = frame ? *frame : sn_mat3_identity();
    double *own = parameters + SN_PARAMETER_LAW;

    // Parameters that every law has.
    parameters[SN_PARAMETER_FIBRE_STRESS] = def->fibre_stress;
    sn_store3(parameters + SN_PARAMETER_FIBRE_X, sn_mat3_column(Q, 2));
    parameters[SN_PARAMETER_VOLUME] = def->volume_stiffness;
    parameters[SN_PARAMETER_RESISTANCE] = 0;

    // The law's own parameters.
    if (def->law == SINEW_MATERIAL_CUSTOM) {
        memcpy(own, &Q.m[0][0], sizeof Q);
    } else if (is_anisotropic(def->law)) {
        parameters[SN_PARAMETER_RESISTANCE] =
            SN_GREEN_RESISTANCE * sn_anisotropic_stiffness(own, def, frame);
        if (def->strain == SINEW_STRAIN_COROTATIONAL) {
            sn_anisotropic_invert(own + SN_ELASTIC_COUNT, own);
        }
    } else {
        const sn_isotropic_law *law =
            SN_ISA_PICK(SN_ISA_BASE, sn_isotropic_law_find)(def->law, def->strain);
        parameters[SN_PARAMETER_RESISTANCE] =
            law->resistance *
            law->derive(own, def, material->reduced ? SN_PLANE_STRESS : SN_PLANE_NONE);
    }
}

// ---- Single samples -----------------------------------------------------------------------------

typedef struct single {
    double F[9 * SN_BLOCK] SN_ALIGNED, parameters[SN_MATERIAL_MAX_PARAMETERS * SN_BLOCK] SN_ALIGNED;
    double psi[SN_BLOCK] SN_ALIGNED, P[9 * SN_BLOCK] SN_ALIGNED,
        H[SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;
} single;

// The same sample in every lane.
static void evaluate_single(single *s, const sn_material *material, int want,
                            const double *parameters, sn_mat3 F) {
    for (int lane = 0; lane < SN_BLOCK; lane++) {
        for (int i = 0; i < 9; i++) {
            s->F[i * SN_BLOCK + lane] = F.m[i / 3][i % 3];
        }
        for (int i = 0; i < material->parameter_count; i++) {
            s->parameters[i * SN_BLOCK + lane] = parameters[i];
        }
    }

    sn_material_evaluate(material, want, &(sn_material_block){s->F, s->parameters},
                         &(sn_material_result){.psi = s->psi, .P = s->P, .H = s->H});
}

double sn_material_energy(const sn_material *material, const double *parameters, sn_mat3 F) {
    single s;
    evaluate_single(&s, material, SN_MATERIAL_ENERGY, parameters, F);
    return s.psi[0];
}

sn_mat3 sn_material_stress(const sn_material *material, const double *parameters, sn_mat3 F) {
    single s;
    evaluate_single(&s, material, SN_MATERIAL_STRESS, parameters, F);
    sn_mat3 P;

    for (int i = 0; i < 9; i++) {
        P.m[i / 3][i % 3] = s.P[i * SN_BLOCK];
    }

    return P;
}

void sn_material_tangent(double H[81], const sn_material *material, const double *parameters,
                         sn_mat3 F, bool projected) {
    single s;
    evaluate_single(&s, material, projected ? SN_MATERIAL_PROJECTED : SN_MATERIAL_STIFFNESS,
                    parameters, F);

    for (int a = 0; a < 9; a++) {
        for (int b = 0; b < 9; b++) {
            H[9 * a + b] = s.H[sn_sym9(a, b) * SN_BLOCK];
        }
    }
}

double sn_von_mises(const double stress[6]) {
    const double *s = stress;
    double a = s[0] - s[1];
    double b = s[1] - s[2];
    double c = s[2] - s[0];
    return sqrt(0.5 * (a * a + b * b + c * c) + 3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}
