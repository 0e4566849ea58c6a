// The recovery energy of largely inverted bodies; see recovery.h.
#include "body/recovery.h"

#include "math/svd.h"

#include <math.h>
#include <string.h>

// Samples with det F below this count as flat.
static const double flat_J = 0.01;

static sn_mat3 sample_F(const double *F, int32_t lane) {
    sn_mat3 out;
    for (int i = 0; i < 9; i++) {
        out.m[i / 3][i % 3] = F[i * SN_BLOCK + lane];
    }
    return out;
}

// The rotation nearest to F; for triangles, the nearest one in their plane.
static sn_mat3 rotation_near(sn_mat3 F, sn_plane plane) {
    if (plane == SN_PLANE_NONE) {
        return sn_polar3(NULL, F);
    }

    double c = F.m[0][0] + F.m[1][1];
    double s = F.m[1][0] - F.m[0][1];
    double length = hypot(c, s);
    if (length == 0) {
        return sn_mat3_identity();
    }

    c /= length;
    s /= length;

    return (sn_mat3){{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
}

// Volume average of F, up to a factor that does not change its rotation.
sn_mat3 sn_recovery_rotation(const sn_sample_groups *groups, const double *controls) {
    sn_mat3 sum = {{{0}}};
    for (int32_t i = 0; i < groups->count; i++) {
        const sn_samples *samples = &groups->items[i].samples;
        double F[9 * SN_BLOCK] SN_ALIGNED;
        for (int32_t sample = 0; sample < samples->count; sample++) {
            if (sample % SN_BLOCK == 0) {
                sn_sample_group_compute_F(groups, i, sample / SN_BLOCK, controls, F);
            }
            sum = sn_mat3_add(
                sum, sn_mat3_scale(samples->volume[sample], sample_F(F, sample % SN_BLOCK)));
        }
    }

    return rotation_near(sum, groups->plane);
}

// Mean diagonal entry of the tangent at rest.
double sn_recovery_stiffness(const sn_sample_group *group) {
    double parameters[SN_MATERIAL_MAX_PARAMETERS], H[81], trace = 0;
    for (int p = 0; p < group->material.parameter_count; p++) {
        parameters[p] = group->parameters[p * SN_BLOCK];
    }

    sn_material_tangent(H, &group->material, parameters, sn_mat3_identity(), false);
    for (int a = 0; a < 9; a++) {
        trace += H[10 * a];
    }

    return trace / 9;
}

// psi = k/2 |F - R|^2, P = k (F - R), H = k I.
void sn_recovery_evaluate(double k, const sn_mat3 *R, int want, const double *F,
                          const sn_material_result *out) {
    for (int lane = 0; lane < SN_BLOCK; lane++) {
        // Energy and stress.
        double square = 0;
        for (int i = 0; i < 9; i++) {
            double difference = F[i * SN_BLOCK + lane] - R->m[i / 3][i % 3];
            square += difference * difference;
            if (want & SN_MATERIAL_STRESS) {
                out->P[i * SN_BLOCK + lane] = k * difference;
            }
        }

        if (want & SN_MATERIAL_ENERGY) {
            out->psi[lane] = 0.5 * k * square;
        }
    }

    if (!(want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED))) {
        return;
    }

    // The tangent is the same everywhere.
    memset(out->H, 0, SN_MATERIAL_H_COUNT * SN_BLOCK * sizeof(double));
    for (int i = 0; i < 9 * SN_BLOCK; i++) {
        out->H[sn_sym9(i / SN_BLOCK, i / SN_BLOCK) * SN_BLOCK + i % SN_BLOCK] = k;
    }
}

sn_recovery_state sn_recovery_measure(const sn_sample_groups *groups, const double *controls) {
    sn_mat3 R = sn_recovery_rotation(groups, controls);
    double inverted = 0, total = 0, largest = 0;
    for (int32_t i = 0; i < groups->count; i++) {
        const sn_samples *samples = &groups->items[i].samples;
        double F[9 * SN_BLOCK] SN_ALIGNED;
        for (int32_t sample = 0; sample < samples->count; sample++) {
            // F is computed for a whole block at once.
            if (sample % SN_BLOCK == 0) {
                sn_sample_group_compute_F(groups, i, sample / SN_BLOCK, controls, F);
            }

            // Volume that is flat or inverted, and the largest distance from the rotation.
            sn_mat3 one = sample_F(F, sample % SN_BLOCK);
            sn_mat3 difference = sn_mat3_sub(one, R);

            total += samples->volume[sample];
            if (!(sn_mat3_det(one) > flat_J)) {
                inverted += samples->volume[sample];
            }

            largest = fmax(largest, sn_mat3_contract(difference, difference));
        }
    }

    return (sn_recovery_state){.inverted = total > 0 ? inverted / total : 0,
                               .deviation = sqrt(largest)};
}
