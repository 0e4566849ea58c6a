// The contract between materials and their users: energy density psi(F), first Piola-Kirchhoff
// stress P = d psi/d F, and tangent H = d P/d F, plain or projected to positive semi-definite.
//
// Samples come in blocks of SN_BLOCK = 8 as a structure of arrays, 64-byte aligned, whatever the
// instruction set: component c of sample s is a[c * 8 + s]. A block has one law; its constants vary
// from sample to sample and are derived once, by sn_material_parameters, from a definition and the
// sample's material frame (C of an anisotropic solid is rotated into the rest frame there, so
// frames cost nothing later). Lanes without a sample hold F = I and the parameters of any valid
// sample.
//
// 9-vectors and the indices of H are ordered row by row, (i,j) -> 3 i + j. H is symmetric; its
// upper triangle is stored row by row, 45 numbers per sample, and sn_sym9(a, b) is the index of (a,
// b). The stiffness of nodes c, d with rest gradients g_c, g_d is then
//
//   K_cd[i][k] = V sum_jl g_c[j] H[sn_sym9(3 i + j, 3 k + l)] g_d[l]
#ifndef SN_MATERIAL_MATERIAL_H
#define SN_MATERIAL_MATERIAL_H

#include "sinew/material.h"

#include "base/context.h"
#include "math/mat3.h"
#include "math/simd.h"

enum {
    SN_MATERIAL_MAX_PARAMETERS = 48, // room for one sample's parameters with any law
    SN_MATERIAL_H_COUNT = 45,
};

// The parameters that every law has, before its own. The fibre stress may be overwritten while a
// simulation runs.
enum {
    SN_PARAMETER_FIBRE_STRESS, // T >= 0
    SN_PARAMETER_FIBRE_X,      // axis 3 of the material frame
    SN_PARAMETER_FIBRE_Y,
    SN_PARAMETER_FIBRE_Z,
    SN_PARAMETER_VOLUME,     // k
    SN_PARAMETER_RESISTANCE, // stiffness against inversion, a multiple of the small-strain modulus
    SN_PARAMETER_LAW,        // the first of the law's own
};

// How a 3x3 F with F13 = F23 = F31 = F32 = 0 represents a triangle. The caller always sets F33 = 1.
typedef enum sn_plane {
    SN_PLANE_NONE,   // a solid
    SN_PLANE_STRAIN, // F33 stays 1
    SN_PLANE_STRESS, // P33 = 0: Hooke's isotropic laws by lambda = E nu / ((1 + nu)(1 - nu)), the
                     // others by solving for F33 in every evaluation; the out-of-plane components
                     // of P are then 0, H is condensed onto the plane
} sn_plane;

enum {
    SN_MATERIAL_ENERGY = 1,
    SN_MATERIAL_STRESS = 2,
    SN_MATERIAL_STIFFNESS = 4, // H as it is
    SN_MATERIAL_PROJECTED = 8, // H positive semi-definite; equal to H where H (without the fibres,
                               // which only help) is. Not together with STIFFNESS
};

typedef struct sn_material_block {
    const double *F;          // [9][8]
    const double *parameters; // [parameter_count][8]
} sn_material_block;

// Shorter forms of tangents for linear tets, stored instead of H. The stiffness of nodes c, d is
//
//   rotated:  K_cd = V (s g_c . g_d I + lambda h_c h_d' + [h_c]' N [h_d]),  h = R g
//   exact:    K_cd = V R (g_c T g_d) R',  contracted as H above: T is H in the axes of R
//   held:     the same, where T holds the nine constants of a solid whose axes are the
//             coordinate axes
typedef enum sn_tangent_form {
    SN_TANGENT_FULL, // H itself
    SN_TANGENT_ROTATED,
    SN_TANGENT_EXACT,
    SN_TANGENT_HELD,
    SN_TANGENT_FORMS
} sn_tangent_form;

enum {
    SN_ROTATED_SCALE,                // s
    SN_ROTATED_LAMBDA,               // lambda
    SN_ROTATED_R,                    // nine numbers
    SN_ROTATED_N = SN_ROTATED_R + 9, // xx, xy, xz, yy, yz, zz
    SN_ROTATED_COUNT = SN_ROTATED_N + 6,

    SN_HELD_NORMAL = 0,                 // C among the normal strains: xx, xy, xz, yy, yz, zz
    SN_HELD_SHEAR = SN_HELD_NORMAL + 6, // and of the shears yz, zx, xy

    SN_ROTATION_R = SN_MATERIAL_H_COUNT, // of the last two, nine numbers
    SN_TANGENT_COUNT = SN_ROTATION_R + 9,
};

// Only the requested results are written, and only those need memory.
typedef struct sn_material_result {
    double *psi;           // [8]     [J/m^3]
    double *P;             // [9][8]  [Pa]
    double *H;             // [45][8] [Pa]; [SN_TANGENT_COUNT][8] with a form
    sn_tangent_form *form; // NULL, or where to say that H holds a shorter form; a law that has none
                           // leaves it as it is
} sn_material_result;

typedef struct sn_material sn_material;
// For one block; as the kernel of pairs, for in[0] and in[1] at once.
typedef void sn_material_kernel(const sn_material *material, int want, const sn_material_block *in,
                                const sn_material_result *out);

// A prepared law; a plain value that owns nothing.
struct sn_material {
    sn_material_kernel *evaluate; // what sn_material_evaluate calls
    sn_material_kernel *kernel;   // the law itself; the same, unless plane stress wraps it
    sn_material_kernel *pair;     // NULL: the law has no kernel for two blocks
    int parameter_count;
    sinew_material_law law;
    sinew_strain strain;
    sn_plane plane;
    bool reduced;  // plane stress by a smaller lambda
    bool own_axes; // no sample has a material frame, so material and coordinate axes coincide; set
                   // by a caller that knows
    bool inversion, exact_rotation;
    sinew_custom_material custom;
};

// Whether a law takes a rotated body for a strained one.
static inline bool sn_material_strains_by_rotation(const sinew_material_def *def) {
    bool linear = def->law == SINEW_MATERIAL_HOOKE || def->law == SINEW_MATERIAL_ORTHOTROPIC ||
                  def->law == SINEW_MATERIAL_TRANSVERSE;
    return linear && def->strain == SINEW_STRAIN_INFINITESIMAL;
}

// Prepares a law. `def` has been checked (sinew_check_material).
sn_material sn_material_prepare(const sinew_material_def *def, sn_plane plane, sn_isa isa);

// The parameters of one sample, material->parameter_count numbers. `def` has the law that
// `material` was prepared from; its constants may differ from sample to sample. `frame` holds the
// material axes as columns; NULL means the coordinate axes.
void sn_material_parameters(double *parameters, const sn_material *material,
                            const sinew_material_def *def, const sn_mat3 *frame);

// Evaluates a block: one indirect call, no allocation.
static inline void sn_material_evaluate(const sn_material *material, int want,
                                        const sn_material_block *in,
                                        const sn_material_result *out) {
    material->evaluate(material, want, in, out);
}

// Evaluates two blocks with the same results as one by one. The decompositions of one block are a
// chain of dependent operations; a second, independent chain costs little more.
static inline void sn_material_evaluate_pair(const sn_material *material, int want,
                                             const sn_material_block in[2],
                                             const sn_material_result out[2]) {
    if (material->pair) {
        material->pair(material, want, in, out);
    } else {
        for (int b = 0; b < 2; b++) {
            material->evaluate(material, want, &in[b], &out[b]);
        }
    }
}

// The index of (a, b) in the upper triangle of a symmetric 9x9 matrix.
static inline int sn_sym9(int a, int b) {
    return a <= b ? a * (17 - a) / 2 + b : b * (17 - b) / 2 + a;
}

// Von Mises stress of a symmetric stress xx, yy, zz, yz, zx, xy.
double sn_von_mises(const double stress[6]);

// One sample at a time, for tests and other uses that are not time-critical: a block with one
// sample.
double sn_material_energy(const sn_material *material, const double *parameters, sn_mat3 F);
sn_mat3 sn_material_stress(const sn_material *material, const double *parameters, sn_mat3 F);
void sn_material_tangent(double H[81], const sn_material *material, const double *parameters,
                         sn_mat3 F, bool projected);

#endif
