// Measures a state: violation of the constraints, inverted tets, volume.
#include "base/threads.h"
#include "pbd/pbd.h"

static void measure_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sinew_pbd *pbd = data;
    sn_pbd_part *result = &pbd->parts[chunk];

    *result = (sn_pbd_part){.worst = -1, .worst_tet = -1};
    for (int32_t t = begin; t < end; t++) {
        sn_vec3 x[4];
        for (int k = 0; k < 4; k++) {
            x[k] = sn_load3(pbd->nodes + 4 * (size_t)pbd->tets[4 * (size_t)t + (size_t)k]);
        }

        // Violation of the seven constraints, weighted by volume.
        double c[SN_PBD_CONSTRAINTS];
        sn_pbd_values(c, sn_pbd_gradient(x, pbd->rest[t]));
        for (int k = 0; k < SN_PBD_CONSTRAINTS; k++) {
            result->squares += pbd->volumes[t] * c[k] * c[k];
            if (fabs(c[k]) > result->worst) {
                result->worst = fabs(c[k]);
                result->worst_tet = t;
            }
        }

        result->weight += pbd->volumes[t];
        result->volume += pbd->volumes[t] * (c[6] + 1);
        result->inverted += c[6] < -1;
    }
}

void sinew_pbd_measure(sinew_pbd *pbd, sinew_pbd_report *report) {
    SN_NEED_OR(, pbd && report);

    sn_parallel_for(pbd->arena.context, pbd->tet_count, SN_PBD_TET_CHUNK, measure_range, pbd);

    // Sum the chunks in order.
    sn_pbd_part total = {.worst = -1};
    for (int32_t chunk = 0; chunk < sn_chunk_count(pbd->tet_count, SN_PBD_TET_CHUNK); chunk++) {
        const sn_pbd_part *part = &pbd->parts[chunk];
        total.squares += part->squares;
        total.weight += part->weight;
        total.volume += part->volume;
        total.inverted += part->inverted;

        if (part->worst <= total.worst) {
            continue;
        }

        total.worst = part->worst;
        total.worst_tet = part->worst_tet;
    }

    *report = (sinew_pbd_report){sqrt(total.squares / total.weight), total.worst, total.worst_tet,
                                 total.inverted, total.volume};
}
