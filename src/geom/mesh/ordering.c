// Orders of nodes and elements: along a Hilbert curve, or by reverse Cuthill-McKee; and reordered
// meshes.
#include "geom/mesh/mesh.h"

#include "base/sort.h"

#include <string.h>

sinew_status sn_invert_order(sn_arena *arena, const int32_t *order, int32_t count,
                             int32_t **inverse) {
    *inverse = SN_PUSH(arena, int32_t, count);
    if (!*inverse) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int32_t i = 0; i < count; i++) {
        SN_ASSERT(order[i] >= 0 && order[i] < count);
        (*inverse)[order[i]] = i;
    }

    return SINEW_OK;
}

enum { HILBERT_BITS = 21 };

// The index of a lattice point along the Hilbert curve (Skilling 2004: undo excess work, then Gray
// code, then interleave).
static uint64_t hilbert_index(uint32_t x[3]) {
    for (uint32_t bit = 1u << (HILBERT_BITS - 1); bit > 1; bit >>= 1) {
        uint32_t low = bit - 1;
        for (int i = 0; i < 3; i++) {
            if (x[i] & bit) {
                x[0] ^= low;
            } else {
                uint32_t swap = (x[0] ^ x[i]) & low;
                x[0] ^= swap;
                x[i] ^= swap;
            }
        }
    }

    for (int i = 1; i < 3; i++) {
        x[i] ^= x[i - 1];
    }

    uint32_t turn = 0;
    for (uint32_t bit = 1u << (HILBERT_BITS - 1); bit > 1; bit >>= 1) {
        turn ^= x[2] & bit ? bit - 1 : 0;
    }

    for (int i = 0; i < 3; i++) {
        x[i] ^= turn;
    }

    uint64_t place = 0;
    for (int bit = HILBERT_BITS - 1; bit >= 0; bit--) {
        for (int i = 0; i < 3; i++) {
            place = place << 1 | (x[i] >> bit & 1);
        }
    }

    return place;
}

static uint64_t element_place(const sinew_mesh *mesh, int32_t element, sn_box box, double scale) {
    const sn_element_info *info = sn_element_info_of(mesh->element);
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    sn_vec3 center = sn_v3(0, 0, 0);

    for (int32_t i = 0; i < info->corners; i++) {
        center = sn_madd(center, 1.0 / info->corners, sn_mesh_point(mesh, nodes[i]));
    }

    sn_vec3 p = sn_scale(scale, sn_sub(center, box.lower));
    const double last = (1 << HILBERT_BITS) - 1;
    uint32_t x[3] = {(uint32_t)fmin(fmax(p.x, 0), last), (uint32_t)fmin(fmax(p.y, 0), last),
                     (uint32_t)fmin(fmax(p.z, 0), last)};

    return hilbert_index(x);
}

// Nodes in the order in which the ordered elements first use them; nodes without elements come
// last.
static void order_nodes_by_elements(const sinew_mesh *mesh, const int32_t *elements, uint8_t *met,
                                    int32_t *nodes) {
    int32_t per_element = sn_element_info_of(mesh->element)->nodes;
    int32_t next = 0;
    for (int32_t i = 0; i < mesh->element_count; i++) {
        const int32_t *element = sn_mesh_nodes(mesh, elements[i]);
        for (int32_t k = 0; k < per_element; k++) {
            if (met[element[k]]) {
                continue;
            }
            met[element[k]] = 1;
            nodes[next++] = element[k];
        }
    }

    for (int32_t node = 0; node < mesh->point_count; node++) {
        if (!met[node]) {
            nodes[next++] = node;
        }
    }

    SN_ASSERT(next == mesh->point_count);
}

sinew_status sn_build_hilbert_order(sn_arena *arena, const sinew_mesh *mesh, sn_order *order) {
    *order = (sn_order){SN_PUSH(arena, int32_t, mesh->point_count),
                        SN_PUSH(arena, int32_t, mesh->element_count)};

    sn_arena_mark mark = sn_arena_get_mark(arena);
    uint64_t *keys = SN_PUSH(arena, uint64_t, mesh->element_count);
    uint8_t *met = SN_PUSH(arena, uint8_t, mesh->point_count);

    SN_TRY(sn_arena_status(arena));
    sn_box box = sn_mesh_box(mesh);
    sn_vec3 size = sn_box_size(box);
    double largest = fmax(size.x, fmax(size.y, size.z));
    double scale = largest > 0 ? (1 << HILBERT_BITS) / largest : 0;

    for (int32_t e = 0; e < mesh->element_count; e++) {
        keys[e] = element_place(mesh, e, box, scale);
        order->elements[e] = e;
    }

    SN_TRY(sn_sort_by_key(arena, keys, order->elements, mesh->element_count));
    order_nodes_by_elements(mesh, order->elements, met, order->nodes);
    sn_arena_rewind(arena, mark);

    return SINEW_OK;
}

// Sorts a list of nodes by degree, then by number. A long list (a hub of the mesh) stays sorted by
// number: sorting it would gain nothing.
static void sort_by_degree(int32_t *nodes, int32_t count, const int32_t *offsets) {
    if (count > 256) {
        return;
    }

    for (int32_t i = 1; i < count; i++) {
        int32_t node = nodes[i];
        int32_t degree = offsets[node + 1] - offsets[node];
        int32_t k = i;

        for (; k > 0; k--) {
            int32_t other = nodes[k - 1];
            int32_t other_degree = offsets[other + 1] - offsets[other];
            if (other_degree < degree || (other_degree == degree && other < node)) {
                break;
            }
            nodes[k] = other;
        }

        nodes[k] = node;
    }
}

// Breadth-first search from `start`, neighbours by degree, into queue[begin ..]. `level` holds
// stamps; returns the end of the queue and where the last level begins.
static int32_t breadth_first(const sn_adjacency *graph, int32_t start, int32_t begin,
                             int32_t *queue, int32_t *stamps, int32_t stamp, int32_t *last_level) {
    int32_t end = begin;
    int32_t level_begin = begin;
    int32_t level_end;

    queue[end++] = start;
    stamps[start] = stamp;
    for (;;) {
        level_end = end;
        for (int32_t i = level_begin; i < level_end; i++) {
            int32_t first = end;
            for (int32_t k = graph->offsets[queue[i]]; k < graph->offsets[queue[i] + 1]; k++) {
                int32_t other = graph->items[k];
                if (stamps[other] == stamp) {
                    continue;
                }
                stamps[other] = stamp;
                queue[end++] = other;
            }

            sort_by_degree(queue + first, end - first, graph->offsets);
        }

        if (end == level_end) {
            break;
        }

        level_begin = level_end;
    }

    *last_level = level_begin;
    return end;
}

// Cuthill-McKee, each part starting from a peripheral node, then reversed.
static void order_nodes_rcm(const sn_adjacency *graph, int32_t *stamps, int32_t *nodes) {
    int32_t next = 0, stamp = 0;
    for (int32_t node = 0; node < graph->rows; node++) {
        if (stamps[node]) {
            continue;
        }

        int32_t start = node;
        int32_t last_level = 0;
        int32_t end = next;

        for (int pass = 0; pass < 3; pass++) { // twice to find an end of the part, then for good
            end = breadth_first(graph, start, next, nodes, stamps, ++stamp, &last_level);

            start = nodes[last_level];
        }
        next = end;
    }

    SN_ASSERT(next == graph->rows);
    for (int32_t i = 0, k = graph->rows - 1; i < k; i++, k--) {
        int32_t swap = nodes[i];
        nodes[i] = nodes[k];
        nodes[k] = swap;
    }
}

sinew_status sn_build_rcm_order(sn_arena *arena, const sinew_mesh *mesh, sn_order *order) {
    *order = (sn_order){SN_PUSH(arena, int32_t, mesh->point_count),
                        SN_PUSH(arena, int32_t, mesh->element_count)};

    sn_arena_mark mark = sn_arena_get_mark(arena);
    int32_t *stamps = SN_PUSH(arena, int32_t, mesh->point_count);
    int32_t *numbers;
    uint64_t *keys = SN_PUSH(arena, uint64_t, mesh->element_count);
    sn_adjacency graph;

    SN_TRY(sn_build_node_neighbors(arena, mesh, &graph));
    SN_TRY(sn_arena_status(arena));
    order_nodes_rcm(&graph, stamps, order->nodes);
    SN_TRY(sn_invert_order(arena, order->nodes, mesh->point_count, &numbers));

    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *nodes = sn_mesh_nodes(mesh, e);
        int32_t lowest = INT32_MAX;
        for (int32_t i = 0; i < sn_element_info_of(mesh->element)->nodes; i++) {
            lowest = numbers[nodes[i]] < lowest ? numbers[nodes[i]] : lowest;
        }

        keys[e] = (uint64_t)lowest;
        order->elements[e] = e;
    }

    SN_TRY(sn_sort_by_key(arena, keys, order->elements, mesh->element_count));
    sn_arena_rewind(arena, mark);

    return SINEW_OK;
}

sinew_status sn_reorder_mesh(sinew_context *context, const sinew_mesh *mesh, const sn_order *order,
                             sn_owned_mesh **reordered) {
    int32_t per_element = sn_element_info_of(mesh->element)->nodes;
    int32_t *numbers;
    sn_arena scratch = sn_arena_create(context);
    sinew_status status = sn_invert_order(&scratch, order->nodes, mesh->point_count, &numbers);

    if (status == SINEW_OK) {
        status = sn_owned_mesh_create(context, mesh->element, mesh->point_count,
                                      mesh->element_count, mesh->labels != NULL, reordered);
    }

    if (status == SINEW_OK) {
        sn_owned_mesh *made = *reordered;
        for (int32_t i = 0; i < mesh->point_count; i++) {
            sn_store3(sn_at3(made->points, i), sn_mesh_point(mesh, order->nodes[i]));
        }

        for (int32_t e = 0; e < mesh->element_count; e++) {
            const int32_t *nodes = sn_mesh_nodes(mesh, order->elements[e]);
            int32_t *to = made->indices + (size_t)e * (size_t)per_element;
            for (int32_t i = 0; i < per_element; i++) {
                to[i] = numbers[nodes[i]];
            }

            if (made->labels) {
                made->labels[e] = mesh->labels[order->elements[e]];
            }
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}
