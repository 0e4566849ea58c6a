// Chooses among equivalent quaternions before they are averaged.
//
// q and -q are one rotation, and axes with two of them reversed are the same to an orthotropic
// material: eight quaternions q g, g in {+-1, +-i, +-j, +-k}, describe one frame. Along a curve the
// frames vary slowly, so one g serves the whole curve; this file finds the g of each curve.
//
// The mesh is flooded from all frames at once. Curves whose floods meet are neighbours. The
// meetings after the fewest steps form a spanning tree of the curves (Kruskal 1956), along which
// each curve takes the g that brings it nearest to the previous one. After that, a curve changes
// its g as long as it then agrees better with all its neighbours together. If some still disagree,
// no choice serves all of them (seam.c).
//
// Cost: linear in the mesh once; negligible when frames are rotated.
#include "field/field.h"

#include "base/sort.h"

#include <string.h>

// ---- Neighbouring curves ------------------------------------------------------------------------

// For every unknown the number of steps from the nearest guide, and that guide; -1 if no guide
// reaches it.
static void flood(const sinew_field *field, const sn_guides *guides, int32_t *steps,
                  int32_t *origin, int32_t *queue) {
    int32_t head = 0, tail = 0;

    // Seeds: the unknowns that each guide acts on.
    for (int32_t i = 0; i < field->unknown_count; i++) {
        origin[i] = -1;
    }

    for (int32_t g = 0; g < guides->count; g++) {
        const sn_constraints *rows = &guides->constraints;
        for (int32_t k = rows->starts[g]; k < rows->starts[g + 1]; k++) {
            int32_t i = rows->unknowns[k];
            if (origin[i] >= 0) {
                continue;
            }

            origin[i] = g;
            steps[i] = 0;
            queue[tail++] = i;
        }
    }

    // Breadth-first search from all of them at once.
    while (head < tail) {
        int32_t i = queue[head++];
        for (int32_t k = field->neighbors.offsets[i]; k < field->neighbors.offsets[i + 1]; k++) {
            int32_t j = field->neighbors.items[k];
            if (origin[j] >= 0) {
                continue;
            }

            origin[j] = origin[i];
            steps[j] = steps[i] + 1;
            queue[tail++] = j;
        }
    }
}

static int32_t find_root(int32_t *parent, int32_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// All borders between floods of different curves: the unknown and the entry of its neighbour. If
// entries == NULL it only counts.
static int32_t list_borders(const sinew_field *field, const sn_guides *guides, const int32_t *steps,
                            const int32_t *origin, uint64_t *keys, int32_t *entries) {
    int32_t count = 0;
    for (int32_t i = 0; i < field->unknown_count; i++) {
        for (int32_t k = field->neighbors.offsets[i]; k < field->neighbors.offsets[i + 1]; k++) {
            int32_t j = field->neighbors.items[k];
            if (j < i || origin[i] < 0 || origin[j] < 0) {
                continue;
            }
            if (guides->curves[origin[i]] == guides->curves[origin[j]]) {
                continue;
            }

            if (entries != NULL) {
                keys[count] = (uint64_t)(steps[i] + steps[j]);
                entries[2 * count] = origin[i];
                entries[2 * count + 1] = origin[j];
            }

            count++;
        }
    }

    return count;
}

static sinew_status span(const sinew_field *field, sn_guides *guides, const int32_t *steps,
                         const int32_t *origin, sn_arena *scratch) {
    int32_t *parent = SN_PUSH(scratch, int32_t, field->curve_count);
    guides->meetings = SN_PUSH(&guides->arena, sn_meeting, field->curve_count);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(&guides->arena));

    // All borders, by ascending number of steps between the two guides.
    int32_t count = list_borders(field, guides, steps, origin, NULL, NULL);
    uint64_t *keys = SN_PUSH(scratch, uint64_t, count);
    int32_t *entries = SN_PUSH(scratch, int32_t, 2 * (size_t)count);
    int32_t *order = SN_PUSH(scratch, int32_t, count);

    SN_TRY(sn_arena_status(scratch));
    list_borders(field, guides, steps, origin, keys, entries);
    for (int32_t k = 0; k < count; k++) {
        order[k] = k;
    }

    SN_TRY(sn_sort_by_key(scratch, keys, order, count));
    for (int32_t c = 0; c < field->curve_count; c++) {
        parent[c] = c;
    }

    // Kruskal: keep a border if it joins two trees.
    for (int32_t k = 0; k < count; k++) {
        const int32_t *pair = entries + 2 * (size_t)order[k];
        int32_t a = find_root(parent, guides->curves[pair[0]]);
        int32_t b = find_root(parent, guides->curves[pair[1]]);
        if (a == b) {
            continue;
        }

        parent[b] = a;
        guides->meetings[guides->meeting_count++] = (sn_meeting){{pair[0], pair[1]}};
    }

    return SINEW_OK;
}

// ---- All neighbours -----------------------------------------------------------------------------

// Whether two guides may disagree: not if they follow one another on a curve, where frames are
// continuous.
static bool may_disagree(const sn_guides *guides, int32_t a, int32_t b) {
    return a >= 0 && b >= 0 && a != b &&
           (guides->curves[a] != guides->curves[b] || (a - b != 1 && b - a != 1));
}

static void list_pair(const sn_guides *guides, int32_t a, int32_t b, uint64_t *keys,
                      int32_t *count) {
    if (!may_disagree(guides, a, b)) {
        return;
    }
    if (keys != NULL) {
        keys[*count] = (uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a);
    }

    ++*count;
}

// Guides whose floods meet, or that guide the same unknown; pairs may occur several times. If keys
// == NULL it only counts.
static int32_t list_pairs(const sinew_field *field, const sn_guides *guides, const int32_t *origin,
                          uint64_t *keys) {
    const sn_constraints *rows = &guides->constraints;
    int32_t count = 0;
    for (int32_t g = 0; g < guides->count; g++) {
        for (int32_t k = rows->starts[g]; k < rows->starts[g + 1]; k++) {
            list_pair(guides, g, origin[rows->unknowns[k]], keys, &count);
        }
    }

    for (int32_t i = 0; i < field->unknown_count; i++) {
        for (int32_t k = field->neighbors.offsets[i]; k < field->neighbors.offsets[i + 1]; k++) {
            int32_t j = field->neighbors.items[k];
            if (j > i) {
                list_pair(guides, origin[i], origin[j], keys, &count);
            }
        }
    }

    return count;
}

static sinew_status find_pairs(const sinew_field *field, sn_guides *guides, const int32_t *origin,
                               sn_arena *scratch) {
    int32_t count = list_pairs(field, guides, origin, NULL);
    uint64_t *keys = SN_PUSH(scratch, uint64_t, count);
    int32_t *order = SN_PUSH(scratch, int32_t, count);

    SN_TRY(sn_arena_status(scratch));
    list_pairs(field, guides, origin, keys);
    SN_TRY(sn_sort_by_key(scratch, keys, order, count));

    // Remove duplicates.
    int32_t different = 0;
    for (int32_t k = 0; k < count; k++) {
        if (k == 0 || keys[k] != keys[k - 1]) {
            keys[different++] = keys[k];
        }
    }

    guides->pairs = SN_PUSH(&guides->arena, sn_meeting, different);
    SN_TRY(sn_arena_status(&guides->arena));
    for (int32_t k = 0; k < different; k++) {
        guides->pairs[k] =
            (sn_meeting){{(int32_t)(keys[k] >> 32), (int32_t)(keys[k] & UINT32_MAX)}};
    }

    guides->pair_count = different;
    return SINEW_OK;
}

static sinew_status find_meetings(const sinew_field *field, sn_guides *guides, sn_arena *scratch) {
    int32_t n = field->unknown_count;
    int32_t *steps = SN_PUSH(scratch, int32_t, n);
    int32_t *origin = SN_PUSH(scratch, int32_t, n);
    int32_t *queue = SN_PUSH(scratch, int32_t, n);
    SN_TRY(sn_arena_status(scratch));
    flood(field, guides, steps, origin, queue);
    SN_TRY(find_pairs(field, guides, origin, scratch));

    return field->curve_count < 2 ? SINEW_OK : span(field, guides, steps, origin, scratch);
}

sinew_status sn_find_meetings(const sinew_field *field, sn_guides *guides) {
    sn_arena scratch = sn_arena_create(field->context);
    sinew_status status = find_meetings(field, guides, &scratch);
    sn_arena_destroy(&scratch);
    return status;
}

// ---- Alignment ----------------------------------------------------------------------------------

// Applies g from the right to every guide of a cluster of curves. Clusters and curves are few, so
// it is fine to go through all guides each time.
static void rotate_cluster(const sn_guides *guides, const int32_t *cluster, int32_t which,
                           sn_quat g, sn_quat *aligned) {
    for (int32_t i = 0; i < guides->count; i++) {
        if (cluster[guides->curves[i]] == which) {
            aligned[i] = sn_quat_mul(aligned[i], g);
        }
    }
}

// How much better a curve would agree with all its neighbours after the half turn *g; `sums` is
// scratch.
static double find_best_turn(const sinew_field *field, const sn_guides *guides,
                             const sn_quat *aligned, sn_quat *sums, int32_t *curve, sn_quat *g) {
    double best = 1e-9 * guides->pair_count; // more than rounding
    memset(sums, 0, (size_t)field->curve_count * sizeof(sn_quat));
    for (int32_t k = 0; k < guides->pair_count; k++) {
        int32_t a = guides->pairs[k].guide[0];
        int32_t b = guides->pairs[k].guide[1];
        if (guides->curves[a] == guides->curves[b]) {
            continue;
        }

        // (q_a g) . q_b = p . g with p = q_a* q_b
        sn_quat p = sn_quat_mul(sn_quat_conjugate(aligned[a]), aligned[b]);
        sums[guides->curves[a]] = sn_quat_add(sums[guides->curves[a]], p);
        sums[guides->curves[b]] = sn_quat_add(sums[guides->curves[b]], sn_quat_conjugate(p));
    }

    // The curve that gains most from its best half turn.
    *curve = -1;
    for (int32_t c = 0; c < field->curve_count; c++) {
        sn_quat turn = sn_nearest_half_turn(sn_quat_identity(), sums[c]);
        double gain = sn_quat_dot(turn, sums[c]) - sums[c].w;
        if (gain <= best) {
            continue;
        }

        best = gain;
        *curve = c;
        *g = turn;
    }

    return *curve < 0 ? 0 : best;
}

// The tree considers only one position of two curves. As long as a half turn of a whole curve makes
// it agree better with all its neighbours, apply it.
static void improve(const sinew_field *field, const sn_guides *guides, sn_quat *sums,
                    sn_quat *aligned) {
    int32_t curve;
    sn_quat g;
    for (int32_t k = 0; k < field->curve_count; k++) {
        if (find_best_turn(field, guides, aligned, sums, &curve, &g) <= 0) {
            return;
        }

        for (int32_t i = 0; i < guides->count; i++) {
            if (guides->curves[i] == curve) {
                aligned[i] = sn_quat_mul(aligned[i], g);
            }
        }
    }
}

void sn_align_guides(const sinew_field *field, const sn_guides *guides, int32_t *cluster,
                     sn_quat *sums, sn_quat *aligned) {
    // The curve's own turn, about the tangent.
    for (int32_t i = 0; i < guides->count; i++) {
        double half = 0.5 * field->curves[guides->curves[i]].curve.turn;
        aligned[i] = sn_quat_mul(guides->frames[i], (sn_quat){0, 0, sin(half), cos(half)});
    }

    for (int32_t c = 0; c < field->curve_count; c++) {
        cluster[c] = c;
    }

    // Along the tree, bring each cluster to agree with the one it joins.
    for (int32_t m = 0; m < guides->meeting_count; m++) {
        int32_t a = guides->meetings[m].guide[0];
        int32_t b = guides->meetings[m].guide[1];
        int32_t kept = cluster[guides->curves[a]];
        int32_t joining = cluster[guides->curves[b]];

        rotate_cluster(guides, cluster, joining, sn_nearest_half_turn(aligned[b], aligned[a]),
                       aligned);
        for (int32_t c = 0; c < field->curve_count; c++) {
            if (cluster[c] == joining) {
                cluster[c] = kept;
            }
        }
    }

    improve(field, guides, sums, aligned);
}
