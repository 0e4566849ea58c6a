// Cuts hexahedra into tets, and adds mid-edge nodes.
//
// Six tets: the cone from the hexahedron's lowest node over the triangles of the three faces that
// do not contain it, each face cut through its own lowest node (the rule of Dompierre et al. 1999).
// Both sides of a face apply the same rule, so any hexahedral mesh becomes a conforming one; a
// regular grid becomes Kuhn's subdivision.
//
// Five tets: one over the four white corners, and one at each black corner.
#include "geom/mesh/mesh.h"

#include "base/tuples.h"

#include <string.h>

static void cut_into_six(const int32_t *nodes, int32_t *tets) {
    const sn_element_info *info = sn_element_info_of(SINEW_ELEMENT_HEX8);
    int32_t apex = 0;
    const int32_t *end = tets + 24;

    // The apex is the lowest node.
    for (int32_t i = 1; i < 8; i++) {
        apex = nodes[i] < nodes[apex] ? i : apex;
    }

    // Cone over the three faces that do not contain it.
    for (int32_t f = 0; f < 6; f++) {
        const int8_t *face = info->face[f];
        if (face[0] == apex || face[1] == apex || face[2] == apex || face[3] == apex) {
            continue;
        }

        int32_t lowest = 0;
        for (int32_t i = 1; i < 4; i++) {
            lowest = nodes[face[i]] < nodes[face[lowest]] ? i : lowest;
        }

        for (int32_t k = 1; k <= 2; k++, tets += 4) {
            tets[0] = nodes[apex];
            tets[1] = nodes[face[lowest]];
            tets[2] = nodes[face[(lowest + k) % 4]];
            tets[3] = nodes[face[(lowest + k + 1) % 4]];
        }
    }

    SN_ASSERT(tets == end); // three faces do not hold the apex
    (void)end;
}

static void cut_into_five(const int32_t *nodes, bool first_is_white, int32_t *tets) {
    // White corners 0, 2, 5, 7 span the middle tet; a rotation by 90 degrees about the axis 04
    // brings 1, 3, 4, 6 there.
    static const int8_t cut[5][4] = {
        {0, 2, 7, 5}, {0, 1, 2, 5}, {0, 2, 3, 7}, {0, 5, 7, 4}, {2, 7, 5, 6}};
    static const int8_t rotated[8] = {1, 2, 3, 0, 5, 6, 7, 4};

    for (int32_t i = 0; i < 20; i++) {
        int8_t corner = cut[i / 4][i % 4];
        tets[i] = nodes[first_is_white ? corner : rotated[corner]];
    }
}

// Union-find with the parity of the path to the parent.
typedef struct parity_forest {
    int32_t *parents;
    uint8_t *parities;
} parity_forest;

// The root of a node; *parity is that of the path.
static int32_t find_root(const parity_forest *forest, int32_t node, uint8_t *parity) {
    uint8_t sum = 0;
    int32_t root = node;
    for (; forest->parents[root] != root; root = forest->parents[root]) {
        sum ^= forest->parities[root];
    }

    *parity = sum;
    // Path compression: hang the whole path under the root.
    while (forest->parents[node] != root && node != root) {
        int32_t next = forest->parents[node];
        uint8_t old = forest->parities[node];

        forest->parents[node] = root;
        forest->parities[node] = sum;
        sum ^= old;
        node = next;
    }

    return root;
}

// Requires a and b to have different colours. False if they are already required to be equal.
static bool join_as_different(const parity_forest *forest, int32_t a, int32_t b) {
    uint8_t parity_a, parity_b;
    int32_t root_a = find_root(forest, a, &parity_a);
    int32_t root_b = find_root(forest, b, &parity_b);
    if (root_a == root_b) {
        return parity_a != parity_b;
    }

    int32_t low = root_a < root_b ? root_a : root_b;
    int32_t high = root_a < root_b ? root_b : root_a;

    forest->parents[high] = low;
    forest->parities[high] = parity_a ^ parity_b ^ 1;

    return true;
}

// Colours the nodes so that the ends of every edge differ; the lowest node of each part is white
// (0).
static sinew_status color_nodes(sn_arena *scratch, const sinew_mesh *hexes, uint8_t **colors) {
    static const int8_t edges[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                        {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
    parity_forest forest = {SN_PUSH(scratch, int32_t, hexes->point_count),
                            SN_PUSH(scratch, uint8_t, hexes->point_count)};

    *colors = SN_PUSH(scratch, uint8_t, hexes->point_count);
    SN_TRY(sn_arena_status(scratch));
    for (int32_t i = 0; i < hexes->point_count; i++) {
        forest.parents[i] = i;
    }

    // Every edge demands different colours at its ends.
    for (int32_t e = 0; e < hexes->element_count; e++) {
        const int32_t *nodes = sn_mesh_nodes(hexes, e);
        for (int i = 0; i < 12; i++) {
            if (!join_as_different(&forest, nodes[edges[i][0]], nodes[edges[i][1]])) {
                return sn_fail(scratch->context, SINEW_INVALID_ARGUMENT,
                               "5 tets in a cell need an even number of cells around every ring, "
                               "and cell %d closes an odd one; take 6, or an even number",
                               e);
            }
        }
    }

    for (int32_t i = 0; i < hexes->point_count; i++) {
        find_root(&forest, i, &(*colors)[i]);
    }

    return SINEW_OK;
}

static sinew_status cut_all(sn_arena *scratch, const sinew_mesh *hexes, int32_t tets_per_cell,
                            sn_owned_mesh **tets) {
    uint8_t *colors = NULL;
    if (tets_per_cell == 5) {
        SN_TRY(color_nodes(scratch, hexes, &colors));
    }

    SN_TRY(sn_owned_mesh_create(scratch->context, SINEW_ELEMENT_TET4, hexes->point_count,
                                (int64_t)tets_per_cell * hexes->element_count,
                                hexes->labels != NULL, tets));

    // Same points, five or six tets for each cell, inherited labels.
    sn_owned_mesh *made = *tets;
    memcpy(made->points, hexes->points, 3 * (size_t)hexes->point_count * sizeof(double));
    for (int32_t e = 0; e < hexes->element_count; e++) {
        const int32_t *nodes = sn_mesh_nodes(hexes, e);
        int32_t *cut = made->indices + 4 * (size_t)tets_per_cell * (size_t)e;
        if (tets_per_cell == 5) {
            cut_into_five(nodes, colors[nodes[0]] == 0, cut);
        } else {
            cut_into_six(nodes, cut);
        }

        if (made->labels) {
            for (int32_t i = 0; i < tets_per_cell; i++) {
                made->labels[tets_per_cell * e + i] = hexes->labels[e];
            }
        }
    }

    return SINEW_OK;
}

sinew_status sn_cut_hexes(sinew_context *context, const sinew_mesh *hexes, int32_t tets_per_cell,
                          sn_owned_mesh **tets) {
    SN_ASSERT(hexes->element == SINEW_ELEMENT_HEX8 && (tets_per_cell == 5 || tets_per_cell == 6));
    sn_arena scratch = sn_arena_create(context);
    sinew_status status = cut_all(&scratch, hexes, tets_per_cell, tets);
    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status add_middles(sn_arena *scratch, const sinew_mesh *tets,
                                sn_owned_mesh **quadratic) {
    int64_t count = 6 * (int64_t)tets->element_count;
    if (count > INT32_MAX) {
        return sn_fail(scratch->context, SINEW_OUT_OF_MEMORY, "more than %d edges", INT32_MAX);
    }

    int32_t *edges = SN_PUSH(scratch, int32_t, 2 * count);
    int32_t *order;
    int32_t unique = 0;

    // All edges, with their ends in ascending order.
    SN_TRY(sn_arena_status(scratch));
    for (int32_t i = 0; i < count; i++) {
        const int32_t *nodes = sn_mesh_nodes(tets, i / 6);
        edges[2 * (size_t)i] = nodes[sn_tet_edges[i % 6][0]];
        edges[2 * (size_t)i + 1] = nodes[sn_tet_edges[i % 6][1]];
        sn_sort_tuple(edges + 2 * (size_t)i, 2);
    }

    // Sorting makes equal edges adjacent.
    SN_TRY(sn_sort_tuples(scratch, edges, 2, (int32_t)count, tets->point_count, &order));
    for (int32_t i = 0; i < count; i = sn_tuple_group_end(edges, 2, order, (int32_t)count, i)) {
        unique++;
    }

    SN_TRY(sn_owned_mesh_create(scratch->context, SINEW_ELEMENT_TET10,
                                (int64_t)tets->point_count + unique, tets->element_count,
                                tets->labels != NULL, quadratic));

    // One new node in the middle of each distinct edge.
    sn_owned_mesh *made = *quadratic;
    memcpy(made->points, tets->points, 3 * (size_t)tets->point_count * sizeof(double));
    for (int32_t begin = 0, end, node = tets->point_count; begin < count; begin = end, node++) {
        end = sn_tuple_group_end(edges, 2, order, (int32_t)count, begin);
        const int32_t *ends = edges + 2 * (size_t)order[begin];
        sn_store3(sn_at3(made->points, node), sn_scale(0.5, sn_add(sn_mesh_point(tets, ends[0]),
                                                                   sn_mesh_point(tets, ends[1]))));

        for (int32_t i = begin; i < end; i++) {
            made->indices[10 * (size_t)(order[i] / 6) + 4 + (size_t)(order[i] % 6)] = node;
        }
    }

    // The corners and labels are those of the tet.
    for (int32_t e = 0; e < tets->element_count; e++) {
        memcpy(made->indices + 10 * (size_t)e, sn_mesh_nodes(tets, e), 4 * sizeof(int32_t));
        if (made->labels) {
            made->labels[e] = tets->labels[e];
        }
    }

    return SINEW_OK;
}

sinew_status sn_add_middle_nodes(sinew_context *context, const sinew_mesh *tets,
                                 sn_owned_mesh **quadratic) {
    SN_ASSERT(tets->element == SINEW_ELEMENT_TET4);
    sn_arena scratch = sn_arena_create(context);
    sinew_status status = add_middles(&scratch, tets, quadratic);
    sn_arena_destroy(&scratch);
    return status;
}

sinew_status sinew_mesh_create_quadratic(sinew_context *context, const sinew_mesh *tets,
                                         sinew_mesh **quadratic) {
    SN_NEED(NULL, context);
    SN_NEED(context, quadratic);

    SN_TRY(sn_check_arrays(context, tets));
    if (tets->element != SINEW_ELEMENT_TET4) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "middle nodes are added to tet4 elements only, not to %s",
                       sn_element_info_of(tets->element)->name);
    }

    sn_owned_mesh *made;
    SN_TRY(sn_add_middle_nodes(context, tets, &made));
    *quadratic = &made->view;

    return SINEW_OK;
}

sinew_status sn_finish_hexes(sinew_context *context, sn_owned_mesh *hexes, sinew_element element,
                             int32_t tets_per_cell, sinew_mesh **mesh) {
    if (element == SINEW_ELEMENT_HEX8) {
        *mesh = &hexes->view;
        return SINEW_OK;
    }

    SN_ASSERT(hexes->view.element == SINEW_ELEMENT_HEX8);
    sn_owned_mesh *tets = NULL, *quadratic = NULL;
    sinew_status status = sn_cut_hexes(context, &hexes->view, tets_per_cell, &tets);

    // The hexahedra are no longer needed, whether cutting them succeeded or not.
    sinew_mesh_destroy(&hexes->view);
    SN_TRY(status);
    if (element == SINEW_ELEMENT_TET4) {
        *mesh = &tets->view;
        return SINEW_OK;
    }

    if (element == SINEW_ELEMENT_TET10) {
        status = sn_add_middle_nodes(context, &tets->view, &quadratic);
        if (status == SINEW_OK) {
            *mesh = &quadratic->view;
        }
    } else {
        status = sinew_mesh_create_surface(context, &tets->view, mesh, NULL);
    }

    sinew_mesh_destroy(&tets->view);
    return status;
}

sinew_status sn_check_cutting(sinew_context *context, sinew_element element,
                              int32_t tets_per_cell) {
    if (sinew_element_node_count(element) == 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "unknown element kind %d", (int)element);
    }

    if (tets_per_cell != 5 && tets_per_cell != 6) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "tets_per_cell is %d; valid are 5 and 6",
                       tets_per_cell);
    }

    return SINEW_OK;
}
