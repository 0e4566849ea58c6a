// Materials: the law that relates deformation to stress, and its constants. SI units throughout.
//
// A material is a plain description. It is checked when it is given to a body, or at once by
// sinew_check_material; the constants may be changed while a simulation runs.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_MATERIAL_H
#define SINEW_MATERIAL_H

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The constitutive law. Isotropic laws take `young` and `poisson` unless stated otherwise.
typedef enum sinew_material_law {
    SINEW_MATERIAL_HOOKE,              ///< Stress linear in the strain that `strain` names.
    SINEW_MATERIAL_NEO_HOOKEAN,        ///< mu/2 (I1 - 3) - mu ln J + lambda/2 (ln J)^2.
    SINEW_MATERIAL_STABLE_NEO_HOOKEAN, ///< Smith et al. 2018; finite for every deformation.
    SINEW_MATERIAL_MOONEY_RIVLIN,      ///< `c10`, `c01` and `bulk`, or derived from `young` and
                                       ///< `poisson`.
    SINEW_MATERIAL_ARRUDA_BOYCE,       ///< Rubber of chains that lock: `young`, `poisson`,
                                       ///< `chain_length`, `bulk`.
    SINEW_MATERIAL_ORTHOTROPIC, ///< Three planes of symmetry: `orthotropic`, in the material frame;
                                ///< uses `strain`.
    SINEW_MATERIAL_TRANSVERSE,  ///< Fibres along axis 3 of the material frame: `transverse`; uses
                                ///< `strain`.
    SINEW_MATERIAL_CUSTOM,      ///< The caller's own: `custom`.
} sinew_material_law;

/// The strain measure of the laws that are linear in the strain (Hooke, orthotropic, transverse).
typedef enum sinew_strain {
    SINEW_STRAIN_INFINITESIMAL, ///< (F + F')/2 - I. Swells under rotation: for small displacements
                                ///< only.
    SINEW_STRAIN_GREEN,         ///< (F'F - I)/2: St. Venant-Kirchhoff. Softens under compression.
    SINEW_STRAIN_COROTATIONAL,  ///< S - I with F = R S.
} sinew_strain;

/// Constants of an orthotropic solid in its material frame; axes 1, 2, 3 are the columns of the
/// frame.
typedef struct sinew_orthotropic {
    /// Young's moduli along the axes. [Pa] > 0. Default 1e6 each.
    double young_1, young_2, young_3;
    /// True: shear moduli and ratios follow from the three moduli and the material's `poisson`,
    /// nu_ij = nu sqrt(E_i/E_j), G_ij = sqrt(E_i E_j) / (2 (1 + nu)), which is stable for every nu
    /// in (-1, 0.5). False: the six constants below. Default true.
    bool four_parameters;
    /// Poisson ratios: nu_ij is the contraction along j per extension along i when pulled along i.
    /// [-] The compliance must be positive definite: |nu_ij| < sqrt(E_i/E_j), and one condition on
    /// all three. Default 0.3.
    double poisson_12, poisson_23, poisson_31;
    /// Shear moduli. [Pa] > 0. Default 1e6 / 2.6.
    double shear_12, shear_23, shear_31;
} sinew_orthotropic;

/// Constants of a transversely isotropic solid; the fibres run along axis 3 of the material frame.
typedef struct sinew_transverse {
    /// Young's modulus along the fibres. [Pa] > 0. Default 1e7.
    double young_fibre;
    /// Young's modulus in the plane normal to the fibres. [Pa] > 0. Default 1e6.
    double young_plane;
    /// Poisson ratio in the plane normal to the fibres. [-] In (-1, 1). Default 0.3.
    double poisson_plane;
    /// Contraction normal to the fibres per extension along them, under tension along the fibres.
    /// [-] 2 nu^2 < (1 - nu_plane) E_fibre / E_plane. Default 0.3.
    double poisson_fibre;
    /// Shear modulus of planes that contain the fibres. [Pa] > 0. Default 4e5.
    double shear_fibre;
} sinew_transverse;

/// The caller's own law. It is called from several threads at once, once per sample and evaluation.
typedef struct sinew_custom_material {
    /// Writes the outputs that are not NULL, at the deformation gradient F (row by row): `energy`
    /// psi [J/m^3]; `P` = d psi / d F (9 numbers, row by row) [Pa]; `H` = d P / d F (9 x 9, row by
    /// row; only its upper triangle is used) [Pa]. `frame` holds the material axes of the sample as
    /// columns (row by row). The library adds the projection to definite tangents,
    /// `volume_stiffness` and `fibre_stress`.
    void (*evaluate)(void *user, const double F[9], const double frame[9], double *energy,
                     double *P, double *H);
    void *user;
} sinew_custom_material;

/// What a body is made of. Fill it with sinew_default_material_def, then change what you need.
typedef struct sinew_material_def {
    /// The law. Default SINEW_MATERIAL_HOOKE.
    sinew_material_law law;
    /// Strain of the Hookean, orthotropic and transverse laws. Default SINEW_STRAIN_COROTATIONAL.
    sinew_strain strain;
    /// Mass per rest volume. [kg/m^3] > 0. Default 1000.
    double density;
    /// Young's modulus. [Pa] > 0. Default 1e6.
    double young;
    /// Poisson ratio. [-] In (-1, 0.5). Default 0.45.
    double poisson;
    /// Stiffness k of an additional volume term k/2 (J - 1)^2, with any law. [Pa] >= 0. Default 0.
    double volume_stiffness;
    /// Mooney-Rivlin moduli; the small-strain shear modulus is 2 (c10 + c01). [Pa] c10 + c01 > 0,
    /// or both 0: derived from `young` and `poisson`, a fifth of it in c01. Default 0.
    double c10, c01;
    /// Bulk modulus of Mooney-Rivlin and Arruda-Boyce. [Pa] > 0, or 0: from the shear modulus and
    /// `poisson`. Default 0.
    double bulk;
    /// Arruda-Boyce: links in a chain N; the solid locks at a stretch of about sqrt(N). [-] >= 1.
    /// Default 8.
    double chain_length;
    /// Constants of the orthotropic law; see its fields.
    sinew_orthotropic orthotropic;
    /// Constants of the transversely isotropic law; see its fields.
    sinew_transverse transverse;
    /// Tension of fibres along axis 3 of the material frame, with any law: T/2 (|F a3|^2 - 1) is
    /// added to the energy. It may change over time. [Pa] >= 0. Default 0.
    double fibre_stress;
    /// Whether flattened or inverted elements are driven back. The energy is then extended below a
    /// small stretch, and the stress remains its gradient. False: the plain formula of the law,
    /// which may vanish or be undefined there. Infinitesimal and custom laws are never extended.
    /// Default true.
    bool inversion;
    /// Anisotropic corotational laws: true uses the exact gradient of the energy; false neglects
    /// the change of the rotation, as in warped stiffness, which is cheaper, but the angular
    /// momentum of a free body drifts. Default true.
    bool exact_rotation;
    /// The caller's own law, for SINEW_MATERIAL_CUSTOM. Default none.
    sinew_custom_material custom;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_material_def;

SINEW_API sinew_material_def sinew_default_material_def(void);

/// Checks every field that the law uses. On failure the context's message names the field, its
/// value and what is valid; for anisotropic constants it names the violated condition and the
/// nearest valid value.
SINEW_API sinew_status sinew_check_material(sinew_context *context, const sinew_material_def *def);

/// The laws by name: "linear", "st-venant-kirchhoff", "corotational", "neo-hookean",
/// "stable-neo-hookean", "mooney-rivlin", "arruda-boyce", "orthotropic", "transverse". Static text;
/// `index` in [0, count).
SINEW_API int32_t sinew_material_law_count(void);
SINEW_API const char *sinew_material_law_name(int32_t index);

/// Sets `law` and, for the three isotropic Hookean names, `strain` from a name. Other fields stay.
/// For an unknown name the message lists the valid ones.
SINEW_API sinew_status sinew_material_set_law(sinew_context *context, const char *name,
                                              sinew_material_def *def);

/// One Young's modulus for a law, for what knows no directions, such as the compliance metric of
/// weights: `young` of the isotropic laws, 6 (c10 + c01) of Mooney-Rivlin where these are given,
/// and the geometric mean of the three of anisotropic laws. [Pa]
SINEW_API double sinew_material_get_young(const sinew_material_def *def);

/// The Poisson ratio of an isotropic law at small strains, `bulk` included where the law has one.
/// [-] 0 for the other laws. `def` must not be NULL.
SINEW_API double sinew_material_get_poisson(const sinew_material_def *def);

/// A common material: typical constants for small strains at room temperature, as a starting point,
/// not for certification.
typedef struct sinew_material_preset {
    const char *name;    ///< E.g. "rubber".
    double young;        ///< [Pa]
    double poisson;      ///< [-]
    double density;      ///< [kg/m^3]
    const char *comment; ///< What it stands for. One line.
} sinew_material_preset;

/// The table of presets. Static memory.
SINEW_API const sinew_material_preset *sinew_material_presets(int32_t *count);

/// Sets `young`, `poisson` and `density` from a preset. For an unknown name the message lists the
/// valid ones.
SINEW_API sinew_status sinew_material_set_preset(sinew_context *context, const char *name,
                                                 sinew_material_def *def);

#ifdef __cplusplus
}
#endif

#endif
