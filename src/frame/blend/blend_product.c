// Products with the stiffness of a blend, without its matrix (Gilles et al. 2013, 1.4): for a
// motion x of the rows
//
//   da = J x,   dF = sum da (x) g,   dP = (dP/dF) dF,   y = J' sum V dP g
//
// at the samples, whose tangents dP/dF the last evaluation has stored. Internal modes follow dP
// (body/internal_modes.h). Cost per sample: 81
// multiply-adds and 18 for each control, where the matrix takes 27 for each pair of controls; rigid
// nodes take 400 for each node but one. The evaluation also gives the diagonal blocks of each node,
// which a preconditioner needs.
#include "frame/blend/blend.h"

#include <string.h>

static size_t place_count(const sn_nodes *nodes, const sn_blend *blend) {
    return blend->is_rigid ? SN_RIGID_TABLE * (size_t)nodes->count
                           : 3 * (size_t)nodes->control_count;
}

static size_t tangent_count(const sn_blend *blend, int32_t group) {
    const sn_sample_group *samples = &blend->groups.items[group];
    int32_t blocks = blend->is_rigid ? blend->rigid.items[group].blocks : samples->samples.blocks;
    return (size_t)blocks * sn_sample_group_tangent_count(samples);
}

static sinew_status push_tangent(sn_arena *arena, const sn_nodes *nodes, const sn_blend *blend,
                                 sn_blend_tangent *tangent) {
    double **H = SN_PUSH(arena, double *, blend->groups.count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < blend->groups.count; i++) {
        H[i] = SN_PUSH(arena, double, tangent_count(blend, i));
    }

    tangent->place = SN_PUSH(arena, double, place_count(nodes, blend));
    SN_TRY(sn_arena_status(arena));
    tangent->H = H;

    return SINEW_OK;
}

// Lists the controls of each node as a set.
static sinew_status push_own(sn_arena *arena, const sn_nodes *nodes, sn_blend_products *products) {
    int32_t *offsets = SN_PUSH(arena, int32_t, nodes->count + 1);
    int32_t *members = SN_PUSH(arena, int32_t, nodes->control_count);

    products->own_first = SN_PUSH(arena, int32_t, nodes->control_count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0, next = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        for (int32_t c = 0; c < node->control_count; c++, next++) {
            members[next] = node->control + c;
            products->own_first[node->control + c] = node->control;
        }
        offsets[i + 1] = next;
    }

    sn_bsr_sets sets = {.count = nodes->count, .offsets = offsets, .members = members};
    SN_TRY(sn_bsr_build(arena, nodes->control_count, &sets, 1, &products->own));
    products->own_stiffness = sn_bsr_push_values(arena, &products->own);

    return sn_arena_status(arena);
}

static sinew_status push_products(sn_arena *arena, const sn_nodes *nodes, sn_blend *blend) {
    sn_blend_products *products = SN_PUSH(arena, sn_blend_products, 1);
    SN_TRY(sn_arena_status(arena));
    products->motion =
        SN_PUSH(arena, double, blend->is_rigid ? 6 * nodes->count : 3 * nodes->control_count);
    SN_TRY(blend->is_rigid ? sn_rigid_blend_push_own(arena, nodes, &blend->groups, &blend->rigid)
                           : push_own(arena, nodes, products));
    SN_TRY(push_tangent(arena, nodes, blend, &products->now));
    blend->products = products;

    return SINEW_OK;
}

sinew_status sn_blend_prepare_products(sn_arena *arena, const sn_nodes *nodes, bool kept,
                                       sn_blend *blend) {
    sn_arena_mark mark = sn_arena_get_mark(arena);
    bool had = blend->products != NULL;
    sinew_status status = had ? SINEW_OK : push_products(arena, nodes, blend);
    if (status == SINEW_OK && kept && !blend->products->kept.H) {
        status = push_tangent(arena, nodes, blend, &blend->products->kept);
    }
    if (status == SINEW_OK) {
        return SINEW_OK;
    }
    if (!had) {
        blend->products = NULL; // as before
    }

    sn_arena_rewind(arena, mark);
    return status;
}

void sn_blend_keep_tangent(const sn_nodes *nodes, const sn_blend *blend) {
    const sn_blend_tangent *now = &blend->products->now;
    const sn_blend_tangent *kept = &blend->products->kept;
    for (int32_t i = 0; i < blend->groups.count; i++) {
        memcpy(kept->H[i], now->H[i], tangent_count(blend, i) * sizeof(double));
    }
    memcpy(kept->place, now->place, place_count(nodes, blend) * sizeof(double));
}

void sn_blend_add_product(sinew_context *context, const sn_nodes *nodes, const sn_blend *blend,
                          bool kept, double *y, const double *x) {
    const sn_blend_products *products = blend->products;
    const sn_blend_tangent *tangent = kept ? &products->kept : &products->now;
    if (blend->is_rigid) {
        sn_rigid_blend_add_product(context, nodes, &blend->groups, &blend->rigid, tangent->H,
                                   tangent->place, products->motion, x, y);
        return;
    }

    // Motion of the controls, from that of the rows.
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        for (int32_t c = 0; c < node->control_count; c++) {
            size_t at = 3 * (size_t)(node->control + c);
            sn_vec3 move = sn_load3(x + 3 * (node->row + sn_node_row_of_control(node, c)));
            if (sn_node_control_turns(node, c)) {
                move = sn_cross(move, sn_load3(tangent->place + at));
            }
            sn_store3(products->motion + at, move);
        }
    }

    // Multiply by the tangents of the samples, and back to the rows.
    memset(blend->force, 0, 3 * (size_t)nodes->control_count * sizeof(double));
    sn_sample_groups_multiply(context, &blend->groups, tangent->H, products->motion, blend->force);
    sn_blend_project_force(nodes, tangent->place, blend->force, -1, y);
}
