// The rows of weights of the surface's vertices that inserted nodes touch, merged from the previous
// patch and the change: rows of touched vertices are recomputed, the others copied.
#include "frame/adapt/vertex_patch.h"

#include "base/sorted.h"

#include <string.h>

int32_t sn_vertex_patch_find(const sn_vertex_patch *patch, int32_t vertex) {
    return patch ? sn_find_sorted(patch->vertex, patch->count, vertex) : -1;
}

typedef struct job {
    const sn_vertex_patch *old;
    const sn_vertex_weights *base;
    int32_t base_nodes;
    const sn_insertion_change *change;
} job;

// A row of a touched vertex: the base's with all insertions that reach it. Returns how many
// entries; without `node` it counts.
static int32_t compute_row(const job *job, int32_t vertex, int32_t *node, double *weight) {
    int32_t from = job->base->start[vertex];
    int32_t filled = job->base->start[vertex + 1] - from;
    if (node) {
        memcpy(node, job->base->node + from, (size_t)filled * sizeof *node);
    }
    if (node) {
        memcpy(weight, job->base->weight + from, (size_t)filled * sizeof *weight);
    }

    // Each insertion scales the weights before it by 1 - w and appends its own.
    for (int32_t k = 0; k < job->change->after_count; k++) {
        const sn_insertion *insertion = job->change->after[k];
        int32_t at = sn_find_sorted(insertion->vertex, insertion->vertex_count, vertex);
        if (at < 0) {
            continue;
        }

        if (node) {
            for (int32_t e = 0; e < filled; e++) {
                weight[e] *= 1 - insertion->vertex_weight[at];
            }
        }

        if (node) {
            node[filled] = job->base_nodes + k;
            weight[filled] = insertion->vertex_weight[at];
        }

        filled++;
    }

    return filled;
}

// A row that stays, apart from numbers behind a node that left.
static int32_t copy_row(const job *job, int32_t place, int32_t *node, double *weight) {
    const sn_vertex_weights *old = &job->old->weights;
    int32_t from = old->start[place];
    int32_t count = old->start[place + 1] - from;

    if (node) {
        for (int32_t e = 0; e < count; e++) {
            node[e] = sn_insertion_renumber(job->change, old->node[from + e]);
            weight[e] = old->weight[from + e];
        }
    }

    return count;
}

// One pass over the vertices of the old patch and of the change, in order. Returns the entries;
// without `made` it counts.
static int32_t merge(const job *job, sn_vertex_patch *made, int32_t *vertices) {
    const sn_insertion *changed = job->change->changed;
    int32_t old_count = job->old ? job->old->count : 0;
    int32_t i = 0;
    int32_t j = 0;
    int32_t entries = 0;
    int32_t count = 0;

    // The next vertex in order, from either list or from both.
    while (i < old_count || j < changed->vertex_count) {
        bool touched = j < changed->vertex_count &&
                       (i == old_count || changed->vertex[j] <= job->old->vertex[i]);
        int32_t vertex = touched ? changed->vertex[j] : job->old->vertex[i];
        int32_t place = i;
        int32_t many;

        if (i < old_count && job->old->vertex[i] == vertex) {
            i++;
        }

        j += touched;

        // A touched vertex gets a new row, which is dropped if it equals the base's.
        int32_t *node = made ? made->weights.node + entries : NULL;
        double *weight = made ? made->weights.weight + entries : NULL;

        if (touched) {
            many = compute_row(job, vertex, node, weight);
            if (many == job->base->start[vertex + 1] - job->base->start[vertex]) {
                continue; // nothing reaches it any more
            }
        } else {
            many = copy_row(job, place, node, weight);
        }

        entries += many;
        if (made) {
            made->vertex[count] = vertex;
            made->weights.start[count + 1] = entries;
        }

        count++;
    }

    *vertices = count;
    return entries;
}

static sinew_status fill(const job *job, const double *points, sn_vertex_patch *made) {
    sn_arena *arena = &made->arena;
    int32_t entries = merge(job, NULL, &made->count);
    size_t count = (size_t)made->count;

    made->vertex = SN_PUSH(arena, int32_t, count);
    made->rest = SN_PUSH(arena, double, 3 * count);
    made->position = SN_PUSH(arena, double, 3 * count);

    // A row that turns out to be the base's is written before it is dropped: room for the longest
    // one.
    made->weights =
        (sn_vertex_weights){.count = made->count,
                            .start = SN_PUSH(arena, int32_t, count + 1),
                            .node = SN_PUSH(arena, int32_t, (size_t)entries + SN_POINT_NODES),
                            .weight = SN_PUSH(arena, double, (size_t)entries + SN_POINT_NODES)};
    SN_TRY(sn_arena_status(arena));
    merge(job, made, &made->count);

    for (int32_t i = 0; i < made->count; i++) {
        memcpy(made->rest + 3 * (size_t)i, points + 3 * (size_t)made->vertex[i],
               3 * sizeof *made->rest);
    }

    return SINEW_OK;
}

sinew_status sn_vertex_patch_create(sinew_context *context, const sn_vertex_patch *old,
                                    const sn_vertex_weights *base, const double *points,
                                    int32_t base_nodes, const sn_insertion_change *change,
                                    sn_vertex_patch **patch) {
    *patch = NULL;
    if (change->after_count == 0) {
        return SINEW_OK;
    }

    sn_arena arena = sn_arena_create(context);
    sn_vertex_patch *made = SN_PUSH(&arena, sn_vertex_patch, 1);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    *made = (sn_vertex_patch){.arena = arena};
    sinew_status status = fill(&(job){old, base, base_nodes, change}, points, made);
    if (status != SINEW_OK) {
        sn_vertex_patch_destroy(made);
        return status;
    }

    *patch = made;
    return SINEW_OK;
}

void sn_vertex_patch_destroy(sn_vertex_patch *patch) {
    if (!patch) {
        return;
    }
    sn_arena arena = patch->arena;
    sn_arena_destroy(&arena);
}
