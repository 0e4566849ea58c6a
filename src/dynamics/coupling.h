// Attachments inside an island: hard ties by elimination, springy ones as energy 1/2 k |x_node - x_point|^2.
#ifndef SN_DYNAMICS_COUPLING_H
#define SN_DYNAMICS_COUPLING_H

#include "dynamics/island.h"

// Copies the world's attachments between the island's bodies into its rows.
sinew_status sn_coupling_collect_ties(sn_island *island);

// The island's own pattern, and where the blocks of each body go in it.
sinew_status sn_coupling_build_pattern(sn_island *island);

// Adds a member's matrix to the island's, ties folded in.
void sn_coupling_add_matrix(sn_island *island, const sn_island_body *member);

// Energy of the springs at the members' trial configurations; their forces are added if `force` is not NULL.
double sn_coupling_add_springs(const sn_island *island, double *force);
void sn_coupling_add_spring_matrix(sn_island *island);

#endif
