// Loops over blocks of eight pairs, built for each instruction set: closest points, and the planes
// of the commit. A pair's result does not depend on the others in its block.
#ifndef SN_CONTACT_BLOCKS_H
#define SN_CONTACT_BLOCKS_H

#include "contact/commit.h"

#include "base/isa.h"

// Writes b, n and distance of the pairs [begin, end), which are all of one kind.
SN_ISA_DECLARE(void, sn_contact_measure_blocks,
               (sn_contact_pair * pairs, int32_t begin, int32_t end, const double *x));

// Writes gap and held of the pairs [begin, end), which are all of one kind, and 4 shares for each
// to `shares`.
SN_ISA_DECLARE(void, sn_contact_limit_blocks,
               (const sn_contact_scene *scene, int32_t begin, int32_t end,
                const sn_contact_motion *motion, double *shares));

// Where the pairs [begin, end) split into their two kinds: vertices with triangles come first.
static inline int32_t sn_contact_find_split(const sn_contact_scene *scene, int32_t begin,
                                            int32_t end) {
    int32_t split = scene->vertex_triangle_count;
    return split < begin ? begin : split < end ? split : end;
}

#endif
