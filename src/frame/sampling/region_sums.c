// Sums over regions of voxels, from which linear fits follow without visiting the voxels again, and
// the edges between regions that share a face.
//
// With the sums of 1, x, x x', and for each node of w, w x, w^2, the squared error of the best
// plane is
//
//   E = sum_i [ sum w^2 - (sum w)^2 / n - b' C^-1 b ]
//   b = sum w (x - mean),   C = sum (x - mean)(x - mean)'
//
// Cost: one pass over the entries of the table for the sums, one over the faces for the edges.
#include "frame/sampling/region_sums.h"

#include "base/threads.h"
#include "base/tuples.h"

#include <string.h>

enum { FACES_CHUNK = 1 << 15, RECENT_BITS = 10, REGIONS = 32, SLOTS = 8 };

// The Cholesky factor of a symmetric 3 x 3 matrix.
typedef struct factor {
    double l00, l10, l20, l11, l21, l22;
} factor;

static factor factorize(const double C[6]) {
    factor f;
    f.l00 = sqrt(C[0]);
    f.l10 = C[5] / f.l00;
    f.l20 = C[4] / f.l00;
    f.l11 = sqrt(C[1] - f.l10 * f.l10);
    f.l21 = (C[3] - f.l20 * f.l10) / f.l11;
    f.l22 = sqrt(C[2] - f.l20 * f.l20 - f.l21 * f.l21);

    return f;
}

// Returns b' C^-1 b.
static double explained(const factor *f, const double b[3]) {
    double y0 = b[0] / f->l00;
    double y1 = (b[1] - f->l10 * y0) / f->l11;
    double y2 = (b[2] - f->l20 * y0 - f->l21 * y1) / f->l22;
    return y0 * y0 + y1 * y1 + y2 * y2;
}

// The covariance has a small multiple of a cell's square added to the diagonal, for flat regions.
double sn_region_fit_error(const sn_region_set *set, const sn_region_sums *a,
                           const sn_region_sums *b, double cell2) {
    double n = a->n + (b ? b->n : 0);
    double mean[3], C[6];
    double error = 0;

    // Mean and covariance of the positions in both regions together.
    for (int k = 0; k < 3; k++) {
        mean[k] = (a->x[k] + (b ? b->x[k] : 0)) / n;
    }

    static const int row[6] = {0, 1, 2, 1, 2, 0};
    static const int column[6] = {0, 1, 2, 2, 0, 1};
    for (int k = 0; k < 6; k++) {
        C[k] = a->xx[k] + (b ? b->xx[k] : 0) - n * mean[row[k]] * mean[column[k]];
        if (k < 3) {
            C[k] = fmax(C[k], 0) + 1e-6 * n * cell2;
        }
    }

    const factor f = factorize(C);

    // Merge the sorted lists of both regions' nodes.
    const sn_node_sums *p = set->sums + a->first;
    const sn_node_sums *p_end = p + a->nodes;
    const sn_node_sums *q = b ? set->sums + b->first : NULL;
    const sn_node_sums *q_end = b ? q + b->nodes : NULL;

    while (p < p_end || q < q_end) {
        sn_node_sums s = {0};
        int32_t next = p < p_end && (q == q_end || p->node <= q->node) ? p->node : q->node;
        for (int side = 0; side < 2; side++) {
            const sn_node_sums **at = side ? &q : &p;
            const sn_node_sums *end = side ? q_end : p_end;
            if (*at == end || (*at)->node != next) {
                continue;
            }

            s.w += (*at)->w;
            s.ww += (*at)->ww;
            for (int k = 0; k < 3; k++) {
                s.wx[k] += (*at)->wx[k];
            }

            (*at)++;
        }

        // The variance of the weight that a linear function does not explain.
        double slope[3];
        for (int k = 0; k < 3; k++) {
            slope[k] = s.wx[k] - s.w * mean[k];
        }

        error += set->demand[next] * fmax(s.ww - s.w * s.w / n - explained(&f, slope), 0);
    }

    return error;
}

void sn_node_sums_sort(sn_node_sums *sums, int32_t count) {
    for (int32_t i = 1; i < count; i++) {
        sn_node_sums s = sums[i];
        int32_t place = i;
        while (place > 0 && sums[place - 1].node > s.node) {
            sums[place] = sums[place - 1];
            place--;
        }

        sums[place] = s;
    }
}

static void add_voxel(sn_region_sums *region, const sinew_voxels *voxels, int32_t v, double x[3]) {
    int32_t c[3];
    sn_cell_coordinates(voxels->cells, voxels->cell[v], c);
    for (int k = 0; k < 3; k++) {
        // Relative to the centre of the grid.
        x[k] = (c[k] - 0.5 * (voxels->cells[k] - 1)) * voxels->spacing[k];
    }

    region->n += 1;
    region->label = voxels->label[v];
    for (int k = 0; k < 3; k++) {
        region->x[k] += x[k];
        region->xx[k] += x[k] * x[k];
        region->xx[3 + k] += x[(k + 1) % 3] * x[(k + 2) % 3];
    }
}

// Lists the voxels by region (counting sort).
static sinew_status list_by_region(sn_arena *arena, const int32_t *region_of, int32_t voxel_count,
                                   int32_t count, int32_t **start, int32_t **list) {
    int32_t *first = *start = SN_PUSH(arena, int32_t, (size_t)count + 1);
    *list = SN_RESERVE(arena, int32_t, voxel_count);
    SN_TRY(sn_arena_status(arena));

    // Sizes, and from them starts.
    for (int32_t v = 0; v < voxel_count; v++) {
        first[region_of[v]]++;
    }

    int32_t sum = 0;
    for (int32_t r = 0; r < count; r++) {
        int32_t size = first[r];
        first[r] = sum;
        sum += size;
    }

    // Filling moves each start to the next region's, so shift them back.
    for (int32_t v = 0; v < voxel_count; v++) {
        (*list)[first[region_of[v]]++] = v;
    }

    for (int32_t r = count; r > 0; r--) {
        first[r] = first[r - 1];
    }

    first[0] = 0;
    return SINEW_OK;
}

// Sums are computed for several regions in parallel, each region by one thread. `place` maps a node
// to its sums while a region is read.
typedef struct sum_job {
    const sn_shape *shape;
    const sn_region_set *set;
    const int32_t *start, *list; // voxels of each region
    int32_t *seen[SLOTS];        // the region in which a node was seen last
    sn_node_sums **place[SLOTS]; // its sums there
} sum_job;

static bool count_nodes(void *data, int32_t item, int32_t slot) {
    const sum_job *job = data;
    const sn_weight_table *table = &job->shape->table;
    int32_t end = (item + 1) * REGIONS < job->set->count ? (item + 1) * REGIONS : job->set->count;

    for (int32_t r = item * REGIONS; r < end; r++) {
        int32_t nodes = 0;
        int32_t *seen = job->seen[slot];
        for (int32_t i = job->start[r]; i < job->start[r + 1]; i++) {
            for (int64_t k = table->start[job->list[i]]; k < table->start[job->list[i] + 1]; k++) {
                nodes += seen[table->node[k]] != r;
                seen[table->node[k]] = r;
            }
        }

        job->set->regions[r].nodes = nodes;
    }

    return true;
}

static void sum_region(const sum_job *job, int32_t r, int32_t *seen, sn_node_sums **place) {
    const sn_weight_table *table = &job->shape->table;
    sn_region_sums *region = &job->set->regions[r];
    sn_node_sums *next = job->set->sums + region->first;

    for (int32_t i = job->start[r]; i < job->start[r + 1]; i++) {
        double x[3];
        int32_t v = job->list[i];

        add_voxel(region, job->shape->voxels, v, x);
        for (int64_t k = table->start[v]; k < table->start[v + 1]; k++) {
            int32_t node = table->node[k];
            double w = table->weight[k];

            // A node gets its entry when it is first met in the region.
            if (seen[node] != r) {
                seen[node] = r;
                place[node] = next++;
                *place[node] = (sn_node_sums){.node = node};
            }

            sn_node_sums *s = place[node];
            s->w += w;
            s->ww += w * w;

            for (int a = 0; a < 3; a++) {
                s->wx[a] += w * x[a];
            }
        }
    }

    SN_ASSERT(next == job->set->sums + region->first + region->nodes);
    sn_node_sums_sort(job->set->sums + region->first, region->nodes);
}

static bool sum_some(void *data, int32_t item, int32_t slot) {
    const sum_job *job = data;
    int32_t end = (item + 1) * REGIONS < job->set->count ? (item + 1) * REGIONS : job->set->count;
    for (int32_t r = item * REGIONS; r < end; r++) {
        sum_region(job, r, job->seen[slot], job->place[slot]);
    }
    return true;
}

static void forget_seen(const sum_job *job, int32_t slots) {
    for (int32_t i = 0; i < slots; i++) {
        memset(job->seen[i], -1, (size_t)job->shape->node_count * sizeof *job->seen[i]);
    }
}

sinew_status sn_regions_sum(const sn_shape *shape, sn_arena *arena, sn_arena *scratch,
                            const int32_t *region_of, sn_region_set *set) {
    int32_t *start, *list;
    int32_t items = sn_chunk_count(set->count, REGIONS);
    int32_t slots = sn_thread_count(shape->context);

    set->regions = SN_PUSH(arena, sn_region_sums, set->count);
    SN_TRY(list_by_region(scratch, region_of, shape->voxels->count, set->count, &start, &list));

    // Each thread marks the nodes it has met in arrays of its own.
    sum_job job = {.shape = shape, .set = set, .start = start, .list = list};
    if (slots > SLOTS) {
        slots = SLOTS;
    }

    for (int32_t i = 0; i < slots; i++) {
        job.seen[i] = SN_RESERVE(scratch, int32_t, shape->node_count);
        job.place[i] = SN_RESERVE(scratch, sn_node_sums *, shape->node_count);
    }

    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(arena));

    // First count the nodes of each region, then sum.
    forget_seen(&job, slots);
    sn_parallel_deal(shape->context, 0, items, slots, count_nodes, &job);

    int64_t total = 0;
    for (int32_t r = 0; r < set->count; r++) {
        set->regions[r].first = (int32_t)total;
        total += set->regions[r].nodes;
        if (total > INT32_MAX) {
            return sn_fail(shape->context, SINEW_OUT_OF_MEMORY, "%d regions are too many",
                           set->count);
        }
    }

    set->sums = SN_RESERVE(arena, sn_node_sums, total);
    SN_TRY(sn_arena_status(arena));
    forget_seen(&job, slots);
    sn_parallel_deal(shape->context, 0, items, slots, sum_some, &job);

    return SINEW_OK;
}

// Sorts edges and drops repeated ones.
sinew_status sn_regions_tidy_edges(sn_arena *scratch, sn_region_set *set) {
    int32_t *order;
    int32_t kept = 0;
    int32_t *sorted = SN_PUSH(scratch, int32_t, 2 * (size_t)set->edge_count);

    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_sort_tuples(scratch, set->edges, 2, set->edge_count, set->count, &order));
    for (int32_t i = 0; i < set->edge_count; i++) {
        const int32_t *edge = set->edges + 2 * (size_t)order[i];
        if (kept && sorted[2 * kept - 2] == edge[0] && sorted[2 * kept - 1] == edge[1]) {
            continue;
        }

        sorted[2 * kept] = edge[0];
        sorted[2 * kept + 1] = edge[1];
        kept++;
    }

    memcpy(set->edges, sorted, 2 * (size_t)kept * sizeof *sorted);
    set->edge_count = kept;

    return SINEW_OK;
}

typedef struct edge_job {
    const sinew_voxels *voxels;
    const int32_t *region_of;
    bool by_label;
    int64_t *first; // of each chunk's edges; their number while they are counted
    int32_t *edges; // NULL while counting
} edge_job;

// Finds the faces between regions. Neighbouring voxels mostly report the same pair, so pairs seen
// recently are skipped.
static void visit_faces(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const edge_job *job = data;
    const sinew_voxels *voxels = job->voxels;
    uint64_t recent[1 << RECENT_BITS] = {0};
    int64_t count = 0;

    for (int32_t v = begin; v < end; v++) {
        for (int d = 1; d < SN_VOXEL_FACES; d += 2) {
            int32_t u = voxels->neighbor[v][d];
            int32_t a = job->region_of[v];
            if (u < 0 || job->region_of[u] == a ||
                (job->by_label && voxels->label[u] != voxels->label[v])) {
                continue;
            }

            // A direct-mapped cache of pairs; what it forgets is removed as a duplicate later.
            int32_t b = job->region_of[u];
            int32_t low = a < b ? a : b;
            int32_t high = a < b ? b : a;
            uint64_t pair = (uint64_t)(uint32_t)low << 32 | (uint32_t)high;
            uint64_t *known = &recent[pair * 0x9e3779b97f4a7c15u >> (64 - RECENT_BITS)];

            if (*known == pair) {
                continue; // an empty entry is 0, and no pair is: its higher region is not 0
            }

            *known = pair;
            if (job->edges) {
                job->edges[2 * (job->first[chunk] + count)] = low;
                job->edges[2 * (job->first[chunk] + count) + 1] = high;
            }

            count++;
        }
    }

    if (!job->edges) {
        job->first[chunk] = count;
    }
}

sinew_status sn_regions_find_edges(const sn_shape *shape, sn_arena *arena, sn_arena *scratch,
                                   const int32_t *region_of, bool by_label, sn_region_set *set) {
    int32_t voxels = shape->voxels->count;
    int32_t chunks = sn_chunk_count(voxels, FACES_CHUNK);
    edge_job job = {shape->voxels, region_of, by_label, SN_RESERVE(scratch, int64_t, chunks), NULL};

    SN_TRY(sn_arena_status(scratch));
    sn_parallel_for(shape->context, voxels, FACES_CHUNK, visit_faces, &job);

    // Count in the first pass, fill in the second.
    int64_t total = 0;
    for (int32_t i = 0; i < chunks; i++) {
        int64_t count = job.first[i];
        job.first[i] = total;
        total += count;
    }

    if (total > INT32_MAX / 2) {
        return sn_fail(shape->context, SINEW_OUT_OF_MEMORY, "too many borders between regions");
    }

    job.edges = set->edges = SN_RESERVE(arena, int32_t, 2 * (size_t)total);
    SN_TRY(sn_arena_status(arena));
    sn_parallel_for(shape->context, voxels, FACES_CHUNK, visit_faces, &job);
    set->edge_count = (int32_t)total;

    return sn_regions_tidy_edges(scratch, set);
}
