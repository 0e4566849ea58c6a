// Converts the sums of a run, in which the other nodes move relative to the last one, to the forces
// and the stiffness of all nodes, and adds them to the chunk. Included by rigid_simd.c only.
#ifndef SN_FRAME_BLEND_RIGID_EXPAND_H
#define SN_FRAME_BLEND_RIGID_EXPAND_H

#include "frame/blend/rigid_lanes.h"

// The address of a sum of two nodes, in whichever order they are stored; of a node with itself the
// lower triangle is kept.
SN_INLINE double *find_sum(const work_places *places, int32_t i, int a, int32_t j, int c) {
    bool swapped = i < j || (i == j && a < c);
    int32_t pair = swapped ? sn_pair_count(j) + i : sn_pair_count(i) + j;
    return places->matrix + (36 * pair + (swapped ? 6 * c + a : 6 * a + c)) * SN_LANES;
}

SN_INLINE sn_lanes_vec load_sums(const work_places *places, int32_t i, int first, int32_t j,
                                 int c) {
    return (sn_lanes_vec){sn_lanes_load(find_sum(places, i, first, j, c)),
                          sn_lanes_load(find_sum(places, i, first + 1, j, c)),
                          sn_lanes_load(find_sum(places, i, first + 2, j, c))};
}

// a_c: from the last node to node c.
SN_INLINE sn_lanes_vec find_distance(const lane_view *v, const double *table, int32_t c) {
    return sn_lanes_sub3(
        take_vec(table, v->node + c * SN_BLOCK, v->uniform, SN_RIGID_TRANSLATION),
        take_vec(table, v->node + (v->width - 1) * SN_BLOCK, v->uniform, SN_RIGID_TRANSLATION));
}

// The last node rotates with the shared rotation and opposite to the others: -(w + a x t) and -t.
SN_INLINE void expand_force(const lane_view *v, const work_places *places, const double *table) {
    int32_t last = v->width - 1;
    sn_lanes_vec turn = {sn_lanes_load(places->torque), sn_lanes_load(places->torque + SN_LANES),
                         sn_lanes_load(places->torque + 2 * SN_LANES)};
    sn_lanes_vec move = {{0}, {0}, {0}};

    // The shared torque minus what the other nodes take.
    for (int32_t c = 0; c < last; c++) {
        const double *f = places->force + c * 6 * SN_LANES;
        sn_lanes_vec w = {sn_lanes_load(f), sn_lanes_load(f + SN_LANES),
                          sn_lanes_load(f + 2 * SN_LANES)};
        sn_lanes_vec t = {sn_lanes_load(f + 3 * SN_LANES), sn_lanes_load(f + 4 * SN_LANES),
                          sn_lanes_load(f + 5 * SN_LANES)};
        turn =
            sn_lanes_sub3(sn_lanes_sub3(turn, w), sn_lanes_cross3(find_distance(v, table, c), t));
        move = sn_lanes_sub3(move, t);
    }

    // Deposit, and clear the shared torque for the next run.
    const sn_lanes f[6] = {turn.x, turn.y, turn.z, move.x, move.y, move.z};
    for (int a = 0; a < 6; a++) {
        deposit(places->force + last * 6 * SN_LANES, a, f[a]);
    }

    for (int a = 0; a < 3; a++) {
        sn_lanes_store(places->torque + a * SN_LANES, (sn_lanes){0});
    }
}

// Computes the last node's rows (w, t) of a column from the rows of all others; those of the shared
// rotation are in `turn`.
SN_INLINE void expand_column(sn_lanes out[6], const lane_view *v, const work_places *places,
                             const double *table, int32_t j, int column, sn_lanes_vec turn) {
    sn_lanes_vec move = {{0}, {0}, {0}};
    for (int32_t c = 0; c < v->width - 1; c++) {
        sn_lanes_vec w, t;
        if (j < v->width - 1) {
            w = load_sums(places, c, 0, j, column);
            t = load_sums(places, c, 3, j, column);
        } else { // a column of the shared rotation

            const double *row = places->turn + (18 * c + 6 * column) * SN_LANES;
            w = (sn_lanes_vec){sn_lanes_load(row), sn_lanes_load(row + SN_LANES),
                               sn_lanes_load(row + 2 * SN_LANES)};
            t = (sn_lanes_vec){sn_lanes_load(row + 3 * SN_LANES), sn_lanes_load(row + 4 * SN_LANES),
                               sn_lanes_load(row + 5 * SN_LANES)};
        }

        // The same rule as for forces, row by row.
        turn =
            sn_lanes_sub3(sn_lanes_sub3(turn, w), sn_lanes_cross3(find_distance(v, table, c), t));
        move = sn_lanes_sub3(move, t);
    }

    out[0] = turn.x;
    out[1] = turn.y;
    out[2] = turn.z;
    out[3] = move.x;
    out[4] = move.y;
    out[5] = move.z;
}

// Computes the rows of the last node: with the others first, then, by the same rule from the right,
// with itself.
SN_INLINE void expand_matrix(const lane_view *v, const work_places *places, const double *table) {
    int32_t last = v->width - 1;
    sn_lanes own[6][6];

    // Columns of the shared rotation.
    for (int column = 0; column < 3; column++) {
        sn_lanes rows[6];
        const double *turn = places->turn_own + column * SN_LANES;
        expand_column(rows, v, places, table, last, column,
                      (sn_lanes_vec){sn_lanes_load(turn), sn_lanes_load(turn + 3 * SN_LANES),
                                     sn_lanes_load(turn + 6 * SN_LANES)});

        for (int a = 0; a < 6; a++) {
            own[a][column] = rows[a];
            own[a][3 + column] = (sn_lanes){0};
        }
    }

    // Columns of the other nodes.
    for (int32_t j = 0; j < last; j++) {
        sn_lanes rows[6][6];
        for (int column = 0; column < 6; column++) {
            const double *turn = places->turn + (18 * j + column) * SN_LANES;
            sn_lanes out[6];
            expand_column(out, v, places, table, j, column,
                          (sn_lanes_vec){sn_lanes_load(turn), sn_lanes_load(turn + 6 * SN_LANES),
                                         sn_lanes_load(turn + 12 * SN_LANES)});

            for (int a = 0; a < 6; a++) {
                rows[a][column] = out[a];
            }
        }

        // Subtract them, by the rule from the right.
        sn_lanes_vec distance = find_distance(v, table, j);
        for (int a = 0; a < 6; a++) {
            sn_lanes_vec w = {rows[a][0], rows[a][1], rows[a][2]};
            sn_lanes_vec t = {rows[a][3], rows[a][4], rows[a][5]};
            sn_lanes_vec turn = sn_lanes_add3(w, sn_lanes_cross3(distance, t));

            own[a][0] -= turn.x;
            own[a][1] -= turn.y;
            own[a][2] -= turn.z;
            own[a][3] -= t.x;
            own[a][4] -= t.y;
            own[a][5] -= t.z;

            for (int c = 0; c < 6; c++) {
                deposit(places->matrix + (sn_pair_count(last) + j) * 36 * SN_LANES, 6 * a + c,
                        rows[a][c]);
            }
        }
    }

    // The block of the last node with itself.
    for (int a = 0; a < 6; a++) {
        for (int c = 0; c <= a; c++) {
            deposit(places->matrix + (sn_pair_count(last) + last) * 36 * SN_LANES, 6 * a + c,
                    own[a][c]);
        }
    }

    // Clear the shared sums for the next run.
    for (int e = 0; e < 18 * last; e++) {
        sn_lanes_store(places->turn + e * SN_LANES, (sn_lanes){0});
    }

    for (int e = 0; e < 9; e++) {
        sn_lanes_store(places->turn_own + e * SN_LANES, (sn_lanes){0});
    }
}

// Adds each of `count` sums to the chunk, lane by lane or, for a uniform block, summed over the
// lanes, and resets it to zero.
SN_INLINE void flush(double *chunk, const int32_t *slot, bool uniform, double *sums, int count) {
    for (int e = 0; e < count; e++) {
        sn_lanes value = sn_lanes_load(sums + e * SN_LANES);
        double total = 0;
        for (int l = 0; l < SN_LANES; l++) {
            if (uniform) {
                total += value[l];
            } else {
                chunk[slot[l] * count + e] += value[l];
            }
        }

        if (uniform) {
            chunk[slot[0] * count + e] += total;
        }

        sn_lanes_store(sums + e * SN_LANES, (sn_lanes){0});
    }
}

SN_INLINE void expand(const lane_view *v, const work_places *places, const double *table,
                      bool force, bool matrix) {
    if (force) {
        expand_force(v, places, table);
    }
    if (matrix) {
        expand_matrix(v, places, table);
    }
}

SN_INLINE void flush_lanes(sn_rigid_chunk *chunk, const lane_view *v, const work_places *places,
                           bool force, bool matrix) {
    if (force) {
        for (int32_t c = 0; c < v->width; c++) {
            flush(chunk->force, v->node + c * SN_BLOCK, v->uniform,
                  places->force + c * 6 * SN_LANES, 6);
        }
    }

    if (matrix) {
        for (int32_t pair = 0; pair < sn_pair_count(v->width); pair++) {
            flush(chunk->matrix, v->slots + pair * SN_BLOCK, v->uniform,
                  places->matrix + pair * 36 * SN_LANES, 36);
        }
    }
}

SN_INLINE void flush_own(sn_rigid_chunk *chunk, const lane_view *v, const work_places *places) {
    for (int32_t c = 0; c < v->width; c++) {
        double *sum = places->matrix + (sn_pair_count(c) + c) * 36 * SN_LANES;
        flush(chunk->own, v->node + c * SN_BLOCK, v->uniform, sum, 36);
    }
}

#endif
