// Orders of the rows of a symmetric pattern.
#ifndef SN_LINALG_GRAPH_H
#define SN_LINALG_GRAPH_H

#include "linalg/bsr.h"

// Reverse Cuthill-McKee (Cuthill and McKee 1969, George and Liu 1979): breadth-first from a far end
// of each component, neighbours by ascending degree, the whole reversed. The i-th row is order[i]
// of the pattern. level[row] is the distance from the far end, counted on from component to
// component, so that it falls along the order, and coupled rows differ by at most one. Linear time.
// Both arrays have `rows` entries.
sinew_status sn_graph_rcm(sinew_context *context, const sn_bsr *pattern, int32_t *order,
                          int32_t *level);

// Approximate minimum degree (Amestoy, Davis and Duff 1996): an order with little fill for a
// Cholesky factor. The graph has n rows, starts and columns as in sn_bsr, symmetric, with or
// without diagonal. The i-th row to eliminate is order[i].
sinew_status sn_graph_minimum_degree(sinew_context *context, int32_t n, const int32_t *starts,
                                     const int32_t *columns, int32_t *order);

// Nested dissection by places (dissection.c), three coordinates of each row: less fill than minimum
// degree where the rows lie in a solid. The graph is as above.
sinew_status sn_graph_dissect(sinew_context *context, int32_t n, const int32_t *starts,
                              const int32_t *columns, const double *places, int32_t *order);

#endif
