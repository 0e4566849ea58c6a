// Which regions are rods or sheets, by the directions in which their weights vary, and the
// gradients of their internal modes (see transverse.h).
#include "frame/blend/transverse.h"

#include "body/internal_modes.h"
#include "math/eigen3.h"

#include <math.h>

// The quadrature points of the region of a sample: begin .. end - 1.
static void find_region(const sn_frame_samples *samples, int32_t s, int32_t *begin, int32_t *end) {
    *begin = s;
    *end = s + 1;
    while (*begin > 0 && samples->region[*begin - 1] == samples->region[s]) {
        (*begin)--;
    }
    while (*end < samples->count && samples->region[*end] == samples->region[s]) {
        (*end)++;
    }
}

// The directions across which no weight of a sample varies, as the first columns of `across`.
// Returns their number.
static int32_t find_transverse(const sn_frame_samples *samples, int32_t s, sn_mat3 *across) {
    sn_mat3 C = {{{0}}};
    double values[3];
    for (int32_t k = samples->start[s]; k < samples->start[s + 1]; k++) {
        sn_vec3 g = sn_load3(sn_at3(samples->gradient, k));
        C = sn_mat3_add(C, sn_outer(g, g));
    }

    // Ascending.
    sn_eigen3(values, across, C);
    double largest = fmax(values[0], fmax(values[1], values[2]));
    int32_t count = 0;
    sn_mat3 found = *across;
    for (int i = 0; i < 3; i++) {
        if (values[i] <= 1e-12 * largest) {
            for (int k = 0; k < 3; k++) {
                found.m[k][count] = across->m[k][i];
            }
            count++;
        }
    }

    *across = found;
    return count;
}

int32_t sn_transverse_mode_count(const sn_nodes *nodes, const sn_frame_samples *samples,
                                 int32_t s) {
    sn_mat3 across;
    int32_t begin, end;
    if (!samples->region) {
        return 0;
    }

    for (int32_t k = samples->start[s]; k < samples->start[s + 1]; k++) {
        if (nodes->items[samples->node[k]].kind != SINEW_NODE_AFFINE) {
            return 0;
        }
    }

    find_region(samples, s, &begin, &end);
    if (end - begin < 2 || end - begin > SN_BLOCK) {
        return 0;
    }

    int32_t directions = find_transverse(samples, s, &across);
    return directions == 2 ? 3 : directions == 1 ? 1 : 0;
}

void sn_transverse_modes(const sn_frame_samples *samples, const int32_t *list, int32_t modes,
                         double *gradient) {
    int32_t begin, end;
    sn_mat3 across;
    sn_vec3 center = sn_v3(0, 0, 0);
    double volume = 0;

    find_transverse(samples, list[0], &across);
    find_region(samples, list[0], &begin, &end);

    // The centre of the region.
    for (int32_t s = begin; s < end; s++) {
        center = sn_madd(center, samples->volume[s], sn_load3(sn_at3(samples->position, s)));
        volume += samples->volume[s];
    }

    center = sn_scale(1 / volume, center);

    // Gradients of the modes: y^2 / 2, z^2 / 2 and y z in a rod.
    for (int lane = 0; lane < SN_BLOCK; lane++) {
        sn_vec3 d = sn_sub(sn_load3(sn_at3(samples->position, list[lane])), center);
        sn_vec3 e[2] = {sn_mat3_column(across, 0), sn_mat3_column(across, 1)};
        double y = sn_dot(d, e[0]);
        double z = sn_dot(d, e[1]);
        sn_vec3 g[SN_MOST_INTERNAL_MODES] = {sn_scale(y, e[0]), sn_scale(z, e[1]),
                                             sn_madd(sn_scale(y, e[1]), z, e[0])};

        for (int32_t j = 0; j < modes; j++) {
            gradient[(3 * j + 0) * SN_BLOCK + lane] = g[j].x;
            gradient[(3 * j + 1) * SN_BLOCK + lane] = g[j].y;
            gradient[(3 * j + 2) * SN_BLOCK + lane] = g[j].z;
        }
    }
}
