// Input: a mesh, and where it is attached. Output: layers, chunks and blocks.
//
// Layers (Cai 2016, 6.4.3): breadth-first over tets that share a node, from the attached nodes
// outwards. Within a layer the tets follow a Hilbert curve and are cut into chunks of neighbours.
// Chunks are coloured greedily and listed colour by colour, so that consecutive chunks share no
// node and need not wait for each other.
//
// The mesh's own order is preserved by levels instead: a tet's level is one more than the highest
// level of the earlier tets it shares a node with. Processing level by level gives bit for bit the
// result of processing tet by tet.
#include "pbd/schedule.h"

#include "geom/mesh/mesh.h"
#include "pbd/pack.h"

#include <string.h>

enum {
    CHUNK_TETS = SN_PBD_PACK_TETS, // at most: about 8 us
    LEVEL_BLOCKS = 32
};

typedef struct builder {
    const sn_pbd_schedule_def *def;
    sn_pbd_schedule *schedule;
    sn_arena *scratch;
    sn_pbd_packer packer;
} builder;

static const int32_t *nodes_of(const builder *build, int32_t tet) {
    return build->def->mesh->indices + 4 * (size_t)tet;
}

static void close_chunk(sn_pbd_schedule *schedule) {
    schedule->chunk_blocks[++schedule->chunk_count] = schedule->block_count;
}

static int32_t *add_block(sn_pbd_schedule *schedule) {
    int32_t *lanes = schedule->lanes + (size_t)schedule->block_count++ * SN_BLOCK;
    for (int l = 0; l < SN_BLOCK; l++) {
        lanes[l] = -1;
    }
    return lanes;
}

static void add_chunk(builder *build, const int32_t *tets, int32_t count) {
    sn_pbd_packer *packer = &build->packer;
    sn_pbd_pack_begin(packer, tets, count);
    while (packer->count > 0) {
        sn_pbd_pack_block(packer, add_block(build->schedule));
    }
    close_chunk(build->schedule);
}

// One layer of tets along the Hilbert curve, cut into chunks of equal size: a small remainder would
// have too few disjoint tets for the lanes.
static sinew_status add_layer(builder *build, const int32_t *tets, int32_t count) {
    sn_arena_mark mark = sn_arena_get_mark(build->scratch);
    int32_t *indices = SN_PUSH(build->scratch, int32_t, 4 * (size_t)count);

    SN_TRY(sn_arena_status(build->scratch));

    // Equal chunks of whole blocks, as far as the number of tets allows.
    int32_t chunks = (count + CHUNK_TETS - 1) / CHUNK_TETS;
    int32_t share = chunks > 0 ? (count + chunks - 1) / chunks : 1;
    int32_t size = (share + SN_BLOCK - 1) / SN_BLOCK * SN_BLOCK;

    for (int32_t i = 0; i < count; i++) {
        memcpy(indices + 4 * (size_t)i, nodes_of(build, tets[i]), 4 * sizeof(int32_t));
    }

    // Chunks colour by colour: consecutive ones share no node.
    sn_coloring coloring;
    SN_TRY(sn_build_coloring(build->scratch, indices, 4, count, build->def->mesh->point_count, size,
                             &coloring));

    for (int32_t c = 0; c < coloring.chunk_count; c++) {
        int32_t begin = coloring.chunks[c] * size;
        int32_t left = count - begin;
        add_chunk(build, tets + begin, left < size ? left : size);
    }

    sn_arena_rewind(build->scratch, mark);
    return SINEW_OK;
}

// Distances from the attached nodes, and with them the layers of tets.
static sinew_status find_layers(builder *build) {
    const sinew_mesh *mesh = build->def->mesh;
    int32_t *tet_layers = build->schedule->tet_layers;
    int32_t *node_layers = build->schedule->node_layers;
    sn_adjacency elements;

    SN_TRY(sn_build_node_elements(build->scratch, mesh, &elements));
    int32_t *queue = SN_PUSH(build->scratch, int32_t, mesh->point_count);
    int32_t end = 0;

    SN_TRY(sn_arena_status(build->scratch));

    // The attached nodes form layer 0.
    for (int32_t i = 0; i < mesh->point_count; i++) {
        if (!build->def->attached[i] || build->def->order != SINEW_PBD_LAYERED) {
            continue;
        }
        queue[end++] = i;
        node_layers[i] = 0;
    }

    // Breadth-first search over tets that share a node.
    for (int32_t i = 0; i < end; i++) {
        int32_t layer = node_layers[queue[i]];
        for (int32_t e = elements.offsets[queue[i]]; e < elements.offsets[queue[i] + 1]; e++) {
            int32_t tet = elements.items[e];
            if (build->def->still[tet] || tet_layers[tet] >= 0) {
                continue;
            }

            tet_layers[tet] = layer;
            for (int k = 0; k < 4; k++) {
                int32_t other = nodes_of(build, tet)[k];
                if (node_layers[other] >= 0) {
                    continue;
                }
                queue[end++] = other;
                node_layers[other] = layer + 1;
            }
        }
    }

    return SINEW_OK;
}

// Sorts `tets` stably by a key in [0, key_count); tets with a negative key are left out.
static void sort_by_key(int32_t *sorted, int32_t *offsets, const int32_t *tets, int32_t count,
                        const int32_t *keys, int32_t key_count) {
    // Counting sort.
    memset(offsets, 0, ((size_t)key_count + 1) * sizeof *offsets);
    for (int32_t i = 0; i < count; i++) {
        if (keys[tets[i]] >= 0) {
            offsets[keys[tets[i]] + 1]++;
        }
    }

    for (int32_t key = 0; key < key_count; key++) {
        offsets[key + 1] += offsets[key];
    }

    for (int32_t i = 0; i < count; i++) {
        if (keys[tets[i]] >= 0) {
            sorted[offsets[keys[tets[i]]]++] = tets[i];
        }
    }

    // Writing has moved each start to the next one: move them back.
    for (int32_t key = key_count; key > 0; key--) {
        offsets[key] = offsets[key - 1];
    }

    offsets[0] = 0;
}

static sinew_status build_layers(builder *build) {
    const sinew_mesh *mesh = build->def->mesh;
    sn_pbd_schedule *schedule = build->schedule;
    int32_t count = mesh->element_count;

    SN_TRY(find_layers(build));
    schedule->layer_count = 1;
    for (int32_t t = 0; t < count; t++) {
        int32_t *layer = &schedule->tet_layers[t];

        // Tets that no layer reaches are not attached, and are projected with the first layer.
        if (!build->def->still[t] && *layer < 0) {
            *layer = 0;
        }

        if (*layer >= schedule->layer_count) {
            schedule->layer_count = *layer + 1;
        }
    }

    // Sort by layer, along the Hilbert curve within each.
    sn_order order;
    SN_TRY(sn_build_hilbert_order(build->scratch, mesh, &order));

    int32_t *sorted = SN_PUSH(build->scratch, int32_t, count);
    int32_t *offsets = SN_PUSH(build->scratch, int32_t, schedule->layer_count + 1);

    SN_TRY(sn_arena_status(build->scratch));
    sort_by_key(sorted, offsets, order.elements, count, schedule->tet_layers,
                schedule->layer_count);

    for (int32_t layer = 0; layer < schedule->layer_count; layer++) {
        SN_TRY(add_layer(build, sorted + offsets[layer], offsets[layer + 1] - offsets[layer]));
    }

    return SINEW_OK;
}

static void add_level(builder *build, const int32_t *tets, int32_t count) {
    int32_t *lanes = NULL;
    for (int32_t i = 0; i < count; i++) {
        if (i > 0 && i % (LEVEL_BLOCKS * SN_BLOCK) == 0) {
            close_chunk(build->schedule);
        }
        if (i % SN_BLOCK == 0) {
            lanes = add_block(build->schedule);
        }

        lanes[i % SN_BLOCK] = tets[i];
    }

    close_chunk(build->schedule);
}

static sinew_status build_sequence(builder *build) {
    const sinew_mesh *mesh = build->def->mesh;
    int32_t count = mesh->element_count;
    int32_t level_count = 0;
    int32_t *node_levels = SN_PUSH(build->scratch, int32_t, mesh->point_count);
    int32_t *levels = SN_PUSH(build->scratch, int32_t, count);
    int32_t *tets = SN_PUSH(build->scratch, int32_t, count);
    int32_t *sorted = SN_PUSH(build->scratch, int32_t, count);
    int32_t *offsets = SN_PUSH(build->scratch, int32_t, count + 1);

    SN_TRY(sn_arena_status(build->scratch));

    // Level of a tet: one more than that of the last earlier tet it shares a node with.
    for (int32_t t = 0; t < count; t++) {
        tets[t] = t;
        levels[t] = build->def->still[t] ? -1 : 0;
        build->schedule->tet_layers[t] = levels[t];
        if (build->def->still[t]) {
            continue;
        }

        for (int k = 0; k < 4; k++) {
            int32_t after = node_levels[nodes_of(build, t)[k]];
            levels[t] = after > levels[t] ? after : levels[t];
        }

        for (int k = 0; k < 4; k++) {
            node_levels[nodes_of(build, t)[k]] = levels[t] + 1;
        }

        level_count = levels[t] + 1 > level_count ? levels[t] + 1 : level_count;
    }

    // Level by level.
    build->schedule->layer_count = 1;
    sort_by_key(sorted, offsets, tets, count, levels, level_count);
    for (int32_t level = 0; level < level_count; level++) {
        add_level(build, sorted + offsets[level], offsets[level + 1] - offsets[level]);
    }

    return SINEW_OK;
}

// The chunks of each node, ascending, without repetition, found tet by tet in the order of the
// blocks.
static sinew_status list_node_chunks(builder *build, sn_adjacency *chunks) {
    const sn_pbd_schedule *schedule = build->schedule;
    int32_t nodes = build->def->mesh->point_count;

    *chunks = (sn_adjacency){nodes, SN_PUSH(build->scratch, int32_t, nodes + 1), NULL};
    int32_t *last = SN_PUSH(build->scratch, int32_t, nodes);

    SN_TRY(sn_arena_status(build->scratch));

    // Pass 0 counts, pass 1 writes.
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < nodes; i++) {
            last[i] = -1;
        }

        for (int32_t c = 0; c < schedule->chunk_count; c++) {
            for (int32_t l = schedule->chunk_blocks[c] * SN_BLOCK;
                 l < schedule->chunk_blocks[c + 1] * SN_BLOCK; l++) {
                if (schedule->lanes[l] < 0) {
                    continue;
                }

                for (int k = 0; k < 4; k++) {
                    int32_t node = nodes_of(build, schedule->lanes[l])[k];
                    if (last[node] == c) {
                        continue;
                    }
                    last[node] = c;
                    if (pass == 1) {
                        chunks->items[chunks->offsets[node]] = c;
                    }
                    chunks->offsets[node + (pass == 0)]++;
                }
            }
        }

        // After counting: starts of the lists.
        if (pass == 1) {
            break;
        }

        for (int32_t i = 0; i < nodes; i++) {
            chunks->offsets[i + 1] += chunks->offsets[i];
        }

        chunks->items = SN_PUSH(build->scratch, int32_t, chunks->offsets[nodes]);
        SN_TRY(sn_arena_status(build->scratch));
    }

    // Writing has moved each start to the next one: move them back.
    for (int32_t i = nodes; i > 0; i--) {
        chunks->offsets[i] = chunks->offsets[i - 1];
    }

    chunks->offsets[0] = 0;
    return SINEW_OK;
}

// For each chunk those it shares a node with.
static sinew_status find_neighbors(sn_arena *arena, builder *build) {
    sn_pbd_schedule *schedule = build->schedule;
    int32_t count = schedule->chunk_count;
    sn_adjacency chunks;

    SN_TRY(list_node_chunks(build, &chunks));
    int32_t *last = SN_PUSH(build->scratch, int32_t, count);

    schedule->neighbors = (sn_adjacency){count, SN_PUSH(arena, int32_t, count + 1), NULL};
    SN_TRY(sn_arena_status(build->scratch));
    SN_TRY(sn_arena_status(arena));

    // Pass 0 counts, pass 1 writes; `last` removes duplicates.
    for (int pass = 0; pass < 2; pass++) {
        int32_t end = 0;
        for (int32_t c = 0; c < count; c++) {
            last[c] = -1;
        }

        for (int32_t c = 0; c < count; c++) {
            schedule->neighbors.offsets[c] = end;
            for (int32_t l = schedule->chunk_blocks[c] * SN_BLOCK;
                 l < schedule->chunk_blocks[c + 1] * SN_BLOCK; l++) {
                if (schedule->lanes[l] < 0) {
                    continue;
                }

                for (int k = 0; k < 4; k++) {
                    int32_t node = nodes_of(build, schedule->lanes[l])[k];
                    for (int32_t i = chunks.offsets[node]; i < chunks.offsets[node + 1]; i++) {
                        int32_t other = chunks.items[i];
                        if (other == c || last[other] == c) {
                            continue;
                        }
                        last[other] = c;
                        if (pass == 1) {
                            schedule->neighbors.items[end] = other;
                        }
                        end++;
                    }
                }
            }
        }

        schedule->neighbors.offsets[count] = end;
        if (pass == 0) {
            schedule->neighbors.items = SN_PUSH(arena, int32_t, end);
        }

        SN_TRY(sn_arena_status(arena));
    }

    return SINEW_OK;
}

// Allocates the worst case: a block and a chunk per tet.
static sinew_status push_arrays(sn_arena *arena, sn_pbd_schedule *schedule,
                                const sinew_mesh *mesh) {
    size_t tets = (size_t)mesh->element_count;
    size_t nodes = (size_t)mesh->point_count;

    schedule->chunk_blocks = SN_PUSH(arena, int32_t, tets + 1);
    schedule->tet_layers = SN_PUSH(arena, int32_t, tets);
    schedule->node_layers = SN_PUSH(arena, int32_t, nodes);
    schedule->lanes = SN_PUSH(arena, int32_t, SN_BLOCK * tets);
    SN_TRY(sn_arena_status(arena));
    memset(schedule->tet_layers, -1, tets * sizeof(int32_t));
    memset(schedule->node_layers, -1, nodes * sizeof(int32_t));

    return SINEW_OK;
}

static sinew_status build_all(sn_arena *arena, builder *build) {
    const sinew_mesh *mesh = build->def->mesh;
    SN_TRY(sn_pbd_packer_create(build->scratch, mesh->indices, mesh->point_count, &build->packer));
    SN_TRY(build->def->order == SINEW_PBD_SEQUENCE ? build_sequence(build) : build_layers(build));
    SN_TRY(find_neighbors(arena, build));
    sn_pbd_schedule *schedule = build->schedule;
    schedule->sweeps =
        (sn_sweeps){schedule->chunk_count, schedule->neighbors.offsets, schedule->neighbors.items,
                    SN_PUSH(arena, atomic_int, schedule->chunk_count)};

    return sn_arena_status(arena);
}

sinew_status sn_pbd_build_schedule(sn_arena *arena, const sn_pbd_schedule_def *def,
                                   sn_pbd_schedule *schedule) {
    SN_ASSERT(def->mesh->element == SINEW_ELEMENT_TET4);
    *schedule = (sn_pbd_schedule){0};
    SN_TRY(push_arrays(arena, schedule, def->mesh));
    sn_arena scratch = sn_arena_create(arena->context);
    builder build = {.def = def, .schedule = schedule, .scratch = &scratch};
    sinew_status status = build_all(arena, &build);
    sn_arena_destroy(&scratch);

    return status;
}
