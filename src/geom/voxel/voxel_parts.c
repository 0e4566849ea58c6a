// Connected parts of a solid: face neighbours with the same key are joined.
//
// Each voxel points to a lower one of its part, or to itself if it is the lowest known (union-find,
// Tarjan 1975). Chunks of voxels are joined internally in parallel, then the faces between chunks
// one after the other; then parts are numbered by their lowest voxels. Cost: three visits to each
// voxel, in memory order.
#include "geom/voxel/voxel.h"

#include "base/threads.h"

enum { CHUNK = 1 << 15 };

typedef struct join_job {
    const sinew_voxels *voxels;
    const uint64_t *key; // NULL: all the same
    int32_t *parent;
    int32_t *outer; // voxels with a neighbour in an earlier chunk; the list of a chunk starts at
                    // the index of its first voxel
    int32_t *outer_count; // of each chunk
} join_job;

static int32_t root_of(int32_t *parent, int32_t voxel) {
    while (parent[voxel] != voxel) {
        voxel = parent[voxel] = parent[parent[voxel]];
    }
    return voxel;
}

static void join(int32_t *parent, int32_t a, int32_t b) {
    if (parent[a] == parent[b]) {
        return;
    }
    a = root_of(parent, a);
    b = root_of(parent, b);
    parent[a < b ? b : a] = a < b ? a : b;
}

static bool belongs(const join_job *job, int32_t voxel, int32_t neighbor) {
    return neighbor >= 0 && (!job->key || job->key[neighbor] == job->key[voxel]);
}

static void join_chunk(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const join_job *job = data;
    int32_t *parent = job->parent;
    int32_t outer = 0;

    for (int32_t v = begin; v < end; v++) {
        bool is_outer = false;
        parent[v] = v;
        // Neighbours on the lower sides have lower numbers.
        for (int d = 0; d < SN_VOXEL_FACES; d += 2) {
            int32_t u = job->voxels->neighbor[v][d];
            if (!belongs(job, v, u)) {
                continue;
            }
            if (u >= begin) {
                join(parent, u, v);
            } else {
                is_outer = true;
            }
        }

        if (is_outer) {
            job->outer[begin + outer++] = v;
        }
    }

    job->outer_count[chunk] = outer;
    for (int32_t v = begin; v < end; v++) {
        parent[v] = parent[parent[v]]; // ascending: the lower one knows its root
    }
}

static void join_chunks(const join_job *job, int32_t chunks) {
    for (int32_t chunk = 1; chunk < chunks; chunk++) {
        int32_t begin = chunk * CHUNK;
        for (int32_t i = begin; i < begin + job->outer_count[chunk]; i++) {
            int32_t v = job->outer[i];
            for (int d = 0; d < SN_VOXEL_FACES; d += 2) {
                int32_t u = job->voxels->neighbor[v][d];
                if (u < begin && belongs(job, v, u)) {
                    join(job->parent, u, v);
                }
            }
        }
    }
}

sinew_status sn_voxel_parts(const sinew_voxels *voxels, sn_arena *arena, const uint64_t *key,
                            int32_t **parts, int32_t *count) {
    int32_t *part = SN_RESERVE(arena, int32_t, voxels->count);
    int32_t chunks = sn_chunk_count(voxels->count, CHUNK);

    SN_TRY(sn_arena_status(arena));
    sn_arena scratch = sn_arena_create(arena->context);
    join_job job = {voxels, key, SN_RESERVE(&scratch, int32_t, voxels->count),
                    SN_RESERVE(&scratch, int32_t, voxels->count),
                    SN_RESERVE(&scratch, int32_t, chunks)};
    sinew_status status = sn_arena_status(&scratch);

    if (status == SINEW_OK) {
        sn_parallel_for(arena->context, voxels->count, CHUNK, join_chunk, &job);
        join_chunks(&job, chunks);
        *count = 0;

        // Number the roots; every other voxel points directly to its root by now.
        for (int32_t v = 0; v < voxels->count; v++) {
            part[v] = job.parent[v] == v ? (*count)++ : part[job.parent[v]];
        }

        *parts = part;
    }

    sn_arena_destroy(&scratch);
    return status;
}
