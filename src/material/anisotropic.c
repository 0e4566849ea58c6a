// Constants of orthotropic and transversely isotropic solids: the compliance is set up from
// engineering constants, checked to be positive definite, inverted, and rotated into the material
// frame. A transversely isotropic solid is an orthotropic one with equal axes 1 and 2.
#include "material/anisotropic.h"

#include "math/dense.h"

#include <stdio.h>
#include <string.h>

// E_i, nu_12, nu_23, nu_31, G_12, G_23, G_31
typedef struct constants {
    double E1, E2, E3, nu12, nu23, nu31, G12, G23, G31;
} constants;

static constants constants_of(const sinew_material_def *def) {
    if (def->law == SINEW_MATERIAL_TRANSVERSE) {
        const sinew_transverse *t = &def->transverse;

        // S13 = S23 = -nu_fibre / E_fibre; the plane normal to the fibres is isotropic.
        double nu23 = t->poisson_fibre * t->young_plane / t->young_fibre;
        double G12 = t->young_plane / (2 * (1 + t->poisson_plane));

        return (constants){t->young_plane,
                           t->young_plane,
                           t->young_fibre,
                           t->poisson_plane,
                           nu23,
                           t->poisson_fibre,
                           G12,
                           t->shear_fibre,
                           t->shear_fibre};
    }

    const sinew_orthotropic *o = &def->orthotropic;
    double E1 = o->young_1;
    double E2 = o->young_2;
    double E3 = o->young_3;

    if (!o->four_parameters) {
        return (constants){
            E1,          E2,          E3,         o->poisson_12, o->poisson_23, o->poisson_31,
            o->shear_12, o->shear_23, o->shear_31};
    }

    // Four parameters: one Poisson ratio, scaled so that the compliance stays symmetric and
    // definite.
    double nu = def->poisson;
    double g = 1 / (2 * (1 + nu));

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
    if (value > 0 && isfinite(value)) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "material: %s is %g Pa; valid: a number > 0",
                   name, value);
}

// The suggested nearest valid value lies inside the valid interval by this fraction of its width.
static const double MARGIN = 1e-4;

static sinew_status check_number(sinew_context *context, const char *name, double nu) {
    if (isfinite(nu)) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "material: %s is %g; valid: a finite number",
                   name, nu);
}

// Reports a ratio that is not between low and high.
static sinew_status refuse_ratio(sinew_context *context, const char *name, double nu,
                                 const char *condition, double limit, const char *rest, double low,
                                 double high) {
    double margin = MARGIN * (high - low);
    double nearest = fmin(fmax(nu, low + margin), high - margin);
    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "material: %s is %g, which violates %s%.6g (the solid would not be stable); "
                   "nearest valid value%s: %.6g",
                   name, nu, condition, limit, rest, nearest);
}

// ---- Orthotropic --------------------------------------------------------------------------------

// The determinant of the normal compliances scaled to a unit diagonal; a_12 = nu_12 sqrt(E_2/E_1),
// a_23 and a_31 are the off-diagonal entries.
static double normal_determinant(const double a[3]) {
    return 1 - a[0] * a[0] - a[1] * a[1] - a[2] * a[2] - 2 * a[0] * a[1] * a[2];
}

static bool is_stable(const double a[3]) {
    return fabs(a[0]) < 1 && fabs(a[1]) < 1 && fabs(a[2]) < 1 && normal_determinant(a) > 0;
}

// The largest common factor of the three ratios for which the solid is stable: bisection between 0,
// which is stable, and 1.
static double find_stable_part(const double a[3]) {
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        double t = 0.5 * (low + high);
        double scaled[3] = {t * a[0], t * a[1], t * a[2]};
        *(is_stable(scaled) ? &low : &high) = t;
    }

    return (1 - MARGIN) * low;
}

static const char *const RATIO_NAMES[3] = {"orthotropic.poisson_12", "orthotropic.poisson_23",
                                           "orthotropic.poisson_31"};

// One ratio alone is too large. Given the others, b and c, the determinant limits it to
// -b c -+ sqrt((1 - b^2) (1 - c^2)).
static sinew_status refuse_one(sinew_context *context, int k, const double nu[3], const double a[3],
                               double limit) {
    static const char *const conditions[3] = {
        "|nu_12| < sqrt(E_1/E_2) = ", "|nu_23| < sqrt(E_2/E_3) = ", "|nu_31| < sqrt(E_3/E_1) = "};
    double b = a[(k + 1) % 3];
    double c = a[(k + 2) % 3];
    double half = sqrt((1 - b * b) * (1 - c * c));

    return refuse_ratio(context, RATIO_NAMES[k], nu[k], conditions[k], limit,
                        " given the other two", limit * (-b * c - half), limit * (-b * c + half));
}

static sinew_status check_ratios(sinew_context *context, const sinew_orthotropic *o) {
    const double nu[3] = {o->poisson_12, o->poisson_23, o->poisson_31};
    const double limits[3] = {sqrt(o->young_1 / o->young_2), sqrt(o->young_2 / o->young_3),
                              sqrt(o->young_3 / o->young_1)};
    double a[3];
    int large = 0, which = 0;

    // In scaled form every ratio must be below 1.
    for (int k = 0; k < 3; k++) {
        SN_TRY(check_number(context, RATIO_NAMES[k], nu[k]));
        a[k] = nu[k] / limits[k];
        if (fabs(a[k]) < 1) {
            continue;
        }

        large++;
        which = k;
    }

    // One bad ratio gets its own message; otherwise the three of them together are at fault.
    if (large == 1) {
        return refuse_one(context, which, nu, a, limits[which]);
    }
    if (is_stable(a)) {
        return SINEW_OK;
    }

    double part = find_stable_part(a);
    return sn_fail(
        context, SINEW_INVALID_ARGUMENT,
        "material: orthotropic.poisson_12 = %g, poisson_23 = %g, poisson_31 = %g violate %s (the "
        "solid would not be stable); nearest valid values in the same proportion: %.6g, %.6g, %.6g",
        nu[0], nu[1], nu[2],
        large > 0 ? "|nu_ij| < sqrt(E_i/E_j)"
                  : "1 - nu_12 nu_21 - nu_23 nu_32 - nu_31 nu_13 - 2 nu_12 nu_23 nu_31 > 0",
        part * nu[0], part * nu[1], part * nu[2]);
}

static sinew_status check_orthotropic(sinew_context *context, const sinew_material_def *def) {
    const sinew_orthotropic *o = &def->orthotropic;
    SN_TRY(check_positive(context, "orthotropic.young_1", o->young_1));
    SN_TRY(check_positive(context, "orthotropic.young_2", o->young_2));
    SN_TRY(check_positive(context, "orthotropic.young_3", o->young_3));

    if (o->four_parameters) {
        return SINEW_OK;
    }

    SN_TRY(check_positive(context, "orthotropic.shear_12", o->shear_12));
    SN_TRY(check_positive(context, "orthotropic.shear_23", o->shear_23));
    SN_TRY(check_positive(context, "orthotropic.shear_31", o->shear_31));

    return check_ratios(context, o);
}

// ---- Transversely isotropic: 2 nu_fibre^2 E_plane / E_fibre < 1 - nu_plane < 2 ------------------

static sinew_status check_transverse(sinew_context *context, const sinew_material_def *def) {
    const sinew_transverse *t = &def->transverse;
    SN_TRY(check_positive(context, "transverse.young_fibre", t->young_fibre));
    SN_TRY(check_positive(context, "transverse.young_plane", t->young_plane));
    SN_TRY(check_positive(context, "transverse.shear_fibre", t->shear_fibre));
    SN_TRY(check_number(context, "transverse.poisson_plane", t->poisson_plane));
    SN_TRY(check_number(context, "transverse.poisson_fibre", t->poisson_fibre));

    // 2 nu_fibre^2 E_plane / E_fibre
    double square = t->young_fibre / t->young_plane;
    double used = 2 * t->poisson_fibre * t->poisson_fibre / square;
    double plane = t->poisson_plane;
    char rest[64] = "";

    // The plane's ratio alone is out of range.
    if (fabs(plane) >= 1) {
        if (used < 2) { // some nu_plane is valid for this nu_fibre
            return refuse_ratio(context, "transverse.poisson_plane", plane, "|nu_plane| < ", 1,
                                " given poisson_fibre", -1, 1 - used);
        }
        plane = copysign(1 - 2 * MARGIN, plane);
        snprintf(rest, sizeof rest, " with a poisson_plane of %.6g", plane);
    }

    // The fibre's ratio, given the plane's.
    double limit = sqrt(0.5 * (1 - plane) * square);
    if (fabs(t->poisson_fibre) < limit) {
        return SINEW_OK;
    }

    return refuse_ratio(context, "transverse.poisson_fibre", t->poisson_fibre,
                        "|nu_fibre| < sqrt((1 - nu_plane) E_fibre / (2 E_plane)) = ", limit, rest,
                        -limit, limit);
}

// ---- Stiffness ----------------------------------------------------------------------------------

// If stiffnesses differ by more than this factor, the smaller ones are lost to rounding when C is
// rotated.
static const double MAX_CONTRAST = 1e13;

// C in the material frame as a full 6x6 matrix: the inverse of the compliance. False if rounding
// would spoil it.
static bool compute_stiffness(double C[36], const constants *k) {
    // The compliance of the normal strains.
    double S[9] = {1 / k->E1,        0,        0, -k->nu12 / k->E1, 1 / k->E2, 0, -k->nu31 / k->E3,
                   -k->nu23 / k->E2, 1 / k->E3};
    if (!sn_cholesky(S, 3)) {
        return false;
    }

    // Invert it column by column; shears are decoupled.
    memset(C, 0, 36 * sizeof *C);
    for (int j = 0; j < 3; j++) {
        double column[3] = {j == 0, j == 1, j == 2};
        sn_cholesky_solve(column, S, 3);
        for (int i = 0; i < 3; i++) {
            C[6 * i + j] = column[i];
        }
    }

    C[6 * 3 + 3] = k->G23;
    C[6 * 4 + 4] = k->G31;
    C[6 * 5 + 5] = k->G12;

    // Contrast that rounding could not represent.
    double smallest = fmin(fmin(k->E1, k->E2), fmin(k->E3, fmin(fmin(k->G12, k->G23), k->G31)));
    bool sound = true;
    for (int i = 0; i < 6; i++) {
        sound = sound && C[7 * i] > 0 && C[7 * i] < MAX_CONTRAST * smallest && isfinite(C[7 * i]);
    }

    return sound;
}

sinew_status sn_anisotropic_check(sinew_context *context, const sinew_material_def *def) {
    SN_TRY(def->law == SINEW_MATERIAL_TRANSVERSE ? check_transverse(context, def)
                                                 : check_orthotropic(context, def));

    double C[36];
    constants k = constants_of(def);
    if (compute_stiffness(C, &k)) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "material: the stiffness cannot be computed from these constants: Poisson "
                   "ratios too near to their limits, or moduli too large, too small or too far "
                   "apart for numbers of double precision");
}

// C in world axes: K C K', where sigma_world = K sigma_frame in Voigt order stands for
// sigma_world = Q sigma_frame Q' (Bond 1943).
static void rotate_stiffness(double C[36], const sn_mat3 *Q) {
    static const int row[6] = {0, 1, 2, 1, 2, 0};
    static const int column[6] = {0, 1, 2, 2, 0, 1};
    double K[36], KC[36] = {0}, result[36] = {0};

    // Bond's matrix K.
    for (int I = 0; I < 6; I++) {
        for (int A = 0; A < 6; A++) {
            int i = row[I];
            int j = column[I];
            int a = row[A];
            int b = column[A];
            K[6 * I + A] = Q->m[i][a] * Q->m[j][b] + (a == b ? 0 : Q->m[i][b] * Q->m[j][a]);
        }
    }

    // K C K'
    for (int I = 0; I < 6; I++) {
        for (int A = 0; A < 6; A++) {
            for (int B = 0; B < 6; B++) {
                KC[6 * I + B] += K[6 * I + A] * C[6 * A + B];
            }
        }
    }

    for (int I = 0; I < 6; I++) {
        for (int A = 0; A < 6; A++) {
            for (int B = 0; B < 6; B++) {
                result[6 * I + B] += KC[6 * I + A] * K[6 * B + A];
            }
        }
    }

    memcpy(C, result, sizeof result);
}

double sn_anisotropic_stiffness(double C[SN_ELASTIC_COUNT], const sinew_material_def *def,
                                const sn_mat3 *frame) {
    double full[36], largest = 0;
    constants k = constants_of(def);
    bool definite = compute_stiffness(full, &k);

    SN_ASSERT(definite);
    (void)definite;
    for (int i = 0; i < 3; i++) {
        largest = fmax(largest, full[7 * i]);
    }

    if (frame) {
        rotate_stiffness(full, frame);
    }

    // The symmetric part removes rounding.
    for (int a = 0; a < 6; a++) {
        for (int b = a; b < 6; b++) {
            C[sn_sym6(a, b)] = 0.5 * (full[6 * a + b] + full[6 * b + a]);
        }
    }

    return largest;
}

void sn_anisotropic_invert(double W[SN_ELASTIC_COUNT], const double C[SN_ELASTIC_COUNT]) {
    double L[6][6]; // C = L L', W = L^-1
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = C[sn_sym6(j, i)];
            for (int k = 0; k < j; k++) {
                sum -= L[i][k] * L[j][k];
            }
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }

        for (int j = 0; j <= i; j++) {
            double sum = i == j;
            for (int k = j; k < i; k++) {
                sum -= L[i][k] * W[sn_sym6(j, k)];
            }
            W[sn_sym6(j, i)] = sum / L[i][i];
        }
    }
}
