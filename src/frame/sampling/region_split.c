// Splitting of regions in which the weights are not linear enough.
//
// A region is cut through its centroid, across the grid axis along which its weights are curved
// most. With the residual r of the linear fit and q_a = (x_a - mean)^2, the score of axis a is
//
//   sum_i (sum r_i q_a)^2 / sum (q_a - mean q_a)^2,
//
// the squared error that a quadratic term would explain. Cuts follow the grid, so a rotated grid is
// cut in the same way. Where axes tie, the nodes decide; where they cannot (a mirror symmetry), the
// region is cut across both axes. A layer of voxels in the middle goes to the side of the
// lowest-numbered node whose weight varies along the axis, or becomes a piece of its own if there
// is no such node.
//
// Cost: two passes over a region's voxels for each cut.
#include "frame/sampling/region.h"

#include "base/threads.h"

#include <string.h>

#define TIE 1e-9

enum { CHUNK = 8192, NODE_SUMS = 9, LARGEST = 8, PIECES = 27 };

// Sums over a region, about its centroid. For each node: w, w^2, w x (3), w x^2 (3), and the
// largest |w|.
typedef struct sums {
    double xx[6];    // xx, yy, zz, yz, zx, xy
    double xqq[3];   // x_a^4
    double xq[3][3]; // x_b x_a^2
    double *node;    // NODE_SUMS for each node of the shape
} sums;

typedef struct region {
    int32_t begin, end; // in the list of voxels
    double error;       // squared, summed over voxels and nodes
    bool final;         // cannot be cut
} region;

// How to cut a region: the axes, and for each the side that the middle layer goes to (-1, 1, or 0
// for neither).
typedef struct cut {
    bool along[3];
    int side[3];
} cut;

typedef struct splitter {
    const sn_shape *shape;
    int32_t *list, *scratch; // voxels by region
    region *regions;
    size_t capacity;
    int32_t count;
    sums total;
    double *partial; // chunks times (fixed part + NODE_SUMS node_count)
    double center[3];
    const region *present;
} splitter;

enum { FIXED_SUMS = 6 + 3 + 9 };

static size_t sums_size(const splitter *s) {
    return FIXED_SUMS + NODE_SUMS * (size_t)s->shape->node_count;
}

// Returns the offset of a voxel from the region's centroid.
static void offset_of(const splitter *s, int32_t voxel, double x[3]) {
    const sinew_voxels *voxels = s->shape->voxels;
    int32_t c[3];
    sn_cell_coordinates(voxels->cells, voxels->cell[voxel], c);
    for (int k = 0; k < 3; k++) {
        x[k] = (c[k] - s->center[k]) * voxels->spacing[k];
    }
}

static void sum_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    splitter *s = data;
    const sn_weight_table *table = &s->shape->table;
    double *sum = s->partial + (size_t)chunk * sums_size(s);
    double *node_sums = sum + FIXED_SUMS;

    memset(sum, 0, sums_size(s) * sizeof *sum);
    for (int32_t i = s->present->begin + begin; i < s->present->begin + end; i++) {
        int32_t v = s->list[i];
        double x[3], q[3];

        offset_of(s, v, x);
        for (int k = 0; k < 3; k++) {
            q[k] = x[k] * x[k];
        }

        // Second to fourth moments of the positions.
        for (int k = 0; k < 3; k++) {
            sum[k] += q[k];
            sum[3 + k] += x[(k + 1) % 3] * x[(k + 2) % 3];
            sum[6 + k] += q[k] * q[k];
            for (int b = 0; b < 3; b++) {
                sum[9 + 3 * k + b] += x[b] * q[k];
            }
        }

        // Moments of each node's weight, and its largest value.
        for (int64_t e = table->start[v]; e < table->start[v + 1]; e++) {
            double w = table->weight[e];
            double *n = node_sums + NODE_SUMS * (size_t)table->node[e];
            n[0] += w;
            n[1] += w * w;
            n[LARGEST] = fmax(n[LARGEST], fabs(w));

            for (int k = 0; k < 3; k++) {
                n[2 + k] += w * x[k];
                n[5 + k] += w * q[k];
            }
        }
    }
}

// Finds the centroid in cells: sums of integers, exact in any order.
static void find_center(splitter *s, const region *r) {
    const sinew_voxels *voxels = s->shape->voxels;
    int64_t sum[3] = {0, 0, 0};
    for (int32_t i = r->begin; i < r->end; i++) {
        int32_t c[3];
        sn_cell_coordinates(voxels->cells, voxels->cell[s->list[i]], c);
        for (int k = 0; k < 3; k++) {
            sum[k] += c[k];
        }
    }

    for (int k = 0; k < 3; k++) {
        s->center[k] = (double)sum[k] / (r->end - r->begin);
    }
}

static void sum_region(splitter *s, const region *r) {
    find_center(s, r);
    s->present = r;

    int32_t count = r->end - r->begin;
    int32_t chunks = sn_chunk_count(count, CHUNK);
    size_t size = sums_size(s);

    sn_parallel_for(s->shape->context, count, CHUNK, sum_range, s);
    for (int32_t chunk = 1; chunk < chunks; chunk++) {
        const double *more = s->partial + (size_t)chunk * size;
        for (size_t k = 0; k < size; k++) {
            bool largest = k >= FIXED_SUMS && (k - FIXED_SUMS) % NODE_SUMS == LARGEST;
            s->partial[k] = largest ? fmax(s->partial[k], more[k]) : s->partial[k] + more[k];
        }
    }

    const double *sum = s->partial;
    memcpy(s->total.xx, sum, sizeof s->total.xx);
    memcpy(s->total.xqq, sum + 6, sizeof s->total.xqq);
    memcpy(s->total.xq, sum + 9, sizeof s->total.xq);
    s->total.node = s->partial + FIXED_SUMS;
}

// Computes the slope of a node's best plane: C g = b, with a small multiple of a cell's square
// added to the diagonal for flat regions.
static void fit_slope(const splitter *s, double n, const double *node, double g[3]) {
    const double *h = s->shape->voxels->spacing;
    double pinch = 1e-6 * n;
    double C[6];

    for (int k = 0; k < 6; k++) {
        C[k] = s->total.xx[k] + (k < 3 ? pinch * h[k] * h[k] : 0);
    }

    double l00 = sqrt(C[0]);
    double l10 = C[5] / l00;
    double l20 = C[4] / l00;
    double l11 = sqrt(C[1] - l10 * l10);
    double l21 = (C[3] - l20 * l10) / l11;
    double l22 = sqrt(C[2] - l20 * l20 - l21 * l21);
    double y0 = node[2] / l00;
    double y1 = (node[3] - l10 * y0) / l11;
    double y2 = (node[4] - l20 * y0 - l21 * y1) / l22;

    g[2] = y2 / l22;
    g[1] = (y1 - l21 * g[2]) / l11;
    g[0] = (y0 - l10 * g[1] - l20 * g[2]) / l00;
}

// Returns what a quadratic term of one node along an axis would explain, and the slope there.
static double axis_gain(const splitter *s, double n, const double *node, const double g[3], int a) {
    double Q = s->total.xqq[a] - s->total.xx[a] * s->total.xx[a] / n;
    double h2 = s->shape->voxels->spacing[a] * s->shape->voxels->spacing[a];
    if (!(Q > 1e-9 * h2 * h2)) { // two layers: no quadratic term, but a cut separates them
        return 0;
    }
    double r = node[5 + a] - node[0] / n * s->total.xx[a];
    for (int b = 0; b < 3; b++) {
        r -= g[b] * s->total.xq[a][b];
    }

    return r * r / Q;
}

// Chooses the axes of the cut, and for each the side of the middle layer.
static cut choose_cut(const splitter *s, const region *r) {
    double n = r->end - r->begin;
    double score[3] = {0, 0, 0};
    double variation[3] = {0, 0, 0};
    double g[3];
    const double *h = s->shape->voxels->spacing;
    cut result = {{false, false, false}, {0, 0, 0}};
    bool thick[3];

    for (int a = 0; a < 3; a++) {
        thick[a] = s->total.xx[a] > 1e-9 * n * h[a] * h[a];
    }

    for (int32_t i = 0; i < s->shape->node_count; i++) {
        const double *node = s->total.node + NODE_SUMS * (size_t)i;
        if (node[LARGEST] < SN_INFLUENCE) {
            continue;
        }

        fit_slope(s, n, node, g);
        for (int a = 0; a < 3; a++) {
            score[a] += axis_gain(s, n, node, g, a);
            variation[a] += g[a] * g[a] * s->total.xx[a];
            if (!result.side[a] && fabs(g[a]) * h[a] > 1e-9) {
                result.side[a] = g[a] > 0 ? 1 : -1;
            }
        }
    }

    double best = 0;

    // If the curvature is too small to measure, cut where the weights vary most, so that regions
    // along an axis span its section; if they do not vary either, cut the longest side.
    bool bent = fmax(score[0], fmax(score[1], score[2])) > 1e-12 * n;
    bool varies = fmax(variation[0], fmax(variation[1], variation[2])) > 1e-12 * n;
    for (int a = 0; a < 3; a++) {
        if (!bent) {
            score[a] = varies ? variation[a] : s->total.xx[a];
        }
        if (thick[a]) {
            best = fmax(best, score[a]);
        }
    }

    for (int a = 0; a < 3; a++) {
        result.along[a] = thick[a] && score[a] >= best * (1 - TIE);
    }

    return result;
}

// Where axes tie, the lowest-numbered node that varies more along one of them decides.
static void break_tie(const splitter *s, const region *r, cut *cut) {
    double n = r->end - r->begin;
    double g[3];
    for (int32_t i = 0; i < s->shape->node_count; i++) {
        if (cut->along[0] + cut->along[1] + cut->along[2] < 2) {
            return;
        }

        const double *node = s->total.node + NODE_SUMS * (size_t)i;
        if (node[LARGEST] < SN_INFLUENCE) {
            continue;
        }

        // Keep the axes along which this node's weight varies most.
        fit_slope(s, n, node, g);
        double best = 0;
        for (int a = 0; a < 3; a++) {
            if (cut->along[a]) {
                best = fmax(best, fabs(g[a]));
            }
        }

        for (int a = 0; a < 3; a++) {
            cut->along[a] = cut->along[a] && fabs(g[a]) >= best - 1e-6 * (best + 1e-6);
        }
    }
}

// Measures the squared error of the linear fit.
static void measure_error(splitter *s, region *r) {
    double n = r->end - r->begin;
    double g[3];

    r->error = 0;
    for (int32_t i = 0; i < s->shape->node_count; i++) {
        const double *node = s->total.node + NODE_SUMS * (size_t)i;
        if (node[LARGEST] < SN_INFLUENCE) {
            continue;
        }

        fit_slope(s, n, node, g);
        double fitted = node[2] * g[0] + node[3] * g[1] + node[4] * g[2];
        r->error += fmax(node[1] - node[0] * node[0] / n - fitted, 0);
    }
}

// Returns the piece of a cut region that a voxel belongs to: three for each axis that is cut.
static int piece_of(const splitter *s, const cut *cut, int32_t voxel) {
    double x[3];
    int piece = 0;

    offset_of(s, voxel, x);
    for (int a = 0; a < 3; a++) {
        int side = 0;
        if (cut->along[a]) {
            double tie = 1e-6 * s->shape->voxels->spacing[a];
            side = x[a] > tie ? 1 : x[a] < -tie ? -1 : cut->side[a];
        }
        piece = 3 * piece + side + 1;
    }

    return piece;
}

static int count_pieces(const splitter *s, const cut *cut, const region *r) {
    bool seen[PIECES] = {false};
    int count = 0;
    for (int32_t i = r->begin; i < r->end; i++) {
        int piece = piece_of(s, cut, s->list[i]);
        count += !seen[piece];
        seen[piece] = true;
    }

    return count;
}

// Sorts a region's voxels by piece and makes each piece a region; the first replaces the old one.
static sinew_status cut_region(splitter *s, int32_t number, const cut *cut) {
    region whole = s->regions[number];

    // Counting sort of the voxels by piece.
    int32_t start[PIECES + 1] = {0};
    for (int32_t i = whole.begin; i < whole.end; i++) {
        start[piece_of(s, cut, s->list[i]) + 1]++;
    }

    for (int p = 0; p < PIECES; p++) {
        start[p + 1] += start[p];
    }

    int32_t place[PIECES];
    memcpy(place, start, sizeof place);
    for (int32_t i = whole.begin; i < whole.end; i++) {
        int32_t v = s->list[i];
        s->scratch[place[piece_of(s, cut, v)]++] = v;
    }

    memcpy(s->list + whole.begin, s->scratch, (size_t)(whole.end - whole.begin) * sizeof *s->list);

    // Each piece that is not empty becomes a region.
    bool first = true;
    for (int p = 0; p < PIECES; p++) {
        if (start[p + 1] == start[p]) {
            continue;
        }

        if (!first) {
            void *array = s->regions;
            SN_TRY(sn_grow(s->shape->context, &array, &s->capacity, (size_t)s->count,
                           (size_t)s->count + 1, sizeof *s->regions));
            s->regions = array;
        }

        region *r = &s->regions[first ? number : s->count];
        if (!first) {
            s->count++;
        }

        first = false;
        *r = (region){.begin = whole.begin + start[p], .end = whole.begin + start[p + 1]};
        sum_region(s, r);
        measure_error(s, r);
        s->present = NULL;
    }

    return SINEW_OK;
}

static bool exceeds(const region *r, double fit_error) {
    return r->error > fit_error * fit_error * (r->end - r->begin);
}

// Cuts every marked region, unless that would give more than `requested` regions. *done receives
// how many were cut.
static sinew_status cut_marked(splitter *s, const bool *marked, int32_t requested, int32_t *done) {
    int32_t present = s->count;
    int32_t growth = 0;

    *done = 0;
    // The first pass counts the pieces, since equal regions are cut together or not at all; the
    // second cuts.
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < present; i++) {
            if (!marked[i]) {
                continue;
            }
            sum_region(s, &s->regions[i]);
            cut cut = choose_cut(s, &s->regions[i]);
            break_tie(s, &s->regions[i], &cut);
            if (pass == 0) {
                int pieces = count_pieces(s, &cut, &s->regions[i]);
                s->regions[i].final = pieces < 2;
                growth += pieces - 1;
            } else if (!s->regions[i].final) {
                SN_TRY(cut_region(s, i, &cut));
                (*done)++;
            }
        }
        if (pass == 0 && requested > 0 && s->count + growth > requested) {
            return SINEW_OK;
        }
    }

    return SINEW_OK;
}

static sinew_status split(splitter *s, int32_t requested, double fit_error, bool *marked) {
    int32_t done = 1;
    while (done && (requested == 0 || s->count < requested)) {
        // All regions with the largest error are cut at once, so that symmetric solids stay
        // symmetric.
        double worst = 0;
        for (int32_t i = 0; i < s->count; i++) {
            if (!s->regions[i].final) {
                worst = fmax(worst, s->regions[i].error);
            }
        }

        bool any = false, waits = false;
        for (int32_t i = 0; i < s->count; i++) {
            const region *r = &s->regions[i];
            marked[i] = !r->final && r->error > 1e-18 * (r->end - r->begin);
            marked[i] = marked[i] &&
                        (requested > 0 ? r->error >= worst * (1 - TIE) : exceeds(r, fit_error));
            any = any || marked[i];
        }

        if (!any) {
            return SINEW_OK;
        }

        // Cut them.
        SN_TRY(cut_marked(s, marked, requested, &done));
        for (int32_t i = 0; i < s->count; i++) {
            waits = waits || (marked[i] && s->regions[i].final);
        }

        if (waits) {
            done = 1; // other regions may still be cut
        }
    }

    return SINEW_OK;
}

static void read_regions(splitter *s, const int32_t *region_of, int32_t count) {
    int32_t voxels = s->shape->voxels->count;
    for (int32_t v = 0; v < voxels; v++) {
        s->regions[region_of[v]].end++;
    }

    int32_t sum = 0;
    for (int32_t r = 0; r < count; r++) {
        s->regions[r].begin = sum;
        sum += s->regions[r].end;
        s->regions[r].end = s->regions[r].begin;
    }

    for (int32_t v = 0; v < voxels; v++) {
        s->list[s->regions[region_of[v]].end++] = v;
    }

    for (int32_t r = 0; r < count; r++) {
        sum_region(s, &s->regions[r]);
        measure_error(s, &s->regions[r]);
    }
}

sinew_status sn_split_regions(const sn_shape *shape, int32_t requested, double fit_error,
                              int32_t *region_of, int32_t *count) {
    sinew_context *context = shape->context;
    int32_t voxels = shape->voxels->count;
    if (requested > 0 && *count >= requested) {
        return SINEW_OK;
    }

    // Room for as many regions as there are voxels, if it comes to that.
    splitter s = {.shape = shape, .count = *count, .capacity = (size_t)*count};
    sn_arena arena = sn_arena_create(context);

    s.list = SN_PUSH(&arena, int32_t, voxels);
    s.scratch = SN_PUSH(&arena, int32_t, voxels);
    s.partial = SN_PUSH(&arena, double, (size_t)sn_chunk_count(voxels, CHUNK) * sums_size(&s));

    bool *marked = SN_PUSH(&arena, bool, voxels); // there are never more regions than voxels
    s.regions = sn_allocate(context, s.capacity, sizeof *s.regions);

    sinew_status status = s.regions ? sn_arena_status(&arena) : SINEW_OUT_OF_MEMORY;
    if (status == SINEW_OK) {
        read_regions(&s, region_of, *count);
        status = split(&s, requested, fit_error, marked);
    }

    // Write the new numbers.
    if (status == SINEW_OK) {
        *count = s.count;
        for (int32_t r = 0; r < s.count; r++) {
            for (int32_t i = s.regions[r].begin; i < s.regions[r].end; i++) {
                region_of[s.list[i]] = r;
            }
        }
    }

    sn_release(context, s.regions, s.capacity, sizeof *s.regions);
    sn_arena_destroy(&arena);

    return status;
}
