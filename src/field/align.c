// Which of the quaternions that mean the same to choose before they are averaged.
//
// q and -q are one rotation, and axes with two of them reversed are the same to an orthotropic material: eight quaternions
// q g, g in {±1, ±i, ±j, ±k}, stand for one place. Along a curve the frames vary slowly, so that one g serves all of it; this
// file finds the g of each curve. The mesh is flooded from all frames at once; where floods of different curves meet, the two
// are neighbours. The meetings after the fewest steps make a spanning tree of the curves (Kruskal 1956), along which each
// curve takes the g that brings it nearest to the one before. Cost: linear in the mesh once, nothing when frames are turned.
#include "field/field.h"

#include "geom/sort.h"

sn_quat sn_nearest_half_turn(sn_quat q, sn_quat wanted) {
    // wanted . (q g) = (q* wanted) . g: the components of q* wanted are the four products.
    sn_quat p = sn_quat_mul(sn_quat_conjugate(q), wanted);
    double ax = fabs(p.x), ay = fabs(p.y), az = fabs(p.z), aw = fabs(p.w);
    if (aw >= ax && aw >= ay && aw >= az) return (sn_quat){0, 0, 0, copysign(1, p.w)};
    if (az >= ax && az >= ay) return (sn_quat){0, 0, copysign(1, p.z), 0};
    if (ay >= ax) return (sn_quat){0, copysign(1, p.y), 0, 0};
    return (sn_quat){copysign(1, p.x), 0, 0, 0};
}

// ---- Who meets whom -----------------------------------------------------------------------------

// Steps from the nearest guide, and which one that is, for every unknown; -1 where none comes.
static void flood(const sinew_field *field, const sn_guides *guides, int32_t *steps, int32_t *origin, int32_t *queue) {
    int32_t head = 0, tail = 0;
    for (int32_t i = 0; i < field->unknown_count; i++) origin[i] = -1;
    for (int32_t g = 0; g < guides->count; g++) {
        const sn_constraints *rows = &guides->constraints;
        for (int32_t k = rows->starts[g]; k < rows->starts[g + 1]; k++) {
            int32_t i = rows->unknowns[k];
            if (origin[i] >= 0) continue;
            origin[i] = g;
            steps[i] = 0;
            queue[tail++] = i;
        }
    }
    while (head < tail) {
        int32_t i = queue[head++];
        for (int32_t k = field->neighbours.offsets[i]; k < field->neighbours.offsets[i + 1]; k++) {
            int32_t j = field->neighbours.items[k];
            if (origin[j] >= 0) continue;
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

// All borders between floods of different curves: the unknown and the entry of its neighbour. With entries == NULL only
// counts.
static int32_t list_borders(const sinew_field *field, const sn_guides *guides, const int32_t *steps, const int32_t *origin,
                            uint64_t *keys, int32_t *entries) {
    int32_t count = 0;
    for (int32_t i = 0; i < field->unknown_count; i++) {
        for (int32_t k = field->neighbours.offsets[i]; k < field->neighbours.offsets[i + 1]; k++) {
            int32_t j = field->neighbours.items[k];
            if (j < i || origin[i] < 0 || origin[j] < 0) continue;
            if (guides->curves[origin[i]] == guides->curves[origin[j]]) continue;
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

static sinew_status span(const sinew_field *field, sn_guides *guides, sn_arena *scratch) {
    int32_t n = field->unknown_count;
    int32_t *steps = SN_PUSH(scratch, int32_t, n), *origin = SN_PUSH(scratch, int32_t, n),
            *queue = SN_PUSH(scratch, int32_t, n);
    int32_t *parent = SN_PUSH(scratch, int32_t, field->curve_count);
    guides->meetings = SN_PUSH(&guides->arena, sn_meeting, field->curve_count);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(&guides->arena));
    flood(field, guides, steps, origin, queue);
    int32_t count = list_borders(field, guides, steps, origin, NULL, NULL);
    uint64_t *keys = SN_PUSH(scratch, uint64_t, count);
    int32_t *entries = SN_PUSH(scratch, int32_t, 2 * (size_t)count), *order = SN_PUSH(scratch, int32_t, count);
    SN_TRY(sn_arena_status(scratch));
    list_borders(field, guides, steps, origin, keys, entries);
    for (int32_t k = 0; k < count; k++) order[k] = k;
    SN_TRY(sn_sort_by_key(scratch, keys, order, count));
    for (int32_t c = 0; c < field->curve_count; c++) parent[c] = c;
    for (int32_t k = 0; k < count; k++) {
        const int32_t *pair = entries + 2 * (size_t)order[k];
        int32_t a = find_root(parent, guides->curves[pair[0]]), b = find_root(parent, guides->curves[pair[1]]);
        if (a == b) continue;
        parent[b] = a;
        guides->meetings[guides->meeting_count++] = (sn_meeting){{pair[0], pair[1]}};
    }
    return SINEW_OK;
}

sinew_status sn_find_meetings(const sinew_field *field, sn_guides *guides) {
    if (field->curve_count < 2) return SINEW_OK;
    sn_arena scratch = sn_arena_create(field->context);
    sinew_status status = span(field, guides, &scratch);
    sn_arena_destroy(&scratch);
    return status;
}

// ---- Alignment ----------------------------------------------------------------------------------

// Applies g from the right to every guide of the curves that hang together with `curve` so far. Meetings are few and curves
// too, so that going through all guides each time is fine.
static void turn_cluster(const sn_guides *guides, const int32_t *cluster, int32_t which, sn_quat g, sn_quat *aligned) {
    for (int32_t i = 0; i < guides->count; i++) {
        if (cluster[guides->curves[i]] == which) aligned[i] = sn_quat_mul(aligned[i], g);
    }
}

void sn_align_guides(const sinew_field *field, const sn_guides *guides, int32_t *cluster, sn_quat *aligned) {
    for (int32_t i = 0; i < guides->count; i++) {
        double half = 0.5 * field->curves[guides->curves[i]].curve.turn;
        aligned[i] = sn_quat_mul(guides->frames[i], (sn_quat){0, 0, sin(half), cos(half)});
    }
    for (int32_t c = 0; c < field->curve_count; c++) cluster[c] = c;
    for (int32_t m = 0; m < guides->meeting_count; m++) {
        int32_t a = guides->meetings[m].guide[0], b = guides->meetings[m].guide[1];
        int32_t kept = cluster[guides->curves[a]], joining = cluster[guides->curves[b]];
        turn_cluster(guides, cluster, joining, sn_nearest_half_turn(aligned[b], aligned[a]), aligned);
        for (int32_t c = 0; c < field->curve_count; c++) {
            if (cluster[c] == joining) cluster[c] = kept;
        }
    }
}
