// Packs tets that are close together into blocks of SN_BLOCK that share no node, leaving few lanes
// empty.
//
// Block by block, tets whose nodes still have many tets left go first: a node can serve only one
// tet of a block, so the busiest nodes bound the number of blocks from below. Among tets with
// equally busy nodes, those with most tets left at all four nodes go first. Cost: blocks times tets
// of the set.
#ifndef SN_PBD_PACK_H
#define SN_PBD_PACK_H

#include "base/memory.h"
#include "math/simd.h"

enum { SN_PBD_PACK_TETS = 256 };

typedef struct sn_pbd_packer {
    const int32_t *indices; // four nodes for each tet of the mesh
    int32_t *degrees;       // by node: tets left; zero between sets
    int32_t *stamps;        // by node: the last block that uses it
    int32_t stamp;
    int32_t count; // tets left
    int32_t tets[SN_PBD_PACK_TETS], sorted[SN_PBD_PACK_TETS];
} sn_pbd_packer;

sinew_status sn_pbd_packer_create(sn_arena *arena, const int32_t *indices, int32_t node_count,
                                  sn_pbd_packer *packer);

// Starts a set of at most SN_PBD_PACK_TETS tets; the previous one must be finished.
void sn_pbd_pack_begin(sn_pbd_packer *packer, const int32_t *tets, int32_t count);

// Moves at least one tet of the set into the first of the SN_BLOCK lanes.
void sn_pbd_pack_block(sn_pbd_packer *packer, int32_t *lanes);

#endif
