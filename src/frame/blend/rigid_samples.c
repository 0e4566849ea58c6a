// Packing of the samples of rigid nodes: they are sorted by their lists of nodes, cut into blocks
// and chunks, and the pairs of nodes of each chunk are numbered. Cost: linear in samples times
// pairs of nodes.
#include "frame/blend/rigid_kernels.h"

#include <string.h>

enum { LEAST_CHUNK = 16, MOST_CHUNKS = 64, LEAST_UNIFORM = 4 };

static bool same_nodes(const sn_rigid_input *in, int32_t a, int32_t b) {
    size_t bytes = (size_t)in->width * sizeof(int32_t);
    return memcmp(in->samples->node + in->samples->start[a],
                  in->samples->node + in->samples->start[b], bytes) == 0;
}

// Cuts the sorted samples into blocks: `order` receives eight samples for each block, -1 for
// padding; uniform blocks first. Returns the number of blocks; with order == NULL it only counts
// them.
static int32_t cut_blocks(const sn_rigid_input *in, const int32_t *list, int32_t *mixed,
                          int32_t *order, bool *uniform) {
    int32_t blocks = 0, left = 0;

    // Runs of samples with the same nodes fill uniform blocks; short ends of runs are left over.
    for (int32_t first = 0, end; first < in->count; first = end) {
        for (end = first + 1; end < in->count && same_nodes(in, list[first], list[end]);) {
            end++;
        }

        for (; first < end; first += SN_BLOCK) {
            int32_t size = end - first < SN_BLOCK ? end - first : SN_BLOCK;
            if (size < LEAST_UNIFORM) {
                for (int32_t i = first; i < end; i++) {
                    mixed[left++] = list[i];
                }
                break;
            }

            if (order) {
                for (int32_t l = 0; l < SN_BLOCK; l++) {
                    order[blocks * SN_BLOCK + l] = l < size ? list[first + l] : -1;
                }
            }

            if (uniform) {
                uniform[blocks] = true;
            }

            blocks++;
        }
    }

    // The rest is mixed.
    for (int32_t first = 0; first < left; first += SN_BLOCK, blocks++) {
        if (order) {
            for (int32_t l = 0; l < SN_BLOCK; l++) {
                order[blocks * SN_BLOCK + l] = first + l < left ? mixed[first + l] : -1;
            }
        }
    }

    return blocks;
}

static void pack_lane(const sn_rigid_input *in, sn_rigid_group *g, int32_t block, int32_t lane,
                      int32_t sample) {
    const sn_frame_samples *samples = in->samples;
    for (int32_t c = 0; c < g->width; c++) {
        int32_t entry = samples->start[sample] + c;
        double *weight = g->weight + (size_t)(block * g->width + c) * 4 * SN_BLOCK + lane;
        SN_ASSERT(c == 0 || samples->node[entry] > samples->node[entry - 1]);
        g->node[(size_t)(block * g->width + c) * SN_BLOCK + (size_t)lane] = samples->node[entry];
        weight[0] = samples->weight[entry];

        for (int k = 0; k < 3; k++) {
            weight[(1 + k) * SN_BLOCK] = samples->gradient[3 * (size_t)entry + (size_t)k];
        }
    }

    for (int k = 0; k < 3; k++) {
        g->position[(size_t)(3 * block + k) * SN_BLOCK + (size_t)lane] =
            samples->position[3 * (size_t)sample + (size_t)k];
    }
}

static void pack_blocks(const sn_rigid_input *in, sn_rigid_group *g) {
    for (int32_t i = 0; i < g->blocks * SN_BLOCK; i++) {
        bool padding = g->order[i] < 0;
        if (padding) {
            g->order[i] = g->order[i - 1]; // never the first of a block
        }
        g->volume[i] = padding ? 0 : in->samples->volume[g->order[i]];
        pack_lane(in, g, i / SN_BLOCK, i % SN_BLOCK, g->order[i]);
    }
}

typedef struct met_pair {
    int32_t key, i, j;
} met_pair;

// Numbers the pairs of one chunk. `number` holds 1 + the chunk's pair for blocks of the rows'
// pattern that occurred before, else 0; all zero before and after.
static sinew_status number_pairs(sn_arena *arena, const sn_rigid_input *in, sn_rigid_group *g,
                                 int32_t index, int32_t *number, met_pair *met) {
    sn_rigid_chunk *chunk = &g->chunks[index];
    int32_t first = index * g->chunk_size;
    int32_t last = first + g->chunk_size < g->blocks ? first + g->chunk_size : g->blocks;
    size_t pairs = (size_t)sn_pair_count(g->width);
    int32_t slot_i = -1, slot_j = -1; // the pair of the lane before

    // The slot of each pair in each lane; a pair gets its number when it is first met.
    for (int32_t block = first; block < last; block++) {
        const int32_t *node = g->node + (size_t)block * (size_t)g->width * SN_BLOCK;
        int32_t *slot = g->slots + (size_t)block * pairs * SN_BLOCK;
        for (int32_t c = 0; c < g->width; c++) {
            for (int32_t d = 0; d <= c; d++) {
                for (int32_t lane = 0; lane < SN_BLOCK; lane++, slot++) {
                    int32_t i = node[c * SN_BLOCK + lane];
                    int32_t j = node[d * SN_BLOCK + lane];
                    if (lane > 0 && i == slot_i &&
                        j == slot_j) { // neighbours mostly have the same nodes
                        *slot = slot[-1];

                        continue;
                    }
                    slot_i = i;
                    slot_j = j;

                    int32_t key =
                        sn_bsr_find(in->rows, in->nodes->items[i].row, in->nodes->items[j].row);

                    SN_ASSERT(key >= 0);
                    if (!number[key]) {
                        met[chunk->pair_count] = (met_pair){key, i, j};
                        number[key] = ++chunk->pair_count;
                    }

                    *slot = number[key] - 1;
                }
            }
        }
    }

    // Keep the pairs, and clear the marks.
    chunk->pairs = SN_PUSH(arena, sn_rigid_pair, chunk->pair_count);
    chunk->matrix = SN_PUSH(arena, double, 36 * (size_t)chunk->pair_count);
    for (int32_t k = 0; k < chunk->pair_count; k++) {
        if (chunk->pairs) {
            chunk->pairs[k] = (sn_rigid_pair){.i = met[k].i, .j = met[k].j};
        }
        number[met[k].key] = 0;
    }

    return sn_arena_status(arena);
}

// A pair's first block is in the row of a rotation; the translation's row is the next.
void sn_rigid_group_remap(const sn_nodes *nodes, const sn_bsr *rows, sn_rigid_group *g) {
    for (int32_t c = 0; c < g->chunk_count; c++) {
        for (int32_t k = 0; k < g->chunks[c].pair_count; k++) {
            sn_rigid_pair *pair = &g->chunks[c].pairs[k];
            int32_t row = nodes->items[pair->i].row;
            int32_t column = nodes->items[pair->j].row;
            pair->upper = sn_bsr_find(rows, row, column);
            pair->lower = sn_bsr_find(rows, row + 1, column);
            pair->diagonal = row == column;
            SN_ASSERT(pair->upper >= 0 && pair->lower >= 0);
        }
    }
}

static sinew_status push_group(sn_arena *arena, sn_rigid_group *g) {
    size_t lanes = (size_t)g->blocks * SN_BLOCK;
    size_t width = (size_t)g->width;

    g->order = SN_PUSH(arena, int32_t, lanes);
    g->node = SN_PUSH(arena, int32_t, lanes * width);
    g->weight = SN_PUSH(arena, double, lanes *width * 4);
    g->position = SN_PUSH(arena, double, lanes * 3);
    g->volume = SN_PUSH(arena, double, lanes);
    g->uniform = SN_PUSH(arena, bool, g->blocks);
    g->fade = SN_PUSH(arena, double *, g->blocks);
    g->slots = SN_PUSH(arena, int32_t, lanes * (size_t)sn_pair_count(g->width));

    int32_t spread = (g->blocks + MOST_CHUNKS - 1) / MOST_CHUNKS;
    g->chunk_size = spread > LEAST_CHUNK ? spread : LEAST_CHUNK;
    g->chunk_count = (g->blocks + g->chunk_size - 1) / g->chunk_size;
    g->chunks = SN_PUSH(arena, sn_rigid_chunk, g->chunk_count);

    return sn_arena_status(arena);
}

static sinew_status build_chunks(sn_arena *arena, sn_arena *scratch, const sn_rigid_input *in,
                                 sn_rigid_group *g) {
    int32_t *number = SN_PUSH(scratch, int32_t, in->rows->blocks);
    met_pair *met = SN_PUSH(scratch, met_pair, in->rows->blocks);

    SN_TRY(sn_arena_status(scratch));
    for (int32_t c = 0; c < g->chunk_count; c++) {
        SN_TRY(number_pairs(arena, in, g, c, number, met));
        g->chunks[c].force = SN_PUSH(arena, double, 6 * (size_t)in->nodes->count);
        g->chunks[c].work = SN_PUSH(arena, double, sn_rigid_work_count(g->width));

        for (int b = 0; b < 2; b++) {
            g->chunks[c].sample_work[b] =
                SN_PUSH(arena, double, sn_rigid_sample_work_count(g->width));
        }

        SN_TRY(sn_arena_status(arena));
    }

    sn_rigid_group_remap(in->nodes, in->rows, g);
    return SINEW_OK;
}

static sinew_status pack(sn_arena *arena, sn_arena *scratch, const sn_rigid_input *in,
                         sn_rigid_group *g) {
    int32_t *list = SN_PUSH(scratch, int32_t, in->count);
    int32_t *other = SN_PUSH(scratch, int32_t, in->count);
    int32_t next = 0;

    SN_TRY(sn_arena_status(scratch));
    for (int32_t s = 0; s < in->samples->count; s++) {
        if (in->group[s] == in->index) {
            list[next++] = s;
        }
    }

    SN_ASSERT(next == in->count);
    SN_TRY(sn_samples_sort_by_nodes(in->samples, in->nodes->count, list, in->count));
    *g = (sn_rigid_group){
        .count = in->count, .width = in->width, .blocks = cut_blocks(in, list, other, NULL, NULL)};
    SN_TRY(push_group(arena, g));
    cut_blocks(in, list, other, g->order, g->uniform);
    pack_blocks(in, g);

    return build_chunks(arena, scratch, in, g);
}

sinew_status sn_rigid_group_pack(sn_arena *arena, const sn_rigid_input *input,
                                 sn_rigid_group *packed) {
    SN_ASSERT(input->count > 0 && input->width > 0);
    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = pack(arena, &scratch, input, packed);
    sn_arena_destroy(&scratch);
    return status;
}
