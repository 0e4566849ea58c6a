// How the bodies of an island share one matrix: hard ties by elimination, and what links couple
// (link.h).
#ifndef SN_DYNAMICS_COUPLING_H
#define SN_DYNAMICS_COUPLING_H

#include "dynamics/island.h"

// Copies the world's attachments that eliminate a node into the island's rows.
sinew_status sn_coupling_collect_ties(sn_island *island);

// The island's own pattern, and where the blocks of each body go in it.
sinew_status sn_coupling_build_pattern(sn_island *island);

// Adds a member's matrix to the island's, ties folded in.
void sn_coupling_add_matrix(sn_island *island, const sn_island_body *member);

#endif
