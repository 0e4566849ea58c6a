// Orders of the rows of a symmetric pattern.
#ifndef SN_LINALG_GRAPH_H
#define SN_LINALG_GRAPH_H

#include "linalg/bsr.h"

// Reverse Cuthill-McKee (Cuthill and McKee 1969, George and Liu 1979): breadth-first from a far end of each component,
// neighbours by ascending degree, the whole reversed. The i-th row is order[i] of the pattern. level[row] is the distance from
// the far end, counted on from component to component, so that it falls along the order, and coupled rows differ by at most
// one. Linear time. Both arrays have `rows` entries.
sinew_status sn_graph_rcm(sinew_context *context, const sn_bsr *pattern, int32_t *order, int32_t *level);

#endif
