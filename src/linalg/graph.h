// Orderings of the rows of a symmetric pattern.
#ifndef SN_LINALG_GRAPH_H
#define SN_LINALG_GRAPH_H

#include "linalg/bsr.h"

// Reverse Cuthill-McKee (Cuthill and McKee 1969, George and Liu 1979): breadth-first search from a
// peripheral row of each component, neighbours by ascending degree, the result reversed. Row i of
// the new order is row order[i] of the pattern. level[row] is the distance from the peripheral row,
// continued from component to component, so it decreases along the order, and coupled rows differ
// by at most one. Linear time. Both arrays have `rows` entries.
sinew_status sn_graph_rcm(sinew_context *context, const sn_bsr *pattern, int32_t *order,
                          int32_t *level);

// Approximate minimum degree (Amestoy, Davis and Duff 1996): an order with little fill for a
// Cholesky factor. The graph has n rows; starts and columns are as in sn_bsr, symmetric, with or
// without the diagonal. Row order[i] is eliminated i-th.
sinew_status sn_graph_minimum_degree(sinew_context *context, int32_t n, const int32_t *starts,
                                     const int32_t *columns, int32_t *order);

// Nested dissection by position (dissection.c), given three coordinates per row: less fill than
// minimum degree if the rows fill a solid. The graph is as above.
sinew_status sn_graph_dissect(sinew_context *context, int32_t n, const int32_t *starts,
                              const int32_t *columns, const double *positions, int32_t *order);

#endif
