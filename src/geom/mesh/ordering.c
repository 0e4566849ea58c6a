// Orders of nodes and elements along a Hilbert curve.
#include "geom/mesh/mesh.h"

#include "base/sort.h"

#include <string.h>

enum { HILBERT_BITS = 21 };

// The index of a lattice point along the Hilbert curve (Skilling 2004: undo excess work, then Gray
// code, then interleave).
static uint64_t hilbert_index(uint32_t x[3]) {
    // Undo excess work: inverse of the rotations and reflections of the curve's cells.
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

    // Gray code.
    for (int i = 1; i < 3; i++) {
        x[i] ^= x[i - 1];
    }

    uint32_t flips = 0;
    for (uint32_t bit = 1u << (HILBERT_BITS - 1); bit > 1; bit >>= 1) {
        flips ^= x[2] & bit ? bit - 1 : 0;
    }

    for (int i = 0; i < 3; i++) {
        x[i] ^= flips;
    }

    // Interleave the bits of the three coordinates.
    uint64_t index = 0;
    for (int bit = HILBERT_BITS - 1; bit >= 0; bit--) {
        for (int i = 0; i < 3; i++) {
            index = index << 1 | (x[i] >> bit & 1);
        }
    }

    return index;
}

static uint64_t element_index(const sinew_mesh *mesh, int32_t element, sn_box box, double scale) {
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

    // Nodes in the order of first use.
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

    // Keys: the centre of each element on a lattice over the bounding box.
    sn_box box = sn_mesh_box(mesh);
    sn_vec3 size = sn_box_size(box);
    double largest = fmax(size.x, fmax(size.y, size.z));
    double scale = largest > 0 ? (1 << HILBERT_BITS) / largest : 0;

    for (int32_t e = 0; e < mesh->element_count; e++) {
        keys[e] = element_index(mesh, e, box, scale);
        order->elements[e] = e;
    }

    SN_TRY(sn_sort_by_key(arena, keys, order->elements, mesh->element_count));
    order_nodes_by_elements(mesh, order->elements, met, order->nodes);
    sn_arena_rewind(arena, mark);

    return SINEW_OK;
}
