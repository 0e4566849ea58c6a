// Orthotropic and transversely isotropic constants: the compliance is written down, checked to be positive definite, inverted
// and turned. A transversely isotropic solid is an orthotropic one with equal axes 1 and 2.
#include "material/anisotropic.h"

#include "math/dense.h"

#include <string.h>

// E_i, nu_12, nu_23, nu_31, G_12, G_23, G_31
typedef struct constants {
    double E1, E2, E3, nu12, nu23, nu31, G12, G23, G31;
} constants;

static constants constants_of(const sinew_material_def *def) {
    if (def->law == SINEW_MATERIAL_TRANSVERSE) {
        const sinew_transverse *t = &def->transverse;
        // S13 = S23 = -nu_fibre / E_fibre; the plane across the fibres is isotropic.
        double nu23 = t->poisson_fibre * t->young_plane / t->young_fibre, G12 = t->young_plane / (2 * (1 + t->poisson_plane));
        return (constants){t->young_plane, t->young_plane, t->young_fibre, t->poisson_plane, nu23, t->poisson_fibre, G12,
                           t->shear_fibre, t->shear_fibre};
    }
    const sinew_orthotropic *o = &def->orthotropic;
    double E1 = o->young_1, E2 = o->young_2, E3 = o->young_3;
    if (!o->four_parameters) {
        return (constants){E1, E2, E3, o->poisson_12, o->poisson_23, o->poisson_31, o->shear_12, o->shear_23, o->shear_31};
    }
    double nu = def->poisson, g = 1 / (2 * (1 + nu));
    return (constants){E1,
                       E2,
                       E3,
                       nu * sqrt(E1 / E2),
                       nu * sqrt(E2 / E3),
                       nu * sqrt(E3 / E1),
                       g * sqrt(E1 * E2),
                       g * sqrt(E2 * E3),
                       g * sqrt(E3 * E1)};
}

static sinew_status check_positive(sinew_context *context, const char *name, double value) {
    if (value > 0 && isfinite(value)) return SINEW_OK;
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "material: %s is %g Pa; valid: a number > 0", name, value);
}

static sinew_status check_ratio(sinew_context *context, const char *name, double nu, const char *condition, double limit) {
    if (fabs(nu) < limit) return SINEW_OK;
    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "material: %s is %g, which violates %s%.6g (the solid would not be stable); nearest valid value: %.6g",
                   name, nu, condition, limit, copysign(0.9999 * limit, nu));
}

// With the compliances scaled to a unit diagonal, a = nu_12 sqrt(E_2/E_1) ..., the determinant of the normal block is
// 1 - a^2 - b^2 - c^2 - 2 a b c.
static double normal_determinant(double a, double b, double c) {
    return 1 - a * a - b * b - c * c - 2 * a * b * c;
}

static sinew_status check_orthotropic(sinew_context *context, const sinew_material_def *def) {
    const sinew_orthotropic *o = &def->orthotropic;
    SN_TRY(check_positive(context, "orthotropic.young_1", o->young_1));
    SN_TRY(check_positive(context, "orthotropic.young_2", o->young_2));
    SN_TRY(check_positive(context, "orthotropic.young_3", o->young_3));
    if (o->four_parameters) return SINEW_OK;
    SN_TRY(check_positive(context, "orthotropic.shear_12", o->shear_12));
    SN_TRY(check_positive(context, "orthotropic.shear_23", o->shear_23));
    SN_TRY(check_positive(context, "orthotropic.shear_31", o->shear_31));
    double r12 = sqrt(o->young_1 / o->young_2), r23 = sqrt(o->young_2 / o->young_3), r31 = sqrt(o->young_3 / o->young_1);
    SN_TRY(check_ratio(context, "orthotropic.poisson_12", o->poisson_12, "|nu_12| < sqrt(E_1/E_2) = ", r12));
    SN_TRY(check_ratio(context, "orthotropic.poisson_23", o->poisson_23, "|nu_23| < sqrt(E_2/E_3) = ", r23));
    SN_TRY(check_ratio(context, "orthotropic.poisson_31", o->poisson_31, "|nu_31| < sqrt(E_3/E_1) = ", r31));
    double a = o->poisson_12 / r12, b = o->poisson_23 / r23, c = o->poisson_31 / r31;
    double determinant = normal_determinant(a, b, c);
    if (determinant > 0) return SINEW_OK;
    // The three ratios scaled alike until the condition holds: bisection between 0, which is stable, and 1.
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        double t = 0.5 * (low + high);
        *(normal_determinant(t * a, t * b, t * c) > 0 ? &low : &high) = t;
    }
    low *= 0.9999;
    return sn_fail(
        context, SINEW_INVALID_ARGUMENT,
        "material: orthotropic.poisson_12 = %g, poisson_23 = %g, poisson_31 = %g violate 1 - nu_12 nu_21 - nu_23 nu_32 - "
        "nu_31 nu_13 - 2 nu_12 nu_23 nu_31 > 0 (it is %.6g; the solid would not be stable); nearest valid values in the "
        "same proportion: %.6g, %.6g, %.6g",
        o->poisson_12, o->poisson_23, o->poisson_31, determinant, low * o->poisson_12, low * o->poisson_23,
        low * o->poisson_31);
}

static sinew_status check_transverse(sinew_context *context, const sinew_material_def *def) {
    const sinew_transverse *t = &def->transverse;
    SN_TRY(check_positive(context, "transverse.young_fibre", t->young_fibre));
    SN_TRY(check_positive(context, "transverse.young_plane", t->young_plane));
    SN_TRY(check_positive(context, "transverse.shear_fibre", t->shear_fibre));
    SN_TRY(check_ratio(context, "transverse.poisson_plane", t->poisson_plane, "|nu_plane| < ", 1));
    double limit = sqrt(0.5 * (1 - t->poisson_plane) * t->young_fibre / t->young_plane);
    return check_ratio(context, "transverse.poisson_fibre", t->poisson_fibre,
                       "|nu_fibre| < sqrt((1 - nu_plane) E_fibre / (2 E_plane)) = ", limit);
}

sinew_status sn_anisotropic_check(sinew_context *context, const sinew_material_def *def) {
    return def->law == SINEW_MATERIAL_TRANSVERSE ? check_transverse(context, def) : check_orthotropic(context, def);
}

// C in the material frame, as a full 6x6 matrix: the inverse of the compliance.
static void stiffness_in_frame(double C[36], const constants *k) {
    double S[9] = {1 / k->E1, 0, 0, -k->nu12 / k->E1, 1 / k->E2, 0, -k->nu31 / k->E3, -k->nu23 / k->E2, 1 / k->E3};
    bool definite = sn_cholesky(S, 3);
    SN_ASSERT(definite);
    (void)definite;
    memset(C, 0, 36 * sizeof *C);
    for (int j = 0; j < 3; j++) {
        double column[3] = {j == 0, j == 1, j == 2};
        sn_cholesky_solve(column, S, 3);
        for (int i = 0; i < 3; i++) C[6 * i + j] = column[i];
    }
    C[6 * 3 + 3] = k->G23;
    C[6 * 4 + 4] = k->G31;
    C[6 * 5 + 5] = k->G12;
}

// K C K' with sigma_world = K sigma_frame, that is sigma_world = Q sigma_frame Q' in Voigt's order (Bond 1943).
static void turn(double C[36], const sn_mat3 *Q) {
    static const int row[6] = {0, 1, 2, 1, 2, 0}, column[6] = {0, 1, 2, 2, 0, 1};
    double K[36], KC[36] = {0}, result[36] = {0};
    for (int I = 0; I < 6; I++) {
        for (int A = 0; A < 6; A++) {
            int i = row[I], j = column[I], a = row[A], b = column[A];
            K[6 * I + A] = Q->m[i][a] * Q->m[j][b] + (a == b ? 0 : Q->m[i][b] * Q->m[j][a]);
        }
    }
    for (int I = 0; I < 6; I++) {
        for (int A = 0; A < 6; A++) {
            for (int B = 0; B < 6; B++) KC[6 * I + B] += K[6 * I + A] * C[6 * A + B];
        }
    }
    for (int I = 0; I < 6; I++) {
        for (int A = 0; A < 6; A++) {
            for (int B = 0; B < 6; B++) result[6 * I + B] += KC[6 * I + A] * K[6 * B + A];
        }
    }
    memcpy(C, result, sizeof result);
}

double sn_anisotropic_stiffness(double C[SN_ELASTIC_COUNT], const sinew_material_def *def, const sn_mat3 *frame) {
    double full[36], largest = 0;
    constants k = constants_of(def);
    stiffness_in_frame(full, &k);
    for (int i = 0; i < 3; i++) largest = fmax(largest, full[7 * i]);
    if (frame) turn(full, frame);
    for (int a = 0; a < 6; a++) {
        for (int b = a; b < 6; b++) C[sn_sym6(a, b)] = 0.5 * (full[6 * a + b] + full[6 * b + a]);
    }
    return largest;
}

void sn_anisotropic_invert(double W[SN_ELASTIC_COUNT], const double C[SN_ELASTIC_COUNT]) {
    double L[6][6]; // C = L L', W = L^-1
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = C[sn_sym6(j, i)];
            for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
        for (int j = 0; j <= i; j++) {
            double sum = i == j;
            for (int k = j; k < i; k++) sum -= L[i][k] * W[sn_sym6(j, k)];
            W[sn_sym6(j, i)] = sum / L[i][i];
        }
    }
}
