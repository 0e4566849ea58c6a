#include "frame/fade.h"

#include <math.h>
#include <string.h>

// The gradients of a sample in its group: component k of control c is at [(3 c + k) SN_BLOCK].
static double *packed_gradient(const sn_blend *blend, int32_t sample, int32_t *width) {
    const sn_samples *packed = &blend->groups.items[blend->sample_group[sample]].samples;
    int32_t place = blend->sample_place[sample];
    *width = packed->width;
    return packed->gradient + (size_t)(place / SN_BLOCK) * (size_t)packed->width * 3 * SN_BLOCK + place % SN_BLOCK;
}

static const int32_t *packed_control(const sn_blend *blend, int32_t sample) {
    const sn_samples *packed = &blend->groups.items[blend->sample_group[sample]].samples;
    int32_t place = blend->sample_place[sample];
    return packed->control + (size_t)(place / SN_BLOCK) * (size_t)packed->width * SN_BLOCK + place % SN_BLOCK;
}

double sn_fade_left(const sn_fade *fade, double age) {
    if (!(age < fade->duration)) return 0;
    double u = age / fade->duration;
    return 1 - u * u * (3 - 2 * u);
}

// Of rigid nodes: D in the sample's block, component e at [e SN_BLOCK].
static double *packed_D(const sn_blend *blend, int32_t sample) {
    int32_t place = blend->sample_place[sample];
    return blend->rigid.items[blend->sample_group[sample]].fade[place / SN_BLOCK] + place % SN_BLOCK;
}

void sn_fade_apply(sn_fade *fade, sn_blend *blend, double r) {
    for (int32_t k = 0; k < fade->sample_count; k++) {
        int32_t width;
        if (blend->is_rigid) {
            double *D = packed_D(blend, fade->sample[k]);
            for (int e = 0; e < 9; e++) D[e * SN_BLOCK] = (e % 4 == 0) + r * fade->residual[k].m[e / 3][e % 3];
            continue;
        }
        double *packed = packed_gradient(blend, fade->sample[k], &width);
        sn_mat3 D = sn_mat3_add(sn_mat3_identity(), sn_mat3_scale(r, fade->residual[k]));
        for (int32_t c = 0; c < width; c++) {
            double g[3];
            sn_store3(g, sn_mat3_apply_transposed(D, sn_load3(fade->gradient[k] + 3 * c)));
            for (int i = 0; i < 3; i++) packed[(3 * c + i) * SN_BLOCK] = g[i];
        }
    }
    fade->applied = r;
}

void sn_fade_move_vertices(const sn_fade *fade, const sn_nodes *nodes, const double *q, double r, double *positions) {
    for (int32_t k = 0; k < fade->vertex_count && r > 0; k++) {
        sn_quat R = sn_node_rotation(&nodes->items[fade->carrier[k]], q);
        sn_add_to3(positions + 3 * (size_t)fade->vertex[k], sn_scale(r, sn_quat_rotate(R, fade->offset[k])));
    }
}

sn_mat3 sn_fade_sample_F(const sn_blend *blend, int32_t sample) {
    if (blend->is_rigid) {
        return sn_rigid_blend_get_F(&blend->rigid, blend->sample_group[sample], blend->sample_place[sample]);
    }
    int32_t width;
    const double *gradient = packed_gradient(blend, sample, &width);
    const int32_t *control = packed_control(blend, sample);
    sn_mat3 F = {{{0}}};
    for (int32_t c = 0; c < width; c++) {
        const double *g = gradient + 3 * c * SN_BLOCK;
        sn_vec3 a = sn_load3(blend->controls + 3 * control[c * SN_BLOCK]);
        F = sn_mat3_add(F, sn_outer(a, sn_v3(g[0], g[SN_BLOCK], g[2 * SN_BLOCK])));
    }
    return F;
}

// Room for D in the blocks of the samples, with the identity in every lane.
static sinew_status push_D(sn_arena *arena, const sn_blend *blend, const int32_t *samples, int32_t count) {
    for (int32_t k = 0; k < count; k++) {
        double **D = &blend->rigid.items[blend->sample_group[samples[k]]].fade[blend->sample_place[samples[k]] / SN_BLOCK];
        if (*D) continue;
        *D = SN_PUSH(arena, double, 9 * SN_BLOCK);
        SN_TRY(sn_arena_status(arena));
        for (int e = 0; e < 9 * SN_BLOCK; e++) (*D)[e] = e / SN_BLOCK % 4 == 0;
    }
    return SINEW_OK;
}

sinew_status sn_fade_create(sn_arena *arena, const sn_blend *blend, const int32_t *samples, int32_t sample_count,
                            const int32_t *vertices, int32_t vertex_count, sn_fade *fade) {
    *fade = (sn_fade){.sample_count = sample_count, .vertex_count = vertex_count};
    fade->sample = SN_PUSH(arena, int32_t, sample_count);
    fade->residual = SN_PUSH(arena, sn_mat3, sample_count);
    fade->gradient = SN_PUSH(arena, double *, sample_count);
    fade->vertex = SN_PUSH(arena, int32_t, vertex_count);
    fade->carrier = SN_PUSH(arena, int32_t, vertex_count);
    fade->offset = SN_PUSH(arena, sn_vec3, vertex_count);
    SN_TRY(sn_arena_status(arena));
    memcpy(fade->sample, samples, (size_t)sample_count * sizeof *samples);
    memcpy(fade->vertex, vertices, (size_t)vertex_count * sizeof *vertices);
    if (blend->is_rigid) return push_D(arena, blend, samples, sample_count);
    for (int32_t k = 0; k < sample_count; k++) {
        int32_t width;
        const double *packed = packed_gradient(blend, samples[k], &width);
        double *copy = fade->gradient[k] = SN_PUSH(arena, double, 3 * (size_t)width);
        SN_TRY(sn_arena_status(arena));
        for (int32_t i = 0; i < 3 * width; i++) copy[i] = packed[i * SN_BLOCK];
    }
    return SINEW_OK;
}
