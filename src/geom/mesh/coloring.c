// Greedy colouring of chunks: in chunk order, the lowest colour that none of the chunk's nodes has
// yet. Nodes remember 64 colours as bits; chunks that find none of them free wait for the next 64.
// O(indices) per 64 colours.
#include "geom/mesh/mesh.h"

#include <string.h>

typedef struct coloring_job {
    const int32_t *indices;
    int64_t chunk_size; // indices of a whole chunk
    int64_t size;       // of all chunks
} coloring_job;

static uint64_t met_colors(const coloring_job *job, const uint64_t *masks, int32_t chunk) {
    int64_t begin = chunk * job->chunk_size;
    int64_t end = begin + job->chunk_size < job->size ? begin + job->chunk_size : job->size;
    uint64_t met = 0;

    for (int64_t i = begin; i < end; i++) {
        if (job->indices[i] >= 0) {
            met |= masks[job->indices[i]];
        }
    }

    return met;
}

static void mark_nodes(const coloring_job *job, uint64_t *masks, int32_t chunk, uint64_t bit) {
    int64_t begin = chunk * job->chunk_size;
    int64_t end = begin + job->chunk_size < job->size ? begin + job->chunk_size : job->size;
    for (int64_t i = begin; i < end; i++) {
        if (job->indices[i] >= 0) {
            masks[job->indices[i]] |= bit;
        }
    }
}

// Assigns colours starting at `base` to chunks that have none (-1). Returns how many still have
// none.
static int32_t color_pass(const coloring_job *job, uint64_t *masks, int32_t *colors, int32_t chunks,
                          int32_t base) {
    int32_t waiting = 0;
    for (int32_t chunk = 0; chunk < chunks; chunk++) {
        if (colors[chunk] >= 0) {
            continue;
        }

        uint64_t met = met_colors(job, masks, chunk);
        if (met == UINT64_MAX) {
            waiting++;
            continue;
        }

        // The lowest free colour.
        int32_t color = 0; // some bit is free
        while (met >> color & 1) {
            color++;
        }

        colors[chunk] = base + color;
        mark_nodes(job, masks, chunk, (uint64_t)1 << color);
    }

    return waiting;
}

// Chunks by colour: a counting sort.
static sinew_status list_chunks(sn_arena *arena, const int32_t *colors, sn_coloring *coloring) {
    for (int32_t i = 0; i < coloring->chunk_count; i++) {
        if (colors[i] >= coloring->color_count) {
            coloring->color_count = colors[i] + 1;
        }
    }

    coloring->color_offsets = SN_PUSH(arena, int32_t, (size_t)coloring->color_count + 1);
    SN_TRY(sn_arena_status(arena));

    // Counting sort, filled from the back so that chunks ascend within a colour.
    for (int32_t i = 0; i < coloring->chunk_count; i++) {
        SN_ASSERT(colors[i] >= 0);
        coloring->color_offsets[colors[i]]++;
    }

    for (int32_t c = 0; c < coloring->color_count; c++) {
        coloring->color_offsets[c + 1] += coloring->color_offsets[c];
    }

    for (int32_t i = coloring->chunk_count - 1; i >= 0; i--) {
        coloring->chunks[--coloring->color_offsets[colors[i]]] = i;
    }

    return SINEW_OK;
}

sinew_status sn_build_coloring(sn_arena *arena, const int32_t *indices, int32_t nodes_per_element,
                               int32_t element_count, int32_t node_count, int32_t chunk_size,
                               sn_coloring *coloring) {
    SN_ASSERT(chunk_size > 0 && nodes_per_element > 0 && element_count >= 0);
    int32_t chunks = (int32_t)(((int64_t)element_count + chunk_size - 1) / chunk_size);

    *coloring = (sn_coloring){
        .chunk_size = chunk_size, .chunk_count = chunks, .chunks = SN_PUSH(arena, int32_t, chunks)};

    // A mask for each node, the colour of each chunk.
    sn_arena scratch = sn_arena_create(arena->context);
    uint64_t *masks = SN_PUSH(&scratch, uint64_t, node_count);
    int32_t *colors = SN_PUSH(&scratch, int32_t, chunks);
    sinew_status status =
        sn_arena_status(&scratch) == SINEW_OK ? sn_arena_status(arena) : SINEW_OUT_OF_MEMORY;

    if (status == SINEW_OK) {
        // Each pass offers 64 more colours to the chunks that are left.
        coloring_job job = {indices, (int64_t)chunk_size * nodes_per_element,
                            (int64_t)element_count * nodes_per_element};
        memset(colors, -1, (size_t)chunks * sizeof *colors);

        for (int32_t base = 0; color_pass(&job, masks, colors, chunks, base) > 0; base += 64) {
            memset(masks, 0, (size_t)node_count * sizeof *masks);
        }

        status = list_chunks(arena, colors, coloring);
    }

    sn_arena_destroy(&scratch);
    return status;
}
