// Packs tets that share no node into blocks of lanes; see pack.h.
#include "pbd/pack.h"

#include <string.h>

enum { BUCKETS = 256 }; // priorities above are treated alike

sinew_status sn_pbd_packer_create(sn_arena *arena, const int32_t *indices, int32_t node_count,
                                  sn_pbd_packer *packer) {
    packer->indices = indices;
    packer->degrees = SN_PUSH(arena, int32_t, node_count);
    packer->stamps = SN_PUSH(arena, int32_t, node_count);
    packer->stamp = 0;
    packer->count = 0;
    return sn_arena_status(arena);
}

void sn_pbd_pack_begin(sn_pbd_packer *packer, const int32_t *tets, int32_t count) {
    SN_ASSERT(packer->count == 0 && count <= SN_PBD_PACK_TETS);
    memcpy(packer->tets, tets, (size_t)count * sizeof *tets);
    packer->count = count;

    for (int32_t i = 0; i < count; i++) {
        for (int k = 0; k < 4; k++) {
            packer->degrees[packer->indices[4 * (size_t)tets[i] + (size_t)k]]++;
        }
    }
}

// The number of remaining tets of a tet's busiest node, and of all four together.
static int32_t busiest(const sn_pbd_packer *packer, int32_t tet) {
    int32_t highest = 0;
    for (int k = 0; k < 4; k++) {
        int32_t degree = packer->degrees[packer->indices[4 * (size_t)tet + (size_t)k]];
        highest = degree > highest ? degree : highest;
    }
    return highest;
}

static int32_t together(const sn_pbd_packer *packer, int32_t tet) {
    int32_t sum = 0;
    for (int k = 0; k < 4; k++) {
        sum += packer->degrees[packer->indices[4 * (size_t)tet + (size_t)k]];
    }
    return sum;
}

// Those with the highest priority first; ties keep their order.
static void sort_by(const sn_pbd_packer *packer, int32_t *sorted, const int32_t *tets,
                    int32_t (*priority)(const sn_pbd_packer *, int32_t)) {
    int32_t starts[BUCKETS + 1] = {0}, places[SN_PBD_PACK_TETS];
    for (int32_t i = 0; i < packer->count; i++) {
        int32_t value = priority(packer, tets[i]);
        places[i] = value < BUCKETS ? BUCKETS - 1 - value : 0;
        starts[places[i] + 1]++;
    }

    for (int b = 0; b < BUCKETS; b++) {
        starts[b + 1] += starts[b];
    }

    for (int32_t i = 0; i < packer->count; i++) {
        sorted[starts[places[i]]++] = tets[i];
    }
}

static bool take(sn_pbd_packer *packer, int32_t tet) {
    const int32_t *node = packer->indices + 4 * (size_t)tet;
    for (int k = 0; k < 4; k++) {
        if (packer->stamps[node[k]] == packer->stamp) {
            return false;
        }
    }

    for (int k = 0; k < 4; k++) {
        packer->stamps[node[k]] = packer->stamp;
        packer->degrees[node[k]]--;
    }

    return true;
}

void sn_pbd_pack_block(sn_pbd_packer *packer, int32_t *lanes) {
    int32_t together_first[SN_PBD_PACK_TETS];
    sort_by(packer, together_first, packer->tets, together);
    sort_by(packer, packer->sorted, together_first, busiest);
    packer->stamp++;

    int32_t filled = 0, left = 0;
    for (int32_t i = 0; i < packer->count; i++) {
        int32_t tet = packer->sorted[i];
        if (filled < SN_BLOCK && take(packer, tet)) {
            lanes[filled++] = tet;
        } else {
            packer->tets[left++] = tet;
        }
    }

    SN_ASSERT(filled > 0);
    packer->count = left;
}
