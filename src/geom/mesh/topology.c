// Adjacency by counting sorts: nodes and elements, elements across faces, connected parts.
// Everything is O(size of the mesh).
#include "geom/mesh/mesh.h"

#include "base/tuples.h"

#include <string.h>

sinew_status sn_build_node_slots(sn_arena *arena, const int32_t *indices, int32_t nodes_per_element,
                                 int32_t element_count, int32_t node_count, sn_adjacency *slots) {
    SN_ASSERT(element_count <= INT32_MAX / nodes_per_element);
    int32_t count = element_count * nodes_per_element;
    int32_t *offsets = SN_PUSH(arena, int32_t, (size_t)node_count + 1);
    int32_t *items = SN_PUSH(arena, int32_t, count);

    SN_TRY(sn_arena_status(arena));
    for (int32_t slot = 0; slot < count; slot++) {
        SN_ASSERT(indices[slot] >= 0 && indices[slot] < node_count);
        offsets[indices[slot]]++;
    }

    // Ends of the rows, filled from the back: each end moves down to the beginning of its row.
    for (int32_t node = 0; node < node_count; node++) {
        offsets[node + 1] += offsets[node];
    }

    for (int32_t slot = count - 1; slot >= 0; slot--) {
        items[--offsets[indices[slot]]] = slot;
    }

    SN_ASSERT(offsets[0] == 0);
    *slots = (sn_adjacency){.rows = node_count, .offsets = offsets, .items = items};

    return SINEW_OK;
}

sinew_status sn_build_node_elements(sn_arena *arena, const sinew_mesh *mesh,
                                    sn_adjacency *elements) {
    int32_t nodes = sn_element_info_of(mesh->element)->nodes;
    SN_TRY(sn_build_node_slots(arena, mesh->indices, nodes, mesh->element_count, mesh->point_count,
                               elements));

    for (int32_t i = 0; i < elements->offsets[elements->rows]; i++) {
        elements->items[i] /= nodes;
    }

    return SINEW_OK;
}

// Collects the nodes that share an element with `node` into `found` (unless NULL); `seen` marks
// them with node + 1.
static int32_t collect_neighbors(const sinew_mesh *mesh, const sn_adjacency *elements, int32_t node,
                                 int32_t *seen, int32_t *found) {
    int32_t nodes = sn_element_info_of(mesh->element)->nodes;
    int32_t count = 0;
    for (int32_t i = elements->offsets[node]; i < elements->offsets[node + 1]; i++) {
        const int32_t *others = sn_mesh_nodes(mesh, elements->items[i]);
        for (int32_t k = 0; k < nodes; k++) {
            if (seen[others[k]] == node + 1) {
                continue;
            }

            seen[others[k]] = node + 1;
            if (found) {
                found[count] = others[k];
            }

            count++;
        }
    }

    return count;
}

// The relation is symmetric, so visiting the nodes in ascending order and appending each to the
// rows of its neighbours sorts all rows at once, with less memory than transposing twice.
static void sort_symmetric_rows(const sn_adjacency *rows, const int32_t *unsorted,
                                int32_t *cursor) {
    memcpy(cursor, rows->offsets, (size_t)rows->rows * sizeof *cursor);
    for (int32_t node = 0; node < rows->rows; node++) {
        for (int32_t i = rows->offsets[node]; i < rows->offsets[node + 1]; i++) {
            rows->items[cursor[unsorted[i]]++] = node;
        }
    }
}

sinew_status sn_build_node_neighbors(sn_arena *arena, const sinew_mesh *mesh,
                                     sn_adjacency *neighbors) {
    sinew_context *context = arena->context;
    int32_t count = mesh->point_count;
    sn_arena scratch = sn_arena_create(context);
    sn_adjacency elements;
    int32_t *offsets = SN_PUSH(arena, int32_t, (size_t)count + 1);
    int32_t *seen = SN_PUSH(&scratch, int32_t, count);
    sinew_status status = sn_build_node_elements(&scratch, mesh, &elements);

    if (status == SINEW_OK) {
        status = sn_arena_status(arena);
    }

    // First pass: count.
    int64_t total = 0;
    for (int32_t node = 0; status == SINEW_OK && node < count; node++) {
        total += collect_neighbors(mesh, &elements, node, seen, NULL);
        if (total > INT32_MAX) {
            status = sn_fail(context, SINEW_OUT_OF_MEMORY,
                             "the mesh has more than %d pairs of neighbouring nodes", INT32_MAX);
        } else {
            offsets[node + 1] = (int32_t)total;
        }
    }

    int32_t *items = NULL, *unsorted = NULL;
    if (status == SINEW_OK) {
        items = SN_PUSH(arena, int32_t, total);
        unsorted = SN_PUSH(&scratch, int32_t, total);
        status = items && unsorted ? SINEW_OK : SINEW_OUT_OF_MEMORY;
    }

    // Second pass: collect, then sort.
    if (status == SINEW_OK) {
        memset(seen, 0, (size_t)count * sizeof *seen);
        for (int32_t node = 0; node < count; node++) {
            collect_neighbors(mesh, &elements, node, seen, unsorted + offsets[node]);
        }
        *neighbors = (sn_adjacency){.rows = count, .offsets = offsets, .items = items};
        sort_symmetric_rows(neighbors, unsorted, seen);
    }

    sn_arena_destroy(&scratch);
    return status;
}

// All faces in the order of their sorted corner nodes, so that equal ones are adjacent;
// face = element * faces + local.
typedef struct sorted_faces {
    int32_t count, width;
    int32_t *tuples; // sorted corners of each face
    int32_t *order;
} sorted_faces;

static sinew_status sort_faces(sn_arena *scratch, const sinew_mesh *mesh, sorted_faces *sorted) {
    const sn_element_info *info = sn_element_info_of(mesh->element);
    SN_ASSERT(info->faces <= info->nodes); // so that face numbers fit into an int32_t

    int32_t width = info->face_corners;
    int32_t count = mesh->element_count * info->faces;

    *sorted = (sorted_faces){count, width, SN_PUSH(scratch, int32_t, (size_t)count * (size_t)width),
                             NULL};
    SN_TRY(sn_arena_status(scratch));

    int32_t *tuple = sorted->tuples;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *nodes = sn_mesh_nodes(mesh, e);
        for (int32_t f = 0; f < info->faces; f++, tuple += width) {
            for (int32_t i = 0; i < width; i++) {
                tuple[i] = nodes[info->face[f][i]];
            }
            sn_sort_tuple(tuple, width);
        }
    }

    return sn_sort_tuples(scratch, sorted->tuples, width, count, mesh->point_count, &sorted->order);
}

static int32_t same_face_end(const sorted_faces *sorted, int32_t begin) {
    return sn_tuple_group_end(sorted->tuples, sorted->width, sorted->order, sorted->count, begin);
}

static sinew_status match_faces(sn_arena *scratch, const sinew_mesh *mesh, int32_t *neighbors) {
    const sn_element_info *info = sn_element_info_of(mesh->element);
    sorted_faces sorted;

    SN_TRY(sort_faces(scratch, mesh, &sorted));

    // Equal faces are adjacent after sorting: one is a boundary, two are neighbours.
    for (int32_t begin = 0, end; begin < sorted.count; begin = end) {
        end = same_face_end(&sorted, begin);
        const int32_t *faces = sorted.order + begin;
        if (end - begin > 2) {
            return sn_fail(scratch->context, SINEW_INVALID_DATA,
                           "%d elements share one %s, %d, %d and %d among them; two may",
                           end - begin, info->dimension == 3 ? "face" : "edge",
                           faces[0] / info->faces, faces[1] / info->faces, faces[2] / info->faces);
        }

        neighbors[faces[0]] = end - begin == 2 ? faces[1] / info->faces : -1;
        if (end - begin == 2) {
            neighbors[faces[1]] = faces[0] / info->faces;
        }
    }

    return SINEW_OK;
}

sinew_status sn_build_element_neighbors(sn_arena *arena, const sinew_mesh *mesh,
                                        int32_t **neighbors) {
    size_t faces = (size_t)sn_element_info_of(mesh->element)->faces;
    int32_t *made = SN_PUSH(arena, int32_t, (size_t)mesh->element_count * faces);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = match_faces(&scratch, mesh, made);

    sn_arena_destroy(&scratch);
    *neighbors = made;

    return status;
}

static int32_t find_root(int32_t *parents, int32_t node) {
    while (parents[node] != node) {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    return node;
}

static void join(int32_t *parents, int32_t a, int32_t b) {
    int32_t root_a = find_root(parents, a);
    int32_t root_b = find_root(parents, b);
    if (root_a < root_b) {
        parents[root_b] = root_a;
    } else {
        parents[root_a] = root_b;
    }
}

sinew_status sn_build_components(sn_arena *arena, const sinew_mesh *mesh, int32_t **parts,
                                 int32_t *count) {
    int32_t nodes = sn_element_info_of(mesh->element)->nodes;
    int32_t *made = SN_PUSH(arena, int32_t, mesh->element_count);
    sn_arena_mark mark = sn_arena_get_mark(arena);
    int32_t *parents = SN_PUSH(arena, int32_t, mesh->point_count);
    int32_t *numbers = SN_PUSH(arena, int32_t, mesh->point_count);

    SN_TRY(sn_arena_status(arena));

    // Union-find over the nodes.
    for (int32_t i = 0; i < mesh->point_count; i++) {
        parents[i] = i;
    }

    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *element = sn_mesh_nodes(mesh, e);
        for (int32_t i = 1; i < nodes; i++) {
            join(parents, element[0], element[i]);
        }
    }

    // Number the parts in the order of their first element.
    *count = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        int32_t root = find_root(parents, sn_mesh_nodes(mesh, e)[0]);
        if (numbers[root] == 0) {
            numbers[root] = ++*count;
        }
        made[e] = numbers[root] - 1;
    }

    sn_arena_rewind(arena, mark);
    *parts = made;

    return SINEW_OK;
}

sinew_status sn_build_face_components(sn_arena *arena, const sinew_mesh *mesh, int32_t **parts,
                                      int32_t *count) {
    int32_t faces = sn_element_info_of(mesh->element)->faces;
    int32_t *made = SN_PUSH(arena, int32_t, mesh->element_count);
    sn_arena_mark mark = sn_arena_get_mark(arena);
    int32_t *parents = SN_PUSH(arena, int32_t, mesh->element_count);
    sorted_faces sorted;

    SN_TRY(sort_faces(arena, mesh, &sorted));

    // Union-find over the elements.
    for (int32_t e = 0; e < mesh->element_count; e++) {
        parents[e] = e;
    }

    for (int32_t begin = 0, end; begin < sorted.count; begin = end) {
        end = same_face_end(&sorted, begin);
        for (int32_t i = begin + 1; i < end; i++) {
            join(parents, sorted.order[begin] / faces, sorted.order[i] / faces);
        }
    }

    *count = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        int32_t root = find_root(parents, e); // the part's lowest element
        SN_ASSERT(root <= e);
        made[e] = root == e ? (*count)++ : made[root];
    }

    sn_arena_rewind(arena, mark);
    *parts = made;

    return SINEW_OK;
}
